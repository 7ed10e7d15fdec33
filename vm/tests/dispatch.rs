//! How instructions follow each other: that handlers jump rather than call, and that branches are counted.
//!
//! With tail dispatch, each handler ends in a call that the optimizer must turn into a jump. Where it does not, each
//! execution leaves a frame of at least 16 bytes on the native stack. Nothing in a program can see the native stack's pointer.
//! But a program runs on a coroutine with a stack of 256 KiB, so that a handler that drifts cannot run 20,000 times without
//! running into the guard page, which kills the test process. Hence a loop that contains every
//! opcode and runs [`ROUNDS`] times, also with all slow paths taken that an instruction has, finds any that drifts.

mod common;

use common::{Machine, Random, program, stress};
use holloway_bytecode::{FunctionId, Instruction, Op, Program, code};
use holloway_vm::heap::HeapConfig;
use holloway_vm::timer::TimerSource;
use holloway_vm::{BranchCount, Dispatch};
use std::collections::BTreeMap;

/// Enough for a drift of 16 bytes an instruction to fill a native stack.
const ROUNDS: usize = 20_000;

/// A branch with operands, written so that control goes on with the next instruction whichever way it goes.
fn passing(op: Op, operands: &str, number: usize) -> String {
    match op.shape() {
        holloway_bytecode::ops::OpShape::Branch => {
            format!("{} {operands}, P{number}\nP{number}:\n", op.mnemonic())
        }
        _ => format!(
            "jump S{number}\nB{number}:\njump P{number}\nS{number}:\n{} {operands}, B{number}\nP{number}:\n",
            op.mnemonic()
        ),
    }
}

/// All branches, each both ways.
fn all_branches() -> String {
    use holloway_bytecode::ops::{Kind, OpShape};
    let mut text = String::new();
    let branches = Op::ALL.iter().filter(|op| matches!(op.shape(), OpShape::Branch | OpShape::LoopBranch));
    let mut number = 0;
    for &op in branches {
        let kinds: Vec<Kind> = op.operands().iter().map(|o| o.kind).collect();
        let samples: &[&str] = match (kinds[0], kinds[1]) {
            (Kind::Bool, _) => &["r4", "r5"],
            (Kind::Int, Kind::Int16) => &["r0, 1", "r0, 2", "r0, 3", "r0, -1"],
            (Kind::Int | Kind::Bits, _) => &["r0, r1", "r1, r0", "r0, r0"],
            (Kind::Float, _) => &["r2, r3", "r3, r2", "r2, r2"],
            (_, Kind::Target) => &["r7", "r8"],
            _ => &["r7, r8", "r8, r8"],
        };
        for sample in samples {
            number += 1;
            text += "ldi r0, 1\nldi r1, 2\n";
            text += &passing(op, sample, number);
        }
    }
    text
}

/// A loop whose body contains every instruction, and every error, caught.
fn everything() -> String {
    let fields: String = (0..2100).map(|i| format!("field f{i}: int\n")).collect();
    let text = include_str!("programs/everything.hbc");
    text.replace("; FIELDS\n", &fields)
        .replace("; BRANCHES\n", &all_branches())
        .replace("ROUNDS", &ROUNDS.to_string())
}

#[test]
fn no_handler_drifts() {
    let program = program(&everything());
    assert_eq!(common::uncovered([&*program]), Vec::<String>::new(), "the loop lacks these");
    let run = |change: fn(&mut holloway_vm::VmOptions)| Machine::new(&program, change).finish();
    run(|o| o.dispatch = Dispatch::Tail);
    // All yieldpoints leave to their slow path.
    run(|o| o.timer = TimerSource::Virtual(7));
    // So do all allocations.
    run(|o| {
        let every = std::num::NonZeroU32::new(10_000);
        o.heap = HeapConfig { verify: false, stress: every, ..stress() };
    });
    run(|o| o.dispatch = Dispatch::Loop);
}

#[test]
fn ten_million_calls() {
    let program = program(
        "function f(r0: int, r1: int) -> int {\nadd r0, r0, r1\nret r0\n}\n\
         function main() {\nregisters r0..r2: int\nldi r0, 0\nldi r1, 0\nldi r2, 10000000\nL1:\ncall r1, f(r1, r0)\n\
         forlt r0, r2, L1\ncall -, show(r1)\nretu\n}",
    );
    let expected = format!("{}\n", (0..10_000_000i64).sum::<i64>());
    assert_eq!(Machine::new(&program, |o| o.dispatch = Dispatch::Tail).finish(), expected);
}

