//! Arnold and Grove 2005, table 3: accuracy and overhead for each program.

use crate::catalogue::accuracies;
use crate::catalogue::overheads::{Costs, cell as cost};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-tab3",
    place: "Table 3",
    title: "Accuracy and overhead for each program",
    says: &[
        "Thirteen programs with small and large inputs, everything compiled once at the lowest level, where only trivial methods are inlined. One sample \
         for each tick finds 38 % of the call graph in Jikes RVM and 37 % in J9; CBS with 16 samples and a stride of 3 (Jikes) or 7 (J9) finds 62 and 64 %, \
         for 0.2 and 0.3 % of time. In all but three rows it is better.",
        "Here a small input is a run of 50 ticks and a large one of 500, as the paper's runs of half a second to a minute had; ticks come by counted \
         yieldpoints, so that accuracies repeat. When time is short, the two programs that take longest are left out, and overheads are measured for a part of the others.",
    ],
    cells: |plan| {
        let names = names(plan);
        let accuracy = TICKS.iter().flat_map(|ticks| names.iter().map(|name| cell(name, *ticks)));
        accuracy.chain(costed(plan).iter().map(|name| cost(plan, name, COST))).collect()
    },
    conclude,
};

const TICKS: [u64; 2] = [50, 500];
const PROFILERS: [&str; 3] = ["cbs:schedule=timer", "cbs:samples=16,stride=3", "cbs:samples=16,stride=7"];
/// As results name them.
const NAMES: [&str; 3] = [
    "cbs:schedule=timer,at=prologue",
    "cbs:samples=16,stride=3,schedule=arnold-grove,at=prologue",
    "cbs:samples=16,stride=7,schedule=arnold-grove,at=prologue",
];
/// With all their calls counted, an iteration of these takes longer than a quick run has for them.
const LONG: [&str; 2] = ["havlak", "raytracer"];
const COST: &str = "--profile cbs:samples=16,stride=7 --tier o0";

fn names(plan: &Plan) -> Vec<&'static str> {
    let short: Vec<&str> = programs::CLASSIC.iter().copied().filter(|name| !LONG.contains(name)).collect();
    plan.programs(&short, programs::CLASSIC)
}

fn costed(plan: &Plan) -> Vec<&'static str> {
    plan.programs(programs::QUICK, programs::CLASSIC)
}

fn cell(program: &str, ticks: u64) -> Cell {
    accuracies::calls(program, "default", ticks, &PROFILERS.map(String::from), 0.8)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    let mut rows: Vec<(String, [f64; 3])> = Vec::new();
    let mut averages = [[None; 3]; 2];
    for (size, ticks) in TICKS.into_iter().enumerate() {
        let mut all: [Vec<f64>; 3] = Default::default();
        for name in &names {
            let cell = cell(name, ticks);
            let each = NAMES.map(|of| results.number(&cell, &format!("{of}.overlap")));
            if let [Some(timer), Some(three), Some(seven)] = each {
                rows.push((format!("{name}, {ticks} ticks"), [timer, three, seven]));
                all.iter_mut().zip([timer, three, seven]).for_each(|(all, one)| all.push(one));
            }
        }
        if all[0].len() == names.len() {
            averages[size] = all.map(|values| mean(&values));
        }
    }
    let [small, large] = averages;
    // The better of the two, as the paper has two virtual machines.
    let best = |of: [Option<f64>; 3]| Some(of[1]?.max(of[2]?));
    let both = best(small).zip(best(large)).map(|(small, large)| (small + large) / 2.0);
    let percent = |value: Option<f64>| value.map(|value| exactly(value, Unit::Percent));
    let paper = |key: &str| papers::number(&format!("cbs.claims.{key}"));
    let all = papers::grid("cbs.table3.averages")[2][8].unwrap_or(f64::NAN);
    found.checks.number(
        "average accuracy over all runs",
        "62 and 64 %",
        Bound::at_least(all).stretch(72.0),
        percent(both),
    );
    found.checks.number(
        "average accuracy of small runs",
        "55 and 51 %",
        Bound::at_least(paper("small_accuracy.jikes_cbs")).stretch(65.0),
        percent(best(small)),
    );
    found.checks.number(
        "average accuracy of large runs",
        "69 and 74 %",
        Bound::at_least(paper("large_accuracy.j9_cbs")).stretch(80.0),
        percent(best(large)),
    );
    let costs = Costs::of(results, &costed(plan), |name| cost(plan, name, COST));
    found.checks.number(
        "average overhead of CBS(7,16)",
        "0.3 %",
        Bound::at_most(paper("overhead_average_bound")).resolution(1.0),
        costs.mean,
    );
    let is_known = small[0].is_some() && large[0].is_some();
    let worse = rows.iter().filter(|(_, [timer, three, seven])| three.max(*seven) < *timer).count();
    found.checks.shape(
        "better than one sample for each tick",
        "in all rows but three",
        "in all rows but two",
        is_known.then_some(worse <= 2),
        format!("worse in {worse} of {} rows", rows.len()),
    );
    let most = costs.worst();
    found.checks.shape(
        "no program pays much",
        "at most 2.8 %",
        "at most 3 %",
        most.map(|(_, cost)| cost.value <= 3.0),
        most.map_or("not measured".into(), |(name, cost)| {
            format!("{name}, {}", shown(cost.value, Unit::Percent))
        }),
    );
    let number = |value: f64| entry(Some(value), Unit::Percent);
    let row =
        |(name, values): &(String, [f64; 3])| std::iter::once(text(name)).chain(values.map(number)).collect();
    found.figures.push(table(
        "accuracy",
        "Accuracy of call graphs",
        "Overlap with the exact call graph of the same program.",
        &["run", "timer", "CBS(3,16)", "CBS(7,16)"],
        rows.iter().map(row).collect(),
    ));
}
