//! The tokens that no regular expression describes: strings, characters and labels, nesting comments, the
//! checks of numbers, and runs of characters that belong to no token.

use super::literals::{NumberError, float_value, int_value, read_escape};
use super::{Checkpoint, Interpolation, Lexer, TokenKind};
use crate::diagnostics::Diagnostic;

/// A character literal with more between its quotes than this is not taken for one.
const LONGEST_WRONG_CHARACTER: usize = 40;

impl Lexer<'_> {
    /// A string whose opening quote stands at `start`.
    pub(super) fn string(&mut self, start: usize) {
        let checkpoint = self.checkpoint(start);
        if self.text[start..].starts_with("\"\"\"") {
            self.raw_string(start);
        } else {
            self.string_text(checkpoint, start, start + 1, TokenKind::StrStart);
        }
    }

    /// The text of a string from `from` to its next interpolation or its end. The token begins at `start` with
    /// a quote (`opening` is `StrStart`) or the brace that closes an interpolation (`StrMiddle`); `string` is
    /// where the whole string begins.
    pub(super) fn string_text(&mut self, string: Checkpoint, start: usize, from: usize, opening: TokenKind) {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let first = opening == TokenKind::StrStart;
                    self.push(if first { TokenKind::Str } else { TokenKind::StrEnd }, start, at + 1);
                    return self.seek(at + 1);
                }
                b'$' if bytes.get(at + 1) == Some(&b'{') => {
                    self.push(opening, start, at + 2);
                    let opening = self.span(at, at + 2);
                    self.interpolations.push(Interpolation { opening, string, braces: 0 });
                    return self.seek(at + 2);
                }
                b'\\' if at + 1 < bytes.len() => {
                    let escape = read_escape(&self.text[at..]);
                    if let Err(message) = escape.value {
                        self.report_escape(at, escape.length, message);
                    }
                    at += escape.length;
                }
                b'\n' if self.strict => break,
                _ => at += 1,
            }
        }
        if self.strict {
            self.unterminated_string(string.start, start, at, opening);
        } else {
            let outermost = self.interpolations.first().map_or(string, |outermost| outermost.string);
            self.go_back(outermost);
        }
    }

    /// A string with its opening `quote` that had to be ended at the end of its line, at `end`; its last token
    /// begins at `start`.
    fn unterminated_string(&mut self, quote: usize, start: usize, end: usize, opening: TokenKind) {
        if self.interpolations.is_empty() {
            self.report_strict(
                Diagnostic::new(
                    self.span(quote, quote + 1),
                    "a string is never closed",
                    "the string that begins here has no closing quote",
                )
                .help("close it with `\"`, or write `\\\"` for a quote inside"),
            );
        }
        self.push(TokenKind::Error, start, end);
        if opening == TokenKind::StrMiddle {
            self.push(TokenKind::StrEnd, end, end);
        }
        self.close_interpolations();
        self.seek(end);
    }

    fn report_escape(&mut self, at: usize, length: usize, message: &'static str) {
        let help = "the escapes are `\\n \\r \\t \\0 \\\" \\' \\\\ \\$ \\x41 \\u{e9}`";
        let span = self.span(at, at + length);
        self.report(Diagnostic::new(span, "an escape sequence is wrong", message).help(help));
    }

    /// `"""raw"""`. Of a run of closing quotes the last three close, so that the text may end in quotes.
    fn raw_string(&mut self, start: usize) {
        let text_start = start + 3;
        let Some(length) = self.text[text_start..].find("\"\"\"") else {
            self.report(
                Diagnostic::new(
                    self.span(start, text_start),
                    "a raw string is never closed",
                    "the raw string that begins here has no closing `\"\"\"`",
                )
                .help("close it with `\"\"\"`"),
            );
            self.push(TokenKind::Error, start, self.text.len());
            return self.seek(self.text.len());
        };
        let quotes = self.text[text_start + length..].bytes().take_while(|byte| *byte == b'"').count();
        let end = text_start + length + quotes;
        self.push(TokenKind::RawStr, start, end);
        self.seek(end);
    }

    /// `'a'` or `'label`, at the quote at `start`.
    pub(super) fn character(&mut self, start: usize) {
        let rest = &self.text[start + 1..];
        let mut characters = rest.chars();
        let length = match characters.next() {
            Some('\\') => {
                let escape = read_escape(rest);
                if let Err(message) = escape.value {
                    self.report_escape(start + 1, escape.length, message);
                }
                escape.length
            }
            Some('\'') if rest.starts_with("''") => {
                self.report(
                    Diagnostic::new(
                        self.span(start, start + 3),
                        "a quote in a character literal needs a backslash",
                        "this is not a character",
                    )
                    .help("write `'\\''`"),
                );
                return self.finish(TokenKind::Char, start, start + 3);
            }
            Some('\'') => {
                self.report(
                    Diagnostic::new(
                        self.span(start, start + 2),
                        "a character literal is empty",
                        "no character between the quotes",
                    )
                    .help("a string without characters is written `\"\"`"),
                );
                return self.finish(TokenKind::Error, start, start + 2);
            }
            Some(character) if character != '\n' => character.len_utf8(),
            _ => 0,
        };
        if length > 0 && rest[length..].starts_with('\'') {
            return self.finish(TokenKind::Char, start, start + length + 2);
        }
        let word = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let is_label = word > 0 && !rest.as_bytes()[0].is_ascii_digit();
        let closing = rest
            .char_indices()
            .take(LONGEST_WRONG_CHARACTER)
            .take_while(|(_, character)| *character != '\n')
            .find(|(offset, character)| *character == '\'' && *offset >= length)
            .map(|(offset, _)| offset);
        // A label stands before a colon or behind a jump.
        let behind_jump = self
            .tokens
            .last()
            .is_some_and(|token| matches!(token.kind, TokenKind::Break | TokenKind::Continue));
        let is_placed = is_label && (behind_jump || rest[word..].trim_start_matches(' ').starts_with(':'));
        match closing {
            Some(offset) if !is_placed || offset == word => {
                let end = start + offset + 2;
                self.report(
                    Diagnostic::new(
                        self.span(start, end),
                        "a character literal holds one character",
                        "more than one Unicode code point",
                    )
                    .help("strings are written with `\"`"),
                );
                self.finish(TokenKind::Error, start, end);
            }
            _ if is_label => self.finish(TokenKind::Label, start, start + 1 + word),
            _ => {
                self.report(
                    Diagnostic::new(
                        self.span(start, start + 1),
                        "a character literal is never closed",
                        "this quote begins neither a character nor a label",
                    )
                    .help("a character is written `'a'`, a label `'name`, a string `\"text\"`"),
                );
                self.finish(TokenKind::Error, start, start + 1 + length);
            }
        }
    }

    fn finish(&mut self, kind: TokenKind, start: usize, end: usize) {
        self.push(kind, start, end);
        self.seek(end);
    }

    /// A comment `/* … */`, with those inside it.
    pub(super) fn block_comment(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        let mut open = 1_usize;
        let mut at = start + 2;
        while open > 0 {
            match bytes.get(at..at + 2) {
                Some(b"/*") => {
                    open += 1;
                    at += 2;
                }
                Some(b"*/") => {
                    open -= 1;
                    at += 2;
                }
                Some(_) => at += 1,
                None => {
                    self.report(
                        Diagnostic::new(
                            self.span(start, start + 2),
                            "a comment is never closed",
                            "the comment that begins here has no `*/`",
                        )
                        .help("comments nest: every `/*` needs its own `*/`"),
                    );
                    return self.finish(TokenKind::Error, start, self.text.len());
                }
            }
        }
        self.seek(at);
    }

    /// Checks a number and takes in the letters that stick to it.
    pub(super) fn number(&mut self, kind: TokenKind, start: usize, mut end: usize) {
        let tail = self.text.as_bytes()[end..].iter();
        end += tail.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let text = &self.text[start..end];
        let checked = match kind {
            TokenKind::Float => float_value(text).map(|_| ()),
            _ => int_value(text).map(|_| ()),
        };
        if let Err(NumberError { message, help }) = checked {
            self.report(Diagnostic::new(self.span(start, end), message, "this number").help(help));
        }
        self.finish(kind, start, end);
    }

    /// A run of characters of which none can begin a token, at `start`: one error for all.
    pub(super) fn junk(&mut self, start: usize) {
        let belongs = |character: char| {
            !character.is_ascii()
                || matches!(character, '#' | '@' | '$' | '\\' | '`')
                || (character.is_ascii_control() && !matches!(character, '\n' | '\r' | '\t' | '\x0C'))
        };
        let rest = &self.text[start..];
        let first = rest.chars().next().unwrap_or('\0');
        let length = rest.find(|character| !belongs(character)).unwrap_or(rest.len()).max(first.len_utf8());
        let shown: String = rest[..length].chars().take(20).flat_map(char::escape_debug).collect();
        let alone = length == first.len_utf8();
        let message = match alone {
            true => format!("the character `{shown}` cannot stand here"),
            false => format!("the characters `{shown}` cannot stand here"),
        };
        let mut diagnostic =
            Diagnostic::new(self.span(start, start + length), message, "not part of any token");
        if let Some(help) = help_for(first) {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
        self.finish(TokenKind::Error, start, start + length);
    }
}

/// What was probably meant by a character that begins no token.
fn help_for(character: char) -> Option<&'static str> {
    Some(match character {
        '#' => "comments begin with `//`",
        '@' => "there are no annotations",
        '`' => "strings are written with `\"`",
        '$' => "`$` is special only inside strings, as `${…}`",
        '\\' => "an expression goes on over a line end after an operator or inside parentheses",
        '“' | '”' | '„' | '«' | '»' => "strings are written with the plain quote `\"`",
        '‘' | '’' => "characters are written with the plain quote `'`",
        '−' | '–' | '—' => "minus is written `-`",
        '×' => "multiplication is written `*`",
        '≤' => "this is written `<=`",
        '≥' => "this is written `>=`",
        '≠' => "this is written `!=`",
        '→' => "this is written `->`",
        '…' => "a range is written `a..b`",
        '\u{a0}' | '\u{feff}' | '\u{2000}'..='\u{200f}' => "this is not an ordinary space",
        letter if letter.is_alphabetic() => "names are made of ASCII letters, digits and `_`",
        _ => return None,
    })
}
