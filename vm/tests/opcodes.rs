//! Every opcode, executed with edge values by both dispatchers (and once more under collection stress), against what a
//! naive twin in Rust or a table says. [`coverage`] checks that none is left out: neither an opcode of the table, nor a
//! quick one that only loaded code has, nor a native.
//!
//! * `arithmetic`: integers, doubles, Booleans, moves, constants
//! * `branches`: conditions both ways, forward and backward, far and near; counted loops; switches
//! * `objects`: fields, globals, boxes; random class trees with interfaces for casts and calls through tables
//! * `arrays`: elements of all kinds
//! * `calls`: any number of arguments; handlers
//! * `errors`: each error at its instruction, with message and trace
//! * `natives`: each function of the system

mod common;

#[path = "opcodes/arithmetic.rs"]
mod arithmetic;
#[path = "opcodes/arrays.rs"]
mod arrays;
#[path = "opcodes/branches.rs"]
mod branches;
#[path = "opcodes/calls.rs"]
mod calls;
#[path = "opcodes/errors.rs"]
mod errors;
#[path = "opcodes/natives.rs"]
mod natives;
#[path = "opcodes/objects.rs"]
mod objects;

use holloway_bytecode::verify::VerifiedProgram;
use holloway_bytecode::{Native, Op, code};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A program and what it prints.
struct Case {
    name: String,
    program: Arc<VerifiedProgram>,
    expected: String,
}

impl Case {
    /// From text.
    fn new(name: impl Into<String>, text: &str, expected: String) -> Case {
        Case { name: name.into(), program: common::program(text), expected }
    }

    /// A main function with these registers and this body.
    fn main(name: impl Into<String>, registers: &str, body: &str, expected: String) -> Case {
        let registers = if registers.is_empty() { String::new() } else { format!("registers {registers}\n") };
        Case::new(name, &format!("function main() {{\n{registers}{body}\nretu\n}}"), expected)
    }
}

/// Runs all cases.
fn check(cases: Vec<Case>) {
    for case in cases {
        let printed = common::run_program(&case.program);
        if printed != case.expected {
            let line = printed.lines().zip(case.expected.lines()).position(|(a, b)| a != b);
            let line = line.unwrap_or(printed.lines().count().min(case.expected.lines().count()));
            let at = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
            panic!("{}: line {} is {}, not {}", case.name, line + 1, at(&printed), at(&case.expected));
        }
    }
}

#[test]
fn coverage() {
    let mut natives = BTreeSet::new();
    let all = [
        arithmetic::cases(),
        arrays::cases(),
        branches::cases(),
        calls::cases(),
        errors::cases(),
        natives::cases(),
        objects::cases(),
    ];
    let programs = || all.iter().flatten().map(|case| &*case.program);
    assert_eq!(common::uncovered(programs()), Vec::<String>::new(), "no test for these");
    for function in programs().flat_map(|program| &program.functions) {
        let calls = code::instructions(&function.code).filter(|(_, i)| i.op == Op::CallNative);
        natives.extend(calls.map(|(_, call)| call.bc()));
    }
    let missing: Vec<&Native> = Native::ALL.iter().filter(|&&n| !natives.contains(&(n as u32))).collect();
    assert!(missing.is_empty(), "no test for {missing:?}");
}

#[test]
fn arithmetic() {
    check(arithmetic::cases());
}

#[test]
fn arrays() {
    check(arrays::cases());
}

#[test]
fn branches() {
    check(branches::cases());
}

#[test]
fn calls() {
    check(calls::cases());
}

#[test]
fn errors() {
    check(errors::cases());
    errors::uncaught();
}

#[test]
fn natives() {
    check(natives::cases());
}

#[test]
fn objects() {
    check(objects::cases());
}
