//! What came of measuring a program, as numbers.

use super::arm::{Failure, Host};
use super::counts::{Counts, count};
use super::learn::learn;
use super::rounds::{ArmRound, Configurations, Plan, Replays, Round, round};
use super::statistics::{Summary, is_enough, round_ratios, width};
use super::subject::Subject;
use super::whole;
use crate::against::statistics::LogRatio;
use std::time::{Duration, Instant};

/// Which time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Of the processor, for the thread.
    Cpu,
    /// Of the wall.
    Wall,
}

/// When to stop.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// The width of an interval that is narrow enough, as a part of the base.
    pub precision: f64,
    /// After this time a program is measured no more.
    pub time: Duration,
    /// After so many rounds.
    pub rounds: usize,
    /// How long a sample shall be.
    pub sample: Duration,
    /// The time that decides.
    pub clock: Clock,
    /// Whether what the configurations do is counted as well, in machines of their own.
    pub counts: bool,
}

/// What came of a program.
#[derive(Clone, Debug)]
pub struct ProgramResult {
    /// Its name.
    pub name: String,
    /// Its size, if it has one.
    pub size: Option<u64>,
    /// Iterations of a sample, of this size; fewer than one, where the size only says how often the same is done.
    pub iterations: f64,
    /// How the samples of a round become the number that decides.
    pub summary: Summary,
    /// The rounds.
    pub rounds: Vec<Round>,
    /// Counts of the profiled configuration, and of the base.
    pub counts: Option<[Counts; 2]>,
    /// Why there is nothing more.
    pub failure: Option<Failure>,
}

/// The two ratios of a program.
#[derive(Clone, Debug)]
pub struct Ratios {
    /// The profiled arm to the base.
    pub overhead: LogRatio,
    /// The second base arm to the first.
    pub again: LogRatio,
}

/// Measures a program.
pub fn measure(
    subject: &Subject,
    host: &dyn Host,
    configurations: &Configurations,
    plan: Plan,
    limits: &Limits,
) -> ProgramResult {
    let mut result = ProgramResult {
        name: subject.name.clone(),
        size: subject.size(),
        iterations: 1.0,
        summary: if plan.whole.is_some() { Summary::Sums } else { Summary::Turns },
        rounds: Vec::new(),
        counts: None,
        failure: None,
    };
    result.failure = fill(&mut result, subject, host, configurations, plan, limits).err();
    if matches!(result.failure, Some(Failure::Failed(_))) {
        // No time is to be believed.
        result.rounds.clear();
    }
    result
}

fn fill(
    result: &mut ProgramResult,
    subject: &Subject,
    host: &dyn Host,
    configurations: &Configurations,
    plan: Plan,
    limits: &Limits,
) -> Result<(), Failure> {
    if let Some(length) = plan.whole {
        let mut expected = None;
        return rounds(result, host, limits, |number| {
            whole::round(subject, host, configurations, plan, length, number, &mut expected)
        });
    }
    let inlining = [&configurations.profile.inlining, &configurations.base.inlining];
    let learned = learn(subject, host, limits.sample, inlining)?;
    result.iterations = subject.iterations(learned.work);
    if limits.counts {
        host.progress(&format!("{}: counting", subject.name));
        let profiled = count(subject, host, &learned, configurations.profile.profile)?;
        result.counts = Some([profiled, count(subject, host, &learned, configurations.base.profile)?]);
    }
    let replays = Replays::new(&learned, configurations, plan);
    rounds(result, host, limits, |number| round(subject, host, &learned, &replays, plan, number))
}

/// However long they take, so many rounds are made: one says nothing of others, and there would be no interval.
const LEAST_ROUNDS: usize = 2;

/// Rounds until enough is known.
fn rounds(
    result: &mut ProgramResult,
    host: &dyn Host,
    limits: &Limits,
    mut round: impl FnMut(usize) -> Result<Round, Failure>,
) -> Result<(), Failure> {
    let (start, mut so_far) = (Instant::now(), String::new());
    while result.rounds.len() < limits.rounds {
        let number = result.rounds.len();
        host.progress(&format!("{}: round {}{so_far}", result.name, number + 1));
        result.rounds.push(round(number)?);
        let (overheads, _) = result.of_rounds(limits.clock, result.summary);
        let known = LogRatio::over_rounds(&overheads, 0).interval();
        if number > 0 {
            so_far = format!(", {:+.2} % ± {:.2}", (known.value - 1.0) * 100.0, width(&known) * 50.0);
        }
        let is_late = start.elapsed() > limits.time && result.rounds.len() >= LEAST_ROUNDS;
        if is_enough(&overheads, limits.precision) || is_late {
            break;
        }
    }
    Ok(())
}

impl ProgramResult {
    /// The logarithms of both ratios in each round.
    fn of_rounds(&self, clock: Clock, summary: Summary) -> (Vec<f64>, Vec<f64>) {
        let ratios = self.rounds.iter().map(|round| {
            let times = |arm: &'_ ArmRound| match clock {
                Clock::Cpu => arm.cpu.clone(),
                Clock::Wall => arm.wall.clone(),
            };
            let arms = round.arms.each_ref().map(times);
            let ticked = round.arms.each_ref().map(|arm| arm.ticked.as_slice());
            let ratios = round_ratios(arms.each_ref().map(Vec::as_slice), ticked, summary);
            (ratios.overhead, ratios.again)
        });
        ratios.unzip()
    }

    /// The ratios over all rounds, if there are any; `stream` is another number for every program.
    pub fn ratios(&self, clock: Clock, summary: Summary, stream: u64) -> Option<Ratios> {
        let (overheads, agains) = self.of_rounds(clock, summary);
        (!overheads.is_empty()).then(|| Ratios {
            overhead: LogRatio::over_rounds(&overheads, stream),
            again: LogRatio::over_rounds(&agains, stream),
        })
    }

    /// The time of an iteration of the base in nanoseconds, the median over all samples.
    pub fn base_time(&self, clock: Clock) -> Option<f64> {
        let arms = self.rounds.iter().flat_map(|round| [&round.arms[0], &round.arms[2]]);
        let mut times: Vec<u64> =
            arms.flat_map(|arm| if clock == Clock::Cpu { &arm.cpu } else { &arm.wall }).copied().collect();
        let median = (!times.is_empty()).then(|| crate::against::statistics::median(&mut times))?;
        Some(median / self.iterations)
    }

    /// A number of an arm, for each iteration, over all rounds.
    pub fn per_iteration(&self, arm: usize, number: impl Fn(&ArmRound) -> u64) -> f64 {
        let samples: usize = self.rounds.iter().map(|round| round.arms[arm].cpu.len()).sum();
        let sum: u64 = self.rounds.iter().map(|round| number(&round.arms[arm])).sum();
        if samples > 0 { sum as f64 / (samples as f64 * self.iterations) } else { 0.0 }
    }

    /// A number of an arm, the median over the rounds.
    pub fn per_round(&self, arm: usize, number: impl Fn(&ArmRound) -> u64) -> Option<f64> {
        let mut numbers: Vec<u64> = self.rounds.iter().map(|round| number(&round.arms[arm])).collect();
        (!numbers.is_empty()).then(|| crate::against::statistics::median(&mut numbers))
    }

    /// Did everything go well.
    pub fn is_complete(&self) -> bool {
        self.failure.is_none()
    }

    /// Rounds whose samples counted although something was still compiled.
    pub fn restless(&self) -> usize {
        self.rounds.iter().filter(|round| round.restless).count()
    }
}
