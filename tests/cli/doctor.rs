//! `holloway doctor`: it answers on any machine.

use crate::process::holloway;
use serde_json::Value;

const NAMES: &[&str] = &[
    "processor",
    "cores",
    "performance counters",
    "branch records",
    "perf_event_paranoid",
    "frequency scaling",
    "clock",
    "noise",
    "memory",
    "huge pages",
    "valgrind",
];

#[test]
fn every_finding_says_what_it_means() {
    let seen = holloway(&["doctor", "--json"]);
    assert_eq!((seen.code, &*seen.err), (Some(0), ""));
    let report: Value = serde_json::from_str(&seen.out).expect("JSON");
    assert_eq!((&report["format"], &report["version"]), (&"holloway-doctor".into(), &1.into()));
    let findings = report["findings"].as_array().expect("findings");
    for name in NAMES {
        let finding = findings.iter().find(|finding| finding["name"] == *name);
        let finding = finding.unwrap_or_else(|| panic!("there is no {name}"));
        let text = |key: &str| finding[key].as_str().expect("a text").to_string();
        assert!(!text("found").is_empty() && !text("means").is_empty(), "{name}");
        let verdict = text("verdict");
        assert!(["good", "note", "poor"].contains(&&*verdict), "{name}: {verdict}");
        assert!(verdict != "poor" || finding["remedy"].is_string(), "{name} has no way out");
    }
    let seen = holloway(&["doctor"]);
    assert_eq!(seen.code, Some(0));
    assert!(NAMES.iter().all(|name| seen.out.contains(&format!("  {name}: "))), "{}", seen.out);
}

/// Where the processor's records of branches cannot be had, it is said once, with what to do instead.
#[test]
fn a_machine_without_branch_records_refuses_them() {
    let report = holloway(&["doctor", "--json"]).out;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let records = findings.iter().find(|finding| finding["name"] == "branch records").expect("it is there");
    let folder = crate::process::folder("doctor_lbr");
    let program = crate::process::file(&folder, "empty.hol", "fn main() {}\n");
    let seen = holloway(&["run", "--profile", "btb:backend=lbr", &program]);
    if records["verdict"] == "good" {
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        return;
    }
    assert_eq!(seen.code, Some(2));
    for part in ["btb:backend=lbr", "holloway doctor", "backend=step", "backend=burst"] {
        assert!(seen.err.contains(part), "{}", seen.err);
    }
    assert_eq!(seen.err.lines().count(), 1, "{}", seen.err);
}
