//! Conditions of all kinds, both ways, forward and backward, near and far; counted loops at their bounds; switches.

use super::Case;
use super::arithmetic::{INTEGERS, SMALL, TEXTS, float_pairs, integer_pairs, literal};
use crate::common::{lines, program};
use holloway_bytecode::ops::{Kind, OpShape, Role};
use holloway_bytecode::verify::verify;
use holloway_bytecode::{Builder, Function, Op, Program};
use std::sync::Arc;

/// Code that leaves in r9 whether the forward branch `op` was taken, and then the same for its twin backwards.
fn both_ways(forward: &str, backward: &str, operands: &str, number: usize) -> String {
    format!(
        "ldi r9, 0\n{forward} {operands}, T{number}\njump E{number}\nT{number}:\nldi r9, 1\nE{number}:\n\
         call -, show(r9)\n\
         ldi r9, 0\njump S{number}\nB{number}:\nldi r9, 1\njump F{number}\nS{number}:\n\
         {backward} {operands}, B{number}\nF{number}:\ncall -, show(r9)\n"
    )
}

/// A case for a pair of opcodes: for each operand, how it is loaded and whether the branch is taken.
fn condition(forward: &str, operands: &str, loads: impl IntoIterator<Item = (String, bool)>) -> Case {
    let backward =
        Op::from_mnemonic(forward).and_then(Op::backward).expect("a branch with a twin").mnemonic();
    let registers =
        "r0..r1: int, r2..r3: float, r4..r5: bool, r6: String, r7..r8: String?, r9: int, r10: String";
    let mut body = String::new();
    let mut expected = Vec::new();
    for (number, (load, taken)) in loads.into_iter().enumerate() {
        body += &load;
        // An operand may come with the load, as in `, 5`.
        let (operands, constant) = match load.rsplit_once("; ") {
            Some((_, constant)) => (operands, format!(", {}", constant.trim())),
            None => (operands, String::new()),
        };
        body += &both_ways(forward, backward, &format!("{operands}{constant}"), number);
        expected.extend([taken as u8, taken as u8]);
    }
    Case::main(format!("{forward} and {backward}"), registers, &body, lines(expected))
}

fn integers(forward: &str, twin: fn(i64, i64) -> bool) -> Case {
    let load = |(x, y)| (format!("ldi64 r0, {x}\nldi64 r1, {y}\n"), twin(x, y));
    condition(forward, "r0, r1", integer_pairs().into_iter().step_by(3).map(load))
}

fn immediates(forward: &str, twin: fn(i64, i64) -> bool) -> Case {
    let pairs = INTEGERS.into_iter().chain(SMALL.map(i64::from)).flat_map(|x| SMALL.map(|y| (x, y as i64)));
    // What follows `; ` is a comment to the assembler.
    condition(forward, "r0", pairs.step_by(2).map(|(x, y)| (format!("ldi64 r0, {x} ; {y}\n"), twin(x, y))))
}

fn floats(forward: &str, twin: fn(f64, f64) -> bool) -> Case {
    let load = |(x, y)| (format!("ldf r2, {}\nldf r3, {}\n", literal(x), literal(y)), twin(x, y));
    condition(forward, "r2, r3", float_pairs().into_iter().map(load))
}

fn booleans(forward: &str, twin: fn(bool) -> bool) -> Case {
    condition(forward, "r4", [false, true].map(|x| (format!("ldb r4, {x}\n"), twin(x))))
}

fn equal_booleans(forward: &str, twin: fn(&bool, &bool) -> bool) -> Case {
    let pairs = [(false, false), (false, true), (true, false), (true, true)];
    condition(forward, "r4, r5", pairs.map(|(x, y)| (format!("ldb r4, {x}\nldb r5, {y}\n"), twin(&x, &y))))
}

fn nulls(forward: &str, if_null: bool) -> Case {
    let loads = [("ldnull r7\n", if_null), ("ldstr r10, \"\"\nmov r7, r10\n", !if_null)];
    condition(forward, "r7", loads.map(|(load, taken)| (load.to_string(), taken)))
}

