//! Regions at random, and a slow machine that executes them: what passes do must not be seen by it.
//!
//! | file | what it holds |
//! |---|---|
//! | [`random`] | numbers from a seed |
//! | [`world`] | the program that random regions are about |
//! | [`generate`] | regions at random |
//! | [`live`] | frame states without what is dead |
//! | [`machine`] | objects, calls, and what other threads do |
//! | [`eval`] | executes a region |

pub mod eval;
pub mod generate;
pub mod live;
pub mod machine;
pub mod random;
pub mod world;
