//! What the experiments about PEP's accuracy share: their configurations and cells.

use crate::catalogue::accuracies::{self, Measure};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::results::{Results, median};

/// The bars: their names, and the profiler of each.
pub const CONFIGURATIONS: [(&str, &str); 4] = [
    ("timer", "pep:schedule=timer"),
    ("PEP(64,17)", "pep:samples=64,stride=17"),
    ("PEP(256,17)", "pep:samples=256,stride=17"),
    ("PEP(1024,17)", "pep:samples=1024,stride=17"),
];

/// The one that the paper recommends.
pub const USUAL: &str = CONFIGURATIONS[1].1;

/// In little time.
pub const QUICK: [&str; 10] = [
    "richards",
    "json",
    "deltablue",
    "havlak",
    "compiler",
    "rules",
    "bounce",
    "list",
    "storage",
    "raytracer",
];

pub fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&QUICK, &accuracies::names())
}

pub fn cells(plan: &Plan) -> Vec<Cell> {
    let names = programs(plan);
    CONFIGURATIONS
        .iter()
        .flat_map(|of| names.iter().map(|name| accuracies::paths(plan, name, of.1)))
        .collect()
}

/// A score of a configuration.
pub fn measure(
    plan: &Plan,
    results: &Results<'_>,
    (name, profiler): (&'static str, &str),
    score: &str,
) -> Measure {
    let of = |program: &str| results.number(&accuracies::paths(plan, program, profiler), score);
    Measure::of(name, &programs(plan), of)
}

/// Programs that are run by the clock, and how many iterations last 500 ms while paths are counted.
const CLOCKED: [(&str, u32); 6] =
    [("richards", 160), ("json", 120), ("deltablue", 45), ("rules", 6), ("list", 520), ("compiler", 6)];

/// Programs that are run by the clock, too: a clock prefers the paths that take long, or follow something that does.
pub fn clocked(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", "json", "deltablue", "rules"], &CLOCKED.map(|of| of.0))
}

/// As [`accuracies::paths`], with ticks of the clock: the paper's 20 ms in a full run.
fn clock_cell(plan: &Plan, program: &str, profiler: &str, trial: u32) -> Cell {
    let iterations = CLOCKED.iter().find(|of| of.0 == program).map_or(100, |of| of.1) * plan.pick(1, 20);
    let tick = plan.pick("1ms", "20ms");
    let run = format!(
        "bench {program} --iterations {iterations} --seed {trial} --tier o2 --timer wall:{tick} \
         --profile blpp --profile {profiler} --profile-out @profile.json"
    );
    Cell::timed(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], plan.pick(1.3, 13.0))
}

/// So many runs of each program with a profiler, by the clock.
pub fn by_clock(plan: &Plan, names: &[&str], profiler: &str, trials: u32) -> Vec<Cell> {
    let of =
        |name: &str| (1..=trials).map(|trial| clock_cell(plan, name, profiler, trial)).collect::<Vec<_>>();
    names.iter().copied().flat_map(of).collect()
}

/// The accuracy of a configuration by the clock: medians over trials.
pub fn measure_by_clock(
    plan: &Plan,
    results: &Results<'_>,
    names: &[&str],
    (name, profiler): (&'static str, &str),
    trials: u32,
) -> Measure {
    Measure::of(name, names, |program| {
        let of = |trial| results.number(&clock_cell(plan, program, profiler, trial), "paths.branch.accuracy");
        median(&(1..=trials).map(of).collect::<Option<Vec<f64>>>()?)
    })
}
