//! Bond and McKinley 2005, figure 9: accuracy of PEP's edge profiles, relative.

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
    id: "pep-fig9",
    place: "Figure 9",
    title: "Accuracy of edge profiles: relative overlap",
    says: &[
        "For each branch, how far its bias by the estimate is from the true one; the mean over all executions of branches. PEP(64,17) reaches \
         96 % against edges that follow from exact paths.",
        "Here as well, in the runs of figure 8. What a branch does that was never sampled, the paper does not say. Here it is taken to go each way alike, and that decides; beside it stands what comes of it if the one-time profile of the interpreter is asked instead.",
    ],
    cells: accuracy::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let all: Vec<Measure> = CONFIGURATIONS
        .map(|of| accuracy::measure(plan, results, of, "edges.sampled.exact_paths.relative"))
        .into();
    let paper = papers::number("pep.fig9.edge_relative_overlap.pep_64_17");
    found.checks.number(
        "average relative overlap of PEP(64,17)",
        &shown(paper, Unit::Percent),
        Bound::at_least(paper).stretch(98.0),
        all[1].mean,
    );
    let averages = all.iter().map(|of| of.mean.map(|mean| mean.value)).collect::<Option<Vec<f64>>>();
    found.checks.shape(
        "more samples are more accurate",
        "the bars of the figure",
        "the timer below PEP(64,17); 256 and 1024 samples not below by more than half a point",
        averages.map(|of| of[0] < of[1] && of[1] <= of[2] + 0.5 && of[2] <= of[3] + 0.5),
        means(&all),
    );
    let asked = accuracy::measure(
        plan,
        results,
        ("PEP(64,17), never sampled: as one-time", CONFIGURATIONS[1].1),
        "edges.sampled.exact_paths.with_fallback",
    );
    found.checks.told(
        "the same where branches that were never sampled are those of the one-time profile",
        "not said",
        asked.mean,
    );
    let seen = accuracy::measure(
        plan,
        results,
        ("share of executions of branches that were sampled", CONFIGURATIONS[1].1),
        "edges.sampled.exact_paths.coverage",
    );
    found.checks.told("executions of branches that were sampled", "not said", seen.mean);
    let groups = categories(&accuracy::programs(plan));
    let mut series: Vec<_> = all.iter().map(|of| of.series(&groups)).collect();
    series.push(asked.series(&groups));
    series.push(paper_mean(&groups, "paper, PEP(64,17)", paper));
    let caption = "Overlap of the biases of branches, weighted by how often they are executed.";
    found.figures.push(bars("overlap", "Relative overlap of edges", caption, Unit::Percent, groups, series));
}
