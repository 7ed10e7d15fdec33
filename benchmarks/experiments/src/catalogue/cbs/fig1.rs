//! Arnold and Grove 2005, figure 1: a program of which samples by the timer say the wrong thing.

use crate::catalogue::overheads::{bars, series};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Measured, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-fig1",
    place: "Figure 1",
    title: "A program that misleads timers",
    says: &[
        "Long work without calls is followed by two short calls. A tick nearly always comes during the work, so the first call after it is the \
         sample: the second, which is made as often, is hardly ever seen. The paper shows it and gives no number.",
        "The probe `adversary` is such a program. The overlap of sampled and exact call graph is what section 6.2 of the paper calls accuracy.",
    ],
    cells: |plan| GRID.iter().map(|of| cell(plan, of.1)).collect(),
    conclude,
};

const GRID: [(&str, &str); 5] = [
    ("timer", "cbs:schedule=timer"),
    ("CBS(1,1)", "cbs:samples=1,stride=1"),
    ("CBS(3,4)", "cbs:samples=4,stride=3"),
    ("CBS(3,16)", "cbs:samples=16,stride=3"),
    ("CBS(7,32)", "cbs:samples=32,stride=7"),
];

/// The ticks are those of a clock: counted yieldpoints would keep step with the program.
fn cell(plan: &Plan, profiler: &str) -> Cell {
    let iterations = plan.pick(4, 40);
    let run = format!(
        "bench adversary --iterations {iterations} --tier o0 --timer wall:1ms --profile calls --profile {profiler} --profile-out @profile.json"
    );
    let compare = "profile accuracy @profile.json --json";
    Cell::timed(Reduction::Numbers, &[&run, compare], plan.pick(1.0, 8.0))
}

/// The overlap with the exact call graph of the same run.
fn overlap(plan: &Plan, results: &Results<'_>, profiler: &str) -> Option<Measured> {
    let share = results.number(&cell(plan, profiler), "calls.sampled")?;
    Some(exactly(share * 100.0, Unit::Percent))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let timer = overlap(plan, results, GRID[0].1);
    let cbs = overlap(plan, results, GRID[3].1);
    found.checks.number("accuracy of CBS(3,16)", "nearly all", Bound::at_least(97.0), cbs);
    found.checks.shape(
        "samples by the timer miss a half",
        "nearly all are of the first call",
        "at most 55 %",
        timer.map(|timer| timer.value <= 55.0),
        timer.map_or("not measured".into(), |timer| format!("{:.1} %", timer.value)),
    );
    let names: Vec<String> = GRID.iter().map(|(name, _)| name.to_string()).collect();
    let bar = series("measured", &names, |name| {
        let (_, spec) = GRID.iter().find(|(of, _)| *of == name)?;
        overlap(plan, results, spec)
    });
    found.figures.push(bars(
        "accuracy",
        "Accuracy of call graphs of the adversary",
        "Overlap with the exact call graph. Sampling some calls after each tick, some apart, repairs what the timer alone gets wrong.",
        Unit::Percent,
        names,
        vec![bar],
    ));
}
