//! The P-DAG: what has to be kept of a plan to know what its numbers mean (PEP sections 3.2 and 3.3).
//!
//! A number is decoded greedily. At a node with remainder ρ the path goes along the edge with the greatest value ≤
//! ρ, which is subtracted; at EXIT ρ is 0. Right for any placement: the values of siblings are distinct, and the
//! numbers of paths along an edge are a range that starts at its value. Edges are kept sorted by value: O(length of
//! the path · log of the arms).
//!
//! The register of a path that is still being run decodes in the same way: every node has a way on to EXIT whose
//! values are all 0, so `r` is also the number of the path that goes that way, and what was run so far is its
//! beginning.

use super::path::{Begin, End, Path};
use super::plan::{Action, Plan};
use crate::ids::{Arm, BlockId, BranchArm, Edge, PathNumber, VersionId};
use serde::Serialize;

/// A node of a P-DAG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Where all paths begin.
    pub const ENTRY: Self = Self(0);
    /// Where all paths end.
    pub const EXIT: Self = Self(1);
}

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Place {
    /// The virtual ENTRY.
    Entry,
    /// The virtual EXIT.
    Exit,
    /// A block; of a cut block, the part up to its yieldpoint (h1 in the papers).
    Block(BlockId),
    /// The part of a cut block behind its yieldpoint (h2).
    Behind(BlockId),
}

/// What an edge stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum EdgeKind {
    /// Dummy: out of ENTRY.
    Begin(Begin),
    /// An edge of the graph; of merged parallel ones, the first.
    Real(Edge),
    /// Dummy: into EXIT. It may stand for a cut edge of the graph.
    End(End),
}

/// A node and its edges.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct DagNode {
    /// What it stands for.
    pub place: Place,
    /// The position of its first edge.
    first: u32,
}

/// An edge of a P-DAG.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct DagEdge {
    /// Where it leads.
    pub to: NodeId,
    /// What it adds to the path number.
    pub value: PathNumber,
    /// What it stands for.
    pub kind: EdgeKind,
    /// The outcome of the source branch that it is. `None` if it is none, and if it stands for merged edges that are
    /// different outcomes.
    pub branch: Option<BranchArm>,
    /// Has its block other ways to go on?
    pub is_branch: bool,
}

/// The meaning of the path numbers of one compiled version. It is written, not read: see [`Plan`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct PathDag {
    version: VersionId,
    paths: u64,
    /// ENTRY, EXIT, then the others in the order in which they are met; and a last one whose edges would come next.
    nodes: Vec<DagNode>,
    /// By node, then by value.
    edges: Vec<DagEdge>,
    /// Edges that are represented by an earlier arm of their block. Sorted.
    merged: Vec<(Edge, Edge)>,
}

impl PathDag {
    /// The record of a plan. `branch` says which outcome of a source branch an edge of the graph is.
    #[must_use]
    pub fn new(plan: &Plan, version: VersionId, branch: impl Fn(Edge) -> Option<BranchArm>) -> Self {
        let mut builder = Builder::new(plan, branch);
        builder.starts();
        let mut next = NodeId::EXIT.0 as usize;
        while let Some(&place) = builder.places.get(next) {
            builder.first.push(builder.edges.len());
            builder.edges_of(place);
            next += 1;
        }
        let Builder { places, first, edges, mut merged, .. } = builder;
        merged.sort_unstable();
        let index = |edges: usize| u32::try_from(edges).expect("fewer than 2^32 edges");
        let end = (Place::Exit, edges.len());
        let nodes = places.into_iter().zip(first).chain([end]);
        let nodes = nodes.map(|(place, first)| DagNode { place, first: index(first) }).collect();
        Self { version, paths: plan.paths(), nodes, edges, merged }
    }

    /// Whose numbers these are.
    #[must_use]
    pub fn version(&self) -> VersionId {
        self.version
    }

    /// How many paths there are: their numbers are `0..paths()`.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// The nodes. [`NodeId::ENTRY`] and [`NodeId::EXIT`] come first.
    #[must_use]
    pub fn nodes(&self) -> &[DagNode] {
        &self.nodes[..self.nodes.len() - 1]
    }

