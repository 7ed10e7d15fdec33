//! Experiments: listed, run, killed, continued, split and joined.

use crate::process::{Seen, command, end, file, folder, holloway, signal, start};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Deterministic, and soon done.
const TINY: [&str; 5] = ["experiment", "run", "kblpp-fig15", "--programs", "sieve,towers"];

/// Takes a minute, unless somebody ends it.
const LONG: [&str; 7] = ["experiment", "run", "pep-fig6", "--programs", "richards", "--trials", "60"];

fn fresh(name: &str) -> PathBuf {
    let store = folder(name).join("store");
    let _ = std::fs::remove_dir_all(&store);
    store
}

fn run(arguments: &[&str], store: &Path) -> Seen {
    holloway(&[arguments, &["--store", &store.to_string_lossy()]].concat())
}

/// The results of a store by the names of cells, without their times; lines that are torn are left out.
fn results(store: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(store.join("cells.jsonl")).unwrap_or_default();
    let cells = text.lines().skip(1).filter_map(|line| serde_json::from_str(line).ok());
    let numbers =
        |cell: &serde_json::Value| format!("{:?}", cell["outcome"].as_object().expect("it went well"));
    let mut all: Vec<(String, String)> = cells
        .map(|cell: serde_json::Value| (cell["cell"].as_str().expect("a name").to_string(), numbers(&cell)))
        .collect();
    all.sort();
    all
}

