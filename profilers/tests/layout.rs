//! Code positioning: what the greedy algorithm promises, against all permutations; rotations and method orders against
//! twins that try everything anew.

use holloway_profilers::calls::{CallEdge, CallGraph};
use holloway_profilers::layout::{
    ASIDE, Cost, Frequencies, Split, best_rotation, chains, order_blocks, order_blocks_forward, order_chains,
    order_methods, rotate_loops, rotations_forward, split,
};
use holloway_profilers::{BlockId, ControlFlow, Graph, MethodId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

fn random_graph(blocks: u32, random: &mut SmallRng) -> (Graph, Vec<u64>) {
    let successors: Vec<Vec<u32>> = (0..blocks)
        .map(|_| (0..random.random_range(0..4)).map(|_| random.random_range(0..blocks)).collect())
        .collect();
    let edges = successors.iter().map(Vec::len).sum();
    let counts =
        (0..edges).map(|_| if random.random_bool(0.2) { 0 } else { random.random_range(0..100) }).collect();
    (Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>()), counts)
}

fn ids(numbers: &[u32]) -> Vec<BlockId> {
    numbers.iter().map(|&number| BlockId(number)).collect()
}

/// All orders of the blocks behind the entry.
fn permutations(rest: &mut Vec<BlockId>, order: &mut Vec<BlockId>, show: &mut impl FnMut(&[BlockId])) {
    if rest.is_empty() {
        show(order);
    }
    for at in 0..rest.len() {
        let block = rest.remove(at);
        order.push(block);
        permutations(rest, order, show);
        order.pop();
        rest.insert(at, block);
    }
}

/// The entry first, every block once, and at least a third of what falls through in the best order.
#[test]
fn chains_keep_their_promises() {
    for seed in 0..400 {
        let mut random = SmallRng::seed_from_u64(seed);
        let blocks = random.random_range(1..8);
        let (graph, counts) = random_graph(blocks, &mut random);
        let frequencies = Frequencies::new(&graph, &counts).unwrap();
        let order = order_blocks(&frequencies);
        assert_eq!(order[0], graph.entry());
        let mut sorted = order.clone();
        sorted.sort();
        assert_eq!(sorted, (0..blocks).map(BlockId).collect::<Vec<_>>());
        // Each chain stands in one piece, and its neighbours are connected.
        for chain in chains(&frequencies) {
            assert!(order.windows(chain.len()).any(|window| window == chain));
            assert!(chain.windows(2).all(|pair| graph.successors(pair[0]).contains(&pair[1])));
        }
        let total: u64 = counts.iter().sum();
        let mut best = u64::MAX;
        let mut rest: Vec<_> = (1..blocks).map(BlockId).collect();
        permutations(&mut rest, &mut vec![graph.entry()], &mut |order| {
            best = best.min(frequencies.cost(order).taken)
        });
        let cost = frequencies.cost(&order);
        let taken = cost.taken;
        assert!(best <= taken && 3 * (total - taken) >= total - best, "{taken}, best {best} of {total}");
        let rotated = rotate_loops(&frequencies, order.clone());
        assert!(best <= frequencies.cost(&rotated).taken && frequencies.cost(&rotated) <= cost);
    }
}

/// The greedy twin: the hottest edge of all that can still join two chains, found anew each time.
#[test]
fn chains_agree_with_their_twin() {
    for seed in 0..300 {
        let mut random = SmallRng::seed_from_u64(seed);
        let (graph, counts) = random_graph(random.random_range(1..20), &mut random);
        let frequencies = Frequencies::new(&graph, &counts).unwrap();
        let mut expected: Vec<Vec<BlockId>> =
            (0..graph.blocks()).map(|block| vec![BlockId::new(block)]).collect();
        loop {
            let mut best: Option<(u64, BlockId, BlockId, usize, usize)> = None;
            for (front, first) in expected.iter().enumerate() {
                for (back, second) in expected.iter().enumerate() {
                    let (from, to) = (*first.last().unwrap(), second[0]);
                    let joins = front != back && to != graph.entry() && graph.successors(from).contains(&to);
                    let between = frequencies.edges().filter(|row| (row.0.from, row.1) == (from, to));
                    let count: u64 = between.map(|row| row.2).sum();
                    let better = best.is_none_or(|best| (count, best.1, best.2) > (best.0, from, to));
                    if joins && better {
                        best = Some((count, from, to, front, back));
                    }
                }
            }
            let Some((.., front, back)) = best else { break };
            let moved = std::mem::take(&mut expected[back]);
            expected[front].extend(moved);
            expected.retain(|chain| !chain.is_empty());
        }
        expected.sort_by_key(|chain| chain[0]);
        assert_eq!(chains(&frequencies), expected);
        // Chains in any order of arrival are placed alike.
        let mut shuffled = expected.clone();
        shuffled.reverse();
        assert_eq!(order_chains(&frequencies, shuffled), order_chains(&frequencies, expected));
    }
}

