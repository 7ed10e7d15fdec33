//! Which blocks stand aside: behind all others, so that what is executed more often falls through.

use crate::frequency::Frequencies;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Region};

/// What is executed less than this part of the times that the way past it is, stands aside.
const SELDOM: f64 = 0.1;

/// For each block that stands aside, what it is seldom in comparison with.
pub struct Aside(Vec<Option<BlockId>>);

impl Aside {
    /// Decides by how often blocks run.
    pub fn of(region: &Region, shape: &Shape, found: &Frequencies) -> Aside {
        let mut measures: Vec<Option<BlockId>> = vec![None; region.blocks.len()];
        for &block in shape.graph.reverse_postorder() {
            let innermost = |block| shape.loops.innermost(block);
            // What comes behind a loop is measured by what came in front of it.
            let around = |dominator: BlockId| match innermost(dominator) {
                Some(id) => shape.loops.contains(id, block),
                None => true,
            };
            let mut dominator = shape.dominators.immediate(block);
            while let Some(inside) = dominator
                && !around(inside)
            {
                dominator = shape.dominators.immediate(inside);
            }
            let Some(dominator) = dominator else { continue };
            // What is aside of something is measured by that, too: a loop in there may be worth a place in the middle.
            let measure = measures[dominator.index()].unwrap_or(dominator);
            if found.block(block) < SELDOM * found.block(measure) {
                measures[block.index()] = Some(measure);
            }
        }
        Aside(measures)
    }

    /// Does a block stand aside.
    pub fn contains(&self, block: BlockId) -> bool {
        self.0[block.index()].is_some()
    }
}
