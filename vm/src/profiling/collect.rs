//! What the profilers found, as values: read while the machine does not run.

use super::calls::SampledCalls;
use super::credit::CreditedCalls;
use super::listeners::HeardCalls;
use super::moments::CallMoment;
use super::recorder::{CollectedSubpaths, CollectedTraces, Moved, Recorder, edge_counts};
use super::spec::ProfileOptions;
use super::state::{Profiling, Version};
use super::tally::{Counted, WindowStatistics};
use super::threads::CountedThread;
use super::trace::Traced;
use crate::compiled::{Entry, Level};
use crate::vm::Machinery;
use holloway_bytecode::{FunctionId, Op, code};
use holloway_profilers::calls::{Burst, CachedCalls, CallGraph};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::{Forest, PathForest};
use holloway_profilers::paths::PathDag;
use holloway_profilers::schedule::Counts;
use holloway_profilers::stream::{Losses, PathProfile};
use holloway_profilers::windows::WindowProfile;
use holloway_profilers::{Arm, BranchArm, BranchId, Edge, MethodId, VersionId};

/// A piece of code and what its path numbers mean.
#[derive(Clone, Debug)]
pub struct CollectedVersion {
    /// Its number.
    pub version: VersionId,
    /// Whose code.
    pub function: FunctionId,
    /// How it is entered.
    pub entry: Entry,
    /// How it was compiled.
    pub level: Level,
    /// What path numbers mean, if paths were counted.
    pub dag: Option<PathDag>,
    /// Where in the program each block begins.
    pub places: Vec<(FunctionId, u32)>,
    /// Additions to the path register by the numbering of its paths.
    pub additions: u32,
    /// Ends of paths without a yieldpoint of their own.
    pub added_ends: u32,
    /// Which edges are which outcomes of branches, if steps are traced.
    pub outcomes: Vec<(Edge, BranchArm)>,
}

/// What PEP found.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Sampled paths, in samples.
    pub paths: PathProfile,
    /// The edges on them.
    pub edges: EdgeProfile,
    /// What its window did.
    pub window: Counts,
}

/// What k-BLPP found.
#[derive(Clone, Debug)]
pub struct Iterated {
    /// All paths over up to k iterations, with exact counts.
    pub paths: PathForest,
    /// The forest's size and work.
    pub statistics: holloway_profilers::kblpp::Statistics,
    /// How many iterations.
    pub k: u32,
}

/// Windows of paths.
#[derive(Clone, Debug)]
pub struct Windowed {
    /// All windows of the code that is not refused, with exact counts.
    pub paths: WindowProfile,
    /// The table.
    pub statistics: WindowStatistics,
    /// How many paths a window has.
    pub k: u32,
    /// Code whose windows do not fit a word.
    pub refused: Vec<VersionId>,
}

/// Calls, each as far as its profiler ran.
#[derive(Clone, Debug, Default)]
pub struct FoundCalls {
    /// Exact calls, of all tiers.
    pub exact: Option<CallGraph>,
    /// Sampled calls.
    pub sampled: Option<SampledCalls>,
    /// Calls that listeners heard.
    pub heard: Option<HeardCalls>,
    /// Calls in inline caches.
    pub cached: Option<CachedCalls>,
}

/// Everything that was found.
#[derive(Clone, Debug)]
pub struct Collected {
    /// What was asked for.
    pub options: ProfileOptions,
    /// The interpreter's edge profile: the papers' one-time profile.
    pub baseline: EdgeProfile,
    /// Code that counted, by number.
    pub versions: Vec<CollectedVersion>,
    /// Exact edges of compiled code.
    pub edges: Option<EdgeProfile>,
    /// Increments of counters of edges.
    pub edge_increments: u64,
    /// Exact paths.
    pub paths: Option<PathProfile>,
    /// Sampled paths.
    pub sampled: Option<Sampled>,
    /// Paths over several iterations.
    pub iterated: Option<Iterated>,
    /// Windows of paths.
    pub windowed: Option<Windowed>,
    /// Calls.
    pub calls: FoundCalls,
    /// Sampled calls with credit for inlined calls.
    pub credited_calls: Option<CreditedCalls>,
    /// Estimates of calls as they were while the program ran.
    pub call_moments: Vec<CallMoment>,
    /// Paths that were begun and dropped, by reason.
    pub losses: Losses,
    /// Operations on hash tables of exact paths.
    pub hash_operations: u64,
    /// Further probes of these.
    pub hash_probes: u64,
    /// The same by thread, if each counted by itself: by number, then the rest. Together they are the above.
    pub threads: Option<Vec<CountedThread>>,
    /// Every step, if steps are traced.
    pub trace: Vec<Traced>,
    /// Branch traces.
    pub traces: Option<CollectedTraces>,
    /// Subpaths.
    pub subpaths: Option<CollectedSubpaths>,
    /// Every move of interpreted code, if branch traces are made and steps are traced.
    pub moves: Vec<Moved>,
}

