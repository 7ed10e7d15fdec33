//! Where code stands: the order of a method's blocks, and that of the methods, by their profiles.
//!
//! Pettis and Hansen, "Profile Guided Code Positioning", PLDI 1990. Pure functions: frequencies in, an order out.
//!
//! * [`Frequencies`] belong to a control flow; [`Frequencies::cost`] is what an order is judged by.
//! * [`order_blocks`] makes [`chains`] of blocks and orders them ([`order_chains`]); [`rotate_loops`] chooses where loops
//!   begin; [`split`] takes out what is cold.
//! * A [`Precedence`] says which blocks have to stand before which, if not all orders can be used; the functions whose name
//!   ends in `within` keep to it.
//! * [`order_methods`] puts methods close to those that they call.

mod chains;
mod frequencies;
mod methods;
mod precedence;
mod rotation;

pub use chains::{
    Split, chains, chains_within, order_blocks, order_blocks_within, order_chains, order_chains_within, split,
};
pub use frequencies::{Cost, Frequencies, WrongLength};
pub use methods::order_methods;
pub use precedence::Precedence;
pub use rotation::{best_rotation, rotate_loops, rotate_loops_within};
