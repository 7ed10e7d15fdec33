//! What an online subpath profiler is told before it runs, and what it answers if that is out of range.

use super::encoding::Encoding;
use super::lengths::Lengths;
use super::random::Ratio;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The smallest mean skip.
pub const MIN_RATE: u64 = 2;

/// The largest mean skip.
pub const MAX_RATE: u64 = 1 << 40;

/// The largest memory cap in bytes.
pub const MAX_MEMORY: usize = 1 << 30;

/// How a profile forgets, so that it follows a program through its phases (paper, section 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ageing {
    /// It does not: every block since the start counts alike.
    #[default]
    None,
    /// Exponential decay: whenever an epoch has passed, each sample is kept with probability `keep`. What is estimated
    /// are decayed counts: an occurrence n epochs ago counts keep^n.
    Decay {
        /// Blocks between two thinnings.
        epoch: u64,
        /// What is kept.
        keep: Ratio,
    },
    /// A sliding window of two epochs, the running one and the one before it. Half of the memory is for each. Since an
    /// epoch starts with an empty list, the rate may fall again: it is halved if the last epoch did not fill half of its
    /// list, and never falls below the configured one.
    Window {
        /// Blocks of an epoch.
        epoch: u64,
    },
}

/// What a full hot list does to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Keeping {
    /// A *concise sample*, as in the paper: all counts are thinned, and samples are taken more seldom from then on. What is hot loses as
    /// much as what was seen once, and its estimate gets worse with every thinning.
    #[default]
    Concise,
    /// A *counting sample* (Gibbons and Matias 1998, section 3): samples are taken as often as before, but a subpath enters the list
    /// only with a probability, which falls when the list is full. Once in the list, all its samples count. So the estimates of what is hot
    /// have the error of all the samples that were ever taken.
    Counting,
}

/// What starts a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum Starts {
    /// The skip, counted in blocks: every place of the execution is as likely as another.
    #[default]
    Skips,
    /// The skip, counted in weights of blocks: a place is chosen with a probability that is proportional to the weight
    /// of its block (up to weight/(2 rate), relative, and as long as the rate is large against the weight of a whole
    /// subpath, which thinning neglects here). With weight 1 for targets of back edges and 0 for all others, only subpaths
    /// that start there are sampled; with the cost of a block as its weight, costly ones more often (paper, section 5).
    Weights,
    /// Somebody else, a timer for instance, who supplies an estimate of how many blocks were executed.
    Timer,
}

/// The parameters of a profiler.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The cap on all memory of one profiler in bytes: its hot list with descriptions, its buffer, its table of lengths
    /// and itself. It is allocated at the start and never grows.
    pub memory: usize,
    /// The mean number of blocks between two samples, the paper's f, at the start; it is also the lower bound of f. See
    /// [`rate_for`]. At least 2: a mean of 1 leaves nothing to chance, and samples would keep step with a loop.
    pub rate: u64,
    /// How long subpaths are.
    pub lengths: Lengths,
    /// Which subpaths count as the same.
    pub encoding: Encoding,
    /// What starts a sample.
    pub starts: Starts,
    /// How the profile forgets.
    pub ageing: Ageing,
    /// What a full hot list does.
    pub keeping: Keeping,
    /// Where chance begins. Profilers of different threads should have different ones; profiles that shall be merged
    /// need the same `encoding_seed`.
    pub seed: u64,
    /// Where the random numbers of the encoding begin.
    pub encoding_seed: u64,
}

impl Default for Config {
    /// 64 KiB; one sample for 1000 blocks, to which the paper came for FFT; lengths 2 to 32 as in the paper; subpaths
    /// that are the same up to rotation count as one.
    fn default() -> Self {
        Self {
            memory: 64 << 10,
            rate: 1000,
            lengths: Lengths::powers_of_two(5).expect("in range"),
            encoding: Encoding::Rotation,
            starts: Starts::Skips,
            ageing: Ageing::None,
            keeping: Keeping::Concise,
            seed: 1,
            encoding_seed: 1,
        }
    }
}

impl Config {
    /// Looks at every parameter that can be judged by itself. (Whether the memory suffices for the lengths is judged by
    /// the profiler.)
    ///
    /// # Errors
    ///
    /// Names the first parameter out of range, and the range.
    pub fn validate(&self) -> Result<(), Invalid> {
        in_range("rate", self.rate, MIN_RATE, MAX_RATE)?;
        in_range("memory", self.memory as u64, 1, MAX_MEMORY as u64)?;
        match self.ageing {
            Ageing::None => Ok(()),
            Ageing::Decay { .. } if self.keeping == Keeping::Counting => {
                Err(Invalid::new("ageing", "decay", "none or window, for a counting sample"))
            }
            Ageing::Decay { epoch, .. } | Ageing::Window { epoch } => in_range("epoch", epoch, 1, 1 << 62),
        }
    }
}

/// The paper's equation 1: f = n / (m G), with which m entries hold a sample of n expected blocks if an entry is sampled
/// G times on average. At least `lower_bound`.
#[must_use]
pub fn rate_for(expected_blocks: u64, entries: usize, gain: f64, lower_bound: u64) -> u64 {
    let rate = expected_blocks as f64 / (entries.max(1) as f64 * gain.max(1.0));
    (rate as u64).clamp(lower_bound.max(MIN_RATE), MAX_RATE)
}

/// A parameter out of range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    parameter: &'static str,
    given: String,
    valid: String,
}

impl Invalid {
    pub(super) fn new(parameter: &'static str, given: impl Into<String>, valid: impl Into<String>) -> Self {
        Self { parameter, given: given.into(), valid: valid.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "osp: {} cannot be {}; valid: {}", self.parameter, self.given, self.valid)
    }
}

impl std::error::Error for Invalid {}

fn in_range(parameter: &'static str, given: u64, low: u64, high: u64) -> Result<(), Invalid> {
    if (low..=high).contains(&given) {
        return Ok(());
    }
    Err(Invalid::new(parameter, given.to_string(), format!("{low}..={high}")))
}
