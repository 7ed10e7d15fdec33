//! The hottest subpaths, with estimates of how often each was executed and how far off that may be.
//!
//! Two estimators of the number of executions of a subpath of which `c` samples were counted:
//! * *The paper's* (section 3.1, "Accuracy of Results"): c f / prior, the prior being the probability 2^-n with which
//!   its length is sampled. It neglects the blocks that pass during samples and what a largest n leaves unassigned: a
//!   few percent too low or too high. Interval: 1.96 √c samples to either side, for c is a Poisson variable.
//! * *The post-stratified*: c / S · W, where S samples have this length and W = blocks - length + 1 subpaths of this length
//!   were executed. It needs neither f nor the law of the lengths, and stays true under thinning. Interval: Wilson's
//!   for the proportion c/S (Wilson 1927), which stays sensible for small c, times W.
//!
//! A counting sample has c samples since a subpath was let into the list, and missed m in the mean: c + m takes the place of c.
//! How many were missed is geometric where they were missed because the list was full: the interval reaches from that of c, as if
//! none had been, up to that of c + m, widened by a quantile of the exponential distribution, squares added up.
//!
//! How often a subpath was executed *surely* is Chernoff's bound: with a smaller share p, c samples of S or more come about with a
//! probability of at most exp(-S KL(c/S, p)). It is set to 2.5 % divided by the number of subpaths in the sample.
//!
//! With weighted starts, a subpath that begins with a block of weight w was sampled w times as often: its estimate is
//! divided by w (Horvitz and Thompson 1952), W being the weight of all blocks.
//!
//! Under ageing, an estimate is one of aged executions: see [`Ageing`](super::Ageing).

use super::config::{Invalid, Starts};
use super::encoding::{Encoding, period};
use super::sample::{Row, Sample};
use crate::BlockId;
use std::fmt;

/// The quantile of the normal distribution with which 95 % lie within an interval.
const QUANTILE: f64 = 1.959_964;

/// A number of missed samples is below so many times its mean in 97.5 of 100 cases: the quantile of the exponential distribution.
const MOST_MISSED: f64 = 3.688_879;

/// How counts of samples become counts of executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// c f / prior.
    Paper,
    /// c / S · W.
    PostStratified,
}

/// A reported subpath.
#[derive(Debug, Clone, PartialEq)]
pub struct HotPath {
    /// How many blocks it has.
    pub length: u32,
    /// Its identity among those of the same length.
    pub id: u64,
    /// Its blocks, if it was described.
    pub blocks: Option<Vec<BlockId>>,
    /// How often it was sampled.
    pub count: u64,
    /// How often it was executed, by estimate.
    pub estimate: f64,
    /// The 95 % confidence interval of that.
    pub interval: (f64, f64),
    /// So often at least, and this holds with 97.5 % for all subpaths of the sample together: what to rank by. Of thousands of rare subpaths
    /// some are sampled although they are rare, and of a length that is seldom sampled a single sample stands for many executions.
    pub surely: f64,
}

/// The hottest subpaths of a sample, the hottest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How the estimates were made.
    pub estimator: Estimator,
    /// Samples, repetitions included.
    pub samples: u64,
    /// Distinct subpaths in the sample.
    pub distinct: usize,
    /// The mean skip at this moment, in blocks.
    pub rate: u64,
    /// The paths.
    pub paths: Vec<HotPath>,
}

impl Sample {
    /// The `k` subpaths with the largest estimates; ties go to the shorter one, then to the smaller identity.
    ///
    /// # Errors
    ///
    /// If starts were weighted (see [`report_weighted`](Self::report_weighted)), or they came from a timer and the
    /// estimator is the paper's, which needs to know the rate.
    pub fn report(&self, k: usize, estimator: Estimator) -> Result<Report, Invalid> {
        match (self.starts, estimator) {
            (Starts::Weights, _) => {
                Err(Invalid::new("starts", "weighted", "skips or timer, or give the weights"))
            }
            (Starts::Timer, Estimator::Paper) => {
                Err(Invalid::new("estimator", "the paper's", "post-stratified, for samples of a timer"))
            }
            _ => Ok(self.ranked(k, estimator, |_| 1.0)),
        }
    }

    /// The `k` subpaths with the largest estimates when starts were weighted; `weight` is what
    /// [`enter_weighted`](super::Profiler::enter_weighted) was told of a block. A subpath without a description, or with a
    /// start of weight 0, is taken for one of weight 1.
    ///
    /// # Errors
    ///
    /// If starts were not weighted, or the encoding takes subpaths with different starts for the same.
    pub fn report_weighted(&self, k: usize, weight: impl Fn(BlockId) -> u32) -> Result<Report, Invalid> {
        if self.starts != Starts::Weights {
            return Err(Invalid::new("starts", format!("{:?}", self.starts), "weights"));
        }
        if self.encoding != Encoding::Rolling {
            return Err(Invalid::new("encoding", self.encoding.name(), "rolling, for weighted starts"));
        }
        let of_start = |blocks: Option<&[BlockId]>| {
            let start = blocks.and_then(<[BlockId]>::first);
            f64::from(start.map_or(1, |&start| weight(start)).max(1))
        };
        Ok(self.ranked(k, Estimator::PostStratified, of_start))
    }

