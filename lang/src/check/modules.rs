//! Loading: the main file, the modules it imports, the modules those import, each once and every module after
//! those that it imports, which is also the order in which globals are initialised.
//!
//! A module is a file, except for the prelude, which is several. What cannot be loaded is reported at the import
//! and left out; the rest is checked all the same.

use super::library::{LIBRARY, PRELUDE, library_module};
use super::needed::needed_prelude_files;
use super::suggest::closest;
use crate::ast;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::parser::parse;
use crate::pipeline::SourceLoader;
use crate::sources::Sources;
use crate::span::{FileId, Span};

/// A module of the program: an index into the list that [`load_modules`] returns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ModuleId(pub u32);

impl ModuleId {
    /// The prelude.
    pub const PRELUDE: ModuleId = ModuleId(0);

    /// The position in the list of modules.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A loaded module.
#[derive(Debug)]
pub struct Module {
    /// As imports write it: `som.vector`. The main module has the name of its file.
    pub name: String,
    /// It belongs to the standard library and may call natives.
    pub is_library: bool,
    /// Its files.
    pub files: Vec<ModuleFile>,
}

/// A file of a module.
#[derive(Debug)]
pub struct ModuleFile {
    /// The text.
    pub file: FileId,
    /// The tree.
    pub ast: ast::Module,
    /// What it imports, without the prelude.
    pub imports: Vec<ModuleId>,
}

/// How much of the prelude is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PreludeExtent {
    /// The files that the program mentions.
    Needed,
    /// All files.
    Whole,
}

/// Loads a program. The prelude comes first, the main module last.
pub fn load_modules(
    main_path: &str,
    loader: &dyn SourceLoader,
    extent: PreludeExtent,
    sources: &mut Sources,
    diagnostics: &mut Diagnostics,
) -> Vec<Module> {
    let folder = main_path.rfind(['/', '\\']).map_or("", |slash| &main_path[..=slash]);
    let mut loading =
        Loading { folder, loader, sources, diagnostics, modules: Vec::new(), known: Vec::new() };
    // The prelude is the first module, but what of it is needed is only known at the end.
    loading.finish(PRELUDE.to_string(), true, Vec::new());
    loading.main(main_path);
    loading.prelude(extent);
    loading.modules
}

struct Loading<'a> {
    /// Where the main file is, with its slash.
    folder: &'a str,
    loader: &'a dyn SourceLoader,
    sources: &'a mut Sources,
    diagnostics: &'a mut Diagnostics,
    modules: Vec<Module>,
    /// What was begun, by name, in the order of beginning.
    known: Vec<(String, State)>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Its imports are being loaded.
    Active,
    Loaded(ModuleId),
    /// It could not be loaded; that was reported.
    Failed,
}

