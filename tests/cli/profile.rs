//! `holloway profile`: a program whose paths are known, looked at in every way, and profiles that somebody has damaged.

use crate::process::{Seen, file, folder, holloway, shown};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The loop runs 1000 times; `i % 4 == 0` holds 250 times, and of the other 750 `i % 3 == 0` holds 250 times.
const PROGRAM: &str = "\
fn main() {
    var sum = 0
    for i in 0..1000 {
        if i % 4 == 0 {
            sum += 1
        } else if i % 3 == 0 {
            sum += 2
        }
    }
    println(sum.toString())
}
";

const PROFILERS: &[&str] = &["edges", "blpp", "pep:samples=8,stride=3", "kblpp:k=3", "kroy:k=2"];

/// Writes the program and runs it with these profilers; the folder and the path of the profile.
fn profiled(name: &str, text: &str, profilers: &[&str]) -> (PathBuf, String) {
    let folder = folder(name);
    let program = file(&folder, "counts.hol", text);
    let out = folder.join("profile.json").to_str().expect("a readable path").to_string();
    let fixed = ["--timer", "virtual:50", "--sync-compile", "--tier", "o1", "--profile-out", &out];
    let specs = profilers.iter().flat_map(|spec| ["--profile", spec]);
    let arguments: Vec<&str> = ["run"].into_iter().chain(fixed).chain(specs).chain([&*program]).collect();
    let seen = holloway(&arguments);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    (folder, out)
}

fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("it was written")).expect("JSON")
}

/// `holloway profile`, which refuses.
fn refused(arguments: &[&str], why: &str) -> Seen {
    let seen = holloway(&[&["profile"], arguments].concat());
    assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{arguments:?}: {}", seen.err);
    assert!(seen.err.contains(why), "`{why}` is not in {}", seen.err);
    seen
}

#[test]
fn paths_and_edges_are_shown_with_their_lines() {
    let (_, profile) = profiled("profile_show", PROGRAM, PROFILERS);
    let text = shown(&["show", &profile]);
    for part in [
        "run       finished",
        "dropped   no path",
        "k = 3, 1001 paths",
        "paths: 5 different ones, run 1001 times, counted exactly, by blpp",
        "branches: 3 different ones, executed 2750 times, counted exactly, in compiled code",
        "for i in 0..1000 {",
        "if i % 4 == 0 {",
        "main:3  taken",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    // 500 rounds go through both conditions: three branches each, of 2750 in all.
    assert!(text.contains("  1. 54.55 % of the flow: main:3 to 3, 500 times, 3 branches"), "{text}");
    let paths = shown(&["show", &profile, "--kind", "paths", "--top", "1"]);
    assert!(paths.ends_with("\n4 more\n") && !paths.contains("  2. "), "{paths}");
}

#[test]
fn the_source_is_annotated_and_may_be_missing() {
    let (folder, profile) = profiled("profile_source", PROGRAM, PROFILERS);
    let text = shown(&["show", &profile, "--kind", "source"]);
    let line = |number: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(number));
        found.unwrap_or_else(|| panic!("no line {number} in {text}")).to_string()
    };
    assert!(line("4 ").contains("1000, ") && line("4 ").contains("75.0 %"), "{text}");
    assert!(line("6 ").contains("750, ") && line("6 ").contains("66.7 %"), "{text}");
    assert!(line("6 ").ends_with("} else if i % 3 == 0 {"), "{text}");
    std::fs::remove_file(folder.join("counts.hol")).expect("it was there");
    let text = shown(&["show", &profile, "--kind", "source"]);
    assert!(text.contains("counts.hol (its text cannot be read)") && text.contains("75.0 %"), "{text}");
    shown(&["show", &profile]);
}

#[test]
fn the_forest_is_a_tree_with_shares() {
    let (_, profile) = profiled("profile_forest", PROGRAM, &["kblpp:k=2"]);
    let text = shown(&["show", &profile, "--kind", "forest"]);
    assert!(text.contains("main: 1001 paths run"), "{text}");
    // What divides by 4 is followed by what does not: by 4n+1, of which a third divides by 3.
    assert!(text.contains("% (") && text.contains("main:3 to 3: "), "{text}");
    let all = shown(&["show", &profile, "--kind", "forest", "--prune", "0,0"]);
    assert!(all.lines().count() > text.lines().count(), "{all}");
    // Single paths of a forest are exact counts as well.
    assert!(shown(&["show", &profile]).contains("counted exactly, by kblpp"));
    assert!(shown(&["show", &profile, "--kind", "edges"]).contains("as branches of paths"));
}

