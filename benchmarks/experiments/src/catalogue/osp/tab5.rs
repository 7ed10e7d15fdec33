//! Oren, Matias and Sagiv 2002, table 5: accuracy on FFT.

use crate::catalogue::tables::{table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Cell as TableCell, Unit};
use crate::results::{Results, exactly};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab5",
    place: "Table 5",
    title: "Accuracy of the hottest subpaths of FFT",
    says: &[
        "The paper compares the ten hottest subpaths of its sample with exact counts. The first four have their right ranks, with errors up to 1 %; the fifth is 29 % off, \
         which is no chance at 2372 samples, and two of the ten hottest are missing. Its memory was some 40 KB, without descriptions.",
        "Here FFT transforms as many numbers, all subpaths are counted in the same run, and ranks are those among classes that an encoding takes for the same. \
         Beside the way of the paper (exclusive or, a list that is thinned, its estimator) stands ours: rotations are the same, what is in the list is counted on, \
         estimates by the share of samples of a length; in 32 KB with descriptions.",
    ],
    cells: |_| CONFIGURATIONS.map(|of| sample(of.1)).into(),
    conclude,
};

const CONFIGURATIONS: [(&str, &str); 4] = [
    ("ours, one sample in 100 blocks", "osp:memory=32k,rate=100"),
    ("ours, one sample in 1000 blocks", "osp:memory=32k,rate=1000"),
    ("thinned list, one in 1000", "osp:memory=32k,rate=1000,list=concise"),
    ("the paper's way, one in 1000", "osp:memory=64k,rate=1000,encoding=xor,estimator=paper"),
];

/// Subpaths of FFT, sampled and counted.
pub(in crate::catalogue) fn sample(profiler: &str) -> Cell {
    let run = format!(
        "bench fft --size 2097152 --iterations 1 --tier o2 --profile subpaths --profile {profiler} --profile-out @profile.json"
    );
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], 5.0)
}

fn conclude(_: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number =
        |at: usize, name: &str| results.number(&sample(CONFIGURATIONS[at].1), &format!("subpaths.{name}"));
    let rows = papers::grid("osp.table5.rows");
    let errors: Vec<f64> = rows.iter().take(5).filter_map(|row| *row.get(5)?).collect();
    let paper = errors.iter().sum::<f64>() / errors.len() as f64;
    found.checks.number(
        "mean error of the first five",
        &format!("{} (0.7 % of the first four)", shown(paper, Unit::Percent)),
        Bound::at_most(1.3).stretch(0.8),
        number(0, "top5.error").map(|error| exactly(error * 100.0, Unit::Percent)),
    );
    found.checks.number(
        "of the five hottest, found",
        "80 %",
        Bound::at_least(80.0).stretch(99.0),
        number(0, "top5.recall").map(|recall| exactly(recall * 100.0, Unit::Percent)),
    );
    let within = number(0, "top10.within").zip(number(0, "top10.of"));
    found.checks.shape(
        "errors are those of chance",
        "one of ten is 12.5 standard deviations off",
        "at least 8 of the first ten within their 95 % intervals",
        within.map(|(within, _)| within >= 8.0),
        within.map_or("not measured".into(), |(within, of)| format!("{within:.0} of {of:.0}")),
    );
    let percent = |value: Option<f64>| match value {
        Some(value) => TableCell::Number(exactly(value * 100.0, Unit::Percent)),
        None => text("not measured"),
    };
    let row = |(at, (name, _)): (usize, &(&str, &str))| {
        let of = |name: &str| percent(number(at, name));
        vec![
            text(name),
            of("top5.recall"),
            of("top5.error"),
            of("top10.recall"),
            of("top10.error"),
            of("top20.recall"),
        ]
    };
    found.figures.push(table(
        "accuracy",
        "The hottest subpaths by sample and in truth",
        "Recall: how many of the first N of the sample are among the N hottest. In the last row, subpaths that the exclusive or of their blocks \
         confuses count as one, in the sample and in truth.",
        &["", "recall of 5", "mean error", "recall of 10", "mean error", "recall of 20"],
        CONFIGURATIONS.iter().enumerate().map(row).collect(),
    ));
}
