//! The k-slab forest and its construction from the stream.
//!
//! D'Elia & Demetrescu 2013, definition 3 and figure 11. Notation: n items of this invocation have come, tau is the
//! cursor in the upper slab, beta the one in the lower slab, R the hash table of roots by (method, path number). Their
//! algorithm, for an item r:
//!
//! ```text
//! if n mod (k-1) == 0 { beta = tau; tau = R.find_or_add(method, r) } else { tau = tau.child_or_add(r) }
//! if beta { beta = beta.child_or_add(r); beta.count += 1 } else { tau.count += 1 }
//! n += 1
//! ```
//!
//! Ours builds the same forest with half of the steps. The labels on the way to beta are the chunk before and then the
//! items of this chunk, those on the way to tau are the items of this chunk: *beta determines tau*. So each lower node
//! remembers its tau, once, when it is made; the link is the suffix link of Aho and Corasick. An upper node is its own.
//! Where a chunk ends, the walk goes on below tau, in the middle of one below the node itself: *onward*, which is always the
//! same for a node. What is left to do is to walk one cursor:
//!
//! ```text
//! cursor = if cursor { cursor.onward.child_or_add(r) } else { R.find_or_add(method, r) }
//! cursor.count += 1
//! ```
//!
//! A node that sends on to its tau has no children, so its link remembers a child of tau's: there, too, the frequent
//! step follows one link.
//!
//! Only a new lower node looks for the child of its parent's tau, or for a root if it begins a chunk. The paper's
//! hash operations, ceil(N / (k-1)) for an invocation of N items, are counted as [`Statistics::chunks`]: as often as an item
//! was counted at a node with which a chunk begins. Ours are one for each invocation and one for each new node that begins a
//! chunk.
//!
//! Invariants: the sum of all counters is the number of items. The forest is the paper's, node by node; as in its
//! figure 11, the upper path of an invocation's last chunk stays in the forest with counters 0, although definition 3
//! does not have it.
//!
//! The cursor belongs to the *activation*, so that recursion and callees do not interleave. What breaks the sequence of
//! path ends in an activation (a path lost to an exception, a change of the code's version) must end it:
//! `*activation = Activation::default()`; what follows is counted like another invocation.
//!
//! Our additions: a limit of memory. When it is reached the nodes that exist still count; an item that would need a new
//! node is counted as [`Statistics::uncounted`] and breaks the sequence, so that all counts are lower bounds.

use super::arena::{Addresses, Arena, Edge, Link, NIL, Siblings, Slab};
use super::paths::PathForest;
use super::steps::Steps;
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

/// What an invocation keeps between two path ends: 4 bytes in its frame or on a shadow stack. The default is the state
/// at the entry of a method. It is good for one forest only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Activation {
    /// The node that counted the latest item.
    cursor: Link,
}

impl Activation {
    /// The cursor, for compiled code that keeps it in a slot of its frame: the number of a node. 0 is the default.
    #[must_use]
    #[inline]
    pub fn bits(self) -> u32 {
        self.cursor
    }

    /// The state from what [`Self::bits`] has said, for the same forest.
    #[must_use]
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        Self { cursor: bits }
    }
}

/// What a forest has done and how large it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Items that were counted, which is the sum of all counters.
    pub items: u64,
    /// Items that were not, because the forest was full.
    pub uncounted: u64,
    /// Chunks that were begun, which is how often the paper's algorithm looks up a root: exactly the sum of
    /// ceil(N / (k-1)) over the invocations.
    pub chunks: u64,
    /// How often this one did.
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

const _: () = assert!(K::MOST - 2 <= Arena::MOST_LEFT);

/// A k-slab forest: all paths of up to k iterations, of any number of methods.
#[derive(Debug, Clone)]
pub struct Forest {
    k: K,
    arena: Arena,
    roots: OpenTable<Link>,
    /// For compiled code.
    steps: Steps,
    hash_operations: u64,
}

impl Forest {
    /// An empty forest for paths over up to k iterations.
    #[must_use]
    pub fn new(k: K) -> Self {
        Self::with_limit(k, Arena::MOST)
    }

    /// The same with a limit on its nodes (28 bytes each); there are never more than 2^31 - 1.
    #[must_use]
    pub fn with_limit(k: K, nodes: usize) -> Self {
        let (arena, roots) = (Arena::new(nodes), OpenTable::new());
        Self { k, arena, roots, steps: Steps::new(), hash_operations: 0 }
    }

    /// How many iterations it covers.
    #[must_use]
    pub fn k(&self) -> K {
        self.k
    }

    /// A path of this activation, which runs this version of its method, has ended.
    #[inline]
    pub fn path(&mut self, activation: &mut Activation, version: VersionId, path: PathNumber) {
        // The steady state; everything else is behind a call.
        if let Some(label) = Arena::short_label(path)
            && let Some(node) = self.arena.hit(activation.cursor, label)
        {
            self.arena.add_count(node, 1);
            activation.cursor = node;
        } else {
            self.step_aside(activation, version, path);
        }
    }

