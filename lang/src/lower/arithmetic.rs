//! Arithmetic: every operation on integers and doubles, with the constant in the instruction wherever it fits.

use super::constants::Constant;
use super::function::{FunctionLowering, Goal, Operand};
use crate::typed::{BinaryOp, Expr, ExprKind, UnaryOp};
use holloway_bytecode::{Native, Op, Type};

impl<'p> FunctionLowering<'_, 'p> {
    /// `-x`, `!x`, `~x`.
    pub(super) fn unary(&mut self, op: UnaryOp, inner: &'p Expr, expr: &'p Expr, goal: Goal) -> Operand {
        match op {
            UnaryOp::NegInt => match self.constant_integer(expr) {
                Some(value) => self.constant(Constant::Int(value), goal),
                None => self.with_immediate(Op::RSubI, inner, 0, goal),
            },
            UnaryOp::BitNot => match self.constant_integer(expr) {
                Some(value) => self.constant(Constant::Int(value), goal),
                None => self.with_immediate(Op::XorI, inner, -1, goal),
            },
            UnaryOp::NegFloat => match self.constant_float(expr) {
                Some(value) => self.constant(Constant::Float(value.to_bits()), goal),
                None => self.on_one(Op::FNeg, inner, Type::Float, goal),
            },
            UnaryOp::Not => self.truth(expr, goal),
        }
    }

    /// An instruction with one register operand.
    pub(super) fn on_one(&mut self, op: Op, inner: &'p Expr, result: Type, goal: Goal) -> Operand {
        let value = self.operand(inner);
        self.release(value);
        let destination = self.destination(goal, result);
        self.buffer.op(op, destination.register.0, value.register.0, 0);
        destination
    }

    fn with_immediate(&mut self, op: Op, value: &'p Expr, constant: i16, goal: Goal) -> Operand {
        let value = self.operand(value);
        self.release(value);
        let destination = self.destination(goal, Type::Int);
        self.buffer.op(op, destination.register.0, value.register.0, constant as u16);
        destination
    }

    /// An operation on two values.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &'p Expr,
        right: &'p Expr,
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        use BinaryOp::*;
        match op {
            AddInt | SubInt | MulInt | DivInt | RemInt | And | Or | Xor | Shl | Shr | Ushr => {
                self.integer_operation(op, left, right, expr, goal)
            }
            AddFloat | SubFloat | MulFloat | DivFloat => self.float_operation(op, left, right, expr, goal),
            RemFloat => {
                let (left, right) = self.float_operands(left, right);
                let native = Native::FloatRem as u32;
                let result = Some(Type::Float);
                self.finish_call(Op::CallNative, native, &[left, right], result, goal, expr.span)
            }
            Concat => self.concat(expr, goal),
            LtInt | LeInt | GtInt | GeInt | LtFloat | LeFloat | GtFloat | GeFloat | LtString | LeString
            | GtString | GeString => self.truth(expr, goal),
        }
    }

    fn integer_operation(
        &mut self,
        op: BinaryOp,
        left: &'p Expr,
        right: &'p Expr,
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        if let Some(value) = self.constant_integer(expr) {
            return self.constant(Constant::Int(value), goal);
        }
        let of_right = self.constant_integer(right);
        let of_left = if of_right.is_none() { self.constant_integer(left) } else { None };
        if let Some((op, constant)) = of_right.and_then(|constant| right_immediate(op, constant)) {
            return self.with_immediate(op, left, constant, goal);
        }
        if let Some((op, constant)) = of_left.and_then(|constant| left_immediate(op, constant)) {
            return self.with_immediate(op, right, constant, goal);
        }
        let (left, right) = self.two_operands(left, right);
        self.release(right);
        self.release(left);
        let destination = self.destination(goal, Type::Int);
        let op = match op {
            BinaryOp::AddInt => Op::Add,
            BinaryOp::SubInt => Op::Sub,
            BinaryOp::MulInt => Op::Mul,
            BinaryOp::DivInt => Op::Div,
            BinaryOp::RemInt => Op::Rem,
            BinaryOp::And => Op::And,
            BinaryOp::Or => Op::Or,
            BinaryOp::Xor => Op::Xor,
            BinaryOp::Shl => Op::Shl,
            BinaryOp::Shr => Op::Shr,
            _ => Op::Ushr,
        };
        if matches!(op, Op::Div | Op::Rem) {
            self.at(expr.span);
        }
        self.buffer.op(op, destination.register.0, left.register.0, right.register.0);
        destination
    }

    fn float_operation(
        &mut self,
        op: BinaryOp,
        left: &'p Expr,
        right: &'p Expr,
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        if let Some(value) = self.constant_float(expr) {
            return self.constant(Constant::Float(value.to_bits()), goal);
        }
        if let Some(result) = self.fused_operation(op, left, right, goal) {
            return result;
        }
        let (left, right) = self.float_operands(left, right);
        self.release(right);
        self.release(left);
        let destination = self.destination(goal, Type::Float);
        let op = match op {
            BinaryOp::AddFloat => Op::FAdd,
            BinaryOp::SubFloat => Op::FSub,
            BinaryOp::MulFloat => Op::FMul,
            _ => Op::FDiv,
        };
        self.buffer.op(op, destination.register.0, left.register.0, right.register.0);
        destination
    }

    /// Two operations in one instruction, where one side is an operation itself.
    fn fused_operation(
        &mut self,
        outer: BinaryOp,
        left: &'p Expr,
        right: &'p Expr,
        goal: Goal,
    ) -> Option<Operand> {
        let inner = |expr: &'p Expr| match &expr.kind {
            ExprKind::Binary(op, x, y) => Some((*op, &**x, &**y)),
            _ => None,
        };
        let mut candidate = |expr: &'p Expr, on_left: bool| {
            let (op, x, y) = inner(expr).filter(|_| self.constant_float(expr).is_none())?;
            Some((fused_op(op, outer, on_left)?, op, x, y))
        };
        let (of_left, of_right) = (candidate(left, true), candidate(right, false));
        // In a sum of products each product joins the sum; fusing the additions would leave the products alone.
        let is_product = |c: &Option<(Op, BinaryOp, _, _)>| matches!(c, Some((_, BinaryOp::MulFloat, ..)));
        let on_left = of_left.is_some() && (is_product(&of_left) || !is_product(&of_right));
        let (op, _, x, y) = if on_left { of_left? } else { of_right? };
        // Operands are evaluated from left to right, as written.
        let [first, second, third] = if on_left { [x, y, right] } else { [left, x, y] };
        let one = self.float_operand(first);
        let one = self.keep_from(one, &[second, third]);
        let two = self.float_operand(second);
        let two = self.keep_from(two, &[third]);
        let three = self.float_operand(third);
        let [x, y, z] = if on_left { [one, two, three] } else { [two, three, one] };
        self.release(three);
        self.release(two);
        self.release(one);
        let (x, y, z) = (x.register.0, y.register.0, z.register.0);
        match u8::try_from(z) {
            Ok(n) => {
                let destination = self.destination(goal, Type::Float);
                self.buffer.op_n(op, destination.register.0, x, y, n);
                Some(destination)
            }
            // The fourth register has only a byte: such frames are rare and get two instructions.
            Err(_) => {
                let (inner, outer, mirrored) = unfused(op);
                let between = self.registers.allocate(Type::Float);
                self.buffer.op(inner, between.0, x, y);
                let (b, c) = if mirrored { (z, between.0) } else { (between.0, z) };
                self.registers.free(between);
                let destination = self.destination(goal, Type::Float);
                self.buffer.op(outer, destination.register.0, b, c);
                Some(destination)
            }
        }
    }

    /// Two doubles, folded where possible.
    pub(super) fn float_operands(&mut self, left: &'p Expr, right: &'p Expr) -> (Operand, Operand) {
        let first = self.float_operand(left);
        let first = self.keep_from(first, &[right]);
        (first, self.float_operand(right))
    }

    fn float_operand(&mut self, expr: &'p Expr) -> Operand {
        match self.constant_float(expr) {
            Some(value) => self.constant(Constant::Float(value.to_bits()), Goal::Anywhere),
            None => self.operand(expr),
        }
    }
}

