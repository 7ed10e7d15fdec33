//! Loops with a single path, whose rounds are told apart from the first without a register.
//!
//! ```text
//! preheader → header → … → yieldpoint → … → header
//!                                        ↘ exits
//! ```
//!
//! Behind the yieldpoint the number of the path is known, whatever came before. So it is known at the next yieldpoint, if nothing
//! branches in between, except in the first round: there the path began in front of the loop. To tell the two apart costs an
//! instruction in each round, which is up to a tenth of the time of a small loop.
//!
//! Two things make it free for the rounds where paths are only sampled. The path in front of the loop ends in the preheader,
//! with a poll of its own. And while samples are taken, each end of a path is seen: if the one seen directly before a
//! yieldpoint was that of the loop's preheader, this is the first round. So the yieldpoint tells the number of
//! the other rounds, the preheader announces its loop, and the machine corrects the first number that it is told.
//!
//! That is exact, for between preheader and yieldpoint nothing is called: no other end of a path, no switch of threads.

use super::edges::split;
use super::yieldpoint;
use crate::frequency::Frequencies;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Op, Region, Terminator, YieldKind};

/// Loops that are entered for fewer rounds are left as they are: the poll in front costs more than it spares.
const FEWEST_ROUNDS: f64 = 4.0;

/// A loop with a single path.
#[derive(Clone, PartialEq, Debug)]
pub struct SinglePath {
    /// The only way in: a block at whose end paths end.
    pub preheader: BlockId,
    /// The blocks of the loop, in order: the header comes first.
    pub blocks: Vec<BlockId>,
    /// Which of them has the yieldpoint.
    pub yields: usize,
}

impl SinglePath {
    /// The block in which rounds begin.
    pub fn header(&self) -> BlockId {
        self.blocks[0]
    }
}

/// Finds the loops of a region, and gives each a block in front of it where there is none.
pub fn single_paths(region: &mut Region, shape: &Shape, frequencies: &Frequencies) -> Vec<SinglePath> {
    let mut found = Vec::new();
    for (id, inside) in shape.loops.iter() {
        let header = inside.header;
        let [entry] = shape.loops.entries(&shape.graph, id)[..] else { continue };
        let entered = frequencies.edge(shape, entry);
        if frequencies.block(header) < FEWEST_ROUNDS * entered {
            continue;
        }
        let Some((blocks, yields)) = round(region, shape, header) else { continue };
        let from = shape.graph.source(entry);
        let number = shape.graph.out_edges(from).position(|edge| edge == entry);
        // It is a pity to poll where the loop is mostly passed by.
        let mostly = entered >= 0.5 * frequencies.block(from);
        found.push((from, number.unwrap_or(0), mostly, blocks, yields));
    }
    let mut loops = Vec::new();
    for (from, number, mostly, blocks, yields) in found {
        // A path may end in a block only once.
        let ends_path = yieldpoint(region, from, YieldKind::Loop).is_some();
        let serves_another = loops.iter().any(|other: &SinglePath| other.preheader == from);
        // A block on the edge would also do, but a jump more for it, where the other way is the one that falls through.
        let serves = mostly && !ends_path && !serves_another && from != Region::ENTRY;
        let preheader = if serves { from } else { split(region, from, number) };
        loops.push(SinglePath { preheader, blocks, yields });
    }
    loops
}

/// The blocks of a round, from the header on, if there is only one way around, with one yieldpoint, and without calls or ways out
/// in front of that.
fn round(region: &Region, shape: &Shape, header: BlockId) -> Option<(Vec<BlockId>, usize)> {
    let id = shape.loops.headed_by(header)?;
    let mut blocks = Vec::new();
    let mut yields = None;
    let mut block = header;
    loop {
        if block != header && shape.graph.in_edges(block).len() != 1 {
            return None;
        }
        for &value in &region.block(block).nodes {
            match region.op(value) {
                Op::Yieldpoint(YieldKind::Loop) if yields.is_none() => yields = Some(blocks.len()),
                // A place to leave, where nothing is executed.
                Op::Yieldpoint(YieldKind::Header) => {}
                op if op.is_call() => return None,
                _ => {}
            }
        }
        blocks.push(block);
        let leaves = |to: BlockId| matches!(region.block(to).end, Terminator::Deopt(..));
        let mut next = None;
        for &to in shape.graph.targets_of(block) {
            if shape.loops.contains(id, to) {
                if next.replace(to).is_some() {
                    return None;
                }
            } else if yields.is_none() && !leaves(to) {
                return None;
            }
        }
        block = next?;
        if block == header {
            return Some((blocks, yields?));
        }
    }
}
