//! Operators: binary by precedence climbing, prefix, and those behind an operand (calls, members, elements).

use super::Parser;
use super::recovery::begins_expression;
use crate::ast::{BinaryOp, Expr, ExprKind, TypeExpr};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

/// How tightly `??` binds: loosest of all, and to the right.
const COALESCE: u8 = 1;
/// How tightly comparisons and `is` bind. They do not chain.
const COMPARISON: u8 = 4;
/// How tightly `as` binds: tightest of all.
const CAST: u8 = 11;

/// An operator between or behind operands.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Is,
    As,
}

/// The infix operators with how tightly they bind.
fn infix(kind: TokenKind) -> Option<(Infix, u8)> {
    let (op, level) = match kind {
        TokenKind::Coalesce => (BinaryOp::Coalesce, COALESCE),
        TokenKind::OrOr => (BinaryOp::OrOr, 2),
        TokenKind::AndAnd => (BinaryOp::AndAnd, 3),
        TokenKind::EqEq => (BinaryOp::Eq, COMPARISON),
        TokenKind::NotEq => (BinaryOp::Ne, COMPARISON),
        TokenKind::Less => (BinaryOp::Lt, COMPARISON),
        TokenKind::LessEq => (BinaryOp::Le, COMPARISON),
        TokenKind::Greater => (BinaryOp::Gt, COMPARISON),
        TokenKind::GreaterEq => (BinaryOp::Ge, COMPARISON),
        TokenKind::Is => return Some((Infix::Is, COMPARISON)),
        TokenKind::Or => (BinaryOp::Or, 5),
        TokenKind::Xor => (BinaryOp::Xor, 6),
        TokenKind::And => (BinaryOp::And, 7),
        TokenKind::Shl => (BinaryOp::Shl, 8),
        TokenKind::Shr => (BinaryOp::Shr, 8),
        TokenKind::Ushr => (BinaryOp::Ushr, 8),
        TokenKind::Plus => (BinaryOp::Add, 9),
        TokenKind::Minus => (BinaryOp::Sub, 9),
        TokenKind::Star => (BinaryOp::Mul, 10),
        TokenKind::Slash => (BinaryOp::Div, 10),
        TokenKind::Percent => (BinaryOp::Rem, 10),
        TokenKind::As => return Some((Infix::As, CAST)),
        _ => return None,
    };
    Some((Infix::Binary(op), level))
}

