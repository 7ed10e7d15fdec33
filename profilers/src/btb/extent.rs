//! How far a partial path reaches within its blocks, and as far as control is certain beyond them (section 3.2).
//!
//! The paper counts the instructions of partial paths (Table 2). A call does not end a block here, but it is a taken branch: what comes
//! behind it in the block has run only if the ring shows that it returned. So blocks come apart into *pieces* at their calls
//! ([`BlockCode`](super::layout::BlockCode)), and a path into *passages*: piece for piece, each once. The initial path begins with the
//! piece that the first branch ends, and ends with the piece that the last branch arrived at.
//!
//! Then it is extended "above the first edge and below the last edge until a point of uncertainty is reached". Down:
//!
//! | at the end of | control goes on | unless |
//! |---|---|---|
//! | a piece with a call | at the entry of the only method that may be called there | there may be several, or this extension is within it: then it would not end |
//! | a block with one successor | there | it was there before: an endless loop |
//! | a block that returns | behind its call | the trace does not show the caller, nor did this extension call |
//! | a block with several successors | | it is a branch point |
//!
//! Up, the same in the other direction:
//!
//! | at the beginning of | control came from | unless |
//! |---|---|---|
//! | a piece behind a call | the one block in which the only possible callee returns | there are several |
//! | a block with one predecessor | there | it is a landing, too |
//! | an entry without predecessors | its call | the trace does not show the caller, nor did this extension come by its return |
//! | a block with several predecessors | | it is a join point |
//!
//! Traces name blocks and not the calls in them. But each call is in the ring, and a block makes its calls in their order, so that the
//! piece is known from where control came in and what was called since. Where the trace begins in the middle of a block, or
//! returns to a caller that it does not show, the possible pieces are those behind a call of what returned; what is called next, and
//! that the block was left, tell more. If several remain, the path has the shortest of them and is not extended from there.
//!
//! This is for lengths alone. What is matched with full paths is extended in whole blocks ([`reconstruct`](super::partial::reconstruct)): full
//! paths have no halves of blocks, and an edge behind a call that was not seen to return will be gone along all the same.
//!
//! Cost: O(steps + pieces); an extension has at most [`Extent::MOST_PIECES`].

use super::branch::Place;
use super::layout::{MethodCode, Program};
use super::partial::{Link, Step};
use crate::ids::{BlockId, MethodId};
use std::collections::BTreeSet;

/// Pieces of one block that control passed without a call in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The method.
    pub method: MethodId,
    /// The block.
    pub block: BlockId,
    /// The piece where control came in.
    pub from: usize,
    /// The piece with whose end it left: the same one, but in a block that should have called something and did not.
    pub to: usize,
    /// How control came there from the passage before. Steps outside of the program are no passages.
    pub link: Link,
}

/// The passages of a partial path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    /// In the order of time, extensions included.
    pub passages: Vec<Passage>,
    /// How many of the first were added by extension.
    pub above: usize,
    /// How many of the last were added by extension.
    pub below: usize,
}

impl Extent {
    /// How many passages an extension has at most. Straight code that calls straight code and that again may have many.
    pub const MOST_PIECES: usize = 1 << 12;

    /// The passages of steps that were reconstructed, not extended in blocks. With `extend` they are extended in pieces.
    #[must_use]
    pub fn new(program: &Program, steps: &[Step], extend: bool) -> Self {
        let mut walk = Walk {
            program,
            passages: Vec::new(),
            visits: Vec::new(),
            stack: Vec::new(),
            outer: Some(Vec::new()),
        };
        for (at, step) in steps.iter().enumerate() {
            // If there are blocks above it, the first step has a link, too.
            walk.step(step.place, if at == 0 { Link::Start } else { step.link });
        }
        walk.place_visits();
        walk.fall_behind_call();
        let inside = |step: Option<&Step>| matches!(step, Some(Step { place: Place::At { .. }, .. }));
        let below = if extend && inside(steps.last()) { walk.down() } else { Vec::new() };
        let above = if extend && inside(steps.first()) { walk.up() } else { Vec::new() };
        let (count_above, count_below) = (above.len(), below.len());
        let passages = above.into_iter().chain(walk.passages).chain(below).collect();
        Self { passages, above: count_above, below: count_below }
    }

