//! The stream itself, kept: one execution that many consumers can be run over and compared on.

use super::{Consumer, Event, Lost, ThreadId};
use crate::ids::VersionId;
use serde::{Deserialize, Serialize};

/// One thing that happened, to the invocation that is innermost in the running thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Item {
    /// Another thread runs.
    Switch(ThreadId),
    /// A method was entered.
    Enter(VersionId),
    /// A path ended.
    Path(Event),
    /// A path of this version will never end.
    Lost(VersionId, Lost),
    /// The method was left.
    Leave(VersionId),
}

/// A recorded stream.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trace {
    /// What happened, in order.
    pub items: Vec<Item>,
}

impl Trace {
    /// Feeds it to a consumer. One that keeps something for each invocation is [`Shadowed`](super::Shadowed).
    pub fn replay(&self, consumer: &mut dyn Consumer<Activation = ()>) {
        self.replay_with(consumer, |_, _| {});
    }

    /// The same, with a call before each item, to which its position is told: for ticks.
    pub fn replay_with<C: Consumer<Activation = ()> + ?Sized>(
        &self,
        consumer: &mut C,
        mut before: impl FnMut(&mut C, usize),
    ) {
        for (position, &item) in self.items.iter().enumerate() {
            before(consumer, position);
            match item {
                Item::Switch(thread) => consumer.switch(thread),
                Item::Enter(version) => consumer.enter(version),
                Item::Path(event) => consumer.path(&mut (), event),
                Item::Lost(version, reason) => consumer.lost(&mut (), version, reason),
                Item::Leave(version) => consumer.leave(&mut (), version),
            }
        }
    }
}

/// A consumer that keeps what it reads, up to a limit.
#[derive(Debug, Clone)]
pub struct Recorder {
    trace: Trace,
    limit: usize,
    dropped: u64,
}

impl Recorder {
    /// Keeps the first `limit` items (24 bytes each).
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { trace: Trace::default(), limit, dropped: 0 }
    }

    /// What was kept.
    #[must_use]
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// Items that came after the limit was reached.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn push(&mut self, item: Item) {
        if self.trace.items.len() < self.limit {
            self.trace.items.push(item);
        } else {
            self.dropped += 1;
        }
    }
}

impl Consumer for Recorder {
    type Activation = ();

    fn enter(&mut self, version: VersionId) {
        self.push(Item::Enter(version));
    }

    fn path(&mut self, (): &mut (), event: Event) {
        self.push(Item::Path(event));
    }

    fn lost(&mut self, (): &mut (), version: VersionId, reason: Lost) {
        self.push(Item::Lost(version, reason));
    }

    fn leave(&mut self, (): &mut (), version: VersionId) {
        self.push(Item::Leave(version));
    }

    fn switch(&mut self, thread: ThreadId) {
        self.push(Item::Switch(thread));
    }
}
