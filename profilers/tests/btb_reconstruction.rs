//! Reconstruction against the truth: a walker executes random programs, a ring sees its taken branches, and what is
//! reconstructed from the ring must be what was executed.

mod btb_support;

use btb_support::{Walker, World, rng};
use holloway_profilers::btb::{
    BranchKind, Crossing, Discard, Layout, Link, MethodCode, Place, Program, Reconstruction, RegionOptions,
    RegionPaths, Regions, Ring, Run, Step, TakenBranch, Trace, pieces, reconstruct, split_at_calls,
};
use holloway_profilers::{BlockId, Graph, MethodId};
use rand::RngExt;
use std::collections::{BTreeMap, VecDeque};

const SEEDS: u64 = 600;

/// Calls `check` with the walker, the trace, the index of the first record, and whether the trace has the program
/// counter.
fn for_each_window(seeds: u64, mut check: impl FnMut(&World, &Walker<'_>, &Trace, usize)) {
    for seed in 0..seeds {
        let mut random = rng(seed);
        let methods = random.random_range(1..5);
        let most_blocks = [3, 8, 20, 60][random.random_range(0..4usize)];
        let world = World::random(&mut random, methods, most_blocks);
        let depth = [1, 2, 4, 4, 16, 32][random.random_range(0..6usize)];
        let mut ring = Ring::new(depth).expect("a depth");
        // The naive twin of the ring.
        let mut last: VecDeque<TakenBranch> = VecDeque::new();
        let mut walker = Walker::new(&world);
        let mut seen = 0;
        let mut windows = Vec::new();
        for _ in 0..300 {
            walker.step(&mut random);
            for record in &walker.records[seen..] {
                ring.push(record.branch);
                last.push_back(record.branch);
                if last.len() > depth {
                    last.pop_front();
                }
            }
            seen = walker.records.len();
            let mut branches = Vec::new();
            ring.snapshot(&mut branches);
            assert_eq!(branches, Vec::from(last.clone()));
            assert_eq!(ring.len(), last.len());
            if random.random_bool(0.1) && !ring.is_empty() {
                let pc = random.random_bool(0.5).then(|| walker.place());
                windows.push((Trace { branches, pc }, seen, walker.steps.len() - 1));
            }
        }
        let steps = walker.steps.clone();
        for (trace, records, now) in windows {
            let first = records - trace.branches.len();
            // What the walker looked like when the sample was taken, as far as the window is concerned.
            let end = if trace.pc.is_some() {
                now
            } else {
                // The step that the last branch arrived at.
                walker.records[records - 1].source_step + 1
            };
            walker.steps = steps[..=end].to_vec();
            check(&world, &walker, &trace, first);
            walker.steps = steps.clone();
        }
    }
}

#[test]
fn what_was_executed_in_the_window_is_reconstructed_exactly() {
    let mut windows = 0;
    for_each_window(SEEDS, |world, walker, trace, first| {
        windows += 1;
        let start = walker.records[first].source_step;
        let mut truth: Vec<Step> = walker.steps[start..].iter().map(|step| step.step).collect();
        truth[0].link = Link::Start;
        let plain = Reconstruction { extend: false, use_pc: true, repair: false };
        let path = reconstruct(&world.program, trace, plain).expect("consistent");
        // Jumps and falls within one step of the outside do not show.
        assert_eq!(path.steps, truth);
        assert_eq!((path.repaired, path.pc_ignored), (0, false));
        let crossings =
            trace.branches.iter().filter(|b| matches!(b.kind, BranchKind::Call | BranchKind::Return)).count();
        assert_eq!(path.crossings as usize, crossings);
        // Neither extension nor the permission to guess changes what the trace shows.
        let path = reconstruct(&world.program, trace, Reconstruction::default()).expect("consistent");
        let initial: Vec<Place> = path.initial().iter().map(|step| step.place).collect();
        assert_eq!(initial, truth.iter().map(|step| step.place).collect::<Vec<_>>());
        assert_eq!(path.repaired, 0);
    });
    assert!(windows > 10_000, "{windows} windows");
}

/// What is added at both ends is what was executed, too: above always, below unless an exception came between.
#[test]
fn extensions_are_true() {
    let (mut above, mut below) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = rng(1_000_000 + seed);
        let world = World::random(&mut random, 3, 30);
        let mut walker = Walker::new(&world);
        for _ in 0..400 {
            walker.step(&mut random);
        }
        // The blocks that each activation enters, by the index of the step.
        let mut entered: BTreeMap<usize, Vec<(usize, Place)>> = BTreeMap::new();
        for (index, step) in walker.steps.iter().enumerate() {
            if step.step.link != Link::Return && step.step.place != Place::Outside {
                entered.entry(step.activation).or_default().push((index, step.step.place));
            }
        }
        let threw = world.throws > 0.0;
        for _ in 0..30 {
            let depth = random.random_range(1..6usize);
            if walker.records.len() <= depth {
                break;
            }
            let first = random.random_range(0..walker.records.len() - depth);
            let records = &walker.records[first..first + depth];
            let branches: Vec<TakenBranch> = records.iter().map(|record| record.branch).collect();
            let path = reconstruct(&world.program, &Trace { branches, pc: None }, Reconstruction::default());
            let path = path.expect("consistent");
            let places = |steps: &[Step]| steps.iter().map(|step| step.place).collect::<Vec<_>>();

            let start = records[0].source_step;
            let of = |step: usize| entered.get(&walker.steps[step].activation).map_or(&[][..], Vec::as_slice);
            // A step that a return came back to is the block entered last.
            let history: Vec<_> =
                of(start).iter().filter(|(index, _)| *index <= start).map(|(_, p)| *p).collect();
            if path.above > 0 {
                above += path.above;
                let before = &history[..history.len() - 1];
                assert!(before.ends_with(&places(&path.steps[..path.above])), "seed {seed}");
            }
            let end = records[depth - 1].source_step + 1;
            let future: Vec<_> = of(end).iter().filter(|(index, _)| *index > end).map(|(_, p)| *p).collect();
            if path.below > 0 && !threw {
                let extension = places(&path.steps[path.steps.len() - path.below..]);
                let common = extension.len().min(future.len());
                assert_eq!(extension[..common], future[..common], "seed {seed}");
                below += common;
            }
        }
    }
    assert!(above > 1000 && below > 1000, "{above} above, {below} below");
}

