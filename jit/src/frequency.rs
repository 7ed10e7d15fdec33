//! How often each block runs for each time the region is entered, from the counts of its branches (Wu and Larus, "Static
//! Branch Frequency and Program Profile Analysis", 1994, section 5: from inner loops to outer ones, the probability to come
//! around once more gives how often a header runs).
//!
//! Where nothing was counted, ways are equally likely, but for back edges and for blocks that are marked cold. Cycles that
//! are no natural loops count as if they ran once.

use crate::ir::region::Shape;
use crate::ir::{BlockId, Region, Terminator};
use holloway_bytecode::cfg::{EdgeId, LoopId};
use smallvec::SmallVec;

/// No loop is thought to run more often than this: counts of loops that never ended say nothing of how long they last.
const MOST_TRIPS: f64 = 10_000.0;

/// The probability of a back edge of which nothing is known: ten rounds.
const BACK_EDGE: f64 = 0.9;

/// The probability of going to a cold block where nothing was counted.
const COLD: f64 = 0.001;

/// Frequencies of the blocks of a region.
pub struct Frequencies {
    blocks: Vec<f64>,
    edges: Vec<f64>,
}

impl Frequencies {
    /// Estimates the frequencies of a region with this shape, from its own counts.
    pub fn of(region: &Region, shape: &Shape) -> Frequencies {
        Frequencies::by(region, shape, &|block| counts(region, block))
    }

    /// The same from other counts: `counts` says how often the end of a block went each way, as [`counts`] does.
    pub fn by(region: &Region, shape: &Shape, counts: &dyn Fn(BlockId) -> Counts) -> Frequencies {
        let edges = probabilities(region, shape, counts);
        // For each loop, how many times its header runs for each time it is entered.
        let mut trips = vec![1.0; shape.loops.len()];
        for number in (0..shape.loops.len()).rev() {
            let id = LoopId(number as u32);
            let found = spread(region, shape, &edges, &trips, Some(id));
            let again: f64 = shape
                .loops
                .get(id)
                .back_edges
                .iter()
                .map(|&edge| found[shape.graph.source(edge).index()] * edges[edge.index()])
                .sum();
            trips[number] = 1.0 / (1.0 - again.min(1.0 - 1.0 / MOST_TRIPS));
        }
        Frequencies { blocks: spread(region, shape, &edges, &trips, None), edges }
    }

    /// How often an edge of the region's graph is taken.
    pub fn edge(&self, shape: &Shape, edge: EdgeId) -> f64 {
        self.block(shape.graph.source(edge)) * self.edges[edge.index()]
    }

    /// How often a block runs; 0 for blocks that cannot be reached.
    pub fn block(&self, block: BlockId) -> f64 {
        self.blocks[block.index()]
    }
}

/// The frequencies of the blocks of a loop for one run of its header, or of all blocks for one of the entry.
fn spread(region: &Region, shape: &Shape, edges: &[f64], trips: &[f64], inside: Option<LoopId>) -> Vec<f64> {
    let (graph, loops) = (&shape.graph, &shape.loops);
    let mut found = vec![0.0; region.blocks.len()];
    let (first, order) = match inside {
        Some(id) => (loops.get(id).header, loops.get(id).blocks.as_slice()),
        None => (Region::ENTRY, graph.reverse_postorder()),
    };
    for &block in order {
        if block == first && inside.is_some() {
            found[block.index()] = 1.0;
            continue;
        }
        let mut sum = if block == first { 1.0 } else { 0.0 };
        for &edge in graph.in_edges(block) {
            if graph.is_reachable(graph.source(edge)) && !graph.is_retreating(edge) {
                sum += found[graph.source(edge).index()] * edges[edge.index()];
            }
        }
        let runs = loops.headed_by(block).map_or(1.0, |id| trips[id.index()]);
        found[block.index()] = sum * runs;
    }
    found
}

/// How often the end of a block went each way.
pub type Counts = SmallVec<[f64; 2]>;

/// How often the end of a block went each way, as the region says: the cases of a switch in order, then its default.
/// Empty if there is only one way.
pub fn counts(region: &Region, block: BlockId) -> Counts {
    match &region.block(block).end {
        Terminator::Branch { counts, .. } => counts.iter().map(|&count| count as f64).collect(),
        Terminator::Switch { counts, .. } => counts.iter().map(|&count| count as f64).collect(),
        _ => Counts::new(),
    }
}

/// The probability of each edge of the graph, given that its source runs.
fn probabilities(region: &Region, shape: &Shape, counts: &dyn Fn(BlockId) -> Counts) -> Vec<f64> {
    let graph = &shape.graph;
    let mut edges = vec![1.0; graph.edge_count()];
    for block in region.block_ids() {
        let counts = counts(block);
        if counts.is_empty() {
            continue;
        }
        let total: f64 = counts.iter().sum();
        let weights: Counts = if total > 0.0 {
            counts
        } else {
            graph.out_edges(block).map(|edge| guess(region, shape, edge)).collect()
        };
        let total: f64 = weights.iter().sum();
        for (edge, weight) in graph.out_edges(block).zip(weights) {
            edges[edge.index()] = weight / total;
        }
    }
    edges
}

/// The weight of an edge about which nothing was counted.
fn guess(region: &Region, shape: &Shape, edge: EdgeId) -> f64 {
    let (graph, loops) = (&shape.graph, &shape.loops);
    let (from, to) = (graph.source(edge), graph.target(edge));
    if region.block(to).cold {
        return COLD;
    }
    // Staying in the innermost loop is as likely as its back edge.
    match loops.innermost(from) {
        Some(id) if loops.contains(id, to) => BACK_EDGE,
        Some(_) => 1.0 - BACK_EDGE,
        None => 1.0,
    }
}
