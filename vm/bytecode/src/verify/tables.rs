//! Invariants P: classes, interfaces, globals, signatures, errors, entry.

use super::{Invariant, Verifier};
use crate::program::*;
use crate::types::*;

/// Checks the tables. Each stage relies on those before, so the first one with errors is the last.
pub(super) fn check(v: &mut Verifier<'_>) {
    for stage in [numbers, built_in, interfaces, superclasses, methods, errors_and_entry] {
        stage(v);
        if !v.errors.is_empty() {
            return;
        }
    }
}

/// P2, and the order of P3 and P8, without which walks along the tables would not end.
fn numbers(v: &mut Verifier<'_>) {
    let p = v.program;
    let no_class = |c: ClassId| c.index() >= p.classes.len();
    let no_interface = |i: InterfaceId| i.index() >= p.interfaces.len();
    let no_function = |f: FunctionId| f.index() >= p.functions.len();
    let missing = |ty: Type| match ty {
        Type::Ref(RefType { shape: Shape::Class(c), .. }) => no_class(c),
        Type::Ref(RefType { shape: Shape::Interface(i), .. }) => no_interface(i),
        _ => false,
    };
    let missing_in = |s: &Signature| s.params.iter().copied().chain(s.result).any(missing);
    let say = |v: &mut Verifier<'_>, what: &str| v.error(Invariant::P2, None, what);
    for (number, class) in p.classes.iter().enumerate() {
        let name = &class.name;
        for field in class.fields().iter().filter(|f| missing(f.ty)) {
            say(v, &format!("the type of field {} of class {name} does not exist", field.name));
        }
        if class.element().is_some_and(|e| missing(e.value_type())) {
            say(v, &format!("the element type of class {name} does not exist"));
        }
        for method in &class.methods {
            if missing_in(&method.signature) {
                say(
                    v,
                    &format!(
                        "a type in the signature of method {} of class {name} does not exist",
                        method.name
                    ),
                );
            }
            if method.function.is_some_and(no_function) {
                say(v, &format!("the function of method {} of class {name} does not exist", method.name));
            }
        }
        if class.interfaces.iter().any(|i| no_interface(i.interface)) {
            say(v, &format!("class {name} implements an interface that does not exist"));
        }
        match class.superclass {
            Some(superclass) if no_class(superclass) => {
                say(v, &format!("the superclass of {name} does not exist"))
            }
            Some(superclass) if superclass.index() >= number => {
                v.error(Invariant::P3, None, format!("the superclass of {name} does not precede it"));
            }
            _ => {}
        }
    }
    for (number, interface) in p.interfaces.iter().enumerate() {
        let name = &interface.name;
        for method in interface.methods.iter().filter(|m| missing_in(&m.signature)) {
            say(
                v,
                &format!(
                    "a type in the signature of method {} of interface {name} does not exist",
                    method.name
                ),
            );
        }
        for &extended in &interface.extends {
            if no_interface(extended) {
                say(v, &format!("interface {name} extends an interface that does not exist"));
            } else if extended.index() >= number {
                v.error(
                    Invariant::P8,
                    None,
                    format!("interface {name} does not come after all that it extends"),
                );
            }
        }
    }
    for global in p.globals.iter().filter(|g| missing(g.ty)) {
        say(v, &format!("the type of global {} does not exist", global.name));
    }
    for function in &p.functions {
        if function.registers.iter().copied().chain(function.result).any(missing) {
            say(
                v,
                &format!("the type of a register or the result of function {} does not exist", function.name),
            );
        }
    }
    if p.error_root.iter().chain(&p.error_classes).any(|&c| no_class(c)) {
        say(v, "an error class does not exist");
    }
    if p.entry.is_some_and(no_function) {
        say(v, "the entry does not exist");
    }
}

