//! Input that means harm: nesting without end, junk, truncated programs, random tokens. The parser must come
//! back with a tree of bounded depth or with errors, never with a panic, an overflowing stack or after hours.

use std::fs;
use std::path::Path;

use holloway_lang::ast::MAX_NESTING;
use holloway_lang::diagnostics::Diagnostics;
use holloway_lang::dump::{dump_ast, dump_tokens};
use holloway_lang::lexer::lex;
use holloway_lang::parser::parse;
use holloway_lang::render::render;
use holloway_lang::sources::Sources;
use holloway_lang::span::Span;
use holloway_lang::with_deep_stack;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

/// Parses, dumps and renders; gives the messages.
fn survive(text: &str) -> Vec<String> {
    with_deep_stack(|| {
        let mut sources = Sources::new();
        let file = sources.add("hostile.hol", text);
        let mut diagnostics = Diagnostics::default();
        let module = parse(&sources, file, &mut diagnostics);
        if diagnostics.is_empty() {
            // Words in lists are at most a handful of levels apart from nodes of the tree.
            assert!(depth(&dump_ast(&module)) < 5 * MAX_NESTING as usize);
        }
        render(&sources, &diagnostics, false);
        diagnostics.sorted().iter().map(|diagnostic| diagnostic.message.clone()).collect()
    })
}

/// How deep parentheses nest.
fn depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in text.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn body(text: &str) -> String {
    format!("fn main() {{ {text} }}")
}

const MANY: usize = 100_000;

fn repeated(part: &str, count: usize) -> String {
    part.repeat(count)
}

#[test]
fn nesting_without_end_is_one_error() {
    let cases = [
        ("parentheses", format!("{}a{}", repeated("(", MANY), repeated(")", MANY))),
        ("open parentheses", repeated("(", MANY)),
        ("brackets", repeated("[", MANY)),
        ("blocks", repeated("{", MANY)),
        ("statements in blocks", repeated("{ a; ", MANY)),
        ("not", format!("{}a", repeated("!", MANY))),
        ("minus", format!("{}1", repeated("- ", MANY))),
        ("sum", format!("a{}", repeated(" + a", MANY))),
        ("comparison of sums", format!("a{} < b", repeated(" + a", MANY))),
        ("coalescing", format!("a{}", repeated(" ?? a", MANY))),
        ("casts", format!("a{}", repeated(" as T", MANY))),
        ("conjunction", format!("a{}", repeated(" && b || c", MANY))),
        ("members", format!("a{}", repeated(".b", MANY))),
        ("method calls", format!("a{}", repeated(".b()", MANY))),
        ("calls", format!("a{}", repeated("()", MANY))),
        ("arguments", repeated("f(", MANY)),
        ("elements", format!("a{}", repeated("[0]", MANY))),
        ("indices", repeated("a[", MANY)),
        ("non-null", format!("a{}", repeated("!", MANY))),
        ("else if", format!("if a {{}} {}", repeated("else if b {} ", MANY))),
        ("if in if", repeated("if a { ", MANY)),
        ("if in conditions", repeated("if ", MANY)),
        ("while in while", repeated("while a { ", MANY)),
        ("for in for", repeated("for i in a { ", MANY)),
        ("loop in loop", repeated("loop { ", MANY)),
        ("match in match", repeated("match a { b => ", MANY)),
        ("match in scrutinees", repeated("match ", MANY)),
        ("try in try", repeated("try { ", MANY)),
        ("closures", repeated("|x| ", MANY)),
        ("closures without parameters", repeated("|| ", MANY)),
        ("return", repeated("return ", MANY)),
        ("throw", repeated("throw ", MANY)),
        ("break", repeated("break ", MANY)),
        ("let closures", repeated("let a = || { ", MANY)),
        ("types", format!("let a: {}Int", repeated("List<", MANY))),
        ("closed types", format!("let a: {}Int{} = b", repeated("List<", MANY), repeated(">", MANY))),
        ("nullable types", format!("let a: Int{} = b", repeated(" ?", MANY))),
        ("types in parentheses", format!("let a: {}", repeated("(", MANY))),
        ("function types", format!("let a: {}", repeated("fn(", MANY))),
        ("result types", format!("let a: {}Int = b", repeated("fn() -> ", MANY))),
        ("type arguments", format!("{}Int{}()", repeated("List<", MANY), repeated(">", MANY))),
        ("patterns", format!("match a {{ {}", repeated("P(", MANY))),
        ("interpolations", repeated("\"${", MANY)),
        ("closed interpolations", format!("{}a{}", repeated("\"${", MANY), repeated("}\"", MANY))),
        ("sums in parentheses", {
            let inner = repeated(" + a", 500);
            format!("{}a{}", repeated("(", 500), repeated(&format!("{inner})"), 500))
        }),
        ("chains in arguments", {
            let chain = repeated(".b", 400);
            format!("{}a{}", repeated("f(", 400), repeated(&format!("{chain})"), 400))
        }),
    ];
    for (name, text) in cases {
        let messages = survive(&body(&text));
        let too_deep = messages.iter().filter(|message| message.contains("nests too deeply")).count();
        // Type lists are refused before they nest if they cannot be read as such.
        let about_syntax = messages.len() - too_deep;
        let unclosed = usize::from(messages.iter().any(|message| message.contains("never closed")));
        assert!(too_deep == 1 && about_syntax <= unclosed, "{name}: {messages:?}");
    }
}