impl Iterated {
    /// What is in a forest.
    pub fn of(forest: &Forest) -> Iterated {
        Iterated { paths: forest.paths(), statistics: forest.statistics(), k: forest.k().get() }
    }
}

impl Profiling {
    /// Windows of paths, if they were asked for, of what all counted or a thread.
    fn windowed(&self, counted: &Counted) -> Option<Windowed> {
        let paths = |version: &VersionId| self.versions.get(&version.0)?.instrumented.paths.as_ref();
        let numbers = |version| Some(paths(&version)?.windows?.numbers);
        let versions = self.versions.keys().copied().map(VersionId);
        Some(Windowed {
            k: self.options.kroy?.get(),
            paths: WindowProfile::of(&counted.windows, numbers),
            statistics: counted.window_table,
            refused: versions.filter(|of| paths(of).is_some_and(|paths| paths.windows_refused)).collect(),
        })
    }

    fn versions(&self) -> Vec<CollectedVersion> {
        let of = |(&number, version): (&u32, &Version)| {
            let paths = version.instrumented.paths.as_ref();
            CollectedVersion {
                version: VersionId(number),
                function: version.function,
                entry: version.entry,
                level: version.level,
                dag: paths.map(|paths| paths.dag.get().clone()),
                places: paths.map_or_else(Vec::new, |paths| paths.places.clone()),
                additions: paths.map_or(0, |paths| paths.additions),
                added_ends: paths.map_or(0, |paths| paths.added_ends),
                outcomes: paths.map_or_else(Vec::new, |paths| paths.dag.outcomes().to_vec()),
            }
        };
        self.versions.iter().map(of).collect()
    }
}

fn is_switch(vm: &Machinery, function: FunctionId, pc: u32) -> bool {
    let instruction = code::decode(&vm.program.functions[function.index()].code, pc as usize);
    instruction.is_some_and(|instruction| instruction.op == Op::Switch)
}

/// The interpreter's counters as an edge profile.
fn baseline(vm: &Machinery) -> EdgeProfile {
    let mut profile = EdgeProfile::default();
    for number in 0..vm.program.functions.len() as u32 {
        let function = FunctionId(number);
        let method = MethodId(number);
        for count in vm.branch_counts(function) {
            let branch = BranchId { method, position: count.pc };
            // Branches have their arms in the other order there: not taken, taken.
            let mut arms = count.outcomes;
            if arms.len() == 2 && !is_switch(vm, function, count.pc) {
                arms.reverse();
            }
            profile.declare(branch, arms.len());
            for (arm, &times) in arms.iter().enumerate() {
                profile.add(BranchArm { branch, arm: Arm::new(arm) }, u64::from(times));
            }
        }
    }
    profile
}

/// A thread's part of the calls. Windows and bursts are the machine's.
fn calls_of_thread(vm: &Machinery, all: &FoundCalls, counted: &Counted) -> FoundCalls {
    let made = &counted.made;
    FoundCalls {
        exact: vm.profiling.exact_calls(vm, counted),
        sampled: all.sampled.as_ref().map(|all| SampledCalls {
            graph: made.sampled.clone(),
            contexts: all.contexts.as_ref().map(|_| made.contexts.clone().unwrap_or_default()),
            window: Counts { taken: made.sampled.total() + made.roots, ..all.window },
            roots: made.roots,
        }),
        heard: all.heard.as_ref().map(|all| {
            let own = |&(method, burst): &(MethodId, Burst)| {
                Some((method, Burst { entries: *made.entries.get(&method)?, ..burst }))
            };
            HeardCalls {
                graph: made.heard.clone(),
                roots: made.entries.values().sum::<u64>() - made.heard.total(),
                bursts: all.bursts.iter().filter_map(own).collect(),
                run: all.run,
            }
        }),
        cached: vm.profiling.cached_calls(vm, made),
    }
}

