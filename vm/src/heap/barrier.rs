//! The write barrier's slow path: what a minor collection has to look at besides roots and young objects.
//!
//! Whoever stores a reference into an object tests the flag UNLOGGED in its header first and, if it is set, calls one
//! of the functions here. The flag is set in old objects only, so stores into young ones cost the test alone. The test
//! may be left out for the stores that initialise an object, if nothing can collect between its allocation and them.
//! It does not matter whether the call comes before or after the store, as long as nothing can collect between.
//!
//! * An object or small array is put into the remembered set, once: the call clears the flag, the next collection
//!   sets it again. The whole object is looked at then.
//! * A large array of references would make that slow: a store or two in each minor collection into a table of a
//!   million elements. It keeps its flag, and each store marks the card (512 bytes) of the element. The first marked
//!   card puts the array into a list, with the flag CARDED in its header against a second time.
//!
//! If memory for either list runs out, the next collection is a full one, which needs no lists.

use super::Heap;
use super::mark::Marker;
use super::objects::{CARDED, elements, length};
use super::places::CARD_SHIFT;
use super::size_classes::BLOCK_SHIFT;
use super::space::{BlockKind, Space};
use crate::layout::{ELEMENTS, ObjectKind, ObjectPointer, UNLOGGED};

/// Bytes that a card stands for.
const CARD: usize = 1 << CARD_SHIFT;
/// How many cards are skipped at once if none of them is marked.
const CARDS_AT_ONCE: usize = 64;

/// What stores into old objects left to look at.
#[derive(Default)]
pub(super) struct Remembered {
    /// Objects without the flag UNLOGGED that are old and can hold references.
    pub(super) objects: Vec<ObjectPointer>,
    /// Large arrays that have marked cards.
    pub(super) arrays: Vec<ObjectPointer>,
    /// Whether one did not fit into a list: then the lists do not suffice.
    pub(super) incomplete: bool,
}

impl Heap {
    /// Records that references are stored into an object, anywhere in it. For an object with the flag UNLOGGED; without
    /// it, this does nothing.
    ///
    /// # Safety
    /// `object` is an object of this heap.
    pub unsafe fn remember(&mut self, object: ObjectPointer) {
        // SAFETY: by the caller's promise; a large object with the flag is an array of references or an object.
        unsafe {
            if (*object).flags & UNLOGGED == 0 {
                return;
            }
            if self.is_large_array(object) {
                return self.remember_elements(object, 0, length(object));
            }
            (*object).flags &= !UNLOGGED;
        }
        self.statistics.remembered_objects += 1;
        self.remembered.incomplete |= !add(&mut self.remembered.objects, object);
    }

    /// Records that a reference is stored into element `index` of an array of references.
    ///
    /// # Safety
    /// `array` is an array of references of this heap, and `index` is below its length.
    #[inline]
    pub unsafe fn remember_element(&mut self, array: ObjectPointer, index: usize) {
        // SAFETY: by the caller's promise.
        unsafe { self.remember_elements(array, index, 1) }
    }

    /// Records that references are stored into `count` elements from `index` on.
    ///
    /// # Safety
    /// `array` is an array of references of this heap that has these elements.
    pub unsafe fn remember_elements(&mut self, array: ObjectPointer, index: usize, count: usize) {
        // SAFETY: by the caller's promise.
        unsafe {
            if (*array).flags & UNLOGGED == 0 || count == 0 {
                return;
            }
            if !self.is_large_array(array) {
                return self.remember(array);
            }
            if (*array).flags & CARDED == 0 {
                if !add(&mut self.remembered.arrays, array) {
                    self.remembered.incomplete = true;
                    return;
                }
                (*array).flags |= CARDED;
            }
            let Some(offset) = self.space.offset(array as usize) else { return };
            let cards = self.space.cards(offset + ELEMENTS + 8 * index, 8 * count);
            cards.fill(1);
            self.statistics.marked_cards += cards.len() as u64;
        }
    }

