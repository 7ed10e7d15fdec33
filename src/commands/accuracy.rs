//! `holloway accuracy`: how near estimates of calls come to exact counts, for several profilers and programs: the grids of Arnold & Grove
//! (CGO 2005, tables 2 and 3).
//!
//! Each program runs once to be counted exactly, and once for each profiler, alone, so that the code is that of a run with
//! this profiler only. Time is virtual: a tick comes after so many yieldpoints that a run has as many ticks as is asked for,
//! so that nothing depends on the machine. What the samples cost is not seen here; `holloway overhead` measures it.

use crate::compile::compile_benchmark;
use crate::interrupt::Interrupt;
use crate::options::{BenchSize, MachineArguments};
use crate::profile::together;
use crate::promised::PromisedFile;
use crate::report::{EXIT_PROGRAM, Stop};
use clap::{Args, ValueEnum};
use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::{BENCHMARKS, Benchmark, Suite, find};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::calls::{CallGraph, overlap};
use holloway_profilers::schedule::Counts;
use holloway_vm::profiling::{Collected, FoundCalls, IcacheOptions, ProfileOptions, ProfileSpec};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// `holloway accuracy`.
#[derive(Args, Debug)]
#[command(after_help = "\
Every --profile runs by itself: cbs, oneshot or icache with any parameters, as often as you like. The paper compiles everything at its
lowest level, where few calls are inlined: --tier o0. See docs/measuring.md.

Examples:
  holloway accuracy awfy jgf --tier o0 --profile cbs --profile cbs:schedule=timer
  holloway accuracy all --tier o0 --ticks 50 --profile cbs:samples=64,stride=7 --json small.json")]
pub struct AccuracyGridArguments {
    /// Benchmark programs or suites (`awfy`, `jgf`, `phased`, `probes`, `apps`, `all`)
    #[arg(value_name = "NAME|SUITE", required = true)]
    pub names: Vec<String>,
    /// How many ticks a run has
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Measuring")]
    pub ticks: u64,
    /// Which calls are the truth: all of the program, or those that its code makes, which inlined ones are not, as in the paper
    #[arg(long, value_name = "WHICH", default_value = "code", help_heading = "Measuring")]
    pub truth: Truth,
    /// The size of programs: `default`, `quick`, or a number that every named program knows
    #[arg(long, value_name = "SIZE", default_value = "quick", help_heading = "Measuring")]
    pub size: BenchSize,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE", help_heading = "Measuring")]
    pub json: Option<PathBuf>,
    /// Flags of the virtual machine.
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// Which calls estimates are compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Truth {
    /// All calls, inlined ones included: what `calls` counts
    Program,
    /// Calls that are made where the program runs: what `icache:sites=all` counts with room for all targets
    Code,
}

impl Truth {
    /// Who counts them.
    fn profiler(self) -> ProfileSpec {
        match self {
            Truth::Program => ProfileSpec::Calls,
            Truth::Code => ProfileSpec::Icache(IcacheOptions { entries: ROOM, all: true }),
        }
    }

    /// What they are called above the table.
    fn name(self) -> &'static str {
        match self {
            Truth::Program => "all calls",
            Truth::Code => "the calls that are not inlined",
        }
    }
}

/// More targets than any site has.
const ROOM: u32 = 1024;

/// The figures of a program with a profiler.
#[derive(Serialize)]
struct Figure {
    program: &'static str,
    profiler: String,
    /// In percent.
    overlap: f64,
    /// Different calls in the estimate, and in truth.
    calls: usize,
    exact: usize,
    ticks: u64,
    samples: u64,
    skips: u64,
}

/// The file of `--json`.
#[derive(Serialize)]
struct Record<'a> {
    format: u32,
    kind: &'static str,
    tier: String,
    ticks: u64,
    truth: &'static str,
    figures: &'a [Figure],
}

/// Runs everything, and prints the table.
pub fn accuracy(mut arguments: AccuracyGridArguments) -> Result<ExitCode, Stop> {
    let specs = std::mem::take(&mut arguments.machine.profile.specs);
    if specs.is_empty() {
        return Err(Stop::usage("whose accuracy is to be measured: add --profile, such as --profile cbs"));
    }
    let estimates = |spec: &&ProfileSpec| {
        matches!(spec, ProfileSpec::Cbs(_) | ProfileSpec::OneShot(_) | ProfileSpec::Icache(_))
    };
    if let Some(spec) = specs.iter().find(|spec| !estimates(spec)) {
        return Err(Stop::usage(format_args!(
            "--profile {spec} estimates no calls: cbs, oneshot and icache do"
        )));
    }
    arguments.machine.open()?;
    let file = PromisedFile::open(arguments.json.as_deref())?;
    let interrupt = Interrupt::new();
    interrupt.listen();
    let (mut figures, mut failed) = (Vec::new(), false);
    for benchmark in benchmarks(&arguments.names)? {
        let program = compile_benchmark(benchmark, crate::report::color()).map_err(Stop::compile)?;
        let of_program = of_program(&arguments, &specs, benchmark, &program, &interrupt);
        match of_program {
            Ok(of_program) => figures.extend(of_program),
            Err(_) if interrupt.was_pressed() => break,
            Err(why) => {
                crate::report::say(format_args!("{}: {why}\n", benchmark.name));
                failed = true;
            }
        }
    }
    file.write(|| Record {
        format: 1,
        kind: "accuracy",
        tier: format!("{:?}", arguments.machine.tier).to_lowercase(),
        ticks: arguments.ticks,
        truth: arguments.truth.name(),
        figures: &figures,
    })?;
    let code = if failed || interrupt.was_pressed() { EXIT_PROGRAM.into() } else { ExitCode::SUCCESS };
    super::print(table(arguments.truth, &specs, &figures), code)
}

