//! The parser's part that knows the operations: a table of those that need nothing but operands, and what follows the
//! names of all others. The names are those of [`super::print::mnemonic`].

use super::cursor::{Cursor, Read};
use super::names::Names;
use super::parse::{Parser, reason};
use super::print::{element, mnemonic, yield_kind};
use super::{Arith, Cond, ElementKind, FloatArith, FloatCond, FloatUnary, MethodTable, Op, YieldKind};
use holloway_bytecode::{ClassId, FunctionId, GlobalId, InterfaceId, Native, StringId};
use holloway_profilers::windows::WindowNumbers;
use holloway_vm::profiling::{Roots, Windows};

/// Operations that are known by their names.
const PLAIN: &[Op] = &[
    Op::Param,
    Op::Null,
    Op::Arith(Arith::Add),
    Op::Arith(Arith::Sub),
    Op::Arith(Arith::Mul),
    Op::Arith(Arith::And),
    Op::Arith(Arith::Or),
    Op::Arith(Arith::Xor),
    Op::Arith(Arith::Shl),
    Op::Arith(Arith::Shr),
    Op::Arith(Arith::Ushr),
    Op::Div,
    Op::Rem,
    Op::FloatArith(FloatArith::Add),
    Op::FloatArith(FloatArith::Sub),
    Op::FloatArith(FloatArith::Mul),
    Op::FloatArith(FloatArith::Div),
    Op::FloatUnary(FloatUnary::Neg),
    Op::FloatUnary(FloatUnary::Abs),
    Op::FloatUnary(FloatUnary::Sqrt),
    Op::FloatUnary(FloatUnary::Floor),
    Op::FloatUnary(FloatUnary::Ceil),
    Op::IntToFloat,
    Op::FloatToInt,
    Op::FloatBits,
    Op::FloatFromBits,
    Op::Compare(Cond::Eq),
    Op::Compare(Cond::Ne),
    Op::Compare(Cond::Lt),
    Op::Compare(Cond::Le),
    Op::Compare(Cond::Gt),
    Op::Compare(Cond::Ge),
    Op::Compare(Cond::ULt),
    Op::Compare(Cond::ULe),
    Op::Compare(Cond::UGt),
    Op::Compare(Cond::UGe),
    Op::FloatCompare(FloatCond::Eq),
    Op::FloatCompare(FloatCond::Ne),
    Op::FloatCompare(FloatCond::Lt),
    Op::FloatCompare(FloatCond::Le),
    Op::FloatCompare(FloatCond::Nlt),
    Op::FloatCompare(FloatCond::Nle),
    Op::Same,
    Op::SameText,
    Op::IsNull,
    Op::Not,
    Op::Select,
    Op::Length,
    Op::Assume,
    Op::CheckNull,
    Op::CheckSet,
    Op::CheckBounds,
    Op::CheckDivisor,
    Op::CheckLength,
    Op::GrowForest,
    Op::SamplePath,
    Op::Entered,
];

const ELEMENTS: [ElementKind; 6] = [
    ElementKind::Byte,
    ElementKind::Bool,
    ElementKind::Int,
    ElementKind::Float,
    ElementKind::Ref,
    ElementKind::Word,
];

const YIELD_KINDS: [YieldKind; 4] =
    [YieldKind::Prologue, YieldKind::Header, YieldKind::Loop, YieldKind::Epilogue];

/// The operation here; the flag says that it had details, so that operands are in parentheses.
pub(super) fn operation(parser: &Parser<'_>, c: &mut Cursor<'_>) -> Read<(Op, bool)> {
    let word = c.word();
    match PLAIN.iter().find(|&&op| mnemonic(op) == word) {
        Some(&op) => Ok((op, false)),
        None if word.is_empty() => c.expected("an operation, such as `add`"),
        None => Ok((detailed(word, &parser.names, c)?, true)),
    }
}

/// `class::method`.
fn class_table(names: &Names<'_>, c: &mut Cursor<'_>) -> Read<MethodTable> {
    let class = class(names, c)?;
    c.expect("::")?;
    Ok(MethodTable::Class(class, c.reference("method", &names.slots(class.0))?))
}

/// `interface::method`.
fn interface_table(names: &Names<'_>, c: &mut Cursor<'_>) -> Read<MethodTable> {
    let interface = interface(names, c)?;
    c.expect("::")?;
    Ok(MethodTable::Interface(interface, c.reference("method", &names.methods(interface.0))?))
}

