//! From a trace to a partial path: what lies between taken branches, and what is certain around them (section 3.2).
//!
//! The branches are walked in order. Between the target t of one and the source s of the next, control fell through:
//! had another branch been taken, it would be in the ring. So s lies on t's chain of fall-throughs, or the trace is
//! wrong, as a whole, and is discarded under a named reason ([`Discard`]): hardware is imprecise, and a trace that
//! contradicts the code cannot be half believed. Then the path is extended up while its first block can only have
//! been reached in one way (not beyond a join, not beyond a block where control arrives without an edge) and down
//! while its last block has one successor. Steps are whole blocks, calls within them apart: that is what full paths are made of. How far a
//! path reaches within its first and last blocks, and into what these call, says [`Extent`](super::extent::Extent).
//!
//! Ours: records say what kind of branch they are, so that calls and returns must match each other; the place where
//! the program stood extends the last run exactly; with [`repair`](Reconstruction::repair), a source or target that
//! is missing or impossible is replaced if the code leaves exactly one possibility (the paper's "bit of guesswork").
//!
//! Cost: O(branches + length of the path); a damaged record is found out in O(log methods + arms), a guess costs the
//! length of a chain of fall-throughs.

use super::branch::{BranchKind, Place, TakenBranch, Trace};
use super::layout::{MethodCode, Program};
use crate::ids::{BlockId, MethodId};
use std::collections::BTreeSet;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $name:ident => $text:literal;)*) => {
        /// Why a trace was discarded.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Discard { $($(#[doc = $doc])* $name,)* }

        impl Discard {
            /// All reasons, in the order of their numbers.
            pub const ALL: &'static [Discard] = &[$(Discard::$name),*];

            /// The reason in words.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Discard::$name => $text),* }
            }
        }
    };
}

reasons! {
    /// There is no branch.
    Empty => "the trace has no branches";
    /// A source was not recorded.
    SourceMissing => "a source was not recorded";
    /// A target was not recorded and cannot be concluded.
    TargetMissing => "a target was not recorded";
    /// A place names a method that the program does not have.
    UnknownMethod => "a method does not exist";
    /// A place names a block that its method does not have, or that no entry leads to.
    UnknownBlock => "a block does not exist or cannot be reached";
    /// The next source is not in the method where control had arrived.
    OtherMethod => "control is found in another method than it went to";
    /// Control does not fall from where it had arrived to the next source.
    NotFallenInto => "control does not fall through to the next branch";
    /// There is no edge from source to target.
    NoSuchEdge => "there is no such edge";
    /// The edge exists, but is the one that falls through: no taken branch goes along it.
    NeverTaken => "the edge only falls through";
    /// A jump leads from one method to another, or out of the program.
    JumpOut => "a jump leaves its method";
    /// A call leads elsewhere than to a method's entry.
    CallIntoMiddle => "a call enters the middle of a method";
    /// A return is in a block that has successors.
    ReturnFromMiddle => "a return is in the middle of a method";
    /// A return does not go where its call was.
    ReturnElsewhere => "a return does not go back to its call";
    /// Control arrives without an edge where the method has no entry.
    NoLanding => "control arrives where no entry is";
    /// The path has more than [`PartialPath::MAX_STEPS`] blocks.
    TooLong => "the path is too long";
}

/// How a step of a path was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// The path starts here.
    Start,
    /// Along the edge that falls through.
    FallThrough,
    /// Along an edge that was taken.
    Taken,
    /// By a call from the step before.
    Call,
    /// By a return from the step before, into the middle of a block.
    Return,
    /// Without an edge and without a frame.
    Transfer,
}

impl Link {
    /// Whether this is an edge of a method's graph.
    #[must_use]
    pub fn is_edge(self) -> bool {
        matches!(self, Self::FallThrough | Self::Taken)
    }
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where: never missing.
    pub place: Place,
    /// How control came there from the step before.
    pub link: Link,
}

/// A trace mapped onto the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialPath {
    /// The steps in the order of time, extensions included.
    pub steps: Vec<Step>,
    /// How many of the first steps were added by extension.
    pub above: usize,
    /// How many of the last steps were added by extension.
    pub below: usize,
    /// How many calls and returns were passed.
    pub crossings: u32,
    /// How many places were replaced.
    pub repaired: u32,
    /// Whether the place where the program stood contradicted the last branch and was not used.
    pub pc_ignored: bool,
}

impl PartialPath {
    /// The longest path; what is longer can only come from a damaged record.
    pub const MAX_STEPS: usize = 1 << 20;

    /// The steps that the trace itself shows.
    #[must_use]
    pub fn initial(&self) -> &[Step] {
        &self.steps[self.above..self.steps.len() - self.below]
    }
}

/// How traces are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconstruction {
    /// Extend paths up and down to the first point of uncertainty. The paper does.
    pub extend: bool,
    /// Use the place where the program stood. The paper did not have it.
    pub use_pc: bool,
    /// Replace a place that is missing or impossible, where exactly one is possible.
    pub repair: bool,
}

impl Default for Reconstruction {
    fn default() -> Self {
        Self { extend: true, use_pc: true, repair: true }
    }
}

