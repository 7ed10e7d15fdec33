//! Recordings as text, so that a program can be recorded here and analysed there (section 3.1: "written to a file to
//! be used by the off-line analysis tool").
//!
//! ```text
//! holloway-btb 1
//! depth 4
//! period branches=1000 ticks=50
//! trace 17 j0.1>0.5 c0.5>1.0 @1.2
//! trace 3 t->0.4 j0.4>?
//! lost 0
//! empty 2
//! end 2
//! ```
//!
//! A trace has a count, its branches from the oldest on (`j`ump, `c`all, `r`eturn, `t`ransfer, then source and
//! target), and `@` with the place where the program stood. A place is `method.block`, `-` outside of the program,
//! `?` where it is missing. The last line has the number of traces: without it the file was cut short. A line counts
//! only with its end of line, since a number without it may lack digits. What was complete before an error is kept.

use super::branch::{BranchKind, CountedTrace, Place, Recording, TakenBranch, Trace};
use super::parameter::within;
use super::period::Period;
use super::ring::Ring;
use crate::ids::{BlockId, MethodId};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

const VERSION: &str = "holloway-btb 1";

/// A file that is not a whole recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what would be right.
    pub message: String,
    /// The traces before this line; `None` if there was no complete header.
    pub kept: Option<Recording>,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept.as_ref().map_or(0, |kept| kept.traces.len());
        write!(f, "line {}: {}; {kept} traces before it are complete", self.line, self.message)
    }
}

impl std::error::Error for Damaged {}

/// A recording as text.
#[must_use]
pub fn print(recording: &Recording) -> String {
    let mut text = format!("{VERSION}\ndepth {}\nperiod", recording.depth);
    // Writing into a string cannot fail.
    let mut put = |part: fmt::Arguments<'_>| text.write_fmt(part).unwrap_or_default();
    if let Some(branches) = recording.period.branches() {
        put(format_args!(" branches={branches}"));
    }
    if let Some(ticks) = recording.period.ticks() {
        put(format_args!(" ticks={ticks}"));
    }
    put(format_args!("\n"));
    for CountedTrace { trace, count } in &recording.traces {
        put(format_args!("trace {count}"));
        for branch in &trace.branches {
            let kind = match branch.kind {
                BranchKind::Jump => 'j',
                BranchKind::Call => 'c',
                BranchKind::Return => 'r',
                BranchKind::Transfer => 't',
            };
            put(format_args!(" {kind}{}>{}", Shown(branch.source), Shown(branch.target)));
        }
        if let Some(pc) = trace.pc {
            put(format_args!(" @{}", Shown(pc)));
        }
        put(format_args!("\n"));
    }
    put(format_args!("lost {}\nempty {}\nend {}\n", recording.lost, recording.empty, recording.traces.len()));
    text
}

struct Shown(Place);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::At { method, block } => write!(f, "{}.{}", method.0, block.0),
            Place::Outside => f.write_str("-"),
            Place::Missing => f.write_str("?"),
        }
    }
}

/// Reads a recording.
///
/// # Errors
///
/// The first line that is wrong or missing, with what came before it.
pub fn parse(text: &[u8]) -> Result<Recording, Damaged> {
    let mut lines = Lines { rest: text, line: 0 };
    let mut recording = None;
    match read(&mut lines, &mut recording) {
        Ok(()) => recording.map(Reading::recording).ok_or_else(|| Damaged {
            line: lines.line,
            message: "there is nothing".to_owned(),
            kept: None,
        }),
        Err(message) => Err(Damaged { line: lines.line, message, kept: recording.map(Reading::recording) }),
    }
}

struct Reading {
    depth: usize,
    period: Period,
    traces: BTreeMap<Trace, u64>,
    lost: u64,
    empty: u64,
}

impl Reading {
    fn recording(self) -> Recording {
        let traces = self.traces.into_iter().map(|(trace, count)| CountedTrace { trace, count }).collect();
        Recording { depth: self.depth, period: self.period, traces, lost: self.lost, empty: self.empty }
    }
}

struct Lines<'t> {
    rest: &'t [u8],
    line: usize,
}

impl<'t> Lines<'t> {
    fn next(&mut self, expected: &str) -> Result<&'t str, String> {
        self.line += 1;
        let Some(end) = self.rest.iter().position(|&byte| byte == b'\n') else {
            let what = if self.rest.is_empty() { "ends here" } else { "ends in this line" };
            return Err(format!("the file {what}, but {expected} should follow: it was cut short"));
        };
        let (line, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        std::str::from_utf8(line).map_err(|_| "this is not text".to_owned())
    }
}

