//! The random choices of the generator. A seed must give the same program on every machine and in every version of every
//! library for as long as possible, so the numbers and the way in which ranges are made of them are our own: SplitMix64,
//! the generator that the language's own `Random` uses.

/// A stream of choices that a seed decides.
#[derive(Clone, Debug)]
pub struct Choice(u64);

impl Choice {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Choice {
        Choice(seed)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero. The bias towards small ones is far below what any test notices.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound.max(1) as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of the items, of which there is at least one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of the items, if there are any.
    pub fn pick_any<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { Some(self.pick(items)) }
    }

    /// One of the items, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, items: &[(usize, T)]) -> T {
        let total: usize = items.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(total);
        for &(weight, item) in items {
            if at < weight {
                return item;
            }
            at -= weight;
        }
        items[items.len() - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut choice = Choice::new(0);
        assert_eq!([choice.bits(), choice.bits()], [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    }

    #[test]
    fn weights_count() {
        let mut choice = Choice::new(7);
        let often = (0..1000).filter(|_| choice.weighted(&[(1, 'a'), (0, 'b'), (9, 'c')]) == 'c').count();
        assert!((850..950).contains(&often), "{often}");
        assert!((0..1000).all(|_| choice.weighted(&[(1, 'a'), (0, 'b')]) == 'a'));
    }
}
