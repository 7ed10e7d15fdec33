//! The program that random regions are about: a few classes, arrays, globals, something to call, and a function whose
//! registers and instructions are there only to be named by frame states.

use holloway_bytecode::text::{PRELUDE, assemble};
use holloway_bytecode::{ClassId, FunctionId, GlobalId, Program, Register};
use holloway_jit::hierarchy::Hierarchy;
use holloway_jit::ir::{Ty, Value};
use std::fmt::Write;

/// How many values and places a random region can have.
pub const MOST: usize = 700;

/// The program, and the numbers of what it has.
pub struct World {
    pub program: Program,
    pub hierarchy: Hierarchy,
    pub ints: ClassId,
    pub bytes: ClassId,
    pub points: ClassId,
    pub shape: ClassId,
    pub circle: ClassId,
    pub disk: ClassId,
    pub square: ClassId,
    pub point: ClassId,
    pub counter: GlobalId,
    pub origin: GlobalId,
    /// `(int, Point?) -> int`: may change whatever others know.
    pub other: FunctionId,
    /// `() -> Point?`: gives one of the points that others know.
    pub some: FunctionId,
    /// The function of random regions.
    pub subject: FunctionId,
}

/// What random regions are given.
pub const ARGUMENTS: &str = "r0: int, r1: int, r2: int, r3: bool, r4: Point?, r5: Point, r6: Shape?, r7: Array<Int>, \
                             r8: Array<Int>?, r9: Array<Point>, r10: Bytes, r11: float";
/// How many these are.
pub const ARGUMENT_COUNT: u16 = 12;

const CLASSES: &str = "
class Array<Point> array Point?
class Shape {
    field a: int
}
class Circle : Shape {
    field a: int
    field b: int
}
class Disk : Circle {
    field a: int
    field b: int
}
class Square : Shape {
    field a: int
    field c: int
}
class Point {
    field x: int
    field y: int
    field next: Point?
}
global counter: int
global origin: Point?
function other(r0: int, r1: Point?) -> int {
    ret r0
}
function some() -> Point? {
    registers r0: Point?
    ldnull r0
    ret r0
}
";

impl World {
    pub fn new() -> World {
        let mut text = format!("{PRELUDE}{CLASSES}function subject({ARGUMENTS}) -> int {{\n    registers ");
        // For each value a register of each kind.
        for (kind, name) in ["int", "float", "bool", "any?"].iter().enumerate() {
            for value in 0..MOST {
                let comma = if kind + value == 0 { "" } else { ", " };
                let _ = write!(text, "{comma}r{}: {name}", ARGUMENT_COUNT as usize + kind * MOST + value);
            }
        }
        text.push('\n');
        for _ in 0..MOST {
            text.push_str("    add r0, r0, r0\n");
        }
        text.push_str("    ret r0\n}\n");
        let program = assemble(&text).unwrap_or_else(|errors| panic!("{}", errors[0].to_string()));
        let class =
            |name: &str| ClassId(program.classes.iter().position(|c| &*c.name == name).expect(name) as u32);
        let global =
            |name: &str| GlobalId(program.globals.iter().position(|g| &*g.name == name).expect(name) as u32);
        let function = |name: &str| {
            FunctionId(program.functions.iter().position(|f| &*f.name == name).expect(name) as u32)
        };
        World {
            hierarchy: Hierarchy::of(&program),
            ints: class("Array<Int>"),
            bytes: ClassId::BYTES,
            points: class("Array<Point>"),
            shape: class("Shape"),
            circle: class("Circle"),
            disk: class("Disk"),
            square: class("Square"),
            point: class("Point"),
            counter: global("counter"),
            origin: global("origin"),
            other: function("other"),
            some: function("some"),
            subject: function("subject"),
            program,
        }
    }

    /// The register in which frame states hold a value.
    pub fn register(&self, value: Value, ty: Ty) -> Register {
        let kind = match ty {
            Ty::Int => 0,
            Ty::Float => 1,
            Ty::Bool => 2,
            Ty::Ref(_) | Ty::None => 3,
        };
        Register(ARGUMENT_COUNT + (kind * MOST + value.index()) as u16)
    }

    /// The value that a register of a frame state held in the region as it was generated.
    pub fn value_in(&self, register: Register) -> Value {
        Value(((register.0 - ARGUMENT_COUNT) as usize % MOST) as u32)
    }
}
