//! Carries out a decision: a call through a table becomes tests of the receiver and direct calls, which become bodies.

use super::decision::{Decision, Otherwise, Site, Test};
use super::splice::Editor;
use crate::build::BuildError;
use crate::ir::{
    BlockId, FrameState, MethodTable, Node, Op, Reason, RefTy, Region, StateId, StateKind, Target,
    Terminator, Ty, Value,
};
use crate::passes::Input;
use crate::passes::devirtualize::{assume, make_direct, narrowed};
use holloway_bytecode::code::decode;
use holloway_bytecode::{FunctionId, Program, Shape};
use smallvec::SmallVec;

/// Does what was decided. How many nodes that added; `None` if the call is gone in the meantime.
pub fn carry_out(
    editor: &mut Editor<'_>,
    input: &Input<'_>,
    site: &Site,
    decision: &Decision,
) -> Result<Option<usize>, BuildError> {
    if editor.home(site.call).is_none() {
        return Ok(None);
    }
    if matches!(editor.region().op(site.call), Op::Call(_)) {
        return editor.inline(input, site.call).map(Some);
    }
    let before = editor.region().nodes.len();
    let calls = match in_place(editor, input, site, decision) {
        true => vec![site.call],
        false => tests(editor, input, site, decision),
    };
    for call in calls {
        // What cannot be built stays a direct call.
        let _ = editor.inline(input, call);
    }
    Ok(Some(editor.region().nodes.len() - before))
}

/// If only one method can be called from here on: makes the call direct, after a check if one is needed.
fn in_place(editor: &mut Editor<'_>, input: &Input<'_>, site: &Site, decision: &Decision) -> bool {
    let ([arm], call) = (&decision.arms[..], site.call) else { return false };
    let receiver = editor.resolve(editor.region().node(call).args[0]);
    let known = editor.region().ty(receiver);
    let ty = receiver_type(input.program, site, arm.test, arm.function, known);
    let region = editor.region_mut();
    let mut added = Vec::new();
    let checked = match (arm.test, decision.otherwise) {
        (Test::Always, _) => None,
        (test, Otherwise::Deopt) => {
            let Some(state) = state_before(region, input.program, call) else { return false };
            check(region, call, &mut added, receiver, test, ty, state)
        }
        _ => return false,
    };
    let receiver = checked.unwrap_or_else(|| assumed(region, call, &mut added, receiver, ty));
    region.nodes[call.index()].args[0] = receiver;
    make_direct(region, input.program, call, arm.function);
    editor.insert_before(call, added);
    true
}

/// The receiver as one of the type.
fn assumed(region: &mut Region, call: Value, added: &mut Vec<Value>, receiver: Value, ty: Ty) -> Value {
    if ty == region.ty(receiver) {
        return receiver;
    }
    let assumed = assume(region, call, receiver, ty);
    added.push(assumed);
    assumed
}

/// Makes the tests and the direct calls; the calls.
fn tests(editor: &mut Editor<'_>, input: &Input<'_>, site: &Site, decision: &Decision) -> Vec<Value> {
    let call = site.call;
    let receiver = editor.resolve(editor.region().node(call).args[0]);
    let leaves = decision.otherwise == Otherwise::Deopt;
    let state = leaves.then(|| state_before(editor.region_mut(), input.program, call)).flatten();
    let Some((mut block, rest)) = editor.split(call) else { return Vec::new() };
    let after = editor.join(call, rest);
    let mut calls = Vec::new();
    let mut left: u64 = decision.left_over + decision.arms.iter().map(|arm| arm.count).sum::<u64>();
    for (number, arm) in decision.arms.iter().enumerate() {
        left -= arm.count;
        let is_last = number + 1 == decision.arms.len();
        let known = editor.region().ty(receiver);
        let ty = receiver_type(input.program, site, arm.test, arm.function, known);
        let region = editor.region_mut();
        let mut added = Vec::new();
        let (place, checked) = match (arm.test, state) {
            (Test::Always, _) => (block, None),
            (test, Some(state)) if is_last => {
                (block, check(region, call, &mut added, receiver, test, ty, state))
            }
            (test, _) => (branch(region, call, &mut block, receiver, test, [arm.count, left]), None),
        };
        let receiver = checked.unwrap_or_else(|| assumed(region, call, &mut added, receiver, ty));
        region.block_mut(place).nodes.extend(added);
        let direct = copy(region, call);
        region.nodes[direct.index()].args[0] = receiver;
        make_direct(region, input.program, direct, arm.function);
        editor.push_call(place, direct);
        editor.jump(place, after, Some(direct));
        calls.push(direct);
    }
    // Where no state could be made for leaving, a call does it, too.
    if decision.otherwise == Otherwise::Call || leaves && state.is_none() {
        let again = copy(editor.region_mut(), call);
        editor.push_call(block, again);
        editor.jump(block, after, Some(again));
    }
    calls
}

