//! How far partial paths reach within blocks that call: examples by hand, and random programs whose every step is known.

mod btb_support;

use btb_support::{Rng, Walker, World, rng};
use holloway_profilers::btb::{
    Analysis, BlockCode, BranchKind, CallPoint, Crossing, Extent, Layout, Length, Link, MethodCode, Noise,
    Passage, Place, Program, Reconstruction, RegionOptions, TakenBranch, Trace, reconstruct,
};
use holloway_profilers::{Arm, BlockId, ControlFlow, Graph, MethodId};
use rand::RngExt;
use std::collections::BTreeMap;

fn calls(instructions: u32, calls: &[(u32, Option<u32>)]) -> BlockCode {
    let point = |&(before, callee): &(u32, Option<u32>)| CallPoint { before, callee: callee.map(MethodId) };
    BlockCode { instructions, calls: calls.iter().map(point).collect(), returns: true }
}

fn method(successors: &[&[u32]], falling: &[Option<usize>], code: Vec<BlockCode>) -> MethodCode {
    let arms: Vec<Option<Arm>> = falling.iter().map(|arm| arm.map(Arm::new)).collect();
    let graph = Graph::new(successors);
    MethodCode::new(&graph, Layout::Arms(&arms), 1).expect("a layout").with_code(code)
}

/// `main` (0), whose block 1 calls `f` (1) and then whatever is given:
///
/// ```text
/// main: 0: 2 instructions ──taken──► 1: 3 with the call of f, 4 with the second call, 2 ──falls──► 2: 1 ──falls──► 3: 1, returns
///                                                                                      └──taken─────────────────►
/// f: 0: 5, returns
/// g: 0: 4 ──falls──► 1: 1 ──taken──► 3: 3, returns
///         └─taken──► 2: 2 ──falls──►
/// ```
fn example(second: Option<u32>) -> Program {
    let size = |instructions| calls(instructions, &[]);
    let mut program = Program::new();
    let main = [size(2), calls(9, &[(3, Some(1)), (7, second)]), size(1), size(1)];
    let falling = [None, Some(0), Some(0), None];
    program.insert(MethodId(0), method(&[&[1], &[2, 3], &[3], &[]], &falling, main.to_vec()));
    program.insert(MethodId(1), method(&[&[]], &[None], vec![size(5)]));
    let falling = [Some(0), None, Some(0), None];
    let sizes = [4, 1, 2, 3].map(size).to_vec();
    program.insert(MethodId(2), method(&[&[1, 2], &[3], &[3], &[]], &falling, sizes));
    program
}

fn at(method: u32, block: u32) -> Place {
    Place::at(MethodId(method), BlockId(block))
}

fn branch(kind: BranchKind, source: Place, target: Place) -> TakenBranch {
    TakenBranch { source, target, kind }
}

fn jump(method: u32, from: u32, to: u32) -> TakenBranch {
    branch(BranchKind::Jump, at(method, from), at(method, to))
}

fn extent(program: &Program, branches: &[TakenBranch]) -> Extent {
    let trace = Trace { branches: branches.to_vec(), pc: None };
    let path = reconstruct(program, &trace, Reconstruction::default()).expect("consistent");
    Extent::new(program, path.initial(), true)
}

