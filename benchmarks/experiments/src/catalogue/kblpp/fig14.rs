//! D'Elia and Demetrescu 2013, figure 14: overhead relative to Ball-Larus profiling.

use crate::catalogue::overheads::cell as cost;
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;
use holloway_benchmarks::against::statistics::Interval;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig14",
    place: "Figure 14",
    title: "Overhead of the k-iteration profiler, relative to Ball-Larus",
    says: &[
        "What k iterations cost over what single paths cost in a hash table, for k from 2 to 16. In the paper it falls with k in 12 of 16 programs, by \
         up to 45 %; in four it rises, and the worst is 3.76 times as dear. The text does not say whether times or overheads are divided.",
        "Here overheads are: each against the same base without profiling. A program that Ball-Larus profiling makes less than 3 % slower has no \
         such ratio, and is left out.",
    ],
    cells: |plan| {
        let names = names(plan);
        let flags = std::iter::once(BASE.to_string()).chain(ks(plan).into_iter().map(flags));
        flags
            .flat_map(|flags| names.iter().map(move |name| cell(plan, name, &flags)).collect::<Vec<_>>())
            .collect()
    },
    conclude,
};

pub(super) const BASE: &str = "--profile blpp:storage=hash";
/// Less than this is no overhead to divide by.
pub(super) const LEAST: f64 = 0.03;

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(programs::QUICK, programs::CLASSIC)
}

fn ks(plan: &Plan) -> Vec<u32> {
    let all = papers::numbers("kblpp.k_values").into_iter().flatten().map(|k| k as u32);
    all.filter(|k| plan.pick([2, 4, 16].contains(k), true)).collect()
}

fn flags(k: u32) -> String {
    format!("--profile kblpp:k={k}")
}

fn cell(plan: &Plan, program: &str, flags: &str) -> Cell {
    cost(plan, program, flags)
}

/// The overhead of a program, as a part of its time.
pub(super) fn overhead(plan: &Plan, results: &Results<'_>, program: &str, flags: &str) -> Option<f64> {
    Some(results.ratio(&cell(plan, program, flags), "overhead", 0)?.logarithm().exp() - 1.0)
}

/// Does the overhead not rise from one k to another, as far as the two can be told apart: by their intervals. `None` if one was not measured.
fn does_not_rise(plan: &Plan, results: &Results<'_>, program: &str, [from, to]: [u32; 2]) -> Option<bool> {
    let of = |k: u32| Some(results.ratio(&cell(plan, program, &flags(k)), "overhead", 0)?.interval());
    let (first, last) = (of(from)?, of(to)?);
    let half = |of: &Interval| of.ends.map_or(0.0, |(low, high)| (high - low) / 2.0);
    Some(last.value - first.value <= half(&first).hypot(half(&last)))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let (mut lines, mut complete, mut falling) = (Vec::new(), true, 0);
    let ends = ks(plan).first().copied().zip(ks(plan).last().copied());
    for program in names(plan) {
        let base = overhead(plan, results, program, BASE);
        let points: Vec<Option<(f64, f64)>> = ks(plan)
            .into_iter()
            .map(|k| Some((f64::from(k), overhead(plan, results, program, &flags(k))? / base?)))
            .collect();
        complete &= points.iter().all(Option::is_some);
        if base.is_some_and(|base| base >= LEAST) {
            let falls = ends.and_then(|(from, to)| does_not_rise(plan, results, program, [from, to]));
            falling += usize::from(falls == Some(true));
            let points = points.into_iter().flatten().collect();
            lines.push(Line { name: program.to_string(), is_paper: false, points });
        }
    }
    complete &= !lines.is_empty();
    let all = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let (least, most) =
        all.fold((f64::INFINITY, 0.0f64), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
    let paper = |key: &str| papers::number(&format!("kblpp.fig14.{key}"));
    let worst = paper("worst_slowdown");
    found.checks.number(
        "overhead relative to BLPP, the worst program and k",
        &format!("{worst}"),
        Bound::at_most(worst).stretch(1.25),
        complete.then(|| exactly(most, Unit::Ratio)),
    );
    let best = 1.0 - paper("best_improvement_vs_blpp") / 100.0;
    found.checks.number(
        "overhead relative to BLPP, the best program and k",
        "almost 45 % better",
        Bound::at_most(best),
        complete.then(|| exactly(least, Unit::Ratio)),
    );
    let share = paper("decreasing_with_k") / paper("total");
    found.checks.shape(
        "it falls with k in most programs",
        "12 of 16",
        "no more with the largest k than with the least, as far as they can be told apart, in at least 12 of 16",
        complete.then_some(falling as f64 >= share * lines.len() as f64),
        format!("{falling} of {}", lines.len()),
    );
    let (x, y) = (
        Axis { title: "k".into(), unit: Unit::Count, log: false },
        Axis { title: "overhead, relative to BLPP's".into(), unit: Unit::Ratio, log: false },
    );
    found.figures.push(Figure {
        id: "relative".into(),
        title: "Overhead relative to Ball-Larus profiling in a hash table".into(),
        caption: "Below 1, k iterations cost less than single paths.".into(),
        chart: Chart::Lines { x, y, lines },
    });
}
