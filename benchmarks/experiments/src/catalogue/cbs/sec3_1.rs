//! Arnold and Grove 2005, section 3.1: counters in polymorphic inline caches, the exhaustive profile that CBS is an answer to.

use super::fig4::idle;
use crate::catalogue::overheads::{Costs, bars, categories, of_seconds, seconds};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::shown;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-sec3.1-pic-counters",
    place: "Section 3.1",
    title: "Counters in polymorphic inline caches",
    says: &[
        "The paper quotes work on Vortex, where counters in polymorphic inline caches cost 15 to 50 %.",
        "Here each call of compiled code counts by its target as Vortex' sends did (`icache:sites=all`), at the lowest level, where most calls are made. It is \
         measured against the same code without counters, and, paired in one process, against CBS(7,16).",
    ],
    cells: |plan| {
        let names = names(plan);
        let flags = [COUNTERS, AGAINST];
        flags.iter().flat_map(|flags| names.iter().map(|name| counted(plan, name, flags))).collect()
    },
    conclude,
};

pub(super) const COUNTERS: &str = "--profile icache:sites=all --tier o0";
/// Paired with what they are compared with: what both have in common, such as ticks, is no part of the result.
const AGAINST: &str = "--profile icache:sites=all --vs cbs:samples=16,stride=7 --tier o0";

/// What is looked for is so large that half the usual time is enough.
pub(super) fn counted(plan: &Plan, program: &str, flags: &str) -> Cell {
    let own = plan.pick(1, 10);
    of_seconds(plan, program, flags, plan.trials.map_or(own, |_| seconds(plan, own)))
}

fn names(plan: &Plan) -> Vec<&'static str> {
    idle(plan)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    let [counters, against] =
        [COUNTERS, AGAINST].map(|flags| Costs::of(results, &names, |name| counted(plan, name, flags)));
    let range = papers::numbers("cbs.claims.pic_counters_overhead_range");
    let range: Vec<String> = range.into_iter().flatten().map(|of| format!("{of:.0}")).collect();
    // Five times what the paper allows CBS to cost, and surely more than nothing.
    let least = 5.0 * papers::number("cbs.claims.overhead_average_bound");
    let is_far = against.mean.map(|of| of.value >= least && of.interval.is_some_and(|(low, _)| low > 0.0));
    found.checks.shape(
        "counters cost far more than CBS",
        &format!("{} %", range.join(" to ")),
        &format!("at least {least} % above CBS, the interval above 0"),
        is_far,
        against.mean.map_or("not measured".into(), |of| {
            let (low, high) = of.interval.unwrap_or((of.value, of.value));
            format!("{} ({low:.1} to {high:.1}) above CBS", shown(of.value, of.unit))
        }),
    );
    let theirs = format!("{} %", range.join(" to "));
    found.checks.told_cost("overhead of counters", &theirs, counters.mean, counters.band());
    let groups = categories(&names);
    let bar = vec![
        counters.series("counters in caches", &groups),
        against.series("counters against CBS(7,16)", &groups),
        counters.again_series(&groups),
    ];
    found.figures.push(bars(
        "overhead",
        "Overhead of counters in inline caches",
        "Against code without counters, and against code with CBS.",
        Unit::Percent,
        groups,
        bar,
    ));
}
