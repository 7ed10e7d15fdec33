//! Regions across hot calls: the graph of a method with its callees, and the paths that cross them.

mod btb_support;

use btb_support::{Walker, World, rng};
use holloway_profilers::btb::{
    BranchKind, Crossing, EdgeCounts, HotCall, HotSite, InlineError, Inlined, Layout, Link, MethodCode,
    Origin, Part, PartialPath, Piece, Place, Program, Reconstruction, RegionOptions, RegionPaths, Regions,
    Run, Spans, Step, TakenBranch, Trace, reconstruct, split_at_calls,
};
use holloway_profilers::{BlockId, ControlFlow, Graph, MethodId};
use rand::RngExt;
use std::collections::BTreeMap;

/// A diamond whose left arm calls a diamond: paths that the call used to cut become one.
#[test]
fn a_region_spans_the_call() {
    let caller = Graph::new(&[&[1, 2], &[3], &[3], &[]]);
    let callee = Graph::new(&[&[1, 2], &[3], &[3], &[]]);
    let site = HotSite { block: BlockId(1), callee: MethodId(1), graph: &callee, only: true };
    let inlined = Inlined::new(MethodId(0), &caller, &[site]).expect("a site");
    let successors: Vec<Vec<u32>> = (0..inlined.blocks())
        .map(|block| inlined.successors(BlockId::new(block)).iter().map(|to| to.0).collect())
        .collect();
    // 4 is the half of block 1 behind the call, 5 to 8 are the callee's blocks.
    let expected: [&[u32]; 9] = [&[1, 2], &[5], &[3], &[], &[3], &[6, 7], &[8], &[8], &[4]];
    assert_eq!(successors, expected);
    let origin = |block| inlined.origin(BlockId(block)).expect("an origin");
    assert_eq!(origin(1), Origin { method: MethodId(0), block: BlockId(1), part: Part::BeforeCall });
    assert_eq!(origin(4), Origin { method: MethodId(0), block: BlockId(1), part: Part::AfterCall });
    assert_eq!(origin(7), Origin { method: MethodId(1), block: BlockId(2), part: Part::Whole });

    let mut program = Program::new();
    let order: Vec<BlockId> = (0..4).map(BlockId).collect();
    for (id, graph) in [&caller, &callee].into_iter().enumerate() {
        let code = MethodCode::new(graph, Layout::Order(&order), 1).expect("a layout");
        program.insert(MethodId::new(id), code);
    }
    let at = |method, block| Place::at(MethodId(method), BlockId(block));
    let branch = |source, target, kind| TakenBranch { source, target, kind };
    // 0 falls into 1, which calls; 0 jumps to 2, which falls into 3 and returns; 1 jumps to 3.
    let branches = vec![
        branch(at(0, 1), at(1, 0), BranchKind::Call),
        branch(at(1, 0), at(1, 2), BranchKind::Jump),
        branch(at(1, 3), at(0, 1), BranchKind::Return),
        branch(at(0, 1), at(0, 3), BranchKind::Jump),
    ];
    let path =
        reconstruct(&program, &Trace { branches, pc: None }, Reconstruction::default()).expect("consistent");
    let call = HotCall { caller: MethodId(0), block: BlockId(1), callee: MethodId(1), only: true };
    let spans = Spans::new(&program, &[call]).expect("a call");
    let run = |method, blocks: &[u32]| Run {
        method: MethodId(method),
        blocks: blocks.iter().map(|&block| BlockId(block)).collect(),
    };
    // The callee's own profile has it, too.
    assert_eq!(spans.runs(&path), [run(1, &[0, 2, 3]), run(0, &[0, 1, 5, 7, 8, 4, 3])]);
    let runs = [run(0, &[0, 1, 5, 7, 8, 4, 3]).blocks];
    assert_eq!(spans.program().method(MethodId(1)).expect("as it was").fingerprint(), 1);
    assert_ne!(spans.program().method(MethodId(0)).expect("inlined").fingerprint(), 1);

    let mut counts = EdgeCounts::new();
    counts.add(MethodId(0), BlockId(1), BlockId(3), 9);
    counts.add(MethodId(1), BlockId(0), BlockId(2), 4);
    let spanned = spans.edges(&counts);
    let edges: Vec<_> =
        spanned.iter().map(|(method, from, to, count)| (method.0, from.0, to.0, count)).collect();
    assert_eq!(edges, [(0, 4, 3, 9), (0, 5, 7, 4), (1, 0, 2, 4)]);

    let code = inlined.code(1).expect("a graph");
    let regions = Regions::new(&code, RegionOptions::default()).expect("a cap");
    assert_eq!(regions.len(), 1);
    let paths = RegionPaths::new(&code, &regions, regions.of(BlockId(0)).expect("a region"));
    assert_eq!(paths.count(), 3);
    let piece =
        Piece { region: regions.of(BlockId(0)).expect("a region"), blocks: runs[0].clone(), exit: None };
    assert_eq!(paths.matching(&regions, &piece).expect("a piece").count(), 1);
}

