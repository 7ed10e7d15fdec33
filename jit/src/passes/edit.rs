//! What passes share to look at regions and to change them: where nodes are, replacements that are made all at once,
//! and constants.
//!
//! A pass reads the region as it was and collects what stands for what in [`Renames`]; in the end they are applied in
//! one sweep. So no pass costs more than a sweep for its replacements, however many there are.

use crate::ir::{BlockId, Node, Op, Region, Value};
use holloway_bytecode::cfg::Dominators;
use smallvec::SmallVec;

/// A hasher that is the same in every run.
pub type FixedHasher = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

/// A hash map that is the same in every run. What reaches a region must still not depend on the order in it.
pub type Map<K, V> = hashbrown::HashMap<K, V, FixedHasher>;

/// Values that stand for others.
pub struct Renames {
    to: Vec<Value>,
    changed: bool,
}

impl Renames {
    /// Every value stands for itself.
    pub fn new(region: &Region) -> Renames {
        Renames { to: (0..region.nodes.len() as u32).map(Value).collect(), changed: false }
    }

    /// From now on `to` stands for `from`. The two must not already stand for each other.
    pub fn set(&mut self, from: Value, to: Value) {
        let to = self.get(to);
        self.grow(from);
        debug_assert_ne!(from, to);
        self.to[from.index()] = to;
        self.changed = true;
    }

    fn grow(&mut self, value: Value) {
        while self.to.len() <= value.index() {
            self.to.push(Value(self.to.len() as u32));
        }
    }

    /// What stands for a value in the end. Nodes that were added later stand for themselves.
    pub fn get(&self, mut value: Value) -> Value {
        while let Some(&to) = self.to.get(value.index()) {
            if to == value {
                break;
            }
            value = to;
        }
        value
    }

    /// Replaces every use in the region.
    pub fn apply(&self, region: &mut Region) {
        if self.changed {
            region.substitute(|value| self.get(value));
        }
    }
}

/// Where each node of a region is. Positions in a block count parameters as 0 and its nodes from 1 on.
pub struct Places {
    places: Vec<Option<Point>>,
}

/// A position in a block: that of a node, or of something between nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The block.
    pub block: BlockId,
    /// The position there.
    pub position: u32,
}

impl Point {
    /// Where a block begins, after its parameters.
    pub fn start(block: BlockId) -> Point {
        Point { block, position: 0 }
    }

    /// Where a block ends.
    pub fn end(block: BlockId) -> Point {
        Point { block, position: u32::MAX }
    }

    /// Whoever comes to `other` has passed here before.
    pub fn dominates(self, other: Point, dominators: &Dominators) -> bool {
        if self.block == other.block {
            self.position <= other.position
        } else {
            dominators.dominates(self.block, other.block)
        }
    }
}

impl Places {
    /// Where the nodes of all blocks are.
    pub fn of(region: &Region) -> Places {
        let mut places = vec![None; region.nodes.len()];
        for id in region.block_ids() {
            let block = region.block(id);
            block.params.iter().for_each(|param| places[param.index()] = Some(Point::start(id)));
            for (position, node) in (1..).zip(&block.nodes) {
                places[node.index()] = Some(Point { block: id, position });
            }
        }
        Places { places }
    }

    /// Where a node is; `None` if it is in no block.
    pub fn get(&self, value: Value) -> Option<Point> {
        self.places.get(value.index()).copied().flatten()
    }

    /// The block that a node is in.
    pub fn block(&self, value: Value) -> Option<BlockId> {
        self.get(value).map(|point| point.block)
    }

    /// Is the value there, and the same, at the beginning of `block` whichever way one comes in: it is defined in a
    /// block that strictly dominates it.
    pub fn is_above(&self, value: Value, block: BlockId, dominators: &Dominators) -> bool {
        self.block(value).is_some_and(|from| dominators.strictly_dominates(from, block))
    }
}

/// Constants at the beginning of the entry block: found there or added.
#[derive(Default)]
pub struct Constants {
    known: Vec<Value>,
    added: Vec<Value>,
    collected: bool,
}

impl Constants {
    /// None asked for yet.
    pub fn new() -> Constants {
        Constants::default()
    }

    /// A constant with this operation and type. It is in its block once [`Constants::place`] was called.
    pub fn get(&mut self, region: &mut Region, op: Op, ty: crate::ir::Ty) -> Value {
        if !std::mem::replace(&mut self.collected, true) {
            let entry = &region.block(Region::ENTRY).nodes;
            // Only those in front of everything else are known to be there wherever somebody asks.
            self.known.extend(entry.iter().take_while(|&&value| region.op(value).is_constant()));
        }
        let is_it = |&&value: &&Value| region.op(value) == op && region.ty(value) == ty;
        if let Some(&value) = self.known.iter().find(is_it) {
            return value;
        }
        let node =
            Node { op, args: SmallVec::new(), ty, state: None, inline: crate::ir::InlineId::ROOT, pc: 0 };
        let value = region.add_node(node);
        self.known.push(value);
        self.added.push(value);
        value
    }

    /// Puts the added ones into the entry block.
    pub fn place(self, region: &mut Region) {
        region.block_mut(Region::ENTRY).nodes.splice(0..0, self.added);
    }
}

/// The reachable blocks, each directly after its dominators: the dominator tree in preorder.
pub fn dominator_preorder(dominators: &Dominators) -> Vec<BlockId> {
    let mut order = Vec::new();
    let mut stack = vec![Region::ENTRY];
    while let Some(block) = stack.pop() {
        order.push(block);
        stack.extend(dominators.children(block).iter().rev());
    }
    order
}

/// Makes a node that is known to hold just give its first operand, with the node's type; it stays in its block.
pub fn make_assumption(region: &mut Region, value: Value) {
    let node = &mut region.nodes[value.index()];
    node.op = Op::Assume;
    node.args.truncate(1);
    node.state = None;
}
