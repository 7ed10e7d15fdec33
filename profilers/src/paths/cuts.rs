//! Where paths break, so that no cycle is left (PEP sections 3.1 and 3.2).
//!
//! A depth-first search from the entry, then from the further entries, finds the *retreating* edges: those whose
//! target is on the search's stack. Every cycle has one, irreducible or not, and a self-loop is one.
//!
//! * [`Cut::BackEdges`]: every retreating edge t→h is replaced by t→EXIT and ENTRY→h.
//! * [`Cut::Blocks`]: every listed block is split into the part up to its yieldpoint, which ends a path, and the part
//!   behind, which begins one. The search then runs on the split graph, each part behind a cut being one more root; a
//!   retreating edge that it still finds is a cycle without a listed block, and its target is cut as well.
//!
//! The same search yields the order in which numbers are computed: when a block finishes, all that can follow it on
//! a path has finished. Breaking more blocks later only removes edges, so the order stays valid. O(blocks + edges).

use super::plan::Why;
use crate::graph::ControlFlow;
use crate::ids::{Arm, BlockId, Edge};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Where paths end besides the exits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cut {
    /// On every retreating edge, as Ball and Larus do.
    BackEdges,
    /// In these blocks, behind their yieldpoint; and wherever else a cycle would be left. With the blocks that
    /// [`headers`] names this is PEP's header mode. Blocks that cannot be reached are ignored.
    Blocks(Vec<BlockId>),
}

/// The loop headers: targets of retreating edges, sorted. Of an irreducible loop it is the block that the depth-first
/// search met first.
#[must_use]
pub fn headers(flow: &impl ControlFlow) -> Vec<BlockId> {
    let search = search(flow, &vec![false; flow.blocks()]);
    let mut headers: Vec<BlockId> = search.retreating.iter().map(|&edge| flow.target(edge)).collect();
    headers.sort_unstable();
    headers.dedup();
    headers
}

/// What was decided about cuts.
pub(super) struct Cuts {
    /// The reachable blocks; what can follow a block on a path comes before it.
    pub order: Vec<BlockId>,
    /// By block: is it cut, and why.
    pub blocks: Vec<Option<Why>>,
    /// The edges that were retreating in back-edge mode, sorted. One is cut unless its target is a cut block.
    pub edges: Vec<Edge>,
}

impl Cuts {
    /// The cuts that break every cycle.
    pub fn new(flow: &impl ControlFlow, cut: &Cut) -> Self {
        let mut listed = vec![false; flow.blocks()];
        if let Cut::Blocks(blocks) = cut {
            blocks.iter().for_each(|block| listed[block.index()] = true);
        }
        let Search { order, mut retreating } = search(flow, &listed);
        let mut blocks = vec![None; flow.blocks()];
        for &block in order.iter().filter(|block| listed[block.index()]) {
            blocks[block.index()] = Some(Why::Listed);
        }
        if matches!(cut, Cut::Blocks(_)) {
            for edge in retreating.drain(..) {
                blocks[flow.target(edge).index()] = Some(Why::Cycle);
            }
        }
        retreating.sort_unstable();
        Self { order, blocks, edges: retreating }
    }
}

/// What a depth-first search found.
struct Search {
    /// Reachable blocks in the order in which they (of a cut block: the part behind the cut) were finished.
    order: Vec<BlockId>,
    retreating: Vec<Edge>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// A cut block that was reached; the part behind its cut has yet to be searched.
    Waiting,
    /// On the stack.
    Open,
    Done,
}

/// Searches the graph in which the given blocks are split.
fn search(flow: &impl ControlFlow, cut: &[bool]) -> Search {
    let mut state = vec![State::New; flow.blocks()];
    let mut found = Search { order: Vec::with_capacity(flow.blocks()), retreating: Vec::new() };
    let mut roots: VecDeque<BlockId> =
        [flow.entry()].into_iter().chain(flow.entries().iter().copied()).collect();
    let mut stack: Vec<(BlockId, usize)> = Vec::with_capacity(flow.blocks());
    while let Some(root) = roots.pop_front() {
        if state[root.index()] == State::Done {
            continue;
        }
        state[root.index()] = State::Open;
        stack.push((root, 0));
        while let Some((block, arm)) = stack.last_mut() {
            let Some(&target) = flow.successors(*block).get(*arm) else {
                state[block.index()] = State::Done;
                found.order.push(*block);
                stack.pop();
                continue;
            };
            let edge = Edge { from: *block, arm: Arm::new(*arm) };
            *arm += 1;
            match state[target.index()] {
                State::New if cut[target.index()] => {
                    state[target.index()] = State::Waiting;
                    roots.push_back(target);
                }
                State::New => {
                    state[target.index()] = State::Open;
                    stack.push((target, 0));
                }
                State::Open if !cut[target.index()] => found.retreating.push(edge),
                State::Open | State::Waiting | State::Done => {}
            }
        }
    }
    found
}
