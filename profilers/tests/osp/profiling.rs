//! The profiler against a twin that slices the recorded stream; the ways to skip; the memory; reports at any moment.

use crate::streams::{below, graph, run, two_bodies};
use holloway_profilers::osp::{
    Ageing, BranchBits, Coder, Config, Encoding, Estimator, Keeping, Lengths, Nothing, Plan, Profiler,
    Random, Row, Starts,
};
use holloway_profilers::{BlockId, Graph};
use std::collections::BTreeMap;

fn rolling(rate: u64, seed: u64) -> Config {
    Config { rate, seed, encoding: Encoding::Rolling, ..Config::default() }
}

fn table(rows: &[Row]) -> BTreeMap<Vec<BlockId>, u64> {
    rows.iter().map(|row| (row.blocks.clone().expect("described"), row.count)).collect()
}

/// While everything fits, the sample is what slicing the stream by the plans yields.
#[test]
fn samples_are_slices_of_the_stream() {
    let mut random = Random::new(2);
    for seed in 0..60 {
        let stream = run(&graph(12, &mut random), 3_000, &mut random);
        let mut profiler = Profiler::new(rolling(2 + below(&mut random, 60), seed)).unwrap();
        let mut expected: BTreeMap<Vec<BlockId>, u64> = BTreeMap::new();
        let mut at = 0;
        // Each plan is known as soon as the one before it is carried out.
        let mut plan = profiler.plan();
        for (done, &block) in stream.iter().enumerate() {
            assert_eq!(profiler.total(), done as u64);
            profiler.enter_block(block);
            let end = at + plan.skip as usize + plan.length as usize;
            if done + 1 == end {
                let subpath = &stream[at + plan.skip as usize..end];
                *expected.entry(subpath.to_vec()).or_default() += 1;
                (at, plan) = (end, profiler.plan());
            }
        }
        assert_eq!(profiler.work().thinnings, 0);
        assert_eq!(table(&profiler.sample().rows), expected);
        assert_eq!(profiler.sample().samples(), profiler.work().taken);
    }
}

/// Calls for each block, a countdown by somebody else, and a countdown in lumps of one yield the same profile.
#[test]
fn the_ways_to_skip_agree() {
    let mut random = Random::new(6);
    for seed in 0..30 {
        let stream = run(&graph(30, &mut random), 20_000, &mut random);
        let config = Config { memory: 6_000, ..rolling(5, seed) };
        let mut called = Profiler::new(config.clone()).unwrap();
        stream.iter().for_each(|&block| called.enter_block(block));
        let mut counted = Profiler::new(config).unwrap();
        let (mut rest, mut plan) = (&stream[..], counted.plan());
        while let (skip, Some(subpath)) = (plan.skip as usize, slice(rest, plan)) {
            plan = counted.finish(plan.skip, subpath);
            rest = &rest[skip + subpath.len()..];
        }
        if rest.len() < plan.skip as usize {
            counted.remaining(plan.skip - rest.len() as u64);
            assert_eq!(called.total(), counted.total());
            assert_eq!(called.sample(), counted.sample());
        }
        assert!(called.work().thinnings > 0, "the list is so small that it overflows");
        assert_eq!(called.sample().rows, counted.sample().rows);
        assert_eq!(called.work(), counted.work());
    }
}

fn slice(rest: &[BlockId], plan: Plan) -> Option<&[BlockId]> {
    rest.get(plan.skip as usize..plan.skip as usize + plan.length as usize)
}

/// A subpath that was cut off is not counted, but its blocks are.
#[test]
fn cut_off_samples_are_abandoned() {
    let lengths = Lengths::weighted(&[(4, 1)]).unwrap();
    let mut profiler = Profiler::new(Config { lengths, ..rolling(2, 1) }).unwrap();
    profiler.finish(10, &[BlockId(1), BlockId(2)]);
    assert_eq!((profiler.total(), profiler.sample().samples(), profiler.work().abandoned), (12, 0, 1));
    profiler.enter_block(BlockId(1));
    profiler.enter_block(BlockId(2));
    profiler.abandon();
    assert_eq!((profiler.total(), profiler.work().abandoned), (14, 2));
    (0..5).for_each(|block| profiler.enter_block(BlockId(block)));
    assert_eq!((profiler.total(), profiler.sample().samples(), profiler.work().taken), (19, 1, 1));
}

