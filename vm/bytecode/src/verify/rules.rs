//! Invariants T: what each opcode asks of the types of its operands beyond their kinds. Runs only on instructions
//! whose operands are sound (O1 to O4), so that registers and numbers can be looked up.

use super::{Invariant, Verifier};
use crate::calls::{Callee, callee};
use crate::code::{Instruction, decode};
use crate::natives::Native;
use crate::ops::Op;
use crate::program::{Function, Layout};
use crate::types::*;

/// One instruction with what its rules need.
struct Rules<'v, 'a> {
    v: &'v mut Verifier<'a>,
    function: &'v Function,
    pc: usize,
    i: &'v Instruction<'v>,
}

/// Checks an instruction.
pub(super) fn check(v: &mut Verifier<'_>, function: &Function, pc: usize) {
    let Some(i) = decode(&function.code, pc) else { return };
    let mut rules = Rules { v, function, pc, i: &i };
    match i.op {
        Op::Mov => rules.puts(rules.b()),
        Op::LoadNull => rules.load_null(),
        Op::LoadString => rules.puts(Type::class(ClassId::STRING)),
        Op::LoadGlobal => rules.puts(rules.v.program.globals[i.bc() as usize].ty),
        Op::StoreGlobal => rules.stores(rules.v.program.globals[i.bc() as usize].ty),
        Op::New => rules.new_object(),
        Op::NewArray => rules.new_array(),
        Op::GetField | Op::PutField | Op::PutRef => rules.field(),
        Op::NonNull => rules.puts(rules.b().non_null()),
        Op::Cast => rules.puts(Type::class(ClassId(i.x() as u32))),
        Op::CastInterface => rules.puts(Type::reference(Shape::Interface(InterfaceId(i.x() as u32)))),
        Op::BoxInt => rules.puts(Type::class(ClassId::INT_BOX)),
        Op::BoxFloat => rules.puts(Type::class(ClassId::FLOAT_BOX)),
        Op::BoxBool => rules.puts(Type::class(ClassId::BOOL_BOX)),
        Op::Length
        | Op::GetByte
        | Op::PutByte
        | Op::GetWord
        | Op::PutWord
        | Op::GetElem
        | Op::PutElem
        | Op::Unset => rules.element(),
        Op::Call | Op::CallVirtual | Op::CallInterface | Op::CallNative => rules.call(),
        Op::Return | Op::ReturnUnit => rules.returns(),
        Op::Throw => rules.throw(),
        // All others: the kinds of their operands say everything.
        _ => {}
    }
}

impl Rules<'_, '_> {
    fn ty(&self, register: u16) -> Type {
        self.function.registers[register as usize]
    }

    fn a(&self) -> Type {
        self.ty(self.i.a)
    }

    fn b(&self) -> Type {
        self.ty(self.i.b)
    }

    #[cold]
    fn error(&mut self, invariant: Invariant, message: impl Into<String>) {
        self.v.error(invariant, self.pc, message);
    }

    /// T1: register a takes values of the type.
    fn puts(&mut self, ty: Type) {
        if !self.v.fits(ty, self.a()) {
            let message =
                format!("{} does not fit r{} of type {}", self.v.name(ty), self.i.a, self.v.name(self.a()));
            self.error(Invariant::T1, message);
        }
    }

    /// T3: values of register a may be stored where `ty` is expected.
    fn stores(&mut self, ty: Type) {
        if !self.v.fits(self.a(), ty) {
            let message =
                format!("r{} of type {} does not fit {}", self.i.a, self.v.name(self.a()), self.v.name(ty));
            self.error(Invariant::T3, message);
        }
    }

    fn load_null(&mut self) {
        if !matches!(self.a(), Type::Ref(r) if r.nullable) {
            self.error(Invariant::T2, format!("r{} cannot be null", self.i.a));
        }
    }

    fn new_object(&mut self) {
        let id = ClassId(self.i.bc());
        let class = &self.v.program.classes[id.index()];
        if class.is_abstract || !matches!(class.layout, Layout::Object(_)) {
            self.error(Invariant::T5, format!("`new` cannot make a {}", class.name));
        }
        self.puts(Type::class(id));
    }

