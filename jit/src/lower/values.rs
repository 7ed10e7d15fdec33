//! Nodes that compute, and checks.

use super::function::{Lowering, machine_type};
use crate::ir::{Arith, Cond, FloatArith, FloatCond, FloatUnary, Op, Reason, Ty, Value};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use holloway_bytecode::{ClassId, InterfaceId, Native};
use holloway_vm::compiled::Stub;

fn int_cc(cond: Cond) -> IntCC {
    match cond {
        Cond::Eq => IntCC::Equal,
        Cond::Ne => IntCC::NotEqual,
        Cond::Lt => IntCC::SignedLessThan,
        Cond::Le => IntCC::SignedLessThanOrEqual,
        Cond::Gt => IntCC::SignedGreaterThan,
        Cond::Ge => IntCC::SignedGreaterThanOrEqual,
        Cond::ULt => IntCC::UnsignedLessThan,
        Cond::ULe => IntCC::UnsignedLessThanOrEqual,
        Cond::UGt => IntCC::UnsignedGreaterThan,
        Cond::UGe => IntCC::UnsignedGreaterThanOrEqual,
    }
}

fn float_cc(cond: FloatCond) -> FloatCC {
    match cond {
        FloatCond::Eq => FloatCC::Equal,
        FloatCond::Ne => FloatCC::NotEqual,
        FloatCond::Lt => FloatCC::LessThan,
        FloatCond::Le => FloatCC::LessThanOrEqual,
        FloatCond::Nlt => FloatCC::UnorderedOrGreaterThanOrEqual,
        FloatCond::Nle => FloatCC::UnorderedOrGreaterThan,
    }
}

/// Bits of the one value that is not a number which programs see.
const NOT_A_NUMBER: u64 = 0x7ff8_0000_0000_0000;

