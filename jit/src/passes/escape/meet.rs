//! How things stand where a block is entered.
//!
//! With one way in, as on that way; the block's parameters are other names of what is passed. With several:
//!
//! * An object that is virtual on all of them stays so. Where its fields differ, the block gets parameters for them.
//! * One that is virtual on some is made on those.
//! * A parameter for which all ways pass the same object is another name of it.
//! * A parameter for which the ways pass different virtual objects of one class *takes them over*: it is the name of a
//!   new virtual object with their fields. That is how an object that is replaced by a new one in each round of a loop
//!   never needs to be made. Nobody may know the old names afterwards: who does is found out in the last sweep,
//!   and the parameter refused.
//! * Null counts as a virtual object of any class; whether it is null is then a part of the object like a field.
//! * For every other parameter objects must be made before they are passed.
//!
//! Each of these may force more to be made, so all is repeated until nothing more is.

use super::analysis::Analysis;
use super::model::{Content, Known, Making, Part, Place, Standing, field_count};
use crate::ir::{BlockId, Op, Region, Terminator, Value};
use holloway_bytecode::ClassId;
use holloway_bytecode::cfg::EdgeId;
use std::rc::Rc;

/// An edge into a block.
#[derive(Clone, PartialEq, Debug)]
pub struct Way {
    /// The edge.
    pub edge: EdgeId,
    /// How things stand at its end.
    pub known: Known,
    /// What is passed for the parameters.
    pub args: Vec<Content>,
    /// What is made on it.
    pub makings: Vec<Making>,
}

/// What a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Another name of an object.
    Alias(Value),
    /// The name of a new object of this class, which takes over those that are passed.
    Takes(ClassId),
    /// A parameter.
    Plain,
}

/// A block that is being entered.
struct Meeting<'r> {
    region: &'r Region,
    block: BlockId,
    params: &'r [Value],
    ways: Vec<Way>,
    fates: Vec<Fate>,
    /// The objects that have a name on all ways, and keep it.
    common: Vec<Value>,
    /// More of these, for which there is nothing to decide: they stand the same on all ways, and did before.
    settled: Vec<Value>,
}

