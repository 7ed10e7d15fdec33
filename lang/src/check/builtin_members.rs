//! Members of built-in types, in one table: what each is called, what it takes and gives, and what it becomes.
//!
//! Members that the system does not do itself are functions of the prelude whose first parameter is the object; the
//! table says which, their types are those of the function.

use std::rc::Rc;

use super::body::BodyChecker;
use super::calls::Signature;
use super::expected::{Expected, error_expr};
use super::modules::ModuleId;
use super::suggest::closest;
use super::tables::*;
use crate::ast::{self, Name};
use crate::builtins::Builtin;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, FunctionIndex, Ty, TyKind};
use holloway_bytecode::Native;

/// The type that a member belongs to.
#[derive(Clone, Copy, PartialEq, Debug)]
enum On {
    Int,
    Float,
    Bool,
    Str,
    Bytes,
    Array,
    Enum,
}

/// A parameter or result.
#[derive(Clone, Copy, PartialEq, Debug)]
enum T {
    Int,
    Float,
    Bool,
    Str,
    Bytes,
    Unit,
    IntOrNull,
    FloatOrNull,
    /// The type of the object itself.
    Same,
    /// The element of the array.
    Element,
}

/// What a member becomes.
#[derive(Clone, Copy, Debug)]
enum Becomes {
    /// An operation; its arguments begin with the object.
    Builtin(Builtin),
    /// A function of the prelude.
    Prelude(&'static str),
    /// The number of the variant.
    Ordinal,
    /// A constant.
    Int(i64),
    /// A constant.
    Float(f64),
}

/// How a member is written.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Form {
    /// `o.m`
    Property,
    /// `o.m(…)`
    Method,
    /// `T.M`
    Constant,
    /// `T.m(…)`
    Static,
}

type Entry = (On, Form, &'static str, &'static [T], T, Becomes);

const fn native(native: Native) -> Becomes {
    Becomes::Builtin(Builtin::Native(native))
}

const fn builtin(builtin: Builtin) -> Becomes {
    Becomes::Builtin(builtin)
}

/// The members that become functions of the prelude, with these functions. (Members of one name on several types become
/// functions of one file.)
pub fn prelude_members() -> impl Iterator<Item = (&'static str, &'static str)> {
    MEMBERS.iter().filter_map(|entry| match entry.5 {
        Becomes::Prelude(function) => Some((entry.2, function)),
        _ => None,
    })
}

/// A member that is a function of the prelude, which knows its types.
const fn prelude(on: On, name: &'static str, function: &'static str) -> Entry {
    (on, Form::Method, name, &[], T::Unit, Becomes::Prelude(function))
}

use Form::*;

