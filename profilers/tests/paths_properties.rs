//! Numbers against their naive twin, on random graphs: reducible or not, with switches, parallel edges, self-loops,
//! infinite loops, unreachable blocks and further entries.

mod paths_support;

use holloway_profilers::paths::{
    Activation, Begin, Cut, CutGraph, DecodeCache, End, Options, Path, PathDag, Place, Placement, Plan, Side,
    Simulator, Step, Why, headers,
};
use holloway_profilers::{Arm, BlockId, ControlFlow, Edge, Graph, VersionId};
use paths_support::{Random, branches, graph, walk};
use std::collections::{BTreeMap, BTreeSet};

/// More paths than this are not listed one by one.
const MOST_PATHS: usize = 200;

fn options(flow: &Graph, random: &mut Random) -> Options {
    let some =
        |random: &mut Random| (0..flow.blocks()).map(BlockId::new).filter(|_| random.one_in(3)).collect();
    let cut = match random.below(4) {
        0 | 1 => Cut::BackEdges,
        2 => Cut::Blocks(headers(flow)),
        _ => Cut::Blocks(some(random)),
    };
    let placement = [Placement::Smart, Placement::Naive, Placement::Hot][random.below(3)];
    let limit = [2, 5, 20, 1 << 31, 1 << 31, 1 << 31][random.below(6)];
    Options { cut, placement, limit, merge_parallel: random.one_in(4) }
}

fn frequencies(flow: &Graph, random: &mut Random) -> impl Fn(Edge) -> u64 + use<> {
    let weights: Vec<Vec<u64>> = (0..flow.blocks())
        .map(|block| flow.successors(BlockId::new(block)).iter().map(|_| random.next() % 8).collect())
        .collect();
    move |edge| weights[edge.from.index()][edge.arm.index()]
}

/// Places on a path, with the number of edges before each.
fn places(plan: &Plan, path: &Path) -> Vec<Place> {
    let place = |(index, &block): (usize, &BlockId)| match path.begin {
        Begin::Cut(_) if index == 0 && plan.cut(block).is_some() => Place::Behind(block),
        _ => Place::Block(block),
    };
    path.blocks.iter().enumerate().map(place).collect()
}

/// Every number is a path, every path has a number, and so has every beginning of one.
fn numbers_are_paths(plan: &Plan, dag: &PathDag, all: &[Path]) {
    assert_eq!(plan.paths(), all.len() as u64);
    let mut seen = vec![false; all.len()];
    for path in all {
        let number = dag.encode(path.begin, &path.edges).expect("a number");
        let seen = &mut seen[usize::try_from(number).expect("small")];
        assert!(!*seen, "two paths have the number {number}");
        *seen = true;
        assert_eq!(dag.decode(number).as_ref(), Some(path));
        for (length, &place) in places(plan, path).iter().enumerate() {
            let r = dag.encode(path.begin, &path.edges[..length]).expect("a register");
            let partial = dag.decode_partial(r, place).expect("a beginning");
            assert_eq!((partial.begin, partial.end), (path.begin, End::Open));
            assert_eq!(partial.blocks, path.blocks[..=length]);
            assert_eq!(partial.edges, path.edges[..length]);
        }
    }
    assert_eq!(dag.decode(plan.paths()), None);
}

/// The edges that an activation has run since its last path ended, from nothing but its register.
fn in_flight(plan: &Plan, dag: &PathDag, activation: &Activation) -> Vec<Edge> {
    let block = activation.block();
    let place = if plan.cut(block).is_some() { Place::Behind(block) } else { Place::Block(block) };
    dag.decode_partial(activation.register(), place).expect("a path in flight").edges
}

fn add(counts: &mut BTreeMap<Edge, u64>, edge: Edge) {
    *counts.entry(edge).or_default() += 1;
}

