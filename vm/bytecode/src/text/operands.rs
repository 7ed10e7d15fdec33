//! The assembler: one instruction, read as its opcode's operand descriptions say.

use super::assemble::Assembler;
use super::assemble_code::{Body, Fixup, Target};
use super::cursor::{Cursor, Failure, Read};
use super::names::{Lookup, NameTable, Names};
use super::parts::{comma_separated, read_reference, resolve};
use crate::calls::static_class;
use crate::ops::{Kind, Op, OpShape, Operand, Place, Role};
use crate::types::*;
use crate::verify::encoding;

/// Cases and arguments are written after all other operands.
fn comes_last(operand: &&Operand) -> bool {
    matches!(operand.kind, Kind::Cases | Kind::Args)
}

impl Assembler {
    /// Reads the operands of `op` and writes its words.
    pub(super) fn instruction<'t>(
        &mut self,
        op: Op,
        body: &mut Body<'t>,
        cursor: &mut Cursor<'t>,
        names: &Names<'_>,
    ) -> Read<()> {
        let fixups = body.fixups.len();
        match self.words(op, body, cursor, names) {
            Ok(words) => {
                body.function.code.extend(words);
                Ok(())
            }
            Err(mut failure) => {
                body.fixups.truncate(fixups);
                if failure.message.starts_with("expected") {
                    failure.message += &format!(" (as in `{}`: {})", usage(op), op.description());
                }
                Err(failure)
            }
        }
    }

    fn words<'t>(
        &mut self,
        op: Op,
        body: &mut Body<'t>,
        cursor: &mut Cursor<'t>,
        names: &Names<'_>,
    ) -> Read<Vec<u64>> {
        let from = body.function.code.len();
        let mut words = vec![op as u64];
        if encoding::has_second_word(op) {
            words.push(0);
        }
        let mut object = None;
        let mut slot = None;
        for (i, operand) in op.operands().iter().filter(|o| !comes_last(o)).enumerate() {
            match operand.kind {
                Kind::Field => cursor.expect(".")?,
                _ if i > 0 => cursor.expect(",")?,
                _ => {}
            }
            cursor.blanks();
            let at = cursor.at;
            let value = match operand.kind {
                _ if operand.role != Role::Imm => {
                    let register = cursor.register_operand()?;
                    if operand.role == Role::Use && operand.kind == Kind::NonNull {
                        object = Some(register);
                    }
                    register as u64
                }
                Kind::Result if cursor.eat("-") => 0,
                Kind::Result => cursor.register_operand()? as u64,
                Kind::Target => {
                    let target = Target::read(cursor, true)?;
                    body.fixups.push(Fixup { from, word: from, place: operand.place, target });
                    0
                }
                Kind::Slot => {
                    // What a method's name means depends on the first argument, which follows.
                    slot = Some((cursor.reference()?, operand));
                    0
                }
                Kind::Field => {
                    let class = object
                        .and_then(|register| static_class(&self.program, &body.function, Register(register)));
                    let fields = NameTable::new(class.iter().flat_map(|c| c.fields()).map(|f| &*f.name));
                    read_reference(cursor, "field", &fields)? as u64
                }
                kind => self.immediate(kind, cursor, names)?,
            };
            put(&mut words, operand.place, value, at)?;
        }
        for operand in op.operands().iter().filter(comes_last) {
            match operand.kind {
                Kind::Cases => {
                    let at = cursor.at;
                    let count = cases(body, &mut words, cursor)?;
                    put(&mut words, operand.place, count as u64, at)?;
                }
                _ => arguments(&mut words, cursor)?,
            }
        }
        if let Some((reference, operand)) = slot {
            let has_receiver = words[0] >> 8 & 0xff != 0;
            let class = if has_receiver {
                static_class(&self.program, &body.function, Register(words[2] as u16))
            } else {
                None
            };
            let methods = NameTable::new(class.iter().flat_map(|c| &c.methods).map(|m| &*m.name));
            let value = resolve(&reference, "method", &methods)? as u64;
            put(&mut words, operand.place, value, reference.at)?;
        }
        machine_words(op, &mut words, cursor)?;
        Ok(words)
    }

    /// A constant, or the number of something.
    fn immediate(&mut self, kind: Kind, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<u64> {
        let at = cursor.at;
        Ok(match kind {
            Kind::Int16 => cursor.number::<i16>("16 bits (-32768 to 32767)")? as u16 as u64,
            Kind::Int32 => cursor.number::<i32>("32 bits with a sign")? as u32 as u64,
            Kind::Int64 => {
                let value = cursor.integer()?;
                match i64::try_from(value).map(|v| v as u64).or(u64::try_from(value)) {
                    Ok(value) => value,
                    Err(_) => {
                        return Err(Failure { at, message: "this number does not fit 64 bits".to_string() });
                    }
                }
            }
            Kind::Flag if cursor.eat_word("false") => 0,
            Kind::Flag if cursor.eat_word("true") => 1,
            Kind::Flag => cursor.number::<u32>("32 bits")? as u64,
            Kind::Double => cursor.double()?,
            Kind::Class => read_reference(cursor, "class", &names.classes)? as u64,
            Kind::Interface => read_reference(cursor, "interface", &names.interfaces)? as u64,
            Kind::Global => read_reference(cursor, "global", &names.globals)? as u64,
            Kind::Function => read_reference(cursor, "function", &names.functions)? as u64,
            Kind::Native => read_reference(cursor, "native", &names.natives)? as u64,
            Kind::String => self.string(cursor, names)? as u64,
            Kind::InterfaceMethod => {
                let interface = read_reference(cursor, "interface", &names.interfaces)?;
                cursor.expect("::")?;
                let methods = self.program.interfaces.get(interface as usize).map_or(&[][..], |i| &i.methods);
                let methods = NameTable::new(methods.iter().map(|m| &*m.name));
                let method = read_reference(cursor, "method", &methods)?;
                if interface > 0xffff || method > 0xffff {
                    let message = "the numbers of an interface and its method have 16 bits here".to_string();
                    return Err(Failure { at, message });
                }
                (interface << 16 | method) as u64
            }
            // Registers, targets and lists are read by the caller.
            _ => return cursor.expected("an operand"),
        })
    }

    /// A string constant: its text, or its number. A text that is not in the table is added to it.
    fn string(&mut self, cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<u32> {
        if !cursor.rest().starts_with(['"', '#']) {
            return cursor.expected("a string in quotes");
        }
        let reference = cursor.reference()?;
        let text = match (&reference.name, reference.number) {
            (Some(name), None) if matches!(names.strings.lookup(&name.text), Lookup::Missing) => &name.text,
            _ => return resolve(&reference, "string", &names.strings),
        };
        let strings = &mut self.program.strings;
        let declared = names.strings.len();
        let number = match strings[declared..].iter().position(|s| **s == **text) {
            Some(added) => declared + added,
            None => {
                strings.push((&**text).into());
                strings.len() - 1
            }
        };
        Ok(number as u32)
    }
}

/// Puts a value into its place, if it fits there.
fn put(words: &mut [u64], place: Place, value: u64, at: usize) -> Read<()> {
    let (word, shift, bits) = match place {
        Place::A => (0, 16, 16),
        Place::B => (0, 32, 16),
        Place::C => (0, 48, 16),
        Place::BC => (0, 32, 32),
        Place::N => (0, 8, 8),
        Place::X => (1, 0, 64),
        Place::Rest => return Ok(()),
    };
    if bits < 64 && value >> bits != 0 {
        return Err(Failure { at, message: format!("{value} does not fit the {bits} bits of this operand") });
    }
    words[word] |= value << shift;
    Ok(())
}

/// `[L1, L2 x7] else L3`; gives the number of cases.
fn cases<'t>(body: &mut Body<'t>, words: &mut Vec<u64>, cursor: &mut Cursor<'t>) -> Read<usize> {
    let from = body.function.code.len();
    let mut case = |cursor: &mut Cursor<'t>| -> Read<()> {
        let target = Target::read(cursor, true)?;
        body.fixups.push(Fixup { from, word: from + words.len(), place: Place::Rest, target });
        cursor.blanks();
        let count = if cursor.eat("x") { cursor.number::<u32>("32 bits")? } else { 0 };
        words.push((count as u64) << 32);
        Ok(())
    };
    cursor.expect("[")?;
    cursor.lines();
    let mut count = 0;
    if !cursor.eat("]") {
        count = comma_separated(cursor, &mut case)?.len();
        cursor.lines();
        cursor.expect("]")?;
    }
    cursor.expect_word("else")?;
    case(cursor)?;
    Ok(count)
}

