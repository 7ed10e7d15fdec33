//! Call graphs of profiles: the hottest calls, what changed between two of them; in [`accuracy`] how good estimates are, in [`rules`]
//! what must hold.

mod accuracy;
pub mod rules;

pub use accuracy::{accuracy, scores, series};

use super::model::Profile;
use super::text::{counted, percent, score, table};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{Burst, CallEdge, CallGraph, ContextTree, Frame, overlap, rated};
use holloway_vm::profiling::file::PlaceRecord;
use holloway_vm::profiling::{BurstRecord, CallRecord, ContextRecord, HeardRecord};
use std::collections::BTreeMap;

/// How calls were counted.
pub const EXACTLY: &str = "exactly, in all tiers";
/// See [`EXACTLY`].
pub const IN_SAMPLES: &str = "in samples, by cbs";
/// See [`EXACTLY`].
const CREDITED: &str = "in samples, by cbs, inlined ones credited by paths";
/// See [`EXACTLY`].
const AT_RATES: &str = "in bursts, by oneshot, at the rates of these";
/// See [`EXACTLY`].
const IN_BURSTS: &str = "in bursts, by oneshot, as often as heard";
/// See [`EXACTLY`].
const IN_CACHES: &str = "in inline caches, by icache";

/// Records as a graph.
pub fn graph(records: &[CallRecord]) -> CallGraph {
    let edge =
        |of: &CallRecord| CallEdge::new(MethodId(of.site.method), of.site.position, MethodId(of.callee));
    records.iter().map(|of| (edge(of), of.count)).collect()
}

/// Exact calls.
pub fn exact(profile: &Profile) -> Option<CallGraph> {
    profile.file.calls.exact.as_deref().map(graph)
}

/// Sampled calls.
pub fn sampled(profile: &Profile) -> Option<CallGraph> {
    profile.file.calls.sampled.as_ref().map(|sampled| graph(&sampled.calls))
}

/// Heard calls, each as often as it was made if methods were always entered as often as in their bursts.
fn at_rates(heard: &HeardRecord) -> CallGraph {
    let burst = |&BurstRecord { method, entries, since, until }: &BurstRecord| {
        (method, Burst { since, until, entries })
    };
    let bursts: BTreeMap<u32, Burst> = heard.bursts.iter().map(burst).collect();
    rated(&graph(&heard.calls), heard.run, |method| bursts.get(&method.0).copied())
}

/// All estimates of calls, the best first, and how they were counted.
pub fn estimates(profile: &Profile) -> Vec<(&'static str, CallGraph)> {
    let calls = &profile.file.calls;
    let heard = calls.heard.as_ref();
    let all = [
        // Where calls are inlined, samples alone are of the others.
        (CREDITED, calls.credited.as_ref().map(|of| graph(&of.calls))),
        (IN_SAMPLES, sampled(profile)),
        (AT_RATES, heard.map(at_rates)),
        (IN_BURSTS, heard.map(|heard| graph(&heard.calls))),
        (IN_CACHES, calls.cached.as_ref().map(|cached| graph(&cached.calls))),
    ];
    all.into_iter().filter_map(|(origin, graph)| Some((origin, graph?))).collect()
}

/// The best calls that there are, and how they were counted.
pub fn best(profile: &Profile) -> Option<(&'static str, CallGraph)> {
    let exact = exact(profile).map(|graph| (EXACTLY, graph));
    exact.or_else(|| estimates(profile).into_iter().next())
}

/// Where the sites are.
pub fn places(profile: &Profile) -> BTreeMap<(u32, u32), PlaceRecord> {
    let calls = &profile.file.calls;
    let records = calls.exact.iter().flatten();
    let records = records.chain(calls.sampled.iter().flat_map(|sampled| &sampled.calls));
    let records = records.chain(calls.credited.iter().flat_map(|credited| &credited.calls));
    let records = records.chain(calls.heard.iter().flat_map(|heard| &heard.calls));
    let records = records.chain(calls.cached.iter().flat_map(|cached| &cached.calls));
    records.map(|of| ((of.site.method, of.site.position), of.site)).collect()
}

/// A call in words.
pub fn name(profile: &Profile, places: &BTreeMap<(u32, u32), PlaceRecord>, edge: CallEdge) -> String {
    let (caller, callee) = (profile.method(edge.site.caller.0), profile.method(edge.callee.0));
    match places.get(&(edge.site.caller.0, edge.site.position)) {
        Some(place) => format!("{caller}:{} -> {callee}", place.line),
        None => format!("{caller}@{} -> {callee}", edge.site.position),
    }
}

