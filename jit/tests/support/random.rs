//! Random regions: expressions over integers, floats and Booleans, with branches, switches and loops around them, checks
//! that may fail, globals, and frame states that mention what is there.

use super::evaluate::Datum;
use holloway_bytecode::text::{PRELUDE, assemble};
use holloway_bytecode::{FunctionId, GlobalId, Program, Register, Type};
use holloway_jit::ir::{
    Arith, BlockId, Cond, FloatArith, FloatCond, FloatUnary, FrameState, InlineId, Node, Op, Reason, Region,
    RegionEntry, Source, StateId, StateKind, Target, Terminator, Ty, Value, YieldKind,
};

/// The same numbers on every machine (SplitMix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

const INTS: [i64; 16] = [0, 1, -1, 2, 3, 4, 5, 7, 8, 10, 63, 64, -8, 1 << 40, i64::MIN, i64::MAX];
const FLOATS: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.1, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 5e-324];

/// Arguments for [`program`]'s function.
pub fn arguments(rng: &mut Rng) -> Vec<Datum> {
    let int = |rng: &mut Rng| Datum::Int(if rng.chance(4) { rng.next() as i64 } else { rng.pick(&INTS) });
    let float = |rng: &mut Rng| Datum::Float(rng.pick(&FLOATS));
    vec![
        int(rng),
        int(rng),
        int(rng),
        float(rng),
        float(rng),
        Datum::Bool(rng.chance(2)),
        Datum::Bool(rng.chance(2)),
    ]
}

/// A program with one function that has registers of all kinds and a switch, and two globals.
pub fn program() -> Program {
    let text = "\
global one: int
global two: int
function f(r0: int, r1: int, r2: int, r3: float, r4: float, r5: bool, r6: bool) -> int {
    switch r0, 0 [L1, L1] else L1
L1:
    ret r0
}
";
    let program = assemble(&format!("{PRELUDE}{text}")).expect("correct text");
    holloway_bytecode::verify::verify(program).expect("sound").into_program()
}

/// A random region of the function.
pub fn region(rng: &mut Rng, program: &Program) -> Region {
    let function = FunctionId(program.functions.len() as u32 - 1);
    let registers = program.functions[function.index()].registers.clone();
    let region = Region::new(program, function, RegionEntry::Method);
    let mut generator =
        Generator { rng, region, at: Region::ENTRY, known: [Vec::new(), Vec::new(), Vec::new()], registers };
    for number in 0..generator.registers.len() {
        let ty = Ty::of(generator.registers[number]);
        generator.node(Op::Argument(number as u16), &[], ty, None);
    }
    let size = generator.rng.below(4) + 1;
    for _ in 0..size {
        generator.statement(3);
    }
    let result = generator.value(Ty::Int);
    generator.end(Terminator::Return(Some(result)));
    generator.region
}

struct Generator<'a> {
    rng: &'a mut Rng,
    region: Region,
    /// The block that is being filled.
    at: BlockId,
    /// The values that may be used here: integers, floats, Booleans.
    known: [Vec<Value>; 3],
    registers: Vec<Type>,
}

fn kind(ty: Ty) -> usize {
    match ty {
        Ty::Int => 0,
        Ty::Float => 1,
        _ => 2,
    }
}

