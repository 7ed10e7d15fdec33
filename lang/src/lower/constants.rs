//! Constants: folding, and loading them as rarely as possible.
//!
//! Most integer constants go into the instruction that uses them. Of the others, those used inside a loop are loaded once in
//! front of the outermost loop, into registers that nothing else uses meanwhile. Outside of loops a few stay in their registers
//! for what follows in the same straight line.

use super::buffer::{Buffer, Gap};
use super::function::{FunctionLowering, Goal, Operand};
use crate::builtins::Builtin;
use crate::typed::{BinaryOp, Expr, ExprKind, UnaryOp};
use holloway_bytecode::{ClassId, GlobalId, Op, Register, Type};

/// A value that is known while compiling.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Constant {
    Int(i64),
    /// The bits of a double: zero and minus zero differ, NaN equals itself.
    Float(u64),
    Bool(bool),
    /// Null, in a register of this type.
    Null(Type),
    /// The object that a hidden global holds from the start.
    Object(GlobalId, ClassId),
}

/// Constants loaded in front of a loop.
pub(super) struct ConstantPool {
    gap: Gap,
    entries: Vec<(Constant, Register)>,
}

/// No more constants than this are kept in registers for a loop.
const MAX_POOL: usize = 100;

/// No more constants than this are kept in registers outside of loops.
const MAX_LOADED: usize = 6;

/// How many operations deep an expression may be to be folded.
const MAX_FOLDING: usize = 64;

impl Constant {
    fn ty(self) -> Type {
        match self {
            Constant::Int(_) => Type::Int,
            Constant::Float(_) => Type::Float,
            Constant::Bool(_) => Type::Bool,
            Constant::Null(ty) => ty,
            Constant::Object(_, class) => Type::class(class),
        }
    }
}

