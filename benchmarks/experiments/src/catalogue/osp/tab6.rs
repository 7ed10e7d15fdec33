//! Oren, Matias and Sagiv 2002, table 6: what is known while the program runs.

use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab6",
    place: "Table 6",
    title: "Ranks while FFT runs",
    says: &[
        "After each ten million blocks, which are 6 % of the run, the paper asks for the hottest subpaths so far, and looks which ranks the five that are hottest in truth have in the sample. At two of six stops one and two of them are not among \
         its first five; from the fourth stop on all are.",
        "Here the stops are at the same hundredths of the run: those of runs of which only so many blocks are looked at, with the paper's rate of one sample in 1000 blocks, in 32 KiB. The fifth to the eighth are then rounds of one loop, of 2 to 16 blocks, whose counts differ by less than 1 %, which the paper's do not: the sample has them all, in an order that is chance. So one that is executed as often as the fifth but for a hundredth counts as found; how many are without that is told beside it.",
    ],
    cells: |plan| STOPS.iter().map(|&stop| cell(plan, stop)).collect(),
    conclude,
};

/// In hundredths of the run.
const STOPS: [u32; 6] = [6, 12, 18, 24, 30, 36];

/// A hundredth of the blocks of FFT at this size.
const HUNDREDTH: u64 = 1_027_564;

fn cell(plan: &Plan, stop: u32) -> Cell {
    let until = u64::from(stop) * HUNDREDTH;
    let run = format!(
        "bench fft --size 2097152 --iterations 1 --tier o2 --profile subpaths:until={until} \
         --profile osp:memory=32k,rate=1000,skip=call,seed={},until={until} --profile-out @profile.json",
        plan.seed
    );
    let seconds = 1.2 + f64::from(stop) / 20.0;
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], seconds)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let percents = |name: &str| -> Option<Vec<f64>> {
        let name = format!("subpaths.top5.{name}");
        STOPS.iter().map(|&stop| Some(results.number(&cell(plan, stop), &name)? * 100.0)).collect()
    };
    let recalls = percents("recall");
    let paper: Vec<f64> = papers::numbers("osp.table6.top5_recall")
        .into_iter()
        .flatten()
        .map(|recall| recall * 100.0)
        .collect();
    let shown = |all: &Vec<f64>| all.iter().map(|of| format!("{of:.0} %")).collect::<Vec<_>>().join(", ");
    let worst = |all: &[f64]| exactly(all.iter().copied().fold(f64::INFINITY, f64::min), Unit::Percent);
    found.checks.number(
        "of the five hottest, found at the worst of the first three stops, beside the paper's",
        "100 %, 80 % and 60 %",
        Bound::at_least(0.0).stretch(f64::INFINITY),
        recalls.as_ref().map(|all| {
            let more: Vec<f64> = all.iter().zip(&paper).take(3).map(|(of, paper)| of - paper).collect();
            worst(&more)
        }),
    );
    found.checks.number(
        "of the five hottest, or as hot but for a hundredth, found at the worst stop from 24 % on",
        "100 %",
        Bound::at_least(100.0),
        percents("as_good").map(|all| worst(&all[3..])),
    );
    found.checks.told(
        "the same, of the five hottest alone",
        "100 %",
        recalls.as_ref().map(|all| worst(&all[3..])),
    );
    // Loops of 2, 4, 8 and 16 blocks that are run together differ by their ends only.
    let near = percents("near");
    found.checks.shape(
        "the sample has the five hottest, or what it cannot tell from them",
        &shown(&paper),
        "at each stop: by the 95 % interval, which begins below the fifth",
        near.as_ref().map(|all| all.iter().all(|&of| of == 100.0)),
        recalls.as_ref().zip(near.as_ref()).map_or("not measured".into(), |(found, near)| {
            format!("found: {}; or near: {}", shown(found), shown(near))
        }),
    );
    let ranks = papers::grid("osp.table6.ranks");
    let row = |at: usize| {
        let ours = STOPS.iter().map(|&stop| {
            let outcome = results.outcome(&cell(plan, stop));
            entry(outcome.and_then(|of| of.samples.get("subpaths.top5.ranks")?.get(at).copied()), Unit::Count)
        });
        let paper = ranks[at].iter().map(|&rank| entry(rank, Unit::Count));
        [text(&(at + 1).to_string())].into_iter().chain(ours).chain(paper).collect()
    };
    let stops = STOPS.map(|stop| format!("{stop} %"));
    let columns: Vec<&str> = ["rank in truth"]
        .into_iter()
        .chain(stops.iter().map(String::as_str))
        .chain(["paper: 6 %", "12 %", "18 %", "24 %", "30 %", "36 %"])
        .collect();
    found.figures.push(table(
        "ranks",
        "Ranks in the sample of the five hottest subpaths",
        "After so many hundredths of all blocks; 0: not in the sample. The paper runs 170 million blocks, and this 103 million.",
        &columns,
        (0..5).map(row).collect(),
    ));
}
