//! The order in which blocks are emitted, planned by how often they run.
//!
//! The plan is made for Cranelift's function, when nothing changes it any more but register allocation: chains of blocks from the
//! hottest edge down (Pettis and Hansen 1990, in `holloway_profilers::layout`), loops with their test at the top rotated to
//! where they are left; what hot edges pass and what is cold stands apart, at the end. The order is also that in which the register allocator reads blocks, so nothing goes backwards in it but
//! loops. An order that Cranelift could not make code for is not used ([`legal`]), and if what comes out costs no less than
//! Cranelift's own order, that one is kept. Nothing but the order of emission follows from the plan ([`force`]).
//!
//! | file | what it does |
//! |---|---|
//! | [`mod@weights`] | the counts that decide |
//! | [`heat`] | how often Cranelift's blocks run |
//! | [`edges`] | blocks for cold edges that carry moves |
//! | [`legal`] | which orders are allowed |
//! | [`force`] | how Cranelift comes to use ours |

pub mod edges;
pub mod force;
pub mod heat;
pub mod legal;
pub mod weights;

pub use heat::Heat;

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function};
use holloway_profilers::layout::{
    Cost, Frequencies, Split, order_blocks_forward, rotate_loops_where, rotations_forward,
};
use holloway_profilers::{BlockId, ControlFlow};
use legal::Legal;

/// Frequencies become integers for the library: so many for each time that the function is entered.
const UNIT: f64 = 65536.0;

/// Regions with more runs of blocks keep Cranelift's order: what is kept to takes a bit for each pair.
const MOST_RUNS: usize = 4096;

/// An order of blocks, and what it was chosen by.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All blocks in the order in which Cranelift is to go through them: cold ones among the others.
    order: Vec<Block>,
    is_default: bool,
    cost: [f64; 2],
    default_cost: [f64; 2],
}

/// A block with its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Planned {
    /// The block.
    pub block: Block,
    /// How often it runs for each time that the function is entered.
    pub frequency: f64,
    /// The block of the region of which it is part.
    pub region: Option<crate::ir::BlockId>,
    /// The blocks between which it stands, if it was made for an edge.
    pub edge: Option<[Block; 2]>,
    /// Why it stands where it does.
    pub why: Why,
    /// The block in front of it that goes on with it, and in which part of its executions.
    pub follows: Option<(Block, f64)>,
}

/// Why a block stands where it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// It is the entry.
    Entry,
    /// The one before goes on with it.
    FollowsOn,
    /// It begins a chain: of those left, the one with the most traffic with those before.
    Traffic,
    /// The order is Cranelift's, and it stands next there.
    Program,
    /// It is cold.
    Cold,
}

/// Plans the order of a function; `blocks` are those that can be reached, in Cranelift's order. If there is a better one, the tree makes
/// Cranelift follow it.
pub fn plan(
    function: &mut Function,
    dominators: &DominatorTree,
    blocks: &[Block],
    heat: &mut Heat,
) -> (Plan, Option<DominatorTree>) {
    let entered = entered(function, blocks);
    let (better, costs) = improve(function, dominators, blocks, heat);
    let [cost, default_cost] = costs.map(|cost| [cost.taken, cost.jumps].map(|count| count as f64 / UNIT));
    match better {
        Some((order, cold)) => {
            cold.iter().for_each(|&block| function.layout.set_cold(block));
            let order = edges::set_aside(function, &order, |block| entered[block], heat);
            let tree = force::tree(function, &order);
            (Plan { is_default: false, order, cost, default_cost }, Some(tree))
        }
        None => (Plan { is_default: true, order: blocks.to_vec(), cost, default_cost }, None),
    }
}

impl Plan {
    /// All blocks in the order in which they are emitted, with the reasons.
    pub fn explain(&self, function: &Function, heat: &Heat) -> Explained {
        let blocks = explain(function, &self.order, self.is_default, heat);
        Explained { blocks, is_default: self.is_default, cost: self.cost, default_cost: self.default_cost }
    }
}

