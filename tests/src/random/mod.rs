//! Random programs, and whether all modes agree about them.
//!
//! A seed decides a program ([`generate`]) that compiles, ends soon, and prints checksums of what it does. It is run in
//! every mode ([`differ`]); whatever differs from the first mode is a mistake of that mode (or of the first). The program
//! is then made smaller for as long as it differs in the same way ([`minimize`]), and written to a file ([`campaign`]).
//!
//! The generator knows the language, but only as far as it must: see [`tree`] for how programs are represented and
//! [`generator`] for how they are kept correct and short.

pub mod calls;
pub mod campaign;
pub mod choice;
mod classes;
mod declarations;
pub mod differ;
pub mod feature;
mod flow;
mod functions;
pub mod generator;
mod kernels;
mod looks;
pub mod minimize;
mod numbers;
mod program;
mod statements;
mod texts;
pub mod tree;
pub mod types;
mod values;

pub use program::generate;

use feature::Feature;
use std::collections::BTreeSet;

/// A generated program.
pub struct Generated {
    /// The seed that decided everything.
    pub seed: u64,
    /// The program.
    pub tree: tree::Block,
    /// What it uses.
    pub features: BTreeSet<Feature>,
}
