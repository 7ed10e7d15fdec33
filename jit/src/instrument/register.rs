//! Where the path register is set and added to: as seldom as possible.
//!
//! Where a path begins its number is known, and stays known along edges that do not meet others: nothing is executed there. Only
//! where control meets must the path register tell which way it came, so each known number that goes into such a block is
//! set on the way. From there on the number is the register *and so much more* ([`Number::Register`]), and how much more may be another constant
//! at each place. These constants are chosen so that the edges that need no addition are the most expensive ones: a spanning tree of
//! greatest weight, as Ball and Larus (1996, section 3.3) place their increments. The cost of an edge is its frequency, and more if an
//! addition there needs a block of its own, whose jump costs more than the addition; in front of a branch it needs none, which
//! is why the beginning and the end of a block are two nodes of the graph.
//!
//! Unlike theirs, the register is set anew by each path, so what is known in front is not part of the tree. With other placements
//! than PEP's smart one, additions stay on the edges that the plan has them on: those are there to be compared with.
//!
//! **Rounds of loops that nothing is set for.** A path that begins behind the yieldpoint of a loop has a known number, which the loop's header
//! would be told by a store in each round: up to a tenth of the time of a small loop. Where paths are only sampled, that is
//! left to the yieldpoint, when it is taken ([`Placed::resets`]). While samples are taken all yieldpoints are, so that the register
//! is right from the second end of a path on that an activation sees. At the first, it has whatever earlier rounds left there: which numbers may
//! be so is known here ([`Number::Unsure`]), and the machine, which sees the activations, leaves those samples out. That is the path in whose middle
//! the window opened, and nothing is missed by it if paths are short. But one with a long call would hardly ever be sampled, because windows
//! mostly open in the middle of that. Therefore only loops do so in which hardly any path has a call ([`MOST_CALLING`]).

use super::edges::Edges;
use super::flow::Flow;
use super::{edge, yieldpoint};
use crate::ir::{BlockId, Op, Region, Terminator, YieldKind};
use holloway_profilers::Edge;
use holloway_profilers::paths::{Action, Placement, Plan};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What an addition with a block of its own costs, where one without costs 2.
const OWN_BLOCK: u64 = 3;
/// See [`OWN_BLOCK`].
const NO_BLOCK: u64 = 2;

/// Of the paths from a loop's header on, so many may have a call if the register is not set for each of its rounds.
const MOST_CALLING: f64 = 1.0 / 16.0;

/// What is known of the number of the path so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// It is this, whichever way one came: nothing has to be executed for it.
    Known(u64),
    /// It is the path register and so much more, in the 32 bits of the register.
    Register(i64),
    /// The same, if the activation has seen the end of a path before, or the path began outside of the loops that nothing is set for.
    Unsure(i64),
}

/// What is to be executed, and what the numbers are then.
#[derive(Debug, Default)]
pub struct Placed {
    /// By block: the number where it begins. None is known of what cannot be reached.
    pub begins: Vec<Option<Number>>,
    /// What is executed on edges.
    pub on_edges: Vec<(Edge, Op)>,
    /// What is executed in blocks, in front of what ends them.
    pub at_ends: Vec<(BlockId, Op)>,
    /// What the yieldpoints of loops set the register to when they are taken.
    pub resets: Vec<(BlockId, i64)>,
}

/// Finds out where the path register of a region is set and added to. `resets`: yieldpoints may set it when they are taken.
pub fn place(
    region: &Region,
    edges: &Edges,
    flow: &Flow,
    plan: &Plan,
    placement: Placement,
    resets: bool,
) -> Placed {
    let mut ways = Ways::of(region, edges, flow, plan, resets);
    ways.find();
    let mut more = Differences::none(2 * region.blocks.len());
    if placement == Placement::Smart {
        ways.choose(&mut more);
    }
    ways.placed(&mut more)
}

/// A point of the region, the beginning or the end of a block.
type Point = usize;

fn begin_of(block: BlockId) -> Point {
    2 * block.index()
}

fn end_of(block: BlockId) -> Point {
    2 * block.index() + 1
}

/// Is it a call. Yieldpoints, which are mostly not taken, are none here.
fn calls(op: Op) -> bool {
    op.is_call() && !matches!(op, Op::Yieldpoint(_))
}

