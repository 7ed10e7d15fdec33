//! Several consumers as one.
//!
//! A pair is known to the compiler, and so is the consumer that does nothing, `()`: with it the calls vanish. A
//! [`List`] is put together at run time from consumers that need no state of an invocation, or have a shadow stack
//! for it.

use super::{Consumer, Event, Lost, ThreadId};
use crate::ids::VersionId;

/// Consumers that read the same stream, in order. They stay their owner's, who reads their results afterwards.
#[derive(Default)]
pub struct List<'a> {
    consumers: Vec<&'a mut dyn Consumer<Activation = ()>>,
}

impl<'a> List<'a> {
    /// Without a consumer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more.
    pub fn add(&mut self, consumer: &'a mut dyn Consumer<Activation = ()>) {
        self.consumers.push(consumer);
    }
}

impl Consumer for List<'_> {
    type Activation = ();

    fn enter(&mut self, version: VersionId) {
        self.consumers.iter_mut().for_each(|consumer| consumer.enter(version));
    }

    fn path(&mut self, (): &mut (), event: Event) {
        self.consumers.iter_mut().for_each(|consumer| consumer.path(&mut (), event));
    }

    fn lost(&mut self, (): &mut (), version: VersionId, reason: Lost) {
        self.consumers.iter_mut().for_each(|consumer| consumer.lost(&mut (), version, reason));
    }

    fn leave(&mut self, (): &mut (), version: VersionId) {
        self.consumers.iter_mut().for_each(|consumer| consumer.leave(&mut (), version));
    }

    fn switch(&mut self, thread: ThreadId) {
        self.consumers.iter_mut().for_each(|consumer| consumer.switch(thread));
    }
}

impl Consumer for () {
    type Activation = ();

    #[inline]
    fn path(&mut self, (): &mut (), _event: Event) {}
}

impl<A: Consumer, B: Consumer> Consumer for (A, B) {
    type Activation = (A::Activation, B::Activation);

    #[inline]
    fn enter(&mut self, version: VersionId) -> Self::Activation {
        (self.0.enter(version), self.1.enter(version))
    }

    #[inline]
    fn path(&mut self, activation: &mut Self::Activation, event: Event) {
        self.0.path(&mut activation.0, event);
        self.1.path(&mut activation.1, event);
    }

    fn lost(&mut self, activation: &mut Self::Activation, version: VersionId, reason: Lost) {
        self.0.lost(&mut activation.0, version, reason);
        self.1.lost(&mut activation.1, version, reason);
    }

    #[inline]
    fn leave(&mut self, activation: &mut Self::Activation, version: VersionId) {
        self.0.leave(&mut activation.0, version);
        self.1.leave(&mut activation.1, version);
    }

    fn switch(&mut self, thread: ThreadId) {
        self.0.switch(thread);
        self.1.switch(thread);
    }
}

impl<C: Consumer + ?Sized> Consumer for &mut C {
    type Activation = C::Activation;

    #[inline]
    fn enter(&mut self, version: VersionId) -> Self::Activation {
        (**self).enter(version)
    }

    #[inline]
    fn path(&mut self, activation: &mut Self::Activation, event: Event) {
        (**self).path(activation, event);
    }

    fn lost(&mut self, activation: &mut Self::Activation, version: VersionId, reason: Lost) {
        (**self).lost(activation, version, reason);
    }

    #[inline]
    fn leave(&mut self, activation: &mut Self::Activation, version: VersionId) {
        (**self).leave(activation, version);
    }

    fn switch(&mut self, thread: ThreadId) {
        (**self).switch(thread);
    }
}
