//! Loops, and the ways out of them.

use super::body::{BodyChecker, LoopState, VariableKind};
use super::expected::{Expected, convert, error_expr};
use super::narrowing::{Narrowed, on_both};
use super::visit::for_own_exprs;
use crate::ast::{self, Name};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, LocalIndex, LoopIndex, Stmt, StmtKind, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// Enters a loop. `value` says what a `loop` is expected to give; `None` for other loops.
    pub(super) fn push_loop(&mut self, label: Option<&Name>, value: Option<Expected>) -> LoopIndex {
        if let Some(label) = label
            && self.frame().loops.iter().any(|outer| outer.label.as_deref() == Some(&*label.text))
        {
            let message = format!("a loop around this one is called `{}` too", label.text);
            self.report(Diagnostic::new(label.span, message, "used already").help("choose another label"));
        }
        let frame = self.frame();
        let id = LoopIndex(frame.loop_count);
        frame.loop_count += 1;
        frame.loops.push(LoopState {
            id,
            label: label.map(|label| label.text.clone()),
            value,
            breaks: Vec::new(),
            narrowed_after: None,
        });
        id
    }

    /// Leaves the innermost loop. `ended` is what is known when it ends by itself, `None` if it never does.
    pub(super) fn pop_loop(&mut self, ended: Option<Narrowed>) -> Option<LoopState> {
        let state = self.frame().loops.pop()?;
        self.narrowed = match (ended, &state.narrowed_after) {
            (Some(ended), Some(broken)) => on_both(&ended, broken),
            (Some(ended), None) => ended,
            (None, Some(broken)) => broken.clone(),
            (None, None) => std::mem::take(&mut self.narrowed),
        };
        Some(state)
    }

    /// The body of a loop with a variable.
    pub(super) fn loop_body(&mut self, var: &Name, ty: Ty, body: &ast::Block) -> (LocalIndex, Expr) {
        self.scoped(|checker| {
            let local = checker.declare_variable(var, VariableKind::Loop, ty);
            (local, checker.block(body, Expected::Discard))
        })
    }

    pub(super) fn while_loop(
        &mut self,
        label: Option<&Name>,
        cond: &ast::Cond,
        body: &ast::Block,
        span: Span,
    ) -> StmtKind {
        self.forget_assigned_in(span);
        match cond {
            ast::Cond::Expr(cond) => {
                let (cond, facts) = self.condition(cond);
                let id = self.push_loop(label, None);
                let mut ended = self.narrowed.clone();
                self.apply(&facts.when_true);
                let body = self.block(body, Expected::Discard);
                std::mem::swap(&mut self.narrowed, &mut ended);
                self.apply(&facts.when_false);
                let ended = std::mem::take(&mut self.narrowed);
                self.pop_loop(Some(ended));
                StmtKind::While(id, cond, body)
            }
            ast::Cond::Let(name, value) => {
                let value = self.nullable_value(value);
                let id = self.push_loop(label, None);
                let ended = self.narrowed.clone();
                let ty = self.without_null(value.ty);
                let (local, body) = self.scoped(|checker| {
                    let local = checker.declare_variable(name, VariableKind::Bound, ty);
                    (local, checker.block(body, Expected::Discard))
                });
                self.pop_loop(Some(ended));
                StmtKind::WhileNonNull { id, local, value, body }
            }
        }
    }

    /// `for x in e`. True if nothing behind it can run.
    pub(super) fn for_each(
        &mut self,
        label: Option<&Name>,
        var: &Name,
        iterable: &ast::Expr,
        body: &ast::Block,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> bool {
        let sequence = self.expr(iterable, Expected::Free);
        self.forget_assigned_in(span);
        let element = match self.types.kind(sequence.ty) {
            TyKind::Array(element) => Some(*element),
            TyKind::Bytes | TyKind::String => Some(Ty::INT),
            TyKind::Error | TyKind::Never => Some(Ty::ERROR),
            _ => None,
        };
        if let Some(element) = element {
            let id = self.push_loop(label, None);
            let before = self.narrowed.clone();
            let (local, body) = self.loop_body(var, element, body);
            self.pop_loop(Some(before));
            // There is nothing to go through if getting it never ends.
            let ends = sequence.ty == Ty::NEVER;
            let kind = match ends {
                true => StmtKind::Expr(sequence),
                false => StmtKind::ForEach { id, local, iterable: sequence, body },
            };
            out.push(Stmt { kind, span });
            return ends;
        }
        // `let $iterator = e.iterator(); while $iterator.hasNext() { let x = $iterator.next(); … }`
        let place = sequence.span;
        let iterator = self.iterator_of(sequence);
        let hidden = self.hidden_local("$iterator", iterator.ty, place);
        let iterator_ty = iterator.ty;
        out.push(Stmt { kind: StmtKind::Let(hidden, iterator), span: place });
        let read = || Expr { kind: ExprKind::Local(hidden), ty: iterator_ty, span: place };
        let (cond, next) = if iterator_ty == Ty::ERROR {
            (error_expr(place), error_expr(place))
        } else {
            let has_next = self.call_named(read(), "hasNext", place);
            (has_next, self.call_named(read(), "next", place))
        };
        if cond.ty != Ty::BOOL && cond.ty != Ty::ERROR {
            let message =
                format!("{} is no iterator: its `hasNext()` gives no `Bool`", self.quote(iterator_ty));
            self.report(Diagnostic::new(place, message, "cannot be iterated over"));
        }
        let id = self.push_loop(label, None);
        let before = self.narrowed.clone();
        let (local, inside) = self.loop_body(var, next.ty, body);
        self.pop_loop(Some(before));
        let stmts = vec![
            Stmt { kind: StmtKind::Let(local, next), span: var.span },
            Stmt { kind: StmtKind::Expr(inside), span: body.span },
        ];
        let inside = Expr { kind: ExprKind::Block(stmts, None), ty: Ty::UNIT, span: body.span };
        out.push(Stmt { kind: StmtKind::While(id, cond, inside), span });
        false
    }

    /// `e.iterator()`, or a report that there is no such thing.
    fn iterator_of(&mut self, sequence: Expr) -> Expr {
        let place = sequence.span;
        if self.has_method(sequence.ty, "iterator") {
            return self.call_named(sequence, "iterator", place);
        }
        let ty = self.quote(sequence.ty);
        let mut diagnostic =
            Diagnostic::new(place, format!("{ty} cannot be iterated over"), format!("this is {ty}"));
        let is_iterator = self.has_method(sequence.ty, "hasNext");
        diagnostic = match self.types.kind(sequence.ty) {
            TyKind::Nullable(_) => diagnostic.help("it may be null: test it with `!= null` first"),
            TyKind::Int => diagnostic.help("write `for i in 0..n` to count"),
            _ if is_iterator => diagnostic
                .help("this is an iterator; `for` wants what has a method `iterator()` that gives one"),
            _ => diagnostic
                .help("`for` works on arrays, `Bytes`, strings, and types with a method `iterator()`"),
        };
        self.report(diagnostic);
        error_expr(place)
    }

    /// `loop { … }`.
    pub(super) fn endless_loop(
        &mut self,
        label: Option<&Name>,
        body: &ast::Block,
        span: Span,
        expected: Expected,
    ) -> Expr {
        self.forget_assigned_in(span);
        let id = self.push_loop(label, Some(expected));
        let body = self.block(body, Expected::Discard);
        let Some(state) = self.pop_loop(None) else { return error_expr(span) };
        let mut node = Expr { kind: ExprKind::Loop(id, Box::new(body)), ty: Ty::NEVER, span };
        if state.breaks.is_empty() {
            return node;
        }
        node.ty = match expected {
            Expected::Discard => Ty::UNIT,
            Expected::Type(ty) => ty,
            Expected::Free => self.join_all(&state.breaks, "the values of this loop's `break`s"),
        };
        if node.ty == Ty::ERROR {
            return error_expr(span);
        }
        if expected == Expected::Free && node.ty != Ty::UNIT {
            let ty = node.ty;
            for_own_exprs(&mut node, &mut |expr| match &mut expr.kind {
                ExprKind::Break(target, Some(value)) if *target == id => {
                    let taken = std::mem::replace(&mut **value, error_expr(span));
                    **value = convert(taken, ty);
                }
                _ => {}
            });
        }
        node
    }

    /// Which of the loops around is meant; reports if there is none.
    fn target_loop(&mut self, label: Option<&Name>, word: &str, span: Span) -> Option<usize> {
        let loops = &self.frame().loops;
        let found = match label {
            None => loops.len().checked_sub(1),
            Some(label) => loops.iter().rposition(|state| state.label.as_deref() == Some(&*label.text)),
        };
        if found.is_some() {
            return found;
        }
        let outside = self.frames.iter().rev().skip(1).any(|frame| {
            frame
                .loops
                .iter()
                .any(|state| label.is_none_or(|label| state.label.as_deref() == Some(&*label.text)))
        });
        let diagnostic = match label {
            Some(label) if !outside => Diagnostic::new(
                label.span,
                format!("no loop around is called `{}`", label.text),
                "unknown label",
            )
            .help("a label stands before a loop: `'name: for …`"),
            _ => Diagnostic::new(span, format!("`{word}` outside of a loop"), "there is no loop to leave"),
        };
        self.report(match outside {
            true => {
                diagnostic.help("a closure cannot leave the loop around it; let it return something instead")
            }
            false => diagnostic,
        });
        None
    }

    pub(super) fn break_out(&mut self, label: Option<&Name>, value: Option<&ast::Expr>, span: Span) -> Expr {
        let Some(target) = self.target_loop(label, "break", span) else {
            if let Some(value) = value {
                self.expr(value, Expected::Free);
            }
            return Expr { kind: ExprKind::Unit, ty: Ty::NEVER, span };
        };
        let state = &self.frame().loops[target];
        let (id, expected) = (state.id, state.value);
        let value = match (value, expected) {
            (Some(value), None) => {
                let message = "`break` with a value outside of a `loop`";
                let place = value.span;
                self.expr(value, Expected::Free);
                self.report(
                    Diagnostic::new(place, message, "this value goes nowhere")
                        .help("`while` and `for` have no value; use a `var`, or `loop`"),
                );
                None
            }
            (Some(value), Some(expected)) => {
                let value = self.expr(value, expected);
                if value.ty == Ty::NEVER {
                    return value;
                }
                Some(value)
            }
            (None, _) => None,
        };
        if let (None, Some(Expected::Type(ty))) = (&value, expected)
            && ty != Ty::UNIT
        {
            let message = format!("this `break` needs a value: expected {}", self.quote(ty));
            self.report(Diagnostic::new(span, message, "no value").help("write `break value`"));
        }
        let narrowed = self.narrowed.clone();
        let state = &mut self.frame().loops[target];
        let (ty, place) = value.as_ref().map_or((Ty::UNIT, span), |value| (value.ty, value.span));
        state.breaks.push((ty, place));
        state.narrowed_after = Some(match &state.narrowed_after {
            Some(known) => on_both(known, &narrowed),
            None => narrowed,
        });
        let value = match value {
            // Where the loop's value is not used, nobody takes the value of the `break`; its effects stay.
            Some(value) if expected == Some(Expected::Discard) || value.ty == Ty::UNIT => {
                let stmt = Stmt { kind: StmtKind::Expr(value), span };
                let leave = Expr { kind: ExprKind::Break(id, None), ty: Ty::NEVER, span };
                let leave = Stmt { kind: StmtKind::Expr(leave), span };
                return Expr { kind: ExprKind::Block(vec![stmt, leave], None), ty: Ty::NEVER, span };
            }
            other => other,
        };
        Expr { kind: ExprKind::Break(id, value.map(Box::new)), ty: Ty::NEVER, span }
    }

    pub(super) fn continue_loop(&mut self, label: Option<&Name>, span: Span) -> Expr {
        match self.target_loop(label, "continue", span) {
            Some(target) => {
                let id = self.frame().loops[target].id;
                Expr { kind: ExprKind::Continue(id), ty: Ty::NEVER, span }
            }
            None => Expr { kind: ExprKind::Unit, ty: Ty::NEVER, span },
        }
    }
}
