//! Adaptive optimization in the shape of Jikes RVM's (Arnold, Fink, Grove, Hind, Sweeney: Adaptive optimization in the
//! Jalapeño JVM, 2000): what is worth compiling, at which level, and when.
//!
//! ```text
//!   running code
//!     |  entries and back edges counted         |  a tick of the timer, at a yieldpoint
//!     v                                         v
//!   count listener                            method listener        (allocate nothing)
//!     |                                         |
//!     |                                         v
//!     |                                       organizer              (decayed time of each method and level)
//!     v                                         v
//!   controller: does a level save more time than compiling costs?    (cost/benefit model)
//!                          |
//!                          v
//!                        queue  -->  compiler thread  -->  installed at the next yieldpoint
//! ```
//!
//! The interpreter counts, so methods become candidates long before a timer's tick could have seen them; in compiled
//! code nothing is counted, and ticks decide whether a method goes to a higher level.
//!
//! | file | what it is |
//! |---|---|
//! | [`listener`] | which compiled method runs when a tick is seen |
//! | [`organizer`] | from samples to the time of methods |
//! | [`past`] | from counters to the time that the interpreter spent |
//! | [`model`] | the cost/benefit model and its constants |
//! | [`controller`] | asks the model, and asks for code |
//! | [`queue`] | what is to be compiled, the most urgent first |
//! | [`watcher`] | which code was made for a past that is over |
//! | [`advice`] | what a run learned, as a value: for replay |
//!
//! With a forced level, the first entry decides; with advice ([`advice`]), the advice.

pub mod advice;
pub(crate) mod controller;
pub mod listener;
pub mod model;
pub mod organizer;
pub mod past;
pub mod queue;
mod turns;
pub mod watcher;

pub use advice::{Advice, AdviceError};
pub use model::Constants;

/// What the adaptive system did.
#[derive(Clone, Default, Debug)]
pub struct AdaptiveStatistics {
    /// Samples of compiled methods that the listener took.
    pub samples: u64,
    /// How often the controller was asked.
    pub decisions: u64,
    /// How often it decided to wait.
    pub waits: u64,
    /// Requests of code at a higher level than the code there was.
    pub promotions: u64,
    /// Requests that were given up because the method was not executed any more.
    pub dropped: u64,
    /// Windows of samples that code was compared with.
    pub windows: u64,
    /// Pieces of code that were made again because the program behaved otherwise.
    pub remade: u64,
    /// The most requests that waited at the same time.
    pub longest_queue: usize,
}
