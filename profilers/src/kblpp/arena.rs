//! Nodes of tries in one block of memory: 16 bytes each, linked by numbers.
//!
//! First child, next sibling, as in D'Elia & Demetrescu 2013, sec. 5.3. Their outliers were slow because sibling lists
//! were long (58.8 steps on average for eclipse) and nodes were scattered; we depart in five ways:
//!
//! * Links are 32-bit numbers into one array that only grows: a node is 16 bytes and four share a cache line.
//! * Lists order themselves. The first child is the most frequent one: with the latest in its place, as the paper
//!   suggests, children that alternate would swap at each step, and no branch of the look-up could be predicted. Behind
//!   it a child that is found moves to the second place, so that what is frequent now is near the front after a change
//!   of behaviour as well.
//! * A node with more than [`WIDE`] children keeps them in a hash table as well. Its child link then has the top bit
//!   set and names an entry of a side table, which remembers the latest child.
//! * Nodes of the upper and of the lower slab lie in blocks of their own: a walk in the steady state is along lower
//!   nodes only, and finds them side by side in the order in which they were made.
//! * Labels and counters are 32 bits wide, exactly: labels from 2^31 are numbers of an interned table, and a counter
//!   that wraps carries into a side table.
//!
//! Node 0 is nobody: the end of each list, without children, and with a label that no path has. When the arena is full,
//! look-ups that would add a node yield it.
//!
//! A look-up that hits the first child ([`Arena::hit`]) is two loads and two comparisons. Bounds checks stay, since
//! this crate has no unsafe code: the one on the child is also the test for wide nodes.

use crate::ids::PathNumber;
use crate::stream::hash::{Map, OpenTable};
use std::ops::Range;

/// A node's number.
pub(super) type Link = u32;

/// No node.
pub(super) const NIL: Link = 0;

/// With more children than this a node gets a hash table.
const WIDE: u32 = 16;

/// Marks a child link as the number of a wide node, and a label as the number of an interned path.
const SPECIAL: u32 = 1 << 31;

/// Nodes of one kind that lie side by side.
const BLOCK: usize = 64;

/// What nodes are kept apart in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slab {
    /// Nodes that are walked along in the first chunk of an invocation, and when nodes are added.
    Upper,
    /// Nodes that are walked along from then on.
    Lower,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    label: u32,
    /// The low half of the counter.
    count: u32,
    /// The first child, or the number of a wide node with the top bit set.
    child: Link,
    next: Link,
}

/// Node 0, and nodes that are not used yet.
const NOBODY: Node = Node { label: u32::MAX, count: 0, child: NIL, next: NIL };

/// How many children were passed in vain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Siblings(u32);

/// What a node with many children has besides.
#[derive(Debug, Clone)]
struct Wide {
    /// The head of the list of children.
    first: Link,
    /// The child that was found last.
    latest: Link,
    by_label: OpenTable<Link>,
}

/// A growing set of tries.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    /// In blocks of one slab each.
    nodes: Vec<Node>,
    /// What is left of the latest block of each slab.
    free: [Range<Link>; 2],
    used: usize,
    /// How large `used` may get.
    limit: usize,
    wide: Vec<Wide>,
    /// High halves of counters that have wrapped.
    carries: Map<Link, u64>,
    /// Paths from 2^31, and their labels without the mark, plus one.
    interned: Vec<PathNumber>,
    labels: OpenTable<u32>,
    effort: Effort,
}

/// What look-ups have cost beyond their first step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effort {
    /// Nodes passed behind the first child.
    pub steps: u64,
    /// Look-ups that went past the first child.
    pub searches: u64,
    /// Look-ups in the hash tables of wide nodes.
    pub wide_lookups: u64,
}

impl Effort {
    pub fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            searches: self.searches + other.searches,
            wide_lookups: self.wide_lookups + other.wide_lookups,
        }
    }
}

impl Arena {
    /// The most nodes there can be.
    pub const MOST: usize = SPECIAL as usize - 4 * BLOCK;

    /// No nodes; look-ups add up to `limit` of them.
    pub fn new(limit: usize) -> Self {
        Self {
            nodes: vec![NOBODY],
            free: [0..0, 0..0],
            used: 0,
            limit: limit.min(Self::MOST),
            wide: Vec::new(),
            carries: Map::default(),
            interned: Vec::new(),
            labels: OpenTable::new(),
            effort: Effort::default(),
        }
    }

    /// The label of a path that need not be interned.
    #[inline(always)]
    pub fn short_label(path: PathNumber) -> Option<u32> {
        (path < u64::from(SPECIAL)).then_some(path as u32)
    }

