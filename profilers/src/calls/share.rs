//! Parts of a whole and parameters out of range, in whole numbers: "more than 1 %" must not depend on rounding.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of a whole, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(u32);

impl Share {
    /// The whole.
    pub const ALL: Self = Self(1_000_000);

    /// A half.
    pub const HALF: Self = Self(500_000);

    /// So many hundredths; at most 100.
    ///
    /// # Panics
    ///
    /// If there are more: for constants. See [`Share::millionths`] for what a user says.
    #[must_use]
    pub const fn percent(hundredths: u32) -> Self {
        assert!(hundredths <= 100, "a share is at most 100 %");
        Self(hundredths * 10_000)
    }

    /// So many millionths.
    ///
    /// # Errors
    ///
    /// If there are more than a million.
    pub fn millionths(millionths: u32) -> Result<Self, Invalid> {
        if millionths > Self::ALL.0 {
            return Err(Invalid::new("share", millionths, "0..=1000000 millionths"));
        }
        Ok(Self(millionths))
    }

    /// A tenth of it.
    #[must_use]
    pub const fn tenth(self) -> Self {
        Self(self.0 / 10)
    }

    /// How many millionths it is.
    #[must_use]
    pub const fn as_millionths(self) -> u32 {
        self.0
    }

    /// Whether `part` of `whole` is more than this share. Nothing is more than any share of nothing.
    #[must_use]
    pub fn is_exceeded_by(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 1_000_000 > u128::from(whole) * u128::from(self.0)
    }

    /// This share of a number, rounded down.
    #[must_use]
    pub fn of(self, number: u64) -> u64 {
        u64::try_from(u128::from(number) * u128::from(self.0) / 1_000_000).expect("at most the number")
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(self.0) / 10_000.0)
    }
}

/// A parameter out of range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    parameter: &'static str,
    given: String,
    valid: &'static str,
}

impl Invalid {
    pub(super) fn new(parameter: &'static str, given: impl fmt::Display, valid: &'static str) -> Self {
        Self { parameter, given: given.to_string(), valid }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "calls: {} cannot be {}; valid: {}", self.parameter, self.given, self.valid)
    }
}

impl std::error::Error for Invalid {}
