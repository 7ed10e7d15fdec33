//! The verifier: what passes and lowering may rely on.
//!
//! The list in [`Invariant`] is complete: R about the form of a region, I about the tree of inlined methods, T about
//! types, S about frame states, V about objects that are not made. It is printed with [`Invariant::statement`]; each has a
//! test in `tests/verify`. Only reachable blocks are looked at, with what they use: what passes leave behind may be
//! anything.
//!
//! Types are a matter of soundness here, not of taste: passes remove checks because of them. So a value may be put
//! only where its type is expected, and no node may claim more of its result than follows from its operation and operands.
//! [`Op::Assume`] is the one exception; who makes one vouches for it.
//!
//! # What is not verified
//!
//! * That an index is inside, a divisor not zero, a length not negative. Mostly the operand is the result of a check; but
//!   passes may remove a check that they have proved, and the proof is not kept.
//! * That frame states are true: that the values are those which the interpreter would have in its registers,
//!   and that all live registers are there.
//! * Anything about memory: that a load may be where it is, or a store gone.
//!
//! The work is linear in the size of the region, but for frame states, whose values are looked at once for each user.

mod origins;
mod states;
mod types;

use super::print::mnemonic;
use super::region::Shape;
use super::{BlockId, Op, Region, StateId, Target, Terminator, Ty, Value};
use holloway_bytecode::Program;
use origins::Origins;
use std::fmt;

macro_rules! invariants {
    ($($(#[$group:meta])* $name:ident $statement:literal;)*) => {
        /// Something that holds for every region.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Invariant { $($(#[$group])* #[doc = $statement] $name,)* }

        impl Invariant {
            /// All of them, in order.
            pub const ALL: &'static [Invariant] = &[$(Invariant::$name,)*];

            /// Its name: a letter for the part of the region, and a number.
            pub fn name(self) -> &'static str {
                match self { $(Invariant::$name => stringify!($name),)* }
            }

            /// What holds.
            pub fn statement(self) -> &'static str {
                match self { $(Invariant::$name => $statement,)* }
            }
        }
    };
}

invariants! {
    // The form of regions.
    R1 "Every block, node, state and method of the tree that something names exists, and so does everything of the \
        program that an operation or type names.";
    R2 "The entry has no parameters and no predecessors.";
    R3 "No block is open.";
    R4 "A node is in one block, once; the parameters of a block are `param` and no other nodes are.";
    R5 "A target has an argument for each parameter of its block, which fits its type.";
    R6 "A value is defined before it is used, on every path.";
    R7 "`argument` and `local` are in the entry block; the one if the region begins with the method, the other if it \
        begins at a loop; their numbers exist.";
    R8 "A switch has at least one case, and a count for each case and the default.";

    // The tree of inlined methods.
    I1 "The tree begins with the method that is compiled; every other method was called by one before it, at a call, \
        and is one deeper.";
    I2 "Every place in bytecode is the first word of an instruction.";
    I3 "What a branch stands for is a branch or switch, and what a switch stands for is a switch.";

    // Types.
    T1 "A node has the operands that its operation needs, and they fit.";
    T2 "The type of a node says no more than is known of what its operation gives; where it gives nothing, the type is none.";
    T3 "Constants have their types; `null` is of a nullable reference type.";
    T4 "`assume` has a reference as operand and as result.";
    T5 "A field is named by the class that declares it first.";
    T6 "Elements are accessed in arrays whose elements are of that kind.";
    T7 "`new` makes instances of concrete classes with fields, `new_array` of array classes.";
    T8 "Branches are decided by Booleans, switches by integers; what is returned fits the result of the method.";

    // Frame states.
    S1 "Exactly those nodes have a frame state that need one.";
    S2 "Checks and `deopt` go on before an instruction, calls of methods are during one.";
    S3 "The frame of an inlined method is in the frame of its caller, which is during the call that was inlined; that \
        of the compiled method is in none.";
    S4 "The registers of a state are in ascending order, and exist; so does the one that takes a result.";
    S5 "The value of a register is of the register's kind.";
    S6 "The values of a state are defined wherever the state is used.";

    // Objects that are not made.
    V1 "A virtual object has a value for each field of its class, which fits it or is null.";
    V2 "Virtual objects are used by frame states and other virtual objects only.";
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Everything that is wrong with a region: name of the invariant, where, what.
pub fn verify(region: &Region, program: &Program) -> Result<(), Vec<String>> {
    let mut errors = Errors(Vec::new());
    targets_exist(region, &mut errors);
    if errors.0.is_empty() {
        let verifier = Verifier::new(region, program);
        if verifier.everything_exists(&mut errors) {
            verifier.tree(&mut errors);
            verifier.blocks(&mut errors);
            verifier.states(&mut errors);
        }
    }
    if errors.0.is_empty() { Ok(()) } else { Err(errors.0) }
}

/// What was found.
struct Errors(Vec<String>);

impl Errors {
    fn add(&mut self, invariant: Invariant, place: impl fmt::Display, what: impl fmt::Display) {
        self.0.push(format!("{invariant}: {place}: {what}"));
    }
}

/// Without this there is no graph.
fn targets_exist(region: &Region, errors: &mut Errors) {
    for block in region.block_ids() {
        for target in region.block(block).end.targets() {
            if target.block.index() >= region.blocks.len() {
                errors.add(
                    Invariant::R1,
                    format!("b{}", block.0),
                    format!("there is no b{}", target.block.0),
                );
            }
        }
    }
    if region.blocks.is_empty() || region.inlines.is_empty() {
        errors.add(Invariant::R1, "region", "there is no entry block or no method");
    }
}

/// A node in messages, which are written only if something is wrong.
#[derive(Clone, Copy)]
struct Name(Value, Op);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{} ({})", self.0.0, mnemonic(self.1))
    }
}

