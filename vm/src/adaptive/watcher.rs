//! The watcher: code follows the program's phases.
//!
//! Compiled code remembers the branches that it was made for, and how often they went which way ([`Bias`]), and which methods
//! its calls through tables reached ([`SiteBias`]). PEP samples paths, all the time or in looks now and then
//! ([`ProfileOptions::pep_takes_turns`](crate::profiling::ProfileOptions::pep_takes_turns)), and CBS calls; every few ticks of that the watcher
//! takes what was sampled since the last time, a window. Where the branches or receivers of a piece of code went other ways in
//! two windows one after the other, its profile is out of date: it is made again, for the program as it is now (Bond and McKinley 2005, section 6.5: continuous profiles, with what they leave
//! open, when to use them).
//!
//! A program may change faster than code can follow. So a piece of code that did not stay for long makes the next one stay
//! for longer. And a branch that in some tick went as it was expected to, or that goes by turns ([`Turns`]), comes and goes: a profile of
//! all it does is no better
//! than that of one phase, for the order of blocks serves one way only. (A call is another matter: the methods of all phases can
//! be inlined there; what counts is that others are reached.)

pub use super::turns::Place;
use super::turns::{DIFFERENT, FEWEST_IN_MOMENT, Turns, distance};
use crate::compiled::{CallWeights, Entry, Level, ReachedMethods};
use crate::profiling::{Behaviour, LOOK, ReceiverWindow};
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;
use holloway_profilers::calls::{CallGraph, CallSite};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::{BranchId, MethodId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Ticks in a window, half a look. With the usual 20 ms and 64 samples a tick: 80 ms, 256 paths.
const WINDOW: usize = LOOK as usize / 2;
/// A branch counts for what it does in a window from so many executions on.
pub(crate) const FEWEST_EXECUTIONS: u64 = 16;
/// Code whose branches were seen less often in a window is not judged: so little time is not worth compiling for.
const FEWEST_IN_CODE: u64 = 48;
/// A branch with a smaller share of the executions in its code says nothing about it.
const LEAST_SHARE: f64 = 0.02;
/// From this drift on code is out of date.
const DRIFT: f64 = DIFFERENT;
/// Up to this drift a branch does what code was made for.
const AS_EXPECTED: f64 = 0.2;
/// From this drift on of the methods that are inlined at a call they should be tested in another order.
const OTHER_ORDER: f64 = 0.7;
/// The share of a call's executions from which on the one method that it reaches is worth being inlined: a little above the inliner's own
/// bound for the only method, or code that is made again would still call it.
const NEARLY_ALWAYS: f64 = 0.82;
/// The most windows that code has to stay.
const LONGEST_STAY: u64 = 256;
/// So many windows are needed to know what goes by turns: until then looks take as long as they can.
const LEARNING: u64 = 4;
/// In so many of the ticks of two windows a branch or a call must have been executed often enough to be judged. A tick shows one moment, in
/// which the program does one thing however often: few of them say little of what it does most of the time.
const MOMENTS: usize = 5;

/// A branch that code was made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bias {
    /// The branch.
    pub branch: BranchId,
    /// How often each arm had been taken, in the order of the profiles.
    pub arms: Vec<u32>,
}

/// The methods that code was made for at a call through a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteBias {
    /// The call.
    pub site: CallSite,
    /// Those that are inlined, with how often each had been called; none where it is only called.
    pub callees: Vec<(MethodId, u32)>,
    /// How often others had been called.
    pub others: u32,
}

impl Bias {
    /// How far it is from what the branch does, if it was executed often enough.
    fn drift(&self, edges: &EdgeProfile, fewest: u64) -> Option<f64> {
        (edges.executions(self.branch) >= fewest).then(|| distance(&self.arms, edges.arms(self.branch)))
    }
}