/// The cost of any order, edge by edge and block by block.
#[test]
fn costs_agree_with_their_twin() {
    for seed in 0..300 {
        let mut random = SmallRng::seed_from_u64(seed);
        let (graph, counts) = random_graph(random.random_range(1..12), &mut random);
        let frequencies = Frequencies::new(&graph, &counts).unwrap();
        let mut order: Vec<BlockId> = (0..graph.blocks()).map(BlockId::new).collect();
        (1..order.len()).for_each(|at| order.swap(at, random.random_range(1..=at)));
        let place = |block: BlockId| order.iter().position(|&at| at == block).unwrap();
        let falls = |from: BlockId, to: BlockId| place(from) + 1 == place(to);
        let mut expected = Cost::default();
        for (edge, to, count) in frequencies.edges() {
            expected.taken += if falls(edge.from, to) { 0 } else { count };
        }
        for &block in &order {
            let mut targets = graph.successors(block).to_vec();
            targets.sort();
            targets.dedup();
            let count = |to: BlockId| -> u64 {
                frequencies.edges().filter(|row| (row.0.from, row.1) == (block, to)).map(|row| row.2).sum()
            };
            if targets.len() <= 2 && !targets.iter().any(|&to| falls(block, to)) {
                expected.jumps += targets.iter().map(|&to| count(to)).min().unwrap_or(0);
            }
        }
        assert_eq!(frequencies.cost(&order), expected, "{order:?}");
    }
}

/// All of a chain's rotations, by the cost of the whole order.
#[test]
fn rotations_agree_with_their_twin() {
    for seed in 0..300 {
        let mut random = SmallRng::seed_from_u64(seed);
        let (graph, counts) = random_graph(random.random_range(2..12), &mut random);
        let frequencies = Frequencies::new(&graph, &counts).unwrap();
        let order = order_blocks(&frequencies);
        for start in 0..order.len() {
            for end in start..=order.len() {
                let cost = |places: usize| {
                    let mut rotated = order.clone();
                    rotated[start..end].rotate_left(places);
                    frequencies.cost(&rotated)
                };
                let legal = if start == 0 { 1 } else { (end - start).max(1) };
                let expected = (0..legal).min_by_key(|&places| (cost(places), places)).unwrap();
                assert_eq!(
                    best_rotation(&frequencies, &order, start..end),
                    expected,
                    "{start}..{end} of {order:?}"
                );
            }
        }
    }
}

/// A loop with its test at the top: each round takes one transfer, wherever it begins, but begun with the body it spares
/// the jump.
#[test]
fn a_loop_is_turned() {
    // 0 -> 1; 1 -> 2 (body) or 3 (exit); 2 -> 1.
    let graph = Graph::new(&[&[1], &[2, 3], &[1], &[]]);
    let counts = [1, 100, 1, 100];
    let frequencies = Frequencies::new(&graph, &counts).unwrap();
    let source = ids(&[0, 1, 2, 3]);
    assert_eq!(frequencies.cost(&source), Cost { taken: 101, jumps: 100 });
    let rotated = rotate_loops(&frequencies, source);
    assert_eq!(rotated, ids(&[0, 2, 1, 3]));
    assert_eq!(frequencies.cost(&rotated), Cost { taken: 101, jumps: 1 });
}

/// A loop that is left in its middle: the hot back edge falls through, and the rare exit ends the loop.
#[test]
fn a_loop_ends_where_it_is_left() {
    // 0 -> 1; 1 -> 2; 2 -> 3 or 4 (exit); 3 -> 1.
    let graph = Graph::new(&[&[1], &[2], &[3, 4], &[1], &[]]);
    let counts = [1, 100, 99, 1, 99];
    let frequencies = Frequencies::new(&graph, &counts).unwrap();
    let rotated = rotate_loops(&frequencies, ids(&[0, 1, 2, 3, 4]));
    assert_eq!(rotated, ids(&[0, 3, 1, 2, 4]));
    assert_eq!(frequencies.cost(&rotated), Cost { taken: 100, jumps: 1 });
}

