//! From the path of a main file to a checked program: [`check()`] loads the file and everything that it imports,
//! parses it, and hands it to the checker.
//!
//! The stages are told apart by type: what comes out is either [`Checked`], a program without errors, or
//! [`Failure`], the errors with the texts they point into. There is no program that "may have errors".

use std::path::Path;

use crate::check::check_modules;
use crate::check::modules::{PreludeExtent, load_modules};
use crate::diagnostics::Diagnostics;
use crate::sources::Sources;
use crate::typed::TypedProgram;
use crate::with_deep_stack;

/// Where source files come from.
pub trait SourceLoader: Sync {
    /// The bytes of the file at `path`, or why it cannot be read.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// Reads files from disk.
pub struct FileSystem;

impl SourceLoader for FileSystem {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(Path::new(path)).map_err(|error| error.to_string())
    }
}

/// Files held in memory, for tests and tools: pairs of path and text.
#[derive(Default)]
pub struct InMemory {
    files: Vec<(String, String)>,
}

impl InMemory {
    /// No files.
    pub fn new() -> InMemory {
        InMemory::default()
    }

    /// Adds a file.
    pub fn with(mut self, path: impl Into<String>, text: impl Into<String>) -> InMemory {
        self.files.push((path.into(), text.into()));
        self
    }
}

impl SourceLoader for InMemory {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = self.files.iter().find(|(name, _)| name == path);
        found.map(|(_, text)| text.clone().into_bytes()).ok_or_else(|| "there is no such file".to_string())
    }
}

/// A program without errors, with the texts that its positions point into.
pub struct Checked {
    /// The texts.
    pub sources: Sources,
    /// The program.
    pub program: TypedProgram,
}

/// What is wrong with a program: at least one error.
#[derive(Debug)]
pub struct Failure {
    /// The texts that the errors point into.
    pub sources: Sources,
    /// The errors.
    pub diagnostics: Diagnostics,
}

/// Loads the program whose main file is at `main_path`, and checks it.
pub fn check(main_path: &str, loader: &dyn SourceLoader) -> Result<Checked, Box<Failure>> {
    with_deep_stack(|| {
        // What is wrong is better explained with all of the library in view.
        check_with(main_path, loader, PreludeExtent::Needed)
            .or_else(|_| check_with(main_path, loader, PreludeExtent::Whole))
    })
}

fn check_with(
    main_path: &str,
    loader: &dyn SourceLoader,
    extent: PreludeExtent,
) -> Result<Checked, Box<Failure>> {
    let mut sources = Sources::new();
    let mut diagnostics = Diagnostics::default();
    let modules = load_modules(main_path, loader, extent, &mut sources, &mut diagnostics);
    match check_modules(&sources, &modules, diagnostics) {
        Ok(program) => Ok(Checked { sources, program }),
        Err(diagnostics) => Err(Box::new(Failure { sources, diagnostics })),
    }
}
