//! Where samples go: identical traces are one row with a count (section 3.1), in bounded memory.
//!
//! Traces lie one behind the other in one vector; an open hash table of row numbers finds them. Its hash is fixed and
//! its order reaches no output. A sample that is already there allocates nothing; one that is new and finds the table
//! full is counted as lost, so that counts are short, never wrong.

use super::branch::{CountedTrace, Place, Recording, TakenBranch, Trace};
use super::parameter::{OutOfRange, within};
use super::period::{Clock, Period, mix};
use super::ring::Ring;
use hashbrown::HashTable;

/// Trace to count.
#[derive(Debug, Clone)]
pub struct TraceTable {
    branches: Vec<TakenBranch>,
    rows: Vec<Row>,
    index: HashTable<u32>,
    capacity: usize,
    lost: u64,
    empty: u64,
}

#[derive(Debug, Clone)]
struct Row {
    start: usize,
    end: usize,
    pc: Option<Place>,
    hash: u64,
    count: u64,
}

impl TraceTable {
    /// The largest number of different traces.
    pub const MAX_CAPACITY: usize = 1 << 24;

    /// An empty table for `capacity` different traces. Memory is taken as they come.
    ///
    /// # Errors
    ///
    /// If the capacity is not in `1..=MAX_CAPACITY`.
    pub fn new(capacity: usize) -> Result<Self, OutOfRange> {
        let capacity = within("capacity in traces", capacity, 1, Self::MAX_CAPACITY)?;
        Ok(Self {
            branches: Vec::new(),
            rows: Vec::new(),
            index: HashTable::new(),
            capacity,
            lost: 0,
            empty: 0,
        })
    }

    /// Counts a sample: the branches, oldest first, and where the program stood.
    pub fn record(&mut self, branches: &[TakenBranch], pc: Option<Place>) {
        if branches.is_empty() {
            self.empty += 1;
            return;
        }
        let hash = hash(branches, pc);
        let Self { branches: all, rows, index, .. } = self;
        let same = |&row: &u32| {
            let row = &rows[row as usize];
            row.hash == hash && row.pc == pc && all[row.start..row.end] == *branches
        };
        if let Some(&row) = index.find(hash, same) {
            let count = &mut rows[row as usize].count;
            *count = count.saturating_add(1);
            return;
        }
        if rows.len() == self.capacity {
            self.lost += 1;
            return;
        }
        let (start, number) = (all.len(), rows.len() as u32);
        all.extend_from_slice(branches);
        rows.push(Row { start, end: all.len(), pc, hash, count: 1 });
        index.insert_unique(hash, number, |&row| rows[row as usize].hash);
    }

    /// How many different traces there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no trace.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many samples found the table full.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many samples were without a branch.
    #[must_use]
    pub fn empty(&self) -> u64 {
        self.empty
    }

    /// The traces with their counts, in increasing order of the traces.
    #[must_use]
    pub fn traces(&self) -> Vec<CountedTrace> {
        let mut traces: Vec<_> = self
            .rows
            .iter()
            .map(|row| CountedTrace {
                trace: Trace { branches: self.branches[row.start..row.end].to_vec(), pc: row.pc },
                count: row.count,
            })
            .collect();
        traces.sort_unstable_by(|a, b| a.trace.cmp(&b.trace));
        traces
    }
}

fn hash(branches: &[TakenBranch], pc: Option<Place>) -> u64 {
    let place = |place: Place| match place {
        Place::At { method, block } => u64::from(method.0) << 32 | u64::from(block.0),
        Place::Outside => u64::MAX,
        Place::Missing => u64::MAX - 1,
    };
    let seed = pc.map_or(1, |pc| mix(place(pc)));
    branches.iter().fold(seed, |hash, branch| {
        let kind = branch.kind as u64;
        let hash = mix(hash ^ place(branch.source)).wrapping_add(kind);
        mix(hash.rotate_left(5) ^ place(branch.target))
    })
}

/// A ring, the clock that says when to copy it and the table that counts the copies: what a thread that records
/// carries.
#[derive(Debug, Clone)]
pub struct Recorder {
    ring: Ring,
    clock: Clock,
    table: TraceTable,
    scratch: Vec<TakenBranch>,
}

impl Recorder {
    /// Puts the three together.
    #[must_use]
    pub fn new(ring: Ring, clock: Clock, table: TraceTable) -> Self {
        let scratch = Vec::with_capacity(ring.depth());
        Self { ring, clock, table, scratch }
    }

    /// Remembers a taken branch. If the answer is true, a sample is due: call [`sample`](Self::sample) as soon as it is
    /// known where the program stands.
    #[inline]
    pub fn push(&mut self, branch: TakenBranch) -> bool {
        self.ring.push(branch);
        self.clock.branch()
    }

    /// So many ticks have passed. If the answer is true, a sample is due.
    #[inline]
    pub fn ticks(&mut self, elapsed: u64) -> bool {
        self.clock.ticks(elapsed)
    }

    /// Copies the ring into the table.
    pub fn sample(&mut self, pc: Option<Place>) {
        self.ring.snapshot(&mut self.scratch);
        self.table.record(&self.scratch, pc);
    }

    /// What was recorded so far.
    #[must_use]
    pub fn recording(&self) -> Recording {
        Recording {
            depth: self.ring.depth(),
            period: self.period(),
            traces: self.table.traces(),
            lost: self.table.lost,
            empty: self.table.empty,
        }
    }

    /// The clock's period.
    #[must_use]
    pub fn period(&self) -> Period {
        self.clock.period()
    }
}