#[test]
fn methods_are_chosen_by_name() {
    let (_, profile) = profiled("profile_method", PROGRAM, PROFILERS);
    assert!(shown(&["show", &profile, "--method", "ma"]).contains("main:3"));
    refused(&["show", &profile, "--method", "mian"], "there are main");
    refused(&["show", &profile, "--prune", "1"], "two percentages");
    refused(&["show", &profile, "--prune", "1,200"], "from 0 to 100");
}

#[test]
fn a_profile_agrees_with_itself() {
    let (_, profile) = profiled("profile_check", PROGRAM, PROFILERS);
    let text = shown(&["check", &profile]);
    assert_eq!(text.lines().filter(|line| line.starts_with("ok ")).count(), 12, "{text}");
    assert!(text.contains("Wall weight matching") && text.contains("sampled edges against exact edges"));
    let (_, edges) = profiled("profile_check_edges", PROGRAM, &["edges"]);
    let text = shown(&["check", &edges]);
    assert!(text.contains("ok       well-formed") && text.contains("skipped"), "{text}");
    assert!(!text.contains("FAILED"), "{text}");
}

/// The profile with a change.
fn changed(folder: &Path, profile: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value = read(profile);
    change(&mut value);
    file(folder, "changed.json", value.to_string())
}

#[test]
fn counts_that_disagree_are_found() {
    let (folder, profile) = profiled("profile_disagrees", PROGRAM, PROFILERS);
    let fails = |rule: &str, change: &dyn Fn(&mut Value)| {
        let changed = changed(&folder, &profile, change);
        let seen = holloway(&["profile", "check", &changed]);
        assert_eq!(seen.code, Some(1), "{rule}: {}{}", seen.out, seen.err);
        let failed = seen.out.lines().any(|line| line.starts_with("FAILED") && line.contains(rule));
        assert!(failed, "`{rule}` is not in {}", seen.out);
    };
    fails("exact edges", &|file| file["edges"]["exact"][0][1][0] = json!(7));
    fails("sampled edges", &|file| file["edges"]["sampled"][0][1][0] = json!(7));
    fails("took the samples", &|file| file["sampled"]["window"]["taken"] = json!(1));
    fails("what was sampled was run", &|file| file["exact"][0]["count"] = json!(1));
    fails("windows end with each path", &|file| file["exact"][0]["count"] = json!(1));
    fails("windows end with each sequence", &|file| file["windowed"]["sequences"][0]["count"] = json!(1));
    fails("begin at a cut", &|file| {
        let paths = file["paths"].as_array().expect("paths").clone();
        let at = paths.iter().position(|path| path["ends"] == "exit").expect("one leaves");
        let number = &paths[at]["number"];
        let counts = file["exact"].as_array_mut().expect("counts");
        let count = counts.iter_mut().find(|count| count["number"] == *number).expect("it was run");
        count["count"] = json!(900);
    });
    fails("single paths", &|file| file["iterated"]["sequences"][0]["count"] = json!(1));
    fails("what they continue", &|file| {
        let sequences = file["iterated"]["sequences"].as_array_mut().expect("sequences");
        let pair = sequences
            .iter_mut()
            .find(|sequence| sequence["numbers"].as_array().is_some_and(|n| n.len() == 2));
        pair.expect("k is 3")["count"] = json!(100_000);
    });
    fails("as many paths as it was given", &|file| file["iterated"]["statistics"]["items"] = json!(3));
}

