//! Worked examples, most of them from the papers: which number each path has, and which numbers come out of a walk.
//! BL is for Ball-Larus numbering, SM for smart placement, PEP for what a sampler does; graphs and traces are in
//! letters (`paths_support`).

mod paths_support;

use holloway_profilers::paths::{
    Action, Begin, Cut, CutBlock, DecodeCache, EdgeKind, End, NodeId, Options, PathBreak, PathDag, Place,
    Placement, Plan, PlanError, Simulator, Step, Why, headers,
};
use holloway_profilers::{Arm, BlockId, Edge, Graph, VersionId};
use paths_support::{all_spelled, branches, edge, letters, numbers, plan, spelled, steps};

const A: BlockId = BlockId(0);
const B: BlockId = BlockId(1);
const C: BlockId = BlockId(2);

fn three_diamonds() -> Graph {
    letters("A:BC B:D C:D D:EF E:G F:G G:HI H:J I:J")
}

/// The loop of figure 3 of the k-iteration paper.
fn figure_3() -> Graph {
    letters("A:B B:DC C:E D:E E:BF")
}

fn at_headers(flow: &Graph) -> Options {
    Options { cut: Cut::Blocks(headers(flow)), ..Options::default() }
}

fn added(plan: &Plan) -> Vec<(u64, u64)> {
    let value = |action| match action {
        Action::Add(value) => value,
        Action::Break(at) => at.end,
    };
    let edges = plan.additions().map(|edge| (edge, value(plan.action(edge))));
    edges.map(|(edge, value)| (u64::from(edge.from.0 * 10 + edge.arm.0), value)).collect()
}

#[test]
fn bl_1_three_diamonds() {
    let (plan, dag) = plan(&three_diamonds(), &Options::default());
    assert_eq!(plan.paths(), 8);
    assert_eq!(added(&plan), [(1, 4), (31, 2), (61, 1)]);
    let expected = ["ABDEGHJ", "ABDEGIJ", "ABDFGHJ", "ABDFGIJ", "ACDEGHJ", "ACDEGIJ", "ACDFGHJ", "ACDFGIJ"];
    assert_eq!(all_spelled(&dag), expected);
}

#[test]
fn bl_2_six_paths() {
    let (plan, dag) = plan(&letters("A:CB B:CD C:D D:FE E:F"), &Options::default());
    assert_eq!(plan.paths(), 6);
    assert_eq!(added(&plan), [(1, 2), (11, 2), (31, 1)]);
    assert_eq!(all_spelled(&dag), ["ACDF", "ACDEF", "ABCDF", "ABCDEF", "ABDF", "ABDEF"]);
}

const TRACE: &str = "ABCEBCEBDEBDEBCEBCEBDEBDEBCEBCEBDEBDEBCEBCEF";

#[test]
fn bl_3_a_loop_cut_at_its_back_edge() {
    let flow = figure_3();
    let (plan, dag) = plan(&flow, &Options::default());
    assert_eq!(all_spelled(&dag), ["BDE⟲", "BDEF", "BCE⟲", "BCEF", "ABDE⟲", "ABDEF", "ABCE⟲", "ABCEF"]);
    assert_eq!(
        plan.start(),
        4,
        "the value of the edge from A in the paper is where the register starts here"
    );
    assert_eq!(plan.action(edge(4, 0)), Action::Break(PathBreak { end: 0, begin: 0 }));
    assert_eq!(plan.action(edge(4, 1)), Action::Add(1));
    assert_eq!(TRACE.len(), 44);
    assert_eq!(numbers(&plan, &steps(&flow, TRACE)), [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3]);
}

#[test]
fn bl_4_the_same_loop_cut_at_its_header() {
    let flow = figure_3();
    assert_eq!(headers(&flow), [B]);
    let (plan, dag) = plan(&flow, &at_headers(&flow));
    assert_eq!(all_spelled(&dag), ["BDE[B]", "BDEF", "BCE[B]", "BCEF", "A[B]"]);
    assert_eq!(plan.cut_blocks(), [CutBlock { block: B, begin: 0, why: Why::Listed }]);
    assert_eq!(numbers(&plan, &steps(&flow, TRACE)), [4, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3]);
}

#[test]
fn a_yieldpoint_in_the_latch_breaks_the_loop_as_well() {
    let flow = figure_3();
    let latch = BlockId(4);
    let (plan, dag) = plan(&flow, &Options { cut: Cut::Blocks(vec![latch]), ..Options::default() });
    assert_eq!(plan.added_cuts().count(), 0);
    // Behind the latch lies all of the next iteration up to it: E→B takes part, E→F leaves.
    assert_eq!(all_spelled(&dag), ["EBD[E]", "EBC[E]", "EF", "ABD[E]", "ABC[E]"]);
    assert_eq!(numbers(&plan, &steps(&flow, "ABCEBDEF")), [4, 0, 2]);
}

