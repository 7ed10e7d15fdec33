//! One program in several modes. It is compiled once; the first mode is the reference.
//!
//! The reference has fuel, so that a program that runs too long ends at the same place on every machine and can be left
//! out. The other modes have only a generous limit of time: counting fuel makes every yieldpoint do something, and these
//! runs are to be as they are for users. But they have a small nursery, so that programs that run for a millisecond see
//! collections in the middle of everything.

use crate::modes::Mode;
use crate::run;
use holloway::options::MachineArguments;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::{Outcome, Vm};
use std::io::Write;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// Yieldpoints after which the reference is ended.
const FUEL: u64 = 2_000_000;
/// Flags of all runs. Stacks are shallow, so that programs that exhaust them are quick; no mode may run longer than this.
const FLAGS: &[&str] = &["--stack-depth", "400", "--heap", "64m", "--time-limit", "20s"];
/// Bytes between two collections in all modes but the reference.
const NURSERY: usize = 48 << 10;
/// A collection at fewer allocations than this would take most of the time of all modes together.
const STRESS_PERIOD: u32 = 53;
/// More output than this is a mistake.
const MOST_OUTPUT: usize = 4 << 20;

/// In which way a mode differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The virtual machine, or the compiler, panicked.
    Panic,
    /// It ended in another way: with an error or without, or not at all.
    Ending,
    /// It printed something else, or the error is another one.
    Output,
}

/// A mode that does something else than the reference.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its name.
    pub mode: &'static str,
    /// In which way.
    pub kind: Kind,
    /// What the reference did.
    pub expected: Vec<String>,
    /// What this mode did.
    pub actual: Vec<String>,
}

/// What came out of a program.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// All modes agree.
    Same,
    /// The reference was ended by a limit, or ran out of memory.
    Discarded(String),
    /// It does not compile.
    DoesNotCompile(String),
    /// A mode does something else.
    Different(Difference),
}

/// Output that is kept, up to a limit.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.len() + bytes.len() > MOST_OUTPUT {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The flags of all runs. They are read once, because reading flags takes longer than many programs run.
fn arguments() -> Result<&'static MachineArguments, String> {
    static ARGUMENTS: OnceLock<Result<MachineArguments, String>> = OnceLock::new();
    ARGUMENTS
        .get_or_init(|| MachineArguments::from_flags(FLAGS.iter().copied()))
        .as_ref()
        .map_err(Clone::clone)
}

/// Runs a program in a mode: what it did, and how it ended. `Err` if there could be no virtual machine.
pub fn run_in(
    program: &Arc<VerifiedProgram>,
    mode: &Mode,
    is_reference: bool,
) -> Result<(Vec<String>, Outcome), String> {
    let output = Kept::default();
    let mut options = arguments()?.vm_options(Vec::new(), Box::new(output.clone()));
    if is_reference {
        options.fuel = Some(FUEL);
    } else {
        options.heap.nursery = NURSERY;
        options.heap.full_threshold = 4 * NURSERY;
    }
    (mode.apply)(&mut options);
    options.heap.stress =
        options.heap.stress.and_then(|period| NonZeroU32::new(period.get().max(STRESS_PERIOD)));
    let mut vm = Vm::new(program.clone(), options)?;
    let outcome = vm.run();
    let bytes = std::mem::take(&mut *output.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let mut described = run::describe(&String::from_utf8_lossy(&bytes), &outcome, true);
    // What is given up stays in the interpreter, and does the same there: nobody would see it.
    let refused = vm.statistics().tiers.refused;
    if refused > 0 {
        described.push(format!("{refused} compilations were given up"));
    }
    Ok((described, outcome))
}

/// The result, or the message of a panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}

/// Runs a program in all modes, and compares with the first.
pub fn check(text: &str, modes: &[&Mode]) -> Verdict {
    let panicked = |mode: &'static str, expected: &[String], message: String| {
        let actual = vec![format!("panicked: {message}")];
        Verdict::Different(Difference { mode, kind: Kind::Panic, expected: expected.to_vec(), actual })
    };
    let program = match guarded(|| run::compile(Path::new("random.hol"), text)) {
        Err(message) => return panicked("compile", &[], message),
        Ok(Err(errors)) => return Verdict::DoesNotCompile(errors),
        Ok(Ok(program)) => program,
    };
    let Some((reference, others)) = modes.split_first() else { return Verdict::Same };
    let (expected, expected_outcome) = match guarded(|| run_in(&program, reference, true)) {
        Err(message) => return panicked(reference.name, &[], message),
        Ok(Err(error)) => return Verdict::Discarded(error),
        Ok(Ok((_, Outcome::Stopped(reason, _)))) => return Verdict::Discarded(reason.to_string()),
        Ok(Ok(ran)) => ran,
    };
    // Where memory ends is no property of the program: a compiler need not allocate what nobody sees.
    if expected.iter().any(|line| line.contains("OutOfMemoryError")) {
        return Verdict::Discarded("out of memory".into());
    }
    for mode in others {
        let (actual, outcome) = match guarded(|| run_in(&program, mode, false)) {
            Err(message) => return panicked(mode.name, &expected, message),
            Ok(Err(error)) => return panicked(mode.name, &expected, error),
            Ok(Ok(ran)) => ran,
        };
        if actual != expected {
            let same_ending = std::mem::discriminant(&outcome) == std::mem::discriminant(&expected_outcome);
            let kind = if same_ending { Kind::Output } else { Kind::Ending };
            return Verdict::Different(Difference { mode: mode.name, kind, expected, actual });
        }
    }
    Verdict::Same
}
