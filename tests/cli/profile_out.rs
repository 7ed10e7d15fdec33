//! `--profile-out`: however the program ends, the file is complete and says how; and a file that was there before is replaced
//! by a complete one or not at all.

use crate::process::{Seen, case, command, end, file, folder, holloway, signal, start};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Generous, because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(20);

/// Everything is compiled when it is met first, so that there is something to count.
const PROFILED: [&str; 12] = [
    "run",
    "--sync-compile",
    "--tier",
    "o1",
    "--profile",
    "edges",
    "--profile",
    "blpp",
    "--profile",
    "pep",
    "--profile",
    "kblpp:k=3",
];

/// What is in a file that was there before.
const OLD: &str = "what was there before\n";

/// An empty folder with an old file in it.
fn with_old(name: &str) -> (PathBuf, String) {
    let folder = folder(name);
    let out = file(&folder, "profile.json", OLD);
    (folder, out)
}

/// Runs a program to its end, whatever that is.
fn run(out: &str, flags: &[&str], program: &str) -> Seen {
    holloway(&[&PROFILED[..], &["--profile-out", out], flags, &[program]].concat())
}

/// The profile is complete, agrees with itself, and says that the program ended this way; nothing is beside it.
fn is_whole(folder: &Path, out: &str, ended: &str) {
    let text = std::fs::read_to_string(out).expect("it was written");
    let profile: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(profile["ended"], ended, "{text}");
    let counts = profile["edges"]["exact"].as_array().map_or(0, Vec::len);
    assert!(counts > 0 && profile["versions"].as_array().is_some_and(|all| !all.is_empty()), "{text}");
    let seen = holloway(&["profile", "check", out]);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    let shown = holloway(&["profile", "show", out]).out;
    assert!(shown.contains(&format!("run       {ended}")), "{shown}");
    assert_eq!(names(folder), ["profile.json", "program.hol"]);
}

/// The names of what is in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("it is there").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Counts for ever, or to a number and then fails. Sleeping writes what was printed, so that a reader sees that it runs.
const COUNTS: &str = "\
fn main() {
    println(\"it runs\")
    sleep(1)
    var n = 0
    var odd = 0
    while args().length == 0 || n < 1000 {
        n += 1
        if n % 2 == 1 { odd += 1 }
    }
    let numbers = [1, 2, 3]
    println(numbers[odd].toString())
}
";

#[test]
fn limits_leave_a_whole_profile() {
    for (name, flags) in [("fuel", ["--fuel", "3000"]), ("time", ["--time-limit", "300ms"])] {
        let (folder, out) = with_old(&format!("profile_out_{name}"));
        let program = file(&folder, "program.hol", COUNTS);
        let seen = run(&out, &flags, &program);
        assert_eq!((seen.code, &*seen.out), (Some(1), "it runs\n"), "{}", seen.err);
        is_whole(&folder, &out, "stopped by a limit");
    }
}

#[test]
fn an_uncaught_error_leaves_a_whole_profile() {
    let (folder, out) = with_old("profile_out_error");
    let program = file(&folder, "program.hol", COUNTS);
    let line = [&PROFILED[..], &["--profile-out", &out, &program, "--", "ends"]].concat();
    let seen = holloway(&line);
    assert_eq!((seen.code, &*seen.out), (Some(1), "it runs\n"));
    assert!(seen.err.starts_with("error: IndexError: index 500 "), "{}", seen.err);
    is_whole(&folder, &out, "failed with an error");
}

#[test]
fn an_interrupt_leaves_a_whole_profile() {
    for name in ["INT", "TERM"] {
        let (folder, out) = with_old(&format!("profile_out_{name}"));
        let program = file(&folder, "program.hol", COUNTS);
        let mut child = start(&[&PROFILED[..], &["--profile-out", &out, &program]].concat());
        let mut first = [0; 1];
        child.stdout.as_mut().expect("it is caught").read_exact(&mut first).expect("it says something");
        std::thread::sleep(Duration::from_millis(300));
        // Until the program is over, the old file is there.
        assert_eq!(std::fs::read_to_string(&out).expect("it is there"), OLD);
        signal(&child, name);
        let (seen, _) = end(child, PATIENCE);
        assert_eq!(seen.code, Some(1));
        assert!(seen.err.starts_with("error: interrupted\n    at "), "{}", seen.err);
        is_whole(&folder, &out, "interrupted");
    }
}