    fn new_array(&mut self) {
        let id = ClassId(self.i.x() as u32);
        let class = &self.v.program.classes[id.index()];
        if !matches!(class.layout, Layout::Array(_)) {
            self.error(Invariant::T5, format!("`newarr` cannot make a {}", class.name));
        }
        self.puts(Type::class(id));
    }

    /// The class that a register refers to.
    fn class(&self, register: u16) -> Option<ClassId> {
        match self.ty(register) {
            Type::Ref(RefType { shape: Shape::Class(class), .. }) => Some(class),
            _ => None,
        }
    }

    /// T4, then T1 or T3.
    fn field(&mut self) {
        let class = self.class(self.i.b).map(|id| (id, &self.v.program.classes[id.index()]));
        let Some((id, field)) =
            class.and_then(|(id, class)| Some((id, class.fields().get(self.i.c as usize)?)))
        else {
            let message = format!("r{} of type {} has no fields", self.i.b, self.v.name(self.b()));
            self.error(Invariant::T4, message);
            return;
        };
        if self.i.op == Op::GetField {
            self.puts(field.ty);
            return;
        }
        if id.index() < ClassId::BUILT_IN {
            self.error(Invariant::T4, "fields of boxes do not change");
        }
        if (self.i.op == Op::PutRef) != field.ty.is_ref() {
            let message = format!("`{}` is not for field {}", self.i.op.mnemonic(), field.name);
            self.error(Invariant::T3, message);
        }
        self.stores(field.ty);
    }

    /// The elements of what a register refers to.
    fn elements(&self, register: u16) -> Option<(Element, &Layout)> {
        let class = &self.v.program.classes[self.class(register)?.index()];
        Some((class.element()?, &class.layout))
    }

    /// T6, then T1 or T3.
    fn element(&mut self) {
        let op = self.i.op;
        let array = if op == Op::Unset { self.i.a } else { self.i.b };
        let Some((element, layout)) = self.elements(array) else {
            let message = format!("r{array} of type {} has no elements", self.v.name(self.ty(array)));
            self.error(Invariant::T6, message);
            return;
        };
        let is_array = *layout != Layout::String;
        let right = match (op, element) {
            (Op::Length, _) => true,
            (Op::Unset, _) => is_array,
            (Op::GetByte, Element::Byte | Element::Bool) => true,
            (Op::PutByte, Element::Byte | Element::Bool) => is_array,
            (Op::GetWord, Element::Int | Element::Float) => true,
            (Op::GetWord, Element::Ref(r)) => r.nullable,
            (Op::PutWord, Element::Int | Element::Float) => true,
            (Op::GetElem, Element::Ref(r)) => !r.nullable,
            (Op::PutElem, Element::Ref(_)) => true,
            _ => false,
        };
        if !right {
            let message =
                format!("`{}` is not for r{array} of type {}", op.mnemonic(), self.v.name(self.ty(array)));
            self.error(Invariant::T6, message);
            return;
        }
        match op {
            Op::GetByte | Op::GetWord | Op::GetElem => self.puts(element.value_type()),
            Op::PutByte | Op::PutWord | Op::PutElem => self.stores(element.value_type()),
            _ => {}
        }
    }

