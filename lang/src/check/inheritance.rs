//! Third pass: does every class keep what its superclass and its interfaces promise? Names are unique in a class
//! hierarchy, overriding is written and has the right types, abstract methods and interfaces are implemented.

use std::collections::BTreeMap;

use super::Checker;
use super::members::{Member, MethodRef};
use super::show::listed;
use super::tables::*;
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{ClassIndex, FunctionIndex, Ty, TyKind};

impl<'a> Checker<'a> {
    /// Checks all classes, interfaces and enums.
    pub(super) fn check_inheritance(&mut self) {
        for i in 0..self.interfaces.len() {
            let methods = self.interfaces[i].methods.clone();
            let supers = self.interfaces[i].all_supers.clone();
            let mut names: BTreeMap<Box<str>, Span> = BTreeMap::new();
            for method in methods {
                let info = self.function(method);
                let (name, span) = (info.name.clone(), info.span);
                let generic = info.own_params > 0;
                if generic {
                    let message = format!("the interface method `{name}` has type parameters");
                    self.report(
                        Diagnostic::new(span, message, "not possible here")
                            .help("give them to the interface, or write a function at the top level"),
                    );
                }
                self.unique_member(&mut names, &name, span);
                for above in &supers {
                    if let Some(Member::Method(found)) = self.find_member(*above, &name) {
                        let first = self.function(found.function).span;
                        let message = format!("`{name}` is declared by {} already", self.quote(*above));
                        self.report(
                            Diagnostic::new(span, message, "declared again")
                                .related(first, "first declared here"),
                        );
                    }
                }
            }
        }
        for i in 0..self.classes.len() {
            self.check_class(ClassIndex(i as u32));
        }
        for i in 0..self.enums.len() {
            let ast = self.enums[i].ast;
            let mut names: BTreeMap<Box<str>, Span> = BTreeMap::new();
            if ast.variants.is_empty() {
                let message = format!("the enum `{}` has no variants", ast.name.text);
                self.report(Diagnostic::new(ast.name.span, message, "has no values"));
            }
            for variant in &ast.variants {
                self.unique_member(&mut names, &variant.name.text, variant.name.span);
                let mut fields: BTreeMap<Box<str>, Span> = BTreeMap::new();
                for field in variant.fields.iter().flatten() {
                    self.unique_member(&mut fields, &field.name.text, field.name.span);
                }
            }
            for member in &ast.methods {
                if let ast::MemberKind::Method(method) = &member.kind {
                    self.unique_member(&mut names, &method.name.text, method.name.span);
                    self.check_enum_method(member, method);
                }
            }
        }
    }

    fn check_enum_method(&mut self, member: &ast::Member, method: &ast::Function) {
        if member.is_abstract || member.is_override {
            let word = if member.is_abstract { "abstract" } else { "override" };
            let message = format!("a method of an enum cannot be `{word}`");
            self.report(
                Diagnostic::new(member.span, message, "enums are not extended")
                    .help(format!("remove `{word}`")),
            );
        }
        if let "name" | "ordinal" = &*method.name.text {
            let message = format!("every enum has `{}` already", method.name.text);
            self.report(
                Diagnostic::new(method.name.span, message, "declared again").help("choose another name"),
            );
        }
    }

    fn unique_member(&mut self, names: &mut BTreeMap<Box<str>, Span>, name: &str, span: Span) {
        if name.is_empty() {
            return;
        }
        if let Some(first) = names.get(name) {
            let message = format!("`{name}` is declared twice");
            self.report(
                Diagnostic::new(span, message, "the second declaration")
                    .related(*first, "first declared here")
                    .help("fields and methods share their names, and overloading does not exist"),
            );
            return;
        }
        names.insert(name.into(), span);
    }

    fn check_class(&mut self, class: ClassIndex) {
        let ast = self.class(class).ast;
        let mut names: BTreeMap<Box<str>, Span> = BTreeMap::new();
        for field in ast.header_fields.iter().flatten() {
            self.unique_member(&mut names, &field.name.text, field.name.span);
        }
        let superclass = self.class(class).superclass;
        for field in self.class(class).fields.iter().map(|field| field.name).collect::<Vec<_>>() {
            self.not_inherited(superclass, field);
        }
        for member in &ast.members {
            self.check_modifiers(class, member);
            let name = match &member.kind {
                ast::MemberKind::Field(field) => &field.name,
                ast::MemberKind::Method(method) => &method.name,
                ast::MemberKind::Init(_) => continue,
            };
            self.unique_member(&mut names, &name.text, name.span);
        }
        for (position, method) in self.method_list(class).into_iter().enumerate() {
            self.check_method(class, position, method);
        }
        if !ast.is_abstract {
            self.check_abstract_methods(class);
        }
        for interface in self.class(class).all_interfaces.clone() {
            self.check_implementation(class, interface, false);
        }
        // What an abstract superclass promises and leaves undone is for its subclasses to do.
        let mut at = superclass;
        while let Some(TyKind::Class(above, args)) = at.map(|ty| self.types.kind(ty).clone()) {
            // Any other one does all that it promises, or it was reported there.
            if !self.class(above).ast.is_abstract {
                break;
            }
            let params = self.class(above).params.clone();
            for interface in self.class(above).all_interfaces.clone() {
                let interface = self.instantiate(interface, &params, &args);
                if !self.class(class).all_interfaces.contains(&interface) {
                    self.check_implementation(class, interface, true);
                }
            }
            at = self.superclass_of(above, &args);
        }
    }