impl SiteBias {
    /// The same for a site. How much more often others are reached matters; which of those that are inlined is only a matter of a test more, if it
    /// is not nearly always another, and does not go by turns.
    fn drift(
        &self,
        seen: &ReceiverWindow,
        calls: &CallWeights,
        fewest: u64,
        goes_by_turns: bool,
    ) -> Option<f64> {
        let reached = reached(seen, calls, self.site, fewest)?;
        let of = |callee: MethodId| {
            let counts = reached.methods.iter().filter(|(method, _)| method.0 == callee.0);
            counts.map(|&(_, count)| count).sum::<u64>()
        };
        let mut ways: Vec<u64> = self.callees.iter().map(|&(callee, _)| of(callee)).collect();
        let mut expected: Vec<u32> = self.callees.iter().map(|&(_, count)| count).collect();
        let (inlined, all) = (ways.iter().sum::<u64>(), reached.total());
        let expected_inlined: u64 = expected.iter().map(|&count| u64::from(count)).sum();
        let expected_others =
            f64::from(self.others) / (expected_inlined + u64::from(self.others)).max(1) as f64;
        ways.push(all - inlined);
        expected.push(self.others);
        let in_order = distance(&expected, &ways);
        Some(match in_order >= OTHER_ORDER && !goes_by_turns {
            true => in_order,
            false => ((all - inlined) as f64 / all as f64 - expected_others).max(0.0),
        })
    }
}

/// What a call through a table reached, if it was executed often enough. Paths know how often it was none of the methods that
/// are inlined there, and samples of calls which others it was.
fn reached(
    seen: &ReceiverWindow,
    calls: &CallWeights,
    site: CallSite,
    fewest: u64,
) -> Option<ReachedMethods> {
    if seen.executions(site) < fewest {
        return None;
    }
    let seen = seen.at(site);
    let mut reached = ReachedMethods::default();
    for &(method, count) in seen {
        match method {
            Some(method) => reached.methods.push((FunctionId(method.0), count)),
            None => reached.others += count,
        }
    }
    let is_inlined = |method: MethodId| seen.iter().any(|&(other, _)| other == Some(method));
    let called = calls.targets(FunctionId(site.caller.0), site.position);
    let called = called.iter().filter(|&&(method, _)| !is_inlined(method));
    let all: u64 = called.clone().map(|&(_, weight)| weight).sum();
    let others = reached.others;
    for &(method, weight) in called {
        let count = (u128::from(others) * u128::from(weight) / u128::from(all)) as u64;
        reached.methods.push((FunctionId(method.0), count));
        reached.others -= count;
    }
    Some(reached)
}

/// What happened in a window of time.
#[derive(Clone, Default, Debug)]
pub struct Window {
    /// Branches and what calls through tables reached, by samples of paths.
    pub paths: Behaviour,
    /// Calls that were made, by samples of calls.
    pub calls: CallWeights,
}

impl Window {
    /// The method that a call through a table reached nearly always, and in which share of its executions.
    fn only(&self, site: CallSite) -> Option<(FunctionId, f64)> {
        let reached = self.reached(FunctionId(site.caller.0), site.position)?;
        let all = reached.total() as f64;
        let most = reached.methods.iter().max_by_key(|(_, count)| count)?;
        let share = most.1 as f64 / all;
        (share >= NEARLY_ALWAYS).then_some((most.0, share))
    }

    /// What a call through a table reached, if it was executed often enough.
    pub fn reached(&self, caller: FunctionId, pc: u32) -> Option<ReachedMethods> {
        let site = CallSite { caller: MethodId(caller.0), position: pc };
        reached(&self.paths.receivers, &self.calls, site, FEWEST_EXECUTIONS)
    }
}

/// From how many executions on a branch or a call of a piece of code is judged by a window; nothing if too little was seen of all its
/// branches.
fn fewest(biases: &[Bias], window: &Window) -> Option<u64> {
    let executions: u64 = biases.iter().map(|bias| window.paths.edges.executions(bias.branch)).sum();
    let fewest = FEWEST_EXECUTIONS.max((LEAST_SHARE * executions as f64) as u64);
    (executions >= FEWEST_IN_CODE).then_some(fewest)
}

/// Is something out of date in all of the moments of which these are the drifts, and are they enough.
fn is_throughout(in_ticks: impl Iterator<Item = f64>) -> bool {
    let mut moments = 0;
    for drift in in_ticks {
        if drift < AS_EXPECTED {
            return false;
        }
        moments += 1;
    }
    moments >= MOMENTS
}

/// Something that does not do what code was made for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Drift {
    /// What it is.
    pub place: Place,
    /// In which share of its executions.
    pub share: f64,
}

