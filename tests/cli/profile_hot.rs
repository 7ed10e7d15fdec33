//! `--profile btb:calls=hot`: regions span the hot calls of an earlier run, which `--hot-calls` names.

use crate::process::{Seen, file, folder, holloway};
use serde_json::{Value, json};
use std::path::Path;

/// One call is hot, one is not.
const PROGRAM: &str = "\
fn step(n: Int) -> Int {
    if n % 2 == 0 { n / 2 } else { 3 * n + 1 }
}

fn seldom(n: Int) -> Int { if n > 50 { 1 } else { 2 } }

fn main() {
    var sum = 0
    for i in 1..300 {
        var n = i
        while n != 1 {
            n = step(n)
            if n % 3 == 0 { sum += 1 } else { sum += 2 }
        }
        if i % 100 == 0 { sum += seldom(i) }
    }
    println(sum.toString())
}
";

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("a readable path").to_string()
}

/// Runs the program with a profiler; what it found is in a file of this name.
fn run(folder: &Path, program: &str, out: &str, flags: &[&str]) -> String {
    let out = path(folder, out);
    let fixed = ["run", "--tier", "interp", "--profile-out", &out];
    let seen = holloway(&[&fixed[..], flags, &[program]].concat());
    assert_eq!(seen.code, Some(0), "{flags:?}: {}", seen.err);
    out
}

fn read(file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).expect("it is there")).expect("JSON")
}

fn did(line: &[&str]) -> String {
    let seen = holloway(line);
    assert_eq!(seen.code, Some(0), "{line:?}: {}", seen.err);
    seen.out
}

#[test]
fn regions_span_the_hot_call() {
    let folder = folder("profile_hot");
    let program = file(&folder, "steps.hol", PROGRAM);
    let calls = run(&folder, &program, "calls.json", &["--profile", "calls"]);
    let exact = format!("exact={calls}");
    let spec = "btb:depth=16,period=31,calls=hot,exact=yes";
    let hot = run(&folder, &program, "hot.json", &["--profile", spec, "--hot-calls", &exact]);
    let found = read(&hot);
    let sites = found["traces"]["sites"].as_array().expect("sites");
    assert_eq!((sites.len(), &sites[0]["only"]), (1, &json!(true)), "{sites:?}");
    let main = sites[0]["method"].as_u64();
    let paths = found["traces"]["paths"].as_array().expect("paths");
    let through = |path: &&Value| {
        path["begin"]["method"].as_u64() == main
            && path["blocks"].as_array().is_some_and(|blocks| blocks.contains(&sites[0]["after"]))
    };
    // All of a path's branches are there, the callee's and the caller's.
    let through: Vec<&Value> = paths.iter().filter(through).collect();
    assert!(through.len() >= 3, "{paths:?}");
    assert!(through.iter().all(|path| path["branches"].as_array().map(Vec::len) == Some(2)), "{through:?}");

    let text = did(&["profile", "show", &hot, "--kind", "traces"]);
    assert!(
        text.contains("regions span 1 hot call\n") && text.contains("of all paths), through step\n"),
        "{text}"
    );
    let across = text.lines().position(|line| line.ends_with("through step")).expect("a path");
    let lines: Vec<&str> = text.lines().skip(across + 1).take(2).map(str::trim).collect();
    assert!(lines[0].starts_with("step:2 ") && lines[1].starts_with("main:13 "), "{text}");
    let text = did(&["profile", "show", &hot, "--kind", "traces", "--method", "seldom"]);
    assert!(!text.contains("step"), "{text}");
    assert!(did(&["profile", "check", &hot]).contains("ok       well-formed"));
    let text = did(&["profile", "accuracy", &hot]);
    assert!(text.contains("100.00 %") && text.contains("count flow"), "{text}");
    let csv = did(&["profile", "export", &hot, "--format", "csv"]);
    assert!(csv.contains(": 2+ 13+,") && csv.contains(": 2- 13-,"), "{csv}");

    // Two of the kind add up; the calls that cbs saw will do as well.
    let other = run(
        &folder,
        &program,
        "other.json",
        &["--profile", &format!("{spec},seed=3"), "--hot-calls", &exact],
    );
    let sum = path(&folder, "sum.json");
    did(&["profile", "merge", &sum, &hot, &other]);
    assert_eq!(read(&sum)["traces"]["sites"], found["traces"]["sites"]);
    did(&["profile", "check", &sum]);
    did(&["profile", "accuracy", &sum]);
    let sampled = run(&folder, &program, "cbs.json", &["--profile", "cbs", "--timer", "virtual:50"]);
    let flags = ["--profile", spec, "--hot-calls", &format!("cbs={sampled}")];
    let by_samples = run(&folder, &program, "by-samples.json", &flags);
    assert_eq!(read(&by_samples)["traces"]["sites"], found["traces"]["sites"]);

    // With a high bar nothing is hot: then all is as without.
    let cold = "btb:depth=16,period=31,calls=hot,hot=100,exact=yes";
    let cold = run(&folder, &program, "cold.json", &["--profile", cold, "--hot-calls", &exact]);
    let rejoined = run(&folder, &program, "plain.json", &["--profile", "btb:depth=16,period=31,exact=yes"]);
    assert_eq!(read(&cold)["traces"], read(&rejoined)["traces"]);

    // What spans other calls is not compared, and not added.
    let refused = |line: &[&str], part: &str| {
        let seen = holloway(line);
        assert!(seen.code == Some(2) && seen.err.contains(part), "{line:?}: {:?} {}", seen.code, seen.err);
    };
    let different = "have regions that span different calls (1 hot call there, no calls here)";
    refused(&["profile", "accuracy", &hot, &rejoined], different);
    let differences = did(&["profile", "diff", &rejoined, &hot]);
    assert!(differences.contains("branch traces: not compared, for both have regions"), "{differences}");
    // `hot` says from where on a call is hot: here all are, of the library, too.
    let both = run(
        &folder,
        &program,
        "both.json",
        &["--profile", "btb:depth=16,period=31,calls=hot,hot=0,exact=yes", "--hot-calls", &exact],
    );
    assert_eq!(read(&both)["traces"]["sites"].as_array().map(Vec::len), Some(4));
    refused(&["profile", "merge", &sum, &hot, &both], "were not made by the same profilers");
    let mut changed = read(&both);
    changed["profilers"] = found["profilers"].clone();
    let changed = file(&folder, "changed.json", changed.to_string());
    refused(&["profile", "merge", &sum, &hot, &changed], "(1 hot call there, 4 hot calls here)");
}

