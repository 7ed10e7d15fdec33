//! Which memory the growing of a forest touches: a model of the accesses to nodes, and [caches](super::cache) that they go through.
//!
//! D'Elia & Demetrescu 2013, figure 16, explain their outliers by cache misses: nodes were objects, scattered over the heap, and they made no effort
//! to change that. Two layouts are modelled, which hold the same forest:
//!
//! * [`Layout::Linked`]: the paper's. Nodes of 32 bytes (header, label, counter, first child, next sibling) are made one after the other with other objects between them; for each item
//!   the algorithm of figure 11 searches a child of tau and one of beta in lists that stay in the order in which they were made, newest first.
//! * [`Layout::Arena`]: ours, as [`super::Forest`] walks it: one cursor, hot parts of nodes in 16 bytes side by side, labels beside the links that lead to their nodes, lists that order
//!   themselves, hash tables for many children. Nodes are made ready by blocks.
//!
//! Simulated are accesses to nodes and tables of roots only, not those of the program: misses are a proxy, to compare layouts and k, not times. A test
//! holds both models to what [`super::Forest`] counts of itself: nodes, searches and siblings passed.

use super::K;
use super::cache::{Accesses, Memory};
use crate::ids::{PathNumber, VersionId};
use crate::schedule::SplitMix;
use std::collections::HashMap;

/// Where nodes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Objects linked by pointers.
    Linked,
    /// Arrays.
    Arena,
}

/// What was touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Touched {
    /// Paths that ended.
    pub paths: u64,
    /// Accesses, and how many had to wait.
    pub accesses: Accesses,
    /// Nodes of the forest.
    pub nodes: u64,
    /// Searches that went beyond the first child.
    pub searches: u64,
    /// Siblings that they passed.
    pub steps: u64,
}

/// A path of an activation, which has a number of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The activation.
    pub activation: u64,
    /// The code that it runs.
    pub version: VersionId,
    /// Its path.
    pub path: PathNumber,
}

/// Grows a forest of these paths, and says what it touches.
#[must_use]
pub fn touched(k: K, layout: Layout, paths: &[Ended]) -> Touched {
    let mut memory = Memory::new();
    let mut activations: HashMap<u64, Cursors> = HashMap::new();
    let mut model = Model::new(k, layout);
    for &Ended { activation, version, path } in paths {
        let cursors = activations.entry(activation).or_default();
        match layout {
            Layout::Linked => model.step_linked(cursors, version, path, &mut memory),
            Layout::Arena => model.step_arena(cursors, version, path, &mut memory),
        }
    }
    Touched {
        paths: paths.len() as u64,
        accesses: memory.accesses(),
        nodes: model.nodes.len() as u64 - 1,
        searches: model.searches,
        steps: model.steps,
    }
}

/// What an activation keeps.
#[derive(Default)]
struct Cursors {
    tau: usize,
    /// Of the arena, the only one.
    beta: usize,
    items: u64,
}

/// Nobody.
const NIL: usize = 0;
/// With more children than this a node of the arena gets a hash table.
const WIDE: usize = 16;
/// A child may become the first one each time that it has counted so many.
const PATIENCE: u64 = 8;
/// Arrays and tables, far apart.
const NEXT: u64 = 1 << 36;
const UPPERS: u64 = 2 << 36;
const ROOTS: u64 = 3 << 36;
const WIDE_TABLE: u64 = 4 << 36;
/// Nodes of one slab that lie side by side.
const BLOCK: u64 = 64;

#[derive(Default)]
struct Node {
    label: PathNumber,
    count: u64,
    /// In the order of the list.
    children: Vec<usize>,
    upper: usize,
    left: u64,
    /// Where it is: an address, or the position in the arrays.
    at: u64,
    is_wide: bool,
    /// Of a wide node or one that sends on: the child that is looked at first.
    link: usize,
}

struct Model {
    k: u64,
    nodes: Vec<Node>,
    roots: HashMap<(VersionId, PathNumber), usize>,
    /// Of the arena, the next position and the end of the block, of both slabs.
    free: [(u64, u64); 2],
    /// Where the next node goes, or the next block.
    end: u64,
    gaps: SplitMix,
    searches: u64,
    steps: u64,
}

impl Model {
    fn new(k: K, layout: Layout) -> Self {
        let end = if layout == Layout::Arena { 1 } else { 0 };
        let (nodes, gaps) = (vec![Node::default()], SplitMix::new(16));
        Self {
            k: u64::from(k.get()),
            nodes,
            roots: HashMap::new(),
            free: [(0, 0); 2],
            end,
            gaps,
            searches: 0,
            steps: 0,
        }
    }

    /// The slot of a key in a table that is twice as large as it must be.
    fn slot(key: u64, entries: usize) -> u64 {
        let slots = (2 * entries.max(8)).next_power_of_two() as u64;
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % slots
    }

