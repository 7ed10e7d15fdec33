//! The running example of the paper (Figure 3, Table 1): vectors PMU-1, PMU-2 and PMU-3, exactly.

use holloway_profilers::btb::{
    Analysis, Crossing, Estimate, EstimateOptions, Exits, Layout, Length, MethodCode, PathIndex, Program,
    Reconstruction, RegionId, RegionOptions, RegionPaths, Regions, RunCount, RunProfile, TakenBranch, Trace,
    back_edges, reconstruct,
};
use holloway_profilers::btb::{MethodRuns, Place, Step};
use holloway_profilers::{BlockId, Graph, MethodId};

const METHOD: MethodId = MethodId(0);

fn block(letter: char) -> BlockId {
    BlockId(letter as u32 - 'A' as u32)
}

fn blocks(letters: &str) -> Vec<BlockId> {
    letters.chars().map(block).collect()
}

fn letters(blocks: &[BlockId]) -> String {
    blocks.iter().map(|block| char::from(b'A' + block.0 as u8)).collect()
}

fn example() -> Program {
    let successors = ["BF", "CD", "E", "E", "BP", "GH", "I", "I", "JK", "L", "L", "MN", "O", "O", "P", ""];
    let successors: Vec<Vec<u32>> =
        successors.iter().map(|list| list.chars().map(|letter| block(letter).0).collect()).collect();
    let graph = Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let order = blocks("ABCDEFGHIJKLMNOP");
    let mut program = Program::new();
    program.insert(METHOD, MethodCode::new(&graph, Layout::Order(&order), 0xfeed).expect("a layout"));
    program
}

fn trace(edges: &[&str]) -> Trace {
    let jump = |edge: &&str| {
        let ends = blocks(edge);
        TakenBranch::jump(METHOD, ends[0], ends[1])
    };
    Trace { branches: edges.iter().map(jump).collect(), pc: None }
}

fn spelled(steps: &[Step]) -> String {
    let blocks: Vec<BlockId> = steps
        .iter()
        .map(|step| match step.place {
            Place::At { block, .. } => block,
            place => panic!("{place:?} is no block"),
        })
        .collect();
    letters(&blocks)
}

#[test]
fn partial_paths_are_those_of_pmu_1() {
    let program = example();
    for (edges, initial, extended) in [
        (&["JL", "MO"][..], "JLMO", "IJLMOP"),
        (&["AF", "GI", "JL", "MO"], "AFGIJLMO", "AFGIJLMOP"),
        (&["FH", "IK", "LN"], "FHIKLN", "AFHIKLNOP"),
    ] {
        let path = reconstruct(&program, &trace(edges), Reconstruction::default()).expect("consistent");
        assert_eq!(spelled(path.initial()), initial);
        assert_eq!(spelled(&path.steps), extended);
        let plain = Reconstruction { extend: false, ..Reconstruction::default() };
        let path = reconstruct(&program, &trace(edges), plain).expect("consistent");
        assert_eq!(spelled(&path.steps), initial);
    }
}

#[test]
fn regions_are_those_of_pmu_2() {
    let program = example();
    let code = program.method(METHOD).expect("the method");
    let regions = Regions::new(code, RegionOptions::default()).expect("a cap");
    let mut found: Vec<String> = Vec::new();
    for region in 0..regions.len() {
        let mut blocks = regions.blocks(RegionId(region as u32)).to_vec();
        blocks.sort();
        found.push(letters(&blocks));
    }
    assert_eq!(found, ["AFGHIJKLMNO", "BCDE", "P"]);
    let paths = |region| {
        let paths = RegionPaths::new(code, &regions, RegionId(region));
        (0..paths.count() as u32)
            .map(|path| letters(&paths.path(PathIndex(path)).expect("a path").blocks))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        paths(0),
        ["A", "AFGIJLMO", "AFGIJLNO", "AFGIKLMO", "AFGIKLNO", "AFHIJLMO", "AFHIJLNO", "AFHIKLMO", "AFHIKLNO"]
    );
    assert_eq!(paths(1), ["BCE", "BDE"]);
    assert_eq!(paths(2), ["P"]);
}

#[test]
fn the_loop_has_one_back_edge() {
    let program = example();
    let found = back_edges(program.method(METHOD).expect("the method"));
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(block('E'), block('B'))]);
}

