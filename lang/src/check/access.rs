//! Reading members: `o.f`, `o?.f`, `Point.ORIGIN`, `Shape.Empty`, `Int.MAX`, `vector.LIMIT`.

use super::body::BodyChecker;
use super::expected::{Expected, convert, error_expr};
use super::members::Member;
use super::modules::ModuleId;
use super::names::{Qualifier, TypeName};
use super::scopes::Lookup;
use super::suggest::closest;
use super::tables::*;
use crate::ast::{self, Name, TypeExpr};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// `object.name` as a value.
    pub(super) fn member_value(
        &mut self,
        object: &ast::Expr,
        name: &Name,
        safe: bool,
        type_args: &[TypeExpr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        if !safe {
            match self.qualifier(object) {
                Some(Qualifier::Type(ty, type_name, args)) => {
                    return self.static_value(ty, type_name, args, name, type_args, span, expected);
                }
                Some(Qualifier::Module(module)) => {
                    return self.module_value(module, name, type_args, span, expected);
                }
                Some(Qualifier::Failed) => return error_expr(span),
                None => {}
            }
        }
        let written = object;
        let object = self.expr(written, Expected::Free);
        if safe {
            return self
                .safely(written, object, span, |checker, object| checker.value_of(object, name, span));
        }
        self.value_of(object, name, span)
    }

    /// `object?.…`: null if the object is, else what `then` makes of it.
    pub(super) fn safely(
        &mut self,
        written: &ast::Expr,
        object: Expr,
        span: Span,
        then: impl FnOnce(&mut Self, Expr) -> Expr,
    ) -> Expr {
        let inner = match *self.types.kind(object.ty) {
            TyKind::Nullable(inner) => inner,
            TyKind::Error | TyKind::Never => return object,
            _ if self.was_nullable(written, &object) => return then(self, object),
            _ => {
                self.report_never_null(&object, "?.");
                return error_expr(span);
            }
        };
        let local = self.hidden_local("$object", inner, object.span);
        let read = Expr { kind: ExprKind::Local(local), ty: inner, span: object.span };
        let before = self.narrowed.clone();
        let value = then(self, read);
        // Arguments are not evaluated if the object is null.
        let after = std::mem::replace(&mut self.narrowed, before);
        self.narrowed.retain(|fact| after.contains(fact));
        match value.ty {
            Ty::ERROR => return value,
            Ty::UNIT | Ty::NEVER => {
                let kind = ExprKind::IfNonNull {
                    local,
                    value: Box::new(object),
                    then: Box::new(super::expected::discarded(value)),
                    otherwise: None,
                };
                return Expr { kind, ty: Ty::UNIT, span };
            }
            _ => {}
        }
        let ty = self.types.nullable(value.ty);
        let kind = ExprKind::IfNonNull {
            local,
            value: Box::new(object),
            then: Box::new(convert(value, ty)),
            otherwise: Some(Box::new(Expr { kind: ExprKind::Null, ty, span })),
        };
        Expr { kind, ty, span }
    }

    /// `object.name` on a checked object.
    fn value_of(&mut self, object: Expr, name: &Name, span: Span) -> Expr {
        if object.ty == Ty::ERROR || object.ty == Ty::NEVER || name.text.is_empty() {
            return if name.text.is_empty() { error_expr(span) } else { object };
        }
        let object = self.seen_with(object, name);
        if let Some(member) = self.find_member(object.ty, &name.text) {
            return self.read_member(object, member, name, span);
        }
        if let Some(value) = self.built_in_property(&object, name, span) {
            return value;
        }
        self.report_no_member(object.ty, name, object.span);
        error_expr(span)
    }

    /// Reads a member that was found.
    pub(super) fn read_member(&mut self, object: Expr, member: Member, name: &Name, span: Span) -> Expr {
        match member {
            Member::Field(field) => {
                let info = &self.class(field.class).fields[field.position];
                let (private, declared) = (info.private, info.name.span);
                let scope = self.scope.clone();
                if !self.may_use(private, declared, name, &scope) {
                    return error_expr(span);
                }
                let (ty, position) = self.field_of(field, span);
                if ty == Ty::ERROR {
                    return error_expr(span);
                }
                Expr { kind: ExprKind::Field(Box::new(object), position), ty, span }
            }
            Member::Method(method) => {
                let params = self.function(method.function).param_types.len();
                let names: Vec<String> = (0..params).map(|i| format!("x{}", i + 1)).collect();
                let names = names.join(", ");
                let message = format!("the method `{}` is no value", name.text);
                self.report(Diagnostic::new(name.span, message, "not called").help(format!(
                    "call it, `{0}({names})`, or write a closure: `|{names}| object.{0}({names})`",
                    name.text
                )));
                error_expr(span)
            }
        }
    }

    /// Reports a member that a type does not have.
    pub(super) fn report_no_member(&mut self, ty: Ty, name: &Name, object: Span) {
        let shown = self.quote(ty);
        if let TyKind::Nullable(_) = self.types.kind(ty) {
            let message = format!("`.{}` on {shown}, which may be null", name.text);
            let captured =
                self.variables.iter().rev().find(|variable| variable.ty == ty && variable.captured);
            let captured = captured.filter(|variable| {
                variable.kind == super::body::VariableKind::Var
                    && self.sources.slice(object) == &*variable.name
            });
            let help = match captured {
                Some(variable) => format!(
                    "`{}` is captured by a closure, which may change it, so that tests do not last; copy it into a `let`",
                    variable.name
                ),
                None => format!("test it with `!= null`, write `?.{0}`, or assert with `!.{0}`", name.text),
            };
            self.report(Diagnostic::new(object, message, format!("this is {shown}")).help(help));
            return;
        }
        let message = format!("{shown} has no member `{}`", name.text);
        let mut names: Vec<Box<str>> = self.member_names(ty);
        names.extend(self.built_in_member_names(ty));
        let owner = match *self.types.kind(ty) {
            TyKind::Class(class, _) => Owner::Class(class),
            TyKind::Enum(index, _) => Owner::Enum(index),
            _ => Owner::None,
        };
        let help = if self.find_static(owner, &name.text).is_some() {
            let written = shown.trim_matches('`').split('<').next().unwrap_or_default().to_string();
            Some(format!("it is static: write `{written}.{}`", name.text))
        } else if let Some(close) = closest(&name.text, names.iter().map(|name| &**name)) {
            Some(format!("did you mean `{close}`?"))
        } else if let TyKind::Enum(index, _) = *self.types.kind(ty) {
            let payload = self
                .enumeration(index)
                .ast
                .variants
                .iter()
                .any(|variant| variant.fields.iter().flatten().any(|field| field.name.text == name.text));
            payload.then(|| "the payload of a variant is reached with `match`".to_string())
        } else {
            match (&*name.text, self.types.kind(ty)) {
                ("size" | "count" | "len", _) if names.iter().any(|name| &**name == "length") => {
                    Some("write `length`".to_string())
                }
                (_, TyKind::Param(param)) => {
                    let param = self.param_name(*param);
                    Some(format!(
                        "values of type `{param}` have the methods of its bounds: `{param}: Interface`"
                    ))
                }
                (_, TyKind::Any) => Some("test the type first: `if x is C { … }`, or `x as C`".to_string()),
                _ => None,
            }
        };
        let mut diagnostic = Diagnostic::new(name.span, message, "no such member");
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report_missing(diagnostic);
    }

    /// `Type.name` as a value: a static, a variant, a constant.
    #[allow(clippy::too_many_arguments)]
    fn static_value(
        &mut self,
        ty: TypeName,
        type_name: &Name,
        args: &[TypeExpr],
        name: &Name,
        type_args: &[TypeExpr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let entity = match ty {
            TypeName::BuiltIn => return self.built_in_constant(type_name, name, span),
            TypeName::Declared(entity) => entity,
        };
        if let Entity::Enum(index) = entity {
            let variants = &self.enumeration(index).ast.variants;
            if let Some(variant) = variants.iter().position(|variant| variant.name.text == name.text) {
                return self.variant_value(index, variant, type_name, args, name, span, expected);
            }
        }
        match self.static_of(entity, args, name, span) {
            Some(StaticKind::Global(global)) => self.read_global(global, span),
            Some(StaticKind::Function(function)) => {
                self.function_value(function, name, type_args, span, expected)
            }
            None => error_expr(span),
        }
    }

    /// Finds a static member; reports if there is none.
    pub(super) fn static_of(
        &mut self,
        entity: Entity,
        args: &[TypeExpr],
        name: &Name,
        span: Span,
    ) -> Option<StaticKind> {
        let (owner, this, shown) = match entity {
            Entity::Class(class) => {
                (Owner::Class(class), self.class(class).this, self.class(class).name.clone())
            }
            Entity::Enum(index) => {
                (Owner::Enum(index), self.enumeration(index).this, self.enumeration(index).name.clone())
            }
            Entity::Interface(index) => {
                (Owner::Interface(index), self.interface(index).this, self.interface(index).name.clone())
            }
            Entity::Function(_) | Entity::Global(_) => return None,
        };
        if name.text.is_empty() {
            return None;
        }
        if let Some(found) = self.find_static(owner, &name.text) {
            let scope = self.scope.clone();
            if !args.is_empty() {
                let message = format!("static members do not depend on the type arguments of `{shown}`");
                self.report(
                    Diagnostic::new(span, message, "type arguments")
                        .help(format!("write `{shown}.{}`", name.text)),
                );
                return None;
            }
            return self.may_use(found.private, found.span, name, &scope).then_some(found.kind);
        }
        if self.find_member(this, &name.text).is_some() {
            let message = format!("`{}` belongs to the objects of `{shown}`, not to the type", name.text);
            self.report(
                Diagnostic::new(name.span, message, "needs an object")
                    .help(format!("write `object.{}`, or declare it `static`", name.text)),
            );
            return None;
        }
        if let Entity::Enum(index) = entity {
            self.report_no_variant(index, name);
            return None;
        }
        let names = self.member_names(this);
        let mut diagnostic = Diagnostic::new(
            name.span,
            format!("`{shown}` has no static member `{}`", name.text),
            "no such member",
        );
        if let Some(close) = closest(&name.text, names.iter().map(|name| &**name)) {
            diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
        }
        self.report_missing(diagnostic);
        None
    }

    /// `module.name` as a value.
    fn module_value(
        &mut self,
        module: ModuleId,
        name: &Name,
        type_args: &[TypeExpr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        match self.declared_in(module, name) {
            Some(Entity::Function(function)) => {
                self.function_value(function, name, type_args, span, expected)
            }
            Some(Entity::Global(global)) => self.read_global(global, span),
            Some(_) => {
                self.report_type_as_value(name, span);
                error_expr(span)
            }
            None => error_expr(span),
        }
    }

    /// A declaration of a module; reports if there is none.
    pub(super) fn declared_in(&mut self, module: ModuleId, name: &Name) -> Option<Entity> {
        if name.text.is_empty() {
            return None;
        }
        let lookup = self.lookup_in(module, self.scope.file, &name.text);
        match lookup {
            Lookup::Found(declared) => return Some(declared.entity),
            Lookup::Missing => {
                let module_name = self.modules[module.index()].name.clone();
                let names = self.names[module.index()].iter().filter(|(_, declared)| !declared.private);
                let close = closest(&name.text, names.map(|(name, _)| &**name));
                let help = close.map(|close| format!("did you mean `{close}`?"));
                let message = format!("the module `{module_name}` has no `{}`", name.text);
                let mut diagnostic = Diagnostic::new(name.span, message, "unknown name");
                if let Some(help) = help {
                    diagnostic = diagnostic.help(help);
                }
                self.report_missing(diagnostic);
            }
            other => self.report_lookup(other, name, "name"),
        }
        None
    }
}