/// `(r1, r2)`: their number goes into the first word, they themselves to the end.
fn arguments(words: &mut Vec<u64>, cursor: &mut Cursor<'_>) -> Read<()> {
    let at = cursor.at;
    cursor.expect("(")?;
    let mut arguments = Vec::new();
    if !cursor.eat(")") {
        arguments = comma_separated(cursor, |c| c.register_operand())?;
        cursor.expect(")")?;
    }
    if arguments.len() > u8::MAX as usize {
        return Err(Failure { at, message: "a call has at most 255 arguments".to_string() });
    }
    words[0] |= (arguments.len() as u64) << 8;
    for four in arguments.chunks(4) {
        words.push(four.iter().rev().fold(0, |word, &register| word << 16 | register as u64));
    }
    Ok(())
}

/// `taken 3 of 8` for branches, `machine 0x1` for other words that are no operands; usually there is nothing.
fn machine_words(op: Op, words: &mut [u64], cursor: &mut Cursor<'_>) -> Read<()> {
    if !encoding::has_machine_word(op) {
        return Ok(());
    }
    let is_branch = matches!(op.shape(), OpShape::Branch | OpShape::LoopBranch);
    if is_branch && cursor.eat_word("taken") {
        let taken: u32 = cursor.number("32 bits")?;
        cursor.expect_word("of")?;
        let at = cursor.at;
        let all: u64 = cursor.number("64 bits")?;
        let Some(not_taken) = all.checked_sub(taken as u64).and_then(|n| u32::try_from(n).ok()) else {
            return Err(Failure { at, message: format!("a branch cannot be taken {taken} times of {all}") });
        };
        words[1] = (taken as u64) << 32 | not_taken as u64;
    } else if !is_branch && cursor.eat_word("machine") {
        words[1] = cursor.number("64 bits")?;
    }
    Ok(())
}

