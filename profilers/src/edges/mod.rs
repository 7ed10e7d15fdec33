//! Edge profiles: for each branch of the source program how often it went which way.
//!
//! The papers' *taken* and *not taken* counters, with one counter for each arm so that a switch is a branch as well
//! (Bond & McKinley 2005, sec. 4.3). Every profiler that knows about edges makes the same value: the interpreter's
//! counters, direct counters in compiled code, PEP, an expanded path profile. A consumer need not know which.
//!
//! What a compiler is given is a choice among them (sec. 6.5 of the paper): *one-time* is the profile of the baseline
//! tier as it was at the first compilation, *continuous* goes on being updated by PEP, *perfect* comes from an
//! instrumented run, and [`EdgeProfile::flipped`] is the worst case, each branch's arms exchanged.
//!
//! [`EdgeProfile`] is the value: ordered, comparable, written to files. [`EdgeCounters`] is the same in the making: an
//! array of counters, an addition each. [`SparseCounters`] says which edges of a method need counters at all.

mod sparse;

pub use sparse::{Place, SparseCounters};

use crate::ids::{Arm, BranchArm, BranchId, MethodId};
use crate::stream::hash::Map;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often each branch went which way. A branch has at least two arms.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Row>", into = "Vec<Row>")]
pub struct EdgeProfile {
    branches: BTreeMap<BranchId, Vec<u64>>,
}

impl EdgeProfile {
    /// Says how many arms a branch has, even if none was taken. Without this it has as many as were seen to be taken,
    /// and at least two.
    pub fn declare(&mut self, branch: BranchId, arms: usize) {
        self.widen(branch, arms);
    }

    /// The branch went this way `count` more times.
    pub fn add(&mut self, outcome: BranchArm, count: u64) {
        let arm = outcome.arm.index();
        self.widen(outcome.branch, arm + 1)[arm] += count;
    }

    /// How often the branch went this way.
    #[must_use]
    pub fn count(&self, outcome: BranchArm) -> u64 {
        self.arms(outcome.branch).get(outcome.arm.index()).copied().unwrap_or(0)
    }

    /// How often the branch went each way; empty if it is not known.
    #[must_use]
    pub fn arms(&self, branch: BranchId) -> &[u64] {
        self.branches.get(&branch).map_or(&[], Vec::as_slice)
    }

    /// How often the branch was executed.
    #[must_use]
    pub fn executions(&self, branch: BranchId) -> u64 {
        self.arms(branch).iter().sum()
    }

    /// Which share of its executions went this way, 0..=1; nothing if it was never executed. The bias of a two-way
    /// branch is that of arm 0.
    #[must_use]
    pub fn share(&self, outcome: BranchArm) -> Option<f64> {
        let executions = self.executions(outcome.branch);
        (executions > 0).then(|| self.count(outcome) as f64 / executions as f64)
    }

    /// All branches with the counts of their arms, in order.
    pub fn iter(&self) -> impl Iterator<Item = (BranchId, &[u64])> {
        self.branches.iter().map(|(&branch, arms)| (branch, arms.as_slice()))
    }

    /// How often branches were executed, all together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.branches.values().flatten().sum()
    }

    /// Adds another profile.
    pub fn merge(&mut self, other: &Self) {
        for (branch, arms) in other.iter() {
            let own = self.widen(branch, arms.len());
            own.iter_mut().zip(arms).for_each(|(own, count)| *own += count);
        }
    }

    /// Forgets other branches.
    pub fn retain(&mut self, is_kept: impl Fn(BranchId) -> bool) {
        self.branches.retain(|&branch, _| is_kept(branch));
    }

    /// The profile with each branch's arms in reverse: a bias p becomes 1 - p, the first case of a switch becomes its
    /// last. Flipped twice it is itself.
    #[must_use]
    pub fn flipped(&self) -> Self {
        let mut flipped = self.clone();
        flipped.branches.values_mut().for_each(|arms| arms.reverse());
        flipped
    }

    /// The arms of a branch, at least so many and at least two.
    fn widen(&mut self, branch: BranchId, arms: usize) -> &mut Vec<u64> {
        let counts = self.branches.entry(branch).or_default();
        counts.resize(counts.len().max(arms).max(2), 0);
        counts
    }
}