fn read(lines: &mut Lines<'_>, recording: &mut Option<Reading>) -> Result<(), String> {
    let version = lines.next("the version")?;
    if version != VERSION {
        return Err(format!("this is not a recording of this version: the first line should be `{VERSION}`"));
    }
    let depth = field(lines.next("the depth")?, "depth")?;
    let depth: usize = number(depth)?;
    within("depth", depth, 1, Ring::MAX_DEPTH).map_err(|error| error.to_string())?;
    let period = period(field(lines.next("the period")?, "period")?)?;
    let reading = recording.insert(Reading { depth, period, traces: BTreeMap::new(), lost: 0, empty: 0 });
    let mut read = 0;
    let line = loop {
        let line = lines.next("`trace` or `lost`")?;
        let Some(rest) = line.strip_prefix("trace ") else { break line };
        let (trace, count) = trace(rest, depth)?;
        let sum = reading.traces.entry(trace).or_insert(0);
        *sum = sum.saturating_add(count);
        read += 1;
    };
    reading.lost = number(field(line, "lost").map_err(|_| "this should be `trace` or `lost`".to_owned())?)?;
    reading.empty = number(field(lines.next("`empty`")?, "empty")?)?;
    let end: usize = number(field(lines.next("`end`")?, "end")?)?;
    if end != read {
        return Err(format!("there should be {end} traces, but {read} were read"));
    }
    if lines.rest.is_empty() {
        Ok(())
    } else {
        lines.line += 1;
        Err("nothing should follow `end`".to_owned())
    }
}

fn field<'t>(line: &'t str, name: &str) -> Result<&'t str, String> {
    let rest = line.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
    rest.ok_or_else(|| format!("this should be `{name} ...`"))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    // `parse` alone would take a sign as well.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number.ok_or_else(|| format!("`{text}` should be a number"))
}

fn period(text: &str) -> Result<Period, String> {
    let (mut branches, mut ticks) = (None, None);
    for part in text.split(' ') {
        match part.split_once('=') {
            Some(("branches", value)) => branches = Some(number(value)?),
            Some(("ticks", value)) => ticks = Some(number(value)?),
            _ => return Err(format!("`{part}` should be `branches=N` or `ticks=N`")),
        }
    }
    let period = match (branches, ticks) {
        (Some(branches), Some(ticks)) => Period::Either { branches, ticks },
        (Some(branches), None) => Period::Branches(branches),
        (None, Some(ticks)) => Period::Ticks(ticks),
        (None, None) => return Err("the period should be `branches=N` or `ticks=N` or both".to_owned()),
    };
    period.validated().map_err(|error| error.to_string())
}

fn trace(text: &str, depth: usize) -> Result<(Trace, u64), String> {
    let mut parts = text.split(' ');
    let count = number(parts.next().unwrap_or_default())?;
    if count == 0 {
        return Err("a trace should have been sampled at least once".to_owned());
    }
    let mut trace = Trace { branches: Vec::new(), pc: None };
    for part in parts {
        if trace.pc.is_some() {
            return Err(format!("`{part}` should not follow the program's place"));
        }
        if let Some(pc) = part.strip_prefix('@') {
            trace.pc = Some(place(pc)?);
            continue;
        }
        let wrong = || format!("`{part}` should be a branch like `j0.1>0.2`");
        let mut letters = part.chars();
        let kind = match letters.next() {
            Some('j') => BranchKind::Jump,
            Some('c') => BranchKind::Call,
            Some('r') => BranchKind::Return,
            Some('t') => BranchKind::Transfer,
            _ => return Err(wrong()),
        };
        // `-` and `>` both stand in `j->0.4`: the separator is the last `>`.
        let (source, target) = letters.as_str().rsplit_once('>').ok_or_else(wrong)?;
        trace.branches.push(TakenBranch { source: place(source)?, target: place(target)?, kind });
        if trace.branches.len() > depth {
            return Err(format!("there are more branches than the depth of {depth}"));
        }
    }
    Ok((trace, count))
}

fn place(text: &str) -> Result<Place, String> {
    match text {
        "-" => return Ok(Place::Outside),
        "?" => return Ok(Place::Missing),
        _ => {}
    }
    let wrong = || format!("`{text}` should be a place: `method.block`, `-` or `?`");
    let (method, block) = text.split_once('.').ok_or_else(wrong)?;
    let id = |text| number::<u32>(text).map_err(|_| wrong());
    Ok(Place::at(MethodId(id(method)?), BlockId(id(block)?)))
}