/// The programs that are named.
fn benchmarks(names: &[String]) -> Result<Vec<&'static Benchmark>, Stop> {
    let mut all: Vec<&'static Benchmark> = Vec::new();
    for name in names {
        match (name.as_str(), Suite::named(name)) {
            ("all", _) => all.extend(BENCHMARKS),
            (_, Some(suite)) => all.extend(suite.benchmarks()),
            _ => all.push(find(name).map_err(Stop::usage)?),
        }
    }
    Ok(all)
}

/// A program with each of the profilers.
fn of_program(
    arguments: &AccuracyGridArguments,
    specs: &[ProfileSpec],
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    interrupt: &Interrupt,
) -> Result<Vec<Figure>, String> {
    let size = match arguments.size {
        BenchSize::Default => benchmark.default_size,
        BenchSize::Quick => benchmark.quick_size,
        BenchSize::Number(number) => number,
    };
    let run = |profile: ProfileOptions, timer: TimerSource| -> Result<(Collected, u64), String> {
        let mut found = None;
        let options = |given: Vec<String>, output| -> VmOptions {
            let options = arguments.machine.vm_options(given, output);
            VmOptions { profile, timer, ..options }
        };
        let ended = |vm: &Vm| found = Some((vm.profile(), vm.statistics().yieldpoints_taken));
        let hooks = Hooks::none().with_started(|handle| interrupt.watch(handle)).with_ended(ended);
        let measured = measure(benchmark, program.clone(), size, 1, options, hooks);
        match (measured.ending, found) {
            (Ending::Verified, Some(found)) => Ok(found),
            (ending, _) => Err(format!("{ending:?}")),
        }
    };
    let alone = |spec| together("--profile", &[spec]).map_err(|_| format!("{spec} cannot run"));
    let (exact, yieldpoints) = run(alone(arguments.truth.profiler())?, TimerSource::Virtual(u64::MAX))?;
    let cached = exact.calls.cached.map(|cached| cached.graph);
    let exact = exact.calls.exact.or(cached).unwrap_or_default();
    let timer = TimerSource::Virtual((yieldpoints / (arguments.ticks + 1)).max(1));
    let mut figures = Vec::new();
    for &spec in specs {
        let (found, _) = run(alone(spec)?, timer)?;
        let (graph, window) = estimate(found.calls);
        figures.push(Figure {
            program: benchmark.name,
            profiler: spec.to_string(),
            overlap: overlap(&graph, &exact),
            calls: graph.len(),
            exact: exact.len(),
            ticks: window.ticks,
            samples: window.taken,
            skips: window.skipped,
        });
    }
    Ok(figures)
}

/// The calls that were estimated, and what the window did if there was one.
fn estimate(found: FoundCalls) -> (CallGraph, Counts) {
    if let Some(sampled) = found.sampled {
        return (sampled.graph, sampled.window);
    }
    let heard = found.heard.map(|heard| heard.rated());
    let cached = || found.cached.map(|cached| cached.graph);
    (heard.or_else(cached).unwrap_or_default(), Counts::default())
}

/// A row for each program, a column for each profiler, and means.
fn table(truth: Truth, specs: &[ProfileSpec], figures: &[Figure]) -> String {
    let mut text = format!("overlap with the exact graph of {}, in percent\n", truth.name());
    for (number, spec) in (1..).zip(specs) {
        text += &format!("  {number:>2}  {spec}\n");
    }
    let row = |name: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells.map(|cell| format!("{cell:>9}")).collect();
        format!("{name:<14}{cells}\n")
    };
    text += &row("program", &mut (1..=specs.len()).map(|number| number.to_string()));
    for of_program in figures.chunks(specs.len()) {
        let overlaps = of_program.iter().map(|figure| format!("{:.1}", figure.overlap));
        text += &row(of_program[0].program, &mut overlaps.into_iter());
    }
    let means = |value: fn(&Figure) -> f64| {
        (0..specs.len()).map(move |at| {
            let of_spec: Vec<f64> = figures.iter().skip(at).step_by(specs.len()).map(value).collect();
            of_spec.iter().sum::<f64>() / of_spec.len().max(1) as f64
        })
    };
    text += &row("mean", &mut means(|figure| figure.overlap).map(|mean| format!("{mean:.1}")));
    let samples = means(|figure| figure.samples as f64 / figure.ticks.max(1) as f64);
    text += &row("samples/tick", &mut samples.map(|mean| format!("{mean:.1}")));
    let skips = means(|figure| figure.skips as f64 / figure.ticks.max(1) as f64);
    text += &row("skips/tick", &mut skips.map(|mean| format!("{mean:.1}")));
    text
}
