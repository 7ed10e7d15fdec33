//! Functions that are right in everything but perhaps in what they read before they wrote it: random control flow
//! over integers, with handlers.

use super::Rng;
use holloway_bytecode::code::{Instruction, encode, instructions};
use holloway_bytecode::*;
use rand::RngExt;

/// Integer registers of a generated function; the one after them holds errors.
pub const INTEGERS: u16 = 5;

/// An instruction that is not yet placed: its words but for the targets, which are numbers of instructions.
struct Draft {
    words: Vec<u64>,
    targets: Vec<usize>,
}

/// The prelude with one function of random control flow.
pub fn program(rng: &mut Rng) -> Program {
    let mut program = text::assemble(text::PRELUDE).expect("the prelude");
    let function = function(rng, &program);
    program.functions.push(function);
    program
}

fn function(rng: &mut Rng, program: &Program) -> Function {
    let count = rng.random_range(1..14);
    let drafts: Vec<Draft> = (0..count).map(|i| draft(rng, i, count)).collect();
    let mut places = vec![0];
    for draft in &drafts {
        places.push(places[places.len() - 1] + draft.words.len());
    }
    let mut code = Vec::new();
    for (i, mut draft) in drafts.into_iter().enumerate() {
        let distance = |target: usize| (places[target] as i64 - places[i] as i64) as i32 as u32 as u64;
        match Op::from_number(draft.words[0] as u8).expect("an opcode").shape() {
            ops::OpShape::Jump | ops::OpShape::LoopJump => draft.words[0] |= distance(draft.targets[0]) << 32,
            ops::OpShape::Switch => {
                let targets = draft.targets.iter().map(|&t| distance(t));
                draft.words.splice(2.., targets);
            }
            ops::OpShape::Branch | ops::OpShape::LoopBranch => {
                draft.words[0] |= (distance(draft.targets[0]) & 0xffff) << 48;
            }
            _ => {}
        }
        code.extend(draft.words);
    }
    let mut handlers = Vec::new();
    while rng.random_bool(0.4) && count > 1 {
        let target = rng.random_range(1..count);
        let end = rng.random_range(1..=target);
        let start = rng.random_range(0..end);
        let [start, end, target] = [start, end, target].map(|i| places[i] as u32);
        let class = program.error_root.expect("an error root");
        handlers.push(Handler { start, end, target, class, register: Register(INTEGERS) });
    }
    let error = Type::class(program.error_root.expect("an error root"));
    let mut registers = vec![Type::Int; INTEGERS as usize];
    registers.push(error);
    Function {
        name: "random".into(),
        params: rng.random_range(0..3),
        registers,
        result: None,
        code,
        handlers,
        positions: Vec::new(),
    }
}

fn draft(rng: &mut Rng, at: usize, count: usize) -> Draft {
    let plain = |words: Vec<u64>| Draft { words, targets: Vec::new() };
    let (a, b) = (rng.random_range(0..INTEGERS), rng.random_range(0..INTEGERS));
    let last = at + 1 == count;
    // Forward targets lie behind this instruction, backward ones do not.
    let target = |rng: &mut Rng, back: bool| {
        if back { rng.random_range(0..=at) } else { rng.random_range((at + 1).min(count - 1)..count) }
    };
    let back = last || rng.random_bool(0.3);
    match rng.random_range(if last { 6 } else { 0 }..10) {
        0..=2 => plain(vec![encode(Op::LoadInt, 0, a, 7, 0)]),
        3 => plain(vec![encode(Op::Div, 0, a, b, b)]),
        4 => {
            let op =
                [[Op::BrLtI, Op::BrEqI], [Op::LoopLtI, Op::ForLtI]][back as usize][rng.random_range(0..2)];
            Draft { words: vec![encode(op, 0, a, 3, 0), 0], targets: vec![target(rng, back)] }
        }
        5 => {
            let cases = rng.random_range(1..4);
            let targets = (0..=cases).map(|_| target(rng, false)).collect();
            let mut words = vec![0; 3 + cases];
            words[0] = encode(Op::Switch, 0, a, 0, cases as u16);
            Draft { words, targets }
        }
        6 | 7 => {
            let op = if back { Op::LoopJump } else { Op::Jump };
            Draft { words: vec![encode(op, 0, 0, 0, 0)], targets: vec![target(rng, back)] }
        }
        8 => plain(vec![encode(Op::Throw, 0, INTEGERS, 0, 0)]),
        _ => plain(vec![encode(Op::ReturnUnit, 0, 0, 0, 0)]),
    }
}

/// Where control can go from an instruction, handlers of what it may throw aside.
pub fn successors(pc: usize, i: &Instruction<'_>) -> Vec<usize> {
    let targets = i.target().into_iter().chain(i.cases().map(|c| c.target));
    let mut all: Vec<usize> = targets.map(|t| (pc as i64 + t as i64) as usize).collect();
    if i.falls_through() {
        all.push(pc + i.words.len());
    }
    all
}

/// The handlers that protect an instruction.
pub fn handlers(function: &Function, pc: usize) -> impl Iterator<Item = &Handler> {
    function.handlers.iter().filter(move |h| (h.start as usize..h.end as usize).contains(&pc))
}

/// Reads before writes by the definition, instruction by instruction: pairs of place and register.
pub fn unassigned_reads(function: &Function) -> Vec<(u32, u16)> {
    let all: Vec<(usize, Instruction<'_>)> = instructions(&function.code).collect();
    // A bit for each register, and none for a place that was not reached.
    let mut states: Vec<Option<u64>> = vec![None; function.code.len()];
    states[0] = Some((1 << function.params) - 1);
    let mut changed = true;
    while changed {
        changed = false;
        for (pc, i) in &all {
            let Some(before) = states[*pc] else { continue };
            let after = before | i.def().map_or(0, |r| 1 << r.0);
            let mut arrive = |place: usize, state: u64| {
                let new = states[place].map_or(state, |old| old & state);
                changed |= states[place] != Some(new);
                states[place] = Some(new);
            };
            successors(*pc, i).into_iter().for_each(|place| arrive(place, after));
            handlers(function, *pc).for_each(|h| arrive(h.target as usize, before | 1 << h.register.0));
        }
    }
    let mut reads = Vec::new();
    for (pc, i) in &all {
        let Some(state) = states[*pc] else { continue };
        reads.extend(i.uses().filter(|r| state >> r.0 & 1 == 0).map(|r| (*pc as u32, r.0)));
    }
    reads
}
