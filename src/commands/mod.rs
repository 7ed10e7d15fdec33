//! The commands, a file or a folder each. A command returns how to exit, or a [`crate::report::Stop`] that says why it did nothing.

pub mod accuracy;
pub mod bench;
pub mod calibrate;
pub mod check;
pub mod doctor;
pub mod dump;
pub mod experiment;
pub mod explain;
pub mod overhead;
pub mod profile;
pub mod run;

use crate::report::{EXIT_PROGRAM, Stop, say};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Writes a listing to standard output; a reader who has seen enough is no error.
fn print(text: impl AsRef<[u8]>, code: ExitCode) -> Result<ExitCode, Stop> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            say(format_args!("cannot write the listing: {error}\n"));
            Ok(EXIT_PROGRAM.into())
        }
        _ => Ok(code),
    }
}
