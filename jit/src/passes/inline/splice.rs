//! A direct call becomes the body of its callee. The block of the call is split: what comes before goes on into the body, and
//! the body's returns go on to what comes after.

use crate::build::{self, BuildError};
use crate::ir::{BlockId, Op, Region, Target, Terminator, Ty, Value};
use crate::passes::Input;
use std::collections::BTreeMap;

/// Changes a region in many places: knows where calls are by now, and what results have become.
pub struct Editor<'r> {
    region: &'r mut Region,
    /// The block of each call.
    homes: BTreeMap<Value, BlockId>,
    /// For each call that is gone, its result. Put in place all at once at the end.
    results: BTreeMap<Value, Value>,
}

/// What came after a call in its block.
pub struct Rest {
    nodes: Vec<Value>,
    end: Terminator,
    cold: bool,
}

impl<'r> Editor<'r> {
    /// Begins to edit.
    pub fn new(region: &'r mut Region) -> Editor<'r> {
        let mut homes = BTreeMap::new();
        for block in region.block_ids() {
            for &value in &region.block(block).nodes {
                if region.op(value).is_call() {
                    homes.insert(value, block);
                }
            }
        }
        Editor { region, homes, results: BTreeMap::new() }
    }

    /// The region as it is. Results of calls that are gone may still be mentioned.
    pub fn region(&self) -> &Region {
        self.region
    }

    /// The same, to be changed.
    pub fn region_mut(&mut self) -> &mut Region {
        self.region
    }

    /// What a value has become.
    pub fn resolve(&self, mut value: Value) -> Value {
        while let Some(&result) = self.results.get(&value) {
            value = result;
        }
        value
    }

    /// The block of a call; `None` if it is gone.
    pub fn home(&self, call: Value) -> Option<BlockId> {
        self.homes.get(&call).copied()
    }

    /// The result of a call is another value.
    pub fn replace(&mut self, call: Value, result: Value) {
        self.results.insert(call, result);
    }

    /// Adds a call at the end of a block.
    pub fn push_call(&mut self, block: BlockId, call: Value) {
        self.homes.insert(call, block);
        self.region.block_mut(block).nodes.push(call);
    }

    /// Puts nodes before a call.
    pub fn insert_before(&mut self, call: Value, nodes: Vec<Value>) {
        let Some(home) = self.home(call) else { return };
        let block = self.region.block_mut(home);
        if let Some(at) = block.nodes.iter().position(|&node| node == call) {
            block.nodes.splice(at..at, nodes);
        }
    }

    /// Takes a call and all after it out of its block, which ends open.
    pub fn split(&mut self, call: Value) -> Option<(BlockId, Rest)> {
        let home = self.homes.get(&call).copied()?;
        let block = self.region.block_mut(home);
        let at = block.nodes.iter().position(|&node| node == call)?;
        let nodes = block.nodes.split_off(at + 1);
        block.nodes.pop();
        let end = std::mem::replace(&mut block.end, Terminator::Open);
        let rest = Rest { nodes, end, cold: block.cold };
        self.homes.remove(&call);
        Some((home, rest))
    }

    /// Puts what was split off at the end of a block.
    pub fn append(&mut self, block: BlockId, rest: Rest) {
        for &node in &rest.nodes {
            if let Some(home) = self.homes.get_mut(&node) {
                *home = block;
            }
        }
        let block = self.region.block_mut(block);
        block.nodes.extend(rest.nodes);
        block.end = rest.end;
    }

    /// A new block with what was split off, and with a parameter for the result of the call if that has one.
    pub fn join(&mut self, call: Value, rest: Rest) -> BlockId {
        let block = self.region.add_block();
        self.region.block_mut(block).cold = rest.cold;
        let (ty, inline, pc) = {
            let node = self.region.node(call);
            (node.ty, node.inline, node.pc)
        };
        if ty != Ty::None {
            let param = self.region.add_param(block, ty, inline, pc);
            self.replace(call, param);
        }
        self.append(block, rest);
        block
    }

    /// Ends a block with a jump to where a call's result is wanted.
    pub fn jump(&mut self, from: BlockId, to: BlockId, result: Option<Value>) {
        let args = match self.region.block(to).params.is_empty() {
            true => Vec::new(),
            false => result.into_iter().collect(),
        };
        self.region.block_mut(from).end = Terminator::Jump(Target { block: to, args });
    }

    /// Puts the body of its callee in the place of a direct call. How many nodes that added.
    pub fn inline(&mut self, input: &Input<'_>, call: Value) -> Result<usize, BuildError> {
        let node = self.region.node(call).clone();
        let (Op::Call(function), Some(state)) = (node.op, node.state) else { return Ok(0) };
        let args: Vec<Value> = node.args.iter().map(|&arg| self.resolve(arg)).collect();
        let Some((block, rest)) = self.split(call) else { return Ok(0) };
        let before = self.region.nodes.len();
        let site = build::Site { function, caller: node.inline, pc: node.pc, args: &args, state, block };
        match build::body(self.region, input.program, input.profile, input.options, &site) {
            Ok(body) => self.go_on(call, body.returns, rest),
            Err(error) => {
                self.push_call(block, call);
                self.append(block, rest);
                return Err(error);
            }
        }
        Ok(self.region.nodes.len() - before)
    }

    /// From the returns of a body to what came after the call.
    fn go_on(&mut self, call: Value, returns: Vec<(BlockId, Option<Value>)>, rest: Rest) {
        match returns[..] {
            // It never returns: what came after is gone.
            [] => self.homes.retain(|call, _| !rest.nodes.contains(call)),
            [(block, result)] => {
                if let Some(result) = result {
                    self.replace(call, result);
                }
                self.append(block, rest);
            }
            _ => {
                let after = self.join(call, rest);
                for (block, result) in returns {
                    self.jump(block, after, result);
                }
            }
        }
    }

    /// Puts results in the place of calls that are gone.
    pub fn finish(self) {
        if !self.results.is_empty() {
            let resolved: BTreeMap<Value, Value> =
                self.results.keys().map(|&call| (call, self.resolve(call))).collect();
            self.region.substitute(|value| resolved.get(&value).copied().unwrap_or(value));
        }
    }
}
