//! Oren, Matias and Sagiv 2002, table 2: runtime overhead.

use crate::catalogue::accuracies::{self, Measure};
use crate::catalogue::overheads::{Costs, bars, categories, cell, in_a_line, paper_mean};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
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
        "What the samples know is asked of branches, too, of which every profiler of paths knows something: how they went between two blocks of a sampled subpath, against the edges \
         that the same run counts. A call for each block has the samples of a counter.",
        "What sampling alone takes of the first two ways is what they cost at their rate of one sample in 1000 blocks beyond what they cost at one in a million (in full mode, of the four kernels of Java Grande that the paper has, with calls of two). The other two do nothing but sample.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let all = WAYS.iter().flat_map(|way| names.iter().map(|name| way_cell(plan, way.1, name)));
        let alone = SKIPPING.iter().flat_map(|skip| {
            let names = alone(plan, skip).into_iter();
            names
                .flat_map(|name| [way_cell(plan, skip, name), skipping(plan, skip, name)])
                .collect::<Vec<_>>()
        });
        let known =
            KNOWING.iter().flat_map(|of| compared(plan).into_iter().map(|name| knowing(plan, of.1, name)));
        all.chain(alone).chain(known).collect()
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

/// The ways that do something for each block.
const SKIPPING: [&str; 2] = ["call", "decrement"];

/// Programs of which sampling is measured apart from skipping: of calls, those that it cost the paper least and most.
fn alone(plan: &Plan, skip: &str) -> Vec<&'static str> {
    let all: &[&str] = &["fft", "heapsort", "moldyn", "raytracer"];
    plan.programs(&[], if skip == "call" { &all[..2] } else { all })
}

/// The ways that have samples of their own.
const KNOWING: [(&str, &str); 3] = [WAYS[1], WAYS[2], WAYS[3]];

/// The programs of which is asked what samples know of branches: in a quick run those that other profilers are compared on.
fn compared(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", "json", "list", "storage"], programs::CLASSIC)
}

/// What samples of subpaths know of branches, against the edges that the same run counts.
pub(in crate::catalogue) fn knowing(plan: &Plan, skip: &str, program: &str) -> Cell {
    accuracies::paths(plan, program, &format!("osp:skip={skip}"))
}

/// The share of its number of [`knowing`].
pub(in crate::catalogue) const KNOWN: &str = "edges.subpath.exact_edges.relative";

/// So rare that samples take a thousandth of what they do usually. Not never: a branch that was never taken costs a processor less than one that was, and
/// the code has one for each block (on a Zen 4, moldyn takes 52 % longer if there is no sample at all, and 68 with one in a million or in ten thousand).
const RARE: u64 = 1_000_000;

/// What skipping costs when hardly anything is sampled.
fn skipping(plan: &Plan, skip: &str, program: &str) -> Cell {
    cell(plan, program, &format!("--tier o2 --profile osp:skip={skip},rate={RARE}"))
}

/// What sampling alone costs a program, in percent.
fn sampling_of(plan: &Plan, results: &Results<'_>, skip: &str, program: &str) -> Option<f64> {
    let of = |cell: &Cell| Some(100.0 * results.mean_logarithm(cell, "overhead")?.exp_m1());
    Some(of(&way_cell(plan, skip, program))? - of(&skipping(plan, skip, program))?)
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
    let most =
        papers::numbers("osp.table2.sampling_overhead_range").into_iter().flatten().fold(0.0, f64::max);
    for (what, costs) in [
        ("overhead of bursts at ticks, the dearest program", &all[3].1),
        ("overhead of two versions of code, the dearest program", &all[2].1),
    ] {
        let paper = format!("{} of sampling alone", shown(most, Unit::Percent));
        let bound = Bound::at_most(most).stretch(10.0).resolution(10.0);
        found.checks.number(what, &paper, bound, costs.worst().map(|worst| worst.1));
    }
    let names_alone = alone(plan, SKIPPING[1]);
    let sampling_alone = |skip: &str| -> Option<Vec<f64>> {
        let each = alone(plan, skip).into_iter().map(|name| sampling_of(plan, results, skip, name));
        each.collect::<Option<Vec<f64>>>().filter(|each| !each.is_empty())
    };
    let [by_call, by_counter] = SKIPPING.map(sampling_alone);
    let percent = |value: Option<f64>| value.map(|value| exactly(value, Unit::Percent));
    let largest = |all: &[f64]| all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !names_alone.is_empty() {
        found.checks.number(
            "what sampling alone takes beside a counter, on average",
            &whole,
            Bound::at_most(sampling).stretch(f64::NEG_INFINITY),
            percent(by_counter.as_deref().and_then(mean)),
        );
        found.checks.number(
            "the same of the dearest program",
            &format!("{} (HeapSort)", shown(most, Unit::Percent)),
            Bound::at_most(most).stretch(f64::NEG_INFINITY),
            percent(by_counter.as_deref().map(largest)),
        );
        found.checks.told(
            "what sampling alone takes beside a call for each block, on average",
            &whole,
            percent(by_call.as_deref().and_then(mean)),
        );
    }
    found.checks.told("average overhead of a call for each block", &whole, call);
    found.checks.told("average overhead of a counter", &whole, counter);
    let compared = compared(plan);
    let known = KNOWING.map(|(name, skip)| {
        Measure::of(name, &compared, |of| results.number(&knowing(plan, skip, of), KNOWN))
    });
    for of in &known {
        let what = format!("what samples know of branches, relative overlap, {}", of.name);
        found.checks.told(&what, "not asked", of.mean);
    }
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
    let groups = categories(&compared);
    found.figures.push(bars(
        "branches",
        "What samples of subpaths know of branches",
        "Relative overlap with the edges that the same run counts; a branch that no sample has is taken to go each way alike.",
        Unit::Percent,
        groups.clone(),
        known.iter().map(|of| of.series(&groups)).collect(),
    ));
    if names_alone.is_empty() {
        return;
    }
    let row = |name: &&str| {
        let of = |skip: &str| {
            let whole = results.mean_logarithm(&way_cell(plan, skip, name), "overhead");
            let whole = whole.map(|logarithm| 100.0 * logarithm.exp_m1());
            [entry(whole, Unit::Percent), entry(sampling_of(plan, results, skip, name), Unit::Percent)]
        };
        [text(name)].into_iter().chain(SKIPPING.iter().flat_map(|skip| of(skip))).collect()
    };
    found.figures.push(table(
        "alone",
        "All of it, and sampling alone",
        "Time beyond that of the same way of skipping when nothing is sampled.",
        &["", "a call for each block", "of that, sampling", "a counter", "of that, sampling"],
        names_alone.iter().map(row).collect(),
    ));
}
