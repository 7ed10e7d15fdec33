//! Oren, Matias and Sagiv 2002, table 6: what is known while the program runs.

use super::runs::{RUNS, rate, samples};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Cell as TableCell, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab6",
    place: "Table 6",
    title: "Ranks while FFT runs",
    says: &[
        "After each ten million blocks, which are 6 % of the run, the paper asks for the hottest subpaths so far, and looks which ranks the five that are hottest in truth have in the sample. At two of six stops one and two of them are not among \
         its first five; from the fourth stop on all are.",
        "Here the stops are at the same hundredths of the run and on to its end (in little time the end alone): those of runs of which only so many blocks are looked at. The fifth to the eighth are then rounds of one loop, of 2 to 16 blocks, whose counts differ by one to three hundredths, which the paper's do not. So one that is executed as often as the fifth but for a hundredth counts as found; how many are without that is told beside it.",
        "With a sample in one of 603 blocks as many were taken at each stop as in the paper, in all 168885 (`osp-tab5`), in 32 KiB. Chance is one to three hundredths of such counts, too, so what is found is decided with ten times as many, a sample in one of 56 blocks: that is between the rates of 40 and 1000 that the paper compares for this program (`osp-sec3.1-f40`). What the paper's number of samples finds is told beside it.",
    ],
    cells: |plan| {
        let stops = stops(plan).into_iter();
        stops.flat_map(|stop| [AS_MANY, MORE].map(|times| cell(plan, stop, times))).collect()
    },
    conclude,
};

/// The paper's, in hundredths of the run.
const STOPS: [u32; 6] = [6, 12, 18, 24, 30, 36];

/// From the fourth on it has all five.
const SETTLED: u32 = 24;

/// These, and what follows.
fn stops(plan: &Plan) -> Vec<u32> {
    let more = plan.pick(vec![100], (42..100).step_by(6).chain([100]).collect());
    STOPS.into_iter().chain(more).collect()
}

/// Blocks of FFT at this size.
const BLOCKS: u64 = 102_756_466;

/// As many samples as the paper's, and ten times as many.
const AS_MANY: f64 = 1.0;
const MORE: f64 = 10.0;

