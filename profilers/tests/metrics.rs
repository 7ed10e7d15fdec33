//! The metrics: worked examples of the papers and of their notes, and random profiles against the definitions written
//! out with exact fractions.

use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::metrics::{
    Flow, Imbalance, Known, Share, Unsampled, absolute_overlap, footrule, hot, imbalances, overlap, ranking,
    recall, relative_error, relative_overlap, wall, z_score,
};
use holloway_profilers::{Arm, BlockId, BranchArm, BranchId, ControlFlow, Edge, Graph, MethodId};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::collections::BTreeMap;

type Counts = BTreeMap<&'static str, u64>;

fn close(value: Option<f64>, expected: f64) {
    let value = value.expect("the metric is defined");
    assert!((value - expected).abs() < 1e-12, "{value} instead of {expected}");
}

/// W-1: Wall's weight matching by branch flow and by counts.
#[test]
fn weight_matching() {
    let actual = Counts::from([("p1", 100), ("p2", 200), ("p3", 5), ("p4", 1)]);
    let estimate = Counts::from([("p1", 5), ("p2", 20), ("p3", 30)]);
    let branches = |path: &&str| match *path {
        "p1" => 3,
        "p3" => 2,
        _ => 1,
    };
    let share = Share::new(5, 100).unwrap();
    let by_branches = wall(&actual, &estimate, Flow::Branches, share, branches);
    assert_eq!(by_branches.hot, ["p1", "p2"]);
    assert_eq!(by_branches.selected, ["p3", "p2"]);
    assert_eq!((by_branches.matched_flow, by_branches.hot_flow, by_branches.total_flow), (200, 500, 511));
    assert_eq!(by_branches.accuracy(), Some(0.4));
    let by_counts = wall(&actual, &estimate, Flow::Counts, share, branches);
    assert_eq!((by_counts.matched_flow, by_counts.hot_flow), (200, 300));
    let scaled = actual.iter().map(|(&path, count)| (path, count * 7)).collect();
    assert_eq!(wall(&actual, &scaled, Flow::Branches, Share::HOT, branches).accuracy(), Some(1.0));
    assert_eq!(wall(&Counts::new(), &estimate, Flow::Counts, Share::HOT, branches).accuracy(), None);
}

/// The hot set is strictly above 1/800; equal estimates are taken by name; what was not sampled is never taken.
#[test]
fn thresholds_and_ties() {
    let counts = Counts::from([("a", 1), ("b", 2), ("c", 797)]);
    assert_eq!(hot(&counts, Flow::Counts, Share::HOT, |_| 1), ["c", "b"]);
    let even = Counts::from([("a", 4), ("b", 4), ("c", 4)]);
    let half = Share::new(1, 4).unwrap();
    let estimate = Counts::from([("c", 1), ("b", 1), ("x", 1), ("y", 9), ("z", 0)]);
    assert_eq!(wall(&even, &estimate, Flow::Counts, half, |_| 1).selected, ["y", "b", "c"]);
    let estimate = Counts::from([("a", 0), ("b", 1)]);
    assert_eq!(wall(&even, &estimate, Flow::Counts, half, |_| 1).selected, ["b"]);
    assert_eq!(Share::new(3, 2).unwrap_err().to_string(), "a share of 3/2: it must be in 0..=1");
}

fn branch(position: u32) -> BranchId {
    BranchId { method: MethodId(0), position }
}

fn edges(rows: &[(u32, &[u64])]) -> EdgeProfile {
    let mut profile = EdgeProfile::default();
    for &(position, arms) in rows {
        for (arm, &count) in arms.iter().enumerate() {
            profile.add(BranchArm { branch: branch(position), arm: Arm::new(arm) }, count);
        }
    }
    profile
}

/// R-1, with the fallbacks for a branch that was not sampled.
#[test]
fn overlap_of_biases() {
    let actual = edges(&[(1, &[90, 10]), (2, &[10, 40]), (3, &[0, 850])]);
    let estimate = edges(&[(1, &[8, 2]), (3, &[1, 99])]);
    let even = relative_overlap(&actual, &estimate, Unsampled::Even).unwrap();
    close(Some(even.overlap), 0.9665);
    close(Some(even.coverage), 0.95);
    let one_time = edges(&[(2, &[1, 3]), (3, &[1, 0])]);
    let fallback = relative_overlap(&actual, &estimate, Unsampled::AsIn(&one_time)).unwrap();
    close(Some(fallback.overlap), (100.0 * 0.9 + 50.0 * 0.95 + 850.0 * 0.99) / 1000.0);
    close(absolute_overlap(&actual, &estimate), 0.932_727_272_727_272_7);
    let flipped = relative_overlap(&actual, &actual.flipped(), Unsampled::Even).unwrap();
    close(Some(flipped.overlap), 0.04);
    assert_eq!(relative_overlap(&EdgeProfile::default(), &actual, Unsampled::Even), None);
    assert_eq!(absolute_overlap(&actual, &EdgeProfile::default()), None);
}

