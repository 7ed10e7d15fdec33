//! Nodes of tries in one block of memory, linked by numbers.
//!
//! First child, next sibling, as in D'Elia & Demetrescu 2013, sec. 5.3. Their outliers were slow because sibling lists
//! were long (58.8 steps on average for eclipse) and nodes were scattered; we depart in five ways:
//!
//! * Links are 32-bit numbers into arrays that only grow. What the frequent step needs of a node is 16 bytes, four nodes share
//!   a cache line; what it does not need is in arrays of its own.
//! * Lists order themselves. The first child is the most frequent one: with the latest in its place, as the paper
//!   suggests, children that alternate would swap at each step, and no branch of the look-up could be predicted. Behind
//!   it a child that is found moves to the second place, so that what is frequent now is near the front after a change
//!   of behaviour as well.
//! * The children of a node with more than [`WIDE`] of them are in a hash table as well. Its child link then is the
//!   child that was found last.
//! * Nodes of the upper and of the lower slab lie in blocks of their own: a walk in the steady state is along lower
//!   nodes only, and finds them side by side in the order in which they were made.
//! * Labels are 32 bits wide: those from 2^31 are numbers of an interned table.
//!
//! Node 0 is nobody: the end of each list, without children, and with a label that no path has. When the arena is full,
//! look-ups that would add a node yield it.
//!
//! A look-up that hits the first child ([`Arena::hit`]) is two loads and a comparison, which compiled code may do by
//! itself ([`NodeLayout`]). Bounds checks stay here, since this crate has no unsafe code.

use crate::ids::PathNumber;
use crate::stream::hash::{Map, OpenTable, TableAddress};
use std::mem::offset_of;
use std::ops::Range;

/// A node's number.
pub(super) type Link = u32;

/// No node.
pub(super) const NIL: Link = 0;

/// With more children than this a node gets a hash table.
const WIDE: u32 = 16;

/// Marks a label as the number of an interned path.
const INTERNED: u32 = 1 << 31;

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
#[repr(C)]
struct Node {
    label: u32,
    /// The first child; of a wide node, the one that was found last; of a node that sends on, the one below the other to which it did last.
    child: Link,
    count: u64,
}

/// Where a node is in the slabs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Its tau: an upper node itself, of a lower node the upper node of the same chunk.
    pub upper: Link,
    /// How many items its chunk has after it. The walk goes on below a node, but below its tau if this is 0.
    pub left: u32,
}

/// Where in memory the parts of a node are, for compiled code that takes the frequent step by itself: to the child of
/// the node where it was, if its label is the number of the path that has ended, and counts there. Node 0 has no child.
#[derive(Debug, Clone, Copy)]
pub struct NodeLayout;

impl NodeLayout {
    /// The logarithm of the bytes of a node.
    pub const SHIFT: u32 = size_of::<Node>().trailing_zeros();
    /// 32 bits: the number of a path, if it is less than [`NodeLayout::LABELS`].
    pub const LABEL: usize = offset_of!(Node, label);
    /// 32 bits: a node's number.
    pub const CHILD: usize = offset_of!(Node, child);
    /// 64 bits.
    pub const COUNT: usize = offset_of!(Node, count);
    /// Labels that are not numbers of paths begin here.
    pub const LABELS: u64 = INTERNED as u64;
}

/// Where in memory the arrays are.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Addresses {
    /// The nodes, as [`NodeLayout`] says.
    pub nodes: *mut u8,
    /// Steps, as [`super::StepLayout`] says.
    pub steps: TableAddress,
}

/// Node 0, and nodes that are not used yet.
const NOBODY: Node = Node { label: u32::MAX, child: NIL, count: 0 };

const _: () = assert!(size_of::<Node>().is_power_of_two());

/// How many children were passed in vain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Siblings(u32);

