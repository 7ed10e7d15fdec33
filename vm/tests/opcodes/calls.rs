//! Calls with any number of arguments by all three ways, recursion, and who catches what.

use super::Case;
use crate::common::lines;
use std::fmt::Write;

pub(crate) fn cases() -> Vec<Case> {
    vec![direct(), by_table(), recursion(), handlers(), handler_ranges(), error_objects()]
}

/// Numbers of arguments worth trying: each form of its own, around the word boundaries, and the most.
const COUNTS: [usize; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 254];

/// The body of a function that weighs its integers from register `first` on, each with its place.
fn weigh(first: usize, count: usize) -> String {
    let (sum, one) = (first + count, first + count + 1);
    let mut body = format!("registers r{sum}..r{one}: int\nldi r{sum}, 1000\n");
    for i in 0..count {
        writeln!(body, "muli r{one}, r{}, {}\nadd r{sum}, r{sum}, r{one}", first + i, i + 1).unwrap();
    }
    body + &format!("ret r{sum}\n")
}

fn params(first: usize, count: usize) -> String {
    (first..first + count).map(|i| format!("r{i}: int")).collect::<Vec<_>>().join(", ")
}

/// Argument registers in no particular order, some twice; register `2 + k` holds `k * k`.
fn arguments(count: usize) -> (String, i64) {
    let which: Vec<usize> = (0..count).map(|i| (i * 7 + 3) % 11).collect();
    let names: Vec<String> = which.iter().map(|k| format!("r{}", 2 + k)).collect();
    let sum = which.iter().enumerate().map(|(i, k)| (i + 1) * k * k).sum::<usize>();
    (names.join(", "), 1000 + sum as i64)
}

fn load_arguments() -> String {
    (0..11).map(|k| format!("ldi r{}, {}\n", 2 + k, k * k)).collect()
}

fn direct() -> Case {
    let mut functions = String::new();
    let mut body = load_arguments();
    let mut expected = Vec::new();
    for count in COUNTS.into_iter().chain([255]) {
        writeln!(functions, "function f{count}({}) -> int {{\n{}}}", params(0, count), weigh(0, count))
            .unwrap();
        let (arguments, sum) = arguments(count);
        writeln!(body, "call r1, f{count}({arguments})\ncall -, show(r1)").unwrap();
        // The result may go into an argument's register.
        writeln!(body, "call r2, f{count}({arguments})\ncall -, show(r2)\nldi r2, 0").unwrap();
        expected.extend([sum, sum]);
    }
    let text =
        format!("{functions}function main() {{\nregisters r0: int, r1: int, r2..r12: int\n{body}retu\n}}");
    Case::new("direct calls", &text, lines(expected))
}

fn by_table() -> Case {
    let (mut functions, mut interface, mut class, mut table) =
        (String::new(), String::new(), String::new(), Vec::new());
    let mut body = load_arguments() + "new r0, Many\nmov r13, r0\n";
    let mut expected = Vec::new();
    for count in COUNTS {
        let types = vec!["int"; count].join(", ");
        let comma = if count > 0 { ", " } else { "" };
        writeln!(
            functions,
            "function Many.m{count}(r0: Many{comma}{}) -> int {{\n{}}}",
            params(1, count),
            weigh(1, count)
        )
        .unwrap();
        writeln!(interface, "method m{count}({types}) -> int").unwrap();
        writeln!(class, "method m{count}({types}) -> int = Many.m{count}").unwrap();
        table.push(format!("m{count}"));
        let (arguments, sum) = arguments(count);
        writeln!(body, "callv r1, m{count}(r0{comma}{arguments})\ncall -, show(r1)").unwrap();
        writeln!(body, "calli r1, Weighing::m{count}(r13{comma}{arguments})\ncall -, show(r1)").unwrap();
        expected.extend([sum, sum]);
    }
    let text = format!(
        "interface Weighing {{\n{interface}}}\nclass Many {{\n{class}implements Weighing [{}]\n}}\n{functions}\
         function main() {{\nregisters r0: Many, r1: int, r2..r12: int, r13: Weighing\n{body}retu\n}}",
        table.join(", ")
    );
    Case::new("calls through tables", &text, lines(expected))
}

