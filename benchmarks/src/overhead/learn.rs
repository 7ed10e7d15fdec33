//! The first run of a program: what is worth compiling, and how much work makes a sample.
//!
//! It compiles at once and does not listen to ticks, so that it learns the same every time.

use super::arm::{Arm, Failure, Host, Purpose, Sample};
use super::rounds::LONG;
use super::subject::{Subject, Work};
use holloway_vm::adaptive::Advice;
use holloway_vm::adaptive::advice::{ClassAdvice, CompilationAdvice};
use holloway_vm::compiled::InlineOptions;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When nothing was compiled in so many runs, nothing more is expected.
const QUIET: usize = 8;
/// The same of a rehearsal, which compiles what is known at once: what its code assumes without right fails in the first runs.
const QUIET_AGAIN: usize = 3;
/// After so many runs, or after this time, what was learned must do.
const MOST: usize = 300;
const PATIENCE: Duration = Duration::from_secs(10);
/// What two choices learned is replayed so often at most, until nothing is added to it.
const REHEARSALS: usize = 3;
/// Turns of a round, if nobody says: as many as take this time, with the samples that do not count, but neither fewer nor more than so many.
/// As long as it takes to make a round's machines, about: shorter ones would be hardly more, and longer ones fewer.
const ROUND: Duration = Duration::from_millis(250);
const TURNS: (usize, usize) = (5, 500);

/// What is known of a program before it is measured.
#[derive(Clone)]
pub struct Learned {
    /// What to compile.
    pub advice: Arc<Advice>,
    /// What a sample is.
    pub work: Work,
    /// How many turns a round should have.
    pub turns: usize,
    /// The digest of what the program prints; not for those of the suite, whose output has a different length in each sample.
    pub expected: Option<u64>,
}

/// Runs the program until nothing is compiled any more, by each of these choices of what is inlined: what one inlines has no code of
/// its own, and another would find it interpreted. A sample shall take `sample_time`.
pub fn learn(
    subject: &Subject,
    host: &dyn Host,
    sample_time: Duration,
    inlining: [&InlineOptions; 2],
) -> Result<Learned, Failure> {
    let [profile, base] = inlining;
    let (arm, quiet) = run(subject, host, Purpose::Learn(profile.clone()), QUIET)?;
    let mut advice = arm.vm().advice();
    if profile != base {
        add(&mut advice, run(subject, host, Purpose::Learn(base.clone()), QUIET)?.0.vm().advice());
        rehearse(subject, host, inlining, &mut advice)?;
    }
    let fastest = quiet.iter().copied().min().unwrap_or(1);
    let work = subject.work(sample_time.as_nanos() as f64 / fastest as f64);
    let sample = subject.iterations(work) * fastest as f64;
    let samples = if sample < LONG.as_nanos() as f64 { 6.0 } else { 3.0 };
    let turns = (ROUND.as_nanos() as f64 / (samples * sample)).round() as usize;
    Ok(Learned {
        advice: Arc::new(advice),
        work,
        turns: turns.clamp(TURNS.0, TURNS.1),
        expected: arm.expected().filter(|_| subject.size().is_none()),
    })
}

/// Replays what was learned by two choices. Each then compiles what the other has seen of the program, and may assume what it
/// would not have by itself: where that fails, it would in every round again, and be measured with the interpreter in it.
fn rehearse(
    subject: &Subject,
    host: &dyn Host,
    inlining: [&InlineOptions; 2],
    advice: &mut Advice,
) -> Result<(), Failure> {
    for _ in 0..REHEARSALS {
        let known = (advice.failed.len(), advice.compilations.len());
        for choice in inlining {
            let replayed = Purpose::Rehearse(Arc::new(advice.clone()), choice.clone());
            add(advice, run(subject, host, replayed, QUIET_AGAIN)?.0.vm().advice());
        }
        if known == (advice.failed.len(), advice.compilations.len()) {
            break;
        }
    }
    Ok(())
}

/// A machine that has run the program until nothing was compiled in as many runs, and the times of its runs since then.
fn run<'a>(
    subject: &'a Subject,
    host: &'a dyn Host,
    purpose: Purpose,
    enough: usize,
) -> Result<(Arm<'a>, Vec<u64>), Failure> {
    let mut arm = Arm::new(subject, host, Work::ONE, None, purpose)?;
    let (start, mut quiet, mut compilations) = (Instant::now(), Vec::new(), 0);
    for run in 0..MOST {
        host.progress(&format!("{}: learning, run {}", subject.name, run + 1));
        let Sample { cpu, .. } = arm.sample()?;
        quiet.push(cpu);
        let now = arm.compilations();
        if std::mem::replace(&mut compilations, now) != now {
            quiet = vec![cpu];
        }
        if quiet.len() > enough || start.elapsed() > PATIENCE {
            break;
        }
    }
    Ok((arm, quiet))
}

/// Adds what another machine compiled, and which assumptions of its code failed.
fn add(advice: &mut Advice, other: Advice) {
    for compilation in other.compilations {
        let same = |c: &&mut CompilationAdvice| {
            (c.function, c.loop_at) == (compilation.function, compilation.loop_at)
        };
        match advice.compilations.iter_mut().find(same) {
            Some(there) => there.level = there.level.max(compilation.level),
            None => advice.compilations.push(compilation),
        }
    }
    let failed: Vec<_> = other.failed.into_iter().filter(|failed| !advice.failed.contains(failed)).collect();
    advice.failed.extend(failed);
    let known = |advice: &Advice, class: &ClassAdvice| advice.instantiated.contains(class);
    let classes: Vec<_> = other.instantiated.into_iter().filter(|class| !known(advice, class)).collect();
    advice.instantiated.extend(classes);
    let functions = other.functions.into_iter();
    let new: Vec<_> =
        functions.filter(|f| advice.functions.iter().all(|known| known.function != f.function)).collect();
    advice.functions.extend(new);
}
