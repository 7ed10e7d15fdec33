//! Oren, Matias and Sagiv 2002, figure 1: cold paths with a hot subpath in common.

use crate::catalogue::marks::line;
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::{Reduction, line_names};
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-fig1",
    place: "Figure 1",
    title: "A hot subpath of cold paths",
    says: &[
        "Many paths lead through blocks 3 4 5 6, and each of them is cold. The paper says how often subpaths of four blocks will be sampled: 3 4 5 6 three times as often as 4 5 6 7b, \
         six times as often as 4 5 6 7a and more than twenty times as often as 1 2b 3 4 and 2b 3 4 5; and about 150 times if one block in 40 begins a sample.",
        "The probe `subpath` has this control flow, with 24 ways in and six ways out. It is run ten times, as long as 150 samples need, with samples at other places each time. A profiler of whole paths sees the same runs.",
    ],
    cells: |plan| (0..SEEDS).map(|seed| sampled(plan, seed)).chain([whole_paths()]).collect(),
    conclude,
};

const SEEDS: u64 = 10;

/// Rounds of 576 visits, of which one in 174 becomes a sample of 3 4 5 6: of samples one in four has four blocks.
const ROUNDS: u32 = 46;

fn sampled(plan: &Plan, seed: u64) -> Cell {
    let seed = plan.seed * SEEDS + seed;
    let line = format!(
        "bench subpath --size {ROUNDS} --iterations 1 --tier o2 --profile subpaths \
         --profile osp:memory=1m,rate=40,encoding=rolling,seed={seed} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Subpaths, &[&line], 0.3)
}

/// How many whole paths have more than two hundredths of the flow.
fn whole_paths() -> Cell {
    let run = format!(
        "bench subpath --size {ROUNDS} --iterations 10 --tier o0 --timer virtual:1009 --profile blpp --profile pep --profile-out @profile.json"
    );
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --hot 2 --json"], 0.5)
}

/// Subpaths of the figure, and of how many visits one goes through them.
const SUBPATHS: [([&str; 4], f64); 5] = [
    (["3", "4", "5", "6"], 1.0),
    (["4", "5", "6", "7b"], 3.0),
    (["4", "5", "6", "7a"], 6.0),
    (["1", "2b", "3", "4"], 24.0),
    (["2b", "3", "4", "5"], 24.0),
];

fn name(blocks: &[&str]) -> String {
    let lines = blocks.iter().map(|block| line("probes/subpath.hol", &format!("block {block}")));
    line_names(&lines.collect::<Vec<_>>())
}

/// How far the counts of all but the first are from their shares of it, in standard deviations.
fn offs(counts: &[f64]) -> Vec<f64> {
    let off = |(&count, &(_, one_in)): (&f64, &([&str; 4], f64))| {
        let expected = counts[0] / one_in;
        (count - expected).abs() / (expected + expected / one_in).sqrt().max(1.0)
    };
    counts.iter().zip(&SUBPATHS).skip(1).map(off).collect()
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    // Executions or samples in a run, and in all; nothing if a run is missing.
    let count = |seed: u64, what: &str, blocks: &[&str]| -> Option<f64> {
        let outcome = results.outcome(&sampled(plan, seed))?;
        Some(outcome.numbers.get(&format!("{what}.{}", name(blocks))).copied().unwrap_or_default())
    };
    let total = |what: &str, blocks: &[&str]| -> Option<f64> {
        (0..SEEDS).map(|seed| count(seed, what, blocks)).sum()
    };
    let visits = f64::from(ROUNDS) * 576.0 * SEEDS as f64;
    let right = |(blocks, one_in): &([&str; 4], f64)| Some(total("run", blocks)? == visits / one_in);
    let runs: Option<Vec<bool>> = SUBPATHS.iter().map(right).collect();
    let right = runs.map(|runs| runs.into_iter().filter(|&right| right).count());
    found.checks.shape(
        "how often the subpaths are run",
        "ratios of 3, 6, and more than 20",
        "in each visit, in one of 3, of 6, of 24 and of 24, exactly",
        right.map(|right| right == SUBPATHS.len()),
        right.map_or("not measured".into(), |right| format!("{right} of {}", SUBPATHS.len())),
    );
    let samples = SUBPATHS.map(|(blocks, _)| total("samples", &blocks));
    let first = samples[0];
    let singles = (0..SEEDS).map(|seed| {
        let counts: Option<Vec<f64>> =
            SUBPATHS.iter().map(|(blocks, _)| count(seed, "samples", blocks)).collect();
        Some(offs(&counts?))
    });
    let singles: Option<Vec<Vec<f64>>> = singles.collect();
    let within = singles.map(|all| {
        let all: Vec<f64> = all.into_iter().flatten().collect();
        100.0 * all.iter().filter(|&&off| off <= 2.0).count() as f64 / all.len() as f64
    });
    found.checks.number(
        "ratios of samples in a run that are within two standard deviations of those of executions",
        "about 3, about 6, over 20",
        Bound::at_least(90.0).stretch(f64::INFINITY),
        within.map(|share| exactly(share, Unit::Percent)),
    );
    let together: Option<Vec<f64>> = samples.into_iter().collect();
    let worst = together.map(|counts| offs(&counts).into_iter().fold(0.0, f64::max));
    found.checks.shape(
        "the same of all ten runs together",
        "not said",
        "all four ratios within two standard deviations",
        worst.map(|worst| worst <= 2.0),
        worst.map_or("not measured".into(), |worst| format!("at most {worst:.2}")),
    );
    let each = first.map(|all| all / SEEDS as f64);
    found.checks.shape(
        "samples of 3 4 5 6 in a run",
        "approximately 150",
        "150 within two standard deviations of the mean of ten runs",
        each.map(|each| (each - 150.0).abs() <= 2.0 * (150.0 / SEEDS as f64).sqrt()),
        each.map_or("not measured".into(), |each| format!("{each:.1} on average")),
    );
    let hot = results.number(&whole_paths(), "paths.count.hot");
    found.checks.shape(
        "whole paths are cold",
        "paths that contain it are cold",
        "only the path through the loop that makes the visits has more than 2 % of the flow",
        hot.map(|hot| hot <= 1.0),
        hot.map_or("not measured".into(), |hot| format!("{hot:.0} hot paths")),
    );
    let row = |(at, (blocks, one_in)): (usize, &([&str; 4], f64))| {
        let ratio = first.zip(samples[at]).map(|(all, of)| all / of.max(1.0));
        vec![
            text(&blocks.join(" ")),
            entry(total("run", blocks), Unit::Count),
            entry(samples[at], Unit::Count),
            entry(ratio, Unit::Ratio),
            entry(Some(*one_in), Unit::Ratio),
        ]
    };
    found.figures.push(table(
        "subpaths",
        "Subpaths of the figure",
        "In ten runs: executions, samples, and how many times as often 3 4 5 6 was sampled.",
        &["", "executions", "samples", "3 4 5 6 as often", "executed"],
        SUBPATHS.iter().enumerate().map(row).collect(),
    ));
}