    /// The passages that the trace itself shows.
    #[must_use]
    pub fn initial(&self) -> &[Passage] {
        &self.passages[self.above..self.passages.len() - self.below]
    }

    /// The passages cut at calls, returns and transfers: each part lies in one activation of a method.
    pub fn runs(&self) -> impl Iterator<Item = &[Passage]> {
        self.passages.chunk_by(|_, after| after.link.is_edge())
    }
}

impl Passage {
    /// How many instructions it has in its method.
    #[must_use]
    pub fn size(&self, code: &MethodCode) -> u64 {
        code.size_of_pieces(self.block, self.from, self.to)
    }
}

/// Where a call was made, in which piece of a block. `None` if that is not known, or outside of the program.
type Caller = Option<(MethodId, BlockId, usize)>;

/// A block between the edges by which it was entered and left: the passages of one activation, one for each call and the last.
struct Visit {
    method: MethodId,
    block: BlockId,
    /// In which piece it may have begun.
    begins: Vec<usize>,
    /// Positions among the passages.
    passages: Vec<usize>,
    /// Whether it was left by an edge or a return.
    left: bool,
    /// Whether it is known in the end where it began.
    certain: bool,
}

struct Walk<'p> {
    program: &'p Program,
    passages: Vec<Passage>,
    visits: Vec<Visit>,
    /// The visits of the activations that are not over; `None` outside of the program.
    stack: Vec<Option<usize>>,
    /// The visits of callers that became known when they were returned to, from the first activation outwards. `None` when an error
    /// was caught: then nobody knows whose caller a caller is.
    outer: Option<Vec<Option<usize>>>,
}

