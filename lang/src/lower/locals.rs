//! Local variables: where they are, what is known of them, and when their registers are given back.
//!
//! A variable has a register of its own while its scope is open. Two things make that cheap. A variable that is never
//! assigned again may share the register of another value that stays as it is, so that `let y = x` writes nothing. And where
//! the checker knows more of a variable than its declaration says (it is not null, or of a subclass), the first use makes a
//! copy of the narrower type, which later uses in the same straight line share.

use super::function::{FunctionLowering, Goal, Operand, Target};
use super::walk;
use crate::span::Span;
use crate::typed::{Expr, LocalIndex, Ty};
use holloway_bytecode::{Op, Register, Type};

/// Where a local is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Home {
    /// Not declared yet.
    None,
    /// In a register.
    Register(Register),
    /// In field 0 of the cell in a register.
    Cell(Register),
}

/// What is known of a local that is never assigned again.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    /// It is this integer.
    pub(super) integer: Option<i64>,
}

/// A copy of a local of a narrower type.
#[derive(Clone, Copy)]
pub(super) struct Narrowed {
    /// None once the local was assigned. The entry stays, as scopes tell theirs from others by the length of the list.
    local: Option<LocalIndex>,
    ty: Type,
    register: Register,
}

/// What to go back to at the end of a scope.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    owned: usize,
    narrowed: usize,
    loaded: usize,
}

/// Copies of more locals than this are not remembered.
const MAX_NARROWED: usize = 64;

