//! The heap: where objects live and how those that nobody can reach any more are found.
//!
//! # The story
//!
//! A heap is one reserved range of addresses, cut into blocks of 32 KiB (`space.rs`, `places.rs`). A block holds cells of one size
//! (`size_classes.rs`) or is part of a large object (`large.rs`). Objects never move. So machine code may
//! keep their addresses wherever it likes, and stacks need no description: any word that looks like the address
//! of a place in an object keeps it (`roots.rs`). Within objects, the class record says exactly what is a reference
//! (`objects.rs`).
//!
//! A program allocates by adding to a pointer, in a *run* of zeroed cells, one run for each size class (`allocate.rs`).
//! When a run is used up, the next hole between objects becomes the run (`sweep.rs`), or a fresh block. When the
//! nursery's worth of bytes was handed out, a collection takes place (`policy.rs`, `collect.rs`).
//!
//! A collection marks all objects that can be reached (`mark.rs`), with one bit per word on the side. Generations come
//! for free: marks stay after a collection, and a marked object is *old*. A minor collection follows references
//! only to objects that are not marked yet, starting from the roots and from those old objects into which the program
//! stored since, which the write barrier has remembered (`barrier.rs`). All survivors are old afterwards. A full
//! collection begins by forgetting the marks.
//!
//! Many heaps can exist in one process; they share nothing. `verify.rs` checks all invariants, for tests.
//!
//! # What was measured
//!
//! Before this was built, prototypes were compared: against an established collector framework with a generational
//! Immix heap this design was 1.3 times faster on one load (binary trees) and equal on another (short lists with
//! old-to-young stores), with pauses five to seven times shorter and no start-up cost. `examples/heap_load.rs`
//! repeats these loads, with `malloc` as the yardstick.
//!
//! # Soundness
//!
//! Unsafe code here rests on four facts. (1) All memory is in one mapping that the heap owns (`space.rs`). (2) The
//! callers of `allocate` pass the offsets of class records that describe what they then store, and keep the class table
//! alive: the contract of [`Heap::new`] and [`Heap::allocate`]. (3) [`Roots`], an unsafe trait, reports all roots, and
//! stores into old objects are remembered; hence nothing that is used again is freed. (4) The mutator runs on the same
//! thread as the collector and is within a call of this module whenever a collection takes place.

use std::num::NonZeroU32;

mod allocate;
mod barrier;
mod collect;
mod large;
mod mark;
mod objects;
mod places;
mod policy;
mod roots;
mod size_classes;
mod space;
mod statistics;
mod sweep;
mod verify;

pub use roots::{NoRoots, RootVisitor, Roots, with_registers_saved};
pub use size_classes::{BLOCK, CELLS, CLASSES, LARGEST_CELL, SIZE_CLASS_OF_WORDS, cell_size, size_class};
pub use statistics::{
    CollectionCause, CollectionKind, CollectionReport, HeapStatistics, OutOfMemory, ReservationError,
};
pub use verify::Defect;

use crate::layout::ObjectPointer;

/// Free cells of one size class, zeroed, in a row. Machine code knows this layout.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Run {
    /// The next cell.
    pub cur: *mut u8,
    /// The end of the last cell; equal to `cur` if there is none left.
    pub limit: *mut u8,
}

impl Run {
    const EMPTY: Run = Run { cur: std::ptr::null_mut(), limit: std::ptr::null_mut() };
}

/// How a heap behaves.
#[derive(Clone, Debug)]
pub struct HeapConfig {
    /// The most bytes that objects may take, rounded up to blocks; at least 2 MiB. Only what must exist whatever the limit is goes
    /// beyond ([`Heap::allow_beyond_limit`]).
    pub limit: usize,
    /// Bytes that are allocated between two minor collections.
    pub nursery: usize,
    /// Below this many bytes of old objects, no full collection takes place (unless at the limit).
    pub full_threshold: usize,
    /// Stress mode: let every allocation take the slow path, collect at every n-th, by turns minor and full, and
    /// overwrite the dead.
    pub stress: Option<NonZeroU32>,
    /// Check all invariants after every collection, and panic if one does not hold. For tests.
    pub verify: bool,
    /// The most entries of the mark stack. Only tests of its overflow need one.
    pub mark_stack_limit: usize,
}

impl Default for HeapConfig {
    fn default() -> HeapConfig {
        HeapConfig {
            limit: 1 << 30,
            nursery: 32 << 20,
            full_threshold: 32 << 20,
            stress: None,
            verify: false,
            mark_stack_limit: usize::MAX,
        }
    }
}

/// Called after each collection.
pub type Observer = Box<dyn FnMut(&CollectionReport) + Send>;

