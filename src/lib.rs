//! The `holloway` command line: it reads flags, puts the compiler and the virtual machine together, and reports.
//!
//! | file | what it does |
//! |---|---|
//! | [`options`], [`values`] | flags, and the texts that they accept |
//! | [`compile`] | from the path of a source file to a verified program |
//! | [`commands`] | one file for each command |
//! | [`inspect`] | looking into the optimizing tier |
//! | [`pattern`], [`source_lines`] | choosing methods by name; source lines for listings |
//! | [`output`], [`interrupt`] | standard output of the running program, Ctrl-C |
//! | [`learned`] | advice and calibrations: files that one run writes and another reads |
//! | [`profile`] | which profilers run, and the file that keeps what they found |
//! | [`promised`] | files that are opened before a run and written after |
//! | [`report`] | messages to the user, colours, exit codes |
//! | [`statistics`] | what `--stats` prints |
//!
//! Programs write to standard output, everything else here writes to standard error.

#![forbid(unsafe_code)]

pub mod commands;
pub mod compile;
pub mod inline;
pub mod inspect;
pub mod interrupt;
pub mod layout;
pub mod learned;
pub mod options;
pub mod output;
pub mod pattern;
pub mod profile;
pub mod promised;
pub mod report;
pub mod source_lines;
pub mod statistics;
pub mod values;

use clap::Parser;
use std::process::ExitCode;

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let line = options::CommandLine::parse();
    commands::experiment::end_with_parent();
    let result = match line.command {
        options::Command::Run(arguments) => commands::run::run(arguments),
        options::Command::Check(arguments) => commands::check::check(arguments),
        options::Command::Bench(arguments) => commands::bench::bench(arguments),
        options::Command::Dump(arguments) => commands::dump::dump(arguments),
        options::Command::Explain(arguments) => commands::explain::explain(*arguments),
        options::Command::Overhead(arguments) => commands::overhead::overhead(*arguments),
        options::Command::Accuracy(arguments) => commands::accuracy::accuracy(*arguments),
        options::Command::Calibrate(arguments) => commands::calibrate::calibrate(&arguments),
        options::Command::Doctor(arguments) => commands::doctor::doctor(&arguments),
        options::Command::Reproduce(arguments) => commands::experiment::reproduce(&arguments),
        options::Command::Experiment(command) => commands::experiment::experiment(command),
        options::Command::Profile(command) => commands::profile::profile(command),
    };
    match result {
        Ok(code) => code,
        Err(stop) => {
            stop.print();
            stop.code()
        }
    }
}
