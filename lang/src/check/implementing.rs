//! Does a class have the methods of its interfaces, with the types promised?

use super::Checker;
use super::members::{Dispatch, Member, MethodRef};
use super::show::listed;
use super::tables::*;
use crate::diagnostics::Diagnostic;
use crate::typed::{ClassIndex, Ty, TyKind};

impl Checker<'_> {
    /// Checks that a class has all methods of an interface, and gives them slots in its table. If the interface is
    /// `inherited`, the methods of superclasses were checked there.
    pub(super) fn check_implementation(&mut self, class: ClassIndex, interface: Ty, inherited: bool) {
        let TyKind::Interface(index, _) = *self.types.kind(interface) else { return };
        let (ast, this) = (self.class(class).ast, self.class(class).this);
        let mut missing: Vec<Box<str>> = Vec::new();
        for (position, wanted) in self.interface(index).methods.clone().into_iter().enumerate() {
            let name = self.function(wanted).name.clone();
            let found = match self.find_member(this, &name) {
                Some(Member::Method(found))
                    if matches!(self.function(found.function).owner, Owner::Class(_)) =>
                {
                    found
                }
                Some(Member::Field(field)) => {
                    let place = self.class(field.class).fields[field.position].name.span;
                    let message =
                        format!("{} wants a method `{name}`, but this is a field", self.quote(interface));
                    self.report(
                        Diagnostic::new(place, message, "a field").help("declare a method of that name"),
                    );
                    continue;
                }
                _ => {
                    missing.push(name);
                    continue;
                }
            };
            if inherited && found.owner != this {
                continue;
            }
            let info = self.function(found.function);
            let place = info.span;
            if info.private || info.own_params > 0 {
                let why = if info.private { "private" } else { "generic" };
                let message = format!("`{name}` implements {} and cannot be {why}", self.quote(interface));
                self.report(Diagnostic::new(place, message, format!("this method is {why}")));
                continue;
            }
            let promised =
                MethodRef { function: wanted, owner: interface, dispatch: Dispatch::Interface(position) };
            if found.owner == this {
                self.check_types(found.function, promised, "interface");
            } else {
                self.check_inherited_types(class, &found, promised);
            }
            // What an interface calls must stand in the table.
            if let TyKind::Class(owner, _) = *self.types.kind(found.owner) {
                let methods = &mut self.classes[owner.index()].methods;
                for method in methods.iter_mut().filter(|method| method.function == found.function) {
                    method.direct = false;
                }
            }
        }
        if !missing.is_empty() && !ast.is_abstract {
            let message = format!("`{}` does not implement {}", ast.name.text, listed(&missing));
            let promised = format!("needed for {}", self.quote(interface));
            let hints: Vec<String> = missing.iter().map(|name| self.show_method(interface, name)).collect();
            self.report_missing(
                Diagnostic::new(ast.name.span, message, promised).help(format!("add {}", listed(&hints))),
            );
        }
    }

    /// An inherited method implements an interface: its types are seen from the subclass.
    fn check_inherited_types(&mut self, class: ClassIndex, found: &MethodRef, promised: MethodRef) {
        let has = self.method_type(found);
        let wants = self.method_type(&promised);
        let (TyKind::Function(has_params, has_result), TyKind::Function(params, result)) =
            (self.types.kind(has).clone(), self.types.kind(wants).clone())
        else {
            return;
        };
        if has_params == params && self.is_subtype(has_result, result) {
            return;
        }
        let ast = self.class(class).ast;
        let name = self.function(found.function).name.clone();
        let place = self.function(found.function).span;
        let message = format!("the inherited `{name}` does not fit {}", self.quote(promised.owner));
        self.report(
            Diagnostic::new(ast.name.span, message, format!("needs {}", self.quote(wants)))
                .related(place, format!("this is {}", self.quote(has)))
                .help("override it, or do not implement the interface"),
        );
    }

    /// The type of a method as seen from its owner.
    fn method_type(&mut self, method: &MethodRef) -> Ty {
        let (params, args) = self.arguments_of(method.owner);
        let info = self.function(method.function);
        let (types, result) = (info.param_types.to_vec(), info.result);
        let ty = self.types.intern(TyKind::Function(types, result));
        self.instantiate(ty, &params, &args)
    }

    /// `fn name(a: A) -> R` of an interface, as it would be written in a class.
    fn show_method(&mut self, interface: Ty, name: &str) -> String {
        let Some(Member::Method(method)) = self.find_member(interface, name) else { return name.to_string() };
        let ty = self.method_type(&method);
        let names: Vec<Box<str>> = match self.function(method.function).ast {
            Some(ast) => ast.params.iter().map(|param| param.name.text.clone()).collect(),
            None => Vec::new(),
        };
        let TyKind::Function(types, result) = self.types.kind(ty).clone() else { return name.to_string() };
        let params = names.iter().zip(types).map(|(name, ty)| format!("{name}: {}", self.show(ty)));
        let params: Vec<String> = params.collect();
        let result = if result == Ty::UNIT { String::new() } else { format!(" -> {}", self.show(result)) };
        format!("fn {name}({}){result}", params.join(", "))
    }
}
