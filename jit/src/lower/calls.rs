//! Calls of methods and natives, and yieldpoints.

use super::function::{Lowering, machine_type, signature};
use crate::ir::{MethodTable, Op, Reason, Value, YieldKind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self as clif, AbiParam, BlockArg, ExceptionTableData, ExceptionTableItem, InstBuilder, MemFlagsData,
    Signature, types,
};
use cranelift_codegen::isa::CallConv;
use holloway_bytecode::Native;
use holloway_vm::compiled::Stub;

const PLAIN: MemFlagsData = MemFlagsData::trusted();

/// Key parts that tell kinds of signatures from each other.
mod kind {
    use super::clif::types;
    pub const METHOD: super::clif::Type = types::I8;
    pub const PRESERVING: super::clif::Type = types::I16;
    pub const HELPER: super::clif::Type = types::I32;
    pub const PLAIN: super::clif::Type = types::F32;
}

impl Lowering<'_, '_> {
    fn import(&mut self, key: Vec<clif::Type>, make: impl FnOnce() -> Signature) -> clif::SigRef {
        if let Some(&found) = self.signatures.get(&key) {
            return found;
        }
        let reference = self.builder.import_signature(make());
        self.signatures.insert(key, reference);
        reference
    }

    fn method_signature(&mut self, params: &[clif::Type]) -> clif::SigRef {
        let key = [&[kind::METHOD], params].concat();
        self.import(key, || signature(params))
    }

    /// A helper with so many words as arguments.
    pub fn helper_signature(&mut self, words: usize, result: bool) -> clif::SigRef {
        let mut key = vec![kind::HELPER; words + 1];
        if result {
            key.push(types::I64);
        }
        self.import(key, || {
            let mut signature = Signature::new(CallConv::SystemV);
            signature.params.extend((0..words).map(|_| AbiParam::new(types::I64)));
            if result {
                signature.returns.push(AbiParam::new(types::I64));
            }
            signature
        })
    }

    /// A function of the C convention.
    pub fn plain_signature(&mut self, params: &[clif::Type], result: clif::Type) -> clif::SigRef {
        let key = [&[kind::PLAIN, result], params].concat();
        self.import(key, || {
            let mut signature = Signature::new(CallConv::SystemV);
            signature.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
            signature.returns.push(AbiParam::new(result));
            signature
        })
    }

    /// Calls a stub, with the context and these words.
    pub fn preserving_call(&mut self, stub: Stub, words: &[clif::Value]) {
        let signature = self.import(vec![kind::PRESERVING; words.len() + 1], || {
            let mut signature = Signature::new(CallConv::PreserveAll);
            signature.params.extend((0..words.len() + 1).map(|_| AbiParam::new(types::I64)));
            signature
        });
        let offset = self.model.context.stub(stub);
        let callee = self.builder.ins().load(types::I64, PLAIN, self.context, offset);
        let mut arguments = vec![self.context];
        arguments.extend(words);
        self.builder.ins().call_indirect(signature, callee, &arguments);
    }

    /// Lowers a call.
    pub fn call(&mut self, value: Value) -> Option<clif::Value> {
        let region = self.region;
        let node = region.node(value);
        match node.op {
            Op::Call(function) => {
                let method = self.constant(types::I64, self.model.method(function));
                self.call_method(value, method)
            }
            Op::CallVirtual(class, slot) => {
                let method = self.method_of(node.args[0], MethodTable::Class(class, slot));
                self.call_method(value, method)
            }
            Op::CallInterface(interface, number) => {
                let method = self.method_of(node.args[0], MethodTable::Interface(interface, number));
                self.call_method(value, method)
            }
            Op::CallNative(native) => self.native(value, native),
            _ => None,
        }
    }

    /// The method at a place of the receiver's table.
    pub fn method_of(&mut self, receiver: Value, table: MethodTable) -> clif::Value {
        let record = self.class_record(receiver);
        let displacement = match table {
            MethodTable::Class(_, slot) => self.model.virtual_displacement(slot),
            MethodTable::Interface(interface, number) => self.model.interface_displacement(interface, number),
        };
        self.builder.ins().load(types::I64, PLAIN, record, displacement)
    }

