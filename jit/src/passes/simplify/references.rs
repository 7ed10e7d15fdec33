//! Rules for references: what static types and the class hierarchy say about null, identity and classes.

use super::{Outcome, Simplifier, become_bool, become_int, become_op};
use crate::ir::{Op, RefTy, Ty, Value};
use crate::passes::devirtualize::target_of;
use holloway_bytecode::{ClassId, Shape};

/// What is known of a question about the class of an object that is not null.
enum Answer {
    Always,
    Never,
    Sometimes,
}

impl Simplifier<'_> {
    /// May a value be used where one of this type was.
    pub(super) fn fits(&self, value: Value, expected: Ty) -> bool {
        match (self.reference(value), expected) {
            (Some(_), Ty::Ref(expected)) if self.region.op(value) == Op::Null => expected.nullable,
            (Some(actual), Ty::Ref(expected)) => actual.fits(expected, self.input.program),
            _ => false,
        }
    }

    /// What is known of a reference; one to a class that nothing extends is exact.
    fn reference(&self, value: Value) -> Option<RefTy> {
        let mut ty = self.region.ty(value).reference()?;
        ty.exact |= ty.class().is_some_and(|class| self.input.hierarchy.is_leaf(self.input.program, class));
        Some(ty)
    }

    fn is_non_null(&self, value: Value) -> bool {
        self.region.ty(value).reference().is_some_and(|ty| !ty.nullable)
    }

    /// The classes that an object of this type can be of; `None` if nothing is known.
    fn classes(&self, ty: RefTy) -> Option<&[ClassId]> {
        let classes = self.input.hierarchy.classes(ty.shape)?;
        match ty.class() {
            // The list is in order of numbers, and so the class itself comes first if it has instances.
            Some(class) if ty.exact => {
                Some(if classes.first() == Some(&class) { &classes[..1] } else { &[] })
            }
            _ => Some(classes),
        }
    }

    /// Is an object of this type of the class that the operation asks for.
    fn answer(&self, op: Op, ty: RefTy) -> Answer {
        let program = self.input.program;
        let is = |class: ClassId| match op {
            Op::IsInstance(wanted) | Op::CheckCast(wanted) => program.is_subclass(class, wanted),
            Op::Implements(wanted) | Op::CheckInterface(wanted) => {
                Shape::Class(class).fits(Shape::Interface(wanted), program)
            }
            Op::IsExactly(wanted) | Op::CheckExactly(wanted) => class == wanted,
            Op::Reaches(table, function) => target_of(program, table.call(), class) == Some(function),
            _ => false,
        };
        let Some(classes) = self.classes(ty) else { return Answer::Sometimes };
        match classes.iter().filter(|&&class| is(class)).count() {
            0 => Answer::Never,
            count if count == classes.len() => Answer::Always,
            _ => Answer::Sometimes,
        }
    }

    pub(super) fn is_null(&mut self, a: Value) -> Outcome {
        match self.region.op(a) {
            Op::Null => become_bool(true),
            _ if self.is_non_null(a) => become_bool(false),
            _ => Outcome::Keep,
        }
    }

    /// The same object, or both null.
    pub(super) fn same(&mut self, a: Value, b: Value) -> Outcome {
        if self.is_same(a, b) {
            return become_bool(true);
        }
        match (self.region.op(a), self.region.op(b)) {
            (Op::Null, _) => return become_op(Op::IsNull, &[b]),
            (_, Op::Null) => return become_op(Op::IsNull, &[a]),
            _ => {}
        }
        let (Some(left), Some(right)) = (self.reference(a), self.reference(b)) else { return Outcome::Keep };
        let (Some(left_classes), Some(right_classes)) = (self.classes(left), self.classes(right)) else {
            return Outcome::Keep;
        };
        let may_meet = left_classes.iter().any(|class| right_classes.binary_search(class).is_ok());
        if !(may_meet || left.nullable && right.nullable) { become_bool(false) } else { Outcome::Keep }
    }

    /// The same text, or both null.
    pub(super) fn same_text(&mut self, a: Value, b: Value) -> Outcome {
        if self.is_same(a, b) {
            return become_bool(true);
        }
        let strings = &self.input.program.strings;
        match (self.region.op(a), self.region.op(b)) {
            (Op::Str(a), Op::Str(b)) => become_bool(strings[a.index()] == strings[b.index()]),
            (Op::Null, _) => become_op(Op::IsNull, &[b]),
            (_, Op::Null) => become_op(Op::IsNull, &[a]),
            _ => Outcome::Keep,
        }
    }

    /// `is`, `implements`, `is_exactly`.
    pub(super) fn is_instance(&mut self, op: Op, a: Value) -> Outcome {
        if self.region.op(a) == Op::Null {
            return become_bool(false);
        }
        let Some(ty) = self.reference(a) else { return Outcome::Keep };
        match self.answer(op, ty) {
            Answer::Never => become_bool(false),
            Answer::Always if !ty.nullable => become_bool(true),
            Answer::Always => {
                let is_null = self.insert(Op::IsNull, &[a], Ty::Bool);
                become_op(Op::Not, &[is_null])
            }
            Answer::Sometimes => Outcome::Keep,
        }
    }

    pub(super) fn length(&mut self, array: Value) -> Outcome {
        let node = self.region.node(self.region.unchecked(array));
        match node.op {
            Op::NewArray(_) => Outcome::Value(node.args[0]),
            Op::Str(string) => become_int(self.input.program.strings[string.index()].len() as i64),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn check_null(&mut self, a: Value, ty: Ty) -> Outcome {
        if self.region.op(a) == Op::Null {
            return Outcome::Fail;
        }
        if self.is_non_null(a) { self.as_type(a, ty) } else { Outcome::Keep }
    }

    /// `check_cast`, `check_interface`, `check_exactly`.
    pub(super) fn check_class(&mut self, op: Op, a: Value, ty: Ty) -> Outcome {
        if self.region.op(a) == Op::Null {
            return Outcome::Fail;
        }
        let Some(known) = self.reference(a) else { return Outcome::Keep };
        match self.answer(op, known) {
            Answer::Never => Outcome::Fail,
            Answer::Always if !known.nullable => self.as_type(a, ty),
            // What is left of the check is that it is not null, and that must say enough.
            Answer::Always => match ty {
                Ty::Ref(ty) if RefTy { nullable: false, ..known }.fits(ty, self.input.program) => {
                    become_op(Op::CheckNull, &[a])
                }
                _ => Outcome::Keep,
            },
            Answer::Sometimes => Outcome::Keep,
        }
    }

    /// A value that is known to be of a type, though its own type may not say so.
    fn as_type(&self, value: Value, ty: Ty) -> Outcome {
        if self.fits(value, ty) { Outcome::Value(value) } else { become_op(Op::Assume, &[value]) }
    }
}
