//! A round of whole runs: three new machines from their first instruction on, which find out for themselves what is worth compiling, and
//! make it again if they are continuous. They take turns as those do that replay, an iteration at a time, so that whatever disturbs the
//! computer disturbs all of them, and what counts is the sum of all turns, the first ones included.

use super::arm::{Arm, Failure, Host, Purpose};
use super::rounds::{ArmRound, Configurations, Plan, Round, machines, order};
use super::subject::{Subject, Work};
use rand::RngExt;
use std::time::Duration;

/// Code is moved after so much time of the base: places matter, and caches that have to be filled again then do not.
const STAY: Duration = Duration::from_millis(100);

/// Runs a round, until the base has taken this time; the `number` decides, with the seed, about order and places. `expected` is the digest
/// of what the program must print, once that is known.
pub(super) fn round(
    subject: &Subject,
    host: &dyn Host,
    configurations: &Configurations,
    plan: Plan,
    length: Duration,
    number: usize,
    expected: &mut Option<u64>,
) -> Result<Round, Failure> {
    let mut random = plan.random(number);
    let machine = |is_profiled, scatter| {
        let configuration = if is_profiled { &configurations.profile } else { &configurations.base };
        Arm::new(subject, host, Work::ONE, *expected, Purpose::Whole(configuration.clone(), scatter))
    };
    let (mut arms, paddings) = machines(machine, &mut random)?;
    arms[1].slow_down(plan.slowdown);
    let mut results: [ArmRound; 3] = Default::default();
    let (mut time, mut stayed) = (Duration::ZERO, Duration::ZERO);
    while time < length {
        for index in order(&mut random) {
            results[index].add(arms[index].sample()?);
        }
        let took = arms[0].last_sample();
        (time, stayed) = (time + took, stayed + took);
        if stayed >= STAY {
            arms.iter_mut().for_each(|arm| arm.scatter(random.random()));
            stayed = Duration::ZERO;
        }
    }
    for (arm, result) in arms.iter().zip(&mut results) {
        result.end(arm);
    }
    if subject.size().is_none() {
        *expected = arms[0].expected();
    }
    drop(paddings);
    Ok(Round { arms: results, warm_up: 0, restless: false })
}
