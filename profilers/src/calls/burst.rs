//! One-shot listeners: the calls of a method are recorded in one burst, when it has reached some level of optimization, and never
//! again.
//!
//! Suganuma, Yasue and Nakatani, "An Empirical Study of Method Inlining for a Java Just-In-Time Compiler", JVM 2002, as Arnold and
//! Grove describe it (CGO 2005, section 3.2): a listener in the method's prologue records who calls it; after a fixed number of
//! entries it takes itself out. All bursts have the same length, so that they say how a method's entries divide among its
//! callers, and nothing about how often the method is entered; for this the time that the burst took is kept, "an estimate of
//! the callee's invocation frequency".
//!
//! [`Bursts`] knows who is listened to; the calls that are heard go into a [`CallGraph`], which [`rated`] turns into estimates
//! of all calls of the run.

use super::graph::CallGraph;
use crate::MethodId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The burst of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// When the listener was put in: nanoseconds since the program began.
    pub since: u64,
    /// When it heard its last entry; none if it is still there.
    pub until: Option<u64>,
    /// How many entries it heard.
    pub entries: u64,
}

impl Burst {
    /// How long the listener was there, if the run ends now. At least 1.
    #[must_use]
    pub fn nanoseconds(&self, now: u64) -> u64 {
        self.until.unwrap_or(now).saturating_sub(self.since).max(1)
    }
}

/// All bursts, by method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bursts {
    most: u64,
    methods: BTreeMap<MethodId, Burst>,
}

impl Bursts {
    /// No method was listened to yet. A burst is so many entries long, at least 1.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self { most: most.max(1), methods: BTreeMap::new() }
    }

    /// Code of a method was made in which a listener may be. Does the method have one: since now, or still?
    pub fn listens(&mut self, method: MethodId, now: u64) -> bool {
        let burst = self.methods.entry(method).or_insert(Burst { since: now, until: None, entries: 0 });
        burst.until.is_none()
    }

    /// The method's listener heard an entry. Was it the last one, so that the listener goes?
    pub fn heard(&mut self, method: MethodId, now: u64) -> bool {
        let Some(burst) = self.methods.get_mut(&method).filter(|burst| burst.until.is_none()) else {
            return true;
        };
        burst.entries += 1;
        if burst.entries >= self.most {
            burst.until = Some(now);
        }
        burst.until.is_some()
    }

    /// All bursts that began.
    pub fn iter(&self) -> impl Iterator<Item = (MethodId, Burst)> + '_ {
        self.methods.iter().map(|(&method, &burst)| (method, burst))
    }
}

/// The calls that were heard, each as often as it was made up to `now` if the callee was always entered as often as during its burst:
/// `heard · (now - since) / (until - since)`, rounded, and at least what was heard. A listener that is still there has heard
/// all there was: its calls count as they are.
#[must_use]
pub fn rated(heard: &CallGraph, now: u64, mut burst: impl FnMut(MethodId) -> Option<Burst>) -> CallGraph {
    let rate = |(edge, count): (super::CallEdge, u64)| {
        let Some(of) = burst(edge.callee).filter(|of| of.until.is_some()) else { return (edge, count) };
        let (took, whole) = (u128::from(of.nanoseconds(now)), u128::from(now.saturating_sub(of.since)));
        let estimate = (u128::from(count) * whole * 2 + took) / (took * 2);
        (edge, u64::try_from(estimate).unwrap_or(u64::MAX).max(count))
    };
    heard.edges().into_iter().map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CallEdge;
    use super::*;

    const M: MethodId = MethodId(7);

    #[test]
    fn a_listener_hears_so_many_entries_and_never_comes_back() {
        let mut bursts = Bursts::new(3);
        assert!(bursts.listens(M, 100));
        assert_eq!([110, 120, 130].map(|now| bursts.heard(M, now)), [false, false, true]);
        // Code at the next level has none.
        assert!(!bursts.listens(M, 500) && bursts.heard(M, 510));
        let burst = Burst { since: 100, until: Some(130), entries: 3 };
        assert_eq!(bursts.iter().collect::<Vec<_>>(), [(M, burst)]);
        assert_eq!(burst.nanoseconds(9999), 30);
    }

    #[test]
    fn one_that_has_not_heard_enough_is_put_into_the_next_code() {
        let mut bursts = Bursts::new(2);
        assert!(bursts.listens(M, 0) && !bursts.heard(M, 5) && bursts.listens(M, 10) && bursts.heard(M, 20));
        let entries: Vec<u64> = bursts.iter().map(|(_, burst)| burst.entries).collect();
        assert_eq!(entries, [2]);
    }

    /// Two methods with bursts of 10, the one entered all the time and the other ten times as seldom; the burst of a third is not over.
    #[test]
    fn the_time_of_a_burst_says_how_often_the_method_is_entered() {
        let edge = |site, callee| CallEdge::new(MethodId(0), site, MethodId(callee));
        let edges = [edge(1, 1), edge(2, 1), edge(3, 2), edge(4, 3)];
        let heard: CallGraph = edges.into_iter().zip([4, 6, 10, 5]).collect();
        let burst = |since, until, entries| Some(Burst { since, until, entries });
        let rated = |now| {
            super::rated(&heard, now, |method| match method.0 {
                1 => burst(0, Some(1000), 10),
                2 => burst(50_000, Some(55_000), 10),
                _ => burst(99_999, None, 5),
            })
        };
        assert_eq!(edges.map(|edge| rated(100_000).weight(edge)), [400, 600, 100, 5]);
        assert_eq!(rated(0).total(), heard.total());
    }
}
