//! Large objects: those above half a block get blocks of their own, as many as they need, in a row.
//!
//! The first block's entry holds their number and the entry of every further one the index of the first, so that a
//! pointer into the middle of a huge array leads to its head in one step. A collection that does not mark a large
//! object frees its blocks at once, and the policy may give their memory back to the system.

use super::size_classes::BLOCK;
use super::space::BlockKind;
use super::{Heap, OutOfMemory, Roots};
use crate::layout::ObjectPointer;

impl Heap {
    /// Allocates an object of more than `LARGEST_CELL` bytes.
    ///
    /// # Safety
    /// As for [`Heap::allocate`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn allocate_large(
        &mut self,
        bytes: usize,
        class: u32,
        roots: &mut dyn Roots,
    ) -> Result<ObjectPointer, OutOfMemory> {
        let count = bytes.div_ceil(BLOCK);
        if count > self.space.allowed_blocks() {
            return Err(OutOfMemory);
        }
        self.before_slow_path(roots);
        let mut attempt = 0;
        let first = loop {
            match self.space.take_blocks(count) {
                Some(first) => break first,
                None => self.make_room(count * BLOCK, &mut attempt, roots)?,
            }
        };
        let mut dirty_from = None;
        for index in first..first + count {
            let clean = self.space.commit(index);
            let block = self.space.block_mut(index);
            (block.kind, block.link) = match index == first {
                true => (BlockKind::Large, count as u32),
                false => (BlockKind::Continuation, first as u32),
            };
            if !clean {
                dirty_from.get_or_insert(index);
            } else if let Some(from) = dirty_from.take() {
                self.clear_blocks(from, index);
            }
        }
        if let Some(from) = dirty_from {
            self.clear_blocks(from, first + count);
        }
        self.allocated_since_collection += count * BLOCK;
        self.statistics.allocated_bytes += bytes.next_multiple_of(8) as u64;
        let object: ObjectPointer = self.space.address(first * BLOCK).cast();
        // SAFETY: the blocks were free and are this object's now; they are zero, hence so are its flags.
        unsafe { (*object).class = class };
        Ok(object)
    }

    fn clear_blocks(&mut self, from: usize, end: usize) {
        // SAFETY: called for blocks that were free a moment ago.
        unsafe { self.space.fill(from * BLOCK, (end - from) * BLOCK, 0) };
    }
}
