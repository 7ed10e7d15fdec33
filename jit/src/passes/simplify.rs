//! Makes operations simpler by looking at what they are applied to: constants are computed, identities applied, checks
//! removed whose outcome the types say, branches on constants become jumps.
//!
//! Each rule looks at one node and a few of its operands' definitions, and says what the node is the same as
//! ([`Outcome`]). Rules for integers and Booleans are in [`ints`], for floats in [`floats`], for references in
//! [`references`]. Blocks are visited in reverse postorder, so that operands are simple before their users, all
//! over again until nothing changes: usually two or three rounds, each linear.
//!
//! What comes out is bit for bit what the interpreter would compute. For floats this leaves only what is exact for all
//! values, signed zeros and infinities included; which NaN it is, nobody can see.
//!
//! *Forms that other passes meet afterwards*: constant operands of commutative operations and comparisons are on
//! the right; `x - 3` is `x + -3`; multiplication by a power of two is a shift, and shift counts are from 0 to 63;
//! no comparison is under a `not`; conditions of branches and guards are not negated.
//!
//! *Invariant*: a node is only replaced by a value that is defined wherever the node was, and whose type fits the node's.
//! A check that always fails ends its block there; what it dominated is no longer reachable then. A check that never
//! fails, but whose operand does not have the type to show for it, becomes an `assume`: it stays in its place, below
//! the condition that makes it true.

mod floats;
mod ints;
mod references;

use super::{Input, Notes};
use crate::ir::{BlockId, Node, Op, Region, Target, Terminator, Ty, Value};
use smallvec::SmallVec;

/// Rounds, should rules ever undo each other.
const ROUNDS: usize = 16;
/// Rules in a row for one node, likewise.
const STEPS: usize = 16;

/// Runs the pass.
pub fn run(region: &mut Region, input: &Input<'_>, _: &mut Notes) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        let mut simplifier = Simplifier {
            forward: (0..region.nodes.len() as u32).map(Value).collect(),
            region,
            input,
            current: Value(0),
            before: Vec::new(),
            changed: false,
        };
        simplifier.round();
        if !simplifier.changed {
            break;
        }
        changed = true;
    }
    if changed {
        region.clear_unreachable();
    }
    changed
}

/// What a node is the same as.
enum Outcome {
    /// Nothing simpler.
    Keep,
    /// This value.
    Value(Value),
    /// This operation on these operands.
    Become(Op, SmallVec<[Value; 3]>),
    /// Nothing: it never does anything.
    Remove,
    /// It always leaves compiled code.
    Fail,
}

struct Simplifier<'a> {
    region: &'a mut Region,
    input: &'a Input<'a>,
    /// For each node the value that replaces it, itself at first.
    forward: Vec<Value>,
    /// The node that is being looked at.
    current: Value,
    /// New nodes that go before it.
    before: Vec<Value>,
    changed: bool,
}

