//! Blocks and statements.

use super::body::{BodyChecker, VariableKind};
use super::expected::Expected;
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, Ty};

impl BodyChecker<'_, '_> {
    /// A block in a scope of its own. What stands behind a statement that never ends is checked, but not kept:
    /// it cannot run, and lowering need not know of it.
    pub(super) fn block(&mut self, block: &ast::Block, expected: Expected) -> Expr {
        self.scoped(|checker| checker.block_here(block, expected))
    }

    /// A block in the current scope, which the caller has opened.
    pub(super) fn block_here(&mut self, block: &ast::Block, expected: Expected) -> Expr {
        let mut stmts: Vec<Stmt> = Vec::new();
        let mut ended = false;
        let mut value: Option<Expr> = None;
        for (i, stmt) in block.stmts.iter().enumerate() {
            let last = i + 1 == block.stmts.len();
            match &stmt.kind {
                ast::StmtKind::Expr(expr) if last => {
                    let wanted = if ended { Expected::Free } else { expected };
                    let expr = self.expr(expr, wanted);
                    if !ended {
                        value = Some(expr);
                    }
                }
                _ => {
                    let before = stmts.len();
                    let ends = self.stmt(stmt, &mut stmts);
                    if ended {
                        stmts.truncate(before);
                    }
                    ended |= ends;
                }
            }
        }
        self.finish_block(stmts, value, ended, expected, block)
    }

    fn finish_block(
        &mut self,
        mut stmts: Vec<Stmt>,
        value: Option<Expr>,
        ended: bool,
        expected: Expected,
        block: &ast::Block,
    ) -> Expr {
        let span = block.span;
        match value {
            Some(value) if expected == Expected::Discard => {
                let ty = if value.ty == Ty::NEVER { Ty::NEVER } else { Ty::UNIT };
                let span = value.span;
                stmts.push(Stmt { kind: StmtKind::Expr(value), span });
                Expr { kind: ExprKind::Block(stmts, None), ty, span: block.span }
            }
            Some(value) if stmts.is_empty() => value,
            Some(value) => {
                let ty = value.ty;
                Expr { kind: ExprKind::Block(stmts, Some(Box::new(value))), ty, span }
            }
            None if ended => Expr { kind: ExprKind::Block(stmts, None), ty: Ty::NEVER, span },
            None => {
                let mut ty = Ty::UNIT;
                if let Some(wanted) = expected.ty()
                    && wanted != Ty::UNIT
                {
                    // A statement that could not be read is the reason, and was reported.
                    if !matches!(block.stmts.last(), Some(ast::Stmt { kind: ast::StmtKind::Error, .. })) {
                        self.report_no_value(block.span, wanted);
                    }
                    ty = Ty::ERROR;
                }
                Expr { kind: ExprKind::Block(stmts, None), ty, span }
            }
        }
    }

    /// Reports a block whose end can be reached although a value is expected there.
    fn report_no_value(&mut self, block: Span, wanted: Ty) {
        let wanted = self.quote(wanted);
        let end = Span { start: block.end.saturating_sub(1).max(block.start), ..block };
        self.report_missing(
            Diagnostic::new(end, format!("missing return value: expected {wanted}"), "the end can be reached without a value")
                .help("end the block with an expression of that type, or leave with `return` or `throw` on every way"),
        );
    }

    /// Checks a statement and adds what it becomes. True if nothing behind it can run.
    fn stmt(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) -> bool {
        let span = stmt.span;
        let mut add = |kind| out.push(Stmt { kind, span });
        match &stmt.kind {
            ast::StmtKind::Error => false,
            ast::StmtKind::Expr(expr) => {
                let expr = self.expr(expr, Expected::Discard);
                let ends = expr.ty == Ty::NEVER;
                add(StmtKind::Expr(expr));
                ends
            }
            ast::StmtKind::Let { mutable, name, ty, init } => {
                let kind = if *mutable { VariableKind::Var } else { VariableKind::Let };
                let init = self.let_value(name, ty.as_ref(), init);
                let (ty, ends) = (init.ty, init.ty == Ty::NEVER);
                if &*name.text == "_" || ends {
                    self.declare_unreachable(name, kind, ty);
                    add(StmtKind::Expr(init));
                } else {
                    let local = self.declare_variable(name, kind, ty);
                    add(StmtKind::Let(local, init));
                }
                ends
            }
            ast::StmtKind::Assign { op, target, value } => self.assignment(*op, target, value, span, out),
            ast::StmtKind::While { label, cond, body } => {
                let kind = self.while_loop(label.as_ref(), cond, body, span);
                add(kind);
                false
            }
            ast::StmtKind::ForRange { label, var, from, to, inclusive, step, body } => {
                let from = self.expr(from, Expected::Type(Ty::INT));
                let to = self.expr(to, Expected::Type(Ty::INT));
                self.forget_assigned_in(span);
                let id = self.push_loop(label.as_ref(), None);
                let before = self.narrowed.clone();
                let (local, body) = self.loop_body(var, Ty::INT, body);
                self.pop_loop(Some(before));
                let step = if *step == 0 { 1 } else { *step };
                add(StmtKind::ForRange { id, local, from, to, inclusive: *inclusive, step, body });
                false
            }
            ast::StmtKind::ForEach { label, var, iterable, body } => {
                self.for_each(label.as_ref(), var, iterable, body, span, out)
            }
        }
    }

    /// A name whose local nobody can read: behind something that never ends, or `_`.
    fn declare_unreachable(&mut self, name: &ast::Name, kind: VariableKind, ty: Ty) {
        let (variable, local) = self.make_variable(name, kind, ty);
        if ty == Ty::NEVER {
            self.frame().locals[local.index()].ty = Ty::UNIT;
        }
        self.enter(variable);
    }

    /// The initialiser of a variable.
    fn let_value(&mut self, name: &ast::Name, ty: Option<&ast::TypeExpr>, init: &ast::Expr) -> Expr {
        let Some(written) = ty else {
            let init = self.expr(init, Expected::Free);
            if init.ty == Ty::NULL {
                let message = format!("the type of `{}` cannot be inferred from `null`", name.text);
                let help = format!("write it: `{}: T? = null`", name.text);
                self.report(Diagnostic::new(init.span, message, "null of which type?").help(help));
                return super::expected::error_expr(init.span);
            }
            return init;
        };
        let scope = self.scope.clone();
        let ty = self.resolve_type(written, &scope);
        let expected = if ty == Ty::ERROR { Expected::Free } else { Expected::Type(ty) };
        let mut init = self.expr(init, expected);
        if init.ty != Ty::NEVER {
            init.ty = if init.ty == Ty::ERROR { ty } else { init.ty };
        }
        init
    }
}
