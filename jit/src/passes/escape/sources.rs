//! Frame states for objects that are made later than the program says.
//!
//! An allocation can fail for want of memory. Then the interpreter must go on from a place that lies before it, and nothing
//! that others can see may have happened in between, for that would happen twice. Going back from where an object is
//! made, the first node that has a frame state is such a place; so is the end of a call, of which the frame state
//! tells all but the result; and before a call there is its beginning. If a store lies in between, the object has to
//! be made before that store; if ways meet in between, where they meet.

use super::analysis::Facts;
use super::model::Place;
use crate::ir::{BlockId, FrameState, Op, Region, StateKind, Value};
use crate::passes::edit::Map;
use holloway_bytecode::{Program, code};
use std::collections::BTreeSet;

/// Where the frame state for something that is made comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// It is that of a node.
    At(Value),
    /// It is that after a call.
    After(Value),
    /// It is that before a call.
    Before(Value),
}

/// Why there is no frame state for what is made at a place: it must be made before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// Before this node.
    Node(Value),
    /// On all ways into this block.
    Entry(BlockId),
}

/// Frame states for all that is made.
#[derive(Default)]
pub struct Sources {
    of: Map<Place, Source>,
    /// Nodes whose frame state cannot be written down, or says something else.
    pub unusable: BTreeSet<Value>,
    /// Nodes whose frame state is needed even if they go.
    pub states: BTreeSet<Value>,
    /// Calls of which the state afterwards is needed.
    pub after: BTreeSet<Value>,
}

impl Sources {
    /// Where the state for a place comes from.
    pub fn get(&self, place: Place) -> Option<Source> {
        self.of.get(&place).copied()
    }

    /// Finds a state for a place.
    pub fn find(
        &mut self,
        region: &Region,
        facts: &Facts<'_>,
        is_dropped: &[bool],
        place: Place,
    ) -> Result<(), Blocked> {
        if self.of.contains_key(&place) {
            return Ok(());
        }
        let source = self.search(region, facts, is_dropped, place)?;
        match source {
            Source::At(node) => self.states.insert(node),
            Source::After(call) => self.after.insert(call),
            Source::Before(_) => false,
        };
        self.of.insert(place, source);
        Ok(())
    }

    fn search(
        &self,
        region: &Region,
        facts: &Facts<'_>,
        is_dropped: &[bool],
        place: Place,
    ) -> Result<Source, Blocked> {
        let Facts { program, graph, .. } = *facts;
        let (mut block, mut end) = match place {
            Place::Before(node) => {
                if before_call(region, program, node).is_some() {
                    return Ok(Source::Before(node));
                }
                let point = facts.places.get(node);
                point.map_or((Region::ENTRY, 0), |point| (point.block, point.position as usize - 1))
            }
            Place::End(block) => (block, usize::MAX),
            Place::Edge(edge) => (graph.source(edge), usize::MAX),
        };
        let mut blocked = None;
        loop {
            let nodes = &region.block(block).nodes;
            for &node in nodes[..end.min(nodes.len())].iter().rev() {
                let source = match region.node(node).state.map(|state| region.state(state).kind) {
                    _ if self.unusable.contains(&node) => None,
                    Some(StateKind::Before) => Some(Source::At(node)),
                    Some(StateKind::During(_)) => {
                        after_call(region, program, node).map(|_| Source::After(node))
                    }
                    None => None,
                };
                if let Some(source) = source {
                    return blocked.map_or(Ok(source), |node| Err(Blocked::Node(node)));
                }
                let op = region.op(node);
                if op.is_call()
                    || matches!(op, Op::Entered | Op::Block(_))
                    || op.writes().is_some() && !is_dropped[node.index()]
                {
                    blocked = Some(node);
                }
            }
            let mut ways =
                graph.in_edges(block).iter().map(|&e| graph.source(e)).filter(|&b| graph.is_reachable(b));
            match (ways.next(), ways.next()) {
                (Some(only), None) => (block, end) = (only, usize::MAX),
                _ => return Err(blocked.map_or(Blocked::Entry(block), Blocked::Node)),
            }
        }
    }
}

/// The innermost frame after a call, before the instruction that follows.
pub fn after_call(region: &Region, program: &Program, call: Value) -> Option<FrameState> {
    let node = region.node(call);
    let mut frame = region.state(node.state?).clone();
    let StateKind::During(result) = frame.kind else { return None };
    let function = &program.functions[region.inlines[frame.inline.index()].function.index()];
    let instruction = code::decode(&function.code, frame.pc as usize)?;
    frame.pc += instruction.words.len() as u32;
    frame.kind = StateKind::Before;
    // If a block begins there, it is still to be entered.
    frame.told = false;
    if let Some(register) = result {
        match frame.registers.binary_search_by_key(&register, |&(register, _)| register) {
            Ok(at) => frame.registers[at].1 = call,
            Err(at) => frame.registers.insert(at, (register, call)),
        }
    }
    Some(frame)
}

/// The innermost frame before a call.
pub fn before_call(region: &Region, program: &Program, call: Value) -> Option<FrameState> {
    let node = region.node(call);
    if !matches!(node.op, Op::Call(_) | Op::CallVirtual(..) | Op::CallInterface(..) | Op::CallNative(_)) {
        return None;
    }
    let mut frame = region.state(node.state?).clone();
    if frame.inline != node.inline || frame.pc != node.pc || frame.kind == StateKind::Before {
        return None;
    }
    let function = &program.functions[region.inlines[frame.inline.index()].function.index()];
    let instruction = code::decode(&function.code, frame.pc as usize)?;
    if instruction.args().count() != node.args.len() {
        return None;
    }
    frame.kind = StateKind::Before;
    for (register, &arg) in instruction.args().zip(&node.args) {
        if let Err(at) = frame.registers.binary_search_by_key(&register, |&(register, _)| register) {
            frame.registers.insert(at, (register, arg));
        }
    }
    Some(frame)
}
