//! Regions as text, for dumps and tests. [`super::parse`] reads it back.
//!
//! ```text
//! region Point.scale at loop 12                 ; `at loop` only if it begins there
//! inline i1 = Point.area at i0:14               ; what was inlined, and the call there
//! state s0 = i0:14 during r3 {r0: v0, r2: v4}   ; the result goes to r3; `-` if there is none
//! state s1 = i1:0 before {r0: v1} in s0         ; the frame of the caller
//! b0:
//!     v0: Point = argument 0                    @ i0:0
//!     v1: int = load Point::x(v0)               @ i0:3
//!     v2: int = check_bounds v1, v4  [s1]       @ i1:0
//!     v3 = store Point::x(v0, v2)               @ i1:2
//!     branch v5 then b1(v2) x3 else b2 x97      @ i1:6
//! b1(v6: int, v7: exact Point?) cold:           @ i0:20
//!     return v6
//! ```
//!
//! * Nodes have type, operands, frame state in brackets, and origin (method of the tree, instruction). Operands of an
//!   operation with details (a class, a field, …) are in parentheses.
//! * Counts follow the targets of branches, unless they are 0. `@ not i0:14` is a branch whose first target is that
//!   of the bytecode branch not taken; without `@` it stands for no branch of the bytecode.
//! * Types are as in the bytecode's text form, with `exact` for references to exactly that class.
//! * `;` begins a comment.
//!
//! Only reachable blocks are printed, in reverse postorder, with what they use; all keep their numbers, so that texts
//! before and after a pass can be compared. The parser fills the gaps.
//!
//! Anything at all can be printed: what the verifier would refuse is what one most wants to see.

use super::MethodTable;
use super::names::{Names, float};
use super::{Arith as A, FloatArith as F, FloatUnary as U};
use super::{
    BlockId, Cond, ElementKind, FloatCond, InlineId, Node, Op, Region, RegionEntry, Source, StateId,
    StateKind, Target, Terminator, Value, YieldKind,
};
use holloway_bytecode::Program;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Where origins begin.
const SIDE_COLUMN: usize = 60;

/// A region as text.
pub fn print(region: &Region, program: &Program) -> String {
    let printer = Printer { region, names: Names::new(program) };
    let mut out = printer.head();
    let order = printer.order();
    for state in printer.states(&order) {
        printer.state(&mut out, state);
    }
    for block in order {
        printer.block(&mut out, block);
    }
    out
}

macro_rules! mnemonics {
    ($($pattern:pat => $name:literal,)*) => {
        /// The name of an operation, without its details.
        pub fn mnemonic(op: Op) -> &'static str {
            use Op::*;
            match op { $($pattern => $name,)* }
        }

        /// The names of all operations.
        pub const MNEMONICS: &[&str] = &[$($name,)*];
    };
}

