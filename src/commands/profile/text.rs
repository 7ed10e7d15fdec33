//! How paths, branches and numbers are written.

use super::model::{Path, Profile};
use crate::pattern::Pattern;
use crate::report::Stop;
use holloway_profilers::BranchArm;
use holloway_vm::profiling::file::PlaceRecord;

/// A path in one line has at most so many branches.
const MOST_BRANCHES: usize = 12;

/// Which way a branch went, in words.
pub fn outcome(arm: usize, arms: u32) -> String {
    match (arms, arm) {
        (2, 0) => "taken".to_string(),
        (2, _) => "not taken".to_string(),
        (arms, arm) if arm as u32 + 1 == arms => "default".to_string(),
        (_, arm) => format!("case {arm}"),
    }
}

/// Which way a branch went, as a mark.
fn mark(arm: usize, arms: u32) -> String {
    match (arms, arm) {
        (2, 0) => "+".to_string(),
        (2, _) => "-".to_string(),
        (_, arm) => format!("#{arm}"),
    }
}

/// A place as `method:line`.
pub fn place(profile: &Profile, place: &PlaceRecord) -> String {
    format!("{}:{}", profile.method(place.method), place.line)
}

/// The line and the ways of an outcome.
pub fn outcome_record(profile: &Profile, outcome: BranchArm) -> (PlaceRecord, u32) {
    match profile.branch(outcome.branch) {
        Some(record) => (record.place, record.arms),
        None => (PlaceRecord { method: 0, position: 0, file: 0, line: 0 }, 2),
    }
}

/// The branches of a path in one line, `+` for taken, `-` for not taken, `#3` for the case of a switch; methods are named where they
/// change.
pub fn branches(profile: &Profile, path: &Path) -> String {
    let mut words = Vec::new();
    let mut method = path.places[0].method;
    for &outcome in path.key.branches.iter().take(MOST_BRANCHES) {
        let (place, arms) = outcome_record(profile, outcome);
        let mark = mark(outcome.arm.index(), arms);
        if place.method == method {
            words.push(format!("{}{mark}", place.line));
        } else {
            method = place.method;
            words.push(format!("{}:{}{mark}", profile.method(method), place.line));
        }
    }
    if path.key.branches.len() > MOST_BRANCHES {
        words.push(format!("... {} more", path.key.branches.len() - MOST_BRANCHES));
    }
    words.join(" ")
}

/// Where a path begins and ends, in words: `entry of main:5 to 7`, `main:7 to exit at 11`.
pub fn ends(profile: &Profile, path: &Path) -> String {
    let [begin, end] = &path.places;
    let [begins, ends] = &path.ways;
    let entry = if begins == "entry" { "entry of " } else { "" };
    let exit = if ends == "exit" { "exit at " } else { "" };
    let to = if begin.method == end.method { end.line.to_string() } else { place(profile, end) };
    format!("{entry}{} to {exit}{to}", place(profile, begin))
}

/// A path in one line.
pub fn path(profile: &Profile, path: &Path) -> String {
    match branches(profile, path) {
        text if text.is_empty() => ends(profile, path),
        text => format!("{}: {text}", ends(profile, path)),
    }
}

/// A share in percent.
pub fn percent(part: u128, whole: u128) -> String {
    if whole == 0 { "-".to_string() } else { format!("{:.2} %", part as f64 * 100.0 / whole as f64) }
}

/// A score of 0..=1 in percent, if there is one.
pub fn score(score: Option<f64>) -> String {
    score.map_or("-".to_string(), |score| format!("{:.2} %", score * 100.0))
}

/// A number with its noun.
pub fn counted(number: impl Into<u128>, one: &str, many: &str) -> String {
    let number = number.into();
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Rows with columns as wide as they must be: numbers to the right, and the last column, which is text, as it is. A row of headings
/// comes first.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = headings.iter().map(|heading| heading.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let headings: Vec<String> = headings.iter().map(|&heading| heading.to_string()).collect();
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if at + 1 == row.len() {
                line += &format!("  {cell}");
            } else {
                line += &format!("  {cell:>width$}");
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Which methods of a profile are wanted. `Err` if there is none.
pub fn wanted<'p>(
    profile: &'p Profile,
    pattern: Option<&'p Pattern>,
) -> Result<impl Fn(u32) -> bool + 'p, Stop> {
    let names = || profile.file.methods.iter().map(|method| &*method.name);
    if let Some(pattern) = pattern
        && !names().any(|name| pattern.matches(name))
    {
        return Err(Stop::usage(format_args!("in this profile {}", pattern.nothing_found(names()))));
    }
    Ok(move |method: u32| pattern.is_none_or(|pattern| pattern.matches(profile.method(method))))
}

/// Has a path to do with a wanted method.
pub fn is_wanted(path: &Path, wanted: &impl Fn(u32) -> bool) -> bool {
    wanted(path.places[0].method) || path.methods.iter().any(|&method| wanted(method))
}
