//! Who runs when: in each round every arm runs once, one after the other, and each round begins with another arm, so that
//! what changes slowly on the machine (its temperature, its neighbours) meets all of them alike. Our side is two arms, of
//! the same code.
//!
//! Before the rounds of a program, each arm is tried: how many of its iterations fill the time of a process, and does it
//! work at all. An arm that fails is left out of what follows for this program.

use crate::against::process::Failure;
use crate::against::programs::Program;
use crate::against::statistics::value;

/// How long the iterations of a process shall take, in nanoseconds: enough for HotSpot and V8 to compile all that these
/// programs have.
const BUDGET: u64 = 3_000_000_000;
/// More iterations than this add nothing to the certainty of a median.
const MOST_ITERATIONS: u64 = 1000;
/// The part of the budget that an arm is tried with.
const TRIAL: u64 = BUDGET / 3;

/// What is measured of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Its first iteration, the only one.
    First,
    /// The steady state, after so many iterations; as many as fill its time if no number is given.
    Steady(Option<u64>),
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Processes of each arm and program.
    pub rounds: u64,
    /// What of them.
    pub phase: Phase,
}

/// One of those that are compared: ours if `peer` is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// Position of the peer in the list of peers.
    pub peer: Option<usize>,
    /// See [`crate::against::peers::Peer::fewest_iterations`].
    pub fewest_iterations: u64,
}

/// What came of an arm.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Arm {
    /// Iterations of each of its processes.
    pub iterations: u64,
    /// Nanoseconds of the iterations of its process in each round.
    pub rounds: Vec<Vec<u64>>,
    /// Why there are not more rounds.
    pub failure: Option<String>,
}

/// What came of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Which.
    pub program: &'static Program,
    /// Its size, the same for all.
    pub size: u64,
    /// Our two arms.
    pub ours: [Arm; 2],
    /// Those of the peers, in their order.
    pub peers: Vec<Arm>,
}

impl Compared {
    /// Did everything go well, in all rounds.
    pub fn complete(&self, rounds: u64) -> bool {
        let arms = self.ours.iter().chain(&self.peers);
        arms.clone().all(|arm| arm.failure.is_none() && arm.rounds.len() as u64 == rounds)
    }
}

/// Runs a process; told which side, and how many iterations.
pub type Measure<'a> = dyn FnMut(Side, u64) -> Result<Vec<u64>, Failure> + 'a;
/// Told what is about to run: which side, and in which of how many rounds, counted from one; none for a trial.
pub type Announce<'a> = dyn FnMut(Side, Option<u64>) + 'a;

/// All rounds of one program. False beside what was measured if the user stopped it.
pub fn compare(
    program: &'static Program,
    size: u64,
    plan: Plan,
    ours: Side,
    peers: &[Side],
    announce: &mut Announce<'_>,
    measure: &mut Measure<'_>,
) -> (Compared, bool) {
    // Our second arm stands as far from the first as it can, in the circle that the rounds go round.
    let mut arms: Vec<(Side, Arm)> = [ours].iter().chain(peers).map(|&side| (side, Arm::default())).collect();
    let second = 1 + peers.len().div_ceil(2);
    arms.insert(second, (ours, Arm::default()));
    let finished =
        trials(&mut arms, plan.phase, announce, measure) && rounds(&mut arms, plan, announce, measure);
    let mut arms: Vec<Arm> = arms.into_iter().map(|(_, arm)| arm).collect();
    let ours = [arms.remove(second), arms.remove(0)];
    let [again, first] = ours;
    (Compared { program, size, ours: [first, again], peers: arms }, finished)
}

/// Decides how many iterations each arm does.
fn trials(
    arms: &mut [(Side, Arm)],
    phase: Phase,
    announce: &mut Announce<'_>,
    measure: &mut Measure<'_>,
) -> bool {
    let fixed = match phase {
        Phase::First => Some(1),
        Phase::Steady(iterations) => iterations,
    };
    let mut ours = None;
    for (side, arm) in arms.iter_mut() {
        if let Some(iterations) = fixed {
            arm.iterations = iterations;
            continue;
        }
        // What is true of our first arm is true of the second.
        let known = ours.clone().filter(|_| side.peer.is_none());
        let tried = match known {
            Some(tried) => tried,
            None => {
                announce(*side, None);
                trial(*side, measure)
            }
        };
        if side.peer.is_none() {
            ours = Some(tried.clone());
        }
        match tried {
            Ok(iterations) => arm.iterations = iterations,
            Err(Failure::Failed(reason)) => arm.failure = Some(reason),
            Err(Failure::Stopped) => return false,
        }
    }
    true
}

/// The iterations that fill the time of a process: first a guess from a single one, which is slower than those that
/// follow wherever something is compiled, then from some more.
fn trial(side: Side, measure: &mut Measure<'_>) -> Result<u64, Failure> {
    let that_fill = |time: u64, samples: &[u64]| (time as f64 / value(samples)) as u64;
    let first = measure(side, 1)?;
    let more = that_fill(TRIAL, &first).min(MOST_ITERATIONS);
    let last = if more > 1 { measure(side, more)? } else { first };
    Ok(that_fill(BUDGET, &last).clamp(side.fewest_iterations, MOST_ITERATIONS))
}