/// A switch, whose arms the sides may have seen in different numbers.
#[test]
fn overlap_of_switches() {
    let actual = edges(&[(1, &[50, 30, 20])]);
    let estimate = edges(&[(1, &[1, 1])]);
    let score = |actual, estimate| relative_overlap(actual, estimate, Unsampled::Even).unwrap().overlap;
    close(Some(score(&actual, &estimate)), 0.8);
    close(Some(score(&estimate, &actual)), 0.8);
    close(Some(score(&actual, &EdgeProfile::default())), 1.0 - (1.0 / 6.0 + 1.0 / 30.0 + 2.0 / 15.0) / 2.0);
}

/// D-1: call graphs, in shares.
#[test]
fn overlap_of_call_graphs() {
    let perfect = Counts::from([("M@c1>f", 500), ("M@c2>g", 500), ("g@c3>h", 250)]);
    assert_eq!(overlap(&perfect, &Counts::from([("M@c1>f", 90), ("g@c3>h", 10)])), Some(0.5));
    assert_eq!(
        overlap(&perfect, &Counts::from([("M@c1>f", 41), ("M@c2>g", 38), ("g@c3>h", 21)])),
        Some(0.98)
    );
    assert_eq!(overlap(&perfect, &perfect), Some(1.0));
    assert_eq!(overlap(&perfect, &Counts::new()), None);
}

/// Oren, Matias & Sagiv 2002, table 6: the sampled ranks of the true top five at six moments.
#[test]
fn rankings() {
    let ranks =
        [[2, 6, 1, 2, 2, 1], [3, 4, 2, 1, 1, 2], [1, 2, 3, 3, 3, 4], [4, 1, 8, 4, 4, 3], [5, 5, 7, 5, 5, 5]];
    let truth = [1, 2, 3, 4, 5];
    for (stop, (rule, found)) in
        [(4, 1.0), (11, 0.8), (6, 0.6), (2, 1.0), (2, 1.0), (2, 1.0)].into_iter().enumerate()
    {
        let mut sample = vec![0; 8];
        for (name, ranks) in truth.iter().zip(&ranks) {
            sample[ranks[stop] - 1] = *name;
        }
        assert_eq!((footrule(&truth, &sample), recall(&truth, &sample, 5)), (rule, Some(found)));
    }
    assert_eq!(footrule(&["a", "b"], &["c"]), 1, "what is missing ranks after the last");
    assert_eq!(ranking(&Counts::from([("a", 1), ("b", 7), ("c", 7)])), ["b", "c", "a"]);
    assert_eq!((recall(&["a"], &["a"], 0), recall(&["a"], &["b", "a"], 9)), (None, Some(1.0)));
    close(relative_error(90.0, 100.0), 0.1);
    close(z_score(109, 100.0), 0.9);
    assert_eq!((relative_error(1.0, 0.0), z_score(1, 0.0)), (None, None));
}

/// The definitions, written out naively with exact fractions where the library has integers or sorts.
#[test]
fn definitions() {
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..1000 {
        let mut counts = || -> BTreeMap<u32, u64> {
            (0..rng.random_range(1..12)).map(|_| (rng.random_range(0..10), rng.random_range(0..40))).collect()
        };
        let (actual, estimate) = (counts(), counts());
        let branches = |path: &u32| path % 4;
        let flow = |counts: &BTreeMap<u32, u64>, path: &u32| {
            counts.get(path).copied().unwrap_or(0) * u64::from(branches(path))
        };
        let total: u64 = actual.keys().map(|path| flow(&actual, path)).sum();
        let is_hot = |path: &u32| flow(&actual, path) * 10 > total;
        let size = actual.keys().filter(|path| is_hot(path)).count();
        // E: those with fewer than |H| better ones.
        let better = |path: &u32, other: &u32| {
            (flow(&estimate, other), std::cmp::Reverse(other))
                > (flow(&estimate, path), std::cmp::Reverse(path))
        };
        let in_e = |path: &u32| {
            flow(&estimate, path) > 0 && estimate.keys().filter(|other| better(path, other)).count() < size
        };
        let matched: u64 =
            actual.keys().filter(|path| is_hot(path) && in_e(path)).map(|p| flow(&actual, p)).sum();
        let result = wall(&actual, &estimate, Flow::Branches, Share::new(1, 10).unwrap(), branches);
        assert_eq!((result.matched_flow, result.total_flow), (u128::from(matched), u128::from(total)));
        assert_eq!(result.hot.len(), size);

        let share = |counts: &BTreeMap<u32, u64>, name| {
            counts.get(name).copied().unwrap_or(0) as f64 / counts.values().sum::<u64>() as f64
        };
        if let Some(value) = overlap(&actual, &estimate) {
            close(
                Some(value),
                actual.keys().map(|name| share(&actual, name).min(share(&estimate, name))).sum(),
            );
            assert_eq!(overlap(&estimate, &actual), Some(value));
        }
        let (truth, sample) = (ranking(&actual), ranking(&estimate));
        let rank = |list: &[u32], name| list.iter().position(|n| n == name).unwrap_or(list.len());
        let rule: usize = truth.iter().map(|name| rank(&truth, name).abs_diff(rank(&sample, name))).sum();
        assert_eq!(footrule(&truth, &sample), rule as u64);
    }
}

