//! A naive evaluator of regions: the twin of all passes. It knows integers, floats, Booleans and globals, and follows
//! control; what can be seen from outside is what it reports.

use holloway_jit::ir::{
    Arith, FloatArith, FloatUnary, Op, Reason, Region, StateId, Target, Terminator, Value,
};
use std::collections::BTreeMap;

/// A value. Floats are compared as programs see them: all NaNs are the same.
#[derive(Clone, Copy, Debug)]
pub enum Datum {
    Int(i64),
    Float(f64),
    Bool(bool),
    Nothing,
}

impl PartialEq for Datum {
    fn eq(&self, other: &Datum) -> bool {
        match (*self, *other) {
            (Datum::Int(a), Datum::Int(b)) => a == b,
            (Datum::Float(a), Datum::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Datum::Bool(a), Datum::Bool(b)) => a == b,
            (Datum::Nothing, Datum::Nothing) => true,
            _ => false,
        }
    }
}

/// What the interpreter would find in its frames: place, register, value.
pub type Frames = Vec<(u32, u16, Datum)>;

/// Something that can be seen from outside.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    Yieldpoint(Frames, BTreeMap<u32, Datum>),
    Deopt(Reason, Frames, BTreeMap<u32, Datum>),
    Return(Datum, BTreeMap<u32, Datum>),
}

/// What happens when a region runs with these arguments; `None` if it takes more than `fuel` nodes.
pub fn evaluate(region: &Region, arguments: &[Datum], mut fuel: usize) -> Option<Vec<Event>> {
    let mut machine = Machine {
        region,
        arguments,
        values: vec![Datum::Nothing; region.nodes.len()],
        globals: (0..2).map(|global| (global, Datum::Int(global as i64))).collect(),
        events: Vec::new(),
    };
    let mut block = Region::ENTRY;
    loop {
        for &value in &region.block(block).nodes {
            fuel = fuel.checked_sub(1)?;
            if !machine.node(value) {
                return Some(machine.events);
            }
        }
        fuel = fuel.checked_sub(1)?;
        let target = match &region.block(block).end {
            Terminator::Open => panic!("an open block"),
            Terminator::Jump(target) => target,
            Terminator::Branch { condition, then, otherwise, .. } => {
                if machine.bool(*condition) {
                    then
                } else {
                    otherwise
                }
            }
            Terminator::Switch { value, low, cases, default, .. } => {
                // As in the interpreter, cases may go on past the highest integer.
                let case = machine.int(*value).wrapping_sub(*low) as u64;
                usize::try_from(case).ok().and_then(|case| cases.get(case)).unwrap_or(default)
            }
            Terminator::Return(value) => {
                let result = value.map_or(Datum::Nothing, |value| machine.values[value.index()]);
                machine.events.push(Event::Return(result, machine.globals));
                return Some(machine.events);
            }
            Terminator::Deopt(reason, state) => {
                machine.deopt(*reason, *state);
                return Some(machine.events);
            }
        };
        block = target.block;
        machine.enter(target);
    }
}

struct Machine<'a> {
    region: &'a Region,
    arguments: &'a [Datum],
    values: Vec<Datum>,
    globals: BTreeMap<u32, Datum>,
    events: Vec<Event>,
}