/// The classic case: the hot arm falls through, the cold arm goes to the end.
#[test]
fn cold_arms_leave_the_hot_path() {
    // 0 -> 1 (cold) or 2 (hot); 1 -> 3; 2 -> 3; 3 -> 4 (cold) or 5 (hot); 4 -> 6; 5 -> 6.
    let graph = Graph::new(&[&[1, 2], &[3], &[3], &[4, 5], &[6], &[6], &[]]);
    let counts = [1, 99, 1, 99, 0, 100, 0, 100];
    let frequencies = Frequencies::new(&graph, &counts).unwrap();
    let order = order_blocks(&frequencies);
    assert_eq!(order, ids(&[0, 2, 3, 5, 6, 1, 4]));
    assert_eq!(frequencies.cost(&order), Cost { taken: 2, jumps: 1 });
    assert_eq!(frequencies.cost(&ids(&[0, 1, 2, 3, 4, 5, 6])), Cost { taken: 99 + 1 + 100, jumps: 1 });
    assert_eq!(frequencies.blocks(), [100, 1, 99, 100, 0, 100, 100]);
    let parts = split(&frequencies, &order, 1);
    assert_eq!((parts.hot, parts.cold), (ids(&[0, 2, 3, 5, 6, 1]), ids(&[4])));
    let parts = split(&frequencies, &order, 1000);
    assert_eq!((parts.hot, parts.cold), (ids(&[0]), ids(&[2, 3, 5, 6, 1, 4])));
    let error = Frequencies::new(&graph, &counts[1..]).unwrap_err().to_string();
    assert_eq!(error, "layout: 7 frequencies for 8 edges; valid: one for each edge");
}

/// It is not promised that the order is better than that of the source: the hottest edge may cost two that are worth more.
#[test]
fn greed_can_be_worse_than_the_source() {
    // The hottest edge 0 -> 2 takes from both 0 -> 1 and 1 -> 2.
    let graph = Graph::new(&[&[1, 2], &[2], &[]]);
    let counts = [9, 10, 9];
    let frequencies = Frequencies::new(&graph, &counts).unwrap();
    let order = order_blocks(&frequencies);
    assert_eq!(order, ids(&[0, 2, 1]));
    let taken = |order: &[BlockId]| frequencies.cost(order).taken;
    assert_eq!((taken(&order), taken(&ids(&[0, 1, 2]))), (18, 10));
}

fn random_calls(methods: u32, random: &mut SmallRng) -> CallGraph {
    let mut calls = CallGraph::new();
    for position in 0..random.random_range(0..methods * 3) {
        let (caller, callee) = (random.random_range(0..methods), random.random_range(0..methods));
        calls.add(CallEdge::new(MethodId(caller), position, MethodId(callee)), random.random_range(1..20));
    }
    calls
}

/// How many calls there are between two methods, or zero between one and itself.
fn shared(calls: &CallGraph, one: MethodId, other: MethodId) -> u64 {
    let between = |(edge, _): &&(CallEdge, u64)| {
        let pair = (edge.site.caller, edge.callee);
        one != other && (pair == (one, other) || pair == (other, one))
    };
    calls.edges().iter().filter(between).map(|row| row.1).sum()
}

/// Closest is best, each step from the calls themselves.
fn naive_order(methods: u32, calls: &CallGraph) -> Vec<MethodId> {
    let mut chains: Vec<Vec<MethodId>> = (0..methods).map(|method| vec![MethodId(method)]).collect();
    loop {
        // Chains are sorted by their least method, so that the first of equals is the right one.
        chains.sort_by_key(|chain| chain.iter().min().copied());
        let mut best = (0, 0, 0);
        for one in 0..chains.len() {
            for other in one + 1..chains.len() {
                let pairs = chains[one].iter().flat_map(|&a| chains[other].iter().map(move |&b| (a, b)));
                let weight: u64 = pairs.map(|(a, b)| shared(calls, a, b)).sum();
                if weight > best.0 {
                    best = (weight, one, other);
                }
            }
        }
        if best.0 == 0 {
            break;
        }
        let back = chains.remove(best.2);
        let front = chains.remove(best.1);
        let pairs = front.iter().flat_map(|&a| back.iter().map(move |&b| (a, b)));
        let (a, b) = pairs.max_by_key(|&(a, b)| (shared(calls, a, b), std::cmp::Reverse((a, b)))).unwrap();
        let turned = |chain: &[MethodId], turn: bool| {
            if turn { chain.iter().rev().copied().collect() } else { chain.to_vec() }
        };
        let ways = [(false, false), (false, true), (true, false), (true, true)];
        let joined = ways.map(|(one, other)| {
            let (front, back) = (turned(&front, one), turned(&back, other));
            let seam = shared(calls, front[front.len() - 1], back[0]);
            ([front, back].concat(), seam)
        });
        let place = |order: &[MethodId], method| order.iter().position(|&at| at == method).unwrap();
        let distance = |order: &[MethodId]| place(order, a).abs_diff(place(order, b));
        let best = joined.into_iter().min_by_key(|(order, seam)| (distance(order), std::cmp::Reverse(*seam)));
        chains.push(best.unwrap().0);
    }
    let heat = |chain: &[MethodId]| {
        let all = || (0..methods).map(MethodId);
        chain.iter().map(|&method| all().map(|other| shared(calls, method, other)).sum::<u64>()).sum::<u64>()
    };
    chains.sort_by_key(|chain| (std::cmp::Reverse(heat(chain)), chain.iter().min().copied()));
    chains.concat()
}

