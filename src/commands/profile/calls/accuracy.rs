//! How good estimates of calls are: the overlap of Arnold & Grove (CGO 2005, section 6.2), in the end and over time.

use super::super::model::Profile;
use super::super::scores::Series;
use super::super::text::{percent, score, table};
use super::{AT_RATES, CREDITED, EXACTLY, IN_BURSTS, IN_CACHES, IN_SAMPLES, estimates, exact, tree};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallEdge, CallGraph, CallSite, Convergence, context_overlap, overlap};
use holloway_vm::profiling::{MomentRecord, OverTimeRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Overlaps, in percent, of which it is said when they are reached for good.
const REACHED: [f64; 6] = [50.0, 60.0, 70.0, 80.0, 85.0, 90.0];

fn shown(percent: f64) -> String {
    score(Some(percent / 100.0))
}

/// Overlap of all estimates of calls (or exact counts of another run) with the exact ones. Nothing if one side has none.
pub fn accuracy(estimate: &Profile, truth: &Profile) -> Option<String> {
    let same = std::ptr::eq(estimate, truth);
    let actual = exact(truth)?;
    let mut estimated = estimates(estimate);
    if estimated.is_empty() && !same {
        estimated.push((EXACTLY, exact(estimate)?));
    }
    if estimated.is_empty() {
        return None;
    }
    let row = |estimated: &CallGraph, actual: &CallGraph, of: String| {
        let found = actual.edges().into_iter().filter(|&(edge, _)| estimated.weight(edge) > 0);
        let found: Vec<u128> = found.map(|(_, weight)| u128::from(weight)).collect();
        let share = percent(found.iter().sum(), u128::from(actual.total()));
        vec![shown(overlap(estimated, actual)), found.len().to_string(), share, of]
    };
    let mut text = format!(
        "calls: overlap of call graphs (Arnold & Grove), {} different ones in truth\n",
        actual.len(),
    );
    let mut rows = Vec::new();
    for (origin, graph) in &estimated {
        rows.push(row(graph, &actual, (*origin).to_string()));
        if *origin == IN_CACHES {
            let actual = of_sites(&actual, &with_caches(estimate));
            rows.push(row(graph, &actual, format!("{origin}, against the calls from their sites")));
        }
    }
    let contexts = |profile: &Profile| profile.file.calls.sampled.as_ref()?.contexts.as_deref().map(tree);
    if let (false, Some(estimated), Some(actual)) = (same, contexts(estimate), contexts(truth)) {
        let shared = context_overlap(&estimated, &actual);
        rows.push(vec![shown(shared), "-".into(), "-".into(), "contexts, samples of both".into()]);
    }
    text += &table(&["overlap", "found", "their share", "counted"], &rows);
    if let Some(record) = &estimate.file.calls.over_time {
        text += &over_time(estimate, record, &actual);
    }
    Some(text)
}

/// How estimates are called in JSON.
fn short(origin: &str) -> &'static str {
    match origin {
        IN_SAMPLES => "sampled",
        CREDITED => "credited",
        AT_RATES => "rated",
        IN_BURSTS => "heard",
        IN_CACHES => "cached",
        _ => "exact",
    }
}

/// The overlap of each estimate, from 0 to 1, by short names.
pub fn scores(estimate: &Profile, truth: &Profile) -> BTreeMap<&'static str, f64> {
    let Some(actual) = exact(truth) else { return BTreeMap::new() };
    let mut estimated = estimates(estimate);
    if estimated.is_empty() && !std::ptr::eq(estimate, truth) {
        estimated.extend(exact(estimate).map(|graph| (EXACTLY, graph)));
    }
    estimated.iter().map(|(origin, graph)| (short(origin), overlap(graph, &actual) / 100.0)).collect()
}

/// The sites whose caches counted something.
fn with_caches(profile: &Profile) -> BTreeSet<CallSite> {
    let caches = profile.file.calls.cached.iter();
    let places = caches.flat_map(|cached| {
        let calls = cached.calls.iter().map(|of| of.site);
        calls.chain(cached.lost.iter().map(|of| of.site))
    });
    places.map(|place| CallSite { caller: MethodId(place.method), position: place.position }).collect()
}

