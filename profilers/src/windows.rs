//! Paths over k iterations by numbers: what k-BLPP is compared with.
//!
//! Roy & Srikant 2009 number the paths over k iterations of a loop as Ball & Larus number those of one, and count the numbers in
//! a hash table wherever a path ends: one operation for each path, where k-BLPP needs one for k-1. As paths over k iterations
//! are sequences of up to k paths over one, the product numbering is used here: a number is the *window* of the
//! last k path numbers of an activation, the latest in the low digits,
//!
//! ```text
//! window = (window * digit + path + 1) mod digit^k
//! ```
//!
//! A digit 0 stands for no path, at the beginning of an activation. Digits have a power of two as their base, so that the step
//! is a shift, an addition and a mask; that is less than what the additions to k staggered registers cost in their
//! profiler. The price of all such numberings is the same: the numbers grow with the k-th power of the paths. Theirs gives up where a
//! method has more than [`STATIC_LIMIT`] paths over k iterations; here code is *refused* whose windows do not fit a word.
//!
//! Of what is not refused windows say all that the k-iteration path forest does: a sequence of n <= k paths ran as
//! often as there are windows that end with it ([`WindowProfile::sequences`]).

use crate::ids::{PathNumber, VersionId};
use crate::kblpp::{Gram, K};
use crate::stream::{Consumer, Event, Lost, PathProfile, PathTable, Storage};
use std::collections::BTreeMap;

/// With more paths over k iterations in a method the profiler of Roy & Srikant gives up.
pub const STATIC_LIMIT: u64 = 60_000;

/// A window as a number; 0 if no path has ended yet.
pub type Window = u64;

/// How the windows of a version are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowNumbers {
    /// How many paths a window has.
    k: u32,
    /// The bits of a digit.
    digit: u32,
}

impl WindowNumbers {
    /// The numbering for a version with so many paths. `None` if its windows of k paths do not fit a word.
    #[must_use]
    pub fn new(k: K, paths: u64) -> Option<Self> {
        let digit = (u64::BITS - paths.leading_zeros()).max(1);
        let k = k.get();
        digit.checked_mul(k).filter(|&bits| bits <= u64::BITS).map(|_| Self { k, digit })
    }

    /// How many paths a window has.
    #[must_use]
    pub fn k(self) -> u32 {
        self.k
    }

    /// How far a window is shifted for the next path.
    #[must_use]
    pub fn digit(self) -> u32 {
        self.digit
    }

    /// What is left of it after that.
    #[must_use]
    pub fn mask(self) -> u64 {
        u64::MAX >> (u64::BITS - self.k * self.digit)
    }

    /// The numbering that compiled code has been told in words.
    #[must_use]
    pub fn of_parts(k: u32, digit: u32) -> Option<Self> {
        let fits = k >= 2 && digit >= 1 && k.checked_mul(digit).is_some_and(|bits| bits <= u64::BITS);
        fits.then_some(Self { k, digit })
    }

    /// The window after one more path.
    #[must_use]
    pub fn after(self, window: Window, path: PathNumber) -> Window {
        ((window << self.digit) + path + 1) & self.mask()
    }

    /// The paths of a window, in the order in which they ran.
    #[must_use]
    pub fn paths(self, window: Window) -> Vec<PathNumber> {
        let digit = |at: u32| window >> (at * self.digit) & (u64::MAX >> (u64::BITS - self.digit));
        (0..self.k).rev().map(digit).filter(|&digit| digit > 0).map(|digit| digit - 1).collect()
    }
}

/// How many paths over k iterations there could be: at least as many as a numbering before the run must tell apart, if paths
/// may follow each other in any order.
#[must_use]
pub fn static_paths(k: u32, paths: u64) -> u64 {
    paths.saturating_pow(k)
}

/// Counts of windows, by version and paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowProfile {
    counts: BTreeMap<(VersionId, Vec<PathNumber>), u64>,
}

impl WindowProfile {
    /// Counts of windows as numbers; `numbers` says how those of a version are numbered. Windows of versions without numbering
    /// are left out.
    #[must_use]
    pub fn of(counts: &PathProfile, numbers: impl Fn(VersionId) -> Option<WindowNumbers>) -> Self {
        let window = |of: crate::stream::PathCount| {
            Some(((of.version, numbers(of.version)?.paths(of.path)), of.count))
        };
        Self { counts: counts.iter().filter_map(window).collect() }
    }

    /// Each window and its count, in order.
    pub fn iter(&self) -> impl Iterator<Item = (VersionId, &[PathNumber], u64)> {
        self.counts.iter().map(|((version, paths), &count)| (*version, &**paths, count))
    }

    /// How many different ones there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Was nothing counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Every sequence of up to k paths with its count, as the k-iteration path forest has them: each window ends once with
    /// each of its ends.
    #[must_use]
    pub fn sequences(&self) -> Vec<Gram> {
        let mut counts: BTreeMap<(VersionId, &[PathNumber]), u64> = BTreeMap::new();
        for (version, paths, count) in self.iter() {
            for from in 0..paths.len() {
                *counts.entry((version, &paths[from..])).or_default() += count;
            }
        }
        let gram = |((version, paths), count): ((VersionId, &[PathNumber]), u64)| Gram {
            version,
            paths: paths.to_vec(),
            count,
        };
        counts.into_iter().map(gram).collect()
    }
}

/// A consumer of path ends that counts windows.
#[derive(Debug, Clone)]
pub struct WindowTable {
    k: K,
    versions: BTreeMap<VersionId, Option<WindowNumbers>>,
    counts: PathTable,
}

impl WindowTable {
    /// An empty table.
    #[must_use]
    pub fn new(k: K) -> Self {
        Self { k, versions: BTreeMap::new(), counts: PathTable::new(Storage::Hash) }
    }

    /// Says how many paths a version has, before its first path. True unless it is refused.
    pub fn define(&mut self, version: VersionId, paths: u64) -> bool {
        self.versions.entry(version).or_insert_with(|| WindowNumbers::new(self.k, paths)).is_some()
    }

    /// The counts.
    #[must_use]
    pub fn profile(&self) -> WindowProfile {
        WindowProfile::of(&self.counts.profile(), |version| self.versions.get(&version).copied().flatten())
    }

    /// How many versions are refused.
    #[must_use]
    pub fn refused(&self) -> usize {
        self.versions.values().filter(|numbers| numbers.is_none()).count()
    }

    /// How many hash operations there were.
    #[must_use]
    pub fn hash_operations(&self) -> u64 {
        self.counts.hash_operations()
    }
}

impl Consumer for WindowTable {
    type Activation = Window;

    fn path(&mut self, window: &mut Window, event: Event) {
        if let Some(Some(numbers)) = self.versions.get(&event.version) {
            *window = numbers.after(*window, event.path);
            self.counts.count(event.version, *window);
        }
    }

    fn lost(&mut self, window: &mut Window, _version: VersionId, _reason: Lost) {
        *window = 0;
    }
}

/// The naive twin: how often each window was there, of whole activations.
pub fn count_windows<'a>(
    k: usize,
    activations: impl IntoIterator<Item = (VersionId, &'a [PathNumber])>,
) -> BTreeMap<(VersionId, Vec<PathNumber>), u64> {
    let mut counts = BTreeMap::new();
    for (version, paths) in activations {
        for end in 1..=paths.len() {
            *counts.entry((version, paths[end.saturating_sub(k)..end].to_vec())).or_default() += 1;
        }
    }
    counts
}
