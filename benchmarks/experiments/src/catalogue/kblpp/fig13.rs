//! D'Elia and Demetrescu 2013, figure 13: what is kept in the hash table.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::{Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig13",
    place: "Figure 13",
    title: "Entries of the hash table: roots of the forest",
    says: &[
        "A Ball-Larus profiler has a key for each path. The k-iteration profiler has one only for the paths that begin a chunk: the first of an \
         activation, and every (k-1)st after it. The paper shows where these are, and prints no number.",
        forest::HOW,
    ],
    cells: forest::cells,
    conclude,
};

/// An order of magnitude, for a ratio that is to be far below 1.
const FAR_BELOW: f64 = 0.1;

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = relative(plan, results);
    let all = |lines: &[Line], holds: fn((f64, f64)) -> bool| {
        lines.iter().flat_map(|line| &line.points).filter(|point| holds(**point)).count()
    };
    let points = |lines: &[Line]| lines.iter().map(|line| line.points.len()).sum::<usize>();
    let least = |lines: &Vec<Line>| {
        lines.iter().flat_map(|line| &line.points).fold(f64::INFINITY, |least, of| least.min(of.1))
    };
    found.checks.number(
        "roots, of all different paths, the program and k with fewest",
        "far fewer in loops of many paths",
        Bound::at_most(FAR_BELOW),
        lines.as_ref().map(|lines| exactly(least(lines), Unit::Ratio)),
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
    found.figures.extend(lines.map(|lines| {
        let caption = "Entries of the hash table, of those that Ball-Larus profiling needs.";
        forest::figure("roots", "Roots relative to different paths", caption, false, lines)
    }));
}

/// Roots over different paths, by k. Each path begins a sequence, so the paths are the first level of the k-iteration forest.
fn relative(plan: &Plan, results: &Results<'_>) -> Option<Vec<Line>> {
    forest::divided(plan, results, "roots", "forest.roots")
}
