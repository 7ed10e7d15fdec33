//! `--layout`: the profile by which blocks are ordered.

use crate::process::{file, folder, holloway};

const PROGRAM: &str = "\
fn step(n: Int) -> Int {
    if n % 30 != 0 { n + 1 } else { n / 3 }
}

fn main() {
    var sum = 0
    for i in 0..200000 { sum += step(i) }
    println(sum.toString())
}
";

/// Programs do the same with every layout, and exact counts order blocks otherwise than flipped ones.
#[test]
#[cfg(target_arch = "x86_64")]
fn blocks_can_be_ordered_by_any_profile() {
    let folder = folder("layout");
    let program = file(&folder, "steps.hol", PROGRAM);
    let profile = folder.join("profile.json").to_string_lossy().into_owned();
    let profilers = ["--profile", "edges", "--profile", "pep"];
    let run = |flags: &[&str]| {
        let seen = holloway(&[&["run", &program, "--sync-compile"], flags].concat());
        assert_eq!((seen.code, &*seen.out), (Some(0), "19555671113\n"), "{flags:?}: {}", seen.err);
        seen.err
    };
    run(&[&profilers[..], &["--profile-out", &profile]].concat());
    let (exact, pep, flipped) =
        (format!("exact={profile}"), format!("pep={profile}"), format!("flipped={profile}"));
    let plan = |layout: &str| run(&["--layout", layout, "--show", "plan"]);
    for layout in ["one-time", "pep", &pep, &exact, "flipped", &flipped] {
        assert!(plan(layout).contains("for each entry"), "{layout}: {}", plan(layout));
    }
    assert!(plan("none").contains("not planned"), "{}", plan("none"));
    assert_ne!(plan(&exact), plan(&flipped));
}

#[test]
fn layouts_that_cannot_be_used_are_refused() {
    let folder = folder("layout_refused");
    let (program, other) =
        (file(&folder, "steps.hol", PROGRAM), file(&folder, "other.hol", "fn main() {}\n"));
    let profile = folder.join("profile.json").to_string_lossy().into_owned();
    let seen = holloway(&["run", &program, "--profile", "blpp", "--profile-out", &profile]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let refused = |file: &str, layout: &str, why: &str| {
        let seen = holloway(&["run", file, "--layout", layout]);
        assert!(seen.code == Some(2) && seen.err.contains(why), "{layout}: {seen:?}");
    };
    refused(&program, "hottest", "the layouts are one-time");
    refused(&program, "exact", "exact=FILE");
    refused(&program, "exact=no-such-file.json", "no-such-file.json");
    refused(&program, &format!("exact={profile}"), "--profile edges");
    refused(&program, &format!("pep={profile}"), "--profile pep");
    let seen = holloway(&["run", &program, "--profile", "edges", "--profile-out", &profile]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    refused(&other, &format!("exact={profile}"), "the profile of another program");
}
