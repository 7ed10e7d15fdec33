//! Regions across hot call edges (open question M1, ours): one graph made of a method and the callees at its hot call
//! sites.
//!
//! A call does not end a block, so a block with a hot site is halved: the half before the call keeps the block's
//! number and leads to a copy of the callee's entry; all blocks in which the callee ends lead to the half after the
//! call. (Some of these may throw rather than return; such an edge is just never seen.) What comes out is control
//! flow like any other: regions and full paths of it span the call, and a partial path that crosses it is translated
//! instead of split.
//!
//! Kept simple: one level, one hot site for each block (whoever has more splits the block first). Numbering: the
//! method's own blocks as they are, then for each site its second half and the callee's blocks.

use super::branch::Place;
use super::layout::{Layout, LayoutError, MethodCode};
use super::partial::{Link, PartialPath, Step};
use crate::graph::ControlFlow;
use crate::ids::{BlockId, MethodId};
use std::fmt;

/// A call site worth spanning.
#[derive(Clone, Copy)]
pub struct HotSite<'g> {
    /// The block whose middle has the call.
    pub block: BlockId,
    /// Which method is called.
    pub callee: MethodId,
    /// Its graph.
    pub graph: &'g dyn ControlFlow,
}

/// Why a graph cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InlineError {
    /// The method has no such block.
    NoSuchBlock(BlockId),
    /// The block has two hot sites.
    TwoSites(BlockId),
    /// The callee's graph has no block, or leads to one that it does not have.
    NoGraph(MethodId),
}

impl fmt::Display for InlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchBlock(block) => write!(f, "the method has no block {block} for a hot site"),
            Self::TwoSites(block) => write!(f, "block {block} has two hot sites, but one is possible"),
            Self::NoGraph(method) => write!(f, "{method} has no graph with an entry"),
        }
    }
}

impl std::error::Error for InlineError {}

/// What part of a block a block of the inlined graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Up to the hot call.
    BeforeCall,
    /// From the hot call's return on.
    AfterCall,
}

/// Where a block of the inlined graph comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The method.
    pub method: MethodId,
    /// Its block.
    pub block: BlockId,
    /// Which part.
    pub part: Part,
}

/// A method with the callees at its hot sites as one graph.
#[derive(Debug, Clone)]
pub struct Inlined {
    method: MethodId,
    entry: BlockId,
    entries: Vec<BlockId>,
    successors: Vec<Vec<BlockId>>,
    origins: Vec<Origin>,
    sites: Vec<Site>,
    /// The site in each of the method's own blocks.
    site_in: Vec<Option<usize>>,
}

#[derive(Debug, Clone)]
struct Site {
    callee: MethodId,
    after: BlockId,
}

impl Inlined {
    /// Builds the graph.
    ///
    /// # Errors
    ///
    /// If a site's block does not exist or has two, or a callee has no graph.
    pub fn new(
        method: MethodId,
        graph: &dyn ControlFlow,
        sites: &[HotSite<'_>],
    ) -> Result<Self, InlineError> {
        let ids = |graph: &dyn ControlFlow| (0..graph.blocks()).map(BlockId::new).collect::<Vec<_>>();
        let own = ids(graph);
        let mut inlined = Self {
            method,
            entry: graph.entry(),
            entries: graph.entries().to_vec(),
            successors: own.iter().map(|&block| graph.successors(block).to_vec()).collect(),
            origins: own.iter().map(|&block| Origin { method, block, part: Part::Whole }).collect(),
            sites: Vec::new(),
            site_in: vec![None; own.len()],
        };
        for site in sites {
            let in_block = inlined.site_in.get_mut(site.block.index());
            let in_block = in_block.ok_or(InlineError::NoSuchBlock(site.block))?;
            if in_block.replace(inlined.sites.len()).is_some() {
                return Err(InlineError::TwoSites(site.block));
            }
            let blocks = ids(site.graph);
            let exists = |block: &BlockId| block.index() < blocks.len();
            let sound = exists(&site.graph.entry())
                && site.graph.entries().iter().all(exists)
                && blocks.iter().all(|&block| site.graph.successors(block).iter().all(exists));
            if !sound {
                return Err(InlineError::NoGraph(site.callee));
            }
            let after = BlockId::new(inlined.successors.len());
            let moved = |block: BlockId| BlockId(after.0 + 1 + block.0);
            let before = &mut inlined.successors[site.block.index()];
            let continued = std::mem::replace(before, vec![moved(site.graph.entry())]);
            inlined.successors.push(continued);
            inlined.origins[site.block.index()].part = Part::BeforeCall;
            inlined.origins.push(Origin { method, block: site.block, part: Part::AfterCall });
            for &block in &blocks {
                let successors = site.graph.successors(block);
                let returns = if successors.is_empty() { Some(after) } else { None };
                inlined.successors.push(successors.iter().map(|&to| moved(to)).chain(returns).collect());
                inlined.origins.push(Origin { method: site.callee, block, part: Part::Whole });
            }
            inlined.entries.extend(site.graph.entries().iter().map(|&block| moved(block)));
            inlined.sites.push(Site { callee: site.callee, after });
        }
        Ok(inlined)
    }

    /// Where a block comes from.
    #[must_use]
    pub fn origin(&self, block: BlockId) -> Option<Origin> {
        self.origins.get(block.index()).copied()
    }

    /// The graph in the form of the analysis, without a layout: its paths are translated, not reconstructed.
    ///
    /// # Errors
    ///
    /// If the method's own graph has edges to blocks that do not exist.
    pub fn code(&self, fingerprint: u64) -> Result<MethodCode, LayoutError> {
        MethodCode::new(self, Layout::Arms(&vec![None; self.successors.len()]), fingerprint)
    }

    /// The runs of a partial path through this graph. A hot call that the path shows is passed; what the path does
    /// not show (a hot site that it left without the call, because it began or was extended there) cuts it. Calls to
    /// other methods suspend a run until they return.
    #[must_use]
    pub fn translate(&self, path: &PartialPath) -> Vec<Vec<BlockId>> {
        let mut translation = Translation {
            graph: self,
            done: Vec::new(),
            run: Vec::new(),
            frames: Vec::new(),
            unclaimed: None,
        };
        path.steps.iter().for_each(|step| translation.step(step));
        translation.finish();
        translation.done
    }

    fn site_before(&self, block: Option<&BlockId>) -> Option<&Site> {
        let index = self.site_in.get(block?.index()).copied().flatten()?;
        self.sites.get(index)
    }
}

impl ControlFlow for Inlined {
    fn blocks(&self) -> usize {
        self.successors.len()
    }

