//! What people write who come from other languages, and what they mean. Where a foreign form can be read as a
//! whole it is reported and taken for what it stands for; elsewhere there is at least a way out.

use super::Parser;
use super::recovery::begins_expression;
use crate::ast::{ExprKind, StmtKind};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

const RANGES: &str = "ranges stand only in `for i in a..b` and in patterns";
const CONDITIONAL: &str = "a conditional value is written `if c { a } else { b }`";
const CLOSURES: &str = "a closure is written `|x| x + 1`";

/// Words that declare in other languages, with ours.
fn foreign_keyword(word: &str) -> Option<(TokenKind, &'static str)> {
    Some(match word {
        "func" | "fun" | "def" | "function" => (TokenKind::Fn, "fn"),
        "val" | "const" => (TokenKind::Let, "let"),
        "trait" | "protocol" => (TokenKind::Interface, "interface"),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Two names stand one behind the other on a line, which nothing in the language begins with.
    fn at_two_names(&self) -> bool {
        let next = self.token_ahead(1);
        self.at(TokenKind::Name) && next.kind == TokenKind::Name && !next.newline_before
    }

    /// A word that declares in other languages stands for ours: reports it and reads it as that.
    pub(super) fn translate_keyword(&mut self) {
        if !self.at_two_names() {
            return;
        }
        let word = self.slice(self.token());
        if let Some((kind, ours)) = foreign_keyword(word) {
            let message = format!("`{word}` is written `{ours}`");
            self.report(Diagnostic::new(self.here(), message, "not a word of the language"));
            let position = self.position;
            self.tokens[position].kind = kind;
        }
    }

    /// At a statement that begins in a foreign way.
    pub(super) fn foreign_statement(&mut self) -> Option<StmtKind> {
        let next = self.token_ahead(1);
        if self.at(TokenKind::Name) && next.kind == TokenKind::Colon && !next.newline_before {
            let behind = self.kind_ahead(2);
            if matches!(behind, TokenKind::Name | TokenKind::Fn | TokenKind::Eq) {
                let message = "a variable is declared with `let` or `var`";
                let name = self.slice(self.token());
                let help = format!("write `let {name} = …`, or `var {name} = …` if it changes");
                self.fail(Diagnostic::new(self.here(), message, "expected `let` or `var`").help(help));
                return Some(StmtKind::Error);
            }
        }
        if !self.at_two_names() {
            return None;
        }
        let help = match self.slice(self.token()) {
            "switch" | "when" => "alternatives are written `match e { pattern => value, … }`",
            "do" | "repeat" => "an endless loop is written `loop { … }` and left with `break`",
            "unless" => "write `if !(…) { … }`",
            "until" => "write `while !(…) { … }`",
            "foreach" => "write `for x in list { … }`",
            "yield" => "a thread gives way with `yieldNow()`",
            "raise" => "an error is thrown with `throw`",
            "struct" | "record" | "object" => "types are declared at the top level, with `class`",
            word if foreign_keyword(word).is_some() => {
                self.translate_keyword();
                self.recovering = false;
                return Some(self.translated_statement());
            }
            _ if self.kind_ahead(2) == TokenKind::Eq => "a variable is declared as in `let x: Int = 1`",
            _ => return None,
        };
        let message = format!("`{}` is not a word of the language", self.slice(self.token()));
        let declares = self.kind_ahead(2) == TokenKind::Eq;
        let message =
            if declares { "a variable is declared with `let` or `var`".to_string() } else { message };
        self.fail(Diagnostic::new(self.here(), message, "expected a statement").help(help));
        Some(StmtKind::Error)
    }

    /// In front of a name in an expression: words that are operators elsewhere.
    pub(super) fn foreign_expression(&mut self) -> Option<ExprKind> {
        if !self.at_two_names() {
            return None;
        }
        let (message, help) = match self.slice(self.token()) {
            "new" => ("there is no `new`", "an object is made by calling its class: `Name(…)`"),
            "not" => ("there is no `not`", "write `!`"),
            "await" => ("there is no `await`", "a thread is waited for with `t.join()`"),
            _ => return None,
        };
        self.report(Diagnostic::new(self.here(), message, "not needed").help(help));
        self.bump();
        Some(self.postfix_kind())
    }

    /// Behind an operand: words that are operators elsewhere are reported and read as ours.
    pub(super) fn translate_operator(&mut self) {
        if !self.at(TokenKind::Name) || self.at_line_start() || !begins_expression(self.kind_ahead(1)) {
            return;
        }
        let (kind, ours) = match self.slice(self.token()) {
            "and" => (TokenKind::AndAnd, "&&"),
            "or" => (TokenKind::OrOr, "||"),
            "instanceof" => (TokenKind::Is, "is"),
            "mod" => (TokenKind::Percent, "%"),
            _ => return,
        };
        let message = format!("`{}` is written `{ours}`", self.slice(self.token()));
        self.report(Diagnostic::new(self.here(), message, "not a word of the language"));
        let position = self.position;
        self.tokens[position].kind = kind;
    }

    /// Behind an operator that was just taken: the rest of a longer one that the language does not have.
    pub(super) fn foreign_operator(&mut self, start: Span) {
        if !self.touches_previous() || self.position == 0 {
            return;
        }
        let (message, help) = match (self.tokens[self.position - 1].kind, self.kind()) {
            (TokenKind::EqEq | TokenKind::NotEq, TokenKind::Eq) => {
                ("there is no such comparison", "write `==` or `!=`; references are compared by identity")
            }
            (TokenKind::Star, TokenKind::Star) => {
                ("there is no operator for powers", "write `x.pow(y)` for `Float`, or multiply")
            }
            (TokenKind::Less, TokenKind::Greater) if self.kind_ahead(1) == TokenKind::OpenParen => {
                ("a list of type arguments is empty", "leave out `<>`: type arguments are inferred")
            }
            (TokenKind::Less, TokenKind::Greater) => ("there is no `<>`", "write `!=`"),
            _ => return,
        };
        let span = start.to(self.here());
        self.report(Diagnostic::new(span, message, "not an operator").help(help));
        self.bump();
    }

    /// At `++` or `--` behind an operand: reports it.
    pub(super) fn increment(&mut self) -> bool {
        let next = self.token_ahead(1);
        let sign = self.kind();
        let double = matches!(sign, TokenKind::Plus | TokenKind::Minus)
            && next.kind == sign
            && next.start == self.token().end;
        let behind = self.token_ahead(2);
        if !double || (begins_expression(behind.kind) && !behind.newline_before) {
            return false;
        }
        let span = self.here().to(next.span(self.file));
        let (message, help) = match sign {
            TokenKind::Plus => ("there is no `++`", "write `x += 1`"),
            _ => ("there is no `--`", "write `x -= 1`"),
        };
        self.fail(Diagnostic::new(span, message, "not an operator").help(help));
        self.bump();
        self.bump();
        true
    }

    /// The way out where an expression was expected.
    pub(super) fn help_for_expression(&self) -> Option<&'static str> {
        Some(match self.kind() {
            TokenKind::Fn => CLOSURES,
            TokenKind::DotDot | TokenKind::DotDotEq => RANGES,
            TokenKind::Dot if self.kind_ahead(1) == TokenKind::Int => {
                "a `Float` has digits on both sides of its point, as in `0.5`"
            }
            TokenKind::Let | TokenKind::Var => "a declaration is a statement and has no value",
            TokenKind::While | TokenKind::For => "`while` and `for` are statements and have no value",
            TokenKind::Else => "an `else` stands directly behind the block of its `if`",
            TokenKind::Catch => "a `catch` stands directly behind the block of its `try`",
            TokenKind::Greater => "type arguments in an expression are followed by `(` or `.`",
            TokenKind::OpenBrace => "`{` begins the body here; put a block in parentheses",
            TokenKind::Question => CONDITIONAL,
            _ => return None,
        })
    }

    /// The way out where a bracket should have been closed.
    pub(super) fn help_in_brackets(&self) -> Option<&'static str> {
        Some(match self.kind() {
            TokenKind::Eq => "`=` assigns and is a statement; a comparison is written `==`",
            TokenKind::FatArrow | TokenKind::Arrow | TokenKind::Colon => CLOSURES,
            TokenKind::DotDot | TokenKind::DotDotEq => RANGES,
            TokenKind::Question => CONDITIONAL,
            TokenKind::Semicolon => "an array of equal elements is written `Array<T>(n, value)`",
            _ => return None,
        })
    }

    /// The way out behind a complete statement.
    pub(super) fn help_behind_statement(&self) -> &'static str {
        match self.kind() {
            TokenKind::OpenBrace => "a closure is passed inside the parentheses: `f(|x| …)`",
            TokenKind::FatArrow | TokenKind::Arrow => CLOSURES,
            TokenKind::DotDot | TokenKind::DotDotEq => RANGES,
            TokenKind::Question => CONDITIONAL,
            TokenKind::Eq => "an assignment is a statement and has no value",
            TokenKind::CloseParen | TokenKind::CloseBracket => "nothing is open here that this could close",
            _ => "write each statement on its own line, or `;` between two",
        }
    }

    /// The way out where a declaration or member was expected.
    pub(super) fn help_for_item(&self) -> Option<&'static str> {
        if !self.at(TokenKind::Name) {
            return None;
        }
        Some(match self.slice(self.token()) {
            "struct" | "record" | "object" => "types with fields are declared with `class`",
            "impl" | "extension" => "methods stand inside the braces of their class",
            "type" | "typealias" | "typedef" => "there are no other names for types",
            "use" | "using" | "include" | "require" | "from" => {
                "a module is imported with `import path.name`"
            }
            "package" | "module" | "namespace" | "mod" => "every file is a module, named by its path",
            "constructor" | "new" => "a constructor is written `init(…) { … }`",
            _ => return None,
        })
    }

    /// At a modifier of other languages in front of a declaration: what is to be done about it.
    pub(super) fn foreign_modifier(&self) -> Option<&'static str> {
        let next = self.token_ahead(1);
        let declares = next.kind.is_keyword() || (next.kind == TokenKind::Name && !next.newline_before);
        if !self.at(TokenKind::Name) || !declares {
            return None;
        }
        Some(match self.slice(self.token()) {
            "pub" | "public" | "export" | "internal" => "declarations are visible unless they are `private`",
            "protected" => "members are visible everywhere, or in their file only with `private`",
            "open" | "virtual" => "classes and methods can be extended unless they are `final`",
            "async" | "suspend" => "a thread is started with `spawn(|| …)`",
            _ => return None,
        })
    }

    /// Reports and skips the modifiers of other languages.
    pub(super) fn skip_foreign_modifiers(&mut self) {
        while let Some(help) = self.foreign_modifier() {
            let message = format!("there is no `{}`", self.slice(self.token()));
            self.report(Diagnostic::new(self.here(), message, "not needed").help(help));
            self.bump();
        }
    }

    /// The way out where the body of a function was expected.
    pub(super) fn help_for_function_body(&self) -> &'static str {
        match self.kind() {
            TokenKind::Name if self.at_word("throws") => "errors that a function throws are not declared",
            TokenKind::Name if self.at_word("where") => {
                "bounds are written where the type parameter is declared"
            }
            _ => "the body of a function stands in braces: `{ … }`",
        }
    }
}
