//! Subpaths: the profilers of each green thread, which are told of every block, and what they found, merged.
//!
//! ```text
//!              ┌──► Exhaustive   all subpaths, the truth (`subpaths`)
//!   block ─────┤
//!              └──► Profiler     a sample of them in bounded memory (`osp`)
//! ```
//!
//! Each thread has profilers of its own, from its first block to its end; then they are merged into those of the threads that are
//! over, which is exact. So there are never more than the threads that live, and one.
//!
//! Compiled code tells of blocks, too, unless it is left for bursts: it calls for each, or counts down a word of the
//! context and calls when that is zero (`skip=decrement`; with `skip=versions` only the second version of the code does, in a
//! [`Stretch`]). What it calls notes the blocks of a sample in the context until the last, of which the profiler hears. Where the
//! interpreter enters a block of which compiled code, which runs instead, tells again, it is told once: what the interpreter tells waits
//! for its next move, and is dropped if compiled code is entered. Where compiled code is left, it is known whether it told of the block
//! in which the interpreter goes on.
//!
//! A block is entered where control comes to its first instruction: by a branch, by falling into it, by a call, as the handler of an
//! error. A return goes into the middle of a block. In a burst the blocks are kept until there are as many as the plan wants.

use super::burst::{DELAY, MOST_BACK_EDGES, Phase};
use super::stretch::{LEAVES_AFTER, Stretch};
use super::{Event, Recorder};
use crate::context::{BlockCounter, Context, control};
use crate::profiling::instrument::BlockInstrumentation;
use crate::profiling::spec::{OspOptions, SubpathOptions, SubpathSkip, blocks_told};
use crate::profiling::state::Profiling;
use crate::threads::ThreadNumber;
use holloway_bytecode::Program;
use holloway_bytecode::cfg::Cfg;
use holloway_profilers::BlockId;
use holloway_profilers::osp::{Encoder, Exhaustive, Profiler, Random, Report, Sample, Starts, Work};
use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// So many different subpaths are kept of threads that are over: more are thinned.
const MOST_MERGED: usize = 1 << 16;

/// Where a block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockPlace {
    /// The number of the method.
    pub method: u32,
    /// The word of its bytecode at which the block begins.
    pub position: u32,
    /// A back edge leads there.
    pub header: bool,
}

/// What is known of subpaths.
#[derive(Clone, Debug)]
pub struct CollectedSubpaths {
    /// All of them, counted.
    pub exact: Option<(SubpathOptions, Exhaustive)>,
    /// A sample.
    pub sampled: Option<SampledSubpaths>,
    /// Where blocks are, by number.
    pub places: Vec<BlockPlace>,
}

/// What was sampled.
#[derive(Clone, Debug)]
pub struct SampledSubpaths {
    /// What was asked for.
    pub options: OspOptions,
    /// Samples of all threads.
    pub sample: Sample,
    /// All of it with estimates, the largest first.
    pub report: Report,
    /// What the profilers did.
    pub work: Work,
    /// Bytes of each profiler.
    pub bytes: u64,
    /// How many subpaths its list can hold.
    pub entries: u64,
    /// How many threads had one.
    pub threads: u64,
    /// Blocks that they passed, by estimate if ticks start samples.
    pub blocks: u64,
}

impl SampledSubpaths {
    /// Which subpaths count as the same.
    pub fn encoder(&self) -> Encoder {
        Encoder::new(self.sample.encoding, self.sample.encoding_seed)
    }
}

/// What was asked for, and what follows from it.
struct Wanted {
    exact: Option<SubpathOptions>,
    osp: Option<OspOptions>,
    /// Blocks are counted down.
    counts_down: bool,
    /// Compiled code tells of blocks, or one version of it.
    tells: bool,
    places: Vec<BlockPlace>,
}