/// A way from point to point, on which the number grows by a value.
struct Way {
    from: Point,
    to: Point,
    value: u64,
    /// The edge, or none if it is through a block.
    edge: Option<Edge>,
    /// Of an addition there.
    cost: u64,
    /// The way back to a loop's header: the block with the yieldpoint that sets the register for it.
    reset_by: Option<BlockId>,
}

/// All ways to where the register must have the number.
struct Ways<'a> {
    region: &'a Region,
    edges: &'a Edges,
    flow: &'a Flow,
    plan: &'a Plan,
    /// May yieldpoints set the register.
    resets: bool,
    /// Is there any call.
    calls: bool,
    order: &'a [BlockId],
    /// By block: where it is in that order.
    positions: Vec<u32>,
    /// By point: what is known of the number there. Registers are still without what is more.
    numbers: Vec<Option<Number>>,
    /// By point with a known number: the block in which the path began.
    origins: Vec<Option<BlockId>>,
    /// By point: is a known number set there, in front of a block's end, as that is cheaper than on the edges.
    set: Vec<bool>,
    ways: Vec<Way>,
    /// Points with a register where paths end, and how often they do.
    told: Vec<(Point, u64)>,
}

impl<'a> Ways<'a> {
    fn of(region: &'a Region, edges: &'a Edges, flow: &'a Flow, plan: &'a Plan, resets: bool) -> Ways<'a> {
        let points = 2 * region.blocks.len();
        let order = flow.order();
        let mut positions = vec![0; region.blocks.len()];
        for (position, block) in (0..).zip(order) {
            positions[block.index()] = position;
        }
        Ways {
            region,
            edges,
            flow,
            plan,
            resets,
            calls: resets
                && region.blocks.iter().flat_map(|block| &block.nodes).any(|&node| calls(region.op(node))),
            order,
            positions,
            numbers: vec![None; points],
            origins: vec![None; points],
            set: vec![false; points],
            ways: Vec::with_capacity(points),
            told: Vec::with_capacity(region.blocks.len()),
        }
    }

    fn find(&mut self) {
        for block in self.region.block_ids() {
            if self.meets(block) {
                self.numbers[begin_of(block)] = Some(Number::Register(0));
            }
        }
        self.numbers[begin_of(Region::ENTRY)] = Some(Number::Known(self.plan.start()));
        for position in 0..self.order.len() {
            let block = self.order[position];
            if let Some(begin) = self.numbers[begin_of(block)] {
                self.go_on(block, begin);
            }
        }
    }

    /// Does control meet there, with numbers that only the register can tell apart.
    fn meets(&self, block: BlockId) -> bool {
        self.edges.incoming(block) > 1
    }

    /// Goes through a block and along the edges out of it.
    fn go_on(&mut self, block: BlockId, begin: Number) {
        let (from, to) = (begin_of(block), end_of(block));
        let targets: SmallVec<[BlockId; 2]> =
            self.region.block(block).end.targets().map(|target| target.block).collect();
        let all = self.flow.block(block);
        let cut = self.plan.cut(holloway_profilers::BlockId(block.0));
        if let Number::Register(_) = begin {
            if cut.is_some() || targets.is_empty() {
                self.told.push((from, all));
            } else {
                self.ways.push(Way { from, to, value: 0, edge: None, cost: NO_BLOCK * all, reset_by: None });
            }
        }
        let number = cut.map_or(begin, |cut| Number::Known(cut.begin));
        self.numbers[to] = Some(number);
        self.origins[to] = if cut.is_some() { Some(block) } else { self.origins[from] };
        let mut for_own = 0;
        for (arm, &target) in targets.iter().enumerate() {
            let edge = edge(block.index(), arm);
            let value = match self.plan.action(edge) {
                Action::Add(value) => value,
                // Where blocks are cut, edges are not.
                Action::Break(_) => 0,
            };
            let begin = begin_of(target);
            if let Number::Known(number) = number
                && !self.meets(target)
            {
                self.numbers[begin].get_or_insert(Number::Known(number + value));
                self.origins[begin] = self.origins[to];
                continue;
            }
            self.numbers[begin].get_or_insert(Number::Register(0));
            let own = self.edges.needs_block(self.region, edge);
            let cost = self.flow.frequency(edge) * if own { OWN_BLOCK } else { NO_BLOCK };
            let reset_by = self.reset_by(block, target);
            for_own += if own && reset_by.is_none() { cost } else { 0 };
            self.ways.push(Way { from: to, to: begin, value, edge: Some(edge), cost, reset_by });
        }
        self.set[to] = matches!(number, Number::Known(_)) && for_own > NO_BLOCK * all;
    }

    /// Does an edge with a known number lead back to a loop's header, and can the yieldpoint set the register for it.
    fn reset_by(&self, block: BlockId, target: BlockId) -> Option<BlockId> {
        let back = self.positions[target.index()] <= self.positions[block.index()];
        let origin = self.origins[end_of(block)].filter(|_| self.resets && back)?;
        yieldpoint(self.region, origin, YieldKind::Loop)?;
        // It sets one number.
        let sets_another = self.ways.iter().any(|way| way.reset_by == Some(origin));
        (!sets_another && self.calling(target) <= MOST_CALLING).then_some(origin)
    }

    /// Which part of the paths from a block on has a call before it ends.
    fn calling(&self, from: BlockId) -> f64 {
        if !self.calls {
            return 0.0;
        }
        let mut calling = 0.0;
        let mut parts = BTreeMap::from([(self.positions[from.index()], 1.0)]);
        while let Some((position, part)) = parts.pop_first() {
            let block = self.order[position as usize];
            let found = self.region.block(block);
            let cut = self.plan.cut(holloway_profilers::BlockId(block.0)).is_some();
            let until = match yieldpoint(self.region, block, YieldKind::Loop) {
                at if cut => at.unwrap_or(0),
                _ => found.nodes.len(),
            };
            if found.nodes[..until].iter().any(|&node| calls(self.region.op(node))) {
                calling += part;
            } else if !cut && !matches!(found.end, Terminator::Return(_)) {
                let all = self.flow.block(block).max(1) as f64;
                for (arm, target) in found.end.targets().enumerate() {
                    let taken = self.flow.frequency(edge(block.index(), arm)) as f64 / all;
                    let next = self.positions[target.block.index()];
                    // Cycles have cuts.
                    if next > position {
                        *parts.entry(next).or_insert(0.0) += part * taken;
                    }
                }
            }
        }
        calling
    }

    /// The ways that yieldpoints set the register for: the yieldpoint's block, and the way.
    fn reset(&self) -> impl Iterator<Item = (BlockId, &Way)> {
        self.ways.iter().filter(|way| !self.set[way.from]).filter_map(|way| Some((way.reset_by?, way)))
    }

    /// By point: is the register perhaps not right there.
    fn unsure(&self) -> Vec<bool> {
        let mut unsure = vec![false; self.numbers.len()];
        let mut todo: Vec<Point> = self.reset().map(|(_, way)| way.to).collect();
        if todo.is_empty() {
            return unsure;
        }
        let mut onwards: Vec<Vec<Point>> = vec![Vec::new(); self.numbers.len()];
        for way in &self.ways {
            if let Some(Number::Register(_)) = self.numbers[way.from] {
                onwards[way.from].push(way.to);
            }
        }
        while let Some(point) = todo.pop() {
            if !std::mem::replace(&mut unsure[point], true) {
                todo.extend(&onwards[point]);
            }
        }
        unsure
    }

    /// Chooses what is more at each point, so that the most expensive ways need no addition.
    fn choose(&self, more: &mut Differences) {
        let with_register =
            |point: Point| self.set[point] || self.numbers[point] == Some(Number::Register(0));
        let mut ways: Vec<&Way> = self.ways.iter().filter(|way| with_register(way.from)).collect();
        ways.sort_by_key(|way| std::cmp::Reverse(way.cost));
        for way in ways {
            more.join(way.from, way.to, way.value as i64);
        }
        // One constant is free in each part. If it is 0 where most paths end, what counts them there need not add it.
        let mut told: Vec<&(Point, u64)> = self.told.iter().collect();
        told.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        for &&(point, _) in &told {
            more.vanish(point);
        }
    }

    /// What is executed, if so much is more at each point.
    fn placed(&self, more: &mut Differences) -> Placed {
        let mut placed = Placed { begins: Vec::with_capacity(self.region.blocks.len()), ..Placed::default() };
        let unsure = self.unsure();
        for block in self.region.block_ids() {
            let begin = begin_of(block);
            placed.begins.push(self.numbers[begin].map(|number| match number {
                Number::Known(known) => Number::Known(known),
                _ if unsure[begin] => Number::Unsure(more.at(begin)),
                _ => Number::Register(more.at(begin)),
            }));
            if let (true, Some(Number::Known(number))) =
                (self.set[end_of(block)], self.numbers[end_of(block)])
            {
                placed.at_ends.push((block, Op::SetPath(number as i64 - more.at(end_of(block)))));
            }
        }
        for (block, way) in self.reset() {
            if let Some(Number::Known(number)) = self.numbers[way.from] {
                placed.resets.push((block, (number + way.value) as i64 - more.at(way.to)));
            }
        }
        for way in &self.ways {
            if way.reset_by.is_some() && !self.set[way.from] {
                continue;
            }
            let (before, after) = (more.at(way.from) + way.value as i64, more.at(way.to));
            let op = match self.numbers[way.from] {
                Some(Number::Known(number)) if !self.set[way.from] || before != after => {
                    Op::SetPath((number + way.value) as i64 - after)
                }
                Some(Number::Register(_)) if before != after => Op::AddPath(before - after),
                _ => continue,
            };
            match way.edge {
                Some(edge) => placed.on_edges.push((edge, op)),
                None => placed.at_ends.push((BlockId((way.from / 2) as u32), op)),
            }
        }
        placed
    }
}

