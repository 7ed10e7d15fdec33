//! What goes by turns. A tick shows one moment. In a program that does the same every few milliseconds, what a branch does at one
//! tick may be half of what it does, and a few ticks in a row may be alike by chance. Over longer it shows: from one moment to
//! the next it is this and that, where a phase is the same many times and then another once.

use crate::profiling::Behaviour;
use holloway_profilers::calls::CallSite;
use holloway_profilers::{BranchId, MethodId};
use std::collections::{BTreeMap, BTreeSet};

/// In a moment in which it was executed less often something is not seen.
pub(super) const FEWEST_IN_MOMENT: u64 = 8;
/// Two moments are different from this part of the executions on.
pub(super) const DIFFERENT: f64 = 0.4;
/// Before something was seen in so many moments after others, nobody knows whether it goes by turns: where it does two things, each half of
/// the time, it seems to be steady or to have changed once in one of 300 cases then.
const KNOWN: u32 = 12;
/// Who was different from one moment to the next more often than every this many times goes by turns,
const SELDOM: u32 = 8;
/// but once is nothing.
const SOME: u32 = 2;
/// Moments after which what was before them counts half.
const FADING: u32 = 32;

/// What does this or that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// A branch.
    Branch(BranchId),
    /// A call through a table.
    Call(CallSite),
}

impl Place {
    /// Its method, and where there.
    pub fn position(self) -> (MethodId, u32) {
        match self {
            Place::Branch(branch) => (branch.method, branch.position),
            Place::Call(site) => (site.caller, site.position),
        }
    }
}

/// What it did, and how often: the number of an arm, or a method.
type Moment = Vec<(Option<MethodId>, u64)>;

/// How much of what happened in a window went another way than was expected: 0 to 1, and a half where nothing was expected.
pub(super) fn distance<T: Copy + Into<u64>>(expected: &[T], window: &[u64]) -> f64 {
    let all_expected: u64 = expected.iter().map(|&count| count.into()).sum();
    let all: u64 = window.iter().sum();
    if all_expected == 0 || all == 0 {
        return 0.5;
    }
    let share = |way: usize| expected.get(way).map_or(0, |&count| count.into()) as f64 / all_expected as f64;
    let now = |way: usize| window.get(way).copied().unwrap_or(0) as f64 / all as f64;
    let ways = window.len().max(expected.len());
    (0..ways).map(|way| (now(way) - share(way)).abs()).sum::<f64>() / 2.0
}

/// Which part of two moments is different.
fn difference(one: &Moment, other: &Moment) -> f64 {
    let ways: BTreeSet<Option<MethodId>> = one.iter().chain(other).map(|&(way, _)| way).collect();
    let counts = |moment: &Moment| -> Vec<u64> {
        let of = |way| moment.iter().find(|&&(known, _)| known == way).map_or(0, |&(_, count)| count);
        ways.iter().map(|&way| of(way)).collect()
    };
    distance(&counts(one), &counts(other))
}

/// How something went from moment to moment.
#[derive(Debug)]
struct History {
    /// The last moment, and the look in which it was.
    last: Moment,
    look: u64,
    /// How often there was a moment before in the same look.
    pairs: u32,
    /// In how many of these it was different.
    different: u32,
}

/// All that was seen of what goes by turns.
#[derive(Default, Debug)]
pub(super) struct Turns {
    places: BTreeMap<Place, History>,
    look: u64,
}

impl Turns {
    /// Nothing is seen for a while: what is different afterwards may be another phase.
    pub fn pause(&mut self) {
        self.look += 1;
    }

    /// What was done at a tick.
    pub fn tick(&mut self, behaviour: &Behaviour) {
        for (branch, arms) in behaviour.edges.iter() {
            let arms = arms.iter().zip(0..).map(|(&count, arm)| (Some(MethodId(arm)), count)).collect();
            self.moment(Place::Branch(branch), arms);
        }
        for (site, reached) in behaviour.receivers.iter() {
            self.moment(Place::Call(site), reached.to_vec());
        }
    }

