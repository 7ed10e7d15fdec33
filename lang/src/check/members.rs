//! Members of types: fields and methods, found by name.

use std::rc::Rc;

use super::Checker;
use super::tables::*;
use crate::span::Span;
use crate::typed::{ClassIndex, FunctionIndex, ParamIndex, Ty, TyKind};

/// A field or method of some type.
#[derive(Clone, Debug)]
pub(super) enum Member {
    /// A field.
    Field(FieldRef),
    /// A method.
    Method(MethodRef),
}

/// A field as seen from a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldRef {
    /// The class that declares it.
    pub class: ClassIndex,
    /// Which of that class's own fields.
    pub position: usize,
    /// The instance of that class.
    pub owner: Ty,
}

/// A method as seen from a type.
#[derive(Clone, Debug)]
pub(super) struct MethodRef {
    /// The function.
    pub function: FunctionIndex,
    /// The instance of the type that declares it.
    pub owner: Ty,
    /// How it is called.
    pub dispatch: Dispatch,
}

/// How a method is called.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Dispatch {
    /// The function itself.
    Direct,
    /// Through the table of the class.
    Virtual,
    /// Through the interface, of which it is this method.
    Interface(usize),
    /// Through a bound of a type parameter.
    Bound(usize),
}

impl Checker<'_> {
    /// Finds a field or method of a class, interface, enum or type parameter.
    pub(super) fn find_member(&mut self, ty: Ty, name: &str) -> Option<Member> {
        match self.types.kind(ty).clone() {
            TyKind::Class(..) => self.find_in_class(ty, name),
            TyKind::Interface(..) => self.find_in_interface(ty, name, Dispatch::Interface),
            TyKind::Enum(index, _) => {
                let methods = self.enumeration(index).methods.clone();
                let function = methods.into_iter().find(|method| *self.function(*method).name == *name)?;
                Some(Member::Method(MethodRef { function, owner: ty, dispatch: Dispatch::Direct }))
            }
            TyKind::Param(param) => {
                let bounds: Rc<[Ty]> = self.params.get(param.index())?.bounds.clone();
                bounds.iter().find_map(|bound| self.find_in_interface(*bound, name, Dispatch::Bound))
            }
            _ => None,
        }
    }

    fn find_in_class(&mut self, ty: Ty, name: &str) -> Option<Member> {
        let mut at = Some(ty);
        while let Some(owner) = at {
            let TyKind::Class(class, args) = self.types.kind(owner).clone() else { break };
            let info = self.class(class);
            if let Some(position) = info.fields.iter().position(|field| *field.name.text == *name) {
                return Some(Member::Field(FieldRef { class, position, owner }));
            }
            if let Some(method) = info.methods.iter().find(|method| *method.name == *name) {
                let function = method.function;
                let info = self.function(function);
                let direct = method.direct || info.private || info.own_params > 0 || info.is_final;
                let dispatch = if direct && !info.is_abstract { Dispatch::Direct } else { Dispatch::Virtual };
                return Some(Member::Method(MethodRef { function, owner, dispatch }));
            }
            at = self.superclass_of(class, &args);
        }
        // An abstract class may leave methods of its interfaces to its subclasses.
        let mut at = Some(ty);
        while let Some(owner) = at {
            let TyKind::Class(class, args) = self.types.kind(owner).clone() else { break };
            let (interfaces, params) =
                (self.class(class).all_interfaces.clone(), self.class(class).params.clone());
            for interface in interfaces {
                let interface = self.instantiate(interface, &params, &args);
                if let Some(found) = self.find_in_one_interface(interface, name, Dispatch::Interface) {
                    return Some(found);
                }
            }
            at = self.superclass_of(class, &args);
        }
        None
    }

    fn find_in_interface(&mut self, ty: Ty, name: &str, dispatch: fn(usize) -> Dispatch) -> Option<Member> {
        if let Some(found) = self.find_in_one_interface(ty, name, dispatch) {
            return Some(found);
        }
        let TyKind::Interface(index, args) = self.types.kind(ty).clone() else { return None };
        let (supers, params) =
            (self.interface(index).all_supers.clone(), self.interface(index).params.clone());
        supers.into_iter().find_map(|above| {
            let above = self.instantiate(above, &params, &args);
            self.find_in_one_interface(above, name, dispatch)
        })
    }

    fn find_in_one_interface(
        &mut self,
        ty: Ty,
        name: &str,
        dispatch: fn(usize) -> Dispatch,
    ) -> Option<Member> {
        let TyKind::Interface(index, _) = *self.types.kind(ty) else { return None };
        let methods = &self.interface(index).methods;
        let position = methods.iter().position(|method| *self.function(*method).name == *name)?;
        let function = methods[position];
        Some(Member::Method(MethodRef { function, owner: ty, dispatch: dispatch(position) }))
    }

    /// Finds a static member of a class, its superclasses included, or of an enum.
    pub(super) fn find_static(&self, owner: Owner, name: &str) -> Option<StaticInfo> {
        let copy = |found: &StaticInfo| StaticInfo {
            name: found.name.clone(),
            kind: found.kind,
            private: found.private,
            span: found.span,
        };
        match owner {
            Owner::Enum(index) => {
                self.enumeration(index).statics.iter().find(|found| *found.name == *name).map(copy)
            }
            Owner::Class(class) => {
                let mut at = Some(class);
                while let Some(class) = at {
                    let info = self.class(class);
                    if let Some(found) = info.statics.iter().find(|found| *found.name == *name) {
                        return Some(copy(found));
                    }
                    at = info.superclass.and_then(|above| match self.types.kind(above) {
                        TyKind::Class(class, _) => Some(*class),
                        _ => None,
                    });
                }
                None
            }
            _ => None,
        }
    }

    /// The names of the members of a type, for suggestions.
    pub(super) fn member_names(&mut self, ty: Ty) -> Vec<Box<str>> {
        let mut names: Vec<Box<str>> = Vec::new();
        let mut at = Some(ty);
        while let Some(ty) = at.take() {
            let interfaces: Vec<Ty> = match self.types.kind(ty).clone() {
                TyKind::Class(class, args) => {
                    let info = self.class(class);
                    names.extend(info.fields.iter().map(|field| field.name.text.clone()));
                    names.extend(info.methods.iter().map(|method| method.name.clone()));
                    names.extend(info.statics.iter().map(|found| found.name.clone()));
                    let interfaces = info.all_interfaces.clone();
                    at = self.superclass_of(class, &args);
                    interfaces
                }
                TyKind::Interface(index, _) => {
                    [ty].into_iter().chain(self.interface(index).all_supers.iter().copied()).collect()
                }
                TyKind::Enum(index, _) => {
                    let methods = &self.enumeration(index).methods;
                    names.extend(methods.iter().map(|method| self.function(*method).name.clone()));
                    names.extend(["name".into(), "ordinal".into()]);
                    Vec::new()
                }
                TyKind::Param(param) => match self.params.get(param.index()) {
                    Some(info) => info.bounds.to_vec(),
                    None => Vec::new(),
                },
                _ => Vec::new(),
            };
            for interface in interfaces {
                if let TyKind::Interface(index, _) = *self.types.kind(interface) {
                    let methods = &self.interface(index).methods;
                    names.extend(methods.iter().map(|method| self.function(*method).name.clone()));
                }
            }
        }
        names
    }

    /// Has the type a method of this name.
    pub(super) fn has_method(&mut self, ty: Ty, name: &str) -> bool {
        matches!(self.find_member(ty, name), Some(Member::Method(_)))
    }

    /// The method `toString() -> String` of a type.
    pub(super) fn text_method(&mut self, ty: Ty) -> Option<FunctionIndex> {
        let Some(Member::Method(method)) = self.find_member(ty, "toString") else { return None };
        let info = self.function(method.function);
        let fits = info.param_types.is_empty() && info.own_params == 0 && info.result == Ty::STRING;
        fits.then_some(method.function)
    }

    /// The type parameters and arguments of a class, interface or enum type.
    pub(super) fn arguments_of(&self, ty: Ty) -> (Rc<[ParamIndex]>, Vec<Ty>) {
        match self.types.kind(ty) {
            TyKind::Class(class, args) => (self.class(*class).params.clone(), args.clone()),
            TyKind::Interface(index, args) => (self.interface(*index).params.clone(), args.clone()),
            TyKind::Enum(index, args) => (self.enumeration(*index).params.clone(), args.clone()),
            _ => (Rc::from([]), Vec::new()),
        }
    }

    /// The type of a field as seen from an instance of its class, and its position in objects.
    pub(super) fn field_of(&mut self, field: FieldRef, place: Span) -> (Ty, usize) {
        let ty = self.field_type(field.class, field.position, place);
        let (params, args) = self.arguments_of(field.owner);
        let ty = self.instantiate(ty, &params, &args);
        (ty, self.class(field.class).inherited_fields + field.position)
    }
}
