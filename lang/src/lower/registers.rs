//! The registers of a function being lowered. Each has one type for the whole function; those given back are used
//! again for values of the same type, last one first, so that small functions have small frames.

use crate::typed::{FixedHasher, LocalIndex};
use hashbrown::HashMap;
use holloway_bytecode::{Register, Type};

/// More registers than this are refused with an error (numbers have 16 bits).
pub(super) const MAX_REGISTERS: usize = 60_000;

/// The registers of one function.
#[derive(Default)]
pub(super) struct Registers {
    types: Vec<Type>,
    free: HashMap<Type, Vec<Register>, FixedHasher>,
    /// For each register, the local that it belongs to if that is assigned again.
    variables: Vec<Option<LocalIndex>>,
}

impl Registers {
    /// A register that holds nothing needed.
    pub(super) fn allocate(&mut self, ty: Type) -> Register {
        match self.free.get_mut(&ty).and_then(Vec::pop) {
            Some(register) => register,
            None => self.allocate_new(ty),
        }
    }

    /// A register that nothing before has used.
    pub(super) fn allocate_new(&mut self, ty: Type) -> Register {
        if self.types.len() > MAX_REGISTERS {
            // Reported when the function is finished; its code is thrown away.
            return Register(0);
        }
        self.types.push(ty);
        self.variables.push(None);
        Register(self.types.len() as u16 - 1)
    }

    /// The register is not needed any more.
    pub(super) fn free(&mut self, register: Register) {
        if self.overflowed() {
            return;
        }
        let ty = self.ty(register);
        self.variables[register.0 as usize] = None;
        let list = self.free.entry(ty).or_default();
        debug_assert!(!list.contains(&register), "register freed twice");
        list.push(register);
    }

    /// The type of a register. Values that are never computed have none; any will do for them.
    pub(super) fn ty(&self, register: Register) -> Type {
        self.types.get(register.0 as usize).copied().unwrap_or(Type::Int)
    }

    /// The register belongs to a local that is assigned again.
    pub(super) fn set_variable(&mut self, register: Register, local: LocalIndex) {
        if let Some(variable) = self.variables.get_mut(register.0 as usize) {
            *variable = Some(local);
        }
    }

    /// The local with which the register changes.
    pub(super) fn variable(&self, register: Register) -> Option<LocalIndex> {
        self.variables.get(register.0 as usize).copied().flatten()
    }

    /// The register belongs to a value now.
    pub(super) fn clear_variable(&mut self, register: Register) {
        if let Some(variable) = self.variables.get_mut(register.0 as usize) {
            *variable = None;
        }
    }

    /// There were too many.
    pub(super) fn overflowed(&self) -> bool {
        self.types.len() > MAX_REGISTERS
    }

    /// The types of all registers.
    pub(super) fn into_types(self) -> Vec<Type> {
        self.types
    }
}