/// Which branch or call of a piece of code is furthest from what the code was made for in two windows one after the other. One is
/// enough, for one that decides where control goes is often among many that only turn loops. A branch that in one
/// of the ticks did what was expected is not out of date, nor one that goes by turns. `fewest` executions must have been seen of what is judged.
fn drift(
    (biases, sites): (&[Bias], &[SiteBias]),
    windows: [&Window; 2],
    fewest: [u64; 2],
    ticks: &VecDeque<Behaviour>,
    turns: &Turns,
) -> Option<Drift> {
    // Both windows and all of their ticks have to say so.
    let judge = |place: Place, drift: &dyn Fn(&Behaviour, u64) -> Option<f64>| {
        if !is_throughout(ticks.iter().filter_map(|tick| drift(tick, FEWEST_IN_MOMENT))) {
            return None;
        }
        let share = drift(&windows[0].paths, fewest[0])?.min(drift(&windows[1].paths, fewest[1])?);
        Some(Drift { place, share })
    };
    let of_branches = biases.iter().filter_map(|bias| {
        let place = Place::Branch(bias.branch);
        let drift = |seen: &Behaviour, fewest| bias.drift(&seen.edges, fewest);
        turns.is_steady(place).then(|| judge(place, &drift)).flatten()
    });
    let of_sites = sites.iter().filter(|bias| !bias.callees.is_empty()).filter_map(|bias| {
        let place = Place::Call(bias.site);
        let goes_by_turns = turns.goes_by_turns(place);
        // The few samples of calls are those of all the time.
        let calls = &windows[0].calls;
        let drift = |seen: &Behaviour, fewest| bias.drift(&seen.receivers, calls, fewest, goes_by_turns);
        turns.is_known(place).then(|| judge(place, &drift)).flatten()
    });
    of_branches.chain(of_sites).max_by(|a, b| a.share.total_cmp(&b.share))
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
    /// What was done in each of the ticks of the last two windows.
    ticks: VecDeque<Behaviour>,
    /// What goes by turns, by all ticks.
    turns: Turns,
    /// Ticks of this window so far.
    ticks_of_window: usize,
    /// Windows so far.
    windows: u64,
    /// The last window and the one before. Samples of calls are few: those of the last window are of both.
    last: Arc<Window>,
    earlier: Arc<Window>,
    /// Both together, as far as that is steady: what code is made for.
    recent: Arc<Window>,
    /// The samples of calls of the last window alone.
    last_calls: CallGraph,
    /// Methods that code was made again for because a call that inlines nothing reaches hardly anything else. Where that did not
    /// help, it is not done once more.
    tried: BTreeSet<(FunctionId, Entry, CallSite, FunctionId)>,
    stays: BTreeMap<(FunctionId, Entry), Stay>,
}

impl Watcher {
    /// The last two windows, as far as they are steady.
    pub fn recent(&self) -> Arc<Window> {
        self.recent.clone()
    }

    /// A tick, with what was done since the last one; `calls` gives the samples of calls since it was asked last. True if a window ends with it.
    fn tick(&mut self, behaviour: Behaviour, calls: impl FnOnce() -> CallGraph) -> bool {
        self.turns.tick(&behaviour);
        if self.ticks.len() == 2 * WINDOW {
            self.ticks.pop_front();
        }
        self.ticks.push_back(behaviour);
        self.ticks_of_window += 1;
        if self.ticks_of_window < WINDOW {
            return false;
        }
        self.ticks_of_window = 0;
        let mut paths = Behaviour::default();
        self.ticks.iter().rev().take(WINDOW).for_each(|tick| paths.merge(tick));
        if paths.edges.total() == 0 {
            // Nothing ran that is compiled.
            return false;
        }
        self.windows += 1;
        let new = calls();
        let mut both = new.clone();
        both.merge(&std::mem::replace(&mut self.last_calls, new));
        let mut paths_of_both = paths.clone();
        paths_of_both.merge(&self.last.paths);
        // The windows may have seen one of the things that are done by turns.
        paths_of_both.edges.retain(|branch| self.turns.is_steady(Place::Branch(branch)));
        paths_of_both.receivers.retain(|site| self.turns.is_steady(Place::Call(site)));
        let calls_of_both = CallWeights::of(&both);
        self.recent = Arc::new(Window { paths: paths_of_both, calls: calls_of_both.clone() });
        let window = Window { paths, calls: calls_of_both };
        self.earlier = std::mem::replace(&mut self.last, Arc::new(window));
        true
    }

