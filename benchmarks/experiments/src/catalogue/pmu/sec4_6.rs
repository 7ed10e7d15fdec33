//! Shye et al. 2005, section 4.6: pieces that fit too many paths.

use super::periods::{self, HEADLINE, PAPER, Traces};
use crate::catalogue::tables::{entry, table};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Point, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-sec4.6",
    place: "Section 4.6",
    title: "Pieces that fit many paths",
    says: &[
        "A piece that fits many paths of a region gives each a part of its count, and so makes paths hot that are not: in large regions, the paper says, \
         without numbers.",
        "Here false flow is the part of the estimated flow on paths that are hot by the estimate and not by exact counts, from the runs of figure 6 at 10 million cycles; by equal \
         division, the paper's, by expectation-maximisation, and by equal division among paths without cold edges (to which the interpreter's edge profile gives less than 2 % of their branch).",
        "A region ends where it would have more paths than a limit; the paper does not say which it has. The smaller the limit, the fewer paths a piece can fit: false flow and accuracy for limits from 4 to 4096 paths (equal division), each against exact counts of its own regions.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let scores = WEIGHTS.iter().flat_map(|of| names.iter().map(move |name| (name, of)));
        let scores = scores.map(|(name, of)| scored(plan, name, of));
        let limits =
            caps(plan).iter().flat_map(|&cap| names.iter().map(move |name| limited(plan, name, cap)));
        scores.chain(names.iter().map(|name| matched(plan, name))).chain(limits).collect()
    },
    conclude,
};

/// How counts are divided: by the paper, and to have less false flow.
const WEIGHTS: [(&str, Traces, &str); 3] = [
    ("equal", PAPER, ""),
    ("em", Traces { depth: 4, weights: "em" }, ""),
    ("without cold edges", PAPER, ",cold=2"),
];

fn programs(plan: &Plan) -> Vec<&'static str> {
    let quick = ["richards", "json", "deltablue", "list", "storage", "queens"];
    // Without a piece that fits a path, no flow is false.
    programs::with_paths(plan.programs(&quick, programs::CLASSIC))
}

/// The most paths of a region; the usual limit is 1024.
fn caps(plan: &Plan) -> &'static [u32] {
    plan.pick(&[4, 64], &[4, 16, 64, 256, 4096])
}

fn scored(plan: &Plan, program: &str, (_, traces, more): &(&str, Traces, &str)) -> Cell {
    periods::recorded_with(plan, program, *traces, HEADLINE, more)
}

fn limited(plan: &Plan, program: &str, cap: u32) -> Cell {
    periods::recorded_with(plan, program, PAPER, HEADLINE, &format!(",cap={cap}"))
}

fn matched(plan: &Plan, program: &str) -> Cell {
    periods::found(plan, program, HEADLINE)
}

/// What of a program is looked at.
struct Row {
    /// Paths that a piece fits, on average.
    ratio: f64,
    /// The share of false flow, for each of [`WEIGHTS`].
    wrong: [f64; 3],
}

fn row(plan: &Plan, results: &Results<'_>, program: &str) -> Option<Row> {
    let outcome = results.outcome(&matched(plan, program))?;
    let number = |name: &str| outcome.numbers.get(name).copied();
    let ratio = number("matches")? / number("partials").filter(|&pieces| pieces > 0.0)?;
    let wrong = WEIGHTS.iter().map(|of| results.number(&scored(plan, program, of), "traces.count.false"));
    let wrong: Vec<f64> = wrong.collect::<Option<_>>()?;
    Some(Row { ratio, wrong: wrong.try_into().ok()? })
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let rows: Option<Vec<Row>> = names.iter().map(|name| row(plan, results, name)).collect();
    let rows = rows.filter(|rows| rows.len() > 1);
    let wrong =
        |at: usize| rows.as_ref().map(|rows| rows.iter().map(|row| row.wrong[at]).collect::<Vec<f64>>());
    let means = [0, 1, 2].map(|at| wrong(at).as_deref().and_then(mean));
    let relative = |at: usize| {
        means[0]
            .filter(|&equal| equal > 0.0)
            .zip(means[at])
            .map(|(equal, of)| exactly(of / equal, Unit::Ratio))
    };
    found.checks.number(
        "false flow, expectation-maximisation relative to equal division, of the means",
        "not said",
        Bound::at_most(0.7),
        relative(1),
    );
    found.checks.told("the same without paths of cold edges", "not said", relative(2));
    let ratio = rows.as_ref().map(|rows| rows.iter().map(|row| row.ratio).collect::<Vec<f64>>());
    let correlation =
        ratio.as_deref().zip(wrong(0).as_deref()).and_then(|(ratio, wrong)| correlation(ratio, wrong));
    found.checks.shape(
        "more matches, more false flow",
        "large regions match too much",
        "a positive rank correlation over programs",
        correlation.map(|of| of > 0.0),
        correlation.map_or("not measured".into(), |of| format!("{of:.2} over {} programs", names.len())),
    );
    found.figures.extend(rows.map(|rows| Figure {
        id: "matching".into(),
        title: "False flow over matches".into(),
        caption: "Each program by equal division, by expectation-maximisation, and without paths of cold edges.".into(),
        chart: scatter(&names, &rows),
    }));
    found.figures.extend(limits(plan, results));
}

