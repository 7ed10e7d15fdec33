//! The exhaustive counts are exact, those of threads add up, and the census of the encodings is right.

use crate::streams::{below, graph, ids, run};
use holloway_profilers::BlockId;
use holloway_profilers::osp::{Encoder, Encoding, Exhaustive, Random, census, least_rotation, subpaths_of};
use std::collections::{BTreeMap, BTreeSet};

type Counts = BTreeMap<Vec<BlockId>, u64>;

/// The subpaths with the same length and word, with their counts.
type Class = Vec<(Vec<BlockId>, u64)>;

/// Every window of every length, sliced and counted.
fn naive(stream: &[BlockId], max: u32, counts: &mut Counts) {
    for n in 1..=max {
        for window in stream.windows(1 << n) {
            *counts.entry(window.to_vec()).or_default() += 1;
        }
    }
}

fn counted(stream: &[BlockId], max: u32) -> Exhaustive {
    let mut counts = Exhaustive::new(max).unwrap();
    stream.iter().for_each(|&block| counts.enter_block(block));
    counts
}

fn all(counts: &Exhaustive) -> Counts {
    let mut all = Counts::new();
    counts
        .for_each(|blocks, count| assert!(all.insert(blocks.to_vec(), count).is_none(), "{blocks:?} twice"));
    all
}

#[test]
fn names_of_pairs_count_like_slices() {
    let mut random = Random::new(12);
    for _ in 0..150 {
        let graph = graph(2 + below(&mut random, 20) as u32, &mut random);
        let max = 1 + below(&mut random, 6) as u32;
        let mut expected = Counts::new();
        let mut merged = Exhaustive::new(max).unwrap();
        let mut subpaths = 0;
        let mut threads = vec![0];
        for thread in 0..3 {
            let stream = run(&graph, below(&mut random, 300) as usize, &mut random);
            naive(&stream, max, &mut expected);
            subpaths += subpaths_of(stream.len() as u64, max);
            threads.push(stream.len() as u64);
            let counts = counted(&stream, max);
            if thread == 0 {
                assert_eq!(all(&counts), expected);
            }
            merged.merge(&counts);
        }
        assert_eq!(all(&merged), expected);
        assert_eq!((merged.subpaths(), merged.distinct()), (subpaths, expected.len()));
        assert_eq!((merged.threads(), merged.blocks()), (threads.clone(), threads.iter().sum()));
        let mut lengths: BTreeMap<u32, u64> = BTreeMap::new();
        expected.iter().for_each(|(blocks, count)| *lengths.entry(blocks.len() as u32).or_default() += count);
        assert_eq!(merged.lengths(), lengths.into_iter().collect::<Vec<_>>());
        for (blocks, &count) in expected.iter().take(50) {
            assert_eq!(merged.count(blocks), count);
        }
        let mut ranked: Vec<u64> = expected.into_values().collect();
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        let top: Vec<u64> = merged.top(10).into_iter().map(|row| row.1).collect();
        assert_eq!(top, ranked[..ranked.len().min(10)]);
    }
}

#[test]
fn what_did_not_occur_counts_zero() {
    let counts = counted(&ids(&[1, 2, 3, 4, 1, 2]), 2);
    assert_eq!(counts.count(&ids(&[1, 2])), 2);
    assert_eq!(counts.count(&ids(&[2, 1])), 0);
    assert_eq!(counts.count(&ids(&[1, 2, 3])), 0);
    assert_eq!(counts.count(&ids(&[1])), 0);
    assert_eq!(counts.count(&[]), 0);
    assert_eq!(counts.count(&ids(&[1, 2, 3, 4, 1, 2, 3, 4])), 0);
}

/// The classes of each encoding, by sets, and no class of the rotations that is not one.
#[test]
fn the_census_agrees_with_its_twin() {
    let mut random = Random::new(77);
    for _ in 0..40 {
        let graph = graph(2 + below(&mut random, 12) as u32, &mut random);
        let counts = counted(&run(&graph, 400, &mut random), 4);
        for encoding in Encoding::ALL {
            let encoder = Encoder::new(encoding, 3);
            let mut classes: BTreeMap<(usize, u64), Class> = BTreeMap::new();
            for (blocks, count) in all(&counts) {
                classes.entry((blocks.len(), encoder.encode(&blocks))).or_default().push((blocks, count));
            }
            let canonical = |blocks: &[BlockId]| {
                let (end, start) = blocks.split_at(least_rotation(blocks));
                [start, end].concat()
            };
            let (mut merged, mut falsely) = (0, 0);
            for class in classes.values() {
                let flow: u64 = class.iter().map(|row| row.1).sum();
                let turns: BTreeSet<_> = class.iter().map(|row| canonical(&row.0)).collect();
                merged += if class.len() > 1 { flow } else { 0 };
                falsely += if turns.len() > 1 { flow } else { 0 };
            }
            let census = census(&counts, encoder);
            assert_eq!(census.classes, classes.len() as u64);
            assert_eq!((census.subpaths, census.flow), (counts.distinct() as u64, counts.subpaths()));
            assert_eq!((census.merged_flow, census.false_flow), (merged, falsely), "{encoding}");
            match encoding {
                Encoding::Rolling => assert_eq!((census.merged_flow, census.false_flow), (0, 0)),
                Encoding::Rotation => assert_eq!(census.false_flow, 0),
                Encoding::Xor | Encoding::RandomXor => {}
            }
        }
    }
}

/// Two loops that alternate: all even powers of their bodies fall together under the exclusive-or.
#[test]
fn the_exclusive_or_merges_loops() {
    let stream: Vec<BlockId> =
        (0..100).flat_map(|round| ids(if round % 20 < 10 { &[1, 2] } else { &[5, 6] })).collect();
    let counts = counted(&stream, 3);
    let of = |encoding| census(&counts, Encoder::new(encoding, 1));
    assert!(of(Encoding::Xor).false_flow * 2 > counts.subpaths());
    assert_eq!(of(Encoding::Rotation).false_flow, 0);
    assert!(of(Encoding::Rotation).merged_flow > 0);
}
