//! The disassembler: functions. Each instruction is printed from the operand descriptions of its opcode; one whose
//! words say more than its operands is printed as words.

use super::lexemes;
use super::names::reference_in;
use super::print::{PrintOptions, Printer, joined, numbered};
use crate::calls::{callee, static_class};
use crate::code::{Instruction, decode};
use crate::ops::{Kind, OpShape, Operand, Place, Role};
use crate::program::{Function, PositionEntry};
use crate::types::*;
use crate::verify::encoding;
use std::fmt::Write;

/// Column of positions and comments in code.
const SIDE_COLUMN: usize = 46;
/// Register lists, switch tables and lists of words are broken at this width.
const WIDTH: usize = 96;
/// Longer strings are shown as their number, with their beginning in a comment.
const STRING_LIMIT: usize = 48;

/// A piece of code that is printed as one line.
struct Item<'a> {
    pc: usize,
    /// The instruction, if it has a text form.
    instruction: Option<Instruction<'a>>,
    words: &'a [u64],
}

/// Names of places in code.
struct Labels {
    /// For each word and the end: an instruction begins here; its label, counted from 1, if it needs one.
    places: Vec<Option<u32>>,
}

impl<'a> Printer<'a> {
    /// One function.
    pub fn function(&self, id: FunctionId, options: &PrintOptions<'_>) -> String {
        let Some(function) = self.program.functions.get(id.index()) else { return String::new() };
        let mut out = String::new();
        numbered(&mut out, self.function_head(function), id.index());
        self.registers(&mut out, function);
        let items = items(&function.code);
        let labels = Labels::new(function, &items);
        let regular = positions_are_regular(function, &items);
        let mut positions = function.positions.iter().filter(|_| regular).peekable();
        let (mut file, mut line) = (0, None);
        for item in &items {
            labels.define(&mut out, item.pc);
            let position = positions.next_if(|p| p.pc as usize == item.pc);
            if let (Some(entry), Some(source)) = (position, options.source) {
                let at = (entry.position.file, entry.position.line);
                if line.replace(at) != Some(at)
                    && let Some(text) = source(entry.position)
                {
                    let _ =
                        writeln!(out, "    ; {:>4} | {}", at.1, text.trim_end().replace(['\n', '\r'], " "));
                }
            }
            let text = match item.instruction {
                Some(instruction) => {
                    self.instruction_with(function, &instruction, &|offset| labels.target(item.pc, offset))
                }
                None => words_text(item.words),
            };
            let mut side = position.map_or(String::new(), |p| self.position(p, &mut file));
            let comment = self.comment(item, options);
            if !comment.is_empty() {
                let gap = if side.is_empty() { "" } else { "  " };
                let _ = write!(side, "{gap}; {comment}");
            }
            let last = text.rfind('\n').map_or(0, |n| n + 1);
            let pad = if side.is_empty() { 0 } else { SIDE_COLUMN.saturating_sub(4 + text[last..].len()) };
            let line = format!("    {text}{:pad$} {side}", "");
            out.push_str(line.trim_end());
            out.push('\n');
        }
        labels.define(&mut out, function.code.len());
        for handler in &function.handlers {
            let class = self.names.classes.reference(handler.class.0);
            let [start, end, target] =
                [handler.start, handler.end, handler.target].map(|pc| labels.place(pc));
            let _ = writeln!(
                out,
                "    catch {class} in r{} from {start} to {end} at {target}",
                handler.register.0
            );
        }
        if !regular {
            for entry in &function.positions {
                let _ = writeln!(out, "    position {} {}", entry.pc, self.position(entry, &mut file));
            }
        }
        out.push_str("}\n");
        out
    }

    /// One instruction of a function, with places of its code for targets.
    pub fn instruction(&self, function: &Function, pc: u32) -> String {
        match decode(&function.code, pc as usize) {
            Some(i) if encoding::is_canonical(&i) => {
                self.instruction_with(function, &i, &|offset| (pc as i64 + offset as i64).to_string())
            }
            Some(i) => words_text(i.words),
            None => function.code.get(pc as usize).map_or(String::new(), |&word| words_text(&[word])),
        }
    }

    /// One instruction, with the caller's names for targets (given as distances).
    pub(crate) fn instruction_with(
        &self,
        function: &Function,
        instruction: &Instruction<'_>,
        target: &dyn Fn(i32) -> String,
    ) -> String {
        let op = instruction.op;
        let mut out = format!("{:<8}", op.mnemonic());
        let mut last = String::new();
        let mut first = true;
        for operand in op.operands() {
            let text = self.operand(function, instruction, operand, target);
            match operand.kind {
                // Cases and arguments follow all others.
                Kind::Cases | Kind::Args => {
                    last = text;
                    continue;
                }
                Kind::Field => out.push('.'),
                _ if first => out.push(' '),
                _ => out.push_str(", "),
            }
            first = false;
            out.push_str(&text);
        }
        out.push_str(&last);
        self.machine_words(&mut out, instruction);
        out.truncate(out.trim_end().len());
        out
    }