    /// How far code is from the last two windows, if it is out of date in both and has stayed for long enough.
    fn is_out_of_date(
        &mut self,
        function: FunctionId,
        entry: Entry,
        biases: &[Bias],
        sites: &[SiteBias],
    ) -> Option<Drift> {
        if self.stays.get(&(function, entry)).is_some_and(|stay| self.windows < stay.since + stay.windows) {
            return None;
        }
        let windows = [&*self.last, &*self.earlier];
        let fewest = [fewest(biases, windows[0])?, fewest(biases, windows[1])?];
        let drift = drift((biases, sites), windows, fewest, &self.ticks, &self.turns);
        if let Some(drift) = drift.filter(|drift| drift.share >= DRIFT) {
            return Some(drift);
        }
        for bias in sites {
            for &(callee, _) in &bias.callees {
                self.tried.remove(&(function, entry, bias.site, FunctionId(callee.0)));
            }
        }
        let is_seen = |site: CallSite| {
            let moments =
                self.ticks.iter().filter(|tick| tick.receivers.executions(site) >= FEWEST_IN_MOMENT);
            let place = Place::Call(site);
            moments.count() >= MOMENTS && self.turns.is_steady(place)
        };
        let mut plain = sites.iter().filter(|bias| bias.callees.is_empty() && is_seen(bias.site));
        let found = plain.find_map(|bias| {
            let (callee, share) = self.last.only(bias.site)?;
            (self.earlier.only(bias.site)?.0 == callee).then_some((bias.site, callee, share))
        });
        let (site, callee, share) = found?;
        let drift = Drift { place: Place::Call(site), share };
        self.tried.insert((function, entry, site, callee)).then_some(drift)
    }

