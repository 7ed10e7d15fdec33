//! A profile with a k-iteration forest, of which the sequences themselves are kept, and where in the source their paths are.
//!
//! | name | what |
//! |---|---|
//! | `k`, `items` | of the forest |
//! | `trees.V.2-0-0` | how often the version with the number V executed this sequence |
//! | `paths.V.2` | a list: file and line where a path begins, of each branch on it, and where it ends |
//! | `files.NAME` | the number of a file in these lists |
//!
//! Left out are all but the [`ROOTS`] most frequent trees, and sequences with less than [`LEAST`] of their root or of what they continue, as in
//! figure 6 of D'Elia and Demetrescu 2013.

use super::lacks;
use crate::cell::Outcome;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const ROOTS: usize = 64;
const LEAST: f64 = 0.0001;

pub fn reduce(value: &Value) -> Result<Outcome, String> {
    let iterated = &value["iterated"];
    let mut outcome = Outcome::default();
    let k = iterated["k"].as_f64().ok_or_else(lacks("forest"))?;
    outcome.numbers.insert("k".into(), k);
    outcome.numbers.extend(iterated["statistics"]["items"].as_f64().map(|items| ("items".into(), items)));
    let trie = trie(iterated)?;
    let mut roots: Vec<(u64, &Vec<u64>)> =
        trie.iter().filter(|(key, _)| key.len() == 2).map(|(key, &count)| (count, key)).collect();
    roots.sort_by(|a, b| b.cmp(a));
    let roots: BTreeSet<&[u64]> = roots.iter().take(ROOTS).map(|(_, key)| key.as_slice()).collect();
    let mut kept: BTreeSet<&[u64]> = BTreeSet::new();
    let mut used: BTreeSet<(u64, u64)> = BTreeSet::new();
    // What a sequence continues comes before it.
    for (key, &count) in trie.iter().filter(|(key, _)| roots.contains(&key[..2])) {
        let above = &key[..key.len() - 1];
        let share = |of: &[u64]| trie.get(of).is_some_and(|&of| count as f64 >= of as f64 * LEAST);
        if key.len() > 2 && !(kept.contains(above) && share(above) && share(&key[..2])) {
            continue;
        }
        kept.insert(key);
        used.insert((key[0], key[key.len() - 1]));
        let path: Vec<String> = key[1..].iter().map(u64::to_string).collect();
        outcome.numbers.insert(format!("trees.{}.{}", key[0], path.join("-")), count as f64);
    }
    places(value, &used, &mut outcome);
    Ok(outcome)
}

/// How often each sequence was executed: a version and the numbers of its paths.
pub fn trie(iterated: &Value) -> Result<BTreeMap<Vec<u64>, u64>, String> {
    let key = |(version, numbers): (u64, Vec<u64>)| std::iter::once(version).chain(numbers).collect();
    Ok(counts(iterated)?.into_iter().map(|(of, count)| (key(of), count)).collect())
}

/// The same, by version and paths.
pub fn counts(of: &Value) -> Result<BTreeMap<(u64, Vec<u64>), u64>, String> {
    let mut counts = BTreeMap::new();
    for sequence in of["sequences"].as_array().ok_or_else(lacks("sequences"))? {
        let numbers = sequence["numbers"].as_array().ok_or_else(lacks("numbers"))?;
        let version = sequence["version"].as_u64().ok_or_else(lacks("version"))?;
        let key = (version, numbers.iter().filter_map(Value::as_u64).collect());
        *counts.entry(key).or_default() += sequence["count"].as_u64().ok_or_else(lacks("count"))?;
    }
    Ok(counts)
}

/// The lines of the paths in use, and the names of their files.
fn places(value: &Value, used: &BTreeSet<(u64, u64)>, outcome: &mut Outcome) {
    let place = |of: &Value| [of["file"].as_f64().unwrap_or(-1.0), of["line"].as_f64().unwrap_or(0.0)];
    for path in value["paths"].as_array().into_iter().flatten() {
        let (Some(version), Some(number)) = (path["version"].as_u64(), path["number"].as_u64()) else {
            continue;
        };
        if !used.contains(&(version, number)) {
            continue;
        }
        let branches = path["branches"].as_array().into_iter().flatten();
        let branches = branches.filter_map(|arm| Some(place(&value["branches"][arm[0].as_u64()? as usize])));
        let places = [place(&path["begin"])].into_iter().chain(branches).chain([place(&path["end"])]);
        outcome.samples.insert(format!("paths.{version}.{number}"), places.flatten().collect());
    }
    for (number, name) in value["program"]["files"].as_array().into_iter().flatten().enumerate() {
        outcome.numbers.extend(name.as_str().map(|name| (format!("files.{name}"), number as f64)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sequences_and_the_lines_of_their_paths_are_kept() {
        let sequence =
            |numbers: &[u64], count: u64| json!({"version": 3, "numbers": numbers, "count": count});
        let value = json!({
            "program": {"files": ["a.hol", "b.hol"]},
            "branches": [{"file": 1, "line": 9, "arms": 2}],
            "paths": [
                {"version": 3, "number": 7, "begin": {"file": 0, "line": 4}, "end": {"file": 0, "line": 5}, "branches": [[0, 1]]},
                {"version": 3, "number": 8, "begin": {"file": 0, "line": 4}, "end": {"file": 0, "line": 5}, "branches": []},
            ],
            "iterated": {"k": 3, "statistics": {"items": 20_001}, "sequences": [
                sequence(&[7], 20_000), sequence(&[7, 7], 2), sequence(&[7, 8], 1), sequence(&[7, 8, 7], 1),
            ]},
        });
        let outcome = reduce(&value).expect("a forest");
        let mut trees = outcome.numbers.keys().filter_map(|name| name.strip_prefix("trees."));
        assert_eq!((trees.next(), trees.next(), trees.next()), (Some("3.7"), Some("3.7-7"), None));
        assert_eq!(outcome.samples["paths.3.7"], [0.0, 4.0, 1.0, 9.0, 0.0, 5.0]);
        assert_eq!((outcome.samples.len(), outcome.numbers["files.b.hol"]), (1, 1.0));
    }
}
