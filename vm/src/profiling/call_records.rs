//! Calls in the file of a profile: each with the place of its site, so that a reader needs no other table than that of methods.

use super::calls::{CreditedCalls, SampledCalls};
use super::collect::Collected;
use super::file::PlaceRecord;
use holloway_profilers::calls::{CallGraph, ContextTree};
use holloway_profilers::schedule::Counts;
use serde::{Deserialize, Serialize};

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
    let exact = found.calls.as_ref().map(|graph| calls(graph, place));
    let sampled =
        found.sampled_calls.as_ref().map(|SampledCalls { graph, contexts: tree, window, roots }| {
            let contexts = tree.as_ref().map(|tree| contexts(tree, place));
            CallSampleRecord { calls: calls(graph, place), contexts, window: *window, roots: *roots }
        });
    let credited = found.credited_calls.as_ref().map(|CreditedCalls { graph, credit }| {
        let (weight, scale) = (credit.weight, credit.scale);
        CreditRecord { calls: calls(graph, place), weight, scale }
    });
    CallRecords { exact, sampled, credited }
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
