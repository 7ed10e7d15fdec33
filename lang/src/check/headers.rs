//! Second pass: everything that is written outside bodies. Type parameters first, because types are written with
//! them; then supertypes; then the signatures of members, functions and globals.

use std::rc::Rc;

use super::Checker;
use super::declare::class_place;
use super::tables::*;
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{ClassIndex, EnumIndex, FunctionIndex, InterfaceIndex, ParamIndex, Ty, TyKind};

/// Type parameters by name.
type NamedParams = Vec<(Box<str>, ParamIndex)>;

impl<'a> Checker<'a> {
    /// Resolves all headers.
    pub(super) fn resolve_headers(&mut self) {
        self.make_type_params();
        self.resolve_supers();
        self.close_interfaces();
        self.resolve_bounds();
        self.resolve_signatures();
    }

    /// New type parameters, added to those of `outer`.
    fn new_params(&mut self, params: &[ast::TypeParam], outer: &[(Box<str>, ParamIndex)]) -> NamedParams {
        let mut named = outer.to_vec();
        for (i, param) in params.iter().enumerate() {
            if let Some(first) = params[..i].iter().find(|other| other.name.text == param.name.text) {
                let message = format!("the type parameter `{}` is declared twice", param.name.text);
                self.report(
                    Diagnostic::new(param.name.span, message, "the second declaration")
                        .related(first.name.span, "first declared here"),
                );
            }
            let index = ParamIndex(self.params.len() as u32);
            self.params.push(ParamInfo { name: param.name.text.clone(), bounds: Rc::from([]) });
            named.push((param.name.text.clone(), index));
        }
        named
    }

    fn params_as_types(&mut self, named: &[(Box<str>, ParamIndex)]) -> Vec<Ty> {
        named.iter().map(|(_, param)| self.types.intern(TyKind::Param(*param))).collect()
    }

    fn make_type_params(&mut self) {
        for i in 0..self.classes.len() {
            let named = self.new_params(&self.classes[i].ast.type_params, &[]);
            let args = self.params_as_types(&named);
            let this = self.types.intern(TyKind::Class(ClassIndex(i as u32), args));
            let info = &mut self.classes[i];
            (info.params, info.this) = (indices(&named), this);
            info.scope.params = named.into();
        }
        for i in 0..self.interfaces.len() {
            let named = self.new_params(&self.interfaces[i].ast.type_params, &[]);
            let args = self.params_as_types(&named);
            let this = self.types.intern(TyKind::Interface(InterfaceIndex(i as u32), args));
            let info = &mut self.interfaces[i];
            (info.params, info.this) = (indices(&named), this);
            info.scope.params = named.into();
        }
        for i in 0..self.enums.len() {
            let named = self.new_params(&self.enums[i].ast.type_params, &[]);
            let args = self.params_as_types(&named);
            let this = self.types.intern(TyKind::Enum(EnumIndex(i as u32), args));
            let info = &mut self.enums[i];
            (info.params, info.this) = (indices(&named), this);
            info.scope.params = named.into();
        }
        for i in 0..self.functions.len() {
            let info = &self.functions[i];
            let Some(ast) = info.ast else { continue };
            let receiver = match info.owner {
                Owner::None => None,
                Owner::Class(class) => Some((self.class(class).scope.params.clone(), self.class(class).this)),
                Owner::Interface(index) => {
                    Some((self.interface(index).scope.params.clone(), self.interface(index).this))
                }
                Owner::Enum(index) => {
                    Some((self.enumeration(index).scope.params.clone(), self.enumeration(index).this))
                }
            };
            let is_static = info.is_static;
            let outer: NamedParams = match &receiver {
                Some((outer, _)) if !is_static => outer.to_vec(),
                _ => Vec::new(),
            };
            let named = self.new_params(&ast.type_params, &outer);
            let info = &mut self.functions[i];
            info.params = indices(&named);
            info.own_params = ast.type_params.len();
            info.scope.params = named.into();
            match receiver {
                Some((outer, _)) if is_static => info.scope.hidden = outer,
                Some((_, this)) => info.receiver = Some(this),
                None => {}
            }
        }
        // Constructors that nobody wrote have the parameters of their class.
        for i in 0..self.classes.len() {
            let info = &self.classes[i];
            let (this, params, scope) = (info.this, info.params.clone(), info.scope.clone());
            let init = &mut self.functions[info.init.index()];
            if init.ast.is_none() {
                (init.receiver, init.params, init.scope) = (Some(this), params, scope);
            }
        }
        for i in 0..self.globals.len() {
            if let Owner::Class(class) = self.globals[i].owner {
                self.globals[i].scope.hidden = self.class(class).scope.params.clone();
            }
        }
    }

