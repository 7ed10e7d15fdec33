//! The real binary, as a user has it: exit codes, streams, signals, limits, and files that want to do harm.

#![forbid(unsafe_code)]

mod accuracy;
mod against;
mod bench;
mod compiled;
mod continuous;
mod doctor;
mod dump;
mod experiment;
mod flags;
mod hostile;
mod inline;
mod layout;
mod learned;
mod overhead;
mod pprof;
mod process;
mod profile;
mod profile_calls;
mod profile_damage;
mod profile_hot;
mod profile_merge;
mod profile_out;
mod profile_subpaths;
mod profile_threads;
mod runs;
mod signals;
