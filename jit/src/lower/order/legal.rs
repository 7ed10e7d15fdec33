//! Which orders of blocks Cranelift can make code for.
//!
//! It goes through the blocks from the last to the first, and leaves an instruction without effect out if no use of its result was
//! met so far (`machinst/lower.rs`). So a block must stand behind those whose results it uses, directly or through instructions that
//! are merged into their users: for each block, that is ensured for the operands of all its instructions, whatever they are.
//! Parameters of blocks are always there.
//!
//! Definitions dominate their uses. So where a block stands behind all that dominate it, nothing needs to be looked at; that is so for
//! all blocks but those of rotated loops.

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, ValueDef};

/// What is known of the blocks of a function, which are numbered in Cranelift's order.
pub struct Legal<'a> {
    function: &'a Function,
    blocks: &'a [Block],
    /// By block, its number.
    numbers: SecondaryMap<Block, u32>,
    /// For each block the one that dominates it immediately: itself for the entry.
    dominators: Vec<u32>,
    /// For blocks in a part of the order, where: otherwise far behind.
    place: Vec<u32>,
}

/// Behind everything.
const NOWHERE: u32 = u32::MAX;

impl<'a> Legal<'a> {
    /// Looks at all blocks of a function.
    pub fn of(function: &'a Function, dominators: &DominatorTree, blocks: &'a [Block]) -> Legal<'a> {
        let mut numbers: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(function.dfg.num_blocks());
        for (number, &block) in blocks.iter().enumerate() {
            numbers[block] = number as u32;
        }
        let dominator = |&block: &Block| dominators.idom(block).map_or(0, |block| numbers[block]);
        let dominators = blocks.iter().map(dominator).collect();
        Legal { function, blocks, numbers, dominators, place: vec![NOWHERE; blocks.len()] }
    }

    /// By how many places runs of blocks, a part of an order that can be used, may be rotated to the left.
    pub fn rotations(&mut self, runs: &[Vec<usize>]) -> Vec<bool> {
        for (at, run) in runs.iter().enumerate() {
            run.iter().for_each(|&block| self.place[block] = at as u32);
        }
        // Rotated by p, what stood at p or behind comes before what stood before p.
        let mut objections = vec![0i64; runs.len() + 1];
        for (at, run) in runs.iter().enumerate() {
            for &block in run {
                self.homes(block, |home| {
                    let home = self.place[home];
                    if home < at as u32 {
                        objections[home as usize + 1] += 1;
                        objections[at + 1] -= 1;
                    }
                });
            }
        }
        runs.iter().flatten().for_each(|&block| self.place[block] = NOWHERE);
        let mut sum = 0;
        let may = |change: &i64| {
            sum += change;
            sum == 0
        };
        objections[..runs.len()].iter().map(may).collect()
    }

    /// Puts cold blocks into an order of the others: each behind the one that it is behind in Cranelift's order, and behind those that
    /// dominate it. They are emitted elsewhere; but what looks at the whole order (how deep loops nest, for the register
    /// allocator) finds them there. `None` if Cranelift cannot make code for what comes out.
    pub fn weave(&mut self, order: &[usize], is_cold: &[bool]) -> Option<Vec<usize>> {
        for (at, &block) in order.iter().enumerate() {
            self.place[block] = at as u32;
        }
        // Where each block stands, or would have to, to be behind all that dominate it; dominators have smaller numbers.
        let mut lowest: Vec<u32> = vec![0; self.blocks.len()];
        let mut anchored: Vec<(u32, usize)> = Vec::new();
        let mut last = 0;
        for number in 0..self.blocks.len() {
            let above = lowest[self.dominators[number] as usize];
            if is_cold[number] {
                lowest[number] = above.max(last);
                anchored.push((lowest[number], number));
            } else {
                lowest[number] = above.max(self.place[number]);
                last = self.place[number];
            }
        }
        anchored.sort_unstable();
        let mut anchored = anchored.into_iter().peekable();
        let mut woven = Vec::with_capacity(self.blocks.len());
        for (at, &block) in order.iter().enumerate() {
            woven.push(block);
            woven.extend(
                std::iter::from_fn(|| anchored.next_if(|next| next.0 == at as u32)).map(|next| next.1),
            );
        }
        for (at, &block) in woven.iter().enumerate() {
            self.place[block] = at as u32;
        }
        // The last of those that dominate each block.
        let mut latest: Vec<u32> = vec![0; self.blocks.len()];
        for number in 1..self.blocks.len() {
            let dominator = self.dominators[number] as usize;
            latest[number] = latest[dominator].max(self.place[dominator]);
        }
        let is_legal = |&block: &usize| {
            let at = self.place[block];
            let mut is_met = true;
            if latest[block] > at {
                self.homes(block, |home| is_met &= self.place[home] < at);
            }
            is_met
        };
        let is_whole = woven.len() == self.blocks.len();
        (is_whole && woven.iter().all(is_legal)).then_some(woven)
    }

    /// Calls `with` for all other blocks whose results this one uses.
    fn homes(&self, number: usize, mut with: impl FnMut(usize)) {
        let (dfg, layout) = (&self.function.dfg, &self.function.layout);
        for inst in layout.block_insts(self.blocks[number]) {
            for value in dfg.inst_values(inst) {
                if let ValueDef::Result(definition, _) = dfg.value_def(dfg.resolve_aliases(value))
                    && let Some(home) = layout.inst_block(definition)
                    && self.numbers[home] as usize != number
                {
                    with(self.numbers[home] as usize);
                }
            }
        }
    }
}
