//! Branch traces of random programs are what one gets by following every move.
//!
//! The recording interpreter tells each move of control (`holloway_vm::profiling::Moved`), beside the ring that it fills. What is
//! made of these here, in the most obvious way, must be what was found: the copies of the ring, the counters of branches, the
//! calls, the full paths of regions. And as no record is wrong, every trace must be understood.
//!
//! `BRANCH_PROGRAMS=5000` runs more programs, `BRANCH_SEED=7` begins elsewhere.

use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::btb::{
    self, BranchKind, Clock, CountedTrace, Place, Regions, TakenBranch, Trace, pieces,
};
use holloway_profilers::{BlockId, MethodId};
use holloway_tests::edges::counted_edges;
use holloway_tests::modes::mode;
use holloway_tests::parallel::check_all;
use holloway_tests::random::generate;
use holloway_tests::run::compile;
use holloway_vm::profiling::{Backend, Collected, CollectedTraces, Moved, ProfileOptions, region_graphs};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Programs that a plain `cargo test` runs, each in one of the settings.
const PROGRAMS: u64 = 240;
/// Yieldpoints after which a program is ended: every move is kept.
const FUEL: u64 = 6_000;
/// Bursts of all programs.
static BURSTS: AtomicU64 = AtomicU64::new(0);

