//! The virtual machine: objects and their collector, the interpreter, green threads, limits.
//!
//! It knows bytecode and nothing of source text; it knows that a compiler may exist, and not which.

pub mod layout;
