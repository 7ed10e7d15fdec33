//! `holloway experiment lookups`: how often the k-iteration profiler had to look up where a chunk begins, against what follows from a trace of the same run.
//!
//! An activation in which N paths end has ceil(N / (k-1)) chunks (D'Elia & Demetrescu 2013, section 4). The profiler's forest says how many there were: the counts of
//! what begins a chunk. The trace knows nothing of chunks, of a forest, or of the numbers that paths have in the code: every step of compiled code is told with its
//! activation, and where the steps cut a path or return, one ended. So both must come to the same number, to the last one, and so must the numbers of all paths.

use super::arguments::NodesArguments;
use crate::compile::compile_benchmark;
use crate::report::Stop;
use holloway_benchmarks::measure::{Hooks, measure};
use holloway_benchmarks::registry::find;
use holloway_profilers::kblpp::K;
use holloway_vm::profiling::{ProfileOptions, Step, Traced};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::process::ExitCode;

/// Both numbers for a k.
struct Lookups {
    k: u32,
    /// Activations in which a path ended.
    activations: u64,
    /// Paths and chunks, by the trace,
    traced: [u64; 2],
    /// and by the profiler.
    counted: [u64; 2],
}

/// Runs the program once for each k, and prints both.
pub fn lookups(mut arguments: NodesArguments) -> Result<ExitCode, Stop> {
    arguments.machine.open()?;
    let found: Vec<Lookups> =
        arguments.k.clone().into_iter().map(|k| of_run(&arguments, k)).collect::<Result<_, Stop>>()?;
    let agree = found.iter().all(|of| of.traced == of.counted);
    let text = if arguments.json { json(&found) } else { table(&found) };
    // As JSON it is for who compares by himself.
    let is_right = agree || arguments.json;
    super::super::print(text, if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn of_run(arguments: &NodesArguments, k: K) -> Result<Lookups, Stop> {
    let benchmark = find(&arguments.name).map_err(Stop::usage)?;
    let program = compile_benchmark(benchmark, crate::report::color()).map_err(Stop::compile)?;
    let profile = ProfileOptions { traced: true, kblpp: Some(k), ..ProfileOptions::default() };
    let mut seen = None;
    let options = |given, output| VmOptions {
        profile,
        timer: TimerSource::Virtual(u64::MAX),
        ..arguments.machine.vm_options(given, output)
    };
    let ended = |vm: &Vm| seen = Some(vm.profile());
    // It may run out of fuel: what it did until then is looked at.
    let size = arguments.size.unwrap_or(benchmark.quick_size);
    let measured = measure(benchmark, program, size, 1, options, Hooks::none().with_ended(ended));
    let nothing = || {
        let why = format!("no path ended in compiled code: {:?}", measured.ending);
        Stop::failure(format_args!("{}: {why}", benchmark.name))
    };
    let profile = seen.ok_or_else(nothing)?;
    let forest = profile.iterated.as_ref().ok_or_else(nothing)?;
    let paths = paths_of_activations(&profile.trace);
    if paths.is_empty() {
        return Err(nothing());
    }
    Ok(Lookups {
        k: k.get(),
        activations: paths.len() as u64,
        traced: [paths.values().sum(), chunks(paths.values().copied(), k.get())],
        counted: [forest.statistics.items, forest.statistics.chunks],
    })
}

/// How many paths ended in each activation in which some did.
fn paths_of_activations(trace: &[Traced]) -> HashMap<u64, u64> {
    let mut paths = HashMap::new();
    for &Traced { activation, step, .. } in trace {
        if matches!(step, Step::Cut(_) | Step::Return(_)) {
            *paths.entry(activation).or_default() += 1;
        }
    }
    paths
}

/// How many chunks activations with so many paths have.
fn chunks(paths: impl Iterator<Item = u64>, k: u32) -> u64 {
    paths.map(|paths| paths.div_ceil(u64::from(k) - 1)).sum()
}

fn json(found: &[Lookups]) -> String {
    let figures = |of: &Lookups| {
        json!({
            "activations": of.activations,
            "traced": {"paths": of.traced[0], "chunks": of.traced[1]},
            "counted": {"paths": of.counted[0], "chunks": of.counted[1]},
        })
    };
    let all: Map<String, Value> = found.iter().map(|of| (of.k.to_string(), figures(of))).collect();
    Value::from(all).to_string() + "\n"
}

fn table(found: &[Lookups]) -> String {
    let mut text = format!(
        "{:>4}{:>14}{:>14}{:>14}{:>14}{:>14}\n",
        "k", "activations", "paths", "counted", "chunks", "counted"
    );
    for Lookups { k, activations, traced, counted } in found {
        let _ = writeln!(
            text,
            "{k:>4}{activations:>14}{:>14}{:>14}{:>14}{:>14}",
            traced[0], counted[0], traced[1], counted[1]
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_profilers::{BlockId, VersionId};

    #[test]
    fn chunks_are_of_activations() {
        let step = |activation, step| Traced { activation, version: VersionId(3), step };
        let cut = |activation| step(activation, Step::Cut(BlockId(1)));
        let end = |activation| step(activation, Step::Return(BlockId(2)));
        let gone = |activation| step(activation, Step::Gone(BlockId(2)));
        // Five paths of one, between which another has one; a third is not at the end of its first.
        let trace = [
            cut(1),
            cut(1),
            end(2),
            gone(2),
            cut(1),
            step(3, Step::Block(BlockId(1))),
            cut(1),
            end(1),
            gone(1),
        ];
        let paths = paths_of_activations(&trace);
        assert_eq!(paths, HashMap::from([(1, 5), (2, 1)]));
        let of = |k| chunks(paths.values().copied(), k);
        assert_eq!([of(2), of(3), of(4), of(6), of(16)], [6, 4, 3, 2, 2]);
    }
}