fn same(forward: &str, if_same: bool) -> Case {
    let objects = ["ldnull", "ldstr \"a\"", "ldstr \"b\""];
    let load = |to: &str, what: &str| match what.split_once(' ') {
        Some((op, text)) => format!("{op} r10, {text}\nmov {to}, r10\n"),
        None => format!("{what} {to}\n"),
    };
    let pairs = objects.iter().flat_map(|x| objects.iter().map(move |y| (x, y)));
    condition(forward, "r7, r8", pairs.map(|(x, y)| (load("r7", x) + &load("r8", y), (x == y) == if_same)))
}

/// The second of each pair is made when the program runs, so that equal texts are different objects.
fn texts(forward: &str, if_same: bool) -> Case {
    let load = |(x, y): (Option<&str>, Option<&str>)| {
        let first = x.map_or("ldnull r7\n".into(), |x| format!("ldstr r10, \"{x}\"\nmov r7, r10\n"));
        let second =
            y.map_or("ldnull r8\n".into(), |y| format!("ldstr r10, \"{y}\"\ncalln r8, concat(r10)\n"));
        (first + &second, (x == y) == if_same)
    };
    let pairs = TEXTS.iter().flat_map(|&x| TEXTS.iter().map(move |&y| (x, y)));
    condition(forward, "r7, r8", pairs.map(load))
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        booleans("brt", |x| x),
        booleans("brf", |x| !x),
        equal_booleans("breq", PartialEq::eq),
        equal_booleans("brne", PartialEq::ne),
        integers("breq", |x, y| x == y),
        integers("brne", |x, y| x != y),
        integers("brlt", |x, y| x < y),
        integers("brle", |x, y| x <= y),
        immediates("breqi", |x, y| x == y),
        immediates("brnei", |x, y| x != y),
        immediates("brlti", |x, y| x < y),
        immediates("brlei", |x, y| x <= y),
        immediates("brgti", |x, y| x > y),
        immediates("brgei", |x, y| x >= y),
        floats("fbreq", |x, y| x == y),
        floats("fbrne", |x, y| x != y),
        floats("fbrlt", |x, y| x < y),
        floats("fbrle", |x, y| x <= y),
        floats("fbrnlt", |x, y| !x.partial_cmp(&y).is_some_and(|o| o.is_lt())),
        floats("fbrnle", |x, y| !x.partial_cmp(&y).is_some_and(|o| o.is_le())),
        same("rbreq", true),
        same("rbrne", false),
        texts("sbreq", true),
        texts("sbrne", false),
        nulls("brnull", true),
        nulls("brnonnull", false),
    ];
    cases.extend(["forlt", "forle", "forlti", "forlei"].map(counted));
    cases.extend([switches(), itself(), far()]);
    cases
}

/// How often a loop's body ran and what the counter was after it; the body runs once before the first step.
fn counted(op: &str) -> Case {
    let immediate = op.ends_with('i');
    let starts = [0, 1, -1, 5, -10, i64::MAX, i64::MAX - 3, i64::MIN, i64::MIN + 1];
    let mut bounds = vec![0, 1, -1, 7, 100, -20, i16::MAX as i64, i16::MIN as i64];
    if !immediate {
        bounds.extend([i64::MAX, i64::MAX - 1, i64::MIN, i64::MIN + 3]);
    }
    let mut body = String::new();
    let mut expected = Vec::new();
    for (number, (start, bound)) in
        starts.iter().flat_map(|&s| bounds.iter().map(move |&b| (s, b))).enumerate()
    {
        let Some((runs, end)) = counted_twin(op, start, bound) else { continue };
        let limit = if immediate { bound.to_string() } else { "r1".into() };
        body += &format!("ldi64 r0, {start}\nldi64 r1, {bound}\nldi r2, 0\nL{number}:\naddi r2, r2, 1\n");
        body += &format!("{op} r0, {limit}, L{number}\ncall -, show(r2)\ncall -, show(r0)\n");
        expected.extend([runs, end]);
    }
    Case::main(op, "r0..r2: int", &body, lines(expected))
}

