//! Names at the top level: the file's own module first, then what the file imports, then the prelude. The first
//! of these that has the name wins, so that a program may have a `List` of its own.

use super::Checker;
use super::modules::ModuleId;
use super::suggest::closest;
use super::tables::*;
use crate::ast::Name;
use crate::diagnostics::Diagnostic;
use crate::span::{FileId, Span};

/// The result of looking for a name.
pub(super) enum Lookup {
    /// One declaration.
    Found(Declared),
    /// Several imports declare it.
    Ambiguous(Vec<(ModuleId, Declared)>),
    /// It exists, but is private to another file.
    Private(Declared),
    /// There is no such name.
    Missing,
}

impl Checker<'_> {
    fn imports_of(&self, file: FileId) -> &[ModuleId] {
        let mut files = self.modules.iter().flat_map(|module| &module.files);
        files.find(|module_file| module_file.file == file).map_or(&[], |module_file| &module_file.imports)
    }

    /// The module that a file has imported under the name `alias`, the last part of its path.
    pub(super) fn module_alias(&self, file: FileId, alias: &str) -> Option<ModuleId> {
        let last = |import: &&ModuleId| self.modules[import.index()].name.rsplit('.').next() == Some(alias);
        self.imports_of(file).iter().find(last).copied()
    }

    /// Looks for a name in the top level as seen from `file` of `module`.
    pub(super) fn lookup(&self, module: ModuleId, file: FileId, name: &str) -> Lookup {
        match self.lookup_in(module, file, name) {
            Lookup::Missing => {}
            found => return found,
        }
        let mut found: Vec<(ModuleId, Declared)> = Vec::new();
        let mut hidden = None;
        for import in self.imports_of(file) {
            if found.iter().any(|(module, _)| module == import) {
                continue;
            }
            match self.lookup_in(*import, file, name) {
                Lookup::Found(declared) => found.push((*import, declared)),
                Lookup::Private(declared) => hidden = Some(declared),
                _ => {}
            }
        }
        match found.as_slice() {
            [] => {}
            [(_, declared)] => return Lookup::Found(*declared),
            _ => return Lookup::Ambiguous(found),
        }
        match (self.lookup_in(ModuleId::PRELUDE, file, name), hidden) {
            (Lookup::Found(declared), _) => Lookup::Found(declared),
            (_, Some(declared)) => Lookup::Private(declared),
            (other, None) => other,
        }
    }

    /// Looks for a name in one module, as seen from `file`.
    pub(super) fn lookup_in(&self, module: ModuleId, file: FileId, name: &str) -> Lookup {
        match self.names[module.index()].get(name) {
            Some(declared) if declared.private && declared.span.file != file => Lookup::Private(*declared),
            Some(declared) => Lookup::Found(*declared),
            None => Lookup::Missing,
        }
    }

    /// Reports that a name cannot be used because of what `lookup` found.
    pub(super) fn report_lookup(&mut self, lookup: Lookup, name: &Name, what: &str) {
        let diagnostic = match lookup {
            Lookup::Found(_) => return,
            Lookup::Ambiguous(found) => {
                let message = format!("`{}` is declared by two imported modules", name.text);
                let mut diagnostic = Diagnostic::new(name.span, message, "which one?");
                let mut ways = Vec::new();
                for (module, declared) in &found {
                    let module = &self.modules[module.index()].name;
                    diagnostic = diagnostic.related(declared.span, format!("declared in `{module}`"));
                    ways.push(format!("`{}.{}`", module.rsplit('.').next().unwrap_or(module), name.text));
                }
                diagnostic.help(format!("write {}", ways.join(" or ")))
            }
            Lookup::Private(declared) => {
                let message = format!("`{}` is private to its file", name.text);
                let help =
                    format!("remove `private` from the declaration, or do not use `{}` here", name.text);
                Diagnostic::new(name.span, message, "not visible here")
                    .related(declared.span, "declared here")
                    .help(help)
            }
            Lookup::Missing => {
                let message = format!("there is no {what} `{}`", name.text);
                return self.report_missing(Diagnostic::new(name.span, message, "unknown name"));
            }
        };
        self.report(diagnostic);
    }

    /// All names of the top level visible in a file, for suggestions.
    pub(super) fn visible_names(&self, module: ModuleId, file: FileId) -> Vec<&str> {
        let imports = self.imports_of(file).iter().copied();
        let modules = [module].into_iter().chain(imports).chain([ModuleId::PRELUDE]);
        let names = modules.flat_map(|module| self.names[module.index()].iter());
        names.filter(|(_, d)| !d.private || d.span.file == file).map(|(name, _)| &**name).collect()
    }

    /// The module of the program or the library that declares a name which is not visible, for help.
    pub(super) fn module_declaring(&self, name: &str) -> Option<&str> {
        let declares = |names: &&std::collections::BTreeMap<Box<str>, Declared>| {
            names.get(name).is_some_and(|declared| !declared.private)
        };
        let module = self.names.iter().position(|names| declares(&names))?;
        Some(&self.modules[module].name)
    }

    /// "Did you mean", or where the name could be imported from.
    pub(super) fn help_for_missing(&self, scope: &TypeScope, name: &str, more: &[&str]) -> Option<String> {
        if self.diagnostics.is_full() {
            return None;
        }
        let visible = self.visible_names(scope.module, scope.file);
        if let Some(close) = closest(name, more.iter().copied().chain(visible)) {
            return Some(format!("did you mean `{close}`?"));
        }
        self.module_declaring(name)
            .map(|module| format!("`{name}` is declared in `{module}`: write `import {module}`"))
    }

    /// Reports a use of something private to another file; true if it may be used.
    pub(super) fn may_use(&mut self, private: bool, declared: Span, name: &Name, scope: &TypeScope) -> bool {
        if !private || declared.file == scope.file {
            return true;
        }
        let message = format!("`{}` is private to its file", name.text);
        self.report(
            Diagnostic::new(name.span, message, "not visible here").related(declared, "declared here"),
        );
        false
    }
}
