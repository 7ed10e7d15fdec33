//! What of a method is built: the blocks that can be reached from where the region begins without exceptions, and not through
//! branches that were never taken, where the options allow to rely on that.

use super::{BuildError, MOST_STATE};
use crate::options::Options;
use holloway_bytecode::cfg::{BlockId, Cfg, Dominators, EdgeId, EdgeKind, FlowGraph, Graph, Liveness, Loops};
use holloway_bytecode::code::{Instruction, decode};
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Function, FunctionId, Program, Register, calls};
use holloway_vm::compiled::Profile;

/// How often the other ways of a branch must have been taken for one that never was to be left out. A constant of ours: small
/// enough for methods that are compiled after a few hundred loops, and large enough that the first rounds of a loop, which
/// often differ, are over.
pub const PRUNE_AFTER: u64 = 100;

/// Which blocks and edges of a method are built.
pub struct Plan {
    /// The method's graph.
    pub cfg: Cfg,
    /// The same blocks with the edges that are built.
    pub graph: FlowGraph,
    /// Its loops.
    pub loops: Loops,
    /// Where the region begins.
    pub start: BlockId,
    /// For each block that is built the registers that are live before it, ascending.
    pub live_in: Vec<Vec<Register>>,
    weights: Weights,
}

/// What the profile says of the edges of a method's graph.
struct Weights {
    /// It was never taken, and leaves compiled code.
    pruned: Vec<bool>,
    /// How often it was taken, 0 if nothing counts that.
    counts: Vec<u32>,
    /// Its counter is zero, and another one's of the same branch is not.
    never: Vec<bool>,
}

impl Weights {
    fn new(edges: usize) -> Weights {
        Weights { pruned: vec![false; edges], counts: vec![0; edges], never: vec![false; edges] }
    }

    /// Finds out how often the edges out of a block were taken.
    fn weigh(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        profile: &dyn Profile,
        options: &Options,
        id: FunctionId,
        block: BlockId,
    ) {
        let pc = cfg.block(block).last;
        let Some(last) = decode(&function.code, pc as usize) else { return };
        let counts = match last.op.shape() {
            OpShape::Branch | OpShape::LoopBranch => profile.branch(id, pc).to_vec(),
            OpShape::Switch => profile.switch(id, pc, last.cases().len()),
            _ => return,
        };
        let total: u64 = counts.iter().map(|&count| count as u64).sum();
        for (edge, &count) in normal_edges(cfg, block).zip(&counts) {
            let target = cfg.block(cfg.target(edge)).start;
            // Who counts failures knows the frame that the interpreter went on with: that is at the target.
            let failed =
                || profile.has_failed(id, pc, "untaken") || profile.has_failed(id, target, "untaken");
            // The interpreter counts no way out of a loop that it leaves for compiled code. Where that failed, the way was taken: it
            // is not rare because nobody counted it.
            let untaken = count == 0 && total > 0 && !failed();
            self.counts[edge.index()] = if untaken || total == 0 { count } else { count.max(1) };
            self.never[edge.index()] = untaken;
            self.pruned[edge.index()] = options.prune_untaken && untaken && total >= PRUNE_AFTER;
        }
    }
}

/// The part of a graph without some edges.
struct Part<'a> {
    cfg: &'a Cfg,
    start: BlockId,
    pruned: &'a [bool],
}

impl Graph for Part<'_> {
    fn block_count(&self) -> usize {
        self.cfg.blocks().len()
    }

    fn entry(&self) -> BlockId {
        self.start
    }

    fn successors(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        normal_edges(self.cfg, block)
            .filter(|edge| !self.pruned[edge.index()])
            .map(|edge| self.cfg.target(edge))
    }
}

/// The edges out of a block but for exceptions.
pub fn normal_edges(cfg: &Cfg, block: BlockId) -> impl Iterator<Item = EdgeId> {
    cfg.out_edges(block).filter(|&edge| !matches!(cfg.kind(edge), EdgeKind::Exception(_)))
}

/// Why a place of a method is not built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unbuilt {
    /// No way leads there from where the code is entered, but for exceptions.
    OffTheWay,
    /// The ways that lead there were never taken.
    Untaken,
    /// A way leads there that is built.
    Built,
}

