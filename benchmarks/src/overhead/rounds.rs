//! A round: three new machines, warmed up, that take turns.

use super::arm::{Arm, Configuration, Failure, Host, Purpose, Replay, Sample};
use super::learn::Learned;
use super::subject::Subject;
use holloway_vm::compiled::ReplayedCode;
use holloway_vm::profiling::Looks;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use std::time::Duration;

/// When nothing was compiled in so many turns, and methods are in order if they shall be, samples count.
const QUIET: usize = 3;
/// But not before all machines together took this time.
const WARM_UP: Duration = Duration::from_millis(30);
/// A sample that takes so long is no longer for code that is in no cache yet: that takes a tenth of a millisecond.
pub(super) const LONG: Duration = Duration::from_millis(10);
/// After so many turns, and this time, they count in any case, and the round is marked.
const MOST_WARM_UP: (usize, Duration) = (30, Duration::from_secs(3));
/// Address space between machines, for the sake of having other addresses: so many bytes that the allocator asks the system
/// for them in any case, and up to so many more. Nobody touches them.
const PADDING: usize = 40 << 20;
const MORE_PADDING: usize = 8 << 20;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Configurations {
    /// That whose cost is wanted.
    pub profile: Configuration,
    /// That with which it is compared.
    pub base: Configuration,
}

/// How rounds are made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// Turns of a round that count; none for as many as a program should have.
    pub turns: Option<usize>,
    /// Every machine compiles for itself, for who wants to know what that takes; otherwise those of the first round do it for all.
    pub fresh: bool,
    /// The order of everything derives from it.
    pub seed: u64,
    /// Percent by which the profiled arm is slowed down, to see whether that is found.
    pub slowdown: f64,
    /// Whole runs are compared, of so much time of the base, which find out for themselves what to compile; otherwise the steady
    /// state of replayed ones.
    pub whole: Option<Duration>,
}

impl Plan {
    /// What decides about order and places in a round.
    pub(super) fn random(&self, round: usize) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed ^ (round as u64 + 1).wrapping_mul(0x9e37_79b9))
    }
}

/// What is replayed in all rounds.
pub struct Replays {
    profile: Replay,
    base: Replay,
}

impl Replays {
    /// To compile this in each configuration.
    pub fn new(learned: &Learned, configurations: &Configurations, plan: Plan) -> Replays {
        let of = |configuration: &Configuration| Replay {
            advice: learned.advice.clone(),
            configuration: configuration.clone(),
            code: (!plan.fresh).then(Arc::<ReplayedCode>::default),
        };
        Replays { profile: of(&configurations.profile), base: of(&configurations.base) }
    }
}

/// What an arm did in a round.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ArmRound {
    /// Nanoseconds of the processor of each sample.
    pub cpu: Vec<u64>,
    /// Nanoseconds of the clock.
    pub wall: Vec<u64>,
    /// Was there a tick in it, or went on what one had begun, if one of the machines works at ticks.
    pub ticked: Vec<bool>,
    /// Yieldpoints taken in these samples.
    pub yieldpoints_taken: u64,
    /// Ticks seen.
    pub ticks: u64,
    /// How often profilers looked.
    pub looks: Looks,
    /// Bytes of machine code made.
    pub code_bytes: u64,
    /// Processor time of compiling.
    pub compile_time: Duration,
    /// Compilations that succeeded.
    pub compilations: u64,
    /// How often all code was put in order in memory.
    pub method_orders: u64,
}

impl ArmRound {
    pub(super) fn add(&mut self, sample: Sample) {
        let Sample { cpu, wall, ticks, ticked, yieldpoints_taken, looks } = sample;
        self.cpu.push(cpu);
        self.wall.push(wall);
        self.ticked.push(ticked);
        self.yieldpoints_taken += yieldpoints_taken;
        self.ticks += ticks;
        self.looks += looks;
    }

    /// What its machine did in all.
    pub(super) fn end(&mut self, arm: &Arm<'_>) {
        let tiers = arm.vm().statistics().tiers;
        self.code_bytes = tiers.bytes();
        self.compile_time = tiers.compile_time;
        self.compilations = tiers.compilations();
        self.method_orders = tiers.method_orders;
    }
}

/// What came of a round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    /// Base, profiled arm, second base.
    pub arms: [ArmRound; 3],
    /// Turns before samples counted.
    pub warm_up: usize,
    /// Was anything still compiled when they did, or by one machine and not by the others while they did.
    pub restless: bool,
}

