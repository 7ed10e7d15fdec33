//! A sample as a value: what a profiler knows at one moment, fit to be stored, merged with that of other threads, and
//! reported on.
//!
//! Merging is exact: two samples that were taken at different rates are thinned to the rate of the more seldom one by
//! exact binomials, after which each start in either thread is counted with the same probability, and counts add up. The
//! number of places where a subpath of some length could have started, its *windows*, adds up as well: a thread of B
//! blocks has B - length + 1. Counting samples of the same rate just add up, with what each missed.

use super::config::{Config, Invalid, Keeping, Starts};
use super::encoding::Encoding;
use super::hot_list::stays;
use super::lengths::SCALE;
use super::random::{Random, Ratio};
use crate::BlockId;
use serde::{Deserialize, Serialize};

/// One distinct subpath of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// How many blocks it has.
    pub length: u32,
    /// Its identity among those of the same length.
    pub id: u64,
    /// How often it was sampled (and kept).
    pub count: u64,
    /// How many samples were missed before a list let it in, in the mean; 0 in a concise sample.
    pub missed: f64,
    /// Its blocks, of the first occurrence that was sampled, if it was described.
    pub blocks: Option<Vec<BlockId>>,
}

/// All subpaths of one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stratum {
    /// The length in blocks.
    pub length: u32,
    /// With which probability the length is sampled, by the law as it was declared.
    pub prior: f64,
    /// How many samples of this length the estimates refer to: those that are kept, and with a counting sample all.
    pub samples: u64,
    /// How many subpaths of this length were executed; with weighted starts, the weight of all blocks; under ageing,
    /// what is left of it.
    pub windows: f64,
}

/// What was sampled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Which subpaths count as the same.
    pub encoding: Encoding,
    /// The seed of the encoding.
    pub encoding_seed: u64,
    /// What started the samples.
    pub starts: Starts,
    /// What a full list did.
    pub keeping: Keeping,
    /// The paper's f, in blocks.
    pub rate: u64,
    /// Of so many samples of what was not in the list, one entered at last: the largest number of all lists.
    pub threshold: u64,
    /// How many blocks pass during a sample on average, times 2^16.
    dead_time: u32,
    /// Lengths, ascending.
    pub strata: Vec<Stratum>,
    /// Distinct subpaths, by length and identity.
    pub rows: Vec<Row>,
}

impl Sample {
    pub(super) fn new(
        config: &Config,
        rate: u64,
        threshold: u64,
        dead_time: u32,
        strata: Vec<Stratum>,
        mut rows: Vec<Row>,
    ) -> Self {
        rows.sort_unstable_by_key(|row| (row.length, row.id));
        let Config { encoding, encoding_seed, starts, keeping, .. } = *config;
        let mut sample =
            Self { encoding, encoding_seed, starts, keeping, rate, threshold, dead_time, strata, rows };
        sample.count_strata();
        sample
    }

    /// Counts the samples of each length that are kept, where these are all there are.
    fn count_strata(&mut self) {
        if self.keeping == Keeping::Counting {
            return;
        }
        for stratum in &mut self.strata {
            let of_length = self.rows.iter().filter(|row| row.length == stratum.length);
            stratum.samples = of_length.fold(0, |sum, row| sum.saturating_add(row.count));
        }
    }

