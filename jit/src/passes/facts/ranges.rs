//! Bounds of an integer that follow from the operation that computes it, and from those of its operands.

use super::Facts;
use super::relations::Term;
use crate::ir::{Arith, ElementKind, Op, Value};

/// No array has more elements: no object is larger than what a process can address.
pub const MOST_ELEMENTS: i64 = 1 << 47;

/// From a number to another one, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The least.
    pub low: i64,
    /// The greatest.
    pub high: i64,
}

impl Range {
    /// All integers.
    pub const ALL: Range = Range { low: i64::MIN, high: i64::MAX };

    /// Only this one.
    pub fn only(constant: i64) -> Range {
        Range { low: constant, high: constant }
    }

    fn of(low: i128, high: i128) -> Range {
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) => Range { low, high },
            // It may wrap.
            _ => Range::ALL,
        }
    }

    fn around(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The least range with the results of an operation on the ends of two, if that grows and falls steadily.
    fn corners(self, other: Range, with: impl Fn(i128, i128) -> i128) -> Range {
        let ends =
            [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        let ends = ends.map(|(a, b)| with(a as i128, b as i128));
        Range::of(ends.into_iter().min().unwrap_or(0), ends.into_iter().max().unwrap_or(0))
    }
}

/// How far operands are followed.
const DEPTH: u32 = 4;

impl Facts<'_> {
    /// The range of a value, or none for zero.
    pub fn range(&self, value: Option<Value>) -> Range {
        value.map_or(Range::only(0), |value| self.range_within(value, DEPTH))
    }

    /// The range of a term; `None` if it may wrap.
    pub(super) fn range_of(&self, (value, add): Term) -> Option<Range> {
        let Range { low, high } = self.range(value);
        Some(Range { low: low.checked_add(add)?, high: high.checked_add(add)? })
    }

    fn range_within(&self, value: Value, depth: u32) -> Range {
        let node = self.region.node(self.root(value));
        if let Op::Int(constant) = node.op {
            return Range::only(constant);
        }
        if depth == 0 {
            return Range::ALL;
        }
        let arg = |position: usize| self.range_within(node.args[position], depth - 1);
        match node.op {
            Op::Length => Range { low: 0, high: MOST_ELEMENTS },
            Op::LoadElement(ElementKind::Byte) => Range { low: 0, high: 255 },
            Op::Arith(arith) => arith_range(arith, arg(0), arg(1)),
            Op::Rem => {
                let (a, b) = (arg(0), arg(1));
                // Nearer to zero than the divisor, no farther than the dividend, with its sign.
                let most =
                    b.low.unsigned_abs().max(b.high.unsigned_abs()).saturating_sub(1).min(i64::MAX as u64)
                        as i64;
                let low = if a.low >= 0 { 0 } else { a.low.max(-most) };
                let high = if a.high <= 0 { 0 } else { a.high.min(most) };
                Range { low, high }
            }
            Op::Div => {
                let (a, b) = (arg(0), arg(1));
                if b.low >= 1 { a.corners(b, |a, b| a / b) } else { Range::ALL }
            }
            Op::Select => arg(1).around(arg(2)),
            _ => Range::ALL,
        }
    }
}

fn arith_range(arith: Arith, a: Range, b: Range) -> Range {
    match arith {
        Arith::Add => Range::of(a.low as i128 + b.low as i128, a.high as i128 + b.high as i128),
        Arith::Sub => Range::of(a.low as i128 - b.high as i128, a.high as i128 - b.low as i128),
        Arith::Mul => a.corners(b, |a, b| a * b),
        Arith::And if a.low >= 0 && b.low >= 0 => Range { low: 0, high: a.high.min(b.high) },
        Arith::And if a.low >= 0 => Range { low: 0, high: a.high },
        Arith::And if b.low >= 0 => Range { low: 0, high: b.high },
        // As many bits as the longer one has.
        Arith::Or | Arith::Xor if a.low >= 0 && b.low >= 0 => {
            let bits = 64 - (a.high | b.high).leading_zeros();
            Range { low: 0, high: if bits >= 63 { i64::MAX } else { (1 << bits) - 1 } }
        }
        Arith::Shl if b.low == b.high => a.corners(Range::only(1), |a, _| a << (b.low & 63)),
        Arith::Shr if b.low == b.high => a.corners(Range::only(1), |a, _| a >> (b.low & 63)),
        Arith::Ushr if b.low == b.high && b.low & 63 != 0 => {
            let count = b.low & 63;
            if a.low >= 0 {
                Range { low: a.low >> count, high: a.high >> count }
            } else {
                Range { low: 0, high: (u64::MAX >> count) as i64 }
            }
        }
        _ => Range::ALL,
    }
}
