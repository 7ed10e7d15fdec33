//! Conditions: jumps. [`FunctionLowering::branch_if`] goes to a label if a condition is as asked, and otherwise goes on.
//!
//! Comparisons are fused with the branch that waits for them; `&&`, `||` and `!` become nothing but jumps. Comparisons of
//! doubles have a branch for the negation of each, because `!(a < b)` is not `a >= b` when one of them is not a number.

use super::buffer::Label;
use super::function::{FunctionLowering, Goal, Operand};
use crate::builtins::Builtin;
use crate::typed::{BinaryOp, Expr, ExprKind, Ty, UnaryOp};
use holloway_bytecode::{Native, Op, Register, Type};

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    /// True exactly when this is false (of integers).
    pub(super) fn opposite(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterEqual,
            Comparison::LessEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessEqual,
            Comparison::GreaterEqual => Comparison::Less,
        }
    }

    /// The same with the sides exchanged.
    fn mirrored(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessEqual => Comparison::GreaterEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterEqual => Comparison::LessEqual,
            equality => equality,
        }
    }

    /// What it says of two integers.
    pub(super) fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterEqual => left >= right,
        }
    }

    fn immediate_branch(self) -> Op {
        match self {
            Comparison::Equal => Op::BrEqI,
            Comparison::NotEqual => Op::BrNeI,
            Comparison::Less => Op::BrLtI,
            Comparison::LessEqual => Op::BrLeI,
            Comparison::Greater => Op::BrGtI,
            Comparison::GreaterEqual => Op::BrGeI,
        }
    }
}

/// What kind of values a comparison operator compares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    Int,
    Float,
    String,
}

/// What a comparison operator compares, and how.
pub(super) fn comparison(op: BinaryOp) -> Option<(Compared, Comparison)> {
    Some(match op {
        BinaryOp::LtInt => (Compared::Int, Comparison::Less),
        BinaryOp::LeInt => (Compared::Int, Comparison::LessEqual),
        BinaryOp::GtInt => (Compared::Int, Comparison::Greater),
        BinaryOp::GeInt => (Compared::Int, Comparison::GreaterEqual),
        BinaryOp::LtFloat => (Compared::Float, Comparison::Less),
        BinaryOp::LeFloat => (Compared::Float, Comparison::LessEqual),
        BinaryOp::GtFloat => (Compared::Float, Comparison::Greater),
        BinaryOp::GeFloat => (Compared::Float, Comparison::GreaterEqual),
        BinaryOp::LtString => (Compared::String, Comparison::Less),
        BinaryOp::LeString => (Compared::String, Comparison::LessEqual),
        BinaryOp::GtString => (Compared::String, Comparison::Greater),
        BinaryOp::GeString => (Compared::String, Comparison::GreaterEqual),
        _ => return None,
    })
}

