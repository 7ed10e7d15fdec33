//! A program in bytecode: everything the virtual machine needs, nothing that it does not.

use crate::types::*;

/// A program. Made by the compiler or the assembler, checked by [`crate::verify`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Source files, as shown to the user; [`Position::file`] points here.
    pub files: Vec<Box<str>>,
    /// String constants.
    pub strings: Vec<Box<str>>,
    /// Classes. The first [`ClassId::BUILT_IN`] are always the built-in ones; a superclass precedes its subclasses.
    pub classes: Vec<Class>,
    /// Interfaces; those extended precede those that extend them.
    pub interfaces: Vec<Interface>,
    /// Global variables. Non-null references start out unset and are checked when read.
    pub globals: Vec<Global>,
    /// Functions.
    pub functions: Vec<Function>,
    /// What runs: a function without parameters and result. It initialises the globals, then does the program's work.
    pub entry: Option<FunctionId>,
    /// The root of all classes that can be thrown. Its first field is the message (`String`), its second the trace
    /// (a nullable array of `Int`, filled in by the system when the error is thrown first).
    pub error_root: Option<ClassId>,
    /// The class raised for each [`ErrorKind`], in the order of [`ErrorKind::ALL`].
    pub error_classes: Vec<ClassId>,
}

/// The errors that the system raises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum ErrorKind {
    Index,
    Null,
    Cast,
    Division,
    Unset,
    Value,
    StackOverflow,
    OutOfMemory,
    Deadlock,
}

impl ErrorKind {
    /// All of them, in the order of [`Program::error_classes`].
    pub const ALL: [ErrorKind; 9] = [
        ErrorKind::Index,
        ErrorKind::Null,
        ErrorKind::Cast,
        ErrorKind::Division,
        ErrorKind::Unset,
        ErrorKind::Value,
        ErrorKind::StackOverflow,
        ErrorKind::OutOfMemory,
        ErrorKind::Deadlock,
    ];

    /// The name of its class in the source language.
    pub fn class_name(self) -> &'static str {
        match self {
            ErrorKind::Index => "IndexError",
            ErrorKind::Null => "NullError",
            ErrorKind::Cast => "CastError",
            ErrorKind::Division => "DivisionError",
            ErrorKind::Unset => "UnsetError",
            ErrorKind::Value => "ValueError",
            ErrorKind::StackOverflow => "StackOverflowError",
            ErrorKind::OutOfMemory => "OutOfMemoryError",
            ErrorKind::Deadlock => "DeadlockError",
        }
    }
}

/// A class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name, with type arguments: `List<Int>`.
    pub name: Box<str>,
    /// What its instances are made of.
    pub layout: Layout,
    /// Superclass. Arrays, strings and bytes have none.
    pub superclass: Option<ClassId>,
    /// Has no instances of its own.
    pub is_abstract: bool,
    /// The virtual methods by slot; begins with those of the superclass.
    pub methods: Vec<VirtualMethod>,
    /// All interfaces that it implements, inherited ones and those that they extend included.
    pub interfaces: Vec<Implementation>,
}

/// What an instance is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// Fields of 64 bits each; begins with those of the superclass.
    Object(Vec<Field>),
    /// A length and elements.
    Array(Element),
    /// Immutable UTF-8: in memory as an array of bytes.
    String,
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name.
    pub name: Box<str>,
    /// Type. Fields are written before they are read: the compiler sees to it, and fields of a new object start out as zero.
    pub ty: Type,
}

/// What a call through a table passes and gives back. The receiver is not part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Types of the arguments after the receiver.
    pub params: Vec<Type>,
    /// Type of the result; `None` for nothing.
    pub result: Option<Type>,
}

/// A slot of a class's method table.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualMethod {
    /// Name, for reading.
    pub name: Box<str>,
    /// How it is called.
    pub signature: Signature,
    /// What runs; `None` if abstract here.
    pub function: Option<FunctionId>,
}

