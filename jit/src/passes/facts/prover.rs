//! Is `x <= y + c` at a place? In whole numbers, though the machine's wrap.
//!
//! After Bodik, Gupta and Sarkar, "ABCD: Eliminating Array Bounds Checks on Demand" (PLDI 2000): inequalities are edges of a
//! graph of values, and a proof is a path from `x` to `y` whose sum is not more than `c`. Deviations: facts carry
//! the place from which on they hold, instead of renaming values at branches; parameters of loop headers have facts of their own
//! (see [`super::induction`]) instead of the cycles of that paper; and an addition is an edge only if it is
//! proved that it does not wrap, which that paper, on Java, could leave to its checks on small numbers.
//!
//! Both ends are walked: from `x` upwards, from `y` downwards, over
//!
//! * what is known of the value at the place,
//! * what its operation says: sums with constants, shifts, remainders, selections,
//! * the arguments of a block's parameter, each where it is passed.
//!
//! The search is cut by depth and by a number of steps, and does not try what it failed at before. So a question takes
//! constant time, and *no* means *not found*.

use super::Facts;
use super::relations::{Implied, Kind, Relation};
use crate::ir::{Arith, Op, Region, Value};
use crate::passes::edit::Point;
use holloway_bytecode::cfg::EdgeId;

/// How far a proof may go.
const DEPTH: u32 = 10;

/// How many steps may be tried.
const STEPS: u32 = 200;

/// A question being answered.
struct Query {
    point: Point,
    /// Facts that hold besides: those of the edge that is being taken.
    extra: Vec<Implied>,
    steps: u32,
    /// What was tried at this point.
    tried: Vec<Tried>,
}

/// A question that came up before.
struct Tried {
    x: Option<Value>,
    y: Option<Value>,
    c: i64,
    /// It was answered by yes; otherwise by no, or not yet.
    proved: bool,
}

impl Query {
    fn at(point: Point, extra: Vec<Implied>) -> Query {
        Query { point, extra, steps: STEPS, tried: Vec::new() }
    }
}

