//! Instructions that compute: constants, arithmetic, comparisons, tests and casts.

use super::{Builder, Built};
use crate::ir::{Arith, Cond, FloatArith, FloatCond, FloatUnary, Op, Ty, Value};
use holloway_bytecode::code::Instruction;
use holloway_bytecode::{ClassId, GlobalId, InterfaceId, Op as Code, Shape, StringId, Type};

impl Builder<'_, '_> {
    /// An instruction of one or two words that goes on to the next.
    pub(super) fn instruction(&mut self, i: &Instruction<'_>) -> Built<()> {
        use Code::*;
        let (a, b, c) = (i.a, i.b, i.c);
        let constant = c as i16 as i64;
        let value = match i.op {
            Mov => self.get(b)?,
            LoadInt => self.int(i.bc() as i32 as i64),
            LoadBool => self.emit(Op::Bool(i.bc() != 0), &[], Ty::Bool),
            LoadInt64 => self.int(i.x() as i64),
            LoadFloat => self.emit(Op::Float(i.x()), &[], Ty::Float),
            LoadNull => {
                let ty = self.register_type(a);
                self.emit(Op::Null, &[], ty)
            }
            LoadString => self.emit(Op::Str(StringId(i.bc())), &[], Ty::exactly(ClassId::STRING)),
            LoadGlobal => self.load_global(GlobalId(i.bc()))?,
            StoreGlobal => {
                let value = self.get(a)?;
                self.emit(Op::StoreGlobal(GlobalId(i.bc())), &[value], Ty::None);
                return Ok(());
            }

            Add => self.arith(Arith::Add, b, c)?,
            Sub => self.arith(Arith::Sub, b, c)?,
            Mul => self.arith(Arith::Mul, b, c)?,
            And => self.arith(Arith::And, b, c)?,
            Or => self.arith(Arith::Or, b, c)?,
            Xor => self.arith(Arith::Xor, b, c)?,
            Shl => self.arith(Arith::Shl, b, c)?,
            Shr => self.arith(Arith::Shr, b, c)?,
            Ushr => self.arith(Arith::Ushr, b, c)?,
            Div => self.divide(Op::Div, b, c)?,
            Rem => self.divide(Op::Rem, b, c)?,
            AddI => self.immediate(Op::Arith(Arith::Add), b, constant)?,
            MulI => self.immediate(Op::Arith(Arith::Mul), b, constant)?,
            DivI => self.immediate(Op::Div, b, constant)?,
            RemI => self.immediate(Op::Rem, b, constant)?,
            AndI => self.immediate(Op::Arith(Arith::And), b, constant)?,
            OrI => self.immediate(Op::Arith(Arith::Or), b, constant)?,
            XorI => self.immediate(Op::Arith(Arith::Xor), b, constant)?,
            ShlI => self.immediate(Op::Arith(Arith::Shl), b, constant)?,
            ShrI => self.immediate(Op::Arith(Arith::Shr), b, constant)?,
            UshrI => self.immediate(Op::Arith(Arith::Ushr), b, constant)?,
            RSubI => {
                let (value, constant) = (self.get(b)?, self.int(constant));
                self.emit(Op::Arith(Arith::Sub), &[constant, value], Ty::Int)
            }

            FAdd => self.float(FloatArith::Add, b, c)?,
            FSub => self.float(FloatArith::Sub, b, c)?,
            FMul => self.float(FloatArith::Mul, b, c)?,
            FDiv => self.float(FloatArith::Div, b, c)?,
            FAddAdd => self.two_floats(FloatArith::Add, FloatArith::Add, i)?,
            FAddSub => self.two_floats(FloatArith::Add, FloatArith::Sub, i)?,
            FAddMul => self.two_floats(FloatArith::Add, FloatArith::Mul, i)?,
            FSubAdd => self.two_floats(FloatArith::Sub, FloatArith::Add, i)?,
            FSubSub => self.two_floats(FloatArith::Sub, FloatArith::Sub, i)?,
            FSubMul => self.two_floats(FloatArith::Sub, FloatArith::Mul, i)?,
            FMulAdd => self.two_floats(FloatArith::Mul, FloatArith::Add, i)?,
            FMulSub => self.two_floats(FloatArith::Mul, FloatArith::Sub, i)?,
            FMulMul => self.two_floats(FloatArith::Mul, FloatArith::Mul, i)?,
            FMulRSub => {
                let product = self.float(FloatArith::Mul, b, c)?;
                let from = self.get(i.n as u16)?;
                self.emit(Op::FloatArith(FloatArith::Sub), &[from, product], Ty::Float)
            }
            FNeg => self.unary(Op::FloatUnary(FloatUnary::Neg), b, Ty::Float)?,
            FAbs => self.unary(Op::FloatUnary(FloatUnary::Abs), b, Ty::Float)?,
            FSqrt => self.unary(Op::FloatUnary(FloatUnary::Sqrt), b, Ty::Float)?,
            IntToFloat => self.unary(Op::IntToFloat, b, Ty::Float)?,
            FloatToInt => self.unary(Op::FloatToInt, b, Ty::Int)?,

            Not => self.unary(Op::Not, b, Ty::Bool)?,
            SetEq => self.compare(Cond::Eq, b, c)?,
            SetNe => self.compare(Cond::Ne, b, c)?,
            SetLt => self.compare(Cond::Lt, b, c)?,
            SetLe => self.compare(Cond::Le, b, c)?,
            FSetEq => self.binary(Op::FloatCompare(FloatCond::Eq), b, c, Ty::Bool)?,
            FSetNe => self.binary(Op::FloatCompare(FloatCond::Ne), b, c, Ty::Bool)?,
            FSetLt => self.binary(Op::FloatCompare(FloatCond::Lt), b, c, Ty::Bool)?,
            FSetLe => self.binary(Op::FloatCompare(FloatCond::Le), b, c, Ty::Bool)?,
            RSetEq => self.binary(Op::Same, b, c, Ty::Bool)?,
            RSetNe => self.binary(Op::Same, b, c, Ty::Bool).map(|same| self.not(same))?,
            SSetEq => self.binary(Op::SameText, b, c, Ty::Bool)?,
            SSetNe => self.binary(Op::SameText, b, c, Ty::Bool).map(|same| self.not(same))?,
            SetNull => self.unary(Op::IsNull, b, Ty::Bool)?,
            SetNonNull => self.unary(Op::IsNull, b, Ty::Bool).map(|null| self.not(null))?,

            NonNull => self.non_null(b)?,
            Is => self.unary(Op::IsInstance(ClassId(i.x() as u32)), b, Ty::Bool)?,
            IsInterface => self.unary(Op::Implements(InterfaceId(i.x() as u32)), b, Ty::Bool)?,
            Cast => {
                let class = ClassId(i.x() as u32);
                self.cast(Op::CheckCast(class), Shape::Class(class), b)?
            }
            CastInterface => {
                let interface = InterfaceId(i.x() as u32);
                self.cast(Op::CheckInterface(interface), Shape::Interface(interface), b)?
            }
            _ => return self.memory(i),
        };
        self.set(a, value);
        Ok(())
    }

