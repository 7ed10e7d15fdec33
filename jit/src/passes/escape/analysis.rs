//! The analysis as a whole: sweeps over the blocks until nothing changes, then one more that looks whether the result can be
//! carried out.
//!
//! A sweep goes only over blocks for which something has changed since they were walked last: mostly that is what is in loops, and
//! not even all of that.
//!
//! It is optimistic. A way into a block that was not walked yet is ignored, so that an object stays virtual around a loop
//! until something says otherwise. From sweep to sweep things only get worse: virtual objects become real ones, contents
//! become parameters, parameters lose their meaning. So it ends; should it not, it is given up after
//! `MOST_SWEEPS` of them.
//!
//! What cannot be carried out is refused ([`Refusals`]), and everything begins anew with that known.

use super::meet::{Fate, Way};
use super::model::{Content, Known, Making, Place, Refusals, Standing, field_count};
use super::names::Names;
use super::sources::{Blocked, Sources};
use super::steps::Outcome;
use super::times::Times;
use crate::ir::{BlockId, Op, Region, StateId, Terminator, Value};
use crate::passes::edit::{Map, Places};
use holloway_bytecode::cfg::{EdgeId, FlowGraph};
use holloway_bytecode::{ClassId, Layout, Program};
use holloway_vm::compiled::EXITS;
use std::rc::Rc;

/// Sweeps, should things ever get better again.
const MOST_SWEEPS: usize = 24;

/// Allocations that are looked at; what comes after them in the order of blocks stays.
const MOST_OBJECTS: usize = 256;

/// Fields that an object may have.
const MOST_FIELDS: usize = 32;

/// What holds for all attempts.
pub struct Facts<'a> {
    /// Which values can be names, and where they are live.
    pub names: Names,
    /// Where nodes are.
    pub places: Places,
    /// The region's graph.
    pub graph: &'a FlowGraph,
    /// The program.
    pub program: &'a Program,
}

/// Places in which an object may be made. Each is an allocation of its own.
const MOST_PLACES: usize = 8;

/// The analysis of a region.
pub struct Analysis<'a> {
    pub(super) facts: &'a Facts<'a>,
    /// The program.
    pub program: &'a Program,
    /// The region's graph.
    pub graph: &'a FlowGraph,
    /// What must not be tried.
    pub refusals: Refusals,
    /// The classes of all objects; allocations that are not here are left alone.
    pub classes: Map<Value, ClassId>,
    /// For each node what it stands for, if not for itself.
    meanings: Vec<Option<Content>>,
    /// What parameters have become.
    pub fates: Map<Value, Fate>,
    /// How things stand where blocks begin.
    pub entered: Vec<Option<Known>>,
    left: Vec<Option<Known>>,
    /// When it was that things changed.
    pub(super) times: Times,
    /// For each edge into a block with several: how things stand at its end.
    pub ways: Vec<Option<Rc<Way>>>,
    /// What the present node, end or way has to make before it.
    pub makings: Vec<Making>,
    /// Stores into objects that are not made.
    pub is_dropped: Vec<bool>,
    /// How often something was spared by knowing an object.
    pub uses: Map<Value, u32>,
    /// For each object the parameters that took it over in this sweep.
    pub takers: Map<Value, Vec<Value>>,
    /// Where frame states for what is made come from.
    pub sources: Sources,
    /// For each object the places where it is made.
    pub made: Map<Value, Vec<Place>>,
    /// This is the last sweep.
    is_checking: bool,
    /// Something was refused, or has changed in this sweep.
    is_refused: bool,
    changed: bool,
}

/// Does the operation make an object that is worth looking at.
pub fn is_candidate(program: &Program, op: Op) -> Option<ClassId> {
    let Op::New(class) = op else { return None };
    let fits = matches!(program.classes[class.index()].layout, Layout::Object(_))
        && field_count(program, class) <= MOST_FIELDS;
    fits.then_some(class)
}