    /// How many samples are counted, repetitions included.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.rows.iter().fold(0, |sum, row| sum.saturating_add(row.count))
    }

    /// The paper's G: samples for each distinct subpath; 0 if there is none.
    #[must_use]
    pub fn gain(&self) -> f64 {
        if self.rows.is_empty() { 0.0 } else { self.samples() as f64 / self.rows.len() as f64 }
    }

    /// Adds the sample of another thread, after both were thinned to the larger rate.
    ///
    /// # Errors
    ///
    /// If the two do not count the same: other lengths, another encoding or seed of it, other starts, a list of another
    /// kind; counting samples of different rates.
    pub fn merge(&mut self, mut other: Self, random: &mut Random) -> Result<(), Invalid> {
        let law = |sample: &Self| {
            sample.strata.iter().map(|stratum| (stratum.length, stratum.prior)).collect::<Vec<_>>()
        };
        let alike = (self.encoding, self.encoding_seed, self.starts, self.keeping, self.dead_time)
            == (other.encoding, other.encoding_seed, other.starts, other.keeping, other.dead_time);
        let rates = self.keeping == Keeping::Concise || self.rate == other.rate;
        if !alike || !rates || law(self) != law(&other) {
            let named = |of: &Self| {
                format!("{} of {:?}, {:?}, at {} blocks", of.encoding, of.starts, of.keeping, of.rate)
            };
            let given = named(&other);
            let valid = format!("{} with the same lengths and seed", named(self));
            return Err(Invalid::new("the sample to merge", given, valid));
        }
        let rate = self.rate.max(other.rate);
        self.thin_to(rate, random);
        other.thin_to(rate, random);
        self.threshold = self.threshold.max(other.threshold);
        for (mine, theirs) in self.strata.iter_mut().zip(&other.strata) {
            mine.windows += theirs.windows;
            mine.samples = mine.samples.saturating_add(theirs.samples);
        }
        self.rows.append(&mut other.rows);
        self.rows.sort_by_key(|row| (row.length, row.id));
        self.rows.dedup_by(|next, row| {
            let same = (next.length, next.id) == (row.length, row.id);
            if same {
                row.count = row.count.saturating_add(next.count);
                row.missed += next.missed;
                row.blocks = row.blocks.take().or(next.blocks.take());
            }
            same
        });
        Ok(())
    }

    /// Thins a concise sample as if it had been taken at a larger rate, 2^46 at most; at a smaller one nothing happens.
    pub fn thin_to(&mut self, rate: u64, random: &mut Random) {
        let rate = rate.min(LAST_RATE);
        if rate <= self.rate || self.keeping == Keeping::Counting {
            return;
        }
        let ratio = ratio_of(self.dead_time, self.rate, rate);
        for row in &mut self.rows {
            row.count = random.binomial(row.count, ratio);
        }
        self.rows.retain(|row| row.count > 0);
        self.rate = rate;
        self.count_strata();
    }

    /// Drops what would not have passed a larger threshold, 2^46 at most.
    fn raise_to(&mut self, threshold: u64, random: &mut Random) {
        self.rows.retain_mut(|row| {
            let missed = stays(row.count, row.missed, self.threshold, threshold, random);
            row.missed = missed.unwrap_or_default();
            missed.is_some()
        });
        self.threshold = threshold;
    }

    /// Thins the sample until it has at most so many distinct subpaths: for a store with a limit.
    pub fn limit(&mut self, distinct: usize, random: &mut Random) {
        while self.rows.len() > distinct && self.rate < LAST_RATE && self.threshold < LAST_RATE {
            match self.keeping {
                Keeping::Concise => self.thin_to(quarter_more(self.rate), random),
                Keeping::Counting => self.raise_to(quarter_more(self.threshold), random),
            }
        }
        self.rows.truncate(distinct);
    }
}

/// Beyond this rate nothing is sampled any more.
pub(super) const LAST_RATE: u64 = 1 << 46;

/// The next larger rate.
pub(super) fn quarter_more(rate: u64) -> u64 {
    (rate.saturating_mul(5).div_ceil(4)).max(1)
}

/// (low + E) / (high + E), what remains of the samples when the rate grows up to 2^46; `dead_time` is E times 2^16.
pub(super) fn ratio_of(dead_time: u32, low: u64, high: u64) -> Ratio {
    let scaled = |rate: u64| (rate << SCALE) + u64::from(dead_time);
    Ratio::new(scaled(low), scaled(high)).expect("rates grow up to 2^46")
}
