//! Regions at random: of statements (branches, loops with counters over arrays), or of any graph at all.
//!
//! What exists at a place is kept in a list, from which operands are taken, and which every frame state holds as a
//! whole; so the interpreter can go on from anywhere.

mod memory;

use super::live;
use super::random::Random;
use super::world::{ARGUMENT_COUNT, MOST, World};
use holloway_bytecode::Shape;
use holloway_jit::ir::{
    Arith, BlockId, Cond, FloatArith, FloatCond, FrameState, InlineId, Node, Op, Reason, RefTy, Region,
    RegionEntry, StateId, StateKind, Target, Terminator, Ty, Value, YieldKind,
};

/// Builds one region.
pub struct Generator<'w> {
    world: &'w World,
    random: Random,
    region: Region,
    block: BlockId,
    /// The values that exist here.
    scope: Vec<Value>,
    pc: u32,
    /// How many nodes may still be made.
    budget: usize,
    /// What operations it is mostly about.
    kinds: &'static [usize],
}

/// Numbers of kinds of operations, see [`Generator::operation`]: of everything, mostly about memory, about
/// numbers, about new objects.
const KINDS: [&[usize]; 6] = [
    &[0, 0, 0, 1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 9, 9, 10, 10, 10, 10, 11, 12, 12, 13, 14, 15],
    &[0, 3, 9, 9, 9, 10, 10, 11, 12, 12, 14, 15, 16, 16],
    &[0, 3, 5, 9, 9, 10, 10, 10, 11, 11, 12, 16, 16],
    &[0, 0, 0, 0, 1, 3, 3, 3, 4, 8, 10],
    &[3, 5, 6, 7, 8, 9, 9, 11, 12, 12, 12, 14, 15, 16, 16],
    &[3, 5, 9, 12, 12, 16, 16],
];

/// A region of statements.
pub fn structured(world: &World, seed: u64, size: usize) -> Region {
    let mut generator = Generator::new(world, seed, size);
    generator.statements(0);
    generator.finish();
    generator.finished()
}

/// A region of any graph.
pub fn unstructured(world: &World, seed: u64, size: usize) -> Region {
    let mut generator = Generator::new(world, seed, size);
    generator.graph();
    generator.finished()
}

