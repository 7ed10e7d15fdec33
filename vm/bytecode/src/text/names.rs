//! Which names are unique in their table: the printer adds numbers to those that are not, the assembler asks for them.

use super::lexemes;
use crate::natives::Native;
use crate::program::Program;
use crate::types::{Element, RefType, Shape, Type};
use std::collections::BTreeMap;

/// Words that a type begins with; a class of such a name is written with `class` before it.
pub(super) const TYPE_WORDS: [&str; 7] = ["int", "float", "bool", "any", "byte", "class", "interface"];

/// The names of one table of a program.
#[derive(Default)]
pub(super) struct NameTable<'a> {
    /// For each name the first number that has it, and how many have it.
    entries: BTreeMap<&'a str, (u32, u32)>,
    names: Vec<&'a str>,
}

/// What a name stands for.
pub(super) enum Lookup {
    /// This one entry.
    Unique(u32),
    /// Several, the first of them given.
    Ambiguous(u32),
    /// Nothing.
    Missing,
}

impl<'a> NameTable<'a> {
    /// The table of some names in order of their numbers.
    pub fn new(names: impl Iterator<Item = &'a str>) -> NameTable<'a> {
        let mut table = NameTable::default();
        names.for_each(|name| table.push(name));
        table
    }

    /// Adds a name; its number is the next one.
    pub fn push(&mut self, name: &'a str) {
        self.entries.entry(name).or_insert((self.names.len() as u32, 0)).1 += 1;
        self.names.push(name);
    }

    /// What has this name.
    pub fn lookup(&self, name: &str) -> Lookup {
        match self.entries.get(name) {
            Some(&(number, 1)) => Lookup::Unique(number),
            Some(&(first, _)) => Lookup::Ambiguous(first),
            None => Lookup::Missing,
        }
    }

    /// The name with this number.
    pub fn get(&self, number: u32) -> Option<&'a str> {
        self.names.get(number as usize).copied()
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Distinct names in order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.entries.keys().copied()
    }

    /// Entry `number` exists and no other has its name.
    pub fn is_unique(&self, number: u32) -> bool {
        self.get(number).is_some_and(|name| matches!(self.lookup(name), Lookup::Unique(_)))
    }

    /// How number `number` is written so that it is found again.
    pub fn reference(&self, number: u32) -> String {
        match self.get(number) {
            None => format!("#{number}"),
            Some(name) if self.is_unique(number) => lexemes::name(name).into_owned(),
            Some(name) => format!("{}#{number}", lexemes::name(name)),
        }
    }
}

/// How entry `number` of a short list of names is written.
pub(super) fn reference_in<'a>(names: impl Iterator<Item = &'a str> + Clone, number: u32) -> String {
    match names.clone().nth(number as usize) {
        None => format!("#{number}"),
        Some(name) if names.filter(|n| *n == name).count() == 1 => lexemes::name(name).into_owned(),
        Some(name) => format!("{}#{number}", lexemes::name(name)),
    }
}

/// The names of a whole program.
#[allow(missing_docs)]
pub(super) struct Names<'a> {
    pub files: NameTable<'a>,
    pub strings: NameTable<'a>,
    pub classes: NameTable<'a>,
    pub interfaces: NameTable<'a>,
    pub globals: NameTable<'a>,
    pub functions: NameTable<'a>,
    pub natives: NameTable<'a>,
}

impl<'a> Names<'a> {
    /// The names of `program`.
    pub fn new(program: &'a Program) -> Names<'a> {
        Names {
            files: NameTable::new(program.files.iter().map(|s| &**s)),
            strings: NameTable::new(program.strings.iter().map(|s| &**s)),
            classes: NameTable::new(program.classes.iter().map(|c| &*c.name)),
            interfaces: NameTable::new(program.interfaces.iter().map(|i| &*i.name)),
            globals: NameTable::new(program.globals.iter().map(|g| &*g.name)),
            functions: NameTable::new(program.functions.iter().map(|f| &*f.name)),
            natives: natives(),
        }
    }

    /// A type as it is written.
    pub fn ty(&self, ty: Type) -> String {
        match ty {
            Type::Int => "int".to_string(),
            Type::Float => "float".to_string(),
            Type::Bool => "bool".to_string(),
            Type::Ref(r) => self.reference_type(r),
        }
    }

    /// An element kind as it is written.
    pub fn element(&self, element: Element) -> String {
        match element {
            Element::Byte => "byte".to_string(),
            other => self.ty(other.value_type()),
        }
    }

    fn reference_type(&self, ty: RefType) -> String {
        let mark = if ty.nullable { "?" } else { "" };
        match ty.shape {
            Shape::Any => format!("any{mark}"),
            Shape::Class(c) => {
                format!("{}{}{mark}", self.prefix("class", &self.classes, c.0), self.classes.reference(c.0))
            }
            Shape::Interface(i) => {
                let prefix = self.prefix("interface", &self.interfaces, i.0);
                format!("{prefix}{}{mark}", self.interfaces.reference(i.0))
            }
        }
    }

    /// The word before a class or interface in a type, where its name alone would not say what it is.
    fn prefix(&self, word: &str, table: &NameTable, number: u32) -> String {
        let clear = table.get(number).is_some_and(|name| {
            let of = |table: &NameTable| !matches!(table.lookup(name), Lookup::Missing);
            !(TYPE_WORDS.contains(&name) || of(&self.classes) && of(&self.interfaces))
        });
        if clear { String::new() } else { format!("{word} ") }
    }
}

/// The names of the natives.
pub(super) fn natives() -> NameTable<'static> {
    NameTable::new(Native::ALL.iter().map(|n| n.name()))
}
