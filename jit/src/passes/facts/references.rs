//! What is known of references: null or not, and of which class.

use super::relations::Implied;
use super::{Facts, Point};
use crate::ir::{BlockId, Op, RefTy, Value};
use holloway_bytecode::{ClassId, InterfaceId, Shape};

/// A fact on a reference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TypeFact {
    /// It is null.
    Null,
    /// It is not null.
    NotNull,
    /// It is of this type.
    Is(RefTy),
    /// This test of it fails.
    Not(Op),
}

impl TypeFact {
    /// What the result of a test tells.
    pub fn tested(op: Op, truth: bool) -> TypeFact {
        let is = |shape, exact| TypeFact::Is(RefTy { shape, nullable: false, exact });
        match op {
            _ if !truth => TypeFact::Not(op),
            Op::IsInstance(class) => is(Shape::Class(class), false),
            Op::Implements(interface) => is(Shape::Interface(interface), false),
            Op::IsExactly(class) => is(Shape::Class(class), true),
            _ => TypeFact::NotNull,
        }
    }
}

/// All that is known of a reference at a place.
struct Known {
    null: bool,
    not_null: bool,
    types: Vec<RefTy>,
    failed: Vec<Op>,
}

/// A parameter of a block, which may be null by its type.
struct Met {
    block: BlockId,
    param: Value,
    /// What is passed for it from elsewhere and is not known not to be null there.
    open: Vec<Value>,
}

/// Parameters of blocks that are null on none of the ways there: whatever is passed was tested, on its way or before, or
/// is another such parameter. (So the reference with which one walks along a list is not null where its loop
/// begins, if that is what the loop's end tests.)
///
/// All that may be so are supposed to be, until nothing contradicts: what is passed first around a loop was tested, and what
/// is passed later is not null because it was not the round before.
pub fn meet(facts: &mut Facts<'_>) {
    let mut supposed: Vec<Met> = Vec::new();
    for &block in facts.shape.graph.reverse_postorder() {
        for (index, &param) in facts.region.block(block).params.iter().enumerate() {
            let nullable = facts.region.ty(param).reference().is_some_and(|ty| ty.nullable);
            if nullable && let Some(open) = facts.passed_open(block, index) {
                supposed.push(Met { block, param, open });
            }
        }
    }
    loop {
        let params: Vec<Value> = supposed.iter().map(|met| met.param).collect();
        supposed.retain(|met| met.open.iter().all(|passed| params.contains(passed)));
        if supposed.len() == params.len() {
            break;
        }
    }
    for met in supposed {
        facts.add(Point::start(met.block), Implied::Reference(met.param, TypeFact::NotNull));
    }
}

