//! The places in memory that a region names, and which of them can be the same.
//!
//! A location is a field of an object, an element of an array at an index, or a global; object and index are values
//! without their checks. As long as those values are the current ones, a location is one place in memory. Two
//! locations may be the same place only if they are of the same [`Alias`]; what is known of objects and indices then
//! tells more apart:
//!
//! * an object made here is not one that was there before, nor one made elsewhere here; as long as nobody else can know
//!   it, it is no other value at all;
//! * an object is of one class only, so two whose types have no class in common differ;
//! * indices that differ by a constant differ, if by enough: a word of an array of bytes is eight elements.

use crate::ir::{Alias, Arith, BlockId, ElementKind, Op, RefTy, Region, Value};
use crate::passes::edit::{Map, Places};
use holloway_bytecode::cfg::Dominators;
use holloway_bytecode::{Native, Program, Shape};

/// A location, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(pub u32);

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// Which part of memory.
    pub alias: Alias,
    /// The object, if it is in one.
    pub object: Option<Value>,
    /// The index, if it is an element.
    pub index: Option<Value>,
    /// So many elements, from there on.
    pub elements: i64,
}

/// All locations of a region.
pub struct Locations<'a> {
    region_roots: Vec<Value>,
    all: Vec<Location>,
    numbers: Map<Location, LocationId>,
    /// For each object that is made here, its locations.
    of_new: Map<Value, Vec<LocationId>>,
    program: &'a Program,
    dominators: &'a Dominators,
    places: Places,
}

impl<'a> Locations<'a> {
    /// The locations that loads and stores of a region name.
    pub fn of(region: &Region, program: &'a Program, dominators: &'a Dominators) -> Locations<'a> {
        let region_roots =
            (0..region.nodes.len() as u32).map(|value| region.unchecked(Value(value))).collect();
        let mut locations = Locations {
            region_roots,
            all: Vec::new(),
            numbers: Map::default(),
            of_new: Map::default(),
            program,
            dominators,
            places: Places::of(region),
        };
        for block in region.block_ids() {
            for &node in &region.block(block).nodes {
                locations.add(region, node);
            }
        }
        locations
    }

    fn add(&mut self, region: &Region, value: Value) {
        let Some(location) = self.location(region, value) else { return };
        let next = LocationId(self.all.len() as u32);
        if *self.numbers.entry(location).or_insert(next) != next {
            return;
        }
        self.all.push(location);
        if let Some(object) = location.object
            && is_new(region.op(object))
        {
            self.of_new.entry(object).or_default().push(next);
        }
    }

    /// Are there none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The value without its checks.
    pub fn root(&self, value: Value) -> Value {
        self.region_roots[value.index()]
    }

    fn location(&self, region: &Region, value: Value) -> Option<Location> {
        let node = region.node(value);
        let alias = node.op.reads().or(node.op.writes())?;
        let (object, index) = match alias {
            Alias::Field(..) => (Some(self.root(node.args[0])), None),
            Alias::Element(_) => (Some(self.root(node.args[0])), Some(self.root(node.args[1]))),
            Alias::Global(_) => (None, None),
        };
        let is_word =
            matches!(node.op, Op::LoadElement(ElementKind::Word) | Op::StoreElement(ElementKind::Word));
        Some(Location { alias, object, index, elements: if is_word { 8 } else { 1 } })
    }

    /// The location that a load or store names.
    pub fn of_access(&self, region: &Region, value: Value) -> Option<LocationId> {
        self.numbers.get(&self.location(region, value)?).copied()
    }

    /// A location.
    pub fn get(&self, id: LocationId) -> Location {
        self.all[id.0 as usize]
    }

    /// The locations in an object that is made here.
    pub fn of_new(&self, object: Value) -> &[LocationId] {
        self.of_new.get(&object).map_or(&[], |locations| locations)
    }

    /// Do object and index still mean the same at the beginning of a block, wherever one comes from.
    pub fn is_above(&self, id: LocationId, block: BlockId) -> bool {
        let Location { object, index, .. } = self.get(id);
        object.into_iter().chain(index).all(|value| self.is_value_above(value, block))
    }

    /// Does a value still mean the same at the beginning of a block, wherever one comes from.
    pub fn is_value_above(&self, value: Value, block: BlockId) -> bool {
        self.places.is_above(value, block, self.dominators)
    }

    /// Can the two be the same place. `hidden` tells which objects made here nobody else knows.
    pub fn may_alias(
        &self,
        region: &Region,
        a: LocationId,
        b: LocationId,
        hidden: impl Fn(Value) -> bool,
    ) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        if a.alias != b.alias {
            return false;
        }
        if let (Some(a), Some(b)) = (a.object, b.object)
            && self.differ(region, a, b, hidden)
        {
            return false;
        }
        match (a.index, b.index) {
            (Some(of_a), Some(of_b)) => {
                // Both are inside, so that what their sums differ by is not wrapped.
                let differ = |by: i64| by >= a.elements || by <= -b.elements;
                !distance(region, self, of_a, of_b).is_some_and(differ)
            }
            _ => true,
        }
    }

    /// Are the two certainly not the same object.
    fn differ(&self, region: &Region, a: Value, b: Value, hidden: impl Fn(Value) -> bool) -> bool {
        if a == b {
            return false;
        }
        let (new_a, new_b) = (is_new(region.op(a)), is_new(region.op(b)));
        if new_a && new_b || hidden(a) || hidden(b) {
            return true;
        }
        if new_a && self.is_older(b, a) || new_b && self.is_older(a, b) {
            return true;
        }
        match (region.ty(a).reference(), region.ty(b).reference()) {
            (Some(a), Some(b)) => !self.have_common_class(a, b),
            _ => false,
        }
    }

    /// Did the first value exist when the second one was computed.
    fn is_older(&self, old: Value, new: Value) -> bool {
        match (self.places.get(old), self.places.get(new)) {
            (Some(old), Some(new)) => old.dominates(new, self.dominators),
            _ => false,
        }
    }

    fn have_common_class(&self, a: RefTy, b: RefTy) -> bool {
        let (Shape::Class(x), Shape::Class(y)) = (a.shape, b.shape) else { return true };
        // If one is exact, the other must be the same or one that it extends.
        let x_is_y = self.program.is_subclass(x, y) && (!b.exact || x == y);
        let y_is_x = self.program.is_subclass(y, x) && (!a.exact || x == y);
        x_is_y || y_is_x
    }
}

