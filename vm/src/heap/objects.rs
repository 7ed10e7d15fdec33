//! Reading objects through their class records: how large they are and where their references lie.
//!
//! # Soundness
//!
//! Every function here takes an object of this heap whose header was stored by `allocate.rs` with a class offset that
//! the caller of `allocate` vouched for, so the record exists and describes the object's layout. Cells are zeroed before
//! they are handed out, so that a field not yet stored to reads as null, and a length as zero.

use crate::layout::{ClassRecord, ELEMENTS, LENGTH, ObjectKind, ObjectPointer};

/// Header flag of a large array of references that waits in the list of arrays with marked cards.
pub(super) const CARDED: u32 = 2;

/// Where the class records are.
#[derive(Clone, Copy)]
pub(super) struct Classes(pub(super) *const u8);

impl Classes {
    /// The record of an object's class.
    ///
    /// # Safety
    /// See the head of the file.
    #[inline(always)]
    pub(super) unsafe fn of<'a>(self, object: ObjectPointer) -> &'a ClassRecord {
        // SAFETY: the header holds the offset of a record in the table, which outlives the heap.
        unsafe { &*self.0.add((*object).class as usize).cast::<ClassRecord>() }
    }

    /// Bytes of an object, header included.
    ///
    /// # Safety
    /// See the head of the file.
    pub(super) unsafe fn size(self, object: ObjectPointer) -> usize {
        // SAFETY: by the caller's promise.
        let record = unsafe { self.of(object) };
        match record.kind {
            ObjectKind::Fields => record.instance_size as usize,
            // SAFETY: objects of these kinds have a length.
            ObjectKind::Bytes => (ELEMENTS + unsafe { length(object) }).next_multiple_of(8),
            // SAFETY: as above.
            ObjectKind::Words | ObjectKind::References => ELEMENTS + 8 * unsafe { length(object) },
        }
    }

    /// Whether objects of this class can refer to others.
    ///
    /// # Safety
    /// See the head of the file.
    #[inline(always)]
    pub(super) unsafe fn has_references(self, object: ObjectPointer) -> bool {
        // SAFETY: by the caller's promise.
        let record = unsafe { self.of(object) };
        match record.kind {
            ObjectKind::Fields => record.reference_count != 0,
            ObjectKind::Bytes | ObjectKind::Words => false,
            ObjectKind::References => true,
        }
    }

    /// Calls `visit` with every reference in an object, null ones included.
    ///
    /// # Safety
    /// See the head of the file.
    #[inline(always)]
    pub(super) unsafe fn references(self, object: ObjectPointer, mut visit: impl FnMut(ObjectPointer)) {
        // SAFETY: by the caller's promise.
        let record = unsafe { self.of(object) };
        match record.kind {
            ObjectKind::Fields => {
                for number in 0..record.reference_count as usize {
                    // SAFETY: the record has that many offsets, and a reference lies at each of them.
                    unsafe {
                        let offset = *record.references.add(number) as usize;
                        visit(object.byte_add(offset).cast::<ObjectPointer>().read());
                    }
                }
            }
            ObjectKind::Bytes | ObjectKind::Words => {}
            ObjectKind::References => {
                // SAFETY: it is an array; all its elements are asked for.
                unsafe { elements(object, 0, length(object), visit) }
            }
        }
    }
}

/// The length of an array.
///
/// # Safety
/// `array` is an array of any kind.
#[inline(always)]
pub(super) unsafe fn length(array: ObjectPointer) -> usize {
    // SAFETY: arrays have their length there.
    unsafe { array.byte_add(LENGTH).cast::<usize>().read() }
}

/// Calls `visit` with the elements `from .. end` of an array of references.
///
/// # Safety
/// `array` is an array of references of at least `end` elements.
#[inline(always)]
pub(super) unsafe fn elements(
    array: ObjectPointer,
    from: usize,
    end: usize,
    mut visit: impl FnMut(ObjectPointer),
) {
    for index in from..end {
        // SAFETY: within the array by the caller's promise.
        visit(unsafe { array.byte_add(ELEMENTS).cast::<ObjectPointer>().add(index).read() });
    }
}
