//! What a bare name inside a body stands for: a variable, a member of the class around, or a declaration at the top
//! level, in this order.

use super::body::{BodyChecker, This, VarId};
use super::expected::{Expected, error_expr};
use super::members::Member;
use super::modules::ModuleId;
use super::scopes::Lookup;
use super::tables::*;
use crate::ast::{self, Name, TypeExpr};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, FunctionIndex, GlobalIndex, Ty, TyKind};

/// What a name stands for.
pub(super) enum Named {
    /// A local variable or parameter.
    Variable(VarId),
    /// A member of `this`, whose type is given.
    Member(Ty, Member),
    /// A static member or a declaration.
    Function(FunctionIndex),
    /// A static or global variable.
    Global(GlobalIndex),
    /// A type, which is no value.
    Type(TypeName),
    /// An imported module, by the last part of its path.
    Module(ModuleId),
    /// Nothing; reported.
    Unknown,
}

/// A type named in an expression; its arguments, if any, are written apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum TypeName {
    /// A class, interface or enum.
    Declared(Entity),
    /// `Int`, `Array`, …
    BuiltIn,
}

impl BodyChecker<'_, '_> {
    /// The type of the objects that the code around belongs to.
    pub(super) fn owner_type(&self) -> Option<Ty> {
        match self.owner {
            Owner::None => None,
            Owner::Class(class) => Some(self.class(class).this),
            Owner::Interface(index) => Some(self.interface(index).this),
            Owner::Enum(index) => Some(self.enumeration(index).this),
        }
    }

    /// Finds out what a name stands for without reporting that it stands for nothing.
    pub(super) fn find_name(&mut self, name: &Name) -> Option<Named> {
        if let Some(variable) = self.variable(&name.text) {
            return Some(Named::Variable(variable));
        }
        if let Some(owner) = self.owner_type() {
            if let Some(member) = self.find_member(owner, &name.text) {
                return Some(Named::Member(owner, member));
            }
            if let Some(found) = self.find_static(self.owner, &name.text) {
                return Some(match found.kind {
                    StaticKind::Function(function) => Named::Function(function),
                    StaticKind::Global(global) => Named::Global(global),
                });
            }
        }
        if super::declare::BUILT_IN_TYPES.contains(&&*name.text) {
            return Some(Named::Type(TypeName::BuiltIn));
        }
        let lookup = self.lookup(self.scope.module, self.scope.file, &name.text);
        Some(match lookup {
            Lookup::Found(declared) => match declared.entity {
                Entity::Function(function) => Named::Function(function),
                Entity::Global(global) => Named::Global(global),
                entity => Named::Type(TypeName::Declared(entity)),
            },
            Lookup::Missing => Named::Module(self.module_alias(self.scope.file, &name.text)?),
            other => {
                self.report_lookup(other, name, "name");
                Named::Unknown
            }
        })
    }

    /// Finds out what a name stands for, or reports that it stands for nothing.
    pub(super) fn resolve_name(&mut self, name: &Name) -> Named {
        if name.text.is_empty() {
            return Named::Unknown;
        }
        match self.find_name(name) {
            Some(found) => found,
            None => {
                self.report_unknown(name);
                Named::Unknown
            }
        }
    }

    fn report_unknown(&mut self, name: &Name) {
        let message = format!("there is no `{}` here", name.text);
        let mut diagnostic = Diagnostic::new(name.span, message, "unknown name");
        let help = self.help_for_unknown(name);
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report_missing(diagnostic);
    }

    fn help_for_unknown(&mut self, name: &Name) -> Option<String> {
        if &*name.text == "_" {
            return Some("`_` is no variable: what it takes cannot be read; give it a name".to_string());
        }
        if let Owner::Enum(index) = self.owner
            && self.enumeration(index).ast.variants.iter().any(|variant| variant.name.text == name.text)
        {
            return Some(format!("write `{}.{}`", self.enumeration(index).ast.name.text, name.text));
        }
        if self.scope.params.iter().chain(self.scope.hidden.iter()).any(|(known, _)| *known == name.text) {
            return Some(format!("`{}` is a type parameter; values of it come from outside", name.text));
        }
        let mut close: Vec<Box<str>> = self.variable_names();
        if let Some(owner) = self.owner_type() {
            close.extend(self.member_names(owner));
        }
        let close: Vec<&str> = close.iter().map(|name| &**name).collect();
        let scope = self.scope.clone();
        let help = self.help_for_missing(&scope, &name.text, &close);
        help.or_else(|| {
            let enums = self.names.iter().flat_map(|names| names.values());
            let mut found = enums.filter_map(|declared| match declared.entity {
                Entity::Enum(index) => Some(self.enumeration(index).ast),
                _ => None,
            });
            let owner =
                found.find(|ast| ast.variants.iter().any(|variant| variant.name.text == name.text))?;
            Some(format!("the variant is written `{}.{}`", owner.name.text, name.text))
        })
    }