/// What is known of the receiver where a test holds.
fn receiver_type(program: &Program, site: &Site, test: Test, function: FunctionId, known: Ty) -> Ty {
    match (test, &site.targets) {
        (Test::Exactly(class), _) => Ty::exactly(class),
        (Test::Always | Test::Method(_), Some(targets)) => targets.receiver_type(program, function, known),
        (Test::Instance(class), _) => match known {
            Ty::Ref(r) if r.shape.fits(Shape::Class(class), program) => known.non_null(),
            _ => Ty::Ref(RefTy { shape: Shape::Class(class), nullable: false, exact: false }),
        },
        (Test::Always | Test::Method(_), None) => narrowed(program, function, known),
    }
}

/// A node of the call's place.
fn node(region: &mut Region, call: Value, op: Op, args: &[Value], ty: Ty, state: Option<StateId>) -> Value {
    let (inline, pc) = (region.node(call).inline, region.node(call).pc);
    region.add_node(Node { op, args: SmallVec::from_slice(args), ty, state, inline, pc })
}

fn copy(region: &mut Region, call: Value) -> Value {
    let node = region.node(call).clone();
    region.add_node(node)
}

fn test_op(test: Test, call: Op) -> Option<Op> {
    match test {
        Test::Always => None,
        Test::Exactly(class) => Some(Op::IsExactly(class)),
        Test::Instance(class) => Some(Op::IsInstance(class)),
        Test::Method(function) => Some(Op::Reaches(MethodTable::of(call)?, function)),
    }
}

/// Leaves compiled code unless the test holds. The receiver, if the check gives it.
fn check(
    region: &mut Region,
    call: Value,
    added: &mut Vec<Value>,
    receiver: Value,
    test: Test,
    ty: Ty,
    state: StateId,
) -> Option<Value> {
    if let Test::Exactly(class) = test {
        let checked = node(region, call, Op::CheckExactly(class), &[receiver], ty, Some(state));
        added.push(checked);
        return Some(checked);
    }
    let holds = node(region, call, test_op(test, region.op(call))?, &[receiver], Ty::Bool, None);
    let guard = node(region, call, Op::Guard(true, Reason::Receiver), &[holds], Ty::None, Some(state));
    added.extend([holds, guard]);
    None
}

/// Ends the block with a branch on the test, and goes on where it does not hold. The block where it holds.
fn branch(
    region: &mut Region,
    call: Value,
    block: &mut BlockId,
    receiver: Value,
    test: Test,
    counts: [u64; 2],
) -> BlockId {
    let (hit, miss) = (region.add_block(), region.add_block());
    let cold = region.block(*block).cold;
    region.block_mut(hit).cold = cold;
    region.block_mut(miss).cold = cold || counts[0] > 0 && counts[1] == 0;
    let op = test_op(test, region.op(call)).unwrap_or(Op::Bool(true));
    let args: &[Value] = if op.is_constant() { &[] } else { &[receiver] };
    let condition = node(region, call, op, args, Ty::Bool, None);
    let from = region.block_mut(*block);
    from.nodes.push(condition);
    from.end = Terminator::Branch {
        condition,
        then: Target::plain(hit),
        otherwise: Target::plain(miss),
        source: None,
        counts: counts.map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
    };
    *block = miss;
    hit
}

/// The frame state before a call, from the one during it: its arguments are live, too.
fn state_before(region: &mut Region, program: &Program, call: Value) -> Option<StateId> {
    let node = region.node(call);
    let during = region.state(node.state?);
    let code = &program.functions[region.inlines[node.inline.index()].function.index()].code;
    let instruction = decode(code, node.pc as usize)?;
    let mut registers = during.registers.clone();
    for (register, &value) in instruction.args().zip(&node.args) {
        if !registers.iter().any(|&(other, _)| other == register) {
            registers.push((register, value));
        }
    }
    registers.sort_unstable_by_key(|&(register, _)| register);
    let state = FrameState { kind: StateKind::Before, registers, ..*during };
    Some(region.add_state(state))
}
