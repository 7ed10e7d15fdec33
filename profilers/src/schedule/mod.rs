//! When to take a sample: windows of opportunities that a timer opens, and the control word that makes waiting free.
//!
//! Timer ticks alone are too rare, and they favour whatever comes right after a long stretch without yieldpoints.
//! Arnold and Grove therefore let a tick open a *window*: skip some opportunities, then take several samples (Arnold
//! & Grove 2005, sec. 4; Bond & McKinley 2005, sec. 4.4, which simplifies it).
//!
//! * [`Parameters`] say what a window looks like, [`Window`] is one countdown, a handful of words without any memory of
//!   its own.
//! * [`Word`] is the control word that every yieldpoint tests, with its three states.
//! * [`Schedule`] puts them together: one word, any number of windows that share the ticks (PEP samples path ends, CBS
//!   samples calls), and the thread switch that waits until they are done.
//!
//! An *opportunity* is a taken yieldpoint of a kind that the client of a window cares about. All of this is
//! deterministic: the only randomness is a seeded generator that is part of the state.

mod control;
mod random;
mod window;
mod word;

pub use control::{Client, Decision, Schedule};
pub use random::SplitMix;
pub use window::{Counts, Overrun, ParameterError, Parameters, Shape, Skip, Verdict, Window};
pub use word::{Kinds, Word, YieldKind};
