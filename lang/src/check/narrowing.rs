//! What tests have told about variables at the current place.
//!
//! [`BodyChecker::narrowed`] is a list of *facts*: the value of this variable is of that type too. Conditions add facts,
//! branches work on copies of the list, and where ways meet only the facts of both stay. A variable may have several, as one
//! test does not make another one untrue: after `x is Square`, the branch where `x is Printable` holds knows both, and behind
//! it the first is still known. An assignment ends all of them.
//!
//! A read of the variable has the type of its latest fact. Where that does not do (a member that it has not, a value of
//! another type that is wanted), the others are tried, the declared type last ([`BodyChecker::seen_as`]). The typed tree says
//! as which type the variable is read there.

use super::body::{BodyChecker, VarId, VariableKind};
use crate::ast;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, LocalIndex, Ty, TyKind};

/// Variables known to hold values of narrower types, what was found out last at the end.
pub(super) type Narrowed = Vec<(VarId, Ty)>;

impl BodyChecker<'_, '_> {
    /// The type that a variable is known to have here.
    pub fn known_type(&self, variable: VarId) -> Ty {
        let latest = self.narrowed.iter().rev().find(|(known, _)| *known == variable);
        latest.map_or(self.variables[variable.0].ty, |(_, ty)| *ty)
    }

    /// What is known about a variable after it was found to be a `target`: that, or what was known if that says more.
    pub(super) fn fact_of_test(&mut self, variable: VarId, target: Ty) -> Ty {
        let mut known = self.types_of(variable);
        if let Some(declared) = known.last_mut() {
            *declared = self.without_null(*declared);
        }
        known.into_iter().find(|known| self.is_subtype(*known, target)).unwrap_or(target)
    }

    /// May what a test finds out about the variable be relied upon until it is assigned.
    pub(super) fn can_narrow(&self, variable: VarId) -> bool {
        let info = &self.variables[variable.0];
        match info.kind {
            VariableKind::Var => !info.captured,
            VariableKind::Parameter => !info.captured || info.assigned.is_empty(),
            _ => true,
        }
    }

    /// From here on the facts hold too.
    pub(super) fn apply(&mut self, facts: &Narrowed) {
        for fact in facts {
            self.narrowed.retain(|known| known != fact);
            self.narrowed.push(*fact);
        }
    }

    /// Forgets what is known about a variable.
    pub(super) fn forget(&mut self, variable: VarId) {
        self.narrowed.retain(|(known, _)| *known != variable);
    }

    /// Forgets what is known about variables that are assigned inside `span`, which may run more than once or be
    /// left at any point.
    pub(super) fn forget_assigned_in(&mut self, span: Span) {
        let variables = &self.variables;
        self.narrowed.retain(|(known, _)| {
            let assigned = &variables[known.0].assigned;
            !assigned.iter().any(|at| (span.start..span.end).contains(at))
        });
    }

    /// All types that the variable just read by `value` has, the one that the read has first; none if it is no such read,
    /// or has no type but the one.
    pub(super) fn other_types(&self, value: &Expr) -> Vec<Ty> {
        let ExprKind::Local(local) = value.kind else { return Vec::new() };
        if self.narrowed.is_empty() {
            return Vec::new();
        }
        let types = self.variable_of(local).map(|variable| self.types_of(variable)).unwrap_or_default();
        // Something may have read it as another type on purpose.
        if types.len() > 1 && types[0] == value.ty { types } else { Vec::new() }
    }

    /// The value, read as the first of all the types that it is known to have of which `fits` is true; as it is if there
    /// is none.
    pub(super) fn seen_as(&mut self, mut value: Expr, mut fits: impl FnMut(&mut Self, Ty) -> bool) -> Expr {
        let types = self.other_types(&value);
        if let Some(ty) = types.into_iter().find(|ty| fits(self, *ty)) {
            value.ty = ty;
        }
        value
    }

    /// The value, read as a type that has the member.
    pub(super) fn seen_with(&mut self, value: Expr, name: &ast::Name) -> Expr {
        self.seen_as(value, |checker, ty| checker.find_member(ty, &name.text).is_some())
    }

    /// Would the value be of a nullable type, had no test told that a variable in it is not null. Then `!`, `?.`, `??` and
    /// `if let` are allowed, though there is nothing left to ask.
    pub(super) fn was_nullable(&self, written: &ast::Expr, value: &Expr) -> bool {
        if matches!(self.types.kind(value.ty), TyKind::Nullable(_) | TyKind::Null | TyKind::Unit) {
            return false;
        }
        // What `?.` gives is not nullable only if the object was such a value.
        let is_safe = |expr: &ast::Expr| matches!(expr.kind, ast::ExprKind::Member { safe: true, .. });
        match (&value.kind, &written.kind, self.frames.last()) {
            (ExprKind::Local(local), ast::ExprKind::Name(..), Some(frame)) => {
                matches!(self.types.kind(frame.locals[local.index()].ty), TyKind::Nullable(_))
            }
            (_, ast::ExprKind::Call { callee, .. }, _) => is_safe(callee),
            _ => is_safe(written),
        }
    }

    /// The types that a variable is known to have: of its facts, the latest first, then the declared one.
    fn types_of(&self, variable: VarId) -> Vec<Ty> {
        let facts = self.narrowed.iter().rev().filter(|(known, _)| *known == variable).map(|(_, ty)| *ty);
        facts.chain([self.variables[variable.0].ty]).collect()
    }

    /// The variable that a local of the current frame is, or was captured from.
    fn variable_of(&self, local: LocalIndex) -> Option<VarId> {
        let frame = self.frames.last()?;
        let own = frame.variables.binary_search_by_key(&local.0, |(known, _)| known.0);
        match own {
            Ok(own) => Some(frame.variables[own].1),
            Err(_) => {
                frame.captures.iter().find(|(.., inner)| *inner == local).map(|(variable, ..)| *variable)
            }
        }
    }
}

/// What holds on both of two ways that meet.
pub(super) fn on_both(a: &Narrowed, b: &Narrowed) -> Narrowed {
    a.iter().filter(|fact| b.contains(fact)).copied().collect()
}
