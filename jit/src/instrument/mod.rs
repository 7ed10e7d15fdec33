//! Puts into a finished region what profilers want to count: after inlining and all passes, so that what is counted is
//! what runs, and the counting does not change what the passes see.
//!
//! | file | what it does |
//! |---|---|
//! | `flow` | the region as the algorithms see it: blocks, arms, frequencies, source branches |
//! | `edges` | code on edges: at the source's end, at the target's beginning, or on a block of its own |
//! | [`branches`] | which branches of the machine code are which of the program: nothing is put in for it |
//! | `calls` | calls, inlined ones included |
//! | `caches` | inline caches of calls that are not inlined |
//! | `outcomes` | counters of edges |
//! | `kept` | which of them the activation keeps while it is in a loop |
//! | `receivers` | where paths tell what calls through tables reach |
//! | `paths` | which paths there are, and what happens where they end |
//! | `register` | where the path register is set and added to |
//! | `trace` | for tests: every step |
//!
//! Without anything to count, none of this runs and the region stays as it is.

pub mod branches;
mod caches;
mod calls;
mod edges;
mod flow;
mod kept;
mod outcomes;
mod paths;
pub mod receivers;
mod register;
mod trace;

use crate::frequency::Frequencies;
use crate::ir::{BlockId, Op, Region, Shape, YieldKind};
use edges::Edges;
use flow::Flow;
use holloway_bytecode::Program;
use holloway_profilers::paths::Side;
use holloway_profilers::{Arm, ControlFlow, Edge};
use holloway_vm::profiling::{CounterNumbers, Instrumentation, Instrumented, PathInstrumentation};
use holloway_vm::timer::thread_time;
use std::time::Duration;

/// Why a region cannot be counted: it stays interpreted.
const EXHAUSTED: &str = "there are no more counters for profiles";

/// How long the passes of path profiling take, which are parts of this step: by name, for who adds times up.
#[derive(Debug, Default)]
pub struct Times {
    /// The passes, in the order in which they ran.
    pub passes: Vec<(&'static str, Duration)>,
    last: Duration,
}

impl Times {
    /// Putting code in.
    const INSERTION: &'static str = "path-insertion";

    /// A pass begins.
    fn begin(&mut self) {
        self.last = thread_time();
    }

    /// A pass ends, and the next one begins.
    fn end(&mut self, name: &'static str) {
        let now = thread_time();
        self.passes.push((name, now.saturating_sub(self.last)));
        self.last = now;
    }
}

/// Puts in what is wanted and says what the counts will mean; and the shape of the region, if it is what it was before. `version` is the
/// number of the code.
pub fn run(
    region: &mut Region,
    program: &Program,
    wanted: &Instrumentation,
    counters: &CounterNumbers,
    version: u32,
    times: &mut Times,
) -> Result<(Instrumented, Option<Shape>), String> {
    let mut shape = region.shape();
    if region.clear_outside(&shape.graph) {
        shape = region.shape();
    }
    let blocks = region.blocks.len();
    let frequencies = Frequencies::of(region, &shape);
    let passed = if wanted.calls_on_paths { calls::passed(region) } else { Vec::new() };
    let flow = Flow::of(region, &shape, &frequencies);
    let mut edges = Edges::of(region);
    times.begin();
    let mut paths = match &wanted.paths {
        Some(wanted) => Some(paths::instrument(region, &flow, &mut edges, wanted, counters, version, times)?),
        None => None,
    };
    let counted = match wanted.edges {
        true => Some(outcomes::instrument(region, &shape, &flow, &mut edges, counters)?),
        false => None,
    };
    times.begin();
    edges.place(region);
    if paths.is_some() && counted.is_none() {
        times.end(Times::INSERTION);
    }
    if let (Some(PathInstrumentation { traced: true, .. }), Some(paths)) = (&wanted.paths, &mut paths) {
        trace::instrument(region, flow.blocks(), paths.dag.get());
    }
    if let Some(paths) = &mut paths {
        paths.calls = passed;
    }
    let caches = match &wanted.caches {
        Some(wanted) => Some(caches::instrument(region, program, wanted, counters)?),
        None => None,
    };
    let calls = match wanted.calls {
        true => Some(calls::instrument(region, counters)?),
        false => None,
    };
    // Counting takes them out as well.
    if wanted.marks_calls() && calls.is_none() {
        calls::clear_marks(region);
    }
    // What is put in goes other ways only through blocks of its own.
    let shape = (region.blocks.len() == blocks).then_some(shape);
    Ok((Instrumented { edges: counted, paths, calls, caches, branches: None }, shape))
}

/// An edge of the region in the words of the profilers: their blocks have the same numbers.
fn edge(from: usize, arm: usize) -> Edge {
    Edge { from: holloway_profilers::BlockId::new(from), arm: Arm::new(arm) }
}

/// Where among the nodes of a block paths are cut: at the yieldpoint of its loop. An end that is added where there is none is in front of
/// the whole block.
fn cut(region: &Region, block: BlockId) -> Option<usize> {
    yieldpoint(region, block, YieldKind::Loop)
}

/// On which side of that a node is.
fn side(node: usize, cut: Option<usize>) -> Side {
    match cut {
        Some(cut) if node < cut => Side::Before,
        _ => Side::Behind,
    }
}

/// The first yieldpoint of a kind in a block: where it is among the nodes.
fn yieldpoint(region: &Region, block: BlockId, kind: YieldKind) -> Option<usize> {
    region
        .block(block)
        .nodes
        .iter()
        .position(|&value| matches!(region.op(value), Op::Yieldpoint(of) if of == kind))
}