#[test]
fn bl_5_a_self_loop() {
    let flow = letters("A:B B:BC");
    let (_, edges) = plan(&flow, &Options::default());
    assert_eq!(all_spelled(&edges), ["B⟲", "BC", "AB⟲", "ABC"]);
    let (_, header) = plan(&flow, &at_headers(&flow));
    assert_eq!(all_spelled(&header), ["B[B]", "BC", "A[B]"]);
}

#[test]
fn sm_1_placement_by_frequency() {
    let flow = letters("A:BC B:D C:D D:EF E:G F:G");
    let frequency = |edge: Edge| {
        [[90, 10], [90, 0], [10, 0], [5, 95], [5, 0], [95, 0]][edge.from.index()][edge.arm.index()]
    };
    let of = |placement| {
        let plan = Plan::new(&flow, &Options { placement, ..Options::default() }, frequency).expect("a plan");
        (added(&plan), plan.expected_additions(frequency))
    };
    assert_eq!(of(Placement::Naive), (vec![(1, 2), (31, 1)], 105));
    assert_eq!(of(Placement::Smart), (vec![(1, 2), (30, 1)], 15));
    assert_eq!(of(Placement::Hot), (vec![(0, 2), (31, 1)], 185));
}

/// What begins most often begins with 0: the busiest loop, or the method if its loops are hardly run.
#[test]
fn where_paths_begin_is_in_order_of_frequency() {
    let flow = letters("A:B B:BC C:CD");
    for (entered, first, second, expected) in
        [(1, 10, 90, [2, 1, 0]), (1, 90, 10, [2, 0, 1]), (50, 40, 30, [0, 1, 2])]
    {
        let frequency = |edge: Edge| {
            [[entered, 0], [first, entered], [second, entered]][edge.from.index()][edge.arm.index()]
        };
        for cut in [Cut::BackEdges, Cut::Blocks(vec![B, C])] {
            let by_block = matches!(cut, Cut::Blocks(_));
            let plan = Plan::new(&flow, &Options { cut, ..Options::default() }, frequency).expect("a plan");
            let begin = |block| match plan.action(edge(block, 0)) {
                Action::Break(at) => at.begin,
                Action::Add(_) => plan.cut(BlockId(block)).expect("a cut").begin,
            };
            let values = [plan.start(), begin(1), begin(2)];
            let rank = values.map(|value| values.iter().filter(|&&other| other < value).count());
            // A header is run by those who enter the loop as well, so the loops come first when blocks are cut.
            let expected = if by_block && entered == 50 { [2, 0, 1] } else { expected };
            assert_eq!(rank, expected, "{plan}");
        }
    }
    // A loop around the method's first block: what comes back did not enter the method.
    let plan =
        Plan::new(&letters("A:AB"), &Options::default(), |edge| [10, 1][edge.arm.index()]).expect("a plan");
    assert_eq!((plan.action(edge(0, 0)), plan.start()), (Action::Break(PathBreak { end: 0, begin: 0 }), 2));
}

#[test]
fn pep_1_branches_of_sampled_paths() {
    let (_, dag) = plan(&three_diamonds(), &Options::default());
    let mut cache = DecodeCache::new();
    let mut taken = [[0; 2]; 10];
    for number in [5, 5, 0] {
        let path = cache.path(&dag, number).expect("a path");
        assert_eq!(path.branch_count, 3);
        path.branches.iter().for_each(|arm| taken[arm.branch.position as usize][arm.arm.index()] += 1);
    }
    assert_eq!([taken[0], taken[3], taken[6]], [[1, 2], [3, 0], [1, 2]]);
    assert_eq!(cache.decoded(), 2, "each number is decoded once");
    assert_eq!(cache.path(&dag, 8), None);
}

#[test]
fn irreducible_loops() {
    let flow = letters("A:BC B:C C:BD");
    let (_, edges) = plan(&flow, &Options::default());
    assert_eq!(all_spelled(&edges), ["BC⟲", "BCD", "ABC⟲", "ABCD", "AC⟲", "ACD"]);
    let (_, header) = plan(&flow, &at_headers(&flow));
    assert_eq!(all_spelled(&header), ["BC[B]", "BCD", "A[B]", "AC[B]", "ACD"]);
}