/// The instruction for `(x inner y) outer z`, or `z outer (x inner y)` if the operation is on the right.
fn fused_op(inner: BinaryOp, outer: BinaryOp, on_left: bool) -> Option<Op> {
    use BinaryOp::{AddFloat, MulFloat, SubFloat};
    Some(match (inner, outer) {
        (AddFloat, AddFloat) => Op::FAddAdd,
        (AddFloat, MulFloat) => Op::FAddMul,
        (SubFloat, AddFloat) => Op::FSubAdd,
        (SubFloat, MulFloat) => Op::FSubMul,
        (MulFloat, AddFloat) => Op::FMulAdd,
        (MulFloat, MulFloat) => Op::FMulMul,
        (AddFloat, SubFloat) if on_left => Op::FAddSub,
        (SubFloat, SubFloat) if on_left => Op::FSubSub,
        (MulFloat, SubFloat) if on_left => Op::FMulSub,
        (MulFloat, SubFloat) => Op::FMulRSub,
        _ => return None,
    })
}

/// The two operations of a fused one, and whether the result of the first is the right operand of the second.
fn unfused(op: Op) -> (Op, Op, bool) {
    match op {
        Op::FAddAdd => (Op::FAdd, Op::FAdd, false),
        Op::FAddMul => (Op::FAdd, Op::FMul, false),
        Op::FSubAdd => (Op::FSub, Op::FAdd, false),
        Op::FSubMul => (Op::FSub, Op::FMul, false),
        Op::FMulAdd => (Op::FMul, Op::FAdd, false),
        Op::FMulMul => (Op::FMul, Op::FMul, false),
        Op::FAddSub => (Op::FAdd, Op::FSub, false),
        Op::FSubSub => (Op::FSub, Op::FSub, false),
        Op::FMulSub => (Op::FMul, Op::FSub, false),
        _ => (Op::FMul, Op::FSub, true),
    }
}