#[test]
fn experiments_are_listed() {
    let seen = holloway(&["experiment", "list"]);
    assert_eq!(seen.code, Some(0));
    for part in ["pep-fig6", "Figure 6", "kblpp-fig15", "cbs-fig1"] {
        assert!(seen.out.contains(part), "{part}: {}", seen.out);
    }
    let seen = holloway(&["experiment", "run", "fig15"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("did you mean kblpp-fig15?"), "{}", seen.err);
}

#[test]
fn examples_are_worked() {
    let seen = holloway(&["experiment", "example", "bl-3"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    for part in
        ["8 paths", "E→B   count[r]++; r = 0", "2   BCE⟲", "[6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3]"]
    {
        assert!(seen.out.contains(part), "{part}: {}", seen.out);
    }
    let seen = holloway(&["experiment", "example", "sch-1", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&seen.out).expect("JSON");
    assert_eq!(value["simplified"]["ticks"]["41"], serde_json::json!([43, 44, 45, 46]));
    let seen = holloway(&["experiment", "example", "pmu-3"]);
    for part in ["AFGIJLMO  250", "LMO in AFHIKLMO    50", "AFGHIJKLMNO  8"] {
        assert!(seen.out.contains(part), "{part}: {}", seen.out);
    }
    let seen = holloway(&["experiment", "example", "bl-9"]);
    assert_eq!(seen.code, Some(2));
    assert!(seen.err.contains("bl-5"), "{}", seen.err);
}

#[test]
fn forests_are_made_of_streams() {
    let seen = holloway(&["experiment", "forest", "--k", "4", "6,2,0,0,2,2,0,0,2,2,0,0,2,3"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    for part in
        ["k-slab forest: 23 nodes", "definition 3: 22 nodes", "path forest: 22 nodes", "14 paths, 5 chunks"]
    {
        assert!(seen.out.contains(part), "{part}: {}", seen.out);
    }
    let seen = holloway(&["experiment", "forest", "--k", "2", "1,2", "2,1,2", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&seen.out).expect("JSON");
    assert_eq!((&value["sequences"]["1-2"], &value["sequences"]["2"]), (&2.into(), &3.into()));
    for (wrong, why) in
        [(["--k", "1", "1"], "plain Ball-Larus"), (["--k", "2", "1,x"], "'x' is not the number")]
    {
        let seen = holloway(&[&["experiment", "forest"][..], &wrong].concat());
        assert_eq!(seen.code, Some(2));
        assert!(seen.err.contains(why), "{}", seen.err);
    }
}

#[test]
fn memory_of_forests_is_simulated() {
    let flags = ["--tier", "o2", "--fuel", "20000", "--k", "2,4", "--json"];
    let seen = holloway(&[&["experiment", "nodes", "sieve"][..], &flags].concat());
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let value: serde_json::Value = serde_json::from_str(&seen.out).expect("JSON");
    let number = |layout: &str, what: &str| value[layout][what].as_u64().expect("a number");
    assert!(number("arena.4", "paths") > 1000);
    assert_eq!(number("arena.4", "nodes"), number("linked.4", "nodes"));
    let seen = holloway(&["experiment", "nodes", "sieve", "--tier", "interp"]);
    assert_eq!(seen.code, Some(1));
    assert!(seen.err.contains("no path ended in compiled code"), "{}", seen.err);
}

#[test]
fn shards_joined_are_one_whole_run_and_nothing_is_done_twice() {
    let whole = fresh("experiment_whole");
    let seen = run(&TINY, &whole);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    assert!(
        seen.out.contains("kblpp-fig15 (Figure 15)") && seen.out.contains("1 experiments: 1"),
        "{}",
        seen.out
    );
    let all = results(&whole);
    assert_eq!(all.len(), 9, "two programs, four k, and a trace of one program");
    let again = run(&TINY, &whole);
    assert!(again.err.contains("9 of 9 results are in"), "{}", again.err);
    assert_eq!((again.out, results(&whole)), (seen.out, all.clone()));

    let shards = [fresh("experiment_shard_1"), fresh("experiment_shard_2")];
    for (shard, store) in ["1/2", "2/2"].iter().zip(&shards) {
        run(&[&TINY[..], &["--shard", shard]].concat(), store);
        assert!(results(store).len() < 9, "{shard}");
    }
    let joined = fresh("experiment_joined");
    let [one, two] = shards.each_ref().map(|store| store.to_string_lossy().into_owned());
    let out = joined.to_string_lossy().into_owned();
    let seen = holloway(&["experiment", "merge", &out, &one, &two]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    assert_eq!(results(&joined), all);
    let seen = holloway(&["experiment", "report", &out, "kblpp", "--programs", "sieve,towers"]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let report = std::fs::read_to_string(joined.join("report.json")).expect("written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["papers"][0]["id"], "kblpp");
}

#[test]
fn killed_in_the_middle_it_goes_on_from_there() {
    let store = fresh("experiment_killed");
    let name = store.to_string_lossy().into_owned();
    let arguments = [&TINY[..], &["--store", &name]].concat();
    let mut child = start(&arguments);
    let begin = Instant::now();
    while results(&store).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no result came");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it runs or has ended");
    child.wait().expect("it ended");
    let kept = results(&store);
    // Whatever half a line the kill left behind, or another.
    let mut text = std::fs::read(store.join("cells.jsonl")).expect("there");
    text.extend_from_slice(b"{\"cell\":\"torn");
    std::fs::write(store.join("cells.jsonl"), text).expect("writable");
    // Its children end with it, and the lock is gone.
    let seen = run(&TINY, &store);
    assert_eq!(seen.code, Some(0), "{}{}", seen.out, seen.err);
    assert!(
        seen.err.contains(&format!("{} of 9 results are in", kept.len())) || kept.len() == 9,
        "{}",
        seen.err
    );
    let all = results(&store);
    assert!(kept.iter().all(|of| all.contains(of)) && all.len() == 9, "{all:?}");
    assert!(
        !std::fs::read_dir(&store).expect("there").flatten().any(|of| of.path().is_dir()),
        "scratch is left"
    );
}

/// As a terminal does it: all processes of the group get the signal, and a child that ends by it has not failed.
#[test]
fn ctrl_c_leaves_no_cell_behind_as_failed() {
    let store = fresh("experiment_ctrl_c");
    let name = store.to_string_lossy().into_owned();
    // The folder of somebody else, which is none of a cell.
    std::fs::create_dir_all(store.join("cell-images")).expect("writable");
    let mut command = command(&[&LONG[..], &["--store", &name]].concat());
    let child =
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let begin = Instant::now();
    let is_measuring = || {
        let folders = std::fs::read_dir(&store).into_iter().flatten().flatten();
        let mut own = folders.filter(|of| of.file_name().to_string_lossy().starts_with("cell-"));
        own.any(|of| of.path().join("said").exists())
    };
    while !is_measuring() {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing is measured");
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = Command::new("sh").arg("-c").arg(format!("kill -s INT -- -{}", child.id())).status();
    assert!(sent.expect("there is a shell").success());
    let (seen, _) = end(child, Duration::from_secs(30));
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(seen.err.contains("interrupted") && !seen.err.contains("failed"), "{}", seen.err);
    assert_eq!(results(&store), []);
    assert!(store.join("cell-images").exists());
}

#[test]
fn requests_to_terminate_end_it_and_its_children() {
    let store = fresh("experiment_terminated");
    let name = store.to_string_lossy().into_owned();
    let child = start(&[&LONG[..], &["--store", &name]].concat());
    let begin = Instant::now();
    while !store.join("cells.jsonl").exists() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&child, "TERM");
    let (seen, took) = end(child, Duration::from_secs(30));
    assert_eq!(seen.code, Some(1), "{}", seen.err);
    assert!(seen.err.contains("interrupted; the same command goes on from here"), "{}", seen.err);
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn stores_of_others_are_refused_with_the_way_out() {
    let store = fresh("experiment_others");
    let one = ["experiment", "run", "cbs-fig1"];
    assert_eq!(run(&one, &store).code, Some(0));
    let text = std::fs::read_to_string(store.join("cells.jsonl")).expect("written");
    for (flags, from, to, part) in [
        (&[][..], "\"binary\":\"", "\"binary\":\"0", "another build"),
        (&[], "[\"cores\",\"", "[\"cores\",\"9", "another machine"),
        (&["--full"], "", "", "--quick and not with --full"),
        (&["--seed", "1"], "", "", "--seed 0"),
    ] {
        std::fs::write(store.join("cells.jsonl"), text.replacen(from, to, 1)).expect("writable");
        let seen = run(&[&one[..], flags].concat(), &store);
        assert_eq!(seen.code, Some(2), "{part}");
        assert!(seen.err.contains(part) && seen.err.contains("use another --store"), "{}", seen.err);
    }
    let diary = file(&folder("experiment_diary"), "cells.jsonl", "my diary\n");
    let seen = run(&one, Path::new(&diary).parent().expect("a folder"));
    assert!(seen.code == Some(2) && seen.err.contains("is not a store of results"), "{}", seen.err);
    let seen = run(&one, Path::new(&diary));
    assert!(seen.code == Some(2) && seen.err.contains("cannot make the folder"), "{}", seen.err);
}

#[test]
fn numbers_of_a_report_follow_from_its_store() {
    let python = |arguments: &[&str]| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmarks/experiments/recompute.py");
        std::process::Command::new("python3").arg(script).args(arguments).output()
    };
    if python(&[]).is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let store = fresh("recomputed");
    let ids = ["kblpp-fig15", "kblpp-fig17", "kblpp-fig13", "kblpp-fig8", "kblpp-fig9", "pep-fig1-2-3-4-5"];
    run(&[&["experiment", "run"], &ids[..], &["--programs", "sieve,towers"]].concat(), &store);
    let name = store.to_string_lossy();
    let report = [&["experiment", "report", &*name], &ids[..], &["--programs", "sieve,towers"]].concat();
    assert_eq!(holloway(&report).code, Some(0));
    let seen = |arguments: &[&str]| {
        let seen = python(arguments).expect("it was found before");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (seen.status.code(), text(&seen.stdout), text(&seen.stderr))
    };
    let (code, out, err) = seen(&[&name]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("10 agree, 0 differ, 0 are not recomputed"), "{out}");
    assert!(!out.contains("nan"), "{out}");

    let text = std::fs::read_to_string(store.join("report.json")).expect("it was written");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let checks = value["papers"].as_array_mut().into_iter().flatten();
    let checks = checks.flat_map(|paper| paper["experiments"].as_array_mut().into_iter().flatten());
    let mut checks = checks.flat_map(|of| of["checks"].as_array_mut().into_iter().flatten());
    let check = checks.find(|check| check["measured"].is_object()).expect("one is a number");
    let measured = check["measured"]["value"].as_f64().expect("a number");
    check["measured"]["value"] = serde_json::json!(measured + 0.01);
    let falsified = store.join("falsified.json");
    std::fs::write(&falsified, value.to_string()).expect("the folder is ours");
    let (code, out, _) = seen(&[&name, &falsified.to_string_lossy()]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("9 agree, 1 differ"), "{out}");

    let verdicts = [("\"better\"", "\"not-reproduced\""), ("\"reproduced\"", "\"not-reproduced\"")];
    for (right, wrong) in verdicts {
        std::fs::write(
            &falsified,
            text.replace(&format!("\"verdict\": {right}"), &format!("\"verdict\": {wrong}")),
        )
        .expect("the folder is ours");
        let (code, out, _) = seen(&[&name, &falsified.to_string_lossy()]);
        assert!(code == Some(1) && out.contains("differs: verdict"), "{right}: {out}");
    }

    let cells = store.join("cells.jsonl");
    let whole = std::fs::read_to_string(&cells).expect("a store");
    // Of all checks of both plans, measured or not, only worked examples have no recipe.
    let all = fresh("recomputed-all");
    std::fs::create_dir_all(&all).expect("the folder is ours");
    for mode in ["quick", "full"] {
        let text = whole.replacen("\"mode\":\"quick\"", &format!("\"mode\":\"{mode}\""), 1);
        std::fs::write(all.join("cells.jsonl"), text).expect("the folder is ours");
        let name = all.to_string_lossy();
        assert_eq!(holloway(&["experiment", "report", &*name]).code, Some(0));
        let (_, out, _) = seen(&[&name]);
        let lines = out.lines().skip_while(|line| *line != "not measured, and no recipe for it").skip(1);
        let without: Vec<&str> = lines.take_while(|line| !line.is_empty()).map(str::trim).collect();
        assert!(without.iter().any(|line| line.starts_with("pmu-fig2: ")), "{out}");
        let examples = ["pmu-fig1: ", "pmu-fig2: ", "kblpp-fig3: "];
        for line in without {
            assert!(examples.iter().any(|id| line.starts_with(id)), "{mode}: no recipe for {line}");
        }
    }
    let changed = fresh("recomputed-changed");
    std::fs::create_dir_all(&changed).expect("the folder is ours");
    let report = store.join("report.json");
    for number in ["\"bytes\":", "\"forest.roots\":", "\"chunks\":", "\"trees.0.0\":"] {
        std::fs::write(changed.join("cells.jsonl"), whole.replace(number, &format!("{number}1")))
            .expect("the folder is ours");
        let (code, out, err) = seen(&[&changed.to_string_lossy(), &report.to_string_lossy()]);
        assert!(code == Some(1) && out.contains("differs: value"), "{number} {out}{err}");
    }
    std::fs::write(&cells, format!("{whole}{{\"cell\": \"torn")).expect("the folder is ours");
    let (code, out, err) = seen(&[&name]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(err.contains("the last line is torn"), "{err}");
    let (code, _, err) = seen(&[&folder("recomputed").join("nowhere").to_string_lossy()]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("cannot read the store"), "{err}");
}
