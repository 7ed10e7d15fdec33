//! Regions from text: the inverse of [`super::print`], whose header shows the form.
//!
//! Lines may come in any order but for the first one and the nodes of a block. Numbers of values, blocks and states
//! are kept; what lies between them is filled up with nodes that are in no block, blocks that nothing reaches, and states
//! that nobody uses. Nodes without a result may be written without their number. A line without origin has that of the
//! line before.
//!
//! What is read is well formed in so far as all that it names exists. Whether it makes sense is for
//! [`super::verify`] to say.

use super::cursor::{Cursor, Read};
use super::names::{Names, TYPE_WORDS};
use super::operations::operation;
use super::{
    Block, BlockId, FrameState, Inline, InlineId, Node, Op, Reason, RefTy, Region, RegionEntry, Source,
    StateId, StateKind, Target, Terminator, Ty, Value,
};
use holloway_bytecode::{ClassId, FunctionId, InterfaceId, Program, Register, Shape};
use smallvec::SmallVec;
use std::fmt;

/// Numbers of values, blocks and states are below this.
const LIMIT: u32 = 1 << 18;

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// The region that a text describes.
pub fn parse(text: &str, program: &Program) -> Result<Region, ParseError> {
    let mut parser = Parser {
        names: Names::new(program),
        region: None,
        origin: (InlineId::ROOT, 0),
        defined: Numbers::default(),
        used: Numbers::default(),
        unnumbered: Vec::new(),
        block: None,
        line: 0,
    };
    for (number, line) in text.lines().enumerate() {
        parser.line = number + 1;
        let mut cursor = Cursor::new(line);
        if !cursor.at_end() {
            parser.statement(&mut cursor).map_err(|message| ParseError { line: number + 1, message })?;
        }
    }
    parser.finish()
}

/// Which values, states, blocks and methods are defined or used, with the line.
#[derive(Default)]
struct Numbers {
    values: Vec<(u32, usize)>,
    states: Vec<(u32, usize)>,
    blocks: Vec<(u32, usize)>,
    inlines: Vec<(u32, usize)>,
}

/// Everything read so far.
pub(super) struct Parser<'a> {
    pub names: Names<'a>,
    region: Option<Region>,
    /// The origin of the line before.
    origin: (InlineId, u32),
    defined: Numbers,
    used: Numbers,
    /// Nodes written without number: their block, place in it, and what they are.
    unnumbered: Vec<(BlockId, usize, Node)>,
    /// The block that is being read.
    block: Option<BlockId>,
    line: usize,
}

