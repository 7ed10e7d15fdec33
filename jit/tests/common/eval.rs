//! Executes regions, slowly and suspiciously: a value that is not of its node's type, an index outside, a division by
//! zero that no check stopped are faults of the region.
//!
//! The region as it was generated is its own bytecode: every frame state names a place in it, and holds all values that exist
//! there. So when another form of the region is left for the interpreter, the original goes on from the place that
//! the state says, with the values that it holds. In the end both must have done the same.
//!
//! A description of an object in a state (`virtual`) is the object itself from then on: it is made when the region is left, once
//! for all that mention it.

use super::machine::{Datum, Machine};
use holloway_bytecode::{Layout, Register};
use holloway_jit::ir::{
    Alias, Arith, BlockId, Cond, ElementKind, FloatArith, FloatUnary, Op, Reason, Region, StateId, StateKind,
    Target, Terminator, Value, YieldKind,
};
use holloway_jit::lower::sharing::Sharing;
use std::collections::BTreeMap;

/// How an execution ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The region returned.
    Returned(Option<Datum>),
    /// Left for the interpreter at a place, with the values of a state.
    Left { reason: Reason, place: Place, registers: Vec<(Register, Datum)> },
    /// It takes too long.
    Endless,
}

/// Where the interpreter goes on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// The instruction.
    pub pc: u32,
    /// It was executed; the register takes what it gave.
    pub result: Option<Option<(Register, Datum)>>,
}

/// An execution.
pub struct Execution<'m, 'a> {
    pub machine: &'m mut Machine<'a>,
    pub region: &'m Region,
    /// The values.
    pub values: Vec<Option<Datum>>,
    /// Leave when the machine's events say so.
    pub leaves: bool,
    /// At which states checks leave, if not at their own.
    pub sharing: Option<Sharing>,
    pub most_steps: u64,
}

impl Execution<'_, '_> {
    /// From the beginning.
    pub fn run(&mut self, arguments: &[Datum]) -> Outcome {
        for (number, node) in self.region.nodes.iter().enumerate() {
            if let Op::Argument(argument) = node.op {
                self.values[number] = Some(arguments[argument as usize]);
            }
        }
        self.go(Region::ENTRY, 0)
    }

    /// From a node of a block.
    pub fn go(&mut self, mut block: BlockId, mut from: usize) -> Outcome {
        loop {
            let nodes = &self.region.block(block).nodes;
            for &value in &nodes[from..] {
                self.machine.steps += 1;
                if self.machine.steps > self.most_steps {
                    return Outcome::Endless;
                }
                if let Some(outcome) = self.step(value) {
                    return outcome;
                }
            }
            from = 0;
            self.machine.steps += 1;
            let target: &Target = match &self.region.block(block).end {
                Terminator::Open => panic!("an open block is executed"),
                Terminator::Jump(target) => target,
                Terminator::Branch { condition, then, otherwise, .. } => {
                    if self.bool(*condition) {
                        then
                    } else {
                        otherwise
                    }
                }
                Terminator::Switch { value, low, cases, default, .. } => {
                    let number = self.int(*value).wrapping_sub(*low);
                    cases.get(usize::try_from(number).unwrap_or(usize::MAX)).unwrap_or(default)
                }
                Terminator::Return(value) => return Outcome::Returned(value.map(|value| self.get(value))),
                Terminator::Deopt(reason, state) => return self.leave(*reason, *state, false),
            };
            let args: Vec<Datum> = target.args.iter().map(|&arg| self.get(arg)).collect();
            block = target.block;
            let params = self.region.block(block).params.clone();
            assert_eq!(params.len(), args.len());
            for (param, arg) in params.into_iter().zip(args) {
                self.set(param, arg);
            }
        }
    }

    fn get(&self, value: Value) -> Datum {
        self.values[value.index()].unwrap_or_else(|| panic!("v{} is used before it is computed", value.0))
    }

    fn set(&mut self, value: Value, datum: Datum) {
        let ty = self.region.ty(value);
        assert!(self.machine.fits(datum, ty), "v{} is {datum:?}, not of its type {ty:?}", value.0);
        self.values[value.index()] = Some(datum);
    }

    fn int(&self, value: Value) -> i64 {
        match self.get(value) {
            Datum::Int(int) => int,
            other => panic!("v{} is {other:?}", value.0),
        }
    }

