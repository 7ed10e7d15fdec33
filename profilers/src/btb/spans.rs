//! A program whose regions span hot calls: which methods have [`Inlined`] graphs, and the runs of partial paths in these.
//!
//! What a method with hot sites runs is told in the blocks of its inlined graph: its own, and those of the callees that
//! these sites call, as often as it is these sites. A callee's own profile is not smaller for that: each of its
//! activations is one there, wherever it was called from. So a call belongs to one site at most, and nothing is counted
//! twice within a method.
//!
//! A trace names blocks and not the calls in them. The hot call of a block is the first one from it that calls the
//! callee. Where a trace does not show whether a block's hot call was before (it begins in that block, or a
//! return leads there from elsewhere, or the block was only added by extension), the run is cut between the halves.

use super::branch::Place;
use super::edges::EdgeCounts;
use super::inlined::{HotSite, InlineError, Inlined, Site};
use super::layout::{BlockCode, Program};
use super::partial::{Link, PartialPath};
use super::period::mix;
use super::runs::Run;
use crate::ids::{BlockId, MethodId};
use std::collections::BTreeMap;

/// A call that regions span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HotCall {
    /// The method that calls.
    pub caller: MethodId,
    /// From which of its blocks.
    pub block: BlockId,
    /// What it calls.
    pub callee: MethodId,
    /// Whether it cannot call anything else there.
    pub only: bool,
}

/// A program with regions that span calls.
#[derive(Debug, Clone)]
pub struct Spans {
    inlined: BTreeMap<MethodId, Inlined>,
    program: Program,
}

impl Spans {
    /// Of the calls of a program, in whatever order.
    ///
    /// # Errors
    ///
    /// If a caller, a callee or a block does not exist, or a block has two calls.
    pub fn new(program: &Program, calls: &[HotCall]) -> Result<Self, InlineError> {
        let mut calls = calls.to_vec();
        calls.sort();
        let mut spans = Self { inlined: BTreeMap::new(), program: program.clone() };
        for of_caller in calls.chunk_by(|a, b| a.caller == b.caller) {
            let caller = of_caller[0].caller;
            let code = program.method(caller).ok_or(InlineError::NoGraph(caller))?;
            let site = |call: &HotCall| {
                let graph = program.method(call.callee).ok_or(InlineError::NoGraph(call.callee))?;
                // Behind a call that never returns there would be blocks that nothing leads to.
                let mut blocks = (0..graph.len()).map(BlockId::new);
                let returns = blocks.any(|at| graph.reachable(at) && graph.successors(at).is_empty());
                Ok(HotSite { block: call.block, callee: call.callee, graph, only: call.only && returns })
            };
            let sites = of_caller.iter().map(site).collect::<Result<Vec<_>, InlineError>>()?;
            let inlined = Inlined::new(caller, code, &sites)?;
            let number = |site: &Site| {
                let ids = u64::from(site.block.0) << 32 | u64::from(site.callee.0);
                mix(ids) ^ u64::from(site.only)
            };
            // Runs in other graphs are of other code.
            let sites = inlined.sites();
            let fingerprint = sites.iter().fold(code.fingerprint(), |sum, site| mix(sum) ^ number(site));
            let spanned = inlined.code(fingerprint).map_err(|_| InlineError::NoGraph(caller))?;
            let size = |block: BlockId| program.method(caller).map_or(0, |code| code.size(block));
            let mut sizes: Vec<u64> = (0..code.len()).map(|block| size(BlockId::new(block))).collect();
            for site in sites {
                let Some(callee) = program.method(site.callee) else { continue };
                // Where in its block the call is, nobody says here: all instructions are in the first half.
                sizes.push(0);
                sizes.extend((0..callee.len()).map(|block| callee.size(BlockId::new(block))));
            }
            let sizes = sizes.into_iter().map(|size| BlockCode::of_size(size.min(u32::MAX.into()) as u32));
            spans.program.insert(caller, spanned.with_code(sizes.collect()));
            spans.inlined.insert(caller, inlined);
        }
        Ok(spans)
    }

    /// The inlined graphs in the order of their methods.
    pub fn all(&self) -> impl Iterator<Item = &Inlined> {
        self.inlined.values()
    }

    /// The graphs in which regions are formed: those of methods with hot sites are inlined ones.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The inlined graph of a method that has one.
    #[must_use]
    pub fn inlined(&self, method: MethodId) -> Option<&Inlined> {
        self.inlined.get(&method)
    }

    /// The hot site of a block; nothing of blocks of inlined graphs that are not whole blocks of the method.
    #[must_use]
    pub fn site(&self, method: MethodId, block: BlockId) -> Option<Site> {
        self.inlined.get(&method)?.site(block)
    }

    /// Counts of edges as those of the spanning graphs. A copy of a callee goes its ways as all of its activations do:
    /// an edge profile knows no callers.
    #[must_use]
    pub fn edges(&self, counts: &EdgeCounts) -> EdgeCounts {
        let mut spanned = EdgeCounts::new();
        let mut copies: BTreeMap<MethodId, Vec<(MethodId, Site)>> = BTreeMap::new();
        for (&method, inlined) in &self.inlined {
            for &site in inlined.sites() {
                copies.entry(site.callee).or_default().push((method, site));
            }
        }
        for (method, from, to, count) in counts.iter() {
            let out = self.site(method, from).map_or(from, |site| site.after);
            spanned.add(method, out, to, count);
            for (caller, site) in copies.get(&method).into_iter().flatten() {
                spanned.add(*caller, site.copy_of(from), site.copy_of(to), count);
            }
        }
        spanned
    }