/// Means over programs for each limit, the usual one among them.
fn limits(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let names = programs(plan);
    let average = |cell: &dyn Fn(&str) -> Cell, score: &str| {
        let each: Option<Vec<f64>> = names.iter().map(|name| results.number(&cell(name), score)).collect();
        mean(&each?).map(|share| 100.0 * share)
    };
    let mut all: Vec<(u32, Option<u32>)> = caps(plan).iter().map(|&cap| (cap, Some(cap))).collect();
    all.push((1024, None));
    all.sort_unstable();
    let row = |&(cap, other): &(u32, Option<u32>)| {
        let cell = |name: &str| match other {
            Some(cap) => limited(plan, name, cap),
            None => scored(plan, name, &WEIGHTS[0]),
        };
        let score = |of: &str| Some(entry(Some(average(&cell, of)?), Unit::Percent));
        Some(vec![
            entry(Some(f64::from(cap)), Unit::Count),
            score("traces.count.false")?,
            score("traces.count.accuracy")?,
            score("traces.count.covered")?,
        ])
    };
    let rows: Option<Vec<_>> = all.iter().map(row).collect();
    let caption = "Means over programs, by equal division: the most paths that a region may have, and what comes of it.";
    let columns = ["most paths", "false flow", "accuracy", "flow of hot paths"];
    rows.map(|rows| table("limits", "Limits of regions", caption, &columns, rows))
}

fn scatter(names: &[&str], rows: &[Row]) -> Chart {
    let points = names.iter().zip(rows).flat_map(|(name, row)| {
        WEIGHTS.iter().zip(row.wrong).map(|((group, ..), wrong)| Point {
            name: name.to_string(),
            group: group.to_string(),
            x: row.ratio,
            y: 100.0 * wrong,
            x_interval: None,
            y_interval: None,
        })
    });
    Chart::Scatter {
        x: Axis { title: "paths that a piece fits, on average".into(), unit: Unit::Ratio, log: false },
        y: Axis { title: "false flow".into(), unit: Unit::Percent, log: false },
        points: points.collect(),
    }
}

/// Spearman's rank correlation; nothing if all are the same.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = (ranks(one), ranks(other));
    let middle = (one.len() as f64 + 1.0) / 2.0;
    let product =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum() };
    let spread = (product(&one, &one) * product(&other, &other)).sqrt();
    (spread > 0.0).then(|| product(&one, &other) / spread)
}

/// Ranks from 1; equals share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let less = values.iter().filter(|of| *of < value).count() as f64;
        let equal = values.iter().filter(|of| *of == value).count() as f64;
        less + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_correlate() {
        assert_eq!(correlation(&[1.0, 2.0, 9.0], &[5.0, 6.0, 7.0]), Some(1.0));
        assert_eq!(correlation(&[1.0, 2.0, 9.0], &[7.0, 6.0, 5.0]), Some(-1.0));
        assert_eq!(correlation(&[1.0, 1.0], &[7.0, 6.0]), None);
        assert_eq!(ranks(&[3.0, 1.0, 3.0]), [2.5, 1.0, 2.5]);
    }
}
