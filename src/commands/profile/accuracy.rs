//! `holloway profile accuracy`: every metric of section 6 of Bond & McKinley 2005, between an estimate and exact counts, and Shye's
//! flow beside theirs.

use super::calls;
use super::load::load;
use super::metrics::{EdgeScore, edge_score, lengths, named, weight_matching};
use super::model::{Origin, Profile};
use super::scores::{FlowScore, Scores};
use super::subpaths;
use super::text::{counted, score, table};
use super::traces;
use crate::options::{AccuracyArguments, Percent};
use crate::report::Stop;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::metrics::{Flow, Share};
use std::collections::BTreeMap;

/// Parts of the whole in which the threshold is expressed.
const PARTS: u64 = 100_000_000;

/// The scores as text, or as JSON.
pub fn accuracy(arguments: &AccuracyArguments) -> Result<String, Stop> {
    let load = |file| load(file, arguments.thread);
    let sampled = load(&arguments.sampled)?;
    let exact = arguments.exact.as_deref().map(load).transpose()?;
    let truth = exact.as_ref().unwrap_or(&sampled);
    if let Some(exact) = &exact {
        super::diff::same_program(&sampled, exact)?;
        traces::same_sites(&sampled.file, &exact.file).map_err(|why| {
            let (one, other) = (&arguments.sampled, arguments.exact.as_ref().unwrap_or(&arguments.sampled));
            Stop::usage(format_args!("{} and {} {why}", one.display(), other.display()))
        })?;
    }
    let hot = share(arguments.hot)?;
    if arguments.json {
        return json(arguments, &sampled, truth, hot);
    }
    let parts = [
        paths(&sampled, truth, hot, arguments.hot),
        (!edge_rows(&sampled, truth).is_empty()).then(|| edges(&sampled, truth)),
        calls::accuracy(&sampled, truth),
        traces::accuracy(&sampled, truth, hot, arguments.hot),
        subpaths::accuracy(&sampled, truth),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        false => Ok(parts.join("\n")),
        true => Err(nothing(arguments)),
    }
}

fn nothing(arguments: &AccuracyArguments) -> Stop {
    Stop::usage(format_args!(
        "there is nothing to compare: {} has no exact counts of what {} has estimates of",
        arguments.exact.as_ref().unwrap_or(&arguments.sampled).display(),
        arguments.sampled.display()
    ))
}

/// All scores with all digits.
fn json(
    arguments: &AccuracyArguments,
    sampled: &Profile,
    truth: &Profile,
    hot: Share,
) -> Result<String, Stop> {
    let mut edges: BTreeMap<String, BTreeMap<String, EdgeScore>> = BTreeMap::new();
    for (estimate, reference, score) in edge_rows(sampled, truth) {
        let name = |text: &str| text.replace([' ', '-'], "_");
        edges.entry(name(estimate)).or_default().insert(name(reference), score);
    }
    let (subpaths, hottest_subpaths) =
        subpaths::scores(sampled, truth).map(|found| (found.scores, found.hottest)).unwrap_or_default();
    let window = sampled.file.sampled.as_ref().map(|of| &of.window);
    let scores = Scores {
        format: 1,
        sampled: window.map(|of| [("ticks", of.ticks), ("taken", of.taken)].into()).unwrap_or_default(),
        paths: path_scores(sampled, truth, hot).map(|found| found.rows.into()).unwrap_or_default(),
        edges,
        calls: calls::scores(sampled, truth),
        calls_over_time: calls::series(sampled, truth),
        traces: traces::scores(sampled, truth, hot, arguments.hot)
            .map(|found| found.rows.into())
            .unwrap_or_default(),
        subpaths: subpaths.into_iter().map(|score| (format!("top{}", score.top), score)).collect(),
        hottest_subpaths,
    };
    let is_empty = scores.paths.is_empty()
        && scores.edges.is_empty()
        && scores.calls.is_empty()
        && scores.traces.is_empty()
        && scores.subpaths.is_empty();
    if is_empty {
        return Err(nothing(arguments));
    }
    serde_json::to_string_pretty(&scores).map(|text| text + "\n").map_err(Stop::failure)
}

/// A percentage as a fraction of whole numbers.
pub fn share(percent: Percent) -> Result<Share, Stop> {
    Share::new((percent.0 / 100.0 * PARTS as f64).round() as u64, PARTS).map_err(Stop::usage)
}

/// The same as a number.
pub fn hot_share(percent: Percent) -> f64 {
    percent.0 / 100.0
}