/// A mode of running, yieldpoints from tick to tick if there are ticks, and the profilers.
type Setting = (&'static str, Option<u64>, &'static [&'static str]);

const SETTINGS: &[Setting] = &[
    ("tail", None, &["btb:depth=4,period=7,exact=yes"]),
    ("o2", Some(13), &["btb:depth=7,backend=burst,spread=0"]),
    ("loop", None, &["btb:depth=16,period=31,calls=split,exact=yes,cap=8"]),
    ("o0", Some(41), &["btb:depth=32,backend=burst,spread=0", "edges", "blpp"]),
    ("virtual-timer", None, &["btb:depth=32,period=5,ticks=3,exact=yes", "calls"]),
    ("adaptive", Some(7), &["btb:depth=4,backend=burst,spread=0"]),
    ("deopt-7", None, &["btb:depth=5,period=3,exact=yes"]),
    ("osr", Some(5), &["btb:depth=16,backend=burst,ticks=2", "calls"]),
    ("osr", None, &["btb:depth=16,period=3,spread=100,seed=5,exact=yes", "calls", "edges"]),
    ("gc-stress", None, &["btb:depth=1,period=1,exact=yes,cap=2"]),
    ("o2-gc-stress", Some(3), &["btb:depth=5,backend=burst,spread=0"]),
];

struct Ran {
    program: Arc<VerifiedProgram>,
    found: Collected,
    stopped: bool,
    compiled: bool,
}

fn run(text: &str, (name, ticks, specs): Setting) -> Result<Ran, String> {
    let program = compile(Path::new("traced.hol"), text)?;
    let mut profile = ProfileOptions { traced: true, ..ProfileOptions::default() };
    for spec in specs {
        profile.add(spec.parse()?)?;
    }
    let mut options = VmOptions { output: Box::new(std::io::sink()), profile, ..VmOptions::default() };
    (mode(name).apply)(&mut options);
    if let Some(ticks) = ticks {
        options.timer = TimerSource::Virtual(ticks);
    }
    (options.stack_depth, options.fuel) = (100, Some(FUEL));
    let compiled = options.tiers.compiler.is_some();
    let mut vm = Vm::new(program.clone(), options)?;
    let stopped = matches!(vm.run(), Outcome::Stopped(..));
    Ok(Ran { found: vm.profile(), program, stopped, compiled })
}

/// The first difference between two maps.
fn same<K: Ord + std::fmt::Debug>(
    what: &str,
    followed: &BTreeMap<K, u64>,
    counted: &BTreeMap<K, u64>,
) -> Result<(), String> {
    let of = |map: &BTreeMap<K, u64>, key: &K| map.get(key).copied().unwrap_or(0);
    let wrong = followed.keys().chain(counted.keys()).find(|key| of(followed, key) != of(counted, key));
    wrong.map_or(Ok(()), |key| {
        Err(format!("{what}: {key:?} happened {} times, counted {}", of(followed, key), of(counted, key)))
    })
}

/// Samples, if they are taken by branches alone: the clock says after which, and each is the end of the thread's list of branches.
fn samples(moves: &[Moved], traces: &CollectedTraces) -> BTreeMap<Trace, u64> {
    let options = traces.options;
    let mut clock =
        Clock::new(options.period, options.spread.into(), options.seed).expect("it was made before");
    let mut branches: BTreeMap<u32, Vec<TakenBranch>> = BTreeMap::new();
    let mut samples = BTreeMap::new();
    for moved in moves {
        let list = branches.entry(moved.thread).or_default();
        if moved.starts {
            list.clear();
        }
        let Some(kind) = moved.kind else { continue };
        list.push(TakenBranch { source: moved.from, target: moved.to, kind });
        if clock.branch() {
            let last = list.len().saturating_sub(options.depth as usize);
            *samples.entry(Trace { branches: list[last..].to_vec(), pc: None }).or_default() += 1;
        }
    }
    samples
}

fn counted(traces: &[CountedTrace]) -> BTreeMap<Trace, u64> {
    traces.iter().map(|of| (of.trace.clone(), of.count)).collect()
}

/// Blocks that an activation ran through one after the other.
struct Activation {
    method: MethodId,
    /// Each begins with a block that was seen to be entered, or with one where control was found.
    blocks: Vec<BlockId>,
    seen_to_begin: bool,
}

/// Follows all moves: full paths, calls, and the edges that were taken and fallen through.
struct Walk<'p> {
    graphs: &'p btb::Program,
    regions: BTreeMap<MethodId, Regions>,
    stacks: BTreeMap<u32, Vec<Activation>>,
    paths: BTreeMap<(MethodId, Vec<BlockId>), u64>,
    edges: BTreeMap<(MethodId, BlockId, BlockId, bool), u64>,
    calls: u64,
    /// The highest number of a thread, and one.
    threads: u64,
}

fn at(place: Place) -> Option<(MethodId, BlockId)> {
    match place {
        Place::At { method, block } => Some((method, block)),
        _ => None,
    }
}

impl Walk<'_> {
    fn begin(&mut self, thread: u32, place: Place, seen: bool) {
        if let Some((method, block)) = at(place) {
            let activation = Activation { method, blocks: vec![block], seen_to_begin: seen };
            self.stacks.entry(thread).or_default().push(activation);
        }
    }

    /// An activation is over; if it returned, its last path is, too.
    fn end(&mut self, activation: Activation, returned: bool) -> Result<(), String> {
        let Activation { method, blocks, seen_to_begin } = activation;
        let (Some(code), Some(regions)) = (self.graphs.method(method), self.regions.get(&method)) else {
            return Err(format!("{method} has no graph"));
        };
        let pieces =
            pieces(code, regions, &blocks).ok_or_else(|| format!("{method} cannot run {blocks:?}"))?;
        let last = pieces.len() - 1;
        for (index, piece) in pieces.into_iter().enumerate() {
            let begins = regions.entry(piece.region) == piece.blocks[0] && (index > 0 || seen_to_begin);
            if begins && (index < last || returned) {
                *self.paths.entry((method, piece.blocks)).or_default() += 1;
            }
        }
        Ok(())
    }

    fn edge(&mut self, moved: &Moved) -> Result<(), String> {
        let Some((method, to)) = at(moved.to) else { return Err(format!("{moved:?}")) };
        let stack = self.stacks.entry(moved.thread).or_default();
        let Some(activation) = stack.last_mut().filter(|top| top.method == method) else {
            return Err(format!("nothing of {method} runs: {moved:?}"));
        };
        let from = activation.blocks[activation.blocks.len() - 1];
        if moved.kind.is_some() && at(moved.from) != Some((method, from)) {
            return Err(format!("control was in {from}: {moved:?}"));
        }
        activation.blocks.push(to);
        *self.edges.entry((method, from, to, moved.kind.is_some())).or_default() += 1;
        Ok(())
    }

    fn step(&mut self, moved: &Moved) -> Result<(), String> {
        let thread = moved.thread;
        self.threads = self.threads.max(u64::from(thread) + 1);
        match moved.kind {
            None if moved.starts => {
                for activation in std::mem::take(self.stacks.entry(thread).or_default()) {
                    self.end(activation, false)?;
                }
                self.begin(thread, moved.to, moved.begins);
            }
            None | Some(BranchKind::Jump) => self.edge(moved)?,
            Some(BranchKind::Call) => {
                self.calls += 1;
                self.begin(thread, moved.to, true);
            }
            Some(BranchKind::Return) => {
                let stack = self.stacks.entry(thread).or_default();
                let over = stack.pop().ok_or("nothing runs that could return")?;
                let caller = stack.last().map(|top| (top.method, top.blocks[top.blocks.len() - 1]));
                if caller.is_some_and(|caller| at(moved.to) != Some(caller)) {
                    return Err(format!("{caller:?} had called: {moved:?}"));
                }
                self.end(over, true)?;
                if caller.is_none() {
                    self.begin(thread, moved.to, false);
                }
            }
            Some(BranchKind::Transfer) => {
                for _ in 0..=moved.frames {
                    let over = self.stacks.entry(thread).or_default().pop();
                    over.map_or(Ok(()), |over| self.end(over, false))?;
                }
                self.begin(thread, moved.to, true);
            }
        }
        Ok(())
    }
}

