//! What each green thread counted, in a profile file: the same records as for all together, which refer to the same tables.

use super::CallRecords;
use super::{CountRecord, EdgeRecords, ForestRecord, ProfileFile, SampleRecord, WindowRecord, WorkRecord};
use holloway_profilers::PathNumber;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a thread counted, or together those that could not count by themselves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// Its number; null for the rest.
    pub thread: Option<u32>,
    /// How many threads they are: 1, or those of the rest.
    pub threads: u32,
    /// The number of the method that it was started with; null for the main thread and the rest.
    pub method: Option<u32>,
    /// Exact edges, as in [`EdgeRecords::exact`].
    pub edges: Option<Vec<(u32, Vec<u64>)>>,
    /// As in [`ProfileFile::exact`].
    pub exact: Option<Vec<CountRecord>>,
    /// As in [`SampleRecord::paths`].
    pub sampled: Option<Vec<CountRecord>>,
    /// As in [`ProfileFile::iterated`].
    pub iterated: Option<ForestRecord>,
    /// As in [`ProfileFile::windowed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windowed: Option<WindowRecord>,
    /// As in [`ProfileFile::calls`]; windows and bursts are those of all. Older files have none.
    #[serde(default)]
    pub calls: CallRecords,
    /// As in [`ProfileFile::dropped`].
    pub dropped: BTreeMap<String, u64>,
    /// As in [`ProfileFile::work`].
    pub work: WorkRecord,
}

impl ProfileFile {
    /// The profile of a thread, as if nobody else had run compiled code: what the interpreter counted of branches, the ticks, the
    /// windows and the bursts, traces and subpaths stay those of all.
    pub fn of_thread(&self, thread: &ThreadRecord) -> ProfileFile {
        let sampled = self.sampled.as_ref().zip(thread.sampled.as_ref()).map(|(all, paths)| {
            let taken = paths.iter().map(|path| path.count).sum();
            SampleRecord {
                paths: paths.clone(),
                window: holloway_profilers::schedule::Counts { taken, ..all.window },
            }
        });
        ProfileFile {
            edges: EdgeRecords {
                baseline: self.edges.baseline.clone(),
                exact: thread.edges.clone(),
                sampled: thread.sampled.as_ref().map(|paths| self.edges_of(paths)),
                subpaths: self.edges.subpaths.clone(),
            },
            exact: thread.exact.clone(),
            sampled,
            iterated: thread.iterated.clone(),
            windowed: thread.windowed.clone(),
            calls: thread.calls.clone(),
            traces: self.traces.clone(),
            subpaths: self.subpaths.clone(),
            dropped: thread.dropped.clone(),
            work: thread.work.clone(),
            threads: None,
            format: self.format.clone(),
            version: self.version,
            program: self.program.clone(),
            ended: self.ended.clone(),
            profilers: self.profilers.clone(),
            methods: self.methods.clone(),
            branches: self.branches.clone(),
            versions: self.versions.clone(),
            paths: self.paths.clone(),
        }
    }

    /// The edges of counted paths. References to what is not there are left out.
    fn edges_of(&self, counts: &[CountRecord]) -> Vec<(u32, Vec<u64>)> {
        let paths: BTreeMap<(u32, PathNumber), &[(u32, u32)]> =
            self.paths.iter().map(|path| ((path.version, path.number), &*path.branches)).collect();
        let mut edges: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &CountRecord { version, number, count } in counts {
            for &(branch, arm) in paths.get(&(version, number)).copied().unwrap_or_default() {
                let Some(known) = self.branches.get(branch as usize) else { continue };
                let arms = edges.entry(branch).or_insert_with(|| vec![0; known.arms as usize]);
                if let Some(executed) = arms.get_mut(arm as usize) {
                    *executed += count;
                }
            }
        }
        edges.into_iter().collect()
    }
}