/// What is more than the register at points: constants that hang together where a way has no addition.
struct Differences {
    /// By point: another of its part, and how much more than there is here. Itself, if it is the part's first.
    others: Vec<(Point, i64)>,
    /// By the first of a part: how much more is there, once it is settled.
    firsts: Vec<Option<i64>>,
}

impl Differences {
    fn none(points: usize) -> Differences {
        Differences { others: (0..points).map(|point| (point, 0)).collect(), firsts: vec![None; points] }
    }

    /// The first of the point's part, and how much more is here than there.
    fn first(&mut self, point: Point) -> (Point, i64) {
        let (mut first, mut more) = (point, 0);
        while self.others[first].0 != first {
            let (next, so_much) = self.others[first];
            // Half of the way is spared the next time.
            let (behind, further) = self.others[next];
            self.others[first] = (behind, so_much + further);
            (first, more) = (behind, more + so_much + further);
        }
        (first, more)
    }

    /// Makes the way between two points one without an addition, unless they hang together already.
    fn join(&mut self, from: Point, to: Point, value: i64) {
        let ((first, before), (second, after)) = (self.first(from), self.first(to));
        if first != second {
            self.others[second] = (first, before + value - after);
        }
    }

    /// Settles a part: nothing is more at this point. A part that is settled stays.
    fn vanish(&mut self, point: Point) {
        let (first, more) = self.first(point);
        self.firsts[first].get_or_insert(-more);
    }