    /// The runs of a partial path, in the order in which they end. A call suspends a run, and the matching return
    /// continues it; a hot one is part of it.
    #[must_use]
    pub fn runs(&self, path: &PartialPath) -> Vec<Run> {
        let mut walk = Walk { spans: self, runs: Vec::new(), stack: Vec::new() };
        let shown = path.above..path.steps.len() - path.below;
        for (at, step) in path.steps.iter().enumerate() {
            let here = match step.place {
                Place::At { method, block } => Some((method, block)),
                Place::Outside | Place::Missing => None,
            };
            match step.link {
                Link::FallThrough | Link::Taken => {
                    // What is in front of the first branch, and behind the last one, was not seen to call anything.
                    walk.edge(here, shown.contains(&at), at > shown.start);
                }
                Link::Call => walk.call(here),
                Link::Return => walk.ret(here),
                Link::Start | Link::Transfer => {
                    walk.finish();
                    walk.begin(here, step.link == Link::Transfer);
                }
            }
        }
        walk.finish();
        walk.runs
    }
}

/// An activation on the path.
struct Activation {
    method: MethodId,
    /// In the blocks of its graph, the inlined one if there is one. Never empty.
    run: Vec<BlockId>,
    /// Whether the path shows how the last block was entered, and thus all that it called so far.
    entered: bool,
    /// The caller's hot site at which it was called.
    hot: Option<Site>,
    /// If the path does not show where it was called: its blocks as they are.
    plain: Option<Vec<BlockId>>,
}

/// An activation leaves its block, which may have a hot call that it did not make: if that is certain something else was called, else the
/// run is cut. Returns the run before.
fn leave(activation: &mut Activation, spans: &Spans, shown: bool) -> Option<Run> {
    let site = activation.run.last().and_then(|&last| spans.site(activation.method, last))?;
    if activation.entered && shown && !site.only {
        activation.run.push(site.after);
        return None;
    }
    let blocks = std::mem::replace(&mut activation.run, vec![site.after]);
    Some(Run { method: activation.method, blocks })
}

struct Walk<'s> {
    spans: &'s Spans,
    runs: Vec<Run>,
    /// `None` stands for an activation outside of the program.
    stack: Vec<Option<Activation>>,
}

impl Walk<'_> {
    fn emit(&mut self, activation: Option<Activation>) {
        self.runs.extend(activation.map(|of| Run { method: of.method, blocks: of.run }));
    }

    fn finish(&mut self) {
        while let Some(top) = self.stack.pop() {
            self.emit(top);
        }
    }

    /// The path begins in an activation whose caller it does not show.
    fn begin(&mut self, here: Option<(MethodId, BlockId)>, entered: bool) {
        let activation = here.map(|(method, block)| Activation {
            method,
            run: vec![block],
            entered,
            hot: None,
            plain: Some(vec![block]),
        });
        self.stack.push(activation);
    }

    /// `shown`: by a branch of the trace, or a fall between two. `entered`: so is all from the block's beginning on.
    fn edge(&mut self, here: Option<(MethodId, BlockId)>, shown: bool, entered: bool) {
        let (Some(Some(top)), Some((_, block))) = (self.stack.last_mut(), here) else {
            let outside = self.stack.pop().flatten();
            self.emit(outside);
            return self.begin(here, entered);
        };
        let cut = leave(top, self.spans, shown);
        top.run.push(block);
        top.entered = entered;
        top.plain.iter_mut().for_each(|plain| plain.push(block));
        let hot = top.hot;
        self.runs.extend(cut);
        self.tell_caller(hot, |site| site.copy_of(block));
    }

    /// The caller's run goes on within a hot call: the callee is on top of the stack.
    fn tell_caller(&mut self, hot: Option<Site>, block: impl Fn(Site) -> BlockId) {
        let below = self.stack.len().checked_sub(2);
        if let (Some(site), Some(Some(Some(caller)))) = (hot, below.map(|at| self.stack.get_mut(at))) {
            caller.run.push(block(site));
        }
    }

    fn call(&mut self, here: Option<(MethodId, BlockId)>) {
        let caller = self.stack.last().and_then(Option::as_ref);
        let site = caller.and_then(|caller| self.spans.site(caller.method, *caller.run.last()?));
        let hot = site.filter(|site| here.is_some_and(|(method, _)| method == site.callee));
        let activation = here.map(|(method, block)| Activation {
            method,
            run: vec![block],
            entered: true,
            hot,
            plain: None,
        });
        self.stack.push(activation);
        if let Some((_, block)) = here {
            self.tell_caller(hot, |site| site.copy_of(block));
        }
    }

    fn ret(&mut self, here: Option<(MethodId, BlockId)>) {
        let hot = self.stack.last().and_then(Option::as_ref).and_then(|top| top.hot);
        self.tell_caller(hot, |site| site.after);
        let mut over = self.stack.pop().flatten();
        self.runs.extend(over.as_mut().and_then(|over| leave(over, self.spans, true)));
        let called = over.as_mut().and_then(|over| Some((over.method, over.plain.take()?)));
        self.emit(over);
        if !self.stack.is_empty() {
            return;
        }
        self.begin(here, false);
        let (Some(Some(caller)), Some((method, blocks))) = (self.stack.last_mut(), called) else { return };
        let site = caller.run.last().and_then(|&last| self.spans.site(caller.method, last));
        if let Some(site) = site.filter(|site| site.callee == method) {
            // The caller was at the hot site after all.
            caller.run = blocks.into_iter().map(|block| site.copy_of(block)).chain([site.after]).collect();
        }
    }
}
