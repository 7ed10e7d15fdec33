//! Where code stands: the order of a method's blocks, and that of the methods, by their profiles.
//!
//! Pettis and Hansen, "Profile Guided Code Positioning", PLDI 1990. Pure functions: frequencies in, an order out.
//!
//! * [`Frequencies`] belong to a control flow; [`Frequencies::cost`] is what an order is judged by.
//! * [`order_blocks`] makes [`chains`] of blocks and orders them ([`order_chains`]); [`rotate_loops`] chooses where loops
//!   begin; [`split`] takes out what is cold.
//! * [`order_blocks_forward`] makes the chains of an order in which nothing goes backwards but loops.
//! * [`order_methods`] puts methods close to those that they call.

mod chains;
mod forward;
mod frequencies;
mod methods;
mod rotation;

pub use chains::{Split, chains, order_blocks, order_chains, split};
pub use forward::{ASIDE, order_blocks_forward, rotations_forward};
pub use frequencies::{Cost, Frequencies, WrongLength};
pub use methods::order_methods;
pub use rotation::{best_rotation, rotate_loops, rotate_loops_where};
