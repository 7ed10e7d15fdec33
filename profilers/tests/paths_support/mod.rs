//! What the tests of paths have in common: letters for blocks, random graphs, random walks.

#![allow(dead_code, reason = "each test uses what it needs")]

use holloway_profilers::paths::{Begin, End, Options, Path, PathDag, Plan, Simulator, Step};
use holloway_profilers::{Arm, BlockId, BranchArm, BranchId, ControlFlow, Edge, Graph, MethodId, VersionId};

/// The edge with this arm of this block.
pub fn edge(from: u32, arm: u32) -> Edge {
    Edge { from: BlockId(from), arm: Arm(arm) }
}

/// Every block with several arms is a branch of the source.
pub fn branches(flow: &impl ControlFlow) -> impl Fn(Edge) -> Option<BranchArm> {
    let several: Vec<bool> =
        (0..flow.blocks()).map(|block| flow.successors(BlockId::new(block)).len() > 1).collect();
    move |edge| {
        let branch = BranchId { method: MethodId(0), position: edge.from.0 };
        several[edge.from.index()].then_some(BranchArm { branch, arm: edge.arm })
    }
}

/// A plan and the record of its numbers, without frequencies.
pub fn plan(flow: &Graph, options: &Options) -> (Plan, PathDag) {
    let plan = Plan::new(flow, options, |_| 0).expect("a plan");
    let dag = PathDag::new(&plan, VersionId(0), branches(flow));
    (plan, dag)
}

/// A graph from letters: `A:BC B:D` is A with successors B and C, B with successor D, and the blocks in the order
/// A, B, C, D.
pub fn letters(text: &str) -> Graph {
    let blocks =
        text.bytes().filter(u8::is_ascii_uppercase).map(|letter| letter - b'A').max().expect("a block");
    let mut successors = vec![Vec::new(); usize::from(blocks) + 1];
    for item in text.split_whitespace() {
        let (from, to) = item.split_once(':').expect("a block and its successors");
        successors[usize::from(from.as_bytes()[0] - b'A')] =
            to.bytes().map(|letter| u32::from(letter - b'A')).collect();
    }
    Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The name of a block.
fn letter(block: BlockId) -> char {
    char::from(b'A' + u8::try_from(block.0).expect("few blocks"))
}

/// A path in letters as the vectors write it: `ABDE⟲` ends by taking a back edge. Cut blocks are in brackets.
pub fn spelled(path: &Path) -> String {
    let mut text: String = path.blocks.iter().copied().map(letter).collect();
    match path.end {
        End::BackEdge(_) => text.push('⟲'),
        End::Cut(_) => {
            let last = text.pop().expect("a block");
            text.extend(['[', last, ']']);
        }
        End::Exit(_) => {}
        End::Open => text.push('…'),
    }
    match (path.begin, path.end) {
        (Begin::Entry(_), _) => format!("!{text}"),
        _ => text,
    }
}

/// All paths by number, in letters.
pub fn all_spelled(dag: &PathDag) -> Vec<String> {
    (0..dag.paths()).map(|number| spelled(&dag.decode(number).expect("a path"))).collect()
}

/// The steps of a walk in letters, which takes the first arm to each block.
pub fn steps(flow: &Graph, walk: &str) -> Vec<Step> {
    let blocks: Vec<BlockId> = walk.bytes().map(|letter| BlockId(u32::from(letter - b'A'))).collect();
    let arm = |pair: &[BlockId]| flow.successors(pair[0]).iter().position(|&next| next == pair[1]);
    blocks.windows(2).map(|pair| Step::Take(Arm::new(arm(pair).expect("an edge")))).collect()
}

/// The numbers that come out when a walk is run.
pub fn numbers(plan: &Plan, steps: &[Step]) -> Vec<u64> {
    let mut numbers = Vec::new();
    Simulator::new(plan).run(steps, |number| numbers.push(number));
    numbers
}

/// Splitmix64: random numbers that are the same everywhere and for ever.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }
}

/// A random graph of 2 to 12 blocks, reducible or not, with all that is legal.
pub fn graph(random: &mut Random) -> Graph {
    let blocks = 2 + random.below(11);
    let mut successors = if random.one_in(2) { reducible(random, blocks) } else { arbitrary(random, blocks) };
    for list in &mut successors {
        if list.len() < 3 && random.one_in(12) && !list.is_empty() {
            list.push(list[0]);
        }
    }
    let blocks = successors.len();
    let entries = if random.one_in(3) { 1 + random.below(2) } else { 0 };
    let entries = (0..entries).map(|_| BlockId::new(random.below(blocks))).collect();
    Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>()).with_entries(entries)
}

/// Any edges between any blocks: irreducible loops, loops without exits, blocks that cannot be reached.
fn arbitrary(random: &mut Random, blocks: usize) -> Vec<Vec<u32>> {
    let forward = random.one_in(2);
    let target = |random: &mut Random, from: usize| {
        let near = from + 1 + random.below(3);
        (if forward && !random.one_in(4) { near.min(blocks - 1) } else { random.below(blocks) }) as u32
    };
    let degree = [0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 5];
    let list = |random: &mut Random, from| {
        let degree = degree[random.below(degree.len())];
        (0..degree)
            .map(|_| target(random, from))
            .filter(|&to| !(forward && to as usize == from && from == blocks - 1))
            .collect()
    };
    (0..blocks).map(|from| list(random, from)).collect()
}

/// Grown from one block by the inverses of the transformations that define reducible graphs: a block gets a
/// self-loop, or is split in two of which the second takes over some of the edges out of it.
fn reducible(random: &mut Random, blocks: usize) -> Vec<Vec<u32>> {
    let mut successors: Vec<Vec<u32>> = vec![Vec::new()];
    while successors.len() < blocks {
        let block = random.below(successors.len());
        if random.one_in(5) {
            let own = block as u32;
            if !successors[block].contains(&own) {
                successors[block].push(own);
            }
            continue;
        }
        let new = successors.len() as u32;
        let (keep, give): (Vec<u32>, Vec<u32>) =
            std::mem::take(&mut successors[block]).into_iter().partition(|_| random.one_in(3));
        let both = if !give.is_empty() && keep.len() < 3 && random.one_in(2) { Some(give[0]) } else { None };
        successors[block] = keep.into_iter().chain(both).chain([new]).collect();
        successors.push(give);
        if random.one_in(2) {
            successors[block].reverse();
        }
    }
    successors
}

/// A random walk of one activation. It may end anywhere.
pub fn walk(flow: &Graph, random: &mut Random, most: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut block = flow.entry();
    while steps.len() < most {
        let targets = flow.successors(block);
        if targets.is_empty() {
            break;
        }
        if !flow.entries().is_empty() && random.one_in(12) {
            block = flow.entries()[random.below(flow.entries().len())];
            steps.push(Step::Jump(block));
            continue;
        }
        let arm = random.below(targets.len());
        block = targets[arm];
        steps.push(Step::Take(Arm::new(arm)));
    }
    steps
}
