//! D'Elia and Demetrescu 2013, figure 13: what is kept in the hash table.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig13",
    place: "Figure 13",
    title: "Entries of the hash table: roots of the forest",
    says: &[
        "A Ball-Larus profiler has a key for each path. The k-iteration profiler has one only for the paths that begin a chunk: the first of an \
         activation, and every (k-1)st after it. The paper's figure is a routine with a branch before a loop of N ways: only two of its paths can be the first of an activation. No number is printed.",
        "The probe `sorter` is that routine: two ways to the loop, 256 through a turn, and at most 13 paths before it returns. So with k of 14 and more nothing but the two begins a chunk, and with less the second chunk begins somewhere in the loop. \
         Its paths to the loop end in the loop's first turn, before what differs: here a path ends at the yieldpoint on the way back, where the paper's ends at the header. It is compiled without inlining, so that an activation of the routine is one.",
        "The bound is our own, for the paper's words: an order of magnitude. Of whole programs the ratio is told. It stays far from what the figure suggests, also where loops have many branches (0.6 to 0.8 in scanners and compilers with k=16): loops turn more than k-1 times, so that sooner or later each frequent path begins a chunk; \
         and of methods without loops each path is a root.",
        forest::HOW,
    ],
    cells: |plan| forest::ks(plan).into_iter().map(routine).chain(forest::cells(plan)).collect(),
    conclude,
};

/// An order of magnitude, for a ratio that is to be far below 1.
const FAR_BELOW: f64 = 0.1;

/// The figure's routine, run so often that each of its paths is.
fn routine(k: u32) -> Cell {
    let line = format!(
        "bench sorter --size 40 --iterations 1 --tier o0 --timer virtual:1000000 --profile kblpp:k={k} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Forest, &[&line], 0.3)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let figure = of_routine(plan, results);
    let largest = figure.as_ref().and_then(|line| line.points.last()).map(|point| point.1);
    found.checks.number(
        "roots, of all different paths, in the figure's routine with the largest k",
        "only two of N",
        // Nothing is better than a bound of our own.
        Bound::at_most(FAR_BELOW).stretch(f64::NEG_INFINITY),
        largest.map(|ratio| exactly(ratio, Unit::Ratio)),
    );
    let lines = relative(plan, results);
    let all = |lines: &[Line], holds: fn((f64, f64)) -> bool| {
        lines.iter().flat_map(|line| &line.points).filter(|point| holds(**point)).count()
    };
    let points = |lines: &[Line]| lines.iter().map(|line| line.points.len()).sum::<usize>();
    let least = |lines: &Vec<Line>| {
        lines.iter().flat_map(|line| &line.points).fold(f64::INFINITY, |least, of| least.min(of.1))
    };
    found.checks.told(
        "roots, of all different paths, the program and k with fewest",
        "usually small",
        lines.as_ref().map(|lines| exactly(least(lines), Unit::Ratio)),
    );
    let entries = forest::divided(plan, results, "forest.entries", "forest.roots");
    found.checks.told(
        "paths that begin where a method is entered, of all different paths, the program with fewest",
        "two of N in the figure",
        entries.as_ref().map(|lines| exactly(least(lines), Unit::Ratio)),
    );
    // With k=2 each path begins a chunk of its own, so the roots are the different paths, all of them.
    let kept = lines.as_deref().map(|lines| {
        (all(lines, |(k, of)| if k == 2.0 { of == 1.0 } else { of > 0.0 && of <= 1.0 }), points(lines))
    });
    found.checks.shape(
        "only paths that begin a chunk are roots",
        "all with k=2, never more with other k",
        "in all programs, with every k",
        kept.map(|(kept, of)| kept == of),
        kept.map_or("not measured".into(), |(kept, of)| format!("{kept} of {of} forests")),
    );
    found.figures.extend(lines.zip(figure).map(|(mut lines, figure)| {
        lines.insert(0, figure);
        let caption = "Entries of the hash table, of those that Ball-Larus profiling needs.";
        forest::figure("roots", "Roots relative to different paths", caption, false, lines)
    }));
}

/// The same for the figure's routine and what runs it.
fn of_routine(plan: &Plan, results: &Results<'_>) -> Option<Line> {
    forest::line(plan, "sorter", |k| {
        let number = |name: &str| results.number(&routine(k), name);
        Some(number("roots")? / number("forest.roots").filter(|&paths| paths > 0.0)?)
    })
}

/// Roots over different paths, by k. Each path begins a sequence, so the paths are the first level of the k-iteration forest.
fn relative(plan: &Plan, results: &Results<'_>) -> Option<Vec<Line>> {
    forest::divided(plan, results, "roots", "forest.roots")
}
