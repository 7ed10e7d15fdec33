//! The compilation queue: between the program's thread, which asks, and the compiler's, which takes the most urgent.
//!
//! Urgent is what ran most since it was asked for. What was asked for and then did not run any more (because it has been
//! inlined where it was called) is given up, so that nobody waits for it.

use super::past;
use super::watcher::Drift;
use crate::compiled::past::PastProfile;
use crate::compiled::{Compiled, Compiler, Request};
use crate::signals::{COMPILED, Signals};
use holloway_bytecode::verify::VerifiedProgram;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Why a method is to be compiled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Urgency {
    /// The interpreter had executed so many words for it.
    Counted(f64),
    /// Samples say that a higher level saves as much time as the interpreter takes for so many words.
    Sampled(f64),
    /// The code that there is was made for a program that behaved otherwise.
    Drifted(Drift),
    /// It is to be done in order, whatever happens: forced levels, replay.
    InOrder,
}

/// A request with what is known.
pub(crate) struct Job {
    pub request: Request,
    pub profile: PastProfile,
    pub urgency: Urgency,
    pub since: Instant,
}

/// What became of a job.
pub(crate) enum Done {
    /// It was compiled, which took this much processor time.
    Compiled(Request, Result<Box<Compiled>, String>, Duration),
    /// It was given up.
    Dropped(Request),
}

/// The queue and the thread that works it off.
pub(crate) struct Queue {
    shared: Arc<Shared>,
    done: Receiver<Done>,
    thread: Option<std::thread::JoinHandle<()>>,
}

struct Shared {
    jobs: Mutex<VecDeque<Job>>,
    changed: Condvar,
    /// Nothing more is to be compiled.
    over: AtomicBool,
}

/// A method that did not run for so long after it was asked for is given up.
const QUIET: Duration = Duration::from_millis(5);
/// Not to run means: not more than by this share of what it ran before.
const GROWTH: f64 = 0.05;

impl Queue {
    /// Starts the thread. Each finished job raises `COMPILED`.
    pub fn start(
        compiler: Arc<dyn Compiler>,
        program: Arc<VerifiedProgram>,
        signals: Arc<Signals>,
    ) -> std::io::Result<Queue> {
        let shared = Arc::new(Shared {
            jobs: Mutex::default(),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
        });
        let (sender, done) = channel();
        let work = {
            let shared = shared.clone();
            move || shared.work(&*compiler, &program, &signals, &sender)
        };
        // Cranelift recurses on large functions.
        let thread = std::thread::Builder::new().name("compiler".into()).stack_size(64 << 20).spawn(work)?;
        Ok(Queue { shared, done, thread: Some(thread) })
    }

    /// Adds a job. Gives how many wait now.
    pub fn push(&self, job: Job) -> usize {
        let mut jobs = self.shared.lock();
        jobs.push_back(job);
        self.shared.changed.notify_one();
        jobs.len()
    }

    /// What is finished, if anything is.
    pub fn finished(&self) -> Option<Done> {
        self.done.try_recv().ok()
    }

    /// What is finished next. `None` if the thread is no more.
    pub fn wait(&self) -> Option<Done> {
        self.done.recv().ok()
    }

    /// Ends the thread, after what it is compiling just now.
    pub fn stop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // Whoever holds the lock sees the flag, or waits and is woken.
        drop(self.shared.lock());
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(
        &self,
        compiler: &dyn Compiler,
        program: &VerifiedProgram,
        signals: &Signals,
        sender: &Sender<Done>,
    ) {
        while let Some((job, is_quiet)) = self.take(program) {
            let done = match is_quiet {
                true => Done::Dropped(job.request),
                false => compile(compiler, job),
            };
            if sender.send(done).is_err() {
                return;
            }
            signals.raise(COMPILED);
        }
    }

    /// The most urgent job, and whether it is to be given up. Waits for one; `None` if there will be no more.
    fn take(&self, program: &VerifiedProgram) -> Option<(Job, bool)> {
        let mut jobs = self.lock();
        loop {
            if self.over.load(Ordering::Relaxed) {
                return None;
            }
            let most = jobs.iter().map(|job| urgency(job, program)).enumerate();
            // The first of equals: strictly greater ones only take its place.
            let most = most.reduce(|best, next| if next.1.0 > best.1.0 { next } else { best });
            if let Some((index, (_, is_quiet))) = most {
                return jobs.remove(index).map(|job| (job, is_quiet));
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// How urgent a job is, in words of the interpreter; and whether it has gone quiet.
fn urgency(job: &Job, program: &VerifiedProgram) -> (f64, bool) {
    match job.urgency {
        Urgency::InOrder | Urgency::Drifted(_) => (f64::INFINITY, false),
        Urgency::Sampled(words) => (words, false),
        Urgency::Counted(before) => {
            let function = job.request.function;
            let body = &program.functions[function.index()];
            let grown = past::interpreted_words(function, body, job.profile.counters()) - before;
            (grown, job.since.elapsed() > QUIET && grown < GROWTH * before)
        }
    }
}

fn compile(compiler: &dyn Compiler, job: Job) -> Done {
    let start = crate::timer::thread_time();
    let attempt = std::panic::AssertUnwindSafe(|| compiler.compile(&job.request, &job.profile));
    // A mistake of the compiler must not end the program: the method stays interpreted.
    let result = std::panic::catch_unwind(attempt)
        .unwrap_or_else(|_| Err("the compiler failed unexpectedly".to_owned()));
    Done::Compiled(job.request, result.map(Box::new), crate::timer::thread_time().saturating_sub(start))
}
