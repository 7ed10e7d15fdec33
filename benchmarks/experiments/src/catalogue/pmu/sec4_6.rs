//! Shye et al. 2005, section 4.6: pieces that fit too many paths.

use super::{fig6, traces};
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
        "Here false flow is the part of the estimated flow on paths that are hot by the estimate and not by exact counts, from traces of four branches; by equal \
         division, the paper's, and by expectation-maximisation.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let scores = [EQUAL, EM].into_iter().flat_map(|of| names.iter().map(move |name| (name, of)));
        let scores = scores.map(|(name, of)| traces::accuracy(name, of));
        scores.chain(names.iter().map(|name| matched(name))).collect()
    },
    conclude,
};

const EQUAL: &str = fig6::CONFIGURATIONS[0].1;
const EM: &str = fig6::CONFIGURATIONS[1].1;

fn programs(plan: &Plan) -> Vec<&'static str> {
    let quick = &["richards", "json", "deltablue", "list", "storage", "queens", "bounce", "cd"];
    let mut names = plan.programs(quick, programs::CLASSIC);
    // It is over before a sample is due.
    names.retain(|name| *name != "nbody");
    names
}

fn matched(program: &str) -> Cell {
    traces::statistics(program, "quick", EQUAL)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let false_flow =
        |program: &str, of: &str| results.number(&traces::accuracy(program, of), "traces.count.false");
    let matches = |program: &str| {
        let outcome = results.outcome(&matched(program))?;
        let number = |name: &str| outcome.numbers.get(name).copied();
        Some(number("matches")? / number("partials").filter(|&pieces| pieces > 0.0)?)
    };
    let rows =
        names.iter().map(|name| Some((matches(name)?, false_flow(name, EQUAL)?, false_flow(name, EM)?)));
    let rows: Option<Vec<(f64, f64, f64)>> = rows.collect();
    let rows = rows.filter(|rows| rows.len() > 1);
    let column = |pick: fn(&(f64, f64, f64)) -> f64| {
        rows.as_ref().map(|rows| rows.iter().map(pick).collect::<Vec<f64>>())
    };
    let (ratio, equal, em) = (column(|of| of.0), column(|of| of.1), column(|of| of.2));
    let fewer = equal.as_deref().and_then(mean).zip(em.as_deref().and_then(mean));
    found.checks.number(
        "false flow, expectation-maximisation relative to equal division, of the means",
        "not said",
        Bound::at_most(0.7),
        fewer.filter(|of| of.0 > 0.0).map(|(equal, em)| exactly(em / equal, Unit::Ratio)),
    );
    let correlation =
        ratio.as_deref().zip(equal.as_deref()).and_then(|(ratio, equal)| correlation(ratio, equal));
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
        caption: "Each program twice: by equal division and by expectation-maximisation.".into(),
        chart: scatter(&names, &rows),
    }));
}

fn scatter(names: &[&str], rows: &[(f64, f64, f64)]) -> Chart {
    let point = |name: &str, group: &str, x: f64, y: f64| Point {
        name: name.into(),
        group: group.into(),
        x,
        y: 100.0 * y,
        x_interval: None,
        y_interval: None,
    };
    let both = names.iter().zip(rows).flat_map(|(name, &(ratio, equal, em))| {
        [point(name, "equal", ratio, equal), point(name, "em", ratio, em)]
    });
    Chart::Scatter {
        x: Axis { title: "paths that a piece fits, on average".into(), unit: Unit::Ratio, log: false },
        y: Axis { title: "false flow".into(), unit: Unit::Percent, log: false },
        points: both.collect(),
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
