//! Bond and McKinley 2005, section 3.1: what Ball-Larus profiling costs, as Ball and Larus say.

use super::{fig6, sec5_1};
use crate::catalogue::overheads::{Costs, bars, categories, cell, in_a_line, paper_mean};
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec3.1-blpp-cost",
    place: "Section 3.1",
    title: "What Ball-Larus profiling costs",
    says: &[
        "The paper quotes Ball and Larus (MICRO 1996): counting paths costs 31 % on average on SPEC95, 73 % for perl and 97 % for gcc; counting edges costs 16 %. \
         Their machine, programs and compiler are not those that PEP was measured on, where the same counting costs 92 % and 10 % (section 5.1).",
        "Here paths are counted in arrays, as theirs were where a method has few, and in hash tables; edges on as few edges as suffice. PEP's instrumentation \
         without samples is what both ways of counting paths have in common. The cells are those of section 5.1 and of figure 6.",
    ],
    cells: |plan| {
        let names = fig6::programs(plan);
        let exact = sec5_1::ALL.iter().flat_map(|of| names.iter().map(|name| cell(plan, name, of.1)));
        exact.chain(names.iter().map(|name| fig6::instrumentation().cell(plan, name))).collect()
    },
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = fig6::programs(plan);
    let [edges, arrays, hashed] =
        sec5_1::ALL.map(|of| (of.0, Costs::of(results, &names, |name| cell(plan, name, of.1))));
    let only = Costs::of(results, &names, |name| fig6::instrumentation().cell(plan, name));
    let paper = |key: &str| papers::number(&format!("pep.related.{key}"));
    let (paths_cost, edges_cost) = (paper("blpp.avg"), paper("edge_instr"));
    for (what, limit, costs) in [
        ("average cost of counting paths in arrays", paths_cost, &arrays.1),
        ("average cost of counting edges", edges_cost, &edges.1),
    ] {
        found.checks.number(what, &shown(limit, Unit::Percent), Bound::at_most(limit), costs.mean);
    }
    let value = |costs: &Costs| costs.mean.map(|mean| mean.value);
    let paths = value(&hashed.1).zip(value(&arrays.1)).zip(value(&only));
    found.checks.shape(
        "storing costs more than the register, and hash tables more than arrays",
        "a store or a call of a hash function",
        "hash tables above arrays, and these above PEP's instrumentation",
        paths.map(|((hashed, arrays), only)| hashed > arrays && arrays > only),
        in_a_line(
            [(hashed.0, hashed.1.mean), (arrays.0, arrays.1.mean), ("PEP, no samples", only.mean)]
                .into_iter(),
            "-",
        ),
    );
    let dearer = value(&edges.1).zip(value(&arrays.1)).zip(value(&hashed.1));
    found.checks.shape(
        "edges cost less than paths",
        "16 % against 31 %",
        "below both ways to count paths",
        dearer.map(|((edges, arrays), hashed)| edges < arrays.min(hashed)),
        in_a_line([(edges.0, edges.1.mean), (arrays.0, arrays.1.mean)].into_iter(), "-"),
    );
    let groups = categories(&names);
    let mut series: Vec<_> =
        [&hashed, &arrays, &edges].map(|(name, costs)| costs.series(name, &groups)).into();
    series.push(only.series("PEP, no samples", &groups));
    series.push(paper_mean(&groups, "Ball and Larus, paths", paths_cost));
    series.push(paper_mean(&groups, "Ball and Larus, edges", edges_cost));
    let caption = "Time with counting over time without, with 95 % intervals.";
    found.figures.push(bars("overhead", "Cost of counting paths", caption, Unit::Percent, groups, series));
}
