//! A sample as a value: what a profiler knows at one moment, fit to be stored, merged with that of other threads, and
//! reported on.
//!
//! Merging is exact: two samples that were taken at different rates are thinned to the rate of the more seldom one by
//! exact binomials, after which each start in either thread is counted with the same probability, and counts add up. The
//! number of places where a subpath of some length could have started, its *windows*, adds up as well: a thread of B
//! blocks has B - length + 1.

use super::config::{Config, Invalid, Starts};
use super::encoding::Encoding;
use super::lengths::SCALE;
use super::random::{Random, Ratio};
use crate::BlockId;
use serde::{Deserialize, Serialize};

/// One distinct subpath of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// How many blocks it has.
    pub length: u32,
    /// Its identity among those of the same length.
    pub id: u64,
    /// How often it was sampled (and kept).
    pub count: u64,
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
    /// The paper's f, in blocks.
    pub rate: u64,
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
        dead_time: u32,
        strata: Vec<Stratum>,
        mut rows: Vec<Row>,
    ) -> Self {
        rows.sort_unstable_by_key(|row| (row.length, row.id));
        let Config { encoding, encoding_seed, starts, .. } = *config;
        Self { encoding, encoding_seed, starts, rate, dead_time, strata, rows }
    }

    /// How many samples there are, repetitions included.
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
    /// If the two do not count the same: other lengths, another encoding or seed of it, other starts.
    pub fn merge(&mut self, mut other: Self, random: &mut Random) -> Result<(), Invalid> {
        let law = |sample: &Self| {
            sample.strata.iter().map(|stratum| (stratum.length, stratum.prior)).collect::<Vec<_>>()
        };
        let alike = (self.encoding, self.encoding_seed, self.starts, self.dead_time)
            == (other.encoding, other.encoding_seed, other.starts, other.dead_time);
        if !alike || law(self) != law(&other) {
            let given = format!("{} of {:?}", other.encoding, other.starts);
            let valid = format!("{} of {:?} with the same lengths and seed", self.encoding, self.starts);
            return Err(Invalid::new("the sample to merge", given, valid));
        }
        let rate = self.rate.max(other.rate);
        self.thin_to(rate, random);
        other.thin_to(rate, random);
        for (mine, theirs) in self.strata.iter_mut().zip(&other.strata) {
            mine.windows += theirs.windows;
        }
        self.rows.append(&mut other.rows);
        self.rows.sort_by_key(|row| (row.length, row.id));
        self.rows.dedup_by(|next, row| {
            let same = (next.length, next.id) == (row.length, row.id);
            if same {
                row.count = row.count.saturating_add(next.count);
                row.blocks = row.blocks.take().or(next.blocks.take());
            }
            same
        });
        Ok(())
    }

    /// Thins the sample as if it had been taken at a larger rate, 2^46 at most; at a smaller one nothing happens.
    pub fn thin_to(&mut self, rate: u64, random: &mut Random) {
        let rate = rate.min(LAST_RATE);
        if rate <= self.rate {
            return;
        }
        let ratio = ratio_of(self.dead_time, self.rate, rate);
        for row in &mut self.rows {
            row.count = random.binomial(row.count, ratio);
        }
        self.rows.retain(|row| row.count > 0);
        self.rate = rate;
    }

    /// Thins the sample until it has at most so many distinct subpaths: for a store with a limit.
    pub fn limit(&mut self, distinct: usize, random: &mut Random) {
        while self.rows.len() > distinct && self.rate < LAST_RATE {
            self.thin_to(quarter_more(self.rate), random);
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
