//! The first run of a program: what is worth compiling, and how much work makes a sample.
//!
//! It compiles at once and does not listen to ticks, so that it learns the same every time.

use super::arm::{Arm, Failure, Host, Purpose, Sample};
use super::subject::{Subject, Work};
use holloway_vm::adaptive::Advice;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When nothing was compiled in so many runs, nothing more is expected.
const QUIET: usize = 8;
/// After so many runs, or after this time, what was learned must do.
const MOST: usize = 300;
const PATIENCE: Duration = Duration::from_secs(10);
/// More iterations would make no better sample.
const MOST_ITERATIONS: u64 = 1_000_000;

/// What is known of a program before it is measured.
#[derive(Clone)]
pub struct Learned {
    /// What to compile.
    pub advice: Arc<Advice>,
    /// What a sample is.
    pub work: Work,
    /// The digest of what the program prints; not for those of the suite, whose output has a different length in each sample.
    pub expected: Option<u64>,
}

/// Runs the program until nothing is compiled any more. A sample shall take `sample_time`.
pub fn learn(subject: &Subject, host: &dyn Host, sample_time: Duration) -> Result<Learned, Failure> {
    let mut arm = Arm::new(subject, host, Work::ONE, None, Purpose::Learn)?;
    let (start, mut quiet, mut compilations) = (Instant::now(), Vec::new(), 0);
    for run in 0..MOST {
        host.progress(&format!("{}: learning, run {}", subject.name, run + 1));
        let Sample { cpu, .. } = arm.sample()?;
        quiet.push(cpu);
        let now = arm.compilations();
        if std::mem::replace(&mut compilations, now) != now {
            quiet = vec![cpu];
        }
        if quiet.len() > QUIET || start.elapsed() > PATIENCE {
            break;
        }
    }
    let fastest = quiet.iter().copied().min().unwrap_or(1);
    let iterations = (sample_time.as_nanos() as u64).div_ceil(fastest).clamp(1, MOST_ITERATIONS);
    Ok(Learned {
        advice: Arc::new(arm.vm().advice()),
        work: subject.work(iterations),
        expected: arm.expected().filter(|_| subject.size().is_none()),
    })
}
