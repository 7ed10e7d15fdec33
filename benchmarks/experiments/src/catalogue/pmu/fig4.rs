//! Shye et al. 2005, figure 4: what sampling costs and how many paths it finds, over the period.

use super::fig6;
use super::periods::{self, HEADLINE, PAPER, PERIODS, Period};
use crate::catalogue::overheads::{Costs, in_a_line};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, UNAVAILABLE};
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly, mean as mean_of};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-fig4",
    place: "Figure 4",
    title: "Overhead and paths over the period",
    says: &[
        "The paper samples every 50,000 to 10 million cycles: that costs less than 10 % down to 500,000, about 50 % at 50,000 and 1 % at 10 million. The more often it \
         samples, the more different paths it finds.",
        "Here a period is named by the paper's cycles, with 50 million added, and means as many samples in a run: 10,000 at 10 million cycles. Time: 10 million cycles are 20 ms, so that a run has 200 s; compiled code \
         is left for a trace of four branches at each tick. The timer itself runs in the machines without profiles, too. A system's clock has its limits: how many ticks there were stands in a table. The quick mode measures three of the seven, and 10 million in all programs of `pmu-fig6`.",
        "Paths are what different traces of four branches show, in runs that repeat and have as many samples as the paper's: in a full run 200,000 of bursts at 500,000 cycles, two millions of the recorder at 50,000. The processor's own records (lbr) are there where the host permits them; \
         `holloway doctor` says whether it does. Distances vary by a quarter, for the recorder as for bursts: at fixed ones a program that \
         repeats something short (list) was always left at the same places, and showed fewer traces with the shortest of them than with the next. Stepping through machine code (step) sees the \
         branches that lbr would and takes a hundred times as long.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let costs = measured(plan);
        let costs = costs.iter().flat_map(|&at| names.iter().map(move |name| cost(plan, name, at)));
        let paths = BACKENDS.iter().flat_map(|backend| {
            let names = &names;
            sampled(plan, backend)
                .iter()
                .flat_map(move |&of| names.iter().map(move |name| paths(plan, name, backend, of)))
        });
        let usual = fig6::programs(plan).into_iter().map(|name| fig6::burst(plan, name));
        costs.chain(usual).chain(paths).collect()
    },
    conclude,
};

/// Positions of those that the paper has numbers for.
const NAMED: [usize; 3] = [0, 2, 5];

const BACKENDS: [&str; 3] = ["recorder", "burst", "lbr"];

/// The paper's and 50 million.
fn periods() -> &'static [Period] {
    &PERIODS[..7]
}

fn measured(plan: &Plan) -> Vec<usize> {
    plan.pick(NAMED.to_vec(), (0..periods().len()).collect())
}

/// The periods at which a back end looks for paths. More often than at 500,000 cycles, compiled code would hardly run between bursts.
fn sampled(plan: &Plan, backend: &str) -> &'static [Period] {
    if backend == "burst" { &periods()[plan.pick(4, 2)..] } else { periods() }
}

/// "A few benchmarks".
fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["json", "richards"], &["json", "richards", "deltablue", "bounce", "cd", "list"])
}

/// 10 million cycles are what figure 6 measures.
fn cost(plan: &Plan, program: &str, at: usize) -> Cell {
    periods::cost(plan, program, PAPER, PERIODS[at])
}

fn paths(plan: &Plan, program: &str, backend: &str, period: Period) -> Cell {
    match backend {
        "recorder" => periods::found(plan, program, period),
        "burst" => periods::found_by_bursts(program, period),
        _ => periods::found_by_processor(program, period),
    }
}

/// Paths over the period, a line for each program; nothing if the host does not permit it or one is missing.
fn lines(plan: &Plan, results: &Results<'_>, backend: &str) -> Option<Vec<Line>> {
    let line = |name: &str| {
        let point =
            |of: &Period| Some((of.megacycles, results.number(&paths(plan, name, backend, *of), "traces")?));
        let points: Option<Vec<(f64, f64)>> = sampled(plan, backend).iter().map(point).collect();
        Some(Line { name: format!("{name}, {backend}"), is_paper: false, points: points? })
    };
    let lines: Option<Vec<Line>> = programs(plan).into_iter().map(line).collect();
    lines.filter(|lines| !lines.is_empty())
}

