//! How branches went on sampled subpaths: what these say of edges, so that they can be held against the same truth as other profilers.
//!
//! Two blocks of a method that follow each other tell how the branch between them went. Where a block calls, the callee's blocks
//! lie between, so the callers whose blocks are not finished are remembered. What began before the subpath is not known: a
//! block behind a return to there counts for no branch.
//!
//! A sample begins with any block alike, so each step from block to block is as often in samples of a length as any other: samples weigh alike. Only a
//! branch behind a call is seen less often than it is executed, by samples that reach over the callee. How it went is known as well, and how often it was executed is not.
//! (Where samples begin at loops only, what is in loops is seen more.)

use super::Writer;
use crate::profiling::recorder::arm_of;
use crate::profiling::{BlockPlace, SampledSubpaths};
use holloway_bytecode::cfg::{BlockId as CfgBlock, Cfg};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::osp::{HotPath, Stratum};
use holloway_profilers::{Arm, BlockId, BranchArm, BranchId, MethodId};
use std::collections::BTreeMap;

/// Weights are whole numbers of these parts of a sample.
const PARTS: f64 = 1024.0;

/// A method that runs, and its block.
struct Frame {
    method: u32,
    block: CfgBlock,
}

/// Outcomes of branches in parts of samples.
pub(super) fn outcomes(writer: &Writer<'_>, found: &SampledSubpaths, places: &[BlockPlace]) -> EdgeProfile {
    let mut walk = Walk { writer, graphs: BTreeMap::new(), edges: EdgeProfile::default() };
    for path in &found.report.paths {
        let stratum = found.sample.strata.iter().find(|stratum| stratum.length == path.length);
        if let (Some(blocks), Some(stratum)) = (path.blocks.as_deref(), stratum) {
            walk.along(blocks, places, weight(path, stratum));
        }
    }
    walk.edges
}

/// How many samples of its length a subpath stands for, those that a full list has dropped included.
fn weight(path: &HotPath, stratum: &Stratum) -> f64 {
    let share = if stratum.windows > 0.0 { path.estimate / stratum.windows } else { 0.0 };
    PARTS * share * stratum.samples as f64
}

struct Walk<'w> {
    writer: &'w Writer<'w>,
    graphs: BTreeMap<u32, Cfg>,
    edges: EdgeProfile,
}

impl Walk<'_> {
    fn graph(&mut self, method: u32) -> &Cfg {
        let function = &self.writer.program.functions[method as usize];
        self.graphs.entry(method).or_insert_with(|| Cfg::of_function(function))
    }

    fn along(&mut self, blocks: &[BlockId], places: &[BlockPlace], weight: f64) {
        let mut frames: Vec<Frame> = Vec::new();
        for number in blocks {
            // Identities that collided have numbers that no block has.
            let Some(&BlockPlace { method, position, .. }) = places.get(number.0 as usize) else { return };
            let Some(block) = self.graph(method).block_at(position) else { return };
            let from = frames.iter().rposition(|frame| {
                frame.method == method && self.graphs[&method].targets_of(frame.block).contains(&block)
            });
            match from {
                Some(at) => {
                    self.step(&frames[at], block, weight);
                    frames.truncate(at);
                }
                None if position == 0 => {}
                None => frames.clear(),
            }
            frames.push(Frame { method, block });
        }
    }

    /// A step from a block to the next one of its method. Where several cases of a switch lead there, each is as likely; where all outcomes do, nothing is known.
    fn step(&mut self, from: &Frame, to: CfgBlock, weight: f64) {
        let graph = &self.graphs[&from.method];
        let branch = BranchId { method: MethodId(from.method), position: graph.block(from.block).last };
        let Some(&arms) = self.writer.branches.get(&branch) else { return };
        let edges = graph.out_edges(from.block).filter(|&edge| graph.target(edge) == to);
        let ways: Vec<usize> = edges.filter_map(|edge| arm_of(graph.kind(edge), arms as usize)).collect();
        if ways.len() == arms as usize {
            return;
        }
        self.edges.declare(branch, arms as usize);
        for &arm in &ways {
            let each = (weight / ways.len() as f64).round() as u64;
            self.edges.add(BranchArm { branch, arm: Arm::new(arm) }, each);
        }
    }
}
