//! Source text to tokens. Every token knows its place and whether a line end lies before it; blanks and
//! comments vanish. What cannot be read is reported here, once, and becomes a [`TokenKind::Error`], about which
//! the parser stays silent.
//!
//! # Strings
//!
//! The expressions inside an interpolated string become ordinary tokens of the one stream: the string
//! `"a${x}b${y}c"` is `StrStart x StrMiddle y StrEnd`. A stack remembers the open interpolations with the braces
//! open inside each, so that `}` is known to go on with the text. Lexing is therefore linear in the length of
//! the file, however strings and expressions nest.
//!
//! Strings may span lines, so that a forgotten quote turns all text behind it inside out. When the file ends
//! inside a string, the lexer goes back to where the outermost open string began, from there on ends every
//! string at the end of its line ("strict"), and reports the first that had to be ended so.

mod kinds;
pub(crate) mod literals;
mod scan;

use logos::Logos;

pub use kinds::TokenKind;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::sources::Sources;
use crate::span::{FileId, Span};

/// A token: twelve bytes, because a file may have millions of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// A line end lies between it and the token before.
    pub newline_before: bool,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Token {
    /// Its place in `file`.
    pub fn span(self, file: FileId) -> Span {
        Span { file, start: self.start, end: self.end }
    }
}

/// Inside one open interpolation at most this many errors wait for its end. Far more than are ever shown.
const MAX_PENDING: usize = 1_000;

/// Lexes a whole file. The last token is always [`TokenKind::Eof`].
pub fn lex(sources: &Sources, file: FileId, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let text = sources.text(file);
    let mut lexer = Lexer {
        text,
        file,
        raw: TokenKind::lexer(text),
        tokens: Vec::with_capacity(text.len() / 4),
        last_end: 0,
        searched_to: 0,
        line_ended: false,
        interpolations: Vec::new(),
        strict: false,
        strict_reported: false,
        pending: Vec::new(),
        diagnostics,
    };
    lexer.run();
    lexer.tokens
}

/// What the lexer knew at some place, so that it can go back there.
#[derive(Clone, Copy)]
struct Checkpoint {
    start: usize,
    token_count: usize,
    last_end: usize,
    pending_count: usize,
}

/// An interpolation `${…` whose end has not been reached.
struct Interpolation {
    /// The place of `${`.
    opening: Span,
    /// Before the string that it is part of.
    string: Checkpoint,
    /// How many braces are open inside.
    braces: u32,
}

struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    raw: logos::Lexer<'a, TokenKind>,
    tokens: Vec<Token>,
    /// The end of the last token.
    last_end: usize,
    /// How far the text behind the last token was searched for a line end: comments may follow it one after another.
    searched_to: usize,
    /// One was found there.
    line_ended: bool,
    interpolations: Vec<Interpolation>,
    /// Strings end at line ends.
    strict: bool,
    /// The first string ended so has been reported.
    strict_reported: bool,
    /// Errors not yet handed on: going back takes them back.
    pending: Vec<Diagnostic>,
    diagnostics: &'a mut Diagnostics,
}

impl Lexer<'_> {
    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.seek('\u{feff}'.len_utf8());
        }
        loop {
            while let Some(next) = self.raw.next() {
                let span = self.raw.span();
                self.end_line_of_strict_interpolation(span.start);
                match next {
                    Ok(kind) => self.token(kind, span.start, span.end),
                    Err(()) => self.junk(span.start),
                }
            }
            match self.interpolations.first() {
                Some(outermost) if !self.strict => self.go_back(outermost.string),
                _ => break,
            }
        }
        self.close_interpolations();
        self.flush();
        self.push(TokenKind::Eof, self.text.len(), self.text.len());
    }

    fn token(&mut self, kind: TokenKind, start: usize, end: usize) {
        match kind {
            TokenKind::Str => self.string(start),
            TokenKind::Char => self.character(start),
            TokenKind::Error => self.block_comment(start),
            TokenKind::Int | TokenKind::Float => self.number(kind, start, end),
            TokenKind::OpenBrace => {
                if let Some(innermost) = self.interpolations.last_mut() {
                    innermost.braces += 1;
                }
                self.push(kind, start, end);
            }
            TokenKind::CloseBrace => match self.interpolations.last_mut() {
                Some(innermost) if innermost.braces == 0 => {
                    let string = innermost.string;
                    self.interpolations.pop();
                    self.string_text(string, start, end, TokenKind::StrMiddle);
                }
                Some(innermost) => {
                    innermost.braces -= 1;
                    self.push(kind, start, end);
                }
                None => self.push(kind, start, end),
            },
            _ => self.push(kind, start, end),
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        // What stands in for a missing end stands at the end of the last token.
        let newline_before = start > self.last_end && self.line_ends_before(start);
        self.tokens.push(Token { kind, newline_before, start: start as u32, end: end as u32 });
        self.set_last_end(end);
    }

    fn set_last_end(&mut self, end: usize) {
        self.last_end = end;
        self.searched_to = end;
        self.line_ended = false;
    }

    /// Does a line end lie between the last token and what begins at `start`. Until there is another token, `start` only
    /// grows, and nothing is searched twice.
    fn line_ends_before(&mut self, start: usize) -> bool {
        self.line_ended = self.line_ended || self.text.as_bytes()[self.searched_to..start].contains(&b'\n');
        self.searched_to = start;
        self.line_ended
    }

    /// Goes on reading at `offset`.
    fn seek(&mut self, offset: usize) {
        self.raw = TokenKind::lexer(self.text);
        self.raw.bump(offset);
    }

    /// Goes back to before a string that never ended, and from now on ends strings at line ends.
    fn go_back(&mut self, to: Checkpoint) {
        self.strict = true;
        self.interpolations.clear();
        self.tokens.truncate(to.token_count);
        self.pending.truncate(to.pending_count);
        self.set_last_end(to.last_end);
        self.seek(to.start);
    }

    /// Where the string that begins at `start` would be read again.
    fn checkpoint(&self, start: usize) -> Checkpoint {
        Checkpoint {
            start,
            token_count: self.tokens.len(),
            last_end: self.last_end,
            pending_count: self.pending.len(),
        }
    }

    /// In strict mode an interpolation ends with its line: closes all that are open if the token at `start`
    /// is on another line than the one before.
    fn end_line_of_strict_interpolation(&mut self, start: usize) {
        if self.strict && !self.interpolations.is_empty() && self.line_ends_before(start) {
            self.close_interpolations();
        }
    }

    /// Stands in for the missing ends of all open strings.
    fn close_interpolations(&mut self) {
        if let Some(outermost) = self.interpolations.first() {
            let opening = outermost.opening;
            self.report_strict(
                Diagnostic::new(opening, "an interpolation is never closed", "this `${` has no `}`")
                    .help("close it with `}`, or write `\\$` for a dollar sign"),
            );
        }
        while self.interpolations.pop().is_some() {
            self.push(TokenKind::StrEnd, self.last_end, self.last_end);
        }
    }

    fn report_strict(&mut self, diagnostic: Diagnostic) {
        if !self.strict_reported {
            self.strict_reported = true;
            self.report(diagnostic);
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.interpolations.is_empty() {
            self.flush();
            self.diagnostics.report(diagnostic);
        } else if self.pending.len() < MAX_PENDING {
            self.pending.push(diagnostic);
        }
    }

    fn flush(&mut self) {
        for diagnostic in self.pending.drain(..) {
            self.diagnostics.report(diagnostic);
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }
}

#[cfg(test)]
mod tests;
