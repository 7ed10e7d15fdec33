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
        "How many paths follow a sequence on average. In the paper it falls with k in most programs: the more is known of what came before, the surer is what comes. It rises in sunflow and heapsort.",
        "An average over all nodes is one over the deepest levels, where most of them are. So the degree of each level of the forest with the largest k is told, too: where directions follow from what came before it comes near to 1, and where they are chance it stays.",
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
    let levels = forest::by_level(plan, results, ["children", "internal"], forest::part);
    let surer = levels.as_ref().map(|lines| {
        let falls = |line: &&Line| {
            line.points.first().zip(line.points.last()).is_none_or(|(first, last)| last.1 <= first.1)
        };
        (lines.iter().filter(falls).count(), lines.len())
    });
    found.checks.shape(
        "the longer a sequence is, the surer is what follows",
        "sequences are prefixes of long paths",
        "no more children on the last level that has any than on the first, in at least three quarters of the programs",
        surer.map(|(falls, all)| 4 * falls >= 3 * all),
        surer.map_or("not measured".into(), |(falls, all)| format!("{falls} of {all} programs")),
    );
    found.figures.extend(levels.map(|lines| {
        let caption = "Children of nodes that have any, by the level of the node, with the largest k.";
        forest::level_figure("levels", "Degree by level", caption, lines)
    }));
    found.figures.extend(lines.map(|lines| {
        forest::figure("degree", "Average degree", "Children of nodes that have any, by k.", false, lines)
    }));
}
