//! `overhead`, with sizes so small that the times mean nothing: what is tested is that everything is there.

use crate::process::{case, end, file, folder, holloway, signal, start};
use serde_json::Value;
use std::time::Duration;

/// What makes a measurement short.
const TINY: [&str; 8] = ["--size", "quick", "--rounds", "2", "--turns", "3", "--sample", "100us"];

fn measured(name: &str, arguments: &[&str]) -> (String, Value) {
    let path = folder(name).join("overhead.json");
    let json = path.to_string_lossy();
    let seen = holloway(&[&["overhead", "--json", &json], arguments, &TINY].concat());
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{}", seen.out);
    let text = std::fs::read_to_string(&path).expect("it was written");
    (seen.out, serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn times_alone_need_no_counts() {
    let (out, json) = measured("overhead_uncounted", &["sieve", "--profile", "edges", "--no-counts"]);
    assert!(json["programs"][0]["counts"].is_null(), "{json}");
    assert_eq!(json["programs"][0]["rounds"].as_array().map(Vec::len), Some(2));
    assert!(out.lines().nth(2).is_some_and(|line| line.starts_with("sieve")), "{out}");
    assert!(!out.contains("yieldpoints"), "{out}");
    let seen = holloway(&["overhead", "sieve", "--profile", "edges", "--no-counts", "--rounds", "0"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("--rounds 0 is for the counts alone"), "{}", seen.err);
}

#[test]
fn two_rounds_are_made_however_late_it_is() {
    let path = folder("overhead_late").join("overhead.json");
    let json = path.to_string_lossy();
    let late = ["--max-time", "1us", "--rounds", "5", "--turns", "3", "--sample", "100us", "--size", "quick"];
    let seen = holloway(
        &[&["overhead", "sieve", "--profile", "edges", "--no-counts", "--json", &json][..], &late].concat(),
    );
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{}", seen.out);
    let text = std::fs::read_to_string(&path).expect("it was written");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["programs"][0]["rounds"].as_array().map(Vec::len), Some(2), "an interval needs two");
}

#[test]
fn all_samples_and_counts_are_kept() {
    let (out, json) =
        measured("overhead_kept", &["sieve", "towers", "--profile", "blpp", "--profile", "edges"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "edges with blpp:storage=array against no profiler");
    assert!(lines[1].starts_with("program") && lines[1].contains("A/A"), "{out}");
    for (line, start) in lines[2..].iter().zip(["sieve", "towers", "mean", "programs like these"]) {
        assert!(line.starts_with(start), "{out}");
    }
    assert_eq!((&json["kind"], &json["profile"][1]), (&"overhead".into(), &"blpp:storage=array".into()));
    assert_eq!(json["versus"], serde_json::json!([]));
    for program in json["programs"].as_array().expect("a list") {
        let rounds = program["rounds"].as_array().expect("a list");
        assert_eq!(rounds.len(), 2);
        for round in rounds {
            for arm in ["base", "profiled", "again"] {
                let samples = |clock: &str| round[arm][clock].as_array().expect("a list").len();
                assert_eq!((samples("cpu_ns"), samples("wall_ns")), (3, 3));
                assert!(round[arm]["compilations"].as_u64() > Some(0), "{round}");
            }
            let number = |arm: &str, key: &str| round[arm][key].as_u64().expect("a number");
            assert_eq!(number("base", "compilations"), number("profiled", "compilations"));
            assert_eq!(number("base", "code_bytes"), number("again", "code_bytes"));
            assert!(number("profiled", "code_bytes") > number("base", "code_bytes"));
        }
        for clock in ["cpu", "wall"] {
            let ratios = &program[clock];
            for ratio in ["overhead", "again", "of_medians", "of_minima"] {
                let value = |end: &str| ratios[ratio][end].as_f64().expect("a number");
                assert!(value("low") <= value("value") && value("value") <= value("high"), "{ratios}");
            }
            assert!(json[clock]["over_programs"]["value"].is_f64());
        }
        let counts = &program["counts"];
        for key in ["additions", "additions_executed", "yieldpoints_executed", "path_ends", "edge_counts"] {
            assert!(counts["profiled"][key].as_u64() > Some(0), "{key}: {counts}");
        }
        assert_eq!(
            counts["base"]["yieldpoints_executed"], counts["profiled"]["yieldpoints_executed"],
            "profiling adds no yieldpoints to these programs"
        );
        assert_eq!(counts["base"]["additions"].as_u64(), Some(0));
    }
}

#[test]
fn counts_repeat() {
    let counts = |order: &str| {
        let (_, json) = measured("overhead_counts", &["json", "--profile", "kblpp:k=3", "--order", order]);
        let counts = json["programs"][0]["counts"].clone();
        assert!(counts["profiled"]["hash_operations"].as_u64() > Some(0), "{counts}");
        counts
    };
    assert_eq!(counts("1"), counts("2"));
}

#[test]
fn configurations_are_compared_with_each_other() {
    let (out, json) =
        measured("overhead_versus", &["fft", "--profile", "pep", "--vs", "pep:placement=naive"]);
    assert!(out.contains("placement=smart against pep:"), "{out}");
    let counts = &json["programs"][0]["counts"];
    let executed = |arm: &str| counts[arm]["additions_executed"].as_u64().expect("a number");
    assert!(executed("profiled") < executed("base"), "{counts}");
    assert_eq!(counts["profiled"]["path_ends"], counts["base"]["path_ends"]);
}

#[test]
fn orders_of_methods_are_compared_when_methods_are_in_order() {
    let ticks = ["--timer", "wall:1ms", "--vs-method-order", "one-time"];
    let (out, json) = measured("overhead_method_order", &[&["json"], &ticks[..]].concat());
    assert!(
        out.contains("methods ordered by none against no profiler and methods ordered by one-time"),
        "{out}"
    );
    assert_eq!(
        (&json["options"]["method_order"], &json["options"]["vs_method_order"]),
        (&"none".into(), &"one-time".into())
    );
    for round in json["programs"][0]["rounds"].as_array().expect("a list") {
        let orders = |arm: &str| round[arm]["method_orders"].as_u64().expect("a number");
        assert!(orders("base") > 0 && orders("again") > 0, "{round}");
        assert_eq!(orders("profiled"), 0);
    }
}

#[test]
fn files_are_measured_by_whole_runs() {
    let folder = folder("overhead_files");
    let program = "fn main() { var x = 0; for i in 0..20000 { if i % 3 == 0 { x += i } }; println(\"${x} ${args()[0]}\") }";
    let mine = file(&folder, "mine.hol", program);
    let clocks = ["overhead", &mine, "--profile", "edges", "--clock", "both"];
    let seen = holloway(&[&clocks[..], &TINY, &["--", "a"]].concat());
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{}", seen.out);
    assert!(seen.out.contains("base ms (cpu)") && seen.out.contains("base ms (wall)"), "{}", seen.out);
    let fickle = file(&folder, "fickle.hol", "fn main() { println(\"${nanoTime()}\") }");
    for (path, part) in
        [(&fickle, "it does not print the same in every run"), (&case("fails.hol"), "IndexError: index 3")]
    {
        let seen = holloway(&[&["overhead", path, "--profile", "edges"], &TINY[..]].concat());
        assert_eq!(seen.code, Some(1), "{path}");
        assert!(seen.out.contains(part), "{part}: {}", seen.out);
    }
}

#[test]
fn whole_runs_find_out_for_themselves_what_to_compile() {
    let path = folder("overhead_whole").join("overhead.json");
    let json = path.to_string_lossy();
    let shared = ["overhead", "depot", "--whole-runs", "600ms", "--rounds", "2", "--timer", "wall:2ms"];
    let seen = holloway(&[&shared[..], &["--continuous", "--json", &json]].concat());
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{}", seen.out);
    assert!(
        seen.out.starts_with("pep:samples=64")
            && seen.out.contains(
                " and code made again when the program changes against no profiler and code made once\n"
            ),
        "{}",
        seen.out
    );
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("written")).expect("JSON");
    assert_eq!(
        (&json["options"]["whole_runs"], &json["options"]["continuous"]),
        (&"600ms".into(), &"true".into())
    );
    let program = &json["programs"][0];
    let (mut logarithms, mut sampled) = (0.0, 0);
    for round in program["rounds"].as_array().expect("a list") {
        let samples = |arm: &str| -> Vec<f64> {
            round[arm]["cpu_ns"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect()
        };
        let [base, profiled, again] = ["base", "profiled", "again"].map(samples);
        assert!(base.len() == profiled.len() && base.len() == again.len(), "{round}");
        let sum = |samples: &[f64]| samples.iter().sum::<f64>();
        assert!(
            sum(&base) >= 600e6 && sum(&base[..base.len() - 1]) < 600e6,
            "the base decides about the end"
        );
        // Nobody told them what to compile.
        let compiled = |arm: &str| round[arm]["compilations"].as_u64() > Some(0);
        assert!(["base", "profiled", "again"].into_iter().all(compiled), "{round}");
        assert_eq!(round["base"]["path_samples"], 0, "{round}");
        // On a busy machine it may be late before PEP looks for the first time.
        sampled += round["profiled"]["path_samples"].as_u64().expect("a number");
        logarithms += (sum(&profiled) / (sum(&base) * sum(&again)).sqrt()).ln();
    }
    assert!(sampled > 0, "{program}");
    let value = program["cpu"]["overhead"]["value"].as_f64().expect("a number");
    assert!((value.ln() - logarithms / 2.0).abs() < 1e-9, "the sums of all samples count");
}

#[test]
fn mistakes_are_reported_before_anything_is_measured() {
    let nowhere = folder("overhead_nowhere").join("none/overhead.json");
    let nowhere = nowhere.to_string_lossy();
    for (arguments, part) in [
        (&["sieve"][..], "add --profile"),
        (&["seive", "--profile", "pep"], "did you mean sieve?"),
        (&["seive", "--profile", "pep"], "the suites are: awfy, jgf, phased, probes, apps, all"),
        (&["--profile", "pep"], "NAME|SUITE|FILE"),
        (&["none.hol", "--profile", "pep"], "there is no such file"),
        (&["sieve", "--profile", "paths"], "there are edges, blpp, pep, kblpp"),
        (&["sieve", "--profile", "pep", "--vs", "paths"], "there are edges, blpp, pep, kblpp"),
        (&["sieve", "--profile", "pep", "--vs", "edges", "--vs", "edges"], "--vs edges: each profiler"),
        (&["sieve", "--vs-method-order", "cbs"], "use cbs=FILE"),
        (&["sieve", "--profile", "pep", "--precision", "0"], "a number of percent"),
        (&["sieve", "--profile", "pep", "--tier", "interp"], "compiled code"),
        (&["sieve", "--profile", "pep", "--timer", "virtual:9"], "every yieldpoint would be taken"),
        (&["sieve", "--profile", "pep", "--stats"], "--json"),
        (&["sieve", "--continuous"], "add --whole-runs"),
        (&["sieve", "--whole-runs", "1s"], "add --profile"),
        (&["sieve", "--continuous", "--whole-runs", "1s", "--replay", "/dev/null"], "--replay says what"),
        (&["sieve", "--profile", "pep", "--whole-runs", "1s", "--fresh"], "cannot be used with"),
        (&["sieve", "--profile", "pep", "--whole-runs", "1s", "--sample", "2ms"], "cannot be used with"),
        (
            &["sieve", "--profile", "pep", "--whole-runs", "1s", "--rounds", "0"],
            "--rounds 0 is for the counts alone",
        ),
        (&["awfy", "--profile", "pep", "--replay", "/dev/null"], "advice"),
        (&["sieve", "--profile", "pep", "--", "7"], "--size"),
        (&["sieve", "--profile", "pep", "--json", &nowhere], "cannot write"),
    ] {
        let seen = holloway(&[&["overhead"], arguments].concat());
        assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{arguments:?}");
        assert!(seen.err.contains(part), "{part}: {}", seen.err);
    }
}

#[test]
fn failures_have_no_time_and_an_interrupt_ends_it() {
    let seen =
        holloway(&["overhead", "cd", "--size", "3", "--profile", "edges", "--rounds", "1", "--turns", "1"]);
    assert_eq!(seen.code, Some(1));
    assert!(seen.out.contains("cd: ValueError: no result is known for size 3"), "{}", seen.out);
    let child = start(&["overhead", "all", "--profile", "edges"]);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "INT");
    let (seen, _) = end(child, Duration::from_secs(60));
    assert_eq!(seen.code, Some(1));
    assert!(seen.err.contains("interrupted"), "{}", seen.err);
}