impl Parser<'_> {
    fn statement(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        if self.region.is_none() {
            c.expect_word("region")?;
            return self.region_head(c);
        }
        if c.eat_word("inline") {
            return self.inline(c);
        }
        if c.eat_word("state") {
            return self.state(c);
        }
        if let Some(number) = c.numbered('b') {
            return self.block_head(c, number);
        }
        let Some(block) = self.block else {
            return c.expected("`inline`, `state` or a block");
        };
        let value = c.numbered('v');
        if let Some(number) = value {
            define(&mut self.defined.values, number, self.line)?;
        } else if let Some(end) = self.end(c)? {
            c.end()?;
            self.region().block_mut(block).end = end;
            self.block = None;
            return Ok(());
        }
        let node = self.node(c, value.is_some())?;
        c.end()?;
        match value {
            Some(number) => {
                self.set_node(number, node);
                self.region().block_mut(block).nodes.push(Value(number));
            }
            None => {
                // A place is held until all numbers are known.
                let place = self.region().block(block).nodes.len();
                self.region().block_mut(block).nodes.push(Value(0));
                self.unnumbered.push((block, place, node));
            }
        }
        Ok(())
    }

    fn region_head(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        let function = FunctionId(c.reference("function", &self.names.functions)?);
        let mut entry = RegionEntry::Method;
        if c.eat_word("at") {
            c.expect_word("loop")?;
            entry = RegionEntry::Loop(c.number()?);
        }
        c.end()?;
        let mut region = Region::new(self.names.program, function, entry);
        region.blocks.clear();
        self.region = Some(region);
        Ok(())
    }

    fn inline(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        let next = self.region().inlines.len() as u32;
        if !c.eat_word(&format!("i{next}")) {
            return c.expected(&format!("`i{next}` (methods are numbered in order)"));
        }
        c.expect("=")?;
        let function = FunctionId(c.reference("function", &self.names.functions)?);
        let mut caller = None;
        if c.eat_word("at") {
            caller = Some(self.origin(c)?);
        }
        c.end()?;
        // A caller that comes later is reported at the end; the depth does not matter then.
        let depth = caller
            .and_then(|(caller, _)| self.region().inlines.get(caller.index()))
            .map_or(0, |i| i.depth + 1);
        self.region().inlines.push(Inline { function, caller, depth });
        Ok(())
    }

    fn state(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        let Some(number) = c.numbered('s') else {
            return c.expected("a state, such as `s3`");
        };
        define(&mut self.defined.states, number, self.line)?;
        c.expect("=")?;
        let (inline, pc) = self.origin(c)?;
        let kind = if c.eat_word("before") {
            StateKind::Before
        } else {
            c.expect_word("during")?;
            StateKind::During(if c.eat("-") { None } else { Some(register(c)?) })
        };
        let told = c.eat_word("told");
        c.expect("{")?;
        let mut registers = Vec::new();
        while !c.eat("}") {
            if !registers.is_empty() {
                c.expect(",")?;
            }
            let register = register(c)?;
            c.expect(":")?;
            registers.push((register, self.value(c)?));
        }
        let caller = if c.eat_word("in") { Some(self.state_use(c)?) } else { None };
        c.end()?;
        let state = FrameState { inline, pc, kind, told, registers, caller };
        let filler = FrameState { registers: Vec::new(), caller: None, ..state.clone() };
        put(&mut self.region().states, number, state, &filler);
        Ok(())
    }

    fn block_head(&mut self, c: &mut Cursor<'_>, number: u32) -> Read<()> {
        define(&mut self.defined.blocks, number, self.line)?;
        let mut params = Vec::new();
        if c.eat("(") {
            while !c.eat(")") {
                if !params.is_empty() {
                    c.expect(",")?;
                }
                let Some(param) = c.numbered('v') else { return c.expected("a value, such as `v3`") };
                define(&mut self.defined.values, param, self.line)?;
                c.expect(":")?;
                let ty = self.ty(c)?;
                let own = if c.eat("@") { Some(self.origin(c)?) } else { None };
                params.push((param, ty, own));
            }
        }
        let cold = c.eat_word("cold");
        c.expect(":")?;
        self.side(c)?;
        c.end()?;
        let origin = self.origin;
        for &(param, ty, own) in &params {
            let (inline, pc) = own.unwrap_or(origin);
            let node = Node { op: Op::Param, args: SmallVec::new(), ty, state: None, inline, pc };
            self.set_node(param, node);
        }
        let params = params.iter().map(|&(param, ..)| Value(param)).collect();
        let block = Block { params, nodes: Vec::new(), end: Terminator::Open, cold };
        put(&mut self.region().blocks, number, block, &Block::new());
        self.block = Some(BlockId(number));
        Ok(())
    }

    /// A node after its number.
    fn node(&mut self, c: &mut Cursor<'_>, has_number: bool) -> Read<Node> {
        let mut ty = Ty::None;
        if has_number {
            if c.eat(":") {
                ty = self.ty(c)?;
            }
            c.expect("=")?;
        }
        let (op, has_details) = operation(self, c)?;
        // Operands are in parentheses if something else stands before them.
        let args = match has_details {
            true if c.eat("(") => self.values(c, ")")?,
            false if c.peek_word().starts_with('v') => self.values(c, "")?,
            _ => Vec::new(),
        };
        let mut state = None;
        if c.eat("[") {
            state = Some(self.state_use(c)?);
            c.expect("]")?;
        }
        self.side(c)?;
        let (inline, pc) = self.origin;
        Ok(Node { op, args: args.into(), ty, state, inline, pc })
    }

    /// The end of a block, if that is here.
    fn end(&mut self, c: &mut Cursor<'_>) -> Read<Option<Terminator>> {
        let end = match c.peek_word() {
            "open" => {
                c.word();
                Terminator::Open
            }
            "jump" => {
                c.word();
                Terminator::Jump(self.target(c)?)
            }
            "return" => {
                c.word();
                Terminator::Return(if c.at_end() { None } else { Some(self.value(c)?) })
            }
            "deopt" => {
                c.word();
                let reason = reason(c)?;
                c.expect("[")?;
                let state = self.state_use(c)?;
                c.expect("]")?;
                Terminator::Deopt(reason, state)
            }
            "branch" => {
                c.word();
                let condition = self.value(c)?;
                c.expect_word("then")?;
                let (then, taken) = self.counted(c)?;
                c.expect_word("else")?;
                let (otherwise, not_taken) = self.counted(c)?;
                let source = if c.eat("@") { Some(self.source(c)?) } else { None };
                Terminator::Branch { condition, then, otherwise, source, counts: [taken, not_taken] }
            }
            "switch" => {
                c.word();
                self.switch(c)?
            }
            _ => return Ok(None),
        };
        Ok(Some(end))
    }

    fn switch(&mut self, c: &mut Cursor<'_>) -> Read<Terminator> {
        let value = self.value(c)?;
        c.expect_word("from")?;
        let low = c.number()?;
        c.expect("[")?;
        let (mut cases, mut counts) = (Vec::new(), Vec::new());
        while !c.eat("]") {
            if !cases.is_empty() {
                c.expect(",")?;
            }
            let (case, count) = self.counted(c)?;
            cases.push(case);
            counts.push(count);
        }
        c.expect_word("else")?;
        let (default, count) = self.counted(c)?;
        counts.push(count);
        c.expect("@")?;
        let source = self.source(c)?;
        Ok(Terminator::Switch { value, low, cases, default, source, counts })
    }

    fn counted(&mut self, c: &mut Cursor<'_>) -> Read<(Target, u32)> {
        let target = self.target(c)?;
        Ok((target, c.numbered('x').unwrap_or(0)))
    }

    fn target(&mut self, c: &mut Cursor<'_>) -> Read<Target> {
        let Some(block) = c.numbered('b') else { return c.expected("a block, such as `b3`") };
        self.used.blocks.push((block, self.line));
        let args = if c.eat("(") { self.values(c, ")")? } else { Vec::new() };
        Ok(Target { block: BlockId(block), args })
    }

    /// Values up to a mark; without a mark, at least one.
    fn values(&mut self, c: &mut Cursor<'_>, close: &str) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        if !close.is_empty() && c.eat(close) {
            return Ok(values);
        }
        loop {
            values.push(self.value(c)?);
            if !c.eat(",") {
                break;
            }
        }
        c.expect(close)?;
        Ok(values)
    }

    fn value(&mut self, c: &mut Cursor<'_>) -> Read<Value> {
        let Some(value) = c.numbered('v') else { return c.expected("a value, such as `v3`") };
        self.used.values.push((value, self.line));
        Ok(Value(value))
    }

    fn state_use(&mut self, c: &mut Cursor<'_>) -> Read<StateId> {
        let Some(state) = c.numbered('s') else { return c.expected("a state, such as `s3`") };
        self.used.states.push((state, self.line));
        Ok(StateId(state))
    }

    /// `i0:12`
    fn origin(&mut self, c: &mut Cursor<'_>) -> Read<(InlineId, u32)> {
        let Some(inline) = c.numbered('i') else { return c.expected("an origin, such as `i0:12`") };
        self.used.inlines.push((inline, self.line));
        c.expect(":")?;
        Ok((InlineId(inline), c.number()?))
    }

    /// The origin beside a line, if there is one: then it holds from here on.
    fn side(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        if c.eat("@") {
            self.origin = self.origin(c)?;
        }
        Ok(())
    }

    fn source(&mut self, c: &mut Cursor<'_>) -> Read<Source> {
        let negated = c.eat_word("not");
        let (inline, pc) = self.origin(c)?;
        Ok(Source { inline, pc, negated })
    }

    /// A type, as [`Names::ty`] writes it.
    fn ty(&mut self, c: &mut Cursor<'_>) -> Read<Ty> {
        let exact = c.eat_word("exact");
        let (name, is_quoted) = c.name()?.map_or((None, false), |(name, is_quoted)| (Some(name), is_quoted));
        let number = c.mark()?;
        let names = &self.names;
        let word = name.as_deref().filter(|name| !is_quoted && number.is_none() && TYPE_WORDS.contains(name));
        let shape = match word.unwrap_or("") {
            "int" => return Ok(Ty::Int),
            "float" => return Ok(Ty::Float),
            "bool" => return Ok(Ty::Bool),
            "none" => return Ok(Ty::None),
            "any" => Shape::Any,
            "class" => Shape::Class(ClassId(c.reference("class", &names.classes)?)),
            "interface" => Shape::Interface(InterfaceId(c.reference("interface", &names.interfaces)?)),
            _ => match name.as_deref() {
                None => return c.expected("a type"),
                Some(name) => match (names.classes.count(name), names.interfaces.count(name)) {
                    (0, 0) => return Err(format!("there is no type `{name}`")),
                    (0, _) => Shape::Interface(InterfaceId(names.interfaces.find(
                        "interface",
                        Some(name),
                        number,
                    )?)),
                    (_, 0) => Shape::Class(ClassId(names.classes.find("class", Some(name), number)?)),
                    _ => return Err(format!("`{name}` is a class and an interface: write which before it")),
                },
            },
        };
        Ok(Ty::Ref(RefTy { shape, nullable: c.eat("?"), exact }))
    }

    fn region(&mut self) -> &mut Region {
        self.region.as_mut().expect("the first line made one")
    }

    fn set_node(&mut self, number: u32, node: Node) {
        put(&mut self.region().nodes, number, node, &filler());
    }

    /// What can only be said when everything has been read.
    fn finish(mut self) -> Result<Region, ParseError> {
        let error = |line, message| Err(ParseError { line, message });
        let Some(mut region) = self.region.take() else {
            return error(self.line.max(1), "expected `region` and the name of a function".to_string());
        };
        if let Some(block) = self.block {
            return error(self.line, format!("b{} has no end", block.0));
        }
        let inlines = (0..region.inlines.len() as u32).map(|inline| (inline, 0));
        self.defined.inlines = inlines.collect();
        let tables = [
            ('v', &mut self.defined.values, &self.used.values),
            ('s', &mut self.defined.states, &self.used.states),
            ('b', &mut self.defined.blocks, &self.used.blocks),
            ('i', &mut self.defined.inlines, &self.used.inlines),
        ];
        for (letter, defined, used) in tables {
            defined.sort_unstable();
            if let Some(twice) = defined.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return error(twice[1].1, format!("{letter}{} is defined twice", twice[1].0));
            }
            let is_defined = |number| defined.binary_search_by_key(&number, |entry| entry.0).is_ok();
            if let Some(&(number, line)) = used.iter().find(|&&(number, _)| !is_defined(number)) {
                return error(line, format!("{letter}{number} is not defined"));
            }
        }
        if self.defined.blocks.first().is_none_or(|&(first, _)| first != 0) {
            return error(self.line, "there is no entry block b0".to_string());
        }
        for (block, place, node) in self.unnumbered {
            let value = region.add_node(node);
            region.block_mut(block).nodes[place] = value;
        }
        Ok(region)
    }
}