/// How often profilers looked, so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Looks {
    /// Paths that PEP sampled.
    pub path_samples: u64,
    /// Calls that `cbs` sampled.
    pub call_samples: u64,
    /// Opportunities that its open windows let pass.
    pub call_skips: u64,
    /// Entries that `oneshot` heard.
    pub heard: u64,
}

impl std::ops::Sub for Looks {
    type Output = Looks;

    fn sub(self, before: Looks) -> Looks {
        Looks {
            path_samples: self.path_samples - before.path_samples,
            call_samples: self.call_samples - before.call_samples,
            call_skips: self.call_skips - before.call_skips,
            heard: self.heard - before.heard,
        }
    }
}

impl std::ops::AddAssign for Looks {
    fn add_assign(&mut self, more: Looks) {
        self.path_samples += more.path_samples;
        self.call_samples += more.call_samples;
        self.call_skips += more.call_skips;
        self.heard += more.heard;
    }
}

/// What the window of a sampler did, if there is one.
fn window(profiling: &Profiling, client: Option<usize>) -> Option<Counts> {
    Some(*profiling.schedule.as_ref()?.window(client?).counts())
}

/// How often they did: this takes no longer for all that was found.
pub(crate) fn looks(vm: &Machinery) -> Looks {
    let profiling = &vm.profiling;
    let window = |client| window(profiling, client).unwrap_or_default();
    let calls = window(profiling.clients.cbs);
    Looks {
        path_samples: window(profiling.clients.pep).taken,
        call_samples: calls.taken,
        call_skips: calls.skipped,
        heard: profiling.listeners.as_ref().map_or(0, |listeners| listeners.entries()),
    }
}

/// Everything that was found so far.
pub(crate) fn collect(vm: &Machinery) -> Collected {
    let profiling = &vm.profiling;
    let window = |client| window(profiling, client);
    let sampled = window(profiling.clients.pep).map(|window| Sampled {
        paths: profiling.samples.paths(),
        edges: profiling.samples.edges(),
        window,
    });
    let (counted, mut threads) = profiling.counted();
    let calls = FoundCalls {
        exact: profiling.exact_calls(vm, &counted),
        sampled: window(profiling.clients.cbs)
            .zip(profiling.sampler.as_ref())
            .map(|(window, sampler)| sampler.found(window)),
        heard: profiling.listeners.as_ref().map(|listeners| listeners.found(vm.now())),
        cached: profiling.cached_calls(vm, &counted.made),
    };
    for thread in threads.iter_mut().flatten() {
        thread.calls = calls_of_thread(vm, &calls, &thread.counted);
    }
    for thread in threads.iter_mut().flatten() {
        thread.windowed = profiling.windowed(&thread.counted);
    }
    let windowed = profiling.windowed(&counted);
    let baseline = baseline(vm);
    let recorder = profiling.recorder.as_deref();
    let traces = recorder.and_then(|recorder| recorder.traces(&vm.program, &baseline));
    let traces = traces.or_else(|| {
        let native = profiling.native.as_deref()?;
        Some(native.collect(&vm.program, &profiling.versions, &edge_counts(&vm.program, &baseline)))
    });
    Collected {
        options: profiling.options,
        baseline,
        versions: profiling.versions(),
        edges: profiling.options.edges.then_some(counted.edges),
        paths: profiling.options.blpp.is_some().then_some(counted.paths),
        edge_increments: counted.edge_increments,
        sampled,
        iterated: counted.forest.as_ref().map(Iterated::of),
        windowed,
        losses: counted.losses,
        hash_operations: counted.hash_operations,
        hash_probes: counted.hash_probes,
        threads,
        calls,
        credited_calls: profiling.credited_calls(),
        call_moments: profiling.moments.as_ref().map_or_else(Vec::new, |moments| moments.taken.clone()),
        trace: profiling.trace.steps.clone(),
        traces,
        subpaths: recorder.and_then(|recorder| recorder.subpaths(&vm.context.blocks)),
        moves: recorder.map_or_else(Vec::new, Recorder::moves),
    }
}
