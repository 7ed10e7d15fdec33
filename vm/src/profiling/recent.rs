//! What the program did of late, as sampled paths tell, for code that follows the program ([`crate::adaptive::watcher`]): which way
//! branches went, and which methods calls through tables reached. A path passes the test for which a method was inlined on the way
//! on which it holds, or the call that is left for others.

use super::steps::SampledSteps;
use holloway_profilers::calls::CallSite;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::paths::{Path, Side};
use holloway_profilers::{BlockId, BranchArm, MethodId};
use std::collections::BTreeMap;

/// What a call through a table reached: a method that is inlined behind a test, or something else by a real call.
pub type Reached = (CallSite, Option<MethodId>);

/// Where a path of a piece of code tells what a call reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverOutcome {
    /// The block that tests, or that calls.
    pub block: BlockId,
    /// On which side of the yieldpoint at which paths end there.
    pub side: Side,
    /// Where control goes if the test holds; nothing for a call.
    pub next: Option<BlockId>,
    /// What is reached then.
    pub reached: Reached,
}

/// What the blocks of a path tell.
pub fn on_path(outcomes: &[ReceiverOutcome], path: &Path) -> Vec<Reached> {
    let mut found = Vec::new();
    for (at, block) in path.blocks.iter().enumerate() {
        let after = path.blocks.get(at + 1);
        let here = outcomes.iter().filter(|outcome| outcome.block == *block && path.passes(at, outcome.side));
        found.extend(
            here.filter(|o| o.next.is_none_or(|next| after == Some(&next))).map(|outcome| outcome.reached),
        );
    }
    found
}

/// What was reached from each site, how often.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ReceiverWindow(BTreeMap<CallSite, Vec<(Option<MethodId>, u64)>>);

impl ReceiverWindow {
    /// What was reached from a site.
    pub fn at(&self, site: CallSite) -> &[(Option<MethodId>, u64)] {
        self.0.get(&site).map_or(&[], Vec::as_slice)
    }

    /// All sites, and what was reached from them.
    pub fn iter(&self) -> impl Iterator<Item = (CallSite, &[(Option<MethodId>, u64)])> {
        self.0.iter().map(|(&site, reached)| (site, reached.as_slice()))
    }

    /// How often the site was passed.
    pub fn executions(&self, site: CallSite) -> u64 {
        self.at(site).iter().map(|&(_, count)| count).sum()
    }

    /// Forgets other sites.
    pub fn retain(&mut self, is_kept: impl Fn(CallSite) -> bool) {
        self.0.retain(|&site, _| is_kept(site));
    }

    /// Adds to what was reached.
    pub fn add(&mut self, (site, method): Reached, count: u64) {
        let counts = self.0.entry(site).or_default();
        match counts.iter_mut().find(|(other, _)| *other == method) {
            Some((_, sum)) => *sum += count,
            None => counts.push((method, count)),
        }
    }
}

/// What sampled paths did in a piece of time.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Behaviour {
    /// Which way branches went.
    pub edges: EdgeProfile,
    /// What calls through tables reached.
    pub receivers: ReceiverWindow,
}

impl Behaviour {
    /// Adds what was done in another piece of time.
    pub fn merge(&mut self, other: &Behaviour) {
        self.edges.merge(&other.edges);
        for (site, reached) in other.receivers.iter() {
            reached.iter().for_each(|&(method, count)| self.receivers.add((site, method), count));
        }
    }
}

/// Something that a path does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// A branch goes this way.
    Goes(BranchArm),
    /// A call reaches this.
    Reaches(Reached),
}

/// What sampled paths do.
pub(super) type RecentSamples = SampledSteps<Step>;

impl RecentSamples {
    /// What was counted since this was asked last.
    pub fn behaviour(&mut self) -> Behaviour {
        let mut behaviour = Behaviour::default();
        for (step, count) in self.take() {
            match step {
                Step::Goes(outcome) => behaviour.edges.add(outcome, count),
                Step::Reaches(reached) => behaviour.receivers.add(reached, count),
            }
        }
        behaviour
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_profilers::paths::{Begin, End};
    use holloway_profilers::{Arm, BranchId, PathNumber, VersionId};

    fn site(position: u32) -> CallSite {
        CallSite { caller: MethodId(1), position }
    }

    #[test]
    fn a_path_tells_what_its_tests_found() {
        let block = BlockId::new;
        let reached = |position: u32, method: Option<u32>| (site(position), method.map(MethodId));
        let outcome = |at: usize, next: Option<usize>, reached| ReceiverOutcome {
            block: block(at),
            side: Side::Behind,
            next: next.map(block),
            reached,
        };
        let outcomes = [
            outcome(1, Some(2), reached(7, Some(10))),
            outcome(3, Some(4), reached(7, Some(11))),
            outcome(5, None, reached(7, None)),
        ];
        let path = |begin, blocks: &[usize], end| Path {
            begin,
            blocks: blocks.iter().map(|&number| block(number)).collect(),
            edges: Vec::new(),
            branches: Vec::new(),
            branch_count: 0,
            end,
        };
        let told = |blocks: &[usize]| on_path(&outcomes, &path(Begin::Method, blocks, End::Exit(block(6))));
        assert_eq!(told(&[0, 1, 2, 6]), [reached(7, Some(10))]);
        assert_eq!(told(&[1, 3, 4, 6]), [reached(7, Some(11))]);
        assert_eq!(told(&[1, 3, 5, 6]), [reached(7, None)]);
        assert_eq!(told(&[6, 1]), []);
        // A round of a loop that calls in the block of its yieldpoint, on either side of that.
        let latch = [Side::Before, Side::Behind]
            .map(|side| ReceiverOutcome { side, ..outcome(5, None, reached(8, None)) });
        let round = path(Begin::Cut(block(5)), &[5, 5], End::Cut(block(5)));
        for outcome in latch {
            assert_eq!(on_path(&[outcome], &round), [reached(8, None)]);
        }
        let goes = |arm: u8| {
            let branch = BranchId { method: MethodId(1), position: 3 };
            BranchArm { branch, arm: Arm::new(arm as usize) }
        };
        let mut sampled = RecentSamples::default();
        for path in [3, 4, 3, 3] {
            let (blocks, arm): (&[usize], u8) = if path == 3 { (&[1, 2], 0) } else { (&[1, 3, 5], 1) };
            sampled.record(VersionId(1), PathNumber::from(path as u32), || {
                let reached = told(blocks).into_iter().map(Step::Reaches);
                reached.chain([Step::Goes(goes(arm))]).collect()
            });
        }
        let mut behaviour = sampled.behaviour();
        assert_eq!(behaviour.receivers.at(site(7)), [(Some(MethodId(10)), 3), (None, 1)]);
        assert_eq!(
            (behaviour.receivers.executions(site(7)), behaviour.receivers.executions(site(8))),
            (4, 0)
        );
        assert_eq!(behaviour.edges.arms(goes(0).branch), [3, 1]);
        assert_eq!(sampled.behaviour(), Behaviour::default());
        behaviour.merge(&behaviour.clone());
        assert_eq!(behaviour.receivers.at(site(7)), [(Some(MethodId(10)), 6), (None, 2)]);
        assert_eq!(behaviour.edges.arms(goes(0).branch), [6, 2]);
    }
}