    fn method_list(&self, class: ClassIndex) -> Vec<FunctionIndex> {
        self.class(class).methods.iter().map(|method| method.function).collect()
    }

    /// Reports a field whose name a superclass uses already.
    fn not_inherited(&mut self, superclass: Option<Ty>, name: &ast::Name) {
        let Some(superclass) = superclass else { return };
        if let Some(member) = self.find_member(superclass, &name.text) {
            let first = self.member_place(&member);
            let message = format!("{} has a member `{}` already", self.quote(superclass), name.text);
            self.report(
                Diagnostic::new(name.span, message, "declared again")
                    .related(first, "first declared here")
                    .help("choose another name; fields cannot be overridden"),
            );
        }
    }

    fn member_place(&self, member: &Member) -> Span {
        match member {
            Member::Field(field) => self.class(field.class).fields[field.position].name.span,
            Member::Method(method) => self.function(method.function).span,
        }
    }

    fn check_modifiers(&mut self, class: ClassIndex, member: &ast::Member) {
        let class_ast = self.class(class).ast;
        let (name, is_method) = match &member.kind {
            ast::MemberKind::Method(method) => (&method.name, true),
            ast::MemberKind::Field(field) => (&field.name, false),
            ast::MemberKind::Init(init) => (&init.name, false),
        };
        let mut wrong = |message: String, help: &str| {
            self.diagnostics.report(Diagnostic::new(name.span, message, "declared here").help(help));
        };
        if !is_method && (member.is_abstract || member.is_final || member.is_override) {
            let word = match (member.is_abstract, member.is_final) {
                (true, _) => "abstract",
                (_, true) => "final",
                _ => "override",
            };
            wrong(format!("`{}` cannot be `{word}`", name.text), "only methods can");
            return;
        }
        if member.is_static && matches!(member.kind, ast::MemberKind::Init(_)) {
            wrong(
                "`init` cannot be `static`".into(),
                "it makes an object: remove `static`, or write a `static fn`",
            );
            return;
        }
        if member.is_abstract && !class_ast.is_abstract {
            let message =
                format!("`{}` is abstract, but its class `{}` is not", name.text, class_ast.name.text);
            wrong(message, "make the class abstract, or give the method a body");
        } else if member.is_abstract && (member.is_final || member.private || member.is_static) {
            let word = if member.is_static {
                "static"
            } else if member.is_final {
                "final"
            } else {
                "private"
            };
            wrong(
                format!("the abstract method `{}` cannot be `{word}`", name.text),
                "a subclass must be able to override it",
            );
        } else if member.is_static && (member.is_override || member.is_final) {
            let word = if member.is_override { "override" } else { "final" };
            wrong(
                format!("the static function `{}` cannot be `{word}`", name.text),
                "static functions are not overridden",
            );
        } else if let (ast::MemberKind::Method(method), true) = (&member.kind, member.is_abstract)
            && !method.type_params.is_empty()
        {
            wrong(
                format!("the abstract method `{}` has type parameters", name.text),
                "a method with type parameters of its own is final; give them to the class",
            );
        }
    }

    /// Checks what a method overrides.
    fn check_method(&mut self, class: ClassIndex, position: usize, method: FunctionIndex) {
        let info = self.function(method);
        let (name, span, own_params) = (info.name.clone(), info.span, info.own_params);
        if name.is_empty() {
            return;
        }
        let overrides = self.class(class).methods[position].overrides;
        let superclass = self.class(class).superclass;
        let above = superclass.and_then(|superclass| self.find_member(superclass, &name));
        let found = match above {
            Some(Member::Method(found)) if matches!(self.function(found.function).owner, Owner::Class(_)) => {
                found
            }
            Some(member @ Member::Field(_)) => {
                let first = self.member_place(&member);
                let message = format!("a superclass has a field `{name}` already");
                self.report(
                    Diagnostic::new(span, message, "declared again")
                        .related(first, "the field")
                        .help("choose another name; fields cannot be overridden"),
                );
                return;
            }
            _ => {
                if overrides {
                    self.classes[class.index()].methods[position].overrides = false;
                    self.report_useless_override(class, &name, span);
                }
                return;
            }
        };
        let first = self.function(found.function).span;
        let (private, is_final, generic) = {
            let above = self.function(found.function);
            (above.private, above.is_final, above.own_params > 0)
        };
        let owner = self.quote(found.owner);
        let method_is_private = self.function(method).private;
        let mut wrong = |message: String, label: &str, help: &str| {
            self.diagnostics
                .report(Diagnostic::new(span, message, label).related(first, "declared here").help(help));
        };
        if private {
            return wrong(
                format!("{owner} has a private method `{name}` already"),
                "would hide it",
                "choose another name; private methods are not overridden",
            );
        }
        if is_final || generic {
            let help = match is_final {
                true => "remove `final` there, or choose another name",
                false => "methods with type parameters of their own are final; choose another name",
            };
            return wrong(format!("`{name}` is final in {owner}"), "cannot be overridden", help);
        }
        if own_params > 0 {
            return wrong(
                format!("`{name}` overrides a method, but has type parameters of its own"),
                "not possible here",
                "remove the type parameters",
            );
        }
        if !overrides {
            return wrong(
                format!("`{name}` overrides the method of {owner}, but does not say so"),
                "`override` is missing",
                "write `override fn`, or choose another name",
            );
        }
        if method_is_private {
            return wrong(
                format!("`{name}` overrides a method and cannot be private"),
                "private",
                "remove `private`",
            );
        }
        self.check_types(method, found, "overridden");
    }

