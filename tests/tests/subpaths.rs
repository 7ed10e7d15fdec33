//! Subpaths of random programs are what one gets by following every move.
//!
//! The recording interpreter tells each move of control (`holloway_vm::profiling::Moved`), beside the blocks that it tells the
//! profilers. From the moves the blocks of each thread follow in the most obvious way; from these, all subpaths, counted by
//! looking at every window; and the samples, by asking a profiler of the library with the same seed. Both must be what was
//! found, also where compiled code interrupts what is seen.
//!
//! `SUBPATH_PROGRAMS=5000` runs more programs, `SUBPATH_SEED=7` begins elsewhere.

use holloway_bytecode::Program;
use holloway_bytecode::cfg::Cfg;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::BlockId;
use holloway_profilers::btb::{BranchKind, Place};
use holloway_profilers::osp::{Profiler, Random, Sample};
use holloway_tests::modes::mode;
use holloway_tests::parallel::check_all;
use holloway_tests::random::generate;
use holloway_tests::run::compile;
use holloway_vm::adaptive::Advice;
use holloway_vm::compiled::LogEvent;
use holloway_vm::profiling::file::ProfileFile;
use holloway_vm::profiling::{Collected, CollectedSubpaths, ProfileOptions, SampledSubpaths, SubpathSkip};
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

/// A mode of running, yieldpoints from tick to tick if there are ticks, and the profilers.
type Setting = (&'static str, Option<u64>, &'static [&'static str]);

const SETTINGS: &[Setting] = &[
    ("tail", None, &["subpaths", "osp:rate=5,memory=4k"]),
    ("o2", Some(13), &["osp:skip=burst"]),
    ("loop", None, &["subpaths:max-length=4", "osp:rate=20,lengths=arbitrary,max-length=19,encoding=xor"]),
    (
        "virtual-timer",
        Some(3),
        &["subpaths:max-length=64", "osp:rate=3,encoding=random-xor,estimator=paper", "calls"],
    ),
    ("adaptive", Some(7), &["osp:skip=burst,max-length=16,bias=longer"]),
    ("gc-stress", None, &["subpaths", "osp:rate=7,starts=loops,max-length=8"]),
    ("virtual-timer", None, &["osp:rate=2,ageing=decay,epoch=100,keep=30"]),
    ("osr", Some(5), &["osp:skip=burst,rate=40,lengths=arbitrary,max-length=100", "calls", "blpp"]),
    ("tail", None, &["osp:rate=2,ageing=window,epoch=200,memory=8k", "edges", "btb:exact=yes"]),
    ("o2-gc-stress", Some(3), &["osp:skip=burst,memory=4k"]),
    ("tail", Some(11), &["osp:skip=versions,rate=5,stretch=90"]),
    ("virtual-timer", Some(7), &["osp:skip=versions,rate=9,stretch=1,max-length=16,bias=longer", "calls"]),
];

struct Ran {
    program: Arc<VerifiedProgram>,
    found: Collected,
}

fn run(text: &str, (name, ticks, specs): Setting) -> Result<Ran, String> {
    let program = compile(Path::new("subpaths.hol"), text)?;
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
    let mut vm = Vm::new(program.clone(), options)?;
    vm.run();
    Ok(Ran { found: vm.profile(), program })
}

/// The number of the first block of each method, in the whole program.
fn first_blocks(program: &Program) -> Vec<u32> {
    let counts = program.functions.iter().map(|function| Cfg::of_function(function).blocks().count() as u32);
    counts.scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count))).collect()
}

/// The blocks that each thread entered, in pieces of which nothing in between was missed.
fn followed(ran: &Ran) -> BTreeMap<u32, Vec<Vec<BlockId>>> {
    let first = first_blocks(&ran.program);
    let mut threads: BTreeMap<u32, Vec<Vec<BlockId>>> = BTreeMap::new();
    for moved in &ran.found.moves {
        let pieces = threads.entry(moved.thread).or_default();
        if moved.starts || pieces.is_empty() {
            pieces.push(Vec::new());
        }
        let enters = moved.kind != Some(BranchKind::Return) && (!moved.starts || moved.begins);
        if let (true, Place::At { method, block }) = (enters, moved.to) {
            let last = pieces.len() - 1;
            pieces[last].push(BlockId(first[method.index()] + block.0));
        }
    }
    threads
}

