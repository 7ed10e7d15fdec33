//! `holloway bench`: measures the benchmark programs one after the other, or compares them with others.

mod against;

use crate::compile::compile_benchmark;
use crate::interrupt::Interrupt;
use crate::options::{BenchArguments, BenchSize, MachineArguments};
use crate::report::{EXIT_PROGRAM, Stop, bar, cannot_write, color, color_for, say};
use holloway_benchmarks::machine::Machine;
use holloway_benchmarks::measure::{Ending, Hooks, Measurement, measure};
use holloway_benchmarks::record::{Record, RecordFile};
use holloway_benchmarks::registry::{BENCHMARKS, Benchmark, find};
use holloway_benchmarks::table;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// How many iterations of a program are measured if nobody says.
const ITERATIONS: u64 = 10;

/// Measures, or compares.
pub fn bench(mut arguments: BenchArguments) -> Result<ExitCode, Stop> {
    match &arguments.comparison.against {
        Some(folder) => against::against(folder, &arguments),
        None => {
            arguments.machine.open()?;
            alone(&arguments)
        }
    }
}

/// Measures, and prints the table on standard output: it is the result of this command. A program that fails does not keep
/// the others from being measured; after Ctrl-C, what was measured so far is reported.
fn alone(arguments: &BenchArguments) -> Result<ExitCode, Stop> {
    let benchmarks = selected(&arguments.names)?;
    let machine = &arguments.machine;
    let of_one = [
        ("--replay", &machine.replay),
        ("--advice-out", &machine.advice_out),
        ("--profile-out", &machine.profile.out),
    ];
    if let Some((flag, _)) = of_one.iter().find(|(_, path)| path.is_some() && benchmarks.len() != 1) {
        return Err(Stop::usage(format_args!("{flag} is about one program: name one benchmark")));
    }
    let iterations = arguments.iterations.unwrap_or(ITERATIONS);
    let file = prepare(arguments.json.as_deref())?;
    let interrupt = Interrupt::new();
    interrupt.listen();
    let progress = bar(benchmarks.len() as u64 * iterations, "{msg}");
    let (mut measurements, mut is_written) = (Vec::new(), true);
    for (done, &benchmark) in benchmarks.iter().enumerate() {
        if interrupt.was_pressed() {
            break;
        }
        progress.set_position(done as u64 * iterations);
        progress.set_message(benchmark.name);
        let (measurement, written) = one(benchmark, arguments, iterations, &interrupt, &progress);
        measurements.push(measurement);
        if let Err(stop) = written {
            progress.suspend(|| stop.print());
            is_written = false;
        }
    }
    progress.finish_and_clear();
    let mut shown = table::show(&measurements, color_for(&std::io::stdout()));
    if arguments.samples {
        shown.push_str(&table::samples(&measurements));
    }
    let machine = Machine::describe();
    shown.push_str(&format!("{machine}\n"));
    let record = Record::new(machine, options(arguments), &measurements);
    let complete = measurements.len() == benchmarks.len();
    let good = complete && is_written && measurements.iter().all(|m| m.ending == Ending::Verified);
    let save = || save(file, arguments, |file| file.finish(&record));
    finish(&shown, save, good, &interrupt)
}

/// Prints the table and keeps the samples. How to exit.
fn finish(
    shown: &str,
    save: impl FnOnce() -> Result<(), Stop>,
    good: bool,
    interrupt: &Interrupt,
) -> Result<ExitCode, Stop> {
    let lost = std::io::stdout().write_all(shown.as_bytes()).and_then(|()| std::io::stdout().flush()).err();
    save()?;
    if interrupt.was_pressed() {
        say(format_args!("interrupted\n"));
    }
    if let Some(error) = lost.as_ref().filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        say(format_args!("error: cannot write the table: {error}\n"));
    }
    Ok(if good && lost.is_none() { ExitCode::SUCCESS } else { EXIT_PROGRAM.into() })
}

/// The file for the samples, if there is to be one. That it cannot be written is said before anything is measured.
fn prepare(path: Option<&Path>) -> Result<Option<RecordFile>, Stop> {
    path.map(|path| RecordFile::create(path).map_err(|error| cannot_write(path, &error))).transpose()
}

/// The programs named, in the order named; all if none is.
fn selected(names: &[String]) -> Result<Vec<&'static Benchmark>, Stop> {
    if names.is_empty() {
        return Ok(BENCHMARKS.iter().collect());
    }
    names.iter().map(|name| find(name).map_err(Stop::usage)).collect()
}

/// Writes the file, if there is to be one.
fn save(
    file: Option<RecordFile>,
    arguments: &BenchArguments,
    write: impl FnOnce(RecordFile) -> std::io::Result<()>,
) -> Result<(), Stop> {
    match (file, &arguments.json) {
        (Some(file), Some(path)) => write(file).map_err(|error| cannot_write(path, &error)),
        _ => Ok(()),
    }
}

/// Measures a program; and whether the files that the machine was to write are written.
fn one(
    benchmark: &'static Benchmark,
    arguments: &BenchArguments,
    iterations: u64,
    interrupt: &Arc<Interrupt>,
    progress: &ProgressBar,
) -> (Measurement, Result<(), Stop>) {
    let size = match arguments.size {
        BenchSize::Default => benchmark.default_size,
        BenchSize::Quick => benchmark.quick_size,
        BenchSize::Number(number) => number,
    };
    let program = match compile_benchmark(benchmark, color()) {
        Ok(program) => program,
        Err(errors) => {
            let reason = format!("it does not compile\n{errors}");
            return (Measurement::failed(benchmark, size, iterations, reason), Ok(()));
        }
    };
    let machine: &MachineArguments = &arguments.machine;
    let bar = progress.clone();
    let mut written = Ok(());
    let hooks = Hooks {
        started: |handle| interrupt.watch(handle),
        iteration: move || bar.inc(1),
        ended: |vm: &holloway_vm::Vm| {
            let profile = machine.profile.write(vm, &benchmark.file(), "finished");
            written = machine.learned.write_advice(vm).and(profile);
        },
    };
    let measurement = measure(
        benchmark,
        program,
        size,
        iterations,
        |arguments, output| machine.vm_options(arguments, output),
        hooks,
    );
    if let Some(format) = machine.stats {
        let text = crate::statistics::machine_statistics(&measurement.statistics, format);
        progress.suspend(|| say(format_args!("{}:\n{text}", benchmark.name)));
    }
    (measurement, written)
}

/// The flags that may matter to whoever reads the times.
fn options(arguments: &BenchArguments) -> BTreeMap<&'static str, String> {
    let machine = &arguments.machine;
    let mut options = BTreeMap::from([
        ("tier", format!("{:?}", machine.tier).to_lowercase()),
        ("heap_bytes", machine.heap.to_string()),
        ("stack_depth", machine.stack_depth.to_string()),
        ("timer", format!("{:?}", machine.timer).to_lowercase()),
        ("seed", machine.seed.to_string()),
        ("layout", machine.layout.to_string()),
    ]);
    let mut set = |key, value: Option<String>| options.extend(value.map(|value| (key, value)));
    set("dispatch", machine.dispatch.map(|how| format!("{how:?}").to_lowercase()));
    set("time_limit", machine.time_limit.map(|limit| format!("{limit:?}")));
    set("fuel", machine.fuel.map(|fuel| fuel.to_string()));
    set("gc_stress", machine.gc_stress.map(|every| every.to_string()));
    options
}
