//! Types as the user writes them, for messages.

use super::Checker;
use crate::typed::{Ty, TyKind};

impl Checker<'_> {
    /// The type as written in source text.
    pub(super) fn show(&self, ty: Ty) -> String {
        let mut text = String::new();
        self.show_into(ty, &mut text, 0);
        text
    }

    /// The type between back-quotes.
    pub(super) fn quote(&self, ty: Ty) -> String {
        format!("`{}`", self.show(ty))
    }

    fn show_into(&self, ty: Ty, text: &mut String, depth: usize) {
        // Inferred types may be large without bound; nobody reads beyond a few levels.
        if depth > 6 || text.len() > 300 {
            text.push('…');
            return;
        }
        match self.types.kind(ty) {
            TyKind::Int => text.push_str("Int"),
            TyKind::Float => text.push_str("Float"),
            TyKind::Bool => text.push_str("Bool"),
            TyKind::Unit => text.push_str("Unit"),
            TyKind::Never => text.push_str("Never"),
            TyKind::Null => text.push_str("null"),
            TyKind::String => text.push_str("String"),
            TyKind::Bytes => text.push_str("Bytes"),
            TyKind::Any => text.push_str("Any"),
            TyKind::Error => text.push('?'),
            TyKind::Array(element) => {
                text.push_str("Array");
                self.show_args(&[*element], text, depth);
            }
            TyKind::Nullable(inner) => {
                let function = matches!(self.types.kind(*inner), TyKind::Function(..));
                text.push_str(if function { "(" } else { "" });
                self.show_into(*inner, text, depth);
                text.push_str(if function { ")?" } else { "?" });
            }
            TyKind::Function(params, result) => {
                text.push_str("fn(");
                for (i, param) in params.iter().enumerate() {
                    text.push_str(if i == 0 { "" } else { ", " });
                    self.show_into(*param, text, depth + 1);
                }
                text.push(')');
                if *result != Ty::UNIT {
                    text.push_str(" -> ");
                    self.show_into(*result, text, depth + 1);
                }
            }
            TyKind::Class(class, args) => {
                text.push_str(&self.class(*class).name);
                self.show_args(args, text, depth);
            }
            TyKind::Interface(interface, args) => {
                text.push_str(&self.interface(*interface).name);
                self.show_args(args, text, depth);
            }
            TyKind::Enum(index, args) => {
                text.push_str(&self.enumeration(*index).name);
                self.show_args(args, text, depth);
            }
            TyKind::Param(param) => text.push_str(self.param_name(*param)),
        }
    }

    fn show_args(&self, args: &[Ty], text: &mut String, depth: usize) {
        if args.is_empty() {
            return;
        }
        text.push('<');
        for (i, arg) in args.iter().enumerate() {
            text.push_str(if i == 0 { "" } else { ", " });
            self.show_into(*arg, text, depth + 1);
        }
        text.push('>');
    }
}

/// `1 argument`, `2 arguments`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `` `a`, `b` and `c` ``.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}
