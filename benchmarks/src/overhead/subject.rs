//! What is measured: a program of the suite, whose harness repeats and verifies, or any file, of which a whole run of
//! `main` is an iteration.

use super::output::Printed;
use crate::registry::Benchmark;
use holloway_bytecode::verify::VerifiedProgram;
use std::sync::Arc;

/// A program to be measured.
#[derive(Clone)]
pub struct Subject {
    /// What it is called in tables.
    pub name: String,
    /// The program.
    pub program: Arc<VerifiedProgram>,
    /// How it is run.
    pub kind: Kind,
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
}

impl Work {
    /// The least that can be done.
    pub const ONE: Work = Work { runs: 1, iterations: 1 };

    /// Iterations of a sample.
    pub fn total(self) -> u64 {
        self.runs * self.iterations
    }
}

impl Subject {
    /// The size, for programs that have one.
    pub fn size(&self) -> Option<u64> {
        match self.kind {
            Kind::Suite(_, size) => Some(size),
            Kind::File(_) => None,
        }
    }

    /// So much work that it has so many iterations.
    pub fn work(&self, iterations: u64) -> Work {
        match self.kind {
            Kind::Suite(..) => Work { runs: 1, iterations },
            Kind::File(_) => Work { runs: iterations, iterations: 1 },
        }
    }

    /// The arguments of a run.
    pub fn arguments(&self, work: Work) -> Vec<String> {
        match &self.kind {
            Kind::Suite(_, size) => vec![size.to_string(), work.iterations.to_string()],
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
