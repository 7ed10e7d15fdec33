//! Machine code as text: Intel's syntax, source lines between the instructions, names instead of addresses.
//!
//! Code is disassembled block by block, because data may follow an instruction from which control does not go on: the table of
//! a switch (distances from its own beginning, four bytes each), or constants at the end of everything.
//!
//! Where the order of blocks was planned, each begins with its name there and how often it runs for each entry.
//!
//! Calls go through registers. Which register holds the address of what is followed from one label to the next, in the
//! order of the text; what is not known there stays without a name.

use super::names::Names;
use super::places::Places;
use super::plan;
use crate::lower::Layout;
use crate::lower::order::Why;
use capstone::Capstone;
use capstone::arch::x86::{ArchMode, ArchSyntax};
use capstone::arch::{BuildsCapstone, BuildsCapstoneSyntax};
use holloway_vm::compiled::{CodeId, Compiled};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::iter::Peekable;

/// Where comments begin.
const SIDE_COLUMN: usize = 52;
/// Bytes of an entry in the table of a switch.
const TABLE_ENTRY: usize = 4;
/// Bytes of constants shown in a line.
const DATA_WORD: usize = 8;

/// An instruction, or data.
pub(crate) struct Piece {
    pub start: u32,
    pub end: u32,
    pub mnemonic: String,
    pub operands: String,
}

/// The code of a region.
pub fn print(
    compiled: &Compiled,
    layout: &Layout,
    code: CodeId,
    names: &Names,
    mut places: Places<'_>,
) -> Result<String, String> {
    let pieces = disassemble(&compiled.bytes, &layout.blocks)?;
    let labels = labels(&pieces, compiled);
    let mut registers = Registers { names, holds: BTreeMap::new() };
    let mut out = String::new();
    let mut origins = layout.origins.iter().peekable();
    let mut blocks = blocks(layout);
    for piece in &pieces {
        let mut origin = None;
        while let Some(&(_, next)) = origins.next_if(|&&(start, _)| start <= piece.start) {
            origin = Some(next);
        }
        if let Some(mark) = origin.and_then(|origin| places.cold(origin)) {
            let _ = writeln!(out, "  {mark}");
        }
        if let Some(number) = labels.get(&piece.start) {
            let _ = writeln!(out, "L{number}:");
            registers.holds.clear();
        }
        while let Some((_, block)) = blocks.next_if(|(start, _)| *start <= piece.start) {
            let _ = writeln!(out, "  {block}");
        }
        if let Some(heading) = origin.and_then(|origin| places.heading(origin)) {
            let _ = writeln!(out, "  {heading}");
        }
        let (operands, mut comments) = operands(piece, names, &labels, code, compiled);
        comments.extend(registers.step(piece));
        if let Ok(call) = compiled.calls.binary_search_by_key(&piece.end, |call| call.returns)
            && let Some(number) = labels.get(&compiled.calls[call].landing)
        {
            comments.push(format!("fails to L{number}"));
        }
        let text = format!("  {:5x}  {} {operands}", piece.start, piece.mnemonic);
        match comments.is_empty() {
            true => out.push_str(text.trim_end()),
            false => {
                let _ = write!(out, "{:SIDE_COLUMN$} ; {}", text.trim_end(), comments.join(", "));
            }
        }
        out.push('\n');
    }
    Ok(out)
}

/// Where blocks begin of which it was planned how they follow each other, with what is written there.
fn blocks(layout: &Layout) -> Peekable<impl Iterator<Item = (u32, String)>> {
    let planned = layout.plan.iter().flat_map(|plan| &plan.blocks).filter(|block| block.why != Why::Cold);
    let planned: BTreeMap<_, _> = planned.map(|planned| (planned.block, planned.frequency)).collect();
    let mut last = None;
    let emitted = layout.emitted.iter().filter(move |(_, block)| last.replace(*block) != Some(*block));
    let written = emitted.filter_map(move |&(start, block)| {
        Some((start, format!("; {block} x{}", plan::times(*planned.get(&block)?))))
    });
    written.peekable()
}