/// Where a node is: block and place in it, 0 for parameters.
type Place = (BlockId, usize);

/// The end of a block, as a place.
const END: usize = usize::MAX;

struct Verifier<'a> {
    region: &'a Region,
    program: &'a Program,
    shape: Shape,
    /// For each node where it is, if in a reachable block.
    places: Vec<Option<Place>>,
    origins: Origins<'a>,
    /// Nothing extends the class and it has instances: every reference to it is exact.
    leaves: Vec<bool>,
}

impl<'a> Verifier<'a> {
    fn new(region: &'a Region, program: &'a Program) -> Verifier<'a> {
        let shape = region.shape();
        let mut leaves: Vec<bool> = program.classes.iter().map(|class| !class.is_abstract).collect();
        for superclass in program.classes.iter().filter_map(|class| class.superclass) {
            leaves[superclass.index()] = false;
        }
        let mut places = vec![None; region.nodes.len()];
        for &id in shape.graph.reverse_postorder() {
            let block = region.block(id);
            let params = block.params.iter().map(|&param| (param, 0));
            let nodes = block.nodes.iter().enumerate().map(|(i, &node)| (node, i + 1));
            for (value, place) in params.chain(nodes) {
                if let Some(entry) = places.get_mut(value.index()) {
                    entry.get_or_insert((id, place));
                }
            }
        }
        Verifier { region, program, shape, places, origins: Origins::new(program), leaves }
    }

    /// The reachable blocks in reverse postorder.
    fn order(&self) -> &[BlockId] {
        self.shape.graph.reverse_postorder()
    }

    /// R1, but for targets. Nothing else is looked at if it does not hold.
    fn everything_exists(&self, errors: &mut Errors) -> bool {
        let before = errors.0.len();
        let region = self.region;
        let value_exists = |value: Value| value.index() < region.nodes.len();
        for (number, inline) in region.inlines.iter().enumerate() {
            let caller = inline.caller.map_or(0, |(caller, _)| caller.index());
            if inline.function.index() >= self.program.functions.len() || caller >= region.inlines.len() {
                errors.add(Invariant::R1, format!("i{number}"), "its function or caller does not exist");
            }
        }
        for &id in self.order() {
            let block = region.block(id);
            let place = format_args!("b{}", id.0);
            for &value in block.params.iter().chain(&block.nodes) {
                let Some(node) = region.nodes.get(value.index()) else {
                    errors.add(Invariant::R1, place, format!("there is no v{}", value.0));
                    continue;
                };
                if let Some(arg) = node.args.iter().find(|&&arg| !value_exists(arg)) {
                    errors.add(Invariant::R1, self.name(value), format!("there is no v{}", arg.0));
                }
                if node.state.is_some_and(|state| state.index() >= region.states.len()) {
                    errors.add(Invariant::R1, self.name(value), "its state does not exist");
                }
                if node.inline.index() >= region.inlines.len() {
                    errors.add(Invariant::R1, self.name(value), "its method does not exist");
                }
                if let Some(what) = self.missing(node.op, node.ty) {
                    errors.add(Invariant::R1, self.name(value), format!("there is no such {what}"));
                }
            }
            block.end.values(|value| {
                if !value_exists(value) {
                    errors.add(Invariant::R1, place, format!("there is no v{}", value.0));
                }
            });
            if block.end.state().is_some_and(|state| state.index() >= region.states.len()) {
                errors.add(Invariant::R1, place, "the state of its end does not exist");
            }
        }
        for id in self.used_states() {
            let state = region.state(id);
            let values = state.registers.iter().all(|&(_, value)| value_exists(value));
            let caller = state.caller.is_none_or(|caller| caller.index() < region.states.len());
            if !values || !caller || state.inline.index() >= region.inlines.len() {
                errors.add(
                    Invariant::R1,
                    format!("s{}", id.0),
                    "a value, the caller or the method does not exist",
                );
            }
        }
        errors.0.len() == before
    }

    /// R2 to R8, and what is to say about each node.
    fn blocks(&self, errors: &mut Errors) {
        let entry = self.region.block(Region::ENTRY);
        let graph = &self.shape.graph;
        if !entry.params.is_empty()
            || graph.predecessors(Region::ENTRY).any(|block| graph.is_reachable(block))
        {
            errors.add(Invariant::R2, "b0", "has parameters or predecessors");
        }
        let mut seen = vec![false; self.region.nodes.len()];
        for &id in self.order() {
            let block = self.region.block(id);
            let params = block.params.iter().map(|&param| (param, true));
            for (value, is_param) in params.chain(block.nodes.iter().map(|&node| (node, false))) {
                if std::mem::replace(&mut seen[value.index()], true) {
                    errors.add(Invariant::R4, self.name(value), format!("is in b{} and elsewhere", id.0));
                }
                if is_param != (self.region.op(value) == Op::Param) {
                    errors.add(Invariant::R4, self.name(value), "is among the wrong ones");
                }
                self.operands(id, value, errors);
                self.types(value, errors);
            }
            self.end(id, errors);
        }
    }

    /// That the operands of a node are there, and may be used by it.
    fn operands(&self, block: BlockId, value: Value, errors: &mut Errors) {
        let node = self.region.node(value);
        let place = self.places[value.index()].map_or(END, |(_, place)| place);
        for &arg in &node.args {
            self.used_at(arg, (block, place), Invariant::R6, &self.name(value), errors);
            if matches!(self.region.op(arg), Op::Virtual(_)) && !matches!(node.op, Op::Virtual(_)) {
                errors.add(Invariant::V2, self.name(value), format!("uses {}", self.name(arg)));
            }
        }
        match node.op {
            Op::Argument(_) | Op::Local(_) if block != Region::ENTRY => {
                errors.add(Invariant::R7, self.name(value), "is not in the entry block");
            }
            _ => {}
        }
        self.origin(value, errors);
    }

    /// That a value is defined at a place.
    fn used_at(
        &self,
        value: Value,
        user: Place,
        invariant: Invariant,
        name: &dyn fmt::Display,
        errors: &mut Errors,
    ) {
        let defined = self.places[value.index()].is_some_and(|(block, place)| {
            if block == user.0 { place < user.1 } else { self.shape.dominators.dominates(block, user.0) }
        });
        if !defined {
            errors.add(invariant, name, format!("uses {}, which is not defined there", self.name(value)));
        }
    }

    fn end(&self, id: BlockId, errors: &mut Errors) {
        let name = format_args!("b{}", id.0);
        let end = &self.region.block(id).end;
        end.values(|value| {
            self.used_at(value, (id, END), Invariant::R6, &name, errors);
            if matches!(self.region.op(value), Op::Virtual(_)) {
                errors.add(Invariant::V2, name, format!("uses {}", self.name(value)));
            }
        });
        end.targets().for_each(|target| self.target(&name, target, errors));
        match end {
            Terminator::Open => errors.add(Invariant::R3, name, "is open"),
            Terminator::Branch { condition, source, .. } => {
                self.decides(&name, *condition, Ty::Bool, errors);
                if let Some(source) = source {
                    self.source(&name, *source, false, errors);
                }
            }
            Terminator::Switch { value, cases, counts, source, .. } => {
                self.decides(&name, *value, Ty::Int, errors);
                self.source(&name, *source, true, errors);
                if cases.is_empty() || counts.len() != cases.len() + 1 {
                    errors.add(
                        Invariant::R8,
                        name,
                        format!("{} cases, {} counts", cases.len(), counts.len()),
                    );
                }
            }
            Terminator::Return(value) => self.returned(&name, *value, errors),
            Terminator::Jump(_) | Terminator::Deopt(..) => {}
        }
    }

    fn decides(&self, name: &dyn fmt::Display, value: Value, ty: Ty, errors: &mut Errors) {
        if self.region.ty(value) != ty {
            errors.add(Invariant::T8, name, format!("{} does not decide", self.name(value)));
        }
    }

    fn target(&self, name: &dyn fmt::Display, target: &Target, errors: &mut Errors) {
        let params = &self.region.block(target.block).params;
        if params.len() != target.args.len() {
            let (args, params) = (target.args.len(), params.len());
            errors.add(
                Invariant::R5,
                name,
                format!("{args} arguments for {params} parameters of b{}", target.block.0),
            );
        }
        for (&param, &arg) in params.iter().zip(&target.args) {
            if !self.fits(arg, self.region.ty(param)) {
                errors.add(
                    Invariant::R5,
                    name,
                    format!("{} does not fit {}", self.name(arg), self.name(param)),
                );
            }
        }
    }

    /// A node in messages.
    fn name(&self, value: Value) -> Name {
        Name(value, self.region.op(value))
    }

    /// The states that reachable nodes and ends use, each once, in order; those of callers come with them.
    fn used_states(&self) -> Vec<StateId> {
        let mut used = vec![false; self.region.states.len()];
        let mut mark = |state: Option<StateId>| {
            let mut at = state;
            while let Some(id) = at {
                // A state that does not exist is reported where it is named.
                match used.get_mut(id.index()) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return,
                }
                at = self.region.state(id).caller;
            }
        };
        for &id in self.order() {
            let block = self.region.block(id);
            for value in &block.nodes {
                mark(self.region.nodes.get(value.index()).and_then(|node| node.state));
            }
            mark(block.end.state());
        }
        (0..used.len() as u32).map(StateId).filter(|state| used[state.index()]).collect()
    }
}
