//! Loop predication: the bounds check of an index that runs with the loop becomes a guard before the loop.
//!
//! For a check that is made in each round, and whose length is from outside, a bound of the index is looked for that is
//! from outside, too: above, the limit of the counter, below, where it starts. If the check were proved by *limit inside*
//! and *start not negative*, those are guarded before the loop (with [`Reason::Predicate`], and the state of the
//! loop's beginning), and the check goes. What is supposed of one loop is known of those inside.
//!
//! After Würthinger, Wimmer, Mössenböck, "Array Bounds Check Elimination for the Java HotSpot Client Compiler" (PPPJ 2007),
//! section on loop-invariant checks; there the bounds come from an analysis of its own, here from [`Facts`]. Nothing can wrap
//! unnoticed: the proof is of whole numbers, and the sum in a guard is of a length and a small constant.
//!
//! A guard that fails is made once: the profile says where one failed, and code for the loop is made without. Still a bad guess
//! costs a compilation, so an index is only supposed to be bounded by where its loop begins and what its exits compare with. (With every
//! known bound, a vector that grows was supposed to become smaller: Havlak left compiled code 24 times for it.)
//!
//! It pays in loops whose limit is not the length of the array: those the programmer proved to himself only.
//! Proofs are limited in number for each region.

use super::edit::{Constants, Point, Renames};
use super::facts::Facts;
use super::facts::ranges::MOST_ELEMENTS;
use super::facts::relations::{Kind, Term};
use super::preheaders::{self, Preheaders};
use super::{Input, Notes};
use crate::ir::{Arith, BlockId, Cond, Node, Op, Reason, Region, StateId, Terminator, Ty, Value};
use holloway_bytecode::cfg::LoopId;

/// How many suppositions are tried.
const MOST_TRIALS: u32 = 40;

/// How many bounds of an index are looked at.
const MOST_BOUNDS: usize = 4;

/// Constants in guards are nearer to zero than this, so that sums with lengths do not wrap.
pub(super) const MOST_OFFSET: i64 = 1 << 40;

/// The pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    region.clear_unreachable();
    let shape = region.shape();
    if shape.loops.is_empty() || !has_checks(region) {
        return false;
    }
    let made = Preheaders::make(region, &shape);
    let shape = region.shape();
    let facts = Facts::of(region, &shape, input.program, input.hierarchy);
    let mut predication =
        Predication { input, facts, guards: Vec::new(), proved: Vec::new(), trials: MOST_TRIALS };
    for (id, _) in shape.loops.iter() {
        predication.visit(id);
    }
    let Predication { guards, proved, .. } = predication;
    let changed = !proved.is_empty() || !guards.is_empty();
    apply(region, guards, proved);
    made.remove_unused(region);
    changed
}

fn has_checks(region: &Region) -> bool {
    region.blocks.iter().flat_map(|block| &block.nodes).any(|&node| region.op(node) == Op::CheckBounds)
}

/// `a <= b + offset`.
type Supposition = (Term, Term, i64);

/// A guard before a loop.
struct Guarded {
    preheader: BlockId,
    state: StateId,
    supposed: Supposition,
}

/// Where a check is.
struct Place<'a> {
    id: LoopId,
    preheader: BlockId,
    /// Of the loop's beginning.
    state: StateId,
    point: Point,
    /// See [`Predication::limits`].
    limits: &'a [Value],
}

struct Predication<'a> {
    input: &'a Input<'a>,
    facts: Facts<'a>,
    guards: Vec<Guarded>,
    /// Checks that pass.
    proved: Vec<Value>,
    trials: u32,
}