#[test]
fn the_second_interrupt_leaves_the_old_file() {
    let (_, out) = with_old("profile_out_twice");
    // It fills a pipe that nobody reads, and so it never looks for interrupts.
    let talks = case("talks.hol");
    let mut child = start(&[&PROFILED[..], &["--profile-out", &out, &talks]].concat());
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..2 {
        signal(&child, "INT");
        std::thread::sleep(Duration::from_millis(200));
    }
    let begun = std::time::Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        assert!(begun.elapsed() < PATIENCE, "it runs on");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(std::fs::read_to_string(&out).expect("it is there"), OLD);
}

#[test]
fn a_killed_program_leaves_the_old_file() {
    let (folder, out) = with_old("profile_out_killed");
    let program = file(&folder, "program.hol", COUNTS);
    let mut child = start(&[&PROFILED[..], &["--profile-out", &out, &program]].concat());
    let mut first = [0; 1];
    child.stdout.as_mut().expect("it is caught").read_exact(&mut first).expect("it says something");
    signal(&child, "KILL");
    assert_eq!(child.wait().expect("it ended").code(), None);
    assert_eq!(std::fs::read_to_string(&out).expect("it is there"), OLD);
}

#[test]
fn what_cannot_be_written_is_said_before_the_program_runs() {
    let folder = folder("profile_out_nowhere");
    let program = file(&folder, "program.hol", COUNTS);
    let nowhere = folder.join("none/profile.json");
    let places = [nowhere.to_string_lossy().into_owned(), folder.to_string_lossy().into_owned()];
    for out in places {
        let seen = run(&out, &["--fuel", "10"], &program);
        assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{out}: {}", seen.err);
        assert!(seen.err.contains("cannot write"), "{out}: {}", seen.err);
    }
    assert_eq!(names(&folder), ["program.hol"]);
}

#[test]
fn a_program_that_does_not_compile_leaves_the_old_file_and_nothing_else() {
    let (folder, out) = with_old("profile_out_wrong");
    let program = file(&folder, "program.hol", "fn main() { nothing }");
    let seen = run(&out, &[], &program);
    assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{}", seen.err);
    assert_eq!(std::fs::read_to_string(&out).expect("it is there"), OLD);
    assert_eq!(names(&folder), ["profile.json", "program.hol"]);
}

#[test]
fn a_full_disk_is_reported_with_the_name_of_the_file() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = folder("profile_out_full");
    let program = file(&folder, "program.hol", COUNTS);
    let line = [&PROFILED[..], &["--profile-out", "/dev/full", "--fuel", "3000", &program]].concat();
    let seen: Seen = command(&line).output().expect("the binary starts").into();
    assert_eq!(seen.code, Some(1));
    assert!(seen.err.contains("cannot write /dev/full"), "{}", seen.err);
}

#[test]
fn a_file_that_cannot_be_written_costs_no_other() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = folder("profile_out_beside");
    let program = file(&folder, "program.hol", COUNTS);
    let out = folder.join("profile.json").to_string_lossy().into_owned();
    let files = ["--advice-out", "/dev/full", "--profile-out", &out];
    let seen = holloway(&[&PROFILED[..], &files, &[&program, "--", "ends"]].concat());
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(seen.err.contains("cannot write /dev/full"), "{}", seen.err);
    assert!(Path::new(&out).exists());
    let bench =
        ["bench", "permute", "--size", "quick", "--iterations", "2", "--tier", "o1", "--profile", "edges"];
    let seen = holloway(&[&bench[..], &files].concat());
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(seen.err.contains("cannot write /dev/full"), "{}", seen.err);
}
