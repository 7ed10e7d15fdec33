//! Patterns of `match`.

use super::Parser;
use crate::ast::{Name, Pattern, PatternKind};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexer::literals::char_value;

impl Parser<'_> {
    /// A pattern with its alternatives.
    pub(super) fn pattern(&mut self) -> Pattern {
        let start = self.here();
        let first = self.deeper(Self::single_pattern);
        if self.recovering || !self.at(TokenKind::Or) {
            return first;
        }
        let mut alternatives = vec![first];
        while !self.recovering && self.eat(TokenKind::Or) {
            alternatives.push(self.deeper(Self::single_pattern));
        }
        Pattern { kind: PatternKind::Or(alternatives), span: self.since(start) }
    }

    fn single_pattern(&mut self) -> Pattern {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Null => {
                self.bump();
                PatternKind::Null
            }
            TokenKind::True | TokenKind::False => PatternKind::Bool(self.bump().kind == TokenKind::True),
            TokenKind::Int | TokenKind::Float | TokenKind::Char | TokenKind::Minus => self.number_pattern(),
            TokenKind::Str | TokenKind::RawStr => {
                let token = self.bump();
                PatternKind::Str(self.string(token))
            }
            TokenKind::StrStart => {
                let message = "a string in a pattern has no interpolations";
                let diagnostic = Diagnostic::new(start, message, "an interpolated string");
                self.report(diagnostic.help("compare in a guard: `text if text == \"…\"`"));
                self.interpolated();
                PatternKind::Error
            }
            TokenKind::Name => self.name_pattern(),
            TokenKind::Else => {
                self.unexpected_with("a pattern", Some("`_` matches everything"));
                PatternKind::Error
            }
            _ => {
                let help = "patterns are literals, ranges, names, `name: Type` and variants; alternatives are \
                            separated by `|`, without parentheses";
                self.unexpected_with("a pattern", Some(help));
                PatternKind::Error
            }
        };
        Pattern { kind, span: self.since(start) }
    }

    /// `-1`, `'a'`, `1.5`, `0..10`, `'a'..='z'`.
    fn number_pattern(&mut self) -> PatternKind {
        if self.kind_ahead(usize::from(self.at(TokenKind::Minus))) == TokenKind::Float {
            let negative = self.eat(TokenKind::Minus);
            let token = self.bump();
            let value = self.float(token);
            if matches!(self.kind(), TokenKind::DotDot | TokenKind::DotDotEq) {
                self.fail(
                    Diagnostic::new(
                        self.here(),
                        "a range pattern has integers as bounds",
                        "a range of floats",
                    )
                    .help("compare in a guard: `x if x < 1.5`"),
                );
            }
            return PatternKind::Float(if negative { -value } else { value });
        }
        let Some(from) = self.integer() else { return PatternKind::Error };
        let inclusive = match self.kind() {
            TokenKind::DotDot => false,
            TokenKind::DotDotEq => true,
            _ => return PatternKind::Int(from),
        };
        self.bump();
        match self.integer() {
            Some(to) => PatternKind::Range { from, to, inclusive },
            None => PatternKind::Error,
        }
    }

    /// An integer or character, with a minus if need be.
    fn integer(&mut self) -> Option<i64> {
        let negative = self.eat(TokenKind::Minus);
        match self.kind() {
            TokenKind::Int => {
                let token = self.bump();
                Some(self.int(token, negative))
            }
            TokenKind::Char if !negative => {
                let token = self.bump();
                Some(i64::from(u32::from(char_value(self.slice(token)))))
            }
            _ => {
                self.unexpected("an integer");
                None
            }
        }
    }

    fn name_pattern(&mut self) -> PatternKind {
        let token = self.bump();
        let name = self.name_of(token);
        let wildcard = &*name.text == "_";
        if self.eat(TokenKind::Colon) {
            let ty = self.type_expr();
            return PatternKind::Typed((!wildcard).then_some(name), ty);
        }
        if wildcard {
            return PatternKind::Wildcard;
        }
        if self.eat(TokenKind::Dot) {
            let Some(second) = self.name("a variant") else { return PatternKind::Error };
            if !self.eat(TokenKind::Dot) {
                return self.variant_pattern(None, Some(name), second);
            }
            let Some(variant) = self.name("a variant") else { return PatternKind::Error };
            return self.variant_pattern(Some(name), Some(second), variant);
        }
        if self.at(TokenKind::OpenParen) || name.text.starts_with(|first: char| first.is_ascii_uppercase()) {
            return self.variant_pattern(None, None, name);
        }
        PatternKind::Bind(name)
    }

    fn variant_pattern(&mut self, module: Option<Name>, enum_name: Option<Name>, name: Name) -> PatternKind {
        let mut fields = None;
        if self.at(TokenKind::OpenParen) {
            let patterns = fields.insert(Vec::new());
            self.bracketed(TokenKind::OpenParen, TokenKind::CloseParen, |parser| {
                patterns.push(parser.pattern());
            });
        }
        PatternKind::Variant { module, enum_name, name, fields }
    }
}
