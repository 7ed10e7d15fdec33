//! Shye et al. 2005, figure 6: accuracy over the period; with the headline, accuracy beside cost.

use super::periods::{self, HEADLINE, PAPER, PERIODS, Period, STRETCH, Traces};
use crate::catalogue::accuracies::{Measure, means};
use crate::catalogue::overheads::{Costs, bars, categories, paper_mean};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::{Cell, UNAVAILABLE};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::{Bound, shown};
use std::cmp::Ordering;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-fig6",
    place: "Figure 6",
    title: "Accuracy of paths from branch traces, and what they cost",
    says: &[
        "The paper reads the last four taken branches from the processor every 50,000 to 500 million cycles, joins them to parts of paths and divides each part equally among the full paths \
         that contain it. Accuracy hardly changes up to 5 million cycles, in the high nineties for some programs and in the eighties for others, and falls beyond. At 10 million it finds 88 % of the flow of the hot paths, weighted by count, at about 1 % overhead.",
        "Here a period is named by the paper's cycles and means as many samples in a run: 10,000 at 10 million cycles. The trace is recorded by the interpreter, so that accuracy repeats on every machine, at distances in taken branches \
         that vary by a quarter, and is compared with exact counts of the same run. Beside it stand traces of compiled code that is left for them (bursts), in runs that repeat, and the processor's own records (lbr) where the host permits these.",
        "Four branches and equal shares, as the paper has them, decide what is reproduced. Sixteen branches, which processors record today, and division by expectation-maximisation decide only whether it is better; with 32 branches, and with weights from pieces that one path alone contains (`unique`), they are shown.",
        "What it costs is measured where compiled code is left for a trace of four branches at each tick of 20 ms, so that a run of 200 s has the 10,000 samples. Programs are the classic ones, and in full runs large ones, without nbody: its loops are single blocks, and of 33 executions of paths with an edge no sample could be right.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let swept = sweep(plan).into_iter().map(|period| (PAPER, period));
        let stretched = stretched(plan).into_iter().map(|period| (STRETCH, period));
        let wanted = swept.chain(stretched).chain(grid(plan).into_iter().map(|of| (of, HEADLINE)));
        let recorded = wanted.flat_map(|(of, period)| names.iter().map(move |name| (name, of, period)));
        let recorded = recorded.map(|(name, of, period)| periods::recorded(plan, name, of, period));
        let bursts = burst_sweep(plan)
            .into_iter()
            .flat_map(|period| names.iter().map(move |name| periods::burst(name, PAPER, period)));
        let large = plan.programs(&[], programs::LARGE);
        let large = large.into_iter().map(|name| periods::recorded(plan, name, PAPER, HEADLINE));
        let native = recordable(plan).into_iter().map(|name| periods::processor(name, PAPER));
        let costs = names.iter().map(|name| burst(plan, name));
        recorded.chain(large).chain(bursts).chain(native).chain(costs).collect()
    },
    conclude,
};

const QUICK: [&str; 6] = ["richards", "json", "deltablue", "list", "storage", "queens"];

pub(super) fn programs(plan: &Plan) -> Vec<&'static str> {
    programs::with_paths(plan.programs(&QUICK, programs::CLASSIC))
}

/// Those with the processor's own records: on few hosts there are any.
fn recordable(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", "json"], programs::CLASSIC)
}

/// Those of the paper's traces at its period: large ones as well, in full runs.
pub(super) fn with_large(plan: &Plan) -> Vec<&'static str> {
    let large = plan.programs(&[], programs::LARGE);
    programs(plan).into_iter().chain(large).collect()
}

/// The seven periods of the figure.
fn sweep(plan: &Plan) -> Vec<Period> {
    let [shortest, _, short, one, five, ten, fifty, longest] = PERIODS;
    plan.pick(vec![short, ten, longest], vec![shortest, short, one, five, ten, fifty, longest])
}

/// Those of them at which the longer traces are recorded, too.
fn stretched(plan: &Plan) -> Vec<Period> {
    plan.pick(vec![HEADLINE], sweep(plan))
}

/// Those of them at which compiled code is left: more often it would hardly run.
fn burst_sweep(plan: &Plan) -> Vec<Period> {
    let [.., five, ten, fifty, longest] = PERIODS;
    plan.pick(vec![ten], vec![five, ten, fifty, longest])
}

/// What stands beside the paper's traces at its period.
fn grid(plan: &Plan) -> Vec<Traces> {
    let of = |depth, weights| Traces { depth, weights };
    let all =
        [4, 16, 32].into_iter().flat_map(|depth| ["equal", "em", "unique"].map(|weights| of(depth, weights)));
    plan.pick(vec![PAPER, of(4, "em"), of(4, "unique"), STRETCH], all.collect())
}

/// What the paper's traces cost at its period.
pub(super) fn burst(plan: &Plan, program: &str) -> Cell {
    periods::cost(plan, program, PAPER, HEADLINE)
}

/// Accuracy by count flow of recorded traces.
fn score(plan: &Plan, results: &Results<'_>, traces: Traces, period: Period) -> Measure {
    Measure::of(traces.name(), &programs(plan), |program| {
        results.number(&periods::recorded(plan, program, traces, period), "traces.count.accuracy")
    })
}