impl Machine<'_> {
    fn enter(&mut self, target: &Target) {
        let args: Vec<Datum> = target.args.iter().map(|arg| self.values[arg.index()]).collect();
        for (param, arg) in self.region.block(target.block).params.iter().zip(args) {
            self.values[param.index()] = arg;
        }
    }

    fn int(&self, value: Value) -> i64 {
        match self.values[value.index()] {
            Datum::Int(value) => value,
            other => panic!("v{} is {other:?}", value.0),
        }
    }

    fn float(&self, value: Value) -> f64 {
        match self.values[value.index()] {
            Datum::Float(value) => value,
            other => panic!("v{} is {other:?}", value.0),
        }
    }

    fn bool(&self, value: Value) -> bool {
        match self.values[value.index()] {
            Datum::Bool(value) => value,
            other => panic!("v{} is {other:?}", value.0),
        }
    }

    fn frames(&self, state: StateId) -> Frames {
        let frames = self.region.frames(state);
        let registers = frames.flat_map(|(_, frame)| {
            frame
                .registers
                .iter()
                .map(|&(register, value)| (frame.pc, register.0, self.values[value.index()]))
        });
        registers.collect()
    }

    fn deopt(&mut self, reason: Reason, state: StateId) {
        self.events.push(Event::Deopt(reason, self.frames(state), self.globals.clone()));
    }

    /// Executes a node; false if it leaves.
    fn node(&mut self, value: Value) -> bool {
        let node = self.region.node(value);
        let arg = |number: usize| node.args[number];
        let passes = match node.op {
            Op::CheckBounds => (0..self.int(arg(1))).contains(&self.int(arg(0))),
            Op::CheckDivisor => self.int(arg(0)) != 0,
            Op::CheckLength => self.int(arg(0)) >= 0,
            Op::Guard(expected, _) => self.bool(arg(0)) == expected,
            _ => true,
        };
        if !passes {
            self.deopt(node.op.reason().expect("a check"), node.state.expect("a check's state"));
            return false;
        }
        self.values[value.index()] = match node.op {
            Op::Argument(number) => self.arguments[number as usize],
            Op::Int(value) => Datum::Int(value),
            Op::Float(bits) => Datum::Float(f64::from_bits(bits)),
            Op::Bool(value) => Datum::Bool(value),
            Op::Arith(op) => Datum::Int(arith(op, self.int(arg(0)), self.int(arg(1)))),
            Op::Div => Datum::Int(self.int(arg(0)).wrapping_div(self.int(arg(1)))),
            Op::Rem => Datum::Int(self.int(arg(0)).wrapping_rem(self.int(arg(1)))),
            Op::FloatArith(op) => {
                let (a, b) = (self.float(arg(0)), self.float(arg(1)));
                Datum::Float(match op {
                    FloatArith::Add => a + b,
                    FloatArith::Sub => a - b,
                    FloatArith::Mul => a * b,
                    FloatArith::Div => a / b,
                })
            }
            Op::FloatUnary(op) => {
                let a = self.float(arg(0));
                Datum::Float(match op {
                    FloatUnary::Neg => -a,
                    FloatUnary::Abs => a.abs(),
                    FloatUnary::Sqrt => a.sqrt(),
                    FloatUnary::Floor => a.floor(),
                    FloatUnary::Ceil => a.ceil(),
                })
            }
            Op::IntToFloat => Datum::Float(self.int(arg(0)) as f64),
            Op::FloatToInt => Datum::Int(self.float(arg(0)) as i64),
            Op::FloatBits if self.float(arg(0)).is_nan() => Datum::Int(0x7ff8_0000_0000_0000),
            Op::FloatBits => Datum::Int(self.float(arg(0)).to_bits() as i64),
            Op::FloatFromBits => Datum::Float(f64::from_bits(self.int(arg(0)) as u64)),
            Op::Compare(cond) => Datum::Bool(match self.values[arg(0).index()] {
                Datum::Bool(a) => cond.holds(a as i64, self.bool(arg(1)) as i64),
                _ => cond.holds(self.int(arg(0)), self.int(arg(1))),
            }),
            Op::FloatCompare(cond) => Datum::Bool(cond.holds(self.float(arg(0)), self.float(arg(1)))),
            Op::Not => Datum::Bool(!self.bool(arg(0))),
            Op::Select => self.values[if self.bool(arg(0)) { arg(1) } else { arg(2) }.index()],
            Op::CheckBounds | Op::CheckDivisor | Op::CheckLength => self.values[arg(0).index()],
            Op::Guard(..) => Datum::Nothing,
            Op::LoadGlobal(global) => self.globals[&global.0],
            Op::StoreGlobal(global) => {
                let stored = self.values[arg(0).index()];
                self.globals.insert(global.0, stored);
                Datum::Nothing
            }
            Op::Yieldpoint(_) => {
                let frames = self.frames(node.state.expect("a yieldpoint's state"));
                self.events.push(Event::Yieldpoint(frames, self.globals.clone()));
                // When other code runs here, this code is left.
                Datum::Nothing
            }
            other => panic!("{other:?} is not evaluated"),
        };
        true
    }
}

fn arith(op: Arith, a: i64, b: i64) -> i64 {
    let count = (b & 63) as u32;
    match op {
        Arith::Add => a.wrapping_add(b),
        Arith::Sub => a.wrapping_sub(b),
        Arith::Mul => a.wrapping_mul(b),
        Arith::And => a & b,
        Arith::Or => a | b,
        Arith::Xor => a ^ b,
        Arith::Shl => a << count,
        Arith::Shr => a >> count,
        Arith::Ushr => (a as u64 >> count) as i64,
    }
}
