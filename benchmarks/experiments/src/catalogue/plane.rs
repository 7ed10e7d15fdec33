//! The chart that no paper has: all profilers on one plane, accuracy against overhead, on the same programs and by the same metric. What profilers
//! find is of several kinds, so there are three planes.
//!
//! **Branches**, at the highest level: what all profilers of edges, paths, traces and subpaths know something of. The metric is relative overlap (Bond and McKinley 2005, section 6.4):
//! how well the bias of each branch is known, by how often it is executed.
//!
//! **Paths**, at the highest level. The metric is Wall's weight matching of paths by branch flow, against exact counts. Subpaths go across loops and calls: what part of a
//! path's flow they say is not defined, so they have no place there.
//!
//! **Calls**, at the lowest level, where most calls are made. The metric is the overlap with the exact graph of the calls that are not inlined, in the same number of ticks.
//!
//! Profilers that count everything are exact; what they differ in is the cost.

use super::osp::tab2;
use super::overheads::{Costs, cell};
use super::{accuracies, cbs, pep, pmu};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Point, Unit};
use crate::results::{Results, mean};

/// Against what is held what a dot's profiler found.
enum Accuracy {
    /// Everything is counted.
    Exact,
    /// The paths that the same run counts, beside the profiler.
    SameRun,
    /// The same, beside another profiler that samples the same paths.
    SameRunAs(&'static str),
    /// The paths of branch traces of this number, against those that the interpreter counts.
    Traces(usize),
    /// Subpaths that are sampled so, against the edges that the same run counts.
    Subpaths(&'static str),
}

/// The numbers that say how accurate a profiler is.
struct Scores {
    sampled: &'static str,
    traced: &'static str,
}

const OF_BRANCHES: Scores = Scores {
    sampled: "edges.sampled.exact_edges.relative",
    traced: "edges.traced.paths_of_regions.relative",
};
const OF_PATHS: Scores = Scores { sampled: "paths.branch.accuracy", traced: "traces.branch.accuracy" };

/// A dot: the profiler's name, its group, its specification (traces know that themselves), and how accuracy is found. What the plan does not measure has none.
type Dot = (&'static str, &'static str, &'static str, Accuracy);

/// Who knows nothing of paths.
const BRANCHES: [Dot; 4] = [
    ("edges counted", "edges", "edges", Accuracy::Exact),
    ("subpaths, bursts", "OSP", "osp:skip=burst", Accuracy::Subpaths("burst")),
    ("subpaths, two versions", "OSP", "osp:skip=versions", Accuracy::Subpaths("versions")),
    ("subpaths, a counter", "OSP", "osp:skip=decrement", Accuracy::Subpaths("decrement")),
];

/// Who knows paths.
const PATHS: [Dot; 15] = [
    // By counted yieldpoints, one sample at once is what the timer alone takes.
    ("PEP(1,1)", "PEP", "pep:samples=1,stride=1", Accuracy::SameRunAs("pep:schedule=timer")),
    ("PEP(64,17)", "PEP", "pep:samples=64,stride=17", Accuracy::SameRun),
    ("PEP(256,17)", "PEP", "pep:samples=256,stride=17", Accuracy::SameRun),
    ("PEP(1024,17)", "PEP", "pep:samples=1024,stride=17", Accuracy::SameRun),
    ("traces of 4 branches", "branch traces", "", Accuracy::Traces(0)),
    ("traces of 16 branches", "branch traces", "", Accuracy::Traces(1)),
    ("BLPP, arrays", "BLPP", "blpp:storage=array", Accuracy::Exact),
    ("BLPP, hash tables", "BLPP", "blpp:storage=hash", Accuracy::Exact),
    ("k-BLPP, k=2", "k-BLPP", "kblpp:k=2", Accuracy::Exact),
    ("k-BLPP, k=4", "k-BLPP", "kblpp:k=4", Accuracy::Exact),
    ("k-BLPP, k=8", "k-BLPP", "kblpp:k=8", Accuracy::Exact),
    ("k-BLPP, k=16", "k-BLPP", "kblpp:k=16", Accuracy::Exact),
    ("windows of k=2", "k-BLPP", "kroy:k=2", Accuracy::Exact),
    ("windows of k=3", "k-BLPP", "kroy:k=3", Accuracy::Exact),
    ("windows of k=4", "k-BLPP", "kroy:k=4", Accuracy::Exact),
];

/// Those of figure 6 of which the accuracy of sampled paths and of traces is measured as well.
fn programs(plan: &Plan) -> Vec<&'static str> {
    let (sampled, traced) = (pep::accurate(plan), pmu::traced(plan));
    let has_both = |name: &&str| sampled.contains(name) && traced.contains(name);
    pep::costed(plan).into_iter().filter(has_both).collect()
}

/// The planes for which enough was measured.
pub fn planes(plan: &Plan, results: &Results<'_>) -> Vec<Figure> {
    [of_branches(plan, results), of_paths(plan, results), of_calls(plan, results)]
        .into_iter()
        .flatten()
        .collect()
}

/// The mean over programs of a share, in percent; nothing if one is missing.
fn average(names: &[&str], of: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let each: Option<Vec<f64>> = names.iter().map(|name| of(name)).collect();
    mean(&each?)
}

fn dot(name: &str, group: &str, costs: &Costs, y: f64) -> Option<Point> {
    let cost = costs.mean?;
    let (name, group) = (name.to_string(), group.to_string());
    Some(Point { name, group, x: cost.value, y, x_interval: cost.interval, y_interval: None })
}

fn plane(id: &str, title: &str, caption: String, points: Vec<Point>) -> Option<Figure> {
    (!points.is_empty()).then(|| Figure {
        id: id.into(),
        title: title.into(),
        caption,
        chart: Chart::Scatter {
            x: Axis { title: "overhead".into(), unit: Unit::Percent, log: false },
            y: Axis { title: "accuracy".into(), unit: Unit::Percent, log: false },
            points,
        },
    })
}

/// Where a profiler is on the plane of these scores; nothing if something of it is not measured.
fn placed(plan: &Plan, results: &Results<'_>, scores: &Scores, of: &Dot) -> Option<Point> {
    let (names, (name, group, profiler, accuracy)) = (programs(plan), of);
    let costs = Costs::of(results, &names, |program| cost(plan, program, of));
    let sampled = |profiler: &str| {
        average(&names, |program| results.number(&accuracies::paths(plan, program, profiler), scores.sampled))
    };
    let share = match accuracy {
        Accuracy::Exact => 1.0,
        Accuracy::SameRun => sampled(profiler)?,
        Accuracy::SameRunAs(other) => sampled(other)?,
        Accuracy::Traces(at) => average(&names, |program| {
            results.number(&pmu::traced_accuracy(program, pmu::TRACES[*at]), scores.traced)
        })?,
        Accuracy::Subpaths(skip) => {
            average(&names, |program| results.number(&tab2::knowing(plan, skip, program), tab2::KNOWN))?
        }
    };
    dot(name, group, &costs, 100.0 * share)
}

/// What the profiler of a dot costs a program.
fn cost(plan: &Plan, program: &str, (_, _, profiler, accuracy): &Dot) -> Cell {
    match accuracy {
        Accuracy::Traces(at) => pmu::traced_cost(plan, program, pmu::TRACES[*at]),
        Accuracy::Subpaths(_) => cell(plan, program, &format!("--tier o2 --profile {profiler}")),
        _ => cell(plan, program, &format!("--profile {profiler}")),
    }
}

fn of_branches(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let caption = format!(
        "Means over {}. Accuracy is relative overlap: how well the bias of each branch is known, by how often it is executed, where one that was not seen is taken to go each way alike. Traces are held against the branches of \
         the regions' paths, all others against counted edges.",
        programs(plan).join(", ")
    );
    let points =
        BRANCHES.iter().chain(&PATHS).filter_map(|of| placed(plan, results, &OF_BRANCHES, of)).collect();
    plane("branches", "Profilers of branches, paths and subpaths: accuracy against overhead", caption, points)
}

fn of_paths(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let caption = format!(
        "Means over {}. Accuracy is Wall's weight matching by branch flow; profilers that count every path are exact. Subpaths go across loops and calls and have tables of their own.",
        programs(plan).join(", ")
    );
    let points = PATHS.iter().filter_map(|of| placed(plan, results, &OF_PATHS, of)).collect();
    plane("plane", "Profilers of paths: accuracy against overhead", caption, points)
}

fn of_calls(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let names = cbs::common(plan);
    let one = |of: &cbs::CallProfiler| {
        let costs = Costs::of(results, &names, |program| of.cost(plan, program));
        let y = match of.key {
            Some(key) => average(&names, |program| {
                results.number(&cbs::common_accuracy(program), &format!("{key}.overlap"))
            })?,
            None => 100.0,
        };
        dot(of.name, of.group, &costs, y)
    };
    let caption = format!(
        "Means over {}, at the lowest level. Accuracy is the overlap with the exact graph of calls that are not inlined; who counts every call is exact.",
        names.join(", ")
    );
    let points = cbs::CALL_PROFILERS.iter().filter_map(one).collect();
    plane("calls", "Profilers of calls: accuracy against overhead", caption, points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Mode;

    /// A dot of the plane that nobody measures would be missing for ever.
    #[test]
    fn dots_are_measured_by_experiments() {
        let plan = Plan::new(Mode::Full);
        let known: std::collections::BTreeSet<String> =
            super::super::experiments().flat_map(|of| (of.cells)(&plan)).map(|cell| cell.key()).collect();
        let has = |what: &str, cell: Cell| assert!(known.contains(&cell.key()), "{what}: {}", cell.key());
        for program in programs(&plan) {
            for of in BRANCHES.iter().chain(&PATHS) {
                let (name, _, profiler, accuracy) = of;
                if !matches!(accuracy, Accuracy::Exact) {
                    has(name, cost(&plan, program, of));
                }
                match accuracy {
                    Accuracy::Exact => {}
                    Accuracy::SameRun => has(name, accuracies::paths(&plan, program, profiler)),
                    Accuracy::SameRunAs(other) => has(name, accuracies::paths(&plan, program, other)),
                    Accuracy::Traces(at) => has(name, pmu::traced_accuracy(program, pmu::TRACES[*at])),
                    Accuracy::Subpaths(skip) => has(name, tab2::knowing(&plan, skip, program)),
                }
            }
        }
        for program in cbs::common(&plan) {
            has("calls", cbs::common_accuracy(program));
            for of in &cbs::CALL_PROFILERS {
                has(of.name, of.cost(&plan, program));
            }
        }
    }
}
