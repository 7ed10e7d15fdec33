//! Values for edges (PEP section 3.1, figure 2, and section 3.4, figure 4).
//!
//! In the order in which the search of `cuts` finished: paths(EXIT) = 1; elsewhere the edges out of a block get the
//! running total as value, in the order that the placement asks for, and the total grows by the paths of the
//! target. The dummy t→EXIT of a cut edge takes part at the place of its arm, with the frequency of the edge it
//! stands for; so does, as the only edge of its part, that of a cut block. Values of siblings differ because every
//! block has at least one path.
//!
//! ENTRY is a node of its own, so that a method may begin with a loop header. Its edges are, in source order: to
//! each place where cuts begin paths, by block; to the further entries, by block; to the method's entry. With a
//! placement by frequency they are sorted like others, though none of them costs more than any other: a value of
//! such an edge is what `r` is set to.
//!
//! Deviation: frequencies of blocks are not given but derived from those of edges, as the greater of what comes in
//! and what goes out; how often the method is entered is what goes out of its first block but did not come in.
//! O(edges · log of the greatest number of arms); more only where `limit` has to cut.

use super::cuts::{Cut, Cuts};
use super::limit::{self, GREATEST_LIMIT};
use super::path::Begin;
use super::plan::{Action, CutBlock, Options, PathBreak, Placement, Plan, PlanError, Why};
use crate::graph::ControlFlow;
use crate::ids::{Arm, BlockId, Edge, PathNumber};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// The passes by which a plan is made (PEP section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// The graph without cycles, P-DAG.
    Graph,
    /// Its paths, counted and numbered.
    Numbering,
}

/// The graph without cycles, before it has values.
pub(super) struct Shape {
    /// Reachable blocks; what can follow a block on a path comes before it.
    pub order: Vec<BlockId>,
    /// By block: the ways to go on, none for exits and for blocks that cannot be reached.
    pub ways: Vec<Arms<Way>>,
    /// By block: is it cut, and why.
    pub cuts: Vec<Option<Why>>,
    /// By block: how often it is run.
    pub frequency: Vec<u64>,
    /// Where paths may begin if they do not behind a cut: the method's entry and further ones.
    pub arrivals: Vec<BlockId>,
}

/// An edge, or several parallel ones that are treated as one.
pub(super) struct Way {
    pub target: BlockId,
    /// Was it retreating, in back-edge mode? Then it is cut unless its target is a cut block.
    pub retreating: bool,
    pub frequency: u64,
}

impl Shape {
    /// The number of paths that begin at the top of a block, from that of the part behind its cut if it has one.
    pub fn paths_at_top(&self, paths: &[u64], block: BlockId) -> u64 {
        if self.cuts[block.index()].is_some() { 1 } else { paths[block.index()] }
    }

    /// Does this way end the path before its target?
    pub fn breaks(&self, way: &Way) -> bool {
        way.retreating && self.cuts[way.target.index()].is_none()
    }

    /// The paths that go this way, from the paths of targets.
    pub fn along(&self, paths: &[u64], way: &Way) -> u64 {
        if self.breaks(way) { 1 } else { self.paths_at_top(paths, way.target) }
    }
}

/// Which way each arm of each block is: several arms are one way if parallel edges are merged.
type WayOfArm = Vec<Arms<usize>>;

/// One for each arm of a block, which mostly has no more than two.
pub(super) type Arms<T> = SmallVec<[T; 2]>;

impl Plan {
    /// A plan for a graph. The frequencies of edges are those of whatever profile there is when the code is
    /// compiled, or 0 for all (`|_| 0`), which gives smart placement the order of the arms. Wrong frequencies make
    /// slower code, never wrong numbers.
    ///
    /// # Errors
    ///
    /// If the limit is out of its range or a block to be cut does not exist.
    pub fn new(
        flow: &impl ControlFlow,
        options: &Options,
        frequency: impl Fn(Edge) -> u64,
    ) -> Result<Self, PlanError> {
        Self::watched(flow, options, frequency, |_| {})
    }

    /// The same, and `passed` is told of each pass when it is over: who wants to know how long each takes, has a clock.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn watched(
        flow: &impl ControlFlow,
        options: &Options,
        frequency: impl Fn(Edge) -> u64,
        mut passed: impl FnMut(Pass),
    ) -> Result<Self, PlanError> {
        if !(1..=GREATEST_LIMIT).contains(&options.limit) {
            return Err(PlanError::Limit(options.limit));
        }
        if let Cut::Blocks(blocks) = &options.cut
            && let Some(&block) = blocks.iter().find(|block| block.index() >= flow.blocks())
        {
            return Err(PlanError::UnknownBlock { block, blocks: flow.blocks() });
        }
        let (mut shape, way_of_arm) = shape(flow, options, frequency);
        passed(Pass::Graph);
        let paths = limit::count(&mut shape, options.limit);
        let plan = number(flow, options, &shape, &way_of_arm, &paths);
        passed(Pass::Numbering);
        Ok(plan)
    }
}

