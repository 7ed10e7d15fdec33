//! A profile of one run by three profilers that share a numbering of paths: `blpp`, which counts paths, `kblpp`, which grows a forest, and `kroy`, which
//! counts windows. What each needed, and whether they agree.
//!
//! | name | what |
//! |---|---|
//! | `paths` | paths that were run, by `blpp` |
//! | `paths.entries`, `paths.operations` | different ones, and operations on their hash tables |
//! | `windows.paths` | the same of code that is not refused |
//! | `forest.*`, `windows.*` | the statistics of the two |
//! | `forest.sequences`, `windows.sequences` | different sequences that they tell: in windows, all that these end with |
//! | `windows.refused` | pieces of code whose windows do not fit a word, of `numbered` ones |
//! | `beyond` | pieces of code that have more than [`LIMIT`] paths over k iterations |
//! | `compared`, `different` | sequences of up to k paths, and those of which two profilers say different counts |
//! | `crossing` | sequences that go on where an activation ends, or have its beginning inside |

use super::{flatten, lacks, sequences};
use crate::cell::Outcome;
use crate::papers;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A version, and paths of it.
type Key = (u64, Vec<u64>);
type Counts = BTreeMap<Key, u64>;

/// With more paths over k iterations in a method the paper's competitor gives up.
const LIMIT: &str = "kblpp.table1.related.roy_abort_paths";

pub fn reduce(value: &Value) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    let (forest, windows) = (sequences::counts(&value["iterated"])?, sequences::counts(&value["windowed"])?);
    let exact = exact(value)?;
    let k = value["windowed"]["k"].as_u64().ok_or_else(lacks("k"))?;
    let deepest = value["iterated"]["k"].as_u64().ok_or_else(lacks("k"))?.min(k) as usize;
    flatten("forest", &value["iterated"]["statistics"], &mut outcome);
    flatten("windows", &value["windowed"]["statistics"], &mut outcome);
    let refused: BTreeSet<u64> =
        value["windowed"]["refused"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let versions = value["versions"].as_array().into_iter().flatten();
    let numbered: Vec<u64> =
        versions.filter_map(|version| version["paths"].as_u64()).filter(|&paths| paths > 0).collect();
    let limit = papers::number(LIMIT) as u64;
    let beyond = numbered.iter().filter(|&&paths| paths.saturating_pow(k as u32) > limit).count();
    let by_windows = ends(&windows);
    let told = by_windows.len();
    let is_numbered = |key: &Key| !refused.contains(&key.0);
    let by_forest: Counts = forest
        .iter()
        .filter(|(key, _)| is_numbered(key) && key.1.len() <= deepest)
        .map(|(key, &count)| (key.clone(), count))
        .collect();
    let singles = |counts: &Counts| -> Counts {
        counts.iter().filter(|(key, _)| key.1.len() == 1).map(|(key, &count)| (key.clone(), count)).collect()
    };
    let by_windows_short: Counts = by_windows.into_iter().filter(|(key, _)| key.1.len() <= deepest).collect();
    let exact_numbered: Counts =
        exact.iter().filter(|(key, _)| is_numbered(key)).map(|(key, &count)| (key.clone(), count)).collect();
    // The forest's single paths are there of all code, those of windows only where there are numbers.
    let pairs = [
        (&by_windows_short, &by_forest),
        (&singles(&by_windows_short), &exact_numbered),
        (&singles(&forest), &exact),
    ];
    let (compared, different) = pairs.iter().fold((0, 0), |(compared, different), (one, other)| {
        let keys: BTreeSet<&Key> = one.keys().chain(other.keys()).collect();
        let wrong = keys.iter().filter(|key| one.get(**key) != other.get(**key)).count();
        (compared + keys.len(), different + wrong)
    });
    let way = |name: &str, word: &str| -> BTreeSet<(u64, u64)> {
        let paths = value["paths"].as_array().into_iter().flatten().filter(|path| path[name] == word);
        paths.filter_map(|path| Some((path["version"].as_u64()?, path["number"].as_u64()?))).collect()
    };
    let (entries, exits) = (way("begins", "entry"), way("ends", "exit"));
    let crosses = |(version, paths): &Key| {
        paths.windows(2).any(|of| exits.contains(&(*version, of[0])) || entries.contains(&(*version, of[1])))
    };
    let crossing = forest.keys().chain(windows.keys()).filter(|key| crosses(key)).count();
    let mut put = |name: &str, number: f64| outcome.numbers.insert(name.into(), number);
    put("paths", exact.values().sum::<u64>() as f64);
    put("windows.paths", exact_numbered.values().sum::<u64>() as f64);
    put("paths.entries", exact.len() as f64);
    put("paths.operations", value["work"]["hash_operations"].as_f64().ok_or_else(lacks("work"))?);
    put("forest.sequences", forest.len() as f64);
    put("windows.sequences", told as f64);
    put("windows.refused", refused.len() as f64);
    put("numbered", numbered.len() as f64);
    put("beyond", beyond as f64);
    put("compared", compared as f64);
    put("different", different as f64);
    put("crossing", crossing as f64);
    Ok(outcome)
}

