//! The profiler of one thread: skips, samples a subpath, counts it.
//!
//! Oren, Matias, Sagiv 2002, Figure 3. While it skips, a block costs a decrement; the block that exhausts the skip is
//! not part of the sample (vector OSP-1: skip 2, length 4 on 1, 2a, 3, 4, 5, 6 samples 3, 4, 5, 6). While it samples, a
//! block costs an append. Samples never overlap: one for each skip + length blocks.
//!
//! Four ways to skip, one state:
//! 1. *A call for each block*: [`enter_block`](Profiler::enter_block), the paper's prototype.
//! 2. *A decrement in compiled code*: the code takes the [`plan`](Profiler::plan), counts the skip down itself, collects
//!    `length` blocks, and hands them to [`finish`](Profiler::finish), which answers with the next plan. It may count down
//!    in lumps (once for an extended block): then the skip ends at the end of a lump, and `skipped` says how much passed.
//! 3. *Two versions of the code*: the same calls; only the version that counts and the one that samples call them.
//! 4. *Samples started by a yieldpoint*: [`wanted`](Profiler::wanted) says at a tick whether and how long to sample,
//!    [`passed`](Profiler::passed) reports an estimate of the blocks executed meanwhile, `finish` the subpath.
//!
//! When the hot list is full, a concise sample is thinned, and the rate f grows by a quarter, until a tenth is free; the
//! newcomer takes part in it. A counting sample leaves the rate as it is, and raises the threshold of entering the list. Deviation: the paper thins by f/f2. A sample starts once for f + E blocks, where E is the
//! mean length, so we thin by (f + E)/(f2 + E); otherwise what was sampled at a low f would weigh too little.
//!
//! Invariant of a concise sample: each place of the execution so far was the start of a sample that is still counted with the same
//! probability 1/(f + E) (under ageing: times what its age left of it). Nothing allocates after [`new`](Profiler::new),
//! except [`sample`](Profiler::sample), which copies.

use super::config::{Ageing, Config, Invalid, Keeping, MAX_MEMORY, Starts};
use super::describe::{Coder, Deltas, Writer};
use super::encoding::Encoder;
use super::hot_list::{Added, HotList};
use super::random::{Geometric, Random, Ratio};
use super::sample::{LAST_RATE, Row, Sample, Stratum, quarter_more, ratio_of};
use crate::BlockId;

/// The least number of entries that a hot list is worth having.
const MIN_ENTRIES: usize = 16;

/// When and how much to sample next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How many blocks (or how much weight) to pass over; the sample starts with the block after the last of them. At
    /// least 1.
    pub skip: u64,
    /// How many blocks to sample then.
    pub length: u32,
}

/// What a profiler did, for reports about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Subpaths that were completed.
    pub taken: u64,
    /// Subpaths that were begun but not completed: an exception, the end of the thread.
    pub abandoned: u64,
    /// How often the hot list was thinned because it was full.
    pub thinnings: u64,
}

/// An epoch that is over, of a sliding window.
#[derive(Debug, Clone)]
struct Past {
    list: HotList,
    rate: u64,
    threshold: u64,
    /// As [`Profiler::taken`].
    taken: Box<[u64]>,
    blocks: f64,
}

/// The online subpath profiler of one thread.
#[derive(Debug, Clone)]
pub struct Profiler<C: Coder = Deltas> {
    /// What is left of the skip.
    skip: u64,
    /// How many blocks the running sample still lacks; 0 while skipping.
    missing: u32,
    plan: Plan,
    buffer: Vec<BlockId>,
    /// Blocks before the running plan began; with weighted starts, all weight so far.
    settled: u64,
    rate: u64,
    /// Skips at this rate, or at the one before.
    skips: Geometric,
    /// Of so many samples of what is not in the list, one enters: 1 but for a full counting sample.
    threshold: u64,
    /// Samples of each length, of a counting sample; otherwise nothing.
    taken: Box<[u64]>,
    random: Random,
    encoder: Encoder,
    now: HotList,
    past: Option<Past>,
    /// When the running epoch began, in blocks.
    epoch_start: u64,
    /// What is left of the blocks before the running epoch.
    aged: f64,
    work: Work,
    config: Config,
    coder: C,
}

