//! Written types to [`Ty`].

use super::Checker;
use super::calls::in_place_of;
use super::declare::BUILT_IN_TYPES;
use super::scopes::Lookup;
use super::show::counted;
use super::tables::*;
use crate::ast::{Name, TypeExpr, TypeExprKind};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Ty, TyKind};

impl Checker<'_> {
    /// The type that is written, or [`Ty::ERROR`] after a report.
    pub(super) fn resolve_type(&mut self, ty: &TypeExpr, scope: &TypeScope) -> Ty {
        match &ty.kind {
            TypeExprKind::Error => Ty::ERROR,
            TypeExprKind::Nullable(inner) => {
                let resolved = self.resolve_type(inner, scope);
                if let TyKind::Unit | TyKind::Never | TyKind::Nullable(_) = self.types.kind(resolved) {
                    let message = format!("{} cannot be made nullable", self.quote(resolved));
                    let label = match self.types.kind(resolved) {
                        TyKind::Nullable(_) => "it is nullable already",
                        _ => "it has no values that null could be told from",
                    };
                    self.report(Diagnostic::new(ty.span, message, label).help("remove the `?`"));
                    return resolved;
                }
                self.types.nullable(resolved)
            }
            TypeExprKind::Function { params, result } => {
                let params: Vec<Ty> = params.iter().map(|param| self.resolve_type(param, scope)).collect();
                let result = result.as_ref().map_or(Ty::UNIT, |result| self.resolve_type(result, scope));
                if params.contains(&Ty::ERROR) || result == Ty::ERROR {
                    return Ty::ERROR;
                }
                self.types.intern(TyKind::Function(params, result))
            }
            TypeExprKind::Named { module, name, args } => {
                self.resolve_named(module.as_ref(), name, args, ty.span, scope)
            }
        }
    }

    fn resolve_named(
        &mut self,
        module: Option<&Name>,
        name: &Name,
        args: &[TypeExpr],
        span: Span,
        scope: &TypeScope,
    ) -> Ty {
        let arguments: Vec<Ty> = args.iter().map(|arg| self.resolve_type(arg, scope)).collect();
        let lookup = match module {
            None => {
                if let Some((_, param)) = scope.params.iter().rev().find(|(known, _)| *known == name.text) {
                    let param = *param;
                    self.expect_arguments(name, &arguments, 0, span);
                    return self.types.intern(TyKind::Param(param));
                }
                if scope.hidden.iter().any(|(known, _)| *known == name.text) {
                    let message =
                        format!("a static member cannot use the type parameter `{}` of its class", name.text);
                    self.report(
                        Diagnostic::new(name.span, message, "belongs to the instances")
                            .help("give the function a type parameter of its own"),
                    );
                    return Ty::ERROR;
                }
                if let Some(ty) = self.built_in_type(name, &arguments, span) {
                    return ty;
                }
                self.lookup(scope.module, scope.file, &name.text)
            }
            Some(module) => match self.module_alias(scope.file, &module.text) {
                Some(id) => self.lookup_in(id, scope.file, &name.text),
                None => {
                    let message = format!("no imported module is called `{}`", module.text);
                    self.report(
                        Diagnostic::new(module.span, message, "unknown module")
                            .help("a module is called by the last part of the path in its `import`"),
                    );
                    return Ty::ERROR;
                }
            },
        };
        let Lookup::Found(declared) = lookup else {
            if let (Lookup::Missing, None) = (&lookup, module) {
                self.report_missing_type(name, scope);
            } else {
                self.report_lookup(lookup, name, "type");
            }
            return Ty::ERROR;
        };
        let (expected, kind) = match declared.entity {
            Entity::Class(class) => (self.class(class).params.len(), TyKind::Class(class, arguments.clone())),
            Entity::Interface(index) => {
                (self.interface(index).params.len(), TyKind::Interface(index, arguments.clone()))
            }
            Entity::Enum(index) => {
                (self.enumeration(index).params.len(), TyKind::Enum(index, arguments.clone()))
            }
            Entity::Function(_) | Entity::Global(_) => {
                let message = format!("`{}` is not a type", name.text);
                let label = match declared.entity {
                    Entity::Function(_) => "this is a function",
                    _ => "this is a variable",
                };
                self.report(
                    Diagnostic::new(name.span, message, label).related(declared.span, "declared here"),
                );
                return Ty::ERROR;
            }
        };
        if !self.expect_arguments(name, &arguments, expected, span) {
            return Ty::ERROR;
        }
        let ty = self.types.intern(kind);
        if !arguments.is_empty() {
            self.bounds_to_check.push((ty, span));
        }
        ty
    }

    fn report_missing_type(&mut self, name: &Name, scope: &TypeScope) {
        let params: Vec<Box<str>> = scope.params.iter().map(|(name, _)| name.clone()).collect();
        let more: Vec<&str> =
            params.iter().map(|name| &**name).chain(BUILT_IN_TYPES.iter().copied()).collect();
        let spelling = match &*name.text {
            "int" | "i64" | "i32" | "Integer" | "Long" | "long" => Some("Int"),
            "float" | "double" | "Double" | "f64" => Some("Float"),
            "bool" | "boolean" | "Boolean" => Some("Bool"),
            "str" | "string" => Some("String"),
            "void" | "Void" => Some("Unit"),
            "Object" | "any" => Some("Any"),
            _ => None,
        };
        let mut diagnostic =
            Diagnostic::new(name.span, format!("there is no type `{}`", name.text), "unknown type");
        if let Some(spelling) = spelling {
            diagnostic = diagnostic.help(format!("the type is called `{spelling}`"));
        } else if let Some(help) = self.help_for_missing(scope, &name.text, &more) {
            diagnostic = diagnostic.help(help);
        }
        self.report_missing(diagnostic);
    }

    /// A type of the language itself.
    pub(super) fn built_in_type(&mut self, name: &Name, args: &[Ty], span: Span) -> Option<Ty> {
        let ty = match &*name.text {
            "Int" => Ty::INT,
            "Float" => Ty::FLOAT,
            "Bool" => Ty::BOOL,
            "Unit" => Ty::UNIT,
            "Never" => Ty::NEVER,
            "String" => Ty::STRING,
            "Bytes" => Ty::BYTES,
            "Any" => Ty::ANY,
            "Array" => {
                return Some(if self.expect_arguments(name, args, 1, span) {
                    self.types.intern(TyKind::Array(args[0]))
                } else {
                    Ty::ERROR
                });
            }
            _ => return None,
        };
        Some(if self.expect_arguments(name, args, 0, span) { ty } else { Ty::ERROR })
    }

    /// Checks the number of type arguments, and that each can be one.
    pub(super) fn expect_arguments(&mut self, name: &Name, args: &[Ty], expected: usize, span: Span) -> bool {
        if args.len() != expected {
            let message = format!(
                "`{}` takes {}, not {}",
                name.text,
                counted(expected, "type argument"),
                if args.is_empty() { "none".to_string() } else { args.len().to_string() }
            );
            let example: Vec<String> =
                (0..expected).map(|i| ["T", "U", "V", "W"][i % 4].to_string()).collect();
            let help = match expected {
                0 => format!("write `{}`", name.text),
                _ => format!("write `{}<{}>` with {}", name.text, example.join(", "), in_place_of(&example)),
            };
            self.report(Diagnostic::new(span, message, "wrong number of type arguments").help(help));
            return false;
        }
        // An error never hides inside a type: what mentions one is one, so that types need not be searched.
        if args.contains(&Ty::ERROR) {
            return false;
        }
        if args.contains(&Ty::NEVER) {
            let message = "`Never` cannot be a type argument";
            self.report(Diagnostic::new(span, message, "there would be no values"));
            return false;
        }
        true
    }
}
