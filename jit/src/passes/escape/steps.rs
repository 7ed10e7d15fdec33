//! What a node does to the objects, and what becomes of it.

use super::analysis::Analysis;
use super::model::{Content, Known, Place, Standing, field_count};
use crate::ir::{Node, Op, Reason, Region, Ty, Value};
use crate::passes::devirtualize::target_of;
use holloway_bytecode::{ClassId, Shape};

/// What becomes of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    /// It stays. Operands that are objects have been made.
    Keep,
    /// It goes; if it has a result, that is the name of an object.
    Drop,
    /// It goes, and its result is this.
    Same(Content),
    /// It becomes a constant.
    Bool(bool),
    /// It becomes the opposite of this.
    Opposite(Content),
    /// It becomes a guard that this is false. Its result is the name of an object.
    Guard(Content, Reason),
}

impl Outcome {
    /// Does the node keep its frame state.
    pub fn keeps_state(self) -> bool {
        matches!(self, Outcome::Keep | Outcome::Guard(..))
    }
}

impl Analysis<'_> {
    /// Goes over a node. Before it is made what is in `makings` afterwards.
    pub fn step(&mut self, region: &Region, known: &mut Known, value: Value) -> Outcome {
        self.makings.clear();
        if !self.refusals.before.is_empty()
            && let Some(early) = self.refusals.before.get(&value).cloned()
        {
            for object in early {
                if known.is_virtual(object) {
                    self.escape(region, known, Place::Before(value), object);
                }
            }
        }
        let outcome = self.outcome(region, known, value);
        if outcome == Outcome::Keep {
            // What is only mentioned in frames does not leave them.
            if !matches!(region.op(value), Op::Virtual(_)) {
                for &arg in &region.node(value).args {
                    if let Content::Object(object) = self.resolve(arg) {
                        self.escape(region, known, Place::Before(value), object);
                    }
                }
            }
        }
        if matches!(outcome, Outcome::Keep | Outcome::Bool(_) | Outcome::Opposite(_)) {
            self.mean(value, Content::Value(value));
        }
        self.is_dropped[value.index()] = outcome == Outcome::Drop;
        outcome
    }

    /// Which flag a node tests, if it is or becomes a guard; and what the flag is behind it.
    fn tested(&self, region: &Region, value: Value, outcome: Outcome) -> Option<(Content, bool)> {
        match (outcome, region.op(value)) {
            (Outcome::Guard(flag, _), _) => Some((flag, false)),
            (Outcome::Keep, Op::Guard(expected, _)) => {
                let flag = self.resolve(region.node(value).args[0]);
                matches!(flag, Content::Merged(..)).then_some((flag, expected))
            }
            _ => None,
        }
    }

    /// Goes on behind a node, which may be a guard.
    pub fn pass_guard(&self, region: &Region, known: &mut Known, value: Value, outcome: Outcome) {
        if let Some((flag, is_null)) = self.tested(region, value, outcome) {
            known.decide_null(flag, is_null);
        }
    }

    /// How things stand where compiled code is left because a guard fails; `None` for other nodes.
    pub fn where_guard_fails(
        &self,
        region: &Region,
        known: &Known,
        value: Value,
        outcome: Outcome,
    ) -> Option<Known> {
        let (flag, is_null) = self.tested(region, value, outcome)?;
        let mut failed = known.clone();
        failed.decide_null(flag, !is_null);
        Some(failed)
    }

    fn outcome(&mut self, region: &Region, known: &mut Known, value: Value) -> Outcome {
        let node = region.node(value);
        let object = node.args.first().and_then(|&first| self.resolve(first).object());
        match (node.op, object) {
            (Op::New(_), _) => match self.classes.get(&value) {
                Some(&class) => {
                    let parts = vec![Content::Zero; field_count(self.program, class) + 1];
                    known.set(value, Standing::Virtual(parts));
                    self.name(value, value)
                }
                None => Outcome::Keep,
            },
            (Op::LoadField(_, field), Some(object)) => self.load(known, value, node.ty, object, field),
            (Op::StoreField(_, field) | Op::StoreRefField(_, field), Some(object)) => {
                self.store(region, known, value, object, field)
            }
            (Op::IsNull, Some(object)) => {
                let Some(&flag) = known.parts(object).and_then(<[Content]>::last) else {
                    return Outcome::Keep;
                };
                self.count_use(object);
                match flag {
                    Content::Zero => Outcome::Bool(false),
                    Content::True => Outcome::Bool(true),
                    flag => self.same(value, flag),
                }
            }
            (Op::IsInstance(_) | Op::Implements(_) | Op::IsExactly(_) | Op::Reaches(..), Some(object)) => {
                self.instance(known, node.op, object)
            }
            (Op::Assume, Some(object)) => match (node.ty, self.classes.get(&object)) {
                (Ty::Ref(ty), Some(&class)) if Shape::Class(class).fits(ty.shape, self.program) => {
                    self.name(value, object)
                }
                _ => Outcome::Keep,
            },
            (Op::Same, _) => self.same_object(region, known, value, node),
            (op, Some(object)) if op.is_check() => self.check(known, value, op, object),
            _ => Outcome::Keep,
        }
    }

    /// The result of the node is a name of the object.
    fn name(&mut self, value: Value, object: Value) -> Outcome {
        self.mean(value, Content::Object(object));
        Outcome::Drop
    }

    fn same(&mut self, value: Value, content: Content) -> Outcome {
        self.mean(value, content);
        Outcome::Same(content)
    }

    fn load(&mut self, known: &Known, value: Value, ty: Ty, object: Value, field: u16) -> Outcome {
        let Some(parts) = known.parts(object) else { return Outcome::Keep };
        // In code that is never reached, an object may be taken for one of another class.
        let Some(&content) = parts.split_last().and_then(|(_, fields)| fields.get(field as usize)) else {
            return Outcome::Keep;
        };
        let is_unset = content == Content::Zero && ty.reference().is_some_and(|ty| !ty.nullable);
        if is_unset {
            return Outcome::Keep;
        }
        self.count_use(object);
        match content {
            Content::Object(inner) => self.name(value, inner),
            content => self.same(value, content),
        }
    }

    fn store(
        &mut self,
        region: &Region,
        known: &mut Known,
        value: Value,
        object: Value,
        field: u16,
    ) -> Outcome {
        let Some(parts) = known.parts(object) else { return Outcome::Keep };
        let Some(&stored) = region.node(value).args.get(1) else { return Outcome::Keep };
        let content = self.resolve(stored);
        let is_cycle = content.object().is_some_and(|inner| known.reaches(inner, object));
        if is_cycle || field as usize + 1 >= parts.len() {
            return Outcome::Keep;
        }
        known.set_part(object, field as usize, content);
        Outcome::Drop
    }

    /// A question about the class of an object that is not made.
    fn instance(&mut self, known: &Known, op: Op, object: Value) -> Outcome {
        let Some(&flag) = known.parts(object).and_then(<[Content]>::last) else { return Outcome::Keep };
        let Some(&class) = self.classes.get(&object) else { return Outcome::Keep };
        self.count_use(object);
        if !self.is_instance(op, class) {
            return Outcome::Bool(false);
        }
        match (op, flag) {
            (_, Content::Zero) | (Op::IsExactly(_) | Op::Reaches(..), _) => Outcome::Bool(true),
            (_, Content::True) => Outcome::Bool(false),
            (_, flag) => Outcome::Opposite(flag),
        }
    }

    /// Is an object of the class what the operation asks for.
    fn is_instance(&self, op: Op, class: ClassId) -> bool {
        match op {
            Op::IsInstance(wanted) | Op::CheckCast(wanted) => self.program.is_subclass(class, wanted),
            Op::Implements(wanted) | Op::CheckInterface(wanted) => {
                Shape::Class(class).fits(Shape::Interface(wanted), self.program)
            }
            Op::IsExactly(wanted) | Op::CheckExactly(wanted) => class == wanted,
            Op::Reaches(table, function) => target_of(self.program, table.call(), class) == Some(function),
            _ => true,
        }
    }

    /// A check of an object. If it fails, it stays, and the object is made.
    fn check(&mut self, known: &Known, value: Value, op: Op, object: Value) -> Outcome {
        let Some(&class) = self.classes.get(&object) else { return Outcome::Keep };
        let Some(reason) = op.reason().filter(|_| self.is_instance(op, class)) else { return Outcome::Keep };
        let flag = match known.get(object) {
            Some(Standing::Virtual(parts)) => parts.last().copied().unwrap_or(Content::Zero),
            Some(Standing::Real(Content::Zero)) | None => return Outcome::Keep,
            // It was null on some way.
            Some(Standing::Real(_)) if self.fates.contains_key(&object) => return Outcome::Keep,
            Some(Standing::Real(_)) => Content::Zero,
        };
        match flag {
            Content::Zero => {
                self.count_use(object);
                self.name(value, object)
            }
            Content::True => Outcome::Keep,
            flag => {
                self.count_use(object);
                self.mean(value, Content::Object(object));
                Outcome::Guard(flag, reason)
            }
        }
    }

    /// The same object, or both null. An object that is not made is no other one.
    fn same_object(&mut self, region: &Region, known: &Known, value: Value, node: &Node) -> Outcome {
        let (a, b) = (self.resolve(node.args[0]), self.resolve(node.args[1]));
        let is_there = |content: Content| content.object().is_none_or(|object| known.get(object).is_some());
        if !is_there(a) || !is_there(b) {
            return Outcome::Keep;
        }
        if a == b && a.object().is_some() {
            return Outcome::Bool(true);
        }
        for (this, other) in [(a, b), (b, a)] {
            let Some(object) = this.object() else { continue };
            let Some(&flag) = known.parts(object).and_then(<[Content]>::last) else { continue };
            match flag {
                Content::Zero => {
                    self.count_use(object);
                    return Outcome::Bool(false);
                }
                // It is null if the other one is.
                flag if other.is_null(region) => {
                    self.count_use(object);
                    return match flag {
                        Content::True => Outcome::Bool(true),
                        flag => self.same(value, flag),
                    };
                }
                _ => {}
            }
        }
        Outcome::Keep
    }
}
