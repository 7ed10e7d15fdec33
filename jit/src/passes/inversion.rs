//! Loop inversion: a loop that tests at its top becomes one that tests at its bottom.
//!
//! The blocks from the header to the exit test are copied in front of the loop; the loop begins behind them, and comes to
//! the original ones when it goes around:
//!
//! ```text
//!        │                          test' ──► out
//!   ┌─► test ──► out                  │
//!   │    │                     ┌──► begin
//!   │   body                   │     body
//!   └────┘                     │     test ──► out
//!                              └──────┘
//! ```
//!
//! It pays because what follows the test is now executed in each round, so that loads and checks there can be moved out of the loop
//! and bounds be guarded before it, which without it would be done in vain by loops that end at once; and because a round has one
//! jump less. The language's own `while` and `for` test at the bottom already (`lang/src/lower`), and are left alone: a
//! loop that has an exit where it goes back. What is found here are loops that are left by `break` at the beginning.
//!
//! *What is copied* goes as far as the first test for leaving the loop, and further if only tests of numbers follow (`a && b`). It
//! has no effects: pure operations, loads, checks. So the frame state of the loop's beginning holds
//! behind the test as well: the interpreter that goes on there tests again, with the same result. The mark that carries it
//! (`yieldpoint header`) moves to the new beginning. A loop without it is left alone, for nothing could be moved out of it. No
//! yieldpoint comes between the test and the body, since that of the loop is before the branch back.
//!
//! Linear in the size of the region (for finding loops), and in what is live for each loop that is inverted ([`Copies`]).

use super::copies::Copies;
use super::{Input, Notes};
use crate::ir::region::Shape;
use crate::ir::{BlockId, Op, Region, Target, Terminator, Value, YieldKind};
use holloway_bytecode::cfg::{Graph, LoopId};

/// So much is copied for one loop.
const MOST_NODES: usize = 16;

/// So much in a region.
const MOST_IN_REGION: usize = 160;

/// The pass.
pub fn run(region: &mut Region, _: &Input<'_>, _: &mut Notes) -> bool {
    if !region.block_ids().any(|block| begins_loop(region, block)) {
        return false;
    }
    region.clear_unreachable();
    let shape = region.shape();
    if !shape.loops.is_reducible() {
        return false;
    }
    let mut left = MOST_IN_REGION;
    let mut plans = Vec::new();
    for (id, _) in shape.loops.iter() {
        if let Some(tests) = tests(region, &shape, id) {
            let size = size(region, &tests);
            if size <= MOST_NODES.min(left) {
                left -= size;
                plans.push((id, tests));
            }
        }
    }
    if plans.is_empty() {
        return false;
    }
    let mut copies = Copies::new(region);
    for (id, tests) in plans {
        invert(region, &shape, id, &tests, &mut copies);
    }
    copies.settle(region);
    true
}

/// May a loop that tests at its top begin here: there is the mark, and nothing that has an effect up to a jump or branch.
fn begins_loop(region: &Region, block: BlockId) -> bool {
    let block = region.block(block);
    let is_mark = |op| op == Op::Yieldpoint(YieldKind::Header);
    block.nodes.iter().any(|&value| is_mark(region.op(value)))
        && block.nodes.iter().all(|&value| is_mark(region.op(value)) || !has_effect(region.op(value)))
        && matches!(block.end, Terminator::Branch { .. } | Terminator::Jump(_))
}

/// Something that must not be executed twice.
fn has_effect(op: Op) -> bool {
    (op.has_effect() && !op.is_check()) || matches!(op, Op::New(_) | Op::NewArray(_))
}

fn size(region: &Region, blocks: &[BlockId]) -> usize {
    let nodes = blocks.iter().flat_map(|&block| &region.block(block).nodes);
    blocks.len() + nodes.filter(|&&node| !region.op(node).is_constant()).count()
}

