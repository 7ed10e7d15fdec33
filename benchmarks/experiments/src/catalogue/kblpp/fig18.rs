//! D'Elia and Demetrescu 2013, figure 18: profiled paths.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::results::Results;

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
    found.figures.extend(lines.map(|lines| {
        forest::figure("paths", "Profiled paths", "Nodes of the k-iteration path forest, by k.", true, lines)
    }));
}
