//! What the program did of late, as sampled paths tell, for code that follows the program ([`crate::adaptive::watcher`]): which way
//! branches went, and which methods calls through tables reached. Paths go ways from a test of the receiver to what is inlined there, or pass
//! the check or the call for what no test is for.

use super::steps::SampledSteps;
use holloway_profilers::calls::CallSite;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::paths::{Path, Side};
use holloway_profilers::{BlockId, BranchArm, Edge, MethodId};
use std::collections::BTreeMap;

/// What a call through a table reached: a method that is inlined there, or something else by a real call.
pub type Reached = (CallSite, Option<MethodId>);

/// Where a path of a piece of code tells what a call reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverOutcome {
    /// What the path goes through then.
    pub through: Through,
    /// What is reached then.
    pub reached: Reached,
}

/// A part of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Through {
    /// The block that checks or calls, and on which side of the yieldpoint at which paths end there.
    Block(BlockId, Side),
    /// A way from the block that tests. Both may lead to the same block.
    Edge(Edge),
}

/// What the blocks and edges of a path tell.
pub fn on_path(outcomes: &[ReceiverOutcome], path: &Path) -> Vec<Reached> {
    let blocks = path.blocks.iter().enumerate().flat_map(|(at, &block)| {
        let sides = [Side::Before, Side::Behind].into_iter().filter(move |&side| path.passes(at, side));
        sides.map(move |side| Through::Block(block, side))
    });
    let parts = blocks.chain(path.edges.iter().map(|&edge| Through::Edge(edge)));
    let told = parts.flat_map(|part| outcomes.iter().filter(move |outcome| outcome.through == part));
    told.map(|outcome| outcome.reached).collect()
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
        let reached = |position: u32, method: Option<u32>| (site(position), method.map(MethodId));
        let edge = |from: usize, arm: usize| Edge { from: BlockId::new(from), arm: Arm::new(arm) };
        let way = |from, arm, reached| ReceiverOutcome { through: Through::Edge(edge(from, arm)), reached };
        let in_block = |number: usize, side, reached| ReceiverOutcome {
            through: Through::Block(BlockId::new(number), side),
            reached,
        };
        let call = in_block(5, Side::Behind, reached(7, None));
        // Where the test in block 6 fails there is only one method left.
        let outcomes = [
            way(1, 0, reached(7, Some(10))),
            way(3, 0, reached(7, Some(11))),
            call,
            way(6, 0, reached(8, Some(10))),
            way(6, 1, reached(8, Some(12))),
        ];
        let path = |begin, blocks: &[usize], edges: &[(usize, usize)], end| Path {
            begin,
            blocks: blocks.iter().map(|&number| BlockId::new(number)).collect(),
            edges: edges.iter().map(|&(from, arm)| edge(from, arm)).collect(),
            branches: Vec::new(),
            branch_count: 0,
            end,
        };
        let told = |blocks: &[usize], edges: &[(usize, usize)]| {
            on_path(&outcomes, &path(Begin::Method, blocks, edges, End::Exit(BlockId(9))))
        };
        assert_eq!(told(&[0, 1, 2, 9], &[(0, 0), (1, 0), (2, 0)]), [reached(7, Some(10))]);
        assert_eq!(told(&[1, 3, 4, 9], &[(1, 1), (3, 0), (4, 0)]), [reached(7, Some(11))]);
        assert_eq!(told(&[1, 3, 5, 9], &[(1, 1), (3, 1), (5, 0)]), [reached(7, None)]);
        assert_eq!(told(&[9, 6], &[(9, 0), (6, 0)]), [reached(8, Some(10))]);
        assert_eq!(told(&[9, 6], &[(9, 0), (6, 1)]), [reached(8, Some(12))]);
        assert_eq!(told(&[9, 1], &[(9, 0)]), []);
        // A round of a loop that calls in the block of its yieldpoint, on either side of that.
        let round = path(Begin::Cut(BlockId(5)), &[5, 5], &[(5, 0)], End::Cut(BlockId(5)));
        for side in [Side::Before, Side::Behind] {
            assert_eq!(on_path(&[in_block(5, side, reached(8, None))], &round), [reached(8, None)]);
        }
        let goes = |arm: u8| {
            let branch = BranchId { method: MethodId(1), position: 3 };
            BranchArm { branch, arm: Arm::new(arm as usize) }
        };
        let mut sampled = RecentSamples::default();
        for path in [3, 4, 3, 3] {
            let arm = u8::from(path != 3);
            sampled.record(VersionId(1), PathNumber::from(path as u32), || {
                let told =
                    if path == 3 { told(&[1, 2], &[(1, 0)]) } else { told(&[1, 3, 5], &[(1, 1), (3, 1)]) };
                let reached = told.into_iter().map(Step::Reaches);
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
