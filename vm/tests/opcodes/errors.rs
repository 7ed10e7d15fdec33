//! Each error at its instruction: the class, the exact message, and the trace from function and place to line. Caught
//! ones must leave the machine as if nothing had happened.

use super::{Case, arrays};
use crate::common::{lines, places, run_to_error};
use std::fmt::Write;

/// Registers of `fail`, its failing code (one instruction with the position of line 30), class, and message.
type Failure = (&'static str, &'static str, &'static str, &'static str);

const FAILURES: [Failure; 33] = [
    ("r0..r1: int", "ldi r0, 7\nldi r1, 0\ndiv r0, r0, r1 @ 30:1", "DivisionError", "division by zero"),
    ("r0..r1: int", "ldi r0, 7\nldi r1, 0\nrem r0, r0, r1 @ 30:1", "DivisionError", "division by zero"),
    ("r0: String?, r1: String", "ldnull r0\nnonnull r1, r0 @ 30:1", "NullError", "the value is null"),
    ("r0: any?, r1: Error", "ldnull r0\ncast r1, r0, Error @ 30:1", "CastError", "null is not a Error"),
    (
        "r0: Error, r1: IndexError",
        "new r0, Error\ncast r1, r0, IndexError @ 30:1",
        "CastError",
        "a Error is not a IndexError",
    ),
    (
        "r0: int, r1: any, r2: String",
        "ldi r0, 1\nboxint r1, r0\ncast r2, r1, String @ 30:1",
        "CastError",
        "a Int is not a String",
    ),
    (
        "r0: any, r1: Listener",
        "ldstr r0, \"\"\ncasti r1, r0, Listener @ 30:1",
        "CastError",
        "a String is not a Listener",
    ),
    (
        "r0: any?, r1: Listener",
        "ldnull r0\ncasti r1, r0, Listener @ 30:1",
        "CastError",
        "null is not a Listener",
    ),
    ("r0: String", "ldg r0, name @ 30:1", "UnsetError", "name is read before it is initialised"),
    (
        "r0: int, r1: Array<Int>",
        "ldi r0, -1\nnewarr r1, r0, Array<Int> @ 30:1",
        "ValueError",
        "an array cannot have length -1",
    ),
    (
        "r0: int, r1: Bytes",
        "ldi64 r0, -9223372036854775808\nnewarr r1, r0, Bytes @ 30:1",
        "ValueError",
        "an array cannot have length -9223372036854775808",
    ),
    (
        "r0: int, r1: Bytes",
        "ldi r0, 3\nnewarr r1, r0, Bytes\ngetb r0, r1, r0 @ 30:1",
        "IndexError",
        "index 3 is out of bounds for length 3",
    ),
    (
        "r0: int, r1: Bytes",
        "ldi r0, 3\nnewarr r1, r0, Bytes\nldi r0, -1\nputb r0, r1, r0 @ 30:1",
        "IndexError",
        "index -1 is out of bounds for length 3",
    ),
    (
        "r0: int, r1: String",
        "ldi64 r0, -9223372036854775808\nldstr r1, \"ab\"\ngetb r0, r1, r0 @ 30:1",
        "IndexError",
        "index -9223372036854775808 is out of bounds for length 2",
    ),
    (
        "r0: int, r1: Array<Int>",
        "ldi r0, 0\nnewarr r1, r0, Array<Int>\ngetw r0, r1, r0 @ 30:1",
        "IndexError",
        "index 0 is out of bounds for length 0",
    ),
    (
        "r0: int, r1: Array<Int>",
        "ldi r0, 2\nnewarr r1, r0, Array<Int>\nldi64 r0, 9223372036854775807\nputw r0, r1, r0 @ 30:1",
        "IndexError",
        "index 9223372036854775807 is out of bounds for length 2",
    ),
    (
        "r0: int, r1: Array<String>, r2: String",
        "ldi r0, 1\nnewarr r1, r0, Array<String>\ngete r2, r1, r0 @ 30:1",
        "IndexError",
        "index 1 is out of bounds for length 1",
    ),
    (
        "r0: int, r1: Array<String>, r2: String",
        "ldi r0, 2\nnewarr r1, r0, Array<String>\nldi r0, 1\ngete r2, r1, r0 @ 30:1",
        "UnsetError",
        "element 1 was never set",
    ),
    (
        "r0: int, r1: Array<String>, r2: String",
        "ldi r0, 1\nnewarr r1, r0, Array<String>\nldstr r2, \"\"\npute r2, r1, r0 @ 30:1",
        "IndexError",
        "index 1 is out of bounds for length 1",
    ),
    (
        "r0: int, r1: Array<String>",
        "ldi r0, 1\nnewarr r1, r0, Array<String>\nunset r1, r0 @ 30:1",
        "IndexError",
        "index 1 is out of bounds for length 1",
    ),
    (
        "r0: int, r1: Bytes",
        "ldi r0, 1\nnewarr r1, r0, Bytes\nldi r0, -5\nunset r1, r0 @ 30:1",
        "IndexError",
        "index -5 is out of bounds for length 1",
    ),
    (
        "r0: int, r1: String",
        "ldi r0, 55296\ncalln r1, charToString(r0) @ 30:1",
        "ValueError",
        "55296 is not the code of a character",
    ),
    (
        "r0..r1: int, r2: String",
        "ldi r0, 2\nldi r1, 1\nldstr r2, \"abc\"\ncalln r2, substring(r2, r0, r1) @ 30:1",
        "IndexError",
        "2 to 1 is out of bounds for length 3",
    ),
    (
        "r0..r1: int, r2: String",
        "ldi r0, 0\nldi r1, 1\nldstr r2, \"é\"\ncalln r2, substring(r2, r0, r1) @ 30:1",
        "ValueError",
        "0 to 1 cuts a character in two",
    ),
    (
        "r0..r1: int, r2: Bytes, r3: String",
        "ldi r1, 2\nnewarr r2, r1, Bytes\nldi r0, 1\nputb r1, r2, r0\nldi r1, 255\nputb r1, r2, r0\nldi r0, 0\nldi r1, 2\n\
         calln r3, stringFromBytes(r2, r0, r1) @ 30:1",
        "ValueError",
        "the bytes are not UTF-8 from position 1 on",
    ),
    (
        "r0..r1: int, r2: Array<Int>",
        "ldi r0, 2\nldi r1, 4\nnewarr r2, r0, Array<Int>\ncalln r2, arrayCopy(r2, r0, r1) @ 30:1",
        "IndexError",
        "range 2 to 4 is out of bounds for length 2",
    ),
    (
        "r0..r1: int, r2: Bytes",
        "ldi r0, 8\nldi r1, 1\nnewarr r2, r0, Bytes\ncalln r0, bytesWord(r2, r1) @ 30:1",
        "IndexError",
        "range 1 to 9 is out of bounds for length 8",
    ),
    (
        "r0..r1: int, r2: Bytes",
        "ldi r0, 8\nldi r1, -1\nnewarr r2, r0, Bytes\ncalln -, bytesSetWord(r2, r1, r0) @ 30:1",
        "IndexError",
        "range -1 to 7 is out of bounds for length 8",
    ),
    (
        "r0: int, r1: Array<Int>",
        "ldi r0, 2\nnewarr r1, r0, Array<Int>\ncalln -, arrayMove(r1, r0, r1, r0, r0) @ 30:1",
        "IndexError",
        "source range 2 to 4 is out of bounds for length 2",
    ),
    (
        "r0: int, r1: String",
        "ldi r0, 2\ncalln r1, arg(r0) @ 30:1",
        "IndexError",
        "argument 2 does not exist: there are 2",
    ),
    (
        "r0: int, r1: String",
        "ldstr r1, \"\"\ncalln r0, threadSpawn(r1) @ 30:1",
        "ValueError",
        "a String is not a function without parameters",
    ),
    (
        "r0: int, r1: String",
        "ldi r0, 1\nldstr r1, \"\"\ncalln -, threadFailed(r0, r1) @ 30:1",
        "ValueError",
        "the value is not an error",
    ),
    (
        "r0: Error, r1: String",
        "new r0, CastError\nldstr r1, \"mine\"\nputr r1, r0.message\nthrow r0 @ 30:1",
        "CastError",
        "mine",
    ),
];

