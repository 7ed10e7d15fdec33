//! What the tests share: files in sections, programs and profiles from them, and expectations that can be blessed.
#![allow(dead_code)]

pub mod profile;
#[path = "../common/random.rs"]
pub mod random;

use holloway_bytecode::text::{PRELUDE, assemble};
use holloway_bytecode::verify::{VerifiedProgram, verify};
use std::path::{Path, PathBuf};

/// The files of a folder of this crate's tests with the ending `.ir`, in order.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(&folder).expect("test folder");
    let mut files: Vec<PathBuf> = entries
        .map(|e| e.expect("entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "ir"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    files
}

/// The frame of a test by files: `run` gets each file of a folder, and sets the sections in which it writes what became of the
/// others; these are compared with the file.
pub fn check_files(folder: &str, run: impl Fn(&mut Sections) -> Result<(), String>) {
    let mut failures = Vec::new();
    for path in files(folder) {
        let mut sections = Sections::of(&std::fs::read_to_string(&path).expect("test file"));
        match run(&mut sections) {
            Ok(()) => expect(&path, &sections.text(), &mut failures),
            Err(message) => failures.push(format!("{}\n  {message}", path.display())),
        }
    }
    report(&failures);
}

/// A file in sections: a line `== name` begins one; what comes before the first is a remark.
pub struct Sections {
    pub remark: String,
    pub sections: Vec<(String, String)>,
}

impl Sections {
    pub fn of(text: &str) -> Sections {
        let mut sections = Sections { remark: String::new(), sections: Vec::new() };
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("== ") {
                sections.sections.push((name.trim().to_string(), String::new()));
                continue;
            }
            let section = sections.sections.last_mut().map_or(&mut sections.remark, |(_, section)| section);
            section.push_str(line);
            section.push('\n');
        }
        sections
    }

    /// The text of a section.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.sections.iter().find(|(n, _)| n == name).map(|(_, text)| &**text)
    }

    /// Changes a section, or adds it at the end; without text, removes it.
    pub fn set(&mut self, name: &str, text: Option<&str>) {
        let place = self.sections.iter().position(|(n, _)| n == name);
        match (place, text) {
            (Some(place), Some(text)) => self.sections[place].1 = text.to_string(),
            (Some(place), None) => drop(self.sections.remove(place)),
            (None, Some(text)) => self.sections.push((name.to_string(), text.to_string())),
            (None, None) => {}
        }
    }

    /// The whole file.
    pub fn text(&self) -> String {
        let sections = self.sections.iter().map(|(name, text)| format!("== {name}\n{text}"));
        format!("{}{}", self.remark, sections.collect::<String>())
    }
}

/// The program of tests that bring none of their own.
const PROGRAM: &str = include_str!("program.hbc");

/// The program of a test: its section `program` or the one of all, with the assembler's prelude before it.
pub fn program(sections: &Sections) -> Result<VerifiedProgram, String> {
    let text = sections.get("program").unwrap_or(PROGRAM);
    let program = assemble(&format!("{PRELUDE}{text}")).map_err(|errors| lines("program", &errors))?;
    verify(program).map_err(|errors| lines("program", &errors))
}

/// Several messages about one thing.
pub fn lines(about: &str, messages: &[impl ToString]) -> String {
    messages.iter().map(|m| format!("{about}: {}", m.to_string())).collect::<Vec<_>>().join("\n")
}

/// Compares what a test file says with what it should say; `BLESS=1` rewrites the file instead.
pub fn expect(path: &Path, actual: &str, failures: &mut Vec<String>) {
    let expected = std::fs::read_to_string(path).expect("test file");
    if expected == actual {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, actual).expect("write test file");
        return;
    }
    let line = expected.lines().zip(actual.lines()).position(|(e, a)| e != a);
    let line = line.unwrap_or(expected.lines().count().min(actual.lines().count()));
    failures.push(format!(
        "{}:{}\n  expected: {}\n  actual:   {}",
        path.display(),
        line + 1,
        expected.lines().nth(line).unwrap_or("(end)"),
        actual.lines().nth(line).unwrap_or("(end)"),
    ));
}

/// Fails if there were failures, listing all of them.
pub fn report(failures: &[String]) {
    assert!(failures.is_empty(), "{}\n(BLESS=1 accepts what is)", failures.join("\n"));
}
