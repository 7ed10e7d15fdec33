//! Instructions as values, in words, and in the making: [`Instruction`] is a decoded view of words, [`Builder`] writes
//! words with labels for targets.

use crate::ops::{Op, OpShape, Place, Role};
use crate::program::{Handler, Position, PositionEntry};
use crate::types::{ClassId, Register};

/// A decoded instruction: a view of its words.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Instruction<'a> {
    /// What it does.
    pub op: Op,
    /// Number of arguments of a call, or a fourth register.
    pub n: u8,
    /// Operand a.
    pub a: u16,
    /// Operand b.
    pub b: u16,
    /// Operand c.
    pub c: u16,
    /// All its words.
    pub words: &'a [u64],
}

/// A case of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// Where it goes, relative to the switch.
    pub target: i32,
    /// How often it was taken.
    pub count: u32,
}

/// The first word of an instruction.
pub fn encode(op: Op, n: u8, a: u16, b: u16, c: u16) -> u64 {
    op as u64 | (n as u64) << 8 | (a as u64) << 16 | (b as u64) << 32 | (c as u64) << 48
}

/// How many words the instruction that begins with `word` takes; `None` if its opcode does not exist.
pub fn length(word: u64) -> Option<usize> {
    let op = Op::from_number(word as u8)?;
    Some(match op.shape() {
        OpShape::Plain | OpShape::Jump | OpShape::LoopJump | OpShape::Return | OpShape::Throw => 1,
        OpShape::Wide | OpShape::Branch | OpShape::LoopBranch => 2,
        OpShape::Switch => 3 + (word >> 48) as usize,
        OpShape::Call => 2 + ((word >> 8) as u8 as usize).div_ceil(4),
    })
}

/// Decodes the instruction at `pc`; `None` if there is none or its words are cut off.
pub fn decode(code: &[u64], pc: usize) -> Option<Instruction<'_>> {
    let word = *code.get(pc)?;
    let words = code.get(pc..pc + length(word)?)?;
    Some(Instruction {
        op: Op::from_number(word as u8)?,
        n: (word >> 8) as u8,
        a: (word >> 16) as u16,
        b: (word >> 32) as u16,
        c: (word >> 48) as u16,
        words,
    })
}

/// All instructions with their places, up to the first that cannot be decoded.
pub fn instructions(code: &[u64]) -> impl Iterator<Item = (usize, Instruction<'_>)> {
    let mut pc = 0;
    std::iter::from_fn(move || {
        let instruction = decode(code, pc)?;
        let at = pc;
        pc += instruction.words.len();
        Some((at, instruction))
    })
}

impl<'a> Instruction<'a> {
    /// `b` and `c` as one number.
    pub fn bc(&self) -> u32 {
        self.b as u32 | (self.c as u32) << 16
    }

    /// The second word (0 if there is none).
    pub fn x(&self) -> u64 {
        self.words.get(1).copied().unwrap_or(0)
    }

    /// The value of an operand as encoded, not sign-extended.
    pub fn operand(&self, place: Place) -> u64 {
        match place {
            Place::A => self.a as u64,
            Place::B => self.b as u64,
            Place::C => self.c as u64,
            Place::BC => self.bc() as u64,
            Place::N => self.n as u64,
            Place::X => self.x(),
            Place::Rest => 0,
        }
    }

    /// The arguments of a call.
    pub fn args(&self) -> impl ExactSizeIterator<Item = Register> + use<'a> {
        let words = self.words;
        let n = if self.op.shape() == OpShape::Call { self.n as usize } else { 0 };
        (0..n).map(move |i| Register((words[2 + i / 4] >> (i % 4 * 16)) as u16))
    }

    /// The cases of a switch, the default last; empty for other instructions.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = Case> + use<'a> {
        let rest = if self.op == Op::Switch { &self.words[2..] } else { &[] };
        rest.iter().map(|&w| Case { target: w as i32, count: (w >> 32) as u32 })
    }

    /// The target of a branch or jump, relative to this instruction.
    pub fn target(&self) -> Option<i32> {
        match self.op.shape() {
            OpShape::Branch | OpShape::LoopBranch => Some(self.c as i16 as i32),
            OpShape::Jump | OpShape::LoopJump => Some(self.bc() as i32),
            _ => None,
        }
    }

    /// Registers read, in operand order.
    pub fn uses(&self) -> impl Iterator<Item = Register> + use<'a> {
        let this = *self;
        let counted = this.op.is_counted_loop().then_some(Register(this.a));
        this.op
            .operands()
            .iter()
            .filter(|o| o.role == Role::Use)
            .map(move |o| Register(this.operand(o.place) as u16))
            .chain(counted)
            .chain(this.args())
    }

    /// The register written by anything but a call (whose result depends on the callee).
    pub fn def(&self) -> Option<Register> {
        let operand = self.op.operands().iter().find(|o| o.role == Role::Def)?;
        Some(Register(self.operand(operand.place) as u16))
    }

    /// Control can go on to the next instruction.
    pub fn falls_through(&self) -> bool {
        !matches!(
            self.op.shape(),
            OpShape::Jump | OpShape::LoopJump | OpShape::Switch | OpShape::Return | OpShape::Throw
        )
    }
}

