//! Conditions, and what their outcome says about variables.

use super::body::{BodyChecker, VarId};
use super::expected::Expected;
use super::narrowing::Narrowed;
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::diagnostics::Diagnostic;
use crate::typed::{self, Expr, ExprKind, Ty, TyKind};

/// What is known about variables after a condition.
#[derive(Default, Debug)]
pub(super) struct Outcome {
    /// If it was true.
    pub when_true: Narrowed,
    /// If it was false.
    pub when_false: Narrowed,
}

impl BodyChecker<'_, '_> {
    /// Checks a condition.
    pub(super) fn condition(&mut self, expr: &ast::Expr) -> (Expr, Outcome) {
        match &expr.kind {
            ast::ExprKind::Binary(op @ (BinaryOp::AndAnd | BinaryOp::OrOr), _, left, right) => {
                let and = *op == BinaryOp::AndAnd;
                let (left, mut first) = self.condition(left);
                let before = self.narrowed.clone();
                self.apply(if and { &first.when_true } else { &first.when_false });
                let (right, second) = self.condition(right);
                // The right side may not have run; what it assigned is forgotten either way.
                let after = std::mem::replace(&mut self.narrowed, before);
                for facts in [&mut self.narrowed, &mut first.when_true, &mut first.when_false] {
                    facts.retain(|fact| after.contains(fact));
                }
                let (left, right) = (Box::new(left), Box::new(right));
                let (kind, outcome) = if and {
                    let when_true = both(first.when_true, second.when_true);
                    (ExprKind::And(left, right), Outcome { when_true, when_false: Vec::new() })
                } else {
                    let when_false = both(first.when_false, second.when_false);
                    (ExprKind::Or(left, right), Outcome { when_true: Vec::new(), when_false })
                };
                (Expr { kind, ty: Ty::BOOL, span: expr.span }, outcome)
            }
            ast::ExprKind::Unary(UnaryOp::Not, inner) => {
                let (inner, outcome) = self.condition(inner);
                if inner.ty == Ty::NEVER || inner.ty == Ty::ERROR {
                    return (inner, Outcome::default());
                }
                let kind = ExprKind::Unary(typed::UnaryOp::Not, Box::new(inner));
                let outcome = Outcome { when_true: outcome.when_false, when_false: outcome.when_true };
                (Expr { kind, ty: Ty::BOOL, span: expr.span }, outcome)
            }
            ast::ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, left, right) => {
                let outcome = self.null_test(left, right, *op == BinaryOp::Ne);
                (self.condition_value(expr), outcome)
            }
            ast::ExprKind::Is(value, _) => {
                let checked = self.condition_value(expr);
                let mut outcome = Outcome::default();
                if let (Some(variable), ExprKind::Is(_, target)) = (self.narrowable(value), &checked.kind) {
                    let narrower = self.fact_of_test(variable, *target);
                    outcome.when_true.push((variable, narrower));
                }
                (checked, outcome)
            }
            _ => (self.condition_value(expr), Outcome::default()),
        }
    }

    fn condition_value(&mut self, expr: &ast::Expr) -> Expr {
        let value = self.raw_expr(expr, Expected::Type(Ty::BOOL));
        if matches!(value.ty, Ty::BOOL | Ty::ERROR | Ty::NEVER) {
            return value;
        }
        let ty = self.quote(value.ty);
        let mut diagnostic =
            Diagnostic::new(value.span, format!("expected `Bool`, found {ty}"), format!("this is {ty}"));
        diagnostic = match self.types.kind(value.ty) {
            TyKind::Int => diagnostic.help("numbers are no conditions: compare with `!= 0`"),
            TyKind::Nullable(_) => diagnostic.help("compare with `!= null`, or write `if let x = …`"),
            _ => diagnostic,
        };
        self.report(diagnostic);
        super::expected::error_expr(value.span)
    }

    /// `x != null` and `x == null` on a variable.
    fn null_test(&mut self, left: &ast::Expr, right: &ast::Expr, negated: bool) -> Outcome {
        let tested = match (&left.kind, &right.kind) {
            (_, ast::ExprKind::Null) => left,
            (ast::ExprKind::Null, _) => right,
            _ => return Outcome::default(),
        };
        let Some(variable) = self.narrowable(tested) else { return Outcome::default() };
        let known = self.known_type(variable);
        let TyKind::Nullable(inner) = self.types.kind(known) else { return Outcome::default() };
        let facts = vec![(variable, *inner)];
        match negated {
            true => Outcome { when_true: facts, when_false: Vec::new() },
            false => Outcome { when_true: Vec::new(), when_false: facts },
        }
    }

    /// The variable that an expression names, if tests of it can be relied upon.
    fn narrowable(&self, expr: &ast::Expr) -> Option<VarId> {
        let ast::ExprKind::Name(name, args) = &expr.kind else { return None };
        let variable = self.variable(&name.text).filter(|_| args.is_empty())?;
        self.can_narrow(variable).then_some(variable)
    }
}

/// All facts of two conditions that both hold.
fn both(mut first: Narrowed, second: Narrowed) -> Narrowed {
    first.extend(second);
    first
}
