//! Oren, Matias and Sagiv 2002, section 3.1: FFT at a rate of 40, and at others.

use super::rates::{SELDOM, cost, costs, paper_ratio, sampling, timed, times_as_many};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::shown;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-sec3.1-f40",
    place: "Section 3.1, sampling",
    title: "Cost and accuracy over the rate",
    says: &[
        "At first the paper's FFT began a sample in one of 40 blocks: it cost 145 % in all and 102 % for sampling, against 31 % and 10 % at one in 1000, and results were similar. So it does not sample more often than that.",
        "Here time is measured with samples in one of 40, of 1000 and of a million blocks (in full mode also of 10, 100 and 10,000), of which the last has next to none: what is more is sampling. Accuracy is that of other runs at seven rates, against counts of all subpaths in the same run.",
        "A sample of one in f blocks stands for f and its own 5.16, so that at 40 there are 22.3 times as many as at 1000; the paper's cost is 10.2 times as much, 2.2 times off that. Costs here must be as near to the proportion, above or below: 10.2 to 48.6 times.",
    ],
    cells: |plan| {
        let timed = timed(plan).into_iter().map(|rate| cost(plan, rate));
        timed.chain(RATES.iter().map(|&rate| accuracy(plan, rate))).collect()
    },
    conclude,
};

/// The paper's rates.
const LEAST: u64 = 40;
const MOST: u64 = 1000;

/// Rates of which the accuracy is looked at.
const RATES: [u64; 7] = [10, 40, 100, 1000, 10_000, 100_000, 1_000_000];

fn accuracy(plan: &Plan, rate: u64) -> Cell {
    let size = plan.pick("--size 16384 --iterations 10", "--size 2097152 --iterations 1");
    let run = format!(
        "bench fft {size} --tier o2 --profile subpaths --profile osp:memory=32k,rate={rate},seed={} --profile-out @profile.json",
        plan.seed
    );
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], plan.pick(0.5, 7.0))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let of = |rate: u64| sampling(plan, results, rate);
    let steps: Vec<u64> = timed(plan).into_iter().filter(|&rate| rate <= MOST).collect();
    let sampled: Option<Vec<f64>> = steps.iter().map(|&rate| of(rate)).collect();
    let ratio = of(LEAST).zip(of(MOST)).map(|(often, seldom)| often / seldom);
    let many = times_as_many(LEAST, MOST);
    let off = many / paper_ratio();
    found.checks.shape(
        "what sampling costs is in proportion to 1/f",
        &format!("102 % at 40, 10 % at 1000: {:.1} times", paper_ratio()),
        &format!(
            "less at each longer rate, and {:.1} to {:.1} times as much at 40 as at 1000, where samples are {many:.1} times as many",
            many / off,
            many * off
        ),
        ratio.zip(sampled.as_ref()).map(|(ratio, sampled)| {
            (many / off..=many * off).contains(&ratio) && sampled.is_sorted_by(|often, seldom| often > seldom)
        }),
        ratio.zip(sampled.as_ref()).map_or("not measured".into(), |(ratio, sampled)| {
            let percents: Vec<String> = sampled.iter().map(|&value| shown(value, Unit::Percent)).collect();
            format!("{}; {ratio:.2} times", percents.join(", "))
        }),
    );
    let number = |rate: u64, name: &str| {
        results.number(&accuracy(plan, rate), &format!("subpaths.{name}")).map(|share| share * 100.0)
    };
    let recalls: Option<Vec<f64>> = RATES.iter().map(|&rate| number(rate, "top5.recall")).collect();
    found.checks.shape(
        "as many of the hottest are found down to the knee",
        "similar at 40 and at 1000",
        "of the five hottest, at least 80 % at each rate up to 1000, and no less at 1000 than at 40",
        recalls.as_ref().map(|all| all[..4].iter().all(|&of| of >= 80.0) && all[3] >= all[1]),
        recalls.as_ref().map_or("not measured".into(), |all| {
            RATES
                .iter()
                .zip(all)
                .map(|(rate, of)| format!("{rate}: {of:.0} %"))
                .collect::<Vec<_>>()
                .join(", ")
        }),
    );
    let paper = |key: &str| shown(papers::number(&format!("osp.table2.{key}")), Unit::Percent);
    found.checks.told(
        "what a rate of 40 costs, sampling and counting",
        &format!("{} ({} at 1000)", paper("fft_f40.total_overhead"), paper("fft_f1000.total_overhead")),
        costs(plan, results, LEAST),
    );
    found.checks.told(
        "what sampling costs at 40",
        &format!("{} ({} at 1000)", paper("fft_f40.sampling_overhead"), paper("fft_f1000.sampling_overhead")),
        of(LEAST).map(|often| exactly(often, Unit::Percent)),
    );
    let total = costs(plan, results, LEAST).zip(costs(plan, results, MOST));
    found.checks.told(
        "what a rate of 40 costs, of what one of 1000 does",
        "4.68 times",
        total.map(|(often, seldom)| exactly(often.value / seldom.value, Unit::Ratio)),
    );
    let rows = RATES.iter().map(|&rate| {
        let cost =
            Some(rate).filter(|rate| timed(plan).contains(rate)).and_then(|rate| costs(plan, results, rate));
        let alone = Some(rate).filter(|&rate| rate != SELDOM).and_then(|rate| sampling(plan, results, rate));
        let of = |name: &str| entry(number(rate, name), Unit::Percent);
        vec![
            text(&rate.to_string()),
            cost.map_or(text("-"), crate::report::model::Cell::Number),
            entry(alone, Unit::Percent),
            of("top5.recall"),
            of("top5.error"),
            of("top10.recall"),
            of("top10.error"),
        ]
    });
    found.figures.push(table(
        "rates",
        "Rates",
        "Recall: how many of the first of the sample are among as many of the hottest; error: mean of their estimates.",
        &["blocks between samples", "overhead", "of sampling", "recall of 5", "error", "recall of 10", "error"],
        rows.collect(),
    ));
    let line = |name: &str, key: &str| {
        let points = RATES.iter().filter_map(|&rate| Some((rate as f64, number(rate, key)?)));
        Line { name: name.into(), is_paper: false, points: points.collect() }
    };
    found.figures.push(Figure {
        id: "recall".into(),
        title: "Recall over the rate".into(),
        caption: "Of the hottest subpaths of FFT, those found.".into(),
        chart: Chart::Lines {
            x: Axis { title: "blocks between samples".into(), unit: Unit::Count, log: true },
            y: Axis { title: "found".into(), unit: Unit::Percent, log: false },
            lines: vec![line("of five", "top5.recall"), line("of ten", "top10.recall")],
        },
    });
}
