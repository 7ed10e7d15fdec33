//! Which methods calls through tables reach, as sampled paths tell: a path passes the test for which a method was inlined on the
//! way on which it holds, or the call that is left for others.
//!
//! It is kept for windows of time, for code that follows the program ([`crate::adaptive::watcher`]).

use holloway_profilers::calls::CallSite;
use holloway_profilers::{BlockId, MethodId, PathNumber, VersionId};
use std::collections::BTreeMap;

/// What a call through a table reached: a method that is inlined behind a test, or something else by a real call.
pub type Reached = (CallSite, Option<MethodId>);

/// Where a path of a piece of code tells what a call reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverOutcome {
    /// The block that tests, or that calls.
    pub block: BlockId,
    /// Where control goes if the test holds; nothing for a call.
    pub next: Option<BlockId>,
    /// What is reached then.
    pub reached: Reached,
}

/// What the blocks of a path tell.
pub fn on_path(outcomes: &[ReceiverOutcome], blocks: &[BlockId]) -> Vec<Reached> {
    let mut found = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let after = blocks.get(at + 1);
        let here = outcomes.iter().filter(|outcome| outcome.block == *block);
        found.extend(
            here.filter(|o| o.next.is_none_or(|next| after == Some(&next))).map(|outcome| outcome.reached),
        );
    }
    found
}

/// What was reached from each site, how often.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ReceiverWindow(BTreeMap<CallSite, Vec<(Option<MethodId>, u64)>>);

impl ReceiverWindow {
    /// What was reached from a site.
    pub fn at(&self, site: CallSite) -> &[(Option<MethodId>, u64)] {
        self.0.get(&site).map_or(&[], Vec::as_slice)
    }

    /// How often the site was passed.
    pub fn executions(&self, site: CallSite) -> u64 {
        self.at(site).iter().map(|&(_, count)| count).sum()
    }

    /// Adds to what was reached.
    pub fn add(&mut self, (site, method): Reached, count: u64) {
        let counts = self.0.entry(site).or_default();
        match counts.iter_mut().find(|(other, _)| *other == method) {
            Some((_, sum)) => *sum += count,
            None => counts.push((method, count)),
        }
    }
}

/// Counts what sampled paths reach. A path is looked at when it is sampled for the first time.
#[derive(Default)]
pub(crate) struct SampledReceivers {
    paths: BTreeMap<(VersionId, PathNumber), Box<[u32]>>,
    numbers: BTreeMap<Reached, u32>,
    counts: Vec<u64>,
}

impl SampledReceivers {
    /// Takes a sample; `look` says what a new path tells.
    pub fn record(&mut self, version: VersionId, path: PathNumber, look: impl FnOnce() -> Vec<Reached>) {
        let SampledReceivers { paths, numbers, counts } = self;
        let of_path = paths.entry((version, path)).or_insert_with(|| {
            let number = |reached| {
                *numbers.entry(reached).or_insert_with(|| {
                    counts.push(0);
                    counts.len() as u32 - 1
                })
            };
            look().into_iter().map(number).collect()
        });
        of_path.iter().for_each(|&number| counts[number as usize] += 1);
    }

    /// What was counted since this was asked last.
    pub fn take(&mut self) -> ReceiverWindow {
        let mut window = ReceiverWindow::default();
        for (&reached, &number) in &self.numbers {
            let count = std::mem::take(&mut self.counts[number as usize]);
            if count > 0 {
                window.add(reached, count);
            }
        }
        window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(position: u32) -> CallSite {
        CallSite { caller: MethodId(1), position }
    }

    #[test]
    fn a_path_tells_what_its_tests_found() {
        let block = BlockId::new;
        let reached = |position: u32, method: Option<u32>| (site(position), method.map(MethodId));
        let outcome = |at: usize, next: Option<usize>, reached| ReceiverOutcome {
            block: block(at),
            next: next.map(block),
            reached,
        };
        let outcomes = [
            outcome(1, Some(2), reached(7, Some(10))),
            outcome(3, Some(4), reached(7, Some(11))),
            outcome(5, None, reached(7, None)),
        ];
        let told = |blocks: &[usize]| {
            on_path(&outcomes, &blocks.iter().map(|&number| block(number)).collect::<Vec<_>>())
        };
        assert_eq!(told(&[0, 1, 2, 6]), [reached(7, Some(10))]);
        assert_eq!(told(&[1, 3, 4, 6]), [reached(7, Some(11))]);
        assert_eq!(told(&[1, 3, 5, 6]), [reached(7, None)]);
        assert_eq!(told(&[6, 1]), []);
        let mut sampled = SampledReceivers::default();
        for path in [3, 4, 3, 3] {
            let blocks: &[usize] = if path == 3 { &[1, 2] } else { &[1, 3, 5] };
            sampled.record(VersionId(1), PathNumber::from(path as u32), || told(blocks));
        }
        let window = sampled.take();
        assert_eq!(window.at(site(7)), [(None, 1), (Some(MethodId(10)), 3)]);
        assert_eq!((window.executions(site(7)), window.executions(site(8))), (4, 0));
        assert_eq!(sampled.take(), ReceiverWindow::default());
    }
}