/// The blocks from the header to the first test for leaving the loop, and those that follow with nothing but further such tests
/// (of `a && b`); `None` if something in front of it has an effect, or if the loop is not to be changed.
fn tests(region: &Region, shape: &Shape, id: LoopId) -> Option<Vec<BlockId>> {
    let Shape { graph, loops, .. } = shape;
    let natural = loops.get(id);
    if region.block(natural.header).cold || !begins_loop(region, natural.header) {
        return None;
    }
    // Exits to where control never goes are no exits.
    let leaves = |block: BlockId| {
        let targets = region.block(block).end.targets().map(|target| target.block);
        let is_rare =
            |to: BlockId| region.block(to).cold || matches!(region.block(to).end, Terminator::Deopt(..));
        targets.into_iter().any(|to| !loops.contains(id, to) && !is_rare(to))
    };
    // A loop whose last test is for leaving it has its test at the bottom, even if its yieldpoint comes between.
    let tests_last = |mut at: BlockId| {
        let is_yieldpoint = |&value: &Value| region.op(value) == Op::Yieldpoint(YieldKind::Loop);
        while matches!(region.block(at).end, Terminator::Jump(_))
            && region.block(at).nodes.iter().all(is_yieldpoint)
            && at != natural.header
            && let [edge] = graph.in_edges(at)
        {
            at = graph.source(*edge);
        }
        leaves(at)
    };
    if natural.back_edges.iter().any(|&edge| tests_last(graph.source(edge))) {
        return None;
    }
    let mut blocks = vec![natural.header];
    let mut tests = 0;
    let mut at = natural.header;
    loop {
        if leaves(at) {
            tests = blocks.len();
        }
        let mut inside = graph.targets_of(at).iter().filter(|&&to| loops.contains(id, to));
        let (Some(&next), None) = (inside.next(), inside.next()) else { break };
        // With one way in, it is neither the header nor that of a loop inside.
        let is_copied = |op: Op| if tests > 0 { op.is_pure() } else { !has_effect(op) };
        let goes_on = graph.in_edges(next).len() == 1
            && !region.block(next).cold
            && region.block(next).nodes.iter().all(|&value| is_copied(region.op(value)));
        blocks.push(next);
        if !goes_on || size(region, &blocks) > MOST_NODES {
            break;
        }
        at = next;
    }
    blocks.truncate(tests);
    (tests > 0).then_some(blocks)
}

fn invert(region: &mut Region, shape: &Shape, id: LoopId, tests: &[BlockId], copies: &mut Copies) {
    let header = tests[0];
    // The mark goes to where the loop begins now.
    let is_mark = |region: &Region, value| region.op(value) == Op::Yieldpoint(YieldKind::Header);
    let (marks, nodes): (Vec<_>, Vec<_>) =
        region.block(header).nodes.iter().partition(|&&value| is_mark(region, value));
    region.block_mut(header).nodes = nodes;
    copies.add(region, tests);
    let begin = region.add_block();
    region.block_mut(begin).nodes = marks;
    region.block_mut(begin).cold = region.block(header).cold;
    // Blocks that were made meanwhile are in front of this loop, if they lead to it at all.
    let is_inside =
        |block: BlockId| block.index() < shape.graph.block_count() && shape.loops.contains(id, block);
    let Some(copy) = copies.of(header) else { return };
    for from in region.block_ids().filter(|&from| !is_inside(from)) {
        for target in region.block_mut(from).end.targets_mut() {
            if target.block == header {
                target.block = copy;
            }
        }
    }
    // Both tests go to the new beginning, which goes on with what the original passes.
    let ends = tests.last().and_then(|&last| Some([copies.of(last)?, last]));
    for block in ends.into_iter().flatten() {
        let inside = region.block_mut(block).end.targets_mut().find(|target| is_inside(target.block));
        let passed = inside.map(|target| std::mem::replace(target, Target::plain(begin)));
        region.block_mut(begin).end = passed.map_or(Terminator::Open, Terminator::Jump);
    }
}
