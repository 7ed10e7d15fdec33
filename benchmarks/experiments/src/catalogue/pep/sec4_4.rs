//! Bond and McKinley 2005, section 4.4: striding before the first sample of a tick, and after it.

use super::accuracy;
use crate::catalogue::accuracies::{Measure, paths_of};
use crate::catalogue::overheads::{bars, categories, cell as cost_cell};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::plan::{Mode, Plan};
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::shown;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec4.4-striding",
    place: "Section 4.4",
    title: "Striding before and after the first sample",
    says: &[
        "Arnold and Grove skip STRIDE-1 opportunities between any two samples of a tick, and up to as many before the first. PEP only skips before the first: in Jikes RVM \
         a skip costs nearly what a sample does, so that striding afterwards is not a good use of time, and the paper finds that striding before the first sample matters most. It has no numbers for either.",
        "Strides are there because a clock prefers what takes long, and what follows it. So what each of them adds is asked of runs by the clock: one sample for each tick and 64, without strides, with a stride \
         of 17 before the first, and throughout. By virtual ticks, which fall on each path as often as it is executed, there is nothing to repair.",
        "Trade-offs need costs and numbers that repeat: accuracy of paths (branch flow) and edges (relative overlap) is measured for a grid of samples and strides with both schedules, in runs with virtual ticks as in figure 8. \
         What a sample and a skip cost is fitted by least squares to the time that two extreme schedules take at ticks of a millisecond: nearly all samples, and nearly all skips. With these, each schedule has \
         a cost at ticks of 20 ms; and for each schedule that strides throughout (AG), the most accurate simplified one (PEP) that costs no more is sought. PEP(1,1) is the timer alone.",
    ],
    cells: |plan| {
        let accuracies = grid(plan)
            .into_iter()
            .flat_map(|of| programs(plan).into_iter().map(move |name| of.cell(plan, name)));
        let clocked =
            BY_CLOCK.iter().flat_map(|of| accuracy::by_clock(plan, &clocked(plan), of.1, trials(plan)));
        accuracies.chain(timed(plan)).chain(clocked).collect()
    },
    conclude,
};

/// By the clock: one sample, without a stride and with one; and 64, without, with one before the first, and throughout.
const BY_CLOCK: [(&str, &str); 5] = [
    ("PEP(1,1)", "pep:schedule=timer"),
    ("PEP(1,17)", "pep:samples=1,stride=17"),
    ("PEP(64,1)", "pep:samples=64,stride=1"),
    ("PEP(64,17)", "pep:samples=64,stride=17"),
    ("AG(64,17)", "pep:samples=64,stride=17,schedule=arnold-grove"),
];

/// The programs that are run by the clock: in a quick run some of those of figure 8.
fn clocked(plan: &Plan) -> Vec<&'static str> {
    match (&plan.programs, plan.mode) {
        (None, Mode::Quick) => vec!["richards", "deltablue"],
        _ => accuracy::clocked(plan),
    }
}

/// So many runs of each by the clock.
fn trials(plan: &Plan) -> u32 {
    plan.trials.unwrap_or(plan.pick(1, 3)).clamp(1, 10)
}

/// A schedule of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Schedule {
    samples: u32,
    stride: u32,
    /// Does it stride after the first sample, too.
    throughout: bool,
}

impl Schedule {
    fn cell(self, plan: &Plan, program: &str) -> Cell {
        let shape = if self.throughout { ",schedule=arnold-grove" } else { "" };
        let spec = format!("pep:samples={},stride={}{shape}", self.samples, self.stride);
        // As many ticks as in the paper, in a night.
        let ticks = plan.pick((100, 50_000), (500, 200_000));
        paths_of(plan, program, &spec, ticks, plan.pick(0.7, 7.0))
    }

    fn name(self) -> String {
        format!("{}({},{})", if self.throughout { "AG" } else { "PEP" }, self.samples, self.stride)
    }

    /// Opportunities that are skipped for each tick, on average.
    fn skips(self) -> f64 {
        let (samples, stride) = (f64::from(self.samples), f64::from(self.stride));
        (stride - 1.0) / 2.0 + if self.throughout { (samples - 1.0) * (stride - 1.0) } else { 0.0 }
    }

    /// Percent of time at the paper's ticks.
    fn cost(self, costs: Costs) -> f64 {
        let nanoseconds = f64::from(self.samples) * costs.sample + self.skips() * costs.skip;
        100.0 * nanoseconds / TICK
    }
}

/// Of the paper, in nanoseconds.
const TICK: f64 = 20e6;

fn samples(plan: &Plan) -> &'static [u32] {
    plan.pick(&[1, 16, 64, 256], &[1, 4, 16, 64, 256, 1024])
}

fn strides(plan: &Plan) -> &'static [u32] {
    plan.pick(&[1, 17], &[1, 3, 7, 17, 31])
}