/// `None` if it takes too long.
fn counted_twin(op: &str, start: i64, bound: i64) -> Option<(i64, i64)> {
    let (mut i, mut runs) = (start, 0);
    while runs < 1000 {
        runs += 1;
        if op.starts_with("forlt") {
            i = i.wrapping_add(1);
            if i >= bound {
                return Some((runs, i));
            }
        } else if i >= bound {
            return Some((runs, i));
        } else {
            i += 1;
        }
    }
    None
}

fn switches() -> Case {
    let mut body = String::new();
    let mut expected = Vec::new();
    let mut number = 0;
    for low in [0, 5, -2, i64::MIN, i64::MAX, i64::MAX - 1] {
        for x in [-3, -2, -1, 0, 1, 4, 5, 6, 7, 8, i64::MIN, i64::MIN + 2, i64::MAX, i64::MAX - 1] {
            number += 1;
            body += &format!(
                "ldi64 r0, {x}\nswitch r0, {low} [A{number}, B{number}, A{number}] else D{number}\n"
            );
            body +=
                &format!("A{number}:\nldi r1, 1\njump E{number}\nB{number}:\nldi r1, 2\njump E{number}\n");
            body += &format!("D{number}:\nldi r1, 3\nE{number}:\ncall -, show(r1)\n");
            // Cases count on past the largest number to the smallest.
            expected.push(match x.wrapping_sub(low) as u64 {
                0 | 2 => 1,
                1 => 2,
                _ => 3,
            });
        }
    }
    Case::main("switch", "r0..r1: int", &body, lines(expected))
}

/// A back edge may go to itself; so may a counted loop.
fn itself() -> Case {
    let body = "ldi r0, 0\nL1:\nforlti r0, 1000, L1\ncall -, show(r0)\nldi r0, 0\nL2:\nforlei r0, 1000, L2\n\
                call -, show(r0)\nldi r0, 3\nL3:\naddi r0, r0, -1\nbreqi r0, 0, L4\nloop L3\nL4:\ncall -, show(r0)";
    Case::main("itself", "r0: int", body, lines([1000, 1000, 0]))
}

/// Words between a far branch and its target: more than 16 bits can say.
const FAR: usize = 33_000;

/// One function for each branch, in which the builder has to lengthen it; it gives 1 if the branch was taken, and 10 more for each
/// step of a counted loop.
fn far() -> Case {
    let ops: Vec<Op> = Op::ALL
        .iter()
        .copied()
        .filter(|op| matches!(op.shape(), OpShape::Branch | OpShape::LoopBranch))
        .collect();
    let mut functions = String::new();
    let mut body = String::from(
        "ldi r0, 1\nldi r1, 2\nldf r2, 1.0\nldf r3, nan\nldb r4, true\nldb r5, false\nldstr r9, \"\"\nmov r7, r9\nldnull r8\n",
    );
    let mut expected = Vec::new();
    for &op in &ops {
        let samples: Vec<[&str; 2]> = match kinds(op)[0] {
            Kind::Bool => vec![["r4", ""], ["r5", ""]],
            Kind::Int | Kind::Bits => vec![["r0", "r0"], ["r0", "r1"], ["r1", "r0"]],
            Kind::Float => vec![["r2", "r2"], ["r2", "r3"]],
            _ => vec![["r7", "r8"], ["r8", "r8"], ["r8", "r7"]],
        };
        let params: Vec<String> =
            kinds(op).iter().enumerate().map(|(i, k)| format!("r{i}: {}", type_of(*k))).collect();
        functions += &format!(
            "function {}({}) -> int {{\nregisters r{}: int\n",
            op.mnemonic(),
            params.join(", "),
            params.len()
        );
        functions += &format!("ldi r{0}, 0\nret r{0}\n}}\n", params.len());
        for sample in samples {
            let args = sample[..params.len()].join(", ");
            body += &format!("call r6, {}({args})\ncall -, show(r6)\n", op.mnemonic());
            expected.push(far_twin(op, sample));
        }
    }
    let text = format!(
        "{functions}function main() {{\nregisters r0..r1: int, r2..r3: float, r4..r5: bool, r6: int, \
         r7..r8: String?, r9: String\n{body}\nretu\n}}"
    );
    let mut program: Program = (**program(&text)).clone();
    for op in ops {
        let function =
            program.functions.iter_mut().find(|f| *f.name == *op.mnemonic()).expect("declared above");
        lengthen(function, op);
    }
    Case {
        name: "far branches".into(),
        program: Arc::new(verify(program).expect("far")),
        expected: lines(expected),
    }
}

