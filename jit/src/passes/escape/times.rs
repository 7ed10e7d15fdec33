//! What has changed since a block was visited last: a sweep passes over blocks for which nothing has.
//!
//! What comes of a block depends on how things stand at the ends of those that lead to it, on what the values that it
//! mentions stand for, and on what it began with last time. All values that are not passed over an edge are defined before the block in
//! the order of sweeps.

use super::analysis::Analysis;
use crate::ir::{BlockId, Op, Region, Terminator, Value};
use holloway_bytecode::cfg::EdgeId;

/// When what has changed. Time goes on by one for each block of each sweep.
pub struct Times {
    /// The present.
    pub now: u32,
    /// When blocks were last entered and walked; 0 is never.
    pub visited: Vec<u32>,
    /// When how things stand at the ends of blocks has changed last.
    pub left: Vec<u32>,
    /// When what values stand for has changed last.
    pub meant: Vec<u32>,
}

impl Times {
    /// Nothing has happened yet.
    pub fn of(region: &Region) -> Times {
        let (blocks, nodes) = (region.blocks.len(), region.nodes.len());
        Times { now: 0, visited: vec![0; blocks], left: vec![0; blocks], meant: vec![0; nodes] }
    }

    /// Does the value stand for what it stood for at a time. What values that were added since stand for never changes.
    fn is_meant_since(&self, value: Value, time: u32) -> bool {
        self.meant.get(value.index()).is_none_or(|&at| at <= time)
    }
}

impl Analysis<'_> {
    /// Can a block be entered with something else than last time.
    pub fn enters_anew(&self, region: &Region, block: BlockId) -> bool {
        // What changed while the block itself was visited was not seen if it came in over its own edge.
        let Some(before) = self.times.visited[block.index()].checked_sub(1) else { return true };
        let graph = self.graph;
        let is_old = |value: Value| self.times.is_meant_since(value, before);
        let is_old_way = |&edge: &EdgeId| {
            let source = graph.source(edge);
            let end = &region.block(source).end;
            let mut condition = match *end {
                Terminator::Branch { condition, .. } => Some(condition),
                _ => None,
            };
            let mut is_old_condition = true;
            while let Some(value) = condition {
                is_old_condition &= is_old(value);
                condition = (region.op(value) == Op::Not).then(|| region.node(value).args[0]);
            }
            let args =
                || end.targets().filter(|target| target.block == block).flat_map(|target| &target.args);
            !graph.is_reachable(source)
                || self.times.left[source.index()] <= before
                    && is_old_condition
                    && args().all(|&arg| is_old(arg))
        };
        !(graph.in_edges(block).iter().all(is_old_way) && self.facts.names.live_at(block).all(is_old))
    }

    /// Can the nodes of a block do something else than last time, although it begins as it did.
    pub fn walks_anew(&self, region: &Region, block: BlockId) -> bool {
        let before = self.times.visited[block.index()];
        let is_old = |value: Value| self.times.is_meant_since(value, before);
        let returned = match region.block(block).end {
            Terminator::Return(value) => value,
            _ => None,
        };
        let mut nodes = region.block(block).nodes.iter();
        before == 0
            || !returned.is_none_or(is_old)
            || nodes.any(|&node| !region.node(node).args.iter().all(|&arg| is_old(arg)))
    }
}
