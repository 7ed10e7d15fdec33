//! `holloway profile` about calls: a program whose calls are known, counted and sampled in the interpreter, looked at in every way.

use crate::process::{file, folder, holloway, shown};

const PROGRAM: &str = "\
fn even(n: Int) -> Bool { return n == 0 || odd(n - 1) }
fn odd(n: Int) -> Bool { return n != 0 && even(n - 1) }
fn main() {
    var count = 0
    for i in 0..100 { if even(i) { count += 1 } }
    println(count.toString())
}
";

/// What is small is inlined, and what is long is not.
const SMALL: &str = "\
fn small(n: Int) -> Int { n * 3 + 1 }
fn stays(n: Int) -> Int {
    var sum = n
    LONG
    sum
}
fn main() {
    var sum = 0
    for i in 0..100000 {
        sum = (sum + small(i)) % 1000003
        if i % 64 == 0 { sum += stays(3) }
    }
    println(sum.toString())
}
";

/// Runs the program in the interpreter with these profilers; the path of the profile.
fn profiled(name: &str, profilers: &[&str]) -> String {
    let folder = folder(name);
    let program = file(&folder, "parity.hol", PROGRAM);
    let out = folder.join("profile.json").to_str().expect("a readable path").to_string();
    let fixed = ["run", "--timer", "virtual:50", "--tier", "interp", "--profile-out", &out];
    let specs = profilers.iter().flat_map(|spec| ["--profile", spec]);
    let arguments: Vec<&str> = fixed.into_iter().chain(specs).chain([&*program]).collect();
    let seen = holloway(&arguments);
    assert_eq!((seen.code, &*seen.out), (Some(0), "50\n"), "{}", seen.err);
    out
}

#[test]
fn calls_are_shown_compared_and_checked() {
    let both = profiled("calls_both", &["calls", "cbs:samples=4,stride=3,depth=all"]);
    let text = shown(&["show", &both, "--kind", "calls"]);
    assert!(text.contains("counted exactly, in all tiers"), "{text}");
    // The sum of 1 to 99 is halved between the two: odd numbers end in `odd`.
    let row = |name: &str| text.lines().find(|line| line.ends_with(name)).unwrap_or_else(|| panic!("{text}"));
    assert!(row("even:1 -> odd").contains(" 2500 "), "{text}");
    assert!(row("odd:2 -> even").contains(" 2450 "), "{text}");
    assert!(row("main:5 -> even").contains(" 100 "), "{text}");
    assert!(shown(&["show", &both]).contains("  cbs "));
    let scores = shown(&["accuracy", &both]);
    assert!(scores.contains("overlap of call graphs") && scores.contains("in samples, by cbs"), "{scores}");
    let checked = shown(&["check", &both]);
    assert!(checked.contains("ok       the window of calls took the samples"), "{checked}");
    assert!(checked.contains("ok       what was sampled was called"), "{checked}");
    let timer = profiled("calls_timer", &["cbs:schedule=timer"]);
    let compared = shown(&["diff", &timer, &both]);
    assert!(compared.contains("in samples, by cbs before and exactly, in all tiers after"), "{compared}");
    let scores = shown(&["accuracy", &timer, &both]);
    assert!(scores.contains("calls: overlap of call graphs"), "{scores}");
}

