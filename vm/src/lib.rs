//! The virtual machine: objects and their collector, the interpreter, green threads, limits.
//!
//! It knows bytecode and nothing of source text; it knows that a compiler may exist, and not which.

pub mod adaptive;
mod allocation;
mod classes;
pub mod compiled;
mod context;
pub mod errors;
pub mod fingerprint;
mod hash;
pub mod heap;
mod interpreter;
pub mod layout;
mod live;
mod loader;
mod natives;
pub mod profiling;
pub mod signals;
mod stack;
mod threads;
pub mod timer;
mod vm;

pub use interpreter::Dispatch;
pub use vm::{BranchCount, DEFAULT_STACK_DEPTH, Outcome, Statistics, Vm, VmOptions};
