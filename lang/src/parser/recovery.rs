//! Finding firm ground again after an error, and telling where a missing bracket belongs.
//!
//! Brackets in a line are found again by looking a bounded distance ahead for the closing one; statements by
//! skipping to the end of the line, over balanced brackets. For braces indentation is the witness: a
//! declaration that stands no further right than the line that opened a block is taken to be outside of it, and
//! a closing brace further left than its opening line makes that opening brace the suspect when one is missing
//! later.

use super::Parser;
use crate::diagnostics::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// How many tokens ahead a closing bracket is looked for. The bound keeps hostile input linear.
const LOOK_AHEAD: usize = 200;

/// What is known about lines and their indentation.
pub(super) struct Lines {
    /// The first token of the line of the current token.
    pub first_token: usize,
    /// The last answer of [`Parser::line_indent`]: first token and indentation.
    known_indent: (usize, usize),
    /// The indentation of the line on which the innermost open brace stands.
    block_indent: usize,
    /// An opening brace whose closing one stands too far left.
    suspect: Option<Span>,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { first_token: 0, known_indent: (usize::MAX, 0), block_indent: 0, suspect: None }
    }
}

impl Parser<'_> {
    /// A list with commas between brackets: `open element, element close`, with an optional last comma.
    pub(super) fn bracketed(&mut self, open: TokenKind, close: TokenKind, mut element: impl FnMut(&mut Self)) {
        let opening = self.here();
        if !self.expect(open) {
            return;
        }
        self.within_brackets(|parser| {
            while !parser.at(close) {
                element(parser);
                if parser.recovering || !parser.eat(TokenKind::Comma) {
                    break;
                }
            }
        });
        let expected = format!("`,` or `{}`", close.text().unwrap_or_default());
        self.close_bracket(opening, close, &expected);
    }

    /// Parses what stands inside brackets, where line ends mean nothing.
    pub(super) fn within_brackets<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> R {
        let line_ends = std::mem::replace(&mut self.line_ends, false);
        let in_head = std::mem::replace(&mut self.in_head, false);
        let result = parse(self);
        self.line_ends = line_ends;
        self.in_head = in_head;
        result
    }

    /// Takes the closing bracket; if there was an error, looks for it.
    pub(super) fn close_bracket(&mut self, opening: Span, close: TokenKind, expected: &str) {
        if !self.recovering {
            if self.eat(close) {
                return;
            }
            let help = self.help_in_brackets();
            if self.at(TokenKind::Error) || self.at(TokenKind::Eof) {
                self.unexpected_with(expected, help);
            } else {
                let message = format!("expected {expected}, found {}", self.describe(self.token()));
                let mut diagnostic = Diagnostic::new(self.here(), message, format!("expected {expected}"))
                    .related(opening, "opened here");
                if let Some(string) = self.string_over_lines_before() {
                    diagnostic =
                        diagnostic.related(string, "this string goes on to another line: is a quote missing?");
                }
                if let Some(help) = help {
                    diagnostic = diagnostic.help(help);
                }
                self.fail(diagnostic);
            }
        }
        if let Some(ahead) = self.find_closing(close) {
            for _ in 0..=ahead {
                self.bump();
            }
            self.recovering = false;
        }
    }

    /// How far ahead the bracket is closed, if the rest of the statement closes it.
    fn find_closing(&mut self, close: TokenKind) -> Option<usize> {
        // If an inner bracket was not closed behind this token, neither is this one.
        if self.unclosed_at == self.position {
            return None;
        }
        let mut open = 0_usize;
        for ahead in 0..LOOK_AHEAD {
            let token = self.token_ahead(ahead);
            if token.kind == close && open == 0 {
                return Some(ahead);
            }
            let ends = match token.kind {
                TokenKind::Eof => true,
                TokenKind::Semicolon => open == 0,
                kind if token.newline_before && open == 0 => begins_line_of_its_own(kind),
                _ => false,
            };
            match bracket_step(token.kind) {
                -1 if open == 0 => break,
                step => open = open.saturating_add_signed(step),
            }
            if ends {
                break;
            }
        }
        self.unclosed_at = self.position;
        None
    }

    /// Brings the parser to the `{` of a body: the current token, or after an error another one on this line.
    pub(super) fn find_body(&mut self, help: Option<&str>) -> bool {
        if !self.recovering {
            if self.at(TokenKind::OpenBrace) {
                return true;
            }
            self.unexpected_with("`{`", help);
        }
        for ahead in 0..LOOK_AHEAD {
            let token = self.token_ahead(ahead);
            match token.kind {
                TokenKind::OpenBrace if ahead == 0 || !token.newline_before => {
                    for _ in 0..ahead {
                        self.bump();
                    }
                    self.recovering = false;
                    return true;
                }
                TokenKind::Eof | TokenKind::Semicolon | TokenKind::CloseBrace => return false,
                _ if token.newline_before => return false,
                _ => {}
            }
        }
        false
    }

    /// Parses `{ … }`, at the `{`, with `parse` for what stands inside. `parse` is told the indentation of the
    /// line, and stops at [`Parser::at_block_end`].
    pub(super) fn braced(&mut self, parse: impl FnOnce(&mut Self, usize)) {
        let opening = self.here();
        let indent = self.line_indent();
        let block_indent = std::mem::replace(&mut self.lines.block_indent, indent);
        let line_ends = std::mem::replace(&mut self.line_ends, true);
        let in_head = std::mem::replace(&mut self.in_head, false);
        self.bump();
        self.deeper(|parser| parse(parser, indent));
        if self.at(TokenKind::CloseBrace) {
            if self.at_line_start() && self.line_indent() < indent && self.lines.suspect.is_none() {
                self.lines.suspect = Some(opening);
            }
            self.bump();
        } else {
            self.report_unclosed(opening);
        }
        self.lines.block_indent = block_indent;
        self.line_ends = line_ends;
        self.in_head = in_head;
    }

    fn report_unclosed(&mut self, opening: Span) {
        let after_error = self.position > 0 && self.tokens[self.position - 1].kind == TokenKind::Error;
        if !(self.at(TokenKind::Eof) && after_error) {
            let opening = self.lines.suspect.unwrap_or(opening);
            let message = format!("expected `}}`, found {}", self.describe(self.token()));
            self.report(
                Diagnostic::new(self.here(), message, "expected `}` before this")
                    .related(opening, "this `{` is not closed"),
            );
        }
        self.recovering = false;
    }

    /// At the `}` of a block, or at something that cannot stand inside it.
    pub(super) fn at_block_end(&mut self) -> bool {
        let ends = matches!(
            self.kind(),
            TokenKind::CloseBrace | TokenKind::Eof | TokenKind::StrMiddle | TokenKind::StrEnd
        );
        ends || self.at_outer_declaration()
    }

    /// At a declaration that stands outside the innermost open brace, to judge by its indentation.
    fn at_outer_declaration(&mut self) -> bool {
        self.at_line_start()
            && self.at_declaration()
            && self.line_indent() <= self.lines.block_indent
    }

    /// At the start of a declaration that no block can hold.
    pub(super) fn at_declaration(&self) -> bool {
        let next = self.kind_ahead(1);
        match self.kind() {
            TokenKind::Fn | TokenKind::Class | TokenKind::Interface | TokenKind::Enum | TokenKind::Import => {
                next == TokenKind::Name
            }
            TokenKind::Private | TokenKind::Abstract | TokenKind::Override | TokenKind::Static => true,
            TokenKind::Init => next == TokenKind::OpenParen,
            TokenKind::Name => self.at_final(),
            _ => false,
        }
    }

    /// At the word `final` used as a modifier.
    pub(super) fn at_final(&self) -> bool {
        let modifies = matches!(
            self.kind_ahead(1),
            TokenKind::Fn
                | TokenKind::Class
                | TokenKind::Private
                | TokenKind::Abstract
                | TokenKind::Override
                | TokenKind::Static
        );
        modifies && self.at_word("final")
    }

    /// Forgets which brace may be the one left open: a new declaration begins.
    pub(super) fn forget_suspect(&mut self) {
        self.lines.suspect = None;
    }

    /// True if a closing brace stood further left than the line of its opening one.
    pub(super) fn has_suspect(&self) -> bool {
        self.lines.suspect.is_some()
    }

    /// The indentation, in bytes, of the line of the current token.
    pub(super) fn line_indent(&mut self) -> usize {
        let first = self.lines.first_token;
        if self.lines.known_indent.0 != first {
            let before = &self.text.as_bytes()[..self.tokens[first].start as usize];
            let indent = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            self.lines.known_indent = (first, indent);
        }
        self.lines.known_indent.1
    }

    /// Takes the end of a statement: a `;`, or nothing at the end of a line or block. After an error, skips to
    /// there.
    pub(super) fn end_of_statement(&mut self) {
        if !self.recovering {
            match self.kind() {
                TokenKind::Semicolon => {
                    self.bump();
                    return;
                }
                TokenKind::CloseBrace | TokenKind::Eof | TokenKind::StrMiddle | TokenKind::StrEnd => return,
                _ if self.at_line_start() => return,
                _ => {
                    let help = self.help_behind_statement();
                    self.unexpected_with("the end of the statement", Some(help));
                }
            }
        }
        self.skip_statement(|_| false);
        self.recovering = false;
    }

    /// Skips to the end of the statement, arm or member: to a line end outside of brackets, behind a `;` or to
    /// where `stop` says.
    pub(super) fn skip_statement(&mut self, stop: impl Fn(TokenKind) -> bool) {
        let mut open = 0_usize;
        let mut braces = 0_usize;
        loop {
            let Token { kind, newline_before, .. } = self.token();
            if kind == TokenKind::Eof {
                return;
            }
            if open == 0 {
                match kind {
                    TokenKind::CloseBrace | TokenKind::StrMiddle | TokenKind::StrEnd => return,
                    TokenKind::Semicolon => {
                        self.bump();
                        return;
                    }
                    _ if stop(kind) => return,
                    _ => {}
                }
            }
            if newline_before
                && (open == 0 && begins_statement(kind)
                    || braces == 0 && begins_line_of_its_own(kind)
                    || self.at_outer_declaration())
            {
                return;
            }
            open = open.saturating_add_signed(bracket_step(kind));
            braces = match kind {
                TokenKind::OpenBrace => braces + 1,
                TokenKind::CloseBrace => braces.saturating_sub(1),
                _ => braces,
            };
            self.bump();
        }
    }
}

