//! D'Elia and Demetrescu 2013, figure 17: space.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::{Line, Unit};
use crate::results::Results;
use crate::results::exactly;
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig17",
    place: "Figure 17",
    title: "Space: nodes of the k-slab forest",
    says: &[
        "A Ball-Larus profiler needs an entry for each path, the k-iteration profiler a node for each sequence of paths: in the paper up to several millions, growing with k most where loops are, and some programs run out of memory.",
        forest::HOW,
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = forest::lines(plan, results, "nodes");
    forest::check(
        found,
        ["nodes grow with k", "in loop-intensive programs", "in at least half of the programs"],
        lines.as_deref(),
        forest::rising,
        |rising, all| rising * 2 >= all,
    );
    let bytes = forest::lines(plan, results, "bytes");
    let most =
        |lines: Vec<Line>| lines.iter().flat_map(|line| &line.points).fold(0.0f64, |most, of| most.max(of.1));
    found.checks.number(
        "bytes of the largest forest",
        "out of memory in some programs",
        Bound::at_most(f64::from(1 << 30)),
        bytes.clone().map(|lines| exactly(most(lines), Unit::Bytes)),
    );
    // Where a forest is small, its tables are empty.
    let largest = bytes.as_ref().zip(lines.as_ref()).and_then(|(bytes, nodes)| {
        let points =
            |lines: &[Line]| lines.iter().flat_map(|line| &line.points).map(|of| of.1).collect::<Vec<f64>>();
        let both = points(bytes).into_iter().zip(points(nodes));
        both.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(bytes, nodes)| bytes / nodes)
    });
    found.checks.told(
        "bytes for a node of that forest, with its tables",
        "not said",
        largest.map(|bytes| exactly(bytes, Unit::Bytes)),
    );
    let relative = forest::divided(plan, results, "nodes", "forest.roots");
    found.figures.extend(relative.map(|lines| {
        let caption = "Nodes of the k-slab forest, of the different paths, of each of which Ball-Larus profiling has an entry.";
        forest::figure("relative", "Nodes for each entry of Ball-Larus profiling", caption, true, lines)
    }));
    found.figures.extend(lines.map(|lines| {
        forest::figure("nodes", "Nodes of the forest", "Nodes of the k-slab forest, by k.", true, lines)
    }));
}
