//! Statements, and the choices between two ways.

use super::buffer::Label;
use super::function::{FunctionLowering, Goal, Operand};
use super::walk;
use crate::typed::{Expr, ExprKind, LocalIndex, Stmt, StmtKind, Ty};
use holloway_bytecode::Op;

impl<'p> FunctionLowering<'_, 'p> {
    /// The statements of a block, whose value comes after them.
    pub(super) fn statements(&mut self, statements: &'p [Stmt], value: Option<&'p Expr>) {
        for (at, statement) in statements.iter().enumerate() {
            if !self.reachable() {
                return;
            }
            match &statement.kind {
                StmtKind::Let(local, initial) => {
                    let rest = &statements[at + 1..];
                    self.declare(*local, initial, &|other| walk::rest_assigns(rest, value, other));
                }
                _ => self.statement(statement),
            }
        }
    }

    fn statement(&mut self, statement: &'p Stmt) {
        match &statement.kind {
            StmtKind::Let(local, initial) => self.declare(*local, initial, &|_| true),
            StmtKind::Expr(expr) => self.discard(expr),
            StmtKind::SetLocal(local, value) => self.assign_local(*local, value),
            StmtKind::SetGlobal(index, value) => {
                let global = self.lowering.global(*index);
                let value = self.operand(value);
                self.buffer.op_bc(Op::StoreGlobal, value.register.0, global.0);
                self.release(value);
            }
            StmtKind::SetField(object, field, value) => self.write_field(object, *field, value),
            StmtKind::SetIndex(array, index, value) => {
                self.write_element(array, index, value, statement.span);
            }
            StmtKind::While(id, condition, body) => self.while_loop(*id, condition, body),
            StmtKind::WhileNonNull { id, local, value, body } => {
                self.while_non_null(*id, *local, value, body);
            }
            StmtKind::ForRange { .. } => self.for_range(&statement.kind),
            StmtKind::ForEach { id, local, iterable, body } => self.for_each(*id, *local, iterable, body),
        }
    }

    /// `if`.
    pub(super) fn choose(
        &mut self,
        condition: &'p Expr,
        then: &'p Expr,
        otherwise: Option<&'p Expr>,
        goal: Goal,
    ) {
        let scope = self.open_scope();
        if let Some(target) = self.only_jumps(then) {
            self.branch_if(condition, true, target);
            self.otherwise(otherwise, goal);
        } else if let Some(target) = otherwise.and_then(|otherwise| self.only_jumps(otherwise)) {
            self.branch_if(condition, false, target);
            self.evaluate(then, goal);
        } else {
            let (no, end) = (self.buffer.label(), self.buffer.label());
            self.branch_if(condition, false, no);
            self.evaluate(then, goal);
            if otherwise.is_some() || matches!(goal, Goal::At(_) | Goal::Return) {
                self.buffer.jump(end);
            }
            self.forget_since(scope);
            self.buffer.bind(no);
            self.otherwise(otherwise, goal);
            self.forget_since(scope);
            self.buffer.bind(end);
        }
        self.forget_since(scope);
    }

    fn otherwise(&mut self, otherwise: Option<&'p Expr>, goal: Goal) {
        if self.reachable() {
            match otherwise {
                Some(otherwise) => self.evaluate(otherwise, goal),
                None => self.no_value(goal),
            };
        }
    }

    /// Where the expression goes if it is nothing but a `break` or `continue` without value.
    fn only_jumps(&self, expr: &Expr) -> Option<Label> {
        match &expr.kind {
            ExprKind::Break(id, None) => {
                let context = self.enclosing(*id)?;
                matches!(context.goal, Goal::Discard).then_some(context.break_to)
            }
            ExprKind::Continue(id) => Some(self.enclosing(*id)?.continue_to),
            ExprKind::Block(statements, value) => match (statements.as_slice(), value) {
                ([], Some(value)) => self.only_jumps(value),
                ([Stmt { kind: StmtKind::Expr(only), .. }], None) => self.only_jumps(only),
                _ => None,
            },
            _ => None,
        }
    }

    /// `if let` and what is made of it.
    pub(super) fn choose_non_null(
        &mut self,
        local: LocalIndex,
        value: &'p Expr,
        then: &'p Expr,
        otherwise: Option<&'p Expr>,
        goal: Goal,
    ) {
        let scope = self.open_scope();
        let (no, end) = (self.buffer.label(), self.buffer.label());
        self.bind_non_null(local, value, no, &[then]);
        self.evaluate(then, goal);
        if otherwise.is_some() || matches!(goal, Goal::At(_) | Goal::Return) {
            self.buffer.jump(end);
        }
        self.forget_since(scope);
        self.buffer.bind(no);
        self.otherwise(otherwise, goal);
        self.close_scope(scope, Operand::NONE);
        self.buffer.bind(end);
    }

    /// Gives the local the value if that is not null, and goes to `null` otherwise. The local is used in `users`.
    pub(super) fn bind_non_null(
        &mut self,
        local: LocalIndex,
        value: &'p Expr,
        null: Label,
        users: &[&'p Expr],
    ) {
        let ty = self.ty(value);
        if ty == Ty::NULL {
            self.discard(value);
            return self.buffer.jump(null);
        }
        let nullable = self.operand(value);
        if self.lowering.primitive(ty).is_none() {
            self.buffer.branch(Op::BrNull, nullable.register.0, 0, null);
        }
        self.define_non_null(local, nullable, users, value);
    }

    /// Gives the local a value that is known not to be null.
    pub(super) fn define_non_null(
        &mut self,
        local: LocalIndex,
        nullable: Operand,
        users: &[&'p Expr],
        value: &'p Expr,
    ) {
        let wanted = self.local_type(local);
        if self.reachable() {
            let inside = self.narrow(nullable, wanted, Goal::Anywhere, value.span);
            self.define(local, inside, &|other| walk::assigns_any(users, other));
        }
    }
}
