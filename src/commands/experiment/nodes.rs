//! `holloway experiment nodes`: which memory the k-iteration profiler touches on a program's own paths, in two layouts.
//!
//! The program runs with every step of its compiled code traced. Where paths end in an activation its walk is cut; a walk that was not seen before gets the next number: which numbers
//! paths have does not matter here. The stream goes through the models of `holloway_profilers::kblpp::touched`.

use super::arguments::NodesArguments;
use crate::compile::compile_benchmark;
use crate::report::Stop;
use holloway_benchmarks::measure::{Hooks, measure};
use holloway_benchmarks::registry::find;
use holloway_profilers::PathNumber;
use holloway_profilers::kblpp::{Accesses, Ended, Layout, Touched, touched};
use holloway_vm::profiling::{ProfileOptions, Step, Traced};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::process::ExitCode;

/// Runs the program, and prints what is touched.
pub fn nodes(mut arguments: NodesArguments) -> Result<ExitCode, Stop> {
    let benchmark = find(&arguments.name).map_err(Stop::usage)?;
    arguments.machine.open()?;
    let program = compile_benchmark(benchmark, crate::report::color()).map_err(Stop::compile)?;
    let profile =
        ProfileOptions { traced: true, kblpp: arguments.k.first().copied(), ..ProfileOptions::default() };
    let mut trace = Vec::new();
    let options = |given, output| VmOptions {
        profile,
        timer: TimerSource::Virtual(u64::MAX),
        ..arguments.machine.vm_options(given, output)
    };
    let ended = |vm: &Vm| trace = vm.profile().trace;
    // It may run out of fuel: what it did until then is looked at.
    let size = arguments.size.unwrap_or(benchmark.quick_size);
    let measured = measure(benchmark, program, size, 1, options, Hooks::none().with_ended(ended));
    let paths = stream(&trace);
    drop(trace);
    if paths.is_empty() {
        let why = format!("no path ended in compiled code: {:?}", measured.ending);
        return Err(Stop::failure(format_args!("{}: {why}", benchmark.name)));
    }
    let layouts = [("linked", Layout::Linked), ("arena", Layout::Arena)];
    let found: Vec<(u32, &str, Touched)> = arguments
        .k
        .iter()
        .flat_map(|&k| layouts.map(|(name, layout)| (k.get(), name, touched(k, layout, &paths))))
        .collect();
    let text = if arguments.json { json(&found) } else { table(&found) };
    super::super::print(text, ExitCode::SUCCESS)
}

/// The walk that an activation is on: words for its steps.
#[derive(Default)]
struct Walk(Vec<u64>);

/// The paths that ended, in order.
fn stream(trace: &[Traced]) -> Vec<Ended> {
    let mut numbers: HashMap<(u32, Vec<u64>), PathNumber> = HashMap::new();
    let mut walks: HashMap<u64, Walk> = HashMap::new();
    let mut paths = Vec::new();
    for &Traced { activation, version, step } in trace {
        let walk = &mut walks.entry(activation).or_default().0;
        match step {
            Step::Edge(_) | Step::Block(_) => walk.push(step.word()),
            Step::Cut(_) | Step::Return(_) => {
                walk.push(step.word());
                let next = numbers.len() as PathNumber;
                let path = *numbers.entry((version.0, walk.clone())).or_insert(next);
                paths.push(Ended { activation, version, path });
                walk.clear();
                // Another path begins here, not where the code is entered.
                walk.push(step.word());
            }
            Step::Gone(_) => _ = walks.remove(&activation),
        }
    }
    paths
}

fn json(found: &[(u32, &str, Touched)]) -> String {
    let mut all: Map<String, Value> = Map::new();
    for (k, layout, of) in found {
        let accesses = of.accesses;
        let figures = json!({
            "paths": of.paths, "nodes": of.nodes, "searches": of.searches, "steps": of.steps,
            "accesses": accesses.all, "bytes": accesses.bytes, "lines": accesses.lines,
            "small_misses": accesses.small_misses, "large_misses": accesses.large_misses,
            "unforeseen_misses": accesses.unforeseen_misses,
        });
        all.insert(format!("{layout}.{k}"), figures);
    }
    Value::from(all).to_string() + "\n"
}

fn table(found: &[(u32, &str, Touched)]) -> String {
    let mut text = format!(
        "{:>4}  {:<8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}{:>12}\n",
        "k", "layout", "paths", "nodes", "bytes/p", "lines", "misses/p L1", "L2", "unforeseen"
    );
    for (k, layout, of) in found {
        let per = |count: u64| count as f64 / of.paths as f64;
        let Accesses { bytes, lines, small_misses, large_misses, unforeseen_misses, .. } = of.accesses;
        let _ = writeln!(
            text,
            "{k:>4}  {layout:<8}{:>10}{:>10}{:>10.1}{:>10}{:>12.4}{:>12.4}{:>12.4}",
            of.paths,
            of.nodes,
            per(bytes),
            lines,
            per(small_misses),
            per(large_misses),
            per(unforeseen_misses)
        );
    }
    text
}
