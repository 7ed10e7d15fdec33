//! Bond and McKinley 2005, section 6.4: PEP's edges against edges that were counted directly.

use super::accuracy::{self, CONFIGURATIONS};
use crate::catalogue::overheads::{bars, categories};
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Measured, Unit};
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec6.4-instr-edge-reference",
    place: "Section 6.4",
    title: "Edges that paths do not tell of",
    says: &[
        "Edges that follow from exact paths lack what is on paths that end without a yieldpoint. Against edges that were counted directly, PEP's \
         accuracy is 2 points lower in the paper. Here every loop has a yieldpoint, and both references are of the same run.",
    ],
    cells: accuracy::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let of = |reference: &str| {
        accuracy::measure(plan, results, CONFIGURATIONS[1], &format!("edges.sampled.{reference}.relative"))
    };
    let (paths, edges) = (of("exact_paths"), of("exact_edges"));
    let paper = |key: &str| papers::number(&format!("pep.fig9.{key}.pep_64_17"));
    let lost = paper("edge_relative_overlap") - paper("edge_relative_overlap_vs_instr_edge_profile");
    let drop = paths
        .mean
        .zip(edges.mean)
        .map(|(paths, edges)| Measured { value: (paths.value - edges.value).max(0.0), ..paths });
    found.checks.number(
        "points of relative overlap lost against counted edges",
        &shown(lost, Unit::Percent),
        Bound::at_most(lost),
        drop,
    );
    let groups = categories(&accuracy::programs(plan));
    let mut series = [paths.series(&groups), edges.series(&groups)];
    series[0].name = "against edges of exact paths".into();
    series[1].name = "against counted edges".into();
    let caption = "Relative overlap of PEP(64,17) by two references.";
    found.figures.push(bars("references", "Two references", caption, Unit::Percent, groups, series.into()));
}
