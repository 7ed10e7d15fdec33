//! Calls, and natives that are no calls in compiled code.

use super::{BuildError, Builder, Built};
use crate::ir::{FloatUnary, Op, Ty, Value};
use holloway_bytecode::code::Instruction;
use holloway_bytecode::{ClassId, FunctionId, InterfaceId, Native, Op as Code, Register, Shape, Type, calls};
use smallvec::SmallVec;

/// The node that computes what a native gives: for those that only compute, raise nothing and allocate nothing.
pub fn computed(native: Native) -> Option<Op> {
    use Native::*;
    Some(match native {
        Floor => Op::FloatUnary(FloatUnary::Floor),
        Ceil => Op::FloatUnary(FloatUnary::Ceil),
        FloatBits => Op::FloatBits,
        FloatFromBits => Op::FloatFromBits,
        StringEquals => Op::SameText,
        // Strings do not change.
        StringCompare | StringHash | StringIndexOf => Op::PureNative(native),
        Sin | Cos | Tan | Atan | Atan2 | Exp | Log | Pow | FloatRem | Round => Op::PureNative(native),
        _ => return None,
    })
}

impl Builder<'_, '_> {
    pub(super) fn call(&mut self, i: &Instruction<'_>) -> Built<()> {
        let args = i.args().map(|register| self.get(register.0)).collect::<Built<SmallVec<[Value; 3]>>>()?;
        let result = calls::call_result(self.program, self.function, i);
        let ty = result.map_or(Ty::None, Ty::of);
        let op = match i.op {
            Code::Call => Op::Call(FunctionId(i.bc())),
            Code::CallVirtual => Op::CallVirtual(self.receiver_class(i)?, i.bc()),
            Code::CallInterface => Op::CallInterface(InterfaceId(i.c as u32), i.b as u32),
            _ => {
                let native = Native::from_number(i.bc()).ok_or(BuildError::Unassigned)?;
                if let Some(op) = computed(native) {
                    let value = self.emit(op, &args, ty);
                    self.set(i.a, value);
                    return Ok(());
                }
                if let Native::BytesWord | Native::BytesSetWord = native {
                    return self.word_of_bytes(i);
                }
                Op::CallNative(native)
            }
        };
        let register = result.map(|_| Register(i.a));
        let state = self.during(register)?;
        let value = self.emit_with(op, &args, ty, Some(state));
        // Afterwards nothing is as before.
        self.before = None;
        if register.is_some() {
            self.set(i.a, value);
        }
        Ok(())
    }

    /// The class whose method table a virtual call names.
    fn receiver_class(&self, i: &Instruction<'_>) -> Built<ClassId> {
        let receiver = i.args().next().ok_or(BuildError::Unassigned)?;
        match self.function.registers[receiver.0 as usize] {
            Type::Ref(r) => match r.shape {
                Shape::Class(class) => Ok(class),
                _ => Err(BuildError::Unassigned),
            },
            _ => Err(BuildError::Unassigned),
        }
    }
}
