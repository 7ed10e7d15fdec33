//! Chance, exact and repeatable: the generator, the geometric skip and the binomial that thins a count.
//!
//! The generator is splitmix64 (Steele, Lea and Flood, OOPSLA 2014): one word of state, so that every green thread can
//! own one and a copy of it is free.
//!
//! A count `c` of a concise sample is thinned to Binomial(c, p) (Oren, Matias, Sagiv 2002, section 2.3). We draw it
//! without floating point, so that it is exact for every rational p. Trial i succeeds if a number U, uniform in
//! `[0, 1)`, is below p. All trials compare the binary digits of their U with those of p, one digit a round: of the m
//! trials that agreed with p so far, Binomial(m, 1/2) draw a one (the population count of m random bits). Where p has
//! the digit one, the zeros succeed and the ones go on; where it has the digit zero, the ones fail and the zeros go on.
//! Half of the trials are decided in each round: 2c/64 words of chance in all, and log2(c) + 2 rounds.

use super::config::Invalid;

/// A fraction between 0 and 1, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// A half, what an ageing profile keeps of itself if nothing else is said.
    pub const HALF: Self = Self { numerator: 1, denominator: 2 };

    /// The fraction `numerator / denominator`.
    ///
    /// # Errors
    ///
    /// If it is above 1, or the denominator is not in `1..2^63`.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, Invalid> {
        if denominator == 0 || denominator >= 1 << 63 || numerator > denominator {
            let given = format!("{numerator}/{denominator}");
            return Err(Invalid::new("ratio", given, "fractions in 0..=1 with a denominator in 1..2^63"));
        }
        Ok(Self { numerator, denominator })
    }

    /// The fraction as a floating-point number.
    #[must_use]
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// A seeded generator of random numbers, splitmix64: fast, one word, the same numbers on every machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator with this seed. Every seed is as good as another.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number that is uniform in `(0, 1]`, with 53 bits.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// How many blocks to pass over until the next sample, with this mean.
    pub fn geometric(&mut self, mean: u64) -> u64 {
        Geometric::new(mean).draw(self)
    }

    /// How many of `trials` succeed if each does with probability `p`: exact. O(trials/32 + log trials).
    pub fn binomial(&mut self, trials: u64, p: Ratio) -> u64 {
        if p.numerator == p.denominator {
            return trials;
        }
        let (mut undecided, mut successes, mut rest) = (trials, 0, p.numerator);
        while undecided > 0 && rest > 0 {
            rest *= 2;
            let ones = self.heads(undecided);
            if rest >= p.denominator {
                rest -= p.denominator;
                successes += undecided - ones;
                undecided = ones;
            } else {
                undecided -= ones;
            }
        }
        successes
    }

    /// Whether a trial that succeeds with probability `p` does.
    pub fn happens(&mut self, p: Ratio) -> bool {
        self.binomial(1, p) == 1
    }

    /// How many of so many fair coins show heads.
    fn heads(&mut self, coins: u64) -> u64 {
        let whole: u64 = (0..coins / 64).map(|_| u64::from(self.bits().count_ones())).sum();
        match coins % 64 {
            0 => whole,
            left => whole + u64::from((self.bits() >> (64 - left)).count_ones()),
        }
    }
}

/// How many blocks to pass over until the next sample: geometric, hence memoryless, hence blind to the periods of loops. At least 1; a mean of 0
/// counts as 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometric {
    mean: u64,
    /// Of the chance that a block is passed over.
    logarithm: f64,
}

impl Geometric {
    pub fn new(mean: u64) -> Self {
        Self { mean, logarithm: (-1.0 / mean as f64).ln_1p() }
    }

    pub fn mean(&self) -> u64 {
        self.mean
    }

    pub fn draw(&self, random: &mut Random) -> u64 {
        if self.mean <= 1 {
            return 1;
        }
        let drawn = random.unit().ln() / self.logarithm;
        (drawn.ceil() as u64).max(1)
    }
}

/// The finalizer of splitmix64: a permutation of the words in which every bit depends on every bit.
pub(super) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
