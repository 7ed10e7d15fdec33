//! Calls in the file of a profile: each with the place of its site, so that a reader needs no other table than that of methods.

use super::calls::SampledCalls;
use super::collect::{Collected, FoundCalls};
use super::credit::CreditedCalls;
use super::file::PlaceRecord;
use super::listeners::HeardCalls;
use super::moments::CallMoment;
use holloway_profilers::calls::{Burst, CachedCalls, CallEdge, CallGraph, ContextTree};
use holloway_profilers::schedule::Counts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Call profiles.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CallRecords {
    /// How often methods called others, exactly, in all tiers.
    pub exact: Option<Vec<CallRecord>>,
    /// How often this was seen, in samples.
    pub sampled: Option<CallSampleRecord>,
    /// The same with credit for inlined calls.
    #[serde(default)]
    pub credited: Option<CreditRecord>,
    /// What listeners heard of methods that had just been optimized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<HeardRecord>,
    /// What inline caches counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<CacheRecord>,
    /// Estimates as they were while the program ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTimeRecord>,
}

/// What `oneshot` heard.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HeardRecord {
    /// Calls, as often as they were heard.
    pub calls: Vec<CallRecord>,
    /// Entries of methods that nobody called.
    pub roots: u64,
    /// The bursts, one for each method that was listened to.
    pub bursts: Vec<BurstRecord>,
    /// Nanoseconds that the program ran.
    pub run: u64,
}

/// The burst of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BurstRecord {
    /// The number of the method.
    pub method: u32,
    /// Entries that were heard.
    pub entries: u64,
    /// When the listener was put in, in nanoseconds since the program began.
    pub since: u64,
    /// When it heard the last entry of the burst; null if it was there to the end.
    pub until: Option<u64>,
}

/// What `icache` counted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CacheRecord {
    /// Calls whose targets had entries.
    pub calls: Vec<CallRecord>,
    /// Calls of targets for which there was no room, by site.
    pub lost: Vec<LostRecord>,
}

/// Calls from a site of which no more is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostRecord {
    /// Where the call is.
    #[serde(flatten)]
    pub site: PlaceRecord,
    /// How often.
    pub count: u64,
}

/// Estimates as they were while the program ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OverTimeRecord {
    /// The calls that moments refer to.
    pub calls: Vec<PairRecord>,
    /// The moments, the earliest first.
    pub moments: Vec<MomentRecord>,
}

/// A call without a count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PairRecord {
    /// Where the call is.
    #[serde(flatten)]
    pub site: PlaceRecord,
    /// The number of the method that is called.
    pub callee: u32,
}

/// A moment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MomentRecord {
    /// How many ticks there were before.
    pub ticks: u64,
    /// Samples so far, if `cbs` ran: calls, by their positions in the list, and counts.
    pub sampled: Option<Vec<(u32, u64)>>,
    /// The same with credit for inlined calls, if any was asked for and could be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credited: Option<Vec<(u32, u64)>>,
    /// Estimates by the rates of bursts, if `oneshot` ran, likewise.
    pub heard: Option<Vec<(u32, u64)>>,
}

/// Sampled calls with credit for those that are inlined.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CreditRecord {
    /// All calls, in samples.
    pub calls: Vec<CallRecord>,
    /// How much of that is credit.
    pub weight: u64,
    /// The samples of calls, and of paths that passed them, by whose ratio samples of paths were weighted.
    pub scale: (u64, u64),
}

/// Calls of a method from a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallRecord {
    /// Where the call is.
    #[serde(flatten)]
    pub site: PlaceRecord,
    /// The number of the method that is called.
    pub callee: u32,
    /// How often.
    pub count: u64,
}

/// What `cbs` saw.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CallSampleRecord {
    /// Calls, in samples.
    pub calls: Vec<CallRecord>,
    /// Calling contexts, each behind that of its caller; null if contexts were not asked for.
    pub contexts: Option<Vec<ContextRecord>>,
    /// Windows, samples, overruns.
    pub window: Counts,
    /// Samples of methods that nobody called.
    pub roots: u64,
}

/// A method that was called in a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ContextRecord {
    /// The context of the caller, by its position in the list; null where no more is known.
    pub parent: Option<u32>,
    /// The site of the call in the caller's method; null like the parent.
    pub site: Option<PlaceRecord>,
    /// The number of the method.
    pub method: u32,
    /// Samples in which it is the innermost.
    pub count: u64,
}

