//! Class records made by hand, roots in two vectors, and a heap with short names for what tests do.

use holloway_vm::heap::{CollectionKind, Heap, HeapConfig, OutOfMemory, RootVisitor, Roots};
use holloway_vm::layout::{ClassRecord, ELEMENTS, ObjectKind, ObjectPointer, UNLOGGED};

/// A class for tests.
pub struct Class {
    /// Bytes of an instance; 0 for arrays.
    pub size: u32,
    pub kind: ObjectKind,
    pub references: &'static [u32],
}

const fn fields(size: u32, references: &'static [u32]) -> Class {
    Class { size, kind: ObjectKind::Fields, references }
}

const fn array(kind: ObjectKind) -> Class {
    Class { size: 0, kind, references: &[] }
}

/// All classes. The first three are arrays.
pub const CLASSES: [Class; 11] = [
    array(ObjectKind::Bytes),
    array(ObjectKind::Words),
    array(ObjectKind::References),
    fields(8, &[]),
    fields(16, &[8]),
    fields(24, &[8, 16]),
    fields(24, &[16]),
    fields(72, &[8, 32, 40, 64]),
    fields(400, &[8, 16, 200, 392]),
    fields(3000, &[8, 2000, 2992]),
    fields(40_000, &[8, 20_000, 39_992]),
];
pub const BYTES: usize = 0;
pub const WORDS: usize = 1;
pub const REFERENCES: usize = 2;
/// Two references, no data.
pub const PAIR: usize = 5;

/// The offset of the record of a class. Zero is not a valid offset.
pub fn offset_of_class(class: usize) -> u32 {
    (class as u32 + 1) * 64
}

/// Makes the class table. Leaked, because it has to outlive heaps.
pub fn class_table() -> *const u8 {
    let record = |class: &Class| ClassRecord {
        instance_size: class.size,
        kind: class.kind,
        id: 0,
        last: 0,
        references: class.references.as_ptr(),
        reference_count: class.references.len() as u32,
        interface_words: 0,
        interfaces: std::ptr::null(),
        reserved: [0; 3],
    };
    let nothing = Class { size: 0, kind: ObjectKind::Fields, references: &[] };
    let table: Vec<ClassRecord> = std::iter::once(&nothing).chain(&CLASSES).map(record).collect();
    table.leak().as_ptr().cast()
}

/// Roots that tests set.
#[derive(Default)]
pub struct TestRoots {
    pub precise: Vec<ObjectPointer>,
    pub ambiguous: Vec<u64>,
}

// SAFETY: tests do not use objects that are not in the vectors after a collection, except to see that they are gone.
unsafe impl Roots for TestRoots {
    fn scan(&mut self, visitor: &mut RootVisitor<'_>) {
        let words = self.ambiguous.as_ptr_range();
        // SAFETY: the vectors can be read; the precise ones are what the heap returned.
        unsafe {
            visitor.words(words.start, words.end);
            visitor.references(self.precise.as_ptr(), self.precise.len());
        }
    }
}

/// A heap and its roots.
pub struct TestHeap {
    pub heap: Heap,
    pub roots: TestRoots,
}

/// A small heap that checks itself after every collection.
pub fn small() -> HeapConfig {
    HeapConfig {
        limit: 64 << 20,
        nursery: 1 << 20,
        full_threshold: 4 << 20,
        verify: true,
        ..HeapConfig::default()
    }
}

impl TestHeap {
    pub fn new(config: HeapConfig) -> TestHeap {
        // SAFETY: the class table is leaked.
        let heap = unsafe { Heap::new(config, class_table()) }.expect("address space");
        TestHeap { heap, roots: TestRoots::default() }
    }

    /// Allocates an instance of a class, or an array of `length` elements.
    pub fn allocate(&mut self, class: usize, length: u64) -> Result<ObjectPointer, OutOfMemory> {
        let offset = offset_of_class(class);
        // SAFETY: the classes are in the table.
        unsafe {
            match CLASSES[class].kind {
                ObjectKind::Fields => {
                    self.heap.allocate(CLASSES[class].size as usize, offset, &mut self.roots)
                }
                ObjectKind::Bytes => self.heap.allocate_array(offset, length, 1, &mut self.roots),
                ObjectKind::Words | ObjectKind::References => {
                    self.heap.allocate_array(offset, length, 8, &mut self.roots)
                }
            }
        }
    }

    pub fn make(&mut self, class: usize, length: u64) -> ObjectPointer {
        self.allocate(class, length).expect("room")
    }

    pub fn collect(&mut self, kind: CollectionKind) {
        self.heap.collect(kind, &mut self.roots);
    }

    /// Whether an object is still there.
    pub fn lives(&self, object: ObjectPointer) -> bool {
        self.heap.find(object as u64) == Some(object)
    }

    /// Stores a reference into an object, with the barrier.
    pub fn set_field(&mut self, object: ObjectPointer, offset: usize, value: ObjectPointer) {
        // SAFETY: tests pass offsets within objects that exist.
        unsafe {
            if (*object).flags & UNLOGGED != 0 {
                self.heap.remember(object);
            }
            object.byte_add(offset).cast::<ObjectPointer>().write(value);
        }
    }

    /// Stores a reference into an array of references, with the barrier.
    pub fn set_element(&mut self, array: ObjectPointer, index: usize, value: ObjectPointer) {
        // SAFETY: tests pass indices within arrays that exist.
        unsafe {
            if (*array).flags & UNLOGGED != 0 {
                self.heap.remember_element(array, index);
            }
            array.byte_add(ELEMENTS + 8 * index).cast::<ObjectPointer>().write(value);
        }
    }
}

/// Reads a word of an object.
pub fn word(object: ObjectPointer, offset: usize) -> u64 {
    // SAFETY: tests pass offsets within objects that exist.
    unsafe { object.byte_add(offset).cast::<u64>().read() }
}

/// Writes a word that is not a reference (or, on purpose, one without the barrier).
pub fn set_word(object: ObjectPointer, offset: usize, value: u64) {
    // SAFETY: tests pass offsets within objects that exist.
    unsafe { object.byte_add(offset).cast::<u64>().write(value) }
}
