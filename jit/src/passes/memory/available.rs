//! Which value is known to be in which location, at every place: a dataflow.
//!
//! At a place a location has a known value, or it is not in the table. Values come from stores, from loads, and from the
//! making of an object, whose fields are zero. They go with stores that may be to the same location and with calls.
//! Objects that were made here and that nobody else knows yet survive calls; they are tracked along.
//!
//! Where ways meet, a location stays if it has a value on all of them; if the values differ, the meeting block is itself
//! the name of the value, and would need a parameter for it. A location whose object or index is not defined strictly above the
//! meeting block is dropped: around a loop the same name would mean another object.
//!
//! The solution is optimistic: a way that was not walked yet is ignored, so a loop that does not write keeps what was
//! known before it. Tables only shrink and values change only from *a value* to *that of this block*, so
//! the rounds end; with loops entered at their headers there are rarely more than three.

use super::locations::{Effect, LocationId, Locations, effect, is_new};
use crate::ir::{BlockId, ElementKind, Op, Region, Value};
use holloway_bytecode::cfg::FlowGraph;

/// What is known to be in a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// This value.
    Value(Value),
    /// Zero, false or null.
    Zero,
    /// What was there when this block was entered; different values by the ways into it.
    Merged(BlockId),
}

/// All that is known at a place.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct State {
    /// Ordered by location.
    known: Vec<(LocationId, Known)>,
    /// Objects made here that nobody else knows, ordered.
    hidden: Vec<Value>,
}

impl State {
    /// What is in a location.
    pub fn get(&self, location: LocationId) -> Option<Known> {
        let at = self.known.binary_search_by_key(&location, |&(location, _)| location).ok()?;
        Some(self.known[at].1)
    }

    /// Is it an object that nobody else knows.
    pub fn is_hidden(&self, object: Value) -> bool {
        self.hidden.binary_search(&object).is_ok()
    }

    fn set(&mut self, location: LocationId, value: Known) {
        match self.known.binary_search_by_key(&location, |&(location, _)| location) {
            Ok(at) => self.known[at].1 = value,
            Err(at) => self.known.insert(at, (location, value)),
        }
    }

    fn reveal(&mut self, object: Value) {
        if let Ok(at) = self.hidden.binary_search(&object) {
            self.hidden.remove(at);
        }
    }

    /// Goes on over a node.
    pub fn step(&mut self, region: &Region, locations: &Locations<'_>, value: Value) {
        let node = region.node(value);
        if !self.hidden.is_empty() {
            for (position, &arg) in node.args.iter().enumerate() {
                if reveals(node.op, position) {
                    self.reveal(locations.root(arg));
                }
            }
        }
        if effect(node.op) == Effect::All {
            let hidden = &self.hidden;
            self.known.retain(|&(location, _)| {
                locations.get(location).object.is_some_and(|object| hidden.binary_search(&object).is_ok())
            });
        } else if is_new(node.op) {
            self.made(locations, value);
        } else if let Some(location) = locations.of_access(region, value) {
            if node.op.reads().is_some() {
                if self.get(location).is_none() {
                    self.set(location, Known::Value(value));
                }
            } else if let Some(&stored) = node.args.last() {
                self.written(region, locations, location);
                // Otherwise the store changed it on the way.
                if is_kept_whole(region, node.op, locations.root(stored)) {
                    self.set(location, Known::Value(stored));
                }
            }
        }
    }

    fn made(&mut self, locations: &Locations<'_>, object: Value) {
        if let Err(at) = self.hidden.binary_search(&object) {
            self.hidden.insert(at, object);
        }
        // Those of the object of this name that was made before, too: the name now means the new one.
        for &location in locations.of_new(object) {
            self.set(location, Known::Zero);
        }
    }

    fn written(&mut self, region: &Region, locations: &Locations<'_>, location: LocationId) {
        let hidden = &self.hidden;
        self.known.retain(|&(other, _)| {
            let is_hidden = |object: Value| hidden.binary_search(&object).is_ok();
            other != location && !locations.may_alias(region, other, location, is_hidden)
        });
    }