fn rounds(
    arms: &mut [(Side, Arm)],
    plan: Plan,
    announce: &mut Announce<'_>,
    measure: &mut Measure<'_>,
) -> bool {
    for round in 0..plan.rounds {
        for place in 0..arms.len() {
            // Without our own side there is nothing to compare with.
            if arms.iter().any(|(side, arm)| side.peer.is_none() && arm.failure.is_some()) {
                return true;
            }
            let turn = (round as usize + place) % arms.len();
            let (side, arm) = &mut arms[turn];
            if arm.failure.is_some() {
                continue;
            }
            announce(*side, Some(round + 1));
            match measure(*side, arm.iterations) {
                Ok(samples) => arm.rounds.push(samples),
                Err(Failure::Failed(reason)) => arm.failure = Some(reason),
                Err(Failure::Stopped) => return false,
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::against::programs::PROGRAMS;

    const OURS: Side = Side { peer: None, fewest_iterations: 4 };

    fn peer(index: usize) -> Side {
        Side { peer: Some(index), fewest_iterations: 1 }
    }

    fn compare_with(
        plan: Plan,
        peers: usize,
        mut measure: impl FnMut(Side, u64) -> Result<Vec<u64>, Failure>,
    ) -> (Compared, bool, String) {
        let peers: Vec<Side> = (0..peers).map(peer).collect();
        let mut order = String::new();
        let mut announce = |side: Side, round: Option<u64>| {
            order += &side.peer.map_or("o".to_string(), |index| index.to_string());
            order += if round.is_none() { "?" } else { "" };
        };
        let (compared, finished) = compare(&PROGRAMS[0], 7, plan, OURS, &peers, &mut announce, &mut measure);
        (compared, finished, order)
    }

    #[test]
    fn every_round_begins_with_another_arm() {
        let plan = Plan { rounds: 3, phase: Phase::First };
        let (compared, finished, order) = compare_with(plan, 2, |_, iterations| Ok(vec![iterations]));
        assert_eq!(order, "o0o1".to_string() + "0o1o" + "o1o0");
        assert!(finished && compared.complete(3));
        assert!(compared.ours.iter().chain(&compared.peers).all(|arm| arm.rounds == [[1], [1], [1]]));
    }

    #[test]
    fn processes_are_filled_with_iterations() {
        // The first iteration is slow, the later ones are fast: 10 ms against 1 s, and one peer needs 4 s for each.
        let measure = |side: Side, iterations: u64| {
            let time = |iteration| match (side.peer, iteration) {
                (Some(1), _) => 4_000_000_000,
                (_, 0) => 100_000_000,
                _ => 10_000_000,
            };
            Ok((0..iterations).map(time).collect())
        };
        let plan = Plan { rounds: 1, phase: Phase::Steady(None) };
        let (compared, _, order) = compare_with(plan, 2, measure);
        assert_eq!(order, "o?0?1?o0o1");
        assert_eq!(compared.ours[0].iterations, 300);
        assert_eq!(compared.ours[1].iterations, 300);
        assert_eq!(compared.peers[0].iterations, 300);
        assert_eq!(compared.peers[1].iterations, 1);
        assert_eq!(compared.peers[1].rounds, [[4_000_000_000]]);
        let (compared, _, order) =
            compare_with(Plan { rounds: 1, phase: Phase::Steady(Some(8)) }, 1, measure);
        assert_eq!((compared.peers[0].rounds[0].len(), &*order), (8, "o0o"));
    }

    #[test]
    fn who_fails_is_left_out_and_the_others_go_on() {
        let plan = Plan { rounds: 2, phase: Phase::Steady(Some(1)) };
        let wrong = || Err(Failure::Failed("wrong result".to_string()));
        let one_fails = |side: Side, _| if side.peer == Some(0) { wrong() } else { Ok(vec![5]) };
        let (compared, finished, order) = compare_with(plan, 2, one_fails);
        assert_eq!(order, "o0o1".to_string() + "o1o");
        assert_eq!(compared.peers[0].failure.as_deref(), Some("wrong result"));
        assert_eq!(compared.peers[1].rounds.len(), 2);
        assert!(finished && !compared.complete(2));
        let (compared, _, order) =
            compare_with(plan, 2, |side, _| if side.peer.is_none() { wrong() } else { Ok(vec![5]) });
        assert_eq!(order, "o");
        assert!(compared.ours[0].failure.is_some() && compared.peers[0].rounds.is_empty());
    }

    #[test]
    fn what_was_measured_before_a_stop_is_kept() {
        let mut left = 5;
        let (compared, finished, _) = compare_with(Plan { rounds: 9, phase: Phase::First }, 1, |_, _| {
            left -= 1;
            if left < 0 { Err(Failure::Stopped) } else { Ok(vec![1]) }
        });
        assert!(!finished && !compared.complete(9));
        assert_eq!(
            compared.ours[0].rounds.len() + compared.ours[1].rounds.len() + compared.peers[0].rounds.len(),
            5
        );
    }
}