impl<'p> Walk<'p> {
    fn code(&self, method: MethodId) -> Option<&'p MethodCode> {
        self.program.method(method)
    }

    fn step(&mut self, place: Place, link: Link) {
        let here = match place {
            Place::At { method, block } => self.code(method).map(|code| (method, block, code)),
            Place::Outside | Place::Missing => None,
        };
        let pieces = here.map_or(0, |(_, block, code)| code.calls(block).len());
        match link {
            Link::Return => return self.ret(here),
            Link::FallThrough | Link::Taken => {
                self.leave();
                self.stack.pop();
            }
            Link::Call => self.call(here.map(|(method, ..)| method)),
            Link::Transfer => {
                // Nobody knows how many frames further out the handler is.
                self.stack.clear();
                self.outer = None;
            }
            Link::Start => {}
        }
        let begins = if link == Link::Start { (0..=pieces).collect() } else { vec![0] };
        let visit = self.visit(here, begins, link);
        self.stack.push(visit);
    }

    /// Control comes into a block.
    fn visit(
        &mut self,
        here: Option<(MethodId, BlockId, &MethodCode)>,
        begins: Vec<usize>,
        link: Link,
    ) -> Option<usize> {
        let (method, block, _) = here?;
        let passages = vec![self.passages.len()];
        self.passages.push(Passage { method, block, from: 0, to: 0, link });
        self.visits.push(Visit { method, block, begins, passages, left: false, certain: false });
        Some(self.visits.len() - 1)
    }

    fn top(&self) -> Option<usize> {
        self.stack.last().copied().flatten()
    }

    /// Of the pieces in which the topmost visit may have begun those remain with which the piece it is in now is as it must be. If
    /// none is, the trace contradicts the code, and nothing is concluded from it.
    fn conclude(&mut self, must_be: impl Fn(&MethodCode, BlockId, usize) -> bool) {
        let Some(visit) = self.top() else { return };
        let visit = &mut self.visits[visit];
        let Some(code) = self.program.method(visit.method) else { return };
        let calls = visit.passages.len() - 1;
        let possible: Vec<usize> =
            visit.begins.iter().copied().filter(|begin| must_be(code, visit.block, begin + calls)).collect();
        if !possible.is_empty() {
            visit.begins = possible;
        }
    }

    fn leave(&mut self) {
        self.conclude(|code, block, piece| piece == code.calls(block).len());
        if let Some(visit) = self.top() {
            self.visits[visit].left = true;
        }
    }

    fn call(&mut self, callee: Option<MethodId>) {
        self.conclude(|code, block, piece| {
            code.calls(block).get(piece).is_some_and(|call| call.may_call(callee))
        });
    }

    fn ret(&mut self, here: Option<(MethodId, BlockId, &MethodCode)>) {
        self.leave();
        let over = self.stack.pop().flatten().map(|visit| self.visits[visit].method);
        if let Some(caller) = self.stack.last().copied() {
            let same = |visit: &Visit| {
                here.is_some_and(|(method, block, _)| (method, block) == (visit.method, visit.block))
            };
            if let Some(visit) = caller.map(|at| &mut self.visits[at]).filter(|visit| same(visit)) {
                visit.passages.push(self.passages.len());
                let (method, block) = (visit.method, visit.block);
                self.passages.push(Passage { method, block, from: 0, to: 0, link: Link::Return });
            }
            return;
        }
        let mut begins: Vec<usize> = Vec::new();
        if let Some((_, block, code)) = here {
            let calls = code.calls(block).iter().enumerate();
            begins.extend(calls.filter(|(_, call)| call.may_call(over)).map(|(at, _)| at + 1));
            if begins.is_empty() {
                // The call is not among those that are known.
                begins.extend(0..=code.calls(block).len());
            }
        }
        let visit = self.visit(here, begins, Link::Return);
        self.stack.push(visit);
        self.outer.iter_mut().for_each(|outer| outer.push(visit));
    }

    /// Tells all passages which pieces they are.
    fn place_visits(&mut self) {
        for visit in &mut self.visits {
            let Some(code) = self.program.method(visit.method) else { continue };
            let last = code.calls(visit.block).len();
            let count = visit.passages.len();
            let ends = |begin: usize, at: usize| {
                let from = (begin + at).min(last);
                (from, if visit.left && at + 1 == count { last } else { from })
            };
            let size = |&begin: &usize| {
                let pieces = (0..count).map(|at| ends(begin, at));
                pieces.map(|(from, to)| code.size_of_pieces(visit.block, from, to)).sum::<u64>()
            };
            visit.certain = visit.begins.len() == 1;
            let Some(begin) = visit.begins.iter().copied().min_by_key(size) else { continue };
            for (at, &passage) in visit.passages.iter().enumerate() {
                let (from, to) = ends(begin, at);
                (self.passages[passage].from, self.passages[passage].to) = (from, to);
            }
        }
    }

    /// Behind a call that ends its block begins the next one, and there the last branch arrived.
    fn fall_behind_call(&mut self) {
        let Some(visit) = self.top().filter(|&visit| self.visits[visit].certain) else { return };
        let (method, block) = (self.visits[visit].method, self.visits[visit].block);
        let (Some(code), Some(last)) = (self.code(method), self.passages.last()) else { return };
        if last.from > 0
            && last.from == code.calls(block).len()
            && last.size(code) == 0
            && let &[next] = code.successors(block)
        {
            let passage = Passage { method, block: next, from: 0, to: 0, link: edge(code, block, next) };
            let passages = vec![self.passages.len()];
            self.passages.push(passage);
            self.stack.pop();
            self.stack.push(Some(self.visits.len()));
            self.visits.push(Visit {
                method,
                block: next,
                begins: vec![0],
                passages,
                left: false,
                certain: true,
            });
        }
    }

    /// Where the last call of a visit was made.
    fn caller(&self, visit: Option<usize>, passage: impl Fn(&Visit) -> Option<usize>) -> Caller {
        let visit = visit.map(|at| &self.visits[at]).filter(|visit| visit.certain)?;
        let at = self.passages[passage(visit)?].from;
        Some((visit.method, visit.block, at))
    }

    /// The passages that follow.
    fn down(&self) -> Vec<Passage> {
        let mut added = Vec::new();
        let last_of = |visit: &Visit| visit.passages.last().copied();
        let mut frames: Vec<Frame> =
            self.stack.iter().map(|&visit| Frame::of(self.caller(visit, last_of))).collect();
        while added.len() < Extent::MOST_PIECES {
            let Some(top) = frames.last_mut() else { break };
            let Some((method, block, piece)) = top.at else { break };
            let Some(code) = self.code(method) else { break };
            top.seen.insert(block);
            let (next, link) = if let Some(call) = code.calls(block).get(piece) {
                let Some(callee) = call.callee else { break };
                let Some(entered) = self.code(callee) else { break };
                // From its entry to this call there is but one way, which leads here again.
                if frames.iter().any(|frame| frame.entered && frame.at.is_some_and(|at| at.0 == callee)) {
                    break;
                }
                let frame = Frame { entered: true, ..Frame::of(Some((callee, entered.entry(), 0))) };
                let next = frame.at;
                frames.push(frame);
                (next, Link::Call)
            } else if code.returns(block) {
                frames.pop();
                let Some(caller) = frames.last_mut() else { break };
                caller.at = caller.at.map(|(method, block, piece)| (method, block, piece + 1));
                (caller.at, Link::Return)
            } else if let &[next] = code.successors(block)
                && top.seen.insert(next)
            {
                top.at = Some((method, next, 0));
                (top.at, edge(code, block, next))
            } else {
                break;
            };
            let Some((method, block, piece)) = next else { break };
            added.push(Passage { method, block, from: piece, to: piece, link });
        }
        added
    }

    /// The passages before.
    fn up(&mut self) -> Vec<Passage> {
        let mut added: Vec<Passage> = Vec::new();
        let first_of = |visit: &Visit| visit.passages.first().copied();
        // A caller that became known by its first passage had called in the piece before.
        let before =
            |(method, block, piece): (MethodId, BlockId, usize)| Some((method, block, piece.checked_sub(1)?));
        let outer = self.outer.iter().flatten().rev();
        let outer = outer.map(|&visit| self.caller(visit, first_of).and_then(before));
        let mut frames: Vec<Frame> = outer.map(Frame::of).collect();
        let first = self.visits.first().map(|_| 0);
        frames.push(Frame::of(self.caller(first, first_of)));
        while added.len() < Extent::MOST_PIECES {
            let Some(top) = frames.last_mut() else { break };
            let Some((method, block, piece)) = top.at else { break };
            let Some(code) = self.code(method) else { break };
            top.seen.insert(block);
            let (earlier, link) = if let Some(call) = piece.checked_sub(1) {
                let Some(callee) = code.calls(block).get(call).and_then(|call| call.callee) else { break };
                let Some(entered) = self.code(callee) else { break };
                let Some(end) = entered.only_return() else { break };
                if frames.iter().any(|frame| frame.entered && frame.at.is_some_and(|at| at.0 == callee)) {
                    break;
                }
                if let Some(top) = frames.last_mut() {
                    top.at = Some((method, block, call));
                }
                let frame =
                    Frame { entered: true, ..Frame::of(Some((callee, end, entered.calls(end).len()))) };
                let earlier = frame.at;
                frames.push(frame);
                (earlier, Link::Return)
            } else if let &[before] = code.predecessors(block)
                && !code.landing(block)
                && top.seen.insert(before)
            {
                top.at = Some((method, before, code.calls(before).len()));
                (top.at, edge(code, before, block))
            } else if code.entry() == block
                && code.predecessors(block).is_empty()
                && !code.entries().contains(&block)
            {
                frames.pop();
                (frames.last().and_then(|frame| frame.at), Link::Call)
            } else {
                break;
            };
            let Some((method, block, piece)) = earlier else { break };
            if let Some(after) = added.last_mut().or(self.passages.first_mut()) {
                after.link = link;
            }
            added.push(Passage { method, block, from: piece, to: piece, link: Link::Start });
        }
        added.reverse();
        added
    }
}

/// An activation during extension.
struct Frame {
    at: Caller,
    /// Whether this extension came into it at one of its ends.
    entered: bool,
    /// The blocks in which it was.
    seen: BTreeSet<BlockId>,
}

impl Frame {
    fn of(at: Caller) -> Self {
        Self { at, entered: false, seen: BTreeSet::new() }
    }
}

fn edge(code: &MethodCode, from: BlockId, to: BlockId) -> Link {
    if code.fall_through(from) == Some(to) { Link::FallThrough } else { Link::Taken }
}
