//! The lines of a program's files, for listings: from the standard library and the benchmark programs, which are compiled in, and from
//! the disk. What cannot be read is not shown.

use holloway_benchmarks::embedded::Embedded;
use holloway_bytecode::{Position, Program};
use holloway_lang::library_text;
use holloway_lang::pipeline::SourceLoader;

/// The lines of all files, by the number of the file.
pub struct SourceLines(Vec<Vec<String>>);

impl SourceLines {
    /// Reads the files of a program.
    pub fn read(program: &Program) -> SourceLines {
        SourceLines::of_files(program.files.iter().map(|path| &**path))
    }

    /// Reads files, numbered from 0.
    pub fn of_files<'p>(paths: impl Iterator<Item = &'p str>) -> SourceLines {
        let lines = |path: &str| -> Vec<String> {
            let text = text(path).unwrap_or_default();
            text.lines().map(|line| line.trim().to_string()).collect()
        };
        SourceLines(paths.map(lines).collect())
    }

    /// Is anything known of a file.
    pub fn knows(&self, file: u32) -> bool {
        self.0.get(file as usize).is_some_and(|lines| !lines.is_empty())
    }

    /// The line of a position.
    pub fn line(&self, position: Position) -> Option<String> {
        self.0.get(position.file as usize)?.get((position.line as usize).checked_sub(1)?).cloned()
    }
}

fn text(path: &str) -> Option<String> {
    library_text(path)
        .map(str::to_string)
        .or_else(|| std::fs::read_to_string(path).ok())
        .or_else(|| String::from_utf8(Embedded.load(path).ok()?).ok())
}
