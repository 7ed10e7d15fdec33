//! Bond and McKinley 2005, section 2: PEP beside other profilers.

use super::{fig6, sec5_1};
use crate::catalogue::accuracies::{self, paths};
use crate::catalogue::osp::{tab2, tab5};
use crate::catalogue::overheads::{Costs, cell as cost, in_a_line};
use crate::catalogue::pmu;
use crate::catalogue::tables::{table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Cell as TableCell, Figure, Measured, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-sec2-comparisons",
    place: "Section 2",
    title: "PEP beside other profilers",
    says: &[
        "The paper compares numbers that others report with its own: practical path profiling (PPP) costs 5 % and is 95 % accurate; DCPI, which samples blocks, 1 to 3 %; \
         Arnold and Ryder's duplicated code 4.9 %, or 1.4 % with its yieldpoints moved; hardware for edges 0.4 to 4.6 %, for paths 0.5 % with more than 90 % accuracy; branch traces (Shye et al.) 1 % with 88 %. \
         Programs, machines and measures of accuracy differ: 94 % of PEP weigh a path by its branches, 88 % of Shye et al. by its count.",
        "Here all that was built is on one machine and the same programs, those that the experiments of figures 6 and 8 and of Shye et al.'s figure 6 have in common, in cells that these measure anyway. \
         Each accuracy stands beside its measure, and only those of one measure are compared. PPP, DCPI and hardware for paths are not built here and only quoted; what comes next to duplicated code is subpath profiling \
         in a second version of the code.",
    ],
    cells,
    conclude,
};

const PEP: &str = "pep:samples=64,stride=17";
const KBLPP: &str = "--profile kblpp:k=4";
const BURSTS: &str = "--tier o2 --profile osp:skip=burst";
const VERSIONS: &str = "--tier o2 --profile osp:skip=versions";

/// Those that all these experiments measure.
fn programs(plan: &Plan) -> Vec<&'static str> {
    let (also, traced) =
        (plan.pick(vec!["richards", "json", "list", "storage"], accuracies::names()), pmu::traced(plan));
    fig6::programs(plan).into_iter().filter(|name| also.contains(name) && traced.contains(name)).collect()
}

fn flags() -> Vec<&'static str> {
    let exact = sec5_1::ALL.iter().map(|of| of.1);
    exact.chain([KBLPP, BURSTS, VERSIONS]).collect()
}

/// Accuracy of sampled subpaths, as the experiment about the paper's table 5 measures it.
fn subpaths() -> Cell {
    tab5::ours()
}

fn cells(plan: &Plan) -> Vec<Cell> {
    let names = programs(plan);
    let mut all: Vec<Cell> = Vec::new();
    for name in &names {
        all.extend(flags().into_iter().map(|flags| cost(plan, name, flags)));
        all.push(paths(plan, name, PEP));
        all.extend(["burst", "versions"].map(|skip| tab2::knowing(plan, skip, name)));
        all.extend(pmu::TRACES.map(|of| pmu::traced_cost(plan, name, of)));
        all.extend(pmu::TRACES.map(|of| pmu::traced_accuracy(name, of)));
    }
    all.extend(fig6::programs(plan).iter().map(|name| fig6::sampling(64, 17).cell(plan, name)));
    all.push(subpaths());
    all
}

