//! `holloway calibrate`: measures what the cost/benefit model of the adaptive system must know of this machine: how fast the
//! tiers are, and what compiling costs.
//!
//! Each level is measured at its best and on the same terms: a run learns what of a program is worth compiling, with the
//! profile that the optimizer wants, and then, in a fresh machine for each level, all of it is compiled at that level before
//! the first instruction (as `--replay` does it). So no iteration waits for code, and the numbers of levels differ by
//! what the levels are.

use crate::compile::compile_benchmark;
use crate::inspect::{self, Outputs};
use crate::interrupt::Interrupt;
use crate::options::CalibrateArguments;
use crate::report::{EXIT_PROGRAM, Stop, cannot_write, color, say};
use holloway_benchmarks::machine::Machine;
use holloway_benchmarks::measure::{Ending, Hooks, Measurement, measure};
use holloway_benchmarks::record::RecordFile;
use holloway_benchmarks::registry::{BENCHMARKS, Benchmark};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::adaptive::{Advice, Constants};
use holloway_vm::compiled::{CompilerFactory, Level, LevelStatistics, TierOptions};
use holloway_vm::{Vm, VmOptions};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Iterations of each program in the interpreter, which is as fast in the first one as in the last.
const INTERPRETED: u64 = 8;
/// Iterations from which it is learned what is to be compiled.
const LEARNED: u64 = 8;
/// Iterations of compiled code. Some methods are made anew after assumptions of theirs turned out to be wrong.
const COMPILED: u64 = 30;
/// Iterations of any kind for a look.
const QUICK_ITERATIONS: u64 = 2;

