//! Natives of which the frequent case is done in machine code; all others are called.
//!
//! * *A part of a text that is one character of ASCII* is taken from the table of these. Parsers read their input so: one text for
//!   each character (Json of Are We Fast Yet: two thirds of what it did beside its own code).
//! * *Filling an array that was just made, with few elements*, is some stores: bits of many Booleans or bytes are written at once.

use super::function::Lowering;
use crate::ir::{Op, Value};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use holloway_bytecode::{Element, Native};
use holloway_vm::layout::{ELEMENTS, LENGTH};

const PLAIN: MemFlagsData = MemFlagsData::trusted();

/// So many stores are shorter than a call.
const MOST_STORES: i64 = 16;

impl Lowering<'_, '_> {
    /// Lowers a call of a native.
    pub fn native(&mut self, value: Value, native: Native) -> Option<clif::Value> {
        match native {
            Native::Substring => self.substring(value),
            Native::FillInt | Native::FillFloat | Native::FillBool => match self.short_array(value, native) {
                Some((element, length)) => {
                    self.fill(value, element, length);
                    None
                }
                None => self.call_native(value, native),
            },
            _ => self.call_native(value, native),
        }
    }

    /// What `frequent` computes, which goes to the block that it is given where it does not apply: there the native is called.
    fn or_call(
        &mut self,
        value: Value,
        native: Native,
        frequent: impl FnOnce(&mut Self, clif::Block) -> Option<clif::Value>,
    ) -> Option<clif::Value> {
        let join = self.new_block();
        let slow = self.new_cold_block();
        let found = frequent(self, slow).map(clif::BlockArg::from);
        let result = found.map(|_| self.builder.append_block_param(join, types::I64));
        self.builder.ins().jump(join, found.as_slice());
        self.switch_to(slow);
        let called = self.call_native(value, native).map(clif::BlockArg::from);
        self.builder.ins().jump(join, called.as_slice());
        self.switch_to(join);
        result
    }

    fn substring(&mut self, value: Value) -> Option<clif::Value> {
        let args = &self.region.node(value).args;
        let (text, from, to) = (self.value(args[0]), self.value(args[1]), self.value(args[2]));
        let count = self.builder.ins().isub(to, from);
        self.or_call(value, Native::Substring, |lowering, slow| {
            let longer = lowering.builder.ins().icmp_imm_s(IntCC::NotEqual, count, 1);
            lowering.leave_if(longer, slow);
            let length = lowering.builder.ins().load(types::I64, PLAIN, text, LENGTH as i32);
            let outside = lowering.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, from, length);
            lowering.leave_if(outside, slow);
            let address = lowering.builder.ins().iadd(text, from);
            let byte = lowering.builder.ins().uload8(types::I64, PLAIN, address, ELEMENTS as i32);
            let (table, count) = lowering.model.characters();
            let part =
                lowering.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, byte, count as i64);
            lowering.leave_if(part, slow);
            let table = lowering.constant(types::I64, table);
            let distance = lowering.builder.ins().ishl_imm_u(byte, 3);
            let entry = lowering.builder.ins().iadd(table, distance);
            Some(lowering.builder.ins().load(types::I64, PLAIN, entry, 0))
        })
    }

    /// The kind of elements and the length of an array that is filled, if few stores do it.
    fn short_array(&self, value: Value, native: Native) -> Option<(Element, i64)> {
        let array = self.region.node(self.region.unchecked(self.region.node(value).args[0]));
        let Op::NewArray(class) = array.op else { return None };
        let length = self.region.int(self.region.unchecked(array.args[0])).filter(|&length| length >= 0)?;
        let element = self.program.classes[class.index()].element()?;
        let fits = match native {
            Native::FillInt => matches!(element, Element::Int | Element::Byte),
            Native::FillFloat => element == Element::Float,
            _ => element == Element::Bool,
        };
        let stores = match element.size() {
            1 => length / 8 + length % 8,
            _ => length,
        };
        (fits && stores <= MOST_STORES).then_some((element, length))
    }

    fn fill(&mut self, value: Value, element: Element, length: i64) {
        let args = &self.region.node(value).args;
        let (array, word) = (self.value(args[0]), self.word(args[1]));
        let elements = ELEMENTS as i64;
        if element.size() == 8 {
            for number in 0..length {
                self.builder.ins().store(PLAIN, word, array, (elements + 8 * number) as i32);
            }
            return;
        }
        let byte = self.builder.ins().band_imm_u(word, 0xff);
        let eight = self.builder.ins().imul_imm_u(byte, 0x0101_0101_0101_0101);
        for number in 0..length / 8 {
            self.builder.ins().store(PLAIN, eight, array, (elements + 8 * number) as i32);
        }
        for number in length / 8 * 8..length {
            self.builder.ins().istore8(PLAIN, byte, array, (elements + number) as i32);
        }
    }
}
