//! Integers, doubles, Booleans, moves and constants, against the same operation in Rust on edge and random operands.

use super::Case;
use crate::common::{Random, lines};

/// Integers at which something changes.
pub const INTEGERS: [i64; 18] = [
    0,
    1,
    -1,
    2,
    -3,
    10,
    63,
    64,
    65,
    -64,
    u32::MAX as i64,
    1 << 32,
    i32::MIN as i64,
    1 << 62,
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
    i64::MIN + 1,
];

/// Constants of 16 bits at which something changes.
pub const SMALL: [i16; 11] = [0, 1, -1, 2, -7, 63, 64, 65, -64, i16::MAX, i16::MIN];

/// Doubles at which something changes.
pub const FLOATS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    -2.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    5e-324,
    f64::MAX,
    9007199254740993.0,
    9.3e18,
    -9.3e18,
    1e-300,
];

/// Texts that differ at all places that a comparison by words of eight bytes could overlook.
pub const TEXTS: [Option<&str>; 11] = [
    None,
    Some(""),
    Some("a"),
    Some("b"),
    Some("abcdefg"),
    Some("abcdefgh"),
    Some("abcdefghi"),
    Some("abcdefghj"),
    Some("bbcdefghi"),
    Some("abcdefghijklmnop"),
    Some("abcdefghijklmnoq"),
];

/// Edges with each other, then random ones.
pub fn integer_pairs() -> Vec<(i64, i64)> {
    let mut pairs: Vec<(i64, i64)> =
        INTEGERS.iter().flat_map(|&x| INTEGERS.iter().map(move |&y| (x, y))).collect();
    let mut random = Random(1);
    pairs.extend((0..40).map(|i| (random.next() as i64 >> (i % 60), random.next() as i64 >> (i * 7 % 63))));
    pairs
}

/// Each edge with each.
pub fn float_pairs() -> Vec<(f64, f64)> {
    FLOATS.iter().flat_map(|&x| FLOATS.iter().map(move |&y| (x, y))).collect()
}

/// A double as the assembler reads it.
pub fn literal(x: f64) -> String {
    if x.is_nan() { "nan".into() } else { format!("{x:?}") }
}

/// The bits that a program sees.
fn bits(x: f64) -> i64 {
    (if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() }) as i64
}

fn integer_case(op: &str, twin: impl Fn(i64, i64) -> Option<i64>) -> Case {
    let mut body = String::new();
    let mut expected = Vec::new();
    for (x, y) in integer_pairs() {
        if let Some(result) = twin(x, y) {
            body += &format!("ldi64 r0, {x}\nldi64 r1, {y}\n{op} r2, r0, r1\ncall -, show(r2)\n");
            expected.push(result);
        }
    }
    // Operands and result may be the same register.
    body += &format!("ldi r0, 7\n{op} r0, r0, r0\ncall -, show(r0)\n");
    expected.extend(twin(7, 7));
    Case::main(op, "r0..r2: int", &body, lines(expected))
}

fn immediate_case(op: &str, twin: impl Fn(i64, i64) -> Option<i64>) -> Case {
    let mut body = String::new();
    let mut expected = Vec::new();
    for x in INTEGERS {
        for y in SMALL {
            if let Some(result) = twin(x, y as i64) {
                body += &format!("ldi64 r0, {x}\n{op} r1, r0, {y}\ncall -, show(r1)\n");
                expected.push(result);
            }
        }
    }
    Case::main(op, "r0..r1: int", &body, lines(expected))
}

fn float_case(op: &str, twin: impl Fn(f64, f64) -> f64) -> Case {
    let mut body = String::new();
    for (x, y) in float_pairs() {
        let (x, y) = (literal(x), literal(y));
        body += &format!("ldf r0, {x}\nldf r1, {y}\n{op} r2, r0, r1\ncall -, showFloat(r2)\n");
    }
    Case::main(op, "r0..r2: float", &body, lines(float_pairs().into_iter().map(|(x, y)| bits(twin(x, y)))))
}

/// Two operations in one, which must round twice.
fn fused_case(op: &str, twin: fn(f64, f64, f64) -> f64) -> Case {
    let mut random = Random(3);
    let mut triples: Vec<[f64; 3]> =
        float_pairs().into_iter().map(|(x, y)| [x, y, FLOATS[random.below(FLOATS.len())]]).collect();
    triples.extend((0..60).map(|_| [(); 3].map(|()| random.next() as i64 as f64 / 3e15)));
    let mut body = String::new();
    for [x, y, z] in triples.iter().map(|triple| triple.map(literal)) {
        body += &format!(
            "ldf r0, {x}\nldf r1, {y}\nldf r255, {z}\n{op} r2, r0, r1, r255\ncall -, showFloat(r2)\n"
        );
    }
    Case::main(op, "r0..r255: float", &body, lines(triples.into_iter().map(|[x, y, z]| bits(twin(x, y, z)))))
}

