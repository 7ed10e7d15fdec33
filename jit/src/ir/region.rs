//! Blocks, nodes, branches and frame states of a compilation, and the edits that passes make.

use super::op::{Arith, Op, Reason};
use super::types::Ty;
use holloway_bytecode::cfg::{Dominators, FlowGraph, Graph, Loops};
use holloway_bytecode::{FunctionId, Program, Register};
use holloway_profilers::{BranchId, MethodId};
use smallvec::SmallVec;

pub use holloway_bytecode::cfg::BlockId;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// The position in its table.
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// A node, and the value that it gives.
    Value;
    /// A frame state.
    StateId;
    /// A method in the tree of what was inlined; 0 is the root.
    InlineId;
}

impl InlineId {
    /// The method that is compiled.
    pub const ROOT: InlineId = InlineId(0);
}

/// A method that the region contains.
#[derive(Clone, PartialEq, Debug)]
pub struct Inline {
    /// Which function.
    pub function: FunctionId,
    /// Into which one it was inlined, and the call there.
    pub caller: Option<(InlineId, u32)>,
    /// How many calls lie between it and the root.
    pub depth: u32,
}

/// An operation with its operands: also its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// Operands.
    pub args: SmallVec<[Value; 3]>,
    /// What it gives.
    pub ty: Ty,
    /// The interpreter's frames, for nodes that can leave or be seen.
    pub state: Option<StateId>,
    /// The method that it comes from.
    pub inline: InlineId,
    /// The instruction there.
    pub pc: u32,
}

/// How the innermost frame of a state stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StateKind {
    /// Before the instruction: it is executed (again).
    Before,
    /// In the call: its result, if any, goes to the register.
    During(Option<Register>),
}

/// A frame of the interpreter, as it would be at this place: the registers that are live and the values in them.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameState {
    /// Whose frame.
    pub inline: InlineId,
    /// Where in it.
    pub pc: u32,
    /// In which way.
    pub kind: StateKind,
    /// Who wants to be told of blocks was told that the one at `pc` was entered.
    pub told: bool,
    /// The live registers in ascending order.
    pub registers: Vec<(Register, Value)>,
    /// The frame of the caller, if that is part of the region; its kind is `During`.
    pub caller: Option<StateId>,
}

/// The branch of the bytecode that a branch stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Source {
    /// In which method.
    pub inline: InlineId,
    /// Its instruction.
    pub pc: u32,
    /// The first target is that of the bytecode branch not taken.
    pub negated: bool,
}

/// Where control goes, with the values for the block's parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The block.
    pub block: BlockId,
    /// One value for each of its parameters.
    pub args: Vec<Value>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Terminator {
    /// Not written yet.
    Open,
    /// On to a block.
    Jump(Target),
    /// By a Boolean.
    Branch {
        /// What decides.
        condition: Value,
        /// If true.
        then: Target,
        /// If false.
        otherwise: Target,
        /// What it stands for; nothing for tests that the compiler made.
        source: Option<Source>,
        /// How often each way was taken when last seen.
        counts: [u32; 2],
    },
    /// By an integer.
    Switch {
        /// What decides.
        value: Value,
        /// The value of the first case.
        low: i64,
        /// The targets of `low`, `low + 1`, ….
        cases: Vec<Target>,
        /// The target of all others.
        default: Target,
        /// What it stands for.
        source: Source,
        /// How often each case was taken when last seen, the default last.
        counts: Vec<u32>,
    },
    /// Leaves the method (of the root: inlined methods jump).
    Return(Option<Value>),
    /// Leaves for the interpreter.
    Deopt(Reason, StateId),
}

/// A block: parameters, nodes in order, an end.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// Parameters (nodes of [`Op::Param`]).
    pub params: Vec<Value>,
    /// The other nodes in order.
    pub nodes: Vec<Value>,
    /// How it ends.
    pub end: Terminator,
    /// Is never executed, as far as the profile says.
    pub cold: bool,
}

/// Where a region begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegionEntry {
    /// At the method's beginning.
    Method,
    /// At the loop header at this place, from a frame of the interpreter.
    Loop(u32),
}

/// One compilation.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Where it begins.
    pub entry: RegionEntry,
    /// All blocks; some may have become unreachable. The first is the entry.
    pub blocks: Vec<Block>,
    /// All nodes; some may have become unused.
    pub nodes: Vec<Node>,
    /// All frame states.
    pub states: Vec<FrameState>,
    /// The tree of methods.
    pub inlines: Vec<Inline>,
    /// What it gives back: the type of the root's result.
    pub result: Ty,
}

impl Region {
    /// The branch of the program that a source names.
    pub fn branch_of(&self, source: &Source) -> BranchId {
        let method = MethodId(self.inlines[source.inline.index()].function.0);
        BranchId { method, position: source.pc }
    }

