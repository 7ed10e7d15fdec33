//! `profile export --format pprof`, read by a decoder of its own: the wire format of Protocol Buffers as its specification has it, the
//! field numbers of pprof's `profile.proto`, and what `go tool pprof` checks before it shows anything.

use crate::process::{file, folder, holloway};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PROGRAM: &str = "\
fn twice(n: Int) -> Int {
    n * 2
}

fn work(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        if i % 3 == 0 { sum += twice(i) } else { sum += 1 }
        sum += twice(1)
    }
    sum
}

fn main() {
    println(work(10).toString())
    println(work(1000).toString())
}
";

/// A field of a message: its number, and what it holds.
enum Field<'b> {
    Number(u64, u64),
    Bytes(u64, &'b [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&first, rest) = bytes.split_first().expect("a byte more");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number of more than ten bytes");
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        fields.push(match key & 7 {
            0 => Field::Number(key >> 3, varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (own, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(key >> 3, own)
            }
            other => panic!("a field of wire type {other}"),
        });
    }
    fields
}

/// All messages or strings in fields of this number.
fn inner(bytes: &[u8], number: u64) -> Vec<&[u8]> {
    let of = |field| match field {
        Field::Bytes(at, own) if at == number => Some(own),
        _ => None,
    };
    fields(bytes).into_iter().filter_map(of).collect()
}

/// All numbers in fields of this number, packed or not.
fn numbers(bytes: &[u8], number: u64) -> Vec<u64> {
    let mut found = Vec::new();
    for field in fields(bytes) {
        match field {
            Field::Number(at, value) if at == number => found.push(value),
            Field::Bytes(at, mut packed) if at == number => {
                while !packed.is_empty() {
                    found.push(varint(&mut packed));
                }
            }
            _ => {}
        }
    }
    found
}

/// A number of which there is at most one, 0 if there is none.
fn number(bytes: &[u8], of: u64) -> u64 {
    let found = numbers(bytes, of);
    assert!(found.len() <= 1, "{found:?}");
    found.first().copied().unwrap_or(0)
}

/// A function: name, file, line where it begins.
type Function = (String, String, u64);

/// A sample: its frames from the innermost, each a function and a line, and its values.
type Sample = (Vec<(Function, u64)>, Vec<u64>);

/// The samples of a profile, after what pprof's own reader refuses was looked for.
fn decoded(bytes: &[u8]) -> Vec<Sample> {
    let strings: Vec<&str> =
        inner(bytes, 6).into_iter().map(|text| std::str::from_utf8(text).expect("a text")).collect();
    assert_eq!(strings.first(), Some(&""), "the first string is empty");
    let text = |message: &[u8], of: u64| strings[number(message, of) as usize].to_string();
    let types = inner(bytes, 1);
    assert!(
        !types.is_empty() && types.iter().all(|kind| !text(kind, 1).is_empty() && !text(kind, 2).is_empty())
    );
    assert!(types.iter().any(|kind| number(kind, 1) == number(bytes, 14)), "the default is one of the types");
    let mut functions: BTreeMap<u64, Function> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for function in inner(bytes, 5) {
        let known = (text(function, 2), text(function, 4), number(function, 5));
        assert!(names.insert((known.0.clone(), known.1.clone())), "{known:?} is one function");
        let id = number(function, 1);
        assert!(id != 0 && functions.insert(id, known).is_none(), "function {id}");
    }
    let mut locations = BTreeMap::new();
    for location in inner(bytes, 4) {
        let [line] = inner(location, 4)[..] else { panic!("a location has one line") };
        let function = functions.get(&number(line, 1)).expect("its function is there").clone();
        let id = number(location, 1);
        assert!(id != 0 && locations.insert(id, (function, number(line, 2))).is_none(), "location {id}");
    }
    let sample = |message: &[u8]| {
        let frames = numbers(message, 1).iter().map(|id| locations[id].clone()).collect();
        let values = numbers(message, 2);
        assert_eq!(values.len(), types.len(), "a value for each type");
        (frames, values)
    };
    inner(bytes, 2).into_iter().map(sample).collect()
}

