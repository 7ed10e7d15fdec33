//! Programs without any sense, to find what the text form forgets and where the verifier panics.

use super::Rng;
use holloway_bytecode::code::{encode, length};
use holloway_bytecode::*;
use rand::RngExt;

/// Names of all kinds: plain, repeated, quoted, misleading.
const NAMES: [&str; 22] = [
    "a",
    "b",
    "Point",
    "Point.x",
    "List<Int>",
    "Map<String, Int?>",
    "fn(Int) -> Int",
    "",
    "int",
    "class",
    "any",
    "r3",
    "L1",
    "é",
    "a b",
    "#3",
    "\"",
    "\n}\n",
    "abstract",
    "x;y",
    "\u{202e}",
    "a#1",
];

fn name(rng: &mut Rng) -> Box<str> {
    NAMES[rng.random_range(0..NAMES.len())].into()
}

/// An id that is usually in range.
fn id(rng: &mut Rng) -> u32 {
    if rng.random_bool(0.02) { rng.random() } else { rng.random_range(0..8) }
}

fn many<T>(rng: &mut Rng, most: usize, mut item: impl FnMut(&mut Rng) -> T) -> Vec<T> {
    (0..rng.random_range(0..=most)).map(|_| item(rng)).collect()
}

fn ty(rng: &mut Rng) -> Type {
    match rng.random_range(0..7) {
        0 | 1 => Type::Int,
        2 => Type::Float,
        3 => Type::Bool,
        _ => Type::Ref(ref_type(rng)),
    }
}

fn ref_type(rng: &mut Rng) -> RefType {
    let shape = match rng.random_range(0..5) {
        0 => Shape::Any,
        1 => Shape::Interface(InterfaceId(id(rng))),
        _ => Shape::Class(ClassId(id(rng))),
    };
    RefType { shape, nullable: rng.random() }
}

fn signature(rng: &mut Rng) -> Signature {
    Signature { params: many(rng, 3, ty), result: rng.random_bool(0.5).then(|| ty(rng)) }
}

fn class(rng: &mut Rng) -> Class {
    let layout = match rng.random_range(0..8) {
        0 => Layout::String,
        1 => Layout::Array(Element::Byte),
        2 => Layout::Array(Element::Bool),
        3 => Layout::Array(Element::Float),
        4 => Layout::Array(Element::Ref(ref_type(rng))),
        _ => Layout::Object(many(rng, 4, |rng| Field { name: name(rng), ty: ty(rng) })),
    };
    Class {
        name: name(rng),
        layout,
        superclass: rng.random_bool(0.4).then(|| ClassId(id(rng))),
        is_abstract: rng.random_bool(0.2),
        methods: many(rng, 3, |rng| VirtualMethod {
            name: name(rng),
            signature: signature(rng),
            function: rng.random_bool(0.8).then(|| FunctionId(id(rng))),
        }),
        interfaces: many(rng, 2, |rng| Implementation {
            interface: InterfaceId(id(rng)),
            slots: many(rng, 3, id),
        }),
    }
}

/// An instruction with random operands; now and then some other words.
pub fn words(rng: &mut Rng) -> Vec<u64> {
    if rng.random_bool(0.03) {
        return many(rng, 7, |rng| rng.random());
    }
    let op = Op::ALL[rng.random_range(0..Op::ALL.len())];
    let n = if op.shape() == ops::OpShape::Call { rng.random_range(0..6) } else { 0 };
    let small = |rng: &mut Rng| if rng.random_bool(0.03) { rng.random() } else { rng.random_range(0..9_u16) };
    let used = |place| {
        op.operands().iter().any(|o| {
            o.place == place || matches!(place, ops::Place::B | ops::Place::C) && o.place == ops::Place::BC
        })
    };
    let field = |place, rng: &mut Rng| if used(place) || rng.random_bool(0.01) { small(rng) } else { 0 };
    let (a, b, mut c) = (field(ops::Place::A, rng), field(ops::Place::B, rng), field(ops::Place::C, rng));
    if op.operands().iter().any(|o| o.place == ops::Place::BC) && rng.random_bool(0.9) {
        c = 0;
    }
    let first = encode(op, n, a, b, c);
    let mut words = vec![first];
    let count = length(first).expect("an opcode").min(40);
    while words.len() < count {
        words.push(match rng.random_range(0..8) {
            0 => rng.random(),
            1 => rng.random_range(0..8),
            2 => f64::NAN.to_bits() | 5,
            _ => 0,
        });
    }
    if op.shape() == ops::OpShape::Call && n > 0 {
        let used = n as usize;
        let last = words.len() - 1;
        words[2..].iter_mut().for_each(|w| *w &= 0x0007_0007_0007_0007);
        if !used.is_multiple_of(4) {
            words[last] &= u64::MAX >> (64 - used % 4 * 16);
        }
    }
    words
}

fn function(rng: &mut Rng) -> Function {
    let mut code: Vec<u64> = many(rng, 12, words).concat();
    if rng.random_bool(0.1) {
        code.truncate(rng.random_range(0..=code.len()));
    }
    let end = code.len() as u32 + 2;
    let mut positions = many(rng, 4, |rng| PositionEntry {
        pc: rng.random_range(0..end),
        position: Position { file: id(rng), line: id(rng), column: id(rng) },
    });
    if rng.random_bool(0.5) {
        positions.sort_by_key(|p| p.pc);
    }
    let registers = many(rng, 9, ty);
    let params = if rng.random_bool(0.1) { 9 } else { rng.random_range(0..=registers.len()) as u16 };
    Function {
        name: name(rng),
        params,
        registers,
        result: rng.random_bool(0.5).then(|| ty(rng)),
        handlers: many(rng, 2, |rng| Handler {
            start: rng.random_range(0..end),
            end: rng.random_range(0..end),
            target: rng.random_range(0..end),
            class: ClassId(id(rng)),
            register: Register(id(rng) as u16),
        }),
        code,
        positions,
    }
}

/// A program in which nothing fits anything.
pub fn program(rng: &mut Rng) -> Program {
    let mut classes = if rng.random() { Program::built_in_classes() } else { Vec::new() };
    classes.extend(many(rng, 5, class));
    Program {
        files: many(rng, 3, name),
        strings: many(rng, 6, |rng| match rng.random_range(0..4) {
            0 => (0..rng.random_range(0..80)).map(|_| rng.random::<char>()).collect::<String>().into(),
            _ => name(rng),
        }),
        classes,
        interfaces: many(rng, 4, |rng| Interface {
            name: name(rng),
            extends: many(rng, 2, |rng| InterfaceId(id(rng))),
            methods: many(rng, 3, |rng| InterfaceMethod { name: name(rng), signature: signature(rng) }),
        }),
        globals: many(rng, 3, |rng| Global { name: name(rng), ty: ty(rng) }),
        functions: many(rng, 5, function),
        entry: rng.random_bool(0.5).then(|| FunctionId(id(rng))),
        error_root: rng.random_bool(0.5).then(|| ClassId(id(rng))),
        error_classes: many(rng, 9, |rng| ClassId(id(rng))),
    }
}
