//! `holloway profile` about calls: a program whose calls are known, counted and sampled in the interpreter, looked at in every way.

use crate::process::{file, folder, holloway};

const PROGRAM: &str = "\
fn even(n: Int) -> Bool { return n == 0 || odd(n - 1) }
fn odd(n: Int) -> Bool { return n != 0 && even(n - 1) }
fn main() {
    var count = 0
    for i in 0..100 { if even(i) { count += 1 } }
    println(count.toString())
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

fn shown(arguments: &[&str]) -> String {
    let seen = holloway(&[&["profile"], arguments].concat());
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{arguments:?}: {}{}", seen.out, seen.err);
    seen.out
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

#[test]
fn what_needs_compiled_code_is_named() {
    let seen = holloway(&["run", "--tier", "interp", "--profile", "cbs", "--profile", "pep", "a.hol"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("--profile pep:") && seen.err.contains("compiled code"), "{}", seen.err);
    let seen = holloway(&["run", "--profile", "cbs:at=exit", "a.hol"]);
    assert!(seen.err.contains("at is `prologue` or `both`"), "{}", seen.err);
}