impl Profiler {
    /// A profiler that describes subpaths without knowledge of the control flow.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or the memory does not suffice; the message names the valid range.
    pub fn new(config: Config) -> Result<Self, Invalid> {
        Self::with_coder(config, Deltas)
    }
}

impl<C: Coder> Profiler<C> {
    /// A profiler with descriptions of another kind.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range, or the memory does not suffice; the message names the valid range.
    pub fn with_coder(config: Config, coder: C) -> Result<Self, Invalid> {
        config.validate()?;
        let lists = if matches!(config.ageing, Ageing::Window { .. }) { 2 } else { 1 };
        let buffer: Vec<BlockId> = Vec::with_capacity(config.lengths.longest() as usize);
        let taken = match config.keeping {
            Keeping::Concise => 0,
            Keeping::Counting => config.lengths.count(),
        };
        let fixed = size_of::<Self>()
            + buffer.capacity() * size_of::<BlockId>()
            + config.lengths.bytes()
            + lists * taken * size_of::<u64>();
        let description = coder.expected_bytes(config.lengths.mean());
        let list = |memory: usize| HotList::within(memory.saturating_sub(fixed) / lists, description);
        let now = list(config.memory);
        if now.entry_limit() < MIN_ENTRIES {
            let enough = (fixed..=MAX_MEMORY)
                .step_by(64)
                .find(|&memory| list_entries(memory, fixed, lists, description));
            let valid = format!("{}..={MAX_MEMORY} bytes for these lengths", enough.unwrap_or(MAX_MEMORY));
            return Err(Invalid::new("memory", config.memory.to_string(), valid));
        }
        let taken = vec![0; taken].into_boxed_slice();
        let past = (lists == 2).then(|| Past {
            list: list(config.memory),
            rate: config.rate,
            threshold: 1,
            taken: taken.clone(),
            blocks: 0.0,
        });
        let mut profiler = Self {
            skip: 1,
            missing: 0,
            plan: Plan { skip: 1, length: 1 },
            buffer,
            settled: 0,
            rate: config.rate,
            skips: Geometric::new(config.rate),
            threshold: 1,
            taken,
            random: Random::new(config.seed),
            encoder: Encoder::new(config.encoding, config.encoding_seed),
            now,
            past,
            epoch_start: 0,
            aged: 0.0,
            work: Work::default(),
            config,
            coder,
        };
        profiler.make_plan();
        Ok(profiler)
    }

    /// A block is entered, and every place is as likely to be sampled as another ([`Starts::Skips`]). O(1), and without
    /// allocation; a decrement while skipping, an append while sampling.
    #[inline]
    pub fn enter_block(&mut self, block: BlockId) {
        if self.missing > 0 {
            self.append(block);
        } else {
            self.skip -= 1;
            if self.skip == 0 {
                self.missing = self.plan.length;
            }
        }
    }

    /// A block is entered that is sampled in proportion to its weight ([`Starts::Weights`]). A block that exhausts the
    /// skip is the first of the sample. O(1), and without allocation.
    #[inline]
    pub fn enter_weighted(&mut self, block: BlockId, weight: u32) {
        let weight = u64::from(weight);
        self.settled += weight;
        if self.missing == 0 {
            if weight < self.skip {
                self.skip -= weight;
                return;
            }
            self.missing = self.plan.length;
        }
        self.append(block);
    }

    /// What to do next: for code that counts down by itself.
    #[must_use]
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Tells how much of the plan's skip is left, so that a report in the middle of it knows how many blocks passed.
    pub fn remaining(&mut self, skip: u64) {
        self.skip = skip.clamp(1, self.plan.skip);
    }

    /// A plan was carried out: `skipped` blocks (or weight) passed since the last one, then this subpath. A subpath that
    /// does not have the planned length was cut off, and is not counted. Returns the next plan. O(length), and without
    /// allocation.
    pub fn finish(&mut self, skipped: u64, subpath: &[BlockId]) -> Plan {
        self.settled += skipped + subpath.len() as u64;
        if subpath.len() == self.plan.length as usize {
            self.count(subpath);
        } else {
            self.work.abandoned += 1;
        }
        self.make_plan();
        self.plan
    }

