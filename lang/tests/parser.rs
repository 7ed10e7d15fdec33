//! The parser against files: every `tests/parse/NAME.hol` has a neighbour with what is expected, `NAME.ast` for
//! the tree or `NAME.err` for the errors as rendered. `BLESS=1` rewrites the neighbours. Cases with errors are
//! named `error_…`.
//!
//! The programs of the language's description must parse too.

use std::fs;
use std::path::{Path, PathBuf};

use holloway_lang::diagnostics::Diagnostics;
use holloway_lang::dump::{dump_ast, dump_tokens};
use holloway_lang::lexer::lex;
use holloway_lang::parser::parse;
use holloway_lang::render::render;
use holloway_lang::sources::Sources;
use holloway_lang::with_deep_stack;

/// The tree, or the errors.
fn outcome(path: &str, text: &str) -> Result<String, String> {
    with_deep_stack(|| {
        let mut sources = Sources::new();
        let file = sources.add(path, text);
        let mut diagnostics = Diagnostics::default();
        let module = parse(&sources, file, &mut diagnostics);
        match diagnostics.is_empty() {
            true => Ok(dump_ast(&module)),
            false => Err(render(&sources, &diagnostics, false)),
        }
    })
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse");
    let entries = fs::read_dir(folder).expect("the folder of cases");
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hol"))
        .collect();
    cases.sort();
    cases
}

#[test]
fn cases_give_what_their_neighbours_say() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let name = case.file_name().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&case).expect("a readable case");
        let (extension, found) = match outcome(&name, &text) {
            Ok(tree) => ("ast", tree),
            Err(errors) => ("err", errors),
        };
        // Lines of drawings end in blanks, which editors and version control do not like.
        let found: String = found.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let neighbour = case.with_extension(extension);
        if (extension == "err") != name.starts_with("error_") {
            wrong.push(format!("{name} gave\n{found}"));
        } else if bless {
            fs::write(&neighbour, &found).expect("a writable neighbour");
        } else if fs::read_to_string(&neighbour).unwrap_or_default().replace("\r\n", "\n") != found {
            wrong.push(format!("{name} gave\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n(BLESS=1 rewrites what is expected)", wrong.join("\n"));
}

#[test]
fn every_expectation_has_its_case() {
    let cases = cases();
    assert!(cases.len() >= 50);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse");
    for entry in fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry of the folder").path();
        assert!(cases.contains(&path.with_extension("hol")), "{} has no case", path.display());
    }
}

#[test]
fn the_programs_of_the_language_description_parse() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md");
    let text = fs::read_to_string(path).expect("the description of the language").replace("\r\n", "\n");
    let programs: Vec<&str> =
        text.split("```hol\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(rest)).collect();
    assert!(programs.len() >= 5);
    for program in programs {
        if let Err(errors) = outcome("language.md", program) {
            panic!("{errors}\nin\n{program}");
        }
    }
}

#[test]
fn tokens_are_dumped_one_a_line() {
    let mut sources = Sources::new();
    let file = sources.add("test.hol", "let é\n  x = \"a\n${'\\''}\" // end\n");
    let tokens = lex(&sources, file, &mut Diagnostics::default());
    let expected = r#"1:1 keyword let
1:5 error é
2:3 name x
2:5 symbol =
2:7 string-start "a\n${
3:3 char '\''
3:7 string-end }"
4:1 end
"#;
    assert_eq!(dump_tokens(&sources, file, &tokens), expected);
}