/// How an opcode is written, with samples of its operands.
fn usage(op: Op) -> String {
    let mut out = format!("{} ", op.mnemonic());
    let mut register = 0;
    for (i, operand) in op.operands().iter().filter(|o| !comes_last(o)).enumerate() {
        if operand.kind == Kind::Field {
            out.push('.');
        } else if i > 0 {
            out.push_str(", ");
        }
        if operand.role != Role::Imm || operand.kind == Kind::Result {
            register += 1;
            out.push_str(&format!("r{register}"));
            continue;
        }
        out.push_str(match operand.kind {
            Kind::Flag => "true",
            Kind::Int16 | Kind::Int32 | Kind::Int64 => "5",
            Kind::Double => "1.5",
            Kind::Target => "L1",
            Kind::Class => "Class",
            Kind::Interface => "Interface",
            Kind::Field => "field",
            Kind::String => "\"text\"",
            Kind::Global => "global",
            Kind::Function => "function",
            Kind::Slot => "method",
            Kind::InterfaceMethod => "Interface::method",
            Kind::Native => "native",
            _ => "",
        });
    }
    for operand in op.operands().iter().filter(comes_last) {
        out.push_str(if operand.kind == Kind::Cases { " [L1, L2] else L3" } else { "(r3, r4)" });
    }
    out.truncate(out.trim_end().len());
    out
}