/// The memory is what it is from the start, within the cap, whatever happens; and the cap is used.
#[test]
fn memory_never_exceeds_the_cap() {
    let mut random = Random::new(31);
    let graph = graph(300, &mut random);
    for (memory, max) in [(4 << 10, 5), (32 << 10, 5), (32 << 10, 10), (64 << 10, 10), (64 << 10, 13)] {
        let ageings = [Ageing::None, Ageing::Window { epoch: 7_000 }];
        let kinds =
            ageings.map(|ageing| [Keeping::Concise, Keeping::Counting].map(|keeping| (ageing, keeping)));
        for (ageing, keeping) in kinds.into_iter().flatten() {
            let lengths = Lengths::powers_of_two(max).unwrap();
            let config = Config { memory, lengths, ageing, keeping, ..rolling(2, 1) };
            check_memory(Profiler::new(config.clone()).unwrap(), &graph, memory, &mut random);
            check_memory(Profiler::with_coder(config.clone(), Nothing).unwrap(), &graph, memory, &mut random);
            let bits = BranchBits::new(&graph);
            check_memory(Profiler::with_coder(config, bits).unwrap(), &graph, memory, &mut random);
        }
    }
}

fn check_memory<C: Coder>(mut profiler: Profiler<C>, graph: &Graph, memory: usize, random: &mut Random) {
    let bytes = profiler.bytes();
    assert!(bytes <= memory && bytes * 100 > memory * 97, "{bytes} of {memory}");
    for &block in &run(graph, 20_000, random) {
        profiler.enter_block(block);
    }
    assert_eq!(profiler.bytes(), bytes);
    let (distinct, limit) = profiler.occupancy();
    assert!(distinct <= limit && profiler.work().taken > 0);
}

/// When a list that is full is thinned, the subpath for which there was no room is no better off than the others; and a
/// tenth of the list is free, but for that one.
#[test]
fn the_newcomer_takes_its_chance() {
    let (mut survived, mut expected, mut variance, mut events) = (0.0, 0.0, 0.0, 0);
    for seed in 0..60 {
        let lengths = Lengths::weighted(&[(2, 1)]).unwrap();
        let mut profiler = Profiler::new(Config { lengths, memory: 2_500, ..rolling(2, seed) }).unwrap();
        for block in 0..6_000 {
            let (rate, thinnings) = (profiler.rate(), profiler.work().thinnings);
            profiler.enter_block(BlockId(block));
            if profiler.work().thinnings == thinnings {
                continue;
            }
            let newest = Some(vec![BlockId(block - 1), BlockId(block)]);
            survived += f64::from(u8::from(profiler.sample().rows.iter().any(|row| row.blocks == newest)));
            let chance = (rate as f64 + 2.0) / (profiler.rate() as f64 + 2.0);
            expected += chance;
            variance += chance * (1.0 - chance);
            events += 1;
            let (distinct, limit) = profiler.occupancy();
            assert!((distinct - 1) * 10 <= limit * 9, "{distinct} of {limit}");
        }
    }
    assert!(events > 500, "{events}");
    assert!(
        (survived - expected).abs() < 4.0 * f64::sqrt(variance),
        "{survived} of {events}, {expected} expected"
    );
}

/// 32 KiB hold as many subpaths, with descriptions, as the paper's profiler had in 43 KB without them (JLex: 891).
#[test]
fn thirty_two_kilobytes_hold_what_the_paper_had_in_forty() {
    let lengths = Lengths::powers_of_two(5).unwrap();
    let config = Config { memory: 32 << 10, lengths, ..Config::default() };
    let ring = Graph::new(&[&[1], &[0]]);
    let (_, entries) = Profiler::with_coder(config.clone(), BranchBits::new(&ring)).unwrap().occupancy();
    assert!(entries > 891, "{entries}");
    let (_, entries) = Profiler::new(config).unwrap().occupancy();
    assert!(entries > 891, "{entries}");
}

/// A report in between leaves no trace.
#[test]
fn reports_do_not_disturb() {
    let mut random = Random::new(10);
    let stream = run(&graph(40, &mut random), 30_000, &mut random);
    for ageing in [Ageing::None, Ageing::Window { epoch: 5_000 }] {
        let config = Config { memory: 8_000, ageing, ..rolling(4, 3) };
        let mut watched = Profiler::new(config.clone()).unwrap();
        let mut alone = Profiler::new(config).unwrap();
        for (at, &block) in stream.iter().enumerate() {
            watched.enter_block(block);
            alone.enter_block(block);
            if at % 1_000 == 0 {
                let report = watched.sample().report(5, Estimator::PostStratified).unwrap();
                assert_eq!(report, watched.sample().report(5, Estimator::PostStratified).unwrap());
            }
        }
        assert_eq!(watched.sample(), alone.sample());
        assert_eq!((watched.plan(), watched.total()), (alone.plan(), alone.total()));
    }
}

