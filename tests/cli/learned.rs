//! Files that one run writes and another reads: advice and calibrations.

use crate::process::{Seen, folder, holloway};
use std::path::Path;

const PROGRAM: &str = "\
fn step(n: Int) -> Int {
    if n % 3 == 0 { n / 3 } else { n + 1 }
}

fn main() {
    var sum = 0
    for i in 0..200000 {
        sum += step(i)
    }
    println(sum.toString())
}
";

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it was written")
}

fn digest(seen: &Seen) -> &str {
    let digest = seen.err.lines().find(|line| line.starts_with("digest of the machine code"));
    digest.expect("a digest").split_whitespace().last().expect("a number")
}

#[test]
fn a_run_is_replayed() {
    let folder = folder("replay");
    let (program, advice) = (folder.join("steps.hol"), folder.join("advice.json"));
    std::fs::write(&program, PROGRAM).expect("a file");
    let (program, path) = (program.to_string_lossy(), advice.to_string_lossy());
    let first = holloway(&["run", &program, "--sync-compile", "--advice-out", &path, "--stats"]);
    assert_eq!(first.code, Some(0), "{}", first.err);
    assert!(text(&advice).contains("\"name\": \"step\""), "{}", text(&advice));
    let replay = || holloway(&["run", &program, "--replay", &path, "--stats"]);
    let (one, two) = (replay(), replay());
    assert_eq!((one.code, &one.out), (Some(0), &first.out), "{}", one.err);
    assert_eq!(digest(&one), digest(&two));
    assert_ne!(digest(&one), "0000000000000000");

    std::fs::write(&*program, PROGRAM.replace("n + 1", "n + 2")).expect("a file");
    let changed = holloway(&["run", &program, "--replay", &path]);
    assert_eq!((changed.code, &*changed.out), (Some(2), ""));
    assert!(
        changed.err.contains("the advice does not fit the program: `step` has changed"),
        "{}",
        changed.err
    );
}

#[test]
fn advice_is_written_even_if_the_program_fails() {
    let folder = folder("advice_failure");
    let (program, advice) = (folder.join("fails.hol"), folder.join("advice.json"));
    std::fs::write(&program, PROGRAM.replace("sum.toString()", "(1 / (sum - sum)).toString()"))
        .expect("a file");
    let path = advice.to_string_lossy();
    let seen = holloway(&["run", &program.to_string_lossy(), "--advice-out", &path]);
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(text(&advice).contains("holloway-advice"));
}

#[test]
fn bad_files_are_refused_before_anything_runs() {
    let folder = folder("bad_advice");
    let program = folder.join("steps.hol");
    std::fs::write(&program, PROGRAM).expect("a file");
    let program = program.to_string_lossy();
    let refused = |arguments: &[&str], why: &str| {
        let seen = holloway(&[&["run", &*program], arguments].concat());
        assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{}", seen.err);
        assert!(seen.err.contains(why), "`{why}` is not in {}", seen.err);
    };
    let bad = folder.join("bad.json");
    let bad = bad.to_string_lossy();
    refused(&["--replay", "nowhere.json"], "cannot read nowhere.json");
    for content in ["", "{", "[]", "{\"format\": 1}", "\u{0}\u{ff}"] {
        std::fs::write(&*bad, content).expect("a file");
        refused(&["--replay", &bad], "is not advice");
        refused(&["--calibration", &bad], "is not a calibration");
    }
    refused(&["--replay", &bad, "--tier", "o2"], "leave one of them out");
    refused(&["--advice-out", &folder.join("none/a.json").to_string_lossy()], "cannot write");
    refused(&["--advice-out", "a.json", "--tier", "interp"], "nothing is");
    let bench = holloway(&["bench", "--replay", &bad, "sieve", "list"]);
    assert_eq!(bench.code, Some(2));
}

#[test]
fn a_calibration_is_measured_and_used() {
    let folder = folder("calibration");
    let (program, out) = (folder.join("steps.hol"), folder.join("here.json"));
    std::fs::write(&program, PROGRAM).expect("a file");
    let (program, path) = (program.to_string_lossy(), out.to_string_lossy());
    let measured = holloway(&["calibrate", "--quick", "--out", &path]);
    assert_eq!(measured.code, Some(0), "{}", measured.err);
    assert_eq!(measured.out.trim(), text(&out).trim());
    let seen = holloway(&["run", &program, "--calibration", &path]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    // Nothing ever pays if compiling is expensive enough, and everything if it is free.
    let with_share = |share: &str| {
        let constants: serde_json::Value = serde_json::from_str(&text(&out)).expect("JSON");
        let mut constants = constants.as_object().expect("an object").clone();
        constants["share"] = serde_json::from_str(share).expect("a number");
        constants["compile_ns_per_word"] = serde_json::json!([1e12, 1e12, 1e12]);
        std::fs::write(&out, serde_json::to_string(&constants).expect("JSON")).expect("a file");
        holloway(&["run", &program, "--calibration", &path, "--stats=json", "--sync-compile"])
    };
    let compiled = |seen: &Seen| {
        let stats: serde_json::Value = serde_json::from_str(&seen.err).expect("JSON");
        ["o0", "o1", "o2"]
            .iter()
            .map(|level| stats["compilations"][level].as_u64().expect("a number"))
            .sum::<u64>()
    };
    assert_eq!(compiled(&with_share("1.0")), 0);
    assert!(compiled(&with_share("0.0")) > 0);
    let seen = with_share("7.0");
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("`share` must be between 0 and 1"), "{}", seen.err);
}
