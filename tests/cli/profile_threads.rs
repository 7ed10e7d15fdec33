//! `run --profile-threads` and what `holloway profile` says of threads.

use crate::process::{Seen, file, folder, holloway};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// The main thread goes 7000 rounds, in which the only tick is, then thread t goes 1000 t. Every fourth is counted in `if`.
const PROGRAM: &str = "\
fn walk(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        if i % 4 == 0 { sum += i } else { sum += 1 }
    }
    sum
}

fn main() {
    var sum = walk(args().length + 7000)
    let threads = List<Thread<Int>>()
    for t in 1..=3 {
        threads.add(spawn(|| walk(1000 * t)))
    }
    for thread in threads { sum += thread.join() }
    println(sum.toString())
}
";

const FLAGS: &str = "--tier o0 --sync-compile --timer virtual:6900 --profile edges --profile blpp --profile pep:samples=8,stride=3 \
     --profile kblpp:k=3 --profile kroy:k=3";

/// Runs the program with all profilers and these flags; the folder and the profile.
fn profiled(name: &str, flags: &[&str]) -> (PathBuf, String) {
    let folder = folder(name);
    let program = file(&folder, "threads.hol", PROGRAM);
    let out = folder.join("profile.json").to_str().expect("a readable path").to_string();
    let mut line = vec!["run", "--profile-out", &out];
    line.extend(FLAGS.split_whitespace());
    line.extend(flags);
    line.push(&program);
    let seen = holloway(&line);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    (folder, out)
}

fn by_thread(name: &str) -> (PathBuf, String) {
    profiled(name, &["--profile-threads"])
}

fn read(profile: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(profile).expect("it was written")).expect("JSON")
}

fn seen(code: i32, arguments: &[&str]) -> Seen {
    let seen = holloway(&[&["profile"], arguments].concat());
    assert_eq!(seen.code, Some(code), "{arguments:?}: {}{}", seen.out, seen.err);
    seen
}

fn shown(arguments: &[&str]) -> String {
    seen(0, arguments).out
}

#[test]
fn threads_are_listed_by_what_they_did() {
    let (_, profile) = by_thread("threads_listed");
    let text = shown(&["show", &profile]);
    assert!(text.contains("threads: 4, each counted by itself\n"), "{text}");
    let listed = shown(&["show", &profile, "--kind", "threads"]);
    let rows: Vec<Vec<&str>> = listed.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let names: Vec<String> = rows.iter().map(|row| row[row.len() - 2..].join(" ")).collect();
    assert_eq!(names, ["main thread", "3 main.closure", "2 main.closure", "1 main.closure"], "{listed}");
    let paths_run: Vec<&str> = rows[1..].iter().map(|row| row[2]).collect();
    assert_eq!(paths_run, ["3002", "2002", "1002"], "{listed}");
    let two = shown(&["show", &profile, "--kind", "threads", "--top", "2"]);
    assert!(two.ends_with("  2 more\n") && two.lines().count() == 5, "{two}");
}

#[test]
fn one_thread_is_looked_at_like_a_profile() {
    let (folder, profile) = by_thread("threads_one");
    let text = shown(&["show", &profile, "--thread", "2"]);
    for part in ["thread    2  main.closure", "500/1500", "1999/1", "walk:4"] {
        let other = part.replace("500/1500", "1500/500").replace("1999/1", "2000/1");
        assert!(text.contains(part) || text.contains(&other), "`{part}` is not in {text}");
    }
    assert!(!text.contains("threads:"), "{text}");
    let forest = shown(&["show", &profile, "--thread", "1", "--kind", "forest"]);
    assert!(forest.contains("walk:3 to 3"), "{forest}");
    let diff = shown(&["diff", &profile, &profile, "--thread", "3"]);
    assert!(diff.contains("overlap 100.00 %"), "{diff}");
    assert!(shown(&["accuracy", &profile, "--thread", "0"]).contains("sampled edges against exact edges"));
    let csv = shown(&["export", &profile, "--format", "csv", "--thread", "1"]);
    let all = shown(&["export", &profile, "--format", "csv"]);
    let ran = |csv: &str| -> u64 {
        let paths = csv.lines().filter(|line| line.starts_with("path,exact,"));
        paths.filter_map(|line| line.rsplit(',').next()?.parse::<u64>().ok()).sum()
    };
    assert!((1000..1100).contains(&ran(&csv)) && (11900..13300).contains(&ran(&all)), "{csv}");
    let svg = folder.join("a.svg").to_str().expect("a readable path").to_string();
    shown(&["export", &profile, "--format", "flamegraph", "--thread", "0", "--out", &svg]);
}

