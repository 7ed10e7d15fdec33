//! Which registers will still be read: backward data flow over the blocks of a function.
//!
//! A register is *live* before an instruction if some way from there reads it before it is written. The collector
//! keeps alive only what live registers refer to; a compiler keeps only them in the state that it must be able to restore.
//!
//! An instruction in a protected range can leave for its handler at any moment, so what the handler reads is live
//! everywhere in a block with an edge to it (more than necessary, never less). The register in which a handler finds the
//! error is written on the way.
//!
//! Solved with a worklist in postorder; two bit sets of one bit a register for each block, and nothing for single instructions:
//! a query walks back from the end of its block. Functions for which the sets would take more than twice [`MOST_BITS`] are not
//! analysed.

use super::{BlockId, Cfg, EdgeKind};
use crate::calls::call_result;
use crate::code::Instruction;
use crate::ops::OpShape;
use crate::program::{Function, Program};
use crate::types::Register;

/// The most that the sets of one kind may take for all blocks of a function together: 16 MiB. There are two kinds, 32 MiB in all.
const MOST_BITS: usize = 1 << 27;

/// The live registers of a function.
pub struct Liveness {
    cfg: Cfg,
    /// Live at the end of each block.
    ends: Vec<RegisterSet>,
    /// Live in all of a block because a handler reads it.
    throughout: Vec<RegisterSet>,
}

/// A set of registers of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterSet {
    words: Box<[u64]>,
}

impl RegisterSet {
    fn empty(registers: usize) -> RegisterSet {
        RegisterSet { words: vec![0; registers.div_ceil(64)].into() }
    }

    /// Is it in the set.
    pub fn contains(&self, register: Register) -> bool {
        self.words[register.0 as usize / 64] >> (register.0 % 64) & 1 != 0
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Register> {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| Register((i * 64 + bit) as u16))
        })
    }

    fn insert(&mut self, register: Register) {
        self.words[register.0 as usize / 64] |= 1 << (register.0 % 64);
    }

    fn remove(&mut self, register: Register) {
        self.words[register.0 as usize / 64] &= !(1 << (register.0 % 64));
    }

    /// Adds all of `other`; true if that changed anything.
    fn add(&mut self, other: &RegisterSet) -> bool {
        let mut changed = false;
        for (word, &more) in self.words.iter_mut().zip(&other.words) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }
}

impl Liveness {
    /// Analyses a function of a verified program; `None` if it is too large for that.
    pub fn of_function(program: &Program, function: &Function) -> Option<Liveness> {
        let cfg = Cfg::of_function(function);
        let blocks = cfg.blocks().len();
        if blocks.checked_mul(function.registers.len())? > MOST_BITS {
            return None;
        }
        let empty = RegisterSet::empty(function.registers.len());
        let mut liveness =
            Liveness { cfg, ends: vec![empty.clone(); blocks], throughout: vec![empty; blocks] };
        liveness.solve(program, function);
        Some(liveness)
    }

    /// What is live before the instruction at `pc`.
    pub fn before(&self, program: &Program, function: &Function, pc: u32) -> RegisterSet {
        let Some(block) = self.cfg.block_at(pc) else { return RegisterSet::empty(function.registers.len()) };
        let mut live = self.ends[block.index()].clone();
        self.walk_back(program, function, block, pc, &mut live);
        live
    }

    /// What is live while the call at `pc` runs: what is read after it, its result and its arguments apart.
    pub fn across(&self, program: &Program, function: &Function, pc: u32) -> RegisterSet {
        let Some(block) = self.cfg.block_at(pc) else { return RegisterSet::empty(function.registers.len()) };
        let mut live = self.ends[block.index()].clone();
        self.walk_back(program, function, block, pc + 1, &mut live);
        if let Some(call) = crate::code::decode(&function.code, pc as usize)
            && let Some(result) = written(program, function, &call)
        {
            live.remove(result);
        }
        live.add(&self.throughout[block.index()]);
        live
    }

    /// From the end of a block back to before the first instruction at or after `pc`.
    fn walk_back(
        &self,
        program: &Program,
        function: &Function,
        block: BlockId,
        pc: u32,
        live: &mut RegisterSet,
    ) {
        let instructions: Vec<_> = self.cfg.instructions(function, block).collect();
        for (at, instruction) in instructions.iter().rev() {
            if (*at as u32) < pc {
                break;
            }
            step_back(program, function, instruction, live);
        }
        live.add(&self.throughout[block.index()]);
    }

    fn solve(&mut self, program: &Program, function: &Function) {
        let order: Vec<BlockId> = self.cfg.reverse_postorder().to_vec();
        let mut waiting: Vec<bool> = vec![true; self.ends.len()];
        // A pass goes through the blocks in postorder; information flows back along most edges at once.
        while order.iter().any(|block| waiting[block.index()]) {
            for &block in order.iter().rev() {
                if !std::mem::replace(&mut waiting[block.index()], false) {
                    continue;
                }
                let mut start = self.ends[block.index()].clone();
                let from = self.cfg.block(block).start;
                self.walk_back(program, function, block, from, &mut start);
                for &edge in self.cfg.in_edges(block) {
                    let source = self.cfg.source(edge);
                    let changed = match self.cfg.kind(edge) {
                        EdgeKind::Exception(number) => {
                            let mut read = start.clone();
                            read.remove(function.handlers[number as usize].register);
                            self.throughout[source.index()].add(&read)
                        }
                        _ => self.ends[source.index()].add(&start),
                    };
                    waiting[source.index()] |= changed;
                }
            }
        }
    }
}

/// Before an instruction, given what is live after it.
fn step_back(program: &Program, function: &Function, i: &Instruction<'_>, live: &mut RegisterSet) {
    if let Some(register) = written(program, function, i) {
        live.remove(register);
    }
    for register in i.uses() {
        live.insert(register);
    }
}

/// The register that an instruction writes, if it goes on.
fn written(program: &Program, function: &Function, i: &Instruction<'_>) -> Option<Register> {
    match i.op.shape() {
        OpShape::Call => call_result(program, function, i).map(|_| Register(i.a)),
        _ => i.def(),
    }
}
