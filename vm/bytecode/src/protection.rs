//! Which handlers protect a place, found without looking at all of them: a function may have as many handlers as blocks.
//!
//! An augmented interval tree (Cormen et al., Introduction to Algorithms, section 14.3) that lies in an array: its leaves are the
//! handlers in the order of their first words, and every node knows the highest end of the handlers below it. The k of h handlers
//! that protect a place are found in O((k + 1) log h).

use crate::program::Handler;

/// The handlers of one function, to be asked by place.
#[derive(Default)]
pub(crate) struct Protection {
    /// First protected word and number of each handler, ascending.
    starts: Vec<(u32, u32)>,
    /// The highest end below each node: node 1 is the root, the children of node n are 2n and 2n + 1, and the last half are the
    /// leaves. Leaves without a handler have end 0.
    ends: Vec<u32>,
}

impl Protection {
    /// That of a function with these handlers.
    pub(crate) fn of(handlers: &[Handler]) -> Protection {
        let mut protection = Protection::default();
        protection.reset(handlers);
        protection
    }

    /// Becomes that of another function.
    pub(crate) fn reset(&mut self, handlers: &[Handler]) {
        self.starts.clear();
        self.starts.extend(handlers.iter().zip(0..).map(|(handler, number)| (handler.start, number)));
        self.starts.sort_unstable();
        let leaves = handlers.len().next_power_of_two();
        self.ends.clear();
        self.ends.resize(2 * leaves, 0);
        for (leaf, &(_, number)) in self.ends[leaves..].iter_mut().zip(&self.starts) {
            *leaf = handlers[number as usize].end;
        }
        for node in (1..leaves).rev() {
            self.ends[node] = self.ends[2 * node].max(self.ends[2 * node + 1]);
        }
    }

    /// The numbers of the handlers that protect the word at `place`, in the order in which they count, instead of what `found` had.
    pub(crate) fn at(&self, place: u32, found: &mut Vec<u32>) {
        found.clear();
        self.look(1, 0, self.ends.len() / 2, place, found);
        found.sort_unstable();
    }

    /// Looks below `node`, which has `leaves` leaves, the first of them with the number `first`.
    fn look(&self, node: usize, first: usize, leaves: usize, place: u32, found: &mut Vec<u32>) {
        let Some(&(start, number)) = self.starts.get(first) else { return };
        if start > place || self.ends[node] <= place {
            return;
        }
        if leaves == 1 {
            found.push(number);
            return;
        }
        self.look(2 * node, first, leaves / 2, place, found);
        self.look(2 * node + 1, first + leaves / 2, leaves / 2, place, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ClassId, Register};

    #[test]
    fn finds_what_looking_at_all_finds() {
        let mut state = 1_u64;
        let mut random = |below: u32| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as u32 % below
        };
        let (mut protection, mut found) = (Protection::default(), Vec::new());
        for count in (0..40).chain([100, 300]) {
            let handlers: Vec<Handler> = (0..count)
                .map(|_| {
                    let start = random(100);
                    let end = start + 1 + random(20);
                    Handler { start, end, target: end, class: ClassId(0), register: Register(0) }
                })
                .collect();
            protection.reset(&handlers);
            for place in 0..130 {
                protection.at(place, &mut found);
                let all = handlers.iter().zip(0..).filter(|(h, _)| (h.start..h.end).contains(&place));
                assert_eq!(found, all.map(|(_, number)| number).collect::<Vec<u32>>());
            }
        }
    }
}
