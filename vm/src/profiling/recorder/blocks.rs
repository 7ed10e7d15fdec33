//! Where in the graphs of the program a word of the loaded code is, and the graphs as the analysis of branch traces wants them.
//!
//! The recorder looks up a block for every instruction, so this is a table with an entry for each word. Blocks are those of
//! the bytecode ([`Cfg`]), numbered through the whole program, those of a function in a row. A call does not end a block.

use crate::fingerprint::number_of_function;
use crate::loader::LoadedCode;
use holloway_bytecode::cfg::{BlockId as CfgBlock, Cfg, EdgeKind};
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Function, FunctionId, Op, Program};
use holloway_profilers::btb::{self, BlockCode, CallPoint, EdgeCounts, Layout, MethodCode, Place};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::{Arm, BlockId, Graph, MethodId};

/// The entry of a word that belongs to no function.
const OUTSIDE: u32 = u32::MAX;

/// Blocks by word, and methods by block.
pub(crate) struct BlockTable {
    /// Twice the number of the block, and one more where the block begins.
    words: Box<[u32]>,
    /// The method of each block.
    methods: Vec<u32>,
    /// The first block of each method.
    first: Vec<u32>,
}

impl BlockTable {
    /// The table of a loaded program.
    pub fn new(program: &Program, code: &LoadedCode) -> BlockTable {
        let mut words = vec![OUTSIDE; code.words()].into_boxed_slice();
        let (mut methods, mut first): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (number, function) in (0..).zip(&program.functions) {
            let cfg = Cfg::of_function(function);
            let start = code.word_of(code.address(FunctionId(number), 0));
            first.push(methods.len() as u32);
            for block in cfg.blocks() {
                let numbered = (methods.len() as u32) << 1;
                let place = cfg.block(block);
                words[start + place.start as usize..start + place.end as usize].fill(numbered);
                words[start + place.start as usize] = numbered | 1;
                methods.push(number);
            }
        }
        BlockTable { words, methods, first }
    }

    /// The first block of each method.
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// Does a block begin at a word.
    #[inline]
    pub fn begins(&self, word: usize) -> bool {
        self.words[word] & 1 != 0 && self.words[word] != OUTSIDE
    }

    /// The block of a word, in the numbers of the whole program.
    #[inline]
    pub fn block(&self, word: usize) -> Option<BlockId> {
        (self.words[word] != OUTSIDE).then(|| BlockId(self.words[word] >> 1))
    }

    /// The same as a place in a method.
    #[inline]
    pub fn place(&self, word: usize) -> Place {
        match self.block(word) {
            Some(block) => {
                let (method, block) = self.within(block);
                Place::At { method, block }
            }
            None => Place::Outside,
        }
    }

    /// The method of a block, and the block's number there.
    #[inline]
    pub fn within(&self, block: BlockId) -> (MethodId, BlockId) {
        let method = self.methods[block.index()];
        (MethodId(method), BlockId(block.0 - self.first[method as usize]))
    }
}

/// The graphs of a program for the analysis of branch traces. Where one block falls through to the next, no branch is taken.
pub fn region_graphs(program: &Program) -> btb::Program {
    let mut methods = btb::Program::new();
    for (number, function) in (0..).zip(&program.functions) {
        if let Some(code) = method_code(function) {
            methods.insert(MethodId(number), code);
        }
    }
    methods
}

/// The graph of a function: handlers are entries, errors take no edge.
fn method_code(function: &Function) -> Option<MethodCode> {
    let cfg = Cfg::of_function(function);
    let (mut successors, mut falling, mut code) = (Vec::new(), Vec::new(), Vec::new());
    for block in cfg.blocks() {
        let edges: Vec<_> =
            cfg.out_edges(block).filter(|&edge| !matches!(cfg.kind(edge), EdgeKind::Exception(_))).collect();
        falling.push(edges.iter().position(|&edge| cfg.kind(edge) == EdgeKind::FallThrough).map(Arm::new));
        successors.push(edges.iter().map(|&edge| cfg.target(edge).0).collect::<Vec<u32>>());
        code.push(block_code(&cfg, function, block));
    }
    let successors: Vec<&[u32]> = successors.iter().map(Vec::as_slice).collect();
    let handlers = function.handlers.iter().filter_map(|handler| cfg.block_at(handler.target));
    let entries = handlers.map(|block| BlockId(block.0)).collect();
    let graph = Graph::new(&successors).with_entries(entries);
    let method = MethodCode::new(&graph, Layout::Arms(&falling), number_of_function(function)).ok()?;
    Some(method.with_code(code))
}

/// What a block consists of. Calls of natives are instructions like others: they have no frame and no branch.
fn block_code(cfg: &Cfg, function: &Function, block: CfgBlock) -> BlockCode {
    let mut code = BlockCode { instructions: 0, calls: Vec::new(), returns: false };
    for (_, instruction) in cfg.instructions(function, block) {
        code.instructions += 1;
        let shape = instruction.op.shape();
        if shape == OpShape::Call && instruction.op != Op::CallNative {
            let callee = (instruction.op == Op::Call).then(|| MethodId(instruction.bc()));
            code.calls.push(CallPoint { before: code.instructions, callee });
        }
        code.returns = shape == OpShape::Return;
    }
    code
}

/// Counts of branch outcomes as counts of edges between blocks.
pub(crate) fn edge_counts(program: &Program, profile: &EdgeProfile) -> EdgeCounts {
    let mut counts = EdgeCounts::new();
    let mut known: Option<(MethodId, Cfg)> = None;
    for (branch, arms) in profile.iter() {
        if known.as_ref().is_none_or(|known| known.0 != branch.method) {
            known = Some((branch.method, Cfg::of_function(&program.functions[branch.method.index()])));
        }
        let Some((_, cfg)) = &known else { continue };
        let Some(block) = cfg.block_at(branch.position) else { continue };
        for edge in cfg.out_edges(block) {
            if let Some(arm) = arm_of(cfg.kind(edge), arms.len()) {
                let (from, to) = (BlockId(block.0), BlockId(cfg.target(edge).0));
                counts.add(branch.method, from, to, arms[arm]);
            }
        }
    }
    counts
}

/// Which outcome of its branch an edge is: taken is the first of two, the default the last of several.
pub(crate) fn arm_of(kind: EdgeKind, arms: usize) -> Option<usize> {
    match kind {
        EdgeKind::Taken => Some(0),
        EdgeKind::FallThrough => Some(1),
        EdgeKind::Case(case) => Some(case as usize),
        EdgeKind::Default => Some(arms - 1),
        EdgeKind::Exception(_) => None,
    }
    .filter(|&arm| arm < arms)
}
