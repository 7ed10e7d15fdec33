//! `holloway check`: compiles a program and throws the result away.

use crate::compile::compile_file;
use crate::options::CheckArguments;
use crate::report::Stop;
use std::process::ExitCode;

/// Success is silent, as in a pipeline of checks it should be.
pub fn check(arguments: CheckArguments) -> Result<ExitCode, Stop> {
    compile_file(&arguments.file)?;
    Ok(ExitCode::SUCCESS)
}