#[rustfmt::skip]
const MEMBERS: &[Entry] = &[
    (On::Int, Method, "toFloat", &[], T::Float, builtin(Builtin::IntToFloat)),
    (On::Int, Method, "toString", &[], T::Str, builtin(Builtin::ToString)),
    (On::Int, Method, "toHex", &[], T::Str, native(Native::IntToHex)),
    (On::Int, Method, "toChar", &[], T::Str, native(Native::CharToString)),
    (On::Int, Method, "compareTo", &[T::Int], T::Int, builtin(Builtin::Compare(Ty::INT))),
    (On::Int, Method, "hash", &[], T::Int, builtin(Builtin::Hash(Ty::INT))),
    prelude(On::Int, "abs", "intAbs"),
    prelude(On::Int, "min", "intMin"),
    prelude(On::Int, "max", "intMax"),
    (On::Int, Constant, "MAX", &[], T::Int, Becomes::Int(i64::MAX)),
    (On::Int, Constant, "MIN", &[], T::Int, Becomes::Int(i64::MIN)),
    (On::Int, Static, "parse", &[T::Str], T::IntOrNull, native(Native::IntParse)),

    (On::Float, Method, "toInt", &[], T::Int, builtin(Builtin::FloatToInt)),
    (On::Float, Method, "toString", &[], T::Str, builtin(Builtin::ToString)),
    (On::Float, Method, "abs", &[], T::Float, builtin(Builtin::FloatAbs)),
    (On::Float, Method, "sqrt", &[], T::Float, builtin(Builtin::Sqrt)),
    (On::Float, Method, "sin", &[], T::Float, native(Native::Sin)),
    (On::Float, Method, "cos", &[], T::Float, native(Native::Cos)),
    (On::Float, Method, "tan", &[], T::Float, native(Native::Tan)),
    (On::Float, Method, "atan", &[], T::Float, native(Native::Atan)),
    (On::Float, Method, "exp", &[], T::Float, native(Native::Exp)),
    (On::Float, Method, "log", &[], T::Float, native(Native::Log)),
    (On::Float, Method, "pow", &[T::Float], T::Float, native(Native::Pow)),
    (On::Float, Method, "floor", &[], T::Float, native(Native::Floor)),
    (On::Float, Method, "ceil", &[], T::Float, native(Native::Ceil)),
    (On::Float, Method, "round", &[], T::Float, native(Native::Round)),
    (On::Float, Method, "bits", &[], T::Int, native(Native::FloatBits)),
    (On::Float, Method, "compareTo", &[T::Float], T::Int, builtin(Builtin::Compare(Ty::FLOAT))),
    (On::Float, Method, "hash", &[], T::Int, builtin(Builtin::Hash(Ty::FLOAT))),
    prelude(On::Float, "min", "floatMin"),
    prelude(On::Float, "max", "floatMax"),
    prelude(On::Float, "isNaN", "floatIsNaN"),
    (On::Float, Constant, "MAX", &[], T::Float, Becomes::Float(f64::MAX)),
    (On::Float, Constant, "MIN_POSITIVE", &[], T::Float, Becomes::Float(f64::MIN_POSITIVE)),
    (On::Float, Constant, "INFINITY", &[], T::Float, Becomes::Float(f64::INFINITY)),
    (On::Float, Constant, "NAN", &[], T::Float, Becomes::Float(f64::NAN)),
    (On::Float, Constant, "PI", &[], T::Float, Becomes::Float(std::f64::consts::PI)),
    (On::Float, Static, "parse", &[T::Str], T::FloatOrNull, native(Native::FloatParse)),
    (On::Float, Static, "fromBits", &[T::Int], T::Float, native(Native::FloatFromBits)),
    (On::Float, Static, "atan2", &[T::Float, T::Float], T::Float, native(Native::Atan2)),

    (On::Bool, Method, "toString", &[], T::Str, builtin(Builtin::ToString)),
    (On::Bool, Method, "compareTo", &[T::Bool], T::Int, builtin(Builtin::Compare(Ty::BOOL))),
    (On::Bool, Method, "hash", &[], T::Int, builtin(Builtin::Hash(Ty::BOOL))),

    (On::Str, Property, "length", &[], T::Int, builtin(Builtin::Length)),
    (On::Str, Method, "substring", &[T::Int, T::Int], T::Str, native(Native::Substring)),
    (On::Str, Method, "toBytes", &[], T::Bytes, native(Native::StringToBytes)),
    (On::Str, Method, "compareTo", &[T::Str], T::Int, builtin(Builtin::Compare(Ty::STRING))),
    (On::Str, Method, "hash", &[], T::Int, builtin(Builtin::Hash(Ty::STRING))),
    (On::Str, Method, "toString", &[], T::Str, builtin(Builtin::ToString)),
    prelude(On::Str, "indexOf", "stringIndexOf"),
    prelude(On::Str, "contains", "stringContains"),
    prelude(On::Str, "startsWith", "stringStartsWith"),
    prelude(On::Str, "endsWith", "stringEndsWith"),
    prelude(On::Str, "split", "stringSplit"),
    prelude(On::Str, "trim", "stringTrim"),
    prelude(On::Str, "toUpper", "stringToUpper"),
    prelude(On::Str, "toLower", "stringToLower"),
    prelude(On::Str, "repeat", "stringRepeat"),
    prelude(On::Str, "replace", "stringReplace"),
    (On::Str, Static, "fromBytes", &[], T::Str, Becomes::Prelude("stringFromBytes")),

    (On::Bytes, Property, "length", &[], T::Int, builtin(Builtin::Length)),
    (On::Bytes, Method, "copy", &[T::Int, T::Int], T::Same, native(Native::ArrayCopy)),
    (On::Bytes, Method, "fill", &[T::Int], T::Unit, builtin(Builtin::Fill)),
    (On::Bytes, Method, "word", &[T::Int], T::Int, native(Native::BytesWord)),
    (On::Bytes, Method, "setWord", &[T::Int, T::Int], T::Unit, native(Native::BytesSetWord)),

    (On::Array, Property, "length", &[], T::Int, builtin(Builtin::Length)),
    (On::Array, Method, "copy", &[T::Int, T::Int], T::Same, native(Native::ArrayCopy)),
    (On::Array, Method, "fill", &[T::Element], T::Unit, builtin(Builtin::Fill)),
    (On::Array, Method, "unset", &[T::Int], T::Unit, builtin(Builtin::Unset)),

    (On::Enum, Property, "name", &[], T::Str, builtin(Builtin::EnumName)),
    (On::Enum, Property, "ordinal", &[], T::Int, Becomes::Ordinal),
    (On::Enum, Method, "toString", &[], T::Str, builtin(Builtin::ToString)),
];

