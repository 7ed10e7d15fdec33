//! The builder's long forms: a branch whose target is too far for 16 bits is lengthened, and means the same.

use holloway_bytecode::code::decode;
use holloway_bytecode::text::{PRELUDE, assemble, print_program};
use holloway_bytecode::verify::check;
use holloway_bytecode::*;

/// `sum = 0; i = first; do { sum += i; padding } loop`, with `limit` in a register, too.
fn program(op: Op, first: i16, limit: i16, padding: usize) -> Program {
    let mut b = Builder::new();
    b.op_bc(Op::LoadInt, 0, first as i32 as u32);
    b.op_bc(Op::LoadInt, 1, limit as i32 as u32);
    b.op_bc(Op::LoadInt, 2, 0);
    let done = b.label();
    let head = b.here();
    b.op(Op::Add, 2, 2, 0);
    if !op.is_counted_loop() {
        b.op(Op::AddI, 0, 0, 1);
    }
    // A way out over the padding, for the sake of a long forward branch.
    b.branch(Op::BrGtI, 2, 1000, done);
    (0..padding).for_each(|_| b.op(Op::Mov, 3, 2, 0));
    let constant = op.operands().iter().any(|o| o.kind == ops::Kind::Int16);
    b.branch(op, 0, if constant { limit as u16 } else { 1 }, head);
    b.bind(done);
    b.op(Op::Return, 2, 0, 0);
    let code = b.finish();
    let mut program = assemble(PRELUDE).expect("the prelude");
    program.functions.push(Function {
        name: "loop".into(),
        params: 0,
        registers: vec![Type::Int; 4],
        result: Some(Type::Int),
        code: code.words,
        handlers: code.handlers,
        positions: code.positions,
    });
    program
}

/// Runs the few instructions that the test uses; gives the result.
fn run(code: &[u64]) -> i64 {
    let (mut r, mut pc) = ([0_i64; 4], 0);
    loop {
        let i = decode(code, pc).expect("an instruction");
        let (a, b, c) = (i.a as usize, i.b as usize, i.c as i16 as i64);
        let b_register = r.get(b).copied().unwrap_or(0);
        let b_constant = i.b as i16 as i64;
        // Counted loops step before or after their comparison, in the one case always.
        let before = r[a];
        match i.op {
            Op::ForLt | Op::ForLtI => r[a] += 1,
            Op::ForLe => r[a] += (before < b_register) as i64,
            Op::ForLeI => r[a] += (before < b_constant) as i64,
            _ => {}
        }
        let taken = match i.op {
            Op::ForLt => r[a] < b_register,
            Op::ForLtI => r[a] < b_constant,
            Op::ForLe => before < b_register,
            Op::ForLeI => before < b_constant,
            Op::LoopLt | Op::BrLt => r[a] < b_register,
            Op::LoopLe | Op::BrLe => r[a] <= b_register,
            Op::LoopLtI => r[a] < b_constant,
            Op::BrGeI => r[a] >= b_constant,
            Op::BrGtI => r[a] > b_constant,
            Op::BrLeI => r[a] <= b_constant,
            Op::Jump | Op::LoopJump => true,
            Op::LoadInt => {
                r[a] = i.bc() as i32 as i64;
                false
            }
            Op::Mov => {
                r[a] = b_register;
                false
            }
            Op::Add => {
                r[a] = b_register + r[i.c as usize];
                false
            }
            Op::AddI => {
                r[a] = b_register + c;
                false
            }
            Op::Return => return r[a],
            other => panic!("{}", other.mnemonic()),
        };
        pc = if taken {
            (pc as i64 + i.target().expect("a target") as i64) as usize
        } else {
            pc + i.words.len()
        };
    }
}

#[test]
fn long_branches_mean_the_same() {
    let ops = [Op::ForLt, Op::ForLe, Op::ForLtI, Op::ForLeI, Op::LoopLt, Op::LoopLe, Op::LoopLtI];
    for op in ops {
        for (first, limit) in [(0, 5), (5, 5), (4, 5), (6, 5), (-3, -1), (500, 600)] {
            let short = program(op, first, limit, 0);
            let long = program(op, first, limit, 33_000);
            for program in [&short, &long] {
                assert_eq!(check(program), [], "{}", op.mnemonic());
            }
            let (short, long) = (&short.functions[0].code, &long.functions[0].code);
            assert!(long.len() > short.len() + 33_000, "{}", op.mnemonic());
            assert_eq!(run(short), run(long), "{} from {first} to {limit}", op.mnemonic());
        }
    }
}

#[test]
fn long_code_survives_as_text() {
    let program = program(Op::ForLe, 0, 5, 33_000);
    assert_eq!(assemble(&print_program(&program)), Ok(program));
}

#[test]
fn the_assembler_says_what_is_too_far() {
    let padding = "mov r0, r0\n".repeat(33_000);
    let errors = assemble(&format!("function f(r0: int) {{\nbrlti r0, 1, L1\n{padding}L1:\nretu\n}}\n"));
    let errors = errors.expect_err("a branch that does not reach");
    assert_eq!((errors[0].line, errors[0].column), (2, 14));
    assert!(errors[0].message.contains("33002 words away"), "{}", errors[0]);
}
