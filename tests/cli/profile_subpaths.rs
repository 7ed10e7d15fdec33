//! `holloway profile` about subpaths: a program whose blocks are known, counted and sampled, looked at in every way.

use crate::process::{file, folder, holloway, shown};

const PROGRAM: &str = "\
fn half(n: Int) -> Int { if n % 2 == 0 { n / 2 } else { n } }
fn main() {
    var sum = 0
    for i in 0..3000 { sum += half(i) }
    println(sum.toString())
}
";

/// Runs the program with these profilers at this tier; the path of the profile.
fn profiled(name: &str, tier: &str, profilers: &[&str]) -> String {
    let folder = folder(name);
    let program = file(&folder, "half.hol", PROGRAM);
    let out = folder.join("profile.json").to_str().expect("a readable path").to_string();
    let fixed = ["run", "--timer", "virtual:50", "--tier", tier, "--profile-out", &out];
    let specs = profilers.iter().flat_map(|spec| ["--profile", spec]);
    let arguments: Vec<&str> = fixed.into_iter().chain(specs).chain([&*program]).collect();
    let seen = holloway(&arguments);
    assert_eq!((seen.code, &*seen.out), (Some(0), "3374250\n"), "{}", seen.err);
    out
}

#[test]
fn subpaths_are_shown_compared_and_checked() {
    let both = profiled("subpaths_both", "o2", &["subpaths:max-length=8", "osp:rate=7,max-length=8"]);
    let text = shown(&["show", &both, "--kind", "subpaths", "--top", "3"]);
    assert!(text.contains("of up to 8 blocks") && text.contains("counted exactly"), "{text}");
    assert!(text.contains("half:1 @") && text.contains("run 3000 times"), "{text}");
    assert!(shown(&["show", &both]).contains("subpaths in samples"));
    let scores = shown(&["accuracy", &both]);
    assert!(scores.contains("recall") && scores.contains("rotation"), "{scores}");
    let checked = shown(&["check", &both]);
    assert!(checked.contains("ok       there are as many subpaths as blocks allow"), "{checked}");
    assert!(checked.contains("ok       the subpaths that were sampled were run"), "{checked}");
    let csv = shown(&["export", &both, "--format", "csv"]);
    assert!(csv.contains("subpath,subpaths,") && csv.contains("subpath,osp,"), "{csv}");

    // What is executed does not depend on who executes it.
    let interpreted = profiled("subpaths_interp", "interp", &["subpaths:max-length=8"]);
    let compiled = profiled("subpaths_o1", "o1", &["subpaths:max-length=8"]);
    let compared = shown(&["diff", &interpreted, &compiled]);
    assert!(compared.contains("no subpath has another share"), "{compared}");
    let sampled = profiled("subpaths_osp", "o1", &["osp:rate=7,max-length=8"]);
    assert!(shown(&["accuracy", &sampled, &interpreted]).contains("recall"));
    let compared = shown(&["diff", &sampled, &compiled]);
    assert!(compared.contains("counted in samples before and exactly after"), "{compared}");
}

#[test]
fn bursts_sample_shares_of_subpaths() {
    let sampled = profiled("subpaths_burst", "o2", &["osp:skip=burst,max-length=8"]);
    let text = shown(&["show", &sampled, "--kind", "subpaths"]);
    assert!(text.contains("% of the subpaths of") || text.contains(" %) of the subpaths of"), "{text}");
}

/// A branch in the block of a call: the callee's blocks lie between those that tell how it went.
const BEHIND: &str = "\
fn part(n: Int) -> Int { if n % 3 == 0 { n / 3 } else { n } }
fn main() {
    var sum = 0
    for i in 0..3000 { if part(i) % 5 == 0 { sum += 1 } else { sum += 2 } }
    println(sum.toString())
}
";

#[test]
fn samples_know_how_branches_went_behind_calls_too() {
    let folder = folder("subpaths_branches");
    let program = file(&folder, "behind.hol", BEHIND);
    let out = |name: &str| folder.join(name).to_str().expect("a readable path").to_string();
    let run = |to: &str, spec: &str| {
        let fixed =
            ["run", "--timer", "virtual:50", "--tier", "o2", "--profile", "edges", "--profile-out", to];
        let seen = holloway(&[&fixed[..], &["--profile", spec, &program]].concat());
        assert_eq!((seen.code, &*seen.out), (Some(0), "5400\n"), "{}", seen.err);
    };
    let score = |file: &str| -> serde_json::Value {
        let scores: serde_json::Value =
            serde_json::from_str(&shown(&["accuracy", file, "--json"])).expect("JSON");
        scores["edges"]["subpath"]["exact_edges"].clone()
    };
    let (one, other) = (out("one.json"), out("other.json"));
    run(&one, "osp:rate=5,max-length=16,memory=1m");
    run(&other, "osp:rate=5,max-length=16,memory=1m,seed=1");
    let found = score(&one);
    let is_near = |of: &serde_json::Value, least: f64| of.as_f64().is_some_and(|of| of > least);
    assert!(is_near(&found["coverage"], 0.999) && is_near(&found["relative"], 0.98), "{found}");
    // What lies behind a call is not in short samples.
    assert!(is_near(&found["absolute"], 0.85), "{found}");
    assert!(shown(&["accuracy", &one]).contains("subpath edges against exact edges"));
    assert!(shown(&["check", &one]).contains("ok"), "well-formed");
    // Two runs together know as much.
    let sum = out("sum.json");
    let merged = holloway(&["profile", "merge", &sum, &one, &other]);
    assert_eq!(merged.code, Some(0), "{}", merged.err);
    assert!(is_near(&score(&sum)["relative"], 0.98), "{}", score(&sum));
    assert!(shown(&["check", &sum]).contains("ok"), "well-formed");
    // Bursts begin where yieldpoints are, and see what lies behind.
    run(&one, "osp:skip=burst");
    assert!(is_near(&score(&one)["relative"], 0.8), "{}", score(&one));
}

#[test]
fn wrong_parameters_are_named_with_the_right_ones() {
    let program = file(&folder("subpaths_wrong"), "empty.hol", "fn main() {}\n");
    for (specs, part) in [
        (&["osp:memory=100"][..], "memory cannot be 100; valid: "),
        (&["osp:max-length=12"], "max-length is a power of two from 2 to 8192"),
        (&["osp:skip=burst", "subpaths"], "run them apart"),
    ] {
        let mut arguments = vec!["run"];
        arguments.extend(specs.iter().flat_map(|spec| ["--profile", spec]));
        arguments.push(&program);
        let seen = holloway(&arguments);
        assert!(seen.code == Some(2) && seen.err.contains(part), "{specs:?}: {:?} {}", seen.code, seen.err);
    }
}
