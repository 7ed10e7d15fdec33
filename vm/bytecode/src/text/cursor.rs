//! A place in the text that is being assembled, and the ways to step over what is there. There is no separate lexer:
//! what a piece of text means depends on which operand is expected, and that is known when it is read.

use super::lexemes;
use std::borrow::Cow;

/// What went wrong, and at which byte of the text.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub at: usize,
    pub message: String,
}

pub(super) type Read<T> = Result<T, Failure>;

/// Where a reference is, and what it says: a name, a number, or both.
pub(super) struct Reference<'t> {
    pub at: usize,
    pub name: Option<Name<'t>>,
    pub number: Option<u32>,
}

/// A name, and whether it was in quotes.
pub(super) struct Name<'t> {
    pub text: Cow<'t, str>,
    pub quoted: bool,
}

/// A place in the text.
#[derive(Clone)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str, at: usize) -> Cursor<'t> {
        Cursor { text, at }
    }

    /// The text from here on.
    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(Failure { at: self.at, message: message.into() })
    }

    /// Over spaces.
    pub fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r']).len();
    }

    /// Over spaces, comments and line ends.
    pub fn lines(&mut self) {
        loop {
            self.blanks();
            self.comment();
            if !self.rest().starts_with('\n') {
                return;
            }
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        if self.rest().starts_with(';') {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// To the beginning of the next line.
    pub fn skip_line(&mut self) {
        self.at += self.rest().find('\n').map_or(self.rest().len(), |n| n + 1);
    }

    /// Nothing but spaces and a comment up to the end of the line.
    pub fn at_line_end(&mut self) -> bool {
        self.blanks();
        self.rest().is_empty() || self.rest().starts_with([';', '\n'])
    }

    /// Over the end of the line; nothing may come before it.
    pub fn line_end(&mut self) -> Read<()> {
        if !self.at_line_end() {
            return self.fail(format!("expected the end of the line, found `{}`", self.excerpt()));
        }
        self.comment();
        self.skip_line();
        Ok(())
    }

    /// A little of what is here, for messages.
    pub fn excerpt(&self) -> &'t str {
        let line = self.rest().lines().next().unwrap_or("");
        let line = line.split([' ', '\t', ';']).next().unwrap_or("");
        match line.char_indices().nth(24) {
            Some((end, _)) => &line[..end],
            None => line,
        }
    }

    fn found(&mut self) -> String {
        if self.at_line_end() {
            "the line ends here".to_string()
        } else {
            format!("found `{}`", self.excerpt())
        }
    }

    /// A failure that says what should be here.
    pub fn expected<T>(&mut self, what: &str) -> Read<T> {
        let found = self.found();
        self.fail(format!("expected {what}, {found}"))
    }

    /// Over `mark` if it is here.
    pub fn eat(&mut self, mark: &str) -> bool {
        self.blanks();
        let here = self.rest().starts_with(mark);
        if here {
            self.at += mark.len();
        }
        here
    }

    pub fn expect(&mut self, mark: &str) -> Read<()> {
        if self.eat(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    /// Over `keyword` if it is the word here.
    pub fn eat_word(&mut self, keyword: &str) -> bool {
        self.blanks();
        let here = self.peek_word() == keyword;
        if here {
            self.at += keyword.len();
        }
        here
    }

    pub fn expect_word(&mut self, keyword: &str) -> Read<()> {
        if self.eat_word(keyword) { Ok(()) } else { self.expected(&format!("`{keyword}`")) }
    }

    /// The word here: letters, digits, `_` and `-`; may be empty.
    pub fn peek_word(&self) -> &'t str {
        let end = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        &self.rest()[..end.unwrap_or(self.rest().len())]
    }

    /// Over the word here.
    pub fn word(&mut self) -> &'t str {
        self.blanks();
        let word = self.peek_word();
        self.at += word.len();
        word
    }

    /// A whole number, decimal or `0x` hexadecimal, with an optional sign.
    pub fn integer(&mut self) -> Read<i128> {
        self.blanks();
        let text = self.rest();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (radix, skip) = if digits.starts_with("0x") { (16, 2) } else { (10, 0) };
        let digits = &digits[skip..];
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let length = text.len() - digits.len() + end;
        if end == 0 {
            return self.expected("a number");
        }
        let Ok(value) = i128::from_str_radix(&digits[..end], radix) else {
            return self.fail("this number is too large");
        };
        self.at += length;
        Ok(if text.starts_with('-') { -value } else { value })
    }

    /// A whole number in a range.
    pub fn number<T: TryFrom<i128>>(&mut self, what: &str) -> Read<T> {
        let start = self.at;
        match T::try_from(self.integer()?) {
            Ok(value) => Ok(value),
            Err(_) => Err(Failure { at: start, message: format!("this number does not fit {what}") }),
        }
    }

    /// A register.
    pub fn register(&mut self) -> Read<u32> {
        self.blanks();
        let digits = self.rest().strip_prefix('r').unwrap_or("");
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        match digits[..end].parse() {
            Ok(number) => {
                self.at += 1 + end;
                Ok(number)
            }
            Err(_) => self.expected("a register, such as `r3`"),
        }
    }

    /// A register that an instruction can name.
    pub fn register_operand(&mut self) -> Read<u16> {
        self.blanks();
        let at = self.at;
        let number = self.register()?;
        u16::try_from(number).or(Err(Failure { at, message: "registers end at r65535".to_string() }))
    }

    /// A double; gives its bits.
    pub fn double(&mut self) -> Read<u64> {
        self.blanks();
        let rest = self.rest();
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.:".contains(c))).unwrap_or(rest.len());
        match lexemes::parse_double(&rest[..end]) {
            Some(bits) => {
                self.at += end;
                Ok(bits)
            }
            None => self.expected("a float, such as `1.5`, `-inf` or `nan`"),
        }
    }

    /// A name, bare or quoted.
    pub fn name(&mut self) -> Read<Name<'t>> {
        self.blanks();
        if self.rest().starts_with('"') {
            return Ok(Name { text: self.string()?.into(), quoted: true });
        }
        match lexemes::bare_name_length(self.rest()) {
            0 => self.expected("a name"),
            length => {
                let text = &self.rest()[..length];
                self.at += length;
                Ok(Name { text: text.into(), quoted: false })
            }
        }
    }

    /// A name, `name#number` or `#number`.
    pub fn reference(&mut self) -> Read<Reference<'t>> {
        self.blanks();
        let at = self.at;
        let name = if self.rest().starts_with('#') { None } else { Some(self.name()?) };
        let number = if self.rest().starts_with('#') {
            self.at += 1;
            Some(self.number("32 bits")?)
        } else {
            None
        };
        Ok(Reference { at, name, number })
    }

    /// A string in quotes.
    pub fn string(&mut self) -> Read<String> {
        self.blanks();
        let start = self.at;
        if !self.eat("\"") {
            return self.expected("a string in quotes");
        }
        let mut out = String::new();
        loop {
            let at = self.at;
            let mut chars = self.rest().chars();
            let next = chars.next();
            self.at += next.map_or(0, char::len_utf8);
            match next {
                None | Some('\n') => {
                    return Err(Failure {
                        at: start,
                        message: "this string has no closing quote".to_string(),
                    });
                }
                Some('"') => return Ok(out),
                Some('\\') => match self.escape() {
                    Some(c) => out.push(c),
                    None => {
                        let message = "unknown escape: there are \\\" \\\\ \\n \\r \\t \\u{…}".to_string();
                        return Err(Failure { at, message });
                    }
                },
                Some(c) => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let rest = self.rest();
        let c = rest.chars().next()?;
        self.at += c.len_utf8();
        match c {
            '"' | '\\' => Some(c),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'u' => {
                let digits = rest[1..].strip_prefix('{')?;
                let end = digits.find('}')?;
                let c = char::from_u32(u32::from_str_radix(&digits[..end], 16).ok()?)?;
                self.at += end + 2;
                Some(c)
            }
            _ => None,
        }
    }

    /// Over the rest of a statement: its line, and those up to the end of a list in brackets.
    pub fn skip_statement(&mut self) {
        let line = self.rest().lines().next().unwrap_or("");
        let line = line.split(';').next().unwrap_or("");
        let open = line.contains('[') && !line.contains(']');
        self.skip_line();
        while open && !self.rest().is_empty() {
            let line = self.rest().lines().next().unwrap_or("");
            if line.trim() == "}" {
                return;
            }
            self.skip_line();
            if line.contains(']') {
                return;
            }
        }
    }

    /// Over the rest of a declaration whose details come later: to the end of the line, or of its `{…}`. False if
    /// there is no `}`.
    pub fn skip_declaration(&mut self) -> bool {
        let mut last = ' ';
        while !self.at_line_end() {
            last = self.rest().chars().next().unwrap_or(' ');
            if last == '"' {
                if self.string().is_err() {
                    break;
                }
            } else {
                self.at += last.len_utf8();
            }
        }
        self.skip_line();
        if last != '{' {
            return true;
        }
        while !self.rest().is_empty() {
            let closes = self.eat("}") && self.at_line_end();
            self.skip_line();
            if closes {
                return true;
            }
        }
        false
    }
}
