//! Paths from branch traces: the heaviest full paths of regions, how good their weights are (Shye et al. 2005), and what must hold.
//!
//! A path is a full path of a region of a method: from where the region is entered to where it is left, cut at loop headers, loop
//! exits and where there would be too many paths; not the same as a path of `blpp`, which goes on over the end of a loop.

use super::accuracy::hot_share;
use super::diff::{change, listed, ranked};
use super::model::{Profile, id_of};
use super::scores::{FlowScore, TraceScore};
use super::text::{counted, outcome, percent, place, score, table};
use crate::options::Percent;
use crate::source_lines::SourceLines;
use holloway_bytecode::Position;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::metrics::{Flow, Share, wall};
use holloway_profilers::{Arm, BranchArm};
use holloway_vm::profiling::file::{ProfileFile, RegionPathRecord, TraceRecords};
use std::collections::BTreeMap;

/// So many branches of a path are shown.
const MOST_BRANCHES: usize = 24;

/// Weights as whole numbers: so many parts of a sample.
const PARTS: f64 = 1024.0;

/// Do the regions of two profiles span the same calls; else their paths are not the same ones. `Err` is the end of a sentence.
pub fn same_sites(one: &ProfileFile, other: &ProfileFile) -> Result<(), String> {
    let (Some(a), Some(b)) = (&one.traces, &other.traces) else { return Ok(()) };
    if a.sites == b.sites {
        return Ok(());
    }
    let calls = |of: &TraceRecords| match of.sites.len() {
        0 => "no calls".to_string(),
        count => counted(count as u64, "hot call", "hot calls"),
    };
    Err(format!(
        "have regions that span different calls ({} there, {} here): run both with the same --hot-calls, or without",
        calls(a),
        calls(b)
    ))
}

/// Where a path begins and ends, in words.
fn ends(profile: &Profile, path: &RegionPathRecord) -> String {
    let begin = place(profile, &path.begin);
    let end = match path.end.method == path.begin.method {
        true => path.end.line.to_string(),
        false => place(profile, &path.end),
    };
    match path.method {
        Some(caller) => format!("{begin} to {end}, called by {}", profile.method(caller)),
        None => format!("{begin} to {end}"),
    }
}

/// The hot callees that a path of a method goes through, in the order in which it does.
fn callees(profile: &Profile, traces: &TraceRecords, path: &RegionPathRecord) -> Vec<String> {
    let of = path.blocks.iter().map(|&block| traces.place_of(path.owner(), block).0);
    let mut callees: Vec<u32> = Vec::new();
    for method in of.filter(|&method| method != path.owner()) {
        if !callees.contains(&method) {
            callees.push(method);
        }
    }
    callees.into_iter().map(|method| profile.method(method).to_string()).collect()
}

/// A path in one line.
pub fn name(profile: &Profile, path: &RegionPathRecord) -> String {
    let branches = path.branches.iter().take(MOST_BRANCHES).map(|&(branch, arm)| {
        let record = &profile.file.branches[branch as usize];
        let mark = match outcome(arm as usize, record.arms).as_str() {
            "taken" => "+".to_string(),
            "not taken" => "-".to_string(),
            _ => format!("#{arm}"),
        };
        format!("{}{mark}", record.place.line)
    });
    let branches: Vec<String> = branches.collect();
    match branches.is_empty() {
        true => ends(profile, path),
        false => format!("{}: {}", ends(profile, path), branches.join(" ")),
    }
}

