//! Nodes of tries in one block of memory, linked by numbers.
//!
//! First child, next sibling, as in D'Elia & Demetrescu 2013, sec. 5.3. Their outliers were slow because sibling lists
//! were long (58.8 steps on average for eclipse) and nodes were scattered; we depart in six ways:
//!
//! * Links are 32-bit numbers into arrays that only grow. What the frequent step needs of a node is 16 bytes, four nodes share
//!   a cache line; what it does not need is in arrays of its own.
//! * A label is where the link is that leads to its node ([`Edge`]), not in the node: a node with another label is passed without being
//!   touched, and whether the first child is the one is known before it is there.
//! * Lists order themselves. The first child is the most frequent one: with the latest in its place, as the paper
//!   suggests, children that alternate would swap at each step, and no branch of the look-up could be predicted. Each time that a child's
//!   counter has grown by [`PATIENCE`] it is compared with the first one's. Behind
//!   that a child that is found moves to the second place, so that what is frequent now is near the front after a change
//!   of behaviour as well.
//! * The children of a node with more than [`WIDE`] of them are in a hash table as well. Its child link then is the
//!   child that was found last.
//! * Nodes of the upper and of the lower slab lie in blocks of their own: a walk in the steady state is along lower
//!   nodes only, and finds them side by side in the order in which they were made.
//! * Labels are 32 bits wide: those from 2^31 are numbers of an interned table.
//!
//! Node 0 is nobody: the end of each list, without children; what leads to it has a label that no path has. When the arena is full,
//! look-ups that would add a node yield it.
//!
//! A look-up that hits the first child ([`Arena::hit`]) is a load and a comparison, which compiled code may do by
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

/// How much a child's counter grows until it is asked whether the child should be the first: a power of two.
const PATIENCE: u64 = 8;

/// Marks a label as the number of an interned path.
const INTERNED: u32 = 1 << 31;

/// Nodes of one kind that lie side by side.
const BLOCK: usize = 64;

/// Which slab a new node is in, and with whom it is kept together in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slab {
    /// Nodes that are walked along in the first chunk of an invocation, and when nodes are added.
    Upper,
    /// Nodes that are walked along from then on: with its tau, the upper node of the same chunk.
    Lower(Link),
}

/// A link with the label of the node to which it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Edge {
    pub label: u32,
    pub to: Link,
}

impl Edge {
    /// The end of a list: no path has its label.
    const NONE: Edge = Edge { label: u32::MAX, to: NIL };
}

#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Node {
    /// To the first child; of a wide node, to the one that was found last; of a node that sends on, to the one below the other to which it did last.
    child: Edge,
    /// The counter in the low bits, above it how many items of the chunk come after this one, and in the highest whether the node is wide.
    count: u64,
}

impl Node {
    /// Where the counter ends: nobody counts so far.
    const LEFT: u32 = 53;
    const COUNTER: u64 = (1 << Self::LEFT) - 1;
    const IS_WIDE: u64 = 1 << 63;

    fn counter(&self) -> u64 {
        self.count & Self::COUNTER
    }

    fn left(&self) -> u32 {
        ((self.count & !Self::IS_WIDE) >> Self::LEFT) as u32
    }

    fn is_wide(&self) -> bool {
        self.count & Self::IS_WIDE != 0
    }
}

/// Where in memory the parts of a node are, for compiled code that takes the frequent step by itself: to the child of
/// the node where it was, if its label is the number of the path that has ended, and counts there. Node 0 has no child, and
/// a node without children has a label there that is not the number of a path.
#[derive(Debug, Clone, Copy)]
pub struct NodeLayout;