impl Generator<'_> {
    fn node(&mut self, op: Op, args: &[Value], ty: Ty, state: Option<StateId>) -> Value {
        let value =
            self.region.add_node(Node { op, args: args.into(), ty, state, inline: InlineId::ROOT, pc: 0 });
        self.region.block_mut(self.at).nodes.push(value);
        if ty != Ty::None {
            self.known[kind(ty)].push(value);
        }
        value
    }

    fn end(&mut self, end: Terminator) {
        self.region.block_mut(self.at).end = end;
    }

    /// A value of a type: one that is there, or a constant.
    fn value(&mut self, ty: Ty) -> Value {
        let known = &self.known[kind(ty)];
        if known.is_empty() || self.rng.chance(3) {
            let op = match ty {
                Ty::Int => Op::Int(self.rng.pick(&INTS)),
                Ty::Float => Op::Float(self.rng.pick(&FLOATS).to_bits()),
                _ => Op::Bool(self.rng.chance(2)),
            };
            return self.node(op, &[], ty, None);
        }
        // Recent ones more often, so that expressions become deep.
        let recent = known.len().min(1 + self.rng.below(known.len()));
        known[known.len() - recent + self.rng.below(recent)]
    }

    fn any_type(&mut self) -> Ty {
        self.rng.pick(&[Ty::Int, Ty::Int, Ty::Float, Ty::Bool])
    }

    fn state(&mut self) -> StateId {
        let mut registers = Vec::new();
        for number in 0..self.registers.len() {
            if self.rng.chance(3) {
                let value = self.value(Ty::of(self.registers[number]));
                registers.push((Register(number as u16), value));
            }
        }
        let state = FrameState {
            inline: InlineId::ROOT,
            pc: 0,
            kind: StateKind::Before,
            told: false,
            registers,
            caller: None,
        };
        self.region.add_state(state)
    }

    fn expression(&mut self) {
        use Ty::{Bool, Float, Int};
        const ARITH: [Arith; 9] = [
            Arith::Add,
            Arith::Sub,
            Arith::Mul,
            Arith::And,
            Arith::Or,
            Arith::Xor,
            Arith::Shl,
            Arith::Shr,
            Arith::Ushr,
        ];
        const CONDS: [Cond; 10] = [
            Cond::Eq,
            Cond::Ne,
            Cond::Lt,
            Cond::Le,
            Cond::Gt,
            Cond::Ge,
            Cond::ULt,
            Cond::ULe,
            Cond::UGt,
            Cond::UGe,
        ];
        let arith = Op::Arith(self.rng.pick(&ARITH));
        let float_arith = Op::FloatArith(self.rng.pick(&[
            FloatArith::Add,
            FloatArith::Sub,
            FloatArith::Mul,
            FloatArith::Div,
        ]));
        let unary = Op::FloatUnary(self.rng.pick(&[
            FloatUnary::Neg,
            FloatUnary::Abs,
            FloatUnary::Sqrt,
            FloatUnary::Floor,
            FloatUnary::Ceil,
        ]));
        let compare = Op::Compare(self.rng.pick(&CONDS));
        let equal = Op::Compare(self.rng.pick(&[Cond::Eq, Cond::Ne]));
        let float_compare = Op::FloatCompare(self.rng.pick(&[
            FloatCond::Eq,
            FloatCond::Ne,
            FloatCond::Lt,
            FloatCond::Le,
            FloatCond::Nlt,
            FloatCond::Nle,
        ]));
        let selected = self.any_type();
        let (op, args, ty): (Op, &[Ty], Ty) = match self.rng.below(24) {
            0..=8 => (arith, &[Int, Int], Int),
            9..=10 => (float_arith, &[Float, Float], Float),
            11 => (unary, &[Float], Float),
            12 => (Op::IntToFloat, &[Int], Float),
            13 => (Op::FloatToInt, &[Float], Int),
            14 => (Op::FloatBits, &[Float], Int),
            15 => (Op::FloatFromBits, &[Int], Float),
            16..=18 => (compare, &[Int, Int], Bool),
            19 => (equal, &[Bool, Bool], Bool),
            20 => (float_compare, &[Float, Float], Bool),
            21 => (Op::Not, &[Bool], Bool),
            _ => (Op::Select, &[Bool, selected, selected], selected),
        };
        let args: Vec<Value> = args.iter().map(|&ty| self.value(ty)).collect();
        self.node(op, &args, ty, None);
    }

    /// Something with an effect.
    fn effect(&mut self) {
        match self.rng.below(8) {
            0 | 1 => {
                let value = self.value(Ty::Int);
                let global = self.rng.below(2) as u32;
                self.node(Op::StoreGlobal(GlobalId(global)), &[value], Ty::None, None);
            }
            2 | 3 => {
                let global = self.rng.below(2) as u32;
                self.node(Op::LoadGlobal(GlobalId(global)), &[], Ty::Int, None);
            }
            4 => {
                let state = self.state();
                self.node(Op::Yieldpoint(YieldKind::Loop), &[], Ty::None, Some(state));
            }
            5 => {
                let (a, b, state) = (self.value(Ty::Int), self.value(Ty::Int), self.state());
                let divisor = self.node(Op::CheckDivisor, &[b], Ty::Int, Some(state));
                let op = self.rng.pick(&[Op::Div, Op::Rem]);
                self.node(op, &[a, divisor], Ty::Int, None);
            }
            6 => {
                let (index, length, state) = (self.value(Ty::Int), self.value(Ty::Int), self.state());
                let op = self.rng.pick(&[Op::CheckBounds, Op::CheckLength]);
                let args = [index, length];
                self.node(op, &args[..if op == Op::CheckBounds { 2 } else { 1 }], Ty::Int, Some(state));
            }
            _ => {
                let (condition, state) = (self.value(Ty::Bool), self.state());
                let op = Op::Guard(self.rng.chance(2), Reason::Untaken);
                self.node(op, &[condition], Ty::None, Some(state));
            }
        }
    }

    fn statement(&mut self, depth: usize) {
        for _ in 0..self.rng.below(6) {
            self.expression();
        }
        if self.rng.chance(3) {
            self.effect();
        }
        if depth == 0 {
            return;
        }
        match self.rng.below(6) {
            0 | 1 => self.conditional(depth - 1),
            2 => self.choice(depth - 1),
            3 => self.repetition(depth - 1),
            4 => {
                self.statement(depth - 1);
                self.statement(depth - 1);
            }
            _ => {}
        }
    }

    /// Types for the parameters of a block.
    fn types(&mut self) -> Vec<Ty> {
        (0..self.rng.below(4)).map(|_| self.any_type()).collect()
    }

    fn arguments(&mut self, types: &[Ty]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    /// Goes on in a new block with such parameters.
    fn enter(&mut self, block: BlockId, types: &[Ty]) {
        self.at = block;
        for &ty in types {
            let param = self.region.add_param(block, ty, InlineId::ROOT, 0);
            self.known[kind(ty)].push(param);
        }
    }

    /// Fills a block and what comes after it; what was known before is known again afterwards.
    fn arm(&mut self, block: BlockId, depth: usize, merge: BlockId, types: &[Ty]) {
        let known = self.known.clone();
        self.at = block;
        if !self.rng.chance(3) {
            self.statement(depth);
        }
        match self.rng.below(12) {
            0 => {
                let result = self.value(Ty::Int);
                self.end(Terminator::Return(Some(result)));
            }
            1 => {
                let state = self.state();
                self.end(Terminator::Deopt(Reason::Throw, state));
            }
            _ => {
                let args = self.arguments(types);
                self.end(Terminator::Jump(Target { block: merge, args }));
            }
        }
        self.known = known;
    }

    fn conditional(&mut self, depth: usize) {
        let condition = self.value(Ty::Bool);
        let types = self.types();
        let (then, otherwise, merge) =
            (self.region.add_block(), self.region.add_block(), self.region.add_block());
        // One of the ways may lead directly to where they meet.
        let directly = self.rng.chance(3).then(|| self.arguments(&types));
        let is_direct = directly.is_some();
        let otherwise_target = match directly {
            Some(args) => Target { block: merge, args },
            None => Target::plain(otherwise),
        };
        let counts = [self.rng.below(3) as u32, self.rng.below(3) as u32];
        let then_target = Target::plain(then);
        self.end(Terminator::Branch {
            condition,
            then: then_target,
            otherwise: otherwise_target,
            source: None,
            counts,
        });
        self.arm(then, depth, merge, &types);
        if !is_direct {
            self.arm(otherwise, depth, merge, &types);
        }
        self.enter(merge, &types);
        // A Boolean from the two ways is often branched on at once.
        if let Some(&last) = self.region.block(merge).params.last()
            && self.region.ty(last) == Ty::Bool
            && depth > 0
            && self.rng.chance(2)
        {
            self.known[2] = vec![last];
            self.conditional(depth - 1);
        }
    }

    fn choice(&mut self, depth: usize) {
        let value = self.value(Ty::Int);
        let types = self.types();
        let arms: Vec<BlockId> = (0..2 + self.rng.below(3)).map(|_| self.region.add_block()).collect();
        let merge = self.region.add_block();
        let (default, cases) = arms.split_last().expect("two arms");
        let counts = vec![1; arms.len()];
        let low = self.rng.pick(&[0, 1, -1, i64::MIN, i64::MAX]);
        self.end(Terminator::Switch {
            value,
            low,
            cases: cases.iter().map(|&case| Target::plain(case)).collect(),
            default: Target::plain(*default),
            source: Source { inline: InlineId::ROOT, pc: 0, negated: false },
            counts,
        });
        for &arm in &arms {
            self.arm(arm, depth, merge, &types);
        }
        self.enter(merge, &types);
    }

    /// A loop that runs a few times.
    fn repetition(&mut self, depth: usize) {
        let mut types = self.types();
        types.push(Ty::Int);
        let zero = self.node(Op::Int(0), &[], Ty::Int, None);
        let mut args = self.arguments(&types);
        args.pop();
        args.push(zero);
        let (header, body, exit) =
            (self.region.add_block(), self.region.add_block(), self.region.add_block());
        self.end(Terminator::Jump(Target { block: header, args }));
        self.enter(header, &types);
        let params = self.region.block(header).params.clone();
        let count = params[params.len() - 1];
        let limit = self.rng.below(4) as i64;
        let limit = self.node(Op::Int(limit), &[], Ty::Int, None);
        let condition = self.node(Op::Compare(Cond::Lt), &[count, limit], Ty::Bool, None);
        self.end(Terminator::Branch {
            condition,
            then: Target::plain(body),
            otherwise: Target::plain(exit),
            source: None,
            counts: [3, 1],
        });
        let known = self.known.clone();
        self.at = body;
        self.statement(depth);
        let state = self.state();
        self.node(Op::Yieldpoint(YieldKind::Loop), &[], Ty::None, Some(state));
        let one = self.node(Op::Int(1), &[], Ty::Int, None);
        let next = self.node(Op::Arith(Arith::Add), &[count, one], Ty::Int, None);
        let mut args: Vec<Value> = Vec::new();
        for (&param, &ty) in params.iter().zip(&types) {
            // Parameters that stay the same are what passes look for.
            args.push(if self.rng.chance(3) { param } else { self.value(ty) });
        }
        args.pop();
        args.push(next);
        self.end(Terminator::Jump(Target { block: header, args }));
        self.known = known;
        self.at = exit;
    }
}
