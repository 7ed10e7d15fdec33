//! The trace of a region, for tests: after all else was put in, what is on edges and at beginnings of blocks is told as it
//! happens. It shares nothing with the other profilers but where paths end: which blocks these are the plan decides, for
//! the yieldpoints of loops are not all of them.

use super::edges::split;
use super::{edge, yieldpoint};
use crate::ir::{BlockId, InlineId, Node, Op, Region, Terminator, Ty, YieldKind};
use holloway_profilers::BlockId as FlowBlock;
use holloway_profilers::paths::{PathDag, Place};
use holloway_vm::profiling::Step;
use smallvec::SmallVec;

/// Traces the first so many blocks, those that the path numbers are about. The others only hold counters.
pub fn instrument(region: &mut Region, blocks: usize, dag: &PathDag) {
    let cut: Vec<u32> = dag
        .nodes()
        .iter()
        .filter_map(|node| match node.place {
            Place::Behind(block) => Some(block.0),
            _ => None,
        })
        .collect();
    let reached: Vec<BlockId> =
        region.graph().reverse_postorder().iter().copied().filter(|block| block.index() < blocks).collect();
    for block in reached {
        let own = FlowBlock(block.0);
        for arm in 0..region.block(block).end.targets().count() {
            let between = split(region, block, arm);
            put(region, between, 0, Step::Edge(edge(block.index(), arm)));
        }
        let end = |region: &Region| region.block(block).nodes.len();
        if let Terminator::Return(_) = region.block(block).end {
            let last = end(region);
            put(region, block, last, Step::Gone(own));
            let at = yieldpoint(region, block, YieldKind::Epilogue).unwrap_or(last);
            put(region, block, at, Step::Return(own));
        }
        if let Some(at) = yieldpoint(region, block, YieldKind::Loop) {
            put(region, block, at, Step::Cut(own));
        } else if cut.contains(&block.0) {
            put(region, block, 0, Step::Cut(own));
        }
        put(region, block, 0, Step::Block(own));
    }
}

fn put(region: &mut Region, block: BlockId, at: usize, step: Step) {
    let op = Op::Trace(step.word());
    let node = Node { op, args: SmallVec::new(), ty: Ty::None, state: None, inline: InlineId::ROOT, pc: 0 };
    let value = region.add_node(node);
    region.block_mut(block).nodes.insert(at, value);
}