/// Of a program or the mean, over the periods; nothing if one is missing.
fn line(name: String, all: &[Period], of: impl Fn(Period) -> Option<f64>) -> Option<Line> {
    let points: Option<Vec<(f64, f64)>> = all.iter().map(|&at| Some((at.megacycles, of(at)?))).collect();
    points.filter(|points| !points.is_empty()).map(|points| Line { name, is_paper: false, points })
}

/// Up to 5 million cycles accuracy differs by no more than this.
const FLAT: f64 = 5.0;

/// Is the line flat up to five million cycles, and does it fall from there to the longest period, below all of the flat part, with no step up of more
/// than a point.
fn is_flat_and_falls(points: &[(f64, f64)]) -> bool {
    let (flat, falling) = points.split_at(points.partition_point(|of| of.0 <= 5.0));
    let least = flat.iter().map(|of| of.1).fold(f64::INFINITY, f64::min);
    let most = flat.iter().map(|of| of.1).fold(f64::NEG_INFINITY, f64::max);
    let Some(knee) = flat.last() else { return false };
    let steps = std::iter::once(knee).chain(falling).map(|of| of.1).collect::<Vec<f64>>();
    most - least <= FLAT
        && steps.windows(2).all(|of| of[1] <= of[0] + 1.0)
        && steps.last().is_some_and(|last| *last < least)
}

