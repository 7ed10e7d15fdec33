//! The verifier on random programs: it agrees with a naive twin about assignment, random walks through what it
//! accepted find no unassigned register, and nothing makes it panic.

mod support;

use holloway_bytecode::code::{decode, instructions};
use holloway_bytecode::text::{PRELUDE, assemble, print_program};
use holloway_bytecode::verify::{Invariant, check, verify};
use holloway_bytecode::*;
use rand::RngExt;
use support::valid::{handlers, successors, unassigned_reads};
use support::{Rng, files, for_seeds, valid};

/// On random control flow, exactly the functions with unassigned reads are refused, and for one of these reads.
#[test]
fn assignment_is_what_its_definition_says() {
    let (mut accepted, mut refused) = (0, 0);
    for_seeds(20_000, |_, rng| {
        let program = valid::program(rng);
        let expected = unassigned_reads(&program.functions[0]);
        let errors = check(&program);
        match &errors[..] {
            [] => {
                assert_eq!(expected, [], "{}", print_program(&program));
                accepted += 1;
            }
            [error] if error.invariant == Invariant::A1 => {
                let found = expected
                    .iter()
                    .any(|&(pc, r)| error.pc == Some(pc) && error.message.starts_with(&format!("r{r} ")));
                assert!(found, "{error}, expected {expected:?}\n{}", print_program(&program));
                refused += 1;
            }
            _ => panic!("{errors:?}\n{}", print_program(&program)),
        }
    });
    if std::env::var_os("SEED").is_none() {
        assert!(accepted > 2000 && refused > 2000, "{accepted} accepted, {refused} refused");
    }
}

/// No walk through an accepted function reads an unassigned register, and none goes round without a yieldpoint.
#[test]
fn walks_through_verified_code_are_safe() {
    for_seeds(5000, |_, rng| {
        let Ok(program) = verify(valid::program(rng)) else { return };
        let function = &program.functions[0];
        for _ in 0..5 {
            walk(rng, function);
        }
    });
}

fn walk(rng: &mut Rng, function: &Function) {
    let mut assigned: u64 = (1 << function.params) - 1;
    let mut pc = 0;
    let mut since_yieldpoint = 0;
    for _ in 0..60 {
        let i = decode(&function.code, pc).expect("verified code decodes");
        let protecting: Vec<&Handler> = handlers(function, pc).collect();
        if !protecting.is_empty() && rng.random_bool(0.2) {
            // The instruction fails before it does anything.
            let handler = protecting[rng.random_range(0..protecting.len())];
            assigned |= 1 << handler.register.0;
            pc = handler.target as usize;
        } else {
            for register in i.uses() {
                assert!(assigned >> register.0 & 1 != 0, "r{} at {pc}", register.0);
            }
            assigned |= i.def().map_or(0, |r| 1 << r.0);
            let next = successors(pc, &i);
            if next.is_empty() {
                return;
            }
            let from = pc;
            pc = next[rng.random_range(0..next.len())];
            if pc <= from {
                since_yieldpoint = 0;
                assert!(matches!(i.op.shape(), ops::OpShape::LoopJump | ops::OpShape::LoopBranch));
            }
        }
        since_yieldpoint += 1;
        assert!(since_yieldpoint <= function.code.len(), "a cycle without yieldpoint");
    }
}

/// Programs without sense are refused in good order.
#[test]
fn garbage_is_no_danger() {
    for_seeds(4000, |_, rng| {
        let mut program = support::garbage::program(rng);
        check(&program);
        // The same functions with sound tables get further.
        let sound = assemble(PRELUDE).expect("the prelude");
        let functions = std::mem::take(&mut program.functions);
        program = Program { functions, strings: program.strings, ..sound };
        for function in &mut program.functions {
            function.registers.iter_mut().for_each(|ty| {
                if let Type::Ref(r) = ty {
                    r.shape = Shape::Class(ClassId(rng.random_range(0..8)));
                }
            });
            function.result = None;
        }
        check(&program);
    });
}

/// Correct programs in which something was changed are judged, and what is accepted survives a closer look.
#[test]
fn damaged_programs_are_no_danger() {
    let (mut samples, mut sound) = (Vec::new(), Vec::new());
    for path in files("verify").into_iter().chain(files("text")) {
        let text = std::fs::read_to_string(&path).expect("test file");
        let prelude = if text.starts_with("; no prelude") { "" } else { PRELUDE };
        let Ok(program) = assemble(&format!("{prelude}{text}")) else { continue };
        if check(&program).is_empty() { &mut sound } else { &mut samples }.push(program);
    }
    assert!(samples.len() > 30 && sound.len() > 1);
    let mut accepted = 0;
    for_seeds(10_000, |_, rng| {
        let from = if rng.random_bool(0.7) { &sound } else { &samples };
        let mut program = from[rng.random_range(0..from.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            damage(rng, &mut program);
        }
        if let Ok(program) = verify(program) {
            accepted += 1;
            for function in &program.functions {
                let length: usize = instructions(&function.code).map(|(_, i)| i.words.len()).sum();
                assert_eq!(length, function.code.len());
            }
        }
    });
    if std::env::var_os("SEED").is_none() {
        assert!(accepted > 100, "only {accepted}");
    }
}

fn damage(rng: &mut Rng, program: &mut Program) {
    fn pick<'a, T>(rng: &mut Rng, items: &'a mut [T]) -> Option<&'a mut T> {
        if items.is_empty() { None } else { items.get_mut(rng.random_range(0..items.len())) }
    }
    let number = if rng.random_bool(0.2) { rng.random() } else { rng.random_range(0..20_u32) };
    match rng.random_range(0..12) {
        0..=5 => {
            let bits =
                [0xff, 0xff00, 0xffff << 16, 0xffff << 32, 0xffff << 48, u64::MAX][rng.random_range(0..6)];
            let value: u64 =
                if rng.random() { rng.random() } else { 0x0003_0002_0004_0101_u64.rotate_left(number) };
            if let Some(word) = pick(rng, &mut program.functions).and_then(|f| pick(rng, &mut f.code)) {
                *word = *word & !bits | value & bits;
            }
        }
        6 => {
            if let Some(h) = pick(rng, &mut program.functions).and_then(|f| pick(rng, &mut f.handlers)) {
                match rng.random_range(0..4) {
                    0 => h.start = number,
                    1 => h.end = number,
                    2 => h.target = number,
                    _ => h.class = ClassId(number),
                }
            }
        }
        7 => {
            let ty = [
                Type::Int,
                Type::class(ClassId(number)),
                Type::reference(Shape::Interface(InterfaceId(number))),
            ];
            if let Some(register) =
                pick(rng, &mut program.functions).and_then(|f| pick(rng, &mut f.registers))
            {
                *register = ty[rng.random_range(0..3)];
            }
        }
        8 => {
            if let Some(class) = pick(rng, &mut program.classes) {
                class.superclass = Some(ClassId(number));
            }
        }
        9 => {
            if let Some(method) = pick(rng, &mut program.classes).and_then(|c| pick(rng, &mut c.methods)) {
                method.function = Some(FunctionId(number));
            }
        }
        10 => {
            if let Some(slots) = pick(rng, &mut program.classes).and_then(|c| pick(rng, &mut c.interfaces)) {
                slots.interface = InterfaceId(number);
            }
        }
        _ => {
            if let Some(f) = pick(rng, &mut program.functions) {
                f.params = number as u16;
                f.code.truncate(number as usize);
            }
        }
    }
}
