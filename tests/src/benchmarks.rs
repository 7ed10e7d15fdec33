//! The benchmark programs as tests use them.

use crate::parallel::check_all;
use holloway::compile::compile_benchmark;
use holloway_benchmarks::registry::{BENCHMARKS, Benchmark};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::timer::TimerSource;
use std::sync::Arc;

/// A timer with which all tiers do the same in a program: this one, or none that ever ticks.
pub fn same_in_all_tiers(benchmark: &Benchmark, timer: TimerSource) -> TimerSource {
    if benchmark.depends_on_switches() { TimerSource::Virtual(u64::MAX) } else { timer }
}

/// A program with more functions is large.
const MOST_FUNCTIONS: usize = 1000;

/// Is it one of the programs whose compilation takes minutes, where everything is compiled at the highest level.
pub fn is_large(program: &VerifiedProgram) -> bool {
    program.functions.len() > MOST_FUNCTIONS
}

/// Calls `with` for each benchmark program but the large ones: what it looks at is the same in small ones.
pub fn with_most_programs(
    with: impl Fn(&'static Benchmark, &Arc<VerifiedProgram>) -> Result<(), String> + Sync,
) {
    with_every_program(|benchmark, program| match is_large(program) {
        true => Ok(()),
        false => with(benchmark, program),
    });
}

/// Calls `with` for each benchmark program.
pub fn with_every_program(
    with: impl Fn(&'static Benchmark, &Arc<VerifiedProgram>) -> Result<(), String> + Sync,
) {
    // The largest are the last: whoever begins with them does not wait for one of them alone in the end.
    let benchmarks: Vec<&'static Benchmark> = BENCHMARKS.iter().rev().collect();
    check_all(
        &benchmarks,
        |benchmark| benchmark.name.to_string(),
        |&benchmark| with(benchmark, &compile_benchmark(benchmark, false)?),
    );
}
