//! Copies of blocks, for passes that let a part of a loop run somewhere else as well (inversion, peeling).
//!
//! 1. [`Copies::add`] copies a group of blocks: their parameters, nodes, ends and frame states. Edges inside of the group become
//!    edges inside of the copy, all others go where they went.
//! 2. The pass leads edges to the copies.
//! 3. [`Copies::settle`] repairs the form. A value of a group now has two definitions, its own and its copy, and neither
//!    dominates what uses it outside. Where ways from both meet (in the iterated dominance frontier of the two, as far as the value
//!    is used behind) blocks get a parameter for it (Cytron and others, "Efficiently computing static single assignment
//!    form", TOPLAS 1991, section 5.1, but only where live).
//!
//! What cannot be a parameter, the description of a virtual object, is made again in each block that uses it; so are constants.
//!
//! *Invariant*: every way through the region as it becomes is a way through the region as it was, if copies count as
//! what they are copies of. So what dominated a use, dominates it as the pair of both.
//!
//! Branches keep what they stand for, and their counts: the ratio is the same in both.
//!
//! For each value that is used outside of its group, linear in the blocks where it is live.

use super::edit::Map;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Op, Region, StateId, Terminator, Value};

/// Blocks that were copied, each at most once.
pub struct Copies {
    /// Number of the group of each block that was copied or is a copy, else 0.
    groups: Vec<u32>,
    /// How many groups there are.
    count: u32,
    /// The copy of each block.
    blocks: Vec<Option<BlockId>>,
    /// The copy of each value.
    values: Vec<Option<Twins>>,
}

/// Where the two definitions of a value are.
#[derive(Clone, Copy)]
struct Twins {
    copy: Value,
    homes: [BlockId; 2],
}

impl Copies {
    /// Nothing is copied.
    pub fn new(region: &Region) -> Copies {
        Copies {
            groups: vec![0; region.blocks.len()],
            count: 0,
            blocks: vec![None; region.blocks.len()],
            values: vec![None; region.nodes.len()],
        }
    }

    /// The copy of a block.
    pub fn of(&self, block: BlockId) -> Option<BlockId> {
        self.blocks.get(block.index()).copied().flatten()
    }

    /// Copies a group of blocks. None of them may have been copied before, or be a copy.
    pub fn add(&mut self, region: &mut Region, group: &[BlockId]) {
        self.count += 1;
        self.blocks.resize(region.blocks.len(), None);
        self.groups.resize(region.blocks.len(), 0);
        self.values.resize(region.nodes.len(), None);
        for &block in group {
            let copy = region.add_block();
            region.block_mut(copy).cold = region.block(block).cold;
            self.blocks[block.index()] = Some(copy);
            self.groups[block.index()] = self.count;
            self.groups.push(self.count);
            self.blocks.push(None);
            let Some(original) = region.blocks.get(block.index()) else { continue };
            for value in [original.params.clone(), original.nodes.clone()].concat() {
                let copy_of_value = region.add_node(region.node(value).clone());
                self.values[value.index()] = Some(Twins { copy: copy_of_value, homes: [block, copy] });
            }
        }
        let map = |value: Value| match self.values.get(value.index()) {
            Some(Some(twins)) if self.groups[twins.homes[0].index()] == self.count => twins.copy,
            _ => value,
        };
        let mut states = Map::default();
        for &block in group {
            let Some(copy) = self.of(block) else { continue };
            let original = region.block(block).clone();
            for &value in &original.nodes {
                let node = region.node(value).clone();
                let state = node.state.map(|state| copied_state(region, state, &mut states, &map));
                let copied = &mut region.nodes[map(value).index()];
                copied.args.iter_mut().for_each(|arg| *arg = map(*arg));
                copied.state = state;
            }
            let mut end = original.end;
            end.values_mut(|value| *value = map(*value));
            if let Terminator::Deopt(_, state) = &mut end {
                *state = copied_state(region, *state, &mut states, &map);
            }
            for target in end.targets_mut() {
                if let Some(inside) = self.of(target.block)
                    && self.groups[inside.index()] == self.count
                {
                    target.block = inside;
                }
            }
            let copied = region.block_mut(copy);
            copied.params = original.params.iter().map(|&param| map(param)).collect();
            copied.nodes = original.nodes.iter().map(|&value| map(value)).collect();
            copied.end = end;
        }
    }

