//! Records as hardware makes them (section 3.2): "the branch instruction addresses entered into the PMU are inexact", and "branch addresses
//! are occasionally entered without a target". An interpreter's records are exact, so whoever wants to know what becomes of others disturbs them.
//!
//! Ours, for the paper has no numbers: each record is disturbed with one probability. Then either its source is in a block beside the right one,
//! on either side, or its target is missing, each half of the time.

use super::branch::{Place, TakenBranch};
use super::parameter::{OutOfRange, within};
use super::period::SplitMix64;
use crate::ids::BlockId;

/// Disturbs records.
#[derive(Debug, Clone)]
pub struct Noise {
    percent: u64,
    random: SplitMix64,
}

impl Noise {
    /// Of a hundred records so many are disturbed.
    ///
    /// # Errors
    ///
    /// If it is above 100.
    pub fn new(percent: u32, seed: u64) -> Result<Self, OutOfRange> {
        let percent = u64::from(within("noise in percent", percent, 0, 100)?);
        // Not the numbers of the distances between samples.
        Ok(Self { percent, random: SplitMix64(seed ^ 0x006e_6f69_7365) })
    }

    /// Disturbs some of these; how many.
    pub fn disturb(&mut self, branches: &mut [TakenBranch]) -> usize {
        let mut disturbed = 0;
        for branch in branches {
            if self.random.below(100) >= self.percent {
                continue;
            }
            disturbed += 1;
            match (self.random.below(4), &mut branch.source) {
                (1, Place::At { block, .. }) if block.0 > 0 => *block = BlockId(block.0 - 1),
                (0 | 1, Place::At { block, .. }) => *block = BlockId(block.0.saturating_add(1)),
                _ => branch.target = Place::Missing,
            }
        }
        disturbed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MethodId;

    #[test]
    fn so_many_records_are_disturbed_and_the_same_ones_again() {
        let exact = vec![TakenBranch::jump(MethodId(0), BlockId(3), BlockId(7)); 10_000];
        let mut copies = [exact.clone(), exact.clone()];
        for copy in &mut copies {
            let disturbed = Noise::new(20, 5).expect("a percentage").disturb(copy);
            assert!((1800..2200).contains(&disturbed), "{disturbed}");
            assert_eq!(copy.iter().zip(&exact).filter(|(a, b)| a != b).count(), disturbed);
        }
        assert_eq!(copies[0], copies[1]);
        assert!(Noise::new(101, 0).is_err());
        assert_eq!(Noise::new(0, 1).expect("none").disturb(&mut copies[0]), 0);
    }
}