/// Measures all classic programs in all tiers, and prints the constants.
pub fn calibrate(arguments: &CalibrateArguments) -> Result<ExitCode, Stop> {
    let file = match &arguments.out {
        Some(path) => Some((path, RecordFile::create(path).map_err(|error| cannot_write(path, &error))?)),
        None => None,
    };
    let interrupt = Interrupt::new();
    interrupt.listen();
    let mut sums = Sums { quick: arguments.quick, ..Sums::default() };
    for benchmark in BENCHMARKS.iter().filter(|benchmark| benchmark.suite.is_classic()) {
        if interrupt.was_pressed() {
            say(format_args!("interrupted\n"));
            return Ok(EXIT_PROGRAM.into());
        }
        sums.add(benchmark, &interrupt)?;
    }
    let constants = sums.constants();
    let text = serde_json::to_string_pretty(&constants).map_err(Stop::failure)?;
    println!("{text}");
    if let Some((path, file)) = file {
        file.finish(&constants).map_err(|error| cannot_write(path, &error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What was measured so far.
#[derive(Default)]
struct Sums {
    quick: bool,
    programs: usize,
    /// Logarithms of how many times as fast as the interpreter each level is.
    log_speeds: [f64; 3],
    compiled: [LevelStatistics; 3],
    interpreted_words: f64,
    interpreted: Duration,
}

impl Sums {
    fn add(&mut self, benchmark: &'static Benchmark, interrupt: &Arc<Interrupt>) -> Result<(), Stop> {
        let program = compile_benchmark(benchmark, color()).map_err(Stop::failure)?;
        let subject = Subject { benchmark, program, quick: self.quick, interrupt };
        let mut words = 0.0;
        let interpreted =
            subject.run(INTERPRETED, TierOptions::default(), |vm| words = vm.interpreted_words())?;
        let slow = best(&interpreted);
        self.interpreted += Duration::from_nanos(interpreted.samples.iter().sum());
        self.interpreted_words += words;
        let mut line = format!("{:<12} interpreter {:>9.3} ms", benchmark.name, slow / 1e6);
        let advice = subject.advice()?;
        for level in Level::ALL {
            let compiled = subject.run(COMPILED, at_level(&advice, level), |_| {})?;
            let fast = best(&compiled);
            self.log_speeds[level as usize] += (slow / fast).ln();
            let made = compiled.statistics.tiers.levels[level as usize];
            let sum = &mut self.compiled[level as usize];
            sum.time += made.time;
            sum.own_words += made.own_words;
            line += &format!(", {} {:.2}x, {:.1} us/word", level.name(), slow / fast, per_word(&made) / 1e3);
        }
        self.programs += 1;
        say(format_args!("{line}\n"));
        Ok(())
    }

    fn constants(&self) -> Constants {
        Constants {
            provenance: format!("measured with `holloway calibrate`: {}", Machine::describe()),
            interpreter_ns_per_word: self.interpreted.as_nanos() as f64 / self.interpreted_words.max(1.0),
            speed: self.log_speeds.map(|sum| (sum / self.programs.max(1) as f64).exp()),
            compile_ns_per_word: [0, 1, 2].map(|level| per_word(&self.compiled[level])),
            ..Constants::default()
        }
    }
}

/// Nanoseconds that compiling took for each word of the methods themselves.
fn per_word(level: &LevelStatistics) -> f64 {
    level.time.as_nanos() as f64 / level.own_words.max(1) as f64
}

/// Nanoseconds of an iteration: the mean of the faster half. What disturbs only makes iterations slower.
fn best(measurement: &Measurement) -> f64 {
    let mut samples = measurement.samples.clone();
    samples.sort_unstable();
    samples.truncate(samples.len().div_ceil(2));
    let count = samples.len().max(1) as f64;
    (samples.into_iter().sum::<u64>() as f64 / count).max(1.0)
}

/// What one program's measurements have in common.
struct Subject<'a> {
    benchmark: &'static Benchmark,
    program: Arc<VerifiedProgram>,
    quick: bool,
    interrupt: &'a Arc<Interrupt>,
}

impl Subject<'_> {
    /// What is worth compiling, and the profile for it. Learned at the level that inlines least: at higher ones, methods that were
    /// inlined are not compiled themselves, and lower levels, which call them, would be measured with the interpreter in it.
    fn advice(&self) -> Result<Advice, Stop> {
        let mut advice = None;
        let tiers = TierOptions {
            compiler: compiler(),
            level: Some(Level::O0),
            synchronous: true,
            ..TierOptions::default()
        };
        self.run(LEARNED, tiers, |vm| advice = Some(vm.advice()))?;
        advice.ok_or_else(|| Stop::failure(format_args!("{}: nothing was learned", self.benchmark.name)))
    }

    /// Measures so many iterations in a fresh machine.
    fn run(&self, iterations: u64, tiers: TierOptions, ended: impl FnOnce(&Vm)) -> Result<Measurement, Stop> {
        let (size, iterations) = match self.quick {
            true => (self.benchmark.quick_size, QUICK_ITERATIONS),
            false => (self.benchmark.default_size, iterations),
        };
        let hooks = Hooks::none().with_started(|handle| self.interrupt.watch(handle)).with_ended(ended);
        let options = |arguments, output| VmOptions { arguments, output, tiers, ..VmOptions::default() };
        let measurement = measure(self.benchmark, self.program.clone(), size, iterations, options, hooks);
        match &measurement.ending {
            Ending::Verified => Ok(measurement),
            Ending::Failed(why) => Err(Stop::failure(format_args!("{}: {why}", self.benchmark.name))),
            Ending::Interrupted => Err(Stop::failure("interrupted")),
        }
    }
}

/// All that the advice names, compiled at one level.
fn at_level(advice: &Advice, level: Level) -> TierOptions {
    let mut advice = advice.clone();
    advice.compilations.iter_mut().for_each(|compilation| compilation.level = level);
    TierOptions {
        compiler: compiler(),
        replay: Some(Arc::new(advice)),
        synchronous: true,
        ..TierOptions::default()
    }
}

fn compiler() -> Option<CompilerFactory> {
    Some(Box::new(|program, model| inspect::compiler(program, model, &[], &Outputs::default())))
}
