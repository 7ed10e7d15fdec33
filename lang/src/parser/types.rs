//! Written types, and the lists of types and type parameters in angle brackets.

use super::Parser;
use crate::ast::{TypeExpr, TypeExprKind, TypeParam};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

impl Parser<'_> {
    /// A type, with any `?` behind it.
    pub(super) fn type_expr(&mut self) -> TypeExpr {
        self.chain(|parser| {
            let start = parser.here();
            let mut ty = parser.deeper(Self::plain_type);
            while parser.at(TokenKind::Question) && !parser.at_line_end() {
                parser.bump();
                parser.wrap();
                let span = parser.since(start);
                ty = TypeExpr { kind: TypeExprKind::Nullable(Box::new(ty)), span };
            }
            if parser.at(TokenKind::OpenBracket)
                && parser.kind_ahead(1) == TokenKind::CloseBracket
                && !parser.at_line_end()
            {
                let message = "array types are not written with `[]`";
                let diagnostic = Diagnostic::new(
                    parser.here().to(parser.token_ahead(1).span(parser.file)),
                    message,
                    "after a type",
                );
                parser.report(diagnostic.help("write `Array<T>`"));
                parser.bump();
                parser.bump();
            }
            ty
        })
    }

    fn plain_type(&mut self) -> TypeExpr {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Name => self.named_type(),
            TokenKind::Fn => self.function_type(),
            TokenKind::OpenParen => return self.type_in_parentheses(),
            TokenKind::OpenBracket => {
                self.unexpected_with("a type", Some("the type of arrays is written `Array<T>`"));
                TypeExprKind::Error
            }
            _ => {
                self.unexpected("a type");
                TypeExprKind::Error
            }
        };
        TypeExpr { kind, span: self.since(start) }
    }

    fn named_type(&mut self) -> TypeExprKind {
        let in_cast = std::mem::take(&mut self.in_cast);
        let token = self.bump();
        let mut name = self.name_of(token);
        let mut module = None;
        if self.at(TokenKind::Dot) {
            self.bump();
            let Some(inner) = self.name("a type") else { return TypeExprKind::Error };
            module = Some(std::mem::replace(&mut name, inner));
        }
        let has_args = self.at(TokenKind::Less) && (!in_cast || self.at_type_list());
        let args = if has_args { self.type_arguments() } else { Vec::new() };
        TypeExprKind::Named { module, name, args }
    }

    /// The type behind `is`, `as` and `as?`, where a `<` may also be a comparison: `x as Int < limit`.
    pub(super) fn cast_type(&mut self) -> TypeExpr {
        self.in_cast = true;
        let ty = self.type_expr();
        self.in_cast = false;
        ty
    }

    /// `fn(A, B) -> R`.
    fn function_type(&mut self) -> TypeExprKind {
        self.bump();
        let mut params = Vec::new();
        self.bracketed(TokenKind::OpenParen, TokenKind::CloseParen, |parser| {
            if parser.at(TokenKind::Name) && parser.kind_ahead(1) == TokenKind::Colon {
                let message = "the parameters of a function type have no names";
                let diagnostic = Diagnostic::new(parser.here(), message, "a name");
                parser.report(diagnostic.help("write only the types: `fn(Int, String) -> Bool`"));
                parser.bump();
                parser.bump();
            }
            params.push(parser.type_expr());
        });
        let result = self.eat(TokenKind::Arrow).then(|| Box::new(self.type_expr()));
        TypeExprKind::Function { params, result }
    }

    /// `(T)`: what a function type needs to become nullable.
    fn type_in_parentheses(&mut self) -> TypeExpr {
        let start = self.here();
        let mut inner = Vec::new();
        self.bracketed(TokenKind::OpenParen, TokenKind::CloseParen, |parser| inner.push(parser.type_expr()));
        let span = self.since(start);
        match inner.pop() {
            Some(ty) if inner.is_empty() => TypeExpr { span, ..ty },
            None => {
                let diagnostic = Diagnostic::new(span, "`()` is a value, not a type", "expected a type");
                self.report(diagnostic.help("the type of `()` is `Unit`"));
                TypeExpr { kind: TypeExprKind::Error, span }
            }
            Some(_) => {
                self.report_tuple(span);
                TypeExpr { kind: TypeExprKind::Error, span }
            }
        }
    }

    /// There are no tuples, neither types nor values nor patterns.
    pub(super) fn report_tuple(&mut self, span: Span) {
        self.report(
            Diagnostic::new(span, "there are no tuples", "several things in parentheses")
                .help("use `Pair`, or declare a class with a field for each"),
        );
    }

    /// `<A, B>`, at the `<`.
    pub(super) fn type_arguments(&mut self) -> Vec<TypeExpr> {
        let mut args = Vec::new();
        self.in_angles(|parser| args.push(parser.type_expr()));
        args
    }

    /// `<T, U: Bound & Bound>`, or nothing.
    pub(super) fn type_params(&mut self) -> Vec<TypeParam> {
        let mut params = Vec::new();
        if self.at(TokenKind::Less) {
            self.in_angles(|parser| {
                let Some(name) = parser.name("a type parameter") else { return };
                let mut bounds = Vec::new();
                if parser.eat(TokenKind::Colon) {
                    bounds.push(parser.type_expr());
                    while parser.eat(TokenKind::And) {
                        bounds.push(parser.type_expr());
                    }
                }
                params.push(TypeParam { name, bounds });
            });
        }
        params
    }

    /// A list with commas in `<…>`. It cannot be empty.
    fn in_angles(&mut self, mut element: impl FnMut(&mut Self)) {
        let opening = self.here();
        self.bump();
        loop {
            element(self);
            if self.recovering {
                self.lost_in_angles = true;
                return;
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
            if self.at(TokenKind::Greater) {
                break;
            }
        }
        if !self.eat_closing_angle() {
            let expected = "`,` or `>`";
            let message = format!("expected {expected}, found {}", self.describe(self.token()));
            let diagnostic = Diagnostic::new(self.gap(), message, format!("expected {expected}"));
            if self.at(TokenKind::Error) {
                self.recovering = true;
            }
            self.fail(diagnostic.related(opening, "the list begins here"));
            self.lost_in_angles = true;
        }
    }

    /// Takes `>`, if need be from the front of a longer operator such as `>>`.
    fn eat_closing_angle(&mut self) -> bool {
        let rest = match self.kind() {
            TokenKind::Greater => return self.eat(TokenKind::Greater),
            TokenKind::Shr => TokenKind::Greater,
            TokenKind::Ushr => TokenKind::Shr,
            TokenKind::GreaterEq => TokenKind::Eq,
            TokenKind::ShrEq => TokenKind::GreaterEq,
            TokenKind::UshrEq => TokenKind::ShrEq,
            _ => return false,
        };
        let token = &mut self.tokens[self.position];
        self.taken_to = token.start + 1;
        token.kind = rest;
        token.start += 1;
        token.newline_before = false;
        true
    }
}