/// Runs against the truth: cut at each call and return, or grouped by activation, anew after each exception.
#[test]
fn runs_are_those_of_the_activations() {
    let mut rejoined = 0;
    for_each_window(SEEDS, |world, walker, trace, first| {
        let start = walker.records[first].source_step;
        let truth = &walker.steps[start..];
        let plain = Reconstruction { extend: false, use_pc: true, repair: false };
        let path = reconstruct(&world.program, trace, plain).expect("consistent");

        let mut split: Vec<Run> = Vec::new();
        let mut groups: BTreeMap<(usize, usize), Run> = BTreeMap::new();
        let mut exceptions = 0;
        for (index, step) in truth.iter().enumerate() {
            exceptions += usize::from(step.step.link == Link::Transfer);
            let Place::At { method, block } = step.step.place else { continue };
            let run = Run { method, blocks: vec![block] };
            match split.last_mut() {
                Some(last) if index > 0 && step.step.link.is_edge() => last.blocks.push(block),
                _ => split.push(run.clone()),
            }
            let key = (exceptions, step.activation);
            match groups.get_mut(&key) {
                Some(group) if step.step.link == Link::Return => {
                    assert_eq!(group.blocks.last(), Some(&block));
                    rejoined += 1;
                }
                Some(group) => group.blocks.push(block),
                None => drop(groups.insert(key, run)),
            }
        }
        assert_eq!(split_at_calls(&path, Crossing::Split), split);
        let mut joined = split_at_calls(&path, Crossing::Rejoin);
        let mut naive: Vec<Run> = groups.into_values().collect();
        joined.sort();
        naive.sort();
        assert_eq!(joined, naive);
    });
    assert!(rejoined > 500, "{rejoined} returns to known callers");
}