/// All instructions and data in order.
pub(crate) fn disassemble(bytes: &[u8], blocks: &[u32]) -> Result<Vec<Piece>, String> {
    let capstone = Capstone::new()
        .x86()
        .mode(ArchMode::Mode64)
        .syntax(ArchSyntax::Intel)
        .build()
        .map_err(|error| error.to_string())?;
    let mut starts: Vec<u32> = std::iter::once(0).chain(blocks.iter().copied()).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut pieces = Vec::new();
    for (index, &start) in starts.iter().enumerate() {
        let last = index + 1 == starts.len();
        let end = starts.get(index + 1).map_or(bytes.len(), |&next| next as usize);
        let block = bytes.get(start as usize..end).unwrap_or_default();
        let instructions = capstone.disasm_all(block, start as u64).map_err(|error| error.to_string())?;
        let mut at = start as usize;
        for instruction in instructions.iter() {
            let mnemonic = instruction.mnemonic().unwrap_or("?").to_string();
            let operands = instruction.op_str().unwrap_or("").to_string();
            let begin = at as u32;
            at += instruction.bytes().len();
            let through_register = mnemonic == "jmp" && immediate(&operands).is_none();
            let ends = through_register || last && matches!(&*mnemonic, "ret" | "jmp" | "ud2");
            pieces.push(Piece { start: begin, end: at as u32, mnemonic, operands });
            if ends {
                match through_register {
                    true => table(bytes, at, end, &mut pieces),
                    false => constants(bytes, at, end, &mut pieces),
                }
                break;
            }
        }
    }
    Ok(pieces)
}

/// The table of a switch: where its cases are.
fn table(bytes: &[u8], begin: usize, end: usize, pieces: &mut Vec<Piece>) {
    for (index, entry) in bytes[begin..end].chunks_exact(TABLE_ENTRY).enumerate() {
        let distance = i32::from_le_bytes(entry.try_into().unwrap_or_default());
        let target = begin as i64 + distance as i64;
        let start = (begin + index * TABLE_ENTRY) as u32;
        let (mnemonic, operands) = ("case".to_string(), format!("{target:#x}"));
        pieces.push(Piece { start, end: start + TABLE_ENTRY as u32, mnemonic, operands });
    }
}

/// Constants, and what fills the space before them.
fn constants(bytes: &[u8], begin: usize, end: usize, pieces: &mut Vec<Piece>) {
    let mut at = begin;
    while at < end {
        let next = ((at / DATA_WORD + 1) * DATA_WORD).min(end);
        let operands = match <[u8; DATA_WORD]>::try_from(&bytes[at..next]) {
            Ok(word) => format!("{:#x}", u64::from_le_bytes(word)),
            Err(_) => bytes[at..next].iter().map(|byte| format!("{byte:02x} ")).collect(),
        };
        let mnemonic = "data".to_string();
        pieces.push(Piece { start: at as u32, end: next as u32, mnemonic, operands });
        at = next;
    }
}

/// Numbers of the places to which control jumps, in their order.
fn labels(pieces: &[Piece], compiled: &Compiled) -> BTreeMap<u32, usize> {
    let jumps = pieces.iter().filter(|piece| piece.mnemonic.starts_with('j') || piece.mnemonic == "case");
    let targets = jumps.filter_map(|piece| Some(immediate(&piece.operands)? as u32));
    let landings = compiled.calls.iter().map(|call| call.landing);
    let places: BTreeSet<u32> = targets.chain(landings).collect();
    let starts: BTreeSet<u32> = pieces.iter().map(|piece| piece.start).collect();
    places.into_iter().filter(|place| starts.contains(place)).enumerate().map(|(n, at)| (at, n + 1)).collect()
}

/// A number that is the whole text.
pub(crate) fn immediate(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The operands of an instruction: labels and names instead of offsets and addresses; and what there is to say about them.
fn operands(
    piece: &Piece,
    names: &Names,
    labels: &BTreeMap<u32, usize>,
    code: CodeId,
    compiled: &Compiled,
) -> (String, Vec<String>) {
    let jumps = piece.mnemonic.starts_with('j') || piece.mnemonic == "case";
    let mut comments = Vec::new();
    let parts: Vec<String> = piece
        .operands
        .split(", ")
        .map(|operand| {
            let Some(number) = immediate(operand) else { return operand.to_string() };
            if jumps && let Some(label) = labels.get(&(number as u32)) {
                return format!("L{label}");
            }
            if let Some(name) = names.address(number) {
                return format!("<{name}>");
            }
            let (place, site) = ((number >> 32) as u32, number as u32);
            // With 0 in one of the halves it is likely to be something else.
            if place == code.0
                && place > 0
                && site > 0
                && let Some(site) = compiled.sites.get(site as usize)
            {
                comments.push(format!("{} here", site.reason));
            }
            operand.to_string()
        })
        .collect();
    (parts.join(", "), comments)
}

/// What registers are known to hold.
struct Registers<'a> {
    names: &'a Names,
    holds: BTreeMap<String, Held>,
}

