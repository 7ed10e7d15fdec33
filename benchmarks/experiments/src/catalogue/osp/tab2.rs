//! Oren, Matias and Sagiv 2002, table 2: runtime overhead.

use crate::catalogue::overheads::{Costs, bars, categories, cell, in_a_line, paper_mean};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab2",
    place: "Table 2",
    title: "Runtime overhead of subpath profiling",
    says: &[
        "The paper's prototype is called for each basic block: programs take 1.3 to 3.9 times as long, 168 % more on average. Most of that is \
         skipping; what sampling alone takes, 19.4 % on average, is what its introduction promises. It expects that a virtual machine would come near that.",
        "Here blocks between samples are counted in four ways: by a call for each block, as there; by a counter in compiled code; in a second version of the code, \
         which runs for ten thousand blocks at each tick; and not at all, with compiled code left for a sample at each tick. Time is that of the whole program.",
    ],
    cells: |plan| {
        let names = programs(plan);
        WAYS.iter().flat_map(|way| names.iter().map(|name| way_cell(plan, way.1, name))).collect()
    },
    conclude,
};

/// The ways to skip.
const WAYS: [(&str, &str); 4] = [
    ("a call for each block", "call"),
    ("a counter", "decrement"),
    ("two versions of code", "versions"),
    ("bursts at ticks", "burst"),
];

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(programs::QUICK, programs::CLASSIC)
}

fn way_cell(plan: &Plan, skip: &str, program: &str) -> Cell {
    cell(plan, program, &format!("--tier o2 --profile osp:skip={skip}"))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let all = WAYS.map(|(name, skip)| (name, Costs::of(results, &names, |of| way_cell(plan, skip, of))));
    let [call, counter, versions, bursts] = [0, 1, 2, 3].map(|at: usize| all[at].1.mean);
    let paper = |key: &str| papers::number(&format!("osp.table2.{key}"));
    let (total, sampling) = (paper("mean_total_overhead"), paper("mean_sampling_overhead"));
    let whole = format!(
        "{} of sampling alone, {} in all",
        shown(sampling, Unit::Percent),
        shown(total, Unit::Percent)
    );
    for (what, measured, stretch) in [
        ("average overhead of bursts at ticks", bursts, 3.0),
        ("average overhead of two versions of code", versions, 5.0),
    ] {
        let bound = Bound::at_most(sampling).stretch(stretch).resolution(5.0);
        found.checks.number(what, &whole, bound, measured);
    }
    found.checks.told("average overhead of a counter", &whole, counter);
    let ordered = call.zip(counter).zip(versions).zip(bursts).map(|(((call, counter), versions), bursts)| {
        call.value > 3.0 * counter.value && counter.value > versions.value.max(bursts.value)
    });
    found.checks.shape(
        "skipping is what costs",
        "a call for each block costs nine times what sampling does",
        "a call more than three times a counter, and this more than what only looks at ticks",
        ordered,
        in_a_line(all.iter().map(|(name, costs)| (*name, costs.mean)), "-"),
    );
    let groups = categories(&names);
    let mut series: Vec<_> = all[1..].iter().map(|(name, costs)| costs.series(name, &groups)).collect();
    series.push(paper_mean(&groups, "paper, sampling alone", sampling));
    found.figures.push(bars(
        "overhead",
        "Overhead of three ways to skip",
        "Time with subpath profiling over time without it. A call for each block is left out: its bars would dwarf the others.",
        Unit::Percent,
        groups.clone(),
        series,
    ));
    found.figures.push(bars(
        "prototype",
        "A call for each block, as the paper's prototype",
        "The same for the first way.",
        Unit::Percent,
        groups.clone(),
        vec![all[0].1.series("measured", &groups), paper_mean(&groups, "paper", total)],
    ));
}
