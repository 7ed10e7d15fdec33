//! What counts: counters, ends of paths.
//!
//! Counters are reached by a displacement from the base in the context, which is loaded each time: that load hits the
//! cache, and a base in a register would be one register less for the loop. The number of a path that may be sampled is nowhere in
//! the code: the virtual machine finds it by the place of the yieldpoint that is taken, and the path register.

use super::function::Lowering;
use crate::ir::{Op, Value, YieldKind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use cranelift_frontend::Variable;
use holloway_profilers::kblpp::{Activation, NodeLayout, StepLayout};
use holloway_profilers::stream::TableAddress;
use holloway_profilers::windows::Window;
use holloway_vm::compiled::{EndNumber, PathEnd, Stub};
use holloway_vm::profiling::{BlockInstrumentation, Roots, TraceFrame, Windows, receiver_key};
use std::collections::BTreeSet;

const PLAIN: MemFlagsData = MemFlagsData::trusted();

/// The bytes of the largest register that is spilled.
const SPILLED: u32 = 16;

/// What an activation keeps of counters.
#[derive(Default)]
pub struct Kept {
    of: Vec<(u32, Variable)>,
    /// Nothing: one value for all, so that where ways meet on which nothing is kept there is nothing to be told.
    none: Option<clif::Value>,
}

impl Lowering<'_, '_> {
    /// Lowers an operation of profiling.
    pub fn profiling(&mut self, op: Op, args: &[Value]) {
        match op {
            Op::Count(counter) => {
                let base = self.counters();
                self.increment(base, counter);
            }
            Op::CountKept(counter) => {
                let Some(kept) = self.kept(counter) else { return };
                let count = self.builder.use_var(kept);
                let more = self.builder.ins().iadd_imm_s(count, 1);
                self.builder.def_var(kept, more);
            }
            Op::AddKept(counter) => {
                let Some(kept) = self.kept(counter) else { return };
                self.add_kept(counter, kept);
                if let Some(none) = self.kept.none {
                    self.builder.def_var(kept, none);
                }
            }
            Op::SetPath(number) => self.set_path(number),
            Op::AddPath(more) => {
                // The three become one instruction.
                let register = self.path_register();
                let number = self.builder.ins().load(types::I64, PLAIN, register, 0);
                let more = self.builder.ins().iconst(types::I64, i64::from(more as i32));
                let number = self.builder.ins().iadd(number, more);
                self.builder.ins().store(PLAIN, number, register, 0);
            }
            Op::CountPath(first) => {
                let number = self.value(args[0]);
                let base = self.counters();
                let offset = self.builder.ins().ishl_imm_u(number, 3);
                let at = self.builder.ins().iadd(base, offset);
                self.increment(at, first);
            }
            Op::HashPath(table) => {
                let number = self.value(args[0]);
                let Some(displacement) = self.displacement(table) else { return };
                let table = self.constant(types::I64, displacement as u64);
                self.preserving_call(Stub::CountPath, &[table, number]);
            }
            Op::PlantForest(roots) => self.plant_forest(args[0], roots),
            Op::GrowForest => self.grow_forest(args[0]),
            Op::HashWindow { windows, first } => self.hash_window(args[0], windows, first),
            Op::CountReceiver { cells, site } => {
                let Some(displacement) = self.displacement(cells) else { return };
                let table = self.constant(types::I64, displacement as u64);
                let class = self.class_of(args[0]);
                let class = self.builder.ins().uextend(types::I64, class);
                let number = self.builder.ins().bor_imm_u(class, receiver_key(site) as i64);
                self.preserving_call(Stub::CountPath, &[table, number]);
            }
            Op::Block(number) => self.tell_block(number),
            Op::CountCached { cells, entries } => self.count_cached(args[0], cells, entries),
            Op::Trace(step) => {
                let Some(frame) = self.trace_frame else { return };
                let step = self.constant(types::I64, step);
                let frame = self.builder.ins().stack_addr(types::I64, frame, 0);
                let signature = self.helper_signature(3, false);
                self.plain_call(Stub::Trace, signature, [step, frame]);
            }
            Op::SamplePath => {
                let next = self.poll(YieldKind::Loop);
                let number = self.value(args[0]);
                let version = self.constant(types::I64, u64::from(self.code));
                self.preserving_call(Stub::SamplePath, &[version, number]);
                self.builder.ins().jump(next, &[]);
                self.switch_to(next);
            }
            _ => {}
        }
    }

    /// A block of the bytecode is entered: the profiler is called, or only when so many blocks have passed.
    fn tell_block(&mut self, number: u32) {
        let next = match self.model.instrumentation.blocks {
            Some(BlockInstrumentation::Decrement) => {
                let left = self.model.context.blocks_left;
                let count = self.builder.ins().load(types::I64, PLAIN, self.context, left);
                let count = self.builder.ins().iadd_imm_s(count, -1);
                self.builder.ins().store(PLAIN, count, self.context, left);
                let (due, next) = (self.new_cold_block(), self.new_block());
                self.builder.ins().brif(count, next, &[], due, &[]);
                self.switch_to(due);
                Some(next)
            }
            _ => None,
        };
        let number = self.constant(types::I64, u64::from(number));
        self.preserving_call(Stub::Block, &[number]);
        if let Some(next) = next {
            self.builder.ins().jump(next, &[]);
            self.switch_to(next);
        }
    }

    /// Counts a receiver in an inline cache: here if it is of the class of the first entry, else by the stub.
    fn count_cached(&mut self, receiver: Value, cells: u32, entries: u32) {
        let Some(displacement) = self.displacement(cells) else { return };
        let class = self.class_of(receiver);
        let class = self.builder.ins().uextend(types::I64, class);
        let base = self.counters();
        // What was lost, then class and count of each entry.
        let first = self.builder.ins().load(types::I64, PLAIN, base, displacement + 8);
        let hit = self.builder.ins().icmp(IntCC::Equal, first, class);
        let (found, others, next) = (self.new_block(), self.new_cold_block(), self.new_block());
        self.builder.ins().brif(hit, found, &[], others, &[]);
        self.switch_to(others);
        let cache = self.constant(types::I64, displacement as u64);
        let class = self.builder.ins().bor_imm_u(class, (u64::from(entries) << 32) as i64);
        self.preserving_call(Stub::CountCached, &[cache, class]);
        self.builder.ins().jump(next, &[]);
        self.switch_to(found);
        self.add_one(base, displacement + 16);
        self.builder.ins().jump(next, &[]);
        self.switch_to(next);
    }

    /// Its address, which is made where the function begins: each use of it contains the address itself, but each time it is
    /// made there would be an instruction for it, too.
    fn path_register(&mut self) -> clif::Value {
        self.path_register.unwrap_or_else(|| unreachable!("made where the activation begins"))
    }

    /// Room in the frame for a value. Beyond such room Cranelift spills registers, those of floats as 16 bytes, which shall not lie
    /// across the lines of the cache.
    fn slot<T>(&mut self) -> clif::StackSlot {
        let size = (size_of::<T>() as u32).next_multiple_of(SPILLED);
        let shift = align_of::<T>().trailing_zeros() as u8;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, shift);
        self.builder.create_sized_stack_slot(slot)
    }

    /// The path register and so much more.
    pub fn path(&mut self, more: i64) -> clif::Value {
        let register = self.path_register();
        // Extended by the load: one that is part of another instruction would want the address in a register, all the way.
        let number = self.builder.ins().uload32(PLAIN, register, 0);
        if more == 0 {
            return number;
        }
        // The sum has the width of the register: what it held may have been less than nothing.
        let number = self.builder.ins().ireduce(types::I32, number);
        let sum = self.builder.ins().iadd_imm_s(number, i64::from(more as i32));
        self.builder.ins().uextend(types::I64, sum)
    }

    /// The first step of an activation in the k-slab forest: to the root that was found last for paths with these low bits.
    fn plant_forest(&mut self, number: Value, roots: Roots) {
        let number = self.value(number);
        let Some(known) = self.forest_root(number, roots) else { return };
        let (found, slow, next) = (self.new_block(), self.new_cold_block(), self.new_block());
        let nodes = self.forest_nodes();
        let root = self.builder.ins().ireduce(types::I32, known);
        let root = self.builder.ins().uextend(types::I64, root);
        let known = self.builder.ins().ushr_imm_u(known, 32);
        let label = self.builder.ins().iadd_imm_s(number, 1);
        let is_root = self.builder.ins().icmp(IntCC::Equal, known, label);
        self.walk_if(is_root, root, found, slow);
        self.switch_to(slow);
        let version = self.constant(types::I64, u64::from(self.code));
        let signature = self.helper_signature(3, true);
        let call = self.plain_call(Stub::PlantForest, signature, [version, number]);
        if let Some(slot) = self.forest_cursor() {
            let cursor = self.builder.inst_results(call)[0];
            self.builder.ins().istore32(PLAIN, cursor, slot, 0);
        }
        self.builder.ins().jump(next, &[]);
        self.count_in_forest(nodes, found, next);
    }

    /// A further step: to the first child, if it has the number of the path as its label, or where such a step led before. What else
    /// there may be is the virtual machine's business, which knows where this one leads when it is taken again. (Looking the step up
    /// at once would cost no mispredicted branch where paths have no order; but steps lie everywhere in memory, and first children
    /// in a row: with large forests that is ten times slower.)
    fn grow_forest(&mut self, number: Value) {
        let number = self.value(number);
        let Some(slot) = self.forest_cursor() else { return };
        let nodes = self.forest_nodes();
        let cursor = self.builder.ins().uload32(PLAIN, slot, 0);
        let here = self.forest_node(nodes, cursor);
        let (found, next) = (self.new_block(), self.new_block());
        let (others, slow) = (self.new_cold_block(), self.new_cold_block());
        let first = self.builder.ins().uload32(PLAIN, here, NodeLayout::CHILD as i32);
        let its = self.builder.ins().load(types::I32, PLAIN, here, NodeLayout::LABEL as i32);
        let label = self.builder.ins().ireduce(types::I32, number);
        let is_first = self.builder.ins().icmp(IntCC::Equal, its, label);
        self.walk_if(is_first, first, found, others);
        self.switch_to(others);
        let node = self.forest_step(cursor, number, slow);
        // One that is more frequent than the first child takes its place, which is up to the virtual machine: it is asked now and then.
        let address = self.forest_node(nodes, node);
        let count = self.builder.ins().load(types::I64, PLAIN, address, NodeLayout::COUNT as i32);
        let patience = self.builder.ins().band_imm_u(count, (NodeLayout::PATIENCE - 1) as i64);
        self.walk_if(patience, node, found, slow);
        self.switch_to(slow);
        let version = self.constant(types::I64, u64::from(self.code) << 32);
        let end = self.builder.ins().bor(version, number);
        self.preserving_call(Stub::GrowForest, &[end, slot]);
        self.builder.ins().jump(next, &[]);
        self.count_in_forest(nodes, found, next);
    }

    /// The node to which a step led that was taken of late, or one to which another one did.
    fn forest_step(&mut self, cursor: clif::Value, label: clif::Value, slow: clif::Block) -> clif::Value {
        let first = self.constant(types::I64, u64::from(StepLayout::FIRST | self.code));
        let from = self.builder.ins().select(cursor, cursor, first);
        let label = self.builder.ins().ishl_imm_u(label, 32);
        let key = self.builder.ins().bor(label, from);
        let golden = self.constant(types::I64, TableAddress::GOLDEN);
        let hash = self.builder.ins().imul(key, golden);
        let context = &self.model.context;
        let shift = self.builder.ins().load(types::I32, PLAIN, self.context, context.forest_shift);
        let steps = self.builder.ins().load(types::I64, PLAIN, self.context, context.forest_steps);
        let place = self.builder.ins().ushr(hash, shift);
        let offset = self.builder.ins().ishl_imm_u(place, i64::from(StepLayout::SHIFT));
        let cell = self.builder.ins().iadd(steps, offset);
        let its = self.builder.ins().load(types::I64, PLAIN, cell, StepLayout::KEY as i32);
        let is_known = self.builder.ins().icmp(IntCC::Equal, its, key);
        let known = self.new_cold_block();
        self.builder.ins().brif(is_known, known, &[], slow, &[]);
        self.switch_to(known);
        self.builder.ins().uload32(PLAIN, cell, StepLayout::TO as i32)
    }

    /// The window of the last paths moves on by one, and is counted.
    fn hash_window(&mut self, number: Value, Windows { cells, numbers }: Windows, first: bool) {
        let number = self.value(number);
        let Some(displacement) = self.displacement(cells) else { return };
        let mut window = self.builder.ins().iadd_imm_s(number, 1);
        if let Some(slot) = self.window {
            let slot = self.builder.ins().stack_addr(types::I64, slot, 0);
            if !first {
                let before = self.builder.ins().load(types::I64, PLAIN, slot, 0);
                let before = self.builder.ins().ishl_imm_u(before, i64::from(numbers.digit()));
                let all = self.builder.ins().iadd(before, window);
                let mask = self.constant(types::I64, numbers.mask());
                window = self.builder.ins().band(all, mask);
            }
            self.builder.ins().store(PLAIN, window, slot, 0);
        }
        let table = self.constant(types::I64, displacement as u64);
        self.preserving_call(Stub::CountPath, &[table, window]);
    }

    /// Goes to `found` with the node's number if this is not 0.
    fn walk_if(&mut self, is_it: clif::Value, node: clif::Value, found: clif::Block, otherwise: clif::Block) {
        if self.builder.block_params(found).is_empty() {
            self.builder.append_block_param(found, types::I64);
        }
        self.builder.ins().brif(is_it, found, &[node.into()], otherwise, &[]);
    }

    /// Counts at the node that was found, and remembers it.
    fn count_in_forest(&mut self, nodes: clif::Value, found: clif::Block, next: clif::Block) {
        self.switch_to(found);
        let node = self.builder.block_params(found)[0];
        let address = self.forest_node(nodes, node);
        self.add_one(address, NodeLayout::COUNT as i32);
        if let Some(slot) = self.forest_cursor() {
            self.builder.ins().istore32(PLAIN, node, slot, 0);
        }
        self.builder.ins().jump(next, &[]);
        self.switch_to(next);
    }

    /// What is known of the root that was found last for paths with these low bits: [`Roots::word`].
    fn forest_root(&mut self, number: clif::Value, roots: Roots) -> Option<clif::Value> {
        let displacement = self.displacement(roots.first)?;
        let counters = self.counters();
        let low = self.builder.ins().band_imm_u(number, i64::from(roots.count - 1));
        let offset = self.builder.ins().ishl_imm_u(low, 3);
        let at = self.builder.ins().iadd(counters, offset);
        Some(self.builder.ins().load(types::I64, PLAIN, at, displacement))
    }

    /// Where the activation has its place in the forest, if it must be remembered.
    fn forest_cursor(&mut self) -> Option<clif::Value> {
        self.forest_cursor.map(|slot| self.builder.ins().stack_addr(types::I64, slot, 0))
    }

    fn forest_nodes(&mut self) -> clif::Value {
        self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.forest_nodes)
    }

    /// Where this node is.
    fn forest_node(&mut self, nodes: clif::Value, number: clif::Value) -> clif::Value {
        let offset = self.builder.ins().ishl_imm_u(number, i64::from(NodeLayout::SHIFT));
        self.builder.ins().iadd(nodes, offset)
    }

    /// Calls a helper with the C convention, with the context and these words.
    fn plain_call(&mut self, stub: Stub, signature: clif::SigRef, words: [clif::Value; 2]) -> clif::Inst {
        let offset = self.model.context.stub(stub);
        let callee = self.builder.ins().load(types::I64, PLAIN, self.context, offset);
        let [first, second] = words;
        self.builder.ins().call_indirect(signature, callee, &[self.context, first, second])
    }

    /// What the activation keeps of a counter.
    fn kept(&self, counter: u32) -> Option<Variable> {
        self.kept.of.iter().find(|of| of.0 == counter).map(|of| of.1)
    }

    fn add_kept(&mut self, counter: u32, kept: Variable) {
        let Some(displacement) = self.displacement(counter) else { return };
        let more = self.builder.use_var(kept);
        let base = self.counters();
        let count = self.builder.ins().load(types::I64, PLAIN, base, displacement);
        let count = self.builder.ins().iadd(count, more);
        self.builder.ins().store(PLAIN, count, base, displacement);
    }

    /// Compiled code is left, perhaps from within a loop: what the activation keeps goes to the counters.
    pub fn add_all_kept(&mut self) {
        for (counter, kept) in std::mem::take(&mut self.kept.of) {
            self.add_kept(counter, kept);
        }
    }

    fn counters(&mut self) -> clif::Value {
        self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.counters)
    }

    /// Where a counter is, from the base.
    fn displacement(&mut self, counter: u32) -> Option<i32> {
        let displacement = i32::try_from(counter).ok().and_then(|counter| counter.checked_mul(8));
        if displacement.is_none() {
            self.refusal = Some("its counters are out of reach".into());
        }
        displacement
    }

    fn increment(&mut self, base: clif::Value, counter: u32) {
        if let Some(displacement) = self.displacement(counter) {
            self.add_one(base, displacement);
        }
    }

    fn add_one(&mut self, base: clif::Value, displacement: i32) {
        let count = self.builder.ins().load(types::I64, PLAIN, base, displacement);
        let more = self.builder.ins().iadd_imm_s(count, 1);
        self.builder.ins().store(PLAIN, more, base, displacement);
    }

    /// The path that ends at a yieldpoint, if one does, as the virtual machine is told if it is taken.
    pub fn ended_path(&mut self, yieldpoint: Value) -> Option<PathEnd> {
        let args = &self.region.node(yieldpoint).args;
        let number = match self.region.op(*args.first()?) {
            Op::Int(number) => EndNumber::Known(number as u64),
            Op::Path(more) => EndNumber::Register(more as u32),
            _ => {
                self.refusal = Some("the number of a path that ends is not known by its register".into());
                return None;
            }
        };
        let next = args.get(1).and_then(|&next| self.region.int(next)).map(|next| next as u32);
        Some(PathEnd { number, next })
    }

    /// All of the word is written, though only the low half counts: where halves are written beside spilled values, reloading these is slower
    /// (Permute took 8 % longer with PEP instead of 3, on a Zen 5).
    fn set_path(&mut self, number: i64) {
        let register = self.path_register();
        let number = self.builder.ins().iconst(types::I64, i64::from(number as i32));
        self.builder.ins().store(PLAIN, number, register, 0);
    }

    /// So far the activation keeps nothing of counters.
    fn begin_keeping(&mut self) {
        let nodes = self.region.blocks.iter().flat_map(|block| &block.nodes);
        let kept: BTreeSet<u32> = nodes
            .filter_map(|&value| match self.region.op(value) {
                Op::CountKept(counter) => Some(counter),
                _ => None,
            })
            .collect();
        if kept.is_empty() {
            return;
        }
        let none = self.builder.ins().iconst(types::I64, 0);
        self.kept.none = Some(none);
        for counter in kept {
            let variable = self.builder.declare_var(types::I64);
            self.builder.def_var(variable, none);
            self.kept.of.push((counter, variable));
        }
    }

    /// Makes room for what an activation needs to keep of its place in the k-slab forest and in a trace, and says that nothing has
    /// happened yet.
    pub fn begin_activation(&mut self) {
        self.begin_keeping();
        let Some(wanted) = self.model.instrumentation.paths else { return };
        let has_register =
            |&value: &Value| matches!(self.region.op(value), Op::SetPath(_) | Op::AddPath(_) | Op::Path(_));
        if self.region.blocks.iter().flat_map(|block| &block.nodes).any(has_register) {
            let slot = self.slot::<u64>();
            self.path_slot = Some(slot);
            self.path_register = Some(self.builder.ins().stack_addr(types::I64, slot, 0));
        }
        let mut nodes = self.region.blocks.iter().flat_map(|block| &block.nodes);
        // Where every path is the first of its activation there is nothing to remember.
        if wanted.forest && nodes.any(|&value| matches!(self.region.op(value), Op::GrowForest)) {
            let slot = self.slot::<Activation>();
            let nobody = self.constant(types::I32, u64::from(Activation::default().bits()));
            self.forest_cursor = Some(slot);
            let slot = self.builder.ins().stack_addr(types::I64, slot, 0);
            self.builder.ins().store(PLAIN, nobody, slot, 0);
        }
        let mut nodes = self.region.blocks.iter().flat_map(|block| &block.nodes);
        let goes_on = |&value: &Value| matches!(self.region.op(value), Op::HashWindow { first: false, .. });
        if wanted.windows.is_some() && nodes.any(goes_on) {
            let slot = self.slot::<Window>();
            let none = self.constant(types::I64, 0);
            self.window = Some(slot);
            self.builder.ins().stack_store(types::I64, none, slot, 0);
        }
        if wanted.traced {
            let slot = self.slot::<TraceFrame>();
            for (offset, word) in (0..).step_by(8).zip(TraceFrame::words(self.code)) {
                let word = self.constant(types::I64, word);
                self.builder.ins().stack_store(types::I64, word, slot, offset);
            }
            self.trace_frame = Some(slot);
        }
    }
}
