//! Strings and what is interpolated in them.

use super::Parser;
use crate::ast::{Expr, ExprKind, StrPart};
use crate::lexer::literals::unescape;
use crate::lexer::{Token, TokenKind};

impl Parser<'_> {
    /// The text of a string without interpolation.
    pub(super) fn string(&self, token: Token) -> Box<str> {
        let text = self.slice(token);
        match token.kind {
            TokenKind::RawStr => text[3..text.len() - 3].into(),
            _ => unescape(&text[1..text.len() - 1]).into_boxed_str(),
        }
    }

    /// `"text${expression}text"`, at its first part.
    pub(super) fn interpolated(&mut self) -> ExprKind {
        let mut parts = Vec::new();
        loop {
            // The token is `"text${`, or after the first round `}text${`.
            let token = self.bump();
            let text = self.slice(token);
            self.text_part(&text[1..text.len() - 2], &mut parts);
            let expr = self.within_brackets(Self::interpolation);
            parts.push(StrPart::Expr(expr));
            match self.kind() {
                TokenKind::StrMiddle => {}
                TokenKind::StrEnd => break,
                // The parser gave up.
                _ => return ExprKind::Error,
            }
        }
        let end = self.bump();
        match self.slice(end) {
            // The string was not terminated, which the lexer has reported.
            "" => self.recovering = true,
            text => self.text_part(&text[1..text.len() - 1], &mut parts),
        }
        ExprKind::Interpolated(parts)
    }

    fn text_part(&self, text: &str, parts: &mut Vec<StrPart>) {
        if !text.is_empty() {
            parts.push(StrPart::Text(unescape(text).into_boxed_str()));
        }
    }

    /// What stands inside `${…}`. After an error the end of the interpolation is firm ground.
    fn interpolation(&mut self) -> Expr {
        let expr = if matches!(self.kind(), TokenKind::StrMiddle | TokenKind::StrEnd) {
            self.unexpected_with(
                "an expression inside `${…}`",
                Some("a dollar sign before a brace is written `\\$`"),
            );
            self.missing_expression()
        } else {
            self.expression()
        };
        if !matches!(self.kind(), TokenKind::StrMiddle | TokenKind::StrEnd) {
            self.unexpected("`}`");
        }
        let mut open = 0_usize;
        loop {
            match self.kind() {
                TokenKind::Eof => break,
                TokenKind::StrMiddle | TokenKind::StrEnd if open == 0 => break,
                TokenKind::StrStart => open += 1,
                TokenKind::StrEnd => open -= 1,
                _ => {}
            }
            self.bump();
        }
        self.recovering = false;
        expr
    }
}
