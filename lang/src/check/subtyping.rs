//! The subtype relation, and the least type above two.

use super::Checker;
use crate::typed::{ClassIndex, InterfaceIndex, ParamIndex, Ty, TyKind};

impl Checker<'_> {
    /// `ty` with `args` for `params`.
    pub(super) fn instantiate(&mut self, ty: Ty, params: &[ParamIndex], args: &[Ty]) -> Ty {
        if params.is_empty() {
            return ty;
        }
        self.types.substitute(ty, &|param| {
            let place = params.iter().position(|known| *known == param)?;
            args.get(place).copied()
        })
    }

    /// The superclass of a class type.
    pub(super) fn superclass_of(&mut self, class: ClassIndex, args: &[Ty]) -> Option<Ty> {
        let superclass = self.class(class).superclass?;
        let params = self.class(class).params.clone();
        Some(self.instantiate(superclass, &params, args))
    }

    /// A class type seen as an instance of `target`, itself or an ancestor.
    pub(super) fn as_class(&mut self, ty: Ty, target: ClassIndex) -> Option<Ty> {
        let mut at = ty;
        loop {
            let TyKind::Class(class, args) = self.types.kind(at).clone() else { return None };
            if class == target {
                return Some(at);
            }
            at = self.superclass_of(class, &args)?;
        }
    }

    /// A class or interface type seen as an instance of the interface `target`.
    pub(super) fn as_interface(&mut self, ty: Ty, target: InterfaceIndex) -> Option<Ty> {
        let mut at = ty;
        loop {
            let (supers, params, args, above) = match self.types.kind(at).clone() {
                TyKind::Interface(index, _) if index == target => return Some(at),
                TyKind::Interface(index, args) => {
                    let info = self.interface(index);
                    (info.all_supers.clone(), info.params.clone(), args, None)
                }
                TyKind::Class(class, args) => {
                    let above = self.superclass_of(class, &args);
                    let info = self.class(class);
                    (info.all_interfaces.clone(), info.params.clone(), args, above)
                }
                _ => return None,
            };
            for interface in supers {
                if matches!(self.types.kind(interface), TyKind::Interface(index, _) if *index == target) {
                    return Some(self.instantiate(interface, &params, &args));
                }
            }
            at = above?;
        }
    }

    /// True if values of `ty` may be null: nullable types, and type parameters without a bound.
    pub(super) fn may_be_null(&self, ty: Ty) -> bool {
        match self.types.kind(ty) {
            TyKind::Nullable(_) | TyKind::Null => true,
            TyKind::Param(param) => self.params.get(param.index()).is_none_or(|info| info.bounds.is_empty()),
            _ => false,
        }
    }

    /// `T` of `T?`; other types as they are.
    pub(super) fn without_null(&self, ty: Ty) -> Ty {
        match self.types.kind(ty) {
            TyKind::Nullable(inner) => *inner,
            _ => ty,
        }
    }

    /// Is every value of `sub` a value of `above`.
    pub(super) fn is_subtype(&mut self, sub: Ty, above: Ty) -> bool {
        if sub == above || sub == Ty::ERROR || above == Ty::ERROR || sub == Ty::NEVER {
            return true;
        }
        match (self.types.kind(sub).clone(), self.types.kind(above).clone()) {
            (TyKind::Null, TyKind::Nullable(_)) => true,
            (TyKind::Nullable(inner), TyKind::Nullable(outer)) => {
                // A type parameter may stand for a nullable type, but behind its `?` it is as good as non-null.
                outer == Ty::ANY || self.is_subtype(inner, outer)
            }
            (TyKind::Param(_), TyKind::Nullable(Ty::ANY)) => true,
            (_, TyKind::Nullable(outer)) => self.is_subtype(sub, outer),
            (TyKind::Nullable(_) | TyKind::Null | TyKind::Unit, TyKind::Any) => false,
            (_, TyKind::Any) => !self.may_be_null(sub),
            (TyKind::Class(..), TyKind::Class(target, _)) => self.as_class(sub, target) == Some(above),
            (TyKind::Class(..) | TyKind::Interface(..), TyKind::Interface(target, _)) => {
                self.as_interface(sub, target) == Some(above)
            }
            _ => false,
        }
    }

    /// The least type that holds the values of both: one of them, their nullable form, or a common superclass.
    pub(super) fn join(&mut self, a: Ty, b: Ty) -> Option<Ty> {
        if self.is_subtype(a, b) {
            return Some(b);
        }
        if self.is_subtype(b, a) {
            return Some(a);
        }
        let nullable = |kind: &TyKind| matches!(kind, TyKind::Nullable(_) | TyKind::Null);
        if nullable(self.types.kind(a)) || nullable(self.types.kind(b)) {
            let (inner_a, inner_b) = (self.without_null(a), self.without_null(b));
            let joined = match (inner_a, inner_b) {
                (Ty::NULL, other) | (other, Ty::NULL) => other,
                _ => self.join(inner_a, inner_b)?,
            };
            return (joined != Ty::UNIT).then(|| self.types.nullable(joined));
        }
        let mut at = a;
        while let TyKind::Class(class, args) = self.types.kind(at).clone() {
            at = self.superclass_of(class, &args)?;
            if self.is_subtype(b, at) {
                return Some(at);
            }
        }
        None
    }

    /// Could a value of static type `from` be a `to`: is a test or cast between them worth anything.
    pub(super) fn may_be(&mut self, from: Ty, to: Ty) -> bool {
        let from = self.without_null(from);
        if self.is_subtype(from, to) || self.is_subtype(to, from) {
            return true;
        }
        let open = |checker: &Self, ty: Ty| match checker.types.kind(ty) {
            TyKind::Class(class, _) => !checker.class(*class).ast.is_final,
            _ => false,
        };
        match (self.types.kind(from), self.types.kind(to)) {
            (TyKind::Any | TyKind::Param(_), _) | (_, TyKind::Param(_)) => true,
            (TyKind::Interface(..), TyKind::Interface(..)) => true,
            (TyKind::Interface(..), TyKind::Class(..)) => open(self, to),
            (TyKind::Class(..), TyKind::Interface(..)) => open(self, from),
            // Different instances of one generic class have no common values, but their ancestors decide: a
            // class type that is neither above nor below another shares no object with it.
            _ => false,
        }
    }
}