    /// Would code be out of date if the next window were like the last one.
    fn is_suspicious(&self, function: FunctionId, entry: Entry, biases: &[Bias], sites: &[SiteBias]) -> bool {
        let window = &*self.last;
        let Some(fewest) = fewest(biases, window) else { return false };
        let has_drifted = |drift: Option<f64>| drift.is_some_and(|drift| drift >= DRIFT);
        let branch = |bias: &Bias| {
            !self.turns.goes_by_turns(Place::Branch(bias.branch))
                && has_drifted(bias.drift(&window.paths.edges, fewest))
        };
        let site = |bias: &SiteBias| {
            let goes_by_turns = self.turns.goes_by_turns(Place::Call(bias.site));
            if bias.callees.is_empty() {
                let is_new = |callee| !self.tried.contains(&(function, entry, bias.site, callee));
                return !goes_by_turns && window.only(bias.site).is_some_and(|(callee, _)| is_new(callee));
            }
            has_drifted(bias.drift(&window.paths.receivers, &window.calls, fewest, goes_by_turns))
        };
        biases.iter().any(branch) || sites.iter().any(site)
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
    pub drift: Drift,
}

/// The timer ticked. Gives what is to be made again.
pub(crate) fn tick(vm: &mut Machinery) -> Vec<OutOfDate> {
    let Some(mut watcher) = vm.compiled.watcher.take() else { return Vec::new() };
    if vm.profiling.looks() == Some(false) {
        watcher.turns.pause();
        vm.compiled.watcher = Some(watcher);
        return Vec::new();
    }
    let mut found = Vec::new();
    let behaviour = vm.profiling.take_recent();
    if watcher.tick(behaviour, || vm.profiling.take_recent_calls()) {
        let current = || vm.compiled.map().iter().filter(|object| object.is_current());
        for object in current() {
            let (function, entry) = (object.function, object.entry);
            let (biases, sites) = (&object.tables.biases, &object.tables.site_biases);
            if let Some(drift) = watcher.is_out_of_date(function, entry, biases, sites) {
                found.push(OutOfDate { function, entry, level: object.level, drift });
            }
        }
        let has_looks = vm.profiling.looks().is_some();
        let is_enough = has_looks
            && found.is_empty()
            && watcher.windows >= LEARNING
            && !current().any(|object| {
                let (biases, sites) = (&object.tables.biases, &object.tables.site_biases);
                watcher.is_suspicious(object.function, object.entry, biases, sites)
            });
        vm.compiled.statistics.adaptive.windows += 1;
        found.iter().for_each(|code| watcher.made_again(code.function, code.entry));
        if !found.is_empty() {
            vm.profiling.changed();
        } else if is_enough {
            vm.profiling.seen_enough();
        }
    }
    vm.compiled.watcher = Some(watcher);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_profilers::calls::CallEdge;
    use holloway_profilers::{Arm, BranchArm};

    fn branch(position: u32) -> BranchId {
        BranchId { method: MethodId(0), position }
    }

    fn behaviour(counts: &[(u32, u64, u64)]) -> Behaviour {
        Behaviour { edges: profile(counts), ..Behaviour::default() }
    }

    fn share(drift: Option<Drift>) -> f64 {
        drift.map_or(0.0, |drift| drift.share)
    }

    /// The drift if two windows are like this, and all of their ticks.
    fn drift_with(biases: &[Bias], sites: &[SiteBias], paths: Behaviour) -> Option<f64> {
        let ticks = std::iter::repeat_n(paths.clone(), MOMENTS).collect();
        let mut turns = Turns::default();
        (0..20).for_each(|_| turns.tick(&paths));
        let window = Window { paths, ..Window::default() };
        let fewest = fewest(biases, &window)?;
        Some(share(drift((biases, sites), [&window; 2], [fewest; 2], &ticks, &turns)))
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
        let of = |counts| drift_with(&biases, &[], behaviour(counts));
        assert_eq!(of(&[(1, 7, 0), (9, 1000, 0)]), None, "too little of its branches");
        let same = of(&[(1, 90, 10), (2, 50, 50)]).expect("enough");
        assert!(same < 1e-6, "{same}");
        let flipped = of(&[(1, 10, 90), (2, 50, 50)]).expect("enough");
        assert!((flipped - 0.8).abs() < 1e-6, "{flipped}");
        let rare = of(&[(1, 2, 18), (2, 1000, 1000)]).expect("enough");
        assert!(rare < 1e-6, "{rare}");
        let new = of(&[(3, 0, 100)]).expect("enough");
        assert!((new - 0.5).abs() < 1e-6, "{new}");
    }

    #[test]
    fn receivers_drift_like_branches() {
        let site = CallSite { caller: MethodId(0), position: 9 };
        let biases = [Bias { branch: branch(1), arms: vec![1, 1] }];
        let sites = [SiteBias { site, callees: vec![(MethodId(1), 90)], others: 10 }];
        let of = |reached: &[(Option<u32>, u64)]| {
            let mut behaviour = behaviour(&[(1, 50, 50)]);
            for &(method, count) in reached {
                behaviour.receivers.add((site, method.map(MethodId)), count);
            }
            drift_with(&biases, &sites, behaviour).expect("enough")
        };
        assert!(of(&[(Some(1), 90), (None, 10)]) < 1e-6);
        assert!((of(&[(Some(1), 10), (None, 90)]) - 0.8).abs() < 1e-6);
        assert!(of(&[(None, 15)]) < 1e-6, "too few");
    }

    #[test]
    fn others_are_told_apart_by_samples_of_calls() {
        let site = CallSite { caller: MethodId(0), position: 9 };
        let mut window = Window::default();
        window.paths.receivers.add((site, Some(MethodId(1))), 20);
        window.paths.receivers.add((site, None), 80);
        let mut calls = CallGraph::new();
        // A sample of what is inlined elsewhere says nothing of the others.
        for (callee, weight) in [(1, 50), (2, 6), (3, 2)] {
            calls.add(CallEdge { site, callee: MethodId(callee) }, weight);
        }
        let unknown = window.reached(FunctionId(0), 9).expect("enough");
        assert_eq!((unknown.methods, unknown.others), (vec![(FunctionId(1), 20)], 80));
        window.calls = CallWeights::of(&calls);
        let known = window.reached(FunctionId(0), 9).expect("enough");
        assert_eq!(known.methods, [(FunctionId(1), 20), (FunctionId(2), 60), (FunctionId(3), 20)]);
        assert_eq!(known.others, 0);
        assert!(window.reached(FunctionId(0), 8).is_none());
    }

    /// How often code is made again that is always made for the last two windows, in so many ticks of which the branch goes one way and the
    /// other in turns.
    fn times(ticks: usize, each: usize) -> usize {
        let mut watcher = Watcher::default();
        let mut arms = vec![100, 0];
        let mut times = 0;
        for tick in 0..ticks {
            let counts = if (tick / each).is_multiple_of(2) { (1, 100, 0) } else { (1, 0, 100) };
            if !watcher.tick(behaviour(&[counts]), CallGraph::new) {
                continue;
            }
            let biases = [Bias { branch: branch(1), arms: arms.clone() }];
            if watcher.is_out_of_date(FunctionId(0), Entry::Method, &biases, &[]).is_some() {
                watcher.made_again(FunctionId(0), Entry::Method);
                let recent = watcher.recent();
                arms = recent.paths.edges.arms(branch(1)).iter().map(|&count| count as u32).collect();
                times += 1;
            }
        }
        times
    }

    #[test]
    fn what_goes_by_turns_is_nothing_new() {
        let mut turns = Turns::default();
        let (one, other) = (behaviour(&[(1, 64, 0)]), behaviour(&[(1, 0, 64)]));
        let mut of = |seen: &[&Behaviour]| {
            seen.iter().for_each(|behaviour| turns.tick(behaviour));
            let biases = [Bias { branch: branch(1), arms: vec![50, 50] }];
            let ticks = std::iter::repeat_n(one.clone(), MOMENTS).collect();
            let window = Window { paths: one.clone(), ..Window::default() };
            share(drift((&biases, &[]), [&window; 2], [16; 2], &ticks, &turns))
        };
        assert!(of(&[&one; 6]) < 1e-6, "it may be by chance");
        assert!((of(&[&one; 10]) - 0.5).abs() < 1e-6, "all the time one of the two that were expected");
        assert!(of(&[&other, &one, &other, &one]) < 1e-6, "both by turns, now as before");
    }

    #[test]
    fn at_a_call_others_matter() {
        let site = CallSite { caller: MethodId(0), position: 9 };
        let bias = SiteBias { site, callees: vec![(MethodId(1), 50), (MethodId(2), 40)], others: 10 };
        let rare = SiteBias { site, callees: vec![(MethodId(1), 90), (MethodId(2), 10)], others: 0 };
        let drift_of = |bias: &SiteBias, method: Option<u32>, goes_by_turns| {
            let mut seen = ReceiverWindow::default();
            seen.add((site, method.map(MethodId)), 20);
            bias.drift(&seen, &CallWeights::default(), 16, goes_by_turns).expect("enough")
        };
        let drift = |method, goes_by_turns| drift_of(&bias, method, goes_by_turns);
        assert!(drift(Some(2), false) < 1e-6, "a test more");
        assert!((drift(Some(3), false) - 0.9).abs() < 1e-6, "another method");
        assert!((drift_of(&rare, Some(2), false) - 0.9).abs() < 1e-6, "they should be in another order");
        assert!(drift_of(&rare, Some(2), true) < 1e-6, "but not if they take turns");
        assert!((drift(None, false) - 0.9).abs() < 1e-6 && (drift(None, true) - 0.9).abs() < 1e-6);
        let most = SiteBias { site, callees: vec![(MethodId(1), 50)], others: 50 };
        assert!(drift_of(&most, Some(1), false) < 1e-6, "what is inlined is not reached too often");
    }

    #[test]
    fn who_only_calls_does_not_miss_what_is_inlined_elsewhere() {
        let site = CallSite { caller: MethodId(0), position: 9 };
        let bias = SiteBias { site, callees: vec![(MethodId(1), 50), (MethodId(2), 50)], others: 0 };
        let mut seen = ReceiverWindow::default();
        seen.add((site, None), 64);
        let mut calls = CallGraph::new();
        calls.add(CallEdge { site, callee: MethodId(1) }, 9);
        calls.add(CallEdge { site, callee: MethodId(2) }, 7);
        let drift =
            |calls: &CallGraph| bias.drift(&seen, &CallWeights::of(calls), 16, false).expect("enough");
        assert!(drift(&calls) < 0.1 && drift(&CallGraph::new()) > 0.9);
    }

    #[test]
    fn each_long_phase_gets_its_code() {
        assert_eq!(times(200 * WINDOW, 20 * WINDOW), 9, "once for each change");
        assert_eq!(times(200 * WINDOW, 200 * WINDOW), 0, "nothing changes");
    }

    #[test]
    fn what_changes_faster_than_code_can_follow_is_left_alone_more_and_more() {
        for ticks in 1..2 * WINDOW {
            assert_eq!(times(1000 * WINDOW, ticks), 0, "a branch that comes and goes within two windows");
        }
        let few = times(1000 * WINDOW, 2 * WINDOW);
        assert!((1..20).contains(&few), "{few}");
    }
}
