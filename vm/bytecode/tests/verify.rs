//! The verifier: programs as files that break each invariant, and the kinds of operands for every row of the opcode
//! table.

mod support;

use holloway_bytecode::text::{PRELUDE, assemble};
use holloway_bytecode::verify::{Invariant, MAX_CODE, check, verify};
use holloway_bytecode::*;
use std::collections::BTreeSet;
use support::{expect, files, report};

/// Each file in `tests/verify` ends with what the verifier says about it, as comments. The prelude comes before it
/// unless its first line is `; no prelude`.
#[test]
fn files_are_judged_as_expected() {
    let mut failures = Vec::new();
    for path in files("verify") {
        let text = std::fs::read_to_string(&path).expect("test file");
        let (source, _) = text.split_once(";; ").unwrap_or((&text, ""));
        let prelude = if source.starts_with("; no prelude") { "" } else { PRELUDE };
        let verdict = match assemble(&format!("{prelude}{source}")) {
            Ok(program) => match &check(&program)[..] {
                [] => ";; verified\n".to_string(),
                errors => errors.iter().map(|e| format!(";; {e}\n")).collect(),
            },
            Err(errors) => errors.iter().map(|e| format!(";; assembly: {e}\n")).collect(),
        };
        expect(&path, &format!("{source}{verdict}"), &mut failures);
    }
    report(&failures);
}

/// Every invariant is broken by at least one file that is named after it.
#[test]
fn every_invariant_has_a_file() {
    let mut broken = BTreeSet::new();
    for path in files("verify") {
        let text = std::fs::read_to_string(&path).expect("test file");
        let name = path.file_stem().and_then(|n| n.to_str()).expect("name");
        for line in text.lines().filter_map(|l| l.strip_prefix(";; ")) {
            if let Some((invariant, _)) = line.split_once(':')
                && name.split('-').next() == Some(invariant)
            {
                broken.insert(invariant.to_string());
            }
        }
    }
    let missing: Vec<_> = Invariant::ALL.iter().map(|i| i.name()).filter(|n| !broken.contains(*n)).collect();
    assert!(missing.is_empty(), "no file in tests/verify breaks {missing:?}");
}

/// The program that uses every opcode as it should be used does use every opcode.
#[test]
fn the_tour_is_complete() {
    let path = files("verify").into_iter().find(|p| p.ends_with("verified-tour.hbc")).expect("the tour");
    let text = std::fs::read_to_string(path).expect("test file");
    let program = verify(assemble(&format!("{PRELUDE}{text}")).expect("correct text")).expect("sound");
    let used: Vec<Op> =
        program.functions.iter().flat_map(|f| code::instructions(&f.code)).map(|(_, i)| i.op).collect();
    let missing: Vec<&str> = Op::ALL.iter().filter(|op| !used.contains(op)).map(|op| op.mnemonic()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Code that is too long is refused before anything looks at it.
#[test]
fn long_code_is_refused() {
    let mut program = assemble(&format!("{PRELUDE}function f() {{\nretu\n}}\n")).expect("correct text");
    assert_eq!(check(&program), []);
    program.functions[0].code = vec![0; MAX_CODE + 1];
    assert_eq!(check(&program)[0].invariant, Invariant::F2);
}

/// Registers of all types, one each, for the generated tests.
const REGISTERS: [(Type, &[ops::Kind]); 5] = {
    use ops::Kind::*;
    [
        (Type::Int, &[Int, Bits, Any]),
        (Type::Float, &[Float, Any]),
        (Type::Bool, &[Bool, Bits, Any]),
        (
            Type::Ref(RefType { shape: Shape::Class(ClassId::STRING), nullable: false }),
            &[Ref, NonNull, Text, Any],
        ),
        (Type::Ref(RefType { shape: Shape::Class(ClassId::STRING), nullable: true }), &[Ref, Text, Any]),
    ]
};

/// For every opcode and every register operand: a register of a wrong kind, and one that does not exist, is
/// noticed, and one of the right kind is not taken for wrong.
#[test]
fn operand_kinds_follow_the_table() {
    let mut program = assemble(&format!("{PRELUDE}function f() {{\nretu\n}}\n")).expect("correct text");
    program.functions[0].registers = REGISTERS.map(|(ty, _)| ty).to_vec();
    let mut tried = 0;
    for &op in Op::ALL {
        let registers: Vec<_> = op.operands().iter().filter(|o| o.role != ops::Role::Imm).collect();
        let right = |operand: &ops::Operand| {
            REGISTERS
                .iter()
                .position(|(_, kinds)| kinds.contains(&operand.kind))
                .expect("a register of this kind") as u64
        };
        for (i, varied) in registers.iter().enumerate() {
            for number in 0..=REGISTERS.len() {
                let mut first = op as u64;
                for (j, operand) in registers.iter().enumerate() {
                    let value = if i == j { number as u64 } else { right(operand) };
                    first |= value
                        << match operand.place {
                            ops::Place::A => 16,
                            ops::Place::B => 32,
                            ops::Place::C => 48,
                            ops::Place::N => 8,
                            place => panic!("a register in {place:?}"),
                        };
                }
                let mut words = vec![first];
                words.resize(code::length(first).expect("an opcode"), 0);
                words.push(Op::ReturnUnit as u64);
                program.functions[0].code = words;
                let errors = check(&program);
                let found = |invariant| errors.iter().any(|e| e.invariant == invariant && e.pc == Some(0));
                let kinds = REGISTERS.get(number).map(|(_, kinds)| kinds);
                let exists = kinds.is_some();
                // Operands of kind `Bits` must agree with each other; the others here are integers.
                let agrees = varied.kind != ops::Kind::Bits
                    || registers.iter().filter(|o| o.kind == ops::Kind::Bits).count() == 1
                    || number == 0;
                let wrong_kind = kinds.is_some_and(|kinds| !kinds.contains(&varied.kind) || !agrees);
                let context = format!("{} r{number} as operand {i}: {errors:?}", op.mnemonic());
                // Instructions whose form is wrong for other reasons (no target) never get so far.
                if !errors.iter().any(|e| e.invariant < Invariant::F4) {
                    assert_eq!(found(Invariant::O1), !exists, "{context}");
                    assert_eq!(found(Invariant::O2), wrong_kind, "{context}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000, "only {tried}");
}

/// The proof can be taken apart, changed, and made again.
#[test]
fn a_verified_program_is_a_program() {
    let verified = verify(assemble(PRELUDE).expect("the prelude")).expect("sound");
    assert_eq!(verified.classes[0].name, "String".into());
    let mut program = verified.into_program();
    program.error_root = None;
    assert!(verify(program).is_err());
}
