//! Shye et al. 2005, figures 2 and 3 and table 1: the running example, from traces to weights of full paths.

use super::examples::{Seen, cell, check};
use crate::catalogue::tables::{table, text};
use crate::catalogue::{Experiment, Findings};
use crate::report::model::{Cell as TableCell, Figure, Unit};
use crate::results::{Results, exactly};
use crate::vectors::traces::{self, TraceVector};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-fig2",
    place: "Figures 2 and 3, table 1",
    title: "From traces to paths: the running example",
    says: &[
        "Four taken branches and what lies between them are a partial path, extended to where it is uncertain (figure 2). A method is divided into regions (figure 3), and the \
         count of a partial path goes in equal parts to the full paths of its region that contain it (table 1): 250 for AFGIJLMO in the end.",
        "The pictures are not in the text; the graph is the one that the prose and the table leave. `holloway experiment example` works each stage with the library that \
         the profilers use: partial paths (pmu-1), regions with their full paths (pmu-2), and the rows of table 1 (pmu-3), which are the paper's own numbers.",
    ],
    cells: |_| PARTS.iter().map(|of| cell(vector(of.0))).collect(),
    conclude: |_, results, found| conclude(results, found),
};

/// A part of an example, what it is, and what the paper says of it.
type PartSaid = (&'static str, &'static str, &'static str);

/// Examples, their parts, and what the paper says of them.
const PARTS: [(&str, &[PartSaid]); 3] = [
    (
        "pmu-1",
        &[("initial", "partial paths of three traces", "a picture"), ("extended", "extended", "a picture")],
    ),
    (
        "pmu-2",
        &[
            ("regions", "regions", "bounded by functions and loops"),
            ("paths", "full paths, with their regions", "those of table 1"),
        ],
    ),
    (
        "pmu-3",
        &[
            ("increments", "what each partial path adds", "the rows of table 1"),
            ("totals", "sums after each", "the rows of table 1"),
            ("weights", "weights in the end", "250, 150, 100, 50, 50, 50"),
            ("partials", "partial paths in each region", "3 and 1"),
            ("matches", "full paths that they match, added up", "8 and 1"),
        ],
    ),
];

fn vector(name: &str) -> &'static TraceVector {
    traces::find(name).expect("the vectors have it")
}

fn conclude(results: &Results<'_>, found: &mut Findings) {
    for (name, parts) in PARTS {
        let seen = Seen::of(vector(name), results);
        for (part, what, paper) in parts {
            let what = format!("{name}: {what}");
            check(found, vector(name), part, &what, paper, seen.as_ref());
        }
        found.figures.extend(seen.map(|seen| figure(vector(name), &seen)));
    }
}

fn figure(vector: &TraceVector, seen: &Seen) -> Figure {
    let number = |number: f64| TableCell::Number(exactly(number, Unit::Count));
    let with = |part: &str, number: f64| {
        let all = seen.part(part);
        all.into_iter().filter(|of| of.1 == number).map(|of| of.0).collect::<Vec<String>>()
    };
    let (columns, rows): (&[&str], Vec<Vec<TableCell>>) = match vector.name.as_str() {
        "pmu-1" => {
            let row = |(at, trace): (usize, &String)| {
                let path = |part: &str| text(&with(part, at as f64 + 1.0).join(" "));
                let arrows: Vec<String> =
                    trace.split(' ').map(|of| format!("{}→{}", &of[..1], &of[1..])).collect();
                vec![text(&arrows.join(", ")), path("initial"), path("extended")]
            };
            (
                &["taken branches", "partial path", "extended"],
                vector.traces.iter().enumerate().map(row).collect(),
            )
        }
        "pmu-2" => {
            let row = |(region, &at): (&String, &f64)| vec![text(region), text(&with("paths", at).join(" "))];
            (&["region", "full paths"], seen.part("regions").iter().map(row).collect())
        }
        _ => {
            let (increments, totals) = (seen.part("increments"), seen.part("totals"));
            let rows = vector.partials.iter().flat_map(|(partial, count)| {
                let of = |name: &String| {
                    Some(name.strip_prefix(partial.as_str())?.strip_prefix(" in ")?.to_string())
                };
                let rows = increments.iter().filter_map(move |(name, &more)| Some((of(name)?, name, more)));
                let totals = &totals;
                rows.map(move |(path, name, more)| {
                    let total = totals.get(name).copied().unwrap_or_default();
                    vec![text(partial), number(*count as f64), text(&path), number(more), number(total)]
                })
            });
            (&["partial path", "count", "matches", "adds", "total"], rows.collect())
        }
    };
    table(
        &vector.name,
        format!("{}: {}", vector.name, vector.title),
        format!("Blocks with their successors: {}.", vector.graph),
        columns,
        rows,
    )
}
