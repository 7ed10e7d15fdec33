//! What experiments about accuracy have in common: runs that count exactly and sample at once, grids of profilers of calls, and means over
//! programs.

use crate::catalogue::overheads::{MEAN, in_a_line, series};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Measured, Series, Unit};
use crate::results::{exactly, mean};

/// About how many yieldpoints an iteration has at the default size.
pub const RUNS: &[(&str, u32)] = &[
    ("bounce", 2_575_509),
    ("cd", 751_790),
    ("deltablue", 2_757_906),
    ("havlak", 10_813_168),
    ("json", 243_025),
    ("list", 4_147_545),
    ("mandelbrot", 2_085_607),
    ("nbody", 210_039),
    ("permute", 3_376_687),
    ("queens", 1_946_270),
    ("richards", 1_239_188),
    ("sieve", 6_427_609),
    ("storage", 709_350),
    ("towers", 1_092_150),
    ("fft", 458_744),
    ("heapsort", 172_751),
    ("moldyn", 1_686_004),
    ("raytracer", 3_422_295),
    ("compiler", 9_706_244),
    ("lexgen", 25_227_493),
    ("rules", 20_999_829),
    ("market", 4_051_675),
    ("sqldb", 9_923_973),
    ("xslt", 23_760_282),
    ("scheme", 44_235_901),
    ("machine", 137_891_215),
    ("lzw", 63_049_007),
];

/// About how many yieldpoints an iteration of the program has at the default size.
pub fn yieldpoints(program: &str) -> u32 {
    RUNS.iter().find(|of| of.0 == program).map_or(1_000_000, |of| of.1)
}

/// The paper's median run had some 550 ticks; here none shall have less than 500, though [`RUNS`] is not exact.
const TICKS: u32 = 520;

/// The names of [`RUNS`].
pub fn names() -> Vec<&'static str> {
    RUNS.iter().map(|of| of.0).collect()
}

/// How near a sampling profiler of paths comes to the exact paths and edges of the same run, all compiled at once at the highest level.
pub fn paths(plan: &Plan, program: &str, profiler: &str) -> Cell {
    // A window of the paper's is a hundredth of what lies between two ticks.
    let every: u32 = plan.pick(50_000, 200_000);
    paths_of(plan, program, profiler, (TICKS, every), plan.pick(1.2, 4.0))
}

/// The same in a run of so many ticks, with so many yieldpoints between two of them, on average. Each distance is drawn: at equal ones, counted from the
/// beginning of each iteration, ticks fell on the same 55 places of `deltablue` in all of ten iterations, and one yieldpoint more or less made it 90 or
/// 99 % accurate.
pub fn paths_of(
    plan: &Plan,
    program: &str,
    profiler: &str,
    (ticks, every): (u32, u32),
    seconds: f64,
) -> Cell {
    let iterations = (ticks * every).div_ceil(yieldpoints(program));
    let run = format!(
        "bench {program} --iterations {iterations} --tier o2 --timer virtual:{every}~{} \
         --profile edges --profile blpp --profile {profiler} --profile-out @profile.json",
        plan.seed
    );
    let compare = "profile accuracy @profile.json --json";
    Cell::counting(Reduction::Numbers, &[&run, compare], seconds)
}

/// How near profilers of calls come to the calls that are made, at the lowest level, for a run of so many ticks.
pub fn calls(program: &str, size: &str, ticks: u64, profilers: &[String], seconds: f64) -> Cell {
    let each: String = profilers.iter().map(|spec| format!(" --profile {spec}")).collect();
    let line = format!("accuracy {program} --tier o0 --size {size} --ticks {ticks}{each} --json {RESULT}");
    Cell::counting(Reduction::Calls, &[&line], seconds)
}

/// A score of a configuration, in percent.
pub struct Measure {
    /// What it is called.
    pub name: String,
    each: Vec<(String, f64)>,
    /// Nothing if a program is missing.
    pub mean: Option<Measured>,
}

impl Measure {
    /// From the share of 0 to 1 for each program, as far as it is known.
    pub fn of(name: impl Into<String>, programs: &[&str], share: impl Fn(&str) -> Option<f64>) -> Measure {
        let known =
            programs.iter().filter_map(|program| Some((program.to_string(), share(program)? * 100.0)));
        let each: Vec<(String, f64)> = known.collect();
        let values: Vec<f64> = each.iter().map(|of| of.1).collect();
        let mean = if each.len() == programs.len() { mean(&values) } else { None };
        Measure { name: name.into(), each, mean: mean.map(|mean| exactly(mean, Unit::Percent)) }
    }

    /// As bars, the mean among them.
    pub fn series(&self, groups: &[String]) -> Series {
        series(&self.name, groups, |group| match self.each.iter().find(|of| of.0 == group) {
            Some(of) => Some(exactly(of.1, Unit::Percent)),
            None if group == MEAN => self.mean,
            None => None,
        })
    }
}

/// The means in a line.
pub fn means(all: &[Measure]) -> String {
    in_a_line(all.iter().map(|of| (&*of.name, of.mean)), "not measured")
}
