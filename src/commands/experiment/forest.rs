//! `holloway experiment forest`: the forests that the k-iteration profiler makes of a stream of path numbers.
//!
//! The stream goes through the library that compiled code feeds. Beside it stands the forest of the paper's definition 3, made from the definition alone: its
//! sequences are listed, and their prefixes counted (D'Elia and Demetrescu 2013, section 4).

use super::arguments::ForestArguments;
use crate::report::Stop;
use holloway_profilers::kblpp::{Activation, Forest, Gram};
use holloway_profilers::{PathNumber, VersionId};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

/// Numbers on the way from a root, and a counter.
type Counts = BTreeMap<Vec<PathNumber>, u64>;

/// Makes the forests and prints them.
pub fn forest(arguments: &ForestArguments) -> Result<ExitCode, Stop> {
    let mut forest = Forest::new(arguments.k);
    for invocation in &arguments.invocations {
        forest.extend(&mut Activation::default(), VersionId(0), &invocation.0);
    }
    let counts =
        |grams: Vec<Gram>| grams.into_iter().map(|gram| (gram.paths, gram.count)).collect::<Counts>();
    let streams: Vec<&[PathNumber]> = arguments.invocations.iter().map(|of| &*of.0).collect();
    let forests = [
        ("slabs", "k-slab forest", counts(forest.slabs())),
        ("definition", "k-slab forest by definition 3", definition(arguments.k.get() as usize, &streams)),
        ("sequences", "k-iteration path forest", counts(forest.paths().grams())),
    ];
    let statistics = forest.statistics();
    let text = if arguments.json {
        let named = |counts: &Counts| -> Map<String, Value> {
            counts.iter().map(|(path, count)| (spelled(path), json!(count))).collect()
        };
        let mut all: Map<String, Value> =
            forests.iter().map(|(key, _, counts)| (key.to_string(), Value::from(named(counts)))).collect();
        all.insert("k".into(), json!(arguments.k.get()));
        all.insert("statistics".into(), json!(statistics));
        Value::from(all).to_string() + "\n"
    } else {
        let mut text = String::new();
        for (_, title, counts) in &forests {
            let _ = writeln!(text, "{title}: {} nodes", counts.len());
            for (path, count) in counts {
                let (indent, last) = (2 * path.len(), path.last().copied().unwrap_or_default());
                let _ = writeln!(text, "{:indent$}{last}  {count}", "");
            }
        }
        let _ = writeln!(text, "{} paths, {} chunks", statistics.items, statistics.chunks);
        text
    };
    super::super::print(text, ExitCode::SUCCESS)
}

/// `2-0-0-2`
fn spelled(path: &[PathNumber]) -> String {
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join("-")
}

/// Definition 3: the prefix forest of all prefixes of the first two chunks of an invocation, and of those from k on of any two chunks that follow each
/// other. A node counts how often its sequence is in that list.
fn definition(k: usize, invocations: &[&[PathNumber]]) -> Counts {
    let mut counts = Counts::new();
    for invocation in invocations {
        let chunks: Vec<&[PathNumber]> = invocation.chunks(k - 1).collect();
        for at in 0..chunks.len() {
            let two = [chunks[at], chunks.get(at + 1).copied().unwrap_or_default()].concat();
            let least = if at == 0 { 1 } else { k };
            for length in least..=two.len() {
                *counts.entry(two[..length].to_vec()).or_default() += 1;
                // The way to it is part of the forest, and counts nothing by that.
                (1..length).for_each(|above| _ = counts.entry(two[..above].to_vec()).or_default());
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_profilers::kblpp::K;

    #[test]
    fn forests_are_those_of_the_definition_but_for_the_last_chunks() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        for _ in 0..200 {
            let k = 2 + (next() % 5) as u32;
            let invocations: Vec<Vec<u64>> =
                (0..1 + next() % 3).map(|_| (0..next() % 20).map(|_| next() % 3).collect()).collect();
            let mut forest = Forest::new(K::new(k).expect("in range"));
            for invocation in &invocations {
                forest.extend(&mut Activation::default(), VersionId(0), invocation);
            }
            let invocations: Vec<&[u64]> = invocations.iter().map(Vec::as_slice).collect();
            let defined = definition(k as usize, &invocations);
            let made: Counts = forest.slabs().into_iter().map(|gram| (gram.paths, gram.count)).collect();
            assert!(defined.iter().all(|(path, count)| made.get(path) == Some(count)), "{k} {invocations:?}");
            let more = made.iter().filter(|(path, _)| !defined.contains_key(*path));
            assert!(more.into_iter().all(|(path, &count)| count == 0 && path.len() < k as usize));
        }
    }
}
