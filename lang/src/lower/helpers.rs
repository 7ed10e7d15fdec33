//! Functions that no source text stands for: comparisons of boxed values and names of variants. Each is made when it is
//! first needed.

use super::buffer::Label;
use super::function::{FunctionLowering, Goal, Operand};
use super::layouts::Primitive;
use super::{Lowering, Work};
use crate::typed::EnumIndex;
use holloway_bytecode::{ClassId, FunctionId, Op, Register, Shape, Type};

/// A helper function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Helper {
    /// Equality of two boxes of one kind, either of which may be null.
    EqualBoxes(Primitive),
    /// Equality of any two values: boxes by the value inside, strings by their bytes, everything else by identity.
    EqualAny,
    /// The name of the variant at a position.
    VariantName(EnumIndex),
}

impl<'p> Lowering<'p> {
    /// The number of a helper.
    pub(super) fn helper(&mut self, helper: Helper) -> FunctionId {
        if let Some(&id) = self.helpers.get(&helper) {
            return id;
        }
        let two = |shape| vec![Type::reference(shape).nullable(); 2];
        let boolean = Some(Type::Bool);
        let (name, params, result) = match helper {
            Helper::EqualBoxes(primitive) => {
                (format!("$equal{primitive:?}"), two(Shape::Class(primitive.box_class())), boolean)
            }
            Helper::EqualAny => ("$equalAny".into(), two(Shape::Any), boolean),
            Helper::VariantName(index) => {
                let name = &self.declarations.enums[index.index()].name;
                (format!("{name}.$name"), vec![Type::Int], Some(Type::class(ClassId::STRING)))
            }
        };
        let id = self.declare(name, params, result, Work::Helper(helper));
        self.helpers.insert(helper, id);
        id
    }
}

const LEFT: Register = Register(0);
const RIGHT: Register = Register(1);

impl<'p> FunctionLowering<'_, 'p> {
    /// Writes the code of a helper.
    pub(super) fn helper(&mut self, helper: Helper) {
        match helper {
            Helper::EqualBoxes(primitive) => {
                self.return_unless_both();
                self.return_equal_boxes(primitive);
            }
            Helper::EqualAny => self.equal_any(),
            Helper::VariantName(index) => self.variant_name(index),
        }
    }

    /// Goes on if neither is null; otherwise returns whether both are.
    fn return_unless_both(&mut self) {
        let (null, both) = (self.buffer.label(), self.buffer.label());
        self.buffer.branch(Op::BrNull, LEFT.0, 0, null);
        self.buffer.branch(Op::BrNonNull, RIGHT.0, 0, both);
        self.buffer.bind(null);
        let same = self.registers.allocate(Type::Bool);
        self.buffer.op(Op::RSetEq, same.0, LEFT.0, RIGHT.0);
        self.buffer.op(Op::Return, same.0, 0, 0);
        self.registers.free(same);
        self.buffer.bind(both);
    }

    fn return_equal_boxes(&mut self, primitive: Primitive) {
        let first = self.unbox(Operand::kept(LEFT), primitive, Goal::Anywhere);
        let second = self.unbox(Operand::kept(RIGHT), primitive, Goal::Anywhere);
        let equal = self.registers.allocate(Type::Bool);
        let op = if primitive == Primitive::Float { Op::FSetEq } else { Op::SetEq };
        self.buffer.op(op, equal.0, first.register.0, second.register.0);
        self.buffer.op(Op::Return, equal.0, 0, 0);
        self.release(second);
        self.release(first);
        self.registers.free(equal);
    }

    fn return_equal_strings(&mut self) {
        let string = Type::class(ClassId::STRING);
        let first = self.cast_reference(Operand::kept(LEFT), string, Goal::Anywhere);
        let second = self.cast_reference(Operand::kept(RIGHT), string, Goal::Anywhere);
        let equal = self.registers.allocate(Type::Bool);
        self.buffer.op(Op::SSetEq, equal.0, first.register.0, second.register.0);
        self.buffer.op(Op::Return, equal.0, 0, 0);
        self.release(second);
        self.release(first);
        self.registers.free(equal);
    }

    fn equal_any(&mut self) {
        let different = self.buffer.label();
        for primitive in [Primitive::Int, Primitive::Float, Primitive::Bool] {
            let next = self.buffer.label();
            self.branch_unless_both(primitive.box_class(), next, different);
            self.return_equal_boxes(primitive);
            self.buffer.bind(next);
        }
        let next = self.buffer.label();
        self.branch_unless_both(ClassId::STRING, next, different);
        self.return_equal_strings();
        self.buffer.bind(next);
        let answer = self.registers.allocate(Type::Bool);
        self.buffer.op(Op::RSetEq, answer.0, LEFT.0, RIGHT.0);
        self.buffer.op(Op::Return, answer.0, 0, 0);
        self.buffer.bind(different);
        self.buffer.op_bc(Op::LoadBool, answer.0, 0);
        self.buffer.op(Op::Return, answer.0, 0, 0);
        self.registers.free(answer);
    }

    /// Goes to `next` if the left one is not of the class, to `different` if only the right one is not.
    fn branch_unless_both(&mut self, class: ClassId, next: Label, different: Label) {
        let is = self.registers.allocate(Type::Bool);
        for (value, otherwise) in [(LEFT, next), (RIGHT, different)] {
            self.buffer.wide(Op::Is, is.0, value.0, class.0 as u64);
            self.buffer.branch(Op::BrFalse, is.0, 0, otherwise);
        }
        self.registers.free(is);
    }

    fn variant_name(&mut self, index: EnumIndex) {
        let variants = &self.lowering.declarations.enums[index.index()].variants;
        let labels: Vec<Label> = variants.iter().map(|_| self.buffer.label()).collect();
        let Some((last, cases)) = labels.split_last() else { return };
        if cases.len() > super::matching::MAX_CASES {
            return self.lowering.report("an enum cannot have so many variants", "too many variants");
        }
        self.buffer.switch(Register(0), 0, cases, *last);
        let name = self.registers.allocate(Type::class(ClassId::STRING));
        for (variant, label) in variants.iter().zip(labels) {
            self.buffer.bind(label);
            let text = self.lowering.string(&variant.name);
            self.buffer.op_bc(Op::LoadString, name.0, text.0);
            self.buffer.op(Op::Return, name.0, 0, 0);
        }
    }
}
