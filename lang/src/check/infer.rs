//! Inference of type arguments.
//!
//! A generic signature is instantiated with *holes* for the type parameters that are to be found: parameters with
//! numbers counted down from the largest, so that a hole is never mistaken for a parameter of the surroundings,
//! not even in a function that calls itself. [`Holes::unify`] walks a type with holes beside a type without and
//! fills each hole with what stands beside it first.

use super::Checker;
use crate::typed::{ParamIndex, Ty, TyKind};

/// The type arguments being inferred.
#[derive(Clone, Default, Debug)]
pub(super) struct Holes {
    filled: Vec<Option<Ty>>,
    /// Something that never returns stood beside the hole: if nothing else is found, any type will do.
    never: Vec<bool>,
}

/// The hole number `position`.
fn hole(position: usize) -> ParamIndex {
    ParamIndex(u32::MAX - position as u32)
}

fn position_of(param: ParamIndex) -> usize {
    (u32::MAX - param.0) as usize
}

impl Holes {
    /// `count` empty holes.
    pub fn new(count: usize) -> Holes {
        Holes { filled: vec![None; count], never: vec![false; count] }
    }

    /// Holes that have their types already.
    pub fn given(types: &[Ty]) -> Holes {
        Holes { filled: types.iter().map(|ty| Some(*ty)).collect(), never: vec![false; types.len()] }
    }

    /// The holes as types, to be put in the place of type parameters.
    pub fn types(&self, checker: &mut Checker<'_>) -> Vec<Ty> {
        (0..self.filled.len()).map(|position| checker.types.intern(TyKind::Param(hole(position)))).collect()
    }

    /// The type with its holes filled, or `None` if one of them is empty.
    pub fn resolve(&self, checker: &mut Checker<'_>, ty: Ty) -> Option<Ty> {
        if self.filled.is_empty() {
            return Some(ty);
        }
        let missing = std::cell::Cell::new(false);
        let resolved = checker.types.substitute(ty, &|param| match self.filled.get(position_of(param)) {
            Some(Some(ty)) => Some(*ty),
            Some(None) => {
                missing.set(true);
                None
            }
            None => None,
        });
        (!missing.get()).then_some(resolved)
    }

    /// What was found, with `Unit` where nothing but something endless was; or the first empty hole.
    pub fn finish(&self) -> Result<Vec<Ty>, usize> {
        let arguments = self.filled.iter().zip(&self.never).enumerate();
        arguments.map(|(i, (ty, never))| ty.or(never.then_some(Ty::UNIT)).ok_or(i)).collect()
    }

    /// Fills the holes of `pattern` from the type beside it. Types that do not match are no error here: the
    /// conversion afterwards reports them.
    pub fn unify(&mut self, checker: &mut Checker<'_>, pattern: Ty, actual: Ty) {
        if self.filled.is_empty() || pattern == actual {
            return;
        }
        match (checker.types.kind(pattern).clone(), checker.types.kind(actual).clone()) {
            (TyKind::Param(param), found) => {
                let position = position_of(param);
                match (self.filled.get(position), found) {
                    (Some(None), TyKind::Never) => self.never[position] = true,
                    (Some(None), TyKind::Null) => {}
                    (Some(None), _) => self.filled[position] = Some(actual),
                    _ => {}
                }
            }
            (TyKind::Nullable(inner), _) => {
                let actual = checker.without_null(actual);
                self.unify(checker, inner, actual);
            }
            (
                TyKind::Class(_, parts) | TyKind::Interface(_, parts) | TyKind::Enum(_, parts),
                TyKind::Never,
            ) => parts.iter().for_each(|part| self.unify(checker, *part, Ty::NEVER)),
            (TyKind::Array(part), TyKind::Never) => self.unify(checker, part, Ty::NEVER),
            (TyKind::Function(params, result), TyKind::Never) => {
                params.iter().chain([&result]).for_each(|part| self.unify(checker, *part, Ty::NEVER));
            }
            (TyKind::Array(inner), TyKind::Array(found)) => self.unify(checker, inner, found),
            (TyKind::Function(params, result), TyKind::Function(found_params, found_result)) => {
                self.unify_all(checker, &params, &found_params);
                self.unify(checker, result, found_result);
            }
            (TyKind::Enum(index, args), TyKind::Enum(found, found_args)) if index == found => {
                self.unify_all(checker, &args, &found_args);
            }
            (TyKind::Class(class, args), TyKind::Class(..)) => {
                if let Some(seen) = checker.as_class(actual, class)
                    && let TyKind::Class(_, found) = checker.types.kind(seen).clone()
                {
                    self.unify_all(checker, &args, &found);
                }
            }
            (TyKind::Interface(index, args), _) => {
                if let Some(seen) = checker.as_interface(actual, index)
                    && let TyKind::Interface(_, found) = checker.types.kind(seen).clone()
                {
                    self.unify_all(checker, &args, &found);
                }
            }
            _ => {}
        }
    }

    fn unify_all(&mut self, checker: &mut Checker<'_>, patterns: &[Ty], actuals: &[Ty]) {
        for (pattern, actual) in patterns.iter().zip(actuals) {
            self.unify(checker, *pattern, *actual);
        }
    }

    /// Fills holes from the type expected of a result, but only where that leaves no choice: generic types are
    /// invariant, so `Option<T>` where `Option<Any>` is expected makes `T` be `Any` and nothing else, while a bare
    /// `T` may well be something narrower.
    pub fn unify_result(&mut self, checker: &mut Checker<'_>, result: Ty, expected: Ty) {
        let (result, expected) = (checker.without_null(result), checker.without_null(expected));
        let seen = match (checker.types.kind(result).clone(), checker.types.kind(expected).clone()) {
            (TyKind::Param(_), _) => None,
            (TyKind::Class(..), TyKind::Class(class, _)) => checker.as_class(result, class),
            (TyKind::Class(..) | TyKind::Interface(..), TyKind::Interface(index, _)) => {
                checker.as_interface(result, index)
            }
            _ => Some(result),
        };
        if let Some(seen) = seen {
            self.unify(checker, seen, expected);
        }
    }
}
