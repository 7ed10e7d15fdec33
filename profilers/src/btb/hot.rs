//! Which calls are hot enough for regions to span them: decided by the call graph of an earlier run.
//!
//! Ours, as is the idea (open question M1). A site is chosen if it makes more than a share of all calls (the old inliner
//! of the Jikes RVM calls an edge hot above 1 %), and one method has at least half of the site's calls. A block has one
//! hot call at most, its hottest: it must be the only one of the block that was seen to call this method, since a trace
//! names blocks only. A method is not spanned in itself, and large ones are not copied, for their paths do not fit a
//! region anyway.

use super::layout::Program;
use super::spans::HotCall;
use crate::calls::{CallGraph, CallSite, Share, SiteTargets};
use crate::ids::{BlockId, MethodId};
use std::collections::BTreeMap;

/// When a call is hot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotRule {
    /// More than this share of all calls.
    pub share: Share,
    /// Callees have no more blocks.
    pub most_blocks: usize,
}

impl HotRule {
    /// What the paper's inliners take for hot.
    pub const SHARE: Share = Share::percent(1);
    /// More branches than these have too many paths for a region.
    pub const MOST_BLOCKS: usize = 100;
}

impl Default for HotRule {
    fn default() -> Self {
        Self { share: Self::SHARE, most_blocks: Self::MOST_BLOCKS }
    }
}

/// Where a call site is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// The block.
    pub block: BlockId,
    /// Whether it calls one method and no other.
    pub only: bool,
}

/// The calls to be spanned, in order. `seat` finds the place of a call site; sites without one are passed over.
#[must_use]
pub fn hot_calls(
    graph: &CallGraph,
    program: &Program,
    rule: HotRule,
    seat: impl Fn(CallSite) -> Option<Seat>,
) -> Vec<HotCall> {
    let mut blocks: BTreeMap<(MethodId, BlockId), Vec<(Seat, SiteTargets)>> = BTreeMap::new();
    for site in graph.sites() {
        if let Some(seat) = seat(site.site) {
            blocks.entry((site.site.caller, seat.block)).or_default().push((seat, site));
        }
    }
    let fits = |callee| program.method(callee).is_some_and(|code| code.len() <= rule.most_blocks);
    let mut hot = Vec::new();
    for ((caller, block), sites) in blocks {
        let exists = program.method(caller).is_some_and(|code| code.reachable(block));
        let mut best: Option<(u64, HotCall)> = None;
        for (at, (seat, site)) in sites.iter().enumerate() {
            let Some(&(callee, weight)) = site.targets.first() else { continue };
            let elsewhere = |other: &(Seat, SiteTargets)| other.1.targets.iter().any(|to| to.0 == callee);
            let alone = !sites.iter().enumerate().any(|(other, of)| other != at && elsewhere(of));
            // In whole numbers: at least half.
            let most = weight >= site.total - weight;
            let is_hot = rule.share.is_exceeded_by(weight, graph.total());
            let hotter = best.as_ref().is_none_or(|(known, _)| weight > *known);
            if exists && is_hot && most && alone && callee != caller && fits(callee) && hotter {
                best = Some((weight, HotCall { caller, block, callee, only: seat.only }));
            }
        }
        hot.extend(best.map(|(_, call)| call));
    }
    hot
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Layout, MethodCode};
    use super::*;
    use crate::calls::CallEdge;
    use crate::graph::Graph;

    /// Methods of so many blocks, one behind the other.
    fn program(sizes: &[usize]) -> Program {
        let mut program = Program::new();
        for (id, &size) in sizes.iter().enumerate() {
            let next: Vec<Vec<u32>> =
                (1..=size as u32).map(|to| if to < size as u32 { vec![to] } else { vec![] }).collect();
            let next: Vec<&[u32]> = next.iter().map(Vec::as_slice).collect();
            let code = MethodCode::new(&Graph::new(&next), Layout::Arms(&vec![None; size]), id as u64);
            program.insert(MethodId::new(id), code.expect("a graph"));
        }
        program
    }

    /// Calls as caller, position, callee, weight; ten positions are a block, and at odd ones one method is called.
    fn chosen(calls: &[(u32, u32, u32, u64)], rule: HotRule) -> Vec<(u32, u32, u32, bool)> {
        let mut graph = CallGraph::new();
        for &(caller, position, callee, weight) in calls {
            graph.add(CallEdge::new(MethodId(caller), position, MethodId(callee)), weight);
        }
        let seat = |site: CallSite| {
            (site.position < 100)
                .then_some(Seat { block: BlockId(site.position / 10), only: site.position % 2 == 1 })
        };
        let hot = hot_calls(&graph, &program(&[4, 2, 3, 101]), rule, seat);
        hot.iter().map(|call| (call.caller.0, call.block.0, call.callee.0, call.only)).collect()
    }

    #[test]
    fn the_hottest_call_of_a_block_is_chosen() {
        let rule = HotRule::default();
        assert_eq!(chosen(&[], rule), []);
        assert_eq!(
            chosen(&[(0, 1, 1, 60), (0, 3, 2, 40), (0, 12, 2, 5)], rule),
            [(0, 0, 1, true), (0, 1, 2, false)]
        );
        // Of equal ones the first.
        assert_eq!(chosen(&[(0, 1, 2, 50), (0, 3, 1, 50)], rule), [(0, 0, 2, true)]);
    }

    #[test]
    fn cold_calls_are_not() {
        let calls = [(0, 1, 1, 1), (0, 11, 2, 2), (0, 21, 1, 97)];
        assert_eq!(chosen(&calls, HotRule::default()), [(0, 1, 2, true), (0, 2, 1, true)]);
        let rule = HotRule { share: Share::percent(50), ..HotRule::default() };
        assert_eq!(chosen(&calls, rule), [(0, 2, 1, true)]);
    }

    #[test]
    fn one_target_has_most_of_the_calls() {
        let rule = HotRule::default();
        assert_eq!(chosen(&[(0, 2, 1, 50), (0, 2, 2, 50)], rule), [(0, 0, 1, false)]);
        assert_eq!(chosen(&[(0, 2, 1, 40), (0, 2, 2, 30), (0, 2, 3, 30)], rule), []);
    }

    #[test]
    fn a_method_that_a_block_calls_twice_is_not() {
        let rule = HotRule::default();
        assert_eq!(chosen(&[(0, 1, 1, 50), (0, 3, 1, 50)], rule), []);
        // Nor if the other site calls it seldom; then a cooler one is.
        assert_eq!(chosen(&[(0, 1, 1, 90), (0, 2, 1, 1), (0, 2, 2, 9)], rule), [(0, 0, 2, false)]);
    }

    #[test]
    fn some_callees_are_never_copied() {
        let rule = HotRule::default();
        // The method itself, a large one, one that does not exist, from a block and a place that do not.
        let calls = [(1, 1, 1, 50), (0, 1, 3, 50), (0, 11, 7, 50), (1, 91, 0, 50), (0, 200, 1, 50)];
        assert_eq!(chosen(&calls, rule), []);
        let large = HotRule { most_blocks: 101, ..rule };
        assert_eq!(chosen(&calls, large), [(0, 0, 3, true)]);
    }
}
