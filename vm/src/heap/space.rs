//! The memory of one heap: a single reserved address range that holds the blocks and all tables about them.
//!
//! ```text
//!  runs | used bits | block table | cards | mark bits | … aligned … | block 0 | block 1 | …
//! ```
//!
//! One mapping means that creating a heap is one system call, destroying it another, and that nothing is shared with
//! other heaps of the process. The kernel supplies zeroed pages as they are touched, so a large limit costs address
//! space only. The address space is the heap's limit, what lies beyond it, and about a fiftieth for the tables.
//!
//! Blocks *beyond the limit* are taken for what must exist whatever the limit is (`policy.rs`), and for nothing else. As long as
//! they are in use, as many fewer are given to others.
//!
//! Small objects take blocks from the low end and large ones from the high end, which keeps long free stretches whole.
//!
//! A block is *committed* once it has been handed out, because it may then hold pages and data; giving it back to the
//! system (`uncommit`) makes it zero and uncommitted again. So *uncommitted* implies *zero*, and such blocks need
//! no clearing.
//!
//! # Soundness
//!
//! All pointers of [`Space`] point into its own mapping, which lives exactly as long as the `Space`. The tables have an
//! entry for every block, and zero bytes are valid entries. References to table entries are handed out only from
//! `&self` or `&mut self` and through a bounds check. Objects are only touched through raw pointers, because
//! the mutator writes to them without Rust's knowledge.

use std::ptr::NonNull;

use super::Run;
use super::places::{CARD_SHIFT, MARK_BYTES};
use super::size_classes::{BLOCK, CLASSES};
use super::statistics::ReservationError;

/// Fewer blocks make no useful heap: every size class needs one of its own.
const MINIMUM_BLOCKS: usize = 64;

/// How many blocks lie beyond a limit of `limit` blocks, see `policy.rs`: one for each size class, 1 GiB, and a sixty-fourth.
fn blocks_beyond(limit: usize) -> usize {
    CLASSES + (1 << 30) / BLOCK + limit / 64
}

/// What a block is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum BlockKind {
    /// Nothing; may be committed nevertheless, and then holds rubbish.
    Free = 0,
    /// Cells of one size class.
    Small = 1,
    /// The first block of a large object.
    Large = 2,
    /// A further block of a large object.
    Continuation = 3,
}

/// What is known of a block. All zero is a free, uncommitted block.
#[repr(C)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// Size class (small blocks only).
    pub(super) class: u8,
    /// Whether it was handed out since the system last zeroed it.
    pub(super) committed: bool,
    /// How many of its objects are marked.
    pub(super) marked: u16,
    /// Up to which byte its holes have been cleared since the last collection (small blocks only). Below, a cell is
    /// an object if its header is not zero; from there on, if it is marked.
    pub(super) swept: u32,
    /// Small: next in the list of blocks to sweep. Large: number of blocks. Continuation: the first block.
    pub(super) link: u32,
}

/// See the head of the file.
pub(super) struct Space {
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    pub(super) runs: *mut Run,
    used: *mut u64,
    pub(super) table: *mut Block,
    pub(super) cards: *mut u8,
    pub(super) marks: *mut u64,
    /// Start of block 0.
    pub(super) base: *mut u8,
    /// Bytes of all blocks, those beyond the limit included.
    pub(super) bytes: usize,
    /// All of them.
    pub(super) blocks: usize,
    /// Those up to the limit: the first ones.
    pub(super) limit_blocks: usize,
    /// Whether blocks beyond the limit may be taken.
    pub(super) beyond_limit: bool,
    pub(super) used_blocks: usize,
    pub(super) committed_blocks: usize,
    /// No block from here on was ever committed.
    committed_end: usize,
    pub(super) maximum_committed_blocks: usize,
    /// No block below this one is free.
    first_free: usize,
}