/// How traces were understood, and the heaviest `top` paths.
pub fn show(profile: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> String {
    let Some(traces) = &profile.file.traces else {
        return "no branch traces: btb did not run\n".to_string();
    };
    let mut text = summary(traces);
    let mut ranked: Vec<&RegionPathRecord> =
        traces.paths.iter().filter(|path| path.weight > 0.0 && wanted(path.owner())).collect();
    ranked.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let total: u64 = traces.paths.iter().filter_map(|path| path.count).sum();
    let sources = SourceLines::of_files(profile.file.program.files.iter().map(String::as_str));
    for (rank, path) in (1..).zip(ranked.iter().take(top)) {
        let share = path.weight * 100.0 / (traces.flow as f64);
        text += &format!(
            "\n{rank:>3}. {share:.2} % of the weight: {}, {}",
            ends(profile, path),
            counted(path.branches.len() as u64, "branch", "branches")
        );
        if let Some(count) = path.count {
            let of_all = percent(count.into(), total.into());
            text += &format!(", run {} ({of_all} of all paths)", counted(count, "time", "times"));
        }
        let callees = callees(profile, traces, path);
        if !callees.is_empty() {
            text += &format!(", through {}", callees.join(", "));
        }
        text.push('\n');
        text += &branches(profile, path, &sources);
    }
    if ranked.len() > top {
        text += &format!("\n{} more\n", ranked.len() - top);
    }
    text
}

fn summary(traces: &TraceRecords) -> String {
    let found = traces.paths.iter().filter(|path| path.weight > 0.0).count();
    let mut text = format!(
        "branch traces: {} of {}, {} with weight\n",
        counted(traces.samples, "sample", "samples"),
        counted(traces.traces, "different trace", "different traces"),
        counted(found as u64, "path", "paths"),
    );
    let mean = |sum: u64, count: u64| if count == 0 { 0.0 } else { sum as f64 / count as f64 };
    let crossing: u64 = traces.crossings.iter().filter(|of| *of.0 > 0).map(|of| of.1).sum();
    text += &format!(
        "  a trace has {:.1} instructions, {:.1} when extended; {} cross calls; a piece may be of {:.2} paths on average\n",
        mean(traces.initial_length, traces.traces),
        mean(traces.extended_length, traces.traces),
        percent(crossing.into(), traces.traces.into()),
        mean(traces.matches, traces.partials),
    );
    if let Some(of) = &traces.lengths {
        text += &format!(
            "  cut at calls, pieces have {:.1} instructions; at back edges, too, {:.1}; at boundaries of regions {:.1}\n",
            of.calls.mean(),
            of.loops.mean(),
            of.regions.mean(),
        );
    }
    if !traces.sites.is_empty() {
        let calls = counted(traces.sites.len() as u64, "hot call", "hot calls");
        text += &format!("  regions span {calls}\n");
    }
    if traces.repaired > 0 {
        let samples = counted(traces.repaired, "sample", "samples");
        text += &format!("  in {samples} a place was not recorded or wrong, and found out\n");
    }
    let discarded: u64 = traces.discarded.values().sum();
    let mut unused: Vec<String> =
        traces.discarded.iter().map(|(reason, count)| format!("{count} ({reason})")).collect();
    unused.extend((traces.lost > 0).then(|| format!("{} (the table was full)", traces.lost)));
    unused.extend((traces.empty > 0).then(|| format!("{} (no branch yet)", traces.empty)));
    let all = discarded + traces.lost + traces.empty;
    if all > 0 {
        let samples = counted(all, "sample was", "samples were");
        text += &format!("  {samples} not used: {}\n", unused.join(", "));
    }
    text
}

/// The branches of a path, a line each.
fn branches(profile: &Profile, path: &RegionPathRecord, sources: &SourceLines) -> String {
    let mut text = String::new();
    for &(branch, arm) in path.branches.iter().take(MOST_BRANCHES) {
        let record = &profile.file.branches[branch as usize];
        let way = outcome(arm as usize, record.arms);
        let position = Position { file: record.place.file, line: record.place.line, ..Position::default() };
        let here = place(profile, &record.place);
        let line = format!("       {here}  {way:<9}  {}", sources.line(position).unwrap_or_default());
        text += line.trim_end();
        text.push('\n');
    }
    if path.branches.len() > MOST_BRANCHES {
        text += &format!("       and {} more branches\n", path.branches.len() - MOST_BRANCHES);
    }
    text
}

type Key<'p> = (u32, &'p [u32]);

fn key(path: &RegionPathRecord) -> Key<'_> {
    (path.owner(), &path.blocks)
}

