//! Lowering, seen from outside: programs whose code is written down beside them, and the promise that whatever the checker
//! accepts becomes code that the verifier accepts.
//!
//! `lower/NAME.hol` has its code in `lower/NAME.code`; `BLESS=1` writes it anew. Positions are left out: the end-to-end tests
//! compare stack traces.

use holloway_bytecode::text::Printer;
use holloway_bytecode::{FunctionId, Op, Program, code, verify};
use holloway_lang::lower::lower;
use holloway_lang::pipeline::{FileSystem, InMemory, check};
use holloway_lang::with_deep_stack;
use std::path::{Path, PathBuf};

/// The program at a path, or what is wrong with it.
fn compile(path: &Path) -> Result<Program, String> {
    let path = path.to_str().expect("test paths are text");
    with_deep_stack(|| {
        let checked = check(path, &FileSystem).map_err(|failure| first_message(&failure.diagnostics))?;
        lower(checked.program, &checked.sources).map_err(|diagnostics| first_message(&diagnostics))
    })
}

/// The program made of one text, or what is wrong with it.
fn compile_text(text: &str) -> Result<Program, String> {
    with_deep_stack(|| {
        let checked = check("main.hol", &InMemory::new().with("main.hol", text))
            .map_err(|failure| first_message(&failure.diagnostics))?;
        lower(checked.program, &checked.sources).map_err(|diagnostics| first_message(&diagnostics))
    })
}

fn first_message(diagnostics: &holloway_lang::diagnostics::Diagnostics) -> String {
    diagnostics.sorted().first().map_or_else(String::new, |first| first.message.clone())
}

/// The `.hol` files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "hol") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn folder(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// The code of the program's own functions, without positions and numbers.
fn code_of(program: &Program, file: &Path) -> String {
    let number =
        program.files.iter().position(|name| Path::new(&**name) == file).expect("the file was compiled");
    let printer = Printer::new(program);
    let mut text = String::new();
    for (at, function) in program.functions.iter().enumerate() {
        let own = function
            .positions
            .iter()
            .any(|entry| entry.position.line > 0 && entry.position.file as usize == number);
        let unplaced = function.positions.iter().all(|entry| entry.position.line == 0);
        if own || unplaced || &*function.name == "$start" {
            let printed = printer.function(FunctionId(at as u32), &Default::default());
            for line in printed.lines() {
                let line = line.split(" @ ").next().unwrap_or(line);
                let line = line.split(" ; #").next().unwrap_or(line);
                text.push_str(line.trim_end());
                text.push('\n');
            }
            text.push('\n');
        }
    }
    text
}

fn assert_verified(program: &Program, what: &str) {
    let errors = verify::check(program);
    let errors: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{what}: the verifier refuses the code:\n{}", errors.join("\n"));
}

