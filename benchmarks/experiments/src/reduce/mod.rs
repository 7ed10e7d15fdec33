//! From what a command printed to the numbers that are kept.

pub(crate) mod hot_paths;
mod levels;
mod overhead;
mod sequences;
mod subpaths;
mod windows;

pub(crate) use subpaths::name as line_names;

use crate::cell::Outcome;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What is made of the output of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// JSON: each number is called by its way through the objects, with dots; lists of numbers are samples.
    Numbers,
    /// `overhead --json` of one program.
    Overhead,
    /// `accuracy --json` of one program: the figures of each profiler.
    Calls,
    /// `bench --json` of one program: the time of each iteration.
    Times,
    /// `bench --stats=json` of one program, which is on standard error.
    Statistics,
    /// A profile with a k-iteration forest.
    Forest,
    /// A profile with a k-iteration forest, of which the sequences are kept.
    Sequences,
    /// A profile with subpaths.
    Subpaths,
    /// A profile of branch traces.
    Traces,
    /// A profile of paths by three profilers together.
    Windows,
    /// A profile of paths that are counted and sampled, of which the hottest are kept.
    HotPaths,
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reduction::Numbers => "numbers",
            Reduction::Overhead => "overhead",
            Reduction::Calls => "calls",
            Reduction::Times => "times",
            Reduction::Statistics => "statistics",
            Reduction::Forest => "forest",
            Reduction::Sequences => "sequences",
            Reduction::Subpaths => "subpaths",
            Reduction::Traces => "traces",
            Reduction::Windows => "windows",
            Reduction::HotPaths => "hot paths",
        })
    }
}

/// What the commands of a cell left behind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Output {
    /// The file of the result, or what the last command printed.
    pub result: String,
    /// What it printed on standard error.
    pub errors: String,
}

impl Reduction {
    /// The numbers, or what is wrong with the output.
    pub fn reduce(self, output: &Output) -> Result<Outcome, String> {
        let text = match self {
            Reduction::Statistics => output.errors.find('{').map_or("", |at| &output.errors[at..]),
            _ => &output.result,
        };
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("its output is not JSON: {error}"))?;
        match self {
            Reduction::Numbers => {
                let mut outcome = Outcome::default();
                flatten("", &value, &mut outcome);
                Ok(outcome)
            }
            Reduction::Statistics => statistics(&value),
            Reduction::Overhead => overhead::reduce(&value),
            Reduction::Calls => calls(&value),
            Reduction::Times => times(&value),
            Reduction::Forest => forest(&value),
            Reduction::Sequences => sequences::reduce(&value),
            Reduction::Subpaths => subpaths::reduce(&value),
            Reduction::Traces => traces(&value),
            Reduction::Windows => windows::reduce(&value),
            Reduction::HotPaths => hot_paths::reduce(&value),
        }
    }
}

fn flatten(name: &str, value: &Value, outcome: &mut Outcome) {
    let below = |key: &str| if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
    match value {
        Value::Number(number) => {
            outcome.numbers.extend(number.as_f64().map(|number| (name.to_string(), number)));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| flatten(&below(key), value, outcome))
        }
        Value::Array(items) if items.iter().all(Value::is_number) => {
            outcome.samples.insert(name.to_string(), items.iter().filter_map(Value::as_f64).collect());
        }
        _ => {}
    }
}

/// Digests, of machine code and of the numbers of paths, are kept as two numbers each: one of 64 bits would not be exact.
fn statistics(value: &Value) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    flatten("", value, &mut outcome);
    for name in ["code_digest", "path_digest"] {
        let digest = value[name].as_str().and_then(|text| u64::from_str_radix(text, 16).ok());
        if let Some(digest) = digest {
            let halves = [("high", digest >> 32), ("low", digest & 0xffff_ffff)];
            outcome.numbers.extend(halves.map(|(part, half)| (format!("{name}.{part}"), half as f64)));
        }
    }
    Ok(outcome)
}

