//! The frame of lowering: blocks, parameters, branches.

use super::exits::{ExitKey, OpenExit};
use super::order::{Heat, weights::weights};
use super::profiling::Kept;
use super::seldom::Seldom;
use super::sharing::Sharing;
use crate::frequency::{Counts, Frequencies};
use crate::ir::{Arith, BlockId, InlineId, Op, Region, RegionEntry, Shape, Terminator, Ty, Value};
use cranelift_codegen::ir::condcodes::{CondCode as _, IntCC};
use cranelift_codegen::ir::{
    self as clif, AbiParam, BlockArg, Function, InstBuilder, InstructionData, MemFlagsData, Signature,
    SourceLoc, UserFuncName, types,
};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use hashbrown::HashMap;
use holloway_bytecode::{FunctionId, Program};
use holloway_vm::compiled::{Model, OrderBy, Site};
use std::collections::BTreeSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A hash map without a random seed.
pub(super) type FixedMap<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// A region as a Cranelift function, with what the virtual machine must know about it.
pub struct Lowered {
    /// The function.
    pub function: Function,
    /// Places to leave.
    pub sites: Vec<Site>,
    /// What source locations stand for.
    pub locations: Vec<Origin>,
    /// Calls that must be allowed to nest at the entry.
    pub depth: u64,
    /// Where the path register is in the frame, if there is one.
    pub path_slot: Option<clif::StackSlot>,
    /// Large constants: those that may be addresses, ascending.
    pub addresses: Vec<u64>,
    /// How often blocks run, if they are to be ordered by that.
    pub heat: Option<Heat>,
    /// What blocks do for the region, if that is to be known of the machine code.
    pub owners: Option<Owners>,
}

/// What Cranelift's blocks do for those of the region.
pub struct Owners {
    /// With which one each block of the region begins.
    pub heads: Vec<clif::Block>,
    /// For which each works.
    pub of: Heat,
}

/// Where a piece of code comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The method in the region.
    pub inline: InlineId,
    /// Its function.
    pub function: FunctionId,
    /// The instruction there.
    pub pc: u32,
    /// Rarely executed, and therefore at the end.
    pub cold: bool,
    /// What of the instruction it does.
    pub part: Part,
}

/// What a piece of code does for an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Its work.
    Work,
    /// Leaves at this site.
    Exit(u32),
    /// Leaves, in the way that several exits have in common.
    Exits,
}

/// Why a region cannot be lowered.
pub type Refusal = String;

/// The function in the making.
pub(super) struct Lowering<'a, 'b> {
    pub builder: FunctionBuilder<'b>,
    pub region: &'a Region,
    pub program: &'a Program,
    pub model: &'a Model,
    pub shape: Shape,
    /// By what blocks are ordered.
    pub order: OrderBy<'a>,
    /// How often the region's blocks run, by that.
    frequencies: Frequencies,
    /// The same of Cranelift's blocks.
    pub heat: Heat,
    /// Where calls may cost more.
    pub seldom: Seldom,
    /// The number of this code, part of all its places.
    pub code: u32,
    /// What became of each node.
    pub values: Vec<Option<clif::Value>>,
    pub blocks: Vec<clif::Block>,
    pub context: clif::Value,
    /// How many more calls may nest in this frame.
    pub depth: clif::Value,
    /// How many are needed at the entry.
    pub needed: u64,
    pub sites: Vec<Site>,
    pub exits: FixedMap<ExitKey, clif::Block>,
    /// Exits whose blocks are still to be filled, in the order in which they were made.
    pub open_exits: Vec<OpenExit>,
    /// Where all exits end.
    pub last_exit: Option<clif::Block>,
    /// Which exits leave at the same place.
    pub sharing: Sharing,
    pub signatures: FixedMap<Vec<clif::Type>, clif::SigRef>,
    /// Constants of the block that is being filled.
    pub constants: FixedMap<(clif::Type, u64), clif::Value>,
    /// What else was made anew there, see [`Lowering::is_made_anew`].
    anew: FixedMap<Value, clif::Value>,
    pub addresses: BTreeSet<u64>,
    pub location_numbers: FixedMap<Origin, u32>,
    pub locations: Vec<Origin>,
    /// The block whose code is being made.
    pub block: BlockId,
    /// The instruction whose code is being made.
    at: (InlineId, u32),
    /// The same for blocks on the way of an instruction, when they were made.
    made_at: FixedMap<clif::Block, (InlineId, u32)>,
    /// Where the frame has its place in the k-slab forest, if it is to be remembered.
    pub forest_cursor: Option<clif::StackSlot>,
    /// Where the window of the last paths is, if it must be remembered.
    pub window: Option<clif::StackSlot>,
    /// Where it has its place in a trace.
    pub trace_frame: Option<clif::StackSlot>,
    /// What the activation keeps of counters.
    pub kept: Kept,
    /// Where the path register is, if there is one.
    pub path_slot: Option<clif::StackSlot>,
    /// Its address.
    pub path_register: Option<clif::Value>,
    pub refusal: Option<Refusal>,
}

