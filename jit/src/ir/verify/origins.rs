//! I1 to I3: that the tree of methods and the places in their bytecode make sense.

use super::{Errors, Invariant, Verifier};
use crate::ir::{InlineId, RegionEntry, Source, Value};
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{FunctionId, Op, Program, code};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// Which words of functions begin instructions, and which; found when asked for.
pub(super) struct Origins<'a> {
    program: &'a Program,
    functions: RefCell<BTreeMap<FunctionId, Vec<Option<Op>>>>,
}

impl<'a> Origins<'a> {
    pub fn new(program: &'a Program) -> Origins<'a> {
        Origins { program, functions: RefCell::default() }
    }

    /// The instruction that begins at a place.
    pub fn instruction(&self, function: FunctionId, pc: u32) -> Option<Op> {
        let mut functions = self.functions.borrow_mut();
        let ops = functions.entry(function).or_insert_with(|| {
            let code = &self.program.functions[function.index()].code;
            let mut ops = vec![None; code.len()];
            code::instructions(code).for_each(|(pc, instruction)| ops[pc] = Some(instruction.op));
            ops
        });
        ops.get(pc as usize).copied().flatten()
    }
}

impl Verifier<'_> {
    /// The instruction at a place of a method of the tree.
    fn instruction(&self, inline: InlineId, pc: u32) -> Option<Op> {
        self.origins.instruction(self.region.inlines[inline.index()].function, pc)
    }

    pub(super) fn tree(&self, errors: &mut Errors) {
        let inlines = &self.region.inlines;
        if inlines[0].caller.is_some() || inlines[0].depth != 0 {
            errors.add(Invariant::I1, "i0", "has a caller or a depth");
        }
        for (number, inline) in inlines.iter().enumerate().skip(1) {
            let name = format_args!("i{number}");
            let Some((caller, pc)) = inline.caller else {
                errors.add(Invariant::I1, name, "has no caller");
                continue;
            };
            if caller.index() >= number || inline.depth != inlines[caller.index()].depth + 1 {
                errors.add(Invariant::I1, name, format!("is not below i{}", caller.0));
            }
            if self.instruction(caller, pc).is_none_or(|op| op.shape() != OpShape::Call) {
                errors.add(Invariant::I1, name, format!("there is no call at i{}:{pc}", caller.0));
            }
        }
        if let RegionEntry::Loop(pc) = self.region.entry {
            self.place(&"region", InlineId::ROOT, pc, errors);
        }
    }

    /// The origin of a node.
    pub(super) fn origin(&self, value: Value, errors: &mut Errors) {
        let node = self.region.node(value);
        if self.instruction(node.inline, node.pc).is_none() {
            self.place(&self.name(value), node.inline, node.pc, errors);
        }
    }

    /// I2 for a place.
    pub(super) fn place(&self, name: &dyn fmt::Display, inline: InlineId, pc: u32, errors: &mut Errors) {
        if self.instruction(inline, pc).is_none() {
            errors.add(Invariant::I2, name, format!("no instruction begins at i{}:{pc}", inline.0));
        }
    }

    /// I3 for the branch that the end of a block stands for.
    pub(super) fn source(
        &self,
        name: &dyn fmt::Display,
        source: Source,
        is_switch: bool,
        errors: &mut Errors,
    ) {
        let Source { inline, pc, .. } = source;
        if inline.index() >= self.region.inlines.len() {
            errors.add(Invariant::R1, name, format!("there is no i{}", inline.0));
            return;
        }
        let stands = self.instruction(inline, pc).is_some_and(|op| match op.shape() {
            OpShape::Switch => true,
            OpShape::Branch | OpShape::LoopBranch => !is_switch,
            _ => false,
        });
        if !stands {
            let what = if is_switch { "switch" } else { "branch" };
            errors.add(Invariant::I3, name, format!("there is no {what} at i{}:{pc}", inline.0));
        }
    }
}
