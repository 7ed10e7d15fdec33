//! The text form: files that must come back as they are, files with errors, and random programs that must survive
//! the way there and back.

mod support;

use holloway_bytecode::text::{PrintOptions, assemble, print_function, print_program};
use holloway_bytecode::{FunctionId, Position};
use support::{expect, files, for_seeds, report};

/// Each file in `tests/text` is as the printer would write it, after its opening comments.
#[test]
fn files_are_as_printed() {
    let mut failures = Vec::new();
    for path in files("text") {
        let text = std::fs::read_to_string(&path).expect("test file");
        let program = match assemble(&text) {
            Ok(program) => program,
            Err(errors) => {
                failures.extend(errors.iter().map(|e| format!("{}:{e}", path.display())));
                continue;
            }
        };
        let comments: String =
            text.lines().take_while(|l| l.starts_with(';')).map(|l| format!("{l}\n")).collect();
        expect(&path, &format!("{comments}\n{}", print_program(&program)), &mut failures);
    }
    report(&failures);
}

/// Each file in `tests/text/errors` ends with the errors it leads to, as comments.
#[test]
fn errors_are_as_expected() {
    let mut failures = Vec::new();
    for path in files("text/errors") {
        let text = std::fs::read_to_string(&path).expect("test file");
        let (source, _) = text.split_once(";; ").unwrap_or((&text, ""));
        let errors = assemble(source).err().unwrap_or_default();
        let errors: String = errors.iter().map(|e| format!(";; {e}\n")).collect();
        expect(&path, &format!("{source}{errors}"), &mut failures);
    }
    report(&failures);
}

/// Whatever a program contains, its text says all of it.
#[test]
fn random_programs_survive() {
    for_seeds(4000, |_, rng| {
        let program = support::garbage::program(rng);
        let text = print_program(&program);
        match assemble(&text) {
            Ok(again) => {
                // Compared as text first: a difference is easier to see there. NaNs are why `==` alone would not do
                // if programs held doubles, but they hold words.
                assert_eq!(print_program(&again), text);
                assert!(again == program, "{text}");
            }
            Err(errors) => panic!("{}\n{text}", errors[0]),
        }
    });
}

/// Text with random damage is refused or accepted, but never fatal.
#[test]
fn damaged_text_is_no_danger() {
    use rand::RngExt;
    for_seeds(2000, |_, rng| {
        let program = support::garbage::program(rng);
        let mut chars: Vec<char> = print_program(&program).chars().collect();
        for _ in 0..rng.random_range(1..6) {
            if chars.is_empty() {
                break;
            }
            let at = rng.random_range(0..chars.len());
            match rng.random_range(0..3) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, [';', '"', '{', '}', '#', 'r', '9', '\n', 'é'][rng.random_range(0..9)]),
                _ => chars.truncate(at),
            }
        }
        let text: String = chars.into_iter().collect();
        if let Ok(program) = assemble(&text) {
            assert_eq!(assemble(&print_program(&program)).as_ref(), Ok(&program));
        }
    });
}

/// Source lines stand between the instructions, places beside them.
#[test]
fn a_listing_shows_the_source() {
    let text = r#"
file "main.hol"
function twice(r0: int) -> int {
    registers r1: int
    add r1, r0, r0     @ 2:5
    addi r1, r1, 0
    ret r1             @ 3:5
}
"#;
    let program = assemble(text).expect("a correct text");
    let source = |position: Position| Some(format!("line {} of {}", position.line, position.file));
    let options = PrintOptions { source: Some(&source), places: true };
    let listing = print_function(&program, FunctionId(0), &options);
    let expected = "\
function twice(r0: int) -> int {         ; #0
    registers r1: int
    ;    2 | line 2 of 0
    add      r1, r0, r0                        @ 2:5  ; 0
    addi     r1, r1, 0                         ; 1
    ;    3 | line 3 of 0
    ret      r1                                @ 3:5  ; 2
}
";
    assert_eq!(listing, expected);
    assert_eq!(assemble(&format!("file \"main.hol\"\n{listing}")), Ok(program));
}

/// The beginning for programs written by hand is itself correct.
#[test]
fn the_prelude_assembles() {
    let program = assemble(holloway_bytecode::text::PRELUDE).expect("the prelude");
    assert_eq!(program.error_classes.len(), holloway_bytecode::ErrorKind::ALL.len());
}
