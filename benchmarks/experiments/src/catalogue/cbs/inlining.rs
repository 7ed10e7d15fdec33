//! What experiments about inlining have in common: call graphs collected in one way or another in a first run, and code that was
//! inlined by them, measured against other code of the same program.
//!
//! A cell measures how much *more* time the code of the base takes: its `overhead` is the speed-up, and what it calls profiled is the base.
//!
//! What is inlined hangs on chance: an edge at the line between two sizes is above it by one sample and below it by the next, and one method
//! that is inlined, or not, makes some percent of difference. So the calls are sampled several times, with ticks at other moments, and each
//! time the code is measured against the other; a program's speed-up is the mean, and its interval says how far other samples may be.

use crate::catalogue::overheads::{COMPILING, Costs, order, seconds};
use crate::cell::{Cell, RESULT};
use crate::loss::{Loss, loss};
use crate::plan::{Mode, Plan};
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

/// Programs that are measured, one for each of the paper's nine in a full run; a quick one has those that stand for the programs it names:
/// two of many objects, a ray tracer and the compiler.
pub fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(
        &["richards", "deltablue", "raytracer", COMPILER],
        &["richards", "deltablue", "json", "cd", "havlak", "raytracer", "storage", COMPILER, "tracer"],
    )
}

/// A size of a program.
struct Input {
    size: &'static str,
    /// About how often an iteration comes to a yieldpoint at the lowest level.
    yieldpoints: u32,
    /// About how many seconds two inliners need until neither compiles anything more.
    learning: f64,
}

const fn input(size: &'static str, yieldpoints: u32, learning: f64) -> Input {
    Input { size, yieldpoints, learning }
}

/// What is thought of a program that is not among them.
const OTHER: Input = input("default", 1_000_000, 2.0);

/// The work of programs: the usual, but less where an iteration takes longer than that of a round of samples should, and what is enough for a
/// quick run where a program repeats something short.
const INPUTS: [(&str, Input, Option<Input>); 9] = [
    ("richards", input("default", 4_930_000, 0.6), None),
    ("deltablue", input("default", 6_350_000, 1.7), Some(input("1000", 1_290_000, 1.5))),
    ("json", input("default", 1_890_000, 2.5), None),
    ("cd", input("default", 2_230_000, 1.0), Some(input("quick", 92_000, 0.7))),
    ("havlak", input("default", 42_000_000, 10.0), None),
    ("raytracer", input("default", 26_500_000, 1.5), None),
    ("storage", input("default", 1_500_000, 0.6), None),
    (COMPILER, input("250", 7_390_000, 2.7), Some(input("quick", 70_000, 1.0))),
    ("tracer", input("128", 8_740_000, 1.1), Some(input("quick", 30_000, 1.0))),
];

/// As many ticks as the paper's short runs had: later ones find no other code to be made.
const TICKS: u32 = 500;

/// The fewest yieldpoints between two ticks: a window of samples is over by then.
const CLOSEST: u32 = 2_000;

