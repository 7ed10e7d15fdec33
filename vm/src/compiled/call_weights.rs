//! Call graphs as an inliner asks them: the weight of a site's targets, and of all.

use super::block_order::Counted;
use super::past::PastProfile;
use super::profile::Profile;
use crate::fingerprint::is_of_program;
use crate::profiling::file::ProfileFile;
use crate::profiling::{CallRecord, Profiling, target};
use holloway_bytecode::cfg::{BlockId, Cfg, EdgeId, EdgeKind, Graph};
use holloway_bytecode::code::decode;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Function, FunctionId, Op, Program};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallEdge, CallGraph, CallSite, SiteTargets};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The calls of a program with their weights.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct CallWeights {
    total: u64,
    sites: BTreeMap<CallSite, SiteTargets>,
    /// How often each method was called.
    called: BTreeMap<MethodId, u64>,
}

/// No call was seen.
pub(super) static NO_CALLS: CallWeights =
    CallWeights { total: 0, sites: BTreeMap::new(), called: BTreeMap::new() };

impl CallWeights {
    /// Of a graph.
    pub fn of(graph: &CallGraph) -> CallWeights {
        let sites: BTreeMap<CallSite, SiteTargets> =
            graph.sites().into_iter().map(|site| (site.site, site)).collect();
        let mut called = BTreeMap::new();
        for &(method, weight) in sites.values().flat_map(|site| &site.targets) {
            let called: &mut u64 = called.entry(method).or_default();
            *called = called.saturating_add(weight);
        }
        CallWeights { total: graph.total(), sites, called }
    }

    /// The weight of all calls.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The methods that were called from a place, the heaviest first.
    pub fn targets(&self, caller: FunctionId, pc: u32) -> &[(MethodId, u64)] {
        let site = CallSite { caller: MethodId(caller.0), position: pc };
        self.sites.get(&site).map_or(&[], |site| &site.targets)
    }

    /// The weight of all calls from a place.
    pub fn of_site(&self, caller: FunctionId, pc: u32) -> u64 {
        self.targets(caller, pc).iter().map(|&(_, weight)| weight).sum()
    }

    /// The weight of all calls of a method.
    pub fn called(&self, method: FunctionId) -> u64 {
        self.called.get(&MethodId(method.0)).copied().unwrap_or(0)
    }

    /// The weight of all calls that a method makes.
    pub fn inside(&self, method: FunctionId) -> u64 {
        let first = CallSite { caller: MethodId(method.0), position: 0 };
        let sites = self.sites.range(first..).take_while(|(site, _)| site.caller == first.caller);
        sites.flat_map(|(_, site)| &site.targets).map(|&(_, weight)| weight).sum()
    }

    /// The heaviest call gets the least weight, and so on.
    pub fn flipped(&self) -> CallWeights {
        let of_site = |site: &SiteTargets| {
            let (MethodId(caller), position) = (site.site.caller, site.site.position);
            let edge = move |&(callee, weight): &(MethodId, u64)| {
                (CallEdge::new(MethodId(caller), position, callee), weight)
            };
            site.targets.iter().map(edge).collect::<Vec<_>>()
        };
        let graph: CallGraph = self.sites.values().flat_map(of_site).collect();
        CallWeights::of(&graph.flipped())
    }
}

/// The calls of another run.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenCalls {
    /// The fingerprint of the program.
    program: String,
    graph: CallGraph,
    weights: Arc<CallWeights>,
}

impl GivenCalls {
    /// The calls of a file that was checked: all of them, or those that `cbs` saw, with credit for inlined ones if there is any.
    /// `Err` says what it lacks.
    pub fn of(file: &ProfileFile, counted: Counted) -> Result<GivenCalls, String> {
        let calls = &file.calls;
        let sampled = || {
            let credited = calls.credited.as_ref().map(|credited| &credited.calls);
            credited.or(calls.sampled.as_ref().map(|sampled| &sampled.calls))
        };
        let (records, lacks) = match counted {
            Counted::Exactly => {
                (calls.exact.as_ref(), "it has no exact calls: they are counted with --profile calls")
            }
            Counted::Sampled => (sampled(), "it has no sampled calls: they are sampled with --profile cbs"),
        };
        Ok(GivenCalls::of_records(file, records.ok_or(lacks)?))
    }

