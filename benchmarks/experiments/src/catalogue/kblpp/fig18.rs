//! D'Elia and Demetrescu 2013, figure 18: profiled paths.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig18",
    place: "Figure 18",
    title: "Profiled paths: nodes of the k-iteration forest",
    says: &[
        "The k-iteration path forest has a node for each sequence of up to k paths that was run. The paper calls it more compact than the k-slab forest it is made from, which for short streams it is not.",
        forest::HOW,
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = forest::lines(plan, results, "forest.nodes");
    forest::check(
        found,
        ["more paths with every k", "growing with k", "not falling in any program"],
        lines.as_deref(),
        forest::rising,
        |rising, all| rising == all,
    );
    let relative = forest::divided(plan, results, "forest.nodes", "nodes");
    let ends = relative.as_ref().map(|lines| {
        let all = lines.iter().flat_map(|line| &line.points).map(|point| point.1);
        all.fold((f64::INFINITY, 0.0f64), |(least, most), of| (least.min(of), most.max(of)))
    });
    for (what, end) in [
        ("its nodes, of those of the k-slab forest, the program and k with fewest", ends.map(|of| of.0)),
        ("the same, with most", ends.map(|of| of.1)),
    ] {
        found.checks.told(what, "more compact", end.map(|ratio| exactly(ratio, Unit::Ratio)));
    }
    found.figures.extend(relative.map(|lines| {
        let caption = "Nodes of the k-iteration path forest, of those of the k-slab forest. Above 1, it is not more compact.";
        forest::figure("relative", "Nodes of the one forest, of the other", caption, false, lines)
    }));
    found.figures.extend(lines.map(|lines| {
        forest::figure("paths", "Profiled paths", "Nodes of the k-iteration path forest, by k.", true, lines)
    }));
}
