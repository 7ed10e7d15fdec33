//! Online subpath profiling: which sequences of blocks are hot, wherever they start, across loops and calls.
//!
//! Oren, Matias and Sagiv, "Online Subpath Profiling", CC 2002. After a random skip the next few blocks of the execution
//! are sampled as one subpath, which is counted in a hot list of bounded memory. At any moment the counts estimate how
//! often the hottest subpaths were executed.
//!
//! * [`Config`] says what is wanted, [`Profiler`] is one thread's; it offers four ways to skip.
//! * [`Lengths`] draws how long a subpath is, [`Encoding`] says which subpaths are the same, a [`Coder`] describes them.
//! * [`Sample`] is what was seen by one moment; samples of threads are merged exactly. [`Report`] has the estimates.
//! * [`Exhaustive`] is the ground truth, [`census()`] holds the encodings against it.
//!
//! A block has a number within the whole program here, as subpaths cross calls: `BlockId` in a control flow that joins
//! those of all methods.

mod census;
mod config;
mod describe;
mod encoding;
mod exhaustive;
mod hot_list;
mod lengths;
mod profiler;
mod random;
mod report;
mod sample;

pub use census::{Census, census};
pub use config::{Ageing, Config, Invalid, Keeping, MAX_MEMORY, MAX_RATE, MIN_RATE, Starts, rate_for};
pub use describe::{BranchBits, Coder, Deltas, Nothing, Writer};
pub use encoding::{Encoder, Encoding, least_rotation, period};
pub use exhaustive::{Exhaustive, subpaths_of};
pub use lengths::{Bias, Lengths, MAX_EXPONENT, MAX_LENGTH};
pub use profiler::{Plan, Profiler, Work};
pub use random::{Random, Ratio};
pub use report::{Estimator, HotPath, Report};
pub use sample::{Row, Sample, Stratum};