    fn float(&self, value: Value) -> f64 {
        match self.get(value) {
            Datum::Float(bits) => f64::from_bits(bits),
            other => panic!("v{} is {other:?}", value.0),
        }
    }

    fn bool(&self, value: Value) -> bool {
        match self.get(value) {
            Datum::Bool(truth) => truth,
            other => panic!("v{} is {other:?}", value.0),
        }
    }

    fn object(&self, value: Value) -> Option<usize> {
        match self.get(value) {
            Datum::Ref(object) => object,
            other => panic!("v{} is {other:?}", value.0),
        }
    }

    fn leave(&mut self, reason: Reason, state: StateId, after: bool) -> Outcome {
        let state = self.sharing.as_ref().map_or(state, |sharing| sharing.of_exit(state, reason));
        let state = self.region.state(state);
        assert!(state.caller.is_none());
        assert_eq!(matches!(state.kind, StateKind::During(_)), after && reason == Reason::Invalid);
        let mut made = BTreeMap::new();
        let registers =
            state.registers.iter().map(|&(register, value)| (register, self.rebuilt(value, &mut made)));
        let registers = registers.collect();
        Outcome::Left { reason, place: Place { pc: state.pc, result: after.then_some(None) }, registers }
    }

    /// A value of a state; what it describes is made, if it was not yet.
    fn rebuilt(&mut self, value: Value, made: &mut BTreeMap<Value, Datum>) -> Datum {
        let region = self.region;
        let node = region.node(value);
        let Op::Virtual(class) = node.op else { return self.get(value) };
        if let Some(&datum) = made.get(&value) {
            return datum;
        }
        let parts: Vec<Datum> = node.args.iter().map(|&arg| self.rebuilt(arg, made)).collect();
        let datum = self.machine.new_object(class);
        if let Datum::Ref(Some(object)) = datum {
            assert_eq!(parts.len(), self.machine.objects[object].parts.len());
            self.machine.objects[object].parts = parts;
        }
        made.insert(value, datum);
        datum
    }

    /// An allocation is about to be made: what comes of it if there is no memory.
    fn allocates(&mut self, value: Value) -> Option<Outcome> {
        self.machine.allocations += 1;
        if !self.leaves || self.machine.events.full != Some(self.machine.allocations) {
            return None;
        }
        let state = self.region.node(value).state.expect("a state");
        Some(self.leave(Reason::Memory, state, false))
    }

