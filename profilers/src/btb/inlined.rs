//! Regions across hot call edges (open question M1, ours): one graph made of a method and the callees at its hot call
//! sites.
//!
//! A call does not end a block, so a block with a hot site is halved: the half before the call keeps the block's
//! number and leads to a copy of the callee's entry; all blocks in which the callee ends lead to the half after the
//! call. (Some of these may throw rather than return; such an edge is just never seen.) What comes out is control
//! flow like any other: regions and full paths of it span the call, and a partial path that crosses it is translated
//! instead of split.
//!
//! A site at which something else may be called, too, has an edge from half to half for that.
//!
//! Kept simple: one level, one hot site for each block (whoever has more splits the block first). Numbering: the
//! method's own blocks as they are, then for each site its second half and the callee's blocks.

use super::layout::{Layout, LayoutError, MethodCode};
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
    /// Whether nothing else can be called there.
    pub only: bool,
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

/// A hot site in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The first half of its block.
    pub block: BlockId,
    /// Which method is called.
    pub callee: MethodId,
    /// Whether nothing else can be called there.
    pub only: bool,
    /// The second half; the callee's blocks come behind it.
    pub after: BlockId,
}

impl Site {
    /// The copy of a block of the callee.
    #[must_use]
    pub fn copy_of(&self, block: BlockId) -> BlockId {
        BlockId(self.after.0 + 1 + block.0)
    }
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
            let placed = Site { block: site.block, callee: site.callee, only: site.only, after };
            let moved = |block| placed.copy_of(block);
            let around = (!site.only).then_some(after);
            let before = &mut inlined.successors[site.block.index()];
            let continued =
                std::mem::replace(before, [moved(site.graph.entry())].into_iter().chain(around).collect());
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
            inlined.sites.push(placed);
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

    /// The method.
    #[must_use]
    pub fn method(&self) -> MethodId {
        self.method
    }

    /// The sites, in the order of their second halves.
    #[must_use]
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The site that a block is the first half of.
    #[must_use]
    pub fn site(&self, block: BlockId) -> Option<Site> {
        let index = self.site_in.get(block.index()).copied().flatten()?;
        self.sites.get(index).copied()
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