impl<'a> Analysis<'a> {
    /// Nothing is known yet but what must not be tried.
    pub fn new(region: &Region, facts: &'a Facts<'a>, refusals: Refusals) -> Analysis<'a> {
        let (program, graph) = (facts.program, facts.graph);
        let mut classes = Map::default();
        for &block in graph.reverse_postorder() {
            for &value in &region.block(block).nodes {
                if let Some(class) = is_candidate(program, region.op(value))
                    && classes.len() < MOST_OBJECTS
                    && !refusals.allocations.contains(&value)
                {
                    classes.insert(value, class);
                }
            }
        }
        Analysis {
            facts,
            program,
            graph,
            refusals,
            classes,
            meanings: vec![None; region.nodes.len()],
            fates: Map::default(),
            entered: vec![None; region.blocks.len()],
            left: vec![None; region.blocks.len()],
            times: Times::of(region),
            ways: vec![None; graph.edge_count()],
            makings: Vec::new(),
            is_dropped: vec![false; region.nodes.len()],
            uses: Map::default(),
            takers: Map::default(),
            sources: Sources::default(),
            made: Map::default(),
            is_checking: false,
            is_refused: false,
            changed: false,
        }
    }

    /// Finds the solution; false if something had to be refused, or nothing was found.
    pub fn solve(&mut self, region: &Region) -> bool {
        for _ in 0..MOST_SWEEPS {
            self.sweep(region);
            if self.is_refused {
                return false;
            }
            if !self.changed {
                self.is_checking = true;
                self.sweep(region);
                let many = self.made.iter().filter(|(_, places)| places.len() > MOST_PLACES);
                let many: Vec<Value> = many.map(|(&object, _)| object).collect();
                many.into_iter().for_each(|object| self.refuse_object(region, object));
                let is_settled = self.is_refused || !self.changed;
                debug_assert!(is_settled, "a sweep over everything finds what those over what changed found");
                return !self.is_refused && !self.changed;
            }
        }
        self.refusals
            .allocations
            .extend(self.classes.keys().filter(|&&object| region.op(object) != Op::Param));
        false
    }

    fn sweep(&mut self, region: &Region) {
        self.changed = false;
        self.takers.clear();
        self.uses.clear();
        let graph = self.graph;
        for &block in graph.reverse_postorder() {
            self.times.now += 1;
            let mut is_entered_as_before = true;
            if self.is_checking || self.enters_anew(region, block) {
                let known = self.enter(region, block);
                if self.entered[block.index()].as_ref() != Some(&known) {
                    self.entered[block.index()] = Some(known);
                    self.changed = true;
                    is_entered_as_before = false;
                }
            }
            let walks = self.is_checking || !is_entered_as_before || self.walks_anew(region, block);
            if walks && let Some(known) = self.entered[block.index()].clone() {
                let known = self.walk(region, block, known);
                if self.left[block.index()].as_ref() != Some(&known) {
                    self.left[block.index()] = Some(known);
                    self.times.left[block.index()] = self.times.now;
                }
            }
            self.times.visited[block.index()] = self.times.now;
        }
    }

    fn walk(&mut self, region: &Region, block: BlockId, mut known: Known) -> Known {
        for &value in &region.block(block).nodes {
            let outcome = self.step(region, &mut known, value);
            if self.is_checking {
                self.check_node(region, &known, value, outcome);
            }
            self.pass_guard(region, &mut known, value, outcome);
        }
        self.finish(region, &mut known, block);
        if self.is_checking {
            if let Some(state) = region.block(block).end.state() {
                let problems = self.problems(region, &known, state);
                self.refuse(region, problems);
            }
            self.check_makings(region);
        }
        known
    }

    /// Finds out whether what was decided for a node can be carried out.
    fn check_node(&mut self, region: &Region, known: &Known, value: Value, outcome: Outcome) {
        if let Some(state) = region.node(value).state {
            let failed = self.where_guard_fails(region, known, value, outcome);
            let problems = self.problems(region, failed.as_ref().unwrap_or(known), state);
            // The frames of a guard are those of its failure, and so are not right after it.
            if failed.is_some() || !problems.is_empty() {
                self.sources.unusable.insert(value);
            }
            if outcome.keeps_state() {
                self.refuse(region, problems);
            }
        }
        self.check_makings(region);
    }

    /// Goes over the end of a block.
    pub fn finish(&mut self, region: &Region, known: &mut Known, block: BlockId) {
        self.makings.clear();
        if let Terminator::Return(Some(value)) = region.block(block).end
            && let Content::Object(object) = self.resolve(value)
        {
            self.escape(region, known, Place::End(block), object);
        }
    }

    /// How things stand where an edge leaves its block.
    pub fn left(&self, edge: EdgeId) -> Option<&Known> {
        self.left[self.graph.source(edge).index()].as_ref()
    }

    /// Forgets the objects that nobody needs in a block, or as what is passed to it.
    pub fn forget(&self, known: &mut Known, block: BlockId, args: &[Content]) {
        let named = self.facts.names.live_at(block).filter_map(|value| self.resolve(value).object());
        let passed = args.iter().filter_map(|arg| arg.object());
        known.keep(named.chain(passed).collect());
    }

    /// What a value stands for.
    pub fn resolve(&self, value: Value) -> Content {
        self.meanings.get(value.index()).copied().flatten().unwrap_or(Content::Value(value))
    }

    /// Notes what a value stands for.
    pub fn mean(&mut self, value: Value, content: Content) {
        let meaning = Some(content).filter(|&content| content != Content::Value(value));
        let old = &mut self.meanings[value.index()];
        if *old != meaning {
            *old = meaning;
            self.times.meant[value.index()] = self.times.now;
            self.changed = true;
        }
    }

    /// Is the value a name of an object here.
    pub fn is_object(&self, value: Value) -> bool {
        self.resolve(value).object().is_some()
    }

    /// The object becomes known to others: it is made if it is not.
    pub fn escape(&mut self, region: &Region, known: &mut Known, place: Place, object: Value) {
        match known.get(object) {
            Some(Standing::Virtual(_)) => self.make(region, known, place, object),
            Some(Standing::Real(_)) => {}
            None => self.lost(region, object),
        }
    }

    /// Makes an object, and before it those that its fields refer to.
    fn make(&mut self, region: &Region, known: &mut Known, place: Place, object: Value) {
        let Some(parts) = known.parts(object) else { return };
        let parts = parts.to_vec();
        let Some((flag, fields)) = parts.split_last() else { return };
        if *flag != Content::Zero {
            // Null, or not known to be something else.
            if *flag != Content::True {
                self.refuse_object(region, object);
            }
            return known.set(object, Standing::Real(Content::Zero));
        }
        let mut real = Vec::with_capacity(fields.len());
        for &field in fields {
            real.push(match field {
                Content::Object(inner) => self.real(region, known, place, inner),
                other => other,
            });
        }
        self.makings.push(Making { object, place, fields: real });
        known.set(object, Standing::Real(Content::Made(place, object)));
    }

    /// An object as a value; it is made if it is not.
    pub fn real(&mut self, region: &Region, known: &mut Known, place: Place, object: Value) -> Content {
        self.escape(region, known, place, object);
        match known.get(object) {
            Some(Standing::Real(content)) => *content,
            _ => Content::Zero,
        }
    }

    /// Somebody mentions an object that has no name any more.
    pub fn lost(&mut self, region: &Region, object: Value) {
        if !self.is_checking {
            return;
        }
        match self.takers.get(&object).cloned() {
            Some(takers) => takers.into_iter().for_each(|param| self.refuse_object(region, param)),
            None => self.refuse_object(region, object),
        }
    }

    /// The object is not to be one.
    pub fn refuse_object(&mut self, region: &Region, object: Value) {
        match region.op(object) {
            Op::Param => self.refusals.parameters.insert(object),
            _ => self.refusals.allocations.insert(object),
        };
        self.is_refused = true;
    }

    /// Notes what an object's being known was good for.
    pub fn count_use(&mut self, object: Value) {
        *self.uses.entry(object).or_default() += 1;
    }

    fn check_makings(&mut self, region: &Region) {
        for making in std::mem::take(&mut self.makings) {
            self.check_making(region, &making);
        }
    }

    /// Finds a frame state for something that is made.
    pub fn check_making(&mut self, region: &Region, making: &Making) {
        let Making { object, place, .. } = *making;
        self.made.entry(object).or_default().push(place);
        match self.sources.find(region, self.facts, &self.is_dropped, place) {
            Ok(()) => {}
            Err(_) if self.refusals.is_impatient => self.refuse_object(region, object),
            Err(Blocked::Node(node)) => {
                self.refusals.before.entry(node).or_default().insert(object);
                self.is_refused = true;
            }
            Err(Blocked::Entry(block)) if region.block(block).params.contains(&object) => {
                self.refuse_object(region, object);
            }
            Err(Blocked::Entry(block)) => {
                self.refusals.entry.entry(block).or_default().insert(object);
                self.is_refused = true;
            }
        }
    }

    /// Allocations that would only be moved to another place that is always reached.
    pub fn in_vain(&self, region: &Region) -> Vec<Value> {
        let is_near = |object: Value, place: Place| {
            let home = self.facts.places.block(object);
            match place {
                Place::Before(node) => self.facts.places.block(node) == home,
                Place::End(block) => Some(block) == home,
                Place::Edge(edge) => {
                    let source = self.graph.source(edge);
                    Some(source) == home && self.graph.out_edges(source).len() == 1
                }
            }
        };
        let objects = self.classes.keys().copied().filter(|&object| {
            let places = self.made.get(&object).map_or(&[][..], |places| places);
            region.op(object) != Op::Param
                && self.uses.get(&object).is_none_or(|&uses| uses == 0)
                && matches!(places, &[place] if is_near(object, place))
        });
        objects.collect()
    }

    /// Is this the last sweep.
    pub fn is_checking(&self) -> bool {
        self.is_checking
    }

    /// The objects that a frame state mentions, but that cannot be described there; true for those that have no name.
    fn problems(&self, region: &Region, known: &Known, state: StateId) -> Vec<(Value, bool)> {
        let mut mentioned = Vec::new();
        let mut values = 0;
        for (_, frame) in region.frames(state) {
            values += frame.registers.len();
            frame.registers.iter().for_each(|&(_, value)| self.mentioned(region, value, &mut mentioned));
        }
        let mut problems = Vec::new();
        let mut next = 0;
        while let Some(&object) = mentioned.get(next) {
            next += 1;
            match known.get(object) {
                None => problems.push((object, true)),
                Some(Standing::Real(_)) => {}
                Some(Standing::Virtual(parts)) => {
                    values += parts.len();
                    if !matches!(parts.last(), Some(Content::Zero | Content::True)) {
                        problems.push((object, false));
                    }
                    for inner in parts.iter().filter_map(|part| part.object()) {
                        if !mentioned.contains(&inner) {
                            mentioned.push(inner);
                        }
                    }
                }
            }
        }
        if values > EXITS {
            problems.extend(mentioned.into_iter().map(|object| (object, false)));
        }
        problems
    }

    fn refuse(&mut self, region: &Region, problems: Vec<(Value, bool)>) {
        for (object, is_lost) in problems {
            if is_lost { self.lost(region, object) } else { self.refuse_object(region, object) }
        }
    }

    /// The objects that a value of a frame state is, or refers to.
    fn mentioned(&self, region: &Region, value: Value, objects: &mut Vec<Value>) {
        match self.resolve(value) {
            Content::Object(object) if !objects.contains(&object) => objects.push(object),
            _ if matches!(region.op(value), Op::Virtual(_)) => {
                region.node(value).args.iter().for_each(|&arg| self.mentioned(region, arg, objects));
            }
            _ => {}
        }
    }
}
