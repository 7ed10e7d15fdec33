//! The control-flow graph of a function in bytecode.
//!
//! A block ends with a branch, jump, switch, return or throw, and wherever control can arrive from elsewhere or
//! protection by a handler begins or ends. An instruction that may raise an error does not end its block: an edge of kind
//! [`EdgeKind::Exception`] leaves from anywhere inside.

use super::{BlockId, EdgeId, FlowGraph};
use crate::code::{Instruction, decode, instructions};
use crate::ops::Op;
use crate::program::Function;
use crate::protection::Protection;
use std::ops::{Deref, Range};

/// Why control goes along an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// On to the next instruction.
    FallThrough,
    /// A branch is taken, or a jump.
    Taken,
    /// This case of a switch, counted from 0.
    Case(u32),
    /// No case of a switch.
    Default,
    /// An error was raised inside the block; the number of the handler.
    Exception(u32),
}

/// A basic block: its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its first word.
    pub start: u32,
    /// One past its last word.
    pub end: u32,
    /// First word of its last instruction.
    pub last: u32,
}

/// The control-flow graph of a function. Blocks are in the order of their places, the entry is the first. The edges
/// out of a block: on to the next one, then taken (or the cases in order, then the default), then the handlers.
#[derive(Clone, Debug)]
pub struct Cfg {
    graph: FlowGraph,
    blocks: Vec<Block>,
    kinds: Vec<EdgeKind>,
}

impl Deref for Cfg {
    type Target = FlowGraph;

    fn deref(&self) -> &FlowGraph {
        &self.graph
    }
}

/// Can this instruction raise an error that a handler catches.
pub fn can_raise(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        // Division, null, casts, indices and unset values.
        Div | Rem | LoadGlobal | NonNull | Cast | CastInterface
            | GetByte | PutByte | GetWord | PutWord | GetElem | PutElem | Unset
            // Memory may be exhausted.
            | New | NewArray | BoxInt | BoxFloat | BoxBool
            // The stack may be exhausted, and the callee may raise anything.
            | Call | CallVirtual | CallInterface | CallNative
            | Throw
    )
}

impl Cfg {
    /// The graph of a function of a verified program. (Of others, edges to places that are no instructions are left out.)
    pub fn of_function(function: &Function) -> Cfg {
        let code = &function.code;
        let (blocks, block_at) = blocks(function);
        let at = |place: usize| block_at.get(place).copied().flatten();
        let (mut kinds, mut targets) = (Vec::new(), Vec::new());
        let mut first_out = Vec::with_capacity(blocks.len() + 1);
        let (protection, mut handlers) = (Protection::of(&function.handlers), Vec::new());
        for block in &blocks {
            first_out.push(targets.len() as u32);
            let mut edge = |place: usize, kind: EdgeKind| {
                if let Some(target) = at(place) {
                    targets.push(target);
                    kinds.push(kind);
                }
            };
            if let Some(last) = decode(code, block.last as usize) {
                let place = |distance: i32| (block.last as i64 + distance as i64) as usize;
                if last.falls_through() {
                    edge(block.end as usize, EdgeKind::FallThrough);
                }
                if let Some(target) = last.target() {
                    edge(place(target), EdgeKind::Taken);
                }
                let cases = last.cases();
                let default = cases.len().saturating_sub(1);
                for (i, case) in cases.enumerate() {
                    let kind = if i == default { EdgeKind::Default } else { EdgeKind::Case(i as u32) };
                    edge(place(case.target), kind);
                }
            }
            let raises = |block: &Block| inside(code, block).any(|(_, i)| can_raise(i.op));
            protection.at(block.start, &mut handlers);
            if !handlers.is_empty() && raises(block) {
                for &number in &handlers {
                    let handler = &function.handlers[number as usize];
                    edge(handler.target as usize, EdgeKind::Exception(number));
                }
            }
        }
        first_out.push(targets.len() as u32);
        Cfg { graph: FlowGraph::new(BlockId(0), first_out, targets), blocks, kinds }
    }

    /// The graph alone.
    pub fn graph(&self) -> &FlowGraph {
        &self.graph
    }

    /// The words of a block.
    pub fn block(&self, block: BlockId) -> Block {
        self.blocks[block.index()]
    }

    /// The block that contains the word at `pc`.
    pub fn block_at(&self, pc: u32) -> Option<BlockId> {
        let after = self.blocks.partition_point(|block| block.start <= pc);
        let block = after.checked_sub(1)?;
        (pc < self.blocks[block].end).then_some(BlockId(block as u32))
    }

    /// Why control goes along an edge.
    pub fn kind(&self, edge: EdgeId) -> EdgeKind {
        self.kinds[edge.index()]
    }

    /// The instructions of a block with their places.
    pub fn instructions<'a>(
        &self,
        function: &'a Function,
        block: BlockId,
    ) -> impl Iterator<Item = (usize, Instruction<'a>)> + use<'a> {
        inside(&function.code, &self.block(block))
    }

    /// How often control went along an edge, by the counters of its branch in `code`. `None` if nothing counts that.
    pub fn count(&self, code: &[u64], edge: EdgeId) -> Option<u32> {
        let last = decode(code, self.block(self.graph.source(edge)).last as usize)?;
        match self.kind(edge) {
            EdgeKind::FallThrough if last.target().is_some() => Some(last.x() as u32),
            EdgeKind::Taken if last.falls_through() => Some((last.x() >> 32) as u32),
            EdgeKind::Case(i) => last.cases().nth(i as usize).map(|case| case.count),
            EdgeKind::Default => last.cases().last().map(|case| case.count),
            _ => None,
        }
    }
}

/// The instructions in the words of a block.
fn inside<'a>(code: &'a [u64], block: &Block) -> impl Iterator<Item = (usize, Instruction<'a>)> + use<'a> {
    let Range { start, end } = block.start as usize..block.end as usize;
    instructions(&code[start..end]).map(move |(pc, i)| (start + pc, i))
}

/// The blocks in order, and for each word the number of the block that begins there.
fn blocks(function: &Function) -> (Vec<Block>, Vec<Option<BlockId>>) {
    let code = &function.code;
    let mut begins = vec![false; code.len() + 1];
    let mut mark = |place: i64| {
        if let Some(mark) = usize::try_from(place).ok().and_then(|place| begins.get_mut(place)) {
            *mark = true;
        }
    };
    mark(0);
    for (pc, i) in instructions(code) {
        let targets = i.target().into_iter().chain(i.cases().map(|case| case.target));
        targets.for_each(|distance| mark(pc as i64 + distance as i64));
        if i.target().is_some() || !i.falls_through() {
            mark((pc + i.words.len()) as i64);
        }
    }
    for h in &function.handlers {
        [h.start, h.end, h.target].into_iter().for_each(|place| mark(place as i64));
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut block_at = vec![None; code.len() + 1];
    for (pc, i) in instructions(code) {
        if begins[pc] {
            block_at[pc] = Some(BlockId(blocks.len() as u32));
            blocks.push(Block { start: pc as u32, end: 0, last: 0 });
        }
        if let Some(block) = blocks.last_mut() {
            block.last = pc as u32;
            block.end = (pc + i.words.len()) as u32;
        }
    }
    (blocks, block_at)
}
