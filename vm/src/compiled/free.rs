//! Freeing code that nobody enters any more: each piece, and each place where a piece lay before it was moved, as soon as no frame is
//! in it.
//!
//! A frame is in a copy of a piece if it returns there. Frames that wait further out say where they return to. What the innermost one
//! called, the stub of a yieldpoint or of an allocation, returns there too, but only that stub knows where on the stack it has
//! the address: so each word below the frame that might be one keeps the copy that it points into, as the collector takes words for
//! objects.
//!
//! What is gone is forgotten by all who knew it by its number. Numbers are never given twice.

use super::frames::{self, Position};
use super::map::CodeMap;
use super::method_order;
use super::request::CodeId;
use crate::heap::with_registers_saved;
use crate::vm::Machinery;
use std::collections::BTreeSet;

/// Where frames are.
#[derive(Default, Debug)]
pub(super) struct Used {
    /// The pieces.
    pieces: BTreeSet<CodeId>,
    /// Their copies, by the addresses at which these begin.
    copies: BTreeSet<*const u8>,
    /// Pieces of which all copies are to be kept.
    whole: BTreeSet<CodeId>,
}

impl Used {
    /// By all frames of all threads.
    fn of(vm: &Machinery) -> Used {
        let mut used = Used::default();
        let map = &vm.compiled.map;
        vm.threads.each(vm.position, |position, crossing, _| {
            let mut note = |_: *mut u64, returns: *const u8| used.returns(map, returns);
            // SAFETY: positions and crossings of live threads.
            unsafe { frames::return_addresses(position, crossing, &mut note) };
        });
        with_registers_saved(|native_top| {
            vm.threads.each_native(vm.position, native_top, |position, native_top| {
                used.stands(map, position, native_top);
            });
        });
        used
    }

    /// A frame returns to this address.
    fn returns(&mut self, map: &CodeMap, returns: *const u8) {
        let Some(object) = map.find(returns) else { return };
        self.pieces.insert(object.id);
        self.copies.extend(object.copy_with(returns));
    }

    /// A thread stands there, and its native stack goes down to `native_top`.
    fn stands(&mut self, map: &CodeMap, position: Position, native_top: *const u64) {
        let Position::Compiled(frame, place) = position else { return };
        let Some(object) = map.at(place) else { return };
        self.pieces.insert(object.id);
        if object.before.is_empty() {
            return;
        }
        let mut found = false;
        let mut at = native_top;
        while at < frame {
            // SAFETY: a native stack from its pointer to one of its frames is mapped memory of this thread, and aligned.
            let word = unsafe { *at } as *const u8;
            if let Some(copy) = object.copy_with(word) {
                self.copies.insert(copy);
                found = true;
            }
            at = at.wrapping_add(1);
        }
        if !found {
            self.whole.insert(object.id);
        }
    }

    /// Is a frame in any copy of the piece.
    fn has(&self, id: CodeId) -> bool {
        self.pieces.contains(&id)
    }

    /// May a frame be in this copy of the piece.
    pub fn has_copy(&self, id: CodeId, copy: *const u8) -> bool {
        self.whole.contains(&id) || self.copies.contains(&copy)
    }
}

/// Frees code that is not entered any more and that no frame uses.
pub(super) fn free_retired(vm: &mut Machinery) {
    vm.profiling.take_native_branches(&vm.compiled.map);
    if vm.compiled.retired.is_empty() && !vm.compiled.method_order.has_moved() {
        return;
    }
    let used = Used::of(vm);
    for id in std::mem::take(&mut vm.compiled.retired) {
        if used.has(id) {
            vm.compiled.retired.push(id);
        } else if let Some(object) = vm.compiled.map.remove(id)
            && let Some(area) = &mut vm.compiled.area
        {
            object.copies().for_each(|copy| area.release(copy, object.tables.bytes.len()));
            vm.compiled.statistics.code_in_use = area.used();
            gone(vm, id);
        }
    }
    method_order::free_copies(vm, &used);
}

/// A piece of code is no more.
fn gone(vm: &mut Machinery, id: CodeId) {
    vm.compiled.relying.retain(|_, relying| {
        relying.retain(|&other| other != id);
        !relying.is_empty()
    });
    vm.compiled.paired.remove(&id);
    vm.compiled.reasons.iter_mut().for_each(|reasons| reasons.forget(id));
    vm.profiling.gone(id);
}