/// The partial path of a trace.
///
/// # Errors
///
/// The reason if the trace contradicts the program. No trace makes this panic.
pub fn reconstruct(
    program: &Program,
    trace: &Trace,
    options: Reconstruction,
) -> Result<PartialPath, Discard> {
    let mut walk = Walk { program, options, steps: Vec::new(), at: None, calls: Vec::new(), repaired: 0 };
    let mut crossings = 0;
    for (index, &branch) in trace.branches.iter().enumerate() {
        walk.branch(branch, trace.branches.get(index + 1))?;
        crossings += u32::from(matches!(branch.kind, BranchKind::Call | BranchKind::Return));
    }
    if walk.steps.is_empty() {
        return Err(Discard::Empty);
    }
    let pc = trace.pc.filter(|_| options.use_pc);
    let pc_ignored = pc.is_some_and(|pc| !walk.fall_to_pc(pc));
    if walk.steps.len() > PartialPath::MAX_STEPS {
        return Err(Discard::TooLong);
    }
    let Walk { mut steps, repaired, .. } = walk;
    let (above, below) = if options.extend { extend(program, &mut steps) } else { (0, 0) };
    Ok(PartialPath { steps, above, below, crossings, repaired, pc_ignored })
}

struct Walk<'p> {
    program: &'p Program,
    options: Reconstruction,
    steps: Vec<Step>,
    /// Where control has arrived: always a place that exists.
    at: Option<Place>,
    /// The blocks (or the outside) whose calls have not returned.
    calls: Vec<Place>,
    repaired: u32,
}

impl<'p> Walk<'p> {
    fn branch(&mut self, branch: TakenBranch, next: Option<&TakenBranch>) -> Result<(), Discard> {
        if self.steps.len() > PartialPath::MAX_STEPS {
            return Err(Discard::TooLong);
        }
        if branch.kind == BranchKind::Jump {
            return self.jump(branch, next);
        }
        let source = self.source(branch.source)?;
        let target = match (branch.target, branch.kind, self.calls.last()) {
            // A return goes where its call was.
            (Place::Missing, BranchKind::Return, Some(&call)) if self.options.repair => {
                self.repaired += 1;
                call
            }
            (target, _, _) => target,
        };
        self.check_arrival(target)?;
        let link = match branch.kind {
            BranchKind::Call => {
                if let Place::At { method, block } = target
                    && self.method(method)?.entry() != block
                {
                    return Err(Discard::CallIntoMiddle);
                }
                self.calls.push(source);
                Link::Call
            }
            BranchKind::Return => {
                if let Place::At { method, block } = source
                    && !self.method(method)?.successors(block).is_empty()
                {
                    return Err(Discard::ReturnFromMiddle);
                }
                if self.calls.pop().is_some_and(|call| call != target) {
                    return Err(Discard::ReturnElsewhere);
                }
                Link::Return
            }
            _ => {
                if let Place::At { method, block } = target
                    && !self.method(method)?.landing(block)
                {
                    return Err(Discard::NoLanding);
                }
                self.calls.clear();
                Link::Transfer
            }
        };
        self.fall_to(source);
        self.arrive(target, link);
        Ok(())
    }

    fn jump(&mut self, branch: TakenBranch, next: Option<&TakenBranch>) -> Result<(), Discard> {
        let (source, target) = match self.strict_jump(branch) {
            Ok(Some(ends)) => ends,
            Ok(None) => {
                // Within the outside, jumps are nobody's concern.
                if self.at.is_none() {
                    self.arrive(Place::Outside, Link::Start);
                }
                return Ok(());
            }
            Err(reason) => {
                let guess = if self.options.repair { self.guess(branch, next) } else { None };
                let ends = guess.ok_or(reason)?;
                self.repaired += 1;
                ends
            }
        };
        self.fall_to(source);
        self.arrive(target, Link::Taken);
        Ok(())
    }

    /// The two ends of a jump as recorded; `None` if it is one outside of the program.
    fn strict_jump(&self, branch: TakenBranch) -> Result<Option<(Place, Place)>, Discard> {
        let source = self.source(branch.source)?;
        self.check_arrival(branch.target)?;
        match (source, branch.target) {
            (Place::Outside, Place::Outside) => Ok(None),
            (Place::At { method, block }, Place::At { method: other, block: target }) if method == other => {
                let code = self.method(method)?;
                if code.taken(block).contains(&target) {
                    Ok(Some((source, branch.target)))
                } else if code.successors(block).contains(&target) {
                    Err(Discard::NeverTaken)
                } else {
                    Err(Discard::NoSuchEdge)
                }
            }
            _ => Err(Discard::JumpOut),
        }
    }

