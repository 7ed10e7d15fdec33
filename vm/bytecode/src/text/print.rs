//! The disassembler: declarations. Functions are in [`super::print_code`].

use super::lexemes::{name, quoted};
use super::names::{Names, reference_in};
use crate::program::*;
use crate::types::*;
use std::fmt::{Display, Write};

/// What to show beside the code itself.
#[derive(Default, Clone, Copy)]
pub struct PrintOptions<'a> {
    /// Gives the source line of a position; it is shown as a comment where the line changes.
    pub source: Option<&'a dyn Fn(Position) -> Option<String>>,
    /// Show the place of each instruction, in words, as a comment.
    pub places: bool,
}

/// Prints parts of a program. Its tables of names are made once.
pub struct Printer<'a> {
    pub(super) program: &'a Program,
    pub(super) names: Names<'a>,
}

/// The whole program in text form.
pub fn print_program(program: &Program) -> String {
    Printer::new(program).program(&PrintOptions::default())
}

/// One function in text form.
pub fn print_function(program: &Program, function: FunctionId, options: &PrintOptions<'_>) -> String {
    Printer::new(program).function(function, options)
}

/// A type in text form.
pub fn type_name(program: &Program, ty: Type) -> String {
    Names::new(program).ty(ty)
}

impl<'a> Printer<'a> {
    /// Prints parts of `program`.
    pub fn new(program: &'a Program) -> Printer<'a> {
        Printer { program, names: Names::new(program) }
    }

    /// The whole program.
    pub fn program(&self, options: &PrintOptions<'_>) -> String {
        let mut out = String::new();
        let program = self.program;
        for (i, file) in program.files.iter().enumerate() {
            numbered(&mut out, format_args!("file {}", quoted(file)), i);
        }
        begin_group(&mut out);
        for (i, string) in program.strings.iter().enumerate() {
            numbered(&mut out, format_args!("string {}", quoted(string)), i);
        }
        begin_group(&mut out);
        let built_in = Program::built_in_classes();
        let skip = if program.classes.starts_with(&built_in) { built_in.len() } else { 0 };
        if skip > 0 {
            out.push_str("built-in classes\n");
        }
        for (i, class) in program.classes.iter().enumerate().skip(skip) {
            self.class(&mut out, class, i);
        }
        begin_group(&mut out);
        for (i, interface) in program.interfaces.iter().enumerate() {
            self.interface(&mut out, interface, i);
        }
        begin_group(&mut out);
        for (i, global) in program.globals.iter().enumerate() {
            numbered(
                &mut out,
                format_args!("global {}: {}", name(&global.name), self.names.ty(global.ty)),
                i,
            );
        }
        begin_group(&mut out);
        if let Some(root) = program.error_root {
            let _ = writeln!(out, "error-root {}", self.names.classes.reference(root.0));
        }
        if !program.error_classes.is_empty() {
            let classes = program.error_classes.iter().map(|c| self.names.classes.reference(c.0));
            let _ = writeln!(out, "error-classes {}", joined(classes));
        }
        if let Some(entry) = program.entry {
            let _ = writeln!(out, "entry {}", self.names.functions.reference(entry.0));
        }
        for i in 0..program.functions.len() {
            begin_group(&mut out);
            out.push_str(&self.function(FunctionId(i as u32), options));
        }
        out
    }

    fn class(&self, out: &mut String, class: &Class, number: usize) {
        let mut head = String::new();
        if class.is_abstract {
            head.push_str("abstract ");
        }
        let _ = write!(head, "class {}", name(&class.name));
        if let Some(superclass) = class.superclass {
            let _ = write!(head, " : {}", self.names.classes.reference(superclass.0));
        }
        match class.layout {
            Layout::Object(_) => {}
            Layout::Array(element) => {
                let _ = write!(head, " array {}", self.names.element(element));
            }
            Layout::String => head.push_str(" string"),
        }
        let mut body = String::new();
        for field in class.fields() {
            let _ = writeln!(body, "    field {}: {}", name(&field.name), self.names.ty(field.ty));
        }
        for method in &class.methods {
            let (name, signature) = (name(&method.name), self.signature(&method.signature));
            let _ = match method.function {
                Some(function) => {
                    let function = self.names.functions.reference(function.0);
                    writeln!(body, "    method {name}{signature} = {function}")
                }
                None => writeln!(body, "    abstract method {name}{signature}"),
            };
        }
        for implementation in &class.interfaces {
            let methods = class.methods.iter().map(|m| &*m.name);
            let slots = implementation.slots.iter().map(|&slot| reference_in(methods.clone(), slot));
            let interface = self.names.interfaces.reference(implementation.interface.0);
            let _ = writeln!(body, "    implements {interface} [{}]", joined(slots));
        }
        with_body(out, head, &body, number);
    }

    fn interface(&self, out: &mut String, interface: &Interface, number: usize) {
        let mut head = format!("interface {}", name(&interface.name));
        if !interface.extends.is_empty() {
            let extends = interface.extends.iter().map(|i| self.names.interfaces.reference(i.0));
            let _ = write!(head, " : {}", joined(extends));
        }
        let mut body = String::new();
        for method in &interface.methods {
            let _ = writeln!(body, "    method {}{}", name(&method.name), self.signature(&method.signature));
        }
        with_body(out, head, &body, number);
    }

    fn signature(&self, signature: &Signature) -> String {
        let params = joined(signature.params.iter().map(|&ty| self.names.ty(ty)));
        format!("({params}){}", self.result(signature.result))
    }

    /// ` -> type`, or nothing.
    pub(super) fn result(&self, result: Option<Type>) -> String {
        result.map_or(String::new(), |ty| format!(" -> {}", self.names.ty(ty)))
    }
}

/// An empty line between groups of declarations.
fn begin_group(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

/// Column at which the number of a declaration is put.
const NUMBER_COLUMN: usize = 40;

/// A line with the number of what it declares as a comment.
pub(super) fn numbered(out: &mut String, line: impl Display, number: usize) {
    let line = line.to_string();
    let _ = writeln!(out, "{line:<NUMBER_COLUMN$} ; #{number}");
}

fn with_body(out: &mut String, mut head: String, body: &str, number: usize) {
    if !body.is_empty() {
        head.push_str(" {");
    }
    numbered(out, head, number);
    if !body.is_empty() {
        out.push_str(body);
        out.push_str("}\n");
    }
}

/// Things separated by commas.
pub(super) fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}