impl Facts<'_> {
    /// Is `a <= b + offset` at a point.
    pub fn proves(&self, point: Point, a: Value, b: Value, offset: i64) -> bool {
        let ((a, add_a), (b, add_b)) = (self.term(a), self.term(b));
        let Some(offset) = offset.checked_add(add_b).and_then(|sum| sum.checked_sub(add_a)) else {
            return false;
        };
        self.le(&mut Query::at(point, Vec::new()), a, b, offset, DEPTH)
    }

    /// Is `constant <= a` at a point.
    pub fn proves_at_least(&self, point: Point, a: Value, constant: i64) -> bool {
        let (a, add) = self.term(a);
        let Some(offset) = add.checked_sub(constant) else { return false };
        self.le(&mut Query::at(point, Vec::new()), None, a, offset, DEPTH)
    }

    /// Is `a <= constant` at a point.
    pub fn proves_at_most(&self, point: Point, a: Value, constant: i64) -> bool {
        let (a, add) = self.term(a);
        let Some(offset) = constant.checked_sub(add) else { return false };
        self.le(&mut Query::at(point, Vec::new()), a, None, offset, DEPTH)
    }

    /// Is an index inside of an array at a point.
    pub fn proves_inside(&self, point: Point, index: Value, array: Value) -> bool {
        let array = self.root(array);
        let made_with = match self.region.op(array) {
            Op::NewArray(_) => Some(self.region.node(array).args[0]),
            _ => None,
        };
        let lengths = self.lengths.get(&array).map_or(&[][..], |lengths| lengths);
        // Of a length that is not computed at the point nothing is known there.
        let mut lengths = lengths.iter().copied().chain(made_with);
        self.proves_at_least(point, index, 0) && lengths.any(|length| self.proves(point, index, length, -1))
    }

    /// Is `a == constant` at a point.
    pub fn proves_exactly(&self, point: Point, a: Value, constant: i64) -> bool {
        self.proves_at_least(point, a, constant) && self.proves_at_most(point, a, constant)
    }

    /// Is `a != constant` known at a point.
    pub fn proves_not(&self, point: Point, a: Value, constant: i64) -> bool {
        let (a, add) = self.term(a);
        let (Some(a), Some(offset)) = (a, constant.checked_sub(add)) else { return constant != add };
        let different = Relation { kind: Kind::NotEqual, other: None, offset };
        self.is_related_at(a, point, |relation| relation == different)
    }

    /// Is `a != b` at a point.
    pub fn proves_different(&self, point: Point, a: Value, b: Value) -> bool {
        let (a, b) = (self.term(a), self.term(b));
        let known = |(x, add_x): (Option<Value>, i64), (y, add_y): (Option<Value>, i64)| {
            let (Some(x), Some(offset)) = (x, add_y.checked_sub(add_x)) else { return false };
            let different = Relation { kind: Kind::NotEqual, other: y, offset };
            self.is_related_at(x, point, |relation| relation == different)
        };
        if known(a, b) || known(b, a) {
            return true;
        }
        let less = |(x, add_x): (Option<Value>, i64), (y, add_y): (Option<Value>, i64)| {
            let offset = add_y.checked_sub(add_x).and_then(|offset| offset.checked_sub(1));
            offset.is_some_and(|offset| self.le(&mut Query::at(point, Vec::new()), x, y, offset, DEPTH))
        };
        less(a, b) || less(b, a)
    }

    /// Does a relation hold of a value, or of zero, when control goes along an edge that implies `extra`.
    pub(super) fn proves_on_edge(
        &self,
        edge: EdgeId,
        extra: &[Implied],
        value: Option<Value>,
        relation: Relation,
    ) -> bool {
        let point = Point::end(self.shape.graph.source(edge));
        let mut query = Query::at(point, extra.to_vec());
        let Relation { kind, other, offset } = relation;
        match kind {
            Kind::AtMost => self.le(&mut query, value, other, offset, DEPTH),
            Kind::AtLeast => {
                offset.checked_neg().is_some_and(|offset| self.le(&mut query, other, value, offset, DEPTH))
            }
            Kind::NotEqual => false,
        }
    }

    /// Is `x <= y + c`.
    fn le(&self, query: &mut Query, x: Option<Value>, y: Option<Value>, c: i64, depth: u32) -> bool {
        if x == y {
            return c >= 0;
        }
        if self.range(x).high as i128 <= self.range(y).low as i128 + c as i128 {
            return true;
        }
        if depth == DEPTH && self.is_told(query, x, y, c) {
            return true;
        }
        if depth == 0 || query.steps == 0 {
            return false;
        }
        query.steps -= 1;
        for tried in query.tried.iter().filter(|tried| (tried.x, tried.y) == (x, y)) {
            match tried.proved {
                true if tried.c <= c => return true,
                // What did not work for a weaker bound will not for this one.
                false if tried.c >= c => return false,
                _ => {}
            }
        }
        let number = query.tried.len();
        query.tried.push(Tried { x, y, c, proved: false });
        let depth = depth - 1;
        let proved = x.is_some_and(|x| self.le_by_facts_above(query, x, y, c, depth))
            || y.is_some_and(|y| self.le_by_facts_below(query, x, y, c, depth))
            || x.is_some_and(|x| self.le_by_operation_above(query, x, y, c, depth))
            || y.is_some_and(|y| self.le_by_operation_below(query, x, y, c, depth));
        query.tried[number].proved = proved;
        proved
    }

    /// What is known of a value, here and on the edge.
    fn known_here(&self, query: &Query, value: Value) -> Vec<Relation> {
        let extra = query.extra.iter().filter_map(|implied| implied.about(value));
        extra.chain(self.relations_at(value, query.point)).collect()
    }

    /// Is anything of this kind known of a value, here or on the edge.
    fn is_known_here(&self, query: &Query, value: Value, is_wanted: impl Fn(Relation) -> bool) -> bool {
        query.extra.iter().filter_map(|implied| implied.about(value)).any(&is_wanted)
            || self.is_related_at(value, query.point, is_wanted)
    }

    /// Is `x <= y + c` one of the facts itself, or is it one of that of which `x` or `y` is a sum with a constant. Asked before anything is
    /// tried: where much is known of a value, as behind the checks of a filter's neighbours, the steps would be used up by
    /// facts that lead nowhere.
    fn is_told(&self, query: &Query, x: Option<Value>, y: Option<Value>, c: i64) -> bool {
        let of_sum = |value: Option<Value>| {
            value
                .and_then(|value| self.sum(value))
                .filter(|&(of, add)| self.is_exact_by_facts(query, of, add))
        };
        self.is_fact(query, x, y, c)
            || of_sum(x).is_some_and(|(of, add)| {
                c.checked_sub(add).is_some_and(|rest| self.is_fact(query, Some(of), y, rest))
            })
            || of_sum(y).is_some_and(|(of, add)| {
                c.checked_add(add).is_some_and(|rest| self.is_fact(query, x, Some(of), rest))
            })
    }

    fn is_fact(&self, query: &Query, x: Option<Value>, y: Option<Value>, c: i64) -> bool {
        let above = |fact: Relation| fact.kind == Kind::AtMost && fact.other == y && fact.offset <= c;
        let below = |fact: Relation| {
            let is_enough = || c.checked_add(fact.offset).is_some_and(|more| more >= 0);
            fact.kind == Kind::AtLeast && fact.other == x && is_enough()
        };
        x.is_some_and(|x| self.is_known_here(query, x, above))
            || y.is_some_and(|y| self.is_known_here(query, y, below))
    }

    /// Does the sum not wrap, by one fact alone.
    fn is_exact_by_facts(&self, query: &Query, value: Value, add: i64) -> bool {
        let fits = |bound: i64, offset: i64| {
            bound.checked_add(offset).is_some_and(|bound| bound.checked_add(add).is_some())
        };
        self.is_known_here(query, value, |Relation { kind, other, offset }| match kind {
            Kind::AtMost => add >= 0 && fits(self.range(other).high, offset),
            Kind::AtLeast => add < 0 && fits(self.range(other).low, offset),
            Kind::NotEqual => false,
        })
    }

    fn le_by_facts_above(&self, query: &mut Query, x: Value, y: Option<Value>, c: i64, depth: u32) -> bool {
        self.known_here(query, x).into_iter().any(|Relation { kind, other, offset }| match kind {
            Kind::AtMost => match c.checked_sub(offset) {
                Some(rest) => self.le(query, other, y, rest, depth),
                None => false,
            },
            // Not more than one too many, and not that one.
            Kind::NotEqual => {
                other == y && offset.checked_sub(1) == Some(c) && self.le(query, Some(x), y, offset, depth)
            }
            Kind::AtLeast => false,
        })
    }

    fn le_by_facts_below(&self, query: &mut Query, x: Option<Value>, y: Value, c: i64, depth: u32) -> bool {
        self.known_here(query, y).into_iter().any(|Relation { kind, other, offset }| match kind {
            Kind::AtLeast => match c.checked_add(offset) {
                Some(rest) => self.le(query, x, other, rest, depth),
                None => false,
            },
            // y >= x + offset, and not that; to show: y >= x - c.
            Kind::NotEqual => {
                other == x
                    && offset.checked_add(1) == c.checked_neg()
                    && offset.checked_neg().is_some_and(|weaker| self.le(query, x, Some(y), weaker, depth))
            }
            Kind::AtMost => false,
        })
    }

    /// By what the operation of `x` says of its result from above.
    fn le_by_operation_above(
        &self,
        query: &mut Query,
        x: Value,
        y: Option<Value>,
        c: i64,
        depth: u32,
    ) -> bool {
        let node = self.region.node(x);
        let arg = |position: usize| self.term(node.args[position]);
        match node.op {
            Op::Arith(Arith::Add | Arith::Sub) => {
                if let Some((a, add)) = self.sum(x) {
                    let main = c.checked_sub(add).is_some_and(|rest| self.le(query, Some(a), y, rest, depth));
                    return main && self.is_exact(query, a, add, depth);
                }
                if node.op == Op::Arith(Arith::Sub) {
                    // a - b <= a if neither is negative.
                    let ((a, 0), (b, 0)) = (arg(0), arg(1)) else { return false };
                    return self.le(query, a, y, c, depth)
                        && self.is_natural(query, a, depth)
                        && self.is_natural(query, b, depth);
                }
                let ((a, 0), (b, 0)) = (arg(0), arg(1)) else { return false };
                [(a, b), (b, a)].into_iter().any(|(a, b)| {
                    let (of_a, of_b) = (self.range(a), self.range(b));
                    of_a.high.checked_add(of_b.high).is_some()
                        && of_a.low.checked_add(of_b.low).is_some()
                        && c.checked_sub(of_b.high).is_some_and(|rest| self.le(query, a, y, rest, depth))
                })
            }
            Op::Arith(Arith::And) => [arg(0), arg(1)].into_iter().any(|(a, add)| {
                add == 0 && self.le(query, a, y, c, depth) && self.is_natural(query, a, depth)
            }),
            Op::Arith(Arith::Shr | Arith::Ushr) | Op::Div => {
                let Some(divisor) = self.divisor(x) else { return false };
                if divisor >= 2
                    && let Some((a, b)) = self.natural_sum(query, node.args[0], depth)
                {
                    // Half of a sum is not more than the greater one.
                    return self.le(query, a, y, c, depth) && self.le(query, b, y, c, depth);
                }
                let (a, add) = arg(0);
                add == 0 && self.le(query, a, y, c, depth) && self.is_natural(query, a, depth)
            }
            Op::Rem => {
                let ((a, add_a), (b, add_b)) = (arg(0), arg(1));
                let by_divisor = c.checked_add(1).is_some_and(|rest| {
                    add_b == 0
                        && b.is_some()
                        && self.le(query, b, y, rest, depth)
                        && self.le(query, None, b, -1, depth)
                });
                by_divisor || add_a == 0 && self.le(query, a, y, c, depth) && self.is_natural(query, a, depth)
            }
            Op::Select => [arg(1), arg(2)]
                .into_iter()
                .all(|(a, add)| c.checked_sub(add).is_some_and(|rest| self.le(query, a, y, rest, depth))),
            Op::Param => self.le_by_arguments(query, x, (Some(x), y), c, depth),
            _ => false,
        }
    }

    /// By what the operation of `y` says of its result from below.
    fn le_by_operation_below(
        &self,
        query: &mut Query,
        x: Option<Value>,
        y: Value,
        c: i64,
        depth: u32,
    ) -> bool {
        let node = self.region.node(y);
        let arg = |position: usize| self.term(node.args[position]);
        match node.op {
            Op::Arith(Arith::Add | Arith::Sub) => {
                if let Some((b, add)) = self.sum(y) {
                    let main = c.checked_add(add).is_some_and(|rest| self.le(query, x, Some(b), rest, depth));
                    return main && self.is_exact(query, b, add, depth);
                }
                let ((a, 0), (b, 0)) = (arg(0), arg(1)) else { return false };
                if node.op == Op::Arith(Arith::Sub) {
                    // A constant is not more than a - b if b is that much less than a.
                    return x.is_none()
                        && self.le(query, b, a, c, depth)
                        && self.is_natural(query, a, depth)
                        && self.is_natural(query, b, depth);
                }
                // a + b >= a if b is not negative and nothing wraps.
                let is_small = self.range(a).high.checked_add(self.range(b).high).is_some();
                let grows = |b: Option<Value>| is_small && self.range(b).low >= 0;
                if grows(b) && self.le(query, x, a, c, depth) || grows(a) && self.le(query, x, b, c, depth) {
                    return true;
                }
                (self.le(query, x, a, c, depth) || self.le(query, x, b, c, depth))
                    && self.natural_sum(query, y, depth).is_some()
            }
            Op::Arith(Arith::And) => {
                self.le(query, x, None, c, depth)
                    && [arg(0), arg(1)]
                        .into_iter()
                        .any(|(a, add)| add == 0 && self.is_natural(query, a, depth))
            }
            Op::Arith(Arith::Shr | Arith::Ushr) | Op::Div => {
                let Some(divisor) = self.divisor(y) else { return false };
                if divisor == 2
                    && let Some((a, b)) = self.natural_sum(query, node.args[0], depth)
                    && self.le(query, x, a, c, depth)
                    && self.le(query, x, b, c, depth)
                {
                    return true;
                }
                let (a, add) = arg(0);
                add == 0 && self.le(query, x, None, c, depth) && self.is_natural(query, a, depth)
            }
            Op::Rem => {
                let (a, add) = arg(0);
                add == 0 && self.le(query, x, None, c, depth) && self.is_natural(query, a, depth)
            }
            Op::Select => [arg(1), arg(2)]
                .into_iter()
                .all(|(b, add)| c.checked_add(add).is_some_and(|rest| self.le(query, x, b, rest, depth))),
            Op::Param => self.le_by_arguments(query, y, (x, Some(y)), c, depth),
            _ => false,
        }
    }

    /// For a parameter of a block where ways meet: on each way, for its argument. Parameters of the same block on the other
    /// side are replaced along.
    fn le_by_arguments(
        &self,
        query: &mut Query,
        param: Value,
        (x, y): (Option<Value>, Option<Value>),
        c: i64,
        depth: u32,
    ) -> bool {
        let graph = &self.shape.graph;
        let Some(block) = self.places.block(param) else { return false };
        let edges = graph.in_edges(block);
        // Around loops this would not end; there are facts for that.
        if block == Region::ENTRY || edges.is_empty() || edges.iter().any(|&edge| graph.is_retreating(edge)) {
            return false;
        }
        edges.iter().all(|&edge| {
            let side = |value: Option<Value>| match value {
                None => Some((None, 0)),
                Some(value) => self.on_edge(edge, value),
            };
            let (Some((x, add_x)), Some((y, add_y))) = (side(x), side(y)) else { return false };
            let Some(c) = c.checked_add(add_y).and_then(|sum| sum.checked_sub(add_x)) else { return false };
            let point = std::mem::replace(&mut query.point, Point::end(graph.source(edge)));
            let extra = std::mem::replace(&mut query.extra, self.implied_by_edge(edge));
            // What did not work was without the facts of this edge.
            let tried = std::mem::take(&mut query.tried);
            let proved = self.le(query, x, y, c, depth.min(6));
            (query.point, query.extra, query.tried) = (point, extra, tried);
            proved
        })
    }

    /// What a value is on an edge into a block: the argument, for a parameter of the block; itself, if it is defined
    /// above the block.
    pub(super) fn on_edge(&self, edge: EdgeId, value: Value) -> Option<super::relations::Term> {
        let graph = &self.shape.graph;
        let (from, block) = (graph.source(edge), graph.target(edge));
        if self.places.block(value) != Some(block) {
            let above = self.places.is_above(value, block, &self.shape.dominators);
            return above.then_some((Some(value), 0));
        }
        let position = self.region.block(block).params.iter().position(|&param| param == value)?;
        let number = graph.out_edges(from).position(|out| out == edge)?;
        let target = self.region.block(from).end.targets().nth(number)?;
        Some(self.term(*target.args.get(position)?))
    }

    /// A value that is another one plus a constant, if nothing wraps.
    pub(in crate::passes) fn sum(&self, value: Value) -> Option<(Value, i64)> {
        let node = self.region.node(value);
        match node.op {
            Op::Arith(Arith::Add) => match (self.term(node.args[0]), self.term(node.args[1])) {
                ((Some(a), 0), (None, constant)) | ((None, constant), (Some(a), 0)) => Some((a, constant)),
                _ => None,
            },
            Op::Arith(Arith::Sub) => match (self.term(node.args[0]), self.term(node.args[1])) {
                ((Some(a), 0), (None, constant)) => Some((a, constant.checked_neg()?)),
                _ => None,
            },
            _ => None,
        }
    }

    /// By what a shift or division by a constant divides: 1 or more.
    fn divisor(&self, value: Value) -> Option<i64> {
        let node = self.region.node(value);
        let (None, constant) = self.term(*node.args.get(1)?) else { return None };
        match node.op {
            Op::Div => (constant >= 1).then_some(constant),
            _ => 1_i64.checked_shl((constant & 63) as u32).filter(|&divisor| divisor >= 1),
        }
    }

    /// The operands of a sum of two that are not negative and too small to wrap.
    fn natural_sum(
        &self,
        query: &mut Query,
        value: Value,
        depth: u32,
    ) -> Option<(Option<Value>, Option<Value>)> {
        let node = self.region.node(self.root(value));
        if node.op != Op::Arith(Arith::Add) {
            return None;
        }
        let ((a, 0), (b, 0)) = (self.term(node.args[0]), self.term(node.args[1])) else { return None };
        let mut small = |value: Option<Value>| {
            self.is_natural(query, value, depth) && self.le(query, value, None, i64::MAX / 2, depth)
        };
        (small(a) && small(b)).then_some((a, b))
    }

    fn is_natural(&self, query: &mut Query, value: Option<Value>, depth: u32) -> bool {
        self.le(query, None, value, 0, depth)
    }

    /// Does adding the constant not wrap.
    fn is_exact(&self, query: &mut Query, value: Value, add: i64, depth: u32) -> bool {
        if add >= 0 {
            self.le(query, Some(value), None, i64::MAX - add, depth)
        } else {
            // value >= least - add
            self.le(query, None, Some(value), add.wrapping_sub(i64::MIN), depth)
        }
    }
}
