//! From bytecode to the intermediate representation.
//!
//! Blocks are taken in reverse postorder of the method's graph, so that what arrives at a block is known when it
//! is built, but for what comes around a loop. A block where ways meet gets parameters for the live registers in which they
//! differ; a loop header gets them for the live registers that the loop assigns. Where a cycle is no natural loop
//! (a region may begin inside of a nest of loops), all live registers become parameters.
//!
//! Errors leave compiled code: only the interpreter runs handlers, so blocks that are reached only through
//! exceptions are not built. Every check comes with the frame state before its instruction, and comes before the instruction's
//! effect, so that the interpreter can execute the instruction again and raise the error.
//!
//! | file | what it holds |
//! |---|---|
//! | [`plan`] | which blocks and edges are built, and which are left to the interpreter |
//! | `frames` | values of registers, frame states |
//! | `control` | parameters of blocks, ends of blocks |
//! | `code`, `memory`, `calls` | the instructions |
//! | [`stores`] | stores into new objects, which need no write barrier |

mod calls;
mod code;
mod control;
mod frames;
mod live;
pub(crate) mod memory;
pub mod plan;
pub mod stores;

use crate::ir::{
    BlockId, Inline, InlineId, Node, Op, Region, RegionEntry, StateId, StateKind, Terminator, Ty, Value,
    YieldKind,
};
use crate::options::Options;
use control::Incoming;
use holloway_bytecode::cfg::Liveness;
use holloway_bytecode::{Function, FunctionId, Program};
use holloway_vm::compiled::Profile;
use plan::Plan;
use smallvec::SmallVec;
use std::fmt;

/// The most words of code that a method may have. Above, compiling takes longer than it is likely to give back.
pub const MOST_WORDS: usize = 30_000;

/// The most that blocks times registers of a method may be: what is kept for each block stays small.
pub const MOST_STATE: usize = 1 << 22;

/// Why a method cannot be built. It is interpreted then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// It exceeds [`MOST_WORDS`] or [`MOST_STATE`], or is too large for the analysis of live registers.
    TooLarge,
    /// There is no loop at the place where the region is to begin.
    NoLoop,
    /// A register is read that was not written: the program is not verified.
    Unassigned,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BuildError::TooLarge => "the method is too large",
            BuildError::NoLoop => "there is no loop at this place",
            BuildError::Unassigned => "a register is read before it is written",
        })
    }
}

impl std::error::Error for BuildError {}

type Built<T> = Result<T, BuildError>;

/// Builds the region of a function, without inlining.
pub fn region(
    program: &Program,
    profile: &dyn Profile,
    options: &Options,
    function: FunctionId,
    entry: RegionEntry,
) -> Result<Region, BuildError> {
    let mut region = Region::new(program, function, entry);
    let context = Context { program, profile, options };
    let from = match entry {
        RegionEntry::Method => 0,
        RegionEntry::Loop(pc) => pc,
    };
    let mut builder = Builder::new(context, &mut region, function, InlineId::ROOT, from, Region::ENTRY)?;
    match entry {
        RegionEntry::Method => {
            builder.arguments()?;
            builder.yieldpoint(YieldKind::Prologue)?;
        }
        RegionEntry::Loop(_) => builder.locals()?,
    }
    builder.run()?;
    stores::relax(&mut region);
    Ok(region)
}

/// A call whose callee is put in its place.
pub struct Site<'a> {
    /// What is called.
    pub function: FunctionId,
    /// The method in the region that calls.
    pub caller: InlineId,
    /// The call's place there.
    pub pc: u32,
    /// The values of the callee's parameters, of types that fit them.
    pub args: &'a [Value],
    /// The call's frame state.
    pub state: StateId,
    /// The block that goes on with the callee. It ends open.
    pub block: BlockId,
}

/// A callee in the place of a call.
#[derive(Debug)]
pub struct Body {
    /// The callee in the tree of methods.
    pub inline: InlineId,
    /// The blocks where it returns, each with the result; they end open.
    pub returns: Vec<(BlockId, Option<Value>)>,
}

/// Builds the body of a callee into a region. If that fails, the region is as before, but for blocks and nodes that nothing reaches.
pub fn body(
    region: &mut Region,
    program: &Program,
    profile: &dyn Profile,
    options: &Options,
    site: &Site<'_>,
) -> Result<Body, BuildError> {
    let context = Context { program, profile, options };
    let depth = region.inlines[site.caller.index()].depth + 1;
    let inline = InlineId(region.inlines.len() as u32);
    let nodes = region.block(site.block).nodes.len();
    region.inlines.push(Inline { function: site.function, caller: Some((site.caller, site.pc)), depth });
    let cold = region.block(site.block).cold;
    let built =
        Builder::new(context, region, site.function, inline, 0, site.block).and_then(|mut builder| {
            builder.caller = Some(site.state);
            for (register, &arg) in site.args.iter().enumerate() {
                builder.env[register] = Some(arg);
            }
            if options.mark_calls {
                builder.emit(Op::Entered, &[], Ty::None);
            }
            builder.run()?;
            Ok(builder.returns)
        });
    match built {
        Ok(returns) => Ok(Body { inline, returns }),
        Err(error) => {
            let block = region.block_mut(site.block);
            block.nodes.truncate(nodes);
            (block.end, block.cold) = (Terminator::Open, cold);
            region.inlines.pop();
            Err(error)
        }
    }
}

