//! Rules about the text of the project: who may depend on whom, where unsafe code may be, and what every file has. Each
//! rule is a table or a line here, so that breaking one is a decision that somebody sees.

use holloway_tests::text::{files, root};
use std::collections::BTreeSet;

/// Which room may use which: the arrows of the architecture. `None` stands for all.
const ARROWS: &[(&str, Option<&[&str]>)] = &[
    ("vm/bytecode", Some(&[])),
    ("lang", Some(&["holloway-bytecode"])),
    ("vm", Some(&["holloway-bytecode", "holloway-profilers"])),
    ("jit", Some(&["holloway-bytecode", "holloway-profilers", "holloway-vm"])),
    ("profilers", Some(&[])),
    (
        "benchmarks",
        Some(&["holloway-bytecode", "holloway-lang", "holloway-vm", "holloway-profilers", "holloway-jit"]),
    ),
    ("benchmarks/experiments", Some(&["holloway-benchmarks"])),
    ("tests", None),
    (".", None),
];

/// Where unsafe code may be, and why.
const UNSAFE: &[(&str, &str)] = &[
    ("vm/src/compiled/", "machine code is placed, entered and left; its frames are walked and rewritten"),
    ("vm/src/heap/", "memory of its own, addressed by words"),
    (
        "vm/src/interpreter/",
        "registers, code and objects are reached through pointers that the verifier vouches for",
    ),
    ("vm/src/layout.rs", "objects in memory"),
    ("vm/src/classes.rs", "class records of varying length, addressed by offsets"),
    ("vm/src/loader.rs", "code that holds addresses, and counters that change while it runs"),
    ("vm/src/allocation.rs", "new objects are filled in"),
    ("vm/src/errors.rs", "error objects, and handlers in frames"),
    ("vm/src/natives/", "arguments in registers, elements of arrays"),
    ("vm/src/threads/", "switching native stacks"),
    ("vm/src/stack.rs", "register stacks that move"),
    ("vm/src/signals.rs", "the control word of another thread"),
    ("vm/src/profiling/counters.rs", "counters that machine code increments"),
    ("vm/src/profiling/native/perf_events.rs", "the kernel shares its records of branches"),
    ("vm/src/profiling/native/step.rs", "a signal handler looks where control is"),
    ("vm/src/profiling/state.rs", "what machine code calls where paths end"),
    ("vm/src/timer.rs", "the processor time of a thread is asked for"),
    ("vm/src/vm.rs", "the pieces above are put together"),
    ("vm/tests/", "tests of the heap speak its language"),
    ("vm/examples/", "a load on the heap alone, without the rest of the machine"),
];

/// Crates that forbid unsafe code: all but the virtual machine. The optimizing tier only makes values.
const WITHOUT_UNSAFE: &[&str] = &[
    "src/lib.rs",
    "src/main.rs",
    "lang/src/lib.rs",
    "vm/bytecode/src/lib.rs",
    "jit/src/lib.rs",
    "profilers/src/lib.rs",
    "benchmarks/src/lib.rs",
    "benchmarks/experiments/src/lib.rs",
    "tests/src/lib.rs",
];

/// Longer files tell more than one story.
const MOST_LINES: usize = 700;

fn assert_none(rule: &str, offenders: Vec<String>) {
    assert!(offenders.is_empty(), "{rule}:\n  {}", offenders.join("\n  "));
}

/// The members of the workspace, and the root.
fn rooms() -> Vec<String> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the root manifest");
    let line =
        manifest.lines().find(|line| line.starts_with("members = [")).expect("a list of members on one line");
    let list = line.trim_start_matches("members = [").trim_end_matches(']');
    let members = list.split(',').map(|member| member.trim().trim_matches('"').to_string());
    members.filter(|member| !member.is_empty()).chain([".".to_string()]).collect()
}

/// The crates of this project that a manifest names in a section of dependencies.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies") && !section.starts_with("workspace");
        } else if inside && line.starts_with("holloway") {
            found.extend(line.split(['.', ' ', '=']).next().map(str::to_string));
        }
    }
    found
}

#[test]
fn rooms_use_only_what_they_may() {
    let mut offenders = Vec::new();
    for room in rooms() {
        let manifest = std::fs::read_to_string(root().join(&room).join("Cargo.toml")).expect("a manifest");
        match ARROWS.iter().find(|(name, _)| *name == room) {
            None => offenders.push(format!("{room} is not in the table of arrows")),
            Some((_, None)) => {}
            Some((_, Some(allowed))) => {
                let wrong =
                    dependencies(&manifest).into_iter().filter(|used| !allowed.contains(&used.as_str()));
                offenders.extend(wrong.map(|used| format!("{room} uses {used}")));
            }
        }
    }
    assert_none("arrows that the architecture does not have", offenders);
}

