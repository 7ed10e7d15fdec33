//! Loops. They are turned around: a guard in front, the condition again at the end as the branch that goes back, so that
//! an iteration has one branch. Counted loops step, compare and go back in one instruction.
//!
//! `continue` goes to the condition at the end. A condition too long to be written twice stays at the top, and then
//! `continue` goes back there at once.

use super::buffer::Label;
use super::conditions::Comparison;
use super::constants::Constant;
use super::function::{FunctionLowering, Goal, LoopContext, Operand, Target};
use super::locals::Home;
use super::walk;
use crate::typed::{Expr, LocalIndex, LoopIndex, StmtKind};
use holloway_bytecode::{Op, Register, Type};

/// Conditions of at most about this many instructions are written twice.
const SHORT: usize = 8;

/// The bound of a counted loop.
#[derive(Clone, Copy)]
enum Bound {
    /// Known, and fits into an instruction.
    Constant(i16),
    Register(Register),
}

impl<'p> FunctionLowering<'_, 'p> {
    fn enter_loop(&mut self, id: LoopIndex, context: LoopContext) {
        if let Some(entry) = self.loops.get_mut(id.index()) {
            *entry = Some(context);
        }
    }

    /// `while`.
    pub(super) fn while_loop(&mut self, id: LoopIndex, condition: &'p Expr, body: &'p Expr) {
        self.forget_assigned(&[condition, body]);
        let pool = self.open_pool();
        let scope = self.open_scope();
        let exit = self.buffer.label();
        if walk::short(condition, SHORT).is_some() {
            let again = self.buffer.label();
            // The yieldpoint of the header has the place of the condition.
            self.at(condition.span);
            self.branch_if(condition, false, exit);
            self.forget_since(scope);
            let top = self.buffer.here();
            self.enter_loop(id, LoopContext { break_to: exit, continue_to: again, goal: Goal::Discard });
            self.discard(body);
            self.forget_since(scope);
            self.buffer.bind(again);
            self.at(condition.span);
            self.branch_if(condition, true, top);
        } else {
            self.at(condition.span);
            let top = self.buffer.here();
            self.enter_loop(id, LoopContext { break_to: exit, continue_to: top, goal: Goal::Discard });
            self.branch_if(condition, false, exit);
            self.discard(body);
            self.at(condition.span);
            self.buffer.jump(top);
        }
        self.close_scope(scope, Operand::NONE);
        self.close_pool(pool);
        self.buffer.bind(exit);
    }

    /// `while let`.
    pub(super) fn while_non_null(
        &mut self,
        id: LoopIndex,
        local: LocalIndex,
        value: &'p Expr,
        body: &'p Expr,
    ) {
        self.forget_assigned(&[value, body]);
        let pool = self.open_pool();
        let scope = self.open_scope();
        let exit = self.buffer.label();
        if walk::short(value, SHORT).is_some() {
            let again = self.buffer.label();
            self.at(value.span);
            let nullable = self.repeated_operand(value);
            self.repeat(value, nullable);
            self.buffer.branch(Op::BrNull, nullable.register.0, 0, exit);
            self.forget_since(scope);
            let top = self.buffer.here();
            self.enter_loop(id, LoopContext { break_to: exit, continue_to: again, goal: Goal::Discard });
            self.define_non_null(local, Operand::kept(nullable.register), &[body], value);
            self.discard(body);
            self.forget_since(scope);
            self.buffer.bind(again);
            self.repeat(value, nullable);
            self.at(value.span);
            self.buffer.branch(Op::BrNonNull, nullable.register.0, 0, top);
            self.release(nullable);
        } else {
            let top = self.buffer.here();
            self.enter_loop(id, LoopContext { break_to: exit, continue_to: top, goal: Goal::Discard });
            self.bind_non_null(local, value, exit, &[body]);
            self.discard(body);
            self.at(value.span);
            self.buffer.jump(top);
        }
        self.close_scope(scope, Operand::NONE);
        self.close_pool(pool);
        self.buffer.bind(exit);
    }

    /// A register for a value that is computed again and again: that of the variable, if it is one.
    fn repeated_operand(&mut self, value: &Expr) -> Operand {
        let ty = self.ty(value);
        let ty = self.representation(ty);
        match walk::plain_local(value).map(|local| self.homes[local.index()]) {
            Some(Home::Register(register)) if self.fits(self.registers.ty(register), ty) => {
                Operand::kept(register)
            }
            _ => Operand::temporary(self.registers.allocate(ty)),
        }
    }

    /// Computes the value of [`Self::repeated_operand`] anew.
    fn repeat(&mut self, value: &'p Expr, to: Operand) {
        self.into(value, Target { register: to.register, fresh: to.temporary });
    }

    /// `loop`. `break` has the goal of the whole.
    pub(super) fn endless_loop(&mut self, id: LoopIndex, body: &'p Expr, goal: Goal) {
        self.forget_assigned(&[body]);
        let pool = self.open_pool();
        let scope = self.open_scope();
        let exit = self.buffer.label();
        self.at(body.span);
        let top = self.buffer.here();
        self.enter_loop(id, LoopContext { break_to: exit, continue_to: top, goal });
        self.discard(body);
        self.at(body.span);
        self.buffer.jump(top);
        self.close_scope(scope, Operand::NONE);
        self.close_pool(pool);
        self.buffer.bind(exit);
    }

    /// `for x in e` over an array, bytes or a string.
    pub(super) fn for_each(&mut self, id: LoopIndex, local: LocalIndex, iterable: &'p Expr, body: &'p Expr) {
        let ty = self.ty(iterable);
        let element = self.element_of(ty);
        let array = self.operand(iterable);
        let array = self.keep_from(array, &[body]);
        if !self.reachable() {
            return;
        }
        let length = self.registers.allocate(Type::Int);
        let index = self.registers.allocate(Type::Int);
        self.buffer.op(Op::Length, length.0, array.register.0, 0);
        self.buffer.op_bc(Op::LoadInt, index.0, 0);
        self.forget_assigned(&[body]);
        let pool = self.open_pool();
        let scope = self.open_scope();
        let (exit, again) = (self.buffer.label(), self.buffer.label());
        self.branch_if_constant(Comparison::LessEqual, length, 0, exit);
        let top = self.buffer.here();
        self.enter_loop(id, LoopContext { break_to: exit, continue_to: again, goal: Goal::Discard });
        let value = self.registers.allocate(element.value_type());
        self.at(iterable.span);
        self.get_element(element, value, array.register, index);
        self.define(local, Operand::temporary(value), &|_| true);
        self.discard(body);
        self.close_scope(scope, Operand::NONE);
        self.buffer.bind(again);
        self.at(iterable.span);
        self.buffer.branch(Op::ForLt, index.0, length.0, top);
        self.close_pool(pool);
        self.buffer.bind(exit);
        self.registers.free(index);
        self.registers.free(length);
        self.release(array);
    }

    /// `for i in a..b step k`.
    pub(super) fn for_range(&mut self, statement: &'p StmtKind) {
        let StmtKind::ForRange { id, local, from, to, inclusive, step, body } = statement else { return };
        let outer = self.open_scope();
        let (first, last) = (self.constant_integer(from), self.constant_integer(to));
        let counter = self.counter(*local, from);
        let bound = match last.map(i16::try_from) {
            Some(Ok(constant)) => (Bound::Constant(constant), Operand::NONE),
            _ => {
                let value = self.operand(to);
                let value = self.keep_from(value, &[body]);
                (Bound::Register(value.register), value)
            }
        };
        self.forget_assigned(&[body]);
        let pool = self.open_pool();
        let scope = self.open_scope();
        let exit = self.buffer.label();
        self.at(to.span);
        let range = Range { from: first, last, bound: bound.0, inclusive: *inclusive, step: *step };
        self.guard(counter, range, exit);
        let stepping = self.stepping(counter, range);
        let (top, again) = (self.buffer.here(), self.buffer.label());
        if let Stepping::Before(_) = stepping {
            self.add(counter, *step);
        }
        if self.source_locals[local.index()].celled {
            self.define(*local, Operand::kept(counter), &|_| true);
        }
        self.enter_loop(*id, LoopContext { break_to: exit, continue_to: again, goal: Goal::Discard });
        self.discard(body);
        self.close_scope(scope, Operand::NONE);
        self.buffer.bind(again);
        self.at(to.span);
        match stepping {
            Stepping::One => self.branch_counted(counter, range, top),
            Stepping::After(comparison) => {
                self.add(counter, *step);
                self.branch_if_bound(comparison, counter, range.bound, top);
            }
            Stepping::Before(limit) => {
                let comparison = if *step > 0 { Comparison::Less } else { Comparison::Greater };
                self.branch_if_registers(comparison, counter, limit, top);
                self.registers.free(limit);
            }
        }
        self.close_pool(pool);
        self.buffer.bind(exit);
        self.release(bound.1);
        self.close_scope(outer, Operand::NONE);
    }

    /// A register that counts, with its first value: that of the loop variable, unless that lives in cells.
    fn counter(&mut self, local: LocalIndex, from: &'p Expr) -> Register {
        let register = if self.source_locals[local.index()].celled {
            let register = self.registers.allocate(Type::Int);
            self.owned.push(register);
            register
        } else {
            self.declare_register(local)
        };
        self.into(from, Target { register, fresh: true });
        register
    }

    /// Leaves if there is no first iteration.
    fn guard(&mut self, counter: Register, range: Range, exit: Label) {
        let comparison = range.continues().opposite();
        match (range.from, range.last) {
            (Some(from), Some(to)) => {
                if comparison.holds(from, to) {
                    self.buffer.jump(exit);
                }
            }
            _ => self.branch_if_bound(comparison, counter, range.bound, exit),
        }
    }

    fn branch_if_bound(&mut self, comparison: Comparison, counter: Register, bound: Bound, to: Label) {
        match bound {
            Bound::Constant(constant) => self.branch_if_constant(comparison, counter, constant, to),
            Bound::Register(bound) => self.branch_if_registers(comparison, counter, bound, to),
        }
    }

    /// The one instruction that ends a loop of step one.
    fn branch_counted(&mut self, counter: Register, range: Range, top: Label) {
        let (op, bound) = match (range.bound, range.inclusive) {
            (Bound::Constant(constant), false) => (Op::ForLtI, constant as u16),
            (Bound::Constant(constant), true) => (Op::ForLeI, constant as u16),
            (Bound::Register(register), false) => (Op::ForLt, register.0),
            (Bound::Register(register), true) => (Op::ForLe, register.0),
        };
        self.buffer.branch(op, counter.0, bound, top);
    }

    /// How the loop steps; for [`Stepping::Before`], takes the first step back.
    fn stepping(&mut self, counter: Register, range: Range) -> Stepping {
        if range.step == 1 {
            return Stepping::One;
        }
        if range.cannot_wrap() {
            return Stepping::After(range.continues());
        }
        let limit = self.limit(range);
        self.add(counter, range.step.wrapping_neg());
        Stepping::Before(limit)
    }

    /// The value that the counter must be below (above, if the step is negative) for another step to stay in the range.
    fn limit(&mut self, range: Range) -> Register {
        let limit = self.registers.allocate(Type::Int);
        let up = range.step > 0;
        let inclusive = match (range.inclusive, up) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => -1,
        };
        let distance = range.step.wrapping_neg().wrapping_add(inclusive);
        if let Some(last) = range.last {
            let exact = last as i128 - range.step as i128 + inclusive as i128;
            let value = exact.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
            self.load_integer(value, limit);
            return limit;
        }
        let Bound::Register(bound) = range.bound else { return limit };
        self.add_to(limit, bound, distance);
        // If that wrapped, no second step stays in the range.
        let exact = self.buffer.label();
        let (comparison, extreme) = match up {
            true => (Comparison::LessEqual, i64::MIN),
            false => (Comparison::GreaterEqual, i64::MAX),
        };
        self.branch_if_registers(comparison, limit, bound, exact);
        self.load_integer(extreme, limit);
        self.buffer.bind(exact);
        limit
    }

    fn load_integer(&mut self, value: i64, register: Register) {
        let goal = Goal::At(Target { register, fresh: true });
        self.constant(Constant::Int(value), goal);
    }

    fn add(&mut self, register: Register, value: i64) {
        self.add_to(register, register, value);
    }

    fn add_to(&mut self, target: Register, register: Register, value: i64) {
        match i16::try_from(value) {
            Ok(value) => self.buffer.op(Op::AddI, target.0, register.0, value as u16),
            Err(_) => {
                let value = self.integer(value);
                self.buffer.op(Op::Add, target.0, register.0, value.register.0);
                self.release(value);
            }
        }
    }
}

/// A range that is counted through.
#[derive(Clone, Copy)]
struct Range {
    /// The first value, if known.
    from: Option<i64>,
    /// The bound, if known.
    last: Option<i64>,
    bound: Bound,
    inclusive: bool,
    step: i64,
}

/// How a counted loop steps.
#[derive(Clone, Copy)]
enum Stepping {
    /// By one, in the instruction at the end.
    One,
    /// At the end, then compares with the bound: the step cannot wrap around.
    After(Comparison),
    /// At the top, after comparing with a limit that leaves room for it.
    Before(Register),
}

impl Range {
    /// How the counter relates to the bound inside the range.
    fn continues(self) -> Comparison {
        match (self.step > 0, self.inclusive) {
            (true, false) => Comparison::Less,
            (true, true) => Comparison::LessEqual,
            (false, false) => Comparison::Greater,
            (false, true) => Comparison::GreaterEqual,
        }
    }

    /// Is the last value of the counter plus the step always an integer.
    fn cannot_wrap(self) -> bool {
        if self.step == -1 && !self.inclusive {
            return true;
        }
        let Some(last) = self.last else { return false };
        let beyond = last as i128 + self.step as i128;
        beyond >= i64::MIN as i128 && beyond <= i64::MAX as i128
    }
}
