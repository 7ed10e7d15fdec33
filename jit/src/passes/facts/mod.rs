//! What is known at a place because of how one came there: by branches, guards and checks that dominate it, and by
//! induction around loops.
//!
//! A fact holds from a [`Point`] on: at all places that the point dominates. That is sound without keeping track of
//! anything, for a value is the same wherever its definition dominates, until it is defined anew, and then one also comes by
//! the point again. So facts are collected once, listed by the value that they are about, and a question asked anywhere
//! takes those whose point dominates the place.
//!
//! | file | what it holds |
//! |---|---|
//! | [`relations`] | facts on integers, and what a condition implies |
//! | [`ranges`] | bounds of an integer that its operation alone gives |
//! | [`prover`] | is `x <= y + c` at this place |
//! | [`induction`] | facts on the parameters of loop headers |
//! | [`references`] | what is known of references: null or not, and of which class |
//!
//! Values are meant without their checks throughout ([`Region::unchecked`]).

pub mod induction;
pub mod prover;
pub mod ranges;
pub mod references;
pub mod relations;

use super::edit::{Map, Places, Point};
use crate::hierarchy::Hierarchy;
use crate::ir::region::Shape;
use crate::ir::{BlockId, Cond, Op, Region, Terminator, Value};
use holloway_bytecode::Program;
use holloway_bytecode::cfg::EdgeId;
use references::TypeFact;
use relations::{Implied, Relation, Term};
use smallvec::SmallVec;

/// A fact with the place from which on it holds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Since<T> {
    at: Point,
    fact: T,
}

/// What a condition tests.
type Test = (Op, SmallVec<[Value; 3]>);

/// All that is known in a region.
pub struct Facts<'a> {
    region: &'a Region,
    shape: &'a Shape,
    program: &'a Program,
    hierarchy: &'a Hierarchy,
    places: Places,
    /// Each value without its checks.
    roots: Vec<Value>,
    /// By value.
    relations: Vec<Vec<Since<Relation>>>,
    references: Map<Value, Vec<Since<TypeFact>>>,
    conditions: Map<Test, Vec<Since<bool>>>,
    /// For each array the values that are its length.
    lengths: Map<Value, Vec<Value>>,
}

