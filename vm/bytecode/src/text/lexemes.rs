//! How names, strings and numbers are spelled: what the printer writes and the cursor reads.

use std::borrow::Cow;
use std::fmt::Write;

/// The NaN that arithmetic gives; others are written with their bits.
const CANONICAL_NAN: u64 = 0x7ff8_0000_0000_0000;

/// How many bytes of the beginning of `text` are a name that needs no quotes: letters, digits, `_ $ .`, and type
/// arguments in angle brackets, as in `Map<String, Int?>.get`. 0 if it begins otherwise.
pub(super) fn bare_name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$')) {
        return 0;
    }
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'<' => match angle_brackets_length(&bytes[at..]) {
                Some(length) => at += length,
                None => return at,
            },
            b if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.') => at += 1,
            _ => return at,
        }
    }
    at
}

/// Bytes up to and with the `>` that closes the `<` at the beginning.
fn angle_brackets_length(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut previous = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if previous == b'-' => {}
            b'>' => depth -= 1,
            b if b.is_ascii_alphanumeric() || b"_$., ?()-&:".contains(&b) => {}
            _ => return None,
        }
        if depth == 0 {
            return Some(i + 1);
        }
        previous = byte;
    }
    None
}

/// A name as it is written: bare if it can be, else quoted.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    if !name.is_empty() && bare_name_length(name) == name.len() { name.into() } else { quoted(name).into() }
}

/// A string in quotes, on one line.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Characters that would make a line look different from what it is: line separators, direction marks, byte order mark.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A double from its bits; reads back as the same bits.
pub(super) fn double(bits: u64) -> String {
    let value = f64::from_bits(bits);
    match value.is_nan() {
        true if bits == CANONICAL_NAN => "nan".to_string(),
        true => format!("nan:{bits:#018x}"),
        false => format!("{value:?}"),
    }
}

/// The bits of a double as [`double`] writes it.
pub(super) fn parse_double(text: &str) -> Option<u64> {
    if text == "nan" {
        return Some(CANONICAL_NAN);
    }
    if let Some(digits) = text.strip_prefix("nan:0x") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return f64::from_bits(bits).is_nan().then_some(bits);
    }
    let value: f64 = text.parse().ok()?;
    (!value.is_nan()).then_some(value.to_bits())
}

/// The most similar of some words, if one is similar enough to have been meant.
pub(super) fn similar<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.chars().count() / 3 + 1;
    let rated = words.map(|w| (distance(word, w, limit), w.len().abs_diff(word.len()), w));
    rated.filter(|&(distance, ..)| distance <= limit).min().map(|(.., w)| w)
}

/// Edits (insert, delete, replace) between two words; anything above `limit` counts as `limit + 1`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let b: Vec<char> = b.chars().collect();
    if a.chars().count().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + (x != y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()].min(limit + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bare_where_they_can_be() {
        for bare in
            ["x", "_1", "Point.length", "List<Int>", "Map<String, List<Int?>>.get", "F<fn(A) -> B>", "$a"]
        {
            assert_eq!(name(bare), bare);
        }
        for odd in ["", "1", "a b", "List<", "List<Int", "a>", "List<\n>", "fn(Int)", "a#1", "a;b", "é"] {
            assert_eq!(name(odd), quoted(odd));
        }
    }

    #[test]
    fn doubles_read_back_the_same() {
        let bits = [
            0,
            1 << 63,
            1,
            f64::MAX.to_bits(),
            f64::INFINITY.to_bits(),
            f64::NEG_INFINITY.to_bits(),
            CANONICAL_NAN,
            CANONICAL_NAN | 1,
            0xfff0_0000_0000_0001,
            0.1_f64.to_bits(),
            1e300_f64.to_bits(),
        ];
        for bits in bits {
            assert_eq!(parse_double(&double(bits)), Some(bits), "{}", double(bits));
        }
        assert_eq!(parse_double("nan:0x0"), None);
    }

    #[test]
    fn the_similar_word_is_found() {
        let words = ["add", "addi", "brlt", "brlti"];
        assert_eq!(similar("brlty", words.into_iter()), Some("brlti"));
        assert_eq!(similar("xyz", words.into_iter()), None);
        assert_eq!(distance("kitten", "sitting", 9), 3);
    }
}