/// Counts of all edges of a random walk; only those of branches are shown.
struct Walk {
    graph: Graph,
    taken: BTreeMap<Edge, u64>,
    arrived: BTreeMap<BlockId, u64>,
}

impl Known for Walk {
    fn taken(&self, edge: Edge) -> Option<u64> {
        Some(self.taken.get(&edge).copied().unwrap_or(0))
    }

    fn arrived(&self, block: BlockId) -> u64 {
        self.arrived.get(&block).copied().unwrap_or(0)
    }
}

/// Whether some blocks that do not branch lead only to each other.
fn has_silent_cycle(graph: &Graph) -> bool {
    let next = |block: BlockId| match graph.successors(block) {
        &[target] => Some(target),
        _ => None,
    };
    let cycles =
        |block| std::iter::successors(Some(block), |&block| next(block)).nth(graph.blocks()).is_some();
    (0..graph.blocks()).map(BlockId::new).any(cycles)
}

/// Walks over random graphs are in balance. With one more count on an edge its block is not, unless its inflow cannot
/// be known.
#[test]
fn flow_is_conserved() {
    let mut rng = SmallRng::seed_from_u64(2);
    let mut found = 0;
    for _ in 0..1000 {
        let blocks = rng.random_range(2..12);
        let successors: Vec<Vec<u32>> = (0..blocks)
            .map(|_| (0..rng.random_range(0..4)).map(|_| rng.random_range(0..blocks)).collect())
            .collect();
        let graph = Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut walk = Walk { graph, taken: BTreeMap::new(), arrived: BTreeMap::new() };
        for _ in 0..20 {
            let start = BlockId(rng.random_range(0..2));
            let (mut block, mut edges) = (start, Vec::new());
            while edges.len() < 60 && !walk.graph.successors(block).is_empty() {
                let arms = walk.graph.successors(block).len() as u32;
                edges.push(Edge { from: block, arm: Arm(rng.random_range(0..arms)) });
                block = walk.graph.target(edges[edges.len() - 1]);
            }
            if walk.graph.successors(block).is_empty() {
                *walk.arrived.entry(start).or_default() += 1;
                edges.into_iter().for_each(|edge| *walk.taken.entry(edge).or_default() += 1);
            }
        }
        assert_eq!(imbalances(&walk.graph, &walk), []);
        let mut branches = (0..blocks).map(BlockId).filter(|&block| walk.graph.successors(block).len() > 1);
        let Some(block) = branches.next_back() else { continue };
        let outflow = |walk: &Walk| -> u64 {
            (0..walk.graph.successors(block).len())
                .filter_map(|arm| walk.taken(Edge { from: block, arm: Arm::new(arm) }))
                .sum()
        };
        let before = outflow(&walk);
        let edge = Edge { from: block, arm: Arm(0) };
        *walk.taken.entry(edge).or_default() += 1;
        let inflow = before + u64::from(walk.graph.target(edge) == block);
        let expected = Imbalance { block, inflow, outflow: before + 1 };
        if imbalances(&walk.graph, &walk).contains(&expected) && expected.inflow == before {
            found += 1;
        } else {
            assert!(has_silent_cycle(&walk.graph) || only_way_back(&walk.graph, edge));
        }
    }
    assert!(found > 400, "{found}");
}

/// Whether an edge leads straight back to its block, through blocks that do not branch: then a count too many on it is
/// also an arrival too many.
fn only_way_back(graph: &Graph, edge: Edge) -> bool {
    let mut block = graph.target(edge);
    for _ in 0..graph.blocks() {
        match graph.successors(block) {
            _ if block == edge.from => return true,
            &[target] => block = target,
            _ => return false,
        }
    }
    block == edge.from
}
