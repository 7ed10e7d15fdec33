//! Loop-invariant code motion: what is the same in every round is done once before the loop.
//!
//! Loops are taken from the inner ones to the outer ones; what was moved out of one is looked at again in the next.
//!
//! * *Pure operations* move if their operands are from outside. If an operand is not by itself good (a divisor that
//!   may be zero but for a branch in the loop), it must be proved good before the loop.
//! * *Loads* move if nothing in the loop writes the location. Their operands vouch for their safety; references only move if they are
//!   loaded in every round, and those that cannot be null by their type only if that holds whatever way the loop is left.
//!   Yieldpoints do not count as writing: if other threads ran in one, compiled code is left.
//! * *Checks* move with the frame state of the loop's beginning: if one fails before the loop, the interpreter executes
//!   the loop itself, and raises the error where it belongs. So it is always right to move one. It is good if it would be
//!   executed in the first round anyway. If it is executed in each round but perhaps not before the loop is left, or is
//!   itself a speculation, a guard of [`Reason::Predicate`] goes before it, so that the loop is compiled without when that fails.
//!
//! It pays in every loop over an array or with a field of `this`.
//!
//! Nothing moves out of blocks that are never executed. Everything is decided before anything changes.
//! Linear in the size of the region times the depth of its loops, but for proofs and comparisons with stores of the same kind.

use super::edit::{Constants, Places, Point};
use super::facts::Facts;
use super::memory::locations::{Effect, LocationId, Locations, effect};
use super::preheaders::{self, Preheaders};
use super::{Input, Notes};
use crate::ir::region::Shape;
use crate::ir::{BlockId, Cond, Node, Op, Reason, Region, StateId, Terminator, Ty, Value};
use holloway_bytecode::cfg::LoopId;
use smallvec::{SmallVec, smallvec};
use std::cell::OnceCell;

/// The pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    region.clear_unreachable();
    let shape = region.shape();
    if shape.loops.is_empty() {
        return false;
    }
    let made = Preheaders::make(region, &shape);
    let shape = region.shape();
    let mut motion = Motion::new(region, input, &shape);
    for number in (0..shape.loops.len()).rev() {
        motion.visit(LoopId(number as u32));
    }
    let Motion { lists, moved, .. } = motion;
    let changed = apply(region, lists, moved);
    made.remove_unused(region);
    changed
}

/// How a node was moved.
#[derive(Clone, Copy)]
struct Move {
    /// To which preheader.
    to: BlockId,
    /// With the state of which loop's beginning, for checks.
    state: Option<StateId>,
    /// A guard goes before it.
    guarded: bool,
}

struct Motion<'a> {
    region: &'a Region,
    input: &'a Input<'a>,
    shape: &'a Shape,
    /// Where each node would be.
    homes: Vec<Option<BlockId>>,
    /// The nodes of each block as they would be.
    lists: Vec<Vec<Value>>,
    moved: Vec<Option<Move>>,
    locations: Locations<'a>,
    /// The location of each load and store.
    accesses: Vec<Option<LocationId>>,
    facts: OnceCell<Facts<'a>>,
}

/// A loop being looked at.
struct Present {
    id: LoopId,
    preheader: BlockId,
    /// The state of the loop's beginning, if checks can be moved before it.
    state: Option<StateId>,
    /// Predicates may be used.
    speculate: bool,
    /// Where the loop goes back.
    latches: Vec<BlockId>,
    /// Where it is left, but for ways that are never taken.
    exits: Vec<BlockId>,
    /// Where it is left, these ways included.
    all_exits: Vec<BlockId>,
    /// Something in it may write any memory.
    writes_all: bool,
    /// The locations that are written in it.
    writes: Vec<LocationId>,
}

