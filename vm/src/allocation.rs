//! Allocation as slow paths and natives see it, and the roots that they hand to the collector.

use crate::compiled::frames::{self, Frame, Position};
use crate::compiled::library::{self, CompiledState};
use crate::errors::Failure;
use crate::heap::{CollectionKind, Heap, OutOfMemory, RootVisitor, Roots, with_registers_saved};
use crate::interpreter::machine::Object;
use crate::layout::ObjectPointer;
use crate::live::LiveRegisters;
use crate::loader::LoadedCode;
use crate::threads::Threads;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, ErrorKind, Program};

/// The roots of a machine: stacks and registers of its threads, globals, constants.
struct MachineRoots<'a> {
    threads: &'a Threads,
    code: &'a LoadedCode,
    program: &'a Program,
    running: Position,
    compiled: &'a CompiledState,
    live: &'a mut LiveRegisters,
    globals: &'a [u64],
    constants: &'a [ObjectPointer],
    prepared: &'a [ObjectPointer],
    characters: &'a [ObjectPointer],
    native_top: *const u64,
}

// SAFETY: whatever refers to objects and will be used is one of: a live register of a frame, a word of a thread's native stack or a processor
// register (saved at `native_top` or above), a value on its way between the tiers (`CompiledState::roots`), a global, a constant, an object
// prepared at the start, or an error in the thread table.
unsafe impl Roots for MachineRoots<'_> {
    fn scan(&mut self, visitor: &mut RootVisitor<'_>) {
        let (program, code, map, live) = (self.program, self.code, self.compiled.map(), &mut *self.live);
        let mut registers = |position, crossing, start, visitor: &mut RootVisitor<'_>| {
            let mut look = |frame| {
                if let Frame::Interpreted(pc, base, standing) = frame {
                    for &register in live.at(program, code, pc, standing) {
                        // SAFETY: the register belongs to the frame, which is on the stack of a live thread.
                        visitor.word(unsafe { *base.add(register as usize) });
                    }
                }
                true
            };
            // SAFETY: what `scan` passes belongs to one live thread.
            unsafe { frames::walk(code, map, start, position, crossing, &mut look) };
        };
        self.threads.scan(self.running, self.native_top, &mut registers, visitor);
        for bits in self.compiled.roots() {
            visitor.word(bits);
        }
        for &bits in self.globals {
            visitor.word(bits);
        }
        for &object in self.constants.iter().chain(self.prepared).chain(self.characters) {
            visitor.word(object as u64);
        }
    }
}

fn out_of_memory(_: OutOfMemory) -> Failure {
    Failure::Error(ErrorKind::OutOfMemory, String::new())
}

impl Machinery {
    /// Calls `action` with the heap and the roots.
    fn with_roots<R>(&mut self, action: impl FnOnce(&mut Heap, &mut MachineRoots<'_>) -> R) -> R {
        with_registers_saved(|native_top| {
            let mut roots = MachineRoots {
                threads: &self.threads,
                code: &self.code,
                program: &self.program,
                running: self.position,
                compiled: &self.compiled,
                live: &mut self.live,
                globals: &self.globals,
                constants: &self.strings,
                prepared: &self.prepared,
                characters: &self.characters,
                native_top,
            };
            action(&mut self.heap, &mut roots)
        })
    }

    /// A new instance of a class with fields, all zero.
    pub(crate) fn allocate_instance(&mut self, class: ClassId) -> Result<ObjectPointer, Failure> {
        library::note_instance(self, class);
        let size = self.classes.record(class).instance_size as usize;
        let offset = self.classes.offset(class);
        // SAFETY: the offset is that of the class's record, and the size is its instances'.
        self.with_roots(|heap, roots| unsafe { heap.allocate(size, offset, roots) }).map_err(out_of_memory)
    }

    /// A new instance that must exist whatever the heap's limit is: of a class whose instance compiled code had spared until now. When all
    /// that are made together exist, [`Machinery::all_exist`] is to be called.
    pub(crate) fn materialize(&mut self, class: ClassId) -> ObjectPointer {
        self.allocate_instance(class).unwrap_or_else(|_| {
            self.heap.allow_beyond_limit(true);
            self.allocate_instance(class).unwrap_or_else(|_| {
                eprintln!("no memory for the objects of the interpreter");
                std::process::abort()
            })
        })
    }

    /// No more objects must exist: the heap's limit is one again.
    pub(crate) fn all_exist(&mut self) {
        self.heap.allow_beyond_limit(false);
    }

    /// A new array of a class with elements, all zero.
    pub(crate) fn allocate_array(&mut self, class: ClassId, length: usize) -> Result<ObjectPointer, Failure> {
        let element = self.program.classes[class.index()].element().map_or(8, |e| e.size());
        let offset = self.classes.offset(class);
        // SAFETY: the offset is that of an array class with this element size.
        self.with_roots(|heap, roots| unsafe { heap.allocate_array(offset, length as u64, element, roots) })
            .map_err(out_of_memory)
    }

    /// A string of these bytes, which are UTF-8. Strings of one ASCII character are always the same objects: programs that
    /// read text make many of them, and comparing them with each other is comparing addresses.
    pub(crate) fn allocate_string(&mut self, bytes: &[u8]) -> Result<ObjectPointer, Failure> {
        if let [byte] = bytes
            && let Some(&string) = self.characters.get(*byte as usize)
        {
            return Ok(string);
        }
        let string = self.allocate_array(ClassId::STRING, bytes.len())?;
        // SAFETY: the new string has room for them, and `bytes` is not inside it.
        unsafe { Object(string).byte(0).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(string)
    }

    /// Runs a full collection.
    pub(crate) fn collect_garbage(&mut self) {
        self.with_roots(|heap, roots| heap.collect(CollectionKind::Full, roots));
    }

    /// Stores a reference into a field of an object, with the barrier.
    pub(crate) fn store_reference(&mut self, object: ObjectPointer, field: usize, value: ObjectPointer) {
        // SAFETY: a live object of this heap.
        unsafe { self.heap.remember(object) };
        Object(object).set_field(field, value as u64);
    }
}