impl<'w> Generator<'w> {
    fn new(world: &'w World, seed: u64, size: usize) -> Generator<'w> {
        let mut random = Random(seed);
        let kinds = random.pick(&KINDS);
        let mut generator = Generator {
            world,
            region: Region::new(&world.program, world.subject, RegionEntry::Method),
            block: Region::ENTRY,
            scope: Vec::new(),
            pc: 0,
            budget: size,
            kinds,
            random,
        };
        for argument in 0..ARGUMENT_COUNT {
            let ty = Ty::of(world.program.functions[world.subject.index()].registers[argument as usize]);
            generator.add(Op::Argument(argument), &[], ty);
        }
        for constant in [0, 1] {
            generator.add(Op::Int(constant), &[], Ty::Int);
        }
        generator.add(Op::Bool(true), &[], Ty::Bool);
        if generator.random.once_in(2) {
            // Two points that may be the same one.
            let ty = generator.point(false);
            generator.add_with_state(Op::CheckNull, &[Value(4)], ty);
        }
        generator
    }

    fn node(&mut self, op: Op, args: &[Value], ty: Ty, state: Option<StateId>) -> Value {
        let (inline, pc) = (InlineId::ROOT, self.pc);
        let value = self.region.add_node(Node { op, args: args.into(), ty, state, inline, pc });
        self.region.block_mut(self.block).nodes.push(value);
        self.budget = self.budget.saturating_sub(1);
        value
    }

    /// A node without a state.
    fn add(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        let value = self.node(op, args, ty, None);
        if ty != Ty::None {
            self.scope.push(value);
        }
        value
    }

    /// A node with a state.
    fn add_with_state(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        self.pc += 1;
        assert!((self.pc as usize) < MOST);
        let value = Value(self.region.nodes.len() as u32);
        let kind = match op {
            Op::Call(_) => StateKind::During(Some(self.world.register(value, ty))),
            _ => StateKind::Before,
        };
        let state = self.state(kind);
        let value = self.node(op, args, ty, Some(state));
        // What follows a call is a place as well.
        self.pc += u32::from(matches!(op, Op::Call(_)));
        if ty != Ty::None {
            self.scope.push(value);
        }
        value
    }

    fn state(&mut self, kind: StateKind) -> StateId {
        let with_register = |&value: &Value| (self.world.register(value, self.region.ty(value)), value);
        let mut registers: Vec<_> = self.scope.iter().map(with_register).collect();
        registers.sort_unstable();
        let state =
            FrameState { inline: InlineId::ROOT, pc: self.pc, kind, told: false, registers, caller: None };
        self.region.add_state(state)
    }

    /// A value that exists, more likely a recent one.
    fn some(&mut self, is: impl Fn(Ty) -> bool) -> Option<Value> {
        let fitting: Vec<Value> = self.scope.iter().copied().filter(|&v| is(self.region.ty(v))).collect();
        let recent = fitting.len().saturating_sub(4);
        if self.random.once_in(2) {
            self.random.pick_any(&fitting)
        } else {
            self.random.pick_any(&fitting[recent..])
        }
    }

    fn int(&mut self) -> Value {
        if self.random.once_in(4) {
            let constant = self.random.pick(&[-1, 0, 1, 2, 3, 4, 7, 255, i64::MAX, i64::MIN]);
            return self.add(Op::Int(constant), &[], Ty::Int);
        }
        self.some(|ty| ty == Ty::Int).expect("an integer")
    }

    fn bool(&mut self) -> Value {
        if self.random.once_in(2) {
            return self.test();
        }
        self.some(|ty| ty == Ty::Bool).expect("a Boolean")
    }

    fn of_class(&mut self, class: holloway_bytecode::ClassId, nullable: bool) -> Option<Value> {
        let world = self.world;
        let wanted = RefTy { shape: Shape::Class(class), nullable, exact: false };
        self.some(|ty| ty.reference().is_some_and(|ty| ty.fits(wanted, &world.program)))
    }

    fn reference(&mut self, nullable: bool) -> Value {
        self.some(|ty| ty.reference().is_some_and(|ty| nullable || !ty.nullable)).expect("a reference")
    }

    /// A comparison or other test.
    fn test(&mut self) -> Value {
        use Cond::{Eq, Ge, Gt, Le, Lt, Ne, UGe, ULe, ULt};
        let world = self.world;
        match self.random.below(12) {
            0 => {
                let reference = self.reference(true);
                self.add(Op::IsNull, &[reference], Ty::Bool)
            }
            1 => {
                let class = self.random.pick(&[world.shape, world.circle, world.disk, world.square]);
                let Some(shape) = self.of_class(world.shape, true) else { return self.test() };
                self.add(Op::IsInstance(class), &[shape], Ty::Bool)
            }
            2 => {
                let class = self.random.pick(&[world.circle, world.disk, world.square]);
                let Some(shape) = self.of_class(world.shape, false) else { return self.test() };
                self.add(Op::IsExactly(class), &[shape], Ty::Bool)
            }
            3 => {
                let (a, b) = (self.reference(true), self.reference(true));
                self.add(Op::Same, &[a, b], Ty::Bool)
            }
            4 => {
                let a = self.some(|ty| ty == Ty::Bool).expect("a Boolean");
                self.add(Op::Not, &[a], Ty::Bool)
            }
            5 => {
                let (a, b) = (self.float(), self.float());
                use FloatCond as F;
                let cond = self.random.pick(&[F::Eq, F::Ne, F::Lt, F::Le, F::Nlt, F::Nle]);
                self.add(Op::FloatCompare(cond), &[a, b], Ty::Bool)
            }
            _ => {
                let a = self.int();
                let b = match self.random.below(4) {
                    0 => {
                        let (step, op) =
                            (self.int(), self.random.pick(&[Arith::Add, Arith::Add, Arith::Sub, Arith::Shr]));
                        self.add(Op::Arith(op), &[a, step], Ty::Int)
                    }
                    _ => self.int(),
                };
                let cond = self.random.pick(&[Eq, Ge, Gt, Le, Lt, Lt, Ne, UGe, ULe, ULt]);
                self.add(Op::Compare(cond), &[a, b], Ty::Bool)
            }
        }
    }

    fn float(&mut self) -> Value {
        if self.random.once_in(3) {
            let constant = self.random.pick(&[0.0_f64, -0.0, 1.5, f64::NAN, f64::INFINITY]);
            return self.add(Op::Float(constant.to_bits()), &[], Ty::Float);
        }
        self.some(|ty| ty == Ty::Float).expect("a float")
    }

    /// One operation with all that it needs.
    fn operation(&mut self) {
        let world = self.world;
        match self.random.pick(self.kinds) {
            0 => {
                use Arith::{Add, And, Mul, Or, Shl, Shr, Sub, Ushr, Xor};
                let op = self.random.pick(&[Add, Add, Add, Sub, Sub, Mul, And, Or, Xor, Shl, Shr, Ushr]);
                let (a, b) = (self.int(), self.int());
                self.add(Op::Arith(op), &[a, b], Ty::Int);
            }
            1 => {
                let (a, b) = (self.int(), self.int());
                let b = self.add_with_state(Op::CheckDivisor, &[b], Ty::Int);
                let op = self.random.pick(&[Op::Div, Op::Rem]);
                self.add(op, &[a, b], Ty::Int);
            }
            2 => {
                let (a, b) = (self.float(), self.float());
                use FloatArith as F;
                let op = self.random.pick(&[F::Add, F::Sub, F::Mul, F::Div]);
                self.add(Op::FloatArith(op), &[a, b], Ty::Float);
            }
            3 => {
                self.test();
            }
            4 => {
                let (condition, a, b) = (self.bool(), self.int(), self.int());
                self.add(Op::Select, &[condition, a, b], Ty::Int);
            }
            5 => {
                let reference = self.reference(true);
                let ty = self.region.ty(reference).non_null();
                self.add_with_state(Op::CheckNull, &[reference], ty);
            }
            6 => {
                let class = self.random.pick(&[world.shape, world.circle, world.disk]);
                let Some(shape) = self.of_class(world.shape, true) else { return };
                let ty = Ty::Ref(RefTy { shape: Shape::Class(class), nullable: false, exact: false });
                self.add_with_state(Op::CheckCast(class), &[shape], ty);
            }
            7 => {
                let class = self.random.pick(&[world.circle, world.disk]);
                let Some(shape) = self.of_class(world.shape, false) else { return };
                self.add_with_state(Op::CheckExactly(class), &[shape], Ty::exactly(class));
            }
            8 => {
                let condition = self.test();
                let expected = !self.random.once_in(3);
                self.add_with_state(Op::Guard(expected, Reason::Untaken), &[condition], Ty::None);
            }
            9 => self.field(),
            10 => self.element(),
            11 => {
                let (counter, origin) = (world.counter, world.origin);
                match self.random.below(4) {
                    0 => {
                        self.add(Op::LoadGlobal(counter), &[], Ty::Int);
                    }
                    1 => {
                        let value = self.int();
                        self.add(Op::StoreGlobal(counter), &[value], Ty::None);
                    }
                    2 => {
                        self.add(Op::LoadGlobal(origin), &[], self.point(true));
                    }
                    _ => {
                        let Some(value) = self.of_class(world.point, true) else { return };
                        self.add(Op::StoreGlobal(origin), &[value], Ty::None);
                    }
                }
            }
            12 => {
                let class =
                    self.random.pick(&[world.point, world.point, world.point, world.disk, world.square]);
                self.add_with_state(Op::New(class), &[], Ty::exactly(class));
            }
            13 => {
                let length = self.int();
                let length = self.with_constant(Arith::And, length, 7);
                let class = self.random.pick(&[world.ints, world.bytes, world.points]);
                // A word has room in bytes.
                let least = if class == world.bytes { 8 } else { 0 };
                let length = self.with_constant(Arith::Or, length, least);
                let length = self.add_with_state(Op::CheckLength, &[length], Ty::Int);
                self.add_with_state(Op::NewArray(class), &[length], Ty::exactly(class));
            }
            16 => {
                for _ in 0..3 + self.random.below(5) {
                    self.field();
                }
            }
            14 => {
                let (number, Some(point)) = (self.int(), self.of_class(world.point, true)) else { return };
                self.add_with_state(Op::Call(world.other), &[number, point], Ty::Int);
            }
            _ => {
                let ty = self.point(true);
                self.add_with_state(Op::Call(world.some), &[], ty);
            }
        }
    }

    fn point(&self, nullable: bool) -> Ty {
        Ty::Ref(RefTy { shape: Shape::Class(self.world.point), nullable, exact: false })
    }

    fn with_constant(&mut self, arith: Arith, value: Value, constant: i64) -> Value {
        let constant = self.add(Op::Int(constant), &[], Ty::Int);
        self.add(Op::Arith(arith), &[value, constant], Ty::Int)
    }

    /// The region. The states of every second one hold what is live only.
    fn finished(mut self) -> Region {
        if self.random.once_in(2) {
            live::trim(&mut self.region);
        }
        self.region
    }

    /// A new block, in which what is in the scope exists.
    fn enter(&mut self, block: BlockId) {
        self.block = block;
    }

    fn end(&mut self, end: Terminator) {
        self.region.block_mut(self.block).end = end;
    }

    fn branch(&mut self, condition: Value, then: Target, otherwise: Target) {
        let counts = if self.random.once_in(4) { [0, 0] } else { [50, 50] };
        self.end(Terminator::Branch { condition, then, otherwise, source: None, counts });
    }

    fn param(&mut self, block: BlockId, ty: Ty) -> Value {
        self.region.add_param(block, ty, InlineId::ROOT, self.pc)
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..2 + self.random.below(4) {
            if self.budget == 0 {
                return;
            }
            match self.random.below(10) {
                0 | 1 if depth < 4 => self.conditional(depth),
                2 | 3 if depth < 3 => self.counted(depth),
                4 if depth < 3 => self.top_tested(depth),
                _ => {
                    for _ in 0..1 + self.random.below(5) {
                        self.operation();
                    }
                }
            }
        }
    }

    /// Types of parameters for a block.
    fn types(&mut self, most: usize) -> Vec<Ty> {
        let count = self.random.below(most + 1);
        let point = self.point(true);
        let solid = self.point(false);
        (0..count).map(|_| self.random.pick(&[Ty::Int, Ty::Int, Ty::Int, Ty::Bool, point, solid])).collect()
    }

    /// Values of these types that exist.
    fn values(&mut self, types: &[Ty]) -> Vec<Value> {
        let world = self.world;
        let value = |generator: &mut Self, ty: Ty| {
            let found = generator.some(|has| match (has, ty) {
                (Ty::Ref(has), Ty::Ref(wanted)) => has.fits(wanted, &world.program),
                _ => has == ty,
            });
            found.expect("a value of each type")
        };
        types.iter().map(|&ty| value(self, ty)).collect()
    }

    fn conditional(&mut self, depth: u32) {
        let condition = self.bool();
        let types = self.types(2);
        let (then, otherwise, after) =
            (self.region.add_block(), self.region.add_block(), self.region.add_block());
        self.branch(condition, Target::plain(then), Target::plain(otherwise));
        let scope = self.scope.len();
        let leaves = self.random.below(8);
        for (number, arm) in [then, otherwise].into_iter().enumerate() {
            self.enter(arm);
            if number == 0 || self.random.once_in(2) {
                self.statements(depth + 1);
            }
            if number == leaves {
                self.finish();
            } else {
                let args = self.values(&types);
                self.end(Terminator::Jump(Target { block: after, args }));
            }
            self.scope.truncate(scope);
        }
        let params: Vec<Value> = types.iter().map(|&ty| self.param(after, ty)).collect();
        self.scope.extend(params);
        self.enter(after);
    }

    /// A loop with its test at the end, a counter, and often a guard before it.
    fn counted(&mut self, depth: u32) {
        let step = self.random.pick(&[1, 1, 1, 2, -1]);
        let zero = self.add(Op::Int(0), &[], Ty::Int);
        let step_value = self.add(Op::Int(step), &[], Ty::Int);
        let class = self.random_array();
        let array = self.of_class(class, false);
        let limit = match array {
            Some(array) if !self.random.once_in(3) => self.add(Op::Length, &[array], Ty::Int),
            _ => self.int(),
        };
        let last = self.add(Op::Arith(Arith::Sub), &[limit, step_value], Ty::Int);
        let (start, limit) = match (step > 0, self.random.once_in(4)) {
            (true, false) => (zero, limit),
            (true, true) => (self.int(), limit),
            (false, _) => (if step == -1 { last } else { limit }, zero),
        };
        let cond = match step > 0 {
            true => self.random.pick(&[Cond::Lt, Cond::Lt, Cond::Le]),
            false => self.random.pick(&[Cond::Ge, Cond::Ge, Cond::Gt]),
        };
        let (header, exit) = (self.region.add_block(), self.region.add_block());
        let mut types = vec![Ty::Int];
        types.extend(self.types(2));
        let exit_types = self.types(1);
        let mut args = vec![start];
        args.extend(self.values(&types[1..]));
        let entry = Target { block: header, args };
        if self.random.once_in(4) {
            self.end(Terminator::Jump(entry));
        } else {
            let guard = self.add(Op::Compare(cond), &[start, limit], Ty::Bool);
            let args = self.values(&exit_types);
            self.branch(guard, entry, Target { block: exit, args });
        }
        let scope = self.scope.len();
        let counter = self.header(header, &types);
        self.statements(depth + 1);
        if let Some(array) = array
            && self.random.once_in(2)
        {
            let length = self.add(Op::Length, &[array], Ty::Int);
            self.add_with_state(Op::CheckBounds, &[counter, length], Ty::Int);
        }
        let next = self.add(Op::Arith(Arith::Add), &[counter, step_value], Ty::Int);
        self.yieldpoint();
        let again = self.add(Op::Compare(cond), &[next, limit], Ty::Bool);
        let mut args = vec![next];
        args.extend(self.values(&types[1..]));
        let exit_args = self.values(&exit_types);
        self.branch(again, Target { block: header, args }, Target { block: exit, args: exit_args });
        self.scope.truncate(scope);
        let params: Vec<Value> = exit_types.iter().map(|&ty| self.param(exit, ty)).collect();
        self.scope.extend(params);
        self.enter(exit);
    }

    fn random_array(&mut self) -> holloway_bytecode::ClassId {
        self.random.pick(&[self.world.ints, self.world.bytes, self.world.points])
    }

    /// Enters a loop header with parameters; the first of them.
    fn header(&mut self, header: BlockId, types: &[Ty]) -> Value {
        let params: Vec<Value> = types.iter().map(|&ty| self.param(header, ty)).collect();
        self.scope.extend(&params);
        self.enter(header);
        self.add_with_state(Op::Yieldpoint(YieldKind::Header), &[], Ty::None);
        params[0]
    }

    /// The loop is about to go back.
    fn yieldpoint(&mut self) {
        self.add_with_state(Op::Yieldpoint(YieldKind::Loop), &[], Ty::None);
    }

    /// A loop with its test in the header.
    fn top_tested(&mut self, depth: u32) {
        let mut types = vec![Ty::Int];
        types.extend(self.types(2));
        let args = self.values(&types);
        let (header, body, exit) =
            (self.region.add_block(), self.region.add_block(), self.region.add_block());
        self.end(Terminator::Jump(Target { block: header, args }));
        let counter = self.header(header, &types);
        if self.random.once_in(3) {
            self.operation();
        }
        let limit = self.int();
        let condition = match self.random.once_in(2) {
            true => self.add(Op::Compare(Cond::Lt), &[counter, limit], Ty::Bool),
            false => self.bool(),
        };
        self.branch(condition, Target::plain(body), Target::plain(exit));
        let scope = self.scope.len();
        self.enter(body);
        self.statements(depth + 1);
        let next = self.with_constant(Arith::Add, counter, 1);
        self.yieldpoint();
        let mut args = vec![next];
        args.extend(self.values(&types[1..]));
        self.end(Terminator::Jump(Target { block: header, args }));
        self.scope.truncate(scope);
        self.enter(exit);
    }

    /// Returns something.
    fn finish(&mut self) {
        let value = self.summary();
        self.end(Terminator::Return(Some(value)));
    }

    /// A number on which many others that exist have an influence.
    fn summary(&mut self) -> Value {
        let ints: Vec<Value> = self.scope.iter().copied().filter(|&v| self.region.ty(v) == Ty::Int).collect();
        let mut sum = ints[0];
        let three = self.add(Op::Int(3), &[], Ty::Int);
        for &int in ints[1..].iter().rev().take(12) {
            let product = self.add(Op::Arith(Arith::Mul), &[sum, three], Ty::Int);
            sum = self.add(Op::Arith(Arith::Add), &[product, int], Ty::Int);
        }
        let bools: Vec<Value> =
            self.scope.iter().copied().filter(|&v| self.region.ty(v) == Ty::Bool).collect();
        for &bool in bools.iter().rev().take(6) {
            let number = self.add(Op::Select, &[bool, sum, three], Ty::Int);
            sum = self.add(Op::Arith(Arith::Add), &[sum, number], Ty::Int);
        }
        sum
    }

    /// Any graph: first its edges, then what is in the blocks, in an order in which dominators come first.
    fn graph(&mut self) {
        let count = 3 + self.random.below(9);
        let blocks: Vec<BlockId> = (0..count).map(|_| self.region.add_block()).collect();
        let condition = Value(0);
        for block in std::iter::once(Region::ENTRY).chain(blocks.iter().copied()) {
            let target = |random: &mut Random| Target::plain(random.pick(&blocks));
            let end = match self.random.below(8) {
                0 if block != Region::ENTRY => Terminator::Return(None),
                1 | 2 => Terminator::Jump(target(&mut self.random)),
                _ => Terminator::Branch {
                    condition,
                    then: target(&mut self.random),
                    otherwise: target(&mut self.random),
                    source: None,
                    counts: [0, 0],
                },
            };
            self.region.block_mut(block).end = end;
        }
        let shape = self.region.shape();
        let mut scopes: Vec<Vec<Value>> = vec![Vec::new(); self.region.blocks.len()];
        let entry = std::mem::take(&mut self.scope);
        for &block in shape.graph.reverse_postorder() {
            self.scope = match shape.dominators.immediate(block) {
                Some(parent) => scopes[parent.index()].clone(),
                None => entry.clone(),
            };
            if shape.graph.in_edges(block).len() > 1 {
                for ty in self.types(3) {
                    let param = self.param(block, ty);
                    self.scope.push(param);
                }
            }
            self.enter(block);
            if shape.graph.in_edges(block).iter().any(|&edge| shape.graph.is_retreating(edge)) {
                self.add_with_state(Op::Yieldpoint(YieldKind::Header), &[], Ty::None);
                self.yieldpoint();
            }
            for _ in 0..1 + self.random.below(6) {
                if self.budget > 0 {
                    self.operation();
                }
            }
            let (condition, value) = (self.bool(), self.summary());
            match &mut self.region.block_mut(block).end {
                Terminator::Branch { condition: of, .. } => *of = condition,
                Terminator::Return(result) => *result = Some(value),
                _ => {}
            }
            scopes[block.index()] = std::mem::take(&mut self.scope);
        }
        for &block in shape.graph.reverse_postorder() {
            self.scope = scopes[block.index()].clone();
            for number in 0..shape.graph.targets_of(block).len() {
                let to = shape.graph.targets_of(block)[number];
                let params = self.region.block(to).params.clone();
                let types: Vec<Ty> = params.iter().map(|&param| self.region.ty(param)).collect();
                let args = self.values(&types);
                if let Some(target) = self.region.block_mut(block).end.targets_mut().nth(number) {
                    target.args = args;
                }
            }
        }
        self.region.clear_unreachable();
    }
}