/// A function of some blocks, each of which steps a generator and branches on it by some opcode, in a loop.
fn random_function(random: &mut Random) -> String {
    let mut body = String::from("ldi64 r0, 88172645463325252\nldi r2, 0\nTOP:\n");
    let blocks = 3 + random.below(10);
    for block in 0..blocks {
        body += &format!("L{block}:\nshli r1, r0, 13\nxor r0, r0, r1\nushri r1, r0, 7\nxor r0, r0, r1\n");
        body += &format!("remi r1, r0, {}\nldi r3, {}\n", 2 + random.below(9), random.below(5) as i64 - 2);
        let mut target = || match block + 1 + random.below(blocks - block) {
            end if end == blocks => "END".to_string(),
            inner => format!("L{inner}"),
        };
        let (one, two) = (target(), target());
        let ops = ["breq", "brne", "brlt", "brle", "breqi", "brnei", "brlti", "brlei", "brgti", "brgei"];
        match random.below(13) {
            10 => body += &format!("switch r1, -2 [{one}, {two}, {one}] else {two}\n"),
            11 => body += &format!("setlt r4, r1, r3\nbrt r4, {one}\nbrf r4, {two}\n"),
            12 => body += &format!("ldi r3, 0\nI{block}:\nforlti r3, {}, I{block}\n", random.below(5)),
            n if n < 4 => body += &format!("{} r1, r3, {one}\n", ops[n]),
            n => body += &format!("{} r1, {}, {one}\n", ops[n], random.below(5) as i64 - 2),
        }
    }
    format!("function main() {{\nregisters r0..r3: int, r4: bool\n{body}END:\nforlti r2, 500, TOP\nretu\n}}")
}

/// What the branches of the entry function count: a naive interpreter of the few instructions that occur.
fn simulate(program: &Program, entry: FunctionId) -> Vec<BranchCount> {
    let code = &program.functions[entry.index()].code;
    let mut counts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (pc, i) in code::instructions(code) {
        if i.op == Op::Switch {
            counts.insert(pc, vec![0; i.cases().len()]);
        } else if i.target().is_some() && i.op != Op::Jump {
            counts.insert(pc, vec![0; 2]);
        }
    }
    let mut registers = [0i64; 5];
    let mut pc = 0;
    loop {
        let i = code::decode(code, pc).expect("an instruction");
        let (outcome, distance) = match step(&i, &mut registers) {
            Step::Next => {
                pc += i.words.len();
                continue;
            }
            Step::End => break,
            Step::Branch(taken) => {
                (taken as usize, if taken { i.target().expect("a branch") } else { i.words.len() as i32 })
            }
            Step::Case(case) => (case, i.cases().nth(case).expect("a case").target),
        };
        counts.get_mut(&pc).expect("a branch")[outcome] += 1;
        pc = (pc as i64 + distance as i64) as usize;
    }
    counts.into_iter().map(|(pc, outcomes)| BranchCount { pc: pc as u32, outcomes }).collect()
}

enum Step {
    Next,
    Branch(bool),
    Case(usize),
    End,
}

fn step(i: &Instruction<'_>, r: &mut [i64; 5]) -> Step {
    let (a, b, c) = (i.a as usize, i.b as usize, i.c as usize);
    let (x, y, constant) = (r[a], r.get(b).copied().unwrap_or(0), i.b as i16 as i64);
    let taken = match i.op {
        Op::BrEq => x == y,
        Op::BrNe => x != y,
        Op::BrLt => x < y,
        Op::BrLe => x <= y,
        Op::BrEqI => x == constant,
        Op::BrNeI => x != constant,
        Op::BrLtI => x < constant,
        Op::BrLeI => x <= constant,
        Op::BrGtI => x > constant,
        Op::BrGeI => x >= constant,
        Op::BrTrue => x != 0,
        Op::BrFalse => x == 0,
        Op::ForLtI => {
            r[a] += 1;
            r[a] < constant
        }
        Op::Switch => {
            let last = i.cases().len() as i64 - 1;
            let case = x - i.x() as i64;
            return Step::Case(if (0..last).contains(&case) { case } else { last } as usize);
        }
        Op::ReturnUnit => return Step::End,
        _ => {
            r[a] = match i.op {
                Op::LoadInt => i.bc() as i32 as i64,
                Op::LoadInt64 => i.x() as i64,
                Op::ShlI => y << c,
                Op::UshrI => (y as u64 >> c) as i64,
                Op::Xor => y ^ r[c],
                Op::RemI => y % c as i64,
                Op::SetLt => (y < r[c]) as i64,
                other => unreachable!("{other:?} is not generated"),
            };
            return Step::Next;
        }
    };
    Step::Branch(taken)
}

#[test]
fn branch_counters() {
    for seed in 0..40 {
        let program = program(&random_function(&mut Random(seed)));
        let entry = program.entry.expect("main");
        let once = simulate(&program, entry);
        for dispatch in [Dispatch::Tail, Dispatch::Loop] {
            let mut machine = Machine::new(&program, |o| o.dispatch = dispatch);
            machine.finish();
            assert_eq!(machine.vm.branch_counts(entry), once, "seed {seed}, {dispatch:?}");
            // They go on in the next run.
            machine.finish();
            let mut twice = once.clone();
            twice.iter_mut().flat_map(|count| &mut count.outcomes).for_each(|n| *n *= 2);
            assert_eq!(machine.vm.branch_counts(entry), twice, "seed {seed}, {dispatch:?}, second run");
        }
    }
}