    /// All rows with their estimates, the largest first, cut after `k`.
    fn ranked(&self, k: usize, estimator: Estimator, weight: impl Fn(Option<&[BlockId]>) -> f64) -> Report {
        let mut paths = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let Row { length, id, count, missed, .. } = *row;
            let stratum = self.strata.iter().find(|stratum| stratum.length == length);
            let (prior, samples, windows) =
                stratum.map_or((1.0, 0, 0.0), |stratum| (stratum.prior, stratum.samples, stratum.windows));
            let seen = as_float(count) + missed;
            let (each, interval): (f64, &dyn Fn(f64) -> (f64, f64)) = match estimator {
                Estimator::Paper => (as_float(self.rate) / prior, &poisson),
                Estimator::PostStratified => {
                    let all = as_float(samples).max(1.0);
                    // With what is thought to have been missed it may be more than all there are.
                    (windows / all, &move |count| wilson(count.min(all), all))
                }
            };
            let low = interval(as_float(count)).0;
            let high = seen + (interval(seen).1 - seen).max(0.0).hypot(missed * (MOST_MISSED - 1.0));
            let blocks = row.blocks.clone();
            let each = each / weight(blocks.as_deref());
            let interval = (low * each, high * each);
            let all = as_float(samples.max(count)).max(1.0);
            let surely =
                all * surely(as_float(count) / all, (self.rows.len() as f64 / 0.025).ln() / all) * each;
            paths.push(HotPath { length, id, blocks, count, estimate: seen * each, interval, surely });
        }
        paths.sort_by(|a, b| {
            b.estimate.total_cmp(&a.estimate).then_with(|| (a.length, a.id).cmp(&(b.length, b.id)))
        });
        paths.truncate(k);
        Report { estimator, samples: self.samples(), distinct: self.rows.len(), rate: self.rate, paths }
    }
}

impl Report {
    /// Whether the hottest `k` are certain: no other reported path's interval reaches those of the first `k`. With a
    /// report of all paths, a profiler may then stop until something changes.
    #[must_use]
    pub fn is_settled(&self, k: usize) -> bool {
        let (top, rest) = self.paths.split_at(k.min(self.paths.len()));
        let low = top.iter().map(|path| path.interval.0).fold(f64::INFINITY, f64::min);
        let high = rest.iter().map(|path| path.interval.1).fold(0.0, f64::max);
        top.len() == k && low > high
    }

    /// Only paths that were sampled more than so often.
    #[must_use]
    pub fn above(mut self, count: u64) -> Self {
        self.paths.retain(|path| path.count > count);
        self
    }
}

impl HotPath {
    /// After how many blocks the path repeats itself; its length if it does not, or is not described.
    #[must_use]
    pub fn period(&self) -> usize {
        self.blocks.as_deref().map_or(self.length as usize, period)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, distinct, rate, .. } = self;
        writeln!(
            f,
            "{samples} samples of {distinct} subpaths, one for {rate} blocks and those of the sample"
        )?;
        writeln!(
            f,
            "{:>4} {:>14} {:>14} {:>14} {:>9} {:>6}  blocks",
            "rank", "estimate", "from", "to", "samples", "length"
        )?;
        for (rank, path) in (1..).zip(&self.paths) {
            let HotPath { estimate, interval: (low, high), count, length, .. } = path;
            write!(f, "{rank:>4} {estimate:>14.0} {low:>14.0} {high:>14.0} {count:>9} {length:>6} ")?;
            match &path.blocks {
                Some(blocks) => blocks.iter().try_for_each(|block| write!(f, " {block}"))?,
                None => write!(f, " {:016x}", path.id)?,
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// The interval of a number of samples by the paper.
fn poisson(count: f64) -> (f64, f64) {
    let off = QUANTILE * count.sqrt();
    ((count - off).max(0.0), count + off)
}

/// Wilson's interval for a number of samples among all.
fn wilson(count: f64, samples: f64) -> (f64, f64) {
    let share = count / samples;
    let square = QUANTILE * QUANTILE / samples;
    let centre = (share + square / 2.0) / (1.0 + square);
    let off = (share * (1.0 - share) * square + square * square / 4.0).sqrt() / (1.0 + square);
    ((centre - off).max(0.0) * samples, (centre + off).min(1.0) * samples)
}

/// The share p below `share` with KL(share, p) = `divergence`, in nats: what is surely exceeded.
fn surely(share: f64, divergence: f64) -> f64 {
    let part = |of: f64, by: f64| if of > 0.0 { of * (of / by).ln() } else { 0.0 };
    let kl = |p: f64| part(share, p) + part(1.0 - share, 1.0 - p);
    let (mut low, mut high) = (0.0, share);
    // To a billionth of the share.
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if kl(middle) > divergence { low = middle } else { high = middle }
    }
    low
}

fn as_float(count: u64) -> f64 {
    count as f64
}
