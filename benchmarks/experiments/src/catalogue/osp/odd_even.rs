//! Oren, Matias and Sagiv 2002, section 5: odd and even turns of a loop.

use crate::catalogue::marks::line;
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::{Reduction, line_names};
use crate::report::model::Unit;
use crate::results::Results;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-sec5-odd-even",
    place: "Section 5",
    title: "Odd and even turns of a loop",
    says: &[
        "A loop that goes one way in odd turns and the other way in even ones has a subpath that is both, one after the other. The paper says that it will show as a hot one, and that a compiler may unroll the loop by it.",
        "The probe `oddeven` has such a loop, and beside it one that goes each way as often, but one way first: paths of one turn are the same for both.",
    ],
    cells: |plan| vec![cell(plan)],
    conclude,
};

fn cell(plan: &Plan) -> Cell {
    let line = format!(
        "bench oddeven --size 20 --iterations 1 --tier o2 --profile subpaths --profile osp:rate=100,seed={} --profile-out {RESULT}",
        plan.seed
    );
    Cell::counting(Reduction::Subpaths, &[&line], 0.3)
}

/// The rank of the first of the hottest subpaths of the sample that goes through both lines.
fn rank(plan: &Plan, results: &Results<'_>, comments: [&str; 2]) -> Option<Option<usize>> {
    let samples = &results.outcome(&cell(plan))?.samples;
    let both = comments.map(|comment| line("probes/oddeven.hol", comment));
    let has_both = |rank: &usize| {
        samples
            .get(&format!("hottest.{rank}"))
            .is_some_and(|lines| both.iter().all(|line| lines.contains(line)))
    };
    Some((1..=20).find(has_both))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let shown = |rank: Option<Option<usize>>| match rank {
        None => "not measured".to_string(),
        Some(None) => "not among the first 20".into(),
        Some(Some(rank)) => format!("rank {rank}"),
    };
    let alternating = rank(plan, results, ["alternating: even", "alternating: odd"]);
    found.checks.shape(
        "an odd and an even turn, one after the other",
        "shows as a hot subpath",
        "among the five hottest of the sample",
        alternating.map(|rank| rank.is_some_and(|rank| rank <= 5)),
        shown(alternating),
    );
    let phased = rank(plan, results, ["phased: first", "phased: second"]);
    found.checks.shape(
        "both ways where one comes first and then the other",
        "not said",
        "not among the twenty hottest",
        phased.map(|rank| rank.is_none()),
        shown(phased),
    );
    let outcome = results.outcome(&cell(plan));
    let rows = (1..=10).filter_map(|rank| {
        let lines = outcome?.samples.get(&format!("hottest.{rank}"))?;
        let name = line_names(lines);
        let samples = outcome?.numbers.get(&format!("samples.{name}")).copied();
        Some(vec![text(&rank.to_string()), text(&name), entry(samples, Unit::Count)])
    });
    found.figures.push(table(
        "hottest",
        "The ten hottest subpaths of the sample",
        "By the lines of `benchmarks/programs/probes/oddeven.hol` at which their blocks begin; a loop's rotations are the same.",
        &["rank", "lines", "samples"],
        rows.collect(),
    ));
}
