//! Global value numbering: what was computed before is not computed again.
//!
//! The dominator tree is walked in preorder with a table of what is known: an operation on the same operands whose
//! result exists at a dominating place is replaced by it. Operands are compared without their checks, for a check does not
//! change a value; so `length(check_null(a))` is found again whatever of `a` was checked since. Constants move to
//! the front of the entry block, each once.
//!
//! Checks count, too. A reference that passed a check carries all it proved in its type, so a check of the same
//! reference is replaced by any value of it, checked before, whose type says as much; if that one's type does not fit in
//! other ways, the check becomes an `assume` in its place. Checks of numbers and guards are replaced by the same one before.
//!
//! It pays because inlining brings the same null and class checks, lengths and index computations together.
//!
//! Invariant of the walk: of the table's entries only those count whose block dominates the current one; when the
//! walk has left a subtree it never comes back, so an entry that does not dominate may be overwritten or dropped.
//! Linear in the size of the region.

use super::edit::{self, Map, Renames};
use super::{Input, Notes};
use crate::ir::{Arith, BlockId, Cond, FloatArith, FloatCond, Op, RefTy, Region, Ty, Value};
use holloway_bytecode::cfg::Dominators;
use holloway_bytecode::{Program, Shape};
use smallvec::SmallVec;

/// The pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    region.clear_unreachable();
    let shape = region.shape();
    let mut walk = Numbering {
        program: input.program,
        dominators: &shape.dominators,
        renames: Renames::new(region),
        known: Map::default(),
        references: Map::default(),
        changed: false,
    };
    walk.changed |= gather_constants(region, &mut walk.renames, shape.graph.reverse_postorder());
    for block in edit::dominator_preorder(&shape.dominators) {
        walk.block(region, block);
    }
    walk.renames.apply(region);
    walk.changed
}

/// Moves each constant to the front of the entry block, once.
fn gather_constants(region: &mut Region, renames: &mut Renames, order: &[BlockId]) -> bool {
    let mut first: Map<(Op, Ty), Value> = Map::default();
    let mut front = Vec::new();
    let mut changed = false;
    for &block in order {
        let nodes = std::mem::take(&mut region.block_mut(block).nodes);
        let mut rest = Vec::with_capacity(nodes.len());
        for (position, node) in nodes.into_iter().enumerate() {
            let op = region.op(node);
            if !op.is_constant() {
                rest.push(node);
                continue;
            }
            match first.entry((op, region.ty(node))) {
                hashbrown::hash_map::Entry::Occupied(entry) => {
                    renames.set(node, *entry.get());
                    changed = true;
                }
                hashbrown::hash_map::Entry::Vacant(entry) => {
                    entry.insert(node);
                    changed |= block != Region::ENTRY || position != front.len();
                    front.push(node);
                }
            }
        }
        region.block_mut(block).nodes = rest;
    }
    region.block_mut(Region::ENTRY).nodes.splice(0..0, front);
    changed
}

/// What makes two operations the same.
type Key = (Op, SmallVec<[Value; 3]>, Ty);

struct Numbering<'a> {
    program: &'a Program,
    dominators: &'a Dominators,
    renames: Renames,
    /// The latest result of each operation, with its block.
    known: Map<Key, (Value, BlockId)>,
    /// For each reference without its checks, the values of it that passed some, with their blocks.
    references: Map<Value, Vec<(Value, BlockId)>>,
    changed: bool,
}

