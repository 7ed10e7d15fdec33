//! What an encoding takes for the same, weighed by how often it was executed.
//!
//! The paper (section 3, "Encoding") ran its profiler with a second encoding to see that the exclusive-or did no harm.
//! Here all encodings are held against the exhaustive counts: subpaths with the same length and word form a class; of a
//! class with more than one subpath, the flow is *merged*; if they are not all rotations of one another, it is merged
//! *falsely*.

use super::encoding::{Encoder, least_rotation};
use super::exhaustive::Exhaustive;
use crate::BlockId;

/// How an encoding divides the subpaths of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Census {
    /// Distinct subpaths.
    pub subpaths: u64,
    /// Distinct identities.
    pub classes: u64,
    /// Executions of all subpaths.
    pub flow: u64,
    /// Classes with more than one subpath.
    pub merged_classes: u64,
    /// Executions of their subpaths.
    pub merged_flow: u64,
    /// Classes with subpaths that are not rotations of each other.
    pub false_classes: u64,
    /// Executions of their subpaths.
    pub false_flow: u64,
}

/// Takes the census of an encoding over all subpaths that were counted. O(total length of the distinct subpaths) steps,
/// and three words a distinct subpath.
#[must_use]
pub fn census(counts: &Exhaustive, encoder: Encoder) -> Census {
    // The rotation class by a hash of its own seed, not by the encoder under test.
    let judge = Encoder::new(super::Encoding::Rolling, 0x5eed);
    let mut rows: Vec<(usize, u64, u64, u64)> = Vec::with_capacity(counts.distinct());
    let mut turned: Vec<BlockId> = Vec::new();
    counts.for_each(|blocks, count| {
        turned.clear();
        let start = least_rotation(blocks);
        turned.extend_from_slice(&blocks[start..]);
        turned.extend_from_slice(&blocks[..start]);
        rows.push((blocks.len(), encoder.encode(blocks), judge.encode(&turned), count));
    });
    rows.sort_unstable();
    let mut census = Census::default();
    for class in rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let flow: u64 = class.iter().map(|row| row.3).sum();
        census.subpaths += class.len() as u64;
        census.classes += 1;
        census.flow += flow;
        if class.len() > 1 {
            census.merged_classes += 1;
            census.merged_flow += flow;
        }
        if class.iter().any(|row| row.2 != class[0].2) {
            census.false_classes += 1;
            census.false_flow += flow;
        }
    }
    census
}
