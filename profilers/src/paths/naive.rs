//! The slow, obvious twin: paths by trying every way, without a number anywhere.
//!
//! [`CutGraph::all_paths`] lists the paths of a graph with cuts; [`CutGraph::split`] says which paths a walk
//! consists of. They know nothing of a plan but where its cuts are. Exponential: for tests and small graphs.

use super::path::{Begin, End, Path};
use super::plan::Plan;
use super::simulate::Step;
use crate::graph::ControlFlow;
use crate::ids::{Arm, BlockId, BranchArm, Edge};
use std::collections::BTreeSet;

/// A graph and where its paths are cut.
pub struct CutGraph<'g, G, B> {
    flow: &'g G,
    branch: B,
    blocks: BTreeSet<BlockId>,
    edges: BTreeSet<Edge>,
    merged: bool,
}

impl<'g, G: ControlFlow, B: Fn(Edge) -> Option<BranchArm>> CutGraph<'g, G, B> {
    /// The graph with the cuts of a plan, and the outcomes of source branches that its edges are.
    pub fn new(flow: &'g G, plan: &Plan, branch: B) -> Self {
        let blocks = plan.cut_blocks().iter().map(|cut| cut.block).collect();
        let edges = plan.cut_edges().map(|(edge, _)| edge).collect();
        Self { flow, branch, blocks, edges, merged: plan.merges_parallel() }
    }

    /// Every path, or `None` if there are more than so many or one of them runs in a circle.
    pub fn all_paths(&self, most: usize) -> Option<Vec<Path>> {
        let mut found = Vec::new();
        let reachable = self.reachable();
        let targets: BTreeSet<BlockId> = self.edges.iter().map(|&edge| self.flow.target(edge)).collect();
        let entries: BTreeSet<BlockId> = self.flow.entries().iter().copied().collect();
        let entry = self.flow.entry();
        let mut complete = self.arrive(Path::starting(Begin::Method, entry), &mut found, most);
        for block in entries {
            complete &= self.arrive(Path::starting(Begin::Entry(block), block), &mut found, most);
        }
        for block in targets {
            complete &= self.arrive(Path::starting(Begin::Cut(block), block), &mut found, most);
        }
        for &block in self.blocks.intersection(&reachable) {
            complete &= self.leave(&Path::starting(Begin::Cut(block), block), block, &mut found, most);
        }
        complete.then_some(found)
    }

    /// The paths that go on from the top of the last block. Says whether all were found.
    fn arrive(&self, path: Path, found: &mut Vec<Path>, most: usize) -> bool {
        let block = path.blocks[path.blocks.len() - 1];
        if self.blocks.contains(&block) {
            found.push(Path { end: End::Cut(block), ..path });
            return found.len() <= most;
        }
        path.edges.len() <= self.flow.blocks() && self.leave(&path, block, found, most)
    }

    /// The paths that leave this block, having passed its cut.
    fn leave(&self, path: &Path, block: BlockId, found: &mut Vec<Path>, most: usize) -> bool {
        let targets = self.flow.successors(block);
        if targets.is_empty() {
            found.push(Path { end: End::Exit(block), ..path.clone() });
            return found.len() <= most;
        }
        for (arm, &target) in targets.iter().enumerate() {
            if self.merged && targets[..arm].contains(&target) {
                continue;
            }
            let edge = Edge { from: block, arm: Arm::new(arm) };
            let mut longer = path.clone();
            self.take(&mut longer, edge);
            let complete = if self.edges.contains(&edge) {
                found.push(Path { end: End::BackEdge(edge), ..longer });
                found.len() <= most
            } else {
                longer.blocks.push(target);
                self.arrive(longer, found, most)
            };
            if !complete {
                return false;
            }
        }
        true
    }

    /// Takes an edge, with the branch that it is.
    fn take(&self, path: &mut Path, edge: Edge) {
        let targets = self.flow.successors(edge.from);
        let edges_to = |target| {
            let arms = (0..targets.len()).filter(move |&arm| targets[arm] == target);
            arms.map(move |arm| Edge { from: edge.from, arm: Arm::new(arm) })
        };
        let together: Vec<Edge> =
            if self.merged { edges_to(self.flow.target(edge)).collect() } else { vec![edge] };
        let ways = if self.merged { targets.iter().collect::<BTreeSet<_>>().len() } else { targets.len() };
        let branch = (self.branch)(edge);
        let agreed = together.iter().all(|&other| (self.branch)(other) == branch);
        path.take(together[0], if agreed { branch } else { None }, ways > 1);
    }

    /// The blocks that can be reached at all.
    fn reachable(&self) -> BTreeSet<BlockId> {
        let mut reachable = BTreeSet::new();
        let mut next = vec![self.flow.entry()];
        next.extend(self.flow.entries());
        while let Some(block) = next.pop() {
            if reachable.insert(block) {
                next.extend(self.flow.successors(block));
            }
        }
        reachable
    }

    /// The paths that end on a walk of one activation, in order.
    pub fn split(&self, steps: &[Step]) -> Vec<Path> {
        let mut ended = Vec::new();
        let mut block = self.flow.entry();
        let mut path = self.pass(Path::starting(Begin::Method, block), block, &mut ended);
        for &step in steps {
            match step {
                Step::Jump(entry) => {
                    block = entry;
                    path = Path::starting(Begin::Entry(block), block);
                }
                Step::Take(arm) => {
                    let edge = Edge { from: block, arm };
                    block = self.flow.target(edge);
                    self.take(&mut path, edge);
                    if self.edges.contains(&edge) {
                        ended.push(Path { end: End::BackEdge(path.edges[path.edges.len() - 1]), ..path });
                        path = Path::starting(Begin::Cut(block), block);
                    } else {
                        path.blocks.push(block);
                    }
                }
            }
            path = self.pass(path, block, &mut ended);
        }
        ended
    }

    /// Runs a block: the path that goes on behind its cut.
    fn pass(&self, mut path: Path, block: BlockId, ended: &mut Vec<Path>) -> Path {
        if self.blocks.contains(&block) {
            ended.push(Path { end: End::Cut(block), ..path });
            path = Path::starting(Begin::Cut(block), block);
        }
        if self.flow.successors(block).is_empty() {
            ended.push(Path { end: End::Exit(block), ..path.clone() });
        }
        path
    }
}
