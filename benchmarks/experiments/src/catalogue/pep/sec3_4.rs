//! Bond and McKinley 2005, section 3.4: where additions to the path register are placed.

use crate::catalogue::overheads::{MEAN, bars, categories, counts, series};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::shown;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec3.4-placement",
    place: "Section 3.4",
    title: "Placing additions where they run least",
    says: &[
        "Smart numbering gives the value 0 to the edges that are taken most, so that nothing is added there. In the paper that costs 1.1 %, and \
         deliberately the other way round 2.5 %.",
        "A single addition hides behind others in a processor of today, so here the additions that an iteration executes are counted: exact \
         numbers, the same in every run.",
    ],
    cells: |plan| {
        PLACEMENTS.iter().flat_map(|of| names(plan).into_iter().map(|name| cell(name, of))).collect()
    },
    conclude,
};

const PLACEMENTS: [&str; 3] = ["smart", "naive", "hot"];
const QUICK: [&str; 8] = ["richards", "json", "list", "storage", "queens", "sieve", "permute", "towers"];

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&QUICK, programs::CLASSIC)
}

fn cell(program: &str, placement: &str) -> Cell {
    counts(program, &format!("--profile pep:placement={placement}"))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    // For each path that ends: programs are of different length.
    let of = |program: &str, placement: &str| -> Option<f64> {
        let cell = cell(program, placement);
        let ends = results.number(&cell, "counts.profiled.path_ends")?;
        Some(results.number(&cell, "counts.profiled.additions_executed")? / ends.max(1.0))
    };
    let means = PLACEMENTS.map(|placement| {
        let each: Vec<f64> = names.iter().filter_map(|name| of(name, placement)).collect();
        if each.len() == names.len() { mean(&each) } else { None }
    });
    let known = match means {
        [Some(smart), Some(naive), Some(hot)] => Some((smart, naive, hot)),
        _ => None,
    };
    let text = known.map_or("not measured".into(), |(smart, naive, hot)| {
        format!("{smart:.2}, {naive:.2} and {hot:.2} additions for each path")
    });
    found.checks.shape(
        "smart adds less than naive, and naive less than hot",
        "1.1 % against 2.5 % of time",
        "in this order on average",
        known.map(|(smart, naive, hot)| smart <= naive && naive <= hot),
        text,
    );
    found.checks.shape(
        "hot placement adds several times as much",
        "2.3 times the time",
        "at least 5 times the additions",
        known.map(|(smart, _, hot)| hot >= 5.0 * smart),
        known.map_or("not measured".into(), |(smart, _, hot)| {
            shown(hot / smart.max(1e-9), Unit::Ratio) + " times"
        }),
    );
    let groups = categories(&names);
    let bar = |placement: &str| {
        let mean = PLACEMENTS.iter().zip(means).find(|of| *of.0 == placement).and_then(|of| of.1);
        let value = |group: &str| if group == MEAN { mean } else { of(group, placement) };
        series(placement, &groups, |group| value(group).map(|value| exactly(value, Unit::Count)))
    };
    let all = PLACEMENTS.map(bar).into();
    let groups = groups.clone();
    let caption = "Additions to the path register that are executed for each path that ends.";
    found.figures.push(bars("additions", "Additions executed", caption, Unit::Count, groups, all));
}
