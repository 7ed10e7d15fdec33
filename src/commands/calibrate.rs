//! `holloway calibrate`: measures what the cost/benefit model of the adaptive system must know of this machine: how fast the
//! tiers are, and what compiling costs.

use crate::compile::compile;
use crate::inspect::{self, Outputs};
use crate::interrupt::Interrupt;
use crate::options::CalibrateArguments;
use crate::report::{EXIT_PROGRAM, Stop, cannot_write, color, say};
use holloway_benchmarks::embedded::Embedded;
use holloway_benchmarks::machine::Machine;
use holloway_benchmarks::measure::{Ending, Hooks, Measurement, measure};
use holloway_benchmarks::record::RecordFile;
use holloway_benchmarks::registry::{BENCHMARKS, Benchmark};
use holloway_vm::VmOptions;
use holloway_vm::adaptive::Constants;
use holloway_vm::compiled::{Level, LevelStatistics, TierOptions};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Iterations of each program in each tier; the second half counts.
const ITERATIONS: u64 = 8;
/// The same for a look.
const QUICK_ITERATIONS: u64 = 2;

/// Measures all programs in all tiers, and prints the constants.
pub fn calibrate(arguments: &CalibrateArguments) -> Result<ExitCode, Stop> {
    let file = match &arguments.out {
        Some(path) => Some((path, RecordFile::create(path).map_err(|error| cannot_write(path, &error))?)),
        None => None,
    };
    let interrupt = Interrupt::new();
    interrupt.listen();
    let mut sums = Sums { quick: arguments.quick, ..Sums::default() };
    for benchmark in BENCHMARKS {
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
        let mut words = 0.0;
        let interpreted = one(benchmark, self.quick, None, interrupt, &mut words)?;
        let slow = best(&interpreted);
        self.interpreted += Duration::from_nanos(interpreted.samples.iter().sum());
        self.interpreted_words += words;
        let mut line = format!("{:<12} interpreter {:>9.3} ms", benchmark.name, slow / 1e6);
        for level in Level::ALL {
            let compiled = one(benchmark, self.quick, Some(level), interrupt, &mut 0.0)?;
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

/// The fastest iteration of the second half: what disturbs only makes it slower.
fn best(measurement: &Measurement) -> f64 {
    let half = &measurement.samples[measurement.samples.len() / 2..];
    half.iter().copied().min().unwrap_or(1).max(1) as f64
}

/// Measures a program in one tier.
fn one(
    benchmark: &'static Benchmark,
    quick: bool,
    level: Option<Level>,
    interrupt: &Arc<Interrupt>,
    words: &mut f64,
) -> Result<Measurement, Stop> {
    let program = compile(&benchmark.file(), &Embedded, color()).map_err(Stop::failure)?;
    let tiers = TierOptions {
        compiler: level.map(|_| -> holloway_vm::compiled::CompilerFactory {
            Box::new(|program, model| inspect::compiler(program, model, &[], &Outputs::default()))
        }),
        level,
        synchronous: true,
        // Forced levels compile at the first entry, but O2 wants a profile.
        method_threshold: if level == Some(Level::O2) { PROFILED } else { 1 },
        loop_steps: 1,
        ..TierOptions::default()
    };
    let hooks = Hooks {
        started: |handle| interrupt.watch(handle),
        iteration: || {},
        ended: |vm: &holloway_vm::Vm| *words = vm.interpreted_words(),
    };
    let options = |arguments, output| VmOptions { arguments, output, tiers, ..VmOptions::default() };
    let (size, iterations) = match quick {
        true => (benchmark.quick_size, QUICK_ITERATIONS),
        false => (benchmark.default_size, ITERATIONS),
    };
    let measurement = measure(benchmark, Arc::new(program), size, iterations, options, hooks);
    match &measurement.ending {
        Ending::Verified => Ok(measurement),
        Ending::Failed(why) => Err(Stop::failure(format_args!("{}: {why}", benchmark.name))),
        Ending::Interrupted => Err(Stop::failure("interrupted")),
    }
}

/// Entries after which methods are compiled at O2.
const PROFILED: u32 = 300;
