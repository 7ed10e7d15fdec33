//! What the checker knows about each declaration: one table for each kind, indexed by the numbers that the typed
//! program uses too. Entries are made by [`super::declare`], completed by [`super::headers`], read by everybody.

use std::rc::Rc;

use super::modules::ModuleId;
use crate::ast;
use crate::span::{FileId, Span};
use crate::typed::{Body, ClassIndex, EnumIndex, FunctionIndex, GlobalIndex, InterfaceIndex, ParamIndex, Ty};

/// What a name at the top level stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entity {
    /// A class.
    Class(ClassIndex),
    /// An interface.
    Interface(InterfaceIndex),
    /// An enum.
    Enum(EnumIndex),
    /// A function.
    Function(FunctionIndex),
    /// A global.
    Global(GlobalIndex),
}

/// A declaration at the top level.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// What it is.
    pub entity: Entity,
    /// Visible in its file only.
    pub private: bool,
    /// Its name.
    pub span: Span,
}

/// What may be seen from a place: its file, and the type parameters declared around it.
#[derive(Clone, Debug)]
pub struct TypeScope {
    /// The module.
    pub module: ModuleId,
    /// The file.
    pub file: FileId,
    /// Type parameters by name, inner ones last.
    pub params: Rc<[(Box<str>, ParamIndex)]>,
    /// Type parameters of the class that a static member cannot use.
    pub hidden: Rc<[(Box<str>, ParamIndex)]>,
}

/// A type parameter.
pub struct ParamInfo {
    /// Its name.
    pub name: Box<str>,
    /// Its bounds, interfaces.
    pub bounds: Rc<[Ty]>,
}

/// A type that may not be known yet because it follows from an initialiser.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lazy {
    /// Nobody asked yet.
    Pending,
    /// Being found: asking again is a circle.
    Active,
    /// Known.
    Known(Ty),
}

/// A class.
pub struct ClassInfo<'a> {
    /// Its name; with its module where another type has the same.
    pub name: Box<str>,
    /// The declaration.
    pub ast: &'a ast::Class,
    /// From where its types are seen.
    pub scope: TypeScope,
    /// Its own type parameters.
    pub params: Rc<[ParamIndex]>,
    /// The class over its own parameters.
    pub this: Ty,
    /// The class it extends, unless that would be a circle.
    pub extends: Option<ClassIndex>,
    /// The superclass over `params`.
    pub superclass: Option<Ty>,
    /// The interfaces written in its header, with their places.
    pub interfaces: Vec<(Ty, Span)>,
    /// These and all that they extend.
    pub all_interfaces: Vec<Ty>,
    /// Its own fields.
    pub fields: Vec<FieldInfo<'a>>,
    /// How many fields its superclasses have.
    pub inherited_fields: usize,
    /// Its own methods.
    pub methods: Vec<MethodInfo>,
    /// Its static functions and variables.
    pub statics: Vec<StaticInfo>,
    /// Its constructor.
    pub init: FunctionIndex,
    /// The constructor as written.
    pub init_ast: Option<&'a ast::Function>,
}

/// A field of a class.
pub struct FieldInfo<'a> {
    /// Its name.
    pub name: &'a ast::Name,
    /// `var`.
    pub mutable: bool,
    /// Visible in its file only.
    pub private: bool,
    /// The type if written.
    pub written: Option<&'a ast::TypeExpr>,
    /// The initialiser.
    pub init: Option<&'a ast::Expr>,
    /// The type over the class's parameters.
    pub ty: Lazy,
}

/// A method of a class.
pub struct MethodInfo {
    /// Its name.
    pub name: Box<str>,
    /// The function.
    pub function: FunctionIndex,
    /// Redefines a method of a superclass.
    pub overrides: bool,
    /// Never called through the table.
    pub direct: bool,
}

/// A static member.
#[derive(Clone, Copy)]
pub enum StaticKind {
    /// `static fn`
    Function(FunctionIndex),
    /// `static let`, `static var`
    Global(GlobalIndex),
}

/// A static member with its name.
pub struct StaticInfo {
    /// Its name.
    pub name: Box<str>,
    /// What it is.
    pub kind: StaticKind,
    /// Visible in its file only.
    pub private: bool,
    /// Its name's place.
    pub span: Span,
}

/// An interface.
pub struct InterfaceInfo<'a> {
    /// Its name.
    pub name: Box<str>,
    /// The declaration.
    pub ast: &'a ast::Interface,
    /// From where its types are seen.
    pub scope: TypeScope,
    /// Its type parameters.
    pub params: Rc<[ParamIndex]>,
    /// The interface over its own parameters.
    pub this: Ty,
    /// The interfaces in its header.
    pub supers: Vec<(Ty, Span)>,
    /// All that it extends.
    pub all_supers: Vec<Ty>,
    /// Its own methods.
    pub methods: Vec<FunctionIndex>,
}

/// An enum.
pub struct EnumInfo<'a> {
    /// Its name.
    pub name: Box<str>,
    /// The declaration.
    pub ast: &'a ast::Enum,
    /// From where its types are seen.
    pub scope: TypeScope,
    /// Its type parameters.
    pub params: Rc<[ParamIndex]>,
    /// The enum over its own parameters.
    pub this: Ty,
    /// Payload types of each variant.
    pub variants: Vec<Rc<[Ty]>>,
    /// Its methods.
    pub methods: Vec<FunctionIndex>,
    /// Its static functions.
    pub statics: Vec<StaticInfo>,
}

/// The type in which a function is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// At the top level.
    None,
    /// In a class.
    Class(ClassIndex),
    /// In an interface.
    Interface(InterfaceIndex),
    /// In an enum.
    Enum(EnumIndex),
}

/// A function of any kind.
pub struct FunctionInfo<'a> {
    /// Its name alone.
    pub name: Box<str>,
    /// Its name for stack traces.
    pub full_name: Box<str>,
    /// The declaration; `None` for a constructor that is not written.
    pub ast: Option<&'a ast::Function>,
    /// Where it is declared.
    pub owner: Owner,
    /// From where its types are seen.
    pub scope: TypeScope,
    /// Has no `this`.
    pub is_static: bool,
    /// Has no body.
    pub is_abstract: bool,
    /// Must not be overridden.
    pub is_final: bool,
    /// Visible in its file only.
    pub private: bool,
    /// All its type parameters, those of its owner first.
    pub params: Rc<[ParamIndex]>,
    /// How many of them are its own.
    pub own_params: usize,
    /// The type of `this`.
    pub receiver: Option<Ty>,
    /// Types of its parameters.
    pub param_types: Rc<[Ty]>,
    /// Its result.
    pub result: Ty,
    /// The checked body.
    pub body: Option<Body>,
    /// Its name, or the class that lacks a constructor.
    pub span: Span,
}

/// A global or static variable.
pub struct GlobalInfo<'a> {
    /// Its name, with its class for statics.
    pub full_name: Box<str>,
    /// The declaration.
    pub ast: &'a ast::Global,
    /// The class for statics.
    pub owner: Owner,
    /// From where its types are seen.
    pub scope: TypeScope,
    /// Its type.
    pub ty: Lazy,
    /// The checked initialiser.
    pub body: Option<Body>,
}
