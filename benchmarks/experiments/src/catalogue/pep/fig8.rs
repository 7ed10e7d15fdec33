//! Bond and McKinley 2005, figure 8: accuracy of PEP's path profiles.

use super::accuracy::{self, CONFIGURATIONS};
use super::hot_paths;
use crate::catalogue::accuracies::{self, Measure, means};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::tables::table;
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{self, Figure, Unit};
use crate::results::{Results, exactly};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-fig8",
    place: "Figure 8",
    title: "Accuracy of path profiles",
    says: &[
        "Which part of the flow of hot paths (more than 0.125 % of all) is on those paths that the estimate has among as many: Wall's weight \
         matching, with each path weighted by its branches. PEP(64,17) reaches 94 % on average, one sample for each tick 53 %.",
        "Here exact counts and samples are of the same run, all of it compiled at once at the highest level, so that both know the same graph of paths. Time is virtual, with a tick after so \
         many yieldpoints that a run has 500 or more, as the paper's median run had, and that windows are short beside what lies between them: the numbers repeat on every machine, and trials would all be the same.",
        "That flatters the timer, for two reasons. These programs have few hot paths, 6 to 90, and 500 samples find most of them; what is missed are paths of a few thousandths each. And a tick \
         after so many yieldpoints falls on each path as often as it is executed, while a clock prefers the paths that take long, or follow something that does. So for some programs the same is done by a clock as well: \
         there the timer falls behind by up to 20 points, the further the more paths are hot (with 120 or 300 ticks, as runs of a few seconds have, to 67 % on deltablue and 73 % on compiler), and PEP(64,17) \
         hardly at all, since what a window samples after its first path follows the execution. The paper's programs are larger than these.",
    ],
    cells: |plan| {
        let clocked = BY_CLOCK.iter().flat_map(|of| accuracy::by_clock(plan, of.1, trials(plan)));
        accuracy::cells(plan).into_iter().chain(clocked).chain(hot_paths::cells(plan)).collect()
    },
    conclude,
};

/// The bars by the clock.
const BY_CLOCK: [(&str, &str); 2] = [CONFIGURATIONS[0], CONFIGURATIONS[1]];

/// So many runs of each.
fn trials(plan: &Plan) -> u32 {
    plan.trials.unwrap_or(plan.pick(1, 10)).max(1)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let all: Vec<Measure> =
        CONFIGURATIONS.map(|of| accuracy::measure(plan, results, of, "paths.branch.accuracy")).into();
    let paper = |key: &str| papers::number(&format!("pep.fig8.path_accuracy.{key}"));
    let [timer, usual, more, most] = [0, 1, 2, 3].map(|at| all[at].mean);
    found.checks.number(
        "average accuracy of PEP(64,17)",
        &shown(paper("pep_64_17"), Unit::Percent),
        Bound::at_least(paper("pep_64_17")).stretch(96.0),
        usual,
    );
    found.checks.told(
        "average accuracy of one sample for each tick",
        &shown(paper("timer_1_1"), Unit::Percent),
        timer,
    );
    let averages = [timer, usual, more, most].map(|mean| mean.map(|of| of.value));
    found.checks.shape(
        "more samples are more accurate",
        "timer much below 64, then slightly better with 256 and 1024",
        "not falling; how far the timer is below is looked at by a clock",
        match averages {
            [Some(timer), Some(usual), Some(more), Some(most)] => {
                Some(timer <= usual && usual <= more + 0.5 && more <= most + 0.5)
            }
            _ => None,
        },
        means(&all),
    );
    let clock = BY_CLOCK.map(|of| accuracy::measure_by_clock(plan, results, of, trials(plan)));
    let [timer, usual] = [0, 1].map(|at| clock[at].mean);
    found.checks.told(
        "average accuracy of one sample for each tick of a clock",
        &shown(paper("timer_1_1"), Unit::Percent),
        timer,
    );
    found.checks.shape(
        "by a clock as well, more samples are more accurate",
        "53 % and 94 %",
        "the timer at least 5 points below PEP(64,17)",
        timer.zip(usual).map(|(timer, usual)| timer.value + 5.0 <= usual.value),
        means(&clock),
    );
    let groups = categories(&accuracy::programs(plan));
    let mut series: Vec<_> = all.iter().map(|of| of.series(&groups)).collect();
    series.push(paper_mean(&groups, "paper, PEP(64,17)", paper("pep_64_17")));
    let caption = "Wall's weight matching by branch flow, against the exact counts of the same run.";
    found.figures.push(bars("accuracy", "Path accuracy", caption, Unit::Percent, groups, series));
    let groups = categories(&accuracy::clocked(plan));
    let series = clock.iter().map(|of| of.series(&groups)).collect();
    let caption = "The same with ticks of a clock.";
    found.figures.push(bars("clock", "Path accuracy, by the clock", caption, Unit::Percent, groups, series));
    found.figures.extend(table_of_hot(plan, results));
    found.figures.extend(hot_paths::figures(plan, results));
}

/// What there was to be found.
fn table_of_hot(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let row = |name: &&str| {
        let cells = [0, 1].map(|at| accuracies::paths(plan, name, CONFIGURATIONS[at].1));
        let number = |at: usize, score: &str| results.number(&cells[at], &format!("paths.branch.{score}"));
        let count = |value: f64| model::Cell::Number(exactly(value, Unit::Count));
        Some(vec![
            model::Cell::Text(name.to_string()),
            count(number(1, "hot")?),
            model::Cell::Number(exactly(100.0 * number(1, "covered")?, Unit::Percent)),
            count(number(0, "found")?),
            count(number(1, "found")?),
        ])
    };
    let rows = accuracy::programs(plan).iter().map(row).collect::<Option<Vec<_>>>()?;
    Some(table(
        "hot",
        "Hot paths",
        "Paths with more than 0.125 % of all flow, their share of the flow, and how many of them each profile has among as many.",
        &["program", "hot paths", "their flow", "found by the timer", "found by PEP(64,17)"],
        rows,
    ))
}
