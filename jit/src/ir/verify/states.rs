//! S1 to S6: that the interpreter's frames make sense.

use super::{END, Errors, Invariant, Verifier};
use crate::ir::{Op, StateId, StateKind, Ty, Value};
use holloway_bytecode::Register;
use std::fmt;

impl Verifier<'_> {
    pub(super) fn states(&self, errors: &mut Errors) {
        for state in self.used_states() {
            self.state(state, errors);
        }
        for &id in self.order() {
            let block = self.region.block(id);
            for (place, &value) in block.nodes.iter().enumerate() {
                let node = self.region.node(value);
                let name = self.name(value);
                if node.op.needs_state() != node.state.is_some() {
                    let what = if node.state.is_some() { "has a state" } else { "has no state" };
                    errors.add(Invariant::S1, name, what);
                }
                let Some(state) = node.state else { continue };
                let is_before = self.region.state(state).kind == StateKind::Before;
                if node.op.is_check() && !is_before {
                    errors.add(Invariant::S2, name, format!("s{} is not before an instruction", state.0));
                }
                if matches!(node.op, Op::Call(_) | Op::CallVirtual(..) | Op::CallInterface(..)) && is_before {
                    errors.add(Invariant::S2, name, format!("s{} is not during a call", state.0));
                }
                self.values_of_state(state, (id, place + 1), &name, errors);
            }
            if let Some(state) = block.end.state() {
                let name = format_args!("b{}", id.0);
                if self.region.state(state).kind != StateKind::Before {
                    errors.add(Invariant::S2, name, format!("s{} is not before an instruction", state.0));
                }
                self.values_of_state(state, (id, END), &name, errors);
            }
        }
    }

    /// What can be said of a state wherever it is used.
    fn state(&self, id: StateId, errors: &mut Errors) {
        let state = self.region.state(id);
        let name = format_args!("s{}", id.0);
        self.place(&name, state.inline, state.pc, errors);
        let inline = &self.region.inlines[state.inline.index()];
        let fits = match (inline.caller, state.caller) {
            (None, None) => true,
            (Some((caller, pc)), Some(frame)) => {
                let frame = self.region.state(frame);
                frame.inline == caller && frame.pc == pc && frame.kind != StateKind::Before
            }
            _ => false,
        };
        if !fits {
            errors.add(
                Invariant::S3,
                name,
                format!("is not in the frame of the caller of i{}", state.inline.0),
            );
        }
        let registers = &self.program.functions[inline.function.index()].registers;
        let exists = |register: Register| (register.0 as usize) < registers.len();
        if !state.registers.is_sorted_by(|a, b| a.0 < b.0) {
            errors.add(Invariant::S4, name, "its registers are not in ascending order");
        }
        if let StateKind::During(Some(register)) = state.kind
            && !exists(register)
        {
            errors.add(Invariant::S4, name, format!("there is no r{}", register.0));
        }
        for &(register, value) in &state.registers {
            if !exists(register) {
                errors.add(Invariant::S4, name, format!("there is no r{}", register.0));
            } else if !Ty::of(registers[register.0 as usize]).same_kind(self.region.ty(value)) {
                let what = format!("r{} is not of the kind of {}", register.0, self.name(value));
                errors.add(Invariant::S5, name, what);
            }
        }
    }

    /// That the values of a state are there for a user of it.
    fn values_of_state(
        &self,
        state: StateId,
        place: super::Place,
        name: &dyn fmt::Display,
        errors: &mut Errors,
    ) {
        // A chain that does not go up the tree is reported as such, and might not end.
        for (id, frame) in self.region.frames(state).take(self.region.inlines.len()) {
            let name = format_args!("{name} in s{}", id.0);
            frame.registers.iter().for_each(|&(_, value): &(Register, Value)| {
                self.used_at(value, place, Invariant::S6, &name, errors);
            });
        }
    }
}
