//! Blocks: their parameters, their order, their ends.

use super::plan::normal_edges;
use super::{BuildError, Builder, Built, live};
use crate::ir::{
    BlockId, Cond, FloatCond, Op, Reason, Region, Source, StateKind, Target, Terminator, Ty, Value, YieldKind,
};
use holloway_bytecode::cfg::{BlockId as BytecodeBlock, EdgeId};
use holloway_bytecode::code::Instruction;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Op as Code, Register};

/// An edge into a bytecode block, as built.
pub struct Incoming {
    /// The block it leaves, and which of its targets it is; none if both became one block.
    from: Option<(BlockId, usize)>,
    /// The values of the registers that are live at its end.
    values: Vec<Value>,
    /// It was never taken.
    cold: bool,
}

/// What a branch of the bytecode tests.
struct Test {
    condition: Value,
    /// Taken if the condition is false.
    negated: bool,
    /// A register that has another value where the branch is taken.
    step: Option<(u16, Value)>,
}

impl Builder<'_, '_> {
    /// Builds all blocks of the plan; the values of the entry are in the environment.
    pub(super) fn run(&mut self) -> Built<()> {
        let order = self.plan.graph.reverse_postorder().to_vec();
        let start = self.plan.start;
        self.enter_start(start)?;
        for &block in &order {
            self.settle(block);
        }
        for &block in &order {
            self.begin(block)?;
            self.fill(block)?;
        }
        self.pass_values(&order);
        Ok(())
    }

    /// From the block with the arguments to the first one of the bytecode.
    fn enter_start(&mut self, start: BytecodeBlock) -> Built<()> {
        let values = self.values_for(start)?;
        let from = if self.plan.ways_in(start) == 1 {
            self.placed[start.index()] = Some(self.block);
            None
        } else {
            let target = self.region.add_block();
            self.placed[start.index()] = Some(target);
            self.region.block_mut(self.block).end = Terminator::Jump(Target::plain(target));
            Some((self.block, 0))
        };
        let cold = self.region.block(self.block).cold;
        self.incoming[start.index()].push(Incoming { from, values, cold });
        Ok(())
    }

    /// Decides where a bytecode block is built: what only follows another one joins it.
    fn settle(&mut self, block: BytecodeBlock) {
        if self.placed[block.index()].is_some() {
            return;
        }
        let follows = match self.plan.edges_in(block).collect::<Vec<_>>()[..] {
            [edge] => Some(self.plan.graph.source(edge)),
            _ => None,
        };
        let only = follows.filter(|&from| normal_edges(&self.plan.cfg, from).count() == 1);
        // In reverse postorder, what a block with one way in follows was placed before.
        let joined = only.and_then(|from| self.placed[from.index()]);
        self.placed[block.index()] = Some(match joined {
            Some(place) => place,
            None => self.region.add_block(),
        });
    }

    /// The values of the registers that are live at the beginning of a block.
    fn values_for(&self, block: BytecodeBlock) -> Built<Vec<Value>> {
        self.plan.live_in[block.index()].iter().map(|register| self.get(register.0)).collect()
    }

    /// Finds out what the registers are at the beginning of a block, and makes parameters.
    fn begin(&mut self, block: BytecodeBlock) -> Built<()> {
        self.block = self.placed[block.index()].ok_or(BuildError::NoLoop)?;
        self.pc = self.plan.cfg.block(block).start;
        self.before = None;
        self.told = false;
        let live = self.plan.live_in[block.index()].clone();
        let ways = self.plan.ways_in(block);
        let known = std::mem::take(&mut self.incoming[block.index()]);
        let complete = known.len() == ways;
        let assigned = match complete {
            true => None,
            false => self.plan.assigned_in_loop(self.program, self.function, block),
        };
        self.env.fill(None);
        for (i, &register) in live.iter().enumerate() {
            let first = known.first().ok_or(BuildError::NoLoop)?.values[i];
            let same = known.iter().all(|edge| edge.values[i] == first);
            let stays = complete || assigned.as_ref().is_some_and(|assigned| !assigned[register.0 as usize]);
            let value = if same && stays {
                first
            } else {
                let ty = self.param_type(register, &known, i, stays);
                self.params[block.index()].push(i);
                self.region.add_param(self.block, ty, self.inline, self.pc)
            };
            self.set(register.0, value);
        }
        if ways > 1 || !matches!(known[..], [Incoming { from: None, .. }]) {
            self.region.block_mut(self.block).cold = known.iter().all(|edge| edge.cold);
        }
        self.incoming[block.index()] = known;
        if self.plan.is_loop_target(self.function, block) {
            self.yieldpoint(YieldKind::Header)?;
        }
        if let Some(first) = self.first_block {
            self.emit(Op::Block(first + block.0), &[], Ty::None);
            // What can be left at from here on is not the same as before.
            self.before = None;
            self.told = true;
        }
        self.live = live::BlockLife::of(self.program, self.function, &self.liveness, &self.plan.cfg, block);
        Ok(())
    }

