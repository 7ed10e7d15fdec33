//! What one profiler costs relative to another, with intervals: figure 14 and table 1 of D'Elia and Demetrescu 2013 divide, and do not say what.
//!
//! Both profilers are measured by themselves, each in rounds beside the same program without a profiler. A round gives the logarithm of a ratio of times.
//! With m the mean over a profiler's rounds, v its variance over n, and indices 1 and 2 for the profiler and the one it is divided by, there are two readings:
//!
//! * **of times**, exp(m1 - m2). On the scale of logarithms it is a difference of two means, whose interval is Welch's: t times the root of v1 + v2.
//! * **of overheads**, R = x1 / x2 with x = exp(m) - 1, whose variance is w = v exp(2 m) to the first order. That is a ratio of two uncertain numbers, of which the lower may
//!   be near nothing, so the interval is E. Fieller's (*Some Problems in Interval Estimation*, Journal of the Royal Statistical Society B, 1954): all r for which
//!   x1 - r x2 may be nothing, (x1 - r x2)^2 <= t^2 (w1 + r^2 w2). It has ends if x2 is more than t standard deviations from 0; otherwise any ratio may be, and there is no interval.
//!
//! t is the 97.5 % quantile of Student's distribution with Welch's and Satterthwaite's degrees of freedom. One round says nothing about others: then there is no interval either.

use crate::report::model::{Measured, Unit};
use crate::results::mean;
use holloway_benchmarks::against::statistics::{freedom_of_sum, student};

/// A number that was measured in rounds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Known {
    value: f64,
    /// Of the value, not of a round.
    variance: f64,
    /// Rounds less one.
    freedom: f64,
}

impl Known {
    /// The mean of the rounds; nothing for none.
    fn of(rounds: &[f64]) -> Option<Known> {
        let value = mean(rounds)?;
        let (count, freedom) = (rounds.len() as f64, rounds.len() as f64 - 1.0);
        let squares: f64 = rounds.iter().map(|round| (round - value).powi(2)).sum();
        let variance = if freedom > 0.0 { squares / freedom / count } else { f64::INFINITY };
        Some(Known { value, variance, freedom })
    }

    /// From the logarithm of a ratio to how much it is above 1.
    fn above_one(self) -> Known {
        let ratio = self.value.exp();
        Known { value: ratio - 1.0, variance: self.variance * ratio.powi(2), ..self }
    }
}

/// A ratio of two profilers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Relative {
    /// The ratio, with its interval if it has one.
    pub measured: Measured,
    /// Of the ratio, to the first order, and its degrees of freedom: what a mean over programs is known by.
    variance: (f64, f64),
}

impl Relative {
    fn new(value: f64, interval: Option<(f64, f64)>, variance: f64, freedom: f64) -> Relative {
        Relative { measured: Measured { value, interval, unit: Unit::Ratio }, variance: (variance, freedom) }
    }

    /// The overhead of one over that of the other, from the logarithms that their rounds gave. Nothing without rounds, or if the other costs nothing.
    pub fn of_overheads(one: &[f64], other: &[f64]) -> Option<Relative> {
        let (over, under) = (Known::of(one)?.above_one(), Known::of(other)?.above_one());
        if under.value <= 0.0 {
            return None;
        }
        let value = over.value / under.value;
        let parts = [(over.variance, over.freedom), (under.variance * value.powi(2), under.freedom)];
        let variance = (parts[0].0 + parts[1].0) / under.value.powi(2);
        if !variance.is_finite() {
            return Some(Relative::new(value, None, variance, 0.0));
        }
        let freedom = freedom_of_sum(&parts);
        Some(Relative::new(value, fieller(over, under, student(freedom)), variance, freedom))
    }

    /// The time with one over the time with the other.
    pub fn of_times(one: &[f64], other: &[f64]) -> Option<Relative> {
        let (over, under) = (Known::of(one)?, Known::of(other)?);
        let value = (over.value - under.value).exp();
        let sum = over.variance + under.variance;
        if !sum.is_finite() {
            return Some(Relative::new(value, None, sum, 0.0));
        }
        let freedom = freedom_of_sum(&[(over.variance, over.freedom), (under.variance, under.freedom)]);
        let half = (student(freedom) * sum.sqrt()).exp();
        Some(Relative::new(value, Some((value / half, value * half)), sum * value.powi(2), freedom))
    }

    /// The mean over programs; they are those that they are, so that only how well each is known counts. Nothing for none.
    pub fn mean(all: &[Relative]) -> Option<Measured> {
        let values: Vec<f64> = all.iter().map(|of| of.measured.value).collect();
        let value = mean(&values)?;
        let count = all.len() as f64;
        let parts: Vec<(f64, f64)> = all.iter().map(|of| of.variance).collect();
        let variance: f64 = parts.iter().map(|of| of.0).sum();
        let is_known = variance.is_finite() && all.iter().all(|of| of.measured.interval.is_some());
        let half = is_known.then(|| student(freedom_of_sum(&parts)) * variance.sqrt() / count);
        let interval = half.map(|half| (value - half, value + half));
        Some(Measured { value, interval, unit: Unit::Ratio })
    }
}