/// P1.
fn built_in(v: &mut Verifier<'_>) {
    let p = v.program;
    for (i, expected) in Program::built_in_classes().iter().enumerate() {
        let same = p.classes.get(i).is_some_and(|class| {
            class.name == expected.name
                && class.layout == expected.layout
                && class.superclass.is_none()
                && !class.is_abstract
        });
        if !same {
            v.error(Invariant::P1, None, format!("class {i} is not the built-in class {}", expected.name));
        }
    }
    for class in &p.classes {
        if class.superclass.is_some_and(|s| s.index() < ClassId::BUILT_IN) {
            v.error(Invariant::P1, None, format!("class {} extends a built-in class", class.name));
        }
    }
}

/// P3, P4, P5.
fn superclasses(v: &mut Verifier<'_>) {
    let p = v.program;
    for class in &p.classes {
        let Some(superclass) = class.superclass.map(|c| &p.classes[c.index()]) else { continue };
        let (name, super_name) = (&class.name, &superclass.name);
        let (Layout::Object(fields), Layout::Object(inherited)) = (&class.layout, &superclass.layout) else {
            v.error(
                Invariant::P3,
                None,
                format!("{name} and {super_name}: arrays and strings do not take part in inheritance"),
            );
            continue;
        };
        if !fields.starts_with(inherited) {
            v.error(
                Invariant::P4,
                None,
                format!("the fields of {name} do not begin with those of {super_name}"),
            );
        }
        if class.methods.len() < superclass.methods.len() {
            v.error(Invariant::P5, None, format!("{name} has fewer methods than {super_name}"));
        }
        for (own, inherited) in class.methods.iter().zip(&superclass.methods) {
            if own.name != inherited.name || !overrides(v, &own.signature, &inherited.signature) {
                let method = &inherited.name;
                v.error(
                    Invariant::P5,
                    None,
                    format!("in the slot of {method} of {super_name}, {name} has a method that does not fit"),
                );
            }
        }
    }
}

/// Same parameters, and a result that fits.
fn overrides(v: &Verifier<'_>, own: &Signature, other: &Signature) -> bool {
    own.params == other.params && result_fits(v, own.result, other.result)
}

fn result_fits(v: &Verifier<'_>, own: Option<Type>, other: Option<Type>) -> bool {
    match (own, other) {
        (Some(own), Some(other)) => v.fits(own, other),
        (own, other) => own == other,
    }
}

/// P8, P9, P10.
fn interfaces(v: &mut Verifier<'_>) {
    let p = v.program;
    for interface in &p.interfaces {
        let name = &interface.name;
        if !distinct(interface.extends.iter().map(|i| i.0)) {
            v.error(Invariant::P8, None, format!("interface {name} extends an interface twice"));
        }
        for &extended in &interface.extends {
            let missing =
                p.interfaces[extended.index()].extends.iter().find(|i| !interface.extends.contains(i));
            if let Some(missing) = missing {
                let missing = &p.interfaces[missing.index()].name;
                v.error(
                    Invariant::P8,
                    None,
                    format!("interface {name} extends {missing} and does not list it"),
                );
            }
        }
    }
    for class in &p.classes {
        let name = &class.name;
        if !distinct(class.interfaces.iter().map(|i| i.interface.0)) {
            v.error(Invariant::P9, None, format!("class {name} implements an interface twice"));
        }
        let implements = |i: InterfaceId| class.interfaces.iter().any(|x| x.interface == i);
        let inherited =
            class.superclass.iter().flat_map(|c| &p.classes[c.index()].interfaces).map(|i| i.interface);
        let extended =
            class.interfaces.iter().flat_map(|i| p.interfaces[i.interface.index()].extends.iter().copied());
        if let Some(missing) = inherited.chain(extended).find(|&i| !implements(i)) {
            let missing = &p.interfaces[missing.index()].name;
            v.error(Invariant::P9, None, format!("class {name} implements {missing} and does not list it"));
        }
    }
}

fn distinct(numbers: impl Iterator<Item = u32>) -> bool {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.windows(2).all(|pair| pair[0] != pair[1])
}