impl Analysis<'_> {
    /// How things stand where a block begins.
    pub fn enter(&mut self, region: &Region, block: BlockId) -> Known {
        let graph = self.graph;
        let edges: Vec<EdgeId> =
            graph.in_edges(block).iter().copied().filter(|&e| graph.is_reachable(graph.source(e))).collect();
        let ways: Vec<Way> = edges.iter().filter_map(|&edge| self.way(region, edge)).collect();
        let params = &region.block(block).params;
        if let ([_], [_]) = (&edges[..], &ways[..]) {
            let Some(way) = ways.into_iter().next() else { return Known::default() };
            for (&param, content) in params.iter().zip(way.args) {
                let is_object = content.object().is_some();
                self.mean(param, if is_object { content } else { Content::Value(param) });
            }
            return way.known;
        }
        let mut meeting = Meeting {
            region,
            block,
            params,
            ways,
            fates: Vec::new(),
            common: Vec::new(),
            settled: Vec::new(),
        };
        while self.pass(&mut meeting) {}
        let known = self.join(&meeting);
        for (&param, &fate) in params.iter().zip(&meeting.fates) {
            self.fates.insert(param, fate);
            self.mean(
                param,
                match fate {
                    Fate::Alias(object) => Content::Object(object),
                    Fate::Takes(_) => Content::Object(param),
                    Fate::Plain => Content::Value(param),
                },
            );
        }
        for way in meeting.ways {
            if self.is_checking() {
                way.makings.iter().for_each(|making| self.check_making(region, making));
            }
            let at = way.edge.index();
            self.ways[at] = Some(Rc::new(way));
        }
        known
    }

    /// An edge as its block leaves it; `None` if that was not walked yet.
    fn way(&self, region: &Region, edge: EdgeId) -> Option<Way> {
        let source = self.graph.source(edge);
        let mut known = self.left(edge)?.clone();
        let number = self.graph.out_edges(source).position(|out| out == edge)?;
        let end = &region.block(source).end;
        if let Terminator::Branch { mut condition, .. } = *end {
            let mut is_null = number == 0;
            while region.op(condition) == Op::Not {
                condition = region.node(condition).args[0];
                is_null = !is_null;
            }
            let flag = self.resolve(condition);
            if matches!(flag, Content::Merged(..)) {
                known.decide_null(flag, is_null);
            }
        }
        let target = end.targets().nth(number)?;
        let args: Vec<Content> = target.args.iter().map(|&arg| self.resolve(arg)).collect();
        self.forget(&mut known, target.block, &args);
        Some(Way { edge, known, args, makings: Vec::new() })
    }

    /// Decides what everything is as things stand; true if something had to be made for that, so that they stand
    /// differently.
    fn pass(&mut self, meeting: &mut Meeting<'_>) -> bool {
        self.decide_fates(meeting);
        let mut any = false;
        for (number, &fate) in meeting.fates.clone().iter().enumerate() {
            if fate == Fate::Plain {
                for way in 0..meeting.ways.len() {
                    any |= self.make_on(meeting, way, meeting.ways[way].args[number]);
                }
            }
        }
        if any {
            return true;
        }
        self.find_common(meeting);
        for object in meeting.common.clone() {
            let before = self.entered[meeting.block.index()].as_ref().and_then(|known| known.get(object));
            let is_virtual = meeting.ways.iter().all(|way| way.known.is_virtual(object))
                && !matches!(before, Some(Standing::Real(_)))
                && !self.refusals.entry.get(&meeting.block).is_some_and(|early| early.contains(&object));
            if !is_virtual {
                for way in 0..meeting.ways.len() {
                    any |= self.make_on(meeting, way, Content::Object(object));
                }
            }
        }
        if any {
            return true;
        }
        for (object, count) in self.virtual_objects(meeting) {
            for part in 0..count {
                let contents = contents_of(meeting, object, part, part + 1 == count);
                if self.agreed(meeting, object, part, &contents).is_none() {
                    for (way, content) in contents.into_iter().enumerate() {
                        any |= self.make_on(meeting, way, content);
                    }
                }
            }
        }
        any
    }

    fn decide_fates(&mut self, meeting: &mut Meeting<'_>) {
        meeting.fates.clear();
        for number in 0..meeting.params.len() {
            let fate = self.fate(meeting, number);
            meeting.fates.push(fate);
        }
        // What is passed for two parameters cannot have two names.
        for way in &meeting.ways {
            for (number, content) in way.args.iter().enumerate() {
                let takes = |other: usize| matches!(meeting.fates[other], Fate::Takes(_));
                let again = way.args[..number].iter().enumerate();
                if takes(number)
                    && content.object().is_some()
                    && again.clone().any(|(other, arg)| arg == content && takes(other))
                {
                    self.refuse_object(meeting.region, meeting.params[number]);
                }
            }
        }
    }

    fn fate(&mut self, meeting: &Meeting<'_>, number: usize) -> Fate {
        let param = meeting.params[number];
        let old = self.fates.get(&param);
        let contents = || meeting.ways.iter().map(|way| way.args[number]);
        if old == Some(&Fate::Plain) || contents().all(|content| content.object().is_none()) {
            return Fate::Plain;
        }
        let Some(first) = contents().find_map(|content| content.object()) else { return Fate::Plain };
        let may_be_alias = !matches!(old, Some(Fate::Takes(_)));
        if may_be_alias && contents().all(|content| content == Content::Object(first)) {
            let is_known = meeting.ways.iter().all(|way| way.known.get(first).is_some());
            if is_known && !meeting.params.contains(&first) {
                return Fate::Alias(first);
            }
        }
        if self.refusals.parameters.contains(&param) {
            return Fate::Plain;
        }
        // Two parameters that are always the same are one.
        let twin = (0..number).find(|&other| {
            matches!(meeting.fates[other], Fate::Takes(_))
                && meeting.ways.iter().all(|way| way.args[other] == way.args[number])
        });
        if let Some(twin) = twin.filter(|_| may_be_alias) {
            return Fate::Alias(meeting.params[twin]);
        }
        let Some(&class) = self.classes.get(&first) else { return Fate::Plain };
        let fits = meeting.ways.iter().all(|way| match way.args[number] {
            Content::Object(object) => {
                way.known.is_virtual(object) && self.classes.get(&object) == Some(&class)
            }
            other => other.is_null(meeting.region),
        });
        if !fits {
            return Fate::Plain;
        }
        self.classes.insert(param, class);
        Fate::Takes(class)
    }

    /// Makes an object on a way, if the content is one that is not made; true if it was.
    fn make_on(&mut self, meeting: &mut Meeting<'_>, way: usize, content: Content) -> bool {
        let Some(object) = content.object() else { return false };
        let way = &mut meeting.ways[way];
        if !way.known.is_virtual(object) {
            if way.known.get(object).is_none() {
                self.lost(meeting.region, object);
            }
            return false;
        }
        let makings = std::mem::take(&mut self.makings);
        self.escape(meeting.region, &mut way.known, Place::Edge(way.edge), object);
        way.makings.append(&mut self.makings);
        self.makings = makings;
        true
    }

    /// Finds the objects that have a name on all ways and keep it. Those that are settled are set apart: at most places
    /// that is almost all of them.
    fn find_common(&self, meeting: &mut Meeting<'_>) {
        let (mut common, mut settled) = (Vec::new(), Vec::new());
        let Some((first, others)) = meeting.ways.split_first() else { return };
        let before = self.entered[meeting.block.index()].as_ref();
        let early = self.refusals.entry.get(&meeting.block);
        let has_takers = meeting.fates.iter().any(|fate| matches!(fate, Fate::Takes(_)));
        for (object, standing) in first.known.iter() {
            let is_common = others.iter().all(|way| way.known.get(object).is_some())
                && !meeting.params.contains(&object)
                && !(has_takers && meeting.ways.iter().any(|way| meeting.taker(way, object).is_some()));
            if !is_common {
                continue;
            }
            let is_settled = !has_takers
                && others.iter().all(|way| way.known.get(object) == Some(standing))
                && before.and_then(|known| known.get(object)).is_none_or(|old| old == standing)
                && early.is_none_or(|early| !early.contains(&object))
                && standing.objects().all(|inner| {
                    !meeting.params.contains(&inner)
                        && meeting.ways.iter().all(|way| way.known.get(inner).is_some())
                });
            if is_settled { settled.push(object) } else { common.push(object) }
        }
        (meeting.common, meeting.settled) = (common, settled);
    }

    /// The objects that are virtual in the block and not settled, each with the number of its parts.
    fn virtual_objects(&self, meeting: &Meeting<'_>) -> Vec<(Value, usize)> {
        let common = meeting.common.iter().filter_map(|&object| {
            let parts = meeting.ways.first()?.known.parts(object)?.len();
            Some((object, parts))
        });
        let taken = meeting.params.iter().zip(&meeting.fates).filter_map(|(&param, fate)| match fate {
            Fate::Takes(class) => Some((param, field_count(self.program, *class) + 1)),
            _ => None,
        });
        common.chain(taken).collect()
    }

    /// What is in a part on all ways; `None` if that differs, or did before.
    fn agreed(
        &self,
        meeting: &Meeting<'_>,
        object: Value,
        part: usize,
        contents: &[Content],
    ) -> Option<Content> {
        // An object that is taken over is called by its new name.
        let mut renamed = contents.iter().zip(&meeting.ways).map(|(&content, way)| match content {
            Content::Object(inner) => match meeting.taker(way, inner) {
                Some(taker) => Some(Content::Object(taker)),
                None if meeting.params.contains(&inner) => None,
                None => Some(content),
            },
            content => Some(content),
        });
        let first = renamed.next()??;
        if renamed.any(|content| content != Some(first)) {
            return None;
        }
        if let Content::Object(inner) = first
            && !meeting.params.contains(&inner)
            && meeting.ways.iter().any(|way| way.known.get(inner).is_none())
        {
            return None;
        }
        let before = self.entered[meeting.block.index()].as_ref().and_then(|known| known.parts(object));
        match before.and_then(|parts| parts.get(part)) {
            Some(&old) if old != first => None,
            _ => Some(first),
        }
    }

    /// How things stand in the block, now that everything is decided.
    fn join(&mut self, meeting: &Meeting<'_>) -> Known {
        let mut known = Known::default();
        let block = meeting.block;
        for &object in &meeting.settled {
            if let Some(standing) = meeting.ways.first().and_then(|way| way.known.get(object)) {
                known.set(object, standing.clone());
            }
        }
        for &object in &meeting.common {
            let mut reals = meeting.ways.iter().map(|way| match way.known.get(object) {
                Some(Standing::Real(content)) => Some(*content),
                _ => None,
            });
            let Some(Some(first)) = reals.next() else { continue };
            let before = self.entered[block.index()].as_ref().and_then(|known| known.get(object));
            let stays = !matches!(before, Some(Standing::Real(old)) if *old != first);
            let is_same = reals.all(|content| content == Some(first)) && stays;
            let content = if is_same { first } else { Content::Merged(block, object, Part::Whole) };
            known.set(object, Standing::Real(content));
        }
        for (object, count) in self.virtual_objects(meeting) {
            let parts = (0..count).map(|part| {
                let is_flag = part + 1 == count;
                let contents = contents_of(meeting, object, part, is_flag);
                let number = if is_flag { Part::Null } else { Part::Field(part as u16) };
                self.agreed(meeting, object, part, &contents)
                    .unwrap_or(Content::Merged(block, object, number))
            });
            let parts = parts.collect();
            known.set(object, Standing::Virtual(parts));
        }
        for way in &meeting.ways {
            for (number, fate) in meeting.fates.iter().enumerate() {
                if let (Fate::Takes(_), Content::Object(object)) = (fate, way.args[number]) {
                    let takers = self.takers.entry(object).or_default();
                    if !takers.contains(&meeting.params[number]) {
                        takers.push(meeting.params[number]);
                    }
                }
            }
        }
        known
    }
}

impl Meeting<'_> {
    /// The parameter that takes over an object on a way.
    fn taker(&self, way: &Way, object: Value) -> Option<Value> {
        let number = way.args.iter().zip(&self.fates).position(|(&content, fate)| {
            matches!(fate, Fate::Takes(_)) && content == Content::Object(object)
        })?;
        Some(self.params[number])
    }
}

/// What is in a part of an object on each way; for a parameter that takes objects over, of those.
fn contents_of(meeting: &Meeting<'_>, object: Value, part: usize, is_flag: bool) -> Vec<Content> {
    let taken = meeting.params.iter().position(|&param| param == object);
    let content = |way: &Way| {
        let object = match taken.map(|number| way.args[number]) {
            Some(Content::Object(object)) => object,
            // Null: the fields do not matter.
            Some(_) => return if is_flag { Content::True } else { Content::Zero },
            None => object,
        };
        way.known.parts(object).and_then(|parts| parts.get(part)).copied().unwrap_or(Content::Zero)
    };
    meeting.ways.iter().map(content).collect()
}
