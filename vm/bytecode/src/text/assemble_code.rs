//! The assembler: functions, line by line. Operands are in [`super::operands`].

use super::assemble::Assembler;
use super::cursor::{Cursor, Failure, Read};
use super::lexemes;
use super::names::Names;
use super::parts::{comma_separated, read_reference, read_result, read_type, resolve};
use crate::ops::{Op, Place};
use crate::program::{Function, Handler, Position, PositionEntry};
use crate::types::*;
use std::collections::BTreeMap;

/// What the reading of one function has found so far.
pub(super) struct Body<'t> {
    pub function: Function,
    /// Place of each label.
    labels: BTreeMap<&'t str, u32>,
    pub fixups: Vec<Fixup<'t>>,
    handlers: Vec<(Handler, [Target<'t>; 3])>,
    /// File of the last position.
    file: u32,
}

/// A place in code: a label, or if that is empty a number.
#[derive(Clone, Copy)]
pub(super) struct Target<'t> {
    at: usize,
    label: &'t str,
    number: i64,
}

/// A target to be put into a word once all labels are known.
pub(super) struct Fixup<'t> {
    /// The instruction that the target is relative to.
    pub from: usize,
    pub word: usize,
    pub place: Place,
    pub target: Target<'t>,
}

impl Assembler {
    /// A function, the cursor being after the word `function`.
    pub(super) fn function<'t>(&mut self, cursor: &mut Cursor<'t>, names: &Names<'_>) -> Read<()> {
        let function = Function {
            name: cursor.name()?.text.into(),
            params: 0,
            registers: Vec::new(),
            result: None,
            code: Vec::new(),
            handlers: Vec::new(),
            positions: Vec::new(),
        };
        let (labels, fixups, handlers) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut body = Body { function, labels, fixups, handlers, file: 0 };
        function_head(&mut body, cursor, names)?;
        loop {
            cursor.lines();
            if cursor.rest().is_empty() || cursor.eat("}") {
                break;
            }
            let start = cursor.at;
            let result = self.line(&mut body, cursor, names);
            if !self.note(result) {
                cursor.at = start;
                cursor.skip_statement();
            }
        }
        self.resolve_targets(&mut body);
        self.program.functions.push(body.function);
        Ok(())
    }

    /// A label, an instruction, or something about the function.
    fn line<'t>(&mut self, body: &mut Body<'t>, cursor: &mut Cursor<'t>, names: &Names<'_>) -> Read<()> {
        let at = cursor.at;
        let word = cursor.word();
        let fail = |message| Err(Failure { at, message });
        if cursor.eat(":") {
            if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return fail("a label begins with a letter".to_string());
            }
            return match body.labels.insert(word, body.function.code.len() as u32) {
                None => Ok(()),
                Some(_) => fail(format!("there are two labels `{word}`")),
            };
        }
        let pc = body.function.code.len() as u32;
        match word {
            "registers" => {
                comma_separated(cursor, |c| registers(&mut body.function, c, names))?;
            }
            "params" => body.function.params = cursor.number("16 bits")?,
            "catch" => handler(body, cursor, names)?,
            "position" => {
                let pc = cursor.number("32 bits")?;
                position(body, pc, cursor, names)?;
            }
            "words" => {
                loop {
                    body.function.code.push(cursor.number("64 bits")?);
                    if cursor.at_line_end() || cursor.rest().starts_with('@') {
                        break;
                    }
                }
                position(body, pc, cursor, names)?;
            }
            _ => {
                let Some(op) = Op::from_mnemonic(word) else {
                    let known = Op::ALL.iter().map(|op| op.mnemonic());
                    let help = lexemes::similar(word, known).map(|w| format!("; did you mean `{w}`?"));
                    return fail(format!("there is no instruction `{word}`{}", help.unwrap_or_default()));
                };
                self.instruction(op, body, cursor, names)?;
                position(body, pc, cursor, names)?;
            }
        }
        cursor.line_end()
    }

    /// Fills in the targets, now that all labels are known.
    fn resolve_targets(&mut self, body: &mut Body<'_>) {
        let Body { function, labels, fixups, handlers, .. } = body;
        for fixup in fixups {
            let result = fixup
                .target
                .resolve(labels, fixup.from)
                .and_then(|distance| put_target(function, fixup, distance));
            self.note(result);
        }
        for (mut handler, [start, end, target]) in handlers.drain(..) {
            let place = |target: Target<'_>| target.resolve(labels, 0).map(|pc| pc as u32);
            let mut resolve = || -> Read<()> {
                (handler.start, handler.end, handler.target) = (place(start)?, place(end)?, place(target)?);
                function.handlers.push(handler);
                Ok(())
            };
            let result = resolve();
            self.note(result);
        }
    }
}

