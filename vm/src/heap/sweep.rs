//! Sweeping: finding the holes between marked objects and making runs of them, when they are needed.
//!
//! After a collection a block with some marks and some holes waits in the list of its size class. Allocation takes
//! the blocks one by one and their holes one by one; a hole is cleared and becomes the class's [`Run`], from which
//! cells are cut by adding to a pointer. What is never needed is never swept. Holes are cleared in pieces, so that a
//! piece is still in the cache when its cells are used.
//!
//! Blocks are swept before free ones are taken, which keeps the heap small.

use super::size_classes::{BLOCK, CAPACITY, CLASSES, cell_size};
use super::space::{BlockKind, Space};
use super::{Heap, Run};

/// No block.
const NONE: u32 = u32::MAX;
/// A hole larger than this is cleared and handed out in pieces of about this size.
const PIECE: usize = 4096;
/// What dead cells are filled with in stress mode, so that use after free is conspicuous.
const POISON: u8 = 0x6b;

/// The blocks in which each class may find holes.
pub(super) struct Sweeping {
    /// The block whose holes are being handed out.
    current: [u32; CLASSES],
    /// The first of the blocks that wait, linked by `Block::link`.
    waiting: [u32; CLASSES],
    /// Likewise of blocks beyond the limit: only what must exist gets their holes.
    beyond: [u32; CLASSES],
}

impl Default for Sweeping {
    fn default() -> Sweeping {
        Sweeping { current: [NONE; CLASSES], waiting: [NONE; CLASSES], beyond: [NONE; CLASSES] }
    }
}

impl Sweeping {
    /// The next run of a class: zeroed cells. None if the heap is full.
    fn next_run(&mut self, space: &mut Space, class: usize) -> Option<Run> {
        loop {
            let current = self.current[class];
            if current != NONE {
                if let Some(run) = next_hole(space, current as usize, class) {
                    return Some(run);
                }
                self.current[class] = NONE;
            }
            let list = match self.waiting[class] {
                NONE if space.beyond_limit => &mut self.beyond[class],
                _ => &mut self.waiting[class],
            };
            if *list != NONE {
                self.current[class] = *list;
                *list = space.block(*list as usize).link;
                continue;
            }
            let (index, clean) = space.take_block()?;
            let block = space.block_mut(index);
            block.kind = BlockKind::Small;
            block.class = class as u8;
            if clean {
                let bytes = cell_size(class) * CAPACITY[class] as usize;
                block.swept = bytes as u32;
                return Some(run(space, index * BLOCK, bytes));
            }
            self.current[class] = index as u32;
        }
    }
}

/// The next hole of a block, cleared; or the next piece of it.
fn next_hole(space: &mut Space, index: usize, class: usize) -> Option<Run> {
    let size = cell_size(class);
    let start = index * BLOCK;
    let end = start + size * CAPACITY[class] as usize;
    let mut hole = start + space.block(index).swept as usize;
    while hole < end && space.is_marked(hole) {
        hole += size;
    }
    let piece = (PIECE / size).max(1) * size;
    let hole_end = space.next_marked(hole, end.min(hole + piece));
    space.block_mut(index).swept = (hole_end - start) as u32;
    if hole == hole_end {
        return None;
    }
    // SAFETY: no cell in the hole is marked and the block was not swept so far: all that was there is dead.
    unsafe { space.fill(hole, hole_end - hole, 0) };
    Some(run(space, hole, hole_end - hole))
}

fn run(space: &Space, offset: usize, bytes: usize) -> Run {
    Run { cur: space.address(offset), limit: space.address(offset + bytes) }
}

impl Heap {
    /// Gives a class a new run. Returns false if there is no room.
    pub(super) fn refill(&mut self, class: usize) -> bool {
        let Some(run) = self.sweeping.next_run(&mut self.space, class) else { return false };
        let bytes = run.limit as usize - run.cur as usize;
        self.allocated_since_collection += bytes;
        self.statistics.allocated_bytes += bytes as u64;
        self.set_run(class, run);
        true
    }

    /// Takes all runs away. What is left of them stays zero, hence free.
    pub(super) fn retire_runs(&mut self) {
        (0..CLASSES).for_each(|class| self.retire_run(class));
    }

    fn retire_run(&mut self, class: usize) {
        let unused = self.unused(class);
        self.allocated_since_collection -= unused;
        self.statistics.allocated_bytes -= unused as u64;
        self.set_run(class, Run::EMPTY);
        self.hidden[class] = Run::EMPTY;
    }

    /// Takes away the runs, and the blocks with holes, that lie beyond the limit: ordinary objects are not to get what is left of them.
    pub(super) fn retire_beyond_limit(&mut self) {
        let first = self.space.limit_blocks;
        for class in 0..CLASSES {
            let lies_beyond = |run: Run| {
                run.cur != run.limit
                    && self.space.offset(run.cur as usize).is_some_and(|at| at / BLOCK >= first)
            };
            if lies_beyond(self.run(class)) || lies_beyond(self.hidden[class]) {
                self.retire_run(class);
            }
            let current = self.sweeping.current[class];
            if current != NONE && current as usize >= first {
                let next = std::mem::replace(&mut self.sweeping.beyond[class], current);
                self.space.block_mut(current as usize).link = next;
                self.sweeping.current[class] = NONE;
            }
        }
    }

    /// Prepares for sweeping after a marking: frees blocks without marks and lists those that have holes.
    /// Returns the bytes of all marked objects.
    pub(super) fn prepare_sweep(&mut self) -> usize {
        let space = &mut self.space;
        self.sweeping = Sweeping::default();
        let mut live = 0;
        let (mut end, limit) = (space.blocks, space.limit_blocks);
        // Downwards, so that the lists begin with the lowest block, and parts of a large object precede its head.
        while let Some(index) = space.used_below(end) {
            end = index;
            let block = space.block_mut(index);
            let marked = block.marked as usize;
            match block.kind {
                BlockKind::Small => {
                    let class = block.class as usize;
                    block.swept = 0;
                    live += marked * cell_size(class);
                    if marked != 0 && marked < CAPACITY[class] as usize {
                        let Sweeping { waiting, beyond, .. } = &mut self.sweeping;
                        let list = if index < limit { waiting } else { beyond };
                        block.link = std::mem::replace(&mut list[class], index as u32);
                    }
                    if self.config.stress.is_some() {
                        poison(space, index, class);
                    }
                    if marked == 0 {
                        space.release(index);
                    }
                }
                BlockKind::Large => {
                    let count = block.link as usize;
                    if marked != 0 {
                        live += count * BLOCK;
                        continue;
                    }
                    for part in index..index + count {
                        if self.config.stress.is_some() {
                            // SAFETY: the object that owns the block is dead.
                            unsafe { space.fill(part * BLOCK, BLOCK, POISON) };
                        }
                        space.release(part);
                    }
                }
                BlockKind::Continuation | BlockKind::Free => {}
            }
        }
        live
    }
}

/// Overwrites all cells of a block that are not marked. They count as dead in an unswept block, whatever is in them.
fn poison(space: &mut Space, index: usize, class: usize) {
    let size = cell_size(class);
    let mut at = index * BLOCK;
    let end = at + size * CAPACITY[class] as usize;
    while at < end {
        if !space.is_marked(at) {
            // SAFETY: the object in the cell, if any, is dead.
            unsafe { space.fill(at, size, POISON) };
        }
        at += size;
    }
}
