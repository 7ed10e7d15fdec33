//! Arnold and Grove 2005, section 6.3: among parameters that cost less than half a percent, it does not matter which.

use super::fig5::of_new;
use super::inlining::{self, CBS, COMPILER};
use crate::catalogue::overheads::{Costs, bars};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::groups::Spread;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::shown;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-sec6.3-insensitivity",
    place: "Section 6.3",
    title: "Speed over parameters of CBS",
    says: &[
        "Among samples and strides that cost less than 0.5 %, the choice made no significant difference to the speed of inlined code; on javac 1 to 2 %.",
        "Here the new inliner gets the calls that six such configurations found (three when time is short), and each code is measured against that of static \
         heuristics. Code by two runs with the same parameters differs, too, as what is sampled is chance; so each has several runs, and an analysis of variance asks whether speed-ups of different \
         parameters differ by more than those of the same. It is asked of all programs at once: each may differ by chance, and must be less likely to than once in twenty times by as many as there are.",
    ],
    cells,
    conclude,
};

/// Percent: less was found on javac, and called small. Where chance alone makes more of a difference between two configurations, one of this size would
/// not have been found.
const SMALL: f64 = 2.0;

/// The first is that of figure 5, whose measurements serve here, too, when time is short.
const POINTS: [(&str, &str); 7] = [
    ("CBS(3,16)", CBS),
    ("CBS(7,32)", "cbs:samples=32,stride=7"),
    ("CBS(1,8)", "cbs:samples=8,stride=1"),
    ("CBS(7,16)", "cbs:samples=16,stride=7"),
    ("CBS(3,32)", "cbs:samples=32,stride=3"),
    ("CBS(15,16)", "cbs:samples=16,stride=15"),
    ("CBS(3,8)", "cbs:samples=8,stride=3"),
];

fn points(plan: &Plan) -> &'static [(&'static str, &'static str)] {
    // Those of figure 5 are an hour older in a full run, and a machine is not the same for an hour.
    plan.pick(&POINTS[..3], &POINTS[1..])
}

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", COMPILER], &["richards", "deltablue", "raytracer", COMPILER])
}

/// How often the calls of a program are sampled with the same parameters: so often that chance makes clearly less than [`SMALL`] of two of them. With six
/// samples that was 2.1 % for richards and deltablue, and 2.9 for raytracer, whose code differs most; it falls with their square root.
fn samples(plan: &Plan, name: &str) -> u32 {
    let usual = inlining::samples(plan);
    plan.pick(
        usual,
        match name {
            COMPILER => usual,
            "raytracer" => 18,
            _ => 10,
        },
    )
}

/// What a program gains with these parameters.
fn with(plan: &Plan, name: &str, profiler: &'static str) -> Vec<Cell> {
    inlining::of_so_many(plan, name, of_new(profiler), samples(plan, name))
}

/// All parameters by turns, so that what changes in the machine meanwhile is no difference between them.
fn cells(plan: &Plan) -> Vec<Cell> {
    let by_turns = |name| {
        let all: Vec<Vec<Cell>> = points(plan).iter().map(|of| with(plan, name, of.1)).collect();
        let samples = all.first().map_or(0, Vec::len);
        (0..samples).flat_map(|sample| all.iter().map(|of| of[sample].clone()).collect::<Vec<_>>()).collect()
    };
    names(plan).into_iter().flat_map::<Vec<Cell>, _>(by_turns).collect()
}

/// By how much the speed-ups of a program differ between parameters.
fn spread(plan: &Plan, results: &Results<'_>, name: &str) -> Option<Spread> {
    let of_point = |of: &(&str, &'static str)| inlining::percents(results, &with(plan, name, of.1));
    Spread::of(&points(plan).iter().map(of_point).collect::<Option<Vec<_>>>()?)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    if names.is_empty() {
        found.checks.shape(
            "between the best and the worst parameters",
            "1 to 2 % on javac",
            "not significant",
            None,
            "not measured".into(),
        );
    }
    for name in &names {
        let of_javac = *name == COMPILER;
        let spread = spread(plan, results, name);
        let is_small = |spread: &Spread| of_javac && spread.between <= SMALL;
        found.checks.shape(
            &format!("between the best and the worst parameters, {name}"),
            if of_javac { "1 to 2 % on javac" } else { "not significant" },
            match of_javac {
                false => "not significant, and what chance makes of two parameters at most 2 %",
                true => "not significant or at most 2 %, and what chance makes of two parameters at most 2 %",
            },
            spread.map(|spread| {
                (is_small(&spread) || !spread.is_significant(names.len())) && spread.chance <= SMALL
            }),
            spread.map_or("not measured".into(), |of| {
                let [between, chance] = [of.between, of.chance].map(|of| shown(of, Unit::Percent));
                format!("{between}, chance makes {chance}; p = {:.3}", of.share)
            }),
        );
    }
    let all = points(plan).iter().map(|(point, profiler)| {
        let (choice, base) = of_new(profiler);
        (*point, inlining::speedups(plan, results, &names, choice, base))
    });
    let groups: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    found.figures.push(bars(
        "speedup",
        "Speed-up over static heuristics",
        "By the new inliner, from calls that were sampled with different parameters.",
        Unit::Percent,
        groups.clone(),
        all.map(|(point, costs): (&str, Costs)| costs.series(point, &groups)).collect(),
    ));
}
