//! The chart that no paper has: all profilers on one plane, accuracy against overhead, on the same programs and by the same metric.
//!
//! The metric is Wall's weight matching of paths by branch flow, in the run that also counts them exactly. Profilers that count everything are
//! exact; what they differ in is the cost.

use super::overheads::{Costs, cell};
use super::{accuracies, pep};
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Point, Unit};
use crate::results::{Results, mean};

/// The plane, if enough was measured for it.
pub fn plane(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let names = pep::plane_programs(plan);
    let mut points = Vec::new();
    for (name, group, flags, profiler) in pep::PLANE {
        let costs = Costs::of(results, &names, |program| cell(plan, program, flags));
        let Some(cost) = costs.mean else { continue };
        let accuracy = match profiler {
            None => Some(100.0),
            Some(profiler) => {
                let each: Vec<f64> = names
                    .iter()
                    .filter_map(|program| {
                        results.number(&accuracies::paths(plan, program, profiler), "paths.branch.accuracy")
                    })
                    .collect();
                if each.len() == names.len() { mean(&each).map(|share| share * 100.0) } else { None }
            }
        };
        let Some(y) = accuracy else { continue };
        points.push(Point {
            name: (*name).into(),
            group: (*group).into(),
            x: cost.value,
            y,
            x_interval: cost.interval,
            y_interval: None,
        });
    }
    (!points.is_empty()).then(|| Figure {
        id: "plane".into(),
        title: "All profilers of paths: accuracy against overhead".into(),
        caption: format!("Means over {}. Accuracy is Wall's weight matching by branch flow; profilers that count every path are exact.", names.join(", ")),
        chart: Chart::Scatter {
            x: Axis { title: "overhead".into(), unit: Unit::Percent, log: false },
            y: Axis { title: "accuracy".into(), unit: Unit::Percent, log: false },
            points,
        },
    })
}
