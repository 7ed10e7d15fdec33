//! Types as bytecode sees them: which register type a value has, and the classes and interfaces behind it.
//!
//! A class gets its number when its type is first mentioned, and only its superclass must have one before. Fields,
//! method tables and interfaces follow from a list of work, because they mention further types, possibly the class itself.
//! The methods in its table are made only when somewhere an instance is made.
//!
//! A value of type `Unit` where a value is needed (in generic code) is an `Int`, always 0.

use super::instances::Environment;
use super::{Lowering, Work, enums};
use crate::typed::{ClassIndex, FunctionIndex, InterfaceIndex, Ty, TyKind};
use holloway_bytecode::{
    Class, ClassId, Element, Field, FunctionId, Implementation, Interface, InterfaceId, InterfaceMethod,
    Layout, RefType, Shape, Signature, Type, VirtualMethod,
};
use std::rc::Rc;

/// Where a bytecode class comes from.
pub(super) enum ClassDetail<'p> {
    /// Complete as it is: built-in classes, arrays, cells, closures, variants of enums.
    Plain,
    /// A class of the source.
    Declared(DeclaredClass<'p>),
    /// An enum.
    Enum(enums::EnumDetail),
    /// A function type: an abstract class with one method.
    Function(Ty),
}

/// A class of the source with its type arguments.
pub(super) struct DeclaredClass<'p> {
    pub(super) declaration: ClassIndex,
    pub(super) environment: Rc<Environment<'p>>,
    /// The method table: names, and the functions found so far downward from the root.
    slots: Vec<Slot<'p>>,
    completed: bool,
}

/// An entry of a method table.
#[derive(Clone)]
struct Slot<'p> {
    name: &'p str,
    /// The method, which may be abstract.
    function: FunctionIndex,
    /// The type arguments of the class or interface that declares it.
    environment: Rc<Environment<'p>>,
    /// What a call through this entry gives, which may be passed in another way than what the method gives.
    result: Ty,
    /// Is that what a method of the class gives, so that it fits every interface that has its result passed the same way.
    exact: bool,
}

/// An interface of the source with its type arguments.
pub(super) struct InterfaceDetail<'p> {
    declaration: InterfaceIndex,
    environment: Rc<Environment<'p>>,
}

/// Something that has a number but lacks its parts.
#[derive(Clone, Copy)]
pub(super) enum Incomplete {
    Class(ClassId),
    Interface(InterfaceId),
}

/// How a method of a class is called.
pub(super) enum Callee<'p> {
    /// Always this function.
    Direct(FunctionIndex, Rc<Environment<'p>>),
    /// Through this slot of the table.
    Slot(u32),
}

/// A type whose values are boxed where a reference is needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Primitive {
    Int,
    Float,
    Bool,
}

impl Primitive {
    /// The register type of the value itself.
    pub(super) fn ty(self) -> Type {
        match self {
            Primitive::Int => Type::Int,
            Primitive::Float => Type::Float,
            Primitive::Bool => Type::Bool,
        }
    }

    /// The class of its box.
    pub(super) fn box_class(self) -> ClassId {
        match self {
            Primitive::Int => ClassId::INT_BOX,
            Primitive::Float => ClassId::FLOAT_BOX,
            Primitive::Bool => ClassId::BOOL_BOX,
        }
    }
}

/// How the result of a call is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// Not at all: there is none.
    Nothing,
    /// As a plain number.
    Primitive(Primitive),
    /// As a reference.
    Reference,
}

impl<'p> Lowering<'p> {
    /// The primitive that values of a concrete type are, if they are not references.
    pub(super) fn primitive(&self, ty: Ty) -> Option<Primitive> {
        match self.types.kind(ty) {
            TyKind::Int | TyKind::Unit | TyKind::Never | TyKind::Error => Some(Primitive::Int),
            TyKind::Float => Some(Primitive::Float),
            TyKind::Bool => Some(Primitive::Bool),
            _ => None,
        }
    }

    /// The primitive inside `Int?`, `Float?`, `Bool?`.
    pub(super) fn boxed_primitive(&self, ty: Ty) -> Option<Primitive> {
        match self.types.kind(ty) {
            TyKind::Nullable(inner) => self.primitive(*inner),
            _ => None,
        }
    }

    /// The register type of a function's result; nothing for `Unit` and `Never`.
    pub(super) fn result_representation(&mut self, ty: Ty) -> Option<Type> {
        if ty == Ty::UNIT || ty == Ty::NEVER { None } else { Some(self.representation(ty)) }
    }

