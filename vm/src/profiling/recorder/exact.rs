//! The truth for branch traces: how often each full path of a region was run, counted by following every move.
//!
//! A thread has a stack of activations. Each remembers the blocks of the path that it is on, if it saw the path's beginning: the
//! entry of a region. An edge that leaves the region, and a return, end the path and count it; an error drops the paths of the
//! frames that it leaves. So a path is counted when it is over, and only as a whole.

use super::Event;
use super::blocks::BlockTable;
use crate::threads::ThreadNumber;
use hashbrown::HashMap;
use holloway_profilers::btb::{self, RegionOptions, Regions};
use holloway_profilers::{BlockId, MethodId};
use std::collections::BTreeMap;

/// An activation of a method.
#[derive(Clone, Debug)]
struct Activation {
    method: MethodId,
    /// The blocks of its path so far; empty if the beginning of the path was not seen.
    path: Vec<BlockId>,
    /// The block in which it is.
    at: BlockId,
}

/// Counts of the full paths of all regions.
pub(super) struct ExactPaths {
    /// By method.
    regions: Vec<Option<Regions>>,
    counts: Vec<HashMap<Vec<BlockId>, u64>>,
    running: ThreadNumber,
    stacks: BTreeMap<ThreadNumber, Vec<Activation>>,
    stack: Vec<Activation>,
}

/// A full path and how often it was run.
pub(super) type PathCount = (MethodId, Vec<BlockId>, u64);

impl ExactPaths {
    /// Nothing is counted yet.
    pub fn new(program: &btb::Program, methods: usize, options: RegionOptions) -> ExactPaths {
        let mut regions: Vec<Option<Regions>> = vec![None; methods];
        for (method, code) in program.methods() {
            regions[method.index()] = Regions::new(code, options).ok();
        }
        ExactPaths {
            counts: vec![HashMap::new(); methods],
            regions,
            running: 0,
            stacks: BTreeMap::new(),
            stack: Vec::new(),
        }
    }

    /// Control of the running thread moved.
    pub fn follow(&mut self, event: Event, blocks: &BlockTable) {
        let place = |word| blocks.block(word).map(|block| blocks.within(block));
        match event {
            Event::Start { at } => {
                self.stack.clear();
                self.enter(place(at), blocks.begins(at));
            }
            Event::Fall { to } | Event::Jump { to, .. } => {
                if let Some((_, to)) = place(to) {
                    self.edge(to);
                }
            }
            Event::Call { to, .. } => self.enter(place(to), true),
            Event::Return { to, .. } => {
                if let Some(activation) = self.stack.pop() {
                    self.count(activation.method, &activation.path);
                }
                if self.stack.is_empty() {
                    // The caller was there before anything was seen.
                    self.enter(place(to), false);
                }
            }
            Event::Caught { to, frames, .. } => {
                let left = self.stack.len().saturating_sub(frames as usize + 1);
                self.stack.truncate(left);
                self.enter(place(to), true);
            }
        }
    }

    /// An activation is first seen in a block; a path begins there if the block is entered and begins a region.
    fn enter(&mut self, place: Option<(MethodId, BlockId)>, enters: bool) {
        let Some((method, at)) = place else { return };
        let mut activation = Activation { method, path: Vec::new(), at };
        if enters && self.begins_region(method, at) {
            activation.path.push(at);
        }
        self.stack.push(activation);
    }

    fn begins_region(&self, method: MethodId, block: BlockId) -> bool {
        let regions = self.regions[method.index()].as_ref();
        regions.is_some_and(|regions| regions.of(block).is_some_and(|region| regions.entry(region) == block))
    }

    /// The innermost activation goes to a block.
    fn edge(&mut self, to: BlockId) {
        let Some(mut activation) = self.stack.pop() else { return };
        let method = activation.method;
        let inside =
            self.regions[method.index()].as_ref().is_some_and(|regions| regions.inside(activation.at, to));
        if inside {
            if !activation.path.is_empty() {
                activation.path.push(to);
            }
        } else {
            self.count(method, &activation.path);
            activation.path.clear();
            if self.begins_region(method, to) {
                activation.path.push(to);
            }
        }
        activation.at = to;
        self.stack.push(activation);
    }

    fn count(&mut self, method: MethodId, path: &[BlockId]) {
        if path.is_empty() {
            return;
        }
        let counts = &mut self.counts[method.index()];
        match counts.get_mut(path) {
            Some(count) => *count += 1,
            None => {
                counts.insert(path.to_vec(), 1);
            }
        }
    }

    /// This thread runs from here on.
    pub fn switch_to(&mut self, thread: ThreadNumber) {
        if thread != self.running {
            let parked = std::mem::take(&mut self.stack);
            self.stacks.insert(self.running, parked);
            self.stack = self.stacks.remove(&thread).unwrap_or_default();
            self.running = thread;
        }
    }

    /// A thread is over.
    pub fn thread_ends(&mut self, thread: ThreadNumber) {
        self.stacks.remove(&thread);
        if thread == self.running {
            self.stack.clear();
        }
    }

    /// All counts, in the order of methods and blocks.
    pub fn counts(&self) -> Vec<PathCount> {
        let of = |(method, counts): (u32, &HashMap<Vec<BlockId>, u64>)| {
            let mut counts: Vec<PathCount> =
                counts.iter().map(|(path, &count)| (MethodId(method), path.clone(), count)).collect();
            counts.sort();
            counts
        };
        (0..).zip(&self.counts).flat_map(of).collect()
    }
}
