//! A place in a line of a region's text, and the ways to step over what is there.

use super::names;

/// The result of reading something: what it is, or what is wrong.
pub(super) type Read<T> = Result<T, String>;

/// The rest of a line.
pub(super) struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub fn new(line: &'t str) -> Cursor<'t> {
        Cursor { rest: line }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Nothing but a comment follows.
    pub fn at_end(&mut self) -> bool {
        self.blanks();
        self.rest.is_empty() || self.rest.starts_with(';')
    }

    pub fn end(&mut self) -> Read<()> {
        if self.at_end() { Ok(()) } else { self.expected("the end of the line") }
    }

    /// A failure that says what should be here.
    pub fn expected<T>(&mut self, what: &str) -> Read<T> {
        if self.at_end() {
            return Err(format!("expected {what}, the line ends here"));
        }
        let found: String = self.rest.chars().take_while(|c| !c.is_whitespace()).take(24).collect();
        Err(format!("expected {what}, found `{found}`"))
    }

    /// Over a mark, if it is here.
    pub fn eat(&mut self, mark: &str) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    pub fn expect(&mut self, mark: &str) -> Read<()> {
        if self.eat(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    /// The word here; may be empty.
    pub fn peek_word(&mut self) -> &'t str {
        self.blanks();
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        &self.rest[..end.unwrap_or(self.rest.len())]
    }

    pub fn word(&mut self) -> &'t str {
        let word = self.peek_word();
        self.rest = &self.rest[word.len()..];
        word
    }

    /// Over a word, if it is the one here.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let here = self.peek_word() == word;
        if here {
            self.word();
        }
        here
    }

    pub fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// A number, with a sign if the type has one.
    pub fn number<T: std::str::FromStr>(&mut self) -> Read<T> {
        self.blanks();
        let sign = self.rest.starts_with('-') as usize;
        let digits = &self.rest[sign..];
        let end = sign + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        match self.rest[..end].parse() {
            Ok(number) => {
                self.rest = &self.rest[end..];
                Ok(number)
            }
            Err(_) => self.expected("a number in range"),
        }
    }

    /// A letter with a number after it, `v12`; nothing if that is not what is here.
    pub fn numbered(&mut self, letter: char) -> Option<u32> {
        let word = self.peek_word();
        let number = word.strip_prefix(letter)?.parse().ok()?;
        self.word();
        Some(number)
    }

    /// The bits of a float.
    pub fn float(&mut self) -> Read<u64> {
        self.blanks();
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.:".contains(c)));
        let end = end.unwrap_or(self.rest.len());
        match names::float_bits(&self.rest[..end]) {
            Some(bits) => {
                self.rest = &self.rest[end..];
                Ok(bits)
            }
            None => self.expected("a float, such as `1.5`, `-inf` or `nan`"),
        }
    }

    /// A name, bare or in quotes; the flag says that it was in quotes. Nothing if there is none.
    pub fn name(&mut self) -> Read<Option<(String, bool)>> {
        self.blanks();
        if self.rest.starts_with('"') {
            let Some((name, length)) = names::unquoted(self.rest) else {
                return self.expected("a well-formed text in quotes");
            };
            self.rest = &self.rest[length..];
            return Ok(Some((name, true)));
        }
        let length = names::bare_length(self.rest);
        let name = &self.rest[..length];
        self.rest = &self.rest[length..];
        Ok((length > 0).then(|| (name.to_string(), false)))
    }

    /// `#number`, if that is here.
    pub fn mark(&mut self) -> Read<Option<u32>> {
        // No blanks may stand between a name and its number.
        match self.rest.strip_prefix('#') {
            Some(rest) => {
                self.rest = rest;
                self.number().map(Some)
            }
            None => Ok(None),
        }
    }

    /// An entry of a table.
    pub fn reference(&mut self, what: &str, table: &names::Table<'_>) -> Read<u32> {
        let name = self.name()?;
        let number = self.mark()?;
        table.find(what, name.as_ref().map(|(name, _)| &**name), number)
    }
}