#[test]
fn method_orders_agree_with_their_twin() {
    for seed in 0..200 {
        let mut random = SmallRng::seed_from_u64(seed);
        let methods = random.random_range(1..12);
        let calls = random_calls(methods, &mut random);
        let order = order_methods(methods as usize, &calls);
        assert_eq!(order, naive_order(methods, &calls));
        let mut sorted = order.clone();
        sorted.sort();
        assert_eq!(sorted, (0..methods).map(MethodId).collect::<Vec<_>>());
    }
}

/// Those that call each other most are neighbours; calls of methods that are not placed do not matter.
#[test]
fn the_closest_are_neighbours() {
    let call = |a, b, weight| (CallEdge::new(MethodId(a), 0, MethodId(b)), weight);
    let calls: CallGraph =
        [call(0, 3, 5), call(3, 1, 9), call(1, 0, 2), call(2, 2, 99), call(0, 77, 99)].into_iter().collect();
    assert_eq!(order_methods(4, &calls), [0, 3, 1, 2].map(MethodId));
    assert_eq!(order_methods(0, &calls), []);
}

/// Edges to higher numbers, of a graph whose other edges are loops.
fn goes_forward(graph: &Graph, order: &[BlockId]) -> bool {
    let place = |block: BlockId| order.iter().position(|&other| other == block);
    order.iter().enumerate().all(|(at, &block)| {
        let targets = graph.successors(block).iter().filter(|&&target| target > block);
        targets.filter_map(|&target| place(target)).all(|target| target > at)
    })
}

/// Orders that go forward: all blocks are there, once; forward edges go forward; what stands aside runs less than what passes it.
/// Rotations that are allowed enter no more blocks backwards.
#[test]
fn forward_orders_keep_their_promises() {
    let (mut with_aside, mut better, mut rotated) = (0, 0, 0);
    for seed in 0..600 {
        let mut random = SmallRng::seed_from_u64(seed);
        let (graph, counts) = random_graph(random.random_range(1..24), &mut random);
        let frequencies = Frequencies::new(&graph, &counts).unwrap();
        let numbers: Vec<BlockId> = (0..graph.blocks()).map(BlockId::new).collect();
        let Split { hot, cold } = order_blocks_forward(&frequencies);
        assert_eq!(hot[0], graph.entry());
        assert!(goes_forward(&graph, &hot), "{graph:?} {hot:?}");
        assert!(cold.is_sorted());
        let mut all = [&hot[..], &cold].concat();
        better += usize::from(frequencies.cost(&all) < frequencies.cost(&numbers));
        all.sort();
        assert_eq!(all, numbers);
        with_aside += usize::from(!cold.is_empty());
        let (runs, most) = (frequencies.blocks(), counts.iter().max().copied().unwrap_or(0));
        assert!(cold.iter().all(|block| runs[block.index()] * ASIDE < most * 2));
        // A naive look at all rotations of a part.
        let end = random.random_range(0..=hot.len());
        let part = &hot[random.random_range(0..=end)..end];
        let entered = |part: &[BlockId]| {
            let place = |block: BlockId| part.iter().position(|&other| other == block);
            let is_entered = |&(to, block): &(usize, BlockId)| {
                (to..part.len()).any(|from| graph.successors(part[from]).contains(&block))
                    && place(block).is_some()
            };
            part.iter().copied().enumerate().filter(is_entered).count()
        };
        for (places, may) in rotations_forward(&graph, part).into_iter().enumerate() {
            let mut turned = part.to_vec();
            turned.rotate_left(places);
            assert_eq!(may, entered(&turned) <= entered(part), "{graph:?} {part:?} by {places}");
            rotated += usize::from(may && places > 0);
        }
    }
    assert!(with_aside > 0 && better > 200 && rotated > 50, "{with_aside} {better} {rotated}");
}

/// The arm that runs seldom goes aside, and the other goes on with what both go to; if they run as often, nothing moves.
#[test]
fn a_seldom_arm_is_passed() {
    // 0 -> 1 or 2 -> 3.
    let graph = Graph::new(&[&[1, 2], &[3], &[3], &[]]);
    let order = |one, other| {
        let Split { hot, cold } =
            order_blocks_forward(&Frequencies::new(&graph, &[one, other, one, other]).unwrap());
        (hot, cold)
    };
    assert_eq!(order(90, 10), (ids(&[0, 1, 3]), ids(&[2])));
    assert_eq!(order(10, 90), (ids(&[0, 2, 3]), ids(&[1])));
    assert_eq!(order(50, 50).1, []);
}
