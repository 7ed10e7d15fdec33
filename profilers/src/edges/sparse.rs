//! Counters on few edges, from which the counts of the others follow.
//!
//! What flows into a block flows out of it. So edges of a spanning tree need no counters: their counts are what is missing
//! in the balance of their ends. The tree takes the edges that are expected to run most. Knuth, "The Art of Computer
//! Programming" I, 2.3.4.1; Ball and Larus, "Optimally Profiling and Tracing Programs", TOPLAS 16(4), 1994.
//!
//! A virtual block closes the flow: control comes from it into the method and goes back to it at a normal end. An
//! activation may also end in the middle of a block (an error, a deoptimization, the end of the program). Whoever ends it
//! so knows the block, and counts: [`SparseCounters::solve`] takes these counts as given.

use crate::graph::ControlFlow;
use crate::ids::{BlockId, Edge};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// A place that may have a counter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// Where the method is entered at this block, from outside.
    Enter(BlockId),
    /// An edge.
    Edge(Edge),
    /// The normal end of an activation in this block.
    End(BlockId),
}

/// A place as an edge of the closed graph.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Link {
    from: usize,
    to: usize,
    place: Place,
    /// Its count is asked for.
    wanted: bool,
}

/// Which places of a method have counters, and how the rest follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SparseCounters {
    nodes: usize,
    links: Vec<Link>,
    /// Links with a counter, in the order of the counters.
    counted: Vec<usize>,
    /// Links of the tree, each with the node that it connects, in an order in which all other links of that node are known.
    derived: Vec<(usize, usize)>,
}

impl SparseCounters {
    /// Chooses the places. `ends` says which blocks without successors end an activation normally, `wanted` whose counts are
    /// asked for, and `weight` how often an edge is expected to run; what costs more to count may weigh more. What a method is
    /// entered by has the greatest weight. O(edges x log edges).
    pub fn new<F: ControlFlow + ?Sized>(
        flow: &F,
        ends: impl Fn(BlockId) -> bool,
        weight: impl Fn(Edge) -> u64,
        wanted: impl Fn(Edge) -> bool,
    ) -> Self {
        let outside = flow.blocks();
        let mut links = Vec::new();
        let mut weights = Vec::new();
        let mut runs = vec![0u64; flow.blocks()];
        for &entry in [flow.entry()].iter().chain(flow.entries()) {
            let place = Place::Enter(entry);
            links.push(Link { from: outside, to: entry.index(), place, wanted: false });
            weights.push(u64::MAX);
        }
        for from in (0..flow.blocks()).map(BlockId::new) {
            for (arm, to) in flow.successors(from).iter().enumerate() {
                let edge = Edge { from, arm: crate::Arm::new(arm) };
                let (place, wanted) = (Place::Edge(edge), wanted(edge));
                links.push(Link { from: from.index(), to: to.index(), place, wanted });
                weights.push(weight(edge));
                runs[to.index()] = runs[to.index()].saturating_add(weight(edge));
            }
        }
        for block in (0..flow.blocks()).map(BlockId::new) {
            if flow.successors(block).is_empty() && ends(block) {
                let place = Place::End(block);
                links.push(Link { from: block.index(), to: outside, place, wanted: false });
                weights.push(runs[block.index()]);
            }
        }
        Self::of(outside + 1, links, &weights)
    }

    fn of(nodes: usize, links: Vec<Link>, weights: &[u64]) -> Self {
        let mut order: Vec<usize> = (0..links.len()).collect();
        order.sort_by_key(|&link| Reverse(weights[link]));
        let mut connected = Sets::new(nodes);
        let (mut tree, mut others) = (Vec::new(), Vec::new());
        for link in order {
            let is_new = connected.join(links[link].from, links[link].to);
            if is_new {
                tree.push(link)
            } else {
                others.push(link)
            };
        }
        // A link outside of the tree matters for those on the way through the tree between its ends, which has one that is
        // wanted if without these the ends are not connected.
        let mut unwanted = Sets::new(nodes);
        for link in tree.iter().map(|&link| &links[link]).filter(|link| !link.wanted) {
            unwanted.join(link.from, link.to);
        }
        others.retain(|&link| {
            let Link { from, to, wanted, .. } = links[link];
            wanted || unwanted.find(from) != unwanted.find(to)
        });
        others.sort_unstable();
        let derived = leaves_first(nodes, &links, &tree);
        Self { nodes, links, counted: others, derived }
    }

    /// How many counters are needed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counted.len()
    }

    /// Are none needed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counted.is_empty()
    }

    /// The places of the counters, in their order.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.counted.iter().map(|&link| self.links[link].place)
    }

    /// The counts of the wanted edges, in the order of the edges: from what the counters say, and from how many activations ended
    /// in the middle of each block.
    #[must_use]
    pub fn solve(&self, counters: &[u64], ended: &[u64]) -> Vec<(Edge, u64)> {
        let mut counts = vec![0u64; self.links.len()];
        // What came into a node more often than it went out, by the links that are known.
        let mut surplus = vec![0i64; self.nodes];
        let outside = self.nodes - 1;
        for (block, &ended) in ended.iter().enumerate().take(outside) {
            surplus[block] -= ended as i64;
            surplus[outside] += ended as i64;
        }
        for (&link, &count) in self.counted.iter().zip(counters) {
            counts[link] = count;
            surplus[self.links[link].from] -= count as i64;
            surplus[self.links[link].to] += count as i64;
        }
        for &(link, node) in &self.derived {
            let Link { from, to, .. } = self.links[link];
            let count = if to == node { -surplus[node] } else { surplus[node] };
            counts[link] = u64::try_from(count).unwrap_or(0);
            surplus[from] -= count;
            surplus[to] += count;
        }
        let wanted = self.links.iter().zip(counts).filter(|(link, _)| link.wanted);
        wanted
            .filter_map(|(link, count)| match link.place {
                Place::Edge(edge) => Some((edge, count)),
                Place::Enter(_) | Place::End(_) => None,
            })
            .collect()
    }
}

/// The links of a forest, each with the node that is further from the root: those of leaves first.
fn leaves_first(nodes: usize, links: &[Link], tree: &[usize]) -> Vec<(usize, usize)> {
    let mut touching = vec![Vec::new(); nodes];
    for &link in tree {
        touching[links[link].from].push(link);
        touching[links[link].to].push(link);
    }
    let mut derived = Vec::with_capacity(tree.len());
    let mut seen = vec![false; nodes];
    let mut queue = VecDeque::new();
    // The virtual block first: its own balance is that of all others and is not needed.
    for root in (0..nodes).rev() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        queue.push_back(root);
        while let Some(node) = queue.pop_front() {
            for &link in &touching[node] {
                let other = if links[link].from == node { links[link].to } else { links[link].from };
                if !std::mem::replace(&mut seen[other], true) {
                    derived.push((link, other));
                    queue.push_back(other);
                }
            }
        }
    }
    derived.reverse();
    derived
}

/// Disjoint sets of nodes.
struct Sets(Vec<usize>);

impl Sets {
    fn new(nodes: usize) -> Self {
        Self((0..nodes).collect())
    }

    fn find(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    /// Makes two sets one. False if they are already.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one] = other;
        one != other
    }
}