    /// The same for compiled code, which takes this step by itself from then on.
    pub fn path_for_code(&mut self, activation: &mut Activation, version: VersionId, path: PathNumber) {
        let from = activation.cursor;
        self.path(activation, version, path);
        if let Some(label) = Arena::short_label(path)
            && activation.cursor != NIL
        {
            self.steps.remember(from, version, Edge { label, to: activation.cursor });
        }
    }

    /// Where the nodes are in memory, until the next path: for compiled code that takes the step to the first child by itself, as
    /// [`super::NodeLayout`] says.
    #[must_use]
    pub fn addresses(&mut self) -> Addresses {
        Addresses { nodes: self.arena.address(), steps: self.steps.address() }
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
        let own = (self.arena.effort(), self.roots.further(), self.hash_operations);
        let mut todo = Vec::new();
        for (version, root) in other.trees() {
            let label = self.arena.label(other.arena.path(root.label));
            todo.push((version, root.to, self.root(version, label)));
        }
        while let Some((version, theirs, own)) = todo.pop() {
            self.arena.add_count(own, other.arena.count(theirs));
            for child in other.arena.children(theirs) {
                let label = self.arena.label(other.arena.path(child.label));
                todo.push((version, child.to, self.child(own, version, label)));
            }
        }
        // What counts as work is what the threads did, not the merging.
        self.arena.set_effort(own.0.and(other.arena.effort()));
        self.roots.set_further(own.1 + other.roots.further());
        self.hash_operations = own.2 + other.hash_operations;
        self.arena.add_count(NIL, other.arena.count(NIL));
        Ok(())
    }

    /// What it has done and how large it is. Visits every node.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let (nodes, effort) = (self.arena.len(), self.arena.effort());
        Statistics {
            items: self.arena.total(),
            uncounted: self.arena.count(NIL),
            chunks: self.chunks(),
            hash_operations: self.hash_operations,
            further_probes: self.roots.further(),
            searches: effort.searches,
            sibling_steps: effort.steps,
            wide_lookups: effort.wide_lookups,
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
                gram.push(self.arena.path(node.label));
                slabs.push(super::Gram { version, paths: gram.clone(), count: self.arena.count(node.to) });
                todo.extend(
                    self.arena.sorted_children(node.to).into_iter().rev().map(|child| (child, depth + 1)),
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
    fn trees(&self) -> Vec<(VersionId, Edge)> {
        let tree = |(key, to): (u64, Link)| (VersionId((key >> 32) as u32), Edge { label: key as u32, to });
        self.roots.sorted().into_iter().map(tree).collect()
    }

    /// How often an item began a chunk.
    fn chunks(&self) -> u64 {
        let begins = |node: &Link| {
            // Nodes that are not used yet have no tau.
            self.arena.upper(*node) != NIL && self.arena.left(*node) == self.k.0 - 2
        };
        (0..self.arena.bound() as Link).filter(begins).map(|node| self.arena.count(node)).sum()
    }

    /// An item that is not the first child of the cursor, or has no short label.
    #[inline(never)]
    fn step_aside(&mut self, activation: &mut Activation, version: VersionId, path: PathNumber) {
        let label = self.arena.label(path);
        let node = match activation.cursor {
            NIL => self.root(version, label),
            cursor => {
                let parent = self.arena.onward(cursor);
                let child = self.child(parent, version, label);
                if parent != cursor && child != NIL {
                    self.arena.went_on(cursor, Edge { label, to: child });
                }
                child
            }
        };
        self.arena.add_count(node, 1);
        activation.cursor = node;
    }

    /// The child with this label; if it is new, with its tau.
    fn child(&mut self, parent: Link, version: VersionId, label: u32) -> Link {
        match self.arena.search(parent, label) {
            Ok(child) => child,
            Err(siblings) => self.add_child(parent, siblings, version, label),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_child(&mut self, parent: Link, siblings: Siblings, version: VersionId, label: u32) -> Link {
        let (above, left) = (self.arena.upper(parent), self.arena.left(parent));
        // The last upper node of a chunk is above the lower nodes that begin the next.
        let (upper, left) = if left == 0 {
            (self.root(version, label), self.k.0 - 2)
        } else if above == parent {
            return self.arena.add_child(parent, label, siblings, Slab::Upper, left - 1);
        } else {
            let upper = match self.arena.search(above, label) {
                Ok(upper) => upper,
                Err(siblings) => self.arena.add_child(above, label, siblings, Slab::Upper, left - 1),
            };
            (upper, left - 1)
        };
        if upper == NIL {
            return NIL;
        }
        debug_assert_eq!(self.arena.left(upper), left, "both are in the same place of their chunks");
        self.arena.add_child(parent, label, siblings, Slab::Lower(upper), left)
    }

    fn root(&mut self, version: VersionId, label: u32) -> Link {
        self.hash_operations += 1;
        let key = u64::from(version.0) << 32 | u64::from(label);
        match self.roots.find(key) {
            NIL => self.add_root(key),
            root => root,
        }
    }

    #[cold]
    #[inline(never)]
    fn add_root(&mut self, key: u64) -> Link {
        let root = self.arena.add_root(self.k.0 - 2);
        if root != NIL {
            *self.roots.slot(key) = root;
        }
        root
    }
}
