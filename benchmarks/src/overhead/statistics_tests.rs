//! The statistics on simulated machines, whose truth is known. Everything is seeded.

use super::*;
use crate::against::statistics::geometric_mean;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// A machine on which a program takes about a millisecond.
#[derive(Clone, Copy)]
struct Simulated {
    /// The logarithm of the true ratio.
    effect: f64,
    /// Standard deviations, in logarithms: of the place that an arm has in a round, and of a sample.
    placement: f64,
    noise: f64,
    /// The part of samples that something hits from outside, each by up to 30 %.
    hits: f64,
}

const QUIET: Simulated = Simulated { effect: 0.0, placement: 0.0, noise: 0.005, hits: 0.0 };
const NOISY: Simulated = Simulated { effect: 0.0, placement: 0.002, noise: 0.01, hits: 0.03 };
const MISPLACED: Simulated = Simulated { effect: 0.0, placement: 0.01, noise: 0.003, hits: 0.0 };

const TURNS: usize = 10;

type Random = Xoshiro256PlusPlus;

/// A value of the standard normal distribution, near enough: the sum of twelve uniform ones.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

fn round(machine: Simulated, random: &mut Random) -> RoundRatios {
    // What changes for all arms alike from turn to turn is no matter.
    let weather: Vec<f64> = (0..TURNS).map(|_| 0.05 * normal(random)).collect();
    let arms: [Vec<u64>; 3] = std::array::from_fn(|arm| {
        let place = machine.placement * normal(random) + if arm == 1 { machine.effect } else { 0.0 };
        let sample = |weather: &f64| {
            let hit = random.random_range(0.0..1.0) < machine.hits;
            let hit = if hit { random.random_range(0.0..0.3) } else { 0.0 };
            (1e6 * (weather + place + machine.noise * normal(random) + hit).exp()) as u64
        };
        weather.iter().map(sample).collect()
    });
    round_ratios(arms.each_ref().map(Vec::as_slice), [&[false; TURNS]; 3], Summary::Turns)
}

/// The part of trials, in percent, whose interval for what `pick` picks satisfies `good`.
fn part(
    trials: usize,
    seed: u64,
    mut trial: impl FnMut(&mut Random) -> Vec<f64>,
    good: impl Fn(f64, f64) -> bool,
) -> f64 {
    let mut random = Random::seed_from_u64(seed);
    let hits = (0..trials).filter(|_| {
        let (low, high) = LogRatio::over_rounds(&trial(&mut random), 0).interval().ends.expect("rounds");
        good(low.ln(), high.ln())
    });
    hits.count() as f64 * 100.0 / trials as f64
}

fn overheads(machine: Simulated, rounds: usize, random: &mut Random) -> Vec<f64> {
    (0..rounds).map(|_| round(machine, random).overhead).collect()
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for (seed, machine) in [QUIET, NOISY, MISPLACED].into_iter().enumerate() {
        for rounds in [8, 20] {
            let machine = Simulated { effect: 0.02, ..machine };
            let holds = |low: f64, high: f64| low <= machine.effect && machine.effect <= high;
            let covered = part(600, seed as u64, |random| overheads(machine, rounds, random), holds);
            assert!((93.0..=97.0).contains(&covered), "{covered} % of machine {seed}, {rounds} rounds");
        }
    }
}

/// Of two rounds, the outermost values are no quantiles.
#[test]
fn intervals_of_few_rounds_hold_the_truth_as_often() {
    for (seed, rounds) in [(60, 2), (61, 3), (62, 5), (63, 9)] {
        let noise = |random: &mut Random| (0..rounds).map(|_| 0.01 * normal(random)).collect();
        let covered = part(4000, seed, noise, |low, high| low <= 0.0 && 0.0 <= high);
        assert!((94.0..=96.5).contains(&covered), "{covered} % of {rounds} rounds");
    }
}

/// The noisiest program decides how far off the mean may be, and what is known of it, how well that is known.
#[test]
fn means_over_programs_of_unequal_noise_hold_the_truth_as_often() {
    for (seed, noises) in [(70, [0.01, 0.0005, 0.0005, 0.0005]), (71, [0.01, 0.01, 0.01, 0.01])] {
        for rounds in [3, 10] {
            let mut random = Random::seed_from_u64(seed);
            let mut trial = |trial: u64| {
                let programs: Vec<LogRatio> = (1..)
                    .zip(noises)
                    .map(|(program, noise)| {
                        let values: Vec<f64> = (0..rounds).map(|_| noise * normal(&mut random)).collect();
                        LogRatio::over_rounds(&values, 4 * trial + program)
                    })
                    .collect();
                let programs: Vec<&LogRatio> = programs.iter().collect();
                geometric_mean(&programs).expect("four").interval().ends.expect("rounds")
            };
            let held = (0..4000).map(&mut trial).filter(|(low, high)| *low <= 1.0 && 1.0 <= *high).count();
            let covered = held as f64 / 40.0;
            assert!((93.0..=97.0).contains(&covered), "{covered} % of {rounds} rounds with {noises:?}");
        }
    }
}