/// The profilers of one thread.
#[derive(Clone, Default)]
struct Watch {
    exact: Option<Exhaustive>,
    osp: Option<Profiler>,
    /// Blocks of a burst, or of the sample that is due, where blocks are counted down.
    buffer: Vec<BlockId>,
    /// How many blocks the burst passes over.
    delay: u64,
    /// If blocks are counted in stretches.
    stretch: Option<Stretch>,
    /// While another thread runs: the context's counter.
    counter: BlockCounter,
    /// The block that the interpreter entered last, if it still is to be told.
    waits: Option<BlockId>,
    /// Compiled code was left, and it had told of the block.
    told: bool,
}

impl Watch {
    /// Profilers of a thread that was not seen yet. The options were checked before.
    fn new(wanted: &Wanted, thread: ThreadNumber) -> Watch {
        let osp = wanted.osp.and_then(|options| Profiler::new(options.config(thread).ok()?).ok());
        let stretch = osp.as_ref().filter(|_| wanted.has_versions()).map(Stretch::new);
        let mut counter = BlockCounter::default();
        match &osp {
            Some(_) if stretch.is_some() => counter.left = LEAVES_AFTER,
            Some(osp) if wanted.counts_down => {
                counter.left = osp.plan().skip + 1;
                counter.make_room(osp.plan().length as usize);
            }
            _ => {}
        }
        Watch {
            exact: wanted.exact.and_then(|options| Exhaustive::new(options.exponent).ok()),
            counter,
            stretch,
            osp,
            ..Watch::default()
        }
    }

    /// A block is entered, and each is looked at.
    #[inline]
    fn enter(&mut self, block: BlockId, wanted: &Wanted) {
        if let (Some(exact), Some(options)) = (&mut self.exact, &wanted.exact)
            && options.until.is_none_or(|until| exact.blocks() < until)
        {
            exact.enter_block(block);
        }
        match (&mut self.osp, &wanted.osp) {
            (Some(osp), Some(OspOptions { until: Some(until), .. })) if osp.total() >= *until => {}
            (Some(_), Some(OspOptions { skip: SubpathSkip::Burst, .. })) => match self.delay {
                0 => self.buffer.push(block),
                _ => self.delay -= 1,
            },
            (Some(osp), Some(OspOptions { at_loops: true, .. })) => {
                let header = wanted.places.get(block.index()).is_some_and(|place| place.header);
                osp.enter_weighted(block, header.into());
            }
            (Some(osp), _) => osp.enter_block(block),
            (None, _) => {}
        }
    }

    /// Blocks of the sample that wait in the counter.
    fn take_in(&mut self, counter: &mut BlockCounter) {
        self.buffer.extend(counter.take().map(BlockId));
    }

    /// The skip is over, and a block is entered: it belongs to the sample. Then the counter knows after how many blocks the next one is of interest.
    #[cold]
    fn due(&mut self, block: BlockId, counter: &mut BlockCounter) {
        self.take_in(counter);
        counter.left = u64::MAX;
        let Watch { osp: Some(osp), buffer, stretch, .. } = self else { return };
        let plan = osp.plan();
        match stretch {
            Some(stretch) => {
                counter.left = stretch.due(block, osp, buffer);
                if !stretch.is_sampling() {
                    return;
                }
            }
            None => {
                buffer.push(block);
                counter.left = 1;
                if buffer.len() >= plan.length as usize {
                    counter.left = osp.finish(plan.skip, buffer).skip + 1;
                    buffer.clear();
                }
            }
        }
        counter.make_room(osp.plan().length as usize - buffer.len());
    }

    /// Tells of what waits.
    #[inline]
    fn flush(&mut self, counter: &mut BlockCounter, wanted: &Wanted) {
        let Some(block) = self.waits.take() else { return };
        if !wanted.counts_down {
            return self.enter(block, wanted);
        }
        counter.left -= 1;
        if counter.left == 0 {
            self.due(block, counter);
        }
    }

