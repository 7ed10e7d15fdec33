//! The code of one function while it is being written: instructions with labels, before they have places.
//!
//! It stands between code generation and [`holloway_bytecode::Builder`] for three things. It knows whether the place being
//! written can be reached, and drops what cannot. It leaves gaps that are filled later (constants in front of a loop are
//! known only when its end is reached). And it follows jumps to their final destination before the code is fixed: a
//! dispatched instruction costs the same whatever it does, so a jump to a jump is worth removing.

mod copies;

use holloway_bytecode::code::Code;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Builder, ClassId, Op, Position, Register, Type};

/// A place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u32);

/// A gap in front of a loop, see [`Buffer::gap`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap(u32);

/// What an item is beside its opcode and operands.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// One word.
    Plain,
    /// One word with a fourth register.
    Fourth(u8),
    /// With a 64-bit constant.
    Wide(u64),
    /// A conditional branch.
    Branch(Label),
    /// A jump.
    Jump(Label),
    /// A switch: the lowest case and where in `cases` its targets are, the default last.
    Switch { low: i64, first: u32, count: u32 },
    /// A call: where in `arguments` its arguments are.
    Call { first: u32, count: u32 },
    /// Not an instruction: the label stands for what follows.
    Bind(Label),
    /// Not an instruction: the gap with this number.
    Gap(u32),
    /// Not an instruction: what was here turned out to be unnecessary.
    Nothing,
}

/// An instruction or a mark between instructions.
#[derive(Clone, Copy, Debug)]
struct Item {
    op: Op,
    a: u16,
    b: u16,
    c: u16,
    kind: Kind,
    position: Position,
}

/// What is known of a label.
#[derive(Clone, Copy, Default)]
struct LabelState {
    /// The item that binds it.
    bound: Option<u32>,
    /// Something goes there.
    used: bool,
}

/// Code protected by a handler.
struct Protected {
    start: Label,
    end: Label,
    target: Label,
    class: ClassId,
    register: Register,
}

/// The code of one function.
pub(super) struct Buffer {
    items: Vec<Item>,
    labels: Vec<LabelState>,
    arguments: Vec<Register>,
    cases: Vec<Label>,
    gaps: Vec<Vec<Item>>,
    handlers: Vec<Protected>,
    reachable: bool,
    position: Position,
}

/// At most so many jumps are followed one after another.
const MAX_HOPS: usize = 16;

impl Buffer {
    /// Nothing written yet.
    pub(super) fn new() -> Buffer {
        Buffer {
            items: Vec::new(),
            labels: Vec::new(),
            arguments: Vec::new(),
            cases: Vec::new(),
            gaps: Vec::new(),
            handlers: Vec::new(),
            reachable: true,
            position: Position::default(),
        }
    }

    /// Can control come to the place that is written next.
    pub(super) fn reachable(&self) -> bool {
        self.reachable
    }

    /// What is written next comes from this place in the source.
    pub(super) fn set_position(&mut self, position: Position) {
        self.position = position;
    }

    fn push(&mut self, op: Op, a: u16, b: u16, c: u16, kind: Kind) {
        if self.reachable {
            self.items.push(Item { op, a, b, c, kind, position: self.position });
        }
    }

    /// An instruction of one word, or a wide one whose constant is 0.
    pub(super) fn op(&mut self, op: Op, a: u16, b: u16, c: u16) {
        let kind = if op.shape() == OpShape::Wide { Kind::Wide(0) } else { Kind::Plain };
        self.push(op, a, b, c, kind);
        if matches!(op.shape(), OpShape::Return | OpShape::Throw) {
            self.reachable = false;
        }
    }

    /// An instruction of one word with a fourth register.
    pub(super) fn op_n(&mut self, op: Op, a: u16, b: u16, c: u16, n: u8) {
        self.push(op, a, b, c, Kind::Fourth(n));
    }

    /// An instruction with a 32-bit operand.
    pub(super) fn op_bc(&mut self, op: Op, a: u16, bc: u32) {
        self.op(op, a, bc as u16, (bc >> 16) as u16);
    }