/// A line of the comparison.
struct Row {
    technique: &'static str,
    measure: &'static str,
    overhead: Option<Measured>,
    accuracy: Option<Measured>,
    /// Text, for much of it is no single number.
    paper: [String; 2],
    is_built: bool,
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let overhead = |flags: &str| Costs::of(results, &names, |name| cost(plan, name, flags)).mean;
    let pep_over =
        |names: &[&str]| Costs::of(results, names, |name| fig6::sampling(64, 17).cell(plan, name)).mean;
    let pep = pep_over(&names);
    let average = |of: &dyn Fn(&str) -> Option<f64>| {
        let each: Option<Vec<f64>> = names.iter().map(|name| of(name)).collect();
        mean(&each?).map(|share| exactly(100.0 * share, Unit::Percent))
    };
    let by_pep = |score: &str| average(&|name| results.number(&paths(plan, name, PEP), score));
    let by_traces =
        |of| average(&|name| results.number(&pmu::traced_accuracy(name, of), "traces.count.accuracy"));
    let by_subpaths =
        |skip: &str| average(&|name| results.number(&tab2::knowing(plan, skip, name), tab2::KNOWN));
    let of_traces =
        pmu::TRACES.map(|of| Costs::of(results, &names, |name| pmu::traced_cost(plan, name, of)).mean);
    let (branch_flow, count_flow) = (by_pep("paths.branch.accuracy"), by_pep("paths.count.accuracy"));
    let [four, sixteen] = pmu::TRACES.map(by_traces);
    let [edges, arrays, hashed] = sec5_1::ALL.map(|of| overhead(of.1));

    let related = |key: &str| papers::number(&format!("pep.related.{key}"));
    let percent = |value: f64| shown(value, Unit::Percent);
    let (own, ppp) = (papers::number("pep.fig6.pep_64_17.avg"), related("ppp.overhead"));
    found.checks.number(
        "average overhead of PEP(64,17) on the programs of figure 6, against that of PPP",
        &format!("{} against {}", percent(own), percent(ppp)),
        // It is to be told apart from what lies so far off.
        Bound::at_most(ppp).stretch(own).resolution(ppp - own),
        pep_over(&fig6::programs(plan)),
    );
    let value = |of: Option<Measured>| of.map(|of| of.value);
    let ordered = value(pep).zip(value(arrays)).zip(value(hashed));
    found.checks.shape(
        "sampled paths cost less than counted ones",
        "1.2 % against 31 %",
        "PEP below arrays, and these below hash tables",
        ordered.map(|((pep, arrays), hashed)| pep < arrays && arrays < hashed),
        in_a_line([("PEP", pep), ("arrays", arrays), ("hash tables", hashed)].into_iter(), "-"),
    );
    let both = value(count_flow).zip(value(four));
    found.checks.shape(
        "as accurate as branch traces, by the same measure",
        "94 % and 88 %, by different measures",
        "by count flow, at least as accurate as traces of four branches",
        both.map(|(pep, traces)| pep >= traces),
        in_a_line(
            [("PEP", count_flow), ("four branches", four), ("sixteen", sixteen)].into_iter(),
            "not measured",
        ),
    );

