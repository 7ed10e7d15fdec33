//! Invariants O: operands are what the opcode table says, whatever the opcode.

use super::opcodes::{OpInfo, RegisterOperand};
use super::{Invariant, Verifier};
use crate::calls::{callee, static_class};
use crate::code::{Instruction, decode};
use crate::ops::{Kind, Op, Operand, Place, Role};
use crate::program::Function;
use crate::types::{ClassId, Register, Shape, Type};

/// Checks the operands of an instruction; false if they are not all sound. `kinds` are those of the registers.
#[inline]
pub(super) fn check(
    v: &mut Verifier<'_>,
    function: &Function,
    pc: usize,
    word: u64,
    info: &OpInfo,
    kinds: &[u8],
) -> bool {
    let fits = |operand: &RegisterOperand| {
        let register = operand.register(word);
        kinds.get(register as usize).is_some_and(|kind| kind & operand.kinds != 0)
    };
    let simple = info.registers().iter().all(fits) && !info.immediates && !info.bits_agree;
    simple || check_slowly(v, function, pc)
}

/// The same, one operand after the other, with a message for each that is wrong.
fn check_slowly(v: &mut Verifier<'_>, function: &Function, pc: usize) -> bool {
    let Some(i) = &decode(&function.code, pc) else { return false };
    let before = v.errors.len();
    // The type that operands of kind `Bits` have, once one was seen.
    let mut bits = None;
    for operand in i.op.operands() {
        if operand.role == Role::Imm {
            immediate(v, function, pc, i, operand);
            continue;
        }
        let number = i.operand(operand.place);
        let Some(&ty) = function.registers.get(number as usize) else {
            v.error(Invariant::O1, pc, format!("there is no register r{number}"));
            continue;
        };
        let right = match (operand.kind, ty) {
            (Kind::Any, _)
            | (Kind::Int, Type::Int)
            | (Kind::Float, Type::Float)
            | (Kind::Bool, Type::Bool) => true,
            (Kind::Ref, Type::Ref(_)) => true,
            (Kind::NonNull, Type::Ref(r)) => !r.nullable,
            (Kind::Text, Type::Ref(r)) => r.shape == Shape::Class(ClassId::STRING),
            (Kind::Bits, Type::Int | Type::Bool) => *bits.get_or_insert(ty) == ty,
            _ => false,
        };
        if !right {
            let message = format!("`{}` cannot use r{number} of type {} here", i.op.mnemonic(), v.name(ty));
            v.error(Invariant::O2, pc, message);
        }
    }
    v.errors.len() == before
}

/// O3 and O4, and the registers of lists.
fn immediate(v: &mut Verifier<'_>, function: &Function, pc: usize, i: &Instruction<'_>, operand: &Operand) {
    let value = i.operand(operand.place);
    let exists = |length: usize| (value as usize) < length;
    let p = v.program;
    let (what, there) = match operand.kind {
        Kind::Class => ("a class", exists(p.classes.len())),
        Kind::Interface => ("an interface", exists(p.interfaces.len())),
        Kind::String => ("a string", exists(p.strings.len())),
        Kind::Global => ("a global", exists(p.globals.len())),
        Kind::Field => {
            let object = i.op.operands().iter().rfind(|o| o.role == Role::Use && o.kind == Kind::NonNull);
            let register = object.map(|o| Register(i.operand(o.place) as u16));
            match register.and_then(|register| static_class(p, function, register)) {
                Some(class) => ("a field", exists(class.fields().len())),
                // That there is no such class is for T4 to say.
                None => return,
            }
        }
        Kind::Slot => match i.args().next().and_then(|receiver| static_class(p, function, receiver)) {
            Some(class) => ("a method", exists(class.methods.len())),
            // That there is no such receiver is for T7 to say.
            None => return,
        },
        Kind::Function | Kind::InterfaceMethod | Kind::Native => {
            ("a callee", callee(p, function, i).is_some())
        }
        Kind::Args => {
            for argument in i.args().filter(|r| r.0 as usize >= function.registers.len()) {
                v.error(Invariant::O1, pc, format!("there is no register r{}", argument.0));
            }
            return;
        }
        Kind::Flag if value > 1 => {
            v.error(Invariant::O4, pc, format!("the flag {value} is neither 0 nor 1"));
            return;
        }
        Kind::Cases if value == 0 => {
            v.error(Invariant::O4, pc, "the switch has no cases");
            return;
        }
        Kind::Int16 if value == 0 && operand.place == Place::C && matches!(i.op, Op::DivI | Op::RemI) => {
            v.error(Invariant::O4, pc, format!("`{}` divides by 0", i.op.mnemonic()));
            return;
        }
        // Of a result, only its callee says whether there is one: T8.
        _ => return,
    };
    if !there {
        v.error(Invariant::O3, pc, format!("`{}` names {what} that does not exist", i.op.mnemonic()));
    }
}