    fn resolve_supers(&mut self) {
        for i in 0..self.classes.len() {
            let (ast, scope, extends) =
                (self.classes[i].ast, self.classes[i].scope.clone(), self.classes[i].extends);
            let mut first: Option<Span> = None;
            for written in &ast.supers {
                let ty = self.resolve_type(written, &scope);
                match self.types.kind(ty).clone() {
                    TyKind::Class(class, _) => {
                        if let Some(first) = first {
                            let message = format!("`{}` has two superclasses", ast.name.text);
                            self.report(
                                Diagnostic::new(written.span, message, "this is a class too")
                                    .related(first, "the first superclass")
                                    .help(
                                        "a class extends one class; make the other an interface or a field",
                                    ),
                            );
                            continue;
                        }
                        first = Some(written.span);
                        if self.class(class).ast.is_final {
                            let message =
                                format!("`{}` is final and cannot be extended", self.class(class).name);
                            let declared = class_place(self.class(class).ast);
                            self.report(
                                Diagnostic::new(written.span, message, "a final class")
                                    .related(declared, "declared here")
                                    .help("remove `final` there, or hold an object of it in a field"),
                            );
                        }
                        if extends == Some(class) {
                            self.classes[i].superclass = Some(ty);
                        }
                    }
                    TyKind::Interface(..) => {
                        let known = self.classes[i].interfaces.iter().any(|(known, _)| *known == ty);
                        if known {
                            let message = format!("{} is listed twice", self.quote(ty));
                            self.report(Diagnostic::new(written.span, message, "the second time"));
                        } else {
                            self.classes[i].interfaces.push((ty, written.span));
                        }
                    }
                    TyKind::Error => {}
                    _ => {
                        let message = format!("a class cannot extend {}", self.quote(ty));
                        self.report(
                            Diagnostic::new(written.span, message, "neither a class nor an interface")
                                .help("behind the `:` stand a superclass and interfaces"),
                        );
                    }
                }
            }
        }
        for i in 0..self.interfaces.len() {
            let (ast, scope) = (self.interfaces[i].ast, self.interfaces[i].scope.clone());
            for written in &ast.supers {
                let ty = self.resolve_type(written, &scope);
                match self.types.kind(ty) {
                    TyKind::Interface(..) => self.interfaces[i].supers.push((ty, written.span)),
                    TyKind::Error => {}
                    _ => {
                        let message = format!("an interface cannot extend {}", self.quote(ty));
                        self.report(
                            Diagnostic::new(written.span, message, "not an interface")
                                .help("an interface extends interfaces only"),
                        );
                    }
                }
            }
        }
    }

    /// Follows what interfaces extend, and what classes implement by that.
    fn close_interfaces(&mut self) {
        for i in 0..self.interfaces.len() {
            let this = self.interfaces[i].this;
            let start = self.interfaces[i].supers.clone();
            let mut all: Vec<Ty> = Vec::new();
            self.add_interfaces(&start, &mut all);
            let circle = all
                .iter()
                .any(|ty| matches!(self.types.kind(*ty), TyKind::Interface(index, _) if index.index() == i));
            if circle {
                let name = &self.interfaces[i].ast.name;
                let message = format!("the interface `{}` extends itself", name.text);
                self.report(Diagnostic::new(name.span, message, "cannot be its own ancestor"));
                all.retain(|ty| *ty != this);
            }
            self.interfaces[i].all_supers = all;
        }
        for i in 0..self.classes.len() {
            let start = self.classes[i].interfaces.clone();
            let mut all = Vec::new();
            self.add_interfaces(&start, &mut all);
            self.classes[i].all_interfaces = all;
        }
    }

    /// Adds interfaces and everything they extend, each once. An interface that comes in two instances is
    /// reported: a class could not implement both.
    fn add_interfaces(&mut self, start: &[(Ty, Span)], all: &mut Vec<Ty>) {
        let mut waiting: Vec<(Ty, Span)> = start.iter().rev().copied().collect();
        while let Some((ty, span)) = waiting.pop() {
            if all.contains(&ty) {
                continue;
            }
            let TyKind::Interface(index, args) = self.types.kind(ty).clone() else { continue };
            let same = all.iter().copied().find(
                |known| matches!(self.types.kind(*known), TyKind::Interface(known, _) if *known == index),
            );
            if let Some(same) = same {
                let message = format!("{} and {} cannot be combined", self.quote(same), self.quote(ty));
                self.report(Diagnostic::new(span, message, "the same interface with other type arguments"));
                continue;
            }
            all.push(ty);
            let supers = self.interface(index).supers.clone();
            let params = self.interface(index).params.clone();
            for (above, _) in supers.iter().rev() {
                waiting.push((self.instantiate(*above, &params, &args), span));
            }
        }
    }