impl<'a> Motion<'a> {
    fn new(region: &'a Region, input: &'a Input<'a>, shape: &'a Shape) -> Motion<'a> {
        let places = Places::of(region);
        let values = || (0..region.nodes.len() as u32).map(Value);
        let locations = Locations::of(region, input.program, &shape.dominators);
        Motion {
            region,
            input,
            shape,
            homes: values().map(|value| places.block(value)).collect(),
            lists: region.blocks.iter().map(|block| block.nodes.clone()).collect(),
            moved: vec![None; region.nodes.len()],
            accesses: values().map(|value| locations.of_access(region, value)).collect(),
            locations,
            facts: OnceCell::new(),
        }
    }

    fn facts(&self) -> &Facts<'a> {
        let Motion { region, shape, input, .. } = self;
        self.facts.get_or_init(|| Facts::of(region, shape, input.program, input.hierarchy))
    }

    fn visit(&mut self, id: LoopId) {
        let Some(preheader) = preheaders::of(self.shape, id) else { return };
        let present = self.present(id, preheader);
        for &block in &self.shape.loops.get(id).blocks {
            if self.region.block(block).cold && !self.region.block(preheader).cold {
                continue;
            }
            let list = std::mem::take(&mut self.lists[block.index()]);
            let mut kept = Vec::with_capacity(list.len());
            for value in list {
                match self.decide(&present, block, value) {
                    Some(there) => {
                        self.moved[value.index()] = Some(there);
                        self.homes[value.index()] = Some(preheader);
                        self.lists[preheader.index()].push(value);
                    }
                    None => kept.push(value),
                }
            }
            self.lists[block.index()] = kept;
        }
    }

    fn present(&self, id: LoopId, preheader: BlockId) -> Present {
        let Motion { region, shape: Shape { graph, loops, .. }, .. } = *self;
        let natural = loops.get(id);
        let is_rare = |block: BlockId| {
            region.block(block).cold || matches!(region.block(block).end, Terminator::Deopt(..))
        };
        let all_exits = loops.exits(graph, id);
        let exits = all_exits.iter().filter(|&&edge| !is_rare(graph.target(edge)));
        let mut present = Present {
            id,
            preheader,
            state: None,
            speculate: false,
            latches: natural.back_edges.iter().map(|&edge| graph.source(edge)).collect(),
            exits: exits.map(|&edge| graph.source(edge)).collect(),
            all_exits: all_exits.iter().map(|&edge| graph.source(edge)).collect(),
            writes_all: false,
            writes: Vec::new(),
        };
        present.state = preheaders::header_state(region, natural.header).filter(|&state| {
            region.frames(state).all(|(_, frame)| {
                let mut values = frame.registers.iter();
                values.all(|&(_, value)| {
                    self.is_outside(&present, preheaders::entered_with(region, preheader, value))
                })
            })
        });
        if let Some(state) = present.state {
            let frame = region.state(state);
            let function = region.inlines[frame.inline.index()].function;
            let failed = self.input.profile.has_failed(function, frame.pc, Reason::Predicate.name());
            present.speculate = !failed;
        }
        for &block in &natural.blocks {
            for &value in &self.lists[block.index()] {
                let op = region.op(value);
                present.writes_all |= effect(op) == Effect::All;
                if op.writes().is_some() {
                    present.writes.extend(self.accesses[value.index()]);
                }
            }
        }
        present.writes.sort_unstable();
        present.writes.dedup();
        present
    }

    /// Would the value be defined outside of the loop.
    fn is_outside(&self, present: &Present, value: Value) -> bool {
        self.homes[value.index()].is_some_and(|home| !self.shape.loops.contains(present.id, home))
    }

    /// Shall a node be moved before the loop.
    fn decide(&self, present: &Present, block: BlockId, value: Value) -> Option<Move> {
        let node = self.region.node(value);
        if !node.args.iter().all(|&arg| self.is_outside(present, arg)) {
            return None;
        }
        // What it needs besides, it keeps when it is moved again.
        let before = self.moved[value.index()].unwrap_or(Move { to: block, state: None, guarded: false });
        let there = Move { to: present.preheader, ..before };
        let op = node.op;
        if op.is_pure() || op == Op::Assume {
            self.is_good_before(present, node).then_some(there)
        } else if op.reads().is_some() {
            let location = self.accesses[value.index()]?;
            let written =
                |&other: &LocationId| self.locations.may_alias(self.region, location, other, |_| false);
            let stays = present.writes_all || present.writes.iter().any(written);
            // A reference that is loaded only on some way may be no reference at all on another: a field of a variant that the
            // object is not, or one that is not set yet. What depends on it would follow it out of the loop; and what was never taken may be
            // taken next, so where null is none of its values, that counts as a way, too.
            let dominates = |&other: &BlockId| self.shape.dominators.dominates(block, other);
            let is_certain = || {
                node.ty.reference().is_none_or(|of| {
                    let exits = if of.nullable { &present.exits } else { &present.all_exits };
                    present.latches.iter().chain(exits).all(dominates)
                })
            };
            (!stays && is_certain() && self.is_good_before(present, node)).then_some(there)
        } else if op.is_check() {
            let state = present.state?;
            let dominates = |&other: &BlockId| self.shape.dominators.dominates(block, other);
            if !present.latches.iter().all(dominates) {
                return None;
            }
            let is_speculation = op.reason().is_some_and(Reason::is_speculation);
            let guarded = before.guarded || is_speculation || !present.exits.iter().all(dominates);
            let there = Move { state: Some(state), guarded, ..there };
            (present.speculate || !guarded).then_some(there)
        } else {
            None
        }
    }

    /// Are the operands, which exist before the loop, good enough for the operation there.
    fn is_good_before(&self, present: &Present, node: &Node) -> bool {
        let point = Point::end(present.preheader);
        match node.op {
            Op::Div | Op::Rem => {
                let divisor = node.args[1];
                match self.region.op(divisor) {
                    Op::Int(constant) => constant != 0,
                    Op::CheckDivisor => true,
                    _ => {
                        let facts = self.facts();
                        facts.proves_not(point, divisor, 0)
                            || facts.proves_at_least(point, divisor, 1)
                            || facts.proves_at_most(point, divisor, -1)
                    }
                }
            }
            // Of a word there are two indices.
            Op::LoadElement(_) => node.args[1..].iter().all(|&index| {
                self.region.op(index) == Op::CheckBounds
                    || self.facts().proves_inside(point, index, node.args[0])
            }),
            Op::Assume => {
                let Some(ty) = node.ty.reference() else { return false };
                self.facts().is_of_type_at(node.args[0], ty, point)
            }
            _ => true,
        }
    }
}

