//! A file: imports and top-level declarations. Functions and variables here are shared with classes
//! ([`super::members`]).

use super::Parser;
use super::recovery::begins_statement;
use crate::ast::{Function, Global, Import, Item, ItemKind, Module, Param, TypeExpr};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

/// The words before a declaration.
#[derive(Clone, Copy, Default)]
pub(super) struct Modifiers {
    pub private: bool,
    pub is_static: bool,
    pub is_abstract: bool,
    pub is_final: bool,
    pub is_override: bool,
}

impl Parser<'_> {
    /// The whole file.
    pub(super) fn module(&mut self) -> Module {
        let mut module = Module::default();
        while !self.at(TokenKind::Eof) {
            let before = self.begin();
            self.forget_suspect();
            self.item(&mut module);
            if self.recovering {
                self.skip_to_item(before);
                self.recovering = false;
            }
            if self.position == before {
                self.bump();
            }
        }
        module
    }

    fn item(&mut self, module: &mut Module) {
        if self.eat(TokenKind::Semicolon) {
            return;
        }
        let start = self.here();
        if self.at(TokenKind::Import) {
            if let Some(import) = self.import() {
                if let Some(item) = module.items.first() {
                    self.report(
                        Diagnostic::new(import.span, "an import stands behind a declaration", "this import")
                            .related(item.kind.name_span(), "the first declaration")
                            .help("imports stand at the top of the file"),
                    );
                }
                module.imports.push(import);
            }
            return self.end_of_statement(self.construct_start);
        }
        let modifiers = self.modifiers();
        self.translate_keyword();
        let refuse = |parser: &mut Self, wrong: bool, word: &str, what: &str| {
            if wrong {
                let message = format!("`{word}` cannot stand before {what}");
                parser.report(Diagnostic::new(start, message, "this declaration"));
            }
        };
        let plain_only = |parser: &mut Self, what: &str| {
            refuse(parser, modifiers.is_static, "static", what);
            refuse(parser, modifiers.is_override, "override", what);
        };
        let kind = match self.kind() {
            TokenKind::Fn => {
                plain_only(self, "a top-level function");
                refuse(self, modifiers.is_abstract, "abstract", "a top-level function");
                refuse(self, modifiers.is_final, "final", "a top-level function");
                self.function(true).map(ItemKind::Function)
            }
            TokenKind::Class => {
                plain_only(self, "a class");
                self.class(start, modifiers).map(ItemKind::Class)
            }
            TokenKind::Interface => {
                plain_only(self, "an interface");
                refuse(
                    self,
                    modifiers.is_abstract || modifiers.is_final,
                    "abstract` or `final",
                    "an interface",
                );
                self.interface(start).map(ItemKind::Interface)
            }
            TokenKind::Enum => {
                plain_only(self, "an enum");
                refuse(self, modifiers.is_abstract || modifiers.is_final, "abstract` or `final", "an enum");
                self.enumeration(start).map(ItemKind::Enum)
            }
            TokenKind::Let | TokenKind::Var => {
                plain_only(self, "a top-level variable");
                refuse(
                    self,
                    modifiers.is_abstract || modifiers.is_final,
                    "abstract` or `final",
                    "a variable",
                );
                self.global(true).map(ItemKind::Global)
            }
            _ => {
                self.not_an_item();
                None
            }
        };
        module.items.extend(kind.map(|kind| Item { private: modifiers.private, kind }));
    }

    /// `private`, `static`, `abstract`, `final` and `override`, in any order.
    pub(super) fn modifiers(&mut self) -> Modifiers {
        let mut modifiers = Modifiers::default();
        loop {
            self.skip_foreign_modifiers();
            let seen = match self.kind() {
                TokenKind::Private => &mut modifiers.private,
                TokenKind::Static => &mut modifiers.is_static,
                TokenKind::Abstract => &mut modifiers.is_abstract,
                TokenKind::Override => &mut modifiers.is_override,
                TokenKind::Name if self.at_final() => &mut modifiers.is_final,
                _ => return modifiers,
            };
            let again = std::mem::replace(seen, true);
            let token = self.bump();
            if again {
                let message = format!("`{}` is written twice", self.slice(token));
                self.report(Diagnostic::new(token.span(self.file), message, "the second time"));
            }
        }
    }

    /// `import a.b.c`.
    fn import(&mut self) -> Option<Import> {
        let start = self.here();
        self.bump();
        if matches!(self.kind(), TokenKind::Str | TokenKind::RawStr) {
            self.unexpected_with(
                "the name of a module",
                Some("a module is named by words and points, as in `import shapes.circle`"),
            );
            return None;
        }
        let mut path = vec![self.name("a module")?];
        while self.eat(TokenKind::Dot) {
            if self.at(TokenKind::Star) {
                self.unexpected_with(
                    "the name of a module",
                    Some("an import makes all declarations of a module visible; no `.*` is needed"),
                );
                return None;
            }
            path.push(self.name("a module")?);
        }
        Some(Import { path, span: self.since(start) })
    }

    /// A function or method from `fn` on. Without `needs_body` the body may be missing.
    pub(super) fn function(&mut self, needs_body: bool) -> Option<Function> {
        let start = self.here();
        self.bump();
        if self.at(TokenKind::Init) && self.kind_ahead(1) == TokenKind::OpenParen {
            let message = "a constructor is written without `fn`";
            self.report(Diagnostic::new(start, message, "not needed").help("write `init(…) { … }`"));
        }
        let name = match self.kind() {
            TokenKind::Init => {
                let token = self.bump();
                self.name_of(token)
            }
            _ => self.name("a function")?,
        };
        let type_params = self.type_params();
        let params = self.params();
        let result = self.result_type();
        let span = self.since(start);
        let lacks_body = !self.recovering
            && !self.at(TokenKind::OpenBrace)
            && (self.at_line_start() || self.at_member_end());
        if lacks_body && needs_body {
            let message = format!("the function `{}` has no body", name.text);
            self.report(
                Diagnostic::new(span, message, "expected `{` behind this")
                    .help("the body of a function stands in braces: `{ … }`"),
            );
        }
        let body = (!lacks_body).then(|| self.block(Some(self.help_for_function_body())));
        Some(Function { name, type_params, params, result, body, span })
    }

    /// `-> R`, or nothing. Where the arrow is missing or a colon stands for it, that is reported.
    fn result_type(&mut self) -> Option<TypeExpr> {
        if self.recovering {
            return None;
        }
        let colon = self.at(TokenKind::Colon);
        let bare = self.at(TokenKind::Name)
            && !self.at_line_start()
            && matches!(self.kind_ahead(1), TokenKind::OpenBrace | TokenKind::Less | TokenKind::Question);
        if colon || bare {
            let message = "the result type of a function stands behind `->`";
            let diagnostic = Diagnostic::new(self.here(), message, "expected `->`");
            self.report(diagnostic.help("write `-> Type`"));
        }
        let written = if bare { true } else { colon || self.at(TokenKind::Arrow) };
        if written && !bare {
            self.bump();
        }
        written.then(|| self.type_expr())
    }

    /// `(a: A, b: B)`.
    pub(super) fn params(&mut self) -> Vec<Param> {
        let mut params = Vec::new();
        self.bracketed(TokenKind::OpenParen, TokenKind::CloseParen, |parser| {
            let named = parser.kind_ahead(1);
            if parser.at(TokenKind::Name) && named == TokenKind::Name {
                let ty = parser.slice(parser.token());
                let name = parser.slice(parser.token_ahead(1));
                let help = format!("write `{name}: {ty}`");
                let message = "a parameter is written with its name first";
                parser.fail(Diagnostic::new(parser.here(), message, "a type").help(help));
                return;
            }
            let this = parser.at(TokenKind::This);
            if this || (parser.at_word("self") && named != TokenKind::Colon) {
                let message = "the object of a method is no parameter";
                let diagnostic = Diagnostic::new(parser.here(), message, "not needed");
                parser.report(diagnostic.help("every method has `this` without declaring it"));
                parser.bump();
                return;
            }
            let Some(name) = parser.name("a parameter") else { return };
            let ty = if parser.eat(TokenKind::Colon) {
                Some(parser.type_expr())
            } else {
                if matches!(parser.kind(), TokenKind::Comma | TokenKind::CloseParen) {
                    let message = format!("the parameter `{}` has no type", name.text);
                    let help = format!("write `{}: Type`", name.text);
                    parser.report(Diagnostic::new(name.span, message, "a name without a type").help(help));
                } else {
                    parser.unexpected("`:` and the type of the parameter");
                }
                None
            };
            if !parser.recovering && parser.at(TokenKind::Eq) {
                let diagnostic =
                    Diagnostic::new(parser.here(), "parameters have no default values", "a default");
                parser.report(diagnostic.help("declare a second function that passes the value"));
                parser.bump();
                parser.expression();
            }
            params.push(Param { name, ty });
        });
        params
    }

    /// `let x: T = e` or `var x = e` outside of function bodies, with the end of the line.
    pub(super) fn global(&mut self, needs_init: bool) -> Option<Global> {
        let start = self.here();
        let mutable = self.bump().kind == TokenKind::Var;
        let from = self.construct_start;
        let Some(name) = self.variable_name() else {
            self.end_of_statement(from);
            return None;
        };
        let ty = self.eat(TokenKind::Colon).then(|| self.type_expr());
        let init = (!self.recovering && self.eat(TokenKind::Eq)).then(|| self.expression());
        let span = self.since(start);
        if init.is_none() && needs_init && !self.recovering && (self.at_line_start() || self.at_member_end())
        {
            let message = format!("the variable `{}` has no value", name.text);
            let help = "a variable is initialised where it is declared: write `= value`";
            self.report(Diagnostic::new(span, message, "no initialiser").help(help));
        }
        self.end_of_statement(from);
        Some(Global { mutable, name, ty, init, span })
    }

    /// Something that begins no declaration stands at the top level.
    fn not_an_item(&mut self) {
        let here = self.here();
        match self.kind() {
            TokenKind::CloseBrace => {
                self.fail(
                    Diagnostic::new(here, "this `}` closes nothing", "no `{` is open here")
                        .help("remove it, or look for a `}` too many above"),
                );
            }
            TokenKind::Init => {
                self.fail(Diagnostic::new(here, "`init` stands outside of a class", "a constructor"));
            }
            _ => match self.help_for_item() {
                Some(help) => self.unexpected_with("a declaration", Some(help)),
                None if begins_statement(self.kind()) => {
                    self.fail(
                        Diagnostic::new(
                            here,
                            "a statement stands outside of a function",
                            "only declarations can stand here",
                        )
                        .help("put it into a function; the program starts at `fn main() { … }`"),
                    );
                }
                None => self.unexpected("a declaration"),
            },
        }
    }

    /// Skips to the next declaration at the start of a line, at least to behind the token at `from`.
    fn skip_to_item(&mut self, from: usize) {
        let mut open = 0_usize;
        loop {
            let begins = self.at_declaration()
                || self.help_for_item().or(self.foreign_modifier()).is_some()
                || (open == 0 && matches!(self.kind(), TokenKind::Let | TokenKind::Var));
            if self.at(TokenKind::Eof)
                || (self.position > from
                    && self.at_line_start()
                    && begins
                    && (open == 0 || self.line_indent() == 0))
            {
                return;
            }
            match self.bump().kind {
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace => open = open.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// At a token that ends a member or declaration without a line end.
    pub(super) fn at_member_end(&self) -> bool {
        matches!(self.kind(), TokenKind::CloseBrace | TokenKind::Semicolon | TokenKind::Eof)
    }
}

impl ItemKind {
    /// The place of the name of the declaration.
    fn name_span(&self) -> Span {
        match self {
            ItemKind::Function(function) => function.name.span,
            ItemKind::Class(class) => class.name.span,
            ItemKind::Interface(interface) => interface.name.span,
            ItemKind::Enum(enumeration) => enumeration.name.span,
            ItemKind::Global(global) => global.name.span,
        }
    }
}