fn of_sites(graph: &CallGraph, sites: &BTreeSet<CallSite>) -> CallGraph {
    graph.edges().into_iter().filter(|(edge, _)| sites.contains(&edge.site)).collect()
}

/// What is kept of a kind of estimate at a moment.
type Counts = fn(&MomentRecord) -> Option<&[(u32, u64)]>;

/// The estimates of which snapshots are kept.
const SOURCES: [(&str, Counts); 3] = [
    (CREDITED, |moment| moment.credited.as_deref()),
    (IN_SAMPLES, |moment| moment.sampled.as_deref()),
    (AT_RATES, |moment| moment.heard.as_deref()),
];

/// How an estimate came about.
struct Course {
    origin: &'static str,
    /// When, the overlap in percent, and how many calls were known. The last is the end.
    rows: Vec<(u64, f64, usize)>,
    /// Overlaps that were reached for good, and when.
    reached: Vec<(f64, u64)>,
}

/// Estimates as they were while the program ran, against what is known in the end.
fn courses(profile: &Profile, record: &OverTimeRecord, actual: &CallGraph) -> Vec<Course> {
    let graph = |counts: &[(u32, u64)]| -> CallGraph {
        let edge = |&(at, count): &(u32, u64)| {
            let of = record.calls.get(at as usize)?;
            let (caller, callee) = (MethodId(of.site.method), MethodId(of.callee));
            Some((CallEdge::new(caller, of.site.position, callee), count))
        };
        counts.iter().filter_map(edge).collect()
    };
    let last = profile.file.calls.sampled.as_ref().map(|sampled| sampled.window.ticks);
    let course = |&(origin, counts): &(&'static str, Counts)| {
        let (_, end) = estimates(profile).into_iter().find(|of| of.0 == origin)?;
        let mut series = Convergence::new(actual);
        let mut observe = |ticks, graph: &CallGraph| (ticks, series.observe(ticks, graph), graph.len());
        let mut rows: Vec<(u64, f64, usize)> = Vec::new();
        for moment in &record.moments {
            rows.extend(counts(moment).map(|counts| observe(moment.ticks, &graph(counts))));
        }
        rows.push(observe(last.unwrap_or(u64::MAX), &end));
        let reached = REACHED.iter().filter_map(|&least| Some((least, series.reaches(least)?))).collect();
        Some(Course { origin, rows, reached })
    };
    SOURCES.iter().filter_map(course).collect()
}

/// The same as text.
fn over_time(profile: &Profile, record: &OverTimeRecord, actual: &CallGraph) -> String {
    let mut text = String::new();
    for Course { origin, rows, reached } in courses(profile, record, actual) {
        let end = rows.len() - 1;
        let row = |(at, &(ticks, overlap, calls)): (usize, &(u64, f64, usize))| {
            let when = if at == end { "all".into() } else { ticks.to_string() };
            vec![when, shown(overlap), calls.to_string()]
        };
        let rows: Vec<Vec<String>> = rows.iter().enumerate().map(row).collect();
        text += &format!("\ncalls over time, counted {origin}\n");
        text += &table(&["ticks", "overlap", "calls"], &rows);
        let reached = reached.iter().map(|&(least, ticks)| {
            let when = if ticks == u64::MAX { "the end".into() } else { format!("tick {ticks}") };
            format!("{least} % from {when}")
        });
        let reached: Vec<String> = reached.collect();
        if !reached.is_empty() {
            text += &format!("  stays at {}\n", reached.join(", "));
        }
    }
    text
}

/// The same as numbers, by short names. Without ticks of samples the end has none, and is left out.
pub fn series(profile: &Profile, truth: &Profile) -> BTreeMap<&'static str, Series> {
    let (Some(record), Some(actual)) = (&profile.file.calls.over_time, exact(truth)) else {
        return BTreeMap::new();
    };
    let series = |course: Course| {
        let mut series = Series::default();
        for (ticks, overlap, calls) in course.rows.into_iter().filter(|row| row.0 != u64::MAX) {
            series.ticks.push(ticks);
            series.overlap.push(overlap / 100.0);
            series.calls.push(calls);
        }
        (short(course.origin), series)
    };
    courses(profile, record, &actual).into_iter().map(series).collect()
}