    /// The label of a path, interned if it is long.
    #[inline]
    pub fn label(&mut self, path: PathNumber) -> u32 {
        Self::short_label(path).unwrap_or_else(|| self.intern(path))
    }

    /// The path that a label stands for.
    pub fn path(&self, label: u32) -> PathNumber {
        if label < SPECIAL { u64::from(label) } else { self.interned[(label & !SPECIAL) as usize] }
    }

    /// A node without parent, or nobody if the arena is full.
    pub fn add_root(&mut self, label: u32) -> Link {
        self.add(label, NIL, Slab::Upper)
    }

    /// The first child, if it has this label.
    #[inline(always)]
    pub fn hit(&self, parent: Link, label: u32) -> Option<Link> {
        let first = self.nodes[parent as usize].child;
        // A wide node's link is beyond the end of the arena, and nobody's label never matches.
        match self.nodes.get(first as usize) {
            Some(node) if node.label == label => Some(first),
            _ => None,
        }
    }

    /// The child with this label, which is added if there is none.
    pub fn child(&mut self, parent: Link, label: u32) -> Link {
        match self.search(parent, label) {
            Ok(child) => child,
            Err(siblings) => self.add_child(parent, label, siblings, Slab::Upper),
        }
    }

    /// The child with this label, or how long the list is that it is not in.
    #[inline]
    pub fn search(&mut self, parent: Link, label: u32) -> Result<Link, Siblings> {
        match self.hit(parent, label) {
            Some(child) => Ok(child),
            None => self.search_further(parent, label),
        }
    }

    /// Adds a child after a search has not found it. Nobody if the arena is full.
    pub fn add_child(&mut self, parent: Link, label: u32, Siblings(siblings): Siblings, slab: Slab) -> Link {
        let link = self.nodes[parent as usize].child;
        let wide = (link & SPECIAL != 0).then_some((link & !SPECIAL) as usize);
        let first = wide.map_or(link, |number| self.wide[number].first);
        let added = if parent == NIL { NIL } else { self.add(label, first, slab) };
        if added == NIL {
            return NIL;
        }
        if let Some(number) = wide {
            let wide = &mut self.wide[number];
            *wide.by_label.slot(u64::from(label)) = added;
            (wide.first, wide.latest) = (added, added);
        } else {
            self.nodes[parent as usize].child = added;
            if siblings >= WIDE {
                self.widen(parent);
            }
        }
        added
    }