    /// What is found when nothing comes any more.
    fn ended(mut self, wanted: &Wanted) -> Watch {
        let mut counter = take(&mut self.counter);
        self.flush(&mut counter, wanted);
        self.take_in(&mut counter);
        let left = counter.left;
        let Some(osp) = &mut self.osp else { return self };
        match wanted.counts_down {
            _ if let Some(stretch) = &mut self.stretch => stretch.end(left, osp, &mut self.buffer),
            true if !self.buffer.is_empty() || left <= 1 => {
                osp.finish(osp.plan().skip, &self.buffer);
            }
            true => osp.remaining(left - 1),
            false => osp.abandon(),
        }
        self
    }
}

impl Wanted {
    /// Are there two versions of the code.
    fn has_versions(&self) -> bool {
        self.osp.is_some_and(|osp| osp.skip == SubpathSkip::Versions)
    }
}

/// Threads that are over, merged; or all, when they are asked for.
#[derive(Clone, Default)]
struct Totals {
    exact: Option<Exhaustive>,
    sample: Option<Sample>,
    work: Work,
    bytes: usize,
    entries: usize,
    threads: u64,
    blocks: u64,
}

impl Totals {
    /// Adds what a thread found.
    fn add(&mut self, watch: Watch) {
        match (&mut self.exact, watch.exact) {
            (Some(all), Some(exact)) => all.merge(&exact),
            (all @ None, exact) => *all = exact,
            (_, None) => {}
        }
        let Some(osp) = &watch.osp else { return };
        let (work, sample) = (osp.work(), osp.sample());
        self.work.taken += work.taken;
        self.work.abandoned += work.abandoned;
        self.work.thinnings += work.thinnings;
        self.bytes = self.bytes.max(osp.bytes());
        self.entries = self.entries.max(osp.occupancy().1);
        self.threads += 1;
        self.blocks += osp.total();
        match &mut self.sample {
            None => self.sample = Some(sample),
            Some(all) => {
                let mut random = Random::new(self.threads);
                // They are of the same options.
                let _ = all.merge(sample, &mut random);
                all.limit(MOST_MERGED, &mut random);
            }
        }
    }
}

/// The subpath profilers of a machine's threads.
pub(crate) struct Subpaths {
    wanted: Wanted,
    running: ThreadNumber,
    /// The running thread's; nothing if it is over.
    now: Watch,
    is_over: bool,
    parked: BTreeMap<ThreadNumber, Watch>,
    over: Totals,
    /// How many blocks a burst wants.
    burst: usize,
    /// For what bursts pass over.
    random: Random,
}

impl Subpaths {
    /// Profilers that have seen nothing; `None` if nobody asked for them.
    pub fn new(
        exact: Option<SubpathOptions>,
        osp: Option<OspOptions>,
        program: &Program,
    ) -> Result<Option<Subpaths>, String> {
        if exact.is_none() && osp.is_none() {
            return Ok(None);
        }
        if let Some(osp) = &osp {
            Profiler::new(osp.config(0)?).map_err(|error| error.to_string())?;
        }
        let told = blocks_told(exact, osp);
        let mut wanted = Wanted { exact, osp, counts_down: false, tells: false, places: places(program) };
        wanted.counts_down = told == Some(BlockInstrumentation::Decrement) || wanted.has_versions();
        wanted.tells = told.is_some() || wanted.has_versions();
        Ok(Some(Subpaths {
            now: Watch::new(&wanted, 0),
            wanted,
            running: 0,
            is_over: false,
            parked: BTreeMap::new(),
            over: Totals::default(),
            burst: 0,
            random: Random::new(osp.map_or(0, |osp| osp.seed)),
        }))
    }

    /// The context's counter for the running thread, at the beginning.
    pub fn counter(&self) -> BlockCounter {
        self.now.counter.clone()
    }

    /// The interpreter enters a block: it is told with the next move, if no compiled code tells of it.
    #[inline]
    fn enters(&mut self, block: BlockId) {
        match self.wanted.tells {
            true => self.now.waits = Some(block),
            false => self.now.enter(block, &self.wanted),
        }
    }

