//! Shye et al. 2005, figure 6: accuracy over the period; with the headline, accuracy beside cost.

use crate::catalogue::overheads::{Costs, MEAN, bars, categories, cell, paper_mean, series};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Measured, Unit};
use crate::results::{Results, exactly, mean};
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
        let accuracy = CONFIGURATIONS.iter().flat_map(|of| names.iter().map(|name| trace(name, of.1)));
        accuracy.chain(names.iter().map(|name| burst(plan, name))).collect()
    },
    conclude,
};

const CONFIGURATIONS: [(&str, &str); 3] = [
    ("4 branches, equal weights", "btb:depth=4,weights=equal,exact=yes"),
    ("4 branches", "btb:depth=4,weights=em,exact=yes"),
    ("16 branches", "btb:depth=16,weights=em,exact=yes"),
];

const QUICK: [&str; 6] = ["richards", "json", "deltablue", "list", "storage", "queens"];

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&QUICK, programs::CLASSIC)
}

fn trace(program: &str, profiler: &str) -> Cell {
    let run = format!(
        "bench {program} --size quick --iterations 1 --tier interp --profile {profiler} --profile-out @profile.json"
    );
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], 2.0)
}

fn burst(plan: &Plan, program: &str) -> Cell {
    cell(plan, program, "--tier o2 --profile btb:backend=burst,depth=16")
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let scores = CONFIGURATIONS.map(|(name, profiler)| {
        let of = |program: &&str| {
            let accuracy = results.number(&trace(program, profiler), "traces.count.accuracy")?;
            Some((program.to_string(), exactly(accuracy * 100.0, Unit::Percent)))
        };
        let each: Vec<(String, Measured)> = names.iter().filter_map(of).collect();
        let values: Vec<f64> = each.iter().map(|of| of.1.value).collect();
        let mean = if each.len() == names.len() { mean(&values) } else { None };
        (name, each, mean.map(|mean| exactly(mean, Unit::Percent)))
    });
    let costs = Costs::of(results, &names, |name| burst(plan, name));
    let paper = |key: &str| papers::number(&format!("pmu.claims.{key}"));
    let (accuracy, overhead) = (paper("headline_accuracy"), paper("headline_overhead"));
    found.checks.number(
        "average accuracy with 16 branches, by count flow",
        &shown(accuracy, Unit::Percent),
        Bound::at_least(accuracy).stretch(93.0),
        scores[2].2,
    );
    found.checks.number(
        "average overhead of a trace at each tick",
        &shown(overhead, Unit::Percent),
        Bound::at_most(overhead).resolution(1.0),
        costs.mean,
    );
    found.checks.told("average accuracy with 4 branches", &shown(accuracy, Unit::Percent), scores[1].2);
    let better = scores[0].2.zip(scores[1].2).zip(scores[2].2);
    found.checks.shape(
        "longer traces and better weights are more accurate",
        "noise of short traces is its main problem",
        "16 branches at least as good as 4, and these no worse than with equal weights, but for a point",
        better.map(|((equal, four), sixteen)| {
            sixteen.value + 1.0 >= four.value && four.value + 1.0 >= equal.value
        }),
        scores
            .iter()
            .map(|(name, _, mean)| {
                format!("{name}: {}", mean.map_or("-".into(), |mean| shown(mean.value, Unit::Percent)))
            })
            .collect::<Vec<_>>()
            .join("; "),
    );
    let groups = categories(&names);
    let mut all: Vec<_> = scores
        .iter()
        .map(|(name, each, mean)| {
            series(name, &groups, |group| match each.iter().find(|of| of.0 == group) {
                Some(of) => Some(of.1),
                None if group == MEAN => *mean,
                None => None,
            })
        })
        .collect();
    all.push(paper_mean(&groups, "paper", accuracy));
    let caption = "Wall's weight matching by count flow, against exact counts of the same run.";
    found.figures.push(bars("accuracy", "Path accuracy", caption, Unit::Percent, groups.clone(), all));
    let both = vec![costs.series("a trace at each tick", &groups), paper_mean(&groups, "paper", overhead)];
    let caption = "Time with traces over time without; compiled code is the same.";
    found.figures.push(bars("overhead", "Overhead", caption, Unit::Percent, groups, both));
}
