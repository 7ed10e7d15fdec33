//! T1 to T8, R7 and V1: operands and results of each operation.

use super::{Errors, Invariant, Verifier};
use crate::ir::{Cond, ElementKind, MethodTable, Op, RefTy, RegionEntry, Ty, Value};
use holloway_bytecode::natives::NativeType;
use holloway_bytecode::{ClassId, Element, Layout, Native, Shape, Signature, Type};
use std::fmt;

/// Any reference.
const ANY: Ty = Ty::Ref(RefTy { shape: Shape::Any, nullable: true, exact: false });
/// Any reference but null.
const OBJECT: Ty = Ty::Ref(RefTy { shape: Shape::Any, nullable: false, exact: false });
/// A string or null.
const TEXT: Ty = Ty::Ref(RefTy { shape: Shape::Class(ClassId::STRING), nullable: true, exact: false });

impl Verifier<'_> {
    /// May a value be put where this type is expected.
    pub(super) fn fits(&self, value: Value, expected: Ty) -> bool {
        match (self.region.ty(value), expected) {
            (Ty::Ref(_), Ty::Ref(expected)) if self.region.op(value) == Op::Null => expected.nullable,
            (actual, expected) => self.ty_fits(actual, expected),
        }
    }

    fn ty_fits(&self, actual: Ty, expected: Ty) -> bool {
        match (actual, expected) {
            (Ty::Ref(mut actual), Ty::Ref(expected)) => {
                actual.exact |= actual.class().is_some_and(|class| self.leaves[class.index()]);
                actual.fits(expected, self.program)
            }
            (actual, expected) => actual == expected && actual != Ty::None,
        }
    }

    /// What an operation or a type names that does not exist.
    pub(super) fn missing(&self, op: Op, ty: Ty) -> Option<&'static str> {
        let program = self.program;
        let class = |class: ClassId| (class.index() >= program.classes.len()).then_some("class");
        let no = |exists: bool, what| (!exists).then_some(what);
        let interface = |index: usize| no(index < program.interfaces.len(), "interface");
        let table = |place: MethodTable| match place {
            MethodTable::Class(id, slot) => class(id)
                .or_else(|| no((slot as usize) < program.classes[id.index()].methods.len(), "method")),
            MethodTable::Interface(id, method) => interface(id.index())
                .or_else(|| no((method as usize) < program.interfaces[id.index()].methods.len(), "method")),
        };
        let shape = match ty.reference().map(|r| r.shape) {
            Some(Shape::Class(id)) => class(id),
            Some(Shape::Interface(id)) => interface(id.index()),
            _ => None,
        };
        shape.or_else(|| match op {
            Op::Str(string) => no(string.index() < program.strings.len(), "string"),
            Op::IsInstance(id)
            | Op::IsExactly(id)
            | Op::CheckCast(id)
            | Op::CheckExactly(id)
            | Op::New(id)
            | Op::NewArray(id)
            | Op::Virtual(id) => class(id),
            Op::Implements(id) | Op::CheckInterface(id) => interface(id.index()),
            Op::LoadField(id, field) | Op::StoreField(id, field) | Op::StoreRefField(id, field) => class(id)
                .or_else(|| no((field as usize) < program.classes[id.index()].fields().len(), "field")),
            Op::LoadGlobal(global) | Op::StoreGlobal(global) => {
                no(global.index() < program.globals.len(), "global")
            }
            Op::Call(function) => no(function.index() < program.functions.len(), "function"),
            Op::CallVirtual(id, slot) => table(MethodTable::Class(id, slot)),
            Op::CallInterface(id, method) => table(MethodTable::Interface(id, method)),
            Op::Reaches(place, function) => {
                table(place).or_else(|| no(function.index() < program.functions.len(), "function"))
            }
            _ => None,
        })
    }

    /// Everything about the types of a node.
    pub(super) fn types(&self, value: Value, errors: &mut Errors) {
        use Op::*;
        let node = self.region.node(value);
        let arg = |number: usize| node.args.get(number).map_or(Ty::None, |&arg| self.region.ty(arg));
        let class = |class: ClassId| &self.program.classes[class.index()];
        let (int, float, bool) = (Ty::Int, Ty::Float, Ty::Bool);
        // What the operands must fit, and what is known of the result: any of these.
        let (expected, known): (Vec<Ty>, Vec<Ty>) = match node.op {
            Param => (vec![], vec![node.ty]),
            Argument(number) => {
                let function = &self.program.functions[self.region.function().index()];
                let exists = number < function.params && self.region.entry == RegionEntry::Method;
                (vec![], vec![self.register(value, exists, number, errors)])
            }
            Local(number) => {
                let function = &self.program.functions[self.region.function().index()];
                let exists = (number as usize) < function.registers.len();
                let exists = exists && self.region.entry != RegionEntry::Method;
                (vec![], vec![self.register(value, exists, number, errors)])
            }
            Int(_) | Float(_) | Bool(_) | Null | Str(_) => return self.constant(value, errors),
            Arith(_) | Div | Rem | CheckBounds => (vec![int, int], vec![int]),
            FloatArith(_) => (vec![float, float], vec![float]),
            FloatUnary(_) => (vec![float], vec![float]),
            IntToFloat | FloatFromBits => (vec![int], vec![float]),
            FloatToInt | FloatBits => (vec![float], vec![int]),
            Compare(Cond::Eq | Cond::Ne) if arg(0) == bool => (vec![bool, bool], vec![bool]),
            Compare(_) => (vec![int, int], vec![bool]),
            FloatCompare(_) => (vec![float, float], vec![bool]),
            Same => (vec![ANY, ANY], vec![bool]),
            SameText => (vec![TEXT, TEXT], vec![bool]),
            IsNull | IsInstance(_) | Implements(_) => (vec![ANY], vec![bool]),
            IsExactly(_) => (vec![OBJECT], vec![bool]),
            Reaches(MethodTable::Class(id, _), _) => (vec![Ty::of(Type::class(id))], vec![bool]),
            Reaches(MethodTable::Interface(id, _), _) => {
                (vec![Ty::of(Type::reference(Shape::Interface(id)))], vec![bool])
            }
            Not => (vec![bool], vec![bool]),
            Select => (vec![bool, node.ty, node.ty], vec![node.ty]),
            Length => (vec![self.indexed(value, None, errors)], vec![int]),
            Assume => {
                if !arg(0).is_ref() || !node.ty.is_ref() || node.args.len() != 1 {
                    errors.add(Invariant::T4, self.name(value), "is not from one reference to another");
                }
                return;
            }
            CheckNull | CheckSet => (vec![ANY], vec![arg(0).non_null()]),
            CheckDivisor | CheckLength => (vec![int], vec![int]),
            CheckCast(class) => (vec![ANY], vec![arg(0).non_null(), Ty::of(Type::class(class))]),
            CheckInterface(interface) => {
                let implements = Ty::of(Type::reference(Shape::Interface(interface)));
                (vec![ANY], vec![arg(0).non_null(), implements])
            }
            CheckExactly(class) => (vec![OBJECT], vec![arg(0), Ty::exactly(class)]),
            Guard(..) => (vec![bool], vec![]),
            LoadField(..) => {
                let (object, field) = self.field(value, errors);
                (vec![object], vec![field])
            }
            StoreField(..) | StoreRefField(..) => {
                let (object, field) = self.field(value, errors);
                if matches!(node.op, StoreRefField(..)) && !field.is_ref() {
                    errors.add(Invariant::T1, self.name(value), "the field is no reference");
                }
                (vec![object, field], vec![])
            }
            LoadElement(kind) => {
                let array = self.indexed(value, Some(kind), errors);
                // Of a word the index of its last byte, too.
                let indices = if kind == ElementKind::Word { 2 } else { 1 };
                let of = [vec![array], vec![int; indices]].concat();
                (of, vec![nullable(self.element(arg(0)))])
            }
            // `unset` puts null into elements of non-null types.
            StoreElement(kind) => {
                (vec![self.indexed(value, Some(kind), errors), int, nullable(self.element(arg(0)))], vec![])
            }
            // Elements and globals of non-null types can be unset.
            LoadGlobal(global) => (vec![], vec![nullable(Ty::of(self.program.globals[global.index()].ty))]),
            StoreGlobal(global) => (vec![Ty::of(self.program.globals[global.index()].ty)], vec![]),
            New(id) => {
                if class(id).is_abstract || !matches!(class(id).layout, Layout::Object(_)) {
                    errors.add(Invariant::T7, self.name(value), "the class has no instances made of fields");
                }
                (vec![], vec![Ty::exactly(id)])
            }
            NewArray(id) => {
                if !matches!(class(id).layout, Layout::Array(_)) {
                    errors.add(Invariant::T7, self.name(value), "the class is not one of arrays");
                }
                (vec![int], vec![Ty::exactly(id)])
            }
            Virtual(id) => return self.virtual_object(value, id, errors),
            Call(function) => {
                let function = &self.program.functions[function.index()];
                let params = function.registers.iter().take(function.params as usize).map(|&ty| Ty::of(ty));
                (params.collect(), function.result.map(Ty::of).into_iter().collect())
            }
            CallVirtual(id, slot) => {
                let signature = &class(id).methods[slot as usize].signature;
                method(Type::class(id), signature)
            }
            CallInterface(id, number) => {
                let signature = &self.program.interfaces[id.index()].methods[number as usize].signature;
                method(Type::reference(Shape::Interface(id)), signature)
            }
            PureNative(native) | CallNative(native) => native_types(native, node.args.len(), arg(0)),
            // With the number of the path that ends there, if that is sampled, and what the path register is set to.
            Yieldpoint(_) => (vec![Ty::Int; node.args.len().min(2)], vec![]),
            Count(_) | CountKept(_) | AddKept(_) | SetPath(_) | AddPath(_) | Trace(_) => (vec![], vec![]),
            Path(_) => (vec![], vec![Ty::Int]),
            CountPath(_) | HashPath(_) | PlantForest(_) | GrowForest | HashWindow { .. } => {
                (vec![Ty::Int], vec![])
            }
            Entered | Block(_) => (vec![], vec![]),
            CountReceiver { .. } | CountCached { .. } => (vec![arg(0)], vec![]),
            SamplePath => (vec![Ty::Int], vec![]),
        };
        self.check_operands(value, &expected, errors);
        self.check_result(value, &known, errors);
    }

    /// What a block returns.
    pub(super) fn returned(&self, name: &dyn fmt::Display, value: Option<Value>, errors: &mut Errors) {
        let declared = self.program.functions[self.region.function().index()].result.map_or(Ty::None, Ty::of);
        let fits = match value {
            Some(value) => self.fits(value, declared),
            None => declared == Ty::None,
        };
        if !fits || self.region.result != declared {
            errors.add(Invariant::T8, name, "what is returned is not of the method's type");
        }
    }

    fn check_operands(&self, value: Value, expected: &[Ty], errors: &mut Errors) {
        let args = &self.region.node(value).args;
        if args.len() != expected.len() {
            let what = format!("{} operands, not {}", expected.len(), args.len());
            errors.add(Invariant::T1, self.name(value), format!("needs {what}"));
            return;
        }
        for (&arg, &expected) in args.iter().zip(expected) {
            if !self.fits(arg, expected) {
                errors.add(
                    Invariant::T1,
                    self.name(value),
                    format!("{} does not fit as operand", self.name(arg)),
                );
            }
        }
    }

    fn check_result(&self, value: Value, known: &[Ty], errors: &mut Errors) {
        let ty = self.region.ty(value);
        let sound = if known.is_empty() {
            ty == Ty::None
        } else {
            known.iter().any(|&known| self.ty_fits(known, ty))
        };
        if !sound {
            errors.add(Invariant::T2, self.name(value), "does not give a value of this type");
        }
    }

    fn register(&self, value: Value, exists: bool, number: u16, errors: &mut Errors) -> Ty {
        if !exists {
            errors.add(Invariant::R7, self.name(value), format!("number {number} is not one of this region"));
            return self.region.ty(value);
        }
        let function = &self.program.functions[self.region.function().index()];
        Ty::of(function.registers[number as usize])
    }

    fn constant(&self, value: Value, errors: &mut Errors) {
        let node = self.region.node(value);
        let right = match (node.op, node.ty) {
            (Op::Int(_), Ty::Int) | (Op::Float(_), Ty::Float) | (Op::Bool(_), Ty::Bool) => true,
            (Op::Null, Ty::Ref(ty)) => ty.nullable,
            (Op::Str(_), ty) => self.ty_fits(Ty::exactly(ClassId::STRING), ty),
            _ => false,
        };
        if !right || !node.args.is_empty() {
            errors.add(Invariant::T3, self.name(value), "is not a constant of this type");
        }
    }

    /// The object and the value of an access to a field.
    fn field(&self, value: Value, errors: &mut Errors) -> (Ty, Ty) {
        let (Op::LoadField(id, number) | Op::StoreField(id, number) | Op::StoreRefField(id, number)) =
            self.region.op(value)
        else {
            return (Ty::None, Ty::None);
        };
        let class = &self.program.classes[id.index()];
        let inherited =
            class.superclass.map_or(0, |superclass| self.program.classes[superclass.index()].fields().len());
        if (number as usize) < inherited {
            errors.add(Invariant::T5, self.name(value), "a superclass declares the field");
        }
        (Ty::of(Type::class(id)), Ty::of(class.fields()[number as usize].ty))
    }

    /// What the first operand must be: a non-null array, of this kind of elements if one is asked for.
    fn indexed(&self, value: Value, kind: Option<ElementKind>, errors: &mut Errors) -> Ty {
        let array = self.region.node(value).args.first().and_then(|&array| self.region.ty(array).reference());
        let class = array.and_then(|array| array.class());
        let element = class.and_then(|class| self.program.classes[class.index()].element());
        let right = match (element, kind) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(element), Some(ElementKind::Word)) => element == Element::Byte,
            (Some(element), Some(kind)) => ElementKind::of(element) == kind,
        };
        if !right {
            errors.add(Invariant::T6, self.name(value), "the array is none, or one of other elements");
        }
        class.map_or(OBJECT, |class| Ty::of(Type::class(class)))
    }

    /// The type of the elements of an array.
    fn element(&self, array: Ty) -> Ty {
        let class = array.reference().and_then(|array| array.class());
        let element = class.and_then(|class| self.program.classes[class.index()].element());
        element.map_or(Ty::None, |element| Ty::of(element.value_type()))
    }

    fn virtual_object(&self, value: Value, class: ClassId, errors: &mut Errors) {
        let args = &self.region.node(value).args;
        let fields = self.program.classes[class.index()].fields();
        let fits = args.iter().zip(fields).all(|(&arg, field)| self.fits(arg, nullable(Ty::of(field.ty))));
        if args.len() != fields.len() || !fits {
            errors.add(Invariant::V1, self.name(value), "its operands are not the fields");
        }
        self.check_result(value, &[Ty::exactly(class)], errors);
    }
}

fn nullable(ty: Ty) -> Ty {
    match ty {
        Ty::Ref(r) => Ty::Ref(RefTy { nullable: true, ..r }),
        other => other,
    }
}

/// Operands and result of a call through a table.
fn method(receiver: Type, signature: &Signature) -> (Vec<Ty>, Vec<Ty>) {
    let params = signature.params.iter().map(|&ty| Ty::of(ty));
    let expected = std::iter::once(Ty::of(receiver)).chain(params).collect();
    (expected, signature.result.map(Ty::of).into_iter().collect())
}

/// Operands and result of a native.
fn native_types(native: Native, count: usize, first: Ty) -> (Vec<Ty>, Vec<Ty>) {
    let params = native.params().iter().map(|param| Ty::of(param.ty()));
    let expected = if native.is_variadic() { params.cycle().take(count).collect() } else { params.collect() };
    let known = native.result().map(|result| match result {
        NativeType::Object => first,
        other => Ty::of(other.ty()),
    });
    (expected, known.into_iter().collect())
}
