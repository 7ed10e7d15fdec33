//! What a reproduction found, as a value ([`model`]), of which all forms of the report are made.
//!
//! * [`html`]: one page that opens without a network, with charts
//! * [`markdown`]: the same in plain tables
//! * JSON is the value itself
//! * [`numbers`]: digits and units, the same everywhere
//! * [`data`]: the numbers of a figure as tables, and as comma-separated values
//!
//! Nothing here knows what an experiment is: what is said of it is in the value.

pub mod data;
pub mod html;
pub mod markdown;
pub mod model;
pub mod numbers;
pub mod verdicts;