fn cell(plan: &Plan, stop: u32, times: f64) -> Cell {
    let until = u64::from(stop) * BLOCKS / 100;
    let wanted = RUNS.iter().find(|run| run.paper == "FFT").map_or(f64::NAN, samples);
    let rate = rate(BLOCKS, times * wanted, 32);
    let run = format!(
        "bench fft --size 2097152 --iterations 1 --tier o2 --profile subpaths:until={until} \
         --profile osp:memory=32k,rate={rate},skip=call,seed={},until={until} --profile-out @profile.json",
        plan.seed
    );
    let seconds = 1.2 + f64::from(stop) / 20.0;
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], seconds)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let percents = |name: &str, times: f64| -> Option<Vec<f64>> {
        let name = format!("subpaths.top5.{name}");
        let percent = |stop| Some(results.number(&cell(plan, stop, times), &name)? * 100.0);
        stops(plan).into_iter().map(percent).collect()
    };
    let settled = stops(plan).iter().position(|&stop| stop >= SETTLED).unwrap_or(0);
    let (recalls, as_good) = (percents("recall", MORE), percents("as_good", MORE));
    let paper: Vec<f64> = papers::numbers("osp.table6.top5_recall")
        .into_iter()
        .flatten()
        .map(|recall| recall * 100.0)
        .collect();
    let shown = |all: &Vec<f64>| all.iter().map(|of| format!("{of:.0} %")).collect::<Vec<_>>().join(", ");
    let worst = |all: &[f64]| exactly(all.iter().copied().fold(f64::INFINITY, f64::min), Unit::Percent);
    found.checks.number(
        "of the five hottest, or as hot but for a hundredth, found at the worst of the first three stops, beside the paper's",
        "100 %, 80 % and 60 %",
        Bound::at_least(0.0).stretch(f64::INFINITY),
        as_good.as_ref().map(|all| {
            let more: Vec<f64> = all.iter().zip(&paper).take(3).map(|(of, paper)| of - paper).collect();
            worst(&more)
        }),
    );
    found.checks.number(
        "of the five hottest, or as hot but for a hundredth, found at the worst stop from 24 % on",
        "100 %",
        Bound::at_least(100.0),
        as_good.as_ref().map(|all| worst(&all[settled..])),
    );
    found.checks.told(
        "of the five hottest alone, found at the worst of all stops",
        "60 %",
        recalls.as_ref().map(|all| worst(all)),
    );
    // Loops of 2, 4, 8 and 16 blocks that are run together differ by their ends only.
    let near = percents("near", MORE);
    found.checks.shape(
        "the sample has the five hottest, or what it cannot tell from them",
        &shown(&paper),
        "at each stop: as hot but for a hundredth, or by the 95 % interval, which begins below the fifth",
        as_good
            .as_ref()
            .zip(near.as_ref())
            .map(|(good, near)| good.iter().zip(near).all(|(&good, &near)| good == 100.0 || near == 100.0)),
        recalls.as_ref().zip(as_good.as_ref()).zip(near.as_ref()).map_or(
            "not measured".into(),
            |((found, good), near)| {
                format!("found: {}; or as hot: {}; or near: {}", shown(found), shown(good), shown(near))
            },
        ),
    );
    let as_few = percents("as_good", AS_MANY);
    found.checks.told(
        "with as many samples as the paper's, found or as hot at the worst stop from 24 % on",
        "100 %",
        as_few.as_ref().map(|all| worst(&all[settled..])),
    );
    // For each stop, the ranks in the sample of the five hottest in truth.
    let ours = |stop: u32| {
        let ranks = results.outcome(&cell(plan, stop, AS_MANY))?.samples.get("subpaths.top5.ranks")?;
        (ranks.len() == HOTTEST).then_some(ranks.as_slice())
    };
    let theirs: Vec<Vec<f64>> = {
        let ranks = papers::grid("osp.table6.ranks");
        (0..STOPS.len()).map(|stop| ranks.iter().filter_map(|row| row[stop]).collect()).collect()
    };
    let row = |at: usize| {
        let ours = stops(plan).into_iter().map(|stop| entry(ours(stop).map(|ranks| ranks[at]), Unit::Count));
        let paper = theirs.iter().map(|ranks| entry(ranks.get(at).copied(), Unit::Count));
        [text(&(at + 1).to_string())].into_iter().chain(ours).chain(paper).collect()
    };
    let mut rows: Vec<Vec<TableCell>> = (0..HOTTEST).map(row).collect();
    let distances = stops(plan).into_iter().map(|stop| ours(stop).and_then(footrule));
    let distances = distances.chain(theirs.iter().map(|ranks| footrule(ranks)));
    let distances = distances.map(|distance| entry(distance, Unit::Count));
    rows.push([text("how far off, together")].into_iter().chain(distances).collect());
    let heads = stops(plan).into_iter().map(|stop| format!("{stop} %"));
    let heads = heads.chain(STOPS.iter().map(|stop| format!("paper: {stop} %")));
    let heads: Vec<String> = ["rank in truth".to_string()].into_iter().chain(heads).collect();
    let columns: Vec<&str> = heads.iter().map(String::as_str).collect();
    found.figures.push(table(
        "ranks",
        "Ranks in the sample of the five hottest subpaths",
        "With as many samples as the paper's, after so many hundredths of all blocks; 0: not in the sample. How far off ranks are together is the sum of their distances, nothing if one is not in the sample. The paper runs 170 million blocks, and this 103 million.",
        &columns,
        rows,
    ));
}

/// So many are looked for.
const HOTTEST: usize = 5;

/// How far ranks are from 1, 2, 3, ... together (Spearman); nothing if one was not sampled.
fn footrule(ranks: &[f64]) -> Option<f64> {
    let distance = |(at, &rank): (u32, &f64)| (rank > 0.0).then(|| (rank - f64::from(at)).abs());
    (1..).zip(ranks).map(distance).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_paper() {
        let ranks = papers::grid("osp.table6.ranks");
        let at = |stop: usize| footrule(&ranks.iter().filter_map(|row| row[stop]).collect::<Vec<f64>>());
        let found: Option<Vec<f64>> = (0..STOPS.len()).map(at).collect();
        let printed: Option<Vec<f64>> = papers::numbers("osp.table6.footrule").into_iter().collect();
        assert_eq!(found, printed);
        assert_eq!(footrule(&[1.0, 0.0]), None);
    }
}