/// A place in code that is being built; bound once, used any number of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(u32);

/// What [`Builder::finish`] gives.
#[derive(Debug, Default)]
pub struct Code {
    /// The words.
    pub words: Vec<u64>,
    /// The handlers with resolved places.
    pub handlers: Vec<Handler>,
    /// The positions.
    pub positions: Vec<PositionEntry>,
}

/// Writes code. Targets are labels; branches that reach too far for 16 bits are lengthened at the end.
#[derive(Default)]
pub struct Builder {
    items: Vec<Item>,
    labels: Vec<Option<usize>>,
    handlers: Vec<(Label, Label, Label, ClassId, Register)>,
    positions: Vec<(usize, Position)>,
}

/// An instruction before its targets are known.
struct Item {
    words: Vec<u64>,
    targets: Vec<Label>,
    /// A branch whose target needs more than 16 bits.
    long: bool,
}

impl Builder {
    /// Nothing written yet.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// A new label, not yet bound.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label stands for what is written next.
    pub fn bind(&mut self, label: Label) {
        debug_assert!(self.labels[label.0 as usize].is_none(), "label bound twice");
        self.labels[label.0 as usize] = Some(self.items.len());
    }

    /// A label bound here.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// How many instructions were written.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What follows comes from this place.
    pub fn position(&mut self, position: Position) {
        let at = self.items.len();
        match self.positions.last_mut() {
            Some((last, p)) if *last == at => *p = position,
            Some((_, p)) if *p == position => {}
            _ => self.positions.push((at, position)),
        }
    }

    /// Writes an instruction of one word (or of a `Wide` shape whose constant is 0).
    pub fn op(&mut self, op: Op, a: u16, b: u16, c: u16) {
        let mut words = vec![encode(op, 0, a, b, c)];
        if op.shape() == OpShape::Wide {
            words.push(0);
        }
        self.items.push(Item { words, targets: Vec::new(), long: false });
    }

    /// Writes an instruction of one word with a fourth register, which must be below 256.
    pub fn op_n(&mut self, op: Op, a: u16, b: u16, c: u16, n: u8) {
        self.items.push(Item { words: vec![encode(op, n, a, b, c)], targets: Vec::new(), long: false });
    }

    /// Writes an instruction with a 32-bit operand.
    pub fn op_bc(&mut self, op: Op, a: u16, bc: u32) {
        self.op(op, a, bc as u16, (bc >> 16) as u16);
    }

    /// Writes an instruction with a 64-bit constant.
    pub fn wide(&mut self, op: Op, a: u16, b: u16, c: u16, x: u64) {
        self.items.push(Item { words: vec![encode(op, 0, a, b, c), x], targets: Vec::new(), long: false });
    }

    /// Writes a branch.
    pub fn branch(&mut self, op: Op, a: u16, b: u16, target: Label) {
        self.items.push(Item { words: vec![encode(op, 0, a, b, 0), 0], targets: vec![target], long: false });
    }

    /// Writes a jump: `Op::Jump` or `Op::LoopJump`.
    pub fn jump(&mut self, op: Op, target: Label) {
        self.items.push(Item { words: vec![encode(op, 0, 0, 0, 0)], targets: vec![target], long: false });
    }

    /// Writes a switch on `a`: case i is taken for `low + i`. At most 65,535 cases.
    pub fn switch(&mut self, a: u16, low: i64, cases: &[Label], default: Label) {
        let mut words = vec![encode(Op::Switch, 0, a, 0, cases.len() as u16), low as u64];
        words.resize(3 + cases.len(), 0);
        let targets = cases.iter().copied().chain([default]).collect();
        self.items.push(Item { words, targets, long: false });
    }

    /// Writes a call; `bc` is the function, slot, interface method or native. At most 255 arguments.
    pub fn call(&mut self, op: Op, a: u16, bc: u32, args: &[Register]) {
        let mut words = vec![encode(op, args.len() as u8, a, bc as u16, (bc >> 16) as u16), 0];
        words.resize(2 + args.len().div_ceil(4), 0);
        for (i, arg) in args.iter().enumerate() {
            words[2 + i / 4] |= (arg.0 as u64) << (i % 4 * 16);
        }
        self.items.push(Item { words, targets: Vec::new(), long: false });
    }