impl<'t> Target<'t> {
    /// A label, or a number: with sign and relative for instructions, absolute for handlers.
    pub fn read(cursor: &mut Cursor<'t>, relative: bool) -> Read<Target<'t>> {
        cursor.blanks();
        let at = cursor.at;
        if cursor.rest().starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(Target { at, label: cursor.word(), number: 0 });
        }
        if relative && !cursor.rest().starts_with(['+', '-']) {
            return cursor.expected("a label, or a distance such as `+3`");
        }
        let number = if relative {
            cursor.number::<i32>("32 bits")? as i64
        } else {
            cursor.number::<u32>("32 bits")? as i64
        };
        Ok(Target { at, label: "", number })
    }

    /// The place that the label stands for, counted from `from`, or the number.
    fn resolve(&self, labels: &BTreeMap<&str, u32>, from: usize) -> Read<i64> {
        if self.label.is_empty() {
            return Ok(self.number);
        }
        match labels.get(self.label) {
            Some(&pc) => Ok(pc as i64 - from as i64),
            None => {
                let help = lexemes::similar(self.label, labels.keys().copied());
                let help = help.map_or(String::new(), |l| format!("; did you mean `{l}`?"));
                let message = format!("there is no label `{}` in this function{help}", self.label);
                Err(Failure { at: self.at, message })
            }
        }
    }
}

/// Puts a distance where it belongs.
fn put_target(function: &mut Function, fixup: &Fixup<'_>, distance: i64) -> Read<()> {
    let word = &mut function.code[fixup.word];
    let fits = match fixup.place {
        Place::C => distance == distance as i16 as i64,
        _ => distance == distance as i32 as i64,
    };
    if !fits {
        let message = format!("the target is {distance} words away, too far; branch over a jump instead");
        return Err(Failure { at: fixup.target.at, message });
    }
    match fixup.place {
        Place::C => *word |= (distance as u16 as u64) << 48,
        Place::BC => *word |= (distance as u32 as u64) << 32,
        _ => *word |= distance as u32 as u64,
    }
    Ok(())
}

fn function_head(body: &mut Body<'_>, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<()> {
    cursor.expect("(")?;
    if !cursor.eat(")") {
        comma_separated(cursor, |c| {
            expect_register(&body.function, c)?;
            c.expect(":")?;
            body.function.registers.push(read_type(c, names)?);
            Ok(())
        })?;
        cursor.expect(")")?;
    }
    let Ok(params) = u16::try_from(body.function.registers.len()) else {
        return cursor.fail("a function has at most 65535 parameters");
    };
    body.function.params = params;
    body.function.result = read_result(cursor, names)?;
    cursor.expect("{")?;
    cursor.line_end()
}

/// The register that is declared next.
fn expect_register(function: &Function, cursor: &mut Cursor<'_>) -> Read<u32> {
    let next = function.registers.len();
    let mut after = cursor.clone();
    match after.register() {
        Ok(number) if number as usize == next => {
            *cursor = after;
            Ok(number)
        }
        _ => cursor.expected(&format!("`r{next}`: registers are declared in order")),
    }
}

/// `r3: type` or `r3..r5: type`.
fn registers(function: &mut Function, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<()> {
    let first = expect_register(function, cursor)?;
    let last = if cursor.eat("..") { cursor.register()? } else { first };
    if last < first || last > u16::MAX as u32 + 1 {
        return cursor.fail(format!("there are no registers r{first}..r{last}"));
    }
    cursor.expect(":")?;
    let ty = read_type(cursor, names)?;
    function.registers.resize(last as usize + 1, ty);
    Ok(())
}

/// `Class in r1 from L1 to L2 at L3`.
fn handler<'t>(body: &mut Body<'t>, cursor: &mut Cursor<'t>, names: &Names<'_>) -> Read<()> {
    let class = ClassId(read_reference(cursor, "class", &names.classes)?);
    cursor.expect_word("in")?;
    let register = Register(cursor.register_operand()?);
    cursor.expect_word("from")?;
    let start = Target::read(cursor, false)?;
    cursor.expect_word("to")?;
    let end = Target::read(cursor, false)?;
    cursor.expect_word("at")?;
    let target = Target::read(cursor, false)?;
    let handler = Handler { start: 0, end: 0, target: 0, class, register };
    body.handlers.push((handler, [start, end, target]));
    Ok(())
}

/// `@ "file" line:column`, if it is there.
fn position(body: &mut Body<'_>, pc: u32, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<()> {
    if !cursor.eat("@") {
        return Ok(());
    }
    cursor.blanks();
    if cursor.rest().starts_with(['"', '#']) {
        body.file = resolve(&cursor.reference()?, "file", &names.files)?;
    }
    let line = cursor.number("32 bits")?;
    cursor.expect(":")?;
    let column = cursor.number("32 bits")?;
    body.function.positions.push(PositionEntry { pc, position: Position { file: body.file, line, column } });
    Ok(())
}
