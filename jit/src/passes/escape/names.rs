//! Which values may be names of objects, and where they are still needed.
//!
//! An object that no live value names, and to which no live object refers, is forgotten where a block begins. So a block
//! has to deal with few objects, and nothing is made that nobody needs any more.
//!
//! Live means what it always does (A. Appel, "Modern Compiler Implementation", section 10.1), with frame states as uses.

use super::analysis::is_candidate;
use crate::ir::{BlockId, Op, Region, StateId, Value};
use crate::passes::edit::Map;
use holloway_bytecode::Program;
use holloway_bytecode::cfg::FlowGraph;

/// A set of names.
type Set = Vec<u64>;

/// The names of a region.
pub struct Names {
    /// All of them.
    values: Vec<Value>,
    numbers: Map<Value, u32>,
    /// For each block those that are live where it begins, without its parameters.
    live: Vec<Set>,
}

impl Names {
    /// Finds them, and where they are live.
    pub fn of(region: &Region, program: &Program, graph: &FlowGraph) -> Names {
        let mut names = Names { values: Vec::new(), numbers: Map::default(), live: Vec::new() };
        loop {
            let before = names.values.len();
            for &block in graph.reverse_postorder() {
                names.collect(region, program, block);
            }
            if names.values.len() == before {
                break;
            }
        }
        names.live = Liveness::new(&names, region).solve(graph);
        names
    }

    /// The names that are live where a block begins, and are not its parameters.
    pub fn live_at(&self, block: BlockId) -> impl Iterator<Item = Value> {
        members(&self.live[block.index()]).map(|number| self.values[number])
    }

    fn add(&mut self, value: Value) {
        let next = self.values.len() as u32;
        if *self.numbers.entry(value).or_insert(next) == next {
            self.values.push(value);
        }
    }

    fn contains(&self, value: Value) -> bool {
        self.numbers.contains_key(&value)
    }

    fn collect(&mut self, region: &Region, program: &Program, id: BlockId) {
        let block = region.block(id);
        for &value in &block.nodes {
            let node = region.node(value);
            let passes_on = matches!(node.op, Op::LoadField(..) | Op::Assume) || node.op.is_check();
            let is_name = is_candidate(program, node.op).is_some()
                || node.ty.is_ref() && passes_on && self.contains(node.args[0]);
            if is_name {
                self.add(value);
            }
        }
        for target in block.end.targets() {
            for (&param, &arg) in region.block(target.block).params.iter().zip(&target.args) {
                if self.contains(arg) {
                    self.add(param);
                }
            }
        }
    }
}

/// The equations.
struct Liveness<'a> {
    names: &'a Names,
    region: &'a Region,
    words: usize,
    /// The names that states mention.
    states: Map<StateId, Vec<u32>>,
}

impl<'a> Liveness<'a> {
    fn new(names: &'a Names, region: &'a Region) -> Liveness<'a> {
        Liveness { names, region, words: names.values.len().div_ceil(64), states: Map::default() }
    }

    fn solve(mut self, graph: &FlowGraph) -> Vec<Set> {
        let empty = vec![0; self.words];
        let blocks = self.region.blocks.len();
        let (mut used, mut defined) = (vec![empty.clone(); blocks], vec![empty.clone(); blocks]);
        for &block in graph.reverse_postorder() {
            (used[block.index()], defined[block.index()]) = self.block(block);
        }
        let mut live = used.clone();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &block in graph.reverse_postorder().iter().rev() {
                for &next in graph.targets_of(block) {
                    for word in 0..self.words {
                        let more = live[next.index()][word]
                            & !defined[block.index()][word]
                            & !live[block.index()][word];
                        live[block.index()][word] |= more;
                        changed |= more != 0;
                    }
                }
            }
        }
        live
    }

    /// What a block uses before it defines it, and what it defines. Parameters are defined where it begins.
    fn block(&mut self, id: BlockId) -> (Set, Set) {
        let region = self.region;
        let (mut used, mut defined) = (vec![0; self.words], vec![0; self.words]);
        let block = region.block(id);
        block.end.values(|value| self.uses(value, &mut used));
        if let Some(state) = block.end.state() {
            self.state(state, &mut used);
        }
        for &value in block.nodes.iter().rev() {
            let node = region.node(value);
            self.defines(value, &mut used, &mut defined);
            node.args.iter().for_each(|&arg| self.uses(arg, &mut used));
            if let Some(state) = node.state {
                self.state(state, &mut used);
            }
        }
        block.params.iter().for_each(|&param| self.defines(param, &mut used, &mut defined));
        (used, defined)
    }

    fn defines(&self, value: Value, used: &mut Set, defined: &mut Set) {
        if let Some(&number) = self.names.numbers.get(&value) {
            used[number as usize / 64] &= !(1 << (number % 64));
            defined[number as usize / 64] |= 1 << (number % 64);
        }
    }

    fn uses(&self, value: Value, used: &mut Set) {
        if let Some(&number) = self.names.numbers.get(&value) {
            used[number as usize / 64] |= 1 << (number % 64);
        }
    }

    fn state(&mut self, state: StateId, used: &mut Set) {
        if !self.states.contains_key(&state) {
            let mut numbers = Vec::new();
            for (_, frame) in self.region.frames(state) {
                frame.registers.iter().for_each(|&(_, value)| self.mentioned(value, &mut numbers));
            }
            self.states.insert(state, numbers);
        }
        for &number in &self.states[&state] {
            used[number as usize / 64] |= 1 << (number % 64);
        }
    }

    /// The names that a value of a state is, or that the object described by it refers to.
    fn mentioned(&self, value: Value, numbers: &mut Vec<u32>) {
        numbers.extend(self.names.numbers.get(&value));
        if matches!(self.region.op(value), Op::Virtual(_)) {
            self.region.node(value).args.iter().for_each(|&arg| self.mentioned(arg, numbers));
        }
    }
}

/// The numbers in a set, ascending.
fn members(set: &Set) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(at, &word)| {
        std::iter::successors(Some(word), |&rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|&rest| rest != 0)
            .map(move |rest| at * 64 + rest.trailing_zeros() as usize)
    })
}
