//! Identities with counts in a fixed amount of memory.
//!
//! Gibbons and Matias (SIGMOD 1998): each distinct identity costs one entry however often it was sampled. When it no longer
//! fits, the caller thins the list. As a *concise sample*, which sections 2.1 and 2.3 of the paper use, it replaces every
//! count c by Binomial(c, ratio) and drops what became zero, and samples more seldom from then on. As a *counting sample*
//! it lets less in from then on, and drops what would probably not have come in; what stays keeps its count, and stands
//! for those that were dropped.
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    id: [u32; 2],
    pub count: u32,
    /// How many samples are not counted, in the mean: those before it came in, and those of entries that were dropped.
    pub missed: f32,
    pub length: u16,
    /// How many bytes of the arena describe it; 0 if it has no description.
    pub bytes: u16,
}

impl Entry {
    /// The identity of the subpath.
    pub fn id(&self) -> u64 {
        u64::from(self.id[1]) << 32 | u64::from(self.id[0])
    }
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
    /// `missed` samples of it were not let in.
    pub fn add(
        &mut self,
        id: u64,
        length: u16,
        missed: f32,
        encode: impl Fn(&mut Vec<u8>, usize) -> bool,
    ) -> Added {
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
        self.entries.push(Entry { id: [id as u32, (id >> 32) as u32], count: 1, missed, length, bytes });
        Added::Counted
    }

    /// Counts a subpath if it is in the list.
    pub fn count_known(&mut self, id: u64, length: u16) -> bool {
        let Ok(entry) = self.find(id, length) else { return false };
        let count = &mut self.entries[entry].count;
        *count = count.saturating_add(1);
        true
    }

    /// Keeps each sample with the probability `ratio`.
    pub fn thin(&mut self, ratio: Ratio, random: &mut Random) {
        self.keep(|entry| {
            let count = random.binomial(u64::from(entry.count), ratio);
            entry.count = u32::try_from(count).expect("fewer than before");
            count > 0
        });
    }

    /// Of what was let in with one chance in `before`, drops what has none in `now`.
    pub fn raise(&mut self, before: u64, now: u64, random: &mut Random) {
        self.keep(|entry| {
            let missed = stays(u64::from(entry.count), f64::from(entry.missed), before, now, random);
            entry.missed = missed.unwrap_or_default() as f32;
            missed.is_some()
        });
    }

    /// Changes all entries, and drops those that are not wanted any more.
    fn keep(&mut self, mut wants: impl FnMut(&mut Entry) -> bool) {
        let (mut kept, mut from, mut to) = (0, 0, 0);
        for at in 0..self.entries.len() {
            let mut entry = self.entries[at];
            let bytes = usize::from(entry.bytes);
            if wants(&mut entry) {
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
            let entry = &self.entries[at];
            if let Err(place) = self.find(entry.id(), entry.length) {
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
            if found.id() == id && found.length == length {
                return Ok(entry as usize);
            }
            place = if place + 1 == places { 0 } else { place + 1 };
        }
    }
}

/// Whether an entry of a counting sample stays when the threshold rises, and how many of its samples are missing then.
///
/// It was let in with one chance in `before`; with one in `now` it would have been let in by the same sample, or a later one,
/// or not (Gibbons and Matias 1998, section 3.2). There its count would become that from then on. Here it keeps its count,
/// and is worth more by what could as well have been dropped (Horvitz and Thompson 1952): for what was seen often, that is next to nothing.
pub(super) fn stays(count: u64, missed: f64, before: u64, now: u64, random: &mut Random) -> Option<f64> {
    let chance = 1.0 / now as f64;
    let dropped = (1.0 - before as f64 * chance) * (1.0 - chance).powf(count as f64 - 1.0);
    let count = count as f64;
    (random.unit() > dropped).then(|| (count + missed) / (1.0 - dropped) - count)
}
