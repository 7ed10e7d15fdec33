//! Shye et al. 2005, table 3: how many calls and returns partial paths cross.

use super::{tab2, traces};
use crate::catalogue::accuracies::{Measure, means};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Figure, Unit};
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-tab3",
    place: "Table 3",
    title: "Partial paths across calls",
    says: &[
        "Of different partial paths, sampled every 500,000 cycles, more than a half cross a call or a return: 71 % in crafty and 76 % in parser, which \
         call much, and 14 to 25 % in art, mcf and equake, which are loops.",
        "Here the interpreter records four branches, every 997 on average, so that nothing is inlined. Programs of many small methods and programs that are \
         mostly loops were told apart before anything was measured. Beside different traces stand their samples, in which a trace counts as often as it was seen; and both of machine code, into which small methods are inlined: \
         what is left of boundaries there are calls of methods that are not, and of the runtime system (the runs of `pmu-tab2`).",
    ],
    cells: |plan| {
        let all = || CLASSES.iter().flat_map(|of| programs(plan, of.1));
        let inlined = all().filter(|name| tab2::names(plan).contains(name)).map(tab2::machine);
        all().map(cell).chain(inlined).collect()
    },
    conclude,
};

const CLASSES: [(&str, &[&str]); 2] = [
    ("many calls", &["richards", "json", "deltablue", "list", "queens", "havlak", "bounce", "cd"]),
    ("loops", &["mandelbrot", "sieve", "nbody", "moldyn"]),
];

fn programs<'a>(plan: &Plan, all: &'a [&'a str]) -> Vec<&'a str> {
    plan.programs(all, all)
}

/// Programs that hardly branch at their small size run at their usual one.
pub(super) fn size(program: &str) -> &'static str {
    if CLASSES[1].1.contains(&program) && program != "moldyn" { "default" } else { "quick" }
}

fn cell(program: &str) -> Cell {
    traces::statistics(program, size(program), "btb:depth=4,period=997")
}

/// What a boundary is counted in: the name of the numbers, and of all of them.
const DIFFERENT: (&str, &str) = ("crossings", "traces");
const SAMPLES: (&str, &str) = ("crossing_samples", "samples");

/// The part of a cell's different traces, or of their samples, that cross so many calls and returns.
fn part(results: &Results<'_>, cell: &Cell, (what, all): (&str, &str), boundaries: u32) -> Option<f64> {
    let outcome = results.outcome(cell)?;
    let all = outcome.numbers.get(all).copied().filter(|&all| all > 0.0)?;
    Some(outcome.numbers.get(&format!("{what}.{boundaries}")).copied().unwrap_or(0.0) / all)
}

/// The part that crosses one.
fn crossing(results: &Results<'_>, cell: &Cell, counted: (&str, &str)) -> Option<f64> {
    Some(1.0 - part(results, cell, counted, 0)?)
}

/// How many boundaries a trace of four branches has, for each program: different traces, and samples; of bytecode, and of machine code.
fn histogram(results: &Results<'_>, names: &[&str]) -> Option<Figure> {
    let row = |name: &&str| {
        let mut row = vec![text(name)];
        for counted in [DIFFERENT, SAMPLES] {
            for boundaries in 0..=4 {
                let part = part(results, &cell(name), counted, boundaries)?;
                row.push(entry(Some(100.0 * part), Unit::Percent));
            }
        }
        let inlined = |counted| Some(100.0 * crossing(results, &tab2::machine(name), counted)?);
        row.extend([DIFFERENT, SAMPLES].map(|counted| entry(inlined(counted), Unit::Percent)));
        Some(row)
    };
    let rows: Option<Vec<_>> = names.iter().map(row).collect();
    Some(table(
        "boundaries",
        "Boundaries that traces cross",
        "The part of different traces, and of samples, with so many calls and returns, without inlining; and with it, the part that crosses at least one.",
        &[
            "program",
            "0",
            "1",
            "2",
            "3",
            "4",
            "samples: 0",
            "1",
            "2",
            "3",
            "4",
            "inlined: at least 1",
            "inlined, samples",
        ],
        rows?,
    ))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let of = |at: usize| {
        let (name, all) = CLASSES[at];
        Measure::of(name, &programs(plan, all), |program| crossing(results, &cell(program), DIFFERENT))
    };
    let (calls, loops) = (of(0), of(1));
    found.checks.number(
        "traces of programs of many calls that cross one, on average",
        "71 and 76 %",
        Bound::at_least(60.0),
        calls.mean,
    );
    found.checks.number(
        "traces of loops that cross a call, on average",
        "14 to 25 %",
        Bound::at_most(25.0),
        loops.mean,
    );
    for (at, class) in [(0, "programs of many calls"), (1, "loops")] {
        let names = programs(plan, CLASSES[at].1);
        let inlined: Vec<&str> =
            names.iter().copied().filter(|name| tab2::names(plan).contains(name)).collect();
        let seen = Measure::of("samples", &names, |program| crossing(results, &cell(program), SAMPLES));
        found.checks.told(&format!("the same of samples, {class}"), "not said", seen.mean);
        for (what, counted) in [("traces", DIFFERENT), ("samples", SAMPLES)] {
            let of = Measure::of(what, &inlined, |name| crossing(results, &tab2::machine(name), counted));
            found.checks.told(
                &format!("{what} of machine code, with inlining, that cross one, {class}"),
                "not said",
                of.mean,
            );
        }
    }
    let ordered = calls.mean.zip(loops.mean).map(|(calls, loops)| calls.value > loops.value);
    let all = [calls, loops];
    found.checks.shape(
        "calls make the difference",
        "call-heavy programs cross more",
        "on average",
        ordered,
        means(&all),
    );
    let names: Vec<&str> = CLASSES.iter().flat_map(|of| programs(plan, of.1)).collect();
    found.figures.extend(histogram(results, &names));
    let groups = categories(&names);
    let mut series: Vec<_> = all.iter().map(|of| of.series(&groups)).collect();
    let paper = papers::number("pmu.table3.crossing_percent_all");
    series.push(paper_mean(&groups, &format!("paper, all: {}", shown(paper, Unit::Percent)), paper));
    let caption = "Different traces of four branches that cross at least one call or return.";
    found.figures.push(bars("crossings", "Traces across calls", caption, Unit::Percent, groups, series));
}