    /// An operation on one register.
    pub(super) fn unary(&mut self, op: Op, register: u16, ty: Ty) -> Built<Value> {
        let value = self.get(register)?;
        Ok(self.emit(op, &[value], ty))
    }

    /// An operation on two registers.
    pub(super) fn binary(&mut self, op: Op, x: u16, y: u16, ty: Ty) -> Built<Value> {
        let args = [self.get(x)?, self.get(y)?];
        Ok(self.emit(op, &args, ty))
    }

    /// A comparison of two registers.
    pub(super) fn compare(&mut self, condition: Cond, x: u16, y: u16) -> Built<Value> {
        self.binary(Op::Compare(condition), x, y, Ty::Bool)
    }

    /// A comparison of a register with a constant.
    pub(super) fn compare_constant(&mut self, condition: Cond, x: u16, constant: i64) -> Built<Value> {
        let args = [self.get(x)?, self.int(constant)];
        Ok(self.emit(Op::Compare(condition), &args, Ty::Bool))
    }

    fn arith(&mut self, op: Arith, x: u16, y: u16) -> Built<Value> {
        self.binary(Op::Arith(op), x, y, Ty::Int)
    }

    fn immediate(&mut self, op: Op, x: u16, constant: i64) -> Built<Value> {
        let args = [self.get(x)?, self.int(constant)];
        Ok(self.emit(op, &args, Ty::Int))
    }

    fn divide(&mut self, op: Op, x: u16, y: u16) -> Built<Value> {
        let (dividend, divisor) = (self.get(x)?, self.get(y)?);
        let divisor = self.check(Op::CheckDivisor, &[divisor], Ty::Int)?;
        Ok(self.emit(op, &[dividend, divisor], Ty::Int))
    }

    fn float(&mut self, op: FloatArith, x: u16, y: u16) -> Built<Value> {
        self.binary(Op::FloatArith(op), x, y, Ty::Float)
    }

    /// `(b first c) second d`.
    fn two_floats(&mut self, first: FloatArith, second: FloatArith, i: &Instruction<'_>) -> Built<Value> {
        let inner = self.float(first, i.b, i.c)?;
        let last = self.get(i.n as u16)?;
        Ok(self.emit(Op::FloatArith(second), &[inner, last], Ty::Float))
    }

    fn not(&mut self, value: Value) -> Value {
        self.emit(Op::Not, &[value], Ty::Bool)
    }

    fn non_null(&mut self, register: u16) -> Built<Value> {
        let value = self.get(register)?;
        let ty = self.region.ty(value);
        match ty.reference() {
            Some(r) if r.nullable => self.check(Op::CheckNull, &[value], ty.non_null()),
            _ => Ok(value),
        }
    }

    /// A checked cast. What is known already of the value stays known if it says more.
    fn cast(&mut self, op: Op, shape: Shape, register: u16) -> Built<Value> {
        let value = self.get(register)?;
        let known = self.region.ty(value);
        let ty = match known.reference() {
            Some(r) if r.shape.fits(shape, self.program) => known.non_null(),
            _ => Ty::of(Type::reference(shape)),
        };
        self.check(op, &[value], ty)
    }
}
