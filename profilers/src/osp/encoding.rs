//! Which subpaths count as the same: four encodings of a subpath into a word.
//!
//! The paper (section 2.3, "Encoding") wishes for one that tells permutations apart but not rotations, for the rotations
//! of a loop's path are the same loop, and settles for length and exclusive-or of the block numbers (section 3). That
//! one has two flaws: it takes permutations for the same, and blocks that occur an even number of times vanish, so that
//! the even powers of *all* loop bodies fall together. Random block numbers cure accidental collisions of the
//! exclusive-or, not these two. The wish itself is granted by the least rotation, which Booth's problem asks for: we
//! find it with two candidates that race each other, in O(n) steps and without memory. A rotation of an acyclic subpath
//! is another subpath that cannot occur, so that grouping does no harm there.
//!
//! Hashes are polynomials over the field of 2^61 - 1 elements with a random base: two different subpaths of length n
//! collide with probability at most n / 2^61.

use super::random::mix;
use crate::BlockId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The prime 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;

/// How a subpath becomes a word. The length of the subpath is always part of its identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Encoding {
    /// The paper's: the exclusive-or of the block numbers.
    Xor,
    /// The exclusive-or of random 64-bit numbers of the blocks.
    RandomXor,
    /// A hash of the least rotation: rotations are the same, permutations are not.
    Rotation,
    /// A hash of the blocks in order: only equal subpaths are the same.
    Rolling,
}

impl Encoding {
    /// All encodings, in the order in which tables show them.
    pub const ALL: [Self; 4] = [Self::Xor, Self::RandomXor, Self::Rotation, Self::Rolling];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Xor => "xor",
            Self::RandomXor => "random-xor",
            Self::Rotation => "rotation",
            Self::Rolling => "rolling",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An encoding with its random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoder {
    encoding: Encoding,
    seed: u64,
    /// Of the polynomials: from 1 to the prime less 2.
    base: u64,
}

impl Encoder {
    /// The encoding with random numbers from this seed: the same seed, the same words.
    #[must_use]
    pub fn new(encoding: Encoding, seed: u64) -> Self {
        let seed = mix(seed);
        Self { encoding, seed, base: seed % (PRIME - 2) + 1 }
    }

    /// The encoding.
    #[must_use]
    pub fn encoding(self) -> Encoding {
        self.encoding
    }

    /// The word of a subpath. O(length), nothing is allocated.
    #[must_use]
    pub fn encode(self, subpath: &[BlockId]) -> u64 {
        match self.encoding {
            Encoding::Xor => subpath.iter().fold(0, |id, block| id ^ u64::from(block.0)),
            Encoding::RandomXor => {
                subpath.iter().fold(0, |id, block| id ^ mix(self.seed ^ u64::from(block.0)))
            }
            Encoding::Rotation => {
                let (end, start) = subpath.split_at(least_rotation(subpath));
                self.hash(self.hash(0, start), end)
            }
            Encoding::Rolling => self.hash(0, subpath),
        }
    }

    /// Horner's scheme over further blocks.
    fn hash(self, start: u64, blocks: &[BlockId]) -> u64 {
        blocks.iter().fold(start, |hash, block| {
            let product = u128::from(hash) * u128::from(self.base) + u128::from(block.0) + 1;
            let folded = (product as u64 & PRIME) + (product >> 61) as u64;
            if folded >= PRIME { folded - PRIME } else { folded }
        })
    }
}

/// Where the least rotation of a sequence begins, the first place if several do. O(n) steps, no memory.
///
/// Mostly one element is the least of all, which decides. Else two of its places race each other. Invariant: no rotation that
/// begins before `first.max(second)`, except at `first` and `second`, is the least one. Both agree in their first `same` elements;
/// where they differ, the greater loses, and with it all starts that its prefix covers.
#[must_use]
pub fn least_rotation<T: Ord + Copy>(sequence: &[T]) -> usize {
    let Some(&start) = sequence.first() else { return 0 };
    let (mut least, mut first, mut is_tied) = (start, 0, false);
    for (index, &element) in sequence.iter().enumerate().skip(1) {
        // Selections rather than branches: nobody could predict them.
        let (less, equal) = (element < least, element == least);
        is_tied = !less & (is_tied | equal);
        first = if less { index } else { first };
        least = if less { element } else { least };
    }
    if !is_tied {
        return first;
    }
    let len = sequence.len();
    let at = |index: usize| sequence[if index < len { index } else { index - len }];
    let (mut second, mut same) = (first + 1, 0);
    while first < len && second < len && same < len {
        match at(first + same).cmp(&at(second + same)) {
            std::cmp::Ordering::Equal => {
                same += 1;
                continue;
            }
            std::cmp::Ordering::Greater => first += same + 1,
            std::cmp::Ordering::Less => second += same + 1,
        }
        if first == second {
            second += 1;
        }
        same = 0;
    }
    first.min(second)
}

/// The least p for which a sequence is the repetition of its first p elements: how many blocks of a hot subpath make one
/// round of its loop, or one round of an odd and an even iteration. It is the length of the sequence if nothing
/// repeats. O(n) steps and words.
#[must_use]
pub fn period<T: Eq>(sequence: &[T]) -> usize {
    let len = sequence.len();
    // The border of each prefix: how long a proper prefix is its suffix too (Knuth, Morris, Pratt).
    let mut borders = vec![0; len];
    for end in 1..len {
        let mut border: usize = borders[end - 1];
        while border > 0 && sequence[border] != sequence[end] {
            border = borders[border - 1];
        }
        borders[end] = border + usize::from(sequence[border] == sequence[end]);
    }
    let candidate = len - borders.last().copied().unwrap_or(0);
    if candidate > 0 && len.is_multiple_of(candidate) { candidate } else { len }
}
