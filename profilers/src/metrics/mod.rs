//! How good a profile is, and how two profiles differ.
//!
//! | metric | of | source |
//! |---|---|---|
//! | [`wall`] | path profiles | Wall 1991 as Bond & McKinley 2005, sec. 6.3 and Shye et al. 2005, sec. 4.5 use it |
//! | [`relative_overlap`] | biases of edge profiles | Bond & McKinley 2005, sec. 6.4 |
//! | [`absolute_overlap`] | frequencies of edge profiles | the same |
//! | [`overlap`] | call graphs, and all else that has counts | Arnold & Grove 2005, sec. 6.2 |
//! | [`footrule`], [`recall`], [`relative_error`], [`z_score`] | rankings and estimates | Oren, Matias & Sagiv 2002, tables 5 and 6 |
//! | [`imbalances`] | one edge profile | Kirchhoff's law |
//!
//! Sums of counts are exact integers; a division comes last. Whatever two things are equal in is decided by their
//! names, so that each result is the same on every run. A metric of nothing is `None`, not a perfect score.

mod conservation;
mod overlap;
mod rank;
mod wall;

pub use conservation::{Imbalance, Known, imbalances};
pub use overlap::{RelativeOverlap, Unsampled, absolute_overlap, overlap, relative_overlap};
pub use rank::{footrule, ranking, recall, relative_error, z_score};
pub use wall::{Flow, InvalidShare, Matching, Share, hot, wall};
