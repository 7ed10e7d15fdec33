//! `holloway profile accuracy`: every metric of section 6 of Bond & McKinley 2005, between an estimate and exact counts, and Shye's
//! flow beside theirs.

use super::calls;
use super::load::load;
use super::metrics::{EdgeScore, edge_score, lengths, named, weight_matching};
use super::model::{Origin, Profile};
use super::subpaths;
use super::text::{counted, score, table};
use super::traces;
use crate::options::{AccuracyArguments, Percent};
use crate::report::Stop;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::metrics::{Flow, Matching, Share};
use std::collections::BTreeSet;

/// Parts of the whole in which the threshold is expressed.
const PARTS: u64 = 100_000_000;

/// The scores as text.
pub fn accuracy(arguments: &AccuracyArguments) -> Result<String, Stop> {
    let load = |file| load(file, arguments.thread);
    let sampled = load(&arguments.sampled)?;
    let exact = arguments.exact.as_deref().map(load).transpose()?;
    let truth = exact.as_ref().unwrap_or(&sampled);
    if let Some(exact) = &exact {
        super::diff::same_program(&sampled, exact)?;
    }
    let hot = share(arguments.hot)?;
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
        true => Err(Stop::usage(format_args!(
            "there is nothing to compare: {} has no exact counts of what {} has estimates of",
            arguments.exact.as_ref().unwrap_or(&arguments.sampled).display(),
            arguments.sampled.display()
        ))),
    }
}

/// A percentage as a fraction of whole numbers.
pub fn share(percent: Percent) -> Result<Share, Stop> {
    Share::new((percent.0 / 100.0 * PARTS as f64).round() as u64, PARTS).map_err(Stop::usage)
}

/// The same as a number.
pub fn hot_share(percent: Percent) -> f64 {
    percent.0 / 100.0
}

/// Wall's weight matching, by both flows. Nothing if one side has no paths.
pub fn paths(estimate: &Profile, truth: &Profile, hot: Share, percent: Percent) -> Option<String> {
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
    let mut rows = Vec::new();
    for (name, flow) in [("branch flow", Flow::Branches), ("count flow", Flow::Counts)] {
        let found = weight_matching(&actual, &estimated, &lengths, flow, hot);
        rows.push([&matching(&found)[..], &[name.to_string()]].concat());
    }
    let unknown = estimated.keys().filter(|path| !actual.contains_key(*path)).count();
    let mut text = format!(
        "paths: Wall weight matching, hot above {} % of the flow; {} counted {}, {} in truth\n",
        percent.0,
        counted(estimated.len() as u64, "path", "paths"),
        origin.name(),
        actual.len()
    );
    text += &table(&["accuracy", "hot", "found", "their flow", "by"], &rows);
    if unknown > 0 && origin == Origin::Sampled {
        text +=
            &format!("  {} in samples that no exact count has\n", counted(unknown as u64, "path", "paths"));
    }
    Some(text)
}

/// What a weight matching found, in columns: its accuracy, hot paths, those of them that were found, and their part of the flow.
pub fn matching<K: Ord>(found: &Matching<K>) -> [String; 4] {
    let selected: BTreeSet<&K> = found.selected.iter().collect();
    let matched = found.hot.iter().filter(|path| selected.contains(path)).count();
    let covered = (found.total_flow > 0).then(|| found.hot_flow as f64 / found.total_flow as f64);
    [score(found.accuracy()), found.hot.len().to_string(), matched.to_string(), score(covered)]
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
    let mut estimates: Vec<(&str, EdgeProfile)> = Vec::new();
    if let Some(sampled) = &estimate.file.edges.sampled {
        estimates.push(("sampled", estimate.edges(sampled)));
    } else if !std::ptr::eq(estimate, truth)
        && (estimate.exact().is_some() || estimate.file.edges.exact.is_some())
    {
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