#[test]
fn threads_that_are_not_there_are_said_to_be() {
    let (_, profile) = by_thread("threads_missing");
    let refused = |arguments: &[&str], why: &str| {
        let seen = seen(2, arguments);
        assert!(seen.err.contains(why), "`{why}` is not in {}", seen.err);
    };
    refused(&["show", &profile, "--thread", "9"], "has no thread 9: the last is 3");
    refused(&["show", &profile, "--thread", "rest"], "every thread counted by itself");
    refused(&["show", &profile, "--thread", "main"], "the number of a thread, or `rest`");
    let (folder, plain) = profiled("threads_plain", &[]);
    refused(
        &["show", &plain, "--thread", "1"],
        "has no profiles of threads: `holloway run --profile-threads`",
    );
    assert!(shown(&["show", &plain, "--kind", "threads"]).starts_with("no threads: "));
    assert!(!shown(&["show", &plain]).contains("threads:") && read(&plain).get("threads").is_none());
    let program = folder.join("threads.hol");
    let seen = holloway(&["run", "--profile-threads", program.to_str().expect("a readable path")]);
    assert!(seen.code == Some(2) && seen.err.contains("--profile <SPEC>"), "{}", seen.err);
}

#[test]
fn the_whole_is_the_same_with_and_without() {
    let ((_, each), (_, all)) = (by_thread("threads_each"), profiled("threads_all", &[]));
    let [mut each, mut all] = [each, all].map(|profile| read(&profile));
    for file in [&mut each, &mut all] {
        let file = file.as_object_mut().expect("an object");
        let counts = ["edges", "exact", "sampled", "paths", "versions", "dropped", "branches"];
        let sequences = file["iterated"]["sequences"].clone();
        file.retain(|name, _| counts.contains(&&**name));
        file.insert("sequences".into(), sequences);
    }
    assert_eq!(each, all);
}

#[test]
fn counts_that_do_not_add_up_are_found() {
    let (folder, profile) = by_thread("threads_check");
    let text = shown(&["check", &profile]);
    assert!(text.contains("ok       what the threads counted adds up to the profile"), "{text}");
    assert!(text.contains("ok       what each thread counted obeys these rules, too"), "{text}");
    let fails = |rule: &str, change: &dyn Fn(&mut Value)| {
        let mut value = read(&profile);
        change(&mut value);
        let seen = seen(1, &["check", &file(&folder, "changed.json", value.to_string())]);
        let failed = seen.out.lines().any(|line| line.trim_start_matches("FAILED").contains(rule));
        assert!(failed && seen.out.contains("FAILED"), "`{rule}` is not in {}", seen.out);
    };
    let adds_up = "what the threads counted adds up";
    fails(adds_up, &|file| file["threads"][1]["exact"][0]["count"] = json!(1));
    fails(adds_up, &|file| file["threads"][2]["edges"][0][1][0] = json!(1));
    fails(adds_up, &|file| file["threads"][3]["dropped"]["deoptimized"] = json!(3));
    fails(adds_up, &|file| file["threads"][0]["sampled"] = json!([]));
    fails(adds_up, &|file| {
        file["threads"].as_array_mut().expect("threads").pop();
    });
    fails("1  main.closure: ", &|file| {
        // Exchanged between two threads, so that the sums are right.
        let [one, other] = [1, 2].map(|at| file["threads"][at]["edges"].clone());
        (file["threads"][1]["edges"], file["threads"][2]["edges"]) = (other, one);
    });
    fails("thread 1 is there twice", &|file| file["threads"][2]["thread"] = json!(1));
    fails("thread 1 is 5 threads", &|file| file["threads"][1]["threads"] = json!(5));
    fails("thread 1 refers to method 999", &|file| file["threads"][1]["method"] = json!(999));
    fails("edges of thread 1 refer to branch 99", &|file| file["threads"][1]["edges"][0][0] = json!(99));
    fails("samples of thread 0 refer to path 99", &|file| {
        file["threads"][0]["sampled"][0]["number"] = json!(99);
    });
    fails("the forest of thread 1 is out of order", &|file| {
        file["threads"][1]["iterated"]["sequences"].as_array_mut().expect("sequences").reverse();
    });
    fails("thread 1 has none", &|file| file["threads"][1]["exact"] = Value::Null);
}

/// Where the system gives no address space for more counters, threads count together, and the profile says so.
#[test]
fn without_address_space_the_rest_counts_together() {
    let folder = folder("threads_limit");
    let program =
        file(&folder, "threads.hol", PROGRAM.replace("1..=3", "1..=12").replace("1000 * t", "100 * t"));
    let out = folder.join("profile.json").to_str().expect("a readable path").to_string();
    let run = format!(
        "ulimit -v 12000000 && exec '{}' run {FLAGS} --heap 64m --profile-threads --profile-out '{out}' '{program}'",
        env!("CARGO_BIN_EXE_holloway")
    );
    let seen: Seen = Command::new("sh").arg("-c").arg(run).output().expect("there is a shell").into();
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    let text = shown(&["show", &out, "--thread", "rest"]);
    assert!(text.contains("thread    the rest"), "{text}");
    let value = read(&out);
    let threads = value["threads"].as_array().expect("threads");
    let rest = threads.last().expect("there is one");
    assert_eq!(
        (&rest["thread"], threads.len() as u64 - 1 + rest["threads"].as_u64().expect("a number")),
        (&Value::Null, 13)
    );
    assert!(shown(&["show", &out]).contains("for which there was no address space"));
    assert!(!shown(&["check", &out]).contains("FAILED"));
}
