//! Arnold and Grove 2005, abstract and section 2: that samples converge rapidly, of which the paper has no figure.

use crate::catalogue::overheads::{bars, series};
use crate::catalogue::{Experiment, Findings, accuracies, programs};
use crate::cell::{Cell, Outcome};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-convergence",
    place: "Abstract, section 2",
    title: "How fast samples become right",
    says: &[
        "The paper says that its profiles converge rapidly, and has no figure of it.",
        "Here the samples are kept as they are after 1, 2, 4, … of about 500 ticks and each is compared with the exact calls of the whole run. How much of the \
         run does CBS(3,16) need for what one sample for each tick has in the end?",
    ],
    cells: |plan| {
        let names = names(plan);
        PROFILERS.iter().flat_map(|of| names.iter().map(|name| cell(plan, name, of.1))).collect()
    },
    conclude,
};

const PROFILERS: [(&str, &str); 2] =
    [("one sample for each tick", "cbs:schedule=timer"), ("CBS(3,16)", "cbs:samples=16,stride=3")];
const TICKS: u32 = 500;
/// What clients may wait for, in percent.
const LEVELS: [f64; 3] = [50.0, 60.0, 70.0];

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(programs::QUICK, programs::CLASSIC)
}

fn cell(plan: &Plan, program: &str, profiler: &str) -> Cell {
    // A window must be short beside a tick, as it is when ticks are 10 ms apart.
    let every: u32 = plan.pick(20_000, 100_000);
    let iterations = (TICKS * every).div_ceil(accuracies::yieldpoints(program));
    let run = format!(
        "bench {program} --iterations {iterations} --tier o0 --timer virtual:{every}~{} --profile calls --profile {profiler} \
         --profile-snapshots doubling --profile-out @profile.json",
        plan.seed
    );
    let compare = "profile accuracy @profile.json --json";
    Cell::counting(Reduction::Numbers, &[&run, compare], plan.pick(0.8, 3.0))
}

/// Moments and the overlap at each of them, in percent.
type Course = Vec<(f64, f64)>;

/// Moments of a run and the overlap at each, in percent; there is at least one. The last moment is the end.
fn course(outcome: &Outcome) -> Option<Course> {
    let of = |what: &str| outcome.samples.get(&format!("calls_over_time.sampled.{what}"));
    let (ticks, overlap) = (of("ticks")?, of("overlap")?);
    let course: Course = ticks.iter().zip(overlap).map(|(&ticks, share)| (ticks, share * 100.0)).collect();
    (!course.is_empty()).then_some(course)
}

/// Of the run, the part (in percent) after which it never again was below this.
fn reached(course: &[(f64, f64)], least: f64) -> Option<f64> {
    let (end, _) = course.last()?;
    let (first, _) = course.iter().rev().take_while(|of| of.1 >= least).last()?;
    Some(first / end * 100.0)
}

/// The mean over programs: at the moments that all have, and at the end.
fn average(all: &[Course]) -> Option<Course> {
    let common = all.iter().map(|of| of.len() - 1).min()?;
    let at = |place: Option<usize>| {
        let both: Course = all.iter().map(|of| of[place.unwrap_or(of.len() - 1)]).collect();
        let ticks: Vec<f64> = both.iter().map(|of| of.0).collect();
        let overlaps: Vec<f64> = both.iter().map(|of| of.1).collect();
        Some((mean(&ticks)?, mean(&overlaps)?))
    };
    let moments = (0..common).map(|place| at(Some(place)));
    moments.chain([at(None)]).collect()
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    let [timer, cbs] = PROFILERS.map(|(_, profiler)| {
        let courses = names.iter().map(|name| course(results.outcome(&cell(plan, name, profiler))?));
        courses.collect::<Vec<Option<Course>>>()
    });
    let complete = |of: &[Option<Course>]| -> Option<Course> {
        let all: Option<Vec<_>> = of.iter().cloned().collect();
        average(&all?)
    };
    let (mean_timer, mean_cbs) = (complete(&timer), complete(&cbs));
    let last = |of: &[(f64, f64)]| of.last().map(|of| of.1);
    let needed = mean_timer.as_deref().and_then(last).zip(mean_cbs.as_deref());
    // What is never reached takes more than the whole run.
    let needed = needed.map(|(least, cbs)| reached(cbs, least).unwrap_or(101.0));
    found.checks.number(
        "part of the run that CBS(3,16) needs for what the timer has in the end",
        "rapidly",
        Bound::at_most(10.0),
        needed.map(|share| exactly(share, Unit::Percent)),
    );
    let ends = mean_timer.as_deref().and_then(last).zip(mean_cbs.as_deref().and_then(last));
    found.checks.shape(
        "more accurate in the end, too",
        "yes",
        "mean overlap above the timer's",
        ends.map(|(timer, cbs)| cbs > timer),
        ends.map_or("not measured".into(), |(timer, cbs)| format!("CBS {cbs:.1} %, timer {timer:.1} %")),
    );
    for level in LEVELS {
        let share = mean_cbs.as_deref().map(|cbs| reached(cbs, level).unwrap_or(101.0));
        let share = share.map(|share| exactly(share, Unit::Percent));
        found.checks.told(&format!("part of the run until CBS(3,16) stays at {level} %"), "no number", share);
    }
    let lines = PROFILERS.iter().zip([mean_timer, mean_cbs]).filter_map(|((name, _), points)| {
        Some(Line { name: (*name).into(), is_paper: false, points: points? })
    });
    found.figures.push(Figure {
        id: "course".into(),
        title: "Accuracy over time".into(),
        caption: "Overlap with the exact calls of the whole run, a mean over programs.".into(),
        chart: Chart::Lines {
            x: Axis { title: "ticks since the beginning".into(), unit: Unit::Count, log: true },
            y: Axis { title: "overlap".into(), unit: Unit::Percent, log: false },
            lines: lines.collect(),
        },
    });
    let groups: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let bar = series("CBS(3,16)", &groups, |group| {
        let place = groups.iter().position(|of| of == group)?;
        let least = last(timer[place].as_deref()?)?;
        reached(cbs[place].as_deref()?, least).map(|share| exactly(share, Unit::Percent))
    });
    found.figures.push(bars(
        "needed",
        "Part of the run until the timer's last accuracy is reached for good",
        "Of each program by itself; no bar where it is not reached.",
        Unit::Percent,
        groups.clone(),
        vec![bar],
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_again_was_not_reached() {
        let course = [(1.0, 70.0), (2.0, 20.0), (4.0, 60.0), (10.0, 80.0)];
        assert_eq!(reached(&course, 50.0), Some(40.0));
        assert_eq!(reached(&course, 75.0), Some(100.0));
        assert_eq!(reached(&course, 90.0), None);
    }

    #[test]
    fn means_are_of_common_moments_and_ends() {
        let all = [vec![(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)], vec![(1.0, 30.0), (5.0, 50.0)]];
        assert_eq!(average(&all), Some(vec![(1.0, 20.0), (4.0, 40.0)]));
        assert_eq!(average(&[]), None);
    }
}