    fn moment(&mut self, place: Place, moment: Moment) {
        if moment.iter().map(|&(_, count)| count).sum::<u64>() < FEWEST_IN_MOMENT {
            return;
        }
        let look = self.look;
        let Some(history) = self.places.get_mut(&place) else {
            self.places.insert(place, History { last: moment, look, pairs: 0, different: 0 });
            return;
        };
        if history.look == look {
            history.pairs += 1;
            history.different += u32::from(difference(&history.last, &moment) >= DIFFERENT);
            if history.pairs >= FADING {
                (history.pairs, history.different) = (history.pairs / 2, history.different / 2);
            }
        }
        (history.last, history.look) = (moment, look);
    }

    /// Was it seen often enough to tell.
    pub fn is_known(&self, place: Place) -> bool {
        self.places.get(&place).is_some_and(|history| history.pairs >= KNOWN)
    }

    /// Was it seen often enough to tell that it does not go by turns.
    pub fn is_steady(&self, place: Place) -> bool {
        self.is_known(place) && !self.goes_by_turns(place)
    }

    /// Does it go by turns.
    pub fn goes_by_turns(&self, place: Place) -> bool {
        self.places
            .get(&place)
            .is_some_and(|history| history.different >= SOME && history.different * SELDOM >= history.pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_profilers::{Arm, BranchArm};

    const BRANCH: BranchId = BranchId { method: MethodId(0), position: 1 };
    const SITE: CallSite = CallSite { caller: MethodId(0), position: 2 };

    fn behaviour(taken: u64, not_taken: u64) -> Behaviour {
        let mut behaviour = Behaviour::default();
        for (arm, count) in [taken, not_taken].into_iter().enumerate() {
            behaviour.edges.add(BranchArm { branch: BRANCH, arm: Arm(arm as u32) }, count);
            behaviour.receivers.add((SITE, Some(MethodId(arm as u32 + 7))), count);
        }
        behaviour
    }

    /// After these moments: is it known, and does it go by turns.
    fn after(moments: impl Iterator<Item = (u64, u64)>) -> (bool, bool) {
        let mut turns = Turns::default();
        moments.for_each(|(taken, not_taken)| turns.tick(&behaviour(taken, not_taken)));
        let of = |place| (turns.is_known(place), turns.goes_by_turns(place));
        assert_eq!(of(Place::Branch(BRANCH)), of(Place::Call(SITE)), "calls are like branches");
        of(Place::Branch(BRANCH))
    }

    #[test]
    fn a_phase_is_no_turn() {
        assert_eq!(after((0..5).map(|_| (64, 0))), (false, false));
        assert_eq!(after((0..40).map(|_| (64, 0))), (true, false));
        assert_eq!(after((0..40).map(|tick| if tick < 20 { (64, 0) } else { (0, 64) })), (true, false));
        let phases = (0..400).map(|tick| if tick / 20 % 2 == 0 { (64, 0) } else { (0, 64) });
        assert_eq!(after(phases), (true, false));
        assert_eq!(after((0..40).map(|tick| (20 + tick % 2, 20))), (true, false), "always both");
    }

    #[test]
    fn who_is_different_at_every_other_tick_goes_by_turns() {
        let by = |length: u64| {
            (0..40).map(move |tick| if (tick / length).is_multiple_of(2) { (64, 0) } else { (0, 9) })
        };
        assert_eq!(after(by(1)), (true, true));
        assert_eq!(after(by(4)), (true, true));
        assert_eq!(after(by(1).take(4)), (false, true));
        assert_eq!(after(by(1).chain((0..100).map(|_| (64, 0)))), (true, false), "and does not for ever");
        let few = (0..40).map(|tick| if tick % 2 == 0 { (64, 0) } else { (0, FEWEST_IN_MOMENT - 1) });
        assert_eq!(after(few), (true, false), "a few executions are not seen");
    }

    #[test]
    fn what_changes_while_nobody_looks_may_be_a_phase() {
        let mut turns = Turns::default();
        for look in 0..20 {
            let seen = if look % 2 == 0 { behaviour(64, 0) } else { behaviour(0, 64) };
            (0..4).for_each(|_| turns.tick(&seen));
            turns.pause();
        }
        assert!(turns.is_known(Place::Branch(BRANCH)) && !turns.goes_by_turns(Place::Branch(BRANCH)));
    }
}