fn lacks(what: &str) -> impl FnOnce() -> String + '_ {
    move || format!("its output has no {what}")
}

/// The only program of a file of results.
fn program(value: &Value) -> Result<&Value, String> {
    value["programs"].get(0).ok_or_else(lacks("program"))
}

fn calls(value: &Value) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for figure in value["figures"].as_array().ok_or_else(lacks("figures"))? {
        let profiler = figure["profiler"].as_str().ok_or_else(lacks("profiler"))?;
        flatten(profiler, figure, &mut outcome);
    }
    if outcome.numbers.is_empty() { Err(lacks("figures")()) } else { Ok(outcome) }
}

fn times(value: &Value) -> Result<Outcome, String> {
    let program = program(value)?;
    if program["verified"] != true {
        return Err(format!("its result was not right: {}", program["reason"]));
    }
    let mut outcome = Outcome::default();
    flatten("", program, &mut outcome);
    Ok(outcome)
}

/// What is said of all traces together, and how many different pieces of methods they show.
fn traces(value: &Value) -> Result<Outcome, String> {
    let pieces = value["traces"]["runs"].as_array().ok_or_else(lacks("branch traces"))?;
    let mut outcome = Outcome::default();
    outcome.numbers.insert("pieces".into(), pieces.len() as f64);
    flatten("", &value["traces"], &mut outcome);
    Ok(outcome)
}