    fn operand(
        &self,
        function: &Function,
        i: &Instruction<'_>,
        operand: &Operand,
        target: &dyn Fn(i32) -> String,
    ) -> String {
        let value = i.operand(operand.place);
        let number = value as u32;
        if operand.role != Role::Imm {
            return format!("r{value}");
        }
        match operand.kind {
            Kind::Int16 => (value as i16).to_string(),
            Kind::Int32 => (value as i32).to_string(),
            Kind::Int64 => (value as i64).to_string(),
            Kind::Flag => match value {
                0 => "false".to_string(),
                1 => "true".to_string(),
                other => other.to_string(),
            },
            Kind::Double => lexemes::double(value),
            Kind::Target => {
                target(if operand.place == Place::BC { number as i32 } else { value as i16 as i32 })
            }
            Kind::Cases => cases_text(i, target),
            Kind::Class => self.names.classes.reference(number),
            Kind::Interface => self.names.interfaces.reference(number),
            Kind::Global => self.names.globals.reference(number),
            Kind::Function => self.names.functions.reference(number),
            Kind::Native => self.names.natives.reference(number),
            Kind::String => match self.names.strings.get(number) {
                Some(text) if text.len() <= STRING_LIMIT => {
                    let text = lexemes::quoted(text);
                    if self.names.strings.is_unique(number) { text } else { format!("{text}#{number}") }
                }
                _ => format!("#{number}"),
            },
            Kind::Field => {
                let object = i.op.operands().iter().rfind(|o| o.role == Role::Use && o.kind == Kind::NonNull);
                let register = |o: &Operand| Register(i.operand(o.place) as u16);
                let class = object.and_then(|o| static_class(self.program, function, register(o)));
                match class {
                    Some(class) => reference_in(class.fields().iter().map(|f| &*f.name), number),
                    None => format!("#{number}"),
                }
            }
            Kind::Slot => {
                match i.args().next().and_then(|receiver| static_class(self.program, function, receiver)) {
                    Some(class) => reference_in(class.methods.iter().map(|m| &*m.name), number),
                    None => format!("#{number}"),
                }
            }
            Kind::InterfaceMethod => {
                let (interface, method) = (number >> 16, number & 0xffff);
                let method = match self.program.interfaces.get(interface as usize) {
                    Some(interface) => reference_in(interface.methods.iter().map(|m| &*m.name), method),
                    None => format!("#{method}"),
                };
                format!("{}::{method}", self.names.interfaces.reference(interface))
            }
            Kind::Result
                if value == 0
                    && callee(self.program, function, i)
                        .is_some_and(|callee| callee.result(None).is_none()) =>
            {
                "-".to_string()
            }
            Kind::Args => format!("({})", joined(i.args().map(|r| format!("r{}", r.0)))),
            // Results, and the kinds of registers.
            _ => format!("r{value}"),
        }
    }

    /// Counters and words of the machine, if they are not zero.
    fn machine_words(&self, out: &mut String, i: &Instruction<'_>) {
        match i.op.shape() {
            OpShape::Branch | OpShape::LoopBranch if i.x() != 0 => {
                let (not_taken, taken) = (i.x() as u32 as u64, i.x() >> 32);
                let _ = write!(out, "   taken {taken} of {}", not_taken + taken);
            }
            OpShape::Call | OpShape::Wide if i.x() != 0 && encoding::has_machine_word(i.op) => {
                let _ = write!(out, "   machine {:#x}", i.x());
            }
            _ => {}
        }
    }

    /// `@ "file" line:column`, without the file if it is the one before.
    fn position(&self, entry: &PositionEntry, file: &mut u32) -> String {
        let at = entry.position;
        let mut out = "@ ".to_string();
        if std::mem::replace(file, at.file) != at.file {
            // Files are always quoted: their names contain slashes.
            match self.names.files.get(at.file) {
                Some(name) if self.names.files.is_unique(at.file) => out.push_str(&lexemes::quoted(name)),
                _ => {
                    let _ = write!(out, "#{}", at.file);
                }
            }
            out.push(' ');
        }
        let _ = write!(out, "{}:{}", at.line, at.column);
        out
    }

    fn comment(&self, item: &Item<'_>, options: &PrintOptions<'_>) -> String {
        let mut out = if options.places { item.pc.to_string() } else { String::new() };
        if let Some(i) = item.instruction
            && let Some(operand) = i.op.operands().iter().find(|o| o.kind == Kind::String)
            && let Some(text) = self.names.strings.get(i.operand(operand.place) as u32)
            && text.len() > STRING_LIMIT
        {
            let start: String = text.chars().take(STRING_LIMIT / 2).collect();
            let gap = if out.is_empty() { "" } else { "  " };
            let _ = write!(out, "{gap}{}…", lexemes::quoted(&start));
        }
        out
    }