/// Runs a round: the `number` decides, with the seed, about order and places.
pub fn round(
    subject: &Subject,
    host: &dyn Host,
    learned: &Learned,
    replays: &Replays,
    plan: Plan,
    number: usize,
) -> Result<Round, Failure> {
    let mut random = plan.random(number);
    let machine = |is_profiled, scatter| {
        let replay = if is_profiled { &replays.profile } else { &replays.base };
        let purpose = Purpose::Replay(replay.clone(), scatter);
        Arm::new(subject, host, learned.work, learned.expected, purpose)
    };
    let (mut arms, paddings) = machines(machine, &mut random)?;
    let (warm_up, restless) = warm_up(&mut arms, &mut random)?;
    arms[1].slow_down(plan.slowdown);
    let mut results: [ArmRound; 3] = Default::default();
    let before: Vec<u64> = arms.iter().map(Arm::compilations).collect();
    // Where none of them works at ticks, to tell turns apart by them would only make the result less certain.
    let works = arms.iter().any(|arm| arm.vm().works_at_ticks());
    for _ in 0..plan.turns.unwrap_or(learned.turns) {
        elsewhere(&mut arms, &mut random)?;
        for index in order(&mut random) {
            let sample = arms[index].sample()?;
            results[index].add(Sample { ticked: works && sample.ticked, ..sample });
        }
    }
    // What hardly runs may be compiled after many samples: by all machines in the same turn, which is left out like all that is hit.
    let compiled: Vec<u64> =
        arms.iter().zip(before).map(|(arm, before)| arm.compilations() - before).collect();
    let restless = restless || compiled.iter().any(|&pieces| pieces != compiled[0]);
    for (arm, result) in arms.iter().zip(&mut results) {
        result.end(arm);
    }
    drop(paddings);
    Ok(Round { arms: results, warm_up, restless })
}

/// Three machines, made in any order, and what lies between them. `machine` makes one, profiled or not, whose code is scattered as
/// a number decides.
pub(super) fn machines<'a>(
    machine: impl Fn(bool, u64) -> Result<Arm<'a>, Failure>,
    random: &mut Xoshiro256PlusPlus,
) -> Result<(Vec<Arm<'a>>, Vec<Vec<u8>>), Failure> {
    let mut arms: [Option<Arm<'_>>; 3] = [None, None, None];
    let mut paddings = Vec::new();
    for index in order(random) {
        paddings.push(Vec::with_capacity(PADDING + random.random_range(0..MORE_PADDING)));
        arms[index] = Some(machine(index == 1, random.random())?);
    }
    Ok((arms.into_iter().flatten().collect(), paddings))
}

/// Moves the code of all machines to other places. Samples that its way through the caches would make longer come when it is there: of
/// all machines, or of none, so that nothing tells one from the others.
fn elsewhere(arms: &mut [Arm<'_>], random: &mut Xoshiro256PlusPlus) -> Result<(), Failure> {
    arms.iter_mut().for_each(|arm| arm.scatter(random.random()));
    let order = order(random);
    if arms.iter().any(|arm| arm.last_sample() < LONG) {
        for index in order {
            arms[index].sample()?;
        }
    }
    Ok(())
}

/// Turns until nothing is compiled and moved any more: how many, and whether something still was.
fn warm_up(arms: &mut [Arm<'_>], random: &mut Xoshiro256PlusPlus) -> Result<(usize, bool), Failure> {
    let (mut quiet, mut known, mut time) = (0, Vec::new(), Duration::ZERO);
    for turn in 1.. {
        for index in order(random) {
            time += Duration::from_nanos(arms[index].sample()?.cpu);
        }
        let now: Vec<u64> = arms.iter().map(Arm::compilations).collect();
        quiet = if now == known { quiet + 1 } else { 0 };
        known = now;
        if quiet >= QUIET && time >= WARM_UP && !arms.iter().any(Arm::is_unordered) {
            return Ok((turn, false));
        }
        if turn >= MOST_WARM_UP.0 && time >= MOST_WARM_UP.1 {
            return Ok((turn, true));
        }
    }
    unreachable!("turns are counted without end")
}

/// The three arms in any order.
pub(super) fn order(random: &mut Xoshiro256PlusPlus) -> [usize; 3] {
    let mut order = [0, 1, 2];
    shuffle(&mut order, random);
    order
}

/// Exchanges values until every order is as likely (Fisher and Yates).
fn shuffle<T>(values: &mut [T], random: &mut Xoshiro256PlusPlus) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_as_often() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            *seen.entry(order(&mut random)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&times| (850..1150).contains(&times)), "{seen:?}");
    }
}
