//! D'Elia and Demetrescu 2013, figure 14: overhead relative to Ball-Larus profiling.

use super::relative::{Relative, is_more};
use super::sixteen;
use crate::catalogue::overheads::{bars, cell as cost};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Line, Measured, Series, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;
use std::time::Duration;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig14",
    place: "Figure 14",
    title: "Overhead of the k-iteration profiler, relative to Ball-Larus",
    says: &[
        "What k iterations cost over what single paths cost in a hash table, for k from 2 to 16. In the paper it falls with k in 12 of 16 programs, by \
         up to 45 %; in four it rises (compress, monte_carlo, heapsort and md), and the worst is 3.76 times as dear; eclipse stays 25 % above. The text does not say whether times or overheads are divided.",
        "Here both are, each against the same base without profiling, with 95 % intervals for each program and k: checks are about overheads, the harder reading, whose intervals are Fieller's (`relative.rs`). A program that Ball-Larus profiling makes less than 3 % slower has no \
         such ratio, and is left out there. Beside the hash table, which is the paper's, stands Ball-Larus profiling with an array where it can have one.",
        "In a full run these are sixteen programs, as in the paper: lzw for compress, montecarlo for monte_carlo, heapsort, moldyn for md, raytracer for sunflow, machine for avrora, sqldb for hsqldb, tags for eclipse, two more large ones (compiler, rules) and the six of quick runs.",
        "Costs do not rise from one k to the next, or from the least to the largest, as far as rounds can tell their times apart (Welch). Of the paper's programs at most 11 of 16 are at or below Ball-Larus profiling with the largest k: four rise, and eclipse stays above.",
    ],
    cells: |plan| {
        let names = sixteen::names(plan);
        let flags = [HASH.to_string(), ARRAY.to_string()].into_iter().chain(ks(plan).into_iter().map(flags));
        flags
            .flat_map(|flags| names.iter().map(move |name| cell(plan, name, &flags)).collect::<Vec<_>>())
            .collect()
    },
    conclude,
};

/// Ball-Larus profiling as in the paper,
pub(super) const HASH: &str = "--profile blpp:storage=hash";
/// and as it is cheaper.
pub(super) const ARRAY: &str = "--profile blpp:storage=array";
/// Less than this is no overhead to divide by.
const LEAST: f64 = 0.03;
/// Programs that the paper names as those that rise with k, and one that stays above.
const ABOVE: f64 = 5.0;

pub(super) fn ks(plan: &Plan) -> Vec<u32> {
    let all = papers::numbers("kblpp.k_values").into_iter().flatten().map(|k| k as u32);
    all.filter(|k| plan.pick([2, 4, 16].contains(k), true)).collect()
}

fn flags(k: u32) -> String {
    format!("--profile kblpp:k={k}")
}

/// What a program costs with these flags; large programs take their time before anything is measured.
pub(super) fn cell(plan: &Plan, program: &str, flags: &str) -> Cell {
    let cell = cost(plan, program, flags);
    let begins = sixteen::find(program).map_or(0.0, |of| (of.begins_after - 0.4).max(0.0));
    Cell { estimate: cell.estimate + Duration::from_secs_f64(begins), ..cell }
}

/// What is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    Overheads,
    Times,
}

/// What a program costs with some flags, over what it costs with others. Nothing if one was not measured, or there is no overhead to divide by.
pub(super) fn relative(
    plan: &Plan,
    results: &Results<'_>,
    program: &str,
    [flags, base]: [&str; 2],
    reading: Reading,
) -> Option<Relative> {
    let [one, other] = [flags, base].map(|flags| results.logarithms(&cell(plan, program, flags), "overhead"));
    match reading {
        Reading::Times => Relative::of_times(one?, other?),
        Reading::Overheads if !has_overhead(plan, results, program, base)? => None,
        Reading::Overheads => Relative::of_overheads(one?, other?),
    }
}

/// Is there an overhead to divide by; nothing if it was not measured.
pub(super) fn has_overhead(plan: &Plan, results: &Results<'_>, program: &str, base: &str) -> Option<bool> {
    Some(results.mean_logarithm(&cell(plan, program, base), "overhead")?.exp_m1() >= LEAST)
}

