//! Expressions that steer: `if`, `match`, `loop`, `try` and the jumps.

use super::Parser;
use super::recovery::begins_expression;
use crate::ast::{Arm, BinaryOp, Block, Catch, Cond, Expr, ExprKind, Name};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;

impl Parser<'_> {
    /// An expression behind which `{` begins a body. `missing` says what it is if it is not there.
    pub(super) fn head(&mut self, missing: &str, help: Option<&str>) -> Expr {
        if self.at(TokenKind::OpenBrace) {
            let mut diagnostic = Diagnostic::new(self.here(), missing, "expected an expression before this");
            if let Some(help) = help {
                diagnostic = diagnostic.help(help);
            }
            self.report(diagnostic);
            return self.missing_expression();
        }
        let in_head = std::mem::replace(&mut self.in_head, true);
        let expr = self.expression();
        self.in_head = in_head;
        expr
    }

    /// The condition of `if` or `while`. If there is none, `help` is the way out.
    pub(super) fn condition(&mut self, help: &str) -> Cond {
        let binds = self.eat(TokenKind::Let);
        if binds {
            let Some(name) = self.name("a variable") else { return Cond::Expr(self.missing_expression()) };
            if self.at(TokenKind::Colon) {
                let message = "the variable of a condition has no written type";
                let diagnostic = Diagnostic::new(self.here(), message, "expected `=`");
                self.report(diagnostic.help("its type is that of the value, without `?`"));
                self.bump();
                self.type_expr();
            }
            if !self.expect(TokenKind::Eq) {
                return Cond::Expr(self.missing_expression());
            }
            return Cond::Let(name, self.head("the value is missing", None));
        }
        let start = self.here();
        let left = self.head("the condition is missing", Some(help));
        if self.recovering || !self.at(TokenKind::Eq) {
            return Cond::Expr(left);
        }
        let op = self.here();
        self.report(
            Diagnostic::new(op, "`=` assigns and cannot stand in a condition", "expected a comparison")
                .help("a comparison is written `==`"),
        );
        self.bump();
        let right = self.head("the right side is missing", None);
        let kind = ExprKind::Binary(BinaryOp::Eq, op, Box::new(left), Box::new(right));
        Cond::Expr(Expr { kind, span: self.since(start) })
    }

    /// `if c {…} else {…}`.
    pub(super) fn if_expression(&mut self) -> ExprKind {
        self.bump();
        let cond = Box::new(self.condition("write what is tested between `if` and `{`"));
        if self.at_word("then") {
            let diagnostic = Diagnostic::new(self.here(), "there is no `then`", "expected `{`");
            self.fail(diagnostic.help("write `if c { … } else { … }`"));
        }
        let then = self.block(Some("the branches of an `if` stand in braces"));
        let foreign = ["elif", "elsif", "elseif"].into_iter().find(|word| self.at_word(word));
        if let Some(word) = foreign.filter(|_| begins_expression(self.kind_ahead(1))) {
            let message = format!("`{word}` is written `else if`");
            self.report(Diagnostic::new(self.here(), message, "not a word of the language"));
        } else if self.recovering || !self.eat(TokenKind::Else) {
            return ExprKind::If { cond, then, otherwise: None };
        }
        let start = self.here();
        let kind = match self.at(TokenKind::If) || foreign.is_some() {
            true => self.deeper(Self::if_expression),
            false => ExprKind::Block(self.block(Some("behind `else` stands `{` or `if`"))),
        };
        let otherwise = Some(Box::new(Expr { kind, span: self.since(start) }));
        ExprKind::If { cond, then, otherwise }
    }

    /// `match e { arms }`.
    pub(super) fn match_expression(&mut self) -> ExprKind {
        self.bump();
        let scrutinee = Box::new(self.head("the value to match is missing", None));
        let mut arms = Vec::new();
        if self.find_body(Some("the arms of a `match` stand in braces")) {
            self.braced(|parser, _| {
                while !parser.at_block_end() {
                    let before = parser.begin();
                    let arm = parser.arm();
                    if parser.position > before {
                        arms.push(arm);
                    }
                    parser.end_of_arm(before);
                    if parser.position == before {
                        parser.bump();
                    }
                }
            });
        }
        ExprKind::Match { scrutinee, arms }
    }

    fn arm(&mut self) -> Arm {
        for word in ["case", "default"] {
            if self.at_word(word) && !matches!(self.kind_ahead(1), TokenKind::FatArrow | TokenKind::If) {
                let message = format!("there is no `{word}`");
                let help = "an arm is written `pattern => value,`, and `_ => value` matches everything";
                self.fail(Diagnostic::new(self.here(), message, "expected a pattern").help(help));
            }
        }
        let pattern = self.pattern();
        let guard = (!self.recovering && self.eat(TokenKind::If)).then(|| self.expression());
        if self.recovering {
            return Arm { pattern, guard, body: self.missing_expression() };
        }
        match self.kind() {
            TokenKind::FatArrow => {
                self.bump();
            }
            TokenKind::Arrow | TokenKind::Colon => {
                let diagnostic =
                    Diagnostic::new(self.here(), "an arm has `=>` behind its pattern", "expected `=>`");
                self.report(diagnostic.help("write `pattern => value`"));
                self.bump();
            }
            _ => {
                self.unexpected("`=>`");
                return Arm { pattern, guard, body: self.missing_expression() };
            }
        }
        let start = self.here();
        let body = match self.at(TokenKind::OpenBrace) {
            // A block is the whole body: what follows is the next arm.
            true => self.deeper(|parser| {
                let block = parser.block(None);
                Expr { span: block.span, kind: ExprKind::Block(block) }
            }),
            false => {
                let body = self.expression();
                self.assignment_as_block(body, start)
            }
        };
        Arm { pattern, guard, body }
    }

    /// The comma behind an arm, which may be missing behind the last one and behind `}`.
    fn end_of_arm(&mut self, from: usize) {
        if !self.recovering {
            let behind_brace = self.taken_to > 0 && self.text.as_bytes()[self.taken_to as usize - 1] == b'}';
            if self.eat(TokenKind::Comma) || behind_brace || self.at_block_end() {
                return;
            }
            if self.at_line_start() || self.at(TokenKind::Semicolon) {
                let diagnostic = Diagnostic::new(self.gap(), "expected `,` between arms", "expected `,`");
                self.report(diagnostic.help("arms are separated by commas"));
                self.eat(TokenKind::Semicolon);
                return;
            }
            self.unexpected("`,` or `}`");
        }
        self.skip_statement(from, |kind| kind == TokenKind::Comma);
        self.eat(TokenKind::Comma);
        self.recovering = false;
    }

    /// `'label: loop {…}`.
    pub(super) fn labelled_loop(&mut self) -> ExprKind {
        if self.kind_ahead(1) == TokenKind::Colon && self.kind_ahead(2) == TokenKind::Loop {
            let label = self.label_with_colon();
            return self.loop_expression(Some(label));
        }
        let help = "a label stands before `while`, `for` or `loop`, as in `'outer: loop { … }`; a character is \
                    written `'a'`, a string `\"text\"`";
        self.unexpected_with("an expression", Some(help));
        ExprKind::Error
    }

    /// `loop {…}`.
    pub(super) fn loop_expression(&mut self, label: Option<Name>) -> ExprKind {
        self.bump();
        let body = self.block(Some("`loop` has no condition; a loop with one is written `while`"));
        ExprKind::Loop { label, body }
    }

    /// `try {…} catch e: T {…}`.
    pub(super) fn try_expression(&mut self) -> ExprKind {
        let start = self.here();
        self.bump();
        let body = self.block(Some("`try` is followed by a block and `catch`"));
        let mut catches = Vec::new();
        let mut has_catch = false;
        while !self.recovering && self.eat(TokenKind::Catch) {
            has_catch = true;
            catches.extend(self.catch());
        }
        if !self.recovering && self.at_word("finally") && self.kind_ahead(1) == TokenKind::OpenBrace {
            let diagnostic =
                Diagnostic::new(self.here(), "there is no `finally`", "not a word of the language");
            self.report(diagnostic.help("catch the error, do what is to be done, and throw it again"));
            self.bump();
            self.block(None);
        } else if !self.recovering && !has_catch {
            self.report(
                Diagnostic::new(start, "a `try` has no `catch`", "this `try`")
                    .help("write `catch e { … }` behind the block"),
            );
        }
        ExprKind::Try { body, catches }
    }

    fn catch(&mut self) -> Option<Catch> {
        let parenthesised = self.at(TokenKind::OpenParen);
        if parenthesised {
            let diagnostic = Diagnostic::new(self.here(), "a `catch` has no parentheses", "not needed");
            self.report(diagnostic.help("write `catch e: IndexError { … }`"));
            self.bump();
        }
        if self.at(TokenKind::OpenBrace) {
            let diagnostic =
                Diagnostic::new(self.here(), "a `catch` names the error", "expected a name before this");
            self.report(diagnostic.help("write `catch e { … }` or `catch e: IndexError { … }`"));
            self.block(None);
            return None;
        }
        let Some(name) = self.name("the error") else {
            self.block(None);
            return None;
        };
        let ty = self.eat(TokenKind::Colon).then(|| self.type_expr());
        if parenthesised {
            self.eat(TokenKind::CloseParen);
        }
        let body: Block = self.block(Some("what is done about the error stands in braces"));
        Some(Catch { name, ty, body })
    }

    /// `return e`.
    pub(super) fn return_expression(&mut self) -> ExprKind {
        self.bump();
        ExprKind::Return(self.jump_value())
    }

    /// `throw e`.
    pub(super) fn throw_expression(&mut self) -> ExprKind {
        self.bump();
        if self.at_line_end() {
            self.unexpected("the error to throw");
            return ExprKind::Error;
        }
        ExprKind::Throw(Box::new(self.expression()))
    }

    /// `break 'label value`.
    pub(super) fn break_expression(&mut self) -> ExprKind {
        self.bump();
        let label = self.jump_label();
        let value = self.jump_value();
        ExprKind::Break { label, value }
    }

    /// `continue 'label`.
    pub(super) fn continue_expression(&mut self) -> ExprKind {
        self.bump();
        ExprKind::Continue { label: self.jump_label() }
    }

    fn jump_label(&mut self) -> Option<Name> {
        if !self.at(TokenKind::Label) || self.at_line_end() || self.kind_ahead(1) == TokenKind::Colon {
            return None;
        }
        let token = self.bump();
        Some(self.label_of(token))
    }

    /// The value behind `return` or `break`, if it stands on the same line.
    fn jump_value(&mut self) -> Option<Box<Expr>> {
        let blocked = self.in_head && self.at(TokenKind::OpenBrace);
        let present = begins_expression(self.kind()) && !self.at_line_end() && !blocked;
        present.then(|| Box::new(self.expression()))
    }
}
