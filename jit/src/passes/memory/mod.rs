//! Loads and stores that can be spared.
//!
//! | file | what it holds |
//! |---|---|
//! | [`locations`] | the places in memory that a region names, and which can be the same |
//! | [`available`] | which value is in which location, at every place |
//! | [`dead_stores`] | stores that nobody sees |
//!
//! A load from a location with a known value is replaced by it: by the value that was stored or loaded before, by zero
//! if the object was just made, or by a new parameter of the block where ways with different values meet. The last is
//! also what carries a field around a loop without loading it again. A store of the value that is already there goes.
//!
//! It pays because calls kill what is known, so after inlining much is known that was not before.
//!
//! Invariant: a replacement dominates the load, because values are known only where they are defined on all ways.
//! Linear but for the number of locations known at a time, which every store to one of the same kind looks through.

pub mod available;
pub mod dead_stores;
pub mod locations;

use super::edit::{Constants, Map, Renames, make_assumption};
use super::{Input, Notes};
use crate::ir::{BlockId, InlineId, Node, Op, Region, Ty, Value};
use available::{Available, Known};
use holloway_bytecode::cfg::FlowGraph;
use locations::{LocationId, Locations};
use smallvec::smallvec;

/// The pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    region.clear_unreachable();
    let shape = region.shape();
    let locations = Locations::of(region, input.program, &shape.dominators);
    if locations.is_empty() {
        return false;
    }
    let mut changed = dead_stores::remove(region, &locations, &shape.graph);
    let mut forwarding = Forwarding {
        input,
        available: Available::of(region, &locations, &shape.graph),
        locations,
        graph: &shape.graph,
        renames: Renames::new(region),
        constants: Constants::new(),
        parameters: Map::default(),
        wanted: Vec::new(),
    };
    for &block in shape.graph.reverse_postorder() {
        changed |= forwarding.block(region, block);
    }
    forwarding.pass_parameters(region);
    forwarding.constants.place(region);
    forwarding.renames.apply(region);
    changed
}

struct Forwarding<'a> {
    input: &'a Input<'a>,
    available: Available,
    locations: Locations<'a>,
    graph: &'a FlowGraph,
    renames: Renames,
    constants: Constants,
    /// The parameters that were made for what is in a location where a block begins.
    parameters: Map<(BlockId, LocationId), Value>,
    /// Those of them whose arguments are still to be passed.
    wanted: Vec<(BlockId, LocationId, Value)>,
}