/// Lowers a region, whose shape this is.
pub fn lower(
    region: &Region,
    shape: Shape,
    program: &Program,
    model: &Model,
    code: u32,
    frontend: TargetFrontendConfig,
    order: OrderBy<'_>,
) -> Result<Lowered, Refusal> {
    let mut function =
        Function::with_name_signature(UserFuncName::user(0, code), signature_of(region, program));
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut function, &mut context);
    let blocks: Vec<clif::Block> = region.block_ids().map(|_| builder.create_block()).collect();
    let zero = clif::Value::from_u32(0);
    debug_assert_eq!(shape.graph.reverse_postorder(), region.graph().reverse_postorder());
    let counts = |&value: &Value| matches!(region.op(value), Op::Count(_) | Op::CountKept(_));
    let counts_edges =
        model.instrumentation.edges && region.blocks.iter().flat_map(|block| &block.nodes).any(counts);
    let sharing = Sharing::of(region, &shape, counts_edges);
    let frequencies = Frequencies::by(region, &shape, &|block| weights(region, block, order));
    // Whatever orders blocks, the profile says what is frequent.
    let seldom = match order {
        OrderBy::Profile | OrderBy::Aside => Seldom::of(region, &frequencies),
        OrderBy::Program | OrderBy::Counts(_) => Seldom::of(region, &Frequencies::of(region, &shape)),
    };
    let mut lowering = Lowering {
        builder,
        region,
        program,
        model,
        shape,
        order,
        frequencies,
        heat: Heat::default(),
        seldom,
        code,
        values: vec![None; region.nodes.len()],
        blocks,
        context: zero,
        depth: zero,
        needed: needed_depth(region),
        sites: Vec::new(),
        exits: FixedMap::default(),
        open_exits: Vec::new(),
        last_exit: None,
        sharing,
        signatures: FixedMap::default(),
        constants: FixedMap::default(),
        anew: FixedMap::default(),
        addresses: BTreeSet::new(),
        location_numbers: FixedMap::default(),
        locations: Vec::new(),
        block: Region::ENTRY,
        at: (InlineId::ROOT, 0),
        made_at: FixedMap::default(),
        forest_cursor: None,
        window: None,
        trace_frame: None,
        kept: Kept::default(),
        path_slot: None,
        path_register: None,
        refusal: None,
    };
    lowering.run();
    let (sites, locations, depth) = (lowering.sites, lowering.locations, lowering.needed);
    let path_slot = lowering.path_slot;
    let addresses = lowering.addresses.into_iter().collect();
    let owners = model
        .instrumentation
        .branches
        .then(|| Owners { heads: lowering.blocks.clone(), of: lowering.heat.clone() });
    let heat = order.is_planned().then_some(lowering.heat);
    if let Some(refusal) = lowering.refusal {
        return Err(refusal);
    }
    lowering.builder.seal_all_blocks();
    lowering.builder.finalize(frontend);
    Ok(Lowered { function, sites, locations, depth, path_slot, addresses, heat, owners })
}

/// The machine type of a value.
pub(super) fn machine_type(ty: Ty) -> clif::Type {
    match ty {
        Ty::Float => types::F64,
        Ty::Bool => types::I8,
        Ty::Int | Ty::Ref(_) | Ty::None => types::I64,
    }
}

/// The type in which a value is passed and kept in memory: all words but floats.
pub(super) fn word_type(ty: Ty) -> clif::Type {
    if ty == Ty::Float { types::F64 } else { types::I64 }
}

/// A signature with these parameters after context and depth.
pub(super) fn signature(params: &[clif::Type]) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([types::I64, types::I64].iter().chain(params).map(|&ty| AbiParam::new(ty)));
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

fn signature_of(region: &Region, program: &Program) -> Signature {
    match region.entry {
        RegionEntry::Method => {
            let function = &program.functions[region.function().index()];
            let params: Vec<clif::Type> = function.registers[..function.params as usize]
                .iter()
                .map(|&ty| word_type(Ty::of(ty)))
                .collect();
            signature(&params)
        }
        // The frame of the interpreter.
        RegionEntry::Loop(_) => signature(&[types::I64]),
    }
}

