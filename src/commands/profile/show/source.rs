//! Source lines that have branches, each with their counts: as every profiler has them, side by side.

use super::super::model::Profile;
use super::super::text::{outcome, table};
use super::edges::hottest;
use crate::source_lines::SourceLines;
use holloway_bytecode::Position;
use holloway_profilers::BranchId;
use holloway_profilers::edges::EdgeProfile;
use std::collections::BTreeMap;

/// By file and line.
pub fn source(profile: &Profile, wanted: &impl Fn(u32) -> bool) -> String {
    let edges = &profile.file.edges;
    let mut columns: Vec<(&str, EdgeProfile)> = Vec::new();
    if edges.baseline.iter().any(|(_, arms)| arms.iter().any(|&count| count > 0)) {
        columns.push(("interpreted", profile.edges(&edges.baseline)));
    }
    match (&edges.exact, profile.exact()) {
        (Some(exact), _) => columns.push(("compiled", profile.edges(exact))),
        (None, Some((_, exact))) => columns.push(("compiled", profile.expanded(&exact))),
        (None, None) => {}
    }
    if let Some(sampled) = &edges.sampled {
        columns.push(("sampled", profile.edges(sampled)));
    }
    let mut lines: BTreeMap<(u32, u32), Vec<BranchId>> = BTreeMap::new();
    for record in &profile.file.branches {
        let branch = super::super::model::id_of(record);
        if wanted(branch.method.0) && columns.iter().any(|(_, edges)| edges.executions(branch) > 0) {
            lines.entry((record.place.file, record.place.line)).or_default().push(branch);
        }
    }
    if lines.is_empty() {
        return "no branch was executed\n".to_string();
    }
    let sources = SourceLines::of_files(profile.file.program.files.iter().map(String::as_str));
    let mut headings: Vec<&str> = vec!["line"];
    headings.extend(columns.iter().map(|(name, _)| *name));
    headings.push("source");
    let mut texts = Vec::new();
    for file in lines.keys().map(|&(file, _)| file).collect::<std::collections::BTreeSet<u32>>() {
        let mut rows = Vec::new();
        for (&(_, line), branches) in lines.range((file, 0)..=(file, u32::MAX)) {
            let position = Position { file, line, ..Position::default() };
            let mut source = sources.line(position).unwrap_or_default();
            for (nth, &branch) in branches.iter().enumerate() {
                let mut row = vec![if nth == 0 { line.to_string() } else { String::new() }];
                row.extend(columns.iter().map(|(_, edges)| cell(profile, edges, branch)));
                row.push(std::mem::take(&mut source));
                rows.push(row);
            }
        }
        let missing = if sources.knows(file) { "" } else { " (its text cannot be read)" };
        texts.push(format!("{}{missing}\n{}", profile.file_name(file), table(&headings, &rows)));
    }
    texts.join("\n")
}

/// How often a branch was executed, and which way it went most.
fn cell(profile: &Profile, edges: &EdgeProfile, branch: BranchId) -> String {
    let executions = edges.executions(branch);
    if executions == 0 {
        return "-".to_string();
    }
    let arms = profile.branch(branch).map_or(2, |record| record.arms);
    let (arm, count) = hottest(edges.arms(branch));
    format!("{executions}, {} {:.1} %", outcome(arm, arms), count as f64 * 100.0 / executions as f64)
}
