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
        "Here runs have seeds of their own for the distances between samples, and `profile merge` adds them up. A run has 115 (json) to 212 (bounce) samples, for \
         which each program has its period.",
        "How accurate the paths of several runs together are, by four branches and equal shares, is told beside it.",
        "Paths are partial paths: different sequences of blocks of a method, as traces show them. (Full paths with a weight are no measure of what \
         was found: one trace of cd fits 552 of them.) New ones come by chance, so that a step must be steeper than the one before by more than two standard deviations \
         of both to count as such.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let found = names.iter().flat_map(|name| runs(plan).iter().map(|&runs| cell(name, runs)));
        let scores = names.iter().flat_map(|name| scored(plan).iter().map(|&runs| accuracy(name, runs)));
        found.chain(scores).collect()
    },
    conclude,
};

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["json", "richards"], &["json", "richards", "deltablue", "bounce", "cd", "list"])
}

fn runs(plan: &Plan) -> &'static [u32] {
    plan.pick(&[1, 3, 10, 30], &[1, 2, 3, 5, 10, 15, 20, 25, 30])
}

/// The program's period, in taken branches: between one and two hundred samples in a run, or little more.
fn period(program: &str) -> u32 {
    match program {
        "json" => 2_999,
        "richards" => 9_973,
        "deltablue" => 101,
        "cd" | "bounce" => 997,
        "list" => 499,
        _ => 1_999,
    }
}

fn cell(program: &str, runs: u32) -> Cell {
    traces::aggregated(program, &format!("btb:depth=4,period={}", period(program)), runs)
}

/// So many runs together are held against exact counts.
fn scored(plan: &Plan) -> &'static [u32] {
    plan.pick(&[1, 10], &[1, 10, 30])
}

/// The accuracy of the paper's traces, of so many runs together.
fn accuracy(program: &str, runs: u32) -> Cell {
    traces::aggregated_accuracy(
        program,
        &format!("btb:depth=4,weights=equal,period={}", period(program)),
        runs,
    )
}

/// Is no step steeper than the one before, but by chance: by one path, or two standard deviations of what both steps found.
fn levels(points: &[(f64, f64)]) -> bool {
    let steps: Vec<(f64, f64)> = points.windows(2).map(|of| (of[1].0 - of[0].0, of[1].1 - of[0].1)).collect();
    steps.windows(2).all(|of| {
        let [(runs, found), (more_runs, more_found)] = [of[0], of[1]];
        let deviation = (found / runs.powi(2) + more_found / more_runs.powi(2)).sqrt();
        more_found / more_runs <= found / runs + 2.0 * deviation + 1.0 / more_runs
    })
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let line = |name: &str| -> Option<Line> {
        let point = |&runs: &u32| Some((f64::from(runs), results.number(&cell(name, runs), "pieces")?));
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
    let level =
        lines.as_ref().map(|lines| (lines.iter().filter(|line| levels(&line.points)).count(), lines.len()));
    found.checks.shape(
        "each further run finds fewer",
        "steepest up to ten runs",
        "new paths for each run do not rise, but by chance, in all programs",
        level.map(|(level, all)| level == all),
        level.map_or("not measured".into(), |(level, all)| format!("{level} of {all} programs")),
    );
    let names = programs(plan);
    let scores: Vec<(u32, Option<f64>)> = scored(plan)
        .iter()
        .map(|&runs| {
            let of = |name: &&str| results.number(&accuracy(name, runs), "traces.count.accuracy");
            let each: Option<Vec<f64>> = names.iter().map(of).collect();
            (runs, each.and_then(|each| mean(&each)).map(|share| 100.0 * share))
        })
        .collect();
    for (runs, score) in &scores {
        let score = score.map(|score| exactly(score, Unit::Percent));
        let what = format!("average accuracy of the paths of {runs} runs together, by count flow");
        found.checks.told(&what, "not said", score);
    }
    found.figures.extend(lines.map(|lines| Figure {
        id: "paths".into(),
        title: "Paths over runs".into(),
        caption: "Different partial paths, of so many runs together.".into(),
        chart: Chart::Lines {
            x: Axis { title: "runs".into(), unit: Unit::Count, log: false },
            y: Axis { title: "paths".into(), unit: Unit::Count, log: false },
            lines,
        },
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_get_steeper_are_told_from_chance() {
        assert!(levels(&[(1.0, 100.0), (3.0, 150.0), (10.0, 180.0), (30.0, 190.0)]));
        assert!(levels(&[(1.0, 25.0), (2.0, 25.0), (3.0, 26.0)]), "one path");
        assert!(levels(&[(10.0, 286.0), (15.0, 294.0), (20.0, 307.0)]), "8 and 13 by chance");
        assert!(!levels(&[(1.0, 23.0), (2.0, 29.0), (3.0, 60.0)]));
        assert!(!levels(&[(1.0, 100.0), (11.0, 110.0), (21.0, 210.0)]));
    }
}
