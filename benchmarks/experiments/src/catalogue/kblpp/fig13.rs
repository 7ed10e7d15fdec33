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
        "Few paths can be the first of an activation, and that ratio is told. But where loops turn more than k-1 times, the second chunk begins somewhere in the loop, and sooner or later each of its frequent paths begins one; \
         and of methods without loops each path is a root. \
         Nor are the first ones as few as in the figure: a path ends at the yieldpoint of its loop, on the way back, where the paper's ends at the header, so that the way into a loop is of one path with all that its first round may do. So the ratio of a whole program stays far from what the figure suggests, also in programs with many branches in their loops (0.6 to 0.8 in scanners and compilers with k=16). \
         The bound is our own: an order of magnitude, for the words of the paper.",
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
    found.figures.extend(lines.map(|lines| {
        let caption = "Entries of the hash table, of those that Ball-Larus profiling needs.";
        forest::figure("roots", "Roots relative to different paths", caption, false, lines)
    }));
}

/// Roots over different paths, by k. Each path begins a sequence, so the paths are the first level of the k-iteration forest.
fn relative(plan: &Plan, results: &Results<'_>) -> Option<Vec<Line>> {
    forest::divided(plan, results, "roots", "forest.roots")
}
