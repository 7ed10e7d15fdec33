//! `==` and `!=`: which comparison the concrete types of the two sides ask for, and its code.
//!
//! Integers and truth values have branches and instructions, doubles and strings too. References to classes, arrays,
//! closures and variants compare by identity. Boxed values that may be null on both sides go through a call.

use super::buffer::Label;
use super::conditions::Comparison;
use super::constants::Constant;
use super::function::{FunctionLowering, Goal, Operand};
use super::helpers::Helper;
use super::layouts::Primitive;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Ty, TyKind};
use holloway_bytecode::{Op, Register, Type};

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Equality {
    /// Known without looking.
    Always(bool),
    /// Two values of the same primitive type.
    Primitive(Primitive),
    /// A boxed primitive that may be null on one side (the left one if `boxed_left`), the primitive itself on the other.
    Mixed { primitive: Primitive, boxed_left: bool },
    /// Is the left (or right) side null.
    Null { left: bool },
    /// The same object.
    Identity,
    /// Two strings, or null.
    Strings,
    /// Whatever the helper says.
    Helper(Helper),
}

/// What the values of a reference type may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByValue {
    /// Only strings, or null.
    String,
    /// Boxes or strings, among others.
    Maybe,
    /// Neither boxes nor strings.
    No,
}

impl<'p> FunctionLowering<'_, 'p> {
    fn equality(&mut self, left: Ty, right: Ty) -> Equality {
        if left == Ty::NEVER || right == Ty::NEVER {
            return Equality::Always(false);
        }
        if left == Ty::NULL || right == Ty::NULL {
            let (other, other_is_left) = if right == Ty::NULL { (left, true) } else { (right, false) };
            return match self.lowering.types.kind(other) {
                TyKind::Null => Equality::Always(true),
                TyKind::Nullable(_) => Equality::Null { left: other_is_left },
                _ => Equality::Always(false),
            };
        }
        let [of_left, of_right] = [left, right].map(|ty| self.lowering.primitive(ty));
        let [in_left, in_right] = [left, right].map(|ty| self.lowering.boxed_primitive(ty));
        match (of_left, of_right) {
            (Some(_), Some(_)) if left == Ty::UNIT => return Equality::Always(true),
            (Some(a), Some(b)) if a == b => return Equality::Primitive(a),
            (Some(_), Some(_)) => return Equality::Always(false),
            (Some(primitive), None) if in_right == Some(primitive) => {
                return Equality::Mixed { primitive, boxed_left: false };
            }
            (None, Some(primitive)) if in_left == Some(primitive) => {
                return Equality::Mixed { primitive, boxed_left: true };
            }
            _ => {}
        }
        match (in_left, in_right) {
            (Some(a), Some(b)) if a == b => return Equality::Helper(Helper::EqualBoxes(a)),
            _ => {}
        }
        if left == Ty::STRING && right == Ty::STRING {
            return Equality::Strings;
        }
        match (self.by_value(left), self.by_value(right)) {
            (ByValue::String, ByValue::String) => Equality::Strings,
            (ByValue::No, _) | (_, ByValue::No) => Equality::Identity,
            _ => Equality::Helper(Helper::EqualAny),
        }
    }

    /// May values of a type have to be compared by what is in them.
    fn by_value(&self, ty: Ty) -> ByValue {
        match self.lowering.types.kind(ty) {
            TyKind::String => ByValue::String,
            TyKind::Any => ByValue::Maybe,
            TyKind::Nullable(inner) => self.by_value(*inner),
            _ if self.lowering.primitive(ty).is_some() => ByValue::Maybe,
            _ => ByValue::No,
        }
    }

    /// Goes to `to` if `left == right` is `sense`.
    pub(super) fn branch_if_equal(
        &mut self,
        left: &'p Expr,
        right: &'p Expr,
        sense: bool,
        span: Span,
        to: Label,
    ) {
        let types = [self.ty(left), self.ty(right)];
        let comparison = if sense { Comparison::Equal } else { Comparison::NotEqual };
        match self.equality(types[0], types[1]) {
            Equality::Always(known) => {
                self.discard(left);
                self.discard(right);
                if known == sense {
                    self.buffer.jump(to);
                }
            }
            Equality::Primitive(Primitive::Int) => self.branch_if_integers(comparison, left, right, to),
            Equality::Primitive(Primitive::Bool) => match (&left.kind, &right.kind) {
                (_, ExprKind::Bool(value)) => self.branch_if(left, sense == *value, to),
                (ExprKind::Bool(value), _) => self.branch_if(right, sense == *value, to),
                _ => {
                    let (left, right) = self.two_operands(left, right);
                    self.release(right);
                    self.release(left);
                    self.branch_if_registers(comparison, left.register, right.register, to);
                }
            },
            Equality::Primitive(Primitive::Float) => {
                let (left, right) = self.float_operands(left, right);
                self.release(right);
                self.release(left);
                self.branch_if_floats(Comparison::Equal, left.register, right.register, sense, to);
            }
            Equality::Mixed { primitive, boxed_left } => {
                let (left, right) = self.two_operands(left, right);
                let (boxed, plain) = if boxed_left { (left, right) } else { (right, left) };
                self.branch_if_box_holds(boxed, plain.register, primitive, sense, to);
                self.release(plain);
            }
            Equality::Null { left: of_left } => {
                let value = self.one_of(left, right, of_left);
                self.release(value);
                let op = if sense { Op::BrNull } else { Op::BrNonNull };
                self.buffer.branch(op, value.register.0, 0, to);
            }
            Equality::Identity => {
                let [left, right] = self.two_references([left, right], types);
                self.release(right);
                self.release(left);
                let op = if sense { Op::RBrEq } else { Op::RBrNe };
                self.buffer.branch(op, left.register.0, right.register.0, to);
            }
            Equality::Strings => {
                let (left, right) = self.two_operands(left, right);
                self.release(right);
                self.release(left);
                let op = if sense { Op::SBrEq } else { Op::SBrNe };
                self.buffer.branch(op, left.register.0, right.register.0, to);
            }
            Equality::Helper(helper) => {
                let values = self.two_references([left, right], types);
                let equal = self.call_equality(helper, values, Goal::Anywhere, span);
                self.release(equal);
                self.branch_if_true(equal.register, sense, to);
            }
        }
    }

    /// The value of `left == right`, or `!=` if negated, where an instruction or a call gives it.
    pub(super) fn truth_of_equality(
        &mut self,
        left: &'p Expr,
        right: &'p Expr,
        negated: bool,
        span: Span,
        goal: Goal,
    ) -> Option<Operand> {
        let types = [self.ty(left), self.ty(right)];
        let is_literal = |expr: &Expr| matches!(expr.kind, ExprKind::Bool(_));
        let (equal, not_equal) = match self.equality(types[0], types[1]) {
            Equality::Always(known) => {
                self.discard(left);
                self.discard(right);
                return Some(self.constant(Constant::Bool(known != negated), goal));
            }
            Equality::Mixed { .. } => return None,
            Equality::Primitive(Primitive::Bool) if is_literal(left) || is_literal(right) => return None,
            Equality::Primitive(Primitive::Float) => (Op::FSetEq, Op::FSetNe),
            Equality::Primitive(_) => (Op::SetEq, Op::SetNe),
            Equality::Identity => (Op::RSetEq, Op::RSetNe),
            Equality::Strings => (Op::SSetEq, Op::SSetNe),
            Equality::Null { left: of_left } => {
                let value = self.one_of(left, right, of_left);
                let op = if negated { Op::SetNonNull } else { Op::SetNull };
                return Some(self.set_one(op, value, goal));
            }
            Equality::Helper(helper) => {
                let values = self.two_references([left, right], types);
                if !negated {
                    return Some(self.call_equality(helper, values, goal, span));
                }
                let equal = self.call_equality(helper, values, Goal::Anywhere, span);
                return Some(self.set_one(Op::Not, equal, goal));
            }
        };
        let [left, right] = match equal {
            Op::RSetEq => self.two_references([left, right], types),
            _ => self.two_operands(left, right).into(),
        };
        self.release(right);
        self.release(left);
        let destination = self.destination(goal, Type::Bool);
        let op = if negated { not_equal } else { equal };
        self.buffer.op(op, destination.register.0, left.register.0, right.register.0);
        Some(destination)
    }

    /// Evaluates both sides for the value of one.
    fn one_of(&mut self, left: &'p Expr, right: &'p Expr, of_left: bool) -> Operand {
        if of_left {
            let value = self.operand(left);
            let value = self.keep_from(value, &[right]);
            self.discard(right);
            value
        } else {
            self.discard(left);
            self.operand(right)
        }
    }

    fn set_one(&mut self, op: Op, value: Operand, goal: Goal) -> Operand {
        self.release(value);
        let destination = self.destination(goal, Type::Bool);
        self.buffer.op(op, destination.register.0, value.register.0, 0);
        destination
    }

    /// Two values as references: primitives are boxed.
    fn two_references(&mut self, [left, right]: [&'p Expr; 2], types: [Ty; 2]) -> [Operand; 2] {
        let first = self.operand(left);
        let first = self.as_reference(first, types[0]);
        let first = self.keep_from(first, &[right]);
        let second = self.operand(right);
        [first, self.as_reference(second, types[1])]
    }

    fn call_equality(&mut self, helper: Helper, values: [Operand; 2], goal: Goal, span: Span) -> Operand {
        let number = self.lowering.helper(helper).0;
        self.finish_call(Op::Call, number, &values, Some(Type::Bool), goal, span)
    }

    /// Goes to `to` if the answer to "is there a box, and does it hold this value" is `sense`.
    fn branch_if_box_holds(
        &mut self,
        boxed: Operand,
        plain: Register,
        primitive: Primitive,
        sense: bool,
        to: Label,
    ) {
        let unequal = self.buffer.label();
        self.buffer.branch(Op::BrNull, boxed.register.0, 0, if sense { unequal } else { to });
        let value = self.unbox(boxed, primitive, Goal::Anywhere);
        self.release(value);
        if primitive == Primitive::Float {
            self.branch_if_floats(Comparison::Equal, value.register, plain, sense, to);
        } else {
            let comparison = if sense { Comparison::Equal } else { Comparison::NotEqual };
            self.branch_if_registers(comparison, value.register, plain, to);
        }
        self.buffer.bind(unequal);
    }
}