/// The graph without cycles.
fn shape(flow: &impl ControlFlow, options: &Options, frequency: impl Fn(Edge) -> u64) -> (Shape, WayOfArm) {
    let cuts = Cuts::new(flow, &options.cut);
    let (mut came, mut went) = (vec![0_u64; flow.blocks()], vec![0_u64; flow.blocks()]);
    let mut ways: Vec<Arms<Way>> = (0..flow.blocks()).map(|_| Arms::new()).collect();
    let mut way_of_arm: WayOfArm = vec![Arms::new(); flow.blocks()];
    let mut way_to: Vec<Option<usize>> = vec![None; flow.blocks()];
    for &from in &cuts.order {
        let (ways, way_of_arm) = (&mut ways[from.index()], &mut way_of_arm[from.index()]);
        for (arm, &target) in flow.successors(from).iter().enumerate() {
            let edge = Edge { from, arm: Arm::new(arm) };
            let frequency = frequency(edge);
            came[target.index()] = came[target.index()].saturating_add(frequency);
            went[from.index()] = went[from.index()].saturating_add(frequency);
            let known = if options.merge_parallel { way_to[target.index()] } else { None };
            let way = known.unwrap_or(ways.len());
            match known {
                Some(way) => ways[way].frequency = ways[way].frequency.saturating_add(frequency),
                None => {
                    let retreating = cuts.edges.binary_search(&edge).is_ok();
                    ways.push(Way { target, retreating, frequency });
                }
            }
            way_to[target.index()] = Some(way);
            way_of_arm.push(way);
        }
        flow.successors(from).iter().for_each(|target| way_to[target.index()] = None);
    }
    let frequency = came.iter().zip(&went).map(|(&came, &went)| came.max(went)).collect();
    let arrivals = [flow.entry()].into_iter().chain(entries(flow)).collect();
    (Shape { order: cuts.order, ways, cuts: cuts.blocks, frequency, arrivals }, way_of_arm)
}

/// The further entries, each once, by block.
fn entries(flow: &impl ControlFlow) -> Vec<BlockId> {
    let mut entries = flow.entries().to_vec();
    entries.sort_unstable();
    entries.dedup();
    entries
}

/// The values, in the order that the placement asks for, of edges that have this frequency and so many paths.
fn assign(edges: &[(u64, u64)], placement: Placement) -> (Arms<PathNumber>, u64) {
    let mut order: Arms<usize> = (0..edges.len()).collect();
    match placement {
        Placement::Naive => {}
        Placement::Smart => order.sort_by_key(|&edge| Reverse(edges[edge].0)),
        Placement::Hot => order.sort_by_key(|&edge| edges[edge].0),
    }
    let mut values = Arms::from_elem(0, edges.len());
    let mut total = 0_u64;
    for edge in order {
        values[edge] = total;
        total += edges[edge].1;
    }
    (values, total)
}

/// Gives every edge its value.
fn number(
    flow: &impl ControlFlow,
    options: &Options,
    shape: &Shape,
    way_of_arm: &WayOfArm,
    paths: &[u64],
) -> Plan {
    let starts = starts(flow, shape);
    let weights: Vec<(u64, u64)> =
        starts.iter().map(|start| (start.frequency, start.paths(shape, paths))).collect();
    let (start_values, total) = assign(&weights, options.placement);

    let mut begin_at = vec![0; flow.blocks()];
    let (mut start, mut entries, mut cuts) = (0, Vec::new(), Vec::new());
    for (&Start { begin, .. }, &value) in starts.iter().zip(&start_values) {
        match begin {
            Begin::Method => start = value,
            Begin::Entry(block) => entries.push((block, value)),
            Begin::Cut(block) => {
                begin_at[block.index()] = value;
                cuts.extend(shape.cuts[block.index()].map(|why| CutBlock { block, begin: value, why }));
            }
        }
    }

    let unreachable = |&target: &BlockId| (target, Action::Add(0));
    let mut edges: Vec<Arms<(BlockId, Action)>> = (0..flow.blocks())
        .map(|block| flow.successors(BlockId::new(block)).iter().map(unreachable).collect())
        .collect();
    for block in &shape.order {
        let ways = &shape.ways[block.index()];
        let weights: Arms<(u64, u64)> =
            ways.iter().map(|way| (way.frequency, shape.along(paths, way))).collect();
        let (values, _) = assign(&weights, options.placement);
        for ((target, action), &way) in edges[block.index()].iter_mut().zip(&way_of_arm[block.index()]) {
            *action = if shape.breaks(&ways[way]) {
                Action::Break(PathBreak { end: values[way], begin: begin_at[target.index()] })
            } else {
                Action::Add(values[way])
            };
        }
    }
    Plan { paths: total, entry: flow.entry(), start, entries, edges, cuts, merged: options.merge_parallel }
}

/// An edge out of ENTRY.
struct Start {
    begin: Begin,
    block: BlockId,
    frequency: u64,
}

impl Start {
    fn paths(&self, shape: &Shape, paths: &[u64]) -> u64 {
        match self.begin {
            Begin::Cut(block) => paths[block.index()],
            Begin::Method | Begin::Entry(_) => shape.paths_at_top(paths, self.block),
        }
    }
}

/// The edges out of ENTRY in source order.
fn starts(flow: &impl ControlFlow, shape: &Shape) -> Vec<Start> {
    let mut came = vec![0_u64; flow.blocks()];
    let mut broken = vec![None; flow.blocks()];
    for way in shape.ways.iter().flatten() {
        let target = way.target.index();
        came[target] = came[target].saturating_add(way.frequency);
        if shape.breaks(way) {
            broken[target] = Some(broken[target].unwrap_or(0_u64).saturating_add(way.frequency));
        }
    }
    for &block in &shape.order {
        if shape.cuts[block.index()].is_some() {
            broken[block.index()] = Some(shape.frequency[block.index()]);
        }
    }
    let begins_behind = broken.iter().enumerate().filter_map(|(block, &frequency)| {
        let block = BlockId::new(block);
        frequency.map(|frequency| Start { begin: Begin::Cut(block), block, frequency })
    });
    let entered = |block: BlockId| shape.frequency[block.index()].saturating_sub(came[block.index()]);
    let arrive = |block| Start { begin: Begin::Entry(block), block, frequency: entered(block) };
    let entry = flow.entry();
    let enter = Start { begin: Begin::Method, block: entry, frequency: entered(entry) };
    begins_behind.chain(entries(flow).into_iter().map(arrive)).chain([enter]).collect()
}