#[test]
fn long_but_shallow_programs_are_fine() {
    let cases = [
        ("statements", body(&repeated("a; ", MANY))),
        ("arguments", body(&format!("f({})", repeated("a, ", MANY)))),
        ("elements", body(&format!("[{}]", repeated("1, ", MANY)))),
        ("arms", body(&format!("match a {{ {} }}", repeated("1 => b, ", MANY)))),
        ("alternatives", body(&format!("match a {{ 1{} => b }}", repeated(" | 1", MANY)))),
        ("interpolations", body(&format!("\"{}\"", repeated("${a} ", MANY)))),
        ("comparisons that look like type arguments", body(&format!("f({}a)", repeated("a < b, ", MANY)))),
        ("functions", repeated("fn f() {}\n", MANY)),
        ("catches", body(&format!("try {{}} {}", repeated("catch e {} ", MANY)))),
        ("depth below the limit", body(&format!("{}a{}", repeated("(", 450), repeated(")", 450)))),
        ("sum below the limit", body(&format!("a{}", repeated(" + a", 900)))),
        ("comments", repeated("/* ", MANY) + &repeated("*/ ", MANY)),
    ];
    for (name, text) in cases {
        let messages = survive(&text);
        assert!(messages.is_empty(), "{name}: {messages:?}");
    }
}

#[test]
fn many_errors_are_found_in_time() {
    for part in [
        "(a b\n",
        "f(\n",
        "f((((\n",
        "a < ",
        "a<b,",
        "\" ",
        "\"${\n",
        "'a' '",
        "{ } }",
        "fn f(",
        "class A { fn f() {\n",
        "let x = \n",
        "match a { 1 => \n",
        "[1, 2\n",
        ") ",
        "} ",
        "else ",
        "§ ",
        "\"\\",
        "\"\"\"",
        "/* \"",
        "if a b {\n",
        "enum E { A(",
        "x: Int = 1\n",
        "| ",
        "a ? b : c\n",
        "private ",
        "import a.\n",
        "1.\n",
        "0x ",
        "\\\n\"",
        "a<b<c<d<",
        "@",
        "a.b<c>(",
        "${ } ",
        "fn f() {};",
        "      {};",
    ] {
        for text in [repeated(part, MANY), body(&repeated(part, MANY))] {
            survive(&text);
        }
    }
    // What does not end the line of an interpolation that has no end.
    survive(&body(&format!("\"${{{}", repeated("/**/", MANY))));
}

#[test]
fn random_bytes_are_errors() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut bytes = vec![0; 1 << 20];
    random.fill_bytes(&mut bytes);
    assert!(!survive(&String::from_utf8_lossy(&bytes)).is_empty());
    let printable: Vec<u8> = bytes.iter().map(|byte| b' ' + byte % 95).collect();
    assert!(!survive(&String::from_utf8_lossy(&printable)).is_empty());
}