impl BodyChecker<'_, '_> {
    fn kind_of(&self, ty: Ty) -> Option<On> {
        Some(match self.types.kind(ty) {
            TyKind::Int => On::Int,
            TyKind::Float => On::Float,
            TyKind::Bool => On::Bool,
            TyKind::String => On::Str,
            TyKind::Bytes => On::Bytes,
            TyKind::Array(_) => On::Array,
            TyKind::Enum(..) => On::Enum,
            _ => return None,
        })
    }

    fn entry(&self, on: On, name: &str, static_member: bool) -> Option<&'static Entry> {
        MEMBERS.iter().find(|(owner, form, known, ..)| {
            *owner == on && *known == name && static_member == matches!(form, Constant | Static)
        })
    }

    fn type_of(&mut self, ty: T, object: Ty) -> Ty {
        match ty {
            T::Int => Ty::INT,
            T::Float => Ty::FLOAT,
            T::Bool => Ty::BOOL,
            T::Str => Ty::STRING,
            T::Bytes => Ty::BYTES,
            T::Unit => Ty::UNIT,
            T::IntOrNull => self.types.nullable(Ty::INT),
            T::FloatOrNull => self.types.nullable(Ty::FLOAT),
            T::Same => object,
            T::Element => match self.types.kind(object) {
                TyKind::Array(element) => *element,
                _ => Ty::ERROR,
            },
        }
    }

    /// `object.name` of a built-in type, if it has that.
    pub(super) fn built_in_property(&mut self, object: &Expr, name: &Name, span: Span) -> Option<Expr> {
        let on = self.kind_of(object.ty)?;
        let (_, form, _, _, result, becomes) = *self.entry(on, &name.text, false)?;
        if form == Method {
            let message = format!("the method `{}` is no value", name.text);
            let help = format!("call it: `{}(…)`", name.text);
            self.report(Diagnostic::new(name.span, message, "not called").help(help));
            return Some(error_expr(span));
        }
        let ty = self.type_of(result, object.ty);
        let kind = match becomes {
            Becomes::Ordinal => ExprKind::VariantOrdinal(Box::new(object.clone())),
            Becomes::Builtin(builtin) => ExprKind::Builtin(builtin, vec![object.clone()]),
            _ => return None,
        };
        Some(Expr { kind, ty, span })
    }

    /// `object.name(args)` of a built-in type, if it has that.
    pub(super) fn built_in_call(
        &mut self,
        object: &Expr,
        name: &Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let on = self.kind_of(object.ty)?;
        let (_, form, _, params, result, becomes) = *self.entry(on, &name.text, false)?;
        if form == Property {
            let message = format!("`{}` is no method", name.text);
            let help = format!("write `{}` without parentheses", name.text);
            self.report(Diagnostic::new(span, message, "called").help(help));
            return Some(self.after_error(args, span));
        }
        let builtin = match becomes {
            Becomes::Builtin(builtin) => builtin,
            Becomes::Prelude(function) => {
                return Some(self.call_prelude(function, Some(object.clone()), name, args, span));
            }
            _ => return None,
        };
        let types = params.iter().map(|ty| self.type_of(*ty, object.ty)).collect();
        let result = self.type_of(result, object.ty);
        let signature = Signature {
            name: &name.text,
            params: Rc::from([]),
            types,
            result,
            given: None,
            generic: None,
            declared: None,
        };
        let Some(mut applied) = self.arguments(signature, args, span, Expected::Free) else {
            return Some(error_expr(span));
        };
        applied.args.insert(0, object.clone());
        Some(self.finish_call(applied, span, |_, args| ExprKind::Builtin(builtin, args)))
    }

    /// Calls a function of the prelude that stands for a member.
    fn call_prelude(
        &mut self,
        function: &str,
        object: Option<Expr>,
        name: &Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let Some(function) = self.prelude_function(function) else {
            let message = format!("the standard library lacks `{function}`");
            self.report(Diagnostic::new(span, message, "needed here"));
            return self.after_error(args, span);
        };
        let info = self.function(function);
        let skip = usize::from(object.is_some()).min(info.param_types.len());
        let (types, result) = (info.param_types[skip..].to_vec(), info.result);
        let signature = Signature {
            name: &name.text,
            params: Rc::from([]),
            types,
            result,
            given: None,
            generic: None,
            declared: None,
        };
        let Some(mut applied) = self.arguments(signature, args, span, Expected::Free) else {
            return error_expr(span);
        };
        if let Some(object) = object {
            applied.args.insert(0, object);
        }
        self.finish_call(applied, span, |_, args| ExprKind::Call(function, Vec::new(), args))
    }

    fn built_in_owner(name: &Name) -> Option<On> {
        Some(match &*name.text {
            "Int" => On::Int,
            "Float" => On::Float,
            "Bool" => On::Bool,
            "String" => On::Str,
            "Bytes" => On::Bytes,
            "Array" => On::Array,
            _ => return None,
        })
    }

    /// `Int.MAX`.
    pub(super) fn built_in_constant(&mut self, type_name: &Name, name: &Name, span: Span) -> Expr {
        let entry = Self::built_in_owner(type_name).and_then(|on| self.entry(on, &name.text, true));
        match entry {
            Some((_, Constant, _, _, _, Becomes::Int(value))) => {
                Expr { kind: ExprKind::Int(*value), ty: Ty::INT, span }
            }
            Some((_, Constant, _, _, _, Becomes::Float(value))) => {
                Expr { kind: ExprKind::Float(*value), ty: Ty::FLOAT, span }
            }
            Some(_) => {
                let message = format!("`{}.{}` is no value", type_name.text, name.text);
                let help = format!("call it: `{}.{}(…)`", type_name.text, name.text);
                self.report(Diagnostic::new(span, message, "not called").help(help));
                error_expr(span)
            }
            None => self.report_no_built_in_static(type_name, name, span),
        }
    }

    /// `Int.parse(s)`.
    pub(super) fn call_built_in_static(
        &mut self,
        type_name: &Name,
        name: &Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let entry = Self::built_in_owner(type_name).and_then(|on| self.entry(on, &name.text, true));
        match entry {
            Some((_, Static, _, params, result, Becomes::Builtin(builtin))) => {
                let types = params.iter().map(|ty| self.type_of(*ty, Ty::ERROR)).collect();
                let result = self.type_of(*result, Ty::ERROR);
                let signature = Signature {
                    name: &name.text,
                    params: Rc::from([]),
                    types,
                    result,
                    given: None,
                    generic: None,
                    declared: None,
                };
                match self.arguments(signature, args, span, Expected::Free) {
                    Some(applied) => {
                        self.finish_call(applied, span, |_, args| ExprKind::Builtin(*builtin, args))
                    }
                    None => error_expr(span),
                }
            }
            Some((_, Static, _, _, _, Becomes::Prelude(function))) => {
                self.call_prelude(function, None, name, args, span)
            }
            Some(_) => {
                let message = format!("`{}.{}` is a constant", type_name.text, name.text);
                self.report(Diagnostic::new(span, message, "called").help("remove the parentheses"));
                self.after_error(args, span)
            }
            None => {
                self.report_no_built_in_static(type_name, name, span);
                self.after_error(args, span)
            }
        }
    }

    fn report_no_built_in_static(&mut self, type_name: &Name, name: &Name, span: Span) -> Expr {
        if name.text.is_empty() {
            return error_expr(span);
        }
        let on = Self::built_in_owner(type_name);
        let message = format!("`{}` has no static member `{}`", type_name.text, name.text);
        let mut diagnostic = Diagnostic::new(name.span, message, "no such member");
        if let Some(on) = on {
            let statics = || {
                MEMBERS
                    .iter()
                    .filter(move |(owner, form, ..)| *owner == on && matches!(form, Constant | Static))
                    .map(|(_, _, name, ..)| *name)
            };
            if self.entry(on, &name.text, false).is_some() {
                diagnostic = diagnostic.help(format!("it belongs to the values: write `x.{}`", name.text));
            } else if let Some(close) = closest(&name.text, statics()) {
                diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
            } else if statics().next().is_some() {
                let list: Vec<&str> = statics().collect();
                diagnostic = diagnostic.help(format!("it has {}", super::show::listed(&list)));
            }
        }
        self.report(diagnostic);
        error_expr(span)
    }

    /// The names of the members of a built-in type, for suggestions.
    pub(super) fn built_in_member_names(&self, ty: Ty) -> Vec<Box<str>> {
        let Some(on) = self.kind_of(ty) else { return Vec::new() };
        let members =
            MEMBERS.iter().filter(|(owner, form, ..)| *owner == on && matches!(form, Property | Method));
        members.map(|(_, _, name, ..)| (*name).into()).collect()
    }

    /// A function of the prelude.
    pub(super) fn prelude_function(&self, name: &str) -> Option<FunctionIndex> {
        match self.names[ModuleId::PRELUDE.index()].get(name)?.entity {
            Entity::Function(function) => Some(function),
            _ => None,
        }
    }
}