    /// The only edge that has at least one of the recorded ends, is where control can be, and leads to where the next
    /// branch is. A record that is an edge as it stands is not replaced: then it may as well be the record before
    /// that is wrong. Therefore, if just one place of a trace is wrong, whatever is repaired is true.
    fn guess(&self, branch: TakenBranch, next: Option<&TakenBranch>) -> Option<(Place, Place)> {
        if self.is_edge(branch) {
            return None;
        }
        let mut possible = Vec::new();
        if let Ok(Place::At { method, block }) = self.source(branch.source) {
            let code = self.program.method(method)?;
            let continues = |target: BlockId| match next.map(|next| next.source) {
                Some(Place::At { method: then, block }) => {
                    then == method && block.index() < code.len() && code.falls(target, block).is_some()
                }
                _ => true,
            };
            let targets = code.taken(block).iter().filter(|&&target| continues(target));
            possible.extend(targets.map(|&target| (branch.source, Place::at(method, target))));
        }
        if let (Ok(()), Place::At { method, block: target }) =
            (self.check_arrival(branch.target), branch.target)
        {
            let code = self.program.method(method)?;
            let sources: Vec<BlockId> = match self.at {
                None => code.predecessors(target).to_vec(),
                Some(Place::At { method: here, block }) if here == method => {
                    std::iter::successors(Some(block), |&block| code.fall_through(block)).collect()
                }
                Some(_) => Vec::new(),
            };
            let takes = sources.iter().filter(|&&block| code.taken(block).contains(&target));
            possible.extend(takes.map(|&source| (Place::at(method, source), branch.target)));
        }
        if let [edge] = possible[..] { Some(edge) } else { None }
    }

    fn is_edge(&self, branch: TakenBranch) -> bool {
        let (Place::At { method, block }, Place::At { method: other, block: target }) =
            (branch.source, branch.target)
        else {
            return false;
        };
        let code = self.program.method(method).filter(|code| method == other && code.reachable(block));
        code.is_some_and(|code| code.taken(block).contains(&target))
    }

    fn method(&self, id: MethodId) -> Result<&'p MethodCode, Discard> {
        self.program.method(id).ok_or(Discard::UnknownMethod)
    }

    fn check_arrival(&self, place: Place) -> Result<(), Discard> {
        match place {
            Place::Missing => Err(Discard::TargetMissing),
            Place::Outside => Ok(()),
            Place::At { method, block } if self.method(method)?.reachable(block) => Ok(()),
            Place::At { .. } => Err(Discard::UnknownBlock),
        }
    }

    /// The source, if it exists and control can have fallen there.
    fn source(&self, source: Place) -> Result<Place, Discard> {
        if source == Place::Missing {
            return Err(Discard::SourceMissing);
        }
        self.check_arrival(source)?;
        match (self.at, source) {
            (None, _) | (Some(Place::Outside), Place::Outside) => Ok(source),
            (Some(Place::At { method: here, block: from }), Place::At { method, block })
                if here == method =>
            {
                match self.method(method)?.falls(from, block) {
                    Some(_) => Ok(source),
                    None => Err(Discard::NotFallenInto),
                }
            }
            _ => Err(Discard::OtherMethod),
        }
    }

    /// Control falls from where it is to a source that was found possible.
    fn fall_to(&mut self, source: Place) {
        match (self.at, source) {
            (None, _) => self.arrive(source, Link::Start),
            (Some(Place::At { method, block: mut from }), Place::At { block, .. }) => {
                let Some(code) = self.program.method(method) else { return };
                while from != block
                    && self.steps.len() <= PartialPath::MAX_STEPS
                    && let Some(next) = code.fall_through(from)
                {
                    from = next;
                    self.arrive(Place::at(method, from), Link::FallThrough);
                }
            }
            _ => {}
        }
    }

    fn arrive(&mut self, place: Place, link: Link) {
        self.steps.push(Step { place, link });
        self.at = Some(place);
    }

    fn fall_to_pc(&mut self, pc: Place) -> bool {
        let possible = self.source(pc).is_ok();
        if possible {
            self.fall_to(pc);
        }
        possible
    }
}

/// Extends at both ends; returns by how many steps.
fn extend(program: &Program, steps: &mut Vec<Step>) -> (usize, usize) {
    let link = |code: &MethodCode, from: BlockId, to: BlockId| {
        if code.fall_through(from) == Some(to) { Link::FallThrough } else { Link::Taken }
    };
    let mut below = 0;
    if let Some(&Step { place: Place::At { method, block }, .. }) = steps.last()
        && let Some(code) = program.method(method)
    {
        let mut seen = BTreeSet::from([block]);
        let mut last = block;
        while let &[next] = code.successors(last)
            && seen.insert(next)
        {
            steps.push(Step { place: Place::at(method, next), link: link(code, last, next) });
            (last, below) = (next, below + 1);
        }
    }
    let mut above: Vec<Step> = Vec::new();
    if let Some(&Step { place: Place::At { method, block }, .. }) = steps.first()
        && let Some(code) = program.method(method)
    {
        let mut seen = BTreeSet::from([block]);
        let mut first = block;
        while !code.landing(first)
            && let &[before] = code.predecessors(first)
            && seen.insert(before)
        {
            above.last_mut().unwrap_or(&mut steps[0]).link = link(code, before, first);
            above.push(Step { place: Place::at(method, before), link: Link::Start });
            first = before;
        }
    }
    let count = above.len();
    steps.splice(0..0, above.into_iter().rev());
    (count, below)
}