/// A plan for whoever looks.
#[derive(Clone, Debug)]
pub struct Explained {
    /// All blocks in the order in which they are emitted.
    pub blocks: Vec<Planned>,
    /// Is it the order that Cranelift would have chosen.
    pub is_default: bool,
    /// What this order is expected to cost, for each time that the function is entered: transfers taken, and jumps.
    pub cost: [f64; 2],
    /// The same of Cranelift's.
    pub default_cost: [f64; 2],
}

/// The order of emission, with reasons.
fn explain(function: &Function, order: &[Block], is_default: bool, heat: &Heat) -> Vec<Planned> {
    let is_cold = |block: &&Block| function.is_effectively_cold(**block);
    let emitted = order.iter().filter(|block| !is_cold(block)).chain(order.iter().filter(is_cold));
    let mut before = None;
    // Which part of the executions of a block go on with another, if any can.
    let goes_on = |from: Block, to: Block| {
        let ways = function.block_successors(from).zip(heat.arms(function, from));
        let there: Vec<f64> = ways.filter(|&(target, _)| target == to).map(|(_, count)| count).collect();
        let all = heat.block(from);
        (!there.is_empty()).then(|| if all > 0.0 { there.iter().sum::<f64>() / all } else { 1.0 })
    };
    let explain = |&block: &Block| {
        let in_front = before.replace(block);
        let follows = in_front.and_then(|from| Some((from, goes_on(from, block)?)));
        let why = match (in_front, follows) {
            _ if function.is_effectively_cold(block) => Why::Cold,
            (None, _) => Why::Entry,
            (Some(_), Some(_)) => Why::FollowsOn,
            (Some(_), None) if is_default => Why::Program,
            (Some(_), None) => Why::Traffic,
        };
        Planned {
            block,
            frequency: heat.block(block),
            region: heat.region(block),
            edge: heat.edge(block),
            why,
            follows: follows.filter(|_| why == Why::FollowsOn),
        }
    };
    emitted.map(explain).collect()
}

/// A control flow as the library wants it, with a frequency for each edge.
#[derive(Default)]
struct Flow {
    /// Where in the next two lists each block begins, and where the last ends.
    starts: Vec<usize>,
    successors: Vec<BlockId>,
    counts: Vec<u64>,
}

impl ControlFlow for Flow {
    fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    fn entry(&self) -> BlockId {
        BlockId(0)
    }

    fn entries(&self) -> &[BlockId] {
        &[]
    }

    fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[self.starts[block.index()]..self.starts[block.index() + 1]]
    }
}

impl Flow {
    /// The flow between blocks that are not cold (in Cranelift's order, by which they are numbered here).
    fn of(function: &Function, hot: &[Block], heat: &Heat) -> Flow {
        let mut numbers: SecondaryMap<Block, Option<u32>> =
            SecondaryMap::with_capacity(function.dfg.num_blocks());
        for (number, &block) in hot.iter().enumerate() {
            numbers[block] = Some(number as u32);
        }
        let mut flow = Flow::default();
        for &block in hot {
            flow.starts.push(flow.successors.len());
            for (target, count) in function.block_successors(block).zip(heat.arms(function, block)) {
                if let Some(target) = numbers[target] {
                    flow.successors.push(BlockId(target));
                    flow.counts.push((count * UNIT) as u64);
                }
            }
        }
        flow.starts.push(flow.successors.len());
        flow
    }

    /// Blocks that follow on each other in any case, as one: for each run its blocks in order, and the run of each block. Most blocks
    /// are parts of runs, as what goes elsewhere only to leave goes on in one way.
    fn runs(&self) -> (Vec<Vec<usize>>, Vec<u32>) {
        let mut entered = vec![0; self.blocks()];
        self.successors.iter().for_each(|target| entered[target.index()] += 1);
        let next = |block: usize| match self.successors(BlockId::new(block)) {
            &[next] if entered[next.index()] == 1 && next != self.entry() => Some(next.index()),
            _ => None,
        };
        let mut is_head = vec![true; self.blocks()];
        (0..self.blocks()).filter_map(next).for_each(|next| is_head[next] = false);
        let mut run_of = vec![u32::MAX; self.blocks()];
        let mut runs: Vec<Vec<usize>> = Vec::new();
        // Those that only follow each other, in a circle, have no head: any will do.
        let heads = (0..self.blocks()).filter(|&block| is_head[block]);
        for head in heads.chain(0..self.blocks()) {
            let mut run = Vec::new();
            let mut block = Some(head);
            while let Some(member) = block.filter(|&member| run_of[member] == u32::MAX) {
                run_of[member] = runs.len() as u32;
                run.push(member);
                block = next(member);
            }
            if !run.is_empty() {
                runs.push(run);
            }
        }
        (runs, run_of)
    }

