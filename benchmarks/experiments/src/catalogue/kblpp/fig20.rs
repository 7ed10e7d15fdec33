//! D'Elia and Demetrescu 2013, figure 20: leaf depth.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::{Line, Unit};
use crate::results::{Results, exactly};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig20",
    place: "Figure 20",
    title: "Average depth of leaves",
    says: &[
        "How long the sequences are that were run. In the paper it grows with k, and stays flat in programs whose loops are short.",
        forest::HOW,
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = forest::lines(plan, results, "forest.leaf_depth");
    forest::check(
        found,
        ["it does not fall with k", "growing, or flat where loops are short", "not falling in any program"],
        lines.as_deref(),
        forest::rising,
        |rising, all| rising == all,
    );
    // Where loops are short, as in the paper's avrora and hsqldb, no sequence is as long as k allows.
    let k = forest::ks(plan).into_iter().max().map_or(f64::NAN, f64::from);
    let deepest =
        forest::by_level(plan, results, ["nodes", "nodes"], |nodes, _| (nodes > 0.0).then_some(nodes));
    let full = deepest.as_ref().map(|lines| {
        let reaches = |line: &&Line| line.points.last().is_some_and(|last| last.0 == k);
        lines.iter().filter(reaches).count() as f64
    });
    found.checks.told(
        "programs that run sequences of the largest k",
        "flat in avrora and hsqldb",
        full.map(|count| exactly(count, Unit::Count)),
    );
    let leaves = forest::by_level(plan, results, ["leaves", "nodes"], forest::part);
    found.figures.extend(leaves.map(|lines| {
        let caption = "Nodes that are not continued, of all nodes of a level, with the largest k. On the last level none is.";
        forest::level_figure("levels", "Share of leaves by level", caption, lines)
    }));
    found.figures.extend(lines.map(|lines| {
        forest::figure(
            "depth",
            "Average depth of leaves",
            "Paths in the sequences that are not continued, by k.",
            false,
            lines,
        )
    }));
}
