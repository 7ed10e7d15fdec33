//! Rankings, and single estimates against what they estimate.
//!
//! Oren, Matias & Sagiv 2002 print the sampled rank of the truly hottest subpaths (their table 6) and relative errors
//! (table 5). As numbers: the recall of the top k, Spearman's footrule (the sum of the distances in rank; Diaconis &
//! Graham 1977), and how many standard deviations a count is off if samples come independently.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The names by decreasing count, and in their own order where counts are equal.
pub fn ranking<K: Ord + Clone>(counts: &BTreeMap<K, u64>) -> Vec<K> {
    let mut ranked: Vec<(&K, u64)> = counts.iter().map(|(name, &count)| (name, count)).collect();
    ranked.sort_by_key(|&(_, count)| Reverse(count));
    ranked.into_iter().map(|(name, _)| name.clone()).collect()
}

/// Which share of the first `k` of the truth is among the first `k` of the sample, 0..=1. If the truth is shorter than
/// `k`, of what it has; nothing if it is empty or `k` is 0.
pub fn recall<K: Ord>(truth: &[K], sample: &[K], k: usize) -> Option<f64> {
    let (truth, sample) = (&truth[..k.min(truth.len())], &sample[..k.min(sample.len())]);
    let found = truth.iter().filter(|name| sample.contains(name)).count();
    (!truth.is_empty()).then(|| found as f64 / truth.len() as f64)
}

/// The sum over the truth of the distances between true and sampled rank, in ranks. What is not in the sample has the
/// rank after its last. O(n log n).
pub fn footrule<K: Ord>(truth: &[K], sample: &[K]) -> u64 {
    let mut ranks: BTreeMap<&K, usize> = BTreeMap::new();
    for (rank, name) in sample.iter().enumerate() {
        ranks.entry(name).or_insert(rank);
    }
    let distance = |(rank, name): (usize, &K)| {
        let sampled = ranks.get(name).copied().unwrap_or(sample.len());
        rank.abs_diff(sampled) as u64
    };
    truth.iter().enumerate().map(distance).sum()
}

/// |estimate - exact| / exact; nothing if the exact value is 0.
#[must_use]
pub fn relative_error(estimate: f64, exact: f64) -> Option<f64> {
    (exact != 0.0).then(|| (estimate - exact).abs() / exact.abs())
}

/// How many standard deviations a count is above its expectation, if samples come independently: (count - expected) /
/// square root of expected. Nothing unless something is expected.
#[must_use]
pub fn z_score(count: u64, expected: f64) -> Option<f64> {
    (expected > 0.0).then(|| (count as f64 - expected) / expected.sqrt())
}
