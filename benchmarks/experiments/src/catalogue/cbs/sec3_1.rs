//! Arnold and Grove 2005, section 3.1: counters in polymorphic inline caches, the exhaustive profile that CBS is an answer to.

use super::fig4::idle;
use crate::catalogue::overheads::{Costs, bars, categories, of_seconds, seconds};
use crate::catalogue::{Experiment, Findings, accuracies};
use crate::cell::Cell;
use crate::papers;
use crate::plan::{Mode, Plan};
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
         measured against the same code without counters, and, paired in one process, against CBS(7,16). The other ways to find out about calls are measured on the same programs for the plane of all profilers, in a full run.",
    ],
    cells: |plan| {
        let names = names(plan);
        let against = names.iter().map(|name| counted(plan, name, AGAINST));
        let others =
            CALL_PROFILERS.iter().filter(|of| plan.mode == Mode::Full || of.profiler == "icache:sites=all");
        let costs = others.flat_map(|of| names.iter().map(|name| of.cost(plan, name)));
        let accuracy = names.iter().map(|name| accuracy(name));
        against.chain(costs).chain(accuracy).collect()
    },
    conclude,
};

/// A profiler of calls among others: what it costs, and how accurate it is.
pub struct CallProfiler {
    /// As it is called in figures.
    pub name: &'static str,
    /// Which others are of its kind.
    pub group: &'static str,
    profiler: &'static str,
    /// How results name it; nothing for who counts every call.
    pub key: Option<&'static str>,
}

impl CallProfiler {
    /// What it costs at the lowest level. Table 3 has some of them on more programs, and counters are looked at more closely below.
    pub fn cost(&self, plan: &Plan, program: &str) -> Cell {
        let flags = format!("--profile {} --tier o0", self.profiler);
        match flags == COUNTERS {
            true => counted(plan, program, COUNTERS),
            false => super::tab3::cost(plan, program, &flags),
        }
    }
}

/// All ways to find out about calls.
pub const CALL_PROFILERS: [CallProfiler; 7] = [
    CallProfiler {
        name: "one sample for each tick",
        group: "CBS",
        profiler: "cbs:schedule=timer",
        key: Some("cbs:schedule=timer,at=prologue"),
    },
    CallProfiler {
        name: "CBS(1,1)",
        group: "CBS",
        profiler: "cbs:samples=1,stride=1",
        key: Some("cbs:samples=1,stride=1,schedule=arnold-grove,at=prologue"),
    },
    CallProfiler {
        name: "CBS(3,16)",
        group: "CBS",
        profiler: "cbs:samples=16,stride=3",
        key: Some("cbs:samples=16,stride=3,schedule=arnold-grove,at=prologue"),
    },
    CallProfiler {
        name: "CBS(7,16)",
        group: "CBS",
        profiler: "cbs:samples=16,stride=7",
        key: Some("cbs:samples=16,stride=7,schedule=arnold-grove,at=prologue"),
    },
    CallProfiler {
        name: "bursts of first calls",
        group: "listeners",
        profiler: "oneshot",
        key: Some("oneshot:burst=100,level=o0"),
    },
    CallProfiler {
        name: "counters in inline caches",
        group: "counters",
        profiler: "icache:sites=all",
        key: Some("icache:entries=8,sites=all"),
    },
    CallProfiler { name: "every call counted", group: "counters", profiler: "calls", key: None },
];

/// How accurate all of them are, in a run of as many ticks as the paper's longer ones.
pub fn accuracy(program: &str) -> Cell {
    let sampled = CALL_PROFILERS.iter().filter(|of| of.key.is_some());
    let profilers: Vec<String> = sampled.map(|of| of.profiler.to_string()).collect();
    accuracies::calls(program, "default", 500, &profilers, 1.2)
}

const COUNTERS: &str = "--profile icache:sites=all --tier o0";
/// Paired with what they are compared with: what both have in common, such as ticks, is no part of the result.
const AGAINST: &str = "--profile icache:sites=all --vs cbs:samples=16,stride=7 --tier o0";

/// What is looked for is so large that half the usual time is enough.
fn counted(plan: &Plan, program: &str, flags: &str) -> Cell {
    let own = plan.pick(2, 10);
    of_seconds(plan, program, flags, plan.trials.map_or(own, |_| seconds(plan, own)))
}

/// The programs, which all of these are measured on.
pub fn names(plan: &Plan) -> Vec<&'static str> {
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
