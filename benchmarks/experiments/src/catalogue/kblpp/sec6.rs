//! D'Elia and Demetrescu 2013, section 6: most long paths have small counters.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::cell::Outcome;
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
/// A level's share may be below that of the one before by so much.
const HARDLY: f64 = 0.01;
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
    let levels = levels(plan, results);
    let colder = levels.as_ref().map(|levels| levels.windows(2).all(|pair| pair[1] >= pair[0] - HARDLY));
    found.checks.shape(
        "the farther from the root, the more are cold",
        "most nodes far from the root have small counters",
        "on each level no smaller a share than on the one before, but for a hundredth",
        colder,
        levels.as_ref().map_or("not measured".into(), |levels| {
            levels.iter().map(|share| format!("{share:.3}")).collect::<Vec<_>>().join(", ")
        }),
    );
    for (id, list, title) in [
        (
            "levels",
            "cold",
            "Share of sequences with less than a ten-thousandth of their first path, by level",
        ),
        ("small", "small", "Share of sequences with less than a millionth of their first path, by level"),
    ] {
        let lines = forest::by_level(plan, results, [list, "nodes"], forest::part);
        found.figures.extend(lines.map(|lines| {
            forest::level_figure(
                id,
                title,
                "With the largest k, by the number of paths of a sequence.",
                lines,
            )
        }));
    }
    found.figures.extend(cold.map(|lines| {
        let caption = "Cold sequences of k paths, of all sequences of k paths, in all programs.";
        forest::figure("cold", "Share of cold sequences", caption, false, lines)
    }));
}

/// The forests of the largest k of the loop-intensive programs; nothing if one was not made.
fn loop_intensive<'a>(plan: &Plan, results: &Results<'a>) -> Option<Vec<&'a Outcome>> {
    let k = forest::ks(plan).into_iter().max()?;
    let short = forest::names(plan).into_iter().map(|name| forest::cell(name, k));
    let mut found = Vec::new();
    for cell in short.chain(forest::long(plan)) {
        let outcome = results.outcome(&cell)?;
        let filled = outcome.numbers.get("items")? / outcome.numbers.get("chunks")?;
        if filled >= f64::from(k - 1) / 2.0 {
            found.push(outcome);
        }
    }
    Some(found)
}

/// The share of cold ones of all their sequences of k paths.
fn together(plan: &Plan, results: &Results<'_>) -> Option<f64> {
    let all = loop_intensive(plan, results)?;
    let sum = |name: &str| all.iter().map(|of| of.numbers.get(name).copied()).sum::<Option<f64>>();
    let (cold, deepest) = (sum("forest.deepest_cold")?, sum("forest.deepest")?);
    (deepest > 0.0).then(|| cold / deepest)
}

/// The same for sequences of each number of paths, from one on.
fn levels(plan: &Plan, results: &Results<'_>) -> Option<Vec<f64>> {
    let all = loop_intensive(plan, results)?;
    let k = forest::ks(plan).into_iter().max()? as usize;
    let sum = |name: &str, level: usize| {
        let lists = all.iter().map(|of| of.samples.get(&format!("levels.{name}"))?.get(level).copied());
        lists.sum::<Option<f64>>()
    };
    (0..k).map(|level| forest::part(sum("cold", level)?, sum("nodes", level)?)).collect()
}