    /// Those that `cbs` saw in a file that was checked, with credit for inlined ones. `Err` says what it lacks.
    pub fn credited(file: &ProfileFile) -> Result<GivenCalls, String> {
        let credited = file.calls.credited.as_ref().ok_or(
            "it has no credit for inlined calls: that is given by --profile pep and --profile cbs:credit=paths",
        )?;
        Ok(GivenCalls::of_records(file, &credited.calls))
    }

    fn of_records(file: &ProfileFile, records: &[CallRecord]) -> GivenCalls {
        let edge = |call: &CallRecord| {
            let (caller, callee) = (MethodId(call.site.method), MethodId(call.callee));
            (CallEdge::new(caller, call.site.position, callee), call.count)
        };
        GivenCalls::new(file.program.fingerprint.clone(), records.iter().map(edge).collect())
    }

    /// Calls of a program.
    pub fn of_program(program: &Program, graph: CallGraph) -> GivenCalls {
        GivenCalls::new(crate::fingerprint::of_program(program), graph)
    }

    fn new(program: String, graph: CallGraph) -> GivenCalls {
        GivenCalls { program, weights: Arc::new(CallWeights::of(&graph)), graph }
    }

    /// The heaviest call gets the least weight, and so on.
    pub fn flipped(self) -> GivenCalls {
        GivenCalls::new(self.program, self.graph.flipped())
    }

    /// Is it a profile of this program.
    pub fn check(&self, program: &Program) -> Result<(), String> {
        is_of_program(&self.program, program)
    }

    /// The calls.
    pub(crate) fn graph(&self) -> &CallGraph {
        &self.graph
    }

    pub(super) fn weights(&self) -> Arc<CallWeights> {
        self.weights.clone()
    }
}

/// The call graph that the interpreter's counters amount to, kept until they say considerably more: a program has many
/// compilations in its first moments.
#[derive(Default, Debug)]
pub(crate) struct OneTimeCalls(Mutex<Kept>);

#[derive(Default, Debug)]
struct Kept {
    /// How much had been called, and what.
    graph: Option<(u64, Arc<CallWeights>)>,
    /// The graphs of those functions that were ever entered.
    flow: BTreeMap<FunctionId, Cfg>,
}

impl OneTimeCalls {
    /// The graph as it is now, or was when half as much had been called.
    pub fn get(&self, program: &Program, past: &PastProfile) -> Arc<CallWeights> {
        let functions = (0..program.functions.len() as u32).map(FunctionId);
        let entries: u64 = functions.map(|function| u64::from(past.invocations(function))).sum();
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &kept.graph {
            Some((then, weights)) if entries <= 2 * then => weights.clone(),
            _ => {
                let weights = Arc::new(CallWeights::of(&counted_calls(program, past, &mut kept.flow)));
                kept.graph = Some((entries, weights.clone()));
                weights
            }
        }
    }
}

/// The call graph that `cbs` has sampled, kept until there are considerably more samples, of calls or of paths that give credit: it takes
/// a while to be put together.
#[derive(Default)]
pub(crate) struct SampledCallWeights(RefCell<Option<(u64, Arc<CallWeights>)>>);

impl SampledCallWeights {
    /// The graph as it is now, or was an eighth of the samples ago.
    pub fn get(&self, profiling: &Profiling) -> Arc<CallWeights> {
        let samples = profiling.samples_of_calls();
        let mut kept = self.0.borrow_mut();
        match &*kept {
            Some((then, weights)) if samples <= then + then / 8 => weights.clone(),
            _ => {
                let graph = profiling.sampled_calls().unwrap_or_default();
                let weights = Arc::new(CallWeights::of(&graph));
                *kept = Some((samples, weights.clone()));
                weights
            }
        }
    }
}

