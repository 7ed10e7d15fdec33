//! Objects, variants and arrays: making them, reading and writing what is in them.

use super::enums::ORDINAL;
use super::function::{FunctionLowering, Goal, Operand, Target};
use super::inits::is_zero;
use crate::span::Span;
use crate::typed::{ClassIndex, Expr, Ty, TyKind};
use holloway_bytecode::{ClassId, Element, Layout, Op, Register, Type};

impl<'p> FunctionLowering<'_, 'p> {
    /// Number and type of a field of a class, counted from the root.
    fn field(&mut self, object: &Expr, field: usize) -> (u16, Type) {
        let ty = self.ty(object);
        let class = self.lowering.class_of(ty);
        self.lowering.complete_class(class);
        (field as u16, self.lowering.program.classes[class.index()].fields()[field].ty)
    }

    /// `o.f`.
    pub(super) fn read_field(&mut self, object: &'p Expr, field: usize, goal: Goal) -> Operand {
        let (field, ty) = self.field(object, field);
        let object = self.operand(object);
        self.get_field(object, field, ty, goal)
    }

    /// `o.f = e`.
    pub(super) fn write_field(&mut self, object: &'p Expr, field: usize, value: &'p Expr) {
        let (field, ty) = self.field(object, field);
        let (object, value) = self.two_operands(object, value);
        self.put_field(value.register, object.register, field, ty);
        self.release(value);
        self.release(object);
    }

    /// Reads a field of an object.
    pub(super) fn get_field(&mut self, object: Operand, field: u16, ty: Type, goal: Goal) -> Operand {
        self.release(object);
        let destination = self.destination(goal, ty);
        self.buffer.op(Op::GetField, destination.register.0, object.register.0, field);
        destination
    }

    /// Writes a field of type `ty`.
    pub(super) fn put_field(&mut self, value: Register, object: Register, field: u16, ty: Type) {
        let op = if ty.is_ref() { Op::PutRef } else { Op::PutField };
        self.buffer.op(op, value.0, object.0, field);
    }

    /// Field number and type of a payload field.
    pub(super) fn payload_field(&mut self, class: ClassId, variant: usize, field: usize) -> (u16, Type) {
        let layout = self.lowering.enum_layout(class);
        let of_variant = &layout.variants[variant];
        let at = of_variant.fields[field];
        (at, self.lowering.program.classes[of_variant.class.index()].fields()[at as usize].ty)
    }

    /// The enum value as one that the payload of the variant can be read from.
    pub(super) fn as_variant(
        &mut self,
        object: Operand,
        class: ClassId,
        variant: usize,
        span: Span,
    ) -> Operand {
        let own = self.lowering.enum_layout(class).variants[variant].class;
        if own == class {
            return object;
        }
        self.at(span);
        self.cast_reference(object, Type::class(own), Goal::Anywhere)
    }

    /// A new variant with payload.
    pub(super) fn new_variant(
        &mut self,
        variant: usize,
        payload: &'p [Expr],
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let ty = self.ty(expr);
        let base = self.lowering.class_of(ty);
        let layout = self.lowering.enum_layout(base);
        let class = layout.variants[variant].class;
        let values = self.operands(&payload.iter().collect::<Vec<_>>());
        let object = self.object_destination(goal, class, &values);
        self.at(expr.span);
        self.buffer.op_bc(Op::New, object.register.0, class.0);
        if variant != 0 {
            let ordinal = self.integer(variant as i64);
            self.put_field(ordinal.register, object.register, ORDINAL, Type::Int);
            self.release(ordinal);
        }
        for (value, &field) in values.into_iter().zip(&layout.variants[variant].fields) {
            let ty = self.lowering.program.classes[class.index()].fields()[field as usize].ty;
            self.put_field(value.register, object.register, field, ty);
            self.release(value);
        }
        self.put(object, goal)
    }

    /// `C(args)`.
    pub(super) fn new_object(&mut self, arguments: &'p [Expr], expr: &'p Expr, goal: Goal) -> Operand {
        let ty = self.ty(expr);
        let TyKind::Class(index, types) = self.lowering.types.kind(ty).clone() else { return Operand::NONE };
        let class = self.lowering.class_of(ty);
        self.lowering.instantiate(class);
        let values = self.operands(&arguments.iter().collect::<Vec<_>>());
        let object = self.object_destination(goal, class, &values);
        self.at(expr.span);
        self.buffer.op_bc(Op::New, object.register.0, class.0);
        self.call_init(index, types, object.register, values, expr.span);
        self.put(object, goal)
    }

    /// `super(args)` in an `init`.
    pub(super) fn super_init(
        &mut self,
        superclass: Ty,
        arguments: &'p [Expr],
        span: Span,
        goal: Goal,
    ) -> Operand {
        let superclass = self.concrete(superclass);
        let TyKind::Class(index, types) = self.lowering.types.kind(superclass).clone() else {
            return Operand::NONE;
        };
        let values = self.operands(&arguments.iter().collect::<Vec<_>>());
        self.call_init(index, types, Register(0), values, span);
        self.unit(goal)
    }

    /// Runs the `init` of a class on an object, if it has one that does anything.
    fn call_init(
        &mut self,
        class: ClassIndex,
        types: Vec<Ty>,
        object: Register,
        values: Vec<Operand>,
        span: Span,
    ) {
        let declarations = self.lowering.declarations;
        match declarations.classes[class.index()].init {
            Some(init) if !declarations.does_nothing(init, &self.lowering.types) => {
                self.lowering.place = span;
                let init = self.lowering.instance(init, types);
                let mut all = vec![Operand::kept(object)];
                all.extend(values);
                self.finish_call(Op::Call, init.0, &all, None, Goal::Discard, span);
            }
            _ => values.into_iter().for_each(|value| self.release(value)),
        }
    }

    /// A register for a new object that is written before the arguments of its making were read. The one asked for will do
    /// if it is not one of them, and if nobody can see that it was written should the making fail.
    fn object_destination(&mut self, goal: Goal, class: ClassId, arguments: &[Operand]) -> Operand {
        if let Goal::At(Target { register, fresh }) = goal {
            let seen = self.protected > 0 || arguments.iter().any(|argument| argument.register == register);
            if (fresh || !seen) && self.registers.ty(register) == Type::class(class) {
                return Operand::kept(register);
            }
        }
        Operand::temporary(self.registers.allocate(Type::class(class)))
    }

    /// What the elements of an array, bytes or string are.
    pub(super) fn element_of(&mut self, array: Ty) -> Element {
        let class = self.lowering.class_of(array);
        match self.lowering.program.classes[class.index()].layout {
            Layout::Array(element) => element,
            _ => Element::Byte,
        }
    }

    /// `a[i]`.
    pub(super) fn read_element(
        &mut self,
        array: &'p Expr,
        index: &'p Expr,
        span: Span,
        goal: Goal,
    ) -> Operand {
        let ty = self.ty(array);
        let element = self.element_of(ty);
        let (array, index) = self.two_operands(array, index);
        self.release(index);
        self.release(array);
        let destination = match element {
            Element::Ref(reference) if !reference.nullable => {
                self.non_null_destination(goal, element.value_type())
            }
            _ => self.destination(goal, element.value_type()),
        };
        self.at(span);
        self.get_element(element, destination.register, array.register, index.register);
        self.put(destination, goal)
    }

    /// `a[i] = e`.
    pub(super) fn write_element(&mut self, array: &'p Expr, index: &'p Expr, value: &'p Expr, span: Span) {
        let ty = self.ty(array);
        let element = self.element_of(ty);
        let values = self.operands(&[array, index, value]);
        self.at(span);
        self.put_element(element, values[2].register, values[0].register, values[1].register);
        for value in values {
            self.release(value);
        }
    }

    /// Reads an element.
    pub(super) fn get_element(
        &mut self,
        element: Element,
        destination: Register,
        array: Register,
        index: Register,
    ) {
        let op = match element {
            Element::Byte | Element::Bool => Op::GetByte,
            Element::Ref(reference) if !reference.nullable => Op::GetElem,
            Element::Int | Element::Float | Element::Ref(_) => Op::GetWord,
        };
        self.buffer.op(op, destination.0, array.0, index.0);
    }

    /// Writes an element.
    fn put_element(&mut self, element: Element, value: Register, array: Register, index: Register) {
        let op = match element {
            Element::Byte | Element::Bool => Op::PutByte,
            Element::Int | Element::Float => Op::PutWord,
            Element::Ref(_) => Op::PutElem,
        };
        self.buffer.op(op, value.0, array.0, index.0);
    }

    /// `[a, b, c]`. The array is made first, so that a long literal does not need a register for each element.
    pub(super) fn array_literal(&mut self, list: &'p [Expr], expr: &'p Expr, goal: Goal) -> Operand {
        let ty = self.ty(expr);
        let class = self.lowering.class_of(ty);
        let element = self.element_of(ty);
        let array = self.early_destination(goal, Type::class(class));
        let length = self.integer(list.len() as i64);
        self.at(expr.span);
        self.buffer.wide(Op::NewArray, array.register.0, length.register.0, class.0 as u64);
        self.release(length);
        let index = self.registers.allocate(Type::Int);
        for (at, item) in list.iter().enumerate() {
            if is_zero(item) {
                continue;
            }
            let value = self.operand(item);
            self.buffer.op_bc(Op::LoadInt, index.0, at as u32);
            self.put_element(element, value.register, array.register, index);
            self.release(value);
        }
        self.registers.free(index);
        self.put(array, goal)
    }
}
