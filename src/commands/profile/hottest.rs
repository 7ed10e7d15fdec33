//! The ten hottest subpaths of a sample beside what was executed: table 5 of Oren, Matias & Sagiv 2002, with two estimators and
//! how far each count of samples is from what was to be expected.
//!
//! Of S samples of a length, of which W subpaths were executed, one that was executed r times has c by chance: c is binomial, with p = r / W.
//!
//! | | estimate | expected | its variance |
//! |---|---|---|---|
//! | by share, as ours | c / S · W | S p | S p (1 - p) |
//! | by rate, as the paper's | c f / prior | r prior / f | the same |
//!
//! The paper's neglects the blocks that pass in samples, and that the priors of its lengths do not sum to 1: some percent, which its own
//! standard deviation does not cover once there are many samples.
//!
//! What is asked of ranks must be possible: one of the ten most executed is *apart* from the eleventh if their estimates by share differ by more than
//! three standard deviations of the difference. Of those that are not, which of them is among the first ten is chance.

use serde::Serialize;

/// So many are looked at.
pub const HOTTEST: usize = 10;

/// Further than so many standard deviations is not chance.
const APART: f64 = 3.0;

/// A length: what was sampled of it, and how much there was.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// The length.
    pub length: u32,
    /// Samples of it.
    pub samples: f64,
    /// Subpaths of it that were executed.
    pub windows: f64,
    /// The mean number of blocks between samples over the probability of the length.
    pub blocks: f64,
}

/// A sampled subpath.
#[derive(Clone, Copy, Debug)]
pub struct Seen<C> {
    /// What it is.
    pub class: C,
    /// Samples.
    pub count: u64,
    /// How often it was executed.
    pub run: u64,
    /// What is known of its length.
    pub drawn: Drawn,
}

/// Lists, with a number for each of the hottest of the sample, the hottest first.
#[derive(Serialize, Clone, PartialEq, Debug, Default)]
pub struct Hottest {
    /// Blocks.
    pub length: Vec<u32>,
    /// Samples.
    pub samples: Vec<u64>,
    /// Executions.
    pub run: Vec<u64>,
    /// The rank in truth, 0 for one that was not executed. Of those that were executed as often, the order is no matter.
    pub rank: Vec<usize>,
    /// Executions by the share of samples of the length.
    pub by_share: Vec<f64>,
    /// How far the count of samples is from what is expected by that, in standard deviations.
    pub off_by_share: Vec<f64>,
    /// Executions by the rate.
    pub by_rate: Vec<f64>,
    /// See `off_by_share`.
    pub off_by_rate: Vec<f64>,
    /// Of as many most executed ones, those that chance cannot take for the next.
    pub apart: usize,
    /// Of these, those that are not among the hottest of the sample.
    pub lost: usize,
}

impl Hottest {
    /// Of all that was sampled, the hottest first, and all that was executed, the most executed first: `drawn` tells of the length of a class.
    pub fn of<C: PartialEq + Copy>(
        seen: &[Seen<C>],
        actual: &[(u64, C)],
        drawn: impl Fn(C) -> Option<Drawn>,
    ) -> Hottest {
        let mut found = Hottest::default();
        let first = &seen[..HOTTEST.min(seen.len())];
        for (at, of) in first.iter().enumerate() {
            let (count, run) = (of.count as f64, of.run as f64);
            let Drawn { length, samples, windows, blocks } = of.drawn;
            let part = if windows > 0.0 { run / windows } else { 0.0 };
            found.length.push(length);
            found.samples.push(of.count);
            found.run.push(of.run);
            found.rank.push(rank(at, of, actual));
            found.by_share.push(count / samples.max(1.0) * windows);
            found.off_by_share.push(off(count, samples * part, samples * part * (1.0 - part)));
            found.by_rate.push(count * blocks);
            let expected = if blocks > 0.0 { run / blocks } else { 0.0 };
            found.off_by_rate.push(off(count, expected, expected));
        }
        let Some(&next) = actual.get(HOTTEST) else { return found };
        // The variance of an estimate by share, in executions.
        let variance = |(run, class): (u64, C)| match drawn(class) {
            Some(of) if of.samples > 0.0 && of.windows > 0.0 => {
                let part = run as f64 / of.windows;
                of.windows.powi(2) * part * (1.0 - part) / of.samples
            }
            _ => f64::INFINITY,
        };
        let is_apart =
            |of: &&(u64, C)| (of.0 - next.0) as f64 > APART * (variance(**of) + variance(next)).sqrt();
        let is_lost = |of: &&&(u64, C)| first.iter().all(|seen| seen.class != of.1);
        let apart: Vec<&(u64, C)> = actual[..HOTTEST].iter().filter(is_apart).collect();
        found.apart = apart.len();
        found.lost = apart.iter().filter(is_lost).count();
        found
    }
}