    /// The type of a parameter: that of all its values if all are known and agree, else that of the register.
    fn param_type(&self, register: Register, known: &[Incoming], i: usize, all_known: bool) -> Ty {
        let declared = self.register_type(register.0);
        if !all_known {
            return declared;
        }
        let mut types = known.iter().map(|edge| self.region.ty(edge.values[i]));
        let first = types.next().unwrap_or(declared);
        let mut same = true;
        let mut nullable = first.reference().is_none_or(|r| r.nullable);
        for ty in types {
            same &= ty == first;
            nullable |= ty.reference().is_none_or(|r| r.nullable);
        }
        match (same, nullable) {
            (true, _) => first,
            (false, false) => declared.non_null(),
            (false, true) => declared,
        }
    }

    /// Builds the instructions of a block.
    fn fill(&mut self, block: BytecodeBlock) -> Built<()> {
        let function = self.function;
        let last = self.plan.cfg.block(block).last;
        let instructions: Vec<_> = self.plan.cfg.instructions(function, block).collect();
        for (pc, instruction) in instructions {
            self.pc = pc as u32;
            match instruction.op.shape() {
                OpShape::Plain | OpShape::Wide => self.instruction(&instruction)?,
                OpShape::Call => self.call(&instruction)?,
                OpShape::Branch => self.branch(block, &instruction)?,
                OpShape::LoopBranch => {
                    self.loop_yieldpoint()?;
                    self.branch(block, &instruction)?;
                }
                OpShape::Jump => self.go_on(block)?,
                OpShape::LoopJump => {
                    self.loop_yieldpoint()?;
                    self.go_on(block)?;
                }
                OpShape::Switch => self.switch(block, &instruction)?,
                OpShape::Return => self.leave(&instruction)?,
                OpShape::Throw => {
                    let state = self.before()?;
                    self.end(Terminator::Deopt(Reason::Throw, state));
                    if self.block != Region::ENTRY {
                        self.region.block_mut(self.block).cold = true;
                    }
                }
            }
            if self.pc == last && instruction.falls_through() && instruction.target().is_none() {
                self.go_on(block)?;
            }
        }
        Ok(())
    }

    /// The yieldpoint of a back edge, before the branch.
    fn loop_yieldpoint(&mut self) -> Built<()> {
        let state = self.before()?;
        self.emit_with(Op::Yieldpoint(YieldKind::Loop), &[], Ty::None, Some(state));
        Ok(())
    }

    fn end(&mut self, end: Terminator) {
        self.region.block_mut(self.block).end = end;
    }

    /// On to the only successor.
    fn go_on(&mut self, block: BytecodeBlock) -> Built<()> {
        let edge = normal_edges(&self.plan.cfg, block).next().ok_or(BuildError::NoLoop)?;
        let to = self.plan.cfg.target(edge);
        if self.placed[to.index()] == Some(self.block) && self.plan.ways_in(to) == 1 {
            let (values, cold) = (self.values_for(to)?, self.region.block(self.block).cold);
            self.incoming[to.index()].push(Incoming { from: None, values, cold });
            return Ok(());
        }
        let target = self.target(edge, 0)?;
        self.end(Terminator::Jump(target));
        Ok(())
    }

