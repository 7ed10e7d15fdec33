//! Shye et al. 2005, table 3: how many calls and returns partial paths cross.

use super::traces;
use crate::catalogue::accuracies::{Measure, means};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
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
         mostly loops were told apart before anything was measured.",
    ],
    cells: |plan| CLASSES.iter().flat_map(|of| programs(plan, of.1)).map(cell).collect(),
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

/// The part of a program's different traces that cross a call or a return.
fn crossing(results: &Results<'_>, program: &str) -> Option<f64> {
    let outcome = results.outcome(&cell(program))?;
    let crossing = |name: &str| outcome.numbers.get(&format!("crossings.{name}")).copied();
    let all = outcome.numbers.get("traces").copied().filter(|&all| all > 0.0)?;
    Some(1.0 - crossing("0").unwrap_or(0.0) / all)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let of = |at: usize| {
        let (name, all) = CLASSES[at];
        Measure::of(name, &programs(plan, all), |program| crossing(results, program))
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
    let groups = categories(&names);
    let mut series: Vec<_> = all.iter().map(|of| of.series(&groups)).collect();
    let paper = papers::number("pmu.table3.crossing_percent_all");
    series.push(paper_mean(&groups, &format!("paper, all: {}", shown(paper, Unit::Percent)), paper));
    let caption = "Different traces of four branches that cross at least one call or return.";
    found.figures.push(bars("crossings", "Traces across calls", caption, Unit::Percent, groups, series));
}
