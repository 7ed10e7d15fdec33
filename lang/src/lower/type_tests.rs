//! `is`: tests of the type of a value, decided while compiling where the static type says enough.

use super::buffer::Label;
use super::constants::Constant;
use super::function::{FunctionLowering, Goal, Operand};
use crate::typed::{Expr, Ty, TyKind};
use holloway_bytecode::{ClassId, InterfaceId, Op, RefType, Register, Shape, Type};

/// What a reference is tested for. Null never passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Test {
    /// It is an instance of the class or a subclass.
    Class(ClassId),
    /// Its class implements the interface.
    Interface(InterfaceId),
    /// It is not null.
    NonNull,
}

impl Test {
    /// The test for a register type.
    pub(super) fn of(ty: Type) -> Test {
        match ty {
            Type::Ref(RefType { shape: Shape::Class(class), .. }) => Test::Class(class),
            Type::Ref(RefType { shape: Shape::Interface(interface), .. }) => Test::Interface(interface),
            _ => Test::NonNull,
        }
    }
}

/// What is known before the program runs.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Known {
    Always,
    Never,
    /// True unless null.
    IfNonNull,
    /// True if null.
    IfNull,
    /// True if null or of this type.
    IfNullOr(Test),
    If(Test),
}

impl<'p> FunctionLowering<'_, 'p> {
    fn known(&mut self, from: Ty, own: Type, to: Ty) -> Known {
        if from == Ty::NEVER {
            return Known::Never;
        }
        let kind = self.lowering.types.kind(to).clone();
        if self.lowering.primitive(from).is_some() {
            // A primitive is an instance of its own type and what that converts to.
            let inside = match kind {
                TyKind::Nullable(inner) => inner,
                _ => to,
            };
            return if inside == from || inside == Ty::ANY { Known::Always } else { Known::Never };
        }
        if to == Ty::NULL {
            return if from == Ty::NULL { Known::Always } else { Known::IfNull };
        }
        let wanted = match self.lowering.primitive(to) {
            Some(primitive) => Type::class(primitive.box_class()),
            None => self.representation(to),
        };
        if self.fits(own, wanted) {
            return Known::Always;
        }
        let fits_inside = self.fits(own.non_null(), wanted);
        match kind {
            TyKind::Nullable(_) => Known::IfNullOr(Test::of(wanted)),
            _ if fits_inside => Known::IfNonNull,
            _ => Known::If(Test::of(wanted)),
        }
    }

    /// Goes to `to` if "is the value of type `wanted`" is `sense`.
    pub(super) fn branch_if_is(
        &mut self,
        value: Operand,
        value_type: Ty,
        wanted: Ty,
        sense: bool,
        to: Label,
    ) {
        let own = self.registers.ty(value.register);
        let register = value.register;
        match self.known(value_type, own, wanted) {
            known @ (Known::Always | Known::Never) => {
                if (known == Known::Always) == sense && self.reachable() {
                    self.buffer.jump(to);
                }
            }
            Known::IfNonNull => {
                let op = if sense { Op::BrNonNull } else { Op::BrNull };
                self.buffer.branch(op, register.0, 0, to);
            }
            Known::IfNull => {
                let op = if sense { Op::BrNull } else { Op::BrNonNull };
                self.buffer.branch(op, register.0, 0, to);
            }
            Known::IfNullOr(test) => {
                let null = self.buffer.label();
                self.buffer.branch(Op::BrNull, register.0, 0, if sense { to } else { null });
                self.branch_if_instance(register, test, sense, to);
                self.buffer.bind(null);
            }
            Known::If(test) => self.branch_if_instance(register, test, sense, to),
        }
    }

    /// Goes to `no` unless the reference passes the test.
    pub(super) fn branch_unless_instance(&mut self, value: Register, test: Test, no: Label) {
        self.branch_if_instance(value, test, false, no);
    }

    fn branch_if_instance(&mut self, value: Register, test: Test, sense: bool, to: Label) {
        if test == Test::NonNull {
            let op = if sense { Op::BrNonNull } else { Op::BrNull };
            return self.buffer.branch(op, value.0, 0, to);
        }
        let answer = self.registers.allocate(Type::Bool);
        self.test(value, test, answer);
        self.registers.free(answer);
        self.branch_if_true(answer, sense, to);
    }

    fn test(&mut self, value: Register, test: Test, answer: Register) {
        match test {
            Test::Class(class) => self.buffer.wide(Op::Is, answer.0, value.0, class.0 as u64),
            Test::Interface(interface) => {
                self.buffer.wide(Op::IsInterface, answer.0, value.0, interface.0 as u64);
            }
            Test::NonNull => self.buffer.op(Op::SetNonNull, answer.0, value.0, 0),
        }
    }

    /// The value of `e is T`.
    pub(super) fn truth_of_is(
        &mut self,
        value: &'p Expr,
        wanted: Ty,
        condition: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let value_type = self.ty(value);
        let own = self.representation(value_type);
        let test = match self.known(value_type, own, wanted) {
            Known::Always | Known::Never => {
                let known = self.known(value_type, own, wanted) == Known::Always;
                self.discard(value);
                return self.constant(Constant::Bool(known), goal);
            }
            Known::IfNonNull => Test::NonNull,
            Known::If(test) => test,
            Known::IfNull | Known::IfNullOr(_) => return self.truth_by_branch(condition, goal),
        };
        let value = self.operand(value);
        self.release(value);
        let destination = self.destination(goal, Type::Bool);
        self.test(value.register, test, destination.register);
        destination
    }
}
