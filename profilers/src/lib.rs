//! The algorithms of the five papers and nothing else: path numbering, plans, tables, forests, samplers, call graphs,
//! branch traces, metrics.
//!
//! Nothing here knows a virtual machine. Control flow comes in through [`ControlFlow`], events come in as numbers, and
//! what goes out are values that can be printed, checked and compared.

#![forbid(unsafe_code)]

pub mod btb;
pub mod calls;
pub mod edges;
mod graph;
mod ids;
pub mod kblpp;
pub mod layout;
pub mod metrics;
pub mod osp;
pub mod paths;
pub mod schedule;
pub mod stream;
pub mod windows;

pub use graph::{ControlFlow, Graph};
pub use ids::{Arm, BlockId, BranchArm, BranchId, Edge, MethodId, PathNumber, VersionId};
