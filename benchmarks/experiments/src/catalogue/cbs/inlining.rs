//! What experiments about inlining have in common: call graphs collected in one way or another in a first run, and code that was
//! inlined by them, measured against other code of the same program.
//!
//! A cell measures how much *more* time the code of the base takes: its `overhead` is the speed-up, and what it calls profiled is the base.

use crate::catalogue::accuracies;
use crate::catalogue::overheads::{COMPILING, Costs, seconds};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Measured;
use crate::results::Results;

/// How the paper's two collectors sample.
pub const TIMER: &str = "cbs:schedule=timer";
/// See [`TIMER`].
pub const CBS: &str = "cbs:samples=16,stride=3";

/// Its inliners and the static heuristics that each of them changes: J9's are the more aggressive ones.
pub const STATIC: &str = "static";
/// That of Jikes RVM before the paper.
pub const OLD: &str = "old";
/// The same with the limits of the new one.
pub const OLD_LARGER: &str = "old:base=35,max=180";
/// That of Jikes RVM after it.
pub const NEW: &str = "new";
/// That of J9.
pub const J9: &str = "j9";
/// The static heuristics of J9, which inline much: `j9` leaves out of it what the samples say is not worth it.
pub const J9_STATIC: &str = "static:words=60";

/// Programs that are measured, one for each of the paper's nine in a full run; a quick one leaves out two that take longest and one that has
/// nothing to inline. The compiler is among them.
pub fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(
        &["richards", "deltablue", "json", "cd", "raytracer", COMPILER],
        &["richards", "deltablue", "json", "cd", "havlak", "raytracer", "storage", COMPILER, "tracer"],
    )
}

/// The program that stands for `javac`.
pub const COMPILER: &str = "compiler";

/// The two that make most calls of methods of objects.
pub const OBJECTS: [&str; 2] = ["richards", "deltablue"];

/// An inliner, and who collects the calls for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The policy.
    pub inliner: &'static str,
    /// The profiler; nothing for one that asks none.
    pub profiler: Option<&'static str>,
}

impl Choice {
    /// By nothing but sizes.
    pub fn by_size(inliner: &'static str) -> Choice {
        Choice { inliner, profiler: None }
    }

    /// By the calls that the profiler finds.
    pub fn by_calls(inliner: &'static str, profiler: &'static str) -> Choice {
        Choice { inliner, profiler: Some(profiler) }
    }
}

/// How much faster a program is with one choice than with the other.
pub fn cell(plan: &Plan, program: &str, choice: Choice, base: Choice) -> Cell {
    comparing(plan, program, choice, base, "")
}

/// What its compilation takes with either.
pub fn compiling(plan: &Plan, program: &str, choice: Choice, base: Choice) -> Cell {
    comparing(plan, program, choice, base, COMPILING)
}

fn comparing(plan: &Plan, program: &str, choice: Choice, base: Choice, more: &str) -> Cell {
    let seconds = seconds(plan, 1);
    // Whoever repeats something short can be measured with little of it.
    let is_long = ["deltablue", COMPILER, "cd", "havlak", "tracer"].contains(&program);
    let size = if is_long { plan.pick("quick", "default") } else { "default" };
    // As many ticks as the paper's short runs had: later ones find no other code to be made.
    let yieldpoints = accuracies::RUNS.iter().find(|of| of.0 == program).map_or(1_000_000, |of| of.1);
    let every = if size == "quick" { 2000 } else { yieldpoints / 100 };
    let mut commands = Vec::new();
    let mut flags = |choice: Choice, prefix: &str, file: &str| match choice.profiler {
        None => format!("{prefix}inline {}", choice.inliner),
        Some(profiler) => {
            commands.push(format!(
                "bench {program} --size {size} --iterations 5 --tier o0 --timer virtual:{every} \
                 --profile {profiler} --profile-out @{file}"
            ));
            format!("{prefix}inline {} {prefix}inline-profile cbs=@{file}", choice.inliner)
        }
    };
    let both = [flags(base, "--", "base.json"), flags(choice, "--vs-", "choice.json")].join(" ");
    let order = if plan.seed == 0 { String::new() } else { format!(" --order {}", plan.seed) };
    commands.push(format!(
        "overhead {program} {both}{more} --size {size} --no-counts --max-time {seconds}s{order} --json {RESULT}"
    ));
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let own = plan.pick(1.5, if is_long { 10.0 } else { 4.0 });
    Cell::timed(Reduction::Overhead, &commands, f64::from(seconds) + own)
}

/// The speed-ups of all programs.
pub fn speedups(plan: &Plan, results: &Results<'_>, names: &[&str], choice: Choice, base: Choice) -> Costs {
    Costs::of(results, names, |name| cell(plan, name, choice, base))
}

/// The cells of it.
pub fn cells(plan: &Plan, pairs: &[(Choice, Choice)]) -> Vec<Cell> {
    let names = names(plan);
    let of_pair = |&(choice, base): &(Choice, Choice)| {
        names.iter().map(move |name| cell(plan, name, choice, base)).collect::<Vec<Cell>>()
    };
    pairs.iter().flat_map(of_pair).collect()
}

/// Of one program.
pub fn of(costs: &Costs, program: &str) -> Option<Measured> {
    costs.each.iter().find(|(name, _)| name == program).map(|(_, measured)| *measured)
}

/// How far from 0 noise alone gets: the farthest end of the interval of the same machine measured twice.
pub fn noise(costs: &Costs, program: &str) -> Option<f64> {
    let again = costs.again.iter().find(|(name, _)| name == program)?.1;
    Some(super::fig4::farthest(again))
}

/// Programs that are slower by more than noise: all of the interval is below 0, and the value beyond what the same machine differs by.
pub fn degraded(costs: &Costs) -> Vec<&str> {
    let is_slower = |name: &str, measured: &Measured| {
        let high = measured.interval.map_or(measured.value, |of| of.1);
        high < 0.0 && noise(costs, name).is_some_and(|noise| measured.value < -noise)
    };
    costs.each.iter().filter(|(name, measured)| is_slower(name, measured)).map(|of| of.0.as_str()).collect()
}

/// Names in a line, or that there are none.
pub fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
