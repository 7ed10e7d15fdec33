//! Loads and stores at random: fields, elements of arrays, and words of bytes.

use super::Generator;
use holloway_jit::ir::{Arith, ElementKind, Op, Ty, Value};

impl Generator<'_> {
    /// Reads or writes a field.
    pub(super) fn field(&mut self) {
        let world = self.world;
        if self.random.once_in(4) {
            let Some(circle) = self.of_class(world.circle, false) else { return };
            let (class, field) = self.random.pick(&[(world.shape, 0), (world.circle, 1)]);
            if self.random.once_in(2) {
                self.add(Op::LoadField(class, field), &[circle], Ty::Int);
            } else {
                let value = self.int();
                self.add(Op::StoreField(class, field), &[circle, value], Ty::None);
            }
            return;
        }
        let Some(point) = self.of_class(world.point, false) else { return };
        match self.random.below(7) {
            field @ 0..=1 => {
                self.add(Op::LoadField(world.point, field as u16), &[point], Ty::Int);
            }
            field @ 2..=3 => {
                let value = self.int();
                self.add(Op::StoreField(world.point, field as u16 - 2), &[point, value], Ty::None);
            }
            4 => {
                let value = self.add(Op::LoadField(world.point, 0), &[point], Ty::Int);
                let one = self.int();
                let sum = self.add(Op::Arith(Arith::Add), &[value, one], Ty::Int);
                self.add(Op::StoreField(world.point, 0), &[point, sum], Ty::None);
            }
            5 => {
                self.add(Op::LoadField(world.point, 2), &[point], self.point(true));
            }
            _ => {
                let Some(value) = self.of_class(world.point, true) else { return };
                self.add(Op::StoreRefField(world.point, 2), &[point, value], Ty::None);
            }
        }
    }

    /// Something that is likely an index.
    pub(super) fn index(&mut self) -> Value {
        match self.random.below(5) {
            0 => self.int(),
            1 => {
                let constant = self.random.below(4) as i64;
                self.add(Op::Int(constant), &[], Ty::Int)
            }
            2 => {
                let value = self.int();
                self.with_constant(Arith::And, value, 3)
            }
            _ => self.some(|ty| ty == Ty::Int).expect("an integer"),
        }
    }

    /// Reads or writes an element.
    pub(super) fn element(&mut self) {
        let world = self.world;
        let kinds = [
            (world.ints, ElementKind::Int),
            (world.ints, ElementKind::Int),
            (world.bytes, ElementKind::Byte),
            (world.bytes, ElementKind::Word),
            (world.points, ElementKind::Ref),
        ];
        let (class, kind) = self.random.pick(&kinds);
        let (Some(array), index) = (self.of_class(class, false), self.index()) else { return };
        let length = self.add(Op::Length, &[array], Ty::Int);
        let index = self.add_with_state(Op::CheckBounds, &[index, length], Ty::Int);
        let mut place = vec![array, index];
        if kind == ElementKind::Word {
            let last = self.with_constant(Arith::Add, index, 7);
            place.push(self.add_with_state(Op::CheckBounds, &[last, length], Ty::Int));
        }
        if !self.random.once_in(3) {
            let ty = if kind == ElementKind::Ref { self.point(true) } else { Ty::Int };
            self.add(Op::LoadElement(kind), &place, ty);
            return;
        }
        let value = match kind {
            ElementKind::Ref => self.of_class(world.point, true),
            _ => Some(self.int()),
        };
        if let Some(value) = value {
            self.add(Op::StoreElement(kind), &[array, index, value], Ty::None);
        }
    }
}
