//! Loop peeling: the first round of a loop is copied in front of it, if that makes something needless in all others.
//!
//! What invariant code motion could not move out is executed once in the copy, which every further round has behind it:
//!
//! * loads of references from invariant places that come after a way out of the loop (moved, they could read what is no reference);
//! * invariant checks of loops where a predicate failed, so that nothing is supposed in front of them any more;
//! * invariant tests for leaving the loop;
//! * what a parameter of the header decides that is the same from the second round on: `first`, `previous == null`.
//!
//! They are removed by the passes that run after this one if it did something (`AFTER` in the pipeline): equal checks by
//! value numbering, loads by the memory pass, tests by conditions; then what hangs on them is moved by invariant code motion.
//!
//! Only innermost loops of small regions are peeled that are expected to run several rounds, and the size of the copy is limited by
//! what there is to gain. What counts as a gain is in blocks that every round executes: others are not sure to be in the first one.
//!
//! The copy keeps the yieldpoint before its branch back, and all frame states: it is a round like any other. The mark of the loop's beginning
//! stays with the loop.
//!
//! Linear in the size of the region, and in what is live for each loop that is peeled ([`Copies`]).

use super::copies::Copies;
use super::memory::locations::{Effect, Locations, effect};
use super::{Input, Notes};
use crate::frequency::Frequencies;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Op, Region, Terminator, Value, YieldKind};
use crate::options::Level;
use holloway_bytecode::cfg::{Graph, LoopId};
use std::cell::OnceCell;

/// No larger loop is peeled.
const MOST_NODES: usize = 100;

/// For each thing to gain the copy may be so large.
const NODES_FOR_A_GAIN: usize = 25;

/// In larger regions nothing is peeled: the passes that have to follow look at all of it.
const MOST_IN_ALL: usize = 200;

/// So much is copied in a region.
const MOST_IN_REGION: usize = 300;

/// Loops with fewer rounds are not worth it.
const FEWEST_ROUNDS: f64 = 5.0;

/// From so many blocks values are followed back to find out what a parameter is from the second round on.
const MOST_FOLLOWED: usize = 16;

/// The pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    let is_mark = |&value: &Value| region.op(value) == Op::Yieldpoint(YieldKind::Header);
    let nodes = || region.blocks.iter().flat_map(|block| &block.nodes);
    if input.options.level != Level::O2 || nodes().count() > MOST_IN_ALL || !nodes().any(is_mark) {
        return false;
    }
    region.clear_unreachable();
    let shape = region.shape();
    let plan = plan(region, input, &shape);
    if plan.is_empty() {
        return false;
    }
    let mut copies = Copies::new(region);
    for id in plan {
        peel(region, &shape, id, &mut copies);
    }
    copies.settle(region);
    true
}

/// The loops to be peeled.
fn plan(region: &Region, input: &Input<'_>, shape: &Shape) -> Vec<LoopId> {
    let mut plan = Vec::new();
    if !shape.loops.is_reducible() {
        return plan;
    }
    let mut has_inner = vec![false; shape.loops.len()];
    for (_, natural) in shape.loops.iter() {
        natural.parent.into_iter().for_each(|parent| has_inner[parent.index()] = true);
    }
    let mut homes = vec![None; region.nodes.len()];
    for block in region.block_ids() {
        let nodes = region.block(block).params.iter().chain(&region.block(block).nodes);
        nodes.for_each(|value| homes[value.index()] = Some(block));
    }
    let search = Search { region, input, shape, homes, locations: OnceCell::new() };
    let mut frequencies = None;
    let mut left = MOST_IN_REGION;
    for (id, natural) in shape.loops.iter() {
        let nodes = natural.blocks.iter().map(|&block| 1 + region.block(block).nodes.len());
        let size: usize = nodes.sum();
        if has_inner[id.index()] || size > MOST_NODES.min(left) || region.block(natural.header).cold {
            continue;
        }
        if size > NODES_FOR_A_GAIN * search.gains(id) {
            continue;
        }
        let frequencies = frequencies.get_or_insert_with(|| Frequencies::of(region, shape));
        let entries = shape.loops.entries(&shape.graph, id);
        let entered: f64 = entries.iter().map(|&edge| frequencies.block(shape.graph.source(edge))).sum();
        if frequencies.block(natural.header) >= FEWEST_ROUNDS * entered {
            left -= size;
            plan.push(id);
        }
    }
    plan
}

