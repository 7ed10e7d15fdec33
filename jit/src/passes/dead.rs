//! Removes what nobody uses: nodes without effect, parameters, and objects into which something is put but from which
//! nothing is taken.
//!
//! Everything is dead at first. What has an effect lives, and ends of blocks do; what lives makes its operands live, and
//! the values of the frames to which it may go back. An argument lives if its parameter does. (Cytron and others,
//! "Efficiently computing static single assignment form", TOPLAS 1991, section 7.1, but without removing branches: a loop
//! that computes nothing still takes its time, and has yieldpoints.)
//!
//! A store into an object that was made in this region has no effect as long as the object is dead: only who loads
//! from it, passes it on, or mentions it in a frame makes it live, and then all stores into it live.
//!
//! Long arrays, and those of unknown length, are made all the same: they may be what exhausts memory.
//!
//! *Invariant*: checks stay even if nobody uses their result, for they may raise an error. Frame states stay in the table
//! and keep their numbers; those of dead nodes are garbage there.
//!
//! Linear, but for frame states, which are gone through once for each.

use super::params::{decider, retain};
use super::{Input, Notes};
use crate::ir::{BlockId, Op, Region, StateId, Value};

/// Runs the pass.
pub fn run(region: &mut Region, _: &Input<'_>, _: &mut Notes) -> bool {
    let order = region.graph().reverse_postorder().to_vec();
    let alive = Marks::find(region, &order).nodes;
    let mut changed = retain(region, |param| alive[param.index()]);
    for block in &mut region.blocks {
        let before = block.nodes.len();
        block.nodes.retain(|node| alive[node.index()]);
        changed |= block.nodes.len() != before;
    }
    changed
}

/// An array so long that making it may be what exhausts memory: a program notices whether it is made.
fn may_exhaust(region: &Region, value: Value) -> bool {
    const LONGEST: i64 = 4096;
    let node = region.node(value);
    matches!(node.op, Op::NewArray(_))
        && region.int(region.unchecked(node.args[0])).is_none_or(|length| length > LONGEST)
}

/// What is alive, as far as is known.
struct Marks<'a> {
    region: &'a Region,
    nodes: Vec<bool>,
    states: Vec<bool>,
    /// Nodes that are alive, but whose operands have not been looked at.
    work: Vec<Value>,
    /// For each parameter the arguments for it, for each allocation the stores into it.
    follows: Vec<Vec<Value>>,
}

impl<'a> Marks<'a> {
    fn find(region: &'a Region, order: &[BlockId]) -> Marks<'a> {
        let mut marks = Marks {
            region,
            nodes: vec![false; region.nodes.len()],
            states: vec![false; region.states.len()],
            work: Vec::new(),
            follows: vec![Vec::new(); region.nodes.len()],
        };
        for &id in order {
            let block = region.block(id);
            for &value in &block.nodes {
                match marks.stored_into(value) {
                    Some(object) => marks.follows[object.index()].push(value),
                    None if region.op(value).has_effect() || may_exhaust(region, value) => marks.node(value),
                    None => {}
                }
            }
            decider(&block.end).into_iter().for_each(|value| marks.node(value));
            block.end.state().into_iter().for_each(|state| marks.state(state));
            for target in block.end.targets() {
                for (&param, &arg) in region.block(target.block).params.iter().zip(&target.args) {
                    marks.follows[param.index()].push(arg);
                }
            }
        }
        while let Some(value) = marks.work.pop() {
            let node = region.node(value);
            node.args.iter().for_each(|&arg| marks.node(arg));
            node.state.into_iter().for_each(|state| marks.state(state));
            std::mem::take(&mut marks.follows[value.index()]).into_iter().for_each(|value| marks.node(value));
        }
        marks
    }

    fn node(&mut self, value: Value) {
        if !std::mem::replace(&mut self.nodes[value.index()], true) {
            self.work.push(value);
        }
    }

    fn state(&mut self, state: StateId) {
        for (id, frame) in self.region.frames(state) {
            if std::mem::replace(&mut self.states[id.index()], true) {
                break;
            }
            frame.registers.iter().for_each(|&(_, value)| self.node(value));
        }
    }

    /// The object made in this region that a node stores into.
    fn stored_into(&self, value: Value) -> Option<Value> {
        let node = self.region.node(value);
        if !matches!(node.op, Op::StoreField(..) | Op::StoreRefField(..) | Op::StoreElement(_)) {
            return None;
        }
        let object = self.region.unchecked(node.args[0]);
        matches!(self.region.op(object), Op::New(_) | Op::NewArray(_)).then_some(object)
    }
}