#[test]
fn what_refers_to_nothing_is_found() {
    let (folder, profile) = profiled("profile_references", PROGRAM, PROFILERS);
    let broken = |what: &str, change: &dyn Fn(&mut Value)| {
        let changed = changed(&folder, &profile, change);
        let seen = holloway(&["profile", "check", &changed]);
        assert_eq!(seen.code, Some(1), "{what}: {}{}", seen.out, seen.err);
        assert!(
            seen.out.starts_with("FAILED   well-formed") && seen.out.contains(what),
            "{what}: {}",
            seen.out
        );
        for command in ["show", "accuracy"] {
            refused(&[command, &changed], "is damaged: ");
        }
        refused(&["export", &changed, "--format", "csv"], "is damaged: ");
        refused(&["diff", &profile, &changed], "is damaged: ");
    };
    broken("refers to method 99", &|file| file["branches"][0]["method"] = json!(99));
    broken("refers to file 99", &|file| file["paths"][0]["begin"]["file"] = json!(99));
    broken("branch 1 is there twice", &|file| file["branches"][1] = file["branches"][0].clone());
    broken("has 4000000000 arms", &|file| file["branches"][0]["arms"] = json!(4_000_000_000u32));
    broken("refer to branch 99", &|file| file["edges"]["exact"][0][0] = json!(99));
    broken("have branch 1 twice", &|file| file["edges"]["exact"][0][0] = json!(1));
    broken("has arm 5 of branch", &|file| file["paths"][0]["branches"][0][1] = json!(5));
    broken("in a way that is not known", &|file| file["paths"][0]["begins"] = json!("somehow"));
    broken("there is no such version", &|file| file["paths"][0]["version"] = json!(7));
    broken("two paths of a version", &|file| file["paths"][0] = file["paths"][1].clone());
    broken("exact counts refer to path 99", &|file| file["exact"][0]["number"] = json!(99));
    broken("samples have path", &|file| file["sampled"]["paths"][0] = file["sampled"]["paths"][1].clone());
    broken("add up to more than can be", &|file| file["exact"][0]["count"] = json!(u64::MAX));
    broken("the forest is out of order", &|file| {
        file["iterated"]["sequences"].as_array_mut().expect("sequences").reverse();
    });
    broken("`edges` ran, but there are no exact edges", &|file| file["edges"]["exact"] = Value::Null);
    broken("`pep` did not run", &|file| {
        file["profilers"] = json!(["edges", "blpp", "kblpp:k=3", "kroy:k=2"])
    });
    broken("a profiler is not known", &|file| file["profilers"][0] = json!("guess"));
    broken("for a reason that is not known", &|file| file["dropped"]["boredom"] = json!(3));
}

#[test]
fn what_cannot_be_read_is_told_apart() {
    let (folder, profile) = profiled("profile_unreadable", PROGRAM, PROFILERS);
    let text = std::fs::read_to_string(&profile).expect("it was written");
    let bad = |content: &[u8], why: &str| {
        let bad = file(&folder, "bad.json", content);
        for command in ["show", "check", "accuracy"] {
            refused(&[command, &bad], why);
        }
        refused(&["diff", &profile, &bad], why);
        refused(&["export", &bad, "--format", "dot"], why);
    };
    bad(&text.as_bytes()[..text.len() / 2], "is cut short: it ends at line ");
    bad(b"", "is cut short");
    bad(b"fn main() {}", "is not JSON: expected ident at line 1");
    bad(b"\xff\xfe", "is not JSON");
    bad(b"[1, 2]", "is not a profile: ");
    bad(b"{\"format\": \"holloway-advice\", \"version\": 1}", "its format is \"holloway-advice\"");
    bad(
        text.replace("\"version\": 1,\n  \"program\"", "\"version\": 2,\n  \"program\"").as_bytes(),
        "is of version 2",
    );
    bad(text.replace("\"ended\"", "\"endet\"").as_bytes(), "missing field `ended`");
    refused(&["show", "nowhere.json"], "cannot read nowhere.json");
}

#[test]
fn samples_are_judged_by_exact_counts() {
    let (_, exact) = profiled("profile_exact", PROGRAM, &["blpp", "edges"]);
    let (_, sampled) = profiled("profile_sampled", PROGRAM, &["pep"]);
    let text = shown(&["accuracy", &sampled, &exact]);
    assert!(text.contains("counted in samples, by PEP, 5 in truth"), "{text}");
    assert!(text.contains("branch flow") && text.contains("count flow"), "{text}");
    assert!(text.contains("sampled edges against exact edges"), "{text}");
    let itself = shown(&["accuracy", &exact, &exact]);
    assert!(itself.contains("100.00 %    3      3"), "{itself}");
    let all_hot = shown(&["accuracy", &sampled, &exact, "--hot", "10"]);
    assert!(all_hot.contains("hot above 10 %"), "{all_hot}");
    refused(&["accuracy", &sampled], "there is nothing to compare");
    refused(&["accuracy", &exact], "there is nothing to compare");
    refused(&["accuracy", &sampled, &exact, "--hot", "200"], "from 0 to 100");
    let (_, other) = profiled("profile_exact_other", &PROGRAM.replace("% 4", "% 5"), &["blpp"]);
    refused(&["accuracy", &sampled, &other], "the code of main differs");
}

