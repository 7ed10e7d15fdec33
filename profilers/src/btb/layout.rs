//! What is known of the code: each method's graph, the order in which its blocks were laid out, its fingerprint.
//!
//! Between the target of one taken branch and the source of the next, control only fell through (section 3.1: "the
//! off-line tool uses the CFG to interpolate fall-through paths between taken branches"). A layout says for each
//! block which successor that is. The blocks that fall into one another form *chains*: a block belongs to exactly
//! one, so that "does control fall from t to s" is a comparison of two positions, however long the way is.
//!
//! Parallel edges are one edge here: an address in a record cannot tell them apart. An edge can be *taken* if some
//! arm other than the one that falls through leads there.

use crate::graph::ControlFlow;
use crate::ids::{Arm, BlockId, MethodId};
use std::collections::BTreeMap;
use std::fmt;

/// Which successor of a block comes right behind it in memory.
#[derive(Debug, Clone, Copy)]
pub enum Layout<'a> {
    /// The order of all blocks. A block falls through to the next one if that is among its successors.
    Order(&'a [BlockId]),
    /// For each block the arm that falls through, if any does.
    Arms(&'a [Option<Arm>]),
}

/// Why a graph and a layout do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutError {
    /// The graph has no block, or its entry, an entry or a successor is not a block.
    NoSuchBlock(BlockId),
    /// The layout speaks of a number of blocks that differs from the graph's.
    Length {
        /// How many blocks the layout has.
        layout: usize,
        /// How many blocks the graph has.
        graph: usize,
    },
    /// The order has this block twice (and thus lacks another).
    Twice(BlockId),
    /// The block has no such arm.
    NoSuchArm(BlockId, Arm),
    /// Two blocks would fall into this one, but only one can be laid out before it.
    TwoBefore(BlockId),
    /// Control would fall from this block back to it.
    Circle(BlockId),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchBlock(block) => write!(f, "the graph has no block {block}"),
            Self::Length { layout, graph } => {
                write!(f, "the layout is for {layout} blocks, but the graph has {graph}")
            }
            Self::Twice(block) => write!(f, "block {block} is laid out twice"),
            Self::NoSuchArm(block, arm) => {
                write!(f, "block {block} has no arm {arm} that could fall through")
            }
            Self::TwoBefore(block) => write!(f, "two blocks fall through to {block}, but one can"),
            Self::Circle(block) => write!(f, "{block} falls through to itself by way of others"),
        }
    }
}

impl std::error::Error for LayoutError {}

/// One method: its graph in the form that the analysis needs, its layout, its fingerprint.
#[derive(Debug, Clone)]
pub struct MethodCode {
    fingerprint: u64,
    entry: BlockId,
    entries: Vec<BlockId>,
    blocks: Vec<Block>,
    only_return: Option<BlockId>,
}

#[derive(Debug, Clone)]
struct Block {
    successors: Vec<BlockId>,
    taken: Vec<BlockId>,
    predecessors: Vec<BlockId>,
    fall_through: Option<BlockId>,
    landing: bool,
    reachable: bool,
    chain: u32,
    position: u32,
    code: BlockCode,
}

/// What a block consists of. Calls do not end blocks: they part a block into one piece more than it has calls. Each piece ends
/// with its call, the last one with the block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockCode {
    /// How many instructions.
    pub instructions: u32,
    /// The calls of methods, in their order.
    pub calls: Vec<CallPoint>,
    /// Whether it is known to return if it has no successor: it may throw.
    pub returns: bool,
}

/// A call in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPoint {
    /// How many of the block's instructions come before its return: the call and all in front of it.
    pub before: u32,
    /// What it calls; `None` if that may be one of several.
    pub callee: Option<MethodId>,
}

impl CallPoint {
    /// Whether it may call this method; `None` is one outside of the program.
    #[must_use]
    pub fn may_call(&self, method: Option<MethodId>) -> bool {
        self.callee.is_none() || self.callee == method
    }
}

impl BlockCode {
    /// A block of which only the number of instructions is known.
    #[must_use]
    pub fn of_size(instructions: u32) -> Self {
        Self { instructions, calls: Vec::new(), returns: false }
    }
}

