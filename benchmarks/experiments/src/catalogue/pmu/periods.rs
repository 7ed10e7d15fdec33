//! The paper's periods as ours. What a period means is how many samples a run has, and so it is counted here: of 10 million cycles a run of
//! SPEC has some 10,000 samples, of 50,000 cycles two millions, of 500 million 200.
//!
//! | back end | for | a run | its samples |
//! |---|---|---|---|
//! | `recorder` | accuracy and paths | the iterations of [`RUNS`], interpreted | each after so many taken branches |
//! | `burst` | the same of compiled code | ten million yieldpoints | each after so many of them, the distance drawn by the profiler |
//! | `burst` | overhead | 200 s, with 10 million cycles at 20 ms; measured for a part of that | at ticks of the clock |
//!
//! A run of ten million taken branches has two millions of samples of four branches nearly side by side, and 200 with room between them.

use crate::catalogue::accuracies;
use crate::catalogue::overheads::{cell, of_seconds, seconds};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;

/// A period of the paper.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Period {
    /// In millions of the paper's cycles.
    pub megacycles: f64,
    /// The distance of ticks when time is measured.
    tick: &'static str,
}

/// Those of the paper's figure 4 and 50 million, and the longest of its figure 6.
pub const PERIODS: [Period; 8] = [
    Period { megacycles: 0.05, tick: "100us" },
    Period { megacycles: 0.1, tick: "200us" },
    Period { megacycles: 0.5, tick: "1ms" },
    Period { megacycles: 1.0, tick: "2ms" },
    Period { megacycles: 5.0, tick: "10ms" },
    HEADLINE,
    Period { megacycles: 50.0, tick: "100ms" },
    Period { megacycles: 500.0, tick: "1s" },
];

/// What a command says where the host does not permit the processor's records.
const LBR_REFUSED: &str = "holloway doctor";

/// The one that the paper's headline is about.
pub const HEADLINE: Period = Period { megacycles: 10.0, tick: "20ms" };

/// So many samples a run has of [`HEADLINE`].
const SAMPLES: f64 = 10_000.0;

/// The yieldpoints of a run of bursts.
const YIELDPOINTS: u32 = 10_000_000;

/// A burst is due after so many ticks, on average: how many it is each time, is drawn.
const TICKS: u32 = 16;

impl Period {
    /// How many samples a run has.
    pub fn samples(&self) -> f64 {
        SAMPLES * HEADLINE.megacycles / self.megacycles
    }

    /// Its name.
    pub fn name(&self) -> String {
        format!("{} M", self.megacycles)
    }
}

/// The branches that are remembered, and how a trace is divided among the paths that it may be of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traces {
    pub depth: u32,
    pub weights: &'static str,
}

/// The paper's: four branches, and equal shares. It decides what is reproduced.
pub const PAPER: Traces = Traces { depth: 4, weights: "equal" };

/// Those of a processor of today, by expectation-maximisation. They decide what is better than the paper.
pub const STRETCH: Traces = Traces { depth: 16, weights: "em" };

impl Traces {
    /// In words.
    pub fn name(&self) -> String {
        let weights = match self.weights {
            "equal" => "equal shares",
            "em" => "expectation-maximisation",
            _ => "unambiguous pieces only",
        };
        format!("{} branches, {weights}", self.depth)
    }

    fn flags(&self) -> String {
        format!("depth={},weights={}", self.depth, self.weights)
    }
}

/// Programs with the branches that an interpreted iteration takes, and its size: the classic ones, and large ones.
const RUNS: [(&str, u32, &str); 24] = [
    ("bounce", 21_054_917, "default"),
    ("cd", 4_150_436, "default"),
    ("deltablue", 7_836_727, "default"),
    ("havlak", 76_859_890, "default"),
    ("json", 3_520_712, "default"),
    ("list", 9_507_649, "default"),
    ("mandelbrot", 4_215_038, "default"),
    ("nbody", 180_323, "default"),
    ("permute", 8_792_565, "default"),
    ("queens", 9_596_113, "default"),
    ("richards", 7_438_445, "default"),
    ("sieve", 8_138_979, "default"),
    ("storage", 1_913_810, "default"),
    ("towers", 8_612_824, "default"),
    ("fft", 672_792, "default"),
    ("heapsort", 447_655, "default"),
    ("moldyn", 12_050_213, "default"),
    ("raytracer", 29_930_223, "default"),
    ("market", 101_171, "quick"),
    ("sqldb", 35_147_271, "quick"),
    ("xslt", 7_378_790, "quick"),
    ("scheme", 120_199_296, "quick"),
    ("machine", 68_334_948, "quick"),
    ("lzw", 715_763, "quick"),
];

