//! Which checks leave at which place.
//!
//! A check that fails leaves at its frame state. Each place to leave costs a block that stores all values of the state: for every
//! check a state of its own, two thirds of all code would be exits, and compiling takes as long as the code is large. But between
//! two checks often nothing happens that could be seen: then the second may leave at the state of the first, and the
//! interpreter does again what was done in between, up to the same failure.
//!
//! Nothing that can be seen: no stores but into objects made in between (those are made again), no calls, no yieldpoints. In
//! loops, a value is not kept alive only for that: the earlier state must not name more than one that the later does not.
//!
//! An object that is made later than the program makes it has the state of where it is made there, perhaps in front of a branch that was
//! passed since. To leave at that is right, but the interpreter takes the branch again; so where edges are counted, other checks
//! do not leave at states of objects.
//!
//! Where a guard fails, things may stand otherwise than behind it, and its state says how they do there: that an object which is only described
//! is null, for one. A guard may leave at an earlier state, but nothing leaves at that of a guard.
//!
//! A state of several places that would leave at different ones is left at itself: of one place, the other may know nothing.
//!
//! What an exit says about an assumption (which one was wrong) stays that of its own state.

use crate::ir::{BlockId, Op, Reason, Region, Shape, StateId, StateKind, Terminator, Value};

/// For each frame state the one at which to leave in its stead.
pub struct Sharing {
    instead: Vec<StateId>,
    /// The states that were met.
    met: Vec<bool>,
    /// The blocks of states that others give way to.
    blocks: Vec<BlockId>,
    /// Executions of edges are counted.
    counts_edges: bool,
}

/// How far a way through the region has come since a state.
#[derive(Clone, Default)]
struct Since {
    state: Option<StateId>,
    /// The objects made since.
    made: Vec<Value>,
}

/// Values that only the earlier of two states names, in a loop.
const KEPT_IN_LOOPS: usize = 1;
/// The same outside of loops.
const KEPT: usize = 8;

impl Sharing {
    /// Decides for all states of a region, in which executions of edges are counted or not.
    pub fn of(region: &Region, shape: &Shape, counts_edges: bool) -> Sharing {
        let instead = (0..region.states.len() as u32).map(StateId).collect();
        let blocks = vec![Region::ENTRY; region.states.len()];
        let met = vec![false; region.states.len()];
        let mut sharing = Sharing { instead, met, blocks, counts_edges };
        let mut ends: Vec<Since> = vec![Since::default(); region.blocks.len()];
        for &block in shape.graph.reverse_postorder() {
            let mut before = shape.graph.predecessors(block);
            // Control comes from one block only: what held at its end holds here.
            let mut since = match (before.next(), before.next()) {
                (Some(only), None) => ends[only.index()].clone(),
                _ => Since::default(),
            };
            let kept = if shape.loops.innermost(block).is_some() { KEPT_IN_LOOPS } else { KEPT };
            sharing.block(region, block, &mut since, kept);
            ends[block.index()] = since;
        }
        sharing
    }

    /// Where to leave for a reason at a state.
    pub fn of_exit(&self, state: StateId, reason: Reason) -> StateId {
        if is_repeatable(reason) { self.instead[state.index()] } else { state }
    }

    /// The block of a state that another gives way to.
    pub fn block_of(&self, state: StateId) -> BlockId {
        self.blocks[state.index()]
    }

    fn block(&mut self, region: &Region, block: BlockId, since: &mut Since, kept: usize) {
        for &value in &region.block(block).nodes {
            let node = region.node(value);
            let makes = matches!(node.op, Op::New(_) | Op::NewArray(_)) && !self.counts_edges;
            if let Some(state) = node.state
                && (node.op.is_check() || makes)
            {
                let lasts = !matches!(node.op, Op::Guard(..));
                self.meet(region, block, (state, lasts), since, kept);
            }
            match node.op {
                Op::Yieldpoint(crate::ir::YieldKind::Header) => {
                    if let Some(state) = node.state {
                        self.blocks[state.index()] = block;
                    }
                    *since = Since { state: node.state, made: Vec::new() };
                }
                Op::New(_) | Op::NewArray(_) => since.made.push(value),
                Op::StoreField(..) | Op::StoreRefField(..) | Op::StoreElement(_)
                    if since.made.contains(&region.unchecked(node.args[0])) => {}
                op if op.has_effect() && !op.is_check() => *since = Since::default(),
                _ => {}
            }
        }
        if let Terminator::Deopt(_, state) = region.block(block).end {
            self.meet(region, block, (state, true), since, kept);
        }
    }

    /// A state is met: it gives way to that since which nothing happened, or is the next one to which others give way, if it lasts.
    fn meet(
        &mut self,
        region: &Region,
        block: BlockId,
        (state, lasts): (StateId, bool),
        since: &mut Since,
        kept: usize,
    ) {
        if region.state(state).kind != StateKind::Before {
            return;
        }
        let found = match since.state {
            Some(earlier) if only_in_first(region, earlier, state, kept) <= kept => earlier,
            _ => {
                if lasts {
                    self.blocks[state.index()] = block;
                    *since = Since { state: Some(state), made: Vec::new() };
                }
                state
            }
        };
        let is_known = std::mem::replace(&mut self.met[state.index()], true);
        let instead = &mut self.instead[state.index()];
        *instead = if is_known && *instead != found { state } else { found };
    }
}

/// Does the interpreter come to the same failure if it executes again what led to it.
fn is_repeatable(reason: Reason) -> bool {
    use Reason::*;
    match reason {
        Index | Null | Cast | Division | Unset | Length | Throw | Memory => true,
        Receiver | Untaken | Unreached | Predicate => true,
        Depth | Exception | Invalid | Yieldpoint | Return | Stress => false,
    }
}

/// How many values the first state names and the second does not, counted up to one more than `limit`.
fn only_in_first(region: &Region, first: StateId, second: StateId, limit: usize) -> usize {
    let named = |state: StateId| {
        region.frames(state).flat_map(|(_, frame)| frame.registers.iter().map(|&(_, value)| value))
    };
    let only = named(first).filter(|&value| {
        let is_constant =
            matches!(region.op(value), Op::Int(_) | Op::Float(_) | Op::Bool(_) | Op::Null | Op::Str(_));
        !is_constant && !named(second).any(|other| other == value)
    });
    only.take(limit + 1).count()
}
