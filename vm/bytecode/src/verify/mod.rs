//! x
pub(crate) mod encoding;