/// The kinds of a branch's register operands.
fn kinds(op: Op) -> Vec<Kind> {
    op.operands().iter().filter(|o| o.role != Role::Imm).map(|o| o.kind).collect()
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Int | Kind::Bits => "int",
        Kind::Float => "float",
        _ => "String?",
    }
}

/// The constant of branches that have one.
const CONSTANT: u16 = 2;

fn far_twin(op: Op, sample: [&str; 2]) -> i64 {
    use Op::*;
    let value = |register: &str| match register {
        "r0" | "r2" | "r4" | "r7" => 1.0,
        "r1" => 2.0,
        "r3" => f64::NAN,
        _ => 0.0,
    };
    let (x, y) = (value(sample[0]), value(sample[1]));
    let c = CONSTANT as f64;
    let taken = match op {
        BrTrue | LoopTrue | BrNonNull | LoopNonNull => x == 1.0,
        BrFalse | LoopFalse | BrNull | LoopNull => x == 0.0,
        BrEq | LoopEq | FBrEq | FLoopEq | RBrEq | RLoopEq | SBrEq | SLoopEq => x == y,
        BrNe | LoopNe | FBrNe | FLoopNe | RBrNe | RLoopNe | SBrNe | SLoopNe => x != y,
        BrLt | LoopLt | FBrLt | FLoopLt => x < y,
        BrLe | LoopLe | FBrLe | FLoopLe => x <= y,
        FBrNlt | FLoopNlt => x.is_nan() || y.is_nan() || x >= y,
        FBrNle | FLoopNle => x.is_nan() || y.is_nan() || x > y,
        BrEqI | LoopEqI => x == c,
        BrNeI | LoopNeI => x != c,
        BrLtI | LoopLtI => x < c,
        BrLeI | LoopLeI => x <= c,
        BrGtI | LoopGtI => x > c,
        BrGeI | LoopGeI => x >= c,
        ForLt => x + 1.0 < y,
        ForLtI => x + 1.0 < c,
        ForLe => x < y,
        ForLeI => x < c,
        other => unreachable!("{other:?} is no branch"),
    };
    let steps = match op {
        ForLt | ForLtI => 1,
        ForLe | ForLeI => taken as i64,
        _ => 0,
    };
    taken as i64 + 10 * steps
}

/// The body of the function for `op`.
fn lengthen(function: &mut Function, op: Op) {
    let count = kinds(op).len() as u16;
    let (result, b) = (count, if count == 2 { 1 } else { CONSTANT });
    let b = if kinds(op).len() == 1 && op.operands().len() == 2 { 0 } else { b };
    let mut builder = Builder::new();
    let (taken, start) = (builder.label(), builder.label());
    let end = |builder: &mut Builder, value: u32| {
        builder.op_bc(Op::LoadInt, result, value);
        if op.is_counted_loop() {
            // Ten times the steps: the counter is the first parameter, given below as the copy in the last register.
            builder.op(Op::Sub, 0, 0, result + 1);
            builder.op(Op::MulI, 0, 0, 10);
            builder.op(Op::Add, result, result, 0);
        }
        builder.op(Op::Return, result, 0, 0);
    };
    if op.is_counted_loop() {
        function.registers.push(holloway_bytecode::Type::Int);
        builder.op(Op::Mov, result + 1, 0, 0);
    }
    let pad = |builder: &mut Builder| (0..FAR).for_each(|_| builder.op_bc(Op::LoadInt, result, 7));
    if op.shape() == OpShape::Branch {
        builder.branch(op, 0, b, taken);
        end(&mut builder, 0);
        pad(&mut builder);
        builder.bind(taken);
        end(&mut builder, 1);
    } else {
        builder.jump(Op::Jump, start);
        builder.bind(taken);
        end(&mut builder, 1);
        pad(&mut builder);
        builder.bind(start);
        builder.branch(op, 0, b, taken);
        end(&mut builder, 0);
    }
    function.code = builder.finish().words;
}
