//! `holloway profile export`: a profile in forms that other tools read, a file each.

mod csv;
mod dot;
mod firefox;
mod flamegraph;
mod pprof;
mod stacks;

use super::calls;
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
            let kinds = "--kind forest, --kind edges or --kind calls";
            return Err(Stop::usage(format_args!("dot draws the forest, the edges or the calls: {kinds}")));
        }
        (ExportFormat::Dot, _) | (_, None) => {}
        (ExportFormat::Csv, Some(_)) => return Err(Stop::usage("csv has everything: it has no --kind")),
        (_, Some(Topic::Paths | Topic::Calls)) => {}
        (_, Some(_)) => {
            return Err(Stop::usage("this format draws paths or calls: --kind paths or --kind calls"));
        }
    }
    let profile = load(&arguments.file, arguments.thread)?;
    let wanted = wanted(&profile, arguments.method.as_ref())?;
    // Paths, if there are any.
    let calls = match arguments.kind {
        Some(kind) => kind == Topic::Calls,
        None => profile.best().is_none() && calls::best(&profile).is_some(),
    };
    let stacks = || match calls {
        true => stacks::calls(&profile, &wanted),
        false => stacks::stacks(&profile, &wanted),
    };
    match arguments.format {
        ExportFormat::Dot => Ok(dot::dot(&profile, arguments.kind, &wanted)?.into_bytes()),
        ExportFormat::Csv => csv::csv(&profile, &wanted),
        ExportFormat::Flamegraph => flamegraph::flamegraph(&profile, &stacks()?),
        ExportFormat::Firefox => firefox::firefox(&profile, &stacks()?),
        ExportFormat::Pprof => Ok(pprof::pprof(&profile, &stacks()?)),
    }
}
