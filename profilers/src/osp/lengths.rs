//! How long a sampled subpath is: any distribution over lengths, one draw in constant time.
//!
//! The paper (section 2.3) samples a length of 2^n with probability 2^-n, n >= 1, and says that any other law would do.
//! With a largest n the probability 2^-max is left over; we renormalise, and keep what the law said before as the
//! *prior* of the length, because the paper's estimator divides by it. Its check with arbitrary lengths takes 2 to 1024
//! with probability about 1/(10 n), which sums to 0.65: we take it as proportional to 1/n.
//!
//! A draw is one random word and one row of a table (Walker's alias method): as many rows as lengths, eight bytes each.
//! A row is chosen evenly; it keeps its own length with probability `keep`/2^32 and otherwise yields that of its alias.

use super::config::Invalid;
use super::random::Random;

/// The longest subpath: a description of it must have fewer than 2^16 bytes.
pub const MAX_LENGTH: u32 = 1 << 13;

/// The largest n of a length 2^n.
pub const MAX_EXPONENT: u32 = MAX_LENGTH.ilog2();

/// How many binary digits the fraction of [`Lengths::mean_scaled`] has.
pub(super) const SCALE: u32 = 16;

/// Which of the lengths 2^1, 2^2, ... are preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    /// 2^n with probability 2^-n: the paper's, for minimal hot subpaths.
    Shorter,
    /// Each length alike.
    Uniform,
    /// 2^n with a probability proportional to 2^n.
    Longer,
}

/// A distribution of lengths, from which lengths are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Lengths {
    rows: Vec<Row>,
    /// The prior of a length is this times its probability.
    assigned: f64,
    /// The mean length, times 2^16.
    mean_scaled: u32,
    longest: u16,
}

/// A row of the alias table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    length: u16,
    alias: u16,
    /// With which probability, of 2^32, the row keeps its own length; a row that always does is its own alias.
    keep: u32,
}

impl Lengths {
    /// The lengths 2^1 to 2^max with probability 2^-n: those of the paper, which took a largest n of 5 or of 10.
    ///
    /// # Errors
    ///
    /// If `max` is not in `1..=13`.
    pub fn powers_of_two(max: u32) -> Result<Self, Invalid> {
        Self::powers(max, Bias::Shorter)
    }

    /// The lengths 2^1 to 2^max with a bias.
    ///
    /// # Errors
    ///
    /// If `max` is not in `1..=13`.
    pub fn powers(max: u32, bias: Bias) -> Result<Self, Invalid> {
        if !(1..=MAX_EXPONENT).contains(&max) {
            return Err(Invalid::new("max", max.to_string(), format!("1..={MAX_EXPONENT}")));
        }
        let weight = |n: u32| match bias {
            Bias::Shorter => 1 << (max - n),
            Bias::Uniform => 1,
            Bias::Longer => 1 << n,
        };
        let mut lengths = Self::weighted(&(1..=max).map(|n| (1 << n, weight(n))).collect::<Vec<_>>())?;
        if bias == Bias::Shorter {
            lengths.assigned = 1.0 - 0.5f64.powi(max.cast_signed());
        }
        Ok(lengths)
    }

    /// Every length from `shortest` to `longest` with a probability proportional to 1/length: arbitrary subpaths, as the
    /// paper's section 3.1 samples them from 2 to 1024.
    ///
    /// # Errors
    ///
    /// If the range is empty or not within `1..=8192`.
    pub fn arbitrary(shortest: u32, longest: u32) -> Result<Self, Invalid> {
        if shortest == 0 || shortest > longest || longest > MAX_LENGTH {
            let given = format!("{shortest}..={longest}");
            return Err(Invalid::new("lengths", given, format!("a range within 1..={MAX_LENGTH}")));
        }
        let weights: Vec<_> =
            (shortest..=longest).map(|length| (length, (1 << 40) / u64::from(length))).collect();
        Self::weighted(&weights)
    }