/// All calls that the counters of branches, entries and receivers tell of. A call of one method runs as often as its block; of a
/// call through a table, the receivers say how often which method was called, as far as their classes were kept.
fn counted_calls(program: &Program, past: &PastProfile, flow: &mut BTreeMap<FunctionId, Cfg>) -> CallGraph {
    let mut graph = CallGraph::new();
    for (number, function) in program.functions.iter().enumerate() {
        let caller = FunctionId(number as u32);
        let entered = past.invocations(caller);
        if entered == 0 {
            continue;
        }
        let cfg = &*flow.entry(caller).or_insert_with(|| Cfg::of_function(function));
        let mut blocks = BlockCounts { caller, function, past, cfg, known: vec![None; cfg.block_count()] };
        for block in (0..cfg.block_count() as u32).map(BlockId) {
            for (pc, call) in cfg.instructions(function, block) {
                if call.op.shape() != OpShape::Call || call.op == Op::CallNative {
                    continue;
                }
                let mut add = |callee: FunctionId, count: u64| {
                    graph.add(CallEdge::new(MethodId(caller.0), pc as u32, MethodId(callee.0)), count);
                };
                if call.op == Op::Call {
                    add(FunctionId(call.bc()), blocks.count(block, entered));
                    continue;
                }
                for (class, count) in past.receivers(caller, pc as u32).classes {
                    if let Some(callee) = target(program, caller, pc as u32, class) {
                        add(callee, u64::from(count));
                    }
                }
            }
        }
    }
    graph
}

/// How often the blocks of a function ran.
struct BlockCounts<'a> {
    caller: FunctionId,
    function: &'a Function,
    past: &'a PastProfile,
    cfg: &'a Cfg,
    known: Vec<Option<u64>>,
}

impl BlockCounts<'_> {
    /// Those that end in a branch are counted there; others run as often as control comes to them. A handler's are not known: 0.
    fn count(&mut self, block: BlockId, entered: u32) -> u64 {
        if let Some(known) = self.known[block.index()] {
            return known;
        }
        // A loop without a branch never ends.
        self.known[block.index()] = Some(0);
        let outs: Vec<EdgeId> = self.cfg.out_edges(block).collect();
        let counted: Vec<u64> = outs.iter().filter_map(|&edge| self.arm(edge)).collect();
        let count = match counted.is_empty() {
            false => counted.iter().sum(),
            true => {
                let ins: Vec<EdgeId> = self.cfg.in_edges(block).to_vec();
                let mut sum = if block == BlockId(0) { u64::from(entered) } else { 0 };
                for edge in ins {
                    sum += match (self.arm(edge), self.cfg.kind(edge)) {
                        (Some(count), _) => count,
                        (None, EdgeKind::Exception(_)) => 0,
                        (None, _) => self.count(self.cfg.source(edge), entered),
                    };
                }
                sum
            }
        };
        self.known[block.index()] = Some(count);
        count
    }

    /// How often control went along an edge, if a branch counts that.
    fn arm(&self, edge: EdgeId) -> Option<u64> {
        let pc = self.cfg.block(self.cfg.source(edge)).last;
        let last = decode(&self.function.code, pc as usize)?;
        let cases = last.cases().count();
        let case =
            |case: usize| Some(u64::from(*self.past.one_time().switch(self.caller, pc, cases).get(case)?));
        match self.cfg.kind(edge) {
            EdgeKind::FallThrough if last.target().is_some() => {
                Some(u64::from(self.past.one_time().branch(self.caller, pc)[0]))
            }
            EdgeKind::Taken if last.falls_through() => {
                Some(u64::from(self.past.one_time().branch(self.caller, pc)[1]))
            }
            EdgeKind::Case(number) => case(number as usize),
            EdgeKind::Default => case(cases.checked_sub(1)?),
            _ => None,
        }
    }
}