/// How many calls nest in this region and from it: inlined ones count.
fn needed_depth(region: &Region) -> u64 {
    let inlined = region.inlines.iter().map(|inline| inline.depth as u64).max().unwrap_or(0);
    let nodes = region.blocks.iter().flat_map(|block| &block.nodes).map(|&value| region.node(value));
    let calls = nodes
        .filter(|node| matches!(node.op, Op::Call(_) | Op::CallVirtual(..) | Op::CallInterface(..)))
        .map(|node| region.inlines[node.inline.index()].depth as u64 + 1);
    inlined.max(calls.max().unwrap_or(0))
}

impl Lowering<'_, '_> {
    fn run(&mut self) {
        let order: Vec<BlockId> = self.shape.graph.reverse_postorder().to_vec();
        // A plan places what runs seldom itself.
        let aside = (!self.order.is_planned())
            .then(|| super::aside::Aside::of(self.region, &self.shape, &self.frequencies));
        for &block in &order {
            let target = self.blocks[block.index()];
            self.heat.set(target, self.frequencies.block(block));
            self.heat.set_region(target, Some(block));
            if self.region.block(block).cold || aside.as_ref().is_some_and(|aside| aside.contains(block)) {
                self.builder.set_cold_block(target);
            }
            if block != Region::ENTRY {
                for &param in &self.region.block(block).params {
                    let ty = machine_type(self.region.ty(param));
                    self.values[param.index()] = Some(self.builder.append_block_param(target, ty));
                }
            }
        }
        for block in order {
            self.lower_block(block);
        }
        self.fill_exits();
    }

    fn lower_block(&mut self, block: BlockId) {
        self.block = block;
        self.switch_to(self.blocks[block.index()]);
        if block == Region::ENTRY {
            let entry = self.blocks[block.index()];
            self.builder.append_block_params_for_function_params(entry);
            let params = self.builder.block_params(entry);
            (self.context, self.depth) = (params[0], params[1]);
            self.begin_activation();
        }
        for index in 0..self.region.block(block).nodes.len() {
            let value = self.region.block(block).nodes[index];
            let node = self.region.node(value);
            self.locate(node.inline, node.pc);
            self.node(value);
        }
        self.end(block);
    }

    /// Goes on in another block.
    pub fn switch_to(&mut self, block: clif::Block) {
        self.builder.switch_to_block(block);
        self.constants.clear();
        self.anew.clear();
        let (inline, pc) = self.made_at.get(&block).copied().unwrap_or(self.at);
        self.locate(inline, pc);
    }

    /// A new block to go on in. It stands aside if the one does that is left for it.
    pub fn new_block(&mut self) -> clif::Block {
        let block = self.builder.create_block();
        self.made_at.insert(block, self.at);
        if let Some(current) = self.builder.current_block() {
            self.heat.set(block, self.heat.block(current));
            self.heat.set_region(block, self.heat.region(current));
        }
        if self.stands_aside() {
            self.builder.set_cold_block(block);
        }
        block
    }

    /// A new block that is rarely executed.
    pub fn new_cold_block(&mut self) -> clif::Block {
        let block = self.new_block();
        self.heat.set(block, 0.0);
        self.builder.set_cold_block(block);
        block
    }

    /// Is the code that is being made away from the rest.
    fn stands_aside(&self) -> bool {
        self.builder.current_block().is_some_and(|block| self.builder.func.layout.is_cold(block))
    }

    /// What follows comes from this instruction.
    fn locate(&mut self, inline: InlineId, pc: u32) {
        self.at = (inline, pc);
        self.locate_part(Part::Work);
    }

    /// What follows does this for the instruction whose code is being made.
    pub fn locate_part(&mut self, part: Part) {
        let (inline, pc) = self.at;
        let cold = self.stands_aside();
        let origin =
            Origin { inline, function: self.region.inlines[inline.index()].function, pc, cold, part };
        let number = *self.location_numbers.entry(origin).or_insert_with(|| {
            self.locations.push(origin);
            self.locations.len() as u32 - 1
        });
        self.builder.set_srcloc(SourceLoc::new(number));
    }