impl<'a> Facts<'a> {
    /// Collects what branches, guards and checks tell, and then what induction adds.
    pub fn of(
        region: &'a Region,
        shape: &'a Shape,
        program: &'a Program,
        hierarchy: &'a Hierarchy,
    ) -> Facts<'a> {
        let roots = (0..region.nodes.len() as u32).map(|value| region.unchecked(Value(value))).collect();
        let mut facts = Facts {
            region,
            shape,
            program,
            hierarchy,
            places: Places::of(region),
            roots,
            relations: vec![Vec::new(); region.nodes.len()],
            references: Map::default(),
            conditions: Map::default(),
            lengths: Map::default(),
        };
        for &block in shape.graph.reverse_postorder() {
            facts.collect(block);
        }
        references::meet(&mut facts);
        induction::add(&mut facts, Region::ENTRY);
        facts
    }

    /// The region that this is about.
    pub fn region(&self) -> &'a Region {
        self.region
    }

    /// Its graph, dominators and loops.
    pub fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// Where its nodes are.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// A value without its checks.
    pub fn root(&self, value: Value) -> Value {
        self.roots[value.index()]
    }

    fn collect(&mut self, block: BlockId) {
        if let [edge] = *self.shape.graph.in_edges(block) {
            for implied in self.implied_by_edge(edge) {
                self.add(Point::start(block), implied);
            }
        }
        for (position, &value) in (1..).zip(&self.region.block(block).nodes) {
            if self.region.op(value) == Op::Length {
                let array = self.root(self.region.node(value).args[0]);
                self.lengths.entry(array).or_default().push(value);
            }
            let mut implied = Vec::new();
            self.implied_by_node(value, &mut implied);
            for implied in implied {
                // After the node, not for itself.
                self.add(Point { block, position: position + 1 }, implied);
            }
        }
    }

    /// What one knows after a node.
    fn implied_by_node(&self, value: Value, implied: &mut Vec<Implied>) {
        let node = self.region.node(value);
        match node.op {
            Op::CheckBounds => {
                let (index, length) = (node.args[0], node.args[1]);
                self.compare(Cond::Lt, index, length, implied);
                relations::at_least(self, index, 0, implied);
                self.unsigned_sum(self.term(index), self.term(length), -1, implied);
                // There is an index below it.
                relations::at_least(self, length, 1, implied);
            }
            Op::CheckDivisor => relations::not_equal(self, node.args[0], 0, implied),
            Op::CheckLength => relations::at_least(self, node.args[0], 0, implied),
            Op::NewArray(_) => relations::at_least(self, node.args[0], 0, implied),
            Op::Guard(expected, _) => self.implied_by(node.args[0], expected, implied),
            _ if node.op.is_check() || node.op == Op::Assume => {
                if let Some(ty) = node.ty.reference() {
                    implied.push(Implied::Reference(self.root(value), TypeFact::Is(ty)));
                }
            }
            _ => {}
        }
    }

    /// What one knows on an edge because it is taken.
    pub fn implied_by_edge(&self, edge: EdgeId) -> Vec<Implied> {
        let graph = &self.shape.graph;
        let from = graph.source(edge);
        let mut implied = Vec::new();
        let Some(number) = graph.out_edges(from).position(|out| out == edge) else { return implied };
        match &self.region.block(from).end {
            Terminator::Branch { condition, .. } => self.implied_by(*condition, number == 0, &mut implied),
            Terminator::Switch { value, low, cases, .. } if number < cases.len() => {
                let constant = low.wrapping_add(number as i64);
                relations::at_least(self, *value, constant, &mut implied);
                relations::at_most(self, *value, constant, &mut implied);
            }
            _ => {}
        }
        implied
    }

    fn add(&mut self, at: Point, implied: Implied) {
        match implied {
            Implied::Relation(value, fact) => self.relations[value.index()].push(Since { at, fact }),
            Implied::Reference(value, fact) => {
                self.references.entry(value).or_default().push(Since { at, fact });
            }
            Implied::Condition(value, fact) => {
                let (key, flipped) = self.condition_key(value);
                self.conditions.entry(key).or_default().push(Since { at, fact: fact != flipped });
            }
        }
    }

    /// Supposes that each `a <= b + offset` from the end of a block on, and looks if then something else holds, too. If
    /// not, nothing is supposed.
    pub fn suppose(
        &mut self,
        block: BlockId,
        supposed: &[(Term, Term, i64)],
        then: impl Fn(&Facts<'_>) -> bool,
    ) -> bool {
        let before = self.relations.clone();
        let mut implied = Vec::new();
        for &(a, b, offset) in supposed {
            relations::less_or_equal(a, b, offset, &mut implied);
        }
        for implied in implied {
            self.add(Point::end(block), implied);
        }
        if then(self) {
            return true;
        }
        induction::add(self, block);
        if then(self) {
            return true;
        }
        self.relations = before;
        false
    }

    /// The relations of a value that hold at a point.
    pub(super) fn relations_at(&self, value: Value, point: Point) -> impl Iterator<Item = Relation> {
        let dominators = &self.shape.dominators;
        let all = self.relations[value.index()].iter();
        all.filter(move |since| since.at.dominates(point, dominators)).map(|since| since.fact)
    }

    /// Is a relation of this kind known of a value at a point. Cheaper than to ask which are.
    pub(super) fn is_related_at(
        &self,
        value: Value,
        point: Point,
        is_wanted: impl Fn(Relation) -> bool,
    ) -> bool {
        let dominators = &self.shape.dominators;
        let mut all = self.relations[value.index()].iter();
        all.any(|since| is_wanted(since.fact) && since.at.dominates(point, dominators))
    }

    /// Is this condition known at a point, because it, or its opposite, was tested before.
    pub fn condition_at(&self, value: Value, point: Point) -> Option<bool> {
        if let Op::Bool(constant) = self.region.op(value) {
            return Some(constant);
        }
        if self.conditions.is_empty() {
            return None;
        }
        let (key, flipped) = self.condition_key(value);
        let known = self.conditions.get(&key)?.iter();
        let mut known = known.filter(|since| since.at.dominates(point, &self.shape.dominators));
        Some(known.next()?.fact != flipped)
    }

    /// What a condition tests, in a form that is the same for its opposite; true if this is the opposite.
    fn condition_key(&self, value: Value) -> (Test, bool) {
        let (mut value, mut flipped) = (self.root(value), false);
        while self.region.op(value) == Op::Not {
            value = self.root(self.region.node(value).args[0]);
            flipped = !flipped;
        }
        let node = self.region.node(value);
        let mut args: SmallVec<[Value; 3]> = node.args.iter().map(|&arg| self.root(arg)).collect();
        let op = match node.op {
            Op::Compare(cond) => {
                let (cond, swap, opposite) = canonical(cond);
                if swap || matches!(cond, Cond::Eq) && args[1] < args[0] {
                    args.swap(0, 1);
                }
                flipped ^= opposite;
                Op::Compare(cond)
            }
            Op::FloatCompare(cond) => {
                use crate::ir::FloatCond::{Ne, Nle, Nlt};
                let opposite = matches!(cond, Ne | Nlt | Nle);
                flipped ^= opposite;
                Op::FloatCompare(if opposite { cond.negated() } else { cond })
            }
            op if op.is_pure() => op,
            // A parameter, or something loaded: known by itself.
            _ => return ((Op::Param, SmallVec::from_slice(&[value])), flipped),
        };
        ((op, args), flipped)
    }
}

/// A comparison by one of `Eq`, `Lt` and `ULt`: with operands exchanged, and of which this is the opposite.
fn canonical(cond: Cond) -> (Cond, bool, bool) {
    match cond {
        Cond::Eq => (Cond::Eq, false, false),
        Cond::Ne => (Cond::Eq, false, true),
        Cond::Lt => (Cond::Lt, false, false),
        Cond::Ge => (Cond::Lt, false, true),
        Cond::Gt => (Cond::Lt, true, false),
        Cond::Le => (Cond::Lt, true, true),
        Cond::ULt => (Cond::ULt, false, false),
        Cond::UGe => (Cond::ULt, false, true),
        Cond::UGt => (Cond::ULt, true, false),
        Cond::ULe => (Cond::ULt, true, true),
    }
}
