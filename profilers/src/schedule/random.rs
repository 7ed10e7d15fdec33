//! A generator of random numbers that is one word of state.
//!
//! SplitMix64 (Steele, Lea & Flood 2014): a counter with an odd increment, scrambled. Every seed gives the full period
//! of 2^64, and the numbers never change from one version of this crate to the next, so a seed names a run.

/// A seeded generator, small enough to be part of a sampler's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The generator with this seed. All seeds are good.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `1..=last`, `last` at least 1. The high half of a product, so that there is no division; the bias is
    /// below `last` / 2^64.
    pub fn one_to(&mut self, last: u32) -> u32 {
        let product = u128::from(self.bits()) * u128::from(last);
        (product >> 64) as u32 + 1
    }
}