/// A heap with its collector.
pub struct Heap {
    space: space::Space,
    config: HeapConfig,
    classes: objects::Classes,
    /// In stress mode, the runs that the program does not see.
    hidden: [Run; CLASSES],
    sweeping: sweep::Sweeping,
    remembered: barrier::Remembered,
    mark_stack: mark::MarkStack,
    /// The objects to which roots refer, during a collection.
    roots: Vec<ObjectPointer>,
    policy: policy::Policy,
    /// Bytes handed out since the last collection, in runs and large objects.
    allocated_since_collection: usize,
    /// Bytes of all objects that survived the last collection.
    live_bytes: usize,
    statistics: HeapStatistics,
    observer: Option<Observer>,
}

// SAFETY: a heap's pointers lead into memory that it alone owns, and to the class table, which any thread may read by
// the contract of `new`. Nothing in it is tied to a thread.
unsafe impl Send for Heap {}

impl Heap {
    /// Makes an empty heap for objects whose class records lie at offsets from `classes`.
    ///
    /// # Errors
    /// If the system does not grant the address space.
    ///
    /// # Safety
    /// While the heap exists, every record whose offset is passed to `allocate` stays where it is, unchanged except
    /// for what the collector does not read (it reads kind, size and references), and readable from any thread.
    pub unsafe fn new(config: HeapConfig, classes: *const u8) -> Result<Heap, ReservationError> {
        let space = space::Space::reserve(config.limit)?;
        let mark_stack = mark::MarkStack::new(config.mark_stack_limit);
        Ok(Heap {
            space,
            config,
            classes: objects::Classes(classes),
            hidden: [Run::EMPTY; CLASSES],
            sweeping: sweep::Sweeping::default(),
            remembered: barrier::Remembered::default(),
            mark_stack,
            roots: Vec::new(),
            policy: policy::Policy::default(),
            allocated_since_collection: 0,
            live_bytes: 0,
            statistics: HeapStatistics::default(),
            observer: None,
        })
    }

    /// The runs, [`CLASSES`] of them. The address stays the same as long as the heap exists, even if the `Heap`
    /// is moved. Between calls of the heap's functions, the program may take cells as `allocate.rs` says.
    pub fn runs(&self) -> *mut Run {
        self.space.runs
    }

    fn run(&self, class: usize) -> Run {
        assert!(class < CLASSES);
        // SAFETY: the space has an initialised run for each class (zero is an empty one).
        unsafe { *self.space.runs.add(class) }
    }

    fn set_run(&mut self, class: usize, run: Run) {
        assert!(class < CLASSES);
        // SAFETY: as above.
        unsafe { *self.space.runs.add(class) = run }
    }

    /// Bytes of a class's runs that are not yet objects.
    fn unused(&self, class: usize) -> usize {
        [self.run(class), self.hidden[class]].iter().map(|run| run.limit as usize - run.cur as usize).sum()
    }

    fn committed_bytes(&self) -> usize {
        self.space.committed_blocks * BLOCK
    }

    /// Counters.
    pub fn statistics(&self) -> HeapStatistics {
        let unused: usize = (0..CLASSES).map(|class| self.unused(class)).sum();
        HeapStatistics {
            allocated_bytes: self.statistics.allocated_bytes - unused as u64,
            live_bytes: self.live_bytes,
            committed_bytes: self.committed_bytes(),
            maximum_committed_bytes: self.space.maximum_committed_blocks * BLOCK,
            ..self.statistics
        }
    }

    /// Bytes of the objects that survived the last collection and of those allocated since.
    pub fn used_bytes(&self) -> usize {
        let unused: usize = (0..CLASSES).map(|class| self.unused(class)).sum();
        self.live_bytes + self.allocated_since_collection - unused
    }

    /// The most bytes that objects may take, but for what must exist.
    pub fn limit(&self) -> usize {
        self.space.limit()
    }

    /// The limit in words for messages, such as "64 MiB".
    pub fn limit_in_words(&self) -> String {
        let kibibytes = self.space.limit() >> 10;
        match kibibytes.trailing_zeros() {
            20.. => format!("{} GiB", kibibytes >> 20),
            10..20 => format!("{} MiB", kibibytes >> 10),
            _ => format!("{kibibytes} KiB"),
        }
    }

    /// The addresses from which on and up to which objects may lie.
    pub fn range(&self) -> std::ops::Range<*mut u8> {
        self.space.base..self.space.address(self.space.bytes)
    }

    /// Has `observer` called after each collection, instead of the one before.
    pub fn set_observer(&mut self, observer: Option<Observer>) {
        self.observer = observer;
    }

    /// The object at or around an address, if there is one: what conservative scanning makes of a word. For tests
    /// and debugging aids.
    pub fn find(&self, address: u64) -> Option<ObjectPointer> {
        self.space.find(address)
    }
}
