//! Running one program: in a fresh virtual machine, its output captured and read line by line. Only times that the
//! program printed after verifying the result count.

use crate::registry::Benchmark;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::errors::StopReason;
use holloway_vm::signals::InterruptHandle;
use holloway_vm::{Outcome, Statistics, Vm, VmOptions};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// What came of measuring one program.
#[derive(Debug)]
pub struct Measurement {
    /// Which program.
    pub benchmark: &'static Benchmark,
    /// Its size.
    pub size: u64,
    /// The iterations asked for.
    pub iterations: u64,
    /// Nanoseconds of each iteration whose result was right.
    pub samples: Vec<u64>,
    /// How it ended.
    pub ending: Ending,
    /// What the virtual machine did.
    pub statistics: Statistics,
}

/// How a measurement ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All iterations were done, with the right result.
    Verified,
    /// Something is wrong, so that no time is to be believed.
    Failed(String),
    /// Somebody pressed Ctrl-C; the iterations before were right.
    Interrupted,
}

impl Measurement {
    /// A measurement that came to nothing.
    pub fn failed(benchmark: &'static Benchmark, size: u64, iterations: u64, reason: String) -> Measurement {
        let (samples, statistics) = (Vec::new(), Statistics::default());
        Measurement { benchmark, size, iterations, samples, ending: Ending::Failed(reason), statistics }
    }
}

/// What the caller of [`measure`] wants to be told.
pub struct Hooks<S, I, E> {
    /// The machine is about to run; it can be interrupted through the handle.
    pub started: S,
    /// An iteration is over.
    pub iteration: I,
    /// The machine ran, for better or worse.
    pub ended: E,
}

impl Hooks<fn(InterruptHandle), fn(), fn(&Vm)> {
    /// Nothing.
    pub fn none() -> Self {
        Hooks { started: |_| {}, iteration: || {}, ended: |_| {} }
    }
}

impl<S, I, E> Hooks<S, I, E> {
    /// The same, but `ended` is told when the machine ran.
    pub fn with_ended<F: FnOnce(&Vm)>(self, ended: F) -> Hooks<S, I, F> {
        Hooks { started: self.started, iteration: self.iteration, ended }
    }

    /// The same, but `started` is told when the machine is about to run.
    pub fn with_started<F: FnOnce(InterruptHandle)>(self, started: F) -> Hooks<F, I, E> {
        Hooks { started, iteration: self.iteration, ended: self.ended }
    }
}

/// Runs a program that was compiled from the embedded file of `benchmark`. `options` gets the program's arguments and the
/// place for its output.
pub fn measure<S, I, E>(
    benchmark: &'static Benchmark,
    program: Arc<VerifiedProgram>,
    size: u64,
    iterations: u64,
    options: impl FnOnce(Vec<String>, Box<dyn Write + Send>) -> VmOptions,
    hooks: Hooks<S, I, E>,
) -> Measurement
where
    S: FnOnce(InterruptHandle),
    I: FnMut() + Send + 'static,
    E: FnOnce(&Vm),
{
    let reader = Arc::new(Mutex::new(Reader::default()));
    let output = Output { reader: reader.clone(), iteration: hooks.iteration };
    let arguments = vec![size.to_string(), iterations.to_string()];
    let mut vm = match Vm::new(program, options(arguments, Box::new(output))) {
        Ok(vm) => vm,
        Err(reason) => return Measurement::failed(benchmark, size, iterations, reason),
    };
    (hooks.started)(vm.interrupt_handle());
    let outcome = vm.run();
    (hooks.ended)(&vm);
    let statistics = vm.statistics();
    let reader = std::mem::take(&mut *reader.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let ending = match outcome {
        Outcome::Finished(errors) => match errors.first() {
            Some(error) => Ending::Failed(format!("{}: {}", error.class, error.message)),
            None if !reader.verified => Ending::Failed("it did not say that its result is right".to_string()),
            None if reader.samples.len() as u64 != iterations => {
                Ending::Failed(format!("it did {} iterations of {iterations}", reader.samples.len()))
            }
            None => Ending::Verified,
        },
        Outcome::Failed(error, _) => Ending::Failed(format!("{}: {}", error.class, error.message)),
        Outcome::Stopped(StopReason::Interrupted, _) => Ending::Interrupted,
        Outcome::Stopped(reason, _) => Ending::Failed(reason.to_string()),
    };
    let samples = if matches!(ending, Ending::Failed(_)) { Vec::new() } else { reader.samples };
    Measurement { benchmark, size, iterations, samples, ending, statistics }
}

/// What was read of the program's output.
#[derive(Default)]
struct Reader {
    /// The line that is not over yet.
    line: Vec<u8>,
    samples: Vec<u64>,
    verified: bool,
}

impl Reader {
    /// Reads a line; true if it tells the time of an iteration.
    fn line(&mut self, line: &str) -> bool {
        if line.ends_with(": verified") {
            self.verified = true;
        }
        let time: Option<u64> = line
            .strip_prefix("iteration ")
            .and_then(|rest| rest.strip_suffix(" ns")?.split_once(": "))
            .and_then(|(_, time)| time.parse().ok());
        self.samples.extend(time);
        time.is_some()
    }
}

/// The program's output.
struct Output<I> {
    reader: Arc<Mutex<Reader>>,
    iteration: I,
}

impl<I: FnMut() + Send> Write for Output<I> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut reader = self.reader.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for &byte in bytes {
            if byte != b'\n' {
                reader.line.push(byte);
                continue;
            }
            let line = std::mem::take(&mut reader.line);
            if reader.line(&String::from_utf8_lossy(&line)) {
                (self.iteration)();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_however_it_is_cut() {
        let text = "iteration 1: 250 ns\nnoise\niteration 2: 300 ns\niteration 3: x ns\nSieve: verified\n";
        for cut in 0..text.len() {
            let reader = Arc::new(Mutex::new(Reader::default()));
            let seen = Arc::new(Mutex::new(0));
            let count = seen.clone();
            let mut output = Output {
                reader: reader.clone(),
                iteration: move || *count.lock().expect("not poisoned") += 1,
            };
            output.write_all(&text.as_bytes()[..cut]).expect("a buffer");
            output.write_all(&text.as_bytes()[cut..]).expect("a buffer");
            let reader = reader.lock().expect("not poisoned");
            assert_eq!(reader.samples, [250, 300]);
            assert!(reader.verified && *seen.lock().expect("not poisoned") == 2);
        }
    }
}