    /// The machine value of a node.
    pub fn value(&mut self, value: Value) -> clif::Value {
        let node = self.region.node(value);
        match node.op {
            Op::Int(i) => self.constant(types::I64, i as u64),
            Op::Bool(b) => self.constant(types::I8, b as u64),
            Op::Null => self.constant(types::I64, 0),
            Op::Str(string) => self.constant(types::I64, self.model.string(string)),
            Op::Float(bits) => self.constant(types::F64, bits),
            Op::Path(more) => self.path(more),
            _ if self.is_made_anew(value) => match self.anew.get(&value) {
                Some(&made) => made,
                None => {
                    let made = self.computed(value);
                    self.anew.insert(value, made);
                    made
                }
            },
            _ => match self.values[value.index()] {
                Some(value) => value,
                None => {
                    self.refusal.get_or_insert_with(|| format!("v{} is used before it is computed", value.0));
                    self.constant(machine_type(node.ty), 0)
                }
            },
        }
    }

    /// Is this made in each block where it is used, as constants are: one instruction with a constant. So it needs no
    /// register, or a place in memory, where its operand is alive as well, and nobody computes what only exits need.
    /// Of a chain of such, only the first is: others would make all that is before them anew, too.
    pub fn is_made_anew(&self, value: Value) -> bool {
        let has_constant = |value: Value| {
            let node = self.region.node(value);
            matches!(node.op, Op::Arith(Arith::Add | Arith::And | Arith::Or | Arith::Xor))
                && self.region.int(node.args[1]).is_some_and(|constant| i32::try_from(constant).is_ok())
        };
        has_constant(value) && !has_constant(self.region.node(value).args[0])
    }

    /// The same as a word (or float): how it is passed and stored.
    pub fn word(&mut self, value: Value) -> clif::Value {
        if let Some(known) = self.region.bool(value) {
            return self.constant(types::I64, u64::from(known));
        }
        let machine = self.value(value);
        if self.region.ty(value) == Ty::Bool {
            self.builder.ins().uextend(types::I64, machine)
        } else {
            machine
        }
    }

    /// A constant.
    pub fn constant(&mut self, ty: clif::Type, bits: u64) -> clif::Value {
        if let Some(&value) = self.constants.get(&(ty, bits)) {
            return value;
        }
        if ty == types::I64 && bits > u32::MAX as u64 {
            self.addresses.insert(bits);
        }
        let value = match ty {
            types::F64 => self.builder.ins().f64const(f64::from_bits(bits)),
            _ => self.builder.ins().iconst(ty, bits as i64),
        };
        self.constants.insert((ty, bits), value);
        value
    }

    /// A word as the machine value of a type.
    pub fn value_of_word(&mut self, ty: Ty, word: clif::Value) -> clif::Value {
        match ty {
            Ty::Bool => self.builder.ins().ireduce(types::I8, word),
            _ => word,
        }
    }

    /// A word of bits, as calls give it, as the machine value of a type.
    pub fn value_of_bits(&mut self, ty: Ty, bits: clif::Value) -> clif::Value {
        match ty {
            Ty::Float => self.builder.ins().bitcast(types::F64, MemFlagsData::new(), bits),
            _ => self.value_of_word(ty, bits),
        }
    }

    /// The bits of a value, as calls give it.
    pub fn bits_of(&mut self, value: Value) -> clif::Value {
        let word = self.word(value);
        match self.region.ty(value) {
            Ty::Float => self.builder.ins().bitcast(types::I64, MemFlagsData::new(), word),
            _ => word,
        }
    }

    /// Goes to `cold` if the condition holds, else on in a new block.
    pub fn leave_if(&mut self, condition: clif::Value, cold: clif::Block) {
        let next = self.new_block();
        self.builder.ins().brif(condition, cold, &[], next, &[]);
        self.switch_to(next);
    }

    fn arguments(&mut self, target: &crate::ir::Target) -> Vec<BlockArg> {
        target.args.iter().map(|&arg| BlockArg::Value(self.value(arg))).collect()
    }

    fn end(&mut self, block: BlockId) {
        let region = self.region;
        match &region.block(block).end {
            Terminator::Open => self.refusal = Some("a block has no end".into()),
            Terminator::Jump(target) => {
                let arguments = self.arguments(target);
                self.builder.ins().jump(self.blocks[target.block.index()], &arguments);
            }
            Terminator::Branch { condition, then, otherwise, source, .. } => {
                if let Some(source) = source {
                    self.locate(source.inline, source.pc);
                }
                // The second target falls through, and keeps loops together.
                let counts = weights(region, block, self.order);
                let prefers_then = self.prefers(block, then.block, counts[0], otherwise.block, counts[1]);
                let mut arms = self.arms(block);
                if prefers_then {
                    arms.reverse();
                }
                self.note_arms(arms);
                let (first, second) = if prefers_then { (otherwise, then) } else { (then, otherwise) };
                let condition = if prefers_then { self.negated(*condition) } else { self.value(*condition) };
                let (one, two) = (self.arguments(first), self.arguments(second));
                let (first, second) = (self.blocks[first.block.index()], self.blocks[second.block.index()]);
                self.builder.ins().brif(condition, first, &one, second, &two);
            }
            Terminator::Switch { value, low, cases, default, source, .. } => {
                self.locate(source.inline, source.pc);
                let arms = self.arms(block);
                self.switch(*value, *low, cases, default, arms)
            }
            Terminator::Return(result) => {
                let bits = match result {
                    Some(value) => self.bits_of(*value),
                    None => self.constant(types::I64, 0),
                };
                self.builder.ins().return_(&[bits]);
            }
            Terminator::Deopt(reason, state) => {
                let exit = self.exit(*state, *reason);
                self.builder.ins().jump(exit, &[]);
            }
        }
    }

