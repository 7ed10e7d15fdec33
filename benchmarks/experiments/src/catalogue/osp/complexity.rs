//! Oren, Matias and Sagiv 2002, section 2.2: what skipping, sampling and thinning cost for a block.

use super::rates::{cost, costs, sampling, timed};
use super::runs::{RUNS, Run, thinned};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-sec2.2-complexity",
    place: "Section 2.2",
    title: "Operations for a block",
    says: &[
        "Skipping is O(1) for a block, sampling O(1) for a sampled block, and thinning can be made O(1) for a sampled block, amortised: all but skipping is o(1) for a block as samples become rare.",
        "Here sampled blocks and entries visited by thinning are counted in the runs of table 3, where the paper's list is thinned: a thinning visits as many entries as the list can hold, at most. \
         And time is measured on FFT at three rates, in full mode at six.",
    ],
    cells: |plan| {
        let timed = timed(plan).into_iter().map(|rate| cost(plan, rate)).chain([blocks()]);
        RUNS.iter().map(|run| thinned(plan, run)).chain(timed).collect()
    },
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |run: &Run, name: &str| results.number(&thinned(plan, run), &format!("sample.{name}"));
    let sampled = |run: &Run| Some(number(run, "taken")? * number(run, "mean_length")?);
    let visited = |run: &Run| Some(number(run, "thinnings")? * number(run, "entries")?);
    let all: Option<Vec<(f64, f64)>> = RUNS.iter().map(|run| Some((visited(run)?, sampled(run)?))).collect();
    let whole = all.as_ref().map(|all| {
        let (visits, blocks) = all.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        100.0 * visits / blocks
    });
    found.checks.number(
        "entries visited by thinning for each sampled block, at most, all programs",
        "O(1), amortised",
        Bound::at_most(5.0).stretch(1.0),
        whole.map(|share| exactly(share, Unit::Percent)),
    );
    let rates: Vec<u64> = timed(plan).into_iter().filter(|&rate| rate <= 1000).collect();
    let each: Option<Vec<f64>> = rates.iter().map(|&rate| sampling(plan, results, rate)).collect();
    found.checks.shape(
        "time for a block without its skip",
        "o(1)",
        "less the more seldom samples are, and less than a quarter at 1000 of what it is at 40",
        each.as_ref().map(|each| {
            let at = |rate: u64| rates.iter().position(|&of| of == rate).map_or(f64::NAN, |at| each[at]);
            each.is_sorted_by(|often, seldom| often > seldom) && 4.0 * at(1000) < at(40)
        }),
        each.as_ref().map_or("not measured".into(), |each| {
            let all = rates
                .iter()
                .zip(each)
                .map(|(rate, cost)| format!("{} at {rate}", shown(*cost, Unit::Percent)));
            all.collect::<Vec<_>>().join(", ")
        }),
    );
    let row = |run: &Run| {
        let share = |of: Option<f64>, all: Option<f64>| {
            entry(of.zip(all).map(|(of, all)| 100.0 * of / all), Unit::Percent)
        };
        vec![
            text(run.program),
            entry(number(run, "blocks"), Unit::Count),
            entry(number(run, "taken"), Unit::Count),
            share(sampled(run), number(run, "blocks")),
            entry(number(run, "thinnings"), Unit::Count),
            share(visited(run), sampled(run)),
        ]
    };
    found.figures.push(table(
        "operations",
        "Operations of the runs of table 3",
        "Blocks that are in samples, as a part of all; and entries visited by thinning, as a part of these, at most.",
        &["", "blocks", "samples taken", "sampled blocks", "thinnings", "visits"],
        RUNS.iter().map(row).collect(),
    ));
    let row = |rate: u64| {
        let whole = costs(plan, results, rate).map(|cost| cost.value);
        let of = |percent: Option<f64>| entry(nanoseconds(plan, results, rate, percent), Unit::Nanoseconds);
        vec![text(&rate.to_string()), of(whole), of(sampling(plan, results, rate))]
    };
    found.figures.push(table(
        "time",
        "Time for a block of FFT",
        "All that the profiler takes, and what it takes beyond counting blocks.",
        &["blocks between samples", "for a block", "without its skip"],
        timed(plan).into_iter().map(row).collect(),
    ));
}

/// Blocks of an iteration of FFT, as it is timed.
fn blocks() -> Cell {
    let line =
        format!("bench fft --iterations 1 --tier o2 --profile osp:rate=1000000 --profile-out {RESULT}");
    Cell::counting(Reduction::Subpaths, &[&line], 0.3)
}

/// A part of the time of FFT, in percent, as nanoseconds for a block.
fn nanoseconds(plan: &Plan, results: &Results<'_>, rate: u64, percent: Option<f64>) -> Option<f64> {
    let timed = results.outcome(&cost(plan, rate))?;
    let iteration = mean(timed.samples.get("base.cpu_ns")?)? / timed.numbers.get("iterations")?;
    Some(percent? / 100.0 * iteration / results.number(&blocks(), "sample.blocks")?)
}
