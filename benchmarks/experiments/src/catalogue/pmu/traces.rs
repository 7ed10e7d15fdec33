//! What the experiments about branch traces share: the cells. In nearly all of them the interpreter records.

use crate::cell::{Cell, RESULT};
use crate::reduce::Reduction;

/// How near the paths of such traces come to exact counts of the same run.
pub fn accuracy(program: &str, profiler: &str) -> Cell {
    let run = format!(
        "bench {program} --size quick --iterations 1 --tier interp --profile {profiler} --profile-out @profile.json"
    );
    Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], 0.8)
}

/// The traces themselves: how many, what they cross, and to how many paths they may belong.
pub fn statistics(program: &str, size: &str, profiler: &str) -> Cell {
    let run = format!(
        "bench {program} --size {size} --iterations 1 --tier interp --profile {profiler} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Traces, &[&run], 0.4)
}

/// The same of the branches of compiled code. Everything is compiled before it runs on, so that each run has the same code.
pub fn compiled(program: &str, size: &str, ticks: u32, profiler: &str) -> Cell {
    let run = format!(
        "bench {program} --size {size} --iterations 10 --tier o2 --sync-compile --timer virtual:{ticks} --profile {profiler} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Traces, &[&run], 1.5)
}

/// The traces of several runs together, which differ in where they are sampled.
pub fn aggregated(program: &str, profiler: &str, runs: u32) -> Cell {
    let commands = sum(program, profiler, runs, RESULT);
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    Cell::counting(Reduction::Traces, &commands, 0.15 * f64::from(runs))
}

/// How near their paths come to exact counts of such a run.
pub fn aggregated_accuracy(program: &str, profiler: &str, runs: u32) -> Cell {
    let mut commands = sum(program, profiler, runs, "@sum.json");
    commands.push(format!(
        "bench {program} --size quick --iterations 1 --tier interp --profile {profiler},exact=yes --profile-out @exact.json"
    ));
    commands.push("profile accuracy @sum.json @exact.json --json".into());
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    Cell::counting(Reduction::Numbers, &commands, 0.2 + 0.15 * f64::from(runs))
}

/// The commands that put the sum of several runs into a file.
fn sum(program: &str, profiler: &str, runs: u32, file: &str) -> Vec<String> {
    let run = |seed: u32| {
        format!(
            "bench {program} --size quick --iterations 1 --tier interp --profile {profiler},seed={seed} --profile-out @{seed}.json"
        )
    };
    let files: String = (1..=runs).map(|seed| format!(" @{seed}.json")).collect();
    // A sum of one is the profile itself.
    match runs {
        1 => vec![run(1).replace("@1.json", file)],
        _ => (1..=runs).map(run).chain([format!("profile merge {file}{files}")]).collect(),
    }
}
