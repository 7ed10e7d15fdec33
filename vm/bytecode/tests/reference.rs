//! `docs/bytecode.md` is generated from the tables of this crate, so that it cannot lie. `BLESS=1` writes it anew.

use holloway_bytecode::ops::{Kind, Op, OpShape, Role};
use holloway_bytecode::{Native, natives::NativeType};
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Bytecode

This page is generated from the tables in `vm/bytecode/src/ops.rs` and `vm/bytecode/src/natives.rs`; a test keeps it up to date.
Encoding and invariants are described in the headers of `ops.rs` and `verify/mod.rs`.

A function has registers, each of one type: `Int`, `Float`, `Bool`, or a reference to `Any`, a class or an interface, nullable
(`?`) or not. `a`, `b` and `c` are the operands of an instruction from left to right in text form. Branches count how often they were
taken and not taken; `loop…`, `for…`, calls and returns are yieldpoints.

";

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Int => "int",
        Kind::Float => "float",
        Kind::Bool => "bool",
        Kind::Bits => "int or bool",
        Kind::Ref => "reference?",
        Kind::NonNull => "reference",
        Kind::Any => "any",
        Kind::Text => "string?",
        Kind::Int16 => "16-bit constant",
        Kind::Int32 => "32-bit constant",
        Kind::Flag => "0 or 1",
        Kind::Int64 => "64-bit constant",
        Kind::Double => "float constant",
        Kind::Target => "target",
        Kind::Cases => "cases",
        Kind::Class => "class",
        Kind::Interface => "interface",
        Kind::Field => "field",
        Kind::String => "string",
        Kind::Global => "global",
        Kind::Function => "function",
        Kind::Slot => "method",
        Kind::InterfaceMethod => "interface method",
        Kind::Native => "native",
        Kind::Args => "arguments",
        Kind::Result => "result",
    }
}

fn shape(shape: OpShape) -> &'static str {
    match shape {
        OpShape::Plain => "1",
        OpShape::Wide => "2",
        OpShape::Branch => "2, branch",
        OpShape::LoopBranch => "2, back edge",
        OpShape::Jump => "1, jump",
        OpShape::LoopJump => "1, back edge",
        OpShape::Switch => "3 + cases",
        OpShape::Call => "2 + arguments / 4",
        OpShape::Return => "1, return",
        OpShape::Throw => "1, throw",
    }
}

fn native_type(ty: NativeType) -> &'static str {
    match ty {
        NativeType::Int => "Int",
        NativeType::Float => "Float",
        NativeType::Bool => "Bool",
        NativeType::Str => "String",
        NativeType::Bytes => "Bytes",
        NativeType::Object => "object",
        NativeType::Nullable => "object?",
        NativeType::IntOrNull => "Int?",
        NativeType::FloatOrNull => "Float?",
    }
}

fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("## Opcodes\n\n| opcode | operands | words | what it does |\n|---|---|---|---|\n");
    for &op in Op::ALL {
        let operands: Vec<String> = op
            .operands()
            .iter()
            .map(|o| match o.role {
                Role::Def => format!("**{}**", kind(o.kind)),
                Role::Use | Role::Imm => kind(o.kind).to_owned(),
            })
            .collect();
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            op.mnemonic(),
            operands.join(", "),
            shape(op.shape()),
            op.description().replace('|', "\\|")
        );
    }
    page.push_str("\nOperands in bold are written.\n\n## Natives\n\n| native | result | what it does |\n|---|---|---|\n");
    for &native in Native::ALL {
        let mut params: Vec<&str> = native.params().iter().map(|&t| native_type(t)).collect();
        if native.is_variadic() {
            params.push("…");
        }
        let _ = writeln!(
            page,
            "| `{}({})` | {} | {} |",
            native.name(),
            params.join(", "),
            native.result().map_or("", native_type),
            native.description()
        );
    }
    page
}

#[test]
fn the_reference_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bytecode.md");
    let expected = reference();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, expected).expect("the page can be written");
        return;
    }
    let actual = std::fs::read_to_string(path).unwrap_or_default();
    assert!(actual == expected, "docs/bytecode.md is out of date: run this test with BLESS=1");
}
