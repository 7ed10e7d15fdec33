//! Facts on integers: a value compared with another one, or zero, plus a constant. And what a condition implies.

use super::Facts;
use super::ranges::MOST_ELEMENTS;
use super::references::TypeFact;
use crate::ir::{Cond, Op, Ty, Value};

/// How a value relates to `other + offset`, in whole numbers, without wrapping. No `other` means zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relation {
    /// In which way.
    pub kind: Kind,
    /// To what.
    pub other: Option<Value>,
    /// Plus this.
    pub offset: i64,
}

/// In which way two numbers relate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Not more.
    AtMost,
    /// Not less.
    AtLeast,
    /// Not the same.
    NotEqual,
}

/// Something that is known because of something else.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Implied {
    /// On an integer.
    Relation(Value, Relation),
    /// On a reference.
    Reference(Value, TypeFact),
    /// A Boolean.
    Condition(Value, bool),
}

impl Implied {
    /// The relation, if it is one of this integer.
    pub fn about(&self, value: Value) -> Option<Relation> {
        match self {
            Implied::Relation(of, relation) if *of == value => Some(*relation),
            _ => None,
        }
    }
}

/// A value as a root, or none for zero, plus a constant.
pub type Term = (Option<Value>, i64);

/// `value >= constant`.
pub fn at_least(facts: &Facts<'_>, value: Value, constant: i64, implied: &mut Vec<Implied>) {
    less_or_equal((None, constant), facts.term(value), 0, implied);
}

/// `value <= constant`.
pub fn at_most(facts: &Facts<'_>, value: Value, constant: i64, implied: &mut Vec<Implied>) {
    less_or_equal(facts.term(value), (None, constant), 0, implied);
}

/// `value != constant`.
pub fn not_equal(facts: &Facts<'_>, value: Value, constant: i64, implied: &mut Vec<Implied>) {
    different(facts.term(value), (None, constant), implied);
}

/// `a <= b + offset`. What cannot be said without overflow is left out.
pub(super) fn less_or_equal(a: Term, b: Term, offset: i64, implied: &mut Vec<Implied>) {
    let ((a, add_a), (b, add_b)) = (a, b);
    let Some(offset) = offset.checked_add(add_b).and_then(|sum| sum.checked_sub(add_a)) else { return };
    if a == b {
        return;
    }
    if let Some(a) = a {
        implied.push(Implied::Relation(a, Relation { kind: Kind::AtMost, other: b, offset }));
    }
    if let (Some(b), Some(offset)) = (b, offset.checked_neg()) {
        implied.push(Implied::Relation(b, Relation { kind: Kind::AtLeast, other: a, offset }));
    }
}

/// `a != b`.
fn different(a: Term, b: Term, implied: &mut Vec<Implied>) {
    let ((a, add_a), (b, add_b)) = (a, b);
    let mut note = |value: Option<Value>, other: Option<Value>, offset: Option<i64>| {
        if let (Some(value), Some(offset)) = (value, offset)
            && Some(value) != other
        {
            implied.push(Implied::Relation(value, Relation { kind: Kind::NotEqual, other, offset }));
        }
    };
    note(a, b, add_b.checked_sub(add_a));
    note(b, a, add_a.checked_sub(add_b));
}

