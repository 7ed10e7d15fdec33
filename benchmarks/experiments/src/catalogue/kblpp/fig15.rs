//! D'Elia and Demetrescu 2013, figure 15: operations on hash tables, relative to Ball-Larus profiling.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
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
        "That it is ceil(N/(k-1)) is not believed: in other runs, of the first 50,000 yieldpoints of each program, every step of compiled code is traced, so that it is known how many paths ended in each activation (`holloway experiment lookups`). From these numbers follows how many chunks there must have been, and the profiler of the same run must have counted as many, and as many paths.",
    ],
    cells: |plan| {
        forest::cells(plan)
            .into_iter()
            .chain(traced_names(plan).into_iter().map(|name| traced(plan, name)))
            .collect()
    },
    conclude,
};

/// Yieldpoints after which a traced program is ended.
const FUEL: u32 = 50_000;

/// Programs that are traced.
fn traced_names(plan: &Plan) -> Vec<&'static str> {
    let few = plan.pick(["richards", "sieve", "queens"].as_slice(), &[]);
    forest::names(plan).into_iter().filter(|name| few.is_empty() || few.contains(name)).collect()
}

/// What a trace and the profiler say, for each k.
fn traced(plan: &Plan, program: &str) -> Cell {
    let ks: Vec<String> = forest::ks(plan).iter().map(u32::to_string).collect();
    let line = format!("experiment lookups {program} --tier o2 --fuel {FUEL} --k {} --json", ks.join(","));
    Cell::counting(Reduction::Numbers, &[&line], 0.12 * ks.len() as f64)
}

/// Of all programs and k, where both are the same, and how many there are.
fn exact(plan: &Plan, results: &Results<'_>) -> Option<(usize, usize)> {
    let mut found = (0, 0);
    for name in traced_names(plan) {
        let cell = traced(plan, name);
        for k in forest::ks(plan) {
            let number = |what: &str| results.number(&cell, &format!("{k}.{what}"));
            let same =
                |what: &str| Some(number(&format!("traced.{what}"))? == number(&format!("counted.{what}"))?);
            found.0 += usize::from(same("paths")? && same("chunks")? && number("traced.paths")? > 0.0);
            found.1 += 1;
        }
    }
    Some(found)
}

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
    let exact = exact(plan, results).filter(|of| of.1 > 0);
    found.checks.shape(
        "look-ups that follow from a trace of every step",
        "ceil(N/(k-1)) for each activation",
        "as many as the profiler counted, to the last one, in all programs with every k, and as many paths",
        exact.map(|(same, all)| same == all),
        exact.map_or("not measured".into(), |(same, all)| format!("{same} of {all} runs")),
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
