//! Reading a profile. What cannot be read is told apart: no such file, cut short, not JSON, something else, another version.

use super::model::Profile;
use super::wellformed::problems;
use crate::options::ThreadChoice;
use crate::report::Stop;
use holloway_vm::profiling::file::{FORMAT, ProfileFile, ThreadRecord, VERSION};
use serde::Deserialize;
use serde_json::error::Category;
use std::path::{Path, PathBuf};

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

/// Takes from a profile what another run is to be directed by; `take` says what it lacks.
pub fn taken<T>(path: &Path, take: impl FnOnce(&ProfileFile) -> Result<T, String>) -> Result<T, Stop> {
    let file = well_formed(path)?;
    file.check()
        .and_then(|()| take(&file))
        .map_err(|why| Stop::usage(format_args!("{}: {why}", path.display())))
}

/// The parts of `NAME` or `NAME=FILE`, as flags name profiles.
pub fn named(text: &str) -> Result<(&str, Option<PathBuf>), String> {
    match text.split_once('=') {
        Some((name, "")) => Err(format!("behind `{name}=` stands the name of a file")),
        Some((name, file)) => Ok((name, Some(PathBuf::from(file)))),
        None => Ok((text, None)),
    }
}

/// Reads a profile that is well-formed.
fn well_formed(path: &Path) -> Result<ProfileFile, Stop> {
    let file = read(path)?;
    match problems(&file).first() {
        None => Ok(file),
        Some(first) => Err(Stop::usage(format_args!(
            "{} is damaged: {first} (`holloway profile check` lists all that is wrong)",
            path.display()
        ))),
    }
}

/// Reads a profile that is well-formed; of one thread only, if that is asked for.
pub fn load(path: &Path, thread: Option<ThreadChoice>) -> Result<Profile, Stop> {
    let file = well_formed(path)?;
    let profile = Profile::new(file);
    let Some(choice) = thread else { return Ok(profile) };
    let part =
        chosen(&profile.file, choice).map_err(|why| Stop::usage(format_args!("{} {why}", path.display())))?;
    let name = thread_name(&profile, part);
    let mut part = Profile::new(profile.file.of_thread(part));
    part.thread = Some(name);
    Ok(part)
}

/// What a thread counted, or why there is no such thread, as the end of a sentence.
fn chosen(file: &ProfileFile, choice: ThreadChoice) -> Result<&ThreadRecord, String> {
    let Some(threads) = &file.threads else {
        return Err("has no profiles of threads: `holloway run --profile-threads` writes them".to_string());
    };
    let number = match choice {
        ThreadChoice::Number(number) => Some(number),
        ThreadChoice::Rest => None,
    };
    threads.iter().find(|thread| thread.thread == number).ok_or_else(|| match number {
        None => "has no rest: every thread counted by itself".to_string(),
        Some(number) => {
            let last = threads.iter().filter_map(|thread| thread.thread).max();
            let known = last.map_or("none has a number".to_string(), |last| format!("the last is {last}"));
            format!("has no thread {number}: {known}")
        }
    })
}

/// A thread in words.
pub fn thread_name(profile: &Profile, thread: &ThreadRecord) -> String {
    match (thread.thread, thread.method) {
        (None, _) => "the rest".to_string(),
        (Some(0), None) => "0  the main thread".to_string(),
        (Some(number), None) => number.to_string(),
        (Some(number), Some(method)) => format!("{number}  {}", profile.method(method)),
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
