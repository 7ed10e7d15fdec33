//! Calls of methods on objects, and of `super`'s.

use super::body::{BodyChecker, This};
use super::calls::Signature;
use super::expected::{Expected, convert, error_expr};
use super::members::{Dispatch, Member, MethodRef};
use super::tables::*;
use crate::ast::{self, Name, TypeExpr};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// `object.name(args)` on a checked object.
    pub(super) fn call_on(
        &mut self,
        object: Expr,
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        if object.ty == Ty::NEVER {
            self.after_error(args, span);
            return object;
        }
        if object.ty == Ty::ERROR || name.text.is_empty() {
            return self.after_error(args, span);
        }
        let object = self.seen_with(object, name);
        match self.find_member(object.ty, &name.text) {
            Some(Member::Method(method)) => {
                self.call_method(object, method, name, type_args, args, span, expected)
            }
            Some(member) => {
                let callee = self.read_member(object, member, name, span);
                self.call_value(callee, args, span, expected)
            }
            None => {
                if let Some(call) = self.built_in_call(&object, name, args, span) {
                    return call;
                }
                self.report_no_member(object.ty, name, object.span);
                self.after_error(args, span)
            }
        }
    }

    /// Calls a method that was found.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call_method(
        &mut self,
        object: Expr,
        method: MethodRef,
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let info = self.function(method.function);
        let (private, declared) = (info.private, info.span);
        let scope = self.scope.clone();
        if !self.may_use(private, declared, name, &scope) {
            return self.after_error(args, span);
        }
        let given = match self.written_arguments(type_args) {
            Some(None) => return self.after_error(args, span),
            Some(Some(given)) => Some(given),
            None => None,
        };
        let signature = self.method_signature(&method, &name.text, given);
        let Some(applied) = self.arguments(signature, args, span, expected) else { return error_expr(span) };
        self.dispatch(object, method, applied, name, span)
    }

    /// The signature of a method as seen from the type of the object.
    pub(super) fn method_signature<'n>(
        &mut self,
        method: &MethodRef,
        name: &'n str,
        given: Option<Vec<Ty>>,
    ) -> Signature<'n> {
        let (params, owner_args) = self.arguments_of(method.owner);
        let info = self.function(method.function);
        let own = info.params[info.params.len() - info.own_params..].into();
        let (types, result, declared) = (info.param_types.clone(), info.result, info.span);
        let types = types.iter().map(|ty| self.instantiate(*ty, &params, &owner_args)).collect();
        let result = self.instantiate(result, &params, &owner_args);
        Signature { name, params: own, types, result, given, generic: None, declared: Some(declared) }
    }

    /// The node that calls a method.
    fn dispatch(
        &mut self,
        object: Expr,
        method: MethodRef,
        applied: super::calls::Applied,
        name: &Name,
        span: Span,
    ) -> Expr {
        let (_, mut type_args) = self.arguments_of(method.owner);
        let ty = applied.result;
        let kind = match method.dispatch {
            Dispatch::Direct => {
                type_args.extend(applied.type_args);
                let mut args = vec![convert(object, method.owner)];
                args.extend(applied.args);
                ExprKind::Call(method.function, type_args, args)
            }
            Dispatch::Virtual => ExprKind::CallVirtual {
                receiver: Box::new(object),
                name: name.text.clone(),
                args: applied.args,
            },
            Dispatch::Interface(position) => {
                let interface = matches!(self.types.kind(object.ty), TyKind::Interface(..));
                let receiver = if interface { object } else { convert(object, method.owner) };
                ExprKind::CallInterface {
                    receiver: Box::new(receiver),
                    interface: method.owner,
                    method: position,
                    args: applied.args,
                }
            }
            Dispatch::Bound(position) => ExprKind::CallBound {
                receiver: Box::new(object),
                interface: method.owner,
                method: position,
                args: applied.args,
            },
        };
        Expr { kind, ty, span }
    }

    /// Calls a method without arguments on behalf of a `for`.
    pub(super) fn call_named(&mut self, object: Expr, name: &str, span: Span) -> Expr {
        let name = Name { text: name.into(), span };
        self.call_on(object, &name, &[], &[], span, Expected::Free)
    }

    /// `super.name(args)`.
    pub(super) fn super_call(
        &mut self,
        name: &Name,
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let Some(superclass) = self.superclass_here() else {
            if let Owner::Class(class) = self.owner {
                let message = format!("`{}` has no superclass", self.class(class).name);
                self.report(Diagnostic::new(span, message, "there is no `super`"));
            } else {
                self.report(Diagnostic::new(
                    span,
                    "`super` outside of a class",
                    "there is no superclass here",
                ));
            }
            return self.after_error(args, span);
        };
        let This::Variable(_) = self.this else {
            self.report_no_this("`super`", span);
            return self.after_error(args, span);
        };
        let method = match self.find_member(superclass, &name.text) {
            Some(Member::Method(method)) => method,
            _ => {
                self.report_no_member(superclass, name, span);
                return self.after_error(args, span);
            }
        };
        let info = self.function(method.function);
        if info.is_abstract {
            let declared = info.span;
            let message = format!("`super.{}` is abstract: there is nothing to call", name.text);
            self.report(
                Diagnostic::new(name.span, message, "has no body").related(declared, "declared here"),
            );
            return self.after_error(args, span);
        }
        let object = self.this_value(span);
        let method = MethodRef { dispatch: Dispatch::Direct, ..method };
        self.call_method(object, method, name, &[], args, span, expected)
    }

    /// The superclass of the class around, as an instance.
    pub(super) fn superclass_here(&self) -> Option<Ty> {
        match self.owner {
            Owner::Class(class) => self.class(class).superclass,
            _ => None,
        }
    }
}