/// 1 for opening brackets, -1 for closing ones.
fn bracket_step(kind: TokenKind) -> isize {
    match kind {
        TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace | TokenKind::StrStart => 1,
        TokenKind::CloseParen | TokenKind::CloseBracket | TokenKind::CloseBrace | TokenKind::StrEnd => -1,
        _ => 0,
    }
}

/// Tokens that, first on their line, begin a statement even inside an open bracket.
fn begins_line_of_its_own(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Let
            | TokenKind::Var
            | TokenKind::While
            | TokenKind::For
            | TokenKind::Fn
            | TokenKind::Class
            | TokenKind::Interface
            | TokenKind::Enum
            | TokenKind::Import
            | TokenKind::Private
            | TokenKind::Abstract
            | TokenKind::Override
            | TokenKind::Static
    )
}

/// Tokens that can begin a statement, declaration or expression.
pub(super) fn begins_statement(kind: TokenKind) -> bool {
    begins_expression(kind) || begins_line_of_its_own(kind) || kind == TokenKind::Init
}

/// Tokens that can begin an expression.
pub(super) fn begins_expression(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Char
            | TokenKind::Label
            | TokenKind::Str
            | TokenKind::RawStr
            | TokenKind::StrStart
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Null
            | TokenKind::This
            | TokenKind::Super
            | TokenKind::OpenParen
            | TokenKind::OpenBracket
            | TokenKind::OpenBrace
            | TokenKind::Minus
            | TokenKind::Bang
            | TokenKind::Tilde
            | TokenKind::Or
            | TokenKind::OrOr
            | TokenKind::If
            | TokenKind::Match
            | TokenKind::Loop
            | TokenKind::Try
            | TokenKind::Return
            | TokenKind::Throw
            | TokenKind::Break
            | TokenKind::Continue
    )
}