impl MethodCode {
    /// Reads a graph and its layout. The fingerprint is a hash of the method's code: profiles of different
    /// fingerprints are never mixed.
    ///
    /// # Errors
    ///
    /// If the layout does not fit the graph, or the graph is not one.
    pub fn new(graph: &impl ControlFlow, layout: Layout<'_>, fingerprint: u64) -> Result<Self, LayoutError> {
        let count = graph.blocks();
        let ids = || (0..count).map(BlockId::new);
        let exists = |block: BlockId| {
            if block.index() < count { Ok(block) } else { Err(LayoutError::NoSuchBlock(block)) }
        };
        let entry = exists(graph.entry())?;
        let entries = graph.entries().iter().map(|&block| exists(block)).collect::<Result<Vec<_>, _>>()?;
        for block in ids() {
            graph.successors(block).iter().try_for_each(|&to| exists(to).map(drop))?;
        }
        let arms = falling_arms(graph, layout)?;
        let mut blocks: Vec<Block> = ids()
            .map(|id| {
                let successors = graph.successors(id);
                let falling = arms[id.index()];
                let taken =
                    successors.iter().enumerate().filter(|&(arm, _)| Some(arm) != falling).map(|(_, &to)| to);
                Block {
                    successors: distinct(successors.iter().copied()),
                    taken: distinct(taken),
                    predecessors: Vec::new(),
                    fall_through: falling.map(|arm| successors[arm]),
                    landing: id == entry || entries.contains(&id),
                    reachable: false,
                    chain: u32::MAX,
                    position: 0,
                    code: BlockCode::of_size(1),
                }
            })
            .collect();
        mark_reachable(&mut blocks, entry, &entries);
        for id in ids().filter(|id| blocks[id.index()].reachable).collect::<Vec<_>>() {
            for to in blocks[id.index()].successors.clone() {
                blocks[to.index()].predecessors.push(id);
            }
        }
        number_chains(&mut blocks)?;
        let only_return = only_return(&blocks);
        Ok(Self { fingerprint, entry, entries, blocks, only_return })
    }

    /// The same method with what its blocks consist of; lengths of paths are measured in their instructions. Blocks of which
    /// nothing is said are one instruction.
    #[must_use]
    pub fn with_code(mut self, code: Vec<BlockCode>) -> Self {
        for (block, code) in self.blocks.iter_mut().zip(code) {
            block.code = code;
        }
        self.only_return = only_return(&self.blocks);
        self
    }

    /// The hash of the method's code.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// How many blocks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there is no block; there always is one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Where the method is entered.
    #[must_use]
    pub fn entry(&self) -> BlockId {
        self.entry
    }

    /// Where else control arrives without an edge.
    #[must_use]
    pub fn entries(&self) -> &[BlockId] {
        &self.entries
    }

    /// Whether the block exists and some entry leads to it.
    #[must_use]
    pub fn reachable(&self, block: BlockId) -> bool {
        self.blocks.get(block.index()).is_some_and(|block| block.reachable)
    }

    /// Whether control arrives at the block without an edge.
    #[must_use]
    pub fn landing(&self, block: BlockId) -> bool {
        self.blocks[block.index()].landing
    }

    /// The different successors of a block, in the order of the arms.
    #[must_use]
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.blocks[block.index()].successors
    }

    /// The different blocks that an arm other than the falling one leads to.
    #[must_use]
    pub fn taken(&self, block: BlockId) -> &[BlockId] {
        &self.blocks[block.index()].taken
    }

    /// The different reachable blocks with an edge to this one, in increasing order.
    #[must_use]
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.blocks[block.index()].predecessors
    }

    /// The block that control falls into at the end of this one.
    #[must_use]
    pub fn fall_through(&self, block: BlockId) -> Option<BlockId> {
        self.blocks[block.index()].fall_through
    }

    /// How many blocks control passes when it falls from the start of `from` to the start of `to`: 0 if they are the
    /// same. `None` if it cannot.
    #[must_use]
    pub fn falls(&self, from: BlockId, to: BlockId) -> Option<usize> {
        let (from, to) = (&self.blocks[from.index()], &self.blocks[to.index()]);
        (from.chain == to.chain).then(|| to.position.checked_sub(from.position))?.map(|steps| steps as usize)
    }

    /// The block's number of instructions.
    #[must_use]
    pub fn size(&self, block: BlockId) -> u64 {
        u64::from(self.blocks[block.index()].code.instructions)
    }

    /// The calls in the block, in their order.
    #[must_use]
    pub fn calls(&self, block: BlockId) -> &[CallPoint] {
        &self.blocks[block.index()].code.calls
    }

    /// How many instructions the pieces `from..=to` of a block have: piece k is what lies between the call before, k-1, and call
    /// k with it.
    #[must_use]
    pub fn size_of_pieces(&self, block: BlockId, from: usize, to: usize) -> u64 {
        let (size, calls) = (self.size(block), self.calls(block));
        let end_of = |piece: usize| calls.get(piece).map_or(size, |call| u64::from(call.before).min(size));
        let start = from.checked_sub(1).map_or(0, end_of);
        end_of(to).saturating_sub(start)
    }

    /// Whether the block ends with a return.
    #[must_use]
    pub fn returns(&self, block: BlockId) -> bool {
        self.blocks[block.index()].returns()
    }

    /// The block with which all returns of the method end, if there is but one.
    #[must_use]
    pub fn only_return(&self) -> Option<BlockId> {
        self.only_return
    }
}

