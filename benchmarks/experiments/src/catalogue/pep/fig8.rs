//! Bond and McKinley 2005, figure 8: accuracy of PEP's path profiles.

use super::accuracy::{self, CONFIGURATIONS};
use super::hot_paths;
use crate::catalogue::accuracies::{self, Measure, means};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::tables::table;
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
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
        "Here exact counts and samples are of the same run, all of it compiled at once at the highest level, so that both know the same graph of paths; that a run which counts exactly and one which only samples have the same graphs and numbers (P-DAG) is looked at by a digest of all of them, under replay of the same compilations. Time is virtual, with a tick after so \
         many yieldpoints that a run has 500 or more, as the paper's median run had, and that windows are short beside what lies between them: the numbers repeat on every machine, and trials would all be the same. Distances of ticks are drawn, between half of that and one and a half: \
         at equal ones, counted from the beginning of each iteration, ten iterations of deltablue had their ticks at the same 55 places, and its accuracy was 90 or 99 % as one yieldpoint more or less decided.",
        "That flatters the timer, for two reasons. These programs have few hot paths, 6 to 90, and 500 samples find most of them; what is missed are paths of a few thousandths each. And a tick \
         after so many yieldpoints falls on each path as often as it is executed, while a clock prefers the paths that take long, or follow something that does. So for some programs the same is done by a clock as well: \
         there the timer falls behind by up to 20 points, the further the more paths are hot (with 120 or 300 ticks, as runs of a few seconds have, to 67 % on deltablue and 73 % on compiler), and PEP(64,17) \
         hardly at all, since what a window samples after its first path follows the execution. The paper's programs are larger than these.",
    ],
    cells: |plan| {
        let clocked = BY_CLOCK
            .iter()
            .flat_map(|of| accuracy::by_clock(plan, &accuracy::clocked(plan), of.1, trials(plan)));
        let numbered = identical(plan).into_iter().flat_map(numbered);
        accuracy::cells(plan)
            .into_iter()
            .chain(clocked)
            .chain(hot_paths::cells(plan))
            .chain(numbered)
            .collect()
    },
    conclude,
};

/// The bars by the clock.
const BY_CLOCK: [(&str, &str); 2] = [CONFIGURATIONS[0], CONFIGURATIONS[1]];

/// So many runs of each.
fn trials(plan: &Plan) -> u32 {
    plan.trials.unwrap_or(plan.pick(1, 10)).max(1)
}

/// Programs whose numberings are compared.
fn identical(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", "json", "deltablue"], &accuracies::names())
}

/// The numbers of paths of the same compilations, of a run that counts exactly and of one that samples.
fn numbered(program: &str) -> [Cell; 2] {
    // By virtual ticks, so that both cells learn the same.
    let learn = format!(
        "bench {program} --iterations 1 --sync-compile --timer virtual:50000 --advice-out @advice.json"
    );
    ["--profile edges --profile blpp".to_string(), format!("--profile {}", accuracy::USUAL)].map(|profile| {
        let replay = format!(
            "bench {program} --size quick --iterations 1 --replay @advice.json {profile} --stats=json"
        );
        Cell::counting(Reduction::Statistics, &[&learn, &replay], 0.6)
    })
}

/// For how many programs both have the same graphs and numbers, and of how many.
fn same(plan: &Plan, results: &Results<'_>) -> Option<(usize, usize)> {
    let names = identical(plan);
    let digest = |cell: &Cell| {
        Some(["high", "low"].map(|half| results.number(cell, &format!("path_digest.{half}"))))
            .filter(|of| of.iter().all(Option::is_some) && *of != [Some(0.0), Some(0.0)])
    };
    let each: Option<Vec<bool>> = names
        .iter()
        .map(|name| {
            let [exact, sampled] = numbered(name);
            Some(digest(&exact)? == digest(&sampled)?)
        })
        .collect();
    each.map(|each| (each.iter().filter(|&&same| same).count(), each.len())).filter(|of| of.1 > 0)
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
    let clocked = accuracy::clocked(plan);
    let clock = BY_CLOCK.map(|of| accuracy::measure_by_clock(plan, results, &clocked, of, trials(plan)));
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
    let same = same(plan, results);
    found.checks.shape(
        "a run that counts and one that samples number paths alike",
        "the same P-DAG",
        "the same digest of all graphs and numbers, in each program",
        same.map(|(same, all)| same == all),
        same.map_or("not measured".into(), |(same, all)| format!("{same} of {all} programs")),
    );
    let groups = categories(&accuracy::programs(plan));
    let mut series: Vec<_> = all.iter().map(|of| of.series(&groups)).collect();
    series.push(paper_mean(&groups, "paper, PEP(64,17)", paper("pep_64_17")));
    let caption = "Wall's weight matching by branch flow, against the exact counts of the same run.";
    found.figures.push(bars("accuracy", "Path accuracy", caption, Unit::Percent, groups, series));
    let groups = categories(&clocked);
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
            count(results.number(&cells[1], "sampled.ticks")?),
            count(results.number(&cells[1], "sampled.taken")?),
        ])
    };
    let rows = accuracy::programs(plan).iter().map(row).collect::<Option<Vec<_>>>()?;
    Some(table(
        "hot",
        "Hot paths",
        "Paths with more than 0.125 % of all flow, their share of the flow, and how many of them each profile has among as many.",
        &[
            "program",
            "hot paths",
            "their flow",
            "found by the timer",
            "found by PEP(64,17)",
            "its ticks",
            "its samples",
        ],
        rows,
    ))
}