    /// How often the end of a block of the region goes each way.
    fn arms(&self, block: BlockId) -> Counts {
        let edges = self.shape.graph.out_edges(block);
        edges.map(|edge| self.frequencies.edge(&self.shape, edge)).collect()
    }

    /// The block that is being made is about to go each way so often.
    fn note_arms(&mut self, arms: Counts) {
        if let Some(block) = self.builder.current_block() {
            self.heat.set_arms(block, arms);
        }
    }

    /// Should the first of two targets fall through.
    fn prefers(&self, from: BlockId, a: BlockId, a_count: f64, b: BlockId, b_count: f64) -> bool {
        let cold = |block: BlockId| {
            self.region.block(block).cold || matches!(self.region.block(block).end, Terminator::Deopt(..))
        };
        if cold(a) != cold(b) {
            return cold(b);
        }
        if let Some(inner) = self.shape.loops.innermost(from) {
            let (stays_a, stays_b) =
                (self.shape.loops.contains(inner, a), self.shape.loops.contains(inner, b));
            if stays_a != stays_b {
                return stays_a;
            }
        }
        a_count > b_count
    }

    /// The opposite of a Boolean. A comparison has one of its own: then no flag is made only to be tested.
    pub fn negated(&mut self, value: Value) -> clif::Value {
        match self.region.op(value) {
            Op::Not => self.value(self.region.node(value).args[0]),
            _ => {
                let flag = self.value(value);
                self.opposite(flag)
            }
        }
    }

    /// The same of what was computed here.
    pub fn opposite(&mut self, flag: clif::Value) -> clif::Value {
        let dfg = &self.builder.func.dfg;
        let made_by = dfg.value_def(flag).inst().map(|inst| dfg.insts[inst]);
        match made_by {
            Some(InstructionData::IntCompare { cond, args: [a, b], .. }) => {
                self.builder.ins().icmp(cond.complement(), a, b)
            }
            Some(InstructionData::FloatCompare { cond, args: [a, b], .. }) => {
                self.builder.ins().fcmp(cond.complement(), a, b)
            }
            _ => self.builder.ins().icmp_imm_s(IntCC::Equal, flag, 0),
        }
    }

    /// Goes to one of several targets; `arms` says how often to each, to the default last.
    fn switch(
        &mut self,
        value: Value,
        low: i64,
        cases: &[crate::ir::Target],
        default: &crate::ir::Target,
        mut arms: Counts,
    ) {
        let value = self.value(value);
        let index = self.builder.ins().iadd_imm_s(value, low.wrapping_neg());
        let default_arguments = self.arguments(default);
        let default_block = self.blocks[default.block.index()];
        let table_block = self.new_block();
        let outside =
            self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, index, cases.len() as i64);
        let to_default = arms.pop().unwrap_or(0.0);
        let to_cases = arms.iter().sum();
        self.note_arms(Counts::from([to_default, to_cases]));
        self.heat.set(table_block, to_cases);
        self.builder.ins().brif(outside, default_block, &default_arguments, table_block, &[]);
        self.switch_to(table_block);
        let calls: Vec<clif::BlockCall> = cases
            .iter()
            .map(|case| {
                let arguments = self.arguments(case);
                let block = self.blocks[case.block.index()];
                self.builder.func.dfg.block_call(block, &arguments)
            })
            .collect();
        let default_arguments = self.arguments(default);
        let default_call = self.builder.func.dfg.block_call(default_block, &default_arguments);
        let table = self.builder.create_jump_table(clif::JumpTableData::new(default_call, &calls));
        let index = self.builder.ins().ireduce(types::I32, index);
        // The table's own default is never taken.
        arms.insert(0, 0.0);
        self.note_arms(arms);
        self.builder.ins().br_table(index, table);
    }
}
