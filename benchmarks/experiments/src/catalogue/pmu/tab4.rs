//! Shye et al. 2005, table 4: how many paths are hot, and what part of the flow they have.

use super::{fig6, traces};
use crate::catalogue::accuracies::Measure;
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-tab4",
    place: "Table 4",
    title: "Hot paths and their flow",
    says: &[
        "Paths that have more than 0.125 % of the flow, weighted by count, are hot. The paper has 8 to 168 in a program, which have 82 to 99.6 % of the \
         flow; crafty is missing from its table.",
        "Here these are exact counts of full paths of regions, in the run that is sampled for figure 6; the same by branch flow stands beside it.",
    ],
    cells: |plan| fig6::programs(plan).into_iter().map(|name| traces::accuracy(name, PROFILER)).collect(),
    conclude,
};

/// The truth is the same with each profiler of figure 6.
const PROFILER: &str = fig6::CONFIGURATIONS[2].1;

/// "A few hundred".
const FEW_HUNDRED: f64 = 300.0;

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = fig6::programs(plan);
    let number = |program: &str, what: &str| {
        results.number(&traces::accuracy(program, PROFILER), &format!("traces.{what}"))
    };
    let measure = |name: &'static str, what: &str| {
        Measure::of(name, &names, |program| number(program, &format!("{what}.covered")))
    };
    let (counts, branches) = (measure("by count flow", "count"), measure("by branch flow", "branch"));
    let hot: Option<Vec<f64>> = names.iter().map(|name| number(name, "count.hot")).collect();
    let most = hot.filter(|hot| !hot.is_empty()).map(|hot| hot.into_iter().fold(0.0, f64::max));
    let paper = |key: &str| papers::number(&format!("pmu.table4.{key}"));
    found.checks.number(
        "hot paths of the program with most",
        "168",
        Bound::at_most(FEW_HUNDRED),
        most.map(|most| exactly(most, Unit::Count)),
    );
    found.checks.number(
        "their part of the flow, on average",
        &shown(paper("mean_flow_percent"), Unit::Percent),
        Bound::at_least(90.0),
        counts.mean,
    );
    found.checks.told("the same by branch flow", "not said", branches.mean);
    let groups = categories(&names);
    let mut series: Vec<_> = [counts, branches].iter().map(|of| of.series(&groups)).collect();
    series.push(paper_mean(&groups, "paper", paper("mean_flow_percent")));
    let caption = "The part of all flow that paths above 0.125 % have, by exact counts.";
    found.figures.push(bars("flow", "Flow of hot paths", caption, Unit::Percent, groups, series));
}