impl<'p> FunctionLowering<'_, 'p> {
    /// Begins a scope.
    pub(super) fn open_scope(&self) -> Scope {
        Scope { owned: self.owned.len(), narrowed: self.narrowed.len(), loaded: self.loaded.len() }
    }

    /// Ends a scope and gives back its registers. If the value needed after it is in one of them, that one is kept and
    /// belongs to the value from now on.
    pub(super) fn close_scope(&mut self, scope: Scope, value: Operand) -> Operand {
        self.forget_since(scope);
        let mut value = value;
        while self.owned.len() > scope.owned {
            let Some(register) = self.owned.pop() else { break };
            if !value.temporary && register == value.register {
                value.temporary = true;
                self.registers.clear_variable(register);
            } else {
                self.registers.free(register);
            }
        }
        value
    }

    /// At a place that control reaches on several ways, only that is known which was known at `scope`.
    pub(super) fn forget_since(&mut self, scope: Scope) {
        self.narrowed.truncate(scope.narrowed);
        self.loaded.truncate(scope.loaded);
    }

    /// The local is assigned: copies of its old value are worthless.
    pub(super) fn forget_local(&mut self, local: LocalIndex) {
        for copy in self.narrowed.iter_mut().filter(|copy| copy.local == Some(local)) {
            copy.local = None;
        }
    }

    /// Forgets copies of locals that `code`, which is about to be repeated, assigns.
    pub(super) fn forget_assigned(&mut self, code: &[&Expr]) {
        let assigned = &self.assigned;
        for copy in &mut self.narrowed {
            copy.local =
                copy.local.filter(|&local| !assigned.contains(local) || !walk::assigns_any(code, local));
        }
    }

    /// The concrete declared type of a local.
    pub(super) fn local_type(&mut self, local: LocalIndex) -> Ty {
        self.concrete(self.source_locals[local.index()].ty)
    }

    /// Does the local keep the value that it is declared with, in a register.
    pub(super) fn is_constant(&self, local: LocalIndex) -> bool {
        !self.source_locals[local.index()].celled && !self.assigned.contains(local)
    }

    /// Is the register the local's home.
    pub(super) fn is_in(&self, local: LocalIndex, register: Register) -> bool {
        self.homes[local.index()] == Home::Register(register)
    }

    /// Puts the parameters, which are in registers from `first` on, into their homes.
    pub(super) fn parameters(&mut self, first: u16, count: usize) {
        for at in 0..count {
            let register = Register(first + at as u16);
            let local = LocalIndex(at as u32);
            if self.source_locals[at].celled {
                self.new_cell(local, Operand::kept(register));
            } else {
                self.homes[at] = Home::Register(register);
                self.own_variable(local, register);
            }
        }
    }

    /// If the local is ever assigned, notes that the register changes with it.
    fn own_variable(&mut self, local: LocalIndex, register: Register) {
        if self.assigned.contains(local) {
            self.registers.set_variable(register, local);
        }
    }

    /// Declares a local with the value of an expression. `changes` tells whether a variable may be assigned while the
    /// local is alive.
    pub(super) fn declare(
        &mut self,
        local: LocalIndex,
        value: &'p Expr,
        changes: &dyn Fn(LocalIndex) -> bool,
    ) {
        if !self.reachable() {
            return;
        }
        if self.source_locals[local.index()].celled {
            let value = self.operand(value);
            self.new_cell(local, value);
        } else if self.is_constant(local) {
            self.known[local.index()].integer = self.constant_integer(value);
            let value = self.operand(value);
            self.adopt(local, value, changes);
        } else {
            let register = self.declare_register(local);
            self.into(value, Target { register, fresh: true });
        }
    }

    /// Declares a local of any kind with a value that was computed before.
    pub(super) fn define(&mut self, local: LocalIndex, value: Operand, changes: &dyn Fn(LocalIndex) -> bool) {
        if !self.reachable() {
            return;
        }
        if self.source_locals[local.index()].celled {
            self.new_cell(local, value);
        } else if self.is_constant(local) {
            self.adopt(local, value, changes);
        } else {
            let register = self.declare_register(local);
            self.release(value);
            self.buffer.op(Op::Mov, register.0, value.register.0, 0);
        }
    }

    /// Declares a local that is never assigned with a value that was computed before. It shares the register of the value
    /// unless that belongs to a variable that changes.
    fn adopt(&mut self, local: LocalIndex, value: Operand, changes: &dyn Fn(LocalIndex) -> bool) {
        self.forget_local(local);
        if !self.reachable() {
            return;
        }
        if value.temporary {
            self.owned.push(value.register);
            self.homes[local.index()] = Home::Register(value.register);
        } else if !self.registers.variable(value.register).is_some_and(changes) {
            self.homes[local.index()] = Home::Register(value.register);
        } else {
            let register = self.declare_register(local);
            self.buffer.op(Op::Mov, register.0, value.register.0, 0);
        }
    }

    /// Gives a local a register of its own.
    pub(super) fn declare_register(&mut self, local: LocalIndex) -> Register {
        let ty = self.local_type(local);
        let ty = self.representation(ty);
        let register = self.registers.allocate(ty);
        self.owned.push(register);
        self.homes[local.index()] = Home::Register(register);
        self.own_variable(local, register);
        self.forget_local(local);
        register
    }

    /// Gives a local a new cell that holds the value.
    fn new_cell(&mut self, local: LocalIndex, value: Operand) {
        let ty = self.local_type(local);
        let ty = self.representation(ty);
        let class = self.lowering.cell_class(ty);
        let cell = self.registers.allocate(Type::class(class));
        self.owned.push(cell);
        self.at(self.source_locals[local.index()].span);
        self.buffer.op_bc(Op::New, cell.0, class.0);
        self.put_field(value.register, cell, 0, ty);
        self.release(value);
        self.homes[local.index()] = Home::Cell(cell);
    }

    /// Reads a local as a value of the type `wanted`, which may be narrower than the local's.
    pub(super) fn read_local(&mut self, local: LocalIndex, wanted: Ty, goal: Goal, span: Span) -> Operand {
        match self.homes[local.index()] {
            Home::None => Operand::NONE,
            Home::Register(register) => {
                let ty = self.representation(wanted);
                if self.fits(self.registers.ty(register), ty) {
                    return self.put(Operand::kept(register), goal);
                }
                if let Some(copy) = self.narrowed.iter().find(|n| n.local == Some(local) && n.ty == ty) {
                    let copy = Operand::kept(copy.register);
                    return self.put(copy, goal);
                }
                let copy = self.narrow(Operand::kept(register), wanted, goal, span);
                if copy.temporary && self.narrowed.len() < MAX_NARROWED {
                    self.owned.push(copy.register);
                    self.narrowed.push(Narrowed { local: Some(local), ty, register: copy.register });
                    return Operand::kept(copy.register);
                }
                copy
            }
            Home::Cell(cell) => {
                let declared = self.local_type(local);
                let (ty, target) = (self.representation(declared), self.representation(wanted));
                if self.fits(ty, target) {
                    return self.get_field(Operand::kept(cell), 0, ty, goal);
                }
                let value = self.get_field(Operand::kept(cell), 0, ty, Goal::Anywhere);
                self.narrow(value, wanted, goal, span)
            }
        }
    }

    /// Assigns a local.
    pub(super) fn assign_local(&mut self, local: LocalIndex, value: &'p Expr) {
        match self.homes[local.index()] {
            Home::None => self.discard(value),
            Home::Register(register) => {
                self.into(value, Target { register, fresh: false });
                self.forget_local(local);
            }
            Home::Cell(cell) => {
                let ty = self.local_type(local);
                let ty = self.representation(ty);
                let value = self.operand(value);
                self.put_field(value.register, cell, 0, ty);
                self.release(value);
            }
        }
    }
}
