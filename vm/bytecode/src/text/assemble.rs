//! The assembler: declarations. A first pass collects the names of everything, so that the order of declarations does
//! not matter; a second one reads the bodies. Functions are in [`super::assemble_code`].

use super::cursor::{Cursor, Failure, Read};
use super::lexemes;
use super::names::{NameTable, Names, natives};
use super::parts::{comma_separated, read_element, read_reference, read_signature, read_type};
use crate::program::*;
use crate::types::*;
use std::fmt;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct AssemblyError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for AssemblyError {}

/// After so many errors the rest is not worth reading.
const MAX_ERRORS: usize = 50;

/// Reads a program from its text form. The program is well formed as data; whether it may run is for
/// [`crate::verify::verify`] to say.
pub fn assemble(text: &str) -> Result<Program, Vec<AssemblyError>> {
    let mut assembler = Assembler::default();
    let outline = assembler.outline(text);
    let names = outline.names();
    assembler.program.strings = outline.strings.iter().map(|s| s.as_str().into()).collect();
    assembler.program.files = outline.files.iter().map(|s| s.as_str().into()).collect();
    let bodies = |wanted: fn(Kind) -> bool| outline.declarations.iter().filter(move |d| wanted(d.kind));
    // Code names fields and methods, so classes and interfaces come first.
    for declaration in bodies(|kind| kind != Kind::Function).chain(bodies(|kind| kind == Kind::Function)) {
        let mut cursor = Cursor::new(text, declaration.at);
        assembler.declaration(declaration.kind, &mut cursor, &names);
    }
    if assembler.failures.is_empty() { Ok(assembler.program) } else { Err(located(text, assembler.failures)) }
}

#[derive(Default)]
pub(super) struct Assembler {
    pub program: Program,
    pub failures: Vec<Failure>,
}

/// What the first pass finds.
#[derive(Default)]
struct Outline {
    declarations: Vec<Declaration>,
    files: Vec<String>,
    strings: Vec<String>,
    classes: Vec<String>,
    interfaces: Vec<String>,
    globals: Vec<String>,
    functions: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    BuiltIn,
    Class,
    AbstractClass,
    Interface,
    Global,
    ErrorRoot,
    ErrorClasses,
    Entry,
    Function,
}

/// A declaration to be read in the second pass: what it is, and where it begins (after the words that say so).
struct Declaration {
    kind: Kind,
    at: usize,
}

/// The words that declarations begin with.
const KEYWORDS: [&str; 11] = [
    "file",
    "string",
    "built-in",
    "abstract",
    "class",
    "interface",
    "global",
    "error-root",
    "error-classes",
    "entry",
    "function",
];

impl Outline {
    fn names(&self) -> Names<'_> {
        fn table(names: &[String]) -> NameTable<'_> {
            NameTable::new(names.iter().map(|n| n.as_str()))
        }
        Names {
            files: table(&self.files),
            strings: table(&self.strings),
            classes: table(&self.classes),
            interfaces: table(&self.interfaces),
            globals: table(&self.globals),
            functions: table(&self.functions),
            natives: natives(),
        }
    }

    /// Reads the head of the declaration at the cursor.
    fn declare(&mut self, cursor: &mut Cursor<'_>) -> Read<()> {
        let at = cursor.at;
        let keyword = cursor.word();
        let kind = match keyword {
            "file" => {
                self.files.push(cursor.string()?);
                return cursor.line_end();
            }
            "string" => {
                self.strings.push(cursor.string()?);
                return cursor.line_end();
            }
            "built-in" => {
                self.classes.extend(Program::built_in_classes().iter().map(|c| c.name.to_string()));
                Kind::BuiltIn
            }
            "class" => Kind::Class,
            "abstract" => {
                cursor.expect_word("class")?;
                Kind::AbstractClass
            }
            "interface" => Kind::Interface,
            "global" => Kind::Global,
            "error-root" => Kind::ErrorRoot,
            "error-classes" => Kind::ErrorClasses,
            "entry" => Kind::Entry,
            "function" => Kind::Function,
            _ => return Err(Failure { at, message: unknown_keyword(keyword) }),
        };
        let body = cursor.at;
        let list = match kind {
            Kind::Class | Kind::AbstractClass => Some(&mut self.classes),
            Kind::Interface => Some(&mut self.interfaces),
            Kind::Global => Some(&mut self.globals),
            Kind::Function => Some(&mut self.functions),
            _ => None,
        };
        if let Some(list) = list {
            list.push(cursor.name()?.text.into_owned());
        }
        self.declarations.push(Declaration { kind, at: body });
        if cursor.skip_declaration() {
            Ok(())
        } else {
            Err(Failure { at, message: "no line `}` ends this declaration".to_string() })
        }
    }
}