impl Lowering<'_, '_> {
    /// Lowers a node.
    pub fn node(&mut self, value: Value) {
        let region = self.region;
        let node = region.node(value);
        let args = &node.args;
        let result = match node.op {
            // Made where they are used.
            Op::Int(_)
            | Op::Float(_)
            | Op::Bool(_)
            | Op::Null
            | Op::Str(_)
            | Op::Path(_)
            | Op::Virtual(_) => return,
            Op::Param => return,
            Op::Argument(index) => {
                let entry = self.builder.current_block().unwrap_or_else(|| unreachable!("a block is open"));
                let word = self.builder.block_params(entry)[2 + index as usize];
                self.value_of_word(node.ty, word)
            }
            Op::Local(register) => {
                let entry = self.builder.current_block().unwrap_or_else(|| unreachable!("a block is open"));
                let frame = self.builder.block_params(entry)[2];
                let ty = super::function::word_type(node.ty);
                let word = self.builder.ins().load(ty, MemFlagsData::trusted(), frame, 8 * register as i32);
                self.value_of_word(node.ty, word)
            }
            Op::Arith(_) if self.is_made_anew(value) => return,
            Op::Arith(_) => self.computed(value),
            Op::Div | Op::Rem => self.divide(node.op == Op::Div, args[0], args[1]),
            Op::FloatArith(op) => {
                let (a, b) = (self.value(args[0]), self.value(args[1]));
                match op {
                    FloatArith::Add => self.builder.ins().fadd(a, b),
                    FloatArith::Sub => self.builder.ins().fsub(a, b),
                    FloatArith::Mul => self.builder.ins().fmul(a, b),
                    FloatArith::Div => self.builder.ins().fdiv(a, b),
                }
            }
            Op::FloatUnary(op) => {
                let a = self.value(args[0]);
                match op {
                    FloatUnary::Neg => self.builder.ins().fneg(a),
                    FloatUnary::Abs => self.builder.ins().fabs(a),
                    FloatUnary::Sqrt => self.builder.ins().sqrt(a),
                    FloatUnary::Floor => self.builder.ins().floor(a),
                    FloatUnary::Ceil => self.builder.ins().ceil(a),
                }
            }
            Op::IntToFloat => {
                let a = self.value(args[0]);
                self.builder.ins().fcvt_from_sint(types::F64, a)
            }
            Op::FloatToInt => {
                let a = self.value(args[0]);
                self.builder.ins().fcvt_to_sint_sat(types::I64, a)
            }
            Op::FloatBits => {
                let a = self.value(args[0]);
                let bits = self.builder.ins().bitcast(types::I64, MemFlagsData::new(), a);
                let not_a_number = self.constant(types::I64, NOT_A_NUMBER);
                let is_number = self.builder.ins().fcmp(FloatCC::Ordered, a, a);
                self.builder.ins().select(is_number, bits, not_a_number)
            }
            Op::FloatFromBits => {
                let a = self.value(args[0]);
                self.builder.ins().bitcast(types::F64, MemFlagsData::new(), a)
            }
            Op::Compare(cond) => {
                let (a, b) = (self.value(args[0]), self.value(args[1]));
                self.builder.ins().icmp(int_cc(cond), a, b)
            }
            Op::FloatCompare(cond) => {
                let (a, b) = (self.value(args[0]), self.value(args[1]));
                self.builder.ins().fcmp(float_cc(cond), a, b)
            }
            Op::Same => {
                let (a, b) = (self.value(args[0]), self.value(args[1]));
                self.builder.ins().icmp(IntCC::Equal, a, b)
            }
            Op::IsNull => {
                let a = self.value(args[0]);
                self.builder.ins().icmp_imm_s(IntCC::Equal, a, 0)
            }
            Op::Not => {
                let a = self.value(args[0]);
                self.builder.ins().bxor_imm_s(a, 1)
            }
            Op::Select => {
                let (c, a, b) = (self.value(args[0]), self.value(args[1]), self.value(args[2]));
                self.builder.ins().select(c, a, b)
            }
            Op::SameText => self.same_text(args[0], args[1]),
            Op::IsInstance(class) => self.is_instance(args[0], class),
            Op::Implements(interface) => self.implements(args[0], interface),
            Op::IsExactly(class) => {
                let found = self.class_of(args[0]);
                let offset = self.model.class(class).offset;
                self.builder.ins().icmp_imm_u(IntCC::Equal, found, offset as i64)
            }
            Op::Reaches(table, function) => {
                let found = self.method_of(args[0], table);
                let method = self.constant(types::I64, self.model.method(function));
                self.builder.ins().icmp(IntCC::Equal, found, method)
            }
            Op::PureNative(native) => self.pure_native(native, value),

            Op::Assume => self.value(args[0]),
            Op::CheckNull => self.check_not_null(value, Reason::Null),
            Op::CheckSet => self.check_not_null(value, Reason::Unset),
            Op::CheckBounds => {
                let (index, length) = (self.value(args[0]), self.value(args[1]));
                let outside = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, length);
                self.check(value, outside, Reason::Index);
                index
            }
            Op::CheckDivisor => {
                let divisor = self.value(args[0]);
                let zero = self.builder.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
                self.check(value, zero, Reason::Division);
                divisor
            }
            Op::CheckLength => {
                let length = self.value(args[0]);
                let negative = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, length, 0);
                self.check(value, negative, Reason::Length);
                length
            }
            Op::CheckCast(class) => self.check_cast(value, class),
            Op::CheckInterface(interface) => {
                let fits = self.implements(args[0], interface);
                let fails = self.opposite(fits);
                self.check(value, fails, Reason::Cast);
                self.value(args[0])
            }
            Op::CheckExactly(class) => {
                let found = self.class_of(args[0]);
                let offset = self.model.class(class).offset;
                let other = self.builder.ins().icmp_imm_u(IntCC::NotEqual, found, offset as i64);
                self.check(value, other, Reason::Receiver);
                self.value(args[0])
            }
            Op::Guard(expected, reason) => {
                let fails = match expected {
                    true => self.negated(args[0]),
                    false => self.value(args[0]),
                };
                self.check(value, fails, reason);
                return;
            }

