//! If-conversion: a branch that only chooses between values becomes a [`Op::Select`].
//!
//! The two ways from a branch meet again at once, or after blocks in which there are only a few cheap nodes that can be executed
//! whichever way is taken; then both are, and the parameters of the block where they meet become selections.
//!
//! A select waits for both values and its condition, a branch only for what the processor bets on. So a branch stays if the
//! profile says that it mostly goes one way: then the bet is won. It goes if
//!
//! * each way was taken in at least one of ten cases, or
//! * it only makes constants of the condition (`if c { 1 } else { 0 }`): there is nothing to wait for.
//!
//! Loads of fields count as cheap, one on each way: searching a tree reads the left or the right child, and which one is chance.
//! Their operands vouch for them. Division is left where it is: its operand may be known not to be zero by the branch alone. Floats
//! are left, too: the machine has no conditional move for them.
//!
//! What becomes a select is no branch any more, and its counts are gone; what counts branches must be put in before. The pass runs
//! late, since other passes know more of branches than of selections.
//!
//! Linear. Of branches inside of ways only the inner ones are converted, and the outer ones if the graph is tidied between.

use super::edit::Renames;
use super::{Input, Notes};
use crate::ir::{Arith, BlockId, Node, Op, Region, Target, Terminator, Ty, Value};
use holloway_bytecode::cfg::FlowGraph;

/// How many nodes are executed in vain at most, both ways together.
const MOST_NODES: usize = 4;

/// How many values are selected by one condition at most: each takes a comparison and a move.
const MOST_SELECTS: usize = 2;

/// A way that is taken less often than once in so many cases is one that the processor foresees.
const FORESEEN: u64 = 10;

/// The pass.
pub fn run(region: &mut Region, _: &Input<'_>, _: &mut Notes) -> bool {
    let graph = region.graph();
    let plans: Vec<Plan> =
        graph.reverse_postorder().iter().filter_map(|&block| Plan::of(region, &graph, block)).collect();
    if plans.is_empty() {
        return false;
    }
    let mut renames = Renames::new(region);
    // A block on a way has one predecessor and one successor, so that no two plans share one.
    for plan in plans {
        plan.apply(region, &mut renames);
    }
    renames.apply(region);
    region.clear_unreachable();
    true
}

/// A way from a branch to where the ways meet.
struct Way {
    /// The block on it, if there is one, and what is passed to it.
    block: Option<(BlockId, Vec<Value>)>,
    /// Where it meets the other, and what is passed there: values from in front of the branch or nodes of the block.
    end: Target,
}

/// A branch that is to become selections.
struct Plan {
    block: BlockId,
    condition: Value,
    ways: [Way; 2],
}

impl Plan {
    fn of(region: &Region, graph: &FlowGraph, id: BlockId) -> Option<Plan> {
        let block = region.block(id);
        let Terminator::Branch { condition, then, otherwise, counts, .. } = &block.end else { return None };
        if block.cold || then.block == otherwise.block && then.args == otherwise.args {
            return None;
        }
        let ways = |first: Way, second: Way| {
            let meet = first.end.block == second.end.block;
            meet.then_some(Plan { block: id, condition: *condition, ways: [first, second] })
        };
        let direct = |target: &Target| Way { block: None, end: target.clone() };
        let (a, b) = (through(region, graph, then), through(region, graph, otherwise));
        let plan = match (a, b) {
            (Some(a), Some(b)) if a.end.block == b.end.block => ways(a, b),
            (Some(a), _) if a.end.block == otherwise.block => ways(a, direct(otherwise)),
            (_, Some(b)) if b.end.block == then.block => ways(direct(then), b),
            _ => ways(direct(then), direct(otherwise)),
        }?;
        plan.pays(region, *counts).then_some(plan)
    }