    fn function_head(&self, function: &Function) -> String {
        let params = function.registers.iter().take(function.params as usize).enumerate();
        let params = joined(params.map(|(i, &ty)| format!("r{i}: {}", self.names.ty(ty))));
        let (name, result) = (lexemes::name(&function.name), self.result(function.result));
        format!("function {name}({params}){result} {{")
    }

    /// The registers that are not parameters; neighbours of the same type together.
    fn registers(&self, out: &mut String, function: &Function) {
        let types = &function.registers;
        if function.params as usize > types.len() {
            let _ = writeln!(out, "    params {}", function.params);
        }
        let mut groups = Vec::new();
        let mut at = function.params as usize;
        while at < types.len() {
            let count = types[at..].iter().take_while(|&&ty| ty == types[at]).count();
            let range = if count == 1 { format!("r{at}") } else { format!("r{at}..r{}", at + count - 1) };
            groups.push(format!("{range}: {}", self.names.ty(types[at])));
            at += count;
        }
        for line in wrapped(groups, WIDTH - 14) {
            let _ = writeln!(out, "    registers {line}");
        }
    }
}

impl Labels {
    fn new(function: &Function, items: &[Item<'_>]) -> Labels {
        let end = function.code.len();
        let mut places = vec![None; end + 1];
        items.iter().for_each(|item| places[item.pc] = Some(0));
        places[end] = Some(0);
        let mut mark = |pc: i64| {
            if let Ok(pc) = usize::try_from(pc)
                && let Some(Some(label)) = places.get_mut(pc)
            {
                *label = 1;
            }
        };
        for item in items {
            let Some(i) = item.instruction else { continue };
            let targets = i.target().into_iter().chain(i.cases().map(|c| c.target));
            targets.for_each(|offset| mark(item.pc as i64 + offset as i64));
        }
        for h in &function.handlers {
            [h.start, h.end, h.target].into_iter().for_each(|pc| mark(pc as i64));
        }
        let mut count = 0;
        for label in places.iter_mut().flatten().filter(|label| **label != 0) {
            count += 1;
            *label = count;
        }
        Labels { places }
    }

    fn label(&self, pc: i64) -> Option<u32> {
        let label = (*self.places.get(usize::try_from(pc).ok()?)?)?;
        (label != 0).then_some(label)
    }

    /// The line that defines the label of a place, if it has one.
    fn define(&self, out: &mut String, pc: usize) {
        if let Some(label) = self.label(pc as i64) {
            let _ = writeln!(out, "L{label}:");
        }
    }

    /// A target by its distance.
    fn target(&self, pc: usize, offset: i32) -> String {
        self.label(pc as i64 + offset as i64)
            .map_or_else(|| format!("{offset:+}"), |label| format!("L{label}"))
    }

    /// A place of a handler.
    fn place(&self, pc: u32) -> String {
        self.label(pc as i64).map_or_else(|| pc.to_string(), |label| format!("L{label}"))
    }
}

/// The code in lines. Words after one that cannot be decoded are not looked at.
fn items(code: &[u64]) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut pc = 0;
    while pc < code.len() {
        let Some(instruction) = decode(code, pc) else {
            let rest = code[pc..].chunks(4).enumerate();
            items.extend(rest.map(|(i, words)| Item { pc: pc + 4 * i, instruction: None, words }));
            break;
        };
        let words = instruction.words;
        let instruction = encoding::is_canonical(&instruction).then_some(instruction);
        items.push(Item { pc, instruction, words });
        pc += words.len();
    }
    items
}

/// Positions can be written beside the instructions: each lies on one, and they are in order.
fn positions_are_regular(function: &Function, items: &[Item<'_>]) -> bool {
    let mut items = items.iter();
    function.positions.iter().all(|p| items.any(|item| item.pc == p.pc as usize))
}

fn words_text(words: &[u64]) -> String {
    let words: String = words.iter().map(|word| format!(" {word:#018x}")).collect();
    format!("words{words}")
}

fn cases_text(i: &Instruction<'_>, target: &dyn Fn(i32) -> String) -> String {
    let mut cases: Vec<String> = i
        .cases()
        .map(|case| {
            let count = if case.count == 0 { String::new() } else { format!(" x{}", case.count) };
            format!("{}{count}", target(case.target))
        })
        .collect();
    let default = cases.pop().unwrap_or_default();
    let lines = wrapped(cases, WIDTH - 12).join(",\n        ");
    format!(" [{lines}] else {default}")
}

/// Items joined with commas, in lines of at most about `width`.
fn wrapped(items: Vec<String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.len() + 2 + item.len() <= width => {
                line.push_str(", ");
                line.push_str(&item);
            }
            _ => lines.push(item),
        }
    }
    lines
}
