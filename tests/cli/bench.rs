//! `bench`.

use crate::process::{folder, holloway};

#[test]
fn programs_are_measured_and_verified() {
    let path = folder("bench").join("times.json");
    let json = path.to_string_lossy();
    let seen = holloway(&["bench", "sieve", "fft", "--size", "quick", "--iterations", "3", "--json", &json]);
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{}", seen.out);
    let lines: Vec<&str> = seen.out.lines().collect();
    assert!(lines[0].starts_with("program") && lines[0].ends_with("result"), "{}", seen.out);
    assert!(lines[1].starts_with("sieve") && lines[1].ends_with("verified"), "{}", seen.out);
    assert!(lines[2].starts_with("fft") && lines[2].ends_with("verified"), "{}", seen.out);
    let text = std::fs::read_to_string(&path).expect("it was written");
    for part in ["\"samples_ns\"", "\"machine\"", "\"kernel\"", "\"date\"", "\"tier\": \"adaptive\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_failure_has_no_time_and_the_others_go_on() {
    let seen = holloway(&["bench", "cd", "sieve", "--size", "3", "--iterations", "2"]);
    assert_eq!(seen.code, Some(1));
    let lines: Vec<&str> = seen.out.lines().collect();
    assert!(lines[1].starts_with("cd") && lines[1].ends_with("-       -       -  FAILED"), "{}", seen.out);
    assert!(lines[2].starts_with("sieve") && lines[2].ends_with("verified"), "{}", seen.out);
    assert!(lines[3].starts_with("cd: ValueError: no result is known for size 3"), "{}", seen.out);
}

#[test]
fn limits_hold_for_benchmarks_too() {
    let seen = holloway(&["bench", "queens", "--iterations", "100000", "--time-limit", "200ms"]);
    assert_eq!(seen.code, Some(1));
    assert!(seen.out.contains("queens: the time limit is over"), "{}", seen.out);
}

#[test]
fn mistakes_are_reported_before_anything_is_measured() {
    let seen = holloway(&["bench", "sieve", "seive"]);
    assert_eq!((seen.code, &*seen.out), (Some(2), ""));
    assert!(
        seen.err.contains("did you mean sieve?") && seen.err.contains("the programs are: bounce"),
        "{}",
        seen.err
    );
    let nowhere = folder("bench_nowhere").join("none/times.json");
    let seen = holloway(&["bench", "--json", &nowhere.to_string_lossy()]);
    assert_eq!((seen.code, &*seen.out), (Some(2), ""));
    assert!(seen.err.contains("cannot write"), "{}", seen.err);
    for bad in [&["--size", "0"][..], &["--size", "big"], &["--iterations", "0"]] {
        assert_eq!(holloway(&[&["bench"], bad].concat()).code, Some(2), "{bad:?}");
    }
}
