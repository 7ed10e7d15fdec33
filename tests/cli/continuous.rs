//! `--continuous`: code that is made again when the program changes its behaviour.

use crate::process::{Seen, folder, holloway};

/// A branch that goes one way for a long time, and then the other.
const PROGRAM: &str = "\
fn step(n: Int, turn: Int) -> Int {
    if n % 8 < turn { n * 3 % 1009 } else { (n + 7) % 1013 }
}

fn main() {
    var n = 1
    for phase in 0..PHASES {
        let turn = if phase % 2 == 0 { 7 } else { 1 }
        for i in 0..CALLS {
            n = step(n + i, turn)
        }
    }
    println(n.toString())
}
";

fn run(name: &str, phases: u32, calls: u32, flags: &[&str]) -> Seen {
    let program = folder(name).join("phases.hol");
    let text = PROGRAM.replace("PHASES", &phases.to_string()).replace("CALLS", &calls.to_string());
    std::fs::write(&program, text).expect("a file");
    let program = program.to_string_lossy();
    let always = ["--sync-compile", "--timer", "virtual:1000", "--stats", "--log", "compile"];
    let seen = holloway(&[&["run"], &always[..], flags, &[&program]].concat());
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    seen
}

fn remade(seen: &Seen) -> usize {
    let line = seen.err.lines().find(|line| line.starts_with("made again"));
    line.and_then(|line| line.split_whitespace().last()?.parse().ok()).expect("a number")
}

#[test]
fn code_follows_phases() {
    let continuous = run("continuous", 4, 300_000, &["--continuous"]);
    assert!((3..=12).contains(&remade(&continuous)), "{}", continuous.err);
    assert!(continuous.err.contains("its branches changed"), "{}", continuous.err);
    let again = run("continuous_again", 4, 300_000, &["--continuous"]);
    let lines = |seen: &Seen| seen.err.lines().filter(|line| line.contains("branches changed")).count();
    assert_eq!((lines(&continuous), remade(&continuous)), (lines(&again), remade(&again)), "repeatable");
    let otherwise = run("not_continuous", 4, 300_000, &["--profile", "pep"]);
    assert_eq!((&otherwise.out, remade(&otherwise)), (&continuous.out, 0));
}

#[test]
fn what_changes_faster_than_code_can_follow_is_left_alone() {
    let seen = run("continuous_fast", 400, 1_000, &["--continuous"]);
    // Once or twice, from the first phase to the mean of all.
    assert!(remade(&seen) <= 4, "{}", seen.err);
}

#[test]
fn it_is_about_code_that_may_be_made_again() {
    let refused = |flags: &[&str], why: &str| {
        let seen = holloway(&[&["run", "--continuous"], flags, &["nothing.hol"]].concat());
        assert_eq!(seen.code, Some(2));
        assert!(seen.err.contains(why), "{}", seen.err);
    };
    refused(&["--replay", "advice.json"], "--continuous compiles anew");
    refused(&["--tier", "interp"], "--continuous is about compiled code");
}
