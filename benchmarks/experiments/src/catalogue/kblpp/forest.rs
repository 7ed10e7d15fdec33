//! What the experiments about the shape of forests share: figures 17 to 20 of D'Elia and Demetrescu 2013.

use super::sixteen;
use crate::catalogue::{Findings, accuracies, programs};
use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::Results;

/// What is done for all of them.
pub const HOW: &str = "Here it is counted in forests of two iterations of each program, all compiled at once: exact numbers, the same in every run.";

const QUICK: &[&str] = &["richards", "json", "queens", "sieve", "storage", "list", "towers", "mandelbrot"];

pub fn ks(plan: &Plan) -> Vec<u32> {
    let all = papers::numbers("kblpp.k_values").into_iter().flatten().map(|k| k as u32);
    all.filter(|k| plan.pick([2, 4, 8, 16].contains(k), true)).collect()
}

/// Of the sixteen programs of figure 14 those whose forests are written down in seconds, beside the classic ones.
const LARGE: [(&str, f64); 5] =
    [("lzw", 1.5), ("montecarlo", 1.5), ("tags", 1.0), ("compiler", 2.5), ("rules", 1.5)];

pub fn names(plan: &Plan) -> Vec<&'static str> {
    let classic = programs::CLASSIC.iter().copied().filter(|name| accuracies::names().contains(name));
    let all: Vec<&str> = classic.chain(LARGE.map(|of| of.0)).collect();
    plan.programs(QUICK, &all)
}

/// The flag that makes a program as small as is enough, if its default size is too large for this, and about how many seconds it takes.
pub fn size(program: &str) -> (String, f64) {
    let seconds = LARGE.iter().find(|of| of.0 == program).map_or(0.4, |of| of.1);
    let size = sixteen::find(program).and_then(|of| of.size);
    (size.map_or_else(String::new, |size| format!(" --size {size}")), seconds)
}

pub fn cell(program: &str, k: u32) -> Cell {
    let (size, seconds) = size(program);
    let line = format!(
        "bench {program}{size} --iterations 2 --tier o2 --timer virtual:1000000 --profile kblpp:k={k} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Forest, &[&line], seconds)
}

/// A long run with loops of many branches, with the largest k: in little time of `lzw`, as long as the paper's are in a night.
pub fn long(plan: &Plan) -> Vec<Cell> {
    let k = ks(plan).into_iter().max().unwrap_or(2);
    let cell = |(program, size, seconds): (&str, u32, f64)| {
        let line = format!(
            "bench {program} --size {size} --iterations 1 --tier o2 --timer virtual:1000000 --profile kblpp:k={k} --profile-out {RESULT}"
        );
        Cell::counting(Reduction::Forest, &[&line], seconds)
    };
    let runs = plan.pick(vec![("lzw", 32, 8.0)], vec![("lzw", 32, 8.0), ("heapsort", 1_000_000, 90.0)]);
    runs.into_iter().map(cell).collect()
}

pub fn cells(plan: &Plan) -> Vec<Cell> {
    names(plan).into_iter().flat_map(|name| ks(plan).into_iter().map(move |k| cell(name, k))).collect()
}

/// What is known of a program for each k; nothing if one is missing.
pub fn line(plan: &Plan, name: &str, value: impl Fn(u32) -> Option<f64>) -> Option<Line> {
    let points: Option<Vec<(f64, f64)>> =
        ks(plan).into_iter().map(|k| Some((f64::from(k), value(k)?))).collect();
    Some(Line { name: name.to_string(), is_paper: false, points: points? })
}

/// A number of the forests over k, a line for each program; nothing if one is missing.
pub fn lines(plan: &Plan, results: &Results<'_>, number: &str) -> Option<Vec<Line>> {
    let line = |name: &'static str| line(plan, name, |k| results.number(&cell(name, k), number));
    names(plan).into_iter().map(line).collect::<Option<Vec<Line>>>().filter(|lines| !lines.is_empty())
}

/// What a list has at each level of the forest with the largest k, a line for each program (of figures by level); a point where `value` gives nothing is left out.
pub fn by_level(
    plan: &Plan,
    results: &Results<'_>,
    lists: [&str; 2],
    value: impl Fn(f64, f64) -> Option<f64>,
) -> Option<Vec<Line>> {
    let k = ks(plan).into_iter().max()?;
    let line = |name: &'static str| {
        let samples = &results.outcome(&cell(name, k))?.samples;
        let [one, other] =
            [samples.get(&format!("levels.{}", lists[0]))?, samples.get(&format!("levels.{}", lists[1]))?];
        let levels = (1..).zip(one.iter().zip(other));
        let points =
            levels.filter_map(|(level, (&one, &other))| Some((f64::from(level), value(one, other)?)));
        Some(Line { name: name.to_string(), is_paper: false, points: points.collect() })
    };
    names(plan).into_iter().map(line).collect::<Option<Vec<Line>>>().filter(|lines| !lines.is_empty())
}

/// One over the other, if there is any of the other.
pub fn part(one: f64, other: f64) -> Option<f64> {
    (other > 0.0).then(|| one / other)
}

/// Lines over the levels of a forest.
pub fn level_figure(id: &str, title: &str, caption: &str, lines: Vec<Line>) -> Figure {
    let x = Axis { title: "level".into(), unit: Unit::Count, log: false };
    let y = Axis { title: title.to_lowercase(), unit: Unit::Count, log: false };
    let (id, title, caption) = (id.to_string(), title.to_string(), caption.to_string());
    Figure { id, title, caption, chart: Chart::Lines { x, y, lines } }
}

/// A number over another, a line for each program; a point where there is nothing to divide by is left out.
pub fn divided(plan: &Plan, results: &Results<'_>, number: &str, by: &str) -> Option<Vec<Line>> {
    let mut all = lines(plan, results, number)?;
    for (line, by) in all.iter_mut().zip(lines(plan, results, by)?) {
        let points = line.points.iter().zip(by.points).filter(|(_, by)| by.1 > 0.0);
        line.points = points.map(|(point, by)| (point.0, point.1 / by.1)).collect();
    }
    Some(all)
}

/// How many lines rise or stay, from each point to the next but for a hundredth.
pub fn rising(lines: &[Line]) -> usize {
    lines.iter().filter(|line| line.points.windows(2).all(|of| of[1].1 >= of[0].1 * 0.99)).count()
}

/// How many fall or stay.
pub fn falling(lines: &[Line]) -> usize {
    lines.iter().filter(|line| line.points.windows(2).all(|of| of[1].1 <= of[0].1 * 1.01)).count()
}

/// Compares the lines with the paper, whose words are `what` is said, what it finds, and what counts as that: whether so many as `count` says,
/// of all lines, are `enough`.
pub fn check(
    found: &mut Findings,
    [what, paper, target]: [&str; 3],
    lines: Option<&[Line]>,
    count: fn(&[Line]) -> usize,
    enough: fn(usize, usize) -> bool,
) {
    let counted = lines.map(|lines| (count(lines), lines.len()));
    let shown = counted.map_or("not measured".into(), |(count, all)| format!("{count} of {all} programs"));
    found.checks.shape(what, paper, target, counted.map(|(count, all)| enough(count, all)), shown);
}

/// Lines over k.
pub fn figure(id: &str, title: &str, caption: &str, log: bool, lines: Vec<Line>) -> Figure {
    let x = Axis { title: "k".into(), unit: Unit::Count, log: false };
    let y = Axis { title: title.to_lowercase(), unit: Unit::Count, log };
    Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        chart: Chart::Lines { x, y, lines },
    }
}
