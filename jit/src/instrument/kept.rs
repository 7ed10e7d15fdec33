//! Which counters of edges an activation keeps while it is in a loop.
//!
//! A counter in memory that is incremented in each round of a loop is a chain: the next increment waits for the store of the one before,
//! which takes longer than a small loop's round. So in loops that call nothing the increment is of a value of the activation's own, in a register if
//! there is one; what has come together is added to the counter where the loop is left, or by the exit if compiled code is.
//!
//! Calls would let others see the counter, and a frame whose code has become invalid meanwhile is left without an exit of this code.

use super::edge;
use super::flow::Flow;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Op, Region};
use holloway_bytecode::cfg::LoopId;
use holloway_profilers::Edge;

/// What an increment of a counter in memory costs more than one of a register.
const GAIN: u64 = 2;
/// What it costs to add the register to the counter.
const ADD: u64 = 4;
/// What it costs to make the register 0 where the activation begins.
const BEGIN: u64 = 1;

/// For each loop, does it call nothing.
pub struct Quiet(Vec<bool>);

impl Quiet {
    /// Of a region.
    pub fn of(region: &Region, shape: &Shape) -> Quiet {
        let calls = |&block: &BlockId| {
            let mut ops = region.block(block).nodes.iter().map(|&value| region.op(value));
            ops.any(|op| op.is_call() && !matches!(op, Op::Yieldpoint(_)))
        };
        Quiet(shape.loops.iter().map(|(_, of)| !of.blocks.iter().any(calls)).collect())
    }

    /// If what is counted on an edge is to be kept in a loop, the edges by which the loop is left.
    pub fn exits(&self, region: &Region, shape: &Shape, flow: &Flow, counted: Edge) -> Option<Vec<Edge>> {
        let from = BlockId(counted.from.0);
        let to = region.block(from).end.targets().nth(counted.arm.index())?.block;
        let inside = |&id: &LoopId| self.0[id.index()] && shape.loops.contains(id, to);
        let mut kept_in = None;
        let mut around = shape.loops.innermost(from);
        while let Some(id) = around {
            if inside(&id) {
                kept_in = Some(id);
            }
            around = shape.loops.get(id).parent;
        }
        let exits = exits(region, shape, kept_in?);
        let left: u64 = exits.iter().map(|&exit| flow.frequency(exit)).sum();
        let price = left.saturating_mul(ADD).saturating_add(flow.block(Region::ENTRY) * BEGIN);
        (flow.frequency(counted).saturating_mul(GAIN) > price).then_some(exits)
    }
}

fn exits(region: &Region, shape: &Shape, id: LoopId) -> Vec<Edge> {
    let out_of = |&from: &BlockId| {
        let targets = region.block(from).end.targets().enumerate();
        targets
            .filter(|(_, target)| !shape.loops.contains(id, target.block))
            .map(|(arm, _)| edge(from.index(), arm))
            .collect::<Vec<Edge>>()
    };
    shape.loops.get(id).blocks.iter().flat_map(out_of).collect()
}