    /// Gives every use the definition that reaches it. Blocks that cannot be reached are cleared.
    pub fn settle(mut self, region: &mut Region) {
        region.clear_unreachable();
        self.groups.resize(region.blocks.len(), 0);
        self.values.resize(region.nodes.len(), None);
        let shape = region.shape();
        let uses = self.uses(region, &shape);
        let mut settling = Settling { copies: &self, shape: &shape, known: Map::default() };
        settling.make_parameters(region, &uses);
        for &block in shape.graph.reverse_postorder() {
            if uses.blocks[block.index()] {
                settling.block(region, block);
            }
        }
    }

    fn twins(&self, value: Value) -> Option<Twins> {
        self.values.get(value.index()).copied().flatten()
    }

    /// The definitions of a value, if it is used in another group than its own, or in none.
    fn twins_in(&self, value: Value, user: BlockId) -> Option<Twins> {
        let twins = self.twins(value)?;
        let group = self.groups.get(user.index()).copied().unwrap_or(0);
        (self.groups[twins.homes[0].index()] != group).then_some(twins)
    }

    /// Who uses values outside of their groups.
    fn uses(&self, region: &Region, shape: &Shape) -> Uses {
        let mut uses =
            Uses { of: Map::default(), order: Vec::new(), blocks: vec![false; region.blocks.len()] };
        let mut work = Vec::new();
        for &block in shape.graph.reverse_postorder() {
            every_use(region, block, |value| work.push(value));
            while let Some(value) = work.pop() {
                if self.twins_in(value, block).is_none() {
                    continue;
                }
                uses.blocks[block.index()] = true;
                if is_made_again(region.op(value)) {
                    work.extend_from_slice(&region.node(value).args);
                    continue;
                }
                let users = uses.of.entry(value).or_insert_with(|| {
                    uses.order.push(value);
                    Vec::new()
                });
                if users.last() != Some(&block) {
                    users.push(block);
                }
            }
        }
        uses
    }
}

/// Uses outside of groups.
struct Uses {
    /// For each value the blocks.
    of: Map<Value, Vec<BlockId>>,
    /// The values in the order in which they were found.
    order: Vec<Value>,
    /// The blocks with such a use.
    blocks: Vec<bool>,
}

/// Is not passed to where it is used, but made there.
fn is_made_again(op: Op) -> bool {
    op.is_constant() || matches!(op, Op::Virtual(_))
}

/// All values that a block uses, those of frame states included.
fn every_use(region: &Region, block: BlockId, mut with: impl FnMut(Value)) {
    let block = region.block(block);
    for &value in &block.nodes {
        region.node(value).args.iter().for_each(|&arg| with(arg));
    }
    let states = block.nodes.iter().filter_map(|&node| region.node(node).state).chain(block.end.state());
    for (_, frame) in states.flat_map(|state| region.frames(state)) {
        frame.registers.iter().for_each(|&(_, value)| with(value));
    }
    block.end.values(with);
}

/// The state of a copy: a new one even if it names the same values, for what leads to a copy is another way, and other states may be known there.
fn copied_state(
    region: &mut Region,
    state: StateId,
    known: &mut Map<StateId, StateId>,
    map: &impl Fn(Value) -> Value,
) -> StateId {
    let renamed = rename_state(region, state, known, map);
    if renamed != state {
        return renamed;
    }
    let copy = region.state(state).clone();
    let copy = region.add_state(copy);
    known.insert(state, copy);
    copy
}

/// A state with other values in all of its frames; the same one if none is another.
fn rename_state(
    region: &mut Region,
    state: StateId,
    known: &mut Map<StateId, StateId>,
    map: &impl Fn(Value) -> Value,
) -> StateId {
    if let Some(&renamed) = known.get(&state) {
        return renamed;
    }
    let mut frame = region.state(state).clone();
    let caller = frame.caller.map(|caller| rename_state(region, caller, known, map));
    let is_same = caller == frame.caller && frame.registers.iter().all(|&(_, value)| map(value) == value);
    let renamed = if is_same {
        state
    } else {
        frame.caller = caller;
        frame.registers.iter_mut().for_each(|(_, value)| *value = map(*value));
        region.add_state(frame)
    };
    known.insert(state, renamed);
    renamed
}

struct Settling<'a> {
    copies: &'a Copies,
    shape: &'a Shape,
    /// What a value is where a block begins, for blocks with parameters for it, and for those that were asked about.
    known: Map<(Value, BlockId), Value>,
}

