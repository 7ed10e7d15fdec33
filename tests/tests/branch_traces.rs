//! Branch traces of random programs are what one gets by following every move.
//!
//! The recording interpreter tells each move of control (`holloway_vm::profiling::Moved`), beside the ring that it fills. What is
//! made of these here, in the most obvious way, must be what was found: the copies of the ring, the counters of branches, the
//! calls, the full paths of regions, also of those that span the hot calls of a run before. And as no record is wrong, every trace
//! must be understood, and its passages through blocks must be as these are told to call.
//!
//! `BRANCH_PROGRAMS=5000` runs more programs, `BRANCH_SEED=7` begins elsewhere.

use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::btb::{
    self, BranchKind, Clock, CountedTrace, Extent, Link, Part, Passage, Place, Reconstruction, Regions, Site,
    Spans, TakenBranch, Trace, pieces, reconstruct,
};
use holloway_profilers::{BlockId, MethodId};
use holloway_tests::edges::counted_edges;
use holloway_tests::modes::mode;
use holloway_tests::parallel::check_all;
use holloway_tests::random::generate;
use holloway_tests::run::compile;
use holloway_vm::compiled::GivenCalls;
use holloway_vm::profiling::{Backend, Collected, CollectedTraces, Moved, ProfileOptions, region_graphs};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Programs that a plain `cargo test` runs, each in one of the settings.
const PROGRAMS: u64 = 240;
/// Yieldpoints after which a program is ended: every move is kept. A burst passes over 256 branches on average.
const FUEL: u64 = 24_000;
/// Bursts of all programs.
static BURSTS: AtomicU64 = AtomicU64::new(0);
/// Full paths of all programs that go through a hot callee to the end.
static CROSSING: AtomicU64 = AtomicU64::new(0);
/// Passages of all traces.
static PASSAGES: AtomicU64 = AtomicU64::new(0);
/// Those of them that extension added.
static EXTENDED: AtomicU64 = AtomicU64::new(0);

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
    ("deopt-7", Some(3), &["btb:depth=5,period=11,ticks=2,exact=yes"]),
    ("osr", Some(5), &["btb:depth=16,backend=burst,ticks=2", "calls"]),
    ("osr", None, &["btb:depth=16,period=3,spread=100,seed=5,exact=yes", "calls", "edges"]),
    ("gc-stress", None, &["btb:depth=1,period=1,exact=yes,cap=2"]),
    ("o2-gc-stress", Some(3), &["btb:depth=5,backend=burst,spread=0"]),
    ("virtual-timer", None, &["btb:depth=16,period=7,ticks=3,exact=yes,calls=hot,hot=0"]),
    ("osr", None, &["btb:depth=32,period=5,exact=yes,calls=hot,hot=0,weights=prior-em", "edges"]),
    ("loop", None, &["btb:depth=4,period=3,exact=yes,calls=hot,cap=8"]),
    ("deopt-7", None, &["btb:depth=9,period=5,exact=yes,calls=hot,hot=0"]),
    ("o2", Some(11), &["btb:depth=16,backend=burst,spread=0,calls=hot,hot=0"]),
    ("gc-stress", None, &["btb:depth=8,period=1,exact=yes,calls=hot,hot=2", "calls"]),
];

struct Ran {
    program: Arc<VerifiedProgram>,
    found: Collected,
    stopped: bool,
    compiled: bool,
}