impl Parser<'_> {
    /// An expression of any kind.
    pub(super) fn expression(&mut self) -> Expr {
        self.deeper(|parser| parser.binary(0))
    }

    /// Operands joined by operators that bind at least as tightly as `minimum`.
    fn binary(&mut self, minimum: u8) -> Expr {
        self.chain(|parser| {
            let start = parser.here();
            let mut left = parser.unary();
            // The comparison that `left` is, if it is one.
            let mut comparison: Option<(TokenKind, Span)> = None;
            while !parser.recovering {
                parser.translate_operator();
                let Some((op, level)) = infix(parser.kind()) else { break };
                let begins_statement =
                    matches!(parser.kind(), TokenKind::Minus | TokenKind::Or | TokenKind::OrOr);
                if level < minimum || (begins_statement && parser.at_line_end()) || parser.increment() {
                    break;
                }
                let op_span = parser.here();
                if level == COMPARISON {
                    if let Some((first, first_span)) = comparison {
                        if first == TokenKind::Less && parser.at_unused_type_arguments() {
                            break;
                        }
                        parser.report_chained_comparison(first_span, op_span);
                    }
                    comparison = Some((parser.kind(), op_span));
                } else {
                    comparison = None;
                }
                parser.wrap();
                parser.bump();
                parser.foreign_operator(op_span);
                left = parser.infix_operand(op, level, op_span, left);
                left.span = parser.since(start);
            }
            left
        })
    }

    /// The right side of an operator, joined to the left. The caller sets the span.
    fn infix_operand(&mut self, op: Infix, level: u8, op_span: Span, left: Expr) -> Expr {
        let left = Box::new(left);
        let kind = match op {
            Infix::Is => ExprKind::Is(left, self.cast_type()),
            Infix::As if self.eat(TokenKind::Question) => ExprKind::AsNullable(left, self.cast_type()),
            Infix::As => ExprKind::As(left, self.cast_type()),
            Infix::Binary(op) => {
                let minimum = if level == COALESCE { level } else { level + 1 };
                let right = self.deeper(|parser| parser.binary(minimum));
                ExprKind::Binary(op, op_span, left, Box::new(right))
            }
        };
        Expr { kind, span: op_span }
    }

    fn report_chained_comparison(&mut self, first: Span, second: Span) {
        self.report(
            Diagnostic::new(second, "comparisons do not chain", "the second comparison")
                .related(first, "the first comparison")
                .help("join two comparisons with `&&`, as in `a < b && b < c`, or use parentheses"),
        );
    }

    /// At the `>` of type arguments that nothing follows which could use them: fails.
    fn at_unused_type_arguments(&mut self) -> bool {
        let next = self.token_ahead(1);
        let operand = begins_expression(next.kind) && !next.newline_before;
        if !self.at(TokenKind::Greater) || (operand && next.kind != TokenKind::OpenBracket) {
            return false;
        }
        let message = "type arguments in an expression are followed by `(` or `.`";
        let diagnostic = Diagnostic::new(self.here(), message, "expected `(` or `.` behind this");
        self.fail(
            diagnostic
                .help("make an object with `List<Int>()`; a function is not a value until it is called"),
        );
        true
    }

    /// Prefix operators and their operand.
    fn unary(&mut self) -> Expr {
        let start = self.here();
        let Some(op) = self.prefix_op() else {
            if self.at(TokenKind::Plus) {
                let double = self.kind_ahead(1) == TokenKind::Plus;
                let message = if double { "there is no `++`" } else { "there is no prefix `+`" };
                let help = if double { "write `x += 1`" } else { "leave it out" };
                self.fail(Diagnostic::new(start, message, "expected an expression").help(help));
            }
            return self.postfix();
        };
        self.bump();
        if let Some(minimum) = self.smallest_integer(op, start) {
            return minimum;
        }
        let operand = self.deeper(Self::unary);
        Expr { kind: ExprKind::Unary(op, Box::new(operand)), span: self.since(start) }
    }

    /// An operand with the calls, members and elements behind it.
    fn postfix(&mut self) -> Expr {
        self.chain(|parser| {
            let start = parser.here();
            let mut expr = parser.primary();
            while !parser.recovering {
                let begins_statement =
                    matches!(parser.kind(), TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::Bang);
                if begins_statement && parser.at_line_end() {
                    break;
                }
                let kind = match parser.kind() {
                    TokenKind::OpenParen => {
                        ExprKind::Call { callee: Box::new(expr), args: parser.arguments() }
                    }
                    TokenKind::OpenBracket => {
                        let index = parser.index();
                        ExprKind::Index(Box::new(expr), Box::new(index))
                    }
                    TokenKind::Dot | TokenKind::QuestionDot => parser.member_access(expr),
                    TokenKind::Bang => {
                        parser.bump();
                        ExprKind::NonNull(Box::new(expr))
                    }
                    _ => return expr,
                };
                parser.wrap();
                expr = Expr { kind, span: parser.since(start) };
            }
            expr
        })
    }

    /// An operand with what stands behind it, where only its kind is needed.
    pub(super) fn postfix_kind(&mut self) -> ExprKind {
        self.deeper(Self::postfix).kind
    }

    /// `.name` or `?.name` behind `object`, which is given back if no name follows.
    fn member_access(&mut self, object: Expr) -> ExprKind {
        let safe = self.bump().kind == TokenKind::QuestionDot;
        if matches!(object.kind, ExprKind::Int(_)) && !matches!(self.kind(), TokenKind::Name) {
            let help = "a `Float` has digits on both sides of its point, as in `1.0`";
            self.unexpected_with("the name of a member", Some(help));
            return object.kind;
        }
        if matches!(self.kind(), TokenKind::Int | TokenKind::Float) {
            let help = "there are no tuples; the elements of arrays are written `a[0]`";
            self.unexpected_with("the name of a member", Some(help));
            return object.kind;
        }
        let Some(name) = self.name("a member") else { return object.kind };
        let type_args = self.written_type_arguments();
        ExprKind::Member { object: Box::new(object), name, safe, type_args }
    }

    /// Type arguments behind a name in an expression, if there are any.
    pub(super) fn written_type_arguments(&mut self) -> Vec<TypeExpr> {
        if self.at_type_arguments() { self.type_arguments() } else { Vec::new() }
    }

    /// `[index]`.
    fn index(&mut self) -> Expr {
        let opening = self.here();
        self.bump();
        let index = self.within_brackets(Self::expression);
        self.close_bracket(opening, TokenKind::CloseBracket, "`]`");
        index
    }

    /// `(a, b)`.
    pub(super) fn arguments(&mut self) -> Vec<Expr> {
        let mut args = Vec::new();
        self.bracketed(TokenKind::OpenParen, TokenKind::CloseParen, |parser| {
            let separator = parser.kind_ahead(1);
            if parser.at(TokenKind::Name) && matches!(separator, TokenKind::Colon | TokenKind::Eq) {
                let diagnostic = Diagnostic::new(parser.here(), "arguments have no names", "a name");
                parser.report(diagnostic.help("write the values in the order of the parameters"));
                parser.bump();
                parser.bump();
            }
            let start = parser.here();
            let arg = parser.expression();
            args.push(parser.assignment_as_block(arg, start));
        });
        args
    }
}