mnemonics! {
    Param => "param",
    Argument(_) => "argument",
    Local(_) => "local",
    Int(_) => "int",
    Float(_) => "float",
    Bool(_) => "bool",
    Null => "null",
    Str(_) => "string",
    Op::Arith(A::Add) => "add",
    Op::Arith(A::Sub) => "sub",
    Op::Arith(A::Mul) => "mul",
    Op::Arith(A::And) => "and",
    Op::Arith(A::Or) => "or",
    Op::Arith(A::Xor) => "xor",
    Op::Arith(A::Shl) => "shl",
    Op::Arith(A::Shr) => "shr",
    Op::Arith(A::Ushr) => "ushr",
    Div => "div",
    Rem => "rem",
    Op::FloatArith(F::Add) => "fadd",
    Op::FloatArith(F::Sub) => "fsub",
    Op::FloatArith(F::Mul) => "fmul",
    Op::FloatArith(F::Div) => "fdiv",
    Op::FloatUnary(U::Neg) => "fneg",
    Op::FloatUnary(U::Abs) => "fabs",
    Op::FloatUnary(U::Sqrt) => "fsqrt",
    Op::FloatUnary(U::Floor) => "ffloor",
    Op::FloatUnary(U::Ceil) => "fceil",
    IntToFloat => "itof",
    FloatToInt => "ftoi",
    FloatBits => "float_bits",
    FloatFromBits => "float_from_bits",
    Compare(Cond::Eq) => "eq",
    Compare(Cond::Ne) => "ne",
    Compare(Cond::Lt) => "lt",
    Compare(Cond::Le) => "le",
    Compare(Cond::Gt) => "gt",
    Compare(Cond::Ge) => "ge",
    Compare(Cond::ULt) => "ult",
    Compare(Cond::ULe) => "ule",
    Compare(Cond::UGt) => "ugt",
    Compare(Cond::UGe) => "uge",
    FloatCompare(FloatCond::Eq) => "feq",
    FloatCompare(FloatCond::Ne) => "fne",
    FloatCompare(FloatCond::Lt) => "flt",
    FloatCompare(FloatCond::Le) => "fle",
    FloatCompare(FloatCond::Nlt) => "fnlt",
    FloatCompare(FloatCond::Nle) => "fnle",
    Same => "same",
    SameText => "same_text",
    IsNull => "is_null",
    Not => "not",
    Select => "select",
    IsInstance(_) => "is",
    Implements(_) => "implements",
    IsExactly(_) => "is_exactly",
    Reaches(MethodTable::Class(..), _) => "reachesv",
    Reaches(MethodTable::Interface(..), _) => "reachesi",
    Length => "length",
    PureNative(_) => "pure",
    Assume => "assume",
    CheckNull => "check_null",
    CheckSet => "check_set",
    CheckBounds => "check_bounds",
    CheckDivisor => "check_divisor",
    CheckLength => "check_length",
    CheckCast(_) => "check_cast",
    CheckInterface(_) => "check_interface",
    CheckExactly(_) => "check_exactly",
    Guard(..) => "guard",
    LoadField(..) => "load",
    StoreField(..) => "store",
    StoreRefField(..) => "store_ref",
    LoadElement(_) => "load_element",
    StoreElement(_) => "store_element",
    LoadGlobal(_) => "load_global",
    StoreGlobal(_) => "store_global",
    New(_) => "new",
    NewArray(_) => "new_array",
    Virtual(_) => "virtual",
    Call(_) => "call",
    CallVirtual(..) => "callv",
    CallInterface(..) => "calli",
    CallNative(_) => "calln",
    Yieldpoint(_) => "yieldpoint",
    Count(_) => "count",
    CountKept(_) => "count_kept",
    AddKept(_) => "add_kept",
    SetPath(_) => "set_path",
    AddPath(_) => "add_path",
    Path(_) => "path",
    CountPath(_) => "count_path",
    HashPath(_) => "hash_path",
    PlantForest(_) => "plant_forest",
    GrowForest => "grow_forest",
    HashWindow { first: true, .. } => "first_window",
    HashWindow { first: false, .. } => "hash_window",
    SamplePath => "sample_path",
    Entered => "entered",
    Block(_) => "block",
    CountReceiver { .. } => "count_receiver",
    CountCached { .. } => "count_cached",
    Trace(_) => "trace",
}

/// The name of a kind of element.
pub(super) fn element(kind: ElementKind) -> &'static str {
    match kind {
        ElementKind::Byte => "byte",
        ElementKind::Bool => "bool",
        ElementKind::Int => "int",
        ElementKind::Float => "float",
        ElementKind::Ref => "ref",
        ElementKind::Word => "word",
    }
}

/// The name of a kind of yieldpoint.
pub(super) fn yield_kind(kind: YieldKind) -> &'static str {
    match kind {
        YieldKind::Prologue => "prologue",
        YieldKind::Header => "header",
        YieldKind::Loop => "loop",
        YieldKind::Epilogue => "epilogue",
    }
}

struct Printer<'a> {
    region: &'a Region,
    names: Names<'a>,
}