fn recursion() -> Case {
    let text = r#"
function fib(r0: int) -> int {
    registers r1: int
    brgti r0, 1, L1
    ret r0
L1:
    addi r1, r0, -1
    call r1, fib(r1)
    addi r0, r0, -2
    call r0, fib(r0)
    add r1, r1, r0
    ret r1
}
function isEven(r0: int) -> bool {
    registers r1: bool
    ldb r1, true
    breqi r0, 0, L1
    addi r0, r0, -1
    call r1, isOdd(r0)
L1:
    ret r1
}
function isOdd(r0: int) -> bool {
    registers r1: bool
    ldb r1, false
    breqi r0, 0, L1
    addi r0, r0, -1
    call r1, isEven(r0)
L1:
    ret r1
}
function main() {
    registers r0: int, r1: bool
    ldi r0, 18
    call r0, fib(r0)
    call -, show(r0)
    ldi r0, 10001
    call r1, isEven(r0)
    call -, showBool(r1)
    retu
}
"#;
    Case::new("recursion", text, "2584\n0\n".into())
}

/// The first handler that protects the place and whose class fits wins, in the innermost frame that has one.
fn handlers() -> Case {
    let text = r#"
class Special : IndexError {
    field message: String
    field trace: Array<Int>?
}
function inner(r0: int) -> int {
    registers r1: Error, r2: String, r3: IndexError
    switch r0, 0 [L0, L1, L2] else L3
L0: ; Caught by nobody here.
    new r1, NullError
    ldstr r2, "null"
    putr r2, r1.message
    throw r1
L1:
    new r1, IndexError
    ldstr r2, "index"
    putr r2, r1.message
    throw r1
L2:
    new r1, Special
    ldstr r2, "special"
    putr r2, r1.message
    throw r1
L3:
    ldi r0, -1
    ret r0
L4: ; Special
    addi r0, r0, 100
    ret r0
L5: ; IndexError
    addi r0, r0, 200
    getf r2, r3.message
    call -, showText(r2)
L6:
    ret r0
    catch Special in r3 from L0 to L4 at L4
    catch IndexError in r3 from L0 to L4 at L5
    catch Error in r1 from L3 to L4 at L6
}
function middle(r0: int) -> int {
    registers r1: Error, r2: CastError
L0:
    call r0, inner(r0)
L1:
    ret r0
L2:
    ldi r0, -99
    ret r0
    catch CastError in r2 from L0 to L1 at L2
}
function main() {
    registers r0: int, r1: int, r2: Error, r3: String
    ldi r0, 0
L0:
    call r1, middle(r0)
L1:
    call -, show(r1)
    jump L3
L2:
    getf r3, r2.message
    call -, showText(r3)
L3:
    forlti r0, 4, L0
    retu
    catch Error in r2 from L0 to L1 at L2
}
"#;
    Case::new("handlers", text, "null\nindex\n201\n102\n-1\n".into())
}

/// A range begins with its first instruction and ends before its end; a call protects by its own place.
fn handler_ranges() -> Case {
    let text = r#"
function fail(r0: int) -> int {
    registers r1: int
    ldi r1, 0
    div r1, r0, r1
    ret r1
}
function run(r0: int) -> int {
    registers r1: int, r2: DivisionError
    switch r0, 0 [L0, L1, L2] else L3
L0:
    call r1, fail(r0)
L1:
    call r1, fail(r0)
L2:
    call r1, fail(r0)
L3:
    ldi r1, 5
    ret r1
L4:
    ldi r1, 6
    ret r1
    catch DivisionError in r2 from L1 to L2 at L4
}
function main() {
    registers r0: int, r1: int, r2: Error
    ldi r0, 0
L0:
    call r1, run(r0)
L1:
    call -, show(r1)
    jump L3
L2:
    ldi r1, 7
    call -, show(r1)
L3:
    forlti r0, 4, L0
    retu
    catch Error in r2 from L0 to L1 at L2
}
"#;
    Case::new("ranges of handlers", text, "7\n6\n7\n5\n".into())
}

/// An error that is thrown again keeps its first trace: depth, then places.
fn error_objects() -> Case {
    let text = r#"
function fail() {
    registers r0: Error, r1: String
    new r0, ValueError
    ldstr r1, "m"
    putr r1, r0.message
    throw r0
}
function main() {
    registers r0: Error, r1: Array<Int>?, r2: Array<Int>, r3: int, r4: int
L0:
    call -, fail()
L1:
    retu
L3:
    getf r1, r0.trace
    nonnull r2, r1
    len r3, r2
    call -, show(r3)
    ldi r4, 0
    getw r3, r2, r4
    call -, show(r3)
L4:
    throw r0
L5:
    getf r1, r0.trace
    rbreq r1, r2, L6
    ldi r4, 1
L6:
    call -, show(r4)
    retu
    catch Error in r0 from L0 to L1 at L3
    catch Error in r0 from L4 to L5 at L5
}
"#;
    Case::new("traces in errors", text, "3\n2\n0\n".into())
}