    /// The target of an edge, target number `slot` of the present block. Its values are filled in at the end.
    fn target(&mut self, edge: EdgeId, slot: usize) -> Built<Target> {
        let to = self.plan.cfg.target(edge);
        if self.plan.is_pruned(edge) {
            return self.untaken(to);
        }
        let values = self.values_for(to)?;
        let cold = self.region.block(self.block).cold || self.plan.is_never_taken(edge);
        self.incoming[to.index()].push(Incoming { from: Some((self.block, slot)), values, cold });
        Ok(Target::plain(self.placed[to.index()].ok_or(BuildError::NoLoop)?))
    }

    /// A block that leaves compiled code where a branch goes that was never taken.
    fn untaken(&mut self, to: BytecodeBlock) -> Built<Target> {
        let pc = self.plan.cfg.block(to).start;
        let live: Vec<_> = self.liveness.before(self.program, self.function, pc).iter().collect();
        let told = std::mem::replace(&mut self.told, false);
        let state = self.state(pc, StateKind::Before, &live)?;
        self.told = told;
        let exit = self.region.add_block();
        let block = self.region.block_mut(exit);
        (block.end, block.cold) = (Terminator::Deopt(Reason::Untaken, state), true);
        Ok(Target::plain(exit))
    }

    fn branch(&mut self, block: BytecodeBlock, instruction: &Instruction<'_>) -> Built<()> {
        let test = self.test(instruction)?;
        let edges: Vec<EdgeId> = normal_edges(&self.plan.cfg, block).collect();
        let [not_taken, taken] = edges[..] else { return Err(BuildError::NoLoop) };
        let slots = if test.negated { [0, 1] } else { [1, 0] };
        let not_taken_target = self.target(not_taken, slots[0])?;
        if let Some((register, value)) = test.step {
            self.set(register, value);
        }
        let taken_target = self.target(taken, slots[1])?;
        let ways = [(taken_target, self.plan.count(taken)), (not_taken_target, self.plan.count(not_taken))];
        let [then, otherwise] = if test.negated {
            let [a, b] = ways;
            [b, a]
        } else {
            ways
        };
        self.end(Terminator::Branch {
            condition: test.condition,
            then: then.0,
            otherwise: otherwise.0,
            source: Some(Source { inline: self.inline, pc: self.pc, negated: test.negated }),
            counts: [then.1, otherwise.1],
        });
        Ok(())
    }

    /// The condition of a branch, and what a counted loop does to its counter.
    fn test(&mut self, i: &Instruction<'_>) -> Built<Test> {
        use Code::*;
        let (a, b) = (i.a, i.b);
        let constant = b as i16 as i64;
        let plain = |condition| Test { condition, negated: false, step: None };
        let opposite = |condition| Test { condition, negated: true, step: None };
        Ok(match i.op {
            BrTrue | LoopTrue => plain(self.get(a)?),
            BrFalse | LoopFalse => opposite(self.get(a)?),
            BrEq | LoopEq => plain(self.compare(Cond::Eq, a, b)?),
            BrNe | LoopNe => plain(self.compare(Cond::Ne, a, b)?),
            BrLt | LoopLt => plain(self.compare(Cond::Lt, a, b)?),
            BrLe | LoopLe => plain(self.compare(Cond::Le, a, b)?),
            BrEqI | LoopEqI => plain(self.compare_constant(Cond::Eq, a, constant)?),
            BrNeI | LoopNeI => plain(self.compare_constant(Cond::Ne, a, constant)?),
            BrLtI | LoopLtI => plain(self.compare_constant(Cond::Lt, a, constant)?),
            BrLeI | LoopLeI => plain(self.compare_constant(Cond::Le, a, constant)?),
            BrGtI | LoopGtI => plain(self.compare_constant(Cond::Gt, a, constant)?),
            BrGeI | LoopGeI => plain(self.compare_constant(Cond::Ge, a, constant)?),
            FBrEq | FLoopEq => plain(self.binary(Op::FloatCompare(FloatCond::Eq), a, b, Ty::Bool)?),
            FBrNe | FLoopNe => plain(self.binary(Op::FloatCompare(FloatCond::Ne), a, b, Ty::Bool)?),
            FBrLt | FLoopLt => plain(self.binary(Op::FloatCompare(FloatCond::Lt), a, b, Ty::Bool)?),
            FBrLe | FLoopLe => plain(self.binary(Op::FloatCompare(FloatCond::Le), a, b, Ty::Bool)?),
            FBrNlt | FLoopNlt => plain(self.binary(Op::FloatCompare(FloatCond::Nlt), a, b, Ty::Bool)?),
            FBrNle | FLoopNle => plain(self.binary(Op::FloatCompare(FloatCond::Nle), a, b, Ty::Bool)?),
            RBrEq | RLoopEq => plain(self.binary(Op::Same, a, b, Ty::Bool)?),
            RBrNe | RLoopNe => opposite(self.binary(Op::Same, a, b, Ty::Bool)?),
            SBrEq | SLoopEq => plain(self.binary(Op::SameText, a, b, Ty::Bool)?),
            SBrNe | SLoopNe => opposite(self.binary(Op::SameText, a, b, Ty::Bool)?),
            BrNull | LoopNull => plain(self.unary(Op::IsNull, a, Ty::Bool)?),
            BrNonNull | LoopNonNull => opposite(self.unary(Op::IsNull, a, Ty::Bool)?),
            ForLt => {
                let bound = self.get(b)?;
                self.counted(a, bound)?
            }
            ForLtI => {
                let bound = self.int(constant);
                self.counted(a, bound)?
            }
            ForLe => {
                let bound = self.get(b)?;
                self.counted_inclusive(a, bound)?
            }
            ForLeI => {
                let bound = self.int(constant);
                self.counted_inclusive(a, bound)?
            }
            _ => return Err(BuildError::NoLoop),
        })
    }

