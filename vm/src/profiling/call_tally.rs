//! Calls as one green thread made them, or all together: what is not in counters of compiled code.

use super::caches::CacheEntry;
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CachedCalls, CallEdge, CallGraph, ContextTree, InlineCaches};
use std::collections::BTreeMap;

/// Calls outside of counters. What is sampled and heard is here only if threads count by themselves: the machine has the whole.
#[derive(Default)]
pub(super) struct MadeCalls {
    /// Calls that the interpreter made, if calls are counted exactly.
    pub interpreted: CallGraph,
    /// Its inline caches, if there are any.
    pub caches: InlineCaches,
    /// Calls in samples.
    sampled: CallGraph,
    /// Calling contexts in samples.
    contexts: Option<ContextTree>,
    /// Samples of what nobody called.
    roots: u64,
    /// Calls that listeners heard.
    heard: CallGraph,
    /// Entries that they heard, by method.
    entries: BTreeMap<MethodId, u64>,
}

impl MadeCalls {
    /// A sample was taken.
    pub fn sample(&mut self, edge: Option<CallEdge>) {
        match edge {
            Some(edge) => self.sampled.add(edge, 1),
            None => self.roots += 1,
        }
    }

    /// The contexts of samples, which begin as this tree.
    pub fn contexts(&mut self, empty: impl FnOnce() -> ContextTree) -> &mut ContextTree {
        self.contexts.get_or_insert_with(empty)
    }

    /// The listener of a method heard an entry, and maybe whose call it was.
    pub fn hear(&mut self, method: MethodId, edge: Option<CallEdge>) {
        *self.entries.entry(method).or_default() += 1;
        edge.into_iter().for_each(|edge| self.heard.add(edge, 1));
    }

    /// What was counted.
    pub fn counted(&self) -> CountedCalls {
        CountedCalls {
            interpreted: self.interpreted.clone(),
            caches: self.caches.found(),
            cache_entries: BTreeMap::new(),
            sampled: self.sampled.clone(),
            contexts: self.contexts.clone(),
            roots: self.roots,
            heard: self.heard.clone(),
            entries: self.entries.clone(),
        }
    }
}

/// What was counted of calls outside of counters, and what caches in compiled code have.
#[derive(Clone, Debug, Default)]
pub struct CountedCalls {
    /// Exact calls of the interpreter.
    pub interpreted: CallGraph,
    /// Its inline caches, with the calls that compiled code has bound to their targets.
    pub caches: CachedCalls,
    /// Entries of caches in compiled code, with their counts.
    pub cache_entries: BTreeMap<CacheEntry, u64>,
    /// Sampled calls, if samples are counted by thread.
    pub sampled: CallGraph,
    /// Their contexts, if these were asked for and any was seen.
    pub contexts: Option<ContextTree>,
    /// Samples of what nobody called.
    pub roots: u64,
    /// Calls that listeners heard, if that is counted by thread.
    pub heard: CallGraph,
    /// Entries that they heard, by method.
    pub entries: BTreeMap<MethodId, u64>,
}

impl CountedCalls {
    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &CountedCalls) {
        self.interpreted.merge(&other.interpreted);
        self.caches.merge(&other.caches);
        for (&entry, &count) in &other.cache_entries {
            *self.cache_entries.entry(entry).or_default() += count;
        }
        self.sampled.merge(&other.sampled);
        match (&mut self.contexts, &other.contexts) {
            (Some(own), Some(theirs)) => own.merge(theirs),
            (own @ None, theirs) => own.clone_from(theirs),
            (Some(_), None) => {}
        }
        self.roots += other.roots;
        self.heard.merge(&other.heard);
        for (&method, &count) in &other.entries {
            *self.entries.entry(method).or_default() += count;
        }
    }
}
