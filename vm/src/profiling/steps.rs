//! What sampled paths did, counted by steps: a path is decoded and looked at when it is sampled for the first time, and each sample of it
//! is one more of each of its steps.

use holloway_profilers::calls::Share;
use holloway_profilers::{PathNumber, VersionId};
use std::collections::BTreeMap;

/// Steps of some kind, with how often sampled paths took them.
pub(super) struct SampledSteps<S> {
    /// The numbers of a path's steps, each as often as it takes it.
    paths: BTreeMap<(VersionId, PathNumber), Box<[u32]>>,
    numbers: BTreeMap<S, u32>,
    /// By number, the step and how often it was seen.
    counts: Vec<(S, u64)>,
    /// The steps that were seen at all.
    seen: Vec<u32>,
}

impl<S> Default for SampledSteps<S> {
    fn default() -> Self {
        let (paths, numbers) = (BTreeMap::new(), BTreeMap::new());
        SampledSteps { paths, numbers, counts: Vec::new(), seen: Vec::new() }
    }
}

impl<S: Copy + Ord> SampledSteps<S> {
    /// Takes a sample; `look` says what a new path does. False if it does nothing.
    pub fn record(&mut self, version: VersionId, path: PathNumber, look: impl FnOnce() -> Vec<S>) -> bool {
        let SampledSteps { paths, numbers, counts, seen } = self;
        let of_path = paths.entry((version, path)).or_insert_with(|| {
            let number = |step| {
                *numbers.entry(step).or_insert_with(|| {
                    counts.push((step, 0));
                    counts.len() as u32 - 1
                })
            };
            look().into_iter().map(number).collect()
        });
        for &number in of_path.iter() {
            let count = &mut counts[number as usize].1;
            if *count == 0 {
                seen.push(number);
            }
            *count += 1;
        }
        !of_path.is_empty()
    }

    /// No more samples of this code will come: what its paths do is forgotten. What was counted stays.
    pub fn forget(&mut self, version: VersionId) {
        let of_version: Vec<_> =
            self.paths.range((version, 0)..=(version, PathNumber::MAX)).map(|(&path, _)| path).collect();
        of_version.iter().for_each(|path| drop(self.paths.remove(path)));
    }

    /// What was counted, in no order.
    pub fn counts(&self) -> impl Iterator<Item = (S, u64)> {
        self.seen.iter().map(|&number| self.counts[number as usize])
    }

    /// What was counted since this was asked last, in the order in which steps became known, so that equal samples give equal values.
    pub fn take(&mut self) -> Vec<(S, u64)> {
        self.seen.sort_unstable();
        let SampledSteps { counts, seen, .. } = self;
        let taken = |number| {
            let (step, count) = &mut counts[number as usize];
            (*step, std::mem::take(count))
        };
        seen.drain(..).map(taken).collect()
    }

    /// Keeps a share of each count, rounded down.
    pub fn decay(&mut self, keep: Share) {
        let SampledSteps { counts, seen, .. } = self;
        seen.retain(|&number| {
            let count = &mut counts[number as usize].1;
            *count = keep.of(*count);
            *count > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code that is made again and again has its steps counted, and nothing is kept of it.
    #[test]
    fn what_is_gone_is_forgotten_but_its_counts() {
        let mut steps = SampledSteps::default();
        for version in (0..1000).map(VersionId) {
            for path in [0, 7, PathNumber::MAX] {
                assert!(steps.record(version, path, || vec!['a', 'b', 'a']));
            }
            assert!(!steps.record(version, 1, Vec::new));
            let before = version.0.checked_sub(1).map(VersionId);
            before.into_iter().for_each(|before| steps.forget(before));
            assert_eq!(steps.paths.len(), 4);
        }
        let mut counts: Vec<_> = steps.counts().collect();
        counts.sort_unstable();
        assert_eq!(counts, [('a', 6000), ('b', 3000)]);
        assert_eq!((steps.numbers.len(), steps.counts.len()), (2, 2));
    }
}
