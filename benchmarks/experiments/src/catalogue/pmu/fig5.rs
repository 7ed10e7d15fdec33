//! Shye et al. 2005, figure 5: how many paths are found by several runs together.

use super::traces;
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-fig5",
    place: "Figure 5",
    title: "Paths found by several runs",
    says: &[
        "Runs with the same input are sampled in other places, so that together they find more paths. In the paper the number rises steeply up to ten \
         runs, and then levels off.",
        "Here runs have seeds of their own for the distances between samples, and `profile merge` adds them up.",
    ],
    cells: |plan| {
        let names = programs(plan);
        names.iter().flat_map(|name| runs(plan).iter().map(|&runs| cell(name, runs))).collect()
    },
    conclude,
};

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["json", "richards"], &["json", "richards", "deltablue", "bounce", "cd", "list"])
}

fn runs(plan: &Plan) -> &'static [u32] {
    plan.pick(&[1, 3, 10, 30], &[1, 2, 3, 5, 10, 15, 20, 25, 30])
}

/// Some dozens of samples in a run: with hundreds, one run finds nearly all that such a program has, and there is nothing to ask.
fn cell(program: &str, runs: u32) -> Cell {
    traces::aggregated(program, "btb:depth=4,period=16001", runs)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let line = |name: &str| -> Option<Line> {
        let point = |&runs: &u32| Some((f64::from(runs), results.number(&cell(name, runs), "found")?));
        let points: Option<Vec<(f64, f64)>> = runs(plan).iter().map(point).collect();
        Some(Line { name: name.into(), is_paper: false, points: points? })
    };
    let lines: Option<Vec<Line>> = programs(plan).into_iter().map(line).collect();
    let lines = lines.filter(|lines| !lines.is_empty());
    let at = |line: &Line, runs: f64| line.points.iter().find(|of| of.0 == runs).map_or(f64::NAN, |of| of.1);
    let by_ten = lines
        .as_ref()
        .map(|lines| lines.iter().map(|line| 100.0 * at(line, 10.0) / at(line, 30.0)).collect::<Vec<f64>>());
    found.checks.number(
        "of the paths of 30 runs, found by 10, on average",
        "most",
        Bound::at_least(80.0),
        by_ten.and_then(|shares| mean(&shares)).map(|share| exactly(share, Unit::Percent)),
    );
    let levels = |line: &&Line| {
        let steps: Vec<f64> =
            line.points.windows(2).map(|of| (of[1].1 - of[0].1) / (of[1].0 - of[0].0)).collect();
        // A path more or less in a step is chance.
        line.points
            .windows(3)
            .zip(steps.windows(2))
            .all(|(of, step)| step[1] <= step[0] + 1.0 / (of[2].0 - of[1].0))
    };
    let level = lines.as_ref().map(|lines| (lines.iter().filter(levels).count(), lines.len()));
    found.checks.shape(
        "each further run finds fewer",
        "steepest up to ten runs",
        "new paths for each run do not rise, but for one path, in all programs",
        level.map(|(level, all)| level == all),
        level.map_or("not measured".into(), |(level, all)| format!("{level} of {all} programs")),
    );
    found.figures.extend(lines.map(|lines| Figure {
        id: "paths".into(),
        title: "Paths over runs".into(),
        caption: "Paths with a weight, of so many runs together.".into(),
        chart: Chart::Lines {
            x: Axis { title: "runs".into(), unit: Unit::Count, log: false },
            y: Axis { title: "paths".into(), unit: Unit::Count, log: false },
            lines,
        },
    }));
}
