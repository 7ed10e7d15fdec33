//! A small profile, written by hand: a loop in two versions of a method that give its paths different numbers.

use super::load::parse;
use super::metrics::{lengths, named, weight_matching};
use super::model::Profile;
use super::text::{branches, ends, outcome, percent, table};
use super::wellformed::problems;
use holloway_profilers::metrics::{Flow, Share};
use serde_json::{Value, json};

fn value() -> Value {
    let place =
        |position: u32, line: u32| json!({"method": 3, "position": position, "file": 0, "line": line});
    let version = |id: u32, level: &str| json!({"id": id, "method": 3, "loop": null, "level": level, "paths": 4, "additions": 1, "added_ends": 0});
    let path = |version: u32, number: u64, arm: u32, length: u32| {
        json!({
            "version": version, "number": number, "begin": place(8, 4), "begins": "cut", "end": place(8, 4),
            "ends": "cut", "branches": [[0, arm]], "length": length,
        })
    };
    let count =
        |version: u32, number: u64, count: u64| json!({"version": version, "number": number, "count": count});
    json!({
        "format": "holloway-profile", "version": 1,
        "program": {"main": "walk.hol", "fingerprint": "0", "files": ["walk.hol"]},
        "ended": "finished", "profilers": ["blpp"],
        "methods": [{"id": 3, "name": "walk", "fingerprint": "1"}],
        "branches": [{"method": 3, "position": 9, "file": 0, "line": 5, "arms": 2}],
        "edges": {"baseline": [], "exact": null, "sampled": null},
        "versions": [version(0, "o1"), version(1, "o2")],
        "paths": [path(0, 0, 0, 1), path(0, 1, 1, 1), path(1, 3, 0, 2)],
        "exact": [count(0, 0, 10), count(0, 1, 5), count(1, 3, 20)],
        "sampled": null, "iterated": null, "dropped": {},
        "work": {"hash_operations": 0, "hash_probes": 0},
    })
}

/// The profile.
pub(super) fn example() -> Profile {
    let file = parse(value().to_string().as_bytes()).expect("it has the form");
    assert_eq!(problems(&file), [""; 0]);
    Profile::new(file)
}

#[test]
fn the_same_path_of_two_versions_is_one() {
    let profile = example();
    assert_eq!(profile.paths.len(), 2);
    let (_, exact) = profile.exact().expect("blpp ran");
    let counts = profile.counts(&exact);
    assert_eq!(counts.values().copied().collect::<Vec<u64>>(), [30, 5]);
    assert_eq!((profile.paths[0].versions.len(), profile.paths[0].length), (2, 2));
    let edges = profile.expanded(&exact);
    assert_eq!(edges.iter().next().map(|(_, arms)| arms.to_vec()), Some(vec![30, 5]));
    assert_eq!(ends(&profile, &profile.paths[1]), "walk:4 to 4");
    assert_eq!(branches(&profile, &profile.paths[1]), "5-");
    let (named, lengths) = (named(&profile, &counts), lengths(&profile, &profile));
    let found = weight_matching(&named, &named, &lengths, Flow::Branches, Share::HOT);
    assert_eq!((found.total_flow, found.accuracy()), (65, Some(1.0)));
}

#[test]
fn names_do_not_command_terminals() {
    let mut value = value();
    value["methods"][0]["name"] = json!("wa\u{1b}[31mlk");
    let file = parse(value.to_string().as_bytes()).expect("it has the form");
    assert_eq!(Profile::new(file).method(3), "wa\u{fffd}[31mlk");
}

#[test]
fn other_versions_are_recognized_whatever_else_they_have() {
    let why =
        parse(b"{\"format\": \"holloway-profile\", \"version\": 12, \"new\": [1]}").expect_err("too new");
    assert_eq!(why, "is of version 12, and this program reads version 1");
    let why = parse(b"{\"format\": \"holloway-profile\", \"version\": 1}").expect_err("too little");
    assert!(why.starts_with("is not a profile: missing field"), "{why}");
    assert!(parse(b"{\"format\":").expect_err("too short").starts_with("is cut short: it ends at line 1"));
}

#[test]
fn numbers_and_outcomes_in_words() {
    assert_eq!([outcome(0, 2), outcome(1, 2)], ["taken", "not taken"]);
    assert_eq!([outcome(0, 3), outcome(1, 3), outcome(2, 3)], ["case 0", "case 1", "default"]);
    assert_eq!([percent(1, 8), percent(1, 0)], ["12.50 %", "-"]);
    let rows = [vec!["1".to_string(), "one".to_string()], vec!["100".to_string(), String::new()]];
    assert_eq!(table(&["n", "name"], &rows), "    n  name\n    1  one\n  100\n");
}
