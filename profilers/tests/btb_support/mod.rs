//! Random programs, and a walker that executes them, remembers everything and records what a branch trace buffer
//! would see.

#![allow(dead_code)] // Each test file uses its part.

use holloway_profilers::btb::{BranchKind, Layout, Link, MethodCode, Place, Program, Step, TakenBranch};
use holloway_profilers::{Arm, BlockId, ControlFlow, Graph, MethodId};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

pub type Rng = rand::rngs::Xoshiro256PlusPlus;

pub fn rng(seed: u64) -> Rng {
    Rng::seed_from_u64(seed)
}

/// A graph of up to `most` blocks: mostly forward edges, some back, some parallel, some self-loops, some to anywhere.
pub fn random_graph(random: &mut Rng, most: usize) -> Graph {
    let count = random.random_range(1..=most);
    let successors: Vec<Vec<u32>> = (0..count)
        .map(|block| {
            let arms = [0, 1, 1, 2, 2, 2, 2, 3][random.random_range(0..8usize)];
            (0..arms)
                .map(|_| match random.random_range(0..10) {
                    0 => random.random_range(0..count) as u32,
                    1 => random.random_range(0..=block) as u32,
                    _ => (block + 1 + random.random_range(0..3usize)).min(count - 1) as u32,
                })
                .collect()
        })
        .collect();
    let slices: Vec<&[u32]> = successors.iter().map(Vec::as_slice).collect();
    let entries = if random.random_bool(0.3) {
        (0..random.random_range(1..3)).map(|_| BlockId::new(random.random_range(0..count))).collect()
    } else {
        Vec::new()
    };
    Graph::new(&slices).with_entries(entries)
}

/// A method's code under a random layout, and for each block the arm that falls through.
pub fn random_layout(random: &mut Rng, graph: &Graph) -> (MethodCode, Vec<Option<Arm>>) {
    let mut order: Vec<BlockId> = (0..graph.blocks()).map(BlockId::new).collect();
    if random.random_bool(0.5) {
        order.shuffle(random);
    }
    let mut arms = vec![None; order.len()];
    for pair in order.windows(2) {
        arms[pair[0].index()] = graph.successors(pair[0]).iter().rposition(|&to| to == pair[1]).map(Arm::new);
    }
    let by_order = MethodCode::new(graph, Layout::Order(&order), 7).expect("an order");
    let by_arms = MethodCode::new(graph, Layout::Arms(&arms), 7).expect("arms");
    assert_eq!(format!("{by_order:?}"), format!("{by_arms:?}"));
    (by_arms, arms)
}

/// A program whose blocks may have calls in their middle. Method 0 is where it starts.
pub struct World {
    pub graphs: Vec<Graph>,
    pub program: Program,
    falling: Vec<Vec<Option<Arm>>>,
    pub calls: Vec<Vec<Vec<u32>>>,
    pub throws: f64,
}

impl World {
    pub fn random(random: &mut Rng, methods: usize, most_blocks: usize) -> Self {
        let mut world = World {
            graphs: Vec::new(),
            program: Program::new(),
            falling: Vec::new(),
            calls: Vec::new(),
            throws: if random.random_bool(0.3) { 0.02 } else { 0.0 },
        };
        let often = if methods > 1 { random.random_range(0.0..0.4) } else { 0.0 };
        for method in 0..methods {
            let graph = random_graph(random, most_blocks);
            let (code, falling) = random_layout(random, &graph);
            let calls = (0..graph.blocks())
                .map(|_| {
                    let count = if random.random_bool(often) { random.random_range(1..3) } else { 0 };
                    (0..count).map(|_| random.random_range(0..methods) as u32).collect()
                })
                .collect();
            world.program.insert(MethodId::new(method), code);
            world.graphs.push(graph);
            world.falling.push(falling);
            world.calls.push(calls);
        }
        world
    }

    pub fn code(&self, method: MethodId) -> &MethodCode {
        self.program.method(method).expect("a method")
    }
}

/// A step that was really made.
#[derive(Debug, Clone, Copy)]
pub struct True {
    pub step: Step,
    /// Which activation of a method it belongs to; outside of the program, one that has no other step.
    pub activation: usize,
}