#[test]
fn infinite_loops() {
    let flow = letters("A:B B:C C:B");
    let (_, edges) = plan(&flow, &Options::default());
    assert_eq!(all_spelled(&edges), ["BC⟲", "ABC⟲"]);
    let (_, header) = plan(&flow, &at_headers(&flow));
    assert_eq!(all_spelled(&header), ["BC[B]", "A[B]"]);
}

#[test]
fn a_method_with_one_path_needs_nothing() {
    for flow in [letters("A:"), letters("A:B B:C"), letters("A:B C:AB")] {
        let (plan, dag) = plan(&flow, &Options::default());
        assert_eq!((plan.paths(), plan.needs_register(), plan.additions().count()), (1, false, 0));
        assert_eq!(dag.decode(0).map(|path| path.branch_count), Some(0));
        assert_eq!(dag.decode(1), None);
    }
}

#[test]
fn a_method_that_begins_with_a_loop_header() {
    let flow = letters("A:AB");
    let (edges, dag) = plan(&flow, &Options::default());
    assert_eq!(all_spelled(&dag), ["A⟲", "AB", "A⟲", "AB"]);
    assert_eq!(dag.decode(0).map(|path| path.begin), Some(Begin::Cut(A)));
    assert_eq!(dag.decode(2).map(|path| path.begin), Some(Begin::Method));
    assert_eq!(numbers(&edges, &steps(&flow, "AAAB")), [2, 0, 1]);
    let (header, dag) = plan(&flow, &at_headers(&flow));
    assert_eq!(all_spelled(&dag), ["A[A]", "AB", "[A]"]);
    assert_eq!(
        numbers(&header, &steps(&flow, "AAAB")),
        [2, 0, 0, 1],
        "the first path ends in the first yieldpoint"
    );
}

#[test]
fn handlers_begin_paths_and_a_throw_drops_one() {
    let flow = letters("A:B B:C C: D:BE").with_entries(vec![BlockId(3)]);
    let (plan, dag) = plan(&flow, &Options::default());
    assert_eq!(all_spelled(&dag), ["!DBC", "!DE", "ABC"]);
    assert_eq!(plan.entry_start(BlockId(3)), Some(0));
    assert_eq!((plan.entry_start(A), plan.start()), (None, 2));
    let mut simulator = Simulator::new(&plan);
    let mut ended = Vec::new();
    simulator
        .run(&[Step::Take(Arm(0)), Step::Jump(BlockId(3)), Step::Take(Arm(1))], |number| ended.push(number));
    assert_eq!((ended, simulator.dropped()), (vec![1], 1));
    assert_eq!((simulator.taken(edge(0, 0)), simulator.taken(edge(1, 0))), (1, 0));
}

#[test]
fn switches_and_parallel_edges() {
    let flow = letters("A:BBCB B:D C:D");
    let (apart, dag) = plan(&flow, &Options::default());
    assert_eq!(all_spelled(&dag), ["ABD", "ABD", "ACD", "ABD"]);
    assert_eq!(added(&apart), [(1, 1), (2, 2), (3, 3)]);
    let (merged, dag) = plan(&flow, &Options { merge_parallel: true, ..Options::default() });
    assert_eq!(all_spelled(&dag), ["ABD", "ACD"]);
    assert_eq!(added(&merged), [(2, 1)]);
    let [through_b, through_c] = [0, 1].map(|number| dag.decode(number).expect("a path"));
    assert_eq!((through_b.branch_count, through_b.branches.len()), (1, 0), "which case it was is not known");
    assert_eq!((through_c.branch_count, through_c.branches.len()), (1, 1));
    assert_eq!(dag.encode(Begin::Method, &[edge(0, 3), edge(1, 0)]), Some(0));
}

#[test]
fn a_cycle_without_a_listed_block_gets_a_cut_that_is_reported() {
    // Two loops in a row; only the first has a yieldpoint.
    let flow = letters("A:B B:BC C:D D:CE");
    let (plan, dag) = plan(&flow, &Options { cut: Cut::Blocks(vec![B]), ..Options::default() });
    assert_eq!(plan.added_cuts().map(|cut| (cut.block, cut.why)).collect::<Vec<_>>(), [(C, Why::Cycle)]);
    assert_eq!(all_spelled(&dag), ["B[B]", "B[C]", "CD[C]", "CDE", "A[B]"]);
}

