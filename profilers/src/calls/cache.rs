//! Polymorphic inline caches with counters.
//!
//! Hölzle, Chambers and Ungar (ECOOP 1991) keep, at each call site, the targets that its receivers led to; Grove, Dean, Garrett and
//! Chambers (OOPSLA 1995) count in each entry how often it was hit. A cache has room for so many targets, in the order in which
//! they came; all further ones share a counter that does not know whom it counts (the site is *megamorphic*). Arnold and
//! Grove (CGO 2005, section 3.1) give 15 to 50 % for the counters.
//!
//! [`InlineCaches`] is the whole of it, as the interpreter has it, and the naive twin of what compiled code does in place. Lookup is
//! O(entries), as it is there.

use super::graph::{CallEdge, CallGraph, CallSite};
use super::hash::FixedMap;
use crate::MethodId;
use std::collections::BTreeMap;

/// The cache of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Cache {
    /// Targets with their counts, the first that came first.
    targets: Vec<(MethodId, u64)>,
    /// Calls of targets for which there was no room.
    lost: u64,
}

/// The caches of all sites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InlineCaches {
    sites: FixedMap<CallSite, Cache>,
}

/// What caches counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CachedCalls {
    /// Calls of targets that were in a cache.
    pub graph: CallGraph,
    /// Calls of which nothing but the site is known.
    pub lost: BTreeMap<CallSite, u64>,
}

impl InlineCaches {
    /// A call. A new target gets an entry if the cache has fewer than so many.
    pub fn count(&mut self, CallEdge { site, callee }: CallEdge, entries: usize) {
        let cache = self.sites.entry(site).or_default();
        let has_room = cache.targets.len() < entries;
        match cache.targets.iter_mut().find(|target| target.0 == callee) {
            Some(target) => target.1 = target.1.saturating_add(1),
            None if has_room => cache.targets.push((callee, 1)),
            None => cache.lost = cache.lost.saturating_add(1),
        }
    }

    /// What they counted.
    #[must_use]
    pub fn found(&self) -> CachedCalls {
        let mut found = CachedCalls::default();
        for (&site, cache) in &self.sites {
            cache
                .targets
                .iter()
                .for_each(|&(callee, count)| found.graph.add(CallEdge { site, callee }, count));
            found.lose(site, cache.lost);
        }
        found
    }
}

impl CachedCalls {
    /// Calls of a site whose targets are not known.
    pub fn lose(&mut self, site: CallSite, count: u64) {
        if count > 0 {
            let lost = self.lost.entry(site).or_default();
            *lost = lost.saturating_add(count);
        }
    }

    /// Adds what other caches counted, those of other code or another thread.
    pub fn merge(&mut self, other: &Self) {
        self.graph.merge(&other.graph);
        other.lost.iter().for_each(|(&site, &count)| self.lose(site, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_targets_have_entries_and_the_others_are_lost() {
        let edge = |site, callee| CallEdge::new(MethodId(0), site, MethodId(callee));
        let mut caches = InlineCaches::default();
        for callee in [1, 2, 3, 1, 3, 3, 2, 1] {
            caches.count(edge(10, callee), 2);
        }
        caches.count(edge(20, 3), 2);
        let mut found = caches.found();
        assert_eq!(found.graph.edges(), [(edge(10, 1), 3), (edge(10, 2), 2), (edge(20, 3), 1)]);
        let site = edge(10, 0).site;
        assert_eq!(found.lost, BTreeMap::from([(site, 3)]));
        found.merge(&caches.found());
        assert_eq!((found.graph.total(), found.lost[&site]), (12, 6));
    }
}
