//! Profiles made from a trace in the most obvious way: every activation is followed step by step, its walk is cut where the trace says
//! that paths end, and what is the same is counted. No numbers of paths, no graph, no plan: a path is the list of its blocks and edges.

use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::count_ngrams;
use holloway_profilers::paths::{Begin, End};
use holloway_profilers::{BlockId, BranchArm, Edge, PathNumber, VersionId};
use holloway_vm::profiling::{Collected, CollectedVersion, Step, Traced};
use std::collections::{BTreeMap, BTreeSet};

/// A path as one walks it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Walk {
    /// Of which code.
    pub version: VersionId,
    /// Does it begin where another ended, in its first block, and not where the code is entered.
    pub goes_on: bool,
    /// The blocks, in order. Where it begins and ends in the middle of a block, that block is there all the same.
    pub blocks: Vec<BlockId>,
    /// The edges from each to the next: two may lead from a block to another.
    pub edges: Vec<Edge>,
    /// Does another begin where it ends, in its last block.
    pub is_cut: bool,
}

/// What a trace comes to.
#[derive(Debug, Default)]
pub struct Walks {
    /// How often which branch went which way.
    pub edges: EdgeProfile,
    /// How often each path was walked to its end.
    pub paths: BTreeMap<Walk, u64>,
    /// The paths of each activation, in order.
    pub sequences: Vec<Vec<Walk>>,
    /// Activations that never returned.
    pub unfinished: u64,
    /// Activations whose last path ended and which were left then, at the yieldpoint of the return.
    pub left_at_return: u64,
}

/// An activation on its way.
struct Activation {
    version: VersionId,
    goes_on: bool,
    blocks: Vec<BlockId>,
    edges: Vec<Edge>,
    /// The last edge was taken, the block at its end is not reached.
    on_edge: bool,
    paths: Vec<Walk>,
    returned: bool,
    gone: bool,
}

impl Activation {
    fn end(&mut self, is_cut: bool) {
        let (blocks, edges) = (std::mem::take(&mut self.blocks), std::mem::take(&mut self.edges));
        let last = blocks.last().copied();
        self.paths.push(Walk { version: self.version, goes_on: self.goes_on, blocks, edges, is_cut });
        if is_cut {
            self.blocks.extend(last);
        }
        self.goes_on = true;
    }

    /// Goes a step. False if no code could do that here.
    fn step(&mut self, step: Step) -> bool {
        let here = self.blocks.last().copied();
        let stands = |block| !self.on_edge && here == Some(block);
        match step {
            Step::Block(block) => {
                let fits = match here {
                    None => !self.returned && block == BlockId(0),
                    Some(_) => self.on_edge,
                };
                self.on_edge = false;
                self.blocks.push(block);
                fits
            }
            Step::Edge(edge) => {
                let fits = stands(edge.from);
                self.on_edge = true;
                self.edges.push(edge);
                fits
            }
            Step::Cut(block) => {
                let fits = stands(block);
                self.end(true);
                fits
            }
            Step::Return(block) => {
                let fits = stands(block);
                self.end(false);
                fits && !std::mem::replace(&mut self.returned, true)
            }
            Step::Gone(_) => self.returned && !std::mem::replace(&mut self.gone, true),
        }
    }
}

impl Walks {
    /// Follows a trace. `Err` if it is none of running code.
    pub fn of(found: &Collected) -> Result<Walks, String> {
        let outcomes: BTreeMap<(VersionId, Edge), BranchArm> = found
            .versions
            .iter()
            .flat_map(|code| code.outcomes.iter().map(|&(edge, outcome)| ((code.version, edge), outcome)))
            .collect();
        let mut walks = Walks::default();
        let mut activations: BTreeMap<u64, Activation> = BTreeMap::new();
        for &Traced { activation, version, step } in &found.trace {
            let walker = activations.entry(activation).or_insert_with(|| Activation {
                version,
                goes_on: false,
                blocks: Vec::new(),
                edges: Vec::new(),
                on_edge: false,
                paths: Vec::new(),
                returned: false,
                gone: false,
            });
            if let Step::Edge(edge) = step
                && let Some(&outcome) = outcomes.get(&(version, edge))
            {
                walks.edges.add(outcome, 1);
            }
            if walker.version != version || !walker.step(step) {
                return Err(format!("activation {activation} of {version} cannot do {step:?}"));
            }
        }
        for (_, Activation { paths, returned, gone, .. }) in activations {
            walks.unfinished += u64::from(!returned);
            walks.left_at_return += u64::from(returned && !gone);
            for path in &paths {
                *walks.paths.entry(path.clone()).or_default() += 1;
            }
            walks.sequences.push(paths);
        }
        Ok(walks)
    }

    /// How often each sequence of up to `k` paths occurs within an activation.
    pub fn sequences_of(&self, k: usize) -> BTreeMap<Vec<Walk>, u64> {
        let names: BTreeSet<&Walk> = self.paths.keys().collect();
        let names: Vec<&Walk> = names.into_iter().collect();
        let number = |walk: &Walk| names.binary_search(&walk).map_or(PathNumber::MAX, |at| at as PathNumber);
        let numbers: Vec<Vec<PathNumber>> =
            self.sequences.iter().map(|walks| walks.iter().map(number).collect()).collect();
        // Names say of which code they are.
        let counts = count_ngrams(k, numbers.iter().map(|numbers| (VersionId(0), &numbers[..])));
        let walk = |number: PathNumber| names[number as usize].clone();
        counts
            .into_iter()
            .map(|((_, numbers), count)| (numbers.into_iter().map(walk).collect(), count))
            .collect()
    }
}

/// What a number of a profile means. `Err` if it means nothing that one could walk.
pub fn walk_of(code: &CollectedVersion, number: PathNumber) -> Result<Walk, String> {
    let version = code.version;
    let path = code.dag.as_ref().and_then(|dag| dag.decode(number));
    let path = path.ok_or_else(|| format!("path {number} of {version} is none"))?;
    let (first, last) = (path.blocks.first().copied(), path.blocks.last().copied());
    let goes_on = match path.begin {
        Begin::Method if first == Some(BlockId(0)) => false,
        Begin::Cut(block) if first == Some(block) => true,
        other => return Err(format!("path {number} of {version} begins with {other:?}")),
    };
    let is_cut = match path.end {
        End::Exit(block) if last == Some(block) => false,
        End::Cut(block) if last == Some(block) => true,
        other => return Err(format!("path {number} of {version} ends with {other:?}")),
    };
    Ok(Walk { version, goes_on, blocks: path.blocks, edges: path.edges, is_cut })
}