/// Method, block, piece: `main`'s block 1 behind its first call is `0.1+1`. A bar is on both sides of what the trace shows.
fn spelled(extent: &Extent) -> String {
    let of = |passages: &[Passage]| {
        let one = |of: &Passage| match of.from {
            0 => format!("{}.{}", of.method.0, of.block.0),
            piece => format!("{}.{}+{piece}", of.method.0, of.block.0),
        };
        passages.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    let below = extent.passages.len() - extent.below;
    let (above, below) = (&extent.passages[..extent.above], &extent.passages[below..]);
    format!("{} | {} | {}", of(above), of(extent.initial()), of(below)).trim().to_owned()
}

fn size(program: &Program, passages: &[Passage]) -> u64 {
    passages.iter().map(|of| of.size(program.method(of.method).expect("a method"))).sum()
}

/// Initial and extended instructions.
fn sizes(program: &Program, extent: &Extent) -> (u64, u64) {
    (size(program, extent.initial()), size(program, &extent.passages))
}

#[test]
fn the_last_branch_arrives_at_what_is_in_front_of_a_call() {
    let program = example(Some(2));
    let found = extent(&program, &[jump(0, 0, 1)]);
    // It goes on through f, which does nothing but return, and into g, which branches.
    assert_eq!(spelled(&found), "| 0.0 0.1 | 1.0 0.1+1 2.0");
    assert_eq!(sizes(&program, &found), (2 + 3, 2 + 3 + 5 + 4 + 4));
    let links: Vec<Link> = found.passages.iter().map(|of| of.link).collect();
    assert_eq!(links, [Link::Start, Link::Taken, Link::Call, Link::Return, Link::Call]);
}

#[test]
fn a_return_tells_where_the_call_was() {
    let program = example(Some(2));
    let back = branch(BranchKind::Return, at(1, 0), at(0, 1));
    let found = extent(&program, &[back]);
    assert_eq!(spelled(&found), "0.0 0.1 | 1.0 0.1+1 | 2.0");
    assert_eq!(sizes(&program, &found), (5 + 4, 2 + 3 + 5 + 4 + 4));
    let links: Vec<Link> = found.passages.iter().map(|of| of.link).collect();
    assert_eq!(links, [Link::Start, Link::Taken, Link::Call, Link::Return, Link::Call]);
    // The last block of g is a join.
    let found = extent(&program, &[branch(BranchKind::Return, at(2, 3), at(0, 1)), jump(0, 1, 3)]);
    assert_eq!(spelled(&found), "| 2.3 0.1+2 0.3 |");
    assert_eq!(sizes(&program, &found), (3 + 2 + 1, 6));
}

/// Nothing of a block counts twice.
#[test]
fn calls_part_a_block() {
    let program = example(Some(2));
    let found = extent(
        &program,
        &[
            jump(0, 0, 1),
            branch(BranchKind::Call, at(0, 1), at(1, 0)),
            branch(BranchKind::Return, at(1, 0), at(0, 1)),
            branch(BranchKind::Call, at(0, 1), at(2, 0)),
            jump(2, 0, 2),
            branch(BranchKind::Return, at(2, 3), at(0, 1)),
            jump(0, 1, 3),
        ],
    );
    assert_eq!(spelled(&found), "| 0.0 0.1 1.0 0.1+1 2.0 2.2 2.3 0.1+2 0.3 |");
    assert_eq!(sizes(&program, &found).0, 2 + 3 + 5 + 4 + 4 + 2 + 3 + 2 + 1);
    let runs: Vec<u64> = found.runs().map(|run| size(&program, run)).collect();
    assert_eq!(runs, [2 + 3, 5, 4, 4 + 2 + 3, 2 + 1]);
}

/// Up from behind a call: out of the block in which its callee returns, if there is one callee and one such block.
#[test]
fn extension_goes_back_through_a_call_of_one_target() {
    let of_f = example(Some(1));
    let found = extent(&of_f, &[jump(0, 1, 3)]);
    assert_eq!(spelled(&found), "0.0 0.1 1.0 0.1+1 1.0 | 0.1+2 0.3 |");
    assert_eq!(sizes(&of_f, &found), (2 + 1, 2 + 3 + 5 + 4 + 5 + 3));
    let of_g = example(Some(2));
    assert_eq!(spelled(&extent(&of_g, &[jump(0, 1, 3)])), "2.3 | 0.1+2 0.3 |");
    let of_any = example(None);
    assert_eq!(spelled(&extent(&of_any, &[jump(0, 1, 3)])), "| 0.1+2 0.3 |");
    // Down it ends in front of such a call, too.
    assert_eq!(spelled(&extent(&of_any, &[jump(0, 0, 1)])), "| 0.0 0.1 | 1.0 0.1+1");
}

/// Two calls of f: which of them returned is told by what comes after.
#[test]
fn what_is_not_known_counts_least() {
    let program = example(Some(1));
    let back = branch(BranchKind::Return, at(1, 0), at(0, 1));
    let found = extent(&program, &[back]);
    assert_eq!(spelled(&found), "| 1.0 0.1+2 |", "two instructions rather than four");
    let again = branch(BranchKind::Call, at(0, 1), at(1, 0));
    assert_eq!(spelled(&extent(&program, &[back, again])), "0.0 0.1 | 1.0 0.1+1 1.0 | 0.1+2");
    assert_eq!(spelled(&extent(&program, &[back, jump(0, 1, 3)])), "0.0 0.1 1.0 0.1+1 | 1.0 0.1+2 0.3 |");
    assert_eq!(spelled(&extent(&program, &[again])), "| 0.1 1.0 |", "three instructions rather than four");
}

/// Where a call ends its block, its return is at the beginning of the next one.
#[test]
fn behind_the_last_instruction_is_the_next_block() {
    let mut program = Program::new();
    let main = vec![calls(3, &[(3, Some(1))]), calls(7, &[])];
    program.insert(MethodId(0), method(&[&[1], &[1]], &[Some(0), None], main));
    program.insert(MethodId(1), method(&[&[]], &[None], vec![calls(5, &[])]));
    let back = branch(BranchKind::Return, at(1, 0), at(0, 0));
    let found = extent(&program, &[back]);
    assert_eq!(spelled(&found), "0.0 | 1.0 0.0+1 0.1 |");
    assert_eq!(sizes(&program, &found), (5 + 7, 3 + 5 + 7));
    let mut analysis = Analysis::new(&program, Reconstruction::default(), Crossing::Split);
    analysis.add(&Trace { branches: vec![back], pc: None }, 1);
    let lengths = analysis.lengths(RegionOptions::default()).expect("options");
    // Block 1 is a loop, so a region of its own: of the end of block 0, which has no instruction, nothing is left.
    assert_eq!([lengths.calls, lengths.regions], [Length { pieces: 3, instructions: 15 }; 2]);
}

#[test]
fn errors_and_calls_without_end_are_no_way_on() {
    let mut program = Program::new();
    // f calls itself whatever happens; thrown ends without a return.
    let mut thrown = calls(4, &[]);
    thrown.returns = false;
    program.insert(MethodId(0), method(&[&[]], &[None], vec![calls(3, &[(2, Some(0))])]));
    program.insert(MethodId(1), method(&[&[]], &[None], vec![thrown]));
    program.insert(MethodId(2), method(&[&[]], &[None], vec![calls(9, &[(6, Some(1))])]));
    let from_outside = |method| branch(BranchKind::Call, Place::Outside, at(method, 0));
    assert_eq!(spelled(&extent(&program, &[from_outside(0)])), "| 0.0 | 0.0");
    assert_eq!(spelled(&extent(&program, &[from_outside(2)])), "| 2.0 | 1.0");
    let out = branch(BranchKind::Return, at(0, 0), Place::Outside);
    assert_eq!(spelled(&extent(&program, &[out])), "0.0+1 | 0.0+1 |");
}

/// Straight code that calls straight code, twice each time, has more passages than anybody wants.
#[test]
fn extension_has_an_end() {
    let mut program = Program::new();
    for number in 0..40 {
        let twice = [(1, Some(number + 1)), (2, Some(number + 1))];
        let code = if number < 39 { calls(3, &twice) } else { calls(1, &[]) };
        program.insert(MethodId(number), method(&[&[]], &[None], vec![code]));
    }
    let found = extent(&program, &[branch(BranchKind::Call, Place::Outside, at(0, 0))]);
    assert_eq!((found.above, found.below), (0, Extent::MOST_PIECES));
}

/// Tells the program what its blocks call; some of the calls might go elsewhere, some blocks end with one. Methods call only those
/// with higher numbers, so that no walk is too deep to make a call.
fn tell_calls(world: &mut World, random: &mut Rng) {
    for number in 0..world.graphs.len() {
        let mut told = Vec::new();
        let graph = &world.graphs[number];
        for (block, calls) in world.calls[number].iter_mut().enumerate() {
            calls.retain(|&callee| callee as usize > number);
            let mut before = 0;
            let mut point = |&callee: &u32| {
                before += random.random_range(1..4);
                let known = random.random_bool(0.7);
                CallPoint { before, callee: known.then_some(MethodId(callee)) }
            };
            let calls: Vec<CallPoint> = calls.iter().map(&mut point).collect();
            let falls = graph.successors(BlockId::new(block)).len() == 1;
            let behind = if falls && random.random_bool(0.5) { 0 } else { random.random_range(1..4) };
            told.push(BlockCode { instructions: before + behind, calls, returns: true });
        }
        let id = MethodId::new(number);
        let code = world.code(id).clone().with_code(told);
        world.program.insert(id, code);
    }
}

/// What was executed: for each step its method, block and piece.
fn executed(walker: &Walker<'_>) -> Vec<Option<(MethodId, BlockId, usize)>> {
    let mut pieces: BTreeMap<usize, usize> = BTreeMap::new();
    let piece_of = |step: &btb_support::True| {
        let Place::At { method, block } = step.step.place else { return None };
        let piece = pieces.entry(step.activation).or_insert(0);
        *piece = if step.step.link == Link::Return { *piece + 1 } else { 0 };
        Some((method, block, *piece))
    };
    walker.steps.iter().map(piece_of).collect()
}

#[test]
fn passages_are_what_was_executed() {
    let (mut exact, mut vague, mut above, mut below) = (0, 0, 0, 0);
    for seed in 0..2400 {
        let mut random = rng(seed);
        let (methods, most_blocks) = (random.random_range(2..6), [2, 4, 12][random.random_range(0..3usize)]);
        let mut world = World::random(&mut random, methods, most_blocks);
        tell_calls(&mut world, &mut random);
        let mut walker = Walker::new(&world);
        for _ in 0..300 {
            walker.step(&mut random);
        }
        let executed = executed(&walker);
        for _ in 0..40 {
            let depth = random.random_range(1..7usize);
            if walker.records.len() <= depth {
                break;
            }
            let first = random.random_range(0..walker.records.len() - depth);
            let records = &walker.records[first..first + depth];
            let branches: Vec<TakenBranch> = records.iter().map(|record| record.branch).collect();
            let found = extent(&world.program, &branches);
            let (start, end) = (records[0].source_step, records[depth - 1].source_step + 1);
            let place = |of: &Passage| Some((of.method, of.block, of.from));
            let truth: Vec<_> = executed[start..=end].iter().filter(|of| of.is_some()).collect();
            let shown: Vec<_> = found.initial().iter().map(place).collect();
            let inside = shown.len().min(truth.len());
            // It may end in the next block, if a return arrived behind the last instruction of one.
            assert!((truth.len()..=truth.len() + 1).contains(&shown.len()), "seed {seed}");
            if shown[..inside].iter().ne(truth.iter().copied()) {
                vague += 1;
                let code = |method| world.program.method(method).expect("a method");
                let size = |of: &&Option<(MethodId, BlockId, usize)>| {
                    of.map_or(0, |(method, block, piece)| code(method).size_of_pieces(block, piece, piece))
                };
                let whole: u64 = truth.iter().map(size).sum();
                assert!(self::size(&world.program, found.initial()) <= whole, "seed {seed}");
                continue;
            }
            exact += 1;
            let history = &executed[..start];
            let earlier: Vec<_> = found.passages[..found.above].iter().map(place).collect();
            assert!(history.ends_with(&earlier), "seed {seed}: {earlier:?} {branches:?}");
            above += earlier.len();
            if world.throws == 0.0 && executed[end].is_some() {
                let later = found.passages[found.above + truth.len()..].iter().map(place);
                let common = later.clone().zip(&executed[end + 1..]);
                assert!(common.clone().all(|(one, other)| one == *other), "seed {seed}: {branches:?}");
                below += common.count();
            }
        }
    }
    assert!(exact > 10_000 && vague < exact / 20, "{exact} are exact, {vague} are not");
    assert!(above > 5000 && below > 5000, "{above} above, {below} below");
}

/// Records that may be wrong, and calls that code makes where it should not: there is a length for whatever is not discarded.
#[test]
fn damaged_records_have_lengths_too() {
    let (mut understood, mut discarded) = (0, 0);
    for seed in 0..400 {
        let mut random = rng(seed);
        let mut world = World::random(&mut random, 4, 12);
        let really = world.calls.clone();
        tell_calls(&mut world, &mut random);
        // What was told is half of it.
        world.calls = really;
        let mut walker = Walker::new(&world);
        for _ in 0..300 {
            walker.step(&mut random);
        }
        let mut noise = Noise::new(10, seed).expect("percent");
        let mut analysis = Analysis::new(&world.program, Reconstruction::default(), Crossing::Split);
        for records in walker.records.chunks(5) {
            let mut branches: Vec<TakenBranch> = records.iter().map(|record| record.branch).collect();
            noise.disturb(&mut branches);
            analysis.add(&Trace { branches, pc: None }, 1);
        }
        let (statistics, lengths) = (analysis.statistics(), analysis.lengths(RegionOptions::default()));
        let lengths = lengths.expect("options");
        assert!(statistics.initial_length <= statistics.extended_length);
        for cut in [lengths.calls, lengths.loops, lengths.regions] {
            assert_eq!(cut.instructions, statistics.extended_length, "seed {seed}");
        }
        understood += statistics.traces;
        discarded += statistics.all_discards();
    }
    assert!(understood > 1000 && discarded > 1000, "{understood} understood, {discarded} discarded");
}

/// Without calls it is what extension in whole blocks is.
#[test]
fn methods_without_calls_are_extended_alike() {
    let mut added = 0;
    for seed in 0..300 {
        let mut random = rng(seed);
        let world = World::random(&mut random, 1, 20);
        let mut walker = Walker::new(&world);
        for _ in 0..200 {
            walker.step(&mut random);
        }
        for at in 0..walker.records.len().saturating_sub(3) {
            let branches: Vec<TakenBranch> = walker.records[at..at + 3].iter().map(|of| of.branch).collect();
            let trace = Trace { branches, pc: None };
            let path = reconstruct(&world.program, &trace, Reconstruction::default()).expect("consistent");
            let found = Extent::new(&world.program, path.initial(), true);
            assert_eq!((found.above, found.below), (path.above, path.below), "seed {seed}");
            let passages = found.passages.iter().map(|of| (Place::at(of.method, of.block), of.link));
            let steps = path.steps.iter().filter(|step| step.place != Place::Outside);
            assert!(passages.eq(steps.map(|step| (step.place, step.link))), "seed {seed}: {path:?}");
            added += found.above + found.below;
        }
    }
    assert!(added > 10_000, "{added} passages were added");
}
