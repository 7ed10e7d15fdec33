//! Executable memory: one reservation of address space, in which pieces of code are placed and freed.
//!
//! No page is ever writable and executable at once. Code is written by the system thread that also runs it, while it
//! does not: pages become writable, are filled, and become executable again. So pieces may share pages, which keeps
//! small methods close together.

use holloway_profilers::schedule::SplitMix;
use std::collections::BTreeMap;

/// Pieces begin at multiples of this: a cache line, so that the speed of a loop does not depend on its neighbours.
const ALIGNMENT: usize = 64;
/// Where pieces are scattered, they begin at any byte, but those that are to be aligned at multiples of this. Any byte, since processors look up
/// branches and decoded instructions by halves and quarters of a cache line: at multiples of 16 a branch of one version of the code
/// always lies across such a border and that of another never, by which `list` seemed to be 9 % slower with PEP, and is not.
const STEP: usize = 16;
/// Bytes of a page.
const PAGE: usize = 4096;

/// What is to be placed.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// In bytes.
    pub length: usize,
    /// It has to begin at a multiple of 16 bytes.
    pub aligned: bool,
}

/// Executable memory.
pub struct CodeArea {
    base: *mut u8,
    size: usize,
    /// Free pieces: offset and length.
    free: BTreeMap<usize, usize>,
    used: usize,
    /// What decides how far behind a cache line's beginning the next piece begins, if that is to be by chance.
    scatter: Option<SplitMix>,
}

impl CodeArea {
    /// Reserves address space for at most `size` bytes. With a seed, pieces begin anywhere in a cache line, so that loops in them do:
    /// what the same code takes differs by where it lies, and who compares two codes wants the average.
    pub fn new(size: usize, scatter: Option<u64>) -> std::io::Result<CodeArea> {
        let size = size.div_ceil(PAGE).max(1) * PAGE;
        // SAFETY: a fresh private mapping without access.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let scatter = scatter.map(SplitMix::new);
        Ok(CodeArea { base: base.cast(), size, free: BTreeMap::from([(0, size)]), used: 0, scatter })
    }