/// A node that is in no block.
fn filler() -> Node {
    Node { op: Op::Int(0), args: SmallVec::new(), ty: Ty::Int, state: None, inline: InlineId::ROOT, pc: 0 }
}

/// Notes that a number is defined here.
fn define(numbers: &mut Vec<(u32, usize)>, number: u32, line: usize) -> Read<()> {
    if number >= LIMIT {
        return Err(format!("the number {number} is too large: they end at {}", LIMIT - 1));
    }
    numbers.push((number, line));
    Ok(())
}

/// Puts an entry at its place in a table, which grows as needed.
fn put<T: Clone>(table: &mut Vec<T>, number: u32, entry: T, filler: &T) {
    let place = number as usize;
    if table.len() <= place {
        table.resize(place + 1, filler.clone());
    }
    table[place] = entry;
}

/// A register of the interpreter.
fn register(c: &mut Cursor<'_>) -> Read<Register> {
    match c.numbered('r').and_then(|number| u16::try_from(number).ok()) {
        Some(number) => Ok(Register(number)),
        None => c.expected("a register, such as `r3`"),
    }
}

/// Why code is left, by its name.
pub(super) fn reason(c: &mut Cursor<'_>) -> Read<Reason> {
    let word = c.peek_word();
    match Reason::ALL.iter().find(|reason| reason.name() == word) {
        Some(&reason) => {
            c.word();
            Ok(reason)
        }
        None => c.expected("a reason, such as `index`"),
    }
}