#[test]
fn a_program_differs_from_itself_in_one_of_twenty_measurements() {
    for (seed, machine) in [QUIET, NOISY, MISPLACED].into_iter().enumerate() {
        let agains = |random: &mut Random| (0..12).map(|_| round(machine, random).again).collect();
        let excluded = part(4000, seed as u64 + 10, agains, |low, high| low > 0.0 || high < 0.0);
        assert!((4.0..=6.0).contains(&excluded), "{excluded} % on machine {seed}");
    }
}

#[test]
fn five_percent_are_always_found() {
    for (seed, machine) in [QUIET, NOISY, MISPLACED].into_iter().enumerate() {
        let machine = Simulated { effect: 0.05, ..machine };
        let found = part(300, seed as u64 + 20, |random| overheads(machine, 8, random), |low, _| low > 0.0);
        assert_eq!(found, 100.0, "machine {seed}");
    }
}

#[test]
fn stopping_when_it_is_enough_keeps_the_promise() {
    let machine = Simulated { effect: 0.003, ..NOISY };
    let (mut most, mut few) = (0, 0);
    let until_enough = |random: &mut Random| {
        let mut rounds = Vec::new();
        while !is_enough(&rounds, 0.004) && rounds.len() < 200 {
            rounds.push(round(machine, random).overhead);
        }
        most = most.max(rounds.len());
        few += usize::from(rounds.len() == FEWEST_ROUNDS);
        rounds
    };
    let holds = |low: f64, high: f64| low <= machine.effect && machine.effect <= high;
    let covered = part(1200, 30, until_enough, holds);
    assert!((93.0..=97.0).contains(&covered), "{covered} %");
    assert!(most > FEWEST_ROUNDS && most < 200, "{most}, {few} with the fewest");
}

#[test]
fn means_over_programs_have_intervals_of_both_kinds() {
    let mut random = Random::seed_from_u64(40);
    let effects = [0.01, 0.02, 0.06, 0.03];
    let programs: Vec<LogRatio> = (0..)
        .zip(effects)
        .map(|(stream, effect)| {
            LogRatio::over_rounds(&overheads(Simulated { effect, ..QUIET }, 10, &mut random), stream)
        })
        .collect();
    let programs: Vec<&LogRatio> = programs.iter().collect();
    let these = geometric_mean(&programs).expect("four").interval();
    let like_these = over_programs(&programs).expect("four");
    let (low, high) = these.ends.expect("rounds");
    assert!((these.value.ln() - 0.03).abs() < 0.001 && high - low < 0.006, "{these:?}");
    assert!(width(&like_these) > 5.0 * width(&these), "{like_these:?} {these:?}");
    assert_eq!(over_programs(&[]), None);
    assert_eq!(over_programs(&programs[..1]).expect("one").ends, None);
}

#[test]
fn hits_do_not_count_and_work_at_ticks_does() {
    let base = [1000; 20];
    let mut hit = base;
    hit[3] = 9000;
    let never = [false; 20];
    let ratios =
        |profiled: &[u64], summary| round_ratios([&base, profiled, &base], [&never; 3], summary).overhead;
    assert_eq!(ratios(&hit, Summary::Turns), 0.0);
    // Of whole runs all counts, however seldom it is.
    assert!((ratios(&hit, Summary::Sums) - 1.4f64.ln()).abs() < 1e-9);
    let (mut ticked, mut profiled) = ([false; 20], base);
    for tick in [2, 11] {
        (ticked[tick], profiled[tick]) = (true, 1100);
    }
    let with_ticks =
        |ticked: [&[bool]; 3]| round_ratios([&base, &profiled, &base], ticked, Summary::Turns).overhead;
    // A tenth of two of twenty.
    assert!((with_ticks([&never, &ticked, &never]) - 1.01f64.ln()).abs() < 1e-9);
    assert_eq!(with_ticks([&never, &never, &never]), 0.0);
    // It is as much if the base does it, and nothing if both do.
    let of_base = round_ratios([&profiled, &base, &profiled], [&ticked, &never, &ticked], Summary::Turns);
    assert!((of_base.overhead + 1.01f64.ln()).abs() < 1e-9 && of_base.again == 0.0, "{of_base:?}");
    let of_both = round_ratios([&profiled; 3], [&ticked; 3], Summary::Turns);
    assert_eq!((of_both.overhead, of_both.again), (0.0, 0.0));
    assert_eq!(ratios(&profiled, Summary::Medians), 0.0);
    assert_eq!(ratios(&profiled, Summary::Minima), 0.0);
    let one = round_ratios([&[100], &[110], &[121]], [&[false]; 3], Summary::Turns);
    assert!((one.again - 1.21f64.ln()).abs() < 1e-9 && one.overhead.abs() < 1e-9);
}