    /// An instruction with a 64-bit constant.
    pub(super) fn wide(&mut self, op: Op, a: u16, b: u16, x: u64) {
        self.push(op, a, b, 0, Kind::Wide(x));
    }

    /// A conditional branch, named by its forward form; where the label is bound already it becomes the backward form.
    pub(super) fn branch(&mut self, op: Op, a: u16, b: u16, target: Label) {
        let op = if self.is_bound(target) { op.backward().unwrap_or(op) } else { op };
        self.push(op, a, b, 0, Kind::Branch(target));
        self.mark(target);
    }

    /// A jump, forward or backward.
    pub(super) fn jump(&mut self, target: Label) {
        let op = if self.is_bound(target) { Op::LoopJump } else { Op::Jump };
        self.push(op, 0, 0, 0, Kind::Jump(target));
        self.mark(target);
        self.reachable = false;
    }

    /// A switch on `a`: case i is taken for `low + i`.
    pub(super) fn switch(&mut self, a: Register, low: i64, cases: &[Label], default: Label) {
        let first = self.cases.len() as u32;
        self.cases.extend(cases);
        self.cases.push(default);
        for &label in cases.iter().chain([&default]) {
            self.mark(label);
        }
        self.push(Op::Switch, a.0, 0, 0, Kind::Switch { low, first, count: cases.len() as u32 });
        self.reachable = false;
    }

    /// A call of any kind with at most 255 arguments.
    pub(super) fn call(&mut self, op: Op, result: u16, bc: u32, arguments: &[Register]) {
        let first = self.arguments.len() as u32;
        self.arguments.extend(arguments);
        let kind = Kind::Call { first, count: arguments.len() as u32 };
        self.push(op, result, bc as u16, (bc >> 16) as u16, kind);
    }

    /// After this nothing is reached (a call that never returns). The verifier does not know, so an endless loop follows.
    pub(super) fn never(&mut self) {
        if self.reachable {
            let here = self.here();
            self.jump(here);
        }
    }