    fn resolve_bounds(&mut self) {
        let mut work: Vec<(&'a [ast::TypeParam], Vec<ParamIndex>, TypeScope)> = Vec::new();
        for info in &self.classes {
            work.push((&info.ast.type_params, info.params.to_vec(), info.scope.clone()));
        }
        for info in &self.interfaces {
            work.push((&info.ast.type_params, info.params.to_vec(), info.scope.clone()));
        }
        for info in &self.enums {
            work.push((&info.ast.type_params, info.params.to_vec(), info.scope.clone()));
        }
        for info in &self.functions {
            if let Some(ast) = info.ast {
                let own = info.params[info.params.len() - info.own_params..].to_vec();
                work.push((&ast.type_params, own, info.scope.clone()));
            }
        }
        for (params, indices, scope) in work {
            for (param, index) in params.iter().zip(indices) {
                let mut bounds = Vec::new();
                for bound in &param.bounds {
                    let ty = self.resolve_type(bound, &scope);
                    match self.types.kind(ty) {
                        TyKind::Interface(..) => bounds.push(ty),
                        TyKind::Error => {}
                        _ => {
                            let message = format!("{} cannot be a bound", self.quote(ty));
                            self.report(Diagnostic::new(bound.span, message, "not an interface").help(
                                "bounds are interfaces; for a class, take a value of that class instead",
                            ));
                        }
                    }
                }
                self.params[index.index()].bounds = bounds.into();
            }
        }
    }

    fn resolve_signatures(&mut self) {
        for i in 0..self.functions.len() {
            let Some(ast) = self.functions[i].ast else { continue };
            let scope = self.functions[i].scope.clone();
            let types = ast.params.iter().map(|param| match &param.ty {
                Some(ty) => self.resolve_type(ty, &scope),
                None => Ty::ERROR,
            });
            let types: Vec<Ty> = types.collect();
            let is_init = self.is_init(FunctionIndex(i as u32));
            let result = match &ast.result {
                Some(result) if !is_init => self.resolve_type(result, &scope),
                _ => Ty::UNIT,
            };
            let info = &mut self.functions[i];
            (info.param_types, info.result) = (types.into(), result);
        }
        for i in 0..self.classes.len() {
            let scope = self.classes[i].scope.clone();
            for field in 0..self.classes[i].fields.len() {
                if let Some(written) = self.classes[i].fields[field].written {
                    let ty = self.resolve_type(written, &scope);
                    self.classes[i].fields[field].ty = Lazy::Known(ty);
                }
            }
            self.give_header_init_its_types(ClassIndex(i as u32));
        }
        for i in 0..self.enums.len() {
            let (ast, scope) = (self.enums[i].ast, self.enums[i].scope.clone());
            for variant in &ast.variants {
                let fields = variant.fields.as_deref().unwrap_or(&[]);
                let types = fields.iter().map(|field| match &field.ty {
                    Some(ty) => self.resolve_type(ty, &scope),
                    None => Ty::ERROR,
                });
                let types: Vec<Ty> = types.collect();
                self.enums[i].variants.push(types.into());
            }
        }
        for i in 0..self.globals.len() {
            let scope = self.globals[i].scope.clone();
            if let Some(written) = &self.globals[i].ast.ty {
                let ty = self.resolve_type(written, &scope);
                self.globals[i].ty = Lazy::Known(ty);
            }
        }
    }

    /// `class P(let x: A)` has an `init` that takes the values of these fields.
    fn give_header_init_its_types(&mut self, class: ClassIndex) {
        let info = self.class(class);
        let Some(header) = &info.ast.header_fields else { return };
        let types = info.fields[..header.len().min(info.fields.len())].iter().map(|field| match field.ty {
            Lazy::Known(ty) => ty,
            _ => Ty::ERROR,
        });
        let types: Vec<Ty> = types.collect();
        let init = info.init;
        if self.function(init).ast.is_none() {
            self.functions[init.index()].param_types = types.into();
        }
    }

    /// Is the function a constructor.
    pub(super) fn is_init(&self, function: FunctionIndex) -> bool {
        match self.function(function).owner {
            Owner::Class(class) => self.class(class).init == function,
            _ => false,
        }
    }
}

fn indices(named: &[(Box<str>, ParamIndex)]) -> Rc<[ParamIndex]> {
    named.iter().map(|(_, index)| *index).collect()
}
