//! The path register through a region (PEP, Bond and McKinley 2005, sections 3.1 and 3.2).
//!
//! The plan says what each edge adds; `register` finds where that has to be executed.
//!
//! The register is a word of the frame, not a machine register: nothing waits for it, it is read where a sample is taken or a path
//! counted, and it leaves the machine registers to the program. As an ordinary value of the region it lived through calls and
//! around loops, was spilled or had others spilled, and its constants were loaded in front of branches: 13 % of Permute,
//! 6 % of List, where the word costs 5 and 2 %.
//!
//! Paths end at the yieldpoints of loops and where the method returns. (Loops have their yieldpoint on the way back, see
//! [`crate::ir::YieldKind`], so a path is a round of a loop from behind its yieldpoint to the next.) What leaves for the
//! interpreter drops the path it is on. A cycle without a yieldpoint, and a join after which there would be too
//! many paths, get an end of their own, which asks the control word like a yieldpoint but never switches threads.

use super::edges::Edges;
use super::flow::Flow;
use super::register::{self, Number};
use super::{EXHAUSTED, Times, cut, yieldpoint};
use crate::ir::{BlockId, InlineId, Node, Op, Region, StateKind, Terminator, Ty, Value, YieldKind};
use crate::passes::edit::Constants;
use holloway_bytecode::FunctionId;
use holloway_profilers::VersionId;
use holloway_profilers::kblpp::NodeLayout;
use holloway_profilers::paths::{Cut, CutBlock, LateDag, Options, Pass, Plan};
use holloway_profilers::windows::WindowNumbers;
use holloway_vm::profiling::{
    CounterNumbers, MOST_IN_ARRAY, PathInstrumentation, PathTableCells, Roots, Storage, UNSURE, VersionPaths,
    Windows,
};
use smallvec::SmallVec;

/// The path register has 32 bits, one number must be left that means none, and the k-slab forest labels its nodes with these.
const MOST_PATHS: u64 = NodeLayout::LABELS;

/// Puts the path register and the ends of paths into a region. Additions on edges are left to `edges`.
pub fn instrument(
    region: &mut Region,
    flow: &Flow,
    edges: &mut Edges,
    wanted: &PathInstrumentation,
    counters: &CounterNumbers,
    version: u32,
    times: &mut Times,
) -> Result<VersionPaths, String> {
    let yields = |block: &BlockId| cut(region, *block).is_some();
    let cuts = region.block_ids().filter(yields).map(|block| holloway_profilers::BlockId(block.0)).collect();
    let mut options = Options { cut: Cut::Blocks(cuts), placement: wanted.placement, ..Options::default() };
    let plan = loop {
        let passed = |pass: Pass| {
            times.end(match pass {
                Pass::Graph => "path-graph",
                Pass::Numbering => "path-numbering",
            });
        };
        let frequency = |edge| flow.frequency(edge);
        let plan = Plan::watched(flow, &options, frequency, passed).map_err(|error| error.to_string())?;
        // The limit is one for what goes on from each join. All together must fit the register.
        if plan.paths() <= MOST_PATHS {
            break plan;
        }
        options.limit /= 4;
    };
    let places = region.block_ids().map(|block| place(region, block)).collect();
    let roots = if wanted.forest {
        let count = plan.paths().next_power_of_two().min(Roots::MOST) as u32;
        Some(Roots { first: counters.allocate(count as usize).ok_or(EXHAUSTED)?, count })
    } else {
        None
    };
    let windows = match wanted.windows.and_then(|k| WindowNumbers::new(k, plan.paths())) {
        Some(numbers) => {
            Some(Windows { cells: counters.allocate(PathTableCells::COUNT).ok_or(EXHAUSTED)?, numbers })
        }
        None => None,
    };
    let (counters, table) = match wanted.exact {
        Some(Storage::Array) if plan.paths() <= MOST_IN_ARRAY => {
            (Some(counters.allocate(plan.paths() as usize).ok_or(EXHAUSTED)?), None)
        }
        Some(_) => (None, Some(counters.allocate(PathTableCells::COUNT).ok_or(EXHAUSTED)?)),
        None => (None, None),
    };
    let additions = plan.additions().count() as u32;
    let added_ends = plan.added_cuts().count() as u32;
    let (constants, later) = (Constants::new(), later(region, &plan));
    Register { plan: &plan, flow, wanted, counters, table, constants, roots, windows, later }
        .thread(region, edges);
    times.end(Times::INSERTION);
    let of_graph = plan.actions().count() as u32;
    let calls = Vec::new();
    Ok(VersionPaths {
        dag: LateDag::new(plan, VersionId(version), flow.branch_arms().collect()),
        counters,
        table,
        roots,
        windows,
        windows_refused: wanted.windows.is_some() && windows.is_none(),
        places,
        additions,
        edges: of_graph,
        added_ends,
        calls,
        receivers: Vec::new(),
    })
}

/// Where in the program a block begins.
fn place(region: &Region, block: BlockId) -> (FunctionId, u32) {
    let of = |inline: InlineId, pc: u32| (region.inlines[inline.index()].function, pc);
    let nodes = region.block(block).nodes.iter().map(|&value| region.node(value));
    // Constants stand where they were needed first.
    let mut real = nodes.filter(|node| !node.op.is_constant());
    match (real.next(), &region.block(block).end) {
        (Some(node), _) => of(node.inline, node.pc),
        (None, Terminator::Branch { source: Some(source), .. } | Terminator::Switch { source, .. }) => {
            of(source.inline, source.pc)
        }
        (None, Terminator::Deopt(_, state)) => {
            let state = region.state(*state);
            of(state.inline, state.pc + u32::from(state.kind != StateKind::Before))
        }
        (None, _) => of(InlineId::ROOT, 0),
    }
}