    /// A label not yet bound.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(LabelState::default());
        Label(self.labels.len() as u32 - 1)
    }

    /// The label stands for what is written next.
    pub(super) fn bind(&mut self, label: Label) {
        self.reachable |= self.labels[label.0 as usize].used;
        self.labels[label.0 as usize].bound = Some(self.items.len() as u32);
        self.items.push(Item {
            op: Op::Jump,
            a: 0,
            b: 0,
            c: 0,
            kind: Kind::Bind(label),
            position: Position::default(),
        });
    }

    /// A label bound here.
    pub(super) fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Errors of `class` thrown between the labels go to `target`. Inner handlers must be added before outer ones.
    pub(super) fn handler(
        &mut self,
        start: Label,
        end: Label,
        target: Label,
        class: ClassId,
        register: Register,
    ) {
        let bound = |label: Label| self.labels[label.0 as usize].bound.unwrap_or(0) as usize;
        let any = self.items[bound(start)..bound(end)].iter().any(|item| !matches!(item.kind, Kind::Bind(_)));
        if any {
            self.mark_always(target);
            self.handlers.push(Protected { start, end, target, class, register });
        }
    }

    /// A place where instructions can be put later, in front of everything that is written after.
    pub(super) fn gap(&mut self) -> Gap {
        let number = self.gaps.len() as u32;
        self.gaps.push(Vec::new());
        self.push(Op::Jump, 0, 0, 0, Kind::Gap(number));
        Gap(number)
    }

    /// Puts what `write` writes into the gap.
    pub(super) fn fill(&mut self, gap: Gap, write: impl FnOnce(&mut Buffer)) {
        let from = self.items.len();
        let reachable = std::mem::replace(&mut self.reachable, true);
        write(self);
        self.reachable = reachable;
        let written = self.items.split_off(from);
        self.gaps[gap.0 as usize].extend(written);
    }

    fn is_bound(&self, label: Label) -> bool {
        self.labels[label.0 as usize].bound.is_some()
    }

    fn mark(&mut self, label: Label) {
        if self.reachable {
            self.mark_always(label);
        }
    }

    fn mark_always(&mut self, label: Label) {
        self.labels[label.0 as usize].used = true;
    }

    /// Gives every instruction its place. `types` are those of the registers.
    pub(super) fn finish(mut self, types: &[Type]) -> Code {
        self.save_copies(types);
        self.thread();
        Assembly::new(&self).run()
    }

    /// Sends branches and jumps that go to a jump where that one goes, and replaces jumps to a return by the return.
    fn thread(&mut self) {
        for at in 0..self.items.len() {
            match self.items[at].kind {
                Kind::Branch(target) => {
                    let target = self.final_target(target);
                    let back = self.is_before(target, at);
                    let item = &mut self.items[at];
                    // A loop's branch stays one: its counters and its yieldpoint belong to the loop.
                    if item.op.shape() == OpShape::Branch || back {
                        item.kind = Kind::Branch(target);
                    }
                    if back {
                        item.op = item.op.backward().unwrap_or(item.op);
                    }
                }
                Kind::Jump(target) => {
                    let target = self.final_target(target);
                    match self.landing(target).map(|landing| self.items[landing]) {
                        Some(end) if end.op.shape() == OpShape::Return => self.items[at] = end,
                        _ => {
                            let op = if self.is_before(target, at) { Op::LoopJump } else { Op::Jump };
                            self.items[at] = Item { op, kind: Kind::Jump(target), ..self.items[at] };
                        }
                    }
                }
                Kind::Switch { first, count, .. } => {
                    for case in first..=first + count {
                        let target = self.final_target(self.cases[case as usize]);
                        // A switch goes forward only.
                        if !self.is_before(target, at) {
                            self.cases[case as usize] = target;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn is_before(&self, label: Label, at: usize) -> bool {
        self.labels[label.0 as usize].bound.is_some_and(|bound| (bound as usize) < at)
    }

    /// The first instruction at or after a label.
    fn landing(&self, label: Label) -> Option<usize> {
        let bound = self.labels[label.0 as usize].bound? as usize;
        let skip = self.items[bound..]
            .iter()
            .position(|item| !matches!(item.kind, Kind::Bind(_) | Kind::Nothing))?;
        Some(bound + skip)
    }

    fn final_target(&self, label: Label) -> Label {
        let mut at = label;
        for _ in 0..MAX_HOPS {
            match self.landing(at).map(|landing| self.items[landing].kind) {
                Some(Kind::Jump(next)) if next != at => at = next,
                _ => break,
            }
        }
        at
    }
}

/// The last pass: drops what is not reached and jumps to the next instruction, and writes the rest.
struct Assembly<'b> {
    buffer: &'b Buffer,
    builder: Builder,
    labels: Vec<Option<holloway_bytecode::Label>>,
    /// Labels that something kept goes to.
    used: Vec<bool>,
    /// How many instructions were kept when the label was passed.
    passed: Vec<Option<usize>>,
    /// The handler that a label begins.
    caught: Vec<Option<u32>>,
    kept: usize,
}

impl<'b> Assembly<'b> {
    fn new(buffer: &'b Buffer) -> Assembly<'b> {
        let labels = buffer.labels.len();
        let mut caught = vec![None; labels];
        for (number, handler) in buffer.handlers.iter().enumerate() {
            caught[handler.target.0 as usize] = Some(number as u32);
        }
        Assembly {
            buffer,
            builder: Builder::new(),
            labels: vec![None; labels],
            used: vec![false; labels],
            passed: vec![None; labels],
            caught,
            kept: 0,
        }
    }

    fn run(mut self) -> Code {
        let buffer = self.buffer;
        let mut reachable = true;
        let mut at = 0;
        while at < buffer.items.len() {
            let item = &buffer.items[at];
            match item.kind {
                Kind::Bind(label) => {
                    self.passed[label.0 as usize] = Some(self.kept);
                    reachable |= self.used[label.0 as usize] || self.catches(label);
                    let label = self.place(label);
                    self.builder.bind(label);
                }
                Kind::Nothing => {}
                _ if !reachable => {}
                Kind::Gap(number) => buffer.gaps[number as usize].iter().for_each(|item| self.write(item)),
                Kind::Jump(target) if self.falls_into(at + 1, target) => {}
                Kind::Branch(target) => match self.branch_over_jump(at, target) {
                    Some((op, a, b, target)) => {
                        self.write(&Item { op, a, b, kind: Kind::Branch(target), ..*item });
                        at += 1;
                    }
                    None => self.write(item),
                },
                _ => {
                    self.write(item);
                    reachable = !matches!(
                        item.op.shape(),
                        OpShape::Jump
                            | OpShape::LoopJump
                            | OpShape::Switch
                            | OpShape::Return
                            | OpShape::Throw
                    );
                }
            }
            at += 1;
        }
        for handler in &buffer.handlers {
            if self.protects(handler) {
                let [start, end, target] =
                    [handler.start, handler.end, handler.target].map(|label| self.place(label));
                self.builder.handler(start, end, target, handler.class, handler.register);
            }
        }
        self.builder.finish()
    }

    /// Is `target` bound between `from` and the next instruction.
    fn falls_into(&self, from: usize, target: Label) -> bool {
        let binds = self.buffer.items[from..].iter().map_while(|item| match item.kind {
            Kind::Bind(label) => Some(label),
            _ => None,
        });
        binds.into_iter().any(|label| label == target)
    }

    /// For `branch c, L; jump M; L:`, the parts of `branch !c, M`.
    fn branch_over_jump(&self, at: usize, target: Label) -> Option<(Op, u16, u16, Label)> {
        let item = &self.buffer.items[at];
        let jump = self.buffer.items.get(at + 1)?;
        let Kind::Jump(beyond) = jump.kind else { return None };
        if item.op.is_counted_loop() || !self.falls_into(at + 2, target) {
            return None;
        }
        let (op, swap) = item.op.inverted()?;
        let (a, b) = if swap { (item.b, item.a) } else { (item.a, item.b) };
        let op = if jump.op == Op::LoopJump { op.backward()? } else { op };
        Some((op, a, b, beyond))
    }

    fn catches(&self, label: Label) -> bool {
        self.caught[label.0 as usize].is_some_and(|h| self.protects(&self.buffer.handlers[h as usize]))
    }

    fn protects(&self, handler: &Protected) -> bool {
        let passed = |label: Label| self.passed[label.0 as usize];
        passed(handler.start) < passed(handler.end)
    }

    fn place(&mut self, label: Label) -> holloway_bytecode::Label {
        *self.labels[label.0 as usize].get_or_insert_with(|| self.builder.label())
    }

    fn target(&mut self, label: Label) -> holloway_bytecode::Label {
        self.used[label.0 as usize] = true;
        self.place(label)
    }

    fn write(&mut self, item: &Item) {
        self.kept += 1;
        self.builder.position(item.position);
        match item.kind {
            Kind::Plain => self.builder.op(item.op, item.a, item.b, item.c),
            Kind::Fourth(n) => self.builder.op_n(item.op, item.a, item.b, item.c, n),
            Kind::Wide(x) => self.builder.wide(item.op, item.a, item.b, item.c, x),
            Kind::Branch(target) => {
                let target = self.target(target);
                self.builder.branch(item.op, item.a, item.b, target);
            }
            Kind::Jump(target) => {
                let target = self.target(target);
                self.builder.jump(item.op, target);
            }
            Kind::Switch { low, first, count } => {
                let all = &self.buffer.cases[first as usize..=(first + count) as usize];
                let targets: Vec<_> = all.iter().map(|&label| self.target(label)).collect();
                let (default, cases) = targets.split_last().expect("a switch has a default");
                self.builder.switch(item.a, low, cases, *default);
            }
            Kind::Call { first, count } => {
                let arguments = &self.buffer.arguments[first as usize..(first + count) as usize];
                let bc = item.b as u32 | (item.c as u32) << 16;
                self.builder.call(item.op, item.a, bc, arguments);
            }
            Kind::Bind(_) | Kind::Gap(_) | Kind::Nothing => {}
        }
    }
}
