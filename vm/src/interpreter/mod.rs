//! The baseline tier: an interpreter of verified bytecode.
//!
//! One set of bodies ([`bodies`]), two ways to get from one to the next. [`tail`] makes a function of each opcode that
//! ends in a jump to the next one's (stable Rust guarantees no such call, but LLVM makes it at every optimization level
//! above zero; `build.rs` says which). [`match_loop`] is a loop around a `match`, 1.3 times as slow, for builds without optimization and
//! as the twin that tests compare with. Both leave to [`slow`] for everything rare. A copy of the loop, [`record`], tells the
//! recorder of every move of control, for branch traces ([`crate::profiling`]).
//!
//! Frames lie on the register stack of the running green thread ([`crate::threads`]):
//!
//! ```text
//!   base[-2]  how many more calls may nest
//!   base[-1]  address of the call instruction that made this frame
//!   base[0…]  registers; parameters first
//! ```
//!
//! The call instruction holds all that a return needs: the result register, the distance to the caller's frame and its own length.
//! Calls between interpreted functions do not nest on the native stack.

mod bodies;
mod dispatch;
pub mod machine;
pub mod quick;
mod record;
pub mod slow;

pub use dispatch::{Dispatch, run};
