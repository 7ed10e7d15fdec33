//! Oren, Matias and Sagiv 2002, section 1.2: the hottest subpaths of JLex.

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
    id: "osp-jlex-top5",
    place: "Section 1.2",
    title: "The five hottest subpaths of a lexer generator",
    says: &[
        "JLex runs 22 million subpaths of up to 1024 blocks. A sample of about 2000 finds the five hottest, in 45 KB.",
        "Here a lexer generator makes three scanners, in 4.7 million blocks, and one block in 100 begins a sample, in 32 KiB with descriptions; ten times, with samples at other places each time. \
         In little time subpaths have up to 64 blocks, in a night up to 1024: counting 3.5 million different ones takes minutes.",
    ],
    cells: |plan| (0..SEEDS).map(|seed| cell(plan, seed)).collect(),
    conclude,
};

const SEEDS: u64 = 10;

fn cell(plan: &Plan, seed: u64) -> Cell {
    let longest = plan.pick(64, 1024);
    let seed = plan.seed * SEEDS + seed;
    let run = format!(
        "bench lexgen --size 3 --iterations 1 --tier o2 --timer virtual:997 \
         --profile subpaths:max-length={longest},top=50 \
         --profile osp:memory=32k,rate=100,max-length={longest},seed={seed} --profile-out @profile.json"
    );
    Cell::counting(
        Reduction::Numbers,
        &[&run, "profile accuracy @profile.json --json"],
        plan.pick(1.8, 220.0),
    )
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |seed: u64, name: &str| results.number(&cell(plan, seed), &format!("subpaths.{name}"));
    let recalls: Option<Vec<f64>> = (0..SEEDS).map(|seed| number(seed, "top5.recall")).collect();
    let all_found = recalls.map(|all| all.iter().filter(|&&recall| recall == 1.0).count() as f64);
    found.checks.number(
        "of ten runs, those that find all of the five hottest",
        &format!("{} of 5 in one run", papers::number("osp.claims.jlex_top5_identified")),
        Bound::at_least(9.0).stretch(9.0),
        all_found.map(|runs| exactly(runs, Unit::Count)),
    );
    let row = |seed: u64| {
        let percent = |name: &str| entry(number(seed, name).map(|share| share * 100.0), Unit::Percent);
        vec![
            text(&seed.to_string()),
            percent("top5.recall"),
            percent("top5.near"),
            percent("top5.error"),
            percent("top10.recall"),
        ]
    };
    found.figures.push(table(
        "runs",
        "Ten runs",
        "Recall: how many of the first five of the sample are among the five hottest; or near: or cannot be told from one of them by their interval.",
        &["seed", "recall of 5", "or near", "mean error", "recall of 10"],
        (0..SEEDS).map(row).collect(),
    ));
}
