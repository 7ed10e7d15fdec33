//! Names of types and functions with their type arguments, for stack traces and dumps.

use super::Lowering;
use super::instances::Environment;
use crate::typed::{Function, Ty, TyKind};

/// Names are cut off about here: a type can be exponentially longer than its parts.
const MAX_LENGTH: usize = 160;

impl<'p> Lowering<'p> {
    /// The name of a concrete type as the source writes it.
    pub(super) fn type_name(&self, ty: Ty) -> String {
        let mut name = String::new();
        self.write_type(ty, &mut name);
        name
    }

    /// The name of a function: methods of generic classes have the arguments after the class's name, functions with type
    /// parameters of their own after theirs.
    pub(super) fn function_name(&self, function: &Function, environment: &Environment<'p>) -> String {
        if environment.arguments.is_empty() {
            return function.name.to_string();
        }
        let owner = function.receiver.map(|ty| self.types.kind(ty));
        let of_owner = match owner {
            Some(TyKind::Class(_, list) | TyKind::Enum(_, list)) => list.len(),
            _ => 0,
        };
        let (first, own) = environment.arguments.split_at(of_owner.min(environment.arguments.len()));
        let mut name = String::new();
        match function.name.rsplit_once('.') {
            Some((class, method)) if !first.is_empty() => {
                name.push_str(class);
                self.write_arguments(first, &mut name);
                name.push('.');
                name.push_str(method);
            }
            _ => name.push_str(&function.name),
        }
        self.write_arguments(own, &mut name);
        name
    }

    fn write_arguments(&self, list: &[Ty], name: &mut String) {
        if !list.is_empty() {
            name.push('<');
            self.write_list(list, name);
            name.push('>');
        }
    }

    fn write_list(&self, list: &[Ty], name: &mut String) {
        for (at, &ty) in list.iter().enumerate() {
            if at > 0 {
                name.push_str(", ");
            }
            self.write_type(ty, name);
        }
    }

    fn write_type(&self, ty: Ty, name: &mut String) {
        if name.len() > MAX_LENGTH {
            if !name.ends_with('…') {
                name.push('…');
            }
            return;
        }
        match self.types.kind(ty) {
            TyKind::Int => name.push_str("Int"),
            TyKind::Float => name.push_str("Float"),
            TyKind::Bool => name.push_str("Bool"),
            TyKind::Unit => name.push_str("Unit"),
            TyKind::Never => name.push_str("Never"),
            TyKind::Null => name.push_str("Null"),
            TyKind::String => name.push_str("String"),
            TyKind::Bytes => name.push_str("Bytes"),
            TyKind::Any => name.push_str("Any"),
            TyKind::Error => name.push('?'),
            TyKind::Param(param) => name.push_str(&self.declarations.params[param.index()]),
            TyKind::Array(element) => {
                name.push_str("Array");
                self.write_arguments(&[*element], name);
            }
            TyKind::Nullable(inner) => {
                let function = matches!(self.types.kind(*inner), TyKind::Function(..));
                name.push_str(if function { "(" } else { "" });
                self.write_type(*inner, name);
                name.push_str(if function { ")?" } else { "?" });
            }
            TyKind::Function(params, result) => {
                name.push_str("fn(");
                self.write_list(params, name);
                name.push_str(") -> ");
                self.write_type(*result, name);
            }
            TyKind::Class(class, list) => {
                name.push_str(&self.declarations.classes[class.index()].name);
                self.write_arguments(list, name);
            }
            TyKind::Interface(interface, list) => {
                name.push_str(&self.declarations.interfaces[interface.index()].name);
                self.write_arguments(list, name);
            }
            TyKind::Enum(of, list) => {
                name.push_str(&self.declarations.enums[of.index()].name);
                self.write_arguments(list, name);
            }
        }
    }
}