fn unknown_keyword(word: &str) -> String {
    let help = match lexemes::similar(word, KEYWORDS.into_iter()) {
        Some(keyword) => format!("did you mean `{keyword}`?"),
        None => format!("a declaration begins with one of {}", KEYWORDS.join(", ")),
    };
    if word.is_empty() { help } else { format!("there is no declaration `{word}`; {help}") }
}

impl Assembler {
    fn outline(&mut self, text: &str) -> Outline {
        let mut outline = Outline::default();
        let mut cursor = Cursor::new(text, 0);
        loop {
            cursor.lines();
            if cursor.rest().is_empty() {
                return outline;
            }
            let start = cursor.at;
            if let Err(failure) = outline.declare(&mut cursor) {
                self.failures.push(failure);
                cursor.at = start;
                if !cursor.skip_declaration() {
                    return outline;
                }
            }
        }
    }

    /// Keeps the failure, if it is one.
    pub(super) fn note(&mut self, result: Read<()>) -> bool {
        match result {
            Ok(()) => true,
            Err(failure) => {
                self.failures.push(failure);
                false
            }
        }
    }

    fn declaration(&mut self, kind: Kind, cursor: &mut Cursor<'_>, names: &Names<'_>) {
        let result = match kind {
            Kind::BuiltIn => {
                self.program.classes.extend(Program::built_in_classes());
                cursor.expect_word("classes").and_then(|()| cursor.line_end())
            }
            Kind::Class => self.class(cursor, names, false),
            Kind::AbstractClass => self.class(cursor, names, true),
            Kind::Interface => self.interface(cursor, names),
            Kind::Global => self.global(cursor, names),
            Kind::ErrorRoot => read_reference(cursor, "class", &names.classes).and_then(|class| {
                self.program.error_root = Some(ClassId(class));
                cursor.line_end()
            }),
            Kind::ErrorClasses => comma_separated(cursor, |c| read_reference(c, "class", &names.classes))
                .and_then(|classes| {
                    self.program.error_classes = classes.into_iter().map(ClassId).collect();
                    cursor.line_end()
                }),
            Kind::Entry => read_reference(cursor, "function", &names.functions).and_then(|function| {
                self.program.entry = Some(FunctionId(function));
                cursor.line_end()
            }),
            Kind::Function => self.function(cursor, names),
        };
        self.note(result);
    }

    fn class(&mut self, cursor: &mut Cursor<'_>, names: &Names<'_>, is_abstract: bool) -> Read<()> {
        let name = cursor.name()?.text.into();
        // The class takes its place in the table even if the rest of it cannot be read.
        let number = self.program.classes.len();
        self.program.classes.push(Class {
            name,
            layout: Layout::Object(Vec::new()),
            superclass: None,
            is_abstract,
            methods: Vec::new(),
            interfaces: Vec::new(),
        });
        if cursor.eat(":") {
            let superclass = read_reference(cursor, "class", &names.classes)?;
            self.program.classes[number].superclass = Some(ClassId(superclass));
        }
        if cursor.eat_word("array") {
            self.program.classes[number].layout = Layout::Array(read_element(cursor, names)?);
        } else if cursor.eat_word("string") {
            self.program.classes[number].layout = Layout::String;
        }
        if !cursor.eat("{") {
            return cursor.line_end();
        }
        cursor.line_end()?;
        self.body(cursor, |assembler, cursor| {
            let class = &mut assembler.program.classes[number];
            class_member(class, cursor, names)
        });
        Ok(())
    }

