//! `holloway profile merge`: counts add up, whatever numbers the files give to code and branches.

use crate::process::{Seen, file, folder, holloway};
use serde_json::Value;
use std::path::Path;

const PROGRAM: &str = "\
fn twice(n: Int) -> Int {
    if n % 2 == 0 { n * 2 } else { n }
}

fn main() {
    var sum = 0
    for i in 0..3000 {
        sum += twice(i)
        if i % 3 == 0 {
            sum += 1
        }
    }
    println(sum.toString())
}
";

fn run(out: &str, program: &str, level: &str, specs: &[&str]) {
    let specs = specs.iter().flat_map(|spec| ["--profile", spec]);
    let fixed = ["run", "--timer", "virtual:50", "--sync-compile", "--tier", level, "--profile-out", out];
    let arguments: Vec<&str> = fixed.into_iter().chain(specs).chain([program]).collect();
    let seen = holloway(&arguments);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
}

fn merge(arguments: &[&str]) -> Seen {
    holloway(&[&["profile", "merge"], arguments].concat())
}

fn json(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("JSON")
}

/// The sum of all that is called `name`, anywhere in there.
fn sum_of(value: &Value, name: &str) -> f64 {
    match value {
        Value::Array(list) => list.iter().map(|value| sum_of(value, name)).sum(),
        Value::Object(fields) => {
            let here = fields.get(name).and_then(Value::as_f64).unwrap_or(0.0);
            here + fields.values().map(|value| sum_of(value, name)).sum::<f64>()
        }
        _ => 0.0,
    }
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("a readable path").to_string()
}

#[test]
fn all_kinds_of_counts_add_up() {
    let folder = folder("profile_merge");
    let program = file(&folder, "twice.hol", PROGRAM);
    let compiled = [
        "edges",
        "blpp",
        "pep:samples=8,stride=3",
        "kblpp:k=3",
        "kroy:k=3",
        "calls",
        "cbs:depth=all",
        "icache",
        "osp:rate=9",
    ];
    let traced = ["btb:depth=4,period=17,exact=yes"];
    for (name, levels, specs) in
        [("code", ["o0", "o1"], &compiled[..]), ("traces", ["interp"; 2], &traced[..])]
    {
        let [a, b, c] = ["a", "b", "c"].map(|part| path(&folder, &format!("{name}-{part}.json")));
        run(&a, &program, levels[0], specs);
        run(&b, &program, levels[1], specs);
        let seen = merge(&[&c, &a, &b, &a]);
        assert_eq!((seen.code, &*seen.out), (Some(0), ""), "{}", seen.err);
        assert!(seen.err.starts_with("3 profiles of "), "{}", seen.err);
        let [one, other, sum] = [&a, &b, &c].map(|file| json(file));
        for part in ["exact", "sampled", "iterated", "windowed", "calls", "traces", "work", "subpaths"] {
            let of_estimates = ["estimate", "windows", "surely"];
            let of_counts = [
                "count",
                "weight",
                "ticks",
                "taken",
                "items",
                "samples",
                "flow",
                "hash_operations",
                "pieces",
                "instructions",
            ];
            for key in of_counts.into_iter().chain(of_estimates) {
                let (expected, found) =
                    (2.0 * sum_of(&one[part], key) + sum_of(&other[part], key), sum_of(&sum[part], key));
                assert!((expected - found).abs() <= 1e-6 * expected, "{part} {key}: {expected}, but {found}");
            }
        }
        let seen = holloway(&["profile", "check", &c]);
        assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
        // The same code is there once.
        let versions = |file: &Value| file["versions"].as_array().map_or(0, Vec::len);
        assert!(versions(&sum) <= versions(&one) + versions(&other));
        // One file alone is what it was, as far as anybody can tell.
        assert_eq!(merge(&[&c, &a]).code, Some(0));
        let seen = holloway(&["profile", "diff", &a, &c]);
        assert!(!seen.out.contains("+1") && seen.code == Some(0), "{}", seen.out);
    }
}

#[test]
fn what_cannot_be_added_is_named() {
    let folder = folder("profile_merge_refused");
    let program = file(&folder, "twice.hol", PROGRAM);
    let other = file(&folder, "other.hol", PROGRAM.replace("% 3", "% 4"));
    let [a, b, c, out] = ["a", "b", "c", "out"].map(|name| path(&folder, &format!("{name}.json")));
    run(&a, &program, "o1", &["blpp", "pep:samples=8,stride=3"]);
    run(&b, &program, "o1", &["blpp", "pep:samples=9,stride=3"]);
    run(&c, &other, "o1", &["blpp", "pep:samples=8,stride=3"]);
    for (files, parts) in [
        ([&a, &b], ["by the same profilers", "samples=8", "samples=9"]),
        ([&a, &c], ["different programs", "the code of main differs", "has code"]),
    ] {
        let seen = merge(&[&out, files[0], files[1]]);
        assert_eq!(seen.code, Some(2));
        assert!(parts.iter().all(|part| seen.err.contains(part)), "{}", seen.err);
        assert!(!Path::new(&out).exists());
    }
    run(&b, &program, "o1", &["subpaths"]);
    let seen = merge(&[&out, &b, &b]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("what `subpaths` finds cannot be added"), "{}", seen.err);
    run(&b, &program, "o1", &["calls", "oneshot"]);
    let seen = merge(&[&out, &b, &b]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    assert!(seen.err.contains("left out: `oneshot`"), "{}", seen.err);
    assert_eq!(json(&out)["profilers"], serde_json::json!(["calls"]));
    assert_eq!(holloway(&["profile", "check", &out]).code, Some(0));
}
