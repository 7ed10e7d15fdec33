//! Samples of subpaths of several runs, added up.
//!
//! Blocks have the same number in every run of a program. An estimate of executions adds up with those of the other runs whatever the
//! rates were; errors are independent, so that the squares of what intervals reach to either side add up. What a run did not
//! sample, or dropped, it estimates as not executed, which is right on average.

use holloway_vm::profiling::file::{
    BlockRecord, EstimateRecord, ProfileFile, SubpathRecords, SubpathSampleRecord,
};
use std::collections::BTreeMap;

/// Adds the samples of all files into the sum, which is that of the first so far.
pub fn add(sum: &mut ProfileFile, files: &[&ProfileFile]) {
    let all: Vec<(&SubpathRecords, &SubpathSampleRecord)> = files
        .iter()
        .filter_map(|file| file.subpaths.as_ref().and_then(|of| Some((of, of.sampled.as_ref()?))))
        .collect();
    let Some(SubpathRecords { blocks, sampled: Some(sampled), .. }) = &mut sum.subpaths else { return };
    let numbers: BTreeMap<u32, BlockRecord> =
        all.iter().flat_map(|(of, _)| &of.blocks).map(|block| (block.number, *block)).collect();
    let positions: BTreeMap<u32, u32> = numbers.keys().copied().zip(0..).collect();
    *blocks = numbers.into_values().collect();
    let mut paths: BTreeMap<(u32, u64), EstimateRecord> = BTreeMap::new();
    for (of, sample) in &all {
        let renumbered = |blocks: &Vec<u32>| -> Vec<u32> {
            blocks.iter().map(|&at| positions[&of.blocks[at as usize].number]).collect()
        };
        for path in &sample.paths {
            let path = EstimateRecord { blocks: path.blocks.as_ref().map(renumbered), ..path.clone() };
            match paths.get_mut(&(path.length, path.id)) {
                Some(known) => both(known, path),
                None => drop(paths.insert((path.length, path.id), path)),
            }
        }
    }
    sampled.paths = paths.into_values().collect();
    sampled.paths.sort_by(|a, b| b.estimate.total_cmp(&a.estimate));
    for (_, other) in &all[1..] {
        numbers_of(sampled, other);
    }
}

/// Adds what another run says of the same subpath.
fn both(sum: &mut EstimateRecord, other: EstimateRecord) {
    let estimate = sum.estimate + other.estimate;
    let below = (sum.estimate - sum.low).hypot(other.estimate - other.low);
    let above = (sum.high - sum.estimate).hypot(other.high - other.estimate);
    *sum = EstimateRecord {
        length: sum.length,
        id: sum.id,
        count: sum.count.saturating_add(other.count),
        estimate,
        low: (estimate - below).max(0.0),
        high: estimate + above,
        surely: sum.surely + other.surely,
        blocks: sum.blocks.take().or(other.blocks),
    };
}

fn numbers_of(sum: &mut SubpathSampleRecord, other: &SubpathSampleRecord) {
    sum.rate = sum.rate.max(other.rate);
    sum.threshold = sum.threshold.max(other.threshold);
    super::add(&mut sum.blocks, other.blocks);
    super::add(&mut sum.taken, other.taken);
    super::add(&mut sum.abandoned, other.abandoned);
    super::add(&mut sum.thinnings, other.thinnings);
    sum.bytes = sum.bytes.max(other.bytes);
    super::add(&mut sum.threads, other.threads);
    for (mine, theirs) in sum.lengths.iter_mut().zip(&other.lengths) {
        super::add(&mut mine.samples, theirs.samples);
        mine.windows += theirs.windows;
    }
}
