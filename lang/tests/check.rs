//! Programs that must check, and programs that must not, with the errors that they give.
//!
//! `tests/check/good/*.hol` have no errors. Beside every `tests/check/bad/*.hol` stands what is printed about it, as
//! `.err`; run with `BLESS=1` to rewrite these files after looking at them. A file may hold several modules: a line
//! `//! module NAME` begins the next one, and what stands before the first such line is the main module.

use std::fs;
use std::path::{Path, PathBuf};

use holloway_lang::pipeline::{Failure, InMemory, check};
use holloway_lang::render::render;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(name)
}

/// The programs of a folder, in order.
fn programs(name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(name)).expect("the folder of test programs is there");
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "hol")).collect();
    paths.sort();
    paths
}

fn modules_of(text: &str) -> InMemory {
    let mut files = InMemory::new();
    let mut name = "main.hol".to_string();
    let mut current = String::new();
    for line in text.lines() {
        match line.strip_prefix("//! module ") {
            Some(next) => {
                files = files.with(name, std::mem::take(&mut current));
                name = format!("{}.hol", next.trim().replace('.', "/"));
            }
            None => {
                current.push_str(line);
                current.push('\n');
            }
        }
    }
    files.with(name, current)
}

fn rendered(failure: &Failure) -> String {
    render(&failure.sources, &failure.diagnostics, false)
}

#[test]
fn good_programs_have_no_errors() {
    let mut failures = Vec::new();
    for path in programs("good") {
        let text = fs::read_to_string(&path).expect("a readable program");
        if let Err(failure) = check("main.hol", &modules_of(&text)) {
            failures.push(format!("{}:\n{}", path.display(), rendered(&failure)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn bad_programs_give_the_errors_beside_them() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut failures = Vec::new();
    for path in programs("bad") {
        let text = fs::read_to_string(&path).expect("a readable program");
        let Err(failure) = check("main.hol", &modules_of(&text)) else {
            failures.push(format!("{}: no error was found", path.display()));
            continue;
        };
        let found = rendered(&failure);
        let golden = path.with_extension("err");
        if bless {
            fs::write(&golden, &found).expect("the golden file can be written");
        } else if fs::read_to_string(&golden).unwrap_or_default() != found {
            failures.push(format!(
                "{} gives other errors than {}:\n{found}",
                path.display(),
                golden.display()
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The blocks of the language's description that are whole programs.
#[test]
fn the_programs_of_the_description_check() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md");
    let text = fs::read_to_string(path).expect("the description is there");
    let blocks: Vec<&str> =
        text.split("```hol\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 4, "the description has programs");
    for block in blocks {
        if let Err(failure) = check("main.hol", &InMemory::new().with("main.hol", block)) {
            panic!("{block}\n{}", rendered(&failure));
        }
    }
}

#[test]
fn many_names_and_long_chains_of_classes_take_no_time() {
    const MANY: usize = 20_000;
    let numbered = |line: fn(usize) -> String| (0..MANY).map(line).collect::<String>();
    let names = numbered(|i| format!("    let x{i} = first + n\n"));
    let classes = numbered(|i| format!("class C{i} : C{} {{}}\n", i + 1));
    let text = format!(
        "fn f(n: Int?) {{\n    if n == null {{ return }}\n    let first = 1\n{names}}}\n\
         {classes}class C{MANY} {{}}\nfn main() {{ f(1); C0() }}\n"
    );
    if let Err(failure) = check("main.hol", &InMemory::new().with("main.hol", text)) {
        panic!("{}", rendered(&failure));
    }
}
