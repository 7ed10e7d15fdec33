//! Carries out what the analysis found.
//!
//! The blocks are walked once more in the same way, and every node becomes what the analysis says. What fields hold where
//! ways meet becomes a parameter when somebody asks for it; the arguments are passed in the end, and may ask for more.
//! Values that are gone are replaced in one sweep at last.

use super::analysis::Analysis;
use super::barriers;
use super::meet::Fate;
use super::model::{Content, Known, Making, Part, Place, Standing};
use super::recipes::{Recipes, Spot, nullable};
use super::sources::{Source, after_call, before_call};
use super::steps::Outcome;
use crate::build::memory::declaring_class;
use crate::ir::{Block, BlockId, Node, Op, Region, StateId, Target, Terminator, Ty, Value};
use crate::passes::edit::{Constants, Map, Renames, make_assumption};
use crate::passes::params;
use holloway_bytecode::ClassId;
use holloway_bytecode::cfg::{Dominators, EdgeId};
use smallvec::smallvec;

/// A part of an object where a block begins.
type Key = (BlockId, Value, Part);

/// The region while it is rewritten.
pub struct Rewriter<'a> {
    pub(super) region: &'a mut Region,
    pub(super) analysis: Analysis<'a>,
    pub(super) dominators: &'a Dominators,
    renames: Renames,
    constants: Constants,
    /// The parameters for parts of objects, and in which order they were asked for.
    parameters: Map<Key, Value>,
    wanted: Vec<(Key, Value)>,
    /// The objects that were made.
    made: Map<(Place, Value), Value>,
    /// The new states of nodes, where something is made with them.
    states: Map<Value, StateId>,
    /// Those after calls.
    after: Map<Value, StateId>,
    /// Descriptions of objects by object and fields, with their blocks.
    pub(super) recipes: Recipes,
    /// What states have become.
    pub(super) clones: Map<StateId, Vec<StateId>>,
    /// The block that an edge leaves, and which of its targets it is.
    homes: Map<EdgeId, (BlockId, usize)>,
}

