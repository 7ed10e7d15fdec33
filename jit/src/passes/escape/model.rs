//! What the analysis knows: objects that were not made yet, what is in their fields, and where they had to be made.
//!
//! An object is named by a value: the allocation that would make it, or the parameter of a block in which several
//! objects become one. A name means one object at a time. Control comes to an allocation a second time only around
//! a loop, and whatever still mentions the object of the round before has been given another name, or has been
//! made, where the loop begins.

use crate::ir::{BlockId, Op, Region, Value};
use crate::passes::edit::Map;
use holloway_bytecode::cfg::EdgeId;
use holloway_bytecode::{ClassId, Program};
use std::collections::BTreeSet;

/// What is in a field, or what a value stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Content {
    /// Zero, false or null.
    Zero,
    /// True.
    True,
    /// A value that is nothing special.
    Value(Value),
    /// A reference to one of the objects.
    Object(Value),
    /// What this part of the object was where the block was entered; different by the ways into it.
    Merged(BlockId, Value, Part),
    /// The object after it was made at this place.
    Made(Place, Value),
}

/// A part of an object for which a block may need a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// A field.
    Field(u16),
    /// Whether it is null.
    Null,
    /// The object itself, which was made.
    Whole,
}

/// Where an object is made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// Before a node.
    Before(Value),
    /// At the end of a block.
    End(BlockId),
    /// On the way between two blocks.
    Edge(EdgeId),
}

/// How an object stands.
#[derive(Clone, PartialEq, Debug)]
pub enum Standing {
    /// It need not exist: what is in each field, and last whether it is null.
    Virtual(Vec<Content>),
    /// It exists, as this value.
    Real(Content),
}

impl Standing {
    /// The objects that its fields refer to.
    pub fn objects(&self) -> impl Iterator<Item = Value> {
        let parts = match self {
            Standing::Virtual(parts) => &parts[..],
            Standing::Real(_) => &[],
        };
        parts.iter().filter_map(|part| part.object())
    }
}

/// An object that is to be made.
#[derive(Clone, PartialEq, Debug)]
pub struct Making {
    /// Its name.
    pub object: Value,
    /// Where.
    pub place: Place,
    /// What is in its fields; no other object that is not made.
    pub fields: Vec<Content>,
}

/// How the objects stand at a place.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Known {
    /// Ordered by name.
    objects: Vec<(Value, Standing)>,
}

impl Known {
    fn place(&self, object: Value) -> Result<usize, usize> {
        self.objects.binary_search_by_key(&object, |&(object, _)| object)
    }

    /// How an object stands; `None` if it has no name here.
    pub fn get(&self, object: Value) -> Option<&Standing> {
        self.place(object).ok().map(|at| &self.objects[at].1)
    }

    /// The fields of an object that is not made, and whether it is null.
    pub fn parts(&self, object: Value) -> Option<&[Content]> {
        match self.get(object) {
            Some(Standing::Virtual(parts)) => Some(parts),
            _ => None,
        }
    }

    /// Is it an object that is not made.
    pub fn is_virtual(&self, object: Value) -> bool {
        self.parts(object).is_some()
    }

    /// From now on the object stands so.
    pub fn set(&mut self, object: Value, standing: Standing) {
        match self.place(object) {
            Ok(at) => self.objects[at].1 = standing,
            Err(at) => self.objects.insert(at, (object, standing)),
        }
    }

    /// Changes a part of an object that is not made; parts are counted as fields are, the last one is the flag.
    pub fn set_part(&mut self, object: Value, part: usize, content: Content) {
        if let Ok(at) = self.place(object)
            && let Standing::Virtual(parts) = &mut self.objects[at].1
            && let Some(old) = parts.get_mut(part)
        {
            *old = content;
        }
    }

    /// All objects, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Value, &Standing)> {
        self.objects.iter().map(|(object, standing)| (*object, standing))
    }

    /// Forgets all objects but these, and those that they refer to.
    pub fn keep(&mut self, mut needed: Vec<Value>) {
        let mut is_needed = vec![false; self.objects.len()];
        while let Some(object) = needed.pop() {
            let Ok(at) = self.place(object) else { continue };
            if !std::mem::replace(&mut is_needed[at], true)
                && let Standing::Virtual(parts) = &self.objects[at].1
            {
                needed.extend(parts.iter().filter_map(|part| part.object()));
            }
        }
        let mut is_needed = is_needed.into_iter();
        self.objects.retain(|_| is_needed.next().unwrap_or(false));
    }

    /// All objects of which `flag` says whether they are null turn out to be null, or not to be.
    pub fn decide_null(&mut self, flag: Content, is_null: bool) {
        for (_, standing) in &mut self.objects {
            if let Standing::Virtual(parts) = standing
                && let Some(last) = parts.last_mut()
                && *last == flag
            {
                *last = if is_null { Content::True } else { Content::Zero };
            }
        }
    }

    /// Can one come from an object to another through fields of objects that are not made.
    pub fn reaches(&self, from: Value, to: Value) -> bool {
        let mut next = vec![from];
        while let Some(object) = next.pop() {
            if object == to {
                return true;
            }
            next.extend(self.parts(object).into_iter().flatten().filter_map(|&part| part.object()));
        }
        false
    }
}

impl Content {
    /// The object, if it is one.
    pub fn object(self) -> Option<Value> {
        match self {
            Content::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Is it surely null, where a reference is expected.
    pub fn is_null(self, region: &Region) -> bool {
        match self {
            Content::Zero => true,
            Content::Value(value) => region.op(value) == Op::Null,
            _ => false,
        }
    }
}

/// What must not be tried: learnt from attempts that failed. Grows from attempt to attempt.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Refusals {
    /// Allocations that stay as they are.
    pub allocations: BTreeSet<Value>,
    /// Parameters that cannot be the name of several objects.
    pub parameters: BTreeSet<Value>,
    /// Objects that must be made before a node.
    pub before: Map<Value, BTreeSet<Value>>,
    /// Objects that must be made before a block is entered.
    pub entry: Map<BlockId, BTreeSet<Value>>,
    /// Objects are given up rather than made earlier.
    pub is_impatient: bool,
}

/// How many fields the instances of a class have.
pub fn field_count(program: &Program, class: ClassId) -> usize {
    program.classes[class.index()].fields().len()
}