    /// Executes a node; what comes of it if that ends the execution.
    fn step(&mut self, value: Value) -> Option<Outcome> {
        let node = self.region.node(value).clone();
        let arg = |position: usize| node.args[position];
        let result = match node.op {
            Op::Param => panic!("a parameter among the nodes"),
            Op::Argument(_) | Op::Local(_) => return None,
            // What it is made of may change no more, but it is made only where it is needed.
            Op::Virtual(_) => return None,
            Op::Str(_) | Op::SameText | Op::PureNative(_) | Op::CallVirtual(..) => {
                panic!("not executed here: {:?}", node.op)
            }
            Op::StoreElement(ElementKind::Word) => {
                let word = self.int(arg(2));
                for (byte, part) in word.to_le_bytes().into_iter().zip(self.word(value)) {
                    *part = Datum::Int(byte.into());
                }
                return None;
            }
            Op::LoadElement(ElementKind::Word) => {
                let byte = |part: &mut Datum| match part {
                    Datum::Int(byte) => u8::try_from(*byte).expect("a byte"),
                    other => panic!("{other:?} among bytes"),
                };
                let bytes: Vec<u8> = self.word(value).iter_mut().map(byte).collect();
                Datum::Int(i64::from_le_bytes(bytes.try_into().expect("eight bytes")))
            }
            Op::StoreField(..) | Op::StoreRefField(..) | Op::StoreElement(_) | Op::StoreGlobal(_) => {
                let datum = self.get(*node.args.last().expect("a value"));
                *self.place(value) = match (node.op, datum) {
                    (Op::StoreElement(ElementKind::Byte), Datum::Int(int)) => Datum::Int(int & 255),
                    (_, datum) => datum,
                };
                return None;
            }
            Op::LoadField(..) | Op::LoadElement(_) | Op::LoadGlobal(_) => *self.place(value),
            Op::New(class) => {
                if let Some(outcome) = self.allocates(value) {
                    return Some(outcome);
                }
                self.machine.new_object(class)
            }
            Op::NewArray(class) => {
                if let Some(outcome) = self.allocates(value) {
                    return Some(outcome);
                }
                let length = usize::try_from(self.int(arg(0))).expect("a length that is not negative");
                self.machine.new_array(class, length)
            }
            Op::Call(function) => {
                let args: Vec<Datum> = node.args.iter().map(|&arg| self.get(arg)).collect();
                let result = self.machine.call(function, &args);
                self.set(value, result);
                if self.leaves && self.machine.events.invalid == Some(self.machine.calls) {
                    let state = node.state.expect("a state");
                    let mut outcome = self.leave(Reason::Invalid, state, true);
                    if let (Outcome::Left { place, .. }, StateKind::During(Some(to))) =
                        (&mut outcome, self.region.state(state).kind)
                    {
                        place.result = Some(Some((to, result)));
                    }
                    return Some(outcome);
                }
                return None;
            }
            Op::CallNative(_) | Op::CallInterface(..) => panic!("not executed here: {:?}", node.op),
            Op::Yieldpoint(YieldKind::Header) => return None,
            Op::Yieldpoint(_) => {
                self.machine.yieldpoints += 1;
                if self.machine.events.switch == Some(self.machine.yieldpoints) {
                    let salt = self.machine.yieldpoints + 100;
                    self.machine.disturb(salt);
                    if self.leaves {
                        return Some(self.leave(Reason::Yieldpoint, node.state.expect("a state"), true));
                    }
                }
                return None;
            }
            _ if node.op.is_check() => {
                if !self.passes(value) {
                    let reason = node.op.reason().expect("a reason");
                    return Some(self.leave(reason, node.state.expect("a state"), false));
                }
                if matches!(node.op, Op::Guard(..)) {
                    return None;
                }
                self.get(arg(0))
            }
            Op::Assume => self.get(arg(0)),
            Op::Select => self.get(if self.bool(arg(0)) { arg(1) } else { arg(2) }),
            _ => self.pure(value),
        };
        self.set(value, result);
        None
    }

    /// What a load or store is about.
    fn place(&mut self, access: Value) -> &mut Datum {
        let node = self.region.node(access);
        let alias = node.op.reads().or(node.op.writes()).expect("an access");
        let (number, part) = match alias {
            Alias::Global(global) => return &mut self.machine.globals[global.index()],
            Alias::Field(_, field) => (self.object(node.args[0]), field as usize),
            Alias::Element(_) => {
                let index = self.int(node.args[1]);
                let object = self.object(node.args[0]);
                (object, usize::try_from(index).unwrap_or_else(|_| panic!("v{}: index {index}", access.0)))
            }
        };
        let object = &mut self.machine.objects[number.unwrap_or_else(|| panic!("v{} of null", access.0))];
        let length = object.parts.len();
        object.parts.get_mut(part).unwrap_or_else(|| panic!("v{}: {part} of {length}", access.0))
    }

    /// The bytes that a load or store of a word is about.
    fn word(&mut self, access: Value) -> &mut [Datum] {
        let (array, index) = (self.region.node(access).args[0], self.region.node(access).args[1]);
        let from = usize::try_from(self.int(index)).expect("an index");
        let object = self.object(array).expect("an array");
        &mut self.machine.objects[object].parts[from..from + 8]
    }

    fn passes(&self, check: Value) -> bool {
        let node = self.region.node(check);
        let arg = |position: usize| node.args[position];
        match node.op {
            Op::CheckNull | Op::CheckSet => self.object(arg(0)).is_some(),
            Op::CheckBounds => (0..self.int(arg(1))).contains(&self.int(arg(0))),
            Op::CheckDivisor => self.int(arg(0)) != 0,
            Op::CheckLength => self.int(arg(0)) >= 0,
            Op::CheckCast(class) => self.test(Op::IsInstance(class), arg(0)),
            Op::CheckExactly(class) => self.test(Op::IsExactly(class), arg(0)),
            Op::Guard(expected, _) => self.bool(arg(0)) == expected,
            _ => panic!("not executed here: {:?}", node.op),
        }
    }