/// Two traces of the same run count twice, however often each was sampled.
#[test]
fn lengths_are_of_different_traces() {
    let program = example();
    let mut analysis = Analysis::new(&program, Reconstruction::default(), Crossing::Split);
    // ABCEBDEP, and AFGIJLMOP twice: by all of its branches, and by the last.
    analysis.add(&trace(&["CE", "EB", "BD", "EP"]), 9);
    analysis.add(&trace(&["AF", "GI", "JL", "MO"]), 5);
    analysis.add(&trace(&["GI", "JL", "MO"]), 1);
    let lengths = analysis.lengths(RegionOptions::default()).expect("options");
    let of = |length: Length| (length.pieces, length.instructions);
    let runs: u64 = analysis.statistics().extended_length;
    assert_eq!(of(lengths.calls), (3, runs));
    assert_eq!(of(lengths.loops), (4, runs), "one of them goes around the loop once");
    // The first comes apart before P, too, and the others before theirs.
    assert_eq!(of(lengths.regions), (7, runs));
}

/// With exits kept, the loop's region has the paths that Ball and Larus count inside of the loop (BL-3: 0 to 3), each
/// with its exit.
#[test]
fn kept_exits_tell_paths_apart_as_ball_and_larus_do() {
    let program = example();
    let code = program.method(METHOD).expect("the method");
    let options = RegionOptions { exits: Exits::Kept, ..RegionOptions::default() };
    let regions = Regions::new(code, options).expect("a cap");
    let paths = RegionPaths::new(code, &regions, regions.of(block('B')).expect("a region"));
    let found: Vec<String> = (0..paths.count() as u32)
        .map(|path| {
            let path = paths.path(PathIndex(path)).expect("a path");
            format!("{}>{}", letters(&path.blocks), letters(path.exit.as_slice()))
        })
        .collect();
    assert_eq!(found, ["BCE>B", "BCE>P", "BDE>B", "BDE>P"]);
}

#[test]
fn weights_are_those_of_pmu_3() {
    let program = example();
    let runs = [("IJLMO", 100), ("BCE", 50), ("AFGIJ", 300), ("LMO", 200)]
        .map(|(run, count)| RunCount { blocks: blocks(run), count });
    let profile =
        RunProfile { methods: vec![MethodRuns { method: METHOD, fingerprint: 0xfeed, runs: runs.to_vec() }] };
    let estimate = Estimate::new(&program, &profile, EstimateOptions::default(), None).expect("options");
    let found: Vec<(String, f64)> =
        estimate.ranked().iter().map(|path| (letters(&path.full.blocks), path.weight)).collect();
    let expected = [
        ("AFGIJLMO", 250.0),
        ("AFGIJLNO", 150.0),
        ("AFHIJLMO", 100.0),
        ("AFGIKLMO", 50.0),
        ("AFHIKLMO", 50.0),
        ("BCE", 50.0),
    ];
    assert_eq!(found, expected.map(|(path, weight)| (path.to_owned(), weight)));
    assert_eq!(estimate.flow(), 650.0);
    assert_eq!(estimate.regions.len(), 2);
    assert_eq!((estimate.regions[0].matches, estimate.regions[0].partials), (8, 3));
    assert_eq!(estimate.regions[0].matching_ratio(), 8.0 / 3.0);
    assert_eq!(estimate.regions[1].matching_ratio(), 1.0);
}

/// The whole way, from records to weights: the partial paths of PMU-1, cut at region boundaries.
#[test]
fn traces_become_weights() {
    let program = example();
    let mut analysis = Analysis::new(&program, Reconstruction::default(), Crossing::Split);
    analysis.add(&trace(&["JL", "MO"]), 100);
    analysis.add(&trace(&["EB"]), 7);
    analysis.add(&trace(&["BD"]), 50);
    analysis.add(&trace(&["MN"]), 3);
    let estimate =
        Estimate::new(&program, &analysis.profile(), EstimateOptions::default(), None).expect("options");
    let found: Vec<(String, f64)> =
        estimate.paths.iter().map(|path| (letters(&path.full.blocks), path.weight)).collect();
    // IJLMOP gives IJLMO and P. E's one-block pieces say nothing; BDE comes from BD by extension.
    let expected = [("AFGIJLMO", 50.0), ("AFHIJLMO", 50.0), ("BDE", 50.0)];
    assert_eq!(found, expected.map(|(path, weight)| (path.to_owned(), weight)));
    assert_eq!(estimate.without_edge, 100 + 7 + 7);
    assert_eq!(analysis.statistics().all_discards(), 3, "there is no edge MN");
    assert_eq!(analysis.statistics().samples, 157);
}
