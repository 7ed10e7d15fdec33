//! Finding firm ground again after an error: brackets by looking a bounded distance ahead for the closing one,
//! bodies by looking for their `{` on the line, statements by skipping to the end of the line, over balanced
//! brackets. Braces have their own file, [`super::braces`].

use super::Parser;
use crate::diagnostics::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// How many tokens ahead a closing bracket is looked for. The bound keeps hostile input linear.
const LOOK_AHEAD: usize = 200;

impl Parser<'_> {
    /// A list with commas between brackets: `open element, element close`, with an optional last comma.
    pub(super) fn bracketed(
        &mut self,
        open: TokenKind,
        close: TokenKind,
        mut element: impl FnMut(&mut Self),
    ) {
        let opening = self.here();
        if !self.expect(open) {
            return;
        }
        self.within_brackets(|parser| {
            while !parser.at(close) {
                element(parser);
                if parser.recovering {
                    parser.resume_list(close);
                }
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
                let mut diagnostic = Diagnostic::new(self.gap(), message, format!("expected {expected}"))
                    .related(opening, "opened here");
                if let Some(string) = self.string_over_lines_before() {
                    diagnostic = diagnostic
                        .related(string, "this string goes on to another line: is a quote missing?");
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

    /// After an error in an element: goes to the next comma of the list, if there is one and the list is closed.
    fn resume_list(&mut self, close: TokenKind) {
        // The commas of a type list with an error look like those of the list around it.
        if std::mem::take(&mut self.lost_in_angles) {
            return;
        }
        let Some(end) = self.find_closing(close) else { return };
        let mut open = 0_usize;
        for ahead in 0..end {
            let kind = self.kind_ahead(ahead);
            if kind == TokenKind::Comma && open == 0 {
                for _ in 0..ahead {
                    self.bump();
                }
                self.recovering = false;
                return;
            }
            open = open.saturating_add_signed(bracket_step(kind));
        }
    }

    /// How far ahead the bracket is closed, if the rest of the statement closes it.
    fn find_closing(&mut self, close: TokenKind) -> Option<usize> {
        // If an inner bracket was not closed behind this token, neither is this one.
        if self.unclosed_at == self.position {
            return None;
        }
        let mut open = 0_usize;
        let mut behind_semicolon = false;
        for ahead in 0..LOOK_AHEAD {
            let token = self.token_ahead(ahead);
            if token.kind == close && open == 0 {
                return Some(ahead);
            }
            let ends = match token.kind {
                TokenKind::Eof => true,
                _ if token.newline_before && behind_semicolon => true,
                kind if token.newline_before && open == 0 => begins_line_of_its_own(kind),
                _ => false,
            };
            behind_semicolon |= token.kind == TokenKind::Semicolon && open == 0;
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

    /// Takes the end of the statement that began at token `from`: a `;`, or nothing at the end of a line or
    /// block. After an error, skips to there.
    pub(super) fn end_of_statement(&mut self, from: usize) {
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
        self.skip_statement(from, |_| false);
        self.recovering = false;
    }

    /// Skips to the end of the statement, arm or member that began at token `from`, and at least past that
    /// token: to a line end outside of brackets, behind a `;` or to where `stop` says.
    pub(super) fn skip_statement(&mut self, from: usize, stop: impl Fn(TokenKind) -> bool) {
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
                    _ if self.position > from && stop(kind) => return,
                    _ => {}
                }
            }
            if newline_before
                && self.position > from
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