/// Something with a name.
#[derive(Clone)]
enum Held {
    /// An address.
    Address(u64),
    /// The address of a method's code.
    Code(String),
}

impl Registers<'_> {
    /// Goes past an instruction; what it calls, if that is known.
    fn step(&mut self, piece: &Piece) -> Option<String> {
        let (first, second) = piece.operands.split_once(", ").unwrap_or((&piece.operands, ""));
        if piece.mnemonic == "call" {
            let callee = self.value(first).and_then(|held| match held {
                Held::Address(bits) => self.names.address(bits),
                Held::Code(name) => Some(name),
            });
            self.holds.clear();
            return callee;
        }
        let moved = match &*piece.mnemonic {
            "mov" => self.value(second),
            "movabs" => {
                immediate(second).filter(|&bits| self.names.address(bits).is_some()).map(Held::Address)
            }
            // These write registers that they do not name.
            "div" | "idiv" | "mul" | "imul" | "cqo" | "cdq" | "xchg" | "cmpxchg" => {
                self.holds.clear();
                None
            }
            _ => None,
        };
        let reads = matches!(&*piece.mnemonic, "cmp" | "test" | "push") || first.contains('[');
        if !reads {
            match moved {
                Some(held) => self.holds.insert(family(first), held),
                None => self.holds.remove(&family(first)),
            };
        }
        None
    }

    /// What an operand is.
    fn value(&self, operand: &str) -> Option<Held> {
        let Some(inside) = operand.strip_prefix("qword ptr [") else {
            return self.holds.get(operand).cloned();
        };
        let inside = inside.strip_suffix(']')?;
        let (base, offset) = inside.split_once(" + ").unwrap_or((inside, "0"));
        match self.holds.get(base)? {
            Held::Address(bits) if self.is_method_entry(immediate(offset)?) => {
                self.names.method(*bits).map(|name| Held::Code(format!("method {name}")))
            }
            _ => None,
        }
    }

    /// Does a method hold the address of its code at this offset.
    fn is_method_entry(&self, offset: u64) -> bool {
        self.names.method_entries.iter().any(|&entry| entry as u64 == offset)
    }
}

/// The name of the whole register of which this is the name of a part.
fn family(register: &str) -> String {
    let numbered = register.strip_prefix('r').map(|rest| rest.trim_end_matches(['b', 'w', 'd']));
    match numbered.filter(|rest| rest.parse::<u8>().is_ok()) {
        Some(number) => format!("r{number}"),
        None => match register {
            "al" | "ax" | "eax" => "rax".to_string(),
            "bl" | "bx" | "ebx" => "rbx".to_string(),
            "cl" | "cx" | "ecx" => "rcx".to_string(),
            "dl" | "dx" | "edx" => "rdx".to_string(),
            "sil" | "si" | "esi" => "rsi".to_string(),
            "dil" | "di" | "edi" => "rdi".to_string(),
            whole => whole.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_one_name() {
        for (part, whole) in [("eax", "rax"), ("r8d", "r8"), ("r15b", "r15"), ("r9", "r9"), ("dil", "rdi")] {
            assert_eq!(family(part), whole);
        }
        assert_eq!(family("xmm3"), "xmm3");
    }

    #[test]
    fn tables_and_constants_are_not_taken_for_instructions() {
        // jmp rax; a table of one case that leads behind it; ret; padding; a constant.
        let mut bytes = vec![0xff, 0xe0];
        bytes.extend(4i32.to_le_bytes());
        bytes.extend([0xc3, 0]);
        bytes.extend(1.5f64.to_le_bytes());
        let pieces = disassemble(&bytes, &[0, 6]).expect("there is a disassembler");
        let text: Vec<String> = pieces.iter().map(|p| format!("{} {}", p.mnemonic, p.operands)).collect();
        let expected =
            ["jmp rax", "case 0x6", "ret ", "data 00 ", "data 0x3ff8000000000000"].map(str::to_string);
        assert_eq!(text, expected);
        assert_eq!(labels(&pieces, &Compiled::default()), BTreeMap::from([(6, 1)]));
    }
}