/// P6, P7, P10. Only now do types fit reliably: fitting asks for lists of interfaces.
fn methods(v: &mut Verifier<'_>) {
    let p = v.program;
    for (number, class) in p.classes.iter().enumerate() {
        let name = &class.name;
        let receiver = Type::class(ClassId(number as u32));
        for method in &class.methods {
            let Some(function) = method.function.map(|f| &p.functions[f.index()]) else {
                if !class.is_abstract {
                    let method = &method.name;
                    v.error(
                        Invariant::P7,
                        None,
                        format!("{name} is not abstract but its method {method} is"),
                    );
                }
                continue;
            };
            let params = function.registers.get(..function.params as usize).unwrap_or(&[]);
            let fits = params.split_first().is_some_and(|(&own, rest)| {
                v.fits(receiver, own)
                    && rest == method.signature.params
                    && result_fits(v, function.result, method.signature.result)
            });
            if !fits {
                let (method, function) = (&method.name, &function.name);
                v.error(
                    Invariant::P6,
                    None,
                    format!("function {function} does not fit method {method} of {name}"),
                );
            }
        }
        for implementation in &class.interfaces {
            let interface = &p.interfaces[implementation.interface.index()];
            if implementation.slots.len() != interface.methods.len() {
                let (count, interface) = (implementation.slots.len(), &interface.name);
                v.error(
                    Invariant::P10,
                    None,
                    format!("{name} implements {count} methods of {interface}, which has another number"),
                );
            }
            for (&slot, wanted) in implementation.slots.iter().zip(&interface.methods) {
                let own = class.methods.get(slot as usize);
                if !own.is_some_and(|own| overrides(v, &own.signature, &wanted.signature)) {
                    let (method, interface) = (&wanted.name, &interface.name);
                    v.error(
                        Invariant::P10,
                        None,
                        format!("slot {slot} of {name} does not implement {method} of {interface}"),
                    );
                }
            }
        }
    }
}

/// P11, P12, P13.
fn errors_and_entry(v: &mut Verifier<'_>) {
    let p = v.program;
    let trace = |ty: Type| match ty {
        Type::Ref(RefType { shape: Shape::Class(c), nullable: true }) => {
            p.classes[c.index()].layout == Layout::Array(Element::Int)
        }
        _ => false,
    };
    let Some(root) = p.error_root else {
        v.error(Invariant::P11, None, "there is no error root");
        return;
    };
    let fields = p.classes[root.index()].fields();
    if fields.len() < 2 || fields[0].ty != Type::class(ClassId::STRING) || !trace(fields[1].ty) {
        let name = &p.classes[root.index()].name;
        v.error(Invariant::P11, None, format!("the fields of {name} do not begin with message and trace"));
    }
    if p.error_classes.len() != ErrorKind::ALL.len() {
        let (is, should) = (p.error_classes.len(), ErrorKind::ALL.len());
        v.error(Invariant::P12, None, format!("there are {is} error classes instead of {should}"));
    }
    for (&id, kind) in p.error_classes.iter().zip(ErrorKind::ALL) {
        let (class, kind) = (&p.classes[id.index()], kind.class_name());
        let name = &class.name;
        if class.is_abstract || !p.is_subclass(id, root) {
            v.error(
                Invariant::P12,
                None,
                format!("{name}, which stands for {kind}, is not a concrete subclass of the error root"),
            );
        }
        let unset = |field: &&Field| matches!(field.ty, Type::Ref(RefType { nullable: false, .. }));
        if let Some(field) = class.fields().iter().skip(1).find(unset) {
            let field = &field.name;
            v.error(
                Invariant::P12,
                None,
                format!("the system cannot make a {name} for {kind}: field {field} would be unset"),
            );
        }
    }
    if let Some(entry) = p.entry.map(|f| &p.functions[f.index()])
        && (entry.params != 0 || entry.result.is_some())
    {
        let name = &entry.name;
        v.error(Invariant::P13, None, format!("the entry {name} has parameters or a result"));
    }
}
