//! `==` and `!=`: which types may be compared.

use super::body::BodyChecker;
use super::expected::{Expected, error_expr, never_after};
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Ty, TyKind};

impl BodyChecker<'_, '_> {
    pub(super) fn equality(
        &mut self,
        negated: bool,
        place: Span,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let mut left = self.expr(left, Expected::Free);
        // As known before the right side, which may assign the variable.
        let lefts = self.other_types(&left);
        let mut right = self.expr(right, Expected::Free);
        if left.ty == Ty::ERROR || right.ty == Ty::ERROR {
            return error_expr(span);
        }
        if left.ty == Ty::NEVER {
            return left;
        }
        if right.ty == Ty::NEVER {
            return never_after(vec![left], right);
        }
        // A variable known not to be null may still be compared with null: it is the declared type that counts.
        if right.ty == Ty::NULL {
            left = self.widened(left);
        } else if left.ty == Ty::NULL {
            right = self.widened(right);
        } else if let Some(ty) = lefts.into_iter().find(|ty| self.are_related(*ty, right.ty)) {
            left.ty = ty;
        } else {
            right = self.seen_as(right, |checker, ty| checker.are_related(left.ty, ty));
        }
        if self.comparable(&left, &right, place, negated) {
            let kind = ExprKind::Equals { negated, left: Box::new(left), right: Box::new(right) };
            return Expr { kind, ty: Ty::BOOL, span };
        }
        error_expr(span)
    }

    /// Is one of the types a subtype of the other.
    fn are_related(&mut self, one: Ty, other: Ty) -> bool {
        self.is_subtype(one, other) || self.is_subtype(other, one)
    }

    /// A narrowed variable with its declared type.
    fn widened(&mut self, mut value: Expr) -> Expr {
        if let ExprKind::Local(local) = value.kind {
            value.ty = self.frame().locals[local.index()].ty;
        }
        value
    }

    /// May the two be compared; reports if not.
    fn comparable(&mut self, left: &Expr, right: &Expr, place: Span, negated: bool) -> bool {
        let operator = if negated { "!=" } else { "==" };
        for (one, other) in [(left, right), (right, left)] {
            if one.ty == Ty::NULL || other.ty == Ty::NULL {
                continue;
            }
            let inner = self.without_null(one.ty);
            if let TyKind::Enum(index, _) = *self.types.kind(inner)
                && self.enumeration(index).variants.iter().any(|payload| !payload.is_empty())
            {
                let ty = self.quote(one.ty);
                let message = format!("`{operator}` is not defined for {ty}, whose variants have payloads");
                self.report(
                    Diagnostic::new(place, message, "cannot be compared")
                        .related(one.span, format!("this is {ty}"))
                        .help("take it apart with `match`"),
                );
                return false;
            }
        }
        if self.are_related(left.ty, right.ty) {
            return true;
        }
        let (one, two) = (self.quote(left.ty), self.quote(right.ty));
        let message = match (left.ty, right.ty) {
            (Ty::NULL, _) => format!("{two} is never null"),
            (_, Ty::NULL) => format!("{one} is never null"),
            _ => format!("{one} and {two} cannot be compared"),
        };
        let mut diagnostic = Diagnostic::new(place, message, "cannot be equal")
            .related(left.span, format!("this is {one}"))
            .related(right.span, format!("this is {two}"));
        let kinds = (self.types.kind(left.ty), self.types.kind(right.ty));
        diagnostic = match kinds {
            (TyKind::Int, TyKind::Float) | (TyKind::Float, TyKind::Int) => {
                diagnostic.help("numbers do not convert by themselves: write `.toFloat()` or `.toInt()`")
            }
            (TyKind::Int, TyKind::String) | (TyKind::String, TyKind::Int) => diagnostic
                .help("a character in single quotes and the element of a string are `Int`s: `s[0] == 'a'`"),
            (TyKind::Param(_), TyKind::Null) | (TyKind::Null, TyKind::Param(_)) => {
                diagnostic.help("take a nullable value: `T?`")
            }
            _ => diagnostic,
        };
        self.report(diagnostic);
        false
    }
}
