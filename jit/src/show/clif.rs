//! Cranelift's function as text, in Cranelift's own form, with source lines, and names instead of addresses.

use super::names::Names;
use super::places::Places;
use crate::lower::{Lowered, Origin};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData, Opcode, Value, ValueDef};
use cranelift_codegen::write::{FuncWriter, decorate_function, write_block_header};
use std::fmt::{self, Write};

/// Where comments begin.
const SIDE_COLUMN: usize = 56;

/// The function of a region.
pub fn print(lowered: &Lowered, names: &Names, places: Places<'_>) -> String {
    let mut writer = Writer { names, places, locations: &lowered.locations };
    let mut out = String::new();
    // Writing into a string does not fail.
    let _ = decorate_function(&mut writer, &mut out, &lowered.function);
    out
}

struct Writer<'a> {
    names: &'a Names,
    places: Places<'a>,
    locations: &'a [Origin],
}

impl FuncWriter for Writer<'_> {
    fn write_block_header(
        &mut self,
        w: &mut dyn Write,
        function: &Function,
        block: Block,
        _: usize,
    ) -> fmt::Result {
        write_block_header(w, function, block, 4)
    }

    fn write_instruction(
        &mut self,
        w: &mut dyn Write,
        function: &Function,
        aliases: &SecondaryMap<Value, Vec<Value>>,
        inst: Inst,
        _: usize,
    ) -> fmt::Result {
        let location = function.srcloc(inst);
        if !location.is_default()
            && let Some(&origin) = self.locations.get(location.bits() as usize)
            && let Some(heading) = self.places.heading(origin)
        {
            writeln!(w, "    {heading}")?;
        }
        let mut plain = String::new();
        cranelift_codegen::write::PlainWriter.write_instruction(&mut plain, function, aliases, inst, 0)?;
        let mut lines = plain.lines();
        let mut text = lines.next().unwrap_or_default();
        if text.starts_with('@') {
            text = text.split_once(' ').map_or("", |(_, rest)| rest);
        }
        // Cranelift's comments repeat constants, addresses among them.
        let text = text.split("  ; ").next().unwrap_or_default();
        let (text, comment) = self.named(function, inst, text.trim());
        match comment {
            Some(comment) => writeln!(w, "    {text:SIDE_COLUMN$} ; {comment}")?,
            None => writeln!(w, "    {text}")?,
        }
        for line in lines {
            writeln!(w, "    {}", line.trim())?;
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// The text of an instruction without addresses, and what there is to say about it.
    fn named(&self, function: &Function, inst: Inst, text: &str) -> (String, Option<String>) {
        if let Some(name) = self.constant(function, inst) {
            let end = text.rfind(' ').unwrap_or(text.len());
            return (format!("{} <{name}>", &text[..end]), None);
        }
        let comment = match function.dfg.insts[inst] {
            InstructionData::Load { arg, offset, .. } => self.field(function, arg, offset.into()),
            InstructionData::Store { args, offset, .. } => self.field(function, args[1], offset.into()),
            InstructionData::CallIndirect { .. } | InstructionData::TryCallIndirect { .. } => {
                function.dfg.inst_args(inst).first().and_then(|&callee| self.callee(function, callee))
            }
            _ => None,
        };
        (text.to_string(), comment)
    }

    /// The name of the address that an instruction gives.
    fn constant(&self, function: &Function, inst: Inst) -> Option<String> {
        match function.dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => {
                self.names.address(imm.bits() as u64)
            }
            _ => None,
        }
    }

    /// The instruction that gives a value.
    fn definition(function: &Function, value: Value) -> Option<Inst> {
        match function.dfg.value_def(function.dfg.resolve_aliases(value)) {
            ValueDef::Result(inst, _) => Some(inst),
            _ => None,
        }
    }

    /// What of the context is used.
    fn field(&self, function: &Function, base: Value, offset: i32) -> Option<String> {
        let entry = function.layout.entry_block()?;
        let context = function.dfg.block_params(entry).first()?;
        (function.dfg.resolve_aliases(base) == *context).then(|| self.names.context(offset))?
    }

    /// What is called: a helper, or the code of a method.
    fn callee(&self, function: &Function, callee: Value) -> Option<String> {
        let inst = Self::definition(function, callee)?;
        if let Some(name) = self.constant(function, inst) {
            return Some(name);
        }
        match function.dfg.insts[inst] {
            InstructionData::Load { arg, .. } => {
                let method = Self::definition(function, arg)?;
                self.constant(function, method)
            }
            _ => None,
        }
    }
}
