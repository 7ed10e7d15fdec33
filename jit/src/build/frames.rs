//! Values of registers, and frame states made of them.

use super::{BuildError, Builder, Built};
use crate::ir::{FrameState, Op, StateId, StateKind, Ty, Value};
use holloway_bytecode::Register;

impl Builder<'_, '_> {
    /// The value of a register.
    pub(super) fn get(&self, register: u16) -> Built<Value> {
        self.env[register as usize].ok_or(BuildError::Unassigned)
    }

    /// Sets a register.
    pub(super) fn set(&mut self, register: u16, value: Value) {
        self.env[register as usize] = Some(value);
    }

    /// The type of a register.
    pub(super) fn register_type(&self, register: u16) -> Ty {
        Ty::of(self.function.registers[register as usize])
    }

    /// An integer constant.
    pub(super) fn int(&mut self, value: i64) -> Value {
        self.emit(Op::Int(value), &[], Ty::Int)
    }

    /// The frame of this method with these registers, and those of its callers.
    pub(super) fn state(&mut self, pc: u32, kind: StateKind, live: &[Register]) -> Built<StateId> {
        let with_value = |&register: &Register| Ok((register, self.get(register.0)?));
        let registers = live.iter().map(with_value).collect::<Built<Vec<_>>>()?;
        let state =
            FrameState { inline: self.inline, pc, kind, told: self.told, registers, caller: self.caller };
        Ok(self.region.add_state(state))
    }

    /// The state before the present instruction; all that need it share one.
    pub(super) fn before(&mut self) -> Built<StateId> {
        if let Some((pc, state)) = self.before
            && pc == self.pc
        {
            return Ok(state);
        }
        let live = self.live.before(self.pc).ok_or(BuildError::Unassigned)?;
        let state = self.state(self.pc, StateKind::Before, &live)?;
        self.before = Some((self.pc, state));
        Ok(state)
    }

    /// The state while the present instruction, a call, runs.
    pub(super) fn during(&mut self, result: Option<Register>) -> Built<StateId> {
        let live = self.live.across(self.pc).ok_or(BuildError::Unassigned)?;
        self.state(self.pc, StateKind::During(result), &live)
    }

    /// A check before the present instruction.
    pub(super) fn check(&mut self, op: Op, args: &[Value], ty: Ty) -> Built<Value> {
        let state = self.before()?;
        Ok(self.emit_with(op, args, ty, Some(state)))
    }
}
