//! What counts: counters, ends of paths.
//!
//! Counters are reached by a displacement from the base in the context, which is loaded each time: that load hits the
//! cache, and a base in a register would be one register less for the loop. The number of a path that may be sampled is stored in
//! the cold block of its yieldpoint, so that nothing is executed for it as long as nobody samples.

use super::function::Lowering;
use crate::ir::{Op, Value, YieldKind};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use holloway_vm::compiled::Stub;
use holloway_vm::profiling::{ForestFrame, NO_PATH, PathEnd};

const PLAIN: MemFlagsData = MemFlagsData::trusted();

impl Lowering<'_, '_> {
    /// Lowers an operation of profiling.
    pub fn profiling(&mut self, op: Op, args: &[Value]) {
        match op {
            Op::Count(counter) => {
                let base = self.counters();
                self.increment(base, counter);
            }
            Op::SetPath(number) => {
                let register = self.path_register();
                let number = self.builder.ins().iconst(types::I32, number & 0xffff_ffff);
                let flags = self.path_flags();
                self.builder.ins().store(flags, number, register, 0);
            }
            Op::AddPath(more) => {
                let (register, flags) = (self.path_register(), self.path_flags());
                let number = self.builder.ins().uload32(flags, register, 0);
                let number = self.builder.ins().iadd_imm_s(number, more);
                self.builder.ins().istore32(flags, number, register, 0);
            }
            Op::CountPath(first) => {
                let number = self.value(args[0]);
                let base = self.counters();
                let offset = self.builder.ins().ishl_imm_u(number, 3);
                let at = self.builder.ins().iadd(base, offset);
                self.increment(at, first);
            }
            Op::HashPath => {
                let number = self.value(args[0]);
                let version = self.constant(types::I64, u64::from(self.code));
                self.plain_call(Stub::CountPath, [version, number]);
            }
            Op::GrowForest => {
                let number = self.value(args[0]);
                let Some(frame) = self.forest_frame else { return };
                let frame = self.builder.ins().stack_addr(types::I64, frame, 0);
                self.plain_call(Stub::GrowForest, [number, frame]);
            }
            Op::SamplePath => {
                let next = self.poll(YieldKind::Loop);
                let number = self.value(args[0]);
                let told = args.get(1).and_then(|&told| self.region.int(told));
                let place = PathEnd { version: self.code, told: told.map(|told| told as u32) };
                let place = self.constant(types::I64, place.word());
                self.preserving_call(Stub::SamplePath, &[place, number]);
                self.builder.ins().jump(next, &[]);
                self.switch_to(next);
            }
            _ => {}
        }
    }

    fn path_register(&mut self) -> clif::Value {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 4, 2);
        let slot = *self.path_register.get_or_insert_with(|| self.builder.create_sized_stack_slot(slot));
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// The path register is memory that nothing else names: what is known of the rest survives a store to it.
    fn path_flags(&mut self) -> MemFlagsData {
        let region = clif::AliasRegionData { user_id: 0, description: "path register".into() };
        PLAIN.with_alias_region(Some(self.builder.func.dfg.alias_regions.insert(region)))
    }

    /// The path register and so much more.
    pub fn path(&mut self, more: i64) -> clif::Value {
        let (register, flags) = (self.path_register(), self.path_flags());
        // Extended by the load: one that is part of another instruction would want the address in a register, all the way.
        let number = self.builder.ins().uload32(flags, register, 0);
        self.builder.ins().iadd_imm_s(number, more)
    }

    /// Calls a helper with the C convention, with the context and these words.
    fn plain_call(&mut self, stub: Stub, words: [clif::Value; 2]) {
        let signature = self.helper_signature(3, false);
        let offset = self.model.context.stub(stub);
        let callee = self.builder.ins().load(types::I64, PLAIN, self.context, offset);
        let [first, second] = words;
        self.builder.ins().call_indirect(signature, callee, &[self.context, first, second]);
    }

    fn counters(&mut self) -> clif::Value {
        self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.counters)
    }

    fn increment(&mut self, base: clif::Value, counter: u32) {
        let Some(displacement) = i32::try_from(counter).ok().and_then(|counter| counter.checked_mul(8))
        else {
            self.refusal = Some("its counters are out of reach".into());
            return;
        };
        let count = self.builder.ins().load(types::I64, PLAIN, base, displacement);
        let more = self.builder.ins().iadd_imm_s(count, 1);
        self.builder.ins().store(PLAIN, more, base, displacement);
    }

    /// Stores the number of the path that ends at a yieldpoint, or that none does.
    pub fn tell_path(&mut self, yieldpoint: Value) {
        let number = match self.region.node(yieldpoint).args.first() {
            Some(&number) => self.value(number),
            None => self.constant(types::I64, NO_PATH),
        };
        self.builder.ins().store(PLAIN, number, self.context, self.model.context.path);
    }

    /// Makes what an activation needs to keep of its place in the k-slab forest, and says that nothing has happened yet.
    pub fn begin_activation(&mut self) {
        let grows = self.region.blocks.iter().flat_map(|block| &block.nodes);
        if !grows.clone().any(|&value| self.region.op(value) == Op::GrowForest) {
            return;
        }
        let size = size_of::<ForestFrame>() as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        for (offset, word) in (0..).step_by(8).zip(ForestFrame::words(self.code)) {
            let word = self.constant(types::I64, word);
            self.builder.ins().stack_store(types::I64, word, slot, offset);
        }
        self.forest_frame = Some(slot);
    }
}