/// Compares what was found with the moves. How much there was to compare: counts and samples.
fn check(ran: &Ran) -> Result<u64, String> {
    let found = ran.found.subpaths.as_ref().ok_or("there are no subpaths")?;
    let threads = followed(ran);
    let mut compared = 0;
    if let Some((options, exact)) = &found.exact {
        let mut naive: BTreeMap<Vec<BlockId>, u64> = BTreeMap::new();
        for piece in threads.values().flatten() {
            for length in (1..=options.exponent).map(|exponent| 1 << exponent) {
                piece.windows(length).for_each(|window| *naive.entry(window.to_vec()).or_default() += 1);
            }
        }
        let mut counted: BTreeMap<Vec<BlockId>, u64> = BTreeMap::new();
        exact.for_each(|blocks, count| {
            counted.insert(blocks.to_vec(), count);
        });
        let wrong = naive.keys().chain(counted.keys()).find(|key| naive.get(*key) != counted.get(*key));
        if let Some(path) = wrong {
            let (run, count) = (naive.get(path), counted.get(path));
            return Err(format!("{path:?} was run {run:?} times, counted {count:?}"));
        }
        compared += naive.values().sum::<u64>();
    }
    let Some(sampled) = &found.sampled else { return Ok(compared) };
    if sampled.bytes > sampled.options.memory as u64 {
        return Err(format!("{} bytes", sampled.bytes));
    }
    if sampled.options.is_by_ticks() {
        for row in &sampled.sample.rows {
            let blocks = row.blocks.as_deref().ok_or("a subpath is not described")?;
            let mut pieces = threads.values().flatten();
            if !pieces.any(|piece| piece.windows(blocks.len()).any(|window| window == blocks)) {
                return Err(format!("{blocks:?} was sampled and never run"));
            }
        }
        return Ok(compared + 10 * sampled.sample.samples());
    }
    // Threads that never ran a block count nothing; the others were merged in the order in which they ended, which no move says.
    let profiler = |(&thread, pieces): (&u32, &Vec<Vec<BlockId>>)| -> Result<Sample, String> {
        let config = sampled.options.config(thread)?;
        let mut profiler = Profiler::new(config).map_err(|error| error.to_string())?;
        for piece in pieces {
            profiler.abandon();
            for &block in piece {
                let header = found.places[block.index()].header;
                match sampled.options.at_loops {
                    true => profiler.enter_weighted(block, header.into()),
                    false => profiler.enter_block(block),
                }
            }
        }
        Ok(profiler.sample())
    };
    let samples: Vec<Sample> = threads.iter().map(profiler).collect::<Result<_, _>>()?;
    compared += sampled.sample.samples();
    if let [only] = &*samples {
        return if *only == sampled.sample { Ok(compared) } else { Err("the samples differ".to_string()) };
    }
    // At one rate, merging is adding.
    if samples.iter().all(|sample| sample.rate == sampled.options.rate) {
        let mut samples = samples.into_iter();
        let mut all = samples.next().ok_or("no thread ran")?;
        for sample in samples {
            all.merge(sample, &mut Random::new(1)).map_err(|error| error.to_string())?;
        }
        let counts = |sample: &Sample| {
            sample.rows.iter().map(|row| (row.length, row.id, row.count)).collect::<Vec<_>>()
        };
        if counts(&all) != counts(&sampled.sample) {
            return Err("the samples of threads add up to others".to_string());
        }
    }
    Ok(compared)
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => otherwise,
    }
}

/// Checks each of so many random programs by its seed, or of as many as the environment says. How many they were.
fn for_programs(usual: u64, check: impl Fn(u64) -> Result<(), String> + Sync) -> u64 {
    let first = number("SUBPATH_SEED", 0);
    let seeds: Vec<u64> = (first..first + number("SUBPATH_PROGRAMS", usual)).collect();
    check_all(&seeds, |seed| format!("seed {seed}"), |&seed| check(seed));
    seeds.len() as u64
}

