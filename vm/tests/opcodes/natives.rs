//! Each function of the system, called with edge values. Threads have tests of their own.

use super::Case;
use crate::common::lines;

pub(crate) fn cases() -> Vec<Case> {
    vec![numbers(), text_of_numbers(), parsing(), strings(), arrays(), system(), threads()]
}

/// Floats in, floats out, shown as text.
fn numbers() -> Case {
    use std::f64::consts::PI;
    type Function = (&'static str, fn(f64) -> f64);
    type OfTwo = (&'static str, fn(f64, f64) -> f64);
    let functions: [Function; 10] = [
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("atan", f64::atan),
        ("exp", f64::exp),
        ("log", f64::ln),
        ("floor", f64::floor),
        ("ceil", f64::ceil),
        ("round", f64::round),
        ("floatFromBits", |x| f64::from_bits(x.to_bits())),
    ];
    let pairs: [OfTwo; 3] = [("atan2", f64::atan2), ("pow", f64::powf), ("floatRem", |x, y| x % y)];
    let values = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, PI, 1e300, -1e17, f64::INFINITY, f64::NAN];
    let mut body = String::new();
    let mut expected = Vec::new();
    for x in values {
        let load = format!("ldf r0, {}\ncalln r3, floatBits(r0)\n", super::arithmetic::literal(x));
        body += &load;
        for (name, function) in functions {
            let argument = if name == "floatFromBits" { "r3" } else { "r0" };
            body +=
                &format!("calln r2, {name}({argument})\ncalln r4, floatToString(r2)\ncall -, showText(r4)\n");
            expected.push(format!("{:?}", function(x)));
        }
        for y in [2.0, -0.5, 0.0, f64::NEG_INFINITY] {
            for (name, function) in pairs {
                body += &format!("ldf r1, {y:?}\ncalln r2, {name}(r0, r1)\n");
                body += "calln r4, floatToString(r2)\ncall -, showText(r4)\n";
                expected.push(format!("{:?}", function(x, y)));
            }
        }
    }
    Case::main("functions of doubles", "r0..r2: float, r3: int, r4: String", &body, lines(expected))
}

fn text_of_numbers() -> Case {
    let mut body = String::new();
    let mut expected: Vec<String> = Vec::new();
    for x in [0, -1, 255, i64::MIN, i64::MAX] {
        body += &format!("ldi64 r0, {x}\ncalln r2, intToString(r0)\ncall -, showText(r2)\n");
        body += "calln r2, intToHex(r0)\ncall -, showText(r2)\n";
        expected.extend([x.to_string(), format!("{:x}", x as u64)]);
    }
    let floats = [
        (1.0, "1.0"),
        (1e21, "1e21"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e308"),
    ];
    for (x, text) in floats.into_iter().chain([(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf")]) {
        body += &format!(
            "ldf r1, {}\ncalln r2, floatToString(r1)\ncall -, showText(r2)\n",
            super::arithmetic::literal(x)
        );
        expected.push(text.into());
    }
    for c in ['a', 'é', '€', '😀'] {
        body += &format!("ldi r0, {}\ncalln r2, charToString(r0)\ncall -, showText(r2)\n", c as u32);
        expected.push(c.into());
    }
    Case::main("numbers as text", "r0: int, r1: float, r2: String", &body, lines(expected))
}

fn parsing() -> Case {
    let mut body = String::new();
    let mut expected: Vec<String> = Vec::new();
    let mut number = 0;
    let texts = [
        "0",
        "-0",
        "+7",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "",
        "-",
        " 1",
        "1 ",
        "0x1",
        "1.0",
    ];
    for text in texts {
        number += 1;
        body += &format!(
            "ldstr r0, {text:?}\ncalln r1, intParse(r0)\nldi r2, -77\nbrnull r1, I{number}\nnonnull r3, r1\n"
        );
        body += &format!("getf r2, r3.value\nI{number}:\ncall -, show(r2)\n");
        expected.push(text.parse::<i64>().unwrap_or(-77).to_string());
    }
    for text in ["0", "1.5", "-2e3", "1e400", "", "x", "1.5 ", "0.1"] {
        number += 1;
        body += &format!(
            "ldstr r0, {text:?}\ncalln r4, floatParse(r0)\nldf r5, -77.0\nbrnull r4, I{number}\nnonnull r6, r4\n"
        );
        body += &format!("getf r5, r6.value\nI{number}:\ncall -, showFloat(r5)\n");
        expected.push(text.parse::<f64>().unwrap_or(-77.0).to_bits().cast_signed().to_string());
    }
    let registers = "r0: String, r1: Int?, r2: int, r3: Int, r4: Float?, r5: float, r6: Float";
    Case::main("parsing", registers, &body, lines(expected))
}

fn strings() -> Case {
    let samples = ["", "a", "b", "ab", "aé", "é", "abcabc", "a\u{0}", "😀"];
    let mut body = String::new();
    let mut expected: Vec<String> = Vec::new();
    for x in samples {
        body += &format!("ldstr r0, \"{}\"\n", x.escape_default());
        body += "calln r2, stringHash(r0)\ncall -, show(r2)\ncalln r5, stringToBytes(r0)\nlen r2, r5\nldi r3, 0\n";
        body +=
            "calln r6, stringFromBytes(r5, r3, r2)\ncalln r4, stringEquals(r0, r6)\ncall -, showBool(r4)\n";
        body +=
            "calln r6, substring(r0, r3, r2)\ncalln r6, concat(r6, r0, r0)\nlen r2, r6\ncall -, show(r2)\n";
        let hash =
            x.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ b as u64).wrapping_mul(0x100_0000_01b3));
        expected.extend([(hash as i64).to_string(), "1".into(), (3 * x.len()).to_string()]);
        for y in samples {
            body += &format!("ldstr r1, \"{}\"\n", y.escape_default());
            body += "calln r4, stringEquals(r0, r1)\ncall -, showBool(r4)\ncalln r2, stringCompare(r0, r1)\ncall -, show(r2)\n";
            expected.extend([((x == y) as u8).to_string(), (x.cmp(y) as i8).to_string()]);
            for from in [-5, 0, 1, 4, 9] {
                body += &format!("ldi r3, {from}\ncalln r2, stringIndexOf(r0, r1, r3)\ncall -, show(r2)\n");
                let start = from.max(0) as usize;
                let places = start..(x.len() + 1).saturating_sub(y.len());
                let found = places.into_iter().find(|&p| x.as_bytes()[p..].starts_with(y.as_bytes()));
                expected.push(found.map_or(-1, |p| p as i64).to_string());
            }
        }
    }
    // Joining nothing, and as much as a call can pass.
    let many = vec!["r0"; 255].join(", ");
    body += &format!(
        "calln r6, concat()\nlen r2, r6\ncall -, show(r2)\ncalln r6, concat({many})\nlen r2, r6\ncall -, show(r2)\n"
    );
    expected.extend(["0".into(), (255 * "😀".len()).to_string()]);
    Case::main(
        "strings",
        "r0..r1: String, r2..r3: int, r4: bool, r5: Bytes, r6: String",
        &body,
        lines(expected),
    )
}

fn arrays() -> Case {
    let text = format!(
        r#"{}
function main() {{
    registers r0: Array<Int>, r1: Array<Float>, r2: Array<Bool>, r3: Array<String?>, r4: Bytes, r5..r8: int, r9: float
    registers r10: bool, r11: String?, r12: Array<Int>, r13: Array<String?>
    ldi r5, 5
    newarr r0, r5, Array<Int>
    newarr r1, r5, Array<Float>
    newarr r2, r5, Array<Bool>
    newarr r3, r5, Array<String?>
    newarr r4, r5, Bytes
    calln -, collectGarbage()
    ldi r6, -3
    calln -, fillInt(r0, r6)
    calln -, fillInt(r4, r6)
    ldf r9, 0.5
    calln -, fillFloat(r1, r9)
    ldb r10, true
    calln -, fillBool(r2, r10)
    calln r11, intToString(r5)
    calln -, fillRef(r3, r11)
    ldnull r11
    calln -, collectGarbage()
    ldi r7, 4
    getw r8, r0, r7
    call -, show(r8)
    getb r8, r4, r7
    call -, show(r8)
    getw r9, r1, r7
    call -, showFloat(r9)
    getb r10, r2, r7
    call -, showBool(r10)
    getw r11, r3, r7
    nonnull r11, r11
    call -, showBool(r10)
    ; Eight bytes as a word, written at one place and read there and at another.
    ldi r7, 9
    newarr r4, r7, Bytes
    ldi r7, 1
    ldi r8, 258
    calln -, bytesSetWord(r4, r7, r8)
    calln r8, bytesWord(r4, r7)
    call -, show(r8)
    ldi r7, 0
    calln r8, bytesWord(r4, r7)
    call -, show(r8)
    ; Elements 0..5, moved within the array, both ways.
    ldi r7, 0
L1:
    putw r7, r0, r7
    forlti r7, 5, L1
    ldi r6, 0
    ldi r7, 1
    ldi r8, 4
    calln -, arrayMove(r0, r6, r0, r7, r8)
    call -, showAll(r0)
    calln -, arrayMove(r0, r7, r0, r6, r8)
    call -, showAll(r0)
    calln r12, arrayCopy(r0, r7, r8)
    call -, showAll(r12)
    calln r12, arrayCopy(r0, r5, r5)
    call -, showAll(r12)
    ; References out of a young array into an old one.
    calln r13, arrayCopy(r3, r6, r5)
    calln r11, intToHex(r5)
    pute r11, r13, r6
    calln -, arrayMove(r13, r6, r3, r7, r7)
    ldnull r11
    newarr r13, r6, Array<String?>
    calln -, collectGarbage()
    getw r11, r3, r7
    setnull r10, r11
    call -, showBool(r10)
    retu
}}
function showAll(r0: Array<Int>) {{
    registers r1..r2: int, r3..r4: String
    ldstr r3, ""
    len r2, r0
    ldi r1, 0
    brlei r2, 0, L2
L1:
    getw r2, r0, r1
    calln r4, intToString(r2)
    calln r3, concat(r3, r4)
    len r2, r0
    forlt r1, r2, L1
L2:
    call -, showText(r3)
    retu
}}
"#,
        super::arrays::CLASSES
    );
    let expected = lines([
        "-3",
        "253",
        &0.5f64.to_bits().to_string(),
        "1",
        "1",
        "258",
        "66048",
        "00123",
        "01233",
        "123",
        "",
        "0",
    ]);
    Case::new("functions of arrays", &text.replace("nonnull r11, r11\n", ""), expected)
}

fn system() -> Case {
    let body = r#"
    calln r0, argCount()
    call -, show(r0)
    ldi r0, 0
L1:
    calln r1, arg(r0)
    call -, showText(r1)
    forlti r0, 2, L1
    calln r0, seed()
    call -, show(r0)
    calln r0, nextNumber()
    call -, show(r0)
    calln r0, nextNumber()
    call -, show(r0)
    calln r0, threadCurrent()
    call -, show(r0)
    calln r0, nanoTime()
    calln r2, nanoTime()
    setle r3, r0, r2
    call -, showBool(r3)
    calln -, collectGarbage()
    calln r0, heapUsed()
    ldi r2, 100000
    newarr r4, r2, Bytes
    calln r2, heapUsed()
    sub r2, r2, r0
    ldi r0, 100000
    setle r3, r0, r2
    call -, showBool(r3)
    ldstr r1, "no line end"
    calln -, print(r1)
"#;
    let expected = "2\none\nzwei é\n42\n1\n2\n0\n1\n1\nno line end".to_string();
    Case::main("the system", "r0: int, r1: String, r2: int, r3: bool, r4: Bytes", body, expected)
}

fn threads() -> Case {
    let text = r#"
global log: int
global done: bool
class Task {
    method run() = Task.run
}
function Task.run(r0: Task) {
    registers r1: int, r2: String, r3: bool
    calln r1, threadCurrent()
    call -, show(r1)
    ldi r1, 1
    calln -, threadSleep(r1)
    ldb r3, true
    stg r3, done
    calln -, threadWake(r0, r3)
    retu
}
function main() {
    registers r0: Task, r1: int, r2: String, r3: bool, r4: Error
    new r0, Task
    calln r1, threadSpawn(r0)
    call -, show(r1)
    calln -, threadYield()
    ldstr r2, "the task"
    calln -, threadWait(r0, r2)
    ldg r3, done
    call -, showBool(r3)
    new r4, Error
    calln -, threadFailed(r1, r4)
    calln -, threadJoined(r1)
    retu
}
"#;
    Case::new("threads", text, "1\n1\n1\n".into())
}
