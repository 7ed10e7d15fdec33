//! Invariants F: the form of a function. Then, instruction by instruction, operands and types, and at last assignment.

use super::opcodes::{self, OpInfo};
use super::{
    Invariant, MAX_CODE, MAX_PARAMS, MAX_REGISTERS, Verifier, assignment, encoding, operands, rules,
};
use crate::code::decode;
use crate::ops::OpShape;
use crate::program::Function;
use crate::types::Type;

/// A set of places in code, one bit for each word and the end.
#[derive(Default)]
pub(super) struct Places {
    bits: Vec<u64>,
}

/// What the passes over one function share; its memory serves the next function, too.
#[derive(Default)]
pub(super) struct Scratch {
    /// First words of instructions.
    pub starts: Places,
    /// First words of blocks: where control can arrive other than from above, or where protection begins or ends.
    pub leaders: Places,
    /// The kinds of the registers' types.
    kinds: Vec<u8>,
}

impl Places {
    /// The empty set for code of `length` words.
    fn reset(&mut self, length: usize) {
        self.bits.clear();
        self.bits.resize(length / 64 + 1, 0);
    }

    #[inline]
    pub fn insert(&mut self, place: usize) {
        self.bits[place / 64] |= 1 << (place % 64);
    }

    #[inline]
    pub fn contains(&self, place: usize) -> bool {
        self.bits.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 != 0)
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.bits.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    i * 64 + bit
                })
            })
        })
    }
}

/// Checks one function.
pub(super) fn check(v: &mut Verifier<'_>, function: &Function) {
    let before = v.errors.len();
    let mut scratch = std::mem::take(&mut v.scratch);
    let sound = registers(v, function) && encodings(v, function, &mut scratch);
    if sound {
        places(v, function, &mut scratch);
        let mut pc = 0;
        while let Some(&word) = function.code.get(pc) {
            let info = &v.opcodes[word as u8 as usize];
            if info.shape.has_targets() {
                targets(v, function, pc, &mut scratch);
            }
            // What an instruction means can only be asked if its operands make sense.
            if operands::check(v, function, pc, word, info, &scratch.kinds) && info.rules {
                rules::check(v, function, pc);
            }
            pc += info.length(word);
        }
    }
    // Paths can only be followed if targets make sense.
    if v.errors.len() == before {
        assignment::check(v, function, &scratch.leaders);
    }
    v.scratch = scratch;
}

/// F1.
fn registers(v: &mut Verifier<'_>, function: &Function) -> bool {
    let (params, registers) = (function.params as usize, function.registers.len());
    if params > MAX_PARAMS {
        v.error(Invariant::F1, None, format!("{params} parameters are more than {MAX_PARAMS}"));
    } else if registers > MAX_REGISTERS {
        v.error(Invariant::F1, None, format!("{registers} registers are more than {MAX_REGISTERS}"));
    } else if params > registers {
        v.error(Invariant::F1, None, format!("{params} parameters are more than the {registers} registers"));
    } else {
        return true;
    }
    false
}

/// F2, F3, F6. Finds the first words.
fn encodings(v: &mut Verifier<'_>, function: &Function, scratch: &mut Scratch) -> bool {
    let code = &function.code;
    if code.is_empty() || code.len() > MAX_CODE {
        v.error(Invariant::F2, None, format!("code of {} words", code.len()));
        return false;
    }
    scratch.starts.reset(code.len());
    scratch.leaders.reset(code.len());
    scratch.kinds.clear();
    scratch.kinds.extend(function.registers.iter().map(|&ty| opcodes::kind(ty)));
    let before = v.errors.len();
    let mut pc = 0;
    let mut falls_through = true;
    while let Some(&word) = code.get(pc) {
        let Some(info) = v.opcodes.get(word as u8 as usize) else {
            v.error(Invariant::F2, pc, format!("there is no opcode {}", word as u8));
            return false;
        };
        let next = pc + info.length(word);
        let Some(words) = code.get(pc..next) else {
            v.error(Invariant::F2, pc, format!("the words of `{}` are cut off", info.op.mnemonic()));
            return false;
        };
        zeros(v, pc, words, info);
        scratch.starts.insert(pc);
        falls_through = info.shape.falls_through();
        if info.shape.ends_block() {
            scratch.leaders.insert(next);
        }
        pc = next;
    }
    if falls_through {
        v.error(Invariant::F6, None, "control falls off the end of the code");
    }
    v.errors.len() == before
}