/// Records as inexact as those of hardware: some traces contradict the code and are counted, in some a place can be found out.
#[test]
fn inexact_records_are_counted() {
    let shown = |name: &str, spec: &str| {
        let folder = folder(name);
        let program = file(&folder, "counts.hol", PROGRAM);
        let out = folder.join("profile.json").to_str().expect("a readable path").to_string();
        let seen = holloway(&["run", "--tier", "interp", "--profile", spec, "--profile-out", &out, &program]);
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        assert_eq!(holloway(&["profile", "check", &out]).code, Some(0));
        let profile = read(&out);
        let lengths = &profile["traces"]["lengths"];
        let pieces =
            ["calls", "loops", "regions"].map(|cut| lengths[cut]["pieces"].as_u64().expect("pieces"));
        assert!(pieces[0] < pieces[1] && pieces[1] <= pieces[2], "{pieces:?}");
        (holloway(&["profile", "show", &out, "--kind", "traces"]).out, profile)
    };
    let (text, exact) = shown("profile_exact_records", "btb:depth=4,period=11");
    assert!(text.contains("cut at calls, pieces have ") && !text.contains("not used"), "{text}");
    assert_eq!(
        (exact["traces"]["repaired"].as_u64(), exact["traces"]["discarded"].clone()),
        (Some(0), json!({}))
    );
    let (text, noisy) = shown("profile_noisy_records", "btb:depth=4,period=11,noise=20");
    assert!(text.contains("samples were not used") && text.contains("found out"), "{text}");
    let discarded = noisy["traces"]["discarded"].as_object().expect("reasons");
    let discarded: u64 = discarded.values().filter_map(Value::as_u64).sum();
    let all = noisy["traces"]["samples"].as_u64().expect("samples") + discarded;
    assert!(discarded > all / 20 && noisy["traces"]["repaired"].as_u64() > Some(0), "{discarded} of {all}");
}

#[test]
fn differences_are_shown() {
    // What the program does depends on its arguments, its code does not.
    let text = PROGRAM
        .replace("i % 4 == 0", "i % n == 0")
        .replace("var sum = 0", "var sum = 0\n    let n = args().length");
    let folder = folder("profile_diff");
    let program = file(&folder, "counts.hol", &text);
    let run = |name: &str, arguments: &[&str]| {
        let out = folder.join(name).to_str().expect("a readable path").to_string();
        let fixed = ["run", "--tier", "o1", "--profile", "blpp", "--profile-out", &out, &program, "--"];
        let seen = holloway(&[&fixed[..], arguments].concat());
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        out
    };
    let (two, five) = (run("two.json", &["a", "b"]), run("five.json", &["a", "b", "c", "d", "e"]));
    let text = shown(&["diff", &two, &five]);
    assert!(text.contains("counted exactly, by blpp") && text.contains("of the branch flow"), "{text}");
    // i % n == 0 holds 500 times, then 200 times.
    assert!(text.contains("50.00 %") && text.contains("80.00 %"), "{text}");
    assert!(shown(&["diff", &two, &five, "--top", "1"]).contains(" more\n"));
    let same = shown(&["diff", &two, &two]);
    assert!(same.contains("overlap 100.00 %") && same.contains("no path has another share"), "{same}");
    let (_, other) = profiled("profile_diff_other", PROGRAM, PROFILERS);
    let seen = refused(&["diff", &two, &other], "the profiles are of different programs");
    assert!(seen.err.contains("main"), "{}", seen.err);
}

#[test]
fn differences_of_branch_traces_are_shown() {
    let text = PROGRAM
        .replace("i % 4 == 0", "i % n == 0")
        .replace("var sum = 0", "var sum = 0\n    let n = args().length");
    let folder = folder("profile_diff_traces");
    let program = file(&folder, "counts.hol", &text);
    let run = |name: &str, profiler: &str, arguments: &[&str]| {
        let out = folder.join(name).to_str().expect("a readable path").to_string();
        let fixed = ["run", "--tier", "interp", "--profile", profiler, "--profile-out", &out, &program, "--"];
        let seen = holloway(&[&fixed[..], arguments].concat());
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        out
    };
    let (five, exact) = (["a", "b", "c", "d", "e"], "btb:depth=4,period=31,exact=yes");
    let (two, five) = (run("two.json", exact, &five[..2]), run("five.json", exact, &five));
    let text = shown(&["diff", &two, &five]);
    assert!(text.contains("of the paths of regions"), "{text}");
    let overlap = |text: &str| -> f64 {
        let rest = text.split("branch traces: overlap ").nth(1).expect("it is said");
        rest.split(' ').next().and_then(|share| share.parse().ok()).expect("a number")
    };
    assert!(text.contains(", counted exactly\n") && overlap(&text) < 99.0, "{text}");
    let same = shown(&["diff", &two, &two]);
    assert!(overlap(&same) > 99.999 && !same.contains("of the paths of regions"), "{same}");
    let weighed = run("weighed.json", "btb:depth=4,period=31", &["a", "b"]);
    let text = shown(&["diff", &weighed, &two]);
    assert!(text.contains("by their weights before and counted exactly after"), "{text}");
    assert!((50.0..100.0).contains(&overlap(&text)), "{text}");
    let other = run("other.json", "calls", &["a", "b"]);
    assert!(shown(&["diff", &other, &two]).contains("branch traces: not in both profiles"));
}