/// Each piece of what was reconstructed lies in its region and has a matching set.
#[test]
fn matching_sets_of_consistent_pieces_are_never_empty() {
    let mut matched = 0;
    for_each_window(SEEDS / 4, |world, _, trace, _| {
        let path = reconstruct(&world.program, trace, Reconstruction::default()).expect("consistent");
        for run in split_at_calls(&path, Crossing::Rejoin) {
            let code = world.code(run.method);
            for cap in [2, 5, 1024] {
                for exits in [holloway_profilers::btb::Exits::Merged, holloway_profilers::btb::Exits::Kept] {
                    let regions = Regions::new(code, RegionOptions { cap, exits }).expect("a cap");
                    let cut = pieces(code, &regions, &run.blocks).expect("a run of the method");
                    let together: Vec<BlockId> =
                        cut.iter().flat_map(|piece| piece.blocks.iter().copied()).collect();
                    assert_eq!(together, run.blocks);
                    for piece in cut {
                        let paths = RegionPaths::new(code, &regions, piece.region);
                        let set = paths.matching(&regions, &piece).expect("a piece of the region");
                        assert!(!set.is_empty());
                        matched += 1;
                    }
                }
            }
        }
    });
    assert!(matched > 10_000, "{matched} pieces");
}

fn diamond() -> Program {
    // 0 -> 1, 2 (taken); 1 -> 3 (falls over 2, so taken); 2 -> 3; 3 -> 0 (taken), 4; 4 ends.
    let graph = Graph::new(&[&[2, 1], &[3], &[3], &[0, 4], &[]]);
    let order: Vec<BlockId> = (0..5).map(BlockId).collect();
    let mut program = Program::new();
    for method in 0..2 {
        program
            .insert(MethodId(method), MethodCode::new(&graph, Layout::Order(&order), 1).expect("a layout"));
    }
    program
}

fn at(method: u32, block: u32) -> Place {
    Place::at(MethodId(method), BlockId(block))
}

#[test]
fn every_inconsistency_has_its_reason() {
    use BranchKind::{Call, Jump, Return, Transfer};
    let program = diamond();
    let branch = |source, target, kind| TakenBranch { source, target, kind };
    let jump = |source, target| branch(at(0, source), at(0, target), Jump);
    let cases: Vec<(Discard, Vec<TakenBranch>)> = vec![
        (Discard::Empty, vec![]),
        (Discard::SourceMissing, vec![branch(Place::Missing, at(0, 3), Jump)]),
        (Discard::TargetMissing, vec![branch(at(0, 0), Place::Missing, Call)]),
        (Discard::UnknownMethod, vec![branch(at(9, 0), at(9, 2), Jump)]),
        (Discard::UnknownMethod, vec![branch(at(0, 0), at(9, 2), Call)]),
        (Discard::UnknownBlock, vec![jump(0, 17)]),
        (Discard::OtherMethod, vec![jump(0, 2), branch(at(1, 3), at(1, 0), Jump)]),
        (Discard::OtherMethod, vec![jump(0, 2), branch(Place::Outside, at(1, 0), Call)]),
        (Discard::NotFallenInto, vec![jump(0, 2), jump(0, 2)]),
        (Discard::NoSuchEdge, vec![jump(0, 4)]),
        (Discard::NeverTaken, vec![jump(0, 1)]),
        (Discard::JumpOut, vec![branch(at(0, 0), at(1, 0), Jump)]),
        (Discard::JumpOut, vec![branch(at(0, 0), Place::Outside, Jump)]),
        (Discard::CallIntoMiddle, vec![branch(at(0, 0), at(1, 2), Call)]),
        (Discard::ReturnFromMiddle, vec![branch(at(0, 0), at(1, 2), Return)]),
        (
            Discard::ReturnElsewhere,
            vec![
                branch(at(0, 0), at(1, 0), Call),
                branch(at(1, 0), at(1, 2), Jump),
                branch(at(1, 4), at(0, 1), Return),
            ],
        ),
        (Discard::NoLanding, vec![branch(at(0, 0), at(1, 2), Transfer)]),
    ];
    let strict = Reconstruction { extend: true, use_pc: true, repair: false };
    for (reason, branches) in cases {
        let trace = Trace { branches, pc: None };
        assert_eq!(reconstruct(&program, &trace, strict).err(), Some(reason), "{trace:?}");
        assert!(!reason.text().is_empty());
    }
}

