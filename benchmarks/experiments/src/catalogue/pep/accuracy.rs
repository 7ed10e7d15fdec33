//! What the experiments about PEP's accuracy share: their cells, and means over programs.

use crate::catalogue::accuracies;
use crate::catalogue::overheads::{MEAN, series};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::{Measured, Series, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::shown;

/// The bars: their names, and the profiler of each.
pub const CONFIGURATIONS: [(&str, &str); 4] = [
    ("timer", "pep:schedule=timer"),
    ("PEP(64,17)", "pep:samples=64,stride=17"),
    ("PEP(256,17)", "pep:samples=256,stride=17"),
    ("PEP(1024,17)", "pep:samples=1024,stride=17"),
];

const QUICK: [&str; 10] = [
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

/// A score of a configuration, in percent.
pub struct Measure {
    name: &'static str,
    each: Vec<(&'static str, f64)>,
    /// Nothing if a program is missing.
    pub mean: Option<Measured>,
}

impl Measure {
    pub fn of(
        plan: &Plan,
        results: &Results<'_>,
        (name, profiler): (&'static str, &str),
        score: &str,
    ) -> Measure {
        let programs = programs(plan);
        let cell = |program| accuracies::paths(plan, program, profiler);
        let each: Vec<(&str, f64)> = programs
            .iter()
            .filter_map(|&program| Some((program, results.number(&cell(program), score)? * 100.0)))
            .collect();
        let values: Vec<f64> = each.iter().map(|of| of.1).collect();
        let mean = if each.len() == programs.len() { mean(&values) } else { None };
        Measure { name, each, mean: mean.map(|mean| exactly(mean, Unit::Percent)) }
    }

    pub fn series(&self, groups: &[String]) -> Series {
        series(self.name, groups, |group| match self.each.iter().find(|of| of.0 == group) {
            Some(&(_, value)) => Some(exactly(value, Unit::Percent)),
            None if group == MEAN => self.mean,
            None => None,
        })
    }
}

/// The means in a line.
pub fn means(all: &[Measure]) -> String {
    let text = |of: &Measure| {
        let mean = of.mean.map_or("not measured".into(), |mean| shown(mean.value, Unit::Percent));
        format!("{}: {mean}", of.name)
    };
    all.iter().map(text).collect::<Vec<_>>().join("; ")
}
