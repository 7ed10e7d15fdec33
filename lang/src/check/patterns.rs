//! Patterns of `match`: each is checked against the type of what it is matched with, and binds its names in the
//! current scope.

use super::body::{BodyChecker, VariableKind};
use super::scopes::Lookup;
use super::show::counted;
use super::suggest::closest;
use super::tables::Entity;
use crate::ast::{self, Name, PatternKind};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{EnumIndex, Pattern, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// Checks a pattern against values of type `subject`. `may_bind` is false inside alternatives.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, subject: Ty, may_bind: bool) -> Pattern {
        let span = pattern.span;
        match &pattern.kind {
            PatternKind::Error | PatternKind::Wildcard => Pattern::Any,
            PatternKind::Bind(name) => {
                if !self.check_binding(name, may_bind) {
                    return Pattern::Any;
                }
                Pattern::Bind(self.declare_variable(name, VariableKind::Bound, subject))
            }
            PatternKind::Typed(name, ty) => {
                let scope = self.scope.clone();
                let ty = self.resolve_type(ty, &scope);
                let ty = self.tested_type(subject, ty, span);
                let local = match name {
                    Some(name) if self.check_binding(name, may_bind) => {
                        Some(self.declare_variable(name, VariableKind::Bound, ty))
                    }
                    _ => None,
                };
                Pattern::Is(ty, local)
            }
            PatternKind::Null => {
                if !self.may_be_null(subject) && subject != Ty::ERROR {
                    let ty = self.quote(subject);
                    let message = format!("this pattern never matches: {ty} is never null");
                    self.report(Diagnostic::new(span, message, "`null` here").help("remove this arm"));
                }
                Pattern::Null
            }
            PatternKind::Bool(value) => {
                self.literal_pattern(subject, Ty::BOOL, span);
                Pattern::Bool(*value)
            }
            PatternKind::Int(value) => {
                self.literal_pattern(subject, Ty::INT, span);
                Pattern::Int(*value)
            }
            PatternKind::Float(value) => {
                self.literal_pattern(subject, Ty::FLOAT, span);
                Pattern::Float(*value)
            }
            PatternKind::Str(value) => {
                self.literal_pattern(subject, Ty::STRING, span);
                Pattern::Str(value.clone())
            }
            PatternKind::Range { from, to, inclusive } => {
                self.literal_pattern(subject, Ty::INT, span);
                let last = if *inclusive { Some(*to) } else { to.checked_sub(1) };
                match last {
                    Some(last) if *from <= last => Pattern::Range(*from, last),
                    _ => {
                        self.report(Diagnostic::new(span, "this range is empty", "matches nothing").help(
                            "`a..b` ends before `b`, `a..=b` includes it; the smaller number comes first",
                        ));
                        Pattern::Any
                    }
                }
            }
            PatternKind::Variant { module, enum_name, name, fields } => {
                let path = (module.as_ref(), enum_name.as_ref());
                self.variant_pattern(path, name, fields.as_deref(), subject, span, may_bind)
            }
            PatternKind::Or(patterns) => {
                Pattern::Or(patterns.iter().map(|pattern| self.pattern(pattern, subject, false)).collect())
            }
        }
    }

    fn check_binding(&mut self, name: &Name, may_bind: bool) -> bool {
        if !may_bind && &*name.text != "_" {
            let message = format!("`{}` would be bound in one alternative only", name.text);
            self.report(
                Diagnostic::new(name.span, message, "alternatives bind nothing")
                    .help("write `_`, or an arm for each alternative"),
            );
        }
        may_bind && &*name.text != "_"
    }

    fn literal_pattern(&mut self, subject: Ty, literal: Ty, span: Span) {
        let inner = self.without_null(subject);
        if inner == literal || inner == Ty::ERROR {
            return;
        }
        let (found, wanted) = (self.quote(literal), self.quote(subject));
        let mut diagnostic = Diagnostic::new(
            span,
            format!("a pattern of type {found} cannot match {wanted}"),
            format!("this is {found}"),
        );
        if let TyKind::Any | TyKind::Param(_) = self.types.kind(inner) {
            let test = self.show(literal);
            diagnostic = diagnostic.help(format!("test the type first: `n: {test} if n == …`"));
        }
        self.report(diagnostic);
    }

    /// Is the enum of this name in an imported module the one at `index`.
    fn declares_enum(&self, module: &Name, name: &Name, index: EnumIndex) -> bool {
        let file = self.scope.file;
        self.module_alias(file, &module.text).is_some_and(|module| {
            matches!(
                self.lookup_in(module, file, &name.text),
                Lookup::Found(declared) if declared.entity == Entity::Enum(index)
            )
        })
    }

    fn variant_pattern(
        &mut self,
        (module, enum_name): (Option<&Name>, Option<&Name>),
        name: &Name,
        fields: Option<&[ast::Pattern]>,
        subject: Ty,
        span: Span,
        may_bind: bool,
    ) -> Pattern {
        let inner = self.without_null(subject);
        let TyKind::Enum(index, args) = self.types.kind(inner).clone() else {
            if inner != Ty::ERROR {
                self.report_no_enum(name, subject, span);
            }
            self.patterns_after_error(fields, may_bind);
            return Pattern::Any;
        };
        if let Some(enum_name) = enum_name
            && (enum_name.text != self.enumeration(index).ast.name.text
                || module.is_some_and(|module| !self.declares_enum(module, enum_name, index)))
        {
            let ty = self.quote(subject);
            let written: String = module.iter().map(|module| format!("{}.", module.text)).collect();
            let message = format!("this matches {ty}, not `{written}{}`", enum_name.text);
            self.report(Diagnostic::new(enum_name.span, message, "another type"));
            self.patterns_after_error(fields, may_bind);
            return Pattern::Any;
        }
        let ast = self.enumeration(index).ast;
        let Some(variant) = ast.variants.iter().position(|variant| variant.name.text == name.text) else {
            self.report_no_variant(index, name);
            self.patterns_after_error(fields, may_bind);
            return Pattern::Any;
        };
        let params = self.enumeration(index).params.clone();
        let payload = self.enumeration(index).variants[variant].clone();
        let given = fields.map_or(0, <[_]>::len);
        if given != payload.len() {
            let message = format!(
                "`{}` has {}, but the pattern has {}",
                name.text,
                counted(payload.len(), "payload field"),
                if given == 0 { "none".to_string() } else { given.to_string() }
            );
            let example: Vec<&str> = payload.iter().map(|_| "_").collect();
            let help = match payload.len() {
                0 => format!("write `{}`", name.text),
                _ => format!("write `{}({})`", name.text, example.join(", ")),
            };
            let declared = ast.variants[variant].name.span;
            self.report(
                Diagnostic::new(span, message, "wrong number of patterns")
                    .related(declared, "declared here")
                    .help(help),
            );
            self.patterns_after_error(fields, may_bind);
            return Pattern::Any;
        }
        let mut patterns = Vec::new();
        for (pattern, ty) in fields.unwrap_or(&[]).iter().zip(payload.iter()) {
            let ty = self.instantiate(*ty, &params, &args);
            patterns.push(self.pattern(pattern, ty, may_bind));
        }
        Pattern::Variant(variant, patterns)
    }

    fn patterns_after_error(&mut self, fields: Option<&[ast::Pattern]>, may_bind: bool) {
        for pattern in fields.unwrap_or(&[]) {
            self.pattern(pattern, Ty::ERROR, may_bind);
        }
    }

    fn report_no_enum(&mut self, name: &Name, subject: Ty, span: Span) {
        let ty = self.quote(subject);
        let message = format!("`{}` is a variant of an enum, but this matches {ty}", name.text);
        let help = match self.types.kind(subject) {
            TyKind::Class(..) | TyKind::Interface(..) | TyKind::Any => {
                format!(
                    "to test the type, write `_: {}`; to bind the value, begin the name with a small letter",
                    name.text
                )
            }
            _ => "to bind the value, begin the name with a small letter".to_string(),
        };
        self.report(Diagnostic::new(span, message, "not an enum").help(help));
    }

    /// Reports an unknown variant.
    pub(super) fn report_no_variant(&mut self, index: EnumIndex, name: &Name) {
        let ast = self.enumeration(index).ast;
        let message = format!("`{}` has no variant `{}`", ast.name.text, name.text);
        let names = || ast.variants.iter().map(|variant| &*variant.name.text);
        let help = match closest(&name.text, names()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("it has `{}`", names().collect::<Vec<_>>().join("`, `")),
        };
        self.report(Diagnostic::new(name.span, message, "unknown variant").help(help));
    }

    /// The type tested for by `is`, `as` and `name: Type`, if a test makes sense.
    pub(super) fn tested_type(&mut self, subject: Ty, target: Ty, span: Span) -> Ty {
        if subject == Ty::ERROR || target == Ty::ERROR || subject == Ty::NEVER {
            return target;
        }
        let wanted = self.quote(target);
        match self.types.kind(target) {
            TyKind::Nullable(inner) => {
                let plain = self.quote(*inner);
                self.report(
                    Diagnostic::new(
                        span,
                        format!("a test for {wanted} is a test for two things"),
                        "a nullable type",
                    )
                    .help(format!("test for {plain}, and for `null` apart")),
                );
                return Ty::ERROR;
            }
            TyKind::Unit | TyKind::Never => {
                self.report(Diagnostic::new(
                    span,
                    format!("there are no values to test for {wanted}"),
                    "not a test",
                ));
                return Ty::ERROR;
            }
            _ => {}
        }
        if !self.may_be(subject, target) {
            let found = self.quote(subject);
            self.report(
                Diagnostic::new(span, format!("{found} is never {wanted}"), format!("the value is {found}"))
                    .help("neither type extends the other, so no value is of both"),
            );
            return Ty::ERROR;
        }
        target
    }
}