impl Space {
    /// Reserves room for `limit` bytes of objects, rounded up to whole blocks, and for what lies beyond.
    pub(super) fn reserve(limit: usize) -> Result<Space, ReservationError> {
        // Half of the address space is refused before the sums below could overflow.
        let limit_blocks = (limit.min(isize::MAX as usize / 2)).div_ceil(BLOCK).max(MINIMUM_BLOCKS);
        let blocks = limit_blocks + blocks_beyond(limit_blocks);
        let round = |bytes: usize| bytes.next_multiple_of(4096);
        let bytes = blocks * BLOCK;
        let runs_bytes = round(CLASSES * size_of::<Run>());
        let used_bytes = round(blocks.div_ceil(64) * 8);
        let table_bytes = round(blocks * size_of::<Block>());
        let card_bytes = round(bytes >> CARD_SHIFT);
        let mark_bytes = blocks * MARK_BYTES;
        let side_bytes = runs_bytes + used_bytes + table_bytes + card_bytes + mark_bytes;
        let mapping_bytes = side_bytes + BLOCK + bytes;
        let failed = |source| ReservationError { bytes: mapping_bytes, source };
        if u32::try_from(blocks).is_err() {
            return Err(failed(std::io::ErrorKind::OutOfMemory.into()));
        }
        // SAFETY: asks for a new mapping wherever the kernel likes; touches no existing memory.
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapping_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if mapping == libc::MAP_FAILED {
            return Err(failed(std::io::Error::last_os_error()));
        }
        let Some(mapping) = NonNull::new(mapping.cast::<u8>()) else {
            return Err(failed(std::io::ErrorKind::OutOfMemory.into()));
        };
        let start = mapping.as_ptr();
        let padding = start.wrapping_add(side_bytes).align_offset(BLOCK);
        let table = |before: usize| start.wrapping_add(before);
        let space = Space {
            mapping,
            mapping_bytes,
            runs: start.cast(),
            used: table(runs_bytes).cast(),
            table: table(runs_bytes + used_bytes).cast(),
            cards: table(runs_bytes + used_bytes + table_bytes),
            marks: table(runs_bytes + used_bytes + table_bytes + card_bytes).cast(),
            base: start.wrapping_add(side_bytes + padding),
            bytes,
            blocks,
            limit_blocks,
            beyond_limit: false,
            used_blocks: 0,
            committed_blocks: 0,
            committed_end: 0,
            maximum_committed_blocks: 0,
            first_free: 0,
        };
        if !blocks.is_multiple_of(64) {
            // Bits behind the last block count as used, so that no search finds them.
            // SAFETY: the word of the last block is within the table of used bits.
            unsafe { *space.used.add(blocks / 64) = !0 << (blocks % 64) };
        }
        Ok(space)
    }

    /// The most bytes that objects may take, but for what must exist.
    pub(super) fn limit(&self) -> usize {
        self.limit_blocks * BLOCK
    }

    /// The blocks that may be taken now are the first so many, and there may be as many in use.
    pub(super) fn allowed_blocks(&self) -> usize {
        if self.beyond_limit { self.blocks } else { self.limit_blocks }
    }

    /// The entry of a block.
    #[inline]
    pub(super) fn block(&self, index: usize) -> &Block {
        assert!(index < self.blocks);
        // SAFETY: the index was checked; entries are initialised because zero bytes are a valid entry.
        unsafe { &*self.table.add(index) }
    }

    /// The entry of a block, to change it.
    #[inline]
    pub(super) fn block_mut(&mut self, index: usize) -> &mut Block {
        assert!(index < self.blocks);
        // SAFETY: as in `block`, and `&mut self` makes it the only reference.
        unsafe { &mut *self.table.add(index) }
    }

    /// The address of a byte of the heap.
    #[inline]
    pub(super) fn address(&self, offset: usize) -> *mut u8 {
        self.base.wrapping_add(offset)
    }