    /// The values that differ, with what they become.
    fn selections<'a>(&'a self, region: &'a Region) -> impl Iterator<Item = (usize, Ty, Value, Value)> + 'a {
        let [first, second] = &self.ways;
        let params = region.block(first.end.block).params.iter().enumerate();
        params
            .map(|(position, &param)| {
                (position, region.ty(param), first.end.args[position], second.end.args[position])
            })
            .filter(|(_, _, a, b)| a != b)
    }

    fn pays(&self, region: &Region, counts: [u32; 2]) -> bool {
        let blocks = || self.ways.iter().filter_map(|way| way.block.as_ref()).map(|&(block, _)| block);
        let meeting = region.block(self.ways[0].end.block);
        if meeting.cold || blocks().any(|block| region.block(block).cold) {
            return false;
        }
        let nodes = || blocks().flat_map(|block| &region.block(block).nodes);
        let work = nodes().filter(|&&node| !region.op(node).is_constant()).count();
        let selects = self.selections(region).count();
        let fits = self.selections(region).all(|(_, ty, ..)| ty != Ty::Float);
        if !fits || work > MOST_NODES || selects > MOST_SELECTS {
            return false;
        }
        let constants = || {
            let mut selections = self.selections(region);
            selections.all(|(_, _, a, b)| region.op(a).is_constant() && region.op(b).is_constant())
        };
        let [a, b] = counts.map(u64::from);
        let unforeseen = a + b > 0 && a.min(b) * FORESEEN >= a + b;
        unforeseen || work == 0 && selects == 1 && constants()
    }

    fn apply(self, region: &mut Region, renames: &mut Renames) {
        let (mut inline, mut pc) = (region.node(self.condition).inline, region.node(self.condition).pc);
        if let Terminator::Branch { source: Some(source), .. } = &region.block(self.block).end {
            (inline, pc) = (source.inline, source.pc);
        }
        for (block, passed) in self.ways.iter().filter_map(|way| way.block.as_ref()) {
            let moved = std::mem::take(region.block_mut(*block));
            moved.params.iter().zip(passed).for_each(|(&param, &arg)| renames.set(param, arg));
            region.block_mut(self.block).nodes.extend(moved.nodes);
        }
        let selections: Vec<_> = self.selections(region).collect();
        let Plan { block, condition, ways: [first, _] } = self;
        let mut end = first.end;
        for (position, ty, a, b) in selections {
            let args = [condition, a, b].as_slice().into();
            let value = region.add_node(Node { op: Op::Select, args, ty, state: None, inline, pc });
            region.block_mut(block).nodes.push(value);
            end.args[position] = value;
        }
        region.block_mut(block).end = Terminator::Jump(end);
    }
}

/// The way of an edge through a block of which it is the only one that enters, if that is cheap.
fn through(region: &Region, graph: &FlowGraph, edge: &Target) -> Option<Way> {
    let block = region.block(edge.block);
    let Terminator::Jump(target) = &block.end else { return None };
    let entries = graph.in_edges(edge.block).iter().filter(|&&edge| graph.is_reachable(graph.source(edge)));
    if entries.count() != 1 || target.block == edge.block || edge.block == Region::ENTRY {
        return None;
    }
    let is_load = |node: Value| matches!(region.op(node), Op::LoadField(..));
    let loads = block.nodes.iter().filter(|&&node| is_load(node)).count();
    if loads > 1 || !block.nodes.iter().all(|&node| is_load(node) || is_cheap(region.op(node))) {
        return None;
    }
    let given = |value: Value| match block.params.iter().position(|&param| param == value) {
        Some(position) => edge.args[position],
        None => value,
    };
    let end = Target { block: target.block, args: target.args.iter().map(|&arg| given(arg)).collect() };
    Some(Way { block: Some((edge.block, edge.args.clone())), end })
}

/// Takes about one cycle, and is right wherever its operands are.
fn is_cheap(op: Op) -> bool {
    let cheap = matches!(op, Op::Arith(_) | Op::Compare(_) | Op::Same | Op::IsNull | Op::Not | Op::Select);
    op.is_constant() || cheap && op != Op::Arith(Arith::Mul)
}