    /// The value of a name.
    pub(super) fn name_value(
        &mut self,
        name: &Name,
        args: &[TypeExpr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let found = self.resolve_name(name);
        if !args.is_empty() && !matches!(found, Named::Function(_) | Named::Type(_) | Named::Unknown) {
            let message = format!("`{}` takes no type arguments", name.text);
            self.report(Diagnostic::new(span, message, "not generic"));
            return error_expr(span);
        }
        match found {
            Named::Variable(variable) => self.read_variable(variable, span),
            Named::Member(owner, member) => {
                let Some(object) = self.implicit_this(owner, name) else { return error_expr(span) };
                self.read_member(object, member, name, span)
            }
            Named::Function(function) => self.function_value(function, name, args, span, expected),
            Named::Global(global) => self.read_global(global, span),
            Named::Type(_) => {
                self.report_type_as_value(name, span);
                error_expr(span)
            }
            Named::Module(_) => {
                let message = format!("the module `{}` is no value", name.text);
                self.report(
                    Diagnostic::new(span, message, "a module")
                        .help(format!("write `{}.name` for one of its declarations", name.text)),
                );
                error_expr(span)
            }
            Named::Unknown => error_expr(span),
        }
    }

    /// Reports a type that stands where a value is needed.
    pub(super) fn report_type_as_value(&mut self, name: &Name, span: Span) {
        let message = format!("the type `{}` is no value", name.text);
        let help = match self.lookup(self.scope.module, self.scope.file, &name.text) {
            Lookup::Found(Declared { entity: Entity::Enum(index), .. }) => {
                let variants = &self.enumeration(index).ast.variants;
                let first = variants.first().map_or("Variant", |variant| &*variant.name.text);
                format!("write one of its variants: `{}.{first}`", name.text)
            }
            _ => format!("write `{}(…)` to make one", name.text),
        };
        self.report(Diagnostic::new(span, message, "a type").help(help));
    }

    /// Reads a variable, with the narrower type if one is known.
    pub(super) fn read_variable(&mut self, variable: VarId, span: Span) -> Expr {
        let local = self.local_of(variable);
        Expr { kind: ExprKind::Local(local), ty: self.known_type(variable), span }
    }

    /// `this` for a member written without it; reports if there is no object.
    pub(super) fn implicit_this(&mut self, owner: Ty, name: &Name) -> Option<Expr> {
        let This::Variable(variable) = self.this else {
            self.report_no_this(&format!("`{}` belongs to an object and", name.text), name.span);
            return None;
        };
        let local = self.local_of(variable);
        Some(Expr { kind: ExprKind::Local(local), ty: owner, span: name.span })
    }

    pub(super) fn read_global(&mut self, global: GlobalIndex, span: Span) -> Expr {
        let ty = self.global_type(global, span);
        if ty == Ty::ERROR {
            return error_expr(span);
        }
        Expr { kind: ExprKind::Global(global), ty, span }
    }

    /// A function as a value.
    pub(super) fn function_value(
        &mut self,
        function: FunctionIndex,
        name: &Name,
        args: &[TypeExpr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let info = self.function(function);
        let (params, own) = (info.params.clone(), info.own_params);
        let (types, result) = (info.param_types.clone(), info.result);
        let written = self.written_arguments(args);
        let holes = match written {
            Some(None) => return error_expr(span),
            Some(Some(given)) => {
                if !self.expect_arguments(name, &given, own, span) {
                    return error_expr(span);
                }
                super::infer::Holes::given(&given)
            }
            None => {
                let mut holes = super::infer::Holes::new(own);
                if let Some(wanted) = expected.ty() {
                    let wanted = self.without_null(wanted);
                    let stand_ins = holes.types(self.checker);
                    let pattern = self.types.intern(TyKind::Function(types.to_vec(), result));
                    let pattern = self.instantiate(pattern, &params, &stand_ins);
                    holes.unify(self.checker, pattern, wanted);
                }
                holes
            }
        };
        let given = match holes.finish() {
            Ok(given) => given,
            Err(position) => {
                let missing = params.get(position).map_or("?", |param| self.param_name(*param)).to_string();
                let message = format!("the type parameter `{missing}` of `{}` cannot be inferred", name.text);
                self.report(
                    Diagnostic::new(span, message, "the type expected does not say what it is")
                        .help(format!("write the type of the variable: `let f: fn(…) -> … = {}`", name.text)),
                );
                return error_expr(span);
            }
        };
        self.check_bounds(&params, &given, span);
        let ty = self.types.intern(TyKind::Function(types.to_vec(), result));
        let ty = self.instantiate(ty, &params, &given);
        Expr { kind: ExprKind::FunctionValue(function, given), ty, span }
    }

    /// Type arguments written: `None` if there are none, `Some(None)` if they are wrong.
    pub(super) fn written_arguments(&mut self, args: &[TypeExpr]) -> Option<Option<Vec<Ty>>> {
        if args.is_empty() {
            return None;
        }
        let scope = self.scope.clone();
        let types: Vec<Ty> = args.iter().map(|arg| self.resolve_type(arg, &scope)).collect();
        Some((!types.contains(&Ty::ERROR)).then_some(types))
    }

    /// A type or module that qualifies what follows it: `Point` in `Point.ORIGIN`, `vector` in `vector.Vector`.
    pub(super) fn qualifier<'e>(&mut self, object: &'e ast::Expr) -> Option<Qualifier<'e>> {
        match &object.kind {
            ast::ExprKind::Name(name, args) => match self.find_name(name)? {
                Named::Type(ty) => Some(Qualifier::Type(ty, name, args)),
                Named::Module(module) => Some(Qualifier::Module(module)),
                Named::Unknown => Some(Qualifier::Failed),
                _ => None,
            },
            ast::ExprKind::Member { object, name, safe: false, type_args } => {
                let ast::ExprKind::Name(alias, args) = &object.kind else { return None };
                let Named::Module(module) = self.find_name(alias).filter(|_| args.is_empty())? else {
                    return None;
                };
                match self.lookup_in(module, self.scope.file, &name.text) {
                    Lookup::Found(Declared { entity: Entity::Function(_) | Entity::Global(_), .. }) => None,
                    Lookup::Found(declared) => {
                        Some(Qualifier::Type(TypeName::Declared(declared.entity), name, type_args))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// See [`BodyChecker::qualifier`].
pub(super) enum Qualifier<'e> {
    /// A type with the arguments written.
    Type(TypeName, &'e Name, &'e [TypeExpr]),
    /// A module.
    Module(ModuleId),
    /// Something that was reported.
    Failed,
}