/// The rank in truth of what has a rank in the sample, both counted on the way there.
fn rank<C: PartialEq>(at: usize, of: &Seen<C>, actual: &[(u64, C)]) -> usize {
    match actual.get(at) {
        _ if of.run == 0 => 0,
        Some(same) if same.0 == of.run => at + 1,
        _ => actual.iter().take_while(|other| other.0 > of.run).count() + 1,
    }
}

/// How far a count is from what is expected, in standard deviations. What cannot vary, does not.
fn off(count: f64, expected: f64, variance: f64) -> f64 {
    if variance > 0.0 { (count - expected) / variance.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: Drawn = Drawn { length: 2, samples: 1000.0, windows: 1_000_000.0, blocks: 1000.0 };

    fn seen(class: u32, count: u64, run: u64) -> Seen<u32> {
        Seen { class, count, run, drawn: PAIRS }
    }

    #[test]
    fn estimates_stand_beside_the_truth() {
        let actual = [(250_000, 1), (100_000, 2), (100_000, 3)];
        let sample = [seen(1, 250, 250_000), seen(3, 130, 100_000), seen(9, 1, 0)];
        let found = Hottest::of(&sample, &actual, |_| Some(PAIRS));
        assert_eq!((found.rank, found.run), (vec![1, 2, 0], vec![250_000, 100_000, 0]));
        assert_eq!(found.by_share, [250_000.0, 130_000.0, 1000.0]);
        // Of 1000 samples a tenth is expected, with a variance of 90: 30 more are 3.16 standard deviations; by rate 3.
        assert!((found.off_by_share[1] - 30.0 / 90f64.sqrt()).abs() < 1e-9, "{:?}", found.off_by_share);
        assert!((found.off_by_rate[1] - 3.0).abs() < 1e-9);
        assert_eq!((found.apart, found.lost), (0, 0), "there is no eleventh");
    }

    #[test]
    fn what_is_apart_may_not_be_lost() {
        // The last of the ten is hardly more than the eleventh.
        let runs = [90, 80, 70, 60, 50, 40, 30, 29, 28, 21, 20];
        let actual: Vec<(u64, u32)> = (0..).zip(runs).map(|(class, run)| (run * 1000, class)).collect();
        let taken = |but: u32| {
            let all = actual.iter().filter(|of| of.1 != but);
            all.map(|of| seen(of.1, of.0 / 1000, of.0)).collect::<Vec<_>>()
        };
        let judged = |but| Hottest::of(&taken(but), &actual, |_| Some(PAIRS));
        // 40 of 1000 and 20 of 1000 differ by 20, and three standard deviations are 23; 50 by 30, and 25.
        assert_eq!((judged(9).apart, judged(9).lost), (5, 0));
        assert_eq!((judged(2).apart, judged(2).lost), (5, 1));
        // Nothing is known of their length.
        let blind = Hottest::of(&taken(2), &actual, |_| None);
        assert_eq!((blind.apart, blind.lost), (0, 0));
    }
}