    /// Goes on over the end of a block.
    fn finish(&mut self, region: &Region, locations: &Locations<'_>, block: BlockId) {
        if !self.hidden.is_empty() {
            region.block(block).end.values(|value| self.reveal(locations.root(value)));
        }
    }
}

/// Could others know an object after it was this operand of the operation.
fn reveals(op: Op, position: usize) -> bool {
    use Op::*;
    match op {
        // Used as the place, not as the value.
        LoadField(..) | LoadElement(_) | Length => false,
        StoreField(..) | StoreRefField(..) | StoreElement(_) => position != 0,
        Same | SameText | IsNull | IsInstance(_) | Implements(_) | IsExactly(_) | Reaches(..) => false,
        // The result is looked through; what only frame states mention is known when compiled code was left.
        Assume | Virtual(_) => false,
        _ => !op.is_check(),
    }
}

/// Does a load after the store give just the value.
fn is_kept_whole(region: &Region, op: Op, stored: Value) -> bool {
    if op != Op::StoreElement(ElementKind::Byte) {
        return true;
    }
    match region.op(stored) {
        Op::Int(constant) => (0..256).contains(&constant),
        Op::LoadElement(ElementKind::Byte) => true,
        _ => false,
    }
}

/// The solution.
pub struct Available {
    entered: Vec<Option<State>>,
    left: Vec<Option<State>>,
}

impl Available {
    /// Solves it for a region.
    pub fn of(region: &Region, locations: &Locations<'_>, graph: &FlowGraph) -> Available {
        let order = graph.reverse_postorder();
        let mut all =
            Available { entered: vec![None; region.blocks.len()], left: vec![None; region.blocks.len()] };
        let mut waiting: Vec<bool> = vec![true; order.len()];
        let mut at = 0;
        while at < order.len() {
            if !std::mem::take(&mut waiting[at]) {
                at += 1;
                continue;
            }
            let block = order[at];
            let entered = all.meet(locations, graph, block);
            if all.entered[block.index()].as_ref() == Some(&entered) {
                at += 1;
                continue;
            }
            let mut state = entered.clone();
            all.entered[block.index()] = Some(entered);
            for &node in &region.block(block).nodes {
                state.step(region, locations, node);
            }
            state.finish(region, locations, block);
            at += 1;
            if all.left[block.index()].as_ref() == Some(&state) {
                continue;
            }
            all.left[block.index()] = Some(state);
            for rank in graph.targets_of(block).iter().filter_map(|&target| graph.rank(target)) {
                waiting[rank as usize] = true;
                at = at.min(rank as usize);
            }
        }
        all
    }

    /// What is known where a block begins.
    pub fn entered(&self, block: BlockId) -> State {
        self.entered[block.index()].clone().unwrap_or_default()
    }

    /// What is known of a location where a block ends.
    pub fn left(&self, block: BlockId, location: LocationId) -> Option<Known> {
        self.left[block.index()].as_ref()?.get(location)
    }

    /// What is known on all ways into a block.
    fn meet(&self, locations: &Locations<'_>, graph: &FlowGraph, block: BlockId) -> State {
        if block == Region::ENTRY {
            return State::default();
        }
        let mut ways = graph.predecessors(block).filter_map(|from| self.left[from.index()].as_ref());
        let Some(first) = ways.next() else { return State::default() };
        if graph.in_edges(block).len() == 1 {
            return first.clone();
        }
        let before = self.entered[block.index()].as_ref();
        let mut state = first.clone();
        let is_object_above = |object: Value| locations.is_value_above(object, block);
        state.hidden.retain(|&object| is_object_above(object));
        state.known.retain(|&(location, _)| {
            locations.is_above(location, block) && before.is_none_or(|before| before.get(location).is_some())
        });
        for way in ways {
            state.hidden.retain(|&object| way.is_hidden(object));
            state.known.retain_mut(|(location, value)| match way.get(*location) {
                Some(other) => {
                    if *value != other {
                        *value = Known::Merged(block);
                    }
                    true
                }
                None => false,
            });
        }
        // A value never comes back, so that the rounds end.
        for (location, value) in &mut state.known {
            if before.and_then(|before| before.get(*location)).is_some_and(|old| old != *value) {
                *value = Known::Merged(block);
            }
        }
        state
    }
}