impl Simplifier<'_> {
    /// Looks at everything once.
    fn round(&mut self) {
        let order = self.region.graph().reverse_postorder().to_vec();
        for block in order {
            self.block(block);
        }
        if self.changed {
            let forward = &self.forward;
            self.region.substitute(|value| forward.get(value.index()).copied().unwrap_or(value));
        }
    }

    fn block(&mut self, block: BlockId) {
        let nodes = std::mem::take(&mut self.region.block_mut(block).nodes);
        let mut kept = Vec::with_capacity(nodes.len());
        for value in nodes {
            let outcome = self.node(value);
            kept.append(&mut self.before);
            match outcome {
                Outcome::Value(other) => self.forward[value.index()] = other,
                Outcome::Remove => {}
                Outcome::Fail => {
                    let node = self.region.node(value);
                    if let (Some(reason), Some(state)) = (node.op.reason(), node.state) {
                        self.region.block_mut(block).nodes = kept;
                        self.region.block_mut(block).end = Terminator::Deopt(reason, state);
                        self.changed = true;
                        return;
                    }
                    kept.push(value);
                    continue;
                }
                Outcome::Keep | Outcome::Become(..) => {
                    kept.push(value);
                    continue;
                }
            }
            self.changed = true;
        }
        self.region.block_mut(block).nodes = kept;
        self.end(block);
    }

    /// Applies rules to a node until none fits.
    fn node(&mut self, value: Value) -> Outcome {
        self.current = value;
        let forward = &self.forward;
        for arg in &mut self.region.nodes[value.index()].args {
            *arg = forward.get(arg.index()).copied().unwrap_or(*arg);
        }
        for _ in 0..STEPS {
            match self.rule(value) {
                Outcome::Become(op, args) => {
                    let node = &mut self.region.nodes[value.index()];
                    node.op = op;
                    node.args = args;
                    node.state = node.state.filter(|_| op.needs_state());
                    self.changed = true;
                }
                outcome => return outcome,
            }
        }
        Outcome::Keep
    }

    fn rule(&mut self, value: Value) -> Outcome {
        let Node { op, args, ty, .. } = self.region.node(value).clone();
        match (op, &args[..]) {
            (Op::Arith(op), &[a, b]) => self.arith(op, a, b),
            (Op::Div, &[a, b]) => self.divide(a, b),
            (Op::Rem, &[a, b]) => self.remainder(a, b),
            (Op::Compare(cond), &[a, b]) => self.compare(cond, a, b),
            (Op::Not, &[a]) => self.not(a),
            (Op::Select, &[condition, a, b]) => self.select(condition, a, b),
            (Op::CheckBounds, &[index, length]) => self.check_bounds(index, length),
            (Op::CheckDivisor, &[a]) => self.check_divisor(a),
            (Op::CheckLength, &[a]) => self.check_length(a),
            (Op::Guard(expected, reason), &[a]) => self.guard(expected, reason, a),
            (Op::FloatArith(op), &[a, b]) => self.float_arith(op, a, b),
            (Op::FloatUnary(op), &[a]) => self.float_unary(op, a),
            (Op::FloatCompare(cond), &[a, b]) => self.float_compare(cond, a, b),
            (Op::IntToFloat | Op::FloatToInt | Op::FloatBits | Op::FloatFromBits, &[a]) => {
                self.convert(op, a)
            }
            (Op::PureNative(native), args) => self.native(native, args),
            (Op::Same, &[a, b]) => self.same(a, b),
            (Op::SameText, &[a, b]) => self.same_text(a, b),
            (Op::IsNull, &[a]) => self.is_null(a),
            (Op::IsInstance(_) | Op::Implements(_) | Op::IsExactly(_) | Op::Reaches(..), &[a]) => {
                self.is_instance(op, a)
            }
            (Op::Length, &[a]) => self.length(a),
            (Op::Assume, &[a]) if self.fits(a, ty) => Outcome::Value(a),
            (Op::CheckNull | Op::CheckSet, &[a]) => self.check_null(a, ty),
            (Op::CheckCast(_) | Op::CheckInterface(_) | Op::CheckExactly(_), &[a]) => {
                self.check_class(op, a, ty)
            }
            _ => Outcome::Keep,
        }
    }

    /// Simplifies how a block ends.
    fn end(&mut self, block: BlockId) {
        let mut end = std::mem::replace(&mut self.region.block_mut(block).end, Terminator::Open);
        let forward = &self.forward;
        end.values_mut(|value| *value = forward.get(value.index()).copied().unwrap_or(*value));
        let mut known: Option<Target> = None;
        match &mut end {
            Terminator::Branch { condition, then, otherwise, source, counts } => {
                while self.region.op(*condition) == Op::Not {
                    *condition = self.region.node(*condition).args[0];
                    std::mem::swap(then, otherwise);
                    counts.swap(0, 1);
                    if let Some(source) = source {
                        source.negated = !source.negated;
                    }
                    self.changed = true;
                }
                known = self
                    .region
                    .bool(*condition)
                    .map(|taken| if taken { then.clone() } else { otherwise.clone() });
            }
            Terminator::Switch { value, low, cases, default, .. } => {
                known = self.region.int(*value).map(|value| {
                    let case = usize::try_from(value.wrapping_sub(*low) as u64)
                        .ok()
                        .and_then(|case| cases.get(case));
                    case.unwrap_or(default).clone()
                });
            }
            _ => {}
        }
        if let Some(target) = known {
            end = Terminator::Jump(target);
            self.changed = true;
        }
        self.region.block_mut(block).end = end;
    }

    /// A new node that will stand before the one that is being looked at.
    fn insert(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        let Node { inline, pc, .. } = *self.region.node(self.current);
        let value = self.region.add_node(Node { op, args: args.into(), ty, state: None, inline, pc });
        self.before.push(value);
        value
    }

    fn insert_int(&mut self, value: i64) -> Value {
        self.insert(Op::Int(value), &[], Ty::Int)
    }

    /// The same number or object: passes' guarantees aside.
    fn is_same(&self, a: Value, b: Value) -> bool {
        self.region.unchecked(a) == self.region.unchecked(b)
    }
}

/// A node becomes this operation on these operands.
fn become_op(op: Op, args: &[Value]) -> Outcome {
    Outcome::Become(op, args.into())
}

/// A node becomes a constant.
fn become_int(value: i64) -> Outcome {
    become_op(Op::Int(value), &[])
}

/// A node becomes a constant.
fn become_bool(value: bool) -> Outcome {
    become_op(Op::Bool(value), &[])
}