/// The records of what was found; `place` knows the lines of instructions, and hears of each method that is mentioned.
pub(super) fn records(found: &Collected, place: &mut dyn FnMut(u32, u32) -> PlaceRecord) -> CallRecords {
    let credited = found.credited_calls.as_ref().map(|CreditedCalls { graph, credit }| {
        let (weight, scale) = (credit.weight, credit.scale);
        CreditRecord { calls: calls(graph, place), weight, scale }
    });
    let over_time = (!found.call_moments.is_empty()).then(|| over_time(&found.call_moments, place));
    CallRecords { credited, over_time, ..records_of(&found.calls, place) }
}

/// The records of what all found, or of what a thread found.
pub(super) fn records_of(found: &FoundCalls, place: &mut dyn FnMut(u32, u32) -> PlaceRecord) -> CallRecords {
    let exact = found.exact.as_ref().map(|graph| calls(graph, place));
    let sampled = found.sampled.as_ref().map(|SampledCalls { graph, contexts: tree, window, roots }| {
        let contexts = tree.as_ref().map(|tree| contexts(tree, place));
        CallSampleRecord { calls: calls(graph, place), contexts, window: *window, roots: *roots }
    });
    let heard = found.heard.as_ref().map(|found| heard(found, place));
    let cached = found.cached.as_ref().map(|found| cached(found, place));
    CallRecords { exact, sampled, credited: None, heard, cached, over_time: None }
}

fn heard(found: &HeardCalls, place: &mut dyn FnMut(u32, u32) -> PlaceRecord) -> HeardRecord {
    let HeardCalls { graph, roots, bursts, run } = found;
    let bursts = bursts.iter().map(|&(method, burst)| {
        place(method.0, 0);
        let Burst { since, until, entries } = burst;
        BurstRecord { method: method.0, entries, since, until }
    });
    let bursts = bursts.collect();
    HeardRecord { calls: calls(graph, place), roots: *roots, bursts, run: *run }
}

fn cached(found: &CachedCalls, place: &mut dyn FnMut(u32, u32) -> PlaceRecord) -> CacheRecord {
    let lost = found.lost.iter();
    let lost = lost.map(|(site, &count)| LostRecord { site: place(site.caller.0, site.position), count });
    let lost = lost.collect();
    CacheRecord { calls: calls(&found.graph, place), lost }
}

fn over_time(moments: &[CallMoment], place: &mut dyn FnMut(u32, u32) -> PlaceRecord) -> OverTimeRecord {
    let graphs = moments.iter().flat_map(|moment| [&moment.sampled, &moment.credited, &moment.heard]);
    let graphs = graphs.flatten();
    let edges: BTreeMap<CallEdge, u32> =
        graphs.flat_map(CallGraph::edges).map(|(edge, _)| (edge, 0)).collect();
    let edges: BTreeMap<CallEdge, u32> = edges.into_keys().zip(0..).collect();
    let counts = |graph: &CallGraph| -> Vec<(u32, u64)> {
        graph.edges().into_iter().map(|(edge, count)| (edges[&edge], count)).collect()
    };
    let moment = |CallMoment { ticks, sampled, credited, heard }: &CallMoment| MomentRecord {
        ticks: *ticks,
        sampled: sampled.as_ref().map(counts),
        credited: credited.as_ref().map(counts),
        heard: heard.as_ref().map(counts),
    };
    let moments = moments.iter().map(moment).collect();
    let pair = |edge: &CallEdge| {
        place(edge.callee.0, 0);
        PairRecord { site: place(edge.site.caller.0, edge.site.position), callee: edge.callee.0 }
    };
    OverTimeRecord { calls: edges.keys().map(pair).collect(), moments }
}

fn calls(graph: &CallGraph, place: &mut dyn FnMut(u32, u32) -> PlaceRecord) -> Vec<CallRecord> {
    let record = |(edge, count): (holloway_profilers::calls::CallEdge, u64)| {
        let callee = edge.callee.0;
        place(callee, 0);
        CallRecord { site: place(edge.site.caller.0, edge.site.position), callee, count }
    };
    graph.edges().into_iter().filter(|&(_, count)| count > 0).map(record).collect()
}

fn contexts(tree: &ContextTree, place: &mut dyn FnMut(u32, u32) -> PlaceRecord) -> Vec<ContextRecord> {
    let methods: Vec<u32> = tree.nodes().map(|node| node.method.0).collect();
    let record = |node: holloway_profilers::calls::Context| {
        place(node.method.0, 0);
        let site = node.parent.map(|parent| place(methods[parent as usize], node.position));
        ContextRecord { parent: node.parent, site, method: node.method.0, count: node.weight }
    };
    tree.nodes().map(record).collect()
}
