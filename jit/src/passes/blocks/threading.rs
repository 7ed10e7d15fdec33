//! Edges that lead past comparisons: what a three-way comparison leaves behind, once it is inlined where its result is
//! compared with 0.
//!
//! A block that does nothing but compare its parameters with constants, and branch by that, is passed by edges that give constants. What
//! comes behind it may use its parameters, too. If only blocks do that which are reached by it alone, these get parameters of
//! their own first ([`free_parameters`]).
//!
//! Counts are those of the branches that are left. The method that compares may have been counted for all its callers together, and an
//! edge that now goes where the branch behind it never went is known better: it never was taken here ([`Untaken`]).

use crate::ir::{BlockId, Cond, Op, Region, Shape, StateId, Target, Terminator, Value};
use hashbrown::HashMap;
use smallvec::SmallVec;

/// A comparison by which a block branches and that is all it does.
pub struct Decision {
    cond: Cond,
    operands: [Value; 2],
}

impl Decision {
    /// That of a block, if it is of this kind.
    pub fn of(region: &Region, block: BlockId) -> Option<Decision> {
        let block = region.block(block);
        let Terminator::Branch { condition, .. } = block.end else { return None };
        let Op::Compare(cond) = region.op(condition) else { return None };
        let operands = <[Value; 2]>::try_from(region.node(condition).args.as_slice()).ok()?;
        let is_known = |value: &Value| block.params.contains(value) || region.int(*value).is_some();
        let alone = block.nodes.as_slice() == [condition];
        (alone && operands.iter().all(is_known)).then_some(Decision { cond, operands })
    }

    /// How it is decided where the block's parameters are given these values.
    pub fn given(&self, region: &Region, given: impl Fn(Value) -> Value) -> Option<bool> {
        let [a, b] = self.operands;
        Some(self.cond.holds(region.int(given(a))?, region.int(given(b))?))
    }
}

/// Gives blocks parameters of their own for those of a comparison in front of them, so that edges can be led past that. True if there were any.
pub fn free_parameters(region: &mut Region, shape: &Shape) -> bool {
    let wanted: Vec<(BlockId, Decision)> = shape
        .graph
        .reverse_postorder()
        .iter()
        .filter(|&&block| shape.loops.headed_by(block).is_none())
        .filter_map(|&block| Some((block, Decision::of(region, block)?)))
        .filter(|(block, decision)| is_decided_by_some_edge(region, shape, *block, decision))
        .collect();
    if wanted.is_empty() {
        return false;
    }
    let users = Users::of(region, shape, wanted.iter().flat_map(|&(block, _)| &region.block(block).params));
    let mut changed = false;
    for (block, _) in wanted {
        for param in region.block(block).params.clone() {
            let Some(others) = users.behind(region, shape, block, param) else { continue };
            for other in others {
                pass_on(region, block, other, param);
                changed = true;
            }
        }
    }
    changed
}

fn is_decided_by_some_edge(region: &Region, shape: &Shape, block: BlockId, decision: &Decision) -> bool {
    shape.graph.predecessors(block).any(|from| {
        let mut edges = region.block(from).end.targets().filter(|edge| edge.block == block);
        edges.any(|edge| decision.given(region, |value| region.given(edge, value)).is_some())
    })
}

/// Which blocks use some values.
struct Users(HashMap<Value, SmallVec<[User; 4]>>);

#[derive(Clone, Copy, PartialEq, Eq)]
struct User {
    block: BlockId,
    /// In the frame of a caller, which others may have in common.
    by_caller: bool,
}

impl Users {
    fn of<'r>(region: &Region, shape: &Shape, values: impl Iterator<Item = &'r Value>) -> Users {
        let mut users: HashMap<Value, SmallVec<[User; 4]>> =
            values.map(|&value| (value, SmallVec::new())).collect();
        for &block in shape.graph.reverse_postorder() {
            region.uses(block, |value, by_caller| {
                let user = User { block, by_caller };
                if let Some(users) = users.get_mut(&value)
                    && !users.contains(&user)
                {
                    users.push(user);
                }
            });
        }
        Users(users)
    }

    /// The blocks behind another one that use its parameter, if none but those do that are reached from it alone.
    fn behind(&self, region: &Region, shape: &Shape, block: BlockId, param: Value) -> Option<Vec<BlockId>> {
        let others = self.0.get(&param)?.iter().filter(|user| user.block != block);
        let is_behind = |user: &User| {
            let mut before = shape.graph.in_edges(user.block).iter();
            !user.by_caller
                && user.block != Region::ENTRY
                && before.next().is_some_and(|&edge| shape.graph.source(edge) == block)
                && before.next().is_none()
                && region.block(user.block).end.targets().all(|target| target.block != user.block)
        };
        others.map(|user| is_behind(user).then_some(user.block)).collect()
    }
}

/// A block behind another one gets a parameter for one of that one's.
fn pass_on(region: &mut Region, from: BlockId, to: BlockId, param: Value) {
    let node = region.node(param);
    let (ty, inline, pc) = (node.ty, node.inline, node.pc);
    let own = region.add_param(to, ty, inline, pc);
    let instead = |value: &mut Value| {
        if *value == param {
            *value = own;
        }
    };
    let nodes = region.block(to).nodes.clone();
    for node in nodes {
        region.nodes[node.index()].args.iter_mut().for_each(instead);
        if let Some(state) = region.node(node).state {
            region.nodes[node.index()].state = Some(with(region, state, instead));
        }
    }
    region.block_mut(to).end.values_mut(instead);
    if let Terminator::Deopt(reason, state) = region.block(to).end {
        region.block_mut(to).end = Terminator::Deopt(reason, with(region, state, instead));
    }
    for target in region.block_mut(from).end.targets_mut().filter(|target| target.block == to) {
        target.args.push(param);
    }
}

/// A frame state with other values, which is the same if they are.
fn with(region: &mut Region, state: StateId, instead: impl Fn(&mut Value)) -> StateId {
    let mut frame = region.state(state).clone();
    frame.registers.iter_mut().for_each(|(_, value)| instead(value));
    if frame.registers == region.state(state).registers { state } else { region.add_state(frame) }
}

/// Edges that are never taken, though they were counted: by their source and number among its two.
#[derive(Default)]
pub struct Untaken(Vec<(BlockId, usize)>);

impl Untaken {
    /// An edge is led past a block, to this one of its targets.
    pub fn led_past(&mut self, region: &Region, edge: (BlockId, usize), past: BlockId, to: &Target) {
        let Terminator::Branch { then, otherwise, counts, .. } = &region.block(past).end else { return };
        let [taken, not] = counts;
        let is_then = std::ptr::eq(then, to);
        debug_assert!(is_then || std::ptr::eq(otherwise, to));
        if (is_then && *taken == 0 && *not > 0) || (!is_then && *not == 0 && *taken > 0) {
            self.0.push(edge);
        }
    }

    /// They are forgotten, and so are those to blocks that nothing else comes out of.
    pub fn forget(mut self, region: &mut Region) {
        if self.0.is_empty() {
            return;
        }
        let graph = region.graph();
        while let Some((from, arm)) = self.0.pop() {
            let Terminator::Branch { counts, .. } = &mut region.block_mut(from).end else { continue };
            if counts[arm] == 0 {
                continue;
            }
            counts[arm] = 0;
            if *counts != [0, 0] {
                continue;
            }
            for before in graph.predecessors(from).filter(|&before| graph.is_reachable(before)) {
                let arms = region.block(before).end.targets().enumerate();
                self.0.extend(arms.filter(|(_, to)| to.block == from).map(|(arm, _)| (before, arm)));
            }
        }
    }
}
