//! A profile with subpaths as numbers: how many there are, what a sample took and has left, and the hottest ones by the source lines at which
//! their blocks begin.

use super::lacks;
use crate::cell::Outcome;
use serde_json::Value;

/// Lines are kept of so many of the hottest subpaths.
const HOTTEST: usize = 20;

/// Subpaths up to this length are kept by their lines.
const NAMED: usize = 8;

pub(super) fn reduce(value: &Value) -> Result<Outcome, String> {
    let found = &value["subpaths"];
    let (exact, sampled) = (&found["exact"], &found["sampled"]);
    if exact.is_null() && sampled.is_null() {
        return Err(lacks("subpaths")());
    }
    let mut outcome = Outcome::default();
    let lines = |path: &Value| -> Option<Vec<f64>> {
        let blocks = path["blocks"].as_array()?;
        blocks.iter().map(|at| found["blocks"][at.as_u64()? as usize]["line"].as_f64()).collect()
    };
    if !exact.is_null() {
        put_exact(exact, &mut outcome)?;
        for path in list(exact, "paths") {
            put_named("run", lines(path), path["count"].as_f64(), &mut outcome);
        }
    }
    if !sampled.is_null() {
        put_sampled(sampled, &mut outcome)?;
        for path in list(sampled, "paths") {
            put_named("samples", lines(path), path["count"].as_f64(), &mut outcome);
        }
        // The largest estimates come first.
        for (rank, path) in (1..).zip(list(sampled, "paths").iter().take(HOTTEST)) {
            let lines = lines(path).unwrap_or_default();
            outcome.samples.insert(format!("hottest.{rank}"), lines);
        }
    }
    Ok(outcome)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn member(of: &Value, key: &str) -> Result<f64, String> {
    of[key].as_f64().ok_or_else(lacks(key))
}

fn sum(all: impl Iterator<Item = Option<f64>>) -> f64 {
    all.flatten().sum()
}

/// A number under the lines of a short subpath: `run.12-13`. Subpaths at the same lines are added up.
fn put_named(what: &str, lines: Option<Vec<f64>>, count: Option<f64>, outcome: &mut Outcome) {
    let (Some(lines), Some(count)) = (lines, count) else { return };
    if lines.len() <= NAMED {
        *outcome.numbers.entry(format!("{what}.{}", name(&lines))).or_default() += count;
    }
}

/// Lines as text.
pub(crate) fn name(lines: &[f64]) -> String {
    lines.iter().map(|line| format!("{line:.0}")).collect::<Vec<_>>().join("-")
}

fn put_exact(exact: &Value, outcome: &mut Outcome) -> Result<(), String> {
    let lengths = list(exact, "lengths");
    let blocks = member(exact, "blocks")?;
    let mut put = |name: &str, number: f64| outcome.numbers.insert(format!("exact.{name}"), number);
    put("blocks", blocks);
    put("distinct", member(exact, "distinct")?);
    put("subpaths", sum(lengths.iter().map(|of| of[1].as_f64())));
    put("longest", lengths.iter().filter_map(|of| of[0].as_f64()).fold(0.0, f64::max));
    // What a thread with so many blocks runs: B - length + 1 of each length.
    let threads: Vec<f64> = list(exact, "threads").iter().filter_map(Value::as_f64).collect();
    if threads.iter().sum::<f64>() != blocks {
        return Err(lacks("threads that executed all blocks")());
    }
    let formula = |blocks: f64| sum(lengths.iter().map(|of| Some((blocks - of[0].as_f64()? + 1.0).max(0.0))));
    put("threads", threads.len() as f64);
    put("formula", threads.iter().map(|&blocks| formula(blocks)).sum());
    put("formula.together", formula(blocks));
    for of in list(exact, "encodings") {
        let encoding = of["encoding"].as_str().ok_or_else(lacks("encoding"))?.to_lowercase();
        let flow = Some(member(of, "flow")?).filter(|&flow| flow > 0.0).ok_or_else(lacks("flow above 0"))?;
        put(&format!("{encoding}.merged"), member(of, "merged_flow")? / flow);
        put(&format!("{encoding}.falsely"), member(of, "false_flow")? / flow);
        put(&format!("{encoding}.classes"), member(of, "classes")?);
    }
    Ok(())
}

fn put_sampled(sampled: &Value, outcome: &mut Outcome) -> Result<(), String> {
    let paths = list(sampled, "paths");
    let mut put = |name: &str, number: f64| outcome.numbers.insert(format!("sample.{name}"), number);
    for key in ["rate", "threshold", "blocks", "taken", "thinnings", "bytes", "entries", "threads"] {
        put(key, member(sampled, key)?);
    }
    let counts = || paths.iter().map(|path| path["count"].as_f64());
    put("left", sum(counts()));
    put("distinct", paths.len() as f64);
    put("most", counts().flatten().fold(0.0, f64::max));
    let described = paths.iter().filter(|path| path["blocks"].is_array()).count();
    put("described", described as f64);
    let lengths = list(sampled, "lengths");
    let prior = |of: &Value| of["prior"].as_f64();
    // The paper's priors do not sum to 1, lengths are drawn by their parts of the sum.
    let priors = sum(lengths.iter().map(prior));
    if priors <= 0.0 {
        return Err(lacks("priors of lengths")());
    }
    put("mean_length", sum(lengths.iter().map(|of| Some(of["length"].as_f64()? * prior(of)?))) / priors);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subpaths_are_named_by_their_lines() {
        let text = r#"{"subpaths": {
            "blocks": [{"line": 7}, {"line": 9}],
            "exact": {"blocks": 8, "threads": [5, 3], "distinct": 3, "lengths": [[2, 6], [4, 2]],
                "encodings": [{"encoding": "Xor", "classes": 2, "merged_flow": 3, "false_flow": 1, "flow": 4}],
                "paths": [{"blocks": [0, 1], "count": 2}, {"blocks": [1, 0], "count": 1}]},
            "sampled": {"rate": 10, "threshold": 1, "blocks": 50, "taken": 4, "thinnings": 0, "bytes": 64, "entries": 2, "threads": 1,
                "lengths": [{"length": 2, "prior": 0.6}, {"length": 4, "prior": 0.2}],
                "paths": [{"blocks": [0, 1], "count": 2}, {"blocks": null, "count": 1}]}}}"#;
        let outcome = reduce(&serde_json::from_str(text).expect("it is JSON")).expect("subpaths");
        let number = |name: &str| outcome.numbers[name];
        assert_eq!((number("exact.subpaths"), number("exact.formula")), (8.0, 8.0));
        // As if they were one thread.
        assert_eq!((number("exact.threads"), number("exact.formula.together")), (2.0, 7.0 + 5.0));
        assert_eq!((number("run.7-9"), number("run.9-7"), number("samples.7-9")), (2.0, 1.0, 2.0));
        assert_eq!(number("exact.xor.classes"), 2.0);
        assert_eq!((number("exact.xor.merged"), number("exact.xor.falsely")), (0.75, 0.25));
        assert_eq!((number("sample.left"), number("sample.distinct")), (3.0, 2.0));
        assert_eq!((number("sample.described"), number("sample.mean_length")), (1.0, 2.5));
        assert_eq!(outcome.samples["hottest.1"], [7.0, 9.0]);
        assert!(outcome.samples["hottest.2"].is_empty());
        let renamed = text.replace("false_flow", "wrong_flow");
        let error = reduce(&serde_json::from_str(&renamed).expect("it is JSON")).expect_err("a number lacks");
        assert_eq!(error, "its output has no false_flow");
    }
}
