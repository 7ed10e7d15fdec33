//! The optimizing tier: from the bytecode of a method and what is known about its past to machine code.
//!
//! ```text
//!  bytecode + profile ──build──► ir::Region ──passes──► ir::Region ──lower──► Cranelift ──► machine code + tables
//! ```
//!
//! Compiling is a function from values to a value: no memory is made executable here, nothing runs here, and there is no
//! unsafe code. The virtual machine places the result and enters it (`vm/src/compiled`).

#![forbid(unsafe_code)]

pub mod build;
pub mod frequency;
pub mod hierarchy;
pub mod instrument;
pub mod ir;
pub mod lower;
pub mod options;
pub mod passes;
pub mod pipeline;
pub mod show;

pub use pipeline::Jit;
