//! D'Elia and Demetrescu 2013, figure 9: a cycle of paths in a scanner.

use super::places::{Mark, Version};
use super::tree::{figure, percent, trees};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig9",
    place: "Section 3.2, figure 9",
    title: "A cycle of paths in `checkTaskTag`",
    says: &[
        "In the scanner of Eclipse a method looks for task tags in comments. After its path 38 comes 86 in 66 % and 87 in 28 %; after these two always 86, 86, 755. And the five paths are repeated: they, again they and 38 are more than half of what \
         begins with 38.",
        "`apps/tags` is such a scanner with three tags, so its cycle is of four paths: to the first tag, to the second, to the third, and to the next character. Looked for are cycles of two paths or more in the forest of eleven iterations that are run twice and begun a third time, \
         among paths of the method with at least a twentieth of the method's turns. Eclipse is written in another language, so numbers of paths and what follows them are its own.",
    ],
    cells: |plan| vec![cell(plan)],
    conclude,
};

const LOOP: Mark = Mark("apps/tags.hol", "checkTags: each tag");
const K: u64 = 11;
const FREQUENT: f64 = 0.05;
/// Percent.
const HALF: f64 = 50.0;
/// Another scanner's cycle is not better for being run more often.
const MORE: f64 = 101.0;

fn cell(plan: &Plan) -> Cell {
    let size = plan.pick(10, 1000);
    let line = format!(
        "bench tags --size {size} --iterations 1 --tier o2 --timer virtual:1000000 --profile kblpp:k={K} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Sequences, &[&line], plan.pick(0.5, 5.0))
}

/// A cycle in a version of the code.
struct Cycle {
    period: usize,
    paths: Vec<u64>,
    /// Of what begins as it does, in percent.
    share: f64,
}

/// Is this a cycle that is run twice and begun again, and no shorter one.
fn period(paths: &[u64]) -> Option<usize> {
    let repeats = |period: usize| paths.iter().zip(&paths[period..]).all(|(a, b)| a == b);
    let shortest = (1..paths.len()).find(|&period| repeats(period))?;
    (shortest >= 2 && paths.len() == 2 * shortest + 1).then_some(shortest)
}

fn cycle(version: &Version<'_>) -> Option<Cycle> {
    // What begins in the loop belongs to it, whether it ends there or goes to the next character.
    let turns: Vec<u64> = version
        .paths()
        .into_iter()
        .filter(|&path| version.is_turn(path, LOOP) || version.enters(path, LOOP))
        .collect();
    let all: u64 = turns.iter().map(|&path| version.count(&[path])).sum();
    let is_frequent =
        |path: u64| turns.contains(&path) && version.count(&[path]) as f64 >= all as f64 * FREQUENT;
    let cycles = version.counts.keys().filter(|key| is_frequent(key[0])).filter_map(|key| {
        let share = percent(&version.counts, key, &key[..1]);
        Some(Cycle { period: period(key)?, paths: key.clone(), share })
    });
    cycles.max_by(|a, b| a.share.total_cmp(&b.share))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let versions = results.outcome(&cell(plan)).map(Version::all);
    let cycles = versions.into_iter().flatten().filter_map(|version| Some((cycle(&version)?, version)));
    let best = cycles.max_by(|a, b| a.0.share.total_cmp(&b.0.share));
    let paper = |key: &str| papers::number(&format!("kblpp.check_task_tag.{key}"));
    found.checks.number(
        "a cycle, run twice and begun again, of what begins as it does",
        &format!("more than {} %, a cycle of five", paper("eleven_gram_share_of_root_above")),
        Bound::at_least(HALF).stretch(MORE),
        best.as_ref().map(|(cycle, _)| exactly(cycle.share, Unit::Percent)),
    );
    found.checks.shape(
        "paths of the cycle",
        "five, of three kinds: a character, four tags",
        "three or more, the same again for several tags",
        best.as_ref().map(|(cycle, _)| {
            let kinds: std::collections::BTreeSet<&u64> = cycle.paths.iter().collect();
            cycle.period >= 3 && kinds.len() < cycle.period && kinds.len() > 1
        }),
        best.as_ref()
            .map_or("not measured".into(), |(cycle, _)| format!("{:?}", &cycle.paths[..cycle.period])),
    );
    let Some((cycle, version)) = best else { return };
    let root = cycle.paths[0];
    let next = |key: &[u64]| key.len() == 2 && key[0] == root;
    let mut rows: Vec<(f64, u64)> = version
        .counts
        .keys()
        .filter(|key| next(key))
        .map(|key| (percent(&version.counts, key, &key[..1]), key[1]))
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.checks.told(
        "the most frequent path after the first of the cycle",
        &format!("{} %, and another {} %", paper("p_86_after_38"), paper("p_87_after_38")),
        rows.first().map(|&(share, _)| exactly(share, Unit::Percent)),
    );
    let least = paper("prune_percent_of_root");
    let drawn = trees(&version.counts, &[root], [0.0, least], &|path| path.to_string());
    let caption = format!("Figure 9: without what has less than {least} % of the root.");
    found.figures.push(figure(
        "subtree",
        "The forest of eleven iterations below the cycle's first path",
        &caption,
        drawn,
    ));
    let row = |&(share, path): &(f64, u64)| vec![text(&path.to_string()), entry(Some(share), Unit::Percent)];
    found.figures.push(table(
        "next",
        format!("What follows path {root}"),
        "Of all its executions.",
        &["path", "share"],
        rows.iter().take(6).map(row).collect(),
    ));
}
