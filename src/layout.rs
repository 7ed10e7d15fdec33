//! Which profile the blocks of machine code are ordered by, from the command line (`--layout`).

use crate::commands::profile::load::{named, taken};
use crate::report::Stop;
use holloway_vm::compiled::{BlockOrder, Counted, GivenEdges};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// The value of `--layout`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Layout {
    /// The order of the program.
    None,
    /// The same, but what runs seldom stands behind all else.
    Aside,
    /// What the interpreter counted.
    OneTime,
    /// And what PEP sampled.
    #[default]
    Pep,
    /// What PEP sampled in another run.
    PepOf(PathBuf),
    /// Exact counts of another run.
    ExactOf(PathBuf),
    /// What the interpreter counted, flipped.
    Flipped,
    /// Exact counts of another run, flipped.
    FlippedOf(PathBuf),
}

/// How a layout is written, for messages and help.
pub const LAYOUTS: &str = "one-time, pep, pep=FILE, exact=FILE, flipped, flipped=FILE, none, aside";

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> Result<Layout, String> {
        match named(text)? {
            ("none", None) => Ok(Layout::None),
            ("aside", None) => Ok(Layout::Aside),
            ("one-time", None) => Ok(Layout::OneTime),
            ("pep", None) => Ok(Layout::Pep),
            ("pep", Some(file)) => Ok(Layout::PepOf(file)),
            ("exact", Some(file)) => Ok(Layout::ExactOf(file)),
            ("exact", None) => Err("exact counts are in a profile: exact=FILE, written by --profile edges \
                                    --profile-out FILE"
                .into()),
            ("flipped", None) => Ok(Layout::Flipped),
            ("flipped", Some(file)) => Ok(Layout::FlippedOf(file)),
            _ => Err(format!("the layouts are {LAYOUTS}")),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layout::None => f.write_str("none"),
            Layout::Aside => f.write_str("aside"),
            Layout::OneTime => f.write_str("one-time"),
            Layout::Pep => f.write_str("pep"),
            Layout::PepOf(file) => write!(f, "pep={}", file.display()),
            Layout::ExactOf(file) => write!(f, "exact={}", file.display()),
            Layout::Flipped => f.write_str("flipped"),
            Layout::FlippedOf(file) => write!(f, "flipped={}", file.display()),
        }
    }
}

impl Layout {
    /// Reads the profile if there is one to be read.
    pub fn open(&self) -> Result<BlockOrder, Stop> {
        let given = |path: &Path, counted: Counted| taken(path, |file| GivenEdges::of(file, counted));
        Ok(match self {
            Layout::None => BlockOrder::Program,
            Layout::Aside => BlockOrder::Aside,
            Layout::OneTime => BlockOrder::OneTime,
            Layout::Pep => BlockOrder::Continuous,
            Layout::Flipped => BlockOrder::Flipped,
            Layout::PepOf(file) => BlockOrder::Given(Arc::new(given(file, Counted::Sampled)?)),
            Layout::ExactOf(file) => BlockOrder::Given(Arc::new(given(file, Counted::Exactly)?)),
            Layout::FlippedOf(file) => BlockOrder::Given(Arc::new(given(file, Counted::Exactly)?.flipped())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_written_as_they_are_read() {
        for text in LAYOUTS.split(", ") {
            assert_eq!(text.parse::<Layout>().map(|layout| layout.to_string()), Ok(text.to_string()));
        }
        for text in ["", "exact", "exact=", "flipped=", "none=a.json", "hot"] {
            assert!(text.parse::<Layout>().is_err(), "{text}");
        }
    }
}
