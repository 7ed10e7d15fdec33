//! Calls through tables that can reach one method only become direct calls: because the exact class of the receiver is known, or
//! because all classes that it can be of have the same method. A class without instances is no such class, as long as it has
//! none: the compilation notes that it relies on that.

use super::{Input, Notes};
use crate::hierarchy::{interface_target, virtual_target};
use crate::ir::{Node, Op, RefTy, Region, Ty, Value};
use crate::options::Level;
use holloway_bytecode::{ClassId, FunctionId, Program, Shape};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Turns calls through tables into direct ones where there is one target.
pub fn run(region: &mut Region, input: &Input<'_>, notes: &mut Notes) -> bool {
    let mut changed = false;
    for block in region.block_ids() {
        let mut at = 0;
        while let Some(&call) = region.block(block).nodes.get(at) {
            if let Some((targets, function)) = only_target(region, input, call) {
                notes.uninstantiated.extend(&targets.relied_on);
                let receiver = region.node(call).args[0];
                let ty = targets.receiver_type(input.program, function, region.ty(receiver));
                if ty != region.ty(receiver) {
                    let assumed = assume(region, call, receiver, ty);
                    region.block_mut(block).nodes.insert(at, assumed);
                    region.nodes[call.index()].args[0] = assumed;
                    at += 1;
                }
                make_direct(region, input.program, call, function);
                changed = true;
            }
            at += 1;
        }
    }
    changed
}

/// What a call through a table can reach.
#[derive(Clone, PartialEq, Debug)]
pub struct Targets {
    /// The classes of which the receiver can be, with their methods.
    pub classes: Vec<(ClassId, FunctionId)>,
    /// Classes that are not among these because they have no instances.
    pub relied_on: BTreeSet<ClassId>,
}

impl Targets {
    /// The different methods in order of their first class.
    pub fn functions(&self) -> Vec<FunctionId> {
        let mut functions = Vec::new();
        for &(_, function) in &self.classes {
            if !functions.contains(&function) {
                functions.push(function);
            }
        }
        functions
    }

    /// What is known of a receiver for which `function` is called, if `known` was known before.
    pub fn receiver_type(&self, program: &Program, function: FunctionId, known: Ty) -> Ty {
        let mut classes =
            self.classes.iter().filter(|(_, target)| *target == function).map(|(class, _)| *class);
        match (classes.next(), classes.next()) {
            (Some(class), None) => Ty::exactly(class),
            _ => narrowed(program, function, known),
        }
    }
}

/// The type of a receiver that is known to be one of a method's.
pub fn narrowed(program: &Program, function: FunctionId, known: Ty) -> Ty {
    let declared = Ty::of(program.functions[function.index()].registers[0]).non_null();
    match (known, declared) {
        (Ty::Ref(known), Ty::Ref(wanted)) if known.shape.fits(wanted.shape, program) => {
            Ty::Ref(known).non_null()
        }
        _ => declared,
    }
}

/// A receiver known to be of a type, for the call at which it is.
pub fn assume(region: &mut Region, call: Value, receiver: Value, ty: Ty) -> Value {
    let Node { inline, pc, .. } = *region.node(call);
    let args = SmallVec::from_slice(&[receiver]);
    region.add_node(Node { op: Op::Assume, args, ty, state: None, inline, pc })
}

/// Makes a call one of a function whose parameters take its arguments.
pub fn make_direct(region: &mut Region, program: &Program, call: Value, function: FunctionId) {
    let node = &mut region.nodes[call.index()];
    node.op = Op::Call(function);
    // The method may say more of its result than the table does.
    let result = program.functions[function.index()].result.map(Ty::of);
    if let (Ty::Ref(known), Some(Ty::Ref(more))) = (node.ty, result)
        && more.fits(known, program)
    {
        node.ty = Ty::Ref(more);
    }
}

fn only_target(region: &Region, input: &Input<'_>, call: Value) -> Option<(Targets, FunctionId)> {
    let targets = targets(region, input, call)?;
    match targets.functions()[..] {
        [function] => Some((targets, function)),
        _ => None,
    }
}

/// What a call through a table can reach; `None` for other nodes, and if anything may be called.
pub fn targets(region: &Region, input: &Input<'_>, call: Value) -> Option<Targets> {
    let op = region.op(call);
    let by_table = match op {
        Op::CallVirtual(class, _) => Shape::Class(class),
        Op::CallInterface(interface, _) => Shape::Interface(interface),
        _ => return None,
    };
    let receiver = known_type(region, region.node(call).args[0]);
    let target = |class| target_of(input.program, op, class);
    if let Some(RefTy { shape: Shape::Class(class), exact: true, .. }) = receiver {
        return Some(Targets { classes: vec![(class, target(class)?)], relied_on: BTreeSet::new() });
    }
    let mut classes = Vec::new();
    let mut without_instances = Vec::new();
    for &class in input.hierarchy.classes(by_table)? {
        if receiver.is_some_and(|known| !Shape::Class(class).fits(known.shape, input.program)) {
            continue;
        }
        let entry = (class, target(class)?);
        let may_be = input.options.level == Level::O0 || input.profile.is_instantiated(class);
        if may_be { classes.push(entry) } else { without_instances.push(entry) }
    }
    // Of classes that make no difference nothing is assumed, unless that leaves one class.
    if classes.len() > 1 {
        let functions: Vec<FunctionId> = classes.iter().map(|&(_, function)| function).collect();
        classes.extend(without_instances.extract_if(.., |(_, function)| functions.contains(function)));
    }
    let relied_on = without_instances.into_iter().map(|(class, _)| class).collect();
    (!classes.is_empty()).then_some(Targets { classes, relied_on })
}

/// The methods that a call through a table reaches on classes of its static type, whether these have instances or not. What
/// profiles say is not always of this program.
pub fn reachable<'a>(input: &'a Input<'_>, call: Op) -> impl Iterator<Item = (ClassId, FunctionId)> + 'a {
    let by_table = match call {
        Op::CallVirtual(class, _) => Shape::Class(class),
        Op::CallInterface(interface, _) => Shape::Interface(interface),
        _ => Shape::Any,
    };
    let classes = input.hierarchy.classes(by_table).unwrap_or(&[]);
    classes.iter().filter_map(move |&class| Some((class, target_of(input.program, call, class)?)))
}

/// The most precise type of the object that a value is: checks and assumptions only add to what is known before.
fn known_type(region: &Region, mut value: Value) -> Option<RefTy> {
    let mut known = region.ty(value).reference()?;
    while region.op(value).is_check() || region.op(value) == Op::Assume {
        value = region.node(value).args[0];
        match region.ty(value).reference() {
            Some(inner) if inner.exact => known = inner,
            Some(_) => {}
            None => break,
        }
    }
    Some(known)
}

/// The method that a call through a table calls on an instance of exactly this class.
pub fn target_of(program: &Program, call: Op, class: ClassId) -> Option<FunctionId> {
    match call {
        Op::CallVirtual(_, slot) => virtual_target(program, class, slot),
        Op::CallInterface(interface, method) => interface_target(program, class, interface, method),
        _ => None,
    }
}