/// Compares what was found with the moves. How much there was to compare: moves.
fn check(ran: &Ran) -> Result<u64, String> {
    let Ran { program, found, .. } = ran;
    let traces = found.traces.as_ref().ok_or("there are no traces")?;
    let statistics = &traces.statistics;
    if statistics.all_discards() + statistics.repaired + statistics.pc_ignored > 0 {
        return Err(format!("a trace was not understood: {statistics:?}"));
    }
    if traces.options.period.ticks().is_none() {
        same("trace", &samples(&found.moves, traces), &counted(&traces.recording.traces))?;
    }
    let graphs = region_graphs(program);
    let regions = graphs.methods().map(|(method, code)| {
        (method, Regions::new(code, traces.options.regions()).expect("the cap was checked"))
    });
    let mut walk = Walk {
        regions: regions.collect(),
        graphs: &graphs,
        stacks: BTreeMap::new(),
        paths: BTreeMap::new(),
        edges: BTreeMap::new(),
        calls: 0,
        threads: 1,
    };
    for moved in &found.moves {
        walk.step(moved)?;
    }
    let over: Vec<Activation> = std::mem::take(&mut walk.stacks).into_values().flatten().collect();
    over.into_iter().try_for_each(|activation| walk.end(activation, false))?;
    let exact = traces.exact.iter().flatten();
    let exact = exact.map(|(method, blocks, count)| ((*method, blocks.clone()), *count)).collect();
    if traces.exact.is_some() {
        same("full path", &walk.paths, &exact)?;
    }
    if traces.options.backend == Backend::Burst {
        // A burst is over when the buffer is full.
        let whole =
            traces.recording.traces.iter().all(|of| of.trace.branches.len() == traces.recording.depth);
        if !whole {
            return Err("a burst was not whole".into());
        }
        BURSTS.fetch_add(statistics.samples, Ordering::Relaxed);
    }
    if !ran.compiled {
        let counted = counted_edges(program, found);
        let followed = walk.edges.iter().map(|(&(method, from, to, _), &count)| ((method, from, to), count));
        let mut all: BTreeMap<_, u64> = BTreeMap::new();
        followed.for_each(|(edge, count)| *all.entry(edge).or_default() += count);
        all.retain(|edge, _| counted.contains_key(edge));
        same("edge", &all, &counted)?;
        if let Some(calls) = &found.calls.exact {
            // Threads may be stopped in the yieldpoint of a call, which has been counted then, and nobody sees where it led.
            let most = if ran.stopped { walk.threads } else { 0 };
            if calls.total().abs_diff(walk.calls) > most {
                return Err(format!("{} calls, counted {}", walk.calls, calls.total()));
            }
        }
    }
    // Each weight is a sample of a piece, and none is lost.
    let flow: u64 = traces.estimate.regions.iter().map(|region| region.flow).sum();
    if (traces.estimate.flow() - flow as f64).abs() > 1e-6 * flow as f64 || traces.estimate.invalid > 0 {
        return Err(format!("{flow} samples of pieces, but a weight of {}", traces.estimate.flow()));
    }
    Ok(found.moves.len() as u64)
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => otherwise,
    }
}

#[test]
fn branch_traces_are_what_the_moves_say() {
    let first = number("BRANCH_SEED", 0);
    let seeds: Vec<u64> = (first..first + number("BRANCH_PROGRAMS", PROGRAMS)).collect();
    let (moves, stopped) = (AtomicU64::new(0), AtomicU64::new(0));
    check_all(
        &seeds,
        |seed| format!("seed {seed}"),
        |&seed| {
            let setting = SETTINGS[seed as usize % SETTINGS.len()];
            let ran = run(&generate(seed).tree.program_text(), setting)?;
            stopped.fetch_add(u64::from(ran.stopped), Ordering::Relaxed);
            moves.fetch_add(check(&ran).map_err(|why| format!("{}: {why}", setting.0))?, Ordering::Relaxed);
            Ok(())
        },
    );
    let [moves, stopped] = [moves, stopped].map(AtomicU64::into_inner);
    let bursts = BURSTS.load(Ordering::Relaxed);
    println!("{} programs, {moves} moves, {bursts} bursts, {stopped} runs were stopped", seeds.len());
    assert!(moves > 1000 * seeds.len() as u64, "there is little to compare");
    assert!(bursts > 10 * seeds.len() as u64, "there are few bursts");
}
