//! Calls: which method called which from where, how often, and on whose behalf.
//!
//! | how | where |
//! |---|---|
//! | exact counts, samples | here |
//! | bursts | [`super::listeners`] |
//! | inline caches | [`super::caches`] |
//! | credit for inlined ones | [`super::credit`] |
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
use super::credit::{CreditedCalls, PassedCalls};
use super::instrument::BlockCall;
use super::spec::{CallsAt, CbsOptions, IcacheOptions, ProfileOptions};
use super::state::Profiling;
use super::tally::Counted;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, FunctionId, Op, Program, code};
use holloway_profilers::calls::{AgeingCallGraph, CallEdge, CallGraph, ContextTree, Frame, Share};
use holloway_profilers::schedule::{Counts, Kinds};
use holloway_profilers::stream::PathCount;
use holloway_profilers::{MethodId, PathNumber, VersionId};

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

/// The sampler.
pub(super) struct CallSampler {
    options: CbsOptions,
    graph: Graph,
    /// The calls since somebody asked, if anybody does: they do not age.
    recent: Option<CallGraph>,
    contexts: Option<ContextTree>,
    /// The calls that sampled paths pass, if inlined ones get credit by them.
    passed: Option<PassedCalls>,
    roots: u64,
    /// Samples of calls, and of paths that pass some.
    taken: u64,
    /// The frames of a sample, the innermost first.
    frames: Vec<Frame>,
}

enum Graph {
    Kept(CallGraph),
    Ageing(AgeingCallGraph),
}

impl Graph {
    /// Takes the sample of a call, or one of a path that passes some. True if this was the last for which older ones count in full.
    fn sample(&mut self, call: Option<CallEdge>) -> bool {
        match (self, call) {
            (Graph::Kept(graph), Some(edge)) => {
                graph.add(edge, 1);
                false
            }
            (Graph::Kept(_), None) => false,
            (Graph::Ageing(graph), Some(edge)) => graph.add(edge, 1),
            (Graph::Ageing(graph), None) => graph.pass(1),
        }
    }
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
        let passed = options.credit.then(PassedCalls::default);
        let (recent, roots, taken, frames) = (None, 0, 0, Vec::new());
        Ok(CallSampler { options, graph, recent, contexts, passed, roots, taken, frames })
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
        self.roots += u64::from(edge.is_none());
        if let (Some(edge), Some(recent)) = (edge, &mut self.recent) {
            recent.add(edge, 1);
        }
        if let (Some(_), Some(contexts)) = (edge, &mut self.contexts) {
            self.frames[0].position = 0;
            self.frames.reverse();
            contexts.add(&self.frames, 1);
        }
        if let Some(own) = own {
            own.sample(edge);
            if edge.is_some() && self.contexts.is_some() {
                own.contexts(|| self.options.no_contexts()).add(&self.frames, 1);
            }
        }
        if edge.is_some() {
            self.count(edge);
        }
    }

    /// Takes the sample of a path; `look` says which calls a new one passes.
    pub fn record_path(
        &mut self,
        version: VersionId,
        path: PathNumber,
        look: impl FnOnce() -> Vec<BlockCall>,
    ) {
        let passes = self.passed.as_mut().is_some_and(|passed| passed.record(version, path, look));
        if passes {
            self.count(None);
        }
    }

    /// What the paths of this code pass need not be known any more.
    pub fn forget(&mut self, version: VersionId) {
        self.passed.iter_mut().for_each(|passed| passed.forget(version));
    }

    /// Counts a sample, of this call or of a path that passes some. All that is old ages together, or what is inlined would seem to
    /// become ever more frequent.
    fn count(&mut self, call: Option<CallEdge>) {
        self.taken += 1;
        if self.graph.sample(call) {
            self.contexts.iter_mut().for_each(|contexts| contexts.decay(Share::HALF));
            self.passed.iter_mut().for_each(|passed| passed.decay(Share::HALF));
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

    /// How many samples tell of calls: those of calls, and with credit those of paths that pass some.
    pub fn samples_of_calls(&self) -> u64 {
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

    /// The sampled calls with credit for those that are inlined, if that was asked for and any were seen.
    pub(super) fn credited_calls(&self) -> Option<CreditedCalls> {
        let (sampler, pep) = (self.sampler.as_ref()?, self.options.pep.as_ref()?);
        sampler.passed.as_ref()?.credited(sampler.graph(), pep, &sampler.options)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiling::spec::ProfileSpec;
    use holloway_profilers::calls::CallSite;
    use holloway_profilers::paths::Side;
    use holloway_profilers::{BlockId, MethodId};

    fn sampler(spec: &str) -> CallSampler {
        match spec.parse() {
            Ok(ProfileSpec::Cbs(options)) => CallSampler::new(options).expect("a sampler"),
            other => panic!("{spec}: {other:?}"),
        }
    }

    fn sample_path(sampler: &mut CallSampler, number: PathNumber, calls: usize) {
        let site = CallSite { caller: MethodId(1), position: 7 };
        let (block, side, callee) = (BlockId(0), Side::Behind, Some(MethodId(2)));
        let call = BlockCall { block, side, site, callee, inlined: true };
        sampler.record_path(VersionId(0), number, || vec![call; calls]);
    }

    fn sample_call(sampler: &mut CallSampler) {
        let frame = |method| Frame { method: MethodId(method), position: 0 };
        sampler.frames = vec![frame(3), frame(1)];
        sampler.record(None);
    }

    /// Where all is inlined, there are samples of paths only, and graphs that are told to compilers have to be made of them.
    #[test]
    fn samples_of_paths_tell_of_the_calls_that_they_pass() {
        let mut sampler = sampler("cbs:credit=paths");
        for _ in 0..3 {
            sample_path(&mut sampler, 0, 2);
            sample_path(&mut sampler, 1, 0);
        }
        sample_call(&mut sampler);
        assert_eq!((sampler.taken, sampler.graph().total()), (4, 1));
    }

    #[test]
    fn samples_of_paths_age_with_those_of_calls() {
        let mut sampler = sampler("cbs:credit=paths,decay=4,depth=all");
        let contexts = |sampler: &CallSampler| sampler.contexts.as_ref().map_or(0, ContextTree::total);
        sample_call(&mut sampler);
        sample_call(&mut sampler);
        sample_path(&mut sampler, 0, 1);
        assert_eq!((sampler.graph().total(), contexts(&sampler)), (2, 2));
        sample_path(&mut sampler, 0, 1);
        assert_eq!((sampler.graph().total(), contexts(&sampler)), (1, 1));
        let Ok(ProfileSpec::Pep(pep)) = "pep".parse() else { panic!("a profiler") };
        let credited = |sampler: &CallSampler| {
            let passed = sampler.passed.as_ref().expect("there is credit");
            passed.credited(sampler.graph(), &pep, &sampler.options).map(|credited| credited.credit)
        };
        // By windows of 16 and 64: one sample of a path is left of two, and it passes one call.
        assert_eq!(credited(&sampler).map(|credit| credit.scale), Some((16, 64)));
        for _ in 0..4 {
            sample_path(&mut sampler, 1, 0);
            sample_call(&mut sampler);
        }
        assert!(credited(&sampler).is_none(), "{:?}", credited(&sampler));
    }
}