/// Samples that something hits take longer, so that a tick falls into them more often.
#[test]
fn ticks_that_come_with_hits_do_not_deceive() {
    let mut random = Random::seed_from_u64(50);
    let mut rounds = |work_at_tick: f64| -> Vec<f64> {
        let round = |_| {
            let mut ticked: [Vec<bool>; 3] = Default::default();
            let arms: [Vec<u64>; 3] = std::array::from_fn(|arm| {
                let sample = |_| {
                    let hit = random.random_range(0.0..1.0) < 0.1;
                    let tick = random.random_range(0.0..1.0) < if hit { 0.5 } else { 0.05 };
                    ticked[arm].push(tick);
                    let work = if arm == 1 && tick { work_at_tick } else { 0.0 };
                    (1e6 * ((0.01 * normal(&mut random)).exp() * if hit { 1.2 } else { 1.0 } + work)) as u64
                };
                (0..100).map(sample).collect()
            });
            let ticked = ticked.each_ref().map(Vec::as_slice);
            round_ratios(arms.each_ref().map(Vec::as_slice), ticked, Summary::Turns).overhead
        };
        (0..100).map(round).collect()
    };
    // Of all samples, 9.5 % see a tick.
    for (work, truth) in [(0.0, 0.0), (0.1, 0.0095_f64.ln_1p()), (0.3, 0.0285_f64.ln_1p())] {
        let rounds = rounds(work);
        let (low, high) = LogRatio::over_rounds(&rounds, 0).interval().ends.expect("rounds");
        assert!(low.ln() <= truth && truth <= high.ln() && high / low < 1.005, "{low} {high}");
    }
}

/// What is done at ticks may be much in few of them, and one arm may go on with it all of the time.
#[test]
fn work_at_ticks_counts_however_it_is_distributed() {
    let mut random = Random::seed_from_u64(80);
    let mut rounds = |work: &dyn Fn(&mut Random) -> f64, always: bool| -> Vec<f64> {
        let round = |_| {
            let mut ticked: [Vec<bool>; 3] = Default::default();
            let arms: [Vec<u64>; 3] = std::array::from_fn(|arm| {
                let sample = |_| {
                    let tick = random.random_range(0.0..1.0) < 0.05;
                    ticked[arm].push(tick || arm == 1 && always);
                    let work = if arm == 1 && tick { work(&mut random) } else { 0.0 };
                    (1e6 * ((0.03 * normal(&mut random)).exp() + work)) as u64
                };
                (0..40).map(sample).collect()
            });
            let ticked = ticked.each_ref().map(Vec::as_slice);
            round_ratios(arms.each_ref().map(Vec::as_slice), ticked, Summary::Turns).overhead
        };
        (0..2000).map(round).collect()
    };
    let exponential = |random: &mut Random| -0.2 * random.random_range(f64::MIN_POSITIVE..1.0).ln();
    let seldom = |random: &mut Random| if random.random_range(0.0..1.0) < 0.2 { 1.0 } else { 0.0 };
    let nothing = |_: &mut Random| 0.0;
    let mut is_near = |work: &dyn Fn(&mut Random) -> f64, always, truth: f64| {
        let (low, high) = LogRatio::over_rounds(&rounds(work, always), 0).interval().ends.expect("rounds");
        assert!(low - 0.0005 < 1.0 + truth && 1.0 + truth < high + 0.0005, "{truth}: {low} {high}");
        assert!(high - low < 0.002, "{low} {high}");
    };
    is_near(&exponential, false, 0.01);
    is_near(&seldom, false, 0.01);
    is_near(&nothing, false, 0.0);
    is_near(&nothing, true, 0.0);
}

#[test]
fn the_same_samples_have_the_same_interval() {
    let values = [0.01, 0.03, 0.02, 0.05];
    let interval = |stream| LogRatio::over_rounds(&values, stream).interval();
    assert_eq!(interval(3), interval(3));
    assert_eq!(LogRatio::over_rounds(&values[..1], 0).interval().ends, None);
    assert_eq!(width(&LogRatio::over_rounds(&values[..1], 0).interval()), f64::INFINITY);
}
