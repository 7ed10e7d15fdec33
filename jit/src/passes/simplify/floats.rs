//! Rules for floats: only those that are exact for every value. `x + 0` is not `x` (of -0), `x - x` is not 0 (of infinity);
//! but `x * 1`, `x / 1`, `x - 0` and `x + -0` are `x`.

use super::{Outcome, Simplifier, become_bool, become_int, become_op};
use crate::ir::{FloatArith, FloatCond, FloatUnary, Op, Ty, Value};
use holloway_bytecode::Native;

/// The one NaN whose bits programs can see.
const NAN: u64 = 0x7ff8_0000_0000_0000;

fn bits(value: f64) -> u64 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

fn become_float(value: f64) -> Outcome {
    become_op(Op::Float(bits(value)), &[])
}

impl Simplifier<'_> {
    /// The constant that a value is.
    fn float(&self, value: Value) -> Option<f64> {
        match self.region.op(value) {
            Op::Float(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// What a value is the negative of.
    fn negated(&self, value: Value) -> Option<Value> {
        let node = self.region.node(value);
        (node.op == Op::FloatUnary(FloatUnary::Neg)).then(|| node.args[0])
    }

    pub(super) fn float_arith(&mut self, op: FloatArith, a: Value, b: Value) -> Outcome {
        use FloatArith::*;
        let (left, right) = (self.float(a), self.float(b));
        if let (Some(left), Some(right)) = (left, right) {
            return become_float(match op {
                Add => left + right,
                Sub => left - right,
                Mul => left * right,
                Div => left / right,
            });
        }
        if left.is_some() && matches!(op, Add | Mul) {
            return become_op(Op::FloatArith(op), &[b, a]);
        }
        let is = |constant: Option<f64>, value: f64| constant.is_some_and(|c| c.to_bits() == value.to_bits());
        match op {
            Add if is(right, -0.0) => return Outcome::Value(a),
            Sub if is(right, 0.0) => return Outcome::Value(a),
            Sub if is(left, -0.0) => return become_op(Op::FloatUnary(FloatUnary::Neg), &[b]),
            Mul | Div if is(right, 1.0) => return Outcome::Value(a),
            Mul | Div if is(right, -1.0) => return become_op(Op::FloatUnary(FloatUnary::Neg), &[a]),
            Div => {
                if let Some(reciprocal) = right.and_then(exact_reciprocal) {
                    let reciprocal = self.insert(Op::Float(reciprocal.to_bits()), &[], Ty::Float);
                    return become_op(Op::FloatArith(Mul), &[a, reciprocal]);
                }
            }
            _ => {}
        }
        match (op, self.negated(a), self.negated(b)) {
            (Add, _, Some(y)) => become_op(Op::FloatArith(Sub), &[a, y]),
            (Add, Some(x), _) => become_op(Op::FloatArith(Sub), &[b, x]),
            (Sub, _, Some(y)) => become_op(Op::FloatArith(Add), &[a, y]),
            (Mul | Div, Some(x), Some(y)) => become_op(Op::FloatArith(op), &[x, y]),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn float_unary(&mut self, op: FloatUnary, a: Value) -> Outcome {
        use FloatUnary::*;
        if let Some(value) = self.float(a) {
            return become_float(match op {
                Neg => -value,
                Abs => value.abs(),
                Sqrt => value.sqrt(),
                Floor => value.floor(),
                Ceil => value.ceil(),
            });
        }
        let below = self.region.node(a);
        match (op, below.op) {
            (Neg, Op::FloatUnary(Neg)) => Outcome::Value(below.args[0]),
            (Abs, Op::FloatUnary(Neg)) => become_op(Op::FloatUnary(Abs), &[below.args[0]]),
            (Abs, Op::FloatUnary(Abs)) => Outcome::Value(a),
            // Whole already.
            (Floor | Ceil, Op::IntToFloat | Op::FloatUnary(Floor | Ceil)) => Outcome::Value(a),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn float_compare(&mut self, cond: FloatCond, a: Value, b: Value) -> Outcome {
        match (self.float(a), self.float(b)) {
            (Some(left), Some(right)) => become_bool(cond.holds(left, right)),
            // Nothing is less than itself.
            _ if a == b && cond == FloatCond::Lt => become_bool(false),
            _ if a == b && cond == FloatCond::Nlt => become_bool(true),
            _ => Outcome::Keep,
        }
    }

    /// Between integers and floats.
    pub(super) fn convert(&mut self, op: Op, a: Value) -> Outcome {
        let below = self.region.node(a);
        match (op, below.op) {
            (Op::IntToFloat, Op::Int(value)) => become_float(value as f64),
            (Op::FloatToInt, Op::Float(bits)) => become_int(f64::from_bits(bits) as i64),
            (Op::FloatBits, Op::Float(value)) => become_int(bits(f64::from_bits(value)) as i64),
            (Op::FloatFromBits, Op::Int(bits)) => become_op(Op::Float(bits as u64), &[]),
            (Op::FloatFromBits, Op::FloatBits) => Outcome::Value(below.args[0]),
            _ => Outcome::Keep,
        }
    }

    /// Natives that are exact on every machine; of the others only the machine that runs the program knows the value.
    pub(super) fn native(&mut self, native: Native, args: &[Value]) -> Outcome {
        let constants: Vec<f64> = args.iter().map_while(|&arg| self.float(arg)).collect();
        match (native, &constants[..]) {
            (Native::Floor, &[x]) => become_float(x.floor()),
            (Native::Ceil, &[x]) => become_float(x.ceil()),
            (Native::Round, &[x]) => become_float(x.round()),
            (Native::FloatRem, &[x, y]) => become_float(x % y),
            _ => Outcome::Keep,
        }
    }
}

/// One over a power of two, if that is a normal number, too: then dividing by the one and multiplying by the other
/// is the same for every value.
fn exact_reciprocal(value: f64) -> Option<f64> {
    const FRACTION: u64 = (1 << 52) - 1;
    let reciprocal = 1.0 / value;
    let is_power = value.is_normal() && value.to_bits() & FRACTION == 0;
    (is_power && reciprocal.is_normal()).then_some(reciprocal)
}
