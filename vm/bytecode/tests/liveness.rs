//! Liveness on random programs, against its definition instruction by instruction.

mod support;

use holloway_bytecode::cfg::{Liveness, can_raise};
use holloway_bytecode::code::{decode, instructions};
use holloway_bytecode::text::print_program;
use holloway_bytecode::verify::verify;
use holloway_bytecode::*;
use support::valid::{handlers, successors};
use support::{for_seeds, valid};

/// What is live before each word of the code that begins an instruction, as bits.
fn naive(function: &Function) -> Vec<u64> {
    let mut live = vec![0u64; function.code.len()];
    loop {
        let mut changed = false;
        for (pc, i) in instructions(&function.code) {
            let after = successors(pc, &i).iter().fold(0, |set, &next| set | live[next]);
            let written = i.def().map_or(0, |r| 1 << r.0);
            let read = i.uses().fold(0, |set, r| set | 1 << r.0);
            let caught = match can_raise(i.op) {
                true => handlers(function, pc)
                    .fold(0, |set, h| set | live[h.target as usize] & !(1u64 << h.register.0)),
                false => 0,
            };
            let before = after & !written | read | caught;
            changed |= before != live[pc];
            live[pc] = before;
        }
        if !changed {
            return live;
        }
    }
}

/// Nothing that is live is missed; without handlers, nothing else is said to be live.
#[test]
fn liveness_is_what_its_definition_says() {
    let (mut exact, mut with_handlers) = (0, 0);
    for_seeds(20_000, |_, rng| {
        let Ok(program) = verify(valid::program(rng)) else { return };
        let function = &program.functions[0];
        let liveness = Liveness::of_function(&program, function).expect("the function is small");
        let expected = naive(function);
        // What cannot be reached is not analysed.
        let mut waiting = vec![0];
        let mut reached = vec![false; function.code.len()];
        while let Some(pc) = waiting.pop() {
            if std::mem::replace(&mut reached[pc], true) {
                continue;
            }
            let i = decode(&function.code, pc).expect("verified code decodes");
            waiting.extend(successors(pc, &i));
            if can_raise(i.op) {
                waiting.extend(handlers(function, pc).map(|h| h.target as usize));
            }
            let found = liveness.before(&program, function, pc as u32);
            let bits = found.iter().fold(0u64, |set, r| set | 1 << r.0);
            let context =
                || format!("at {pc}: {bits:b}, not {:b}\n{}", expected[pc], print_program(&program));
            assert_eq!(expected[pc] & !bits, 0, "{}", context());
            assert!((0..64).all(|r| r as usize >= function.registers.len()
                || found.contains(Register(r)) == (bits >> r & 1 != 0)));
            if function.handlers.is_empty() {
                assert_eq!(bits, expected[pc], "{}", context());
                exact += 1;
            } else {
                with_handlers += 1;
            }
        }
    });
    if std::env::var_os("SEED").is_none() {
        assert!(exact > 8000 && with_handlers > 3000, "{exact} exact, {with_handlers} with handlers");
    }
}
