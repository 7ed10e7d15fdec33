//! Bond and McKinley 2005, section 5.1: what exact counting costs.

use super::fig6;
use crate::catalogue::overheads::{Costs, bars, categories, cell, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec5.1-perfect-cost",
    place: "Section 5.1",
    title: "The cost of exact counting",
    says: &[
        "Counting every path in optimized code costs 92 % on average and 407 % at most, counting every edge 10 % and 34 %. It is what PEP is \
         compared with. Here paths are counted in arrays and in hash tables, and edges on as few edges as suffice.",
    ],
    cells: |plan| {
        let names = fig6::programs(plan);
        let exact = ALL.iter().flat_map(|of| names.iter().map(|name| cell(plan, name, of.1)));
        exact.chain(names.iter().map(|name| fig6::sampling(64, 17).cell(plan, name))).collect()
    },
    conclude,
};

/// What counts exactly: its name, and flags.
pub(super) const ALL: [(&str, &str); 3] = [
    ("edges", "--profile edges"),
    ("paths, arrays", "--profile blpp:storage=array"),
    ("paths, hash tables", "--profile blpp:storage=hash"),
];

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = fig6::programs(plan);
    let all =
        ALL.map(|(name, flags)| (name, Costs::of(results, &names, |program| cell(plan, program, flags))));
    let pep = Costs::of(results, &names, |program| fig6::sampling(64, 17).cell(plan, program));
    let [(_, edges), (_, arrays), (_, hashed)] = &all;
    let paper = |key: &str| papers::number(&format!("pep.perfect_cost.{key}"));
    for (what, key, costs) in [("paths", "path", hashed), ("edges", "edge", edges)] {
        let (average, most) = (paper(&format!("{key}.avg")), paper(&format!("{key}.max")));
        let (percent, worst) = (|value| shown(value, Unit::Percent), costs.worst().map(|of| of.1));
        found.checks.number(
            &format!("average cost of counting {what}"),
            &percent(average),
            Bound::at_most(average),
            costs.mean,
        );
        found.checks.number(
            &format!("largest cost of counting {what}"),
            &percent(most),
            Bound::at_most(most),
            worst,
        );
    }
    let means = [pep.mean, edges.mean, arrays.mean, hashed.mean].map(|mean| mean.map(|of| of.value));
    found.checks.shape(
        "paths cost more than edges, and these more than PEP",
        "92 %, 10 % and 1.2 %",
        "hash tables at least twice edges, and these at least twice PEP",
        match means {
            [Some(pep), Some(edges), Some(_), Some(hashed)] => {
                Some(hashed >= 2.0 * edges && edges > 0.0 && edges >= 2.0 * pep)
            }
            _ => None,
        },
        format!(
            "hash tables, arrays, edges, PEP: {}",
            [means[3], means[2], means[1], means[0]]
                .map(|of| of.map_or("-".into(), |of| shown(of, Unit::Percent)))
                .join(", ")
        ),
    );
    let groups = categories(&names);
    let mut series: Vec<_> = all.iter().map(|(name, costs)| costs.series(name, &groups)).collect();
    series.push(pep.series("PEP(64,17)", &groups));
    series.push(paper_mean(&groups, "paper, paths", paper("path.avg")));
    series.push(paper_mean(&groups, "paper, edges", paper("edge.avg")));
    let caption = "Time with exact counting over time without, with 95 % intervals.";
    found.figures.push(bars("overhead", "Cost of exact counting", caption, Unit::Percent, groups, series));
}