    /// Whether an object with the flag UNLOGGED has cards: is it an array in blocks of its own? (An object with
    /// thousands of fields can be large, too.)
    ///
    /// # Safety
    /// `object` is an object of this heap.
    unsafe fn is_large_array(&self, object: ObjectPointer) -> bool {
        let Some(offset) = self.space.offset(object as usize) else { return false };
        if self.space.block(offset >> BLOCK_SHIFT).kind != BlockKind::Large {
            return false;
        }
        // SAFETY: by the caller's promise.
        unsafe { self.classes.of(object).kind == ObjectKind::References }
    }
}

/// Appends to a list, if there is memory for it.
fn add(list: &mut Vec<ObjectPointer>, object: ObjectPointer) -> bool {
    if list.len() == list.capacity() && list.try_reserve(list.len().max(256)).is_err() {
        return false;
    }
    list.push(object);
    true
}

impl Remembered {
    /// How many objects and arrays are in the lists.
    pub(super) fn count(&self) -> usize {
        self.objects.len() + self.arrays.len()
    }

    /// Forgets everything, at the beginning of a full collection.
    pub(super) fn forget(&mut self, space: &mut Space) {
        self.objects.clear();
        self.incomplete = false;
        for array in self.arrays.drain(..) {
            // SAFETY: arrays in the list are old, and old objects live until a full collection has marked.
            unsafe {
                (*array).flags &= !CARDED;
                if let Some(cards) = cards_of(space, array) {
                    cards.fill(0);
                }
            }
        }
    }

    /// Looks at everything that was remembered, at the beginning of a minor collection.
    pub(super) fn look(&mut self, marker: &mut Marker<'_>) {
        for object in self.objects.drain(..) {
            // SAFETY: objects in the list are of this heap.
            unsafe { marker.look_later(object) };
        }
        for array in self.arrays.drain(..) {
            // SAFETY: as in `forget`.
            unsafe {
                (*array).flags &= !CARDED;
                look_at_cards(array, marker);
            }
        }
    }
}

/// The cards of a large array.
///
/// # Safety
/// It is a large array of this heap.
unsafe fn cards_of(space: &mut Space, array: ObjectPointer) -> Option<&mut [u8]> {
    let offset = space.offset(array as usize)?;
    // SAFETY: by the caller's promise.
    let bytes = ELEMENTS + 8 * unsafe { length(array) };
    Some(space.cards(offset, bytes))
}

/// Looks at the elements whose cards are marked, and clears these cards.
///
/// # Safety
/// `array` is a large array of references of this heap.
unsafe fn look_at_cards(array: ObjectPointer, marker: &mut Marker<'_>) {
    // SAFETY: by the caller's promise.
    let elements_count = unsafe { length(array) };
    // SAFETY: by the caller's promise.
    let count = unsafe { cards_of(marker.space, array) }.map_or(0, |cards| cards.len());
    let mut first = 0;
    while first < count {
        let mut marks = [0; CARDS_AT_ONCE];
        let end = count.min(first + CARDS_AT_ONCE);
        // SAFETY: by the caller's promise.
        if let Some(cards) = unsafe { cards_of(marker.space, array) } {
            let cards = &mut cards[first..end];
            if cards.iter().fold(0, |any, card| any | card) != 0 {
                marks[..cards.len()].copy_from_slice(cards);
                cards.fill(0);
                for number in (first..end).filter(|number| marks[number - first] != 0) {
                    let from = (number * CARD).saturating_sub(ELEMENTS) / 8;
                    let end = ((number + 1) * CARD - ELEMENTS) / 8;
                    // SAFETY: the elements are within the array, whose references satisfy `visit`.
                    unsafe { elements(array, from, end.min(elements_count), |to| marker.visit(to)) };
                }
            }
        }
        first = end;
    }
}