    fn stepped(&mut self, counter: u16) -> Built<Value> {
        let (value, one) = (self.get(counter)?, self.int(1));
        Ok(self.emit(Op::Arith(crate::ir::Arith::Add), &[value, one], Ty::Int))
    }

    /// Step, then compare.
    fn counted(&mut self, counter: u16, bound: Value) -> Built<Test> {
        let next = self.stepped(counter)?;
        self.set(counter, next);
        let condition = self.emit(Op::Compare(Cond::Lt), &[next, bound], Ty::Bool);
        Ok(Test { condition, negated: false, step: None })
    }

    /// Compare, then step if the loop goes on: nothing wraps.
    fn counted_inclusive(&mut self, counter: u16, bound: Value) -> Built<Test> {
        let value = self.get(counter)?;
        let next = self.stepped(counter)?;
        let condition = self.emit(Op::Compare(Cond::Lt), &[value, bound], Ty::Bool);
        Ok(Test { condition, negated: false, step: Some((counter, next)) })
    }

    fn switch(&mut self, block: BytecodeBlock, instruction: &Instruction<'_>) -> Built<()> {
        let value = self.get(instruction.a)?;
        let edges: Vec<EdgeId> = normal_edges(&self.plan.cfg, block).collect();
        let counts = edges.iter().map(|&edge| self.plan.count(edge)).collect();
        let mut targets = Vec::with_capacity(edges.len());
        for (slot, &edge) in edges.iter().enumerate() {
            targets.push(self.target(edge, slot)?);
        }
        let default = targets.pop().ok_or(BuildError::NoLoop)?;
        let source = Source { inline: self.inline, pc: self.pc, negated: false };
        let low = instruction.x() as i64;
        self.end(Terminator::Switch { value, low, cases: targets, default, source, counts });
        Ok(())
    }

    fn leave(&mut self, instruction: &Instruction<'_>) -> Built<()> {
        let value = match instruction.op {
            Code::Return => Some(self.get(instruction.a)?),
            _ => None,
        };
        if self.caller.is_some() {
            self.returns.push((self.block, value));
            return Ok(());
        }
        let state = self.before()?;
        self.emit_with(Op::Yieldpoint(YieldKind::Epilogue), &[], Ty::None, Some(state));
        self.end(Terminator::Return(value));
        Ok(())
    }

    /// Hands the values of registers to the parameters of blocks.
    fn pass_values(&mut self, order: &[BytecodeBlock]) {
        for &block in order {
            let params = &self.params[block.index()];
            if params.is_empty() {
                continue;
            }
            for edge in &self.incoming[block.index()] {
                let Some((from, slot)) = edge.from else { continue };
                let args = params.iter().map(|&i| edge.values[i]).collect();
                if let Some(target) = self.region.block_mut(from).end.targets_mut().nth(slot) {
                    target.args = args;
                }
            }
        }
    }
}
