//! The watcher: code follows the program's phases.
//!
//! Compiled code remembers the branches that it was made for, and how often they went which way ([`Bias`]). PEP samples
//! paths all the time; every few ticks the watcher takes what was sampled since the last time, a window. Where the
//! branches of a piece of code went other ways in two windows one after the other, its profile is out of date: it is made
//! again, for the branches as they are now (Bond and McKinley 2005, section 6.5: continuous profiles, with what they leave
//! open, when to use them).
//!
//! A program may change faster than code can follow. So a piece of code that did not stay for long makes the next one stay
//! for longer.

use crate::compiled::{Entry, Level};
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;
use holloway_profilers::BranchId;
use holloway_profilers::edges::EdgeProfile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ticks in a window. With the usual 20 ms and 64 samples a tick: 80 ms, 256 paths.
const WINDOW: u32 = 4;
/// A branch counts for what it does in a window from so many executions on.
pub(crate) const FEWEST_EXECUTIONS: u64 = 16;
/// Code whose branches were seen less often in a window is not judged: so little time is not worth compiling for.
const FEWEST_IN_CODE: u64 = 48;
/// A branch with a smaller share of the executions in its code says nothing about it.
const LEAST_SHARE: f64 = 0.02;
/// From this drift on code is out of date.
const DRIFT: f64 = 0.4;
/// The most windows that code has to stay.
const LONGEST_STAY: u64 = 256;

/// A branch that code was made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bias {
    /// The branch.
    pub branch: BranchId,
    /// How often each arm had been taken, in the order of the profiles.
    pub arms: Vec<u32>,
}

impl Bias {
    /// How much of the executions in a window went another way than was expected: 0 to 1, and a half where nothing was.
    fn distance(&self, window: &[u64], all: u64) -> f64 {
        let expected: u64 = self.arms.iter().map(|&count| u64::from(count)).sum();
        if expected == 0 {
            return 0.5;
        }
        let share = |arm: usize| f64::from(self.arms.get(arm).copied().unwrap_or(0)) / expected as f64;
        let arms = window.len().max(self.arms.len());
        let now = |arm: usize| window.get(arm).copied().unwrap_or(0) as f64 / all as f64;
        (0..arms).map(|arm| (now(arm) - share(arm)).abs()).sum::<f64>() / 2.0
    }
}

/// How far what branches do in a window is from what code was made for, 0 to 1: that of the branch for which it is most, for one
/// that decides where control goes is often among many that only turn loops. Nothing if too little was seen of them.
pub fn drift(biases: &[Bias], window: &EdgeProfile) -> Option<f64> {
    let seen = |bias: &Bias| window.executions(bias.branch);
    let executions: u64 = biases.iter().map(seen).sum();
    let fewest = FEWEST_EXECUTIONS.max((LEAST_SHARE * executions as f64) as u64);
    let known = biases.iter().map(|bias| (bias, seen(bias))).filter(|&(_, all)| all >= fewest);
    let distances = known.map(|(bias, all)| bias.distance(window.arms(bias.branch), all));
    (executions >= FEWEST_IN_CODE).then(|| distances.fold(0.0, f64::max))
}

/// How long code of one entry has to stay.
#[derive(Clone, Copy, Debug)]
struct Stay {
    /// The window in which it was asked for.
    since: u64,
    /// How many windows it has to stay from then on.
    windows: u64,
}

/// What is known of the recent past.
#[derive(Default)]
pub(crate) struct Watcher {
    ticks: u32,
    /// Windows so far.
    windows: u64,
    /// All samples up to the beginning of this window.
    before: EdgeProfile,
    /// The last window and the one before.
    last: Arc<EdgeProfile>,
    earlier: Arc<EdgeProfile>,
    stays: BTreeMap<(FunctionId, Entry), Stay>,
}

impl Watcher {
    /// The last window.
    pub fn recent(&self) -> Arc<EdgeProfile> {
        self.last.clone()
    }

    /// A tick; these are all samples so far, if a window ends with it.
    fn tick(&mut self, sampled: impl FnOnce() -> Option<EdgeProfile>) -> bool {
        self.ticks += 1;
        if self.ticks < WINDOW {
            return false;
        }
        self.ticks = 0;
        let Some(sampled) = sampled() else { return false };
        self.windows += 1;
        self.earlier = std::mem::replace(&mut self.last, Arc::new(sampled.since(&self.before)));
        self.before = sampled;
        true
    }

    /// How far code is from the last two windows, if it is out of date in both and has stayed for long enough.
    fn is_out_of_date(&self, function: FunctionId, entry: Entry, biases: &[Bias]) -> Option<f64> {
        if self.stays.get(&(function, entry)).is_some_and(|stay| self.windows < stay.since + stay.windows) {
            return None;
        }
        let drifts = [drift(biases, &self.last)?, drift(biases, &self.earlier)?];
        drifts.iter().all(|&drift| drift >= DRIFT).then_some(drifts[0])
    }