    /// An empty region of a function, with an entry block.
    pub fn new(program: &Program, function: FunctionId, entry: RegionEntry) -> Region {
        let result = program.functions[function.index()].result.map_or(Ty::None, Ty::of);
        Region {
            entry,
            blocks: vec![Block::new()],
            nodes: Vec::new(),
            states: Vec::new(),
            inlines: vec![Inline { function, caller: None, depth: 0 }],
            result,
        }
    }

    /// The block where everything begins.
    pub const ENTRY: BlockId = BlockId(0);

    /// The function that is compiled.
    pub fn function(&self) -> FunctionId {
        self.inlines[0].function
    }

    /// A node.
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value.index()]
    }

    /// What a node does.
    pub fn op(&self, value: Value) -> Op {
        self.nodes[value.index()].op
    }

    /// What a node gives.
    pub fn ty(&self, value: Value) -> Ty {
        self.nodes[value.index()].ty
    }

    /// A block.
    pub fn block(&self, block: BlockId) -> &Block {
        &self.blocks[block.index()]
    }

    /// A block, to be changed.
    pub fn block_mut(&mut self, block: BlockId) -> &mut Block {
        &mut self.blocks[block.index()]
    }

    /// All blocks' numbers.
    pub fn block_ids(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// A new empty block.
    pub fn add_block(&mut self) -> BlockId {
        self.blocks.push(Block::new());
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// A new node that is in no block yet.
    pub fn add_node(&mut self, node: Node) -> Value {
        self.nodes.push(node);
        Value(self.nodes.len() as u32 - 1)
    }

    /// A new parameter of a block.
    pub fn add_param(&mut self, block: BlockId, ty: Ty, inline: InlineId, pc: u32) -> Value {
        let node = Node { op: Op::Param, args: SmallVec::new(), ty, state: None, inline, pc };
        let value = self.add_node(node);
        self.block_mut(block).params.push(value);
        value
    }

    /// A new frame state.
    pub fn add_state(&mut self, state: FrameState) -> StateId {
        self.states.push(state);
        StateId(self.states.len() as u32 - 1)
    }

    /// A frame state.
    pub fn state(&self, state: StateId) -> &FrameState {
        &self.states[state.index()]
    }

    /// A frame state and those of its callers, from the innermost out.
    pub fn frames(&self, state: StateId) -> impl Iterator<Item = (StateId, &FrameState)> {
        let mut at = Some(state);
        std::iter::from_fn(move || {
            let id = at?;
            let state = self.state(id);
            at = state.caller;
            Some((id, state))
        })
    }

    /// The constant that a value is.
    pub fn int(&self, value: Value) -> Option<i64> {
        match self.op(value) {
            Op::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The constant that a value is.
    pub fn bool(&self, value: Value) -> Option<bool> {
        match self.op(value) {
            Op::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// The value behind all checks: the same object or number without guarantees.
    pub fn unchecked(&self, mut value: Value) -> Value {
        while (self.op(value).is_check() || self.op(value) == Op::Assume) && self.ty(value) != Ty::None {
            value = self.node(value).args[0];
        }
        value
    }

    /// A value as another one, without its checks, plus a constant; or as a constant alone.
    pub fn value_and_constant(&self, value: Value) -> (Option<Value>, i64) {
        let value = self.unchecked(value);
        let constant = |value: Value| self.int(self.unchecked(value));
        if let Some(constant) = constant(value) {
            return (None, constant);
        }
        let node = self.node(value);
        let (op, Some(add)) = (node.op, node.args.get(1).and_then(|&add| constant(add))) else {
            return (Some(value), 0);
        };
        let base = Some(self.unchecked(node.args[0]));
        match op {
            Op::Arith(Arith::Add) => (base, add),
            Op::Arith(Arith::Sub) => (base, add.wrapping_neg()),
            _ => (Some(value), 0),
        }
    }

    /// The graph of blocks (unreachable ones have no rank in its order).
    pub fn graph(&self) -> FlowGraph {
        FlowGraph::of(self)
    }

    /// Graph, dominators and loops together.
    pub fn shape(&self) -> Shape {
        let graph = self.graph();
        let dominators = Dominators::of(&graph);
        let loops = Loops::of(&graph, &dominators);
        Shape { graph, dominators, loops }
    }

    /// Calls `with` for each value that a block uses: in operands, its end and frame states. True: in the frame of a caller, which states of
    /// other blocks may have in common.
    pub fn uses(&self, block: BlockId, mut with: impl FnMut(Value, bool)) {
        let block = self.block(block);
        block.nodes.iter().flat_map(|&node| &self.node(node).args).for_each(|&arg| with(arg, false));
        block.end.values(|value| with(value, false));
        let states = block.nodes.iter().filter_map(|&node| self.node(node).state).chain(block.end.state());
        for state in states {
            for (id, frame) in self.frames(state) {
                frame.registers.iter().for_each(|&(_, value)| with(value, id != state));
            }
        }
    }

    /// What a value is behind an edge: what the edge gives if it is a parameter of the target, else itself.
    pub fn given(&self, edge: &Target, value: Value) -> Value {
        let params = &self.block(edge.block).params;
        params.iter().position(|&param| param == value).map_or(value, |param| edge.args[param])
    }

    /// Replaces every use of a value by what `of` says, in operands, frame states and ends of blocks.
    pub fn substitute(&mut self, of: impl Fn(Value) -> Value) {
        for node in &mut self.nodes {
            node.args.iter_mut().for_each(|arg| *arg = of(*arg));
        }
        for state in &mut self.states {
            state.registers.iter_mut().for_each(|(_, value)| *value = of(*value));
        }
        for block in &mut self.blocks {
            block.end.values_mut(|value| *value = of(*value));
        }
    }

    /// Forgets the nodes of blocks that cannot be reached, and parameters of theirs; such blocks end open.
    pub fn clear_unreachable(&mut self) {
        let graph = self.graph();
        self.clear_outside(&graph);
    }

    /// The same if the graph is known. True if there were any that were not cleared already.
    pub fn clear_outside(&mut self, graph: &FlowGraph) -> bool {
        let mut cleared = false;
        for (at, block) in self.blocks.iter_mut().enumerate() {
            if !graph.is_reachable(BlockId(at as u32)) {
                cleared |= !matches!(block.end, Terminator::Open) || !block.nodes.is_empty();
                *block = Block::new();
            }
        }
        cleared
    }
}

/// Graph, dominators and loops of a region.
pub struct Shape {
    /// The graph.
    pub graph: FlowGraph,
    /// Its dominators.
    pub dominators: Dominators,
    /// Its loops.
    pub loops: Loops,
}

impl Graph for Region {
    fn block_count(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> BlockId {
        Region::ENTRY
    }

    fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        self.block(block).end.targets().map(|target| target.block)
    }
}

impl Block {
    /// An empty block that ends open.
    pub fn new() -> Block {
        Block { params: Vec::new(), nodes: Vec::new(), end: Terminator::Open, cold: false }
    }
}

impl Default for Block {
    fn default() -> Self {
        Block::new()
    }
}

impl Target {
    /// A block without parameters.
    pub fn plain(block: BlockId) -> Target {
        Target { block, args: Vec::new() }
    }
}

impl Terminator {
    /// Where control may go.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        let (one, two, many): (Option<&Target>, Option<&Target>, &[Target]) = match self {
            Terminator::Jump(target) => (Some(target), None, &[]),
            Terminator::Branch { then, otherwise, .. } => (Some(then), Some(otherwise), &[]),
            Terminator::Switch { cases, default, .. } => (None, Some(default), cases),
            Terminator::Open | Terminator::Return(_) | Terminator::Deopt(..) => (None, None, &[]),
        };
        // The cases of a switch in order, then its default.
        many.iter().chain(one).chain(two)
    }

    /// The same, to be changed.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        let (one, two, many): (Option<&mut Target>, Option<&mut Target>, &mut [Target]) = match self {
            Terminator::Jump(target) => (Some(target), None, &mut []),
            Terminator::Branch { then, otherwise, .. } => (Some(then), Some(otherwise), &mut []),
            Terminator::Switch { cases, default, .. } => (None, Some(default), cases),
            Terminator::Open | Terminator::Return(_) | Terminator::Deopt(..) => (None, None, &mut []),
        };
        many.iter_mut().chain(one).chain(two)
    }

    /// Calls `with` for each value that it uses (those of its frame state not included).
    pub fn values(&self, mut with: impl FnMut(Value)) {
        match self {
            Terminator::Branch { condition, .. } => with(*condition),
            Terminator::Switch { value, .. } => with(*value),
            Terminator::Return(Some(value)) => with(*value),
            _ => {}
        }
        self.targets().for_each(|target| target.args.iter().for_each(|&value| with(value)));
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self, mut with: impl FnMut(&mut Value)) {
        match self {
            Terminator::Branch { condition, .. } => with(condition),
            Terminator::Switch { value, .. } => with(value),
            Terminator::Return(Some(value)) => with(value),
            _ => {}
        }
        self.targets_mut().for_each(|target| target.args.iter_mut().for_each(&mut with));
    }

    /// The frame state that it goes on with.
    pub fn state(&self) -> Option<StateId> {
        match self {
            Terminator::Deopt(_, state) => Some(*state),
            _ => None,
        }
    }
}
