//! With which block a loop begins in the order.
//!
//! A loop whose test is at the top executes a jump each round from the bottom to the top; begun elsewhere, the hot back
//! edge falls through, or a branch with a condition goes back. Chains choose the end points of a loop by the frequencies
//! of single edges; here all rotations of a loop's blocks are tried, and the cheapest is taken. A rotation changes what
//! follows only for three blocks: the one before the loop, the one at its bottom, and the one that was there. (The
//! Pettis-Hansen algorithm has no such step; compilers that followed it do, LLVM's block placement for instance.)
//!
//! A loop in an order is a back edge: an edge to a block that does not stand behind its source, with everything that
//! stands between the two. Edges that are taken in less than one of eight executions of their target are no loop.
//! Rotating never makes an order worse. O(n) for all rotations of n blocks with two arms each.

use super::frequencies::{Cost, Frequencies, Targets};
use crate::{BlockId, ControlFlow};
use std::ops::Range;

/// A loop comes around in one of so many executions of its first block.
const LOOPS: u64 = 8;

/// By how many places the blocks of a range are best rotated to the left: 0 if no rotation is cheaper, the smallest
/// among equals. The first block of the whole order is the entry and stays: a range that begins with it is not rotated,
/// nor is one that is not in the order.
#[must_use]
pub fn best_rotation<F: ControlFlow + ?Sized>(
    frequencies: &Frequencies<'_, F>,
    order: &[BlockId],
    range: Range<usize>,
) -> usize {
    best(&Targets::new(frequencies), order, range, |_| true)
}

/// The best of the rotations by numbers of places that `may` allows, or none.
fn best(targets: &Targets, order: &[BlockId], range: Range<usize>, may: impl Fn(usize) -> bool) -> usize {
    if range.start == 0 || range.end > order.len() || range.len() < 2 {
        return 0;
    }
    let (before, behind) = (order[range.start - 1], order.get(range.end).copied());
    let inside = &order[range];
    let (top, bottom) = (inside[0], inside[inside.len() - 1]);
    // What the three blocks cost, less what is the same for all rotations: that of the new bottom within the loop.
    let cost = |places: usize| -> (Cost, Cost) {
        let first = inside[places];
        let last = inside[(places + inside.len() - 1) % inside.len()];
        let ends = targets.cost(before, Some(first)) + targets.cost(last, behind);
        if places == 0 {
            return (ends, Cost::default());
        }
        (ends + targets.cost(bottom, Some(top)), targets.cost(last, Some(first)))
    };
    let cheaper =
        |(cost, saved): (Cost, Cost), (least, least_saved): (Cost, Cost)| cost + least_saved < least + saved;
    (1..inside.len())
        .filter(|&places| may(places))
        .fold(0, |least, places| if cheaper(cost(places), cost(least)) { places } else { least })
}

/// Rotates the loops of an order, those with the most frequent back edges last, so that they have the last word.
#[must_use]
pub fn rotate_loops<F: ControlFlow + ?Sized>(
    frequencies: &Frequencies<'_, F>,
    order: Vec<BlockId>,
) -> Vec<BlockId> {
    rotate_loops_where(frequencies, order, |part| vec![true; part.len()])
}

/// The same, but only as far as allowed: `may` is asked for a loop that should be rotated, a part of the order, and says for each number of
/// places whether it may be rotated to the left by so many.
#[must_use]
pub fn rotate_loops_where<F: ControlFlow + ?Sized>(
    frequencies: &Frequencies<'_, F>,
    mut order: Vec<BlockId>,
    mut may: impl FnMut(&[BlockId]) -> Vec<bool>,
) -> Vec<BlockId> {
    let targets = Targets::new(frequencies);
    let mut place = vec![None; frequencies.flow().blocks()];
    for (at, block) in order.iter().enumerate() {
        place[block.index()] = Some(at);
    }
    // Rotating keeps a loop's blocks together, so that what goes back at first goes back later, too, or falls through.
    let goes_back = |&(from, to, count): &(BlockId, BlockId, u64)| {
        count != 0 && place[to.index()] < place[from.index()] && place[to.index()].is_some()
    };
    let mut edges: Vec<_> = targets.pairs().filter(goes_back).collect();
    edges.sort_by_key(|&(.., count)| count);
    let runs = frequencies.blocks();
    for (from, to, count) in edges {
        if count.saturating_mul(LOOPS) < runs[to.index()] {
            continue;
        }
        if let (Some(bottom), Some(top)) = (place[from.index()], place[to.index()])
            && top < bottom
        {
            let mut places = best(&targets, &order, top..bottom + 1, |_| true);
            if places == 0 {
                continue;
            }
            let may = may(&order[top..=bottom]);
            places = best(&targets, &order, top..bottom + 1, |places| may[places]);
            order[top..=bottom].rotate_left(places);
            for (at, block) in order[top..=bottom].iter().enumerate() {
                place[block.index()] = Some(top + at);
            }
        }
    }
    order
}