/// What is known of the program.
#[derive(Clone, Copy)]
struct Context<'a> {
    program: &'a Program,
    profile: &'a dyn Profile,
    options: &'a Options,
}

/// The state of building one method.
struct Builder<'a, 'r> {
    program: &'a Program,
    region: &'r mut Region,
    function: &'a Function,
    inline: InlineId,
    /// The state of the call that the method stands for.
    caller: Option<StateId>,
    plan: Plan,
    liveness: Liveness,
    /// The values of registers.
    env: Vec<Option<Value>>,
    /// What is live where states are needed in the present bytecode block.
    live: live::BlockLife,
    /// The block that is being filled.
    block: BlockId,
    /// The present instruction, and its state if it has one already.
    pc: u32,
    before: Option<(u32, StateId)>,
    /// Numbers of blocks, if it is to be told where they are entered; and was it for the present one.
    first_block: Option<u32>,
    told: bool,
    /// For each bytecode block the edges into it that were built.
    incoming: Vec<Vec<Incoming>>,
    /// For each bytecode block its block in the region.
    placed: Vec<Option<BlockId>>,
    /// For each bytecode block the live registers, by their numbers among those, that are parameters.
    params: Vec<Vec<usize>>,
    returns: Vec<(BlockId, Option<Value>)>,
}

impl<'a, 'r> Builder<'a, 'r> {
    fn new(
        context: Context<'a>,
        region: &'r mut Region,
        id: FunctionId,
        inline: InlineId,
        from: u32,
        block: BlockId,
    ) -> Built<Self> {
        let Context { program, profile, options } = context;
        let function = &program.functions[id.index()];
        if function.code.len() > MOST_WORDS {
            return Err(BuildError::TooLarge);
        }
        let liveness = Liveness::of_function(program, function).ok_or(BuildError::TooLarge)?;
        let plan = Plan::of(program, profile, options, id, &liveness, from)?;
        let blocks = plan.cfg.blocks().len();
        Ok(Builder {
            program,
            region,
            function,
            inline,
            caller: None,
            plan,
            liveness,
            env: vec![None; function.registers.len()],
            live: live::BlockLife::default(),
            block,
            pc: from,
            before: None,
            first_block: options.mark_blocks.as_ref().and_then(|first| first.get(id.index()).copied()),
            told: false,
            incoming: std::iter::repeat_with(Vec::new).take(blocks).collect(),
            placed: vec![None; blocks],
            params: vec![Vec::new(); blocks],
            returns: Vec::new(),
        })
    }

    /// The method's arguments, in the entry block.
    fn arguments(&mut self) -> Built<()> {
        for register in 0..self.function.params {
            let ty = Ty::of(self.function.registers[register as usize]);
            let value = self.emit(Op::Argument(register), &[], ty);
            self.env[register as usize] = Some(value);
        }
        Ok(())
    }

    /// The live registers of the interpreter's frame, in the entry block.
    fn locals(&mut self) -> Built<()> {
        for register in self.plan.live_in[self.plan.start.index()].clone() {
            let ty = Ty::of(self.function.registers[register.0 as usize]);
            let value = self.emit(Op::Local(register.0), &[], ty);
            self.env[register.0 as usize] = Some(value);
        }
        Ok(())
    }

    /// A yieldpoint before the present instruction, which begins its block.
    fn yieldpoint(&mut self, kind: YieldKind) -> Built<()> {
        let block = self.plan.cfg.block_at(self.pc).ok_or(BuildError::NoLoop)?;
        let live = self.plan.live_in[block.index()].clone();
        let state = self.state(self.pc, StateKind::Before, &live)?;
        self.before = Some((self.pc, state));
        self.emit_with(Op::Yieldpoint(kind), &[], Ty::None, Some(state));
        Ok(())
    }

    /// A node at the end of the present block.
    fn emit(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        self.emit_with(op, args, ty, None)
    }

    fn emit_with(&mut self, op: Op, args: &[Value], ty: Ty, state: Option<StateId>) -> Value {
        let node = Node { op, args: SmallVec::from_slice(args), ty, state, inline: self.inline, pc: self.pc };
        let value = self.region.add_node(node);
        self.region.block_mut(self.block).nodes.push(value);
        value
    }
}