impl NodeLayout {
    /// The logarithm of the bytes of a node.
    pub const SHIFT: u32 = size_of::<Node>().trailing_zeros();
    /// 32 bits: the label of the child, which is the number of a path if it is less than [`NodeLayout::LABELS`].
    pub const LABEL: usize = offset_of!(Node, child) + offset_of!(Edge, label);
    /// 32 bits: the child's number.
    pub const CHILD: usize = offset_of!(Node, child) + offset_of!(Edge, to);
    /// 64 bits, to which one may be added. The counter is in the low ones.
    pub const COUNT: usize = offset_of!(Node, count);
    /// Labels that are not numbers of paths begin here.
    pub const LABELS: u64 = INTERNED as u64;
    /// Each time that a counter is a multiple of this power of two, it should be left to [`super::Forest::path_for_code`] to step to a node that
    /// is not the first child: it may be more frequent than that.
    pub const PATIENCE: u64 = 256;
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
const NOBODY: Node = Node { child: Edge::NONE, count: 0 };

const _: () = assert!(size_of::<Node>().is_power_of_two() && NodeLayout::PATIENCE.is_multiple_of(PATIENCE));

/// How many children were passed in vain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Siblings(u32);

/// A growing set of tries.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    /// In blocks of one slab each.
    nodes: Vec<Node>,
    /// From each node to the next with the same parent.
    next: Vec<Edge>,
    /// Of each node its tau, which is itself if it is in the upper slab.
    upper: Vec<Link>,
    /// What is left of the latest block of each slab.
    free: [Range<Link>; 2],
    used: usize,
    /// How large `used` may get.
    limit: usize,
    /// Nodes with many children, and the heads of their lists.
    wide: Map<Link, Edge>,
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
    /// The most items that can come after a node in its chunk.
    pub const MOST_LEFT: u32 = (Node::IS_WIDE >> Node::LEFT) as u32 - 1;

