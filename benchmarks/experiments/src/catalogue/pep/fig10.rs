//! Bond and McKinley 2005, figure 10: what continuous edge profiles are worth, and flipped ones.

use super::{fig6, sec6_5};
use crate::catalogue::overheads::{Costs, bars, categories, in_a_line, paper_mean, seconds};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-fig10",
    place: "Figure 10",
    title: "Value of continuous profiles, and of wrong ones",
    says: &[
        "The paper compiles by three edge profiles and compares the second iterations under replay: by exact counts of the whole run programs are 0.9 % faster on average than by \
         the one-time profile; by flipped counts, each branch's ways exchanged, significantly slower (no number).",
        "Here the exact counts of a first run are given to a second one: for the order of blocks, with what is cold apart; and in a full run also, by itself, for inlining (the policy `new`, by exact \
         calls). Everything else is decided by the one-time profile on both sides: which loops are peeled, and that nothing is moved out of \
         what never ran; code that counts on what never runs would be left all the time if that profile were flipped. Registers are allocated by depth of loops, not by counts. \
         So this is the part of the figure that is about layout.",
        "Both sides replay the same compilations in one process and take turns, as for figure 6. Which of two layouts is faster varies with where the code lies by more than the paper's gain: the interval \
         says it. One layout for all of a run cannot follow phases; what making code again is worth is the subject of figure 11.",
    ],
    cells: |plan| {
        let steady = steady(plan).into_iter().flat_map(|name| [(name, Side::Gain), (name, Side::Flipped)]);
        let phased = phased(plan).into_iter().map(|name| (name, Side::Gain));
        let layouts = steady.chain(phased).map(|(name, of)| layout(plan, name, of));
        layouts.chain(inliners(plan).into_iter().map(|(name, of)| inlining(plan, name, of))).collect()
    },
    conclude,
};

fn steady(plan: &Plan) -> Vec<&'static str> {
    match (&plan.programs, plan.mode) {
        (None, crate::plan::Mode::Quick) => vec!["richards", "json", "queens"],
        _ => fig6::programs(plan),
    }
}

fn phased(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["guests", "tokenizer"], sec6_5::CHANGING)
}

/// Programs that make calls, and what is given for them.
fn inliners(plan: &Plan) -> Vec<(&'static str, Side)> {
    let names =
        plan.programs(&[], &["richards", "deltablue", "json", "cd", "havlak", "raytracer", "compiler"]);
    names.into_iter().flat_map(|name| [(name, Side::Gain), (name, Side::Flipped)]).collect()
}

/// What is set against the one-time profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// How much slower code by the one-time profile is than by exact counts.
    Gain,
    /// How much slower code by flipped counts is than by the one-time profile.
    Flipped,
}

impl Side {
    /// The profiles of what is measured and of its base.
    fn sides(self) -> [&'static str; 2] {
        match self {
            Side::Gain => ["one-time", "exact=@exact.json"],
            Side::Flipped => ["flipped=@exact.json", "one-time"],
        }
    }
}

fn layout(plan: &Plan, program: &str, of: Side) -> Cell {
    let [profile, base] = of.sides();
    compared(plan, program, "edges", &format!("--layout {profile} --vs-layout {base}"))
}

fn inlining(plan: &Plan, program: &str, of: Side) -> Cell {
    let [profile, base] = of.sides();
    let both = format!("--inline new --inline-profile {profile} --vs-inline new --vs-inline-profile {base}");
    compared(plan, program, "calls", &both)
}

fn compared(plan: &Plan, program: &str, profiler: &str, flags: &str) -> Cell {
    let seconds = seconds(plan, 2);
    // Short phases do for the exact counts of the whole run, and the one-time profile knows the first of them all the same.
    let size = if sec6_5::CHANGING.contains(&program) { "200" } else { "default" };
    let order = if plan.seed == 0 { String::new() } else { format!(" --order {}", plan.seed) };
    let count = format!(
        "bench {program} --size {size} --iterations 3 --tier o2 --timer virtual:50000 \
         --profile {profiler} --profile-out @exact.json"
    );
    let compare = format!(
        "overhead {program} {flags} --size {size} --no-counts --max-time {seconds}s{order} --json {RESULT}"
    );
    Cell::timed(Reduction::Overhead, &[&count, &compare], f64::from(seconds) + plan.pick(1.2, 8.0))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let (steady, phased) = (steady(plan), phased(plan));
    let costs = |names: &[&str], of: Side| Costs::of(results, names, |name| layout(plan, name, of));
    let (gain, flipped) = (costs(&steady, Side::Gain), costs(&steady, Side::Flipped));
    let phased_gain = costs(&phased, Side::Gain);
    let paper = papers::number("pep.fig10.perfect_continuous_vs_onetime_gain");
    let percent = |value: f64| shown(value, Unit::Percent);
    found.checks.number(
        "average gain of exact continuous counts over the one-time profile, steady programs",
        &percent(paper),
        Bound::at_least(paper).resolution(1.0),
        gain.mean,
    );
    found.checks.number(
        "average loss by flipped counts, steady programs",
        "significant degradation",
        Bound::at_least(3.0),
        flipped.mean,
    );
    let band = gain.band().unwrap_or_default().max(flipped.band().unwrap_or_default());
    found.checks.shape(
        "continuous, one-time, flipped",
        "in this order",
        "in this order, the first two but for noise",
        gain.mean.zip(flipped.mean).map(|(gain, flipped)| gain.value + band >= 0.0 && flipped.value > band),
        in_a_line([("gain", gain.mean), ("flipped", flipped.mean)].into_iter(), "not measured"),
    );
    found.checks.told(
        "average gain of exact counts, programs whose branches change",
        "not measured",
        phased_gain.mean,
    );
    found.checks.told("the same machine twice", "not measured", gain.again_mean);
    let groups = categories(&steady);
    found.figures.push(bars(
        "layout",
        "Order of blocks by exact and by flipped counts",
        "How much slower code laid out by the one-time profile is than by exact counts of the whole run, and code laid out by flipped counts than by the one-time profile; with 95 % intervals.",
        Unit::Percent,
        groups.clone(),
        vec![
            gain.series("gain of exact counts", &groups),
            flipped.series("loss by flipped counts", &groups),
            paper_mean(&groups, "paper, gain of exact counts", paper),
            gain.again_series(&groups),
        ],
    ));
    let groups = categories(&phased);
    found.figures.push(bars(
        "phases",
        "Order of blocks by exact counts, where branches change",
        "One order for all phases, by the counts of them together, against one by the first phase.",
        Unit::Percent,
        groups.clone(),
        vec![phased_gain.series("gain of exact counts", &groups), phased_gain.again_series(&groups)],
    ));
    let inlined: Vec<&str> = inliners(plan).iter().filter(|of| of.1 == Side::Gain).map(|of| of.0).collect();
    if inlined.is_empty() {
        return;
    }
    let inlined_costs = |of: Side| Costs::of(results, &inlined, |name| inlining(plan, name, of));
    let groups = categories(&inlined);
    let both = [("gain of exact calls", Side::Gain), ("loss by flipped calls", Side::Flipped)];
    found.figures.push(bars(
        "inlining",
        "Inlining by exact and by flipped calls",
        "The same for the calls that are inlined by the policy `new`.",
        Unit::Percent,
        groups.clone(),
        both.map(|(name, of)| inlined_costs(of).series(name, &groups)).into(),
    ));
}
