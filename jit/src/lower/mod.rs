//! Lowering: from a region to machine code, by way of Cranelift.
//!
//! What matters here was measured (the decisions and their numbers are in ARCHITECTURE.md):
//!
//! * the second target of a conditional branch falls through: it is the one that stays in the loop;
//! * what is rarely executed is in cold blocks, and everything called from there preserves all registers, so that the hot path keeps
//!   its values in registers;
//! * values that only exits need are stored into the context in the exit, one exit for each place and reason;
//! * Cranelift's optimizer is off: instructions stay where the passes put them; what it would choose better is chosen here (quotients
//!   by constants, sums with a constant in each block that uses them);
//! * calls go through a slot in the method; an error coming out of a call arrives at a landing pad, so that the normal return costs nothing.
//!
//! | file | what it does |
//! |---|---|
//! | [`function`] | blocks, parameters, order, branches |
//! | `aside` | blocks that run seldom and stand behind the others |
//! | `seldom` | blocks that run so seldom that calls may cost more there |
//! | `profiling` | counters, the path register, ends of paths |
//! | `values` | nodes that compute |
//! | `division` | quotients and remainders by constants |
//! | `memory` | fields, elements, allocation, barriers |
//! | `calls` | calls, natives, yieldpoints |
//! | `natives` | natives of which the frequent case is done in line |
//! | `exits` | leaving: sites and their recipes |
//! | [`order`] | the order in which blocks are emitted |
//! | [`sharing`] | which checks leave at the same place |
//! | [`emit`] | from Cranelift's function to bytes and tables |

mod aside;
mod calls;
mod division;
pub mod emit;
mod exits;
pub mod function;
mod memory;
mod natives;
pub mod order;
mod profiling;
mod seldom;
pub mod sharing;
mod values;

pub use emit::{Layout, Owned, Target, emit};
pub use function::{Lowered, Origin, Part, lower};
