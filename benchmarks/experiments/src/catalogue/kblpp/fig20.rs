//! D'Elia and Demetrescu 2013, figure 20: leaf depth.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::results::Results;

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
