//! Tests whose outcome is known where they are made: branches, comparisons, checks.
//!
//! Everything is asked of [`Facts`]: what dominating branches, guards and checks tell, and what holds in every round of a
//! loop. So the bounds check of a counted loop over an array goes, the second null check after a branch on null, the class
//! test of an inlined call after the first one.
//!
//! A check of a reference that always passes becomes `assume`: its result still stands for what the place guarantees, so
//! what depends on it stays below the branch that made it true. A check of a number is replaced by its operand; what
//! needs its guarantee must be proved anew where it is moved to (see [`super::licm`]). It pays most in loops over arrays.
//!
//! Facts are about the region as it was, and one test may be known because of another that goes, too. That is
//! sound: reasons always lie earlier in the execution than what they are reasons for.
//!
//! Linear in the size of the region: a question takes constant time.

use super::edit::{Constants, Point, Renames, make_assumption};
use super::facts::Facts;
use super::facts::relations::Implied;
use super::{Input, Notes};
use crate::ir::{BlockId, Cond, Op, Region, Target, Terminator, Ty, Value};

/// The pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    region.clear_unreachable();
    let shape = region.shape();
    let facts = Facts::of(region, &shape, input.program, input.hierarchy);
    let mut plan = Plan::default();
    for &block in shape.graph.reverse_postorder() {
        for (position, &node) in (1..).zip(&region.block(block).nodes) {
            if let Some(found) = node_outcome(&facts, node, Point { block, position }) {
                plan.nodes.push((node, found));
            }
        }
        end_outcome(&facts, block, &mut plan);
    }
    if plan.nodes.is_empty() && plan.ends.is_empty() && plan.arguments.is_empty() {
        return false;
    }
    plan.apply(region);
    true
}

/// What is known of a node.
#[derive(Clone, Copy)]
enum Outcome {
    /// A Boolean that is always this.
    Constant(bool),
    /// A check that always passes.
    Passes,
    /// It always gives this operand.
    Operand(usize),
}

/// What to change.
#[derive(Default)]
struct Plan {
    nodes: Vec<(Value, Outcome)>,
    /// Blocks of whose branch only this target is taken.
    ends: Vec<(BlockId, usize)>,
    /// Arguments, by block, number of target and position, that are always this.
    arguments: Vec<(BlockId, usize, usize, bool)>,
}

fn node_outcome(facts: &Facts<'_>, value: Value, point: Point) -> Option<Outcome> {
    let region = facts.region();
    let node = region.node(value);
    let arg = |position: usize| node.args[position];
    let passes = |holds: bool| holds.then_some(Outcome::Passes);
    match node.op {
        Op::Select => {
            let condition = facts.condition_at(arg(0), point)?;
            Some(Outcome::Operand(if condition { 1 } else { 2 }))
        }
        _ if node.op.is_pure() && node.ty == Ty::Bool && !node.op.is_constant() => {
            condition(facts, value, point).map(Outcome::Constant)
        }
        Op::Guard(expected, _) => passes(facts.condition_at(arg(0), point) == Some(expected)),
        Op::CheckBounds => {
            passes(facts.proves_at_least(point, arg(0), 0) && facts.proves(point, arg(0), arg(1), -1))
        }
        Op::CheckDivisor => {
            let is_positive = || facts.proves_at_least(point, arg(0), 1);
            passes(
                facts.proves_not(point, arg(0), 0)
                    || is_positive()
                    || facts.proves_at_most(point, arg(0), -1),
            )
        }
        Op::CheckLength => passes(facts.proves_at_least(point, arg(0), 0)),
        Op::CheckNull | Op::CheckSet => passes(facts.is_null_at(arg(0), point) == Some(false)),
        Op::CheckCast(class) => passes(facts.is_of_at(Op::IsInstance(class), arg(0), point) == Some(true)),
        Op::CheckInterface(interface) => {
            passes(facts.is_of_at(Op::Implements(interface), arg(0), point) == Some(true))
        }
        Op::CheckExactly(class) => passes(facts.is_of_at(Op::IsExactly(class), arg(0), point) == Some(true)),
        _ => None,
    }
}

/// The value of a pure condition at its place.
fn condition(facts: &Facts<'_>, value: Value, point: Point) -> Option<bool> {
    if let Some(known) = facts.condition_at(value, point) {
        return Some(known);
    }
    let region = facts.region();
    let node = region.node(value);
    let arg = |position: usize| node.args[position];
    match node.op {
        Op::Not => facts.condition_at(arg(0), point).map(|known| !known),
        Op::Compare(cond) if region.ty(arg(0)) == Ty::Int => comparison(facts, cond, arg(0), arg(1), point),
        Op::IsNull => facts.is_null_at(arg(0), point),
        Op::IsInstance(_) | Op::Implements(_) | Op::IsExactly(_) => facts.is_of_at(node.op, arg(0), point),
        Op::Same => {
            let (a, b) = (facts.is_null_at(arg(0), point)?, facts.is_null_at(arg(1), point)?);
            (a || b).then_some(a == b)
        }
        _ => None,
    }
}

