//! Oren, Matias and Sagiv 2002, section 2.2: what skipping, sampling and thinning cost for a block.

use super::rates::{TIMED, cost, costs, sampling};
use super::runs::{RUNS, Run, thinned};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-sec2.2-complexity",
    place: "Section 2.2",
    title: "Operations for a block",
    says: &[
        "Skipping is O(1) for a block, sampling O(1) for a sampled block, and thinning can be made O(1) for a sampled block, amortised: all but skipping is o(1) for a block as samples become rare.",
        "Here sampled blocks and entries visited by thinning are counted in the runs of table 3, where the paper's list is thinned: a thinning visits as many entries as the list can hold, at most. \
         And time is measured on FFT at three rates.",
    ],
    cells: |plan| {
        let timed = TIMED.iter().map(|&rate| cost(plan, rate));
        RUNS.iter().map(|run| thinned(plan, run)).chain(timed).collect()
    },
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |run: &Run, name: &str| results.number(&thinned(plan, run), &format!("sample.{name}"));
    let sampled = |run: &Run| Some(number(run, "taken")? * number(run, "mean_length")?);
    let visited = |run: &Run| Some(number(run, "thinnings")? * number(run, "entries")?);
    let all: Option<Vec<(f64, f64)>> = RUNS.iter().map(|run| Some((visited(run)?, sampled(run)?))).collect();
    let whole = all.as_ref().map(|all| {
        let (visits, blocks) = all.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        100.0 * visits / blocks
    });
    found.checks.number(
        "entries visited by thinning for each sampled block, at most, all programs",
        "O(1), amortised",
        Bound::at_most(5.0).stretch(1.0),
        whole.map(|share| exactly(share, Unit::Percent)),
    );
    let costs = costs(plan, results);
    let both = sampling(&costs);
    found.checks.shape(
        "time for a block without its skip",
        "o(1)",
        "less at 160 than at 40 by more than half",
        both.map(|[often, seldom]| seldom < often / 2.0),
        both.map_or("not measured".into(), |[often, seldom]| {
            format!("{} at 40, {} at 160", shown(often, Unit::Percent), shown(seldom, Unit::Percent))
        }),
    );
    let row = |run: &Run| {
        let share = |of: Option<f64>, all: Option<f64>| {
            entry(of.zip(all).map(|(of, all)| 100.0 * of / all), Unit::Percent)
        };
        vec![
            text(run.program),
            entry(number(run, "blocks"), Unit::Count),
            entry(number(run, "taken"), Unit::Count),
            share(sampled(run), number(run, "blocks")),
            entry(number(run, "thinnings"), Unit::Count),
            share(visited(run), sampled(run)),
        ]
    };
    found.figures.push(table(
        "operations",
        "Operations of the runs of table 3",
        "Blocks that are in samples, as a part of all; and entries visited by thinning, as a part of these, at most.",
        &["", "blocks", "samples taken", "sampled blocks", "thinnings", "visits"],
        RUNS.iter().map(row).collect(),
    ));
}