/// All good cases in one text, without their imports, which would have to stand first, and without the one whose
/// indentation lies about its braces.
fn good_program() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| {
            path.with_extension("ast").exists() && path.extension().is_some_and(|end| end == "hol")
        })
        .collect();
    paths.retain(|path| !path.ends_with("indentation_means_nothing.hol"));
    paths.sort();
    let texts: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).expect("a case")).collect();
    let program = texts.join("\n").replace('\u{feff}', "");
    program.lines().filter(|line| !line.starts_with("import")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn programs_truncated_at_every_byte_are_survived() {
    let program = good_program();
    let mut checked = 0;
    with_deep_stack(|| {
        for end in (0..program.len()).filter(|end| program.is_char_boundary(*end)) {
            let mut sources = Sources::new();
            let file = sources.add("truncated.hol", &program[..end]);
            let mut diagnostics = Diagnostics::default();
            parse(&sources, file, &mut diagnostics);
            // What is cut off is missing at one place, which gives few errors.
            let count = diagnostics.sorted().len();
            assert!(count <= 4, "{}", render(&sources, &diagnostics, false));
            checked += 1;
        }
    });
    assert!(checked > 5_000);
}

#[test]
fn programs_without_one_token_are_survived() {
    let program = good_program();
    with_deep_stack(|| {
        let mut sources = Sources::new();
        let file = sources.add("whole.hol", &*program);
        let tokens = lex(&sources, file, &mut Diagnostics::default());
        for token in tokens {
            let mut text = program.clone();
            text.replace_range(token.start as usize..token.end as usize, "");
            let mut sources = Sources::new();
            let file = sources.add("without.hol", text);
            let mut diagnostics = Diagnostics::default();
            parse(&sources, file, &mut diagnostics);
            render(&sources, &diagnostics, false);
        }
    });
}

#[test]
fn random_tokens_are_survived() {
    const WORDS: &[&str] = &[
        "fn",
        "class",
        "let",
        "var",
        "if",
        "else",
        "match",
        "while",
        "for",
        "in",
        "loop",
        "try",
        "catch",
        "return",
        "a",
        "B",
        "_",
        "1",
        "1.5",
        "'a'",
        "'l",
        "\"s\"",
        "\"${",
        "}\"",
        "}x${",
        "\"\"\"r\"\"\"",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        ">>",
        ">>>",
        ",",
        ";",
        ":",
        ".",
        "?.",
        "..",
        "..=",
        "?",
        "->",
        "=>",
        "=",
        "+=",
        "==",
        "+",
        "-",
        "*",
        "|",
        "||",
        "&&",
        "!",
        "~",
        "??",
        "is",
        "as",
        "enum",
        "interface",
        "abstract",
        "private",
        "static",
        "override",
        "final",
        "init",
        "super",
        "this",
        "null",
        "true",
        "import",
        "step",
        "break",
        "continue",
        "throw",
        "\n",
        "\n",
        "\n",
        "§",
        "\"",
        "'",
        "/*",
        "*/",
        "//",
        "new",
        "x++",
        "elif",
        "main() {",
        "fn f() {",
    ];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for _ in 0..3_000 {
        let length = random.random_range(1..120);
        let soup: Vec<&str> = (0..length).map(|_| WORDS[random.random_range(0..WORDS.len())]).collect();
        survive(&soup.join(" "));
        survive(&body(&soup.join(" ")));
    }
}

#[test]
fn token_places_are_in_order_and_cover_the_text() {
    let program = good_program();
    let mut sources = Sources::new();
    let file = sources.add("whole.hol", &*program);
    let mut diagnostics = Diagnostics::default();
    let tokens = lex(&sources, file, &mut diagnostics);
    assert!(diagnostics.is_empty(), "{}", render(&sources, &diagnostics, false));
    let dump = dump_tokens(&sources, file, &tokens);
    let mut end = 0;
    for (token, line) in tokens.iter().zip(dump.lines()) {
        let span = token.span(file);
        let (row, column) = sources.line_column(span);
        assert!(line.starts_with(&format!("{row}:{column} {}", token.kind.name())), "{line}");
        let between = sources.slice(Span { start: end, end: span.start, ..span });
        assert_eq!(token.newline_before, between.contains('\n'), "{line}");
        end = span.end;
    }
}
