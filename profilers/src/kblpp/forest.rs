//! The k-slab forest and its construction from the stream.
//!
//! D'Elia & Demetrescu 2013, definition 3 and figure 11. Notation: n items of this invocation have come, tau is the
//! cursor in the upper slab, beta the one in the lower slab, R the hash table of roots by (method, path number). An
//! item r:
//!
//! ```text
//! if n mod (k-1) == 0 { beta = tau; tau = R.find_or_add(method, r) } else { tau = tau.child_or_add(r) }
//! if beta { beta = beta.child_or_add(r); beta.count += 1 } else { tau.count += 1 }
//! n += 1
//! ```
//!
//! Invariants: the sum of all counters is the number of items; the hash operations of an invocation of N items are
//! ceil(N / (k-1)). As in the figure, the upper path of an invocation's last chunk stays in the forest with counters 0,
//! although definition 3 does not have it.
//!
//! The cursors belong to the *activation*, so that recursion and callees do not interleave. What breaks the sequence of
//! path ends in an activation (a path lost to an exception, a change of the code's version) must end it:
//! `*activation = Activation::default()`; what follows is counted like another invocation.
//!
//! Our additions: a limit of memory. When it is reached the nodes that exist still count; an n-gram that would need a
//! new node loses the occurrence, so that counts become lower bounds, and items that find no node at all are counted as
//! [`Statistics::uncounted`].

use super::arena::{Arena, Link, NIL};
use super::paths::PathForest;
use crate::ids::{PathNumber, VersionId};
use crate::stream::hash::OpenTable;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many iterations a path may span: 2..=1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct K(u32);

impl K {
    /// The largest k.
    pub const MOST: u32 = 1024;

    /// This many iterations.
    ///
    /// # Errors
    ///
    /// If `k` is not in 2..=1024.
    pub fn new(k: u32) -> Result<Self, InvalidK> {
        if (2..=Self::MOST).contains(&k) { Ok(Self(k)) } else { Err(InvalidK(k)) }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for K {
    type Error = InvalidK;

    fn try_from(k: u32) -> Result<Self, InvalidK> {
        Self::new(k)
    }
}

impl From<K> for u32 {
    fn from(k: K) -> Self {
        k.0
    }
}

/// A number of iterations that a forest cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidK(pub u32);

impl fmt::Display for InvalidK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k is {}: it must be in 2..={}", self.0, K::MOST)?;
        if self.0 == 1 {
            f.write_str(" (one iteration is plain Ball-Larus profiling, `blpp`)")?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidK {}

/// What an invocation keeps between two path ends: 12 bytes in its frame or on a shadow stack. The default is the state
/// at the entry of a method. It is good for one forest only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activation {
    /// tau.
    upper: Link,
    /// beta.
    lower: Link,
    /// Items until the chunk is full: 0 iff n mod (k-1) is 0.
    left: u32,
}

/// What a forest has done and how large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Items that were counted, which is the sum of all counters.
    pub items: u64,
    /// Items that were not, because the forest was full.
    pub uncounted: u64,
    /// Look-ups of roots: exactly the sum of ceil(N / (k-1)) over the invocations.
    pub hash_operations: u64,
    /// Slots that these look-ups visited beyond the first of each.
    pub further_probes: u64,
    /// Look-ups of children that did not find the first child.
    pub searches: u64,
    /// Siblings that these look-ups passed, all together.
    pub sibling_steps: u64,
    /// Look-ups in the hash tables of nodes with many children.
    pub wide_lookups: u64,
    /// Trees.
    pub roots: u64,
    /// Nodes, roots included.
    pub nodes: u64,
    /// Nodes with a hash table of their own.
    pub wide_nodes: u64,
    /// Memory in use, in bytes.
    pub bytes: u64,
}

/// A k-slab forest: all paths of up to k iterations, of any number of methods.
#[derive(Debug, Clone)]
pub struct Forest {
    k: K,
    arena: Arena,
    roots: OpenTable<Link>,
    hash_operations: u64,
}

impl Forest {
    /// An empty forest for paths over up to k iterations.
    #[must_use]
    pub fn new(k: K) -> Self {
        Self::with_limit(k, Arena::MOST)
    }

    /// The same with a limit on its nodes (16 bytes each); there are never more than 2^31 - 1.
    #[must_use]
    pub fn with_limit(k: K, nodes: usize) -> Self {
        Self { k, arena: Arena::new(nodes), roots: OpenTable::new(), hash_operations: 0 }
    }

    /// How many iterations it covers.
    #[must_use]
    pub fn k(&self) -> K {
        self.k
    }