/// The same for quick runs, of sizes of their own: what is not here runs as above.
const QUICK_RUNS: [(&str, u32, &str); 6] = [
    ("deltablue", 1_568_086, "1000"),
    ("list", 2_375_971, "50"),
    ("queens", 2_398_019, "50"),
    ("richards", 1_487_252, "1"),
    ("json", 1_759_056, "5"),
    ("storage", 1_913_810, "default"),
];

/// A run has so many branches at least: a quick one less.
const BRANCHES: [u32; 2] = [1_000_000, 10_000_000];

/// The flags of a program's run, its samples for a period so many branches apart, and how many seconds it takes.
fn run(plan: &Plan, program: &str, period: Period) -> (String, u64, f64) {
    let quick = plan.pick(&QUICK_RUNS[..], &[]).iter();
    let known = quick.chain(&RUNS).find(|of| of.0 == program);
    let &(_, branches, size) =
        known.unwrap_or_else(|| panic!("nobody said how many branches {program} takes"));
    let iterations = plan.pick(BRANCHES[0], BRANCHES[1]).div_ceil(branches);
    let all = f64::from(branches * iterations);
    let distance = (all / period.samples()).round().max(1.0) as u64;
    (
        format!("bench {program} --size {size} --iterations {iterations} --tier interp"),
        distance,
        0.2 + all * 6e-8,
    )
}

/// How near the paths of recorded traces come to exact counts of the same run.
pub fn recorded(plan: &Plan, program: &str, traces: Traces, period: Period) -> Cell {
    recorded_with(plan, program, traces, period, "")
}

/// The same with something more said to the profiler: `,key=value`.
pub fn recorded_with(plan: &Plan, program: &str, traces: Traces, period: Period, more: &str) -> Cell {
    let (run, distance, seconds) = run(plan, program, period);
    let line = format!(
        "{run} --profile btb:{},period={distance}{more},exact=yes --profile-out @profile.json",
        traces.flags()
    );
    Cell::counting(Reduction::Numbers, &[&line, "profile accuracy @profile.json --json"], seconds)
}

/// The traces that are recorded.
pub fn found(plan: &Plan, program: &str, period: Period) -> Cell {
    let (run, distance, seconds) = run(plan, program, period);
    let line = format!("{run} --profile btb:{},period={distance} --profile-out {RESULT}", PAPER.flags());
    Cell::counting(Reduction::Traces, &[&line], seconds / 2.0)
}

/// A run whose compiled code is left for a trace after about so many yieldpoints; and how many seconds it takes.
fn bursts(program: &str, traces: Traces, period: Period) -> (String, f64) {
    let in_one = accuracies::yieldpoints(program);
    let tick = (f64::from(YIELDPOINTS) / period.samples() / f64::from(TICKS)).round().max(1.0);
    let line = format!(
        "bench {program} --iterations {} --tier o2 --timer virtual:{tick}~0 --profile btb:backend=burst,{},ticks={TICKS}",
        YIELDPOINTS.div_ceil(in_one),
        traces.flags()
    );
    (line, 0.7 + 2e-5 * period.samples())
}

/// How near the paths of bursts come to exact counts of the same program.
pub fn burst(program: &str, traces: Traces, period: Period) -> Cell {
    let (line, seconds) = bursts(program, traces, period);
    let sampled = format!("{line} --profile-out @sampled.json");
    against_exact(program, &sampled, seconds)
}

/// The same of what the processor records, where the host permits it.
pub fn processor(program: &str, traces: Traces) -> Cell {
    let line = format!(
        "bench {program} --iterations {} --tier o2 --profile btb:backend=lbr,{},period=9973 --profile-out @sampled.json",
        YIELDPOINTS.div_ceil(accuracies::yieldpoints(program)),
        traces.flags()
    );
    let cell = against_exact(program, &line, 0.5);
    cell.unless_refused(LBR_REFUSED)
}

