//! Profiles that forget follow a program through its phases; profiles of threads become one.

use crate::streams::{graph, ids, run, two_bodies};
use holloway_profilers::BlockId;
use holloway_profilers::osp::{
    Ageing, Config, Encoding, Estimator, Exhaustive, Lengths, Profiler, Random, Ratio, Sample,
};
use std::collections::BTreeMap;

fn config(ageing: Ageing, seed: u64) -> Config {
    Config { rate: 20, seed, encoding: Encoding::Rolling, ageing, ..Config::default() }
}

/// A loop of its own for each phase.
fn phase(number: u32, length: usize) -> Vec<BlockId> {
    let body = [10 * number, 10 * number + 1, 10 * number + 2];
    ids(&body.repeat(length / 3))
}

/// Which share of the estimated executions belongs to each phase.
fn shares(sample: &Sample) -> BTreeMap<u32, f64> {
    let report = sample.report(usize::MAX, Estimator::PostStratified).unwrap();
    let mut shares = BTreeMap::new();
    let total: f64 = report.paths.iter().map(|path| path.estimate).sum();
    for path in &report.paths {
        *shares.entry(path.blocks.as_ref().unwrap()[0].0 / 10).or_default() += path.estimate / total;
    }
    shares
}

#[test]
fn without_ageing_the_old_phase_stays() {
    let mut profiler = Profiler::new(config(Ageing::None, 1)).unwrap();
    phase(1, 90_000).into_iter().chain(phase(2, 30_000)).for_each(|block| profiler.enter_block(block));
    let shares = shares(&profiler.sample());
    assert!((shares[&1] - 0.75).abs() < 0.03, "{shares:?}");
}

/// After n epochs of a new phase, the old one has 2^-n of its weight.
#[test]
fn decay_halves_the_past_each_epoch() {
    let epoch = 6_000;
    for keep in [Ratio::HALF, Ratio::new(3, 4).unwrap()] {
        let mut profiler = Profiler::new(config(Ageing::Decay { epoch, keep }, 2)).unwrap();
        phase(1, 120_000).into_iter().chain(phase(2, 18_000)).for_each(|block| profiler.enter_block(block));
        let old = shares(&profiler.sample())[&1];
        // The old phase saw many epochs, three more have passed: keep^3 of the weight of all is old. Epochs end with a
        // sample, which is up to a few skips late.
        let expected = keep.value().powi(3);
        assert!((old - expected).abs() < 0.09, "{old} for {expected}");
        let windows = profiler.sample().strata[0].windows;
        let sum = epoch as f64 * keep.value() / (1.0 - keep.value());
        assert!(windows < 1.1 * (sum + epoch as f64) && windows > 0.9 * sum, "{windows} for {sum}");
    }
}

