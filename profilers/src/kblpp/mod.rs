//! k-BLPP: exact counts of all paths over up to k iterations, cheaper than a hash table of single paths.
//!
//! D'Elia & Demetrescu 2013. The stream of path numbers of one invocation is a string, and a path over n iterations
//! is an n-gram of it. Counting all n-grams for n <= k directly costs k updates per item. Instead the string is cut
//! into chunks of k - 1 items, so that every n-gram with n <= k lies in two adjacent chunks, and a prefix forest, the
//! *k-slab forest*, holds all pairs of adjacent chunks. An item is added at two places: to the path of the chunk it
//! is in (the upper slab, cursor tau), and to the path that started one chunk before (the lower slab, cursor beta),
//! where it is counted. In the first chunk there is no lower path, and it is counted in the upper one.
//!
//! * [`Forest`] is the k-slab forest, fed one item at a time; its [`Activation`] is what an invocation keeps meanwhile.
//! * [`PathForest`] is what comes out: the k-iteration path forest, with the exact count of every n-gram.
//! * [`count_ngrams`] is the naive twin.
//! * [`touched`] is a model of the memory that the growing of a forest touches, in this layout and in the paper's.
//!
//! Costs: one step from a node to its child per item, since the cursors turn out to be one (see [`Forest`]'s file); at
//! most two new nodes of 28 bytes per item; a hash operation per invocation. The conversion visits
//! for each node the k levels below it, once, at the end. Measured over the same streams (`examples/kblpp_load.rs`,
//! a million items of a loop with long runs, k = 16, medians on a Zen 4): 3.7 ns per item against 4.4 for a Ball-Larus hash table of our own
//! and 5.9 for `hashbrown`. Compiled code takes the frequent step without a call ([`NodeLayout`]), and
//! so any step that was taken of late ([`StepLayout`]). Where behaviour is random every few items are a new n-gram, and
//! making nodes costs ten times as much as any table.

mod arena;
mod cache;
mod forest;
mod locality;
mod naive;
mod paths;
mod steps;

pub use arena::{Addresses, NodeLayout};
pub use cache::Accesses;
pub use forest::{Activation, Forest, InvalidK, K, Statistics};
pub use locality::{Ended, Layout, Touched, touched};
pub use naive::count_ngrams;
pub use paths::{Gram, InvalidPruning, PathForest, Pruning, Shape};
pub use steps::StepLayout;
