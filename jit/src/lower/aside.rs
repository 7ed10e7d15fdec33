//! Which blocks stand aside: behind all others, so that what is executed more often falls through.

use crate::frequency::Frequencies;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Region};

/// What is executed less than this part of the times that the way past it is, stands aside.
const SELDOM: f64 = 0.1;

/// The blocks that stand aside.
pub struct Aside(Vec<bool>);

impl Aside {
    /// Decides by the region's counts.
    pub fn of(region: &Region, shape: &Shape) -> Aside {
        let found = Frequencies::of(region, shape);
        let mut aside = vec![false; region.blocks.len()];
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
            aside[block.index()] =
                aside[dominator.index()] || found.block(block) < SELDOM * found.block(dominator);
        }
        Aside(aside)
    }

    /// Does a block stand aside.
    pub fn contains(&self, block: BlockId) -> bool {
        self.0[block.index()]
    }
}
