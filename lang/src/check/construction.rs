//! Making things: objects, arrays, variants of enums; and `super(…)`.

use std::rc::Rc;

use super::body::BodyChecker;
use super::calls::Signature;
use super::expected::{Expected, error_expr};
use super::infer::Holes;
use super::names::TypeName;
use super::show::counted;
use super::tables::*;
use crate::ast::{self, Name, TypeExpr};
use crate::builtins::Builtin;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{ClassIndex, EnumIndex, Expr, ExprKind, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// `Type(args)`.
    pub(super) fn construct(
        &mut self,
        ty: TypeName,
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let entity = match ty {
            TypeName::BuiltIn => return self.construct_built_in(name, type_args, args, span, expected),
            TypeName::Declared(entity) => entity,
        };
        let (message, label, help) = match entity {
            Entity::Class(class) => {
                return self.construct_class(class, name, type_args, args, span, expected);
            }
            Entity::Interface(_) => (
                format!("the interface `{}` cannot be made", name.text),
                "an interface",
                "make an object of a class that implements it".to_string(),
            ),
            Entity::Enum(index) => {
                let variants = &self.enumeration(index).ast.variants;
                let first = variants.first().map_or("Variant", |variant| &*variant.name.text);
                (
                    format!("the enum `{}` is made by its variants", name.text),
                    "an enum",
                    format!("write a variant: `{}.{first}`", name.text),
                )
            }
            Entity::Function(_) | Entity::Global(_) => return self.after_error(args, span),
        };
        self.report(Diagnostic::new(name.span, message, label).help(help));
        self.after_error(args, span)
    }

    fn construct_class(
        &mut self,
        class: ClassIndex,
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let info = self.class(class);
        let (is_abstract, declared, this, init) =
            (info.ast.is_abstract, info.ast.name.span, info.this, info.init);
        if is_abstract {
            let message = format!("`{}` is abstract: there are no objects of it", name.text);
            self.report(
                Diagnostic::new(name.span, message, "an abstract class")
                    .related(declared, "declared here")
                    .help("make an object of a class that extends it"),
            );
            return self.after_error(args, span);
        }
        let init = self.function(init);
        let (private, place) = (init.private, init.span);
        let (params, types) = (init.params.clone(), init.param_types.to_vec());
        if private && place.file != self.scope.file {
            let message = format!("the constructor of `{}` is private to its file", name.text);
            self.report(
                Diagnostic::new(name.span, message, "not visible here").related(place, "declared here"),
            );
            return self.after_error(args, span);
        }
        let given = match self.written_arguments(type_args) {
            Some(None) => return self.after_error(args, span),
            Some(Some(given)) => Some(given),
            None => None,
        };
        let signature = Signature {
            name: &name.text,
            params,
            types,
            result: this,
            given,
            generic: None,
            declared: Some(place),
        };
        match self.arguments(signature, args, span, expected) {
            Some(applied) => self.finish_call(applied, span, |_, args| ExprKind::New(class, args)),
            None => error_expr(span),
        }
    }

    /// `Array<T>(n)`, `Array<T>(n, value)`, `Bytes(n)`.
    fn construct_built_in(
        &mut self,
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        match &*name.text {
            "Bytes" => {
                let signature = Signature {
                    name: "Bytes",
                    params: Rc::from([]),
                    types: vec![Ty::INT],
                    result: Ty::BYTES,
                    given: self.written_arguments(type_args).flatten(),
                    generic: None,
                    declared: None,
                };
                match self.arguments(signature, args, span, expected) {
                    Some(applied) => {
                        self.finish_call(applied, span, |_, args| ExprKind::Builtin(Builtin::NewBytes, args))
                    }
                    None => error_expr(span),
                }
            }
            "Array" => self.construct_array(name, type_args, args, span, expected),
            _ => {
                let help = match &*name.text {
                    "Int" => "an `Int` comes from `x.toInt()` or `Int.parse(s)`".to_string(),
                    "Float" => "a `Float` comes from `x.toFloat()` or `Float.parse(s)`".to_string(),
                    "String" => "a `String` comes from `x.toString()` or `\"${x}\"`".to_string(),
                    other => format!("values of `{other}` are not made by a call"),
                };
                let message = format!("`{}` cannot be called", name.text);
                self.report(Diagnostic::new(name.span, message, "a built-in type").help(help));
                self.after_error(args, span)
            }
        }
    }

    fn construct_array(
        &mut self,
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let given = match self.written_arguments(type_args) {
            Some(None) => return self.after_error(args, span),
            Some(Some(given)) => Some(given),
            None => None,
        };
        if let Some(given) = &given
            && !self.expect_arguments(name, given, 1, span)
        {
            return self.after_error(args, span);
        }
        let element = given.map(|given| given[0]).or_else(|| {
            let wanted = self.without_null(expected.ty()?);
            match self.types.kind(wanted) {
                TyKind::Array(element) => Some(*element),
                _ => None,
            }
        });
        if args.is_empty() || args.len() > 2 {
            let message = format!(
                "`Array` takes a length and perhaps a value, not {}",
                counted(args.len(), "argument")
            );
            self.report(
                Diagnostic::new(span, message, "wrong number of arguments")
                    .help("write `Array<T>(length)` or `Array<T>(length, value)`"),
            );
            return self.after_error(args, span);
        }
        let length = self.expr(&args[0], Expected::Type(Ty::INT));
        let value = args.get(1).map(|value| self.expr(value, element.map_or(Expected::Free, Expected::Type)));
        let element = match (element, value.as_ref().map(|value| value.ty)) {
            (Some(element), _) => element,
            (None, Some(Ty::NULL | Ty::UNIT | Ty::NEVER) | None) => {
                let message = "the type of the elements of this array is not known";
                self.report(Diagnostic::new(span, message, "an array of what?").help("write `Array<T>(…)`"));
                return error_expr(span);
            }
            (None, Some(element)) => element,
        };
        if element == Ty::ERROR || length.ty == Ty::ERROR || value.as_ref().is_some_and(|v| v.ty == Ty::ERROR)
        {
            return error_expr(span);
        }
        let ty = self.types.intern(TyKind::Array(element));
        let builtin = if value.is_some() { Builtin::NewArrayFilled } else { Builtin::NewArray };
        let args = [length].into_iter().chain(value).collect();
        Expr { kind: ExprKind::Builtin(builtin, args), ty, span }
    }

    /// `Enum.Variant` without arguments.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn variant_value(
        &mut self,
        index: EnumIndex,
        variant: usize,
        type_name: &Name,
        type_args: &[TypeExpr],
        name: &Name,
        span: Span,
        expected: Expected,
    ) -> Expr {
        let info = self.enumeration(index);
        let (payload, this, params) = (info.variants[variant].len(), info.this, info.params.clone());
        let declared = info.ast.variants[variant].name.span;
        if payload > 0 {
            let message =
                format!("`{}.{}` has a payload of {}", type_name.text, name.text, counted(payload, "value"));
            let holes: Vec<&str> = (0..payload).map(|_| "…").collect();
            self.report(
                Diagnostic::new(span, message, "the payload is missing")
                    .related(declared, "declared here")
                    .help(format!("write `{}.{}({})`", type_name.text, name.text, holes.join(", "))),
            );
            return error_expr(span);
        }
        let given = match self.written_arguments(type_args) {
            Some(None) => return error_expr(span),
            Some(Some(given)) => Some(given),
            None => None,
        };
        let mut holes = match given {
            Some(given) if !self.expect_arguments(type_name, &given, params.len(), span) => {
                return error_expr(span);
            }
            Some(given) => Holes::given(&given),
            None => Holes::new(params.len()),
        };
        let stand_ins = holes.types(self.checker);
        let pattern = self.instantiate(this, &params, &stand_ins);
        if let Some(wanted) = expected.ty() {
            holes.unify_result(self.checker, pattern, wanted);
        }
        let args = match holes.finish() {
            Ok(args) => args,
            Err(position) => {
                let names: Vec<String> =
                    params.iter().map(|param| self.param_name(*param).to_string()).collect();
                let message = format!(
                    "the type parameter `{}` of `{}.{}` cannot be inferred",
                    names[position], type_name.text, name.text
                );
                self.report(
                    Diagnostic::new(span, message, "the type expected does not say what it is").help(
                        format!(
                            "write it: `{}<{}>.{}` with {}, or the type of the variable",
                            type_name.text,
                            names.join(", "),
                            name.text,
                            super::calls::in_place_of(&names)
                        ),
                    ),
                );
                return error_expr(span);
            }
        };
        if !self.check_bounds(&params, &args, span) {
            return error_expr(span);
        }
        let ty = self.instantiate(this, &params, &args);
        Expr { kind: ExprKind::Variant(variant), ty, span }
    }

    /// `Enum.Variant(args)`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn new_variant(
        &mut self,
        index: EnumIndex,
        variant: usize,
        type_args: &[TypeExpr],
        name: &Name,
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let info = self.enumeration(index);
        let (this, params, types) = (info.this, info.params.clone(), info.variants[variant].to_vec());
        let declared = info.ast.variants[variant].name.span;
        let enum_name = info.ast.name.text.clone();
        if types.is_empty() {
            let message = format!("`{enum_name}.{}` has no payload", name.text);
            self.report(
                Diagnostic::new(span, message, "called")
                    .related(declared, "declared here")
                    .help(format!("write `{enum_name}.{}` without parentheses", name.text)),
            );
            return self.after_error(args, span);
        }
        let given = match self.written_arguments(type_args) {
            Some(None) => return self.after_error(args, span),
            Some(Some(given)) => Some(given),
            None => None,
        };
        let signature = Signature {
            name: &name.text,
            params,
            types,
            result: this,
            given,
            generic: Some(enum_name.into()),
            declared: Some(declared),
        };
        match self.arguments(signature, args, span, expected) {
            Some(applied) => self.finish_call(applied, span, |_, args| ExprKind::NewVariant(variant, args)),
            None => error_expr(span),
        }
    }

    /// `super(args)`.
    pub(super) fn super_init(&mut self, args: &[ast::Expr], span: Span) -> Expr {
        let in_init = self.init_of.is_some() && self.frames.len() == 1;
        if !in_init {
            self.report(
                Diagnostic::new(span, "`super(…)` outside of `init`", "not allowed here")
                    .help("a constructor calls that of its superclass; for a method write `super.name(…)`"),
            );
            return self.after_error(args, span);
        }
        let Some(superclass) = self.superclass_here() else {
            self.report(
                Diagnostic::new(span, "this class has no superclass", "there is no `super`")
                    .help("remove the call"),
            );
            return self.after_error(args, span);
        };
        let TyKind::Class(class, type_args) = self.types.kind(superclass).clone() else {
            return self.after_error(args, span);
        };
        let init = self.class(class).init;
        let info = self.function(init);
        let (params, types, declared) = (info.params.clone(), info.param_types.clone(), info.span);
        if info.private && declared.file != self.scope.file {
            let message = format!("the constructor of {} is private to its file", self.quote(superclass));
            self.report(
                Diagnostic::new(span, message, "not visible here").related(declared, "declared here"),
            );
            return self.after_error(args, span);
        }
        let types = types.iter().map(|ty| self.instantiate(*ty, &params, &type_args)).collect();
        let signature = Signature {
            name: "super",
            params: Rc::from([]),
            types,
            result: Ty::UNIT,
            given: None,
            generic: None,
            declared: Some(declared),
        };
        match self.arguments(signature, args, span, Expected::Free) {
            Some(applied) => self.finish_call(applied, span, |_, args| ExprKind::SuperInit(superclass, args)),
            None => error_expr(span),
        }
    }
}
