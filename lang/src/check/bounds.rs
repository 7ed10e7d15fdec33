//! Bounds of type parameters: which types satisfy them, and the check of all type arguments that were written.

use super::Checker;
use super::modules::ModuleId;
use super::tables::Entity;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{InterfaceIndex, ParamIndex, Ty, TyKind};

impl Checker<'_> {
    /// Does a type satisfy a bound, an interface.
    pub(super) fn satisfies(&mut self, ty: Ty, bound: Ty) -> bool {
        if ty == Ty::ERROR || bound == Ty::ERROR || ty == bound {
            return true;
        }
        let TyKind::Interface(index, args) = self.types.kind(bound).clone() else { return true };
        match self.types.kind(ty).clone() {
            TyKind::Class(..) | TyKind::Interface(..) => self.is_subtype(ty, bound),
            TyKind::Param(param) => {
                let bounds = self.params.get(param.index()).map(|info| info.bounds.clone());
                bounds.is_some_and(|bounds| {
                    bounds.iter().any(|known| self.as_interface(*known, index) == Some(bound))
                })
            }
            TyKind::Int | TyKind::Float | TyKind::Bool | TyKind::String => {
                self.is_basic_interface(index, &["Comparable", "Hashable", "Printable"])
                    && args.iter().all(|arg| *arg == ty)
            }
            _ => false,
        }
    }

    /// Is it one of these interfaces of the prelude.
    fn is_basic_interface(&self, index: InterfaceIndex, names: &[&str]) -> bool {
        let prelude = &self.names[ModuleId::PRELUDE.index()];
        names.iter().any(|name| match prelude.get(*name) {
            Some(declared) => declared.entity == Entity::Interface(index),
            None => false,
        })
    }

    /// Reports a type argument that does not satisfy its bound.
    pub(super) fn report_bound(&mut self, param: ParamIndex, arg: Ty, bound: Ty, span: Span) {
        let (arg_text, bound_text) = (self.quote(arg), self.quote(bound));
        let name = self.param_name(param).to_string();
        let message = format!("{arg_text} does not satisfy the bound {bound_text}");
        let help = match self.types.kind(arg) {
            TyKind::Class(..) => format!("let the class implement it: `class … : {}`", self.show(bound)),
            TyKind::Param(inner) => {
                format!("give it the bound too: `{}: {}`", self.param_name(*inner), self.show(bound))
            }
            TyKind::Nullable(_) => "a nullable type satisfies no bounds".to_string(),
            _ => format!("choose a type that implements {bound_text}"),
        };
        self.report(Diagnostic::new(span, message, format!("as the type argument `{name}`")).help(help));
    }

    /// Checks the bounds of all types that were written.
    pub(super) fn check_written_bounds(&mut self) {
        for (ty, span) in std::mem::take(&mut self.bounds_to_check) {
            let (params, args) = self.arguments_of(ty);
            for (param, arg) in params.iter().zip(&args) {
                let bounds = self.params[param.index()].bounds.clone();
                for bound in bounds.iter() {
                    let bound = self.instantiate(*bound, &params, &args);
                    if !self.satisfies(*arg, bound) {
                        self.report_bound(*param, *arg, bound, span);
                    }
                }
            }
        }
    }
}