#[test]
fn impossible_sites_are_named() {
    let graph = Graph::new(&[&[1], &[]]);
    let site = |block| HotSite { block: BlockId(block), callee: MethodId(4), graph: &graph, only: true };
    let error = |sites: &[HotSite<'_>]| Inlined::new(MethodId(0), &graph, sites).expect_err("impossible");
    assert_eq!(error(&[site(2)]), InlineError::NoSuchBlock(BlockId(2)));
    assert_eq!(error(&[site(1), site(1)]).to_string(), "block b1 has two hot sites, but one is possible");
}

/// Where else than the hot method control may go from the middle of a block.
#[test]
fn a_site_with_other_targets_has_a_way_around() {
    let graph = Graph::new(&[&[1], &[]]);
    let site = HotSite { block: BlockId(0), callee: MethodId(1), graph: &graph, only: false };
    let inlined = Inlined::new(MethodId(0), &graph, &[site]).expect("a site");
    assert_eq!(inlined.successors(BlockId(0)), [BlockId(3), BlockId(2)]);
    let [site] = inlined.sites() else { panic!("one site") };
    assert_eq!((site.block, site.after, site.copy_of(BlockId(1))), (BlockId(0), BlockId(2), BlockId(4)));
    assert_eq!(inlined.site(BlockId(0)), Some(*site));
    assert_eq!(inlined.site(BlockId(2)), None);

    let call = |callee, block| HotCall {
        caller: MethodId(0),
        block: BlockId(block),
        callee: MethodId(callee),
        only: true,
    };
    let mut program = Program::new();
    let code = || MethodCode::new(&graph, Layout::Arms(&[None, None]), 1).expect("a graph");
    program.insert(MethodId(0), code());
    program.insert(MethodId(1), code());
    let error = |calls: &[HotCall]| Spans::new(&program, calls).expect_err("impossible");
    assert_eq!(error(&[call(2, 0)]), InlineError::NoGraph(MethodId(2)));
    assert_eq!(error(&[HotCall { caller: MethodId(7), ..call(1, 0) }]), InlineError::NoGraph(MethodId(7)));
    assert_eq!(error(&[call(1, 2)]), InlineError::NoSuchBlock(BlockId(2)));
    assert_eq!(error(&[call(1, 0), call(1, 0)]), InlineError::TwoSites(BlockId(0)));
}

/// The true walk through the inlined graph, one sequence for each activation of the method: what any window shows is
/// part of it.
struct Twin<'i> {
    inlined: &'i Inlined,
    sites: Vec<(BlockId, MethodId, bool)>,
    /// For each activation on the stack: the sequence it writes to, and how its blocks are named there.
    frames: Vec<Option<(usize, Naming)>>,
    sequences: Vec<Vec<BlockId>>,
}

#[derive(Clone, Copy)]
enum Naming {
    Own,
    Callee(usize),
}