/// Looks for what can be gained.
struct Search<'a> {
    region: &'a Region,
    input: &'a Input<'a>,
    shape: &'a Shape,
    homes: Vec<Option<BlockId>>,
    locations: OnceCell<Locations<'a>>,
}

/// What is known of a value in all rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Constancy {
    /// It is from outside, or would be the same if it were computed there.
    Always,
    /// The same from the second round on.
    Later,
    Varies,
}

impl Search<'_> {
    fn is_outside(&self, id: LoopId, value: Value) -> bool {
        self.homes[value.index()].is_some_and(|home| !self.shape.loops.contains(id, home))
    }

    /// How many checks, loads and tests would become needless.
    fn gains(&self, id: LoopId) -> usize {
        let (region, Shape { graph, dominators, loops }) = (self.region, self.shape);
        let natural = loops.get(id);
        let mut constancy: Vec<(Value, Constancy)> = Vec::new();
        for &param in &region.block(natural.header).params {
            if self.is_same_later(id, param) {
                constancy.push((param, Constancy::Later));
            }
        }
        let mut gains = 0;
        for &block in &natural.blocks {
            let mut sources = natural.back_edges.iter().map(|&edge| graph.source(edge));
            let always = !region.block(block).cold && sources.all(|from| dominators.dominates(block, from));
            let of = |known: &[(Value, Constancy)], value: Value| match known
                .iter()
                .find(|known| known.0 == value)
            {
                Some(&(_, found)) => found,
                None if self.is_outside(id, value) => Constancy::Always,
                None => Constancy::Varies,
            };
            for &value in &region.block(block).nodes {
                let node = region.node(value);
                let is_check = node.op.is_check();
                let is_load = node.op.reads().is_some();
                if !(node.op.is_pure() || node.op == Op::Assume || always && (is_check || is_load)) {
                    continue;
                }
                let args = node.args.iter().map(|&arg| of(&constancy, arg));
                let joined = args.fold(Constancy::Always, |a, b| match (a, b) {
                    (Constancy::Varies, _) | (_, Constancy::Varies) => Constancy::Varies,
                    (Constancy::Later, _) | (_, Constancy::Later) => Constancy::Later,
                    _ => Constancy::Always,
                });
                if joined == Constancy::Varies || is_load && self.is_written(id, value) {
                    continue;
                }
                gains += usize::from(is_check || is_load);
                constancy.push((value, joined));
            }
            if let Terminator::Branch { condition, .. } = region.block(block).end
                && always
            {
                let leaves = graph.targets_of(block).iter().any(|&to| !loops.contains(id, to));
                gains += match of(&constancy, condition) {
                    Constancy::Always => usize::from(leaves),
                    Constancy::Later => 1,
                    Constancy::Varies => 0,
                };
            }
        }
        gains
    }

    /// May something in the loop write what a load reads.
    fn is_written(&self, id: LoopId, load: Value) -> bool {
        let (region, shape) = (self.region, self.shape);
        let program = self.input.program;
        let locations = self.locations.get_or_init(|| Locations::of(region, program, &shape.dominators));
        let Some(location) = locations.of_access(region, load) else { return true };
        let blocks = &shape.loops.get(id).blocks;
        blocks.iter().flat_map(|&block| &region.block(block).nodes).any(|&other| {
            let op = region.op(other);
            effect(op) == Effect::All
                || op.writes().is_some()
                    && locations
                        .of_access(region, other)
                        .is_none_or(|other| locations.may_alias(region, location, other, |_| false))
        })
    }

    /// Does a parameter of the header get the same value whenever the loop goes back.
    fn is_same_later(&self, id: LoopId, param: Value) -> bool {
        let (region, Shape { graph, loops, .. }) = (self.region, self.shape);
        let natural = loops.get(id);
        let mut work: Vec<(BlockId, Value)> = Vec::new();
        let passed = |block: BlockId, param: Value, work: &mut Vec<(BlockId, Value)>| {
            let number = region.block(block).params.iter().position(|&other| other == param);
            for from in graph.predecessors(block).filter(|&from| loops.contains(id, from)) {
                let targets = region.block(from).end.targets().filter(|target| target.block == block);
                work.extend(targets.filter_map(|target| Some((from, target.args[number?]))));
            }
        };
        passed(natural.header, param, &mut work);
        let mut found: Option<Value> = None;
        let mut followed = Vec::new();
        while let Some((from, value)) = work.pop() {
            if value == param {
                // It stays what it is where it is what it is to become.
                if !self.is_settled(id, param, from) {
                    return false;
                }
            } else if self.is_outside(id, value) {
                let is_equal = |other: Value| {
                    other == value || region.op(value).is_constant() && region.op(value) == region.op(other)
                };
                if !found.is_none_or(is_equal) {
                    return false;
                }
                found = Some(value);
            } else {
                let Some(home) = self.homes[value.index()] else { return false };
                if region.op(value) != Op::Param || home == natural.header || followed.len() == MOST_FOLLOWED
                {
                    return false;
                }
                if !followed.contains(&value) {
                    followed.push(value);
                    passed(home, value, &mut work);
                }
            }
        }
        found.is_some()
    }

    /// Is a Boolean parameter, where a block ends, not what it was at first: a branch on it led here.
    fn is_settled(&self, id: LoopId, param: Value, block: BlockId) -> bool {
        let (region, Shape { graph, dominators, loops }) = (self.region, self.shape);
        let natural = loops.get(id);
        let number = region.block(natural.header).params.iter().position(|&other| other == param);
        let mut at_first = None;
        for edge in loops.entries(graph, id) {
            let targets = region.block(graph.source(edge)).end.targets();
            for target in targets.filter(|target| target.block == natural.header) {
                let constant = number.and_then(|number| region.bool(target.args[number]));
                if constant.is_none() || at_first.is_some() && constant != at_first {
                    return false;
                }
                at_first = constant;
            }
        }
        natural.blocks.iter().any(|&decider| {
            let Terminator::Branch { condition, then, otherwise, .. } = &region.block(decider).end else {
                return false;
            };
            let other = if at_first == Some(true) { otherwise } else { then };
            *condition == param
                && (graph.in_edges(other.block).len() == 1 && dominators.dominates(other.block, block)
                    || decider == block)
        })
    }
}

/// Copies the loop in front of itself.
fn peel(region: &mut Region, shape: &Shape, id: LoopId, copies: &mut Copies) {
    let natural = shape.loops.get(id);
    let header = natural.header;
    copies.add(region, &natural.blocks);
    let Some(first) = copies.of(header) else { return };
    // The mark stays with the loop.
    let nodes = std::mem::take(&mut region.block_mut(first).nodes);
    let is_mark = |value: Value| region.op(value) == Op::Yieldpoint(YieldKind::Header);
    let nodes = nodes.into_iter().filter(|&value| !is_mark(value)).collect();
    region.block_mut(first).nodes = nodes;
    // Every way to the header from outside goes to the copy, every way back in the copy to the header.
    for from in region.block_ids() {
        let is_inside = from.index() < shape.graph.block_count() && shape.loops.contains(id, from);
        let is_copied = natural.blocks.iter().any(|&block| copies.of(block) == Some(from));
        if is_inside {
            continue;
        }
        let to = if is_copied { header } else { first };
        for target in region.block_mut(from).end.targets_mut() {
            if target.block == header || target.block == first {
                target.block = to;
            }
        }
    }
}
