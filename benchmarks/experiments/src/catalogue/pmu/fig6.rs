//! Shye et al. 2005, figure 6: accuracy over the period; with the headline, accuracy beside cost.

use super::traces;
use crate::catalogue::accuracies::{Measure, means};
use crate::catalogue::overheads::{Costs, bars, categories, cell, paper_mean};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-fig6",
    place: "Figure 6",
    title: "Accuracy of paths from branch traces, and what they cost",
    says: &[
        "The paper reads the last four taken branches from the processor every 10 million cycles, joins them to parts of paths and divides each part among the full paths \
         that contain it. That finds 88 % of the flow of the hot paths, weighted by count, at about 1 % overhead.",
        "Here the trace is recorded by the interpreter, so that accuracy repeats on every machine: every 4099 taken branches on average, compared with exact counts of the \
         same run. Parts are divided by expectation-maximisation; equal division, the paper's, stands beside it. What it costs is measured where compiled code is left for a trace at each tick.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let accuracy =
            CONFIGURATIONS.iter().flat_map(|of| names.iter().map(|name| traces::accuracy(name, of.1)));
        accuracy.chain(names.iter().map(|name| burst(plan, name))).collect()
    },
    conclude,
};

pub(super) const CONFIGURATIONS: [(&str, &str); 3] = [
    ("4 branches, equal weights", "btb:depth=4,weights=equal,exact=yes"),
    ("4 branches", "btb:depth=4,weights=em,exact=yes"),
    ("16 branches", "btb:depth=16,weights=em,exact=yes"),
];

const QUICK: [&str; 6] = ["richards", "json", "deltablue", "list", "storage", "queens"];

pub(super) fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&QUICK, programs::CLASSIC)
}

pub(super) fn burst(plan: &Plan, program: &str) -> Cell {
    cell(plan, program, "--tier o2 --profile btb:backend=burst,depth=16")
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let scores = CONFIGURATIONS.map(|(name, profiler)| {
        let of =
            |program: &str| results.number(&traces::accuracy(program, profiler), "traces.count.accuracy");
        Measure::of(name, &names, of)
    });
    let costs = Costs::of(results, &names, |name| burst(plan, name));
    let paper = |key: &str| papers::number(&format!("pmu.claims.{key}"));
    let (accuracy, overhead) = (paper("headline_accuracy"), paper("headline_overhead"));
    found.checks.number(
        "average accuracy with 16 branches, by count flow",
        &shown(accuracy, Unit::Percent),
        Bound::at_least(accuracy).stretch(93.0),
        scores[2].mean,
    );
    found.checks.cost(
        "average overhead of a trace at each tick",
        &shown(overhead, Unit::Percent),
        Bound::at_most(overhead).resolution(1.0),
        costs.mean,
        costs.band(),
    );
    found.checks.told("average accuracy with 4 branches", &shown(accuracy, Unit::Percent), scores[1].mean);
    let better = scores[0].mean.zip(scores[1].mean).zip(scores[2].mean);
    found.checks.shape(
        "longer traces and better weights are more accurate",
        "noise of short traces is its main problem",
        "16 branches at least as good as 4, and these no worse than with equal weights, but for a point",
        better.map(|((equal, four), sixteen)| {
            sixteen.value + 1.0 >= four.value && four.value + 1.0 >= equal.value
        }),
        means(&scores),
    );
    let groups = categories(&names);
    let mut all: Vec<_> = scores.iter().map(|of| of.series(&groups)).collect();
    all.push(paper_mean(&groups, "paper", accuracy));
    let caption = "Wall's weight matching by count flow, against exact counts of the same run.";
    found.figures.push(bars("accuracy", "Path accuracy", caption, Unit::Percent, groups.clone(), all));
    let both = vec![costs.series("a trace at each tick", &groups), paper_mean(&groups, "paper", overhead)];
    let caption = "Time with traces over time without; compiled code is the same.";
    found.figures.push(bars("overhead", "Overhead", caption, Unit::Percent, groups, both));
}
