//! Rules for integers and Booleans. Arithmetic wraps, so sums and products can be regrouped at will; comparisons by size
//! cannot.

use super::{Outcome, Simplifier, become_bool, become_int, become_op};
use crate::ir::{Arith, Cond, ElementKind, Op, Reason, Ty, Value};

/// The value of an operation on constants.
pub(super) fn computed(op: Arith, a: i64, b: i64) -> i64 {
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

impl Simplifier<'_> {
    pub(super) fn arith(&mut self, op: Arith, a: Value, b: Value) -> Outcome {
        use Arith::*;
        let (left, right) = (self.region.int(a), self.region.int(b));
        if let (Some(left), Some(right)) = (left, right) {
            return become_int(computed(op, left, right));
        }
        if left.is_some() && matches!(op, Add | Mul | And | Or | Xor) {
            return become_op(Op::Arith(op), &[b, a]);
        }
        if let Some(right) = right {
            return self.arith_constant(op, a, right);
        }
        if self.is_same(a, b) {
            match op {
                Sub | Xor => return become_int(0),
                And | Or => return Outcome::Value(a),
                _ => {}
            }
        }
        match (op, left) {
            (Shl | Shr | Ushr, Some(0)) => return become_int(0),
            (Shr, Some(-1)) => return become_int(-1),
            _ => {}
        }
        self.regrouped(op, a, b)
    }

    /// With a constant on the right.
    fn arith_constant(&mut self, op: Arith, a: Value, right: i64) -> Outcome {
        use Arith::*;
        match (op, right) {
            (Add | Or | Xor | Shl | Shr | Ushr, 0) | (Mul, 1) | (And, -1) => return Outcome::Value(a),
            (Mul | And, 0) => return become_int(0),
            (Or, -1) => return become_int(-1),
            (Sub, _) => {
                let negative = self.insert_int(right.wrapping_neg());
                return become_op(Op::Arith(Add), &[a, negative]);
            }
            (Mul, -1) => {
                let zero = self.insert_int(0);
                return become_op(Op::Arith(Sub), &[zero, a]);
            }
            // The lowest integer is 2^63 here.
            (Mul, _) if (right as u64).is_power_of_two() => {
                let count = self.insert_int(right.trailing_zeros() as i64);
                return become_op(Op::Arith(Shl), &[a, count]);
            }
            (Shl | Shr | Ushr, _) if !(0..64).contains(&right) => {
                let count = self.insert_int(right & 63);
                return become_op(Op::Arith(op), &[a, count]);
            }
            _ => {}
        }
        // The same operation with a constant below: the two constants are one.
        let Op::Arith(inner) = self.region.op(a) else { return Outcome::Keep };
        let [x, y] = self.region.node(a).args[..] else { return Outcome::Keep };
        if let (Add, Sub, Some(c)) = (op, inner, self.region.int(x)) {
            let sum = self.insert_int(c.wrapping_add(right));
            return become_op(Op::Arith(Sub), &[sum, y]);
        }
        let Some(c) = self.region.int(y) else { return Outcome::Keep };
        let constant = match (op, inner) {
            (Add, Add) | (Mul, Mul) | (And, And) | (Or, Or) | (Xor, Xor) => computed(op, c, right),
            (Mul, Shl) => {
                let factor = self.insert_int(right.wrapping_shl(c as u32));
                return become_op(Op::Arith(Mul), &[x, factor]);
            }
            (Shl, Shl) | (Shr, Shr) | (Ushr, Ushr) if (0..64).contains(&c) => match (op, c + right) {
                (_, count @ 0..64) => count,
                (Shr, _) => 63,
                _ => return become_int(0),
            },
            _ => return Outcome::Keep,
        };
        let constant = self.insert_int(constant);
        become_op(Op::Arith(op), &[x, constant])
    }

    /// Sums and differences of which a part cancels out.
    fn regrouped(&mut self, op: Arith, a: Value, b: Value) -> Outcome {
        let parts = |value: Value| match self.region.op(value) {
            Op::Arith(op) => Some((op, self.region.node(value).args[0], self.region.node(value).args[1])),
            _ => None,
        };
        match (op, parts(a), parts(b)) {
            // c - (x + d), c - (d - y)
            (Arith::Sub, _, Some((Arith::Add, x, d)))
                if let (Some(c), Some(d)) = (self.region.int(a), self.region.int(d)) =>
            {
                let difference = self.insert_int(c.wrapping_sub(d));
                become_op(Op::Arith(Arith::Sub), &[difference, x])
            }
            (Arith::Sub, _, Some((Arith::Sub, d, y)))
                if let (Some(c), Some(d)) = (self.region.int(a), self.region.int(d)) =>
            {
                let difference = self.insert_int(c.wrapping_sub(d));
                become_op(Op::Arith(Arith::Add), &[y, difference])
            }
            // (x + y) - x, (x + y) - y
            (Arith::Sub, Some((Arith::Add, x, y)), _) if self.is_same(x, b) => Outcome::Value(y),
            (Arith::Sub, Some((Arith::Add, x, y)), _) if self.is_same(y, b) => Outcome::Value(x),
            // (x - y) + y, y + (x - y)
            (Arith::Add, Some((Arith::Sub, x, y)), _) if self.is_same(y, b) => Outcome::Value(x),
            (Arith::Add, _, Some((Arith::Sub, x, y))) if self.is_same(y, a) => Outcome::Value(x),
            // a - (a - y)
            (Arith::Sub, _, Some((Arith::Sub, x, y))) if self.is_same(x, a) => Outcome::Value(y),
            // a + (0 - y), a - (0 - y)
            (Arith::Add, _, Some((Arith::Sub, zero, y))) if self.region.int(zero) == Some(0) => {
                become_op(Op::Arith(Arith::Sub), &[a, y])
            }
            (Arith::Add, Some((Arith::Sub, zero, y)), _) if self.region.int(zero) == Some(0) => {
                become_op(Op::Arith(Arith::Sub), &[b, y])
            }
            (Arith::Sub, _, Some((Arith::Sub, zero, y))) if self.region.int(zero) == Some(0) => {
                become_op(Op::Arith(Arith::Add), &[a, y])
            }
            _ => Outcome::Keep,
        }
    }

    /// The divisor is not zero where this is.
    pub(super) fn divide(&mut self, a: Value, b: Value) -> Outcome {
        let (left, right) = (self.region.int(a), self.region.int(b));
        match (left, right) {
            (_, Some(0)) => Outcome::Keep,
            (Some(left), Some(right)) => become_int(left.wrapping_div(right)),
            (Some(0), _) => become_int(0),
            (_, Some(1)) => Outcome::Value(a),
            (_, Some(-1)) => {
                let zero = self.insert_int(0);
                become_op(Op::Arith(Arith::Sub), &[zero, a])
            }
            _ if self.is_same(a, b) => become_int(1),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn remainder(&mut self, a: Value, b: Value) -> Outcome {
        let (left, right) = (self.region.int(a), self.region.int(b));
        match (left, right) {
            (_, Some(0)) => Outcome::Keep,
            (Some(left), Some(right)) => become_int(left.wrapping_rem(right)),
            (Some(0), _) | (_, Some(1 | -1)) => become_int(0),
            _ if self.is_same(a, b) => become_int(0),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn compare(&mut self, cond: Cond, a: Value, b: Value) -> Outcome {
        if self.region.ty(a) == Ty::Bool {
            return self.compare_bools(cond, a, b);
        }
        let (left, right) = (self.region.int(a), self.region.int(b));
        if let (Some(left), Some(right)) = (left, right) {
            return become_bool(cond.holds(left, right));
        }
        if left.is_some() {
            return become_op(Op::Compare(cond.swapped()), &[b, a]);
        }
        if self.is_same(a, b) {
            return become_bool(cond.holds(0, 0));
        }
        match right {
            Some(right) => self.compare_constant(cond, a, b, right),
            None => self.compare_checked(cond, a, b),
        }
    }

    fn compare_constant(&mut self, cond: Cond, a: Value, b: Value, right: i64) -> Outcome {
        use Cond::*;
        match (cond, right) {
            (Lt, i64::MIN) | (Gt, i64::MAX) | (ULt, 0) | (UGt, -1) => return become_bool(false),
            (Ge, i64::MIN) | (Le, i64::MAX) | (UGe, 0) | (ULe, -1) => return become_bool(true),
            (ULe, 0) => return become_op(Op::Compare(Eq), &[a, b]),
            (UGt, 0) => return become_op(Op::Compare(Ne), &[a, b]),
            _ => {}
        }
        if self.is_never_negative(a, 4) {
            match (cond, right) {
                (Lt | Le | Eq, ..0) | (Lt, 0) => return become_bool(false),
                (Gt | Ge | Ne, ..0) | (Ge, 0) => return become_bool(true),
                _ => {}
            }
        }
        // Equations can be solved, for all wraps around.
        if let (Eq | Ne, Op::Arith(op)) = (cond, self.region.op(a))
            && let [x, y] = self.region.node(a).args[..]
        {
            match (op, self.region.int(y)) {
                (Arith::Add, Some(c)) => {
                    let solution = self.insert_int(right.wrapping_sub(c));
                    return become_op(Op::Compare(cond), &[x, solution]);
                }
                (Arith::Xor, Some(c)) => {
                    let solution = self.insert_int(right ^ c);
                    return become_op(Op::Compare(cond), &[x, solution]);
                }
                (Arith::Sub | Arith::Xor, _) if right == 0 => return become_op(Op::Compare(cond), &[x, y]),
                _ => {}
            }
        }
        Outcome::Keep
    }

    /// An index against the length that it was checked with.
    fn compare_checked(&mut self, cond: Cond, a: Value, b: Value) -> Outcome {
        let is_inside = |index: Value, length: Value| {
            self.region.op(index) == Op::CheckBounds && self.is_same(self.region.node(index).args[1], length)
        };
        use Cond::*;
        match cond {
            Lt | Le | ULt | ULe | Ne if is_inside(a, b) => become_bool(true),
            Gt | Ge | UGt | UGe | Eq if is_inside(a, b) => become_bool(false),
            Gt | Ge | UGt | UGe | Ne if is_inside(b, a) => become_bool(true),
            Lt | Le | ULt | ULe | Eq if is_inside(b, a) => become_bool(false),
            _ => Outcome::Keep,
        }
    }

    /// Equal, or not equal.
    fn compare_bools(&mut self, cond: Cond, a: Value, b: Value) -> Outcome {
        let is_equal = cond == Cond::Eq;
        match (self.region.bool(a), self.region.bool(b)) {
            (Some(a), Some(b)) => become_bool((a == b) == is_equal),
            (Some(_), None) => become_op(Op::Compare(cond), &[b, a]),
            (None, Some(b)) if b == is_equal => Outcome::Value(a),
            (None, Some(_)) => become_op(Op::Not, &[a]),
            (None, None) if a == b => become_bool(is_equal),
            (None, None) => Outcome::Keep,
        }
    }

    pub(super) fn not(&mut self, a: Value) -> Outcome {
        let node = self.region.node(a);
        match node.op {
            Op::Bool(value) => become_bool(!value),
            Op::Not => Outcome::Value(node.args[0]),
            Op::Compare(cond) => Outcome::Become(Op::Compare(cond.negated()), node.args.clone()),
            Op::FloatCompare(cond) => Outcome::Become(Op::FloatCompare(cond.negated()), node.args.clone()),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Outcome {
        if let Some(condition) = self.region.bool(condition) {
            return Outcome::Value(if condition { a } else { b });
        }
        if a == b {
            return Outcome::Value(a);
        }
        if self.region.op(condition) == Op::Not {
            let opposite = self.region.node(condition).args[0];
            return become_op(Op::Select, &[opposite, b, a]);
        }
        match (self.region.bool(a), self.region.bool(b)) {
            (Some(true), Some(false)) => Outcome::Value(condition),
            (Some(false), Some(true)) => become_op(Op::Not, &[condition]),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn check_bounds(&mut self, index: Value, length: Value) -> Outcome {
        let is_again = self.region.op(index) == Op::CheckBounds;
        if is_again && self.is_same(self.region.node(index).args[1], length) {
            return Outcome::Value(index);
        }
        if self.is_same(index, length) {
            return Outcome::Fail;
        }
        match (self.region.int(index), self.region.int(length)) {
            (Some(..0), _) | (_, Some(..=0)) => Outcome::Fail,
            (Some(index), Some(length)) if index >= length => Outcome::Fail,
            (Some(_), Some(_)) => Outcome::Value(index),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn check_divisor(&mut self, a: Value) -> Outcome {
        match (self.region.int(a), self.region.op(a)) {
            (Some(0), _) => Outcome::Fail,
            (Some(_), _) | (_, Op::CheckDivisor) => Outcome::Value(a),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn check_length(&mut self, a: Value) -> Outcome {
        match self.region.int(a) {
            Some(..0) => Outcome::Fail,
            _ if self.is_never_negative(a, 4) => Outcome::Value(a),
            _ => Outcome::Keep,
        }
    }

    pub(super) fn guard(&mut self, expected: bool, reason: Reason, a: Value) -> Outcome {
        match (self.region.op(a), self.region.bool(a)) {
            (_, Some(value)) if value == expected => Outcome::Remove,
            (_, Some(_)) => Outcome::Fail,
            (Op::Not, _) => become_op(Op::Guard(!expected, reason), &[self.region.node(a).args[0]]),
            _ => Outcome::Keep,
        }
    }

    /// Whatever the operands are, the value is not negative. Looks `depth` definitions far.
    fn is_never_negative(&self, value: Value, depth: u32) -> bool {
        let node = self.region.node(value);
        let is = |arg: usize| depth > 0 && self.is_never_negative(node.args[arg], depth - 1);
        match node.op {
            Op::Int(value) => value >= 0,
            Op::Length | Op::CheckBounds | Op::CheckLength | Op::LoadElement(ElementKind::Byte) => true,
            Op::Arith(Arith::And) => is(0) || is(1),
            Op::Arith(Arith::Or | Arith::Xor) => is(0) && is(1),
            Op::Arith(Arith::Shr) => is(0),
            Op::Arith(Arith::Ushr) => {
                is(0) || self.region.int(node.args[1]).is_some_and(|count| count & 63 != 0)
            }
            Op::CheckDivisor | Op::Rem => is(0),
            Op::Select => is(1) && is(2),
            _ => false,
        }
    }
}