    /// Asks, at a tick, for how many blocks to sample ([`Starts::Timer`]); `None` if this tick shall pass, which happens
    /// when the hot list was thinned and samples are taken more seldom.
    pub fn wanted(&mut self) -> Option<u32> {
        let ratio = ratio_of(self.dead_time(), self.config.rate, self.rate);
        self.random.happens(ratio).then_some(self.plan.length)
    }

    /// So many blocks were executed, by estimate, since this was last said, outside of samples ([`Starts::Timer`]).
    pub fn passed(&mut self, blocks: u64) {
        self.settled += blocks;
    }

    /// Control left the running sample in a way that ends it: an exception, the end of the thread.
    pub fn abandon(&mut self) {
        if self.missing > 0 {
            self.work.abandoned += 1;
            self.settled = self.total();
            self.buffer.clear();
            self.missing = 0;
            self.make_plan();
        }
    }

    /// How many blocks (or how much weight) there were so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        match self.config.starts {
            Starts::Skips if self.missing > 0 => self.settled + self.plan.skip + self.buffer.len() as u64,
            Starts::Skips => self.settled + self.plan.skip - self.skip,
            Starts::Weights | Starts::Timer => self.settled,
        }
    }

    /// The paper's f: the mean skip now.
    #[must_use]
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// What was done so far.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// How many distinct subpaths the list holds, and how many it can hold.
    #[must_use]
    pub fn occupancy(&self) -> (usize, usize) {
        (self.now.distinct(), self.now.entry_limit())
    }

    /// All memory in bytes: never more than the cap, and always the same.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let taken = |taken: &[u64]| std::mem::size_of_val(taken);
        let past = self.past.as_ref().map_or(0, |past| past.list.bytes() + taken(&past.taken));
        let lists = self.now.bytes() + taken(&self.taken) + past;
        size_of::<Self>()
            + self.buffer.capacity() * size_of::<BlockId>()
            + self.config.lengths.bytes()
            + lists
    }

    /// The sample as it is now, from which reports are made. The run is not disturbed: not even its chance.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let blocks = self.aged + as_float(self.total() - self.epoch_start);
        let now = self.snapshot(&self.now, self.rate, self.threshold, &self.taken, blocks);
        let Some(past) = &self.past else { return now };
        let mut both = self.snapshot(&past.list, past.rate, past.threshold, &past.taken, past.blocks);
        both.merge(now, &mut self.random.clone()).expect("of the same profiler");
        both
    }

    fn append(&mut self, block: BlockId) {
        self.buffer.push(block);
        self.missing -= 1;
        if self.missing == 0 {
            let subpath = std::mem::take(&mut self.buffer);
            if self.config.starts == Starts::Skips {
                self.settled += self.plan.skip + subpath.len() as u64;
            }
            self.count(&subpath);
            self.buffer = subpath;
            self.buffer.clear();
            self.make_plan();
        }
    }

    fn make_plan(&mut self) {
        let length = self.config.lengths.draw(&mut self.random);
        if self.skips.mean() != self.rate {
            self.skips = Geometric::new(self.rate);
        }
        self.plan = Plan { skip: self.skips.draw(&mut self.random), length };
        self.skip = self.plan.skip;
    }

    /// Puts a subpath into the hot list; the blocks up to its end are settled.
    fn count(&mut self, subpath: &[BlockId]) {
        self.work.taken += 1;
        self.skip = self.plan.skip;
        let id = self.encoder.encode(subpath);
        let length = u16::try_from(subpath.len()).expect("lengths are at most 2^13");
        if !self.is_known(id, length) {
            self.let_in(id, length, subpath);
        }
        self.age();
    }

    /// Counts a sample of a counting sample, and the subpath if it is in the list. In a concise sample, no subpath is known.
    fn is_known(&mut self, id: u64, length: u16) -> bool {
        if self.config.keeping == Keeping::Concise {
            return false;
        }
        if let Some(at) = self.config.lengths.position(u32::from(length)) {
            self.taken[at] += 1;
        }
        self.now.count_known(id, length)
    }

    /// Puts a subpath into the list, as far as chance has it. While there is no room, the list is thinned, and the newcomer takes
    /// part in it.
    fn let_in(&mut self, id: u64, length: u16, subpath: &[BlockId]) {
        let mut newcomer = self.random.happens(chance(1, self.threshold));
        let mut full = newcomer && self.add(id, length, subpath) == Added::Full;
        while full && let Some(ratio) = self.thin() {
            newcomer = newcomer && self.random.happens(ratio);
            full = !self.now.has_room() || (newcomer && self.add(id, length, subpath) == Added::Full);
        }
    }

    /// Adds a subpath that was let in, of which others were not.
    fn add(&mut self, id: u64, length: u16, subpath: &[BlockId]) -> Added {
        let coder = &self.coder;
        let encode = |bytes: &mut Vec<u8>, limit| coder.encode(subpath, &mut Writer::new(bytes, limit));
        self.now.add(id, length, (self.threshold - 1) as f32, encode)
    }

    /// Makes room: the chance that what was to be added still is. Nothing if there can be no more of this.
    fn thin(&mut self) -> Option<Ratio> {
        let limited = |next: u64| (next <= LAST_RATE).then_some(next);
        let ratio = match self.config.keeping {
            Keeping::Concise => {
                let rate = limited(quarter_more(self.rate))?;
                let ratio = ratio_of(self.dead_time(), self.rate, rate);
                self.rate = rate;
                self.now.thin(ratio, &mut self.random);
                ratio
            }
            Keeping::Counting => {
                let (before, now) = (self.threshold, limited(quarter_more(self.threshold))?);
                self.threshold = now;
                self.now.raise(before, now, &mut self.random);
                chance(before, now)
            }
        };
        self.work.thinnings += 1;
        Some(ratio)
    }

    /// The mean length times 2^16 where the skip does not run during a sample.
    fn dead_time(&self) -> u32 {
        if self.config.starts == Starts::Weights { 0 } else { self.config.lengths.mean_scaled() }
    }

    /// Ends the epochs that have passed.
    fn age(&mut self) {
        let passed = self.total() - self.epoch_start;
        match self.config.ageing {
            Ageing::Decay { epoch, keep } if passed >= epoch => {
                self.aged += as_float(passed);
                for _ in 0..(passed / epoch).min(64) {
                    self.now.thin(keep, &mut self.random);
                    self.aged *= keep.value();
                }
            }
            Ageing::Window { epoch } if passed >= epoch => {
                let Some(past) = &mut self.past else { return };
                std::mem::swap(&mut self.now, &mut past.list);
                std::mem::swap(&mut self.taken, &mut past.taken);
                (past.rate, past.threshold, past.blocks) = (self.rate, self.threshold, as_float(passed));
                self.now.clear();
                self.taken.fill(0);
                if past.list.distinct() * 2 < past.list.entry_limit() {
                    self.rate = (self.rate / 2).max(self.config.rate);
                    self.threshold = (self.threshold / 2).max(1);
                }
            }
            _ => return,
        }
        self.epoch_start += passed;
    }

    fn snapshot(&self, list: &HotList, rate: u64, threshold: u64, taken: &[u64], blocks: f64) -> Sample {
        let priors = self.config.lengths.priors().into_iter();
        let strata = priors.enumerate().map(|(at, (length, prior))| {
            let lost = if self.config.starts == Starts::Weights { 0.0 } else { f64::from(length - 1) };
            let samples = taken.get(at).copied().unwrap_or(0);
            Stratum { length, prior, samples, windows: (blocks - lost).max(0.0) }
        });
        let rows = list.rows().map(|(entry, bytes)| Row {
            length: u32::from(entry.length),
            id: entry.id(),
            count: u64::from(entry.count),
            missed: f64::from(entry.missed),
            blocks: self.coder.decode(bytes, usize::from(entry.length)),
        });
        Sample::new(&self.config, rate, threshold, self.dead_time(), strata.collect(), rows.collect())
    }
}

/// The chance in `now` of what had one in `before`.
fn chance(before: u64, now: u64) -> Ratio {
    Ratio::new(before, now).expect("thresholds rise, up to 2^46")
}

/// Whether lists within a memory would have enough entries.
fn list_entries(memory: usize, fixed: usize, lists: usize, description: f64) -> bool {
    HotList::entries_within((memory - fixed) / lists, description) >= MIN_ENTRIES
}

fn as_float(blocks: u64) -> f64 {
    blocks as f64
}
