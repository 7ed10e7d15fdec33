//! `accuracy`: the table has what was asked for, figures repeat, and what cannot be judged is refused.

use crate::process::{folder, holloway};
use serde_json::Value;

#[test]
fn estimates_are_compared_over_programs() {
    let path = folder("accuracy").join("accuracy.json");
    let json = path.to_str().expect("a readable path");
    let arguments = ["accuracy", "adversary", "ledger", "--tier", "o0", "--ticks", "100", "--profile", "cbs"];
    let more =
        ["--profile", "cbs:schedule=timer", "--profile", "oneshot", "--profile", "icache", "--json", json];
    let seen = holloway(&[&arguments[..], &more[..]].concat());
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{}", seen.out);
    for part in ["   2  cbs:schedule=timer", "adversary ", "ledger ", "mean ", "samples/tick "] {
        assert!(seen.out.contains(part), "{part} is not in {}", seen.out);
    }
    let file: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("it was written")).expect("JSON");
    let figures = file["figures"].as_array().expect("figures");
    assert_eq!(figures.len(), 8);
    let overlap = |at: usize| figures[at]["overlap"].as_f64().expect("a number");
    assert!(overlap(0) > 90.0 && overlap(1) < 60.0, "{} {}", overlap(0), overlap(1));
    assert!(figures[0]["ticks"].as_u64().is_some_and(|ticks| (90..=120).contains(&ticks)), "{figures:?}");
    let again = holloway(&[&arguments[..], &more[..]].concat());
    assert_eq!(again.out, seen.out);
}

#[test]
fn what_estimates_no_calls_is_refused() {
    for (arguments, part) in [
        (&["queens"][..], "add --profile"),
        (&["queens", "--profile", "pep"], "estimates no calls"),
        (&["queen", "--profile", "cbs"], "queen"),
    ] {
        let seen = holloway(&[&["accuracy"], arguments].concat());
        assert_eq!(seen.code, Some(2), "{arguments:?}");
        assert!(seen.err.contains(part), "{part} is not in {}", seen.err);
    }
}
