//! Paths of the forests of programs, found by where in the source they are.

use super::tree::{Counts, counts};
use crate::catalogue::marks::line;
use crate::cell::Outcome;

/// A line of the source of a program, by the comment that it ends with.
#[derive(Clone, Copy)]
pub struct Mark(pub &'static str, pub &'static str);

/// The sequences of a version of a method.
pub struct Version<'a> {
    outcome: &'a Outcome,
    number: u64,
    /// How often they were executed.
    pub counts: Counts,
}

impl<'a> Version<'a> {
    /// All of an outcome that has them.
    pub fn all(outcome: &'a Outcome) -> Vec<Version<'a>> {
        let versions = outcome
            .samples
            .keys()
            .filter_map(|name| name.strip_prefix("paths.")?.split('.').next()?.parse().ok());
        let versions: std::collections::BTreeSet<u64> = versions.collect();
        let version = |number: u64| {
            let counts = counts(outcome, &format!("trees.{number}"))?;
            Some(Version { outcome, number, counts })
        };
        versions.into_iter().filter_map(version).collect()
    }

    /// How often a sequence was executed.
    pub fn count(&self, path: &[u64]) -> u64 {
        self.counts.get(path).copied().unwrap_or(0)
    }

    /// The numbers of its paths, the most frequent first.
    pub fn paths(&self) -> Vec<u64> {
        let mut paths: Vec<u64> = self.counts.keys().filter(|key| key.len() == 1).map(|key| key[0]).collect();
        paths.sort_by_key(|&path| std::cmp::Reverse(self.count(&[path])));
        paths
    }

    /// Does a path go from the line to the line again: a turn of a loop.
    pub fn is_turn(&self, path: u64, mark: Mark) -> bool {
        let at = self.place(mark);
        self.places(path).is_some_and(|places| {
            at.is_some() && places.first() == at.as_ref() && places.last() == at.as_ref()
        })
    }

    /// Does a path end where it began, and branch at the line on the way: a turn of a loop whose condition is there.
    pub fn turns_by(&self, path: u64, mark: Mark) -> bool {
        let is_closed = self.places(path).is_some_and(|places| places.first() == places.last());
        is_closed && self.branches_at(path, mark)
    }

    /// Does a path end at a line where it does not begin: does it enter a loop.
    pub fn enters(&self, path: u64, mark: Mark) -> bool {
        let at = self.place(mark);
        self.places(path).is_some_and(|places| {
            at.is_some() && places.last() == at.as_ref() && places.first() != at.as_ref()
        })
    }

    /// Has a path a branch at the line.
    pub fn branches_at(&self, path: u64, mark: Mark) -> bool {
        let at = self.place(mark);
        self.places(path).is_some_and(|places| {
            at.is_some_and(|at| places.len() > 2 && places[1..places.len() - 1].contains(&at))
        })
    }

    fn place(&self, Mark(file, comment): Mark) -> Option<(f64, f64)> {
        Some((*self.outcome.numbers.get(&format!("files.{file}"))?, line(file, comment)))
    }

    fn places(&self, path: u64) -> Option<Vec<(f64, f64)>> {
        let flat = self.outcome.samples.get(&format!("paths.{}.{path}", self.number))?;
        Some(flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }
}
