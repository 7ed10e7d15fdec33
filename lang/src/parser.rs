//! Tokens to a syntax tree: recursive descent by hand, with precedence climbing for operators.
//!
//! The grammar is that of `docs/language.md`; the files follow its chapters: `items` and `members`,
//! `types`, `statements`, `expressions` with `primary`, `control` and `strings`, `patterns`.
//!
//! # Errors
//!
//! Every error of a file is reported, each once. The first error of a stretch sets `recovering`; until it is
//! cleared nothing more is reported, and the functions of the grammar return what they have. It is cleared
//! where the parser is sure again where it stands: at the closing bracket of a list, the `{` of a body, the end
//! of a statement, the next declaration (`recovery`, `braces`). Where a wrong form is recognised as a whole, it is
//! reported with what would be right, and parsing goes on as if that had been written (`hints`).
//!
//! # Depth
//!
//! The tree is never deeper than about [`crate::ast::MAX_NESTING`] (`nesting`). Beyond, the parser gives up:
//! it reports, jumps to the end of the file and stays silent.

mod braces;
mod control;
mod expressions;
mod hints;
mod items;
mod members;
mod nesting;
mod patterns;
mod primary;
mod recovery;
mod statements;
mod strings;
mod type_arguments;
mod types;

use crate::ast::{Module, Name};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::lexer::{Token, TokenKind, lex};
use crate::sources::Sources;
use crate::span::{FileId, Span};
use braces::Lines;
use nesting::Nesting;
use type_arguments::TypeArgumentScans;

/// Parses a file. What is wrong with it goes to `diagnostics`; the tree then has `Error` nodes, or misses what
/// could not be read. Call it inside [`crate::with_deep_stack`].
pub fn parse(sources: &Sources, file: FileId, diagnostics: &mut Diagnostics) -> Module {
    let tokens = lex(sources, file, diagnostics);
    let mut parser = Parser {
        text: sources.text(file),
        file,
        tokens,
        position: 0,
        taken_to: 0,
        construct_start: 0,
        diagnostics,
        recovering: false,
        aborted: false,
        line_ends: true,
        in_head: false,
        in_cast: false,
        lost_in_angles: false,
        nesting: Nesting::default(),
        lines: Lines::default(),
        scans: TypeArgumentScans::default(),
        unclosed_at: usize::MAX,
    };
    parser.module()
}