    /// Adds one to a node's counter.
    #[inline]
    pub fn increment(&mut self, node: Link) {
        let count = &mut self.nodes[node as usize].count;
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.carry(node, 1);
        }
    }

    /// Adds any number to a node's counter.
    pub fn add_count(&mut self, node: Link, amount: u64) {
        let count = &mut self.nodes[node as usize].count;
        let sum = u64::from(*count) + (amount & u64::from(u32::MAX));
        *count = sum as u32;
        let high = (amount >> 32) + (sum >> 32);
        if high > 0 {
            self.carry(node, high);
        }
    }

    /// A node's counter.
    pub fn count(&self, node: Link) -> u64 {
        let low = u64::from(self.nodes[node as usize].count);
        if self.carries.is_empty() { low } else { low + (self.carries.get(&node).unwrap_or(&0) << 32) }
    }

    /// A node's label.
    pub fn label_of(&self, node: Link) -> u32 {
        self.nodes[node as usize].label
    }

    /// A node's children, in no order that means anything.
    pub fn children(&self, node: Link) -> impl Iterator<Item = Link> + '_ {
        let link = self.nodes[node as usize].child;
        let first = if link & SPECIAL == 0 { link } else { self.wide[(link & !SPECIAL) as usize].first };
        let there = |link: Link| (link != NIL).then_some(link);
        std::iter::successors(there(first), move |&child| there(self.nodes[child as usize].next))
    }

    /// A node's children by the paths they stand for.
    pub fn sorted_children(&self, node: Link) -> Vec<Link> {
        let mut children: Vec<Link> = self.children(node).collect();
        children.sort_unstable_by_key(|&child| self.path(self.label_of(child)));
        children
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.used
    }

    /// All links are below this; some that are stand for no node yet.
    pub fn bound(&self) -> usize {
        self.nodes.len()
    }

    /// The sum of all counters but nobody's.
    pub fn total(&self) -> u64 {
        (1..self.nodes.len() as Link).map(|node| self.count(node)).sum()
    }

    /// How many nodes have hash tables.
    pub fn wide_nodes(&self) -> usize {
        self.wide.len()
    }

    /// What look-ups have cost.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Says what they have cost: after work that does not count.
    pub fn set_effort(&mut self, effort: Effort) {
        self.effort = effort;
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        let wide: usize = self.wide.iter().map(|wide| size_of::<Wide>() + wide.by_label.bytes()).sum();
        let interned = self.interned.len() * size_of::<PathNumber>() + self.labels.bytes();
        let carries = self.carries.len() * size_of::<(Link, u64)>();
        self.nodes.len() * size_of::<Node>() + wide + interned + carries
    }

    /// The look-up behind the first child.
    #[inline(never)]
    fn search_further(&mut self, parent: Link, label: u32) -> Result<Link, Siblings> {
        let first = self.nodes[parent as usize].child;
        if first & SPECIAL != 0 {
            return self.search_wide((first & !SPECIAL) as usize, label);
        }
        self.effort.searches += 1;
        let (mut before, mut passed) = (first, 0);
        while before != NIL {
            passed += 1;
            let here = self.nodes[before as usize].next;
            let node = self.nodes[here as usize];
            if node.label == label {
                self.effort.steps += u64::from(passed);
                self.promote(parent, first, before, here);
                return Ok(here);
            }
            before = here;
        }
        self.effort.steps += u64::from(passed);
        Err(Siblings(passed))
    }

    /// Moves a child that was found behind others: to the front if it is the most frequent by now, else to the second
    /// place.
    fn promote(&mut self, parent: Link, first: Link, before: Link, here: Link) {
        let found = self.nodes[here as usize];
        if found.count > self.nodes[first as usize].count {
            self.nodes[before as usize].next = found.next;
            self.nodes[here as usize].next = first;
            self.nodes[parent as usize].child = here;
        } else if before != first {
            self.nodes[before as usize].next = found.next;
            self.nodes[here as usize].next = self.nodes[first as usize].next;
            self.nodes[first as usize].next = here;
        }
    }

    fn search_wide(&mut self, number: usize, label: u32) -> Result<Link, Siblings> {
        let wide = &mut self.wide[number];
        if self.nodes[wide.latest as usize].label == label {
            return Ok(wide.latest);
        }
        self.effort.wide_lookups += 1;
        match wide.by_label.get(u64::from(label)) {
            NIL => Err(Siblings(WIDE)),
            found => {
                wide.latest = found;
                Ok(found)
            }
        }
    }

    #[cold]
    fn widen(&mut self, parent: Link) {
        let first = self.nodes[parent as usize].child;
        let mut by_label = OpenTable::new();
        for child in self.children(parent) {
            *by_label.slot(u64::from(self.label_of(child))) = child;
        }
        self.nodes[parent as usize].child = SPECIAL | self.wide.len() as u32;
        self.wide.push(Wide { first, latest: first, by_label });
    }

    fn add(&mut self, label: u32, next: Link, slab: Slab) -> Link {
        if self.used == self.limit {
            return NIL;
        }
        let free = &mut self.free[slab as usize];
        if free.start == free.end {
            let start = self.nodes.len();
            self.nodes.resize(start + BLOCK, NOBODY);
            *free = start as Link..(start + BLOCK) as Link;
        }
        let link = free.start;
        free.start += 1;
        self.used += 1;
        self.nodes[link as usize] = Node { label, count: 0, child: NIL, next };
        link
    }

    #[cold]
    #[inline(never)]
    fn carry(&mut self, node: Link, high: u64) {
        *self.carries.entry(node).or_default() += high;
    }

    #[cold]
    #[inline(never)]
    fn intern(&mut self, path: PathNumber) -> u32 {
        let number = self.labels.slot(path);
        if *number == 0 {
            self.interned.push(path);
            *number = u32::try_from(self.interned.len()).expect("an arena has fewer labels than nodes");
        }
        SPECIAL | (*number - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters are exact past 32 bits.
    #[test]
    fn counters_carry() {
        let mut arena = Arena::new(10);
        let node = arena.add_root(7);
        arena.add_count(node, (1 << 40) + u64::from(u32::MAX));
        arena.increment(node);
        assert_eq!(arena.count(node), (1 << 40) + (1 << 32));
        arena.add_count(node, u64::from(u32::MAX));
        arena.add_count(node, 2);
        assert_eq!(arena.count(node), (1 << 40) + (2 << 32) + 1);
        let other = arena.add_root(8);
        assert_eq!(arena.count(other), 0);
    }
}