impl Twin<'_> {
    fn find(&self, method: MethodId, block: BlockId, part: Part, site: Option<usize>) -> BlockId {
        let matches = |id: &BlockId| self.inlined.origin(*id) == Some(Origin { method, block, part });
        let found: Vec<BlockId> = (0..self.inlined.blocks()).map(BlockId::new).filter(matches).collect();
        // Of several copies of a callee the site's is the one behind the site's second half.
        match site {
            None => found[0],
            Some(site) => {
                let after = self.find(MethodId(0), self.sites[site].0, Part::AfterCall, None);
                *found.iter().find(|id| **id > after).expect("a copy")
            }
        }
    }

    fn push(&mut self, method: MethodId, block: BlockId) {
        let Some(Some((sequence, naming))) = self.frames.last().copied() else { return };
        let id = match naming {
            Naming::Callee(site) => self.find(method, block, Part::Whole, Some(site)),
            Naming::Own if self.sites.iter().any(|site| site.0 == block) => {
                self.find(method, block, Part::BeforeCall, None)
            }
            Naming::Own => self.find(method, block, Part::Whole, None),
        };
        self.sequences[sequence].push(id);
    }

    /// A block is left whose hot call was not made: something else was called, or too many frames are there.
    fn leave(&mut self) {
        let Some(Some((sequence, Naming::Own))) = self.frames.last().copied() else { return };
        let Some(origin) = self.sequences[sequence].last().and_then(|&last| self.inlined.origin(last)) else {
            return;
        };
        if origin.part != Part::BeforeCall {
            return;
        }
        let after = self.find(MethodId(0), origin.block, Part::AfterCall, None);
        if self.sites.iter().any(|&(block, _, only)| block == origin.block && only) {
            self.sequences.push(vec![after]);
            let next = self.sequences.len() - 1;
            *self.frames.last_mut().expect("it is there") = Some((next, Naming::Own));
        } else {
            self.sequences[sequence].push(after);
        }
    }

    fn step(&mut self, step: &Step) {
        if step.link == Link::Return && !self.frames.is_empty() {
            self.leave();
        }
        let Place::At { method, block } = step.place else {
            self.frames.clear();
            return;
        };
        match step.link {
            Link::Call => {
                let frame = self.frames.last().copied().flatten();
                let site =
                    frame.filter(|(_, naming)| matches!(naming, Naming::Own)).and_then(|(sequence, _)| {
                        let last = *self.sequences[sequence].last()?;
                        let origin = self.inlined.origin(last)?;
                        let here =
                            self.sites.iter().position(|&(b, m, _)| b == origin.block && m == method)?;
                        (origin.part == Part::BeforeCall).then_some((sequence, Naming::Callee(here)))
                    });
                let own = || {
                    (method == MethodId(0)).then(|| {
                        self.sequences.push(Vec::new());
                        (self.sequences.len() - 1, Naming::Own)
                    })
                };
                let frame = site.or_else(own);
                self.frames.push(frame);
                self.push(method, block);
            }
            Link::Return => {
                if let Some(Some((sequence, Naming::Callee(site)))) = self.frames.pop() {
                    let after = self.find(MethodId(0), self.sites[site].0, Part::AfterCall, None);
                    self.sequences[sequence].push(after);
                }
            }
            _ => {
                self.leave();
                self.push(method, block);
            }
        }
    }
}

/// Which blocks of its own each method has in some runs, how often. A second half is the first one of a visit if nothing of
/// the visit was seen before the callee.
fn own_blocks(spans: &Spans, runs: &[Run]) -> BTreeMap<(MethodId, BlockId), u64> {
    let mut counts = BTreeMap::new();
    for run in runs {
        let Some(inlined) = spans.inlined(run.method) else {
            run.blocks.iter().for_each(|&block| *counts.entry((run.method, block)).or_default() += 1);
            continue;
        };
        let origins: Vec<Origin> = run.blocks.iter().filter_map(|&block| inlined.origin(block)).collect();
        let callees = origins.iter().take_while(|of| of.method != run.method).count();
        for (at, of) in origins.iter().enumerate().filter(|(_, of)| of.method == run.method) {
            if of.part != Part::AfterCall || at == callees && at > 0 {
                *counts.entry((run.method, of.block)).or_default() += 1;
            }
        }
    }
    counts
}