#[test]
fn what_is_hot_must_be_known() {
    let folder = folder("profile_hot_errors");
    let program = file(&folder, "steps.hol", PROGRAM);
    let calls = run(&folder, &program, "calls.json", &["--profile", "calls"]);
    let edges = run(&folder, &program, "traces.json", &["--profile", "btb"]);
    let other = file(&folder, "other.hol", PROGRAM.replace("3 * n", "5 * n"));
    let refused = |program: &str, flags: &[&str], part: &str| {
        let seen: Seen = holloway(&[&["run", "--tier", "interp", "--fuel", "9"], flags, &[program]].concat());
        assert!(seen.code != Some(0) && seen.err.contains(part), "{flags:?}: {:?} {}", seen.code, seen.err);
    };
    let exact = format!("exact={calls}");
    refused(
        &program,
        &["--profile", "btb:calls=hot"],
        "needs to know which calls are hot: --hot-calls exact=FILE",
    );
    refused(&program, &["--profile", "btb", "--hot-calls", &exact], "is for --profile btb:calls=hot");
    refused(&program, &["--profile", "calls", "--hot-calls", &exact], "is for --profile btb:calls=hot");
    refused(&program, &["--hot-calls", &exact], "--profile");
    let hot = ["--profile", "btb:calls=hot", "--hot-calls"];
    let with = |source: &str, part: &str| refused(&program, &[&hot[..], &[source]].concat(), part);
    with(&calls, "calls are in a profile: exact=FILE or cbs=FILE");
    with("exact", "calls are in a profile");
    with("exact=nowhere.json", "cannot read nowhere.json");
    with(&format!("exact={edges}"), "it has no exact calls: they are counted with --profile calls");
    with(&format!("cbs={calls}"), "it has no sampled calls: they are sampled with --profile cbs");
    with(&format!("exact={program}"), "is not JSON");
    refused(&other, &[&hot[..], &[&exact]].concat(), "it is the profile of another program");
    refused(&program, &["--profile", "btb:calls=hot,backend=step", "--hot-calls", &exact], "no calls=hot");
}

