//! Reading a profile. What cannot be read is told apart: no such file, cut short, not JSON, something else, another version.

use super::model::Profile;
use super::wellformed::problems;
use crate::report::Stop;
use holloway_vm::profiling::file::{FORMAT, ProfileFile, VERSION};
use serde::Deserialize;
use serde_json::error::Category;
use std::path::Path;

/// What every version of the format has.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

/// Reads a file that has the form of a profile; what it says may still make no sense.
pub fn read(path: &Path) -> Result<ProfileFile, Stop> {
    let bytes = std::fs::read(path)
        .map_err(|error| Stop::usage(format_args!("cannot read {}: {error}", path.display())))?;
    parse(&bytes).map_err(|why| Stop::usage(format_args!("{} {why}", path.display())))
}

/// Reads a profile that is well-formed.
pub fn load(path: &Path) -> Result<Profile, Stop> {
    let file = read(path)?;
    let problems = problems(&file);
    match problems.first() {
        None => Ok(Profile::new(file)),
        Some(first) => Err(Stop::usage(format_args!(
            "{} is damaged: {first} (`holloway profile check` lists all that is wrong)",
            path.display()
        ))),
    }
}

/// A profile from its text, or what the text is, as the end of a sentence.
pub fn parse(bytes: &[u8]) -> Result<ProfileFile, String> {
    let of_json = |error: serde_json::Error| match error.classify() {
        Category::Eof => {
            format!("is cut short: it ends at line {}, column {}", error.line(), error.column())
        }
        Category::Syntax | Category::Io => format!("is not JSON: {error}"),
        Category::Data => format!("is not a profile: {error}"),
    };
    let header: Header = serde_json::from_slice(bytes).map_err(of_json)?;
    if header.format != FORMAT {
        return Err(format!("is not a profile: its format is {:?}, not {FORMAT:?}", header.format));
    }
    if header.version != u64::from(VERSION) {
        return Err(format!("is of version {}, and this program reads version {VERSION}", header.version));
    }
    serde_json::from_slice(bytes).map_err(of_json)
}