#[test]
fn calls_are_exported_as_graphs_and_stacks() {
    let calls = profiled("calls_export", &["calls", "cbs:depth=all"]);
    let dot = shown(&["export", &calls, "--format", "dot"]);
    assert!(dot.starts_with("digraph calls") && dot.contains("label=\"line 1: 2500 ("), "{dot}");
    let graph = shown(&["export", &calls, "--format", "flamegraph", "--kind", "calls"]);
    assert!(graph.contains("Calls of") && graph.contains("even"), "{graph}");
    let table = shown(&["export", &calls, "--format", "csv"]);
    assert!(
        table.lines().any(|line| line.starts_with("call,exact,odd,") && line.ends_with(",2450")),
        "{table}"
    );
    let pairs = profiled("calls_pairs", &["calls"]);
    let graph = shown(&["export", &pairs, "--format", "flamegraph"]);
    assert!(graph.contains("counted exactly, in all tiers"), "{graph}");
    let seen = holloway(&["profile", "export", &calls, "--format", "firefox", "--kind", "source"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("--kind paths or --kind calls"), "{}", seen.err);
}

/// What is inlined is not among the samples, and whoever looks at the calls wants to see it.
#[test]
#[cfg(target_arch = "x86_64")]
fn credited_calls_are_those_that_are_shown() {
    let folder = folder("calls_credited");
    let text = SMALL.replace("LONG", &"sum = (sum * 3 + 1) % 1000003\n".repeat(200));
    let program = file(&folder, "small.hol", &text);
    let run = |name: &str, more: &[&str]| {
        let out = folder.join(name).to_str().expect("a readable path").to_string();
        let fixed =
            ["run", "--timer", "virtual:997", "--tier", "o1", "--profile-out", &out, "--profile", "pep"];
        let seen = holloway(&[&fixed[..], more, &["--profile-snapshots", "doubling", &program]].concat());
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        out
    };
    let profile = run("credited.json", &["--profile", "cbs:credit=paths"]);
    let plain = run("plain.json", &["--profile", "cbs"]);
    let how = "in samples, by cbs, inlined ones credited by paths";
    let text = shown(&["show", &profile, "--kind", "calls"]);
    assert!(text.contains(how) && text.contains("-> small"), "{text}");
    assert!(!shown(&["show", &plain, "--kind", "calls"]).contains("small"));
    let compared = shown(&["diff", &plain, &profile]);
    assert!(compared.contains(&format!("counted in samples, by cbs before and {how} after")), "{compared}");
    assert!(compared.contains("-> small"), "{compared}");
    for format in ["dot", "flamegraph", "firefox"] {
        let exported = shown(&["export", &profile, "--format", format, "--kind", "calls"]);
        assert!(exported.contains("small"), "{format}: {exported}");
    }
    // Beside exact calls there are both, also as they were while the program ran.
    let exact = run("exact.json", &["--profile", "calls", "--profile", "cbs:credit=paths"]);
    let text = shown(&["show", &exact, "--kind", "calls"]);
    assert!(text.contains("with credit  of samples  call"), "{text}");
    let scores = shown(&["accuracy", &exact]);
    assert!(scores.contains(&format!("calls over time, counted {how}")), "{scores}");
    let checked = holloway(&["profile", "check", &exact]);
    assert_eq!(checked.code, Some(0), "{}", checked.out);
}

#[test]
fn what_needs_compiled_code_is_named() {
    let seen = holloway(&["run", "--tier", "interp", "--profile", "cbs", "--profile", "pep", "a.hol"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("--profile pep:") && seen.err.contains("compiled code"), "{}", seen.err);
    let seen = holloway(&["run", "--profile", "cbs:at=exit", "a.hol"]);
    assert!(seen.err.contains("at is `prologue` or `both`"), "{}", seen.err);
}

/// The program's calls in bursts and inline caches, while it runs, and by thread.
#[test]
fn collectors_are_shown_and_checked() {
    let folder = folder("calls_collectors");
    let program = file(&folder, "parity.hol", PROGRAM);
    let out = folder.join("profile.json").to_str().expect("a readable path").to_string();
    let fixed = [
        "run",
        "--timer",
        "virtual:50",
        "--tier",
        "o0",
        "--profile-snapshots",
        "doubling",
        "--profile-threads",
    ];
    let specs = ["calls", "cbs", "oneshot:burst=10", "icache:sites=all"];
    let specs = specs.iter().flat_map(|spec| ["--profile", spec]);
    let arguments: Vec<&str> =
        fixed.into_iter().chain(specs).chain(["--profile-out", &out, &program]).collect();
    let seen = holloway(&arguments);
    assert_eq!((seen.code, &*seen.out), (Some(0), "50\n"), "{}", seen.err);
    let text = shown(&["show", &out]);
    assert!(text.contains("  oneshot ") && text.contains("  icache "), "{text}");
    assert!(text.contains("by bursts  of caches  call"), "{text}");
    let checked = shown(&["check", &out]);
    for rule in [
        "listeners heard",
        "what inline caches counted",
        "what the threads counted adds up",
        "what each thread",
    ] {
        assert!(checked.contains(&format!("ok       {rule}")), "{rule}: {checked}");
    }
    let scores = shown(&["accuracy", &out]);
    for part in [
        "in bursts, by oneshot, as often as heard",
        "in inline caches, by icache",
        "calls over time",
        "  all ",
    ] {
        assert!(scores.contains(part), "{part} is not in {scores}");
    }
    let main = shown(&["show", &out, "--thread", "0", "--kind", "calls"]);
    assert!(main.contains("counted exactly, in all tiers"), "{main}");
    let table = shown(&["export", &out, "--format", "csv"]);
    assert!(table.contains("call,heard,") && table.contains("call,cached,"), "{table}");
    let seen = holloway(&["run", "--tier", "interp", "--profile", "oneshot", "a.hol"]);
    assert!(seen.err.contains("compiled code"), "{}", seen.err);
    // Counts that do not agree are found.
    let fails = |rule: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let text = std::fs::read_to_string(&out).expect("it was written");
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        change(&mut value);
        let seen = holloway(&["profile", "check", &file(&folder, "changed.json", value.to_string())]);
        assert_eq!(seen.code, Some(1), "{rule}: {}{}", seen.out, seen.err);
        let failed = seen.out.lines().any(|line| line.contains(rule));
        assert!(failed && seen.out.contains("FAILED"), "`{rule}` is not in {}", seen.out);
    };
    let number = serde_json::Value::from;
    fails("bursts have", &|file| file["calls"]["heard"]["bursts"][0]["entries"] = number(9999));
    fails("in a cache, called", &|file| file["calls"]["cached"]["calls"][0]["count"] = number(999_999));
    fails("adds up", &|file| file["threads"][0]["calls"]["exact"][0]["count"] = number(1));
    fails("is out of order", &|file| {
        file["calls"]["over_time"]["moments"].as_array_mut().expect("moments").reverse();
    });
    fails("heard calls refers to method", &|file| file["calls"]["heard"]["calls"][0]["callee"] = number(999));
}
