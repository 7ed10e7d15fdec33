//! What the experiments about PEP's accuracy share: their configurations and cells.

use crate::catalogue::accuracies::{self, Measure};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::results::Results;

/// The bars: their names, and the profiler of each.
pub const CONFIGURATIONS: [(&str, &str); 4] = [
    ("timer", "pep:schedule=timer"),
    ("PEP(64,17)", "pep:samples=64,stride=17"),
    ("PEP(256,17)", "pep:samples=256,stride=17"),
    ("PEP(1024,17)", "pep:samples=1024,stride=17"),
];

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
