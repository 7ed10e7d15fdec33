//! Tidies the graph: fewer blocks, fewer jumps, fewer tests of what is already known.
//!
//! Each edge is followed as far as it leads without doing anything:
//!
//! * through blocks that are empty and jump on (*forwarding*);
//! * through blocks that are empty and branch by a parameter for which this edge gives a constant (*threading*): what `&&`,
//!   `||` and Booleans from two branches leave behind; likewise through blocks that only compare such parameters with constants
//!   ([`threading`]).
//!
//! Then branches of which both ways lead to the same place become jumps, and a block that is alone in jumping to another is
//! joined with it. All that until nothing changes.
//!
//! *Invariant*: an edge is only led past a block whose parameters nobody but that block uses: afterwards the block need
//! not dominate what it dominated. All else that the places behind it use is defined above it, and so above its
//! predecessors.
//!
//! Loops keep their shape: no edge is led past a header, so a loop gets no second entry, and a block in front
//! of a header stays, if it is outside the loop: there is a place for what is moved out.
//!
//! A round is linear; there are two or three.

mod threading;

use super::{Input, Notes};
use crate::ir::{BlockId, Region, Shape, Target, Terminator, Value};
use threading::{Decision, Untaken};

/// Runs the pass.
pub fn run(region: &mut Region, _: &Input<'_>, _: &mut Notes) -> bool {
    let mut changed = false;
    loop {
        let followed = follow_edges(region);
        let joined = same_targets(region) | join(region);
        if !followed && !joined {
            break;
        }
        changed = true;
    }
    if changed {
        region.clear_unreachable();
    }
    changed
}

/// Leads every edge to where it really goes.
fn follow_edges(region: &mut Region) -> bool {
    let shape = region.shape();
    // In a graph that is not reducible there may be cycles without a header.
    if !shape.loops.is_reducible() {
        return false;
    }
    let mut changed = threading::free_parameters(region, &shape);
    let passable = passable(region, &shape);
    let mut untaken = Untaken::default();
    for &block in shape.graph.reverse_postorder() {
        let mut end = std::mem::replace(&mut region.block_mut(block).end, Terminator::Open);
        for (arm, target) in end.targets_mut().enumerate() {
            // This ends, because every cycle has a header.
            while let Some(next) = next(region, &shape, &passable, (block, arm), target, &mut untaken) {
                *target = next;
                changed = true;
            }
        }
        region.block_mut(block).end = end;
    }
    untaken.forget(region);
    changed
}

/// The blocks that an edge may be led past: empty but for a comparison, no headers, with parameters and a comparison that only they use.
fn passable(region: &Region, shape: &Shape) -> Vec<bool> {
    let is_empty = |block| region.block(block).nodes.is_empty() || Decision::of(region, block).is_some();
    let mut passable: Vec<bool> =
        region.block_ids().map(|block| is_empty(block) && shape.loops.headed_by(block).is_none()).collect();
    let mut homes = vec![None; region.nodes.len()];
    for block in region.block_ids().filter(|block| passable[block.index()]) {
        let of = region.block(block);
        of.params.iter().chain(&of.nodes).for_each(|value| homes[value.index()] = Some(block));
    }
    for &user in shape.graph.reverse_postorder() {
        region.uses(user, |value, _| {
            if let Some(home) = homes[value.index()]
                && home != user
            {
                passable[home.index()] = false;
            }
        });
    }
    passable
}

/// Where an edge goes past the block that it leads to. `place`: where it comes from, and its number there.
fn next(
    region: &Region,
    shape: &Shape,
    passable: &[bool],
    place: (BlockId, usize),
    edge: &Target,
    untaken: &mut Untaken,
) -> Option<Target> {
    let block = region.block(edge.block);
    if !passable[edge.block.index()] {
        return None;
    }
    let given = |value| region.given(edge, value);
    let onward = match &block.end {
        Terminator::Jump(target) => {
            let header = shape.loops.headed_by(target.block);
            if header.is_some_and(|header| !shape.loops.contains(header, edge.block)) {
                return None;
            }
            target
        }
        Terminator::Branch { condition, then, otherwise, .. } => {
            let holds = match Decision::of(region, edge.block) {
                Some(decision) => decision.given(region, given)?,
                None if block.params.contains(condition) => region.bool(given(*condition))?,
                None => return None,
            };
            let onward = if holds { then } else { otherwise };
            untaken.led_past(region, place, edge.block, onward);
            onward
        }
        _ => return None,
    };
    Some(Target { block: onward.block, args: onward.args.iter().map(|&arg| given(arg)).collect() })
}

/// Branches and switches that always go to the same place become jumps.
fn same_targets(region: &mut Region) -> bool {
    let mut changed = false;
    for block in &mut region.blocks {
        if matches!(block.end, Terminator::Jump(_)) {
            continue;
        }
        let first = {
            let mut targets = block.end.targets();
            targets.next().filter(|&first| targets.all(|target| target == first)).cloned()
        };
        if let Some(first) = first {
            block.end = Terminator::Jump(first);
            changed = true;
        }
    }
    changed
}

/// Joins blocks with the only one that jumps to them.
fn join(region: &mut Region) -> bool {
    let graph = region.graph();
    let mut forward: Vec<Value> = (0..region.nodes.len() as u32).map(Value).collect();
    let mut changed = false;
    let mut is_gone = vec![false; region.blocks.len()];
    for &block in graph.reverse_postorder() {
        if is_gone[block.index()] {
            continue;
        }
        while let Terminator::Jump(target) = &region.block(block).end {
            let mut predecessors =
                graph.predecessors(target.block).filter(|&block| graph.is_reachable(block));
            let is_alone = predecessors.next().is_some() && predecessors.next().is_none();
            if !is_alone || target.block == block || target.block == Region::ENTRY {
                break;
            }
            let Target { block: joined, args } = target.clone();
            is_gone[joined.index()] = true;
            let joined = std::mem::take(region.block_mut(joined));
            for (param, arg) in joined.params.iter().zip(args) {
                // Arguments come from blocks before this one, whose own parameters are settled.
                forward[param.index()] = forward[arg.index()];
            }
            let block = region.block_mut(block);
            block.nodes.extend(joined.nodes);
            block.end = joined.end;
            changed = true;
        }
    }
    if changed {
        region.substitute(|value| forward[value.index()]);
    }
    changed
}