impl Numbering<'_> {
    fn block(&mut self, region: &mut Region, block: BlockId) {
        let nodes = std::mem::take(&mut region.block_mut(block).nodes);
        let kept = nodes.into_iter().filter(|&node| !self.node(region, block, node)).collect();
        region.block_mut(block).nodes = kept;
    }

    /// Looks at a node; true if it is no longer needed.
    fn node(&mut self, region: &mut Region, block: BlockId, value: Value) -> bool {
        let renames = &self.renames;
        region.nodes[value.index()].args.iter_mut().for_each(|arg| *arg = renames.get(*arg));
        let op = region.op(value);
        let replacement = if op.is_constant() {
            None
        } else if op == Op::Length
            && let Some(length) = self.known_length(region, value)
        {
            Some(length)
        } else if op.is_pure() {
            self.earlier(key(region, value), value, block)
        } else if (op.is_check() || op == Op::Assume) && region.ty(value).is_ref() {
            match self.checked_reference(region, block, value) {
                Found::Same(other) => Some(other),
                Found::Holds => {
                    edit::make_assumption(region, value);
                    self.changed = true;
                    None
                }
                Found::Nothing => None,
            }
        } else if let Op::Guard(expected, _) = op {
            // Why it would be left does not matter: it is not left.
            let condition = region.unchecked(region.node(value).args[0]);
            let key = (
                Op::Guard(expected, crate::ir::Reason::Predicate),
                SmallVec::from_slice(&[condition]),
                Ty::None,
            );
            if self.earlier(key, value, block).is_some() {
                self.changed = true;
                return true;
            }
            None
        } else if op.is_check() {
            self.earlier(key(region, value), value, block)
        } else {
            None
        };
        if let Some(replacement) = replacement {
            self.renames.set(value, replacement);
            self.changed = true;
        }
        replacement.is_some()
    }

    /// The same operation at a dominating place; otherwise this one is known from now on.
    fn earlier(&mut self, key: Key, value: Value, block: BlockId) -> Option<Value> {
        match self.known.entry(key) {
            hashbrown::hash_map::Entry::Occupied(mut entry) => {
                let (other, from) = *entry.get();
                if self.dominators.dominates(from, block) {
                    return Some(other);
                }
                entry.insert((value, block));
            }
            hashbrown::hash_map::Entry::Vacant(entry) => {
                entry.insert((value, block));
            }
        }
        None
    }

    /// The length of an array that was made here.
    fn known_length(&self, region: &Region, value: Value) -> Option<Value> {
        let array = region.unchecked(region.node(value).args[0]);
        matches!(region.op(array), Op::NewArray(_)).then(|| region.node(array).args[0])
    }

    /// What is known of a reference that is checked here.
    fn checked_reference(&mut self, region: &Region, block: BlockId, value: Value) -> Found {
        let node = region.node(value);
        let root = region.unchecked(value);
        let (Some(wanted), Some(needed)) = (node.ty.reference(), needed(node.op, node.ty)) else {
            return Found::Nothing;
        };
        let earlier = self.references.entry(root).or_default();
        while earlier.last().is_some_and(|&(_, from)| !self.dominators.dominates(from, block)) {
            earlier.pop();
        }
        let mut holds = false;
        let candidates = earlier.iter().rev().map(|&(other, _)| other).chain([node.args[0], root]);
        for other in candidates {
            let Some(has) = region.ty(other).reference() else { continue };
            if has.fits(wanted, self.program) {
                return Found::Same(other);
            }
            holds |= has.fits(needed, self.program);
        }
        earlier.push((value, block));
        if holds && node.op != Op::Assume { Found::Holds } else { Found::Nothing }
    }
}

/// What is known of a checked reference.
enum Found {
    /// This value says all that the check would.
    Same(Value),
    /// The check passes.
    Holds,
    Nothing,
}

/// What a check of a reference tests, as a type. (The type of its result can say more, from its operand.)
fn needed(op: Op, ty: Ty) -> Option<RefTy> {
    let shape = |shape, exact| Some(RefTy { shape, nullable: false, exact });
    match op {
        Op::CheckNull | Op::CheckSet => shape(Shape::Any, false),
        Op::CheckCast(class) => shape(Shape::Class(class), false),
        Op::CheckInterface(interface) => shape(Shape::Interface(interface), false),
        Op::CheckExactly(class) => shape(Shape::Class(class), true),
        Op::Assume => ty.reference(),
        _ => None,
    }
}

/// The key of a node: operands without their checks, in one of their possible orders.
fn key(region: &Region, value: Value) -> Key {
    let node = region.node(value);
    let mut op = node.op;
    let mut args: SmallVec<[Value; 3]> = node.args.iter().map(|&arg| region.unchecked(arg)).collect();
    if let [a, b] = args[..]
        && b < a
    {
        let swapped = match op {
            Op::Arith(Arith::Add | Arith::Mul | Arith::And | Arith::Or | Arith::Xor)
            | Op::FloatArith(FloatArith::Add | FloatArith::Mul)
            | Op::FloatCompare(FloatCond::Eq | FloatCond::Ne)
            | Op::Same
            | Op::SameText => Some(op),
            Op::Compare(cond) => Some(Op::Compare(Cond::swapped(cond))),
            _ => None,
        };
        if let Some(swapped) = swapped {
            op = swapped;
            args.swap(0, 1);
        }
    }
    (op, args, node.ty)
}
