//! Shye et al. 2005, figure 1: a path that edges suggest, and how often it is run.

use super::examples::{Seen, check};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::report::model::{Cell as TableCell, Unit};
use crate::results::{Results, exactly};
use crate::vectors::traces::{self, TraceVector};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-fig1",
    place: "Figure 1",
    title: "What edges do not know",
    says: &[
        "By its edges, the hot path of the figure is ABDFG, 70 times. If all that comes through ACD goes on through F and G, it was run 50 times: edges do not \
         tell which branches go together.",
        "The picture is not in the text; the graph here has these blocks, and edges with these counts. It is run 100 times in the way that the paper supposes. \
         The library that the profilers use counts edges and paths of these runs, and the paths that their branch traces come to.",
    ],
    cells: |_| vec![super::examples::cell(vector())],
    conclude: |_, results, found| conclude(results, found),
};

fn vector() -> &'static TraceVector {
    traces::find("ep-1").expect("the vectors have it")
}

const PATH: &str = "ABDFG";

fn conclude(results: &Results<'_>, found: &mut Findings) {
    let vector = vector();
    let seen = Seen::of(vector, results);
    for (part, what, paper) in [
        ("edges", "counts of edges", "a picture"),
        ("greedy", "the path along the most frequent edges, and its rarest edge", "ABDFG, 70"),
        ("paths", "counted paths", "ABDFG, 50"),
        ("traces", "paths by branch traces", "not said"),
    ] {
        check(found, vector, part, what, paper, seen.as_ref());
    }
    let Some(seen) = seen else { return };
    let number = |part: &str, name: &str| match seen.part(part).get(name) {
        Some(&number) => TableCell::Number(exactly(number, Unit::Count)),
        None => text("-"),
    };
    let row = |name: &str| {
        let mark = if name == PATH { " (hot by its edges)" } else { "" };
        let name_cell = text(&format!("{name}{mark}"));
        vec![name_cell, number("greedy", name), number("paths", name), number("traces", name)]
    };
    found.figures.push(table(
        "paths",
        "Paths by edges, by counts and by traces",
        "The edge profile has only its most frequent edges to offer.",
        &["path", "by edges", "counted", "by traces"],
        vector.walks.keys().map(|name| row(name)).collect(),
    ));
    let row = |(edge, &count): (&String, &f64)| vec![text(edge), entry(Some(count), Unit::Count)];
    found.figures.push(table(
        "edges",
        "The graph with its edge profile",
        format!("Blocks with their successors: {}.", vector.graph),
        &["edge", "count"],
        seen.part("edges").iter().map(row).collect(),
    ));
}