    fn entry(&self) -> BlockId {
        self.entry
    }

    fn entries(&self) -> &[BlockId] {
        &self.entries
    }

    fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block.index()]
    }
}

#[derive(Clone, Copy)]
enum Frame {
    /// In the method itself.
    Own,
    /// In the callee of the hot site with this second half.
    Callee(BlockId),
    /// In a method that is not part of the graph here.
    Away,
}

struct Translation<'g> {
    graph: &'g Inlined,
    done: Vec<Vec<BlockId>>,
    run: Vec<BlockId>,
    frames: Vec<Frame>,
    /// Blocks of a method in the lowest frame, whose caller is not known yet: perhaps a hot site.
    unclaimed: Option<(MethodId, Vec<BlockId>)>,
}

impl Translation<'_> {
    fn finish(&mut self) {
        if !self.run.is_empty() {
            self.done.push(std::mem::take(&mut self.run));
        }
    }

    fn begin(&mut self, place: Place) {
        self.finish();
        self.frames.clear();
        self.unclaimed = None;
        match place {
            Place::At { method, block } if method == self.graph.method => {
                self.frames.push(Frame::Own);
                self.run.push(block);
            }
            place => {
                self.frames.push(Frame::Away);
                if let Place::At { method, block } = place {
                    self.unclaimed = Some((method, vec![block]));
                }
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match (step.link, self.frames.last().copied()) {
            (Link::Start | Link::Transfer, _) | (_, None) => self.begin(step.place),
            (Link::FallThrough | Link::Taken, Some(frame)) => self.edge(frame, step.place),
            (Link::Call, Some(frame)) => self.call(frame, step.place),
            (Link::Return, Some(frame)) => self.ret(frame, step.place),
        }
    }

    fn edge(&mut self, frame: Frame, place: Place) {
        let Place::At { block, .. } = place else { return };
        match frame {
            Frame::Own => {
                if let Some(site) = self.graph.site_before(self.run.last()) {
                    self.finish();
                    self.run.push(site.after);
                }
                self.run.push(block);
            }
            Frame::Callee(after) => self.run.push(BlockId(after.0 + 1 + block.0)),
            Frame::Away => {
                if let (1, Some((_, blocks))) = (self.frames.len(), &mut self.unclaimed) {
                    blocks.push(block);
                }
            }
        }
    }

    fn call(&mut self, frame: Frame, place: Place) {
        let site = match frame {
            Frame::Own => self.graph.site_before(self.run.last()),
            _ => None,
        };
        match (site, place) {
            (Some(site), Place::At { method, block }) if site.callee == method => {
                self.frames.push(Frame::Callee(site.after));
                self.run.push(BlockId(site.after.0 + 1 + block.0));
            }
            _ => self.frames.push(Frame::Away),
        }
    }

    fn ret(&mut self, frame: Frame, place: Place) {
        self.frames.pop();
        if !self.frames.is_empty() {
            if let Frame::Callee(after) = frame {
                self.run.push(after);
            }
            return;
        }
        let callee = self.unclaimed.take();
        self.begin(place);
        let (Some((method, blocks)), [Frame::Own]) = (callee, &self.frames[..]) else { return };
        if let Some(site) = self.graph.site_before(self.run.last()).filter(|site| site.callee == method) {
            // The caller was the hot site after all.
            let after = site.after;
            self.run.clear();
            self.run.extend(blocks.iter().map(|block| BlockId(after.0 + 1 + block.0)));
            self.run.push(after);
        }
    }
}