impl<'p> FunctionLowering<'_, 'p> {
    /// Goes to `to` if the condition is `sense`, and on otherwise.
    pub(super) fn branch_if(&mut self, condition: &'p Expr, sense: bool, to: Label) {
        if !self.reachable() {
            return;
        }
        // Branches cannot fail, but profiles name their lines.
        self.at(condition.span);
        match &condition.kind {
            ExprKind::Bool(value) => {
                if *value == sense {
                    self.buffer.jump(to);
                }
            }
            ExprKind::Unary(UnaryOp::Not, inner) => self.branch_if(inner, !sense, to),
            ExprKind::And(left, right) => self.branch_if_both(left, right, true, sense, to),
            ExprKind::Or(left, right) => self.branch_if_both(left, right, false, sense, to),
            ExprKind::Binary(op, left, right) => match comparison(*op) {
                Some((kind, comparison)) => {
                    self.branch_if_compared(kind, comparison, [left, right], condition, sense, to);
                }
                None => self.branch_if_value(condition, sense, to),
            },
            ExprKind::Equals { negated, left, right } => {
                self.branch_if_equal(left, right, sense != *negated, condition.span, to);
            }
            ExprKind::Is(value, ty) => {
                let ty = self.concrete(*ty);
                let value_type = self.ty(value);
                let value = self.operand(value);
                self.branch_if_is(value, value_type, ty, sense, to);
                self.release(value);
            }
            ExprKind::Block(statements, Some(value)) => {
                let scope = self.open_scope();
                self.statements(statements, Some(value));
                self.branch_if(value, sense, to);
                self.close_scope(scope, Operand::NONE);
            }
            ExprKind::If(condition, then, Some(otherwise)) => {
                let (no, end) = (self.buffer.label(), self.buffer.label());
                let scope = self.open_scope();
                self.branch_if(condition, false, no);
                self.branch_if(then, sense, to);
                self.buffer.jump(end);
                self.forget_since(scope);
                self.buffer.bind(no);
                self.branch_if(otherwise, sense, to);
                self.forget_since(scope);
                self.buffer.bind(end);
            }
            ExprKind::IfNonNull { local, value, then, otherwise: Some(otherwise) } => {
                let (no, end) = (self.buffer.label(), self.buffer.label());
                let scope = self.open_scope();
                self.bind_non_null(*local, value, no, &[then]);
                self.branch_if(then, sense, to);
                self.buffer.jump(end);
                self.forget_since(scope);
                self.buffer.bind(no);
                self.branch_if(otherwise, sense, to);
                self.close_scope(scope, Operand::NONE);
                self.buffer.bind(end);
            }
            _ => self.branch_if_value(condition, sense, to),
        }
    }

    /// `left && right` (or `||` if not `both`).
    fn branch_if_both(&mut self, left: &'p Expr, right: &'p Expr, both: bool, sense: bool, to: Label) {
        if both != sense {
            // One of them settles it.
            self.branch_if(left, sense, to);
            self.branch_if(right, sense, to);
        } else {
            let otherwise = self.buffer.label();
            let scope = self.open_scope();
            self.branch_if(left, !sense, otherwise);
            self.branch_if(right, sense, to);
            self.forget_since(scope);
            self.buffer.bind(otherwise);
        }
    }

    fn branch_if_value(&mut self, condition: &'p Expr, sense: bool, to: Label) {
        let value = self.operand(condition);
        self.release(value);
        self.branch_if_true(value.register, sense, to);
    }

    /// Goes to `to` if the Boolean in the register is `sense`.
    pub(super) fn branch_if_true(&mut self, value: Register, sense: bool, to: Label) {
        let op = if sense { Op::BrTrue } else { Op::BrFalse };
        self.buffer.branch(op, value.0, 0, to);
    }

    fn branch_if_compared(
        &mut self,
        kind: Compared,
        comparison: Comparison,
        [left, right]: [&'p Expr; 2],
        condition: &'p Expr,
        sense: bool,
        to: Label,
    ) {
        let direct = if sense { comparison } else { comparison.opposite() };
        match kind {
            Compared::Int => match self.compared_with_zero(left, right) {
                Some((Ty::FLOAT, pair)) => {
                    // `a.compareTo(b) <= 0` means that a is not greater; this differs from `a <= b` for NaN.
                    let strict = matches!(comparison, Comparison::Less | Comparison::Greater);
                    let (comparison, sense) =
                        if strict { (comparison, sense) } else { (comparison.opposite(), !sense) };
                    self.branch_if_compared(Compared::Float, comparison, pair, condition, sense, to);
                }
                Some((_, [left, right])) => self.branch_if_integers(direct, left, right, to),
                None => self.branch_if_integers(direct, left, right, to),
            },
            Compared::Float => {
                let (left, right) = self.float_operands(left, right);
                self.release(right);
                self.release(left);
                self.branch_if_floats(comparison, left.register, right.register, sense, to);
            }
            Compared::String => {
                let (left, right) = self.two_operands(left, right);
                let (arguments, result) = ([left, right], Some(Type::Int));
                let native = Native::StringCompare as u32;
                let span = condition.span;
                let order =
                    self.finish_call(Op::CallNative, native, &arguments, result, Goal::Anywhere, span);
                self.release(order);
                self.branch_if_constant(direct, order.register, 0, to);
            }
        }
    }

    /// Compares two integers.
    pub(super) fn branch_if_integers(
        &mut self,
        comparison: Comparison,
        left: &'p Expr,
        right: &'p Expr,
        to: Label,
    ) {
        let of_right = self.constant_integer(right);
        let of_left = self.constant_integer(left);
        match (of_left, of_right) {
            (Some(left), Some(right)) => {
                if comparison.holds(left, right) {
                    self.buffer.jump(to);
                }
            }
            (_, Some(constant)) if i16::try_from(constant).is_ok() => {
                let value = self.operand(left);
                self.release(value);
                self.branch_if_constant(comparison, value.register, constant as i16, to);
            }
            (Some(constant), _) if i16::try_from(constant).is_ok() => {
                let value = self.operand(right);
                self.release(value);
                self.branch_if_constant(comparison.mirrored(), value.register, constant as i16, to);
            }
            _ => {
                let (left, right) = self.two_operands(left, right);
                self.release(right);
                self.release(left);
                self.branch_if_registers(comparison, left.register, right.register, to);
            }
        }
    }

    /// Compares an integer with a constant.
    pub(super) fn branch_if_constant(
        &mut self,
        comparison: Comparison,
        value: Register,
        constant: i16,
        to: Label,
    ) {
        self.buffer.branch(comparison.immediate_branch(), value.0, constant as u16, to);
    }

    /// Compares two integers in registers.
    pub(super) fn branch_if_registers(
        &mut self,
        comparison: Comparison,
        left: Register,
        right: Register,
        to: Label,
    ) {
        let (op, a, b) = match comparison {
            Comparison::Equal => (Op::BrEq, left, right),
            Comparison::NotEqual => (Op::BrNe, left, right),
            Comparison::Less => (Op::BrLt, left, right),
            Comparison::LessEqual => (Op::BrLe, left, right),
            Comparison::Greater => (Op::BrLt, right, left),
            Comparison::GreaterEqual => (Op::BrLe, right, left),
        };
        self.buffer.branch(op, a.0, b.0, to);
    }

    /// Compares two doubles.
    pub(super) fn branch_if_floats(
        &mut self,
        comparison: Comparison,
        left: Register,
        right: Register,
        sense: bool,
        to: Label,
    ) {
        let (op, negation, a, b) = match comparison {
            Comparison::Equal => (Op::FBrEq, Op::FBrNe, left, right),
            Comparison::NotEqual => (Op::FBrNe, Op::FBrEq, left, right),
            Comparison::Less => (Op::FBrLt, Op::FBrNlt, left, right),
            Comparison::LessEqual => (Op::FBrLe, Op::FBrNle, left, right),
            Comparison::Greater => (Op::FBrLt, Op::FBrNlt, right, left),
            Comparison::GreaterEqual => (Op::FBrLe, Op::FBrNle, right, left),
        };
        self.buffer.branch(if sense { op } else { negation }, a.0, b.0, to);
    }

    /// For `a.compareTo(b)` on the left and zero on the right: the type and the two values, if comparing these says the same
    /// directly.
    pub(super) fn compared_with_zero(
        &mut self,
        left: &'p Expr,
        right: &'p Expr,
    ) -> Option<(Ty, [&'p Expr; 2])> {
        if self.constant_integer(right) != Some(0) {
            return None;
        }
        let (first, second) = match &left.kind {
            ExprKind::Builtin(Builtin::Compare(_), list) => (list.first()?, list.get(1)?),
            ExprKind::CallBound { receiver, interface, method, args } => {
                (self.bound_method(*interface, *method) == "compareTo").then_some(())?;
                (&**receiver, args.first()?)
            }
            _ => return None,
        };
        let ty = self.ty(first);
        matches!(ty, Ty::INT | Ty::FLOAT).then_some((ty, [first, second]))
    }
}