/// The flag is for both sides of a comparison, whichever of them needs it.
#[test]
fn what_they_cost_can_be_compared() {
    let folder = folder("profile_hot_overhead");
    let program = file(&folder, "steps.hol", PROGRAM);
    let calls = run(&folder, &program, "calls.json", &["--profile", "calls"]);
    let exact = format!("exact={calls}");
    let tiny = ["overhead", &program, "--rounds", "1", "--turns", "3", "--sample", "100us"];
    let (plain, hot) = ("btb:backend=burst", "btb:backend=burst,calls=hot");
    for sides in [["--profile", plain, "--vs", hot], ["--profile", hot, "--vs", plain]] {
        did(&[&tiny[..], &sides, &["--hot-calls", &exact]].concat());
        let seen = holloway(&[&tiny[..], &sides].concat());
        assert!(
            seen.code == Some(2) && seen.err.contains("needs to know which calls are hot"),
            "{}",
            seen.err
        );
    }
    let neither = ["--profile", plain, "--vs", "pep", "--hot-calls", &exact];
    let seen = holloway(&[&tiny[..], &neither].concat());
    assert!(seen.code == Some(2) && seen.err.contains("which was not asked for"), "{}", seen.err);
}

/// A file with one change is refused, and the message says where.
#[test]
fn contradictions_in_hot_calls_are_named() {
    let folder = folder("profile_hot_damage");
    let program = file(&folder, "steps.hol", PROGRAM);
    let calls = run(&folder, &program, "calls.json", &["--profile", "calls"]);
    let flags = ["--profile", "btb:calls=hot,hot=0,exact=yes", "--hot-calls", &format!("exact={calls}")];
    let good = read(&run(&folder, &program, "good.json", &flags));
    let site = |at: usize| good["traces"]["sites"][at].clone();
    let [first, second] = [site(0), site(1)];
    let refused = |change: &dyn Fn(&mut Value), part: &str| {
        let mut changed = good.clone();
        change(&mut changed["traces"]);
        let changed = file(&folder, "changed.json", changed.to_string());
        let seen = holloway(&["profile", "show", &changed]);
        assert!(seen.code == Some(2) && seen.err.contains(part), "{part}: {:?} {}", seen.code, seen.err);
    };
    assert_eq!(first["method"], second["method"]);
    refused(
        &|traces| traces["sites"] = json!([second, first]),
        "hot call 1 of branch traces is not behind the one before it",
    );
    refused(&|traces| traces["sites"] = json!([first]), "of branch traces has block");
    refused(&|traces| traces["sites"] = json!([]), "of branch traces has block");
    refused(
        &|traces| traces["sites"][1]["block"] = first["block"].clone(),
        "hot call 1 of branch traces is the second one of its block",
    );
    refused(&|traces| traces["sites"][0]["callee"] = json!(9999), "hot call 0 of branch traces");
    refused(&|traces| traces["sites"][0]["method"] = json!(9999), "hot call 0 of branch traces");
    refused(
        &|traces| traces["sites"][0]["callee"] = first["method"].clone(),
        "hot call 0 of branch traces is of the method itself",
    );
    refused(
        &|traces| traces["sites"][0]["block"] = json!(100_000),
        "hot call 0 of branch traces is in block 100000, and the method ends before",
    );
    refused(&|traces| traces["sites"][0]["after"] = json!(u32::MAX), "is not behind the one before it");
    refused(&|traces| traces["paths"][0]["method"] = json!(9999), "path 0 of branch traces");
    refused(&|traces| traces["paths"][0]["blocks"][0] = json!(77), "path 0 of branch traces has block 77");
}
