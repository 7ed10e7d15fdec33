//! Branch traces of machine code are understood, and tell the truth.
//!
//! `btb:backend=step` stops the processor after each instruction, so that its records are the branches that really were taken, by the
//! code that really ran. So those of a program that is known must all be understood without repair, those of random ones nearly all, and whatever
//! edge of the program they are translated to must have been executed. What the interpreter counted in another run of the
//! program, which is repeatable, says which these are. Then the same records are damaged.
//!
//! `NATIVE_PROGRAMS=1000` runs more programs, `NATIVE_SEED=7` begins elsewhere.

use holloway_bytecode::cfg::{Cfg, EdgeKind};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::btb::{Place, SplitMix64};
use holloway_profilers::{BlockId, MethodId};
use holloway_tests::edges::counted_edges;
use holloway_tests::modes::mode;
use holloway_tests::random::generate;
use holloway_tests::run::compile;
use holloway_vm::profiling::native::{Analysed, analyse};
use holloway_vm::profiling::{Collected, CollectedTraces, ProfileOptions};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Random programs that a plain `cargo test` runs, each at one level.
const PROGRAMS: u64 = 24;
/// Yieldpoints after which a program is ended, and is not compared.
const FUEL: u64 = 3_000_000;
/// Damaged copies of each recording.
const DAMAGED: u64 = 20;

const STEPS: &str = "\
fn step(n: Int) -> Int {
    if n % 3 == 0 { n / 3 } else { n + 1 }
}

fn pick(n: Int) -> Int {
    match n % 5 {
        0 => 1,
        1 => 20,
        2 => 300,
        _ => 4,
    }
}

fn main() {
    var sum = 0
    for i in 0..200000 {
        sum += step(i)
        if i % 2 == 0 && i % 5 == 1 {
            sum += 7
        }
        sum += pick(i)
    }
    println(sum.toString())
}
";

type Edge = (MethodId, BlockId, BlockId);

fn run(program: &Arc<VerifiedProgram>, name: &str, every: u64, specs: &[&str]) -> Option<Collected> {
    let mut profile = ProfileOptions::default();
    for spec in specs {
        profile.add(spec.parse().expect("a spec")).expect("once");
    }
    let mut options = VmOptions { output: Box::new(std::io::sink()), profile, ..VmOptions::default() };
    (mode(name).apply)(&mut options);
    (options.timer, options.stack_depth) = (TimerSource::Virtual(every), 100);
    options.fuel = Some(FUEL);
    let mut vm = Vm::new(program.clone(), options).expect("a machine");
    let outcome = vm.run();
    (!matches!(outcome, Outcome::Stopped(..))).then(|| vm.profile())
}

/// The edges of branches and switches that were executed.
fn executed(program: &VerifiedProgram, found: &Collected) -> BTreeSet<Edge> {
    counted_edges(program, found).into_iter().filter(|&(_, count)| count > 0).map(|(edge, _)| edge).collect()
}

/// Samples that were repaired or discarded.
fn odd(traces: &CollectedTraces) -> u64 {
    let statistics = &traces.statistics;
    statistics.all_discards() + statistics.repaired + statistics.pc_ignored
}

/// Looks at what was translated; how many edges that are.
fn check(program: &VerifiedProgram, traces: &CollectedTraces, truth: &BTreeSet<Edge>) -> Result<u64, String> {
    let mut edges = 0;
    for method in &traces.runs.methods {
        let cfg = Cfg::of_function(&program.functions[method.method.index()]);
        let pairs = method.runs.iter().flat_map(|run| run.blocks.windows(2).map(|pair| (pair, run.count)));
        for (pair, count) in pairs {
            let from = holloway_bytecode::cfg::BlockId(pair[0].0);
            let decides =
                cfg.out_edges(from).filter(|&edge| !matches!(cfg.kind(edge), EdgeKind::Exception(_)));
            if decides.count() > 1 && !truth.contains(&(method.method, pair[0], pair[1])) {
                return Err(format!("{} never went from {} to {}", method.method, pair[0], pair[1]));
            }
            edges += count;
        }
    }
    Ok(edges)
}