    /// Any law: lengths, strictly ascending, with weights.
    ///
    /// # Errors
    ///
    /// If there is no length, lengths do not ascend or are not in `1..=8192`, or weights are not in `1..=2^40`.
    pub fn weighted(weights: &[(u32, u64)]) -> Result<Self, Invalid> {
        let ascending = weights.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let within = weights
            .iter()
            .all(|&(length, weight)| (1..=MAX_LENGTH).contains(&length) && (1..=1 << 40).contains(&weight));
        let (true, true, Some(last)) = (ascending, within, weights.last()) else {
            let valid = format!("ascending lengths in 1..={MAX_LENGTH} with weights in 1..=2^40");
            return Err(Invalid::new("lengths", format!("{weights:?}"), valid));
        };
        let total: u128 = weights.iter().map(|&(_, weight)| u128::from(weight)).sum();
        let sum: u128 = weights.iter().map(|&(length, weight)| u128::from(length) * u128::from(weight)).sum();
        Ok(Self {
            rows: alias_rows(weights, total),
            assigned: 1.0,
            mean_scaled: u32::try_from((sum << SCALE) / total).expect("a mean is at most the longest"),
            longest: narrow(last.0),
        })
    }

    /// Draws a length. O(1).
    pub fn draw(&self, random: &mut Random) -> u32 {
        let bits = random.bits();
        let row = self.rows[(((bits >> 32) * self.rows.len() as u64) >> 32) as usize];
        let low = bits as u32;
        u32::from(if low < row.keep { row.length } else { self.rows[usize::from(row.alias)].length })
    }

    /// The mean length in blocks.
    #[must_use]
    pub fn mean(&self) -> f64 {
        f64::from(self.mean_scaled) / f64::from(1u32 << SCALE)
    }

    /// The longest length in blocks.
    #[must_use]
    pub fn longest(&self) -> u32 {
        u32::from(self.longest)
    }

    /// How many lengths there are.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Which of the lengths, ascending, this one is.
    pub(super) fn position(&self, length: u32) -> Option<usize> {
        self.rows.binary_search_by_key(&length, |row| u32::from(row.length)).ok()
    }

    /// All lengths, ascending, each with the probability that a draw yields it.
    #[must_use]
    pub fn probabilities(&self) -> Vec<(u32, f64)> {
        let mut shares = vec![0.0; self.rows.len()];
        for (row, keep) in
            self.rows.iter().enumerate().map(|(at, row)| ((at, row), f64::from(row.keep) / 2f64.powi(32)))
        {
            shares[row.0] += keep;
            shares[usize::from(row.1.alias)] += 1.0 - keep;
        }
        let rows = self.rows.len() as f64;
        self.rows.iter().zip(shares).map(|(row, share)| (u32::from(row.length), share / rows)).collect()
    }

    /// All lengths with their probability before it was renormalised: what the paper's estimator divides by.
    #[must_use]
    pub fn priors(&self) -> Vec<(u32, f64)> {
        self.probabilities().into_iter().map(|(length, share)| (length, share * self.assigned)).collect()
    }

    /// The mean length times 2^16.
    pub(super) fn mean_scaled(&self) -> u32 {
        self.mean_scaled
    }

    /// The bytes of the table.
    pub(super) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>()
    }
}

/// Vose's construction of the alias table, in whole numbers: a row has room for `total`, a length brings its weight
/// times the number of rows, and rows with room left are filled from lengths that have too much.
fn alias_rows(weights: &[(u32, u64)], total: u128) -> Vec<Row> {
    let count = weights.len();
    let mut mass: Vec<u128> = weights.iter().map(|&(_, weight)| u128::from(weight) * count as u128).collect();
    let mut rows: Vec<Row> = Vec::with_capacity(count);
    rows.extend(weights.iter().enumerate().map(|(at, &(length, _))| Row {
        length: narrow(length),
        alias: u16::try_from(at).expect("at most 2^13 rows"),
        keep: u32::MAX,
    }));
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..count).partition(|&at| mass[at] < total);
    while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
        small.pop();
        rows[poor].alias = u16::try_from(rich).expect("at most 2^13 rows");
        rows[poor].keep = u32::try_from((mass[poor] << 32) / total).expect("less than its room");
        mass[rich] -= total - mass[poor];
        if mass[rich] < total {
            large.pop();
            small.push(rich);
        }
    }
    rows
}

/// A length as the table keeps it.
fn narrow(length: u32) -> u16 {
    u16::try_from(length).expect("lengths are at most 2^13")
}
