//! Fields, elements, globals, allocation, barriers.

use super::function::{Lowering, word_type};
use crate::ir::{ElementKind, Op, Reason, Value};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use holloway_bytecode::{ClassId, Element};
use holloway_vm::compiled::Stub;
use holloway_vm::layout::{ELEMENTS, FIELDS, LENGTH, UNLOGGED};

/// Where the class is in a header.
const CLASS: i32 = 4;

/// Memory that is there and aligned.
const PLAIN: MemFlagsData = MemFlagsData::trusted();

const UNALIGNED: MemFlagsData = MemFlagsData::new().with_notrap();

impl Lowering<'_, '_> {
    /// The class of an object, as the offset of its record.
    pub fn class_of(&mut self, object: Value) -> clif::Value {
        let address = self.value(object);
        self.builder.ins().load(types::I32, PLAIN, address, CLASS)
    }

    /// The address of an object's class record.
    pub fn class_record(&mut self, object: Value) -> clif::Value {
        let offset = self.class_of(object);
        let offset = self.builder.ins().uextend(types::I64, offset);
        let table = self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.classes);
        self.builder.ins().iadd(table, offset)
    }

    /// Lowers a node that deals with memory.
    pub fn memory(&mut self, value: Value) -> Option<clif::Value> {
        let region = self.region;
        let node = region.node(value);
        let args = &node.args;
        match node.op {
            Op::Length => {
                let array = self.value(args[0]);
                Some(self.builder.ins().load(types::I64, PLAIN, array, LENGTH as i32))
            }
            Op::LoadField(_, field) => {
                let object = self.value(args[0]);
                let word = self.builder.ins().load(word_type(node.ty), PLAIN, object, field_offset(field));
                Some(self.value_of_word(node.ty, word))
            }
            Op::StoreField(_, field) => {
                let object = self.value(args[0]);
                let word = self.word(args[1]);
                self.builder.ins().store(PLAIN, word, object, field_offset(field));
                None
            }
            Op::StoreRefField(_, field) => {
                let object = self.value(args[0]);
                let word = self.word(args[1]);
                self.barrier(object, None);
                self.builder.ins().store(PLAIN, word, object, field_offset(field));
                None
            }
            Op::LoadElement(kind) => Some(self.load_element(kind, args[0], args[1])),
            Op::StoreElement(kind) => {
                let stored = self.value(args[2]);
                if kind == ElementKind::Ref && self.region.op(args[2]) != Op::Null {
                    let (array, index) = (self.value(args[0]), self.value(args[1]));
                    self.barrier(array, Some(index));
                }
                let (address, offset) = self.element(kind, args[0], args[1]);
                match kind {
                    ElementKind::Byte => {
                        self.builder.ins().istore8(PLAIN, stored, address, offset);
                    }
                    ElementKind::Word => {
                        self.builder.ins().store(UNALIGNED, stored, address, offset);
                    }
                    _ => {
                        self.builder.ins().store(PLAIN, stored, address, offset);
                    }
                }
                None
            }
            Op::LoadGlobal(global) => {
                let globals = self.globals();
                let word = self.builder.ins().load(word_type(node.ty), PLAIN, globals, 8 * global.0 as i32);
                Some(self.value_of_word(node.ty, word))
            }
            Op::StoreGlobal(global) => {
                let globals = self.globals();
                let word = self.word(args[0]);
                self.builder.ins().store(PLAIN, word, globals, 8 * global.0 as i32);
                None
            }
            Op::New(class) => Some(self.new_object(value, class)),
            Op::NewArray(class) => Some(self.new_array(value, class)),
            _ => None,
        }
    }

    fn globals(&mut self) -> clif::Value {
        self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.globals)
    }

    /// Where an element is: an address, and what is to be added to it. A constant in the index takes no instruction.
    fn element(&mut self, kind: ElementKind, array: Value, index: Value) -> (clif::Value, i32) {
        let array = self.value(array);
        let scale: i64 = match kind {
            ElementKind::Byte | ElementKind::Bool | ElementKind::Word => 0,
            _ => 3,
        };
        let (base, add) = self.near(index);
        let offset = (ELEMENTS as i64 + (add << scale)) as i32;
        let Some(base) = base else { return (array, offset) };
        let mut distance = self.value(base);
        if scale > 0 {
            distance = self.builder.ins().ishl_imm_u(distance, scale);
        }
        (self.builder.ins().iadd(array, distance), offset)
    }

    /// An index as a value and a small constant, or as such a constant alone.
    fn near(&self, index: Value) -> (Option<Value>, i64) {
        const FAR: u64 = 1 << 16;
        let (base, add) = self.region.value_and_constant(index);
        if add.unsigned_abs() < FAR { (base, add) } else { (Some(index), 0) }
    }

    fn load_element(&mut self, kind: ElementKind, array: Value, index: Value) -> clif::Value {
        let (address, offset) = self.element(kind, array, index);
        match kind {
            ElementKind::Byte => self.builder.ins().uload8(types::I64, PLAIN, address, offset),
            ElementKind::Bool => self.builder.ins().load(types::I8, PLAIN, address, offset),
            ElementKind::Float => self.builder.ins().load(types::F64, PLAIN, address, offset),
            ElementKind::Word => self.builder.ins().load(types::I64, UNALIGNED, address, offset),
            ElementKind::Int | ElementKind::Ref => {
                self.builder.ins().load(types::I64, PLAIN, address, offset)
            }
        }
    }

    /// Before a store of a reference: an old object that was not written since the last collection must be remembered.
    fn barrier(&mut self, object: clif::Value, index: Option<clif::Value>) {
        let flags = self.builder.ins().load(types::I32, PLAIN, object, 0);
        let unlogged = self.builder.ins().band_imm_u(flags, UNLOGGED as i64);
        let (slow, next) = (self.new_cold_block(), self.new_block());
        self.builder.ins().brif(unlogged, slow, &[], next, &[]);
        self.switch_to(slow);
        match index {
            Some(index) => self.preserving_call(Stub::RememberElement, &[object, index]),
            None => self.preserving_call(Stub::Remember, &[object]),
        }
        self.builder.ins().jump(next, &[]);
        self.switch_to(next);
    }

    /// Where helpers and stack walkers see this code stand: at a site of its own.
    pub fn store_place(&mut self, value: Value, reason: &'static str) -> Option<u32> {
        let state = self.region.node(value).state?;
        let (site, _) = self.site(state, self.block, reason, None);
        let place = self.constant(types::I64, self.place(site));
        self.builder.ins().store(PLAIN, place, self.context, self.model.context.exit_place);
        Some(site)
    }

    fn new_object(&mut self, value: Value, class: ClassId) -> clif::Value {
        let model = *self.model.class(class);
        let join = self.new_block();
        let object = self.builder.append_block_param(join, types::I64);
        let slow = self.new_cold_block();
        match model.cell {
            Some((size_class, cell)) => self.bump(size_class, cell, model.offset, slow, join),
            None => {
                self.builder.ins().jump(slow, &[]);
            }
        }
        self.switch_to(slow);
        self.store_place(value, Reason::Memory.name());
        let class_offset = self.constant(types::I64, model.offset as u64);
        self.preserving_call(Stub::Allocate, &[class_offset]);
        self.finish_allocation(value, join);
        object
    }

    /// Takes a cell from a run and goes to `join` with it; to `slow` if there is none.
    fn bump(&mut self, size_class: usize, cell: usize, class: u32, slow: clif::Block, join: clif::Block) {
        const RUN: usize = size_of::<holloway_vm::heap::Run>();
        let runs = self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.runs);
        let (current, limit) = ((size_class * RUN) as i32, (size_class * RUN + 8) as i32);
        let at = self.builder.ins().load(types::I64, PLAIN, runs, current);
        let end = self.builder.ins().load(types::I64, PLAIN, runs, limit);
        let full = self.builder.ins().icmp(IntCC::Equal, at, end);
        let room = self.new_block();
        self.builder.ins().brif(full, slow, &[], room, &[]);
        self.switch_to(room);
        let next = self.builder.ins().iadd_imm_s(at, cell as i64);
        self.builder.ins().store(PLAIN, next, runs, current);
        let header = self.constant(types::I64, (class as u64) << 32);
        self.builder.ins().store(PLAIN, header, at, 0);
        self.builder.ins().jump(join, &[at.into()]);
    }

    /// After an allocation helper: on with the object, or out if there is none.
    fn finish_allocation(&mut self, value: Value, join: clif::Block) {
        let made = self.result();
        let exit = self.exit_of(value, Reason::Memory);
        let none = self.builder.ins().icmp_imm_s(IntCC::Equal, made, 0);
        self.builder.ins().brif(none, exit, &[], join, &[made.into()]);
        self.switch_to(join);
    }

    fn new_array(&mut self, value: Value, class: ClassId) -> clif::Value {
        let node = self.region.node(value);
        let (length, model) = (node.args[0], *self.model.class(class));
        let element = self.program.classes[class.index()].element().unwrap_or(Element::Int);
        let join = self.new_block();
        let array = self.builder.append_block_param(join, types::I64);
        let slow = self.new_cold_block();
        // Short arrays of known length come from a run, as objects do.
        const INLINE: u64 = 1024;
        let known = self.region.int(self.region.unchecked(length)).map(|n| n as u64).filter(|&n| n <= INLINE);
        match known {
            Some(n) => {
                let bytes = (ELEMENTS + n as usize * element.size()).next_multiple_of(8);
                let size_class = holloway_vm::heap::size_class(bytes);
                let placed = self.new_block();
                let cell = self.builder.append_block_param(placed, types::I64);
                self.bump(size_class, holloway_vm::heap::cell_size(size_class), model.offset, slow, placed);
                self.switch_to(placed);
                let n = self.constant(types::I64, n);
                self.builder.ins().store(PLAIN, n, cell, LENGTH as i32);
                self.builder.ins().jump(join, &[cell.into()]);
            }
            None => {
                let length = self.value(length);
                self.bump_array(length, element.size(), model.offset, slow, join);
            }
        }
        self.switch_to(slow);
        self.store_place(value, Reason::Memory.name());
        let (class_offset, words) = (self.constant(types::I64, model.offset as u64), self.value(length));
        self.preserving_call(Stub::AllocateArray, &[class_offset, words]);
        self.finish_allocation(value, join);
        array
    }

    /// The same for an array whose length is not known: its size class comes from a table. Long arrays go to `slow`.
    fn bump_array(
        &mut self,
        length: clif::Value,
        element_size: usize,
        class: u32,
        slow: clif::Block,
        join: clif::Block,
    ) {
        const LONGEST: i64 = 1024;
        let short = self.new_block();
        let long =
            self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, length, LONGEST / element_size as i64);
        self.builder.ins().brif(long, slow, &[], short, &[]);
        self.switch_to(short);
        let words = match element_size {
            1 => {
                let rounded = self.builder.ins().iadd_imm_s(length, 7 + ELEMENTS as i64);
                self.builder.ins().ushr_imm_u(rounded, 3)
            }
            _ => self.builder.ins().iadd_imm_s(length, ELEMENTS as i64 / 8),
        };
        let table = self.constant(types::I64, self.model.size_classes());
        let entry = self.builder.ins().iadd(table, words);
        let size_class = self.builder.ins().uload8(types::I64, PLAIN, entry, 0);
        let sizes = self.constant(types::I64, self.model.cell_sizes());
        let entry = self.builder.ins().ishl_imm_u(size_class, 2);
        let entry = self.builder.ins().iadd(sizes, entry);
        let cell = self.builder.ins().uload32(PLAIN, entry, 0);
        let runs = self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.runs);
        let distance = self.builder.ins().ishl_imm_u(size_class, 4);
        let run = self.builder.ins().iadd(runs, distance);
        let at = self.builder.ins().load(types::I64, PLAIN, run, 0);
        let end = self.builder.ins().load(types::I64, PLAIN, run, 8);
        let full = self.builder.ins().icmp(IntCC::Equal, at, end);
        let room = self.new_block();
        self.builder.ins().brif(full, slow, &[], room, &[]);
        self.switch_to(room);
        let next = self.builder.ins().iadd(at, cell);
        self.builder.ins().store(PLAIN, next, run, 0);
        let header = self.constant(types::I64, (class as u64) << 32);
        self.builder.ins().store(PLAIN, header, at, 0);
        self.builder.ins().store(PLAIN, length, at, LENGTH as i32);
        self.builder.ins().jump(join, &[at.into()]);
    }

    /// What a helper left as its result.
    pub fn result(&mut self) -> clif::Value {
        self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.result)
    }
}

fn field_offset(field: u16) -> i32 {
    (FIELDS + field as usize * 8) as i32
}