    /// Calls a method through its slot. An error that comes out of it arrives at a landing pad, which leaves compiled
    /// code; so does a normal return if this code has become invalid in the meantime.
    fn call_method(&mut self, value: Value, method: clif::Value) -> Option<clif::Value> {
        let region = self.region;
        let node = region.node(value);
        let entry = self.builder.ins().load(types::I64, PLAIN, method, self.model.method_entry);
        let below = region.inlines[node.inline.index()].depth as i64 + 1;
        let depth = self.builder.ins().iadd_imm_s(self.depth, -below);
        let mut arguments = vec![self.context, depth];
        for &arg in &node.args {
            let word = self.word(arg);
            arguments.push(word);
        }
        let params: Vec<clif::Type> =
            arguments[2..].iter().map(|&arg| self.builder.func.dfg.value_type(arg)).collect();
        let signature = self.method_signature(&params);
        let Some(state) = node.state else {
            self.refusal = Some("a call has no frame state".into());
            return None;
        };
        let (site, live) = self.site(state, self.block, "call", None);
        let (next, landing) = (self.new_block(), self.new_cold_block());
        let result = self.builder.append_block_param(next, types::I64);
        let payload = self.builder.append_block_param(landing, types::I64);
        let pool = &mut self.builder.func.dfg.value_lists;
        let normal = clif::BlockCall::new(next, [BlockArg::TryCallRet(0)], pool);
        let exceptional = clif::BlockCall::new(landing, [BlockArg::TryCallExn(0)], pool);
        let tag = clif::ExceptionTag::from_u32(site);
        let table = ExceptionTableData::new(signature, normal, [ExceptionTableItem::Tag(tag, exceptional)]);
        let table = self.builder.func.dfg.exception_tables.push(table);
        self.builder.ins().try_call_indirect(entry, &arguments, table);
        self.switch_to(landing);
        self.builder.ins().store(PLAIN, payload, self.context, self.model.context.result);
        self.leave(site, &live);
        self.switch_to(next);
        (node.ty != crate::ir::Ty::None).then(|| self.value_of_bits(node.ty, result))
    }

    /// Calls a native's function.
    pub fn call_native(&mut self, value: Value, native: Native) -> Option<clif::Value> {
        let region = self.region;
        let node = region.node(value);
        for (index, &arg) in node.args.iter().enumerate() {
            let word = self.word(arg);
            self.builder.ins().store(PLAIN, word, self.context, self.model.context.exits + 8 * index as i32);
        }
        let Some(state) = node.state else {
            self.refusal = Some("a call has no frame state".into());
            return None;
        };
        let (site, live) = self.site(state, self.block, "call", None);
        let place = self.constant(types::I64, self.place(site));
        self.builder.ins().store(PLAIN, place, self.context, self.model.context.exit_place);
        let number = self.constant(types::I64, native as u64);
        let count = self.constant(types::I64, node.args.len() as u64);
        let bits = if self.seldom.contains(self.block) {
            self.preserving_call(Stub::Native, &[number, count]);
            self.result()
        } else {
            let frame = self.builder.ins().get_frame_pointer(types::I64);
            let callee = self.constant(types::I64, self.model.helpers.native);
            let signature = self.helper_signature(4, true);
            let arguments = [self.context, number, count, frame];
            let call = self.builder.ins().call_indirect(signature, callee, &arguments);
            self.builder.inst_results(call)[0]
        };
        let leave = self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.leave);
        let (out, next) = (self.new_cold_block(), self.new_block());
        self.builder.ins().brif(leave, out, &[], next, &[]);
        self.switch_to(out);
        self.builder.ins().store(PLAIN, bits, self.context, self.model.context.result);
        self.leave(site, &live);
        self.switch_to(next);
        (node.ty != crate::ir::Ty::None).then(|| {
            let value = self.value_of_bits(node.ty, bits);
            debug_assert_eq!(self.builder.func.dfg.value_type(value), machine_type(node.ty));
            value
        })
    }

    /// Tests the control word as a yieldpoint of this kind does. What follows is executed if it is taken, in a cold block; gives the block
    /// in which to go on.
    pub fn poll(&mut self, kind: YieldKind) -> clif::Block {
        let control = self.builder.ins().load(types::I32, PLAIN, self.context, self.model.context.control);
        let taken = match kind {
            YieldKind::Loop | YieldKind::Header => {
                self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, control, 0)
            }
            YieldKind::Prologue | YieldKind::Epilogue => control,
        };
        let (slow, next) = (self.new_cold_block(), self.new_block());
        self.builder.ins().brif(taken, slow, &[], next, &[]);
        self.switch_to(slow);
        next
    }

    /// A yieldpoint. Before the prologue's, whether there is room for what this code calls.
    pub fn yieldpoint(&mut self, value: Value, kind: YieldKind) {
        if kind == YieldKind::Header {
            return;
        }
        if kind == YieldKind::Prologue && self.needed > 0 {
            let exit = self.exit_of(value, Reason::Depth);
            let shallow =
                self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, self.depth, self.needed as i64);
            self.leave_if(shallow, exit);
            let limit =
                self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.native_limit);
            let stack = self.builder.ins().get_stack_pointer(types::I64);
            let near = self.builder.ins().icmp(IntCC::UnsignedLessThan, stack, limit);
            self.leave_if(near, exit);
        }
        if !self.model.yieldpoints {
            return;
        }
        let next = self.poll(kind);
        let reason = if kind == YieldKind::Epilogue { Reason::Return } else { Reason::Yieldpoint };
        if let Some(site) = self.store_place(value, reason.name()) {
            self.sites[site as usize].path = self.ended_path(value);
        }
        let stub = match kind {
            YieldKind::Prologue => Stub::Prologue,
            YieldKind::Epilogue => Stub::Epilogue,
            YieldKind::Loop | YieldKind::Header => Stub::Yieldpoint,
        };
        self.preserving_call(stub, &[]);
        let leave = self.builder.ins().load(types::I64, PLAIN, self.context, self.model.context.leave);
        let exit = self.exit_of(value, reason);
        self.builder.ins().brif(leave, exit, &[], next, &[]);
        self.switch_to(next);
    }
}
