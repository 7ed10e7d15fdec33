//! Calls of the program for which a compilation has no code, and why: so that what is said of the calls of a method leaves none out.

use super::decision::{callee, path_to};
use crate::build::plan::{Unbuilt, unbuilt};
use crate::ir::{InlineId, Op, Region, RegionEntry};
use crate::passes::Input;
use holloway_bytecode::code::{Instruction, instructions};
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Function, FunctionId, InterfaceId, Op as Code, Program, RefType, Shape, Type};
use holloway_vm::compiled::{CallDecision, Verdict};
use std::collections::BTreeSet;

/// The calls of methods in a function's code. (Natives are no methods.)
pub fn calls(function: &Function) -> impl Iterator<Item = (u32, Instruction<'_>)> {
    let calls = instructions(&function.code);
    calls
        .filter(|(_, call)| call.op.shape() == OpShape::Call && call.op != Code::CallNative)
        .map(|(pc, call)| (pc as u32, call))
}

/// Of all bodies of the region, the calls of which nothing was decided.
pub fn absent(region: &Region, input: &Input<'_>, decided: &[CallDecision]) -> Vec<CallDecision> {
    let mut known: BTreeSet<_> = decided.iter().map(|decision| decision.path.clone()).collect();
    let mut absent = Vec::new();
    for (number, inline) in region.inlines.iter().enumerate() {
        let function = &input.program.functions[inline.function.index()];
        let mut missing = Vec::new();
        for (pc, call) in calls(function) {
            let path = path_to(region, InlineId(number as u32), pc);
            if known.insert(path.clone()) {
                missing.push((pc, path, name(input.program, function, &call)));
            }
        }
        if missing.is_empty() {
            continue;
        }
        let from = match region.entry {
            RegionEntry::Loop(pc) if inline.caller.is_none() => pc,
            _ => 0,
        };
        let places: Vec<u32> = missing.iter().map(|&(pc, ..)| pc).collect();
        let reasons = unbuilt(input.program, input.profile, input.options, inline.function, from, &places);
        absent.extend(missing.into_iter().zip(reasons).map(|((_, path, callee), reason)| CallDecision {
            path,
            callee,
            verdict: Verdict::NoCode,
            inlined: Vec::new(),
            why: why(reason).into(),
            frequency: 0.0,
        }));
    }
    absent
}

fn why(reason: Unbuilt) -> &'static str {
    match reason {
        Unbuilt::OffTheWay => "no way leads there from where this code is entered, but for errors",
        Unbuilt::Untaken => "its way was never taken: this code is left there",
        Unbuilt::Built => "its way is known not to be taken here",
    }
}

/// What is called, as the program writes it.
fn name(program: &Program, function: &Function, call: &Instruction<'_>) -> String {
    let receiver = call.args().next().and_then(|register| function.registers.get(register.0 as usize));
    let op = match (call.op, receiver) {
        (Code::Call, _) => Op::Call(FunctionId(call.bc())),
        (Code::CallVirtual, Some(Type::Ref(RefType { shape: Shape::Class(class), .. }))) => {
            Op::CallVirtual(*class, call.bc())
        }
        (Code::CallInterface, _) => Op::CallInterface(InterfaceId(u32::from(call.c)), u32::from(call.b)),
        _ => return String::new(),
    };
    callee(program, op)
}
