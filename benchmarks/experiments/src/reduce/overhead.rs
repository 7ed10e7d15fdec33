//! What is kept of `overhead --json`: each sample of each arm, the ratio of each round, and the counts. The ratio with its interval is
//! computed from the rounds where it is needed, so that several programs can be averaged.

use super::{flatten, lacks, program};
use crate::cell::Outcome;
use holloway_benchmarks::overhead::statistics::{Summary, round_ratios};
use serde_json::Value;

/// The arms, as the file calls them.
const ARMS: [&str; 3] = ["base", "profiled", "again"];

/// What an arm did, of what is added up over the rounds.
const SUMS: [&str; 6] = ["yieldpoints_taken", "ticks", "path_samples", "call_samples", "call_skips", "heard"];

/// What every machine does once, so that the mean over the rounds says it.
const MEANS: [&str; 3] = ["compilations", "compile_ns", "code_bytes"];

/// Reduces it.
pub fn reduce(value: &Value) -> Result<Outcome, String> {
    let program = program(value)?;
    if let Some(failure) = program["failure"].as_str() {
        return Err(failure.to_string());
    }
    let mut outcome = Outcome::default();
    flatten("counts", &program["counts"], &mut outcome);
    flatten("iterations", &program["iterations"], &mut outcome);
    flatten("cpu", &program["cpu"], &mut outcome);
    let rounds = program["rounds"].as_array().ok_or_else(lacks("rounds"))?;
    if rounds.is_empty() && !program["counts"].is_object() {
        return Err(lacks("rounds")());
    }
    let is_whole = value["options"]["whole_runs"].is_string();
    let mut put = |name: &str, number: f64| outcome.samples.entry(name.to_string()).or_default().push(number);
    for round in rounds {
        let arms = ARMS.map(|arm| numbers(&round[arm]["cpu_ns"]));
        let ticked = ARMS.map(|arm| flags(&round[arm]["ticked"]));
        let turns = arms[0].len();
        if turns == 0
            || arms.iter().any(|arm| arm.len() != turns)
            || ticked.iter().any(|arm| arm.len() != turns)
        {
            return Err("its rounds are not complete".into());
        }
        // Of whole runs the sums count, and a store need not have more.
        let (arms, ticked) = match is_whole {
            true => (arms.map(|times| vec![times.iter().sum()]), ARMS.map(|_| vec![false])),
            false => (arms, ticked),
        };
        let turns = arms[0].len();
        for (name, summary) in [
            ("", Summary::Turns),
            ("medians.", Summary::Medians),
            ("minima.", Summary::Minima),
            ("sums.", Summary::Sums),
        ] {
            let flags = ticked.each_ref().map(Vec::as_slice);
            let ratios = round_ratios(arms.each_ref().map(Vec::as_slice), flags, summary);
            put(&format!("{name}overhead"), ratios.overhead);
            put(&format!("{name}again"), ratios.again);
        }
        put("turns", turns as f64);
        // Of a machine that compiles the same code again and again, each time is a trial.
        for arm in ARMS {
            if let Some(time) = round[arm]["compile_ns"].as_f64() {
                put(&format!("{arm}.compile_ns"), time);
            }
        }
        for (arm, (times, ticked)) in ARMS.iter().zip(arms.iter().zip(&ticked)) {
            times.iter().for_each(|&time| put(&format!("{arm}.cpu_ns"), time as f64));
            ticked.iter().for_each(|&tick| put(&format!("{arm}.ticked"), f64::from(u8::from(tick))));
        }
    }
    for arm in ARMS {
        let sum = |key: &str| rounds.iter().filter_map(|round| round[arm][key].as_f64()).sum::<f64>();
        outcome.numbers.extend(SUMS.map(|key| (format!("{arm}.{key}"), sum(key))));
        outcome
            .numbers
            .extend(MEANS.map(|key| (format!("{arm}.{key}"), sum(key) / rounds.len().max(1) as f64)));
    }
    Ok(outcome)
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

fn flags(value: &Value) -> Vec<bool> {
    value.as_array().into_iter().flatten().filter_map(Value::as_bool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rounds_are_ratios_and_all_samples_are_kept() {
        let arm = |time: u64| json!({"cpu_ns": [time, time], "ticked": [false, false], "ticks": 1, "code_bytes": 10, "compile_ns": 2 * time});
        let round = |time| json!({"base": arm(100), "profiled": arm(time), "again": arm(100)});
        let record = json!({
            "profile": ["blpp"], "versus": [],
            "programs": [{"failure": null, "counts": {"base": {"additions": 2}}, "iterations": 1.0,
                          "rounds": [round(110), round(120)]}],
        });
        let outcome = reduce(&record).expect("complete");
        let overhead: Vec<f64> = outcome.samples["overhead"].iter().map(|log| log.exp()).collect();
        assert!((overhead[0] - 1.1).abs() < 1e-9 && (overhead[1] - 1.2).abs() < 1e-9, "{overhead:?}");
        assert_eq!(outcome.samples["again"], [0.0, 0.0]);
        assert_eq!(outcome.samples["profiled.cpu_ns"], [110.0, 110.0, 120.0, 120.0]);
        assert_eq!((outcome.numbers["base.ticks"], outcome.numbers["base.code_bytes"]), (2.0, 10.0));
        assert_eq!(outcome.samples["profiled.compile_ns"], [220.0, 240.0]);
        assert_eq!(outcome.numbers["profiled.compile_ns"], 230.0);
        assert_eq!(outcome.numbers["counts.base.additions"], 2.0);
        // What costs at a tick counts, whoever does it there.
        let mut ticks = record.clone();
        let few = |of: &[usize]| -> Vec<bool> { (0..20).map(|turn| of.contains(&turn)).collect() };
        let (quiet, busy): (Vec<u64>, Vec<u64>) =
            (0..20).map(|turn| (100, if turn == 7 { 150 } else { 100 })).unzip();
        ticks["profile"] = json!(["btb:backend=burst"]);
        ticks["programs"][0]["rounds"] = json!([{
            "base": {"cpu_ns": quiet, "ticked": few(&[3])},
            "profiled": {"cpu_ns": busy, "ticked": few(&[7])},
            "again": {"cpu_ns": quiet, "ticked": few(&[])},
        }]);
        let outcome = reduce(&ticks).expect("complete");
        assert!((outcome.samples["overhead"][0] - 1.025f64.ln()).abs() < 1e-9, "{outcome:?}");
        assert!((outcome.samples["sums.overhead"][0].exp() - 1.025).abs() < 1e-9);
        let mut whole = record.clone();
        whole["options"] = json!({"whole_runs": "4s"});
        whole["programs"][0]["rounds"][0]["profiled"]["cpu_ns"] = json!([100, 130]);
        let outcome = reduce(&whole).expect("complete");
        assert!((outcome.samples["overhead"][0].exp() - 1.15).abs() < 1e-9, "the sum counts");
        assert_eq!(outcome.samples["profiled.cpu_ns"], [230.0, 240.0]);
        assert_eq!(outcome.samples["turns"], [1.0, 1.0]);
        let failed = json!({"programs": [{"failure": "it failed", "rounds": []}]});
        assert_eq!(reduce(&failed), Err("it failed".to_string()));
    }
}