/// What comes out of a walk are its pieces, and they add up to the edges that were taken.
fn streams_are_pieces(flow: &Graph, plan: &Plan, dag: &PathDag, random: &mut Random) {
    let twin = CutGraph::new(flow, plan, branches(flow));
    let mut cache = DecodeCache::new();
    let mut simulator = Simulator::new(plan);
    let mut exact: BTreeMap<Edge, u64> = BTreeMap::new();
    let (mut from_paths, mut lost) = (exact.clone(), exact.clone());
    let representative = |edge: Edge| {
        let same = flow.successors(edge.from).iter().position(|&target| target == flow.target(edge));
        let arm = if plan.merges_parallel() { Arm::new(same.expect("itself")) } else { edge.arm };
        Edge { from: edge.from, arm }
    };
    let (mut different, mut dropped) = (BTreeSet::new(), 0);
    for _ in 0..2 {
        let steps = walk(flow, random, 24);
        let mut stream = Vec::new();
        let mut activation = simulator.enter(|number| stream.push(number));
        for &step in &steps {
            match step {
                Step::Jump(_) => {
                    in_flight(plan, dag, &activation).iter().for_each(|&edge| add(&mut lost, edge))
                }
                Step::Take(arm) => add(&mut exact, representative(Edge { from: activation.block(), arm })),
            }
            simulator.step(&mut activation, step, |number| stream.push(number));
        }
        if !activation.is_finished() {
            in_flight(plan, dag, &activation).iter().for_each(|&edge| add(&mut lost, edge));
        }
        let jumps = steps.iter().filter(|step| matches!(step, Step::Jump(_))).count();
        dropped += jumps + usize::from(!activation.is_finished());
        simulator.unwind(activation);
        let pieces = twin.split(&steps);
        let decoded: Vec<Path> =
            stream.iter().map(|&number| cache.path(dag, number).expect("a path").clone()).collect();
        assert_eq!(decoded, pieces);
        different.extend(stream);
        for path in &decoded {
            path.edges.iter().for_each(|&edge| add(&mut from_paths, edge));
        }
    }
    assert_eq!(cache.decoded(), different.len());
    assert_eq!(simulator.dropped(), dropped as u64);
    for (edge, count) in lost {
        *from_paths.entry(edge).or_default() += count;
    }
    assert_eq!(from_paths, exact);
}

fn check(seed: u64, graphs: usize) {
    let mut random = Random(seed);
    let mut listed = 0;
    for _ in 0..graphs {
        let flow = graph(&mut random);
        let options = options(&flow, &mut random);
        let plan = Plan::new(&flow, &options, frequencies(&flow, &mut random)).expect("a plan");
        let dag = PathDag::new(&plan, VersionId(0), branches(&flow));
        if plan.paths() <= MOST_PATHS as u64 {
            let all = CutGraph::new(&flow, &plan, branches(&flow)).all_paths(MOST_PATHS);
            numbers_are_paths(&plan, &dag, &all.expect("no circles and no more paths than numbers"));
            listed += 1;
        }
        streams_are_pieces(&flow, &plan, &dag, &mut random);
    }
    assert!(listed * 10 > graphs * 9, "{listed} of {graphs} graphs were small enough");
}

#[test]
fn numbers_and_streams_are_those_of_the_twin() {
    check(1, 50_000);
}

#[test]
fn numbers_and_streams_are_those_of_the_twin_again() {
    check(2, 50_000);
}

/// The retreating edges by the definition: a recursive search, with the stack in hand.
fn retreating(flow: &Graph) -> BTreeSet<Edge> {
    fn visit(
        flow: &Graph,
        stack: &mut Vec<BlockId>,
        seen: &mut BTreeSet<BlockId>,
        found: &mut BTreeSet<Edge>,
    ) {
        let from = stack[stack.len() - 1];
        for (arm, &target) in flow.successors(from).iter().enumerate() {
            if stack.contains(&target) {
                found.insert(Edge { from, arm: Arm::new(arm) });
            } else if seen.insert(target) {
                stack.push(target);
                visit(flow, stack, seen, found);
                stack.pop();
            }
        }
    }
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for root in [flow.entry()].iter().chain(flow.entries()) {
        if seen.insert(*root) {
            visit(flow, &mut vec![*root], &mut seen, &mut found);
        }
    }
    found
}

