//! D'Elia and Demetrescu 2013, figure 19: degree.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::Line;
use crate::results::Results;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig19",
    place: "Figure 19",
    title: "Average degree of internal nodes",
    says: &[
        "How many paths follow a sequence on average. In the paper it falls with k in most programs: the more is known of what came before, the surer is what comes.",
        "Here it is counted in forests of two iterations of each program, all compiled at once: exact numbers, the same in every run.",
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = forest::lines(plan, results, "forest.degree");
    let text = |lines: &Vec<Line>| format!("{} of {} programs", forest::falling(lines), lines.len());
    found.checks.shape(
        "it falls with k",
        "in all programs but two",
        "in at least three quarters of the programs",
        lines.as_ref().map(|lines| forest::falling(lines) * 4 >= lines.len() * 3),
        lines.as_ref().map_or("not measured".into(), text),
    );
    found.figures.extend(lines.map(|lines| {
        forest::figure("degree", "Average degree", "Children of nodes that have any, by k.", false, lines)
    }));
}
