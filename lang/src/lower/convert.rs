//! Changing the form of a value: boxing, unboxing, narrowing, casts.
//!
//! A conversion to a wider reference type needs no code: registers of narrower types fit. A conversion to a narrower one needs
//! an instruction even where it cannot fail, because a register has one type.

use super::function::{FunctionLowering, Goal, Operand, Target};
use super::layouts::{Incomplete, Primitive};
use super::type_tests::Test;
use crate::span::Span;
use crate::typed::{Expr, Ty, TyKind};
use holloway_bytecode::{Op, RefType, Shape, Type};

impl<'p> FunctionLowering<'_, 'p> {
    /// May a value of one register type be used as one of another.
    pub(super) fn fits(&mut self, own: Type, wanted: Type) -> bool {
        if own == wanted {
            return true;
        }
        if let (Type::Ref(RefType { shape: Shape::Class(class), .. }), Type::Ref(_)) = (own, wanted) {
            // Its interfaces must be known.
            self.lowering.complete(Incomplete::Class(class));
        }
        own.fits(wanted, &self.lowering.program)
    }

    /// A value known to be of the narrower type `wanted` or null, in a register of that type. Null raises an error.
    pub(super) fn narrow(&mut self, value: Operand, wanted: Ty, goal: Goal, span: Span) -> Operand {
        let own = self.registers.ty(value.register);
        let ty = self.representation(wanted);
        if self.fits(own, ty) {
            return self.put(value, goal);
        }
        self.at(span);
        if let Some(primitive) = self.lowering.primitive(wanted) {
            return self.unbox(value, primitive, goal);
        }
        if own.is_ref() && self.fits(own.non_null(), ty) {
            self.release(value);
            let destination = self.non_null_destination(goal, ty);
            self.buffer.op(Op::NonNull, destination.register.0, value.register.0, 0);
            return self.put(destination, goal);
        }
        self.cast_operand(value, wanted, goal)
    }

    /// The value in a register that does not take null. Null raises an error.
    pub(super) fn without_null(&mut self, value: Operand, span: Span) -> Operand {
        if !self.is_nullable(value.register) {
            return value;
        }
        self.at(span);
        self.release(value);
        let ty = self.registers.ty(value.register).non_null();
        let inside = self.registers.allocate(ty);
        self.buffer.op(Op::NonNull, inside.0, value.register.0, 0);
        Operand::temporary(inside)
    }

    /// The value inside a box that is known not to be null (or raises an error).
    pub(super) fn unbox(&mut self, value: Operand, primitive: Primitive, goal: Goal) -> Operand {
        let boxed = Type::class(primitive.box_class());
        let own = self.registers.ty(value.register);
        let mut value = value;
        if own != boxed {
            self.release(value);
            let inside = self.registers.allocate(boxed);
            if own == boxed.nullable() {
                self.buffer.op(Op::NonNull, inside.0, value.register.0, 0);
            } else {
                self.buffer.wide(Op::Cast, inside.0, value.register.0, primitive.box_class().0 as u64);
            }
            value = Operand::temporary(inside);
        }
        self.get_field(value, 0, primitive.ty(), goal)
    }

    /// A box that holds the value.
    pub(super) fn box_value(&mut self, value: Operand, primitive: Primitive, goal: Goal) -> Operand {
        let op = match primitive {
            Primitive::Int => Op::BoxInt,
            Primitive::Float => Op::BoxFloat,
            Primitive::Bool => Op::BoxBool,
        };
        self.release(value);
        let destination = self.non_null_destination(goal, Type::class(primitive.box_class()));
        self.buffer.op(op, destination.register.0, value.register.0, 0);
        self.put(destination, goal)
    }

    /// The value as a reference: a primitive is boxed.
    pub(super) fn as_reference(&mut self, value: Operand, ty: Ty) -> Operand {
        match self.lowering.primitive(ty) {
            Some(primitive) => self.box_value(value, primitive, Goal::Anywhere),
            None => value,
        }
    }

    /// `e as T`.
    pub(super) fn cast(&mut self, inner: &'p Expr, expr: &'p Expr, goal: Goal) -> Operand {
        let (from, to) = (self.ty(inner), self.ty(expr));
        let value = self.operand(inner);
        self.at(expr.span);
        if self.lowering.primitive(from).is_some() && from == to {
            return self.put(value, goal);
        }
        let value = self.as_reference(value, from);
        let own = self.registers.ty(value.register);
        let ty = self.representation(to);
        if self.fits(own, ty) {
            return self.put(value, goal);
        }
        if !matches!(self.lowering.types.kind(to), TyKind::Nullable(_)) {
            return self.cast_to(value, to, goal);
        }
        if !matches!(own, Type::Ref(RefType { nullable: true, .. })) {
            // Not null. A primitive stays in its box.
            let ty = ty.non_null();
            return self.cast_reference(value, ty, goal);
        }
        // Null passes. The result is written on two ways, so it needs a register of the final type.
        let scope = self.open_scope();
        let (null, end) = (self.buffer.label(), self.buffer.label());
        self.buffer.branch(Op::BrNull, value.register.0, 0, null);
        let cast = self.cast_reference(Operand::kept(value.register), ty.non_null(), Goal::Anywhere);
        let destination = self.destination(goal, ty);
        self.buffer.op(Op::Mov, destination.register.0, cast.register.0, 0);
        self.release(cast);
        self.buffer.jump(end);
        self.buffer.bind(null);
        self.null(ty, Goal::At(Target { register: destination.register, fresh: false }));
        self.buffer.bind(end);
        self.release(value);
        self.forget_since(scope);
        destination
    }

    /// A cast to a type that is not nullable; primitives come out of their boxes.
    fn cast_to(&mut self, value: Operand, to: Ty, goal: Goal) -> Operand {
        match self.lowering.primitive(to) {
            Some(primitive) => {
                let boxed = Type::class(primitive.box_class());
                let cast = self.cast_reference(value, boxed, Goal::Anywhere);
                self.get_field(cast, 0, primitive.ty(), goal)
            }
            None => self.cast_operand(value, to, goal),
        }
    }

    fn cast_operand(&mut self, value: Operand, to: Ty, goal: Goal) -> Operand {
        let ty = self.representation(to);
        self.cast_reference(value, ty, goal)
    }

    /// The reference as one of the type `to`, which is not nullable, or a `CastError`.
    pub(super) fn cast_reference(&mut self, value: Operand, to: Type, goal: Goal) -> Operand {
        self.release(value);
        let destination = self.non_null_destination(goal, to);
        let (target, source) = (destination.register.0, value.register.0);
        match to {
            Type::Ref(RefType { shape: Shape::Class(class), .. }) => {
                self.buffer.wide(Op::Cast, target, source, class.0 as u64);
            }
            Type::Ref(RefType { shape: Shape::Interface(interface), .. }) => {
                self.buffer.wide(Op::CastInterface, target, source, interface.0 as u64);
            }
            _ => self.buffer.op(Op::NonNull, target, source, 0),
        }
        self.put(destination, goal)
    }

    /// `e as? T`.
    pub(super) fn cast_or_null(&mut self, inner: &'p Expr, expr: &'p Expr, goal: Goal) -> Operand {
        let (from, to) = (self.ty(inner), self.ty(expr));
        let value = self.operand(inner);
        let value = self.as_reference(value, from);
        let ty = self.representation(to);
        let own = self.registers.ty(value.register);
        if self.fits(own, ty) {
            return self.put(value, goal);
        }
        let (no, end) = (self.buffer.label(), self.buffer.label());
        self.branch_unless_instance(value.register, Test::of(ty), no);
        self.at(expr.span);
        let cast = self.cast_reference(Operand::kept(value.register), ty.non_null(), Goal::Anywhere);
        let destination = self.destination(goal, ty);
        self.buffer.op(Op::Mov, destination.register.0, cast.register.0, 0);
        self.release(cast);
        self.buffer.jump(end);
        self.buffer.bind(no);
        self.null(ty, Goal::At(Target { register: destination.register, fresh: false }));
        self.buffer.bind(end);
        self.release(value);
        destination
    }
}