fn detailed(word: &str, names: &Names<'_>, c: &mut Cursor<'_>) -> Read<Op> {
    Ok(match word {
        "argument" => Op::Argument(c.number()?),
        "local" => match c.numbered('r').and_then(|number| u16::try_from(number).ok()) {
            Some(register) => Op::Local(register),
            None => return c.expected("a register, such as `r3`"),
        },
        "int" => Op::Int(c.number()?),
        "float" => Op::Float(c.float()?),
        "bool" => Op::Bool(boolean(c)?),
        "string" => Op::Str(StringId(c.reference("string", &names.strings)?)),
        "is" => Op::IsInstance(class(names, c)?),
        "implements" => Op::Implements(interface(names, c)?),
        "is_exactly" => Op::IsExactly(class(names, c)?),
        "pure" => Op::PureNative(native(names, c)?),
        "check_cast" => Op::CheckCast(class(names, c)?),
        "check_interface" => Op::CheckInterface(interface(names, c)?),
        "check_exactly" => Op::CheckExactly(class(names, c)?),
        "guard" => {
            let expected = boolean(c)?;
            Op::Guard(expected, reason(c)?)
        }
        "load" | "store" | "store_ref" => {
            let (class, field) = field(names, c)?;
            match word {
                "load" => Op::LoadField(class, field),
                "store" => Op::StoreField(class, field),
                _ => Op::StoreRefField(class, field),
            }
        }
        "load_element" => Op::LoadElement(one_of(c, &ELEMENTS, element)?),
        "store_element" => Op::StoreElement(one_of(c, &ELEMENTS, element)?),
        "load_global" => Op::LoadGlobal(GlobalId(c.reference("global", &names.globals)?)),
        "store_global" => Op::StoreGlobal(GlobalId(c.reference("global", &names.globals)?)),
        "new" => Op::New(class(names, c)?),
        "new_array" => Op::NewArray(class(names, c)?),
        "virtual" => Op::Virtual(class(names, c)?),
        "call" => Op::Call(FunctionId(c.reference("function", &names.functions)?)),
        "callv" => class_table(names, c)?.call(),
        "calli" => interface_table(names, c)?.call(),
        "reachesv" | "reachesi" => {
            let function = FunctionId(c.reference("function", &names.functions)?);
            c.expect("by")?;
            let table = if word == "reachesv" { class_table(names, c)? } else { interface_table(names, c)? };
            Op::Reaches(table, function)
        }
        "calln" => Op::CallNative(native(names, c)?),
        "yieldpoint" => Op::Yieldpoint(one_of(c, &YIELD_KINDS, yield_kind)?),
        "count" => Op::Count(c.number()?),
        "count_kept" => Op::CountKept(c.number()?),
        "add_kept" => Op::AddKept(c.number()?),
        "block" => Op::Block(c.number()?),
        "set_path" => Op::SetPath(c.number()?),
        "add_path" => Op::AddPath(c.number()?),
        "path" => Op::Path(c.number()?),
        "trace" => Op::Trace(c.number()?),
        "count_path" => Op::CountPath(c.number()?),
        "count_receiver" => {
            let cells = c.number()?;
            c.expect("@")?;
            Op::CountReceiver { cells, site: c.number()? }
        }
        "count_cached" => {
            let cells = c.number()?;
            c.expect("x")?;
            Op::CountCached { cells, entries: c.number()? }
        }
        "hash_path" => Op::HashPath(c.number()?),
        "plant_forest" => Op::PlantForest(roots(c)?),
        "first_window" => Op::HashWindow { windows: windows(c)?, first: true },
        "hash_window" => Op::HashWindow { windows: windows(c)?, first: false },
        _ => return Err(format!("there is no operation `{word}`")),
    })
}

fn roots(c: &mut Cursor<'_>) -> Read<Roots> {
    let first = c.number()?;
    c.expect("+")?;
    Ok(Roots { first, count: c.number()? })
}

fn windows(c: &mut Cursor<'_>) -> Read<Windows> {
    let cells = c.number()?;
    c.expect("of")?;
    let k = c.number()?;
    c.expect("x")?;
    let numbers = WindowNumbers::of_parts(k, c.number()?);
    Ok(Windows { cells, numbers: numbers.ok_or("windows do not fit a word")? })
}

fn class(names: &Names<'_>, c: &mut Cursor<'_>) -> Read<ClassId> {
    c.reference("class", &names.classes).map(ClassId)
}

fn interface(names: &Names<'_>, c: &mut Cursor<'_>) -> Read<InterfaceId> {
    c.reference("interface", &names.interfaces).map(InterfaceId)
}

fn native(names: &Names<'_>, c: &mut Cursor<'_>) -> Read<Native> {
    let number = c.reference("native", &names.natives)?;
    Native::from_number(number).ok_or_else(|| format!("there is no native #{number}"))
}

fn field(names: &Names<'_>, c: &mut Cursor<'_>) -> Read<(ClassId, u16)> {
    let class = class(names, c)?;
    c.expect("::")?;
    let number = c.reference("field", &names.fields(class.0))?;
    let number = u16::try_from(number).map_err(|_| format!("the field number {number} is too large"))?;
    Ok((class, number))
}

fn boolean(c: &mut Cursor<'_>) -> Read<bool> {
    match c.peek_word() {
        "true" => {
            c.word();
            Ok(true)
        }
        "false" => {
            c.word();
            Ok(false)
        }
        _ => c.expected("`true` or `false`"),
    }
}

/// One of a few words.
fn one_of<T: Copy>(c: &mut Cursor<'_>, all: &[T], name: fn(T) -> &'static str) -> Read<T> {
    let word = c.peek_word();
    match all.iter().find(|&&one| name(one) == word) {
        Some(&one) => {
            c.word();
            Ok(one)
        }
        None => {
            let words: Vec<&str> = all.iter().map(|&one| name(one)).collect();
            c.expected(&format!("one of `{}`", words.join("`, `")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_operations_have_different_names() {
        for (i, &a) in PLAIN.iter().enumerate() {
            assert!(PLAIN[..i].iter().all(|&b| mnemonic(a) != mnemonic(b)), "{a:?}");
        }
    }
}
