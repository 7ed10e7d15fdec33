//! `if`, `match`, `try`, and the expressions that leave: `return` and `throw`.

use super::body::{BodyChecker, ResultOf, VariableKind};
use super::expected::{Expected, convert, discarded, error_expr, never_after};
use super::narrowing::{Narrowed, on_both};
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Arm, Catch, Expr, ExprKind, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// The nullable value of `if let` and `while let`.
    pub(super) fn nullable_value(&mut self, value: &ast::Expr) -> Expr {
        let checked = self.expr(value, Expected::Free);
        if matches!(self.types.kind(checked.ty), TyKind::Nullable(_) | TyKind::Error | TyKind::Never) {
            return checked;
        }
        if self.was_nullable(value, &checked) {
            let ty = self.types.nullable(checked.ty);
            return convert(checked, ty);
        }
        let ty = self.quote(checked.ty);
        let message = format!("`let` in a condition tests for null, and {ty} is never null");
        self.report(
            Diagnostic::new(checked.span, message, format!("this is {ty}"))
                .help("write the `let` as a statement of its own"),
        );
        error_expr(checked.span)
    }

    pub(super) fn if_expr(
        &mut self,
        cond: &ast::Cond,
        then: &ast::Block,
        otherwise: Option<&ast::Expr>,
        span: Span,
        expected: Expected,
    ) -> Expr {
        let expected = self.branches_expected(otherwise.is_some(), expected, span);
        match cond {
            ast::Cond::Expr(cond) => {
                let (cond, outcome) = self.condition(cond);
                let mut elsewhere = self.narrowed.clone();
                self.apply(&outcome.when_true);
                let then = self.block(then, expected);
                std::mem::swap(&mut self.narrowed, &mut elsewhere);
                self.apply(&outcome.when_false);
                let otherwise = otherwise.map(|otherwise| self.expr(otherwise, expected));
                self.meet(&[then.ty], elsewhere, otherwise.as_ref().map(|e| e.ty));
                let mut branches = vec![then];
                branches.extend(otherwise);
                let ty = self.join_branches(&mut branches, expected, "the branches of this `if`");
                if ty == Ty::ERROR || cond.ty == Ty::ERROR {
                    return error_expr(span);
                }
                let ty = if branches.len() < 2 { Ty::UNIT } else { ty };
                let otherwise = (branches.len() > 1).then(|| branches.pop()).flatten().map(Box::new);
                let Some(then) = branches.pop() else { return error_expr(span) };
                if cond.ty == Ty::NEVER {
                    return cond;
                }
                Expr { kind: ExprKind::If(Box::new(cond), Box::new(then), otherwise), ty, span }
            }
            ast::Cond::Let(name, value) => {
                let value = self.nullable_value(value);
                let mut elsewhere = self.narrowed.clone();
                let ty = self.without_null(value.ty);
                let (local, then) = self.scoped(|checker| {
                    let local = checker.declare_variable(name, VariableKind::Bound, ty);
                    (local, checker.block(then, expected))
                });
                std::mem::swap(&mut self.narrowed, &mut elsewhere);
                let otherwise = otherwise.map(|otherwise| self.expr(otherwise, expected));
                self.meet(&[then.ty], elsewhere, otherwise.as_ref().map(|e| e.ty));
                let mut branches = vec![then];
                branches.extend(otherwise);
                let ty = self.join_branches(&mut branches, expected, "the branches of this `if`");
                if ty == Ty::ERROR || value.ty == Ty::ERROR {
                    return error_expr(span);
                }
                if value.ty == Ty::NEVER {
                    return value;
                }
                let ty = if branches.len() < 2 { Ty::UNIT } else { ty };
                let otherwise = (branches.len() > 1).then(|| branches.pop()).flatten().map(Box::new);
                let Some(then) = branches.pop() else { return error_expr(span) };
                let kind =
                    ExprKind::IfNonNull { local, value: Box::new(value), then: Box::new(then), otherwise };
                Expr { kind, ty, span }
            }
        }
    }

    /// What is expected of the branches of an `if`: without an `else` there is no value.
    fn branches_expected(&mut self, has_else: bool, expected: Expected, span: Span) -> Expected {
        match expected {
            _ if has_else => expected,
            Expected::Type(ty) if ty != Ty::UNIT && ty != Ty::ERROR => {
                let wanted = self.quote(ty);
                self.report(
                    Diagnostic::new(
                        span,
                        format!("this `if` has no `else`: expected {wanted}"),
                        "no value if the condition is false",
                    )
                    .help("add an `else` branch that gives the value"),
                );
                Expected::Discard
            }
            _ => Expected::Discard,
        }
    }

    /// After two branches: what held at the end of both, or of the one that ends. `self.narrowed` belongs to the
    /// branch not taken, which is the way past a missing `else` too.
    fn meet(&mut self, then: &[Ty], after_then: Narrowed, otherwise: Option<Ty>) {
        let then_ends = then.iter().all(|ty| *ty == Ty::NEVER);
        if otherwise == Some(Ty::NEVER) {
            self.narrowed = after_then;
        } else if !then_ends {
            self.narrowed = on_both(&after_then, &self.narrowed);
        }
    }

    /// Gives all branches one type: the expected one, `Unit`, or the least type above them.
    pub(super) fn join_branches(&mut self, branches: &mut [Expr], expected: Expected, what: &str) -> Ty {
        if branches.iter().any(|branch| branch.ty == Ty::ERROR) {
            return Ty::ERROR;
        }
        if branches.iter().all(|branch| branch.ty == Ty::NEVER) {
            return Ty::NEVER;
        }
        let ty = match expected {
            Expected::Discard => Ty::UNIT,
            Expected::Type(ty) => ty,
            Expected::Free => {
                let types: Vec<(Ty, Span)> = branches.iter().map(|b| (b.ty, value_place(b))).collect();
                self.join_all(&types, what)
            }
        };
        for branch in branches.iter_mut() {
            let taken = std::mem::replace(branch, error_expr(branch.span));
            *branch = if expected == Expected::Discard { discarded(taken) } else { convert(taken, ty) };
        }
        ty
    }

    /// The least type above all; reports if there is none.
    pub(super) fn join_all(&mut self, types: &[(Ty, Span)], what: &str) -> Ty {
        let mut joined: Option<(Ty, Span)> = None;
        for (ty, span) in types {
            joined = match joined {
                None => Some((*ty, *span)),
                Some((known, first)) => match self.join(known, *ty) {
                    Some(joined) => Some((joined, if known == Ty::NEVER { *span } else { first })),
                    None => {
                        let (one, two) = (self.quote(known), self.quote(*ty));
                        let message = format!("{what} have no common type: {one} and {two}");
                        self.report(
                            Diagnostic::new(*span, message, format!("this is {two}"))
                                .related(first, format!("this is {one}"))
                                .help("make them the same, or write the type expected: `let x: Any = …`"),
                        );
                        return Ty::ERROR;
                    }
                },
            };
        }
        joined.map_or(Ty::NEVER, |(ty, _)| ty)
    }

    pub(super) fn match_expr(
        &mut self,
        scrutinee: &ast::Expr,
        arms: &[ast::Arm],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let scrutinee = self.expr(scrutinee, Expected::Free);
        let subject = scrutinee.ty;
        let name = if subject == Ty::NEVER { Ty::ERROR } else { subject };
        let local = self.hidden_local(
            "$match",
            if subject == Ty::NEVER { Ty::UNIT } else { subject },
            scrutinee.span,
        );
        let mut before = self.narrowed.clone();
        let mut after: Option<Narrowed> = None;
        let mut patterns = Vec::new();
        let mut bodies: Vec<Expr> = Vec::new();
        // Once an arm without guard took null, the names bound by later arms are not null.
        let mut remaining = name;
        for arm in arms {
            self.narrowed = before.clone();
            self.scoped(|checker| {
                let pattern = checker.pattern(&arm.pattern, remaining, true);
                let guard = arm.guard.as_ref().map(|guard| {
                    let (guard, outcome) = checker.condition(guard);
                    // What it assigned is forgotten by the arms behind it, too.
                    before.retain(|fact| checker.narrowed.contains(fact));
                    checker.apply(&outcome.when_true);
                    guard
                });
                if guard.is_none() && super::exhaustive::takes_null(&pattern) {
                    remaining = checker.without_null(remaining);
                }
                bodies.push(checker.expr(&arm.body, expected));
                patterns.push((pattern, guard, arm.pattern.span));
            });
            if bodies.last().is_some_and(|body| body.ty != Ty::NEVER) {
                after = Some(match after {
                    Some(known) => on_both(&known, &self.narrowed),
                    None => self.narrowed.clone(),
                });
            }
        }
        self.narrowed = after.unwrap_or(before);
        if subject == Ty::NEVER {
            return scrutinee;
        }
        if subject == Ty::ERROR {
            return error_expr(span);
        }
        self.check_exhaustive(subject, &patterns, scrutinee.span);
        let ty = self.join_branches(&mut bodies, expected, "the arms of this `match`");
        if ty == Ty::ERROR || arms.is_empty() {
            return error_expr(span);
        }
        let arms = patterns.into_iter().zip(bodies).map(|((pattern, guard, span), body)| Arm {
            pattern,
            guard,
            body,
            span,
        });
        let arms = arms.collect();
        Expr { kind: ExprKind::Match { scrutinee: Box::new(scrutinee), local, arms }, ty, span }
    }

    pub(super) fn try_expr(
        &mut self,
        body: &ast::Block,
        catches: &[ast::Catch],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let before = self.narrowed.clone();
        let checked = self.block(body, expected);
        let mut after: Option<Narrowed> = (checked.ty != Ty::NEVER).then(|| self.narrowed.clone());
        self.narrowed = before;
        self.forget_assigned_in(body.span);
        let at_catch = self.narrowed.clone();
        let mut branches = vec![checked];
        let mut heads = Vec::new();
        for catch in catches {
            self.narrowed = at_catch.clone();
            let ty = self.caught_type(catch);
            let local = self.scoped(|checker| {
                let local = checker.declare_variable(&catch.name, VariableKind::Bound, ty);
                branches.push(checker.block(&catch.body, expected));
                local
            });
            heads.push((ty, local));
            if branches.last().is_some_and(|branch| branch.ty != Ty::NEVER) {
                after = Some(match after {
                    Some(known) => on_both(&known, &self.narrowed),
                    None => self.narrowed.clone(),
                });
            }
        }
        self.narrowed = after.unwrap_or(at_catch);
        let ty = self.join_branches(&mut branches, expected, "the branches of this `try`");
        if ty == Ty::ERROR || heads.iter().any(|(ty, _)| *ty == Ty::ERROR) {
            return error_expr(span);
        }
        let mut branches = branches.into_iter();
        let Some(body) = branches.next() else { return error_expr(span) };
        let catches = heads.into_iter().zip(branches).map(|((ty, local), body)| Catch { ty, local, body });
        let catches = catches.collect();
        Expr { kind: ExprKind::Try(Box::new(body), catches), ty, span }
    }

    fn caught_type(&mut self, catch: &ast::Catch) -> Ty {
        let error = self.error_type();
        let Some(written) = &catch.ty else { return error };
        let scope = self.scope.clone();
        let ty = self.resolve_type(written, &scope);
        if ty != Ty::NEVER && self.is_subtype(ty, error) {
            return ty;
        }
        let message = format!("{} cannot be caught", self.quote(ty));
        self.report(
            Diagnostic::new(written.span, message, "not a subclass of `Error`")
                .help("what is thrown is an `Error` or a subclass of it"),
        );
        Ty::ERROR
    }

    /// The class `Error` of the prelude.
    pub(super) fn error_type(&mut self) -> Ty {
        match self.prelude_class("Error") {
            Some(class) => self.class(class).this,
            None => Ty::ERROR,
        }
    }

    pub(super) fn throw(&mut self, value: &ast::Expr, span: Span) -> Expr {
        let value = self.expr(value, Expected::Free);
        let error = self.error_type();
        if value.ty == Ty::NEVER {
            return value;
        }
        if !self.is_subtype(value.ty, error) {
            let ty = self.quote(value.ty);
            let mut diagnostic =
                Diagnostic::new(value.span, format!("{ty} cannot be thrown"), "not an `Error`");
            diagnostic = match self.types.kind(value.ty) {
                TyKind::String => diagnostic.help("write `throw Error(\"message\")`"),
                TyKind::Nullable(_) => diagnostic.help("it may be null: write `!` behind it"),
                _ => diagnostic.help("make it a subclass: `class MyError : Error { … }`"),
            };
            self.report(diagnostic);
            return Expr { kind: ExprKind::Unit, ty: Ty::NEVER, span };
        }
        Expr { kind: ExprKind::Throw(Box::new(convert(value, error))), ty: Ty::NEVER, span }
    }

    fn report_useless_result(&mut self, value: &Expr) {
        let ty = self.quote(value.ty);
        let help = match (self.frames.len(), self.init_of) {
            (1, Some(_)) => "a constructor gives the new object by itself: write `return`".to_string(),
            (1, None) => format!("write the result type behind the parameters: `-> {}`", self.show(value.ty)),
            _ => "the closure is expected to give nothing: write `return`".to_string(),
        };
        let message = "`return` with a value where there is no result";
        self.report(Diagnostic::new(value.span, message, format!("this is {ty}")).help(help));
    }

    pub(super) fn return_expr(&mut self, value: Option<&ast::Expr>, span: Span) -> Expr {
        let result = self.frame().result.clone();
        let leave =
            |value: Option<Expr>| Expr { kind: ExprKind::Return(value.map(Box::new)), ty: Ty::NEVER, span };
        match (result, value) {
            (ResultOf::Initialiser, value) => {
                if let Some(value) = value {
                    self.expr(value, Expected::Free);
                }
                self.report(
                    Diagnostic::new(span, "`return` outside of a function", "an initialiser is none")
                        .help("let the value stand at the end of its block, or call a function"),
                );
                error_expr(span)
            }
            (ResultOf::Known(Ty::UNIT), Some(value)) if !matches!(value.kind, ast::ExprKind::Error) => {
                let checked = self.expr(value, Expected::Free);
                if checked.ty == Ty::NEVER {
                    return checked;
                }
                if checked.ty != Ty::UNIT && checked.ty != Ty::ERROR {
                    self.report_useless_result(&checked);
                }
                never_after(vec![checked], leave(None))
            }
            (ResultOf::Known(ty), Some(value)) => {
                let checked = self.expr(value, Expected::Type(ty));
                if checked.ty == Ty::NEVER {
                    return checked;
                }
                leave(Some(checked))
            }
            (ResultOf::Known(ty), None) => {
                if ty != Ty::UNIT && ty != Ty::ERROR {
                    let wanted = self.quote(ty);
                    self.report(
                        Diagnostic::new(
                            span,
                            format!("`return` needs a value here: expected {wanted}"),
                            "no value",
                        )
                        .help("write `return value`"),
                    );
                }
                leave(None)
            }
            (ResultOf::Inferred(_), value) => {
                let checked = value.map(|value| self.expr(value, Expected::Free));
                if let Some(Expr { ty: Ty::NEVER, .. }) = &checked {
                    return checked.unwrap_or_else(|| error_expr(span));
                }
                let (ty, place) = checked.as_ref().map_or((Ty::UNIT, span), |value| (value.ty, value.span));
                if let ResultOf::Inferred(returns) = &mut self.frame().result {
                    returns.push((ty, place));
                }
                match checked {
                    Some(value) if value.ty == Ty::UNIT => never_after(vec![value], leave(None)),
                    checked => leave(checked),
                }
            }
        }
    }
}

/// Where the value of a block comes from.
fn value_place(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::Block(_, Some(value)) => value_place(value),
        _ => expr.span,
    }
}
