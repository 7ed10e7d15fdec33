//! Call graphs of profiles: the hottest calls, what changed between two of them, how good the sampled one is.

use super::model::Profile;
use super::text::{counted, percent, score, table};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallEdge, CallGraph, ContextTree, Frame, context_overlap, overlap};
use holloway_vm::profiling::file::PlaceRecord;
use holloway_vm::profiling::{CallRecord, ContextRecord};
use std::collections::BTreeMap;

/// How calls were counted.
pub const EXACTLY: &str = "exactly, in all tiers";
/// See [`EXACTLY`].
pub const IN_SAMPLES: &str = "in samples, by cbs";

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

/// The best calls that there are, and how they were counted.
pub fn best(profile: &Profile) -> Option<(&'static str, CallGraph)> {
    exact(profile).map(|graph| (EXACTLY, graph)).or_else(|| Some((IN_SAMPLES, sampled(profile)?)))
}

/// Where the sites are.
pub fn places(profile: &Profile) -> BTreeMap<(u32, u32), PlaceRecord> {
    let calls = &profile.file.calls;
    let records = calls.exact.iter().flatten();
    let records = records.chain(calls.sampled.iter().flat_map(|sampled| &sampled.calls));
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
    let samples = if origin == EXACTLY { sampled(profile) } else { None };
    let row = |&(edge, count): &(CallEdge, u64)| {
        let mut row = vec![percent(u128::from(count), total), count.to_string()];
        if let Some(samples) = &samples {
            row.push(percent(u128::from(samples.weight(edge)), u128::from(samples.total())));
        }
        row.push(name(profile, &places, edge));
        row
    };
    let rows: Vec<Vec<String>> = ranked.iter().take(top).map(row).collect();
    if !rows.is_empty() {
        let headings: &[&str] = match samples {
            Some(_) => &["share", "times", "of samples", "call"],
            None => &["share", "times", "call"],
        };
        text += &table(headings, &rows);
    }
    if ranked.len() > top {
        text += &format!("  {} more\n", ranked.len() - top);
    }
    text
}

/// Overlap of the sampled calls (or exact ones of another run) with the exact ones. Nothing if one side has none.
pub fn accuracy(estimate: &Profile, truth: &Profile) -> Option<String> {
    let same = std::ptr::eq(estimate, truth);
    let actual = exact(truth)?;
    let (origin, estimated) = match sampled(estimate) {
        Some(sampled) => (IN_SAMPLES, sampled),
        None if !same => (EXACTLY, exact(estimate)?),
        None => return None,
    };
    let shown = |percent: f64| score(Some(percent / 100.0));
    let row = |estimated: &CallGraph, of: &str| {
        let found = actual.edges().into_iter().filter(|&(edge, _)| estimated.weight(edge) > 0);
        let found: Vec<u128> = found.map(|(_, weight)| u128::from(weight)).collect();
        let share = percent(found.iter().sum(), u128::from(actual.total()));
        vec![shown(overlap(estimated, &actual)), found.len().to_string(), share, of.to_string()]
    };
    let mut text = format!(
        "calls: overlap of call graphs (Arnold & Grove); {} counted {origin}, {} in truth\n",
        counted(estimated.len() as u64, "different call", "different calls"),
        actual.len(),
    );
    let mut rows = vec![row(&estimated, "calls")];
    if let Some(credited) = &estimate.file.calls.credited {
        rows.push(row(&graph(&credited.calls), "calls, inlined ones credited by paths"));
    }
    let contexts = |profile: &Profile| profile.file.calls.sampled.as_ref()?.contexts.as_deref().map(tree);
    if let (false, Some(estimated), Some(actual)) = (same, contexts(estimate), contexts(truth)) {
        let shared = context_overlap(&estimated, &actual);
        rows.push(vec![shown(shared), "-".into(), "-".into(), "contexts, samples of both".into()]);
    }
    text += &table(&["overlap", "found", "their share", "of"], &rows);
    Some(text)
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

/// Rules for `check`: what is wrong, or why a rule does not apply.
pub mod rules {
    use super::{exact, graph, sampled};
    use crate::commands::profile::model::Profile;
    use holloway_vm::profiling::ProfileSpec;

    type Findings = Result<Vec<String>, &'static str>;

    /// The window of calls took the samples, unless some were forgotten.
    pub fn window(profile: &Profile) -> Findings {
        let Some(samples) = &profile.file.calls.sampled else { return Err("needs `cbs`") };
        let spec = |text: &String| match text.parse() {
            Ok(ProfileSpec::Cbs(options)) => Some(options),
            _ => None,
        };
        let decays = profile.file.profilers.iter().find_map(spec).is_some_and(|options| options.decay > 0);
        let sum = u128::from(graph(&samples.calls).total()) + u128::from(samples.roots);
        let taken = u128::from(samples.window.taken);
        let mut wrong = Vec::new();
        if sum > taken || sum < taken && !decays {
            wrong.push(format!("it took {taken}, and calls have {sum}"));
        }
        if samples.window.windows > samples.window.ticks {
            wrong.push(format!("{} windows after {} ticks", samples.window.windows, samples.window.ticks));
        }
        if let Some(contexts) = &samples.contexts {
            let sum = contexts.iter().map(|context| u128::from(context.count)).sum::<u128>();
            if sum + u128::from(samples.roots) != taken {
                wrong.push(format!("it took {taken}, and contexts have {sum}"));
            }
        }
        Ok(wrong)
    }

    /// What was sampled was called: at least as often where each call is one opportunity, and at all where it may be two.
    pub fn sampled_was_called(profile: &Profile) -> Findings {
        let (Some(sampled), Some(exact)) = (sampled(profile), exact(profile)) else {
            return Err("needs `calls` and `cbs`");
        };
        let places = super::places(profile);
        let more = |&(edge, samples): &(_, u64)| u128::from(samples) > 2 * u128::from(exact.weight(edge));
        let fault = |(edge, samples)| {
            let calls = exact.weight(edge);
            format!("{}: {samples} samples, called {calls} times", super::name(profile, &places, edge))
        };
        Ok(sampled.edges().into_iter().filter(more).map(fault).collect())
    }
}