/// All schedules, each once: those that never skip or have one sample are the same in both forms.
fn grid(plan: &Plan) -> Vec<Schedule> {
    let mut all = Vec::new();
    for &samples in samples(plan) {
        for &stride in strides(plan) {
            all.push(Schedule { samples, stride, throughout: false });
            if samples > 1 && stride > 1 {
                all.push(Schedule { samples, stride, throughout: true });
            }
        }
    }
    all
}

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["deltablue", "cd", "json"], &accuracy::QUICK)
}

/// Nearly all samples, and nearly all skips.
const EXTREMES: [&str; 2] = ["pep:samples=4096,stride=1", "pep:samples=16,stride=255,schedule=arnold-grove"];

fn timed(plan: &Plan) -> Vec<Cell> {
    let names =
        plan.programs(&["list", "json"], &["list", "json", "richards", "storage", "queens", "bounce"]);
    let cell = |name: &str, of: &str| cost_cell(plan, name, &format!("--profile {of} --timer wall:1ms"));
    names.iter().flat_map(|name| EXTREMES.map(|of| cell(name, of))).collect()
}

/// Nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Costs {
    sample: f64,
    skip: f64,
}

/// What runs did: samples, skips, and nanoseconds that they took longer than without.
type Runs = Vec<[f64; 3]>;

/// Fits the costs; nothing if the runs do not tell them apart.
fn fitted(runs: &Runs) -> Option<Costs> {
    let sum = |a: usize, b: usize| runs.iter().map(|run| run[a] * run[b]).sum::<f64>();
    let (aa, ab, bb, at, bt) = (sum(0, 0), sum(0, 1), sum(1, 1), sum(0, 2), sum(1, 2));
    let determinant = aa * bb - ab * ab;
    let costs = Costs { sample: (at * bb - bt * ab) / determinant, skip: (bt * aa - at * ab) / determinant };
    (determinant > 1e-6 * aa * bb).then_some(costs)
}

fn runs(plan: &Plan, results: &Results<'_>) -> Option<Runs> {
    let run = |cell: &Cell| {
        let outcome = results.outcome(cell)?;
        let number = |name: &str| outcome.numbers.get(name).copied();
        let time = |arm: &str| Some(outcome.samples.get(&format!("{arm}.cpu_ns"))?.iter().sum::<f64>());
        let taken = number("profiled.yieldpoints_taken")? - number("base.yieldpoints_taken")?;
        let samples = number("profiled.path_samples")?;
        Some([samples, taken - samples, time("profiled")? - time("base")?])
    };
    timed(plan).iter().map(run).collect()
}

/// What a schedule costs and how accurate it is, in percent.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    schedule: Schedule,
    cost: f64,
    paths: f64,
    edges: f64,
}

/// For a schedule that strides throughout: the best simplified one that costs no more.
fn rival(points: &[Point], of: &Point, score: fn(&Point) -> f64) -> Option<Point> {
    let others = points.iter().filter(|other| !other.schedule.throughout && other.cost <= of.cost);
    others.copied().max_by(|a, b| score(a).total_cmp(&score(b)))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let runs = runs(plan, results);
    // A cost that is not above 0 was not measured.
    let costs = runs.as_ref().and_then(fitted).filter(|costs| costs.sample > 0.0 && costs.skip > 0.0);
    let score = |schedule: Schedule, name: &str| {
        let each: Option<Vec<f64>> =
            names.iter().map(|program| results.number(&schedule.cell(plan, program), name)).collect();
        mean(&each?).map(|share| 100.0 * share)
    };
    let point = |schedule: Schedule| {
        let (paths, edges) = (
            score(schedule, "paths.branch.accuracy")?,
            score(schedule, "edges.sampled.exact_paths.relative")?,
        );
        Some(Point { schedule, cost: schedule.cost(costs?), paths, edges })
    };
    let points: Option<Vec<Point>> = grid(plan).into_iter().map(point).collect();
    for (what, score) in SCORES {
        // By how many points the one that strides throughout is better, at most.
        let worst = points.as_ref().and_then(|points| {
            let all = points.iter().filter(|of| of.schedule.throughout);
            let lead =
                |of: &Point| rival(points, of, score).map(|other| (score(of) - score(&other), *of, other));
            all.filter_map(lead).max_by(|a, b| a.0.total_cmp(&b.0))
        });
        found.checks.shape(
            &format!("striding after the first sample does not pay: {what}"),
            "not a good trade-off",
            "the best simplified schedule that costs no more is at most 1 point less accurate, for each",
            worst.map(|worst| worst.0 <= 1.0),
            worst.map_or("not measured".into(), |(lead, of, other)| {
                format!("at most {lead:.2} points, of {} over {}", of.schedule.name(), other.schedule.name())
            }),
        );
    }
    let clock =
        BY_CLOCK.map(|of| accuracy::measure_by_clock(plan, results, &clocked(plan), of, trials(plan)));
    let gains = gains(&clock);
    found.checks.shape(
        "striding before the first sample matters most",
        "found, without numbers",
        "by the clock it adds more to the accuracy of paths than striding afterwards, on average over one sample and 64",
        gains.map(|(before, after)| before > after),
        gains.map_or("not measured".into(), |(before, after)| {
            format!("{before:+.2} points before, {after:+.2} afterwards")
        }),
    );
    let groups = categories(&clocked(plan));
    let series = clock.iter().map(|of| of.series(&groups)).collect();
    let caption = "Paths by branch flow, with ticks of a clock: what strides before the first sample repair, and what strides after it add.";
    found.figures.push(bars("clock", "Accuracy by the clock", caption, Unit::Percent, groups, series));
    for (what, cost) in [("a sample", costs.map(|of| of.sample)), ("a skip", costs.map(|of| of.skip))] {
        let cost = cost.map(|cost| exactly(cost, Unit::Nanoseconds));
        found.checks.told(&format!("cost of {what}"), "a sample almost as expensive as a skip", cost);
    }
    found.figures.extend(points.as_ref().map(|points| lines(points)));
    found.figures.extend(points.as_ref().map(|points| schedules(points)));
}

