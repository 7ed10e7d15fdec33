//! The text form: nothing that is wrong makes the parser panic, and it says where it is wrong.

mod support;

use holloway_jit::ir;
use support::random::Random;
use support::{Sections, files, program};

/// What is wrong, and where.
#[test]
fn errors_say_what_and_where() {
    let sections = Sections::of("");
    let program = program(&sections).expect("a program");
    let cases = [
        ("", "line 1: expected `region` and the name of a function"),
        ("region g\n", "line 1: there is no function `g`"),
        ("region f", "line 1: there is no entry block b0"),
        ("region f\nb0:\n", "line 2: b0 has no end"),
        ("region f\nb0:\nv0: int = frob v1", "line 3: there is no operation `frob`"),
        ("region f\nb0:\nv0: int = add v1, 3", "line 3: expected a value, such as `v3`, found `3`"),
        ("region f\nb0:\nreturn v7", "line 3: v7 is not defined"),
        ("region f\nb0:\nv0: int = int 1\nv0: int = int 2\nreturn", "line 4: v0 is defined twice"),
        ("region f\nb0:\njump b9", "line 3: b9 is not defined"),
        ("region f\nb0:\ndeopt index [s0]", "line 3: s0 is not defined"),
        ("region f\nb0:\ndeopt why [s0]", "line 3: expected a reason, such as `index`, found `why`"),
        ("region f\nb0:\nv0: Pint? = null\nreturn", "line 3: there is no type `Pint`"),
        ("region f\nb0:\nv0: int = load Point::z(v1)\nreturn", "line 3: there is no field `z`"),
        (
            "region f\nb0:\nv999999999: int = int 1\nreturn",
            "line 3: the number 999999999 is too large: they end at 262143",
        ),
        ("region f\nb0:\nv0: int = int 1 2\nreturn", "line 3: expected the end of the line, found `2`"),
        (
            "region f\ninline i2 = add at i0:8\n",
            "line 2: expected `i1` (methods are numbered in order), found `i2`",
        ),
        ("region f\nb0:\nreturn @ i7:0", "line 3: expected a value, such as `v3`, found `@`"),
        ("region f\nb0:\nv0: int = int 1 @ i7:0\nreturn", "line 3: i7 is not defined"),
    ];
    for (text, expected) in cases {
        let error = ir::parse(text, &program).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

/// Texts with small damages everywhere.
#[test]
fn bad_text_never_panics() {
    let mut random = Random(1);
    let (mut read, mut refused) = (0, 0);
    for path in files("verify").into_iter().chain(files("passes")) {
        let sections = Sections::of(&std::fs::read_to_string(path).expect("test file"));
        let program = program(&sections).expect("a program");
        let Some(text) = sections.get("region").or(sections.get("before")) else { continue };
        for _ in 0..100 {
            let damaged = damaged(text, &mut random);
            match ir::parse(&damaged, &program) {
                Ok(region) => {
                    read += 1;
                    // Nor does what comes after it.
                    let _ = ir::verify(&region, &program);
                    ir::print(&region, &program);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

fn damaged(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(3) {
        if chars.is_empty() {
            break;
        }
        let at = random.below(chars.len());
        match random.below(5) {
            0 => drop(chars.remove(at)),
            1 => chars.insert(
                at,
                random.pick(&[' ', '"', '#', '(', ')', '[', '<', ':', '@', '9', 'v', 'é', '\n', '-']),
            ),
            2 => chars.truncate(at + 1),
            3 => {
                // One number instead of another.
                if chars[at].is_ascii_digit() {
                    chars[at] = random.pick(&['0', '1', '2', '3', '9']);
                }
            }
            _ => {
                let other = random.below(chars.len());
                chars.swap(at, other);
            }
        }
    }
    chars.into_iter().collect()
}
