//! Consumers of the stream of path ends.

pub(crate) mod hash;