#[test]
fn subpaths_are_what_the_moves_say() {
    let compared = AtomicU64::new(0);
    let programs = for_programs(PROGRAMS, |seed| {
        let setting = SETTINGS[seed as usize % SETTINGS.len()];
        let ran = run(&generate(seed).tree.program_text(), setting)?;
        compared.fetch_add(check(&ran).map_err(|why| format!("{}: {why}", setting.0))?, Ordering::Relaxed);
        Ok(())
    });
    let compared = compared.into_inner();
    println!("{programs} programs, {compared} counts and samples");
    assert!(compared > 1000 * programs, "there is little to compare");
}

/// No outcome of a branch is taken from a sample that was not executed: the interpreter counts them all. Of a switch, several cases may lead to one block:
/// all of them are likely.
#[test]
fn branches_on_samples_went_that_way() {
    let compared = AtomicU64::new(0);
    let programs = for_programs(PROGRAMS / 4, |seed| {
        let setting: Setting = ("virtual-timer", Some(7), &["osp:rate=2,memory=1m"]);
        let ran = run(&generate(seed).tree.program_text(), setting)?;
        let file = ProfileFile::of(&ran.program, "subpaths.hol", "finished", &ran.found);
        let executed: BTreeMap<u32, &[u64]> =
            file.edges.baseline.iter().map(|(branch, arms)| (*branch, &arms[..])).collect();
        for (branch, arms) in file.edges.subpaths.as_ref().ok_or("there are no branches")? {
            let run = executed.get(branch).copied().unwrap_or_default();
            let never = |arm: &usize| arms[*arm] > 0 && run.get(*arm).copied().unwrap_or_default() == 0;
            if arms.len() == 2 && (0..2).any(|arm| never(&arm)) {
                let place = file.branches[*branch as usize].place;
                return Err(format!("{place:?}: {arms:?} in samples, run {run:?}"));
            }
            compared.fetch_add(arms.iter().filter(|&&count| count > 0).count() as u64, Ordering::Relaxed);
        }
        Ok(())
    });
    let compared = compared.into_inner();
    assert!(compared > 10 * programs, "{compared} outcomes are little to compare");
}

/// What cannot run together is refused with the reason.
#[test]
fn bursts_run_apart_from_what_wants_to_see_all() {
    for (specs, part) in [
        (["osp:skip=burst", "subpaths"], "wants to see all"),
        (["osp:skip=versions", "subpaths"], "wants to see all"),
        (["osp:skip=versions", "btb:backend=burst"], "different lengths"),
        (["osp:skip=burst", "btb"], "wants to see all"),
        (["osp", "btb:backend=burst"], "wants to see all"),
        (["osp:skip=burst", "btb:backend=burst"], "different lengths"),
    ] {
        let mut profile = ProfileOptions::default();
        for spec in specs {
            profile.add(spec.parse().expect("a profiler")).expect("each once");
        }
        let program = compile(Path::new("empty.hol"), "fn main() {}\n").expect("it compiles");
        let refused = Vm::new(program, VmOptions { profile, ..VmOptions::default() });
        let why = refused.err().unwrap_or_default();
        assert!(why.contains(part), "{specs:?}: {why}");
    }
}

/// Modes in which code is compiled, entered and left in all ways.
const COMPILED: &[&str] = &["o0", "o1", "o2", "adaptive", "osr", "deopt-1", "deopt-7", "o2-gc-stress"];

/// What a program executes to its end: all subpaths, and two samples of them. Nothing if it does not come to its end.
fn executed(text: &str, name: &str, specs: &[&str]) -> Result<Option<CollectedSubpaths>, String> {
    // Whether a thread has to wait for another depends on when threads are switched: only where they wait.
    let program = compile(Path::new("subpaths.hol"), text)?;
    let changes = |options: &mut VmOptions| options.timer = TimerSource::Virtual(u64::MAX);
    Ok(execute(program, name, specs, changes)?.0)
}

