//! Counting samples: a full list does not make what is hot less exact, and what is told of rare subpaths is right on average.

use crate::streams::{graph, run};
use holloway_profilers::BlockId;
use holloway_profilers::osp::{
    Ageing, Config, Encoding, Estimator, Exhaustive, Keeping, Lengths, Profiler, Random, Report, Sample,
};

const SEEDS: u64 = 200;

fn stream(seed: u64, length: usize) -> Vec<BlockId> {
    let mut random = Random::new(seed);
    run(&graph(60, &mut random), length, &mut random)
}

fn config(keeping: Keeping, memory: usize, seed: u64) -> Config {
    let lengths = Lengths::powers_of_two(5).unwrap();
    Config { rate: 5, memory, lengths, seed, keeping, encoding: Encoding::Rolling, ..Config::default() }
}

fn sample(stream: &[BlockId], config: Config) -> Sample {
    let mut profiler = Profiler::new(config).unwrap();
    stream.iter().for_each(|&block| profiler.enter_block(block));
    profiler.sample()
}

fn report(sample: &Sample) -> Report {
    sample.report(usize::MAX, Estimator::PostStratified).unwrap()
}

fn exact(stream: &[BlockId]) -> Exhaustive {
    let mut counts = Exhaustive::new(5).unwrap();
    stream.iter().for_each(|&block| counts.enter_block(block));
    counts
}

/// The mean error of the hottest four, relative; one that was not found is wrong by all of it.
fn error(report: &Report, truth: &[(Vec<BlockId>, u64)]) -> f64 {
    let of = |(blocks, count): &(Vec<BlockId>, u64)| {
        let path = report.paths.iter().find(|path| path.blocks.as_ref() == Some(blocks));
        (path.map_or(0.0, |path| path.estimate) / *count as f64 - 1.0).abs()
    };
    truth.iter().map(of).sum::<f64>() / truth.len() as f64
}

#[test]
fn thinning_does_not_make_the_hottest_worse() {
    let stream = stream(1, 400_000);
    let truth = exact(&stream).top(4);
    let mean = |keeping, memory| {
        let of = |seed| error(&report(&sample(&stream, config(keeping, memory, seed))), &truth);
        (0..20).map(of).sum::<f64>() / 20.0
    };
    let unlimited = mean(Keeping::Counting, 16 << 20);
    let (concise, counting) = (mean(Keeping::Concise, 6_000), mean(Keeping::Counting, 6_000));
    assert!(counting < 1.5 * unlimited, "{counting}, with memory for all {unlimited}");
    assert!(counting < concise / 3.0, "{counting}, concise {concise}");
}

/// Nominal 95 %; the intervals are somewhat too wide, for they add what two causes can do.
#[test]
fn intervals_cover_the_truth() {
    let stream = stream(2, 200_000);
    let truth = exact(&stream).top(40);
    let (mut hits, mut cases) = (0, 0);
    for seed in 0..SEEDS {
        let sample = sample(&stream, config(Keeping::Counting, 6_000, seed));
        assert!(sample.threshold > 1, "the list overflows");
        for path in &report(&sample).paths {
            if let Some((_, count)) = truth.iter().find(|row| Some(&row.0) == path.blocks.as_ref()) {
                cases += 1;
                hits += usize::from((path.interval.0..=path.interval.1).contains(&(*count as f64)));
            }
        }
    }
    let share = hits as f64 / f64::from(cases);
    assert!(cases > 2_000 && (0.93..0.995).contains(&share), "{share} of {cases}");
}

/// Rare subpaths are seldom in the list, and stand for many then: on average for as many as there were, also after samples of threads
/// with different thresholds were merged.
#[test]
fn estimates_of_what_is_rare_are_right_on_average() {
    let (first, second) = (stream(3, 100_000), stream(3, 30_000));
    let (mut truth, more) = (exact(&first), exact(&second));
    truth.merge(&more);
    let ranked = truth.top(400);
    let mut random = Random::new(5);
    let mut sums = vec![(0.0, 0.0); ranked.len()];
    let mut thresholds = Vec::new();
    for seed in 0..SEEDS {
        let mut both = sample(&first, config(Keeping::Counting, 6_000, seed));
        let other = sample(&second, config(Keeping::Counting, 6_000, SEEDS + seed));
        thresholds.push((both.threshold, other.threshold));
        both.merge(other, &mut random).unwrap();
        let report = report(&both);
        for ((blocks, count), sum) in ranked.iter().zip(&mut sums) {
            let path = report.paths.iter().find(|path| path.blocks.as_ref() == Some(blocks));
            let estimate = path.map_or(0.0, |path| path.estimate) / *count as f64;
            *sum = (sum.0 + estimate, sum.1 + estimate * estimate);
        }
    }
    assert!(thresholds.iter().any(|of| of.0 != of.1), "{thresholds:?}");
    let runs = SEEDS as f64;
    for ((_, count), (sum, squares)) in ranked.iter().zip(sums).skip(20).step_by(19) {
        let mean = sum / runs;
        let error = ((squares / runs - mean * mean) / runs).sqrt();
        assert!((mean - 1.0).abs() < 4.0 * error + 0.005, "{mean} +- {error} of {count}");
    }
}

#[test]
fn samples_of_other_kinds_and_rates_do_not_merge() {
    let stream = stream(4, 5_000);
    let mut random = Random::new(1);
    let of = |keeping, rate| sample(&stream, Config { rate, ..config(keeping, 20_000, 1) });
    let mut counting = of(Keeping::Counting, 5);
    assert!(counting.clone().merge(of(Keeping::Counting, 5), &mut random).is_ok());
    assert!(counting.clone().merge(of(Keeping::Concise, 5), &mut random).is_err());
    let error = counting.merge(of(Keeping::Counting, 6), &mut random).unwrap_err().to_string();
    assert!(error.contains("at 6 blocks") && error.contains("at 5 blocks"), "{error}");
}

/// A list of a window starts anew with each epoch, and forgets the threshold as well.
#[test]
fn a_window_forgets() {
    let old = stream(5, 60_000);
    let new: Vec<BlockId> = stream(6, 60_000).iter().map(|block| BlockId(block.0 + 1000)).collect();
    let ageing = Ageing::Window { epoch: 20_000 };
    let both: Vec<BlockId> = old.iter().chain(&new).copied().collect();
    let sample = sample(&both, Config { ageing, ..config(Keeping::Counting, 12_000, 7) });
    assert!(!sample.rows.is_empty());
    assert!(sample.rows.iter().all(|row| row.blocks.as_ref().unwrap()[0].0 >= 1000));
    let all: u64 = sample.strata.iter().map(|stratum| stratum.samples).sum();
    assert!(all >= sample.samples() && all < 60_000 / 5, "{all}");
    let keep = holloway_profilers::osp::Ratio::HALF;
    let decay = Config { ageing: Ageing::Decay { epoch: 100, keep }, ..config(Keeping::Counting, 12_000, 7) };
    let error = Profiler::new(decay).unwrap_err().to_string();
    assert!(error.contains("none or window"), "{error}");
}
