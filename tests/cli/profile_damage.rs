//! Profiles that were cut short or changed anywhere: every command answers, and none panics. The commands are called here and not
//! started, so that thousands of files can be tried.

use crate::process::{file, folder, holloway};
use clap::Parser;
use holloway::commands::profile::{accuracy, check, diff, export, merge, show};
use holloway::options::{Command, CommandLine, ProfileCommand};

const PROGRAM: &str = "\
fn kind(n: Int) -> Int {
    if n % 3 == 0 && n > 10 { n / 3 } else { n + 1 }
}

fn main() {
    var sum = 0
    for i in 0..200 {
        var rest = i
        while rest > 0 {
            rest = rest / 2
            sum += kind(rest)
        }
    }
    println(sum.toString())
}
";

/// Does what the line says; whether it could.
fn does(line: &[&str]) -> bool {
    let line =
        CommandLine::try_parse_from([&["holloway", "profile"], line].concat()).expect("a command line");
    let Command::Profile(command) = line.command else { panic!("it is about profiles") };
    match command {
        ProfileCommand::Show(arguments) => show::show(&arguments).is_ok(),
        ProfileCommand::Diff(arguments) => diff::diff(&arguments).is_ok(),
        ProfileCommand::Check(arguments) => check::check(&arguments).is_ok(),
        ProfileCommand::Accuracy(arguments) => accuracy::accuracy(&arguments).is_ok(),
        ProfileCommand::Merge(arguments) => merge::sum(&arguments).is_ok(),
        ProfileCommand::Export(arguments) => export::exported(&arguments).is_ok(),
    }
}

/// Every command on this file; how many could do it.
fn all(damaged: &str, good: &str) -> usize {
    let mut lines = vec![
        vec!["check", damaged],
        vec!["show", damaged, "--top", "1000"],
        vec!["show", damaged, "--thread", "0"],
        vec!["diff", good, damaged],
        vec!["diff", damaged, good],
        vec!["merge", "nowhere.json", damaged, good],
        vec!["merge", "nowhere.json", damaged, damaged],
        vec!["accuracy", damaged],
        vec!["accuracy", good, damaged, "--hot", "0"],
    ];
    lines.extend(
        ["source", "forest", "threads", "subpaths"].map(|kind| vec!["show", damaged, "--kind", kind]),
    );
    lines
        .extend(["dot", "csv", "pprof", "firefox"].map(|format| vec!["export", damaged, "--format", format]));
    lines.iter().filter(|line| does(line)).count()
}

/// Numbers that repeat (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Where numbers are in a text.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        match found.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

#[test]
fn damaged_profiles_are_no_surprise() {
    let specs = "--profile edges --profile blpp --profile pep --profile kblpp:k=3 --profile kroy:k=2 --profile-threads --timer virtual:20 --sync-compile";
    damage("profile_damage", specs, 1500, 17);
}

#[test]
fn nor_are_damaged_subpaths() {
    let specs = "--profile subpaths:max-length=4,top=20 --profile osp:rate=9,max-length=8 --profile-threads --timer virtual:20";
    // Nobody counted paths, and dot draws none of these.
    damage("profile_damage_subpaths", specs, 1500, 13);
}

#[test]
fn nor_are_damaged_paths_across_hot_calls() {
    let folder = folder("profile_damage_hot_calls");
    let program = file(&folder, "counts.hol", PROGRAM);
    let calls = folder.join("calls.json").to_str().expect("a readable path").to_string();
    let seen =
        holloway(&["run", "--tier", "interp", "--profile", "calls", "--profile-out", &calls, &program]);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let specs =
        format!("--profile btb:depth=8,period=31,calls=hot,hot=0,exact=yes --hot-calls exact={calls}");
    damage("profile_damage_across", &specs, 1500, 14);
}

/// Damages a profile of these profilers in so many ways. `answers` commands know something to say of the whole one.
fn damage(name: &str, specs: &str, rounds: usize, answers: usize) {
    let folder = folder(name);
    let program = file(&folder, "counts.hol", PROGRAM);
    let good = folder.join("good.json").to_str().expect("a readable path").to_string();
    let tier = if specs.contains("btb") { "interp" } else { "o1" };
    let mut line = vec!["run", "--profile-out", &good, "--tier", tier];
    line.extend(specs.split(' '));
    line.push(&program);
    let seen = holloway(&line);
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    let pretty = std::fs::read_to_string(&good).expect("it was written");
    // The same without the indentation, so that more of what is changed matters.
    let value: serde_json::Value = serde_json::from_str(&pretty).expect("JSON");
    let text = value.to_string();
    let damaged = |content: &[u8]| all(&file(&folder, "damaged.json", content), &good);
    assert_eq!(damaged(text.as_bytes()), answers);

    for cut in (0..text.len()).step_by(text.len() / 150) {
        assert_eq!(damaged(&text.as_bytes()[..cut]), 0, "cut at {cut}");
    }
    let places = numbers(&text);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let values = [
        "0",
        "1",
        "2",
        "3",
        "7",
        "100",
        "65536",
        "2147483648",
        "4294967295",
        "9223372036854775807",
        "18446744073709551615",
    ];
    let mut could = 0;
    for _ in 0..rounds {
        let mut changed = text.clone();
        // From the end, so that the places before stay where they are.
        let mut at: Vec<usize> = (0..=random.below(3)).map(|_| random.below(places.len())).collect();
        at.sort_unstable();
        at.dedup();
        for at in at.into_iter().rev() {
            changed.replace_range(places[at].clone(), values[random.below(values.len())]);
        }
        could += damaged(changed.as_bytes());
    }
    assert!(could > 0, "some damage is none");
    for _ in 0..300 {
        let mut changed = text.clone().into_bytes();
        let at = random.below(changed.len());
        changed[at] = random.below(256) as u8;
        damaged(&changed);
    }
}