#[test]
fn a_switch_has_cases() {
    let text = "\
enum Kind { First, Second, Third, Fourth }

fn weight(kind: Kind) -> Int {
    match kind {
        First => 1,
        Second => 10,
        Third => 100,
        Fourth => 1000,
    }
}

fn main() {
    let kinds = [Kind.First, Kind.Second, Kind.Third, Kind.Fourth]
    var sum = 0
    for i in 0..400 {
        sum += weight(kinds[i % 4])
    }
    println(sum.toString())
}
";
    let (_, profile) = profiled("profile_switch", text, PROFILERS);
    let shown_paths = shown(&["show", &profile]);
    assert!(shown_paths.contains("weight:4  case 1  match kind {"), "{shown_paths}");
    assert!(shown_paths.contains("4 of 5 cases"), "{shown_paths}");
    shown(&["check", &profile]);
    shown(&["export", &profile, "--format", "dot", "--kind", "edges"]);
}

#[test]
fn exports_have_the_forms_of_other_tools() {
    let (folder, profile) = profiled("profile_export", PROGRAM, PROFILERS);
    let forest = shown(&["export", &profile, "--format", "dot"]);
    assert!(forest.starts_with("digraph forest {") && forest.ends_with("}\n"), "{forest}");
    assert_eq!(forest.matches('{').count(), forest.matches('}').count());
    let edges = shown(&["export", &profile, "--format", "dot", "--kind", "edges"]);
    assert!(edges.contains("label=\"main:4\"") && edges.contains("taken 750"), "{edges}");
    let svg = shown(&["export", &profile, "--format", "flamegraph"]);
    assert!(svg.contains("<svg") && svg.contains("main:3 cut (1,000 times"), "{svg}");
    let csv = shown(&["export", &profile, "--format", "csv"]);
    assert!(
        csv.starts_with("what,source,method,file,line,position,way,version,numbers,path,count\n"),
        "{csv}"
    );
    let exact: u64 = csv.lines().filter(|line| line.starts_with("path,exact,")).map(last_number).sum();
    assert_eq!(exact, 1001, "{csv}");
    let firefox: Value =
        serde_json::from_str(&shown(&["export", &profile, "--format", "firefox"])).expect("JSON");
    let weights = firefox["threads"][0]["samples"]["weight"].as_array().expect("weights");
    assert_eq!(weights.iter().filter_map(Value::as_u64).sum::<u64>(), 1001);
    let out = folder.join("profile.pb");
    shown(&["export", &profile, "--format", "pprof", "--out", out.to_str().expect("a readable path")]);
    let bytes = std::fs::read(&out).expect("it was written");
    let strings = String::from_utf8_lossy(&bytes);
    assert!(strings.contains("main:3 taken") && strings.contains("counts.hol"), "{strings}");

    refused(&["export", &profile, "--format", "csv", "--kind", "edges"], "it has no --kind");
    refused(&["export", &profile, "--format", "dot", "--kind", "source"], "--kind forest, --kind edges or");
    refused(
        &["export", &profile, "--format", "xml"],
        "possible values: dot, flamegraph, pprof, firefox, csv",
    );
    refused(&["export", &profile, "--format", "csv", "--out", "nowhere/a.csv"], "cannot write");
    let (_, only_edges) = profiled("profile_export_edges", PROGRAM, &["edges"]);
    refused(&["export", &only_edges, "--format", "flamegraph"], "the profile has no paths");
    refused(&["export", &only_edges, "--format", "dot", "--kind", "forest"], "kblpp did not run");
    assert!(shown(&["export", &only_edges, "--format", "dot"]).contains("shape=point"));
}

fn last_number(line: &str) -> u64 {
    line.rsplit(',').next().and_then(|number| number.parse().ok()).expect("a count")
}

#[test]
fn every_command_has_help_with_an_example() {
    for command in ["show", "diff", "check", "accuracy", "export"] {
        let seen = holloway(&["profile", command, "--help"]);
        assert!(seen.code == Some(0) && seen.out.contains("Example"), "{command}: {}", seen.out);
        assert!(seen.out.contains(&format!("holloway profile {command}")), "{command}: {}", seen.out);
    }
    assert_eq!(holloway(&["profile"]).code, Some(2));
}