/// |blocks / (f + E) / samples - 1| <= 3 / sqrt(samples) while f is constant.
#[test]
fn one_sample_for_each_skip_and_length() {
    let stream = two_bodies(300_000, &mut Random::new(1));
    for (rate, seed) in [(10, 1), (50, 2), (300, 3), (1000, 4)] {
        let mut profiler = Profiler::new(rolling(rate, seed)).unwrap();
        stream.iter().for_each(|&block| profiler.enter_block(block));
        assert_eq!(profiler.rate(), rate);
        let samples = profiler.work().taken as f64;
        let expected = stream.len() as f64 / (rate as f64 + Lengths::powers_of_two(5).unwrap().mean());
        assert!((expected / samples - 1.0).abs() <= 3.0 / samples.sqrt(), "{expected} {samples}");
    }
}

/// Weight 1 for one block and 0 for all others: only subpaths that begin there. And in proportion to the weights, the
/// estimates of all are those of an even sample.
#[test]
fn starts_can_be_biased() {
    let stream = two_bodies(400_000, &mut Random::new(5));
    let mut exact = holloway_profilers::osp::Exhaustive::new(5).unwrap();
    stream.iter().for_each(|&block| exact.enter_block(block));
    let weight = |block: BlockId| u32::from(block.0 == 1);
    let config = Config { starts: Starts::Weights, ..rolling(20, 4) };
    let mut profiler = Profiler::new(config.clone()).unwrap();
    stream.iter().for_each(|&block| profiler.enter_weighted(block, weight(block)));
    let report = profiler.sample().report_weighted(10, weight).unwrap();
    assert_eq!(report.paths.len(), 10);
    for path in &report.paths {
        let blocks = path.blocks.as_deref().unwrap();
        assert_eq!(blocks[0], BlockId(1));
        close(path.estimate, exact.count(blocks) as f64, path.count);
    }
    let weight = |block: BlockId| block.0;
    let mut profiler = Profiler::new(Config { rate: 200, ..config }).unwrap();
    stream.iter().for_each(|&block| profiler.enter_weighted(block, weight(block)));
    for path in &profiler.sample().report_weighted(10, weight).unwrap().paths {
        close(path.estimate, exact.count(path.blocks.as_deref().unwrap()) as f64, path.count);
    }
    assert!(profiler.sample().report(5, Estimator::Paper).is_err());
}

/// Ticks at regular times: the estimates need only the number of blocks, also after the list overflowed.
#[test]
fn a_timer_can_start_samples() {
    let mut random = Random::new(8);
    let stream = two_bodies(600_000, &mut random);
    let mut exact = holloway_profilers::osp::Exhaustive::new(5).unwrap();
    stream.iter().for_each(|&block| exact.enter_block(block));
    let config = Config { starts: Starts::Timer, memory: 4_000, ..rolling(2, 4) };
    let mut profiler = Profiler::new(config).unwrap();
    let mut at = 0;
    while at + 200 < stream.len() {
        let tick = 20 + below(&mut random, 60);
        profiler.passed(tick);
        at += tick as usize;
        if let Some(length) = profiler.wanted() {
            profiler.finish(0, &stream[at..at + length as usize]);
            at += length as usize;
        }
    }
    assert!(profiler.work().thinnings > 0);
    assert!(profiler.total() as usize <= stream.len());
    let report = profiler.sample().report(usize::MAX, Estimator::PostStratified).unwrap();
    for (blocks, count) in exact.top(5) {
        let path = report.paths.iter().find(|path| path.blocks.as_ref() == Some(&blocks)).unwrap();
        close(path.estimate, count as f64, path.count);
    }
    assert!(profiler.sample().report(5, Estimator::Paper).is_err());
}

/// Within five standard errors of a count.
fn close(estimate: f64, exact: f64, count: u64) {
    assert!(
        (estimate / exact - 1.0).abs() < 5.0 / (count as f64).sqrt(),
        "{estimate} for {exact}, of {count} samples"
    );
}
