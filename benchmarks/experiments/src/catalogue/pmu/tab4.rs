//! Shye et al. 2005, table 4: how many paths are hot, and what part of the flow they have.

use super::fig6;
use super::periods::{self, HEADLINE, PAPER};
use crate::catalogue::accuracies::{self, Measure};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings, pep};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Figure, Unit};
use crate::results::{Results, exactly};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-tab4",
    place: "Table 4",
    title: "Hot paths and their flow",
    says: &[
        "Paths that have more than 0.125 % of the flow, weighted by count, are hot. The paper has 8 to 168 in a program, which have 82 to 99.6 % of the \
         flow; crafty is missing from its table.",
        "Here these are exact counts of full paths of regions, in the run that is sampled for figure 6 at 10 million cycles; the same by branch flow, which weighs a path by its branches, stands beside it. Two kinds of paths: those of regions, in bytecode \
         without inlining, as traces are matched with; and those of Ball and Larus, which PEP counts in compiled code, with what was inlined (the runs of `pep-fig8`).",
    ],
    cells: |plan| {
        let regions = fig6::with_large(plan).into_iter().map(|name| regions(plan, name));
        regions.chain(fig6::with_large(plan).into_iter().map(|name| ball_larus(plan, name))).collect()
    },
    conclude,
};

/// Exact counts of the paths of regions: the truth of figure 6.
fn regions(plan: &Plan, program: &str) -> Cell {
    periods::recorded(plan, program, PAPER, HEADLINE)
}

/// Exact counts of paths of Ball and Larus: the truth of PEP's figure 8.
fn ball_larus(plan: &Plan, program: &str) -> Cell {
    accuracies::paths(plan, program, pep::USUAL)
}

/// "A few hundred".
const FEW_HUNDRED: f64 = 300.0;

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = fig6::with_large(plan);
    let number =
        |program: &str, what: &str| results.number(&regions(plan, program), &format!("traces.{what}"));
    let measure = |name: &str, what: &str| {
        Measure::of(name, &names, |program| number(program, &format!("{what}.covered")))
    };
    let (counts, branches) =
        (measure("regions, by count flow", "count"), measure("regions, by branch flow", "branch"));
    let in_code = |name: &str, what: &str| {
        Measure::of(name, &names, |program| {
            results.number(&ball_larus(plan, program), &format!("paths.{what}.covered"))
        })
    };
    let longer =
        [in_code("Ball-Larus, by count flow", "count"), in_code("Ball-Larus, by branch flow", "branch")];
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
    found.checks.told("the same of paths of Ball and Larus, by count flow", "not said", longer[0].mean);
    found.checks.told("the same of these by branch flow", "not said", longer[1].mean);
    let groups = categories(&names);
    let [by_count, by_branch] = &longer;
    let mut series: Vec<_> =
        [&counts, &branches, by_count, by_branch].iter().map(|of| of.series(&groups)).collect();
    series.push(paper_mean(&groups, "paper", paper("mean_flow_percent")));
    let caption = "The part of all flow that paths above 0.125 % have, by exact counts.";
    found.figures.extend(hot_paths(plan, results));
    found.figures.push(bars("flow", "Flow of hot paths", caption, Unit::Percent, groups, series));
}

/// How many paths are hot, and their part of the flow, for each kind of paths and flow.
fn hot_paths(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let row = |name: &&str| {
        let mut row = vec![text(name)];
        for (cell, kind) in [(regions(plan, name), "traces"), (ball_larus(plan, name), "paths")] {
            for flow in ["count", "branch"] {
                let number = |what: &str| results.number(&cell, &format!("{kind}.{flow}.{what}"));
                row.push(entry(Some(number("hot")?), Unit::Count));
                row.push(entry(Some(100.0 * number("covered")?), Unit::Percent));
            }
        }
        Some(row)
    };
    let rows: Option<Vec<_>> = fig6::with_large(plan).iter().map(row).collect();
    Some(table(
        "hot",
        "Hot paths",
        "Paths above 0.125 % of all flow and their part of it, by exact counts.",
        &[
            "program",
            "regions, by count",
            "flow",
            "by branches",
            "flow",
            "Ball-Larus, by count",
            "flow",
            "by branches",
            "flow",
        ],
        rows?,
    ))
}
