//! Too many paths: which joins are cut, how many numbers are left, and that nobody is left in the dark about it.

mod paths_support;

use holloway_profilers::paths::{Cut, NodeId, Options, PathDag, Place, Plan, Why};
use holloway_profilers::{BlockId, Edge, Graph, VersionId};
use paths_support::{Random, graph, numbers, plan, walk};

/// So many diamonds in a row: diamond i is 3i, 3i + 1, 3i + 2.
fn diamonds(count: u32) -> Graph {
    let mut successors: Vec<Vec<u32>> = Vec::new();
    for top in (0..count).map(|i| 3 * i) {
        successors.extend([vec![top + 1, top + 2], vec![top + 3], vec![top + 3]]);
    }
    successors.push(Vec::new());
    Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn limited(limit: u64) -> Options {
    Options { limit, ..Options::default() }
}

fn added(plan: &Plan) -> Vec<u32> {
    assert!(plan.added_cuts().all(|cut| cut.why == Why::Limit));
    plan.added_cuts().map(|cut| cut.block.0).collect()
}

#[test]
fn forty_diamonds() {
    let flow = diamonds(40);
    let cases = [
        (1 << 10, 3, 6_272),
        (1 << 16, 2, 262_208),
        // The join with 32 diamonds behind it is the first above 2^31; eight are left before it.
        (1 << 31, 1, (1 << 32) + (1 << 8)),
        (1 << 32, 1, (1 << 33) + (1 << 7)),
    ];
    for (limit, cuts, paths) in cases {
        for cut in [Cut::BackEdges, Cut::Blocks(Vec::new())] {
            let (plan, _) = plan(&flow, &Options { cut, ..limited(limit) });
            assert_eq!((plan.added_cuts().count(), plan.paths()), (cuts, paths), "limit {limit}");
        }
    }
    // Eleven diamonds from the end, and again.
    assert_eq!(added(&plan(&flow, &limited(1 << 10)).0), [21, 54, 87]);
}

#[test]
fn numbers_below_the_limit_need_no_cut() {
    for (diamonds_, paths) in [(10, 1 << 10), (31, 1 << 31)] {
        let (plan, _) = plan(&diamonds(diamonds_), &limited(paths));
        assert_eq!((plan.added_cuts().count(), plan.paths()), (0, paths));
    }
}

#[test]
fn a_method_cut_for_its_size_still_counts_every_path() {
    let flow = diamonds(40);
    let (plan, dag) = plan(&flow, &limited(1 << 10));
    let mut random = Random(3);
    for _ in 0..100 {
        let numbers = numbers(&plan, &walk(&flow, &mut random, 1_000));
        assert_eq!(numbers.len(), 4, "three cuts and the exit");
        let paths: Vec<_> = numbers.iter().map(|&number| dag.decode(number).expect("a path")).collect();
        assert_eq!(paths.iter().map(|path| path.edges.len()).sum::<usize>(), 80);
        assert!(paths.windows(2).all(|pair| pair[0].blocks.last() == pair[1].blocks.first()));
    }
}

#[test]
fn the_coldest_join_is_cut() {
    // A hot arm (blocks 1 to 9) and a cold one (10 to 18) of three diamonds each, which join at 19.
    let mut successors = vec![vec![1, 10]];
    for top in [1, 4, 7, 10, 13, 16] {
        let after = if top == 7 { 19 } else { top + 3 };
        successors.extend([vec![top + 1, top + 2], vec![after], vec![after]]);
    }
    // One more diamond.
    successors.extend([vec![20, 21], vec![22], vec![22], vec![]]);
    let flow = Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let hot_and_cold = |edge: Edge| match edge.from.0 {
        0 => [1_000, 10][edge.arm.index()],
        1..=9 => 500,
        10..=18 => 5,
        _ => 505,
    };
    let cuts = |limit| added(&Plan::new(&flow, &limited(limit), hot_and_cold).expect("a plan"));
    assert_eq!(cuts(16), [0_u32; 0], "no join has more than 8 paths");
    // In each arm the join behind the first diamond has 8. What it leads to in its arm is as hot, and the end is
    // hotter: itself.
    assert_eq!(cuts(4), [4, 13]);
    // The joins after those have 4.
    assert_eq!(cuts(3), [7, 16]);
    // If little is known to arrive at the last diamond, cutting it once is enough for both arms.
    let cold_end = |edge: Edge| match edge.from.0 {
        8 | 9 | 17..=22 => 0,
        _ => hot_and_cold(edge),
    };
    assert_eq!(added(&Plan::new(&flow, &limited(4), cold_end).expect("a plan")), [19]);
}

/// A diamond, a switch of five arms, a diamond: cutting between the last two would leave five paths.
#[test]
fn a_cold_join_that_would_not_be_enough_is_left_alone() {
    let mut successors: Vec<Vec<u32>> = vec![vec![1, 2], vec![3], vec![3], (4..9).collect()];
    successors.extend(std::iter::repeat_n(vec![9], 5));
    successors.extend([vec![10, 11], vec![12], vec![12], vec![]]);
    let flow = Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let cold_end = |edge: Edge| u64::from(edge.from.0 < 4);
    let cuts = |limit| added(&Plan::new(&flow, &limited(limit), cold_end).expect("a plan"));
    assert_eq!(cuts(10), [0_u32; 0]);
    assert_eq!(cuts(5), [9]);
    assert_eq!(cuts(4), [3]);
}

#[test]
fn a_switch_of_many_arms_is_no_loss_either() {
    // Three switches of 1000 arms in a row: 10^9 paths.
    let mut successors: Vec<Vec<u32>> = Vec::new();
    for top in [0, 1_001, 2_002] {
        successors.push((top + 1..=top + 1_000).collect());
        successors.extend(std::iter::repeat_n(vec![top + 1_001], 1_000));
    }
    successors.push(Vec::new());
    let flow = Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let (whole, dag) = plan(&flow, &Options::default());
    assert_eq!((whole.paths(), whole.added_cuts().count()), (1_000_000_000, 0));
    let path = dag.decode(123_456_789).expect("a path");
    assert_eq!(path.branches.iter().map(|arm| arm.arm.0).collect::<Vec<_>>(), [123, 456, 789]);
    assert_eq!(dag.encode(path.begin, &path.edges), Some(123_456_789));
    let (cut, _) = plan(&flow, &limited(10_000));
    assert_eq!((added(&cut), cut.paths()), (vec![1_001], 1_000_000 + 1_000));
}

/// How many ways lead from each node to EXIT and how many edges lead to it, counted anew from the record.
fn ways_and_edges(dag: &PathDag) -> Vec<(u64, usize)> {
    fn ways(dag: &PathDag, node: NodeId, known: &mut [u64]) -> u64 {
        if known[node.0 as usize] == 0 {
            let sum = dag.edges(node).iter().map(|edge| ways(dag, edge.to, known)).sum::<u64>();
            known[node.0 as usize] = if node == NodeId::EXIT { 1 } else { sum };
        }
        known[node.0 as usize]
    }
    let mut known = vec![0; dag.nodes().len()];
    ways(dag, NodeId::ENTRY, &mut known);
    let mut edges_to = vec![0; known.len()];
    for node in 0..known.len() {
        dag.edges(NodeId(node as u32)).iter().for_each(|edge| edges_to[edge.to.0 as usize] += 1);
    }
    known.into_iter().zip(edges_to).collect()
}

#[test]
fn no_join_of_a_random_graph_has_more_paths_than_the_limit() {
    let mut random = Random(16);
    let mut cut_for_size = 0;
    for _ in 0..20_000 {
        let flow = graph(&mut random);
        let limit = [1, 2, 3, 8][random.below(4)];
        let listed = if random.one_in(2) { Cut::BackEdges } else { Cut::Blocks(vec![BlockId(1)]) };
        let weights: Vec<u64> = (0..60).map(|_| random.next() % 100).collect();
        let frequency = |edge: Edge| weights[edge.from.index() * 5 + edge.arm.index() % 5];
        let options = Options { cut: listed, ..limited(limit) };
        let plan = Plan::new(&flow, &options, frequency).expect("a plan");
        let dag = PathDag::new(&plan, VersionId(0), |_| None);
        let counted = ways_and_edges(&dag);
        assert_eq!(counted[0].0, plan.paths());
        for (node, &(ways, edges_to)) in dag.nodes().iter().zip(&counted) {
            if edges_to > 1 && node.place != Place::Exit {
                assert!(ways <= limit, "{ways} paths from {:?}, limit {limit}, {flow:?}\n{plan}", node.place);
            }
        }
        cut_for_size += plan.added_cuts().filter(|cut| cut.why == Why::Limit).count();
        let edges: usize = dag.nodes().len() + counted.iter().map(|&(_, edges)| edges).sum::<usize>();
        assert!(plan.paths() <= edges as u64 * limit);
    }
    assert!(cut_for_size > 10_000, "only {cut_for_size} cuts: the limits are too generous for this test");
}