    /// The register type of a concrete type.
    pub(super) fn representation(&mut self, ty: Ty) -> Type {
        if let Some(Some(known)) = self.representations.get(ty.index()) {
            return *known;
        }
        let made = self.make_representation(ty);
        if self.representations.len() <= ty.index() {
            self.representations.resize(ty.index() + 1, None);
        }
        self.representations[ty.index()] = Some(made);
        made
    }

    fn make_representation(&mut self, ty: Ty) -> Type {
        if let Some(primitive) = self.primitive(ty) {
            return primitive.ty();
        }
        match self.types.kind(ty).clone() {
            TyKind::String => Type::class(ClassId::STRING),
            TyKind::Bytes => Type::class(ClassId::BYTES),
            TyKind::Null => Type::reference(Shape::Any).nullable(),
            TyKind::Nullable(inner) => match self.primitive(inner) {
                Some(primitive) => Type::class(primitive.box_class()).nullable(),
                None => self.representation(inner).nullable(),
            },
            TyKind::Array(element) => Type::class(self.new_array_class(ty, element)),
            TyKind::Function(..) => Type::class(self.new_function_class(ty)),
            TyKind::Class(class, arguments) => Type::class(self.new_class(ty, class, arguments)),
            TyKind::Interface(interface, arguments) => {
                Type::reference(Shape::Interface(self.new_interface(ty, interface, arguments)))
            }
            TyKind::Enum(..) => Type::class(self.new_enum_class(ty)),
            // Type parameters were substituted, the others handled above.
            _ => Type::reference(Shape::Any),
        }
    }

    /// The class of a concrete type that is one: class, enum, array, function type, string or bytes, null allowed.
    pub(super) fn class_of(&mut self, ty: Ty) -> ClassId {
        match self.representation(ty) {
            Type::Ref(RefType { shape: Shape::Class(class), .. }) => class,
            other => unreachable!("{other:?} has no class"),
        }
    }

    /// The interface of a concrete interface type.
    pub(super) fn interface_of(&mut self, ty: Ty) -> InterfaceId {
        match self.representation(ty) {
            Type::Ref(RefType { shape: Shape::Interface(interface), .. }) => interface,
            other => unreachable!("{other:?} is not an interface"),
        }
    }

    /// Adds a class.
    pub(super) fn add_class(&mut self, class: Class, detail: ClassDetail<'p>) -> ClassId {
        let id = ClassId(self.program.classes.len() as u32);
        if !matches!(detail, ClassDetail::Plain) {
            self.incomplete.push_back(Incomplete::Class(id));
        }
        self.program.classes.push(class);
        self.details.push(detail);
        id
    }

    /// A class without superclass, methods and instances.
    pub(super) fn bare_class(name: String, layout: Layout) -> Class {
        Class {
            name: name.into(),
            layout,
            superclass: None,
            is_abstract: true,
            methods: Vec::new(),
            interfaces: Vec::new(),
        }
    }

    /// What the elements of an array of `element` are.
    pub(super) fn element(&mut self, element: Ty) -> Element {
        match self.representation(element) {
            Type::Int => Element::Int,
            Type::Float => Element::Float,
            Type::Bool => Element::Bool,
            Type::Ref(reference) => Element::Ref(reference),
        }
    }

    fn new_array_class(&mut self, ty: Ty, element: Ty) -> ClassId {
        self.check_nesting(ty);
        let element = self.element(element);
        let class = Self::bare_class(self.type_name(ty), Layout::Array(element));
        self.add_class(Class { is_abstract: false, ..class }, ClassDetail::Plain)
    }

    fn new_function_class(&mut self, ty: Ty) -> ClassId {
        self.check_nesting(ty);
        let class = Self::bare_class(self.type_name(ty), Layout::Object(Vec::new()));
        self.add_class(class, ClassDetail::Function(ty))
    }

    fn new_class(&mut self, ty: Ty, declaration: ClassIndex, arguments: Vec<Ty>) -> ClassId {
        self.check_nesting(ty);
        let source = &self.declarations.classes[declaration.index()];
        let environment = Rc::new(Environment::new(&source.params, arguments));
        let superclass = source.superclass.map(|superclass| {
            let superclass = self.substitute(superclass, &environment);
            self.class_of(superclass)
        });
        let slots = self.slots(declaration, superclass, &environment);
        let class = Self::bare_class(self.type_name(ty), Layout::Object(Vec::new()));
        let detail = DeclaredClass { declaration, environment, slots, completed: false };
        self.add_class(Class { superclass, ..class }, ClassDetail::Declared(detail))
    }

