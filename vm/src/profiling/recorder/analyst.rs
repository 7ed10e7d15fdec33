//! Branch traces are understood while the program runs, on a thread of its own (open question M6 of Shye et al.: their analysis came
//! after the program).
//!
//! ```text
//! program's thread: sample ─► batch ──full──► channel ──► analyst: table of traces ─► partial paths, matching, weights
//!                                                 ▲                                         │ when there is nothing else to do
//!                         any thread: TraceReader ┴── ask ──► weights so far ◄──────────────┘ and there is twice as much
//! ```
//!
//! The program's thread writes into a batch of its own and hands it over when it is full: nothing else of the analysis is on its way, and
//! it never waits. What is found in the end is the same as without the thread, for the table has the same samples in the same order.

use super::branches::analysis;
use crate::profiling::spec::BtbOptions;
use holloway_profilers::btb::{
    Estimate, Place, Program, Recording, Spans, Statistics, TakenBranch, TraceTable,
};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Samples that are handed over together.
const BATCH: usize = 64;

/// What branch traces say at a moment of the run.
#[derive(Clone, Debug, Default)]
pub struct TraceMoment {
    /// Samples that were looked at.
    pub samples: u64,
    /// How they were understood.
    pub statistics: Statistics,
    /// The weights of full paths.
    pub estimate: Estimate,
}

/// Asks for what branch traces say, from any thread, at any time.
#[derive(Clone, Debug)]
pub struct TraceReader {
    sender: Sender<Message>,
    latest: Arc<Mutex<TraceMoment>>,
}

impl TraceReader {
    /// What was found when the analyst had time last. It does not wait for anybody.
    pub fn latest(&self) -> TraceMoment {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is found with all that was handed over by now. `None` if the machine is gone.
    pub fn now(&self) -> Option<TraceMoment> {
        let (sender, receiver) = channel();
        self.sender.send(Message::Look(sender)).ok()?;
        receiver.recv().ok()
    }
}

/// Samples: branches one after the other, and for each sample where its branches end and where control was.
#[derive(Debug, Default)]
struct Batch {
    branches: Vec<TakenBranch>,
    samples: Vec<(usize, Option<Place>)>,
}

impl Batch {
    fn add(&mut self, branches: &[TakenBranch], at: Option<Place>) {
        self.branches.extend_from_slice(branches);
        self.samples.push((self.branches.len(), at));
    }

    fn record(&self, table: &mut TraceTable) {
        let mut start = 0;
        for &(end, at) in &self.samples {
            table.record(&self.branches[start..end], at);
            start = end;
        }
    }
}

#[derive(Debug)]
enum Message {
    Samples(Batch),
    Look(Sender<TraceMoment>),
    Table(Sender<TraceTable>),
    End,
}

/// The program's side.
pub(super) struct Analyst {
    batch: Batch,
    /// Samples that were taken.
    samples: u64,
    reader: TraceReader,
    thread: Option<JoinHandle<()>>,
}

impl Analyst {
    /// Starts the thread. `Err` if the system gives none.
    pub fn start(
        program: Program,
        spans: Option<Arc<Spans>>,
        table: TraceTable,
        options: BtbOptions,
    ) -> Result<Analyst, String> {
        let (sender, receiver) = channel();
        let reader = TraceReader { sender, latest: Arc::default() };
        let latest = reader.latest.clone();
        let work =
            move || Work { program, spans, table, options, samples: 0, looked_at: 0, latest }.run(&receiver);
        let thread = std::thread::Builder::new().name("branch traces".into()).spawn(work);
        let thread =
            thread.map_err(|error| format!("no thread for the analysis of branch traces: {error}"))?;
        Ok(Analyst { batch: Batch::default(), samples: 0, reader, thread: Some(thread) })
    }

    /// For other threads.
    pub fn reader(&self) -> TraceReader {
        self.reader.clone()
    }

    /// Takes a sample.
    pub fn record(&mut self, branches: &[TakenBranch], at: Option<Place>) {
        self.samples += 1;
        self.batch.add(branches, at);
        if self.batch.samples.len() >= BATCH {
            let next = Batch {
                branches: Vec::with_capacity(self.batch.branches.len()),
                samples: Vec::with_capacity(BATCH),
            };
            let full = std::mem::replace(&mut self.batch, next);
            // Without the thread there is nobody who could want them.
            let _ = self.reader.sender.send(Message::Samples(full));
        }
    }

    /// How many samples were taken, whatever became of them.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// All samples. `None` if the thread has come to harm.
    pub fn table(&self) -> Option<TraceTable> {
        let (sender, receiver) = channel();
        self.reader.sender.send(Message::Table(sender)).ok()?;
        let mut table = receiver.recv().ok()?;
        self.batch.record(&mut table);
        Some(table)
    }
}

impl Drop for Analyst {
    fn drop(&mut self) {
        // Readers have senders, too: the channel alone does not end.
        let _ = self.reader.sender.send(Message::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The analyst's side.
struct Work {
    program: Program,
    spans: Option<Arc<Spans>>,
    table: TraceTable,
    options: BtbOptions,
    samples: u64,
    /// How many samples there were when it was looked at them last.
    looked_at: u64,
    latest: Arc<Mutex<TraceMoment>>,
}

impl Work {
    fn run(mut self, receiver: &Receiver<Message>) {
        loop {
            let message = match receiver.try_recv() {
                Ok(message) => message,
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {
                    // Each look is at all of them: with twice as many each time, all looks together cost two.
                    if self.samples >= 2 * self.looked_at.max(1) {
                        self.look();
                    }
                    match receiver.recv() {
                        Ok(message) => message,
                        Err(_) => return,
                    }
                }
            };
            match message {
                Message::Samples(batch) => {
                    self.samples += batch.samples.len() as u64;
                    batch.record(&mut self.table);
                }
                Message::Look(sender) => drop(sender.send(self.look())),
                Message::Table(sender) => drop(sender.send(self.table.clone())),
                Message::End => return,
            }
        }
    }

    fn look(&mut self) -> TraceMoment {
        self.looked_at = self.samples;
        let spans = self.spans.as_deref();
        let mut analysis = analysis(&self.program, spans, self.options);
        let recording = Recording {
            depth: self.options.depth as usize,
            period: self.options.period,
            traces: self.table.traces(),
            lost: self.table.lost(),
            empty: self.table.empty(),
        };
        analysis.add_recording(&recording);
        let graphs = spans.map_or(&self.program, Spans::program);
        let estimate = Estimate::new(graphs, &analysis.profile(), self.options.estimate(), None);
        let moment = TraceMoment {
            samples: self.samples,
            statistics: analysis.statistics().clone(),
            // The options were checked when they were read.
            estimate: estimate.unwrap_or_default(),
        };
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = moment.clone();
        moment
    }
}
