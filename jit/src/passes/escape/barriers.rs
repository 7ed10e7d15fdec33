//! Write barriers after allocations have moved.
//!
//! A store into a new object needs none until the next allocation ([`crate::build::stores`]). Where an object is made now,
//! stores that follow may have become such that do: all get their barriers back, and lose those that are not needed.

use crate::build::stores;
use crate::ir::{Op, Region};
use holloway_bytecode::Program;

/// Decides anew which stores of references need a barrier.
pub fn renew(region: &mut Region, program: &Program) {
    for block in 0..region.blocks.len() {
        for at in 0..region.blocks[block].nodes.len() {
            let value = region.blocks[block].nodes[at];
            let Op::StoreField(class, field) = region.op(value) else { continue };
            let fields = program.classes[class.index()].fields();
            if fields.get(field as usize).is_some_and(|field| field.ty.is_ref()) {
                region.nodes[value.index()].op = Op::StoreRefField(class, field);
            }
        }
    }
    stores::relax(region);
}
