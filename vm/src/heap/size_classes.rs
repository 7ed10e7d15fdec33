//! The sizes of cells, and which object goes into which.
//!
//! Every block of 32 KiB is cut into cells of one size. Up to 64 bytes the sizes go in steps of 8 (most objects of a
//! program are there, and an exact fit is worth most there), up to 2 KiB in quarters of a power of two (at most a
//! fifth is lost), and above in whole fractions of a block, so that a block of 13, 11, 9, … 2 cells wastes nothing at
//! its end. Objects larger than half a block get blocks of their own (`large.rs`).
//!
//! The table from size to class is public and static, so that machine code can look up the class of an array.

/// Bytes of a block, the unit in which memory is taken, given back and cut into cells.
pub const BLOCK: usize = 32 * 1024;
/// Logarithm of [`BLOCK`].
pub const BLOCK_SHIFT: u32 = BLOCK.trailing_zeros();
/// Number of size classes.
pub const CLASSES: usize = 37;
/// Bytes of the largest cell; larger objects live in blocks of their own.
pub const LARGEST_CELL: usize = BLOCK / 2;

/// Bytes of a cell of each class, ascending, multiples of 8.
pub static CELLS: [u32; CLASSES] = [
    16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896,
    1024, 1280, 1536, 1792, 2048, 2520, 2976, 3640, 4096, 4680, 5456, 6552, 8192, 10920, 16384,
];

/// The class of an object, by its size in words of 8 bytes, rounded up.
pub static SIZE_CLASS_OF_WORDS: [u8; LARGEST_CELL / 8 + 1] = {
    let mut table = [0; LARGEST_CELL / 8 + 1];
    let mut class = 0;
    let mut words = 0;
    while words < table.len() {
        if words * 8 > CELLS[class] as usize {
            class += 1;
        }
        table[words] = class as u8;
        words += 1;
    }
    table
};

/// The class of objects of `bytes` bytes, which must not exceed [`LARGEST_CELL`].
#[inline]
pub const fn size_class(bytes: usize) -> usize {
    SIZE_CLASS_OF_WORDS[bytes.div_ceil(8)] as usize
}

/// Bytes of a cell of `class`.
#[inline]
pub const fn cell_size(class: usize) -> usize {
    CELLS[class] as usize
}

/// How many cells a block of each class has.
pub(super) const CAPACITY: [u16; CLASSES] = {
    let mut table = [0; CLASSES];
    let mut class = 0;
    while class < CLASSES {
        table[class] = (BLOCK / CELLS[class] as usize) as u16;
        class += 1;
    }
    table
};

/// 2^32 divided by the cell size, rounded up. The error of the rounding is below the cell size, and times an offset
/// within a block stays below 2^29: so [`cell_of`] is exact.
const RECIPROCALS: [u64; CLASSES] = {
    let mut table = [0; CLASSES];
    let mut class = 0;
    while class < CLASSES {
        table[class] = (1_u64 << 32).div_ceil(CELLS[class] as u64);
        class += 1;
    }
    table
};

/// The number of the cell that holds byte `offset` of a block; [`CAPACITY`] for the unused rest at a block's end.
#[inline]
pub(super) fn cell_of(class: usize, offset: usize) -> usize {
    ((offset as u64 * RECIPROCALS[class]) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_gets_the_smallest_cell_that_holds_it() {
        for bytes in 0..=LARGEST_CELL {
            let class = size_class(bytes);
            assert!(cell_size(class) >= bytes);
            assert!(class == 0 || cell_size(class - 1) < bytes);
        }
    }

    #[test]
    fn multiplying_by_the_reciprocal_divides() {
        for class in 0..CLASSES {
            assert!(cell_size(class).is_multiple_of(8));
            for offset in 0..BLOCK {
                assert_eq!(cell_of(class, offset), offset / cell_size(class));
            }
        }
    }
}