#[test]
fn retreating_edges_are_cut_and_listed_blocks_are() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let flow = graph(&mut random);
        let expected = retreating(&flow);
        let by_edges = Plan::new(&flow, &Options::default(), |_| 0).expect("a plan");
        assert_eq!(by_edges.cut_edges().map(|(edge, _)| edge).collect::<BTreeSet<_>>(), expected);
        let targets: BTreeSet<BlockId> = expected.iter().map(|&edge| flow.target(edge)).collect();
        let headers = headers(&flow);
        assert_eq!(headers, targets.into_iter().collect::<Vec<_>>());

        let at_headers = Options { cut: Cut::Blocks(headers.clone()), ..Options::default() };
        let by_headers = Plan::new(&flow, &at_headers, |_| 0).expect("a plan");
        assert_eq!(by_headers.cut_edges().count(), 0);
        assert_eq!(by_headers.added_cuts().count(), 0, "headers break every cycle");
        assert_eq!(by_headers.cut_blocks().iter().map(|cut| cut.block).collect::<Vec<_>>(), headers);

        // Without any listed block, the headers are found again, as cuts that were added.
        let added = Plan::new(&flow, &Options { cut: Cut::Blocks(Vec::new()), ..Options::default() }, |_| 0);
        let added: Vec<_> = added.expect("a plan").added_cuts().map(|cut| (cut.block, cut.why)).collect();
        assert_eq!(added, headers.iter().map(|&block| (block, Why::Cycle)).collect::<Vec<_>>());
    }
}

#[test]
fn header_mode_has_one_more_path_for_each_entry_into_a_loop() {
    let mut random = Random(6);
    let mut entered = 0;
    for _ in 0..20_000 {
        let flow = graph(&mut random);
        let steps = walk(&flow, &mut random, 30);
        let count = |cut| {
            let plan = Plan::new(&flow, &Options { cut, ..Options::default() }, |_| 0).expect("a plan");
            paths_support::numbers(&plan, &steps).len()
        };
        // Arrivals at headers other than by a retreating edge: by another edge, by entering the method, by a jump.
        let (headers, back) = (headers(&flow), retreating(&flow));
        let mut block = flow.entry();
        let mut entries = usize::from(headers.contains(&block));
        for &step in &steps {
            let by_back_edge = match step {
                Step::Take(arm) => {
                    let edge = Edge { from: block, arm };
                    block = flow.target(edge);
                    back.contains(&edge)
                }
                Step::Jump(entry) => {
                    block = entry;
                    false
                }
            };
            entries += usize::from(headers.contains(&block) && !by_back_edge);
        }
        assert_eq!(count(Cut::Blocks(headers)), count(Cut::BackEdges) + entries);
        entered += entries;
    }
    assert!(entered > 10_000);
}

/// For any frequencies, whether flow is conserved or not: at each block all edges but one have an addition, and
/// smart placement spares the most frequent.
#[test]
fn smart_placement_has_the_fewest_additions() {
    let mut random = Random(7);
    let mut better = 0;
    for _ in 0..20_000 {
        let flow = graph(&mut random);
        let options = options(&flow, &mut random);
        let frequency = frequencies(&flow, &mut random);
        let expected = |placement| {
            let options = Options { placement, ..options.clone() };
            let plan = Plan::new(&flow, &options, &frequency).expect("a plan");
            (plan.expected_additions(&frequency), plan.additions().count(), plan.paths())
        };
        let [smart, naive, hot] = [Placement::Smart, Placement::Naive, Placement::Hot].map(expected);
        assert!(smart.0 <= naive.0 && naive.0 <= hot.0, "{smart:?} {naive:?} {hot:?} {flow:?}");
        assert_eq!(
            (smart.2, naive.2),
            (naive.2, hot.2),
            "the order does not change how many paths there are"
        );
        if !options.merge_parallel {
            assert_eq!((smart.1, naive.1), (naive.1, hot.1), "nor how many edges have additions");
        }
        better += usize::from(smart.0 < naive.0);
    }
    assert!(better > 5_000);
}

