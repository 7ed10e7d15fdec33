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
//! nothing. So, if one of the arms works at ticks, the turns are put into groups by which arms saw one, the mean of each group is taken as above, and
//! groups count by their sizes. (By *which* arms, all alike: what is hit takes longer and so sees a tick more often; if only the
//! profiled arm's ticks were looked at, hits on it would count more than those on the base.) Where one of two arms saw a tick and
//! the other did not, it is the *time* that it took more, over what is usual, that is averaged, and only a twentieth is left out at each end: a tick's
//! work may be a good part of a sample, of which logarithms make less than it takes, and it may be large in few of them. (On real samples with 0.2 ms of
//! exponentially distributed work at each tick, 1.16 %, the mean as above was 0.09 too low, and 0.30 if one tick in five did all the work; so it is off by 0.01.
//! A mean of ratios would be right for the one and wrong for the other: with noise, the mean of a ratio is more than the ratio of means, which cancels only if
//! both arms see ticks as often.)
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

use crate::against::statistics::{Interval, LogRatio, median};
use std::collections::BTreeMap;

/// Before so many rounds nobody knows how wide the interval is.
pub const FEWEST_ROUNDS: usize = 12;
/// The part of the turns of a round that does not count, at each end.
const TRIMMED: f64 = 0.2;
/// The same of turns in which one of two arms did a tick's work: most ticks may be cheap and some dear, and a fifth would cut those off.
const TRIMMED_AT_TICKS: f64 = 0.05;

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
        Summary::Medians => of(arms.map(|times| median(&mut times.to_vec()))),
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
    let logarithms: Vec<f64> =
        over.iter().zip(under).map(|(&over, &under)| (over as f64 / under as f64).ln()).collect();
    let mut groups: BTreeMap<[bool; 2], Vec<usize>> = BTreeMap::new();
    for turn in 0..over.len() {
        groups.entry(ticked.map(|ticked| ticked[turn])).or_default().push(turn);
    }
    let usual = trimmed_mean(logarithms.clone(), TRIMMED);
    let ratio = usual.exp();
    let [typical_over, typical_under] = [over, under].map(|times| median(&mut times.to_vec()));
    // What the arm with the tick took more, in samples of it that are as usual.
    let more_over = |turn: usize| (over[turn] as f64 / ratio - under[turn] as f64) / typical_under;
    let more_under = |turn: usize| (under[turn] as f64 * ratio - over[turn] as f64) / typical_over;
    let deviation = |turn: usize| logarithms[turn] - usual;
    let (mut others, mut at_ticks) = (0.0, [0.0; 2]);
    for (ticked, group) in groups {
        let sum = |of: &dyn Fn(usize) -> f64, part: f64| {
            group.len() as f64 * trimmed_mean(group.iter().map(|&turn| of(turn)).collect(), part)
        };
        match ticked {
            [true, false] => at_ticks[0] = sum(&more_over, TRIMMED_AT_TICKS),
            [false, true] => at_ticks[1] = sum(&more_under, TRIMMED_AT_TICKS),
            _ => others += sum(&deviation, TRIMMED),
        }
    }
    let turns = over.len() as f64;
    // A hit on the other arm may make it less than nothing: that counts as much as the same the other way round.
    let grown = at_ticks.map(|sum: f64| (sum.abs() / turns).ln_1p().copysign(sum));
    usual + others / turns + grown[0] - grown[1]
}

/// The mean without a part at each end.
fn trimmed_mean(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let trimmed = (values.len() as f64 * part).round() as usize;
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