    fn report_useless_override(&mut self, class: ClassIndex, name: &str, span: Span) {
        let interfaces = self.class(class).all_interfaces.clone();
        // Implementing a method of an interface may be called overriding or not.
        if interfaces.iter().any(|interface| self.has_method(*interface, name)) {
            return;
        }
        let mut inherited = self.class(class).superclass;
        while let Some(TyKind::Class(above, args)) = inherited.map(|ty| self.types.kind(ty).clone()) {
            let interfaces = self.class(above).all_interfaces.clone();
            if interfaces.iter().any(|interface| self.has_method(*interface, name)) {
                return;
            }
            inherited = self.superclass_of(above, &args);
        }
        let message = format!("`{name}` overrides nothing");
        let mut diagnostic = Diagnostic::new(span, message, "there is no such method above");
        let superclass = self.class(class).superclass;
        let names = superclass.map_or(Vec::new(), |superclass| self.member_names(superclass));
        diagnostic = match super::suggest::closest(name, names.iter().map(|name| &**name)) {
            Some(close) => diagnostic.help(format!("did you mean `{close}`?")),
            None => diagnostic.help("remove `override`"),
        };
        self.report_missing(diagnostic);
    }

    /// Compares a method with the one it takes the place of.
    pub(super) fn check_types(&mut self, method: FunctionIndex, above: MethodRef, what: &str) {
        let (params, args) = self.arguments_of(above.owner);
        let info = self.function(above.function);
        let (types, result, first) = (info.param_types.clone(), info.result, info.span);
        let expected: Vec<Ty> = types.iter().map(|ty| self.instantiate(*ty, &params, &args)).collect();
        let result = self.instantiate(result, &params, &args);
        let info = self.function(method);
        let (name, span, found, found_result) =
            (info.name.clone(), info.span, info.param_types.clone(), info.result);
        if expected.contains(&Ty::ERROR) || found.contains(&Ty::ERROR) {
            return;
        }
        let wanted = self.types.intern(TyKind::Function(expected.clone(), result));
        let wanted = self.show(wanted);
        if *expected != *found {
            let message = format!("the parameters of `{name}` differ from those of the {what} method");
            self.report(
                Diagnostic::new(span, message, "other parameter types")
                    .related(first, "declared here")
                    .help(format!("its type must be `{wanted}`")),
            );
        } else if !self.is_subtype(found_result, result) {
            let message = format!("the result of `{name}` differs from that of the {what} method");
            let label = format!("gives {}", self.quote(found_result));
            self.report(
                Diagnostic::new(span, message, label)
                    .related(first, format!("gives {}", self.quote(result)))
                    .help(format!("its type must be `{wanted}`, or the result a subtype")),
            );
        }
    }

    /// Reports abstract methods that a class that is not abstract leaves without body.
    fn check_abstract_methods(&mut self, class: ClassIndex) {
        let this = self.class(class).this;
        let mut missing: Vec<Box<str>> = Vec::new();
        let mut first: Option<Span> = None;
        let mut at = Some(this);
        while let Some(TyKind::Class(above, args)) = at.map(|ty| self.types.kind(ty).clone()) {
            // What is not abstract lacks nothing, or it was reported there.
            if above != class && !self.class(above).ast.is_abstract {
                break;
            }
            for method in self.method_list(above) {
                let info = self.function(method);
                let (name, is_abstract, span) = (info.name.clone(), info.is_abstract, info.span);
                if !is_abstract || above == class {
                    continue;
                }
                if let Some(Member::Method(found)) = self.find_member(this, &name)
                    && self.function(found.function).is_abstract
                    && !missing.contains(&name)
                {
                    missing.push(name);
                    first = first.or(Some(span));
                }
            }
            at = self.superclass_of(above, &args);
        }
        if let Some(first) = first {
            let ast = self.class(class).ast;
            let message = format!("`{}` does not implement {}", ast.name.text, listed(&missing));
            self.report_missing(
                Diagnostic::new(ast.name.span, message, "is not abstract")
                    .related(first, "abstract here")
                    .help("override what is abstract, or make the class abstract"),
            );
        }
    }
}