    /// What a node stands for.
    #[must_use]
    pub fn place(&self, node: NodeId) -> Place {
        self.nodes[node.0 as usize].place
    }

    /// The edges out of a node, by value. The first has the value 0.
    #[must_use]
    pub fn edges(&self, node: NodeId) -> &[DagEdge] {
        let node = node.0 as usize;
        &self.edges[self.nodes[node].first as usize..self.nodes[node + 1].first as usize]
    }

    /// The path with a number, `None` if there is none.
    #[must_use]
    pub fn decode(&self, number: PathNumber) -> Option<Path> {
        self.decode_to(number, Place::Exit)
    }

    /// The path that an activation has run so far when it stands in a block and its path register is `r`: up to and
    /// with that block, its end [`End::Open`]. At an instruction up to the yieldpoint of a cut block it is at
    /// [`Place::Block`], behind it at [`Place::Behind`]; in other blocks always at [`Place::Block`]. `None` if no
    /// path that goes there has this number so far.
    #[must_use]
    pub fn decode_partial(&self, r: PathNumber, at: Place) -> Option<Path> {
        let path = if matches!(at, Place::Entry | Place::Exit) { None } else { self.decode_to(r, at) }?;
        // What is left over when the block is reached was added on edges behind it: such a register cannot be seen
        // there.
        (self.encode(path.begin, &path.edges)? == r).then_some(path)
    }

    /// The path with a number up to a place that is on it.
    fn decode_to(&self, number: PathNumber, stop: Place) -> Option<Path> {
        if number >= self.paths {
            return None;
        }
        let mut path: Option<Path> = None;
        let (mut node, mut rest) = (NodeId::ENTRY, number);
        while node != NodeId::EXIT {
            let edges = self.edges(node);
            let edge = &edges[edges.partition_point(|edge| edge.value <= rest) - 1];
            rest -= edge.value;
            node = edge.to;
            self.follow(&mut path, edge);
            if self.place(node) == stop {
                return path;
            }
        }
        None
    }

    /// Makes a path longer by an edge.
    fn follow(&self, path: &mut Option<Path>, edge: &DagEdge) {
        let to = match self.place(edge.to) {
            Place::Block(block) | Place::Behind(block) => Some(block),
            Place::Entry | Place::Exit => None,
        };
        match (edge.kind, path, to) {
            (EdgeKind::Begin(begin), path, Some(block)) => *path = Some(Path::starting(begin, block)),
            (EdgeKind::Real(taken), Some(path), Some(block)) => {
                path.take(taken, edge.branch, edge.is_branch);
                path.blocks.push(block);
            }
            (EdgeKind::End(end), Some(path), _) => {
                if let End::BackEdge(taken) = end {
                    path.take(taken, edge.branch, edge.is_branch);
                }
                path.end = end;
            }
            _ => unreachable!("edges out of ENTRY begin paths, others continue them"),
        }
    }

    /// The number of the path that begins so and takes these edges; its end follows from them. If they stop before
    /// an end, it is the path register there. `None` if there is no such path. The inverse of
    /// [`decode`](Self::decode) and [`decode_partial`](Self::decode_partial).
    #[must_use]
    pub fn encode(&self, begin: Begin, edges: &[Edge]) -> Option<PathNumber> {
        let first = self.edges(NodeId::ENTRY).iter().find(|edge| edge.kind == EdgeKind::Begin(begin))?;
        let (mut number, mut node) = (first.value, first.to);
        for &edge in edges {
            let merged = self.merged.binary_search_by_key(&edge, |&(edge, _)| edge);
            let edge = merged.map_or(edge, |index| self.merged[index].1);
            let stands_for =
                |kind| kind == EdgeKind::Real(edge) || kind == EdgeKind::End(End::BackEdge(edge));
            let next = self.edges(node).iter().find(|next| stands_for(next.kind))?;
            number += next.value;
            node = next.to;
        }
        Some(number)
    }
}