fn run(text: &str, (name, ticks, specs): Setting) -> Result<Ran, String> {
    let program = compile(Path::new("traced.hol"), text)?;
    let hot_calls = match specs.iter().any(|spec| spec.contains("calls=hot")) {
        true => Some(Arc::new(calls_of(&program)?)),
        false => None,
    };
    let mut profile = ProfileOptions { traced: true, ..ProfileOptions::default() };
    for spec in specs {
        profile.add(spec.parse()?)?;
    }
    let mut options =
        VmOptions { output: Box::new(std::io::sink()), profile, hot_calls, ..VmOptions::default() };
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

/// The exact calls of a run.
fn calls_of(program: &Arc<VerifiedProgram>) -> Result<GivenCalls, String> {
    let mut profile = ProfileOptions::default();
    profile.add("calls".parse()?)?;
    let mut options = VmOptions { output: Box::new(std::io::sink()), profile, ..VmOptions::default() };
    (options.stack_depth, options.fuel) = (100, Some(FUEL));
    let mut vm = Vm::new(program.clone(), options)?;
    vm.run();
    Ok(GivenCalls::of_program(program, vm.profile().calls.exact.unwrap_or_default()))
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

/// What an activation did, in order.
enum Deed {
    /// It went to a block, entered from its beginning or found in the middle of it.
    Block { block: BlockId, entered: bool },
    /// It called a method, which went through these blocks: a list more for each error that it caught. Empty if nobody saw them.
    Call { callee: MethodId, visits: Vec<Vec<BlockId>>, returned: bool },
}

/// An activation of a method.
struct Activation {
    method: MethodId,
    deeds: Vec<Deed>,
    at: BlockId,
    /// Its caller is the one below, and keeps what this one does.
    called: bool,
}

/// Blocks one after the other.
struct Stretch {
    blocks: Vec<BlockId>,
    /// The first one was seen to be entered.
    begins: bool,
    /// After the last one the method was left by a return.
    ends: bool,
}

impl Activation {
    /// The stretches of blocks in a graph with these hot sites: as long as is known how it went on.
    fn stretches(&self, site: impl Fn(BlockId) -> Option<Site>, returned: bool) -> Vec<Stretch> {
        let mut all: Vec<Stretch> = Vec::new();
        let begin = |block, begins| Stretch { blocks: vec![block], begins, ends: false };
        // To leave a block without its hot call is to have called something else, or to have been found behind the call.
        let leave = |all: &mut Vec<Stretch>, waits: Option<(Site, bool)>| match (waits, all.last_mut()) {
            (Some((site, true)), Some(last)) if !site.only => last.blocks.push(site.after),
            (Some((site, _)), Some(_)) => all.push(begin(site.after, false)),
            _ => {}
        };
        // The block of its own in which it is, if that has a hot call that was not made yet.
        let mut waits: Option<(Site, bool)> = None;
        for deed in &self.deeds {
            match deed {
                &Deed::Block { block, entered } => {
                    leave(&mut all, waits);
                    match all.last_mut() {
                        Some(last) => last.blocks.push(block),
                        None => all.push(begin(block, entered)),
                    }
                    waits = site(block).map(|site| (site, entered));
                }
                Deed::Call { callee, visits, returned } => {
                    let Some((site, _)) = waits.filter(|(site, _)| site.callee == *callee) else { continue };
                    waits = None;
                    for (number, visit) in visits.iter().enumerate() {
                        let mut copies = visit.iter().map(|&block| site.copy_of(block));
                        if number > 0 {
                            all.extend(copies.next().map(|handler| begin(handler, true)));
                        }
                        all.last_mut().iter_mut().for_each(|last| last.blocks.extend(&mut copies));
                    }
                    match all.last_mut() {
                        Some(last) if *returned && !visits.is_empty() => last.blocks.push(site.after),
                        _ if *returned => all.push(begin(site.after, false)),
                        _ => {}
                    }
                }
            }
        }
        if returned {
            leave(&mut all, waits);
            all.last_mut().iter_mut().for_each(|last| last.ends = true);
        }
        all
    }
}

/// Follows all moves: full paths, calls, and the edges that were taken and fallen through.
struct Walk<'p> {
    graphs: &'p btb::Program,
    spans: Option<&'p Spans>,
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
    fn begin(&mut self, thread: u32, place: Place, entered: bool, called: bool) {
        let Some((method, block)) = at(place) else { return };
        let stack = self.stacks.entry(thread).or_default();
        if let (true, Some(caller)) = (called, stack.last_mut()) {
            match caller.deeds.last_mut() {
                // It is the callee's handler that is entered.
                Some(Deed::Call { callee, visits, returned: false }) if *callee == method => {
                    visits.push(vec![block]);
                }
                _ => {}
            }
        }
        stack.push(Activation { method, deeds: vec![Deed::Block { block, entered }], at: block, called });
    }

    /// An activation is over; if it returned, its last path is, too.
    fn end(&mut self, activation: Activation, returned: bool) -> Result<(), String> {
        let method = activation.method;
        let (Some(code), Some(regions)) = (self.graphs.method(method), self.regions.get(&method)) else {
            return Err(format!("{method} has no graph"));
        };
        let site = |block| self.spans?.site(method, block);
        for Stretch { blocks, begins, ends } in activation.stretches(site, returned) {
            let pieces =
                pieces(code, regions, &blocks).ok_or_else(|| format!("{method} cannot run {blocks:?}"))?;
            let last = pieces.len() - 1;
            for (index, piece) in pieces.into_iter().enumerate() {
                let begins = regions.entry(piece.region) == piece.blocks[0] && (index > 0 || begins);
                if begins && (index < last || ends) {
                    *self.paths.entry((method, piece.blocks)).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    fn edge(&mut self, moved: &Moved) -> Result<(), String> {
        let Some((method, to)) = at(moved.to) else { return Err(format!("{moved:?}")) };
        let stack = self.stacks.entry(moved.thread).or_default();
        let Some((activation, below)) = stack.split_last_mut().filter(|(top, _)| top.method == method) else {
            return Err(format!("nothing of {method} runs: {moved:?}"));
        };
        let from = activation.at;
        if moved.kind.is_some() && at(moved.from) != Some((method, from)) {
            return Err(format!("control was in {from}: {moved:?}"));
        }
        activation.deeds.push(Deed::Block { block: to, entered: true });
        activation.at = to;
        let call = below.last_mut().filter(|_| activation.called).and_then(|caller| caller.deeds.last_mut());
        if let Some(Deed::Call { visits, .. }) = call {
            visits.last_mut().iter_mut().for_each(|visit| visit.push(to));
        }
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
                self.begin(thread, moved.to, moved.begins, false);
            }
            None | Some(BranchKind::Jump) => self.edge(moved)?,
            Some(BranchKind::Call) => {
                self.calls += 1;
                let caller = self.stacks.entry(thread).or_default().last_mut();
                if let (Some(caller), Some((callee, _))) = (caller, at(moved.to)) {
                    caller.deeds.push(Deed::Call { callee, visits: Vec::new(), returned: false });
                }
                self.begin(thread, moved.to, true, true);
            }
            Some(BranchKind::Return) => {
                let stack = self.stacks.entry(thread).or_default();
                let over = stack.pop().ok_or("nothing runs that could return")?;
                let caller = stack.last().map(|top| (top.method, top.at));
                if caller.is_some_and(|caller| at(moved.to) != Some(caller)) {
                    return Err(format!("{caller:?} had called: {moved:?}"));
                }
                if caller.is_none() {
                    self.begin(thread, moved.to, false, false);
                    let caller = self.stacks.entry(thread).or_default().last_mut();
                    let call = Deed::Call { callee: over.method, visits: Vec::new(), returned: true };
                    if let Some(caller) = caller {
                        caller.deeds.push(call);
                    }
                    return self.end(over, true);
                }
                if let Some(Deed::Call { returned, .. }) =
                    stack.last_mut().and_then(|top| top.deeds.last_mut())
                {
                    *returned = true;
                }
                self.end(over, true)?;
            }
            Some(BranchKind::Transfer) => {
                let mut called = false;
                for _ in 0..=moved.frames {
                    let over = self.stacks.entry(thread).or_default().pop();
                    called = over.as_ref().is_some_and(|over| over.called);
                    over.map_or(Ok(()), |over| self.end(over, false))?;
                }
                self.begin(thread, moved.to, true, called);
            }
        }
        Ok(())
    }
}

/// How many of these paths come out of a hot callee, and how many go around one.
fn crossings(spans: &Spans, paths: &BTreeMap<(MethodId, Vec<BlockId>), u64>) -> (u64, u64) {
    let (mut across, mut around) = (0, 0);
    for (method, blocks) in paths.keys() {
        let Some(inlined) = spans.inlined(*method) else { continue };
        for pair in blocks.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|block| inlined.origin(block).map(|origin| origin.part));
            if to == Some(Part::AfterCall) {
                let counter = if from == Some(Part::BeforeCall) { &mut around } else { &mut across };
                *counter += 1;
            }
        }
    }
    (across, around)
}

/// Is what was told of the calls in blocks what blocks do: they are left behind their last call, callers come back behind a call, and a
/// call of one target goes there.
fn check_passages(plain: &btb::Program, trace: &Trace) -> Result<(), String> {
    let path = reconstruct(plain, trace, Reconstruction::default());
    let path = path.map_err(|reason| reason.text().to_string())?;
    let extent = Extent::new(plain, path.initial(), true);
    let calls = |of: &Passage| plain.method(of.method).map_or(&[][..], |code| code.calls(of.block));
    for (at, of) in extent.passages.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &extent.passages[before]);
        let from_program = at > 0 && trace.branches.iter().all(|branch| branch.source != Place::Outside);
        let as_told = match of.link {
            Link::Return => of.from > 0,
            Link::Call if from_program => before
                .and_then(|before| calls(before).get(before.to))
                .is_some_and(|call| call.may_call(Some(of.method))),
            _ => true,
        };
        if of.from != of.to || !as_told {
            return Err(format!("calls are not as told: {of:?} in {extent:?} of {trace:?}"));
        }
    }
    PASSAGES.fetch_add(extent.passages.len() as u64, Ordering::Relaxed);
    EXTENDED.fetch_add((extent.above + extent.below) as u64, Ordering::Relaxed);
    Ok(())
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
    let plain = region_graphs(program);
    traces.recording.traces.iter().try_for_each(|of| check_passages(&plain, &of.trace))?;
    let spans = traces.spans.as_deref();
    let graphs = spans.map_or(&plain, Spans::program);
    let regions = graphs.methods().map(|(method, code)| {
        (method, Regions::new(code, traces.options.regions()).expect("the cap was checked"))
    });
    let mut walk = Walk {
        regions: regions.collect(),
        graphs,
        spans,
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
        let across = spans.map_or(0, |spans| crossings(spans, &walk.paths).0);
        CROSSING.fetch_add(across, Ordering::Relaxed);
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
    let crossing = CROSSING.load(Ordering::Relaxed);
    println!(
        "{} programs, {moves} moves, {bursts} bursts, {stopped} runs were stopped, {crossing} paths across hot calls",
        seeds.len()
    );
    assert!(moves > 1000 * seeds.len() as u64, "there is little to compare");
    assert!(crossing > seeds.len() as u64, "few paths are across hot calls: {crossing}");
    let [passages, extended] = [&PASSAGES, &EXTENDED].map(|of| of.load(Ordering::Relaxed));
    println!("{passages} passages, {extended} of them by extension");
    assert!(extended > 100 * seeds.len() as u64, "little was extended: {extended}");
    assert!(bursts > 10 * seeds.len() as u64, "there are few bursts");
}

