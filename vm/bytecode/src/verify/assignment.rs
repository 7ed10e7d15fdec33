//! Invariant A1: definite assignment, by forward data flow over basic blocks.
//!
//! The state before an instruction is the set of registers that are assigned on every path to it; where paths meet,
//! sets are intersected. Registers are never unassigned, so states only shrink while the analysis runs, and a read
//! that fails once fails for good: the first one ends the analysis.
//!
//! Blocks are visited in the order of their places. Thanks to F5 and F7 every edge but those of the loop shapes goes
//! forward, so that this order is a topological one of all forward edges: a sweep from the first waiting block
//! reaches its end with all states settled but for what back edges bring. A block is visited again only
//! if its state changed. That takes one visit for nearly all blocks: a loop's header dominates its back edges in compiled
//! code, and then nothing is missing at the back edge that was there at the header.
//!
//! An instruction in a protected range can fail before it writes anything, so the state of a handler is the
//! intersection of the states *before* all instructions that it protects. Ranges begin and end with blocks and sets grow
//! within a block, so the states at the beginnings of the blocks suffice.

use super::code::Places;
use super::opcodes::OpInfo;
use super::{Invariant, Verifier};
use crate::calls::callee;
use crate::code::decode;
use crate::ops::OpShape;
use crate::program::Function;
use crate::protection::Protection;

/// The memory of the analysis, kept from function to function.
#[derive(Default)]
pub(super) struct Flow {
    /// First word of each block, and the end of the code.
    starts: Vec<u32>,
    /// For the first word of each block, its number. Other entries are left over from before.
    block_at: Vec<u32>,
    /// For each block, the registers assigned before it.
    states: Vec<u64>,
    /// The blocks that have a state.
    reached: Vec<bool>,
    /// The blocks whose state changed since their last visit, one bit each.
    waiting: Vec<u64>,
    /// Which handlers protect a block.
    protection: Protection,
    /// Those of the block that is visited.
    handlers: Vec<u32>,
    /// Words of a state.
    width: usize,
}

impl Flow {
    fn reset(&mut self, function: &Function, leaders: &Places) {
        let end = function.code.len();
        self.starts.clear();
        self.block_at.resize(self.block_at.len().max(end + 1), 0);
        for place in leaders.iter().take_while(|&place| place < end) {
            self.block_at[place] = self.starts.len() as u32;
            self.starts.push(place as u32);
        }
        let blocks = self.starts.len();
        self.starts.push(end as u32);
        self.protection.reset(&function.handlers);
        self.width = function.registers.len().div_ceil(64);
        self.states.clear();
        self.states.resize(blocks * self.width, 0);
        self.reached.clear();
        self.reached.resize(blocks, false);
        self.waiting.clear();
        self.waiting.resize(blocks.div_ceil(64), 0);
    }

    /// Control can come to the block at `place` with these registers assigned.
    #[inline]
    fn arrive(&mut self, place: usize, state: &[u64]) {
        let block = self.block_at[place] as usize;
        let at = block * self.width;
        let known = &mut self.states[at..at + self.width];
        let mut changed = false;
        if std::mem::replace(&mut self.reached[block], true) {
            for (word, new) in known.iter_mut().zip(state) {
                changed |= *word & !new != 0;
                *word &= new;
            }
        } else {
            known.copy_from_slice(state);
            changed = true;
        }
        if changed {
            self.waiting[block / 64] |= 1 << (block % 64);
        }
    }

    /// The first waiting block at or after `from`, which then waits no more.
    fn next(&mut self, from: usize) -> Option<usize> {
        let mut mask = u64::MAX << (from % 64);
        for (i, word) in self.waiting.iter_mut().enumerate().skip(from / 64) {
            let found = *word & mask;
            if found != 0 {
                let bit = found.trailing_zeros() as usize;
                *word &= !(1 << bit);
                return Some(i * 64 + bit);
            }
            mask = u64::MAX;
        }
        None
    }
}

/// Checks one function whose form and types are sound. `leaders` are the first words of its blocks.
pub(super) fn check(v: &mut Verifier<'_>, function: &Function, leaders: &Places) {
    let mut flow = std::mem::take(&mut v.flow);
    flow.reset(function, leaders);
    let mut state = vec![0; flow.width];
    (0..function.params as usize).for_each(|register| insert(&mut state, register));
    flow.arrive(0, &state);
    let mut from = 0;
    while let Some(block) = flow.next(from).or_else(|| flow.next(0)) {
        from = block + 1;
        if let Err((pc, register)) = visit(v, function, &mut flow, block, &mut state) {
            v.error(Invariant::A1, pc, format!("r{register} is read before it was written on every path"));
            break;
        }
    }
    v.flow = flow;
}

/// Follows a block from its state to its successors; an error is a read (where, and of what).
fn visit(
    v: &Verifier<'_>,
    function: &Function,
    flow: &mut Flow,
    block: usize,
    state: &mut [u64],
) -> Result<(), (usize, u16)> {
    let [mut pc, end] = [flow.starts[block], flow.starts[block + 1]].map(|place| place as usize);
    state.copy_from_slice(&flow.states[block * flow.width..][..flow.width]);
    let mut handlers = std::mem::take(&mut flow.handlers);
    flow.protection.at(pc as u32, &mut handlers);
    for &number in &handlers {
        let handler = &function.handlers[number as usize];
        let register = handler.register.0 as usize;
        let before = state[register / 64];
        insert(state, register);
        flow.arrive(handler.target as usize, state);
        state[register / 64] = before;
    }
    flow.handlers = handlers;
    loop {
        let word = function.code[pc];
        let info = &v.opcodes[word as u8 as usize];
        step(v, function, pc, word, info, state)?;
        let next = pc + info.length(word);
        if next < end {
            pc = next;
            continue;
        }
        if info.shape.has_targets()
            && let Some(i) = decode(&function.code, pc)
        {
            let targets = i.target().into_iter().chain(i.cases().map(|case| case.target));
            targets.for_each(|distance| flow.arrive((pc as i64 + distance as i64) as usize, state));
        }
        if info.shape.falls_through() {
            flow.arrive(end, state);
        }
        return Ok(());
    }
}

/// What an instruction reads must be assigned; what it writes is so afterwards.
#[inline]
fn step(
    v: &Verifier<'_>,
    function: &Function,
    pc: usize,
    word: u64,
    info: &OpInfo,
    state: &mut [u64],
) -> Result<(), (usize, u16)> {
    for operand in info.uses() {
        read(pc, operand.register(word), state)?;
    }
    for operand in info.defs() {
        let register = operand.register(word);
        if info.counted_loop {
            read(pc, register, state)?;
        }
        insert(state, register as usize);
    }
    if info.shape == OpShape::Call
        && let Some(i) = decode(&function.code, pc)
    {
        for argument in i.args() {
            read(pc, argument.0, state)?;
        }
        // Whether there is a result does not depend on the type of the first argument.
        if callee(v.program, function, &i).is_some_and(|callee| callee.result(None).is_some()) {
            insert(state, i.a as usize);
        }
    }
    Ok(())
}

#[inline]
fn read(pc: usize, register: u16, state: &[u64]) -> Result<(), (usize, u16)> {
    if state[register as usize / 64] >> (register % 64) & 1 != 0 { Ok(()) } else { Err((pc, register)) }
}

#[inline]
fn insert(state: &mut [u64], register: usize) {
    state[register / 64] |= 1 << (register % 64);
}
