//! The recorder: what the interpreter tells of its way through the program, while it is asked to.
//!
//! The recording copy of the interpreter ([`crate::interpreter`]) says each move of control that is not simply on to the next
//! instruction of the same block: an [`Event`]. Who listens:
//!
//! ```text
//!              taken branches                     ring of the last K, one for each green thread
//!   Event ──┬──────────────────► BranchTraces ──► copied when a sample is due ──► table of traces
//!           ├─ all moves ──────► ExactPaths       full paths of regions, the truth for the above (`exact=yes`)
//!           └─ blocks ─────────► Subpaths         sequences of blocks, all of them and sampled (`subpaths`, `osp`)
//! ```
//!
//! The recorder is on all the time (`backend=recorder`), or in bursts: see [`burst`].
//!
//! Records belong to green threads: when another one runs, it goes on with its own ring. Where control was in compiled code
//! nobody knows which branches it took: the ring begins anew ([`Event::Start`]).

mod analyst;
mod blocks;
mod branches;
mod burst;
mod exact;
mod hot;
mod looks;
mod stretch;
mod subpaths;

pub use analyst::{TraceMoment, TraceReader};
pub use blocks::region_graphs;
pub(crate) use blocks::{arm_of, edge_counts};
pub use branches::CollectedTraces;
pub(crate) use looks::LOOK;
pub use subpaths::{BlockPlace, CollectedSubpaths, SampledSubpaths};

use super::spec::ProfileOptions;
use crate::compiled::GivenCalls;
use crate::context::BlockCounter;
use crate::loader::LoadedCode;
use crate::threads::ThreadNumber;
use blocks::BlockTable;
use branches::BranchTraces;
use burst::{Burst, Phase};
use holloway_bytecode::Program;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::btb::{BranchKind, Place};
use holloway_profilers::edges::EdgeProfile;
use looks::Looks;
use std::sync::Arc;
use subpaths::Subpaths;

/// A move of control. Places are words of the loaded code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// Control is here; how it came nobody saw.
    Start { at: usize },
    /// A branch was taken, a jump, or a case of a switch.
    Jump { from: usize, to: usize },
    /// Control fell into the next block.
    Fall { to: usize },
    /// A method was called.
    Call { from: usize, to: usize },
    /// A method returned: to the last word of the call.
    Return { from: usize, to: usize },
    /// An error was caught, so many frames further out.
    Caught { from: usize, to: usize, frames: u64 },
}

/// A move as tests want it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moved {
    /// Which thread.
    pub thread: ThreadNumber,
    /// By a branch; nothing if control fell into the next block, or its coming was not seen.
    pub kind: Option<BranchKind>,
    /// Was its coming not seen.
    pub starts: bool,
    /// Where the branch was.
    pub from: Place,
    /// Where control is.
    pub to: Place,
    /// A block begins there.
    pub begins: bool,
    /// How many frames further out.
    pub frames: u64,
}

/// Control moved inside a slow path in a way that the recording interpreter does not see by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Surprise {
    /// It did not.
    #[default]
    None,
    /// An error was caught.
    Caught,
    /// Compiled code ran.
    Interrupted,
}

/// The recorder of a machine.
pub(crate) struct Recorder {
    blocks: BlockTable,
    pub(super) branches: Option<BranchTraces>,
    subpaths: Option<Subpaths>,
    surprise: Surprise,
    thread: ThreadNumber,
    /// If it is on now and then only.
    burst: Option<Burst>,
    /// When PEP's version of the code runs, if it takes turns.
    looks: Option<Looks>,
    moves: Option<Vec<Moved>>,
}

impl Recorder {
    /// The recorder that the options need; `None` if they need none. The calls are those of an earlier run, for regions to span
    /// the hot ones.
    pub fn new(
        options: &ProfileOptions,
        program: &Arc<VerifiedProgram>,
        code: &LoadedCode,
        calls: Option<&GivenCalls>,
    ) -> Result<Option<Recorder>, String> {
        let spans = hot::spans(options.btb, program, calls)?;
        let btb = options.btb.filter(|btb| !btb.backend.is_native());
        let branches = btb.map(|btb| BranchTraces::new(btb, program, spans)).transpose()?;
        let subpaths = Subpaths::new(options.subpaths, options.osp, program)?;
        let is_of_all = options.pep_takes_turns();
        if branches.is_none() && subpaths.is_none() && !is_of_all {
            return Ok(None);
        }
        let in_bursts = burst::is_wanted(options)?;
        Ok(Some(Recorder {
            blocks: BlockTable::new(program, code),
            branches,
            subpaths,
            surprise: Surprise::None,
            thread: 0,
            burst: in_bursts.then(|| Burst {
                has_versions: options.marked_instrumentation().is_some(),
                is_of_all,
                ..Burst::default()
            }),
            looks: is_of_all.then(Looks::new),
            moves: options.traced.then(Vec::new),
        }))
    }

    /// Does a block begin at a word.
    #[inline]
    pub fn begins(&self, word: usize) -> bool {
        self.blocks.begins(word)
    }

    /// Control moved. `counter` is the context's, here as below.
    #[inline]
    pub fn event(&mut self, event: Event, counter: &mut BlockCounter) {
        if self.moves.is_some() {
            self.note(event);
        }
        if let Some(burst) = &mut self.burst {
            burst.is_fresh = false;
        }
        self.enters(event, counter);
        let Recorder { blocks, branches: Some(branches), .. } = self else { return };
        match event {
            Event::Fall { .. } => {}
            Event::Start { .. } => branches.interrupted(),
            Event::Jump { from, to } => {
                branches.taken(BranchKind::Jump, blocks.place(from), blocks.place(to))
            }
            Event::Call { from, to } => {
                branches.taken(BranchKind::Call, blocks.place(from), blocks.place(to))
            }
            Event::Return { from, to } => {
                branches.taken(BranchKind::Return, blocks.place(from), blocks.place(to));
            }
            Event::Caught { from, to, .. } => {
                branches.taken(BranchKind::Transfer, blocks.place(from), blocks.place(to));
            }
        }
        branches.follow(event, blocks);
        if let Some(burst) = &mut self.burst
            && burst.phase == Phase::Recording
            && branches.is_burst_over()
        {
            branches.sample(None);
            burst.phase = Phase::BackEdges(burst::MOST_BACK_EDGES);
        }
    }