/// F3.
#[inline]
fn zeros(v: &mut Verifier<'_>, pc: usize, words: &[u64], info: &OpInfo) {
    if words[0] & info.unused != 0 {
        v.error(Invariant::F3, pc, format!("bits that `{}` does not use are set", info.op.mnemonic()));
    }
    let counted = match info.shape {
        OpShape::Branch | OpShape::LoopBranch => words[1] != 0,
        OpShape::Switch => words[2..].iter().any(|word| word >> 32 != 0),
        OpShape::Wide | OpShape::Call => {
            if words[1] != 0 && encoding::has_machine_word(info.op) {
                let name = info.op.mnemonic();
                v.error(Invariant::F3, pc, format!("the word of `{name}` that is the machine's is not zero"));
            }
            if info.shape == OpShape::Call && encoding::stray_arguments(words) != 0 {
                let name = info.op.mnemonic();
                v.error(Invariant::F3, pc, format!("bits after the arguments of `{name}` are set"));
            }
            false
        }
        _ => false,
    };
    if counted {
        v.error(Invariant::F3, pc, format!("the counters of `{}` are not zero", info.op.mnemonic()));
    }
}

/// F7, F8, F9.
fn places(v: &mut Verifier<'_>, function: &Function, scratch: &mut Scratch) {
    let end = function.code.len();
    scratch.leaders.insert(0);
    for (i, h) in function.handlers.iter().enumerate() {
        let [start, stop, target] = [h.start, h.end, h.target].map(|pc| pc as usize);
        let starts = &scratch.starts;
        let in_code =
            starts.contains(start) && (starts.contains(stop) || stop == end) && starts.contains(target);
        if !in_code || start >= stop || target < stop {
            v.error(
                Invariant::F7,
                None,
                format!("handler {i} protects {start} to {stop} and begins at {target}"),
            );
        } else {
            [start, stop, target].into_iter().for_each(|place| scratch.leaders.insert(place));
        }
        let exists = h.class.index() < v.program.classes.len();
        let is_error =
            exists && v.program.error_root.is_some_and(|root| v.program.is_subclass(h.class, root));
        if !is_error {
            v.error(Invariant::F8, None, format!("handler {i} catches something that is not thrown"));
        } else {
            let register = function.registers.get(h.register.0 as usize);
            if !register.is_some_and(|&ty| v.fits(Type::class(h.class), ty)) {
                let name = &v.program.classes[h.class.index()].name;
                v.error(Invariant::F8, None, format!("handler {i} puts {name} into r{}", h.register.0));
            }
        }
    }
    if function.positions.first().is_some_and(|p| p.pc != 0) {
        v.error(Invariant::F9, None, "the first instruction has no position but a later one has");
    }
    if !function.positions.is_sorted_by(|a, b| a.pc < b.pc) {
        v.error(Invariant::F9, None, "the positions are not in ascending order");
    }
    for p in &function.positions {
        if !scratch.starts.contains(p.pc as usize) {
            v.error(Invariant::F9, p.pc as usize, "a position is not at an instruction");
        }
        if p.position.line != 0 && p.position.file as usize >= v.program.files.len() {
            v.error(Invariant::F9, p.pc as usize, format!("there is no file {}", p.position.file));
        }
    }
}

/// F4, F5. Notes where blocks begin.
#[inline]
fn targets(v: &mut Verifier<'_>, function: &Function, pc: usize, scratch: &mut Scratch) {
    let Some(i) = decode(&function.code, pc) else { return };
    let backward = matches!(i.op.shape(), OpShape::LoopBranch | OpShape::LoopJump);
    let one = i.target();
    for distance in one.into_iter().chain(i.cases().map(|case| case.target)) {
        let target = pc as i64 + distance as i64;
        let place = target as usize;
        if target < 0 || place >= function.code.len() || !scratch.starts.contains(place) {
            v.error(Invariant::F4, pc, format!("the target {target} is not an instruction"));
        } else if backward != (distance <= 0) {
            let way = if backward { "forward" } else { "back" };
            v.error(Invariant::F5, pc, format!("`{}` goes {way}, to {target}", i.op.mnemonic()));
        } else {
            scratch.leaders.insert(place);
        }
    }
}
