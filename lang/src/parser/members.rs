//! Classes, interfaces and enums with what stands inside them.

use super::Parser;
use super::items::Modifiers;
use crate::ast::{
    Class, Enum, Function, HeaderField, Interface, Member, MemberKind, Param, TypeExpr, Variant,
};
use crate::diagnostics::Diagnostic;
use crate::lexer::TokenKind;
use crate::span::Span;

impl Parser<'_> {
    /// A class from the word `class` on; the modifiers began at `start`.
    pub(super) fn class(&mut self, start: Span, modifiers: Modifiers) -> Option<Class> {
        self.bump();
        let name = self.name("a class")?;
        let type_params = self.type_params();
        let header_fields = (!self.recovering && self.at(TokenKind::OpenParen)).then(|| self.header_fields());
        let supers = self.supers();
        let span = self.since(start);
        let mut members = Vec::new();
        let ends_here = self.at_line_start() || self.at(TokenKind::Eof);
        let without_body = !self.recovering && !self.at(TokenKind::OpenBrace) && ends_here;
        if !without_body
            && self.find_body(Some("a class without members needs no body, or an empty one: `{}`"))
        {
            self.braced(|parser, indent| {
                parser.members(indent, |parser| members.extend(parser.member()));
            });
        }
        Some(Class {
            name,
            type_params,
            header_fields,
            supers,
            is_abstract: modifiers.is_abstract,
            is_final: modifiers.is_final,
            members,
            span,
        })
    }

    /// `(let x: A, var y: B)`.
    fn header_fields(&mut self) -> Vec<HeaderField> {
        let mut fields = Vec::new();
        self.bracketed(TokenKind::OpenParen, TokenKind::CloseParen, |parser| {
            let mutable = parser.at(TokenKind::Var);
            if !parser.eat(TokenKind::Let) && !parser.eat(TokenKind::Var) && parser.at(TokenKind::Name) {
                let message = "a field in the header of a class begins with `let` or `var`";
                let diagnostic = Diagnostic::new(parser.here(), message, "expected `let` or `var`");
                parser.report(diagnostic.help("write `class Point(let x: Int, let y: Int) {}`"));
            }
            let Some(name) = parser.name("a field") else { return };
            if parser.expect(TokenKind::Colon) {
                let ty = parser.type_expr();
                fields.push(HeaderField { mutable, name, ty });
            }
        });
        fields
    }

    /// `: Base, Interface`, or nothing.
    fn supers(&mut self) -> Vec<TypeExpr> {
        let mut supers = Vec::new();
        if self.recovering {
            return supers;
        }
        let foreign = ["extends", "implements"].into_iter().find(|word| self.at_word(word));
        if let Some(word) = foreign {
            let message = format!("`{word}` is written `:`");
            self.report(
                Diagnostic::new(self.here(), message, "not a word of the language")
                    .help("write `class Name : Base, Interface`"),
            );
        }
        if foreign.is_some() || self.at(TokenKind::Colon) {
            self.bump();
            supers.push(self.type_expr());
            while !self.recovering && self.eat(TokenKind::Comma) {
                supers.push(self.type_expr());
            }
        }
        supers
    }

    /// Members up to the `}` of a declaration whose line is indented by `indent`.
    fn members(&mut self, indent: usize, mut parse: impl FnMut(&mut Self)) {
        let mut member_indent = None;
        while !self.at_class_end(indent, member_indent) {
            if self.at_line_start() && member_indent.is_none() {
                member_indent = Some(self.line_indent());
            }
            let before = self.begin();
            parse(self);
            self.end_of_member(before);
        }
    }

    /// Goes to the next member if one could not be read.
    fn end_of_member(&mut self, before: usize) {
        if self.recovering {
            self.skip_statement(before, |_| false);
            self.recovering = false;
        }
        if self.position == before {
            self.bump();
        }
    }

    /// At the `}` of a class, or at a declaration that cannot belong to it: of a class, interface, enum or import, or
    /// a function that does not stand as far right as the members so far.
    fn at_class_end(&mut self, indent: usize, member_indent: Option<usize>) -> bool {
        if matches!(
            self.kind(),
            TokenKind::CloseBrace | TokenKind::Eof | TokenKind::StrMiddle | TokenKind::StrEnd
        ) {
            return true;
        }
        if !self.at_line_start() || self.line_indent() > indent {
            return false;
        }
        let mut ahead = 0;
        while matches!(self.kind_ahead(ahead), TokenKind::Private | TokenKind::Abstract) {
            ahead += 1;
        }
        match self.kind_ahead(ahead) {
            TokenKind::Class | TokenKind::Interface | TokenKind::Enum | TokenKind::Import => true,
            TokenKind::Fn => {
                let stands_out = member_indent.is_some_and(|members| members > indent);
                (stands_out || self.has_suspect()) && self.lacks_braces()
            }
            _ => false,
        }
    }

    /// A member of a class.
    fn member(&mut self) -> Option<Member> {
        if self.eat(TokenKind::Semicolon) {
            return None;
        }
        let start = self.here();
        let modifiers = self.modifiers();
        self.translate_keyword();
        let kind = match self.kind() {
            TokenKind::Fn => {
                let function = self.function(!modifiers.is_abstract)?;
                match &*function.name.text {
                    "init" => MemberKind::Init(function),
                    _ => MemberKind::Method(function),
                }
            }
            TokenKind::Init => MemberKind::Init(self.init()),
            TokenKind::Let | TokenKind::Var => MemberKind::Field(self.global(false)?),
            _ => {
                self.not_a_member();
                return None;
            }
        };
        let header = match &kind {
            MemberKind::Field(field) => field.span,
            MemberKind::Init(function) | MemberKind::Method(function) => function.span,
        };
        let Modifiers { private, is_static, is_abstract, is_final, is_override } = modifiers;
        let span = start.to(header);
        Some(Member { private, is_static, is_abstract, is_final, is_override, kind, span })
    }

    /// `init(…) { … }`.
    fn init(&mut self) -> Function {
        let start = self.here();
        let token = self.bump();
        let name = self.name_of(token);
        let params = self.params();
        let mut result = None;
        if !self.recovering && self.at(TokenKind::Arrow) {
            let diagnostic = Diagnostic::new(self.here(), "`init` has no result type", "a result type");
            self.report(diagnostic.help("construction gives the new object by itself"));
            self.bump();
            result = Some(self.type_expr());
        }
        let span = self.since(start);
        let body = Some(self.block(None));
        Function { name, type_params: Vec::new(), params, result, body, span }
    }

    fn not_a_member(&mut self) {
        let next = self.kind_ahead(1);
        let what = "a member";
        if self.at(TokenKind::Name) && next == TokenKind::Colon {
            let message = "a field begins with `let` or `var`";
            let diagnostic = Diagnostic::new(self.here(), message, "expected `let` or `var`");
            self.fail(diagnostic.help("write `let x: Int`, or `var x: Int` if it changes"));
        } else if self.at(TokenKind::Name) && next == TokenKind::OpenParen {
            let message = "a method begins with `fn`";
            let diagnostic = Diagnostic::new(self.here(), message, "expected `fn`");
            let help = "a method is written `fn name(…)`, the constructor `init(…)`";
            self.fail(diagnostic.help(self.help_for_item().unwrap_or(help)));
        } else if matches!(self.kind(), TokenKind::Class | TokenKind::Interface | TokenKind::Enum) {
            let message = "declarations of types cannot stand inside others";
            self.fail(Diagnostic::new(self.here(), message, "not a member").help("move it to the top level"));
        } else {
            let help = self
                .help_for_item()
                .or(Some("members are `let` and `var` fields, `init(…)` and `fn` methods"));
            self.unexpected_with(what, help);
        }
    }

    /// An interface from the word on; the modifiers began at `start`.
    pub(super) fn interface(&mut self, start: Span) -> Option<Interface> {
        self.bump();
        let name = self.name("an interface")?;
        let type_params = self.type_params();
        let supers = self.supers();
        let span = self.since(start);
        let mut methods = Vec::new();
        if self.find_body(None) {
            self.braced(|parser, indent| {
                parser.members(indent, |parser| methods.extend(parser.interface_method()));
            });
        }
        Some(Interface { name, type_params, supers, methods, span })
    }

    fn interface_method(&mut self) -> Option<Function> {
        if self.eat(TokenKind::Semicolon) {
            return None;
        }
        let start = self.here();
        let modifiers = self.modifiers();
        let Modifiers { private, is_static, is_abstract, is_final, is_override } = modifiers;
        if private || is_static || is_abstract || is_final || is_override {
            let diagnostic =
                Diagnostic::new(start, "methods of an interface have no modifiers", "a modifier");
            self.report(diagnostic.help("write only `fn name(…) -> Result`"));
        }
        if !self.at(TokenKind::Fn) {
            self.unexpected_with("a method", Some("interfaces hold methods without bodies: `fn name(…)`"));
            return None;
        }
        self.function(false)
    }

    /// An enum from the word on; the modifiers began at `start`.
    pub(super) fn enumeration(&mut self, start: Span) -> Option<Enum> {
        self.bump();
        let name = self.name("an enum")?;
        let type_params = self.type_params();
        let span = self.since(start);
        let mut variants = Vec::new();
        let mut methods = Vec::new();
        if self.find_body(Some("an enum is written `enum Name { First, Second }`")) {
            self.braced(|parser, indent| {
                parser.variants(&mut variants);
                parser.members(indent, |parser| methods.extend(parser.enum_method()));
            });
        }
        Some(Enum { name, type_params, variants, methods, span })
    }

    fn variants(&mut self, variants: &mut Vec<Variant>) {
        while self.at(TokenKind::Name) && !self.at_final() {
            let before = self.begin();
            let Some(name) = self.name("a variant") else { return };
            let fields = self.at(TokenKind::OpenParen).then(|| self.variant_fields());
            variants.push(Variant { name, fields });
            if self.recovering {
                self.skip_statement(before, |kind| kind == TokenKind::Comma);
                self.recovering = false;
            }
            if !self.eat(TokenKind::Comma) && !self.eat(TokenKind::Semicolon) {
                if self.at(TokenKind::Name) && !self.at_final() {
                    let diagnostic = Diagnostic::new(
                        self.here(),
                        "expected `,` between variants",
                        "expected `,` before this",
                    );
                    self.report(diagnostic);
                } else if self.at(TokenKind::Eq) {
                    let help = "variants have no numbers of their own; `e.ordinal` is the position";
                    self.unexpected_with("`,` or `}`", Some(help));
                    self.skip_statement(before, |kind| kind == TokenKind::Comma);
                    self.recovering = false;
                    self.eat(TokenKind::Comma);
                }
            }
        }
    }

    /// `(radius: Float)`.
    fn variant_fields(&mut self) -> Vec<Param> {
        let mut fields = Vec::new();
        self.bracketed(TokenKind::OpenParen, TokenKind::CloseParen, |parser| {
            let lacks_name = parser.at(TokenKind::Name)
                && matches!(
                    parser.kind_ahead(1),
                    TokenKind::Comma
                        | TokenKind::CloseParen
                        | TokenKind::Less
                        | TokenKind::Question
                        | TokenKind::Dot
                );
            if lacks_name {
                let message = "the payload of a variant has a name";
                let diagnostic =
                    Diagnostic::new(parser.here(), message, "expected a name and `:` before this");
                parser.report(diagnostic.help("write `Circle(radius: Float)`"));
                parser.type_expr();
                return;
            }
            let Some(name) = parser.name("a payload") else { return };
            if parser.expect(TokenKind::Colon) {
                let ty = Some(parser.type_expr());
                fields.push(Param { name, ty });
            }
        });
        fields
    }

    fn enum_method(&mut self) -> Option<Member> {
        if matches!(self.kind(), TokenKind::Let | TokenKind::Var | TokenKind::Init) {
            let message = "an enum has neither fields nor `init`";
            let diagnostic = Diagnostic::new(self.here(), message, "not allowed in an enum");
            self.fail(diagnostic.help("give the variants payloads: `Circle(radius: Float)`"));
            return None;
        }
        if self.at(TokenKind::Name) && !self.at_final() {
            let help = "variants stand first, separated by commas; methods begin with `fn`";
            self.unexpected_with("a method", Some(help));
            return None;
        }
        let member = self.member()?;
        match member.kind {
            MemberKind::Method(_) => Some(member),
            MemberKind::Field(_) | MemberKind::Init(_) => {
                let message = "an enum has neither fields nor `init`";
                self.report(Diagnostic::new(member.span, message, "not allowed in an enum"));
                None
            }
        }
    }
}