    /// Errors of `class` thrown between the labels go to `target`. Inner handlers must be added before outer ones.
    pub fn handler(&mut self, start: Label, end: Label, target: Label, class: ClassId, register: Register) {
        self.handlers.push((start, end, target, class, register));
    }

    /// Resolves all labels (every one used must be bound).
    pub fn finish(mut self) -> Code {
        let places = loop {
            let places = self.places();
            if !self.lengthen(&places) {
                break places;
            }
        };
        let place = |label: Label| places[self.labels[label.0 as usize].expect("label used but not bound")];
        let mut words = Vec::with_capacity(*places.last().expect("places has an end"));
        for (item, &at) in self.items.iter().zip(&places) {
            let offset = |from: usize, label: Label| (place(label) as i64 - from as i64) as i32;
            write_item(item, at, &offset, &mut words);
        }
        let handlers = self
            .handlers
            .iter()
            .map(|&(start, end, target, class, register)| Handler {
                start: place(start) as u32,
                end: place(end) as u32,
                target: place(target) as u32,
                class,
                register,
            })
            .filter(|h| h.start < h.end)
            .collect();
        let mut positions: Vec<PositionEntry> = Vec::new();
        for &(item, position) in &self.positions {
            let pc = places[item] as u32;
            if (pc as usize) < words.len() {
                positions.push(PositionEntry { pc, position });
            }
        }
        Code { words, handlers, positions }
    }

    /// The word at which each item begins, and the end.
    fn places(&self) -> Vec<usize> {
        let mut places = Vec::with_capacity(self.items.len() + 1);
        let mut at = 0;
        for item in &self.items {
            places.push(at);
            at += item_length(item);
        }
        places.push(at);
        places
    }

    /// Marks branches that do not reach; true if there were any.
    fn lengthen(&mut self, places: &[usize]) -> bool {
        let mut any = false;
        for (item, &at) in self.items.iter_mut().zip(places) {
            let op = Op::from_number(item.words[0] as u8).expect("builder writes existing opcodes");
            if !item.long && matches!(op.shape(), OpShape::Branch | OpShape::LoopBranch) {
                let target = self.labels[item.targets[0].0 as usize].expect("label used but not bound");
                let offset = places[target] as i64 - at as i64;
                if offset != offset as i16 as i64 {
                    item.long = true;
                    any = true;
                }
            }
        }
        any
    }
}

/// Words of an item in its present form. A long branch is the opposite branch over a jump; a long counted loop
/// takes its step and its comparison apart.
fn item_length(item: &Item) -> usize {
    let op = Op::from_number(item.words[0] as u8).expect("builder writes existing opcodes");
    item.words.len() + if item.long { 1 + op.is_counted_loop() as usize } else { 0 }
}

fn write_item(item: &Item, at: usize, offset: &dyn Fn(usize, Label) -> i32, words: &mut Vec<u64>) {
    let first = item.words[0];
    let op = Op::from_number(first as u8).expect("builder writes existing opcodes");
    let (a, b) = ((first >> 16) as u16, (first >> 32) as u16);
    let jump_from = |op: Op, from: usize| {
        let bc = offset(from, item.targets[0]) as u32;
        encode(op, 0, 0, bc as u16, (bc >> 16) as u16)
    };
    match op.shape() {
        OpShape::Branch | OpShape::LoopBranch if !item.long => {
            words.extend([first | (offset(at, item.targets[0]) as u16 as u64) << 48, 0]);
        }
        OpShape::Branch | OpShape::LoopBranch => {
            let jump = if op.shape() == OpShape::LoopBranch { Op::LoopJump } else { Op::Jump };
            if let Some((inverse, swap)) = op.inverted() {
                let (a, b) = if swap { (b, a) } else { (a, b) };
                words.extend([encode(inverse, 0, a, b, 3), 0, jump_from(jump, at + 2)]);
                return;
            }
            let step = encode(Op::AddI, 0, a, a, 1);
            let exit = |op, a, b, over| encode(op, 0, a, b, over);
            match op {
                Op::ForLt => words.extend([step, exit(Op::BrLe, b, a, 3), 0, jump_from(jump, at + 3)]),
                Op::ForLtI => words.extend([step, exit(Op::BrGeI, a, b, 3), 0, jump_from(jump, at + 3)]),
                Op::ForLe => words.extend([exit(Op::BrLe, b, a, 4), 0, step, jump_from(jump, at + 3)]),
                _ => words.extend([exit(Op::BrGeI, a, b, 4), 0, step, jump_from(jump, at + 3)]),
            }
        }
        OpShape::Jump | OpShape::LoopJump => words.push(jump_from(op, at)),
        OpShape::Switch => {
            words.extend(&item.words[..2]);
            words.extend(item.targets.iter().map(|&t| offset(at, t) as u32 as u64));
        }
        _ => words.extend(&item.words),
    }
}
