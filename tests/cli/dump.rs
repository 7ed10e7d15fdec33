//! `dump`.

use crate::process::{case, holloway};

#[test]
fn every_stage_can_be_seen() {
    let path = case("fails.hol");
    for (stage, part) in
        [("tokens", "1:1 "), ("ast", "third"), ("bytecode", "function main("), ("cfg", "digraph")]
    {
        let seen = holloway(&["dump", stage, &path]);
        assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{stage}");
        assert!(seen.out.contains(part), "{stage}: {}", seen.out);
    }
}

#[test]
fn functions_can_be_picked() {
    let path = case("fails.hol");
    for stage in ["bytecode", "cfg"] {
        let seen = holloway(&["dump", stage, &path, "--function", "third"]);
        assert_eq!(seen.code, Some(0));
        assert!(seen.out.contains("third") && seen.out.len() < 2_000, "{}", seen.out);
    }
    let seen = holloway(&["dump", "bytecode", &path, "--function", "fourth"]);
    assert_eq!((seen.code, &*seen.out), (Some(2), ""));
    assert!(seen.err.contains("no function's name contains 'fourth'"), "{}", seen.err);
    assert_eq!(holloway(&["dump", "tokens", &path, "--function", "third"]).code, Some(2));
}

#[test]
fn what_can_be_read_of_a_broken_file_is_shown() {
    let seen = holloway(&["dump", "tokens", &case("does_not_parse.hol")]);
    assert!(seen.code == Some(0) && seen.out.contains("1:1 "), "{seen:?}");
    let seen = holloway(&["dump", "ast", &case("does_not_parse.hol")]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.out.contains("good") && seen.err.contains("does_not_parse.hol:3"), "{seen:?}");
}
