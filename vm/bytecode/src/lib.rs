//! The instruction set of Holloway: one opcode table, and everything that follows from it.
//!
//! A [`Program`] is what the compiler hands to the virtual machine: classes, interfaces, globals and functions whose
//! code is a sequence of 64-bit words. Registers are typed: each has one type for the whole function, so that a
//! verifier needs only to look at each instruction by itself (and at what is assigned before use), and a compiler
//! knows every type without inference.
//!
//! * [`ops`]: the opcode table, the enum and the operand descriptions derived from it
//! * [`code`]: encoding, decoding, and a builder with labels
//! * [`program`]: classes, functions, programs
//! * [`calls`]: what a call calls
//! * [`natives`]: what bytecode can ask the system to do
//! * [`text`]: assembler and disassembler
//! * [`verify`]: what the interpreter and the compiler may rely on
//! * [`mod@cfg`]: basic blocks, dominators, loops
//!
//! This crate knows nothing of source syntax, objects in memory, or machines.
#![forbid(unsafe_code)]

pub mod calls;
pub mod cfg;
pub mod code;
pub mod natives;
pub mod ops;
pub mod program;
mod protection;
pub mod text;
pub mod types;
pub mod verify;

pub use code::{Builder, Instruction, Label};
pub use natives::Native;
pub use ops::Op;
pub use program::*;
pub use types::*;
