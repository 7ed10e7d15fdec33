//! Bond and McKinley 2005, figure 10: what continuous edge profiles are worth, and flipped ones.

use super::{fig6, sec6_5};
use crate::catalogue::overheads::{Costs, bars, categories, in_a_line, order, paper_mean, seconds};
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
        "Here the exact counts of a first run, of edges and of calls, are given to a second one for all that looks at counts: for the order of blocks, with what is cold apart, and for \
         inlining (the policy `new`). A full run also has each of the two by itself. Everything else is decided by the one-time profile on both sides: which loops are peeled, and that nothing is moved out of \
         what never ran; code that counts on what never runs would be left all the time if that profile were flipped. Registers are allocated by depth of loops, not by counts.",
        "Both sides replay the same compilations in one process and take turns, as for figure 6. Which of two layouts is faster varies with where the code lies by more than the paper's gain: the interval \
         says it. One layout for all of a run cannot follow phases; what making code again is worth is the subject of figure 11.",
    ],
    cells: |plan| {
        let both = |names: Vec<&'static str>| {
            names.into_iter().flat_map(|name| [(name, Side::Gain), (name, Side::Flipped)])
        };
        let phased = phased(plan).into_iter().map(|name| (name, Side::Gain));
        let driven = both(steady(plan)).chain(phased).map(|(name, of)| cell(plan, name, Driven::Both, of));
        let layouts = both(ordered(plan)).map(|(name, of)| cell(plan, name, Driven::Layout, of));
        let inlined = both(inlined(plan)).map(|(name, of)| cell(plan, name, Driven::Inlining, of));
        driven.chain(layouts).chain(inlined).collect()
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

/// Where the order of blocks alone is measured.
fn ordered(plan: &Plan) -> Vec<&'static str> {
    plan.pick(Vec::new(), steady(plan))
}

/// Where inlining alone is: programs that make calls.
fn inlined(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&[], &["richards", "deltablue", "json", "cd", "havlak", "raytracer", "compiler"])
}

/// What a profile decides about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Driven {
    /// The order of blocks, by edges, and inlining, by calls.
    Both,
    /// The order of blocks.
    Layout,
    /// Inlining.
    Inlining,
}

impl Driven {
    /// What has to be counted for it.
    fn profilers(self) -> &'static str {
        match self {
            Driven::Both => "--profile edges --profile calls",
            Driven::Layout => "--profile edges",
            Driven::Inlining => "--profile calls",
        }
    }

    /// The flags of what is measured, or those of its base.
    fn flags(self, versus: &str, profile: &str) -> String {
        let layout = format!("--{versus}layout {profile}");
        let inlining = format!("--{versus}inline new --{versus}inline-profile {profile}");
        match self {
            Driven::Both => format!("{layout} {inlining}"),
            Driven::Layout => layout,
            Driven::Inlining => inlining,
        }
    }
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

fn cell(plan: &Plan, program: &str, driven: Driven, of: Side) -> Cell {
    let [profile, base] = of.sides();
    let flags = format!("{} {}", driven.flags("", profile), driven.flags("vs-", base));
    let profilers = driven.profilers();
    let seconds = seconds(plan, 2);
    // Short phases do for the exact counts of the whole run, and the one-time profile knows the first of them all the same.
    let size = if sec6_5::CHANGING.contains(&program) { "200" } else { "default" };
    let order = order(plan);
    let count = format!(
        "bench {program} --size {size} --iterations 3 --tier o2 --timer virtual:50000 \
         {profilers} --profile-out @exact.json"
    );
    let compare = format!(
        "overhead {program} {flags} --size {size} --no-counts --max-time {seconds}s{order} --json {RESULT}"
    );
    Cell::timed(Reduction::Overhead, &[&count, &compare], f64::from(seconds) + plan.pick(1.2, 8.0))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let (steady, phased) = (steady(plan), phased(plan));
    let costs = |names: &[&str], driven: Driven, of: Side| {
        Costs::of(results, names, |name| cell(plan, name, driven, of))
    };
    let both =
        |names: &[&str], driven: Driven| [Side::Gain, Side::Flipped].map(|of| costs(names, driven, of));
    let [gain, flipped] = both(&steady, Driven::Both);
    let phased_gain = costs(&phased, Driven::Both, Side::Gain);
    let paper = papers::number("pep.fig10.perfect_continuous_vs_onetime_gain");
    let percent = |value: f64| shown(value, Unit::Percent);
    // Beyond the paper is what it has no programs for: those with phases.
    found.checks.number_or_better(
        "average gain of exact continuous counts over the one-time profile, steady programs",
        &percent(paper),
        Bound::at_least(paper).stretch(5.0).resolution(1.0),
        gain.mean,
        ("programs whose branches change", phased_gain.mean),
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
        "driven",
        "Optimized by exact and by flipped counts",
        "How much slower code by the one-time profile is than by exact counts of the whole run, and code by flipped counts than by the one-time profile: order of blocks and inlining; with 95 % intervals.",
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
        "Optimized by exact counts, where branches change",
        "One piece of code for all phases, by the counts of them together, against one by the first phase.",
        Unit::Percent,
        groups.clone(),
        vec![phased_gain.series("gain of exact counts", &groups), phased_gain.again_series(&groups)],
    ));
    let parts = [
        ("layout", "Order of blocks alone", ordered(plan), Driven::Layout),
        ("inlining", "Inlining alone", inlined(plan), Driven::Inlining),
    ];
    for (id, title, names, driven) in parts.into_iter().filter(|part| !part.2.is_empty()) {
        let [gain, flipped] = both(&names, driven);
        found.checks.told(
            &format!("average gain of exact counts: {}", title.to_lowercase()),
            "not measured",
            gain.mean,
        );
        let groups = categories(&names);
        let series = vec![
            gain.series("gain of exact counts", &groups),
            flipped.series("loss by flipped counts", &groups),
            gain.again_series(&groups),
        ];
        found.figures.push(bars(
            id,
            title,
            "The same, where only this follows the counts.",
            Unit::Percent,
            groups,
            series,
        ));
    }
}
