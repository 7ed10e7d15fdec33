//! What is said when a parameter is outside of its range: its name, the value, the range.

use std::fmt;

/// A parameter outside of its valid range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfRange {
    /// The parameter's name as the user knows it.
    pub parameter: &'static str,
    /// What was given.
    pub value: String,
    /// What would be valid, in words: `1 to 65536`.
    pub range: String,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but must be {}", self.parameter, self.value, self.range)
    }
}

impl std::error::Error for OutOfRange {}

/// The value if it lies in `low..=high`.
pub(super) fn within<T>(parameter: &'static str, value: T, low: T, high: T) -> Result<T, OutOfRange>
where
    T: PartialOrd + fmt::Display + Copy,
{
    if value >= low && value <= high {
        Ok(value)
    } else {
        Err(OutOfRange { parameter, value: value.to_string(), range: format!("{low} to {high}") })
    }
}
