//! The commands, a file each. A command returns how to exit, or a [`crate::report::Stop`] that says why it did nothing.

pub mod bench;
pub mod calibrate;
pub mod check;
pub mod dump;
pub mod overhead;
pub mod run;