/// The program's profile, and its export.
fn exported(name: &str, profilers: &[&str]) -> (Value, Vec<Sample>) {
    let folder = folder(name);
    let program = file(&folder, "sums.hol", PROGRAM);
    let (profile, out) = (folder.join("profile.json"), folder.join("profile.pb"));
    let paths = [&profile, &out].map(|path| path.to_string_lossy().into_owned());
    let [profile_path, out_path] = paths.each_ref().map(String::as_str);
    let profilers: Vec<&str> = profilers.iter().flat_map(|of| ["--profile", *of]).collect();
    let run = [&["run", &*program, "--tier", "o0", "--profile-out", profile_path], &profilers[..]].concat();
    let seen = holloway(&run);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let seen = holloway(&["profile", "export", profile_path, "--format", "pprof", "--out", out_path]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let json = serde_json::from_slice(&std::fs::read(profile).expect("it was written")).expect("JSON");
    (json, decoded(&std::fs::read(out).expect("it was written")))
}

fn line_of(text: &str) -> u64 {
    PROGRAM.lines().position(|line| line.contains(text)).expect("a line of the program") as u64 + 1
}

#[test]
#[cfg(target_arch = "x86_64")]
fn calls_have_functions_files_and_lines() {
    let (profile, samples) = exported("pprof-calls", &["calls"]);
    let mut calls: BTreeMap<(String, u64, String), u64> = BTreeMap::new();
    for (frames, values) in &samples {
        let [(callee, at), (caller, line)] = &frames[..] else { panic!("{frames:?}") };
        // The innermost stands where it begins.
        assert_eq!(*at, callee.2, "{callee:?}");
        assert!(!callee.1.is_empty() && *line > 0, "{frames:?}");
        *calls.entry((caller.0.clone(), *line, callee.0.clone())).or_default() += values[0];
        for (function, line) in frames.iter().filter(|((_, file, _), _)| file.ends_with("sums.hol")) {
            assert!(
                function.2 >= 1 && function.2 <= *line && *line <= PROGRAM.lines().count() as u64,
                "{frames:?}"
            );
        }
    }
    let count = |caller: &str, line: u64, callee: &str| {
        calls.get(&(caller.to_string(), line, callee.to_string())).copied().unwrap_or(0)
    };
    assert_eq!(count("work", line_of("twice(i)"), "twice"), 334 + 4);
    assert_eq!(count("work", line_of("twice(1)"), "twice"), 1010);
    assert_eq!(count("main", line_of("work(1000)"), "work"), 1);
    assert_eq!(count("main", line_of("work(10)"), "work"), 1);
    // All that the file says, and nothing else.
    let edges = profile["calls"]["exact"].as_array().expect("exact calls");
    let all: u64 = edges.iter().filter_map(|edge| edge["count"].as_u64()).sum();
    assert!(all > 1300, "{edges:?}");
    assert_eq!(samples.iter().map(|(_, values)| values[0]).sum::<u64>(), all);
    let begins: BTreeMap<&str, u64> = samples
        .iter()
        .flat_map(|(frames, _)| frames)
        .map(|((name, _, begin), _)| (&**name, *begin))
        .collect();
    assert_eq!(begins["twice"], line_of("fn twice"));
    assert_eq!(begins["work"], line_of("fn work"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn paths_have_the_lines_of_their_branches() {
    let (profile, samples) = exported("pprof-paths", &["blpp"]);
    let all: u64 = profile["exact"]
        .as_array()
        .expect("exact paths")
        .iter()
        .filter_map(|record| record["count"].as_u64())
        .sum();
    assert!(all > 1000);
    assert_eq!(samples.iter().map(|(_, values)| values[0]).sum::<u64>(), all);
    let condition = line_of("if i % 3 == 0");
    let mut at_branch = 0;
    for (frames, values) in &samples {
        let (outermost, _) = frames.last().expect("a frame");
        assert!(!outermost.1.is_empty() && outermost.2 > 0, "{frames:?}");
        let is_there = |((name, file, _), line): &(Function, u64)| {
            *line == condition
                && file.ends_with("sums.hol")
                && name.starts_with(&format!("work:{condition} "))
        };
        at_branch += if frames.iter().any(is_there) { values[0] } else { 0 };
    }
    // The same by the file: paths with a branch in that line.
    let list = |of: &str| profile[of].as_array().expect("a list").clone();
    let branches = list("branches");
    let has_branch = |path: &Value| {
        let of_path = path["branches"].as_array().expect("its branches");
        of_path.iter().filter_map(|at| at[0].as_u64()).any(|at| branches[at as usize]["line"] == condition)
    };
    let paths = list("paths");
    let meaning = |record: &Value| {
        let is_it =
            |path: &&Value| path["version"] == record["version"] && path["number"] == record["number"];
        paths.iter().find(is_it).expect("what it means")
    };
    let exact = list("exact");
    let of_branch = exact.iter().filter(|record| has_branch(meaning(record)));
    let expected: u64 = of_branch.filter_map(|record| record["count"].as_u64()).sum();
    assert!(at_branch == expected && expected > 900, "{at_branch} of {expected}");
}