/// A branch in a file.
#[derive(Clone, Serialize, Deserialize)]
struct Row {
    method: MethodId,
    position: u32,
    arms: Vec<u64>,
}

impl From<EdgeProfile> for Vec<Row> {
    fn from(profile: EdgeProfile) -> Self {
        let row = |(branch, arms): (BranchId, Vec<u64>)| Row {
            method: branch.method,
            position: branch.position,
            arms,
        };
        profile.branches.into_iter().map(row).collect()
    }
}

impl From<Vec<Row>> for EdgeProfile {
    fn from(rows: Vec<Row>) -> Self {
        let mut profile = Self::default();
        for Row { method, position, arms } in rows {
            let branch = BranchId { method, position };
            profile.declare(branch, arms.len());
            for (arm, count) in arms.into_iter().enumerate() {
                profile.add(BranchArm { branch, arm: Arm::new(arm) }, count);
            }
        }
        profile
    }
}

/// An edge profile in the making: every outcome of a branch has a counter with a number.
#[derive(Debug, Clone, Default)]
pub struct EdgeCounters {
    by_name: Map<BranchArm, u32>,
    names: Vec<BranchArm>,
    counts: Vec<u64>,
}

impl EdgeCounters {
    /// The number of an outcome's counter, which is new if there was none. O(1), a hash operation.
    pub fn counter(&mut self, outcome: BranchArm) -> u32 {
        let Self { by_name, names, counts } = self;
        *by_name.entry(outcome).or_insert_with(|| {
            names.push(outcome);
            counts.push(0);
            names.len() as u32 - 1
        })
    }

    /// Adds to the counter with this number.
    ///
    /// # Panics
    ///
    /// If [`Self::counter`] has not given out this number.
    #[inline]
    pub fn increment(&mut self, counter: u32, count: u64) {
        self.counts[counter as usize] += count;
    }

    /// Which outcome the counter with this number counts.
    ///
    /// # Panics
    ///
    /// If [`Self::counter`] has not given out this number.
    #[must_use]
    pub fn name(&self, counter: u32) -> BranchArm {
        self.names[counter as usize]
    }

    /// Adds another thread's counters.
    pub fn merge(&mut self, other: &Self) {
        for (&name, &count) in other.names.iter().zip(&other.counts) {
            let counter = self.counter(name);
            self.increment(counter, count);
        }
    }

    /// The counts as a profile.
    #[must_use]
    pub fn profile(&self) -> EdgeProfile {
        let mut profile = EdgeProfile::default();
        for (&name, &count) in self.names.iter().zip(&self.counts) {
            profile.add(name, count);
        }
        profile
    }
}

impl From<&EdgeProfile> for EdgeCounters {
    fn from(profile: &EdgeProfile) -> Self {
        let mut counters = Self::default();
        for (branch, arms) in profile.iter() {
            for (arm, &count) in arms.iter().enumerate() {
                let counter = counters.counter(BranchArm { branch, arm: Arm::new(arm) });
                counters.increment(counter, count);
            }
        }
        counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form in files, with a branch of which one arm was never taken and one that was never executed.
    #[test]
    fn written_and_read() {
        let branch = |position| BranchId { method: MethodId(3), position };
        let mut profile = EdgeProfile::default();
        profile.add(BranchArm { branch: branch(8), arm: Arm(0) }, 90);
        profile.add(BranchArm { branch: branch(2), arm: Arm(4) }, 1);
        profile.declare(branch(5), 3);
        let rows = Vec::<Row>::from(profile.clone());
        let written: Vec<_> = rows.iter().map(|row| (row.method.0, row.position, row.arms.clone())).collect();
        assert_eq!(written, [(3, 2, vec![0, 0, 0, 0, 1]), (3, 5, vec![0; 3]), (3, 8, vec![90, 0])]);
        assert_eq!(EdgeProfile::from(rows), profile);
    }
}
