//! The chart that no paper has: all profilers of paths on one plane, accuracy against overhead, on the same programs and by the same metric.
//!
//! The metric is Wall's weight matching of paths by branch flow, against exact counts. Profilers that count everything are
//! exact; what they differ in is the cost. Subpaths go across loops and calls, and call graphs have no paths: neither has a place here.

use super::overheads::{Costs, cell};
use super::{accuracies, pep, pmu};
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Point, Unit};
use crate::results::{Results, mean};

/// Against what the paths of a dot are held.
enum Accuracy {
    /// Every path is counted.
    Exact,
    /// The paths that the same run counts, beside the profiler with this name.
    SameRun(&'static str),
    /// The paths of branch traces of this number, against those that the interpreter counts.
    Traces(usize),
}

/// A dot: the profiler's name, its group, what `overhead` is told (traces know that themselves), and how accuracy is found. What the plan does not measure has none.
const DOTS: [(&str, &str, &str, Accuracy); 15] = [
    ("PEP(1,1)", "PEP", "--profile pep:samples=1,stride=1", Accuracy::SameRun("pep:schedule=timer")),
    (
        "PEP(64,17)",
        "PEP",
        "--profile pep:samples=64,stride=17",
        Accuracy::SameRun("pep:samples=64,stride=17"),
    ),
    (
        "PEP(256,17)",
        "PEP",
        "--profile pep:samples=256,stride=17",
        Accuracy::SameRun("pep:samples=256,stride=17"),
    ),
    (
        "PEP(1024,17)",
        "PEP",
        "--profile pep:samples=1024,stride=17",
        Accuracy::SameRun("pep:samples=1024,stride=17"),
    ),
    ("traces of 4 branches", "branch traces", "", Accuracy::Traces(0)),
    ("traces of 16 branches", "branch traces", "", Accuracy::Traces(1)),
    ("BLPP, arrays", "BLPP", "--profile blpp:storage=array", Accuracy::Exact),
    ("BLPP, hash tables", "BLPP", "--profile blpp:storage=hash", Accuracy::Exact),
    ("k-BLPP, k=2", "k-BLPP", "--profile kblpp:k=2", Accuracy::Exact),
    ("k-BLPP, k=4", "k-BLPP", "--profile kblpp:k=4", Accuracy::Exact),
    ("k-BLPP, k=8", "k-BLPP", "--profile kblpp:k=8", Accuracy::Exact),
    ("k-BLPP, k=16", "k-BLPP", "--profile kblpp:k=16", Accuracy::Exact),
    ("windows of k=2", "k-BLPP", "--profile kroy:k=2", Accuracy::Exact),
    ("windows of k=3", "k-BLPP", "--profile kroy:k=3", Accuracy::Exact),
    ("windows of k=4", "k-BLPP", "--profile kroy:k=4", Accuracy::Exact),
];

/// Those of figure 6 of which the accuracy of sampled paths and of traces is measured as well.
fn programs(plan: &Plan) -> Vec<&'static str> {
    let (sampled, traced) = (pep::accurate(plan), pmu::traced(plan));
    let has_both = |name: &&str| sampled.contains(name) && traced.contains(name);
    pep::costed(plan).into_iter().filter(has_both).collect()
}

/// The plane, if enough was measured for it.
pub fn plane(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let names = programs(plan);
    let average = |of: &dyn Fn(&str) -> Option<f64>| {
        let each: Option<Vec<f64>> = names.iter().map(|name| of(name)).collect();
        mean(&each?).map(|share| 100.0 * share)
    };
    let dot = |(name, group, flags, accuracy): &(&str, &str, &str, Accuracy)| {
        let cost = Costs::of(results, &names, |program| match accuracy {
            Accuracy::Traces(at) => pmu::traced_cost(plan, program, pmu::TRACES[*at]),
            _ => cell(plan, program, flags),
        });
        let cost = cost.mean?;
        let y = match accuracy {
            Accuracy::Exact => 100.0,
            Accuracy::SameRun(profiler) => average(&|program| {
                results.number(&accuracies::paths(plan, program, profiler), "paths.branch.accuracy")
            })?,
            Accuracy::Traces(at) => average(&|program| {
                let cell = pmu::traced_accuracy(program, pmu::TRACES[*at]);
                results.number(&cell, "traces.branch.accuracy")
            })?,
        };
        let (name, group) = (name.to_string(), group.to_string());
        Some(Point { name, group, x: cost.value, y, x_interval: cost.interval, y_interval: None })
    };
    let points: Vec<Point> = DOTS.iter().filter_map(dot).collect();
    (!points.is_empty()).then(|| Figure {
        id: "plane".into(),
        title: "Profilers of paths: accuracy against overhead".into(),
        caption: format!(
            "Means over {}. Accuracy is Wall's weight matching by branch flow; profilers that count every path are exact. Subpaths go across loops and calls, and call graphs have no paths: they have tables of their own.",
            names.join(", ")
        ),
        chart: Chart::Scatter {
            x: Axis { title: "overhead".into(), unit: Unit::Percent, log: false },
            y: Axis { title: "accuracy".into(), unit: Unit::Percent, log: false },
            points,
        },
    })
}