struct Parser<'a> {
    text: &'a str,
    file: FileId,
    /// Ends with `Eof`, on which `position` stays.
    tokens: Vec<Token>,
    position: usize,
    /// The end of the token taken last.
    taken_to: u32,
    /// The position at which the latest statement, declaration, member or arm began.
    construct_start: usize,
    diagnostics: &'a mut Diagnostics,
    /// An error was reported, and the parser is not yet sure again where it stands.
    recovering: bool,
    /// The tree became too deep: `position` is at the end and nothing is reported any more.
    aborted: bool,
    /// Line ends end expressions: false inside `(…)`, `[…]` and `${…}`.
    line_ends: bool,
    /// In a condition, scrutinee or `for … in`, where `{` begins the body.
    in_head: bool,
    /// The next type stands behind `is` or `as`.
    in_cast: bool,
    /// The error from which the parser recovers was inside `<…>`.
    lost_in_angles: bool,
    nesting: Nesting,
    lines: Lines,
    scans: TypeArgumentScans,
    /// No bracket open here is closed behind this token.
    unclosed_at: usize,
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.position]
    }

    fn kind(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    /// The token `ahead` of the current one; beyond the end, the end.
    fn token_ahead(&self, ahead: usize) -> Token {
        self.tokens[(self.position + ahead).min(self.tokens.len() - 1)]
    }

    fn kind_ahead(&self, ahead: usize) -> TokenKind {
        self.token_ahead(ahead).kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// The current token begins a line.
    fn at_line_start(&self) -> bool {
        self.token().newline_before
    }

    /// The current token begins a line, and that can end the expression before it.
    fn at_line_end(&self) -> bool {
        self.line_ends && self.token().newline_before
    }

    /// The current token follows the one before it without a blank.
    fn touches_previous(&self) -> bool {
        self.taken_to == self.token().start
    }

    /// Takes the current token.
    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::Eof {
            self.position += 1;
            self.taken_to = token.end;
            if self.token().newline_before {
                self.lines.first_token = self.position;
            }
        }
        token
    }

    /// Takes the current token if it is of this kind.
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// The place of the current token.
    fn here(&self) -> Span {
        self.token().span(self.file)
    }

    /// Where something is missing in front of the current token: the token itself, but if it begins another line
    /// of the same construct, the end of what was taken last.
    fn gap(&self) -> Span {
        if self.at_line_start() && self.position > self.construct_start {
            return Span { file: self.file, start: self.taken_to, end: self.taken_to };
        }
        self.here()
    }

    /// Remembers that a statement, declaration, member or arm begins at the current token, and gives its position.
    fn begin(&mut self) -> usize {
        self.construct_start = self.position;
        self.lost_in_angles = false;
        self.position
    }

    /// From the start of `start` to the end of what was taken last.
    fn since(&self, start: Span) -> Span {
        if self.taken_to > start.start { Span { end: self.taken_to, ..start } } else { start }
    }

    fn slice(&self, token: Token) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The current token is the name `word`.
    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Name) && self.slice(self.token()) == word
    }

    /// Takes a name.
    fn name(&mut self, what: &str) -> Option<Name> {
        if self.at(TokenKind::Name) {
            let token = self.bump();
            return Some(self.name_of(token));
        }
        if self.kind().is_keyword() {
            let word = self.slice(self.token());
            let message = format!("`{word}` is a reserved word and cannot name {what}");
            self.fail(Diagnostic::new(self.here(), message, "reserved").help("choose another name"));
            // Where a keyword stands in place of a name, the rest usually reads as if it were one.
            if !self.at_line_start() {
                let token = self.bump();
                self.recovering = false;
                return Some(self.name_of(token));
            }
        } else {
            self.unexpected(&format!("the name of {what}"));
        }
        None
    }

    fn name_of(&self, token: Token) -> Name {
        Name { text: self.slice(token).into(), span: token.span(self.file) }
    }

    /// Reports an error after which parsing goes on as if what was meant had been written.
    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.recovering && !self.aborted {
            self.diagnostics.report(diagnostic);
        }
    }

    /// Reports an error after which the parser has lost its place.
    fn fail(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.recovering = true;
    }

    /// Takes a token of this kind, or fails.
    fn expect(&mut self, kind: TokenKind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.unexpected(&format!("`{}`", kind.text().unwrap_or(kind.name())));
        }
        found
    }

    /// Fails because something else was expected at the current token.
    fn unexpected(&mut self, expected: &str) {
        self.unexpected_with(expected, None);
    }

    /// Like [`Parser::unexpected`], with the way out if there is one.
    fn unexpected_with(&mut self, expected: &str, help: Option<&str>) {
        // The lexer has reported unreadable tokens, and what they leave unfinished follows from them.
        let after_error = self.position > 0 && self.tokens[self.position - 1].kind == TokenKind::Error;
        if self.at(TokenKind::Error) || (self.at(TokenKind::Eof) && after_error) {
            self.recovering = true;
        }
        if self.recovering || self.aborted {
            return;
        }
        let message = format!("expected {expected}, found {}", self.describe(self.token()));
        let mut diagnostic = Diagnostic::new(self.gap(), message, format!("expected {expected}"));
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        if let Some(string) = self.string_over_lines_before() {
            diagnostic =
                diagnostic.related(string, "this string goes on to another line: is a quote missing?");
        }
        self.fail(diagnostic);
    }

    /// If the token before the current one is a string that spans lines: where it begins.
    fn string_over_lines_before(&self) -> Option<Span> {
        let previous = self.tokens[self.position.checked_sub(1)?];
        let is_string = matches!(previous.kind, TokenKind::Str | TokenKind::StrStart | TokenKind::StrEnd);
        if is_string && self.slice(previous).contains('\n') {
            return Some(Span { end: previous.start + 1, ..previous.span(self.file) });
        }
        None
    }

    /// A token as messages call it.
    fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Name => {
                let name = self.slice(token);
                format!(
                    "the name `{}{}`",
                    &name[..name.len().min(40)],
                    if name.len() > 40 { "…" } else { "" }
                )
            }
            TokenKind::Int | TokenKind::Float => "a number".to_string(),
            TokenKind::Char => "a character".to_string(),
            TokenKind::Label => "a label".to_string(),
            TokenKind::Str | TokenKind::RawStr | TokenKind::StrStart => "a string".to_string(),
            TokenKind::StrMiddle | TokenKind::StrEnd => "the end of the interpolation".to_string(),
            TokenKind::Error => "something unreadable".to_string(),
            TokenKind::Eof => "the end of the file".to_string(),
            kind => format!("`{}`", kind.text().unwrap_or(kind.name())),
        }
    }
}

#[cfg(test)]
mod tests;