    fn interface(&mut self, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<()> {
        let name = cursor.name()?.text.into();
        let number = self.program.interfaces.len();
        self.program.interfaces.push(Interface { name, extends: Vec::new(), methods: Vec::new() });
        if cursor.eat(":") {
            let extends = comma_separated(cursor, |c| read_reference(c, "interface", &names.interfaces))?;
            self.program.interfaces[number].extends = extends.into_iter().map(InterfaceId).collect();
        }
        if !cursor.eat("{") {
            return cursor.line_end();
        }
        cursor.line_end()?;
        self.body(cursor, |assembler, cursor| {
            cursor.expect_word("method")?;
            let name = cursor.name()?.text.into();
            let signature = read_signature(cursor, names)?;
            assembler.program.interfaces[number].methods.push(InterfaceMethod { name, signature });
            cursor.line_end()
        });
        Ok(())
    }

    fn global(&mut self, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<()> {
        let name = cursor.name()?.text.into();
        cursor.expect(":")?;
        let ty = read_type(cursor, names)?;
        self.program.globals.push(Global { name, ty });
        cursor.line_end()
    }

    /// Reads lines up to the `}` that ends a declaration; a line with an error does not stop the others.
    pub(super) fn body(
        &mut self,
        cursor: &mut Cursor<'_>,
        mut line: impl FnMut(&mut Assembler, &mut Cursor<'_>) -> Read<()>,
    ) {
        loop {
            cursor.lines();
            if cursor.rest().is_empty() || cursor.eat("}") {
                return;
            }
            let result = line(self, cursor);
            if !self.note(result) {
                cursor.skip_line();
            }
        }
    }
}

fn class_member(class: &mut Class, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<()> {
    match cursor.peek_word() {
        "field" => {
            let Layout::Object(fields) = &mut class.layout else {
                return cursor.fail("arrays and strings have no fields");
            };
            cursor.word();
            let name = cursor.name()?.text.into();
            cursor.expect(":")?;
            let ty = read_type(cursor, names)?;
            fields.push(Field { name, ty });
        }
        "method" | "abstract" => {
            let is_abstract = cursor.eat_word("abstract");
            cursor.expect_word("method")?;
            let name = cursor.name()?.text.into();
            let signature = read_signature(cursor, names)?;
            let function = if is_abstract {
                None
            } else {
                cursor.expect("=")?;
                Some(FunctionId(read_reference(cursor, "function", &names.functions)?))
            };
            class.methods.push(VirtualMethod { name, signature, function });
        }
        "implements" => {
            cursor.word();
            let interface = InterfaceId(read_reference(cursor, "interface", &names.interfaces)?);
            cursor.expect("[")?;
            let methods = NameTable::new(class.methods.iter().map(|m| &*m.name));
            let slots = match cursor.eat("]") {
                true => Vec::new(),
                false => {
                    let slots = comma_separated(cursor, |c| read_reference(c, "method", &methods))?;
                    cursor.expect("]")?;
                    slots
                }
            };
            class.interfaces.push(Implementation { interface, slots });
        }
        _ => return cursor.expected("`field`, `method`, `abstract method`, `implements` or `}`"),
    }
    cursor.line_end()
}

/// Failures with line and column, in order of their places.
fn located(text: &str, mut failures: Vec<Failure>) -> Vec<AssemblyError> {
    failures.sort_by_key(|f| f.at);
    let (mut line, mut line_start, mut at) = (1, 0, 0);
    let mut errors = Vec::new();
    for failure in failures.into_iter().take(MAX_ERRORS) {
        for (i, _) in text[at..failure.at].match_indices('\n') {
            line += 1;
            line_start = at + i + 1;
        }
        at = failure.at;
        let column = text[line_start..at].chars().count() as u32 + 1;
        errors.push(AssemblyError { line, column, message: failure.message });
    }
    errors
}