fn exact(value: &Value) -> Result<Counts, String> {
    let mut counts = Counts::new();
    for row in value["exact"].as_array().ok_or_else(lacks("exact paths"))? {
        let number = |name: &str| row[name].as_u64().ok_or_else(|| format!("a path has no {name}"));
        counts.insert((number("version")?, vec![number("number")?]), number("count")?);
    }
    Ok(counts)
}

/// Every sequence that windows end with: it ran as often as they did.
fn ends(windows: &Counts) -> Counts {
    let mut counts = Counts::new();
    for ((version, paths), &count) in windows {
        for from in 0..paths.len() {
            *counts.entry((*version, paths[from..].to_vec())).or_default() += count;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sequence(numbers: &[u64], count: u64) -> Value {
        json!({"version": 0, "numbers": numbers, "count": count})
    }

    /// Paths 0, 1, 1 of one activation: with k=2, and what is refused of another version.
    fn value() -> Value {
        let path = |number: u64, begins: &str, ends: &str| json!({"version": 0, "number": number, "begins": begins, "ends": ends});
        let mut value = json!({
            "versions": [{"id": 0, "paths": 200}, {"id": 1, "paths": 3_000_000_000_u64}, {"id": 2, "paths": 0}],
            "paths": [path(0, "entry", "cut"), path(1, "cut", "exit")],
            "exact": [{"version": 0, "number": 0, "count": 1}, {"version": 0, "number": 1, "count": 2}, {"version": 1, "number": 9, "count": 4}],
            "work": {"hash_operations": 7, "hash_probes": 7},
            "iterated": {"k": 4, "statistics": {"items": 7, "chunks": 5}, "sequences": [
                sequence(&[0], 1), sequence(&[0, 1], 1), sequence(&[0, 1, 1], 1), sequence(&[1], 2), sequence(&[1, 1], 1)]},
            "windowed": {"k": 2, "statistics": {"entries": 3, "hash_operations": 3}, "refused": [1], "sequences": [
                sequence(&[0], 1), sequence(&[0, 1], 1), sequence(&[1, 1], 1)]},
        });
        let refused = json!({"version": 1, "numbers": [9], "count": 4});
        value["iterated"]["sequences"].as_array_mut().expect("a list").push(refused);
        value
    }

    #[test]
    fn profilers_agree_or_do_not() {
        let outcome = reduce(&value()).expect("three profilers");
        let number = |name: &str| outcome.numbers[name];
        assert_eq!((number("paths"), number("paths.entries"), number("paths.operations")), (7.0, 3.0, 7.0));
        assert_eq!(number("windows.paths"), 3.0);
        assert_eq!((number("forest.chunks"), number("windows.entries")), (5.0, 3.0));
        assert_eq!((number("forest.sequences"), number("windows.sequences")), (6.0, 4.0));
        // 200 paths are no more than 60,000 over two iterations only if that is at most 244.
        assert_eq!((number("numbered"), number("windows.refused"), number("beyond")), (2.0, 1.0, 1.0));
        assert_eq!((number("compared"), number("different")), (4.0 + 2.0 + 3.0, 0.0));
        // The path 1 ends an activation, and here it does not.
        assert_eq!(number("crossing"), 3.0);
        let mut wrong = value();
        wrong["windowed"]["sequences"][2]["count"] = json!(2);
        let outcome = reduce(&wrong).expect("three profilers");
        assert_eq!(outcome.numbers["different"], 3.0);
    }
}