/// A name, and what it is.
type Score = (&'static str, fn(&Point) -> f64);

const SCORES: [Score; 2] = [("paths", |of| of.paths), ("edges", |of| of.edges)];

/// Points of accuracy of paths, by the clock: by striding before the first sample, and by striding after it. There is nothing after the one
/// sample of a tick.
fn gains(clock: &[Measure; 5]) -> Option<(f64, f64)> {
    let of = |at: usize| clock[at].mean.map(|mean| mean.value);
    let [one, one_stride, many, many_stride, throughout] = [of(0)?, of(1)?, of(2)?, of(3)?, of(4)?];
    Some((((one_stride - one) + (many_stride - many)) / 2.0, (throughout - many_stride) / 2.0))
}

/// Accuracy over cost, a line for each stride and form.
fn lines(points: &[Point]) -> Figure {
    let mut lines: Vec<Line> = Vec::new();
    for of in points {
        let form = if of.schedule.throughout { "throughout" } else { "before the first sample" };
        let name = match of.schedule.stride {
            1 => "no stride".to_string(),
            stride => format!("stride {stride} {form}"),
        };
        let place = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            lines.push(Line { name, is_paper: false, points: Vec::new() });
            lines.len() - 1
        });
        lines[place].points.push((of.cost, of.paths));
    }
    Figure {
        id: "tradeoff".into(),
        title: "Accuracy of paths over cost".into(),
        caption:
            "Cost at ticks of 20 ms by the fitted costs of a sample and of a skip; more samples to the right."
                .into(),
        chart: Chart::Lines {
            x: Axis { title: "overhead of sampling".into(), unit: Unit::Percent, log: true },
            y: Axis { title: "accuracy of paths".into(), unit: Unit::Percent, log: false },
            lines,
        },
    }
}

fn schedules(points: &[Point]) -> Figure {
    let row = |of: &Point| {
        let number = |value, unit| entry(Some(value), unit);
        vec![
            text(&of.schedule.name()),
            number(f64::from(of.schedule.samples), Unit::Count),
            number(of.schedule.skips(), Unit::Count),
            text(&format!("{:.4} %", of.cost)),
            number(of.paths, Unit::Percent),
            number(of.edges, Unit::Percent),
            text(&match of.schedule.throughout {
                false => String::new(),
                true => rival(points, of, |of| of.paths).map_or("-".into(), |other| {
                    format!("{}, {}", other.schedule.name(), shown(other.paths, Unit::Percent))
                }),
            }),
        ]
    };
    let columns =
        ["schedule", "samples", "skips", "cost", "paths", "edges", "best simplified that costs no more"];
    table(
        "schedules",
        "All schedules",
        "For each tick of 20 ms: samples, skips, and what they cost; accuracy of paths and relative overlap of edges, means over programs. \
         Yieldpoints in a window that end no path are left out: they are the same part of every window.",
        &columns,
        points.iter().map(row).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_fitted() {
        let runs = vec![[1000.0, 10.0, 80_600.0], [10.0, 1000.0, 60_800.0]];
        let costs = fitted(&runs).expect("they differ");
        assert!((costs.sample - 80.0).abs() < 1e-6 && (costs.skip - 60.0).abs() < 1e-6, "{costs:?}");
        assert_eq!(fitted(&vec![[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), None);
        assert_eq!(fitted(&Vec::new()), None);
    }

    #[test]
    fn schedules_skip_as_in_figure_5() {
        let of = |throughout| Schedule { samples: 4, stride: 3, throughout }.skips();
        // Of three ticks that skip 0, 1 and 2 before the first sample.
        assert_eq!((of(false), of(true)), (1.0, 7.0));
        assert_eq!(grid(&Plan::new(Mode::Full)).len(), 30 + 20);
    }

    #[test]
    fn a_rival_costs_no_more() {
        let point = |samples, throughout, cost, paths| Point {
            schedule: Schedule { samples, stride: 17, throughout },
            cost,
            paths,
            edges: 0.0,
        };
        let points = [point(64, false, 0.1, 94.0), point(1024, false, 1.0, 99.0), point(64, true, 0.5, 95.5)];
        let found = rival(&points, &points[2], |of| of.paths).expect("one");
        assert_eq!(found.schedule.samples, 64);
    }
}
