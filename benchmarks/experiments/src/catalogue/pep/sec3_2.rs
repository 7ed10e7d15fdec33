//! Bond and McKinley 2005, section 3.2: numbering a path is cheap, storing the number is not.

use super::{fig6, sec5_1};
use crate::catalogue::overheads::{Costs, bars, categories, cell, counts, in_a_line, series};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::shown;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec3.2-step-split",
    place: "Section 3.2",
    title: "Computing the number of a path, and storing it",
    says: &[
        "PEP rests on this: Ball-Larus instrumentation has two steps, additions to a register and an update of a table, and the second is nearly all of the cost. The paper says \
         that its measurements confirm it, without a number; its 1.1 % for the first step and 92 % for both (section 5.1) make the first 1.2 % of the whole.",
        "Here there are three builds with the same numbering: the register alone (PEP without ticks), with a counter in an array incremented where a path ends, and with \
         a hash table in its place, as PEP's own exact profiler has it. The share is the mean overhead of the first divided by that of the last. Additions and updates are counted, too: these numbers are exact.",
    ],
    cells: |plan| {
        let names = fig6::programs(plan);
        let timed = builds()
            .into_iter()
            .flat_map(|of| names.iter().map(move |name| of.1(plan, name)).collect::<Vec<_>>());
        timed.chain(names.iter().map(|name| counted(name))).collect()
    },
    conclude,
};

type Build = (&'static str, fn(&Plan, &str) -> Cell);

fn builds() -> [Build; 3] {
    [
        ("the register alone", |plan, name| fig6::instrumentation().cell(plan, name)),
        ("and a counter in an array", |plan, name| cell(plan, name, sec5_1::ALL[1].1)),
        ("and a hash table", |plan, name| cell(plan, name, sec5_1::ALL[2].1)),
    ]
}

/// What the last of them does for each path.
fn counted(name: &str) -> Cell {
    counts(name, sec5_1::ALL[2].1)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = fig6::programs(plan);
    let all = builds().map(|(what, cell)| (what, Costs::of(results, &names, |name| cell(plan, name))));
    let [only, arrays, hashed] = [0, 1, 2].map(|at: usize| all[at].1.mean.map(|mean| mean.value));
    let paper = 100.0 * papers::number("pep.sec3_4.cold_placement_overhead")
        / papers::number("pep.perfect_cost.path.avg");
    // Of nothing there is no part.
    let share = only
        .zip(hashed)
        .map(|(only, hashed)| if hashed > 0.0 { 100.0 * only / hashed } else { f64::INFINITY });
    found.checks.shape(
        "computing the number is a small part of the cost",
        &format!("{} of both steps", shown(paper, Unit::Percent)),
        "at most 10 % of the overhead with a hash table, of the means",
        share.map(|share| share <= 10.0),
        share.map_or("not measured".into(), |share| {
            format!(
                "{}: {}",
                shown(share, Unit::Percent),
                in_a_line(all.iter().map(|of| (of.0, of.1.mean)), "-")
            )
        }),
    );
    found.checks.shape(
        "a counter in an array is dearer than the register, too",
        "a load, an increment and a store",
        "mean overhead above that of the register alone",
        only.zip(arrays).map(|(only, arrays)| arrays > only),
        in_a_line(all[..2].iter().map(|of| (of.0, of.1.mean)), "-"),
    );
    let per_path = |name: &str, what: &str| {
        let cell = counted(name);
        let ends = results.number(&cell, "counts.profiled.path_ends")?;
        Some(results.number(&cell, &format!("counts.profiled.{what}"))? / ends.max(1.0))
    };
    let average = |what: &str| {
        let each: Vec<f64> = names.iter().filter_map(|name| per_path(name, what)).collect();
        if each.len() == names.len() { mean(&each) } else { None }
    };
    let additions = average("additions_executed");
    found.checks.told(
        "additions for each path that ends, mean over programs",
        "not said",
        additions.map(|of| exactly(of, Unit::Count)),
    );
    let groups = categories(&names);
    let caption = "Time over time without a profiler, with 95 % intervals.";
    let costs = all.iter().map(|(what, costs)| costs.series(what, &groups)).collect();
    found.figures.push(bars(
        "overhead",
        "Cost of the two steps",
        caption,
        Unit::Percent,
        groups.clone(),
        costs,
    ));
    let count = |title: &str, what: &str| {
        series(title, &groups, |group| {
            let value = per_path(group, what).or_else(|| average(what).filter(|_| !names.contains(&group)));
            value.map(|value| exactly(value, Unit::Count))
        })
    };
    let work = vec![count("additions", "additions_executed"), count("hash table probes", "hash_probes")];
    let caption = "For each path that ends, in the build with a hash table; an addition is a register's, a probe is of memory.";
    found.figures.push(bars("work", "Work of the two steps", caption, Unit::Count, groups.clone(), work));
}
