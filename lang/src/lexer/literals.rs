//! The values of literals. The lexer calls these functions to report what is wrong with a literal, the parser
//! calls the same ones later for the value.

/// The longest `\u{…}` has this many digits.
const MAX_UNICODE_DIGITS: usize = 6;

/// The value of an integer literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IntLiteral {
    /// The bits. A decimal literal is at most 2^63, which only a minus makes writable.
    pub bits: u64,
    /// Written in decimal digits.
    pub decimal: bool,
}

/// What is wrong with a number: the message and the way out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NumberError {
    /// What is wrong.
    pub message: &'static str,
    /// What would be right.
    pub help: &'static str,
}

/// Reads an integer literal.
pub(crate) fn int_value(text: &str) -> Result<IntLiteral, NumberError> {
    let error = |message, help| Err(NumberError { message, help });
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0b") => (&text[2..], 2),
        Some("0X" | "0B") => {
            return error("the prefix of a number is written in lower case", "write `0x` or `0b`");
        }
        Some("0o" | "0O") => {
            return error("there are no octal numbers", "write the number in hexadecimal, after `0x`");
        }
        _ => (text, 10),
    };
    let mut bits = 0_u64;
    let mut any = false;
    for digit in digits.chars().filter(|digit| *digit != '_') {
        let Some(value) = digit.to_digit(radix) else {
            return match radix {
                16 => error(
                    "a hexadecimal number has a character that is no digit",
                    "the digits are `0` to `9` and `a` to `f`",
                ),
                2 => error(
                    "a binary number has a character that is no digit",
                    "the digits are `0` and `1`; hexadecimal numbers begin with `0x`",
                ),
                _ => error(
                    "a number is followed directly by letters",
                    "numbers have no suffixes; a `Float` is written `1.0`",
                ),
            };
        };
        any = true;
        match bits.checked_mul(u64::from(radix)).and_then(|bits| bits.checked_add(u64::from(value))) {
            Some(next) if radix != 10 || next <= 1 << 63 => bits = next,
            _ if radix == 10 => {
                return error("this integer is too large", "the largest `Int` is 9223372036854775807");
            }
            _ => return error("this integer has more than 64 bits", "an `Int` has 64 bits"),
        }
    }
    if !any {
        return error("this number has no digits", "digits follow the prefix, as in `0xff` and `0b1010`");
    }
    check_separators(digits)?;
    Ok(IntLiteral { bits, decimal: radix == 10 })
}

/// Reads a float literal.
pub(crate) fn float_value(text: &str) -> Result<f64, NumberError> {
    text.split(['.', 'e', 'E', '+', '-']).filter(|part| !part.is_empty()).try_for_each(check_separators)?;
    let digits: String = text.chars().filter(|digit| *digit != '_').collect();
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(NumberError {
            message: "this number is too large for a `Float`",
            help: "the largest `Float` is about 1.8e308; `Float.INFINITY` is infinity",
        }),
        Err(_) => Err(NumberError {
            message: "a number is followed directly by letters",
            help: "numbers have no suffixes; an exponent has digits, as in `1.0e9`",
        }),
    }
}

/// Separators stand between two digits.
fn check_separators(digits: &str) -> Result<(), NumberError> {
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return Err(NumberError {
            message: "a separator in a number stands between two digits",
            help: "write it as in `1_000_000`",
        });
    }
    Ok(())
}

/// An escape sequence.
pub(crate) struct Escape {
    /// Its length in bytes with the backslash.
    pub length: usize,
    /// What it stands for, or what is wrong.
    pub value: Result<char, &'static str>,
}

