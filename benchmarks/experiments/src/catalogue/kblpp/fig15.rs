//! D'Elia and Demetrescu 2013, figure 15: operations on hash tables, relative to Ball-Larus profiling.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig15",
    place: "Figure 15",
    title: "Hash operations relative to Ball-Larus profiling",
    says: &[
        "A Ball-Larus profiler with a hash table looks up each path. The k-iteration profiler begins a chunk with every k-1 paths of an activation, and \
         looks up where it begins; so an activation with N paths needs ceil(N/(k-1)) look-ups.",
        "Here chunks and paths are counted, of two iterations of each program: exact numbers, the same in every run. Most chunks begin as \
         others did, and are found without hashing at all: the operations that are left are told, too.",
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let items = forest::lines(plan, results, "items");
    let relative = |number: &str| -> Option<Vec<Line>> {
        let mut lines = forest::lines(plan, results, number)?;
        for (line, items) in lines.iter_mut().zip(items.as_ref()?) {
            for (point, all) in line.points.iter_mut().zip(&items.points) {
                point.1 /= all.1.max(1.0);
            }
        }
        Some(lines)
    };
    let (chunks, hashed) = (relative("chunks"), relative("hash_operations"));
    let most = |lines: &Vec<Line>| {
        lines.iter().flat_map(|line| &line.points).fold(0.0f64, |most, of| most.max(of.1))
    };
    found.checks.number(
        "look-ups relative to BLPP, the program and k with most",
        "never more",
        Bound::at_most(1.0),
        chunks.as_ref().map(|lines| exactly(most(lines), Unit::Ratio)),
    );
    // No activation needs less than a path in k-1, but for the last chunk of each, which may be shorter.
    let is_bounded = |lines: &Vec<Line>| {
        lines.iter().flat_map(|line| &line.points).all(|&(k, of)| of >= 0.999 / (k - 1.0))
    };
    found.checks.shape(
        "between 1/(k-1) and 1, falling with k",
        "1/(k-1) in long loops",
        "in all programs",
        chunks.as_ref().map(|lines| is_bounded(lines) && forest::falling(lines) == lines.len()),
        chunks.as_ref().map_or("not measured".into(), |lines| {
            format!("falling in {} of {}", forest::falling(lines), lines.len())
        }),
    );
    found.checks.told(
        "hash operations that are done, relative to BLPP, the program and k with most",
        "one for each look-up",
        hashed.as_ref().map(|lines| exactly(most(lines), Unit::Ratio)),
    );
    let ks = papers::numbers("kblpp.k_values").into_iter().flatten();
    let best = ks.filter(|&k| forest::ks(plan).contains(&(k as u32))).map(|k| (k, 1.0 / (k - 1.0))).collect();
    found.figures.extend(chunks.map(|mut lines| {
        lines.push(Line { name: "1/(k-1), for endless loops".into(), is_paper: true, points: best });
        let caption = "Look-ups for each path. Programs with long loops follow 1/(k-1); activations with a single path need as many as ever.";
        forest::figure("operations", "Look-ups relative to Ball-Larus profiling", caption, true, lines)
    }));
}
