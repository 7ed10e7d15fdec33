//! The stream of path ends, and those who read it.
//!
//! Instrumented code computes path numbers and does nothing else; where a path ends, the number flows into a stream
//! (D'Elia & Demetrescu 2013, figure 1). Everything that a path profiler may want to do is a [`Consumer`] of it, so
//! that several run at once over the same execution and exact profiles are one more configuration:
//!
//! | consumer | what it makes of the stream |
//! |---|---|
//! | [`PathTable`] | exact counts in arrays or hash tables: Ball-Larus profiling, and PEP's ground truth |
//! | [`Pep`] | sampled counts and an edge profile from them, on a schedule |
//! | [`Forest`] | exact counts of paths over k iterations |
//! | [`Recorder`] | the stream itself, to be replayed into others later |
//! | [`Losses`] | how many paths never came to an end that could be seen, and why |
//!
//! What a consumer must keep for each invocation is its `Activation`, a small `Copy` value. It lives in the frame of
//! the invocation, or in the shadow stack of a [`Shadowed`] consumer, so that recursion and calls between path ends
//! cannot mix two invocations. Consumers compose statically, as pairs, or dynamically, as a [`List`]. Each thread may
//! have its own instances: all of them have a `merge`, which is exact.

mod compose;
pub(crate) mod hash;
mod loss;
mod pep;
mod profile;
mod record;
mod shadow;
mod table;

pub use compose::List;
pub use hash::TableAddress;
pub use loss::{Losses, Lost};
pub use pep::{Decode, Pep, SampledPaths};
pub use profile::{PathCount, PathProfile};
pub use record::{Item, Recorder, Trace};
pub use shadow::{Shadow, Shadowed};
pub use table::{PathTable, Storage};

use crate::ids::{PathNumber, VersionId};
use crate::kblpp::{self, Forest};
use crate::schedule::YieldKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread of the program. Threads are numbered densely from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ThreadId(pub u32);

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// Where a path ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PathEnd {
    /// At the yieldpoint of a loop header or of another place where paths are cut.
    Header,
    /// At the yieldpoint of the method's exit.
    Exit,
    /// Where there is no yieldpoint: a sampler never sees this path.
    Silent,
}

impl PathEnd {
    /// The yieldpoint at this end.
    #[must_use]
    pub fn yieldpoint(self) -> Option<YieldKind> {
        match self {
            Self::Header => Some(YieldKind::Header),
            Self::Exit => Some(YieldKind::Epilogue),
            Self::Silent => None,
        }
    }
}

/// A path has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Event {
    /// The version of the method that was running.
    pub version: VersionId,
    /// Which of that version's paths it was.
    pub path: PathNumber,
    /// Where it ended.
    pub end: PathEnd,
}

/// Something that reads the stream of one thread, or of several threads that take turns.
pub trait Consumer {
    /// What is kept for each invocation between its path ends. The default is good for an invocation of which nothing
    /// has been seen.
    type Activation: Copy + Default;

    /// A method is entered: the `*` of the papers. The result is the invocation's state.
    fn enter(&mut self, version: VersionId) -> Self::Activation {
        let _ = version;
        Self::Activation::default()
    }

    /// A path of this invocation has ended.
    fn path(&mut self, activation: &mut Self::Activation, event: Event);

    /// The path that this invocation was on will never end. If the invocation goes on, in a handler or in other code,
    /// its next path does not follow the one before.
    fn lost(&mut self, activation: &mut Self::Activation, version: VersionId, reason: Lost) {
        let _ = (activation, version, reason);
    }

    /// The invocation is over.
    fn leave(&mut self, activation: &mut Self::Activation, version: VersionId) {
        let _ = (activation, version);
    }

    /// Another thread runs from here on.
    fn switch(&mut self, thread: ThreadId) {
        let _ = thread;
    }
}

impl Consumer for Forest {
    type Activation = kblpp::Activation;

    #[inline]
    fn path(&mut self, activation: &mut kblpp::Activation, event: Event) {
        Forest::path(self, activation, event.version, event.path);
    }

    fn lost(&mut self, activation: &mut kblpp::Activation, _version: VersionId, _reason: Lost) {
        *activation = kblpp::Activation::default();
    }
}