    #[cold]
    fn note(&mut self, event: Event) {
        let at = |word| self.blocks.place(word);
        let (kind, from, to, frames) = match event {
            Event::Start { at: to } | Event::Fall { to } => (None, Place::Missing, to, 0),
            Event::Jump { from, to } => (Some(BranchKind::Jump), at(from), to, 0),
            Event::Call { from, to } => (Some(BranchKind::Call), at(from), to, 0),
            Event::Return { from, to } => (Some(BranchKind::Return), at(from), to, 0),
            Event::Caught { from, to, frames } => (Some(BranchKind::Transfer), at(from), to, frames),
        };
        let moved = Moved {
            thread: self.thread,
            kind,
            starts: matches!(event, Event::Start { .. }),
            from,
            to: at(to),
            begins: self.begins(to),
            frames,
        };
        self.moves.iter_mut().for_each(|moves| moves.push(moved));
    }

    /// Something happened inside a slow path that the recording interpreter must hear of.
    pub fn surprise(&mut self, surprise: Surprise) {
        self.surprise = surprise;
    }

    /// What happened since this was asked.
    pub fn take_surprise(&mut self) -> Surprise {
        std::mem::take(&mut self.surprise)
    }

    /// This thread runs from here on.
    pub fn switch_to(&mut self, thread: ThreadNumber, counter: &mut BlockCounter) {
        self.thread = thread;
        let begins = self.burst.as_mut().is_some_and(|burst| burst.switch_to(thread));
        self.branches.iter_mut().for_each(|branches| branches.switch_to(thread));
        self.subpaths.iter_mut().for_each(|subpaths| subpaths.switch_to(thread, counter));
        self.enters_thread(begins, counter);
    }

    /// A thread is over.
    pub fn thread_ends(&mut self, thread: ThreadNumber, counter: &BlockCounter) {
        self.burst.iter_mut().for_each(|burst| burst.thread_ends(thread));
        self.branches.iter_mut().for_each(|branches| branches.thread_ends(thread));
        self.subpaths.iter_mut().for_each(|subpaths| subpaths.thread_ends(thread, counter));
    }

    /// Are ticks needed.
    pub fn wants_ticks(&self) -> bool {
        self.branches.as_ref().is_some_and(BranchTraces::wants_ticks)
            || self.subpaths.as_ref().is_some_and(Subpaths::wants_ticks)
            || self.looks.is_some()
    }

    /// Do versions of code take turns, and if so, is it that of PEP's now.
    pub fn looks(&self) -> Option<bool> {
        self.looks.as_ref().map(Looks::is_on)
    }

    /// The program does something else, or may do so.
    pub fn changed(&mut self) {
        self.looks.iter_mut().for_each(Looks::changed);
    }

    fn tick_of_looks(&mut self) {
        let (Some(looks), Some(burst)) = (&mut self.looks, &mut self.burst) else { return };
        looks.tick();
        if looks.is_on() {
            burst.begin(self.thread);
        } else if burst.phase == Phase::Recording {
            burst.goes_back(self.thread);
        }
    }

    /// Nothing is new in what was seen in this look so far.
    pub fn seen_enough(&mut self) {
        let (Some(looks), Some(burst)) = (&mut self.looks, &mut self.burst) else { return };
        looks.seen_enough();
        if !looks.is_on() && burst.phase == Phase::Recording {
            burst.goes_back(self.thread);
        }
    }

    /// A tick, while the running thread stands at a word of interpreted code, or somewhere in compiled code.
    pub fn tick(&mut self, at: Option<usize>, counter: &mut BlockCounter) {
        self.tick_of_looks();
        self.tick_of_subpaths(counter);
        let Recorder { blocks, branches: Some(branches), burst, .. } = self else { return };
        if !branches.tick() {
            return;
        }
        match burst {
            Some(burst) => {
                if burst.begin(self.thread) {
                    branches.begin_burst();
                }
            }
            None => at.into_iter().for_each(|at| branches.sample(Some(blocks.place(at)))),
        }
    }

    /// What branch traces say, if there are any. The edges are the interpreter's, for weights that want an edge profile.
    pub fn traces(&self, program: &Program, edges: &EdgeProfile) -> Option<CollectedTraces> {
        let branches = self.branches.as_ref()?;
        Some(branches.collect(program, &edge_counts(program, edges)))
    }

    /// What subpaths say, if anybody asked for them.
    pub fn subpaths(&self, counter: &BlockCounter) -> Option<CollectedSubpaths> {
        self.subpaths.as_ref().map(|subpaths| subpaths.collect(counter))
    }

    /// The context's counter at the beginning.
    pub fn blocks(&self) -> BlockCounter {
        self.subpaths.as_ref().map(Subpaths::counter).unwrap_or_default()
    }

    /// Who asks for what branch traces say while the program runs, if they are analysed then.
    pub fn reader(&self) -> Option<TraceReader> {
        self.branches.as_ref()?.reader()
    }

    /// All moves, if they are traced.
    pub fn moves(&self) -> Vec<Moved> {
        self.moves.clone().unwrap_or_default()
    }
}