/// Virtual calls with a usual target and others, errors that leave a callee or are caught in it, recursion, threads, a loop in a
/// callee.
const KINDS: &str = "\
interface Shape { fn area(n: Int) -> Int }
class Square : Shape { fn area(n: Int) -> Int { if n % 2 == 0 { n * n } else { n } } }
class Line : Shape { fn area(n: Int) -> Int { if n % 3 == 0 { 1 } else { 2 } } }

fn risky(n: Int) -> Int {
    if n % 7 == 3 { throw ValueError(\"seven\") }
    n + 1
}

fn careful(n: Int) -> Int {
    try {
        if n % 2 == 0 { risky(n) } else { risky(n + 2) }
    } catch e: ValueError {
        if n % 3 == 0 { 0 } else { 1 }
    }
}

fn down(n: Int) -> Int {
    if n <= 0 { return 0 }
    if n % 2 == 0 { again(n - 1) } else { again(n - 2) + 1 }
}

fn again(n: Int) -> Int { if n % 3 == 0 { down(n - 1) } else { down(n - 2) + 2 } }

fn loops(n: Int) -> Int {
    var sum = 0
    for i in 0..n % 4 {
        if i % 2 == 1 { sum += i } else { sum -= 1 }
    }
    sum
}

fn work(shapes: List<Shape>, n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        let shape = shapes.get(i % 4)
        if i % 9 != 8 { sum += shape.area(i) }
        if i % 4 != 0 { sum += careful(i) }
        if i % 5 == 0 { sum += down(i % 6) } else { sum += loops(i) }
        sum += try { risky(i) } catch e: ValueError { if i % 2 == 0 { 5 } else { 6 } }
        if i % 11 == 0 { yieldNow() }
    }
    sum
}

fn main() {
    let shapes = List<Shape>()
    for i in 0..4 { shapes.add(if i == 2 { Line() } else { Square() }) }
    let threads = List<Thread<Int>>()
    for t in 1..=3 { threads.add(spawn(|| work(shapes, 40 * t))) }
    for thread in threads { println(thread.join().toString()) }
}
";

#[test]
fn hot_calls_of_all_kinds_are_followed() {
    for (name, ticks) in [("tail", None), ("loop", None), ("osr", None), ("deopt-7", None), ("o2", Some(9))] {
        let specs: &[&str] = match ticks {
            None => &["btb:depth=16,period=5,exact=yes,calls=hot,hot=0"],
            Some(_) => &["btb:depth=16,backend=burst,spread=0,calls=hot,hot=0"],
        };
        let ran = run(KINDS, (name, ticks, specs)).expect("it runs");
        check(&ran).unwrap_or_else(|why| panic!("{name}: {why}"));
        let traces = ran.found.traces.expect("there are traces");
        let spans = traces.spans.as_deref().expect("there are hot calls");
        let sites: Vec<Site> = spans.all().flat_map(|inlined| inlined.sites()).copied().collect();
        assert!(sites.len() > 8 && sites.iter().any(|site| !site.only), "{sites:?}");
        // Where compiled code runs in between, little is seen as a whole.
        if name == "tail" || name == "loop" {
            let exact = traces.exact.iter().flatten();
            let exact = exact.map(|(method, blocks, count)| ((*method, blocks.clone()), *count)).collect();
            let (across, around) = crossings(spans, &exact);
            assert!(across >= 30 && around >= 1, "{name}: {across} across, {around} around");
        }
    }
}

/// The estimate with regions across hot calls is near the truth, and the truth is that of the program: the callee is called by
/// each of its callers as often as its copies say.
#[test]
fn paths_across_hot_calls_are_estimated() {
    let program = "\
fn step(n: Int) -> Int { if n % 2 == 0 { n / 2 } else { 3 * n + 1 } }

fn main() {
    var sum = 0
    for i in 1..400 {
        var n = i
        while n != 1 {
            n = step(n)
            if n % 2 == 0 { sum += 1 } else { sum += 2 }
        }
    }
    println(sum.toString())
}
";
    let ran = run(program, ("tail", None, &["btb:depth=16,period=31,exact=yes,calls=hot"])).expect("it runs");
    let traces = ran.found.traces.expect("there are traces");
    let spans = traces.spans.as_deref().expect("there are hot calls");
    let [inlined] = spans.all().collect::<Vec<_>>()[..] else { panic!("main alone has a hot call") };
    let [site] = inlined.sites() else { panic!("one hot call") };
    let exact = traces.exact.iter().flatten();
    let through = |blocks: &[BlockId]| blocks.contains(&site.after);
    let mut counts: Vec<(Vec<BlockId>, u64)> = exact
        .clone()
        .filter(|(method, blocks, _)| *method == inlined.method() && through(blocks))
        .map(|(_, blocks, count)| (blocks.clone(), *count))
        .collect();
    counts.sort_by_key(|of| std::cmp::Reverse(of.1));
    let callee: u64 = exact.filter(|of| of.0 == site.callee).map(|of| of.2).sum();
    assert_eq!(counts.iter().map(|of| of.1).sum::<u64>(), callee, "all calls are from the one site");
    // What follows an odd number is even: of four combinations three happen.
    assert_eq!(counts.len(), 3, "{counts:?}");
    let weight = |blocks: &[BlockId]| {
        let of = traces
            .estimate
            .paths
            .iter()
            .find(|path| path.method == inlined.method() && path.full.blocks == blocks);
        of.map_or(0.0, |path| path.weight)
    };
    let all: f64 =
        traces.estimate.paths.iter().filter(|path| through(&path.full.blocks)).map(|path| path.weight).sum();
    for (blocks, count) in &counts {
        let (estimated, actual) = (weight(blocks) / all, *count as f64 / callee as f64);
        assert!(
            (estimated - actual).abs() < 0.05,
            "{blocks:?}: {estimated} of the weight, {actual} of the runs"
        );
    }
}
