//! Counters of edges that are outcomes of branches: on as few edges as possible, and those that run least.

use super::EXHAUSTED;
use super::edges::Edges;
use super::flow::Flow;
use super::kept::Quiet;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Op, Region, Terminator};
use holloway_profilers::ControlFlow;
use holloway_profilers::edges::{Place, SparseCounters};
use holloway_vm::profiling::{CounterNumbers, VersionEdges};
use std::collections::BTreeSet;

/// Puts counters on edges, and says how the counts of all outcomes follow from them.
pub fn instrument(
    region: &mut Region,
    shape: &Shape,
    flow: &Flow,
    edges: &mut Edges,
    counters: &CounterNumbers,
) -> Result<VersionEdges, String> {
    let arms: Vec<_> = flow.branch_arms().collect();
    let wanted: BTreeSet<_> = arms.iter().map(|&(edge, _)| edge).collect();
    let sparse = {
        let region = &*region;
        let ends = |block: holloway_profilers::BlockId| {
            matches!(region.block(BlockId(block.0)).end, Terminator::Return(_))
        };
        // Of edges that run equally often those are counted that need no block of their own.
        let weight = |edge| {
            let own_block = edges.needs_block(region, edge);
            flow.frequency(edge).saturating_mul(2).saturating_add(u64::from(own_block))
        };
        SparseCounters::new(flow, ends, weight, |edge| wanted.contains(&edge))
    };
    let first = counters.allocate(sparse.len()).ok_or(EXHAUSTED)?;
    let ended = counters.allocate(flow.blocks()).ok_or(EXHAUSTED)?;
    let quiet = Quiet::of(region, shape);
    for (place, counter) in sparse.places().zip(first..) {
        match place {
            Place::Edge(edge) => match quiet.exits(region, shape, flow, edge) {
                None => edges.add(region, edge, Op::Count(counter)),
                Some(exits) => {
                    edges.add(region, edge, Op::CountKept(counter));
                    exits.into_iter().for_each(|exit| edges.add(region, exit, Op::AddKept(counter)));
                }
            },
            Place::End(block) => edges.add_to_all(region, BlockId(block.0), Op::Count(counter)),
            // Has the greatest weight, and so never a counter.
            Place::Enter(_) => return Err("the entry has a counter".into()),
        }
    }
    Ok(VersionEdges { sparse, counters: first, ended, blocks: flow.blocks() as u32, arms })
}
