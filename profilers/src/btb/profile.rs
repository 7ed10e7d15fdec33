//! What a run of a program leaves behind, in a form that survives it: for each method its runs of blocks and their
//! counts.
//!
//! Runs are kept before they are cut at regions and matched, so that profiles of several runs and inputs (open
//! question M4) can be added and then analysed under any options. A method is its number and its fingerprint; counts
//! for other code under the same number are refused, counted and named, never mixed.

use super::parameter::{OutOfRange, within};
use crate::ids::{BlockId, MethodId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The runs of a program's methods, methods in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProfile {
    /// The methods with at least one run.
    pub methods: Vec<MethodRuns>,
}

/// The runs of one method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodRuns {
    /// Its number.
    pub method: MethodId,
    /// The hash of its code.
    pub fingerprint: u64,
    /// The different runs in increasing order.
    pub runs: Vec<RunCount>,
}

/// A run and how often it was sampled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCount {
    /// The blocks.
    pub blocks: Vec<BlockId>,
    /// The count.
    pub count: u64,
}

/// Counts that were refused because they belong to other code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The method.
    pub method: MethodId,
    /// The fingerprint of the code whose counts were kept; `None` if there is no such method.
    pub kept: Option<u64>,
    /// The fingerprint of the code whose counts were refused.
    pub refused: u64,
    /// How many samples were refused.
    pub count: u64,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, refused, count, .. } = self;
        write!(f, "{count} samples of {method} are of code {refused:016x}, ")?;
        match self.kept {
            Some(kept) => write!(f, "but {method} is {kept:016x}: not used"),
            None => write!(f, "but there is no {method}: not used"),
        }
    }
}

/// What a merge did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// How many samples were added.
    pub added: u64,
    /// What was refused.
    pub conflicts: Vec<Conflict>,
}

type Runs = BTreeMap<Vec<BlockId>, u64>;

impl RunProfile {
    /// How many samples of runs there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.methods.iter().fold(0, |sum, method| sum.saturating_add(method.count()))
    }

    /// Adds another profile. Where the code differs, this one's is kept.
    ///
    /// The result is in order and without duplicates, whatever the two were.
    pub fn merge(&mut self, other: &RunProfile) -> Merged {
        let mut methods: BTreeMap<MethodId, (u64, Runs)> = BTreeMap::new();
        let mut merged = Merged::default();
        let own = std::mem::take(&mut self.methods);
        for (method, new) in own.iter().map(|m| (m, false)).chain(other.methods.iter().map(|m| (m, true))) {
            let (kept, runs) =
                methods.entry(method.method).or_insert_with(|| (method.fingerprint, Runs::new()));
            if *kept != method.fingerprint {
                merged.conflicts.push(Conflict {
                    method: method.method,
                    kept: Some(*kept),
                    refused: method.fingerprint,
                    count: method.count(),
                });
                continue;
            }
            for run in &method.runs {
                let count = runs.entry(run.blocks.clone()).or_insert(0);
                *count = count.saturating_add(run.count);
            }
            if new {
                merged.added = merged.added.saturating_add(method.count());
            }
        }
        self.methods = methods
            .into_iter()
            .map(|(id, (fingerprint, runs))| MethodRuns::new(id, fingerprint, runs))
            .collect();
        merged
    }

    /// Keeps so many percent of each count, rounded down, and drops what is 0 then: what was seen long ago fades.
    ///
    /// # Errors
    ///
    /// If it is more than 100 percent.
    pub fn decay(&mut self, keep_percent: u64) -> Result<(), OutOfRange> {
        within("percent to keep", keep_percent, 0, 100)?;
        for method in &mut self.methods {
            for run in &mut method.runs {
                run.count = (u128::from(run.count) * u128::from(keep_percent) / 100) as u64;
            }
            method.runs.retain(|run| run.count > 0);
        }
        self.methods.retain(|method| !method.runs.is_empty());
        Ok(())
    }
}

impl MethodRuns {
    pub(super) fn new(method: MethodId, fingerprint: u64, runs: Runs) -> Self {
        let runs = runs.into_iter().map(|(blocks, count)| RunCount { blocks, count }).collect();
        Self { method, fingerprint, runs }
    }

    /// How many samples of runs there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.count))
    }
}
