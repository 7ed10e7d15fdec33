//! Code on edges. Where the source has one way to go it is put at the source's end, where the target has one way to be
//! reached at its beginning, and else on a block of its own. Nothing moves until [`Edges::place`]: so that the places of all
//! code are decided for the graph as it was.

use crate::ir::{BlockId, InlineId, Node, Op, Region, Target, Terminator, Ty, Value};
use holloway_profilers::Edge;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Where the code of an edge goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    SourceEnd,
    TargetBegin,
    Own,
}

/// The edges of a region, with code that is still to be put on them.
pub struct Edges {
    /// Edges that lead to each block.
    incoming: Vec<u32>,
    code: BTreeMap<(u32, u32), Vec<Value>>,
    /// What the instructions of each block's end come from.
    origins: Vec<(InlineId, u32)>,
}

impl Edges {
    /// The edges of a region, without code.
    pub fn of(region: &Region) -> Edges {
        let mut incoming = vec![0; region.blocks.len()];
        // The region is entered at its first block without an edge.
        incoming[Region::ENTRY.index()] = 1;
        let mut origins = Vec::with_capacity(region.blocks.len());
        for block in region.block_ids() {
            region.block(block).end.targets().for_each(|target| incoming[target.block.index()] += 1);
            let last = region.block(block).nodes.last().map(|&value| region.node(value));
            let of_node = last.map_or((InlineId::ROOT, 0), |node| (node.inline, node.pc));
            let origin = match &region.block(block).end {
                Terminator::Branch { source: Some(source), .. } | Terminator::Switch { source, .. } => {
                    (source.inline, source.pc)
                }
                _ => of_node,
            };
            origins.push(origin);
        }
        Edges { incoming, code: BTreeMap::new(), origins }
    }

    /// How many edges lead to a block; for the entry, the way in counts.
    pub fn incoming(&self, block: BlockId) -> u32 {
        self.incoming[block.index()]
    }

    /// Does code on an edge need a block of its own.
    pub fn needs_block(&self, region: &Region, edge: Edge) -> bool {
        let from = BlockId(edge.from.0);
        let target = region.block(from).end.targets().nth(edge.arm.index());
        target.is_some_and(|target| self.place_of(region, from, target.block) == Where::Own)
    }

    /// Puts a node on an edge, behind what is there already.
    pub fn add(&mut self, region: &mut Region, edge: Edge, op: Op) {
        let value = self.node(region, BlockId(edge.from.0), op);
        self.code.entry((edge.from.0, edge.arm.0)).or_default().push(value);
    }

    /// Puts a node in front of a block's end, for all edges out of it.
    pub fn add_to_all(&self, region: &mut Region, from: BlockId, op: Op) {
        let value = self.node(region, from, op);
        region.block_mut(from).nodes.push(value);
    }

    fn node(&self, region: &mut Region, from: BlockId, op: Op) -> Value {
        let (inline, pc) = self.origins[from.index()];
        region.add_node(Node { op, args: SmallVec::new(), ty: Ty::None, state: None, inline, pc })
    }

    fn place_of(&self, region: &Region, from: BlockId, to: BlockId) -> Where {
        if region.block(from).end.targets().count() == 1 {
            Where::SourceEnd
        } else if self.incoming(to) == 1 {
            Where::TargetBegin
        } else {
            Where::Own
        }
    }

    /// Puts all code where it belongs.
    pub fn place(self, region: &mut Region) {
        for (&(from, arm), nodes) in &self.code {
            let (from, arm) = (BlockId(from), arm as usize);
            let Some(target) = region.block(from).end.targets().nth(arm).cloned() else { continue };
            match self.place_of(region, from, target.block) {
                Where::SourceEnd => region.block_mut(from).nodes.extend(nodes),
                Where::TargetBegin => {
                    let begin = &mut region.block_mut(target.block).nodes;
                    begin.splice(0..0, nodes.iter().copied());
                }
                Where::Own => {
                    let block = split(region, from, arm);
                    region.block_mut(block).nodes = nodes.clone();
                }
            }
        }
    }
}

/// Makes a block of its own on an edge, by its number among those out of a block.
pub fn split(region: &mut Region, from: BlockId, arm: usize) -> BlockId {
    let block = region.add_block();
    let Some(target) = region.block_mut(from).end.targets_mut().nth(arm) else { return block };
    let target = std::mem::replace(target, Target::plain(block));
    let cold = region.block(from).cold || region.block(target.block).cold;
    let own = region.block_mut(block);
    (own.cold, own.end) = (cold, Terminator::Jump(target));
    block
}
