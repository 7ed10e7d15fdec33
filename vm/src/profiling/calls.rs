//! Calls: which method called which from where, how often, and on whose behalf.
//!
//! | how | where |
//! |---|---|
//! | exact counts, samples | here |
//! | bursts | [`super::listeners`] |
//! | inline caches | [`super::caches`] |
//!
//! *Exact* counts (`calls`) are kept where the call is: in the interpreter, which leaves to its slow path for each call while
//! calls are counted ([`Machinery::tell_stack_limit`]); in compiled code by a counter for each direct call and each inlined one, and
//! by a hash table for calls through tables, whose keys are the site and the class of the receiver. So each call is counted once,
//! whatever tiers caller and callee are in.
//!
//! *Samples* (`cbs`) are taken in yieldpoints of prologues and epilogues (Arnold & Grove 2005): the method there is the callee, the
//! frame below it stands at the call. In compiled code that frame is found by its return address, and the innermost of
//! the methods that are inlined there is the caller. A call that is inlined has no prologue of its own, and is never seen.
//! A call between tiers is one opportunity, not two: the interpreter leaves it to the prologue of the code that it enters.

use super::call_tally::MadeCalls;
use super::spec::{CallsAt, CbsOptions, IcacheOptions, ProfileOptions};
use super::state::Profiling;
use super::tally::Counted;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, FunctionId, Op, Program, code};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{
    AgeingCallGraph, CallEdge, CallGraph, ContextTree, Credit, Frame, PassedCall, SampledPath, Scale, Share,
    credit,
};
use holloway_profilers::schedule::{Counts, Kinds};
use holloway_profilers::stream::PathCount;
use std::collections::BTreeMap;

/// What `cbs` found.
#[derive(Clone, Debug)]
pub struct SampledCalls {
    /// Calls, in samples.
    pub graph: CallGraph,
    /// Calling contexts, if the depth is more than 1.
    pub contexts: Option<ContextTree>,
    /// What the window did.
    pub window: Counts,
    /// Samples of methods that nobody called: those with which threads begin.
    pub roots: u64,
}

/// A call graph in which inlined calls have the weight that sampled paths give them.
#[derive(Clone, Debug)]
pub struct CreditedCalls {
    /// The calls, in samples.
    pub graph: CallGraph,
    /// What was credited.
    pub credit: Credit,
}

/// The sampler.
pub(super) struct CallSampler {
    options: CbsOptions,
    graph: Graph,
    /// The calls since somebody asked, if anybody does: they do not age.
    recent: Option<CallGraph>,
    contexts: Option<ContextTree>,
    roots: u64,
    /// Samples of calls.
    taken: u64,
    /// The frames of a sample, the innermost first.
    frames: Vec<Frame>,
}

enum Graph {
    Kept(CallGraph),
    Ageing(AgeingCallGraph),
}

impl CallSampler {
    /// One that has seen nothing.
    pub fn new(options: CbsOptions) -> Result<CallSampler, String> {
        let graph = match options.decay {
            0 => Graph::Kept(CallGraph::new()),
            period => Graph::Ageing(
                AgeingCallGraph::new(period, Share::HALF).map_err(|invalid| invalid.to_string())?,
            ),
        };
        // A context of depth 1 is a call: two frames.
        let contexts = (options.depth != 1).then(|| options.no_contexts());
        Ok(CallSampler { options, graph, recent: None, contexts, roots: 0, taken: 0, frames: Vec::new() })
    }

    /// Frames to look at.
    fn most_frames(&self) -> usize {
        match self.options.depth {
            0 => usize::MAX,
            depth => depth as usize + 1,
        }
    }

