//! Preheaders: for each loop a block that is left only for the loop's header and by which alone it is entered. What is
//! moved out of a loop goes there.
//!
//! Where there is none, one is put on the edges that enter the loop; with several such edges it gets parameters for
//! those of the header in which they differ. Preheaders that were made in vain are taken away again, so that a pass
//! that moves nothing changes nothing.

use crate::ir::region::Shape;
use crate::ir::{
    Block, BlockId, FrameState, Op, Region, StateId, StateKind, Target, Terminator, Value, YieldKind,
};
use holloway_bytecode::cfg::{EdgeId, LoopId};

/// Preheaders that were made.
pub struct Preheaders {
    /// How many blocks there were before.
    blocks: usize,
}

impl Preheaders {
    /// Gives each loop a preheader.
    pub fn make(region: &mut Region, shape: &Shape) -> Preheaders {
        let blocks = region.blocks.len();
        for (id, natural) in shape.loops.iter() {
            if of(shape, id).is_none() {
                let entries = shape.loops.entries(&shape.graph, id);
                make(region, shape, natural.header, &entries);
            }
        }
        Preheaders { blocks }
    }

    /// Takes away those that have nothing in them.
    pub fn remove_unused(self, region: &mut Region) {
        let mut unused = vec![None; region.blocks.len()];
        for block in (self.blocks..region.blocks.len()).map(|block| BlockId(block as u32)) {
            let Block { nodes, end: Terminator::Jump(target), .. } = region.block(block) else { continue };
            if nodes.is_empty() {
                unused[block.index()] = Some(target.clone());
            }
        }
        for block in region.block_ids() {
            let mut end = std::mem::replace(&mut region.block_mut(block).end, Terminator::Open);
            for target in end.targets_mut() {
                let Some(next) = &unused[target.block.index()] else { continue };
                let params = &region.block(target.block).params;
                let args = next.args.iter().map(|arg| match params.iter().position(|param| param == arg) {
                    Some(position) => target.args[position],
                    None => *arg,
                });
                *target = Target { block: next.block, args: args.collect() };
            }
            region.block_mut(block).end = end;
        }
        while region.blocks.len() > self.blocks && unused[region.blocks.len() - 1].is_some() {
            region.blocks.pop();
        }
        for (number, unused) in unused.iter().enumerate().take(region.blocks.len()) {
            if unused.is_some() {
                region.blocks[number] = Block::new();
            }
        }
    }
}

/// The preheader of a loop, if it has one.
pub fn of(shape: &Shape, id: LoopId) -> Option<BlockId> {
    let [entry] = shape.loops.entries(&shape.graph, id)[..] else { return None };
    let block = shape.graph.source(entry);
    (shape.graph.targets_of(block).len() == 1).then_some(block)
}

fn make(region: &mut Region, shape: &Shape, header: BlockId, entries: &[EdgeId]) {
    let preheader = region.add_block();
    region.block_mut(preheader).cold =
        entries.iter().all(|&edge| region.block(shape.graph.source(edge)).cold) && region.block(header).cold;
    // The edges as sources with numbers of targets.
    let edges: Vec<(BlockId, usize)> = entries
        .iter()
        .map(|&edge| {
            let from = shape.graph.source(edge);
            (from, shape.graph.out_edges(from).position(|out| out == edge).unwrap_or(0))
        })
        .collect();
    let mut passed: Vec<Vec<Value>> = Vec::new();
    for &(from, number) in &edges {
        if let Some(target) = region.block_mut(from).end.targets_mut().nth(number) {
            target.block = preheader;
            passed.push(std::mem::take(&mut target.args));
        }
    }
    let mut args = Vec::new();
    for (position, param) in region.block(header).params.clone().into_iter().enumerate() {
        let first = passed[0][position];
        if passed.iter().all(|passed| passed[position] == first) {
            args.push(first);
            continue;
        }
        let node = region.node(param);
        let (ty, inline, pc) = (node.ty, node.inline, node.pc);
        args.push(region.add_param(preheader, ty, inline, pc));
        for (&(from, number), passed) in edges.iter().zip(&passed) {
            if let Some(target) = region.block_mut(from).end.targets_mut().nth(number) {
                target.args.push(passed[position]);
            }
        }
    }
    region.block_mut(preheader).end = Terminator::Jump(Target { block: header, args });
}

/// What the interpreter's frames are where a loop begins: the state of its header.
pub fn header_state(region: &Region, header: BlockId) -> Option<StateId> {
    for &value in &region.block(header).nodes {
        let node = region.node(value);
        if node.op == Op::Yieldpoint(YieldKind::Header) {
            return node.state.filter(|&state| region.state(state).kind == StateKind::Before);
        }
        if !node.op.is_pure() {
            break;
        }
    }
    None
}

/// The values of a header's state where its loop is entered: as a parameter of the header, what the preheader passes.
pub fn entered_with(region: &Region, preheader: BlockId, value: Value) -> Value {
    let Terminator::Jump(target) = &region.block(preheader).end else { return value };
    let params = &region.block(target.block).params;
    match params.iter().position(|&param| param == value) {
        Some(position) => target.args[position],
        None => value,
    }
}

/// A state for the end of the preheader: the interpreter goes on where the loop begins.
pub fn entry_state(region: &mut Region, preheader: BlockId, header_state: StateId) -> StateId {
    let frames: Vec<FrameState> = region.frames(header_state).map(|(_, frame)| frame.clone()).collect();
    let mut outer = None;
    for mut frame in frames.into_iter().rev() {
        for (_, value) in &mut frame.registers {
            *value = entered_with(region, preheader, *value);
        }
        frame.caller = outer;
        outer = Some(region.add_state(frame));
    }
    // There is at least the innermost frame.
    outer.unwrap_or(header_state)
}
