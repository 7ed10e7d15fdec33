//! Marking: everything that is reachable gets its mark bit.
//!
//! An object is marked when a reference to it is met, then waits on a stack until its own references are looked at. Only
//! the latter touches the object; marks lie in a dense table on the side that mostly stays in the cache. Between the
//! stack and the look lies a queue of eight objects that are being fetched from memory, so that the waiting for
//! one overlaps with the work on others.
//!
//! Marks are sticky: a minor collection starts with the marks of the one before, so a reference to an old object ends
//! there, and survivors are old from then on. Each survivor that can hold references gets the flag UNLOGGED.
//!
//! The stack may not grow when memory is tight (or beyond a limit, in tests). Then an object is marked and not stacked,
//! and that this happened is noted. Afterwards all marked objects are looked at again, until nothing was missed: slow,
//! but it needs no memory, and it ends because every round that missed something marked something.
//!
//! # Soundness
//!
//! References in objects are null, point to objects of this heap, or out of it (see `objects.rs`); the
//! comparison in [`Marker::visit`] sorts out the first and the last. So every object on the stack is one of this heap.

use super::objects::Classes;
use super::size_classes::{BLOCK, CAPACITY, cell_size};
use super::space::{BlockKind, Space};
use crate::layout::{ObjectPointer, UNLOGGED};

/// Objects that are being fetched from memory at one time.
const FETCHED: usize = 8;

/// The objects that were marked and not yet looked at.
#[derive(Default)]
pub(super) struct MarkStack {
    objects: Vec<ObjectPointer>,
    /// Whether an object was marked and did not fit.
    missed: bool,
    /// The most entries that it may have.
    limit: usize,
}

impl MarkStack {
    pub(super) fn new(limit: usize) -> MarkStack {
        MarkStack { limit, ..MarkStack::default() }
    }

    #[inline(always)]
    fn push(&mut self, object: ObjectPointer) {
        if self.objects.len() == self.objects.capacity() && !self.grow() {
            self.missed = true;
            return;
        }
        self.objects.push(object);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        let wanted = (self.objects.capacity() * 2).max(4096).min(self.limit);
        let more = wanted.saturating_sub(self.objects.len());
        more > 0 && self.objects.try_reserve_exact(more).is_ok()
    }

    /// Gives memory back that an unusually deep structure needed.
    pub(super) fn shrink(&mut self) {
        self.objects.shrink_to(1 << 16);
    }
}

/// One marking.
pub(super) struct Marker<'a> {
    pub(super) space: &'a mut Space,
    stack: &'a mut MarkStack,
    classes: Classes,
}

impl<'a> Marker<'a> {
    pub(super) fn new(space: &'a mut Space, stack: &'a mut MarkStack, classes: Classes) -> Marker<'a> {
        Marker { space, stack, classes }
    }

    /// Marks what a reference refers to.
    ///
    /// # Safety
    /// It is null, an object of this heap, or out of the heap.
    #[inline(always)]
    pub(super) unsafe fn visit(&mut self, reference: ObjectPointer) {
        // Null is below every address of the heap, so one comparison serves for all.
        if let Some(offset) = self.space.offset(reference as usize) {
            // SAFETY: an object of this heap, by the caller's promise.
            if unsafe { self.space.mark(offset) } {
                self.stack.push(reference);
            }
        }
    }

    /// Has `look` called for an object that is marked already.
    ///
    /// # Safety
    /// It is an object of this heap.
    pub(super) unsafe fn look_later(&mut self, object: ObjectPointer) {
        self.stack.push(object);
    }

    /// Marks what an object refers to and makes it old.
    ///
    /// # Safety
    /// It is an object of this heap.
    #[inline(always)]
    unsafe fn look(&mut self, object: ObjectPointer) {
        let classes = self.classes;
        // SAFETY: by the caller's promise; references in an object satisfy `visit`.
        unsafe {
            if classes.has_references(object) {
                (*object).flags |= UNLOGGED;
                classes.references(object, |reference| self.visit(reference));
            }
        }
    }

    /// Looks at all that was marked, until nothing is left.
    pub(super) fn finish(&mut self) {
        self.drain();
        while std::mem::take(&mut self.stack.missed) {
            self.look_at_all();
        }
    }

    fn drain(&mut self) {
        let mut fetched = [std::ptr::null_mut(); FETCHED];
        let mut count = 0;
        let mut turn = 0;
        loop {
            let next = match self.stack.objects.pop() {
                Some(object) => {
                    prefetch(object);
                    count += 1;
                    object
                }
                None if count == 0 => return,
                None => std::ptr::null_mut(),
            };
            let oldest: ObjectPointer = std::mem::replace(&mut fetched[turn % FETCHED], next);
            turn = turn.wrapping_add(1);
            if !oldest.is_null() {
                count -= 1;
                // SAFETY: only marked objects of this heap get on the stack.
                unsafe { self.look(oldest) };
            }
        }
    }

    /// Looks at every marked object of the heap.
    fn look_at_all(&mut self) {
        let mut end = self.space.blocks;
        while let Some(index) = self.space.used_below(end) {
            end = index;
            let block = self.space.block(index);
            let start = index * BLOCK;
            match block.kind {
                BlockKind::Small => {
                    let size = cell_size(block.class as usize);
                    let limit = start + size * CAPACITY[block.class as usize] as usize;
                    let mut at = self.space.next_marked(start, limit);
                    while at < limit {
                        self.look_again(at);
                        at = self.space.next_marked(at + size, limit);
                    }
                }
                BlockKind::Large if self.space.is_marked(start) => self.look_again(start),
                BlockKind::Large | BlockKind::Continuation | BlockKind::Free => {}
            }
        }
    }

    fn look_again(&mut self, offset: usize) {
        let object = self.space.address(offset).cast();
        // SAFETY: only objects of this heap are marked.
        unsafe { self.look(object) };
        self.drain();
    }
}

/// Begins to load an object into the cache.
#[inline(always)]
fn prefetch(object: ObjectPointer) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on the cache, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(object.cast::<i8>(), _MM_HINT_T0);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) object, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = object;
}