    fn test(&self, test: Op, value: Value) -> bool {
        let program = &self.machine.world.program;
        let class = self.object(value).map(|object| self.machine.objects[object].class);
        match test {
            Op::IsInstance(ancestor) => class.is_some_and(|class| program.is_subclass(class, ancestor)),
            Op::IsExactly(exactly) => class.expect("not null") == exactly,
            _ => panic!("not executed here: {test:?}"),
        }
    }

    fn pure(&self, value: Value) -> Datum {
        let node = self.region.node(value);
        let arg = |position: usize| node.args[position];
        let int = |position: usize| self.int(arg(position));
        let float = |position: usize| self.float(arg(position));
        let of_float = |float: f64| Datum::Float(if float.is_nan() { f64::NAN } else { float }.to_bits());
        match node.op {
            Op::Int(constant) => Datum::Int(constant),
            Op::Float(bits) => Datum::Float(bits),
            Op::Bool(constant) => Datum::Bool(constant),
            Op::Null => Datum::Ref(None),
            Op::Arith(op) => Datum::Int(arith(op, int(0), int(1))),
            Op::Div => {
                Datum::Int(int(0).checked_div(int(1)).unwrap_or_else(|| overflow(int(0), int(1), value)))
            }
            Op::Rem => Datum::Int(int(0).checked_rem(int(1)).unwrap_or_else(|| overflow(0, int(1), value))),
            Op::FloatArith(op) => of_float(match op {
                FloatArith::Add => float(0) + float(1),
                FloatArith::Sub => float(0) - float(1),
                FloatArith::Mul => float(0) * float(1),
                FloatArith::Div => float(0) / float(1),
            }),
            Op::FloatUnary(op) => of_float(match op {
                FloatUnary::Neg => -float(0),
                FloatUnary::Abs => float(0).abs(),
                FloatUnary::Sqrt => float(0).sqrt(),
                FloatUnary::Floor => float(0).floor(),
                FloatUnary::Ceil => float(0).ceil(),
            }),
            Op::IntToFloat => of_float(int(0) as f64),
            Op::FloatToInt => Datum::Int(float(0) as i64),
            Op::FloatBits => Datum::Int(float(0).to_bits() as i64),
            Op::FloatFromBits => of_float(f64::from_bits(int(0) as u64)),
            Op::Compare(cond) => match (self.get(arg(0)), self.get(arg(1))) {
                (Datum::Bool(a), Datum::Bool(b)) => Datum::Bool((a == b) == (cond == Cond::Eq)),
                _ => Datum::Bool(cond.holds(int(0), int(1))),
            },
            Op::FloatCompare(cond) => Datum::Bool(cond.holds(float(0), float(1))),
            Op::Same => Datum::Bool(self.object(arg(0)) == self.object(arg(1))),
            Op::IsNull => Datum::Bool(self.object(arg(0)).is_none()),
            Op::Not => Datum::Bool(!self.bool(arg(0))),
            Op::IsInstance(_) | Op::IsExactly(_) => Datum::Bool(self.test(node.op, arg(0))),
            Op::Length => {
                let object = &self.machine.objects[self.object(arg(0)).expect("not null")];
                let layout = &self.machine.world.program.classes[object.class.index()].layout;
                assert!(!matches!(layout, Layout::Object(_)));
                Datum::Int(object.parts.len() as i64)
            }
            _ => panic!("not executed here: {:?}", node.op),
        }
    }
}

/// Of the least number and -1; anything else is a fault.
fn overflow(result: i64, divisor: i64, value: Value) -> i64 {
    assert_eq!(divisor, -1, "v{} divides by zero", value.0);
    result
}

fn arith(op: Arith, a: i64, b: i64) -> i64 {
    match op {
        Arith::Add => a.wrapping_add(b),
        Arith::Sub => a.wrapping_sub(b),
        Arith::Mul => a.wrapping_mul(b),
        Arith::And => a & b,
        Arith::Or => a | b,
        Arith::Xor => a ^ b,
        Arith::Shl => a.wrapping_shl(b as u32),
        Arith::Shr => a.wrapping_shr(b as u32),
        Arith::Ushr => (a as u64).wrapping_shr(b as u32) as i64,
    }
}