/// What stands in a block, in front of its cut or behind it, is on paths as often as a walk comes along.
#[test]
fn paths_pass_what_is_executed() {
    let mut random = Random(10);
    let mut cut_twice = 0;
    for _ in 0..20_000 {
        let flow = graph(&mut random);
        let options = options(&flow, &mut random);
        let (plan, dag) = paths_support::plan(&flow, &options);
        let mut steps = walk(&flow, &mut random, 24);
        // Until it catches an error, which drops a path.
        steps.truncate(steps.iter().position(|step| matches!(step, Step::Jump(_))).unwrap_or(steps.len()));
        let blocks = |steps: &[Step]| {
            let mut blocks = vec![flow.entry()];
            for &step in steps {
                let Step::Take(arm) = step else { unreachable!("jumps are cut off") };
                blocks.push(flow.target(Edge { from: blocks[blocks.len() - 1], arm }));
            }
            blocks
        };
        let last = blocks(&steps)[steps.len()];
        if !flow.successors(last).is_empty() {
            continue;
        }
        let is_cut = |block| plan.cut(block).is_some();
        let mut executed: BTreeMap<(BlockId, bool), u64> = BTreeMap::new();
        for block in blocks(&steps) {
            *executed.entry((block, false)).or_default() += 1;
            if is_cut(block) {
                *executed.entry((block, true)).or_default() += 1;
            }
        }
        let mut passed: BTreeMap<(BlockId, bool), u64> = BTreeMap::new();
        for number in paths_support::numbers(&plan, &steps) {
            let path = dag.decode(number).expect("a path");
            cut_twice +=
                usize::from(path.blocks.len() > 1 && path.blocks[0] == path.blocks[path.blocks.len() - 1]);
            for (index, &block) in path.blocks.iter().enumerate() {
                for side in [Side::Before, Side::Behind] {
                    // What is in a block that is not cut is behind.
                    if path.passes(index, side) && (side == Side::Behind || is_cut(block)) {
                        *passed.entry((block, side == Side::Before)).or_default() += 1;
                    }
                }
            }
        }
        assert_eq!(passed, executed);
    }
    assert!(cut_twice > 1_000, "{cut_twice}");
}

/// What is expected of the frequencies of a walk is what the walk executes.
#[test]
fn expected_additions_are_those_of_the_walk() {
    let mut random = Random(8);
    for _ in 0..5_000 {
        let flow = graph(&mut random);
        let options = options(&flow, &mut random);
        let plan = Plan::new(&flow, &options, |_| 0).expect("a plan");
        let mut simulator = Simulator::new(&plan);
        for _ in 0..3 {
            simulator.run(&walk(&flow, &mut random, 30), |_| {});
        }
        assert_eq!(simulator.additions(), plan.expected_additions(|edge| simulator.taken(edge)));
        // And made with these frequencies, the plan has no more of them.
        let options = Options { placement: Placement::Smart, limit: 1 << 31, ..options };
        let [before, after] =
            [Plan::new(&flow, &options, |_| 0), Plan::new(&flow, &options, |edge| simulator.taken(edge))]
                .map(|plan| plan.expect("a plan").expected_additions(|edge| simulator.taken(edge)));
        assert!(after <= before);
    }
}

/// What the other tests rest on: the graphs have everything that is legal, often.
#[test]
fn random_graphs_have_everything() {
    let mut random = Random(9);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..2_000 {
        let flow = graph(&mut random);
        let blocks = || (0..flow.blocks()).map(BlockId::new);
        let mut has = |what, does: bool| *found.entry(what).or_default() += usize::from(does);
        let retreating = retreating(&flow);
        has("loops", !retreating.is_empty());
        has(
            "irreducible loops",
            retreating.iter().any(|&edge| !dominates(&flow, flow.target(edge), edge.from)),
        );
        has("self-loops", blocks().any(|block| flow.successors(block).contains(&block)));
        has("switches", blocks().any(|block| flow.successors(block).len() > 2));
        let parallel = |targets: &[BlockId]| targets.iter().collect::<BTreeSet<_>>().len() < targets.len();
        has("parallel edges", blocks().any(|block| parallel(flow.successors(block))));
        let reached = reached_without(&flow, None);
        has("unreachable blocks", reached.len() < flow.blocks());
        has("further entries", !flow.entries().is_empty());
        has("no exit", reached.iter().all(|&block| !flow.successors(block).is_empty()));
        has("headers as entries", headers(&flow).contains(&flow.entry()));
    }
    assert_eq!(found.len(), 9);
    assert!(found.values().all(|&count| count >= 200), "{found:?}");
}

/// The blocks that can be reached without running a block.
fn reached_without(flow: &Graph, avoided: Option<BlockId>) -> BTreeSet<BlockId> {
    let mut reached = BTreeSet::new();
    let mut next = vec![flow.entry()];
    next.extend(flow.entries());
    while let Some(block) = next.pop() {
        if Some(block) != avoided && reached.insert(block) {
            next.extend(flow.successors(block));
        }
    }
    reached
}

fn dominates(flow: &Graph, above: BlockId, below: BlockId) -> bool {
    !reached_without(flow, Some(above)).contains(&below)
}
