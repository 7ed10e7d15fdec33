//! Oren, Matias and Sagiv 2002, section 3.1: the first section of the Java Grande benchmarks.

use crate::catalogue::overheads::{bars, cell, series};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Measured, Series, Unit};
use crate::results::{Results, above_one};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-sec3.1-jgf-section1",
    place: "Section 3.1, Java Grande section 1",
    title: "Loops of single operations",
    says: &[
        "Where blocks are short, a call for each of them is dear: a loop of integer additions takes ten times as long with the paper's prototype, one of long divisions 1.18 times, and one that creates arrays of 128 longs 1.04 times.",
        "The probes `addition`, `division` and `creation` are such loops, of two blocks a turn. They are run with a call for each block, as there, and additions with a counter in compiled code, too; in full mode all three, and additions in the other two ways of table 2.",
    ],
    cells: |plan| {
        WAYS.iter()
            .flat_map(|way| measured(plan, way.1).into_iter().map(|name| slowdown(plan, name, way.1)))
            .collect()
    },
    conclude,
};

/// Programs, and their names among the paper's numbers.
const PROGRAMS: [(&str, &str); 3] =
    [("addition", "int_add_loop"), ("division", "long_div_loop"), ("creation", "create_long_array_128")];

/// The ways to skip blocks.
const WAYS: [(&str, &str); 4] = [
    ("a call for each block", "call"),
    ("a counter", "decrement"),
    ("two versions of code", "versions"),
    ("bursts at ticks", "burst"),
];

/// Programs that are run in a way.
fn measured(plan: &Plan, skip: &str) -> Vec<&'static str> {
    let all = || PROGRAMS.iter().map(|of| of.0).collect();
    match skip {
        "call" => all(),
        "decrement" => plan.pick(vec!["addition"], all()),
        _ => plan.pick(Vec::new(), vec!["addition"]),
    }
}

fn slowdown(plan: &Plan, program: &str, skip: &str) -> Cell {
    cell(plan, program, &format!("--tier o2 --profile osp:skip={skip}"))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let ratio_of = |program: &str, skip: &str| -> Option<Measured> {
        let interval = results.ratio(&slowdown(plan, program, skip), "overhead", 1)?.interval();
        let percent = above_one(interval);
        let ratio = |percent: f64| 1.0 + percent / 100.0;
        let interval = percent.interval.map(|(low, high)| (ratio(low), ratio(high)));
        Some(Measured { value: ratio(percent.value), interval, unit: Unit::Ratio })
    };
    let paper = |key: &str| papers::number(&format!("osp.table2.jgf_section1_slowdown.{key}"));
    let calls = PROGRAMS.map(|(program, _)| ratio_of(program, "call"));
    let all = match calls {
        [Some(add), Some(divide), Some(create)] => Some([add, divide, create]),
        _ => None,
    };
    found.checks.shape(
        "a call for each block is dear where blocks are short",
        "10 times, 1.18 times, 1.04 times",
        "additions at least 3 times; divisions, and not surely less than these arrays, less than twice",
        all.map(|[add, divide, create]| {
            // What their intervals cannot tell apart is in order.
            let ends = |of: Measured| of.interval.unwrap_or((of.value, of.value));
            let in_order = ends(divide).1 >= ends(create).0;
            add.value >= 3.0 && in_order && divide.value.max(create.value) < 2.0
        }),
        all.map_or("not measured".into(), |all| {
            all.map(|of| format!("{} times", shown(of.value, Unit::Ratio))).join(", ")
        }),
    );
    found.checks.number(
        "additions with a counter in compiled code",
        &format!("{} times, with a call", paper("int_add_loop")),
        Bound::at_most(paper("int_add_loop")).stretch(1.5),
        ratio_of("addition", "decrement"),
    );
    let groups: Vec<String> = PROGRAMS.iter().map(|of| of.0.to_string()).collect();
    let ways = WAYS.iter().filter(|way| !measured(plan, way.1).is_empty());
    let mut bars_of: Vec<Series> = ways
        .map(|(name, skip)| {
            series(name, &groups, |program| {
                measured(plan, skip).contains(&program).then(|| ratio_of(program, skip)).flatten()
            })
        })
        .collect();
    bars_of.push(Series {
        name: "paper, a call for each block".into(),
        is_paper: true,
        values: PROGRAMS.iter().map(|of| Some(paper(of.1))).collect(),
        intervals: Vec::new(),
    });
    let caption = "Time with subpath profiling over time without it.";
    found.figures.push(bars("slowdown", "Loops of single operations", caption, Unit::Ratio, groups, bars_of));
}
