//! Patterns: the tests that a value must pass, and the names that they bind on the way.

use super::buffer::Label;
use super::conditions::Comparison;
use super::constants::Constant;
use super::function::{FunctionLowering, Goal, Operand};
use super::layouts::Primitive;
use super::matching::Subject;
use crate::span::Span;
use crate::typed::{LocalIndex, Pattern, Ty, TyKind};
use holloway_bytecode::{ClassId, Op, Register, Shape, Type};

impl<'p> FunctionLowering<'_, 'p> {
    /// Goes to `otherwise` if the value does not match; without it, the value is known to match. Binds what is inside; a name
    /// for the whole value is left to the caller.
    pub(super) fn test_pattern(&mut self, pattern: &'p Pattern, subject: Subject, otherwise: Option<Label>) {
        if !self.reachable() {
            return;
        }
        match (pattern, otherwise) {
            (Pattern::Any | Pattern::Bind(_), _) => {}
            (Pattern::Variant(variant, payload), otherwise) => {
                let Some(subject) = self.as_non_null(subject, otherwise) else { return };
                if let Some(otherwise) = otherwise {
                    self.test_variant(*variant, subject, otherwise);
                }
                self.test_payload(*variant, payload, subject, otherwise);
            }
            (Pattern::Is(ty, local), otherwise) => self.test_type(*ty, *local, subject, otherwise),
            // The others bind nothing.
            (_, None) => {}
            (Pattern::Null, Some(otherwise)) => match self.is_nullable(subject.register) {
                true => self.buffer.branch(Op::BrNonNull, subject.register.0, 0, otherwise),
                false => self.buffer.jump(otherwise),
            },
            (Pattern::Bool(value), Some(otherwise)) => {
                if let Some(own) = self.primitive_inside(subject, Primitive::Bool, otherwise) {
                    self.branch_if_true(own, !value, otherwise);
                }
            }
            (Pattern::Int(value), Some(otherwise)) => {
                if let Some(own) = self.primitive_inside(subject, Primitive::Int, otherwise) {
                    self.branch_if_known(Comparison::NotEqual, own, *value, otherwise);
                }
            }
            (Pattern::Range(from, to), Some(otherwise)) => {
                if let Some(own) = self.primitive_inside(subject, Primitive::Int, otherwise) {
                    self.branch_if_known(Comparison::Less, own, *from, otherwise);
                    self.branch_if_known(Comparison::Greater, own, *to, otherwise);
                }
            }
            (Pattern::Float(value), Some(otherwise)) => {
                if let Some(own) = self.primitive_inside(subject, Primitive::Float, otherwise) {
                    let value = self.constant(Constant::Float(value.to_bits()), Goal::Anywhere);
                    self.release(value);
                    self.branch_if_floats(Comparison::Equal, own, value.register, false, otherwise);
                }
            }
            (Pattern::Str(text), Some(otherwise)) => self.test_text(text, subject, otherwise),
            (Pattern::Or(list), Some(otherwise)) => {
                let Some((last, others)) = list.split_last() else { return };
                let matched = self.buffer.label();
                // Behind an alternative, what another one loaded may not have been loaded.
                let scope = self.open_scope();
                for pattern in others {
                    let next = self.buffer.label();
                    self.test_pattern(pattern, subject, Some(next));
                    self.buffer.jump(matched);
                    self.forget_since(scope);
                    self.buffer.bind(next);
                }
                self.test_pattern(last, subject, Some(otherwise));
                self.forget_since(scope);
                self.buffer.bind(matched);
            }
        }
    }

    fn branch_if_known(&mut self, comparison: Comparison, own: Register, value: i64, to: Label) {
        match i16::try_from(value) {
            Ok(value) => self.branch_if_constant(comparison, own, value, to),
            Err(_) => {
                let value = self.integer(value);
                self.release(value);
                self.branch_if_registers(comparison, own, value.register, to);
            }
        }
    }

    /// The scope gives the register back.
    fn keep(&mut self, value: Operand) -> Register {
        if value.temporary {
            self.owned.push(value.register);
        }
        value.register
    }

    /// The value without null, which goes to `otherwise`.
    fn as_non_null(&mut self, subject: Subject, otherwise: Option<Label>) -> Option<Subject> {
        let TyKind::Nullable(inner) = *self.lowering.types.kind(subject.ty) else { return Some(subject) };
        if let Some(otherwise) = otherwise {
            self.buffer.branch(Op::BrNull, subject.register.0, 0, otherwise);
        }
        if !self.reachable() {
            return None;
        }
        let span = self.lowering.place;
        let inside = self.narrow(Operand::kept(subject.register), inner, Goal::Anywhere, span);
        Some(Subject::new(self.keep(inside), inner))
    }

    /// The primitive that a value is or has inside; whatever else it is goes to `otherwise`.
    fn primitive_inside(
        &mut self,
        subject: Subject,
        primitive: Primitive,
        otherwise: Label,
    ) -> Option<Register> {
        match self.lowering.primitive(subject.ty) {
            Some(own) if own == primitive => return Some(subject.register),
            Some(_) => {
                self.buffer.jump(otherwise);
                return None;
            }
            None => {}
        }
        let ty = match primitive {
            Primitive::Int => Ty::INT,
            Primitive::Float => Ty::FLOAT,
            Primitive::Bool => Ty::BOOL,
        };
        let value = Operand::kept(subject.register);
        self.branch_if_is(value, subject.ty, ty, false, otherwise);
        if !self.reachable() {
            return None;
        }
        let inside = self.unbox(value, primitive, Goal::Anywhere);
        Some(self.keep(inside))
    }

    fn test_variant(&mut self, variant: usize, subject: Subject, otherwise: Label) {
        let ordinal = match subject.ordinal {
            Some(ordinal) => ordinal,
            None => {
                let value = Operand::kept(subject.register);
                let ordinal = self.get_field(value, super::enums::ORDINAL, Type::Int, Goal::Anywhere);
                self.release(ordinal);
                ordinal.register
            }
        };
        self.branch_if_known(Comparison::NotEqual, ordinal, variant as i64, otherwise);
    }

    /// Tests and binds the payload of a value known to be of the variant.
    pub(super) fn test_payload(
        &mut self,
        variant: usize,
        payload: &'p [Pattern],
        subject: Subject,
        otherwise: Option<Label>,
    ) {
        if !self.reachable() || payload.iter().all(|inner| matches!(inner, Pattern::Any)) {
            return;
        }
        let types = self.payload_types(variant, subject.ty);
        let class = self.lowering.class_of(subject.ty);
        let span = self.lowering.place;
        let object = self.as_variant(Operand::kept(subject.register), class, variant, span);
        let object = self.keep(object);
        for (at, inner) in payload.iter().enumerate() {
            if matches!(inner, Pattern::Any) || !self.reachable() {
                continue;
            }
            let (field, ty) = self.payload_field(class, variant, at);
            let value = self.get_field(Operand::kept(object), field, ty, Goal::Anywhere);
            if let Pattern::Bind(local) = inner {
                self.bind_inside(*local, value, types[at], span);
            } else {
                let register = self.keep(value);
                self.test_pattern(inner, Subject::new(register, types[at]), otherwise);
            }
        }
    }

    fn bind_inside(&mut self, local: LocalIndex, value: Operand, ty: Ty, span: Span) {
        let wanted = self.local_type(local);
        let value = if wanted == ty { value } else { self.narrow(value, wanted, Goal::Anywhere, span) };
        self.define(local, value, &|_| true);
    }

    /// The concrete types of a variant's payload.
    fn payload_types(&mut self, variant: usize, ty: Ty) -> Vec<Ty> {
        let TyKind::Enum(index, arguments) = self.lowering.types.kind(ty).clone() else { return Vec::new() };
        let source = &self.lowering.declarations.enums[index.index()];
        let environment = super::instances::Environment::new(&source.params, arguments);
        let fields = source.variants[variant].fields.iter();
        fields.map(|field| self.lowering.substitute(field.ty, &environment)).collect()
    }

    fn test_type(&mut self, ty: Ty, local: Option<LocalIndex>, subject: Subject, otherwise: Option<Label>) {
        let ty = self.concrete(ty);
        let value = Operand::kept(subject.register);
        if let Some(otherwise) = otherwise {
            self.branch_if_is(value, subject.ty, ty, false, otherwise);
        }
        let Some(local) = local.filter(|_| self.reachable()) else { return };
        let span = self.source_locals[local.index()].span;
        let value = self.narrow(value, ty, Goal::Anywhere, span);
        self.define(local, value, &|_| true);
    }

    fn test_text(&mut self, text: &str, subject: Subject, otherwise: Label) {
        let mut own = subject.register;
        // Texts are compared with null, too.
        let is_text = |ty: Type| matches!(ty, Type::Ref(r) if r.shape == Shape::Class(ClassId::STRING));
        if !is_text(self.registers.ty(own)) {
            let value = Operand::kept(own);
            self.branch_if_is(value, subject.ty, Ty::STRING, false, otherwise);
            if !self.reachable() {
                return;
            }
            let span = self.lowering.place;
            let inside = self.narrow(value, Ty::STRING, Goal::Anywhere, span);
            own = self.keep(inside);
        }
        let wanted = self.text(text, Goal::Anywhere);
        self.release(wanted);
        self.buffer.branch(Op::SBrNe, own.0, wanted.register.0, otherwise);
    }
}