impl Settling<'_> {
    /// Adds parameters where definitions meet, then the arguments for them.
    fn make_parameters(&mut self, region: &mut Region, uses: &Uses) {
        let (graph, dominators) = (&self.shape.graph, &self.shape.dominators);
        let frontiers = dominators.frontiers(graph);
        let mut made = Vec::new();
        let mut live = vec![0_u32; region.blocks.len()];
        for (mark, &value) in (1..).zip(&uses.order) {
            let Some(twins) = self.copies.twins(value) else { continue };
            let mut work = uses.of[&value].clone();
            work.iter().for_each(|block| live[block.index()] = mark);
            while let Some(block) = work.pop() {
                for before in graph.predecessors(block) {
                    if !twins.homes.contains(&before) && live[before.index()] != mark {
                        live[before.index()] = mark;
                        work.push(before);
                    }
                }
            }
            let mut work = twins.homes.to_vec();
            while let Some(block) = work.pop() {
                for &meeting in &frontiers[block.index()] {
                    if live[meeting.index()] == mark && !self.known.contains_key(&(value, meeting)) {
                        let node = region.node(value);
                        let (ty, inline, pc) = (node.ty, node.inline, node.pc);
                        let param = region.add_param(meeting, ty, inline, pc);
                        self.known.insert((value, meeting), param);
                        made.push((value, meeting));
                        work.push(meeting);
                    }
                }
            }
        }
        // In the order in which the parameters were made: those of a block get theirs in its order.
        for (value, block) in made {
            let mut done = Vec::new();
            for from in graph.predecessors(block) {
                if done.contains(&from) {
                    continue;
                }
                done.push(from);
                let arg = self.at_end(value, from);
                for target in region.block_mut(from).end.targets_mut() {
                    if target.block == block {
                        target.args.push(arg);
                    }
                }
            }
        }
    }

    /// What a value is where a block ends.
    fn at_end(&mut self, value: Value, block: BlockId) -> Value {
        match self.copies.twins(value) {
            Some(twins) if twins.homes[0] == block => value,
            Some(twins) if twins.homes[1] == block => twins.copy,
            _ => self.at_start(value, block),
        }
    }

    /// What a value is where a block begins.
    fn at_start(&mut self, value: Value, block: BlockId) -> Value {
        let mut passed = Vec::new();
        let mut at = block;
        let found = loop {
            if let Some(&known) = self.known.get(&(value, at)) {
                break known;
            }
            passed.push(at);
            // There is a definition above every use.
            let Some(above) = self.shape.dominators.immediate(at) else { break value };
            match self.copies.twins(value) {
                Some(twins) if twins.homes[0] == above => break value,
                Some(twins) if twins.homes[1] == above => break twins.copy,
                _ => at = above,
            }
        };
        passed.into_iter().for_each(|block| {
            self.known.insert((value, block), found);
        });
        found
    }

    /// Replaces what a block uses of other groups.
    fn block(&mut self, region: &mut Region, block: BlockId) {
        let mut used = Vec::new();
        every_use(region, block, |value| used.push(value));
        let mut renames: Map<Value, Value> = Map::default();
        let mut again = Vec::new();
        for value in used {
            self.rename(region, block, value, &mut renames, &mut again);
        }
        let map = |value: Value| renames.get(&value).copied().unwrap_or(value);
        let mut states = Map::default();
        for value in region.block(block).nodes.clone() {
            let state = region.node(value).state;
            let state = state.map(|state| rename_state(region, state, &mut states, &map));
            let node = &mut region.nodes[value.index()];
            node.args.iter_mut().for_each(|arg| *arg = map(*arg));
            node.state = state;
        }
        let mut end = std::mem::replace(&mut region.block_mut(block).end, Terminator::Open);
        if let Terminator::Deopt(_, state) = &mut end {
            *state = rename_state(region, *state, &mut states, &map);
        }
        match &mut end {
            Terminator::Branch { condition: value, .. }
            | Terminator::Switch { value, .. }
            | Terminator::Return(Some(value)) => *value = map(*value),
            _ => {}
        }
        for target in end.targets_mut() {
            target.args.iter_mut().for_each(|arg| *arg = map(*arg));
        }
        let block = region.block_mut(block);
        block.end = end;
        block.nodes.splice(0..0, again);
    }

    /// Finds out what a value is in a block; what is made again goes to its beginning.
    fn rename(
        &mut self,
        region: &mut Region,
        block: BlockId,
        value: Value,
        renames: &mut Map<Value, Value>,
        again: &mut Vec<Value>,
    ) {
        if renames.contains_key(&value) || self.copies.twins_in(value, block).is_none() {
            return;
        }
        let found = if is_made_again(region.op(value)) {
            let mut node = region.node(value).clone();
            for arg in &mut node.args {
                self.rename(region, block, *arg, renames, again);
                *arg = renames.get(arg).copied().unwrap_or(*arg);
            }
            let made = region.add_node(node);
            again.push(made);
            made
        } else {
            self.at_start(value, block)
        };
        renames.insert(value, found);
    }
}
