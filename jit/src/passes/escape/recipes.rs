//! Frame states that mention virtual objects: descriptions of the objects, and states with those in their places.
//!
//! States are shared between nodes at which an object may have different fields, and states of callers are shared
//! even between blocks. So states are never changed: where one mentions an object, a new one takes its place, which is shared
//! among nodes that see the same.

use super::model::{Content, Known, Standing};
use super::rewrite::Rewriter;
use crate::ir::{BlockId, FrameState, Node, Op, StateId, Ty, Value};
use crate::passes::edit::Map;
use holloway_bytecode::ClassId;
use smallvec::SmallVec;

/// Operands of a node.
type Args = SmallVec<[Value; 3]>;

/// Descriptions by object and fields, each with its block.
pub type Recipes = Map<(Value, Args), Vec<(BlockId, Value)>>;

/// Where descriptions are needed.
pub struct Spot<'k> {
    /// The block.
    pub block: BlockId,
    /// How things stand there.
    pub known: &'k Known,
}

impl Rewriter<'_> {
    /// The state for a place, given that of the program. New descriptions go to `nodes`, which are in front of the place.
    pub fn described(&mut self, state: StateId, spot: &Spot<'_>, nodes: &mut Vec<Value>) -> StateId {
        let chain: Vec<StateId> = self.region.frames(state).map(|(id, _)| id).collect();
        let mut caller = None;
        for &id in chain.iter().rev() {
            let frame = self.region.state(id);
            let is_same = frame.caller == caller
                && !frame.registers.iter().any(|&(_, value)| self.mentions_objects(value));
            if is_same {
                caller = Some(id);
                continue;
            }
            let mut frame = frame.clone();
            frame.caller = caller;
            let frame = self.described_frame(frame, spot, nodes);
            let known = self.clones.entry(id).or_default();
            let found = known.iter().find(|&&clone| *self.region.state(clone) == frame).copied();
            caller = Some(found.unwrap_or_else(|| {
                let clone = self.region.add_state(frame);
                known.push(clone);
                clone
            }));
        }
        caller.unwrap_or(state)
    }

    /// A frame with descriptions of what it mentions; that of its caller has them already.
    pub fn described_frame(
        &mut self,
        mut frame: FrameState,
        spot: &Spot<'_>,
        nodes: &mut Vec<Value>,
    ) -> FrameState {
        for (_, value) in &mut frame.registers {
            *value = self.described_value(*value, spot, nodes);
        }
        frame
    }

    /// Is the value an object, or the description of one that refers to objects.
    pub fn mentions_objects(&self, value: Value) -> bool {
        self.analysis.is_object(value)
            || matches!(self.region.op(value), Op::Virtual(_))
                && self.region.node(value).args.iter().any(|&arg| self.mentions_objects(arg))
    }

    fn described_value(&mut self, value: Value, spot: &Spot<'_>, nodes: &mut Vec<Value>) -> Value {
        match (self.analysis.resolve(value), self.region.op(value)) {
            (Content::Object(object), _) => self.described_object(object, spot, nodes),
            // A description from an earlier run of the pass.
            (_, Op::Virtual(class)) if self.mentions_objects(value) => {
                let args = self.region.node(value).args.clone();
                let args = args.into_iter().map(|arg| self.described_value(arg, spot, nodes)).collect();
                self.recipe(value, class, args, spot, nodes)
            }
            _ => value,
        }
    }

    fn described_object(&mut self, object: Value, spot: &Spot<'_>, nodes: &mut Vec<Value>) -> Value {
        let class = self.analysis.classes[&object];
        match spot.known.get(object) {
            Some(Standing::Real(content)) => self.value_of(*content, nullable(Ty::exactly(class))),
            Some(Standing::Virtual(parts)) if parts.last() == Some(&Content::Zero) => {
                let types: Vec<Ty> = self.field_types(class);
                let mut args = Args::new();
                for (&part, ty) in parts.iter().zip(types) {
                    args.push(match part {
                        Content::Object(inner) => self.described_object(inner, spot, nodes),
                        part => self.value_of(part, ty),
                    });
                }
                self.recipe(object, class, args, spot, nodes)
            }
            _ => self.value_of(Content::Zero, nullable(Ty::exactly(class))),
        }
    }

    /// The description of an object with these fields; the same for the same object and fields, where it can be seen.
    fn recipe(
        &mut self,
        object: Value,
        class: ClassId,
        args: Args,
        spot: &Spot<'_>,
        nodes: &mut Vec<Value>,
    ) -> Value {
        let found = self.recipes.get(&(object, args.clone())).and_then(|all| {
            all.iter().find(|&&(block, _)| self.dominators.dominates(block, spot.block)).copied()
        });
        if let Some((_, recipe)) = found {
            return recipe;
        }
        let Node { inline, pc, .. } = *self.region.node(object);
        let (op, ty) = (Op::Virtual(class), Ty::exactly(class));
        let recipe = self.region.add_node(Node { op, args: args.clone(), ty, state: None, inline, pc });
        nodes.push(recipe);
        self.recipes.entry((object, args)).or_default().push((spot.block, recipe));
        recipe
    }
}

/// The type with null.
pub fn nullable(ty: Ty) -> Ty {
    match ty {
        Ty::Ref(reference) => Ty::Ref(crate::ir::RefTy { nullable: true, ..reference }),
        other => other,
    }
}