fn float_unary(op: &str, twin: impl Fn(f64) -> f64) -> Case {
    let step = |x| format!("ldf r0, {}\n{op} r1, r0\ncall -, showFloat(r1)\n", literal(x));
    let body: String = FLOATS.into_iter().map(step).collect();
    Case::main(op, "r0..r1: float", &body, lines(FLOATS.map(|x| bits(twin(x)))))
}

fn compare_integers(op: &str, twin: impl Fn(i64, i64) -> bool) -> Case {
    let step = |(x, y)| format!("ldi64 r0, {x}\nldi64 r1, {y}\n{op} r2, r0, r1\ncall -, showBool(r2)\n");
    let body: String = integer_pairs().into_iter().map(step).collect();
    let expected = lines(integer_pairs().into_iter().map(|(x, y)| twin(x, y) as u8));
    Case::main(op, "r0..r1: int, r2: bool", &body, expected)
}

fn compare_floats(op: &str, twin: impl Fn(f64, f64) -> bool) -> Case {
    let step = |(x, y)| {
        format!("ldf r0, {}\nldf r1, {}\n{op} r2, r0, r1\ncall -, showBool(r2)\n", literal(x), literal(y))
    };
    let body: String = float_pairs().into_iter().map(step).collect();
    let expected = lines(float_pairs().into_iter().map(|(x, y)| twin(x, y) as u8));
    Case::main(op, "r0..r1: float, r2: bool", &body, expected)
}

fn shift(op: fn(i64, u32) -> i64) -> impl Fn(i64, i64) -> Option<i64> {
    move |x, y| Some(op(x, y.rem_euclid(64) as u32))
}

pub(crate) fn cases() -> Vec<Case> {
    let nonzero = |op: fn(i64, i64) -> i64| move |x, y| (y != 0).then(|| op(x, y));
    let total = |op: fn(i64, i64) -> i64| move |x, y| Some(op(x, y));
    let logical: fn(i64, u32) -> i64 = |x, y| (x as u64 >> y) as i64;
    let mut cases = vec![
        integer_case("add", total(i64::wrapping_add)),
        integer_case("sub", total(i64::wrapping_sub)),
        integer_case("mul", total(i64::wrapping_mul)),
        integer_case("div", nonzero(i64::wrapping_div)),
        integer_case("rem", nonzero(i64::wrapping_rem)),
        integer_case("and", total(|x, y| x & y)),
        integer_case("or", total(|x, y| x | y)),
        integer_case("xor", total(|x, y| x ^ y)),
        integer_case("shl", shift(|x, y| x << y)),
        integer_case("shr", shift(|x, y| x >> y)),
        integer_case("ushr", shift(logical)),
        immediate_case("addi", total(i64::wrapping_add)),
        immediate_case("rsubi", total(|x, y| y.wrapping_sub(x))),
        immediate_case("muli", total(i64::wrapping_mul)),
        immediate_case("divi", nonzero(i64::wrapping_div)),
        immediate_case("remi", nonzero(i64::wrapping_rem)),
        immediate_case("andi", total(|x, y| x & y)),
        immediate_case("ori", total(|x, y| x | y)),
        immediate_case("xori", total(|x, y| x ^ y)),
        immediate_case("shli", shift(|x, y| x << y)),
        immediate_case("shri", shift(|x, y| x >> y)),
        immediate_case("ushri", shift(logical)),
        float_case("fadd", |x, y| x + y),
        float_case("fsub", |x, y| x - y),
        float_case("fmul", |x, y| x * y),
        float_case("fdiv", |x, y| x / y),
        fused_case("faddadd", |x, y, z| (x + y) + z),
        fused_case("faddsub", |x, y, z| (x + y) - z),
        fused_case("faddmul", |x, y, z| (x + y) * z),
        fused_case("fsubadd", |x, y, z| (x - y) + z),
        fused_case("fsubsub", |x, y, z| (x - y) - z),
        fused_case("fsubmul", |x, y, z| (x - y) * z),
        fused_case("fmuladd", |x, y, z| (x * y) + z),
        fused_case("fmulsub", |x, y, z| (x * y) - z),
        fused_case("fmulmul", |x, y, z| (x * y) * z),
        fused_case("fmulrsub", |x, y, z| z - (x * y)),
        float_unary("fneg", |x| -x),
        float_unary("fabs", f64::abs),
        float_unary("fsqrt", f64::sqrt),
        compare_integers("seteq", |x, y| x == y),
        compare_integers("setne", |x, y| x != y),
        compare_integers("setlt", |x, y| x < y),
        compare_integers("setle", |x, y| x <= y),
        compare_floats("fseteq", |x, y| x == y),
        compare_floats("fsetne", |x, y| x != y),
        compare_floats("fsetlt", |x, y| x < y),
        compare_floats("fsetle", |x, y| x <= y),
    ];
    cases.extend([conversions(), booleans(), moves_and_constants(), references(), texts()]);
    cases
}