impl ControlFlow for MethodCode {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry(&self) -> BlockId {
        self.entry
    }

    fn entries(&self) -> &[BlockId] {
        &self.entries
    }

    fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.blocks[block.index()].successors
    }
}

impl Block {
    fn returns(&self) -> bool {
        self.successors.is_empty() && self.code.returns
    }
}

fn only_return(blocks: &[Block]) -> Option<BlockId> {
    let mut returns = (0..blocks.len()).filter(|&at| blocks[at].reachable && blocks[at].returns());
    let only = returns.next()?;
    returns.next().is_none().then(|| BlockId::new(only))
}

fn distinct(blocks: impl Iterator<Item = BlockId>) -> Vec<BlockId> {
    let mut list = Vec::new();
    for block in blocks {
        if !list.contains(&block) {
            list.push(block);
        }
    }
    list
}

fn falling_arms(graph: &impl ControlFlow, layout: Layout<'_>) -> Result<Vec<Option<usize>>, LayoutError> {
    let count = graph.blocks();
    let fits = |layout| {
        if layout == count { Ok(()) } else { Err(LayoutError::Length { layout, graph: count }) }
    };
    let mut arms = vec![None; count];
    match layout {
        Layout::Order(order) => {
            fits(order.len())?;
            let mut seen = vec![false; count];
            for &block in order {
                let seen = seen.get_mut(block.index()).ok_or(LayoutError::NoSuchBlock(block))?;
                if std::mem::replace(seen, true) {
                    return Err(LayoutError::Twice(block));
                }
            }
            for pair in order.windows(2) {
                // Of two arms to the next block the last one falls through: arm 0 is the one that is taken.
                arms[pair[0].index()] = graph.successors(pair[0]).iter().rposition(|&to| to == pair[1]);
            }
        }
        Layout::Arms(falling) => {
            fits(falling.len())?;
            for (index, &arm) in falling.iter().enumerate() {
                let block = BlockId::new(index);
                if let Some(arm) = arm.filter(|arm| arm.index() >= graph.successors(block).len()) {
                    return Err(LayoutError::NoSuchArm(block, arm));
                }
                arms[index] = arm.map(Arm::index);
            }
        }
    }
    Ok(arms)
}

fn mark_reachable(blocks: &mut [Block], entry: BlockId, entries: &[BlockId]) {
    let mut open: Vec<BlockId> = entries.to_vec();
    open.push(entry);
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut blocks[block.index()].reachable, true) {
            open.extend_from_slice(&blocks[block.index()].successors);
        }
    }
}

fn number_chains(blocks: &mut [Block]) -> Result<(), LayoutError> {
    let mut before = vec![None; blocks.len()];
    for (index, block) in blocks.iter().enumerate() {
        if let Some(next) = block.fall_through
            && before[next.index()].replace(index).is_some()
        {
            return Err(LayoutError::TwoBefore(next));
        }
    }
    let heads = (0..blocks.len()).filter(|&index| before[index].is_none());
    for (chain, head) in heads.enumerate() {
        let mut next = Some(head);
        let mut position = 0;
        while let Some(index) = next {
            let block = &mut blocks[index];
            (block.chain, block.position) = (chain as u32, position);
            position += 1;
            next = block.fall_through.map(BlockId::index);
        }
    }
    // Whatever no head leads to lies on a circle.
    match blocks.iter().position(|block| block.chain == u32::MAX) {
        Some(index) => Err(LayoutError::Circle(BlockId::new(index))),
        None => Ok(()),
    }
}

/// The methods whose traces can be understood.
#[derive(Debug, Clone, Default)]
pub struct Program {
    methods: BTreeMap<MethodId, MethodCode>,
}

impl Program {
    /// A program without methods.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a method, in place of what had its number before.
    pub fn insert(&mut self, id: MethodId, method: MethodCode) {
        self.methods.insert(id, method);
    }

    /// The method with this number.
    #[must_use]
    pub fn method(&self, id: MethodId) -> Option<&MethodCode> {
        self.methods.get(&id)
    }

    /// All methods in the order of their numbers.
    pub fn methods(&self) -> impl Iterator<Item = (MethodId, &MethodCode)> {
        self.methods.iter().map(|(&id, method)| (id, method))
    }
}