#[test]
fn rooms_have_a_readme() {
    let without = rooms().into_iter().filter(|room| !root().join(room).join("README.md").exists());
    assert_none("rooms without a README.md", without.collect());
}

#[test]
fn versions_are_declared_in_one_place() {
    let mut offenders = Vec::new();
    for room in rooms().into_iter().filter(|room| room != ".") {
        let manifest = std::fs::read_to_string(root().join(&room).join("Cargo.toml")).expect("a manifest");
        let sections = manifest
            .split("\n[")
            .filter(|section| section.starts_with("dependencies") || section.starts_with("dev-dependencies"));
        let lines = sections.flat_map(|section| section.lines().skip(1));
        let wrong = lines.filter(|line| {
            line.contains('=') && !line.contains("workspace = true") && !line.contains("path = ")
        });
        offenders.extend(wrong.map(|line| format!("{room}: {line}")));
    }
    assert_none("dependencies that are not declared in the root manifest", offenders);
}

#[test]
fn unsafe_code_is_where_it_may_be() {
    let unsafe_files = files(&[".rs"]).into_iter().filter(|(_, text)| has_unsafe_code(text));
    let wrong = unsafe_files.filter(|(path, _)| !UNSAFE.iter().any(|(place, _)| path.starts_with(place)));
    assert_none("unsafe code in files that are not listed", wrong.map(|(path, _)| path).collect());
    let forbidding = |path: &&&str| {
        std::fs::read_to_string(root().join(path)).is_ok_and(|text| text.contains("#![forbid(unsafe_code)]"))
    };
    let without = WITHOUT_UNSAFE.iter().filter(|path| !forbidding(path)).map(|path| path.to_string());
    assert_none("crates that do not forbid unsafe code", without.collect());
}

/// Does the keyword stand outside comments and strings.
fn has_unsafe_code(text: &str) -> bool {
    text.lines().any(|line| {
        let code = line.split("//").next().unwrap_or(line);
        let outside: String = code.split('"').step_by(2).collect();
        outside.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
    })
}

#[test]
fn every_source_file_says_what_it_is() {
    let without = files(&[".rs"]).into_iter().filter(|(_, text)| !text.starts_with("//!"));
    assert_none("files that do not begin with //!", without.map(|(path, _)| path).collect());
}

#[test]
fn no_file_is_too_long() {
    let long = files(&[".rs"]).into_iter().map(|(path, text)| (path, text.lines().count()));
    let long =
        long.filter(|(_, lines)| *lines > MOST_LINES).map(|(path, lines)| format!("{path}: {lines} lines"));
    assert_none("files that are too long", long.collect());
}

#[test]
fn nothing_is_left_to_be_done_and_nothing_names_a_machine() {
    // Written in pieces, so that this file does not contain them.
    let words = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["unimplemented", "!("], ["todo", "!("]]
        .map(|pieces| pieces.concat());
    let places = [["/ho", "me/"], ["/ro", "ot/"], ["/wo", "rk/"], ["/t", "mp/"], ["/Use", "rs/"]]
        .map(|pieces| pieces.concat());
    // Where Linux `perf` looks is the same on every machine.
    let fixed = ["/t", "mp/perf-"].concat();
    let mut offenders = Vec::new();
    for (path, text) in files(&[".rs", ".hol", ".md", ".toml"]) {
        for (index, line) in text.lines().enumerate() {
            // A word stands alone: the Roman numeral of 3888 is not meant.
            let word = words.iter().find(|word| {
                line.match_indices(&***word).any(|(at, _)| {
                    let letter = |c: char| c.is_alphanumeric();
                    !line[..at].ends_with(letter) && !line[at + word.len()..].starts_with(letter)
                })
            });
            // A path begins after a blank or a quote; `src/` and the like are not meant.
            let place = places.iter().find(|place| {
                line.match_indices(&***place)
                    .filter(|(at, _)| !line[*at..].starts_with(&fixed))
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.'))
            });
            offenders.extend(word.or(place).map(|found| format!("{path}:{}: {found}", index + 1)));
        }
    }
    assert_none("words that do not belong here", offenders);
}
