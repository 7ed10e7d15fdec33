//! Removes parameters of blocks that are not needed: those that are always the same value, and those that nobody uses.
//!
//! The builder gives a block where control meets a parameter for every live register. Most of these registers were
//! not written on the way, so that all predecessors pass the same value, or, around a loop, the parameter itself.
//!
//! *Same value.* Every parameter is at first assumed to have no value at all; then, in reverse postorder until nothing
//! changes, its value becomes that of the arguments it is given, as far as they have one, or the parameter itself
//! where they differ. Since this begins with the best and gives up only what is refuted, cycles of parameters that
//! pass one value around are seen through. (Wegman and Zadeck, "Constant propagation with conditional branches", TOPLAS
//! 1991, do it with constants; without their conditions, it is the detection of redundant phis.) Equal constants are the
//! same value, though they may be different nodes.
//!
//! *Used.* A parameter is used by nodes, frame states and conditions, or as the argument for a parameter that is used.
//!
//! *Invariant*: the value of a parameter at the end dominates its block. Suppose a path to the block avoided it; the last
//! argument on the path has that value, hence is it or another such parameter, nearer to the entry; and so on.
//!
//! A round is linear in the edges, and there are as many as loops are nested, and one or two: a value changes only when
//! another parameter turns out to be one of its own.

use super::{Input, Notes};
use crate::ir::{BlockId, Op, Region, Terminator, Ty, Value};
use hashbrown::HashMap;

/// Runs the pass.
pub fn run(region: &mut Region, _: &Input<'_>, _: &mut Notes) -> bool {
    // Each in turn uncovers what the other can remove, but only once.
    let same = remove_same(region);
    let unused = remove_unused(region);
    same || unused
}

/// Removes the parameters that are not to be kept, and the arguments for them; true if there were any.
pub fn retain(region: &mut Region, keep: impl Fn(Value) -> bool) -> bool {
    let kept: Vec<Vec<bool>> =
        region.blocks.iter().map(|block| block.params.iter().map(|&param| keep(param)).collect()).collect();
    if kept.iter().flatten().all(|&keep| keep) {
        return false;
    }
    for (block, kept) in region.blocks.iter_mut().zip(&kept) {
        let mut kept = kept.iter();
        block.params.retain(|_| kept.next().copied().unwrap_or(true));
    }
    for block in &mut region.blocks {
        for target in block.end.targets_mut() {
            let mut kept = kept[target.block.index()].iter();
            target.args.retain(|_| kept.next().copied().unwrap_or(true));
        }
    }
    true
}

fn remove_same(region: &mut Region) -> bool {
    let shape = region.shape();
    let order = shape.graph.reverse_postorder();
    let arguments = Arguments::of(region, order);
    let values = Values::find(region, order, &arguments);
    let mut forward: Vec<Value> = (0..region.nodes.len() as u32).map(Value).collect();
    let mut changed = false;
    for &block in order {
        for param in region.block(block).params.clone() {
            let Some(value) = values.of[param.index()].filter(|&value| value != param) else { continue };
            // The node that stands for all equal constants may be where the block does not see it.
            let is_seen =
                values.homes[value.index()].is_none_or(|home| shape.dominators.dominates(home, block));
            forward[param.index()] = if is_seen { value } else { copied(region, block, value) };
            changed = true;
        }
    }
    if changed {
        let of = |value: Value| forward.get(value.index()).copied().unwrap_or(value);
        retain(region, |param| of(param) == param);
        region.substitute(of);
    }
    changed
}

/// A constant at the beginning of a block.
fn copied(region: &mut Region, block: BlockId, constant: Value) -> Value {
    let copy = region.add_node(region.node(constant).clone());
    region.block_mut(block).nodes.insert(0, copy);
    copy
}

/// For each parameter, the arguments for it from reachable blocks; nothing for other nodes.
struct Arguments(Vec<Vec<Value>>);

