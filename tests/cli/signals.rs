//! Ctrl-C.

use crate::process::{case, end, signal, start};
use std::io::Read;
use std::process::Child;
use std::time::Duration;

/// Generous, because the machine may be busy: it is milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until the program has said that it runs, and a little longer.
fn wait_for_output(child: &mut Child) {
    let mut first = [0; 1];
    child.stdout.as_mut().expect("it is caught").read_exact(&mut first).expect("it says something");
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn the_first_ends_the_program_with_its_trace() {
    for name in ["INT", "TERM"] {
        let mut child = start(&["run", &case("endless_loud.hol")]);
        wait_for_output(&mut child);
        signal(&child, name);
        let (seen, _) = end(child, PATIENCE);
        assert_eq!(seen.code, Some(1));
        assert!(seen.err.starts_with("error: interrupted\n    at "), "{}", seen.err);
        assert!(seen.out.ends_with("\nthe last line before\n"), "what was printed is written: {}", seen.out);
    }
}

#[test]
fn a_sleeping_program_is_interrupted_too() {
    let mut child = start(&["run", &case("sleeps.hol")]);
    wait_for_output(&mut child);
    signal(&child, "INT");
    let (seen, _) = end(child, PATIENCE);
    assert_eq!(seen.code, Some(1));
    assert!(seen.err.starts_with("error: interrupted\n    at sleep "), "{}", seen.err);
    assert!(seen.err.contains("at main ("), "{}", seen.err);
}

#[test]
fn the_second_ends_the_process() {
    // It fills a pipe that nobody reads, and so it never looks for interrupts.
    let child = start(&["run", &case("talks.hol")]);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "INT");
    let mut child = child;
    let start = std::time::Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        assert!(start.elapsed() < PATIENCE, "it runs on");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait().expect("it ended").code(), Some(1));
}

#[test]
fn bench_reports_what_was_measured_before() {
    let child = start(&["bench", "sieve", "bounce", "--iterations", "1000000", "--size", "quick"]);
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "INT");
    let (seen, _) = end(child, PATIENCE);
    assert_eq!(seen.code, Some(1));
    assert!(seen.out.contains("of 1000000"), "{}", seen.out);
    assert!(
        seen.out.contains("interrupted") && seen.err.contains("interrupted"),
        "{} {}",
        seen.out,
        seen.err
    );
}