    fn step_linked(
        &mut self,
        cursors: &mut Cursors,
        version: VersionId,
        path: PathNumber,
        memory: &mut Memory,
    ) {
        if cursors.items.is_multiple_of(self.k - 1) {
            cursors.beta = cursors.tau;
            cursors.tau = self.linked_root(version, path, memory);
        } else {
            cursors.tau = self.linked_child(cursors.tau, path, memory);
        }
        let counted = if cursors.beta != NIL {
            cursors.beta = self.linked_child(cursors.beta, path, memory);
            cursors.beta
        } else {
            cursors.tau
        };
        memory.touch(self.nodes[counted].at + 16, 8);
        self.nodes[counted].count += 1;
        cursors.items += 1;
    }

    fn linked_root(&mut self, version: VersionId, path: PathNumber, memory: &mut Memory) -> usize {
        let key = u64::from(version.0) << 32 | path;
        // The table has a pointer to an entry, which has the key and a pointer to the root.
        let entries = self.roots.len();
        memory.touch(ROOTS + 8 * Self::slot(key, entries), 8);
        let entry = self.roots.get(&(version, path)).copied();
        let root = entry.unwrap_or_else(|| {
            let root = self.linked_node(path);
            self.roots.insert((version, path), root);
            root
        });
        // The entry was made with the root.
        memory.touch(self.nodes[root].at + 32, 24);
        root
    }

    fn linked_node(&mut self, label: PathNumber) -> usize {
        // Other objects between: up to half a kilobyte.
        self.end += self.gaps.bits() % 512 / 8 * 8;
        let at = self.end;
        // Room for an entry of the table as well.
        self.end += 56;
        self.nodes.push(Node { label, at, ..Node::default() });
        self.nodes.len() - 1
    }

    fn linked_child(&mut self, parent: usize, path: PathNumber, memory: &mut Memory) -> usize {
        memory.touch(self.nodes[parent].at + 24, 4);
        for &child in self.nodes[parent].children.iter().rev() {
            // Label and next sibling.
            memory.touch(self.nodes[child].at + 8, 8);
            if self.nodes[child].label == path {
                return child;
            }
        }
        let child = self.linked_node(path);
        memory.touch(self.nodes[child].at, 32);
        memory.touch(self.nodes[parent].at + 24, 4);
        self.nodes[parent].children.push(child);
        child
    }

    fn step_arena(
        &mut self,
        cursors: &mut Cursors,
        version: VersionId,
        path: PathNumber,
        memory: &mut Memory,
    ) {
        let cursor = cursors.beta;
        let node = if cursor == NIL {
            self.arena_root(version, path, memory)
        } else if let Some(hit) = self.hit(cursor, path, memory) {
            hit
        } else {
            let at = self.nodes[cursor].at;
            memory.touch(16 * at + 8, 8);
            let sends = self.nodes[cursor].left == 0;
            if sends {
                memory.touch(UPPERS + 4 * at, 4);
            }
            let parent = if sends { self.nodes[cursor].upper } else { cursor };
            let child = self.arena_child(parent, version, path, memory);
            let before = self.nodes[cursor].link;
            if parent != cursor && (before == NIL || self.overtakes(child, before, memory)) {
                self.nodes[cursor].link = child;
                memory.touch(16 * at, 8);
            }
            child
        };
        memory.touch(16 * self.nodes[node].at + 8, 8);
        self.nodes[node].count += 1;
        cursors.beta = node;
    }

    /// The first child, if it is the one.
    fn hit(&self, parent: usize, path: PathNumber, memory: &mut Memory) -> Option<usize> {
        let node = &self.nodes[parent];
        memory.touch(16 * node.at, 8);
        let sends = node.left == 0 && node.upper != parent;
        let first =
            if sends || node.is_wide { node.link } else { node.children.first().copied().unwrap_or(NIL) };
        (first != NIL && self.nodes[first].label == path).then_some(first)
    }

    /// The child with this label; or nothing, if there is none.
    fn search(&mut self, parent: usize, path: PathNumber, memory: &mut Memory) -> Option<usize> {
        if let Some(hit) = self.hit(parent, path, memory) {
            return Some(hit);
        }
        let found = self.nodes[parent].children.iter().position(|&child| self.nodes[child].label == path);
        let parent_at = self.nodes[parent].at;
        memory.touch(16 * parent_at + 8, 8);
        if self.nodes[parent].is_wide {
            let key = (parent as u64) << 32 | path;
            memory.touch(WIDE_TABLE + 16 * Self::slot(key, self.nodes.len()), 16);
            let child = self.nodes[parent].children[found?];
            self.nodes[parent].link = child;
            memory.touch(16 * parent_at, 8);
            return Some(child);
        }
        self.searches += 1;
        let passed = found.unwrap_or(self.nodes[parent].children.len());
        self.steps += passed as u64;
        for &before in &self.nodes[parent].children[..passed] {
            memory.touch(NEXT + 8 * self.nodes[before].at, 8);
        }
        let at = found?;
        let (first, here) = (self.nodes[parent].children[0], self.nodes[parent].children[at]);
        let to = if self.overtakes(here, first, memory) { 0 } else { 1 };
        if to < at {
            let children = &mut self.nodes[parent].children;
            children.remove(at);
            children.insert(to, here);
            memory.touch(NEXT + 8 * self.nodes[here].at, 8);
            memory.touch(if to == 0 { 16 * parent_at } else { NEXT + 8 * self.nodes[first].at }, 8);
        }
        Some(here)
    }

