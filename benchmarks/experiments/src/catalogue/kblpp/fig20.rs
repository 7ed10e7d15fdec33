//! D'Elia and Demetrescu 2013, figure 20: leaf depth.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::Line;
use crate::results::Results;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig20",
    place: "Figure 20",
    title: "Average depth of leaves",
    says: &[
        "How long the sequences are that were run. In the paper it grows with k, and stays flat in programs whose loops are short.",
        "Here it is counted in forests of two iterations of each program, all compiled at once: exact numbers, the same in every run.",
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = forest::lines(plan, results, "forest.leaf_depth");
    let text = |lines: &Vec<Line>| format!("{} of {} programs", forest::rising(lines), lines.len());
    found.checks.shape(
        "it does not fall with k",
        "growing, or flat where loops are short",
        "not falling in any program",
        lines.as_ref().map(|lines| forest::rising(lines) == lines.len()),
        lines.as_ref().map_or("not measured".into(), text),
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
