//! Oren, Matias and Sagiv 2002, section 3.1: subpaths of arbitrary lengths.

use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::{Reduction, line_names};
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use std::collections::BTreeSet;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-sec3.1-arbitrary-length",
    place: "Section 3.1, arbitrary length",
    title: "Subpaths of all lengths",
    says: &[
        "As a check, the paper samples all lengths from 2 to 1024, a length n with a probability of about 1/(10 n). No subpath is then sampled more than three times; still the hottest correspond to those of lengths that are powers of two.",
        "Here a lexer generator is sampled in both ways at the paper's rate, with memory enough for all samples. Subpaths correspond if each step from a block to the next in the one is a step in the others.",
    ],
    cells: |plan| vec![cell(plan, "powers"), cell(plan, "arbitrary")],
    conclude,
};

/// So many of the hottest are compared.
const HOTTEST: usize = 10;

fn cell(plan: &Plan, lengths: &str) -> Cell {
    let seed = plan.seed;
    let line = format!(
        "bench lexgen --size 3 --iterations 1 --tier o2 \
         --profile osp:memory=16m,rate=1000,max-length=1024,lengths={lengths},seed={seed} --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Subpaths, &[&line], 0.7)
}

fn hottest(plan: &Plan, results: &Results<'_>, lengths: &str, most: usize) -> Option<Vec<Vec<f64>>> {
    let samples = &results.outcome(&cell(plan, lengths))?.samples;
    Some((1..=most).filter_map(|rank| samples.get(&format!("hottest.{rank}")).cloned()).collect())
}

/// From the line of a block to that of the next.
fn steps(path: &[f64]) -> BTreeSet<(u64, u64)> {
    path.windows(2).map(|pair| (pair[0] as u64, pair[1] as u64)).collect()
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |lengths: &str, name: &str| results.number(&cell(plan, lengths), &format!("sample.{name}"));
    let most = number("powers", "most").zip(number("arbitrary", "most"));
    found.checks.shape(
        "counts are too low to be accurate",
        "at most 3 samples of each",
        "the most sampled one at most a fifth as often as with powers of two",
        most.map(|(powers, arbitrary)| 5.0 * arbitrary <= powers),
        most.map_or("not measured".into(), |(powers, arbitrary)| {
            format!("{arbitrary:.0} samples, and {powers:.0} with powers of two")
        }),
    );
    let both = hottest(plan, results, "powers", 20).zip(hottest(plan, results, "arbitrary", HOTTEST));
    let corresponding = both.map(|(powers, arbitrary)| {
        let known: BTreeSet<(u64, u64)> = powers.iter().flat_map(|path| steps(path)).collect();
        arbitrary.iter().filter(|path| !path.is_empty() && steps(path).is_subset(&known)).count()
    });
    found.checks.shape(
        "the hottest are made of the same",
        "corresponding to those of powers of two",
        "at least 8 of the ten hottest have only steps of the twenty hottest with powers of two",
        corresponding.map(|of| of >= 8),
        corresponding.map_or("not measured".into(), |of| format!("{of} of {HOTTEST}")),
    );
    found.checks.told(
        "how many times as many samples are needed for the same error of the hottest",
        "\"a larger sampling probability\"",
        most.map(|(powers, arbitrary)| exactly(powers / arbitrary.max(1.0), Unit::Ratio)),
    );
    let row = |lengths: &&str| {
        let of = |name: &str| entry(number(lengths, name), Unit::Count);
        vec![text(lengths), of("taken"), of("left"), of("distinct"), of("most"), of("mean_length")]
    };
    found.figures.push(table(
        "samples",
        "Samples of both",
        "Of subpaths of 2 to 1024 blocks.",
        &["lengths", "taken", "left", "different", "the most sampled", "mean length"],
        ["powers", "arbitrary"].iter().map(row).collect(),
    ));
    let rows = hottest(plan, results, "arbitrary", HOTTEST).unwrap_or_default();
    let rows = rows.iter().enumerate().map(|(at, path)| {
        let start = line_names(&path[..path.len().min(12)]);
        vec![text(&(at + 1).to_string()), text(&path.len().to_string()), text(&start)]
    });
    found.figures.push(table(
        "hottest",
        "The hottest subpaths of arbitrary length",
        "By the lines at which their first twelve blocks begin.",
        &["rank", "blocks", "lines"],
        rows.collect(),
    ));
}
