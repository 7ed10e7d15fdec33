//! Write barriers that are not needed. The collector is generational: a barrier records an old object before it can refer to a new
//! one. Null refers to nothing, and an object is new as long as nothing could have collected since it was made, that
//! is until the next allocation or call.

use crate::ir::{BlockId, Op, Region, Value};

/// Turns stores of references that need no write barrier into plain ones. True if there were any.
pub fn relax(region: &mut Region) -> bool {
    let mut changed = false;
    for block in region.block_ids() {
        changed |= relax_block(region, block);
    }
    changed
}

fn relax_block(region: &mut Region, block: BlockId) -> bool {
    let mut newest: Option<Value> = None;
    let mut changed = false;
    for at in 0..region.block(block).nodes.len() {
        let value = region.block(block).nodes[at];
        match region.op(value) {
            Op::New(_) => newest = Some(value),
            Op::NewArray(_) => newest = None,
            op if op.is_call() => newest = None,
            Op::StoreRefField(class, field) => {
                let (object, stored) = (region.node(value).args[0], region.node(value).args[1]);
                let fresh = newest.is_some() && newest == Some(region.unchecked(object));
                if fresh || region.op(region.unchecked(stored)) == Op::Null {
                    region.nodes[value.index()].op = Op::StoreField(class, field);
                    changed = true;
                }
            }
            _ => {}
        }
    }
    changed
}