    /// Takes the sample whose frames were collected, also for the thread that counts in `own`.
    fn record(&mut self, own: Option<&mut MadeCalls>) {
        let edge = match *self.frames {
            [callee, caller, ..] => Some(CallEdge::new(caller.method, caller.position, callee.method)),
            _ => None,
        };
        self.taken += u64::from(edge.is_some());
        match (edge, &mut self.graph) {
            (Some(edge), Graph::Kept(graph)) => graph.add(edge, 1),
            (Some(edge), Graph::Ageing(graph)) => graph.add(edge, 1),
            (None, _) => self.roots += 1,
        }
        if let (Some(edge), Some(recent)) = (edge, &mut self.recent) {
            recent.add(edge, 1);
        }
        if let (Some(_), Some(contexts)) = (edge, &mut self.contexts) {
            self.frames[0].position = 0;
            self.frames.reverse();
            contexts.add(&self.frames, 1);
        }
        let Some(own) = own else { return };
        own.sample(edge);
        if edge.is_some() && self.contexts.is_some() {
            own.contexts(|| self.options.no_contexts()).add(&self.frames, 1);
        }
    }

    /// From now on, recent calls are of interest.
    pub fn watch(&mut self) {
        self.recent = Some(CallGraph::new());
    }

    /// The calls so far.
    pub fn graph(&self) -> &CallGraph {
        match &self.graph {
            Graph::Kept(graph) => graph,
            Graph::Ageing(graph) => graph.graph(),
        }
    }

    /// What was found.
    pub fn found(&self, window: Counts) -> SampledCalls {
        SampledCalls {
            graph: self.graph().clone(),
            contexts: self.contexts.clone(),
            window,
            roots: self.roots,
        }
    }
}

impl CbsOptions {
    /// A tree for contexts, without any.
    pub(super) fn no_contexts(&self) -> ContextTree {
        let limited = match self.depth {
            0 => None,
            depth => ContextTree::limited(depth as usize + 1).ok(),
        };
        limited.unwrap_or_default()
    }
}

impl CallsAt {
    /// The yieldpoints.
    pub fn kinds(self) -> Kinds {
        match self {
            CallsAt::Prologue => Kinds::PROLOGUES,
            CallsAt::Both => Kinds::CALLS,
        }
    }
}

/// Takes a sample of the call that made the innermost frame of the running thread.
pub(super) fn sample(vm: &mut Machinery) {
    let Some(mut sampler) = vm.profiling.sampler.take() else { return };
    sampler.frames.clear();
    let most = sampler.most_frames();
    let frames = &mut sampler.frames;
    vm.walk_current(&mut |(function, position)| {
        frames.push(Frame { method: MethodId(function.0), position });
        frames.len() < most
    });
    let own = if vm.profiling.options.per_thread { Some(&mut vm.profiling.here().made) } else { None };
    sampler.record(own);
    vm.profiling.sampler = Some(sampler);
}

/// The interpreter calls a method, which it found in a table or knew.
pub(crate) fn count_interpreted(vm: &mut Machinery, site: *const u64, callee: FunctionId, in_table: bool) {
    let Some((caller, position)) = vm.code.locate(site) else { return };
    let edge = CallEdge::new(MethodId(caller.0), position, MethodId(callee.0));
    let ProfileOptions { calls, icache, .. } = vm.profiling.options;
    let made = &mut vm.profiling.here().made;
    if calls {
        made.interpreted.add(edge, 1);
    }
    if let Some(IcacheOptions { entries, all }) = icache
        && (in_table || all)
    {
        made.caches.count(edge, entries as usize);
    }
}

/// A call through a table, counted in a hash table of its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ByReceiver {
    site: u32,
    class: u32,
}

impl ByReceiver {
    fn of_key(key: u64) -> ByReceiver {
        ByReceiver { site: (key >> 32) as u32, class: key as u32 }
    }
}

/// The key of a site in the hash table, which the offset of the receiver's class is added to.
pub fn receiver_key(site: u32) -> u64 {
    u64::from(site) << 32
}

impl Profiling {
    /// Is every call of the interpreter counted.
    pub fn counts_calls(&self) -> bool {
        self.options.calls || self.options.icache.is_some()
    }

    /// How many calls were sampled.
    pub fn call_samples(&self) -> u64 {
        self.sampler.as_ref().map_or(0, |sampler| sampler.taken)
    }

    /// The calls that were sampled since this was asked last, if that is of interest.
    pub fn take_recent_calls(&mut self) -> CallGraph {
        let recent = self.sampler.as_mut().and_then(|sampler| sampler.recent.as_mut());
        recent.map(std::mem::take).unwrap_or_default()
    }

