//! Compiled code as the virtual machine sees it.

pub mod profile;

pub use profile::{NoProfile, Profile, Receivers};