/// How a class implements an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Implementation {
    /// The interface.
    pub interface: InterfaceId,
    /// For each method of the interface, the slot of the class's method table that implements it.
    pub slots: Vec<u32>,
}

/// An interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Name.
    pub name: Box<str>,
    /// All interfaces that it extends, directly or not.
    pub extends: Vec<InterfaceId>,
    /// Its own methods (a call of an inherited one names the interface that declares it).
    pub methods: Vec<InterfaceMethod>,
}

/// A method of an interface.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceMethod {
    /// Name, for reading.
    pub name: Box<str>,
    /// How it is called.
    pub signature: Signature,
}

/// A global variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Name.
    pub name: Box<str>,
    /// Type.
    pub ty: Type,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Full name: `Point.length`.
    pub name: Box<str>,
    /// How many of the registers are parameters (the first ones; of methods, register 0 is the receiver).
    pub params: u16,
    /// The type of each register.
    pub registers: Vec<Type>,
    /// Type of the result; `None` for nothing.
    pub result: Option<Type>,
    /// The instructions, see [`crate::code`].
    pub code: Vec<u64>,
    /// Which code is protected by which handler; of several that fit, the first counts.
    pub handlers: Vec<Handler>,
    /// Where code comes from: each entry holds from its `pc` to the next one's; ordered by `pc`, the first is 0.
    pub positions: Vec<PositionEntry>,
}

/// An exception handler: an error of `class` thrown by an instruction in `start..end` continues at `target` with the
/// error in `register`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handler {
    /// First protected word.
    pub start: u32,
    /// One past the last protected word.
    pub end: u32,
    /// Where to go.
    pub target: u32,
    /// What is caught: [`Program::error_root`] or a subclass.
    pub class: ClassId,
    /// Where the error is put.
    pub register: Register,
}

/// A place in source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    /// Index into [`Program::files`].
    pub file: u32,
    /// Line, from 1; 0 for code without a place.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// The position of the instructions from `pc` on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositionEntry {
    /// First word.
    pub pc: u32,
    /// Where it comes from.
    pub position: Position,
}

impl Program {
    /// The classes that every program begins with.
    pub fn built_in_classes() -> Vec<Class> {
        let boxed = |name: &str, ty| Class {
            name: name.into(),
            layout: Layout::Object(vec![Field { name: "value".into(), ty }]),
            superclass: None,
            is_abstract: false,
            methods: Vec::new(),
            interfaces: Vec::new(),
        };
        let plain = |name: &str, layout| Class {
            name: name.into(),
            layout,
            superclass: None,
            is_abstract: false,
            methods: Vec::new(),
            interfaces: Vec::new(),
        };
        vec![
            plain("String", Layout::String),
            plain("Bytes", Layout::Array(Element::Byte)),
            boxed("Int", Type::Int),
            boxed("Float", Type::Float),
            boxed("Bool", Type::Bool),
        ]
    }

    /// Is `class` the class `ancestor` or one that extends it.
    pub fn is_subclass(&self, class: ClassId, ancestor: ClassId) -> bool {
        let mut at = Some(class);
        while let Some(c) = at {
            if c == ancestor {
                return true;
            }
            at = self.classes[c.index()].superclass;
        }
        false
    }
}

impl Class {
    /// The fields, if it has any.
    pub fn fields(&self) -> &[Field] {
        match &self.layout {
            Layout::Object(fields) => fields,
            _ => &[],
        }
    }

    /// The element kind, if instances are indexed.
    pub fn element(&self) -> Option<Element> {
        match self.layout {
            Layout::Array(element) => Some(element),
            Layout::String => Some(Element::Byte),
            Layout::Object(_) => None,
        }
    }
}

impl Function {
    /// Where the instruction at `pc` comes from.
    pub fn position(&self, pc: u32) -> Position {
        match self.positions.partition_point(|e| e.pc <= pc) {
            0 => Position::default(),
            n => self.positions[n - 1].position,
        }
    }
}
