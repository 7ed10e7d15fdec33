//! Counting n-grams one by one: what the forests must agree with.

use crate::ids::{PathNumber, VersionId};
use std::collections::BTreeMap;

/// How often each contiguous sequence of 1..=k path numbers occurs within one invocation. O(k) updates per item and a
/// copy of each sequence: for tests and small streams.
pub fn count_ngrams<'a>(
    k: usize,
    invocations: impl IntoIterator<Item = (VersionId, &'a [PathNumber])>,
) -> BTreeMap<(VersionId, Vec<PathNumber>), u64> {
    let mut counts = BTreeMap::new();
    for (version, paths) in invocations {
        for n in 1..=k {
            for gram in paths.windows(n) {
                *counts.entry((version, gram.to_vec())).or_default() += 1;
            }
        }
    }
    counts
}