/// The instruction for `x op constant`.
fn right_immediate(op: BinaryOp, constant: i64) -> Option<(Op, i16)> {
    let (op, constant) = match op {
        BinaryOp::AddInt => (Op::AddI, constant),
        BinaryOp::SubInt => (Op::AddI, constant.checked_neg()?),
        BinaryOp::MulInt => (Op::MulI, constant),
        BinaryOp::DivInt if constant != 0 => (Op::DivI, constant),
        BinaryOp::RemInt if constant != 0 => (Op::RemI, constant),
        BinaryOp::And => (Op::AndI, constant),
        BinaryOp::Or => (Op::OrI, constant),
        BinaryOp::Xor => (Op::XorI, constant),
        BinaryOp::Shl => (Op::ShlI, constant & 63),
        BinaryOp::Shr => (Op::ShrI, constant & 63),
        BinaryOp::Ushr => (Op::UshrI, constant & 63),
        _ => return None,
    };
    Some((op, i16::try_from(constant).ok()?))
}

/// The instruction for `constant op x`.
fn left_immediate(op: BinaryOp, constant: i64) -> Option<(Op, i16)> {
    let op = match op {
        BinaryOp::AddInt => Op::AddI,
        BinaryOp::SubInt => Op::RSubI,
        BinaryOp::MulInt => Op::MulI,
        BinaryOp::And => Op::AndI,
        BinaryOp::Or => Op::OrI,
        BinaryOp::Xor => Op::XorI,
        _ => return None,
    };
    Some((op, i16::try_from(constant).ok()?))
}
