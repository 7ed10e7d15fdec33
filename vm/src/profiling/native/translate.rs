//! From runs of blocks of machine code to runs of blocks of the program.
//!
//! ```text
//! blocks of machine code ──owner──► blocks of the region ──outcomes──► branches of the program, by inlined method
//!                                                                        └──► runs of blocks of each method
//! ```
//!
//! A block of the region may have no machine code at all (its work went elsewhere): between two that were seen control went the only
//! way through such blocks, or else nobody knows. Branches of the program that the code does not have (the compiler proved them, or
//! made a conditional move of them) end a run, unless there is one way on. So each run is one that the method's graph has.

use super::table::VersionBranches;
use crate::profiling::recorder::arm_of;
use holloway_bytecode::cfg::{BlockId as CfgBlock, Cfg, EdgeId, EdgeKind};
use holloway_profilers::btb::Run;
use holloway_profilers::{Arm, BlockId, MethodId};
use std::collections::BTreeMap;

/// Longer ways through blocks without code are not looked for.
const MOST_UNSEEN: usize = 16;

/// Graphs of the program's methods, as they are needed.
pub trait Methods {
    /// The graph of a method.
    fn cfg(&mut self, method: MethodId) -> Option<&Cfg>;
}

/// The runs that a run of machine code shows, each with an edge at least.
pub fn translate(code: &VersionBranches, blocks: &[BlockId], methods: &mut dyn Methods) -> Vec<Run> {
    let mut runs = Runs { open: BTreeMap::new(), done: Vec::new() };
    let mut last: Option<u32> = None;
    for block in visits(code, blocks) {
        if let Some(from) = last {
            match way(code, from, block) {
                Some(edges) => edges.iter().for_each(|&edge| runs.step(code, edge, methods)),
                None => runs.cut(),
            }
        }
        last = Some(block);
    }
    runs.cut();
    runs.done
}

/// The blocks of the region that were gone through.
fn visits(code: &VersionBranches, blocks: &[BlockId]) -> Vec<u32> {
    let mut visits: Vec<u32> = Vec::new();
    for block in blocks.iter().filter_map(|block| code.blocks.get(block.index())) {
        let Some(owner) = block.owner else { continue };
        if visits.last() != Some(&owner) || block.head {
            visits.push(owner);
        }
    }
    visits
}

/// The edges from a block of the region to another, if there is one way that they can have gone without being seen in between.
fn way(code: &VersionBranches, from: u32, to: u32) -> Option<Vec<(u32, Option<u32>)>> {
    let seen = |block: u32| code.blocks.iter().any(|native| native.owner == Some(block));
    let (mut found, mut open) = (None, vec![(vec![from], Vec::new())]);
    let mut tries = 0;
    while let Some((path, edges)) = open.pop() {
        tries += 1;
        let targets = path.last().and_then(|&block| code.targets.get(block as usize))?;
        if tries > 4 * MOST_UNSEEN || path.len() > MOST_UNSEEN {
            return None;
        }
        for (arm, &target) in targets.iter().enumerate() {
            let first = targets.iter().position(|&other| other == target) == Some(arm);
            if !first {
                continue;
            }
            // Two arms to the same block cannot be told apart.
            let only = targets.iter().filter(|&&other| other == target).count() == 1;
            let mut edges = edges.clone();
            edges.push((*path.last()?, only.then_some(arm as u32)));
            if target == to {
                if found.replace(edges).is_some() {
                    return None;
                }
            } else if !seen(target) && !path.contains(&target) {
                open.push(([&path[..], &[target]].concat(), edges));
            }
        }
    }
    found
}

/// Runs in the making, one for each method of the region.
struct Runs {
    open: BTreeMap<u32, Run>,
    done: Vec<Run>,
}

impl Runs {
    fn cut(&mut self) {
        self.done.extend(std::mem::take(&mut self.open).into_values().filter(|run| run.blocks.len() > 1));
    }

    fn step(&mut self, code: &VersionBranches, (from, arm): (u32, Option<u32>), methods: &mut dyn Methods) {
        let Some(outcome) = arm.and_then(|arm| code.outcome(from, arm)) else { return };
        let method = outcome.branch.branch.method;
        let Some(cfg) = methods.cfg(method) else { return };
        let Some((at, to)) = ends(cfg, outcome.branch.branch.position, outcome.branch.arm) else { return };
        let run = self.open.entry(outcome.inline).or_insert_with(|| Run { method, blocks: vec![at] });
        if !go_on(cfg, &mut run.blocks, at) {
            let old = std::mem::replace(run, Run { method, blocks: vec![at] });
            self.done.extend(Some(old).filter(|run| run.blocks.len() > 1));
        }
        if let Some(run) = self.open.get_mut(&outcome.inline) {
            run.blocks.push(to);
        }
    }
}

fn is_exception(cfg: &Cfg, edge: EdgeId) -> bool {
    matches!(cfg.kind(edge), EdgeKind::Exception(_))
}

/// The block of a branch, and the one that an outcome leads to.
fn ends(cfg: &Cfg, position: u32, arm: Arm) -> Option<(BlockId, BlockId)> {
    let block = cfg.block_at(position)?;
    let arms = cfg.out_edges(block).filter(|&edge| !is_exception(cfg, edge)).count();
    let edge = cfg.out_edges(block).find(|&edge| arm_of(cfg.kind(edge), arms) == Some(arm.index()))?;
    Some((BlockId(block.0), BlockId(cfg.target(edge).0)))
}

/// Goes on to a block, if that is the only way. The blocks stay as they are otherwise.
fn go_on(cfg: &Cfg, blocks: &mut Vec<BlockId>, to: BlockId) -> bool {
    let Some(&last) = blocks.last() else { return false };
    let (length, mut at) = (blocks.len(), last);
    while at != to {
        let mut targets = cfg
            .out_edges(CfgBlock(at.0))
            .filter(|&edge| !is_exception(cfg, edge))
            .map(|edge| BlockId(cfg.target(edge).0));
        match (targets.next(), targets.next()) {
            (Some(next), None) if !blocks[length - 1..].contains(&next) => {
                blocks.push(next);
                at = next;
            }
            _ => {
                blocks.truncate(length);
                return false;
            }
        }
    }
    true
}
