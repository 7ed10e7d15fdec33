//! Comparing with the originals: the programs of "Are We Fast Yet" in Java, JavaScript, Lua and C++, from a checkout of
//! the suite, against the ones in our language. A comparison is only as good as its control of noise, so
//!
//! * every measurement is a fresh process, and the processes of all sides are interleaved in rounds,
//! * what is compared are ratios within a round, whose two sides saw the same weather,
//! * our own side runs twice in each round: how far it is from itself is the noise that a reader must allow for.
//!
//! * [`programs`]: the names and sizes that both sides understand
//! * [`peers`], [`builds`]: the other languages, and making them ready to run
//! * [`ours`]: our side, a process of the same binary
//! * [`process`], [`lines`]: running a process, reading what it printed
//! * [`rounds`]: who runs when, and how often
//! * [`statistics`], [`ratios`]: from samples to ratios with confidence intervals
//! * [`report`], [`record`]: the result for people, and as JSON
//!
//! Nothing here knows the flags of the command line or the language's compiler; our side is an executable with arguments.

pub mod builds;
pub mod lines;
pub mod ours;
pub mod peers;
pub mod process;
pub mod programs;
pub mod ratios;
pub mod record;
pub mod report;
pub mod rounds;
pub mod statistics;
