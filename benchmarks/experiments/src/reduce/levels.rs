//! A forest of sequences level by level: what the averages over all nodes, of which nearly all lie deep, do not show.
//!
//! Level n has the sequences of n paths. Each list has a number for each level from 1 to k:
//!
//! | samples | what |
//! |---|---|
//! | `levels.nodes` | sequences |
//! | `levels.internal`, `levels.children` | those that are continued, and by how many paths all together |
//! | `levels.leaves` | those that are not |
//! | `levels.cold` | those with less than a ten-thousandth of the count of their first path |
//! | `levels.small` | the same of a millionth |

use crate::cell::Outcome;
use std::collections::BTreeMap;

/// Sequences by a version and the numbers of paths, with how often each was executed.
pub type Trie = BTreeMap<Vec<u64>, u64>;

/// A sequence is cold with less than one in so many of its first path's executions.
pub const COLD: u64 = 10_000;

/// And hardly ever executed.
const SMALL: u64 = 1_000_000;

/// Has a sequence less than one in so many executions of its first path.
pub fn is_below(trie: &Trie, key: &[u64], count: u64, one_in: u64) -> bool {
    trie.get(&key[..2]).is_some_and(|root| count.saturating_mul(one_in) < *root)
}

/// Puts the lists of a forest of so many levels.
pub fn put(trie: &Trie, k: usize, outcome: &mut Outcome) {
    let level = |key: &[u64]| key.len() - 2;
    let names = ["nodes", "internal", "children", "leaves", "cold", "small"];
    let mut lists = names.map(|_| vec![0.0; k]);
    let mut children: BTreeMap<&[u64], u64> = BTreeMap::new();
    for key in trie.keys().filter(|key| key.len() > 2) {
        *children.entry(&key[..key.len() - 1]).or_default() += 1;
    }
    for (key, &count) in trie.iter().filter(|(key, _)| key.len() >= 2 && level(key) < k) {
        let at = level(key);
        let below = children.get(key.as_slice()).copied();
        let numbers = [
            1.0,
            f64::from(u8::from(below.is_some())),
            below.unwrap_or_default() as f64,
            f64::from(u8::from(below.is_none())),
            f64::from(u8::from(is_below(trie, key, count, COLD))),
            f64::from(u8::from(is_below(trie, key, count, SMALL))),
        ];
        lists.iter_mut().zip(numbers).for_each(|(list, number)| list[at] += number);
    }
    let lists = names.into_iter().zip(lists);
    outcome.samples.extend(lists.map(|(name, list)| (format!("levels.{name}"), list)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_counted_by_their_lengths() {
        let sequences: [(&[u64], u64); 6] = [
            (&[0, 1], 2_000_001),
            (&[0, 1, 2], 2_000_000),
            (&[0, 1, 3], 300),
            (&[0, 1, 2, 2], 1),
            (&[0, 2], 7),
            (&[4, 1], 3),
        ];
        let trie: Trie = sequences.into_iter().map(|(key, count)| (key.to_vec(), count)).collect();
        let mut outcome = Outcome::default();
        put(&trie, 3, &mut outcome);
        let list = |name: &str| outcome.samples[&format!("levels.{name}")].as_slice();
        assert_eq!(list("nodes"), [3.0, 2.0, 1.0]);
        assert_eq!((list("internal"), list("children")), (&[1.0, 1.0, 0.0][..], &[2.0, 1.0, 0.0][..]));
        assert_eq!(list("leaves"), [2.0, 1.0, 1.0]);
        assert_eq!((list("cold"), list("small")), (&[0.0, 0.0, 1.0][..], &[0.0, 0.0, 1.0][..]));
        // With a level less, what is deeper is left out.
        put(&trie, 2, &mut outcome);
        assert_eq!(outcome.samples["levels.nodes"], [3.0, 2.0]);
        assert_eq!(outcome.samples["levels.internal"], [1.0, 1.0]);
    }
}
