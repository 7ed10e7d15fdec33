//! What the surroundings of an expression want from it, and the conversions that give it to them.

use super::body::BodyChecker;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, Ty, TyKind};

/// What the surroundings want from an expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Expected {
    /// Its value, of whatever type it has.
    Free,
    /// A value of this type, or one that converts to it.
    Type(Ty),
    /// Its effects alone. The branches of an `if` then need not agree.
    Discard,
}

impl Expected {
    /// The type that is wanted, if one is known.
    pub fn ty(self) -> Option<Ty> {
        match self {
            Expected::Type(ty) if ty != Ty::ERROR => Some(ty),
            _ => None,
        }
    }
}

impl BodyChecker<'_, '_> {
    /// Converts a value to `target`, or reports that it does not fit.
    pub(super) fn coerce(&mut self, mut expr: Expr, target: Ty) -> Expr {
        if let ExprKind::Closure(_) = expr.kind {
            self.adapt_endless(&mut expr, target);
        }
        expr = self.seen_as(expr, |checker, ty| checker.converts(ty, target));
        if self.converts(expr.ty, target) {
            return convert(expr, target);
        }
        let span = expr.span;
        self.report_mismatch(expr.ty, target, span);
        error_expr(span)
    }

    /// A closure literal whose body never ends gives any result that is wanted.
    fn adapt_endless(&mut self, closure: &mut Expr, target: Ty) {
        let target = self.checker.without_null(target);
        if let (TyKind::Function(has, Ty::NEVER), TyKind::Function(wants, _)) =
            (self.checker.types.kind(closure.ty), self.checker.types.kind(target))
            && has == wants
        {
            closure.ty = target;
        }
    }

    /// May a value of type `from` stand where `target` is expected.
    pub(super) fn converts(&mut self, from: Ty, target: Ty) -> bool {
        self.checker.is_subtype(from, target)
    }

    /// Reports a value of the wrong type, with the way from one to the other if there is one.
    pub(super) fn report_mismatch(&mut self, found: Ty, target: Ty, span: Span) {
        let (wanted, is) = (self.checker.quote(target), self.checker.quote(found));
        let label = if found == Ty::NULL { "this is `null`".to_string() } else { format!("this is {is}") };
        let mut diagnostic = Diagnostic::new(span, format!("expected {wanted}, found {is}"), label);
        if let Some(help) = self.help_for_mismatch(found, target) {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
    }

    fn help_for_mismatch(&mut self, found: Ty, target: Ty) -> Option<String> {
        let wanted = self.checker.quote(target);
        let kinds = (self.checker.types.kind(found).clone(), self.checker.types.kind(target).clone());
        Some(match kinds {
            (TyKind::Int, TyKind::Float) => "write `.toFloat()`; numbers do not convert by themselves".into(),
            (TyKind::Float, TyKind::Int) => "write `.toInt()`; numbers do not convert by themselves".into(),
            (TyKind::Int | TyKind::Float | TyKind::Bool, TyKind::String) => {
                "write `.toString()`, or put it into a string as `${…}`".into()
            }
            (TyKind::Null, _) => {
                format!("only nullable types hold `null`: make it `{}?`", self.checker.show(target))
            }
            (TyKind::Nullable(inner), _) if self.checker.is_subtype(inner, target) => {
                "it may be null: test it with `!= null`, give a replacement with `?? …`, or assert with `!`"
                    .into()
            }
            (TyKind::Param(param), TyKind::Any) => {
                let name = self.checker.param_name(param);
                format!("`{name}` may stand for a nullable type: use `Any?`, or give `{name}` a bound")
            }
            (TyKind::Param(_), TyKind::Interface(..)) => {
                "a bound gives the methods, not a conversion: the type argument may be `Int`".into()
            }
            (TyKind::Class(c, _), TyKind::Class(d, _)) if c == d => {
                "generic types with different arguments do not convert into each other".into()
            }
            (TyKind::Enum(c, _), TyKind::Enum(d, _)) if c == d => {
                "generic types with different arguments do not convert into each other".into()
            }
            (TyKind::Array(_), TyKind::Array(_)) => {
                "arrays of different element types do not convert into each other".into()
            }
            (TyKind::Function(..), TyKind::Function(..)) => {
                format!("function types must be the same; a closure literal `|…| …` adapts to {wanted}")
            }
            (TyKind::Function(params, result), _)
                if params.is_empty() && self.checker.is_subtype(result, target) =>
            {
                "call it: write `()` behind it".into()
            }
            (TyKind::Any | TyKind::Interface(..) | TyKind::Class(..), _)
                if self.checker.is_subtype(target, found) =>
            {
                format!("if it is one, convert it with `as {}`", self.checker.show(target))
            }
            (TyKind::Unit, _) => "it gives no value".into(),
            _ => return None,
        })
    }
}

/// A node that changes the type, unless it has it already.
pub(super) fn convert(expr: Expr, target: Ty) -> Expr {
    // What never ends needs no conversion, and what was reported has no type to convert.
    if expr.ty == target || expr.ty == Ty::NEVER || expr.ty == Ty::ERROR || target == Ty::ERROR {
        return expr;
    }
    if let ExprKind::Null = expr.kind {
        return Expr { ty: target, ..expr };
    }
    let span = expr.span;
    Expr { kind: ExprKind::Convert(Box::new(expr)), ty: target, span }
}

/// What never gives a value, after operands that were evaluated before it for nothing but their effects.
pub(super) fn never_after(before: Vec<Expr>, never: Expr) -> Expr {
    if before.is_empty() {
        return never;
    }
    let span = never.span;
    let stmts = before.into_iter().chain([never]);
    let stmts = stmts.map(|expr| Stmt { span: expr.span, kind: StmtKind::Expr(expr) }).collect();
    Expr { kind: ExprKind::Block(stmts, None), ty: Ty::NEVER, span }
}

/// Stands for an expression that was already reported.
pub(super) fn error_expr(span: Span) -> Expr {
    Expr { kind: ExprKind::Unit, ty: Ty::ERROR, span }
}

/// The expression for its effects: `Unit`, or `Never` if it never ends.
pub(super) fn discarded(expr: Expr) -> Expr {
    if matches!(expr.ty, Ty::UNIT | Ty::NEVER | Ty::ERROR) {
        return expr;
    }
    let span = expr.span;
    let stmt = Stmt { kind: StmtKind::Expr(expr), span };
    Expr { kind: ExprKind::Block(vec![stmt], None), ty: Ty::UNIT, span }
}