/// Does one take surely more time than the other, as far as their rounds can tell them apart; what was measured once is compared as it is. Nothing without rounds.
pub fn is_more(one: &[f64], other: &[f64]) -> Option<bool> {
    let times = Relative::of_times(one, other)?.measured;
    Some(times.interval.map_or(times.value, |ends| ends.0) > 1.0)
}

/// The ends of Fieller's interval, if it has any.
fn fieller(over: Known, under: Known, quantile: f64) -> Option<(f64, f64)> {
    let square = quantile.powi(2);
    // r^2 a - 2 r b + c <= 0
    let a = under.value.powi(2) - square * under.variance;
    let b = over.value * under.value;
    let c = over.value.powi(2) - square * over.variance;
    if a <= 0.0 {
        return None;
    }
    let root = (b.powi(2) - a * c).max(0.0).sqrt();
    Some(((b - root) / a, (b + root) / a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    /// A number around 0 with standard deviation 1: the sum of twelve even ones.
    fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
        (0..12).map(|_| random.random_range(-0.5..0.5)).sum()
    }

    fn rounds(random: &mut Xoshiro256PlusPlus, overhead: f64, noise: f64, count: usize) -> Vec<f64> {
        (0..count).map(|_| overhead.ln_1p() + noise * normal(random)).collect()
    }

    #[test]
    fn ratios_are_of_times_or_of_overheads() {
        let (one, other) = ([1.3f64.ln(); 4], [1.2f64.ln(); 3]);
        let overheads = Relative::of_overheads(&one, &other).expect("it has rounds").measured;
        let times = Relative::of_times(&one, &other).expect("it has rounds").measured;
        assert!((overheads.value - 1.5).abs() < 1e-9 && (times.value - 1.3 / 1.2).abs() < 1e-9);
        // Rounds that do not differ are known exactly.
        let (low, high) = overheads.interval.expect("the other costs something");
        assert!(high - low < 1e-6, "{low} to {high}");
        assert_eq!(Relative::of_overheads(&one, &[]), None);
        assert_eq!(Relative::of_overheads(&one, &[-0.1, 0.05]), None, "nothing to divide by");
        let once = Relative::of_overheads(&one, &[0.1]).expect("it has a round");
        assert_eq!(once.measured.interval, None);
        assert_eq!(Relative::mean(&[once]).and_then(|of| of.interval), None);
        assert_eq!(Relative::mean(&[]), None);
    }

    #[test]
    fn of_next_to_nothing_there_is_no_interval() {
        let near_nothing = [0.05, -0.03, 0.04, -0.04];
        let found = Relative::of_overheads(&[0.2, 0.21, 0.19], &near_nothing).expect("it is above 0");
        assert_eq!(found.measured.interval, None, "any ratio may be");
    }

    /// The ends solve the equation that defines them.
    #[test]
    fn fiellers_ends_are_where_the_difference_is_just_noise() {
        let over = Known { value: 0.3, variance: 1e-4, freedom: 9.0 };
        let under = Known { value: 0.2, variance: 2e-4, freedom: 9.0 };
        let (low, high) = fieller(over, under, 2.0).expect("the other costs something");
        for end in [low, high] {
            let difference = (over.value - end * under.value).abs();
            let noise = 2.0 * (over.variance + end.powi(2) * under.variance).sqrt();
            assert!((difference - noise).abs() < 1e-9, "{end}");
        }
        assert!(low < 1.5 && 1.5 < high);
        // The divisor's noise makes it longer upwards.
        assert!(high - 1.5 > 1.5 - low, "{low} to {high}");
    }

    /// Of simulated rounds with known overheads, 95 of 100 intervals hold the truth: single ratios and means of them.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        const TIMES: usize = 3000;
        let mut held = [0; 3];
        for _ in 0..TIMES {
            let mut draw = |overhead, noise, count| rounds(&mut random, overhead, noise, count);
            let (one, other) = (draw(0.3, 0.02, 7), draw(0.2, 0.03, 9));
            let holds = |of: Option<Measured>, truth: f64| {
                let (low, high) = of.and_then(|of| of.interval).unwrap_or((f64::MIN, f64::MAX));
                usize::from((low..=high).contains(&truth))
            };
            held[0] += holds(Relative::of_overheads(&one, &other).map(|of| of.measured), 1.5);
            held[1] += holds(Relative::of_times(&one, &other).map(|of| of.measured), 1.3 / 1.2);
            let programs = [0.2, 0.5, 0.3, 0.25].map(|base| {
                let (one, other) = (draw(base * 1.2, 0.02, 6), draw(base, 0.02, 6));
                Relative::of_overheads(&one, &other)
            });
            let programs: Option<Vec<Relative>> = programs.into_iter().collect();
            held[2] += holds(programs.and_then(|all| Relative::mean(&all)), 1.2);
        }
        for held in held {
            let share = held as f64 / TIMES as f64;
            assert!((0.93..=0.975).contains(&share), "{share}");
        }
    }

    #[test]
    fn what_noise_explains_is_not_more() {
        let (low, high) = ([0.2, 0.21, 0.19], [0.4, 0.41, 0.39]);
        assert_eq!((is_more(&high, &low), is_more(&low, &high)), (Some(true), Some(false)));
        assert_eq!(is_more(&[0.2, 0.22, 0.2], &low), Some(false));
        assert_eq!(is_more(&[0.25], &[0.2]), Some(true), "one round is compared as it is");
        assert_eq!(is_more(&[], &low), None);
    }
}