/// Where exactly one edge is possible, a damaged record is repaired; where two are, it is not.
#[test]
fn only_what_is_certain_is_guessed() {
    let program = diamond();
    let repaired = |branches: Vec<TakenBranch>| {
        let path = reconstruct(
            &program,
            &Trace { branches, pc: None },
            Reconstruction { extend: false, use_pc: true, repair: true },
        );
        path.map(|path| {
            let block = |step: &Step| match step.place {
                Place::At { block, .. } => block.0,
                place => panic!("{place:?} is no block"),
            };
            (path.steps.iter().map(block).collect::<Vec<_>>(), path.repaired)
        })
    };
    let jump = |source, target| TakenBranch { source, target, kind: BranchKind::Jump };
    // The only taken edge out of block 3 leads to 0.
    assert_eq!(repaired(vec![jump(at(0, 3), Place::Missing)]), Ok((vec![3, 0], 1)));
    // The only taken edge to block 2 comes from 0.
    assert_eq!(repaired(vec![jump(Place::Missing, at(0, 2))]), Ok((vec![0, 2], 1)));
    // From 2 control falls to 3; the only edge to 0 on the way is from there.
    assert_eq!(repaired(vec![jump(at(0, 0), at(0, 2)), jump(at(5, 5), at(0, 0))]), Ok((vec![0, 2, 3, 0], 1)));
    // Either 3 -> 0 or 0 -> 2 has a wrong end.
    assert_eq!(repaired(vec![jump(at(0, 3), at(0, 2))]), Err(Discard::NoSuchEdge));
    // A return goes back to its call.
    let call = TakenBranch { source: at(0, 1), target: at(1, 0), kind: BranchKind::Call };
    let back = TakenBranch { source: at(1, 4), target: Place::Missing, kind: BranchKind::Return };
    assert_eq!(repaired(vec![call, jump(at(1, 0), at(1, 2)), back]), Ok((vec![1, 0, 2, 3, 4, 1], 1)));
}

#[test]
fn the_program_counter_extends_the_last_run_or_is_ignored() {
    let program = diamond();
    let trace =
        |pc| Trace { branches: vec![TakenBranch::jump(MethodId(0), BlockId(0), BlockId(2))], pc: Some(pc) };
    let plain = Reconstruction { extend: false, use_pc: true, repair: true };
    let path = reconstruct(&program, &trace(at(0, 4)), plain).expect("consistent");
    assert_eq!(path.steps.iter().map(|step| step.place).collect::<Vec<_>>(), [0, 2, 3, 4].map(|b| at(0, b)));
    for pc in [at(0, 1), at(1, 3), at(0, 99), Place::Outside, Place::Missing] {
        let path = reconstruct(&program, &trace(pc), plain).expect("consistent");
        assert!(path.pc_ignored && path.steps.len() == 2, "{pc:?}");
    }
    let without = Reconstruction { use_pc: false, ..plain };
    let path = reconstruct(&program, &trace(at(0, 4)), without).expect("consistent");
    assert!(!path.pc_ignored && path.steps.len() == 2);
}

/// A path is as long as the code between the branches, but not without end; extension in an endless loop ends.
#[test]
fn long_paths_have_a_limit() {
    let blocks = 60_000u32;
    let successors: Vec<Vec<u32>> = (0..blocks).map(|block| vec![(block + 1) % blocks]).collect();
    let graph = Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let order: Vec<BlockId> = (0..blocks).map(BlockId).collect();
    let mut program = Program::new();
    program.insert(MethodId(0), MethodCode::new(&graph, Layout::Order(&order), 1).expect("a layout"));
    let around = |times| Trace {
        branches: vec![TakenBranch::jump(MethodId(0), BlockId(blocks - 1), BlockId(0)); times],
        pc: None,
    };
    let path = reconstruct(&program, &around(3), Reconstruction::default()).expect("consistent");
    assert_eq!((path.initial().len(), path.below), (2 * 60_000 + 2, 60_000 - 1));
    assert_eq!(reconstruct(&program, &around(100), Reconstruction::default()), Err(Discard::TooLong));
}
