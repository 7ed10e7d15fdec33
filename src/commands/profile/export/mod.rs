//! `holloway profile export`: a profile in forms that other tools read, a file each.

mod csv;
mod dot;
mod firefox;
mod flamegraph;
mod pprof;
mod stacks;

use super::load::load;
use super::print;
use super::text::wanted;
use crate::options::{ExportArguments, ExportFormat, Topic};
use crate::report::{Stop, cannot_write};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Writes the export.
pub fn export(arguments: &ExportArguments) -> Result<ExitCode, Stop> {
    if arguments.format == ExportFormat::Pprof && arguments.out.is_none() && std::io::stdout().is_terminal() {
        return Err(Stop::usage("a profile for pprof is no text: --out FILE says where to write it"));
    }
    let bytes = exported(arguments)?;
    match &arguments.out {
        None => print(bytes, ExitCode::SUCCESS),
        Some(path) => {
            std::fs::write(path, bytes).map_err(|error| cannot_write(path, &error))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The profile in the form that is asked for.
pub fn exported(arguments: &ExportArguments) -> Result<Vec<u8>, Stop> {
    match (arguments.format, arguments.kind) {
        (ExportFormat::Dot, Some(Topic::Paths | Topic::Source | Topic::Threads)) => {
            return Err(Stop::usage("dot draws the forest or the edges: --kind forest or --kind edges"));
        }
        (ExportFormat::Dot, _) | (_, None) => {}
        (_, Some(_)) => return Err(Stop::usage("--kind is for --format dot")),
    }
    let profile = load(&arguments.file, arguments.thread)?;
    let wanted = wanted(&profile, arguments.method.as_ref())?;
    let stacks = || stacks::stacks(&profile, &wanted);
    match arguments.format {
        ExportFormat::Dot => Ok(dot::dot(&profile, arguments.kind, &wanted)?.into_bytes()),
        ExportFormat::Csv => csv::csv(&profile, &wanted),
        ExportFormat::Flamegraph => flamegraph::flamegraph(&profile, &stacks()?),
        ExportFormat::Firefox => firefox::firefox(&profile, &stacks()?),
        ExportFormat::Pprof => Ok(pprof::pprof(&profile, &stacks()?)),
    }
}
