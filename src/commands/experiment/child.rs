//! A cell, done: its commands as processes of this binary, one after the other, in a folder of their own.
//!
//! A child ends with its parent, whatever ends that: it reads its standard input, which the parent holds open, and leaves when that ends.
//! Ctrl-C is for the parent alone: a child is in a process group of its own, or it would end first, and look as if it had failed.

use crate::report::EXIT_PROGRAM;
use holloway_experiments::cell::{Cell, Outcome, RESULT};
use holloway_experiments::reduce::Output;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Children have this in their environment.
const MARK: &str = "HOLLOWAY_CELL";
/// How often a child is looked after.
const PAUSE: Duration = Duration::from_millis(5);
/// So much of what a failed command said is kept.
const MOST_WORDS: usize = 500;

/// In the child of an experiment, sees to it that it does not outlive its parent.
pub fn end_with_parent() {
    if std::env::var_os(MARK).is_none() {
        return;
    }
    let wait = || {
        let mut byte = [0];
        while matches!(std::io::stdin().read(&mut byte), Ok(1..)) {}
        std::process::exit(EXIT_PROGRAM.into());
    };
    let _ = std::thread::Builder::new().name("parent".into()).spawn(wait);
}

/// Why there is no outcome.
pub enum Failure {
    /// The cell failed, which is a result.
    Failed(String),
    /// The user had enough.
    Stopped,
    /// Nothing more can be done here.
    Impossible(String),
}

/// A folder that goes away with the value.
struct Scratch(PathBuf);

impl Scratch {
    /// A new one, which nobody had before.
    fn new(below: &Path) -> std::io::Result<Scratch> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = below.join(format!("cell-{}-{number}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Scratch(path))
    }
}

/// Is a folder of this name one that a cell had.
pub fn is_scratch(name: &str) -> bool {
    let numbers = name.strip_prefix("cell-").and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, number)| process.parse::<u32>().is_ok() && number.parse::<usize>().is_ok())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, it is in nobody's way.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Does the cell.
pub fn perform(cell: &Cell, store: &Path, is_stopped: &dyn Fn() -> bool) -> Result<Outcome, Failure> {
    let cannot_do = |what: &'static str| {
        move |error: std::io::Error| {
            Failure::Impossible(format!("cannot {what} {}: {error}", store.display()))
        }
    };
    let (cannot, cannot_read) = (cannot_do("write to"), cannot_do("read what a process left in"));
    let scratch = Scratch::new(store).map_err(&cannot)?;
    let start = Instant::now();
    let (printed, said) = (scratch.0.join("printed"), scratch.0.join("said"));
    for words in &cell.commands {
        let arguments = words.iter().map(|word| in_scratch(word, &scratch.0));
        let binary = std::env::current_exe()
            .map_err(|error| Failure::Impossible(format!("where is this binary: {error}")))?;
        let mut command = Command::new(binary);
        command.args(arguments).env(MARK, "1").env("NO_COLOR", "1").stdin(Stdio::piped()).process_group(0);
        command
            .stdout(File::create(&printed).map_err(&cannot)?)
            .stderr(File::create(&said).map_err(&cannot)?);
        let child = command
            .spawn()
            .map_err(|error| Failure::Impossible(format!("cannot start a process: {error}")))?;
        let status = wait(child, start + cell.limit, is_stopped)?;
        if let Some(why) = status {
            // Whoever ends this process may end the child as well: that is no result.
            if is_stopped() {
                return Err(Failure::Stopped);
            }
            let words = text(&said).map_err(&cannot_read)?;
            let printed = text(&printed).map_err(&cannot_read)?;
            if cell.refusal.is_some_and(|refusal| words.contains(refusal) || printed.contains(refusal)) {
                return Ok(Outcome::unavailable());
            }
            if let Some(words) = words.lines().find(|words| is_full(words)) {
                return Err(Failure::Impossible(words.into()));
            }
            // Where nothing can be written, a process cannot say so either.
            std::fs::write(&said, [b' '; 1 << 12]).map_err(&cannot)?;
            let words: String = words.trim().chars().take(MOST_WORDS).collect();
            return Err(Failure::Failed(if words.is_empty() { why } else { format!("{why}: {words}") }));
        }
    }
    let result = scratch.0.join(RESULT.trim_start_matches('@'));
    let result = text(if result.exists() { &result } else { &printed }).map_err(&cannot_read)?;
    let output = Output { result, errors: text(&said).map_err(&cannot_read)? };
    cell.reduction.reduce(&output).map_err(Failure::Failed)
}

/// A word of a command, with the file of the cell that it names: `@name`, or `key=@name`.
fn in_scratch(word: &str, scratch: &Path) -> OsString {
    match word.split_once('@') {
        Some((before, name)) if before.is_empty() || before.ends_with('=') => {
            let mut full = OsString::from(before);
            full.push(scratch.join(name));
            full
        }
        _ => word.into(),
    }
}

/// Did a process find no space to write to: that says nothing about its cell, and the next would fail as well.
fn is_full(words: &str) -> bool {
    // As the system's errors are told by the standard library, in any language: no space left, and none left of a quota.
    [28, 122].iter().any(|number| words.contains(&format!("(os error {number})")))
}

fn text(path: &Path) -> std::io::Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}

/// Waits for the end: how it failed, or nothing if it went well.
fn wait(child: Child, limit: Instant, is_stopped: &dyn Fn() -> bool) -> Result<Option<String>, Failure> {
    let mut child = Guard(child);
    loop {
        match child.0.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(None),
            Ok(Some(status)) => return Ok(Some(status.to_string())),
            Ok(None) => {}
            Err(error) => return Err(Failure::Impossible(format!("cannot wait for a process: {error}"))),
        }
        if is_stopped() {
            return Err(Failure::Stopped);
        }
        if Instant::now() >= limit {
            return Err(Failure::Failed("it took too long and was ended".into()));
        }
        std::thread::sleep(PAUSE);
    }
}

/// A child that is ended when nobody waits for it any more.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_full_disk_is_no_result() {
        let Ok(mut full) = File::options().write(true).open("/dev/full") else { return };
        let error = full.write_all(b"x").expect_err("it is full");
        assert!(is_full(&format!("error: cannot write result.json: {error}")));
        assert!(!is_full("error: cannot write result.json: Permission denied (os error 13)"));
    }
}