/// For places of a method that is entered at the word `from`, why they are not built, if they are not.
pub fn unbuilt(
    program: &Program,
    profile: &dyn Profile,
    options: &Options,
    id: FunctionId,
    from: u32,
    places: &[u32],
) -> Vec<Unbuilt> {
    let function = &program.functions[id.index()];
    let cfg = Cfg::of_function(function);
    let Some(start) = cfg.block_at(from) else { return vec![Unbuilt::OffTheWay; places.len()] };
    let mut weights = Weights::new(cfg.edge_count());
    let all = FlowGraph::of(&Part { cfg: &cfg, start, pruned: &weights.pruned });
    for block in cfg.blocks() {
        weights.weigh(function, &cfg, profile, options, id, block);
    }
    let taken = FlowGraph::of(&Part { cfg: &cfg, start, pruned: &weights.pruned });
    let why = |&place: &u32| match cfg.block_at(place) {
        Some(block) if taken.reverse_postorder().contains(&block) => Unbuilt::Built,
        Some(block) if all.reverse_postorder().contains(&block) => Unbuilt::Untaken,
        _ => Unbuilt::OffTheWay,
    };
    places.iter().map(why).collect()
}

impl Plan {
    /// The plan for a region that begins with the block at `from`.
    pub fn of(
        program: &Program,
        profile: &dyn Profile,
        options: &Options,
        id: FunctionId,
        liveness: &Liveness,
        from: u32,
    ) -> Result<Plan, BuildError> {
        let function = &program.functions[id.index()];
        let cfg = Cfg::of_function(function);
        let blocks = cfg.blocks().len();
        if blocks.saturating_mul(function.registers.len()) > MOST_STATE {
            return Err(BuildError::TooLarge);
        }
        let start =
            cfg.block_at(from).filter(|&block| cfg.block(block).start == from).ok_or(BuildError::NoLoop)?;
        let mut weights = Weights::new(cfg.edge_count());
        for block in cfg.blocks() {
            weights.weigh(function, &cfg, profile, options, id, block);
        }
        let graph = FlowGraph::of(&Part { cfg: &cfg, start, pruned: &weights.pruned });
        let loops = Loops::of(&graph, &Dominators::of(&graph));
        let mut live_in = vec![Vec::new(); blocks];
        for &block in graph.reverse_postorder() {
            live_in[block.index()] =
                liveness.before(program, function, cfg.block(block).start).iter().collect();
        }
        Ok(Plan { cfg, graph, loops, start, live_in, weights })
    }
    /// Does the edge leave compiled code.
    pub fn is_pruned(&self, edge: EdgeId) -> bool {
        self.weights.pruned[edge.index()]
    }

    /// How often the edge was taken.
    pub fn count(&self, edge: EdgeId) -> u32 {
        self.weights.counts[edge.index()]
    }

    /// Was the edge never taken, though others of its branch were.
    pub fn is_never_taken(&self, edge: EdgeId) -> bool {
        self.weights.never[edge.index()]
    }

    /// The edges into a block that are built (the beginning of the region not counted).
    pub fn edges_in(&self, block: BlockId) -> impl Iterator<Item = EdgeId> {
        self.graph
            .in_edges(block)
            .iter()
            .copied()
            .filter(|&edge| self.graph.is_reachable(self.graph.source(edge)))
    }

    /// On how many ways a block is reached.
    pub fn ways_in(&self, block: BlockId) -> usize {
        self.edges_in(block).count() + (block == self.start) as usize
    }

    /// Does a back edge of the bytecode go to the block.
    pub fn is_loop_target(&self, function: &Function, block: BlockId) -> bool {
        self.edges_in(block).any(|edge| {
            let from = self.cfg.block(self.graph.source(edge));
            let is_back = |last: Instruction<'_>| {
                matches!(last.op.shape(), OpShape::LoopBranch | OpShape::LoopJump)
                    && last.target().map(|distance| from.last as i64 + distance as i64)
                        == Some(self.cfg.block(block).start as i64)
            };
            decode(&function.code, from.last as usize).is_some_and(is_back)
        })
    }

    /// For a header all of whose edges from later blocks are back edges: the registers that are assigned inside the loop.
    /// Otherwise `None`.
    pub fn assigned_in_loop(
        &self,
        program: &Program,
        function: &Function,
        header: BlockId,
    ) -> Option<Vec<bool>> {
        let id = self.loops.headed_by(header)?;
        let natural = |edge: EdgeId| {
            !self.graph.is_retreating(edge) || self.loops.contains(id, self.graph.source(edge))
        };
        if !self.edges_in(header).all(natural) {
            return None;
        }
        let mut assigned = vec![false; function.registers.len()];
        for &block in &self.loops.get(id).blocks {
            for (_, instruction) in self.cfg.instructions(function, block) {
                if let Some(register) = written(program, function, &instruction) {
                    assigned[register.0 as usize] = true;
                }
            }
        }
        Some(assigned)
    }
}

/// The register that an instruction writes, if it goes on.
pub fn written(program: &Program, function: &Function, instruction: &Instruction<'_>) -> Option<Register> {
    match instruction.op.shape() {
        OpShape::Call => calls::call_result(program, function, instruction).map(|_| Register(instruction.a)),
        _ => instruction.def(),
    }
}