    /// The flow between runs.
    fn between(&self, runs: &[Vec<usize>], run_of: &[u32]) -> Flow {
        let mut flow = Flow::default();
        for run in runs {
            flow.starts.push(flow.successors.len());
            let last = run[run.len() - 1];
            for edge in self.starts[last]..self.starts[last + 1] {
                flow.successors.push(BlockId(run_of[self.successors[edge].index()]));
                flow.counts.push(self.counts[edge]);
            }
        }
        flow.starts.push(flow.successors.len());
        flow
    }
}

/// How many ways lead into each block.
fn entered(function: &Function, blocks: &[Block]) -> SecondaryMap<Block, u32> {
    let mut entered = SecondaryMap::with_capacity(function.dfg.num_blocks());
    for &block in blocks {
        function.block_successors(block).for_each(|target| entered[target] += 1);
    }
    entered
}

/// What is found: an order of all blocks, and those that become cold.
type Found = (Vec<Block>, Vec<Block>);

/// An order of all blocks that costs less than Cranelift's, if one is found; what both cost, or the latter twice.
fn improve(
    function: &Function,
    dominators: &DominatorTree,
    blocks: &[Block],
    heat: &Heat,
) -> (Option<Found>, [Cost; 2]) {
    let mut is_cold: Vec<bool> = blocks.iter().map(|&block| function.is_effectively_cold(block)).collect();
    let hot: Vec<usize> = (0..blocks.len()).filter(|&number| !is_cold[number]).collect();
    let flow = Flow::of(function, &hot.iter().map(|&number| blocks[number]).collect::<Vec<_>>(), heat);
    let (runs, run_of) = flow.runs();
    let between = flow.between(&runs, &run_of);
    let Ok(frequencies) = Frequencies::new(&between, &between.counts) else {
        return (None, [Cost::default(); 2]);
    };
    let own: Vec<BlockId> = (0..runs.len()).map(BlockId::new).collect();
    let default_cost = frequencies.cost(&own);
    let kept = (None, [default_cost; 2]);
    if default_cost == Cost::default() || runs.len() > MOST_RUNS {
        return kept;
    }
    let Split { hot: inline, cold: aside } = order_blocks_forward(&frequencies);
    let mut legal = Legal::of(function, dominators, blocks);
    let members = |run: &BlockId| runs[run.index()].iter().map(|&member| hot[member]);
    let inline = rotate_loops_where(&frequencies, inline, |part| {
        // A loop that is tested at the bottom has no jump to save, and the allocator keeps less in registers around a rotated one.
        if part.last().is_some_and(|&bottom| between.successors(bottom).len() > 1) {
            return vec![false; part.len()];
        }
        let forward = rotations_forward(&between, part);
        let part: Vec<Vec<usize>> = part.iter().map(|run| members(run).collect()).collect();
        legal.rotations(&part).iter().zip(forward).map(|(legal, forward)| *legal && forward).collect()
    });
    let found = frequencies.cost(&[&inline[..], &aside].concat());
    if found >= default_cost || inline.first() != Some(&BlockId(0)) {
        return kept;
    }
    aside.iter().flat_map(members).for_each(|number| is_cold[number] = true);
    let order: Vec<usize> = inline.iter().flat_map(members).collect();
    let Some(woven) = legal.weave(&order, &is_cold) else { return kept };
    let order = woven.iter().map(|&number| blocks[number]).collect();
    let cold = aside.iter().flat_map(members).map(|number| blocks[number]).collect();
    (Some((order, cold)), [found, default_cost])
}
