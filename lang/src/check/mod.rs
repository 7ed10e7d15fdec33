//! The checker: syntax trees in, a [`TypedProgram`] or errors out.
//!
//! It works in passes over all modules at once, because declarations may refer to each other in any order:
//!
//! 1. [`declare`] and [`declare_members`] enter every name and number every declaration, superclasses before
//!    subclasses;
//! 2. [`headers`] resolves what stands outside bodies: type parameters, supertypes, signatures, fields;
//! 3. [`inheritance`] and [`implementing`] compare classes with what they extend and implement;
//! 4. [`bodies`] checks every function, constructor and initialiser, each on its own ([`body`] and its
//!    neighbours), and makes the typed trees;
//! 5. [`finish`] moves the tables into the typed program if nothing was wrong.
//!
//! Types of fields and globals without a written type follow from their initialisers, which is the one thing
//! found on demand ([`globals`]). Inside bodies, types flow both ways: [`expected::Expected`] goes down, the type
//! of the node comes back. Generic code is checked once, with its parameters opaque.
//!
//! After an error an expression has the type [`Ty::ERROR`], which fits everything, so that one mistake is
//! reported once.

mod access;
mod assignments;
mod bodies;
mod body;
mod bounds;
mod builtin_members;
mod calls;
mod closures;
mod conditions;
mod construction;
mod constructors;
mod control;
mod declare;
mod declare_members;
mod equality;
mod exhaustive;
mod expected;
mod expressions;
mod finish;
mod globals;
mod headers;
mod implementing;
mod infer;
mod inheritance;
mod init_rules;
pub(crate) mod library;
mod loops;
mod members;
mod methods;
pub(crate) mod modules;
mod names;
mod narrowing;
mod natives;
mod needed;
mod operators;
mod patterns;
mod resolve;
mod scopes;
mod show;
mod sizes;
mod statements;
mod subtyping;
pub(crate) mod suggest;
mod tables;
#[cfg(test)]
mod tests;
mod variables;
mod visit;

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::sources::Sources;
use crate::span::Span;
use crate::typed::{
    ClassIndex, EnumIndex, FunctionIndex, GlobalIndex, InterfaceIndex, ParamIndex, Ty, TypedProgram, Types,
};
use modules::Module;
use tables::*;

/// Checks the modules of a program, which [`modules::load_modules`] has put in order. `diagnostics` holds what
/// loading and parsing found; if it or the checker finds anything wrong, the errors come back.
pub(crate) fn check_modules(
    sources: &Sources,
    modules: &[Module],
    diagnostics: Diagnostics,
) -> Result<TypedProgram, Diagnostics> {
    let unreadable = !diagnostics.is_empty();
    let mut checker = Checker {
        sources,
        modules,
        diagnostics,
        types: Types::default(),
        names: modules.iter().map(|_| BTreeMap::new()).collect(),
        classes: Vec::new(),
        interfaces: Vec::new(),
        enums: Vec::new(),
        functions: Vec::new(),
        globals: Vec::new(),
        params: Vec::new(),
        bounds_to_check: Vec::new(),
        unreadable,
        sizes: Vec::new(),
    };
    checker.declare();
    checker.resolve_headers();
    checker.check_inheritance();
    checker.check_bodies();
    checker.check_written_bounds();
    checker.finish()
}

/// Everything known so far.
struct Checker<'a> {
    sources: &'a Sources,
    modules: &'a [Module],
    diagnostics: Diagnostics,
    types: Types,
    /// The declarations of each module by name.
    names: Vec<BTreeMap<Box<str>, Declared>>,
    classes: Vec<ClassInfo<'a>>,
    interfaces: Vec<InterfaceInfo<'a>>,
    enums: Vec<EnumInfo<'a>>,
    functions: Vec<FunctionInfo<'a>>,
    globals: Vec<GlobalInfo<'a>>,
    params: Vec<ParamInfo>,
    /// Types with arguments that were written or inferred, whose bounds are checked when all headers are known.
    bounds_to_check: Vec<(Ty, Span)>,
    /// Parsing found errors, so that declarations may be missing from the trees.
    unreadable: bool,
    /// How large each type is, see [`sizes`].
    sizes: Vec<u32>,
}

impl<'a> Checker<'a> {
    /// Reports an error.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.report(diagnostic);
    }

    /// Reports that something is not there. Where some text could not be read it may have been in that text, and
    /// then nothing is said.
    fn report_missing(&mut self, diagnostic: Diagnostic) {
        if !self.unreadable {
            self.report(diagnostic);
        }
    }

    fn class(&self, class: ClassIndex) -> &ClassInfo<'a> {
        &self.classes[class.index()]
    }

    fn interface(&self, interface: InterfaceIndex) -> &InterfaceInfo<'a> {
        &self.interfaces[interface.index()]
    }

    fn enumeration(&self, index: EnumIndex) -> &EnumInfo<'a> {
        &self.enums[index.index()]
    }

    fn function(&self, function: FunctionIndex) -> &FunctionInfo<'a> {
        &self.functions[function.index()]
    }

    fn global(&self, global: GlobalIndex) -> &GlobalInfo<'a> {
        &self.globals[global.index()]
    }

    fn param_name(&self, param: ParamIndex) -> &str {
        self.params.get(param.index()).map_or("?", |info| &info.name)
    }
}