    /// The offset of an address within the heap, if it is in the heap.
    #[inline]
    pub(super) fn offset(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.base as usize);
        (offset < self.bytes).then_some(offset)
    }

    /// Sixty-four bits that say which blocks are used.
    fn used_word(&self, word: usize) -> u64 {
        assert!(word < self.blocks.div_ceil(64));
        // SAFETY: checked; the table has a word for every 64 blocks.
        unsafe { *self.used.add(word) }
    }

    fn set_used(&mut self, index: usize, used: bool) {
        assert!(index < self.blocks);
        // SAFETY: checked; the table has a bit for every block.
        let word = unsafe { &mut *self.used.add(index / 64) };
        let bit = 1 << (index % 64);
        *word = if used { *word | bit } else { *word & !bit };
    }

    /// The highest used block below `end`, to walk over all of them downwards.
    pub(super) fn used_below(&self, end: usize) -> Option<usize> {
        let mut end = end;
        while end > 0 {
            let word = (end - 1) / 64;
            let bits = self.used_word(word) & (!0 >> (63 - (end - 1) % 64));
            if bits != 0 {
                return Some(word * 64 + 63 - bits.leading_zeros() as usize);
            }
            end = word * 64;
        }
        None
    }

    /// The lowest free block that may be taken, now used; and whether it is known to be zero. Its entry keeps its old kind.
    pub(super) fn take_block(&mut self) -> Option<(usize, bool)> {
        let allowed = self.allowed_blocks();
        if self.used_blocks >= allowed {
            return None;
        }
        for word in self.first_free / 64..allowed.div_ceil(64) {
            let free = !self.used_word(word);
            let index = word * 64 + free.trailing_zeros() as usize;
            if free != 0 && index < allowed {
                self.first_free = index + 1;
                let clean = self.commit(index);
                return Some((index, clean));
            }
        }
        self.first_free = self.first_free.max(allowed);
        None
    }

    /// The highest `count` free blocks in a row that may be taken: the index of the first. None if there are no such.
    pub(super) fn take_blocks(&mut self, count: usize) -> Option<usize> {
        let allowed = self.allowed_blocks();
        if count > allowed.saturating_sub(self.used_blocks) {
            return None;
        }
        // Everything from here up to `end` is free.
        let mut end = allowed;
        let mut index = allowed;
        while index > 0 {
            let word = (index - 1) / 64;
            let bits = self.used_word(word) & (!0 >> (63 - (index - 1) % 64));
            if bits == 0 {
                index = word * 64;
            } else {
                let used = word * 64 + 63 - bits.leading_zeros() as usize;
                if end - (used + 1) < count {
                    end = used;
                    index = used;
                    continue;
                }
                index = used + 1;
            }
            if end - index >= count {
                return Some(end - count);
            }
        }
        None
    }

    /// Notes that a block is in use. Returns whether it is known to be zero.
    pub(super) fn commit(&mut self, index: usize) -> bool {
        self.set_used(index, true);
        self.used_blocks += 1;
        let block = self.block_mut(index);
        let clean = !block.committed;
        block.committed = true;
        self.committed_end = self.committed_end.max(index + 1);
        self.committed_blocks += usize::from(clean);
        self.maximum_committed_blocks = self.maximum_committed_blocks.max(self.committed_blocks);
        clean
    }

    /// Frees a block. It has no marks; its contents are of no interest any more.
    pub(super) fn release(&mut self, index: usize) {
        self.set_used(index, false);
        self.used_blocks -= 1;
        self.first_free = self.first_free.min(index);
        let block = self.block_mut(index);
        block.kind = BlockKind::Free;
        block.swept = 0;
        block.link = 0;
    }

    /// Gives the memory of up to `count` free blocks back to the system, the highest first. Returns how many.
    pub(super) fn uncommit(&mut self, count: usize) -> usize {
        let mut done = 0;
        let mut end = self.committed_end;
        while done < count && end > 0 {
            let mut start = end;
            while start > 0 && end - start < count - done {
                let block = self.block(start - 1);
                if block.kind != BlockKind::Free || !block.committed {
                    break;
                }
                start -= 1;
            }
            if start < end && self.discard(start, end) {
                for index in start..end {
                    self.block_mut(index).committed = false;
                }
                done += end - start;
                self.committed_blocks -= end - start;
            }
            end = start.min(end - 1);
        }
        done
    }

    /// Lets the system take the pages of free blocks and supply zeroed ones when they are touched again.
    /// Returns whether it did (it does not where pages are larger than blocks).
    fn discard(&mut self, start: usize, end: usize) -> bool {
        debug_assert!(start < end && end <= self.blocks);
        let address = self.address(start * BLOCK).cast();
        let bytes = (end - start) * BLOCK;
        #[cfg(target_os = "linux")]
        // SAFETY: the range is part of our mapping, and its blocks are free: no object is in it.
        unsafe {
            libc::madvise(address, bytes, libc::MADV_DONTNEED) == 0
        }
        #[cfg(not(target_os = "linux"))]
        // SAFETY: as above; a new mapping over the old one is the portable way to get zeroed pages.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
            libc::mmap(address, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) == address
        }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `reserve` made; nothing refers to it after this.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
    }
}