/// What a weight matching of paths found.
struct PathScores {
    origin: Origin,
    estimated: usize,
    actual: usize,
    /// Paths of the estimate that truth does not have.
    unknown: usize,
    /// By flow.
    rows: [(&'static str, FlowScore); 2],
}

/// Wall's weight matching, by both flows. Nothing if one side has no paths.
fn path_scores(estimate: &Profile, truth: &Profile, hot: Share) -> Option<PathScores> {
    let (origin, estimated) = match estimate.sampled() {
        Some(sampled) => sampled,
        // Two exact profiles may be compared, one with itself not.
        None if !std::ptr::eq(estimate, truth) => estimate.exact()?,
        None => return None,
    };
    let (_, actual) = truth.exact()?;
    let (estimated, actual) = (estimate.counts(&estimated), truth.counts(&actual));
    let (estimated, actual) = (named(estimate, &estimated), named(truth, &actual));
    let lengths = lengths(truth, estimate);
    let by = |flow| FlowScore::of(&weight_matching(&actual, &estimated, &lengths, flow, hot));
    Some(PathScores {
        origin,
        estimated: estimated.len(),
        actual: actual.len(),
        unknown: estimated.keys().filter(|path| !actual.contains_key(*path)).count(),
        rows: [("branch", by(Flow::Branches)), ("count", by(Flow::Counts))],
    })
}

/// The same as text.
pub fn paths(estimate: &Profile, truth: &Profile, hot: Share, percent: Percent) -> Option<String> {
    let found = path_scores(estimate, truth, hot)?;
    let rows = found.rows.map(|(name, score)| [&score.columns()[..], &[format!("{name} flow")]].concat());
    let mut text = format!(
        "paths: Wall weight matching, hot above {} % of the flow; {} counted {}, {} in truth\n",
        percent.0,
        counted(found.estimated as u64, "path", "paths"),
        found.origin.name(),
        found.actual
    );
    text += &table(&["accuracy", "hot", "found", "their flow", "by"], &rows);
    if found.unknown > 0 && found.origin == Origin::Sampled {
        let unknown = counted(found.unknown as u64, "path", "paths");
        text += &format!("  {unknown} in samples that no exact count has\n");
    }
    Some(text)
}

/// Estimates and references, with names.
type Row = (&'static str, &'static str, EdgeScore);

/// Every estimate against every reference.
pub fn edge_rows(estimate: &Profile, truth: &Profile) -> Vec<Row> {
    let baseline = estimate.edges(&estimate.file.edges.baseline);
    let mut references: Vec<(&str, EdgeProfile)> = Vec::new();
    if let Some((_, exact)) = truth.exact() {
        references.push(("exact paths", truth.expanded(&exact)));
    }
    if let Some(exact) = &truth.file.edges.exact {
        references.push(("exact edges", truth.edges(exact)));
    }
    references.extend(traces::edges(truth, true).map(|exact| ("paths of regions", exact)));
    let mut estimates: Vec<(&str, EdgeProfile)> = Vec::new();
    let sampled = estimate.file.edges.sampled.as_ref().map(|sampled| ("sampled", estimate.edges(sampled)));
    let traced = traces::edges(estimate, false).map(|traced| ("traced", traced));
    let of_subpaths = estimate.file.edges.subpaths.as_ref().map(|rows| ("subpath", estimate.edges(rows)));
    estimates.extend([sampled, traced, of_subpaths].into_iter().flatten());
    let is_exact = estimate.exact().is_some() || estimate.file.edges.exact.is_some();
    if estimates.is_empty() && !std::ptr::eq(estimate, truth) && is_exact {
        estimates.push(("exact", estimate.best_edges().1));
    }
    if baseline.total() > 0 {
        estimates.push(("one-time", baseline.clone()));
    }
    let mut rows = Vec::new();
    for (name, estimate) in &estimates {
        for (reference, actual) in &references {
            if actual.total() > 0 {
                rows.push((*name, *reference, edge_score(actual, estimate, &baseline)));
            }
        }
    }
    rows
}

/// Overlaps of edges.
pub fn edges(estimate: &Profile, truth: &Profile) -> String {
    let rows: Vec<Vec<String>> = edge_rows(estimate, truth)
        .into_iter()
        .map(|(name, reference, found)| {
            vec![
                score(found.relative),
                score(found.coverage),
                score(found.with_fallback),
                score(found.absolute),
                format!("{name} edges against {reference}"),
            ]
        })
        .collect();
    let mut text = String::from("edges: overlap of biases (relative) and of frequencies (absolute)\n");
    text += &table(&["relative", "coverage", "with fallback", "absolute", "of"], &rows);
    text += "  not seen: each way alike; with fallback: as the interpreter saw it (the one-time profile)\n";
    text
}
