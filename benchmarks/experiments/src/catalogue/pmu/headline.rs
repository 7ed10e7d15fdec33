//! Shye et al. 2005, abstract: 88 % accuracy at about 1 % overhead, of one and the same profiler.

use super::fig6;
use super::periods::{self, HEADLINE, PAPER, STRETCH};
use crate::catalogue::accuracies::Measure;
use crate::catalogue::overheads::{Costs, bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
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
         traces say after 10,000 samples, as the paper has in a run, which come by counted yieldpoints so that runs repeat, against exact counts that the interpreter makes of the same program. Traces of four branches, shared equally, as in the paper; \
         those of sixteen by expectation-maximisation, and what they cost, stand beside and decide only whether it is better.",
    ],
    cells: |plan| {
        let names = fig6::programs(plan);
        let each = names.iter().flat_map(|name| {
            [PAPER, STRETCH]
                .into_iter()
                .flat_map(|of| [periods::burst(name, of, HEADLINE), periods::cost(plan, name, of, HEADLINE)])
        });
        each.collect()
    },
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = fig6::programs(plan);
    let [(own, cost), (stretch, dearer)] = [PAPER, STRETCH].map(|of| {
        let accuracy = Measure::of(of.name(), &names, |program| {
            results.number(&periods::burst(program, of, HEADLINE), "traces.count.accuracy")
        });
        (accuracy, Costs::of(results, &names, |name| periods::cost(plan, name, of, HEADLINE)))
    });
    let paper = |key: &str| papers::number(&format!("pmu.claims.{key}"));
    let (most, least) = (paper("headline_overhead"), paper("headline_accuracy"));
    found.checks.number_or_better(
        "average accuracy of 10,000 traces of 4 branches, shared equally, by count flow",
        &shown(least, Unit::Percent),
        Bound::at_least(least).stretch(93.0),
        own.mean,
        (&STRETCH.name(), stretch.mean),
    );
    found.checks.cost(
        "its average overhead",
        &shown(most, Unit::Percent),
        Bound::at_most(most).resolution(1.0),
        cost.mean,
        cost.band(),
    );
    found.checks.told_cost(
        "average overhead of a trace of 16 branches at each tick",
        &shown(most, Unit::Percent),
        dearer.mean,
        dearer.band(),
    );
    let groups = categories(&names);
    let both = vec![own.series(&groups), stretch.series(&groups), paper_mean(&groups, "paper", least)];
    let caption = "Wall's weight matching by count flow, of 10,000 traces, against exact counts.";
    found.figures.push(bars("accuracy", "Path accuracy", caption, Unit::Percent, groups.clone(), both));
    let both = vec![
        cost.series("4 branches", &groups),
        dearer.series("16 branches", &groups),
        paper_mean(&groups, "paper", most),
    ];
    let caption = "Time with a trace at each tick over time without.";
    found.figures.push(bars("overhead", "Overhead", caption, Unit::Percent, groups, both));
}