    /// Compiled code enters a block of which somebody wants to know.
    pub fn compiled_enters(&mut self, block: BlockId, counter: &mut BlockCounter) {
        self.now.flush(counter, &self.wanted);
        match self.wanted.counts_down {
            true => self.now.due(block, counter),
            false => self.now.enter(block, &self.wanted),
        }
    }

    /// Compiled code is entered, and will tell of the block that the interpreter entered last.
    pub fn compiled_code_tells(&mut self) {
        self.now.waits = None;
    }

    /// Compiled code is left in a block of which it told, or did not.
    pub fn left_in_block(&mut self, told: bool) {
        self.now.told = told;
    }

    /// Nobody knows what the running thread did until now.
    fn interrupted(&mut self) {
        self.now.buffer.clear();
        self.now.exact.iter_mut().for_each(Exhaustive::interrupt);
        self.now.osp.iter_mut().for_each(Profiler::abandon);
    }

    /// Do ticks start samples, or stretches of them.
    pub fn wants_ticks(&self) -> bool {
        self.wanted.osp.is_some_and(|osp| osp.is_by_ticks())
    }

    /// Is each sample a burst.
    fn bursts(&self) -> bool {
        self.wants_ticks() && !self.wanted.has_versions()
    }

    /// Is the running thread's stretch over.
    fn is_stretch_over(&self) -> bool {
        self.now.stretch.as_ref().is_some_and(|stretch| !stretch.is_on())
    }

    /// The running thread is not in a stretch (any more).
    fn end_stretch(&mut self, counter: &mut BlockCounter) {
        self.now.take_in(counter);
        let Watch { stretch: Some(stretch), osp: Some(osp), buffer, .. } = &mut self.now else { return };
        stretch.end(counter.left, osp, buffer);
        (self.now.waits, counter.left) = (None, LEAVES_AFTER);
    }

    /// A tick: a stretch begins.
    fn begin_stretch(&mut self, counter: &mut BlockCounter) {
        let Some(options) = self.wanted.osp else { return };
        self.end_stretch(counter);
        let passes_over = self.random.bits() % DELAY;
        self.now.told = false;
        if let Some(stretch) = &mut self.now.stretch {
            counter.left = stretch.begin(passes_over, options.stretch);
        }
    }

    /// A tick: is a sample due. Not while one is taken.
    fn tick(&mut self, busy: bool) -> bool {
        let (Some(osp), Some(options)) = (&mut self.now.osp, &self.wanted.osp) else { return false };
        // Nobody counts blocks: a tick stands for as many as any other.
        osp.passed(options.rate);
        !busy && self.begins_burst()
    }

    /// Does the running thread's profiler want a sample.
    fn begins_burst(&mut self) -> bool {
        let length = self.now.osp.as_mut().and_then(Profiler::wanted);
        if let Some(length) = length {
            self.now.buffer.clear();
            self.now.delay = self.random.bits() % DELAY;
            self.burst = length as usize;
        }
        length.is_some()
    }

    /// Is the buffer of a burst full.
    fn is_full(&self) -> bool {
        self.now.buffer.len() >= self.burst
    }

    /// A burst is over: the buffer is what was sampled.
    fn sample(&mut self) {
        let Watch { osp, buffer, .. } = &mut self.now;
        buffer.truncate(self.burst);
        if let Some(osp) = osp {
            osp.finish(0, buffer);
        }
        buffer.clear();
    }

    /// This thread runs from here on; the context's counter is exchanged.
    pub fn switch_to(&mut self, thread: ThreadNumber, counter: &mut BlockCounter) {
        if thread == self.running && !self.is_over {
            return;
        }
        let next = self.parked.remove(&thread).unwrap_or_else(|| Watch::new(&self.wanted, thread));
        let mut parked = std::mem::replace(&mut self.now, next);
        parked.counter = std::mem::replace(counter, take(&mut self.now.counter));
        if self.bursts() {
            // A burst is of one thread; this one's profiler gets another some time.
            parked.buffer.clear();
        }
        if !self.is_over {
            self.parked.insert(self.running, parked);
        }
        (self.running, self.is_over) = (thread, false);
    }

