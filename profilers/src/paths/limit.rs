//! Too many paths. The papers leave open what to do then; this is our rule.
//!
//! The number of paths doubles with every branch that joins again: forty in a row have 2^40. So no join may have
//! more paths going on from it than a limit. In the order of numbering, the first join `v` above it has some join
//! in the region below it (itself among them) broken: cut like a loop header, with a yieldpoint that the code
//! generator is told of, so that nothing is lost silently.
//!
//! Which join: the coldest of those whose cut alone brings `v` under the limit, and of equals the one nearest to
//! `v`, which is `v` itself when there are no frequencies. Cutting `w` saves `v` as many paths as there are ways
//! from `v` to `w` times the paths from `w` less one; the ways are counted by one pass downwards. One cut costs
//! O(blocks + edges).
//!
//! What is bounded: blocks that are no joins form trees, each of which ends in joins, exits and cuts. So a path may
//! begin in at most (edges of its tree) · limit ways, and all numbers are below edges · limit. They fit into 64
//! bits, as there are fewer than 2^32 edges and the limit is at most 2^32.

use super::numbering::Shape;
use super::plan::Why;

/// The limit on the paths from a join if nothing else is asked for.
pub const DEFAULT_LIMIT: u64 = 1 << 31;

/// The greatest limit on the paths from a join that can be asked for.
pub const GREATEST_LIMIT: u64 = 1 << 32;

/// By block: how many paths begin there (of a cut block: behind its cut). Cuts blocks until no join has more than
/// the limit.
pub(super) fn count(shape: &mut Shape, limit: u64) -> Vec<u64> {
    // Hardly any code has so many paths that it matters.
    let mut known_joins = None;
    let mut paths = vec![0; shape.ways.len()];
    let mut next = 0;
    while let Some(&block) = shape.order.get(next) {
        let ways = &shape.ways[block.index()];
        let sum = ways.iter().map(|way| shape.along(&paths, way)).fold(0, u64::saturating_add);
        paths[block.index()] = if ways.is_empty() { 1 } else { sum };
        if paths[block.index()] > limit && shape.cuts[block.index()].is_none() {
            let joins: &Vec<bool> = known_joins.get_or_insert_with(|| joins(shape));
            if joins[block.index()] {
                let coldest = coldest(shape, joins, &paths, next, limit);
                shape.cuts[shape.order[coldest].index()] = Some(Why::Limit);
                next = coldest;
            }
        }
        next += 1;
    }
    paths
}

/// Where to cut, as a position in the order, so that the join at a position in the order is below the limit.
fn coldest(shape: &Shape, joins: &[bool], paths: &[u64], position: usize, limit: u64) -> usize {
    let above = shape.order[position];
    let excess = paths[above.index()] - limit;
    let mut ways_to = vec![0_u64; paths.len()];
    ways_to[above.index()] = 1;
    let mut best = position;
    for at in (0..=position).rev() {
        let block = shape.order[at].index();
        if ways_to[block] == 0 {
            continue;
        }
        let saved = ways_to[block].saturating_mul(paths[block] - 1);
        if joins[block]
            && saved >= excess
            && shape.frequency[block] < shape.frequency[shape.order[best].index()]
        {
            best = at;
        }
        for way in &shape.ways[block] {
            let target = way.target.index();
            if !way.retreating && shape.cuts[target].is_none() {
                ways_to[target] = ways_to[target].saturating_add(ways_to[block]);
            }
        }
    }
    best
}

/// By block: do several edges, those out of ENTRY included, lead to its top.
fn joins(shape: &Shape) -> Vec<bool> {
    let mut edges_to = vec![0_usize; shape.ways.len()];
    let mut broken = vec![false; shape.ways.len()];
    for way in shape.ways.iter().flatten() {
        if shape.breaks(way) {
            broken[way.target.index()] = true;
        } else {
            edges_to[way.target.index()] += 1;
        }
    }
    shape.arrivals.iter().for_each(|block| edges_to[block.index()] += 1);
    edges_to.iter().zip(&broken).map(|(edges, &broken)| edges + usize::from(broken) > 1).collect()
}