impl<'p> FunctionLowering<'_, 'p> {
    /// Enters a loop. If it is an outermost one, constants used inside are loaded here, and the answer is true.
    pub(super) fn open_pool(&mut self) -> bool {
        let outermost = self.pool.is_none() && self.reachable();
        if outermost {
            self.pool = Some(ConstantPool { gap: self.buffer.gap(), entries: Vec::new() });
        }
        outermost
    }

    /// Leaves the loop that [`Self::open_pool`] entered.
    pub(super) fn close_pool(&mut self, outermost: bool) {
        let Some(pool) = self.pool.take_if(|_| outermost) else { return };
        self.buffer.fill(pool.gap, |buffer| {
            for &(constant, register) in &pool.entries {
                load(buffer, constant, register);
            }
        });
        for (_, register) in pool.entries {
            self.registers.free(register);
        }
    }

    /// A constant where the goal asks for it.
    pub(super) fn constant(&mut self, constant: Constant, goal: Goal) -> Operand {
        match goal {
            Goal::Discard => return Operand::NONE,
            Goal::At(target) => {
                load(&mut self.buffer, constant, target.register);
                return Operand::kept(target.register);
            }
            Goal::Anywhere | Goal::Return => {}
        }
        if let Some((_, register)) = self.loaded.iter().find(|(known, _)| *known == constant) {
            return Operand::kept(*register);
        }
        let wanted = self.leaving == 0 && self.reachable();
        if let Some(pool) = self.pool.as_mut().filter(|_| wanted) {
            if let Some((_, register)) = pool.entries.iter().find(|(known, _)| *known == constant) {
                return Operand::kept(*register);
            }
            if pool.entries.len() < MAX_POOL {
                let register = self.registers.allocate_new(constant.ty());
                pool.entries.push((constant, register));
                return Operand::kept(register);
            }
        }
        let register = self.registers.allocate(constant.ty());
        load(&mut self.buffer, constant, register);
        if self.leaving > 0 || self.loaded.len() == MAX_LOADED {
            return Operand::temporary(register);
        }
        self.owned.push(register);
        self.loaded.push((constant, register));
        Operand::kept(register)
    }

    /// An integer in any register.
    pub(super) fn integer(&mut self, value: i64) -> Operand {
        self.constant(Constant::Int(value), Goal::Anywhere)
    }

    /// Null of a type.
    pub(super) fn null(&mut self, ty: Type, goal: Goal) -> Operand {
        self.constant(Constant::Null(ty), goal)
    }

    /// An object that a hidden global holds.
    pub(super) fn singleton(&mut self, global: GlobalId, class: ClassId, goal: Goal) -> Operand {
        self.constant(Constant::Object(global, class), goal)
    }

    /// A literal.
    pub(super) fn literal(&mut self, expr: &Expr, goal: Goal) -> Operand {
        match &expr.kind {
            ExprKind::Int(value) => self.constant(Constant::Int(*value), goal),
            ExprKind::Float(value) => self.constant(Constant::Float(value.to_bits()), goal),
            ExprKind::Bool(value) => self.constant(Constant::Bool(*value), goal),
            ExprKind::Str(text) => self.text(text, goal),
            _ => Operand::NONE,
        }
    }

    /// A string constant.
    pub(super) fn text(&mut self, text: &str, goal: Goal) -> Operand {
        if matches!(goal, Goal::Discard) {
            return Operand::NONE;
        }
        let string = self.lowering.string(text);
        let destination = self.non_null_destination(goal, Type::class(ClassId::STRING));
        self.buffer.op_bc(Op::LoadString, destination.register.0, string.0);
        self.put(destination, goal)
    }

    /// The value of an integer expression, if it is known and computing it does nothing else.
    pub(super) fn constant_integer(&mut self, expr: &Expr) -> Option<i64> {
        self.fold_integer(expr, MAX_FOLDING)
    }

    fn fold_integer(&mut self, expr: &Expr, depth: usize) -> Option<i64> {
        let depth = depth.checked_sub(1)?;
        match &expr.kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Local(local) => self.known[local.index()].integer,
            ExprKind::Global(index) => match self.lowering.global_constant(*index) {
                Some(Constant::Int(value)) => Some(value),
                _ => None,
            },
            ExprKind::Unary(op, inner) => {
                let value = self.fold_integer(inner, depth)?;
                match op {
                    UnaryOp::NegInt => Some(value.wrapping_neg()),
                    UnaryOp::BitNot => Some(!value),
                    UnaryOp::NegFloat | UnaryOp::Not => None,
                }
            }
            ExprKind::Binary(op, left, right) => {
                // The right one first: in a chain it is the short one.
                let right = self.fold_integer(right, depth)?;
                let left = self.fold_integer(left, depth)?;
                fold(*op, left, right)
            }
            _ => None,
        }
    }

    /// The value of a float expression, if it is known and computing it does nothing else.
    pub(super) fn constant_float(&mut self, expr: &Expr) -> Option<f64> {
        self.fold_float(expr, MAX_FOLDING)
    }

    fn fold_float(&mut self, expr: &Expr, depth: usize) -> Option<f64> {
        let depth = depth.checked_sub(1)?;
        match &expr.kind {
            ExprKind::Float(value) => Some(*value),
            ExprKind::Global(index) => match self.lowering.global_constant(*index) {
                Some(Constant::Float(bits)) => Some(f64::from_bits(bits)),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::NegFloat, inner) => Some(-self.fold_float(inner, depth)?),
            ExprKind::Builtin(Builtin::IntToFloat, list) => {
                Some(self.fold_integer(list.first()?, depth)? as f64)
            }
            ExprKind::Binary(op, left, right) => {
                let right = self.fold_float(right, depth)?;
                let left = self.fold_float(left, depth)?;
                let value = match op {
                    BinaryOp::AddFloat => left + right,
                    BinaryOp::SubFloat => left - right,
                    BinaryOp::MulFloat => left * right,
                    BinaryOp::DivFloat => left / right,
                    _ => return None,
                };
                // Which NaN an operation gives is the machine's affair.
                Some(value).filter(|value| !value.is_nan())
            }
            _ => None,
        }
    }
}

/// The value of an operation on two constants; division by zero is left to the running program.
fn fold(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    Some(match op {
        BinaryOp::AddInt => left.wrapping_add(right),
        BinaryOp::SubInt => left.wrapping_sub(right),
        BinaryOp::MulInt => left.wrapping_mul(right),
        BinaryOp::DivInt if right != 0 => left.wrapping_div(right),
        BinaryOp::RemInt if right != 0 => left.wrapping_rem(right),
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left.wrapping_shl(right as u32),
        BinaryOp::Shr => left.wrapping_shr(right as u32),
        BinaryOp::Ushr => (left as u64).wrapping_shr(right as u32) as i64,
        _ => return None,
    })
}

/// Writes the instruction that loads a constant.
fn load(buffer: &mut Buffer, constant: Constant, register: Register) {
    match constant {
        Constant::Int(value) => match i32::try_from(value) {
            Ok(value) => buffer.op_bc(Op::LoadInt, register.0, value as u32),
            Err(_) => buffer.wide(Op::LoadInt64, register.0, 0, value as u64),
        },
        Constant::Float(bits) => buffer.wide(Op::LoadFloat, register.0, 0, bits),
        Constant::Bool(value) => buffer.op_bc(Op::LoadBool, register.0, value as u32),
        Constant::Null(_) => buffer.op(Op::LoadNull, register.0, 0, 0),
        Constant::Object(global, _) => buffer.op_bc(Op::LoadGlobal, register.0, global.0),
    }
}
