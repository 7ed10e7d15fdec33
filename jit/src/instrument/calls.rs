//! Calls of a region: a counter for each call whose callee is known, an entry of a hash table for each class of receivers of the others.
//!
//! Where a callee was put in the place of a call, there is a mark ([`Op::Entered`]) from when it was put there, which passes treat
//! as something that is seen from outside: it is executed as often as the call would have been, and the interpreter never does
//! again what was done before it. So the counts are exact also where code is left in the middle of inlined calls. The marks are only made
//! if calls are to be counted.

use super::{EXHAUSTED, cut, side};
use crate::ir::{Node, Op, Region, Ty, Value};
use holloway_bytecode::FunctionId;
use holloway_profilers::calls::{CallEdge, CallSite};
use holloway_profilers::{BlockId, MethodId};
use holloway_vm::profiling::{BlockCall, CounterNumbers, PathTableCells, ReceiverTable, VersionCalls};
use smallvec::smallvec;

/// The calls of each block, in order.
pub fn passed(region: &Region) -> Vec<BlockCall> {
    let mut passed = Vec::new();
    for block in region.block_ids() {
        let cut = cut(region, block);
        for (at, &value) in region.block(block).nodes.iter().enumerate() {
            let node = region.node(value);
            let inlined = node.op == Op::Entered;
            let call = call_of(region, node);
            passed.extend(call.map(|(site, callee)| BlockCall {
                block: BlockId(block.0),
                side: side(at, cut),
                site,
                callee,
                inlined,
            }));
        }
    }
    passed
}

/// The site of the call that a node is or stands for, and what is called if that is known.
pub fn call_of(region: &Region, node: &Node) -> Option<(CallSite, Option<MethodId>)> {
    let here = &region.inlines[node.inline.index()];
    let (caller, position, callee) = match (node.op, here.caller) {
        (Op::Entered, Some((outer, site))) => {
            (region.inlines[outer.index()].function, site, Some(here.function))
        }
        (Op::Call(callee), _) => (here.function, node.pc, Some(callee)),
        (Op::CallVirtual(..) | Op::CallInterface(..), _) => (here.function, node.pc, None),
        _ => return None,
    };
    Some((CallSite { caller: MethodId(caller.0), position }, callee.map(|callee| MethodId(callee.0))))
}

/// Takes marks out that nothing was made of.
pub fn clear_marks(region: &mut Region) {
    for block in region.block_ids().collect::<Vec<_>>() {
        let mut nodes = std::mem::take(&mut region.block_mut(block).nodes);
        nodes.retain(|&value| region.op(value) != Op::Entered);
        region.block_mut(block).nodes = nodes;
    }
}

/// Puts in the counting of all calls.
pub fn instrument(region: &mut Region, counters: &CounterNumbers) -> Result<VersionCalls, String> {
    let mut calls = VersionCalls::default();
    let mut table: Option<ReceiverTable> = None;
    for block in region.block_ids().collect::<Vec<_>>() {
        let nodes = std::mem::take(&mut region.block_mut(block).nodes);
        let mut kept: Vec<Value> = Vec::with_capacity(nodes.len());
        for value in nodes {
            let node = region.node(value);
            let (inline, pc, is_mark) = (node.inline, node.pc, node.op == Op::Entered);
            let call = call_of(region, node);
            let receiver = node.args.first().copied();
            let mut count = |region: &mut Region, op: Op, args| {
                kept.push(region.add_node(Node { op, args, ty: Ty::None, state: None, inline, pc }));
            };
            match (call, receiver) {
                (Some((site, Some(callee))), _) => {
                    let counter = counters.allocate(1).ok_or(EXHAUSTED)?;
                    calls.counted.push((CallEdge { site, callee }, counter));
                    count(region, Op::Count(counter), smallvec![]);
                }
                (Some((at, None)), Some(receiver)) => {
                    let table = match &mut table {
                        Some(table) => table,
                        None => {
                            let cells = counters.allocate(PathTableCells::COUNT).ok_or(EXHAUSTED)?;
                            table.insert(ReceiverTable { cells, sites: Vec::new() })
                        }
                    };
                    let site = table.sites.len() as u32;
                    table.sites.push((FunctionId(at.caller.0), at.position));
                    let cells = table.cells;
                    count(region, Op::CountReceiver { cells, site }, smallvec![receiver]);
                }
                _ => {}
            }
            if !is_mark {
                kept.push(value);
            }
        }
        region.block_mut(block).nodes = kept;
    }
    calls.receivers = table;
    Ok(calls)
}
