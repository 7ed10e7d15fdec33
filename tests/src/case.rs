//! Case files. A case is a program; the comments at its end say what it must do:
//!
//! ```text
//! // flags: --stack-depth 100        flags of the virtual machine, as on the command line
//! // args: one two                   arguments of the program
//! // skip gc-stress: it allocates a lot          a mode that is left out, with the reason
//! // expect:                         the lines that it prints
//! // 42
//! // expect-error: IndexError: index 3 is out of bounds for length 3
//! // trace:                          if it is there, the trace is compared too
//! //     at main (case.hol:3:5)
//! // expect-thread-error 2: ValueError: …        an error of a thread that nobody joined
//! // expect-stop: the fuel is used up            the program was ended
//! // expect-compile-error:           it does not compile; each line is part of the messages
//! // unknown name `x`
//! ```
//!
//! Messages may go on in the lines below. Output that does not end in a line end is followed by the line
//! `// (no line end)`. A case is compared as text: what it did is written in this form, and must be equal.

use std::path::{Path, PathBuf};

/// A program and what it must do.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its main file.
    pub path: PathBuf,
    /// The text before the comments at the end.
    pub program: String,
    /// The settings, one a line, without comment signs.
    settings: Vec<String>,
    /// Flags of the virtual machine.
    pub flags: Vec<String>,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Modes that are left out.
    pub skipped: Vec<String>,
    /// What it must do.
    pub expected: Expected,
}

/// What a case must do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Nothing is written down yet.
    Nothing,
    /// It does not compile, with messages that contain each of these.
    CompileError(Vec<String>),
    /// It runs, and the result in text form is this.
    Run(Vec<String>),
}

/// Words that begin an expectation.
const EXPECTATIONS: &[&str] =
    &["expect:", "expect-error:", "expect-thread-error ", "expect-stop:", "expect-compile-error:"];
/// Words that begin a setting.
const SETTINGS: &[&str] = &["flags:", "args:", "skip "];

/// The text of a comment line, if it is one.
fn comment(line: &str) -> Option<&str> {
    let text = line.strip_prefix("//")?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

fn begins(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}

impl Case {
    /// Reads the text of a case.
    pub fn parse(path: &Path, text: &str) -> Result<Case, String> {
        let lines: Vec<&str> = text.lines().collect();
        let mut first = lines.len();
        while first > 0 && comment(lines[first - 1]).is_some() {
            first -= 1;
        }
        let starts =
            |line: &&str| comment(line).is_some_and(|c| begins(c, EXPECTATIONS) || begins(c, SETTINGS));
        first = lines[first..].iter().position(starts).map_or(lines.len(), |skipped| first + skipped);
        let block: Vec<&str> = lines[first..].iter().filter_map(|line| comment(line)).collect();
        let settled = block.iter().position(|line| begins(line, EXPECTATIONS)).unwrap_or(block.len());
        let mut case = Case {
            path: path.to_path_buf(),
            program: lines[..first].iter().flat_map(|line| [line, "\n"]).collect(),
            settings: block[..settled].iter().map(|line| line.to_string()).collect(),
            flags: Vec::new(),
            arguments: Vec::new(),
            skipped: Vec::new(),
            expected: Expected::Nothing,
        };
        for line in &block[..settled] {
            case.setting(line)?;
        }
        let expected: Vec<String> = block[settled..].iter().map(|line| line.to_string()).collect();
        case.expected = match expected.split_first() {
            None => Expected::Nothing,
            Some((head, rest)) if head == "expect-compile-error:" => Expected::CompileError(rest.to_vec()),
            Some(_) => Expected::Run(expected),
        };
        Ok(case)
    }

    fn setting(&mut self, line: &str) -> Result<(), String> {
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect();
        if let Some(flags) = line.strip_prefix("flags:") {
            self.flags = words(flags);
        } else if let Some(arguments) = line.strip_prefix("args:") {
            self.arguments = words(arguments);
        } else if let Some(skip) = line.strip_prefix("skip ") {
            match skip.split_once(": ") {
                Some((mode, reason)) if !reason.trim().is_empty() => self.skipped.push(mode.to_string()),
                _ => return Err(format!("'skip {skip}' gives no reason")),
            }
        } else {
            return Err(format!("'{line}' is no setting"));
        }
        Ok(())
    }

    /// Is the trace part of what is expected. New cases get one if they end with an error.
    pub fn wants_trace(&self) -> bool {
        match &self.expected {
            Expected::Nothing => true,
            Expected::Run(lines) => lines.iter().any(|line| line == "trace:"),
            Expected::CompileError(_) => false,
        }
    }

    /// The file with these expectations instead of its own.
    pub fn blessed(&self, expected: &[String]) -> String {
        let mut text = self.program.trim_end().to_string();
        text.push_str("\n\n");
        for line in self.settings.iter().chain(expected) {
            text.push_str(format!("// {line}").trim_end());
            text.push('\n');
        }
        text
    }
}

/// All cases below a folder, ordered by path: every `.hol` file, but of a folder with a `main.hol` only that.
pub fn find(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let main = folder.join("main.hol");
    if main.exists() {
        return vec![main];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(find(&path));
        } else if path.extension().is_some_and(|extension| extension == "hol") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// A comment.
fn main() {}

// Not a setting.
// flags: --fuel 3
// skip loop: it is slow
// expect:
// 1
//
//   2
";

    #[test]
    fn settings_and_expectations_stand_at_the_end() {
        let case = Case::parse(Path::new("a.hol"), TEXT).expect("well formed");
        assert_eq!(case.program, "// A comment.\nfn main() {}\n\n// Not a setting.\n");
        assert_eq!(case.flags, ["--fuel", "3"]);
        assert_eq!(case.skipped, ["loop"]);
        let expected: Vec<String> = ["expect:", "1", "", "  2"].map(str::to_string).to_vec();
        assert_eq!(case.expected, Expected::Run(expected.clone()));
        assert!(!case.wants_trace());
        assert_eq!(
            Case::parse(Path::new("a.hol"), &case.blessed(&expected)).expect("same").expected,
            case.expected
        );
    }

    #[test]
    fn every_skip_needs_a_reason() {
        assert!(Case::parse(Path::new("a.hol"), "// skip loop:\n// expect:\n").is_err());
        assert!(Case::parse(Path::new("a.hol"), "// flags: --fuel 3\n// other\n// expect:\n").is_err());
        let bare = Case::parse(Path::new("a.hol"), "fn main() {}\n").expect("no expectations yet");
        assert_eq!(bare.expected, Expected::Nothing);
    }
}
