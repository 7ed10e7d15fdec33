//! From samples to the ratio of two arms, with an interval.
//!
//! **A turn** gives the logarithm of the ratio of two arms. **A round** gives the mean over its turns, without the fifth at
//! each end: samples are short, so that the arms take turns often, and what hits one of them (an interrupt, another process that empties
//! the caches) must not decide. The overhead is the mean of two such numbers, of the profiled arm to each of the base arms: one of
//! them alone would be less certain, and the profiled arm to the mean of both would be wrong, because a hit moves the one side
//! farther and the other more often, and a trimmed mean adds up such things to something else than nothing (on a busy
//! machine it was off by 0.07 %).
//!
//! **Ticks** of the timer come in few of such short samples, and a profiler that works at ticks would be found to do it for
//! nothing. So the turns are put into groups by which arms saw a tick, the mean of each group is taken as above, and
//! groups count by their sizes. (By *which* arms, all alike: what is hit takes longer and so sees a tick more often; if only the
//! profiled arm's ticks were looked at, hits on it would count more than those on the base.) Where one of two arms did a tick's work and
//! the other did not, it may take a good part of a sample: there the ratios themselves are averaged, over what is usual, because
//! logarithms make less of a few large ones than they take (a tenth less, if a tick's work is a fifth of a sample).
//!
//! **The interval** is a hierarchical bootstrap over programs, rounds and turns, in the way that A. Davison and D.
//! Hinkley recommend for such data (*Bootstrap Methods and their Application*, 1997, section 3.8): the highest level is
//! drawn with replacement, what is below stays with it, because its scatter is already in the values above. Drawing
//! turns within the drawn rounds, too, counts that scatter twice; where rounds differ by nothing else, such intervals would be wider by
//! the factor √2. For a program the highest level are its rounds; for the mean over the programs that were measured, the
//! rounds of each; for the mean over programs *like* those, the programs. As in [`crate::against::statistics`],
//! of n values n − 1 are drawn, and the interval is stretched by Student's t.
//!
//! **Stopping** when the interval is narrow enough looks at the width only, never at the value, and not before
//! [`FEWEST_ROUNDS`]: intervals found so hold the truth as often as those after a fixed number of rounds, but for a
//! percent or two (tests below).

use crate::against::statistics::{Interval, LogRatio};
use std::collections::BTreeMap;

/// Before so many rounds nobody knows how wide the interval is.
pub const FEWEST_ROUNDS: usize = 12;
/// The part of the turns of a round that does not count, at each end.
const TRIMMED: f64 = 0.2;

/// How the samples of an arm in a round become one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Summary {
    /// The trimmed mean of the ratios of the turns.
    Turns,
    /// The ratio of the medians.
    Medians,
    /// The ratio of the minima.
    Minima,
    /// The ratio of the sums, for whole runs: what is seldom and long counts as what it takes.
    Sums,
}

/// The logarithms of two ratios, for one round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RoundRatios {
    /// The profiled arm to the base.
    pub overhead: f64,
    /// The second base arm to the first.
    pub again: f64,
}

/// The ratios of a round: `arms` are the times of base, profiled arm and second base arm, at least one each, equally
/// many, none of them 0. `ticked` says in which of them there was a tick, or went on what one had begun.
pub fn round_ratios(arms: [&[u64]; 3], ticked: [&[bool]; 3], summary: Summary) -> RoundRatios {
    let of = |[base, profiled, again]: [f64; 3]| RoundRatios {
        overhead: (profiled / (base * again).sqrt()).ln(),
        again: (again / base).ln(),
    };
    match summary {
        Summary::Medians => of(arms.map(|times| crate::against::statistics::median(&mut times.to_vec()))),
        Summary::Minima => of(arms.map(|times| times.iter().copied().min().unwrap_or(1) as f64)),
        Summary::Sums => of(arms.map(|times| times.iter().map(|&time| time as f64).sum())),
        Summary::Turns => {
            let ratio = |over: usize, under: usize| {
                over_turns([arms[over], arms[under]], [ticked[over], ticked[under]])
            };
            RoundRatios { overhead: (ratio(1, 0) + ratio(1, 2)) / 2.0, again: ratio(2, 0) }
        }
    }
}

/// The logarithm of the ratio of two arms, by the turns.
fn over_turns([over, under]: [&[u64]; 2], ticked: [&[bool]; 2]) -> f64 {
    let mut logarithms: Vec<f64> =
        over.iter().zip(under).map(|(&over, &under)| (over as f64 / under as f64).ln()).collect();
    let mut groups: BTreeMap<[bool; 2], Vec<f64>> = BTreeMap::new();
    for (turn, &logarithm) in logarithms.iter().enumerate() {
        groups.entry(ticked.map(|ticked| ticked[turn])).or_default().push(logarithm);
    }
    let usual = trimmed_mean(&mut logarithms);
    let mut sum = 0.0;
    for (ticked, mut group) in groups {
        let turns = group.len() as f64;
        // How much of a usual sample the arm with the tick took more.
        let more = |sign: f64| {
            let mut ratios: Vec<f64> = group.iter().map(|log| (sign * (log - usual)).exp()).collect();
            trimmed_mean(&mut ratios) - 1.0
        };
        sum += turns
            * match ticked {
                [true, false] => usual + more(1.0),
                [false, true] => usual - more(-1.0),
                _ => trimmed_mean(&mut group),
            };
    }
    sum / over.len() as f64
}

/// The mean without the fifth at each end.
fn trimmed_mean(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let trimmed = (values.len() as f64 * TRIMMED).round() as usize;
    let kept = &values[trimmed..values.len() - trimmed];
    kept.iter().sum::<f64>() / kept.len() as f64
}

/// The ratio over programs like these, of which each gives one value; none for no programs.
pub fn over_programs(programs: &[&LogRatio]) -> Option<Interval> {
    let values: Vec<f64> = programs.iter().map(|ratio| ratio.logarithm()).collect();
    (!values.is_empty()).then(|| LogRatio::over_rounds(&values, u64::MAX).interval())
}

/// The width of an interval, from end to end; infinite where there is none.
pub fn width(interval: &Interval) -> f64 {
    interval.ends.map_or(f64::INFINITY, |(low, high)| high - low)
}

/// Is this known well enough after these rounds: is the interval no wider than `precision`.
pub fn is_enough(rounds: &[f64], precision: f64) -> bool {
    rounds.len() >= FEWEST_ROUNDS && width(&LogRatio::over_rounds(rounds, 0).interval()) <= precision
}

#[cfg(test)]
#[path = "statistics_tests.rs"]
mod tests;
