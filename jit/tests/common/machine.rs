//! Objects, calls, and what other threads do.

use super::world::World;
use holloway_bytecode::{ClassId, Type};
use holloway_jit::ir::{RefTy, Ty};

/// A value at run time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Datum {
    Int(i64),
    /// Its bits.
    Float(u64),
    Bool(bool),
    Ref(Option<usize>),
}

/// An object: of which class, and what is in it.
#[derive(Clone, Debug)]
pub struct Object {
    pub class: ClassId,
    pub parts: Vec<Datum>,
}

/// When compiled code is left for reasons of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events {
    /// In which yieldpoint another thread runs.
    pub switch: Option<u64>,
    /// After which call the code is no longer valid.
    pub invalid: Option<u64>,
    /// Which allocation finds no memory.
    pub full: Option<u64>,
}

/// Everything that changes.
#[derive(Clone)]
pub struct Machine<'a> {
    pub world: &'a World,
    pub objects: Vec<Object>,
    pub globals: Vec<Datum>,
    /// What others know besides globals.
    pub known: Vec<Datum>,
    /// What calls were given.
    pub log: Vec<String>,
    pub yieldpoints: u64,
    pub calls: u64,
    pub allocations: u64,
    pub steps: u64,
    pub events: Events,
}

impl<'a> Machine<'a> {
    pub fn new(world: &'a World) -> Machine<'a> {
        let globals = world.program.globals.iter().map(|global| zero(global.ty)).collect();
        Machine {
            world,
            objects: Vec::new(),
            globals,
            known: Vec::new(),
            log: Vec::new(),
            yieldpoints: 0,
            calls: 0,
            allocations: 0,
            steps: 0,
            events: Events::default(),
        }
    }

    /// A new object with zero fields.
    pub fn new_object(&mut self, class: ClassId) -> Datum {
        let fields = self.world.program.classes[class.index()].fields();
        self.objects.push(Object { class, parts: fields.iter().map(|field| zero(field.ty)).collect() });
        Datum::Ref(Some(self.objects.len() - 1))
    }

    /// A new array of zeros.
    pub fn new_array(&mut self, class: ClassId, length: usize) -> Datum {
        let element = self.world.program.classes[class.index()].element().expect("an array class");
        self.objects.push(Object { class, parts: vec![zero(element.value_type()); length] });
        Datum::Ref(Some(self.objects.len() - 1))
    }

    /// Is the object of a type.
    pub fn is_of(&self, datum: Datum, ty: RefTy) -> bool {
        match datum {
            Datum::Ref(None) => ty.nullable,
            Datum::Ref(Some(object)) => {
                let class = self.objects[object].class;
                let has =
                    RefTy { shape: holloway_bytecode::Shape::Class(class), nullable: false, exact: true };
                has.fits(RefTy { nullable: true, ..ty }, &self.world.program)
            }
            _ => false,
        }
    }

    /// Is a datum of a node's type.
    pub fn fits(&self, datum: Datum, ty: Ty) -> bool {
        match (datum, ty) {
            (Datum::Int(_), Ty::Int) | (Datum::Float(_), Ty::Float) | (Datum::Bool(_), Ty::Bool) => true,
            (Datum::Ref(_), Ty::Ref(ty)) => self.is_of(datum, ty),
            _ => false,
        }
    }

    /// The objects that others can reach.
    fn reachable(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut work: Vec<Datum> = self.globals.iter().chain(&self.known).rev().copied().collect();
        while let Some(datum) = work.pop() {
            let Datum::Ref(Some(object)) = datum else { continue };
            if !found.contains(&object) {
                found.push(object);
                work.extend(self.objects[object].parts.iter().rev());
            }
        }
        found
    }

    /// Others change what they know.
    pub fn disturb(&mut self, salt: u64) {
        let reachable = self.reachable();
        let points: Vec<usize> = reachable
            .iter()
            .copied()
            .filter(|&object| self.objects[object].class == self.world.point)
            .collect();
        for (number, &object) in reachable.iter().enumerate() {
            let is_bytes = self.objects[object].class == self.world.bytes;
            for (place, part) in self.objects[object].parts.iter_mut().enumerate() {
                let mix = salt.wrapping_mul(31).wrapping_add((number * 7 + place * 13) as u64);
                match part {
                    Datum::Int(value) if is_bytes => *value = (*value + mix as i64) & 255,
                    Datum::Int(value) => *value = value.wrapping_add((mix % 5) as i64),
                    Datum::Ref(value) if mix.is_multiple_of(3) && !points.is_empty() => {
                        *value = Some(points[mix as usize % points.len()]);
                    }
                    _ => {}
                }
            }
        }
        if let Datum::Int(value) = &mut self.globals[self.world.counter.index()] {
            *value = value.wrapping_add(1);
        }
    }

    /// A call of one of the two functions.
    pub fn call(&mut self, function: holloway_bytecode::FunctionId, args: &[Datum]) -> Datum {
        self.calls += 1;
        let shown = args.iter().map(|arg| match arg {
            Datum::Ref(object) => object.is_some().to_string(),
            other => format!("{other:?}"),
        });
        self.log.push(shown.collect::<Vec<_>>().join(","));
        self.known.extend(args.iter().filter(|arg| matches!(arg, Datum::Ref(_))));
        self.disturb(self.calls);
        if function == self.world.some {
            let reachable = self.reachable();
            let is_point = |&object: &usize| self.objects[object].class == self.world.point;
            let points: Vec<usize> = reachable.into_iter().filter(is_point).collect();
            let choice = (self.calls as usize * 5) % (points.len() + 1);
            return Datum::Ref(points.get(choice).copied());
        }
        Datum::Int((self.calls as i64 * 3) % 7)
    }

    /// What can be seen in the end: all that is reachable from outside and from the result, in an order that does not depend on the
    /// numbers of objects.
    pub fn dump(&self, result: &[Datum]) -> String {
        let mut order: Vec<usize> = Vec::new();
        let show = |datum: Datum, order: &mut Vec<usize>| match datum {
            Datum::Ref(Some(object)) => {
                let number = order.iter().position(|&known| known == object).unwrap_or_else(|| {
                    order.push(object);
                    order.len() - 1
                });
                format!(" #{number}")
            }
            other => format!(" {other:?}"),
        };
        let mut text = String::new();
        for &datum in self.globals.iter().chain(&self.known).chain(result) {
            text.push_str(&show(datum, &mut order));
        }
        let mut next = 0;
        while let Some(&object) = order.get(next) {
            text.push_str(&format!("\n#{next} of class {}:", self.objects[object].class.0));
            for &part in &self.objects[object].parts {
                text.push_str(&show(part, &mut order));
            }
            next += 1;
        }
        text
    }
}

/// What a new field of the type holds.
pub fn zero(ty: Type) -> Datum {
    match ty {
        Type::Int => Datum::Int(0),
        Type::Float => Datum::Float(0),
        Type::Bool => Datum::Bool(false),
        Type::Ref(_) => Datum::Ref(None),
    }
}