    /// How much more is at a point.
    fn at(&mut self, point: Point) -> i64 {
        let (first, more) = self.first(point);
        self.firsts[first].unwrap_or(0) + more
    }
}

#[cfg(test)]
mod tests {
    use super::Differences;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    /// Points have heights, ways climb from one to the other: whatever is joined, what is more must differ by the climb; and
    /// ways that close a circle change nothing.
    #[test]
    fn parts_hang_together_by_their_ways() {
        let mut random = SmallRng::seed_from_u64(1996);
        for _ in 0..200 {
            let points = random.random_range(2..40);
            let heights: Vec<i64> = (0..points).map(|_| random.random_range(-1000..1000)).collect();
            let mut more = Differences::none(points);
            let mut parts: Vec<usize> = (0..points).collect();
            for _ in 0..random.random_range(0..2 * points) {
                let (from, to) = (random.random_range(0..points), random.random_range(0..points));
                more.join(from, to, heights[to] - heights[from]);
                let (joined, gone) = (parts[from], parts[to]);
                parts.iter_mut().filter(|part| **part == gone).for_each(|part| *part = joined);
            }
            let settled = random.random_range(0..points);
            more.vanish(settled);
            more.vanish(random.random_range(0..points));
            assert_eq!(more.at(settled), 0);
            for (one, other) in (0..points).flat_map(|one| (0..points).map(move |other| (one, other))) {
                if parts[one] == parts[other] {
                    assert_eq!(more.at(other) - more.at(one), heights[other] - heights[one]);
                }
            }
        }
    }
}