impl Facts<'_> {
    /// A value as a root plus a constant: constants are zero plus themselves.
    pub fn term(&self, value: Value) -> Term {
        let root = self.root(value);
        match self.region.op(root) {
            Op::Int(constant) => (None, constant),
            _ => (Some(root), 0),
        }
    }

    /// What follows if a condition is true, or false.
    pub fn implied_by(&self, condition: Value, truth: bool, implied: &mut Vec<Implied>) {
        self.implied_within(condition, truth, 4, implied);
    }

    fn implied_within(&self, condition: Value, truth: bool, depth: u32, implied: &mut Vec<Implied>) {
        let condition = self.root(condition);
        implied.push(Implied::Condition(condition, truth));
        let node = self.region.node(condition);
        let root = |position: usize| self.root(node.args[position]);
        match node.op {
            _ if depth == 0 => {}
            Op::Not => self.implied_within(node.args[0], !truth, depth - 1, implied),
            Op::Compare(cond) if self.region.ty(node.args[0]) == Ty::Int => {
                let cond = if truth { cond } else { cond.negated() };
                self.compare(cond, node.args[0], node.args[1], implied);
            }
            Op::Compare(Cond::Eq | Cond::Ne) => {
                // Of Booleans, with a constant.
                let equal = truth == (node.op == Op::Compare(Cond::Eq));
                for (value, other) in [(0, 1), (1, 0)] {
                    if let Some(constant) = self.region.bool(root(other)) {
                        self.implied_within(node.args[value], constant == equal, depth - 1, implied);
                    }
                }
            }
            Op::IsNull => {
                let fact = if truth { TypeFact::Null } else { TypeFact::NotNull };
                implied.push(Implied::Reference(root(0), fact));
            }
            Op::IsInstance(_) | Op::Implements(_) | Op::IsExactly(_) => {
                implied.push(Implied::Reference(root(0), TypeFact::tested(node.op, truth)));
            }
            Op::Select => {
                // `a && b` is `select(a, b, false)`, and `a || b` is `select(a, true, b)`.
                let (yes, no) = (self.region.bool(root(1)), self.region.bool(root(2)));
                if no == Some(false) && truth {
                    self.implied_within(node.args[0], true, depth - 1, implied);
                    self.implied_within(node.args[1], true, depth - 1, implied);
                }
                if yes == Some(true) && !truth {
                    self.implied_within(node.args[0], false, depth - 1, implied);
                    self.implied_within(node.args[2], false, depth - 1, implied);
                }
            }
            _ => {}
        }
    }

    /// What follows from a true comparison of integers.
    pub(super) fn compare(&self, cond: Cond, a: Value, b: Value, implied: &mut Vec<Implied>) {
        let (a, b) = (self.term(a), self.term(b));
        match cond {
            Cond::Lt => less_or_equal(a, b, -1, implied),
            Cond::Le => less_or_equal(a, b, 0, implied),
            Cond::Gt => less_or_equal(b, a, -1, implied),
            Cond::Ge => less_or_equal(b, a, 0, implied),
            Cond::Eq => {
                less_or_equal(a, b, 0, implied);
                less_or_equal(b, a, 0, implied);
            }
            Cond::Ne => different(a, b, implied),
            Cond::ULt => self.compare_unsigned(a, b, -1, implied),
            Cond::ULe => self.compare_unsigned(a, b, 0, implied),
            Cond::UGt => self.compare_unsigned(b, a, -1, implied),
            Cond::UGe => self.compare_unsigned(b, a, 0, implied),
        }
    }

    /// `a <= b + offset` of the unsigned values: if b is not negative, neither is a.
    fn compare_unsigned(&self, a: Term, b: Term, offset: i64, implied: &mut Vec<Implied>) {
        if self.range_of(b).is_some_and(|range| range.low >= 0) {
            less_or_equal(a, b, offset, implied);
            less_or_equal((None, 0), a, 0, implied);
            self.unsigned_sum(a, b, offset, implied);
        }
    }

    /// `0 <= a <= b + offset`, where `a` is a sum with a constant: that is so of whole numbers, too, if `b` and the constant
    /// are too small for a sum that wraps to be there.
    pub(super) fn unsigned_sum(&self, a: Term, b: Term, offset: i64, implied: &mut Vec<Implied>) {
        let is_small = |number: i64| number.unsigned_abs() <= MOST_ELEMENTS as u64;
        if let (Some(value), 0) = a
            && let Some((base, add)) = self.sum(value)
            && self.range_of(b).is_some_and(|range| is_small(range.high))
            && is_small(add)
            && is_small(offset)
        {
            less_or_equal((Some(base), add), b, offset, implied);
            less_or_equal((None, 0), (Some(base), add), 0, implied);
        }
    }
}
