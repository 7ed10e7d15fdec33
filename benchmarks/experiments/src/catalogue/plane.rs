//! The chart that no paper has: all profilers on one plane, accuracy against overhead, on the same programs and by the same metric. What profilers
//! find is of two kinds, so there are two planes.
//!
//! **Paths**, at the highest level. The metric is Wall's weight matching of paths by branch flow, against exact counts. Profilers that count everything are
//! exact; what they differ in is the cost. Subpaths go across loops and calls: what part of an edge's or path's flow they say is not defined, so they have no place here.
//!
//! **Calls**, at the lowest level, where most calls are made. The metric is the overlap with the exact graph of the calls that are not inlined, in the same number of ticks.

use super::overheads::{Costs, cell};
use super::{accuracies, cbs, pep, pmu};
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Point, Unit};
use crate::results::{Results, mean};

/// Against what the paths of a dot are held.
enum Accuracy {
    /// Every path is counted.
    Exact,
    /// The paths that the same run counts, beside the profiler.
    SameRun,
    /// The same, beside another profiler that samples the same paths.
    SameRunAs(&'static str),
    /// The paths of branch traces of this number, against those that the interpreter counts.
    Traces(usize),
}

/// A dot: the profiler's name, its group, its specification (traces know that themselves), and how accuracy is found. What the plan does not measure has none.
const PATHS: [(&str, &str, &str, Accuracy); 15] = [
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
    [of_paths(plan, results), of_calls(plan, results)].into_iter().flatten().collect()
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

fn of_paths(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let names = programs(plan);
    let one = |(name, group, profiler, accuracy): &(&str, &str, &str, Accuracy)| {
        let costs = Costs::of(results, &names, |program| match accuracy {
            Accuracy::Traces(at) => pmu::traced_cost(plan, program, pmu::TRACES[*at]),
            _ => cell(plan, program, &format!("--profile {profiler}")),
        });
        let sampled = |profiler: &str| {
            average(&names, |program| {
                results.number(&accuracies::paths(plan, program, profiler), "paths.branch.accuracy")
            })
        };
        let share = match accuracy {
            Accuracy::Exact => 1.0,
            Accuracy::SameRun => sampled(profiler)?,
            Accuracy::SameRunAs(other) => sampled(other)?,
            Accuracy::Traces(at) => average(&names, |program| {
                let cell = pmu::traced_accuracy(program, pmu::TRACES[*at]);
                results.number(&cell, "traces.branch.accuracy")
            })?,
        };
        dot(name, group, &costs, 100.0 * share)
    };
    let caption = format!(
        "Means over {}. Accuracy is Wall's weight matching by branch flow; profilers that count every path are exact. Subpaths go across loops and calls and have tables of their own.",
        names.join(", ")
    );
    let points = PATHS.iter().filter_map(one).collect();
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
    use crate::cell::Cell;
    use crate::plan::Mode;

    /// A dot of the plane that nobody measures would be missing for ever.
    #[test]
    fn dots_are_measured_by_experiments() {
        let plan = Plan::new(Mode::Full);
        let known: std::collections::BTreeSet<String> =
            super::super::experiments().flat_map(|of| (of.cells)(&plan)).map(|cell| cell.key()).collect();
        let has = |what: &str, cell: Cell| assert!(known.contains(&cell.key()), "{what}: {}", cell.key());
        for program in programs(&plan) {
            for (name, _, profiler, accuracy) in &PATHS {
                match accuracy {
                    Accuracy::Exact => {}
                    Accuracy::SameRun => has(name, accuracies::paths(&plan, program, profiler)),
                    Accuracy::SameRunAs(other) => has(name, accuracies::paths(&plan, program, other)),
                    Accuracy::Traces(at) => {
                        has(name, pmu::traced_accuracy(program, pmu::TRACES[*at]));
                        has(name, pmu::traced_cost(&plan, program, pmu::TRACES[*at]));
                    }
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
