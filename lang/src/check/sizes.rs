//! How large types are.
//!
//! Types are shared where they are equal, so that `Pair(a, a)` of a pair of a pair takes no more memory than its
//! name; written out it doubles with every step, and so does the work of everything that walks through it. Nobody
//! needs such types, so they are refused here.

use super::Checker;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Ty, TyKind};

/// Types with more parts than this, written out, are refused.
const LARGEST_TYPE: u32 = 2_000;

impl Checker<'_> {
    /// Is the type larger than anybody needs.
    pub(super) fn is_too_large(&mut self, ty: Ty) -> bool {
        // The parts of a type have smaller numbers than the type.
        while self.sizes.len() <= ty.index() {
            let next = Ty(self.sizes.len() as u32);
            let size_of = |part: &Ty| self.sizes.get(part.index()).copied().unwrap_or(1);
            let all = |parts: &[Ty]| parts.iter().map(size_of).fold(0, u32::saturating_add);
            let parts = match self.types.kind(next) {
                TyKind::Array(inner) | TyKind::Nullable(inner) => size_of(inner),
                TyKind::Function(params, result) => all(params).saturating_add(size_of(result)),
                TyKind::Class(_, args) | TyKind::Interface(_, args) | TyKind::Enum(_, args) => all(args),
                _ => 0,
            };
            self.sizes.push(parts.saturating_add(1));
        }
        self.sizes[ty.index()] > LARGEST_TYPE
    }

    /// Reports an expression of such a type.
    pub(super) fn report_too_large(&mut self, span: Span) {
        let message = format!("the type of this expression has more than {LARGEST_TYPE} parts");
        self.report(
            Diagnostic::new(span, message, "too large a type")
                .help("declare a class for what belongs together, instead of nesting generic types"),
        );
    }
}
