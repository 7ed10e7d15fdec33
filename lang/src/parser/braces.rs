//! Blocks in braces, and where a missing brace belongs.
//!
//! Indentation is the witness: a declaration that stands no further right than the line that opened a block is
//! taken to be outside of it, and a closing brace further left than its opening line makes that opening
//! brace the suspect when one is missing later. In programs without errors indentation means nothing.

use super::Parser;
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

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
    /// The answer of [`Parser::lacks_braces`].
    lacks_braces: Option<bool>,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines {
            first_token: 0,
            known_indent: (usize::MAX, 0),
            block_indent: 0,
            suspect: None,
            lacks_braces: None,
        }
    }
}

impl Parser<'_> {
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
    pub(super) fn at_outer_declaration(&mut self) -> bool {
        self.at_line_start() && self.at_declaration() && self.line_indent() <= self.lines.block_indent
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

    /// True if the file opens more braces than it closes. Otherwise no brace is taken to be missing where a
    /// program could go on.
    pub(super) fn lacks_braces(&mut self) -> bool {
        let tokens = &self.tokens;
        *self.lines.lacks_braces.get_or_insert_with(|| {
            let count = |kind| tokens.iter().filter(|token| token.kind == kind).count();
            count(TokenKind::OpenBrace) > count(TokenKind::CloseBrace)
        })
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
}
