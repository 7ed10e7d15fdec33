//! Credit for inlined calls: sampled paths know which calls they pass ([`holloway_profilers::calls::credit`] has the estimator).
//!
//! Calls on paths are counted as samples come in, not paths, so that they can age as the sampled calls do: halved, a call on many paths
//! that are seldom sampled still has its weight.

use super::instrument::BlockCall;
use super::spec::{CbsOptions, PepOptions};
use super::steps::SampledSteps;
use holloway_profilers::calls::{
    CallEdge, CallGraph, CallSite, Credit, PassedCall, SampledPath, Scale, Share, credit,
};
use holloway_profilers::schedule::Parameters;
use holloway_profilers::{MethodId, PathNumber, VersionId};
use std::collections::BTreeMap;

/// A call graph in which inlined calls have the weight that sampled paths give them.
#[derive(Clone, Debug)]
pub struct CreditedCalls {
    /// The calls, in samples.
    pub graph: CallGraph,
    /// What was credited.
    pub credit: Credit,
}

/// What a sampled path tells of calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    /// It passes some that are inlined.
    Inlines,
    /// It passes this one. The callee is not known where it is found in a table.
    Passes { site: CallSite, callee: Option<MethodId>, inlined: bool },
}

/// The calls on sampled paths.
#[derive(Default)]
pub(super) struct PassedCalls(SampledSteps<Step>);

impl PassedCalls {
    /// Takes the sample of a path; `look` says what a new one passes. False if it passes no call.
    pub fn record(
        &mut self,
        version: VersionId,
        path: PathNumber,
        look: impl FnOnce() -> Vec<BlockCall>,
    ) -> bool {
        self.0.record(version, path, || {
            let calls = look();
            let inlines = calls.iter().any(|call| call.inlined).then_some(Step::Inlines);
            let passes =
                |&BlockCall { site, callee, inlined, .. }: &BlockCall| Step::Passes { site, callee, inlined };
            inlines.into_iter().chain(calls.iter().map(passes)).collect()
        })
    }

    /// What the paths of this code pass need not be known any more.
    pub fn forget(&mut self, version: VersionId) {
        self.0.forget(version);
    }

    /// Keeps a share of all counts.
    pub fn decay(&mut self, keep: Share) {
        self.0.decay(keep);
    }

    /// The sampled calls with credit for those that are inlined, if there is any.
    pub fn credited(&self, sampled: &CallGraph, pep: &PepOptions, cbs: &CbsOptions) -> Option<CreditedCalls> {
        let (mut paths, mut sites) = (Vec::new(), BTreeMap::new());
        let (mut inlining, mut inlined_calls) = (0u64, 0u64);
        for (step, count) in self.0.counts() {
            let Step::Passes { site, callee, inlined } = step else {
                inlining = count;
                continue;
            };
            let (passed, somewhere_inlined): &mut (u64, bool) = sites.entry(site).or_default();
            (*passed, *somewhere_inlined) = (*passed + count, *somewhere_inlined || inlined);
            inlined_calls += if inlined { count } else { 0 };
            let call = callee.map(|callee| PassedCall { edge: CallEdge { site, callee }, inlined });
            paths.extend(call.map(|call| SampledPath { calls: vec![call], count }));
        }
        // The sites of which nothing is inlined are seen in both ways.
        sites.retain(|_, (_, inlined)| !*inlined);
        let seen = sampled.edges().into_iter().filter(|(edge, _)| sites.contains_key(&edge.site));
        let numerator: u64 = seen.map(|(_, weight)| weight).sum();
        let denominator: u64 = sites.values().map(|&(passed, _)| passed).sum();
        let scale = if numerator > 0 && denominator > 0 {
            Scale::Known { numerator, denominator }
        } else {
            // Where nothing is, a window of paths is worth what a window of calls would be.
            let of_windows = |count: u64, window: Parameters| count.saturating_mul(window.samples().into());
            Scale::Known {
                numerator: of_windows(inlining, cbs.window),
                denominator: of_windows(inlined_calls, pep.window),
            }
        };
        let mut graph = sampled.clone();
        let credit = credit(&mut graph, &paths, scale).ok()?;
        Some(CreditedCalls { graph, credit })
    }
}
