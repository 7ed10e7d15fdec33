//! A machine that does nothing but execute plans: the third way, beside the interpreter and compiled code, in which
//! a plan becomes a stream of path numbers (PEP figures 1 and 3).
//!
//! A [`Simulator`] knows one plan and keeps what all activations of the method have in common: exact edge counts,
//! additions that were executed, paths that were dropped. An [`Activation`] has a path register of its own, so that
//! the activations of a recursive method may be interleaved. O(1) for each step, without allocation.

use super::plan::{Action, Plan};
use crate::ids::{Arm, BlockId, Edge, PathNumber};

/// What an activation does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// It takes this arm of its block.
    Take(Arm),
    /// It leaves its block without an edge and arrives at this further entry: an exception is caught. The path in
    /// flight is dropped.
    Jump(BlockId),
}

/// An activation of the method.
#[derive(Debug)]
pub struct Activation {
    block: BlockId,
    r: PathNumber,
    finished: bool,
}

impl Activation {
    /// The block that it is in. The yieldpoint of a cut block is behind it.
    #[must_use]
    pub fn block(&self) -> BlockId {
        self.block
    }

    /// Its path register.
    #[must_use]
    pub fn register(&self) -> PathNumber {
        self.r
    }

    /// Has it left the method? Then it can do nothing more.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }
}

/// Executes a plan.
#[derive(Debug, Clone)]
pub struct Simulator<'p> {
    plan: &'p Plan,
    taken: Vec<Vec<u64>>,
    additions: u64,
    dropped: u64,
}

impl<'p> Simulator<'p> {
    /// A machine on which nothing was run yet.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        let taken = plan.edges.iter().map(|arms| vec![0; arms.len()]).collect();
        Self { plan, taken, additions: 0, dropped: 0 }
    }

    /// Enters the method. `count` gets the numbers of paths that end (one that was cut at the entry, or left the
    /// method).
    pub fn enter(&mut self, mut count: impl FnMut(PathNumber)) -> Activation {
        let mut activation = Activation { block: self.plan.entry, r: self.plan.start, finished: false };
        self.arrive(&mut activation, &mut count);
        activation
    }

    /// Does one step. `count` gets the numbers of the paths that end, in order: there are at most two.
    ///
    /// # Panics
    ///
    /// If the activation has finished, the block has no such arm, or a jump does not lead to a further entry.
    pub fn step(&mut self, activation: &mut Activation, step: Step, mut count: impl FnMut(PathNumber)) {
        assert!(!activation.finished, "an activation that left the method cannot go on");
        match step {
            Step::Take(arm) => {
                let edge = Edge { from: activation.block, arm };
                let action = self.plan.action(edge);
                self.taken[edge.from.index()][edge.arm.index()] += 1;
                self.additions += u64::from(action.adds());
                match action {
                    Action::Add(value) => activation.r += value,
                    Action::Break(at) => {
                        count(activation.r + at.end);
                        activation.r = at.begin;
                    }
                }
                activation.block = self.plan.target(edge);
            }
            Step::Jump(block) => {
                self.dropped += 1;
                activation.r = self.plan.entry_start(block).expect("a jump leads to a further entry");
                activation.block = block;
            }
        }
        self.arrive(activation, &mut count);
    }

    /// Ends an activation that is thrown out of the method: its path in flight is dropped.
    pub fn unwind(&mut self, activation: Activation) {
        self.dropped += u64::from(!activation.finished);
    }

    /// Runs one activation through its steps, and unwinds it if it has not left the method then.
    pub fn run(&mut self, steps: &[Step], mut count: impl FnMut(PathNumber)) {
        let mut activation = self.enter(&mut count);
        for &step in steps {
            self.step(&mut activation, step, &mut count);
        }
        self.unwind(activation);
    }

    /// How often an edge was taken.
    #[must_use]
    pub fn taken(&self, edge: Edge) -> u64 {
        self.taken[edge.from.index()][edge.arm.index()]
    }

    /// How many additions to the path register were executed.
    #[must_use]
    pub fn additions(&self) -> u64 {
        self.additions
    }

    /// How many paths were dropped because control left them without an edge.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What happens in a block: its yieldpoint, and the end of the method.
    fn arrive(&mut self, activation: &mut Activation, count: &mut impl FnMut(PathNumber)) {
        if let Some(cut) = self.plan.cut(activation.block) {
            count(activation.r);
            activation.r = cut.begin;
        }
        if self.plan.edges[activation.block.index()].is_empty() {
            count(activation.r);
            activation.finished = true;
        }
    }
}