    /// A thread is over.
    pub fn thread_ends(&mut self, thread: ThreadNumber, counter: &BlockCounter) {
        let ended = match thread == self.running && !self.is_over {
            true => {
                self.is_over = true;
                Some(Watch { counter: counter.clone(), ..take(&mut self.now) })
            }
            false => self.parked.remove(&thread),
        };
        ended.into_iter().for_each(|ended| self.over.add(ended.ended(&self.wanted)));
    }

    /// What was found so far.
    pub fn collect(&self, counter: &BlockCounter) -> CollectedSubpaths {
        let mut all = self.over.clone();
        let running = (!self.is_over).then(|| Watch { counter: counter.clone(), ..self.now.clone() });
        let watches = self.parked.values().cloned().chain(running);
        watches.for_each(|watch| all.add(watch.ended(&self.wanted)));
        let Wanted { exact, osp, places, .. } = &self.wanted;
        let sampled = osp.zip(all.sample).map(|(options, sample)| SampledSubpaths {
            report: self.report(&sample, options),
            options,
            sample,
            work: all.work,
            bytes: all.bytes as u64,
            entries: all.entries as u64,
            threads: all.threads,
            blocks: all.blocks,
        });
        CollectedSubpaths { exact: exact.zip(all.exact), sampled, places: places.clone() }
    }

    /// All of a sample with estimates.
    fn report(&self, sample: &Sample, options: OspOptions) -> Report {
        let places = &self.wanted.places;
        let header = |block: BlockId| u32::from(places.get(block.index()).is_some_and(|place| place.header));
        let report = match sample.starts {
            Starts::Weights => sample.report_weighted(usize::MAX, header),
            _ => sample.report(usize::MAX, options.estimator),
        };
        // The options were checked when they were read.
        report.unwrap_or_else(|_| Report {
            estimator: options.estimator,
            samples: 0,
            distinct: 0,
            rate: sample.rate,
            paths: Vec::new(),
        })
    }
}

/// Where all blocks of a program are: numbered as in [`BlockTable`].
fn places(program: &Program) -> Vec<BlockPlace> {
    let mut places = Vec::new();
    for (method, function) in (0..).zip(&program.functions) {
        let cfg = Cfg::of_function(function);
        let first = places.len();
        for block in cfg.blocks() {
            places.push(BlockPlace { method, position: cfg.block(block).start, header: false });
        }
        for block in cfg.blocks() {
            for edge in cfg.out_edges(block) {
                let target = cfg.block(cfg.target(edge)).start;
                // What goes backwards is a back edge: the verifier sees to that.
                if target <= cfg.block(block).start
                    && let Some(place) = places[first..].iter_mut().find(|place| place.position == target)
                {
                    place.header = true;
                }
            }
        }
    }
    places
}

impl Recorder {
    /// Control moved: tells of the block that is entered.
    #[inline]
    pub(super) fn enters(&mut self, event: Event, counter: &mut BlockCounter) {
        let Recorder { blocks, subpaths: Some(subpaths), burst, .. } = self else { return };
        subpaths.now.flush(counter, &subpaths.wanted);
        let to = match event {
            Event::Start { at } => {
                let told = take(&mut subpaths.now.told);
                if !subpaths.wanted.tells {
                    subpaths.interrupted();
                }
                if told || !blocks.begins(at) {
                    return;
                }
                at
            }
            Event::Fall { to } | Event::Jump { to, .. } | Event::Call { to, .. } => to,
            Event::Caught { to, .. } => to,
            // Into the middle of a block.
            Event::Return { .. } => return,
        };
        if let Some(block) = blocks.block(to) {
            subpaths.enters(block);
        }
        let Some(burst) = burst.as_mut().filter(|burst| burst.phase == Phase::Recording) else { return };
        if subpaths.bursts() && subpaths.is_full() {
            subpaths.sample();
            burst.phase = Phase::BackEdges(MOST_BACK_EDGES);
        } else if subpaths.is_stretch_over() {
            // Nobody tells of it before compiled code does, which may go on for a moment.
            subpaths.now.waits = None;
            burst.phase = Phase::BackEdges(MOST_BACK_EDGES);
        }
    }