    /// Where it lies.
    pub fn addresses(&self) -> std::ops::Range<u64> {
        self.base as u64..self.base as u64 + self.size as u64
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Room for a piece: its address. `None` if there is no room so long.
    pub fn allocate(&mut self, Piece { length, aligned }: Piece) -> Option<*const u8> {
        let behind = self.next_distance(aligned);
        let length = (length + behind).div_ceil(ALIGNMENT).max(1) * ALIGNMENT;
        let (&offset, &available) = self.free.iter().find(|&(_, &available)| available >= length)?;
        self.free.remove(&offset);
        if available > length {
            self.free.insert(offset + length, available - length);
        }
        self.used += length;
        Some(self.base.wrapping_add(offset + behind))
    }

    /// Room for these pieces, one behind the other, the first of them at least `behind` bytes behind the first place with so much room: their
    /// addresses. `None` if there is no room for all in a row.
    pub fn allocate_row(&mut self, pieces: &[Piece], behind: usize) -> Option<Vec<*const u8>> {
        let behind = behind.div_ceil(ALIGNMENT) * ALIGNMENT;
        let mut end = 0;
        let mut begins = Vec::with_capacity(pieces.len());
        for &Piece { length, aligned } in pieces {
            let distance = self.next_distance(aligned);
            begins.push(end + distance);
            end += (length + distance).div_ceil(ALIGNMENT).max(1) * ALIGNMENT;
        }
        let wanted = behind + end.max(ALIGNMENT);
        let (&offset, &available) = self.free.iter().find(|&(_, &available)| available >= wanted)?;
        self.free.remove(&offset);
        if behind > 0 {
            self.free.insert(offset, behind);
        }
        let (offset, available) = (offset + behind, available - behind);
        if available > end {
            self.free.insert(offset + end, available - end);
        }
        self.used += end;
        Some(begins.into_iter().map(|begin| self.base.wrapping_add(offset + begin).cast_const()).collect())
    }

    fn next_distance(&mut self, aligned: bool) -> usize {
        let step = if aligned { STEP } else { 1 };
        self.scatter.as_mut().map_or(0, |random| random.bits() as usize % (ALIGNMENT / step) * step)
    }

    /// Gives the piece at `address`, allocated with `length`, back.
    pub fn release(&mut self, address: *const u8, length: usize) {
        let mut offset = address as usize - self.base as usize;
        let behind = offset % ALIGNMENT;
        offset -= behind;
        let mut length = (length + behind).div_ceil(ALIGNMENT).max(1) * ALIGNMENT;
        self.used -= length;
        if let Some((&before, &size)) = self.free.range(..offset).next_back()
            && before + size == offset
        {
            self.free.remove(&before);
            offset = before;
            length += size;
        }
        if let Some(size) = self.free.remove(&(offset + length)) {
            length += size;
        }
        self.free.insert(offset, length);
    }

    /// Fills a piece and makes it executable.
    pub fn write(&mut self, address: *const u8, bytes: &[u8]) -> std::io::Result<()> {
        let offset = address as usize - self.base as usize;
        assert!(offset + bytes.len() <= self.size, "code is written where room was allocated");
        let first = offset / PAGE * PAGE;
        let length = (offset + bytes.len()).div_ceil(PAGE) * PAGE - first;
        let protect = |protection| {
            // SAFETY: whole pages of the reservation; nobody executes them now, because the one system thread that
            // runs compiled code of this machine is here.
            match unsafe { libc::mprotect(self.base.add(first).cast(), length, protection) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        protect(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the piece is inside the reservation and writable.
        unsafe { self.base.add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        protect(libc::PROT_READ | libc::PROT_EXEC)
    }
}

impl Drop for CodeArea {
    fn drop(&mut self) {
        // SAFETY: the reservation is ours, and the machine that ran code in it is gone.
        unsafe { libc::munmap(self.base.cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SHORT: Piece = Piece { length: 100, aligned: false };
    const CONSTANTS: Piece = Piece { length: 100, aligned: true };

    #[test]
    fn scattered_pieces_begin_at_any_byte_and_aligned_ones_where_constants_may_be() {
        let mut area = CodeArea::new(1 << 20, Some(7)).expect("room");
        let mut behind = |piece: Piece| -> BTreeSet<usize> {
            (0..400).map(|_| area.allocate(piece).expect("room") as usize % ALIGNMENT).collect()
        };
        assert_eq!(behind(SHORT).len(), ALIGNMENT);
        assert_eq!(behind(CONSTANTS), BTreeSet::from([0, 16, 32, 48]));
        assert_eq!(area.used() % ALIGNMENT, 0);
    }

    #[test]
    fn pieces_in_a_row_do_not_overlap_and_all_room_comes_back() {
        for scatter in [None, Some(1), Some(2)] {
            let mut area = CodeArea::new(1 << 16, scatter).expect("room");
            let pieces: Vec<Piece> = (1..60usize)
                .map(|length| Piece { length: 3 * length, aligned: length.is_multiple_of(5) })
                .collect();
            let row = area.allocate_row(&pieces, 1000).expect("room");
            for (two, piece) in row.windows(2).zip(&pieces) {
                assert!(two[0] as usize + piece.length <= two[1] as usize, "{two:?}");
            }
            let aligned = row.iter().zip(&pieces).filter(|(_, piece)| piece.aligned);
            assert!(aligned.clone().count() > 5);
            assert!(aligned.clone().all(|(&address, _)| (address as usize).is_multiple_of(STEP)));
            for (&address, piece) in row.iter().zip(&pieces) {
                area.release(address, piece.length);
            }
            assert_eq!(area.used(), 0);
            let all = Piece { length: 1 << 16, aligned: false };
            assert!(scatter.is_some() || area.allocate(all).is_some());
        }
    }
}