/// Does the time not rise with k, as far as rounds can tell. `None` if something was not measured.
fn does_not_rise(plan: &Plan, results: &Results<'_>, program: &str) -> Option<bool> {
    let all: Option<Vec<&[f64]>> = ks(plan)
        .into_iter()
        .map(|k| results.logarithms(&cell(plan, program, &flags(k)), "overhead"))
        .collect();
    let all = all?;
    let ends = [*all.first()?, *all.last()?];
    let steps = all.windows(2).map(|pair| [pair[0], pair[1]]).chain([ends]);
    let rises = steps.map(|[from, to]| is_more(to, from)).collect::<Option<Vec<bool>>>()?;
    Some(!rises.contains(&true))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = sixteen::names(plan);
    let of = |program: &str, k: u32, base: &str, reading: Reading| {
        relative(plan, results, program, [&flags(k), base], reading)
    };
    let is_complete = !names.is_empty()
        && names.iter().all(|name| {
            let times =
                |base: &str| ks(plan).into_iter().all(|k| of(name, k, base, Reading::Times).is_some());
            times(HASH) && times(ARRAY)
        });
    let divided: Vec<&str> =
        names.iter().copied().filter(|name| has_overhead(plan, results, name, HASH) == Some(true)).collect();
    let all: Vec<Measured> = divided
        .iter()
        .flat_map(|name| ks(plan).into_iter().filter_map(|k| of(name, k, HASH, Reading::Overheads)))
        .map(|relative| relative.measured)
        .collect();
    let by_value = |a: &&Measured, b: &&Measured| a.value.total_cmp(&b.value);
    let (least, most) = (all.iter().min_by(by_value), all.iter().max_by(by_value));
    let paper = |key: &str| papers::number(&format!("kblpp.fig14.{key}"));
    let worst = paper("worst_slowdown");
    found.checks.number(
        "overhead relative to BLPP, the worst program and k",
        &format!("{worst}"),
        Bound::at_most(worst).stretch(1.25).resolution(1.0),
        most.copied().filter(|_| is_complete),
    );
    let best = 1.0 - paper("best_improvement_vs_blpp") / 100.0;
    found.checks.number(
        "overhead relative to BLPP, the best program and k",
        "almost 45 % better",
        Bound::at_most(best).resolution(0.25),
        least.copied().filter(|_| is_complete),
    );
    let share = paper("decreasing_with_k") / paper("total");
    let falling = names.iter().filter(|name| does_not_rise(plan, results, name) == Some(true)).count();
    found.checks.shape(
        "it falls with k in most programs",
        "12 of 16",
        "no more with each k than with the one before, and with the largest than with the least, as far as they can be told apart, in at least 12 of 16",
        is_complete.then_some(falling as f64 >= share * names.len() as f64),
        format!("{falling} of {}", names.len()),
    );
    let largest = ks(plan).last().copied();
    let below = |name: &&&str| {
        let time = largest.and_then(|k| of(name, k, HASH, Reading::Times));
        time.is_some_and(|time| time.measured.value <= 1.0)
    };
    let below = 100.0 * names.iter().filter(below).count() as f64 / names.len().max(1) as f64;
    let total = paper("total");
    found.checks.number(
        "programs at or below BLPP with the largest k",
        "11 of 16 at most: four rise, and eclipse stays above",
        Bound::at_least(100.0 * (total - ABOVE) / total).stretch(100.0 * (total - 1.0) / total),
        is_complete.then(|| exactly(below, Unit::Percent)),
    );
    for (what, base, reading) in [
        ("time relative to BLPP's, the worst program and k", HASH, Reading::Times),
        ("overhead relative to that of BLPP in arrays, the worst program and k", ARRAY, Reading::Overheads),
        ("time relative to that of BLPP in arrays, the worst program and k", ARRAY, Reading::Times),
    ] {
        let all =
            names.iter().flat_map(|name| ks(plan).into_iter().filter_map(|k| of(name, k, base, reading)));
        let worst = all.map(|of| of.measured).max_by(|a, b| a.value.total_cmp(&b.value));
        found.checks.told(what, "not said which is meant", worst.filter(|_| is_complete));
    }
    let line = |name: &&str| {
        let point = |k: u32| Some((f64::from(k), of(name, k, HASH, Reading::Overheads)?.measured.value));
        Line {
            name: sixteen::label(name),
            is_paper: false,
            points: ks(plan).into_iter().filter_map(point).collect(),
        }
    };
    let (x, y) = (
        Axis { title: "k".into(), unit: Unit::Count, log: false },
        Axis { title: "overhead, relative to BLPP's".into(), unit: Unit::Ratio, log: false },
    );
    found.figures.push(Figure {
        id: "relative".into(),
        title: "Overhead relative to Ball-Larus profiling in a hash table".into(),
        caption: "Below 1, k iterations cost less than single paths.".into(),
        chart: Chart::Lines { x, y, lines: divided.iter().map(line).collect() },
    });
    let groups: Vec<String> = names.iter().map(|name| sixteen::label(name)).collect();
    for (id, title, base, reading) in [
        ("overheads-hash", "Overhead over that of BLPP in a hash table", HASH, Reading::Overheads),
        ("times-hash", "Time over that with BLPP in a hash table", HASH, Reading::Times),
        ("overheads-array", "Overhead over that of BLPP in an array", ARRAY, Reading::Overheads),
        ("times-array", "Time over that with BLPP in an array", ARRAY, Reading::Times),
    ] {
        let series = |k: u32| {
            let all: Vec<Option<Measured>> =
                names.iter().map(|name| Some(of(name, k, base, reading)?.measured)).collect();
            Series {
                name: format!("k={k}"),
                is_paper: false,
                values: all.iter().map(|of| of.map(|of| of.value)).collect(),
                intervals: all.iter().map(|of| of.and_then(|of| of.interval)).collect(),
            }
        };
        let caption = "For each k, with 95 % intervals; where there is no bar, nothing to divide by, and where there is no interval, hardly anything.";
        let series = ks(plan).into_iter().map(series).collect();
        found.figures.push(bars(id, title, caption, Unit::Ratio, groups.clone(), series));
    }
}
