//! Arnold and Grove 2005, figure 4: while nothing is sampled, a test that is there anyway does the work, and CBS costs nothing.

use crate::catalogue::overheads::{Costs, bars, categories, cell as cost};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Measured, Unit};
use crate::results::Results;
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-fig4-zero-idle-cost",
    place: "Figure 4",
    title: "What it costs while nothing is sampled",
    says: &[
        "The flag that methods test on entry, to see whether somebody wants the thread, also says that calls are to be sampled. So code needs no further \
         test, and the paper calls the cost essentially zero without measuring it.",
        "Here both are looked at: a digest of all machine code of a replayed run, without CBS and with it (addresses of the process do not count), and the time of code \
         for which no tick ever comes. A profiler that does change code, counters in inline caches, must change the digest.",
    ],
    cells: |plan| {
        let names = idle(plan);
        let digests = names.iter().flat_map(|name| PROFILERS.map(|profiler| code(name, profiler)));
        digests.chain(names.iter().map(|name| cost(plan, name, IDLE))).collect()
    },
    conclude,
};

/// None, the one that must not change code, and one that must.
const PROFILERS: [&str; 3] = ["", " --profile cbs", " --profile icache:sites=all"];
/// No measurement has machines that run for so long.
const IDLE: &str = "--profile cbs --tier o0 --timer wall:1h";

/// The programs, which have calls and short samples.
pub fn idle(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", "list"], &["richards", "list", "json", "storage", "queens", "towers"])
}

fn code(program: &str, profiler: &str) -> Cell {
    let learn =
        format!("bench {program} --iterations 1 --size quick --sync-compile --advice-out @advice.json");
    let replay =
        format!("bench {program} --iterations 1 --size quick --replay @advice.json{profiler} --stats=json");
    Cell::counting(Reduction::Statistics, &[&learn, &replay], 0.4)
}

/// The digest of the machine code, and its size.
fn digest(results: &Results<'_>, program: &str, profiler: &str) -> Option<[f64; 3]> {
    let cell = code(program, profiler);
    let [high, low, bytes] =
        ["code_digest.high", "code_digest.low", "machine_code_bytes"].map(|name| results.number(&cell, name));
    Some([high?, low?, bytes?])
}

/// How far from 0 the same machine measured twice may be.
pub fn farthest(again: Measured) -> f64 {
    let (low, high) = again.interval.unwrap_or((again.value, again.value));
    low.abs().max(high.abs())
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = idle(plan);
    let digests: Option<Vec<[[f64; 3]; 3]>> = names
        .iter()
        .map(|name| {
            let [none, cbs, counters] = PROFILERS.map(|profiler| digest(results, name, profiler));
            Some([none?, cbs?, counters?])
        })
        .collect();
    let digests = digests.filter(|of| !of.is_empty());
    let count = |holds: fn(&[[f64; 3]; 3]) -> bool| {
        digests.as_ref().map(|all| (all.iter().filter(|of| holds(of)).count(), all.len()))
    };
    let of_all = |of: Option<(usize, usize)>| {
        of.map_or("not measured".into(), |(some, all)| format!("{some} of {all} programs"))
    };
    let same = count(|[none, cbs, _]| none == cbs && none[2] > 0.0);
    found.checks.shape(
        "machine code with CBS is that without",
        "no change by the compiler",
        "the same digest and size in all programs",
        same.map(|(some, all)| some == all),
        of_all(same),
    );
    let other = count(|[none, _, counters]| none[..2] != counters[..2]);
    found.checks.shape(
        "digests tell code apart",
        "nothing to compare",
        "another one with counters in inline caches",
        other.map(|(some, all)| some == all),
        of_all(other),
    );
    let costs = Costs::of(results, &names, |name| cost(plan, name, IDLE));
    let band = costs.again_mean.map(farthest);
    // As far from 0 as it is, with its interval; and a band that holds anything says nothing.
    let distance = costs.mean.map(|cost| match cost.interval {
        Some((low, high)) if cost.value < 0.0 => {
            Measured { value: -cost.value, interval: Some((-high, -low)), ..cost }
        }
        _ => cost,
    });
    found.checks.number(
        "time while nothing is sampled, either way (at most what the same machine measured twice may differ by)",
        "essentially zero",
        Bound::at_most(band.unwrap_or(0.0)).stretch(f64::NEG_INFINITY).resolution(2.0),
        distance.filter(|_| band.is_some()),
    );
    let groups = categories(&names);
    let series = vec![costs.series("CBS without ticks", &groups), costs.again_series(&groups)];
    found.figures.push(bars(
        "overhead",
        "Overhead of CBS when no tick comes",
        "Beside it the same machine without CBS, measured twice.",
        Unit::Percent,
        groups,
        series,
    ));
}