impl Predication<'_> {
    fn visit(&mut self, id: LoopId) {
        let (region, shape) = (self.facts.region(), self.facts.shape());
        let natural = shape.loops.get(id);
        let Some(preheader) = preheaders::of(shape, id) else { return };
        let Some(state) = preheaders::header_state(region, natural.header).filter(|&state| {
            region.frames(state).all(|(_, frame)| {
                let values = frame.registers.iter();
                let entered = values.map(|&(_, value)| preheaders::entered_with(region, preheader, value));
                entered.into_iter().all(|value| self.is_outside(id, value))
            })
        }) else {
            return;
        };
        let frame = region.state(state);
        let function = region.inlines[frame.inline.index()].function;
        if self.input.profile.has_failed(function, frame.pc, Reason::Predicate.name()) {
            return;
        }
        let limits = self.limits(id, preheader);
        for &block in &natural.blocks {
            let is_own = shape.loops.innermost(block) == Some(id) && !region.block(block).cold;
            let latches = natural.back_edges.iter().map(|&edge| shape.graph.source(edge));
            if !is_own || !latches.into_iter().all(|latch| shape.dominators.dominates(block, latch)) {
                continue;
            }
            for (position, &check) in (1..).zip(&region.block(block).nodes) {
                if region.op(check) == Op::CheckBounds {
                    let place =
                        Place { id, preheader, state, point: Point { block, position }, limits: &limits };
                    self.check(&place, check);
                }
            }
        }
    }

    fn is_outside(&self, id: LoopId, value: Value) -> bool {
        let home = self.facts.places().block(value);
        home.is_some_and(|home| !self.facts.shape().loops.contains(id, home))
    }

    /// Looks for guards that prove a check.
    fn check(&mut self, place: &Place<'_>, check: Value) {
        let &Place { id, preheader, state, point, .. } = place;
        let node = self.facts.region().node(check);
        let (index, length) = (node.args[0], node.args[1]);
        let of_length = self.facts.term(length);
        let range = self.facts.range(of_length.0);
        if !self.is_outside(id, length) || range.low < 0 || range.high > MOST_ELEMENTS {
            return;
        }
        let holds = |facts: &Facts<'_>| {
            facts.proves_at_least(point, index, 0) && facts.proves(point, index, length, -1)
        };
        if holds(&self.facts) {
            self.proved.push(check);
            return;
        }
        // index <= bound + add <= length - 1, and 0 <= bound + add <= index
        let above = self.bounds(place, index, Kind::AtMost).into_iter();
        let above = above.filter(|&(bound, _)| bound != of_length.0);
        let above: Vec<Supposition> = above.map(|(bound, add)| ((bound, 0), of_length, -1 - add)).collect();
        let below = self.bounds(place, index, Kind::AtLeast).into_iter();
        let below = below.filter(|&(bound, _)| bound.is_some());
        let below: Vec<Supposition> = below.map(|(bound, add)| ((None, 0), (bound, 0), add)).collect();
        let single = above.iter().chain(&below).map(|&one| vec![one]);
        let double = above.iter().flat_map(|&one| below.iter().map(move |&other| vec![one, other]));
        // What was supposed of outer loops may be enough, once it was used for induction here.
        let none = (!self.guards.is_empty()).then(Vec::new);
        for supposed in none.into_iter().chain(single).chain(double) {
            if supposed.iter().any(|(.., offset)| offset.unsigned_abs() > MOST_OFFSET as u64) {
                continue;
            }
            if self.trials == 0 {
                return;
            }
            self.trials -= 1;
            if self.facts.suppose(preheader, &supposed, holds) {
                self.proved.push(check);
                self.guards.extend(supposed.into_iter().map(|supposed| Guarded {
                    preheader,
                    state,
                    supposed,
                }));
                return;
            }
        }
    }

    /// Where a loop begins and ends: what its parameters are when it is entered, and what its exits compare with. These are
    /// meant to bound an index. Other bounds are true only because some check passes, and say nothing of other arrays.
    fn limits(&self, id: LoopId, preheader: BlockId) -> Vec<Value> {
        let (region, shape) = (self.facts.region(), self.facts.shape());
        let mut limits: Vec<Value> =
            region.block(preheader).end.targets().flat_map(|target| &target.args).copied().collect();
        for edge in shape.loops.exits(&shape.graph, id) {
            if let Terminator::Branch { condition, .. } = &region.block(shape.graph.source(edge)).end
                && matches!(region.op(*condition), Op::Compare(_))
            {
                limits.extend_from_slice(&region.node(*condition).args);
            }
        }
        limits.iter().filter_map(|&limit| self.facts.term(limit).0).collect()
    }

    /// Bounds of a value at a place that are from outside of the loop.
    fn bounds(&self, place: &Place<'_>, value: Value, kind: Kind) -> Vec<(Option<Value>, i64)> {
        let &Place { id, point, limits, .. } = place;
        let mut found: Vec<(Option<Value>, i64)> = Vec::new();
        let mut work = vec![(self.facts.term(value), 0)];
        while let Some(((value, add), depth)) = work.pop() {
            if found.len() == MOST_BOUNDS || work.len() > 16 {
                break;
            }
            match value {
                Some(value) if !self.is_outside(id, value) => {
                    if depth == 4 {
                        continue;
                    }
                    for relation in
                        self.facts.relations_at(value, point).filter(|relation| relation.kind == kind)
                    {
                        if let Some(add) = add.checked_add(relation.offset) {
                            work.push(((relation.other, add), depth + 1));
                        }
                    }
                    if let Some((from, step)) = self.facts.sum(value)
                        && let Some(add) = add.checked_add(step)
                    {
                        work.push(((Some(from), add), depth + 1));
                    }
                }
                value => {
                    if !value.is_none_or(|value| limits.contains(&value)) {
                        continue;
                    }
                    // The nearest of those with the same value: it needs the weakest guard.
                    match found.iter_mut().find(|known| known.0 == value) {
                        Some(known) if kind == Kind::AtMost => known.1 = add.min(known.1),
                        Some(known) => known.1 = add.max(known.1),
                        None => found.push((value, add)),
                    }
                }
            }
        }
        found
    }
}