fn declarations() -> String {
    format!("file \"main.hol\"\ninterface Listener {{\n}}\nglobal name: String\n{}", arrays::CLASSES)
}

fn function(name: &str, (registers, code, ..): Failure) -> String {
    // The first instruction needs a position if a later one has one.
    let (first, rest) = code.split_once('\n').unwrap_or((code, ""));
    let first = if first.contains('@') { first.to_owned() } else { format!("{first} @ 29:1") };
    format!("function {name}() {{\nregisters {registers}\n{first}\n{rest}\nretu @ 31:1\n}}\n")
}

/// All of them in one program, caught and looked at one after the other.
pub(crate) fn cases() -> Vec<Case> {
    let mut text = declarations();
    let mut body = String::new();
    let mut expected = Vec::new();
    for (i, failure) in FAILURES.into_iter().enumerate() {
        text += &function(&format!("fail{i}"), failure);
        let (.., class, message) = failure;
        writeln!(
            body,
            "S{i}:\ncall -, fail{i}()\nE{i}:\njump N{i}\nC{i}:\ngetf r1, r0.message\ncall -, showText(r1)"
        )
        .unwrap();
        writeln!(
            body,
            "is r2, r0, {class}\ncall -, showBool(r2)\nN{i}:\ncatch Error in r0 from S{i} to E{i} at C{i}"
        )
        .unwrap();
        expected.extend([message.to_owned(), "1".to_owned()]);
    }
    text += &format!("function main() {{\nregisters r0: Error, r1: String, r2: bool\n{body}\nretu\n}}");
    vec![Case::new("caught errors", &text, lines(expected))]
}

/// Each on its own, uncaught, two calls deep.
pub fn uncaught() {
    for failure in FAILURES {
        let (_, code, class, message) = failure;
        let text = format!(
            "{}{}function middle() {{\ncall -, fail() @ 20:3\nretu\n}}\nfunction main() {{\ncall -, middle() @ 10:5\nretu\n}}",
            declarations(),
            function("fail", failure)
        );
        let error = run_to_error(&text);
        assert_eq!((error.class.as_str(), error.message.as_str()), (class, message), "{code}");
        assert_eq!(places(&error.trace), ["fail:30", "middle:20", "main:10"], "{code}");
        assert_eq!(error.trace.inner[0].file, "main.hol");
        assert_eq!((error.trace.omitted, error.thread), (0, 0));
        let expected =
            "    at fail (main.hol:30:1)\n    at middle (main.hol:20:3)\n    at main (main.hol:10:5)\n";
        assert_eq!(error.trace.to_string(), expected);
    }
}