/// The same with changes of the options; and what is to be compiled first when all that is done again.
fn execute(
    program: Arc<VerifiedProgram>,
    name: &str,
    specs: &[&str],
    changes: impl FnOnce(&mut VmOptions),
) -> Result<(Option<CollectedSubpaths>, Advice), String> {
    let mut profile = ProfileOptions::default();
    for spec in specs {
        profile.add(spec.parse()?)?;
    }
    let mut options = VmOptions { output: Box::new(std::io::sink()), profile, ..VmOptions::default() };
    (mode(name).apply)(&mut options);
    (options.stack_depth, options.fuel) = (100, Some(20 * FUEL));
    changes(&mut options);
    let mut vm = Vm::new(program, options)?;
    let stopped = matches!(vm.run(), Outcome::Stopped(..));
    Ok((vm.profile().subpaths.filter(|_| !stopped), vm.advice()))
}

/// Compiled code tells of the same blocks in the same order as the interpreter, at all levels, wherever it is entered and left.
#[test]
fn compiled_code_tells_of_the_blocks_that_the_interpreter_enters() {
    let compared = AtomicU64::new(0);
    let programs = for_programs(PROGRAMS / 2, |seed| {
        let text = generate(seed).tree.program_text();
        let specs = ["subpaths:max-length=16", "osp:rate=9,skip=call"];
        let Some(truth) = executed(&text, "tail", &specs)? else { return Ok(()) };
        let Some((_, exact)) = &truth.exact else { return Err("nothing was counted".to_string()) };
        let name = COMPILED[seed as usize % COMPILED.len()];
        let Some(found) = executed(&text, name, &specs)? else { return Ok(()) };
        let Some((_, counted)) = &found.exact else { return Err("nothing was counted".to_string()) };
        let mut wrong = None;
        exact.for_each(|blocks, count| {
            if wrong.is_none() && counted.count(blocks) != count {
                wrong = Some(format!("{blocks:?}: {count} times, {} in {name}", counted.count(blocks)));
            }
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        if (exact.blocks(), exact.distinct()) != (counted.blocks(), counted.distinct()) {
            return Err(format!("{} blocks, {} in {name}", exact.blocks(), counted.blocks()));
        }
        compared.fetch_add(exact.blocks(), Ordering::Relaxed);
        // Who counts down what is passed over takes the same samples as who looks at each block.
        let sample = |found: &CollectedSubpaths| found.sampled.as_ref().map(|found| found.sample.clone());
        for (how, spec) in [("tail", "osp:rate=9,skip=decrement"), (name, "osp:rate=9,skip=decrement")] {
            let Some(down) = executed(&text, how, &[spec])? else { return Ok(()) };
            if sample(&down) != sample(&truth) {
                return Err(format!("other samples are counted down in {how}"));
            }
        }
        Ok(())
    });
    let compared = compared.into_inner();
    println!("{programs} programs, {compared} blocks");
    assert!(compared > 1000 * programs, "there is little to compare");
}

/// The sample of a program with one thread, ticks coming after so many yieldpoints. All that a run without profilers compiles is compiled first.
/// Counts pieces of code that tell of blocks.
fn sampled(
    text: &str,
    name: &str,
    ticks: u64,
    spec: &str,
    marked: &Arc<AtomicU64>,
) -> Result<Option<SampledSubpaths>, String> {
    let program = compile(Path::new("subpaths.hol"), text)?;
    let (_, advice) =
        execute(program.clone(), name, &[], |options| options.timer = TimerSource::Virtual(u64::MAX))?;
    let marked = marked.clone();
    let changes = |options: &mut VmOptions| {
        options.timer = TimerSource::Virtual(ticks);
        if !advice.compilations.is_empty() {
            options.tiers.replay = Some(Arc::new(advice));
        }
        options.tiers.log = Some(Box::new(move |event, line| {
            let counts =
                event == LogEvent::Compile && line.contains(" marked #") && line.contains(" bytes, ");
            marked.fetch_add(counts.into(), Ordering::Relaxed);
        }));
    };
    let found = execute(program, name, &[spec], changes)?.0;
    Ok(found.and_then(|found| found.sampled).filter(|sampled| sampled.threads == 1))
}

/// With two versions of the code, what is counted in a stretch is the same whichever code runs: the interpreter, whose moves are compared
/// above, or the version that tells of blocks, wherever it is entered and left. And what is sampled was run, in stretches of all
/// sizes.
#[test]
fn two_versions_of_code_count_the_same_blocks() {
    let (compared, found, marked) = (AtomicU64::new(0), AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let programs = for_programs(PROGRAMS / 2, |seed| {
        let text = generate(seed).tree.program_text();
        let name = COMPILED[seed as usize % COMPILED.len()];
        // One stretch from the first yieldpoint to the end.
        let spec = "osp:rate=9,skip=versions,stretch=1000000000,max-length=16";
        let Some(interpreted) = sampled(&text, "tail", 1, spec, &marked)? else { return Ok(()) };
        let Some(compiled) = sampled(&text, name, 1, spec, &marked)? else { return Ok(()) };
        if interpreted.blocks != compiled.blocks || interpreted.sample != compiled.sample {
            let (blocks, others) = (interpreted.blocks, compiled.blocks);
            return Err(format!("{blocks} blocks are counted in the interpreter, {others} in {name}"));
        }
        compared.fetch_add(compiled.blocks, Ordering::Relaxed);
        let Some(truth) = executed(&text, "tail", &["subpaths:max-length=16"])? else { return Ok(()) };
        let Some((_, exact)) = &truth.exact else { return Err("nothing was counted".to_string()) };
        for (ticks, stretch) in [(17, 1), (29, 40), (101, 700)] {
            let spec = format!("osp:rate=5,skip=versions,stretch={stretch},max-length=16,seed={seed}");
            let Some(some) = sampled(&text, name, ticks, &spec, &marked)? else { return Ok(()) };
            for row in &some.sample.rows {
                let blocks = row.blocks.as_deref().ok_or("a subpath is not described")?;
                if exact.count(blocks) == 0 {
                    return Err(format!("{blocks:?} was sampled in {name} by {spec}, and never run"));
                }
            }
            found.fetch_add(some.sample.samples(), Ordering::Relaxed);
        }
        Ok(())
    });
    let [compared, found, marked] = [&compared, &found, &*marked].map(|count| count.load(Ordering::Relaxed));
    println!(
        "{programs} programs, {compared} blocks, {found} samples, {marked} pieces of code tell of blocks"
    );
    assert!(
        compared > 500 * programs && found > 10 * programs && marked > 2 * programs,
        "there is little to compare"
    );
}

/// Loops that run for long, and threads that take turns with each tick.
const BUSY: &str = "fn work(n: Int) -> Int {
    var h = n
    for i in 0..200000 { if (h ^ i) % 3 == 0 { h += i } else { h = h * 31 + 7 } }
    h
}
fn main() {
    println(work(1).toString())
    let one = spawn(|| { work(2) })
    let other = spawn(|| { work(3) })
    println((one.join() + other.join()).toString())
}
";

/// A tick is not lost because the way back from the last sample led into a loop that goes on, or because threads are switched by it.
#[test]
fn each_tick_starts_a_sample() {
    for spec in ["osp:skip=burst", "osp:skip=versions,rate=100,stretch=1000"] {
        for name in ["tail", "o2"] {
            let mut profile = ProfileOptions::default();
            profile.add(spec.parse().expect("a profiler")).expect("each once");
            let mut options =
                VmOptions { output: Box::new(std::io::sink()), profile, ..VmOptions::default() };
            (mode(name).apply)(&mut options);
            options.timer = TimerSource::Virtual(5_003);
            let program = compile(Path::new("busy.hol"), BUSY).expect("it compiles");
            let mut vm = Vm::new(program, options).expect("a machine");
            vm.run();
            let ticks = vm.statistics().ticks;
            let found = vm.profile().subpaths.and_then(|found| found.sampled).expect("samples were taken");
            let least = if found.options.skip == SubpathSkip::Burst { ticks * 9 / 10 } else { ticks * 5 };
            let samples = found.sample.samples();
            assert!(ticks > 100 && samples >= least, "{spec} in {name}: {samples} samples at {ticks} ticks");
        }
    }
}