/// Puts the guards where they belong, and removes the checks.
fn apply(region: &mut Region, guards: Vec<Guarded>, proved: Vec<Value>) {
    let mut constants = Constants::new();
    let mut states: Vec<Option<StateId>> = vec![None; region.blocks.len()];
    for Guarded { preheader, state, supposed: (a, b, offset) } in guards {
        let state = match states[preheader.index()] {
            Some(state) => state,
            None => preheaders::entry_state(region, preheader, state),
        };
        states[preheader.index()] = Some(state);
        let (inline, pc) = (region.state(state).inline, region.state(state).pc);
        let add = |region: &mut Region, op, args: &[Value], ty, state| {
            let value = region.add_node(Node { op, args: args.into(), ty, state, inline, pc });
            region.block_mut(preheader).nodes.push(value);
            value
        };
        // Constants go to the side of constants; they are small, all of them.
        let mut constant =
            |region: &mut Region, constant: i64| constants.get(region, Op::Int(constant), Ty::Int);
        let offset = offset + b.1 - a.1;
        let (cond, left, right) = match (a.0, b.0) {
            (None, Some(b)) => (Cond::Le, constant(region, -offset), b),
            (Some(a), None) => (Cond::Le, a, constant(region, offset)),
            (None, None) => (Cond::Le, constant(region, 0), constant(region, offset)),
            (Some(a), Some(b)) if offset == 0 => (Cond::Le, a, b),
            (Some(a), Some(b)) if offset == -1 => (Cond::Lt, a, b),
            (Some(a), Some(b)) => {
                let offset = constant(region, offset);
                (Cond::Le, a, add(region, Op::Arith(Arith::Add), &[b, offset], Ty::Int, None))
            }
        };
        let test = add(region, Op::Compare(cond), &[left, right], Ty::Bool, None);
        add(region, Op::Guard(true, Reason::Predicate), &[test], Ty::None, Some(state));
    }
    constants.place(region);
    let mut renames = Renames::new(region);
    for &check in &proved {
        renames.set(check, region.node(check).args[0]);
    }
    for block in &mut region.blocks {
        block.nodes.retain(|node| !proved.contains(node));
    }
    renames.apply(region);
}
