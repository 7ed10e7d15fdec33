//! The truth for branch traces: how often each full path of a region was run, counted by following every move.
//!
//! A thread has a stack of activations. Each remembers the blocks of the path that it is on, if it saw the path's beginning: the
//! entry of a region. An edge that leaves the region, and a return, end the path and count it; an error drops the paths of the
//! frames that it leaves. So a path is counted when it is over, and only as a whole.
//!
//! Where regions span hot calls ([`Spans`]), an activation that such a site called tells its caller where it goes, beside its own
//! paths: the caller goes to the copy of each of its blocks, and after the return to the second half of its own. If the callee
//! throws, the caller's path is lost with it; a handler in the callee begins a path of both. Where the halves of a block cannot
//! be told, as control was found in the middle of it, the caller's path is lost.

use super::Event;
use super::blocks::BlockTable;
use crate::threads::ThreadNumber;
use hashbrown::HashMap;
use holloway_profilers::btb::{self, RegionOptions, Regions, Site, Spans};
use holloway_profilers::{BlockId, MethodId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An activation of a method.
#[derive(Clone, Debug)]
struct Activation {
    method: MethodId,
    /// The blocks of its path so far; empty if the beginning of the path was not seen.
    path: Vec<BlockId>,
    /// The block in which it is, of the graph with hot callees if there is one.
    at: BlockId,
    /// Was that block seen to be entered, so that all is known that it called.
    entered: bool,
    /// The hot site in the activation below that called it.
    hot: Option<Site>,
}

/// Counts of the full paths of all regions.
pub(super) struct ExactPaths {
    /// By method.
    regions: Vec<Option<Regions>>,
    counts: Vec<HashMap<Vec<BlockId>, u64>>,
    spans: Option<Arc<Spans>>,
    running: ThreadNumber,
    stacks: BTreeMap<ThreadNumber, Vec<Activation>>,
    stack: Vec<Activation>,
}

/// A full path and how often it was run.
pub(super) type PathCount = (MethodId, Vec<BlockId>, u64);

impl ExactPaths {
    /// Nothing is counted yet. The program's graphs are those of the spans if there are some.
    pub fn new(
        program: &btb::Program,
        methods: usize,
        options: RegionOptions,
        spans: Option<Arc<Spans>>,
    ) -> ExactPaths {
        let mut regions: Vec<Option<Regions>> = vec![None; methods];
        for (method, code) in program.methods() {
            regions[method.index()] = Regions::new(code, options).ok();
        }
        ExactPaths {
            counts: vec![HashMap::new(); methods],
            regions,
            spans,
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
                self.enter(place(at), blocks.begins(at), None);
            }
            Event::Fall { to } | Event::Jump { to, .. } => {
                if let Some((_, to)) = place(to) {
                    self.edge(to);
                }
            }
            Event::Call { to, .. } => self.call(place(to)),
            Event::Return { to, .. } => self.ret(place(to)),
            Event::Caught { to, frames, .. } => self.caught(place(to), frames),
        }
    }

    /// The hot site in the first half of whose block an activation is.
    fn site(&self, activation: &Activation) -> Option<Site> {
        self.spans.as_ref()?.site(activation.method, activation.at)
    }

    fn call(&mut self, place: Option<(MethodId, BlockId)>) {
        let site = self.stack.last().and_then(|caller| self.site(caller));
        let hot = site.filter(|site| place.is_some_and(|(method, _)| method == site.callee));
        if let (Some(site), Some((_, block))) = (hot, place) {
            self.go(self.stack.len() - 1, site.copy_of(block));
        }
        self.enter(place, true, hot);
    }

    fn ret(&mut self, place: Option<(MethodId, BlockId)>) {
        self.leave();
        let over = self.stack.pop();
        if let Some(activation) = &over {
            self.count(activation.method, &activation.path);
            if let (Some(site), Some(caller)) = (activation.hot, self.stack.len().checked_sub(1)) {
                self.go(caller, site.after);
            }
        }
        if !self.stack.is_empty() {
            return;
        }
        // The caller was there before anything was seen.
        self.enter(place, false, None);
        let Some(mut caller) = self.stack.pop() else { return };
        let site = self.site(&caller).filter(|site| over.is_some_and(|over| over.method == site.callee));
        caller.at = site.map_or(caller.at, |site| site.after);
        self.stack.push(caller);
    }

    /// An error went so many frames further out, where a handler takes it.
    fn caught(&mut self, place: Option<(MethodId, BlockId)>, frames: u64) {
        let left = self.stack.len().saturating_sub(frames as usize + 1);
        let hot = self.stack.get(left).and_then(|catches| catches.hot).filter(|_| left > 0);
        self.stack.truncate(left);
        if let (Some(site), Some((_, block)), Some(caller)) = (hot, place, self.stack.last_mut()) {
            // Handlers are entries of the caller's graph, too.
            let (method, at) = (caller.method, site.copy_of(block));
            caller.path.clear();
            caller.at = at;
            if self.begins_region(method, at)
                && let Some(caller) = self.stack.last_mut()
            {
                caller.path.push(at);
            }
        }
        self.enter(place, true, hot);
    }

    /// An activation is first seen in a block; a path begins there if the block is entered and begins a region.
    fn enter(&mut self, place: Option<(MethodId, BlockId)>, entered: bool, hot: Option<Site>) {
        let Some((method, at)) = place else { return };
        let mut activation = Activation { method, path: Vec::new(), at, entered, hot };
        if entered && self.begins_region(method, at) {
            activation.path.push(at);
        }
        self.stack.push(activation);
    }

    fn begins_region(&self, method: MethodId, block: BlockId) -> bool {
        let regions = self.regions[method.index()].as_ref();
        regions.is_some_and(|regions| regions.of(block).is_some_and(|region| regions.entry(region) == block))
    }

    /// The innermost activation leaves its block, which may have a hot call that it did not make: if that is certain something else was
    /// called.
    fn leave(&mut self) {
        let Some(top) = self.stack.len().checked_sub(1) else { return };
        let Some(site) = self.site(&self.stack[top]) else { return };
        if self.stack[top].entered && !site.only {
            self.go(top, site.after);
        } else {
            let activation = &mut self.stack[top];
            activation.path.clear();
            activation.at = site.after;
        }
    }

    /// The innermost activation goes to a block of its method.
    fn edge(&mut self, to: BlockId) {
        let Some(top) = self.stack.len().checked_sub(1) else { return };
        self.leave();
        self.go(top, to);
        self.stack[top].entered = true;
        if let (Some(site), Some(caller)) = (self.stack[top].hot, top.checked_sub(1)) {
            self.go(caller, site.copy_of(to));
        }
    }

    /// An activation goes to a block of its graph.
    fn go(&mut self, of: usize, to: BlockId) {
        let Some(activation) = self.stack.get_mut(of) else { return };
        let (method, at) = (activation.method, activation.at);
        let mut path = std::mem::take(&mut activation.path);
        let inside = self.regions[method.index()].as_ref().is_some_and(|regions| regions.inside(at, to));
        if inside {
            if !path.is_empty() {
                path.push(to);
            }
        } else {
            self.count(method, &path);
            path.clear();
            if self.begins_region(method, to) {
                path.push(to);
            }
        }
        let activation = &mut self.stack[of];
        (activation.path, activation.at) = (path, to);
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
