//! Checks of neighbours: where a block reads `a[i - 1]`, `a[i]` and `a[i + 1]`, or `k[0]` to `k[24]`, guards at the first of these
//! checks say that the least and the greatest index are inside, and all between them are known to be.
//!
//! The guard is in front of the first check and has its state: if it fails, the interpreter goes on there, does what the code
//! would have done, and throws at the index that is outside. So nothing that happens between the checks matters. What
//! this leaves to do, that checks which are known to pass go, is up to [`super::conditions`]. Loops whose checks become
//! guards before the loop have none left when this comes.
//!
//! After Würthinger, Wimmer, Mössenböck, "Array Bounds Check Elimination for the Java HotSpot Client Compiler" (PPPJ 2007),
//! section on checks of the same block.
//!
//! It pays for filters, stencils, hash functions and matrices, and costs one sweep over blocks that have such checks.
//! A guard that failed once is not made again.

use super::edit::Constants;
use super::predication::MOST_OFFSET;
use super::{Input, Notes};
use crate::ir::{Arith, BlockId, Cond, Node, Op, Reason, Region, Ty, Value};
use smallvec::SmallVec;

/// Checks of a block with the same length, whose indices are the same value plus constants.
struct Group {
    length: Value,
    /// `None` if the indices are constants.
    base: Option<Value>,
    /// The first check, and what its index is more than the base.
    first: (Value, i64),
    least: i64,
    greatest: i64,
    /// How many checks are not implied by those before them.
    checks: u32,
}

impl Group {
    /// The constants whose indices are guarded, if that leaves fewer checks than there are. An index that is not
    /// known to be positive needs one on each side.
    fn guarded(&self) -> SmallVec<[i64; 2]> {
        let mut guarded = SmallVec::new();
        let sides = 1 + u32::from(self.base.is_some());
        if self.checks > sides && self.greatest.abs_diff(self.least) < MOST_OFFSET as u64 {
            let (first, wanted) = (self.first.1, [self.least, self.greatest]);
            guarded.extend(wanted.into_iter().filter(|&of| of != first));
            if self.base.is_none() {
                guarded.retain(|&mut of| of == self.greatest);
            }
        }
        guarded
    }
}

/// The pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    let mut constants = Constants::new();
    let mut changed = false;
    for block in 0..region.blocks.len() as u32 {
        let block = BlockId(block);
        for group in groups(region, block) {
            let guarded = group.guarded();
            if !guarded.is_empty() && !has_failed(region, input, group.first.0) {
                guard(region, block, &group, &guarded, &mut constants);
                changed = true;
            }
        }
    }
    constants.place(region);
    changed
}

fn has_failed(region: &Region, input: &Input<'_>, check: Value) -> bool {
    let node = region.node(check);
    let function = region.inlines[node.inline.index()].function;
    input.profile.has_failed(function, node.pc, Reason::Predicate.name())
}

/// The groups of a block, in the order of their first checks.
fn groups(region: &Region, block: BlockId) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &check in &region.block(block).nodes {
        let node = region.node(check);
        if node.op != Op::CheckBounds || node.state.is_none() {
            continue;
        }
        let length = region.unchecked(node.args[1]);
        let (base, add) = region.value_and_constant(node.args[0]);
        let Some(group) = groups.iter_mut().find(|group| group.length == length && group.base == base) else {
            let first = (check, add);
            groups.push(Group { length, base, first, least: add, greatest: add, checks: 1 });
            continue;
        };
        // A constant is implied by a greater one, for it is not negative itself.
        let is_implied = add <= group.greatest && (base.is_none() || add >= group.least);
        group.checks += u32::from(!is_implied);
        (group.least, group.greatest) = (group.least.min(add), group.greatest.max(add));
    }
    groups
}

/// Puts the guards in front of the first check.
fn guard(region: &mut Region, block: BlockId, group: &Group, guarded: &[i64], constants: &mut Constants) {
    let Node { args, state, inline, pc, .. } = region.node(group.first.0).clone();
    let length = args[1];
    let mut added = Vec::new();
    let mut add = |region: &mut Region, op, args: &[Value], ty, state| {
        let value = region.add_node(Node { op, args: args.into(), ty, state, inline, pc });
        added.push(value);
        value
    };
    for &of in guarded {
        let mut index = group.base;
        if index.is_none() || of != 0 {
            let constant = constants.get(region, Op::Int(of), Ty::Int);
            index = index
                .map(|base| add(region, Op::Arith(Arith::Add), &[base, constant], Ty::Int, None))
                .or(Some(constant));
        }
        let Some(index) = index else { continue };
        let test = add(region, Op::Compare(Cond::ULt), &[index, length], Ty::Bool, None);
        add(region, Op::Guard(true, Reason::Predicate), &[test], Ty::None, state);
    }
    let nodes = &mut region.block_mut(block).nodes;
    let Some(at) = nodes.iter().position(|&node| node == group.first.0) else { return };
    nodes.splice(at..at, added);
}