    /// No nodes; look-ups add up to `limit` of them.
    pub fn new(limit: usize) -> Self {
        Self {
            nodes: vec![NOBODY],
            next: vec![Edge::NONE],
            upper: vec![NIL],
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

    /// A node without parent, or nobody if the arena is full. Its label is the caller's to know.
    pub fn add_root(&mut self, left: u32) -> Link {
        self.add(Edge::NONE, Slab::Upper, left)
    }

    /// The first child, if it has this label.
    #[inline(always)]
    pub fn hit(&self, parent: Link, label: u32) -> Option<Link> {
        let child = self.nodes[parent as usize].child;
        (child.label == label).then_some(child.to)
    }

    /// The child with this label, which is added if there is none.
    pub fn child(&mut self, parent: Link, label: u32) -> Link {
        match self.search(parent, label) {
            Ok(child) => child,
            Err(siblings) => self.add_child(parent, label, siblings, Slab::Upper, 0),
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

    /// Adds a child after a search has not found it, after which so many items are left of its chunk. Nobody if the arena is full.
    pub fn add_child(
        &mut self,
        parent: Link,
        label: u32,
        Siblings(siblings): Siblings,
        slab: Slab,
        left: u32,
    ) -> Link {
        let added = if parent == NIL { NIL } else { self.add(self.head(parent), slab, left) };
        if added == NIL {
            return NIL;
        }
        let edge = Edge { label, to: added };
        let node = &mut self.nodes[parent as usize];
        node.child = edge;
        if node.is_wide() {
            *self.by_label.slot(wide_key(parent, label)) = added;
            self.wide.insert(parent, edge);
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
        self.nodes[node as usize].counter()
    }

    /// A node's tau: an upper node itself, of a lower node the upper node of the same chunk. Nobody if the node is not used yet.
    pub fn upper(&self, node: Link) -> Link {
        self.upper[node as usize]
    }

    /// How many items a node's chunk has after it. The walk goes on below a node, but below its tau if this is 0.
    pub fn left(&self, node: Link) -> u32 {
        self.nodes[node as usize].left()
    }

    /// Below which node the walk goes on from this one.
    pub fn onward(&self, node: Link) -> Link {
        if self.left(node) == 0 { self.upper(node) } else { node }
    }

    /// From this node the walk went on to a child of another's: there it looks first the next time, unless it went to a more frequent one before.
    pub fn went_on(&mut self, node: Link, child: Edge) {
        let before = self.nodes[node as usize].child.to;
        if before == NIL || self.overtakes(child.to, before) {
            self.nodes[node as usize].child = child;
        }
    }

    /// Where nodes are in memory, until one is added.
    pub fn address(&mut self) -> *mut u8 {
        self.nodes.as_mut_ptr().cast()
    }

    /// A node's children, in no order that means anything.
    pub fn children(&self, node: Link) -> impl Iterator<Item = Edge> + '_ {
        let first = if self.sends_on(node) { Edge::NONE } else { self.head(node) };
        let there = |edge: Edge| (edge.to != NIL).then_some(edge);
        std::iter::successors(there(first), move |child| there(self.next[child.to as usize]))
    }

    /// With which child the list begins, of a node that does not send on.
    fn head(&self, node: Link) -> Edge {
        let of = &self.nodes[node as usize];
        if of.is_wide() { self.wide[&node] } else { of.child }
    }

    /// Are there no children below this node because the walk goes on elsewhere.
    fn sends_on(&self, node: Link) -> bool {
        self.left(node) == 0 && self.upper(node) != node
    }

    /// A node's children by the paths they stand for.
    pub fn sorted_children(&self, node: Link) -> Vec<Edge> {
        let mut children: Vec<Edge> = self.children(node).collect();
        children.sort_unstable_by_key(|child| self.path(child.label));
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
        let wide = self.wide.len() * size_of::<(Link, Edge)>() + self.by_label.bytes();
        let interned = self.interned.len() * size_of::<PathNumber>() + self.labels.bytes();
        self.nodes.len() * (size_of::<Node>() + size_of::<Edge>() + size_of::<Link>()) + wide + interned
    }

    /// The look-up behind the first child.
    #[inline(never)]
    fn search_further(&mut self, parent: Link, label: u32) -> Result<Link, Siblings> {
        let node = &self.nodes[parent as usize];
        if node.is_wide() {
            return self.search_wide(parent, label);
        }
        self.effort.searches += 1;
        let (mut before, mut passed) = (node.child.to, 0);
        while before != NIL {
            passed += 1;
            let here = self.next[before as usize];
            if here.label == label {
                self.effort.steps += u64::from(passed);
                self.promote(parent, before, here);
                return Ok(here.to);
            }
            before = here.to;
        }
        self.effort.steps += u64::from(passed);
        Err(Siblings(passed))
    }

    /// Has this child's counter grown by [`PATIENCE`], and is larger than that of the first one.
    fn overtakes(&self, child: Link, first: Link) -> bool {
        let count = self.count(child);
        count != 0 && count.is_multiple_of(PATIENCE) && count > self.count(first)
    }

    /// Moves a child that was found behind others: to the front if it is the most frequent by now, else to the second
    /// place.
    fn promote(&mut self, parent: Link, before: Link, here: Edge) {
        let first = self.nodes[parent as usize].child;
        if self.overtakes(here.to, first.to) {
            self.next[before as usize] = self.next[here.to as usize];
            self.next[here.to as usize] = first;
            self.nodes[parent as usize].child = here;
        } else if before != first.to {
            self.next[before as usize] = self.next[here.to as usize];
            self.next[here.to as usize] = self.next[first.to as usize];
            self.next[first.to as usize] = here;
        }
    }

    fn search_wide(&mut self, parent: Link, label: u32) -> Result<Link, Siblings> {
        self.effort.wide_lookups += 1;
        match self.by_label.get(wide_key(parent, label)) {
            NIL => Err(Siblings(WIDE)),
            found => {
                self.nodes[parent as usize].child = Edge { label, to: found };
                Ok(found)
            }
        }
    }

    #[cold]
    fn widen(&mut self, parent: Link) {
        let children: Vec<Edge> = self.children(parent).collect();
        for child in children {
            *self.by_label.slot(wide_key(parent, child.label)) = child.to;
        }
        let node = &mut self.nodes[parent as usize];
        self.wide.insert(parent, node.child);
        node.count |= Node::IS_WIDE;
    }

    fn add(&mut self, next: Edge, slab: Slab, left: u32) -> Link {
        if self.used == self.limit {
            return NIL;
        }
        let free = &mut self.free[usize::from(slab != Slab::Upper)];
        if free.start == free.end {
            let start = self.nodes.len();
            let end = start + BLOCK;
            self.nodes.resize(end, NOBODY);
            self.next.resize(end, Edge::NONE);
            self.upper.resize(end, NIL);
            *free = start as Link..end as Link;
        }
        let link = free.start;
        free.start += 1;
        self.used += 1;
        self.nodes[link as usize].count = u64::from(left) << Node::LEFT;
        self.next[link as usize] = next;
        self.upper[link as usize] = match slab {
            Slab::Upper => link,
            Slab::Lower(upper) => upper,
        };
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
