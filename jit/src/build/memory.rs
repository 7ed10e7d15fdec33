//! Instructions on objects, arrays and globals.

use super::{BuildError, Builder, Built};
use crate::ir::{Arith, ElementKind, Op, Ty, Value};
use holloway_bytecode::code::Instruction;
use holloway_bytecode::{ClassId, Element, GlobalId, Op as Code, Program, Shape, Type};
use smallvec::SmallVec;

/// The class that declares a field of another one first: itself or one that it extends.
pub fn declaring_class(program: &Program, class: ClassId, field: u16) -> ClassId {
    let mut declaring = class;
    while let Some(above) = program.classes[declaring.index()].superclass
        && (field as usize) < program.classes[above.index()].fields().len()
    {
        declaring = above;
    }
    declaring
}

impl Builder<'_, '_> {
    pub(super) fn memory(&mut self, i: &Instruction<'_>) -> Built<()> {
        use Code::*;
        match i.op {
            New => {
                let class = ClassId(i.bc());
                let object = self.allocate(Op::New(class), &[], class)?;
                self.set(i.a, object);
            }
            BoxInt => self.make_box(ClassId::INT_BOX, i)?,
            BoxFloat => self.make_box(ClassId::FLOAT_BOX, i)?,
            BoxBool => self.make_box(ClassId::BOOL_BOX, i)?,
            NewArray => {
                let class = ClassId(i.x() as u32);
                let length = self.get(i.b)?;
                let length = self.check(Op::CheckLength, &[length], Ty::Int)?;
                let array = self.allocate(Op::NewArray(class), &[length], class)?;
                self.set(i.a, array);
            }
            GetField => self.get_field(i)?,
            PutField | PutRef => self.put_field(i)?,
            Length => {
                let length = self.unary(Op::Length, i.b, Ty::Int)?;
                self.set(i.a, length);
            }
            GetByte | GetWord | GetElem => self.get_element(i)?,
            PutByte | PutWord | PutElem => {
                let value = self.get(i.a)?;
                self.put_element(i.b, i.c, value)?;
            }
            Unset => self.unset(i)?,
            // All others are somebody else's.
            _ => return Err(BuildError::Unassigned),
        }
        Ok(())
    }

    fn allocate(&mut self, op: Op, args: &[Value], class: ClassId) -> Built<Value> {
        let state = self.before()?;
        Ok(self.emit_with(op, args, Ty::exactly(class), Some(state)))
    }

    fn make_box(&mut self, class: ClassId, i: &Instruction<'_>) -> Built<()> {
        let value = self.get(i.b)?;
        let object = self.allocate(Op::New(class), &[], class)?;
        self.emit(Op::StoreField(class, 0), &[object, value], Ty::None);
        self.set(i.a, object);
        Ok(())
    }

    /// A global; those that may not be null are checked.
    pub(super) fn load_global(&mut self, global: GlobalId) -> Built<Value> {
        let ty = self.program.globals[global.index()].ty;
        let value = self.emit(Op::LoadGlobal(global), &[], Ty::of(ty.nullable()));
        match ty {
            Type::Ref(r) if !r.nullable => self.check(Op::CheckSet, &[value], Ty::of(ty)),
            _ => Ok(value),
        }
    }

    /// The class that the type of a register names.
    fn class_of(&self, register: u16) -> Built<ClassId> {
        match self.function.registers[register as usize] {
            Type::Ref(r) => match r.shape {
                Shape::Class(class) => Ok(class),
                _ => Err(BuildError::Unassigned),
            },
            _ => Err(BuildError::Unassigned),
        }
    }

    /// The field that an instruction names, and its type.
    fn field(&self, i: &Instruction<'_>) -> Built<(ClassId, Type)> {
        let class = self.class_of(i.b)?;
        let field =
            self.program.classes[class.index()].fields().get(i.c as usize).ok_or(BuildError::Unassigned)?;
        Ok((declaring_class(self.program, class, i.c), field.ty))
    }

