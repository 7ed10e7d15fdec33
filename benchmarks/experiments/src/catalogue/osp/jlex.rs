//! Oren, Matias and Sagiv 2002, section 1.2: the hottest subpaths of JLex.

use super::runs::{RUNS, rate, samples};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-jlex-top5",
    place: "Section 1.2",
    title: "The five hottest subpaths of a lexer generator",
    says: &[
        "JLex runs 22 million subpaths of up to 1024 blocks. A sample of about 2000 (2183 in its table 3) finds the five hottest, in 45 KB.",
        "Here a lexer generator makes three scanners, in 4.7 million blocks, and one block in 100 begins a sample, in 64 KiB with descriptions, which the paper's 45 KB are without; ten times, with samples at other places each time. \
         In little time subpaths have up to 64 blocks, in a night up to 1024: counting 3.5 million different ones takes minutes. That are some 47,000 samples, 21 times as many as the paper's: where rotations are the same, our generator's sixth hottest subpath is run five times where the fifth is run six times, both of 8 blocks and more, of which few samples are.",
        "So it is also run with as many samples as the paper has, 2183, with subpaths of up to 64 blocks (in full mode, in little time once for `osp-tab5`). So few samples do not tell the fifth from the sixth; what is asked of it is that none is missing of the ten hottest that chance cannot take for the eleventh. How many runs find all of the five is told.",
    ],
    cells: |plan| {
        let few = seeds(plan).map(|seed| as_few(plan, seed));
        (0..SEEDS).map(|seed| cell(plan, seed)).chain(few).collect()
    },
    conclude,
};

const SEEDS: u64 = 10;

fn cell(plan: &Plan, seed: u64) -> Cell {
    let longest = plan.pick(64, 1024);
    let seed = plan.seed * SEEDS + seed;
    let run = format!(
        "bench lexgen --size 3 --iterations 1 --tier o2 --timer virtual:997 \
         --profile subpaths:max-length={longest},top=50,census=no \
         --profile osp:memory=64k,rate=100,max-length={longest},seed={seed} --profile-out @profile.json"
    );
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], plan.pick(1.2, 40.0))
}

/// Blocks of the run, and the longest subpaths of those with few samples.
const BLOCKS: u64 = 4_714_293;
const LONGEST: u32 = 64;

/// Those of the runs with few samples: in little time `osp-tab5` has one.
fn seeds(plan: &Plan) -> std::ops::Range<u64> {
    0..plan.pick(0, SEEDS)
}

/// With as many samples as the paper's.
fn as_few(plan: &Plan, seed: u64) -> Cell {
    let wanted = RUNS.iter().find(|run| run.paper == "JLex").map_or(f64::NAN, samples);
    let rate = rate(BLOCKS, wanted, LONGEST);
    let seed = plan.seed * SEEDS + seed;
    let run = format!(
        "bench lexgen --size 3 --iterations 1 --tier o2 --timer virtual:997 \
         --profile subpaths:max-length={LONGEST},top=50,census=no \
         --profile osp:memory=64k,rate={rate},max-length={LONGEST},seed={seed} --profile-out @profile.json"
    );
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], 1.2)
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
    let few = |seed: u64, name: &str| results.number(&as_few(plan, seed), name);
    let runs = seeds(plan).count();
    if runs > 0 {
        let lost: Option<Vec<f64>> = seeds(plan).map(|seed| few(seed, "hottest_subpaths.lost")).collect();
        found.checks.shape(
            "with as many samples as the paper's, nothing is missing that is surely hot",
            "about 2000 samples are enough",
            "in nine of ten runs, none of the ten hottest but what chance takes for the eleventh",
            lost.as_ref().map(|lost| 10 * lost.iter().filter(|&&lost| lost == 0.0).count() >= 9 * runs),
            lost.as_ref().map_or("not measured".into(), |lost| {
                format!("nothing in {} of {runs} runs", lost.iter().filter(|&&lost| lost == 0.0).count())
            }),
        );
        let recalls: Option<Vec<f64>> = seeds(plan).map(|seed| few(seed, "subpaths.top5.recall")).collect();
        found.checks.told(
            "of the five hottest, found with as many samples as the paper's, on average",
            &format!("{} of 5", papers::number("osp.claims.jlex_top5_identified")),
            recalls.as_deref().and_then(mean).map(|recall| exactly(100.0 * recall, Unit::Percent)),
        );
    }
    let row = |seed: u64| {
        let of_few = |name: &str| {
            let share = Some(seed).filter(|seed| seeds(plan).contains(seed)).and_then(|seed| few(seed, name));
            entry(share.map(|share| share * 100.0), Unit::Percent)
        };
        let percent = |name: &str| entry(number(seed, name).map(|share| share * 100.0), Unit::Percent);
        vec![
            text(&seed.to_string()),
            percent("top5.recall"),
            percent("top5.near"),
            percent("top5.error"),
            percent("top10.recall"),
            of_few("subpaths.top5.recall"),
            of_few("subpaths.top5.near"),
        ]
    };
    found.figures.push(table(
        "runs",
        "Ten runs",
        "Recall: how many of the first five of the sample are among the five hottest; or near: or cannot be told from one of them by their interval.",
        &["seed", "recall of 5", "or near", "mean error", "recall of 10", "2183 samples: recall of 5", "or near"],
        (0..SEEDS).map(row).collect(),
    ));
}