            Op::Length
            | Op::LoadField(..)
            | Op::StoreField(..)
            | Op::StoreRefField(..)
            | Op::LoadElement(_)
            | Op::StoreElement(_)
            | Op::LoadGlobal(_)
            | Op::StoreGlobal(_)
            | Op::New(_)
            | Op::NewArray(_) => match self.memory(value) {
                Some(result) => result,
                None => return,
            },
            Op::Call(_) | Op::CallVirtual(..) | Op::CallInterface(..) | Op::CallNative(_) => {
                match self.call(value) {
                    Some(result) => result,
                    None => return,
                }
            }
            Op::Yieldpoint(kind) => {
                self.yieldpoint(value, kind);
                return;
            }
            Op::Count(_)
            | Op::CountKept(_)
            | Op::AddKept(_)
            | Op::SetPath(_)
            | Op::AddPath(_)
            | Op::CountPath(_)
            | Op::HashPath(_)
            | Op::PlantForest(_)
            | Op::GrowForest
            | Op::HashWindow { .. }
            | Op::SamplePath
            | Op::Entered
            | Op::Block(_)
            | Op::CountReceiver { .. }
            | Op::CountCached { .. }
            | Op::Trace(_) => {
                self.profiling(node.op, &node.args);
                return;
            }
        };
        debug_assert_eq!(self.builder.func.dfg.value_type(result), machine_type(node.ty), "{:?}", node.op);
        self.values[value.index()] = Some(result);
    }

    /// Leaves if `fails`.
    pub fn check(&mut self, value: Value, fails: clif::Value, reason: Reason) {
        let exit = self.exit_of(value, reason);
        self.leave_if(fails, exit);
    }

    fn check_not_null(&mut self, value: Value, reason: Reason) -> clif::Value {
        let reference = self.value(self.region.node(value).args[0]);
        let null = self.builder.ins().icmp_imm_s(IntCC::Equal, reference, 0);
        self.check(value, null, reason);
        reference
    }

    /// The result of arithmetic.
    pub fn computed(&mut self, value: Value) -> clif::Value {
        let node = self.region.node(value);
        let Op::Arith(op) = node.op else { unreachable!("only sums and the like are made anew") };
        if op == Arith::Sub && self.region.int(node.args[0]) == Some(0) {
            let b = self.value(node.args[1]);
            return self.builder.ins().ineg(b);
        }
        let (a, b) = (self.value(node.args[0]), self.value(node.args[1]));
        match op {
            Arith::Add => self.builder.ins().iadd(a, b),
            Arith::Sub => self.builder.ins().isub(a, b),
            Arith::Mul => self.builder.ins().imul(a, b),
            Arith::And => self.builder.ins().band(a, b),
            Arith::Or => self.builder.ins().bor(a, b),
            Arith::Xor => self.builder.ins().bxor(a, b),
            Arith::Shl => self.builder.ins().ishl(a, b),
            Arith::Shr => self.builder.ins().sshr(a, b),
            Arith::Ushr => self.builder.ins().ushr(a, b),
        }
    }

    /// Division by what is known not to be zero. The machine's division traps for the one quotient that does not fit.
    fn divide(&mut self, quotient: bool, dividend: Value, divisor: Value) -> clif::Value {
        let a = self.value(dividend);
        match self.region.int(self.region.unchecked(divisor)) {
            Some(-1) => {
                return if quotient { self.builder.ins().ineg(a) } else { self.constant(types::I64, 0) };
            }
            Some(0) => return self.constant(types::I64, 0),
            Some(1) => return if quotient { a } else { self.constant(types::I64, 0) },
            Some(divisor) => return self.divide_by(quotient, a, divisor),
            None => {}
        }
        let b = self.value(divisor);
        let (special, general, join) = (self.new_cold_block(), self.new_block(), self.new_block());
        let result = self.builder.append_block_param(join, types::I64);
        let minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        self.builder.ins().brif(minus_one, special, &[], general, &[]);
        self.switch_to(special);
        let negated = if quotient { self.builder.ins().ineg(a) } else { self.constant(types::I64, 0) };
        self.builder.ins().jump(join, &[negated.into()]);
        self.switch_to(general);
        // Most numbers are small, and the machine divides those faster.
        let (wide, narrow) = (self.new_cold_block(), self.new_block());
        let both = self.builder.ins().bor(a, b);
        let high = self.builder.ins().ushr_imm_u(both, 32);
        self.builder.ins().brif(high, wide, &[], narrow, &[]);
        self.switch_to(wide);
        let exact = if quotient { self.builder.ins().sdiv(a, b) } else { self.builder.ins().srem(a, b) };
        self.builder.ins().jump(join, &[exact.into()]);
        self.switch_to(narrow);
        let (a, b) = (self.builder.ins().ireduce(types::I32, a), self.builder.ins().ireduce(types::I32, b));
        let exact = if quotient { self.builder.ins().udiv(a, b) } else { self.builder.ins().urem(a, b) };
        let exact = self.builder.ins().uextend(types::I64, exact);
        self.builder.ins().jump(join, &[exact.into()]);
        self.switch_to(join);
        result
    }

    /// Is the operand's static type without null.
    fn never_null(&self, value: Value) -> bool {
        matches!(self.region.ty(value), Ty::Ref(r) if !r.nullable)
    }

    /// Runs `test` if the reference is not null; false if it is.
    fn unless_null(
        &mut self,
        reference: Value,
        test: impl FnOnce(&mut Self, Value) -> clif::Value,
    ) -> clif::Value {
        if self.never_null(reference) {
            return test(self, reference);
        }
        let (present, join) = (self.new_block(), self.new_block());
        let result = self.builder.append_block_param(join, types::I8);
        let address = self.value(reference);
        let no = self.constant(types::I8, 0);
        let null = self.builder.ins().icmp_imm_s(IntCC::Equal, address, 0);
        self.builder.ins().brif(null, join, &[no.into()], present, &[]);
        self.switch_to(present);
        let found = test(self, reference);
        self.builder.ins().jump(join, &[found.into()]);
        self.switch_to(join);
        result
    }

    /// Is an object, not null, of a class or one below it.
    fn in_subtree(&mut self, object: Value, class: ClassId) -> clif::Value {
        let found = self.class_of(object);
        let (first, last) = (self.model.class(class).offset, self.model.class(class).last);
        if first == last {
            return self.builder.ins().icmp_imm_u(IntCC::Equal, found, first as i64);
        }
        let distance = self.builder.ins().iadd_imm_s(found, -(first as i64));
        self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, distance, (last - first) as i64)
    }

    fn is_instance(&mut self, reference: Value, class: ClassId) -> clif::Value {
        self.unless_null(reference, |this, object| this.in_subtree(object, class))
    }

    fn check_cast(&mut self, value: Value, class: ClassId) -> clif::Value {
        let reference = self.region.node(value).args[0];
        let address = self.value(reference);
        if !self.never_null(reference) {
            let null = self.builder.ins().icmp_imm_s(IntCC::Equal, address, 0);
            self.check(value, null, Reason::Cast);
        }
        let fits = self.in_subtree(reference, class);
        let fails = self.opposite(fits);
        self.check(value, fails, Reason::Cast);
        address
    }

    fn implements(&mut self, reference: Value, interface: InterfaceId) -> clif::Value {
        self.unless_null(reference, |this, object| {
            let record = this.class_record(object);
            let (table, bit) = this.model.interface_bit(interface);
            let flags = MemFlagsData::trusted();
            let bits = this.builder.ins().load(types::I64, flags, record, table);
            let word = this.builder.ins().load(types::I64, flags, bits, (bit / 64 * 8) as i32);
            let word = this.builder.ins().ushr_imm_u(word, (bit % 64) as i64);
            let word = this.builder.ins().band_imm_u(word, 1);
            this.builder.ins().ireduce(types::I8, word)
        })
    }

    /// Two texts: the same object, or both not null and of the same length and content.
    fn same_text(&mut self, a: Value, b: Value) -> clif::Value {
        let (x, y) = (self.value(a), self.value(b));
        let join = self.new_block();
        let result = self.builder.append_block_param(join, types::I8);
        let (yes, no) = (self.constant(types::I8, 1), self.constant(types::I8, 0));
        let different = self.new_block();
        let same = self.builder.ins().icmp(IntCC::Equal, x, y);
        self.builder.ins().brif(same, join, &[yes.into()], different, &[]);
        self.switch_to(different);
        for (value, address) in [(a, x), (b, y)] {
            if !self.never_null(value) {
                let next = self.new_block();
                let null = self.builder.ins().icmp_imm_s(IntCC::Equal, address, 0);
                self.builder.ins().brif(null, join, &[no.into()], next, &[]);
                self.switch_to(next);
            }
        }
        let flags = MemFlagsData::trusted();
        let length = holloway_vm::layout::LENGTH as i32;
        let (n, m) = (
            self.builder.ins().load(types::I64, flags, x, length),
            self.builder.ins().load(types::I64, flags, y, length),
        );
        let equal_lengths = self.new_block();
        let no = self.constant(types::I8, 0);
        let other_length = self.builder.ins().icmp(IntCC::NotEqual, n, m);
        self.builder.ins().brif(other_length, join, &[no.into()], equal_lengths, &[]);
        self.switch_to(equal_lengths);
        // The first words differ most of the time. A text of one to eight bytes is one word, zero behind its end; an empty text
        // may have none.
        let (first_words, compare) = (self.new_block(), self.new_block());
        let empty = self.builder.ins().icmp_imm_s(IntCC::Equal, n, 0);
        self.builder.ins().brif(empty, compare, &[], first_words, &[]);
        self.switch_to(first_words);
        let elements = holloway_vm::layout::ELEMENTS as i32;
        let (p, q) = (
            self.builder.ins().load(types::I64, flags, x, elements),
            self.builder.ins().load(types::I64, flags, y, elements),
        );
        let longer = self.new_block();
        let no = self.constant(types::I8, 0);
        let other_text = self.builder.ins().icmp(IntCC::NotEqual, p, q);
        self.builder.ins().brif(other_text, join, &[no.into()], longer, &[]);
        self.switch_to(longer);
        let yes = self.constant(types::I8, 1);
        let long = self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, n, 8);
        self.builder.ins().brif(long, compare, &[], join, &[yes.into()]);
        self.switch_to(compare);
        self.preserving_call(Stub::SameText, &[x, y]);
        let word = self.result();
        let found = self.builder.ins().ireduce(types::I8, word);
        self.builder.ins().jump(join, &[found.into()]);
        self.switch_to(join);
        result
    }

    fn pure_native(&mut self, native: Native, value: Value) -> clif::Value {
        let node = self.region.node(value);
        let args: Vec<clif::Value> = node.args.iter().map(|&arg| self.word(arg)).collect();
        let Some(address) = self.model.pure_native(native) else {
            self.refusal = Some(format!("{} is no pure native", native.name()));
            return self.constant(machine_type(node.ty), 0);
        };
        let params: Vec<clif::Type> = args.iter().map(|&arg| self.builder.func.dfg.value_type(arg)).collect();
        let signature = self.plain_signature(&params, super::function::word_type(node.ty));
        let callee = self.constant(types::I64, address);
        let call = self.builder.ins().call_indirect(signature, callee, &args);
        let result = self.builder.inst_results(call)[0];
        self.value_of_word(node.ty, result)
    }
}
