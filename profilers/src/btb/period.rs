//! When a sample is due: after so many taken branches, after so much time, or whichever comes first.
//!
//! The paper samples in cycles. A sample in time sees a trace with probability proportional to the time during which
//! its branches are the last K, so that slow code is weighed too heavily; one in every n taken branches does not have
//! this bias (open question M7). A fixed period can fall into step with a loop and always see the same iteration:
//! therefore each interval is drawn anew, uniformly within a spread around the period, from a seeded generator. The
//! mean of the intervals is the period.

use super::parameter::{OutOfRange, within};
use serde::{Deserialize, Serialize};

/// How often the ring is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Period {
    /// After this many taken branches.
    Branches(u64),
    /// After this many ticks of whatever clock calls [`Clock::ticks`].
    Ticks(u64),
    /// After that many branches or ticks, whichever comes first; then both start anew.
    Either {
        /// The number of taken branches.
        branches: u64,
        /// The number of ticks.
        ticks: u64,
    },
}

impl Period {
    /// The longest period.
    pub const MAX: u64 = 1 << 62;

    /// The period itself if each part of it is in `1..=MAX`.
    ///
    /// # Errors
    ///
    /// If a part is not.
    pub fn validated(self) -> Result<Self, OutOfRange> {
        if let Some(branches) = self.branches() {
            within("period in branches", branches, 1, Self::MAX)?;
        }
        if let Some(ticks) = self.ticks() {
            within("period in ticks", ticks, 1, Self::MAX)?;
        }
        Ok(self)
    }

    /// The part in taken branches.
    #[must_use]
    pub fn branches(self) -> Option<u64> {
        match self {
            Self::Branches(branches) | Self::Either { branches, .. } => Some(branches),
            Self::Ticks(_) => None,
        }
    }

    /// The part in ticks.
    #[must_use]
    pub fn ticks(self) -> Option<u64> {
        match self {
            Self::Ticks(ticks) | Self::Either { ticks, .. } => Some(ticks),
            Self::Branches(_) => None,
        }
    }
}

/// Counts branches and ticks down to the next sample.
#[derive(Debug, Clone)]
pub struct Clock {
    // A countdown that is not in use stands at its maximum: 2^64 branches never happen.
    branches_left: u64,
    ticks_left: u64,
    period: Period,
    spread_percent: u64,
    random: SplitMix64,
}

impl Clock {
    /// A clock for this period, whose intervals are drawn from `period ± spread_percent`, and are never below 1.
    ///
    /// # Errors
    ///
    /// If a part of the period is not in `1..=Period::MAX` or the spread is above 100.
    pub fn new(period: Period, spread_percent: u64, seed: u64) -> Result<Self, OutOfRange> {
        let period = period.validated()?;
        let spread_percent = within("spread in percent", spread_percent, 0, 100)?;
        let random = SplitMix64(seed);
        let mut clock = Self { branches_left: 0, ticks_left: 0, period, spread_percent, random };
        clock.restart();
        Ok(clock)
    }

    /// The period.
    #[must_use]
    pub fn period(&self) -> Period {
        self.period
    }

    /// A taken branch has happened: is a sample due?
    #[inline]
    pub fn branch(&mut self) -> bool {
        self.branches_left -= 1;
        if self.branches_left > 0 {
            return false;
        }
        self.restart();
        true
    }

    /// So much time has passed: is a sample due? However long a pause was, it makes one sample due, since the ring
    /// has but one content.
    #[inline]
    pub fn ticks(&mut self, elapsed: u64) -> bool {
        if self.period.ticks().is_none() {
            return false;
        }
        if elapsed < self.ticks_left {
            self.ticks_left -= elapsed;
            return false;
        }
        self.restart();
        true
    }

    #[cold]
    fn restart(&mut self) {
        self.branches_left = self.period.branches().map_or(u64::MAX, |period| self.interval(period));
        self.ticks_left = self.period.ticks().map_or(u64::MAX, |period| self.interval(period));
    }

    fn interval(&mut self, period: u64) -> u64 {
        let spread = (u128::from(period) * u128::from(self.spread_percent) / 100) as u64;
        let spread = spread.min(period - 1);
        period - spread + self.random.below(2 * spread + 1)
    }
}

/// A small generator of random numbers with a stable sequence: Steele, Lea, Flood: *Fast Splittable Pseudorandom Number
/// Generators* (2014).
#[derive(Debug, Clone)]
pub struct SplitMix64(
    /// The state; any seed is good.
    pub u64,
);

impl SplitMix64 {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// The next number below `bound` (0 for a bound of 0), by multiplication; its bias is below bound / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }
}

/// The generator's finishing step, which also serves as a hash.
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
