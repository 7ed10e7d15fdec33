//! Stores that are overwritten before anybody could see them.
//!
//! Walked backwards with the set of locations that will surely be written before they are read. Whatever can leave
//! compiled code reads everything, for the interpreter goes on with the memory as it is: so this is about stores close
//! to each other, as those of inlined constructors over initial values.
//!
//! One round against the reverse postorder: of blocks that were not walked yet (around loops) nothing is assumed.

use super::locations::{Effect, LocationId, Locations, effect};
use crate::ir::{BlockId, Region, Terminator, Value};
use holloway_bytecode::cfg::FlowGraph;

/// Removes such stores; true if there were any.
pub fn remove(region: &mut Region, locations: &Locations<'_>, graph: &FlowGraph) -> bool {
    let mut before: Vec<Vec<LocationId>> = vec![Vec::new(); region.blocks.len()];
    let mut changed = false;
    for &block in graph.reverse_postorder().iter().rev() {
        let mut overwritten = after(region, graph, &before, block);
        let mut nodes = std::mem::take(&mut region.block_mut(block).nodes);
        let count = nodes.len();
        // From the last to the first.
        nodes.reverse();
        nodes.retain(|&node| step(region, locations, &mut overwritten, node));
        nodes.reverse();
        changed |= nodes.len() != count;
        for &param in &region.block(block).params {
            forget(locations, &mut overwritten, param);
        }
        let target = region.block_mut(block);
        target.nodes = nodes;
        before[block.index()] = overwritten;
    }
    changed
}

/// What is overwritten on all ways out of a block.
fn after(region: &Region, graph: &FlowGraph, before: &[Vec<LocationId>], block: BlockId) -> Vec<LocationId> {
    if matches!(region.block(block).end, Terminator::Deopt(..) | Terminator::Return(_)) {
        return Vec::new();
    }
    let Some((first, others)) = graph.targets_of(block).split_first() else { return Vec::new() };
    let mut overwritten = before[first.index()].clone();
    overwritten.retain(|location| others.iter().all(|other| before[other.index()].contains(location)));
    overwritten
}

/// Goes back over a node; false if it is a store that nobody sees.
fn step(region: &Region, locations: &Locations<'_>, overwritten: &mut Vec<LocationId>, value: Value) -> bool {
    let node = region.node(value);
    if node.state.is_some() || effect(node.op) == Effect::All {
        overwritten.clear();
        return true;
    }
    if let Some(location) = locations.of_access(region, value) {
        if node.op.writes().is_some() {
            if overwritten.contains(&location) {
                return false;
            }
            overwritten.push(location);
        } else {
            overwritten.retain(|&other| !locations.may_alias(region, other, location, |_| false));
        }
    }
    forget(locations, overwritten, value);
    true
}

/// Before a value is defined, its name means nothing.
fn forget(locations: &Locations<'_>, overwritten: &mut Vec<LocationId>, value: Value) {
    overwritten.retain(|&location| {
        let location = locations.get(location);
        location.object != Some(value) && location.index != Some(value)
    });
}
