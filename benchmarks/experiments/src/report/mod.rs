//! What a reproduction found, as a value ([`model`]), of which all forms of the report are made.

pub mod model;