    /// Code is made again. If the last one stayed not much longer than it had to, this one has to stay twice as long;
    /// otherwise half as long.
    fn made_again(&mut self, function: FunctionId, entry: Entry) {
        let now = self.windows;
        let stay = self.stays.entry((function, entry)).or_insert(Stay { since: 0, windows: 1 });
        let stayed = now - stay.since;
        stay.windows = match stayed < 4 * stay.windows {
            true => (2 * stay.windows).min(LONGEST_STAY),
            false => (stay.windows / 2).max(1),
        };
        stay.since = now;
    }
}

/// Code that is to be made again, and how far it is from the present.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct OutOfDate {
    pub function: FunctionId,
    pub entry: Entry,
    pub level: Level,
    pub drift: f64,
}

/// The timer ticked. Gives what is to be made again.
pub(crate) fn tick(vm: &mut Machinery) -> Vec<OutOfDate> {
    let Some(mut watcher) = vm.compiled.watcher.take() else { return Vec::new() };
    let mut found = Vec::new();
    if watcher.tick(|| vm.profiling.sampled_edges()) {
        for object in vm.compiled.map().iter().filter(|object| object.is_current()) {
            let (function, entry) = (object.function, object.entry);
            if let Some(drift) = watcher.is_out_of_date(function, entry, &object.tables.biases) {
                found.push(OutOfDate { function, entry, level: object.level, drift });
            }
        }
        vm.compiled.statistics.adaptive.windows += 1;
        found.iter().for_each(|code| watcher.made_again(code.function, code.entry));
    }
    vm.compiled.watcher = Some(watcher);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_profilers::{Arm, BranchArm, MethodId};

    fn branch(position: u32) -> BranchId {
        BranchId { method: MethodId(0), position }
    }

    fn profile(counts: &[(u32, u64, u64)]) -> EdgeProfile {
        let mut profile = EdgeProfile::default();
        for &(position, taken, not_taken) in counts {
            profile.add(BranchArm { branch: branch(position), arm: Arm(0) }, taken);
            profile.add(BranchArm { branch: branch(position), arm: Arm(1) }, not_taken);
        }
        profile
    }

    #[test]
    fn drift_is_the_largest_distance_of_shares() {
        let biases = [
            Bias { branch: branch(1), arms: vec![9, 1] },
            Bias { branch: branch(2), arms: vec![50, 50] },
            Bias { branch: branch(3), arms: vec![0, 0] },
        ];
        assert_eq!(drift(&biases, &profile(&[(1, 7, 0), (9, 1000, 0)])), None, "too little of its branches");
        let same = drift(&biases, &profile(&[(1, 90, 10), (2, 50, 50)])).expect("enough");
        assert!(same < 1e-6, "{same}");
        let flipped = drift(&biases, &profile(&[(1, 10, 90), (2, 50, 50)])).expect("enough");
        assert!((flipped - 0.8).abs() < 1e-6, "{flipped}");
        let rare = drift(&biases, &profile(&[(1, 2, 18), (2, 1000, 1000)])).expect("enough");
        assert!(rare < 1e-6, "{rare}");
        let new = drift(&biases, &profile(&[(3, 0, 100)])).expect("enough");
        assert!((new - 0.5).abs() < 1e-6, "{new}");
    }

    /// Samples so far: windows in which a branch goes one way and the other, in turns of so many windows.
    fn phases(windows: u64, each: u64) -> impl Iterator<Item = EdgeProfile> {
        (1..=windows).map(move |window| {
            let count = |phase: u64| 100 * (0..window).filter(|at| at / each % 2 == phase).count() as u64;
            profile(&[(1, count(0), count(1))])
        })
    }

    /// How often code is made again that is always made for the last window.
    fn times(windows: u64, each: u64) -> usize {
        let mut watcher = Watcher::default();
        let mut arms = vec![100, 0];
        let mut times = 0;
        for sampled in phases(windows, each) {
            let mut ends = false;
            for _ in 0..WINDOW {
                ends |= watcher.tick(|| Some(sampled.clone()));
            }
            assert!(ends);
            let biases = [Bias { branch: branch(1), arms: arms.clone() }];
            if watcher.is_out_of_date(FunctionId(0), Entry::Method, &biases).is_some() {
                watcher.made_again(FunctionId(0), Entry::Method);
                arms = watcher.recent().arms(branch(1)).iter().map(|&count| count as u32).collect();
                times += 1;
            }
        }
        times
    }

    #[test]
    fn each_long_phase_gets_its_code() {
        assert_eq!(times(200, 20), 9, "once for each change");
        assert_eq!(times(200, 200), 0, "nothing changes");
    }

    #[test]
    fn what_changes_faster_than_code_can_follow_is_left_alone_more_and_more() {
        assert_eq!(times(1000, 1), 0, "windows that alternate are not two in a row");
        let few = times(1000, 2);
        assert!((1..20).contains(&few), "{few}");
    }
}
