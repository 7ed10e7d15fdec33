//! What is measured: a program of the suite, whose harness repeats and verifies, or any file, of which a whole run of
//! `main` is an iteration.

use super::output::Printed;
use crate::registry::Benchmark;
use holloway_bytecode::verify::VerifiedProgram;
use std::sync::Arc;

/// More iterations would make no better sample.
const MOST_ITERATIONS: u64 = 1_000_000;

/// A program to be measured.
#[derive(Clone)]
pub struct Subject {
    /// What it is called in tables.
    pub name: String,
    /// The program.
    pub program: Arc<VerifiedProgram>,
    /// How it is run.
    pub kind: Kind,
    /// Its size says how often the same is done, and may be made smaller: the shorter the samples, the more often the arms take
    /// turns.
    pub repeats: bool,
}

/// How a program is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// By the harness of the suite, which gets a size and a number of iterations.
    Suite(&'static Benchmark, u64),
    /// As it is, with these arguments.
    File(Vec<String>),
}

/// What a machine does for one sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// How often it runs its program.
    pub runs: u64,
    /// Iterations in each of these runs; 1 for files.
    pub iterations: u64,
    /// Their size, if it is not that of the subject.
    pub size: Option<u64>,
}

impl Work {
    /// The least that can be done.
    pub const ONE: Work = Work { runs: 1, iterations: 1, size: None };
}

impl Subject {
    /// The size, for programs that have one.
    pub fn size(&self) -> Option<u64> {
        match self.kind {
            Kind::Suite(_, size) => Some(size),
            Kind::File(_) => None,
        }
    }

    /// So much work that it has about so many iterations, at least the least that there is.
    pub fn work(&self, iterations: f64) -> Work {
        let whole = (iterations.ceil() as u64).clamp(1, MOST_ITERATIONS);
        match self.kind {
            Kind::Suite(_, size) if self.repeats => {
                let size = (size as f64 * iterations).round().clamp(1.0, MOST_ITERATIONS as f64);
                Work { size: Some(size as u64), ..Work::ONE }
            }
            Kind::Suite(..) => Work { iterations: whole, ..Work::ONE },
            Kind::File(_) => Work { runs: whole, ..Work::ONE },
        }
    }

    /// How many iterations of the subject's size that work is.
    pub fn iterations(&self, work: Work) -> f64 {
        let part = match (self.size(), work.size) {
            (Some(size), Some(instead)) => instead as f64 / size as f64,
            _ => 1.0,
        };
        (work.runs * work.iterations) as f64 * part
    }

    /// The arguments of a run.
    pub fn arguments(&self, work: Work) -> Vec<String> {
        match &self.kind {
            Kind::Suite(_, size) => vec![work.size.unwrap_or(*size).to_string(), work.iterations.to_string()],
            Kind::File(arguments) => arguments.clone(),
        }
    }

    /// Is what a run printed right; `expected` is the digest of what the first run printed.
    pub fn check(&self, work: Work, printed: &Printed, expected: Option<u64>) -> Result<(), String> {
        match self.kind {
            Kind::Suite(..) if !printed.verified => Err("it did not say that its result is right".into()),
            Kind::Suite(..) if printed.iterations != work.iterations => {
                Err(format!("it did {} iterations of {}", printed.iterations, work.iterations))
            }
            Kind::File(_) if expected.is_some_and(|digest| digest != printed.digest) => {
                Err("it does not print the same in every run, so that nobody knows whether it is right"
                    .into())
            }
            _ => Ok(()),
        }
    }
}