fn against_exact(program: &str, sampled: &str, seconds: f64) -> Cell {
    let exact = format!(
        "bench {program} --iterations 1 --tier interp --profile btb:depth=4,exact=yes --profile-out @exact.json"
    );
    let compare = "profile accuracy @sampled.json @exact.json --json";
    Cell::counting(Reduction::Numbers, &[sampled, &exact, compare], seconds + 0.6)
}

/// The traces of bursts.
pub fn found_by_bursts(program: &str, period: Period) -> Cell {
    let (line, seconds) = bursts(program, PAPER, period);
    Cell::counting(Reduction::Traces, &[&format!("{line} --profile-out {RESULT}")], seconds)
}

/// The traces that the processor records, each after so many branches that a run of bursts has its samples.
pub fn found_by_processor(program: &str, period: Period) -> Cell {
    // About two taken branches come from yieldpoint to yieldpoint.
    let distance = (2.0 * f64::from(YIELDPOINTS) / period.samples()).round();
    let line = format!(
        "bench {program} --iterations {} --tier o2 --profile btb:backend=lbr,depth=4,period={distance} --profile-out {RESULT}",
        YIELDPOINTS.div_ceil(accuracies::yieldpoints(program)),
    );
    Cell::counting(Reduction::Traces, &[&line], 0.1).unless_refused(LBR_REFUSED)
}

/// What a program costs when its compiled code is left for a trace at each tick.
pub fn cost(plan: &Plan, program: &str, traces: Traces, period: Period) -> Cell {
    let flags = flags(traces, period);
    // What only stands beside is measured for less long.
    match (traces == PAPER, period == HEADLINE) {
        (true, true) => cell(plan, program, &flags),
        _ => of_seconds(plan, program, &flags, seconds(plan, 1).min(10)),
    }
}

/// The flags of `overhead` for that.
fn flags(traces: Traces, period: Period) -> String {
    let timer = if period == HEADLINE { String::new() } else { format!("--timer wall:{} ", period.tick) };
    format!("--tier o2 {timer}--profile btb:backend=burst,depth={}", traces.depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::overheads;
    use crate::plan::Mode;

    fn number(cell: &Cell, before: &str) -> u64 {
        let line = cell.commands[0].join(" ");
        let at = line.find(before).unwrap_or_else(|| panic!("{line} has no {before}")) + before.len();
        let digits: String = line[at..].chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_else(|_| panic!("{before} is no number in {line}"))
    }

    #[test]
    fn samples_of_a_run_are_as_in_the_paper() {
        let plan = Plan::new(Mode::Full);
        for period in PERIODS {
            for (program, branches, _) in RUNS {
                let cell = recorded(&plan, program, PAPER, period);
                let all = u64::from(branches) * number(&cell, "--iterations ");
                let samples = all / number(&cell, "period=");
                let ratio = samples as f64 / period.samples();
                assert!((0.85..1.15).contains(&ratio), "{program} at {}: {samples}", period.name());
            }
        }
        assert_eq!(
            PERIODS.map(|of| of.samples() as u64),
            [2_000_000, 1_000_000, 200_000, 100_000, 20_000, 10_000, 2_000, 200]
        );
    }

    #[test]
    fn samples_of_bursts_are_so_many_too() {
        for period in PERIODS.iter().filter(|of| of.megacycles >= 0.5) {
            let cell = burst("richards", PAPER, *period);
            let yieldpoints = number(&cell, "--iterations ") * u64::from(accuracies::yieldpoints("richards"));
            let samples = yieldpoints / number(&cell, "virtual:") / u64::from(TICKS);
            let ratio = samples as f64 / period.samples();
            assert!((0.85..1.3).contains(&ratio), "at {}: {samples}", period.name());
        }
    }

    #[test]
    fn the_paper_s_cost_is_a_headline() {
        assert!(overheads::HEADLINES.contains(&&*flags(PAPER, HEADLINE)));
    }
}
