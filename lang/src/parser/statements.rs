//! Blocks and the statements in them.

use super::Parser;
use crate::ast::{AssignOp, BinaryOp, Block, Expr, ExprKind, Name, Stmt, StmtKind, UnaryOp};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

impl Parser<'_> {
    /// `{ statements }`. If the `{` is missing, `help` says why.
    pub(super) fn block(&mut self, help: Option<&str>) -> Block {
        let mut stmts = Vec::new();
        if !self.find_body(help) {
            return Block { stmts, span: self.here() };
        }
        let start = self.here();
        self.braced(|parser, _| {
            while !parser.at_block_end() {
                if parser.eat(TokenKind::Semicolon) {
                    continue;
                }
                let before = parser.begin();
                let stmt = parser.statement();
                // Where nothing was read an error was reported, and there is nothing to keep.
                if parser.position > before {
                    stmts.push(stmt);
                }
                parser.end_of_statement(before);
                if parser.position == before {
                    parser.bump();
                }
            }
        });
        Block { stmts, span: self.since(start) }
    }

    fn statement(&mut self) -> Stmt {
        let start = self.here();
        let kind = match self.kind() {
            TokenKind::Let | TokenKind::Var => self.let_statement(),
            TokenKind::While => self.while_statement(None),
            TokenKind::For => self.for_statement(None),
            TokenKind::Label if self.kind_ahead(1) == TokenKind::Colon => match self.kind_ahead(2) {
                TokenKind::While => {
                    let label = self.label_with_colon();
                    self.while_statement(Some(label))
                }
                TokenKind::For => {
                    let label = self.label_with_colon();
                    self.for_statement(Some(label))
                }
                _ => self.expression_statement(),
            },
            _ if self.at_declaration() => self.declaration_in_block(),
            _ => self.expression_statement(),
        };
        Stmt { kind, span: self.since(start) }
    }

    /// The name of a new variable, and what people write in its place.
    pub(super) fn variable_name(&mut self) -> Option<Name> {
        if self.at_word("mut") && self.kind_ahead(1) == TokenKind::Name {
            let diagnostic = Diagnostic::new(self.here(), "there is no `mut`", "not needed");
            self.report(diagnostic.help("a variable that changes is declared with `var`"));
            self.bump();
        }
        if self.at(TokenKind::OpenParen) {
            let message = "a declaration names one variable";
            let diagnostic = Diagnostic::new(self.here(), message, "expected a name");
            self.fail(diagnostic.help("there are no tuples; declare the variables one after the other"));
            return None;
        }
        self.name("a variable")
    }

    fn let_statement(&mut self) -> StmtKind {
        let start = self.here();
        let mutable = self.bump().kind == TokenKind::Var;
        let Some(name) = self.variable_name() else { return StmtKind::Error };
        if self.at(TokenKind::Colon) && self.kind_ahead(1) == TokenKind::Eq {
            self.report(
                Diagnostic::new(self.here(), "a colon without a type", "not needed").help("write `=`"),
            );
            self.bump();
        }
        let ty = self.eat(TokenKind::Colon).then(|| self.type_expr());
        let init = if self.recovering {
            self.missing_expression()
        } else if self.eat(TokenKind::Eq) {
            self.expression()
        } else if self.at_line_start() || self.at_member_end() {
            let span = self.since(start);
            let message = format!("the variable `{}` has no value", name.text);
            self.report(
                Diagnostic::new(span, message, "no initialiser")
                    .help("a variable is initialised where it is declared: write `= value`"),
            );
            Expr { kind: ExprKind::Error, span }
        } else {
            self.unexpected("`=` and a value");
            self.missing_expression()
        };
        StmtKind::Let { mutable, name, ty, init }
    }

    /// Stands for an expression about whose absence has been complained.
    pub(super) fn missing_expression(&self) -> Expr {
        Expr { kind: ExprKind::Error, span: self.here() }
    }

    /// `'label:`.
    pub(super) fn label_with_colon(&mut self) -> Name {
        let token = self.bump();
        self.bump();
        self.label_of(token)
    }

    /// A label without its quote.
    pub(super) fn label_of(&self, token: crate::lexer::Token) -> Name {
        Name { text: self.slice(token)[1..].into(), span: token.span(self.file) }
    }

    fn while_statement(&mut self, label: Option<Name>) -> StmtKind {
        self.bump();
        let cond = self.condition("an endless loop is written `loop { … }`");
        let body = self.block(Some("the body of a loop stands in braces"));
        StmtKind::While { label, cond, body }
    }

    fn for_statement(&mut self, label: Option<Name>) -> StmtKind {
        self.bump();
        if self.at(TokenKind::OpenParen) {
            let message = "a `for` loop is written without parentheses";
            let diagnostic = Diagnostic::new(self.here(), message, "expected the loop variable");
            self.fail(diagnostic.help("write `for i in 0..n { … }` or `for x in list { … }`"));
            self.block(None);
            return StmtKind::Error;
        }
        let Some(var) = self.name("the loop variable") else {
            self.block(None);
            return StmtKind::Error;
        };
        if !self.expect(TokenKind::In) {
            self.block(None);
            return StmtKind::Error;
        }
        let from = self.head("what to go through is missing", None);
        if !matches!(self.kind(), TokenKind::DotDot | TokenKind::DotDotEq) || self.recovering {
            let body = self.block(Some("the body of a loop stands in braces"));
            return StmtKind::ForEach { label, var, iterable: from, body };
        }
        let inclusive = self.bump().kind == TokenKind::DotDotEq;
        let help = "a range has two bounds; an endless loop is written `loop { … }`";
        let to = self.head("the upper bound of the range is missing", Some(help));
        let mut step = 1;
        if !self.recovering && self.at_word("step") {
            self.bump();
            step = self.step();
        }
        let body = self.block(Some("the body of a loop stands in braces"));
        StmtKind::ForRange { label, var, from, to, inclusive, step, body }
    }

    /// The literal behind `step`.
    fn step(&mut self) -> i64 {
        let start = self.here();
        let negative = self.eat(TokenKind::Minus);
        if !self.at(TokenKind::Int) {
            let help =
                "the step is known when the program is compiled, such as `2` or `-1`; use `while` for others";
            self.unexpected_with("an integer", Some(help));
            return 1;
        }
        let token = self.bump();
        let step = self.int(token, negative);
        if step == 0 {
            let diagnostic =
                Diagnostic::new(self.since(start), "the step of a range is zero", "never moves on");
            self.report(diagnostic);
            return 1;
        }
        step
    }

    fn expression_statement(&mut self) -> StmtKind {
        if let Some(wrong) = self.foreign_statement() {
            return wrong;
        }
        let target = self.expression();
        if self.recovering {
            return StmtKind::Expr(target);
        }
        let Some(op) = assign_op(self.kind()) else { return StmtKind::Expr(target) };
        let op_span = self.here();
        self.bump();
        let value = self.expression();
        if !self.recovering && assign_op(self.kind()).is_some() && !self.at_line_start() {
            let message = "an assignment has no value, so that it cannot be assigned again";
            self.fail(
                Diagnostic::new(self.here(), message, "the second assignment")
                    .related(op_span, "the first assignment")
                    .help("write two statements"),
            );
        }
        StmtKind::Assign { op, target, value }
    }

    /// An assignment where only an expression can stand, as the body of a closure or arm: reports it, and
    /// reads it as the block that it should be.
    pub(super) fn assignment_as_block(&mut self, target: Expr, start: Span) -> Expr {
        let Some(op) = assign_op(self.kind()) else { return target };
        if self.recovering || self.at_line_end() {
            return target;
        }
        self.report(
            Diagnostic::new(
                self.here(),
                "an assignment is a statement and has no value",
                "expected an expression",
            )
            .help("put it into braces: `{ x = … }`"),
        );
        self.bump();
        let value = self.expression();
        let span = self.since(start);
        let stmts = vec![Stmt { kind: StmtKind::Assign { op, target, value }, span }];
        Expr { kind: ExprKind::Block(Block { stmts, span }), span }
    }

    /// A function or type declared inside a block is read as what it is, reported and left out.
    fn declaration_in_block(&mut self) -> StmtKind {
        let start = self.here();
        let modifiers = self.modifiers();
        let (what, help) = match self.kind() {
            TokenKind::Fn => (
                "a function cannot be declared inside a block",
                "move it to the top level, or write a closure: `let f = |x: Int| …`",
            ),
            TokenKind::Init => ("`init` cannot stand inside a block", "a constructor is a member of a class"),
            TokenKind::Import => {
                ("an import cannot stand inside a block", "imports stand at the top of the file")
            }
            TokenKind::Let | TokenKind::Var => {
                ("a local variable has no modifiers", "write only `let` or `var`")
            }
            _ => ("a type cannot be declared inside a block", "move it to the top level"),
        };
        self.report(Diagnostic::new(start, what, "not a statement").help(help));
        match self.kind() {
            TokenKind::Fn => drop(self.function(false)),
            TokenKind::Class => drop(self.class(start, modifiers)),
            TokenKind::Interface => drop(self.interface(start)),
            TokenKind::Enum => drop(self.enumeration(start)),
            TokenKind::Let | TokenKind::Var => return self.let_statement(),
            _ => self.recovering = true,
        }
        StmtKind::Error
    }

    /// A declaration whose foreign word was just read as ours.
    pub(super) fn translated_statement(&mut self) -> StmtKind {
        match self.at(TokenKind::Let) {
            true => self.let_statement(),
            false => self.declaration_in_block(),
        }
    }

    /// A prefix operator.
    pub(super) fn prefix_op(&self) -> Option<UnaryOp> {
        Some(match self.kind() {
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Tilde => UnaryOp::BitNot,
            _ => return None,
        })
    }
}

/// The operators that assign; `Some(None)` is `=`.
fn assign_op(kind: TokenKind) -> Option<Option<AssignOp>> {
    let op = match kind {
        TokenKind::Eq => return Some(None),
        TokenKind::CoalesceEq => return Some(Some(AssignOp::Coalesce)),
        TokenKind::PlusEq => BinaryOp::Add,
        TokenKind::MinusEq => BinaryOp::Sub,
        TokenKind::StarEq => BinaryOp::Mul,
        TokenKind::SlashEq => BinaryOp::Div,
        TokenKind::PercentEq => BinaryOp::Rem,
        TokenKind::AndEq => BinaryOp::And,
        TokenKind::OrEq => BinaryOp::Or,
        TokenKind::XorEq => BinaryOp::Xor,
        TokenKind::ShlEq => BinaryOp::Shl,
        TokenKind::ShrEq => BinaryOp::Shr,
        TokenKind::UshrEq => BinaryOp::Ushr,
        _ => return None,
    };
    Some(Some(AssignOp::Binary(op)))
}