/// A record and the step at which its branch was.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    pub branch: TakenBranch,
    pub source_step: usize,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    method: MethodId,
    block: BlockId,
    calls_made: usize,
    activation: usize,
}

pub struct Walker<'w> {
    world: &'w World,
    frames: Vec<Frame>,
    activations: usize,
    /// Everything that happened.
    pub steps: Vec<True>,
    /// Every taken branch.
    pub records: Vec<Recorded>,
    /// Activations that an exception has left.
    pub aborted: Vec<usize>,
}

impl<'w> Walker<'w> {
    pub fn new(world: &'w World) -> Self {
        let mut walker = Walker {
            world,
            frames: Vec::new(),
            activations: 0,
            steps: Vec::new(),
            records: Vec::new(),
            aborted: Vec::new(),
        };
        walker.arrive(Place::Outside, Link::Start);
        walker
    }

    pub fn place(&self) -> Place {
        self.frames.last().map_or(Place::Outside, |frame| Place::at(frame.method, frame.block))
    }

    fn arrive(&mut self, place: Place, link: Link) {
        let activation = self.frames.last().map_or(usize::MAX, |frame| frame.activation);
        self.steps.push(True { step: Step { place, link }, activation });
    }

    fn record(&mut self, target: Place, kind: BranchKind) {
        let branch = TakenBranch { source: self.place(), target, kind };
        self.records.push(Recorded { branch, source_step: self.steps.len() - 1 });
    }

    fn enter(&mut self, method: MethodId) {
        let block = self.world.graphs[method.index()].entry();
        self.record(Place::at(method, block), BranchKind::Call);
        self.frames.push(Frame { method, block, calls_made: 0, activation: self.activations });
        self.activations += 1;
        self.arrive(self.place(), Link::Call);
    }

    pub fn step(&mut self, random: &mut Rng) {
        let Some(&Frame { method, block, calls_made, .. }) = self.frames.last() else {
            self.enter(MethodId(0));
            return;
        };
        let graph = &self.world.graphs[method.index()];
        if self.world.throws > 0.0 && random.random_bool(self.world.throws) && self.throw(random) {
            return;
        }
        let top = self.frames.len() - 1;
        let calls = &self.world.calls[method.index()][block.index()];
        if calls_made < calls.len() && self.frames.len() < 6 {
            self.frames[top].calls_made += 1;
            self.enter(MethodId(calls[calls_made]));
            return;
        }
        let successors = graph.successors(block);
        if successors.is_empty() {
            let caller = self.frames.len().checked_sub(2).map(|caller| self.frames[caller]);
            let target = caller.map_or(Place::Outside, |frame| Place::at(frame.method, frame.block));
            self.record(target, BranchKind::Return);
            self.frames.pop();
            self.arrive(target, Link::Return);
            return;
        }
        let arm = random.random_range(0..successors.len());
        let falls = self.world.falling[method.index()][block.index()] == Some(Arm::new(arm));
        let target = Place::at(method, successors[arm]);
        if !falls {
            self.record(target, BranchKind::Jump);
        }
        self.frames[top].block = successors[arm];
        self.frames[top].calls_made = 0;
        self.arrive(target, if falls { Link::FallThrough } else { Link::Taken });
    }

    /// Throws to a handler of some frame, if one has handlers.
    fn throw(&mut self, random: &mut Rng) -> bool {
        let handlers = |frame: &Frame| self.world.graphs[frame.method.index()].entries();
        let Some(depth) = self.frames.iter().rposition(|frame| !handlers(frame).is_empty()) else {
            return false;
        };
        let frame = self.frames[depth];
        let handlers = handlers(&frame);
        let block = handlers[random.random_range(0..handlers.len())];
        self.record(Place::at(frame.method, block), BranchKind::Transfer);
        self.aborted.extend(self.frames.drain(depth + 1..).map(|frame| frame.activation));
        let frame = self.frames.last_mut().expect("the handler's frame");
        (frame.block, frame.calls_made) = (block, 0);
        self.arrive(self.place(), Link::Transfer);
        true
    }
}