    /// A path of this activation, which runs this version of its method, has ended.
    #[inline]
    pub fn path(&mut self, activation: &mut Activation, version: VersionId, path: PathNumber) {
        let label = self.arena.label(path);
        if activation.left == 0 {
            activation.lower = activation.upper;
            activation.upper = self.root(version, label);
            activation.left = self.k.0 - 2;
        } else {
            activation.upper = self.arena.child(activation.upper, label);
            activation.left -= 1;
        }
        let counted = if activation.lower == NIL {
            activation.upper
        } else {
            activation.lower = self.arena.child(activation.lower, label);
            activation.lower
        };
        self.arena.increment(counted);
    }

    /// Several paths of this activation have ended, one after the other: the cursors stay in registers.
    pub fn extend(&mut self, activation: &mut Activation, version: VersionId, paths: &[PathNumber]) {
        let mut cursors = *activation;
        for &path in paths {
            self.path(&mut cursors, version, path);
        }
        *activation = cursors;
    }

    /// Adds the counters of another thread's forest.
    ///
    /// # Errors
    ///
    /// If the other forest has another k.
    pub fn merge(&mut self, other: &Self) -> Result<(), InvalidK> {
        if self.k != other.k {
            return Err(InvalidK(other.k.0));
        }
        let effort = (self.arena.steps, self.arena.searches, self.arena.wide_lookups, self.roots.further());
        let mut todo = Vec::new();
        for (key, root) in other.roots.sorted() {
            let label = self.arena.label(other.arena.path(other.arena.label_of(root)));
            let own = self.find_root(VersionId((key >> 32) as u32), label);
            todo.push((root, own));
        }
        while let Some((theirs, own)) = todo.pop() {
            self.arena.add_count(own, other.arena.count(theirs));
            for child in other.arena.children(theirs) {
                let label = self.arena.label(other.arena.path(other.arena.label_of(child)));
                todo.push((child, self.arena.child(own, label)));
            }
        }
        let (steps, searches, wide_lookups, further) = effort;
        self.arena.steps = steps + other.arena.steps;
        self.arena.searches = searches + other.arena.searches;
        self.arena.wide_lookups = wide_lookups + other.arena.wide_lookups;
        self.roots.set_further(further + other.roots.further());
        self.hash_operations += other.hash_operations;
        self.arena.add_count(NIL, other.arena.count(NIL));
        Ok(())
    }

    /// What it has done and how large it is. Visits every node.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let nodes = self.arena.len();
        Statistics {
            items: (1..=nodes as Link).map(|node| self.arena.count(node)).sum(),
            uncounted: self.arena.count(NIL),
            hash_operations: self.hash_operations,
            further_probes: self.roots.further(),
            searches: self.arena.searches,
            sibling_steps: self.arena.steps,
            wide_lookups: self.arena.wide_lookups,
            roots: self.roots.len() as u64,
            nodes: nodes as u64,
            wide_nodes: self.arena.wide_nodes() as u64,
            bytes: (self.arena.bytes() + self.roots.bytes()) as u64,
        }
    }

    /// All paths from roots with their counters, zeros included, by version and path: the forest itself, for looking
    /// at. What was executed is in [`Forest::paths`].
    #[must_use]
    pub fn slabs(&self) -> Vec<super::Gram> {
        let mut slabs = Vec::with_capacity(self.arena.len());
        for (version, root) in self.trees() {
            let mut gram = Vec::new();
            let mut todo = vec![(root, 0)];
            while let Some((node, depth)) = todo.pop() {
                gram.truncate(depth);
                gram.push(self.arena.path(self.arena.label_of(node)));
                slabs.push(super::Gram { version, paths: gram.clone(), count: self.arena.count(node) });
                todo.extend(
                    self.arena.sorted_children(node).into_iter().rev().map(|child| (child, depth + 1)),
                );
            }
        }
        slabs.sort_by(|a, b| (a.version, &a.paths).cmp(&(b.version, &b.paths)));
        slabs
    }

    /// The exact counts of all paths over up to k iterations.
    #[must_use]
    pub fn paths(&self) -> PathForest {
        PathForest::of(self.k, &self.arena, &self.trees())
    }

    /// The trees, by version and label.
    fn trees(&self) -> Vec<(VersionId, Link)> {
        self.roots.sorted().into_iter().map(|(key, root)| (VersionId((key >> 32) as u32), root)).collect()
    }

    #[inline]
    fn root(&mut self, version: VersionId, label: u32) -> Link {
        self.hash_operations += 1;
        self.find_root(version, label)
    }

    #[inline]
    fn find_root(&mut self, version: VersionId, label: u32) -> Link {
        let key = u64::from(version.0) << 32 | u64::from(label);
        match self.roots.find(key) {
            NIL => self.add_root(key, label),
            root => root,
        }
    }

    #[cold]
    #[inline(never)]
    fn add_root(&mut self, key: u64, label: u32) -> Link {
        let root = self.arena.add_root(label);
        if root != NIL {
            *self.roots.slot(key) = root;
        }
        root
    }
}
