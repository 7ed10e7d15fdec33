//! Counts that follow from few counters are those that one gets by counting everything: on random graphs, for random walks
//! which end anywhere.

mod btb_support;

use btb_support::{Rng, rng};
use holloway_profilers::edges::{Place, SparseCounters};
use holloway_profilers::{Arm, BlockId, ControlFlow, Edge, Graph};
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet};

fn edge(from: u32, arm: u32) -> Edge {
    Edge { from: BlockId(from), arm: Arm(arm) }
}

/// Walks with every place counted.
#[derive(Default)]
struct Walked {
    counts: BTreeMap<Place, u64>,
    ended: Vec<u64>,
}

impl Walked {
    fn count(&mut self, place: Place) {
        *self.counts.entry(place).or_default() += 1;
    }

    /// An activation: up to so many blocks, and with this chance it ends in the middle of each.
    fn walk(&mut self, random: &mut Rng, graph: &Graph, ends: &[bool], most: usize, chance: f64) {
        self.ended.resize(graph.blocks(), 0);
        let entries: Vec<BlockId> = [graph.entry()].iter().chain(graph.entries()).copied().collect();
        let mut block = entries[random.random_range(0..entries.len())];
        self.count(Place::Enter(block));
        for _ in 0..most {
            if random.random_bool(chance) {
                break;
            }
            let successors = graph.successors(block);
            if successors.is_empty() {
                if !ends[block.index()] {
                    break;
                }
                return self.count(Place::End(block));
            }
            // Early arms are taken more often, as in programs.
            let arm = random.random_range(0..successors.len()).min(random.random_range(0..successors.len()));
            self.count(Place::Edge(Edge { from: block, arm: Arm::new(arm) }));
            block = successors[arm];
        }
        self.ended[block.index()] += 1;
    }

    fn of(&self, place: Place) -> u64 {
        self.counts.get(&place).copied().unwrap_or(0)
    }
}

/// A graph of up to 20 blocks in which each entry is there once.
fn random_graph(random: &mut Rng) -> Graph {
    let graph = btb_support::random_graph(random, 20);
    let entries: BTreeSet<BlockId> = graph.entries().iter().copied().collect();
    let others = entries.into_iter().filter(|&entry| entry != graph.entry()).collect();
    graph.with_entries(others)
}

#[test]
fn random_walks_are_counted() {
    let (mut counters, mut edges) = (0, 0);
    for seed in 0..20_000 {
        let mut random = rng(seed);
        let graph = random_graph(&mut random);
        let ends: Vec<bool> = (0..graph.blocks()).map(|_| random.random_bool(0.7)).collect();
        let weights: Vec<u64> = (0..64).map(|_| random.random_range(0..1000)).collect();
        let share = [0.3, 1.0][random.random_range(0..2usize)];
        let wanted: Vec<bool> = (0..64).map(|_| random.random_bool(share)).collect();
        let index = |edge: Edge| (edge.from.index() * 3 + edge.arm.index()) % 64;
        let sparse = SparseCounters::new(
            &graph,
            |block| ends[block.index()],
            |edge| weights[index(edge)],
            |edge| wanted[index(edge)],
        );
        let mut walked = Walked::default();
        let chance = [0.0, 0.05, 0.3][random.random_range(0..3usize)];
        for _ in 0..random.random_range(1..10) {
            walked.walk(&mut random, &graph, &ends, 60, chance);
        }
        let counts: Vec<u64> = sparse.places().map(|place| walked.of(place)).collect();
        let found = sparse.solve(&counts, &walked.ended);
        let all = (0..graph.blocks() as u32).flat_map(|from| {
            (0..graph.successors(BlockId(from)).len() as u32).map(move |arm| edge(from, arm))
        });
        let expected: Vec<(Edge, u64)> = all
            .filter(|&edge| wanted[index(edge)])
            .map(|edge| (edge, walked.of(Place::Edge(edge))))
            .collect();
        assert_eq!(found, expected, "seed {seed}: {graph:?}");
        counters += counts.len();
        edges += expected.len();
    }
    assert!(counters * 10 < edges * 9, "{counters} counters for {edges} edges");
}

/// A loop with a diamond: one counter for the loop and one for the arm that runs less; what runs once is not counted.
#[test]
fn a_loop_and_its_rarer_arm() {
    let graph = Graph::new(&[&[1], &[2, 5], &[3, 4], &[1], &[1], &[]]);
    let weights = BTreeMap::from([
        (edge(0, 0), 1),
        (edge(1, 0), 99),
        (edge(1, 1), 1),
        (edge(2, 0), 90),
        (edge(2, 1), 9),
        (edge(3, 0), 90),
        (edge(4, 0), 9),
    ]);
    let is_branch = |edge: Edge| matches!(edge.from.0, 1 | 2);
    let sparse = SparseCounters::new(&graph, |_| true, |edge| weights[&edge], is_branch);
    let places: Vec<Place> = sparse.places().collect();
    let expected_weight: u64 = places
        .iter()
        .map(|place| match place {
            Place::Edge(edge) => weights[edge],
            _ => 1,
        })
        .sum();
    assert_eq!(places.len(), 3, "{places:?}");
    assert_eq!(expected_weight, 90 + 9 + 1, "{places:?}");
}

/// What is nobody's branch needs no counter, even in a loop.
#[test]
fn nothing_wanted_nothing_counted() {
    let graph = Graph::new(&[&[1], &[1, 2], &[]]);
    let sparse = SparseCounters::new(&graph, |_| true, |_| 1, |_| false);
    assert!(sparse.is_empty());
    assert!(sparse.solve(&[], &[0; 3]).is_empty());
}