impl Forwarding<'_> {
    /// Replaces the loads of a block, and drops stores of what is there; true if there were any.
    fn block(&mut self, region: &mut Region, block: BlockId) -> bool {
        let mut state = self.available.entered(block);
        let nodes = std::mem::take(&mut region.block_mut(block).nodes);
        let mut kept = Vec::with_capacity(nodes.len());
        let mut changed = false;
        for node in nodes {
            let known = self
                .locations
                .of_access(region, node)
                .and_then(|location| Some((location, state.get(location)?)));
            let op = region.op(node);
            // First, for the state is about the nodes as they were.
            state.step(region, &self.locations, node);
            let gone = match known {
                Some((location, known)) if op.reads().is_some() => {
                    self.load(region, node, location, known).inspect(|_| changed = true).unwrap_or(false)
                }
                Some((_, known)) => {
                    let is_there = self.is_there(region, node, known);
                    changed |= is_there;
                    is_there
                }
                None => false,
            };
            if !gone {
                kept.push(node);
            }
        }
        region.block_mut(block).nodes = kept;
        changed
    }

    /// Replaces a load of a location with a known value. `Some(true)` if it is gone, `Some(false)` if it has become
    /// something else, `None` if it stays.
    fn load(&mut self, region: &mut Region, load: Value, location: LocationId, known: Known) -> Option<bool> {
        let ty = region.ty(load);
        let value = self.value(region, known, location, ty)?;
        debug_assert_ne!(value, load);
        if fits(region, self.input, value, ty) {
            self.renames.set(load, value);
            return Some(true);
        }
        region.nodes[load.index()].args = smallvec![value];
        make_assumption(region, load);
        Some(false)
    }

    /// Does a store write what is already there.
    fn is_there(&self, region: &Region, store: Value, known: Known) -> bool {
        let Some(&stored) = region.node(store).args.last() else { return false };
        match known {
            Known::Value(value) => self.root(region, value) == self.root(region, stored),
            Known::Zero => {
                let root = self.locations.root(stored);
                matches!(region.op(root), Op::Int(0) | Op::Float(0) | Op::Bool(false) | Op::Null)
            }
            Known::Merged(_) => false,
        }
    }

    /// The value without its checks, as of what was replaced so far.
    fn root(&self, region: &Region, value: Value) -> Value {
        let mut value = self.renames.get(value);
        loop {
            let root = self.renames.get(region.unchecked(value));
            if root == value {
                return root;
            }
            value = root;
        }
    }

    /// A known value as a node; made if need be.
    fn value(&mut self, region: &mut Region, known: Known, location: LocationId, ty: Ty) -> Option<Value> {
        match known {
            Known::Value(value) => Some(self.renames.get(value)),
            Known::Zero => {
                let op = match ty {
                    Ty::Int => Op::Int(0),
                    Ty::Float => Op::Float(0),
                    Ty::Bool => Op::Bool(false),
                    Ty::Ref(reference) if reference.nullable => Op::Null,
                    // Read before it was written: not by any program that the compiler lets through.
                    Ty::Ref(_) | Ty::None => return None,
                };
                Some(self.constants.get(region, op, ty))
            }
            Known::Merged(block) => {
                if let Some(&parameter) = self.parameters.get(&(block, location)) {
                    return Some(parameter);
                }
                if !self.can_pass(block, location, ty) {
                    return None;
                }
                let parameter = region.add_param(block, ty, InlineId::ROOT, 0);
                self.parameters.insert((block, location), parameter);
                self.wanted.push((block, location, parameter));
                Some(parameter)
            }
        }
    }

    /// Adds the arguments for the new parameters, which may need further ones. In the order in which the parameters
    /// were made, so that those of a block get theirs in its order.
    fn pass_parameters(&mut self, region: &mut Region) {
        let graph = self.graph;
        let mut next = 0;
        while let Some(&(block, location, parameter)) = self.wanted.get(next) {
            next += 1;
            let ty = region.ty(parameter);
            for &edge in graph.in_edges(block) {
                let from = graph.source(edge);
                let known = self.available.left(from, location);
                // There is one: a location is merged only if it has a value on every way.
                let value =
                    known.and_then(|known| self.value(region, known, location, ty)).unwrap_or(parameter);
                let argument = self.fitting(region, from, value, ty);
                let number = graph.out_edges(from).position(|out| out == edge);
                let target = number.and_then(|number| region.block_mut(from).end.targets_mut().nth(number));
                if let Some(target) = target {
                    target.args.push(argument);
                }
            }
        }
    }

    /// The value in a form that has the type, at the end of a block.
    fn fitting(&self, region: &mut Region, block: BlockId, value: Value, ty: Ty) -> Value {
        if fits(region, self.input, value, ty) {
            return value;
        }
        let Node { inline, pc, .. } = *region.node(value);
        let node = Node { op: Op::Assume, args: smallvec![value], ty, state: None, inline, pc };
        let assumed = region.add_node(node);
        region.block_mut(block).nodes.push(assumed);
        assumed
    }

    /// Can what is in a location where a block begins be passed as a parameter of the type: null cannot, if the type
    /// has none.
    fn can_pass(&self, block: BlockId, location: LocationId, ty: Ty) -> bool {
        if ty.reference().is_none_or(|reference| reference.nullable) {
            return true;
        }
        let mut seen = vec![block];
        let mut next = 0;
        while let Some(&block) = seen.get(next) {
            next += 1;
            for from in self.graph.predecessors(block) {
                match self.available.left(from, location) {
                    Some(Known::Value(_)) => {}
                    Some(Known::Merged(other)) if seen.contains(&other) => {}
                    Some(Known::Merged(other)) => seen.push(other),
                    Some(Known::Zero) | None => return false,
                }
            }
        }
        true
    }
}

/// Is the value of the type, or of a narrower one.
fn fits(region: &Region, input: &Input<'_>, value: Value, ty: Ty) -> bool {
    match (region.ty(value), ty) {
        (Ty::Ref(has), Ty::Ref(wanted)) => has.fits(wanted, input.program),
        (has, wanted) => has == wanted,
    }
}