/// Does it make an object.
pub fn is_new(op: Op) -> bool {
    matches!(op, Op::New(_) | Op::NewArray(_))
}

/// A value as another one plus a constant.
fn offset(region: &Region, locations: &Locations<'_>, value: Value) -> (Option<Value>, i64) {
    let node = region.node(value);
    match node.op {
        Op::Int(constant) => (None, constant),
        Op::Arith(Arith::Add) => match (region.int(node.args[0]), region.int(node.args[1])) {
            (_, Some(constant)) => (Some(locations.root(node.args[0])), constant),
            (Some(constant), _) => (Some(locations.root(node.args[1])), constant),
            _ => (Some(value), 0),
        },
        Op::Arith(Arith::Sub) => match region.int(node.args[1]) {
            Some(constant) => (Some(locations.root(node.args[0])), constant.wrapping_neg()),
            None => (Some(value), 0),
        },
        _ => (Some(value), 0),
    }
}

/// How much more the second number is than the first, if that is certain. Sums wrap, and so does this.
fn distance(region: &Region, locations: &Locations<'_>, a: Value, b: Value) -> Option<i64> {
    let ((base_a, a), (base_b, b)) = (offset(region, locations, a), offset(region, locations, b));
    (base_a == base_b).then(|| b.wrapping_sub(a))
}

/// What a node does to memory that others know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing, or to a location that it names.
    None,
    /// Anything.
    All,
}

/// What an operation does to memory other than writing the location that it names.
///
/// A yieldpoint does nothing: when other code ran in it, compiled code is left. Most natives compute or make objects.
pub fn effect(op: Op) -> Effect {
    match op {
        Op::Yieldpoint(_) => Effect::None,
        Op::CallNative(native) if leaves_memory(native) => Effect::None,
        _ if op.is_call() => Effect::All,
        _ => Effect::None,
    }
}

/// Does the native neither write memory that existed before nor let other code run. A list of those that do not, so that a
/// new one is assumed to do everything.
fn leaves_memory(native: Native) -> bool {
    use Native::*;
    matches!(
        native,
        Print
            | IntToString
            | IntToHex
            | FloatToString
            | CharToString
            | IntParse
            | FloatParse
            | Concat
            | StringEquals
            | StringCompare
            | StringHash
            | Substring
            | StringIndexOf
            | StringFromBytes
            | StringToBytes
            | ArrayCopy
            | Sin
            | Cos
            | Tan
            | Atan
            | Atan2
            | Exp
            | Log
            | Pow
            | FloatRem
            | Floor
            | Ceil
            | Round
            | FloatBits
            | FloatFromBits
            | ArgCount
            | Arg
            | NanoTime
            | Seed
            | ThreadCurrent
            | NextNumber
            | HeapUsed
    )
}