/// What share of a profile's paths each is: by their counts, if they were counted, else by their weights.
fn shares(traces: &TraceRecords) -> (BTreeMap<Key<'_>, f64>, &'static str) {
    let is_counted = traces.paths.iter().any(|path| path.count.is_some());
    let of = |path: &RegionPathRecord| match is_counted {
        true => path.count.unwrap_or_default() as f64,
        false => path.weight,
    };
    let total: f64 = traces.paths.iter().map(of).sum();
    let share = |path| if total > 0.0 { of(path) / total } else { 0.0 };
    let shares = traces.paths.iter().map(|path| (key(path), share(path))).collect();
    (shares, if is_counted { "counted exactly" } else { "by their weights" })
}

/// Paths of regions that became hotter or colder. Nothing if neither profile has any.
pub fn diff(before: &Profile, after: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> Option<String> {
    let (old, new) = match (&before.file.traces, &after.file.traces) {
        (None, None) => return None,
        (Some(old), Some(new)) => (old, new),
        _ => return Some("branch traces: not in both profiles\n".to_string()),
    };
    if let Err(why) = same_sites(&before.file, &after.file) {
        return Some(format!("branch traces: not compared, for both {why}\n"));
    }
    let known: BTreeMap<Key, (&Profile, &RegionPathRecord)> = [(before, old), (after, new)]
        .into_iter()
        .flat_map(|(profile, traces)| traces.paths.iter().map(move |path| (key(path), (profile, path))))
        .collect();
    let ((old, one), (new, other)) = (shares(old), shares(new));
    let of = |shares: &BTreeMap<Key, f64>, path| shares.get(path).copied().unwrap_or_default();
    let overlap = known.keys().map(|path| of(&old, path).min(of(&new, path))).sum();
    let how = if one == other { one.to_string() } else { format!("{one} before and {other} after") };
    let text = format!("branch traces: overlap {}, {how}\n", score(Some(overlap)));
    let touched = known.keys().filter(|path| wanted(path.0));
    let changes = ranked(touched.map(|path| (of(&old, path), of(&new, path), path)).collect());
    let row = |&(was, is, path): &(f64, f64, &Key)| {
        let (profile, record) = known[path];
        let mut row = Vec::from(change(was, is));
        row.push(name(profile, record));
        row
    };
    let headings = ["change", "before", "after", "of the paths of regions"];
    Some(text + &listed(&changes, top, &headings, "no path has another share", row))
}

/// The branches of the paths of regions, by their weights; or by their counts, if they were counted.
pub fn edges(profile: &Profile, are_counted: bool) -> Option<EdgeProfile> {
    let traces = profile.file.traces.as_ref()?;
    let mut edges = EdgeProfile::default();
    for path in &traces.paths {
        let amount = if are_counted { path.count? } else { (path.weight * PARTS).round() as u64 };
        for &(branch, arm) in &path.branches {
            let record = &profile.file.branches[branch as usize];
            edges.declare(id_of(record), record.arms as usize);
            edges.add(BranchArm { branch: id_of(record), arm: Arm::new(arm as usize) }, amount);
        }
    }
    Some(edges)
}

/// How good the weights of branch traces are.
pub struct TraceScores {
    /// Paths with weight, and paths in truth.
    estimated: usize,
    actual: usize,
    /// Paths that have a weight and were never run.
    never: usize,
    /// By flow.
    pub rows: [(&'static str, TraceScore); 2],
}

/// Wall's weight matching between the weights of one profile and the counts of another. Nothing if one side is not there.
pub fn scores(estimate: &Profile, truth: &Profile, hot: Share, percent: Percent) -> Option<TraceScores> {
    let (traces, exact) = (estimate.file.traces.as_ref()?, truth.file.traces.as_ref()?);
    let with_edge = |path: &&RegionPathRecord| path.blocks.len() > 1;
    let counts = exact.paths.iter().filter(with_edge).filter_map(|path| Some((key(path), path.count?)));
    let counts: BTreeMap<Key, u64> = counts.filter(|of| of.1 > 0).collect();
    if counts.is_empty() {
        return None;
    }
    let weight = |path: &RegionPathRecord| (path.weight * PARTS).round() as u64;
    let weights = traces.paths.iter().map(|path| (key(path), weight(path))).filter(|of| of.1 > 0);
    let weights: BTreeMap<Key, u64> = weights.collect();
    let all = exact.paths.iter().chain(&traces.paths);
    let lengths: BTreeMap<Key, u32> = all.map(|path| (key(path), path.branches.len() as u32)).collect();
    let by = |flow| {
        let length = |path: &Key| lengths.get(path).copied().unwrap_or_default();
        TraceScore {
            flow: FlowScore::of(&wall(&counts, &weights, flow, hot, length)),
            wrong: false_flow(&weights, &counts, hot_share(percent), flow, length),
        }
    };
    Some(TraceScores {
        estimated: weights.len(),
        actual: counts.len(),
        never: weights.keys().filter(|path| !counts.contains_key(*path)).count(),
        rows: [("count", by(Flow::Counts)), ("branch", by(Flow::Branches))],
    })
}

/// The same as text.
pub fn accuracy(estimate: &Profile, truth: &Profile, hot: Share, percent: Percent) -> Option<String> {
    let found = scores(estimate, truth, hot, percent)?;
    let row = |(name, of): (&str, TraceScore)| {
        [&of.flow.columns()[..], &[score(of.wrong), format!("{name} flow")]].concat()
    };
    let mut text = format!(
        "branch traces: Wall weight matching, hot above {} % of the flow; {} with weight, {} in truth\n",
        percent.0,
        counted(found.estimated as u64, "path", "paths"),
        found.actual
    );
    text += &table(&["accuracy", "hot", "found", "their flow", "false", "by"], &found.rows.map(row));
    if found.never > 0 {
        let never = counted(found.never as u64, "path has", "paths have");
        text += &format!("  {never} a weight and were never run\n");
    }
    Some(text)
}

/// The share of the estimated flow on paths that are hot by the estimate and not hot in truth.
fn false_flow(
    weights: &BTreeMap<Key, u64>,
    counts: &BTreeMap<Key, u64>,
    hot: f64,
    flow: Flow,
    length: impl Fn(&Key) -> u32,
) -> Option<f64> {
    let of = |path: &Key, count: u64| match flow {
        Flow::Counts => count as f64,
        Flow::Branches => count as f64 * f64::from(length(path)),
    };
    let sum = |all: &BTreeMap<Key, u64>| all.iter().map(|(path, &count)| of(path, count)).sum::<f64>();
    let (estimated, actual) = (sum(weights), sum(counts));
    let is_false = |&(path, &weight): &(&Key, &u64)| {
        let truth = counts.get(path).map_or(0.0, |&count| of(path, count));
        of(path, weight) > hot * estimated && truth <= hot * actual
    };
    let flow = weights.iter().filter(is_false).fold(0.0, |sum, (path, &weight)| sum + of(path, weight));
    (estimated > 0.0).then(|| flow / estimated)
}

/// The weights add up to the samples of the pieces that were matched.
pub fn weights(profile: &Profile) -> Result<Vec<String>, &'static str> {
    let Some(traces) = &profile.file.traces else { return Err("needs `btb`") };
    let mut wrong = Vec::new();
    let sum: f64 = traces.paths.iter().map(|path| path.weight).sum();
    if (sum - traces.flow as f64).abs() > 1e-6 * traces.flow as f64 {
        wrong.push(format!("weights add up to {sum}, and {} samples were matched", traces.flow));
    }
    let runs: u64 = traces.runs.iter().map(|run| run.count).sum();
    if runs < traces.samples {
        wrong.push(format!("{} samples have {runs} runs", traces.samples));
    }
    if traces.matches < traces.partials {
        wrong.push(format!("{} pieces have {} matches", traces.partials, traces.matches));
    }
    Ok(wrong)
}
