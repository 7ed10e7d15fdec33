//! Closures: `|x, y: Int| -> R body`.
//!
//! A closure adapts to the function type expected of it. What is not expected must be written (parameter types) or
//! follows from the body (the result). Its body is a frame of its own; when it is finished, the locals are put
//! into the order that the typed program wants: parameters, captured variables, the rest.

use super::body::{BodyChecker, Frame, ResultOf, VariableKind};
use super::expected::{Expected, convert, discarded, error_expr};
use super::infer::Holes;
use super::show::counted;
use super::visit::{for_own_exprs, for_own_locals};
use crate::ast::{self, Param, TypeExpr};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Body, Closure, Expr, ExprKind, LocalIndex, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// A closure where a type may be expected.
    pub(super) fn closure_expr(
        &mut self,
        params: &[Param],
        result: Option<&TypeExpr>,
        body: &ast::Expr,
        span: Span,
        expected: Expected,
    ) -> Expr {
        let wanted = expected.ty().map(|ty| self.without_null(ty));
        match wanted.map(|ty| self.types.kind(ty).clone()) {
            Some(TyKind::Function(types, wanted_result)) => {
                let hints: Vec<Option<Ty>> = types.iter().map(|ty| Some(*ty)).collect();
                self.closure(params, result, body, span, Some(&hints), Some(wanted_result))
            }
            _ => self.closure(params, result, body, span, None, None),
        }
    }

    /// A closure as an argument for a parameter whose type has holes.
    pub(super) fn closure_argument(
        &mut self,
        params: &[Param],
        result: Option<&TypeExpr>,
        body: &ast::Expr,
        span: Span,
        pattern: Ty,
        holes: &mut Holes,
    ) -> Expr {
        let inner = self.without_null(pattern);
        let TyKind::Function(types, wanted_result) = self.types.kind(inner).clone() else {
            let closure = self.closure(params, result, body, span, None, None);
            holes.unify(self.checker, pattern, closure.ty);
            return closure;
        };
        // What is written at the parameters may fill holes of the others.
        for (param, ty) in params.iter().zip(&types) {
            if let Some(written) = &param.ty {
                let scope = self.scope.clone();
                let written = self.resolve_type(written, &scope);
                holes.unify(self.checker, *ty, written);
            }
        }
        let hints: Vec<Option<Ty>> = types.iter().map(|ty| holes.resolve(self.checker, *ty)).collect();
        let result_hint = holes.resolve(self.checker, wanted_result);
        let closure = self.closure(params, result, body, span, Some(&hints), result_hint);
        if let TyKind::Function(_, found) = *self.types.kind(closure.ty) {
            holes.unify(self.checker, wanted_result, found);
        }
        closure
    }

    fn closure(
        &mut self,
        params: &[Param],
        result: Option<&TypeExpr>,
        body: &ast::Expr,
        span: Span,
        hints: Option<&[Option<Ty>]>,
        result_hint: Option<Ty>,
    ) -> Expr {
        let mut failed = false;
        let hints = match hints {
            Some(hints) if hints.len() != params.len() => {
                let message = format!(
                    "expected a function of {}, but this closure has {}",
                    counted(hints.len(), "parameter"),
                    params.len()
                );
                let names: Vec<String> = (1..=hints.len()).map(|i| format!("x{i}")).collect();
                self.report(
                    Diagnostic::new(span, message, "wrong number of parameters")
                        .help(format!("write `|{}| …`", names.join(", "))),
                );
                failed = true;
                None
            }
            other => other,
        };
        let mut types = Vec::new();
        for (i, param) in params.iter().enumerate() {
            let hint = hints.and_then(|hints| hints[i]);
            let ty = self.closure_param(param, hint, failed);
            failed |= ty == Ty::ERROR;
            types.push(ty);
        }
        let known = match result {
            Some(written) => {
                let scope = self.scope.clone();
                let written = self.resolve_type(written, &scope);
                failed |= written == Ty::ERROR;
                Some(written)
            }
            None => result_hint,
        };
        let frame = match known {
            Some(known) => ResultOf::Known(known),
            None => ResultOf::Inferred(Vec::new()),
        };
        self.frames.push(Frame::new(frame));
        let narrowed = self.narrowed.clone();
        let (locals, mut value) = self.scoped(|checker| {
            let declare = |(param, ty): (&Param, &Ty)| {
                checker.declare_variable(&param.name, VariableKind::Parameter, *ty)
            };
            let locals: Vec<LocalIndex> = params.iter().zip(&types).map(declare).collect();
            let expected = match known {
                Some(Ty::UNIT) => Expected::Discard,
                Some(known) => Expected::Type(known),
                None => Expected::Free,
            };
            (locals, checker.expr(body, expected))
        });
        self.narrowed = narrowed;
        let Some(frame) = self.frames.pop() else { return error_expr(span) };
        let result = match (known, &frame.result) {
            (Some(known), _) => {
                if known == Ty::UNIT {
                    value = discarded(value);
                }
                known
            }
            (None, ResultOf::Inferred(returns)) => {
                let mut types = returns.clone();
                if value.ty != Ty::NEVER || types.is_empty() {
                    types.push((value.ty, body.span));
                }
                let joined = self.join_all(&types, "the results of this closure");
                for_own_exprs(&mut value, &mut |expr| {
                    if let ExprKind::Return(Some(inner)) = &mut expr.kind {
                        let taken = std::mem::replace(&mut **inner, error_expr(span));
                        **inner = convert(taken, joined);
                    }
                });
                value = convert(value, joined);
                joined
            }
            (None, ResultOf::Known(ty)) => *ty,
            (None, ResultOf::Initialiser) => Ty::ERROR,
        };
        if result == Ty::NULL {
            self.report(
                Diagnostic::new(body.span, "the result type of this closure is not known", "always `null`")
                    .help("write it: `|…| -> T? { … }`"),
            );
            return error_expr(span);
        }
        if failed || value.ty == Ty::ERROR || result == Ty::ERROR {
            return error_expr(span);
        }
        let closure = order_locals(frame, locals, value);
        let ty = self.types.intern(TyKind::Function(types, result));
        Expr { kind: ExprKind::Closure(Box::new(closure)), ty, span }
    }

    /// The type of a closure's parameter: written, expected, or reported.
    fn closure_param(&mut self, param: &Param, hint: Option<Ty>, failed: bool) -> Ty {
        let Some(written) = &param.ty else {
            if hint.is_none() && !failed {
                let message = format!("the type of the parameter `{}` is not known here", param.name.text);
                let help = format!("write it: `|{}: T| …`", param.name.text);
                self.report(Diagnostic::new(param.name.span, message, "no type is expected").help(help));
            }
            return hint.unwrap_or(Ty::ERROR);
        };
        let scope = self.scope.clone();
        let ty = self.resolve_type(written, &scope);
        match hint {
            Some(hint) if ty != hint && ty != Ty::ERROR => {
                let (wanted, found) = (self.quote(hint), self.quote(ty));
                let message =
                    format!("the parameter `{}` is expected to be {wanted}, not {found}", param.name.text);
                self.report(
                    Diagnostic::new(written.span, message, format!("this is {found}"))
                        .help(format!("write {wanted}, or leave the type out")),
                );
                Ty::ERROR
            }
            _ => ty,
        }
    }
}

/// Puts the locals of a finished closure into order.
fn order_locals(frame: Frame, params: Vec<LocalIndex>, mut value: Expr) -> Closure {
    let mut order: Vec<LocalIndex> = params.clone();
    order.extend(frame.captures.iter().map(|(_, _, inner)| *inner));
    let rest = (0..frame.locals.len() as u32).map(LocalIndex).filter(|local| !order.contains(local));
    let rest: Vec<LocalIndex> = rest.collect();
    order.extend(rest);
    let mut place = vec![LocalIndex(0); frame.locals.len()];
    for (position, local) in order.iter().enumerate() {
        place[local.index()] = LocalIndex(position as u32);
    }
    for_own_locals(&mut value, &mut |local| *local = place[local.index()]);
    Closure {
        captures: frame.captures.iter().map(|(_, outer, inner)| (*outer, place[inner.index()])).collect(),
        params: params.iter().map(|local| place[local.index()]).collect(),
        body: Body {
            locals: order.iter().map(|local| frame.locals[local.index()].clone()).collect(),
            loops: frame.loop_count,
            expr: value,
        },
    }
}