/// A P-DAG while nodes are being met.
struct Builder<'p, B> {
    plan: &'p Plan,
    branch: B,
    places: Vec<Place>,
    /// By block: the nodes of the block, and of the part behind its cut.
    known: Vec<[Option<NodeId>; 2]>,
    first: Vec<usize>,
    edges: Vec<DagEdge>,
    merged: Vec<(Edge, Edge)>,
}

impl<'p, B: Fn(Edge) -> Option<BranchArm>> Builder<'p, B> {
    fn new(plan: &'p Plan, branch: B) -> Self {
        // About one node for each block, and two edges.
        let blocks = plan.edges.len();
        let mut places = Vec::with_capacity(blocks + 2);
        places.extend([Place::Entry, Place::Exit]);
        let mut first = Vec::with_capacity(blocks + 2);
        first.push(0);
        let edges = Vec::with_capacity(2 * blocks + 2);
        Self { plan, branch, places, known: vec![[None; 2]; blocks], first, edges, merged: Vec::new() }
    }

    /// The node of a place, which is made when it is met first.
    fn node(&mut self, place: Place) -> NodeId {
        let known = match place {
            Place::Entry => return NodeId::ENTRY,
            Place::Exit => return NodeId::EXIT,
            Place::Block(block) => &mut self.known[block.index()][0],
            Place::Behind(block) => &mut self.known[block.index()][1],
        };
        *known.get_or_insert_with(|| {
            self.places.push(place);
            NodeId(u32::try_from(self.places.len() - 1).expect("fewer than 2^32 nodes"))
        })
    }

    fn push(&mut self, to: Place, value: PathNumber, kind: EdgeKind) {
        let to = self.node(to);
        self.edges.push(DagEdge { to, value, kind, branch: None, is_branch: false });
    }

    /// The edges out of ENTRY.
    fn starts(&mut self) {
        let plan = self.plan;
        let mut starts = vec![(plan.start, Begin::Method, Place::Block(plan.entry))];
        starts.extend(plan.entries().map(|(block, value)| (value, Begin::Entry(block), Place::Block(block))));
        let behind = plan.cuts.iter();
        starts.extend(behind.map(|cut| (cut.begin, Begin::Cut(cut.block), Place::Behind(cut.block))));
        starts.extend(plan.cut_edges().map(|(edge, at)| {
            let target = plan.target(edge);
            (at.begin, Begin::Cut(target), Place::Block(target))
        }));
        starts.sort_unstable();
        starts.dedup();
        for (value, begin, to) in starts {
            self.push(to, value, EdgeKind::Begin(begin));
        }
    }

    /// The edges out of a node.
    fn edges_of(&mut self, place: Place) {
        let block = match place {
            Place::Entry | Place::Exit => return,
            Place::Block(block) if self.plan.cut(block).is_some() => {
                return self.push(Place::Exit, 0, EdgeKind::End(End::Cut(block)));
            }
            Place::Block(block) | Place::Behind(block) => block,
        };
        let arms = &self.plan.edges[block.index()];
        if arms.is_empty() {
            return self.push(Place::Exit, 0, EdgeKind::End(End::Exit(block)));
        }
        let value = |arm: usize| match arms[arm].1 {
            Action::Add(value) => value,
            Action::Break(at) => at.end,
        };
        let mut order: Vec<usize> = (0..arms.len()).collect();
        order.sort_by_key(|&arm| value(arm));
        // Siblings have different values unless they are merged.
        let groups = order.chunk_by(|&a, &b| value(a) == value(b));
        let is_branch = groups.clone().count() > 1;
        for group in groups {
            let edge = |arm: usize| Edge { from: block, arm: Arm::new(arm) };
            let representative = edge(group[0]);
            let mut branch = (self.branch)(representative);
            for &arm in &group[1..] {
                self.merged.push((edge(arm), representative));
                branch = branch.filter(|&branch| (self.branch)(edge(arm)) == Some(branch));
            }
            let (target, action) = arms[group[0]];
            let (to, kind) = match action {
                Action::Add(_) => (self.node(Place::Block(target)), EdgeKind::Real(representative)),
                Action::Break(_) => (NodeId::EXIT, EdgeKind::End(End::BackEdge(representative))),
            };
            self.edges.push(DagEdge { to, value: value(group[0]), kind, branch, is_branch });
        }
    }
}
