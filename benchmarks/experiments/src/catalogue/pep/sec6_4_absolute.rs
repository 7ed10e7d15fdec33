//! Bond and McKinley 2005, section 6.4: accuracy of PEP's edge profiles, absolute.

use super::accuracy::{self, CONFIGURATIONS};
use crate::catalogue::accuracies::{Measure, means};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec6.4-absolute-overlap",
    place: "Section 6.4",
    title: "Accuracy of edge profiles: absolute overlap",
    says: &[
        "The sum over all edges of the smaller of their two shares of all executions. It asks how often a branch is executed, not only which way \
         it goes, so it is harder: 83, 87 and 88 % with 64, 256 and 1024 samples for each tick. Here in the runs of figure 8.",
    ],
    cells: accuracy::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let score = "edges.sampled.exact_paths.absolute";
    let all: Vec<Measure> = CONFIGURATIONS.map(|of| accuracy::measure(plan, results, of, score)).into();
    let groups = categories(&accuracy::programs(plan));
    let mut series: Vec<_> = all.iter().map(|of| of.series(&groups)).collect();
    for (of, key) in all[1..].iter().zip(["pep_64_17", "pep_256_17", "pep_1024_17"]) {
        let paper = papers::number(&format!("pep.fig9.edge_absolute_overlap.{key}"));
        let bound = Bound::at_least(paper).stretch(if key == "pep_64_17" { 90.0 } else { paper });
        let name = key.replacen("pep_", "PEP(", 1).replace('_', ",") + ")";
        found.checks.number(
            &format!("average absolute overlap of {name}"),
            &shown(paper, Unit::Percent),
            bound,
            of.mean,
        );
        series.push(paper_mean(&groups, &format!("paper, {name}"), paper));
    }
    let relative = accuracy::measure(plan, results, CONFIGURATIONS[1], "edges.sampled.exact_paths.relative");
    let both = all[1].mean.zip(relative.mean);
    found.checks.shape(
        "harder than relative overlap",
        "83 % where relative overlap is 96 %",
        "absolute overlap of PEP(64,17) is not above relative",
        both.map(|(absolute, relative)| absolute.value <= relative.value),
        means(&all),
    );
    let caption = "Overlap of the frequencies of edges.";
    found.figures.push(bars("overlap", "Absolute overlap of edges", caption, Unit::Percent, groups, series));
}
