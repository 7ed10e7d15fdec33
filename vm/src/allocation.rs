//! Allocation as slow paths and natives see it, and the roots that they hand to the collector.

use crate::errors::Failure;
use crate::heap::{CollectionKind, OutOfMemory, RootVisitor, Roots, with_registers_saved};
use crate::interpreter::machine::Object;
use crate::layout::ObjectPointer;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, ErrorKind};

/// The roots of a machine: stacks and registers of its threads, globals, constants.
struct MachineRoots {
    machinery: *const Machinery,
    native_top: *const u64,
}

// SAFETY: whatever refers to objects is one of: a register of a frame, a word of a thread's native stack or a processor
// register (saved at `native_top` or above), a global, a constant, or a field of the thread table.
unsafe impl Roots for MachineRoots {
    fn scan(&mut self, visitor: &mut RootVisitor<'_>) {
        // SAFETY: the machinery lives; while the collector runs (it has the heap borrowed), nothing else of it changes.
        let (threads_owner, globals, own) = unsafe {
            let machinery = &*self.machinery;
            (machinery, &machinery.globals, machinery.own_roots())
        };
        threads_owner.scan_threads(self.native_top, visitor);
        for &bits in globals.iter() {
            visitor.word(bits);
        }
        for object in own {
            visitor.word(object as u64);
        }
    }
}

fn out_of_memory(_: OutOfMemory) -> Failure {
    Failure::Error(ErrorKind::OutOfMemory, String::new())
}

impl Machinery {
    /// A new instance of a class with fields, all zero.
    pub(crate) fn allocate_instance(&mut self, class: ClassId) -> Result<ObjectPointer, Failure> {
        let size = self.classes.record(class).instance_size as usize;
        let offset = self.classes.offset(class);
        let raw: *mut Machinery = self;
        with_registers_saved(|native_top| {
            let mut roots = MachineRoots { machinery: raw, native_top };
            // SAFETY: the offset is that of the class's record, and the size is its instances'.
            unsafe { (*raw).heap.allocate(size, offset, &mut roots) }
        })
        .map_err(out_of_memory)
    }

    /// A new array of a class with elements, all zero.
    pub(crate) fn allocate_array(&mut self, class: ClassId, length: usize) -> Result<ObjectPointer, Failure> {
        let element = self.program.classes[class.index()].element().map_or(8, |e| e.size());
        let offset = self.classes.offset(class);
        let raw: *mut Machinery = self;
        with_registers_saved(|native_top| {
            let mut roots = MachineRoots { machinery: raw, native_top };
            // SAFETY: the offset is that of an array class with this element size.
            unsafe { (*raw).heap.allocate_array(offset, length as u64, element, &mut roots) }
        })
        .map_err(out_of_memory)
    }

    /// A new string of these bytes, which are UTF-8.
    pub(crate) fn allocate_string(&mut self, bytes: &[u8]) -> Result<ObjectPointer, Failure> {
        let string = self.allocate_array(ClassId::STRING, bytes.len())?;
        // SAFETY: the new string has room for them, and `bytes` is not inside it.
        unsafe { Object(string).byte(0).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(string)
    }

    /// Runs a full collection.
    pub(crate) fn collect_garbage(&mut self) {
        let raw: *mut Machinery = self;
        with_registers_saved(|native_top| {
            let mut roots = MachineRoots { machinery: raw, native_top };
            // SAFETY: the machinery is live; the collector has the heap alone.
            unsafe { (*raw).heap.collect(CollectionKind::Full, &mut roots) }
        });
    }

    /// Stores a reference into a field of an object, with the barrier.
    pub(crate) fn store_reference(&mut self, object: ObjectPointer, field: usize, value: ObjectPointer) {
        // SAFETY: a live object of this heap.
        unsafe { self.heap.remember(object) };
        Object(object).set_field(field, value as u64);
    }
}
