//! D'Elia and Demetrescu 2013, figures 3 and 10: the running example.

use super::tree::{Counts, counts, figure, trees};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig3",
    place: "Figures 3 and 10, examples 1 to 3",
    title: "The running example",
    says: &[
        "A run of 44 blocks becomes a stream of 14 path numbers, and this the forest of figure 3, in which ⟨2, 0, 0, 2⟩ is counted three times. Figure 10 is what is kept meanwhile: by definition 3 of 22 nodes. \
         There 0 follows 0 at five places, of which three are counted.",
        "Here the same control flow is numbered, run and profiled by the library that compiled code uses, and each node and counter is compared with what was worked by hand from the definitions. The algorithm of figure 11 \
         adds a node to those of definition 3: the upper path of the last chunk, with counter 0. For other k the sizes are compared.",
    ],
    cells: |_| [numbered()].into_iter().chain(vector().sizes.iter().map(|size| cell(size[0]))).collect(),
    conclude: |_, results, found| conclude(results, found),
};

/// What was worked by hand. Paths are written as their numbers, which are digits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    k: u64,
    /// What the streaming algorithm makes.
    slabs: String,
    /// Of these, what definition 3 does not have.
    beyond_definition: String,
    sequences: String,
    /// For each k: nodes of the k-slab forest and of the k-iteration path forest, and hash operations.
    sizes: Vec<[u64; 4]>,
}

static VECTORS: LazyLock<BTreeMap<String, Vector>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../data/kblpp-vectors.json")).expect("the vectors are JSON")
});

fn vector() -> &'static Vector {
    &VECTORS["kb-1"]
}

/// Counts from text like `62:1`.
fn worked(text: &str) -> Counts {
    let digits =
        |path: &str| path.chars().map(|digit| u64::from(digit.to_digit(10).expect("a digit"))).collect();
    let entry = |word: &str| {
        let (path, count) = word.split_once(':').expect("a path and a count");
        (digits(path), count.parse().expect("a count"))
    };
    text.split_whitespace().map(entry).collect()
}

/// The graph of figure 3, numbered, and run along the 44 blocks.
fn numbered() -> Cell {
    Cell::counting(Reduction::Numbers, &["experiment example bl-3 --json"], 0.02)
}

fn stream() -> Vec<f64> {
    papers::numbers("kblpp.example.stream").into_iter().flatten().collect()
}

fn cell(k: u64) -> Cell {
    let stream: Vec<String> = stream().iter().map(f64::to_string).collect();
    let line = format!("experiment forest --k {k} {} --json", stream.join(","));
    Cell::counting(Reduction::Numbers, &[&line], 0.02)
}

fn conclude(results: &Results<'_>, found: &mut Findings) {
    let vector = vector();
    let outcome = results.outcome(&cell(vector.k));
    let [slabs, defined, sequences] =
        ["slabs", "definition", "sequences"].map(|name| outcome.and_then(|outcome| counts(outcome, name)));
    let seen = results.outcome(&numbered()).and_then(|outcome| outcome.samples.get("back edges.ids"));
    found.checks.shape(
        "the stream of path numbers of the run",
        "⟨6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3⟩",
        "the same",
        seen.map(|seen| *seen == stream()),
        seen.map_or("not measured".into(), |seen| {
            let numbers: Vec<String> = seen.iter().map(f64::to_string).collect();
            format!("⟨{}⟩", numbers.join(", "))
        }),
    );
    let expected = worked(&vector.slabs);
    let by_definition: Counts = expected
        .iter()
        .filter(|(path, _)| {
            path.iter().map(ToString::to_string).collect::<String>() != vector.beyond_definition
        })
        .map(|(path, &count)| (path.clone(), count))
        .collect();
    let compared = [
        ("figure 10: the 4-slab forest by definition 3", "22 nodes", &defined, &by_definition),
        ("the same as figure 11 grows it", "23 nodes, one of them never counted", &slabs, &expected),
        ("figure 3: the 4-iteration path forest", "22 nodes", &sequences, &worked(&vector.sequences)),
    ];
    for (what, paper, made, expected) in compared {
        found.checks.shape(
            what,
            paper,
            "all nodes and counters as worked by hand",
            made.as_ref().map(|made| made == expected),
            made.as_ref().map_or("not measured".into(), |made| {
                let differ = made.iter().filter(|(path, count)| expected.get(*path) != Some(count)).count();
                let lacks = expected.keys().filter(|path| !made.contains_key(*path)).count();
                format!("{} nodes; {differ} differ, {lacks} are not there", made.len())
            }),
        );
    }
    let paper = |key: &str| papers::number(&format!("kblpp.example.{key}"));
    let hot = sequences.as_ref().map(|all| all.get(&[2, 0, 0, 2][..]).copied().unwrap_or(0) as f64);
    found.checks.shape(
        "⟨2, 0, 0, 2⟩",
        &format!("{} times", paper("count_2002")),
        "the same",
        hot.map(|count| count == paper("count_2002")),
        hot.map_or("not measured".into(), |count| format!("{count} times")),
    );
    let pairs = slabs.as_ref().map(|slabs| {
        let ends: Vec<u64> =
            slabs.iter().filter(|(path, _)| path.ends_with(&[0, 0])).map(|(_, &count)| count).collect();
        (ends.len() as f64, ends.iter().filter(|&&count| count > 0).count() as f64)
    });
    found.checks.shape(
        "0 after 0 in the 4-slab forest",
        &format!(
            "at {} places, counted at {}",
            paper("occurrences_00_in_ksf"),
            paper("occurrences_00_in_bottom")
        ),
        "the same",
        pairs.map(|pairs| pairs == (paper("occurrences_00_in_ksf"), paper("occurrences_00_in_bottom"))),
        pairs
            .map_or("not measured".into(), |(all, counted)| format!("at {all} places, counted at {counted}")),
    );
    let size = |k: u64| {
        let outcome = results.outcome(&cell(k))?;
        let nodes = |name| Some(counts(outcome, name)?.len() as u64);
        Some([k, nodes("slabs")?, nodes("sequences")?, *outcome.numbers.get("statistics.chunks")? as u64])
    };
    let sizes: Option<Vec<[u64; 4]>> = vector.sizes.iter().map(|expected| size(expected[0])).collect();
    let right = sizes.as_ref().map(|sizes| sizes.iter().zip(&vector.sizes).filter(|(a, b)| a == b).count());
    found.checks.shape(
        "nodes of both forests and hash operations, for seven k",
        "not said",
        "as worked by hand",
        right.map(|right| right == vector.sizes.len()),
        right.map_or("not measured".into(), |right| format!("{right} of {}", vector.sizes.len())),
    );
    found.checks.told(
        "sum of all counters: the length of the stream",
        "14",
        slabs.as_ref().map(|slabs| exactly(slabs.values().sum::<u64>() as f64, Unit::Count)),
    );
    let figures = [
        ("paths", "The 4-iteration path forest", "Figure 3.", sequences, [6, 2, 0, 3]),
        (
            "slabs",
            "The 4-slab forest",
            "Figure 10, with the node ⟨2, 3⟩ that figure 11 adds.",
            slabs,
            [6, 0, 2, 3],
        ),
    ];
    for (id, title, caption, counts, roots) in figures {
        let drawn = counts.map(|counts| trees(&counts, &roots, [0.0, 0.0], &|number| number.to_string()));
        found.figures.extend(drawn.map(|drawn| figure(id, title, caption, drawn)));
    }
}
