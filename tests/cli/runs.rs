//! `run` and `check`: streams and exit codes.

use crate::process::{case, command, file, folder, holloway, start};
use std::io::Read;
use std::process::Stdio;

#[test]
fn a_program_that_ends_well() {
    let seen = holloway(&["run", &case("greets.hol"), "--", "Ada", "--heap", "two words"]);
    assert_eq!((seen.code, &*seen.err), (Some(0), ""));
    assert_eq!(seen.out, "Hello Ada\nHello --heap\nHello two words\n");
}

#[test]
fn an_uncaught_error_ends_with_its_trace() {
    let path = case("fails.hol");
    let seen = holloway(&["run", &path]);
    assert_eq!((seen.code, &*seen.out), (Some(1), "before\n"));
    let expected = format!(
        "error: IndexError: index 3 is out of bounds for length 3\n    at third ({path}:2:5)\n    at main ({path}:7:13)\n"
    );
    assert_eq!(seen.err, expected);
}

#[test]
fn errors_of_threads_are_reported_at_the_end() {
    let path = case("thread_fails.hol");
    let seen = holloway(&["run", &path]);
    assert_eq!((seen.code, &*seen.out), (Some(1), "main is over\n"));
    assert!(seen.err.starts_with("error in thread 1: ValueError: in the thread\n    at "), "{}", seen.err);
}

#[test]
fn a_program_that_does_not_compile() {
    for command in ["run", "check"] {
        let seen = holloway(&[command, &case("does_not_compile.hol")]);
        assert_eq!((seen.code, &*seen.out), (Some(2), ""));
        assert!(seen.err.contains("does_not_compile.hol:2:13"), "{}", seen.err);
        assert!(!seen.err.contains('\x1b'), "no colours in a pipe: {}", seen.err);
    }
}

#[test]
fn check_is_silent_about_good_programs_and_does_not_run_them() {
    let seen = holloway(&["check", &case("fails.hol")]);
    assert_eq!((seen.code, &*seen.out, &*seen.err), (Some(0), "", ""));
}

#[test]
fn limits_end_programs() {
    let seen = holloway(&["run", "--time-limit", "100ms", &case("endless.hol")]);
    assert_eq!((seen.code, &*seen.out), (Some(1), "started\n"));
    assert!(seen.err.starts_with("error: the time limit is over\n    at "), "{}", seen.err);
    let seen = holloway(&["run", "--fuel", "1000", &case("endless.hol")]);
    assert_eq!((seen.code, &*seen.out), (Some(1), "started\n"));
    assert!(seen.err.starts_with("error: the fuel is used up\n    at "), "{}", seen.err);
    let seen = holloway(&["run", "--stack-depth", "50", &case("recurses.hol"), "--", "100"]);
    assert_eq!(seen.code, Some(1));
    assert!(
        seen.err.starts_with("error: StackOverflowError: stack overflow: more than 50 nested calls\n"),
        "{}",
        seen.err
    );
    let seen = holloway(&["run", "--heap", "2m", &case("hoards.hol")]);
    assert_eq!(seen.code, Some(1));
    assert!(seen.err.starts_with("error: OutOfMemoryError: "), "{}", seen.err);
}

#[test]
fn a_program_that_sleeps_is_ended_on_time() {
    let seen = holloway(&["run", "--time-limit", "100ms", &case("sleeps.hol")]);
    assert_eq!((seen.code, &*seen.out), (Some(1), "sleeping\n"));
    assert!(seen.err.starts_with("error: the time limit is over\n"), "{}", seen.err);
}

#[test]
fn a_reader_who_has_seen_enough_ends_the_program() {
    let mut child = start(&["run", &case("talks.hol")]);
    let mut first = [0; 100];
    child.stdout.take().expect("it is caught").read_exact(&mut first).expect("it talks");
    // The reading end is closed now.
    let seen = crate::process::end(child, std::time::Duration::from_secs(20)).0;
    assert_eq!((seen.code, &*seen.err), (Some(1), ""));
}

#[test]
fn a_full_disk_is_reported() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").expect("a device"));
    let output = command(&["run", &case("greets.hol"), "--", "Ada"]).stdout(full()).output();
    let seen: crate::process::Seen = output.expect("the binary starts").into();
    assert_eq!(seen.code, Some(1));
    assert!(seen.err.starts_with("error: cannot write the output of the program: "), "{}", seen.err);
    // Nobody can be told that nobody can be told.
    let status = command(&["run", &case("fails.hol")]).stdout(full()).stderr(full()).status();
    assert_eq!(status.expect("the binary starts").code(), Some(1));
}

#[test]
fn output_without_line_end_is_written_whole() {
    let folder = folder("no_line_end");
    let path = file(&folder, "a.hol", "fn main() { print(\"one\") print(\" two\") }");
    let path2 = file(&folder, "b.hol", "fn main() { print(\"one\"); print(\" two\") }");
    assert_eq!(holloway(&["run", &path]).code, Some(2));
    assert_eq!(holloway(&["run", &path2]).out, "one two");
}

#[test]
fn statistics_and_the_log_go_to_standard_error() {
    let seen = holloway(&["run", "--stats", &case("greets.hol")]);
    assert_eq!((seen.code, &*seen.out), (Some(0), ""));
    assert!(seen.err.contains("yieldpoints taken") && seen.err.contains("minor collections"), "{}", seen.err);
    let seen = holloway(&["run", "--stats=json", "--log", "gc", "--gc-stress", &case("fails.hol")]);
    assert_eq!(seen.code, Some(1));
    let lines: Vec<&str> = seen.err.lines().collect();
    assert!(lines[0].starts_with("gc 1 "), "{}", seen.err);
    let last = lines.last().expect("lines");
    assert!(last.starts_with("{\"compile_ns\": ") && last.ends_with('}'), "{last}");
}
