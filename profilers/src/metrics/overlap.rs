//! How much two profiles have in common.
//!
//! *Overlap* of two weightings is the sum over everything of the smaller of its two shares: 1 if they are proportional,
//! 0 if they have nothing in common. Arnold & Grove 2005 use it for call graphs (in percent), Bond & McKinley 2005 for
//! edges (*absolute*). Since clients of an edge profile ask for the bias of a branch rather than for its frequency, the
//! latter also have *relative* overlap: each branch scores 1 - |bias - estimated bias|, weighted by how often it was
//! executed; a switch scores 1 - (sum over its arms of |p - q|) / 2, which for two arms is the same.
//!
//! The papers do not say what a branch scores that the estimate has not seen. [`Unsampled`] has our answers, and the
//! result says how much that concerns.

use crate::edges::EdgeProfile;
use crate::ids::{Arm, BranchArm};
use std::collections::BTreeMap;

/// What a branch is taken to do that the estimate knows nothing of.
#[derive(Debug, Clone, Copy)]
pub enum Unsampled<'a> {
    /// Each arm alike: bias 0.5 if there are two.
    Even,
    /// What another profile says, such as the one-time profile of the baseline tier; if it knows nothing, each arm
    /// alike.
    AsIn(&'a EdgeProfile),
}

/// Relative overlap, and how much of it is not guessed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelativeOverlap {
    /// 0..=1.
    pub overlap: f64,
    /// Which share of the actual executions is of branches that the estimate has seen, 0..=1.
    pub coverage: f64,
}

/// How well the biases of an estimate match the actual ones; nothing if no branch was executed.
#[must_use]
pub fn relative_overlap(
    actual: &EdgeProfile,
    estimate: &EdgeProfile,
    unsampled: Unsampled<'_>,
) -> Option<RelativeOverlap> {
    let (mut score, mut executions, mut covered) = (0.0, 0u64, 0u64);
    for (branch, arms) in actual.iter() {
        let here: u64 = arms.iter().sum();
        if here == 0 {
            continue;
        }
        let sampled = estimate.executions(branch) > 0;
        let guess = match unsampled {
            _ if sampled => Some(estimate),
            Unsampled::AsIn(other) if other.executions(branch) > 0 => Some(other),
            Unsampled::AsIn(_) | Unsampled::Even => None,
        };
        let guessed = guess.map(|profile| (profile.arms(branch), profile.executions(branch)));
        // An arm that one side has never seen counts as well.
        let ways = arms.len().max(guessed.map_or(0, |(arms, _)| arms.len()));
        let even = 1.0 / ways as f64;
        let mut difference = 0.0;
        for arm in 0..ways {
            let share = |arms: &[u64], all: u64| arms.get(arm).copied().unwrap_or(0) as f64 / all as f64;
            // Whoever guesses has seen the branch.
            let estimated = guessed.map_or(even, |(arms, all)| share(arms, all));
            difference += (share(arms, here) - estimated).abs();
        }
        score += here as f64 * (1.0 - difference / 2.0);
        executions += here;
        covered += if sampled { here } else { 0 };
    }
    let of_all = |part: f64| part / executions as f64;
    (executions > 0).then(|| RelativeOverlap { overlap: of_all(score), coverage: of_all(covered as f64) })
}

/// The overlap of the frequencies of all outcomes of branches, 0..=1; nothing if either profile is empty.
#[must_use]
pub fn absolute_overlap(actual: &EdgeProfile, estimate: &EdgeProfile) -> Option<f64> {
    let outcomes = |profile: &EdgeProfile| -> BTreeMap<BranchArm, u64> {
        let arms = |(branch, arms): (_, &[u64])| {
            arms.iter()
                .enumerate()
                .map(|(arm, &count)| (BranchArm { branch, arm: Arm::new(arm) }, count))
                .collect::<Vec<_>>()
        };
        profile.iter().flat_map(arms).collect()
    };
    overlap(&outcomes(actual), &outcomes(estimate))
}

/// The overlap of two weightings of anything, 0..=1; nothing if either has no weight. The overlap of two call graphs is
/// that of their edges' weights; the papers print it in percent.
#[must_use]
pub fn overlap<K: Ord>(one: &BTreeMap<K, u64>, other: &BTreeMap<K, u64>) -> Option<f64> {
    let total = |weights: &BTreeMap<K, u64>| weights.values().map(|&weight| u128::from(weight)).sum::<u128>();
    let (total_one, total_other) = (total(one), total(other));
    if total_one == 0 || total_other == 0 {
        return None;
    }
    // Each share over the common denominator total_one * total_other; exact below 2^64 executions.
    let common = one.iter().filter_map(|(name, &weight)| {
        let of_other = u128::from(*other.get(name)?) * total_one;
        Some(of_other.min(u128::from(weight) * total_other))
    });
    Some(common.sum::<u128>() as f64 / (total_one * total_other) as f64)
}
