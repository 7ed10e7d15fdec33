//! Partial paths cut at calls and returns: what remains are runs of blocks within one method (section 3.2,
//! "splitting").
//!
//! The paper cuts at each function boundary, and throws together what it cuts: the halves of a caller's path on both
//! sides of a call are two runs. Ours: since a call does not end a block, [`Crossing::Rejoin`] continues the caller's
//! run when the matching return is in the same trace (open question M1: 57 % of the paper's paths cross functions).

use super::branch::Place;
use super::partial::{Link, PartialPath};
use crate::ids::{BlockId, MethodId};

/// What calls and returns do to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Crossing {
    /// Each ends a run (the paper).
    #[default]
    Split,
    /// A call suspends the caller's run, the matching return continues it.
    Rejoin,
}

/// Blocks of one activation of a method, in the order in which they were executed, each an edge away from the one
/// before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The method.
    pub method: MethodId,
    /// The blocks, at least one.
    pub blocks: Vec<BlockId>,
}

/// The runs of a path, in the order in which they end. Of steps outside of the program nothing remains.
#[must_use]
pub fn split_at_calls(path: &PartialPath, crossing: Crossing) -> Vec<Run> {
    let mut runs = Vec::new();
    // `None` stands for an activation outside of the program.
    let mut current: Option<Run> = None;
    let mut callers: Vec<Option<Run>> = Vec::new();
    for step in &path.steps {
        let here = match step.place {
            Place::At { method, block } => Some((method, block)),
            Place::Outside | Place::Missing => None,
        };
        let start = here.map(|(method, block)| Run { method, blocks: vec![block] });
        match step.link {
            Link::FallThrough | Link::Taken => {
                if let (Some(run), Some((_, block))) = (&mut current, here) {
                    run.blocks.push(block);
                } else {
                    runs.extend(std::mem::replace(&mut current, start));
                }
            }
            Link::Call if crossing == Crossing::Rejoin => {
                callers.push(std::mem::replace(&mut current, start));
            }
            Link::Return if crossing == Crossing::Rejoin => {
                let caller = callers.pop().unwrap_or(start);
                runs.extend(std::mem::replace(&mut current, caller));
            }
            Link::Transfer => {
                runs.extend(std::mem::replace(&mut current, start));
                runs.extend(callers.drain(..).rev().flatten());
            }
            Link::Start | Link::Call | Link::Return => {
                runs.extend(std::mem::replace(&mut current, start));
            }
        }
    }
    runs.extend(current);
    runs.extend(callers.into_iter().rev().flatten());
    runs
}