impl<'a> Rewriter<'a> {
    /// Nothing is rewritten yet.
    pub fn new(region: &'a mut Region, analysis: Analysis<'a>, dominators: &'a Dominators) -> Rewriter<'a> {
        let mut homes = Map::default();
        for &block in analysis.graph.reverse_postorder() {
            for (number, edge) in analysis.graph.out_edges(block).enumerate() {
                homes.insert(edge, (block, number));
            }
        }
        Rewriter {
            renames: Renames::new(region),
            constants: Constants::new(),
            parameters: Map::default(),
            wanted: Vec::new(),
            made: Map::default(),
            states: Map::default(),
            after: Map::default(),
            recipes: Recipes::default(),
            clones: Map::default(),
            homes,
            region,
            analysis,
            dominators,
        }
    }

    /// Rewrites everything.
    pub fn run(mut self) {
        let order = self.analysis.graph.reverse_postorder();
        for &block in order {
            self.block(block);
        }
        for &block in order {
            for edge in self.analysis.graph.out_edges(block) {
                self.edge(edge);
            }
        }
        self.pass_parameters();
        let analysis = &self.analysis;
        params::retain(self.region, |param| !analysis.is_object(param));
        self.constants.place(self.region);
        self.renames.apply(self.region);
        if !self.made.is_empty() {
            barriers::renew(self.region, self.analysis.program);
        }
    }

    fn block(&mut self, block: BlockId) {
        let mut known = self.analysis.entered[block.index()].clone().unwrap_or_default();
        let mut nodes = Vec::new();
        for value in std::mem::take(&mut self.region.block_mut(block).nodes) {
            let before = match self.analysis.sources.get(Place::Before(value)) {
                Some(Source::Before(_)) => known.clone(),
                _ => Known::default(),
            };
            let outcome = self.analysis.step(self.region, &mut known, value);
            let makings = std::mem::take(&mut self.analysis.makings);
            self.make(&makings, &Spot { block, known: &before }, &mut nodes);
            let failed = self.analysis.where_guard_fails(self.region, &known, value, outcome);
            let seen = failed.as_ref().unwrap_or(&known);
            self.carry_out(value, outcome, &Spot { block, known: seen }, &mut nodes);
            self.analysis.pass_guard(self.region, &mut known, value, outcome);
        }
        self.analysis.finish(self.region, &mut known, block);
        let makings = std::mem::take(&mut self.analysis.makings);
        let spot = Spot { block, known: &known };
        self.make(&makings, &spot, &mut nodes);
        match self.region.block(block).end {
            Terminator::Return(Some(value)) => {
                let value = self.operand(value, &known);
                self.region.block_mut(block).end = Terminator::Return(Some(value));
            }
            Terminator::Deopt(reason, state) => {
                let state = self.described(state, &spot, &mut nodes);
                self.region.block_mut(block).end = Terminator::Deopt(reason, state);
            }
            _ => {}
        }
        self.region.block_mut(block).nodes = nodes;
    }

    /// Does with a node what was decided.
    fn carry_out(&mut self, value: Value, outcome: Outcome, spot: &Spot<'_>, nodes: &mut Vec<Value>) {
        let is_wanted = self.analysis.sources.states.contains(&value);
        if (outcome.keeps_state() || is_wanted)
            && let Some(state) = self.region.node(value).state
        {
            let state = self.described(state, spot, nodes);
            self.region.nodes[value.index()].state = Some(state);
            self.states.insert(value, state);
        }
        match outcome {
            Outcome::Drop => return,
            Outcome::Keep if matches!(self.region.op(value), Op::Virtual(_)) => {
                if self.mentions_objects(value) {
                    return;
                }
            }
            Outcome::Keep => {
                for at in 0..self.region.node(value).args.len() {
                    let arg = self.operand(self.region.node(value).args[at], spot.known);
                    self.region.nodes[value.index()].args[at] = arg;
                }
            }
            Outcome::Same(content) => {
                let ty = self.region.ty(value);
                let same = self.value_of(content, ty);
                if self.fits(same, ty) {
                    return self.renames.set(value, same);
                }
                self.region.nodes[value.index()].args = smallvec![same];
                make_assumption(self.region, value);
            }
            Outcome::Bool(constant) => self.becomes(value, Op::Bool(constant), &[]),
            Outcome::Opposite(flag) => {
                let flag = self.value_of(flag, Ty::Bool);
                self.becomes(value, Op::Not, &[flag]);
            }
            Outcome::Guard(flag, reason) => {
                let flag = self.value_of(flag, Ty::Bool);
                self.becomes(value, Op::Guard(false, reason), &[flag]);
                self.region.nodes[value.index()].ty = Ty::None;
            }
        }
        nodes.push(value);
        if self.analysis.sources.after.contains(&value)
            && let Some(frame) = after_call(self.region, self.analysis.program, value)
        {
            let state = self.region.add_state(frame);
            self.after.insert(value, state);
        }
    }

    fn becomes(&mut self, value: Value, op: Op, args: &[Value]) {
        let node = &mut self.region.nodes[value.index()];
        node.op = op;
        node.args = args.into();
        node.state = node.state.filter(|_| op.needs_state());
    }

    /// An operand; objects that are operands exist.
    fn operand(&mut self, value: Value, known: &Known) -> Value {
        match self.analysis.resolve(value) {
            Content::Object(object) => self.real(object, known),
            _ => value,
        }
    }

    fn real(&mut self, object: Value, known: &Known) -> Value {
        match known.get(object) {
            Some(&Standing::Real(content)) => {
                self.value_of(content, nullable(Ty::exactly(self.analysis.classes[&object])))
            }
            _ => unreachable!("what escapes was made"),
        }
    }

    /// Makes objects at a place. The spot is that before the place, if it is a call.
    fn make(&mut self, makings: &[Making], spot: &Spot<'_>, nodes: &mut Vec<Value>) {
        let Some(first) = makings.first() else { return };
        let state = match self.analysis.sources.get(first.place) {
            Some(Source::At(node)) => self.states.get(&node).copied(),
            Some(Source::After(call)) => self.after.get(&call).copied(),
            Some(Source::Before(call)) => self.before(call, spot, nodes),
            None => None,
        };
        for making in makings {
            let Making { object, place, ref fields } = *making;
            let class = self.analysis.classes[&object];
            let Node { inline, pc, .. } = *self.region.node(object);
            let node =
                Node { op: Op::New(class), args: smallvec![], ty: Ty::exactly(class), state, inline, pc };
            let new = self.region.add_node(node);
            nodes.push(new);
            let types = self.field_types(class);
            for (number, (&field, ty)) in (0u16..).zip(fields.iter().zip(types)) {
                if field == Content::Zero {
                    continue;
                }
                let stored = self.value_of(field, ty);
                let stored = self.fitting(stored, ty, nodes);
                let declaring = declaring_class(self.analysis.program, class, number);
                let op = match ty {
                    Ty::Ref(_) => Op::StoreRefField(declaring, number),
                    _ => Op::StoreField(declaring, number),
                };
                let args = smallvec![new, stored];
                nodes.push(self.region.add_node(Node { op, args, ty: Ty::None, state: None, inline, pc }));
            }
            self.made.insert((place, object), new);
        }
    }

    /// The state before a call.
    fn before(&mut self, call: Value, spot: &Spot<'_>, nodes: &mut Vec<Value>) -> Option<StateId> {
        let mut frame = before_call(self.region, self.analysis.program, call)?;
        frame.caller = frame.caller.map(|caller| self.described(caller, spot, nodes));
        let frame = self.described_frame(frame, spot, nodes);
        Some(self.region.add_state(frame))
    }

    /// Makes what is to be made on an edge, and passes it.
    fn edge(&mut self, edge: EdgeId) {
        let Some(way) = self.analysis.ways[edge.index()].clone() else { return };
        let mut nodes = Vec::new();
        let spot = Spot { block: self.analysis.graph.source(edge), known: &way.known };
        self.make(&way.makings, &spot, &mut nodes);
        let to = self.analysis.graph.target(edge);
        let params = self.region.block(to).params.clone();
        let mut args = Vec::new();
        for (number, (&content, &param)) in way.args.iter().zip(&params).enumerate() {
            if let (Content::Object(object), Some(Fate::Plain)) = (content, self.analysis.fates.get(&param)) {
                args.push((number, self.real(object, &way.known)));
            }
        }
        if !nodes.is_empty() {
            self.put_on(edge, nodes);
        }
        let (home, slot) = self.homes[&edge];
        if let Some(target) = self.region.block_mut(home).end.targets_mut().nth(slot) {
            args.into_iter().for_each(|(number, arg)| target.args[number] = arg);
        }
    }

    /// Adds nodes to an edge: at the end of its block, or in a block of their own.
    fn put_on(&mut self, edge: EdgeId, nodes: Vec<Value>) {
        let (home, slot) = self.homes[&edge];
        if self.analysis.graph.out_edges(home).len() == 1 {
            return self.region.block_mut(home).nodes.extend(nodes);
        }
        let between = self.region.add_block();
        let cold = self.region.block(home).cold || self.region.block(self.analysis.graph.target(edge)).cold;
        let Some(target) = self.region.block_mut(home).end.targets_mut().nth(slot) else { return };
        let onward = std::mem::replace(target, Target::plain(between));
        *self.region.block_mut(between) =
            Block { params: Vec::new(), nodes, end: Terminator::Jump(onward), cold };
        self.homes.insert(edge, (between, 0));
    }

    /// What a content is as a value; zero is one of the type.
    pub(super) fn value_of(&mut self, content: Content, ty: Ty) -> Value {
        match content {
            Content::Value(value) => value,
            Content::Zero => {
                let op = match ty {
                    Ty::Int => Op::Int(0),
                    Ty::Float => Op::Float(0),
                    Ty::Bool => Op::Bool(false),
                    Ty::Ref(_) | Ty::None => Op::Null,
                };
                self.constants.get(self.region, op, nullable(ty))
            }
            Content::True => self.constants.get(self.region, Op::Bool(true), Ty::Bool),
            Content::Merged(block, object, part) => self.parameter((block, object, part)),
            Content::Made(place, object) => match self.made.get(&(place, object)) {
                Some(&made) => made,
                None => unreachable!("what is used was made before"),
            },
            Content::Object(_) => unreachable!("an object is a value only if it was made"),
        }
    }

    /// The types of the fields of a class.
    pub(super) fn field_types(&self, class: ClassId) -> Vec<Ty> {
        let fields = self.analysis.program.classes[class.index()].fields();
        fields.iter().map(|field| Ty::of(field.ty)).collect()
    }

    /// The parameter for a part of an object; made if there is none.
    fn parameter(&mut self, key: Key) -> Value {
        if let Some(&parameter) = self.parameters.get(&key) {
            return parameter;
        }
        let (block, object, part) = key;
        let class = self.analysis.classes[&object];
        let ty = match part {
            Part::Null => Ty::Bool,
            Part::Whole => Ty::exactly(class),
            Part::Field(number) => {
                let field = &self.analysis.program.classes[class.index()].fields()[number as usize];
                Ty::of(field.ty)
            }
        };
        let ty = if self.may_be_zero(key) { nullable(ty) } else { ty };
        let Node { inline, pc, .. } = *self.region.node(object);
        let parameter = self.region.add_param(block, ty, inline, pc);
        self.parameters.insert(key, parameter);
        self.wanted.push((key, parameter));
        parameter
    }

    /// Is what is passed for a parameter zero on some way.
    fn may_be_zero(&self, key: Key) -> bool {
        let mut seen = vec![key];
        let mut next = 0;
        while let Some(&key) = seen.get(next) {
            next += 1;
            for &edge in self.analysis.graph.in_edges(key.0) {
                match self.passed(edge, key) {
                    Content::Zero => return true,
                    Content::Merged(block, object, part) if !seen.contains(&(block, object, part)) => {
                        seen.push((block, object, part));
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// What an edge passes for a part of an object.
    fn passed(&self, edge: EdgeId, (block, object, part): Key) -> Content {
        let Some(way) = &self.analysis.ways[edge.index()] else { return Content::Zero };
        let params = &self.region.block(block).params;
        let taken = match self.analysis.fates.get(&object) {
            Some(Fate::Takes(_)) => params.iter().position(|&param| param == object),
            _ => None,
        };
        let object = match taken.and_then(|number| way.args.get(number)) {
            Some(&Content::Object(object)) => object,
            Some(_) => return if part == Part::Null { Content::True } else { Content::Zero },
            None => object,
        };
        let content = match (way.known.get(object), part) {
            (Some(Standing::Real(content)), _) => Some(content),
            (Some(Standing::Virtual(parts)), Part::Field(number)) => parts.get(number as usize),
            (Some(Standing::Virtual(parts)), Part::Null) => parts.last(),
            _ => None,
        };
        match content {
            Some(&Content::Object(inner)) => match way.known.get(inner) {
                Some(&Standing::Real(content)) => content,
                _ => unreachable!("what is passed was made"),
            },
            Some(&content) => content,
            None => Content::Zero,
        }
    }

    /// Adds the arguments for the new parameters, in the order in which they were made.
    fn pass_parameters(&mut self) {
        let mut next = 0;
        while let Some(&(key, parameter)) = self.wanted.get(next) {
            next += 1;
            let ty = self.region.ty(parameter);
            let graph = self.analysis.graph;
            for &edge in graph.in_edges(key.0) {
                if !graph.is_reachable(graph.source(edge)) {
                    continue;
                }
                let content = self.passed(edge, key);
                let value = self.value_of(content, ty);
                let mut nodes = Vec::new();
                let argument = self.fitting(value, ty, &mut nodes);
                let (home, slot) = self.homes[&edge];
                let home = self.region.block_mut(home);
                home.nodes.extend(nodes);
                if let Some(target) = home.end.targets_mut().nth(slot) {
                    target.args.push(argument);
                }
            }
        }
    }

    /// The value in a form that has the type; what is needed for that goes to `nodes`.
    fn fitting(&mut self, value: Value, ty: Ty, nodes: &mut Vec<Value>) -> Value {
        if self.fits(value, ty) {
            return value;
        }
        let Node { inline, pc, .. } = *self.region.node(value);
        let node = Node { op: Op::Assume, args: smallvec![value], ty, state: None, inline, pc };
        let assumed = self.region.add_node(node);
        nodes.push(assumed);
        assumed
    }

    /// Is the value of the type, or of a narrower one.
    fn fits(&self, value: Value, ty: Ty) -> bool {
        match (self.region.ty(value), ty) {
            (Ty::Ref(_), Ty::Ref(wanted)) if self.region.op(value) == Op::Null => wanted.nullable,
            (Ty::Ref(has), Ty::Ref(wanted)) => has.fits(wanted, self.analysis.program),
            (has, wanted) => has == wanted,
        }
    }
}
