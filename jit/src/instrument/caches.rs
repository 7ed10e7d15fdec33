//! Inline caches of a region: counters in front of each call that is one. For a call through a table the classes of its receivers, for one
//! that was bound to its target a single counter. An inlined call has no cache: nothing is called.

use super::EXHAUSTED;
use super::calls::call_of;
use crate::ir::{Node, Op, Region, Ty, Value};
use holloway_bytecode::Program;
use holloway_profilers::calls::CallEdge;
use holloway_vm::profiling::{CacheInstrumentation, CounterNumbers, VersionCaches, is_through_table};
use smallvec::smallvec;

/// Puts in the counting of all calls that have caches.
pub fn instrument(
    region: &mut Region,
    program: &Program,
    wanted: &CacheInstrumentation,
    counters: &CounterNumbers,
) -> Result<VersionCaches, String> {
    let entries = wanted.entries;
    let mut caches = VersionCaches { entries, ..VersionCaches::default() };
    for block in region.block_ids().collect::<Vec<_>>() {
        let nodes = std::mem::take(&mut region.block_mut(block).nodes);
        let mut kept: Vec<Value> = Vec::with_capacity(nodes.len());
        for value in nodes {
            let node = region.node(value);
            let (inline, pc, receiver) = (node.inline, node.pc, node.args.first().copied());
            let call = if node.op == Op::Entered { None } else { call_of(region, node) };
            let count = match (call, receiver) {
                (Some((site, Some(callee))), _) if wanted.all || is_through_table(program, site) => {
                    let counter = counters.allocate(1).ok_or(EXHAUSTED)?;
                    caches.bound.push((CallEdge { site, callee }, counter));
                    Some((Op::Count(counter), smallvec![]))
                }
                (Some((site, None)), Some(receiver)) => {
                    let cells = counters.allocate(VersionCaches::counters(entries)).ok_or(EXHAUSTED)?;
                    caches.sites.push((site, cells));
                    Some((Op::CountCached { cells, entries }, smallvec![receiver]))
                }
                _ => None,
            };
            kept.extend(
                count.map(|(op, args)| {
                    region.add_node(Node { op, args, ty: Ty::None, state: None, inline, pc })
                }),
            );
            kept.push(value);
        }
        region.block_mut(block).nodes = kept;
    }
    Ok(caches)
}
