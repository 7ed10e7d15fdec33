//! Expressions: what each kind becomes, given where its value should go.
//!
//! [`FunctionLowering::evaluate`] is the one entrance. Control structures hand the goal on to their branches, so that a
//! branch writes its value where it is needed, or returns it, and nothing is moved afterwards. All other kinds are leaves: they
//! compute a value into a register, and what the goal asks beyond that is done in one place.

use super::calls::Arguments;
use super::function::{FunctionLowering, Goal, Operand, Target};
use super::layouts::Callee;
use super::walk;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, GlobalIndex, LocalIndex, Ty, TyKind};
use holloway_bytecode::{Op, Type};

impl<'p> FunctionLowering<'_, 'p> {
    /// Lowers an expression; the goal says what to do with its value.
    pub(super) fn evaluate(&mut self, expr: &'p Expr, goal: Goal) -> Operand {
        if !self.reachable() {
            return Operand::NONE;
        }
        match &expr.kind {
            ExprKind::Block(statements, value) => {
                let scope = self.open_scope();
                self.statements(statements, value.as_deref());
                let result = match value {
                    Some(value) => self.evaluate(value, goal),
                    None => self.no_value(goal),
                };
                self.close_scope(scope, result)
            }
            ExprKind::If(..)
            | ExprKind::IfNonNull { .. }
            | ExprKind::Match { .. }
            | ExprKind::Loop(..)
            | ExprKind::Try(..) => self.control(expr, goal),
            ExprKind::Convert(inner) => self.convert(expr, inner, goal),
            ExprKind::Return(_) | ExprKind::Throw(_) | ExprKind::Break(..) | ExprKind::Continue(_) => {
                self.leave(expr);
                Operand::NONE
            }
            _ => self.leaf_for(expr, goal),
        }
    }

    /// A control structure. Its branches all write the value, so they need to know one register.
    fn control(&mut self, expr: &'p Expr, goal: Goal) -> Operand {
        let ty = self.ty(expr);
        let (goal, result) = match goal {
            Goal::Anywhere if ty == Ty::NEVER => (Goal::Discard, Operand::NONE),
            Goal::Anywhere => {
                let ty = self.representation(ty);
                let register = self.registers.allocate(ty);
                (Goal::At(Target { register, fresh: true }), Operand::temporary(register))
            }
            Goal::At(target) => (goal, Operand::kept(target.register)),
            Goal::Discard | Goal::Return => (goal, Operand::NONE),
        };
        match &expr.kind {
            ExprKind::If(condition, then, otherwise) => {
                self.choose(condition, then, otherwise.as_deref(), goal);
            }
            ExprKind::IfNonNull { local, value, then, otherwise } => {
                self.choose_non_null(*local, value, then, otherwise.as_deref(), goal);
            }
            ExprKind::Match { scrutinee, local, arms } => self.choose_arm(scrutinee, *local, arms, goal),
            ExprKind::Loop(id, body) => self.endless_loop(*id, body, goal),
            ExprKind::Try(body, catches) => self.attempt(body, catches, goal),
            _ => {}
        }
        result
    }

    /// `return`, `throw`, `break`, `continue`.
    fn leave(&mut self, expr: &'p Expr) {
        match &expr.kind {
            ExprKind::Return(value) => {
                self.leaving += 1;
                match value {
                    Some(value) => self.evaluate(value, Goal::Return),
                    None => self.no_value(Goal::Return),
                };
                self.leaving -= 1;
            }
            ExprKind::Throw(error) => {
                self.leaving += 1;
                let error = self.operand(error);
                self.leaving -= 1;
                self.release(error);
                self.at(expr.span);
                self.buffer.op(Op::Throw, error.register.0, 0, 0);
            }
            ExprKind::Break(id, value) => {
                let Some(context) = self.enclosing(*id) else { return };
                match value {
                    Some(value) => self.evaluate(value, context.goal),
                    None => self.no_value(context.goal),
                };
                self.buffer.jump(context.break_to);
            }
            ExprKind::Continue(id) => {
                let Some(context) = self.enclosing(*id) else { return };
                self.buffer.jump(context.continue_to);
            }
            _ => {}
        }
    }

    /// What the goal asks of a value of type `Unit` that nothing computes.
    pub(super) fn no_value(&mut self, goal: Goal) -> Operand {
        match goal {
            Goal::Return if !self.reachable() => Operand::NONE,
            Goal::Return if self.result.is_none() => {
                self.buffer.op(Op::ReturnUnit, 0, 0, 0);
                Operand::NONE
            }
            Goal::Return => {
                let value = self.unit(Goal::Anywhere);
                self.returned(value, goal)
            }
            _ if !self.reachable() => Operand::NONE,
            _ => self.unit(goal),
        }
    }

    fn leaf_for(&mut self, expr: &'p Expr, goal: Goal) -> Operand {
        let ty = self.ty(expr);
        match goal {
            Goal::Return if ty == Ty::NEVER || self.result.is_none() => {
                let value = self.leaf(expr, Goal::Discard);
                self.release(value);
                // The way back, or after a call that never returns, whatever ends the code.
                self.never();
                Operand::NONE
            }
            Goal::Return if matches!(expr.kind, ExprKind::And(..) | ExprKind::Or(..)) => {
                self.return_truth(expr);
                Operand::NONE
            }
            Goal::Return => {
                let value = self.leaf(expr, Goal::Anywhere);
                self.returned(value, goal)
            }
            Goal::Discard => {
                let value = self.leaf(expr, goal);
                self.release(value);
                if ty == Ty::NEVER {
                    self.never();
                }
                Operand::NONE
            }
            _ if ty == Ty::NEVER => {
                let value = self.leaf(expr, Goal::Discard);
                self.release(value);
                self.never();
                Operand::NONE
            }
            Goal::Anywhere | Goal::At(_) => self.leaf(expr, goal),
        }
    }

    /// Returns the value if that is the goal.
    pub(super) fn returned(&mut self, value: Operand, goal: Goal) -> Operand {
        if !matches!(goal, Goal::Return) {
            return value;
        }
        self.buffer.op(Op::Return, value.register.0, 0, 0);
        self.release(value);
        Operand::NONE
    }

    /// The value in any register.
    pub(super) fn operand(&mut self, expr: &'p Expr) -> Operand {
        self.evaluate(expr, Goal::Anywhere)
    }

    /// The value in this register.
    pub(super) fn into(&mut self, expr: &'p Expr, target: Target) {
        self.evaluate(expr, Goal::At(target));
    }

    /// Only what the expression does, not its value.
    pub(super) fn discard(&mut self, expr: &'p Expr) {
        self.evaluate(expr, Goal::Discard);
    }

    /// Several values, left to right. A variable is used where it is, unless a later operand assigns it.
    pub(super) fn operands(&mut self, list: &[&'p Expr]) -> Vec<Operand> {
        let mut values = Vec::with_capacity(list.len());
        for (at, expr) in list.iter().enumerate() {
            let value = self.operand(expr);
            values.push(self.keep_from(value, &list[at + 1..]));
        }
        values
    }

    /// Two values, left to right.
    pub(super) fn two_operands(&mut self, left: &'p Expr, right: &'p Expr) -> (Operand, Operand) {
        let first = self.operand(left);
        let first = self.keep_from(first, &[right]);
        (first, self.operand(right))
    }

    /// Copies the value if it is in the register of a variable that `later` assigns.
    pub(super) fn keep_from(&mut self, value: Operand, later: &[&Expr]) -> Operand {
        if value.temporary || later.is_empty() {
            return value;
        }
        match self.registers.variable(value.register) {
            Some(local) if walk::assigns_any(later, local) => {
                let copy = self.registers.allocate(self.registers.ty(value.register));
                self.buffer.op(Op::Mov, copy.0, value.register.0, 0);
                Operand::temporary(copy)
            }
            _ => value,
        }
    }

    /// Kinds without control flow of their own. With [`Goal::At`] the value is in that register afterwards.
    fn leaf(&mut self, expr: &'p Expr, goal: Goal) -> Operand {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Str(_) => {
                self.literal(expr, goal)
            }
            ExprKind::Null => {
                let ty = self.ty(expr);
                let ty = self.representation(ty);
                self.null(ty, goal)
            }
            ExprKind::Unit => self.unit(goal),
            ExprKind::Local(local) => self.variable(*local, expr, goal),
            ExprKind::Global(index) => self.read_global(*index, expr.span, goal),
            ExprKind::FunctionValue(function, types) => self.function_value(*function, types, expr, goal),
            ExprKind::Variant(variant) => {
                let ty = self.ty(expr);
                let class = self.lowering.class_of(ty);
                let global = self.lowering.variant_global(class, *variant);
                self.singleton(global, class, goal)
            }
            ExprKind::NewVariant(variant, payload) => self.new_variant(*variant, payload, expr, goal),
            ExprKind::ArrayLiteral(list) => self.array_literal(list, expr, goal),
            ExprKind::New(_, arguments) => self.new_object(arguments, expr, goal),
            ExprKind::SuperInit(superclass, arguments) => {
                self.super_init(*superclass, arguments, expr.span, goal)
            }
            ExprKind::Call(function, types, arguments) => {
                self.call_direct(*function, types, arguments, expr, goal)
            }
            ExprKind::CallVirtual { receiver, name, args } => {
                let ty = self.ty(receiver);
                let class = self.lowering.class_of(ty);
                let callee = self.lowering.callee(class, name);
                self.call_method(callee, class, Arguments { receiver, rest: args }, expr, goal)
            }
            ExprKind::CallInterface { receiver, interface, method, args } => {
                let interface = self.concrete(*interface);
                self.call_interface(interface, *method, Arguments { receiver, rest: args }, expr, goal)
            }
            ExprKind::CallBound { receiver, interface, method, args } => {
                self.call_bound(*interface, *method, Arguments { receiver, rest: args }, expr, goal)
            }
            ExprKind::CallClosure(closure, args) => {
                let ty = self.ty(closure);
                let class = self.lowering.class_of(ty);
                let arguments = Arguments { receiver: closure, rest: args };
                self.call_method(Callee::Slot(0), class, arguments, expr, goal)
            }
            ExprKind::Builtin(builtin, arguments) => self.builtin(*builtin, arguments, expr, goal),
            ExprKind::Closure(closure) => self.closure(closure, expr, goal),
            ExprKind::Field(object, field) => self.read_field(object, *field, goal),
            ExprKind::VariantOrdinal(object) => {
                let object = self.operand(object);
                self.get_field(object, super::enums::ORDINAL, Type::Int, goal)
            }
            ExprKind::Index(array, index) => self.read_element(array, index, expr.span, goal),
            ExprKind::NonNull(inner) => {
                let wanted = self.ty(expr);
                let value = self.operand(inner);
                let value = match self.lowering.types.kind(wanted) {
                    // Of a `T?` where `T` stands for a type that may itself be null: its register would take null, too.
                    TyKind::Nullable(_) => self.without_null(value, expr.span),
                    _ => value,
                };
                self.narrow(value, wanted, goal, expr.span)
            }
            ExprKind::Unary(op, inner) => self.unary(*op, inner, expr, goal),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr, goal),
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Equals { .. } | ExprKind::Is(..) => {
                self.truth(expr, goal)
            }
            ExprKind::Cast(inner) => self.cast(inner, expr, goal),
            ExprKind::CastNullable(inner) => self.cast_or_null(inner, expr, goal),
            // The rest is handled by `evaluate`.
            _ => Operand::NONE,
        }
    }

    fn variable(&mut self, local: LocalIndex, expr: &'p Expr, goal: Goal) -> Operand {
        if matches!(goal, Goal::Discard) {
            return Operand::NONE;
        }
        let wanted = self.ty(expr);
        self.read_local(local, wanted, goal, expr.span)
    }

    /// A conversion to a wider type. It does nothing, or boxes.
    fn convert(&mut self, expr: &'p Expr, inner: &'p Expr, goal: Goal) -> Operand {
        let (from, to) = (self.ty(inner), self.ty(expr));
        if matches!(goal, Goal::Discard) || from == Ty::NEVER || from == to {
            return self.evaluate(inner, goal);
        }
        let goal_of_value = if matches!(goal, Goal::Return) { Goal::Anywhere } else { goal };
        if from == Ty::NULL {
            // What has the type `Null` is `null` itself, or control flow that ends in it.
            self.discard(inner);
            if !self.reachable() {
                return Operand::NONE;
            }
            let ty = self.representation(to);
            let value = self.null(ty, goal_of_value);
            return self.returned(value, goal);
        }
        match self.lowering.primitive(from) {
            Some(primitive) if self.representation(to).is_ref() => {
                let value = self.operand(inner);
                let value = self.box_value(value, primitive, goal_of_value);
                self.returned(value, goal)
            }
            _ => self.evaluate(inner, goal),
        }
    }

    fn read_global(&mut self, index: GlobalIndex, span: Span, goal: Goal) -> Operand {
        if let Some(constant) = self.lowering.global_constant(index) {
            return self.constant(constant, goal);
        }
        let global = self.lowering.global(index);
        let ty = self.lowering.program.globals[global.index()].ty;
        let destination = self.destination(goal, ty);
        self.at(span);
        self.buffer.op_bc(Op::LoadGlobal, destination.register.0, global.0);
        destination
    }
}