fn conversions() -> Case {
    let mut body = String::new();
    let mut expected = Vec::new();
    for (x, y) in integer_pairs().into_iter().take(INTEGERS.len() * 2) {
        let x = x ^ y;
        body += &format!("ldi64 r0, {x}\nitof r2, r0\ncall -, showFloat(r2)\n");
        expected.push(bits(x as f64));
    }
    for x in FLOATS.into_iter().chain([9223372036854775807.0, -9223372036854775808.0, 1.9, -1.9]) {
        body += &format!("ldf r2, {}\nftoi r0, r2\ncall -, show(r0)\n", literal(x));
        expected.push(x as i64);
    }
    Case::main("conversions", "r0..r1: int, r2: float", &body, lines(expected))
}

fn booleans() -> Case {
    let mut body = String::new();
    let mut expected = Vec::new();
    for x in [false, true] {
        body += &format!("ldb r0, {x}\nnot r2, r0\ncall -, showBool(r2)\n");
        expected.push(!x);
        for y in [false, true] {
            body += &format!("ldb r0, {x}\nldb r1, {y}\n");
            body += "seteq r2, r0, r1\ncall -, showBool(r2)\nsetne r2, r0, r1\ncall -, showBool(r2)\n";
            expected.extend([x == y, x != y]);
        }
    }
    Case::main("Booleans", "r0..r2: bool", &body, lines(expected.into_iter().map(u8::from)))
}

fn moves_and_constants() -> Case {
    let mut body = String::new();
    let mut expected = Vec::new();
    for x in [0, 1, -1, i32::MAX, i32::MIN] {
        body += &format!("ldi r0, {x}\nmov r1, r0\ncall -, show(r1)\n");
        expected.push(x.to_string());
    }
    body += "ldf r2, -1.5\nmov r3, r2\ncall -, showFloat(r3)\nldstr r4, \"αβγ\"\nmov r5, r4\ncall -, showText(r5)\n";
    expected.extend([bits(-1.5).to_string(), "αβγ".into()]);
    Case::main("mov", "r0..r1: int, r2..r3: float, r4..r5: String", &body, lines(expected))
}

fn references() -> Case {
    let mut body = String::from("ldstr r0, \"a\"\nldstr r1, \"b\"\nldnull r2\nldstr r3, \"a\"\n");
    let mut expected = Vec::new();
    // The text form shares equal constants, so r0 and r3 are one object.
    let objects = [0, 1, 2, 0];
    for (x, a) in objects.into_iter().enumerate() {
        for (y, b) in objects.into_iter().enumerate() {
            body += &format!("rseteq r4, r{x}, r{y}\ncall -, showBool(r4)\n");
            body += &format!("rsetne r4, r{x}, r{y}\ncall -, showBool(r4)\n");
            expected.extend([a == b, a != b]);
        }
        body +=
            &format!("setnull r4, r{x}\ncall -, showBool(r4)\nsetnonnull r4, r{x}\ncall -, showBool(r4)\n");
        expected.extend([a == 2, a != 2]);
    }
    let expected = lines(expected.into_iter().map(u8::from));
    Case::main("references", "r0..r1: String, r2: String?, r3: String, r4: bool", &body, expected)
}

/// The second of each pair is made when the program runs.
fn texts() -> Case {
    let mut body = String::new();
    let mut expected = Vec::new();
    for x in TEXTS {
        body += &x.map_or("ldnull r0\n".into(), |x| format!("ldstr r2, \"{x}\"\nmov r0, r2\n"));
        for y in TEXTS {
            body += &y.map_or("ldnull r1\n".into(), |y| format!("ldstr r2, \"{y}\"\ncalln r1, concat(r2)\n"));
            body += "sseteq r3, r0, r1\ncall -, showBool(r3)\nssetne r3, r0, r1\ncall -, showBool(r3)\n";
            expected.extend([x == y, x != y]);
        }
    }
    let expected = lines(expected.into_iter().map(u8::from));
    Case::main("texts", "r0..r1: String?, r2: String, r3: bool", &body, expected)
}
