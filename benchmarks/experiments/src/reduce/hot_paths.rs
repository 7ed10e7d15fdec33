//! A profile that counts paths and samples them as its hottest paths, by the source lines that they go through.
//!
//! | name | what |
//! |---|---|
//! | `exact.RANK FILE METHOD LINES` | of a hottest path: its share of the flow as it was counted. Lines stand in the order in which it goes through them, with hyphens between |
//! | `sampled.RANK` | the share of the same path among the samples |

use super::lacks;
use crate::cell::Outcome;
use serde_json::Value;
use std::collections::BTreeMap;

/// So many are kept.
const HOTTEST: usize = 5;

/// A path, whatever piece of code it was counted in: where it begins and its branches with their outcomes.
type Path = String;

/// A path that was executed.
pub struct HotPath {
    /// Its share of the flow, exactly and among samples, 0 to 1.
    pub shares: [f64; 2],
    /// The file.
    pub file: String,
    /// The method in which it begins.
    pub method: String,
    /// The lines of the file that it goes through, in this order.
    pub lines: Vec<u32>,
}

pub(super) fn reduce(value: &Value) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    let paths = value["paths"].as_array().ok_or_else(lacks("paths"))?;
    let key = |of: &Value| Some((of["version"].as_u64()?, of["number"].as_u64()?));
    let by_key: BTreeMap<(u64, u64), &Value> =
        paths.iter().filter_map(|path| Some((key(path)?, path))).collect();
    let flows = |rows: &Value, what: &str| -> Result<BTreeMap<Path, (f64, &Value)>, String> {
        let mut flows: BTreeMap<Path, (f64, &Value)> = BTreeMap::new();
        for row in rows.as_array().ok_or_else(lacks(what))? {
            let known = key(row).and_then(|key| by_key.get(&key));
            let (Some(&path), Some(count)) = (known, row["count"].as_f64()) else { continue };
            let name = format!("{} {} {}", path["begin"], path["begins"], path["branches"]);
            flows.entry(name).or_insert((0.0, path)).0 += count * path["length"].as_f64().unwrap_or(0.0);
        }
        Ok(flows)
    };
    let (exact, sampled) =
        (flows(&value["exact"], "counted paths")?, flows(&value["sampled"]["paths"], "sampled paths")?);
    let sum = |flows: &BTreeMap<Path, (f64, &Value)>| flows.values().map(|of| of.0).sum::<f64>().max(1.0);
    let (all_exact, all_sampled) = (sum(&exact), sum(&sampled));
    let mut hottest: Vec<(&Path, &(f64, &Value))> = exact.iter().filter(|of| of.1.0 > 0.0).collect();
    hottest.sort_by(|one, other| other.1.0.total_cmp(&one.1.0));
    let placed = hottest.iter().filter_map(|(name, (flow, path))| Some((*name, flow, place(value, path)?)));
    for (rank, (name, flow, [file, method, lines])) in (1..).zip(placed.take(HOTTEST)) {
        outcome.numbers.insert(format!("exact.{rank} {file} {method} {lines}"), flow / all_exact);
        let seen = sampled.get(name).map_or(0.0, |of| of.0 / all_sampled);
        outcome.numbers.insert(format!("sampled.{rank}"), seen);
    }
    if outcome.numbers.is_empty() { Err(lacks("paths with branches")()) } else { Ok(outcome) }
}

/// File, method and lines of a path. Branches of inlined methods that are in other files are left out, and what has no line: the beginning
/// of a closure.
fn place(value: &Value, path: &Value) -> Option<[String; 3]> {
    let begin = &path["begin"];
    let file = begin["file"].as_u64()?;
    let mut lines = vec![begin["line"].as_u64()?];
    for branch in path["branches"].as_array()? {
        let branch = &value["branches"][branch[0].as_u64()? as usize];
        if branch["file"].as_u64()? == file {
            lines.push(branch["line"].as_u64()?);
        }
    }
    let end = &path["end"];
    // Where a path is cut, another one begins.
    if path["ends"] == "exit" && end["file"].as_u64()? == file {
        lines.push(end["line"].as_u64()?);
    }
    lines.retain(|&line| line > 0);
    lines.dedup();
    if lines.is_empty() {
        return None;
    }
    let method =
        value["methods"].as_array()?.iter().find(|of| of["id"] == begin["method"])?["name"].as_str()?;
    let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
    let file = value["program"]["files"][file as usize].as_str()?;
    // Names of instances of generic methods may have blanks.
    Some([file.into(), method.replace(' ', ""), lines.join("-")])
}

/// The paths that an outcome tells, the hottest first.
pub fn told(outcome: &Outcome) -> Vec<HotPath> {
    let path = |rank: usize| {
        let start = format!("exact.{rank} ");
        let (name, &exact) = outcome.numbers.iter().find(|of| of.0.starts_with(&start))?;
        let [file, method, lines] = name[start.len()..].split(' ').collect::<Vec<_>>().try_into().ok()?;
        let sampled = *outcome.numbers.get(&format!("sampled.{rank}"))?;
        let lines = lines.split('-').map(|line| line.parse().ok()).collect::<Option<Vec<u32>>>()?;
        Some(HotPath { shares: [exact, sampled], file: file.into(), method: method.into(), lines })
    };
    (1..=HOTTEST).map_while(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_of_several_versions_are_one_and_weigh_as_their_branches() {
        let at = |method: u64, file: u64, line: u64| json!({"method": method, "position": line, "file": file, "line": line});
        let path = |version: u64, number: u64, branches: Value, ends: &str| {
            let length = branches.as_array().map_or(0, Vec::len);
            json!({"version": version, "number": number, "begin": at(7, 0, 10), "begins": "cut",
                "end": at(7, 0, 19), "ends": ends, "branches": branches, "length": length})
        };
        let row = |version: u64, number: u64, count: u64| json!({"version": version, "number": number, "count": count});
        let branches = [(0, 10), (0, 12), (1, 3)].map(|(file, line)| json!({"file": file, "line": line}));
        let value = json!({
            "program": {"files": ["a.hol", "b.hol"]},
            "methods": [{"id": 7, "name": "Map<Int, Int>.find"}],
            "branches": branches,
            "paths": [
                path(0, 0, json!([[0, 0], [1, 1]]), "exit"),
                path(1, 4, json!([[0, 0], [1, 1]]), "exit"),
                path(0, 1, json!([[0, 0], [2, 1], [1, 0], [0, 1]]), "cut"),
                path(0, 2, json!([]), "exit"),
                json!({"version": 0, "number": 3, "begin": at(7, 0, 0), "begins": "entry", "end": at(7, 1, 3), "ends": "exit",
                    "branches": [[2, 0]], "length": 1}),
            ],
            "exact": [row(0, 0, 10), row(1, 4, 20), row(0, 1, 5), row(0, 2, 1000), row(0, 3, 20)],
            "sampled": {"paths": [row(0, 0, 3), row(0, 1, 1)]},
        });
        let found = told(&reduce(&value).expect("a profile"));
        let seen: Vec<_> =
            found.iter().map(|of| (of.shares, &*of.file, &*of.method, of.lines.clone())).collect();
        let name = "Map<Int,Int>.find";
        assert_eq!(
            seen,
            [([0.6, 0.6], "a.hol", name, vec![10, 12, 19]), ([0.2, 0.4], "a.hol", name, vec![10, 12, 10]),]
        );
        assert!(reduce(&json!({"paths": [], "exact": [], "sampled": {"paths": []}})).is_err());
    }
}