#[test]
fn code_is_as_written_down() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for path in sources(&folder("tests/lower")) {
        let program = compile(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_verified(&program, &path.display().to_string());
        let code = code_of(&program, &path);
        let golden = path.with_extension("code");
        if bless {
            std::fs::write(&golden, &code).expect("the golden file can be written");
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != code {
            wrong.push(format!("{}:\n{code}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "not as written down (BLESS=1 rewrites):\n{}", wrong.join("\n"));
}

#[test]
fn whatever_checks_verifies() {
    let mut compiled = 0;
    for root in ["tests/check", "tests/parse", "../tests/cases", "../benchmarks/programs"] {
        for path in sources(&folder(root)) {
            if let Ok(program) = compile(&path) {
                assert_verified(&program, &path.display().to_string());
                compiled += 1;
            }
        }
    }
    assert!(compiled > 20, "only {compiled} programs were found and compiled");
}

#[test]
fn an_empty_program_is_a_handful_of_functions() {
    let program = compile_text("fn main() { }").expect("it compiles");
    assert_verified(&program, "empty");
    assert!(program.functions.len() <= 6, "{} functions", program.functions.len());
}

#[test]
fn functions_that_nobody_reaches_are_left_out() {
    let program =
        compile_text("fn unused() { unused2() }\nfn unused2() { }\nfn main() { }").expect("it compiles");
    assert!(program.functions.iter().all(|function| !function.name.contains("unused")));
}

#[test]
fn endless_instantiation_is_an_error() {
    let error = compile_text(
        "class Pair<A>(let a: A) { }\n\
         fn grow<T>(value: T, n: Int) { if n > 0 { grow(Pair(value), n - 1) } }\n\
         fn main() { grow(1, 3) }",
    )
    .expect_err("it needs ever more types");
    assert!(error.starts_with("a type is nested more than 64 deep"), "{error}");
    let error = compile_text(
        "class Tree<A> { var deeper: Tree<Array<A>>? = null }\n\
         fn main() { let tree = Tree<Int>() }",
    )
    .expect_err("it needs ever more types");
    assert!(error.starts_with("a type is nested more than 64 deep"), "{error}");
}

#[test]
fn types_nest_64_deep() {
    let program = |arrays: usize| {
        let ty = format!("{}Int{}", "Array<".repeat(arrays), ">".repeat(arrays));
        compile_text(&format!("fn main() {{ let a: {ty}? = null; println(\"${{a == null}}\") }}"))
    };
    program(62).expect("the array of arrays, the number in them, and the `?`");
    let error = program(70).expect_err("it is nested too deep");
    assert!(error.starts_with("a type is nested more than 64 deep"), "{error}");
}

#[test]
fn types_that_double_are_no_more_work_than_others() {
    let error = compile_text(
        "class Two<A, B>(let a: A, let b: B) { }\n\
         fn grow<T>(value: T, n: Int) { if n > 0 { grow(Two(value, value), n - 1) } }\n\
         fn main() { grow(1, 3) }",
    )
    .expect_err("it needs ever more types");
    assert!(error.starts_with("a type is nested more than 64 deep"), "{error}");
}

#[test]
fn long_functions_do_not_take_long() {
    let mut text = String::from("fn main() {\n    var sum = 0\n");
    for i in 0..3_000 {
        text.push_str(&format!("    let v{i} = sum + {i}\n    sum += v{i} * 3\n"));
    }
    text.push_str("    let list = [");
    text.push_str(&"1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n".repeat(2000));
    text.push_str("]\n    println(\"${sum} ${list.length}\")\n}\n");
    let program = compile_text(&text).expect("it compiles");
    assert_verified(&program, "long");
}

#[test]
fn too_many_variables_are_an_error() {
    let mut text = String::from("fn main() {\n");
    for block in 0..61 {
        for i in 0..1000 {
            text.push_str(&format!("var v{block}_{i} = {i}\nv{block}_{i} += 1\n"));
        }
        text.push_str("if true {\n");
    }
    text.push_str(&"}\n".repeat(62));
    let error = compile_text(&text).expect_err("there are not so many registers");
    assert!(error.contains("registers"), "{error}");
}

#[test]
fn too_many_arguments_are_an_error() {
    let params: Vec<String> = (0..300).map(|i| format!("p{i}: Int")).collect();
    let arguments: Vec<String> = (0..300).map(|i| i.to_string()).collect();
    let text =
        format!("fn many({}) {{ }}\nfn main() {{ many({}) }}\n", params.join(", "), arguments.join(", "));
    let error = compile_text(&text).expect_err("a call has at most 255 arguments");
    assert!(error.contains("255"), "{error}");
}

#[test]
fn the_same_program_gives_the_same_code() {
    let path = folder("../benchmarks/programs/awfy/deltablue.hol");
    let first = compile(&path).expect("it compiles");
    let second = compile(&path).expect("it compiles");
    assert_eq!(first, second);
}

#[test]
fn loops_go_back_with_one_instruction() {
    let program = compile_text(
        "fn main() {\n    var sum = 0\n    for i in 0..10 { sum += i }\n    while sum > 3 { sum -= 1 }\n    \
         println(\"${sum}\")\n}",
    )
    .expect("it compiles");
    let main = program.functions.iter().find(|function| &*function.name == "main").expect("there is a main");
    let ops: Vec<Op> = code::instructions(&main.code).map(|(_, instruction)| instruction.op).collect();
    assert!(ops.contains(&Op::ForLtI) && ops.contains(&Op::LoopGtI), "{ops:?}");
    assert!(!ops.contains(&Op::LoopJump) && !ops.contains(&Op::Jump), "{ops:?}");
}
