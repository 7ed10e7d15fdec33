//! What is live inside one bytecode block, where frame states are needed: one walk back from its end, so that long blocks
//! full of calls do not take quadratic time.

use super::plan::written;
use holloway_bytecode::cfg::{BlockId, Cfg, EdgeKind, Liveness, can_raise};
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Function, Program, Register};

/// The live registers at the instructions of one block that need frame states.
#[derive(Default)]
pub struct BlockLife {
    /// By descending place.
    at: Vec<Life>,
}

struct Life {
    pc: u32,
    before: Vec<Register>,
    across: Vec<Register>,
}

/// A set of registers.
struct Set(Vec<u64>);

impl Set {
    fn of(registers: usize, members: impl Iterator<Item = Register>) -> Set {
        let mut set = Set(vec![0; registers.div_ceil(64)]);
        members.for_each(|register| set.insert(register));
        set
    }

    fn insert(&mut self, register: Register) {
        self.0[register.0 as usize / 64] |= 1 << (register.0 % 64);
    }

    fn remove(&mut self, register: Register) {
        self.0[register.0 as usize / 64] &= !(1 << (register.0 % 64));
    }

    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    fn list(&self) -> Vec<Register> {
        let mut list = Vec::new();
        for (i, &word) in self.0.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                list.push(Register((i * 64) as u16 + rest.trailing_zeros() as u16));
                rest &= rest - 1;
            }
        }
        list
    }
}

impl BlockLife {
    /// Walks through a block.
    pub fn of(
        program: &Program,
        function: &Function,
        liveness: &Liveness,
        cfg: &Cfg,
        block: BlockId,
    ) -> BlockLife {
        let count = function.registers.len();
        // Errors can leave anywhere in the block: what handlers read is live everywhere.
        let mut handlers = Set::of(count, std::iter::empty());
        for edge in cfg.out_edges(block) {
            if let EdgeKind::Exception(number) = cfg.kind(edge) {
                let at = cfg.block(cfg.target(edge)).start;
                let mut read = Set::of(count, liveness.before(program, function, at).iter());
                read.remove(function.handlers[number as usize].register);
                handlers.add(&read);
            }
        }
        let instructions: Vec<_> = cfg.instructions(function, block).collect();
        let mut at = Vec::new();
        let mut live = Set::of(count, std::iter::empty());
        for (i, (pc, instruction)) in instructions.iter().enumerate().rev() {
            let (pc, is_call) = (*pc as u32, instruction.op.shape() == OpShape::Call);
            let mut across = Vec::new();
            if i + 1 == instructions.len() {
                // What comes after the block is known to the analysis of the method.
                live = Set::of(count, liveness.before(program, function, pc).iter());
                if is_call {
                    across = liveness.across(program, function, pc).iter().collect();
                }
            } else {
                if let Some(register) = written(program, function, instruction) {
                    live.remove(register);
                }
                live.add(&handlers);
                if is_call {
                    across = live.list();
                }
                instruction.uses().for_each(|register| live.insert(register));
            }
            let yields =
                matches!(instruction.op.shape(), OpShape::Return | OpShape::LoopBranch | OpShape::LoopJump);
            if can_raise(instruction.op) || yields {
                at.push(Life { pc, before: live.list(), across });
            }
        }
        BlockLife { at }
    }

    fn life(&self, pc: u32) -> Option<&Life> {
        let found = self.at.binary_search_by(|life| pc.cmp(&life.pc)).ok()?;
        Some(&self.at[found])
    }

    /// Live before the instruction at `pc`.
    pub fn before(&self, pc: u32) -> Option<Vec<Register>> {
        self.life(pc).map(|life| life.before.clone())
    }

    /// Live while the call at `pc` runs.
    pub fn across(&self, pc: u32) -> Option<Vec<Register>> {
        self.life(pc).map(|life| life.across.clone())
    }
}
