//! D'Elia and Demetrescu 2013, section 6: most long paths have small counters.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::{Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-sec6-discussion",
    place: "Section 6",
    title: "Most long paths are cold",
    says: &[
        "The paper expects that most nodes far from the root have small counters, and could be pruned. Cold is here a sequence of k paths with less than \
         a ten-thousandth of the count of its first path.",
        "Loop-intensive are programs whose chunks are at least half full on average with the largest k. All their sequences of k paths are \
         taken together. Programs whose loops have few branches have few sequences, which are then all of them frequent; and a path that was run less than \
         10,000 times has nothing that is cold: so the worst program is told, and beside the classic programs `lzw` runs long enough for its paths (in full mode HeapSort, too, with a million numbers).",
        forest::HOW,
    ],
    cells: |plan| forest::cells(plan).into_iter().chain(forest::long(plan)).collect(),
    conclude,
};

const COLD: f64 = 0.9;
/// More is not better.
const NEVER: f64 = 1.1;

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let cold = forest::divided(plan, results, "forest.deepest_cold", "forest.deepest");
    let filled = forest::divided(plan, results, "items", "chunks");
    let k = forest::ks(plan).into_iter().max().map_or(f64::NAN, f64::from);
    // Points without a value are left out of lines.
    let largest = |line: &Line| line.points.iter().find(|of| of.0 == k).map(|of| of.1);
    let shares: Option<Vec<f64>> = cold.as_ref().zip(filled.as_ref()).map(|(cold, filled)| {
        let both =
            cold.iter().zip(filled).filter_map(|(cold, filled)| Some((largest(cold)?, largest(filled)?)));
        both.filter(|(_, items)| *items >= (k - 1.0) / 2.0).map(|(share, _)| share).collect()
    });
    let least =
        shares.filter(|shares| !shares.is_empty()).map(|shares| shares.into_iter().fold(1.0, f64::min));
    found.checks.number(
        "cold of all sequences of the largest k in loop-intensive programs",
        "most",
        Bound::at_least(COLD).stretch(NEVER),
        together(plan, results).map(|share| exactly(share, Unit::Ratio)),
    );
    found.checks.told(
        "the same of the classic program with fewest",
        "not said",
        least.map(|least| exactly(least, Unit::Ratio)),
    );
    found.figures.extend(cold.map(|lines| {
        let caption = "Cold sequences of k paths, of all sequences of k paths, in all programs.";
        forest::figure("cold", "Share of cold sequences", caption, false, lines)
    }));
}

/// The share of cold ones of all sequences of k paths of the loop-intensive programs.
fn together(plan: &Plan, results: &Results<'_>) -> Option<f64> {
    let k = forest::ks(plan).into_iter().max()?;
    let short = forest::names(plan).into_iter().map(|name| forest::cell(name, k));
    let (mut cold, mut all) = (0.0, 0.0);
    for cell in short.chain(forest::long(plan)) {
        let number = |name: &str| results.number(&cell, name);
        let filled = number("items")? / number("chunks")?;
        if filled >= f64::from(k - 1) / 2.0 {
            cold += number("forest.deepest_cold")?;
            all += number("forest.deepest")?;
        }
    }
    (all > 0.0).then(|| cold / all)
}
