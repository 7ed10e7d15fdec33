//! What the tests of the virtual machine share: a program in text form is run, and what it printed and how it ended is
//! looked at. Unless a test says otherwise, a program runs with both dispatchers and must do the same in each.
#![allow(dead_code)]

use holloway_bytecode::text::{PRELUDE, assemble};
use holloway_bytecode::verify::{VerifiedProgram, verify};
use holloway_bytecode::{Op, Type, code};
use holloway_vm::errors::{Trace, UncaughtError};
use holloway_vm::heap::HeapConfig;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Dispatch, Outcome, Vm, VmOptions};
use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

/// Functions for printing, to be appended to a program.
pub const SHOW: &str = r#"
function show(r0: int) {
    registers r1: String, r2: String
    calln r1, intToString(r0)
    ldstr r2, "\n"
    calln r1, concat(r1, r2)
    calln -, print(r1)
    retu
}
function showBool(r0: bool) {
    registers r1: int
    ldi r1, 0
    brf r0, L1
    ldi r1, 1
L1:
    call -, show(r1)
    retu
}
function showFloat(r0: float) {
    registers r1: int
    calln r1, floatBits(r0)
    call -, show(r1)
    retu
}
function showText(r0: String) {
    registers r1: String
    ldstr r1, "\n"
    calln r1, concat(r0, r1)
    calln -, print(r1)
    retu
}
"#;

/// Puts the prelude before a program and the printing functions after it, assembles and verifies it.
pub fn program(text: &str) -> Arc<VerifiedProgram> {
    let text = format!("{PRELUDE}\n{text}\nentry main\n{SHOW}");
    let program = assemble(&text).unwrap_or_else(|errors| {
        let lines: Vec<&str> = text.lines().collect();
        for error in &errors {
            eprintln!("{error}\n    {}", lines[error.line as usize - 1]);
        }
        panic!("the program cannot be assembled");
    });
    Arc::new(verify(program).unwrap_or_else(|errors| {
        errors.iter().for_each(|error| eprintln!("{error}"));
        panic!("the program cannot be verified");
    }))
}

/// Where a program's output goes.
#[derive(Clone, Default)]
pub struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    /// What was written since the last time.
    pub fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().expect("output"));
        String::from_utf8(bytes).expect("programs print UTF-8")
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("output").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A machine and what its program prints.
pub struct Machine {
    pub vm: Vm,
    pub output: Output,
}

impl Machine {
    /// Loads a program. The timer is the wall clock with a period that never ends, unless `change` says otherwise.
    pub fn new(program: &Arc<VerifiedProgram>, change: impl FnOnce(&mut VmOptions)) -> Machine {
        let output = Output::default();
        let mut options = VmOptions {
            output: Box::new(output.clone()),
            timer: TimerSource::Wall(std::time::Duration::from_secs(1000)),
            heap: HeapConfig { limit: 64 << 20, ..HeapConfig::default() },
            seed: 42,
            arguments: vec!["one".into(), "zwei é".into()],
            ..VmOptions::default()
        };
        change(&mut options);
        Machine { vm: Vm::new(program.clone(), options).expect("a machine"), output }
    }

    /// Runs to a normal end without uncaught errors; gives what was printed.
    pub fn finish(&mut self) -> String {
        match self.vm.run() {
            Outcome::Finished(errors) if errors.is_empty() => self.output.take(),
            other => panic!("{other:?} after printing {:?}", self.output.take()),
        }
    }

    /// Runs to an uncaught error of the main thread.
    pub fn fail(&mut self) -> UncaughtError {
        match self.vm.run() {
            Outcome::Failed(error, _) => error,
            other => panic!("{other:?} instead of an error"),
        }
    }
}

/// Runs a program with both dispatchers, and with the first under collection stress; gives what it printed.
pub fn run(text: &str) -> String {
    run_program(&program(text))
}

/// As [`run`].
pub fn run_program(program: &Arc<VerifiedProgram>) -> String {
    let tail = Machine::new(program, |o| o.dispatch = Dispatch::Tail).finish();
    let by_loop = Machine::new(program, |o| o.dispatch = Dispatch::Loop).finish();
    let stressed = Machine::new(program, |o| o.heap = stress()).finish();
    assert_eq!(tail, by_loop, "the dispatchers differ");
    assert_eq!(tail, stressed, "collections change the result");
    tail
}

/// Runs a program that fails, with both dispatchers.
pub fn run_to_error(text: &str) -> UncaughtError {
    let program = program(text);
    let tail = Machine::new(&program, |o| o.dispatch = Dispatch::Tail).fail();
    assert_eq!(tail, Machine::new(&program, |o| o.dispatch = Dispatch::Loop).fail());
    assert_eq!(tail, Machine::new(&program, |o| o.heap = stress()).fail());
    tail
}

/// Collects at every few allocations and checks the heap each time.
pub fn stress() -> HeapConfig {
    HeapConfig { limit: 16 << 20, stress: NonZeroU32::new(3), verify: true, ..HeapConfig::default() }
}

/// A trace as `function:line` of each frame, innermost first.
pub fn places(trace: &Trace) -> Vec<String> {
    trace.inner.iter().chain(&trace.outer).map(|f| format!("{}:{}", f.function, f.position.line)).collect()
}

macro_rules! quick_names {
    ($($name:ident $doc:literal;)*) => { &[$(stringify!($name)),*] };
}

/// The opcodes, quick ones included, that none of the programs contains.
pub fn uncovered<'a>(programs: impl IntoIterator<Item = &'a VerifiedProgram>) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for program in programs {
        for function in &program.functions {
            for (_, i) in code::instructions(&function.code) {
                // Of calls, the general forms are only for five arguments and more.
                let quick = quick(program, &i);
                found
                    .insert(quick.clone().filter(|q| q.starts_with("Call")).unwrap_or(format!("{:?}", i.op)));
                found.extend(quick);
            }
        }
    }
    // Only reached where something compiles.
    found.insert("EnterCompiled".into());
    let quick: &[&str] = holloway_vm::for_each_quick!(quick_names);
    let known = Op::ALL.iter().map(|op| format!("{op:?}")).chain(quick.iter().map(|q| q.to_string()));
    known.filter(|name| !found.contains(name)).collect()
}

/// The quick opcode that the loader makes of an instruction.
fn quick(program: &VerifiedProgram, i: &code::Instruction<'_>) -> Option<String> {
    match i.op {
        Op::Call if i.n <= 4 => Some(format!("Call{}", i.n)),
        Op::CallVirtual | Op::CallInterface if i.n <= 4 => Some(format!("CallVirtual{}", i.n)),
        Op::LoadGlobal => match program.globals[i.bc() as usize].ty {
            Type::Ref(r) if !r.nullable => Some("LoadGlobalSet".into()),
            _ => None,
        },
        Op::New if program.classes[i.bc() as usize].fields().len() > 2047 => Some("NewLarge".into()),
        Op::New => Some("NewFirst".into()),
        // The end of every thread.
        Op::ReturnUnit => Some("Halt".into()),
        _ => None,
    }
}

/// Random numbers, the same everywhere (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// Lines of output.
pub fn lines<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string() + "\n").collect()
}
