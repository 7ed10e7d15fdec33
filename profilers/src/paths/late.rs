//! A P-DAG that is made when somebody first asks what a number means: of most code nobody does, and whoever compiles has other things to do.

use super::dag::PathDag;
use super::plan::Plan;
use crate::ids::{BranchArm, Edge, VersionId};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

/// The meaning of the path numbers of one compiled version, once it is needed.
#[derive(Debug, Clone, PartialEq)]
pub struct LateDag {
    version: VersionId,
    plan: Plan,
    /// Which edges of the graph are which outcomes of source branches. Sorted.
    outcomes: Vec<(Edge, BranchArm)>,
    made: OnceLock<PathDag>,
}

impl LateDag {
    /// Of a plan, with the edges of its graph that are outcomes of source branches.
    #[must_use]
    pub fn new(plan: Plan, version: VersionId, mut outcomes: Vec<(Edge, BranchArm)>) -> Self {
        outcomes.sort_unstable();
        Self { version, plan, outcomes, made: OnceLock::new() }
    }

    /// It itself.
    pub fn get(&self) -> &PathDag {
        self.made.get_or_init(|| {
            PathDag::new(&self.plan, self.version, |edge| {
                let found = self.outcomes.binary_search_by_key(&edge, |&(edge, _)| edge);
                found.ok().map(|at| self.outcomes[at].1)
            })
        })
    }

    /// What the numbers of its paths mean, as one number that follows on another: equal graphs with equal values have equal ones.
    #[must_use]
    pub fn digest(&self, before: u64) -> u64 {
        // Its keys are always the same.
        let mut hasher = DefaultHasher::new();
        (before, &self.plan).hash(&mut hasher);
        hasher.finish()
    }

    /// How many paths there are.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.plan.paths()
    }

    /// Which edges of the graph are which outcomes of source branches.
    #[must_use]
    pub fn outcomes(&self) -> &[(Edge, BranchArm)] {
        &self.outcomes
    }
}