    /// May this child be the first one.
    fn overtakes(&self, child: usize, first: usize, memory: &mut Memory) -> bool {
        let count = self.nodes[child].count;
        memory.touch(16 * self.nodes[child].at + 8, 8);
        if count == 0 || !count.is_multiple_of(PATIENCE) {
            return false;
        }
        memory.touch(16 * self.nodes[first].at + 8, 8);
        count > self.nodes[first].count
    }

    fn arena_child(
        &mut self,
        parent: usize,
        version: VersionId,
        path: PathNumber,
        memory: &mut Memory,
    ) -> usize {
        if let Some(child) = self.search(parent, path, memory) {
            return child;
        }
        let (above, left) = (self.nodes[parent].upper, self.nodes[parent].left);
        memory.touch(UPPERS + 4 * self.nodes[parent].at, 4);
        let (upper, left) = if left == 0 {
            (self.arena_root(version, path, memory), self.k - 2)
        } else if above == parent {
            return self.add(parent, path, NIL, left - 1, memory);
        } else if let Some(upper) = self.search(above, path, memory) {
            (upper, left - 1)
        } else {
            (self.add(above, path, NIL, left - 1, memory), left - 1)
        };
        self.add(parent, path, upper, left, memory)
    }

    /// A new first child. Without a node above it in the slabs it is one of the upper slab.
    fn add(
        &mut self,
        parent: usize,
        label: PathNumber,
        upper: usize,
        left: u64,
        memory: &mut Memory,
    ) -> usize {
        let added = self.arena_node(label, upper, left, memory);
        memory.touch(16 * self.nodes[parent].at, 8);
        self.nodes[parent].children.insert(0, added);
        self.nodes[parent].link = added;
        if self.nodes[parent].children.len() > WIDE {
            self.nodes[parent].is_wide = true;
            let key = (parent as u64) << 32 | label;
            memory.touch(WIDE_TABLE + 16 * Self::slot(key, self.nodes.len()), 16);
        }
        added
    }

    fn arena_node(&mut self, label: PathNumber, upper: usize, left: u64, memory: &mut Memory) -> usize {
        let added = self.nodes.len();
        let slab = usize::from(upper != NIL);
        let (start, end) = self.free[slab];
        let at = if start == end { self.end } else { start };
        if start == end {
            self.end += BLOCK;
            for (array, bytes) in [(0, 16), (NEXT, 8), (UPPERS, 4)] {
                memory.sweep(array + bytes * at, bytes * BLOCK);
            }
        }
        self.free[slab] = (at + 1, if start == end { at + BLOCK } else { end });
        let upper = if upper == NIL { added } else { upper };
        self.nodes.push(Node { label, upper, left, at, ..Node::default() });
        memory.touch(16 * at + 8, 8);
        memory.touch(NEXT + 8 * at, 8);
        memory.touch(UPPERS + 4 * at, 4);
        added
    }

    fn arena_root(&mut self, version: VersionId, path: PathNumber, memory: &mut Memory) -> usize {
        let key = u64::from(version.0) << 32 | path;
        memory.touch(ROOTS + 16 * Self::slot(key, self.roots.len()), 16);
        if let Some(&root) = self.roots.get(&(version, path)) {
            return root;
        }
        let left = self.k - 2;
        let root = self.arena_node(path, NIL, left, memory);
        self.roots.insert((version, path), root);
        root
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Activation, Forest};
    use super::*;

    fn stream(seed: u64, labels: u64) -> Vec<Ended> {
        let mut random = SplitMix::new(seed);
        let mut below = move |n: u64| (random.bits() >> 33) % n;
        (0..3000)
            .map(|_| {
                let activation = below(5);
                // Some labels far more often than others.
                let bound = 1 + below(labels);
                Ended { activation, version: VersionId((activation % 2) as u32), path: below(bound) }
            })
            .collect()
    }

    #[test]
    fn both_layouts_hold_the_forest_and_ours_walks_as_it_does() {
        for (seed, labels) in [(1, 2), (2, 3), (3, 5), (4, 12), (5, 40)] {
            for k in [2, 3, 4, 7] {
                let (k, paths) = (K::new(k).unwrap(), stream(seed, labels));
                let mut forest = Forest::new(k);
                let mut activations = [Activation::default(); 5];
                for of in &paths {
                    forest.path(&mut activations[of.activation as usize], of.version, of.path);
                }
                let real = forest.statistics();
                let [linked, arena] =
                    [Layout::Linked, Layout::Arena].map(|layout| touched(k, layout, &paths));
                assert_eq!((linked.nodes, arena.nodes), (real.nodes, real.nodes), "{k:?} {labels}");
                assert_eq!(
                    (arena.searches, arena.steps),
                    (real.searches, real.sibling_steps),
                    "{k:?} {labels}"
                );
            }
        }
    }
}