impl Printer<'_> {
    fn head(&self) -> String {
        let mut out = format!("region {}", self.names.functions.reference(self.region.function().0));
        if let RegionEntry::Loop(pc) = self.region.entry {
            let _ = write!(out, " at loop {pc}");
        }
        out.push('\n');
        for (number, inline) in self.region.inlines.iter().enumerate().skip(1) {
            let function = self.names.functions.reference(inline.function.0);
            let caller =
                inline.caller.map_or(String::new(), |(caller, pc)| format!(" at {}", origin(caller, pc)));
            let _ = writeln!(out, "inline i{number} = {function}{caller}");
        }
        out
    }

    /// The reachable blocks in reverse postorder; all blocks if there are targets that do not exist.
    fn order(&self) -> Vec<BlockId> {
        let blocks = &self.region.blocks;
        let targets = blocks.iter().flat_map(|block| block.end.targets());
        if blocks.is_empty() || targets.into_iter().any(|target| target.block.index() >= blocks.len()) {
            return self.region.block_ids().collect();
        }
        self.region.graph().reverse_postorder().to_vec()
    }

    /// The states that these blocks use, and those of their callers.
    fn states(&self, order: &[BlockId]) -> BTreeSet<StateId> {
        let mut used = BTreeSet::new();
        for &block in order {
            let block = self.region.block(block);
            let nodes = block.nodes.iter().filter_map(|&value| self.node(value)?.state);
            for state in nodes.chain(block.end.state()) {
                let mut at = Some(state);
                while let Some(id) = at.filter(|&id| used.insert(id)) {
                    at = self.region.states.get(id.index()).and_then(|state| state.caller);
                }
            }
        }
        used.retain(|state| state.index() < self.region.states.len());
        used
    }

    fn node(&self, value: Value) -> Option<&Node> {
        self.region.nodes.get(value.index())
    }

    fn state(&self, out: &mut String, id: StateId) {
        let state = self.region.state(id);
        let kind = match state.kind {
            StateKind::Before => "before".to_string(),
            StateKind::During(None) => "during -".to_string(),
            StateKind::During(Some(register)) => format!("during r{}", register.0),
        };
        let registers =
            list(state.registers.iter().map(|(register, value)| format!("r{}: v{}", register.0, value.0)));
        let kind = if state.told { kind + " told" } else { kind };
        let caller = state.caller.map_or(String::new(), |caller| format!(" in s{}", caller.0));
        let _ = writeln!(
            out,
            "state s{} = {} {kind} {{{registers}}}{caller}",
            id.0,
            origin(state.inline, state.pc)
        );
    }

    fn block(&self, out: &mut String, id: BlockId) {
        let block = self.region.block(id);
        let mut text = format!("b{}", id.0);
        let first =
            block.params.first().and_then(|&param| self.node(param)).map(|node| (node.inline, node.pc));
        if !block.params.is_empty() {
            let params = block.params.iter().map(|&param| match self.node(param) {
                Some(node) => {
                    let own = (node.inline, node.pc);
                    let side = if Some(own) == first {
                        String::new()
                    } else {
                        format!(" @ {}", origin(own.0, own.1))
                    };
                    format!("v{}: {}{side}", param.0, self.names.ty(node.ty))
                }
                None => format!("v{}", param.0),
            });
            let _ = write!(text, "({})", list(params));
        }
        text.push_str(if block.cold { " cold:" } else { ":" });
        line(out, text, first.map(|(inline, pc)| origin(inline, pc)));
        for &value in &block.nodes {
            if let Some(node) = self.node(value) {
                let text = format!("    {}", self.node_text(value, node));
                line(out, text, Some(origin(node.inline, node.pc)));
            }
        }
        let (text, source) = self.end(&block.end);
        line(out, format!("    {text}"), source.map(source_text));
    }

    fn node_text(&self, value: Value, node: &Node) -> String {
        let mut text = format!("v{}", value.0);
        if node.ty != super::Ty::None {
            let _ = write!(text, ": {}", self.names.ty(node.ty));
        }
        let _ = write!(text, " = {}", mnemonic(node.op));
        let details = self.details(node.op);
        let args = list(node.args.iter().map(|arg| format!("v{}", arg.0)));
        let is_named_call = node.op.is_call() && !matches!(node.op, Op::Yieldpoint(_));
        match &details {
            Some(details) => {
                let _ = write!(text, " {details}");
                if !args.is_empty() || is_named_call {
                    let _ = write!(text, "({args})");
                }
            }
            None if !args.is_empty() => {
                let _ = write!(text, " {args}");
            }
            None => {}
        }
        if let Some(state) = node.state {
            let _ = write!(text, "  [s{}]", state.0);
        }
        text
    }

    /// What an operation needs besides operands.
    fn details(&self, op: Op) -> Option<String> {
        let names = &self.names;
        let field = |class: holloway_bytecode::ClassId, field: u16| {
            format!("{}::{}", names.classes.reference(class.0), names.fields(class.0).reference(field as u32))
        };
        let table = |place: MethodTable| match place {
            MethodTable::Class(class, slot) => {
                format!("{}::{}", names.classes.reference(class.0), names.slots(class.0).reference(slot))
            }
            MethodTable::Interface(interface, method) => {
                let method = names.methods(interface.0).reference(method);
                format!("{}::{method}", names.interfaces.reference(interface.0))
            }
        };
        Some(match op {
            Op::Argument(number) => number.to_string(),
            Op::Local(register) => format!("r{register}"),
            Op::Int(value) => value.to_string(),
            Op::Float(bits) => float(bits),
            Op::Bool(value) => value.to_string(),
            Op::Str(string) => names.string(string.0),
            Op::IsInstance(class)
            | Op::IsExactly(class)
            | Op::CheckCast(class)
            | Op::CheckExactly(class)
            | Op::New(class)
            | Op::NewArray(class)
            | Op::Virtual(class) => names.classes.reference(class.0),
            Op::Implements(interface) | Op::CheckInterface(interface) => {
                names.interfaces.reference(interface.0)
            }
            Op::PureNative(native) | Op::CallNative(native) => native.name().to_string(),
            Op::Guard(expected, reason) => format!("{expected} {}", reason.name()),
            Op::LoadField(class, number)
            | Op::StoreField(class, number)
            | Op::StoreRefField(class, number) => field(class, number),
            Op::LoadElement(kind) | Op::StoreElement(kind) => element(kind).to_string(),
            Op::LoadGlobal(global) | Op::StoreGlobal(global) => names.globals.reference(global.0),
            Op::Call(function) => names.functions.reference(function.0),
            Op::CallVirtual(class, slot) => table(MethodTable::Class(class, slot)),
            Op::CallInterface(interface, method) => table(MethodTable::Interface(interface, method)),
            Op::Reaches(place, function) => {
                format!("{} by {}", names.functions.reference(function.0), table(place))
            }
            Op::Yieldpoint(kind) => yield_kind(kind).to_string(),
            Op::SetPath(number) | Op::AddPath(number) | Op::Path(number) => number.to_string(),
            Op::PlantForest(roots) => format!("{}+{}", roots.first, roots.count),
            Op::HashWindow { windows, .. } => {
                let (cells, numbers) = (windows.cells, windows.numbers);
                format!("{cells} of {}x{}", numbers.k(), numbers.digit())
            }
            Op::Count(number)
            | Op::CountKept(number)
            | Op::AddKept(number)
            | Op::CountPath(number)
            | Op::HashPath(number)
            | Op::Block(number) => number.to_string(),
            Op::Trace(step) => step.to_string(),
            Op::CountReceiver { cells, site } => format!("{cells}@{site}"),
            Op::CountCached { cells, entries } => format!("{cells}x{entries}"),
            _ => return None,
        })
    }

    fn end(&self, end: &Terminator) -> (String, Option<Source>) {
        match end {
            Terminator::Open => ("open".to_string(), None),
            Terminator::Jump(target) => (format!("jump {}", target_text(target)), None),
            Terminator::Branch { condition, then, otherwise, source, counts } => {
                let [then, otherwise] = [(then, counts[0]), (otherwise, counts[1])].map(counted);
                (format!("branch v{} then {then} else {otherwise}", condition.0), *source)
            }
            Terminator::Switch { value, low, cases, default, source, counts } => {
                let count = |case: usize| counts.get(case).copied().unwrap_or(0);
                let default = counted((default, count(cases.len())));
                let cases = list(cases.iter().enumerate().map(|(i, case)| counted((case, count(i)))));
                (format!("switch v{} from {low} [{cases}] else {default}", value.0), Some(*source))
            }
            Terminator::Return(None) => ("return".to_string(), None),
            Terminator::Return(Some(value)) => (format!("return v{}", value.0), None),
            Terminator::Deopt(reason, state) => (format!("deopt {} [s{}]", reason.name(), state.0), None),
        }
    }
}

/// A line with what stands beside it.
fn line(out: &mut String, mut text: String, side: Option<String>) {
    if let Some(side) = side {
        let pad = SIDE_COLUMN.saturating_sub(text.chars().count());
        let _ = write!(text, "{:pad$} @ {side}", "");
    }
    out.push_str(&text);
    out.push('\n');
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn origin(inline: InlineId, pc: u32) -> String {
    format!("i{}:{pc}", inline.0)
}

fn source_text(source: Source) -> String {
    format!("{}{}", if source.negated { "not " } else { "" }, origin(source.inline, source.pc))
}

fn target_text(target: &Target) -> String {
    let args = list(target.args.iter().map(|arg| format!("v{}", arg.0)));
    if args.is_empty() { format!("b{}", target.block.0) } else { format!("b{}({args})", target.block.0) }
}

fn counted((target, count): (&Target, u32)) -> String {
    let count = if count == 0 { String::new() } else { format!(" x{count}") };
    format!("{}{count}", target_text(target))
}