/// How often the calls are sampled.
pub fn samples(plan: &Plan) -> u32 {
    plan.pick(3, 6)
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

/// How much faster a program is with one choice than with the other: a cell for each time that calls are sampled.
pub fn of_samples(plan: &Plan, program: &str, choice: Choice, base: Choice) -> Vec<Cell> {
    of_so_many(plan, program, (choice, base), samples(plan))
}

/// The same, sampled as often as it says.
pub fn of_so_many(plan: &Plan, program: &str, (choice, base): (Choice, Choice), all: u32) -> Vec<Cell> {
    let milliseconds =
        plan.trials.map_or(plan.pick(500, 3_500), |trials| (trials.clamp(1, 600) * 1_000 / all).max(500));
    // The interval is that of several samples: a quick run has one round of each.
    let more = plan.pick(" --rounds 1", "");
    (0..all).map(|sample| comparing(plan, program, (choice, base), sample, more, milliseconds)).collect()
}

/// What its compilation takes with either: a cell for each time that calls are sampled, which a quick run does once.
pub fn compiling(plan: &Plan, program: &str, choice: Choice, base: Choice) -> Vec<Cell> {
    let all = plan.pick(1, 3);
    let milliseconds = plan.trials.map_or(plan.pick(1_000, 5_500), |_| 1_000 * seconds(plan, 1) / all);
    let of_sample =
        |sample| comparing(plan, program, (choice, base), sample, COMPILING, milliseconds.max(500));
    (0..all).map(of_sample).collect()
}

/// With the calls that one of several runs sampled, and some flags more.
fn comparing(
    plan: &Plan,
    program: &str,
    (choice, base): (Choice, Choice),
    sample: u32,
    more: &str,
    milliseconds: u32,
) -> Cell {
    let (usual, little) = INPUTS
        .iter()
        .find(|of| of.0 == program)
        .map_or((&OTHER, None), |(_, usual, little)| (usual, little.as_ref()));
    let input = little.filter(|_| plan.mode == Mode::Quick).unwrap_or(usual);
    let Input { size, yieldpoints, learning } = *input;
    let iterations = (TICKS * CLOSEST).div_ceil(yieldpoints);
    // Other ticks, which hit other calls.
    let drawn = u64::from(sample) + 10 * (plan.seed % 10);
    let every = yieldpoints * iterations / TICKS;
    // Both may have the calls of one run.
    let mut collected: Vec<&str> = Vec::new();
    let mut commands = Vec::new();
    let mut flags = |choice: Choice, prefix: &str| {
        let Some(profiler) = choice.profiler else { return format!("{prefix}inline {}", choice.inliner) };
        let number = collected.iter().position(|of| *of == profiler).unwrap_or_else(|| {
            commands.push(format!(
                "bench {program} --size {size} --iterations {iterations} --tier o0 --timer virtual:{every}~{drawn} \
                 --profile {profiler} --profile-out @calls-{}.json",
                collected.len()
            ));
            collected.push(profiler);
            collected.len() - 1
        });
        format!("{prefix}inline {} {prefix}inline-profile cbs=@calls-{number}.json", choice.inliner)
    };
    let both = [flags(base, "--"), flags(choice, "--vs-")].join(" ");
    let order = order(plan);
    commands.push(format!(
        "overhead {program} {both}{more} --size {size} --no-counts --max-time {milliseconds}ms{order} --json {RESULT}"
    ));
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    // So many runs at the lowest level, and the part of a round that goes beyond the time.
    let own = 0.3 + learning + commands.len() as f64 * f64::from(yieldpoints * iterations) / 4e7;
    Cell::timed(Reduction::Overhead, &commands, f64::from(milliseconds) / 1e3 + own)
}

/// The speed-ups of all programs.
pub fn speedups(plan: &Plan, results: &Results<'_>, names: &[&str], choice: Choice, base: Choice) -> Costs {
    Costs::over(results, names, |name| of_samples(plan, name, choice, base))
}

/// The speed-up that each cell found, in percent.
pub fn percents(results: &Results<'_>, cells: &[Cell]) -> Option<Vec<f64>> {
    let percent = |cell: &Cell| Some((results.mean_logarithm(cell, "overhead")?.exp() - 1.0) * 100.0);
    cells.iter().map(percent).collect()
}

/// The cells of it.
pub fn cells(plan: &Plan, pairs: &[(Choice, Choice)]) -> Vec<Cell> {
    let names = names(plan);
    let of_pair = |&(choice, base): &(Choice, Choice)| {
        names.iter().flat_map(|name| of_samples(plan, name, choice, base)).collect::<Vec<Cell>>()
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

/// A loss that a check for none must be able to see, in percent: no larger than what the paper calls its largest gain in one virtual machine.
pub const MUST_SEE: f64 = 3.0;

/// Programs that are slower, and those that nobody knows of.
pub struct Losses<'a> {
    /// All of the interval is beyond what the same machine differs by.
    pub there: Vec<&'a str>,
    /// A loss of [`MUST_SEE`] is not excluded.
    pub unclear: Vec<&'a str>,
}

impl<'a> Losses<'a> {
    /// Of all programs, if all were measured.
    pub fn of(costs: &'a Costs) -> Option<Losses<'a>> {
        costs.mean?;
        let of = |wanted: Loss| {
            let is_so = |(name, measured): &&(String, Measured)| {
                let band = noise(costs, name).unwrap_or(f64::INFINITY);
                loss(measured, band, MUST_SEE) == wanted
            };
            costs.each.iter().filter(is_so).map(|of| of.0.as_str()).collect::<Vec<&str>>()
        };
        Some(Losses { there: of(Loss::There), unclear: of(Loss::Unclear) })
    }

    /// In words.
    pub fn text(&self) -> String {
        match self.unclear.is_empty() {
            true => format!("slower: {}", list(&self.there)),
            false => format!("slower: {}; too uncertain: {}", list(&self.there), list(&self.unclear)),
        }
    }
}

/// Names in a line, or that there are none.
pub fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