    /// The interpreted part of the stack returned to compiled code, which may tell of blocks: what waits is told first.
    pub(super) fn tell_before_return(&mut self, counter: &mut BlockCounter) {
        if let Some(subpaths) = &mut self.subpaths {
            subpaths.now.flush(counter, &subpaths.wanted);
        }
    }

    /// A tick: perhaps a sample of a subpath is due, or a stretch of them.
    pub(super) fn tick_of_subpaths(&mut self, counter: &mut BlockCounter) {
        let busy = self.stays_interpreted();
        let Recorder { subpaths: Some(subpaths), burst: Some(burst), thread, .. } = self else { return };
        if subpaths.wanted.has_versions() {
            if burst.begin(*thread) {
                subpaths.begin_stretch(counter);
            }
        } else if subpaths.tick(busy) {
            burst.begin(*thread);
        }
    }

    /// Another thread runs: in its stretch, if it still has one. A burst may begin with that.
    pub(super) fn enters_thread(&mut self, begins: bool, counter: &mut BlockCounter) {
        let goes_on = self.enters_marked() && !begins;
        let Recorder { subpaths: Some(subpaths), burst: Some(burst), .. } = self else { return };
        if subpaths.wanted.has_versions() {
            if begins {
                subpaths.begin_stretch(counter);
            } else if !goes_on {
                subpaths.end_stretch(counter);
            }
        } else if begins && !subpaths.begins_burst() {
            burst.phase = Phase::Idle;
        }
    }

    /// Compiled code enters a block of which somebody wants to know. True if this is code that is to be left soon.
    fn compiled_enters(&mut self, block: BlockId, counter: &mut BlockCounter) -> bool {
        let Recorder { subpaths: Some(subpaths), burst, thread, .. } = self else { return false };
        subpaths.compiled_enters(block, counter);
        let (is_over, Some(burst)) = (subpaths.is_stretch_over(), burst) else { return false };
        burst.is_fresh = false;
        if is_over {
            burst.goes_back(*thread);
        }
        is_over
    }
}

impl Profiling {
    fn subpaths(&mut self) -> Option<&mut Subpaths> {
        self.recorder.as_mut()?.subpaths.as_mut()
    }

    /// Compiled code enters a block of which somebody wants to know.
    pub fn compiled_enters(&mut self, block: BlockId, context: &mut Context) {
        let Some(recorder) = &mut self.recorder else { return };
        if recorder.compiled_enters(block, &mut context.blocks) {
            // It looks whether it is to be left at its next yieldpoint.
            context.control.store(control::ALL, Ordering::SeqCst);
            context.recording = recorder.is_on();
        }
    }

    /// Compiled code ran, or will: a tick may come before the interpreter says that it begins anew.
    pub fn forget_branches(&mut self) {
        let recorder = self.recorder.as_mut();
        if let Some(branches) = recorder.and_then(|recorder| recorder.branches.as_mut()) {
            branches.interrupted();
        }
    }

    /// The interpreter enters compiled code: a block that it entered is told there, and which branches are taken nobody knows.
    pub fn compiled_code_tells(&mut self) {
        self.forget_branches();
        self.subpaths().into_iter().for_each(Subpaths::compiled_code_tells);
    }

    /// Compiled code is left for the interpreter in a block of which it told, or did not.
    pub fn leaves_in_block(&mut self, told: bool) {
        self.subpaths().into_iter().for_each(|subpaths| subpaths.left_in_block(told));
    }

    /// The number of the first block of each method, as compiled code is to tell of them.
    pub fn first_blocks(&self) -> Option<Arc<[u32]>> {
        Some(self.recorder.as_ref()?.blocks.first().into())
    }
}
