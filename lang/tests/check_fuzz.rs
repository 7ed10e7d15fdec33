//! Whatever the text, the checker answers: damaged programs give errors or programs, never a panic, and not only after
//! minutes. What it lets pass, lowering must be able to translate, into code that the verifier accepts.
//!
//! The programs of `tests/check` and of the description are damaged by exchanging, dropping, doubling and moving
//! tokens, which keeps them close enough to the language that most of the damage reaches the checker. The seeds are
//! fixed; `FUZZ_ROUNDS` sets how many variants of each program are tried.

use std::fs;
use std::path::Path;

use holloway_bytecode::verify::verify;
use holloway_lang::lower::lower;
use holloway_lang::pipeline::{InMemory, check};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Words that are put in the place of others.
const WORDS: &[&str] = &[
    "Int",
    "String",
    "Any",
    "Bool",
    "Float",
    "T",
    "Node",
    "List<Int>",
    "null",
    "this",
    "super",
    "true",
    "0",
    "1.5",
    "\"x\"",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ".",
    "?.",
    "!",
    "?",
    "??",
    "??=",
    "=",
    "==",
    "+=",
    "->",
    "=>",
    "|",
    "||",
    "&&",
    "let",
    "var",
    "fn",
    "class",
    "enum",
    "interface",
    "init",
    "static",
    "override",
    "abstract",
    "private",
    "return",
    "throw",
    "break",
    "continue",
    "loop",
    "while",
    "for",
    "in",
    "if",
    "else",
    "match",
    "try",
    "catch e",
    "is",
    "as",
    "as?",
    "main",
    "x",
    "f",
    "value",
    "_",
    ";",
    "\n",
    "super()",
    "x.f",
    "a[0]",
    "f()",
    "Some(x)",
    "None",
    "C()",
    "|x| x",
    "|x: Int| { return x }",
    "loop { break 1 }",
    "if let y = x { y }",
    "native.print",
    "${x}",
    "Never",
    "Unit",
];

fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for folder in ["tests/check/good", "tests/check/bad"] {
        let entries = fs::read_dir(root.join(folder)).expect("the folder of test programs is there");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "hol")) {
            texts.push(fs::read_to_string(path).expect("a readable program"));
        }
    }
    let description = fs::read_to_string(root.join("../docs/language.md")).expect("the description is there");
    let blocks = description.split("```hol\n").skip(1).filter_map(|rest| rest.split("```").next());
    texts.extend(blocks.map(str::to_string));
    texts
}

/// Splits a text into words, punctuation and space, nothing lost.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 0,
        _ if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens: Vec<String> = Vec::new();
    let mut last = 2;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(token) if kind(c) == last && last != 2 => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = kind(c);
    }
    tokens
}

fn damage(tokens: &[String], random: &mut SmallRng) -> String {
    let mut tokens = tokens.to_vec();
    for _ in 0..random.random_range(1..=3) {
        if tokens.is_empty() {
            break;
        }
        let at = random.random_range(0..tokens.len());
        let other = random.random_range(0..tokens.len());
        match random.random_range(0..6) {
            0 => drop(tokens.remove(at)),
            1 => tokens.swap(at, other),
            2 => tokens.insert(at, format!(" {} ", WORDS[random.random_range(0..WORDS.len())])),
            3 => tokens[at] = format!(" {} ", WORDS[random.random_range(0..WORDS.len())]),
            4 => tokens[at] = tokens[other].clone(),
            _ => {
                let end = (at + random.random_range(1..12)).min(tokens.len());
                let piece: Vec<String> = tokens[at..end].to_vec();
                tokens.splice(other..other, piece);
            }
        }
    }
    tokens.concat()
}

#[test]
fn damaged_programs_are_answered() {
    let rounds = std::env::var("FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let programs: Vec<Vec<String>> = programs().iter().map(|text| tokens(text)).collect();
    for seed in 0..rounds {
        let mut random = SmallRng::seed_from_u64(seed);
        for program in &programs {
            let text = damage(program, &mut random);
            let files = InMemory::new().with("main.hol", text.as_str());
            let result = std::panic::catch_unwind(|| {
                let checked = check("main.hol", &files).ok()?;
                let program = lower(checked.program, &checked.sources).ok()?;
                verify(program).err().map(|errors| format!("{}", errors[0]))
            });
            match result {
                Ok(None) => {}
                Ok(Some(error)) => panic!("seed {seed}: {error}\n{text}"),
                Err(_) => panic!("seed {seed} panicked:\n{text}"),
            }
        }
    }
}
