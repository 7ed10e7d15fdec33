//! Bond and McKinley 2005, section 3.4: where additions to the path register are placed.

use super::fig6;
use crate::catalogue::overheads::{
    Costs, MEAN, bars, categories, counts, in_a_line, noise, of_seconds, paper_mean, seconds, series,
};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec3.4-placement",
    place: "Section 3.4",
    title: "Placing additions where they run least",
    says: &[
        "Smart numbering gives the value 0 to the edges that are taken most, so that nothing is added there. In the paper that costs 1.1 %, and \
         deliberately the other way round 2.5 %.",
        "A single addition hides behind others in a processor of today, so here the additions that an iteration executes are counted first: exact \
         numbers, the same in every run. Time is measured as well, of the register alone, without samples: of smart placement in the programs of figure 6, and of all three in some of them.",
    ],
    cells: |plan| {
        let counted = PLACEMENTS.iter().flat_map(|of| names(plan).into_iter().map(|name| cell(name, of)));
        let times = PLACEMENTS.iter().flat_map(|of| timed(plan).into_iter().map(|name| time(plan, name, of)));
        let smart = fig6::programs(plan).into_iter().map(|name| time(plan, name, PLACEMENTS[0]));
        counted.chain(times).chain(smart).collect()
    },
    conclude,
};

const PLACEMENTS: [&str; 3] = ["smart", "naive", "hot"];
const QUICK: [&str; 4] = ["richards", "json", "list", "queens"];

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&QUICK, programs::CLASSIC)
}

fn cell(program: &str, placement: &str) -> Cell {
    counts(program, &format!("--profile pep:placement={placement}"))
}

/// Those of figure 6 of which each placement is timed.
fn timed(plan: &Plan) -> Vec<&'static str> {
    plan.programs(
        &["richards", "list", "queens"],
        &["richards", "json", "list", "queens", "storage", "deltablue", "permute", "towers"],
    )
}

/// Time without samples: the register is kept, and nobody looks at it.
fn time(plan: &Plan, program: &str, placement: &str) -> Cell {
    match placement == PLACEMENTS[0] {
        true => fig6::instrumentation().cell(plan, program),
        false => {
            let flags = format!("--profile pep:samples=64,stride=17,placement={placement} --timer wall:1h");
            of_seconds(plan, program, &flags, seconds(plan, 1).min(10))
        }
    }
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
        known.map(|(smart, naive, hot)| smart < naive && naive < hot),
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
    let times = PLACEMENTS.map(|of| Costs::of(results, &timed(plan), |name| time(plan, name, of)));
    let both = times[0].mean.zip(times[2].mean);
    found.checks.shape(
        "smart placement takes no longer than hot",
        "1.1 % against 2.5 %",
        "on average, but for noise",
        both.map(|(smart, hot)| smart.value <= hot.value + noise(&smart, &hot)),
        in_a_line(PLACEMENTS.into_iter().zip(times.iter().map(|of| of.mean)), "not measured"),
    );
    let paper = |key: &str| papers::number(&format!("pep.sec3_4.{key}_placement_overhead"));
    let smart = Costs::of(results, &fig6::programs(plan), |name| time(plan, name, PLACEMENTS[0]));
    found.checks.number(
        "average overhead of the register with smart placement",
        &shown(paper("cold"), Unit::Percent),
        Bound::at_most(paper("cold")).resolution(1.0),
        smart.mean,
    );
    let groups = categories(&timed(plan));
    let mut bars_of_time: Vec<_> =
        PLACEMENTS.iter().zip(&times).map(|(name, costs)| costs.series(name, &groups)).collect();
    bars_of_time.push(times[0].again_series(&groups));
    for (key, name) in [("cold", "paper, smart"), ("hot", "paper, hot")] {
        bars_of_time.push(paper_mean(&groups, name, paper(key)));
    }
    let caption = "Time with the path register and no samples over time without, with 95 % intervals.";
    found.figures.push(bars("time", "Time by placement", caption, Unit::Percent, groups, bars_of_time));
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
