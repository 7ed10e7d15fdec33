//! Conditions as values: for those who store a truth value instead of going one of two ways.

use super::buffer::Label;
use super::conditions::{Compared, Comparison, comparison};
use super::constants::Constant;
use super::function::{FunctionLowering, Goal, Operand, Target};
use super::walk;
use crate::typed::{Expr, ExprKind, UnaryOp};
use holloway_bytecode::{Op, Type};

impl<'p> FunctionLowering<'_, 'p> {
    /// The value of a condition.
    pub(super) fn truth(&mut self, condition: &'p Expr, goal: Goal) -> Operand {
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) if is_plain(inner) => {
                self.on_one(Op::Not, inner, Type::Bool, goal)
            }
            ExprKind::Binary(op, left, right) => match comparison(*op) {
                Some((Compared::Float, comparison)) => {
                    let (left, right) = self.float_operands(left, right);
                    self.set(comparison, [Op::FSetLt, Op::FSetLe], left, right, goal)
                }
                Some((Compared::Int, comparison)) if self.compared_with_zero(left, right).is_none() => {
                    let (left, right) = self.two_operands(left, right);
                    self.set(comparison, [Op::SetLt, Op::SetLe], left, right, goal)
                }
                _ => self.truth_by_branch(condition, goal),
            },
            ExprKind::Equals { negated, left, right } => {
                match self.truth_of_equality(left, right, *negated, condition.span, goal) {
                    Some(value) => value,
                    None => self.truth_by_branch(condition, goal),
                }
            }
            ExprKind::Is(value, ty) => {
                let ty = self.concrete(*ty);
                self.truth_of_is(value, ty, condition, goal)
            }
            ExprKind::And(left, right) => self.truth_of_both(left, right, true, goal),
            ExprKind::Or(left, right) => self.truth_of_both(left, right, false, goal),
            _ => self.truth_by_branch(condition, goal),
        }
    }

    fn set(
        &mut self,
        comparison: Comparison,
        [less, less_equal]: [Op; 2],
        left: Operand,
        right: Operand,
        goal: Goal,
    ) -> Operand {
        self.release(right);
        self.release(left);
        let destination = self.destination(goal, Type::Bool);
        let (op, a, b) = match comparison {
            Comparison::Less => (less, left, right),
            Comparison::Greater => (less, right, left),
            Comparison::GreaterEqual => (less_equal, right, left),
            _ => (less_equal, left, right),
        };
        self.buffer.op(op, destination.register.0, a.register.0, b.register.0);
        destination
    }

    /// `left && right` or `left || right` as a value: the right one's, unless the left one settles it.
    fn truth_of_both(&mut self, left: &'p Expr, right: &'p Expr, both: bool, goal: Goal) -> Operand {
        let end = self.buffer.label();
        let scope = self.open_scope();
        let result = match goal {
            Goal::At(target) if walk::plain_local(left).is_some_and(|x| self.is_in(x, target.register)) => {
                // `x = x && y`: what x is already settles it.
                self.branch_if(left, !both, end);
                self.evaluate(right, goal)
            }
            Goal::At(target) if !target.fresh => {
                let settled = self.buffer.label();
                self.branch_if(left, !both, settled);
                self.evaluate(right, goal);
                self.buffer.jump(end);
                self.forget_since(scope);
                self.buffer.bind(settled);
                self.constant(Constant::Bool(!both), goal)
            }
            Goal::Discard => {
                self.branch_if(left, !both, end);
                self.discard(right);
                Operand::NONE
            }
            _ => {
                let destination = self.destination(goal, Type::Bool);
                self.buffer.op_bc(Op::LoadBool, destination.register.0, !both as u32);
                self.branch_if(left, !both, end);
                self.into(right, Target { register: destination.register, fresh: true });
                destination
            }
        };
        self.forget_since(scope);
        self.buffer.bind(end);
        result
    }

    /// Returns `left && right` or `left || right`.
    pub(super) fn return_truth(&mut self, condition: &'p Expr) {
        match &condition.kind {
            ExprKind::And(left, right) => self.return_both(left, right, true),
            ExprKind::Or(left, right) => self.return_both(left, right, false),
            _ => {}
        }
    }

    fn return_both(&mut self, left: &'p Expr, right: &'p Expr, both: bool) {
        let settled = self.buffer.label();
        let scope = self.open_scope();
        self.branch_if(left, !both, settled);
        self.evaluate(right, Goal::Return);
        self.forget_since(scope);
        self.buffer.bind(settled);
        if self.reachable() {
            let value = self.constant(Constant::Bool(!both), Goal::Anywhere);
            self.returned(value, Goal::Return);
        }
    }

    /// A condition that has no instruction for its value: two constants and a branch.
    pub(super) fn truth_by_branch(&mut self, condition: &'p Expr, goal: Goal) -> Operand {
        self.truth_of(goal, |this, sense, to| this.branch_if(condition, sense, to))
    }

    /// The value of whatever `branch` branches on.
    fn truth_of(&mut self, goal: Goal, branch: impl FnOnce(&mut Self, bool, Label)) -> Operand {
        let (no, end) = (self.buffer.label(), self.buffer.label());
        let scope = self.open_scope();
        branch(self, false, no);
        let destination = self.destination(goal, Type::Bool);
        self.buffer.op_bc(Op::LoadBool, destination.register.0, 1);
        self.buffer.jump(end);
        self.forget_since(scope);
        self.buffer.bind(no);
        self.buffer.op_bc(Op::LoadBool, destination.register.0, 0);
        self.buffer.bind(end);
        destination
    }
}

/// A condition whose value is in a register anyway.
fn is_plain(condition: &Expr) -> bool {
    !matches!(
        condition.kind,
        ExprKind::Unary(UnaryOp::Not, _)
            | ExprKind::Binary(..)
            | ExprKind::Equals { .. }
            | ExprKind::And(..)
            | ExprKind::Or(..)
            | ExprKind::Bool(_)
    )
}