    /// T7, T8, T9.
    fn call(&mut self) {
        let i = self.i;
        let Some(callee) = callee(self.v.program, self.function, i) else {
            self.error(Invariant::T7, "the first argument of `callv` refers to no class");
            return;
        };
        match callee {
            Callee::Function(function) => {
                let params = function.registers.iter().take(function.params as usize);
                self.arguments(0, params.copied());
            }
            Callee::Method(signature) => {
                self.receiver();
                self.arguments(1, signature.params.iter().copied());
            }
            Callee::Native(native) if native.is_variadic() => {
                let ty = native.params()[0].ty();
                self.arguments(0, std::iter::repeat_n(ty, i.n as usize));
            }
            Callee::Native(native) => {
                self.arguments(0, native.params().iter().map(|param| param.ty()));
                self.native(native);
            }
        }
        let first = i.args().next().map(|r| self.ty(r.0));
        if let Some(result) = callee.result(first) {
            match self.function.registers.get(i.a as usize) {
                None => self.error(Invariant::O1, format!("there is no register r{}", i.a)),
                Some(&ty) if !self.v.fits(result, ty) => {
                    let message = format!(
                        "the result {} does not fit r{} of type {}",
                        self.v.name(result),
                        i.a,
                        self.v.name(ty)
                    );
                    self.error(Invariant::T8, message);
                }
                Some(_) => {}
            }
        }
    }

    /// The arguments after the first `skip` fit the parameters.
    fn arguments(&mut self, skip: usize, params: impl ExactSizeIterator<Item = Type>) {
        let count = (self.i.n as usize).saturating_sub(skip);
        if count != params.len() {
            self.error(Invariant::T7, format!("{} arguments for {} parameters", count, params.len()));
        }
        for (argument, param) in self.i.args().skip(skip).zip(params) {
            let ty = self.ty(argument.0);
            if !self.v.fits(ty, param) {
                let message = format!(
                    "argument r{} of type {} does not fit {}",
                    argument.0,
                    self.v.name(ty),
                    self.v.name(param)
                );
                self.error(Invariant::T7, message);
            }
        }
    }

    fn receiver(&mut self) {
        let ty = self.i.args().next().map(|r| self.ty(r.0));
        let right = match (self.i.op, ty) {
            (Op::CallVirtual, Some(Type::Ref(r))) => !r.nullable,
            (Op::CallInterface, Some(ty)) => {
                let interface = Shape::Interface(InterfaceId(self.i.c as u32));
                self.v.fits(ty, Type::reference(interface))
            }
            _ => false,
        };
        if !right {
            let ty = ty.map_or("nothing".to_string(), |ty| self.v.name(ty));
            self.error(Invariant::T7, format!("`{}` on {ty}", self.i.op.mnemonic()));
        }
    }

    /// T9: what the signature of a native cannot say.
    fn native(&mut self, native: Native) {
        let args: Vec<u16> = self.i.args().map(|r| r.0).collect();
        let array = |n: usize| match self.elements(*args.get(n)?) {
            Some((element, Layout::Array(_))) => Some(element),
            _ => None,
        };
        let right = match native {
            Native::ArrayCopy => array(0).is_some(),
            Native::ArrayMove => {
                array(0).is_some() && self.class(args[0]) == args.get(2).and_then(|&r| self.class(r))
            }
            Native::FillInt => matches!(array(0), Some(Element::Int | Element::Byte)),
            Native::FillFloat => array(0) == Some(Element::Float),
            Native::FillBool => array(0) == Some(Element::Bool),
            Native::FillRef => match (array(0), args.get(1)) {
                (Some(Element::Ref(r)), Some(&value)) => self.v.fits(self.ty(value), Type::Ref(r)),
                _ => false,
            },
            _ => true,
        };
        if !right {
            self.error(Invariant::T9, format!("the arguments do not suit `{}`", native.name()));
        }
    }

    fn returns(&mut self) {
        let right = match (self.i.op, self.function.result) {
            (Op::ReturnUnit, result) => result.is_none(),
            (_, Some(result)) => self.v.fits(self.a(), result),
            (_, None) => false,
        };
        if !right {
            let result = self.function.result.map_or("nothing".to_string(), |ty| self.v.name(ty));
            self.error(
                Invariant::T10,
                format!("`{}` in a function that returns {result}", self.i.op.mnemonic()),
            );
        }
    }

    fn throw(&mut self) {
        let root = self.v.program.error_root;
        if !root.is_some_and(|root| self.v.fits(self.a(), Type::class(root))) {
            let message = format!("r{} of type {} is not an error", self.i.a, self.v.name(self.a()));
            self.error(Invariant::T11, message);
        }
    }
}