/// Reads the escape sequence at the start of `text`, which begins with a backslash. A wrong one never reaches
/// over a quote or a line end.
pub(crate) fn read_escape(text: &str) -> Escape {
    let simple = |value| Escape { length: 2, value: Ok(value) };
    let wrong = |length, message| Escape { length, value: Err(message) };
    let Some(letter) = text[1..].chars().next() else {
        return wrong(1, "a backslash begins an escape sequence");
    };
    match letter {
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        '0' => simple('\0'),
        '"' => simple('"'),
        '\'' => simple('\''),
        '\\' => simple('\\'),
        '$' => simple('$'),
        'x' => {
            let digits = text[2..].bytes().take(2).take_while(u8::is_ascii_hexdigit).count();
            match u8::from_str_radix(&text[2..2 + digits], 16) {
                Ok(byte) if digits == 2 && byte.is_ascii() => {
                    Escape { length: 4, value: Ok(char::from(byte)) }
                }
                Ok(_) if digits == 2 => wrong(4, "`\\x` goes up to `7F`; use `\\u{…}` beyond"),
                _ => wrong(2 + digits, "`\\x` needs two hexadecimal digits"),
            }
        }
        'u' if text[2..].starts_with('{') => {
            let digits = text[3..].bytes().take_while(u8::is_ascii_hexdigit).count();
            if !text[3 + digits..].starts_with('}') || digits == 0 {
                return wrong(3 + digits, "`\\u{` needs hexadecimal digits and a closing `}`");
            }
            let value = match digits {
                ..=MAX_UNICODE_DIGITS => u32::from_str_radix(&text[3..3 + digits], 16).ok(),
                _ => None,
            };
            let value = value.and_then(char::from_u32);
            Escape { length: 4 + digits, value: value.ok_or("there is no such Unicode character") }
        }
        'u' => wrong(2, "`\\u` is followed by hexadecimal digits in braces, as in `\\u{e9}`"),
        '\n' | '\r' => wrong(1, "a backslash begins an escape sequence"),
        other => wrong(1 + other.len_utf8(), "there is no such escape sequence"),
    }
}

/// Resolves all escapes of string text. What is wrong was reported by the lexer and becomes U+FFFD.
pub(crate) fn unescape(mut text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    while let Some(backslash) = text.find('\\') {
        result.push_str(&text[..backslash]);
        let escape = read_escape(&text[backslash..]);
        result.push(escape.value.unwrap_or(char::REPLACEMENT_CHARACTER));
        text = &text[backslash + escape.length..];
    }
    result.push_str(text);
    result
}

/// The value of a character literal with its quotes.
pub(crate) fn char_value(text: &str) -> char {
    let inner = &text[1..text.len() - 1];
    match inner.starts_with('\\') {
        true => read_escape(inner).value.unwrap_or(char::REPLACEMENT_CHARACTER),
        false => inner.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_up_to_their_limits() {
        let bits = |text| int_value(text).map(|literal| literal.bits);
        assert_eq!(bits("0"), Ok(0));
        assert_eq!(bits("1_000_000"), Ok(1_000_000));
        assert_eq!(bits("9223372036854775808"), Ok(1 << 63));
        assert_eq!(bits("0xffff_ffff_ffff_ffff"), Ok(u64::MAX));
        assert_eq!(bits("0b1010"), Ok(10));
        for wrong in
            ["9223372036854775809", "0x1_0000_0000_0000_0000", "0x", "0b", "0b12", "0xfg", "0o7", "0X1"]
        {
            assert!(int_value(wrong).is_err(), "{wrong}");
        }
        for wrong in ["1_", "1__0", "0x_1", "12ab", "99999999999999999999999999"] {
            assert!(int_value(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn floats_up_to_their_limits() {
        assert_eq!(float_value("1_0.2_5e-1_0"), Ok(10.25e-10));
        assert_eq!(float_value("1e-400"), Ok(0.0));
        for wrong in ["1e309", "1_.0", "1.0_", "1e1_", "1.0e5x"] {
            assert!(float_value(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn escapes_stand_for_their_characters() {
        assert_eq!(unescape(r#"a\n\r\t\0\"\\\'\$\x41\u{e9}\u{1F600}z"#), "a\n\r\t\0\"\\'$A\u{e9}\u{1F600}z");
        assert_eq!(unescape(r"\q\x9z\u{110000}\u{"), "\u{fffd}\u{fffd}z\u{fffd}\u{fffd}");
        assert_eq!(char_value("'é'"), 'é');
        assert_eq!(char_value(r"'\''"), '\'');
    }
}
