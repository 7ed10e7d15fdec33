//! How often each edge of a control flow was taken, and what an order of the blocks costs.
//!
//! Frequencies come as a slice with one number for each edge, in the order of the blocks and, within a block, of its arms.
//!
//! The cost of an order is the expected number of *taken* transfers: an edge is free if its target stands just behind its
//! source, and costs its frequency otherwise. A block of which neither arm follows pays for both, for one is a branch
//! and the other a jump. (Pettis and Hansen, PLDI 1990, section 3.2, count the same; a switch is not told apart.) Among
//! orders that take equally many, the one that executes fewer *jumps* without a condition is cheaper: a loop that is
//! left at its top takes one transfer a round like one that is left at its bottom, but executes a branch besides.

use crate::{Arm, BlockId, ControlFlow, Edge};
use std::fmt;
use std::ops::Add;

/// The frequencies of the edges of one control flow.
#[derive(Debug, Clone, Copy)]
pub struct Frequencies<'a, F: ?Sized> {
    flow: &'a F,
    counts: &'a [u64],
}

/// A slice of frequencies that does not belong to the control flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongLength {
    /// How many edges there are.
    pub edges: usize,
    /// How many frequencies were given.
    pub given: usize,
}

impl fmt::Display for WrongLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layout: {} frequencies for {} edges; valid: one for each edge", self.given, self.edges)
    }
}

impl std::error::Error for WrongLength {}

impl<'a, F: ControlFlow + ?Sized> Frequencies<'a, F> {
    /// The frequencies `counts`, one for each edge by block and arm.
    ///
    /// # Errors
    ///
    /// If there are not as many as edges.
    pub fn new(flow: &'a F, counts: &'a [u64]) -> Result<Self, WrongLength> {
        let edges = blocks(flow).map(|block| flow.successors(block).len()).sum();
        if edges != counts.len() {
            return Err(WrongLength { edges, given: counts.len() });
        }
        Ok(Self { flow, counts })
    }

    /// The control flow.
    #[must_use]
    pub fn flow(&self) -> &'a F {
        self.flow
    }

    /// All edges with their targets and frequencies, by block and arm.
    pub fn edges(&self) -> impl Iterator<Item = (Edge, BlockId, u64)> + use<'a, F> {
        let flow = self.flow;
        let arms = blocks(flow).flat_map(move |from| {
            let arms = flow.successors(from).iter().enumerate();
            arms.map(move |(arm, &to)| (Edge { from, arm: Arm::new(arm) }, to))
        });
        arms.zip(self.counts).map(|((edge, to), &count)| (edge, to, count))
    }

    /// How often each block was executed: what entered it or what left it, whichever is more (the entry has no edge that
    /// enters it, a return none that leaves it).
    #[must_use]
    pub fn blocks(&self) -> Vec<u64> {
        let (mut entered, mut left) = (vec![0u64; self.flow.blocks()], vec![0u64; self.flow.blocks()]);
        for (edge, to, count) in self.edges() {
            entered[to.index()] = entered[to.index()].saturating_add(count);
            left[edge.from.index()] = left[edge.from.index()].saturating_add(count);
        }
        entered.into_iter().zip(left).map(|(entered, left)| entered.max(left)).collect()
    }

    /// What it costs if the blocks stand in this order. Blocks that it does not name stand far away, one by one.
    /// O(blocks + edges log edges).
    #[must_use]
    pub fn cost(&self, order: &[BlockId]) -> Cost {
        let mut next = vec![None; self.flow.blocks()];
        order.windows(2).for_each(|pair| next[pair[0].index()] = Some(pair[1]));
        let targets = Targets::new(self);
        let costs = blocks(self.flow).map(|block| targets.cost(block, next[block.index()]));
        costs.fold(Cost::default(), |sum, cost| sum + cost)
    }
}

/// What an order of blocks costs; the less taken the better, and among equals the fewer jumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cost {
    /// Executions of edges that do not fall through.
    pub taken: u64,
    /// Executions of jumps without a condition: a block with one target that does not follow, and the colder arm of a
    /// block with two targets that both do not follow. A block with more targets ends with a jump through a table.
    pub jumps: u64,
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let taken = self.taken.saturating_add(other.taken);
        Self { taken, jumps: self.jumps.saturating_add(other.jumps) }
    }
}

/// The targets of each block with the frequency of all edges to them, by number: one list, and where in it each block begins.
pub(super) struct Targets {
    starts: Vec<usize>,
    list: Vec<(BlockId, u64)>,
}

impl Targets {
    pub fn new<F: ControlFlow + ?Sized>(frequencies: &Frequencies<'_, F>) -> Self {
        let flow = frequencies.flow;
        let mut targets = Self {
            starts: Vec::with_capacity(flow.blocks() + 1),
            list: Vec::with_capacity(frequencies.counts.len()),
        };
        let mut counts = frequencies.counts.iter();
        for block in blocks(flow) {
            let start = targets.list.len();
            targets.starts.push(start);
            let successors = flow.successors(block);
            targets
                .list
                .extend(successors.iter().copied().zip(counts.by_ref().copied().take(successors.len())));
            targets.list[start..].sort_unstable();
            // Those of the same target are neighbours now.
            let mut last = start;
            for next in start + 1..targets.list.len() {
                let (target, count) = targets.list[next];
                if targets.list[last].0 == target {
                    targets.list[last].1 = targets.list[last].1.saturating_add(count);
                } else {
                    last += 1;
                    targets.list[last] = (target, count);
                }
            }
            targets.list.truncate(targets.list.len().min(last + 1));
        }
        targets.starts.push(targets.list.len());
        targets
    }

    fn of(&self, block: BlockId) -> &[(BlockId, u64)] {
        &self.list[self.starts[block.index()]..self.starts[block.index() + 1]]
    }

    /// All pairs of a block and a target with the frequency, by their numbers.
    pub fn pairs(&self) -> impl Iterator<Item = (BlockId, BlockId, u64)> {
        let numbered = (0..self.starts.len() - 1).map(BlockId::new);
        numbered.flat_map(|from| self.of(from).iter().map(move |&(to, count)| (from, to, count)))
    }

    /// What a block costs if it is followed by this one, or by none that it goes to. O(targets).
    pub fn cost(&self, block: BlockId, next: Option<BlockId>) -> Cost {
        let targets = self.of(block);
        let (mut taken, mut least, mut falls) = (0u64, u64::MAX, false);
        for &(target, count) in targets {
            if Some(target) == next {
                falls = true;
            } else {
                taken = taken.saturating_add(count);
                least = least.min(count);
            }
        }
        let jumps = if falls || targets.is_empty() || targets.len() > 2 { 0 } else { least };
        Cost { taken, jumps }
    }
}

/// All blocks of a control flow.
pub(super) fn blocks<F: ControlFlow + ?Sized>(flow: &F) -> impl Iterator<Item = BlockId> + use<F> {
    (0..flow.blocks()).map(BlockId::new)
}
