//! Operations of built-in types: instructions where there is one, natives, and a few sequences.

use super::conditions::Comparison;
use super::constants::Constant;
use super::function::{FunctionLowering, Goal, Operand, Target};
use super::inits::is_zero;
use super::layouts::Primitive;
use crate::builtins::Builtin;
use crate::span::Span;
use crate::typed::{Expr, Ty};
use holloway_bytecode::natives::NativeType;
use holloway_bytecode::{Element, Native, Op, Register, Type};

/// Spreads the bits of an integer over the upper half of the product: an odd number near 2^64 divided by the golden ratio.
const HASH_FACTOR: i64 = 0x9E37_79B9_7F4A_7C15_u64 as i64;

impl<'p> FunctionLowering<'_, 'p> {
    /// A built-in operation.
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        arguments: &'p [Expr],
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let span = expr.span;
        match (builtin, arguments) {
            (Builtin::IntToFloat, [value]) => match self.constant_float(expr) {
                Some(value) => self.constant(Constant::Float(value.to_bits()), goal),
                None => self.on_one(Op::IntToFloat, value, Type::Float, goal),
            },
            (Builtin::FloatToInt, [value]) => self.on_one(Op::FloatToInt, value, Type::Int, goal),
            (Builtin::Sqrt, [value]) => self.on_one(Op::FSqrt, value, Type::Float, goal),
            (Builtin::FloatAbs, [value]) => self.on_one(Op::FAbs, value, Type::Float, goal),
            (Builtin::Length, [value]) => self.on_one(Op::Length, value, Type::Int, goal),
            (Builtin::NewArray | Builtin::NewBytes, [length]) => self.new_array(length, None, expr, goal),
            (Builtin::NewArrayFilled, [length, value]) => {
                let value = Some(value).filter(|value| !is_zero(value));
                self.new_array(length, value, expr, goal)
            }
            (Builtin::Fill, [array, value]) => {
                let ty = self.ty(array);
                let (array, value) = self.two_operands(array, value);
                self.fill(ty, array.register, value.register, span);
                self.release(value);
                self.release(array);
                self.unit(goal)
            }
            (Builtin::Unset, [array, index]) => {
                let (array, index) = self.two_operands(array, index);
                self.release(index);
                self.release(array);
                self.at(span);
                self.buffer.op(Op::Unset, array.register.0, index.register.0, 0);
                self.unit(goal)
            }
            (Builtin::ToString, [value]) => self.text_from(value, span, goal),
            (Builtin::EnumName, [value]) => {
                let ty = self.ty(value);
                let value = self.operand(value);
                self.name_of_variant(value, ty, span, goal)
            }
            (Builtin::Hash(ty), [value]) => {
                let ty = self.concrete(ty);
                self.hash(ty, value, span, goal)
            }
            (Builtin::Compare(ty), [left, right]) => {
                let ty = self.concrete(ty);
                self.compare(ty, left, right, span, goal)
            }
            (Builtin::Native(native), _) => self.native(native, arguments, expr, goal),
            _ => Operand::NONE,
        }
    }

    fn new_array(
        &mut self,
        length: &'p Expr,
        value: Option<&'p Expr>,
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let ty = self.ty(expr);
        let class = self.lowering.class_of(ty);
        let length = self.operand(length);
        let Some(value) = value else {
            self.release(length);
            let destination = self.non_null_destination(goal, Type::class(class));
            self.at(expr.span);
            let (target, length) = (destination.register, length.register);
            self.buffer.wide(Op::NewArray, target.0, length.0, class.0 as u64);
            return self.put(destination, goal);
        };
        let length = self.keep_from(length, &[value]);
        let value = self.operand(value);
        let array = self.early_destination(goal, Type::class(class));
        self.at(expr.span);
        self.buffer.wide(Op::NewArray, array.register.0, length.register.0, class.0 as u64);
        self.fill(ty, array.register, value.register, expr.span);
        self.release(value);
        self.release(length);
        self.put(array, goal)
    }

    fn fill(&mut self, array_type: Ty, array: Register, value: Register, span: Span) {
        let native = match self.element_of(array_type) {
            Element::Byte | Element::Int => Native::FillInt,
            Element::Float => Native::FillFloat,
            Element::Bool => Native::FillBool,
            Element::Ref(_) => Native::FillRef,
        };
        self.at(span);
        self.buffer.call(Op::CallNative, 0, native as u32, &[array, value]);
    }

    /// Calls a native.
    fn native(&mut self, native: Native, arguments: &'p [Expr], expr: &'p Expr, goal: Goal) -> Operand {
        let mut values = Vec::with_capacity(arguments.len());
        let list: Vec<&Expr> = arguments.iter().collect();
        for (at, argument) in list.iter().enumerate() {
            let ty = self.ty(argument);
            let value = self.operand(argument);
            let value = self.keep_from(value, &list[at + 1..]);
            let param = native.params().get(at).or(native.params().last());
            let wants_object = matches!(param, Some(NativeType::Object | NativeType::Nullable));
            values.push(if wants_object { self.as_reference(value, ty) } else { value });
        }
        let result = native.result().map(|result| match (result, values.first()) {
            (NativeType::Object, Some(first)) => self.registers.ty(first.register),
            _ => result.ty(),
        });
        let ty = self.ty(expr);
        self.call(Op::CallNative, native as u32, &values, result, ty, goal, expr.span)
    }

    /// `hash()` of a value of a built-in type: an integer times a constant, its upper half mixed into the lower; a double by its
    /// bits, both zeros alike; false 0 and true 1; a string by its bytes.
    pub(super) fn hash(&mut self, ty: Ty, value: &'p Expr, span: Span, goal: Goal) -> Operand {
        if ty == Ty::STRING {
            let value = self.operand(value);
            let result = Some(Type::Int);
            return self.finish_call(Op::CallNative, Native::StringHash as u32, &[value], result, goal, span);
        }
        let value = self.operand(value);
        match self.lowering.primitive(ty) {
            Some(Primitive::Float) => {
                // Minus zero plus zero is zero.
                let zero = self.constant(Constant::Float(0.0_f64.to_bits()), Goal::Anywhere);
                self.release(zero);
                self.release(value);
                let sum = self.registers.allocate(Type::Float);
                self.buffer.op(Op::FAdd, sum.0, value.register.0, zero.register.0);
                let sum = [Operand::temporary(sum)];
                let native = Native::FloatBits as u32;
                let bits =
                    self.finish_call(Op::CallNative, native, &sum, Some(Type::Int), Goal::Anywhere, span);
                self.mix(bits, goal)
            }
            Some(Primitive::Bool) => {
                let (end, result) = self.begin_choice(goal, &[value]);
                self.load(0, result);
                self.branch_if_true(value.register, false, end);
                self.load(1, result);
                self.buffer.bind(end);
                self.release(value);
                self.put(result, goal)
            }
            _ => self.mix(value, goal),
        }
    }

    fn mix(&mut self, value: Operand, goal: Goal) -> Operand {
        let factor = self.integer(HASH_FACTOR);
        self.release(factor);
        self.release(value);
        let product = self.registers.allocate(Type::Int);
        self.buffer.op(Op::Mul, product.0, value.register.0, factor.register.0);
        let high = self.registers.allocate(Type::Int);
        self.buffer.op(Op::UshrI, high.0, product.0, 32);
        self.registers.free(high);
        self.registers.free(product);
        let destination = self.destination(goal, Type::Int);
        self.buffer.op(Op::Xor, destination.register.0, product.0, high.0);
        destination
    }

    /// `compareTo` of two values of a built-in type: -1, 0 or 1. A double that is not a number counts as equal to all.
    pub(super) fn compare(
        &mut self,
        ty: Ty,
        left: &'p Expr,
        right: &'p Expr,
        span: Span,
        goal: Goal,
    ) -> Operand {
        let (left, right) = self.two_operands(left, right);
        if ty == Ty::STRING {
            let native = Native::StringCompare as u32;
            return self.finish_call(Op::CallNative, native, &[left, right], Some(Type::Int), goal, span);
        }
        let (end, result) = self.begin_choice(goal, &[left, right]);
        let (a, b) = (left.register, right.register);
        match self.lowering.primitive(ty) {
            Some(Primitive::Float) => {
                self.load(-1, result);
                self.branch_if_floats(Comparison::Less, a, b, true, end);
                self.load(1, result);
                self.branch_if_floats(Comparison::Greater, a, b, true, end);
                self.load(0, result);
            }
            Some(Primitive::Bool) => {
                self.load(0, result);
                self.branch_if_registers(Comparison::Equal, a, b, end);
                self.load(1, result);
                self.branch_if_true(a, true, end);
                self.load(-1, result);
            }
            _ => {
                self.load(-1, result);
                self.branch_if_registers(Comparison::Less, a, b, end);
                self.load(1, result);
                self.branch_if_registers(Comparison::Greater, a, b, end);
                self.load(0, result);
            }
        }
        self.buffer.bind(end);
        self.release(right);
        self.release(left);
        self.put(result, goal)
    }

    /// A label for the end, and a register that is written before the inputs are read for the last time.
    fn begin_choice(&mut self, goal: Goal, inputs: &[Operand]) -> (super::buffer::Label, Operand) {
        let end = self.buffer.label();
        let result = match goal {
            Goal::At(Target { register, .. }) if inputs.iter().all(|input| input.register != register) => {
                Operand::kept(register)
            }
            _ => Operand::temporary(self.registers.allocate(Type::Int)),
        };
        (end, result)
    }

    fn load(&mut self, value: i64, result: Operand) {
        let goal = Goal::At(Target { register: result.register, fresh: true });
        self.constant(Constant::Int(value), goal);
    }

    /// The name of a variant.
    pub(super) fn name_of_variant(&mut self, value: Operand, ty: Ty, span: Span, goal: Goal) -> Operand {
        let crate::typed::TyKind::Enum(index, _) = self.lowering.types.kind(ty) else {
            return Operand::NONE;
        };
        let helper = self.lowering.helper(super::helpers::Helper::VariantName(*index));
        let ordinal = self.get_field(value, super::enums::ORDINAL, Type::Int, Goal::Anywhere);
        self.call_function(helper, &[ordinal], Ty::STRING, goal, span)
    }
}