#[test]
fn partial_paths() {
    let flow = figure_3();
    let (plan, dag) = plan(&flow, &at_headers(&flow));
    let at = |r, place| dag.decode_partial(r, place).map(|path| spelled(&path));
    assert_eq!(at(2, Place::Block(BlockId(4))).as_deref(), Some("BCE…"));
    assert_eq!(at(2, Place::Block(C)).as_deref(), Some("BC…"));
    assert_eq!(at(0, Place::Behind(B)).as_deref(), Some("B…"));
    assert_eq!(
        at(0, Place::Block(B)).as_deref(),
        Some("BDEB…"),
        "before the yieldpoint the iteration is not over"
    );
    assert_eq!(at(4, Place::Block(A)).as_deref(), Some("A…"));
    assert_eq!(at(3, Place::Block(C)), None, "the addition of E→F was not executed yet");
    assert_eq!(at(0, Place::Block(C)), None);
    assert_eq!(at(0, Place::Exit), None);
    assert_eq!(at(plan.paths(), Place::Block(A)), None);
}

#[test]
fn the_record_says_what_its_edges_stand_for() {
    let flow = figure_3();
    let (plan, _) = plan(&flow, &Options::default());
    let dag = PathDag::new(&plan, VersionId(7), branches(&flow));
    assert_eq!((dag.version(), dag.paths(), dag.nodes().len()), (VersionId(7), 8, 8));
    let begins: Vec<_> = dag.edges(NodeId::ENTRY).iter().map(|edge| (edge.value, edge.kind)).collect();
    assert_eq!(begins, [(0, EdgeKind::Begin(Begin::Cut(B))), (4, EdgeKind::Begin(Begin::Method))]);
    let latch = (0..8).map(NodeId).find(|&node| dag.place(node) == Place::Block(BlockId(4))).expect("E");
    let ends: Vec<_> = dag.edges(latch).iter().map(|edge| (edge.kind, edge.branch.is_some())).collect();
    let back = edge(4, 0);
    assert_eq!(ends, [(EdgeKind::End(End::BackEdge(back)), true), (EdgeKind::Real(edge(4, 1)), true)]);
    assert!(dag.edges(NodeId::EXIT).is_empty());
}

#[test]
fn plans_print_as_text() {
    let flow = letters("A:B B:DC C:E D:E E:BF G:E").with_entries(vec![BlockId(6)]);
    let (edges, _) = plan(&flow, &Options::default());
    assert_eq!(
        edges.to_string(),
        "10 paths, 2 edges with an addition\n\
         enter b0: r = 6\n\
         arrive at b6: r = 4\n\
         b1#1 to b2: r += 2\n\
         b4#0 to b1: count r + 0; r = 0\n\
         b4#1 to b5: r += 1\n"
    );
    let (header, _) = plan(&flow, &Options { cut: Cut::Blocks(Vec::new()), ..Options::default() });
    assert_eq!(
        header.to_string(),
        "7 paths, 2 edges with an addition\n\
         enter b0: r = 6\n\
         arrive at b6: r = 4\n\
         b1: count r; r = 0 (a cycle without a cut)\n\
         b1#1 to b2: r += 2\n\
         b4#1 to b5: r += 1\n"
    );
    assert_eq!(
        PathDag::new(&header, VersionId(0), |_| None).decode(6).map(|path| path.to_string()).as_deref(),
        Some("enter: b0 b1, cut")
    );
}

#[test]
fn what_cannot_be_planned_is_an_error() {
    let flow = figure_3();
    let error = |options: Options| Plan::new(&flow, &options, |_| 0).expect_err("no plan");
    let none = error(Options { limit: 0, ..Options::default() });
    assert_eq!(none, PlanError::Limit(0));
    assert_eq!(none.to_string(), "a limit of 0 paths: it must be from 1 to 4294967296");
    let unknown = error(Options { cut: Cut::Blocks(vec![BlockId(6)]), ..Options::default() });
    assert_eq!(unknown.to_string(), "no block b6 to cut: the graph has 6 blocks, numbered from b0");
}

#[test]
fn the_same_graph_gives_the_same_plan_and_values_can_be_written_to_files() {
    fn written<T: serde::Serialize>(_: &T) {}
    fn read<T: serde::de::DeserializeOwned>() {}
    let flow = figure_3();
    let (plan, dag) = plan(&flow, &Options::default());
    assert_eq!(paths_support::plan(&flow, &Options::default()), (plan.clone(), dag.clone()));
    assert_ne!(paths_support::plan(&flow, &at_headers(&flow)).0, plan);
    written(&plan);
    written(&dag);
    read::<Options>();
    read::<holloway_profilers::paths::Path>();
}