/// Moves everything where it was decided to be.
fn apply(region: &mut Region, lists: Vec<Vec<Value>>, moved: Vec<Option<Move>>) -> bool {
    if moved.iter().all(Option::is_none) {
        return false;
    }
    let mut constants = Constants::new();
    // The states of preheaders that were made.
    let mut states: Vec<Option<StateId>> = vec![None; region.blocks.len()];
    for (block, list) in lists.into_iter().enumerate() {
        let mut nodes = Vec::with_capacity(list.len());
        for value in list {
            if let Some(Move { to, state: Some(of_header), guarded }) = moved[value.index()] {
                let state = match states[to.index()] {
                    Some(state) => state,
                    None => preheaders::entry_state(region, to, of_header),
                };
                states[to.index()] = Some(state);
                let (inline, pc) = (region.state(state).inline, region.state(state).pc);
                if guarded {
                    guard(region, &mut constants, value, state, &mut nodes);
                }
                let node = &mut region.nodes[value.index()];
                (node.state, node.inline, node.pc) = (Some(state), inline, pc);
                if guarded && node.ty.is_ref() {
                    super::edit::make_assumption(region, value);
                }
                if guarded && region.ty(value) == Ty::None {
                    // The guard is in its place.
                    continue;
                }
            }
            nodes.push(value);
        }
        region.blocks[block].nodes = nodes;
    }
    constants.place(region);
    true
}

/// Adds a guard that a check passes, in front of it.
fn guard(
    region: &mut Region,
    constants: &mut Constants,
    check: Value,
    state: StateId,
    nodes: &mut Vec<Value>,
) {
    let node = region.node(check);
    let args = node.args.clone();
    let zero = |region: &mut Region, constants: &mut Constants| constants.get(region, Op::Int(0), Ty::Int);
    let (expected, test): (bool, (Op, SmallVec<[Value; 3]>)) = match node.op {
        Op::CheckNull | Op::CheckSet => (false, (Op::IsNull, args)),
        Op::CheckBounds => (true, (Op::Compare(Cond::ULt), args)),
        Op::CheckDivisor => (true, (Op::Compare(Cond::Ne), smallvec![args[0], zero(region, constants)])),
        Op::CheckLength => (true, (Op::Compare(Cond::Ge), smallvec![args[0], zero(region, constants)])),
        Op::CheckCast(class) => (true, (Op::IsInstance(class), args)),
        Op::CheckInterface(interface) => (true, (Op::Implements(interface), args)),
        Op::CheckExactly(class) => (true, (Op::IsExactly(class), args)),
        Op::Guard(expected, _) => {
            let guard = guard_node(region, args[0], expected, state);
            nodes.push(guard);
            return;
        }
        _ => return,
    };
    let (inline, pc) = (region.state(state).inline, region.state(state).pc);
    let (op, args) = test;
    let test = region.add_node(Node { op, args, ty: Ty::Bool, state: None, inline, pc });
    nodes.push(test);
    let guard = guard_node(region, test, expected, state);
    nodes.push(guard);
}

fn guard_node(region: &mut Region, condition: Value, expected: bool, state: StateId) -> Value {
    let (inline, pc) = (region.state(state).inline, region.state(state).pc);
    let op = Op::Guard(expected, Reason::Predicate);
    region.add_node(Node { op, args: smallvec![condition], ty: Ty::None, state: Some(state), inline, pc })
}
