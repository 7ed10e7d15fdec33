//! The hottest paths in their source: what the accuracy of figure 8 is about.

use super::accuracy::CONFIGURATIONS;
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::{Reduction, hot_paths};
use crate::report::model::{Chart, Figure, SourcePath, Unit};
use crate::results::Results;
use crate::verdict::shown;
use holloway_benchmarks::embedded::FILES;

/// Lines of the file before and behind those of a path.
const AROUND: usize = 2;

/// Whose paths are shown, and how many iterations have some thousand samples.
const PROGRAMS: [(&str, u32); 4] = [("richards", 8), ("json", 40), ("deltablue", 4), ("tags", 4)];

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards"], &PROGRAMS.map(|of| of.0))
}

fn cell(program: &str) -> Cell {
    let iterations = PROGRAMS.iter().find(|of| of.0 == program).map_or(4, |of| of.1);
    let profiler = CONFIGURATIONS[1].1;
    let line = format!(
        "bench {program} --iterations {iterations} --tier o2 --timer virtual:50000~0 --profile blpp --profile {profiler} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::HotPaths, &[&line], 0.3)
}

/// What the figures need.
pub fn cells(plan: &Plan) -> Vec<Cell> {
    programs(plan).into_iter().map(cell).collect()
}

/// A figure for each program.
pub fn figures(plan: &Plan, results: &Results<'_>) -> Vec<Figure> {
    programs(plan).into_iter().filter_map(|program| figure(program, results)).collect()
}

fn figure(program: &str, results: &Results<'_>) -> Option<Figure> {
    let found = hot_paths::told(results.outcome(&cell(program))?);
    let paths: Vec<SourcePath> = found.iter().filter_map(in_source).collect();
    (!paths.is_empty()).then(|| Figure {
        id: format!("paths-{program}"),
        title: format!("The hottest paths of {program}, in its source"),
        caption: "Paths by their share of the flow as it was counted, and beside it what PEP(64,17) says. Lines with a branch that the path goes through are marked; branches \
                  of methods in other files, which were inlined, are left out."
            .into(),
        chart: Chart::Paths { paths },
    })
}

fn in_source(path: &hot_paths::HotPath) -> Option<SourcePath> {
    let (_, text) = FILES.iter().find(|(file, _)| *file == path.file)?;
    let all: Vec<&str> = text.lines().collect();
    let (least, greatest) = (*path.lines.iter().min()? as usize, *path.lines.iter().max()? as usize);
    let (first, last) = (least.saturating_sub(AROUND).max(1), (greatest + AROUND).min(all.len()));
    let [exact, sampled] = path.shares;
    Some(SourcePath {
        method: format!("{} (PEP: {})", path.method, shown(100.0 * sampled, Unit::Percent)),
        share: exact,
        file: path.file.clone(),
        first: first as u32,
        lines: all.get(first - 1..last)?.iter().map(|line| line.to_string()).collect(),
        on_path: path.lines.iter().map(|line| line - first as u32).collect(),
    })
}