/// Records with wrong places: whatever becomes of them, nothing is lost or invented, and nobody panics.
fn damage(program: &VerifiedProgram, traces: &CollectedTraces, seed: u64) -> u64 {
    let mut random = SplitMix64(seed);
    let mut recording = traces.recording.clone();
    for trace in &mut recording.traces {
        for branch in &mut trace.trace.branches {
            let place = |random: &mut SplitMix64| match random.below(4) {
                0 => Place::Outside,
                1 => Place::Missing,
                _ => Place::at(MethodId(random.below(4) as u32), BlockId(random.below(40) as u32)),
            };
            match random.below(12) {
                0 => branch.source = place(&mut random),
                1 => branch.target = place(&mut random),
                _ => {}
            }
        }
    }
    let Analysed { statistics, runs, .. } = analyse(program, &traces.machine, &recording, traces.options);
    assert_eq!(statistics.samples + statistics.all_discards(), recording.samples());
    for method in &runs.methods {
        let cfg = Cfg::of_function(&program.functions[method.method.index()]);
        for pair in method.runs.iter().flat_map(|run| run.blocks.windows(2)) {
            let from = holloway_bytecode::cfg::BlockId(pair[0].0);
            assert!(cfg.targets_of(from).iter().any(|to| to.0 == pair[1].0), "no such edge");
        }
    }
    statistics.all_discards()
}

/// Lengths are in instructions: those of the machine code's blocks are all that there are, and cuts part a path without losing any.
fn measured(traces: &CollectedTraces) -> Result<(), String> {
    for (id, table) in &traces.machine {
        let bytes = table.blocks.windows(2).map(|pair| (&pair[0].code, pair[1].start - pair[0].start));
        for (code, bytes) in bytes {
            // An instruction has a byte at least; a table of cases behind a jump is none.
            let possible = bytes.min(1)..=bytes;
            let inside = code.calls.iter().all(|call| call.before > 0 && call.before <= code.instructions);
            if !possible.contains(&code.instructions) || !inside {
                return Err(format!("code {id}: {code:?} in {bytes} bytes"));
            }
        }
    }
    let (statistics, cut) = (&traces.statistics, traces.lengths.ok_or("no lengths")?);
    let all = [cut.calls, cut.loops, cut.regions].map(|of| of.instructions);
    let pieces = [cut.calls, cut.loops].map(|of| of.pieces);
    let more_than_blocks =
        statistics.initial_length > 2 * u64::from(traces.options.depth) * statistics.traces;
    let sound = all == [statistics.extended_length; 3]
        && statistics.extended_length >= statistics.initial_length
        && more_than_blocks
        && pieces[1] >= pieces[0];
    sound.then_some(()).ok_or_else(|| format!("{statistics:?} and {cut:?}"))
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => otherwise,
    }
}

/// One test, because one machine of a process can step.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn branches_of_machine_code_are_those_of_the_program() {
    let known = compile(Path::new("steps.hol"), STEPS).expect("it compiles");
    let truth = run(&known, "tail", u64::MAX, &[]);
    let truth = truth.map_or_else(|| panic!("it ends"), |found| executed(&known, &found));
    let mut discarded = 0;
    for level in ["o0", "o1", "o2"] {
        let found = run(&known, level, 7001, &["btb:backend=step,depth=16"]).expect("it ends");
        let traces = found.traces.expect("it ran");
        let edges = check(&known, &traces, &truth).unwrap_or_else(|why| panic!("{level}: {why}"));
        assert_eq!(odd(&traces), 0, "{level}: {:?}", traces.statistics);
        assert!(traces.statistics.samples > 20 && edges > 20, "{level}: {:?}", traces.statistics);
        assert!(traces.estimate.paths.len() >= 6, "{level}: {} paths", traces.estimate.paths.len());
        measured(&traces).unwrap_or_else(|why| panic!("{level}: {why}"));
        discarded += (0..DAMAGED).map(|seed| damage(&known, &traces, seed)).sum::<u64>();
    }
    assert!(discarded > 100, "nothing was wrong with damaged records");
    let first = number("NATIVE_SEED", 0);
    let (mut samples, mut all, mut strange) = (0, 0, 0);
    for seed in first..first + number("NATIVE_PROGRAMS", PROGRAMS) {
        let program =
            compile(Path::new("random.hol"), &generate(seed).tree.program_text()).expect("it compiles");
        let Some(plain) = run(&program, "tail", u64::MAX, &[]) else { continue };
        let truth = executed(&program, &plain);
        let level = ["o0", "o1", "o2"][seed as usize % 3];
        let Some(found) = run(&program, level, 499, &["btb:backend=step,depth=24"]) else { continue };
        let traces = found.traces.expect("it ran");
        all += check(&program, &traces, &truth).unwrap_or_else(|why| panic!("seed {seed}, {level}: {why}"));
        samples += traces.statistics.samples + traces.statistics.all_discards();
        strange += odd(&traces);
    }
    println!(
        "{samples} samples of random programs, {strange} of them odd, {all} edges; {discarded} damaged ones"
    );
    assert!(strange * 20 <= samples, "{strange} of {samples} samples were not understood as they are");
    assert!(samples > 20 && all > 20, "there is little to compare");
}