impl Arguments {
    fn of(region: &Region, order: &[BlockId]) -> Arguments {
        let mut arguments = vec![Vec::new(); region.nodes.len()];
        for target in order.iter().flat_map(|&block| region.block(block).end.targets()) {
            for (&param, &arg) in region.block(target.block).params.iter().zip(&target.args) {
                arguments[param.index()].push(arg);
            }
        }
        Arguments(arguments)
    }
}

/// The values of parameters, as far as is known.
struct Values {
    /// For each node its value: itself, but for parameters, which at first have none, and for constants, which one of
    /// those that are equal stands for.
    of: Vec<Option<Value>>,
    /// The blocks of the constants that stand for all that are equal.
    homes: Vec<Option<BlockId>>,
}

impl Values {
    fn find(region: &Region, order: &[BlockId], arguments: &Arguments) -> Values {
        let mut of: Vec<Option<Value>> =
            (0..region.nodes.len() as u32).map(|node| Some(Value(node))).collect();
        let mut homes = vec![None; of.len()];
        let mut constants: HashMap<(Op, Ty), Value> = HashMap::new();
        for &block in order {
            for &param in &region.block(block).params {
                of[param.index()] = None;
            }
            for &node in &region.block(block).nodes {
                let key = (region.op(node), region.ty(node));
                if key.0.is_constant() {
                    let first = *constants.entry(key).or_insert(node);
                    of[node.index()] = Some(first);
                    homes[first.index()].get_or_insert(block);
                }
            }
        }
        let mut values = Values { of, homes };
        while values.round(region, order, arguments) {}
        values
    }

    /// Looks at each parameter once; true if the value of one changed.
    fn round(&mut self, region: &Region, order: &[BlockId], arguments: &Arguments) -> bool {
        let mut changed = false;
        for &param in order.iter().flat_map(|&block| &region.block(block).params) {
            let old = self.of[param.index()];
            // What was given up stays so.
            if old == Some(param) {
                continue;
            }
            // The parameter itself, around a loop, says nothing.
            let given = arguments.0[param.index()].iter().filter_map(|arg| self.of[arg.index()]);
            let mut given = given.filter(|&value| value != param);
            let first = given.next();
            let new = if given.all(|value| Some(value) == first) { first } else { Some(param) };
            self.of[param.index()] = new;
            changed |= new != old;
        }
        changed
    }
}

fn remove_unused(region: &mut Region) -> bool {
    let order = region.graph().reverse_postorder().to_vec();
    let mut arguments = Arguments::of(region, &order);
    let mut used = vec![false; region.nodes.len()];
    let mut work = Vec::new();
    let mut mark = |value: Value, work: &mut Vec<Value>| {
        if !std::mem::replace(&mut used[value.index()], true) && region.op(value) == Op::Param {
            work.push(value);
        }
    };
    for &id in &order {
        let block = region.block(id);
        for &node in &block.nodes {
            region.node(node).args.iter().for_each(|&arg| mark(arg, &mut work));
        }
        let states = block.nodes.iter().filter_map(|&node| region.node(node).state).chain(block.end.state());
        for (_, frame) in states.flat_map(|state| region.frames(state)) {
            frame.registers.iter().for_each(|&(_, value)| mark(value, &mut work));
        }
        decider(&block.end).into_iter().for_each(|value| mark(value, &mut work));
    }
    while let Some(param) = work.pop() {
        for arg in std::mem::take(&mut arguments.0[param.index()]) {
            mark(arg, &mut work);
        }
    }
    retain(region, |param| used[param.index()])
}

/// The value that an end of a block uses for itself, not as an argument.
pub fn decider(end: &Terminator) -> Option<Value> {
    match end {
        Terminator::Branch { condition: value, .. }
        | Terminator::Switch { value, .. }
        | Terminator::Return(Some(value)) => Some(*value),
        _ => None,
    }
}