/// The shape of a forest: how many nodes it has on each level, how many roots, children and leaves; how many different paths of one
/// iteration the stream had, and how many of them begin where a method is entered.
fn forest(value: &Value) -> Result<Outcome, String> {
    let iterated = &value["iterated"];
    let mut outcome = Outcome::default();
    flatten("", &iterated["statistics"], &mut outcome);
    let k = iterated["k"].as_u64().ok_or_else(lacks("forest"))?;
    outcome.numbers.insert("k".into(), k as f64);
    let trie = sequences::trie(iterated)?;
    let mut children: BTreeMap<&[u64], u64> = BTreeMap::new();
    for key in trie.keys().filter(|key| key.len() > 2) {
        *children.entry(&key[..key.len() - 1]).or_default() += 1;
    }
    let leaves = trie.keys().filter(|key| !children.contains_key(key.as_slice()));
    let (mut count, mut depth) = (0.0, 0.0);
    for leaf in leaves {
        count += 1.0;
        depth += (leaf.len() - 1) as f64;
    }
    let roots: BTreeMap<(u64, u64), u64> = trie
        .iter()
        .filter(|(key, _)| key.len() == 2)
        .map(|(key, &count)| ((key[0], key[1]), count))
        .collect();
    let is_cold = |key: &[u64], count: u64| levels::is_below(&trie, key, count, levels::COLD);
    let begins = value["paths"].as_array().into_iter().flatten().filter(|path| path["begins"] == "entry");
    let entries: BTreeSet<(u64, u64)> =
        begins.filter_map(|path| Some((path["version"].as_u64()?, path["number"].as_u64()?))).collect();
    let cold = trie.iter().filter(|(key, count)| is_cold(key, **count));
    let deepest = || trie.iter().filter(|(key, _)| (key.len() - 1) as u64 == k);
    let mut put = |name: &str, number: f64| outcome.numbers.insert(name.into(), number);
    put("forest.nodes", trie.len() as f64);
    put("forest.roots", roots.len() as f64);
    put("forest.internal", children.len() as f64);
    put("forest.degree", children.values().sum::<u64>() as f64 / children.len().max(1) as f64);
    put("forest.leaves", count);
    put("forest.leaf_depth", depth / count.max(1.0));
    put("forest.entries", roots.keys().filter(|root| entries.contains(root)).count() as f64);
    put("forest.cold", cold.count() as f64);
    put("forest.deepest", deepest().count() as f64);
    put("forest.deepest_cold", deepest().filter(|(key, count)| is_cold(key, **count)).count() as f64);
    levels::put(&trie, k as usize, &mut outcome);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduce(how: Reduction, result: &str) -> Result<Outcome, String> {
        how.reduce(&Output { result: result.into(), errors: String::new() })
    }

    #[test]
    fn numbers_are_named_by_their_way() {
        let outcome =
            reduce(Reduction::Numbers, r#"{"a": {"b": 1.5, "c": "x"}, "d": [1, 2], "e": [{"f": 1}]}"#);
        let outcome = outcome.expect("it is JSON");
        assert_eq!(outcome.numbers, BTreeMap::from([("a.b".into(), 1.5)]));
        assert_eq!(outcome.samples, BTreeMap::from([("d".into(), vec![1.0, 2.0])]));
    }

    #[test]
    fn what_is_no_result_is_an_error() {
        for how in [
            Reduction::Overhead,
            Reduction::Calls,
            Reduction::Times,
            Reduction::Forest,
            Reduction::Sequences,
            Reduction::Subpaths,
            Reduction::Traces,
            Reduction::Windows,
        ] {
            assert!(reduce(how, "{}").is_err(), "{how}");
            assert!(reduce(how, "{").is_err_and(|why| why.contains("not JSON")), "{how}");
        }
        let wrong = r#"{"programs": [{"verified": false, "reason": "it failed", "samples_ns": []}]}"#;
        assert!(reduce(Reduction::Times, wrong).is_err_and(|why| why.contains("it failed")));
    }

    #[test]
    fn statistics_stand_behind_the_name_of_the_program() {
        let errors = "sieve:\n{\"ticks\": 3, \"code_digest\": \"00000001ffffffff\"}\n";
        let output = Output { result: String::new(), errors: errors.into() };
        let outcome = Reduction::Statistics.reduce(&output).expect("it is JSON");
        assert_eq!(outcome.numbers["ticks"], 3.0);
        assert_eq!(outcome.numbers["code_digest.high"], 1.0);
        assert_eq!(outcome.numbers["code_digest.low"], f64::from(u32::MAX));
    }

    #[test]
    fn pieces_of_traces_are_counted() {
        let text = r#"{"traces": {"samples": 9, "crossings": {"0": 2, "3": 1}, "runs": [{"count": 4}, {"count": 5}]}}"#;
        let outcome = reduce(Reduction::Traces, text).expect("traces");
        assert_eq!((outcome.numbers["pieces"], outcome.numbers["samples"]), (2.0, 9.0));
        assert_eq!((outcome.numbers["crossings.0"], outcome.numbers["crossings.3"]), (2.0, 1.0));
    }

    #[test]
    fn the_shape_of_a_forest_is_counted() {
        let sequence = |numbers: &str, count: u64| {
            format!(r#"{{"version": 0, "numbers": {numbers}, "count": {count}}}"#)
        };
        let text = format!(
            r#"{{"paths": [{{"version": 0, "number": 2, "begins": "entry"}}], "iterated": {{"k": 2, "statistics": {{"items": 9}}, "sequences": [{}]}}}}"#,
            [sequence("[1]", 20_001), sequence("[1, 2]", 20_000), sequence("[1, 3]", 1), sequence("[2]", 1)]
                .join(",")
        );
        let outcome = reduce(Reduction::Forest, &text).expect("a forest");
        let number = |name: &str| outcome.numbers[name];
        assert_eq!(
            (number("forest.nodes"), number("forest.roots"), number("forest.internal")),
            (4.0, 2.0, 1.0)
        );
        assert_eq!(number("forest.entries"), 1.0);
        assert_eq!((number("forest.degree"), number("forest.leaves")), (2.0, 3.0));
        assert_eq!((number("forest.leaf_depth"), number("forest.cold")), (5.0 / 3.0, 1.0));
        assert_eq!((number("forest.deepest"), number("forest.deepest_cold")), (2.0, 1.0));
    }
}
