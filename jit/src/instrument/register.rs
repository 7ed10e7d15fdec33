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

use super::edge;
use super::edges::Edges;
use super::flow::Flow;
use crate::ir::{BlockId, Op, Region};
use holloway_profilers::Edge;
use holloway_profilers::paths::{Action, Placement, Plan};

/// What an addition with a block of its own costs, where one without costs 2.
const OWN_BLOCK: u64 = 3;
/// See [`OWN_BLOCK`].
const NO_BLOCK: u64 = 2;

/// What is known of the number of the path so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// It is this, whichever way one came: nothing has to be executed for it.
    Known(u64),
    /// It is the path register and so much more, in the 32 bits of the register.
    Register(i64),
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
}

/// Finds out where the path register of a region is set and added to. `known` are blocks at whose beginning the number is known
/// although control meets there.
pub fn place(
    region: &Region,
    edges: &Edges,
    flow: &Flow,
    plan: &Plan,
    known: &[(BlockId, u64)],
    placement: Placement,
) -> Placed {
    let mut ways = Ways::of(region, edges, flow, plan, known);
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

/// A way from point to point, on which the number grows by a value.
struct Way {
    from: Point,
    to: Point,
    value: u64,
    /// The edge, or none if it is through a block.
    edge: Option<Edge>,
    /// Of an addition there.
    cost: u64,
}

/// All ways to where the register must have the number.
struct Ways<'a> {
    region: &'a Region,
    edges: &'a Edges,
    flow: &'a Flow,
    plan: &'a Plan,
    known: &'a [(BlockId, u64)],
    /// By point: what is known of the number there. Registers are still without what is more.
    numbers: Vec<Option<Number>>,
    /// By point: is a known number set there, in front of a block's end, as that is cheaper than on the edges.
    set: Vec<bool>,
    ways: Vec<Way>,
    /// Points with a register where paths end, and how often they do.
    told: Vec<(Point, u64)>,
}

impl<'a> Ways<'a> {
    fn of(
        region: &'a Region,
        edges: &'a Edges,
        flow: &'a Flow,
        plan: &'a Plan,
        known: &'a [(BlockId, u64)],
    ) -> Ways<'a> {
        let points = 2 * region.blocks.len();
        let (numbers, set) = (vec![None; points], vec![false; points]);
        Ways { region, edges, flow, plan, known, numbers, set, ways: Vec::new(), told: Vec::new() }
    }

    fn find(&mut self) {
        for block in self.region.block_ids() {
            if self.meets(block) {
                self.numbers[begin_of(block)] = Some(Number::Register(0));
            }
        }
        for &(block, number) in self.known {
            self.numbers[begin_of(block)] = Some(Number::Known(number));
        }
        self.numbers[begin_of(Region::ENTRY)] = Some(Number::Known(self.plan.start()));
        for &block in self.region.graph().reverse_postorder() {
            if let Some(begin) = self.numbers[begin_of(block)] {
                self.go_on(block, begin);
            }
        }
    }

    /// Does control meet there, with numbers that only the register can tell apart.
    fn meets(&self, block: BlockId) -> bool {
        self.edges.incoming(block) > 1 && self.known.iter().all(|&(known, _)| known != block)
    }

    /// Goes through a block and along the edges out of it.
    fn go_on(&mut self, block: BlockId, begin: Number) {
        let (from, to) = (begin_of(block), end_of(block));
        let targets: Vec<BlockId> =
            self.region.block(block).end.targets().map(|target| target.block).collect();
        let all = self.flow.block(block);
        let cut = self.plan.cut(holloway_profilers::BlockId(block.0));
        if let Number::Register(_) = begin {
            if cut.is_some() || targets.is_empty() {
                self.told.push((from, all));
            } else {
                self.ways.push(Way { from, to, value: 0, edge: None, cost: NO_BLOCK * all });
            }
        }
        let number = cut.map_or(begin, |cut| Number::Known(cut.begin));
        self.numbers[to] = Some(number);
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
                continue;
            }
            self.numbers[begin].get_or_insert(Number::Register(0));
            let own = self.edges.needs_block(self.region, edge);
            let cost = self.flow.frequency(edge) * if own { OWN_BLOCK } else { NO_BLOCK };
            for_own += if own { cost } else { 0 };
            self.ways.push(Way { from: to, to: begin, value, edge: Some(edge), cost });
        }
        self.set[to] = matches!(number, Number::Known(_)) && for_own > NO_BLOCK * all;
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
        let mut placed = Placed::default();
        for block in self.region.block_ids() {
            placed.begins.push(self.numbers[begin_of(block)].map(|number| match number {
                Number::Register(_) => Number::Register(more.at(begin_of(block))),
                known => known,
            }));
            if let (true, Some(Number::Known(number))) =
                (self.set[end_of(block)], self.numbers[end_of(block)])
            {
                placed.at_ends.push((block, Op::SetPath(number as i64 - more.at(end_of(block)))));
            }
        }
        for way in &self.ways {
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