    fn get_field(&mut self, i: &Instruction<'_>) -> Built<()> {
        let (class, ty) = self.field(i)?;
        let value = self.unary(Op::LoadField(class, i.c), i.b, Ty::of(ty))?;
        self.set(i.a, value);
        Ok(())
    }

    fn put_field(&mut self, i: &Instruction<'_>) -> Built<()> {
        let (class, _) = self.field(i)?;
        let args = [self.get(i.b)?, self.get(i.a)?];
        // That null needs no barrier, and what a new object gets neither, is seen later: see `stores`.
        let op = match i.op {
            Code::PutRef => Op::StoreRefField(class, i.c),
            _ => Op::StoreField(class, i.c),
        };
        self.emit(op, &args, Ty::None);
        Ok(())
    }

    fn element(&self, array: u16) -> Built<Element> {
        let class = self.class_of(array)?;
        self.program.classes[class.index()].element().ok_or(BuildError::Unassigned)
    }

    /// The array in a register and an index known to be inside.
    fn place(&mut self, array: u16, index: u16) -> Built<[Value; 2]> {
        let (array, index) = (self.get(array)?, self.get(index)?);
        Ok([array, self.inside(array, index)?])
    }

    /// The index, known to be inside of the array.
    fn inside(&mut self, array: Value, index: Value) -> Built<Value> {
        let length = self.emit(Op::Length, &[array], Ty::Int);
        self.check(Op::CheckBounds, &[index, length], Ty::Int)
    }

    fn get_element(&mut self, i: &Instruction<'_>) -> Built<()> {
        let element = self.element(i.b)?;
        let place = self.place(i.b, i.c)?;
        let ty = element.value_type();
        let mut value = self.emit(Op::LoadElement(ElementKind::of(element)), &place, Ty::of(ty.nullable()));
        if i.op == Code::GetElem {
            value = self.check(Op::CheckSet, &[value], Ty::of(ty))?;
        }
        self.set(i.a, value);
        Ok(())
    }

    fn put_element(&mut self, array: u16, index: u16, value: Value) -> Built<()> {
        let kind = ElementKind::of(self.element(array)?);
        let [array, index] = self.place(array, index)?;
        self.emit(Op::StoreElement(kind), &[array, index, value], Ty::None);
        Ok(())
    }

    /// Eight bytes of an array are one load or store. The first and the last must be inside; what is wrong if they are not, the interpreter finds.
    pub(super) fn word_of_bytes(&mut self, i: &Instruction<'_>) -> Built<()> {
        let registers: SmallVec<[u16; 3]> = i.args().map(|register| register.0).collect();
        let &[array, at, ref stored @ ..] = registers.as_slice() else { return Err(BuildError::Unassigned) };
        let [array, first] = self.place(array, at)?;
        let seven = self.int(7);
        let last = self.emit(Op::Arith(Arith::Add), &[first, seven], Ty::Int);
        let last = self.inside(array, last)?;
        match *stored {
            [] => {
                let word = self.emit(Op::LoadElement(ElementKind::Word), &[array, first, last], Ty::Int);
                self.set(i.a, word);
            }
            [stored, ..] => {
                let word = self.get(stored)?;
                self.emit(Op::StoreElement(ElementKind::Word), &[array, first, word], Ty::None);
            }
        }
        Ok(())
    }

    fn unset(&mut self, i: &Instruction<'_>) -> Built<()> {
        let element = self.element(i.a)?;
        let zero = match element {
            Element::Byte | Element::Int => self.int(0),
            Element::Bool => self.emit(Op::Bool(false), &[], Ty::Bool),
            Element::Float => self.emit(Op::Float(0), &[], Ty::Float),
            Element::Ref(_) => self.emit(Op::Null, &[], Ty::of(element.value_type().nullable())),
        };
        self.put_element(i.a, i.b, zero)
    }
}