/// The path register on its way through a region.
struct Register<'a> {
    plan: &'a Plan,
    flow: &'a Flow,
    wanted: &'a PathInstrumentation,
    /// The first of the counters, if paths are counted in an array.
    counters: Option<u32>,
    /// The counters that name the hash table, if they are counted there.
    table: Option<u32>,
    constants: Constants,
    /// Where roots of the k-slab forest are remembered.
    roots: Option<Roots>,
    /// How windows are counted, if they are.
    windows: Option<Windows>,
    /// By block: can the beginning be reached from the end of a path.
    later: Vec<bool>,
}

/// Which blocks can be reached from behind the end of a path.
fn later(region: &Region, plan: &Plan) -> Vec<bool> {
    let mut later = vec![false; region.blocks.len()];
    let mut todo: Vec<BlockId> = Vec::new();
    let ends = |block: &BlockId| plan.cut(holloway_profilers::BlockId(block.0)).is_some();
    todo.extend(region.block_ids().filter(ends));
    while let Some(block) = todo.pop() {
        for target in region.block(block).end.targets() {
            if !std::mem::replace(&mut later[target.block.index()], true) {
                todo.push(target.block);
            }
        }
    }
    later
}

impl Register<'_> {
    fn thread(mut self, region: &mut Region, edges: &mut Edges) {
        // What is counted needs its number in every round.
        let only_sampled =
            matches!(self.wanted, PathInstrumentation { exact: None, forest: false, windows: None, .. });
        let placement = self.wanted.placement;
        let found = register::place(region, edges, self.flow, self.plan, placement, only_sampled);
        for block in region.block_ids() {
            if let Some(begin) = found.begins[block.index()] {
                self.block(region, block, begin);
            }
        }
        for (block, number) in found.resets {
            let number = self.constants.get(region, Op::Int(number), Ty::Int);
            if let Some(at) = cut(region, block) {
                let value = region.block(block).nodes[at];
                region.nodes[value.index()].args.push(number);
            }
        }
        for (block, op) in found.at_ends {
            edges.add_to_all(region, block, op);
        }
        for (edge, op) in found.on_edges {
            edges.add(region, edge, op);
        }
        self.constants.place(region);
    }

    fn value(&mut self, region: &mut Region, number: Number) -> Value {
        let op = match number {
            Number::Known(known) => Op::Int(known as i64),
            Number::Register(more) => Op::Path(more),
            Number::Unsure(more) => Op::Path(more + UNSURE as i64),
        };
        self.constants.get(region, op, Ty::Int)
    }

    /// Puts the ends of paths into a block that is entered with the number `r`.
    fn block(&mut self, region: &mut Region, block: BlockId, mut r: Number) {
        let mut first = !self.later[block.index()];
        if let Some(CutBlock { begin, .. }) = self.plan.cut(holloway_profilers::BlockId(block.0)) {
            let at = cut(region, block);
            self.end_path(region, block, at.unwrap_or(0), r, at.is_some(), first);
            first = false;
            r = Number::Known(begin);
        }
        if let Terminator::Return(_) = region.block(block).end {
            let at = yieldpoint(region, block, YieldKind::Epilogue);
            let end = region.block(block).nodes.len();
            self.end_path(region, block, at.unwrap_or(end), r, at.is_some(), first);
        }
    }

    /// A path with the number `r` ends in front of a node, which is a yieldpoint if `yields`; it is the `first` of its activation.
    fn end_path(
        &mut self,
        region: &mut Region,
        block: BlockId,
        at: usize,
        r: Number,
        yields: bool,
        first: bool,
    ) {
        let r = self.value(region, r);
        let (inline, pc) = region.block(block).nodes.get(at).map_or(origin(region, block), |&value| {
            let node = region.node(value);
            (node.inline, node.pc)
        });
        let mut ops = Vec::new();
        if let Some(first) = self.counters {
            ops.push(Op::CountPath(first));
        } else if let Some(table) = self.table {
            ops.push(Op::HashPath(table));
        }
        if let Some(roots) = self.roots {
            ops.push(if first { Op::PlantForest(roots) } else { Op::GrowForest });
        }
        if let Some(windows) = self.windows {
            ops.push(Op::HashWindow { windows, first });
        }
        if self.wanted.sampled && yields {
            let value = region.block(block).nodes[at];
            region.nodes[value.index()].args.push(r);
        } else if self.wanted.sampled {
            ops.push(Op::SamplePath);
        }
        let node = |op| Node { op, args: SmallVec::from_slice(&[r]), ty: Ty::None, state: None, inline, pc };
        let new: Vec<Value> = ops.into_iter().map(|op| region.add_node(node(op))).collect();
        region.block_mut(block).nodes.splice(at..at, new);
    }
}

/// What a block's beginning comes from.
fn origin(region: &Region, block: BlockId) -> (InlineId, u32) {
    region.block(block).nodes.first().map_or((InlineId::ROOT, 0), |&value| {
        let node = region.node(value);
        (node.inline, node.pc)
    })
}