impl Facts<'_> {
    /// What is passed for a parameter of a block and is not known not to be null there; `None` if that can never be known: it is
    /// no parameter of a block, or null.
    fn passed_open(&self, block: BlockId, index: usize) -> Option<Vec<Value>> {
        let graph = &self.shape.graph;
        let mut open = Vec::new();
        for &edge in graph.in_edges(block).iter().filter(|&&edge| graph.is_reachable(graph.source(edge))) {
            let from = graph.source(edge);
            let number = graph.out_edges(from).position(|out| out == edge)?;
            let passed = self.root(*self.region.block(from).end.targets().nth(number)?.args.get(index)?);
            let implied = self.implied_by_edge(edge);
            let tested = implied.iter().any(|implied| match implied {
                Implied::Reference(value, TypeFact::Is(ty)) => *value == passed && !ty.nullable,
                Implied::Reference(value, fact) => *value == passed && *fact == TypeFact::NotNull,
                _ => false,
            });
            if tested {
                continue;
            }
            match self.is_null_at(passed, Point::end(from)) {
                Some(false) => {}
                None if self.region.op(passed) == Op::Param => open.push(passed),
                _ => return None,
            }
        }
        // The entry has no way to it, and anything may be passed there.
        (block != crate::ir::Region::ENTRY).then_some(open)
    }

    fn known(&self, value: Value, point: Point) -> Known {
        let root = self.root(value);
        let mut known = Known { null: false, not_null: false, types: Vec::new(), failed: Vec::new() };
        known.null |= self.region.op(root) == Op::Null;
        let own = [value, root].map(|value| self.region.ty(value).reference());
        own.into_iter().flatten().for_each(|ty| known.add(TypeFact::Is(ty)));
        let facts = self.references.get(&root).map_or(&[][..], |facts| facts);
        for since in facts.iter().filter(|since| since.at.dominates(point, &self.shape.dominators)) {
            known.add(since.fact);
        }
        known
    }

    /// Is a reference null; `None` if it is not known.
    pub fn is_null_at(&self, value: Value, point: Point) -> Option<bool> {
        let known = self.known(value, point);
        if known.not_null {
            return Some(false);
        }
        known.null.then_some(true)
    }

    /// Is a reference known to be of a type.
    pub fn is_of_type_at(&self, value: Value, ty: RefTy, point: Point) -> bool {
        let known = self.known(value, point);
        (ty.nullable || known.not_null)
            && known.types.iter().any(|&has| RefTy { nullable: ty.nullable, ..has }.fits(ty, self.program))
    }

    /// What `is_instance`, `implements` or `is_exactly` of a reference gives; `None` if it is not known.
    pub fn is_of_at(&self, test: Op, value: Value, point: Point) -> Option<bool> {
        let known = self.known(value, point);
        if known.null || known.failed.iter().any(|&failed| self.fails_with(test, failed)) {
            return Some(false);
        }
        let results = known.types.iter().map(|&ty| match test {
            Op::IsInstance(class) => self.is_instance(ty, class),
            Op::Implements(interface) => self.implements(ty, interface),
            Op::IsExactly(class) => self.is_exactly(ty, class),
            _ => None,
        });
        let mut result = None;
        for of_non_null in results {
            match of_non_null {
                Some(false) => return Some(false),
                Some(true) if known.not_null => result = Some(true),
                _ => {}
            }
        }
        result
    }

    /// If the test `failed` did, does this one, too.
    fn fails_with(&self, test: Op, failed: Op) -> bool {
        match (test, failed) {
            (Op::IsInstance(class) | Op::IsExactly(class), Op::IsInstance(failed)) => {
                self.program.is_subclass(class, failed)
            }
            (Op::IsInstance(class) | Op::IsExactly(class), Op::Implements(failed)) => {
                Shape::Class(class).fits(Shape::Interface(failed), self.program)
            }
            _ => test == failed,
        }
    }

    /// Of a reference of the type that is not null: is it an instance.
    fn is_instance(&self, ty: RefTy, class: ClassId) -> Option<bool> {
        if ty.shape.fits(Shape::Class(class), self.program) {
            return Some(true);
        }
        let has = |of: ClassId| self.program.is_subclass(of, class);
        self.by_classes(ty, has)
    }

    fn implements(&self, ty: RefTy, interface: InterfaceId) -> Option<bool> {
        if ty.shape.fits(Shape::Interface(interface), self.program) {
            return Some(true);
        }
        self.by_classes(ty, |of| Shape::Class(of).fits(Shape::Interface(interface), self.program))
    }

    fn is_exactly(&self, ty: RefTy, class: ClassId) -> Option<bool> {
        self.by_classes(ty, |of| of == class)
    }

    /// The answer, if it is the same for all classes that there are of a type.
    fn by_classes(&self, ty: RefTy, is: impl Fn(ClassId) -> bool) -> Option<bool> {
        let classes = match ty.class() {
            Some(class) if ty.exact => {
                std::slice::from_ref(match self.hierarchy.classes(Shape::Class(class)) {
                    // The class itself comes first.
                    Some([own, ..]) if *own == class => own,
                    _ => return None,
                })
            }
            _ => self.hierarchy.classes(ty.shape)?,
        };
        let (first, others) = classes.split_first()?;
        let answer = is(*first);
        others.iter().all(|&class| is(class) == answer).then_some(answer)
    }
}

impl Known {
    fn add(&mut self, fact: TypeFact) {
        match fact {
            TypeFact::Null => self.null = true,
            TypeFact::NotNull => self.not_null = true,
            TypeFact::Is(ty) => {
                self.not_null |= !ty.nullable;
                self.types.push(ty);
            }
            TypeFact::Not(op) => self.failed.push(op),
        }
    }
}