/// In how many programs the last period is less accurate than the longest of up to five million cycles, and in how many it differs from that: where all
/// samples show one loop, the longest period finds as much as the shortest.
fn fallen(plan: &Plan, results: &Results<'_>) -> Option<(usize, usize)> {
    let all = sweep(plan);
    let (knee, last) = (*all.iter().rfind(|of| of.megacycles <= 5.0)?, *all.last()?);
    let of =
        |name: &str, at| results.number(&periods::recorded(plan, name, PAPER, at), "traces.count.accuracy");
    let each: Option<Vec<Ordering>> =
        programs(plan).into_iter().map(|name| Some(of(name, last)?.total_cmp(&of(name, knee)?))).collect();
    let count = |each: &[Ordering], of| each.iter().filter(|&&change| change == of).count();
    each.map(|each| (count(&each, Ordering::Less), each.len() - count(&each, Ordering::Equal)))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let costs = Costs::of(results, &names, |name| burst(plan, name));
    let paper = |key: &str| papers::number(&format!("pmu.claims.{key}"));
    let (accuracy, overhead) = (paper("headline_accuracy"), paper("headline_overhead"));
    let own = Measure::of(PAPER.name(), &with_large(plan), |name| {
        results.number(&periods::recorded(plan, name, PAPER, HEADLINE), "traces.count.accuracy")
    });
    let stretch = score(plan, results, STRETCH, HEADLINE);
    found.checks.number_or_better(
        "average accuracy with 4 branches and equal shares at 10 million cycles, by count flow",
        &shown(accuracy, Unit::Percent),
        Bound::at_least(accuracy).stretch(93.0),
        own.mean,
        (&STRETCH.name(), stretch.mean),
    );
    found.checks.cost(
        "average overhead of a trace of 4 branches at each tick",
        &shown(overhead, Unit::Percent),
        Bound::at_most(overhead).resolution(1.0),
        costs.mean,
        costs.band(),
    );
    let means_of = |traces: Traces, all: &[Period]| {
        line(traces.name(), all, |at| Some(score(plan, results, traces, at).mean?.value))
    };
    let fallen = fallen(plan, results);
    let (swept, stretched) = (means_of(PAPER, &sweep(plan)), means_of(STRETCH, &stretched(plan)));
    found.checks.shape(
        "accuracy is flat, and then falls",
        "flat to about 5 million cycles",
        "means of up to 5 million cycles are within 5 points; beyond, none is above the one before by more than a point, and the last is lower than all of these, and than the last of them in most programs in which it differs from that",
        swept.as_ref().zip(fallen).map(|(line, (fallen, differing))| is_flat_and_falls(&line.points) && 2 * fallen > differing),
        swept.as_ref().map_or("not measured".into(), |line| {
            let text = |of: &(f64, f64)| format!("{} M: {}", of.0, shown(of.1, Unit::Percent));
            let fallen = fallen.map_or(String::new(), |(fallen, differing)| format!("; lower in {fallen} of {differing} programs in which it differs"));
            line.points.iter().map(text).collect::<Vec<_>>().join(", ") + &fallen
        }),
    );
    let scores: Vec<Measure> = grid(plan).into_iter().map(|of| score(plan, results, of, HEADLINE)).collect();
    for (traces, score) in grid(plan).into_iter().zip(&scores).filter(|of| of.0 != PAPER) {
        let what = format!("average accuracy with {}", traces.name());
        found.checks.told(&what, &shown(accuracy, Unit::Percent), score.mean);
    }
    let bursts = Measure::of("bursts", &names, |name| {
        results.number(&periods::burst(name, PAPER, HEADLINE), "traces.count.accuracy")
    });
    found.checks.told(
        "the same of compiled code that is left for a trace (bursts)",
        &shown(accuracy, Unit::Percent),
        bursts.mean,
    );
    let native = recordable(plan);
    let native = native.iter().map(|name| {
        let cell = periods::processor(name, PAPER);
        let outcome = results.outcome(&cell)?;
        let is_there = !outcome.numbers.contains_key(UNAVAILABLE);
        Some(is_there.then(|| outcome.numbers.get("traces.count.accuracy").copied()).flatten())
    });
    let native = native.collect::<Option<Vec<Option<f64>>>>();
    found.checks.told(
        "programs with the processor's own records (lbr); 0 where the host does not permit them, and this is unavailable",
        "all",
        native.as_ref().map(|all| exactly(all.iter().flatten().count() as f64, Unit::Count)),
    );
    let mut lines: Vec<Line> = names
        .iter()
        .filter_map(|name| {
            line(name.to_string(), &sweep(plan), |at| {
                results
                    .number(&periods::recorded(plan, name, PAPER, at), "traces.count.accuracy")
                    .map(|of| 100.0 * of)
            })
        })
        .collect();
    lines.sort_by(|one, other| one.name.cmp(&other.name));
    let by_bursts = line("mean, bursts".into(), &burst_sweep(plan), |at| {
        let score = Measure::of("bursts", &names, |name| {
            results.number(&periods::burst(name, PAPER, at), "traces.count.accuracy")
        });
        Some(score.mean?.value)
    });
    let named = |line: Option<Line>| line.map(|line| Line { name: format!("mean, {}", line.name), ..line });
    let paper_line =
        Line { name: "paper, mean".into(), is_paper: true, points: vec![(HEADLINE.megacycles, accuracy)] };
    let means_of_all: Vec<Line> = [named(swept), named(stretched), by_bursts].into_iter().flatten().collect();
    for (id, title, caption, lines) in [
        (
            "periods",
            "Path accuracy over the period",
            "Wall's weight matching by count flow, means over programs.",
            means_of_all,
        ),
        (
            "programs",
            "Path accuracy over the period, by program",
            "The paper's traces: four branches, equal shares.",
            lines,
        ),
    ] {
        if lines.is_empty() {
            continue;
        }
        found.figures.push(Figure {
            id: id.into(),
            title: title.into(),
            caption: caption.into(),
            chart: Chart::Lines {
                x: Axis {
                    title: "period in millions of the paper's cycles".into(),
                    unit: Unit::Count,
                    log: true,
                },
                y: Axis { title: "accuracy".into(), unit: Unit::Percent, log: false },
                lines: lines.into_iter().chain([paper_line.clone()]).collect(),
            },
        });
    }
    let groups = categories(&with_large(plan));
    found.figures.push(bars(
        "headline",
        "Path accuracy at 10 million cycles",
        "Four branches, equal shares: the classic programs, and in full runs large ones.",
        Unit::Percent,
        groups.clone(),
        vec![own.series(&groups), paper_mean(&groups, "paper", accuracy)],
    ));
    let groups = categories(&names);
    let mut all: Vec<_> = scores.iter().map(|of| of.series(&groups)).collect();
    all.push(bursts.series(&groups));
    all.push(paper_mean(&groups, "paper", accuracy));
    let caption = format!(
        "Wall's weight matching by count flow at 10 million cycles, against exact counts. {}.",
        means(&scores)
    );
    found.figures.push(bars("accuracy", "Path accuracy", &caption, Unit::Percent, groups.clone(), all));
    if let Some(native) = native.filter(|all| all.iter().any(Option::is_some)) {
        let row = |(name, of): (&&str, &Option<f64>)| {
            vec![text(name), entry(of.map(|of| 100.0 * of), Unit::Percent)]
        };
        found.figures.push(table(
            "lbr",
            "Records of the processor",
            "Accuracy of the processor's last four taken branches.",
            &["program", "accuracy"],
            recordable(plan).iter().zip(&native).map(row).collect(),
        ));
    }
    let both = vec![costs.series("a trace at each tick", &groups), paper_mean(&groups, "paper", overhead)];
    let caption = "Time with traces of four branches over time without; compiled code is the same.";
    found.figures.push(bars("overhead", "Overhead", caption, Unit::Percent, groups, both));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_lines_that_fall_are_told_from_others() {
        let points =
            |ys: [f64; 7]| [0.05, 0.5, 1.0, 5.0, 10.0, 50.0, 500.0].into_iter().zip(ys).collect::<Vec<_>>();
        assert!(is_flat_and_falls(&points([96.0, 95.0, 95.5, 94.0, 92.0, 85.0, 60.0])));
        assert!(!is_flat_and_falls(&points([96.0, 95.0, 95.5, 94.0, 94.0, 94.0, 94.0])), "it does not fall");
        assert!(!is_flat_and_falls(&points([96.0, 80.0, 95.5, 94.0, 92.0, 85.0, 60.0])), "it is not flat");
        assert!(!is_flat_and_falls(&points([96.0, 95.0, 95.5, 94.0, 60.0, 85.0, 60.0])), "it rises again");
        assert!(!is_flat_and_falls(&[]));
    }
}
