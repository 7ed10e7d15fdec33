//! The path register through a region (PEP, Bond and McKinley 2005, sections 3.1 and 3.2).
//!
//! The plan says what each edge adds; here the register becomes ordinary values of the region: a parameter where
//! control meets, an addition on an edge, a constant where a path begins. So it lives in a machine register, or wherever the
//! register allocator finds best, and frame states need not know of it.
//!
//! Paths end at the yieldpoints of loops and where the method returns. (Loops have their yieldpoint on the way back, see
//! [`crate::ir::YieldKind`], so a path is a round of a loop from behind its yieldpoint to the next.) What leaves for the
//! interpreter drops the path it is on. A cycle without a yieldpoint, and a join after which there would be too
//! many paths, get an end of their own, which asks the control word like a yieldpoint but never switches threads.

use super::edges::Edges;
use super::flow::Flow;
use super::{EXHAUSTED, edge};
use crate::ir::{BlockId, InlineId, Node, Op, Region, StateKind, Terminator, Ty, Value, YieldKind};
use crate::passes::edit::Constants;
use holloway_bytecode::FunctionId;
use holloway_profilers::VersionId;
use holloway_profilers::paths::{Action, Cut, Options, PathDag, Plan};
use holloway_vm::profiling::{CounterArea, MOST_IN_ARRAY, PathInstrumentation, Storage, VersionPaths};
use smallvec::SmallVec;

/// Puts the path register and the ends of paths into a region. Additions on edges are left to `edges`.
pub fn instrument(
    region: &mut Region,
    flow: &Flow,
    edges: &mut Edges,
    wanted: &PathInstrumentation,
    counters: &CounterArea,
    version: u32,
) -> Result<VersionPaths, String> {
    let yields = |block: &BlockId| yieldpoint(region, *block, YieldKind::Loop).is_some();
    let cuts = region.block_ids().filter(yields).map(|block| holloway_profilers::BlockId(block.0)).collect();
    let options = Options { cut: Cut::Blocks(cuts), placement: wanted.placement, ..Options::default() };
    let plan = Plan::new(flow, &options, |edge| flow.frequency(edge)).map_err(|error| error.to_string())?;
    let dag = PathDag::new(&plan, VersionId(version), |edge| flow.branch(edge));
    let places = region.block_ids().map(|block| place(region, block)).collect();
    let counters = match wanted.exact {
        Some(Storage::Array) if plan.paths() <= MOST_IN_ARRAY => {
            Some(counters.allocate(plan.paths() as usize).ok_or(EXHAUSTED)?)
        }
        _ => None,
    };
    let additions = plan.additions().count() as u32;
    let added_ends = plan.added_cuts().count() as u32;
    Register { plan: &plan, wanted, counters, constants: Constants::new() }.thread(region, edges);
    Ok(VersionPaths { dag, counters, places, additions, added_ends })
}

/// The first yieldpoint of a kind in a block: where it is among the nodes.
fn yieldpoint(region: &Region, block: BlockId, kind: YieldKind) -> Option<usize> {
    region.block(block).nodes.iter().position(|&value| region.op(value) == Op::Yieldpoint(kind))
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
    wanted: &'a PathInstrumentation,
    /// The first of the counters, if paths are counted in an array.
    counters: Option<u32>,
    constants: Constants,
}

impl Register<'_> {
    fn thread(mut self, region: &mut Region, edges: &mut Edges) {
        let order = region.graph().reverse_postorder().to_vec();
        // What the register is where each block begins; parameters first, because loops come back to them.
        let mut begins: Vec<Option<Value>> = vec![None; region.blocks.len()];
        for &block in &order {
            if edges.incoming(block) > 1 {
                let (inline, pc) = origin(region, block);
                begins[block.index()] = Some(region.add_param(block, Ty::Int, inline, pc));
            }
        }
        let start = self.constant(region, self.plan.start());
        begins[Region::ENTRY.index()].get_or_insert(start);
        for &block in &order {
            let Some(begin) = begins[block.index()] else { continue };
            let end = self.block(region, block, begin);
            let targets: Vec<BlockId> =
                region.block(block).end.targets().map(|target| target.block).collect();
            for (arm, target) in targets.into_iter().enumerate() {
                let edge = edge(block.index(), arm);
                let value = match self.plan.action(edge) {
                    Action::Add(value) => value,
                    // Where blocks are cut, edges are not.
                    Action::Break(_) => 0,
                };
                let after = self.add(region, edges, edge, end, value);
                if edges.incoming(target) > 1 {
                    let found = region.block_mut(block).end.targets_mut().nth(arm);
                    found.into_iter().for_each(|found| found.args.push(after));
                } else {
                    begins[target.index()] = Some(after);
                }
            }
        }
        self.constants.place(region);
    }

    fn constant(&mut self, region: &mut Region, number: u64) -> Value {
        self.constants.get(region, Op::Int(number as i64), Ty::Int)
    }

    /// The register after an edge.
    fn add(
        &mut self,
        region: &mut Region,
        edges: &mut Edges,
        edge: holloway_profilers::Edge,
        r: Value,
        value: u64,
    ) -> Value {
        if value == 0 {
            return r;
        }
        match region.int(r) {
            Some(known) => self.constant(region, known as u64 + value),
            None => {
                let value = self.constant(region, value);
                edges.add(region, edge, Op::Arith(crate::ir::Arith::Add), &[r, value], Ty::Int)
            }
        }
    }

    /// Puts the ends of paths into a block that is entered with the register `r`; gives the register at its end.
    fn block(&mut self, region: &mut Region, block: BlockId, mut r: Value) -> Value {
        if let Some(cut) = self.plan.cut(holloway_profilers::BlockId(block.0)) {
            let at = yieldpoint(region, block, YieldKind::Loop);
            self.end_path(region, block, at.unwrap_or(0), r, at.is_some());
            r = self.constant(region, cut.begin);
        }
        if let Terminator::Return(_) = region.block(block).end {
            let at = yieldpoint(region, block, YieldKind::Epilogue);
            let end = region.block(block).nodes.len();
            self.end_path(region, block, at.unwrap_or(end), r, at.is_some());
        }
        r
    }

    /// A path with the number `r` ends in front of a node, which is a yieldpoint if `yields`.
    fn end_path(&mut self, region: &mut Region, block: BlockId, at: usize, r: Value, yields: bool) {
        let (inline, pc) = region.block(block).nodes.get(at).map_or(origin(region, block), |&value| {
            let node = region.node(value);
            (node.inline, node.pc)
        });
        let mut ops = Vec::new();
        if let Some(first) = self.counters {
            ops.push(Op::CountPath(first));
        } else if self.wanted.exact.is_some() {
            ops.push(Op::HashPath);
        }
        if self.wanted.forest {
            ops.push(Op::GrowForest);
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
