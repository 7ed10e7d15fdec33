//! Allocation.
//!
//! The fast path, here as in the interpreter and in machine code: take the class's run, compare its two pointers, add
//! the cell size to the first, store the header. Cells are zero before, so nothing else is needed for an object whose
//! fields start as zero or null.
//!
//! ```text
//!  object = runs[class].cur;  if object == runs[class].limit -> Heap::allocate
//!  runs[class].cur = object + CELLS[class];  object.header = class record's offset << 32
//! ```
//!
//! Nothing may collect between taking the cell and storing the header, because a cell with a zero header is free.

use super::size_classes::{LARGEST_CELL, cell_size, size_class};
use super::{Heap, OutOfMemory, Roots, Run};
use crate::layout::{ELEMENTS, LENGTH, ObjectPointer};

impl Heap {
    /// Allocates an object of `bytes` bytes, header included: its class set, everything else zero. May collect.
    ///
    /// # Errors
    /// If the heap is full even after a full collection. The heap stays usable.
    ///
    /// # Safety
    /// `class` is the offset of a class record whose instances have at most this size, and once an array's length is
    /// stored, it fits into `bytes`. `roots` is as its trait demands.
    #[inline]
    pub unsafe fn allocate(
        &mut self,
        bytes: usize,
        class: u32,
        roots: &mut dyn Roots,
    ) -> Result<ObjectPointer, OutOfMemory> {
        if bytes > LARGEST_CELL {
            // SAFETY: by the caller's promise.
            return unsafe { self.allocate_large(bytes, class, roots) };
        }
        let number = size_class(bytes);
        let run = self.run(number);
        if run.cur == run.limit {
            // SAFETY: by the caller's promise.
            return unsafe { self.allocate_small(number, class, roots) };
        }
        self.set_run(number, Run { cur: run.cur.wrapping_add(cell_size(number)), limit: run.limit });
        let object: ObjectPointer = run.cur.cast();
        // SAFETY: a run consists of free zeroed cells of this heap, and this one was just taken out of it.
        unsafe { (*object).class = class };
        Ok(object)
    }

    /// Allocates an array of `length` elements of `element_size` bytes (1 or 8), zeroed. May collect.
    ///
    /// # Errors
    /// As [`Heap::allocate`]; also if the size in bytes exceeds the heap or all numbers.
    ///
    /// # Safety
    /// `class` is the offset of the record of an array class with that element size. `roots` is as its trait demands.
    pub unsafe fn allocate_array(
        &mut self,
        class: u32,
        length: u64,
        element_size: usize,
        roots: &mut dyn Roots,
    ) -> Result<ObjectPointer, OutOfMemory> {
        let bytes = usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_mul(element_size))
            .and_then(|bytes| bytes.checked_add(ELEMENTS + 7))
            .ok_or(OutOfMemory)?
            & !7;
        // SAFETY: by the caller's promise; the length fits, as computed.
        unsafe {
            let array = self.allocate(bytes, class, roots)?;
            array.byte_add(LENGTH).cast::<u64>().write(length);
            Ok(array)
        }
    }

    /// The slow path for a size class whose run is empty.
    ///
    /// # Safety
    /// As for [`Heap::allocate`].
    #[cold]
    #[inline(never)]
    unsafe fn allocate_small(
        &mut self,
        number: usize,
        class: u32,
        roots: &mut dyn Roots,
    ) -> Result<ObjectPointer, OutOfMemory> {
        self.before_slow_path(roots);
        let stress = self.config.stress.is_some();
        let mut attempt = 0;
        let mut run = if stress { self.hidden[number] } else { Run::EMPTY };
        while run.cur == run.limit {
            if self.refill(number) {
                run = self.run(number);
            } else {
                self.make_room(cell_size(number), &mut attempt, roots)?;
            }
        }
        let rest = Run { cur: run.cur.wrapping_add(cell_size(number)), limit: run.limit };
        if stress {
            // The public run stays empty, so that every allocation comes here.
            self.set_run(number, Run::EMPTY);
            self.hidden[number] = rest;
        } else {
            self.set_run(number, rest);
        }
        let object: ObjectPointer = run.cur.cast();
        // SAFETY: as in `allocate`.
        unsafe { (*object).class = class };
        Ok(object)
    }
}