/// A growing set of tries.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    /// In blocks of one slab each.
    nodes: Vec<Node>,
    /// Of each node, the next with the same parent.
    next: Vec<Link>,
    places: Vec<Place>,
    /// What is left of the latest block of each slab.
    free: [Range<Link>; 2],
    used: usize,
    /// How large `used` may get.
    limit: usize,
    /// Nodes with many children, and the heads of their lists.
    wide: Map<Link, Link>,
    /// Their children, by parent and label.
    by_label: OpenTable<Link>,
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
    pub const MOST: usize = INTERNED as usize - 4 * BLOCK;

    /// No nodes; look-ups add up to `limit` of them.
    pub fn new(limit: usize) -> Self {
        Self {
            nodes: vec![NOBODY],
            next: vec![NIL],
            places: vec![Place::default()],
            free: [0..0, 0..0],
            used: 0,
            limit: limit.min(Self::MOST),
            wide: Map::default(),
            by_label: OpenTable::new(),
            interned: Vec::new(),
            labels: OpenTable::new(),
            effort: Effort::default(),
        }
    }

    /// The label of a path that need not be interned.
    #[inline(always)]
    pub fn short_label(path: PathNumber) -> Option<u32> {
        (path < u64::from(INTERNED)).then_some(path as u32)
    }

    /// The label of a path, interned if it is long.
    #[inline]
    pub fn label(&mut self, path: PathNumber) -> u32 {
        Self::short_label(path).unwrap_or_else(|| self.intern(path))
    }

    /// The path that a label stands for.
    pub fn path(&self, label: u32) -> PathNumber {
        if label < INTERNED { u64::from(label) } else { self.interned[(label & !INTERNED) as usize] }
    }

    /// A node without parent, or nobody if the arena is full.
    pub fn add_root(&mut self, label: u32) -> Link {
        self.add(label, NIL, Slab::Upper)
    }

    /// The first child, if it has this label.
    #[inline(always)]
    pub fn hit(&self, parent: Link, label: u32) -> Option<Link> {
        let first = self.nodes[parent as usize].child;
        // Nobody's label never matches.
        (self.nodes[first as usize].label == label).then_some(first)
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
        let wide = self.wide.get(&parent).copied();
        let first = wide.unwrap_or(self.nodes[parent as usize].child);
        let added = if parent == NIL { NIL } else { self.add(label, first, slab) };
        if added == NIL {
            return NIL;
        }
        self.nodes[parent as usize].child = added;
        if wide.is_some() {
            *self.by_label.slot(wide_key(parent, label)) = added;
            self.wide.insert(parent, added);
        } else if siblings >= WIDE {
            self.widen(parent);
        }
        added
    }

    /// Adds to a node's counter.
    #[inline]
    pub fn add_count(&mut self, node: Link, amount: u64) {
        self.nodes[node as usize].count += amount;
    }

    /// A node's counter.
    pub fn count(&self, node: Link) -> u64 {
        self.nodes[node as usize].count
    }

    /// A node's place in the slabs. Nodes that were not given one are upper nodes.
    pub fn place(&self, node: Link) -> Place {
        self.places[node as usize]
    }

    /// Gives a new node its place.
    pub fn put(&mut self, node: Link, place: Place) {
        self.places[node as usize] = place;
    }

    /// Below which node the walk goes on from this one.
    pub fn onward(&self, node: Link) -> Link {
        let place = self.places[node as usize];
        if place.left == 0 { place.upper } else { node }
    }

    /// From this node the walk went on to a child of another's: there it looks first the next time.
    pub fn went_on(&mut self, node: Link, child: Link) {
        self.nodes[node as usize].child = child;
    }

    /// Where nodes are in memory, until one is added.
    pub fn address(&mut self) -> *mut u8 {
        self.nodes.as_mut_ptr().cast()
    }

    /// A node's label.
    pub fn label_of(&self, node: Link) -> u32 {
        self.nodes[node as usize].label
    }

    /// A node's children, in no order that means anything.
    pub fn children(&self, node: Link) -> impl Iterator<Item = Link> + '_ {
        let first = self.wide.get(&node).copied().unwrap_or(self.nodes[node as usize].child);
        let first = if self.sends_on(node) { NIL } else { first };
        let there = |link: Link| (link != NIL).then_some(link);
        std::iter::successors(there(first), move |&child| there(self.next[child as usize]))
    }

    /// Are there no children below this node because the walk goes on elsewhere.
    fn sends_on(&self, node: Link) -> bool {
        let place = self.places[node as usize];
        place.left == 0 && place.upper != node
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
        let wide = self.wide.len() * size_of::<(Link, Link)>() + self.by_label.bytes();
        let interned = self.interned.len() * size_of::<PathNumber>() + self.labels.bytes();
        self.nodes.len() * (size_of::<Node>() + size_of::<Link>() + size_of::<Place>()) + wide + interned
    }

    /// The look-up behind the first child.
    #[inline(never)]
    fn search_further(&mut self, parent: Link, label: u32) -> Result<Link, Siblings> {
        if self.wide.contains_key(&parent) {
            return self.search_wide(parent, label);
        }
        let first = self.nodes[parent as usize].child;
        self.effort.searches += 1;
        let (mut before, mut passed) = (first, 0);
        while before != NIL {
            passed += 1;
            let here = self.next[before as usize];
            if self.nodes[here as usize].label == label {
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
        if self.nodes[here as usize].count > self.nodes[first as usize].count {
            self.next[before as usize] = self.next[here as usize];
            self.next[here as usize] = first;
            self.nodes[parent as usize].child = here;
        } else if before != first {
            self.next[before as usize] = self.next[here as usize];
            self.next[here as usize] = self.next[first as usize];
            self.next[first as usize] = here;
        }
    }

    fn search_wide(&mut self, parent: Link, label: u32) -> Result<Link, Siblings> {
        self.effort.wide_lookups += 1;
        match self.by_label.get(wide_key(parent, label)) {
            NIL => Err(Siblings(WIDE)),
            found => {
                self.nodes[parent as usize].child = found;
                Ok(found)
            }
        }
    }

    #[cold]
    fn widen(&mut self, parent: Link) {
        let first = self.nodes[parent as usize].child;
        let children: Vec<Link> = self.children(parent).collect();
        for child in children {
            *self.by_label.slot(wide_key(parent, self.label_of(child))) = child;
        }
        self.wide.insert(parent, first);
    }

    fn add(&mut self, label: u32, next: Link, slab: Slab) -> Link {
        if self.used == self.limit {
            return NIL;
        }
        let free = &mut self.free[slab as usize];
        if free.start == free.end {
            let start = self.nodes.len();
            let end = start + BLOCK;
            self.nodes.resize(end, NOBODY);
            self.next.resize(end, NIL);
            self.places.resize(end, Place::default());
            *free = start as Link..(start + BLOCK) as Link;
        }
        let link = free.start;
        free.start += 1;
        self.used += 1;
        self.nodes[link as usize] = Node { label, child: NIL, count: 0 };
        self.next[link as usize] = next;
        self.places[link as usize] = Place { upper: link, left: 0 };
        link
    }

    #[cold]
    #[inline(never)]
    fn intern(&mut self, path: PathNumber) -> u32 {
        let number = self.labels.slot(path);
        if *number == 0 {
            self.interned.push(path);
            *number = u32::try_from(self.interned.len()).expect("an arena has fewer labels than nodes");
        }
        INTERNED | (*number - 1)
    }
}

/// The key of a wide node's child.
fn wide_key(parent: Link, label: u32) -> u64 {
    u64::from(parent) << 32 | u64::from(label)
}