/// Each translated run is part of a true walk through the inlined graph, and nothing is missing.
#[test]
fn translated_runs_are_parts_of_the_true_walk() {
    let (mut long, mut crossing, mut around) = (0, 0, 0);
    for seed in 0..3000 {
        let mut random = rng(seed);
        let mut world = World::random(&mut random, 3, 10);
        world.throws = 0.0;
        // Some of method 0's blocks have a hot call, and maybe a cold one around it; the callees call little.
        let mut sites: Vec<(BlockId, MethodId, bool)> = Vec::new();
        for block in 0..world.graphs[0].blocks() {
            let (callee, id) = (random.random_range(1..3u32), BlockId::new(block));
            world.calls[0][block] = match random.random_range(0..6) {
                0 | 1 => {
                    sites.push((id, MethodId(callee), random.random_bool(0.5)));
                    match random.random_range(0..6) {
                        0 | 1 => vec![callee, 3 - callee],
                        2 => vec![3 - callee, callee],
                        _ => vec![callee],
                    }
                }
                2 => vec![callee],
                // The hot one is another.
                3 => {
                    sites.push((id, MethodId(3 - callee), false));
                    vec![callee]
                }
                _ => vec![],
            };
        }
        for calls in &mut world.calls[1..] {
            let few = random.random_bool(0.3);
            calls.iter_mut().for_each(|calls| {
                calls.clear();
                if few && random.random_bool(0.1) {
                    calls.push(random.random_range(0..3));
                }
            });
        }
        let calls: Vec<HotCall> = sites
            .iter()
            .map(|&(block, callee, only)| HotCall { caller: MethodId(0), block, callee, only })
            .collect();
        let spans = Spans::new(&world.program, &calls).expect("sites");
        let none = Spans::new(&world.program, &[]).expect("no site");
        let Some(inlined) = spans.inlined(MethodId(0)) else { continue };
        let mut walker = Walker::new(&world);
        for _ in 0..400 {
            walker.step(&mut random);
        }
        let sites = inlined.sites().iter().map(|site| (site.block, site.callee, site.only)).collect();
        let mut twin = Twin { inlined, sites, frames: Vec::new(), sequences: Vec::new() };
        walker.steps.iter().for_each(|step| twin.step(&step.step));
        for sequence in &twin.sequences {
            let edge = |pair: &[BlockId]| inlined.successors(pair[0]).contains(&pair[1]);
            assert!(sequence.windows(2).all(edge), "seed {seed}: the twin is wrong");
        }
        for _ in 0..40 {
            let depth = random.random_range(1..8usize).min(walker.records.len());
            let start = random.random_range(0..=walker.records.len() - depth);
            let branches = walker.records[start..start + depth].iter().map(|record| record.branch).collect();
            let plain = Reconstruction { extend: random.random_bool(0.5), use_pc: false, repair: false };
            let path: PartialPath =
                reconstruct(&world.program, &Trace { branches, pc: None }, plain).expect("consistent");
            let rejoined = split_at_calls(&path, Crossing::Rejoin);
            assert_eq!(none.runs(&path), rejoined, "seed {seed}: without sites it is the same");
            let runs = spans.runs(&path);
            assert_eq!(own_blocks(&spans, &runs), own_blocks(&none, &rejoined), "seed {seed}: {path:?}");
            let is_edge = |pair: &[BlockId]| inlined.successors(pair[0]).contains(&pair[1]);
            let of_the_method = |run: &&Run| run.method == MethodId(0);
            for run in runs.iter().filter(of_the_method) {
                assert!(run.blocks.windows(2).all(is_edge), "seed {seed}: {run:?}");
            }
            // What comes behind the trace may never have been executed: a callee may not return.
            let steps = path.steps[..path.steps.len() - path.below].to_vec();
            let runs = spans.runs(&PartialPath { steps, below: 0, ..path });
            for run in runs.iter().filter(of_the_method).map(|run| &run.blocks) {
                long += usize::from(run.len() > 3);
                let part = |&id: &BlockId| inlined.origin(id).map(|origin| origin.part);
                crossing += usize::from(run.iter().any(|id| part(id) == Some(Part::AfterCall)));
                let is_around = |pair: &[BlockId]| {
                    part(&pair[0]) == Some(Part::BeforeCall) && part(&pair[1]) == Some(Part::AfterCall)
                };
                around += usize::from(run.windows(2).any(is_around));
                let part = |sequence: &Vec<BlockId>| sequence.windows(run.len()).any(|window| window == run);
                // A single block may be a half that is not known.
                if run.len() > 1 {
                    assert!(twin.sequences.iter().any(part), "seed {seed}: {run:?}");
                }
            }
        }
    }
    println!("{long} long runs, {crossing} with a call, {around} around one");
    assert!(long > 500 && crossing > 500 && around > 200, "{long} long runs, {crossing}, {around}");
}
