//! What expressions are made of: literals, names, parentheses, arrays, closures.

use super::Parser;
use crate::ast::{Expr, ExprKind, Param, UnaryOp};
use crate::diagnostics::Diagnostic;
use crate::lexer::literals::{char_value, float_value, int_value};
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// What a minus in front makes of the largest decimal literal.
const MINIMUM_BITS: u64 = 1 << 63;

impl Parser<'_> {
    /// An operand.
    pub(super) fn primary(&mut self) -> Expr {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Int => {
                let token = self.bump();
                ExprKind::Int(self.int(token, false))
            }
            TokenKind::Float => {
                let token = self.bump();
                ExprKind::Float(self.float(token))
            }
            TokenKind::Char => {
                let token = self.bump();
                ExprKind::Int(i64::from(u32::from(char_value(self.slice(token)))))
            }
            TokenKind::Str | TokenKind::RawStr => {
                let token = self.bump();
                ExprKind::Str(self.string(token))
            }
            TokenKind::StrStart => self.interpolated(),
            TokenKind::True | TokenKind::False => ExprKind::Bool(self.bump().kind == TokenKind::True),
            TokenKind::Null => self.single(ExprKind::Null),
            TokenKind::This => self.single(ExprKind::This),
            TokenKind::Super => self.super_call(),
            TokenKind::Name => self.name_expression(),
            TokenKind::OpenParen => self.parentheses(),
            TokenKind::OpenBracket => self.array(),
            TokenKind::OpenBrace if !self.in_head => ExprKind::Block(self.block(None)),
            TokenKind::Or | TokenKind::OrOr => self.closure(),
            TokenKind::If => self.if_expression(),
            TokenKind::Match => self.match_expression(),
            TokenKind::Loop => self.loop_expression(None),
            TokenKind::Label => self.labelled_loop(),
            TokenKind::Try => self.try_expression(),
            TokenKind::Return => self.return_expression(),
            TokenKind::Throw => self.throw_expression(),
            TokenKind::Break => self.break_expression(),
            TokenKind::Continue => self.continue_expression(),
            _ => {
                let help = self.help_for_expression();
                self.unexpected_with("an expression", help);
                return self.missing_expression();
            }
        };
        Expr { kind, span: self.since(start) }
    }

    fn single(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    /// The value of an integer literal. The lexer has reported those that are none.
    pub(super) fn int(&mut self, token: Token, negative: bool) -> i64 {
        let Ok(literal) = int_value(self.slice(token)) else { return 1 };
        if literal.decimal && literal.bits == MINIMUM_BITS && !negative {
            self.report(
                Diagnostic::new(token.span(self.file), "this integer is too large", "this number")
                    .help("the largest `Int` is 9223372036854775807"),
            );
        }
        let value = literal.bits as i64;
        if negative { value.wrapping_neg() } else { value }
    }

    /// The value of a float literal.
    pub(super) fn float(&self, token: Token) -> f64 {
        float_value(self.slice(token)).unwrap_or(0.0)
    }

    /// Behind a minus: the literal that is an integer only with the minus. A member behind it would belong to
    /// the literal alone.
    pub(super) fn smallest_integer(&mut self, op: UnaryOp, start: Span) -> Option<Expr> {
        if op != UnaryOp::Neg || !self.at(TokenKind::Int) {
            return None;
        }
        let binds_tighter = matches!(
            self.kind_ahead(1),
            TokenKind::Dot
                | TokenKind::QuestionDot
                | TokenKind::Bang
                | TokenKind::OpenParen
                | TokenKind::OpenBracket
        );
        let literal = int_value(self.slice(self.token())).ok()?;
        if binds_tighter || !literal.decimal || literal.bits != MINIMUM_BITS {
            return None;
        }
        self.bump();
        Some(Expr { kind: ExprKind::Int(i64::MIN), span: self.since(start) })
    }

    fn name_expression(&mut self) -> ExprKind {
        if let Some(kind) = self.foreign_expression() {
            return kind;
        }
        let token = self.bump();
        let name = self.name_of(token);
        if &*name.text == "_" {
            self.report(
                Diagnostic::new(name.span, "`_` has no value", "expected an expression")
                    .help("`_` stands for what is not needed, in patterns and as the name of a variable"),
            );
            return ExprKind::Error;
        }
        let type_args = self.written_type_arguments();
        ExprKind::Name(name, type_args)
    }

    /// `super(args)` or `super.m(args)`.
    fn super_call(&mut self) -> ExprKind {
        self.bump();
        if self.at(TokenKind::OpenParen) {
            return ExprKind::SuperInit(self.arguments());
        }
        if !self.at(TokenKind::Dot) {
            self.unexpected_with("`(` or `.`", Some("write `super(…)` in `init`, or `super.method(…)`"));
            return ExprKind::Error;
        }
        self.bump();
        let Some(name) = self.name("a method") else { return ExprKind::Error };
        if !self.at(TokenKind::OpenParen) {
            self.unexpected_with(
                "`(`",
                Some("only methods are reached through `super`; fields are in `this`"),
            );
            return ExprKind::Error;
        }
        ExprKind::SuperCall { name, args: self.arguments() }
    }

    /// `()`, or an expression in parentheses, which leaves no node of its own.
    fn parentheses(&mut self) -> ExprKind {
        let opening = self.here();
        self.bump();
        if self.eat(TokenKind::CloseParen) {
            return ExprKind::Unit;
        }
        let mut first = self.within_brackets(Self::expression);
        if !self.recovering && self.at(TokenKind::Comma) {
            self.report_tuple(self.here());
            self.within_brackets(|parser| {
                while !parser.recovering && parser.eat(TokenKind::Comma) && !parser.at(TokenKind::CloseParen)
                {
                    parser.expression();
                }
            });
            first.kind = ExprKind::Error;
        }
        self.close_bracket(opening, TokenKind::CloseParen, "`)`");
        first.kind
    }

    /// `[a, b]`.
    fn array(&mut self) -> ExprKind {
        let mut elements = Vec::new();
        self.bracketed(TokenKind::OpenBracket, TokenKind::CloseBracket, |parser| {
            elements.push(parser.expression());
        });
        ExprKind::Array(elements)
    }

    /// `|x, y: T| -> R body`.
    fn closure(&mut self) -> ExprKind {
        let mut params = Vec::new();
        if self.bump().kind == TokenKind::Or {
            self.closure_params(&mut params);
        }
        let result = (!self.recovering && self.eat(TokenKind::Arrow)).then(|| self.type_expr());
        if self.recovering {
            return ExprKind::Error;
        }
        if self.at(TokenKind::FatArrow) {
            let message = "the body of a closure stands directly behind the bars";
            let diagnostic = Diagnostic::new(self.here(), message, "not needed");
            self.report(diagnostic.help("write `|x| x + 1`"));
            self.bump();
        }
        let in_head = std::mem::replace(&mut self.in_head, false);
        let start = self.here();
        let body = self.expression();
        let body = Box::new(self.assignment_as_block(body, start));
        self.in_head = in_head;
        ExprKind::Closure { params, result, body }
    }

    fn closure_params(&mut self, params: &mut Vec<Param>) {
        let opening = self.here();
        while !self.at(TokenKind::Or) {
            let Some(name) = self.name("a parameter") else { return };
            let ty = self.eat(TokenKind::Colon).then(|| self.type_expr());
            params.push(Param { name, ty });
            if self.recovering {
                return;
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if !self.eat(TokenKind::Or) {
            let expected = "`,` or `|`";
            let message = format!("expected {expected}, found {}", self.describe(self.token()));
            if self.at(TokenKind::Error) {
                self.recovering = true;
            }
            self.fail(
                Diagnostic::new(self.gap(), message, format!("expected {expected}"))
                    .related(opening, "the parameters of a closure begin here"),
            );
        }
    }
}
