//! D'Elia and Demetrescu 2013, figure 19: degree.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::results::Results;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig19",
    place: "Figure 19",
    title: "Average degree of internal nodes",
    says: &[
        "How many paths follow a sequence on average. In the paper it falls with k in most programs: the more is known of what came before, the surer is what comes.",
        forest::HOW,
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = forest::lines(plan, results, "forest.degree");
    forest::check(
        found,
        ["it falls with k", "in all programs but two", "in at least three quarters of the programs"],
        lines.as_deref(),
        forest::falling,
        |falling, all| falling * 4 >= all * 3,
    );
    found.figures.extend(lines.map(|lines| {
        forest::figure("degree", "Average degree", "Children of nodes that have any, by k.", false, lines)
    }));
}
