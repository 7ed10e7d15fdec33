//! Bond and McKinley 2005, figure 8: accuracy of PEP's path profiles.

use super::accuracy::{self, CONFIGURATIONS};
use crate::catalogue::accuracies::{Measure, means};
use crate::catalogue::overheads::{bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-fig8",
    place: "Figure 8",
    title: "Accuracy of path profiles",
    says: &[
        "Which part of the flow of hot paths (more than 0.125 % of all) is on those paths that the estimate has among as many: Wall's weight \
         matching, with each path weighted by its branches. PEP(64,17) reaches 94 % on average, one sample for each tick 53 %.",
        "Here exact counts and samples are of the same run, all of it compiled at once at the highest level. Time is virtual, with a tick after so \
         many yieldpoints that a run has some 500, as the paper's median run had, and that windows are short beside what lies between them: the numbers repeat on every machine.",
    ],
    cells: accuracy::cells,
    conclude,
};

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
        "not falling, and the timer at least 5 points below",
        match averages {
            [Some(timer), Some(usual), Some(more), Some(most)] => {
                Some(timer + 5.0 <= usual && usual <= more + 0.5 && more <= most + 0.5)
            }
            _ => None,
        },
        means(&all),
    );
    let groups = categories(&accuracy::programs(plan));
    let mut series: Vec<_> = all.iter().map(|of| of.series(&groups)).collect();
    series.push(paper_mean(&groups, "paper, PEP(64,17)", paper("pep_64_17")));
    let caption = "Wall's weight matching by branch flow, against the exact counts of the same run.";
    found.figures.push(bars("accuracy", "Path accuracy", caption, Unit::Percent, groups, series));
}
