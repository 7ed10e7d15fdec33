//! The concise sample: identities with counts in a fixed amount of memory.
//!
//! Gibbons and Matias (SIGMOD 1998), as sections 2.1 and 2.3 of the paper use it: each distinct identity costs one entry
//! however often it was sampled. When it no longer fits, the caller thins the sample by a ratio, which replaces every
//! count c by Binomial(c, ratio) and drops what became zero, and samples more seldom from then on.
//!
//! Three arrays of fixed size: the entries in the order of their arrival, their descriptions one after the other in the
//! same order (so that an entry needs no pointer to its own), and an open-addressed index of entry numbers. Nothing is
//! allocated after the start. [`add`](HotList::add) is O(1) but for the description. [`thin`](HotList::thin) takes
//! O(entries + samples/32 + bytes) steps, amortized O(1) a sample: it makes room for a tenth of the entries, and a sample
//! that is kept with probability r each time is drawn for 1/(1 - r) times on average.
//!
//! Invariant: `index` finds exactly the entries, and their `bytes` sum up to the length of `arena`.

use super::random::{Random, Ratio, mix};

/// One distinct subpath of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub id: u64,
    pub count: u32,
    pub length: u16,
    /// How many bytes of the arena describe it; 0 if it has no description.
    pub bytes: u16,
}

/// A place of the index without an entry.
const FREE: u32 = u32::MAX;

/// The hot list.
#[derive(Debug, Clone)]
pub(super) struct HotList {
    entries: Vec<Entry>,
    arena: Vec<u8>,
    index: Vec<u32>,
    entry_limit: usize,
    arena_limit: usize,
}

/// Whether a subpath found its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    Counted,
    /// There is no room: thin, then try again.
    Full,
}

impl HotList {
    /// The bytes of an entry with its share of the index, of which two thirds are used at most.
    const ENTRY_BYTES: usize = size_of::<Entry>() + size_of::<u32>() * 3 / 2;

    /// A list that takes at most `bytes`, divided so that each entry can have a description of `description` bytes.
    pub fn within(bytes: usize, description: f64) -> Self {
        let entry_limit = Self::entries_within(bytes, description);
        let spare = bytes - (entry_limit * Self::ENTRY_BYTES).min(bytes);
        let arena_limit = if description > 0.0 { spare } else { 0 };
        Self {
            entries: Vec::with_capacity(entry_limit),
            arena: Vec::with_capacity(arena_limit),
            index: vec![FREE; entry_limit * 3 / 2],
            entry_limit,
            arena_limit,
        }
    }

    /// How many entries such a list has.
    pub fn entries_within(bytes: usize, description: f64) -> usize {
        (bytes as f64 / (Self::ENTRY_BYTES as f64 + description)) as usize
    }

    /// The bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.arena.capacity()
            + self.index.capacity() * size_of::<u32>()
    }

    /// How many entries there may be.
    pub fn entry_limit(&self) -> usize {
        self.entry_limit
    }

    /// How many distinct subpaths there are.
    pub fn distinct(&self) -> usize {
        self.entries.len()
    }

    /// Whether a tenth of everything is free: until then a list that overflowed is thinned.
    pub fn has_room(&self) -> bool {
        self.entries.len() * 10 <= self.entry_limit * 9 && self.arena.len() * 10 <= self.arena_limit * 9
    }

    /// The entries, each with its description.
    pub fn rows(&self) -> impl Iterator<Item = (&Entry, &[u8])> {
        self.entries.iter().scan(0, |at, entry| {
            let start = *at;
            *at += usize::from(entry.bytes);
            Some((entry, &self.arena[start..*at]))
        })
    }

    /// Counts a subpath. A new one gets the description that `encode` appends to the given bytes, up to the given
    /// limit; `encode` says whether it fitted. A description that is longer than a quarter of the arena is not kept.
    pub fn add(&mut self, id: u64, length: u16, encode: impl Fn(&mut Vec<u8>, usize) -> bool) -> Added {
        let place = match self.find(id, length) {
            Ok(entry) => return self.increment(entry),
            Err(place) => place,
        };
        if self.entries.len() == self.entry_limit {
            return Added::Full;
        }
        let start = self.arena.len();
        let largest = (self.arena_limit / 4).min(usize::from(u16::MAX));
        let fits = encode(&mut self.arena, (start + largest).min(self.arena_limit));
        if !fits {
            self.arena.truncate(start);
            if start + largest > self.arena_limit {
                return Added::Full;
            }
        }
        let bytes = u16::try_from(self.arena.len() - start).expect("limited");
        self.index[place] = u32::try_from(self.entries.len()).expect("fewer than 2^32 entries");
        self.entries.push(Entry { id, count: 1, length, bytes });
        Added::Counted
    }

    /// Keeps each sample with the probability `ratio`.
    pub fn thin(&mut self, ratio: Ratio, random: &mut Random) {
        let (mut kept, mut from, mut to) = (0, 0, 0);
        for at in 0..self.entries.len() {
            let mut entry = self.entries[at];
            let bytes = usize::from(entry.bytes);
            entry.count =
                u32::try_from(random.binomial(u64::from(entry.count), ratio)).expect("fewer than before");
            if entry.count > 0 {
                self.arena.copy_within(from..from + bytes, to);
                to += bytes;
                self.entries[kept] = entry;
                kept += 1;
            }
            from += bytes;
        }
        self.entries.truncate(kept);
        self.arena.truncate(to);
        self.index.fill(FREE);
        for at in 0..kept {
            let Entry { id, length, .. } = self.entries[at];
            if let Err(place) = self.find(id, length) {
                self.index[place] = u32::try_from(at).expect("fewer than 2^32 entries");
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.arena.clear();
        self.index.fill(FREE);
    }

    fn increment(&mut self, entry: usize) -> Added {
        let Some(count) = self.entries[entry].count.checked_add(1) else { return Added::Full };
        self.entries[entry].count = count;
        Added::Counted
    }

    /// The entry with an identity, or the free place where the index should name it. A third of the index is free, so
    /// that the search ends.
    fn find(&self, id: u64, length: u16) -> Result<usize, usize> {
        let places = self.index.len();
        let hash = mix(id ^ u64::from(length) << 48);
        let mut place = ((u128::from(hash) * places as u128) >> 64) as usize;
        loop {
            let entry = self.index[place];
            if entry == FREE {
                return Err(place);
            }
            let found = &self.entries[entry as usize];
            if found.id == id && found.length == length {
                return Ok(entry as usize);
            }
            place = if place + 1 == places { 0 } else { place + 1 };
        }
    }
}