    /// The calls that were sampled so far, with credit for inlined ones if that was asked for and can be given.
    pub fn sampled_calls(&self) -> Option<CallGraph> {
        let sampler = self.sampler.as_ref()?;
        let credited = self.credited_calls().map(|credited| credited.graph);
        Some(credited.unwrap_or_else(|| sampler.graph().clone()))
    }

    /// The sampled calls with credit for those that are inlined, if that was asked for and there is something to compare them
    /// with.
    pub(super) fn credited_calls(&self) -> Option<CreditedCalls> {
        let sampler = self.sampler.as_ref().filter(|sampler| sampler.options.credit)?;
        let mut graph = sampler.graph().clone();
        let (mut paths, mut passes) = (Vec::new(), BTreeMap::new());
        for PathCount { version, path, count } in self.samples.paths().iter() {
            let known = self.versions.get(&version.0).and_then(|code| code.instrumented.paths.as_ref());
            let Some((known, path)) = known.and_then(|known| Some((known, known.dag.get().decode(path)?)))
            else {
                continue;
            };
            let mut calls = Vec::new();
            for call in known.passed(&path) {
                let (times, inlined): &mut (u64, bool) = passes.entry(call.site).or_default();
                (*times, *inlined) = (*times + count, *inlined || call.inlined);
                let edge = call.callee.map(|callee| CallEdge { site: call.site, callee });
                calls.extend(edge.map(|edge| PassedCall { edge, inlined: call.inlined }));
            }
            paths.push(SampledPath { calls, count });
        }
        // The sites of which nothing is inlined are seen in both ways.
        passes.retain(|_, (_, inlined)| !*inlined);
        let seen = graph.edges().into_iter().filter(|(edge, _)| passes.contains_key(&edge.site));
        let numerator = seen.map(|(_, weight)| weight).sum();
        let denominator = passes.values().map(|&(times, _)| times).sum();
        let credit = credit(&mut graph, &paths, Scale::Known { numerator, denominator }).ok()?;
        Some(CreditedCalls { graph, credit })
    }

    /// Exact counts of all tiers, with what compiled code counted.
    pub(super) fn exact_calls(&self, vm: &Machinery, compiled: &Counted) -> Option<CallGraph> {
        if !self.options.calls {
            return None;
        }
        let mut graph = compiled.made.interpreted.clone();
        graph.merge(&compiled.calls);
        for PathCount { version, path, count } in compiled.receivers.iter() {
            let ByReceiver { site, class } = ByReceiver::of_key(path);
            let calls = self.versions.get(&version.0).and_then(|code| code.instrumented.calls.as_ref());
            let sites = calls.and_then(|calls| calls.receivers.as_ref()).map(|table| &table.sites);
            let Some(&(caller, position)) = sites.and_then(|sites| sites.get(site as usize)) else {
                continue;
            };
            let class = vm.classes.class_of_record(class);
            if let Some(callee) = target(&vm.program, caller, position, class) {
                graph.add(CallEdge::new(MethodId(caller.0), position, MethodId(callee.0)), count);
            }
        }
        Some(graph)
    }
}

/// What the call through a table at a place calls on an instance of a class; nothing if no such call is there.
pub fn target(program: &Program, caller: FunctionId, position: u32, class: ClassId) -> Option<FunctionId> {
    let call = code::decode(&program.functions[caller.index()].code, position as usize)?;
    let class = &program.classes[class.index()];
    match call.op {
        Op::CallVirtual => class.methods.get(call.bc() as usize)?.function,
        Op::CallInterface => {
            let of = class.interfaces.iter().find(|of| of.interface.0 == u32::from(call.c))?;
            class.methods.get(*of.slots.get(call.b as usize)? as usize)?.function
        }
        _ => None,
    }
}

impl Machinery {
    /// Tells the interpreter where the register stack of the running thread ends: calls beyond that leave to the slow path. While calls
    /// are counted that is at its beginning, so that every call does.
    pub(crate) fn tell_stack_limit(&mut self) {
        let limit = self.threads.current_mut().stack.limit();
        self.context.stack_limit = if self.profiling.counts_calls() { std::ptr::null_mut() } else { limit };
    }
}
