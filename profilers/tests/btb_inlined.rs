//! Regions across hot calls: the graph of a method with its callees, and the paths that cross them.

mod btb_support;

use btb_support::{Walker, World, rng};
use holloway_profilers::btb::{
    BranchKind, HotSite, InlineError, Inlined, Layout, Link, MethodCode, Origin, Part, PartialPath, Piece,
    Place, Program, Reconstruction, RegionOptions, RegionPaths, Regions, Step, TakenBranch, Trace,
    reconstruct,
};
use holloway_profilers::{BlockId, ControlFlow, Graph, MethodId};
use rand::RngExt;

/// A diamond whose left arm calls a diamond: paths that the call used to cut become one.
#[test]
fn a_region_spans_the_call() {
    let caller = Graph::new(&[&[1, 2], &[3], &[3], &[]]);
    let callee = Graph::new(&[&[1, 2], &[3], &[3], &[]]);
    let site = HotSite { block: BlockId(1), callee: MethodId(1), graph: &callee };
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
    let runs = inlined.translate(&path);
    assert_eq!(runs, [[0, 1, 5, 7, 8, 4, 3].map(BlockId)]);

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
    let site = |block| HotSite { block: BlockId(block), callee: MethodId(4), graph: &graph };
    let error = |sites: &[HotSite<'_>]| Inlined::new(MethodId(0), &graph, sites).expect_err("impossible");
    assert_eq!(error(&[site(2)]), InlineError::NoSuchBlock(BlockId(2)));
    assert_eq!(error(&[site(1), site(1)]).to_string(), "block b1 has two hot sites, but one is possible");
}

/// The true walk through the inlined graph, one sequence for each activation of the method: what any window shows is
/// part of it.
struct Twin<'i> {
    inlined: &'i Inlined,
    sites: Vec<(BlockId, MethodId)>,
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
            Naming::Own if self.sites.iter().any(|(site, _)| *site == block) => {
                self.find(method, block, Part::BeforeCall, None)
            }
            Naming::Own => self.find(method, block, Part::Whole, None),
        };
        self.sequences[sequence].push(id);
    }

    fn step(&mut self, step: &Step) {
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
                        let here = self.sites.iter().position(|&(b, m)| b == origin.block && m == method)?;
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
                // Leaving a site without its call does not happen in these programs.
                self.push(method, block);
            }
        }
    }
}

/// In programs whose hot blocks always make their call, first, each translated run is part of a true walk through the
/// inlined graph.
#[test]
fn translated_runs_are_parts_of_the_true_walk() {
    let (mut long, mut crossing) = (0, 0);
    for seed in 0..400 {
        let mut random = rng(seed);
        let mut world = World::random(&mut random, 3, 10);
        world.throws = 0.0;
        // Some of method 0's blocks have a hot call, and maybe a cold one behind it; the callees call little.
        let mut sites: Vec<(BlockId, MethodId)> = Vec::new();
        for block in 0..world.graphs[0].blocks() {
            let callee = random.random_range(1..3u32);
            world.calls[0][block] = match random.random_range(0..4) {
                0 | 1 => {
                    sites.push((BlockId::new(block), MethodId(callee)));
                    if random.random_bool(0.3) { vec![callee, 3 - callee] } else { vec![callee] }
                }
                2 => vec![callee],
                _ => vec![],
            };
        }
        for calls in &mut world.calls[1..] {
            calls.iter_mut().for_each(|calls| calls.clear());
        }
        let hot: Vec<HotSite<'_>> = sites
            .iter()
            .map(|&(block, callee)| HotSite { block, callee, graph: &world.graphs[callee.index()] })
            .collect();
        let inlined = Inlined::new(MethodId(0), &world.graphs[0], &hot).expect("sites");
        let mut walker = Walker::new(&world);
        for _ in 0..400 {
            walker.step(&mut random);
        }
        let mut twin = Twin { inlined: &inlined, sites, frames: Vec::new(), sequences: Vec::new() };
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
            // An extension beyond the end of the walk is not known to the twin.
            let known = !plain.extend || start + depth + 40 < walker.records.len();
            for run in inlined.translate(&path) {
                let edge = |pair: &[BlockId]| inlined.successors(pair[0]).contains(&pair[1]);
                assert!(run.windows(2).all(edge), "seed {seed}: {run:?}");
                long += usize::from(run.len() > 3);
                crossing += usize::from(
                    run.iter()
                        .any(|&id| inlined.origin(id).is_some_and(|origin| origin.part == Part::AfterCall)),
                );
                let part = |sequence: &Vec<BlockId>| sequence.windows(run.len()).any(|window| window == run);
                // A single block may be a half that is not known.
                if run.len() > 1 && known {
                    assert!(twin.sequences.iter().any(part), "seed {seed}: {run:?}");
                }
            }
        }
    }
    assert!(long > 500 && crossing > 500, "{long} long runs, {crossing} with a call");
}
