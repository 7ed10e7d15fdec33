//! How much is to be measured.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How long everything may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A quarter of an hour: fewer programs, fewer rounds.
    Quick,
    /// A night: all programs, as many rounds as in the papers or more.
    Full,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Quick => "quick",
            Mode::Full => "full",
        })
    }
}

/// What the user asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// How long.
    pub mode: Mode,
    /// Another number, other orders and places of everything that is drawn.
    pub seed: u64,
    /// Only these programs, where an experiment is about many.
    pub programs: Option<Vec<String>>,
    /// So many trials, where an experiment repeats something.
    pub trials: Option<u32>,
}

impl Plan {
    /// Everything, as the mode has it.
    pub fn new(mode: Mode) -> Plan {
        Plan { mode, seed: 0, programs: None, trials: None }
    }

    /// One or the other.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.mode == Mode::Quick { quick } else { full }
    }

    /// Those of an experiment's programs that were asked for.
    pub fn programs<'a>(&self, quick: &[&'a str], full: &[&'a str]) -> Vec<&'a str> {
        match &self.programs {
            None => self.pick(quick, full).to_vec(),
            Some(wanted) => full.iter().copied().filter(|name| wanted.iter().any(|w| w == name)).collect(),
        }
    }
}
