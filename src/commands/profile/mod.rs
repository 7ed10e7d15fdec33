//! `holloway profile`: what the profilers found, for people and for other tools.
//!
//! | file | what it does |
//! |---|---|
//! | `load` | from a file to a profile that can be relied on |
//! | `wellformed` | what is wrong with a file |
//! | [`model`] | a profile to ask: paths that are the same are one, whatever version of the code ran them |
//! | [`metrics`] | how close one is to another |
//! | `calls` | call graphs: shown, compared, checked |
//! | `traces` | paths from branch traces: shown, compared, checked |
//! | `subpaths`, `hottest` | subpaths: shown, compared, checked; the hottest of a sample beside the truth |
//! | `scores` | how close, as JSON |
//! | `text` | names of paths and branches, columns |
//! | [`show`], [`diff`], [`check`], [`accuracy`], [`merge`], [`export`] | the commands |
//!
//! A file may have been cut short, edited or made by another program: whatever is in it, the answer is a message. `load` and
//! `wellformed` see to that, so that the commands may index and add without looking.

pub mod accuracy;
mod calls;
pub mod check;
pub mod diff;
pub mod export;
mod hottest;
pub(crate) mod load;
pub mod merge;
pub mod metrics;
pub mod model;
mod scores;
pub mod show;
mod subpaths;
#[cfg(test)]
mod tests;
mod text;
mod traces;
mod wellformed;

use super::print;
use crate::options::ProfileCommand;
use crate::report::{Stop, say};
use std::process::ExitCode;

/// Does what is asked for.
pub fn profile(command: ProfileCommand) -> Result<ExitCode, Stop> {
    match command {
        ProfileCommand::Show(arguments) => print(show::show(&arguments)?, ExitCode::SUCCESS),
        ProfileCommand::Diff(arguments) => print(diff::diff(&arguments)?, ExitCode::SUCCESS),
        ProfileCommand::Accuracy(arguments) => print(accuracy::accuracy(&arguments)?, ExitCode::SUCCESS),
        ProfileCommand::Check(arguments) => {
            let (text, code) = check::check(&arguments)?;
            print(text, code)
        }
        ProfileCommand::Merge(arguments) => {
            say(format_args!("{}", merge::merge(&arguments)?));
            Ok(ExitCode::SUCCESS)
        }
        ProfileCommand::Export(arguments) => export::export(&arguments),
    }
}
