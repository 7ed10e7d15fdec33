//! What a call calls, as far as its static types say: one place that printer, verifier and compilers ask.

use crate::code::Instruction;
use crate::natives::{Native, NativeType};
use crate::ops::Op;
use crate::program::{Class, Function, Program, Signature};
use crate::types::*;

/// The target of a call.
#[derive(Clone, Copy, Debug)]
pub enum Callee<'a> {
    /// A function; its first registers are the parameters.
    Function(&'a Function),
    /// A slot of a method table, of a class or an interface; the receiver is not part of the signature.
    Method(&'a Signature),
    /// The system.
    Native(Native),
}

impl Callee<'_> {
    /// The type of the result, `None` for nothing. `first` is the type of the call's first argument, which some natives
    /// give back.
    pub fn result(&self, first: Option<Type>) -> Option<Type> {
        match self {
            Callee::Function(function) => function.result,
            Callee::Method(signature) => signature.result,
            Callee::Native(native) => match (native.result()?, first) {
                (NativeType::Object, Some(first)) => Some(first),
                (ty, _) => Some(ty.ty()),
            },
        }
    }
}

/// The target of a call in `function`; `None` if the instruction is none, or names nothing that exists.
pub fn callee<'a>(program: &'a Program, function: &Function, call: &Instruction<'_>) -> Option<Callee<'a>> {
    match call.op {
        Op::Call => program.functions.get(call.bc() as usize).map(Callee::Function),
        Op::CallVirtual => {
            let class = static_class(program, function, call.args().next()?)?;
            class.methods.get(call.bc() as usize).map(|m| Callee::Method(&m.signature))
        }
        Op::CallInterface => {
            let interface = program.interfaces.get(call.c as usize)?;
            interface.methods.get(call.b as usize).map(|m| Callee::Method(&m.signature))
        }
        Op::CallNative => Native::from_number(call.bc()).map(Callee::Native),
        _ => None,
    }
}

/// The type of a call's result; `None` if it has none (then no register is written).
pub fn call_result(program: &Program, function: &Function, call: &Instruction<'_>) -> Option<Type> {
    let first = call.args().next().and_then(|r| function.registers.get(r.0 as usize).copied());
    callee(program, function, call)?.result(first)
}

/// The class that the type of a register names.
pub fn static_class<'a>(program: &'a Program, function: &Function, register: Register) -> Option<&'a Class> {
    match function.registers.get(register.0 as usize)? {
        Type::Ref(RefType { shape: Shape::Class(class), .. }) => program.classes.get(class.index()),
        _ => None,
    }
}
