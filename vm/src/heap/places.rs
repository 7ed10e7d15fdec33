//! What is known about places in the heap: mark bits, cards, and which object an address belongs to.
//!
//! All tables are indexed by the offset of a place from the start of block 0: a mark bit for every 8 bytes (an object
//! has the bit of its first word), a card byte for every 512.
//!
//! # Soundness
//!
//! `space.rs` lays the tables out such that there is an entry for every offset below `Space::bytes`. All functions
//! check that, except [`Space::mark`], whose caller promises it.

use super::size_classes::{BLOCK, BLOCK_SHIFT, CAPACITY, cell_of, cell_size};
use super::space::{BlockKind, Space};
use crate::layout::{Header, ObjectPointer};

/// Logarithm of the bytes that one card stands for.
pub(super) const CARD_SHIFT: u32 = 9;
/// Bytes of mark bits of one block.
pub(super) const MARK_BYTES: usize = BLOCK / 64;

impl Space {
    /// Fills bytes of the heap.
    ///
    /// # Safety
    /// No object that is still needed lies there.
    pub(super) unsafe fn fill(&mut self, offset: usize, bytes: usize, value: u8) {
        assert!(offset + bytes <= self.bytes);
        // SAFETY: within the mapping, as checked; the caller vouches for the contents.
        unsafe { self.address(offset).write_bytes(value, bytes) }
    }

    /// The eight bytes of the header at `offset`; zero means that no object is there.
    #[inline]
    pub(super) fn header_word(&self, offset: usize) -> u64 {
        assert!(offset + 8 <= self.bytes && offset.is_multiple_of(8));
        // SAFETY: aligned and within the mapping, as checked, whose bytes are all initialised.
        unsafe { self.address(offset).cast::<u64>().read() }
    }

    /// Whether the object at `offset` is marked.
    #[inline]
    pub(super) fn is_marked(&self, offset: usize) -> bool {
        assert!(offset < self.bytes);
        // SAFETY: checked; there is a bit for every word of the heap.
        unsafe { *self.marks.add(offset >> 9) >> ((offset >> 3) & 63) & 1 != 0 }
    }

    /// Marks the object at `offset`. Returns whether it was not marked before.
    ///
    /// # Safety
    /// `offset` is that of an object, hence below `bytes`. This is the collector's innermost step, so it is not checked.
    #[inline(always)]
    pub(super) unsafe fn mark(&mut self, offset: usize) -> bool {
        debug_assert!(offset < self.bytes);
        // SAFETY: there is a mark bit for every word of the heap.
        let word = unsafe { &mut *self.marks.add(offset >> 9) };
        let bit = 1 << ((offset >> 3) & 63);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        // SAFETY: there is an entry for every block of the heap.
        unsafe { (*self.table.add(offset >> BLOCK_SHIFT)).marked += 1 };
        true
    }

    /// The offset of the first marked object in `from .. end`, or `end`. Both are offsets within the heap.
    pub(super) fn next_marked(&self, from: usize, end: usize) -> usize {
        assert!(from <= end && end <= self.bytes);
        let mut bit = from >> 3;
        let end_bit = end >> 3;
        while bit < end_bit {
            // SAFETY: `bit` is below the number of words of the heap, each of which has a bit.
            let word = unsafe { *self.marks.add(bit >> 6) } >> (bit & 63);
            if word != 0 {
                return ((bit + word.trailing_zeros() as usize) << 3).min(end);
            }
            bit = (bit | 63) + 1;
        }
        end
    }

    /// Unmarks everything in a block.
    pub(super) fn clear_marks(&mut self, index: usize) {
        self.block_mut(index).marked = 0;
        // SAFETY: `block_mut` checked the index; the marks of a block are `MARK_BYTES` bytes in a row.
        unsafe { self.marks.cast::<u8>().add(index * MARK_BYTES).write_bytes(0, MARK_BYTES) };
    }

    /// The card bytes of a range of the heap, one for every 512 bytes that it touches.
    pub(super) fn cards(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        assert!(bytes > 0 && offset + bytes <= self.bytes);
        let first = offset >> CARD_SHIFT;
        let last = (offset + bytes - 1) >> CARD_SHIFT;
        // SAFETY: there is a card for every 512 bytes of the heap, initialised with zero; `&mut self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.cards.add(first), last - first + 1) }
    }

    /// The card byte of a place in the heap.
    pub(super) fn card(&self, offset: usize) -> u8 {
        assert!(offset < self.bytes);
        // SAFETY: there is a card for every 512 bytes of the heap.
        unsafe { *self.cards.add(offset >> CARD_SHIFT) }
    }

    /// The object at or around an address, if the address is within one: the heart of conservative scanning.
    /// Constant time, also in the middle of a huge array.
    #[inline]
    pub(super) fn find(&self, address: u64) -> Option<ObjectPointer> {
        let offset = self.offset(address as usize)?;
        let index = offset >> BLOCK_SHIFT;
        let block = self.block(index);
        let start = match block.kind {
            BlockKind::Free => return None,
            BlockKind::Small => {
                let class = block.class as usize;
                let number = cell_of(class, offset & (BLOCK - 1));
                if number >= CAPACITY[class] as usize {
                    return None;
                }
                let within = number * cell_size(class);
                let start = (index << BLOCK_SHIFT) + within;
                let swept = within < block.swept as usize;
                if !self.is_marked(start) && (!swept || self.header_word(start) == 0) {
                    return None;
                }
                start
            }
            BlockKind::Large => index << BLOCK_SHIFT,
            BlockKind::Continuation => (block.link as usize) << BLOCK_SHIFT,
        };
        Some(self.address(start).cast::<Header>())
    }
}