fn comparison(facts: &Facts<'_>, cond: Cond, a: Value, b: Value, point: Point) -> Option<bool> {
    let le = |a: Value, b: Value, offset: i64| facts.proves(point, a, b, offset);
    let natural = |value: Value| facts.proves_at_least(point, value, 0);
    let outcome = |yes: bool, no: &dyn Fn() -> bool| if yes { Some(true) } else { no().then_some(false) };
    match cond {
        Cond::Lt => outcome(le(a, b, -1), &|| le(b, a, 0)),
        Cond::Le => outcome(le(a, b, 0), &|| le(b, a, -1)),
        Cond::Gt => comparison(facts, Cond::Lt, b, a, point),
        Cond::Ge => comparison(facts, Cond::Le, b, a, point),
        Cond::Eq => outcome(le(a, b, 0) && le(b, a, 0), &|| facts.proves_different(point, a, b)),
        Cond::Ne => comparison(facts, Cond::Eq, a, b, point).map(|equal| !equal),
        Cond::ULt | Cond::ULe | Cond::UGt | Cond::UGe if natural(a) && natural(b) => {
            let signed = match cond {
                Cond::ULt => Cond::Lt,
                Cond::ULe => Cond::Le,
                Cond::UGt => Cond::Gt,
                _ => Cond::Ge,
            };
            comparison(facts, signed, a, b, point)
        }
        _ => None,
    }
}

/// What is known at the end of a block.
fn end_outcome(facts: &Facts<'_>, block: BlockId, plan: &mut Plan) {
    let region = facts.region();
    let point = Point::end(block);
    let end = &region.block(block).end;
    if let Terminator::Branch { condition, .. } = end
        && let Some(known) = facts.condition_at(*condition, point)
    {
        plan.ends.push((block, if known { 0 } else { 1 }));
    }
    if let Terminator::Switch { value, low, cases, .. } = end {
        let only = (0..cases.len()).find(|&number| {
            let constant = low.wrapping_add(number as i64);
            facts.proves_exactly(point, *value, constant)
        });
        plan.ends.extend(only.map(|number| (block, number)));
    }
    for (number, edge) in facts.shape().graph.out_edges(block).enumerate() {
        let Some(target) = end.targets().nth(number) else { continue };
        let mut implied = None;
        for (position, &arg) in target.args.iter().enumerate() {
            if region.ty(arg) != Ty::Bool || region.bool(arg).is_some() {
                continue;
            }
            let root = facts.root(arg);
            let implied = implied.get_or_insert_with(|| facts.implied_by_edge(edge));
            let by_edge = implied.iter().find_map(|implied| match implied {
                Implied::Condition(value, truth) if *value == root => Some(*truth),
                _ => None,
            });
            let known = by_edge.or_else(|| facts.condition_at(arg, point));
            plan.arguments.extend(known.map(|known| (block, number, position, known)));
        }
    }
}

impl Plan {
    fn apply(self, region: &mut Region) {
        let mut renames = Renames::new(region);
        let mut constants = Constants::new();
        for (block, number, position, known) in self.arguments {
            let value = constants.get(region, Op::Bool(known), Ty::Bool);
            if let Some(target) = region.block_mut(block).end.targets_mut().nth(number) {
                target.args[position] = value;
            }
        }
        let mut gone = Vec::new();
        for (node, outcome) in self.nodes {
            match outcome {
                Outcome::Constant(known) => {
                    let value = constants.get(region, Op::Bool(known), Ty::Bool);
                    renames.set(node, value);
                    gone.push(node);
                }
                Outcome::Operand(position) => {
                    renames.set(node, region.node(node).args[position]);
                    gone.push(node);
                }
                Outcome::Passes if region.ty(node).is_ref() => make_assumption(region, node),
                Outcome::Passes => {
                    if region.ty(node) != Ty::None {
                        renames.set(node, region.node(node).args[0]);
                    }
                    gone.push(node);
                }
            }
        }
        for (block, number) in self.ends {
            let block = region.block_mut(block);
            let target: Option<Target> = block.end.targets().nth(number).cloned();
            if let Some(target) = target {
                block.end = Terminator::Jump(target);
            }
        }
        gone.sort_unstable();
        for block in &mut region.blocks {
            block.nodes.retain(|node| gone.binary_search(node).is_err());
        }
        constants.place(region);
        renames.apply(region);
        fold_branches(region);
    }
}

/// Branches on constants become jumps.
fn fold_branches(region: &mut Region) {
    for block in region.block_ids() {
        let Terminator::Branch { condition, then, otherwise, .. } = &region.block(block).end else {
            continue;
        };
        if let Some(known) = region.bool(*condition) {
            let target = if known { then } else { otherwise }.clone();
            region.block_mut(block).end = Terminator::Jump(target);
        }
    }
}
