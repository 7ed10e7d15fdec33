//! The order of the methods in memory: callers close to what they call.
//!
//! Pettis and Hansen 1990, section 3: "closest is best". Methods are chains at first; the two chains with the most calls
//! between them, in either direction, are joined, and from then on count as one. Two chains can be joined in four ways,
//! as each may be reversed; we take the one in which the two methods with the most calls between them, one of either
//! chain, stand closest to each other; among equals, the one whose touching methods call each other most; then the first
//! of: as they are, the second reversed, the first reversed, both reversed.
//!
//! Ties are broken by number: among chain pairs with equally many calls, the one with the smallest least method, then
//! with the smallest other least method. Recursive calls do not matter. Chains without calls between them are
//! placed by the number of their calls, the most called first.
//!
//! Complexity: O((E + J) log E) for the choice of the J joins, and O(E + n) for each join, with E pairs that call each other.

use crate::MethodId;
use crate::calls::CallGraph;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How often two methods call each other, in either direction; the smaller number first.
type Affinities = BTreeMap<(usize, usize), u64>;

/// The order of the methods `0..methods`; calls of methods beyond are ignored.
#[must_use]
pub fn order_methods(methods: usize, calls: &CallGraph) -> Vec<MethodId> {
    let mut affinities = Affinities::new();
    for (edge, weight) in calls.edges() {
        let (caller, callee) = (edge.site.caller.index(), edge.callee.index());
        if caller != callee && caller.max(callee) < methods {
            let sum = affinities.entry((caller.min(callee), caller.max(callee))).or_default();
            *sum = sum.saturating_add(weight);
        }
    }
    let mut joining = Joining::new(methods, &affinities);
    while joining.join() {}
    let mut heat = vec![0u64; methods];
    for (&(one, other), &weight) in &affinities {
        heat[one] = heat[one].saturating_add(weight);
        heat[other] = heat[other].saturating_add(weight);
    }
    let mut chains: Vec<Vec<usize>> = joining.chains.into_iter().filter(|chain| !chain.is_empty()).collect();
    let of_chain = |chain: &[usize]| chain.iter().fold(0u64, |sum, &method| sum.saturating_add(heat[method]));
    chains.sort_by_key(|chain| (Reverse(of_chain(chain)), chain.iter().min().copied()));
    chains.concat().into_iter().map(MethodId::new).collect()
}

/// Chains of methods on their way to become fewer. A chain is named by its least method.
struct Joining {
    chains: Vec<Vec<usize>>,
    /// Of each method, those that it shares calls with, and how many.
    of_methods: Vec<BTreeMap<usize, u64>>,
    /// Of each chain, the same.
    of_chains: Vec<BTreeMap<usize, u64>>,
    /// Candidates; those whose weight is no longer that of `of_chains` are stale.
    heap: BinaryHeap<(u64, Reverse<(usize, usize)>)>,
    chain_of: Vec<usize>,
}

impl Joining {
    fn new(methods: usize, affinities: &Affinities) -> Self {
        let mut of_methods = vec![BTreeMap::new(); methods];
        for (&(one, other), &weight) in affinities {
            of_methods[one].insert(other, weight);
            of_methods[other].insert(one, weight);
        }
        Self {
            chains: (0..methods).map(|method| vec![method]).collect(),
            of_chains: of_methods.clone(),
            of_methods,
            heap: affinities.iter().map(|(&pair, &weight)| (weight, Reverse(pair))).collect(),
            chain_of: (0..methods).collect(),
        }
    }

    /// Joins the two chains with the most calls between them; `false` if there are none.
    fn join(&mut self) -> bool {
        let (one, other) = loop {
            let Some((weight, Reverse((one, other)))) = self.heap.pop() else { return false };
            if self.of_chains[one].get(&other) == Some(&weight) {
                break (one, other);
            }
        };
        self.place(one, other);
        let neighbours = std::mem::take(&mut self.of_chains[other]);
        for (neighbour, weight) in neighbours {
            self.of_chains[neighbour].remove(&other);
            if neighbour != one {
                let sum = self.of_chains[one].entry(neighbour).or_default();
                *sum = sum.saturating_add(weight);
                let sum = *sum;
                self.of_chains[neighbour].insert(one, sum);
                self.heap.push((sum, Reverse((one.min(neighbour), one.max(neighbour)))));
            }
        }
        true
    }

    /// Puts the second chain behind the first, each perhaps reversed.
    fn place(&mut self, one: usize, other: usize) {
        let mut front = std::mem::take(&mut self.chains[one]);
        let mut back = std::mem::take(&mut self.chains[other]);
        let closest = self.heaviest(&front, &back, other);
        let place = |chain: &[usize], method: usize| chain.iter().position(|&at| at == method).unwrap_or(0);
        let (left, right) = (place(&front, closest.0), place(&back, closest.1));
        let score = |(turn_front, turn_back): (bool, bool)| {
            let before = if turn_front { left } else { front.len() - 1 - left };
            let behind = if turn_back { back.len() - 1 - right } else { right };
            let end = if turn_front { front[0] } else { front[front.len() - 1] };
            let start = if turn_back { back[back.len() - 1] } else { back[0] };
            (before + behind, Reverse(self.of_methods[end].get(&start).copied().unwrap_or(0)))
        };
        let ways = [(false, false), (false, true), (true, false), (true, true)];
        let (turn_front, turn_back) = ways.into_iter().min_by_key(|&way| score(way)).unwrap_or_default();
        if turn_front {
            front.reverse();
        }
        if turn_back {
            back.reverse();
        }
        back.iter().for_each(|&method| self.chain_of[method] = one);
        front.append(&mut back);
        self.chains[one] = front;
    }

    /// The two methods, one of either chain, with the most calls between them; among equals, those with the smallest
    /// numbers.
    fn heaviest(&self, front: &[usize], back: &[usize], back_name: usize) -> (usize, usize) {
        let pairs = front.iter().flat_map(|&method| {
            let shared = self.of_methods[method].iter();
            let across = shared.filter(|&(&callee, _)| self.chain_of[callee] == back_name);
            across.map(move |(&callee, &weight)| (Reverse(weight), method, callee))
        });
        pairs.min().map_or((front[0], back[0]), |(_, method, callee)| (method, callee))
    }
}
