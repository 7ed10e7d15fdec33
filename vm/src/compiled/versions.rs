//! Two versions of code, of which the second counts what the first does not: for subpaths (`osp:skip=versions`) or paths
//! (`pep:code=turns`). Which of them is wanted is said by the profilers; here is what is done about it.
//!
//! In a stretch of blocks, every block is to be told, so that code without a second version is left for the interpreter. In a look of
//! PEP it goes on: a look sees what there is to see, and costs little.

use super::library::{CompiledState, ask_version};
use super::map::CodeObject;
use super::request::CodeId;
use crate::adaptive::queue::Urgency;
use crate::vm::Machinery;

impl CompiledState {
    /// Is the code of a place the second version of its kind.
    pub(crate) fn is_marked(&self, place: u64) -> bool {
        self.map.at(place).is_some_and(|object| object.marked)
    }

    /// Is there a second version of a piece of code, made later: as good as the first, and for the same past.
    fn has_counterpart(&self, object: &CodeObject) -> bool {
        let marked = self.code(object.function, object.entry, true);
        marked.is_some_and(|marked| marked.0 > object.id.0)
    }
}

/// A tick in a look: asks for the second version of all code that has none, as good as the first and made for the same past.
pub(crate) fn ask_for_counterparts(vm: &mut Machinery) {
    let current = vm.compiled.map.iter().filter(|object| object.is_current());
    let alone = current.filter(|object| !vm.compiled.paired.contains(&object.id));
    let alone: Vec<_> =
        alone.map(|object| (object.id, object.function, object.entry, object.level)).collect();
    for (id, function, entry, level) in alone {
        vm.compiled.paired.insert(id);
        // What was made for another past is made again.
        vm.compiled.state(function, true).requested.remove(&entry);
        // The program waits for other code, not for this.
        ask_version(vm, function, entry, level, true, Urgency::Sampled(0.0));
    }
}

/// Is the code of a place to be left, because it is the other version that is wanted.
pub(super) fn is_wrong_version(vm: &Machinery, place: u64) -> bool {
    is_to_be_left(vm, CodeId((place >> 32) as u32))
}

/// The same. In a look, code without a second version goes on.
pub(super) fn is_to_be_left(vm: &Machinery, id: CodeId) -> bool {
    let Some(object) = vm.compiled.map.get(id) else { return false };
    let serves = || !object.marked && vm.profiling.looks().is_some() && !vm.compiled.has_counterpart(object);
    vm.profiling.leaves(object.marked) && !serves()
}
