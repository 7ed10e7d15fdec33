//! What the collector tells about itself: counters, a report for each collection, and its errors.

use std::fmt;
use std::time::Duration;

/// Whether a collection looked at young objects only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionKind {
    /// Frees objects made since the last collection.
    Minor,
    /// Frees objects of any age.
    Full,
}

/// Why a collection took place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionCause {
    /// As much was allocated as the nursery holds.
    Nursery,
    /// The limit was reached.
    Limit,
    /// Somebody called `collect`.
    Request,
    /// The stress mode.
    Stress,
}

/// What one collection did.
#[derive(Clone, Debug)]
pub struct CollectionReport {
    /// Number of this collection, from 1.
    pub number: u64,
    /// Minor or full.
    pub kind: CollectionKind,
    /// Its reason.
    pub cause: CollectionCause,
    /// How long the program stood still.
    pub pause: Duration,
    /// Bytes allocated since the collection before.
    pub allocated: u64,
    /// Bytes of the cells of all objects that survived, old ones included.
    pub live: usize,
    /// Bytes of blocks that may hold physical memory.
    pub committed: usize,
    /// Old objects that had to be looked at because of stores into them.
    pub remembered: usize,
    /// Objects that roots referred to, with repetitions.
    pub roots: usize,
}

impl fmt::Display for CollectionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            CollectionKind::Minor => "minor",
            CollectionKind::Full => "full",
        };
        let cause = match self.cause {
            CollectionCause::Nursery => "nursery",
            CollectionCause::Limit => "limit",
            CollectionCause::Request => "request",
            CollectionCause::Stress => "stress",
        };
        write!(
            f,
            "gc {} {kind} ({cause}) {:.3} ms, allocated {} KiB, live {} KiB, committed {} KiB, remembered {}, roots {}",
            self.number,
            self.pause.as_secs_f64() * 1e3,
            self.allocated >> 10,
            self.live >> 10,
            self.committed >> 10,
            self.remembered,
            self.roots
        )
    }
}

/// Counters since the heap was made.
#[derive(Clone, Copy, Default, Debug)]
pub struct HeapStatistics {
    /// Collections of young objects.
    pub minor_collections: u64,
    /// Collections of all objects.
    pub full_collections: u64,
    /// Time spent in collections.
    pub total_pause: Duration,
    /// The longest collection.
    pub maximum_pause: Duration,
    /// Bytes handed out, counted in cells (large objects in words): exact at any moment.
    pub allocated_bytes: u64,
    /// Bytes of all objects that survived the last collection, minor or full.
    pub live_bytes: usize,
    /// Bytes of all objects that survived the last full collection.
    pub live_bytes_after_full: usize,
    /// Bytes of blocks that may hold physical memory.
    pub committed_bytes: usize,
    /// The most that `committed_bytes` ever was.
    pub maximum_committed_bytes: usize,
    /// Bytes that were given back to the system.
    pub returned_bytes: u64,
    /// Times that the write barrier recorded an object.
    pub remembered_objects: u64,
    /// Times that the write barrier marked a card of a large array.
    pub marked_cards: u64,
}

/// The heap is full, even after a full collection; or more was asked for than could ever fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the heap is full")
    }
}

impl std::error::Error for OutOfMemory {}

/// The system did not grant the address space for a heap.
#[derive(Debug)]
pub struct ReservationError {
    /// Bytes asked for: the limit of the heap and its tables.
    pub bytes: usize,
    /// What the system said.
    pub source: std::io::Error,
}

impl fmt::Display for ReservationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot reserve {} MiB of address space for the heap ({}); a smaller heap limit or a higher limit of \
             the process (`ulimit -v`) would help",
            self.bytes.div_ceil(1 << 20),
            self.source
        )
    }
}

impl std::error::Error for ReservationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