impl Loading<'_> {
    fn main(&mut self, path: &str) {
        let file_name = &path[self.folder.len()..];
        let name = file_name.strip_suffix(".hol").unwrap_or(file_name).to_string();
        let bytes = self.loader.load(path);
        let file = match bytes
            .and_then(|bytes| self.sources.add_bytes(path, bytes).map_err(|error| error.to_string()))
        {
            Ok(file) => file,
            Err(reason) => {
                let file = self.sources.add(path, "");
                let message = format!("cannot read the program `{path}`");
                self.diagnostics.report(Diagnostic::new(Span::new(file, 0, 0), message, reason));
                return;
            }
        };
        self.finish(name, false, vec![file]);
    }

    /// Fills the prelude in.
    fn prelude(&mut self, extent: PreludeExtent) {
        let files = match extent {
            PreludeExtent::Whole => {
                library_module(PRELUDE).map_or(Vec::new(), |(_, files)| files.iter().collect())
            }
            PreludeExtent::Needed => {
                let loaded = self.modules.iter().flat_map(|module| &module.files);
                needed_prelude_files(loaded.map(|f| self.sources.text(f.file)))
            }
        };
        let parsed = files
            .into_iter()
            .map(|(path, text)| {
                let file = self.sources.add(*path, *text);
                ModuleFile { file, ast: parse(self.sources, file, self.diagnostics), imports: Vec::new() }
            })
            .collect();
        self.modules[ModuleId::PRELUDE.index()].files = parsed;
    }

    /// Loads a module of the standard library that is known to exist.
    fn library(&mut self, name: &str) -> Option<ModuleId> {
        let (_, files) = library_module(name)?;
        let files = files.iter().map(|(path, text)| self.sources.add(*path, *text)).collect();
        Some(self.finish(name.to_string(), true, files))
    }

    /// Parses the files of a module and loads what they import.
    fn finish(&mut self, name: String, is_library: bool, files: Vec<FileId>) -> ModuleId {
        let place = self.known.len();
        self.known.push((name.clone(), State::Active));
        let files = files
            .into_iter()
            .map(|file| {
                let ast = parse(self.sources, file, self.diagnostics);
                self.refuse_equal_aliases(&ast.imports);
                let imports = ast.imports.iter().filter_map(|import| self.import(import)).collect();
                ModuleFile { file, ast, imports }
            })
            .collect();
        let id = ModuleId(self.modules.len() as u32);
        self.modules.push(Module { name, is_library, files });
        self.known[place].1 = State::Loaded(id);
        id
    }

    /// Two modules that a file imports are told apart by the last parts of their paths.
    fn refuse_equal_aliases(&mut self, imports: &[ast::Import]) {
        for (at, import) in imports.iter().enumerate() {
            let Some(alias) = import.path.last().filter(|alias| !alias.text.is_empty()) else { continue };
            let same = |other: &&ast::Import| {
                let texts =
                    |import: &ast::Import| import.path.iter().map(|p| p.text.clone()).collect::<Vec<_>>();
                other.path.last().is_some_and(|last| last.text == alias.text) && texts(other) != texts(import)
            };
            if let Some(first) = imports[..at].iter().find(same) {
                let message = format!("two imported modules are called `{}`", alias.text);
                let diagnostic = Diagnostic::new(import.span, message, "they could not be told apart")
                    .related(first.span, "the first one")
                    .help("give one of the files another name");
                self.diagnostics.report(diagnostic);
            }
        }
    }

    fn import(&mut self, import: &ast::Import) -> Option<ModuleId> {
        let parts: Vec<&str> = import.path.iter().map(|part| &*part.text).collect();
        let name = parts.join(".");
        if parts.iter().any(|part| part.is_empty()) || parts.is_empty() {
            return None;
        }
        match self.known.iter().find(|(known, _)| *known == name).map(|(_, state)| *state) {
            Some(State::Loaded(ModuleId::PRELUDE)) => return None,
            Some(State::Loaded(module)) => return Some(module),
            Some(State::Failed) => return None,
            Some(State::Active) => {
                self.cycle(&name, import);
                return None;
            }
            None => {}
        }
        if parts[0] == "std" {
            if let Some(module) = self.library(&name) {
                return Some(module);
            }
            self.missing_library(&name, import);
        } else {
            let path = format!("{}{}.hol", self.folder, parts.join("/"));
            let bytes = self.loader.load(&path);
            match bytes.and_then(|b| self.sources.add_bytes(&*path, b).map_err(|error| error.to_string())) {
                Ok(file) => return Some(self.finish(name, false, vec![file])),
                Err(reason) => self.missing(&name, &path, &reason, import),
            }
        }
        self.known.push((name, State::Failed));
        None
    }

    fn cycle(&mut self, name: &str, import: &ast::Import) {
        let active = self.known.iter().filter(|(_, state)| *state == State::Active);
        let mut chain: Vec<&str> =
            active.map(|(name, _)| &**name).skip_while(|active| *active != name).collect();
        let (message, label) = if chain.len() < 2 {
            (format!("the module `{name}` imports itself"), "this is the module itself")
        } else {
            chain.push(name);
            (format!("modules import each other: `{}`", chain.join("` -> `")), "this closes the circle")
        };
        let help = if chain.len() < 2 {
            "remove the import; a module sees its own declarations without one"
        } else {
            "move what both need into a module of its own"
        };
        self.diagnostics.report(Diagnostic::new(import.span, message, label).help(help));
    }

    fn missing_library(&mut self, name: &str, import: &ast::Import) {
        let names = || LIBRARY.iter().map(|(name, _)| *name).filter(|name| *name != PRELUDE);
        let help = match closest(name, names()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("it has `{}`", names().collect::<Vec<_>>().join("`, `")),
        };
        let message = format!("the standard library has no module `{name}`");
        self.diagnostics.report(Diagnostic::new(import.span, message, "no such module").help(help));
    }

    fn missing(&mut self, name: &str, path: &str, reason: &str, import: &ast::Import) {
        let message = format!("cannot read the module `{name}`");
        let help = match library_module(&format!("std.{name}")) {
            Some((library, _)) => format!("the module of the standard library is `import {library}`"),
            None => "the path of an import is relative to the folder of the program's main file".to_string(),
        };
        self.diagnostics
            .report(Diagnostic::new(import.span, message, format!("tried `{path}`: {reason}")).help(help));
    }
}