/// Calling contexts as a tree.
pub fn tree(contexts: &[ContextRecord]) -> ContextTree {
    let mut tree = ContextTree::new();
    for (at, of) in contexts.iter().enumerate().filter(|(_, of)| of.count > 0) {
        tree.add(&stack(contexts, at), of.count);
    }
    tree
}

/// The frames of a context, from the outermost.
pub fn stack(contexts: &[ContextRecord], leaf: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    let (mut at, mut position) = (Some(leaf), 0);
    while let Some(of) = at.and_then(|at| contexts.get(at)) {
        frames.push(Frame { method: MethodId(of.method), position });
        (at, position) = (of.parent.map(|parent| parent as usize), of.site.map_or(0, |site| site.position));
    }
    frames.reverse();
    frames
}

/// The hottest `top` calls.
pub fn calls(profile: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> String {
    let Some((origin, graph)) = best(profile) else {
        return "calls: not counted\n".to_string();
    };
    let total = u128::from(graph.total());
    let mut text = format!(
        "calls: {}, made {}, counted {origin}\n",
        counted(graph.len() as u64, "different one", "different ones"),
        counted(total, "time", "times"),
    );
    let places = places(profile);
    let mut ranked = graph.by_weight();
    ranked.retain(|(edge, _)| wanted(edge.site.caller.0) || wanted(edge.callee.0));
    let mut estimates = if origin == EXACTLY { estimates(profile) } else { Vec::new() };
    estimates.retain(|(origin, _)| *origin != IN_BURSTS);
    let row = |&(edge, count): &(CallEdge, u64)| {
        let mut row = vec![percent(u128::from(count), total), count.to_string()];
        for (_, graph) in &estimates {
            row.push(percent(u128::from(graph.weight(edge)), u128::from(graph.total())));
        }
        row.push(name(profile, &places, edge));
        row
    };
    let rows: Vec<Vec<String>> = ranked.iter().take(top).map(row).collect();
    if !rows.is_empty() {
        let of = |&(origin, _): &(&str, CallGraph)| match origin {
            CREDITED => "with credit",
            IN_SAMPLES => "of samples",
            AT_RATES => "by bursts",
            _ => "of caches",
        };
        let mut headings = vec!["share", "times"];
        headings.extend(estimates.iter().map(of));
        headings.push("call");
        text += &table(&headings, &rows);
    }
    if ranked.len() > top {
        text += &format!("  {} more\n", ranked.len() - top);
    }
    text
}

/// The calls whose shares differ most. Nothing if neither profile has any.
pub fn diff(before: &Profile, after: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> Option<String> {
    let (old, new) = (best(before), best(after));
    if old.is_none() && new.is_none() {
        return None;
    }
    let (Some((one, old)), Some((other, new))) = (old, new) else {
        return Some("calls: not in both profiles\n".to_string());
    };
    let how = if one == other {
        format!("counted {one}")
    } else {
        format!("counted {one} before and {other} after")
    };
    let text = format!("calls: overlap {}, {how}\n", score(Some(overlap(&old, &new) / 100.0)));
    let share = |graph: &CallGraph, edge: CallEdge| match graph.total() {
        0 => 0.0,
        total => graph.weight(edge) as f64 / total as f64,
    };
    let mut edges: Vec<CallEdge> = old.edges().into_iter().chain(new.edges()).map(|(edge, _)| edge).collect();
    edges.sort();
    edges.dedup();
    edges.retain(|edge| wanted(edge.site.caller.0) || wanted(edge.callee.0));
    let changes = edges.into_iter().map(|edge| (share(&old, edge), share(&new, edge), edge));
    let changes = super::diff::ranked(changes.collect());
    let mut known = places(before);
    known.extend(places(after));
    let row = |&(was, is, edge): &(f64, f64, CallEdge)| {
        let mut row = Vec::from(super::diff::change(was, is));
        let profile = if exists(after, edge) { after } else { before };
        row.push(name(profile, &known, edge));
        row
    };
    let headings = ["change", "before", "after", "of all calls"];
    Some(text + &super::diff::listed(&changes, top, &headings, "no call has another share", row))
}

/// Does the profile know the names of both methods.
fn exists(profile: &Profile, edge: CallEdge) -> bool {
    let known = |id: MethodId| profile.file.methods.iter().any(|method| method.id == id.0);
    known(edge.site.caller) && known(edge.callee)
}