    /// The method table of a class: the superclass's with what is overridden, then what is new.
    fn slots(
        &mut self,
        declaration: ClassIndex,
        superclass: Option<ClassId>,
        environment: &Rc<Environment<'p>>,
    ) -> Vec<Slot<'p>> {
        let declarations = self.declarations;
        let source = &declarations.classes[declaration.index()];
        let mut slots = match superclass {
            Some(superclass) => self.declared(superclass).slots.clone(),
            None => Vec::new(),
        };
        for method in source.methods.iter().filter(|method| !method.direct) {
            let own = self.exact_slot(&method.name, method.function, environment.clone());
            let mut is_new = true;
            for slot in slots.iter_mut().filter(|slot| slot.name == own.name) {
                is_new = false;
                let (old, exact) = (slot.result, self.passing(slot.result) == self.passing(own.result));
                *slot = own.clone();
                if !exact {
                    (slot.result, slot.exact) = (old, false);
                }
            }
            if is_new && declarations.needs_slot(declaration, method, &self.hierarchy) {
                slots.push(own);
            }
        }
        for &interface in &source.interfaces {
            let interface = self.substitute(interface, environment);
            let TyKind::Interface(index, arguments) = self.types.kind(interface).clone() else { continue };
            let of_interface = &declarations.interfaces[index.index()];
            let promised = Rc::new(Environment::new(&of_interface.params, arguments));
            for &function in &of_interface.methods {
                let name = declarations.method_name(function);
                let wanted = self.exact_slot(name, function, promised.clone());
                if slots.iter().any(|slot| self.serves(slot, &wanted)) {
                    continue;
                }
                let own = source.methods.iter().find(|method| &*method.name == name);
                let found = match own {
                    Some(own) => Some((own.function, environment.clone())),
                    None => superclass.and_then(|class| self.inherited_method(class, name)),
                };
                let made = found.map(|(function, environment)| self.exact_slot(name, function, environment));
                slots.push(match made {
                    Some(made) if self.passing(made.result) == self.passing(wanted.result) => made,
                    Some(made) => Slot { result: wanted.result, exact: false, ..made },
                    // An abstract class that leaves the method to its subclasses.
                    None => Slot { exact: false, ..wanted },
                });
            }
        }
        slots
    }

    /// An entry that gives what the method gives.
    fn exact_slot(
        &mut self,
        name: &'p str,
        function: FunctionIndex,
        environment: Rc<Environment<'p>>,
    ) -> Slot<'p> {
        let result = self.declarations.functions[function.index()].result;
        let result = self.substitute(result, &environment);
        Slot { name, function, environment, result, exact: true }
    }

    /// Can calls of the interface's method `wanted` go through an entry of a class that implements it. What a method of the
    /// class gives is of a subtype, but may be passed in another way: an `Int` where the interface has `Int?`.
    fn serves(&self, slot: &Slot<'p>, wanted: &Slot<'p>) -> bool {
        let fits = slot.exact && self.passing(slot.result) == self.passing(wanted.result);
        slot.name == wanted.name && (fits || slot.result == wanted.result)
    }

    /// How a result of a concrete type is passed.
    pub(super) fn passing(&self, result: Ty) -> Passing {
        match self.primitive(result) {
            _ if result == Ty::UNIT || result == Ty::NEVER => Passing::Nothing,
            Some(primitive) => Passing::Primitive(primitive),
            None => Passing::Reference,
        }
    }

    fn new_interface(&mut self, ty: Ty, declaration: InterfaceIndex, arguments: Vec<Ty>) -> InterfaceId {
        self.check_nesting(ty);
        let source = &self.declarations.interfaces[declaration.index()];
        let environment = Rc::new(Environment::new(&source.params, arguments));
        let mut extends = Vec::new();
        for &wider in &source.supers {
            let wider = self.substitute(wider, &environment);
            let wider = self.interface_of(wider);
            if !extends.contains(&wider) {
                extends.push(wider);
            }
        }
        if self.program.interfaces.len() > u16::MAX as usize {
            self.report("the program has more than 65,536 interfaces", "one more");
        }
        let id = InterfaceId(self.program.interfaces.len() as u32);
        let name = self.type_name(ty).into();
        self.program.interfaces.push(Interface { name, extends, methods: Vec::new() });
        self.interface_details.push(InterfaceDetail { declaration, environment });
        self.incomplete.push_back(Incomplete::Interface(id));
        id
    }

    /// The type arguments of an interface.
    pub(super) fn interface_environment(&self, interface: InterfaceId) -> Rc<Environment<'p>> {
        self.interface_details[interface.index()].environment.clone()
    }

    /// Gives a class or interface its parts.
    pub(super) fn complete(&mut self, incomplete: Incomplete) {
        match incomplete {
            Incomplete::Interface(interface) => self.complete_interface(interface),
            Incomplete::Class(class) => match &self.details[class.index()] {
                ClassDetail::Declared(_) => self.complete_class(class),
                ClassDetail::Enum(_) => self.complete_enum(class),
                ClassDetail::Function(ty) => self.complete_function_class(class, *ty),
                ClassDetail::Plain => {}
            },
        }
    }

    fn complete_interface(&mut self, id: InterfaceId) {
        let InterfaceDetail { declaration, environment } = &self.interface_details[id.index()];
        let (declaration, environment) = (*declaration, environment.clone());
        let declarations = self.declarations;
        let methods = &declarations.interfaces[declaration.index()].methods;
        let methods = methods
            .iter()
            .map(|&method| InterfaceMethod {
                name: declarations.method_name(method).into(),
                signature: self.signature(method, &environment),
            })
            .collect();
        self.program.interfaces[id.index()].methods = methods;
    }

    fn complete_function_class(&mut self, class: ClassId, ty: Ty) {
        let TyKind::Function(params, result) = self.types.kind(ty).clone() else { return };
        let signature = Signature {
            params: params.into_iter().map(|param| self.representation(param)).collect(),
            result: self.result_representation(result),
        };
        self.program.classes[class.index()].methods =
            vec![VirtualMethod { name: "invoke".into(), signature, function: None }];
    }

    /// How a method is called through a table.
    fn signature(&mut self, method: FunctionIndex, environment: &Environment<'p>) -> Signature {
        let function = &self.declarations.functions[method.index()];
        let mut params = Vec::with_capacity(function.param_types.len());
        for &ty in &function.param_types {
            let ty = self.substitute(ty, environment);
            params.push(self.representation(ty));
        }
        let result = self.substitute(function.result, environment);
        Signature { params, result: self.result_representation(result) }
    }

    /// Gives a class of the source its fields, signatures and interfaces, if it has them not yet.
    pub(super) fn complete_class(&mut self, class: ClassId) {
        let detail = self.declared(class);
        if detail.completed {
            return;
        }
        let (declaration, environment) = (detail.declaration, detail.environment.clone());
        let slots = detail.slots.clone();
        let superclass = self.program.classes[class.index()].superclass;
        let (mut fields, mut methods, mut interfaces) = match superclass {
            Some(superclass) => {
                self.complete_class(superclass);
                let above = &self.program.classes[superclass.index()];
                (above.fields().to_vec(), above.methods.clone(), above.interfaces.clone())
            }
            None => Default::default(),
        };
        let declarations = self.declarations;
        let source = &declarations.classes[declaration.index()];
        self.place = source.span;
        for field in &source.fields {
            let ty = self.substitute(field.ty, &environment);
            fields.push(Field { name: field.name.clone(), ty: self.representation(ty) });
        }
        for (at, slot) in slots.iter().enumerate() {
            let mut signature = self.signature(slot.function, &slot.environment);
            signature.result = self.result_representation(slot.result);
            match methods.get_mut(at) {
                None => methods.push(VirtualMethod { name: slot.name.into(), signature, function: None }),
                Some(inherited) => {
                    inherited.function = None;
                    // A result may be of a narrower type here.
                    inherited.signature.result = signature.result;
                }
            }
        }
        for &interface in &source.interfaces {
            let ty = self.substitute(interface, &environment);
            let interface = self.interface_of(ty);
            if interfaces.iter().any(|known: &Implementation| known.interface == interface) {
                continue;
            }
            let TyKind::Interface(index, _) = self.types.kind(ty) else { continue };
            let promised = self.interface_environment(interface);
            let wanted = declarations.interfaces[index.index()].methods.iter();
            let slots = wanted
                .map(|&method| {
                    let name = declarations.method_name(method);
                    let wanted = self.exact_slot(name, method, promised.clone());
                    slots.iter().position(|slot| self.serves(slot, &wanted)).unwrap_or(0) as u32
                })
                .collect();
            interfaces.push(Implementation { interface, slots });
        }
        self.check_fields(fields.len());
        let made = &mut self.program.classes[class.index()];
        (made.layout, made.methods, made.interfaces) = (Layout::Object(fields), methods, interfaces);
        if let ClassDetail::Declared(detail) = &mut self.details[class.index()] {
            detail.completed = true;
        }
    }

    /// Instructions name fields by 16 bits.
    pub(super) fn check_fields(&mut self, count: usize) {
        if count > u16::MAX as usize {
            self.report("a class or variant cannot have more than 65,535 fields", "too many fields");
        }
    }

    /// Notes that instances of a class of the source are made: all methods in its table are needed.
    pub(super) fn instantiate(&mut self, class: ClassId) {
        if !self.program.classes[class.index()].is_abstract {
            return;
        }
        self.complete_class(class);
        self.program.classes[class.index()].is_abstract = false;
        for (at, slot) in self.declared(class).slots.clone().into_iter().enumerate() {
            if self.declarations.functions[slot.function.index()].body.is_some() {
                let function = self.instance(slot.function, slot.environment.arguments.clone());
                let gives = self.exact_slot(slot.name, slot.function, slot.environment).result;
                let function = self.bridged(function, gives, class, at);
                self.program.classes[class.index()].methods[at].function = Some(function);
            }
        }
    }

    /// The function, whose source says that it `gives` a value of that type, or one that calls it and converts the result, if
    /// the table says that it is passed another way.
    fn bridged(&mut self, function: FunctionId, gives: Ty, class: ClassId, slot: usize) -> FunctionId {
        let expected = self.program.classes[class.index()].methods[slot].signature.result;
        let own = &self.program.functions[function.index()];
        match (own.result, expected) {
            (Some(Type::Ref(_)), Some(Type::Ref(_))) | (None, None) => function,
            (own_result, expected) if own_result == expected => function,
            (_, expected) => {
                let params = own.registers[..own.params as usize].to_vec();
                let name = own.name.to_string();
                self.declare(name, params, expected, Work::Bridge(function, gives))
            }
        }
    }

    /// A class of the source behind a class.
    pub(super) fn declared(&self, class: ClassId) -> &DeclaredClass<'p> {
        match &self.details[class.index()] {
            ClassDetail::Declared(detail) => detail,
            _ => unreachable!("class {} is not of the source", class.0),
        }
    }

    /// The method of this name from a class upward, with the type arguments of the class that declares it.
    fn inherited_method(&self, class: ClassId, name: &str) -> Option<(FunctionIndex, Rc<Environment<'p>>)> {
        let mut at = Some(class);
        while let Some(class) = at {
            let detail = self.declared(class);
            let source = &self.declarations.classes[detail.declaration.index()];
            if let Some(method) = source.methods.iter().find(|method| &*method.name == name) {
                return Some((method.function, detail.environment.clone()));
            }
            at = self.program.classes[class.index()].superclass;
        }
        None
    }

    /// What a call of a method of `class` gives.
    pub(super) fn callee_result(&mut self, callee: &Callee<'p>, class: ClassId) -> Ty {
        match callee {
            Callee::Direct(function, environment) => {
                let result = self.declarations.functions[function.index()].result;
                self.substitute(result, environment)
            }
            Callee::Slot(slot) => self.declared(class).slots[*slot as usize].result,
        }
    }

    /// How the method `name` of an object whose static type is `class` is called.
    pub(super) fn callee(&mut self, class: ClassId, name: &str) -> Callee<'p> {
        let found = self.inherited_method(class, name);
        let slot = self.declared(class).slots.iter().position(|slot| slot.name == name);
        match (found, slot) {
            (Some((function, environment)), slot) => {
                let has_body = self.declarations.functions[function.index()].body.is_some();
                let declaration = self.declared(class).declaration;
                let overridden = {
                    let own = self.declarations.method_name(function);
                    self.hierarchy.is_overridden(declaration, own)
                };
                match slot {
                    Some(slot) if overridden || !has_body => Callee::Slot(slot as u32),
                    _ => Callee::Direct(function, environment),
                }
            }
            (None, Some(slot)) => Callee::Slot(slot as u32),
            (None, None) => unreachable!("the checker found a method `{name}`"),
        }
    }
}
