//! Elements of all kinds: reading what is new, writing and reading back at both ends, lengths from none to large.

use super::Case;
use crate::common::lines;

/// Declares an array class of each kind of elements.
pub const CLASSES: &str = "class Array<Bool> array bool\nclass Array<Float> array float\nclass Array<String> array String\n\
                           class Array<String?> array String?\n";

pub(crate) fn cases() -> Vec<Case> {
    vec![bytes(), booleans(), integers(), floats(), references(), optional(), strings(), empty(), large()]
}

fn case(name: &str, registers: &str, body: &str, expected: String) -> Case {
    let text = format!("{CLASSES}\nfunction main() {{\nregisters {registers}\n{body}\nretu\n}}");
    Case::new(name, &text, expected)
}

fn bytes() -> Case {
    let mut body = String::from("ldi r1, 5\nnewarr r0, r1, Bytes\nlen r2, r0\ncall -, show(r2)\n");
    let mut expected = vec![5];
    let values = [0, 255, 256, -1, i64::MIN + 7];
    for (i, value) in values.into_iter().enumerate() {
        body +=
            &format!("ldi r1, {i}\ngetb r2, r0, r1\ncall -, show(r2)\nldi64 r2, {value}\nputb r2, r0, r1\n");
        expected.push(0);
    }
    for (i, value) in values.into_iter().enumerate() {
        body += &format!("ldi r1, {i}\ngetb r2, r0, r1\ncall -, show(r2)\n");
        expected.push(value & 255);
    }
    body += "ldi r1, 1\nunset r0, r1\ngetb r2, r0, r1\ncall -, show(r2)\nldi r1, 3\ngetb r2, r0, r1\ncall -, show(r2)\n";
    expected.extend([0, 255]);
    case("bytes", "r0: Bytes, r1..r2: int", &body, lines(expected))
}

fn booleans() -> Case {
    let body = "ldi r1, 3\nnewarr r0, r1, Array<Bool>\nldi r1, 1\nldb r2, true\nputb r2, r0, r1\nldi r1, 0\n\
                L1:\ngetb r2, r0, r1\ncall -, showBool(r2)\nforlti r1, 3, L1\n\
                ldi r1, 1\nunset r0, r1\ngetb r2, r0, r1\ncall -, showBool(r2)";
    case("array of Booleans", "r0: Array<Bool>, r1: int, r2: bool", body, lines([0, 1, 0, 0]))
}

fn integers() -> Case {
    let body = "ldi r1, 3\nnewarr r0, r1, Array<Int>\nldi r1, 2\nldi64 r2, -9223372036854775808\nputw r2, r0, r1\n\
                ldi r1, 0\naddi r2, r2, -1\nputw r2, r0, r1\n\
                L1:\ngetw r2, r0, r1\ncall -, show(r2)\nforlti r1, 3, L1\n\
                ldi r1, 2\nunset r0, r1\ngetw r2, r0, r1\ncall -, show(r2)";
    case("array of integers", "r0: Array<Int>, r1..r2: int", body, lines([i64::MAX, 0, i64::MIN, 0]))
}

fn floats() -> Case {
    let body = "ldi r1, 2\nnewarr r0, r1, Array<Float>\nldi r1, 1\nldf r2, -inf\nputw r2, r0, r1\nldi r1, 0\n\
                L1:\ngetw r2, r0, r1\ncall -, showFloat(r2)\nforlti r1, 2, L1\n\
                ldi r1, 1\nunset r0, r1\ngetw r2, r0, r1\ncall -, showFloat(r2)";
    let expected = lines([0, f64::NEG_INFINITY.to_bits() as i64, 0]);
    case("array of doubles", "r0: Array<Float>, r1: int, r2: float", body, expected)
}

/// Stores into an array that is old, and that a young object replaces.
fn references() -> Case {
    let body = "ldi r1, 2\nnewarr r0, r1, Array<String>\ncalln -, collectGarbage()\n\
                ldi r1, 0\ncalln r2, intToString(r1)\npute r2, r0, r1\nldi r1, 1\ncalln r2, intToString(r1)\n\
                pute r2, r0, r1\nldstr r2, \"\"\ncalln -, collectGarbage()\nldi r1, 0\n\
                L1:\ngete r2, r0, r1\ncall -, showText(r2)\nforlti r1, 2, L1";
    case("array of references", "r0: Array<String>, r1: int, r2: String", body, lines([0, 1]))
}

fn optional() -> Case {
    let body = "ldi r1, 2\nnewarr r0, r1, Array<String?>\nldi r1, 1\nldstr r4, \"x\"\npute r4, r0, r1\nldi r1, 0\n\
                L1:\ngetw r2, r0, r1\nsetnull r3, r2\ncall -, showBool(r3)\nforlti r1, 2, L1\n\
                ldi r1, 1\nunset r0, r1\ngetw r2, r0, r1\nsetnull r3, r2\ncall -, showBool(r3)\n\
                ldnull r2\npute r2, r0, r1\ngetw r2, r0, r1\nsetnonnull r3, r2\ncall -, showBool(r3)";
    let registers = "r0: Array<String?>, r1: int, r2: String?, r3: bool, r4: String";
    case("array of optional references", registers, body, lines([1, 0, 1, 0]))
}

fn strings() -> Case {
    let body = "ldstr r0, \"aé\"\nlen r1, r0\ncall -, show(r1)\nldi r1, 0\n\
                L1:\ngetb r2, r0, r1\ncall -, show(r2)\nforlti r1, 3, L1";
    case("bytes of a string", "r0: String, r1..r2: int", body, lines([3, 0x61, 0xc3, 0xa9]))
}

fn empty() -> Case {
    let make = |class: &str, register: &str| {
        format!("newarr {register}, r0, {class}\nlen r1, {register}\ncall -, show(r1)\n")
    };
    let body = String::from("ldi r0, 0\n")
        + &make("Bytes", "r2")
        + &make("Array<Int>", "r3")
        + &make("Array<String>", "r4")
        + "ldstr r5, \"\"\nlen r1, r5\ncall -, show(r1)\n";
    let registers = "r0..r1: int, r2: Bytes, r3: Array<Int>, r4: Array<String>, r5: String";
    case("empty arrays", registers, &body, lines([0; 4]))
}

/// Arrays in blocks of their own; the one with references has cards.
fn large() -> Case {
    let body = "ldi r1, 100000\nnewarr r0, r1, Array<String?>\nnewarr r2, r1, Bytes\nldi r3, 0\ncalln -, collectGarbage()\n\
                L1:\ncalln r4, intToString(r3)\npute r4, r0, r3\nputb r3, r2, r3\naddi r3, r3, 997\nlooplt r3, r1, L1\n\
                calln -, collectGarbage()\nldi r3, 0\nldi r5, 0\n\
                L2:\ngetw r4, r0, r3\nbrnull r4, L3\nnonnull r6, r4\nlen r7, r6\nadd r5, r5, r7\ngetb r7, r2, r3\nadd r5, r5, r7\n\
                L3:\nforlt r3, r1, L2\ncall -, show(r5)";
    let registers =
        "r0: Array<String?>, r1: int, r2: Bytes, r3: int, r4: String?, r5: int, r6: String, r7: int";
    let sum: usize = (0..100_000).step_by(997).map(|i| i.to_string().len() + (i & 255)).sum();
    case("large arrays", registers, body, lines([sum]))
}
