//! How good estimates of calls are: the overlap of Arnold & Grove (CGO 2005, section 6.2), in the end and over time.

use super::super::model::Profile;
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

/// The overlap of each estimate, from 0 to 1, by short names.
pub fn scores(estimate: &Profile, truth: &Profile) -> BTreeMap<&'static str, f64> {
    let Some(actual) = exact(truth) else { return BTreeMap::new() };
    let mut estimated = estimates(estimate);
    if estimated.is_empty() && !std::ptr::eq(estimate, truth) {
        estimated.extend(exact(estimate).map(|graph| (EXACTLY, graph)));
    }
    let name = |origin: &str| match origin {
        IN_SAMPLES => "sampled",
        CREDITED => "credited",
        AT_RATES => "rated",
        IN_BURSTS => "heard",
        IN_CACHES => "cached",
        _ => "exact",
    };
    estimated.iter().map(|(origin, graph)| (name(origin), overlap(graph, &actual) / 100.0)).collect()
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

/// Estimates as they were while the program ran, against what is known in the end.
fn over_time(profile: &Profile, record: &OverTimeRecord, actual: &CallGraph) -> String {
    let graph = |counts: &[(u32, u64)]| -> CallGraph {
        let edge = |&(at, count): &(u32, u64)| {
            let of = record.calls.get(at as usize)?;
            let (caller, callee) = (MethodId(of.site.method), MethodId(of.callee));
            Some((CallEdge::new(caller, of.site.position, callee), count))
        };
        counts.iter().filter_map(edge).collect()
    };
    type Counts = fn(&MomentRecord) -> Option<&[(u32, u64)]>;
    let sources: [(&str, Counts); 2] =
        [(IN_SAMPLES, |moment| moment.sampled.as_deref()), (AT_RATES, |moment| moment.heard.as_deref())];
    let last = profile.file.calls.sampled.as_ref().map(|sampled| sampled.window.ticks);
    let mut text = String::new();
    for (origin, counts) in sources {
        let Some((_, end)) = estimates(profile).into_iter().find(|of| of.0 == origin) else { continue };
        let mut series = Convergence::new(actual);
        let mut rows = Vec::new();
        for moment in &record.moments {
            let Some(counts) = counts(moment) else { continue };
            let graph = graph(counts);
            let overlap = series.observe(moment.ticks, &graph);
            rows.push(vec![moment.ticks.to_string(), shown(overlap), graph.len().to_string()]);
        }
        let at_end = series.observe(last.unwrap_or(u64::MAX), &end);
        rows.push(vec!["all".into(), shown(at_end), end.len().to_string()]);
        text += &format!("\ncalls over time, counted {origin}\n");
        text += &table(&["ticks", "overlap", "calls"], &rows);
        let reached = REACHED.iter().filter_map(|&least| {
            let ticks = series.reaches(least)?;
            let when = if ticks == u64::MAX { "the end".into() } else { format!("tick {ticks}") };
            Some(format!("{least} % from {when}"))
        });
        let reached: Vec<String> = reached.collect();
        if !reached.is_empty() {
            text += &format!("  stays at {}\n", reached.join(", "));
        }
    }
    text
}
