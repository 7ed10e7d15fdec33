//! Where the states of invocations live when frames have no room for them: a shadow stack for each thread.
//!
//! Compiled code may keep a consumer's `Activation` in its own frame; an interpreter, a simulation, or code that was
//! compiled without room for it uses a [`Shadowed`] consumer, whose own activation is nothing. Entering pushes, leaving
//! pops, unwinding drops any number; all are O(1) per frame, without memory once the stack has been as deep.

use super::{Consumer, Event, Lost, ThreadId};
use crate::ids::VersionId;

/// The invocations of one thread that are in progress, innermost last.
#[derive(Debug, Clone)]
pub struct Shadow<A> {
    frames: Vec<(VersionId, A)>,
}

impl<A> Default for Shadow<A> {
    fn default() -> Self {
        Self { frames: Vec::new() }
    }
}

impl<A> Shadow<A> {
    /// A method is entered.
    pub fn enter(&mut self, version: VersionId, activation: A) {
        self.frames.push((version, activation));
    }

    /// The innermost invocation.
    pub fn top(&mut self) -> Option<&mut (VersionId, A)> {
        self.frames.last_mut()
    }

    /// The innermost invocation is over.
    pub fn exit(&mut self) -> Option<(VersionId, A)> {
        self.frames.pop()
    }

    /// Ends invocations, innermost first, until `depth` of them are left.
    pub fn unwind(&mut self, depth: usize) -> impl Iterator<Item = (VersionId, A)> + '_ {
        std::iter::from_fn(move || if self.frames.len() > depth { self.frames.pop() } else { None })
    }

    /// How many invocations are in progress.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.frames.len()
    }
}

/// A consumer with the states of all its invocations.
#[derive(Debug, Clone)]
pub struct Shadowed<C: Consumer> {
    consumer: C,
    threads: Vec<Shadow<C::Activation>>,
    running: usize,
    orphans: u64,
}

impl<C: Consumer> Shadowed<C> {
    /// Nothing is in progress, and thread 0 runs.
    pub fn new(consumer: C) -> Self {
        Self { consumer, threads: vec![Shadow::default()], running: 0, orphans: 0 }
    }

    /// An exception ends the invocations of the running thread down to the handler's, and the path that the handler's
    /// invocation was on.
    pub fn unwind(&mut self, depth: usize) {
        let thread = &mut self.threads[self.running];
        for (version, mut activation) in thread.unwind(depth) {
            self.consumer.lost(&mut activation, version, Lost::Unwound);
            self.consumer.leave(&mut activation, version);
        }
        if let Some((version, activation)) = thread.top() {
            self.consumer.lost(activation, *version, Lost::Unwound);
        }
    }

    /// How many invocations of the running thread are in progress.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.threads[self.running].depth()
    }

    /// Path ends and losses of invocations that were not seen to begin, and ends of such invocations.
    #[must_use]
    pub fn orphans(&self) -> u64 {
        self.orphans
    }

    /// The consumer.
    #[must_use]
    pub fn get(&self) -> &C {
        &self.consumer
    }

    /// The consumer, for example to tell it of a tick.
    pub fn get_mut(&mut self) -> &mut C {
        &mut self.consumer
    }

    /// The consumer without its stacks.
    #[must_use]
    pub fn into_inner(self) -> C {
        self.consumer
    }
}

impl<C: Consumer> Consumer for Shadowed<C> {
    type Activation = ();

    fn enter(&mut self, version: VersionId) {
        let activation = self.consumer.enter(version);
        self.threads[self.running].enter(version, activation);
    }

    #[inline]
    fn path(&mut self, (): &mut (), event: Event) {
        match self.threads[self.running].top() {
            Some((version, activation)) => {
                *version = event.version;
                self.consumer.path(activation, event);
            }
            None => {
                self.orphans += 1;
                self.consumer.path(&mut C::Activation::default(), event);
            }
        }
    }

    fn lost(&mut self, (): &mut (), version: VersionId, reason: Lost) {
        match self.threads[self.running].top() {
            Some((_, activation)) => self.consumer.lost(activation, version, reason),
            None => {
                self.orphans += 1;
                self.consumer.lost(&mut C::Activation::default(), version, reason);
            }
        }
    }

    fn leave(&mut self, (): &mut (), _version: VersionId) {
        match self.threads[self.running].exit() {
            Some((version, mut activation)) => self.consumer.leave(&mut activation, version),
            None => self.orphans += 1,
        }
    }

    fn switch(&mut self, thread: ThreadId) {
        self.running = thread.0 as usize;
        if self.threads.len() <= self.running {
            self.threads.resize_with(self.running + 1, Shadow::default);
        }
        self.consumer.switch(thread);
    }
}