/// A path more or less, or one in fifty, is chance.
fn falls(line: &&Line) -> bool {
    line.points.windows(2).all(|of| of[1].1 <= of[0].1 * 1.02 + 1.0)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let costs: Vec<(f64, Costs)> = measured(plan)
        .into_iter()
        .map(|at| (PERIODS[at].megacycles, Costs::of(results, &names, |name| cost(plan, name, at))))
        .collect();
    let usual = fig6::programs(plan);
    let usual = Costs::of(results, &usual, |name| fig6::burst(plan, name));
    let mean = |at: usize| costs.iter().find(|of| of.0 == PERIODS[at].megacycles).and_then(|of| of.1.mean);
    for (at, paper, bound) in [
        (NAMED[2], "about 1 %", Bound::at_most(1.0).resolution(1.0)),
        (NAMED[1], "less than 10 %", Bound::at_most(10.0).resolution(5.0)),
        (NAMED[0], "about 50 %", Bound::at_most(50.0).stretch(10.0).resolution(10.0)),
    ] {
        let what = format!("average overhead at {} million cycles", PERIODS[at].megacycles);
        // The smallest number needs the most programs.
        let measured = if at == NAMED[2] { usual.mean } else { mean(at) };
        found.checks.number(&what, paper, bound, measured);
    }
    let known: Option<Vec<f64>> = costs.iter().map(|of| Some(of.1.mean?.value)).collect();
    let band = costs.iter().filter_map(|of| of.1.band()).fold(0.0, f64::max);
    let labels: Vec<String> = costs.iter().map(|of| format!("{} M", of.0)).collect();
    found.checks.shape(
        "sampling more often costs more",
        "1 %, under 10 %, 50 %",
        "none of the periods costs more than the next shorter one, but for noise, and the longest less than the shortest",
        known.map(|means| means.windows(2).all(|of| of[0] + band >= of[1]) && means.first() > means.last()),
        in_a_line(labels.iter().zip(&costs).map(|(name, of)| (name.as_str(), of.1.mean)), "not measured"),
    );
    let mut all = Vec::new();
    for backend in BACKENDS.iter().filter(|name| **name != "lbr") {
        let lines = lines(plan, results, backend);
        let falling = lines.as_ref().map(|lines| (lines.iter().filter(falls).count(), lines.len()));
        found.checks.shape(
            &format!("sampling more often finds more paths: {backend}"),
            "rising with the rate",
            "paths do not rise with the period, but for one in fifty or a single one, in all programs",
            falling.map(|(falling, all)| falling == all),
            falling.map_or("not measured".into(), |(falling, all)| format!("{falling} of {all} programs")),
        );
        all.extend(lines.into_iter().flatten());
    }
    let of_processor =
        names.iter().flat_map(|name| periods().iter().map(move |of| paths(plan, name, "lbr", *of)));
    let of_processor: Option<Vec<bool>> =
        of_processor.map(|cell| Some(!results.outcome(&cell)?.numbers.contains_key(UNAVAILABLE))).collect();
    let counted = of_processor.map(|all| all.into_iter().filter(|&is_there| is_there).count());
    found.checks.told(
        "points by the processor's own records (lbr); 0 where the host does not permit them, and this is unavailable",
        "all of its points",
        counted.map(|count| exactly(count as f64, Unit::Count)),
    );
    if counted.is_some_and(|count| count > 0) {
        all.extend(lines(plan, results, "lbr").into_iter().flatten());
    }
    let x =
        || Axis { title: "period in millions of the paper's cycles".into(), unit: Unit::Count, log: true };
    if !all.is_empty() {
        found.figures.push(Figure {
            id: "paths".into(),
            title: "Paths over the period".into(),
            caption:
                "Different traces of four branches. Records of the processor (lbr) are there if the host permits them."
                    .into(),
            chart: Chart::Lines {
                x: x(),
                y: Axis { title: "paths".into(), unit: Unit::Count, log: true },
                lines: all,
            },
        });
    }
    found.figures.extend(ticks(plan, results));
    let points: Vec<(f64, f64)> =
        costs.iter().filter_map(|(period, of)| Some((*period, of.mean?.value))).collect();
    if !points.is_empty() {
        let paper = vec![(0.05, 50.0), (0.5, 10.0), (10.0, 1.0)];
        found.figures.push(Figure {
            id: "overhead".into(),
            title: "Overhead over the period".into(),
            caption: "Mean over programs, of leaving compiled code for a trace at each tick. The paper's are those of its text.".into(),
            chart: Chart::Lines {
                x: x(),
                y: Axis { title: "overhead".into(), unit: Unit::Percent, log: false },
                lines: vec![
                    Line { name: "measured".into(), is_paper: false, points },
                    Line { name: "paper".into(), is_paper: true, points: paper },
                ],
            },
        });
    }
}

/// How often compiled code was left, as it was asked for and as it was: means over programs.
fn ticks(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let names = programs(plan);
    let rate = |cell: &Cell| {
        let outcome = results.outcome(cell)?;
        let seconds = outcome.samples.get("profiled.cpu_ns")?.iter().sum::<f64>() / 1e9;
        Some(outcome.numbers.get("profiled.ticks")? / seconds)
    };
    let row = |at: usize| {
        let rates: Option<Vec<f64>> = names.iter().map(|name| rate(&cost(plan, name, at))).collect();
        let period = PERIODS[at];
        Some(vec![
            text(&period.name()),
            entry(Some(50.0 * HEADLINE.megacycles / period.megacycles), Unit::Count),
            entry(mean_of(&rates?), Unit::Count),
        ])
    };
    let rows: Option<Vec<_>> = measured(plan).into_iter().map(row).collect();
    let caption = "Ticks in a second of processor time: 50 at 10 million cycles.";
    rows.map(|rows| table("ticks", "Ticks", caption, &["period", "asked for", "were"], rows))
}
