//! The hottest paths: each with its share of the branch flow, and its branches with their source lines.

use super::super::model::{Path, PathCounts, Profile};
use super::super::text::{counted, ends, is_wanted, outcome, outcome_record, percent};
use crate::source_lines::SourceLines;
use holloway_bytecode::Position;
use std::cmp::Reverse;

/// So many branches of a path are shown.
const MOST_BRANCHES: usize = 24;

/// The hottest `top` paths.
pub fn paths(profile: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> String {
    let Some((origin, records)) = profile.best() else {
        return "no paths: neither blpp nor kblpp nor pep ran\n".to_string();
    };
    let counts = profile.counts(&records);
    let sampled = match origin {
        super::super::model::Origin::Sampled => None,
        _ => profile.sampled().map(|(_, records)| profile.counts(&records)),
    };
    let flow = |path: usize, count: u64| u128::from(count) * u128::from(profile.paths[path].length);
    let total_flow: u128 = counts.iter().map(|(&path, &count)| flow(path, count)).sum();
    let total: u128 = counts.values().map(|&count| u128::from(count)).sum();
    let mut ranked: Vec<(usize, u64)> =
        counts.iter().map(|(&path, &count)| (path, count)).filter(|&(_, count)| count > 0).collect();
    let mut text = format!(
        "paths: {}, run {}, counted {}\n",
        counted(ranked.len() as u64, "different one", "different ones"),
        counted(total, "time", "times"),
        origin.name()
    );
    ranked.retain(|&(path, _)| is_wanted(&profile.paths[path], wanted));
    ranked.sort_by_key(|&(path, count)| (Reverse(flow(path, count)), Reverse(count), path));
    let sources = SourceLines::of_files(profile.file.program.files.iter().map(String::as_str));
    for (rank, &(at, count)) in ranked.iter().take(top).enumerate() {
        let path = &profile.paths[at];
        text += &format!(
            "\n{:>3}. {} of the flow: {}, {}, {}",
            rank + 1,
            percent(flow(at, count), total_flow),
            ends(profile, path),
            counted(count, "time", "times"),
            counted(path.length, "branch", "branches"),
        );
        if let Some(sampled) = &sampled {
            text += &sampled_share(sampled, at);
        }
        if path.versions.len() > 1 {
            text += &format!(", in {} versions of the code", path.versions.len());
        }
        text.push('\n');
        text += &branches(profile, path, &sources);
    }
    if ranked.len() > top {
        text += &format!("\n{} more\n", ranked.len() - top);
    }
    text
}

fn sampled_share(sampled: &PathCounts, path: usize) -> String {
    match sampled.get(&path) {
        Some(&count) => format!(", sampled {}", counted(count, "time", "times")),
        None => ", never sampled".to_string(),
    }
}

/// The branches of a path, a line each.
fn branches(profile: &Profile, path: &Path, sources: &SourceLines) -> String {
    let mut rows = Vec::new();
    for &at in path.key.branches.iter().take(MOST_BRANCHES) {
        let (place, arms) = outcome_record(profile, at);
        let way = outcome(at.arm.index(), arms);
        let here = format!("{}:{}", profile.method(place.method), place.line);
        let position = Position { file: place.file, line: place.line, ..Position::default() };
        rows.push((here, way, sources.line(position).unwrap_or_default()));
    }
    let width = |part: fn(&(String, String, String)) -> &String| {
        rows.iter().map(|row| part(row).chars().count()).max().unwrap_or_default()
    };
    let (places, ways) = (width(|row| &row.0), width(|row| &row.1));
    let line = |(place, way, source): &(String, String, String)| {
        format!("       {}\n", format!("{place:<places$}  {way:<ways$}  {source}").trim_end())
    };
    let mut text: String = rows.iter().map(line).collect();
    if path.key.branches.len() > MOST_BRANCHES {
        text += &format!("       and {} more branches\n", path.key.branches.len() - MOST_BRANCHES);
    }
    text
}
