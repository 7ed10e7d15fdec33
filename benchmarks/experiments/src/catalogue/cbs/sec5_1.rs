//! Arnold and Grove 2005, section 5.1: the inliner that Jikes RVM had, which made nothing of better profiles, and the one that does.

use super::inlining::{self, CBS, Choice, Losses, NEW, OBJECTS, OLD, OLD_LARGER, TIMER, of};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::loss::{Loss, loss};
use crate::papers;
use crate::plan::{Mode, Plan};
use crate::report::model::{Measured, Unit};
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const OLD_INLINER: Experiment = Experiment {
    id: "cbs-sec5.1-old-inliner",
    place: "Section 5.1",
    title: "The old inliner has no use for a better profile",
    says: &[
        "The inliner that Jikes RVM had asked the profile only which edges are hot (above 1 % of all calls), and the paper found that better profiles did not help \
         it; the new one, whose limit of size grows with the weight of an edge, is helped.",
        "Here both inliners get the calls that one sample for each tick found, and those of CBS(3,16), of a run at the lowest level, where inlining hides \
         no calls. The code of both is measured against each other, paired, in the steady state; and all of it several times, with ticks at other moments, since \
         what is sampled and so what is inlined is chance.",
    ],
    cells: |plan| inlining::cells(plan, &[cbs_over_timer(OLD), cbs_over_timer(NEW)]),
    conclude: old,
};

pub(in crate::catalogue) const NEW_INLINER: Experiment = Experiment {
    id: "cbs-sec5.1-new-inliner",
    place: "Section 5.1",
    title: "What the new inliner is worth",
    says: &[
        "Even by the timer's samples the new inliner of Jikes RVM made SPECjvm98 3 % faster, javac 6 % and jess 5 %.",
        "Here the new inliner is measured against the old one, both by the timer's samples, in the steady state. Where it loses (richards) it is the rule of 40 %: \
         the call in the scheduler's loop has four targets with a quarter each, of which the old inliner inlines all, since each is hot, and the new one none; with \
         `new:guard=20%` both make the same code.",
        "The constants are ours, and each inliner has its own: for the new one callees may be larger, because only the hottest calls get the maximum. What it is worth over the old one \
         with the same constants is told beside it in a full run.",
    ],
    cells: |plan| inlining::cells(plan, &[OLD, OLD_LARGER].map(new_over)[..plan.pick(1, 2)]),
    conclude: new,
};

/// What the paper would have called no difference: it tells of none below one percent. Code that is not the same is never as fast to a tenth of
/// a percent, and here that can be told.
const LITTLE: f64 = 1.0;

/// CBS instead of the timer, for one inliner.
pub fn cbs_over_timer(inliner: &'static str) -> (Choice, Choice) {
    (Choice::by_calls(inliner, CBS), Choice::by_calls(inliner, TIMER))
}

fn new_over(old: &'static str) -> (Choice, Choice) {
    (Choice::by_calls(NEW, TIMER), Choice::by_calls(old, TIMER))
}

fn old(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = inlining::names(plan);
    let [old, new] = [OLD, NEW].map(|inliner| {
        let (cbs, timer) = cbs_over_timer(inliner);
        inlining::speedups(plan, results, &names, cbs, timer)
    });
    // The mean: of single programs, one in twenty is off by chance. Where it may be as far off as this or farther, that it is not is an accident.
    let is_little = |mean: &Measured| {
        let half = mean.interval.map_or(f64::INFINITY, |(low, high)| (high - low) / 2.0);
        mean.value.abs() <= LITTLE && half <= LITTLE
    };
    let said = |mean: &Measured| match mean.interval {
        Some((low, high)) => format!("{} ({low:.2} to {high:.2})", shown(mean.value, mean.unit)),
        None => format!("{}, nobody knows how exactly", shown(mean.value, mean.unit)),
    };
    found.checks.shape(
        "the old inliner by CBS and by the timer",
        "no better",
        "no farther apart than 1 %, known to ±1 %",
        old.mean.as_ref().map(is_little),
        old.mean.as_ref().map_or("not measured".into(), said),
    );
    let both = new.mean.zip(new.again_mean);
    found.checks.shape(
        "the new inliner is not worse by CBS",
        "better on some programs",
        "no loss of the mean with all of its interval beyond what the same machine differs by, and one of 1 % excluded",
        both.map(|(mean, again)| loss(&mean, super::fig4::farthest(again), LITTLE) == Loss::None),
        new.mean.as_ref().map_or("not measured".into(), said),
    );
    let groups = categories(&names);
    let series = vec![
        old.series("old inliner", &groups),
        new.series("new inliner", &groups),
        new.again_series(&groups),
    ];
    found.figures.push(bars(
        "cbs",
        "Speed-up by CBS instead of the timer",
        "The same inliner by the calls of both.",
        Unit::Percent,
        groups,
        series,
    ));
}

fn new(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = inlining::names(plan);
    let over = |old| {
        let (choice, base) = new_over(old);
        inlining::speedups(plan, results, &names, choice, base)
    };
    let costs = over(OLD);
    let alike = (plan.mode == Mode::Full).then(|| over(OLD_LARGER));
    let paper = |key: &str| papers::number(&format!("cbs.claims.new_inliner_{key}_speedup"));
    let average = paper("specjvm98_avg");
    found.checks.number(
        "average speed-up",
        &shown(average, Unit::Percent),
        Bound::at_least(average).resolution(2.0),
        costs.mean,
    );
    for (program, of_paper) in OBJECTS.into_iter().zip(["javac", "jess"]) {
        if names.contains(&program) {
            found.checks.number(
                &format!("speed-up of {program}"),
                &format!("{of_paper}: {} %", paper(of_paper)),
                Bound::at_least(paper("jess")).resolution(3.0),
                of(&costs, program),
            );
        }
    }
    if let Some(alike) = &alike {
        found.checks.told("average speed-up over the old one with the same limits", "not said", alike.mean);
    }
    let slower = Losses::of(&costs);
    found.checks.shape(
        "more programs gain than lose",
        "gains on average",
        "fewer than half are slower with all of their intervals beyond noise, or do not exclude a loss of 3 %",
        slower.as_ref().map(|of| (of.there.len() + of.unclear.len()) * 2 < names.len()),
        slower.map_or("not measured".into(), |slower| slower.text()),
    );
    let groups = categories(&names);
    let mut series = vec![costs.series("new inliner", &groups)];
    series.extend(alike.map(|alike| alike.series("over the old one with the same limits", &groups)));
    series.push(costs.again_series(&groups));
    series.push(paper_mean(&groups, "paper", average));
    found.figures.push(bars(
        "speedup",
        "Speed-up by the new inliner over the old one",
        "Both by the timer's samples.",
        Unit::Percent,
        groups,
        series,
    ));
}
