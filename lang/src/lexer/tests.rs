//! Tests of the lexer.

use super::*;

fn kinds(text: &str) -> (String, Vec<String>) {
    let mut sources = Sources::new();
    let file = sources.add("test.hol", text);
    let mut diagnostics = Diagnostics::default();
    let tokens = lex(&sources, file, &mut diagnostics);
    let shown: Vec<String> = tokens
        .iter()
        .map(|token| {
            let newline = if token.newline_before { "\u{21b5}" } else { "" };
            format!("{newline}{}:{}", token.kind.name(), &text[token.start as usize..token.end as usize])
        })
        .collect();
    let errors = diagnostics.sorted().iter().map(|d| format!("{}: {}", d.span.start, d.message)).collect();
    (shown.join(" "), errors)
}

fn good(text: &str, expected: &str) {
    let (shown, errors) = kinds(text);
    assert_eq!(errors, Vec::<String>::new(), "{text}");
    assert_eq!(shown, format!("{expected} end:"), "{text}");
}

fn bad(text: &str, expected: &[&str]) {
    let (shown, errors) = kinds(text);
    assert_eq!(errors, expected, "{text} gave {shown}");
}

#[test]
fn numbers_members_and_ranges_are_told_apart() {
    good("1.max", "int:1 symbol:. name:max");
    good("1..2", "int:1 symbol:.. int:2");
    good("1.5..=2", "float:1.5 symbol:..= int:2");
    good("1e9 2.0e-3 0xff", "float:1e9 float:2.0e-3 int:0xff");
}

#[test]
fn operators_take_the_longest_match() {
    good("a>>>=b>>c?.d??=e", "name:a symbol:>>>= name:b symbol:>> name:c symbol:?. name:d symbol:??= name:e");
}

#[test]
fn keywords_are_whole_words() {
    good("let letter init _", "keyword:let name:letter keyword:init name:_");
}

#[test]
fn line_ends_are_seen_through_comments() {
    good("a // b\n/* c /* d */ \n */ e", "name:a \u{21b5}name:e");
    good("a /* b */ c", "name:a name:c");
    good("a /* b */ /* c\n */ /* d */ e /* f */ g", "name:a \u{21b5}name:e name:g");
}

#[test]
fn an_interpolation_without_end_ends_with_its_line() {
    let (shown, errors) = kinds("\"a${b /* c */ /* d */ e /* f */\n /* g */ h /* i */ j");
    assert!(shown.contains("name:b name:e "), "{shown}");
    assert!(shown.ends_with(" \u{21b5}name:h name:j end:"), "{shown}");
    assert_eq!(errors, ["2: an interpolation is never closed"]);
}

#[test]
fn characters_and_labels_are_told_apart() {
    good(r"'a' '\'' '\u{e9}' 'é'", r"char:'a' char:'\'' char:'\u{e9}' char:'é'");
    good("'outer: break 'o", "label:'outer symbol:: keyword:break label:'o");
}

#[test]
fn strings_with_interpolations_are_one_stream() {
    good(r#""a\"b$c""#, r#"string:"a\"b$c""#);
    good(
        r#""x${f("in ${y}", {1})}-${z}" w"#,
        concat!(
            r#"string-start:"x${ name:f symbol:( string-start:"in ${ name:y string-end:}" symbol:, symbol:{ "#,
            r#"int:1 symbol:} symbol:) string-middle:}-${ name:z string-end:}" name:w"#
        ),
    );
}

#[test]
fn raw_strings_keep_everything() {
    good(r#""""a\${b}"c"""" """"""" "#, r#"raw-string:"""a\${b}"c"""" raw-string:""""""""#);
    good("\"\"", "string:\"\"");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    good("\u{feff}let", "keyword:let");
}

#[test]
fn wrong_numbers_are_one_error_each() {
    bad("9223372036854775809", &["0: this integer is too large"]);
    bad("0x", &["0: this number has no digits"]);
    bad(
        "12ab + 1.5f",
        &["0: a number is followed directly by letters", "7: a number is followed directly by letters"],
    );
    bad("1e400", &["0: this number is too large for a `Float`"]);
}

#[test]
fn wrong_characters_are_one_error_each() {
    bad("'ab'", &["0: a character literal holds one character"]);
    bad("''", &["0: a character literal is empty"]);
    bad("'''", &["0: a quote in a character literal needs a backslash"]);
    bad("' ", &["0: a character literal is never closed"]);
    bad(r"'\q'", &["1: an escape sequence is wrong"]);
    bad("'hello world'", &["0: a character literal holds one character"]);
    bad("break 'a; x = 'b'", &[]);
}

#[test]
fn junk_is_one_error_a_run() {
    bad(
        "a §§§ b #@",
        &["2: the characters `§§§` cannot stand here", "11: the characters `#@` cannot stand here"],
    );
    bad("\0\0\u{1b}", &["0: the characters `\\0\\0\\u{1b}` cannot stand here"]);
}

#[test]
fn a_forgotten_quote_ends_at_its_line() {
    let (shown, errors) = kinds("let a = \"abc\nlet b = 2\n");
    assert_eq!(errors, ["8: a string is never closed"]);
    assert!(shown.ends_with("\u{21b5}keyword:let name:b symbol:= int:2 \u{21b5}end:"), "{shown}");
}

#[test]
fn a_forgotten_brace_ends_at_its_line() {
    let (shown, errors) = kinds("f(\"a${x\")\nlet b = \"c\"\n");
    assert_eq!(errors, ["4: an interpolation is never closed"]);
    assert!(
        shown.ends_with("string-end: \u{21b5}keyword:let name:b symbol:= string:\"c\" \u{21b5}end:"),
        "{shown}"
    );
}

#[test]
fn what_never_ends_is_one_error() {
    bad("a /* /* */ b", &["2: a comment is never closed"]);
    bad("a \"\"\" b \" c", &["2: a raw string is never closed"]);
    bad("\"${\"${\"${", &["1: an interpolation is never closed"]);
    bad("\"\\", &["0: a string is never closed"]);
}

#[test]
fn wrong_escapes_do_not_swallow_the_quote() {
    bad(
        r#""\x" "\u{" "\q" b"#,
        &[
            "1: an escape sequence is wrong",
            "6: an escape sequence is wrong",
            "12: an escape sequence is wrong",
        ],
    );
}