/// A window of two epochs has forgotten a phase once two epochs have passed.
#[test]
fn a_window_forgets_after_two_epochs() {
    let epoch = 6_000;
    let mut profiler = Profiler::new(config(Ageing::Window { epoch }, 3)).unwrap();
    phase(1, 60_000).into_iter().for_each(|block| profiler.enter_block(block));
    let mut seen = Vec::new();
    for part in phase(2, 18_000).chunks(3_000) {
        part.iter().for_each(|&block| profiler.enter_block(block));
        let shares = shares(&profiler.sample());
        seen.push(shares.get(&1).copied().unwrap_or(0.0));
        let windows = profiler.sample().strata[0].windows;
        assert!((epoch as f64 * 0.9..2.2 * epoch as f64).contains(&windows), "{windows}");
    }
    assert!(seen[0] > 0.4 && seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
    assert_eq!(seen[5], 0.0, "{seen:?}");
}

/// In a window, the rate falls again after a phase that needed a high one.
#[test]
fn a_window_recovers_its_rate() {
    let mut random = Random::new(11);
    let wild = run(&graph(200, &mut random), 60_000, &mut random);
    let config = Config { memory: 8_000, rate: 4, ..config(Ageing::Window { epoch: 10_000 }, 4) };
    let mut profiler = Profiler::new(config).unwrap();
    wild.iter().for_each(|&block| profiler.enter_block(block));
    let high = profiler.rate();
    phase(1, 200_000).into_iter().for_each(|block| profiler.enter_block(block));
    assert!(high > 8 && profiler.rate() == 4, "{high} {}", profiler.rate());
}

/// Merging at equal rates adds; at different rates it thins the denser one, so that each thread has its share.
#[test]
fn threads_merge_to_the_sample_of_all() {
    let stream = two_bodies(240_000, &mut Random::new(6));
    let sample = |part: &[BlockId], rate, seed| {
        let mut profiler = Profiler::new(Config { rate, ..config(Ageing::None, seed) }).unwrap();
        part.iter().for_each(|&block| profiler.enter_block(block));
        profiler.sample()
    };
    let (first, second) = stream.split_at(120_000);
    let mut random = Random::new(1);
    let mut equal = sample(first, 30, 1);
    let other = sample(second, 30, 2);
    let samples = equal.samples() + other.samples();
    equal.merge(other, &mut random).unwrap();
    assert_eq!((equal.samples(), equal.rate), (samples, 30));
    assert!(equal.rows.is_sorted_by(|a, b| (a.length, a.id) < (b.length, b.id)));
    assert_eq!(equal.strata[0].windows, (stream.len() - 2) as f64);

    // A dense and a sparse sample of disjoint programs of the same size: after merging, both have the same share.
    let moved: Vec<BlockId> = second.iter().map(|block| BlockId(block.0 + 100)).collect();
    let (mut old, mut new, mut short) = (0.0, 0.0, 0.0);
    for seed in 0..40 {
        let mut dense = sample(first, 5, seed);
        dense.merge(sample(&moved, 80, 100 + seed), &mut random).unwrap();
        assert_eq!(dense.rate, 80);
        for row in &dense.rows {
            let sum = if row.blocks.as_ref().unwrap()[0].0 < 100 { &mut old } else { &mut new };
            *sum += row.count as f64;
            short += if row.length == 2 { row.count as f64 } else { 0.0 };
        }
    }
    // Some 120,000 / 85 * 40 samples each.
    assert!((old / new - 1.0f64).abs() < 4.0 * (2.0f64 / new).sqrt(), "{old} {new}");
    assert!((short / (old + new) * 31.0 / 16.0 - 1.0f64).abs() < 0.03);
}

#[test]
fn a_store_can_limit_a_sample() {
    let mut random = Random::new(21);
    let stream = run(&graph(80, &mut random), 50_000, &mut random);
    let mut profiler = Profiler::new(config(Ageing::None, 1)).unwrap();
    let mut exact = Exhaustive::new(5).unwrap();
    for &block in &stream {
        profiler.enter_block(block);
        exact.enter_block(block);
    }
    let mut sample = profiler.sample();
    assert!(sample.rows.len() > 100);
    sample.limit(100, &mut random);
    assert!(sample.rows.len() <= 100 && sample.rate > 20 && sample.rows.iter().all(|row| row.count > 0));
}

#[test]
fn samples_of_different_laws_do_not_merge() {
    let of = |lengths: Lengths, encoding| {
        Profiler::new(Config { lengths, encoding, ..Config::default() }).unwrap().sample()
    };
    let five = || Lengths::powers_of_two(5).unwrap();
    let mut sample = of(five(), Encoding::Rotation);
    let mut random = Random::new(1);
    assert!(sample.merge(of(five(), Encoding::Rotation), &mut random).is_ok());
    assert!(sample.merge(of(Lengths::powers_of_two(4).unwrap(), Encoding::Rotation), &mut random).is_err());
    let error = sample.merge(of(five(), Encoding::Xor), &mut random).unwrap_err().to_string();
    let expected = "osp: the sample to merge cannot be xor of Skips, Concise, at 1000 blocks; \
        valid: rotation of Skips, Concise, at 1000 blocks with the same lengths and seed";
    assert_eq!(error, expected);
}
