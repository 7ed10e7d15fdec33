//! Shye et al. 2005, abstract: 88 % accuracy at about 1 % overhead, of one and the same profiler.

use super::fig6;
use crate::catalogue::accuracies::{Measure, RUNS};
use crate::catalogue::overheads::{Costs, bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-headline",
    place: "Abstract, section 4.5",
    title: "Accuracy and cost of one profiler",
    says: &[
        "\"An average accuracy of 88 % with roughly 1 % overhead\", at a period of 10 million cycles.",
        "For `pmu-fig6` accuracy comes from records of the interpreter, and cost from compiled code that is left for a trace. Here both are of the latter: cost is the cell of `pmu-fig6`, and accuracy is of what such \
         traces say after a thousand ticks, which come by counted yieldpoints so that runs repeat, against exact counts that the interpreter makes of the same program. Traces of 16 branches; the paper has four, and ten times as many samples.",
    ],
    cells: |plan| {
        let names = fig6::programs(plan);
        let accuracy = names.iter().map(|name| accuracy(name));
        accuracy.chain(names.iter().map(|name| fig6::burst(plan, name))).collect()
    },
    conclude,
};

const TICKS: u32 = 1000;

/// Yieldpoints between ticks: a prime number.
const EVERY: u32 = 9973;

pub(super) fn accuracy(program: &str) -> Cell {
    let in_one = RUNS.iter().find(|of| of.0 == program).map_or(1_000_000, |of| of.1);
    let iterations = (TICKS * EVERY).div_ceil(in_one);
    let sampled = format!(
        "bench {program} --iterations {iterations} --tier o2 --timer virtual:{EVERY} --profile btb:backend=burst,depth=16 --profile-out @sampled.json"
    );
    let exact = format!(
        "bench {program} --iterations 1 --tier interp --profile btb:depth=4,exact=yes --profile-out @exact.json"
    );
    let compare = "profile accuracy @sampled.json @exact.json --json";
    Cell::counting(Reduction::Numbers, &[&sampled, &exact, compare], 2.0)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = fig6::programs(plan);
    let score = Measure::of("measured", &names, |program| {
        results.number(&accuracy(program), "traces.count.accuracy")
    });
    let costs = Costs::of(results, &names, |name| fig6::burst(plan, name));
    let paper = |key: &str| papers::number(&format!("pmu.claims.{key}"));
    let (most, least) = (paper("headline_overhead"), paper("headline_accuracy"));
    found.checks.number(
        "average accuracy of a trace at each tick, by count flow",
        &shown(least, Unit::Percent),
        Bound::at_least(least).stretch(93.0),
        score.mean,
    );
    found.checks.cost(
        "its average overhead",
        &shown(most, Unit::Percent),
        Bound::at_most(most).resolution(1.0),
        costs.mean,
        costs.band(),
    );
    let groups = categories(&names);
    let both = vec![score.series(&groups), paper_mean(&groups, "paper", least)];
    let caption = "Wall's weight matching by count flow, of a thousand traces, against exact counts.";
    found.figures.push(bars("accuracy", "Path accuracy", caption, Unit::Percent, groups.clone(), both));
    let both = vec![costs.series("measured", &groups), paper_mean(&groups, "paper", most)];
    let caption = "Time with a trace at each tick over time without.";
    found.figures.push(bars("overhead", "Overhead", caption, Unit::Percent, groups, both));
}