    let quoted = |key: &str| papers::numbers(&format!("pep.related.{key}")).into_iter().flatten();
    let range = |key: &str| quoted(key).map(percent).collect::<Vec<_>>().join(" to ");
    let none = String::new;
    let built = |technique, measure, overhead, accuracy, paper| Row {
        technique,
        measure,
        overhead,
        accuracy,
        paper,
        is_built: true,
    };
    let only_quoted = |technique, measure, paper| Row {
        technique,
        measure,
        overhead: None,
        accuracy: None,
        paper,
        is_built: false,
    };
    let all_of_it = Some(exactly(100.0, Unit::Percent));
    let pep_cost = || percent(own);
    let shye = || percent(related("shye.overhead"));
    let accuracy = |key: &str| percent(papers::number(&format!("pep.{key}.pep_64_17")));
    let recall = results.number(&subpaths(), "subpaths.top10.recall");
    let rows = [
        built("edges counted", "exact", edges, all_of_it, [percent(related("edge_instr")), none()]),
        built("BLPP, arrays", "exact", arrays, all_of_it, [percent(related("blpp.avg")), none()]),
        built(
            "BLPP, hash tables",
            "exact",
            hashed,
            all_of_it,
            [percent(papers::number("pep.perfect_cost.path.avg")), none()],
        ),
        built("k-BLPP, k=4", "exact", overhead(KBLPP), all_of_it, [none(), none()]),
        built(
            "PEP(64,17)",
            "paths, branch flow",
            pep,
            branch_flow,
            [pep_cost(), accuracy("fig8.path_accuracy")],
        ),
        built("PEP(64,17)", "paths, count flow", pep, count_flow, [pep_cost(), none()]),
        built(
            "PEP(64,17)",
            "edges, relative overlap",
            pep,
            by_pep("edges.sampled.exact_paths.relative"),
            [pep_cost(), accuracy("fig9.edge_relative_overlap")],
        ),
        built(
            "branch traces, 4 branches",
            "paths, count flow",
            of_traces[0],
            four,
            [shye(), percent(related("shye.accuracy"))],
        ),
        built("branch traces, 16 branches", "paths, count flow", of_traces[1], sixteen, [none(), none()]),
        built(
            "subpaths (OSP), bursts at ticks",
            "ten hottest of FFT found, one sample in 1000 blocks",
            overhead(BURSTS),
            recall.map(|share| exactly(100.0 * share, Unit::Percent)),
            [percent(papers::number("osp.table2.mean_sampling_overhead")), none()],
        ),
        built(
            "subpaths (OSP), bursts at ticks",
            "edges, relative overlap",
            overhead(BURSTS),
            by_subpaths("burst"),
            [none(), none()],
        ),
        built(
            "duplicated code (OSP; paper: Arnold, Ryder)",
            "edges, relative overlap",
            overhead(VERSIONS),
            by_subpaths("versions"),
            [
                format!(
                    "{}, or {}",
                    percent(related("arnold_ryder.framework")),
                    percent(related("arnold_ryder.improved"))
                ),
                none(),
            ],
        ),
        only_quoted("PPP", "paths, branch flow", [percent(ppp), percent(related("ppp.accuracy"))]),
        only_quoted("DCPI", "blocks", [range("dcpi"), none()]),
        only_quoted("hardware for edges", "", [range("hw_edge"), none()]),
        only_quoted(
            "hardware for paths",
            "paths",
            [
                percent(related("hw_path_overhead")),
                format!("above {}", percent(related("hw_path_accuracy_above"))),
            ],
        ),
    ];
    found.figures.push(techniques(&names, &rows));
}

fn techniques(names: &[&str], rows: &[Row]) -> Figure {
    let line = |row: &Row| {
        let here = |of: Option<Measured>| match of {
            Some(measured) => TableCell::Number(measured),
            None => text(if row.is_built { "-" } else { "not built" }),
        };
        vec![
            text(row.technique),
            here(row.overhead),
            here(row.accuracy),
            text(row.measure),
            text(&row.paper[0]),
            text(&row.paper[1]),
        ]
    };
    let columns = [
        "technique",
        "overhead",
        "accuracy",
        "measure of accuracy",
        "overhead reported",
        "accuracy reported",
    ];
    table(
        "techniques",
        "Techniques, what they cost and how accurate they are",
        format!(
            "Means over {}. Accuracies by different measures cannot be compared. Four branches are what the paper's hardware had.",
            names.join(", ")
        ),
        &columns,
        rows.iter().map(line).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::experiments;
    use crate::plan::Mode;
    use std::collections::BTreeSet;

    /// Nothing is measured for this comparison alone.
    #[test]
    fn all_cells_are_of_other_experiments() {
        for mode in [Mode::Quick, Mode::Full] {
            let plan = Plan::new(mode);
            let others = experiments().filter(|of| of.id != EXPERIMENT.id);
            let known: BTreeSet<String> =
                others.flat_map(|of| (of.cells)(&plan)).map(|cell| cell.key()).collect();
            let own = cells(&plan);
            assert!(own.len() > 10);
            for cell in own {
                assert!(known.contains(&cell.key()), "{mode}: {}", cell.key());
            }
        }
    }
}
